// Twins: the same ODE world stepped by dWorldStep() and by our solver, for every joint type and most switches of
// bodies.
#include "physics/ode/layout.h"
#include "physics/ode/solver_ode.h"
#include "support/support.h"

#include <math.h>

#define BODIES 16
#define DT 0.004

typedef struct Twin {
    dWorldID world;
    dSpaceID space;
    dJointGroupID group;
    dBodyID bodies[BODIES];
    dJointID joints[BODIES];
    dJointFeedback feedback[BODIES];
    int body_count, joint_count;
    dContact surface;
    bool has_contacts;
    int moved;
} Twin;

static dBodyID box(Twin *t, double x, double y, double z, double mass, double sx, double sy, double sz)
{
    dBodyID body = dBodyCreate(t->world);
    dMass m;
    dMassSetBoxTotal(&m, mass, sx, sy, sz);
    dBodySetMass(body, &m);
    dBodySetPosition(body, x, y, z);
    dGeomSetBody(dCreateBox(t->space, sx, sy, sz), body);
    return t->bodies[t->body_count++] = body;
}

static dBodyID ball(Twin *t, double x, double y, double z, double mass, double radius)
{
    dBodyID body = dBodyCreate(t->world);
    dMass m;
    dMassSetSphereTotal(&m, mass, radius);
    dBodySetMass(body, &m);
    dBodySetPosition(body, x, y, z);
    dGeomSetBody(dCreateSphere(t->space, radius), body);
    return t->bodies[t->body_count++] = body;
}

static dJointID keep(Twin *t, dJointID joint)
{
    dJointSetFeedback(joint, &t->feedback[t->joint_count]);
    return t->joints[t->joint_count++] = joint;
}

static dJointID hinge(Twin *t, dBodyID a, dBodyID b, double x, double y, double z, double ax, double ay, double az)
{
    dJointID joint = keep(t, dJointCreateHinge(t->world, NULL));
    dJointAttach(joint, a, b);
    dJointSetHingeAnchor(joint, x, y, z);
    dJointSetHingeAxis(joint, ax, ay, az);
    return joint;
}

// ---- scenes ----

static void free_bodies(Twin *t)
{
    dBodyID body = box(t, 0, 0, 5, 2, 0.1, 0.3, 0.9);
    dBodySetAngularVel(body, 3, 5, 1);
    body = box(t, 3, 0, 5, 2, 0.1, 0.3, 0.9);
    dBodySetAngularVel(body, 13, 5, 1);
    dBodySetFiniteRotationMode(body, 1);
    dBodySetGravityMode(body, 0);
    body = box(t, 6, 0, 5, 2, 0.1, 0.3, 0.9);
    dBodySetAngularVel(body, 13, 5, 1);
    dBodySetFiniteRotationMode(body, 1);
    dBodySetFiniteRotationAxis(body, 0, 1, 0);
    dBodySetDamping(body, 0.02, 0.03);
    body = box(t, 9, 0, 5, 2, 0.1, 0.3, 0.9);
    dBodySetAngularVel(body, 40, 5, 1);
    dBodySetMaxAngularSpeed(body, 20);
    dBodySetGyroscopicMode(body, 0);
    body = box(t, 12, 0, 5, 2, 0.1, 0.3, 0.9);
    dBodySetLinearVel(body, 1, 2, 3);
    dBodySetKinematic(body);
}

static void pendulum(Twin *t)
{
    dBodyID last = NULL;
    for (int i = 0; i < 6; i++) {
        dBodyID body = box(t, 0.2 * i + 0.1, 0, 2, 0.5, 0.2, 0.04, 0.06);
        hinge(t, body, last, 0.2 * i, 0, 2, i % 2, 1 - i % 2, 0);
        last = body;
    }
}

