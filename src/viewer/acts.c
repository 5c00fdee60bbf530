// acts.c - what people do to a running world, by rows: time, and pushing things about. Everything happens between two
// steps.
#include "viewer/viewer_internal.h"

#include "base/hash.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

#define ACCELERATION_MAX 1e4     // m/s2, of a body that is dragged by force: far drags of small bodies stay solvable
#define PULL_FREQUENCY 10.0      // rad/s of the elastic string, critically damped
#define PULL_ACCELERATION 200.0  // m/s2, its limit
#define PACE_MAX 1000.0

// ---- arguments ----

static bool read_vec3(const JsonValue *message, const char *key, Vec3 *value)
{
    double numbers[3];
    if (!json_member_numbers(message, key, numbers, 3))
        return false;
    *value = vec3(numbers[0], numbers[1], numbers[2]);
    return vec3_length(*value) < LIMIT_COORDINATE;
}

static const SceneNode *locked_above(const Physics *physics, int solid)
{
    for (; solid >= 0; solid = physics_solid_parent(physics, solid)) {
        const SceneNode *node = physics_solid_node(physics, solid);
        if (node && schema_field(node->type, "locked") && scene_bool(node, "locked"))
            return node;
    }
    return NULL;
}

// The solid that the message names. NULL: fine.
static const char *find_any_solid(Act *act, int *solid)
{
    const Physics *physics = sim_physics(act->viewer->sim);
    int64_t index = -1, id;
    if (json_member_int(act->message, "node", 0, UINT32_MAX,
                        &id)) {  // as undo names it: indices may change with the tree
        const SceneNode *node = viewer_node(act->viewer, (uint32_t)id);
        index = node ? physics_solid_of(physics, node) : -1;
    } else if (!json_member_int(act->message, "solid", 0, INT32_MAX, &index)) {
        index = -1;
    }
    if (index < 0 || index >= physics_solid_count(physics) || !physics_solid_exists(physics, (int)index))
        return "there is no such solid";
    *solid = (int)index;
    return NULL;
}

const char *act_refuse_locked(Act *act, int solid)
{
    assert(solid < physics_solid_count(sim_physics(act->viewer->sim)));
    const Physics *physics = sim_physics(act->viewer->sim);
    return locked_above(physics, solid)
               ? arena_printf(act->viewer->arena, "'%s' is locked", physics_solid_label(physics, solid))
               : NULL;
}

// The solid that the message names, if hands may be laid on it. NULL: fine.
static const char *find_solid(Act *act, int *solid)
{
    const char *error = find_any_solid(act, solid);
    return error ? error : act_refuse_locked(act, *solid);
}

// ---- time ----

static const char *act_play(Act *act)
{
    act->viewer->is_paused = false;
    act->viewer->steps_left = 0;
    act->viewer->is_dirty = true;
    act->viewer->paced_from = viewer_clock();
    act->viewer->paced_step = sim_steps(act->viewer->sim);
    return NULL;
}

static const char *act_pause(Act *act)
{
    act->viewer->is_paused = act->viewer->is_dirty = true;
    act->viewer->steps_left = 0;
    return NULL;
}

static const char *act_step(Act *act)
{
    int64_t count = 1;
    if (json_member(act->message, "n") && !json_member_int(act->message, "n", 1, 1000000, &count))
        return "n wants to be 1 to 1000000";
    act->viewer->is_paused = act->viewer->is_dirty = true;
    act->viewer->steps_left = count + (act->viewer->steps_left < 1000000 ? act->viewer->steps_left : 0);
    return NULL;
}

static const char *act_speed(Act *act)
{
    double factor;
    if (!json_member_number(act->message, "factor", &factor) || factor < 0.0 || factor > PACE_MAX
        || (factor > 0.0 && factor < 1e-4))
        return "factor wants to be 0 (as fast as it goes) or 0.0001 to 1000";
    act->viewer->pace = factor;
    act->viewer->paced_from = viewer_clock();
    act->viewer->paced_step = sim_steps(act->viewer->sim);
    act->viewer->is_dirty = true;
    return NULL;
}

