// Devices of bodies against formulas, through the library's public interface alone.
#include "talus/talus.h"

#include "base/text.h"
#include "support/support.h"

#include <math.h>

#define HEADER "format: ChoreonoidBody\nformat_version: 2.0\nname: B\n"
#define INERTIA "inertia: [ 0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1 ]"
#define FLOOR                                                                                                          \
    "  - { name: FLOOR, parent: R, material: Ground, elements: { Shape: { translation: [ 0, 0, -0.5 ], geometry: { type: Box, size: [ 40, 40, 1 ] } } } }\n"
static const double g = 9.80665;

static TalusWorld *open_text(const char *name, const char *text)
{
    TalusWorld *world = talus_load_text(name, text, strlen(text), NULL);
    CHECK(world != NULL, text);
    for (int i = 0; i < talus_diagnostic_count(world); i++) {
        TalusDiagnostic diagnostic;
        talus_diagnostic_at(world, i, &diagnostic);
        CHECK(diagnostic.severity < TALUS_ERROR, diagnostic.message);
    }
    return world;
}

static TalusWorld *open_body(const char *text) { return open_text("test.body", text); }

static TalusNode device(TalusWorld *world, const char *name)
{
    TalusNode node = talus_device(world, TALUS_NONE, name);
    CHECK(node != TALUS_NONE, name);
    return node;
}

static void enable(TalusWorld *world, const char *name)
{
    CHECK(talus_device_enable(world, device(world, name), 1), name);
}

static void check_reading(TalusWorld *world, const char *name, double x, double y, double z, double tolerance)
{
    double values[6] = { NAN, NAN, NAN };
    CHECK(talus_device_read(world, device(world, name), values, 6) >= 3, name);
    const double expected[3] = { x, y, z };
    for (int i = 0; i < 3; i++)
        CHECK_NEAR(values[i], expected[i], tolerance, name);
}

// At rest +g along up, in the sensor's frame; in free fall nothing.
static void accelerometers_feel_what_holds_them(void **state)
{
    (void)state;
    static const struct {
        const char *root, *sensor;
        double x, y, z;
    } cases[] = {
        { "fixed", "{ type: AccelerationSensor, name: A }", 0, 0, 1 },
        { "fixed", "{ type: AccelerationSensor, name: A, rotation: [ 1, 0, 0, 90 ] }", 0, 1, 0 },
        { "fixed", "{ type: AccelerationSensor, name: A, rotation: [ 0, 1, 0, 90 ], translation: [ 3, 2, 1 ] }", -1, 0,
          0 },
        { "fixed", "{ type: Transform, rotation: [ 1, 0, 0, 180 ], elements: { AccelerationSensor: { name: A } } }", 0,
          0, -1 },
        { "free", "{ type: AccelerationSensor, name: A }", 0, 0, 0 },
        { "free", "{ type: AccelerationSensor, name: A, rotation: [ 1, 0, 0, 40 ], translation: [ 1, 0, 0 ] }", 0, 0,
          0 },
        { "fixed", "{ type: IMU, name: I }", 0, 0, 1 },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        Text text = { 0 };
        text_printf(&text, HEADER "links:\n  - { name: R, joint_type: %s, mass: 2, " INERTIA ", elements: [ %s ] }\n",
                    cases[i].root, cases[i].sensor);
        TalusWorld *world = open_body(text.data);
        const char *name = strstr(cases[i].sensor, "IMU") ? "I_accelerometer" : "A";
        enable(world, name);
        double none;
        CHECK(talus_device_read(world, device(world, name), &none, 1) == 0, "no reading before the first step");
        CHECK(talus_step(world, 50), "step");
        check_reading(world, name, cases[i].x * g, cases[i].y * g, cases[i].z * g, 1e-6);
        talus_free(world);
        text_free(&text);
    }
}