static void stops_and_motors(Twin *t)
{
    dBodyID base = box(t, 0, 0, 2, 5, 0.4, 0.4, 0.2), arm = box(t, 0.4, 0, 2, 1, 0.4, 0.1, 0.1);
    dBodyID hand = box(t, 0.8, 0, 2, 0.5, 0.4, 0.1, 0.1), tail = box(t, -0.4, 0, 2, 0.5, 0.4, 0.1, 0.1);
    dJointID weld = keep(t, dJointCreateFixed(t->world, NULL));
    dJointAttach(weld, base, NULL);
    dJointSetFixed(weld);
    dJointID joint = hinge(t, arm, base, 0.2, 0, 2, 0, 1, 0);
    dJointSetHingeParam(joint, dParamLoStop, -0.2);
    dJointSetHingeParam(joint, dParamHiStop, 0.2);
    dJointSetHingeParam(joint, dParamBounce, 0.4);
    joint = hinge(t, hand, arm, 0.6, 0, 2, 0, 1, 0);
    dJointSetHingeParam(joint, dParamVel, 1.0);
    dJointSetHingeParam(joint, dParamFMax, 0.6);  // too weak at first: saturates
    joint = hinge(t, tail, base, -0.2, 0, 2, 0, 1, 0);
    dJointSetHingeParam(joint, dParamVel, -2.0);
    dJointSetHingeParam(joint, dParamFMax, 50);
    dJointSetHingeParam(joint, dParamLoStop, -0.3);
    dJointSetHingeParam(joint, dParamHiStop, 0.3);
    dJointSetHingeParam(joint, dParamFudgeFactor, 0.5);
}

static void spring_motors(Twin *t)
{
    dBodyID arm = box(t, 0.3, 0, 2, 1, 0.6, 0.1, 0.1), bob = box(t, 0.6, 0, 1.6, 1, 0.1, 0.1, 0.1);
    hinge(t, arm, NULL, 0, 0, 2, 0, 1, 0);
    dJointID spring = keep(t, dJointCreateAMotor(t->world, NULL));
    dJointAttach(spring, arm, NULL);
    dJointSetAMotorNumAxes(spring, 1);
    dJointSetAMotorAxis(spring, 0, 0, 0, 1, 0);
    dJointSetAMotorParam(spring, dParamLoStop, 0);
    dJointSetAMotorParam(spring, dParamHiStop, 0);
    dJointSetAMotorParam(spring, dParamStopERP, 0.3);
    dJointSetAMotorParam(spring, dParamStopCFM, 0.05);
    dJointID slider = keep(t, dJointCreateSlider(t->world, NULL));
    dJointAttach(slider, bob, arm);
    dJointSetSliderAxis(slider, 0, 0, 1);
    dJointID damper = keep(t, dJointCreateLMotor(t->world, NULL));
    dJointAttach(damper, bob, arm);
    dJointSetLMotorNumAxes(damper, 1);
    dJointSetLMotorAxis(damper, 0, 1, 0, 0, 1);
    dJointSetLMotorParam(damper, dParamFMax, 4);
    dJointSetLMotorParam(damper, dParamVel, 0);
}

