// info.c - `talus info`: what is in a file. Counts and lists are gathered in one walk, then written as text or JSON.
#include "app/app.h"

#include "app/info_assets.h"
#include "app/project.h"
#include "base/budget.h"
#include "base/json.h"
#include "base/memory.h"
#include "formats/formats.h"
#include "physics/physics.h"
#include "plugins/plugins.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct InfoOptions {
    bool quiet;
    bool json;
    const char *csv;
    bool untrusted;
    const char *limit_changes;
    Limits limits;
    bool contacts;
} InfoOptions;

typedef struct NodeList {
    const SceneNode **items;
    int count, capacity;
} NodeList;

typedef struct NameCount {
    const char *name;
    int count;
} NameCount;

typedef struct NameCounts {
    NameCount *items;
    int count, capacity;
} NameCounts;

typedef struct ProtoUse {
    const SceneProto *proto;
    int count;
} ProtoUse;

typedef struct Inventory {
    int *by_type;  // by NodeType.index
    NodeList robots, joints, solids;
    NameCounts materials;
    ProtoUse *protos;
    int proto_count, proto_capacity;
    const SceneNode *world;
    Arena *arena;
    InfoAssets assets;
} Inventory;

static void list_add(NodeList *list, const SceneNode *node)
{
    assert(node);
    *memory_push(list->items, list->count, list->capacity) = node;
}

static void count_name(NameCounts *counts, const char *name)
{
    for (int i = 0; i < counts->count; i++) {
        if (!strcmp(counts->items[i].name, name)) {
            counts->items[i].count++;
            return;
        }
    }
    *memory_push(counts->items, counts->count, counts->capacity) = (NameCount){ name, 1 };
}

static void count_proto(Inventory *inventory, const SceneProto *proto)
{
    for (int i = 0; i < inventory->proto_count; i++) {
        if (inventory->protos[i].proto == proto) {
            inventory->protos[i].count++;
            return;
        }
    }
    *memory_push(inventory->protos, inventory->proto_count, inventory->proto_capacity) = (ProtoUse){ proto, 1 };
}

static bool take_stock(SceneNode *node, void *context)
{
    Inventory *inventory = context;
    assert_debug(node->type->index >= 0 && node->type->index < schema_type_count());
    inventory->by_type[node->type->index]++;
    for (const SceneNode *above = node->parent; above && above->kind == SCENE_NODE_INSTANCE && above->target;
         above = above->parent) {
        count_proto(inventory, above->proto);
        if (above->parent && above->parent->target != above)
            break;
    }
    if (!strcmp(node->type->name, "WorldInfo"))
        inventory->world = node;
    if (schema_type_is(node->type, "Robot"))
        list_add(&inventory->robots, node);
    if (schema_type_is(node->type, "Solid") && !(node->type->flags & NODE_DEVICE))
        list_add(&inventory->solids, node);
    if (schema_type_is(node->type, "Joint"))
        list_add(&inventory->joints, node);
    if (schema_type_is(node->type, "Solid") && schema_field(node->type, "contactMaterial"))
        count_name(&inventory->materials, scene_string(node, "contactMaterial"));
    return true;
}

static void inventory_free(Inventory *inventory)
{
    free(inventory->by_type);
    free(inventory->robots.items);
    free(inventory->joints.items);
    free(inventory->solids.items);
    free(inventory->materials.items);
    free(inventory->protos);
    free(inventory->assets.items);
    arena_destroy(inventory->arena);
}

typedef struct DeviceWalk {
    const SceneNode *robot;
    NodeList devices;
} DeviceWalk;

static bool collect_device(SceneNode *node, void *context)
{
    DeviceWalk *walk = context;
    if (!(node->type->flags & NODE_DEVICE))
        return true;
    for (const SceneNode *above = scene_parent(node); above; above = scene_parent(above)) {
        if (schema_type_is(above->type, "Robot")) {
            if (above == walk->robot)
                list_add(&walk->devices, node);
            break;
        }
    }
    return true;
}

static NodeList robot_devices(const SceneNode *robot)
{
    DeviceWalk walk = { .robot = robot };
    scene_walk((SceneNode *)robot, false, collect_device, &walk);
    return walk.devices;
}

