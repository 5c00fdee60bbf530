// Devices against formulas and the published numbers of Webots' own tests.
#include "devices/devices.h"

#include "formats/formats.h"
#include "physics/joints/motor.h"
#include "sim/sim.h"
#include "support/support.h"

#include <math.h>

typedef struct World {
    DiagSink *diags;
    Scene *scene;
    Physics *physics;
    Devices *devices;
    uint64_t step;
} World;

static World open_world(const char *info, const char *nodes)
{
    World world = { .diags = diag_create() };
    char *text = NULL;
    if (asprintf(&text, "#VRML_SIM R2025a utf8\nWorldInfo { %s }\nViewpoint { }\n%s", info, nodes) < 0)
        abort();
    world.scene = formats_load_text("test.wbt", text, strlen(text), NULL, world.diags);
    free(text);
    world.physics = physics_create(world.scene, NULL, world.diags);
    physics_collide(world.physics);
    world.devices = devices_create(world.scene, world.physics, world.diags);
    diag_print(world.diags, stdout, 0, DIAG_WARNING);
    return world;
}

static void close_world(World *world)
{
    devices_destroy(world->devices);
    physics_destroy(world->physics);
    scene_destroy(world->scene);
    diag_destroy(world->diags);
}

static void run(World *world, int steps)
{
    for (int i = 0; i < steps; i++) {
        physics_begin_step(world->physics, world->step++);
        physics_prestep(world->physics);
        physics_fluids(world->physics);
        physics_advance(world->physics);
        physics_collide(world->physics);
        physics_poststep(world->physics);
        devices_sample(world->devices, world->step);
    }
}

static const double *reading(const World *world, int robot, const char *name, uint32_t *serial)
{
    int count;
    int tag = devices_find(world->devices, robot, name);
    assert_true(tag > 0);
    return devices_reading(world->devices, robot, tag, 0, &count, serial);
}

static double value(const World *world, int robot, const char *name)
{
    uint32_t serial;
    const double *numbers = reading(world, robot, name, &serial);
    return serial ? numbers[0] : NAN;
}

static void enable(World *world, int robot, const char *name, int period)
{
    int tag = devices_find(world->devices, robot, name);
    assert_true(tag > 0);
    devices_enable(world->devices, robot, tag, 0, period);
}

#define MASS "physics Physics { density -1 mass 1 centerOfMass [ 0 0 0 ] inertiaMatrix [ 0.01 0.01 0.01, 0 0 0 ] }"

static void sensors_of_motion(void **state)
{
    (void)state;
    World world = open_world(
        "basicTimeStep 32",
        "Robot { translation 0.2 0.05 -0.35 rotation 0 0 1 0.3 children [ Accelerometer { } Gyro { } Compass { } GPS { } "
        "InertialUnit { } Altimeter { } ] }");
    static const char *const names[] = { "accelerometer", "gyro", "compass", "gps", "inertial unit", "altimeter" };
    for (int i = 0; i < COUNT_OF(names); i++)
        enable(&world, 0, names[i], 32);
    CHECK(isnan(value(&world, 0, "gps")), "nothing before the first step");
    run(&world, 2);
    uint32_t serial;
    const double *at = reading(&world, 0, "gps", &serial);
    CHECK_NEAR(at[0], 0.2, 1e-9, "gps");
    CHECK_NEAR(at[2], -0.35, 1e-9, "gps");
    CHECK_NEAR(at[3], 0.0, 1e-9, "speed by differences after the second reading");
    at = reading(&world, 0, "compass", &serial);
    CHECK_NEAR(at[0], sin(0.3), 1e-9, "north is y");
    CHECK_NEAR(at[1], cos(0.3), 1e-9, "north is y");
    at = reading(&world, 0, "inertial unit", &serial);
    CHECK_NEAR(2.0 * atan2(at[2], at[3]), 0.3, 1e-9, "yaw");
    CHECK_NEAR(value(&world, 0, "altimeter"), -0.35, 1e-9, "altitude");
    CHECK(isnan(value(&world, 0, "accelerometer")), "no physics, no acceleration");
    close_world(&world);

    world = open_world(
        "basicTimeStep 32",
        "Robot { children [ Solid { name \"base\" " MASS
        " children [ Accelerometer { translation 0 0 0 } HingeJoint { jointParameters "
        "HingeJointParameters { axis 0 0 1 } device [ RotationalMotor { maxVelocity 20 maxTorque 100 } PositionSensor { } ] endPoint Solid { name \"arm\" " MASS
        " children [ Gyro { } ] } } ] } ] }");
    enable(&world, 0, "accelerometer", 32);
    enable(&world, 0, "gyro", 32);
    enable(&world, 0, "position sensor", 96);
    int motor = devices_find(world.devices, 0, "rotational motor");
    assert_null(devices_command(world.devices, 0, motor, &(DeviceCommand){ 0, (double[]){ INFINITY }, 1 }));
    assert_null(devices_command(world.devices, 0, motor, &(DeviceCommand){ 1, (double[]){ 10.0 }, 1 }));
    run(&world, 2);
    CHECK(isnan(value(&world, 0, "position sensor")), "three steps per reading");
    run(&world, 1);
    CHECK(!isnan(value(&world, 0, "position sensor")), "three steps per reading");
    run(&world, 37);
    at = reading(&world, 0, "accelerometer", &serial);
    CHECK_NEAR(at[2], 9.81, 1e-3, "held against gravity it reads +g upwards");
    at = reading(&world, 0, "gyro", &serial);
    CHECK_NEAR(at[2], 10.0, 1e-4, "turning at 10 rad/s");
    close_world(&world);
}

