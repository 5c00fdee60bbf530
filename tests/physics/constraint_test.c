// The rows of our constraints beside those of ODE's joints, number by number, at random places: every kind, with a
// parent body, against the world from either side, with motors, stops, springs.
#include "support/support.h"

#include "base/random.h"
#include "physics/joints/constraint.h"
#include "physics/ode/layout.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 200, ROW_DOUBLES = sizeof(SolverRow) / sizeof(double) };
static const double fps = 125.0, erp = 0.3, cfm = 1e-4;

typedef struct Pair {
    dWorldID world;
    dBodyID ode[2];
    SolverBody bodies[2];
    Pose pose[2];
} Pair;

static double between(Random *random, double low, double high) { return low + (high - low) * random_uniform(random); }

static Vec3 direction(Random *random)
{
    for (;;) {
        Vec3 v = vec3(between(random, -1, 1), between(random, -1, 1), between(random, -1, 1));
        if (vec3_length(v) > 0.3)
            return vec3_normalized(v);
    }
}

static void put_pose(Pair *pair, int i, Pose pose)
{
    SolverBody *body = &pair->bodies[i];
    dBodySetPosition(pair->ode[i], pose.t.x, pose.t.y, pose.t.z);
    dBodySetQuaternion(pair->ode[i], (dQuaternion){ pose.q.w, pose.q.x, pose.q.y, pose.q.z });
    const dReal *q = dBodyGetQuaternion(pair->ode[i]), *r = dBodyGetRotation(pair->ode[i]);
    pair->pose[i] = (Pose){ pose.t, { q[0], q[1], q[2], q[3] } };
    memcpy(body->position, &pose.t, sizeof body->position);
    memcpy(body->quaternion, q, sizeof body->quaternion);
    for (int k = 0; k < 9; k++)
        body->rotation[k] = r[4 * (k / 3) + k % 3];
}

static void open_pair(Pair *pair, Random *random)
{
    *pair = (Pair){ .world = dWorldCreate() };
    dWorldSetERP(pair->world, erp);
    dWorldSetCFM(pair->world, cfm);
    for (int i = 0; i < 2; i++) {
        pair->ode[i] = dBodyCreate(pair->world);
        put_pose(pair, i,
                 (Pose){ vec3_scale(direction(random), 2.0),
                         quat_from_axis_angle(direction(random), between(random, -3, 3)) });
    }
}

static void move_pair(Pair *pair, Random *random)
{
    for (int i = 0; i < 2; i++) {
        Pose moved = pair->pose[i];
        moved.t = vec3_add(moved.t, vec3_scale(direction(random), 0.02));
        moved.q = quat_mul(quat_from_axis_angle(direction(random), between(random, -1.2, 1.2)), moved.q);
        put_pose(pair, i, moved);
        memset(pair->bodies[i].force, 0, sizeof pair->bodies[i].force);
        dBodySetForce(pair->ode[i], 0, 0, 0);
        dBodySetTorque(pair->ode[i], 0, 0, 0);
    }
}

// Parent and child of a constraint: both bodies, a body on the world, the world's on a body.
static const int attachments[][2] = { { 0, 1 }, { 0, -1 }, { -1, 0 } };

static void make(Pair *pair, Constraint *ours, ConstraintKind kind, dJointID theirs, const int *sides, int axes)
{
    dJointAttach(theirs, sides[0] >= 0 ? pair->ode[sides[0]] : NULL, sides[1] >= 0 ? pair->ode[sides[1]] : NULL);
    constraint_init(ours, kind, sides[0], sides[1], axes);
}

static ConstraintPlace place_of(const Pair *pair, const int *sides, Random *random)
{
    ConstraintPlace place = { .anchor = vec3_scale(direction(random), 1.5), .axis = direction(random) };
    for (int i = 0; i < 2; i++)
        place.side[i] = sides[i] >= 0 ? pair->pose[sides[i]] : POSE_IDENTITY;
    return place;
}