static void all_types(Twin *t)
{
    dBodyID base = box(t, 0, 0, 3, 20, 1, 1, 0.2);
    dBodyID parts[9];
    for (int i = 0; i < 9; i++)
        parts[i] = box(t, 0.7 * cos(0.7 * i), 0.7 * sin(0.7 * i), 2.7, 0.5 + 0.1 * i, 0.2, 0.15, 0.1);
    dJointID joint = keep(t, dJointCreateBall(t->world, NULL));
    dJointAttach(joint, parts[0], base);
    dJointSetBallAnchor(joint, 0.6, 0, 2.9);
    joint = keep(t, dJointCreateUniversal(t->world, NULL));
    dJointAttach(joint, parts[1], base);
    dJointSetUniversalAnchor(joint, 0.5, 0.4, 2.8);
    dJointSetUniversalAxis1(joint, 1, 0, 0);
    dJointSetUniversalAxis2(joint, 0, 1, 0);
    dJointSetUniversalParam(joint, dParamVel2, 1);
    dJointSetUniversalParam(joint, dParamFMax2, 0.3);
    joint = keep(t, dJointCreateHinge2(t->world, NULL));
    dJointAttach(joint, base, parts[2]);
    dJointSetHinge2Anchor(joint, 0.1, 0.7, 2.7);
    dVector3 up = { 0, 0, 1 }, side = { 0, 1, 0 };
    dJointSetHinge2Axes(joint, up, side);
    dJointSetHinge2Param(joint, dParamSuspensionERP, 0.4);
    dJointSetHinge2Param(joint, dParamSuspensionCFM, 0.01);
    dJointSetHinge2Param(joint, dParamVel2, 2);
    dJointSetHinge2Param(joint, dParamFMax2, 1);
    joint = keep(t, dJointCreatePR(t->world, NULL));
    dJointAttach(joint, base, parts[3]);
    dJointSetPRAxis1(joint, 0, 0, 1);
    dJointSetPRAxis2(joint, 1, 0, 0);
    dJointSetPRAnchor(joint, -0.3, 0.6, 2.8);
    joint = keep(t, dJointCreatePU(t->world, NULL));
    dJointAttach(joint, base, parts[4]);
    dJointSetPUAnchor(joint, -0.65, 0.2, 2.8);
    dJointSetPUAxis1(joint, 1, 0, 0);
    dJointSetPUAxis2(joint, 0, 1, 0);
    dJointSetPUAxisP(joint, 0, 0, 1);
    joint = keep(t, dJointCreatePiston(t->world, NULL));
    dJointAttach(joint, base, parts[5]);
    dJointSetPistonAnchor(joint, -0.65, -0.25, 2.8);
    dJointSetPistonAxis(joint, 0, 0, 1);
    dJointSetPistonParam(joint, dParamFMax, 3);
    joint = keep(t, dJointCreateDBall(t->world, NULL));
    dJointAttach(joint, parts[6], base);
    dJointSetDBallAnchor1(joint, -0.34, -0.61, 2.7);
    dJointSetDBallAnchor2(joint, -0.3, -0.4, 3);
    joint = keep(t, dJointCreateDHinge(t->world, NULL));
    dJointAttach(joint, parts[7], base);
    dJointSetDHingeAxis(joint, 0, 1, 0);
    dJointSetDHingeAnchor1(joint, 0.13, -0.69, 2.7);
    dJointSetDHingeAnchor2(joint, 0.13, -0.4, 3);
    joint = keep(t, dJointCreateBall(t->world, NULL));
    dJointAttach(joint, parts[8], base);
    dJointSetBallAnchor(joint, 0.5, -0.5, 2.8);
    joint = keep(t, dJointCreateAMotor(t->world, NULL));
    dJointAttach(joint, parts[8], base);
    dJointSetAMotorMode(joint, dAMotorEuler);
    dJointSetAMotorAxis(joint, 0, 1, 1, 0, 0);
    dJointSetAMotorAxis(joint, 2, 2, 0, 0, 1);
    for (int i = 0; i < 3; i++) {
        dJointSetAMotorParam(joint, dParamFMax + dParamGroup * i, 0.4);
        dJointSetAMotorParam(joint, dParamVel + dParamGroup * i, 0.5 * i);
    }
    dJointID flat = keep(t, dJointCreatePlane2D(t->world, NULL));
    dJointAttach(flat, box(t, 5, 0, 0, 1, 0.2, 0.2, 0.2), NULL);
    dBodySetLinearVel(t->bodies[t->body_count - 1], 1, 0.5, 0);
}

static void gears(Twin *t)
{
    dBodyID a = ball(t, 0, 0, 2, 1, 0.2), b = ball(t, 1, 0, 2, 2, 0.3);
    hinge(t, a, NULL, 0, 0, 2, 0, 0, 1);
    hinge(t, b, NULL, 1, 0, 2, 0, 0, 1);
    dJointID joint = keep(t, dJointCreateTransmission(t->world, NULL));
    dJointAttach(joint, a, b);
    dJointSetTransmissionMode(joint, dTransmissionParallelAxes);
    dJointSetTransmissionAnchor1(joint, 0, 0, 2);
    dJointSetTransmissionAnchor2(joint, 1, 0, 2);
    dJointSetTransmissionAxis(joint, 0, 0, 1);
    dJointSetTransmissionRatio(joint, 2);
    dBodySetAngularVel(a, 0, 0, 3);
}

static void loop(Twin *t)
{
    dBodyID bars[3];
    bars[0] = box(t, 0, 0, 1.75, 1, 0.05, 0.05, 0.5);
    bars[1] = box(t, 0.5, 0, 1.5, 1, 1.0, 0.05, 0.05);
    bars[2] = box(t, 1, 0, 1.75, 1, 0.05, 0.05, 0.5);
    hinge(t, bars[0], NULL, 0, 0, 2, 0, 1, 0);
    hinge(t, bars[1], bars[0], 0, 0, 1.5, 0, 1, 0);
    hinge(t, bars[2], bars[1], 1, 0, 1.5, 0, 1, 0);
    hinge(t, bars[2], NULL, 1, 0, 2, 0, 1, 0);
    dBodySetLinearVel(bars[1], 0.3, 0, 0);
}

