// supervisor_motion.c - where nodes are, how they move, what they touch; and moving, pushing and keeping them.
#include "control/supervisor_internal.h"

#include "base/memory.h"
#include "physics/joints/motor.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

// ---- motion ----

static int solid_of(const Call *call, const SceneNode *node)
{
    const SceneNode *actual = node ? scene_actual(node) : NULL;
    return actual ? physics_solid_of(call_physics(call), actual) : -1;
}

// In worlds of old releases a node may look along another axis than its file says: back to what the file means.
static Quat file_turn(const SceneNode *node)
{
    Quat turn = QUAT_IDENTITY;
    for (const SceneNode *at = node; at; at = at->kind == SCENE_NODE_PLAIN ? NULL : at->target)
        for (const SceneTurn *row = at->turns; row; row = row->next)
            if (!strcmp(row->field, "rotation"))
                turn = quat_mul(quat_conj(row->right), turn);
    return turn;
}

static bool stored_pose(const Call *call, const SceneNode *node, Pose *pose)
{
    assert_debug(pose);
    const SceneNode *actual = node ? scene_actual(node) : NULL;
    if (!actual || !scene_node_is(actual, "Pose"))
        return false;
    int solid = physics_solid_of(call_physics(call), actual);
    if (solid >= 0) {
        *pose = physics_solid_pose(call_physics(call), solid);
        return true;
    }
    // A plain Pose rides on the nearest solid above it.
    Pose local = scene_pose(actual);
    for (const SceneNode *above = scene_parent(actual); above; above = scene_parent(above)) {
        solid = physics_solid_of(call_physics(call), above);
        if (solid >= 0) {
            *pose = pose_mul(physics_solid_pose(call_physics(call), solid), local);
            return true;
        }
        if (scene_node_is(above, "Pose"))
            local = pose_mul(scene_pose(above), local);
    }
    *pose = local;
    return true;
}

static bool world_pose(const Call *call, const SceneNode *node, Pose *pose)
{
    if (!stored_pose(call, node, pose))
        return false;
    pose->q = quat_mul(pose->q, file_turn(node));
    return true;
}

static void write_matrix(Pose pose, double out[16])
{
    Mat3 m = mat3_from_quat(pose.q);
    const double t[3] = { pose.t.x, pose.t.y, pose.t.z };
    for (int i = 0; i < 3; i++) {
        memcpy(out + 4 * i, m.m + 3 * i, 3 * sizeof(double));
        out[4 * i + 3] = t[i];
    }
    memcpy(out + 12, (double[4]){ 0, 0, 0, 1 }, 4 * sizeof(double));
}

void call_node_pose(const Call *call)
{
    double numbers[16];
    Pose pose, base = POSE_IDENTITY;
    bool is_relative = call_number(call, 1) >= 0;
    if (!call_node(call, 0) || (is_relative && !call_node(call, 1))) {
        answer_failed(call, "the node is not in the world any more");
    } else if (!world_pose(call, call_node(call, 0), &pose)
               || (is_relative && !world_pose(call, call_node(call, 1), &base))) {
        answer_failed(call, "only a Pose, Transform, Solid and what descends from them have a pose");
    } else {
        write_matrix(is_relative ? pose_mul(pose_inverse(base), pose) : pose, numbers);
        answer_doubles(call, numbers, 16);
    }
}

void call_node_velocity(const Call *call)
{
    int solid = solid_of(call, call_node(call, 0));
    double numbers[6] = { NAN, NAN, NAN, NAN, NAN, NAN };
    if (solid >= 0) {
        Vec3 v = physics_solid_linear_velocity(call_physics(call), solid),
             w = physics_solid_angular_velocity(call_physics(call), solid);
        memcpy(numbers, (double[6]){ v.x, v.y, v.z, w.x, w.y, w.z }, sizeof numbers);
    }
    answer_doubles(call, numbers, 6);
}

static bool wants(const Call *call, int doubles)
{
    assert_debug(doubles >= 0);
    if (call->record->double_count < doubles)
        return false;
    for (int i = 0; i < doubles; i++)
        if (!isfinite(call->record->doubles[i]))
            return false;
    return true;
}

static Vec3 vector(const Call *call, int index)
{
    assert(index >= 0 && 3 * index + 3 <= call->record->double_count);
    const double *d = call->record->doubles + 3 * index;
    return vec3(d[0], d[1], d[2]);
}

void call_node_set_velocity(const Call *call)
{
    int solid = solid_of(call, call_node(call, 0));
    if (solid < 0 || !wants(call, 6)) {
        answer_failed(call, "only a Solid has a velocity, of six finite numbers");
        return;
    }
    physics_solid_set_velocity(call_physics(call), solid, vector(call, 0), vector(call, 1));
    answer_nothing(call);
}