// A free fall shows no acceleration, and a box at rest on a force sensor its weight: 100 kg give 981 N.
static void forces_are_felt(void **state)
{
    (void)state;
    World world = open_world(
        "basicTimeStep 16",
        "Solid { boundingObject Plane { } } Robot { translation 0 0 0.66 rotation 0 1 0 1.5707963267948966 boundingObject Box { size 0.5 1 1 } "
        "physics Physics { density -1 mass 100 } children [ Accelerometer { } TouchSensor { translation 0.3 0 0 type \"force\" lookupTable [ ] "
        "boundingObject Box { size 0.1 1 1 } physics Physics { density -1 mass 0.001 } } TouchSensor { name \"bumper\" translation 0.345 0 0 type \"bumper\" "
        "boundingObject Box { size 0.02 0.5 0.5 } } ] }");
    enable(&world, 0, "touch sensor", 16);
    enable(&world, 0, "bumper", 16);
    enable(&world, 0, "accelerometer", 16);
    run(&world, 5);
    uint32_t serial;
    const double *at = reading(&world, 0, "accelerometer", &serial);
    CHECK_NEAR(sqrt(at[0] * at[0] + at[1] * at[1] + at[2] * at[2]), 0.0, 1e-6, "weightless");
    CHECK_NEAR(value(&world, 0, "touch sensor"), 0.0, 1e-3, "nothing touched");
    CHECK(value(&world, 0, "bumper") == 0.0, "nothing touched");
    run(&world, 150);
    CHECK_NEAR(value(&world, 0, "touch sensor"), 981.0, 1.0, "100 kg");
    CHECK(value(&world, 0, "bumper") == 1.0, "on the floor");
    close_world(&world);
}

static void distances_are_seen(void **state)
{
    (void)state;
    World world = open_world(
        "basicTimeStep 16",
        "Robot { children [ DistanceSensor { name \"plain\" } DistanceSensor { name \"fine\" type \"laser\" resolution 15 lookupTable [ 0 0 0, 1 1000 0 ] } "
        "DistanceSensor { name \"wide\" numberOfRays 5 aperture 0.2 lookupTable [ 0 0 0, 1 1000 0 ] } DistanceSensor { name \"back\" rotation 0 0 1 3.14159 } "
        "DistanceSensor { name \"sonar\" type \"sonar\" lookupTable [ 0 0 0, 1 1 0 ] rotation 0 0 1 0 } ] boundingObject Sphere { radius 0.01 } } "
        "Solid { name \"wall\" translation 0.1 0 0 boundingObject Box { size 0.1 2 2 } }");
    static const char *const names[] = { "plain", "fine", "wide", "back", "sonar" };
    for (int i = 0; i < COUNT_OF(names); i++)
        enable(&world, 0, names[i], 16);
    run(&world, 1);
    CHECK_NEAR(value(&world, 0, "plain"), 500.0, 1e-6, "0.05 m of 0.1 m");
    CHECK_NEAR(value(&world, 0, "fine"), 45.0, 1e-9, "rounded to multiples of 15");
    CHECK(value(&world, 0, "wide") > 50.0 && value(&world, 0, "wide") < 51.0, "slanted rays are a little longer");
    CHECK_NEAR(value(&world, 0, "back"), 1000.0, 1e-9, "nothing behind");
    CHECK_NEAR(value(&world, 0, "sonar"), 0.05, 1e-9, "sonar");
    close_world(&world);
}

