// Joints with what Webots' ODE adds, in ODE's steps and in ours: static deflections against their formula, momentum,
// life of the joints.
#include "support/support.h"

#include "physics/ode/extend.h"
#include "physics/ode/solver_ode.h"

#include <math.h>
#include <ode/ode.h>

enum { EXACT, QUICK, TALUS, STEPPERS };
static const char *const stepper_names[] = { "ode-exact", "ode-quick", "talus" };
static const double dt = 0.01, spring = 400.0, damper = 40.0, mass = 2.0, gravity = 9.81;

typedef struct Scene2 {
    dWorldID world;
    dBodyID chassis, wheel;
    SolverOde *solver;
    int stepper;
} Scene2;

static dBodyID ball(dWorldID world, double m, double x, double z)
{
    dMass inertia;
    dMassSetSphereTotal(&inertia, m, 0.2);
    dBodyID body = dBodyCreate(world);
    dBodySetMass(body, &inertia);
    dBodySetPosition(body, x, 0, z);
    return body;
}

static Scene2 open_scene(int stepper, bool is_held)
{
    Scene2 scene = { .world = dWorldCreate(), .stepper = stepper };
    dWorldSetGravity(scene.world, 0, 0, is_held ? -gravity : 0.0);
    dWorldSetQuickStepNumIterations(scene.world, 200);
    scene.chassis = ball(scene.world, 10.0, 0, 1);
    scene.wheel = ball(scene.world, mass, 0.5, 1);
    if (is_held) {
        dJointID held = dJointCreateFixed(scene.world, NULL);
        dJointAttach(held, scene.chassis, NULL);
        dJointSetFixed(held);
    }
    if (stepper == TALUS)
        scene.solver = solver_ode_create(scene.world, NULL);
    return scene;
}

static void steps(Scene2 *scene, int count)
{
    for (int i = 0; i < count; i++) {
        if (scene->stepper == EXACT)
            dWorldStep(scene->world, dt);
        else if (scene->stepper == QUICK)
            dWorldQuickStep(scene->world, dt);
        else
            solver_ode_step(scene->solver, dt);
    }
}

static void close_scene(Scene2 *scene)
{
    solver_ode_destroy(scene->solver);
    dWorldDestroy(scene->world);
}

static double soft_erp(void) { return dt * spring / (dt * spring + damper); }

static double soft_cfm(void) { return 1.0 / (dt * spring + damper); }

static Vec3 at(dBodyID body)
{
    const dReal *p = dBodyGetPosition(body);
    return vec3(p[0], p[1], p[2]);
}

static dJointID make_hinge(Scene2 *scene, dJointGroupID group, Vec3 axis)
{
    dJointID hinge = dJointCreateHinge(scene->world, group);
    dJointAttach(hinge, scene->chassis, scene->wheel);
    dJointSetHingeAnchor(hinge, 0.5, 0, 1);
    dJointSetHingeAxis(hinge, 0, 1, 0);
    assert_true(odeextra_set_suspension_axis(hinge, axis));
    assert_true(odeextra_set_hinge_suspension(hinge, dParamSuspensionERP, soft_erp()));
    assert_true(odeextra_set_hinge_suspension(hinge, dParamSuspensionCFM, soft_cfm()));
    return hinge;
}

static dJointID make_hinge2(Scene2 *scene, Vec3 axis)
{
    const dReal up[3] = { 0, 0, 1 }, side[3] = { 0, 1, 0 };
    dJointID hinge = dJointCreateHinge2(scene->world, NULL);
    dJointAttach(hinge, scene->chassis, scene->wheel);
    dJointSetHinge2Anchor(hinge, 0.5, 0, 1);
    dJointSetHinge2Axes(hinge, up, side);
    assert_true(odeextra_set_suspension_axis(hinge, axis));
    dJointSetHinge2Param(hinge, dParamSuspensionERP, soft_erp());
    dJointSetHinge2Param(hinge, dParamSuspensionCFM, soft_cfm());
    return hinge;
}

