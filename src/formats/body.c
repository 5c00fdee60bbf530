// body.c - a body file as a whole: its header, the entries of `links`, and the tree that they make.
#include "formats/body.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "formats/body_from.h"

#include <stdlib.h>
#include <string.h>

#define DEGREE (3.14159265358979323846 / 180.0)

// A link while the file is read: in file order, with its parent by name.
typedef struct RawLink {
    BodyLink link;
    const char *parent_name;  // NULL: none
    SourcePos parent_pos;
    int parent;               // index of raw link, -1: none or not known yet
    int first_child, last_child, next;
    int order;                // place in the tree, -1: not reached
} RawLink;

typedef struct RawLinks {
    RawLink *items;
    int count, capacity;
    int32_t *slots;  // hash table over names
    int mask;
} RawLinks;

static int raw_add(RawLinks *raw)
{
    memory_grow(&raw->items, &raw->capacity, raw->count + 1, sizeof *raw->items);
    RawLink *added = &raw->items[raw->count];
    memset(added, 0, sizeof *added);
    body_link_init(&added->link);
    added->parent = added->first_child = added->last_child = added->next = added->order = -1;
    return raw->count++;
}

// Names

static int name_slot(const int32_t *slots, int mask, const char *(*name_of)(const void *, int), const void *owner, const char *name)
{
    int slot = (int)(hash_string(name) & (uint64_t)mask);
    while (slots[slot] >= 0 && strcmp(name_of(owner, slots[slot]), name))
        slot = (slot + 1) & mask;
    return slot;
}

static const char *raw_name(const void *owner, int index)
{
    return ((const RawLinks *)owner)->items[index].link.name;
}

static const char *link_name(const void *owner, int index)
{
    return ((const BodyModel *)owner)->links[index].name;
}

static int32_t *name_table(Arena *arena, int count, int *mask)
{
    int size = 16;
    while (size < 2 * count)
        size *= 2;
    int32_t *slots = arena_alloc_array(arena, (size_t)size, sizeof *slots);
    for (int i = 0; i < size; i++)
        slots[i] = -1;
    *mask = size - 1;
    return slots;
}

static void index_raw_names(BodyReader *reader, RawLinks *raw)
{
    raw->slots = name_table(reader->arena, raw->count, &raw->mask);
    for (int i = 0; i < raw->count; i++) {
        const char *name = raw->items[i].link.name;
        if (!*name)
            continue;
        int slot = name_slot(raw->slots, raw->mask, raw_name, raw, name);
        if (raw->slots[slot] < 0) {
            raw->slots[slot] = i;
        } else {
            diag_error(reader->diags, raw->items[i].link.pos, "there are two links '%.60s'; the first one is meant by the name", name);
        }
    }
}

void body_index_names(BodyModel *model)
{
    model->name_slots = name_table(model->arena, model->link_count, &model->name_mask);
    for (int i = 0; i < model->link_count; i++) {
        int slot = name_slot(model->name_slots, model->name_mask, link_name, model, model->links[i].name);
        if (*model->links[i].name && model->name_slots[slot] < 0)
            model->name_slots[slot] = i;
    }
}

int body_find_link(const BodyModel *model, const char *name)
{
    if (!model->name_slots || !*name)
        return -1;
    return model->name_slots[name_slot(model->name_slots, model->name_mask, link_name, model, name)];
}

// Entries of `links`

static void read_link_elements(BodyReader *reader, const YamlNode *map, RawLinks *raw, int index, bool is_sub_body)
{
    BodyMassSum sum = { 0 };
    ElementScope scope = { .link = index, .device = -1, .frame = BODY_FRAME_IDENTITY, .is_visual = true, .is_collision = true,
                           .ignores_mass = is_sub_body, .sum = &sum };
    const YamlNode *elements = yaml_get(map, "elements");
    if (elements)
        body_elements_read(reader, elements, scope);
    if (!is_sub_body)
        body_link_mass(reader, map, &raw->items[index].link, &sum);
    free(sum.parts);
}

