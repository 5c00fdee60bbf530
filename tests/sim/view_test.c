// What there is in a world and its numbers in bulk: lists, views, rays, contacts that begin and end, pictures.
#include "talus/talus.h"

#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char text[] =
    "#VRML_SIM R2025a utf8\n"
    "WorldInfo { basicTimeStep 4 }\n"
    "Viewpoint { position -3 0 1.5 }\n"
    "DEF FLOOR Solid { name \"floor\" boundingObject Plane { size 20 20 } children [ Shape { geometry Plane { size 20 20 } } ] }\n"
    "DEF BOX Solid { name \"crate\" translation 0 0 0.3 boundingObject Box { size 0.2 0.2 0.2 } physics Physics { density -1 mass 2 } }\n"
    "DEF ARM Robot { name \"arm\" controller \"<none>\" translation 3 0 1 children [\n"
    "  DEF HINGE HingeJoint { jointParameters HingeJointParameters { axis 0 1 0 } device [ DEF MOTOR RotationalMotor { name \"m\" minPosition -1 maxPosition 1 maxTorque 100 maxVelocity 2 }\n"
    "    DEF ANGLE PositionSensor { name \"angle\" } ]\n"
    "    endPoint DEF HAND Solid { name \"hand\" translation 0.3 0 0 boundingObject Box { size 0.1 0.1 0.1 } physics Physics { density -1 mass 0.1 } } }\n"
    "  DEF SLIDE SliderJoint { jointParameters JointParameters { axis 0 0 1 } device LinearMotor { name \"lift\" maxForce 50 }\n"
    "    endPoint DEF PLATE Solid { name \"plate\" translation 0 0.5 0 boundingObject Box { size 0.1 0.1 0.1 } physics Physics { density -1 mass 0.5 } } }\n"
    "  DEF PLACE GPS { name \"gps\" } DEF EYE Camera { name \"eye\" width 8 height 6 } ] }\n";

static TalusWorld *open_world(void)
{
    TalusWorld *world = talus_load_text("view.wbt", text, sizeof text - 1, NULL);
    assert_non_null(world);
    assert_int_equal(talus_diagnostic_total(world, TALUS_ERROR), 0);
    return world;
}

static void everything_is_listed(void **state)
{
    (void)state;
    TalusWorld *world = open_world();
    TalusNode nodes[16];
    assert_int_equal(talus_joints(world, nodes, 16), 2);
    assert_true(nodes[0] == talus_find(world, "HINGE") && nodes[1] == talus_find(world, "SLIDE"));
    assert_int_equal(talus_joint_axis_count(world, nodes[0]), 1);
    assert_int_equal(talus_joint_axis_count(world, talus_find(world, "BOX")), 0);
    assert_int_equal(talus_motors(world, nodes, 16), 2);
    assert_true(nodes[0] == talus_find(world, "MOTOR"));
    assert_int_equal(talus_robots(world, nodes, 16), 1);
    assert_int_equal(talus_children(world, nodes[0], nodes + 1, 15), 4);
    assert_true(nodes[1] == talus_find(world, "HINGE"));
    assert_int_equal(talus_children(world, TALUS_ROOT, NULL, 0), 5);
    assert_int_equal(talus_children(world, TALUS_NONE, NULL, 0), -1);
    uint64_t before = talus_hash(world);
    assert_int_equal(talus_devices(world, nodes[0], nodes, 16), 5);
    assert_true(talus_hash(world) != before);  // devices are part of the state from now on
    assert_string_equal(talus_get_string(world, nodes[0], "name"), "m");
    assert_int_equal(talus_devices(world, talus_find(world, "BOX"), nodes, 16), 0);
    assert_int_equal(talus_devices(world, TALUS_NONE, nodes, 2), 5);
    talus_free(world);
}

static void channels_say_what_they_are(void **state)
{
    (void)state;
    TalusWorld *world = open_world();
    static const char *const items[] = { "time",          "position BOX",   "joint_position *", "joint_effort SLIDE",
                                         "motor_force *", "sensor arm/gps", "touching ARM.*" };
    static const struct {
        const char *name, *unit;
        double low, high;
    } expected[] = {
        { "time", "s", 0, INFINITY },
        { "position BOX.x", "m", -INFINITY, INFINITY },
        { "position BOX.y", "m", -INFINITY, INFINITY },
        { "position BOX.z", "m", -INFINITY, INFINITY },
        { "joint_position HINGE", "rad", -1, 1 },
        { "joint_position SLIDE", "m", -INFINITY, INFINITY },
        { "joint_effort SLIDE", "N", -INFINITY, INFINITY },
        { "motor_force m", "N m", -100, 100 },
        { "motor_force lift", "N", -50, 50 },
        { "sensor gps[0]", "", -INFINITY, INFINITY },
    };
    TalusView *view = talus_view_create(world, items, 7);
    if (!view)
        fail_msg("%s", talus_last_error());
    for (int i = 0; i < (int)(sizeof expected / sizeof *expected); i++) {
        TalusChannel channel;
        assert_true(talus_view_channel(view, i, &channel));
        assert_string_equal(channel.name, expected[i].name);
        assert_string_equal(channel.unit, expected[i].unit);
        assert_true(channel.low == expected[i].low && channel.high == expected[i].high);
    }
    assert_false(talus_view_channel(view, talus_view_count(view), NULL));
    talus_view_free(view);
    talus_free(world);
}

