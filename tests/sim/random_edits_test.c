// A running world under random edits: any field of any node set, nodes put in and taken out, solids moved, motors and
// all other devices commanded, sensors and receivers read, resets, saves and reloads. Whatever held an index must have
// looked it up again: now and then the world is saved and opened, and both must be the same and go on alike. Three
// thousand edits by default; `random_edits EDITS [SEED [KINDS]]` makes more (ctest -L slow makes ten thousand).
#include "base/random.h"
#include "devices/devices.h"
#include "physics/joints/motor.h"
#include "physics/world.h"
#include "record/csv.h"
#include "scene/schema_effects.h"
#include "support/everything.h"

#include <math.h>

static int edit_count = 3000;
static uint64_t seed = 1;
static const char *kinds = "ssssssiiirrmmccddeRL";  // see `edits` below

// The devices that everything_text has not.
static const char more_devices[] =
    "DEF SECOND Robot { name \"second\" translation 4 4 1 children ["
    "  Emitter { channel 1 } Receiver { channel 1 } Speaker { } Display { width 8 height 8 } Pen { translation 0 0 -0.2 }"
    "  Connector { translation 0.3 0 0 autoLock TRUE } VacuumGripper { translation 0 0.3 0 boundingObject Box { size 0.1 0.1 0.1 } }"
    "  Track { translation 0 0 -0.2 boundingObject Box { size 0.5 0.1 0.1 } physics Physics { } device [ LinearMotor { name \"belt\" } PositionSensor { name \"belt place\" } ] }"
    "  HingeJoint { jointParameters HingeJointParameters { axis 1 0 0 } device [ RotationalMotor { name \"turn\" muscles [ Muscle { } ] } PositionSensor { name \"turned\" } Brake { name \"stop\" } ]"
    "    endPoint Solid { name \"second arm\" translation 0 0.4 0 boundingObject Box { size 0.1 0.4 0.1 } physics Physics { } } }"
    "] boundingObject Box { size 0.3 0.3 0.3 } physics Physics { } battery [ 500 500 10 ] }"
    "Charger { name \"charger\" translation 4 6 0 battery [ 900 1000 5 ] boundingObject Box { size 0.4 0.4 0.1 } }"
    "Robot { name \"partner\" controller \"<none>\" translation 4.6 4 1 children [ Connector { translation -0.3 0 0 rotation 0 0 1 3.14159265 autoLock TRUE } ]"
    "  boundingObject Box { size 0.2 0.2 0.2 } physics Physics { } }";

typedef struct Run {
    Sim *sim;
    DiagSink *diags;
    Devices *devices;
    Random random;
    char last[256];  // what was done last, for a message
    uint64_t steps;
    int made;  // nodes put in: names are unique, so that labels do not depend on the order
} Run;

static int below(Run *run, int count) { return (int)(random_uniform(&run->random) * count); }
static double between(Run *run, double low, double high) { return low + (high - low) * random_uniform(&run->random); }

// ---- devices, part of the state as for controllers ----

static size_t size_of(void *context) { return devices_snapshot_size(context); }
static void save(void *context, void *buffer) { devices_snapshot(context, buffer); }
static bool restore(void *context, const void *buffer, size_t size) { return devices_restore(context, buffer, size); }
static uint64_t hash_of(void *context) { return devices_hash(context); }
static void keep(void *context) { devices_keep(context); }

static void make_devices(Run *run)
{
    run->devices = devices_create(sim_scene(run->sim), sim_physics(run->sim), run->diags);
    sim_add_state(run->sim, &(SimStatePart){ "devices", run->devices, size_of, save, restore, hash_of, keep });
}

static void close_world(Run *run)
{
    sim_remove_state(run->sim, run->devices);
    devices_destroy(run->devices);
    sim_destroy(run->sim);
}

// ---- picking ----

typedef struct Pick {
    SceneNode *node;
    int wanted, seen;
} Pick;

static bool pick_one(SceneNode *node, void *context)
{
    Pick *pick = context;
    if (pick->seen++ == pick->wanted)
        pick->node = node;
    return true;
}

static SceneNode *any_node(Run *run)
{
    Pick pick = { .wanted = -1 };
    scene_walk(scene_root(sim_scene(run->sim)), false, pick_one, &pick);
    pick = (Pick){ .wanted = below(run, pick.seen) };
    scene_walk(scene_root(sim_scene(run->sim)), false, pick_one, &pick);
    return pick.node;
}