static void read_parent(BodyReader *reader, const YamlNode *map, RawLink *raw)
{
    if (body_string(reader, map, "parent", NULL, &raw->parent_name))
        raw->parent_pos = yaml_get(map, "parent")->pos;
}

// `import` adds keys to a link's info that are not there yet.
static void read_import(BodyReader *reader, const YamlNode *map, BodyLink *link)
{
    const YamlNode *import = yaml_get(map, "import");
    BodyInfo **tail = &link->info;
    while (*tail)
        tail = &(*tail)->next;
    int count = yaml_is_list(import) ? import->count : yaml_is_map(import) ? 1 : 0;
    for (int i = 0; i < count; i++) {
        const YamlNode *source = yaml_is_list(import) ? import->items[i] : import;
        for (int k = 0; yaml_is_map(source) && k < source->count; k++) {
            const YamlPair *pair = &source->pairs[k];
            bool is_there = yaml_get(map, pair->key) != NULL;
            for (const BodyInfo *info = link->info; info && !is_there; info = info->next)
                is_there = !strcmp(info->key, pair->key);
            if (is_there)
                continue;
            if (body_key_is(pair->key, body_link_keys))
                diag_warning(reader->diags, pair->pos, "import does not bring '%.60s' into a link; '<<' does", pair->key);
            tail = body_info_add(reader, tail, pair);
        }
    }
}

static void read_link(BodyReader *reader, const YamlNode *map, RawLinks *raw)
{
    int index = raw_add(raw);
    RawLink *added = &raw->items[index];
    body_link_read(reader, map, &added->link, false);
    read_parent(reader, map, added);
    body_check_keys(reader, map, "a link", body_link_keys, NULL, &added->link.info);
    read_import(reader, map, &added->link);
    read_link_elements(reader, map, raw, index, false);
}

static void read_track(BodyReader *reader, const YamlNode *map, RawLinks *raw)
{
    static const char *const keys[] = { "numJoints", "num_joints", "joint_offset", "jointOffset", "initialJointAngles",
                                        "initial_joint_angles", NULL };
    int count = 0;
    Vec3 offset = VEC3_ZERO;
    BodyNumbers angles = { 0 };
    body_hard_int(reader, map, "num_joints", "numJoints", &count);
    bool has_offset = body_vec3(reader, map, "joint_offset", "jointOffset", &offset);
    body_numbers(reader, map, "initial_joint_angles", "initialJointAngles", 1, &angles);
    if (count < 3 || !has_offset || !yaml_get(map, "parent")) {
        diag_error(reader->diags, map->pos, "a ContinuousTrack needs parent, joint_offset and numJoints of at least 3; left out");
        return;
    }
    if (count > 10000 || *reader->element_count > reader->limits->nodes) {
        diag_error(reader->diags, map->pos, "a ContinuousTrack of %d joints; using 10000", count);
        count = 10000;
    }
    int first = raw->count;
    for (int i = 0; i < count; i++) {
        int index = raw_add(raw);
        RawLink *added = &raw->items[index];
        body_link_read(reader, map, &added->link, false);
        BodyLink *link = &added->link;
        link->name = arena_printf(reader->arena, "%s%d", link->name, i);
        link->joint_name = arena_printf(reader->arena, "%s%d", link->joint_name, i);
        link->joint_id = link->joint_id >= 0 ? link->joint_id + i : -1;
        link->joint_type = i == 0 ? BODY_JOINT_FREE : BODY_JOINT_REVOLUTE;
        if (i == 0) {
            read_parent(reader, map, added);
            body_check_keys(reader, map, "a ContinuousTrack", body_link_keys, keys, NULL);
        } else {
            added->parent = first + i - 1;
            link->translation = offset;
            link->rotation = MAT3_IDENTITY;
            link->q_initial = i - 1 < angles.count ? angles.items[i - 1] * reader->angle : 0.0;
        }
        read_link_elements(reader, map, raw, index, false);
    }
}

static const char *decorated(BodyReader *reader, const char *prefix, const char *name, const char *suffix)
{
    return *name && (*prefix || *suffix) ? arena_printf(reader->arena, "%s%s%s", prefix, name, suffix) : name;
}

