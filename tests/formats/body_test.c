// What body files mean where it surprises: a test per trap of the format, and per way of being wrong.
#include "formats/body/body.h"
#include "formats/shape/shape.h"

#include "base/memory.h"
#include "support/support.h"

#include <math.h>

#define DEGREE (3.14159265358979323846 / 180.0)
#define HEADER "format: ChoreonoidBody\nformat_version: 1.0\nname: B\n"
#define ROOT "links:\n  - { name: R, joint_type: free, mass: 1, inertia: [ 1, 0, 0, 0, 1, 0, 0, 0, 1 ] }\n"

static BodyModel *parse(const char *text, DiagSink *diags)
{
    return body_load_text("test.body", text, strlen(text), NULL, diags);
}

// A body in which nothing is an error.
static BodyModel *parse_fine(const char *text)
{
    DiagSink *diags = diag_create();
    BodyModel *model = parse(text, diags);
    if (!model || diag_has_errors(diags)) {
        diag_print(diags, stdout, 0, DIAG_NOTE);
        fail_msg("errors in\n%s", text);
    }
    diag_destroy(diags);
    return model;
}

static bool says(const DiagSink *diags, DiagSeverity least, const char *words)
{
    for (int i = 0; i < diag_count(diags); i++)
        if (diag_at(diags, i)->severity >= least
            && (strstr(diag_at(diags, i)->message, words)
                || (diag_at(diags, i)->hint && strstr(diag_at(diags, i)->hint, words))))
            return true;
    return false;
}

static BodyModel *with_link(const char *keys)
{
    Text text = { 0 };
    text_printf(&text, HEADER ROOT "  - { name: L, parent: R, %s }\n", keys);
    BodyModel *model = parse_fine(text.data);
    text_free(&text);
    return model;
}

static void mass_without_data_is_one_kilogram(void **state)
{
    (void)state;
    static const struct {
        const char *keys;
        double mass, ixx;
    } cases[] = {
        { "joint_type: fixed", 1.0, 1.0 },
        { "mass: 3", 3.0, 1.0 },
        { "elements: { RigidBody: { mass: 2 } }", 2.0, 0.0 },
        { "mass: 1, elements: { RigidBody: { mass: 2 } }", 3.0, 0.0 },
        { "elements: { RigidBody: { mass: 0 } }", 0.0, 0.0 },
        { "inertia: [ 2, 0, 0, 3, 0, 4 ]", 1.0, 2.0 },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        BodyModel *model = with_link(cases[i].keys);
        CHECK_NEAR(model->links[1].mass, cases[i].mass, 0.0, cases[i].keys);
        CHECK_NEAR(model->links[1].inertia.m[0], cases[i].ixx, 1e-15, cases[i].keys);
        body_destroy(model);
    }
}

static void rigid_bodies_are_summed(void **state)
{
    (void)state;
    BodyModel *model = with_link(
        "elements: [ { type: Transform, translation: [ 1, 0, 0 ], elements: { RigidBody: { mass: 1 } } },"
        "{ type: RigidBody, translation: [ -1, 0, 0 ], mass: 3, inertia: [ 1, 0, 0, 2, 0, 3 ], rotation: [ 0, 0, 1, 90 ] } ]");
    const BodyLink *link = &model->links[1];
    CHECK_NEAR(link->mass, 4.0, 1e-15, "mass");
    CHECK_NEAR(link->com.x, -0.5, 1e-15, "centre");
    // The second body is turned by 90 degrees: its y inertia lies along x. Both lie 1.5 and 0.5 from the centre.
    CHECK_NEAR(link->inertia.m[0], 2.0, 1e-12, "xx");
    CHECK_NEAR(link->inertia.m[4], 1.0 + 1.5 * 1.5 + 3 * 0.5 * 0.5, 1e-12, "yy");
    body_destroy(model);
}

