// joint_measure.c - after a step: positions and velocities of joints are read from where the bodies stand and how they
// move, and what their motors gave from the constraints. Angles of one axis are read when somebody asks for them.
#include "physics/joints/joint_internal.h"

#include "base/cpu.h"
#include "physics/joints/motor.h"
#include "physics/joints/tuning.h"
#include "physics/mirror.h"

// ---- one joint ----

static const Vec3 *side_position(const Physics *physics, const PhysicsJoint *row, int side)
{
    assert_debug(side == 0 || side == 1);
    static const Vec3 none = { 0.0, 0.0, 0.0 };
    if (row->body[side] >= 0)
        return &physics->body_states[row->body[side]].position;
    int solid = side == 0 ? row->parent : row->child;
    return solid >= 0 ? &physics->solid_world[solid].t : &none;
}

static double nearest_turn(double angle, double estimate)
{
    double turns = (estimate - angle) / (2.0 * M_PI);
    return fabs(turns) < 0.5 ? angle + 0.0 : angle + 2.0 * M_PI * round(turns);
}

static double quat_dot(Quat a, Quat b) { return a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z; }

static double twist_about(Quat turn, Vec3 axis)
{
    return 2.0 * atan2(turn.x * axis.x + turn.y * axis.y + turn.z * axis.z, turn.w);
}

// Turn of the child since position zero of all axes, in the frame of the parent's side.
static Quat turn_from_zero(const PhysicsJoint *row, const PhysicsJointState *state, Quat now)
{
    Quat at_offsets = QUAT_IDENTITY;
    for (int i = 0; i < row->axis_count; i++)
        at_offsets = quat_mul(at_offsets, quat_from_axis_angle(joint_placing(row)->axis[i], state->axes[i].offset));
    return quat_mul(quat_mul(now, quat_conj(joint_placing(row)->turn)), at_offsets);
}

// For two axes: the first angle is the one that carries the second axis, the rest is about the second.
static void two_angles(const PhysicsJoint *row, Quat turn, double angles[3])
{
    assert_debug(row->axis_count == 2);
    Vec3 first = joint_placing(row)->axis[0], second = joint_placing(row)->axis[1];
    Vec3 carried = quat_rotate(turn, second);
    Vec3 from = vec3_mad(second, first, -vec3_dot(first, second)),
         to = vec3_mad(carried, first, -vec3_dot(first, carried));
    angles[0] = atan2(vec3_dot(first, vec3_cross(from, to)), vec3_dot(from, to));
    angles[1] = twist_about(quat_mul(quat_from_axis_angle(first, -angles[0]), turn), second);
}

// For three axes at right angles, turned one after the other.
static void three_angles(const PhysicsJoint *row, Quat turn, double angles[3])
{
    assert_debug(row->axis_count == 3);
    const Vec3 *e = joint_placing(row)->axis;
    Vec3 first = quat_rotate(turn, e[0]), second = quat_rotate(turn, e[1]), third = quat_rotate(turn, e[2]);
    angles[1] = asin(double_clamp(vec3_dot(e[0], third), -1.0, 1.0));
    angles[0] = atan2(-vec3_dot(e[1], third), vec3_dot(e[2], third));
    angles[2] = atan2(-vec3_dot(e[0], second), vec3_dot(e[0], first));
}

// A step turns a body by 2 atan(rate dt / 2), which is less than rate dt by a part of (rate dt)^2 / 12. Webots read
// hinges by their rates, the sum of rate dt, up to R2023a, unless a motor was told a position; since R2023b it reads
// where they stand. The file's release decides.
static void count_rate(const Physics *physics, const PhysicsAxis *axis, PhysicsAxisState *state, double lead)
{
    bool is_told_a_position = axis->motor && state->mode == MOTOR_POSITION && isfinite(state->target_position);
    state->surplus = physics->reads_rates && !is_told_a_position ? state->surplus + lead : 0.0;
}

// Rate of the child against the parent, in the world.
static Vec3 turning_rate(const Physics *physics, const PhysicsJoint *row)
{
    Vec3 rate = row->body[1] >= 0 ? physics->body_states[row->body[1]].angular : VEC3_ZERO;
    return row->body[0] >= 0 ? vec3_sub(rate, physics->body_states[row->body[0]].angular) : rate;
}

