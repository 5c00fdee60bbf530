// Whatever a plugin does through ODE acts in the very next step: random acts on two copies of a world, one stepped by
// dWorldStep() and one by our solver. Each run prints its seed and what it did when they part.
//
// What is judged is one step from one state: after each the second copy takes over where the first one's bodies are and
// how they move. Left alone the two part by up to a hundredfold a step where chains contradict each other or corners
// strike the ground, so that rounding, which is another on every machine, would decide. What the solver remembers stays
// its own. Random numbers are drawn in statements of their own: every compiler makes the same run of a seed.
#include "base/random.h"
#include "physics/ode/solver_ode.h"
#include "support/support.h"

#include <math.h>

#define BODIES 12
#define JOINTS 24
#define DT 0.004
#define LIMIT 1e-6  // of a step

typedef struct Copy {
    dWorldID world;
    dSpaceID space;
    dJointGroupID contacts, group;
    dBodyID bodies[BODIES];  // NULL: a free place
    dGeomID geoms[BODIES];   // of the body at its making; may have been given to another
    dJointID joints[JOINTS];
    bool is_grouped[JOINTS];  // in `group`
    dJointFeedback feedback[JOINTS];
    int moved;
    Random random;
} Copy;

static int pick(Copy *c, int count) { return (int)(random_uniform(&c->random) * count); }

static double between(Copy *c, double low, double high) { return low + (high - low) * random_uniform(&c->random); }

static void draw(Copy *c, double low, double high, double values[3])
{
    for (int i = 0; i < 3; i++)
        values[i] = between(c, low, high);
}

static int pick_body(Copy *c)
{
    int at = pick(c, BODIES);
    for (int i = 0; i < BODIES; i++)
        if (c->bodies[(at + i) % BODIES])
            return (at + i) % BODIES;
    return -1;
}

static dBodyID any_body(Copy *c) { return c->bodies[pick_body(c)]; }

static int pick_joint(Copy *c)
{
    int at = pick(c, JOINTS);
    for (int i = 0; i < JOINTS; i++)
        if (c->joints[(at + i) % JOINTS])
            return (at + i) % JOINTS;
    return -1;
}

// ---- making ----

static void count_moved(dBodyID body)
{
    (*(int *)dBodyGetData(body))++;
    dBodyAddForce(body, 0, 0, 100);  // lost with the forces of the step, in ODE as here
}

static void body_make(Copy *c, int at)
{
    double x = 0.5 * (at % 4) + between(c, -0.05, 0.05), y = 0.5 * (at / 4), z = between(c, 0.05, 1.2);
    double size[3];
    draw(c, 0.1, 0.3, size);
    dBodyID body = c->bodies[at] = dBodyCreate(c->world);
    dMass mass;
    dMassSetBoxTotal(&mass, between(c, 0.2, 3.0), size[0], size[1], size[2]);
    dBodySetMass(body, &mass);
    dMatrix3 tilt;  // so that no two corners are equally deep, where rounding would choose between them
    dRFromAxisAndAngle(tilt, 0.6, 0.8, 0.1, between(c, 0.02, 0.2));
    dBodySetPosition(body, x, y, z);
    dBodySetRotation(body, tilt);
    dBodySetData(body, &c->moved);
    c->geoms[at] = at % 2 ? dCreateSphere(c->space, size[0]) : dCreateBox(c->space, size[0], size[1], size[2]);
    dGeomSetBody(c->geoms[at], body);
}

static void make_body(Copy *c)
{
    for (int i = 0; i < BODIES; i++)
        if (!c->bodies[i]) {
            body_make(c, i);
            return;
        }
}

static void body_unmake(Copy *c, int at)
{
    for (int i = 0; i < BODIES; i++)
        if (c->geoms[i] && dGeomGetBody(c->geoms[i]) == c->bodies[at]) {
            dGeomDestroy(c->geoms[i]);
            c->geoms[i] = NULL;
        }
    dBodyDestroy(c->bodies[at]);  // joints stay, attached to what is left
    c->bodies[at] = NULL;
}

