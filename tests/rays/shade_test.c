// The light that comes along rays, eight at a time: the same bits with and without wide instructions, the formula of a
// matt surface, shadows, and the same surfaces that rays_cast meets.
#include "rays/rays_internal.h"

#include "physics/world.h"

#include <string.h>

enum { COLUMNS = 60, ROWS = 40, COUNT = COLUMNS * ROWS };

static const char scene[] =
    "WorldInfo { }\nViewpoint { }\nBackground { skyColor [ 0.5 0.7 1 ] }\nFog { color 0.8 0.8 0.8 visibilityRange 60 }\n"
    "DirectionalLight { direction 1 1 -1 castShadows TRUE ambientIntensity 0.2 }\n"
    "PointLight { location 4 -2 3 attenuation 1 0 0.2 castShadows TRUE }\n"
    "SpotLight { location 3 2 4 direction 0.2 -0.3 -1 beamWidth 0.3 cutOffAngle 0.6 castShadows TRUE }\n"
    "Solid { children [ Shape { appearance PBRAppearance { baseColor 0.6 0.6 0.5 metalness 0 roughness 1 } geometry Plane { size 40 40 } } ] }\n"
    "Solid { translation 4 0 0.5 name \"a\" children [ Shape { appearance PBRAppearance { baseColor 0.9 0.7 0.2 metalness 1 roughness 0.3 } geometry Sphere { radius 0.5 subdivision 3 } } ] }\n"
    "Solid { translation 5 1.5 0.5 name \"b\" children [ Shape { appearance Appearance { material Material { diffuseColor 0.2 0.5 0.8 specularColor 0.8 0.8 0.8 shininess 0.4 } } geometry Box { size 1 1 1 } } ] }\n"
    "Solid { translation 3 -1 0.6 name \"c\" children [ Shape { appearance PBRAppearance { baseColor 0.3 0.9 0.3 metalness 0 roughness 0.2 transparency 0.6 } geometry Box { size 0.1 1 1.2 } } ] }\n"
    "Solid { translation 6 -2 0 name \"d\" children [ Shape { appearance PBRAppearance { baseColor 0.9 0.2 0.2 metalness 0 roughness 0.6 } geometry ElevationGrid { xDimension 3 yDimension 3 height [ 0 0.4 0, 0.3 1.2 0.1, 0 0.5 0 ] } } ] }\n";

static void rays_over(Ray *rays)
{
    for (int i = 0; i < COUNT; i++) {
        Vec3 direction = vec3(1.0, 0.7 - 1.4 * (i % COLUMNS + 0.5) / COLUMNS, 0.2 - 0.9 * (i / COLUMNS + 0.5) / ROWS);
        rays[i] = (Ray){ vec3(0, 0, 2), vec3_normalized(direction), 0.01, 100.0, 0.02 };
    }
}

static void see(const Rays *rays, const RaysStyle *style, RaySeen *seen)
{
    static Ray queries[COUNT];
    rays_over(queries);
    memset(seen, 0, COUNT * sizeof *seen);
    rays_see(rays, queries, COUNT, style, seen);
}

static void wide_instructions_change_no_bit(void **state)
{
    (void)state;
    static RaySeen plain[COUNT], wide[COUNT];
    static const RaysStyle styles[] = { { .eye = 1 },
                                        { .occlusion = 1.0, .softness = 0.02, .is_for_people = true },
                                        { .occlusion = 1.0, .softness = 0.02, .per_pixel = 4 } };
    World world = world_open_with(scene, NULL);
    Rays *rays = rays_create(world.physics, world.diags);
    rays_update(rays);
    for (int i = 0; i < COUNT_OF(styles); i++) {
        rays->shade = shade_portable;
        see(rays, &styles[i], plain);
#if defined(__x86_64__)
        if (__builtin_cpu_supports("avx2"))
            rays->shade = shade_avx2;
#endif
        see(rays, &styles[i], wide);
        assert_memory_equal(plain, wide, sizeof plain);
    }
    rays_destroy(rays);
    world_close(&world);
}

static void shadows_take_light_away(void **state)
{
    (void)state;
    static RaySeen seen[COUNT], bare[COUNT];
    static Ray queries[COUNT];
    static RayHit hits[COUNT];
    World world = world_open_with(scene, NULL);
    Rays *rays = rays_create(world.physics, world.diags);
    int dark = 0, bright = 0;
    rays_update(rays);
    see(rays, &(RaysStyle){ .eye = 1 }, seen);
    see(rays, &(RaysStyle){ .eye = 1, .is_unshadowed = true }, bare);
    rays_over(queries);
    rays_cast(rays, queries, COUNT, NULL, NULL, hits);
    for (int i = 0; i < COUNT; i++) {
        CHECK(seen[i].visual == hits[i].visual, "the surface that a cast meets");
        CHECK(seen[i].visual < 0 || fabs((double)seen[i].distance - hits[i].distance) < 1e-4, "its distance");
        CHECK(seen[i].light[0] <= seen[i].full[0] * 1.00001f, "no more than the full light");
        CHECK(bare[i].light[0] == bare[i].full[0] && bare[i].full[0] == seen[i].full[0], "the full light");
        dark += seen[i].light[0] < 0.9f * seen[i].full[0];
        bright += seen[i].visual >= 0 && seen[i].light[0] == seen[i].full[0];
    }
    assert_true(dark > 50 && bright > 500);
    rays_destroy(rays);
    world_close(&world);
}

// Of the light model of VRML: the colour times the cosine, in linear light, far from the origin too.
static void matt_surfaces_follow_the_cosine(void **state)
{
    (void)state;
    static const double places[] = { 0.0, 100.0, 3000.0 };
    for (int i = 0; i < COUNT_OF(places); i++) {
        char text[1024];
        snprintf(
            text, sizeof text,
            "WorldInfo { }\nViewpoint { }\nDirectionalLight { direction 3 0 -4 intensity 0.5 castShadows TRUE }\n"
            "Solid { translation %g %g 0 children [ Shape { appearance Appearance { material Material { ambientIntensity 0 diffuseColor 1 0.5 0 } } geometry Plane { size 100 100 } } ] }\n",
            places[i], places[i]);
        World world = world_open_with(text, NULL);
        Rays *rays = rays_create(world.physics, world.diags);
        rays_update(rays);
        for (int k = 0; k < 64; k++) {
            Ray ray = { vec3(places[i] + 0.37 * k, places[i] - 0.53 * k, 2), { 0, 0, -1 }, 0.01, 100.0, 0.0 };
            RaySeen seen;
            rays_see(rays, &ray, 1, &(RaysStyle){ .eye = 1 }, &seen);
            CHECK_NEAR((double)seen.light[0], 0.5 * 0.8, 1e-6, "red");
            CHECK_NEAR((double)seen.light[1], 0.5 * 0.8 * 0.21404114, 1e-6, "half of the green, linear");
            CHECK(seen.light[2] == 0.0f, "no blue");
        }
        rays_destroy(rays);
        world_close(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(wide_instructions_change_no_bit),
                                        cmocka_unit_test(shadows_take_light_away),
                                        cmocka_unit_test(matt_surfaces_follow_the_cosine) };
    return cmocka_run_group_tests_name("rays.shade", tests, NULL, NULL);
}
