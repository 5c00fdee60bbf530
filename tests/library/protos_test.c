// Every PROTO of the library: instanced with its defaults it says nothing, its file follows the library's form, and it
// makes the same tree as its own text says when it is written out and read again.
#include "base/diag.h"
#include "base/file.h"
#include "formats/formats.h"
#include "support/support.h"

static int file_count;

static void check_form(const char *path, const char *text)
{
    const char *name = path_name(path);
    char line[256];
    snprintf(line, sizeof line, "\nPROTO %.*s [", (int)(strlen(name) - strlen(".proto")), name);
    CHECK(!strncmp(text, "#VRML_SIM R2025a utf8\n# ", 24), path);
    CHECK(strstr(text, line), path);
    CHECK(!strstr(text, "\t") && !strstr(text, " \n"), path);
    CHECK(strlen(text) < 400 * 1024, path);
}

static void instance(const char *path, void *context)
{
    (void)context;
    file_count++;
    char *text = support_read(path);
    CHECK(text, path);
    check_form(path, text);
    free(text);
    DiagSink *diags = diag_create();
    Scene *scene = formats_load(path, NULL, diags);
    CHECK(scene, path);
    for (int i = 0; i < diag_count(diags); i++) {
        const Diagnostic *item = diag_at(diags, i);
        if (item->severity == DIAG_ERROR || item->severity == DIAG_WARNING)
            fail_msg("%s:%u: %s", path, item->pos.line, item->message);
    }
    const FieldList *top = scene_list(scene_root(scene), "children");
    CHECK(top->count == 1 && scene_list_node(top, 0), path);
    scene_destroy(scene);
    diag_destroy(diags);
}

static void test_defaults_are_silent(void **state)
{
    (void)state;
    support_each_file("library/protos", ".proto", instance, NULL);
    printf("%d PROTOs\n", file_count);
    assert_true(file_count >= 500);
}

static int robot_count;

// Two of each robot in a world: the one thing to say is that both have the same name, and that is said of the world.
static void robot_in_a_world(const char *path, void *context)
{
    (void)context;
    const char *name = path_name(path);
    int length = (int)(strlen(name) - strlen(".proto"));
    char world[1024];
    snprintf(
        world, sizeof world,
        "#VRML_SIM R2025a utf8\nEXTERNPROTO \"webots://%s\"\nWorldInfo { }\nViewpoint { }\n%.*s { }\nDEF SECOND %.*s { }\n",
        name, length, name, length, name);
    DiagSink *diags = diag_create();
    Scene *scene = formats_load_text("test.wbt", world, strlen(world), NULL, diags);
    SceneNode *second = scene ? scene_actual(scene_find_def(scene, "SECOND")) : NULL;
    bool is_robot = second && scene_node_is(second, "Robot");
    robot_count += is_robot;
    int told = 0;
    for (int i = 0; is_robot && i < diag_count(diags); i++) {
        const Diagnostic *item = diag_at(diags, i);
        if (item->severity != DIAG_ERROR && item->severity != DIAG_WARNING)
            continue;
        told++;
        if (strcmp(diag_file_name(diags, item->pos.file), "test.wbt") || item->pos.line != 6)
            fail_msg("%s:%u: %s", diag_file_name(diags, item->pos.file), item->pos.line, item->message);
    }
    CHECK(!is_robot || told == 1, path);
    scene_destroy(scene);
    diag_destroy(diags);
}

static void test_users_hear_of_their_own_files(void **state)
{
    (void)state;
    support_each_file("library/protos/robots", ".proto", robot_in_a_world, NULL);
    printf("%d robots\n", robot_count);
    assert_true(robot_count >= 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_defaults_are_silent),
                                        cmocka_unit_test(test_users_hear_of_their_own_files) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