typedef struct SubBodyKeys {
    const char *uri, *prefix, *suffix, *device_prefix;
    int id_offset;
} SubBodyKeys;

static void add_sub_links(BodyReader *reader, const BodyModel *sub, const SubBodyKeys *keys, RawLinks *raw)
{
    int first = raw->count;
    for (int i = 0; i < sub->link_count; i++) {
        int index = raw_add(raw);
        RawLink *added = &raw->items[index];
        BodyLink *link = &added->link;
        *link = sub->links[i];
        added->parent = link->parent < 0 ? -1 : first + link->parent;
        link->name = decorated(reader, keys->prefix, link->name, keys->suffix);
        link->joint_name = decorated(reader, keys->prefix, link->joint_name, keys->suffix);
        if (link->joint_id >= 0)
            link->joint_id += keys->id_offset;
    }
}

static void add_sub_contents(BodyReader *reader, const BodyModel *sub, const SubBodyKeys *keys, int first)
{
    BodyModel *model = reader->model;
    int first_device = model->device_count;
    for (int i = 0; i < sub->shape_count; i++) {
        BodyShape shape = sub->shapes[i];
        shape.link += first;
        if (shape.device >= 0)
            shape.device += first_device;
        body_shape_add(reader, shape);
    }
    memory_grow(&model->devices, &model->device_capacity, model->device_count + sub->device_count, sizeof *model->devices);
    for (int i = 0; i < sub->device_count; i++) {
        BodyDevice device = sub->devices[i];
        device.link += first;
        device.name = decorated(reader, keys->device_prefix, device.name, "");
        model->devices[model->device_count++] = device;
    }
    int joint_count = model->extra_joint_count + sub->extra_joint_count;
    memory_grow(&model->extra_joints, &model->extra_joint_capacity, joint_count, sizeof *model->extra_joints);
    for (int i = 0; i < sub->extra_joint_count; i++) {
        BodyExtraJoint joint = sub->extra_joints[i];
        joint.link[0] += first;
        joint.link[1] += first;
        model->extra_joints[model->extra_joint_count++] = joint;
    }
}

static BodyModel *load_sub_body(BodyReader *reader, const SubBodyKeys *keys, SourcePos pos)
{
    const char *path = body_resolve(reader, keys->uri, "sub-body", pos);
    if (!path)
        return NULL;
    for (const BodyChain *chain = reader->chain; chain; chain = chain->outer) {
        if (!strcmp(chain->path, path)) {
            diag_error(reader->diags, pos, "%s contains itself as a sub-body", path_name(path));
            return NULL;
        }
    }
    if (reader->chain->depth >= reader->limits->proto_depth) {
        diag_error(reader->diags, pos, "sub-bodies inside sub-bodies, more than %lld deep", (long long)reader->limits->proto_depth);
        return NULL;
    }
    BodyChain chain = { .path = path, .outer = reader->chain, .depth = reader->chain->depth + 1 };
    return body_load_chained(path, reader->options, reader->resolver, &chain, reader->element_count, reader->diags);
}

static void merge_sub_info(BodyReader *reader, const BodyModel *sub)
{
    BodyInfo **tail = &reader->model->info;
    for (const BodyInfo *info = sub->info; info; info = info->next) {
        BodyInfo *copy = arena_copy(reader->arena, info, sizeof *info);
        copy->next = *tail;
        *tail = copy;
        tail = &copy->next;
    }
}