static void joint_type_absent_means_fixed(void **state)
{
    (void)state;
    BodyModel *model = parse_fine(HEADER "links: [ { name: R } ]\n");
    CHECK(model->links[0].joint_type == BODY_JOINT_FIXED, "root");
    CHECK(body_is_static(model), "static");
    body_destroy(model);
}

static void extra_joints_take_all_spellings(void **state)
{
    (void)state;
    static const char *const keys[] = { "translation_in_link1", "link1LocalPos", "link1_local_pos" };
    for (int i = 0; i < COUNT_OF(keys); i++) {
        Text text = { 0 };
        text_printf(
            &text,
            HEADER ROOT
            "  - { name: L, parent: R }\nextra_joints: [ { link1_name: R, link2_name: L, joint_type: ball, %s: [ 1, 2, 3 ] } ]\n",
            keys[i]);
        BodyModel *model = parse_fine(text.data);
        CHECK(model->extra_joint_count == 1 && model->extra_joints[0].frame[0].t.z == 3.0, keys[i]);
        body_destroy(model);
        text_free(&text);
    }
}

static void both_names_of_the_imu_are_known(void **state)
{
    (void)state;
    static const char *const types[] = { "IMU", "Imu" };
    for (int i = 0; i < COUNT_OF(types); i++) {
        Text text = { 0 };
        text_printf(&text, "elements: { %s: { name: S } }", types[i]);
        BodyModel *model = with_link(text.data);
        CHECK(model->device_count == 1 && model->devices[0].type == BODY_IMU, types[i]);
        body_destroy(model);
        text_free(&text);
    }
}

static void one_velocity_limit_wins(void **state)
{
    (void)state;
    BodyModel *model = with_link("joint_type: revolute, max_joint_velocity: 90, joint_velocity_range: [ -1, 2 ]");
    CHECK_NEAR(model->links[1].dq_upper, 90 * DEGREE, 1e-15, "max_joint_velocity");
    body_destroy(model);
    model = with_link("joint_type: revolute, joint_velocity_range: [ -1, 2 ]");
    CHECK_NEAR(model->links[1].dq_upper, 2 * DEGREE, 1e-15, "range");
    body_destroy(model);
}

static void displacements_follow_units(void **state)
{
    (void)state;
    static const struct {
        const char *keys;
        double q;
    } cases[] = {
        { "joint_type: revolute, joint_displacement: 90", 90 * DEGREE },
        { "joint_type: prismatic, joint_displacement: 0.1", 0.1 },
        { "joint_type: prismatic, joint_angle: 0.1", 0.1 * DEGREE },
        { "joint_type: revolute, joint_angle: 10, joint_displacement: 20", 20 * DEGREE },
        { "joint_displacement: 20, joint_type: revolute", 20 * DEGREE },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        BodyModel *model = with_link(cases[i].keys);
        CHECK_NEAR(model->links[1].q_initial, cases[i].q, 1e-15, cases[i].keys);
        body_destroy(model);
    }
}

static void caps_and_transparency(void **state)
{
    (void)state;
    BodyModel *model = with_link(
        "elements: { Shape: { geometry: { type: Extrusion, spine: [ 0, 0, 0, 0, 1, 0 ], begin_cap: false },"
        " appearance: { material: { transparency: 0.25, shininess: 0.5 } } } }");
    CHECK(!model->shapes[0].geometry->has_begin_cap && model->shapes[0].geometry->has_end_cap, "caps");
    CHECK_NEAR(model->shapes[0].appearance->transparency, 0.25, 0.0, "0 is opaque");
    CHECK_NEAR(model->shapes[0].appearance->specular_exponent, 64.5, 1e-12, "shininess");
    body_destroy(model);
}

