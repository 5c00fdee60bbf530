// mirror_constraint.c - the twins in ODE of constraints: which joint each kind is, where it stands, what its rows are
// told.
#include "physics/mirror.h"

#include <assert.h>
#include <string.h>

static_assert(sizeof(ConstraintWrenches) == sizeof(dJointFeedback), "ODE fills the wrenches of a twin");

typedef void (*NumberSetter)(dJointID joint, int parameter, dReal value);
static const struct {
    dJointID (*create)(dWorldID world, dJointGroupID group);
    NumberSetter set;
} kinds[] = {
    [CONSTRAINT_BALL] = { dJointCreateBall, NULL },
    [CONSTRAINT_HINGE] = { dJointCreateHinge, dJointSetHingeParam },
    [CONSTRAINT_SLIDER] = { dJointCreateSlider, dJointSetSliderParam },
    [CONSTRAINT_SUSPENSION] = { dJointCreatePU, NULL },
    [CONSTRAINT_PISTON] = { dJointCreatePiston, NULL },
    [CONSTRAINT_FIXED] = { dJointCreateFixed, NULL },
    [CONSTRAINT_ANGULAR_MOTOR] = { dJointCreateAMotor, dJointSetAMotorParam },
    [CONSTRAINT_LINEAR_MOTOR] = { dJointCreateLMotor, dJointSetLMotorParam },
};
static const int parameters[CONSTRAINT_NUMBERS] = {
    [CONSTRAINT_LOW] = dParamLoStop,       [CONSTRAINT_HIGH] = dParamHiStop, [CONSTRAINT_VELOCITY] = dParamVel,
    [CONSTRAINT_MAX_FORCE] = dParamFMax,   [CONSTRAINT_CFM] = dParamCFM,     [CONSTRAINT_STOP_ERP] = dParamStopERP,
    [CONSTRAINT_STOP_CFM] = dParamStopCFM,
};

static bool is_motor(const Constraint *constraint)
{
    return constraint->kind == CONSTRAINT_ANGULAR_MOTOR || constraint->kind == CONSTRAINT_LINEAR_MOTOR;
}

static dBodyID twin_of(const Physics *physics, int body) { return body >= 0 ? physics->bodies[body].ode : NULL; }

// ---- places ----

static void put_body(dBodyID body, const dReal *position, const dReal *quaternion)
{
    dBodySetPosition(body, position[0], position[1], position[2]);
    memcpy((dReal *)dBodyGetQuaternion(body), quaternion, 4 * sizeof(dReal));
    dRfromQ((dReal *)dBodyGetRotation(body), quaternion);
}

// ODE complains of parallel axes after each call, so the old pair leaves by way of one that stands on both.
static void place_suspension(const Constraint *constraint, dJointID joint)
{
    const ConstraintPlace *place = &constraint->place;
    dVector3 old;
    dJointSetPUAnchor(joint, place->anchor.x, place->anchor.y, place->anchor.z);
    dJointGetPUAxis2(joint, old);
    Vec3 between = vec3_cross(vec3(old[0], old[1], old[2]), place->second);
    between = vec3_length(between) > 1e-3 ? vec3_normalized(between) : vec3_orthogonal(place->second);
    dJointSetPUAxis1(joint, between.x, between.y, between.z);
    dJointSetPUAxis2(joint, place->second.x, place->second.y, place->second.z);
    dJointSetPUAxis1(joint, place->axis.x, place->axis.y, place->axis.z);
    dJointSetPUAxis3(joint, place->slide.x, place->slide.y, place->slide.z);
    for (int i = constraint->locks_first ? 0 : 2; i < 3; i += 2) {
        dJointSetPUParam(joint, dParamLoStop + i * dParamGroup, 0.0);
        dJointSetPUParam(joint, dParamHiStop + i * dParamGroup, 0.0);
    }
    if (constraint->slide_erp >= 0.0) {
        dJointSetPUParam(joint, dParamStopERP3, constraint->slide_erp);
        dJointSetPUParam(joint, dParamStopCFM3, constraint->slide_cfm);
    }
}

static void place_joint(const Constraint *constraint)
{
    dJointID joint = constraint->ode;
    Vec3 anchor = constraint->place.anchor, axis = constraint->place.axis;
    switch (constraint->kind) {
    case CONSTRAINT_BALL: dJointSetBallAnchor(joint, anchor.x, anchor.y, anchor.z); break;
    case CONSTRAINT_HINGE:
        dJointSetHingeAnchor(joint, anchor.x, anchor.y, anchor.z);
        dJointSetHingeAxis(joint, axis.x, axis.y, axis.z);
        break;
    case CONSTRAINT_SLIDER: dJointSetSliderAxis(joint, axis.x, axis.y, axis.z); break;
    case CONSTRAINT_SUSPENSION: place_suspension(constraint, joint); break;
    case CONSTRAINT_PISTON:
        dJointSetPistonAnchor(joint, anchor.x, anchor.y, anchor.z);
        dJointSetPistonAxis(joint, axis.x, axis.y, axis.z);
        break;
    case CONSTRAINT_FIXED: dJointSetFixed(joint); break;
    case CONSTRAINT_ANGULAR_MOTOR:
    case CONSTRAINT_LINEAR_MOTOR: break;
    }
}