static void dragged(Twin *t)
{
    dBodyID hand = box(t, 0, 0, 3, 1, 0.1, 0.1, 0.1), load = box(t, 0, 0, 2.5, 1, 0.1, 0.1, 0.5);
    dBodySetKinematic(hand);
    dBodySetLinearVel(hand, 0.5, 0, 0.2);
    dBodySetAngularVel(hand, 0, 0, 1);
    hinge(t, load, hand, 0, 0, 2.8, 0, 1, 0);
}

static void contacts(Twin *t, double mu, int mode)
{
    t->has_contacts = true;
    dCreatePlane(t->space, 0, 0, 1, 0);
    t->surface.surface.mode = mode;
    t->surface.surface.mu = mu;
}

static void resting_box(Twin *t)
{
    contacts(t, 0.7, dContactApprox1 | dContactSoftERP | dContactSoftCFM);
    t->surface.surface.soft_erp = 0.3;
    t->surface.surface.soft_cfm = 1e-4;
    box(t, 0, 0, 0.1, 3, 0.4, 0.3, 0.2);
}

static void sliding_box(Twin *t)
{
    contacts(t, 0.3, dContactApprox1);
    dBodySetLinearVel(box(t, 0, 0, 0.0999, 3, 0.4, 0.3, 0.2), 1.5, 0.7, 0);
}

static void bouncing_ball(Twin *t)
{
    contacts(t, 0.5, dContactApprox1 | dContactBounce);
    t->surface.surface.bounce = 0.6;
    t->surface.surface.bounce_vel = 0.05;
    dBodySetAngularVel(ball(t, 0, 0, 0.3, 1, 0.1), 5, 0, 0);
}

static void rolling_ball(Twin *t)
{
    contacts(t, 0.6, dContactApprox1 | dContactRolling | dContactSlip1 | dContactSlip2 | dContactMotion1);
    t->surface.surface.rho = 0.01;
    t->surface.surface.slip1 = 0.01;
    t->surface.surface.slip2 = 0.02;
    t->surface.surface.motion1 = 0.1;
    dBodyID body = ball(t, 0, 0, 0.0999, 1, 0.1);
    dBodySetLinearVel(body, 1, 0, 0);
    dBodySetAngularVel(body, 0, 10, 3);
}

static void fixed_force_friction(Twin *t)
{
    contacts(t, 2.0, dContactMu2);  // no Approx1: mu and mu2 are forces
    t->surface.surface.mu2 = 1.0;
    dBodySetLinearVel(box(t, 0, 0, 0.0999, 1, 0.4, 0.3, 0.2), 0.5, 0.5, 0);
}

static void rover(Twin *t)
{
    contacts(t, 0.7, dContactApprox1 | dContactSoftERP | dContactSoftCFM);
    t->surface.surface.soft_erp = 0.3;
    t->surface.surface.soft_cfm = 1e-4;
    dBodyID chassis = box(t, 0, 0, 0.4, 10, 1, 0.5, 0.2);
    for (int i = 0; i < 4; i++) {
        double x = i & 1 ? 0.4 : -0.4, y = i & 2 ? 0.35 : -0.35;
        dBodyID wheel = ball(t, x, y, 0.2, 1, 0.2);
        dJointID joint = keep(t, dJointCreateHinge2(t->world, NULL));
        dVector3 up = { 0, 0, 1 }, side = { 0, 1, 0 };
        dJointAttach(joint, chassis, wheel);
        dJointSetHinge2Anchor(joint, x, y, 0.2);
        dJointSetHinge2Axes(joint, up, side);
        dJointSetHinge2Param(joint, dParamLoStop, 0);
        dJointSetHinge2Param(joint, dParamHiStop, 0);
        dJointSetHinge2Param(joint, dParamVel2, -4);
        dJointSetHinge2Param(joint, dParamFMax2, 1.5);
        dJointSetHinge2Param(joint, dParamSuspensionERP, 0.4);
        dJointSetHinge2Param(joint, dParamSuspensionCFM, 2e-3);
    }
    dBodyID mast = box(t, 0, 0, 0.8, 2, 0.1, 0.1, 0.5), head = box(t, 0, 0, 1.15, 0.5, 0.15, 0.15, 0.1);
    dJointID joint = keep(t, dJointCreateSlider(t->world, NULL));
    dJointAttach(joint, mast, chassis);
    dJointSetSliderAxis(joint, 0, 0, 1);
    dJointSetSliderParam(joint, dParamVel, 0.2);
    dJointSetSliderParam(joint, dParamFMax, 80);
    joint = keep(t, dJointCreateFixed(t->world, NULL));
    dJointAttach(joint, head, mast);
    dJointSetFixed(joint);
}

