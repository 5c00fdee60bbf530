// Robots of OpenHRP: VRML97 files with the PROTOs Humanoid, Joint and Segment, read as bodies.
#include "formats/body/body.h"

#include "base/memory.h"
#include "support/support.h"

// Writes a file of the models' folder and returns its path, which lives as long as the test.
static const char *put(const char *name, const char *text)
{
    static const char *folder;
    static Arena *arena;
    if (!folder) {
        folder = support_scratch("openhrp");
        arena = arena_create();
    }
    const char *path = arena_printf(arena, "%s/%s", folder, name);
    support_write(path, text);
    return path;
}

static bool says(const DiagSink *diags, DiagSeverity least, const char *words)
{
    for (int i = 0; i < diag_count(diags); i++)
        if (diag_at(diags, i)->severity >= least && strstr(diag_at(diags, i)->message, words))
            return true;
    return false;
}

#define HRP_PROTOS                                                                                                     \
    "#VRML V2.0 utf8\n"                                                                                                \
    "PROTO Joint [ exposedField SFString jointAxis \"Z\" exposedField MFNode children [] ] { Transform { } }\n"        \
    "PROTO Segment [ exposedField MFNode children [] ] { Group { } }\n"                                                \
    "PROTO Humanoid [ exposedField MFNode humanoidBody [] ] { Group { } }\n"

static const char humanoid_text[] = HRP_PROTOS
    "DEF WALKER Humanoid { humanoidBody [ DEF WAIST Joint {\n"
    "  jointType \"free\" jointAxis 0 0 0 translation 0 0 0.8 children [\n"
    "    DEF BASE Segment { mass 4 centerOfMass 0 0 0.1 momentsOfInertia [ 0.4 0 0 0 0.5 0 0 0 0.6 ]\n"
    "      children [ Shape { geometry Box { size 0.2 0.3 0.4 } } Inline { url \"plate.wrl\" }\n"
    "        DEF TURN Gyro { sensorId 2 translation 0 0 0.3 maxAngularVelocity 9 -1 9 } ] }\n"
    "    Transform { translation 0 1 0 children Segment { mass 4 children Surface {\n"
    "      visual Shape { geometry Sphere { radius 0.1 } } collision Shape { geometry Box { size 1 1 1 } } } } }\n"
    "    DEF KNEE Joint { jointType \"rotate\" jointId 0 jointAxis \"Y\" rotation 0 0 1 1.5707963267948966\n"
    "      translation 0.5 0 0 ulimit [ 1.2 ] llimit -0.4 uvlimit 3 gearRatio 10 rotorInertia 0.02 children [\n"
    "      Segment { mass 1 } DEF SOLE ForceSensor { } PressureSensor { }\n"
    "      DEF LIFT Joint { jointType \"slide\" jointId 1 jointAxis 0 0.6 0.8 children Segment { mass 1 } }\n"
    "      DEF EYE VisionSensor { type \"DEPTH\" width 64 height 48 fieldOfView 1.1 } ] }\n"
    "    DEF BELT Joint { jointType \"crawler\" jointId 2 jointAxis \"Y\" children Segment { mass 1 } }\n"
    "  ] } ] }\n"
    "ExtraJoint { link1Name \"KNEE\" link2Name \"WAIST\" jointType \"ball\" link1LocalPos 1 0 0 link2LocalPos 0.5 1 0 }\n";

static void links_are_read(void **state)
{
    (void)state;
    const char *path = put("walker.wrl", humanoid_text);
    put("plate.wrl",
        "#VRML V2.0 utf8\nTransform { translation 0 0 2 children Shape { geometry Box { size 1 1 1 } } }\n");
    DiagSink *diags = diag_create();
    BodyModel *model = body_load(path, NULL, diags);
    CHECK(model && !diag_has_errors(diags), "read");
    CHECK(!strcmp(model->name, "WALKER") && model->link_count == 4, "links");
    const BodyLink *waist = &model->links[0], *knee = &model->links[body_find_link(model, "KNEE")];
    const BodyLink *lift = &model->links[body_find_link(model, "LIFT")];
    CHECK(waist->joint_type == BODY_JOINT_FREE && knee->joint_type == BODY_JOINT_REVOLUTE, "kinds");
    CHECK(lift->joint_type == BODY_JOINT_PRISMATIC && lift->parent == body_find_link(model, "KNEE"), "slide");
    CHECK(model->links[body_find_link(model, "BELT")].joint_type == BODY_JOINT_TRACK, "crawler");
    CHECK_NEAR(waist->translation.z, 0.8, 0.0, "place");
    CHECK_NEAR(waist->mass, 8.0, 0.0, "two segments");
    CHECK_NEAR(waist->com.y, 0.5, 1e-12, "their centre");
    CHECK_NEAR(waist->inertia.m[0], 0.4 + 8.0 * 0.25 + 8.0 * 0.0025, 1e-12, "their inertia");
    CHECK_NEAR(waist->axis.z, 1.0, 0.0, "a free joint needs no axis");
    CHECK_NEAR(knee->axis.y, 1.0, 0.0, "axis by name");
    CHECK_NEAR(lift->axis.z, 0.8, 0.0, "axis by vector");
    CHECK_NEAR(knee->q_upper, 1.2, 0.0, "upper limit");
    CHECK_NEAR(knee->q_lower, -0.4, 0.0, "lower limit");
    CHECK_NEAR(knee->dq_upper, 3.0, 0.0, "velocity");
    CHECK_NEAR(knee->axis_inertia, 2.0, 1e-12, "rotor");
    CHECK(lift->q_upper == BODY_UNLIMITED, "no limit");
    body_destroy(model);
    diag_destroy(diags);
}

