// body_place.c - Body nodes of a world: each becomes an instance, as of a PROTO, whose tree is the Robot made of its
// file.
#include "formats/body/body.h"

#include "base/file.h"
#include "base/memory.h"
#include "formats/body/body_internal.h"
#include "formats/formats_internal.h"

#include <stdlib.h>
#include <string.h>

typedef struct LoadedBody {
    const char *path;
    BodyModel *model;  // NULL: it could not be read
} LoadedBody;

typedef struct Placing {
    Scene *scene;
    const FormatsOptions *options;
    DiagSink *diags;
    Resolver *resolver;
    SceneProto *proto;
    double time_step;
    SceneNode **nodes;
    int node_count, node_capacity;
    LoadedBody *bodies;
    int body_count, body_capacity;
} Placing;

static bool collect(SceneNode *node, void *context)
{
    Placing *placing = context;
    if (!node->type)
        return true;
    if (!strcmp(node->type->name, "WorldInfo"))
        placing->time_step = scene_float(node, "basicTimeStep") / 1000.0;
    if (node->kind != SCENE_NODE_PLAIN || strcmp(node->type->name, "Body"))
        return true;
    *memory_push(placing->nodes, placing->node_count, placing->node_capacity) = node;
    return true;
}

static const BodyModel *load(Placing *placing, const SceneNode *node)
{
    assert_debug(schema_type_is(node->type, "Body"));
    const char *url = scene_string(node, "url");
    SourcePos pos = scene_field_pos(node, "url");
    if (!*url) {
        diag_error(placing->diags, node->pos, "a Body needs 'url', its .body file");
        return NULL;
    }
    Resolved found;
    const char *from = diag_file_name(placing->diags, node->pos.file);
    if (!resolve_url(placing->resolver, url, *from ? from : scene_path(placing->scene), scene_arena(placing->scene),
                     &found)) {
        resolve_report_missing(&found, "body", url, placing->diags, pos);
        return NULL;
    }
    for (int i = 0; i < placing->body_count; i++)
        if (!strcmp(placing->bodies[i].path, found.path))
            return placing->bodies[i].model;
    BodyOptions options = { .limits = placing->options->limits, .resolver = placing->resolver };
    memory_grow(&placing->bodies, &placing->body_capacity, placing->body_count + 1, sizeof *placing->bodies);
    LoadedBody *body = &placing->bodies[placing->body_count++];
    *body = (LoadedBody){ .path = found.path, .model = body_load(found.path, &options, placing->diags) };
    return body->model;
}

// Connects fields of the robot to parameters of the same name, so that a change of one is a change of the other.
static void connect(Placing *placing, SceneNode *instance, SceneNode *robot)
{
    assert_debug(placing->proto);
    static const char *const names[] = { "translation", "rotation",       "name",
                                         "controller",  "controllerArgs", "selfCollision" };
    for (int i = 0; i < COUNT_OF(names); i++) {
        const FieldType *type = schema_field(robot->type, names[i]);
        SceneField *field = scene_field_add(placing->scene, robot, type, instance->pos);
        if (!scene_field(robot, names[i]))
            field->value = type->value;
        for (int k = 0; k < placing->proto->parameter_count; k++) {
            if (strcmp(placing->proto->parameters[k].name, names[i]))
                continue;
            field->parameter_index = (int16_t)k;
            field->instance_id = instance->id;
        }
    }
}

static void mark_in_proto(SceneNode *node)
{
    if (!node || node->in_proto)
        return;
    node->in_proto = true;
    for (int i = 0; i < node->field_count; i++) {
        const SceneField *field = &node->fields[i];
        if (field->type->kind == FIELD_SF_NODE)
            mark_in_proto(field->value.node);
        for (int k = 0; field->type->kind == FIELD_MF_NODE && k < field->value.list->count; k++)
            mark_in_proto(field->value.list->nodes[k]);
    }
}

// The Body node becomes an instance of a PROTO that exists in memory alone: so it is saved as it was written, and
// what its fields say is connected to the robot inside.
static void place(Placing *placing, SceneNode *node)
{
    assert_debug(schema_type_is(node->type, "Body"));
    const BodyModel *model = load(placing, node);
    BodyPlacement placement = { .time_step = placing->time_step,
                                .controller = scene_string(node, "controller"),
                                .self_collision = scene_bool(node, "selfCollision") };
    if (*scene_string(node, "name"))
        placement.name = scene_string(node, "name");
    if (scene_field(node, "translation")) {
        placement.has_translation = true;
        placement.translation = scene_vec3(node, "translation");
    }
    if (scene_field(node, "rotation")) {
        placement.has_rotation = true;
        placement.rotation = quat_from_rotation(scene_rotation(node, "rotation"));
    }
    const char *fixed = scene_string(node, "fixed");
    placement.fixed = !strcmp(fixed, "true") ? 1 : !strcmp(fixed, "false") ? -1 : 0;
    const FieldList *positions = scene_list(node, "jointPositions");
    placement.joint_positions = positions->numbers;
    placement.joint_position_count = positions->count;
    if (model && positions->count > body_joint_count(model))
        diag_warning(placing->diags, scene_field_pos(node, "jointPositions"),
                     "%d joint positions for a body of %d joints; the rest is ignored", positions->count,
                     body_joint_count(model));
    SceneNode *robot = model ? body_to_node(model, &placement, placing->scene, placing->diags) : NULL;
    const FieldValue arguments = scene_value(node, schema_field(node->type, "controllerArgs"));
    node->kind = SCENE_NODE_INSTANCE;
    node->proto = placing->proto;
    node->type = placing->proto->base_type;
    node->target = robot;
    if (!robot)
        return;
    scene_set_value(placing->scene, robot, schema_field(robot->type, "controllerArgs"), arguments);
    robot->parent = node;
    connect(placing, node, robot);
    mark_in_proto(robot);
    proto_apply_hidden(placing->scene, node, placing->diags);
}