static void destroy_body(Copy *c) { body_unmake(c, pick_body(c)); }

// The allocator likes to give the same address again: the new body is another one all the same.
static void replace_body(Copy *c)
{
    int at = pick_body(c);
    body_unmake(c, at);
    body_make(c, at);
}

typedef dJointID (*MakeJoint)(dWorldID world, dJointGroupID group);
static const MakeJoint makers[] = {
    dJointCreateBall,   dJointCreateHinge,  dJointCreateSlider,       dJointCreateUniversal,
    dJointCreateHinge2, dJointCreateFixed,  dJointCreatePR,           dJointCreatePU,
    dJointCreatePiston, dJointCreateAMotor, dJointCreateLMotor,       dJointCreatePlane2D,
    dJointCreateDBall,  dJointCreateDHinge, dJointCreateTransmission, dJointCreateNull,
};

static void joint_place(dJointID joint, double x, double y, double z)
{
    dVector3 up = { 0, 0, 1 }, side = { 0, 1, 0 };
    switch (dJointGetType(joint)) {
    case dJointTypeBall: dJointSetBallAnchor(joint, x, y, z); break;
    case dJointTypeHinge:
        dJointSetHingeAnchor(joint, x, y, z);
        dJointSetHingeAxis(joint, 0, 1, 0);
        break;
    case dJointTypeSlider: dJointSetSliderAxis(joint, 0, 0, 1); break;
    case dJointTypeUniversal:
        dJointSetUniversalAnchor(joint, x, y, z);
        dJointSetUniversalAxis1(joint, 1, 0, 0);
        dJointSetUniversalAxis2(joint, 0, 1, 0);
        break;
    case dJointTypeHinge2:
        dJointSetHinge2Anchor(joint, x, y, z);
        dJointSetHinge2Axes(joint, up, side);
        break;
    case dJointTypeFixed: dJointSetFixed(joint); break;
    case dJointTypePR:
        dJointSetPRAxis1(joint, 0, 0, 1);
        dJointSetPRAxis2(joint, 1, 0, 0);
        dJointSetPRAnchor(joint, x, y, z);
        break;
    case dJointTypePU:
        dJointSetPUAnchor(joint, x, y, z);
        dJointSetPUAxis1(joint, 1, 0, 0);
        dJointSetPUAxis2(joint, 0, 1, 0);
        dJointSetPUAxisP(joint, 0, 0, 1);
        break;
    case dJointTypePiston:
        dJointSetPistonAnchor(joint, x, y, z);
        dJointSetPistonAxis(joint, 0, 0, 1);
        break;
    case dJointTypeAMotor:
        dJointSetAMotorNumAxes(joint, 2);
        dJointSetAMotorAxis(joint, 0, 0, 1, 0, 0);
        dJointSetAMotorAxis(joint, 1, 0, 0, 1, 0);
        break;
    case dJointTypeLMotor:
        dJointSetLMotorNumAxes(joint, 2);
        dJointSetLMotorAxis(joint, 0, 0, 1, 0, 0);
        dJointSetLMotorAxis(joint, 1, 0, 0, 0, 1);
        break;
    case dJointTypeDBall:
        dJointSetDBallAnchor1(joint, x, y, z);
        dJointSetDBallAnchor2(joint, x + 0.2, y, z + 0.1);
        break;
    case dJointTypeDHinge:
        dJointSetDHingeAxis(joint, 0, 1, 0);
        dJointSetDHingeAnchor1(joint, x, y, z);
        dJointSetDHingeAnchor2(joint, x + 0.2, y, z + 0.1);
        break;
    case dJointTypeTransmission:
        dJointSetTransmissionMode(joint, dTransmissionParallelAxes);
        dJointSetTransmissionAnchor1(joint, x, y, z);
        dJointSetTransmissionAnchor2(joint, x + 0.3, y, z);
        dJointSetTransmissionAxis(joint, 0, 1, 0);
        dJointSetTransmissionRatio(joint, 1.5);
        break;
    default: break;
    }
}

