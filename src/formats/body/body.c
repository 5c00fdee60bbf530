// body.c - a body file as a whole: its header, what else stands at its top, and the loading of it.
#include "formats/body/body.h"

#include "base/file.h"
#include "base/memory.h"
#include "formats/body/body_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DEGREE (3.14159265358979323846 / 180.0)

// Programs index joints by id, so gaps and doubles are told; ids far beyond the links would only cost memory, and
// parts are told by the whole they belong to.
static void check_joint_ids(BodyReader *reader)
{
    assert_debug(reader->model);
    const BodyModel *model = reader->model;
    int count = body_joint_count(model);
    if (count == 0 || reader->chain->depth > 0)
        return;
    if (count > 2 * model->link_count + 1000) {
        diag_warning(reader->diags, model->links[0].pos, "joint ids go up to %d, but there are %d links", count - 1,
                     model->link_count);
        return;
    }
    int *links = memory_alloc_array((size_t)count, sizeof *links);
    for (int i = 0; i < model->link_count; i++) {
        int id = model->links[i].joint_id;
        if (id < 0)
            continue;
        if (links[id]++ > 0)
            diag_warning(reader->diags, model->links[i].pos,
                         "joint id %d of '%.60s' is taken already; the first one keeps it", id, model->links[i].name);
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

static const char *const top_keys[] = { "format",
                                        "format_version",
                                        "formatVersion",
                                        "angle_unit",
                                        "angleUnit",
                                        "name",
                                        "links",
                                        "root_link",
                                        "rootLink",
                                        "extra_joints",
                                        "extraJoints",
                                        "body_handlers",
                                        "bodyHandlers",
                                        "collision_detection_rules",
                                        "collisionDetection",
                                        "model_file",
                                        "modelFile",
                                        NULL };

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
        diag_note(reader->diags, item->pos, "body handler '%.60s' is native code of Choreonoid and is not run",
                  item->text);
    }
}