static const char *act_reset(Act *act) { return session_reset(act->viewer); }

static const char *act_reload(Act *act)
{
    if (act->viewer->options.cannot_reload)
        return "the program that shows this world cannot load it again";
    act->viewer->wants_reload = true;
    return NULL;
}

// What goes into the log names the moment exactly, whatever was asked for.
static const char *go_back(Act *act, const SessionSnapshot *snapshot)
{
    if (!snapshot)
        return "no snapshot was kept of an earlier moment";
    uint64_t step = snapshot->step, acts = snapshot->acts;
    double time = snapshot->time;
    const char *text = arena_printf(act->viewer->arena, "{\"do\":\"resume\",\"step\":%llu,\"acts\":%llu}",
                                    (unsigned long long)step, (unsigned long long)acts);
    journal_write(act->viewer, text, strlen(text));
    const char *error = session_resume(act->viewer, step, acts);
    if (error)
        return error;
    json_double(act->answer, "time", time);
    json_int(act->answer, "step", (int64_t)step);
    return NULL;
}

static const char *act_resume(Act *act)
{
    int64_t step, acts;
    double time = INFINITY;
    if (json_member_int(act->message, "step", 0, INT64_C(1) << 53, &step)
        && json_member_int(act->message, "acts", 0, INT64_C(1) << 53, &acts)) {
        journal_write(act->viewer, act->text, act->size);
        return session_resume(act->viewer, (uint64_t)step, (uint64_t)acts);
    }
    json_member_number(act->message, "time", &time);
    return go_back(act, session_snapshot_before(act->viewer, time, UINT64_MAX));
}

static const char *act_stepback(Act *act)
{
    act_pause(act);
    return go_back(act, session_snapshot_before(act->viewer, INFINITY, sim_steps(act->viewer->sim)));
}

// ---- hands ----

static void put(Viewer *viewer, int solid, Pose pose)
{
    assert(physics_solid_exists(sim_physics(viewer->sim), solid) && pose_is_finite(pose));
    Physics *physics = sim_physics(viewer->sim);
    physics_solid_set_pose(physics, solid, pose);
    physics_solid_reset(physics, solid);
    viewer->is_dirty = true;
}

static const char *move_text(Viewer *viewer, int solid, Pose pose)
{
    assert(physics_solid_exists(sim_physics(viewer->sim), solid));
    Text text = { 0 };
    const double numbers[7] = { pose.t.x, pose.t.y, pose.t.z, pose.q.x, pose.q.y, pose.q.z, pose.q.w };
    uint32_t node = physics_solid_node(sim_physics(viewer->sim), solid)->id;
    text_printf(&text, "{\"do\":\"move\",\"node\":%u,\"position\":[", node);
    for (int i = 0; i < 7; i++) {
        text_add_string(&text, i == 3 ? "],\"rotation\":[" : i ? "," : "");
        text_add_double(&text, numbers[i]);
    }
    text_add_string(&text, "]}");
    char *kept = arena_text(viewer->arena, text.data, text.length);
    text_free(&text);
    return kept;
}