static const struct TwinScene {
    const char *name;
    void (*build)(Twin *t);
    double tolerance;
    int steps;
    double force_tolerance;
} scenes[] = {
    { "free bodies", free_bodies, 1e-9, 100, 1e-6 },
    { "pendulum", pendulum, 1e-6, 100, 1e-3 },
    { "stops and motors", stops_and_motors, 1e-6, 100, 1e-3 },
    { "spring motors", spring_motors, 1e-6, 100, 1e-3 },
    { "all joint types", all_types, 1e-6, 100, 1e-3 },
    { "gears", gears, 1e-6, 100, 1e-3 },
    { "loop", loop, 1e-6, 100, 1e-3 },
    { "dragged by a kinematic body", dragged, 1e-6, 100, 1e-3 },
    { "resting box", resting_box, 1e-6, 100, 1e-3 },
    { "sliding box", sliding_box, 1e-6, 100, 1e-3 },
    { "bouncing ball", bouncing_ball, 1e-6, 100, 1e-3 },
    { "rolling ball", rolling_ball, 1e-6, 100, 1e-3 },
    { "friction of fixed force", fixed_force_friction, 1e-6, 100, 1e-3 },
    { "rover", rover, 1e-6, 100, 1e-3 },
};

// ---- running ----

static void count_moved(dBodyID body) { ((Twin *)dBodyGetData(body))->moved++; }

static void twin_open(Twin *t, const struct TwinScene *scene)
{
    memset(t, 0, sizeof *t);
    t->world = dWorldCreate();
    t->space = dSimpleSpaceCreate(NULL);
    t->group = dJointGroupCreate(0);
    dWorldSetGravity(t->world, 0, 0, -9.81);
    dWorldSetERP(t->world, 0.2);
    dWorldSetCFM(t->world, 1e-5);
    dWorldSetContactSurfaceLayer(t->world, 0.001);
    scene->build(t);
    dBodySetData(t->bodies[0], t);
    dBodySetMovedCallback(t->bodies[0], count_moved);
}

static void twin_close(Twin *t)
{
    dJointGroupDestroy(t->group);
    dSpaceDestroy(t->space);
    dWorldDestroy(t->world);
}

static void near_callback(void *data, dGeomID a, dGeomID b)
{
    Twin *t = data;
    dBodyID x = dGeomGetBody(a), y = dGeomGetBody(b);
    if (x && y && dAreConnectedExcluding(x, y, dJointTypeContact))
        return;
    dContact contact[4];
    int count = dCollide(a, b, 4, &contact[0].geom, sizeof(dContact));
    for (int i = 0; i < count; i++) {
        contact[i].surface = t->surface.surface;
        dJointAttach(dJointCreateContact(t->world, t->group, &contact[i]), x, y);
    }
}

static void collide(Twin *t)
{
    dJointGroupEmpty(t->group);
    if (t->has_contacts)
        dSpaceCollide(t->space, t, near_callback);
}

static double worst_body(const Twin *a, const Twin *b)
{
    double worst = 0.0;
    for (int i = 0; i < a->body_count; i++) {
        const dReal *p = dBodyGetPosition(a->bodies[i]), *q = dBodyGetPosition(b->bodies[i]);
        const dReal *r = dBodyGetRotation(a->bodies[i]), *s = dBodyGetRotation(b->bodies[i]);
        for (int k = 0; k < 3; k++)
            worst = fmax(worst, fabs(p[k] - q[k]));
        for (int k = 0; k < 12; k++)
            worst = fmax(worst, k % 4 == 3 ? 0.0 : fabs(r[k] - s[k]));
        if (!isfinite(q[0]))
            return INFINITY;
    }
    return worst;
}

