// Old worlds mean what they meant: every tests/formats/upgrade/*.wbt is read, and what was said about it and the scene
// in the newest schema are compared with the .expected file beside it. With TALUS_UPDATE=1 those are written anew.
#include "formats/formats.h"

#include "support/support.h"

static void add_messages(const DiagSink *diags, Text *out)
{
    for (int i = 0; i < diag_count(diags); i++) {
        const Diagnostic *diag = diag_at(diags, i);
        text_printf(out, "# %u:%u %s: %s\n", diag->pos.line, diag->pos.column, diag_severity_name(diag->severity),
                    diag->message);
    }
}

static char *first_difference(char *expected, char *actual)
{
    while (*expected && *expected == *actual) {
        expected++;
        actual++;
    }
    while (actual[-1] != '\n')
        actual--;
    actual[strcspn(actual, "\n")] = '\0';
    return actual;
}

static void check_file(const char *path, void *context)
{
    int *count = context;
    DiagSink *diags = diag_create();
    Scene *scene = formats_load(path, NULL, diags);
    CHECK(scene != NULL, path);
    Text out = { 0 };
    add_messages(diags, &out);
    formats_write(scene, &out);
    char expected_path[512];
    snprintf(expected_path, sizeof expected_path, "%.*s.expected", (int)strlen(path) - 4, path);
    if (getenv("TALUS_UPDATE"))
        support_write(expected_path, out.data);
    char *expected = support_read(expected_path);
    CHECK(expected != NULL, expected_path);
    if (strcmp(expected, out.data))
        fail_msg("%s: differs at: %s", path, first_difference(expected, out.data));
    free(expected);

    // The result is of the newest release: reading it again changes nothing.
    Text again = { 0 };
    DiagSink *quiet = diag_create();
    Text saved = { 0 };
    formats_write(scene, &saved);
    Scene *second = formats_load_text("again.wbt", saved.data, saved.length, NULL, quiet);
    formats_write(second, &again);
    CHECK(!strcmp(saved.data, again.data), path);
    scene_destroy(second);
    diag_destroy(quiet);
    text_free(&saved);
    text_free(&again);
    text_free(&out);
    scene_destroy(scene);
    diag_destroy(diags);
    (*count)++;
}

static void old_worlds_become_new(void **state)
{
    (void)state;
    int count = 0;
    support_each_file("tests/formats/upgrade", ".wbt", check_file, &count);
    CHECK(count >= 10, "worlds found");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(old_worlds_become_new) };
    return cmocka_run_group_tests_name("formats.upgrade", tests, NULL, NULL);
}