// Puts a solid somewhere at rest, once or for as long as it is held there; a whole drag is one step of undo.
static const char *act_move(Act *act)
{
    Viewer *viewer = act->viewer;
    const Physics *physics = sim_physics(viewer->sim);
    int solid;
    const char *error = find_solid(act, &solid);
    if (error)
        return error;
    Pose before = physics_solid_pose(physics, solid), pose = before;
    double turn[4];
    if (json_member(act->message, "position") && !read_vec3(act->message, "position", &pose.t))
        return "position wants three numbers";
    if (json_member_numbers(act->message, "rotation", turn, 4))
        pose.q = quat_normalized((Quat){ turn[3], turn[0], turn[1], turn[2] });
    else if (json_member(act->message, "rotation"))
        return "rotation wants x, y, z and w of a quaternion";
    if (!pose_is_finite(pose))
        return "a number is too large";
    if (physics_solid_joint(physics, solid) >= 0)
        return arena_printf(viewer->arena, "'%s' is held by a joint; move the whole, or pull at it",
                            physics_solid_label(physics, solid));
    bool is_held = json_member_bool(act->message, "hold", false);
    bool goes_on = is_held && viewer->drag.kind == DRAG_HOLD && viewer->drag.solid == solid;
    if (!goes_on)
        viewer->drag_serial++;
    viewer->slid_joint = viewer->sized_node = 0;
    put(viewer, solid, pose);
    viewer->drag = is_held ? (Drag){ .kind = DRAG_HOLD, .solid = solid, .pose = pose } : (Drag){ 0 };
    viewer->drag_client = act->client;
    undo_add(viewer, move_text(viewer, solid, before), move_text(viewer, solid, pose), viewer->drag_serial);
    return NULL;
}

static const char *joint_text(Viewer *viewer, uint32_t node, int axis, double position)
{
    assert(axis >= 0 && axis < PHYSICS_JOINT_AXES);
    Text text = { 0 };
    text_printf(&text, "{\"do\":\"joint\",\"node\":%u,\"axis\":%d,\"position\":", node, axis);
    text_add_double(&text, position);
    text_add_char(&text, '}');
    char *kept = arena_text(viewer->arena, text.data, text.length);
    text_free(&text);
    return kept;
}

// Puts a joint where a slider says, at rest; a motor that holds it takes it back from there.
static const char *act_joint(Act *act)
{
    Viewer *viewer = act->viewer;
    Physics *physics = sim_physics(viewer->sim);
    int64_t id, axis = 0;
    double position;
    const SceneNode *node = json_member_int(act->message, "node", 0, UINT32_MAX, &id)
                                ? viewer_node(viewer, (uint32_t)id)
                                : NULL;
    int joint = node ? physics_joint_of(physics, scene_actual(node)) : -1;
    if (joint < 0)
        return "there is no such joint";
    if (json_member(act->message, "axis")
        && !json_member_int(act->message, "axis", 0, physics_joint_axis_count(physics, joint) - 1, &axis))
        return "the joint has no such axis";
    if (axis >= physics_joint_axis_count(physics, joint))
        return "the joint cannot move";
    if (!json_member_number(act->message, "position", &position) || !(fabs(position) < LIMIT_COORDINATE))
        return "position wants a number";
    int child = physics_joint_child(physics, joint);
    const char *error = act_refuse_locked(act, child);
    if (error)
        return error;
    double before = physics_joint_position(physics, joint, (int)axis);
    bool goes_on = json_member_bool(act->message, "hold", false) && viewer->slid_joint == node->id;
    viewer->slid_joint = node->id;
    viewer->drag = (Drag){ 0 };  // one hand at a time
    if (!goes_on)
        viewer->drag_serial++;
    physics_joint_set_position(physics, joint, (int)axis, position);
    if (child >= 0)
        physics_solid_reset(physics, child);
    undo_add(viewer, joint_text(viewer, node->id, (int)axis, before), joint_text(viewer, node->id, (int)axis, position),
             viewer->drag_serial);
    viewer->is_dirty = true;
    return NULL;
}

static const char *begin_drag(Act *act, DragKind kind)
{
    assert(kind == DRAG_FORCE || kind == DRAG_TORQUE || kind == DRAG_PULL);
    Viewer *viewer = act->viewer;
    const Physics *physics = sim_physics(viewer->sim);
    Drag drag = { .kind = kind };
    const char *error = find_solid(act, &drag.solid);
    if (error)
        return error;
    if (physics_solid_body(physics, drag.solid) < 0)
        return arena_printf(viewer->arena, "'%s' has no physics: forces do not move it",
                            physics_solid_label(physics, drag.solid));
    if (kind == DRAG_TORQUE ? !read_vec3(act->message, "vector", &drag.to)
                            : !read_vec3(act->message, "at", &drag.at) || !read_vec3(act->message, "to", &drag.to))
        return kind == DRAG_TORQUE ? "vector wants three numbers" : "at and to want three numbers each";
    viewer->drag = drag;
    viewer->drag_client = act->client;
    return NULL;
}