static void joint_attach(Copy *c, int at)
{
    dJointID joint = c->joints[at];
    int type = dJointGetType(joint);
    int a = pick_body(c), b = pick_body(c);
    dBodyID second = a == b || pick(c, 3) == 0 ? NULL : c->bodies[b];
    bool needs_two = type == dJointTypeTransmission || type == dJointTypeDBall || type == dJointTypeDHinge
                     || type == dJointTypeHinge2;
    if ((needs_two && (a == b || !second)) || type == dJointTypePlane2D)
        second = type == dJointTypePlane2D ? NULL : c->bodies[(a + 1) % BODIES];
    const dReal *p = dBodyGetPosition(c->bodies[a]);
    dVector3 middle = { p[0], p[1], p[2] + 0.1 };
    if (needs_two && !second)
        return;
    // With nothing first ODE turns the joint round.
    if (!second && type != dJointTypePlane2D && pick(c, 2))
        dJointAttach(joint, NULL, c->bodies[a]);
    else
        dJointAttach(joint, c->bodies[a], second);
    joint_place(joint, middle[0], middle[1], middle[2]);
}

static void make_joint(Copy *c)
{
    for (int i = 0; i < JOINTS; i++) {
        if (c->joints[i])
            continue;
        c->is_grouped[i] = pick(c, 3) == 0;
        c->joints[i] = makers[pick(c, COUNT_OF(makers))](c->world, c->is_grouped[i] ? c->group : NULL);
        if (pick(c, 2))
            dJointSetFeedback(c->joints[i], &c->feedback[i]);
        joint_attach(c, i);
        return;
    }
}

static void destroy_joint(Copy *c)
{
    int at = pick_joint(c);
    if (at < 0 || c->is_grouped[at])
        return;
    dJointDestroy(c->joints[at]);
    c->joints[at] = NULL;
}

static void replace_joint(Copy *c)
{
    destroy_joint(c);
    make_joint(c);
}

static void empty_group(Copy *c)
{
    dJointGroupEmpty(c->group);
    for (int i = 0; i < JOINTS; i++)
        if (c->is_grouped[i])
            c->joints[i] = NULL, c->is_grouped[i] = false;
}

// ---- acts on bodies ----

