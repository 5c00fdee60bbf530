// Robots and cars of the library stand: each one, alone on a floor with its motors at rest, keeps its place for ten
// simulated seconds to a millimetre, upright. A table shows the robots with the devices that a controller finds.
#include "base/diag.h"
#include "base/text.h"
#include "place.h"
#include "sim/sim.h"
#include "support/support.h"

#include <math.h>

static const struct Row {
    const char *name;
    const char *why;  // it does not stand still by itself; only that nothing runs away is checked. NULL: it stands
} rows[] = {
    { "AiboErs7", NULL },
    { "Altino", NULL },
    { "Atlas", NULL },
    { "BB-8", NULL },
    { "BioloidDog", NULL },
    { "Blimp", "needs its physics plugin to float" },
    { "BoeBot", NULL },
    { "Crazyflie", NULL },
    { "Create", NULL },
    { "DARwIn-OP", NULL },
    { "DARwInOP", NULL },
    { "Darwin-op", NULL },
    { "DarwinOP", NULL },
    { "E-puck", NULL },
    { "EPuck", NULL },
    { "Elisa3", NULL },
    { "FireBird6", NULL },
    { "GhostDog", NULL },
    { "Hemisson", NULL },
    { "Hoap2", NULL },
    { "IprHd6m180", NULL },
    { "IprHd6m90", NULL },
    { "IprHd6ms180", NULL },
    { "IprHd6ms90", NULL },
    { "Irb4600-40", NULL },
    { "JetBot", NULL },
    { "Khepera1", NULL },
    { "Khepera2", NULL },
    { "Khepera3", NULL },
    { "Khepera4", NULL },
    { "Khr2hv", NULL },
    { "Khr3hv", NULL },
    { "Koala", NULL },
    { "Mantis", NULL },
    { "Mavic2Pro", NULL },
    { "Microbot", NULL },
    { "MindstormsRover", NULL },
    { "Moose", NULL },
    { "Nao", NULL },
    { "Ned", NULL },
    { "P-Rob3", NULL },
    { "Panda", NULL },
    { "Pioneer2", NULL },
    { "Pioneer3DX", NULL },
    { "Pioneer3at", NULL },
    { "Pioneer3dx", NULL },
    { "Portal", NULL },
    { "Pr2", NULL },
    { "Puma560", NULL },
    { "QRIO", NULL },
    { "Robotino3", NULL },
    { "RobotisOp2", NULL },
    { "RobotisOp3", NULL },
    { "Salamander", NULL },
    { "ScaraT6", NULL },
    { "Mir100", NULL },
    { "Rosbot", NULL },
    { "RosbotXl", NULL },
    { "Shrimp", NULL },
    { "Sojourner", NULL },
    { "Spot", NULL },
    { "SummitXlSteel", NULL },
    { "SurveyorSrv1", NULL },
    { "Thymio2", NULL },
    { "Tiago", NULL },
    { "TiagoBase", NULL },
    { "TiagoIron", NULL },
    { "TiagoLite", NULL },
    { "TiagoSteel", NULL },
    { "TiagoTitanium", NULL },
    { "TurtleBot3Burger", NULL },
    { "UR10e", NULL },
    { "UR3e", NULL },
    { "UR5e", NULL },
    { "Yamor", NULL },
    { "Youbot", NULL },
    { "BmwX5", NULL },
    { "Bus", NULL },
    { "CitroenCZero", NULL },
    { "LincolnMKZ", NULL },
    { "MercedesBenzSprinter", NULL },
    { "RangeRoverSportSVR", NULL },
    { "TeslaModel3", NULL },
    { "ToyotaPrius", NULL },
    { "Tractor", NULL },
    { "Truck", NULL },
};

typedef struct Devices {
    int count;
    char names[2048];
} Devices;

static bool list_device(SceneNode *node, void *context)
{
    Devices *devices = context;
    if (!(node->type->flags & NODE_DEVICE) || !schema_field(node->type, "name"))
        return true;
    devices->count++;
    size_t used = strlen(devices->names);
    snprintf(devices->names + used, sizeof devices->names - used, "%s%s", used ? ", " : "", scene_string(node, "name"));
    return true;
}

static void write_world(Text *world, const char *name, double height)
{
    text_clear(world);
    text_printf(
        world,
        "#VRML_SIM R2025a utf8\nEXTERNPROTO \"webots://projects/p/protos/Floor.proto\"\n"
        "EXTERNPROTO \"webots://projects/p/protos/%s.proto\"\nWorldInfo { basicTimeStep 8 contactProperties [ ContactProperties { softCFM 1e-5 }\n"
        "ContactProperties { material1 \"LincolnMKZWheels\" softCFM 1e-5 } ContactProperties { material1 \"RangeRoverSportSVRWheels\" softCFM 1e-5 } ] }\nViewpoint { }\n"
        "Floor { size 20 20 }\n%s { translation 0 0 %.6f controller \"<none>\" }\n",
        name, name, height);
}

static void stand(const struct Row *row)
{
    Text world = { 0 };
    DiagSink *diags = diag_create();
    write_world(&world, row->name, 0.0);
    double height = place_height(world.data, world.length, row->name);
    write_world(&world, row->name, height);
    Sim *sim = sim_load_text("stand.wbt", world.data, world.length, NULL, diags);
    CHECK(sim && diag_total(diags, DIAG_ERROR) == 0, row->name);
    SceneNode *robot = place_find_robot(sim_scene(sim));
    CHECK(robot, row->name);
    Devices devices = { 0, "" };
    scene_walk(robot, false, list_device, &devices);
    while (sim_time(sim) < 3.0 && sim_step(sim))  // first it settles into its springs and contacts
        ;
    sim_sync_scene(sim);
    Pose before = scene_pose(robot);
    while (sim_time(sim) < 13.0 && sim_step(sim))
        ;
    CHECK(!sim_failure(sim), row->name);
    sim_sync_scene(sim);
    Pose after = scene_pose(robot);
    double drift = vec3_distance(before.t, after.t);
    double fall = vec3_distance(before.t, vec3(0, 0, height));
    double tilt = acos(fmin(1.0, quat_rotate(after.q, vec3(0, 0, 1)).z));
    printf("%-18s drift %8.6f m  settled by %6.4f m  tilt %5.3f rad  %3d devices: %.100s\n", row->name, drift, fall,
           tilt, devices.count, devices.names);
    if (!row->why) {
        CHECK(drift <= 1e-3, row->name);
        CHECK(fall <= 0.15, row->name);  // springs of vehicles
        CHECK(tilt <= 0.2, row->name);   // the DARwIn-OP leans by 0.125 when its feet are flat
    } else {
        CHECK(drift < 1.0 && fall < 1.0, row->why);
    }
    CHECK(devices.count > 0, row->name);
    sim_destroy(sim);
    diag_destroy(diags);
    text_free(&world);
}

static void test_robots_stand(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(rows); i++)
        stand(&rows[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_robots_stand) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
