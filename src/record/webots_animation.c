// webots_animation.c - a recording in the files of a Webots animation.
#include "record/webots_animation.h"

#include "assets/web_page.h"
#include "base/file.h"
#include "base/json.h"
#include "base/json_read.h"
#include "rays/rays.h"
#include "record/export.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- motion ----

// Webots writes four digits, and so do its pages expect it.
static void add_numbers(Text *out, const double *numbers, int count)
{
    assert_debug(numbers && count > 0);
    for (int i = 0; i < count; i++) {
        double rounded = round(numbers[i] * 1e4) / 1e4;
        text_add_string(out, i ? " " : "");
        text_add_double(out, rounded == 0.0 ? 0.0 : rounded);
    }
}

static void write_update(JsonWriter *json, const Physics *physics, int solid, const Pose *pose, Text *scratch)
{
    assert_debug(solid >= 0 && pose);
    Rotation turn = quat_to_rotation(pose->q);
    json_begin_object(json, NULL);
    json_int(json, "id", physics_solid_node(physics, solid)->id);
    text_clear(scratch);
    add_numbers(scratch, (const double[3]){ pose->t.x, pose->t.y, pose->t.z }, 3);
    json_string(json, "translation", scratch->data);
    text_clear(scratch);
    add_numbers(scratch, (const double[4]){ turn.x, turn.y, turn.z, turn.angle }, 4);
    json_string(json, "rotation", scratch->data);
    json_end_object(json);
}

// Labels of the events of a frame; their ids are gathered, separated by semicolons.
static void write_labels(JsonWriter *json, const FrameView *view, Arena *arena, Text *ids)
{
    static const char *const texts[] = { "text", "font", "color" }, *const numbers[] = { "x", "y", "size" };
    FrameSection section;
    const char *why;
    arena_reset(arena);
    const JsonValue *events = frame_section(view, "EVTS", &section)
                                  ? json_parse(arena, section.data, section.size, &why)
                                  : NULL;
    bool has_any = false;
    for (const JsonValue *event = events ? events->first : NULL; event; event = event->next) {
        const char *is = json_member_string(event, "is");
        int64_t id;
        if (!is || strcmp(is, "label") != 0 || !json_member_int(event, "id", INT32_MIN, INT32_MAX, &id))
            continue;
        if (!has_any)
            json_begin_array(json, "labels");
        has_any = true;
        json_begin_object(json, NULL);
        json_int(json, "id", id);
        for (int i = 0; i < COUNT_OF(texts); i++) {
            const char *text = json_member_string(event, texts[i]);
            json_string(json, texts[i], text ? text : i == 1 ? "Arial" : "");
        }
        for (int i = 0; i < COUNT_OF(numbers); i++) {
            double value = 0.0;
            json_member_number(event, numbers[i], &value);
            json_double(json, numbers[i], value);
        }
        json_end_object(json);
        char token[32], all[34];
        snprintf(token, sizeof token, "%lld", (long long)id);
        snprintf(all, sizeof all, ";%s;", token);
        Text known = { 0 };
        text_printf(&known, ";%s;", ids->data ? ids->data : "");
        if (!strstr(known.data, all))
            text_printf(ids, "%s%s", ids->length ? ";" : "", token);
        text_free(&known);
    }
    if (has_any)
        json_end_array(json);
}

static void write_poses(JsonWriter *json, const Physics *physics, const FrameView *view, Text *scratch)
{
    for (int i = 0; i < view->pose_count; i++) {
        Pose pose;
        int solid = frame_pose(view, i, &pose);
        if (solid < physics_solid_count(physics) && physics_solid_exists(physics, solid))
            write_update(json, physics, solid, &pose, scratch);
    }
}