static int count_solids(const Sim *sim)
{
    int count = 0;
    for (int i = 0; i < physics_solid_count(sim_physics(sim)); i++)
        count += physics_solid_exists(sim_physics(sim), i);
    return count;
}

static int any_solid(Run *run)
{
    const Physics *physics = sim_physics(run->sim);
    for (int tries = 0; tries < 100 && physics_solid_count(physics) > 0; tries++) {
        int solid = below(run, physics_solid_count(physics));
        if (physics_solid_exists(physics, solid))
            return solid;
    }
    return -1;
}

// ---- the edits ----

// Values that make a world that cannot be simulated are another test's matter.
static bool is_tame(const NodeType *type, const FieldType *field)
{
    if (!strcmp(type->name, "WorldInfo"))
        return false;
    static const char *const wild[] = { "name", "url" };
    for (int i = 0; i < COUNT_OF(wild); i++)
        if (!strcmp(field->name, wild[i]))
            return false;
    return field->class == FIELD_PLAIN && !(schema_effects(type, field) & FIELD_ACTS_AT_LOAD);
}

static void set_something(Run *run)
{
    SceneNode *node = any_node(run);
    if (!node || node->type->field_count == 0)
        return;
    const FieldType *field = &node->type->fields[below(run, node->type->field_count)];
    FieldValue value = scene_value(node, field);
    snprintf(run->last, sizeof run->last, "set %s.%s", node->type->name, field->name);
    if (is_tame(node->type, field) && everything_other_value(field, &value))
        sim_set_value(run->sim, node, field, value);
}

static const char *const new_solids[] = {
    "Solid { name \"new box %d\" translation %g %g %g boundingObject Box { size 0.2 0.3 0.1 } physics Physics { density 700 } }",
    "Solid { name \"new ball %d\" translation %g %g %g boundingObject Sphere { radius 0.12 } physics Physics { } contactMaterial \"soft\" }",
    "Solid { name \"new post %d\" translation %g %g %g children [ Shape { geometry Cylinder { radius 0.1 height 1 } } ] boundingObject Cylinder { radius 0.1 height 1 } }",
    "Solid { name \"new pendulum %d\" translation %g %g %g children [ HingeJoint { jointParameters HingeJointParameters { axis 0 1 0 } device [ RotationalMotor { name \"m\" } ] "
    "endPoint Solid { name \"bob\" translation 0.3 0 0 boundingObject Box { size 0.3 0.05 0.05 } physics Physics { } } } ] }",
    "Robot { name \"new robot %d\" controller \"<none>\" translation %g %g %g children [ GPS { } DistanceSensor { } Camera { width 4 height 3 } TouchSensor { boundingObject Sphere { radius 0.05 } } ] "
    "boundingObject Box { size 0.2 0.2 0.2 } physics Physics { } }",
};
static const char *const new_parts[] = {
    "GPS { name \"more gps %d\" }",
    "Gyro { name \"more gyro %d\" }",
    "DistanceSensor { name \"more near %d\" rotation 0 1 0 1.2 }",
    "Camera { name \"more eye %d\" width 4 height 4 }",
    "TouchSensor { name \"more touch %d\" translation 0 0 0.4 boundingObject Sphere { radius 0.05 } physics Physics { } }",
    "Emitter { name \"more emitter %d\" }",
    "SliderJoint { jointParameters JointParameters { axis 1 0 0 dampingConstant 1 } device [ LinearMotor { name \"more motor %d\" } PositionSensor { name \"more place\" } ] "
    "endPoint Solid { name \"more %d\" translation 0 0 0.6 boundingObject Box { size 0.1 0.1 0.1 } physics Physics { } } }",
};

static void insert_something(Run *run)
{
    char text[1024];
    SceneNode *robot = scene_find_def(sim_scene(run->sim), "ROBOT");
    bool is_part = robot && below(run, 2);
    run->made++;
    if (is_part)
        snprintf(text, sizeof text, new_parts[below(run, COUNT_OF(new_parts))], run->made, run->made);
    else
        snprintf(text, sizeof text, new_solids[below(run, COUNT_OF(new_solids))], run->made, between(run, -4, 4),
                 between(run, -4, 4), between(run, 0.5, 4));
    snprintf(run->last, sizeof run->last, "insert %.200s", text);
    sim_insert(run->sim, is_part ? robot : scene_root(sim_scene(run->sim)), "children", -1, text, strlen(text));
}