void call_node_force(const Call *call)
{
    const SceneNode *node = call_node(call, 0);
    int solid = solid_of(call, node), kind = call_number(call, 1);
    if (solid < 0 || !wants(call, kind == 1 ? 6 : 3) || physics_solid_body(call_physics(call), solid) < 0) {
        answer_failed(call, "a force wants a Solid with physics and finite numbers");
        return;
    }
    Pose pose = physics_solid_pose(call_physics(call), solid);
    pose.q = quat_mul(pose.q, file_turn(node));
    Vec3 force = call_number(call, 2) == 1 ? quat_rotate(pose.q, vector(call, 0)) : vector(call, 0);
    if (kind == 2)
        physics_solid_add_torque(call_physics(call), solid, force);
    else if (kind == 1)
        physics_solid_add_force_at(call_physics(call), solid, force, pose_apply(pose, vector(call, 1)));
    else if (physics_solid_mass(call_physics(call), solid)
             > 0.0)  // at its own centre, also when it is one of several in a body
        physics_solid_add_force_at(call_physics(call), solid, force,
                                   physics_solid_center_of_mass(call_physics(call), solid));
    else
        physics_solid_add_force(call_physics(call), solid, force);
    answer_nothing(call);
}

static bool is_below(const Physics *physics, int solid, int top)
{
    for (int at = solid; at >= 0; at = physics_solid_parent(physics, at))
        if (at == top)
            return true;
    return false;
}

// Centre of mass of the solid and all that hangs on it.
static bool total_center(const Call *call, int top, Vec3 *center)
{
    assert_debug(top >= 0 && top < physics_solid_count(call_physics(call)));
    const Physics *physics = call_physics(call);
    double mass = 0.0;
    Vec3 moment = VEC3_ZERO;
    for (int i = 0; i < physics_solid_count(physics); i++) {
        if (!physics_solid_exists(physics, i) || !is_below(physics, i, top))
            continue;
        double m = physics_solid_mass(physics, i);
        mass += m;
        moment = vec3_mad(moment, physics_solid_center_of_mass(physics, i), m);
    }
    *center = mass > 0.0 ? vec3_scale(moment, 1.0 / mass) : vec3(NAN, NAN, NAN);
    return mass > 0.0;
}

void call_node_center_of_mass(const Call *call)
{
    int solid = solid_of(call, call_node(call, 0));
    Vec3 center = vec3(NAN, NAN, NAN);
    if (solid >= 0)
        total_center(call, solid, &center);
    answer_doubles(call, (double[3]){ center.x, center.y, center.z }, 3);
}

// ---- contacts ----

typedef struct ContactList {
    int32_t ids[1024];
    double points[1024 * 3];
    int count;
} ContactList;

static void add_contact(const Physics *physics, const PhysicsContact *contact, int solid, ContactList *list)
{
    assert(solid >= 0 && list->count >= 0 && list->count < COUNT_OF(list->ids));
    Vec3 p = contact->point;
    memcpy(list->points + 3 * list->count, (double[3]){ p.x, p.y, p.z }, 3 * sizeof(double));
    list->ids[list->count++] = supervisor_outer_id(physics_solid_node(physics, solid));
}

// Those of the node itself first, then those of the solids below it in the order of the file.
static void collect_contacts(const Call *call, const SceneNode *node, bool with_descendants, ContactList *list)
{
    const Physics *physics = call_physics(call);
    int top = solid_of(call, node), total;
    const PhysicsContact *contacts = physics_contacts(physics, &total);
    list->count = 0;
    for (int at = top; at >= 0;) {
        int next = INT_MAX;  // the lowest solid below the node that has contacts and has not had its turn
        for (int i = 0; i < total; i++)
            for (int side = 0; side < 2; side++) {
                int solid = physics_contact_solid(physics, &contacts[i], side);
                bool has_had_turn = at == top ? solid == top : solid == top || solid <= at;
                if (solid == at && list->count < COUNT_OF(list->ids))
                    add_contact(physics, &contacts[i], solid, list);
                else if (with_descendants && solid >= 0 && solid < next && !has_had_turn
                         && is_below(physics, solid, top))
                    next = solid;
            }
        at = next < INT_MAX ? next : -1;
    }
}

void call_node_contacts(const Call *call)
{
    ContactList *list = memory_alloc(sizeof *list);
    collect_contacts(call, call_node(call, 0), call_number(call, 1) == 1, list);
    answer_record(call, (Record){ .int_count = list->count,
                                  .ints = list->ids,
                                  .double_count = 3 * list->count,
                                  .doubles = list->points });
    free(list);
}