static void push(Copy *c)
{
    dBodyID b = any_body(c);
    double force[3];
    draw(c, -9, 9, force);
    dBodyAddForceAtRelPos(b, force[0], force[1], force[2], 0.1, 0, 0.05);
    dBodyAddRelTorque(b, 0, between(c, -1, 1), 0);
}
static void push_far(Copy *c)
{
    dBodyID b = any_body(c);
    dBodySetForce(b, 3, between(c, -9, 9), 1);
}
static void throw(Copy * c)
{
    dBodyID b = any_body(c);
    double linear[3], angular[3];
    draw(c, -1, 1, linear);
    draw(c, -3, 3, angular);
    dBodySetLinearVel(b, linear[0], linear[1], 0);
    dBodySetAngularVel(b, angular[0], angular[1], 0);
}
static void put(Copy *c)
{
    dBodyID b = any_body(c);
    const dReal *p = dBodyGetPosition(b);
    dMatrix3 turned;
    dRFromAxisAndAngle(turned, 0.6, 0.8, 0, between(c, -0.3, 0.3));
    dBodySetPosition(b, p[0], p[1] + 0.01, p[2] + 0.01);
    dBodySetRotation(b, turned);
}
static void weigh(Copy *c)
{
    dMass mass;
    double total = between(c, 0.2, 4), height = between(c, 0.1, 0.4);
    dMassSetBoxTotal(&mass, total, 0.2, height, 0.2);
    dBodySetMass(any_body(c), &mass);  // a kinematic one moves by forces again
}
static void hold(Copy *c) { dBodySetKinematic(any_body(c)); }
static void let_go(Copy *c) { dBodySetDynamic(any_body(c)); }
static void float_body(Copy *c)
{
    dBodyID b = any_body(c);
    dBodySetGravityMode(b, pick(c, 2));
}
static void damp(Copy *c)
{
    dBodyID b = any_body(c);
    dBodySetLinearDamping(b, between(c, 0, 0.1));
    dBodySetAngularDamping(b, between(c, 0, 0.1));
    dBodySetLinearDampingThreshold(b, between(c, 0, 0.5));
    dBodySetAngularDampingThreshold(b, between(c, 0, 0.5));
}
static void limit_spin(Copy *c)
{
    dBodyID b = any_body(c);
    dBodySetMaxAngularSpeed(b, between(c, 0.5, 5));
}
static void turn_finitely(Copy *c)
{
    dBodyID b = any_body(c);
    dBodySetFiniteRotationMode(b, pick(c, 2));
    dBodySetFiniteRotationAxis(b, 0, pick(c, 2), 0);
}
static void gyroscope(Copy *c) { dBodySetGyroscopicMode(any_body(c), pick(c, 2)); }
static void disable(Copy *c) { dBodyDisable(any_body(c)); }
static void enable(Copy *c) { dBodyEnable(any_body(c)); }
static void doze(Copy *c)
{
    dBodyID b = any_body(c);
    dBodySetAutoDisableFlag(b, pick(c, 4) > 0);
    dBodySetAutoDisableSteps(b, pick(c, 5));
    dBodySetAutoDisableTime(b, between(c, 0, 0.02));
    dBodySetAutoDisableAverageSamplesCount(b, (unsigned)pick(c, 4));
    dBodySetAutoDisableLinearThreshold(b, between(c, 0, 1));
    dBodySetAutoDisableAngularThreshold(b, between(c, 0, 1));
}
static void listen(Copy *c)
{
    dBodyID b = any_body(c);
    dBodySetMovedCallback(b, pick(c, 3) ? count_moved : NULL);
}

// ---- acts on joints, geoms and the world ----

