// A body written and read again is the same body; so it is after the way to a world and back.
#include "formats/body.h"

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
    BodyFrame *frames_a = calloc((size_t)a->link_count, sizeof *frames_a), *frames_b = calloc((size_t)a->link_count, sizeof *frames_b);
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
        if (x->joint_type == BODY_JOINT_REVOLUTE || x->joint_type == BODY_JOINT_PRISMATIC || x->joint_type == BODY_JOINT_TRACK) {
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
    CHECK(a->shape_count == b->shape_count && a->device_count == b->device_count && a->rule_count == b->rule_count, path);
    for (int i = 0; i < a->device_count; i++) {
        CHECK(a->devices[i].type == b->devices[i].type && a->devices[i].link == b->devices[i].link, path);
        CHECK(!strcmp(a->devices[i].name, b->devices[i].name), path);
        check_vec3(a->devices[i].frame.t, b->devices[i].frame.t, path);
        check_mat3(a->devices[i].frame.m, b->devices[i].frame.m, path);
    }
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
    CHECK(model->device_count == back->device_count, path);
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
        cmocka_unit_test(bodies_are_stable),
        cmocka_unit_test(worlds_keep_bodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