static void read_sub_body(BodyReader *reader, const YamlNode *map, RawLinks *raw)
{
    static const char *const sub_keys[] = { "uri", "url", "prefix", "suffix", "device_prefix", "devicePrefix", "joint_id_offset",
                                            "jointIdOffset", NULL };
    body_check_keys(reader, map, "a SubBody", body_link_keys, sub_keys, NULL);
    SubBodyKeys keys = { .prefix = "", .suffix = "" };
    body_string(reader, map, "uri", "url", &keys.uri);
    body_string(reader, map, "prefix", NULL, &keys.prefix);
    body_string(reader, map, "suffix", NULL, &keys.suffix);
    keys.device_prefix = keys.prefix;
    body_string(reader, map, "device_prefix", "devicePrefix", &keys.device_prefix);
    body_hard_int(reader, map, "joint_id_offset", "jointIdOffset", &keys.id_offset);
    if (!keys.uri) {
        diag_error(reader->diags, map->pos, "a SubBody needs 'uri'");
        return;
    }
    BodyModel *sub = load_sub_body(reader, &keys, map->pos);
    if (!sub)
        return;
    BodyModel *model = reader->model;
    memory_grow(&model->parts, &model->part_capacity, model->part_count + 1, sizeof *model->parts);
    model->parts[model->part_count++] = sub;
    int first = raw->count;
    *reader->element_count += sub->link_count + sub->shape_count;
    if (*reader->element_count > reader->limits->nodes) {
        diag_error(reader->diags, map->pos, "more than %lld elements; this sub-body is left out", (long long)reader->limits->nodes);
        return;
    }
    add_sub_links(reader, sub, &keys, raw);
    add_sub_contents(reader, sub, &keys, first);
    merge_sub_info(reader, sub);
    RawLink *root = &raw->items[first];
    root->link.pos = map->pos;
    body_link_read(reader, map, &root->link, true);
    read_parent(reader, map, root);
    read_link_elements(reader, map, raw, first, true);
}

static void read_entry(BodyReader *reader, const char *type, const YamlNode *map, RawLinks *raw)
{
    static const char *const types[] = { "Link", "ContinuousTrack", "SubBody", "Skip" };
    if (!yaml_is_map(map)) {
        diag_error(reader->diags, map->pos, "an entry of links wants a map of its keys");
    } else if (++*reader->element_count > reader->limits->nodes || raw->count >= reader->limits->bodies) {
        if (raw->count == reader->limits->bodies)
            diag_error(reader->diags, map->pos, "more than %lld links; the rest is left out", (long long)reader->limits->bodies);
    } else if (!strcmp(type, "Link")) {
        read_link(reader, map, raw);
    } else if (!strcmp(type, "ContinuousTrack")) {
        read_track(reader, map, raw);
    } else if (!strcmp(type, "SubBody")) {
        read_sub_body(reader, map, raw);
    } else if (strcmp(type, "Skip")) {
        diag_error(reader->diags, map->pos, "an entry of links cannot be of type '%.60s'; left out", type);
        const char *closest = text_closest(type, types, COUNT_OF(types));
        if (closest)
            diag_hint(reader->diags, "did you mean '%s'?", closest);
    }
}

static void read_entries(BodyReader *reader, const YamlNode *links, RawLinks *raw)
{
    for (int i = 0; links->kind == YAML_LIST && i < links->count; i++) {
        const YamlNode *type = yaml_get(links->items[i], "type");
        read_entry(reader, yaml_is_scalar(type) ? type->text : "Link", links->items[i], raw);
    }
    for (int i = 0; links->kind == YAML_MAP && i < links->count; i++)
        read_entry(reader, links->pairs[i].key, links->pairs[i].value, raw);
}

// The tree

static void append_child(RawLinks *raw, int parent, int child)
{
    RawLink *above = &raw->items[parent];
    raw->items[child].parent = parent;
    if (above->last_child < 0)
        above->first_child = child;
    else
        raw->items[above->last_child].next = child;
    above->last_child = child;
}