static void attach(Copy *c)
{
    int at = pick_joint(c);
    if (at >= 0)
        joint_attach(c, at);
}
static void detach(Copy *c)
{
    int at = pick_joint(c);
    if (at >= 0 && dJointGetType(c->joints[at]) != dJointTypePlane2D)
        dJointAttach(c->joints[at], NULL, NULL);
}
static void switch_joint(Copy *c)
{
    int at = pick_joint(c);
    if (at < 0)
        return;
    if (dJointIsEnabled(c->joints[at]))
        dJointDisable(c->joints[at]);
    else
        dJointEnable(c->joints[at]);
}
static void report(Copy *c)
{
    int at = pick_joint(c);
    if (at >= 0)
        dJointSetFeedback(c->joints[at], dJointGetFeedback(c->joints[at]) ? NULL : &c->feedback[at]);
}
static void tune(Copy *c)
{
    int at = pick_joint(c);
    if (at < 0)
        return;
    typedef void (*SetParam)(dJointID joint, int param, dReal value);
    static const SetParam setters[] = {
        [dJointTypeHinge] = dJointSetHingeParam,
        [dJointTypeSlider] = dJointSetSliderParam,
        [dJointTypeUniversal] = dJointSetUniversalParam,
        [dJointTypeHinge2] = dJointSetHinge2Param,
        [dJointTypePR] = dJointSetPRParam,
        [dJointTypePU] = dJointSetPUParam,
        [dJointTypePiston] = dJointSetPistonParam,
        [dJointTypeAMotor] = dJointSetAMotorParam,
        [dJointTypeLMotor] = dJointSetLMotorParam,
        [dJointTypeBall] = dJointSetBallParam,
        [dJointTypeDBall] = dJointSetDBallParam,
        [dJointTypeDHinge] = dJointSetDHingeParam,
        [dJointTypeFixed] = dJointSetFixedParam,
        [dJointTypeTransmission] = dJointSetTransmissionParam,
    };
    int type = dJointGetType(c->joints[at]);
    bool moves = type != dJointTypeBall && type != dJointTypeDBall && type != dJointTypeDHinge
                 && type != dJointTypeFixed && type != dJointTypeTransmission;
    if (type >= COUNT_OF(setters) || !setters[type])
        return;
    static const struct {
        int param;
        double low, high;
    } tunes[] = {
        { dParamCFM, 1e-5, 1e-3 },     { dParamERP, 0.1, 0.4 },     { dParamVel, -2, 2 },
        { dParamFMax, 0, 20 },         { dParamLoStop, -0.5, 0 },   { dParamHiStop, 0, 0.5 },
        { dParamBounce, 0, 0.5 },      { dParamStopERP, 0.1, 0.5 }, { dParamStopCFM, 1e-5, 1e-2 },
        { dParamFudgeFactor, 0.1, 1 },
    };
    int k = pick(c, moves ? COUNT_OF(tunes) : 2);
    double value = between(c, tunes[k].low, tunes[k].high);
    setters[type](c->joints[at], tunes[k].param, value);
    if (tunes[k].param == dParamVel)
        setters[type](c->joints[at], dParamFMax, 5);
}
static void twist(Copy *c)
{
    int at = pick_joint(c);
    if (at < 0 || !(dJointGetBody(c->joints[at], 0) || dJointGetBody(c->joints[at], 1)))
        return;
    switch (dJointGetType(c->joints[at])) {
    case dJointTypeHinge: dJointAddHingeTorque(c->joints[at], 0.5); break;
    case dJointTypeSlider: dJointAddSliderForce(c->joints[at], 2); break;
    case dJointTypeUniversal: dJointAddUniversalTorques(c->joints[at], 0.3, 0.2); break;
    case dJointTypeHinge2: dJointAddHinge2Torques(c->joints[at], 0.3, 0.2); break;
    case dJointTypeAMotor: dJointAddAMotorTorques(c->joints[at], 0.3, 0.2, 0.1); break;
    default: break;
    }
}
static void world_changes(Copy *c)
{
    double side = between(c, -1, 1), down = between(c, -12, -5);
    dWorldSetGravity(c->world, 0, side, down);
    dWorldSetERP(c->world, between(c, 0.1, 0.4));
    dWorldSetCFM(c->world, between(c, 1e-5, 1e-3));
    dWorldSetContactMaxCorrectingVel(c->world, pick(c, 2) ? 0.5 : dInfinity);
    dWorldSetContactSurfaceLayer(c->world, between(c, 0, 0.002));
}
static void own_contact(Copy *c)
{
    int at = pick_body(c), other = pick_body(c);
    const dReal *p = dBodyGetPosition(c->bodies[at]);
    dContact contact = {
        .surface = { .mode = dContactApprox1 | dContactBounce, .mu = 0.5, .bounce = 0.2 },
        .geom = { .pos = { p[0], p[1], p[2] - 0.1 }, .normal = { 0, 0, 1 }, .depth = between(c, -0.001, 0.003) }
    };
    dJointID joint = dJointCreateContact(c->world, c->contacts, &contact);
    dBodyID second = at == other || pick(c, 2) ? NULL : c->bodies[other];
    if (!second && pick(c, 2))
        dJointAttach(joint, NULL, c->bodies[at]);
    else
        dJointAttach(joint, c->bodies[at], second);
}
static void give_geom(Copy *c)
{
    int at = pick(c, BODIES);
    if (c->geoms[at])
        dGeomSetBody(c->geoms[at], any_body(c));
}
static void switch_geom(Copy *c)
{
    int at = pick(c, BODIES);
    if (!c->geoms[at])
        return;
    if (dGeomIsEnabled(c->geoms[at]))
        dGeomDisable(c->geoms[at]);
    else
        dGeomEnable(c->geoms[at]);
}