static void range_sensors_sweep_in_total(void **state)
{
    (void)state;
    BodyModel *model = with_link(
        "elements: { RangeSensor: { yaw_range: 90, yaw_step: 1, pitch_range: 10, pitch_step: 5 } }");
    CHECK_NEAR(model->devices[0].max_yaw, 45 * DEGREE, 1e-15, "half to each side");
    CHECK(model->devices[0].yaw_samples == 91 && model->devices[0].pitch_samples == 3, "samples");
    body_destroy(model);
    model = with_link("elements: { RangeSensor: { } }");
    CHECK(model->devices[0].yaw_samples == 3, "a radian a step");
    body_destroy(model);
}

static void cameras_need_a_format(void **state)
{
    (void)state;
    DiagSink *diags = diag_create();
    BodyModel *model = parse(
        HEADER "links: [ { name: R, elements: [ { type: Camera, name: C }, { type: Camera, format: BLUE }, "
               "{ type: Camera, format: COLOR_DEPTH }, { type: Camera, format: COLOR } ] } ]\n",
        diags);
    CHECK(model && model->device_count == 2, "two devices");
    CHECK(model->devices[0].type == BODY_RANGE_CAMERA && model->devices[1].type == BODY_CAMERA, "types");
    CHECK(says(diags, DIAG_WARNING, "without format") && says(diags, DIAG_WARNING, "BLUE"), "said");
    body_destroy(model);
    diag_destroy(diags);
}

static void unknown_nodes_and_keys_are_said(void **state)
{
    (void)state;
    DiagSink *diags = diag_create();
    BodyModel *model = parse(
        HEADER
        "links: [ { name: R, joitAxis: X, elements: [ { type: FireDevice, elements: { Camera: { format: COLOR } } },"
        " { type: Shap, geometry: { type: Box } }, { type: Odd, isOptional: true } ] } ]\n",
        diags);
    CHECK(model && model->device_count == 0 && model->shape_count == 0, "skipped with what is in them");
    CHECK(!diag_has_errors(diags), "no error");
    CHECK(says(diags, DIAG_WARNING, "SceneEffects") && says(diags, DIAG_WARNING, "'Shape'")
              && says(diags, DIAG_WARNING, "Odd"),
          "types");
    CHECK(says(diags, DIAG_WARNING, "joitAxis") && says(diags, DIAG_WARNING, "'jointAxis'"), "slip");
    CHECK(model->links[0].info && !strcmp(model->links[0].info->key, "joitAxis"), "kept");
    body_destroy(model);
    diag_destroy(diags);
}

static void free_links_below_the_root(void **state)
{
    (void)state;
    BodyModel *model = with_link("joint_type: free, translation: [ 1, 0, 0 ]");
    CHECK(model->links[1].joint_type == BODY_JOINT_FREE && body_all_joint_count(model) == 1, "free");
    body_destroy(model);
}

static void links_are_written_in_many_ways(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int links, shapes;
    } cases[] = {
        { HEADER "links: { Link: { name: R, elements: { Shape: { geometry: { type: Box } } } } }\n", 1, 1 },
        { HEADER
          "links: [ { type: Skip, name: X }, { name: R, elements: [ { type: Shape, geometry: { type: Sphere } } ] } ]\n",
          1, 1 },
        { HEADER "links: [ { name: R, elements: { type: Shape, geometry: { type: Cone } } } ]\n", 1, 1 },
        { HEADER "root_link: B\nlinks: [ { name: A, parent: B }, { name: B } ]\n", 2, 0 },
        { HEADER
          "links: [ { name: R }, { type: ContinuousTrack, name: T, parent: R, numJoints: 4, jointOffset: [ 1, 0, 0 ] } ]\n",
          5, 0 },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        BodyModel *model = parse_fine(cases[i].text);
        CHECK(model->link_count == cases[i].links && model->shape_count == cases[i].shapes, cases[i].text);
        body_destroy(model);
    }
}