static void attach_by_name(BodyReader *reader, RawLinks *raw, int index, int root)
{
    RawLink *item = &raw->items[index];
    const char *name = item->link.name;
    int parent = raw->slots[name_slot(raw->slots, raw->mask, raw_name, raw, item->parent_name)];
    if (parent == index) {
        diag_error(reader->diags, item->parent_pos, "link '%.60s' names itself as its parent", name);
    } else if (parent < 0) {
        diag_error(reader->diags, item->parent_pos, "link '%.60s' has a parent '%.60s' that is not there", name, item->parent_name);
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

static void attach_links(BodyReader *reader, RawLinks *raw, int root)
{
    // Inside sub-bodies and tracks first: there the tree is known before any entry names a parent.
    for (int i = 0; i < raw->count; i++)
        if (raw->items[i].parent >= 0)
            append_child(raw, raw->items[i].parent, i);
    for (int i = 0; i < raw->count; i++) {
        const RawLink *item = &raw->items[i];
        if (item->parent >= 0)
            continue;
        if (item->parent_name)
            attach_by_name(reader, raw, i, root);
        else if (i != root)
            diag_error(reader->diags, item->link.pos, "link '%.60s' has no parent and is not the root; left out", item->link.name);
    }
}

// Numbers the links depth first from the root; returns how many were reached. `order` maps places to raw links.
static int number_links(RawLinks *raw, int root, int *order)
{
    int *stack = memory_alloc_array((size_t)raw->count + 1, sizeof *stack);
    int depth = 0, count = 0;
    stack[depth++] = root;
    while (depth > 0) {
        int index = stack[--depth];
        raw->items[index].order = count;
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

static void report_lost(BodyReader *reader, const RawLinks *raw)
{
    for (int i = 0; i < raw->count; i++) {
        const RawLink *item = &raw->items[i];
        if (item->order < 0 && item->parent >= 0)
            diag_warning(reader->diags, item->link.pos, "link '%.60s' is cut off from the root; left out", item->link.name);
    }
}

// Shapes and devices by link, keeping the order within one.
static void sort_contents(BodyModel *model, const RawLinks *raw)
{
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

static void build_model(BodyReader *reader, RawLinks *raw, int root)
{
    BodyModel *model = reader->model;
    int *order = memory_alloc_array((size_t)raw->count, sizeof *order);
    model->link_count = number_links(raw, root, order);
    model->links = arena_alloc_array(reader->arena, (size_t)model->link_count, sizeof *model->links);
    for (int i = 0; i < model->link_count; i++) {
        const RawLink *item = &raw->items[order[i]];
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

static void check_joint_ids(BodyReader *reader)
{
    const BodyModel *model = reader->model;
    int count = body_joint_count(model);
    if (count == 0 || reader->chain->depth > 0)
        return;
    if (count > 2 * model->link_count + 1000) {
        diag_warning(reader->diags, model->links[0].pos, "joint ids go up to %d, but there are %d links", count - 1, model->link_count);
        return;
    }
    int *links = memory_alloc_array((size_t)count, sizeof *links);
    for (int i = 0; i < model->link_count; i++) {
        int id = model->links[i].joint_id;
        if (id < 0)
            continue;
        if (links[id]++ > 0)
            diag_warning(reader->diags, model->links[i].pos, "joint id %d of '%.60s' is taken already; the first one keeps it", id,
                         model->links[i].name);
    }
    int missing = 0, first = -1;
    for (int id = 0; id < count; id++) {
        if (links[id] > 0)
            continue;
        if (missing++ == 0)
            first = id;
    }
    if (missing > 0)
        diag_warning(reader->diags, model->links[0].pos, "%d joint id%s below %d %s not given, first %d", missing,
                     missing > 1 ? "s" : "", count, missing > 1 ? "are" : "is", first);
    free(links);
}

static int find_root(BodyReader *reader, const YamlNode *top, const RawLinks *raw)
{
    const char *name;
    if (!body_string(reader, top, "root_link", "rootLink", &name))
        return 0;
    int root = raw->slots[name_slot(raw->slots, raw->mask, raw_name, raw, name)];
    if (root >= 0)
        return root;
    diag_error(reader->diags, body_key(top, "root_link", "rootLink")->pos, "root_link '%.60s' is none of the links; using '%.60s'", name,
               raw->items[0].link.name);
    return 0;
}

// The file

static const char *const top_keys[] = { "format", "format_version", "formatVersion", "angle_unit", "angleUnit", "name", "links",
    "root_link", "rootLink", "extra_joints", "extraJoints", "body_handlers", "bodyHandlers", "collision_detection_rules",
    "collisionDetection", "model_file", "modelFile", NULL };

static void read_handlers(BodyReader *reader, const YamlNode *node)
{
    BodyModel *model = reader->model;
    int count = yaml_is_list(node) ? node->count : 1;
    model->handlers = arena_alloc_array(reader->arena, (size_t)count, sizeof *model->handlers);
    for (int i = 0; i < count; i++) {
        const YamlNode *item = yaml_is_list(node) ? node->items[i] : node;
        if (!yaml_is_scalar(item))
            continue;
        model->handlers[model->handler_count++] = item->text;
        diag_note(reader->diags, item->pos, "body handler '%.60s' is native code of Choreonoid and is not run", item->text);
    }
}

static void read_info(BodyReader *reader, const YamlNode *top)
{
    const char *const *known = top_keys;
    BodyInfo *own = NULL, **tail = &own;
    for (int i = 0; i < top->count; i++)
        if (!body_key_is(top->pairs[i].key, known))
            tail = body_info_add(reader, tail, &top->pairs[i]);
    // What the file itself says comes first; of sub-bodies only what it does not say.
    for (const BodyInfo *info = reader->model->info; info; info = info->next) {
        if (yaml_get(top, info->key))
            continue;
        YamlPair pair = { .key = info->key, .value = info->value };
        tail = body_info_add(reader, tail, &pair);
    }
    reader->model->info = own;
}

// Sections that the format does not define but tools of Choreonoid read.
static const char *const info_keys[] = { "link_group", "linkGroup", "foot_links", "footLinks", "standard_pose", "standardPose",
    "default_ik_setup", "defaultIKsetup", "symmetric_joints", "symmetricJoints", "symmetric_ik_links", "symmetricIkLinks",
    "available_ik_interpolation_links", "default_ik_interpolation_links", "possibleIkInterpolationLinks",
    "defaultIkInterpolationLinks", "pose_conversion_info", "body_markers", "preset_poses", "definitions", "linkInfo", "link_info", NULL };

static void warn_top_slips(BodyReader *reader, const YamlNode *top)
{
    for (int i = 0; i < top->count && i < 1000; i++) {
        const YamlPair *pair = &top->pairs[i];
        if (pair->value->anchor || body_key_is(pair->key, top_keys) || body_key_is(pair->key, info_keys) || strlen(pair->key) < 5)
            continue;
        const char *closest = text_closest(pair->key, top_keys, COUNT_OF(top_keys) - 1);
        if (closest) {
            diag_warning(reader->diags, pair->pos, "unknown section '%.60s'", pair->key);
            diag_hint(reader->diags, "did you mean '%s'?", closest);
        }
    }
}

static void read_header(BodyReader *reader, const YamlNode *top)
{
    BodyModel *model = reader->model;
    const char *unit = "degree";
    model->format_version = 1.0;
    if (!body_hard_double(reader, top, "format_version", "formatVersion", &model->format_version))
        diag_error(reader->diags, top->pos, "format_version is missing; taken as 1.0");
    else if (model->format_version >= 2.1)
        diag_error(reader->diags, body_key(top, "format_version", "formatVersion")->pos,
                   "format_version %g is newer than 2.0; read as 2.0", model->format_version);
    reader->angle = DEGREE;
    if (body_string(reader, top, "angle_unit", "angleUnit", &unit)) {
        SourcePos pos = body_key(top, "angle_unit", "angleUnit")->pos;
        if (!strcmp(unit, "radian")) {
            reader->angle = 1.0;
            if (model->format_version >= 2.0)
                diag_error(reader->diags, pos, "format 2.0 has only degrees; read as radian all the same");
        } else if (strcmp(unit, "degree")) {
            diag_error(reader->diags, pos, "angle_unit is degree or radian, not '%.60s'; taken as degree", unit);
        }
    }
    model->name = path_stem(reader->arena, reader->path);
    body_string(reader, top, "name", NULL, &model->name);
}

static bool read_links(BodyReader *reader, const YamlNode *top)
{
    const YamlNode *links = yaml_get(top, "links");
    if (!links || links->kind == YAML_SCALAR || links->count == 0) {
        diag_error(reader->diags, links ? links->pos : top->pos, "a body needs 'links' with at least one entry");
        return false;
    }
    RawLinks raw = { 0 };
    read_entries(reader, links, &raw);
    if (raw.count == 0) {
        diag_error(reader->diags, links->pos, "no link could be read");
        free(raw.items);
        return false;
    }
    index_raw_names(reader, &raw);
    int root = find_root(reader, top, &raw);
    attach_links(reader, &raw, root);
    if (raw.items[root].parent_name && raw.items[root].parent < 0)
        diag_error(reader->diags, raw.items[root].parent_pos, "the root link has a parent; ignored");
    build_model(reader, &raw, root);
    free(raw.items);
    return true;
}

// A mesh as a model: one fixed link with its shape.
static BodyModel *load_mesh_model(BodyReader *reader, const char *uri)
{
    Text text = { 0 };
    text_add_string(&text, "format: ChoreonoidBody\nformat_version: 2.0\nname: Model\nlinks: [ { name: Root, elements: { Resource: { uri: ");
    yaml_write_scalar(&text, uri);
    text_add_string(&text, " } } } ]\n");
    BodyModel *model = body_load_text(reader->chain->path, text.data, text.length, reader->options, reader->diags);
    text_free(&text);
    return model;
}

static bool read_wrapper(BodyReader *reader, const YamlNode *top)
{
    static const char *const meshes[] = { ".stl", ".obj", ".dae", ".ply", ".STL", ".OBJ", ".DAE", ".PLY", NULL };
    const char *uri;
    if (!body_string(reader, top, "model_file", "modelFile", &uri)) {
        diag_error(reader->diags, top->pos, "not a body: neither 'format: ChoreonoidBody' nor 'model_file'");
        return false;
    }
    SubBodyKeys keys = { .uri = uri, .prefix = "", .suffix = "", .device_prefix = "" };
    SourcePos pos = body_key(top, "model_file", "modelFile")->pos;
    bool is_mesh = body_key_is(path_extension(uri), meshes);
    if (strcmp(path_extension(uri), ".body") && !is_mesh) {
        diag_error(reader->diags, pos, "model_file: %s is neither a .body file nor a mesh; other model formats are read through their own converters", uri);
        return false;
    }
    BodyModel *sub = is_mesh ? load_mesh_model(reader, uri) : load_sub_body(reader, &keys, pos);
    if (!sub)
        return false;
    BodyModel *model = reader->model;
    memory_grow(&model->parts, &model->part_capacity, model->part_count + 1, sizeof *model->parts);
    model->parts[model->part_count++] = sub;
    RawLinks raw = { 0 };
    add_sub_links(reader, sub, &keys, &raw);
    add_sub_contents(reader, sub, &keys, 0);
    merge_sub_info(reader, sub);
    index_raw_names(reader, &raw);
    attach_links(reader, &raw, 0);
    build_model(reader, &raw, 0);
    free(raw.items);
    model->name = sub->name;
    body_string(reader, top, "name", NULL, &model->name);
    const YamlNode *infos = body_key(top, "link_info", "linkInfo");
    for (int i = 0; yaml_is_map(infos) && i < infos->count; i++) {
        int link = body_find_link(model, infos->pairs[i].key);
        if (link < 0) {
            diag_warning(reader->diags, infos->pairs[i].pos, "there is no link '%.60s'", infos->pairs[i].key);
            continue;
        }
        BodyInfo **tail = &model->links[link].info;
        while (*tail)
            tail = &(*tail)->next;
        for (int k = 0; yaml_is_map(infos->pairs[i].value) && k < infos->pairs[i].value->count; k++)
            tail = body_info_add(reader, tail, &infos->pairs[i].value->pairs[k]);
    }
    return true;
}

static bool read_body(BodyReader *reader, const YamlNode *top)
{
    if (!yaml_is_map(top)) {
        diag_error(reader->diags, top->pos, "not a body: the file is no map of keys");
        return false;
    }
    const YamlNode *format = yaml_get(top, "format");
    if (!format) {
        if (!yaml_get(top, "links"))
            return read_wrapper(reader, top);
        diag_error(reader->diags, top->pos, "'format: ChoreonoidBody' is missing");
    } else if (!yaml_is_scalar(format) || strcmp(format->text, "ChoreonoidBody")) {
        diag_error(reader->diags, format->pos, "format is '%.60s', not ChoreonoidBody", yaml_is_scalar(format) ? format->text : "?");
        return false;
    }
    read_header(reader, top);
    if (!read_links(reader, top))
        return false;
    const YamlNode *joints = body_key(top, "extra_joints", "extraJoints");
    if (joints)
        body_extra_joints_read(reader, joints);
    body_rules_read(reader, top);
    const YamlNode *handlers = body_key(top, "body_handlers", "bodyHandlers");
    if (handlers)
        read_handlers(reader, handlers);
    read_info(reader, top);
    warn_top_slips(reader, top);
    check_joint_ids(reader);
    return true;
}

static BodyModel *load_text(const char *path, const char *text, size_t size, const BodyOptions *options, const Resolver *resolver,
                            const BodyChain *chain, int64_t *element_count, DiagSink *diags)
{
    static const BodyOptions no_options = { 0 };
    BodyModel *model = memory_alloc(sizeof *model);
    model->arena = arena_create();
    model->path = arena_string(model->arena, path);
    BodyReader reader = { .model = model, .arena = model->arena, .diags = diags, .options = options ? options : &no_options,
                          .resolver = resolver, .chain = chain, .path = model->path, .element_count = element_count, .angle = DEGREE };
    reader.limits = limits_or_default(reader.options->limits);
    YamlOptions yaml_options = { .limits = reader.limits };
    reader.document = yaml_parse(path, text, size, &yaml_options, diags);
    bool is_fine = reader.document != NULL;
    if (is_fine) {
        memory_grow(&model->documents, &model->document_capacity, model->document_count + 1, sizeof *model->documents);
        model->documents[model->document_count++] = reader.document;
        is_fine = read_body(&reader, yaml_root(reader.document));
    }
    body_cache_free(&reader.geometries);
    body_cache_free(&reader.appearances);
    free(reader.said);
    if (is_fine)
        return model;
    body_destroy(model);
    return NULL;
}

BodyModel *body_load_chained(const char *path, const BodyOptions *options, const Resolver *resolver, const BodyChain *chain,
                             int64_t *element_count, DiagSink *diags)
{
    FileData file;
    const Limits *limits = limits_or_default(options ? options->limits : NULL);
    if (!file_read(path, (size_t)limits->file_bytes, &file, diags, (SourcePos){ 0 }))
        return NULL;
    BodyModel *model = load_text(path, file.data, file.size, options, resolver, chain, element_count, diags);
    file_release(&file);
    return model;
}

BodyModel *body_load_text(const char *name, const char *text, size_t size, const BodyOptions *options, DiagSink *diags)
{
    Resolver *own = NULL;
    const Resolver *resolver = options ? options->resolver : NULL;
    if (!resolver) {
        ResolveOptions resolve = { .main_file = name, .search_paths = options ? options->search_paths : NULL,
                                   .is_untrusted = options && options->is_untrusted };
        resolver = own = resolve_create(&resolve);
    }
    Arena *arena = arena_create();
    const char *real = path_real(arena, name);
    BodyChain chain = { .path = real ? real : name };
    int64_t element_count = 0;
    BodyModel *model = load_text(name, text, size, options, resolver, &chain, &element_count, diags);
    arena_destroy(arena);
    resolve_destroy(own);
    return model;
}

BodyModel *body_load(const char *path, const BodyOptions *options, DiagSink *diags)
{
    FileData file;
    const Limits *limits = limits_or_default(options ? options->limits : NULL);
    if (!file_read(path, (size_t)limits->file_bytes, &file, diags, (SourcePos){ 0 }))
        return NULL;
    BodyModel *model = body_load_text(path, file.data, file.size, options, diags);
    file_release(&file);
    return model;
}

void body_destroy(BodyModel *model)
{
    if (!model)
        return;
    for (int i = 0; i < model->part_count; i++)
        body_destroy(model->parts[i]);
    // Later documents may name anchors of earlier ones.
    for (int i = model->document_count - 1; i >= 0; i--)
        yaml_destroy(model->documents[i]);
    free(model->parts);
    free(model->documents);
    free(model->shapes);
    free(model->devices);
    free(model->extra_joints);
    arena_destroy(model->arena);
    free(model);
}