static const struct {
    const char *name;
    void (*act)(Copy *c);
} acts[] = {
    { "make a body", make_body },
    { "destroy a body", destroy_body },
    { "replace a body", replace_body },
    { "make a joint", make_joint },
    { "destroy a joint", destroy_joint },
    { "replace a joint", replace_joint },
    { "empty a group", empty_group },
    { "push", push },
    { "set the force", push_far },
    { "throw", throw },
    { "put", put },
    { "weigh", weigh },
    { "make kinematic", hold },
    { "make dynamic", let_go },
    { "gravity mode", float_body },
    { "damp", damp },
    { "limit the spin", limit_spin },
    { "finite rotation", turn_finitely },
    { "gyroscopic mode", gyroscope },
    { "disable", disable },
    { "enable", enable },
    { "auto-disable", doze },
    { "moved callback", listen },
    { "attach", attach },
    { "detach", detach },
    { "enable or disable a joint", switch_joint },
    { "feedback", report },
    { "joint parameter", tune },
    { "joint torque", twist },
    { "world parameters", world_changes },
    { "contact joint", own_contact },
    { "geom to another body", give_geom },
    { "enable or disable a geom", switch_geom },
};

// ---- running ----

static void near_callback(void *data, dGeomID a, dGeomID b)
{
    Copy *c = data;
    dBodyID x = dGeomGetBody(a), y = dGeomGetBody(b);
    if (x == y || (x && y && dAreConnectedExcluding(x, y, dJointTypeContact)))
        return;
    dContact contact[8];
    int count = dCollide(a, b, COUNT_OF(contact), &contact[0].geom, sizeof(dContact));
    for (int i = 0; i < count; i++) {
        contact[i].surface =
            (dSurfaceParameters){ .mode = dContactApprox1 | dContactSoftCFM, .mu = 0.6, .soft_cfm = 1e-4 };
        dJointAttach(dJointCreateContact(c->world, c->contacts, &contact[i]), x, y);
    }
}

static void world_open(Copy *c, uint64_t seed)
{
    memset(c, 0, sizeof *c);
    random_seed(&c->random, seed, "acts");
    c->world = dWorldCreate();
    c->space = dSimpleSpaceCreate(NULL);
    c->contacts = dJointGroupCreate(0);
    c->group = dJointGroupCreate(0);
    dWorldSetGravity(c->world, 0, 0, -9.81);
    dWorldSetCFM(c->world, 1e-4);
    dCreatePlane(c->space, 0, 0, 1, 0);
}

static void copy_open(Copy *c, uint64_t seed)
{
    world_open(c, seed);
    for (int i = 0; i < BODIES; i++)
        body_make(c, i);
    for (int i = 0; i < 6; i++)
        make_joint(c);
}

// A chain on the ground with motors that often reach their limits. Where one does so without friction alone, the normal
// forces, and by them what friction may do, follow from its limit all the same.
static void chain_open(Copy *c, uint64_t seed)
{
    world_open(c, seed);
    int count = 2 + pick(c, 4);
    for (int i = 0; i < count; i++) {
        body_make(c, i);
        dBodySetPosition(c->bodies[i], 0.25 * i, 0, between(c, 0.06, 0.16));
        double speed[3];
        draw(c, -0.5, 0.5, speed);
        dBodySetLinearVel(c->bodies[i], speed[0], speed[1], speed[2]);
        if (i == 0)
            continue;
        dJointID hinge = c->joints[i] = dJointCreateHinge(c->world, NULL);
        dJointAttach(hinge, c->bodies[i], c->bodies[i - 1]);
        dJointSetHingeAnchor(hinge, 0.25 * i - 0.125, 0, 0.15);
        dJointSetHingeAxis(hinge, i % 2, 1 - i % 2, 0);
        dJointSetHingeParam(hinge, dParamVel, between(c, -1, 1));
        dJointSetHingeParam(hinge, dParamFMax, between(c, 0, 6));
        dJointSetFeedback(hinge, &c->feedback[i]);
    }
}