static const char *device_name(const SceneNode *device)
{
    return schema_field(device->type, "name") ? scene_string(device, "name") : "";
}

static void write_robots_json(const Inventory *inventory, JsonWriter *json)
{
    json_begin_array(json, "robots");
    for (int i = 0; i < inventory->robots.count; i++) {
        const SceneNode *robot = inventory->robots.items[i];
        json_begin_object(json, NULL);
        json_string(json, "name", scene_string(robot, "name"));
        json_string(json, "controller", scene_string(robot, "controller"));
        json_bool(json, "supervisor", scene_bool(robot, "supervisor"));
        json_begin_array(json, "devices");
        NodeList devices = robot_devices(robot);
        for (int k = 0; k < devices.count; k++) {
            json_begin_object(json, NULL);
            json_string(json, "name", device_name(devices.items[k]));
            json_string(json, "type", devices.items[k]->type->name);
            json_end_object(json);
        }
        free(devices.items);
        json_end_array(json);
        json_end_object(json);
    }
    json_end_array(json);
}

static void write_types_json(const Inventory *inventory, JsonWriter *json)
{
    assert_debug(inventory->by_type);
    json_begin_object(json, "types");
    for (int i = 0; i < schema_type_count(); i++)
        if (inventory->by_type[i])
            json_int(json, schema_type_at(i)->name, inventory->by_type[i]);
    json_end_object(json);
}

static void write_materials_json(const Inventory *inventory, JsonWriter *json)
{
    json_begin_object(json, "materials");
    for (int i = 0; i < inventory->materials.count; i++)
        json_int(json, inventory->materials.items[i].name, inventory->materials.items[i].count);
    json_end_object(json);
}

static void write_protos_json(const Inventory *inventory, JsonWriter *json)
{
    json_begin_array(json, "protos");
    for (int i = 0; i < inventory->proto_count; i++) {
        const SceneProto *proto = inventory->protos[i].proto;
        json_begin_object(json, NULL);
        json_string(json, "name", proto->name);
        json_string(json, "path", proto->path);
        json_string(json, "origin", proto->origin);
        json_bool(json, "placeholder", proto->is_placeholder);
        json_int(json, "instances", inventory->protos[i].count);
        json_end_object(json);
    }
    json_end_array(json);
}

static void write_assets_json(const Inventory *inventory, JsonWriter *json)
{
    json_begin_array(json, "assets");
    for (int i = 0; i < inventory->assets.count; i++) {
        const InfoAsset *asset = &inventory->assets.items[i];
        json_begin_object(json, NULL);
        json_string(json, "url", asset->url);
        json_string(json, "type", asset->type);
        json_string(json, "path", asset->path);
        json_string(json, "origin", asset->origin);
        json_int(json, "uses", asset->count);
        json_end_object(json);
    }
    json_end_array(json);
}

// One object, its keys in the order in which people read the text form; counts of zero are left out.
static void write_json(const char *path, const Scene *scene, const Inventory *inventory, const DiagSink *diags,
                       Text *out)
{
    char release[24];
    JsonWriter json = { .out = out };
    json_begin_object(&json, NULL);
    json_string(&json, "file", path);
    json_string(&json, "version", scene_release(scene) ? schema_release_name(scene_release(scene), release) : NULL);
    json_int(&json, "nodes", scene_node_count(scene));
    write_types_json(inventory, &json);
    json_int(&json, "solids", inventory->solids.count);
    json_int(&json, "joints", inventory->joints.count);
    write_robots_json(inventory, &json);
    write_materials_json(inventory, &json);
    write_protos_json(inventory, &json);
    write_assets_json(inventory, &json);
    json_string(&json, "physics", plugin_name_in(inventory->world));
    json_int(&json, "errors", diag_total(diags, DIAG_ERROR));
    json_int(&json, "warnings", diag_total(diags, DIAG_WARNING));
    json_end_object(&json);
    text_add_char(out, '\n');
}

static int by_count(const void *a, const void *b)
{
    const NameCount *x = a, *y = b;
    return x->count != y->count ? y->count - x->count : strcmp(x->name, y->name);
}

