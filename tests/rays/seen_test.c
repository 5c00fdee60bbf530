// What is seen along a ray: images near and far, six sides of a sky, bent normals, lamps, helices, belts, billboards,
// hidden things.
#include "rays/rays.h"

#include "assets/image.h"
#include "physics/world.h"

#include <math.h>

static Vec3 light_along(Rays *rays, Vec3 origin, Vec3 direction, double spread, int eye)
{
    Ray ray = { origin, vec3_normalized(direction), 0.0, 1000.0, spread };
    RaysStyle style = { .eye = eye };
    RaySeen seen;
    rays_update(rays);
    rays_see(rays, &ray, 1, &style, &seen);
    return vec3((double)seen.light[0], (double)seen.light[1], (double)seen.light[2]);
}

static void write_image(const char *folder, const char *name, int side, const uint8_t *pixels)
{
    char path[4096];
    DiagSink *diags = diag_create();
    snprintf(path, sizeof path, "%s/%s.png", folder, name);
    assert_true(image_write_png(path, &(ImagePixels){ side, side, 3, pixels, 0 }, diags));
    diag_destroy(diags);
}

static void write_plain(const char *folder, const char *name, int r, int g, int b)
{
    uint8_t pixels[12];
    for (int i = 0; i < 12; i += 3)
        pixels[i] = (uint8_t)r, pixels[i + 1] = (uint8_t)g, pixels[i + 2] = (uint8_t)b;
    write_image(folder, name, 2, pixels);
}

static Sim *open_file(const char *folder, const char *nodes, DiagSink *diags)
{
    char path[4096];
    Text text = { 0 };
    snprintf(path, sizeof path, "%s/w.wbt", folder);
    text_printf(&text, WORLD_HEADER "WorldInfo { }\nViewpoint { }\n%s", nodes);
    support_write(path, text.data);
    text_free(&text);
    Sim *sim = sim_load(path, NULL, diags);
    assert_non_null(sim);
    return sim;
}

// Squares of one pixel: sharp from near, their mean from far, and the nearest pixel without filtering.
static void images_have_distances(void **state)
{
    (void)state;
    const char *folder = support_scratch("rays.seen");
    uint8_t squares[3 * 64 * 64];
    for (int i = 0; i < 64 * 64; i++)
        for (int c = 0; c < 3; c++)
            squares[3 * i + c] = (i % 64 + i / 64) % 2 ? 255 : 0;
    write_image(folder, "squares", 64, squares);
    DiagSink *diags = diag_create();
    Sim *sim = open_file(
        folder,
        "PointLight { ambientIntensity 1 intensity 0 }\n"
        "Pose { children [ Shape { appearance Appearance { material Material { ambientIntensity 1 } texture ImageTexture { url \"squares.png\" } } geometry Plane { size 64 64 } } ] }\n"
        "Pose { translation 100 0 0 children [ Shape { appearance Appearance { material Material { ambientIntensity 1 } texture ImageTexture { url \"squares.png\" filtering 0 } } geometry Plane { size 64 64 } } ] }\n",
        diags);
    Rays *rays = rays_create(sim_physics(sim), diags);
    static const struct {
        double x, y, spread, low, high;
        const char *what;
    } cases[] = {
        { 1.5, 0.5, 1e-6, 0.0, 0.001, "a black pixel" },
        { 0.5, 0.5, 1e-6, 0.999, 1.0, "a white pixel" },
        { 0.5, 0.5, 1.0, 0.19, 0.24, "the mean of many" },  // 127.5 of 255 is 0.214 linear
        { 101.5, 0.5, 1.0, 0.0, 0.001, "without filtering" },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        Vec3 light = light_along(rays, vec3(cases[i].x, cases[i].y, 5), vec3(0, 0, -1), cases[i].spread, 0);
        CHECK(light.x >= cases[i].low && light.x <= cases[i].high, cases[i].what);
    }
    rays_destroy(rays);
    sim_destroy(sim);
    diag_destroy(diags);
}