// The angle from how the child stands against the parent, the rate from both angular velocities: one axis, the common
// case, without any turning of frames.
static CPU_SHARED void read_turn(Physics *physics, int joint, double dt)
{
    assert_debug(physics->joints[joint].axis_count == 1 && physics->joints[joint].constraint);
    const PhysicsJoint *row = &physics->joints[joint];
    PhysicsAxisState *axis = &physics->joint_states[joint].axes[0];
    Quat parent = *joint_side_orientation(physics, row, 0), child = *joint_side_orientation(physics, row, 1);
    Quat now = quat_mul(quat_conj(parent), child);
    double angle = axis->offset
                   + 2.0 * atan2(quat_dot(joint_placing(row)->sine, now), quat_dot(joint_placing(row)->cosine, now));
    double velocity = vec3_dot(joint_placing(row)->axis[0], quat_unrotate(parent, turning_rate(physics, row)));
    double before = axis->position, expected = before + velocity * dt, position = nearest_turn(angle, expected);
    axis->velocity = velocity;
    axis->position = position;
    count_rate(physics, &row->axes[0], axis, expected - before - (position - before));
}

// The same for two and three axes.
static void read_turns(Physics *physics, int joint, double dt)
{
    PhysicsJoint *row = &physics->joints[joint];
    PhysicsJointState *state = &physics->joint_states[joint];
    assert_debug(row->axis_count > 1);
    const Quat *parent = joint_side_orientation(physics, row, 0), *child = joint_side_orientation(physics, row, 1);
    Vec3 rate = quat_unrotate(*parent, turning_rate(physics, row));
    double angles[3] = { 0.0 };
    Quat turn = turn_from_zero(row, state, quat_mul(quat_conj(*parent), *child));
    (row->axis_count == 2 ? two_angles : three_angles)(row, turn, angles);
    Vec3 axes[3];
    axes[0] = joint_placing(row)->axis[0];
    axes[1] = quat_rotate(quat_from_axis_angle(axes[0], angles[0]), joint_placing(row)->axis[1]);
    axes[2] = row->axis_count == 3 ? quat_rotate(turn, joint_placing(row)->axis[2]) : vec3_cross(axes[0], axes[1]);
    for (int i = 0; i < row->axis_count; i++) {
        double length;
        state->axes[i].velocity = vec3_dot(joint_rate_vector(axes, i, &length), rate);
    }
    for (int i = 0; i < row->axis_count; i++) {
        PhysicsAxisState *axis = &state->axes[i];
        double before = axis->position, expected = axis->position + axis->velocity * dt;
        axis->position = nearest_turn(angles[i], expected);
        count_rate(physics, &row->axes[i], axis, expected - before - (axis->position - before));
    }
}

static CPU_SHARED void read_slide(Physics *physics, int joint)
{
    assert_debug(physics->joints[joint].kind == PHYSICS_JOINT_SLIDER);
    const PhysicsJoint *row = &physics->joints[joint];
    PhysicsAxisState *axis = &physics->joint_states[joint].axes[0];
    Vec3 arm = vec3_sub(*side_position(physics, row, 1), *side_position(physics, row, 0)),
         direction = quat_rotate(*joint_side_orientation(physics, row, 0), joint_placing(row)->axis[0]);
    axis->position = axis->offset + vec3_dot(direction, arm) - joint_placing(row)->slide;
    Vec3 rate = row->body[1] >= 0 ? physics->body_states[row->body[1]].linear : VEC3_ZERO;
    if (row->body[0] >= 0) {
        const BodyState *body = &physics->body_states[row->body[0]];
        rate = vec3_sub(rate, vec3_add(body->linear, vec3_cross(body->angular, arm)));
    }
    axis->velocity = vec3_dot(direction, rate);
}

// Force or torque that the joint exerts on the child along the axis: what holds and drives it.
static void read_feedback(Physics *physics, int joint)
{
    assert(physics->joints[joint].constraint);
    PhysicsJoint *row = &physics->joints[joint];
    PhysicsJointState *state = &physics->joint_states[joint];
    const ConstraintWrenches *sources[2] = { &row->constraint->wrenches, row->motor ? &row->motor->wrenches : NULL };
    Pose parent = joint_side_pose(physics, row, 0), child = joint_side_pose(physics, row, 1);
    Pose holder = joint_holder(physics, row, parent);
    Vec3 arm = vec3_sub(pose_apply(holder, row->anchor), child.t);
    Vec3 force = VEC3_ZERO, torque = VEC3_ZERO;
    for (int i = 0; i < 2; i++) {
        if (!sources[i])
            continue;
        const double *f = row->is_reversed ? sources[i]->f1 : sources[i]->f2;
        const double *t = row->is_reversed ? sources[i]->t1 : sources[i]->t2;
        Vec3 f3 = vec3(f[0], f[1], f[2]);
        force = vec3_add(force, f3);
        torque = vec3_add(torque, vec3_sub(vec3(t[0], t[1], t[2]), vec3_cross(arm, f3)));
    }
    for (int i = 0; i < row->axis_count; i++) {
        Vec3 axis = quat_rotate(holder.q, joint_turned_axis(row, state->axes, i));
        state->axes[i].feedback = vec3_dot(axis, row->kind == PHYSICS_JOINT_SLIDER ? force : torque);
    }
}