static void write_types(const Inventory *inventory, Text *out)
{
    assert_debug(inventory->by_type);
    NameCounts types = { 0 };
    for (int i = 0; i < schema_type_count(); i++) {
        if (!inventory->by_type[i])
            continue;
        *memory_push(types.items, types.count, types.capacity) = (NameCount){ schema_type_at(i)->name,
                                                                              inventory->by_type[i] };
    }
    if (types.count)
        qsort(types.items, (size_t)types.count, sizeof *types.items, by_count);
    for (int i = 0; i < types.count; i++)
        text_printf(out, "%s%s %d", i ? i % 8 ? ", " : ",\n           " : "  types    ", types.items[i].name,
                    types.items[i].count);
    text_add_char(out, '\n');
    free(types.items);
}

static void write_robots(const Inventory *inventory, Text *out)
{
    for (int i = 0; i < inventory->robots.count; i++) {
        const SceneNode *robot = inventory->robots.items[i];
        NodeList devices = robot_devices(robot);
        text_printf(out, "  robot    %s%s%s, controller %s%s, %d devices\n", robot->def ? robot->def : "",
                    robot->def ? " " : "", scene_string(robot, "name"), scene_string(robot, "controller"),
                    scene_bool(robot, "supervisor") ? " (supervisor)" : "", devices.count);
        for (int k = 0; k < devices.count; k++)
            text_printf(out, "             %-24s %s\n", device_name(devices.items[k]), devices.items[k]->type->name);
        free(devices.items);
    }
}

// The same facts as write_json, what is asked for most first.
static void write_text(const char *path, const Scene *scene, const Inventory *inventory, const DiagSink *diags,
                       Text *out)
{
    char release[24];
    text_printf(out, "%s: %s, %d nodes\n", path,
                scene_release(scene) ? schema_release_name(scene_release(scene), release) : "no release",
                scene_node_count(scene));
    if (inventory->world && *scene_string(inventory->world, "title"))
        text_printf(out, "  title    %s\n", scene_string(inventory->world, "title"));
    if (inventory->world)
        text_printf(out, "  world    %s axes, gravity %g m/s2, time step %g ms\n",
                    scene_string(inventory->world, "coordinateSystem"), scene_float(inventory->world, "gravity"),
                    scene_float(inventory->world, "basicTimeStep"));
    write_types(inventory, out);
    text_printf(out, "  solids   %d, joints %d\n", inventory->solids.count, inventory->joints.count);
    write_robots(inventory, out);
    text_add_string(out, "  contact ");
    for (int i = 0; i < inventory->materials.count; i++)
        text_printf(out, " %s %d%s", inventory->materials.items[i].name, inventory->materials.items[i].count,
                    i + 1 < inventory->materials.count ? "," : "");
    text_add_char(out, '\n');
    for (int i = 0; i < inventory->proto_count; i++) {
        const SceneProto *proto = inventory->protos[i].proto;
        text_printf(out, "  PROTO    %-24s %4d x  %s: %s\n", proto->name, inventory->protos[i].count,
                    proto->is_placeholder ? "not found" : proto->origin, proto->path ? proto->path : "(placeholder)");
    }
    for (int i = 0; i < inventory->assets.count; i++) {
        const InfoAsset *asset = &inventory->assets.items[i];
        text_printf(out, "  asset    %-24s %4d x  %s%s%s\n", asset->url, asset->count,
                    asset->path ? asset->origin : "not found", asset->path ? ": " : "", asset->path ? asset->path : "");
    }
    if (plugin_name_in(inventory->world))
        text_printf(out, "  plugin   %s\n", plugin_name_in(inventory->world));
    text_printf(out, "  %d errors, %d warnings%s\n", diag_total(diags, DIAG_ERROR), diag_total(diags, DIAG_WARNING),
                diag_count(diags) ? " (talus check lists them)" : "");
}

// Which ContactProperties every pair of materials gets, as the simulation takes them.
static int info_contacts(Scene *scene, const Limits *limits, DiagSink *diags)
{
    Physics *physics = physics_create(scene, &(PhysicsOptions){ .limits = limits }, diags);
    Text out = { 0 };
    physics_explain_materials(physics, &out);
    app_print(&out);
    physics_destroy(physics);
    return diag_has_errors(diags) ? EXIT_INPUT : EXIT_OK;
}