static void visual_and_collision(void **state)
{
    (void)state;
    BodyModel *model = with_link(
        "elements: [ { type: Visual, shape: { geometry: { type: Box } } }, { type: Collision, translation: [ 1, 0, 0 ],"
        " elements: { Shape: { geometry: { type: Box }, translation: [ 1, 0, 0 ], scale: [ 2, 2, 2 ] } } },"
        " { type: Shape, geometry: { type: Box } } ]");
    const BodyShape *shapes = model->shapes;
    CHECK(shapes[0].is_visual && !shapes[0].is_collision, "seen");
    CHECK(!shapes[1].is_visual && shapes[1].is_collision && shapes[1].frame.t.x == 2.0 && shapes[1].frame.m.m[4] == 2.0,
          "felt");
    CHECK(shapes[2].is_visual && shapes[2].is_collision, "both");
    body_destroy(model);
}

static void wrong_files_are_reported(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_read;
        const char *message;
    } cases[] = {
        { "", false, "no map" },
        { "[ 1, 2 ]", false, "no map" },
        { "format: Other\n", false, "not ChoreonoidBody" },
        { "name: x\n", false, "neither" },
        { HEADER, false, "needs 'links'" },
        { "links: [ { name: R } ]\n", true, "'format: ChoreonoidBody' is missing" },
        { "format: ChoreonoidBody\nlinks: [ { name: R } ]\n", true, "format_version is missing" },
        { "format: ChoreonoidBody\nformat_version: 2.5\nlinks: [ { name: R } ]\n", true, "newer" },
        { "format: ChoreonoidBody\nformat_version: 2.0\nangle_unit: radian\nlinks: [ { name: R } ]\n", true,
          "only degrees" },
        { HEADER "angle_unit: turns\nlinks: [ { name: R } ]\n", true, "degree or radian" },
        { HEADER "links: [ { name: R }, { name: A } ]\n", true, "no parent" },
        { HEADER "links: [ { name: R }, { name: A, parent: Q } ]\n", true, "not there" },
        { HEADER "links: [ { name: R }, { name: A, parent: A } ]\n", true, "itself" },
        { HEADER "links: [ { name: R }, { name: A, parent: B }, { name: B, parent: A } ]\n", true, "cut off" },
        { HEADER "links: [ { name: R }, { name: R, parent: R } ]\n", true, "two links" },
        { HEADER "links: [ { name: R, joint_type: wobbly } ]\n", true, "none of its words" },
        { HEADER "links: [ { name: R, joint_axis: W } ]\n", true, "no axis" },
        { HEADER "links: [ { name: R, joint_range: [ 1 ] } ]\n", true, "two limits" },
        { HEADER "links: [ { name: R, mass: heavy } ]\n", true, "wants a number" },
        { HEADER "links: [ { name: R, mass: -1 } ]\n", true, "negative" },
        { HEADER "links: [ { name: R, translation: [ 1, 2 ] } ]\n", true, "3 numbers" },
        { HEADER "links: [ { name: R, rotation: [ 0, 0, 0, 1 ] } ]\n", true, "no axis" },
        { HEADER "links: [ { name: R, inertia: [ 1, 2 ] } ]\n", true, "9 numbers" },
        { HEADER "links: [ { name: R, elements: { Visual: { elements: { Collision: { } } } } } ]\n", true, "inside" },
        { HEADER "links: [ { name: R, elements: [ { name: x } ] } ]\n", true, "needs 'type'" },
        { HEADER "links: [ { name: R, elements: { Shape: { geometry: { type: Box, size: [ -1, 1, 1 ] } } } } ]\n", true,
          "cannot be" },
        { HEADER "links: [ { name: R, elements: { Shape: { geometry: { type: Sphere, radius: 0 } } } } ]\n", true,
          "cannot be" },
        { HEADER
          "links: [ { name: R, elements: { Shape: { geometry: { type: ElevationGrid, x_dimension: 2, z_dimension: 2, height: [ 1 ] } } } } ]\n",
          true, "wants 4 heights" },
        { HEADER
          "links: [ { name: R, elements: { Shape: { geometry: { type: IndexedFaceSet, vertices: [ 0, 0, 0 ], faces: [ 0, 1, 2, -1 ] } } } } ]\n",
          true, "name vertex" },
        { HEADER "links: [ { name: R, elements: { Transform: { scale: [ 0, 1, 1 ] } } } ]\n", true, "zero" },
        { HEADER "links: [ { name: R, joint_id: 1 } ]\n", true, "not given" },
        { HEADER "links: [ { name: R, joint_id: 0 }, { name: A, parent: R, joint_id: 0 } ]\n", true, "taken already" },
        { HEADER "links: [ { name: R, mass: 1.5abc } ]\n", true, "read as 1.5" },
        { HEADER "links: [ { type: SubBody, uri: test.body } ]\n", false, "not found" },
        { HEADER ROOT "extra_joints: [ { link1_name: R, link2_name: Q, joint_type: ball } ]\n", true, "no link 'Q'" },
        { HEADER ROOT "collision_detection_rules: [ { disabled_link_grup: [ R ] } ]\n", true,
          "unknown collision rule" },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        DiagSink *diags = diag_create();
        BodyModel *model = parse(cases[i].text, diags);
        if ((model != NULL) != cases[i].is_read || !says(diags, DIAG_WARNING, cases[i].message))
            diag_print(diags, stdout, 0, DIAG_NOTE);
        CHECK((model != NULL) == cases[i].is_read, cases[i].text);
        CHECK(says(diags, DIAG_WARNING, cases[i].message), cases[i].text);
        for (int k = 0; k < diag_count(diags); k++)
            CHECK(diag_at(diags, k)->pos.line > 0 || !*cases[i].text, diag_at(diags, k)->message);
        body_destroy(model);
        diag_destroy(diags);
    }
}

