// body_world.c - a body file alone as a world.
#include "formats/body/body.h"
#include "formats/body/body_internal.h"
#include "formats/formats_internal.h"
#include "formats/shape/shape.h"

#include <math.h>

static const double standard_gravity = 9.80665;

// How far what is modelled reaches, by links and forms; of a mesh only where it stands is known before it is loaded.
typedef struct Reach {
    Vec3 low, high;
    int count;
} Reach;

static void reach_to(Reach *reach, Vec3 at, double radius)
{
    Vec3 r = vec3(radius, radius, radius), low = vec3_sub(at, r), high = vec3_add(at, r);
    if (reach->count++ == 0) {
        reach->low = low;
        reach->high = high;
        return;
    }
    reach->low = vec3(fmin(reach->low.x, low.x), fmin(reach->low.y, low.y), fmin(reach->low.z, low.z));
    reach->high = vec3(fmax(reach->high.x, high.x), fmax(reach->high.y, high.y), fmax(reach->high.z, high.z));
}

static bool add_reach(SceneNode *node, void *context)
{
    static const double usual = 0.15;  // m, about the origin of a link or mesh
    ShapeForm form = shape_form(node);
    bool is_link = scene_node_is(node, "Solid");
    if (!is_link && form.kind == GEOMETRY_NONE)
        return true;
    double radius = form.type && form.type->radius ? form.type->radius(form.size) : 0.0;
    reach_to(context, scene_world_pose(node).t, radius > 0.0 ? radius : usual);
    return true;
}

static void frame_view(Scene *scene, SceneNode *robot)
{
    Reach reach = { 0 };
    scene_walk(robot, false, add_reach, &reach);
    const FieldList *nodes = scene_list(scene_root(scene), "children");
    for (int i = 0; reach.count > 0 && i < nodes->count; i++)
        if (scene_node_is(nodes->nodes[i], "Viewpoint"))
            body_world_look(scene, nodes->nodes[i], vec3_scale(vec3_add(reach.low, reach.high), 0.5),
                            fmax(0.5 * vec3_length(vec3_sub(reach.high, reach.low)), 0.2));
}

static bool read_body_world(Scene *scene, const char *name, const char *text, size_t size,
                            const FormatsOptions *options, DiagSink *diags)
{
    BodyOptions body_options = { .limits = options->limits, .search_paths = options->search_paths };
    BodyModel *model = body_load_text(name, text, size, &body_options, diags);
    if (!model)
        return false;
    body_world_create(scene, 0.001, standard_gravity);
    SceneNode *robot = body_to_node(model, NULL, scene, diags);
    scene_list_insert_node(scene, scene_root(scene), "children", -1, robot);
    frame_view(scene, robot);
    BodyMaterials *materials = body_materials_create();
    body_world_contacts(scene, materials);
    body_materials_destroy(materials);
    body_destroy(model);
    return true;
}

bool body_fill_scene(Scene *scene, const char *name, const char *text, size_t size, const FormatsOptions *options,
                     DiagSink *diags)
{
    scene_set_release(scene, schema_release("R2025a", 6));
    if (formats_detect(name, text, size) == FORMAT_PROJECT)
        return cnoid_fill_scene(scene, name, text, size, options, diags);
    return read_body_world(scene, name, text, size, options, diags);
}

bool body_read_scene(Scene *scene, const char *name, const char *text, size_t size, const FormatsOptions *options,
                     DiagSink *diags)
{
    scene_set_path(scene, name);
    return body_fill_scene(scene, name, text, size, options, diags);
}