// At rest the row's force is erp / (dt cfm) times the way along the axis: the spring. Across it nothing moves.
static void test_deflection(void **state)
{
    (void)state;
    static const Vec3 axes[] = { { 0, 0, 1 }, { 0.5, 0, 0.8660254037844386 }, { 0, 0, -3 } };
    for (int stepper = 0; stepper < STEPPERS; stepper++)
        for (int is_hinge2 = 0; is_hinge2 < 2; is_hinge2++)
            for (int i = 0; i < COUNT_OF(axes); i++) {
                Scene2 scene = open_scene(stepper, true);
                if (is_hinge2)
                    make_hinge2(&scene, axes[i]);
                else
                    make_hinge(&scene, NULL, axes[i]);
                steps(&scene, 400);
                Vec3 axis = vec3_normalized(axes[i]);
                Vec3 expected = vec3_scale(axis, -mass * gravity * axis.z / spring);
                Vec3 moved = vec3_sub(vec3_sub(at(scene.wheel), at(scene.chassis)), vec3(0.5, 0, 0));
                CHECK_NEAR(vec3_length(vec3_sub(moved, expected)), 0.0, stepper == QUICK ? 2e-4 : 2e-5,
                           stepper_names[stepper]);
                close_scene(&scene);
            }
}

// Without gravity and ground nothing changes the momentum of the two, far as the wheel may travel along its axis.
static void test_momentum(void **state)
{
    (void)state;
    for (int stepper = 0; stepper < STEPPERS; stepper += TALUS) {
        Scene2 scene = open_scene(stepper, false);
        make_hinge(&scene, NULL, vec3(0, 0, 1));
        dBodySetLinearVel(scene.wheel, 0, 1, 2);
        dBodySetAngularVel(scene.chassis, 0.3, 0, 0);
        double inertia = 0.4 * 10.0 * 0.04, wheel_inertia = 0.4 * mass * 0.04;
        Vec3 spin[2];
        for (int k = 0; k < 2; k++) {
            dBodyID bodies[2] = { scene.chassis, scene.wheel };
            spin[k] = VEC3_ZERO;
            for (int i = 0; i < 2; i++) {
                const dReal *v = dBodyGetLinearVel(bodies[i]), *w = dBodyGetAngularVel(bodies[i]);
                Vec3 orbit = vec3_cross(at(bodies[i]), vec3_scale(vec3(v[0], v[1], v[2]), i ? mass : 10.0));
                spin[k] = vec3_add(spin[k], vec3_mad(orbit, vec3(w[0], w[1], w[2]), i ? wheel_inertia : inertia));
            }
            if (k == 0)
                steps(&scene, 20);
        }
        CHECK_NEAR(vec3_length(vec3_sub(spin[1], spin[0])), 0.0, 1e-3 * vec3_length(spin[0]), stepper_names[stepper]);
        close_scene(&scene);
    }
}

// The axis goes with its body, stays in the world when the joint is attached anew, and is the joint's first until it is
// set.
static void test_axis(void **state)
{
    (void)state;
    Scene2 scene = open_scene(EXACT, false);
    dJointID hinge = dJointCreateHinge(scene.world, NULL);
    dJointAttach(hinge, scene.chassis, scene.wheel);
    assert_true(odeextra_suspension_axis(hinge).x == 1.0);
    assert_true(odeextra_hinge_suspension(hinge, dParamSuspensionERP) == dWorldGetERP(scene.world));
    assert_true(odeextra_hinge_suspension(hinge, dParamSuspensionCFM) == dWorldGetCFM(scene.world));
    assert_false(odeextra_set_suspension_axis(hinge, VEC3_ZERO));
    assert_false(odeextra_set_suspension_axis(hinge, vec3(NAN, 0, 0)));
    assert_false(odeextra_set_hinge_suspension(hinge, dParamSuspensionERP, NAN));
    assert_true(odeextra_set_suspension_axis(hinge, vec3(0, 0, 2)));
    CHECK_NEAR(odeextra_suspension_axis(hinge).z, 1.0, 1e-15, "a unit vector");
    dMatrix3 turned;
    dRFromAxisAndAngle(turned, 1, 0, 0, -0.5 * M_PI);
    dBodySetRotation(scene.chassis, turned);
    CHECK_NEAR(odeextra_suspension_axis(hinge).y, 1.0, 1e-12, "turned with the chassis");
    dJointAttach(hinge, scene.wheel, NULL);
    CHECK_NEAR(odeextra_suspension_axis(hinge).y, 1.0, 1e-12, "kept when attached anew");
    dJointAttach(hinge, NULL, scene.wheel);
    CHECK_NEAR(odeextra_suspension_axis(hinge).y, 1.0, 1e-12, "the other way round");
    dJointSetHingeAnchor(hinge, 0.5, 0, 1);
    steps(&scene, 3);
    assert_int_equal(dJointGetType(hinge), dJointTypeHinge);
    dJointID hinge2 = dJointCreateHinge2(scene.world, NULL);
    const dReal up[3] = { 0, 0, 1 }, side[3] = { 0, 1, 0 };
    dJointAttach(hinge2, scene.chassis, scene.wheel);
    dJointSetHinge2Axes(hinge2, up, side);
    CHECK_NEAR(odeextra_suspension_axis(hinge2).z, 1.0, 1e-12, "a hinge-2's first axis");
    close_scene(&scene);
}