static double worst_speed(const Twin *a, const Twin *b)
{
    double worst = 0.0;
    for (int i = 0; i < a->body_count; i++)
        for (int k = 0; k < 3; k++) {
            worst = fmax(worst, fabs(dBodyGetLinearVel(a->bodies[i])[k] - dBodyGetLinearVel(b->bodies[i])[k]));
            worst = fmax(worst, fabs(dBodyGetAngularVel(a->bodies[i])[k] - dBodyGetAngularVel(b->bodies[i])[k]));
        }
    return worst;
}

// Relative to the largest force of the joint set.
static double worst_feedback(const Twin *a, const Twin *b)
{
    double worst = 0.0, scale = 1.0;
    for (int i = 0; i < a->joint_count; i++) {
        const dReal *x = a->feedback[i].f1, *y = b->feedback[i].f1;
        const dReal *u = a->feedback[i].t2, *v = b->feedback[i].t2;
        for (int k = 0; k < 3; k++) {
            scale = fmax(scale, fabs(x[k]));
            worst = fmax(worst, fabs(x[k] - y[k]));
            if (dJointGetBody(a->joints[i], 1))  // without one ODE leaves what stood there
                worst = fmax(worst, fabs(u[k] - v[k]));
        }
    }
    return worst / scale;
}

static void test_twins(void **state)
{
    (void)state;
    assert_null(solver_ode_problem());
    for (int i = 0; i < COUNT_OF(scenes); i++) {
        static Twin reference, ours;
        twin_open(&reference, &scenes[i]);
        twin_open(&ours, &scenes[i]);
        SolverOde *solver = solver_ode_create(ours.world, NULL);
        double worst = 0.0, worst_force = 0.0;
        for (int step = 0; step < scenes[i].steps; step++) {
            collide(&reference);
            dWorldStep(reference.world, DT);
            collide(&ours);
            solver_ode_step(solver, DT);
            worst_force = fmax(worst_force, worst_feedback(&reference, &ours));
            worst = worst_body(&reference, &ours);
        }
        print_message("%-28s state %.2e feedback %.2e\n", scenes[i].name, worst, worst_force);
        CHECK(worst <= scenes[i].tolerance, scenes[i].name);
        CHECK(worst_force <= scenes[i].force_tolerance, scenes[i].name);
        CHECK(ours.moved == reference.moved && ours.moved == scenes[i].steps, scenes[i].name);
        solver_ode_destroy(solver);
        twin_close(&reference);
        twin_close(&ours);
    }
}

// Falling asleep, waking through a joint or a contact, and being left alone meanwhile.
static void test_sleep(void **state)
{
    (void)state;
    static const struct TwinScene scene = { .build = resting_box };
    static Twin twins[2];
    SolverOde *solver = NULL;
    for (int k = 0; k < 2; k++) {
        twin_open(&twins[k], &scene);
        dWorldSetAutoDisableFlag(twins[k].world, 1);
        dBodySetAutoDisableFlag(twins[k].bodies[0], 1);
        dBodySetAutoDisableTime(twins[k].bodies[0], 0.1);
        dBodySetAutoDisableSteps(twins[k].bodies[0], 3);
        dBodySetAutoDisableLinearThreshold(twins[k].bodies[0], 0.01);
        dBodySetAutoDisableAngularThreshold(twins[k].bodies[0], 0.01);
        dBodySetLinearVel(twins[k].bodies[0], 0.3, 0, 0);  // until it stops, ODE's counters are those of its creation
    }
    solver = solver_ode_create(twins[1].world, NULL);
    int asleep[2] = { -1, -1 };
    for (int step = 0; step < 200; step++) {
        for (int k = 0; k < 2; k++) {
            collide(&twins[k]);
            if (k)
                solver_ode_step(solver, DT);
            else
                dWorldStep(twins[k].world, DT);
            if (asleep[k] < 0 && !dBodyIsEnabled(twins[k].bodies[0]))
                asleep[k] = step;
        }
    }
    assert_true(asleep[0] > 0);
    assert_int_equal(asleep[0], asleep[1]);
    dBodyID visitor = ball(&twins[1], 0, 0, 0.35, 1, 0.1);
    dBodySetLinearVel(visitor, 0, 0, -1);
    bool slept_before_touch = true, woke = false;
    for (int step = 0; step < 60; step++) {
        collide(&twins[1]);
        solver_ode_step(solver, DT);
        slept_before_touch &= step > 5 || !dBodyIsEnabled(twins[1].bodies[0]);
        woke |= dBodyIsEnabled(twins[1].bodies[0]) != 0;
    }
    assert_true(slept_before_touch && woke);
    assert_true(dBodyGetPosition(visitor)[2] > 0.28);
    solver_ode_destroy(solver);
    twin_close(&twins[0]);
    twin_close(&twins[1]);
}

