// supervisor.c - the questions and orders of supervisors: a table sends each to its room; nodes, PROTOs and the world
// are here. A node is named by its id in the scene; a PROTO instance shows itself, not what it made.
#include "control/supervisor_internal.h"

#include "base/memory.h"
#include "devices/devices_internal.h"
#include "formats/proto/proto.h"

#include <controller/node_names.h>
#include <webots/nodes.h>

#include <stdlib.h>
#include <string.h>

Scene *call_scene(const Call *call) { return sim_scene(call->control->sim); }

Physics *call_physics(const Call *call) { return sim_physics(call->control->sim); }

int call_number(const Call *call, int index)
{
    assert(index >= 0);
    return index < call->record->int_count ? call->record->ints[index] : -1;
}

// ---- answers ----

void answer_record(const Call *call, Record answer)
{
    assert_debug((answer.ints || answer.int_count == 0) && (answer.doubles || answer.double_count == 0));
    assert_debug(answer.bytes || answer.byte_count == 0);
    answer.op = call->record->op;
    answer.tag = call->record->tag;
    frame_add(call->answer, &answer);
}

void answer_int(const Call *call, int32_t value) { answer_record(call, (Record){ .int_count = 1, .ints = &value }); }

void answer_doubles(const Call *call, const double *values, int count)
{
    assert_debug(values || count == 0);
    answer_record(call, (Record){ .double_count = count, .doubles = values });
}

void answer_text(const Call *call, const char *text)
{
    answer_record(call, (Record){ .byte_count = (int)strlen(text), .bytes = text });
}

void answer_nothing(const Call *call) { answer_record(call, (Record){ 0 }); }

void answer_failed(const Call *call, const char *why)
{
    assert_debug(why && *why);
    frame_add(call->answer, &(Record){ .op = OP_FAILED, .byte_count = (int)strlen(why), .bytes = why });
}

// ---- nodes ----

SceneNode *call_node(const Call *call, int index)
{
    int id = call_number(call, index);
    SceneNode *node = id == 0  ? scene_root(call_scene(call))
                      : id > 0 ? scene_find_id(call_scene(call), (uint32_t)id)
                               : NULL;
    return node && !scene_node_is_gone(node) ? node : NULL;
}

const SceneNode *supervisor_seen(const SceneNode *node)
{
    while (node && node->is_inserted && node->kind == SCENE_NODE_PLAIN && scene_list(node, "children")->count == 1)
        node = scene_list(node, "children")->nodes[0];
    return node;
}

int32_t supervisor_outer_id(const SceneNode *node)
{
    const SceneNode *seen = supervisor_seen(node);
    const SceneNode *outer = seen ? scene_instance(seen) : NULL;
    return outer ? (int32_t)outer->id : -1;
}

// What holds a node in the file.
static const SceneNode *parent_of(const SceneNode *node)
{
    const SceneNode *parent = scene_parent(node);
    while (parent && parent->is_inserted)
        parent = scene_parent(parent);
    return parent;
}

// The DEF name that the file gives a node: a Pose of ours around it may have it.
static const char *def_of(const SceneNode *node)
{
    assert_debug(node);
    while (!node->def && node->parent && node->parent->is_inserted)
        node = node->parent;
    return node->def ? node->def : "";
}

void supervisor_sync(Control *control)
{
    if (control->synced_step == sim_steps(control->sim) + 1)
        return;
    control->synced_step = sim_steps(control->sim) + 1;
    sim_sync_scene(control->sim);
}

// What a Solid's own fields say of its motion comes from its body alone; other fields may hang together with any solid.
void supervisor_sync_field(Control *control, const SceneNode *node, const char *field)
{
    assert_debug(node && field);
    static const char *const of_motion[] = { "translation", "rotation", "linearVelocity", "angularVelocity" };
    int solid = -1;
    for (int i = 0; i < COUNT_OF(of_motion) && solid < 0; i++)
        if (!strcmp(field, of_motion[i]))
            solid = physics_solid_of(sim_physics(control->sim), scene_actual(node));
    if (solid < 0)
        supervisor_sync(control);
    else if (control->synced_step != sim_steps(control->sim) + 1)
        sim_sync_solid(control->sim, solid);
}

static SceneNode *controllers_robot(const Call *call)
{
    return devices_robot_node(call->control->devices, call->controller->robot);
}

