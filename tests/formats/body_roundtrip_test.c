// A body written and read again is the same body; so it is after the way to a world and back.
#include "formats/body/body.h"

#include "base/file.h"
#include "support/support.h"

#include <math.h>

static void check_close(double a, double b, const char *name)
{
    CHECK(a == b || fabs(a - b) <= 1e-9 * fmax(1e-3, fmax(fabs(a), fabs(b))), name);
}

static void check_mat3(Mat3 a, Mat3 b, const char *name)
{
    for (int i = 0; i < 9; i++)
        check_close(a.m[i], b.m[i], name);
}

static void check_vec3(Vec3 a, Vec3 b, const char *name)
{
    check_close(a.x, b.x, name);
    check_close(a.y, b.y, name);
    check_close(a.z, b.z, name);
}

static void check_same(const BodyModel *a, const BodyModel *b, bool is_whole, const char *path)
{
    char name[600];
    CHECK(a->link_count == b->link_count, path);
    CHECK(a->extra_joint_count == b->extra_joint_count, path);
    CHECK(!strcmp(a->name, b->name), path);
    BodyFrame *frames_a = calloc((size_t)a->link_count, sizeof *frames_a),
              *frames_b = calloc((size_t)a->link_count, sizeof *frames_b);
    body_link_frames(a, NULL, frames_a);
    body_link_frames(b, NULL, frames_b);
    for (int i = 0; i < a->link_count; i++) {
        const BodyLink *x = &a->links[i], *y = &b->links[i];
        snprintf(name, sizeof name, "%.300s link %d '%.40s' and '%.40s'", path, i, x->name, y->name);
        CHECK(!*x->name || !strcmp(x->name, y->name), name);
        CHECK(x->parent == y->parent && x->joint_type == y->joint_type && x->joint_id == y->joint_id, name);
        CHECK(x->joint_type == BODY_JOINT_FREE || !*x->name || !strcmp(x->joint_name, y->joint_name), name);
        check_close(x->mass, y->mass, name);
        check_vec3(x->com, y->com, name);
        check_mat3(x->inertia, y->inertia, name);
        check_vec3(frames_a[i].t, frames_b[i].t, name);
        check_mat3(frames_a[i].m, frames_b[i].m, name);
        if (x->joint_type == BODY_JOINT_REVOLUTE || x->joint_type == BODY_JOINT_PRISMATIC
            || x->joint_type == BODY_JOINT_TRACK) {
            check_vec3(x->axis, y->axis, name);
            check_close(x->q_initial, y->q_initial, name);
            check_close(x->q_lower, y->q_lower, name);
            check_close(x->q_upper, y->q_upper, name);
            check_close(x->dq_lower, y->dq_lower, name);
            check_close(x->effort_limit, y->effort_limit, name);
            check_close(x->axis_inertia, y->axis_inertia, name);
            CHECK(x->actuation == y->actuation, name);
        }
        CHECK(!strcmp(x->material, y->material), name);
    }
    free(frames_a);
    free(frames_b);
    if (!is_whole)
        return;
    CHECK(a->shape_count == b->shape_count && a->device_count == b->device_count && a->rule_count == b->rule_count,
          path);
    for (int i = 0; i < a->device_count; i++) {
        CHECK(a->devices[i].type == b->devices[i].type && a->devices[i].link == b->devices[i].link, path);
        CHECK(!strcmp(a->devices[i].name, b->devices[i].name), path);
        check_vec3(a->devices[i].frame.t, b->devices[i].frame.t, path);
        check_mat3(a->devices[i].frame.m, b->devices[i].frame.m, path);
    }
}