// Bodies have a view of their own (links, joints, CSV). A scene is looked at without physics, unless contacts are
// asked for.
static int info_file(const InfoOptions *options, const char *path)
{
    if (options->csv || (!options->json && info_is_body(path)))
        return info_body(path, options->csv, &options->limits);
    DiagSink *diags = diag_create();
    FormatsOptions load = { .limits = &options->limits };
    Scene *scene = formats_load(path, &load, diags);
    budget_end_load();
    if (!scene) {
        diag_print(diags, stderr, 0, DIAG_ERROR);
        diag_destroy(diags);
        return EXIT_INPUT;
    }
    if (options->contacts) {
        int status = info_contacts(scene, &options->limits, diags);
        scene_destroy(scene);
        diag_destroy(diags);
        return status;
    }
    Inventory inventory = { .by_type = memory_alloc_array((size_t)schema_type_count(), sizeof(int)) };
    SceneNode *root = scene_root(scene);
    const FieldList *top = scene_list(root, "children");
    for (int i = 0; i < top->count; i++)
        if (scene_list_node(top, i))
            scene_walk(scene_list_node(top, i), false, take_stock, &inventory);
    inventory.arena = arena_create();
    info_assets_find(scene, options->untrusted, diags, inventory.arena, &inventory.assets);
    Text out = { 0 };
    if (options->json)
        write_json(path, scene, &inventory, diags, &out);
    else if (!options->quiet)
        write_text(path, scene, &inventory, diags, &out);
    else
        diag_print(diags, stdout, 0, DIAG_ERROR);
    app_print(&out);
    int status = diag_has_errors(diags) ? EXIT_INPUT : EXIT_OK;
    inventory_free(&inventory);
    scene_destroy(scene);
    diag_destroy(diags);
    return status;
}

static int run_info(const AppCommand *command, int argc, char **argv)
{
    InfoOptions options = { 0 };
    int files;
    int status = app_parse(command, argc, argv, &options, &files);
    if (status >= 0)
        return status;
    if (files != 1)
        return app_usage_error(command, "one file, please");
    if ((options.csv != NULL) + options.contacts + options.json + options.quiet > 1)
        return app_usage_error(command, "give one of --json, --csv, --contacts and --quiet");
    status = app_take_limits(command, options.untrusted, options.limit_changes, &options.limits, NULL);
    if (status >= 0)
        return status;
    Arena *arena = arena_create();
    const char *path = project_world(arena, argv[1], command->name);
    status = path ? info_file(&options, path) : EXIT_INPUT;
    arena_destroy(arena);
    return status;
}

static const AppOption info_options[] = {
    { "json", OPTION_FLAG, offsetof(InfoOptions, json), NULL, "one JSON object" },
    { "quiet|q", OPTION_FLAG, offsetof(InfoOptions, quiet), NULL, "print errors alone; the exit code tells" },
    { "csv", OPTION_STRING, offsetof(InfoOptions, csv), "links|devices|summary", "a table of a body" },
    { "contacts", OPTION_FLAG, offsetof(InfoOptions, contacts), NULL,
      "which ContactProperties every pair of materials gets" },
    { "untrusted", OPTION_FLAG, offsetof(InfoOptions, untrusted), NULL, "lower limits, for files from strangers" },
    { "limits", OPTION_STRING, offsetof(InfoOptions, limit_changes), "NAME=N,...", APP_LIMITS_HELP },
};
const AppCommand command_info = {
    .name = "info",
    .arguments = "FILE|PROJECT [--json] [--csv TABLE]",
    .summary = "tell what is in a world, PROTO or body",
    .details =
        "Version, nodes by type, solids, joints, robots with controllers and devices, contact materials, PROTOs and where\n"
        "each was found, assets present and missing, the physics plugin.",
    .examples = "  talus info worlds/arena.wbt\n  talus info --json protos/Arm.proto\n"
                "  talus info robot.body\n  talus info --csv links robot.body",
    .options = info_options,
    .option_count = COUNT_OF(info_options),
    .run = run_info,
};