// Lines and points are as wide as pixels, near and far, and send out their glow or else their colour; rays without a
// width miss them.
static void lines_and_points_are_seen(void **state)
{
    (void)state;
    DiagSink *diags = diag_create();
    Sim *sim = open_file(
        support_scratch("rays.seen"),
        "Shape { appearance Appearance { material Material { emissiveColor 1 0 0 } } geometry IndexedLineSet { coord Coordinate { point [ 0 0 0, 4 0 0, 4 4 0 ] } coordIndex [ 0 1 -1 1 2 ] } }\n"
        "Pose { translation 10 0 0 children [ Shape { appearance PBRAppearance { baseColor 0 0 1 } geometry PointSet { coord Coordinate { point [ 0 0 0, 1 0 0 ] } color Color { color [ 0 1 0 ] } } } ] }\n",
        diags);
    Rays *rays = rays_create(sim_physics(sim), diags);
    static const struct {
        double x, y, z, spread;
        Vec3 light;
        const char *what;
    } cases[] = {
        { 2, 0.003, 5, 1e-3, { 1, 0, 0 }, "in the pixel of a line" },
        { 2, 0.02, 5, 1e-3, { 0, 0, 0 }, "four pixels beside it" },
        { 2, 0.02, 50, 1e-3, { 1, 0, 0 }, "from further away" },
        { 4, 3.0, 5, 1e-3, { 1, 0, 0 }, "on the second line" },
        { 2, 3.0, 5, 1e-3, { 0, 0, 0 }, "between the lines" },
        { 2, 0, 5, 0.0, { 0, 0, 0 }, "without a width" },
        { 10, 0.006, 5, 1e-3, { 0, 1, 0 }, "a point with a colour of its own" },
        { 11, 0, 5, 1e-3, { 0, 0, 1 }, "one with that of its shape" },
        { 10.5, 0, 5, 1e-3, { 0, 0, 0 }, "between the points" },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        Vec3 light = light_along(rays, vec3(cases[i].x, cases[i].y, cases[i].z), vec3(0, 0, -1), cases[i].spread, 0);
        CHECK(vec3_distance(light, cases[i].light) < 1e-9, cases[i].what);
    }
    rays_destroy(rays);
    sim_destroy(sim);
    diag_destroy(diags);
}

static void skies_have_sides(void **state)
{
    (void)state;
    const char *folder = support_scratch("rays.sky");
    static const struct {
        const char *name;
        Vec3 towards;
        int color[3];
    } sides[] = {
        { "front", { -1, 0, 0 }, { 255, 0, 0 } }, { "back", { 1, 0, 0 }, { 0, 255, 0 } },
        { "right", { 0, 1, 0 }, { 0, 0, 255 } },  { "left", { 0, -1, 0 }, { 255, 255, 0 } },
        { "top", { 0, 0, 1 }, { 0, 255, 255 } },  { "bottom", { 0, 0, -1 }, { 255, 0, 255 } },
    };
    Text nodes = { 0 };
    text_add_string(&nodes, "Background { ");
    for (int i = 0; i < COUNT_OF(sides); i++) {
        write_plain(folder, sides[i].name, sides[i].color[0], sides[i].color[1], sides[i].color[2]);
        text_printf(&nodes, "%sUrl \"%s.png\" %sIrradianceUrl \"%s.png\" ", sides[i].name, sides[i].name, sides[i].name,
                    sides[i].name);
    }
    text_add_string(
        &nodes,
        "}\nPose { translation 0 0 -50 children [ Shape { appearance PBRAppearance { roughness 0 metalness 1 } geometry Sphere { radius 1 } } ] }\n");
    DiagSink *diags = diag_create();
    Sim *sim = open_file(folder, nodes.data, diags);
    Rays *rays = rays_create(sim_physics(sim), diags);
    for (int i = 0; i < COUNT_OF(sides); i++) {
        Vec3 light = light_along(rays, vec3(0, 0, 0.1), sides[i].towards, 0.0, 0);
        Vec3 want = vec3(sides[i].color[0] / 255.0, sides[i].color[1] / 255.0, sides[i].color[2] / 255.0);
        CHECK(i == 5 || vec3_distance(light, want) < 1e-6, sides[i].name);
    }
    // A mirror below sees what is above.
    Vec3 mirrored = light_along(rays, vec3(0, 0, -40), vec3(0, 0, -1), 0.0, 0);
    assert_true(mirrored.y > 0.8 && mirrored.z > 0.8 && mirrored.x < 0.1);
    rays_destroy(rays);
    sim_destroy(sim);
    diag_destroy(diags);
    text_free(&nodes);
}