// However a joint ends, nothing is left of it and nothing was broken: alone, with its group, with its world.
static void test_ends(void **state)
{
    (void)state;
    Scene2 scene = open_scene(EXACT, true);
    dJointGroupID group = dJointGroupCreate(0);
    dJointID alone = make_hinge(&scene, NULL, vec3(0, 0, 1));
    make_hinge(&scene, group, vec3(0, 0, 1));
    make_hinge(&scene, group, vec3(0, 0, 1));
    steps(&scene, 2);
    dJointDestroy(alone);
    dJointGroupEmpty(group);
    assert_int_equal(dBodyGetNumJoints(scene.wheel), 0);
    make_hinge(&scene, group, vec3(1, 0, 1));
    steps(&scene, 2);
    dJointGroupDestroy(group);
    dJointID last = make_hinge(&scene, NULL, vec3(0, 0, 1));
    dBodyDestroy(scene.wheel);
    steps(&scene, 2);
    assert_true(dJointIsEnabled(last));
    close_scene(&scene);
}

// A linear motor whose stops are at one place is a spring and damper there; with two it holds at the one it reaches.
static void test_linear_motor(void **state)
{
    (void)state;
    for (int stepper = 0; stepper < STEPPERS; stepper++)
        for (int has_range = 0; has_range < 2; has_range++) {
            Scene2 scene = open_scene(stepper, true);
            dJointID motor = dJointCreateLMotor(scene.world, NULL);
            dJointAttach(motor, scene.wheel, NULL);
            dJointSetLMotorNumAxes(motor, 1);
            dJointSetLMotorAxis(motor, 0, 0, 0, 0, 1);
            dJointSetLMotorParam(motor, dParamLoStop, has_range ? -0.1 : 0.0);
            dJointSetLMotorParam(motor, dParamHiStop, has_range ? 0.2 : 0.0);
            dJointSetLMotorParam(motor, dParamStopERP, soft_erp());
            dJointSetLMotorParam(motor, dParamStopCFM, soft_cfm());
            assert_true(odeextra_lmotor_position(motor, 0) == 0.0);
            assert_false(odeextra_set_lmotor_position(motor, 3, 0.0));
            for (int i = 0; i < 400; i++) {
                assert_true(odeextra_set_lmotor_position(motor, 0, at(scene.wheel).z - 1.0));
                steps(&scene, 1);
            }
            double expected = (has_range ? -0.1 : 0.0) - mass * gravity / spring;
            CHECK_NEAR(at(scene.wheel).z - 1.0, expected, 1e-5, stepper_names[stepper]);
            assert_true(dJointGetLMotorParam(motor, dParamFMax) == 0.0);
            // A motor leads away from the stop.
            if (has_range) {
                dJointSetLMotorParam(motor, dParamVel, 0.5);
                dJointSetLMotorParam(motor, dParamFMax, 1000.0);
                odeextra_set_lmotor_position(motor, 0, at(scene.wheel).z - 1.0);
                steps(&scene, 1);
                CHECK_NEAR(dBodyGetLinearVel(scene.wheel)[2], 0.5, 1e-3, stepper_names[stepper]);
            }
            close_scene(&scene);
        }
}

int main(void)
{
    dInitODE();
    assert_null(odeextra_problem());
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deflection), cmocka_unit_test(test_momentum),     cmocka_unit_test(test_axis),
        cmocka_unit_test(test_ends),       cmocka_unit_test(test_linear_motor),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
