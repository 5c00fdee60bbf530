// What a plugin set on ODE's world, bodies and joints of ours is taken back for a reset: they get what new objects
// have, then what the files say. The objects themselves stay, since a plugin may have kept their addresses. Poses,
// velocities, anchors and the like are state, which the snapshot of the reset brings.
#include "physics/mirror.h"

#include "physics/ode/ode.h"
#include "physics/ode/layout.h"

#include <string.h>

// ---- tables of what can be set ----

static const struct {
    dReal (*get)(dWorldID world);
    void (*set)(dWorldID world, dReal value);
} world_numbers[] = {
    { dWorldGetContactMaxCorrectingVel, dWorldSetContactMaxCorrectingVel },
    { dWorldGetLinearDamping, dWorldSetLinearDamping },
    { dWorldGetAngularDamping, dWorldSetAngularDamping },
    { dWorldGetQuickStepW, dWorldSetQuickStepW },
    { dWorldGetAutoDisableLinearThreshold, dWorldSetAutoDisableLinearThreshold },
    { dWorldGetAutoDisableAngularThreshold, dWorldSetAutoDisableAngularThreshold },
    { dWorldGetAutoDisableTime, dWorldSetAutoDisableTime },
};
static const struct {
    int (*get)(dWorldID world);
    void (*set)(dWorldID world, int value);
} world_counts[] = {
    { dWorldGetQuickStepNumIterations, dWorldSetQuickStepNumIterations },
    { dWorldGetAutoDisableSteps, dWorldSetAutoDisableSteps },
};
static const struct {
    dReal (*get)(dBodyID body);
    void (*set)(dBodyID body, dReal value);
} body_numbers[] = {
    { dBodyGetLinearDampingThreshold, dBodySetLinearDampingThreshold },
    { dBodyGetAngularDampingThreshold, dBodySetAngularDampingThreshold },
    { dBodyGetMaxAngularSpeed, dBodySetMaxAngularSpeed },
    { dBodyGetAutoDisableLinearThreshold, dBodySetAutoDisableLinearThreshold },
    { dBodyGetAutoDisableAngularThreshold, dBodySetAutoDisableAngularThreshold },
    { dBodyGetAutoDisableTime, dBodySetAutoDisableTime },
};
static const struct {
    int (*get)(dBodyID body);
    void (*set)(dBodyID body, int value);
} body_counts[] = {
    { dBodyGetGravityMode, dBodySetGravityMode },
    { dBodyGetGyroscopicMode, dBodySetGyroscopicMode },
    { dBodyGetFiniteRotationMode, dBodySetFiniteRotationMode },
    { dBodyGetAutoDisableSteps, dBodySetAutoDisableSteps },
};
// The kinds of joints that ours are made of.
static const struct JointKind {
    dJointType type;
    dJointID (*create)(dWorldID world, dJointGroupID group);
    dReal (*get)(dJointID joint, int parameter);
    void (*set)(dJointID joint, int parameter, dReal value);
    int groups;  // of parameters
} joint_kinds[] = {
    { dJointTypeHinge, dJointCreateHinge, dJointGetHingeParam, dJointSetHingeParam, 1 },
    { dJointTypeSlider, dJointCreateSlider, dJointGetSliderParam, dJointSetSliderParam, 1 },
    { dJointTypePU, dJointCreatePU, dJointGetPUParam, dJointSetPUParam, 3 },
    { dJointTypeBall, dJointCreateBall, dJointGetBallParam, dJointSetBallParam, 1 },
    { dJointTypeFixed, dJointCreateFixed, dJointGetFixedParam, dJointSetFixedParam, 1 },
    { dJointTypeAMotor, dJointCreateAMotor, dJointGetAMotorParam, dJointSetAMotorParam, 3 },
    { dJointTypeLMotor, dJointCreateLMotor, dJointGetLMotorParam, dJointSetLMotorParam, 3 },
};
static const int joint_parameters[] = { dParamLoStop, dParamHiStop, dParamVel,     dParamFMax,    dParamFudgeFactor,
                                        dParamBounce, dParamCFM,    dParamStopERP, dParamStopCFM, dParamERP };

// ---- world and bodies ----

static void take_back_world(Physics *physics)
{
    dWorldID fresh = dWorldCreate();
    for (int i = 0; i < COUNT_OF(world_numbers); i++)
        world_numbers[i].set(physics->world, world_numbers[i].get(fresh));
    for (int i = 0; i < COUNT_OF(world_counts); i++)
        world_counts[i].set(physics->world, world_counts[i].get(fresh));
    dWorldSetAutoDisableAverageSamplesCount(physics->world, (unsigned)dWorldGetAutoDisableAverageSamplesCount(fresh));
    dWorldDestroy(fresh);
    mirror_settings(physics);
}

