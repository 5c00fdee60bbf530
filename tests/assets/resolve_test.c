#include "assets/resolve.h"

#include "base/file.h"
#include "support/support.h"

#include <sys/stat.h>
#include <unistd.h>

static const char *root;

static const char *at(Arena *arena, const char *name) { return path_join(arena, root, name); }

static void put(Arena *arena, const char *name)
{
    const char *path = at(arena, name);
    assert_true(file_make_directories(path_directory(arena, path)));
    support_write(path, name);
}

static const char *const tree[] = {
    "home/p/worlds/w.wbt",
    "home/p/worlds/textures/a.png",
    "home/p/protos/R.proto",
    "home/p/protos/meshes/r.obj",
    "home/p/shared.obj",
    "home/outside.obj",
    "home/p/worlds/with space.png",
    "webots/projects/default/worlds/textures/old.jpg",
    "webots/projects/objects/x/protos/X.proto",
    "extra/projects/objects/floors/protos/Floor.proto",
    "extra/floors/protos/Floor.proto",
    "extra/Deep.proto",
    "extra/share/model/box.body",
    "ros/stack/my_pkg/meshes/a.stl",
    "ros/stack/my_pkg/package.xml",
    "ament/share/other_pkg/meshes/b.stl",
    "home/bodies_pkg/package.xml",
    "home/bodies_pkg/model/r.body",
    "home/bodies_pkg/meshes/c.stl",
    "gazebo/cup/meshes/cup.dae",
    "library/protos/E-puck.proto",
    "cache/tree/https/raw.githubusercontent.com/cyberbotics/webots/R2022b/projects/a/A.proto",
    "cache/tree/https/raw.githubusercontent.com/cyberbotics/webots/R2023b/projects/a/A.proto",
    "cache/tree/https/raw.githubusercontent.com/cyberbotics/webots/R2022b/projects/a/textures/t.png",
    "cache/tree/https/example.org/models/m.obj",
};

static int make_tree(void **state)
{
    (void)state;
    Arena *arena = arena_create();
    root = path_real(arena, support_scratch("resolve"));
    root = strdup(root);
    for (int i = 0; i < COUNT_OF(tree); i++)
        put(arena, tree[i]);
    assert_int_equal(symlink("../../outside.obj", at(arena, "home/p/worlds/link.obj")), 0);
    assert_int_equal(mkfifo(at(arena, "home/p/worlds/fifo.obj"), 0600), 0);
    setenv("WEBOTS_HOME", at(arena, "webots"), 1);
    setenv("ROS_PACKAGE_PATH", at(arena, "ros"), 1);
    setenv("AMENT_PREFIX_PATH", at(arena, "ament"), 1);
    setenv("GAZEBO_MODEL_PATH", at(arena, "gazebo"), 1);
    unsetenv("WEBOTS_EXTRA_PROJECT_PATH");
    unsetenv("TALUS_PATH");
    unsetenv("CHOREONOID_SHARE");
    arena_destroy(arena);
    return 0;
}

static Resolver *make_resolver(Arena *arena, bool untrusted)
{
    const char *search[] = { at(arena, "extra"), NULL };
    return resolve_create(&(ResolveOptions){ .main_file = at(arena, "home/p/worlds/w.wbt"),
                                             .search_paths = search,
                                             .library = at(arena, "library/protos"),
                                             .cache = at(arena, "cache"),
                                             .is_untrusted = untrusted });
}

#define RAW "https://raw.githubusercontent.com/cyberbotics/webots/"
#define CACHED "cache/tree/https/raw.githubusercontent.com/cyberbotics/webots/"

