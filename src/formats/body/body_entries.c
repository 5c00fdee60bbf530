// body_entries.c - the entries of `links`: single links, tracks, and whole bodies as parts.
#include "formats/body/body.h"

#include "base/file.h"
#include "base/memory.h"
#include "formats/body/body_internal.h"

#include <stdlib.h>
#include <string.h>

static void read_link_elements(BodyReader *reader, const YamlNode *map, BodyRawLinks *raw, int index, bool is_sub_body)
{
    assert_debug(index >= 0 && index < raw->count);
    BodyMassSum sum = { 0 };
    ElementScope scope = { .link = index,
                           .device = -1,
                           .frame = BODY_FRAME_IDENTITY,
                           .is_visual = true,
                           .is_collision = true,
                           .ignores_mass = is_sub_body,
                           .sum = &sum };
    const YamlNode *elements = yaml_get(map, "elements");
    if (elements)
        body_elements_read(reader, elements, scope);
    if (!is_sub_body)
        body_link_mass(reader, map, &raw->items[index].link, &sum);
    free(sum.parts);
}

static void read_parent(BodyReader *reader, const YamlNode *map, BodyRawLink *raw)
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
                diag_warning(reader->diags, pair->pos, "import does not bring '%.60s' into a link; '<<' does",
                             pair->key);
            tail = body_info_add(reader, tail, pair);
        }
    }
}

static void read_link(BodyReader *reader, const YamlNode *map, BodyRawLinks *raw)
{
    int index = body_raw_add(raw);
    BodyRawLink *added = &raw->items[index];
    body_link_read(reader, map, &added->link, false);
    read_parent(reader, map, added);
    body_check_keys(reader, map, "a link", body_link_keys, NULL, &added->link.info);
    read_import(reader, map, &added->link);
    read_link_elements(reader, map, raw, index, false);
}