void joint_measure(Physics *physics, int joint, double dt)
{
    assert_debug(joint >= 0 && joint < physics->joint_count);
    if (physics->joints[joint].kind == PHYSICS_JOINT_SLIDER)
        read_slide(physics, joint);
    else if (physics->joints[joint].axis_count == 1)
        read_turn(physics, joint, dt);
    else
        read_turns(physics, joint, dt);
}

// ---- all of them ----

// A world that starts in motion, as a saved one does, knows the rates of its joints before the first step.
void joints_start(Physics *physics)
{
    for (int joint = 0; joint < physics->joint_count; joint++) {
        const PhysicsJoint *row = &physics->joints[joint];
        if (!row->is_alive || !row->constraint)
            continue;
        PhysicsJointState before = physics->joint_states[joint];
        joint_measure(physics, joint, 0.0);
        for (int i = 0; i < row->axis_count; i++) {
            physics->joint_states[joint].axes[i].position = before.axes[i].position;
            physics->joint_states[joint].axes[i].surplus = before.axes[i].surplus;
        }
    }
}

static void read_after_step(Physics *physics, int joint, double dt)
{
    const PhysicsJoint *row = &physics->joints[joint];
    if (!row->constraint || !row->is_alive || joint_is_asleep(physics, row))
        return;
    joint_measure(physics, joint, dt);
    if (row->wants_feedback)
        read_feedback(physics, joint);
}

static void poststep_all_range(int begin, int end, int worker, void *context)
{
    const JointWork *work = context;
    (void)worker;
    for (int joint = begin; joint < end; joint++)
        read_after_step(work->physics, joint, work->dt);
}

static void poststep_range(int begin, int end, int worker, void *context)
{
    const JointWork *work = context;
    (void)worker;
    for (int i = begin; i < end; i++)
        read_after_step(work->physics, work->joints[i], work->dt);
}

// An angle is told from the one that was read last, less than half a turn away. So long as no body has turned far,
// steps may pass; the result is the same to the last bit. Sums of rates miss no step, and at the rim others move the
// bodies.
void joints_poststep(Physics *physics, double dt)
{
    joints_list(physics);
    const JointLists *lists = &physics->joint_lists;
    JointWork work = { .physics = physics, .dt = dt, .joints = lists->watched };
    double turn = physics->unread_turn + physics->step_turn;
    bool may_wait = !mirror_is_open(physics) && !physics->reads_rates && turn <= MAX_UNREAD_TURN;
    if (may_wait)
        pool_for(physics->pool, lists->watched_count, JOINT_GRAIN, poststep_range, &work);
    else
        pool_for(physics->pool, physics->joint_count, JOINT_GRAIN, poststep_all_range, &work);
    physics->unread_steps = may_wait ? physics->unread_steps + 1 : 0;
    physics->unread_turn = may_wait ? turn : 0.0;
}

void joint_refresh(Physics *physics, int joint)
{
    assert(joint >= 0 && joint < physics->joint_count);
    if (joint_is_read_on_demand(&physics->joints[joint]))
        joints_refresh(physics);
}

static CPU_SHARED void read_on_demand(Physics *physics)
{
    for (int joint = 0; joint < physics->joint_count; joint++) {
        const PhysicsJoint *row = &physics->joints[joint];
        if (!row->is_alive || !row->constraint || !joint_is_read_on_demand(row) || joint_is_asleep(physics, row))
            continue;
        if (row->kind == PHYSICS_JOINT_SLIDER)
            read_slide(physics, joint);
        else
            read_turn(physics, joint, 0.0);
    }
}

static void read_on_demand_plain(Physics *physics) { read_on_demand(physics); }
static CPU_WIDE void read_on_demand_wide(Physics *physics) { read_on_demand(physics); }

void joints_refresh(Physics *physics)
{
    if (physics->unread_steps == 0)
        return;
    physics->unread_steps = 0;
    physics->unread_turn = 0.0;
    if (cpu_has_avx2())
        read_on_demand_wide(physics);
    else
        read_on_demand_plain(physics);
}