// All frames as an array. Returns how many, and the times of the first two; `labels` gets the names of labels in them.
static int write_frames(JsonWriter *json, const Physics *physics, Recording *recording, Text *labels, double times[2])
{
    Text scratch = { 0 };
    Arena *arena = arena_create();
    FrameView view;
    int count = 0;
    json_begin_array(json, NULL);
    recording_rewind(recording);
    for (; recording_next(recording, &view); count++) {
        if (count < 2)
            times[count] = view.time;
        json_begin_object(json, NULL);
        json_int(json, "time", llround(1000.0 * (view.time - times[0])));
        json_begin_array(json, "updates");
        if (count == 0 || !view.is_key)  // later key frames repeat what the frame before them said
            write_poses(json, physics, &view, &scratch);
        json_end_array(json);
        write_labels(json, &view, arena, labels);
        json_end_object(json);
    }
    json_end_array(json);
    arena_destroy(arena);
    text_free(&scratch);
    return count;
}

static bool write_motion(Sim *sim, Recording *recording, const char *path)
{
    Text out = { 0 }, frames = { 0 }, labels = { 0 };
    JsonWriter json = { .out = &frames, .compact = true };
    double times[2] = { 0 };
    int count = write_frames(&json, sim_physics(sim), recording, &labels, times);
    double step_ms = count > 1 ? round(1e6 * (times[1] - times[0])) / 1e3 : 1000.0 * sim_time_step(sim);
    json = (JsonWriter){ .out = &out, .compact = true };
    json_begin_object(&json, NULL);
    json_double(&json, "basicTimeStep", step_ms);
    json_string(&json, "labelsIds", labels.data ? labels.data : "");
    json_begin_array(&json, "frames");
    json_end_array(&json);
    json_end_object(&json);
    // The frames written above take the place of the empty array.
    out.length -= strlen("[]}");
    text_add(&out, frames.data, frames.length);
    text_add_string(&out, "}\n");
    bool ok = file_write_atomic(path, out.data, out.length, sim_diags(sim));
    text_free(&out);
    text_free(&frames);
    text_free(&labels);
    return ok;
}

// ---- the scene ----

static void add_attribute(Text *out, const char *name, const double *numbers, int count)
{
    assert_debug(numbers && count > 0);
    text_printf(out, " %s='", name);
    for (int i = 0; i < count; i++) {
        text_add_string(out, i ? " " : "");
        text_add_double(out, (double)(float)numbers[i]);
    }
    text_add_char(out, '\'');
}

static void add_mesh(Text *out, const RaysVisual *visual)
{
    const Mesh *mesh = visual->mesh;
    const double *l = visual->local;
    text_add_string(out, "<Shape><Appearance><Material");
    add_attribute(out, "diffuseColor", (const double[3]){ visual->color.x, visual->color.y, visual->color.z }, 3);
    add_attribute(out, "transparency", &visual->transparency, 1);
    text_add_string(out, "/></Appearance><IndexedFaceSet coordIndex='");
    for (int i = 0; i < mesh->triangle_count; i++)
        text_printf(out, "%u %u %u -1 ", mesh->triangles[3 * (size_t)i], mesh->triangles[3 * (size_t)i + 1],
                    mesh->triangles[3 * (size_t)i + 2]);
    text_add_string(out, "'><Coordinate point='");
    for (int i = 0; i < mesh->vertex_count; i++) {
        Vec3 p = mesh_position(mesh, (uint32_t)i);
        const double at[3] = { l[0] * p.x + l[1] * p.y + l[2] * p.z + l[3], l[4] * p.x + l[5] * p.y + l[6] * p.z + l[7],
                               l[8] * p.x + l[9] * p.y + l[10] * p.z + l[11] };
        for (int k = 0; k < 3; k++) {
            text_add_double(out, (double)(float)at[k]);
            text_add_char(out, ' ');
        }
    }
    text_add_string(out, "'/></IndexedFaceSet></Shape>");
}

// What is carried by a solid (-1: by the world).
static void add_visuals(Text *out, Rays *rays, int solid)
{
    for (int i = 0; i < rays_visual_count(rays); i++) {
        RaysVisual visual = rays_describe(rays, i);
        if (visual.solid == solid && visual.mesh && visual.mesh->triangle_count > 0 && !rays_is_hidden(rays, i, 0))
            add_mesh(out, &visual);
    }
}

