// Rays against what is seen: forms against their formulas, meshes, colours and images, moves, edits, ties, nonsense.
#include "rays/rays.h"

#include "assets/image.h"
#include "physics/world.h"

#include <malloc.h>
#include <math.h>

static RayHit cast(Rays *rays, Vec3 origin, Vec3 direction)
{
    Ray ray = { origin, vec3_normalized(direction), 0.0, 100.0 };
    RayHit hit;
    rays_update(rays);
    rays_cast(rays, &ray, 1, NULL, NULL, &hit);
    return hit;
}

#define FACES(points, indices) "IndexedFaceSet { coord Coordinate { point [ " points " ] } coordIndex [ " indices " ] }"

// From (-5, 0.1, 0.2) along +x, or from (0.1, 0.2, 5) down; where the surface is, INFINITY: not met.
static const struct {
    const char *geometry;
    bool is_down;
    double distance;
} forms[] = {
    { "Box { size 1 2 3 }", false, 4.5 },
    { "Box { size 1 0.1 3 }", false, INFINITY },
    { "Sphere { radius 1 }", false,
      5.0 - 0.9746794344808963 },  // sqrt(1 - 0.01 - 0.04); drawn with few faces, met as a sphere
    { "Cylinder { radius 1 height 1 }", false, 5.0 - 0.99498743710662 },
    { "Cylinder { radius 1 height 0.2 }", false, INFINITY },
    { "Cylinder { radius 1 height 1 }", true, 4.5 },
    { "Cylinder { radius 1 height 1 top FALSE }", true, INFINITY },  // the inside of the bottom is not seen
    { "Cylinder { radius 1 height 1 side FALSE }", false, INFINITY },
    { "Capsule { radius 1 height 0.1 }", false, 5.0 - 0.98361577864530014 },
    { "Capsule { radius 1 height 1 }", true, 4.5 - 0.9746794344808963 },
    { "Cone { bottomRadius 1 height 2 }", false, 5.0 - 0.3872983346207417 },
    { "Cone { bottomRadius 1 height 2 }", true, 4.0 + 0.44721359549995793 },
    { "Plane { size 1 1 }", true, 5.0 },
    { "Plane { size 1 0.3 }", true, INFINITY },  // only what is shown of it
    { "Plane { size 9 9 }", false, INFINITY },
    { FACES("0 -1 -1, 0 1 -1, 0 0 1", "0 2 1 -1"), false, 5.0 },
    { FACES("0 -1 -1, 0 1 -1, 0 0 1", "0 1 2 -1"), false, INFINITY },  // its back
    { "ElevationGrid { xDimension 2 yDimension 2 height [ 1 1 2 2 ] }", true, 3.8 },
    { "ElevationGrid { xDimension 2 yDimension 2 height [ 0 0 0 1 ] }", true,
      4.9 },  // an edge from the first corner to the last
};

static void test_forms(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(forms); i++) {
        Text text = { 0 };
        text_printf(&text, "WorldInfo { }\nViewpoint { }\nSolid { children [ Shape { geometry %s } ] }\n",
                    forms[i].geometry);
        World world = world_open(text.data);
        Rays *rays = rays_create(world.physics, world.diags);
        RayHit hit = forms[i].is_down ? cast(rays, vec3(0.1, 0.2, 5), vec3(0, 0, -1))
                                      : cast(rays, vec3(-5, 0.1, 0.2), vec3(1, 0, 0));
        assert_int_equal(rays_visual_count(rays), 1);
        CHECK((hit.visual == 0) == isfinite(forms[i].distance), forms[i].geometry);
        if (hit.visual == 0) {
            CHECK_NEAR(hit.distance, forms[i].distance, 1e-12, forms[i].geometry);
            CHECK_NEAR(vec3_length(hit.normal), 1.0, 1e-12, forms[i].geometry);
            CHECK((forms[i].is_down ? hit.normal.z > 0 : hit.normal.x < 0), forms[i].geometry);
        }
        RayHit inside = cast(rays, vec3(0.01, 0.01, 0.02), vec3(1, 0.1, 0.1));
        CHECK(inside.visual < 0, forms[i].geometry);
        rays_destroy(rays);
        world_close(&world);
        text_free(&text);
    }
}