static const char *act_force(Act *act) { return begin_drag(act, DRAG_FORCE); }
static const char *act_torque(Act *act) { return begin_drag(act, DRAG_TORQUE); }
static const char *act_pull(Act *act) { return begin_drag(act, DRAG_PULL); }

static bool press(Viewer *viewer, int solid)
{
    assert(physics_solid_exists(sim_physics(viewer->sim), solid));
    Devices *devices = viewer->world.devices;
    int robot, tag;
    return devices && devices_of_node(devices, physics_solid_node(sim_physics(viewer->sim), solid), &robot, &tag)
           && devices_press(devices, robot, tag);
}

// A finger on a bumper, until it is released. `locked` is about being moved: it may be touched all the same.
static const char *act_touch(Act *act)
{
    Viewer *viewer = act->viewer;
    Drag drag = { .kind = DRAG_TOUCH };
    const char *error = find_any_solid(act, &drag.solid);
    if (error)
        return error;
    if (!press(viewer, drag.solid))
        return arena_printf(viewer->arena, "'%s' is not the bumper of a robot",
                            physics_solid_label(sim_physics(viewer->sim), drag.solid));
    viewer->drag = drag;
    viewer->drag_client = act->client;
    return NULL;
}

// A force that was drawn in a paused world acts in the next step once, as in Webots.
static const char *act_release(Act *act)
{
    Drag *drag = &act->viewer->drag;
    act->viewer->has_edited |= act->viewer->sized_node != 0;
    act->viewer->sized_node = 0;
    if (drag->kind == DRAG_HOLD || drag->has_acted)
        *drag = (Drag){ 0 };
    drag->is_last = drag->kind != DRAG_NONE;
    return NULL;
}

static double world_scale(const Viewer *viewer, const char *field, double preset)
{
    const FieldList *nodes = scene_list(scene_root(sim_scene(viewer->sim)), "children");
    for (int i = 0; i < nodes->count; i++) {
        const SceneNode *node = scene_list_node(nodes, i);
        if (node && scene_node_is(node, "WorldInfo"))
            return scene_float(node, field);
    }
    return preset;
}

static Vec3 limited(Vec3 v, double length)
{
    assert_debug(length > 0.0);
    double is = vec3_length(v);
    return is > length ? vec3_scale(v, length / is) : v;
}

// How hard a point of a body is to move along a direction: its mass, less where the body would turn instead.
static double mass_at(const Physics *physics, int body, Vec3 point, Vec3 direction)
{
    assert(body >= 0 && body < physics_body_count(physics));
    Pose pose = physics_body_pose(physics, body);
    Mat3 inverse;
    double mass = physics_body_mass(physics, body);
    if (!mat3_inverse(mat3_rotated(physics_body_inertia(physics, body), pose.q), &inverse))
        return mass;
    Vec3 lever = vec3_cross(vec3_sub(point, pose.t), direction);
    return 1.0 / (1.0 / mass + vec3_dot(lever, mat3_apply(inverse, lever)));
}

static void pull(Physics *physics, const Drag *drag, Vec3 point, Vec3 way, double dt)
{
    assert(drag->kind == DRAG_PULL && dt > 0.0);
    int body = physics_solid_body(physics, drag->solid);
    double frequency = fmin(PULL_FREQUENCY, 0.3 / dt);
    double mass = mass_at(physics, body, point, vec3_normalized(way));
    Vec3 velocity = physics_solid_point_velocity(physics, drag->solid, point);
    Vec3 wanted = vec3_sub(vec3_scale(way, frequency * frequency), vec3_scale(velocity, 2.0 * frequency));
    physics_solid_add_force_at(physics, drag->solid, vec3_scale(limited(wanted, PULL_ACCELERATION), mass), point);
}