static void send(World *world, int robot, const char *text)
{
    int tag = devices_find(world->devices, robot, "emitter");
    assert_null(devices_command(world->devices, robot, tag, &(DeviceCommand){ 0, NULL, 0, text, (int)strlen(text) }));
}

static void packets_travel(void **state)
{
    (void)state;
    World world = open_world(
        "basicTimeStep 16",
        "Robot { name \"a\" children [ Emitter { } Receiver { } ] } Robot { name \"b\" translation 0.6 0 0 children [ Receiver { bufferSize 10 } ] } "
        "Robot { name \"c\" translation 0 0 5 children [ Receiver { channel 3 } ] }");
    for (int robot = 0; robot < 3; robot++)
        enable(&world, robot, "receiver", 16);
    int b = devices_find(world.devices, 1, "receiver"), c = devices_find(world.devices, 2, "receiver"),
        own = devices_find(world.devices, 0, "receiver");
    int size;
    devices_plugin_listens(world.devices);
    send(&world, 0, "hello");
    assert_memory_equal(devices_received_by_plugin(world.devices, &size), "hello", 5);
    run(&world, 1);
    devices_plugin_forgets(world.devices);
    assert_null(devices_received_by_plugin(world.devices, &size));
    assert_int_equal(devices_packet_count(world.devices, 1, b), 1);
    assert_int_equal(devices_packet_count(world.devices, 0, own), 0);
    assert_int_equal(devices_packet_count(world.devices, 2, c), 0);
    DevicePacket packet = devices_packet(world.devices, 1, b, 0);
    assert_memory_equal(packet.data, "hello", 5);
    CHECK_NEAR(packet.strength, 1.0 / 0.36, 1e-9, "1 / r^2");
    CHECK_NEAR(packet.direction[0], -1.0, 1e-9, "where it came from");
    send(&world, 0, "123456");  // does not fit into ten bytes beside the first
    run(&world, 1);
    assert_int_equal(devices_packet_count(world.devices, 1, b), 1);
    devices_packet_drop(world.devices, 1, b);
    send(&world, 0, "123456");
    run(&world, 1);
    assert_int_equal(devices_packet_count(world.devices, 1, b), 1);
    int emitter = devices_find(world.devices, 0, "emitter");
    assert_null(devices_command(world.devices, 0, emitter, &(DeviceCommand){ 1, (double[]){ 3 }, 1 }));
    send(&world, 0, "x");
    size_t bytes = devices_snapshot_size(world.devices);
    void *buffer = malloc(bytes);
    devices_snapshot(world.devices, buffer);
    uint64_t before = devices_hash(world.devices);
    run(&world, 1);
    assert_int_equal(devices_packet_count(world.devices, 2, c), 1);
    assert_true(devices_hash(world.devices) != before);
    assert_true(devices_restore(world.devices, buffer, bytes));
    assert_true(devices_hash(world.devices) == before);
    assert_false(devices_restore(world.devices, buffer, bytes - 1));
    free(buffer);
    close_world(&world);
}

// What counts is where both are at the end of the step: a sender at 10 m/s is 0.16 m further then.
static void packets_meet_moved_robots(void **state)
{
    (void)state;
    World world = open_world(
        "basicTimeStep 16 gravity 0",
        "Robot { name \"a\" children [ Emitter { range 1.5 maxRange 3 } ] linearVelocity 10 0 0 physics Physics { } } "
        "Robot { name \"b\" children [ Receiver { } ] }");
    enable(&world, 1, "receiver", 16);
    int receiver = devices_find(world.devices, 1, "receiver");
    for (int step = 1; step <= 12; step++) {
        double distance = 0.16 * step;
        send(&world, 0, "x");
        run(&world, 1);
        int count = devices_packet_count(world.devices, 1, receiver);
        CHECK(count == (distance <= 1.5), "in range after the step");
        if (count == 0)
            continue;
        DevicePacket packet = devices_packet(world.devices, 1, receiver, 0);
        CHECK_NEAR(packet.strength, 1.0 / (distance * distance), 1e-6, "strength after the step");
        CHECK_NEAR(packet.direction[0], 1.0, 1e-9, "direction");
        devices_packet_drop(world.devices, 1, receiver);
    }
    close_world(&world);
}