void body_place_all(Scene *scene, SceneNode *top, const FormatsOptions *options, DiagSink *diags)
{
    Placing placing = { .scene = scene, .options = options, .diags = diags, .time_step = 0.001 };
    scene_walk(top, false, collect, &placing);
    if (placing.node_count > 0) {
        const NodeType *type = schema_type("Body");
        ResolveOptions resolve = { .main_file = scene_path(scene), .search_paths = options->search_paths };
        placing.resolver = resolve_create(&resolve);
        SceneProto *proto = placing.proto = arena_alloc(scene_arena(scene), sizeof *proto);
        // The fields of the node are the parameters, so that what was read stays as it is.
        *proto = (SceneProto){ .name = "Body",
                               .path = "",
                               .origin = "library",
                               .release = schema_release("R2025a", 6),
                               .parameters = type->fields,
                               .parameter_count = type->field_count,
                               .base_type = schema_type("Robot") };
        for (int i = 0; i < placing.node_count; i++) {
            if (scene_node_count(scene) < limits_or_default(options->limits)->nodes)
                place(&placing, placing.nodes[i]);
            else
                diag_error(diags, placing.nodes[i]->pos, "too many nodes; this Body is left out");
        }
        resolve_destroy(placing.resolver);
    }
    for (int i = 0; i < placing.body_count; i++)
        body_destroy(placing.bodies[i].model);
    free(placing.bodies);
    free(placing.nodes);
}

// Saving

typedef struct Positions {
    double *values;
    int count;
} Positions;

static bool note_position(SceneNode *node, void *context)
{
    Positions *positions = context;
    if (!scene_node_is(node, "HingeJoint") && !scene_node_is(node, "SliderJoint"))
        return true;
    const FieldList *devices = scene_list(node, "device");
    const SceneNode *parameters = scene_child(node, "jointParameters");
    for (int i = 0; parameters && i < devices->count; i++) {
        const SceneNode *device = scene_list_node(devices, i);
        int id = device && schema_field(device->type, "jointId") ? scene_int(device, "jointId") : -1;
        if (id < 0 || id >= 65536)
            continue;
        if (id >= positions->count) {
            positions->values = memory_resize(positions->values, (size_t)id + 1, sizeof *positions->values);
            for (; positions->count <= id; positions->count++)
                positions->values[positions->count] = 0.0;
        }
        positions->values[id] = scene_float(parameters, "position");
    }
    return true;
}

typedef struct Keeping {
    Scene *scene;
    bool has_run;
} Keeping;

static bool keep_positions(SceneNode *node, void *context)
{
    const Keeping *keeping = context;
    Scene *scene = keeping->scene;
    SceneNode *instance = scene_instance(node);
    if (instance == node || instance->kind != SCENE_NODE_INSTANCE || strcmp(instance->proto->name, "Body"))
        return true;
    Positions positions = { 0 };
    scene_walk(node, false, note_position, &positions);
    const FieldList *now = scene_list(instance, "jointPositions");
    bool is_same = now->count >= positions.count;
    for (int i = 0; i < positions.count && is_same; i++)
        is_same = now->numbers[i] == positions.values[i];
    bool is_zero = now->count == 0;
    for (int i = 0; i < positions.count && is_zero; i++)
        is_zero = positions.values[i] == 0.0;
    if (!is_same && !is_zero) {
        FieldList *list = scene_list_edit(scene, instance, "jointPositions");
        scene_list_reserve(scene, list, FIELD_SF_FLOAT, positions.count);
        memcpy(list->numbers, positions.values, (size_t)positions.count * sizeof *positions.values);
        list->count = positions.count;
    }
    free(positions.values);
    if (keeping->has_run)
        proto_keep_hidden(scene, instance);
    return true;
}

void body_keep_positions(Scene *scene, bool has_run)
{
    scene_walk(scene_root(scene), false, keep_positions, &(Keeping){ scene, has_run });
}