static void sub_bodies_are_taken_in(void **state)
{
    (void)state;
    const char *folder = support_scratch("sub_body");
    char inner[4096], outer[4096], loop[4096];
    snprintf(inner, sizeof inner, "%s/inner.body", folder);
    snprintf(outer, sizeof outer, "%s/outer.body", folder);
    snprintf(loop, sizeof loop, "%s/loop.body", folder);
    support_write(
        inner, HEADER
        "links:\n  - { name: HAND, joint_type: revolute, joint_id: 0, joint_range: [ -1, 1 ], mass: 2, elements: { ForceSensor: { name: F } } }\n"
        "  - { name: FINGER, parent: HAND, joint_type: revolute, joint_id: 1, joint_range: [ -1, 1 ] }\n");
    support_write(
        outer, HEADER ROOT
        "  - { type: SubBody, uri: inner.body, parent: R, prefix: L_, joint_id_offset: 5, translation: [ 1, 0, 0 ], mass: 9 }\n"
        "  - { name: TIP, parent: L_FINGER }\n");
    support_write(loop, HEADER "links: [ { type: SubBody, uri: loop.body } ]\n");
    DiagSink *diags = diag_create();
    BodyModel *model = body_load(outer, NULL, diags);
    CHECK(model && model->link_count == 4 && model->device_count == 1, "links");
    int hand = body_find_link(model, "L_HAND"), finger = body_find_link(model, "L_FINGER");
    CHECK(hand > 0 && model->links[hand].joint_id == 5 && model->links[finger].joint_id == 6, "ids");
    CHECK(model->links[hand].mass == 2.0, "mass data of the entry do not count");
    CHECK(model->links[hand].q_upper == BODY_UNLIMITED && model->links[finger].q_upper < 1.0,
          "range of its root is reset");
    CHECK(model->links[hand].translation.x == 1.0 && !strcmp(model->devices[0].name, "L_F"), "placed and named");
    CHECK(model->links[body_find_link(model, "TIP")].parent == finger, "a link of the outer file hangs on it");
    body_destroy(model);
    model = body_load(loop, NULL, diags);
    CHECK(!model && says(diags, DIAG_ERROR, "contains itself"), "loop");
    diag_destroy(diags);
}