// A box that stands on the floor: what holds it is the contact.
static void an_accelerometer_stands(void **state)
{
    (void)state;
    TalusWorld *world = open_body(
        HEADER
        "links:\n  - { name: R }\n" FLOOR
        "  - { name: BOX, parent: R, joint_type: free, translation: [ 0, 0, 0.2 ], mass: 2, " INERTIA ","
        " elements: [ { type: Shape, geometry: { type: Box, size: [ 1, 1, 0.4 ] } }, { type: AccelerationSensor, name: A }, { type: RateGyroSensor, name: G } ] }\n");
    enable(world, "A");
    enable(world, "G");
    CHECK(talus_step(world, 2000), "step");
    check_reading(world, "A", 0, 0, g, 1e-3);
    check_reading(world, "G", 0, 0, 0, 1e-6);
    talus_free(world);
}

// A turntable at 2 rad/s: gyros on it read that along its axis wherever and however they are mounted; an accelerometer
// half a metre out feels the centre pull.
static void gyros_ride_a_turntable(void **state)
{
    (void)state;
    TalusWorld *world = open_body(
        HEADER
        "links:\n  - { name: R }\n"
        "  - { name: T, parent: R, joint_type: revolute, joint_axis: Z, actuation_mode: joint_velocity, mass: 5, " INERTIA
        ", elements: [\n"
        "      { type: RateGyroSensor, name: PLAIN },\n"
        "      { type: RateGyroSensor, name: OUT, translation: [ 0.5, 0.2, 0.1 ] },\n"
        "      { type: RateGyroSensor, name: TURNED, translation: [ 0, 0.3, 0 ], rotation: [ 1, 0, 0, 90 ] },\n"
        "      { type: RateGyroSensor, name: DOWN, rotation: [ 0, 1, 0, 180 ] },\n"
        "      { type: RateGyroSensor, name: RATED, rotation: [ 1, 0, 0, 90 ], max_angular_velocity: [ 9, 1.5, 9 ] },\n"
        "      { type: IMU, name: IMU, rotation: [ 0, 1, 0, 90 ], max_angular_velocity: [ 0.25, 9, 9 ] },\n"
        "      { type: AccelerationSensor, name: A, translation: [ 0.5, 0, 0 ] } ] }\n");
    static const char *const names[] = { "PLAIN", "OUT", "TURNED", "DOWN", "RATED", "IMU_gyro", "A" };
    for (int i = 0; i < COUNT_OF(names); i++)
        enable(world, names[i]);
    CHECK(talus_motor_set_velocity(world, talus_find(world, "T"), 0, 2.0), "motor");
    CHECK(talus_step(world, 500), "step");
    check_reading(world, "PLAIN", 0, 0, 2, 1e-6);
    check_reading(world, "OUT", 0, 0, 2, 1e-6);
    check_reading(world, "TURNED", 0, 2, 0, 1e-6);
    check_reading(world, "DOWN", 0, 0, -2, 1e-6);
    check_reading(world, "RATED", 0, 1.5, 0, 1e-6);
    check_reading(world, "IMU_gyro", -0.25, 0, 0, 1e-6);
    // A step turns the table by 2e-3 rad, which bounds how well a difference of velocities shows the direction.
    check_reading(world, "A", -2.0 * 2.0 * 0.5, 0, g, 5e-3);
    talus_free(world);
}