// A ContinuousTrack is shorthand for a chain of equal links: the first free, each other one turning on the one
// before it.
static void read_track(BodyReader *reader, const YamlNode *map, BodyRawLinks *raw)
{
    assert_debug(yaml_is_map(map));
    static const char *const keys[] = { "numJoints",   "num_joints",         "joint_offset",
                                        "jointOffset", "initialJointAngles", "initial_joint_angles",
                                        NULL };
    int count = 0;
    Vec3 offset = VEC3_ZERO;
    BodyNumbers angles = { 0 };
    body_hard_int(reader, map, "num_joints", "numJoints", &count);
    bool has_offset = body_vec3(reader, map, "joint_offset", "jointOffset", &offset);
    body_numbers(reader, map, "initial_joint_angles", "initialJointAngles", 1, &angles);
    if (count < 3 || !has_offset || !yaml_get(map, "parent")) {
        diag_error(reader->diags, map->pos,
                   "a ContinuousTrack needs parent, joint_offset and numJoints of at least 3; left out");
        return;
    }
    if (count > 10000 || *reader->element_count > reader->limits->nodes) {
        diag_error(reader->diags, map->pos, "a ContinuousTrack of %d joints; using 10000", count);
        count = 10000;
    }
    int first = raw->count;
    for (int i = 0; i < count; i++) {
        int index = body_raw_add(raw);
        BodyRawLink *added = &raw->items[index];
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

static void add_sub_links(BodyReader *reader, const BodyModel *sub, const BodyPartKeys *keys, BodyRawLinks *raw)
{
    assert(raw->count >= 0);
    int first = raw->count;
    for (int i = 0; i < sub->link_count; i++) {
        int index = body_raw_add(raw);
        assert(index >= 0 && index < raw->count);
        BodyRawLink *added = &raw->items[index];
        BodyLink *link = &added->link;
        *link = sub->links[i];
        added->parent = link->parent < 0 ? -1 : first + link->parent;
        link->name = decorated(reader, keys->prefix, link->name, keys->suffix);
        link->joint_name = decorated(reader, keys->prefix, link->joint_name, keys->suffix);
        if (link->joint_id >= 0)
            link->joint_id += keys->id_offset;
    }
}

// Indices of the part are its own; here they move behind what is there already.
static void add_sub_contents(BodyReader *reader, const BodyModel *sub, const BodyPartKeys *keys, int first)
{
    assert_debug(first >= 0);
    BodyModel *model = reader->model;
    int first_device = model->device_count;
    for (int i = 0; i < sub->shape_count; i++) {
        BodyShape shape = sub->shapes[i];
        shape.link += first;
        if (shape.device >= 0)
            shape.device += first_device;
        body_shape_add(reader, shape);
    }
    memory_grow(&model->devices, &model->device_capacity, model->device_count + sub->device_count,
                sizeof *model->devices);
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

BodyModel *body_part_load(BodyReader *reader, const BodyPartKeys *keys, SourcePos pos)
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
        diag_error(reader->diags, pos, "sub-bodies inside sub-bodies, more than %lld deep",
                   (long long)reader->limits->proto_depth);
        return NULL;
    }
    BodyChain chain = { .path = path, .outer = reader->chain, .depth = reader->chain->depth + 1 };
    BodyLoad load = { reader->options, reader->resolver, &chain, reader->element_count };
    return body_load_chained(path, &load, reader->diags);
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

void body_part_own(BodyReader *reader, BodyModel *part)
{
    assert_debug(part);
    BodyModel *model = reader->model;
    *memory_push(model->parts, model->part_count, model->part_capacity) = part;
}

void body_part_add(BodyReader *reader, const BodyModel *part, const BodyPartKeys *keys, BodyRawLinks *raw)
{
    int first = raw->count;
    add_sub_links(reader, part, keys, raw);
    add_sub_contents(reader, part, keys, first);
    merge_sub_info(reader, part);
}

// The part is read by itself, with its own file as base of its names, and then put under this link; elements written
// here come on top. What it adds counts against the same budget, else bodies that name each other grow without end.
static void read_sub_body(BodyReader *reader, const YamlNode *map, BodyRawLinks *raw)
{
    assert_debug(yaml_is_map(map));
    static const char *const sub_keys[] = {
        "uri", "url", "prefix", "suffix", "device_prefix", "devicePrefix", "joint_id_offset", "jointIdOffset", NULL
    };
    body_check_keys(reader, map, "a SubBody", body_link_keys, sub_keys, NULL);
    BodyPartKeys keys = { .prefix = "", .suffix = "" };
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
    BodyModel *sub = body_part_load(reader, &keys, map->pos);
    if (!sub)
        return;
    body_part_own(reader, sub);
    int first = raw->count;
    *reader->element_count += sub->link_count + sub->shape_count;
    if (*reader->element_count > reader->limits->nodes) {
        diag_error(reader->diags, map->pos, "more than %lld elements; this sub-body is left out",
                   (long long)reader->limits->nodes);
        return;
    }
    body_part_add(reader, sub, &keys, raw);
    BodyRawLink *root = &raw->items[first];
    root->link.pos = map->pos;
    body_link_read(reader, map, &root->link, true);
    read_parent(reader, map, root);
    read_link_elements(reader, map, raw, first, true);
}

static void read_entry(BodyReader *reader, const char *type, const YamlNode *map, BodyRawLinks *raw)
{
    assert_debug(reader->element_count && raw);
    static const char *const types[] = { "Link", "ContinuousTrack", "SubBody", "Skip" };
    if (!yaml_is_map(map)) {
        diag_error(reader->diags, map->pos, "an entry of links wants a map of its keys");
    } else if (++*reader->element_count > reader->limits->nodes || raw->count >= reader->limits->bodies) {
        if (raw->count == reader->limits->bodies)
            diag_error(reader->diags, map->pos, "more than %lld links; the rest is left out",
                       (long long)reader->limits->bodies);
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

void body_entries_read(BodyReader *reader, const YamlNode *links, BodyRawLinks *raw)
{
    for (int i = 0; links->kind == YAML_LIST && i < links->count; i++) {
        const YamlNode *type = yaml_get(links->items[i], "type");
        read_entry(reader, yaml_is_scalar(type) ? type->text : "Link", links->items[i], raw);
    }
    for (int i = 0; links->kind == YAML_MAP && i < links->count; i++)
        read_entry(reader, links->pairs[i].key, links->pairs[i].value, raw);
}