static void normals_bend(void **state)
{
    (void)state;
    const char *folder = support_scratch("rays.normals");
    write_plain(folder, "flat", 128, 128, 255);
    write_plain(folder, "tilted", 255, 128, 128);  // towards +u
    DiagSink *diags = diag_create();
    Sim *sim = open_file(
        folder,
        "DirectionalLight { direction -1 0 -1 }\n"
        "Pose { children [ Shape { appearance PBRAppearance { roughness 1 metalness 0 } geometry Plane { size 2 2 } } ] }\n"
        "Pose { translation 5 0 0 children [ Shape { appearance PBRAppearance { roughness 1 metalness 0 normalMap ImageTexture { url \"flat.png\" } } geometry Plane { size 2 2 } } ] }\n"
        "Pose { translation 10 0 0 children [ Shape { appearance PBRAppearance { roughness 1 metalness 0 normalMap ImageTexture { url \"tilted.png\" } } geometry Plane { size 2 2 } } ] }\n"
        "Pose { translation 15 0 0 children [ Shape { appearance PBRAppearance { roughness 1 metalness 0 normalMap ImageTexture { url \"tilted.png\" } normalMapFactor 0 } geometry Plane { size 2 2 } } ] }\n",
        diags);
    Rays *rays = rays_create(sim_physics(sim), diags);
    double bare = light_along(rays, vec3(0, 0, 3), vec3(0, 0, -1), 1e-3, 0).x,
           flat = light_along(rays, vec3(5, 0, 3), vec3(0, 0, -1), 1e-3, 0).x;
    double tilted = light_along(rays, vec3(10, 0, 3), vec3(0, 0, -1), 1e-3, 0).x,
           unbent = light_along(rays, vec3(15, 0, 3), vec3(0, 0, -1), 1e-3, 0).x;
    CHECK_NEAR(flat, bare, 0.01 * bare, "a flat map changes nothing");
    assert_true(tilted < 0.8 * bare || tilted > 1.05 * bare);
    CHECK_NEAR(unbent, bare, 0.01 * bare, "a factor of 0 neither");
    rays_destroy(rays);
    sim_destroy(sim);
    diag_destroy(diags);
}

#define GLOW(color, geometry)                                                                                          \
    "Shape { appearance PBRAppearance { baseColor 0 0 0 emissiveColor " color " } geometry " geometry " }"

static void drives_move_things(void **state)
{
    (void)state;
    World world = world_open_with(
        "WorldInfo { }\nViewpoint { }\n"
        "Robot { children [ DEF P Propeller { device RotationalMotor { } slowHelix Solid { name \"s\" children [ " GLOW(
            "1 0 0",
            "Box { size 1 1 0.1 }") " ] }"
                                    "  fastHelix Solid { name \"f\" children [ " GLOW(
                                        "0 1 0",
                                        "Box { size 1 1 0.1 }") " ] } } ] }\n"
                                                                "Robot { name \"belt\" translation 10 0 0 children [ DEF T Track { children [ TrackWheel { position -1 0 radius 0.5 } TrackWheel { position 1 0 radius 0.5 } ]"
                                                                "  device [ LinearMotor { } ] geometriesCount 4 animatedGeometry " GLOW(
                                                                    "0 0 1", "Box { size 0.1 0.4 0.02 }") " } ] }\n",
        NULL);
    Rays *rays = rays_create(world.physics, world.diags);
    Scene *scene = sim_scene(world.sim);
    assert_true(light_along(rays, vec3(0, 0, 5), vec3(0, 0, -1), 0, 0).x > 0.9);
    assert_int_equal(rays_visual_count(rays), 6);
    rays_set_drive(rays, scene_find_def(scene, "P"), -100.0);
    assert_true(light_along(rays, vec3(0, 0, 5), vec3(0, 0, -1), 0, 0).y > 0.9);
    rays_set_drive(rays, scene_find_def(scene, "P"), 10.0);
    assert_true(light_along(rays, vec3(0, 0, 5), vec3(0, 0, -1), 0, 0).x > 0.9);
    // Two straight parts of 2 m and two half circles: 4 + pi long. Where one piece is, the next comes after a quarter
    // of it.
    double length = 4.0 + M_PI;
    Ray ray = { vec3(10, 0, 5), vec3(0, 0, -1), 0.0, 100.0, 0.0 };
    int seen = 0;
    for (int i = 0; i < 400; i++) {
        RayHit hit;
        rays_set_drive(rays, scene_find_def(scene, "T"), i * length / 400.0);
        rays_update(rays);
        rays_cast(rays, &ray, 1, NULL, NULL, &hit);
        if (hit.visual >= 0 && hit.distance < 4.6) {
            CHECK_NEAR(hit.distance, 4.49, 1e-9, "the upper side of the belt");
            seen++;
        }
    }
    CHECK_NEAR(seen, 4 * 400 * 0.1 / length, 4.0, "four pieces of 0.1 m pass");
    rays_destroy(rays);
    world_close(&world);
}