// Ratings hold readings on each axis by itself.
static void ratings_hold_readings(void **state)
{
    (void)state;
    TalusWorld *world = open_body(
        HEADER
        "links:\n  - { name: R }\n"
        "  - { name: ARM, parent: R, joint_type: prismatic, joint_axis: X, joint_range: [ 0, 0 ], mass: 4, center_of_mass: [ 0.5, 0, 0 ], " INERTIA
        ", elements: [\n"
        "      { type: AccelerationSensor, name: LOW, max_acceleration: [ 1, 2, 3 ] }, { type: AccelerationSensor, name: HIGH, max_acceleration: [ 1, 2, 30 ] },\n"
        "      { type: AccelerationSensor, name: TURNED, rotation: [ 1, 0, 0, -90 ], max_acceleration: [ 1, 2, 3 ] },\n"
        "      { type: ForceSensor, name: F }, { type: ForceSensor, name: CUT, max_force: [ 100, 100, 10 ], max_torque: [ 100, 5, 100 ] } ] }\n");
    static const char *const names[] = { "LOW", "HIGH", "TURNED", "F", "CUT" };
    for (int i = 0; i < COUNT_OF(names); i++)
        enable(world, names[i]);
    CHECK(talus_step(world, 200), "step");
    check_reading(world, "LOW", 0, 0, 3, 1e-6);
    check_reading(world, "HIGH", 0, 0, g, 1e-6);
    check_reading(world, "TURNED", 0, -2, 0, 1e-6);
    // The arm hangs on its parent: it pulls down with its weight, and turns it about +y.
    double f[6], cut[6];
    CHECK(talus_device_read(world, device(world, "F"), f, 6) == 6
              && talus_device_read(world, device(world, "CUT"), cut, 6) == 6,
          "six numbers");
    CHECK_NEAR(f[2], -4.0 * g, 1e-3, "weight");
    CHECK_NEAR(f[4], 0.5 * 4.0 * g, 1e-3, "torque of r x F about +y");
    CHECK_NEAR(cut[2], -10.0, 1e-9, "max_force");
    CHECK_NEAR(cut[4], 5.0, 1e-9, "max_torque");
    talus_free(world);
}

// A load on a standing foot, the sensor in the foot turned and moved: force up in its own frame, torque about its own
// origin.
static void force_sensors_have_their_frame(void **state)
{
    (void)state;
    static const struct {
        const char *frame;
        double force[3], torque[3];
    } cases[] = {
        // in units of the load's weight
        { "translation: [ 0, 0, 0 ]", { 0, 0, 1 }, { 0, 0, 0 } },
        { "translation: [ 0.2, 0, 0 ]", { 0, 0, 1 }, { 0, 0.2, 0 } },
        { "translation: [ 0, 0.1, 0 ]", { 0, 0, 1 }, { -0.1, 0, 0 } },
        { "rotation: [ 1, 0, 0, 90 ], translation: [ 0.2, 0, 0 ]", { 0, 1, 0 }, { 0, 0, -0.2 } },
        { "rotation: [ 0, 0, 1, 90 ], translation: [ 0.2, 0, 0 ]", { 0, 0, 1 }, { 0.2, 0, 0 } },
        { "rotation: [ 1, 0, 0, 180 ]", { 0, 0, -1 }, { 0, 0, 0 } },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        Text text = { 0 };
        text_printf(
            &text,
            HEADER
            "links:\n  - { name: R }\n" FLOOR
            "  - { name: LOAD, parent: R, joint_type: free, translation: [ 0, 0, 0.5 ], mass: 5, inertia: [ 1, 0, 0, 0, 1, 0, 0, 0, 1 ] }\n"
            "  - { name: FOOT, parent: LOAD, translation: [ 0, 0, -0.4 ], joint_type: prismatic, joint_axis: X, joint_range: [ 0, 0 ], mass: 2, " INERTIA
            ","
            " elements: [ { type: Shape, geometry: { type: Box, size: [ 1, 1, 0.2 ] } }, { type: ForceSensor, name: F, %s } ] }\n",
            cases[i].frame);
        TalusWorld *world = open_body(text.data);
        enable(world, "F");
        CHECK(talus_step(world, 3000), "step");
        double f[6];
        CHECK(talus_device_read(world, device(world, "F"), f, 6) == 6, "reading");
        for (int k = 0; k < 3; k++) {
            CHECK_NEAR(f[k], cases[i].force[k] * 5.0 * g, 0.05, cases[i].frame);
            CHECK_NEAR(f[3 + k], cases[i].torque[k] * 5.0 * g, 0.05, cases[i].frame);
        }
        talus_free(world);
        text_free(&text);
    }
}