static void urls_find_their_file(void **state)
{
    (void)state;
    static const struct {
        const char *url, *from, *expect, *origin;
    } cases[] = {
        { "textures/a.png", "home/p/worlds/w.wbt", "home/p/worlds/textures/a.png", "file" },
        { "textures\\a.png", "home/p/worlds/w.wbt", "home/p/worlds/textures/a.png", "file" },
        { "with%20space.png", "home/p/worlds/w.wbt", "home/p/worlds/with space.png", "file" },
        { "./../shared.obj", "home/p/worlds/w.wbt", "home/p/shared.obj", "file" },
        { "meshes/r.obj", "home/p/protos/R.proto", "home/p/protos/meshes/r.obj", "file" },
        { "textures/a.png", "home/p/protos/R.proto", "home/p/worlds/textures/a.png", "project" },  // before V6.2.3
        { "protos/meshes/r.obj", "home/p/worlds/w.wbt", "home/p/protos/meshes/r.obj", "project" },
        { "textures/old.jpg", "home/p/worlds/w.wbt", "webots/projects/default/worlds/textures/old.jpg", "webots" },
        { "/home/somebody/p/worlds/textures/a.png", "home/p/worlds/w.wbt", "home/p/worlds/textures/a.png", "project" },
        { "C:\\Users\\somebody\\p\\shared.obj", "home/p/worlds/w.wbt", "home/p/shared.obj", "project" },
        { "webots://projects/objects/x/protos/X.proto", "home/p/worlds/w.wbt",
          "webots/projects/objects/x/protos/X.proto", "webots" },
        { "webots://projects/a/A.proto", "home/p/worlds/w.wbt", CACHED "R2023b/projects/a/A.proto", "cache" },
        { "webots://projects/a/A.proto", CACHED "R2022b/projects/a/textures/t.png", CACHED "R2022b/projects/a/A.proto",
          "cache" },
        { "textures/t.png", CACHED "R2022b/projects/a/A.proto", CACHED "R2022b/projects/a/textures/t.png", "file" },
        { RAW "R2022b/projects/a/A.proto", "home/p/worlds/w.wbt", CACHED "R2022b/projects/a/A.proto", "cache" },
        { RAW "R2021a/projects/a/textures/t.png", "home/p/worlds/w.wbt", CACHED "R2022b/projects/a/textures/t.png",
          "cache" },
        { "https://example.org/models/m.obj", "home/p/worlds/w.wbt", "cache/tree/https/example.org/models/m.obj",
          "cache" },
        { RAW "R2023b/projects/objects/floors/protos/Floor.proto", "home/p/worlds/w.wbt",
          "extra/projects/objects/floors/protos/Floor.proto", "path" },
        { RAW "develop/other/floors/protos/Floor.proto", "home/p/worlds/w.wbt", "extra/floors/protos/Floor.proto",
          "path" },
        { "https://example.org/a/b/Deep.proto?x=1", "home/p/worlds/w.wbt", "extra/Deep.proto", "path" },
        { RAW "R2023b/projects/robots/gctronic/e-puck/protos/E-puck.proto", "home/p/worlds/w.wbt",
          "library/protos/E-puck.proto", "library" },
        { "package://my_pkg/meshes/a.stl", "home/p/worlds/w.wbt", "ros/stack/my_pkg/meshes/a.stl", "package" },
        { "package://other_pkg/meshes/b.stl", "home/p/worlds/w.wbt", "ament/share/other_pkg/meshes/b.stl", "package" },
        { "package://bodies_pkg/meshes/c.stl", "home/bodies_pkg/model/r.body", "home/bodies_pkg/meshes/c.stl",
          "package" },
        { "model://cup/meshes/cup.dae", "home/p/worlds/w.wbt", "gazebo/cup/meshes/cup.dae", "package" },
        { "${SHARE}/model/box.body", "home/p/worlds/w.wbt", "extra/share/model/box.body", "path" },
        { "${PROJECT_DIR}/textures/a.png", "home/p/protos/R.proto", "home/p/worlds/textures/a.png", "project" },
        { "link.obj", "home/p/worlds/w.wbt", "home/p/worlds/link.obj", "file" },
        { "../../outside.obj", "home/p/worlds/w.wbt", "home/outside.obj", "file" },
        { "textures/none.png", "home/p/worlds/w.wbt", NULL, NULL },
        { "fifo.obj", "home/p/worlds/w.wbt", NULL, NULL },
        { "textures", "home/p/worlds/w.wbt", NULL, NULL },
        { "/dev/zero", "home/p/worlds/w.wbt", NULL, NULL },
        { "", "home/p/worlds/w.wbt", NULL, NULL },
        { "webots://", "home/p/worlds/w.wbt", NULL, NULL },
        { "https://", "home/p/worlds/w.wbt", NULL, NULL },
        { "https://raw.githubusercontent.com/a", "home/p/worlds/w.wbt", NULL, NULL },
        { "package://", "home/p/worlds/w.wbt", NULL, NULL },
        { "package://../x", "home/p/worlds/w.wbt", NULL, NULL },
    };
    Arena *arena = arena_create();
    Resolver *resolver = make_resolver(arena, false);
    assert_string_equal(resolve_project_folder(resolver), at(arena, "home/p"));
    for (int i = 0; i < COUNT_OF(cases); i++) {
        Resolved result;
        bool found = resolve_url(resolver, cases[i].url, at(arena, cases[i].from), arena, &result);
        CHECK(found == (cases[i].expect != NULL), cases[i].url);
        if (!found)
            continue;
        if (strcmp(result.path, at(arena, cases[i].expect)))
            fail_msg("%s gives %s", cases[i].url, result.path);
        CHECK(!strcmp(result.origin, cases[i].origin), cases[i].url);
    }
    resolve_destroy(resolver);
    arena_destroy(arena);
}

static void untrusted_worlds_stay_inside(void **state)
{
    (void)state;
    static const struct {
        const char *url;
        bool ok, refused;
    } cases[] = {
        { "textures/a.png", true, false },
        { "../shared.obj", true, false },
        { "../../outside.obj", false, true },
        { "link.obj", false, true },  // a link is where it leads to
        { "/etc/passwd", false, true },
        { "file:///etc/passwd", false, true },
        { RAW "R2022b/projects/a/A.proto", true, false },
        { RAW "R2022b/../../../../../../../../../../../../../../etc/passwd", false, false },
        { "webots://../../../../../../../../../../../../../../etc/passwd", false, true },
        { "package://my_pkg/../../../../../../../../../../../../../../etc/passwd", false, true },
    };
    Arena *arena = arena_create();
    Resolver *resolver = make_resolver(arena, true);
    for (int i = 0; i < COUNT_OF(cases); i++) {
        Resolved result;
        CHECK(resolve_url(resolver, cases[i].url, at(arena, "home/p/worlds/w.wbt"), arena, &result) == cases[i].ok,
              cases[i].url);
        CHECK(!cases[i].refused || result.is_refused, cases[i].url);
    }
    CHECK(resolve_is_allowed(resolver, at(arena, "extra/Deep.proto")), "a search folder");
    CHECK(!resolve_is_allowed(resolver, at(arena, "home/outside.obj")), "outside");
    resolve_destroy(resolver);
    arena_destroy(arena);
}

