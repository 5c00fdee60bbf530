// Body nodes in a world: they stand where the world says, can be found, moved and saved.
#include "formats/body/body.h"

#include "base/file.h"
#include "support/support.h"

static const char arm[] =
    "format: ChoreonoidBody\nformat_version: 2.0\nname: Arm\nlinks:\n"
    "  - { name: BASE, joint_type: fixed, translation: [ 0, 0, 0.5 ], mass: 2, inertia: [ 1, 0, 0, 0, 1, 0, 0, 0, 1 ] }\n"
    "  - { name: ELBOW, parent: BASE, translation: [ 0, 0, 1 ], joint_type: revolute, joint_axis: Y, joint_id: 0, mass: 1,\n"
    "      inertia: [ 1, 0, 0, 0, 1, 0, 0, 0, 1 ], elements: { Shape: { geometry: { type: Box, size: [ 1, 1, 1 ] } } } }\n";

static Scene *load_world(const char *nodes, DiagSink *diags)
{
    static char path[4096];
    const char *folder = support_scratch("body_place");
    snprintf(path, sizeof path, "%s/arm.body", folder);
    support_write(path, arm);
    snprintf(path, sizeof path, "%s/world.wbt", folder);
    char text[2000];
    snprintf(text, sizeof text, "#VRML_SIM R2025a utf8\nWorldInfo { }\nViewpoint { }\n%s", nodes);
    return formats_load_text(path, text, strlen(text), NULL, diags);
}

static void bodies_are_placed(void **state)
{
    (void)state;
    DiagSink *diags = diag_create();
    Scene *scene = load_world(
        "DEF A Body { url \"arm.body\" translation 1 2 3 name \"first\" jointPositions [ 0.5 ] }\n"
        "DEF B Body { url \"arm.body\" fixed \"false\" controller \"walk\" }\n",
        diags);
    CHECK(scene && !diag_has_errors(diags), "load");
    SceneNode *first = scene_find_solid(scene, "first"), *second = scene_find_solid(scene, "Arm");
    CHECK(first && second && scene_node_is(first, "Robot"), "robots");
    CHECK_NEAR(scene_world_pose(first).t.x, 1.0, 1e-12, "x");
    CHECK_NEAR(scene_world_pose(second).t.z, 0.5, 1e-12, "the body file's own place");
    CHECK(!scene_child(first, "physics") && scene_child(second, "physics"), "fixed and free");
    CHECK(!strcmp(scene_string(second, "controller"), "walk"), "controller");
    SceneNode *elbow = scene_find_solid(scene, "ELBOW");
    CHECK(elbow != NULL, "elbow");
    const SceneNode *joint = scene_parent(elbow);
    CHECK_NEAR(scene_float(scene_child(joint, "jointParameters"), "position"), 0.5, 1e-12, "position");
    CHECK_NEAR(scene_pose(elbow).q.y, sin(0.25), 1e-12, "turned");

    // Moving the robot moves the node that the file has, and saving writes that node.
    scene_set_vec3(scene, first, "translation", vec3(7, 8, 9));
    CHECK_NEAR(scene_vec3(scene_find_def(scene, "A"), "translation").y, 8.0, 0.0, "moved");
    Text text = { 0 };
    formats_write(scene, &text);
    CHECK(strstr(text.data, "DEF A Body {") && strstr(text.data, "translation 7 8 9"), text.data);
    CHECK(!strstr(text.data, "HingeJoint"), "the file keeps the Body node");
    text_free(&text);
    scene_destroy(scene);
    diag_destroy(diags);
}

static void bad_bodies_are_reported(void **state)
{
    (void)state;
    static const struct {
        const char *node, *message;
    } cases[] = {
        { "Body { }", "needs 'url'" },
        { "Body { url \"nothing.body\" }", "not found" },
        { "Body { url \"arm.body\" jointPositions [ 1 2 3 ] }", "joint positions" },
        { "Body { url \"world.wbt\" }", NULL },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        DiagSink *diags = diag_create();
        Scene *scene = load_world(cases[i].node, diags);
        CHECK(scene != NULL, cases[i].node);
        bool is_said = !cases[i].message;
        for (int k = 0; k < diag_count(diags); k++)
            is_said = is_said || (cases[i].message && strstr(diag_at(diags, k)->message, cases[i].message));
        CHECK(is_said, cases[i].node);
        scene_destroy(scene);
        diag_destroy(diags);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_are_placed),
        cmocka_unit_test(bad_bodies_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