static void test_frames(void **state)
{
    (void)state;
    World world = world_open(
        "WorldInfo { gravity 0 }\nViewpoint { }\n"
        "Solid { name \"a\" translation 3 0 0 linearVelocity 1 0 0 physics Physics { density -1 mass 1 } boundingObject Sphere { radius 0.1 } children [ Transform { translation 0 0 1 scale 2 1 1 children [ DEF S Shape { geometry Sphere { radius 0.5 } } ] } ] }\n"
        "Transform { translation 0 0 9 scale -1 1 1 children [ Shape { geometry " FACES(
            "0 -1 -1, 0 1 -1, 0 0 1",
            "0 2 1 -1") " } USE S ] }\n"
                        "Solid { name \"b\" translation 0 5 0 children [ Shape { geometry Box { } } Shape { geometry Box { } } ] boundingObject Box { } }\n");
    Rays *rays = rays_create(world.physics, world.diags);
    RayHit hit = cast(rays, vec3(0, 0, 1), vec3(1, 0, 0));
    CHECK_NEAR(hit.distance, 2.0, 1e-12, "scaled: an ellipsoid");
    assert_int_equal(hit.solid, world_solid(&world, "a"));
    assert_true(cast(rays, vec3(5, 0, 9.7), vec3(-1, 0, 0)).visual == 1);  // mirrored: faces +x
    assert_true(cast(rays, vec3(-5, 0, 9.7), vec3(1, 0, 0)).visual < 0);
    hit = cast(rays, vec3(0, 0, 0), vec3(0, 1, 0));
    CHECK_NEAR(hit.distance, 4.0, 1e-12, "a tie");
    assert_int_equal(hit.visual, 3);  // the first of two equal ones
    world_step(&world, 10);
    hit = cast(rays, vec3(0, 0, 1), vec3(1, 0, 0));
    CHECK_NEAR(hit.distance, 2.32, 1e-9, "it moved");
    size_t before = mallinfo2().uordblks;
    for (int i = 0; i < 200; i++) {
        world_step(&world, 1);
        hit = cast(rays, vec3(0, 0, 1), vec3(1, 0, 0));
    }
    CHECK_NEAR(hit.distance, 2.32 + 6.4, 1e-9, "it moved on");
    assert_true(mallinfo2().uordblks <= before + 4096);
    SceneNode *shape = rays_visual_node(rays, 0);
    scene_set_float(sim_scene(world.sim), scene_child(shape, "geometry"), "radius", 1.0);
    sim_field_changed(world.sim, scene_child(shape, "geometry"), "radius");
    CHECK_NEAR(cast(rays, vec3(0, 0, 1), vec3(1, 0, 0)).distance, 2.32 + 6.4 - 1.0, 1e-9, "edited");
    Ray bad[] = { { vec3(NAN, 0, 0), vec3(1, 0, 0), 0, 9 },   { VEC3_ZERO, VEC3_ZERO, 0, 9 },
                  { VEC3_ZERO, vec3(1, 0, 0), 9, 0 },         { VEC3_ZERO, vec3(1, 0, 0), 0, NAN },
                  { vec3(1e300, 0, 0), vec3(1, 0, 0), 0, 9 }, { VEC3_ZERO, vec3(1e100, 0, 0), 0, 9 } };
    RayHit hits[COUNT_OF(bad)];
    rays_cast(rays, bad, COUNT_OF(bad), NULL, NULL, hits);
    for (int i = 0; i < COUNT_OF(bad); i++)
        assert_int_equal(hits[i].visual, -1);
    rays_destroy(rays);
    world_close(&world);
}

// What is scaled beyond what single precision holds is not seen, and rays through it go on.
static void test_scales_beyond_reach(void **state)
{
    (void)state;
    static const char *const scales[] = { "1e-300 1 1", "1e-30 1e-30 1e-30", "1 1e-6 1", "1e9 -1e9 1e9" };
    static const char *const geometries[] = { "Sphere { }", FACES("0 -1 -1, 0 1 -1, 0 0 1", "0 2 1 -1") };
    for (int i = 0; i < COUNT_OF(scales) * COUNT_OF(geometries); i++) {
        Text text = { 0 };
        text_printf(
            &text,
            "WorldInfo { } Viewpoint { } Transform { scale %s children [ Transform { scale %s children [ Shape { geometry %s } ] } ] } "
            "Pose { translation 5 0 0 children [ Shape { geometry Box { } } ] }",
            scales[i % COUNT_OF(scales)], scales[i % COUNT_OF(scales)], geometries[i / COUNT_OF(scales)]);
        World world = world_open_with(text.data, NULL);
        Rays *rays = rays_create(world.physics, world.diags);
        CHECK_NEAR(cast(rays, vec3(-5, 0, 0), vec3(1, 0, 0)).distance, 9.0, 1e-9, text.data);
        rays_destroy(rays);
        world_close(&world);
        text_free(&text);
    }
}