// Standing: the centre of mass, dropped along gravity, falls inside the hull of the contact points.
static bool is_inside_hull(const Vec2 *points, int count, Vec2 p)
{
    assert_debug(points || count == 0);
    // Inside when no direction has all points strictly on one side of p: check against the widest gap of directions.
    double angles[2048];
    assert_debug(count <= COUNT_OF(angles));
    int n = 0;
    for (int i = 0; i < count && n < COUNT_OF(angles); i++)
        angles[n++] = atan2(points[i].y - p.y, points[i].x - p.x);
    double widest = 0.0;
    for (int i = 0; i < n; i++) {
        double gap = 2.0 * M_PI;
        for (int k = 0; k < n; k++) {
            double turn = angles[k] - angles[i];
            turn += turn <= 1e-12 ? 2.0 * M_PI : 0.0;
            gap = k != i && turn < gap ? turn : gap;
        }
        widest = gap > widest ? gap : widest;
    }
    return n >= 3 && widest < M_PI + 1e-9;
}

void call_node_balance(const Call *call)
{
    const SceneNode *node = call_node(call, 0);
    int solid = solid_of(call, node);
    Vec3 center;
    bool is_balanced = false;
    if (solid >= 0 && total_center(call, solid, &center)) {
        ContactList *list = memory_alloc(sizeof *list);
        collect_contacts(call, node, true, list);
        Vec3 up = vec3_normalized(vec3_neg(physics_gravity(call_physics(call))));
        Vec3 x = vec3_orthogonal(up), y = vec3_cross(up, x);
        Vec2 *flat = memory_alloc_array((size_t)list->count + 1, sizeof *flat);
        for (int i = 0; i < list->count; i++) {
            Vec3 p = vec3(list->points[3 * i], list->points[3 * i + 1], list->points[3 * i + 2]);
            flat[i] = (Vec2){ vec3_dot(p, x), vec3_dot(p, y) };
        }
        is_balanced = is_inside_hull(flat, list->count, (Vec2){ vec3_dot(center, x), vec3_dot(center, y) });
        free(flat);
        free(list);
    }
    answer_int(call, is_balanced);
}

// ---- orders ----

void call_node_reset_physics(const Call *call)
{
    int solid = solid_of(call, call_node(call, 0));
    if (solid >= 0)
        physics_solid_reset(call_physics(call), solid);
    answer_nothing(call);
}

// The stops of an axis of a joint; false: it has none.
static bool stops_of(const SceneNode *joint, int axis, double *low, double *high)
{
    static const char *const names[] = { "jointParameters", "jointParameters2", "jointParameters3" };
    assert(axis >= 0 && axis < COUNT_OF(names));
    const SceneNode *parameters = schema_field(joint->type, names[axis]) ? scene_child(joint, names[axis]) : NULL;
    if (!parameters || !schema_field(parameters->type, "minStop"))
        return false;
    *low = scene_float(parameters, "minStop");
    *high = scene_float(parameters, "maxStop");
    return *low < *high;
}

static SceneNode *main_view(const Call *call)
{
    const FieldList *top = scene_list(scene_root(call_scene(call)), "children");
    for (int i = 0; i < top->count; i++)
        if (scene_list_node(top, i) && scene_node_is(scene_list_node(top, i), "Viewpoint"))
            return scene_list_node(top, i);
    return NULL;
}

// The viewpoint looks the same way from where the ball around the node fills the view.
void call_node_viewpoint(const Call *call)
{
    const SceneNode *node = call_node(call, 0);
    SceneNode *view = main_view(call);
    Vec3 centre;
    double radius;
    if (!node || !view || !devices_ball(call->control->devices, scene_actual(node), &centre, &radius)) {
        answer_failed(call, "there is nothing to look at, or no Viewpoint");
        return;
    }
    double half = fmax(0.5 * scene_float(view, "fieldOfView"), 0.01);
    Vec3 ahead = quat_rotate(quat_from_rotation(scene_rotation(view, "orientation")), vec3(1, 0, 0));
    Vec3 place = vec3_mad(centre, ahead, -1.1 * radius / sin(fmin(half, 1.5)));
    sim_set_value(call->control->sim, view, schema_field(view->type, "position"),
                  (FieldValue){ .v = { place.x, place.y, place.z } });
    answer_nothing(call);
}

void call_node_joint_position(const Call *call)
{
    SceneNode *node = call_node(call, 0);
    int joint = node ? physics_joint_of(call_physics(call), scene_actual(node)) : -1, number = call_number(call, 1);
    int axis = number > 0 ? number - 1 : -1;
    if (joint < 0 || axis < 0 || axis >= physics_joint_axis_count(call_physics(call), joint) || !wants(call, 1)) {
        answer_failed(call, "only a joint has positions, one per axis, counted from 1");
        return;
    }
    double position = call->record->doubles[0], low, high;
    if (stops_of(physics_joint_node(call_physics(call), joint), axis, &low, &high))
        position = fmin(fmax(position, low), high);
    physics_joint_set_position(call_physics(call), joint, axis, position);
    call->control->synced_step = 0;
    answer_nothing(call);
}