// Enabled with 128 ms: what came in eight steps shows at once. Switched off, it keeps its queue and gets nothing more.
static void receivers_have_a_period(void **state)
{
    (void)state;
    World world = open_world(
        "basicTimeStep 16",
        "Robot { name \"a\" children [ Emitter { } ] } Robot { name \"b\" translation 1 0 0 children [ Receiver { } ] }");
    enable(&world, 1, "receiver", 128);
    int receiver = devices_find(world.devices, 1, "receiver");
    for (int step = 1; step <= 24; step++) {
        send(&world, 0, "x");
        run(&world, 1);
        assert_int_equal(devices_packet_count(world.devices, 1, receiver), step / 8 * 8);
    }
    devices_enable(world.devices, 1, receiver, 0, 0);
    send(&world, 0, "x");
    run(&world, 8);
    assert_int_equal(devices_packet_count(world.devices, 1, receiver), 24);
    devices_switch_off(world.devices, 1);
    assert_int_equal(devices_packet_count(world.devices, 1, receiver), 0);
    close_world(&world);
}

// A lamp that moves away along +x at 1 m/s: 1 / d^2 of it arrives.
static void lamps_move(void **state)
{
    (void)state;
    World world = open_world(
        "basicTimeStep 16 gravity 0",
        "Robot { children [ LightSensor { lookupTable [ 0 0 0, 1 1000 0 ] } ] } "
        "Solid { name \"lamp\" translation 1.3 0 0 linearVelocity 1 0 0 physics Physics { } children [ Pose { translation 0.2 0 0 children [ "
        "PointLight { attenuation 0 0 1 location 0.5 0 0 } ] } ] }");
    enable(&world, 0, "light sensor", 16);
    for (int i = 1; i <= 5; i++) {
        run(&world, 25);
        double distance = 2.0 + 0.4 * i;
        CHECK_NEAR(value(&world, 0, "light sensor"), 1000.0 / (distance * distance), 1e-3, "where the lamp is");
    }
    close_world(&world);
}

// 1 J at 10 W are gone after 0.1 s: readings stay as they were then, packets are not shown; energy brings all back.
static void nothing_is_measured_without_power(void **state)
{
    (void)state;
    World world = open_world(
        "basicTimeStep 10 gravity 0",
        "Robot { battery [ 1 1 100 ] cpuConsumption 10 linearVelocity 1 0 0 physics Physics { } children [ GPS { } Receiver { } ] } "
        "Robot { name \"other\" children [ Emitter { } ] } Charger { translation 5 0 0 battery [ 1000 1000 100 ] radius 1 }");
    enable(&world, 0, "gps", 10);
    enable(&world, 0, "receiver", 10);
    int receiver = devices_find(world.devices, 0, "receiver");
    run(&world, 9);
    CHECK_NEAR(value(&world, 0, "gps"), 0.09, 1e-9, "it moves");
    run(&world, 91);
    send(&world, 1, "x");
    run(&world, 100);
    CHECK(value(&world, 0, "gps") < 0.11, "the last value before the battery was empty");
    assert_int_equal(devices_packet_count(world.devices, 0, receiver), 0);
    run(&world, 300);
    CHECK_NEAR(value(&world, 0, "gps"), 5.0, 1e-6, "at the charger");
    assert_int_equal(devices_packet_count(world.devices, 0, receiver), 1);
    close_world(&world);
}

// WGS84: 111.13 km a degree of latitude at 40.67 degrees, 84.5 km of longitude (published ellipsoid values).
static void gps_knows_the_earth(void **state)
{
    (void)state;
    World world = open_world("basicTimeStep 16 gpsCoordinateSystem \"WGS84\" gpsReference 40.67 -73.94 10",
                             "Robot { children [ GPS { } ] } "
                             "Robot { name \"far\" translation 8450 11105 5 children [ GPS { } ] }");
    enable(&world, 0, "gps", 16);
    enable(&world, 1, "gps", 16);
    run(&world, 1);
    uint32_t serial;
    const double *at = reading(&world, 0, "gps", &serial);
    CHECK_NEAR(at[0], 40.67, 1e-9, "reference latitude");
    CHECK_NEAR(at[1], -73.94, 1e-9, "reference longitude");
    CHECK_NEAR(at[2], 10.0, 1e-9, "altitude");
    at = reading(&world, 1, "gps", &serial);
    CHECK_NEAR(at[0], 40.77, 2e-3, "a tenth of a degree north");
    CHECK_NEAR(at[1], -73.84, 2e-3, "a tenth of a degree east");
    close_world(&world);
}

