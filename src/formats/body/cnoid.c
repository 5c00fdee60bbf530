// cnoid.c - Choreonoid projects: the bodies that a project places, its material tables, and the time step and gravity
// of its first simulator. Everything else in the tree of items is listed as ignored.
#include "formats/body/body.h"

#include "base/file.h"
#include "base/memory.h"
#include "formats/body/body_internal.h"

#include <stdlib.h>
#include <string.h>

#define DEGREE (3.14159265358979323846 / 180.0)

typedef struct Project {
    Scene *scene;
    const char *path;
    const FormatsOptions *options;
    Resolver *resolver;
    Arena *arena;
    DiagSink *diags;
    BodyMaterials *materials;
    double time_step, gravity;
    Vec3 gravity_direction;     // zero: down
    const YamlNode *simulator;  // the first that can be run
    int body_count;
    int named_count;  // of BodyItems, those that could not be placed included
} Project;

static const YamlNode *get(const YamlNode *map, const char *key, const char *old_key)
{
    const YamlNode *node = yaml_get(map, key);
    return node || !old_key ? node : yaml_get(map, old_key);
}

static const char *word(const YamlNode *map, const char *key, const char *old_key)
{
    const YamlNode *node = get(map, key, old_key);
    return yaml_is_scalar(node) ? node->text : "";
}

static bool numbers(Project *project, const YamlNode *node, int count, double *values)
{
    assert_debug(count > 0 && values);
    if (!yaml_is_list(node) || node->count != count) {
        if (node)
            diag_error(project->diags, node->pos, "a list of %d numbers is wanted here", count);
        return false;
    }
    for (int i = 0; i < count; i++) {
        if (!yaml_double_prefix(node->items[i], &values[i])) {
            diag_error(project->diags, node->items[i]->pos, "a number is wanted here");
            return false;
        }
    }
    return true;
}

static const char *resolved(Project *project, const char *uri, const char *what, SourcePos pos)
{
    Resolved result;
    if (resolve_url(project->resolver, uri, project->path, project->arena, &result))
        return result.path;
    resolve_report_missing(&result, what, uri, project->diags, pos);
    return NULL;
}

static void read_placement(Project *project, const YamlNode *data, BodyPlacement *placement)
{
    double n[9];
    // What a simulation starts from is the current pose of the project, written last.
    const YamlNode *translation = get(data, "root_translation", "rootPosition");
    if (translation && numbers(project, translation, 3, n)) {
        placement->translation = vec3(n[0], n[1], n[2]);
        placement->has_translation = true;
    }
    const YamlNode *rotation = yaml_get(data, "root_rotation"), *attitude = yaml_get(data, "rootAttitude");
    if (rotation && numbers(project, rotation, 4, n)) {
        placement->rotation = quat_from_axis_angle(vec3(n[0], n[1], n[2]), n[3] * DEGREE);
        placement->has_rotation = true;
    } else if (!rotation && attitude && numbers(project, attitude, 9, n)) {
        Mat3 m;
        memcpy(m.m, n, sizeof n);
        placement->rotation = quat_normalized(quat_from_mat3(m));
        placement->has_rotation = true;
    }
    bool flag;
    if (yaml_bool(get(data, "fix_root", "staticModel"), &flag))
        placement->fixed = flag ? 1 : -1;
    if (yaml_bool(get(data, "self_collision_detection", "selfCollisionDetection"), &flag))
        placement->self_collision = flag;
    if (yaml_bool(get(data, "collision_detection", "collisionDetection"), &flag))
        placement->without_collision = !flag;
}

