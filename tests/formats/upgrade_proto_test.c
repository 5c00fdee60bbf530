// PROTOs of old releases: the body, the defaults and what is given to an instance are each of the release of the file
// that they stand in.
#include "formats/formats.h"

#include "support/support.h"

static Scene *load(const char *text, DiagSink *diags)
{
    return formats_load_text("tests/formats/upgrade/test.wbt", text, strlen(text), NULL, diags);
}

static const SceneNode *find(const SceneNode *node, const char *field, int index)
{
    return scene_list_node(scene_list(node, field), index);
}

#define WORLD(release, nodes)                                                                                          \
    "#VRML_SIM " release " utf8\nEXTERNPROTO \"protos/OldThing.proto\"\nWorldInfo { }\nViewpoint { }\n" nodes

static void bodies_are_upgraded(void **state)
{
    (void)state;
    DiagSink *diags = diag_create();
    Scene *scene = load(
        WORLD("R2025a", "OldThing { parts [ Shape { geometry Cylinder { } } ] cameraRotation 0 1 0 1 }"), diags);
    const SceneNode *robot = scene_list_node(scene_list(scene_root(scene), "children"), 2);
    CHECK(scene_node_is(robot, "Robot"), "made");
    const SceneNode *turned = find(robot, "children", 0);
    CHECK(scene_node_is(turned, "Pose") && scene_rotation(turned, "rotation").angle == -1.5707963267948966,
          "a cylinder of the body stands along y");
    SceneNode *eye = (SceneNode *)find(robot, "children", 1);
    CHECK(scene_node_is(eye, "Camera") && !strcmp(eye->def, "EYE"), "the camera stands in its place");
    Vec3 looks = quat_rotate(quat_from_rotation(scene_rotation(eye, "rotation")), vec3(1, 0, 0));
    CHECK_NEAR(looks.x, -sin(1.0), 1e-12, "and looks along -z of the parameter's frame");
    CHECK_NEAR(looks.z, -cos(1.0), 1e-12, "and looks along -z of the parameter's frame");
    // What is written to the camera arrives at the parameter in the parameter's frame.
    Quat turn = quat_mul(quat_from_axis_angle(vec3(0, 1, 0), -0.5),
                         quat_from_rotation(scene_rotation(eye, "rotation")));
    scene_set_rotation(scene, eye, "rotation", quat_to_rotation(turn));
    const SceneNode *instance = scene_instance(robot);
    for (int i = 0; i < instance->proto->parameter_count; i++)
        if (!strcmp(instance->proto->parameters[i].name, "cameraRotation"))
            CHECK_NEAR(scene_value(instance, &instance->proto->parameters[i]).v[3], 0.5, 1e-12,
                       "the parameter keeps its meaning");
    CHECK_NEAR(scene_world_pose(find(eye, "children", 0)).t.y, 3.0, 1e-12, "what is inside of it stays");
    const SceneNode *part = find(find(robot, "children", 2), "children", 0);
    CHECK(scene_node_is(part, "Shape"), "what the new world gives stays as it is");
    const SceneNode *bounding = scene_child(robot, "boundingObject");
    CHECK(scene_node_is(bounding, "Pose") && scene_node_is(find(bounding, "children", 0), "Cylinder"),
          "the default is upgraded");
    scene_destroy(scene);
    diag_destroy(diags);
}

static void given_nodes_are_of_their_own_file(void **state)
{
    (void)state;
    DiagSink *diags = diag_create();
    Scene *scene = load(
        WORLD("R2020a", "OldThing { parts [ DEF P Shape { geometry DEF C Cylinder { } } ] boundingObject Capsule { } }"
                        "Solid { children [ USE P ] boundingObject USE C }"),
        diags);
    const FieldList *top = scene_list(scene_root(scene), "children");
    const SceneNode *robot = scene_list_node(top, 2), *solid = scene_list_node(top, 3);
    const SceneNode *part = find(find(robot, "children", 2), "children", 0);
    CHECK(scene_node_is(part, "Pose") && scene_node_is(find(part, "children", 0), "Shape"), "given to the instance");
    CHECK(scene_node_is(scene_child(robot, "boundingObject"), "Pose"), "a geometry given");
    CHECK(find(solid, "children", 0) == part, "a USE of what was given");
    const SceneNode *bounding = scene_child(solid, "boundingObject");
    CHECK(scene_node_is(bounding, "Pose") && scene_node_is(find(bounding, "children", 0), "Cylinder"),
          "a USE of its geometry");
    CHECK(!scene_node_is(scene_child(find(part, "children", 0), "geometry"), "Pose"), "nothing twice");
    scene_destroy(scene);
    diag_destroy(diags);
}

// A Servo that is given to an instance becomes a joint before the rest of the file is read, and its name that of the
// solid inside: USE finds it there, and the hint about a name that is not there still knows it.
static void names_move_with_what_is_upgraded(void **state)
{
    (void)state;
    static const struct {
        const char *use;
        bool is_found;
    } cases[] = { { "USE ARM", true }, { "USE ARMS", false } };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        char text[512];
        DiagSink *diags = diag_create();
        snprintf(text, sizeof text,
                 WORLD("R2012a", "OldThing { parts [ DEF ARM Servo { children [ DEF IN Solid { name \"in\" } ] } ] }\n"
                                 "Group { children [ %s ] }\n"),
                 cases[i].use);
        Scene *scene = load(text, diags);
        CHECK(scene, cases[i].use);
        const SceneNode *arm = scene_find_def(scene, "ARM");
        CHECK(arm && scene_node_is(arm, "Solid"), cases[i].use);
        const SceneNode *group = scene_list_node(scene_list(scene_root(scene), "children"), 3);
        CHECK(scene_node_is(group, "Group") && scene_list(group, "children")->count == cases[i].is_found, cases[i].use);
        CHECK((diag_total(diags, DIAG_ERROR) == 0) == cases[i].is_found, cases[i].use);
        scene_destroy(scene);
        diag_destroy(diags);
    }
}

static void scale_parameters_reach_sizes(void **state)
{
    (void)state;
    DiagSink *diags = diag_create();
    Scene *scene = load(WORLD("R2021a", "OldThing { scale 0.5 0.5 0.5 } OldThing { }"), diags);
    const FieldList *top = scene_list(scene_root(scene), "children");
    const SceneNode *half = scene_list_node(top, 2), *whole = scene_list_node(top, 3);
    CHECK_NEAR(scene_float(scene_child(half, "physics"), "mass"), 1.0, 1e-12, "mass");
    CHECK_NEAR(scene_float(scene_child(whole, "physics"), "mass"), 8.0, 1e-12, "of the other");
    const SceneNode *shape = find(find(half, "children", 0), "children", 0);
    CHECK_NEAR(scene_float(scene_child(shape, "geometry"), "height"), 1.0, 1e-12, "height");
    // Saving keeps the parameter, so that the next load scales once more from the start.
    Text text = { 0 };
    formats_write(scene, &text);
    CHECK(strstr(text.data, "scale 0.5 0.5 0.5"), "kept");
    text_free(&text);
    scene_destroy(scene);
    diag_destroy(diags);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_are_upgraded),
        cmocka_unit_test(given_nodes_are_of_their_own_file),
        cmocka_unit_test(names_move_with_what_is_upgraded),
        cmocka_unit_test(scale_parameters_reach_sizes),
    };
    return cmocka_run_group_tests_name("formats.upgrade_proto", tests, NULL, NULL);
}