// What the file had stays in half of the cases, so that there is something left to edit.
static void remove_something(Run *run)
{
    SceneNode *node = any_node(run);
    const char *def = scene_instance(node)->def;
    if (node == scene_root(sim_scene(run->sim)) || scene_node_is(node, "WorldInfo") || scene_node_is(node, "Viewpoint")
        || scene_node_is(node->parent, "Hinge2Joint") || scene_node_is(node, "Coordinate") || (def && below(run, 20)))
        return;  // (without these the file is wrong, and only its check says so)
    snprintf(run->last, sizeof run->last, "remove %s %s", node->type->name, def ? def : "");
    sim_remove(run->sim, node);
}

static void move_something(Run *run)
{
    int solid = any_solid(run);
    if (solid < 0)
        return;
    Pose pose = { vec3(between(run, -4, 4), between(run, -4, 4), between(run, 0.5, 4)),
                  quat_from_axis_angle(vec3(0, 0, 1), between(run, -3, 3)) };
    snprintf(run->last, sizeof run->last, "move %.100s", physics_solid_label(sim_physics(run->sim), solid));
    physics_solid_set_pose(sim_physics(run->sim), solid, pose);
    if (below(run, 2))
        physics_solid_reset(sim_physics(run->sim), solid);
}

static void command_something(Run *run)
{
    Physics *physics = sim_physics(run->sim);
    snprintf(run->last, sizeof run->last, "command");
    for (int joint = 0; joint < physics_joint_count(physics); joint++)
        for (int axis = 0; physics_joint_exists(physics, joint) && axis < physics_joint_axis_count(physics, joint);
             axis++)
            if (below(run, 3) == 0)
                physics_motor_set_position(physics, joint, axis, between(run, -0.5, 0.5));
    for (int robot = 0; robot < devices_robot_count(run->devices); robot++)
        for (int tag = 1; devices_robot_exists(run->devices, robot) && tag <= devices_count(run->devices, robot); tag++)
            if (below(run, 3) == 0)
                devices_enable(run->devices, robot, tag, 0, 16 * below(run, 3));
}

// As controllers would: any command of any device, with numbers and bytes that mean something or nothing.
static void command_devices(Run *run)
{
    snprintf(run->last, sizeof run->last, "device commands");
    for (int robot = 0; robot < devices_robot_count(run->devices); robot++)
        for (int tag = 1; devices_robot_exists(run->devices, robot) && tag <= devices_count(run->devices, robot);
             tag++) {
            if (below(run, 3))
                continue;
            double numbers[8];
            uint8_t bytes[64];
            for (int i = 0; i < COUNT_OF(numbers); i++)
                numbers[i] = below(run, 2) ? below(run, 4) : between(run, -2, 2);
            for (int i = 0; i < COUNT_OF(bytes); i++)
                bytes[i] = (uint8_t)below(run, 256);
            DeviceCommand command = { .numbers = numbers, .bytes = bytes };
            command.byte_count = below(run, COUNT_OF(bytes) + 1);
            command.number_count = below(run, COUNT_OF(numbers) + 1);
            command.row = below(run, 8);
            devices_command(run->devices, robot, tag, &command);
        }
}

static void empty_receivers(Run *run)
{
    snprintf(run->last, sizeof run->last, "receive");
    for (int robot = 0; robot < devices_robot_count(run->devices); robot++)
        for (int tag = 1; devices_robot_exists(run->devices, robot) && tag <= devices_count(run->devices, robot); tag++)
            while (devices_packet_count(run->devices, robot, tag) > 0) {
                DevicePacket packet = devices_packet(run->devices, robot, tag, 0);
                assert_true(packet.size >= 0 && (packet.data || packet.size == 0));
                devices_packet_drop(run->devices, robot, tag);
            }
}

static void reset_all(Run *run)
{
    if (below(run, 10))
        return;
    if (!sim_reset(run->sim)) {
        int count = diag_count(run->diags);
        fail_msg("after '%s' it cannot be reset: %s", run->last, count ? diag_at(run->diags, count - 1)->message : "");
    }
    snprintf(run->last, sizeof run->last, "reset");
    devices_reset(run->devices, sim_physics(run->sim));
    devices_rescan(run->devices);
}

static void step(Run *run)
{
    for (int i = 0; i < 2; i++) {
        if (!sim_step(run->sim))
            fail_msg("after '%s' the run fails: %s", run->last, sim_failure(run->sim));
        devices_rescan(run->devices);
        devices_sample(run->devices, ++run->steps);
    }
    for (int robot = 0; robot < devices_robot_count(run->devices); robot++)
        for (int tag = 1; devices_robot_exists(run->devices, robot) && tag <= devices_count(run->devices, robot);
             tag++) {
            int count, size;
            uint32_t serial;
            devices_reading(run->devices, robot, tag, 0, &count, &serial);
            devices_image(run->devices, robot, tag, 0, &size);
        }
}