static void a_view_reads_what_single_calls_read(void **state)
{
    (void)state;
    TalusWorld *world = open_world();
    static const char *const items[] = { "position BOX",        "orientation BOX",
                                         "linear_velocity BOX", "angular_velocity HAND",
                                         "joint_position m",    "joint_velocity HAND",
                                         "sensor gps",          "contact_force BOX" };
    static const char *const commands[] = { "motor_position HINGE", "force BOX" };
    TalusView *view = talus_view_create(world, items, 8), *command = talus_view_create(world, commands, 2);
    assert_true(view && command && talus_view_count(command) == 4);
    const double told[] = { 0.5, 0.0, 0.0, 3.0 };
    double values[64];
    for (int i = 0; i < 150; i++) {
        assert_true(talus_view_write(world, command, told) && talus_step(world, 1));
        assert_true(talus_view_read(world, view, values));
    }
    TalusNode box = talus_find(world, "BOX"), hand = talus_find(world, "HAND"), hinge = talus_find(world, "HINGE");
    TalusPose pose;
    TalusVector linear, angular;
    double position, velocity;
    assert_true(talus_pose(world, box, &pose) && talus_velocity(world, box, &linear, NULL));
    assert_true(talus_velocity(world, hand, NULL, &angular));
    assert_true(values[0] == pose.position.x && values[2] == pose.position.z && values[3] == pose.orientation.w);
    assert_true(values[9] == linear.z && values[11] == angular.y);
    assert_true(talus_joint_position(world, hinge, 0, &position) && talus_joint_velocity(world, hinge, 0, &velocity));
    assert_true(values[13] == position && values[14] == velocity && fabs(position - 0.5) < 0.01);
    assert_true(fabs(values[15] - 3.0) < 1e-9);  // the GPS stands with its robot
    assert_true(fabs(values[talus_view_count(view) - 1] + 3.0 - 2 * 9.81)
                < 0.1);  // the floor bears what the force leaves
    talus_view_free(view);
    talus_view_free(command);
    talus_free(world);
}

static void a_view_fits_clones_and_no_others(void **state)
{
    (void)state;
    TalusWorld *world = open_world();
    static const char *const items[] = { "position BOX", "sensor angle" };
    TalusView *view = talus_view_create(world, items, 2);
    TalusWorld *copy = talus_clone(world);
    double here[4], there[4];
    assert_true(talus_view_use(copy, view) && talus_step(world, 30) && talus_step(copy, 30));
    assert_true(talus_view_read(world, view, here) && talus_view_read(copy, view, there));
    assert_memory_equal(here, there, sizeof here);
    assert_true(talus_remove(copy, talus_find(copy, "BOX")));
    assert_false(talus_view_read(copy, view, there));
    assert_non_null(strstr(talus_last_error(), "does not fit"));
    assert_true(talus_view_read(world, view, here));
    assert_false(talus_view_write(world, view, here));
    assert_non_null(strstr(talus_last_error(), "only read"));
    talus_free(copy);
    talus_free(world);
    talus_view_free(view);
}

static void wrong_items_say_why(void **state)
{
    (void)state;
    TalusWorld *world = open_world();
    static const struct {
        const char *item, *words;
    } cases[] = {
        { "", "no quantity" },
        { "speed BOX", "'speed'" },
        { "position", "of what" },
        { "position NOBODY", "'NOBODY'" },
        { "joint_position BOX", "has no joint_position" },
        { "motor_force ANGLE", "has no motor_force" },
        { "sensor nothing", "'nothing'" },
        { "sensor robot/gps", "'robot/gps'" },
        { "position NOBODY.*", "'NOBODY'" },
        { "joint_position BOX.*", "none" },
    };
    for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++) {
        assert_null(talus_view_create(world, &cases[i].item, 1));
        if (!strstr(talus_last_error(), cases[i].words))
            fail_msg("'%s': '%s' does not say '%s'", cases[i].item, talus_last_error(), cases[i].words);
    }
    const char *nothing = NULL, *force = "force BOX", *position = "position BOX";
    assert_null(talus_view_create(world, &nothing, 1));
    assert_null(talus_view_create(world, NULL, 1));
    assert_null(talus_view_create(NULL, &force, 1));
    TalusView *view = talus_view_create(world, &force, 1), *place = talus_view_create(world, &position, 1);
    double values[3] = { 0, NAN, 0 };
    assert_false(talus_view_write(world, view, values) || talus_view_read(world, view, values));
    assert_false(talus_view_write(world, place, values) || talus_view_read(world, place, NULL));
    talus_view_free(view);
    talus_view_free(place);
    talus_free(world);
}