#define ARM_AND_BOX(holder, box)                                                                                                                                        \
    HEADER                                                                                                                                                              \
    "links:\n  - { name: R }\n" FLOOR                                                                                                                                   \
    "  - { name: LIFT, parent: R, joint_type: prismatic, joint_axis: Z, joint_id: 0, translation: [ 0, 0, 0.5 ], actuation_mode: joint_displacement, mass: 5, " INERTIA \
    ","                                                                                                                                                                 \
    " elements: [ { type: Shape, geometry: { type: Box, size: [ 0.1, 0.1, 0.1 ] } }, { type: Holder, name: H, translation: [ 0, 0, -0.05 ], " holder                    \
    " },"                                                                                                                                                               \
    " { type: DigitalIO, name: IO, num_signal_lines: 4, input_to_device_switch_connections: [ [ 2, H ] ], out_labels: { 0: done } } ] }\n"                              \
    "  - { name: BOX, parent: R, joint_type: free, translation: [ 0, 0, 0.2 ], mass: 1, " INERTIA ","                                                                   \
    " elements: [ { type: Shape, geometry: { type: Box, size: [ 0.4, 0.4, 0.4 ] } }, " box " ] }\n"

static double height(TalusWorld *world, const char *name)
{
    TalusPose pose;
    CHECK(talus_pose(world, talus_find(world, name), &pose), name);
    return pose.position.z;
}

// Lowers the lift onto the box, takes hold, lifts, lets go.
static void holders_take_and_let_go(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool holds;
    } cases[] = {
        { ARM_AND_BOX("category: grip", "{ type: Attachment, category: grip, translation: [ 0, 0, 0.2 ] }"), true },
        { ARM_AND_BOX("categories: [ screw, grip ]",
                      "{ type: Attachment, category: grip, translation: [ 0, 0, 0.2 ] }"),
          true },
        { ARM_AND_BOX("max_hold_distance: 0.03", "{ type: Attachment, category: grip, translation: [ 0, 0, 0.2 ] }"),
          true },
        { ARM_AND_BOX("category: screw", "{ type: Attachment, category: grip, translation: [ 0, 0, 0.2 ] }"), false },
        { ARM_AND_BOX("max_hold_distance: 0.03", "{ type: Attachment, translation: [ 0.1, 0, 0.2 ] }"), false },
        { ARM_AND_BOX("max_hold_distance: 0.03", "{ type: Attachment, on: false, translation: [ 0, 0, 0.2 ] }"),
          false },
        { ARM_AND_BOX("hold_condition: collision", "{ type: MarkerDevice, name: M }"), true },
        { ARM_AND_BOX("hold_condition: name, hold_target_name: BOX", "{ type: MarkerDevice, name: M }"), true },
        { ARM_AND_BOX("hold_condition: name, hold_target_name: NOBODY", "{ type: MarkerDevice, name: M }"), false },
    };
    for (int i = 0; i < COUNT_OF(cases); i++)
        for (int by_signal = 0; by_signal < 2; by_signal++) {
            TalusWorld *world = open_body(cases[i].text);
            TalusNode lift = talus_find(world, "LIFT"), holder = device(world, "H"), io = device(world, "IO");
            bool on = true;
            CHECK(talus_device_is_on(world, holder, &on) && !on, "off at the start");
            CHECK(talus_motor_set_position(world, lift, 0, -0.0505) && talus_step(world, 500), "down");
            CHECK(by_signal ? talus_signal_set(world, io, true, 2, true) : talus_device_switch(world, holder, true),
                  "on");
            CHECK(talus_step(world, 2) && talus_device_is_on(world, holder, &on) && on, "on");
            for (int k = 0; k < 1000; k++)
                CHECK(talus_motor_set_position(world, lift, 0, -0.0505 + 0.0005 * k) && talus_step(world, 1), "up");
            CHECK(talus_step(world, 200), "step");
            CHECK(cases[i].holds ? height(world, "BOX") > 0.6 : height(world, "BOX") < 0.25, cases[i].text);
            CHECK(by_signal ? talus_signal_set(world, io, true, 2, false) : talus_device_switch(world, holder, false),
                  "off");
            CHECK(talus_step(world, 2000), "step");
            CHECK(height(world, "BOX") < 0.25, "let go");
            talus_free(world);
        }
}

