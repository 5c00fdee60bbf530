// body_tree.c - the links of a file found by name, hung under their parents and numbered depth first.
#include "formats/body/body_from.h"

#include "base/hash.h"
#include "base/memory.h"
#include "formats/body/body_internal.h"

#include <stdlib.h>
#include <string.h>

int body_raw_add(BodyRawLinks *raw)
{
    memory_grow(&raw->items, &raw->capacity, raw->count + 1, sizeof *raw->items);
    BodyRawLink *added = &raw->items[raw->count];
    memset(added, 0, sizeof *added);
    body_link_init(&added->link);
    added->parent = added->first_child = added->last_child = added->next = added->order = -1;
    return raw->count++;
}

static int name_slot(const int32_t *slots, int mask, const char *(*name_of)(const void *, int), const void *owner,
                     const char *name)
{
    assert_debug(slots && (mask & (mask + 1)) == 0 && name);
    int slot = (int)(hash_string(name) & (uint64_t)mask);
    while (slots[slot] >= 0 && strcmp(name_of(owner, slots[slot]), name))
        slot = (slot + 1) & mask;
    return slot;
}

static const char *raw_name(const void *owner, int index)
{
    assert_debug(index >= 0 && index < ((const BodyRawLinks *)owner)->count);
    return ((const BodyRawLinks *)owner)->items[index].link.name;
}

static const char *link_name(const void *owner, int index) { return ((const BodyModel *)owner)->links[index].name; }

static int32_t *name_table(Arena *arena, int count, int *mask)
{
    assert(count >= 0);
    int size = 16;
    while (size < 2 * count)
        size *= 2;
    int32_t *slots = arena_alloc_array(arena, (size_t)size, sizeof *slots);
    for (int i = 0; i < size; i++)
        slots[i] = -1;
    *mask = size - 1;
    return slots;
}

static void index_raw_names(BodyReader *reader, BodyRawLinks *raw)
{
    assert(raw->count > 0);
    raw->slots = name_table(reader->arena, raw->count, &raw->mask);
    for (int i = 0; i < raw->count; i++) {
        const char *name = raw->items[i].link.name;
        if (!*name)
            continue;
        int slot = name_slot(raw->slots, raw->mask, raw_name, raw, name);
        if (raw->slots[slot] < 0) {
            raw->slots[slot] = i;
        } else {
            diag_error(reader->diags, raw->items[i].link.pos,
                       "there are two links '%.60s'; the first one is meant by the name", name);
        }
    }
}

void body_index_names(BodyModel *model)
{
    assert_debug(model->link_count > 0);
    model->name_slots = name_table(model->arena, model->link_count, &model->name_mask);
    for (int i = 0; i < model->link_count; i++) {
        int slot = name_slot(model->name_slots, model->name_mask, link_name, model, model->links[i].name);
        if (*model->links[i].name && model->name_slots[slot] < 0)
            model->name_slots[slot] = i;
    }
}

int body_find_link(const BodyModel *model, const char *name)
{
    assert(model && name);
    if (!model->name_slots || !*name)
        return -1;
    return model->name_slots[name_slot(model->name_slots, model->name_mask, link_name, model, name)];
}

static void append_child(BodyRawLinks *raw, int parent, int child)
{
    assert_debug(parent >= 0 && parent < raw->count && child >= 0 && child < raw->count && parent != child);
    BodyRawLink *above = &raw->items[parent];
    raw->items[child].parent = parent;
    if (above->last_child < 0)
        above->first_child = child;
    else
        raw->items[above->last_child].next = child;
    above->last_child = child;
}

static void attach_by_name(BodyReader *reader, BodyRawLinks *raw, int index, int root)
{
    assert_debug(index >= 0 && index < raw->count);
    BodyRawLink *item = &raw->items[index];
    const char *name = item->link.name;
    int parent = raw->slots[name_slot(raw->slots, raw->mask, raw_name, raw, item->parent_name)];
    if (parent == index) {
        diag_error(reader->diags, item->parent_pos, "link '%.60s' names itself as its parent", name);
    } else if (parent < 0) {
        diag_error(reader->diags, item->parent_pos, "link '%.60s' has a parent '%.60s' that is not there", name,
                   item->parent_name);
        const char **names = memory_alloc_array((size_t)raw->count, sizeof *names);
        int count = int_min(raw->count, 1000);
        for (int i = 0; i < count; i++)
            names[i] = raw->items[i].link.name;
        const char *closest = text_closest(item->parent_name, names, count);
        if (closest)
            diag_hint(reader->diags, "did you mean '%s'?", closest);
        free(names);
    } else if (index != root) {
        append_child(raw, parent, index);
    }
}

static void attach_links(BodyReader *reader, BodyRawLinks *raw, int root)
{
    assert(root >= 0 && root < raw->count);
    // Inside sub-bodies and tracks first: there the tree is known before any entry names a parent.
    for (int i = 0; i < raw->count; i++)
        if (raw->items[i].parent >= 0)
            append_child(raw, raw->items[i].parent, i);
    for (int i = 0; i < raw->count; i++) {
        const BodyRawLink *item = &raw->items[i];
        if (item->parent >= 0)
            continue;
        if (item->parent_name)
            attach_by_name(reader, raw, i, root);
        else if (i != root)
            diag_error(reader->diags, item->link.pos, "link '%.60s' has no parent and is not the root; left out",
                       item->link.name);
    }
}