static SceneNode *find_inside(SceneNode *instance, const char *def)
{
    SceneNode *inner = scene_actual(instance);
    return inner && instance->kind == SCENE_NODE_INSTANCE ? scene_find_def_below(inner, def) : NULL;
}

// Whether a device stands in the tree of a PROTO other than its robot's own, as part of it: the scene tree does not
// show it.
static bool is_hidden_device(const SceneNode *device, const SceneNode *robot)
{
    const SceneNode *outer = scene_instance(device);
    assert_debug(outer);
    bool is_in_other = false;
    for (const SceneNode *at = outer->parent; at && at != robot && !is_in_other; at = at->parent)
        is_in_other = at->kind == SCENE_NODE_INSTANCE;
    return outer->in_proto && is_in_other;
}

static void node_from(const Call *call)
{
    SceneNode *found = NULL;
    switch (call_number(call, 0)) {
    case 0: answer_int(call, 0); return;
    case 1: found = controllers_robot(call); break;
    case 2: found = call_node(call, 1); break;
    case 3: found = scene_find_def(call_scene(call), call->record->bytes); break;
    case 4:
        if (call_number(call, 1) == 0)
            found = controllers_robot(call);
        else if (call_number(call, 1) >= 1
                 && call_number(call, 1) <= devices_count(call->control->devices, call->controller->robot))
            found = devices_info(call->control->devices, call->controller->robot, call_number(call, 1))->node;
        if (found && found != controllers_robot(call) && is_hidden_device(found, controllers_robot(call)))
            found = NULL;
        break;
    case 6: found = call_node(call, 1) ? find_inside(call_node(call, 1), call->record->bytes) : NULL; break;
    default: break;
    }
    answer_int(call, found && !scene_node_is_gone(found) ? supervisor_outer_id(found) : -1);
}

// WbNodeType by the name of the base type.
static int type_code(const NodeType *type)
{
    for (int i = 0; type && i < COUNT_OF(node_names); i++)
        if (!strcmp(type->name, node_names[i]))
            return i;
    for (int i = 0; type && device_kinds[i]; i++)
        if (!strcmp(type->name, device_kinds[i]->type))
            return device_kinds[i]->code;
    return WB_NODE_NO_NODE;
}

int supervisor_robot_code(const Scene *scene, const SceneNode *robot)
{
    enum { LAST_WITH_KINDS = 2018100 };  // R2018b: from then on every robot is a Robot
    if (!scene_release(scene) || scene_release(scene) > LAST_WITH_KINDS)
        return WB_NODE_ROBOT;
    return scene_child(robot, "differentialWheels") ? WB_NODE_DIFFERENTIAL_WHEELS
           : scene_bool(robot, "supervisor")        ? WB_NODE_SUPERVISOR
                                                    : WB_NODE_ROBOT;
}

static int field_count(const SceneNode *node)
{
    if (node->kind == SCENE_NODE_INSTANCE)
        return node->proto->parameter_count;
    return node->type ? field_types_shown(node->type) : 0;
}

static void node_info(const Call *call)
{
    SceneNode *node = call_node(call, 0);
    if (!node) {
        answer_failed(call, "there is no such node");
        return;
    }
    const SceneNode *actual = scene_actual(node), *parent = parent_of(actual ? actual : node);
    const NodeType *base = actual ? actual->type : node->type;
    bool is_proto = node->kind == SCENE_NODE_INSTANCE;
    int code = actual && scene_node_is(actual, "Robot") ? supervisor_robot_code(call_scene(call), actual)
                                                        : type_code(base);
    int32_t numbers[5] = { code, parent ? supervisor_outer_id(parent) : -1, is_proto, field_count(node),
                           is_proto && base ? field_types_shown(base) : 0 };
    Text text = { 0 };
    const char *type_name = is_proto ? node->proto->name : base ? base->name : "";
    text_add(&text, type_name, strlen(type_name) + 1);
    text_add(&text, base ? base->name : "", strlen(base ? base->name : "") + 1);
    text_add(&text, def_of(node), strlen(def_of(node)) + 1);
    answer_record(call,
                  (Record){ .int_count = 5, .ints = numbers, .byte_count = (int)text.length, .bytes = text.data });
    text_free(&text);
}