// Bodies and joints that come and go between steps, and forces given through ODE.
static void test_changes(void **state)
{
    (void)state;
    static const struct TwinScene scene = { .build = pendulum };
    static Twin twins[2];
    for (int k = 0; k < 2; k++)
        twin_open(&twins[k], &scene);
    SolverOde *solver = solver_ode_create(twins[1].world, NULL);
    for (int step = 0; step < 120; step++) {
        for (int k = 0; k < 2; k++) {
            Twin *t = &twins[k];
            if (step == 30)
                dJointDestroy(t->joints[--t->joint_count]);
            if (step == 50)
                dBodyDestroy(t->bodies[--t->body_count]);
            if (step == 60)
                box(t, 3, 3, 3, 1, 0.1, 0.1, 0.1);
            if (step == 70)
                dJointDisable(t->joints[1]);
            if (step == 90)
                dJointEnable(t->joints[1]);
            dBodyAddForce(t->bodies[2], 0, 3, 1);
            dBodyAddRelTorque(t->bodies[1], 0.1, 0, 0.2);
            if (k)
                solver_ode_step(solver, DT);
            else
                dWorldStep(t->world, DT);
        }
    }
    CHECK_NEAR(worst_body(&twins[0], &twins[1]), 0.0, 1e-6, "after changes");
    solver_ode_destroy(solver);
    twin_close(&twins[0]);
    twin_close(&twins[1]);
}

// What a plugin may do between two steps, each on its own: it acts in the very next one, as with dWorldStep.
static void do_force(Twin *t) { dBodyAddForceAtRelPos(t->bodies[3], 0, 5, 0, 0.1, 0, 0); }
static void do_velocity(Twin *t)
{
    dBodySetLinearVel(t->bodies[4], 0, 0.4, 0.1);
    dBodySetAngularVel(t->bodies[2], 0, 1, 0);
}
static void do_pose(Twin *t)
{
    dQuaternion turned = { 0.99875026, 0.04997917, 0, 0 };
    const dReal *p = dBodyGetPosition(t->bodies[5]);
    dBodySetPosition(t->bodies[5], p[0] + 0.01, p[1], p[2] - 0.02);
    dBodySetQuaternion(t->bodies[5], turned);
}
static void do_gravity(Twin *t)
{
    dBodySetGravityMode(t->bodies[5], 0);
    dWorldSetGravity(t->world, 0, 1, -3);
}
static void do_damping(Twin *t)
{
    dBodySetDamping(t->bodies[5], 0.1, 0.2);
    dBodySetMaxAngularSpeed(t->bodies[4], 0.5);
}
static void do_kinematic(Twin *t)
{
    dBodySetKinematic(t->bodies[3]);
    dBodySetLinearVel(t->bodies[3], 0.1, 0, 0.1);
}
static void do_dynamic(Twin *t)
{
    dBodySetKinematic(t->bodies[0]);
    dMass m;
    dMassSetBoxTotal(&m, 2.0, 0.2, 0.1, 0.1);
    dBodySetMass(t->bodies[0], &m);  // moves again, heavier
}
static void do_disable(Twin *t)
{
    for (int i = 0; i < t->body_count; i++)
        dBodyDisable(t->bodies[i]);
}
static void do_parameters(Twin *t)
{
    dJointSetHingeParam(t->joints[2], dParamVel, 2);
    dJointSetHingeParam(t->joints[2], dParamFMax, 1);
    dJointSetHingeParam(t->joints[4], dParamLoStop, -0.1);
    dJointSetHingeParam(t->joints[4], dParamHiStop, 0.1);
}
static void do_world(Twin *t)
{
    dWorldSetERP(t->world, 0.5);
    dWorldSetCFM(t->world, 1e-3);
}
static void do_attach(Twin *t)
{
    dJointAttach(t->joints[5], t->bodies[5], NULL);
    dJointSetHingeAnchor(t->joints[5], 1, 0, 2);
}
static void do_torque_joint(Twin *t) { dJointAddHingeTorque(t->joints[1], 0.3); }
static void do_new_joint(Twin *t)
{
    dJointID ball_joint = keep(t, dJointCreateBall(t->world, NULL));
    dJointAttach(ball_joint, t->bodies[5], NULL);
    const dReal *p = dBodyGetPosition(t->bodies[5]);
    dJointSetBallAnchor(ball_joint, p[0], p[1], p[2]);
}
static void do_contact(Twin *t)
{
    const dReal *p = dBodyGetPosition(t->bodies[4]);
    dContact contact = { .surface = { .mode = dContactApprox1, .mu = 0.5 },
                         .geom = { .pos = { p[0], p[1], p[2] }, .normal = { 0, 0, 1 }, .depth = 0.004 } };
    dJointAttach(dJointCreateContact(t->world, t->group, &contact), t->bodies[4], NULL);
}