static void materials_have_the_root_rule(void **state)
{
    (void)state;
    BodyMaterials *materials = body_materials_create();
    static const struct {
        const char *a, *b;
        double friction, restitution;
    } cases[] = {
        { "Ground", "Ball", 0.5, 0.8 },
        { "Ball", "Ground", 0.5, 0.8 },
        { "Default", "default", 0.5, 0.0 },
        { "", "Ground", 0.5, 0.0 },
        { "Ball", "Ball", 0.5, 0.64 },
        { "Ground", "Tire", 3.0, 0.0 },
        { "OilWetGround", "Default", 0.31622776601683794, 0.0 },
        { "Strange", "Ground", 0.70710678118654757, 0.0 },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        BodyContact contact = body_materials_pair(materials, cases[i].a, cases[i].b);
        CHECK_NEAR(contact.dynamic_friction, cases[i].friction, 1e-12, cases[i].a);
        CHECK_NEAR(contact.restitution, cases[i].restitution, 1e-12, cases[i].a);
    }
    char path[4096];
    snprintf(path, sizeof path, "%s/materials.yaml", support_scratch("materials"));
    support_write(
        path,
        "materials: [ { name: Ice, roughness: 0.04 } ]\ncontact_materials: [ { materials: [ Ice, Ground, Tire ], friction: 0.1, restitution: 0.2 } ]\n");
    DiagSink *diags = diag_create();
    CHECK(body_materials_load(materials, path, NULL, diags), "table");
    CHECK_NEAR(body_materials_pair(materials, "Tire", "Ground").dynamic_friction, 0.1, 0.0, "a later table wins");
    CHECK_NEAR(body_materials_pair(materials, "Ice", "Default").dynamic_friction, 0.2, 1e-12, "root rule");
    diag_destroy(diags);
    body_materials_destroy(materials);
}

// 64 names at once are 2016 pairs: no more of a table is kept than the world can use, whatever its size.
static void tables_of_materials_are_bounded(void **state)
{
    (void)state;
    enum { LISTS = 4, NAMES = 64 };
    Text text = { 0 };
    text_add_string(&text, "contact_materials:\n");
    for (int i = 0; i < 500; i++) {
        text_add_string(&text, "  - { friction: 0.25, materials: [ ");
        for (int k = 0; k < NAMES; k++)
            text_printf(&text, "%sm%d_%d", k ? ", " : "", i % LISTS, k);
        text_add_string(&text, " ] }\n");
    }
    char path[4096];
    snprintf(path, sizeof path, "%s/many.yaml", support_scratch("materials"));
    support_write(path, text.data);
    text_free(&text);
    BodyMaterials *materials = body_materials_create();
    DiagSink *diags = diag_create();
    CHECK(body_materials_load(materials, path, NULL, diags), "table");
    CHECK(diag_count(diags) == 1, "said once");
    CHECK(strstr(diag_at(diags, 0)->message, "more than 4096 materials or pairs"), diag_at(diags, 0)->message);
    CHECK_NEAR(body_materials_pair(materials, "m1_63", "m1_0").dynamic_friction, 0.25, 0.0, "kept");
    CHECK(!body_materials_pair(materials, "m3_63", "m3_62").is_given, "left out");
    diag_destroy(diags);
    body_materials_destroy(materials);
}