static void check_rows(Pair *pair, const Constraint *ours, dJointID theirs, const char *name)
{
    SolverRow mine[CONSTRAINT_ROWS_MAX + 2], other[CONSTRAINT_ROWS_MAX + 2];
    OdeJointInfo info;
    int type = dJointGetType(theirs), findex[CONSTRAINT_ROWS_MAX + 2];
    ode_layout()->info1[type](theirs, &info);
    memset(other, 0, sizeof other);
    for (int i = 0; i < CONSTRAINT_ROWS_MAX + 2; i++)
        other[i].cfm = cfm, other[i].lo = -INFINITY, other[i].hi = INFINITY, findex[i] = -1;
    if (info.rows > 0)
        ode_layout()->info2[type](theirs, fps, erp, ROW_DOUBLES, other->j1, other->j2, ROW_DOUBLES, &other->rhs,
                                  &other->lo, findex);
    const ConstraintStep step = { fps, erp, cfm };
    SolverBody wide_bodies[2];
    memcpy(wide_bodies, pair->bodies, sizeof wide_bodies);
    int count = constraint_rows_portable(ours, &step, pair->bodies, mine);
    CHECK(count == info.rows, name);
    if (cpu_has_avx2()) {
        SolverRow wide[CONSTRAINT_ROWS_MAX + 2];
        CHECK(constraint_rows_avx2(ours, &step, wide_bodies, wide) == count, name);
        CHECK(count == 0 || !memcmp(wide, mine, (size_t)count * sizeof *wide), name);
        CHECK(!memcmp(wide_bodies, pair->bodies, sizeof wide_bodies), name);
    }
    for (int i = 0; i < count && i < info.rows; i++) {
        for (int k = 0; k < 6; k++) {
            CHECK(fabs(mine[i].j1[k] - other[i].j1[k]) <= 1e-14 * (1.0 + fabs(other[i].j1[k])), name);
            CHECK(fabs(mine[i].j2[k] - other[i].j2[k]) <= 1e-14 * (1.0 + fabs(other[i].j2[k])), name);
        }
        CHECK(fabs(mine[i].rhs - other[i].rhs) <= 1e-14 * fps * 4.0, name);
        CHECK(mine[i].cfm == other[i].cfm && mine[i].lo == other[i].lo && mine[i].hi == other[i].hi, name);
    }
    for (int b = 0; b < 2; b++) {
        const dReal *force = dBodyGetForce(pair->ode[b]), *torque = dBodyGetTorque(pair->ode[b]);
        for (int k = 0; k < 3; k++) {
            CHECK(fabs(pair->bodies[b].force[k] - force[k]) <= 1e-12, name);
            CHECK(fabs(pair->bodies[b].force[3 + k] - torque[k]) <= 1e-12, name);
        }
    }
}

typedef void (*Setter)(dJointID joint, int parameter, dReal value);

// Motors and stops at random: none, one of both, locked.
static void set_axis(Constraint *ours, dJointID theirs, int axis, Setter set, Random *random)
{
    ConstraintAxis *row = &ours->axes[axis];
    int group = axis * dParamGroup, choice = (int)(random_uniform(random) * 4.0);
    if (choice & 1) {
        row->velocity = between(random, -2, 2);
        row->max_force = between(random, 0.1, 30);
        row->cfm = between(random, 0, 1);
        set(theirs, dParamVel + group, row->velocity);
        set(theirs, dParamFMax + group, row->max_force);
        set(theirs, dParamCFM + group, row->cfm);
    }
    if (choice & 2) {
        row->low = between(random, -0.5, 0.0);
        row->high = random_uniform(random) < 0.2 ? row->low : between(random, 0.0, 0.5);
        row->stop_erp = random_uniform(random);
        row->stop_cfm = random_uniform(random);
        set(theirs, dParamLoStop + group, row->low);
        set(theirs, dParamHiStop + group, row->high);
        set(theirs, dParamLoStop + group, row->low);
        set(theirs, dParamStopERP + group, row->stop_erp);
        set(theirs, dParamStopCFM + group, row->stop_cfm);
    }
}

