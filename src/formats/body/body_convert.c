// body_convert.c - bodies between files: worlds to bodies, bodies to PROTOs.
#include "formats/body/body.h"

#include "base/file.h"
#include "formats/body/body_internal.h"

#include <string.h>

static bool save_text(const char *path, Text *text, DiagSink *diags)
{
    bool is_saved = file_write_atomic(path, text->data ? text->data : "", text->length, diags);
    text_free(text);
    return is_saved;
}

// Robots and solids that stand in no other, through groups and poses.
static int count_bodies(const SceneNode *node, int wanted, const SceneNode **found)
{
    const FieldList *children = scene_list(node, "children");
    int count = 0;
    for (int i = 0; i < children->count; i++) {
        const SceneNode *child = scene_list_node(children, i);
        if (!child)
            continue;
        if (scene_node_is(child, "Solid")) {
            if (count++ == wanted)
                *found = child;
        } else if (scene_node_is(child, "Group")) {
            count += count_bodies(child, wanted - count, found);
        }
    }
    return count;
}

static char *file_name_of(Arena *arena, const char *path, const char *name, int index)
{
    assert(index >= 0);
    char *part = arena_string(arena, *name ? name : "body");
    for (char *c = part; *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || *c == '-'
              || *c == '_'))
            *c = '_';
    if (strlen(part) > 80)
        part[80] = '\0';
    const char *stem = path_join(arena, path_directory(arena, path), path_stem(arena, path));
    char *full = arena_printf(arena, "%s-%s.body", stem, part);
    return file_exists(full) ? arena_printf(arena, "%s-%s-%d.body", stem, part, index) : full;
}

int body_save(const Scene *scene, const char *path, DiagSink *diags)
{
    enum { BODIES_MAX = 1000 };
    const SceneNode *solid = NULL;
    int count = count_bodies(scene_root(scene), -1, &solid), written = 0;
    Arena *arena = arena_create();
    if (count == 0)
        diag_error(diags, (SourcePos){ 0 }, "there is no robot or solid to write as a body");
    if (count > BODIES_MAX)
        diag_error(diags, (SourcePos){ 0 }, "%d robots and solids; the first %d are written", count, BODIES_MAX);
    for (int i = 0; i < count && i < BODIES_MAX; i++) {
        count_bodies(scene_root(scene), i, &solid);
        BodyModel *model = body_from_node(scene, solid, diags);
        const char *to = count == 1 ? path : file_name_of(arena, path, model->name, i);
        Text text = { 0 };
        body_write_yaml(model, path_directory(arena, path), &text);
        if (save_text(to, &text, diags)) {
            written++;
            if (count > 1)
                diag_note(diags, solid->pos, "'%s' is written to %s", model->name, to);
        }
        body_destroy(model);
    }
    arena_destroy(arena);
    return written;
}

static bool save_normalized(const char *from, const char *to, const BodyOptions *options, DiagSink *diags)
{
    BodyModel *model = body_load(from, options, diags);
    if (!model)
        return false;
    Arena *arena = arena_create();
    Text text = { 0 };
    body_write_yaml(model, path_directory(arena, to), &text);
    bool is_saved = save_text(to, &text, diags);
    arena_destroy(arena);
    body_destroy(model);
    return is_saved;
}

static void add_quoted(Text *out, const char *text)
{
    text_add_char(out, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            text_add_char(out, '\\');
        text_add_char(out, *text);
    }
    text_add_char(out, '"');
}