// What a world keeps of devices and extra joints. Optical sensors come back looking along -z whatever their file called
// forward.
static void check_parts(const BodyModel *a, const BodyModel *b, const char *path)
{
    char name[600];
    CHECK(a->device_count == b->device_count, path);
    for (int i = 0; i < a->device_count; i++) {
        const BodyDevice *x = &a->devices[i], *y = &b->devices[i];
        snprintf(name, sizeof name, "%.300s device %d '%.40s' and '%.40s'", path, i, x->name, y->name);
        CHECK(x->type == y->type && x->link == y->link && (x->is_on == y->is_on || x->type < BODY_SPOT_LIGHT),
              name);  // sensors of a world are off until enabled
        CHECK(!*x->name || !strcmp(x->name, y->name), name);
        check_vec3(x->frame.t, y->frame.t, name);
        if (!x->has_optical_rotation && !strcmp(x->optical_frame, "gl") && x->type != BODY_SPOT_LIGHT
            && x->type != BODY_POINT_LIGHT && x->type != BODY_RANGE_SENSOR)
            check_mat3(x->frame.m, y->frame.m, name);
        check_vec3(x->max_acceleration, y->max_acceleration, name);
        check_vec3(x->max_angular_velocity, y->max_angular_velocity, name);
        check_vec3(x->max_force, y->max_force, name);
        check_vec3(x->max_torque, y->max_torque, name);
        bool is_round = strcmp(x->lens, "NORMAL") != 0;  // of a fisheye's picture the width alone counts
        CHECK(x->width == y->width && (x->height == y->height || is_round) && x->yaw_samples == y->yaw_samples
                  && x->signal_lines == y->signal_lines,
              name);
        CHECK(!strcmp(x->category, y->category) && !strcmp(x->hold_condition, y->hold_condition)
                  && !strcmp(x->connections, y->connections),
              name);
        check_close(x->field_of_view, y->field_of_view, name);
        check_close(x->speed, y->speed, name);
    }
    for (int i = 0; i < a->extra_joint_count; i++) {
        const BodyExtraJoint *x = &a->extra_joints[i], *y = &b->extra_joints[i];
        snprintf(name, sizeof name, "%.300s extra joint %d", path, i);
        CHECK(x->type == y->type && x->link[0] == y->link[0] && x->link[1] == y->link[1], name);
        check_vec3(x->frame[0].t, y->frame[0].t, name);
        Vec3 shift = vec3_sub(x->frame[1].t, y->frame[1].t);
        if (x->type == BODY_EXTRA_HINGE)  // a point of the axis is as good as another
            shift = vec3_cross(shift, x->axis);
        CHECK_NEAR(vec3_length(shift), 0.0, 1e-9, name);
    }
    CHECK(a->rule_count == b->rule_count, path);
}

static char *text_of(const BodyModel *model)
{
    Text text = { 0 };
    body_write_yaml(model, NULL, &text);
    return text.data;
}

static void written_is_read(const char *path, void *context)
{
    DiagSink *diags = diag_create();
    BodyModel *model = body_load(path, NULL, diags);
    CHECK(model != NULL, path);
    char *text = text_of(model);
    DiagSink *again_diags = diag_create();
    BodyModel *again = body_load_text(path, text, strlen(text), NULL, again_diags);
    CHECK(again != NULL, path);
    if (diag_has_errors(again_diags) && !diag_has_errors(diags)) {
        diag_print(again_diags, stdout, 0, DIAG_ERROR);
        fail_msg("errors in what was written of %s", path);
    }
    check_same(model, again, true, path);
    char *second = text_of(again);
    BodyModel *third = body_load_text(path, second, strlen(second), NULL, again_diags);
    CHECK(third != NULL, path);
    check_same(again, third, true, path);
    free(text);
    free(second);
    body_destroy(model);
    body_destroy(again);
    body_destroy(third);
    diag_destroy(diags);
    diag_destroy(again_diags);
    ++*(int *)context;
}

static const SceneNode *robot_of(const Scene *scene)
{
    const FieldList *children = scene_list(scene_root(scene), "children");
    for (int i = 0; i < children->count; i++)
        if (scene_node_is(scene_list_node(children, i), "Robot"))
            return scene_list_node(children, i);
    return NULL;
}

static void world_and_back(const char *path, void *context)
{
    DiagSink *diags = diag_create();
    BodyModel *model = body_load(path, NULL, diags);
    Scene *scene = formats_load(path, NULL, diags);
    CHECK(model && scene, path);
    Text text = { 0 };
    formats_write(scene, &text);
    DiagSink *world_diags = diag_create();
    Scene *world = formats_load_text("world.wbt", text.data, text.length, NULL, world_diags);
    CHECK(world && robot_of(world), path);
    if (diag_has_errors(world_diags)) {
        diag_print(world_diags, stdout, 0, DIAG_ERROR);
        fail_msg("errors in the world of %s", path);
    }
    BodyModel *back = body_from_node(world, robot_of(world), world_diags);
    CHECK(back != NULL, path);
    check_same(model, back, false, path);
    check_parts(model, back, path);
    text_free(&text);
    body_destroy(model);
    body_destroy(back);
    scene_destroy(scene);
    scene_destroy(world);
    diag_destroy(diags);
    diag_destroy(world_diags);
    ++*(int *)context;
}