static void add_viewpoint(Text *out, const Scene *scene)
{
    const FieldList *nodes = scene_list(scene_root(scene), "children");
    for (int i = 0; i < nodes->count; i++) {
        const SceneNode *node = scene_list_node(nodes, i);
        if (!node || !scene_node_is(node, "Viewpoint"))
            continue;
        Rotation turn = scene_rotation(node, "orientation");
        Vec3 place = scene_vec3(node, "position");
        double field = scene_float(node, "fieldOfView");
        text_printf(out, "<Viewpoint id='n%u'", node->id);
        add_attribute(out, "position", (const double[3]){ place.x, place.y, place.z }, 3);
        add_attribute(out, "orientation", (const double[4]){ turn.x, turn.y, turn.z, turn.angle }, 4);
        add_attribute(out, "fieldOfView", &field, 1);
        text_add_string(out, "/>");
        return;
    }
}

static bool write_scene(Sim *sim, const char *path)
{
    const Physics *physics = sim_physics(sim);
    Rays *rays = rays_create(sim_physics(sim), sim_diags(sim));
    Text out = { 0 };
    rays_update(rays);
    text_add_string(&out, "<?xml version='1.0' encoding='UTF-8'?>\n<nodes><Scene>\n");
    add_viewpoint(&out, sim_scene(sim));
    add_visuals(&out, rays, -1);
    for (int i = 0; i < physics_solid_count(physics); i++) {
        if (!physics_solid_exists(physics, i))
            continue;
        Pose pose = physics_solid_pose(physics, i);
        Rotation turn = quat_to_rotation(pose.q);
        text_printf(&out, "\n<Transform id='n%u' solid='true'", physics_solid_node(physics, i)->id);
        add_attribute(&out, "translation", (const double[3]){ pose.t.x, pose.t.y, pose.t.z }, 3);
        add_attribute(&out, "rotation", (const double[4]){ turn.x, turn.y, turn.z, turn.angle }, 4);
        text_add_char(&out, '>');
        add_visuals(&out, rays, i);
        text_add_string(&out, "</Transform>");
    }
    text_add_string(&out, "\n</Scene></nodes>\n");
    bool ok = file_write_atomic(path, out.data, out.length, sim_diags(sim));
    text_free(&out);
    rays_destroy(rays);
    return ok;
}

static bool write_style(Sim *sim, const char *path)
{
    static const char style[] =
        "/* The page beside this file carries its own style; this one is for pages that embed it. */\n"
        "iframe.talus-replay { width: 100%; aspect-ratio: 16 / 9; border: 0; }\n";
    return file_write_atomic(path, style, sizeof style - 1, sim_diags(sim));
}

// In a build without the browser page the motion is kept all the same, for other pages.
static bool write_page(Sim *sim, Recording *recording, const char *path, const char *name)
{
    if (web_page_find("replay-head"))
        return export_html(recording, path, &(ExportOptions){ 0 }, sim_diags(sim));
    diag_warning(sim_diags(sim), (SourcePos){ 0 },
                 "'%s' plays nothing: this build has no browser page (node, npm or its registry was missing)", path);
    Text page = { 0 };
    text_printf(
        &page,
        "<!doctype html><meta charset=utf-8><title>Talus</title><p>This build of Talus has no browser page. The "
        "motion is in %s.json, the scene in %s.w3d.\n",
        path_name(name), path_name(name));
    bool ok = file_write_atomic(path, page.data, page.length, sim_diags(sim));
    text_free(&page);
    return ok;
}

bool webots_animation_write(Sim *sim, Recording *recording, const char *html_path)
{
    Arena *arena = arena_create();
    size_t stem = strlen(html_path) - strlen(path_extension(html_path));
    char *name = arena_text(arena, html_path, stem);
    bool ok = write_page(sim, recording, html_path, name);
    ok = write_motion(sim, recording, arena_printf(arena, "%s.json", name)) && ok;
    ok = write_scene(sim, arena_printf(arena, "%s.w3d", name)) && ok;
    ok = write_style(sim, arena_printf(arena, "%s.css", name)) && ok;
    arena_destroy(arena);
    return ok;
}