// Displacements by joint id. The newer spelling is in degrees for every joint, also for slides.
static double *read_displacements(Project *project, const YamlNode *data, const BodyModel *model, int *count)
{
    assert_debug(model && count);
    const YamlNode *degrees = yaml_get(data, "joint_displacements"), *plain = yaml_get(data, "jointPositions");
    const YamlNode *list = degrees ? degrees : plain;
    *count = 0;
    if (!yaml_is_list(list) || list->count == 0)
        return NULL;
    int expected = body_joint_count(model), all = body_all_joint_count(model);
    if (list->count != expected && list->count != all)
        diag_warning(project->diags, list->pos, "%d joint displacements for a body of %d joints; %s", list->count,
                     expected, list->count < expected ? "the other joints keep their own" : "the rest is ignored");
    double *values = memory_alloc_array((size_t)list->count, sizeof *values);
    for (int i = 0; i < list->count; i++) {
        if (!yaml_double_prefix(list->items[i], &values[i]))
            diag_error(project->diags, list->items[i]->pos, "a joint displacement wants a number");
        else if (degrees)
            values[i] *= DEGREE;
    }
    *count = list->count;
    return values;
}

// A body that cannot be read is left out and counted; a project is bad only when none could be read.
static void place_body(Project *project, const YamlNode *item, const YamlNode *data)
{
    const YamlNode *file = get(data, "file", "modelFile");
    project->named_count++;
    if (!yaml_is_scalar(file)) {
        diag_error(project->diags, item->pos, "BodyItem '%.60s' names no file", word(item, "name", NULL));
        return;
    }
    const char *format = word(data, "format", NULL);
    const char *path = resolved(project, file->text, "body", file->pos);
    if (!path)
        return;
    if (!body_is_model(path) && !body_is_mesh(path)) {
        diag_warning(project->diags, file->pos, "%s is no body (format '%s'); left out", path_name(path), format);
        return;
    }
    BodyOptions options = { .limits = project->options->limits, .resolver = project->resolver };
    BodyModel *model = body_is_mesh(path) ? body_load_mesh(path, &options, project->diags)
                                          : body_load(path, &options, project->diags);
    if (!model)
        return;
    BodyPlacement placement = { .time_step = project->time_step };
    const char *name = word(item, "name", NULL);
    placement.name = *name ? name : NULL;
    read_placement(project, data, &placement);
    double *displacements = read_displacements(project, data, model, &placement.joint_position_count);
    placement.joint_positions = displacements;
    SceneNode *robot = body_to_node(model, &placement, project->scene, project->diags);
    scene_list_insert_node(project->scene, scene_root(project->scene), "children", -1, robot);
    project->body_count++;
    free(displacements);
    body_destroy(model);
}

static void read_world(Project *project, const YamlNode *data)
{
    const YamlNode *table = get(data, "default_material_table_file", "materialTableFile");
    if (yaml_is_scalar(table) && *table->text) {
        const char *path = resolved(project, table->text, "material table", table->pos);
        if (path)
            body_materials_load(project->materials, path, project->options->limits, project->diags);
    }
    const YamlNode *more = yaml_get(data, "material_table_files");
    for (int i = 0; yaml_is_list(more) && i < more->count; i++) {
        const char *path = yaml_is_scalar(more->items[i])
                               ? resolved(project, more->items[i]->text, "material table", more->items[i]->pos)
                               : NULL;
        if (path)
            body_materials_load(project->materials, path, project->options->limits, project->diags);
    }
}