// ---- orders on nodes ----

static void node_remove(const Call *call)
{
    SceneNode *node = call_node(call, 0);
    static const char *const needed[] = { "WorldInfo", "Viewpoint" };
    bool is_needed = !node || node == scene_root(call_scene(call)) || node->in_proto;
    for (int i = 0; i < COUNT_OF(needed) && !is_needed; i++)
        is_needed = scene_node_is(node, needed[i]);
    if (is_needed) {
        answer_failed(call, "this node cannot be removed");
        return;
    }
    sim_remove(call->control->sim, node);
    answer_nothing(call);
}

static void node_export(const Call *call)
{
    SceneNode *node = call_node(call, 0);
    if (!node) {
        answer_failed(call, "there is no such node");
        return;
    }
    supervisor_sync(call->control);
    Text text = { 0 };
    formats_write_node(call_scene(call), node, &text);
    answer_record(call, (Record){ .byte_count = (int)text.length, .bytes = text.data ? text.data : "" });
    text_free(&text);
}

static void node_restart(const Call *call)
{
    SceneNode *node = call_node(call, 0);
    int robot = node ? devices_robot_of(call->control->devices, scene_actual(node)) : -1;
    for (int i = 0; i < call->control->count; i++)
        if (call->control->controllers[i].robot == robot)
            call->control->controllers[i].wants_restart = true;
    answer_nothing(call);
}

// ---- PROTOs ----

static const SceneNode *proto_asked(const Call *call)
{
    const SceneNode *node = call_node(call, 0);
    for (int depth = call_number(call, 1); depth > 0 && node; depth--)
        node = node->kind == SCENE_NODE_INSTANCE ? node->target : NULL;
    return node && node->kind == SCENE_NODE_INSTANCE ? node : NULL;
}

static void proto_info(const Call *call)
{
    const SceneNode *node = proto_asked(call);
    bool is_derived = node && node->target && node->target->kind == SCENE_NODE_INSTANCE;
    int32_t numbers[3] = { node != NULL, is_derived, node ? node->proto->parameter_count : 0 };
    const char *name = node ? node->proto->name : "";
    answer_record(call, (Record){ .int_count = 3, .ints = numbers, .byte_count = (int)strlen(name), .bytes = name });
}

static void proto_field(const Call *call)
{
    const SceneNode *node = proto_asked(call);
    const FieldType *type = node ? field_type_find(node->proto->parameters, node->proto->parameter_count,
                                                   call_number(call, 2), call->record->bytes)
                                 : NULL;
    answer_int(call, type ? field_reference(call->control, (SceneNode *)node, type, true) : -1);
}

// ---- following values ----

static void track(const Call *call)
{
    Control *control = call->control;
    int period_ms = call_number(call, 2);
    Tracked wanted = { call->controller->robot, call_number(call, 0), call_number(call, 1), call_number(call, 3),
                       (int)fmax(ceil(period_ms / (sim_time_step(control->sim) * 1000.0)), 1.0) };
    for (int i = 0; i < control->tracked_count; i++) {
        Tracked *row = &control->tracked[i];
        if (row->robot != wanted.robot || row->what != wanted.what || row->id != wanted.id
            || row->extra != wanted.extra)
            continue;
        *row = control->tracked[--control->tracked_count];
        break;
    }
    if (period_ms > 0) {
        *memory_push(control->tracked, control->tracked_count, control->tracked_capacity) = wanted;
    }
    answer_nothing(call);
}

void supervisor_add_tracked(Control *control, Controller *controller, FrameWriter *frame)
{
    // Each value travels as the record of the question that would have asked for it, with what was asked in front.
    for (int i = 0; i < control->tracked_count; i++) {
        const Tracked *row = &control->tracked[i];
        assert_debug(row->period >= 1);
        if (row->robot != controller->robot || sim_steps(control->sim) % (uint64_t)row->period)
            continue;
        int32_t asked[2] = { row->id, row->extra };
        static const uint16_t ops[3] = { OP_NODE_POSE, OP_NODE_CONTACTS, OP_FIELD_GET };
        if (row->what < 0 || row->what > 2)
            continue;
        Record question = { .op = ops[row->what], .int_count = 2, .ints = asked };
        frame_add(frame,
                  &(Record){ .op = OP_TRACK, .int_count = 3, .ints = (int32_t[]){ row->what, row->id, row->extra } });
        supervisor_call(control, controller, &question, frame);
    }
}