static void missing_ones_name_every_place(void **state)
{
    (void)state;
    Arena *arena = arena_create();
    Resolver *resolver = make_resolver(arena, false);
    DiagSink *diags = diag_create();
    Resolved result;
    assert_false(resolve_url(resolver, "meshes/none.obj", at(arena, "home/p/protos/R.proto"), arena, &result));
    resolve_report_missing(&result, "mesh", "meshes/none.obj", diags, (SourcePos){ 0 });
    static const char *const places[] = { "home/p/protos/meshes/none.obj", "home/p/meshes/none.obj",
                                          "home/p/worlds/meshes/none.obj", "extra/meshes/none.obj",
                                          "webots/projects/default/worlds/meshes/none.obj" };
    const Diagnostic *message = diag_at(diags, 0);
    assert_int_equal(message->severity, DIAG_WARNING);
    for (int i = 0; i < COUNT_OF(places); i++)
        CHECK(strstr(message->message, at(arena, places[i])), places[i]);
    assert_false(resolve_url(resolver, RAW "R2023b/projects/none/n.png", NULL, arena, &result));
    assert_true(result.is_network);
    resolve_report_missing(&result, "texture", RAW "R2023b/projects/none/n.png", diags, (SourcePos){ 0 });
    message = diag_at(diags, 1);
    CHECK(strstr(message->message, at(arena, "cache")) && strstr(message->message, at(arena, "extra")),
          message->message);
    CHECK(message->hint && strstr(message->hint, "talus fetch"), "hint");
    diag_destroy(diags);
    resolve_destroy(resolver);
    arena_destroy(arena);
}

static void cache_paths_and_urls(void **state)
{
    (void)state;
    static const struct {
        const char *url, *path;
    } cases[] = {
        { "https://example.org/a/b.obj", "C/tree/https/example.org/a/b.obj" },
        { "https://example.org/a//./b.obj", "C/tree/https/example.org/a/b.obj" },
        { "https://example.org/a/../b.obj", NULL },
        { "https://example.org/a/b c.obj?v=1/2", "C/tree/https/example.org/a/b%20c.obj%3Fv=1%2F2" },
        { "http://127.0.0.1:80/x.png#frag", "C/tree/http/127.0.0.1%3A80/x.png" },
        { "https://example.org/", NULL },
        { "https://example.org", NULL },
        { "ftp://example.org/a", NULL },
    };
    Arena *arena = arena_create();
    for (int i = 0; i < COUNT_OF(cases); i++) {
        char *path = resolve_cache_path(arena, "C", cases[i].url);
        CHECK((path == NULL) == (cases[i].path == NULL), cases[i].url);
        CHECK(!path || !strcmp(path, cases[i].path), path);
    }
    assert_string_equal(resolve_cache_url(arena, "/c", "/c/tree/https/example.org/a/b.obj"),
                        "https://example.org/a/b.obj");
    assert_null(resolve_cache_url(arena, "/c", "/d/tree/https/example.org/a/b.obj"));
    static const struct {
        const char *url, *base, *release, *expect;
    } joins[] = {
        { "webots://projects/x.png", NULL, "R2023b", RAW "R2023b/projects/x.png" },
        { "webots://projects/x.png", RAW "R2022a/projects/y/Y.proto", "R2023b", RAW "R2022a/projects/x.png" },
        { "textures/t.png", "https://example.org/a/b/P.proto", NULL, "https://example.org/a/b/textures/t.png" },
        { "../t.png", "https://example.org/a/b/P.proto?q", NULL, "https://example.org/a/t.png" },
        { "https://h/x", "https://example.org/a", NULL, "https://h/x" },
        { "textures/t.png", NULL, NULL, NULL },
        { "package://a/b", "https://example.org/a", NULL, NULL },
    };
    for (int i = 0; i < COUNT_OF(joins); i++) {
        char *url = resolve_network_url(arena, joins[i].url, joins[i].base, joins[i].release);
        CHECK((url == NULL) == (joins[i].expect == NULL), joins[i].url);
        CHECK(!url || !strcmp(url, joins[i].expect), url);
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(urls_find_their_file),
        cmocka_unit_test(untrusted_worlds_stay_inside),
        cmocka_unit_test(missing_ones_name_every_place),
        cmocka_unit_test(cache_paths_and_urls),
    };
    return cmocka_run_group_tests_name("assets.resolve", tests, make_tree, NULL);
}