static const struct {
    const char *name;
    void (*act)(Twin *t);
} acts[] = {
    { "force at a point", do_force },
    { "velocities", do_velocity },
    { "pose", do_pose },
    { "gravity", do_gravity },
    { "damping and speed limit", do_damping },
    { "kinematic", do_kinematic },
    { "new mass", do_dynamic },
    { "all disabled", do_disable },
    { "motor and stops", do_parameters },
    { "ERP and CFM", do_world },
    { "attached anew", do_attach },
    { "torque by the joint", do_torque_joint },
    { "joint made between steps", do_new_joint },
    { "contact joint of a plugin", do_contact },
};

static void test_acts(void **state)
{
    (void)state;
    static const struct TwinScene scene = { .build = pendulum };
    for (int i = 0; i < COUNT_OF(acts); i++) {
        static Twin twins[3];  // by dWorldStep, by ours, and untouched by ours
        SolverOde *solvers[3] = { NULL };
        for (int k = 0; k < 3; k++) {
            twin_open(&twins[k], &scene);
            if (k)
                solvers[k] = solver_ode_create(twins[k].world, NULL);
        }
        double difference = 0.0, acted = 0.0, force = 0.0;
        for (int step = 0; step < 60; step++) {
            for (int k = 0; k < 3; k++) {
                collide(&twins[k]);
                if (step == 30 && k < 2)
                    acts[i].act(&twins[k]);
                if (k)
                    solver_ode_step(solvers[k], DT);
                else
                    dWorldStep(twins[k].world, DT);
            }
            difference = fmax(difference, worst_body(&twins[0], &twins[1]));
            force = fmax(force, worst_feedback(&twins[0], &twins[1]));
            if (step == 30)
                acted = fmax(worst_body(&twins[1], &twins[2]), worst_speed(&twins[1], &twins[2]));
        }
        CHECK(acted > 1e-9, acts[i].name);  // in that same step
        CHECK_NEAR(difference, 0.0, 1e-6, acts[i].name);
        CHECK_NEAR(force, 0.0, 1e-3, acts[i].name);
        for (int k = 0; k < 3; k++) {
            solver_ode_destroy(solvers[k]);
            twin_close(&twins[k]);
        }
    }
}

// A library whose inside is not as expected is not touched: there is no solver, and a reason.
static void test_unreadable(void **state)
{
    (void)state;
    dWorldID world = dWorldCreate();
    ode_layout_pretend("its lists of bodies and joints were not found");
    assert_null(solver_ode_create(world, NULL));
    assert_string_equal(solver_ode_problem(), "its lists of bodies and joints were not found");
    ode_layout_pretend(NULL);
    assert_null(solver_ode_problem());
    dWorldDestroy(world);
}

int main(void)
{
    dInitODE2(0);
    dAllocateODEDataForThread(dAllocateMaskAll);
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_twins), cmocka_unit_test(test_sleep),
                                        cmocka_unit_test(test_changes), cmocka_unit_test(test_acts),
                                        cmocka_unit_test(test_unreadable) };
    int result = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return result;
}