static void check_ball(Pair *pair, const int *sides, Random *random)
{
    Constraint ours;
    dJointID theirs = dJointCreateBall(pair->world, NULL);
    make(pair, &ours, CONSTRAINT_BALL, theirs, sides, 0);
    ConstraintPlace place = place_of(pair, sides, random);
    dJointSetBallAnchor(theirs, place.anchor.x, place.anchor.y, place.anchor.z);
    constraint_place(&ours, &place);
    move_pair(pair, random);
    check_rows(pair, &ours, theirs, "ball");
}

// A motor at a stop makes ODE lock a mutex that only a step of its own makes.
static void let_ode_step(const Pair *pair) { dWorldStep(pair->world, 1e-9); }

static void check_hinge(Pair *pair, const int *sides, Random *random)
{
    Constraint ours;
    dJointID theirs = dJointCreateHinge(pair->world, NULL);
    make(pair, &ours, CONSTRAINT_HINGE, theirs, sides, 1);
    ConstraintPlace place = place_of(pair, sides, random);
    dJointSetHingeAnchor(theirs, place.anchor.x, place.anchor.y, place.anchor.z);
    dJointSetHingeAxis(theirs, place.axis.x, place.axis.y, place.axis.z);
    constraint_place(&ours, &place);
    set_axis(&ours, theirs, 0, dJointSetHingeParam, random);
    move_pair(pair, random);
    check_rows(pair, &ours, theirs, "hinge");
}

static void check_slider(Pair *pair, const int *sides, Random *random)
{
    Constraint ours;
    dJointID theirs = dJointCreateSlider(pair->world, NULL);
    make(pair, &ours, CONSTRAINT_SLIDER, theirs, sides, 1);
    ConstraintPlace place = place_of(pair, sides, random);
    dJointSetSliderAxis(theirs, place.axis.x, place.axis.y, place.axis.z);
    constraint_place(&ours, &place);
    set_axis(&ours, theirs, 0, dJointSetSliderParam, random);
    move_pair(pair, random);
    check_rows(pair, &ours, theirs, "slider");
}

static void check_fixed(Pair *pair, const int *sides, Random *random)
{
    Constraint ours;
    dJointID theirs = dJointCreateFixed(pair->world, NULL);
    make(pair, &ours, CONSTRAINT_FIXED, theirs, sides, 0);
    ConstraintPlace place = place_of(pair, sides, random);
    dJointSetFixed(theirs);
    constraint_place(&ours, &place);
    move_pair(pair, random);
    check_rows(pair, &ours, theirs, "fixed");
}

// ODE turns the one body's piston and suspension about when they are attached from the world's side, and gets lost:
// only the other two ways are compared.
static void check_piston(Pair *pair, const int *sides, Random *random)
{
    if (sides[0] < 0)
        return;
    Constraint ours;
    dJointID theirs = dJointCreatePiston(pair->world, NULL);
    make(pair, &ours, CONSTRAINT_PISTON, theirs, sides, 0);
    ConstraintPlace place = place_of(pair, sides, random);
    dJointSetPistonAnchor(theirs, place.anchor.x, place.anchor.y, place.anchor.z);
    dJointSetPistonAxis(theirs, place.axis.x, place.axis.y, place.axis.z);
    constraint_place(&ours, &place);
    move_pair(pair, random);
    check_rows(pair, &ours, theirs, "piston");
}

