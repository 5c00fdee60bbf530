// body_world.c - a body file alone as a world.
#include "formats/body.h"
#include "formats/body_internal.h"
#include "formats/formats_internal.h"

static const double standard_gravity = 9.80665;

static bool read_body_world(Scene *scene, const char *name, const char *text, size_t size, const FormatsOptions *options, DiagSink *diags)
{
    BodyOptions body_options = { .limits = options->limits, .search_paths = options->search_paths };
    BodyModel *model = body_load_text(name, text, size, &body_options, diags);
    if (!model)
        return false;
    body_world_create(scene, 0.001, standard_gravity);
    SceneNode *robot = body_to_node(model, NULL, scene, diags);
    scene_list_insert_node(scene, scene_root(scene), "children", -1, robot);
    BodyMaterials *materials = body_materials_create();
    body_world_contacts(scene, materials);
    body_materials_destroy(materials);
    body_destroy(model);
    return true;
}

bool body_fill_scene(Scene *scene, const char *name, const char *text, size_t size, const FormatsOptions *options, DiagSink *diags)
{
    scene_set_release(scene, schema_release("R2025a", 6));
    if (formats_detect(name, text, size) == FORMAT_PROJECT)
        return cnoid_fill_scene(scene, name, text, size, options, diags);
    return read_body_world(scene, name, text, size, options, diags);
}

bool body_read_scene(Scene *scene, const char *name, const char *text, size_t size, const FormatsOptions *options, DiagSink *diags)
{
    scene_set_path(scene, name);
    return body_fill_scene(scene, name, text, size, options, diags);
}
