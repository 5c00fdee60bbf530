// The head of a recording: names, joints with their axes in the frame of the end point, the view.
#include "physics/world.h"

#include "record/meta.h"

static const char text[] =
    "WorldInfo { basicTimeStep 8 title \"a \\\"world\\\"\" }"
    "Viewpoint { position 1 2 3 fieldOfView 0.5 follow \"r\" }"
    "Background { skyColor [ 0.25 0.5 1 ] }"
    "DirectionalLight { direction 0 0 -2 }"
    "DEF ROBOT Robot { name \"r\" translation 0 0 5 rotation 0 0 1 1.5707963267948966 children ["
    "  Camera { name \"eye\" width 32 }"
    "  DistanceSensor { name \"ds\" translation 1 0 0 lookupTable [ 0 0 0 1 10 0 ] }"
    "  Pose { translation 0 0 3 children [ PointLight { location 1 0 0 } ] }"
    "  HingeJoint { jointParameters HingeJointParameters { axis 0 1 0 anchor 0 0 1 minStop -1 maxStop 2 }"
    "    endPoint Solid { name \"arm\" locked TRUE translation 0 0 2 rotation 1 0 0 1.5707963267948966"
    "      boundingObject Box { } physics Physics { density -1 mass 3 centerOfMass [ 0 0.5 0 ] } } } ]"
    "  boundingObject Box { } physics Physics { } }";

static void what_is_said_of_a_world(void **state)
{
    (void)state;
    World world = world_open(text);
    Text out = { 0 };
    JsonWriter json = { .out = &out, .compact = true };
    meta_write(world.sim, &json);
    static const char *const parts[] = {
        "\"title\":\"a \\\"world\\\"\"",
        "\"timestep\":0.008",
        "\"up\":\"z\"",
        "\"name\":\"ROBOT\",\"def\":\"ROBOT\",\"type\":\"Robot\",\"parent\":-1",
        "\"locked\":true,\"mass\":3,\"com\":[0,0.5",
        "\"type\":\"hinge\",\"solid\":3,\"parent\":0,\"axes\":1",
        "\"min\":-1,\"max\":2",
        "\"position\":[1,2,3]",
        "\"follow\":0,\"followType\":\"Tracking Shot\"",
        "\"type\":\"Camera\",\"name\":\"eye\"",
        "\"shapes\":[[\"box\",0,2,2,2,0,0,0,0,0,0,1],[\"box\",3,",
        "\"inertia\":[3,0,0.5,0,",
        "\"kind\":\"DistanceSensor\"",
        "\"lookupTable\":[0,0,0,1,10,0]",
        "\"kind\":\"PointLight\"",
        "\"location\":[1,0,0]",
        "\"background\":{\"color\":[0.25,0.5,1]}",
        "\"sun\":[0,0,-1]",
    };
    for (int i = 0; i < COUNT_OF(parts); i++)
        if (!strstr(out.data, parts[i]))
            fail_msg("%s is not in %s", parts[i], out.data);
    // The arm is turned about x: the y axis of the joint is its -z, and the anchor, 1 m below it, lies along its -y.
    const char *axis = strstr(out.data, "\"axis\":[");
    double a[3], b[3];
    assert_non_null(axis);
    CHECK(sscanf(axis, "\"axis\":[%lf,%lf,%lf],\"anchor\":[%lf,%lf,%lf]", &a[0], &a[1], &a[2], &b[0], &b[1], &b[2])
              == 6,
          axis);
    CHECK_NEAR(a[2], -1.0, 1e-9, "axis");
    CHECK_NEAR(b[1], -1.0, 1e-9, "anchor");
    text_free(&out);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(what_is_said_of_a_world) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