static void read_info(BodyReader *reader, const YamlNode *top)
{
    assert_debug(yaml_is_map(top));
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
static const char *const info_keys[] = { "link_group",
                                         "linkGroup",
                                         "foot_links",
                                         "footLinks",
                                         "standard_pose",
                                         "standardPose",
                                         "default_ik_setup",
                                         "defaultIKsetup",
                                         "symmetric_joints",
                                         "symmetricJoints",
                                         "symmetric_ik_links",
                                         "symmetricIkLinks",
                                         "available_ik_interpolation_links",
                                         "default_ik_interpolation_links",
                                         "possibleIkInterpolationLinks",
                                         "defaultIkInterpolationLinks",
                                         "pose_conversion_info",
                                         "body_markers",
                                         "preset_poses",
                                         "definitions",
                                         "linkInfo",
                                         "link_info",
                                         NULL };

static void warn_top_slips(BodyReader *reader, const YamlNode *top)
{
    assert_debug(yaml_is_map(top));
    for (int i = 0; i < top->count && i < 1000; i++) {
        const YamlPair *pair = &top->pairs[i];
        if (pair->value->anchor || body_key_is(pair->key, top_keys) || body_key_is(pair->key, info_keys)
            || strlen(pair->key) < 5)
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
    assert_debug(yaml_is_map(top));
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
    assert_debug(yaml_is_map(top));
    const YamlNode *links = yaml_get(top, "links");
    if (!links || links->kind == YAML_SCALAR || links->count == 0) {
        diag_error(reader->diags, links ? links->pos : top->pos, "a body needs 'links' with at least one entry");
        return false;
    }
    BodyRawLinks raw = { 0 };
    body_entries_read(reader, links, &raw);
    if (raw.count == 0) {
        diag_error(reader->diags, links->pos, "no link could be read");
        free(raw.items);
        return false;
    }
    body_tree_build(reader, &raw, top);
    free(raw.items);
    return true;
}

static bool ends_as(const char *path, const char *const *endings)
{
    for (; *endings; endings++)
        if (!strcasecmp(path_extension(path), *endings))
            return true;
    return false;
}

bool body_is_mesh(const char *path)
{
    return ends_as(path, (const char *const[]){ ".stl", ".obj", ".dae", ".ply", NULL });
}

static bool body_is_vrml(const char *path) { return ends_as(path, (const char *const[]){ ".wrl", ".vrml", NULL }); }

bool body_is_model(const char *path)
{
    return body_is_vrml(path) || ends_as(path, (const char *const[]){ ".body", ".yaml", ".yml", NULL });
}

// One fixed link with the mesh as its shape; `base` is the file beside which `uri` is looked for.
static BodyModel *load_mesh_model(const char *base, const char *uri, const BodyOptions *options, DiagSink *diags)
{
    Text text = { 0 };
    text_add_string(
        &text,
        "format: ChoreonoidBody\nformat_version: 2.0\nname: Model\nlinks: [ { name: Root, elements: { Resource: { uri: ");
    yaml_write_scalar(&text, uri);
    text_add_string(&text, " } } } ]\n");
    BodyModel *model = body_load_text(base, text.data, text.length, options, diags);
    text_free(&text);
    return model;
}

// A file that only names another model: the model is read as a part with itself as root, and what is written beside
// it (name, notes on links) is laid over.
static bool read_wrapper(BodyReader *reader, const YamlNode *top)
{
    const char *uri;
    if (!body_string(reader, top, "model_file", "modelFile", &uri)) {
        diag_error(reader->diags, top->pos, "not a body: neither 'format: ChoreonoidBody' nor 'model_file'");
        return false;
    }
    BodyPartKeys keys = { .uri = uri, .prefix = "", .suffix = "", .device_prefix = "" };
    SourcePos pos = body_key(top, "model_file", "modelFile")->pos;
    bool is_mesh = body_is_mesh(uri);
    if (!body_is_model(uri) && !is_mesh) {
        diag_error(
            reader->diags, pos,
            "model_file: %s is neither a body (.body, .wrl) nor a mesh; other model formats are read through their own converters",
            uri);
        return false;
    }
    BodyModel *sub = is_mesh ? load_mesh_model(reader->chain->path, uri, reader->options, reader->diags)
                             : body_part_load(reader, &keys, pos);
    if (!sub)
        return false;
    BodyRawLinks raw = { 0 };
    body_part_own(reader, sub);
    body_part_add(reader, sub, &keys, &raw);
    body_tree_build(reader, &raw, NULL);
    free(raw.items);
    BodyModel *model = reader->model;
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
        assert_debug(link >= 0 && link < model->link_count);
        while (*tail)
            tail = &(*tail)->next;
        for (int k = 0; yaml_is_map(infos->pairs[i].value) && k < infos->pairs[i].value->count; k++)
            tail = body_info_add(reader, tail, &infos->pairs[i].value->pairs[k]);
    }
    return true;
}

// Links come before what refers to them by name: extra joints, rules of collision, handlers.
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
        diag_error(reader->diags, format->pos, "format is '%.60s', not ChoreonoidBody",
                   yaml_is_scalar(format) ? format->text : "?");
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

static bool read_yaml(BodyReader *reader, const char *text, size_t size)
{
    BodyModel *model = reader->model;
    YamlOptions options = { .limits = reader->limits };
    reader->document = yaml_parse(reader->path, text, size, &options, reader->diags);
    if (!reader->document)
        return false;
    *memory_push(model->documents, model->document_count, model->document_capacity) = reader->document;
    return read_body(reader, yaml_root(reader->document));
}

static bool read_humanoid(BodyReader *reader, const char *text, size_t size)
{
    if (!body_humanoid_read(reader, text, size))
        return false;
    check_joint_ids(reader);
    return true;
}

// The model owns the document: names and notes point into its text. Caches of shared shapes live as long as the
// reading.
static BodyModel *load_text(const char *path, const char *text, size_t size, const BodyLoad *load, DiagSink *diags)
{
    assert_debug(path && (text || size == 0) && load->resolver && load->chain && load->element_count && diags);
    static const BodyOptions no_options = { 0 };
    BodyModel *model = memory_alloc(sizeof *model);
    model->arena = arena_create();
    model->path = arena_string(model->arena, path);
    BodyReader reader = { .model = model,
                          .arena = model->arena,
                          .diags = diags,
                          .options = load->options ? load->options : &no_options,
                          .resolver = load->resolver,
                          .chain = load->chain,
                          .path = model->path,
                          .element_count = load->element_count,
                          .angle = DEGREE };
    reader.limits = limits_or_default(reader.options->limits);
    bool is_fine = body_is_vrml(path) ? read_humanoid(&reader, text, size) : read_yaml(&reader, text, size);
    body_cache_free(&reader.geometries);
    body_cache_free(&reader.appearances);
    free(reader.said);
    if (is_fine)
        return model;
    body_destroy(model);
    return NULL;
}

BodyModel *body_load_chained(const char *path, const BodyLoad *load, DiagSink *diags)
{
    FileData file;
    const Limits *limits = limits_or_default(load->options ? load->options->limits : NULL);
    if (!file_read(path, (size_t)limits->file_bytes, &file, diags, (SourcePos){ 0 }))
        return NULL;
    BodyModel *model = load_text(path, file.data, file.size, load, diags);
    file_release(&file);
    return model;
}

BodyModel *body_load_text(const char *name, const char *text, size_t size, const BodyOptions *options, DiagSink *diags)
{
    Resolver *own = NULL;
    const Resolver *resolver = options ? options->resolver : NULL;
    if (!resolver) {
        ResolveOptions resolve = {
            .main_file = name,
            .search_paths = options ? options->search_paths : NULL,
            .is_untrusted = options && (options->is_untrusted || limits_or_default(options->limits)->is_untrusted)
        };
        resolver = own = resolve_create(&resolve);
    }
    Arena *arena = arena_create();
    const char *real = path_real(arena, name);
    BodyChain chain = { .path = real ? real : name };
    int64_t element_count = 0;
    BodyLoad load = { options, resolver, &chain, &element_count };
    BodyModel *model = load_text(name, text, size, &load, diags);
    arena_destroy(arena);
    resolve_destroy(own);
    return model;
}

BodyModel *body_load_mesh(const char *path, const BodyOptions *options, DiagSink *diags)
{
    assert_debug(body_is_mesh(path));
    return load_mesh_model(path, path_name(path), options, diags);
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
    assert_debug(model->document_count <= model->document_capacity);
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