static void lines_are_set_and_read(void **state)
{
    (void)state;
    TalusWorld *world = open_body(ARM_AND_BOX("category: a", "{ type: MarkerDevice, name: M }"));
    TalusNode io = device(world, "IO"), marker = device(world, "M");
    bool on = true;
    CHECK(talus_signal_get(world, io, false, 3, &on) && !on, "off at the start");
    CHECK(talus_signal_set(world, io, false, 3, true) && talus_signal_get(world, io, false, 3, &on) && on, "output");
    CHECK(talus_signal_get(world, io, true, 3, &on) && !on, "inputs are their own");
    CHECK(!talus_signal_set(world, io, false, 4, true) && !talus_signal_set(world, io, false, -1, true)
              && !talus_signal_get(world, marker, false, 0, &on),
          "no such line");
    CHECK(talus_device_is_on(world, marker, &on) && on && talus_device_switch(world, marker, false)
              && talus_device_is_on(world, marker, &on) && !on,
          "marker");
    CHECK(talus_reset(world) && talus_signal_get(world, io, false, 3, &on) && !on, "reset");
    CHECK(talus_device_is_on(world, marker, &on) && on, "reset");
    talus_free(world);
}

static void conveyors_and_lights_are_switched(void **state)
{
    (void)state;
    TalusWorld *world = open_body(
        HEADER
        "links:\n  - { name: R, elements: [ { type: SpotLight, name: LAMP, on: false }, { type: PointLight, name: BULB } ] }\n"
        "  - { name: BELT, parent: R, elements: [ { type: Conveyor, name: C, speed: 0.5 }, { type: Shape, geometry: { type: Box, size: [ 8, 2, 0.2 ] } } ] }\n"
        "  - { name: BOX, parent: R, joint_type: free, translation: [ 0, 0, 0.2 ], mass: 1, " INERTIA
        ", elements: { Shape: { geometry: { type: Box, size: [ 0.2, 0.2, 0.2 ] } } } }\n");
    TalusVector linear, angular;
    CHECK(talus_step(world, 500) && talus_velocity(world, talus_find(world, "BOX"), &linear, &angular), "step");
    CHECK_NEAR(linear.x, 0.5, 1e-3, "carried");
    CHECK(talus_device_switch(world, device(world, "C"), false) && talus_step(world, 500)
              && talus_velocity(world, talus_find(world, "BOX"), &linear, &angular),
          "off");
    CHECK_NEAR(linear.x, 0.0, 1e-3, "stands");
    CHECK(talus_device_switch(world, device(world, "C"), true)
              && talus_set_double(world, device(world, "C"), "speed", -0.25),
          "back");
    CHECK(talus_step(world, 500) && talus_velocity(world, talus_find(world, "BOX"), &linear, &angular), "step");
    CHECK_NEAR(linear.x, -0.25, 1e-3, "carried back");
    bool on = true;
    CHECK(talus_device_is_on(world, device(world, "LAMP"), &on) && !on, "lamp");
    CHECK(talus_device_switch(world, device(world, "LAMP"), true)
              && talus_device_is_on(world, device(world, "LAMP"), &on) && on,
          "lamp on");
    CHECK(talus_device_switch(world, device(world, "BULB"), false)
              && talus_device_is_on(world, device(world, "BULB"), &on) && !on,
          "bulb off");
    talus_free(world);
}