// A mesh may be a model by itself, and a resource a named part of any mesh.
static void meshes_are_models_and_have_parts(void **state)
{
    (void)state;
    const char *folder = support_scratch("mesh_models");
    char obj[4096], wrapper[4096], parts[4096], other[4096];
    snprintf(obj, sizeof obj, "%s/two.obj", folder);
    snprintf(wrapper, sizeof wrapper, "%s/wrapper.body", folder);
    snprintf(parts, sizeof parts, "%s/parts.body", folder);
    snprintf(other, sizeof other, "%s/other.body", folder);
    support_write(obj, "o first\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\no second\nv 5 0 0\nv 6 0 0\nv 5 1 0\nf 4 5 6\n");
    support_write(wrapper, "name: W\nmodel_file: two.obj\n");
    support_write(other, "name: W\nmodel_file: robot.urdf\n");
    support_write(
        parts, HEADER
        "links: [ { name: A, elements: [ { type: Resource, uri: two.obj, node: second }, { type: Resource, uri: two.obj, node: third } ] } ]\n");
    DiagSink *diags = diag_create();
    BodyModel *model = body_load(wrapper, NULL, diags);
    CHECK(model && !diag_has_errors(diags) && model->link_count == 1 && model->shape_count == 1
              && !strcmp(model->name, "W"),
          "a mesh as a model");
    body_destroy(model);
    CHECK(!body_load(other, NULL, diags) && says(diags, DIAG_ERROR, "robot.urdf"), "other models are refused by name");
    diag_destroy(diags);
    diags = diag_create();
    model = body_load(parts, NULL, diags);
    CHECK(model && model->shape_count == 2 && !strcmp(model->shapes[0].geometry->node, "second"), "parts");
    Text text = { 0 };
    body_write_yaml(model, folder, &text);
    CHECK(strstr(text.data, "node: second"), "written");
    text_free(&text);
    Scene *scene = formats_load(parts, NULL, diags);
    AssetStore *assets = store_create(NULL);
    ShapeSource source = { .scene = scene, .assets = assets, .diags = diags };
    const SceneNode *bounding = scene_child(scene_list_node(scene_list(scene_root(scene), "children"), 4),
                                            "boundingObject");
    const SceneNode *meshes[2];
    for (int i = 0; i < 2; i++)
        meshes[i] = scene_list_node(scene_list(bounding, "children"), i);
    ShapeMesh second = shape_mesh(&source, meshes[0]);
    CHECK(second.mesh && second.mesh->triangle_count == 1 && second.mesh->low.x == 5.0, "the named part alone");
    shape_mesh(&source, meshes[1]);
    CHECK(says(diags, DIAG_WARNING, "third"), "a part that is not there");
    store_destroy(assets);
    scene_destroy(scene);
    body_destroy(model);
    diag_destroy(diags);
}

// A comb of teeth of a hundred links. Were its cost a square of the links, the largest would take long, and ctest would
// end it.
static void many_links_are_read(void **state)
{
    (void)state;
    static const int counts[] = { 1000, 100000 };
    for (int k = 0; k < COUNT_OF(counts); k++) {
        Text text = { 0 }, csv = { 0 };
        text_add_string(&text, HEADER "links:\n  - { name: L0, joint_type: free }\n");
        for (int i = 1; i < counts[k]; i++)
            text_printf(
                &text,
                "  - { name: L%d, parent: L%d, joint_type: revolute, joint_id: %d, mass: 1, translation: [ 0, 0, 1 ] }\n",
                i, i % 100 ? i - 1 : 0, i - 1);
        DiagSink *diags = diag_create();
        BodyModel *model = parse(text.data, diags);
        CHECK(model && model->link_count == counts[k] && !diag_has_errors(diags), "comb");
        body_write_csv(model, BODY_CSV_SUMMARY, "comb", false, &csv);
        CHECK(csv.length > 0, "summary");
        text_free(&csv);
        text_free(&text);
        body_destroy(model);
        diag_destroy(diags);
    }
}

static void a_long_chain_is_read(void **state)
{
    (void)state;
    enum { LINKS = 100000 };
    Text text = { 0 };
    text_add_string(&text, HEADER "links:\n  - { name: L0, joint_type: free }\n");
    for (int i = 1; i < LINKS; i++)
        text_printf(&text, "  - { name: L%d, parent: L%d, joint_type: revolute }\n", i, i - 1);
    DiagSink *diags = diag_create();
    BodyModel *model = parse(text.data, diags);
    CHECK(model && model->link_count == LINKS, "chain");
    Scene *scene = scene_create();
    CHECK(body_to_node(model, NULL, scene, diags) != NULL && says(diags, DIAG_ERROR, "deep"), "the scene has a bound");
    scene_destroy(scene);
    body_destroy(model);
    diag_destroy(diags);
    text_free(&text);
}