// Webots' rules: force = scale * mass * d^2 * d, and the same for a torque.
void drag_apply(Viewer *viewer)
{
    assert(viewer->drag.kind != DRAG_NONE && viewer->drag.solid >= 0);
    Physics *physics = sim_physics(viewer->sim);
    Drag *drag = &viewer->drag;
    bool is_there = drag->solid < physics_solid_count(physics) && physics_solid_exists(physics, drag->solid);
    if (is_there && drag->kind == DRAG_HOLD) {
        put(viewer, drag->solid, drag->pose);
    } else if (is_there && drag->kind == DRAG_TOUCH) {
        is_there = press(viewer, drag->solid);
    } else if (is_there && physics_solid_body(physics, drag->solid) >= 0) {
        double mass = physics_body_mass(physics, physics_solid_body(physics, drag->solid));
        Vec3 point = pose_apply(physics_solid_pose(physics, drag->solid), drag->at);
        Vec3 way = drag->kind == DRAG_TORQUE ? drag->to : vec3_sub(drag->to, point);
        const char *field = drag->kind == DRAG_TORQUE ? "dragTorqueScale" : "dragForceScale";
        Vec3 push = vec3_scale(way, world_scale(viewer, field, 1.0) * vec3_length2(way));
        push = vec3_scale(limited(push, ACCELERATION_MAX), mass);
        if (drag->kind == DRAG_FORCE)
            physics_solid_add_force_at(physics, drag->solid, push, point);
        else if (drag->kind == DRAG_TORQUE)
            physics_solid_add_torque(physics, drag->solid, push);
        else
            pull(physics, drag, point, way, sim_time_step(viewer->sim));
    }
    drag->has_acted = true;
    if (drag->is_last || !is_there)
        *drag = (Drag){ 0 };
}

// ---- keys, mouse, joystick ----

static const char *input_of(Act *act, InputState **state)
{
    *state = act->viewer->world.input ? input_live(act->viewer->world.input) : NULL;
    return *state                     ? NULL
           : act->viewer->world.input ? "keys and mouse come from a file in this run"
                                      : "no robot has a program";
}

static const char *act_key(Act *act)
{
    InputState *state;
    const char *error = input_of(act, &state);
    const JsonValue *codes = json_member(act->message, "codes");
    if (error)
        return error;
    if (!codes || codes->kind != JSON_ARRAY)
        return "codes wants the keys that are down";
    int count = 0;
    for (const JsonValue *code = codes->first; code; code = code->next) {
        if (code->kind != JSON_NUMBER || !(code->number > 0.0) || code->number > 0xfffff)
            return "a key is a number as wb_keyboard_get_key gives it";
        if (count < INPUT_KEYS)
            state->keys[count++] = (int)code->number;
    }
    state->key_count = count;
    return NULL;
}

static const char *act_mouse(Act *act)
{
    static const char *const buttons[] = { "left", "middle", "right" };
    InputState *state;
    const char *error = input_of(act, &state);
    if (error)
        return error;
    double place[2], point[3];
    for (int i = 0; i < COUNT_OF(buttons); i++)
        state->mouse_buttons[i] = json_member_bool(act->message, buttons[i], false);
    for (int i = 0; i < 5; i++)
        state->mouse[i] = NAN;
    if (json_member_numbers(act->message, "window", place, 2))
        memcpy(state->mouse, place, sizeof place);
    if (json_member_numbers(act->message, "point", point, 3))
        memcpy(state->mouse + 2, point, sizeof point);
    input_live_has(act->viewer->world.input, true, false);
    return NULL;
}