static void noise_has_streams_of_its_own(void **state)
{
    (void)state;
    double first[2];
    for (int i = 0; i < 2; i++) {
        World world = open_world(
            "basicTimeStep 16",
            i ? "Robot { children [ Altimeter { name \"other\" accuracy 1 } Altimeter { accuracy 0.1 } ] }"
              : "Robot { children [ Altimeter { accuracy 0.1 } ] }");
        enable(&world, 0, "altimeter", 16);
        if (i)
            enable(&world, 0, "other", 16);
        run(&world, 3);
        first[i] = value(&world, 0, "altimeter");
        close_world(&world);
    }
    CHECK(first[0] != 0.0 && first[0] == first[1], "another noisy sensor disturbs nothing");
}

// 2 W for a second are 2 J; the processor of the robot draws nothing here. Outside of the radius nothing flows.
static void chargers_charge(void **state)
{
    (void)state;
    World world = open_world(
        "basicTimeStep 10",
        "Charger { battery [ 3 10 2 ] radius 0.5 } "
        "Robot { name \"near\" translation 0.3 0 0 battery [ 1 100 5 ] cpuConsumption 0 } Robot { name \"far\" translation 0.7 0 0 battery [ 1 100 5 ] cpuConsumption 0 }");
    int count;
    uint32_t serial;
    for (int robot = 0; robot < 2; robot++)
        devices_enable(world.devices, robot, 0, 0, 10);
    run(&world, 100);
    CHECK_NEAR(devices_reading(world.devices, 0, 0, 0, &count, &serial)[0], 3.0, 1e-9, "loaded at the charger's rate");
    CHECK_NEAR(devices_reading(world.devices, 1, 0, 0, &count, &serial)[0], 1.0, 1e-9, "too far away");
    run(&world, 200);
    CHECK_NEAR(devices_reading(world.devices, 0, 0, 0, &count, &serial)[0], 4.0, 1e-9, "the charger is empty");
    close_world(&world);
}

// Components keep their signs through the table: 10 kg push up on the robot along +z, or along -z of a sensor upside
// down, for which a table from 0 on gives its first row.
static void forces_have_signs(void **state)
{
    (void)state;
    static const struct {
        const char *rotation, *table;
        double z;
    } cases[] = {
        { "0 0 1 0", "-5000 -5000 0, 5000 5000 0", 98.1 },
        { "1 0 0 3.14159265358979", "-5000 -5000 0, 5000 5000 0", -98.1 },
        { "1 0 0 3.14159265358979", "0 0 0, 5000 5000 0", 0.0 },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        Text text = { 0 };
        text_printf(
            &text,
            "Solid { boundingObject Plane { } } Robot { translation 0 0 0.15 boundingObject Box { size 0.4 0.4 0.2 } physics Physics { density -1 mass 10 } children [ TouchSensor { "
            "translation 0 0 -0.125 rotation %s type \"force-3d\" lookupTable [ %s ] boundingObject Box { size 0.4 0.4 0.05 } physics Physics { density -1 mass 0.001 } } ] }",
            cases[i].rotation, cases[i].table);
        World world = open_world("basicTimeStep 16", text.data);
        enable(&world, 0, "touch sensor", 16);
        run(&world, 150);
        uint32_t serial;
        const double *at = reading(&world, 0, "touch sensor", &serial);
        CHECK_NEAR(at[2], cases[i].z, 0.5, cases[i].table);
        CHECK_NEAR(at[0], 0.0, 0.5, cases[i].table);
        close_world(&world);
        text_free(&text);
    }
}