static void take_back_body(Physics *physics, int index, dBodyID fresh)
{
    assert_debug(index >= 0 && index < physics->body_count);
    dBodyID ode = physics->bodies[index].ode;
    assert_debug(ode && fresh);
    for (int i = 0; i < COUNT_OF(body_numbers); i++)
        body_numbers[i].set(ode, body_numbers[i].get(fresh));
    for (int i = 0; i < COUNT_OF(body_counts); i++)
        body_counts[i].set(ode, body_counts[i].get(fresh));
    dBodySetFiniteRotationAxis(ode, 0, 0, 0);
    dBodySetAutoDisableAverageSamplesCount(ode, (unsigned)dBodyGetAutoDisableAverageSamplesCount(fresh));
    dBodySetMovedCallback(ode, NULL);
    dBodySetDynamic(ode);
    mirror_body_settings(physics, index);
}

// ---- joints ----

// ODE looks whether a hinge is at a stop only while it has one, and else goes on with what it found last: let it find
// that it is at none.
static void leave_stops(const struct JointKind *kind, dJointID joint)
{
    const OdeLayout *inside = ode_layout();
    if (inside->problem || (kind->type != dJointTypeHinge && kind->type != dJointTypePU))
        return;
    for (int i = 0; i < kind->groups; i++) {
        kind->set(joint, dParamLoStop + i * dParamGroup, -M_PI);
        kind->set(joint, dParamHiStop + i * dParamGroup, 2.0 * M_PI);
    }
    OdeJointInfo info;
    inside->info1[kind->type](joint, &info);
}

// The joint is attached.
static void take_back_parameters(dJointID joint, dWorldID world)
{
    for (int i = 0; i < COUNT_OF(joint_kinds); i++) {
        const struct JointKind *kind = &joint_kinds[i];
        if (kind->type != dJointGetType(joint))
            continue;
        leave_stops(kind, joint);
        dJointID fresh = kind->create(world, NULL);
        for (int k = 0; k < kind->groups * COUNT_OF(joint_parameters); k++) {
            int parameter = joint_parameters[k % COUNT_OF(joint_parameters)]
                            + k / COUNT_OF(joint_parameters) * dParamGroup;
            kind->set(joint, parameter, kind->get(fresh, parameter));
        }
        dJointDestroy(fresh);
    }
    dJointEnable(joint);
}

// Attaching changes the order of a body's joints, which plugins may count on.
static void take_back_sides(dJointID joint, dBodyID first, dBodyID second)
{
    if (dJointGetBody(joint, 0) != first || dJointGetBody(joint, 1) != second)
        dJointAttach(joint, first, second);
}

static dBodyID body_or_none(const Physics *physics, int body) { return body >= 0 ? physics->bodies[body].ode : NULL; }

static void take_back_joint(Physics *physics, PhysicsJoint *joint)
{
    assert_debug(joint->constraint);
    dBodyID parent = body_or_none(physics, joint->body[0]), child = body_or_none(physics, joint->body[1]);
    Constraint *const objects[] = { joint->constraint, joint->motor, joint->spring };
    for (int i = 0; i < COUNT_OF(objects); i++) {
        if (!objects[i])
            continue;
        bool is_turned = i > 0 && joint->is_reversed;  // a motor beside the constraint has the child first
        take_back_sides(objects[i]->ode, is_turned ? child : parent, is_turned ? NULL : child);
        take_back_parameters(objects[i]->ode, physics->world);
    }
    memset(joint->placed, 0, sizeof joint->placed);  // anchors, axes and stops are set anew
}

void physics_ode_take_back(Physics *physics)
{
    if (!physics->plugin_holds_ode)
        return;
    assert_debug(physics->world);
    odelib_begin(physics);
    take_back_world(physics);
    dBodyID fresh = dBodyCreate(physics->world);
    for (int i = 0; i < physics->body_count; i++)
        if (physics->bodies[i].is_alive)
            take_back_body(physics, i, fresh);
    dBodyDestroy(fresh);
    for (int i = 0; i < physics->joint_count; i++)
        if (physics->joints[i].is_alive && physics->joints[i].constraint)
            take_back_joint(physics, &physics->joints[i]);
    for (int i = 0; i < physics->weld_count; i++)
        if (physics->welds[i].is_alive) {
            take_back_sides(physics->welds[i].constraint->ode, body_or_none(physics, physics->welds[i].parent_body),
                            body_or_none(physics, physics->welds[i].body));
            take_back_parameters(physics->welds[i].constraint->ode, physics->world);
        }
    odelib_end();
}