// ---- the same world, saved and opened ----

static int find_label(const Physics *physics, const char *label)
{
    for (int i = 0; i < physics_solid_count(physics); i++)
        if (physics_solid_exists(physics, i) && !strcmp(physics_solid_label(physics, i), label))
            return i;
    return -1;
}

static void compare(Run *run, const Sim *other, double tolerance, const char *when)
{
    const Physics *a = sim_physics(run->sim), *b = sim_physics(other);
    int count = 0;
    for (int i = 0; i < physics_solid_count(a); i++) {
        if (!physics_solid_exists(a, i))
            continue;
        const char *label = physics_solid_label(a, i);
        int twin = find_label(b, label);
        if (twin < 0)
            fail_msg("after '%s', %s: '%s' is not in the saved world", run->last, when, label);
        double away = vec3_distance(physics_solid_pose(a, i).t, physics_solid_pose(b, twin).t);
        double speed = fmax(vec3_length(physics_solid_linear_velocity(a, i)),
                            vec3_length(physics_solid_linear_velocity(b, twin)));
        if (!(away <= tolerance * (1.0 + speed)))  // parts that were put into each other fly apart, each time otherwise
            fail_msg("after '%s', %s: '%s' is %g m away from that of the saved world", run->last, when, label, away);
        double mass = physics_solid_mass(a, i), other_mass = physics_solid_mass(b, twin);
        if (!(fabs(mass - other_mass) <= 1e-9 * (1.0 + mass)))
            fail_msg("after '%s', %s: '%s' weighs %g, in the saved world %g", run->last, when, label, mass, other_mass);
        count++;
    }
    assert_true(count > 0);
}

static void close_run(Run *run)
{
    close_world(run);
    diag_destroy(run->diags);
}

// An edit may make a world that is wrong; the one that runs must have said so too.
static bool has_said(const Run *run, const char *message)
{
    for (int i = 0; i < diag_count(run->diags); i++)
        if (!strcmp(diag_at(run->diags, i)->message, message))
            return true;
    return false;
}

static void check_against_saved(Run *run)
{
    char path[1024];
    step(run);  // what was moved by hand meets what it met before for one step more, as in Webots
    snprintf(path, sizeof path, "%s/saved.wbt", support_scratch("random_edits"));
    assert_true(sim_save(run->sim, path));
    Run saved = { .diags = diag_create() };
    saved.sim = sim_load(path, NULL, saved.diags);
    for (int i = 0; i < diag_count(saved.diags); i++) {
        const Diagnostic *said = diag_at(saved.diags, i);
        if (said->severity == DIAG_ERROR && !has_said(run, said->message))
            fail_msg("after '%s' only the saved world says: %s", run->last, said->message);
    }
    assert_non_null(saved.sim);
    make_devices(&saved);
    compare(run, saved.sim, 1e-9, "at once");
    step(run);
    step(&saved);
    compare(run, saved.sim, 0.15,
            "two steps later");  // warm starts and sleep are not in a file, and parts that overlap push hard
    close_run(&saved);
}

// The run goes on with what was saved, as after a reload.
static void reload(Run *run)
{
    if (below(run, 10))
        return;
    char path[1024];
    snprintf(path, sizeof path, "%s/reload.wbt", support_scratch("random_edits_reload"));
    snprintf(run->last, sizeof run->last, "reload");
    assert_true(sim_save(run->sim, path));
    close_world(run);
    run->sim = sim_load(path, NULL, run->diags);
    assert_non_null(run->sim);
    make_devices(run);
    run->steps = 0;
}