static void shapes_and_devices_are_read(void **state)
{
    (void)state;
    const char *path = put("walker.wrl", humanoid_text);
    DiagSink *diags = diag_create();
    BodyModel *model = body_load(path, NULL, diags);
    CHECK(model != NULL, "read");
    int seen = 0, solid = 0;
    for (int i = 0; i < model->shape_count; i++) {
        seen += model->shapes[i].is_visual;
        solid += model->shapes[i].is_collision;
        if (model->shapes[i].is_collision)
            CHECK_NEAR(model->shapes[i].frame.t.y, 1.0, 1e-12, "the surface's own");
    }
    CHECK(seen == 3 && solid == 1, "a Surface says what collides, the rest is seen");
    CHECK(model->device_count == 3 && model->devices[0].type == BODY_RATE_GYRO, "devices");
    CHECK(model->devices[0].id == 2 && model->devices[0].max_angular_velocity.y == BODY_UNLIMITED, "gyro");
    CHECK_NEAR(model->devices[0].frame.t.z, 0.3, 1e-12, "its place");
    CHECK(model->devices[2].type == BODY_RANGE_CAMERA && model->devices[2].width == 64, "camera");
    CHECK(says(diags, DIAG_NOTE, "PressureSensor"), "said");
    // Points of extra joints are given in frames that are turned as the root is.
    CHECK(model->extra_joint_count == 1 && model->extra_joints[0].type == BODY_EXTRA_BALL, "closed loop");
    CHECK_NEAR(model->extra_joints[0].frame[0].t.y, -1.0, 1e-12, "turned");
    BodyFrame frames[4];
    body_link_frames(model, NULL, frames);
    Vec3 a = body_frame_apply(frames[model->extra_joints[0].link[0]], model->extra_joints[0].frame[0].t);
    CHECK_NEAR(a.x, 1.5, 1e-12, "in the world");
    body_destroy(model);
    diag_destroy(diags);
}

static void files_are_opened_in_every_way(void **state)
{
    (void)state;
    put("walker.wrl", humanoid_text);
    put("rock.wrl", "#VRML V2.0 utf8\nShape { geometry Box { size 2 2 2 } }\n");
    const char *wrapper = put("walker.yaml", "modelFile: walker.wrl\nname: Renamed\n");
    const char *project = put("walk.cnoid", "items:\n  class: RootItem\n  children:\n"
                                            "    - { class: BodyItem, data: { modelFile: walker.wrl } }\n"
                                            "    - { class: BodyItem, data: { modelFile: rock.wrl } }\n");
    DiagSink *diags = diag_create();
    BodyModel *model = body_load(wrapper, NULL, diags);
    CHECK(model && !strcmp(model->name, "Renamed") && model->link_count == 4, "wrapper");
    body_destroy(model);
    Scene *scene = formats_load(project, NULL, diags);
    CHECK(scene && scene_find_solid(scene, "WALKER") && scene_find_solid(scene, "KNEE"), "project");
    CHECK(scene_find_solid(scene, "rock") && !scene_child(scene_find_solid(scene, "rock"), "physics"),
          "one fixed link");
    scene_destroy(scene);
    const char *path = put("walker.wrl", humanoid_text);
    scene = formats_load(path, NULL, diags);
    CHECK(scene && scene_find_solid(scene, "LIFT"), "alone");
    scene_destroy(scene);
    // As a mesh it is what is to be seen in it.
    scene = formats_load_vrml(path, NULL, diags);
    CHECK(scene && !scene_find_solid(scene, "LIFT"), "as a mesh");
    scene_destroy(scene);
    CHECK(!diag_has_errors(diags), "no errors");
    diag_destroy(diags);
}

static void files_that_are_wrong_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_read;
        const char *said;
    } cases[] = {
        { "Humanoid { humanoidBody [ ] }", false, "no Joint" },
        { "Humanoid { humanoidBody Joint { jointType \"screw\" } }", true, "'screw' is unknown" },
        { "Humanoid { humanoidBody DEF A Joint { jointType \"rotate\" ulimit 1 llimit 2 } }", true,
          "above its ulimit" },
        { "Humanoid { humanoidBody Joint { children Segment { children Inline { url \"none.wrl\" } } } }", true,
          "is not found" },
        { "Humanoid { humanoidBody Joint { children Segment { children Inline { url \"self.wrl\" } } } }", true,
          "inserts itself" },
        { "Humanoid { humanoidBody DEF A Joint { jointType \"slide\" jointAxis 0 0 0 } }", true,
          "jointAxis of 'A' is zero" },
        { "Humanoid { humanoidBody Joint { } } ExtraJoint { link1Name \"X\" }", true, "no link 'X'" },
        { "Humanoid { humanoidBody Joint { jointColour 1 } }", true, "Joint has no field" },
        { "Humanoid { humanoidBody Joint {", true, "inside of Joint" },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        Text text = { 0 };
        text_printf(&text, "%s%s\n", HRP_PROTOS, cases[i].text);
        const char *path = put("self.wrl", text.data);
        DiagSink *diags = diag_create();
        BodyModel *model = body_load(path, NULL, diags);
        CHECK((model != NULL) == cases[i].is_read, cases[i].text);
        CHECK(says(diags, DIAG_WARNING, cases[i].said), cases[i].said);
        body_destroy(model);
        diag_destroy(diags);
        text_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_are_read),
        cmocka_unit_test(shapes_and_devices_are_read),
        cmocka_unit_test(files_are_opened_in_every_way),
        cmocka_unit_test(files_that_are_wrong_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