// The image on a track's own shape moves with the belt, by textureAnimation for each metre.
static void belts_move_their_image(void **state)
{
    (void)state;
    const char *folder = support_scratch("rays.seen");
    static const uint8_t halves[12] = { 255, 0, 0, 0, 255, 0, 255, 0, 0, 0, 255, 0 };
    write_image(folder, "halves", 2, halves);
    DiagSink *diags = diag_create();
    Sim *sim = open_file(
        folder,
        "PointLight { ambientIntensity 1 intensity 0 }\n"
        "Robot { children [ DEF T Track { textureAnimation 0.5 0 device [ LinearMotor { } ] children ["
        "  Shape { appearance Appearance { material Material { ambientIntensity 1 } texture ImageTexture { url \"halves.png\" filtering 0 } } geometry Plane { size 2 2 } } ] } ] }\n",
        diags);
    Rays *rays = rays_create(sim_physics(sim), diags);
    const SceneNode *track = scene_find_def(sim_scene(sim), "T");
    Vec3 eye = vec3(0.5, 0, 5), before = light_along(rays, eye, vec3(0, 0, -1), 1e-6, 0);
    rays_set_drive(rays, track, 1.0);  // half the image
    Vec3 after = light_along(rays, eye, vec3(0, 0, -1), 1e-6, 0);
    CHECK(fabs(before.x - after.y) < 1e-6 && fabs(before.y - after.x) < 1e-6, "the other half is there");
    CHECK(fabs(before.x - before.y) > 0.5, "the halves differ");
    rays_set_drive(rays, track, 2.0);
    CHECK(vec3_distance(light_along(rays, eye, vec3(0, 0, -1), 1e-6, 0), before) < 1e-9, "once around");
    rays_destroy(rays);
    sim_destroy(sim);
    diag_destroy(diags);
}

static void eyes_differ(void **state)
{
    (void)state;
    World world = world_open(
        "WorldInfo { }\nViewpoint { }\nBackground { skyColor [ 0 0 0 ] }\n"
        "DEF A Pose { children [ " GLOW(
            "1 0 0", "Box { size 1 1 1 }") " ] }\n"
                                           "Billboard { children [ Pose { translation 2 0 0 children [ " GLOW(
                                               "0 1 0", "Box { size 0.1 0.1 0.1 }") " ] } ] }\n");
    Rays *rays = rays_create(world.physics, world.diags);
    rays_set_view(rays, (Pose){ vec3(0, 0, 50), QUAT_IDENTITY });
    assert_true(light_along(rays, vec3(0, 0, 50), vec3(1, 0, 0), 0, 0).y > 0.9);   // before the main view
    assert_true(light_along(rays, vec3(0, 0, 50), vec3(1, 0, 0), 0, 5).y == 0.0);  // not for a camera that stands there
    for (int hides = 0; hides < 2; hides++) {
        rays_hide(rays, scene_find_def(sim_scene(world.sim), "A"), 5, hides);
        CHECK((light_along(rays, vec3(-5, 0, 0), vec3(1, 0, 0), 0, 5).x == 0.0) == (hides != 0),
              "hidden from this eye");
        CHECK(light_along(rays, vec3(-5, 0, 0), vec3(1, 0, 0), 0, 0).x > 0.9, "seen by the other");
    }
    const SceneNode *shape = rays_visual_node(rays, 0);
    rays_set_lamp(rays, scene_child(shape, "appearance"), vec3(0, 0, 0.5), true);
    CHECK_NEAR(light_along(rays, vec3(-5, 0, 0), vec3(1, 0, 0), 0, 0).z, 0.5, 1e-12, "a lamp");
    rays_destroy(rays);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_have_distances), cmocka_unit_test(lines_and_points_are_seen),
        cmocka_unit_test(skies_have_sides),      cmocka_unit_test(normals_bend),
        cmocka_unit_test(drives_move_things),    cmocka_unit_test(belts_move_their_image),
        cmocka_unit_test(eyes_differ),
    };
    return cmocka_run_group_tests_name("rays.seen", tests, NULL, NULL);
}