// A ball that bounces once between two readings was felt; the reading after that knows nothing of it.
static void bumpers_remember(void **state)
{
    (void)state;
    World world = open_world(
        "basicTimeStep 16 contactProperties [ ContactProperties { bounce 1 bounceVelocity 0 } ]",
        "Solid { boundingObject Plane { } } Robot { translation 0 0 0.5 " MASS
        " boundingObject Sphere { radius 0.1 } children [ TouchSensor { boundingObject Sphere { radius 0.11 } } TouchSensor { name \"often\" boundingObject Sphere { radius 0.11 } } ] }");
    enable(&world, 0, "touch sensor", 320);
    enable(&world, 0, "often", 16);
    int touches = 0;
    for (int i = 0; i < 20; i++) {
        run(&world, 1);
        touches += value(&world, 0, "often") == 1.0;
    }
    CHECK(touches > 0 && value(&world, 0, "often") == 0.0, "in the air again");
    CHECK(value(&world, 0, "touch sensor") == 1.0, "felt in between");
    run(&world, 20);
    CHECK(value(&world, 0, "touch sensor") == 0.0, "and forgotten");
    close_world(&world);
}

// After a reset with edits physics is another one, and what was taken away is there again.
static void eyes_survive_resets(void **state)
{
    (void)state;
    static const char text[] =
        "#VRML_SIM R2025a utf8\nWorldInfo { }\nViewpoint { }\nDEF WALL Solid { translation 0.1 0 0 children [ Shape { geometry Box { size 0.1 1 1 } } ] }\n"
        "Robot { children [ DistanceSensor { type \"infra-red\" lookupTable [ 0 0 0, 1 1 0 ] } ] }\n";
    DiagSink *diags = diag_create();
    Sim *sim = sim_load_text("test.wbt", text, sizeof text - 1, NULL, diags);
    assert_non_null(sim);
    World world = { diags, sim_scene(sim), sim_physics(sim), devices_create(sim_scene(sim), sim_physics(sim), diags),
                    0 };
    enable(&world, 0, "distance sensor", 32);
    for (int round = 0; round < 3; round++) {
        sim_step(sim);
        devices_sample(world.devices, sim_steps(sim));
        CHECK_NEAR(value(&world, 0, "distance sensor"), 0.05, 1e-9, "the wall");
        assert_true(sim_remove(sim, scene_find_def(sim_scene(sim), "WALL")));
        sim_step(sim);
        devices_sample(world.devices, sim_steps(sim));
        CHECK_NEAR(value(&world, 0, "distance sensor"), 1.0, 1e-9, "no wall");
        assert_true(sim_reset(sim));
        world.physics = sim_physics(sim);
        devices_reset(world.devices, world.physics);
    }
    devices_destroy(world.devices);
    sim_destroy(sim);
    diag_destroy(diags);
}

// Physics does not have what a Lidar only shows: such devices and robots are none, and the others go on.
static void what_is_only_shown_has_no_devices(void **state)
{
    (void)state;
    World world = open_world(
        "",
        "Robot { name \"r\" children [ Lidar { horizontalResolution 4 rotatingHead Solid { children ["
        "  Connector { name \"c\" } TouchSensor { name \"t\" boundingObject Box { } } VacuumGripper { name \"v\" } Marker { name \"m\" }"
        "  Radar { name \"radar\" } GPS { name \"g\" } Robot { name \"inner\" } ] } } GPS { name \"gps\" } ] }");
    assert_int_equal(devices_robot_count(world.devices), 1);
    assert_int_equal(devices_count(world.devices, 0), 2);
    assert_int_equal(devices_find(world.devices, 0, "c"), 0);
    assert_true(devices_find(world.devices, 0, "gps") > 0);
    assert_int_equal(diag_total(world.diags, DIAG_WARNING), 6);  // one for each device
    run(&world, 2);
    close_world(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_only_shown_has_no_devices),
        cmocka_unit_test(sensors_of_motion),
        cmocka_unit_test(forces_are_felt),
        cmocka_unit_test(distances_are_seen),
        cmocka_unit_test(packets_travel),
        cmocka_unit_test(gps_knows_the_earth),
        cmocka_unit_test(noise_has_streams_of_its_own),
        cmocka_unit_test(chargers_charge),
        cmocka_unit_test(eyes_survive_resets),
        cmocka_unit_test(bumpers_remember),
        cmocka_unit_test(forces_have_signs),
        cmocka_unit_test(packets_meet_moved_robots),
        cmocka_unit_test(receivers_have_a_period),
        cmocka_unit_test(lamps_move),
        cmocka_unit_test(nothing_is_measured_without_power),
    };
    return cmocka_run_group_tests_name("devices.devices", tests, NULL, NULL);
}