// Numbers the links depth first from the root; returns how many were reached. `order` maps places to raw links.
static int number_links(BodyRawLinks *raw, int root, int *order)
{
    int *stack = memory_alloc_array((size_t)raw->count + 1, sizeof *stack);
    int depth = 0, count = 0;
    stack[depth++] = root;
    while (depth > 0) {
        int index = stack[--depth];
        assert_debug(index >= 0 && index < raw->count);
        raw->items[index].order = count;
        assert_debug(count < raw->count);
        order[count++] = index;
        int first = depth;
        for (int child = raw->items[index].first_child; child >= 0; child = raw->items[child].next)
            stack[depth++] = child;
        for (int low = first, high = depth - 1; low < high; low++, high--) {  // the first child is taken next
            int swap = stack[low];
            stack[low] = stack[high];
            stack[high] = swap;
        }
    }
    free(stack);
    return count;
}

static void report_lost(BodyReader *reader, const BodyRawLinks *raw)
{
    for (int i = 0; i < raw->count; i++) {
        const BodyRawLink *item = &raw->items[i];
        if (item->order < 0 && item->parent >= 0)
            diag_warning(reader->diags, item->link.pos, "link '%.60s' is cut off from the root; left out",
                         item->link.name);
    }
}

// Shapes and devices by link, keeping the order within one.
static void sort_contents(BodyModel *model, const BodyRawLinks *raw)
{
    assert_debug(model->link_count > 0);
    int *starts = memory_alloc_array((size_t)model->link_count + 1, sizeof *starts);
    BodyDevice *devices = memory_alloc_array((size_t)model->device_count + 1, sizeof *devices);
    int *places = memory_alloc_array((size_t)model->device_count + 1, sizeof *places);
    int kept = 0;
    for (int i = 0; i < model->device_count; i++)
        if ((model->devices[i].link = raw->items[model->devices[i].link].order) >= 0)
            starts[model->devices[i].link + 1]++;
    for (int i = 0; i < model->link_count; i++)
        starts[i + 1] += starts[i];
    for (int i = 0; i < model->device_count; i++) {
        places[i] = model->devices[i].link < 0 ? -1 : starts[model->devices[i].link]++;
        if (places[i] >= 0) {
            devices[places[i]] = model->devices[i];
            kept++;
        }
    }
    free(model->devices);
    model->devices = devices;
    model->device_count = kept;
    memset(starts, 0, ((size_t)model->link_count + 1) * sizeof *starts);
    BodyShape *shapes = memory_alloc_array((size_t)model->shape_count + 1, sizeof *shapes);
    kept = 0;
    for (int i = 0; i < model->shape_count; i++) {
        BodyShape *shape = &model->shapes[i];
        shape->device = shape->device < 0 ? -1 : places[shape->device];
        if ((shape->link = raw->items[shape->link].order) >= 0)
            starts[shape->link + 1]++;
    }
    for (int i = 0; i < model->link_count; i++)
        starts[i + 1] += starts[i];
    for (int i = 0; i < model->shape_count; i++) {
        if (model->shapes[i].link < 0)
            continue;
        shapes[starts[model->shapes[i].link]++] = model->shapes[i];
        kept++;
    }
    free(model->shapes);
    model->shapes = shapes;
    model->shape_count = kept;
    free(starts);
    free(places);
}

static void build_model(BodyReader *reader, BodyRawLinks *raw, int root)
{
    assert_debug(root >= 0 && root < raw->count);
    BodyModel *model = reader->model;
    int *order = memory_alloc_array((size_t)raw->count, sizeof *order);
    model->link_count = number_links(raw, root, order);
    model->links = arena_alloc_array(reader->arena, (size_t)model->link_count, sizeof *model->links);
    for (int i = 0; i < model->link_count; i++) {
        const BodyRawLink *item = &raw->items[order[i]];
        model->links[i] = item->link;
        model->links[i].parent = i == 0 ? -1 : raw->items[item->parent].order;
    }
    body_index_names(model);
    free(order);
    report_lost(reader, raw);
    sort_contents(model, raw);
    int kept = 0;
    for (int i = 0; i < model->extra_joint_count; i++) {  // those of sub-bodies; the file's own are read later
        BodyExtraJoint joint = model->extra_joints[i];
        joint.link[0] = raw->items[joint.link[0]].order;
        joint.link[1] = raw->items[joint.link[1]].order;
        if (joint.link[0] >= 0 && joint.link[1] >= 0)
            model->extra_joints[kept++] = joint;
    }
    model->extra_joint_count = kept;
}

static int find_root(BodyReader *reader, const YamlNode *top, const BodyRawLinks *raw)
{
    assert_debug(raw->slots);
    const char *name;
    if (!top || !body_string(reader, top, "root_link", "rootLink", &name))
        return 0;
    int root = raw->slots[name_slot(raw->slots, raw->mask, raw_name, raw, name)];
    if (root >= 0)
        return root;
    diag_error(reader->diags, body_key(top, "root_link", "rootLink")->pos,
               "root_link '%.60s' is none of the links; using '%.60s'", name, raw->items[0].link.name);
    return 0;
}

void body_tree_build(BodyReader *reader, BodyRawLinks *raw, const YamlNode *top)
{
    index_raw_names(reader, raw);
    int root = find_root(reader, top, raw);
    attach_links(reader, raw, root);
    if (raw->items[root].parent_name && raw->items[root].parent < 0)
        diag_error(reader->diags, raw->items[root].parent_pos, "the root link has a parent; ignored");
    build_model(reader, raw, root);
}