static void each_body(void (*visit)(const char *path, void *context))
{
    if (!support_corpus())
        SUPPORT_SKIP("the corpus is not on this machine");
    int count = 0;
    support_each_file(support_corpus(), ".body", visit, &count);
    CHECK(count >= 80, "bodies in the corpus");
}

// The whole way on one body with every device, extra joint and rule.
static void every_part_comes_back(void **state)
{
    (void)state;
    char path[4096];
    snprintf(path, sizeof path, "%s/parts.body", support_scratch("body_parts"));
    support_write(
        path,
        "format: ChoreonoidBody\nformat_version: 2.0\nname: PARTS\nlinks:\n"
        "  - { name: R, joint_type: free, mass: 3, inertia: [ 1, 0, 0, 0, 1, 0, 0, 0, 1 ], material: Sole, elements: [\n"
        "      { type: AccelerationSensor, name: a, max_acceleration: [ 1, 2, 3 ], translation: [ 1, 2, 3 ], rotation: [ 1, 0, 0, 30 ] },\n"
        "      { type: RateGyroSensor, name: g, max_angular_velocity: [ 4, 5, 6 ] }, { type: IMU, name: i, max_acceleration: [ 7, 8, 9 ], max_angular_velocity: [ 1, 1, 2 ] },\n"
        "      { type: ForceSensor, name: f, max_force: [ 1, 2, 3 ], max_torque: [ 4, 5, 6 ] }, { type: Camera, name: c, format: COLOR_DEPTH, width: 64, height: 32, field_of_view: 50 },\n"
        "      { type: RangeSensor, name: r, yaw_range: 90, yaw_step: 1 }, { type: SpotLight, name: lamp, on: false }, { type: PointLight, name: bulb },\n"
        "      { type: Holder, name: h, categories: [ x, y ], hold_condition: collision }, { type: Attachment, name: t, category: x }, { type: Conveyor, name: v, speed: 0.5, on: false },\n"
        "      { type: MarkerDevice, name: m }, { type: DigitalIO, name: d, num_signal_lines: 7, input_to_device_switch_connections: [ [ 1, h ], [ 3, v ] ] }, { type: ZmpDevice, name: z } ] }\n"
        "  - { name: A, parent: R, joint_type: revolute, joint_id: 0, rotor_inertia: 0.1, gear_ratio: 3, max_joint_effort: 4, actuation_mode: joint_velocity }\n"
        "  - { name: C, parent: A, translation: [ 0, 0, 1 ], joint_type: prismatic, joint_id: 1 }\n  - { name: T, parent: R, joint_type: pseudo_continuous_track, joint_axis: Y }\n"
        "  - { name: F, parent: R, joint_type: free, translation: [ 3, 0, 0 ] }\n"
        "extra_joints:\n  - { link1_name: C, link2_name: R, joint_type: hinge, axis: [ 0, 1, 0 ], translation_in_link2: [ 0, 0, 1 ] }\n"
        "  - { link1_name: C, link2_name: R, joint_type: piston, axis: [ 0, 0, 1 ], translation_in_link2: [ 0, 0, 1 ] }\n"
        "  - { link1_name: A, link2_name: F, joint_type: ball, translation_in_link1: [ 3, 0, 0 ] }\n  - { link1_name: A, link2_name: F, joint_type: fixed, translation_in_link1: [ 3, 0, 0 ] }\n"
        "collision_detection_rules: [ { disabled_link_chain_level: 2 }, { disabled_link_group: [ A, C ] } ]\n");
    int count = 0;
    written_is_read(path, &count);
    world_and_back(path, &count);
    CHECK(count == 2, "both ways");
}

static void bodies_are_stable(void **state)
{
    (void)state;
    each_body(written_is_read);
}

static void worlds_keep_bodies(void **state)
{
    (void)state;
    each_body(world_and_back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_part_comes_back),
        cmocka_unit_test(bodies_are_stable),
        cmocka_unit_test(worlds_keep_bodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