// Where paint and images lie on a form that is met at a height from +x, and the sphere around it, which says how wide a
// pen writes.
static const struct {
    const char *geometry;
    double scale, z, v, radius;
} painted[] = {
    { "Capsule { radius 1 height 2 }", 1, 0.0, 0.5, 2.0 },  // a third for each end
    { "Capsule { radius 1 height 2 }", 1, 0.5, 7.0 / 12.0, 2.0 },
    { "Capsule { radius 1 height 2 }", 1, 1.5, 2.0 / 3.0 + 1.0 / 9.0, 2.0 },
    { "Capsule { radius 1 height 2 }", 1, -1.5, 2.0 / 9.0, 2.0 },
    { "Capsule { radius 1 height 2 }", 2, 3.0, 2.0 / 3.0 + 1.0 / 9.0, 4.0 },
    { "Sphere { radius 1 }", 1, 0.5, 2.0 / 3.0, 1.0 },
    { "Cylinder { radius 1 height 2 }", 1, 0.5, 0.75, M_SQRT2 },
    { "Cone { bottomRadius 1 height 2 }", 1, 0.5, 0.75, M_SQRT2 },
    { "Box { size 2 2 2 }", 0.5, 0.25, 0.75, 0.8660254037844386 },
    { FACES("0 -1 -1, 0 1 -1, 0 0 1", "0 1 2 -1"), 1, 0.5, NAN, 1.4604048132 },
};

static void test_paint(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(painted); i++) {
        Text text = { 0 };
        text_printf(&text,
                    "WorldInfo { }\nViewpoint { }\nTransform { scale %g %g %g children [ Shape { geometry %s } ] }\n",
                    painted[i].scale, painted[i].scale, painted[i].scale, painted[i].geometry);
        World world = world_open(text.data);
        Rays *rays = rays_create(world.physics, world.diags);
        RayHit hit = cast(rays, vec3(5, 0, painted[i].z), vec3(-1, 0, 0));
        assert_int_equal(hit.visual, 0);
        if (isfinite(painted[i].v))
            CHECK_NEAR(hit.v, painted[i].v, 1e-9, painted[i].geometry);
        int width, height, cells[2];
        double radius;
        rays_paint_size(rays, 0, &width, &height, cells, &radius);
        CHECK_NEAR(radius, painted[i].radius, 1e-9, painted[i].geometry);
        rays_destroy(rays);
        world_close(&world);
        text_free(&text);
    }
}

static void test_looks(void **state)
{
    (void)state;
    const char *folder = support_scratch("rays.looks");
    char path[4096];
    // Top row red and green, bottom row blue and white.
    static const uint8_t pixels[] = { 255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255 };
    DiagSink *diags = diag_create();
    snprintf(path, sizeof path, "%s/four.png", folder);
    assert_true(image_write_png(path, &(ImagePixels){ 2, 2, 3, pixels, 0 }, diags));
    snprintf(path, sizeof path, "%s/w.wbt", folder);
    support_write(
        path, WORLD_HEADER
        "WorldInfo { }\nViewpoint { }\n"
        "Solid { name \"plane\" children [ Shape { appearance Appearance { material Material { diffuseColor 0.5 0.5 0.5 } texture ImageTexture { url \"four.png\" } } geometry Plane { size 2 2 } } ] }\n"
        "Solid { name \"pbr\" translation 10 0 0 children [ Shape { appearance PBRAppearance { baseColor 0.5 0.5 0.5 roughness 0.25 transparency 0.5 baseColorMap ImageTexture { url \"four.png\" } } geometry Box { size 2 2 2 } } ] }\n"
        "Solid { name \"plain\" translation 20 0 0 children [ Shape { appearance Appearance { material Material { diffuseColor 0.1 0.2 0.3 } } geometry Sphere { } } ] }\n"
        "Solid { name \"bare\" translation 30 0 0 children [ Shape { geometry Sphere { } } ] }\n");
    Sim *sim = sim_load(path, NULL, diags);
    assert_non_null(sim);
    Rays *rays = rays_create(sim_physics(sim), diags);
    static const struct {
        double x, y;
        Vec3 color;
        double roughness;
    } places[] = {
        { -0.5, 0.5, { 1, 0, 0 }, 0 },   { 0.5, 0.5, { 0, 1, 0 }, 0 },       { -0.5, -0.5, { 0, 0, 1 }, 0 },
        { 0.5, -0.5, { 1, 1, 1 }, 0 },   { 9.5, 0.5, { 0.25, 0, 0 }, 0.25 }, { 10.5, -0.5, { 0.25, 0.25, 0.25 }, 0.25 },
        { 20, 0, { 0.1, 0.2, 0.3 }, 0 }, { 30, 0, { 1, 1, 1 }, 0 },
    };
    for (int i = 0; i < COUNT_OF(places); i++) {
        RayHit hit = cast(rays, vec3(places[i].x, places[i].y, 5), vec3(0, 0, -1));
        assert_true(hit.visual >= 0);
        RayLook look = rays_look(rays, &hit);
        CHECK_NEAR(vec3_distance(look.color, places[i].color), 0.0, 1e-9, "colour");
        CHECK_NEAR(look.roughness, places[i].roughness, 0.0, "roughness");
    }
    rays_destroy(rays);
    sim_destroy(sim);
    diag_destroy(diags);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_forms), cmocka_unit_test(test_frames),
                                        cmocka_unit_test(test_scales_beyond_reach), cmocka_unit_test(test_paint),
                                        cmocka_unit_test(test_looks) };
    return cmocka_run_group_tests_name("rays.rays", tests, NULL, NULL);
}