static int read_ints(const JsonValue *message, const char *key, int *values, int most)
{
    assert(values && most > 0);
    const JsonValue *list = json_member(message, key);
    int count = 0;
    for (const JsonValue *item = list && list->kind == JSON_ARRAY ? list->first : NULL; item && count < most;
         item = item->next)
        values[count++] = item->kind == JSON_NUMBER ? (int)double_clamp(item->number, -32768.0, 32767.0) : 0;
    return count;
}

static const char *act_joystick(Act *act)
{
    InputState *state;
    const char *error = input_of(act, &state);
    if (error)
        return error;
    int buttons[INPUT_BUTTONS];
    const char *model = json_member_string(act->message, "model");
    state->has_joystick = json_member_bool(act->message, "connected", true);
    state->axis_count = read_ints(act->message, "axes", state->axes, INPUT_AXES);
    state->pov_count = read_ints(act->message, "povs", state->povs, INPUT_POVS);
    int count = read_ints(act->message, "buttons", buttons, INPUT_BUTTONS);
    for (int i = 0; i < INPUT_BUTTONS; i++)
        state->buttons[i] = i < count && buttons[i];
    snprintf(state->model, sizeof state->model, "%.63s", model ? model : "gamepad");
    input_live_has(act->viewer->world.input, false, true);
    return NULL;
}

// ---- rows ----

static const ActType types[] = {
    // name, function, for spectators, changes the world, which of several counts
    { "play", act_play, false, false, ACT_EACH },          { "pause", act_pause, false, false, ACT_EACH },
    { "step", act_step, false, false, ACT_EACH },          { "speed", act_speed, false, false, ACT_EACH },
    { "stepback", act_stepback, false, false, ACT_EACH },  // logged as resume
    { "resume", act_resume, false, false, ACT_EACH },      // logged by itself
    { "reset", act_reset, false, true, ACT_EACH },         { "reload", act_reload, false, true, ACT_EACH },
    { "move", act_move, false, true, ACT_HELD },           { "joint", act_joint, false, true, ACT_HELD },
    { "force", act_force, false, true, ACT_NEWEST },       { "torque", act_torque, false, true, ACT_NEWEST },
    { "pull", act_pull, false, true, ACT_NEWEST },         { "touch", act_touch, false, true, ACT_EACH },
    { "release", act_release, false, true, ACT_EACH },     { "undo", act_undo, false, true, ACT_EACH },
    { "redo", act_redo, false, true, ACT_EACH },           { "children", act_children, true, false, ACT_EACH },
    { "fields", act_fields, true, false, ACT_EACH },       { "set", act_set, false, true, ACT_EACH },
    { "sizes", act_sizes, true, false, ACT_EACH },         { "resize", act_resize, false, true, ACT_HELD },
    { "insert", act_insert, false, true, ACT_EACH },       { "delete", act_delete, false, true, ACT_EACH },
    { "duplicate", act_duplicate, false, true, ACT_EACH }, { "save", act_save, false, true, ACT_EACH },
    { "watch", act_watch, true, false, ACT_EACH },         { "key", act_key, false, true, ACT_EACH },
    { "mouse", act_mouse, false, true, ACT_NEWEST },       { "joystick", act_joystick, false, true, ACT_NEWEST },
    { "window", act_window, false, true, ACT_EACH },       { "windows", act_windows, true, false, ACT_EACH },
};

const ActType *act_type(const char *name)
{
    assert(name);
    for (int i = 0; i < COUNT_OF(types); i++)
        if (!strcmp(types[i].name, name))
            return &types[i];
    return NULL;
}

uint64_t act_drag(const ActType *type, const JsonValue *message)
{
    if (type->count == ACT_EACH || (type->count == ACT_HELD && !json_member_bool(message, "hold", false)))
        return 0;
    static const char *const about[] = { "node", "solid", "axis", "robot" };
    uint64_t drag = hash_string(type->name);
    for (int i = 0; i < COUNT_OF(about); i++) {
        double number = -1.0;
        json_member_number(message, about[i], &number);
        drag = hash_bytes(&number, sizeof number, drag);
    }
    return drag ? drag : 1;
}
