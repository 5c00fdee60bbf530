// The viewer as embedders start it: talus_view_start and the steps after it.
#include "support/support.h"
#include "viewer/viewer.h"

#include <talus/talus.h>

static const char text[] = "#VRML_SIM R2025a utf8\nWorldInfo { }\nViewpoint { }\n"
                           "Solid { translation 0 0 1 name \"box\" boundingObject Box { } physics Physics { } }\n"
                           "Solid { name \"floor\" boundingObject Plane { } }\n";

static TalusWorld *load(void)
{
    TalusWorld *world = talus_load_text("library.wbt", text, sizeof text - 1, NULL);
    assert_non_null(world);
    return world;
}

static void a_world_is_shown(void **state)
{
    (void)state;
    TalusWorld *shown = load(), *alone = load();
    assert_null(talus_view_watch_link(shown));
    const char *link = talus_view_start(shown, NULL);
    assert_non_null(link);
    assert_memory_equal(link, "http://127.0.0.1:", 17);
    assert_non_null(strstr(link, "/#token="));
    assert_string_not_equal(talus_view_watch_link(shown), link);
    assert_true(talus_step(shown, 200) && talus_step(alone, 200));
    assert_true(talus_hash(shown) == talus_hash(alone));
    assert_true(talus_reset(shown) && talus_step(shown, 100));
    assert_non_null(talus_view_start(shown, NULL));  // another one, on another port
    talus_view_stop(shown);
    assert_null(talus_view_watch_link(shown));
    assert_true(talus_step(shown, 100));
    assert_true(talus_hash(shown) == talus_hash(alone));
    assert_non_null(talus_view_start(shown, NULL));
    talus_free(shown);  // with the viewer on it
    talus_free(alone);
}

static bool always(void) { return true; }

static void what_cannot_be_is_said(void **state)
{
    (void)state;
    TalusWorld *world = load();
    assert_null(
        talus_view_start(world, &(TalusViewerOptions){ .size = sizeof(TalusViewerOptions), .address = "nowhere" }));
    assert_int_equal(talus_diagnostic_total(world, TALUS_ERROR), 1);
    assert_null(talus_view_start(
        world, &(TalusViewerOptions){ .size = sizeof(TalusViewerOptions), .log = "no/such/folder/acts.log" }));
    assert_int_equal(talus_diagnostic_total(world, TALUS_ERROR), 2);
    assert_null(talus_view_start(
        world, &(TalusViewerOptions){ .size = sizeof(TalusViewerOptions), .embed = "http://a.org/path" }));
    assert_int_equal(talus_diagnostic_total(world, TALUS_ERROR), 3);
    assert_null(
        talus_view_start(world, &(TalusViewerOptions){ .size = sizeof(TalusViewerOptions), .ghost = "no/run.talus" }));
    assert_true(talus_diagnostic_total(world, TALUS_ERROR) > 3);
    assert_non_null(talus_view_start(
        world, &(TalusViewerOptions){ .size = sizeof(TalusViewerOptions), .embed = "http://127.0.0.1:8000" }));
    assert_non_null(talus_view_start(
        world,
        &(TalusViewerOptions){ .size = sizeof(TalusViewerOptions), .is_paused = true, .is_interrupted = always }));
    assert_false(talus_step(world, 1));  // nobody pressed play
    assert_null(talus_failure(world));
    assert_int_equal(talus_steps(world), 0);
    talus_free(world);
    assert_null(talus_view_start(NULL, NULL));
    assert_null(talus_view_watch_link(NULL));
    talus_view_stop(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_world_is_shown),
        cmocka_unit_test(what_cannot_be_is_said),
    };
    if (!viewer_is_available()) {
        puts("built without libwebsockets");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