static void copy_close(Copy *c)
{
    dJointGroupDestroy(c->contacts);
    dJointGroupDestroy(c->group);
    dSpaceDestroy(c->space);
    dWorldDestroy(c->world);
}

static double apart(const Copy *a, const Copy *b)
{
    double worst = 0.0;
    for (int i = 0; i < BODIES; i++) {
        if (!a->bodies[i])
            continue;
        if (dBodyIsEnabled(a->bodies[i]) != dBodyIsEnabled(b->bodies[i]))
            return INFINITY;
        const dReal *x[] = { dBodyGetPosition(a->bodies[i]), dBodyGetQuaternion(a->bodies[i]) + 1,
                             dBodyGetLinearVel(a->bodies[i]), dBodyGetAngularVel(a->bodies[i]),
                             dBodyGetForce(a->bodies[i]) };
        const dReal *y[] = { dBodyGetPosition(b->bodies[i]), dBodyGetQuaternion(b->bodies[i]) + 1,
                             dBodyGetLinearVel(b->bodies[i]), dBodyGetAngularVel(b->bodies[i]),
                             dBodyGetForce(b->bodies[i]) };
        for (int k = 0; k < COUNT_OF(x); k++)
            for (int q = 0; q < 3; q++) {
                double difference = fabs(x[k][q] - y[k][q]) / (1.0 + fabs(x[k][q]));
                worst = difference <= worst ? worst : isnan(difference) ? INFINITY : difference;
            }
    }
    return a->moved == b->moved ? worst : INFINITY;
}

static double feedbacks_apart(const Copy *a, const Copy *b)
{
    double worst = 0.0, scale = 10.0;
    for (int i = 0; i < JOINTS; i++)
        for (int k = 0; k < 3; k++)
            scale = fmax(scale, fabs(a->feedback[i].f1[k]) + fabs(a->feedback[i].t1[k]));
    for (int i = 0; i < JOINTS; i++) {
        if (!a->joints[i] || !dJointGetFeedback(a->joints[i]))
            continue;
        bool has_two = dJointGetBody(a->joints[i], 0)
                       && dJointGetBody(a->joints[i], 1);  // else ODE leaves what stood there
        for (int k = 0; k < 3; k++) {
            worst = fmax(worst, fabs(a->feedback[i].f1[k] - b->feedback[i].f1[k]));
            worst = fmax(worst, fabs(a->feedback[i].t1[k] - b->feedback[i].t1[k]));
            if (has_two)
                worst = fmax(worst, fabs(a->feedback[i].t2[k] - b->feedback[i].t2[k]));
        }
    }
    return worst / scale;
}

static void copy_collide(Copy *c)
{
    dJointGroupEmpty(c->contacts);
    dSpaceCollide(c->space, c, near_callback);
}

// Sleep, callbacks and all else stay each copy's own.
static void take_over(Copy *to, const Copy *from)
{
    for (int i = 0; i < BODIES; i++) {
        dBodyID x = from->bodies[i], y = to->bodies[i];
        if (!x)
            continue;
        const dReal *p = dBodyGetPosition(x), *v = dBodyGetLinearVel(x), *w = dBodyGetAngularVel(x);
        dBodySetPosition(y, p[0], p[1], p[2]);
        dBodySetQuaternion(y, dBodyGetQuaternion(x));
        dBodySetLinearVel(y, v[0], v[1], v[2]);
        dBodySetAngularVel(y, w[0], w[1], w[2]);
    }
}