// What an instance may choose: the usual fields of a robot, connected to its Robot node.
static void write_proto(Scene *scene, SceneNode *robot, const char *name, Text *out)
{
    assert_debug(robot && name);
    Vec3 t = scene_vec3(robot, "translation");
    Rotation r = scene_rotation(robot, "rotation");
    text_printf(out, "#VRML_SIM R2025a utf8\nPROTO %s [\n  field SFVec3f    translation    ", name);
    const double numbers[] = { t.x, t.y, t.z, r.x, r.y, r.z, r.angle };
    for (int i = 0; i < 7; i++) {
        if (i == 3)
            text_add_string(out, "\n  field SFRotation rotation       ");
        else if (i > 0)
            text_add_char(out, ' ');
        text_add_double(out, numbers[i]);
    }
    text_add_string(out, "\n  field SFString   name           ");
    add_quoted(out, scene_string(robot, "name"));
    text_add_string(out, "\n  field SFString   controller     ");
    add_quoted(out, scene_string(robot, "controller"));
    text_printf(out,
                "\n  field MFString   controllerArgs []\n  field SFString   customData     \"\"\n"
                "  field SFBool     supervisor     FALSE\n  field SFBool     selfCollision  %s\n]\n{\n",
                scene_bool(robot, "selfCollision") ? "TRUE" : "FALSE");
    static const char *const fields[] = { "translation",    "rotation",   "name",       "controller",
                                          "controllerArgs", "customData", "supervisor", "selfCollision" };
    for (int i = 0; i < COUNT_OF(fields); i++)
        scene_reset_field(scene, robot, fields[i]);
    Text text = { 0 };
    formats_write_node(scene, robot, &text);
    const char *brace = text.data ? strchr(text.data, '{') : NULL;
    if (brace) {
        text_add(out, text.data, (size_t)(brace - text.data) + 1);
        text_add_char(out, '\n');
        for (int i = 0; i < COUNT_OF(fields); i++)
            text_printf(out, "  %s IS %s\n", fields[i], fields[i]);
        const char *rest = brace + 1;
        text_add_string(out, *rest == '\n' ? rest + 1 : rest);
    }
    text_free(&text);
    text_add_string(out, "\n}\n");
}

static bool save_proto(const char *from, const char *to, const BodyOptions *options, DiagSink *diags)
{
    BodyModel *model = body_load(from, options, diags);
    if (!model)
        return false;
    Scene *scene = scene_create();
    scene_set_path(scene, to);
    SceneNode *robot = body_to_node(model, NULL, scene, diags);
    Text text = { 0 };
    write_proto(scene, robot, path_stem(model->arena, to), &text);
    bool is_saved = save_text(to, &text, diags);
    scene_destroy(scene);
    body_destroy(model);
    return is_saved;
}

// As a world whose file is to lie elsewhere: URLs are relative to that place.
static bool save_world(const char *from, const char *to, const FormatsOptions *options, DiagSink *diags)
{
    FileData file;
    if (!file_read(from, (size_t)limits_or_default(options->limits)->file_bytes, &file, diags, (SourcePos){ 0 }))
        return false;
    Scene *scene = scene_create();
    scene_set_path(scene, to);
    bool is_saved = body_fill_scene(scene, from, file.data, file.size, options, diags)
                    && formats_save(scene, to, diags);
    file_release(&file);
    scene_destroy(scene);
    return is_saved;
}

bool body_convert(const char *from, const char *to, const FormatsOptions *options, DiagSink *diags, bool *is_ours)
{
    assert_debug(options && is_ours);
    const char *source = path_extension(from), *target = path_extension(to);
    bool from_body = !strcasecmp(source, ".body"), from_project = !strcasecmp(source, ".cnoid");
    BodyOptions body_options = { .limits = options->limits, .search_paths = options->search_paths };
    *is_ours = true;
    if (!strcasecmp(target, ".cnoid")) {
        diag_error(diags, (SourcePos){ 0 }, "projects are read, not written");
        return false;
    }
    if (from_body && !strcasecmp(target, ".body"))
        return save_normalized(from, to, &body_options, diags);
    if (from_body && !strcasecmp(target, ".proto"))
        return save_proto(from, to, &body_options, diags);
    if (!strcasecmp(target, ".body")) {
        Scene *scene = formats_load(from, options, diags);
        int written = scene ? body_save(scene, to, diags) : 0;
        scene_destroy(scene);
        return written > 0;
    }
    if (from_body || from_project)
        return save_world(from, to, options, diags);
    *is_ours = false;
    return false;
}