static void check_suspension(Pair *pair, const int *sides, Random *random)
{
    if (sides[0] < 0)
        return;
    Constraint ours;
    dJointID theirs = dJointCreatePU(pair->world, NULL);
    make(pair, &ours, CONSTRAINT_SUSPENSION, theirs, sides, 0);
    ConstraintPlace place = place_of(pair, sides, random);
    place.second = vec3_orthogonal(place.axis);
    place.slide = direction(random);
    Vec3 between_axes = vec3_cross(place.axis, place.second);
    dJointSetPUAnchor(theirs, place.anchor.x, place.anchor.y, place.anchor.z);
    dJointSetPUAxis1(theirs, between_axes.x, between_axes.y, between_axes.z);
    dJointSetPUAxis2(theirs, place.second.x, place.second.y, place.second.z);
    dJointSetPUAxis1(theirs, place.axis.x, place.axis.y, place.axis.z);
    dJointSetPUAxis3(theirs, place.slide.x, place.slide.y, place.slide.z);
    constraint_place(&ours, &place);
    ours.slide_erp = random_uniform(random);
    ours.slide_cfm = random_uniform(random);
    dJointSetPUParam(theirs, dParamLoStop3, 0.0);
    dJointSetPUParam(theirs, dParamHiStop3, 0.0);
    dJointSetPUParam(theirs, dParamStopERP3, ours.slide_erp);
    dJointSetPUParam(theirs, dParamStopCFM3, ours.slide_cfm);
    ours.locks_first = random_uniform(random) < 0.5;
    if (ours.locks_first) {
        dJointSetPUParam(theirs, dParamLoStop1, 0.0);
        dJointSetPUParam(theirs, dParamHiStop1, 0.0);
    }
    move_pair(pair, random);
    check_rows(pair, &ours, theirs, "suspension");
}

static void check_motor(Pair *pair, const int *sides, bool is_angular, Random *random)
{
    if (sides[0] < 0)
        return;
    Constraint ours;
    dJointID theirs = is_angular ? dJointCreateAMotor(pair->world, NULL) : dJointCreateLMotor(pair->world, NULL);
    int axes = 1 + (int)(random_uniform(random) * 3.0);
    make(pair, &ours, is_angular ? CONSTRAINT_ANGULAR_MOTOR : CONSTRAINT_LINEAR_MOTOR, theirs, sides, axes);
    if (is_angular)
        dJointSetAMotorNumAxes(theirs, axes);
    else
        dJointSetLMotorNumAxes(theirs, axes);
    ConstraintPlace place = place_of(pair, sides, random);
    for (int i = 0; i < axes; i++) {
        int relative = (int)(random_uniform(random) * (sides[1] >= 0 ? 3.0 : 2.0));
        Vec3 axis = direction(random);
        constraint_set_motor_axis(&ours, i, relative, axis, place.side);
        (is_angular ? dJointSetAMotorAxis : dJointSetLMotorAxis)(theirs, i, relative, axis.x, axis.y, axis.z);
        set_axis(&ours, theirs, i, is_angular ? dJointSetAMotorParam : dJointSetLMotorParam, random);
        ours.axes[i].angle = between(random, -1, 1);
        if (is_angular)
            dJointSetAMotorAngle(theirs, i, ours.axes[i].angle);
    }
    move_pair(pair, random);
    check_rows(pair, &ours, theirs, is_angular ? "angular motor" : "linear motor");
}

static void every_kind_has_the_rows_of_ode(void **state)
{
    (void)state;
    dInitODE2(0);
    dAllocateODEDataForThread(dAllocateMaskAll);
    assert_null(ode_layout()->problem);
    Random random;
    random_seed(&random, 7, "constraints");
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < COUNT_OF(attachments); i++) {
            for (int kind = 0; kind < 8; kind++) {
                Pair pair;
                open_pair(&pair, &random);
                let_ode_step(&pair);
                static void (*const checks[])(Pair *, const int *, Random *) = { check_ball,   check_hinge,
                                                                                 check_slider, check_fixed,
                                                                                 check_piston, check_suspension };
                if (kind < COUNT_OF(checks))
                    checks[kind](&pair, attachments[i], &random);
                else
                    check_motor(&pair, attachments[i], kind == COUNT_OF(checks), &random);
                dWorldDestroy(pair.world);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_kind_has_the_rows_of_ode) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