enum { STEPS = 60 };
static int fallbacks, rounds;
static double worst, worst_feedback;

typedef struct Kind {
    void (*open)(Copy *c, uint64_t seed);
    bool has_acts;
    bool is_portable;  // the solver without wide instructions
} Kind;

static void act_and_collide(Copy *c, bool has_act, const char **did)
{
    // Before and after the contacts are found: as in webots_physics_step() and webots_physics_collide().
    bool late = pick(c, 2);
    int act = pick(c, COUNT_OF(acts));
    if (!late)
        copy_collide(c);
    if (has_act) {
        *did = acts[act].name;
        acts[act].act(c);
    }
    if (late)
        copy_collide(c);
}

// False when the two parted. Acts are done after every one to four steps.
static bool run(const Kind *kind, uint64_t seed, bool is_told)
{
    static Copy copies[2];
    for (int k = 0; k < 2; k++)
        kind->open(&copies[k], seed);
    SolverOde *solver = solver_ode_create(copies[1].world,
                                          &(SolverOptions){ .method = SOLVER_DIRECT, .portable = kind->is_portable });
    const char *did = "nothing";
    bool is_same = true;
    for (int step = 0; step < STEPS && is_same; step++) {
        bool has_act = kind->has_acts && step % (1 + (int)(seed % 4)) == 0;
        for (int k = 0; k < 2; k++) {
            act_and_collide(&copies[k], has_act, &did);
            memset(copies[k].feedback, 0,
                   sizeof copies[k].feedback);  // of a joint without rows ODE leaves what stood there
        }
        dWorldStep(copies[0].world, DT);
        solver_ode_step(solver, DT);
        double difference = apart(&copies[0], &copies[1]), feedback = feedbacks_apart(&copies[0], &copies[1]);
        worst = fmax(worst, difference);
        worst_feedback = fmax(worst_feedback, feedback);
        fallbacks += solver_statistics(solver_ode_solver(solver))->fallback_count;
        rounds = int_max(rounds, solver_statistics(solver_ode_solver(solver))->pivot_round_count);
        is_same = difference < LIMIT && feedback < LIMIT;
        take_over(&copies[1], &copies[0]);
        if (is_told || !is_same)
            print_message("seed %d, step %d, last act '%s': state %.2e, feedback %.2e\n", (int)seed, step, did,
                          difference, feedback);
    }
    solver_ode_destroy(solver);
    for (int k = 0; k < 2; k++)
        copy_close(&copies[k]);
    return is_same;
}

static void test_runs(void **state)
{
    const char *only = getenv("TALUS_TEST_SEED"), *end = getenv("TALUS_TEST_LAST");
    int first = only ? atoi(only) : 1, last = only ? first : end ? atoi(end) : 500, parted = 0;
    fallbacks = rounds = 0;
    worst = worst_feedback = 0.0;
    for (int seed = first; seed <= last; seed++)
        parted += !run(*state, (uint64_t)seed, only != NULL);
    print_message("%d runs of %d steps: state %.2e, feedback %.2e, %d parted, %d fallbacks, %d rounds\n",
                  last - first + 1, STEPS, worst, worst_feedback, parted, fallbacks, rounds);
    assert_int_equal(parted, 0);
    assert_int_equal(fallbacks, 0);
}

int main(void)
{
    dInitODE2(0);
    dAllocateODEDataForThread(dAllocateMaskAll);
    const struct CMUnitTest tests[] = {
        { "random acts", test_runs, NULL, NULL, &(Kind){ copy_open, true, false } },
        { "random acts, portable", test_runs, NULL, NULL, &(Kind){ copy_open, true, true } },
        { "motors at their limits", test_runs, NULL, NULL, &(Kind){ chain_open, false, false } },
        { "motors at their limits, portable", test_runs, NULL, NULL, &(Kind){ chain_open, false, true } },
    };
    int result = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return result;
}