static void contacts_begin_and_end(void **state)
{
    (void)state;
    TalusWorld *world = open_world();
    TalusContactEvent events[8];
    TalusNode box = talus_find(world, "BOX"), floor = talus_find(world, "FLOOR");
    assert_int_equal(talus_contact_events(world, events, 8), 0);
    assert_true(talus_step(world, 100));
    assert_true(talus_contact_events(world, events, 8) >= 1 && events[0].begins);
    assert_true(events[0].solid[0] == floor && events[0].solid[1] == box);
    assert_true(events[0].step > 30 && events[0].step < 60);  // 0.2 m of fall take 0.202 s
    TalusPose up = { { 0, 0, 2 }, { 1, 0, 0, 0 } };
    while (talus_contact_events(world, events, 8) > 0)
        ;
    assert_true(talus_set_pose(world, box, up) && talus_step(world, 3));
    assert_int_equal(talus_contact_events(world, events, 8), 1);
    assert_false(events[0].begins);
    assert_true(talus_step(world, 200) && talus_reset(world));
    assert_int_equal(talus_contact_events(world, events, 8), 0);
    talus_free(world);
}

static void rays_find_solids(void **state)
{
    (void)state;
    TalusWorld *world = open_world();
    TalusVector from = { 0, 0, 5 }, down = { 0, 0, -2 }, none = { 0, 0, 0 };
    TalusHit hit;
    assert_true(talus_ray(world, from, down, INFINITY, &hit));
    assert_true(hit.solid == talus_find(world, "BOX") && fabs(hit.distance - 4.6) < 1e-9 && hit.normal.z > 0.99);
    assert_false(talus_ray(world, from, down, 4.0, &hit));
    assert_true(hit.solid == TALUS_NONE && isinf(hit.distance));
    assert_false(talus_ray(world, from, none, 4.0, &hit));
    assert_non_null(strstr(talus_last_error(), "direction"));
    TalusVector origins[3] = { { 0, 0, 5 }, { 1, 1, 5 }, { 0, 0, 5 } }, directions[3] = { down, down, { 0, 0, 1 } };
    TalusHit hits[3];
    assert_int_equal(talus_rays(world, 3, origins, directions, 100.0, hits), 2);
    assert_true(hits[1].solid == talus_find(world, "FLOOR") && hits[2].solid == TALUS_NONE);
    directions[1] = none;
    assert_int_equal(talus_rays(world, 3, origins, directions, 100.0, hits), -1);
    talus_free(world);
}

static void pictures_are_made(void **state)
{
    (void)state;
    TalusWorld *world = open_world();
    enum { WIDTH = 24, HEIGHT = 16 };
    uint8_t view[4 * WIDTH * HEIGHT] = { 0 }, eye[4 * WIDTH * HEIGHT] = { 0 };
    uint64_t before = talus_hash(world);
    assert_true(talus_picture(world, TALUS_NONE, WIDTH, HEIGHT, view));
    assert_true(talus_picture(world, talus_find(world, "EYE"), WIDTH, HEIGHT, eye));
    assert_true(talus_hash(world) == before);
    assert_true(view[3] == 255 && memcmp(view, eye, sizeof view) != 0);
    assert_false(talus_picture(world, talus_find(world, "BOX"), WIDTH, HEIGHT, view));
    assert_false(talus_picture(world, TALUS_NONE, 0, HEIGHT, view) || talus_picture(world, TALUS_NONE, 1, 1, NULL));
    assert_false(talus_picture_write(world, TALUS_NONE, WIDTH, HEIGHT, "picture.txt"));
    talus_free(world);
}

static void options_may_be_of_an_older_header(void **state)
{
    (void)state;
    TalusOptions options = talus_options_defaults();
    options.freezes_on_nan = true;
    options.stepper = "no such stepper";
    assert_null(talus_load_text("view.wbt", text, sizeof text - 1, &options));
    options.size = offsetof(TalusOptions, stepper);  // an older one that knew no stepper
    TalusWorld *world = talus_load_text("view.wbt", text, sizeof text - 1, &options);
    assert_non_null(world);
    talus_free(world);
    assert_int_equal(talus_version_number(), TALUS_VERSION_NUMBER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_listed),
        cmocka_unit_test(channels_say_what_they_are),
        cmocka_unit_test(a_view_reads_what_single_calls_read),
        cmocka_unit_test(a_view_fits_clones_and_no_others),
        cmocka_unit_test(wrong_items_say_why),
        cmocka_unit_test(contacts_begin_and_end),
        cmocka_unit_test(rays_find_solids),
        cmocka_unit_test(pictures_are_made),
        cmocka_unit_test(options_may_be_of_an_older_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