static void projects_place_bodies(void **state)
{
    (void)state;
    const char *folder = support_scratch("project");
    char body[4096], project[4096];
    snprintf(body, sizeof body, "%s/arm.body", folder);
    snprintf(project, sizeof project, "%s/arm.cnoid", folder);
    support_write(
        body, HEADER ROOT
        "  - { name: J, parent: R, joint_type: revolute, joint_id: 0 }\n  - { name: S, parent: J, joint_type: prismatic, joint_id: 1 }\n");
    // Displacements are in degrees for every joint, slides too; more than the body has joints is a warning.
    support_write(
        project,
        "items:\n  class: RootItem\n  children:\n  - { class: WorldItem, children: [ { class: BodyItem, name: Arm, data: { file: arm.body,"
        " root_translation: [ 1, 2, 3 ], root_rotation: [ 0, 0, 1, 90 ], joint_displacements: [ 90, 5.729577951308232, 7 ], fix_root: true } },"
        " { class: AISTSimulatorItem, data: { time_step: 0.002, gravity: [ 0, 0, -1.6 ] } }, { class: OddItem, name: Q } ] }\n");
    DiagSink *diags = diag_create();
    Scene *scene = formats_load(project, NULL, diags);
    CHECK(scene && !diag_has_errors(diags), "project");
    CHECK(says(diags, DIAG_WARNING, "joint displacements") && says(diags, DIAG_NOTE, "OddItem"), "said");
    SceneNode *robot = scene_find_solid(scene, "Arm"), *slide = scene_find_solid(scene, "S");
    CHECK(robot && slide && !scene_child(robot, "physics"), "fixed");
    CHECK_NEAR(scene_pose(robot).t.y, 2.0, 0.0, "place");
    CHECK_NEAR(scene_pose(slide).t.z, 0.1, 1e-12, "slide");
    const SceneNode *world = scene_list_node(scene_list(scene_root(scene), "children"), 0);
    CHECK_NEAR(scene_float(world, "basicTimeStep"), 2.0, 1e-12, "time step");
    CHECK_NEAR(scene_float(world, "gravity"), 1.6, 1e-12, "gravity");
    scene_destroy(scene);
    diag_destroy(diags);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mass_without_data_is_one_kilogram),
        cmocka_unit_test(rigid_bodies_are_summed),
        cmocka_unit_test(joint_type_absent_means_fixed),
        cmocka_unit_test(extra_joints_take_all_spellings),
        cmocka_unit_test(both_names_of_the_imu_are_known),
        cmocka_unit_test(one_velocity_limit_wins),
        cmocka_unit_test(displacements_follow_units),
        cmocka_unit_test(caps_and_transparency),
        cmocka_unit_test(tables_of_materials_are_bounded),
        cmocka_unit_test(range_sensors_sweep_in_total),
        cmocka_unit_test(cameras_need_a_format),
        cmocka_unit_test(unknown_nodes_and_keys_are_said),
        cmocka_unit_test(free_links_below_the_root),
        cmocka_unit_test(links_are_written_in_many_ways),
        cmocka_unit_test(visual_and_collision),
        cmocka_unit_test(wrong_files_are_reported),
        cmocka_unit_test(sub_bodies_are_taken_in),
        cmocka_unit_test(materials_have_the_root_rule),
        cmocka_unit_test(meshes_are_models_and_have_parts),
        cmocka_unit_test(many_links_are_read),
        cmocka_unit_test(a_long_chain_is_read),
        cmocka_unit_test(projects_place_bodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