// Readings, lines and holds are state: a restored snapshot goes on as the run did.
static void snapshots_hold_devices(void **state)
{
    (void)state;
    TalusWorld *world = open_body(
        ARM_AND_BOX("max_hold_distance: 1",
                    "{ type: Attachment, translation: [ 0, 0, 0.2 ] }, { type: AccelerationSensor, name: A }"));
    enable(world, "A");
    CHECK(talus_step(world, 100) && talus_device_switch(world, device(world, "H"), true)
              && talus_signal_set(world, device(world, "IO"), false, 1, true),
          "on");
    CHECK(talus_step(world, 50), "step");
    TalusSnapshot *snapshot = talus_snapshot_create();
    talus_snapshot_take(world, snapshot);
    CHECK(talus_device_switch(world, device(world, "H"), true) && talus_step(world, 300), "step");
    uint64_t hash = talus_hash(world);
    CHECK(talus_device_switch(world, device(world, "H"), false) && talus_step(world, 100) && talus_hash(world) != hash,
          "elsewhere");
    CHECK(talus_snapshot_restore(world, snapshot) && talus_step(world, 300), "restored");
    CHECK(talus_hash(world) == hash, "the same");
    bool on = false;
    CHECK(talus_signal_get(world, device(world, "IO"), false, 1, &on) && on, "line");
    talus_snapshot_free(snapshot);
    talus_free(world);
}

// On a slope of 0.5 a box stays with static friction 0.8, and slides with g (sin - 0.3 cos) once it moves.
static void static_friction_is_its_own(void **state)
{
    (void)state;
    const char *folder = support_scratch("static_friction");
    char path[4096], body[4096], table[4096];
    snprintf(path, sizeof path, "%s/slope.cnoid", folder);
    snprintf(body, sizeof body, "%s/slope.body", folder);
    snprintf(table, sizeof table, "%s/materials.yaml", folder);
    double angle = atan(0.5);
    Text text = { 0 };
    text_printf(
        &text,
        HEADER
        "links:\n  - { name: R, material: Slope, rotation: [ 0, 1, 0, %.17g ], elements: { Shape: { translation: [ 0, 0, -0.5 ], geometry: { type: Box, size: [ 40, 4, 1 ] } } } }\n"
        "  - { name: BOX, parent: R, material: Felt, joint_type: free, translation: [ 0, 0, 0.0999 ], mass: 1, " INERTIA
        ", elements: { Shape: { geometry: { type: Box, size: [ 0.6, 0.6, 0.2 ] } } } }\n",
        angle * 57.29577951308232);
    support_write(body, text.data);
    text_free(&text);
    support_write(
        table, "contact_materials: [ { materials: [ Slope, Felt ], static_friction: 0.8, dynamic_friction: 0.3 } ]\n");
    support_write(
        path,
        "items: { class: RootItem, children: [ { class: WorldItem, data: { material_table_file: materials.yaml, materialTableFile: materials.yaml },"
        " children: [ { class: BodyItem, name: B, data: { file: slope.body } } ] } ] }\n");
    TalusWorld *world = talus_load(path, NULL);
    CHECK(world != NULL, path);
    TalusNode box = talus_find(world, "BOX");
    TalusVector linear, angular;
    CHECK(talus_step(world, 2000) && talus_velocity(world, box, &linear, &angular), "step");
    CHECK_NEAR(hypot(linear.x, linear.z), 0.0, 1e-4, "stays");
    CHECK(talus_set_velocity(world, box, (TalusVector){ 0.1 * cos(angle), 0, -0.1 * sin(angle) },
                             (TalusVector){ 0, 0, 0 })
              && talus_step(world, 500),
          "pushed");
    CHECK(talus_velocity(world, box, &linear, &angular), "velocity");
    CHECK_NEAR(hypot(linear.x, linear.z), 0.1 + 0.5 * g * (sin(angle) - 0.3 * cos(angle)), 0.02, "slides");
    talus_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accelerometers_feel_what_holds_them),
        cmocka_unit_test(an_accelerometer_stands),
        cmocka_unit_test(gyros_ride_a_turntable),
        cmocka_unit_test(ratings_hold_readings),
        cmocka_unit_test(force_sensors_have_their_frame),
        cmocka_unit_test(holders_take_and_let_go),
        cmocka_unit_test(lines_are_set_and_read),
        cmocka_unit_test(conveyors_and_lights_are_switched),
        cmocka_unit_test(snapshots_hold_devices),
        cmocka_unit_test(static_friction_is_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