// ---- the world ----

static void world(const Call *call)
{
    Control *control = call->control;
    int done = 1;
    switch (call_number(call, 0)) {
    case 0: control->wants_reset = true; break;
    case 1: control->next_world = ""; break;
    case 2:
        for (int i = 0; i < physics_solid_count(call_physics(call)); i++)
            if (physics_solid_exists(call_physics(call), i) && physics_solid_parent(call_physics(call), i) < 0)
                physics_solid_reset(call_physics(call), i);
        break;
    case 3: control->quit_status = call_number(call, 1) & 0xff; break;
    case 4:
        done = sim_save(control->sim, *call->record->bytes ? call->record->bytes : scene_path(call_scene(call)));
        supervisor_remember_start(control, NULL);
        break;
    case 5: control->next_world = arena_string(control->arena, call->record->bytes); break;
    default: done = 0; break;
    }
    answer_int(call, done);
}

static void simulation_mode(const Call *call)
{
    if (call_number(call, 0) >= 0 && call_number(call, 0) <= 2)
        serve_set_mode(call->control, call->controller, call_number(call, 0));
    answer_int(call, call->control->simulation_mode);
}

// What is recorded, as ControlShow has it. Answers 0 or a status, -1 when it cannot be done.
static void recording(const Call *call)
{
    enum { MOVIE_START, MOVIE_STOP, MOVIE_STATUS, ANIMATION_START, ANIMATION_STOP, PICTURE };
    const ControlShow *show = &call->control->options.show;
    const char *path = call->record->bytes;
    int result = -1;
    switch (call_number(call, 0)) {
    case MOVIE_START:
        if (show->movie_start
            && show->movie_start(show->context, &(ControlMovie){ .path = path,
                                                                 .width = call_number(call, 1),
                                                                 .height = call_number(call, 2),
                                                                 .quality = call_number(call, 3),
                                                                 .speed = call_number(call, 4),
                                                                 .has_caption = call_number(call, 5) > 0 }))
            result = 0;
        break;
    case MOVIE_STOP:
        if (show->movie_stop)
            show->movie_stop(show->context);
        result = show->movie_stop ? 0 : -1;
        break;
    case MOVIE_STATUS: result = show->movie_status ? show->movie_status(show->context) : 0; break;
    case ANIMATION_START: result = show->animation_start && show->animation_start(show->context, path) ? 0 : -1; break;
    case ANIMATION_STOP: result = show->animation_stop && show->animation_stop(show->context) ? 0 : -1; break;
    case PICTURE: result = show->picture && show->picture(show->context, path, call_number(call, 1)) ? 0 : -1; break;
    default: break;
    }
    answer_int(call, result);
}

static void label(const Call *call)
{
    const Record *record = call->record;
    if (record->double_count >= 4) {
        const double *numbers = record->doubles;
        ControlLabel label = { .id = call_number(call, 0),
                               .text = record->bytes,
                               .font = "",
                               .x = numbers[0],
                               .y = numbers[1],
                               .size = numbers[2],
                               .color = call_number(call, 1) & 0xffffff,
                               .transparency = double_clamp(numbers[3], 0.0, 1.0) };
        for (int i = 0; i < CONTROL_WATCHES; i++) {
            const ControlWatch *watch = &call->control->options.watches[i];
            if (watch->labelled)
                watch->labelled(watch->context, &label);
        }
    }
    answer_nothing(call);
}

static void urdf(const Call *call)
{
    Text text = { 0 };
    supervisor_sync(call->control);
    urdf_write(call_physics(call), controllers_robot(call), call->record->bytes, &text);
    answer_record(call, (Record){ .byte_count = (int)text.length, .bytes = text.data ? text.data : "" });
    text_free(&text);
}

static void node_visibility(const Call *call)
{
    SceneNode *node = call_node(call, 0), *from = call_node(call, 1);
    if (node && from && !devices_set_visible(call->control->devices, node, from, call_number(call, 2) != 0))
        answer_failed(call, "the second node is neither a Viewpoint nor a device of a robot that looks");
    else
        answer_nothing(call);
}