static void edits_leave_a_whole_world(void **state)
{
    (void)state;
    Run run = { .diags = diag_create() };
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    fprintf(out, "%s%s", everything_text, more_devices);
    fclose(out);
    run.sim = sim_load_text("everything.wbt", text, size, NULL, run.diags);
    free(text);
    assert_non_null(run.sim);
    make_devices(&run);
    random_seed(&run.random, seed, "edits");
    // Letters of what is done, each as often as it stands here.
    static const struct {
        char letter;
        void (*make)(Run *run);
    } edits[] = {
        { 's', set_something },   { 'i', insert_something },  { 'r', remove_something },
        { 'm', move_something },  { 'c', command_something }, { 'd', command_devices },
        { 'e', empty_receivers }, { 'R', reset_all },         { 'L', reload },
    };
    for (int i = 1; i <= edit_count; i++) {
        bool is_full = count_solids(run.sim) > 150;
        char letter = is_full && below(&run, 2) ? 'r' : kinds[below(&run, (int)strlen(kinds))];
        for (int k = 0; k < COUNT_OF(edits); k++)
            if (edits[k].letter == letter)
                edits[k].make(&run);
        if (getenv("TALUS_SHOW_EDITS"))
            printf("%d %s\n", i, run.last);
        if (below(&run, 4) == 0)
            step(&run);
        if (i % 50 == 0)
            check_against_saved(&run);
    }
    close_run(&run);
}

// A table goes on with the solids of its columns, whatever rows they stand in after edits, and leaves out those that
// have gone.
static void tables_follow_their_solids(void **state)
{
    (void)state;
    World world = world_open(
        "WorldInfo { } Solid { name \"goes\" translation 1 0 9 boundingObject Box { } physics Physics { } } "
        "Solid { name \"stays\" translation 2 0 9 boundingObject Box { } physics Physics { } }");
    char path[1024], last[256] = "";
    snprintf(path, sizeof path, "%s/table.csv", support_scratch("random_edits"));
    CsvRecorder *recorder = csv_open(world.sim, path, &(CsvOptions){ .columns = "*.x" });
    assert_non_null(recorder);
    SceneNode *root = scene_root(sim_scene(world.sim));
    sim_remove(world.sim, scene_list_node(scene_list(root, "children"), 1));
    for (int i = 0; i < 2000; i++) {
        char text[256];
        snprintf(text, sizeof text, "Solid { name \"s%d\" translation 7 0 9 boundingObject Box { size 0.1 0.1 0.1 } }",
                 i);
        sim_remove(world.sim, sim_insert(world.sim, root, "children", -1, text, strlen(text)));
    }
    world_step(&world, 1);
    assert_true(csv_close(recorder));
    char *table = support_read(path);
    for (char *line = strtok(table, "\n"); line; line = strtok(NULL, "\n"))
        snprintf(last, sizeof last, "%s", line);
    assert_string_equal(last, "0.032,,2");
    free(table);
    world_close(&world);
}

// What has gone leaves no rows that every later step would walk over.
static void rows_do_not_pile_up(void **state)
{
    (void)state;
    World world = world_open(
        "WorldInfo { } Solid { name \"floor\" boundingObject Plane { } } "
        "DEF BOX Solid { translation 0 0 1 boundingObject DEF FORM Box { } physics Physics { density 10 } }");
    SceneNode *root = scene_root(sim_scene(world.sim)), *spawned[5] = { 0 };
    for (int i = 0; i < 3000; i++) {
        char text[256];
        SceneNode **place = &spawned[i % COUNT_OF(spawned)];
        if (*place)
            assert_true(sim_remove(world.sim, *place));
        snprintf(
            text, sizeof text,
            "Solid { name \"s%d\" translation %d 0 1 boundingObject Box { size 0.1 0.1 0.1 } physics Physics { } }", i,
            2 + i % 50);
        *place = sim_insert(world.sim, root, "children", -1, text, strlen(text));
        assert_non_null(*place);
        scene_set_vec3(sim_scene(world.sim), scene_find_def(sim_scene(world.sim), "FORM"), "size",
                       vec3(1.0, 1.0, 1.0 + 1e-3 * (i % 9)));
        sim_field_changed(world.sim, scene_find_def(sim_scene(world.sim), "FORM"), "size");
        world_step(&world, 1);
    }
    CHECK(physics_solid_count(world.physics) < 1000, "solids");
    CHECK(physics_shape_count(world.physics) < 1000, "shapes");
    CHECK_NEAR(world_position(&world, "s2999").z, 1.0 - 9.81 * 0.032 * 0.032, 1e-9,
               "the last one has just begun to fall");
    CHECK_NEAR(world_position(&world, "BOX").z, 0.5, 0.02, "the one that changed its size all the time stands");
    world_close(&world);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        edit_count = atoi(argv[1]);
    if (argc > 2)
        seed = strtoull(argv[2], NULL, 10);
    if (argc > 3)
        kinds = argv[3];
    const struct CMUnitTest tests[] = { cmocka_unit_test(edits_leave_a_whole_world),
                                        cmocka_unit_test(rows_do_not_pile_up),
                                        cmocka_unit_test(tables_follow_their_solids) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