// ODE takes both sides of a joint from where its bodies stand, so they stand for a moment where they stood at the
// placing.
void mirror_constraint_place(Physics *physics, Constraint *constraint)
{
    assert_debug(constraint->ode && constraint->is_placed);
    struct {
        dVector3 position;
        dQuaternion quaternion;
    } now[2];
    for (int side = 0; side < 2; side++) {
        dBodyID body = twin_of(physics, constraint->body[side]);
        if (!body)
            continue;
        const Pose *pose = &constraint->place.side[side];
        memcpy(now[side].position, dBodyGetPosition(body), 3 * sizeof(dReal));
        memcpy(now[side].quaternion, dBodyGetQuaternion(body), 4 * sizeof(dReal));
        put_body(body, (dVector3){ pose->t.x, pose->t.y, pose->t.z },
                 (dQuaternion){ pose->q.w, pose->q.x, pose->q.y, pose->q.z });
    }
    place_joint(constraint);
    for (int side = 0; side < 2; side++)
        if (twin_of(physics, constraint->body[side]))
            put_body(twin_of(physics, constraint->body[side]), now[side].position, now[side].quaternion);
}

// ---- numbers ----

void mirror_constraint_number(Constraint *constraint, int axis, ConstraintNumber number, double value)
{
    assert_debug(constraint->ode && axis >= 0 && number < CONSTRAINT_NUMBERS);
    NumberSetter set = kinds[constraint->kind].set;
    bool is_worlds = number >= CONSTRAINT_CFM && value < 0.0;
    if (set && !is_worlds)
        set(constraint->ode, parameters[number] + axis * dParamGroup, value);
}

void mirror_constraint_angle(Constraint *constraint, int axis)
{
    assert_debug(constraint->kind == CONSTRAINT_ANGULAR_MOTOR && axis >= 0 && axis < constraint->axis_count);
    dJointSetAMotorAngle(constraint->ode, axis, constraint->axes[axis].angle);
}

void mirror_constraint_motor_axis(Constraint *constraint, int axis, int relative, Vec3 world)
{
    assert_debug(is_motor(constraint) && axis >= 0 && axis < constraint->axis_count);
    (constraint->kind == CONSTRAINT_ANGULAR_MOTOR ? dJointSetAMotorAxis : dJointSetLMotorAxis)(
        constraint->ode, axis, relative, world.x, world.y, world.z);
}

void mirror_constraint_wrenches(Constraint *constraint)
{
    dJointSetFeedback(constraint->ode, constraint->wants_wrenches ? (dJointFeedback *)&constraint->wrenches : NULL);
}

// ---- making ----

static void make_motor(Physics *physics, Constraint *constraint)
{
    assert_debug(is_motor(constraint));
    if (constraint->kind == CONSTRAINT_ANGULAR_MOTOR) {
        dJointSetAMotorMode(constraint->ode, dAMotorUser);
        dJointSetAMotorNumAxes(constraint->ode, constraint->axis_count);
    } else {
        dJointSetLMotorNumAxes(constraint->ode, constraint->axis_count);
    }
    for (int i = 0; i < constraint->axis_count; i++) {
        const ConstraintAxis *axis = &constraint->axes[i];
        if (vec3_length2(axis->axis) == 0.0)
            continue;
        constraint_tell_motor_axis(physics, constraint, i);
        if (constraint->kind == CONSTRAINT_ANGULAR_MOTOR)
            mirror_constraint_angle(constraint, i);
    }
}

// Motors have a body first, so that ODE has nothing to swap.
void mirror_constraint_make(Physics *physics, Constraint *constraint)
{
    assert(physics->world && !constraint->ode);
    constraint->ode = kinds[constraint->kind].create(physics->world, NULL);
    const int *sides = is_motor(constraint) ? constraint->solved : constraint->body;
    dJointAttach(constraint->ode, twin_of(physics, sides[0]), twin_of(physics, sides[1]));
    if (constraint->owner)
        dJointSetData(constraint->ode, constraint->owner);
    if (is_motor(constraint))
        make_motor(physics, constraint);
    else if (constraint->is_placed)
        mirror_constraint_place(physics, constraint);
    for (int i = 0; i < constraint->axis_count; i++)
        for (int k = 0; k < CONSTRAINT_NUMBERS; k++)
            mirror_constraint_number(constraint, i, (ConstraintNumber)k, (&constraint->axes[i].low)[k]);
    mirror_constraint_wrenches(constraint);
}

void mirror_constraint_destroy(Constraint *constraint)
{
    assert(constraint->ode);
    dJointDestroy(constraint->ode);
    constraint->ode = NULL;
}

// ---- what a plugin may have joined ----

bool mirror_are_joined(const Physics *physics, int a, int b)
{
    assert(a >= 0 && a < physics->body_count);
    return dAreConnectedExcluding(physics->bodies[a].ode, twin_of(physics, b), dJointTypeContact);
}

bool mirror_shapes_are_joined(const Shape *a, const Shape *b)
{
    dBodyID first = shape_on(a), second = shape_on(b);
    assert_debug(first || second);
    return dAreConnectedExcluding(first ? first : second, first ? second : first, dJointTypeContact);
}

int mirror_joint_count(const Physics *physics, int body)
{
    assert(body >= 0 && body < physics->body_count);
    return dBodyGetNumJoints(physics->bodies[body].ode);
}