// Walks the tree of items: first for the simulator, whose time step the bodies need, then for the rest.
static void walk_items(Project *project, const YamlNode *item, bool wants_simulator, int depth)
{
    assert_debug(depth >= 0);
    static const char *const silent[] = { "RootItem", "FolderItem", "GroupItem", "SubProjectItem", "", NULL };
    if (!yaml_is_map(item) || depth > 200) {
        if (item && !wants_simulator)
            diag_warning(project->diags, item->pos,
                         depth > 200 ? "items inside items, more than 200 deep; ignored"
                                     : "an item is a map of keys; ignored");
        return;
    }
    const char *class = word(item, "class", NULL);
    const YamlNode *data = yaml_get(item, "data");
    bool is_simulator = text_ends_with(class, "SimulatorItem") && strcmp(class, "GLVisionSimulatorItem");
    if (wants_simulator) {
        if (is_simulator && !project->simulator)
            project->simulator = item;
    } else if (!strcmp(class, "BodyItem")) {
        place_body(project, item, data);
    } else if (!strcmp(class, "WorldItem")) {
        read_world(project, data);
    } else if (!strcmp(class, "SimpleControllerItem") || !strcmp(class, "PythonSimScriptItem")
               || !strcmp(class, "BodyIoRTCItem")) {
        diag_warning(project->diags, item->pos,
                     "%s '%.60s' is not run: it is code for Choreonoid itself, and its body stays uncontrolled", class,
                     word(item, "name", NULL));
        diag_hint(project->diags,
                  "`talus run FILE --controller NAME` runs controllers/NAME beside the file for every body");
    } else if (item != project->simulator && !body_key_is(class, silent)) {
        diag_note(project->diags, item->pos, "%s '%.60s' is ignored", class, word(item, "name", NULL));
    }
    const YamlNode *children = yaml_get(item, "children");
    for (int i = 0; yaml_is_list(children) && i < children->count; i++)
        walk_items(project, children->items[i], wants_simulator, depth + 1);
}

static void read_simulator(Project *project)
{
    const YamlNode *data = project->simulator ? yaml_get(project->simulator, "data") : NULL;
    const YamlNode *step = get(data, "time_step", "timeStep"), *gravity = yaml_get(data, "gravity");
    double value, g[3];
    if (step && yaml_double_prefix(step, &value)) {
        if (value >= LIMIT_TIME_STEP_LOW && value <= LIMIT_TIME_STEP_HIGH)
            project->time_step = value;
        else
            diag_error(project->diags, step->pos, "a time step of %g s cannot be; using %g", value, project->time_step);
    }
    if (gravity && numbers(project, gravity, 3, g)) {
        Vec3 pull = vec3(g[0], g[1], g[2]);
        project->gravity = vec3_length(pull);
        if (g[0] != 0.0 || g[1] != 0.0 || g[2] > 0.0)
            project->gravity_direction = vec3_scale(pull, 1.0 / project->gravity);
    }
}

// Two walks: the world, its materials and its simulator stand anywhere in the tree of items, and bodies are placed
// by what they say.
bool cnoid_fill_scene(Scene *scene, const char *name, const char *text, size_t size, const FormatsOptions *options,
                      DiagSink *diags)
{
    YamlOptions yaml_options = { .limits = options->limits };
    YamlDocument *document = yaml_parse(name, text, size, &yaml_options, diags);
    if (!document)
        return false;
    const YamlNode *root = yaml_root(document), *items = yaml_get(root, "items");
    if (!yaml_is_map(items)) {
        diag_error(diags, root->pos, "not a project: there is no tree of 'items'");
        yaml_destroy(document);
        return false;
    }
    ResolveOptions resolve = { .main_file = name, .search_paths = options->search_paths };
    Project project = {
        .scene = scene, .path = name, .options = options, .diags = diags, .time_step = 0.001, .gravity = 9.80665
    };
    project.arena = arena_create();
    project.resolver = resolve_create(&resolve);
    project.materials = body_materials_create();
    walk_items(&project, items, true, 0);
    read_simulator(&project);
    SceneNode *info = body_world_create(scene, project.time_step, project.gravity);
    if (vec3_length2(project.gravity_direction) > 0.0)
        scene_set_vec3(scene, info, "gravityDirection", project.gravity_direction);
    walk_items(&project, items, false, 0);
    bool is_empty = project.body_count == 0 && project.named_count > 0;
    if (is_empty)
        diag_error(diags, items->pos, "none of the %d bodies that the project places could be read",
                   project.named_count);
    else if (project.body_count == 0)
        diag_warning(diags, items->pos, "the project places no body");
    body_world_contacts(scene, project.materials);
    body_materials_destroy(project.materials);
    resolve_destroy(project.resolver);
    arena_destroy(project.arena);
    yaml_destroy(document);
    return !is_empty;
}