static void image(const Call *call)
{
    int tag = call->record->tag, number = call_number(call, 0), size = 0;
    Devices *devices = call->control->devices;
    bool is_there = tag >= 1 && tag <= devices_count(devices, call->controller->robot) && number >= 0
                    && number < DEVICE_IMAGES;
    const char *bytes = is_there ? devices_image(devices, call->controller->robot, tag, number, &size) : NULL;
    answer_record(call, (Record){ .byte_count = bytes ? size : 0, .bytes = bytes ? bytes : "" });
}

// Files that the question names: of a world to save or open, of a picture.
static bool may_name_file(const Call *call)
{
    enum { SAVE = 4, OPEN = 5 };
    const Record *record = call->record;
    bool names_file = record->op == OP_RECORDING
                      || (record->op == OP_WORLD && (call_number(call, 0) == SAVE || call_number(call, 0) == OPEN));
    return !names_file || !*record->bytes || extern_may_name(call->control, call->controller, record->bytes);
}

// ---- which question goes where ----

typedef struct CallRow {
    uint16_t op;
    bool for_everyone;  // robots that are no supervisors may ask too
    void (*answer)(const Call *call);
} CallRow;

static const CallRow rows[] = {
    { OP_NODE_FROM, false, node_from },
    { OP_NODE_INFO, false, node_info },
    { OP_NODE_FIELD, false, call_node_field },
    { OP_FIELD_INFO, false, call_field_info },
    { OP_FIELD_GET, false, call_field_get },
    { OP_FIELD_SET, false, call_field_set },
    { OP_FIELD_INSERT, false, call_field_insert },
    { OP_FIELD_REMOVE, false, call_field_remove },
    { OP_FIELD_IMPORT, false, call_field_import },
    { OP_FIELD_ACTUAL, false, call_field_actual },
    { OP_NODE_POSE, false, call_node_pose },
    { OP_NODE_VELOCITY, false, call_node_velocity },
    { OP_NODE_SET_VELOCITY, false, call_node_set_velocity },
    { OP_NODE_FORCE, false, call_node_force },
    { OP_NODE_CENTER_OF_MASS, false, call_node_center_of_mass },
    { OP_NODE_BALANCE, false, call_node_balance },
    { OP_NODE_CONTACTS, false, call_node_contacts },
    { OP_NODE_RESET_PHYSICS, false, call_node_reset_physics },
    { OP_NODE_RESTART, false, node_restart },
    { OP_NODE_REMOVE, false, node_remove },
    { OP_NODE_STATE, false, call_node_state },
    { OP_NODE_JOINT_POSITION, false, call_node_joint_position },
    { OP_NODE_EXPORT, false, node_export },
    { OP_NODE_VISIBILITY, false, node_visibility },
    { OP_NODE_VIEWPOINT, false, call_node_viewpoint },
    { OP_PROTO_INFO, false, proto_info },
    { OP_PROTO_FIELD, false, proto_field },
    { OP_TRACK, false, track },
    { OP_WORLD, false, world },
    { OP_SIMULATION_MODE, false, simulation_mode },
    { OP_LABEL, false, label },
    { OP_RECORDING, false, recording },
    { OP_URDF, true, urdf },
    { OP_IMAGE, true, image },
};

bool controller_is_supervisor(const Control *control, const Controller *controller)
{
    assert_debug(controller->robot >= 0 && controller->robot < control->count);
    return scene_bool(devices_robot_node(control->devices, controller->robot), "supervisor");
}

void supervisor_call(Control *control, Controller *controller, const Record *record, FrameWriter *frame)
{
    assert_debug(record && frame);
    Call call = { control, controller, record, frame };
    bool is_supervisor = controller_is_supervisor(control, controller);
    for (int i = 0; i < COUNT_OF(rows); i++) {
        if (rows[i].op != record->op)
            continue;
        if (!is_supervisor && !rows[i].for_everyone)
            answer_failed(&call, "this robot is not a supervisor");
        else if (!may_name_file(&call))
            answer_failed(&call, "a controller of another user or machine may name files of the project alone");
        else
            rows[i].answer(&call);
        return;
    }
    answer_failed(&call, "no such question");
}

void supervisor_forget(Control *control)
{
    supervisor_forget_states(control);
    free(control->tracked);
    free(control->fields);
    free(control->field_index.slots);
}
