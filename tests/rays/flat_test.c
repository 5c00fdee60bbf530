// Flat pictures, whose pixels and sharp shadows are found without a search: they see what single rays see, to the same
// bits with and without wide instructions, wherever the view stands.
#include "rays/rays_internal.h"

#include "physics/world.h"

#include <string.h>

enum { WIDTH = 131, HEIGHT = 77, COUNT = WIDTH * HEIGHT };

static const char scene[] =
    "WorldInfo { }\nViewpoint { }\nBackground { skyColor [ 0.5 0.7 1 ] }\n"
    "DirectionalLight { direction 1 0.4 -1 castShadows TRUE }\n"
    "DirectionalLight { direction 0 0 -1 castShadows TRUE intensity 0.5 }\n"
    "Solid { children [ Shape { appearance PBRAppearance { baseColor 0.6 0.6 0.5 metalness 0 roughness 1 } geometry Plane { size 40 40 } } ] }\n"
    "Solid { translation 4 0 0.5 name \"a\" children [ Shape { appearance PBRAppearance { baseColor 0.9 0.7 0.2 metalness 1 roughness 0.3 } geometry Sphere { radius 0.5 subdivision 3 } } ] }\n"
    "Solid { translation 5 1.5 0.5 rotation 1 0.2 0.3 0.4 name \"b\" children [ Shape { geometry Box { size 1 1 1 } } ] }\n"
    "Solid { translation 3 -1 0.6 name \"c\" children [ Shape { appearance PBRAppearance { transparency 0.6 } geometry Box { size 0.1 1 1.2 } } ] }\n"
    "Solid { translation 5 -3 0.01 name \"d\" children [ Shape { geometry ElevationGrid { xDimension 5 yDimension 5 height [ 0 0.4 0 1 0, 0.3 1.2 0.1 0 0, 0 0.5 0 0.2 0, 0 0 1 0 0, 0 0 0 0 0 ] } } ] }\n"
    "Transform { translation 2 1 1 scale 1 -2 0.7 children [ Shape { geometry DEF ROOF IndexedFaceSet { coord Coordinate { point [ 0 0 0, 1 0 0, 0 1 0, 0 0 1, 0.3 0.3 -0.4 ] } coordIndex [ 0 2 1 -1 0 1 3 -1 0 3 2 -1 1 2 3 -1 0 1 4 -1 ] } } ] }\n"
    "Pose { translation 6 3 2 rotation 0 1 0 1 children [ Shape { geometry USE ROOF } ] }\n"
    "Pose { translation 7 3 2 rotation 0 1 0 1 children [ Shape { geometry USE ROOF } ] }\n"
    "Pose { translation 2.5 0.4 1.2 children [ Shape { geometry Box { size 0.4 0.6 0.1 } } ] }\n"
    "Pose { translation 4 2.2 1 rotation 1 0 0 0.7 children [ Shape { geometry Cylinder { radius 0.3 height 1.4 } } ] }\n"
    "Transform { translation 4.5 -1 1.5 scale 1 1.5 0.8 children [ Shape { geometry Cylinder { radius 0.3 height 1 top FALSE } } ] }\n"
    "Pose { translation 3 2.4 0.5 children [ Shape { geometry Capsule { radius 0.2 height 0.6 } } ] }\n"
    "Pose { translation -20 -20 -1 children [ Shape { geometry ElevationGrid { xDimension 3 yDimension 3 xSpacing 30 ySpacing 30 height [ 0 0 0, 0 2 0, 0 0 0 ] } } ] }\n";

static const Pose views[] = {
    { { 0, 0, 2 }, { .w = 0.98, .y = 0.199 } },                     // from before
    { { 4.6, -2.9, 0.9 }, { .w = 1 } },                             // amid the hills, whose triangles lie on all sides
    { { 6, 3, 9 }, { .w = 0.70710678, .y = 0.70710678 } },          // from above
    { { 4, 0, 0.5 }, { .w = 0.5, .x = 0.5, .y = 0.5, .z = 0.5 } },  // within a sphere, which is not seen from there
    { { 5.2, -2, 1.01 }, { .z = 1 } },
};

// With near so small that what crosses the plane of the eye is in the picture.
static RaysFlat flat_of(Pose pose)
{
    pose.q = quat_normalized(pose.q);
    return (
        RaysFlat){ .pose = pose, .width = WIDTH, .height = HEIGHT, .reach = 1.6, .near = 0.01, .far = 100, .eye = 1 };
}

static void rays_over(const RaysFlat *flat, Ray *rays)
{
    double step = flat->reach / WIDTH;
    for (int i = 0; i < COUNT; i++) {
        Vec3 d = vec3(1.0, 0.5 * flat->reach - (i % WIDTH + 0.5) * step,
                      (0.5 * HEIGHT - (double)(i / WIDTH) - 0.5) * step);
        double length = vec3_length(d);
        rays[i] = (Ray){ flat->pose.t, quat_rotate(flat->pose.q, vec3_scale(d, 1.0 / length)), flat->near * length,
                         flat->far * length, step / length };
    }
}

static void see_blocks(const Rays *rays, const RaysStyle *style, RaySeen *seen)
{
    for (int row = 0; row < HEIGHT; row += RAYS_BLOCK_HEIGHT)
        for (int column = 0; column < WIDTH; column += RAYS_BLOCK_WIDTH) {
            RaysBlock block;
            int visuals[RAYS_BLOCK];
            rays_see_block(rays, column, row, style, &block);
            rays_find_block(rays, column, row, visuals);
            for (int i = 0; i < RAYS_BLOCK; i++) {
                int x = column + i % RAYS_BLOCK_WIDTH, y = row + i / RAYS_BLOCK_WIDTH;
                if (x >= WIDTH || y >= HEIGHT)
                    continue;
                RaySeen *to = &seen[y * WIDTH + x];
                CHECK(visuals[i] == block.visual[i], "the same visuals");
                to->visual = block.visual[i];
                to->distance = block.distance[i];
                for (int c = 0; c < 3; c++)
                    to->light[c] = block.light[c][i], to->full[c] = block.full[c][i];
            }
        }
}

static void see(Rays *rays, Pose pose, bool is_flat, RaySeen *seen)
{
    static Ray queries[COUNT];
    RaysFlat flat = flat_of(pose);
    rays_over(&flat, queries);
    memset(seen, 0, COUNT * sizeof *seen);
    if (is_flat) {
        rays_prepare_shadows(rays, COUNT);
        assert_true(rays_flat_begin(rays, &flat));
        for (int band = 0; band < rays_flat_bands(&flat); band++)
            rays_flat_fill(rays, band);
    }
    RaysStyle style = { .eye = 1, .has_shadows = is_flat };
    if (is_flat)
        see_blocks(rays, &style, seen);
    else
        rays_see(rays, queries, COUNT, &style, seen);
}

static bool is_alike(float a, float b, float share) { return a == b || fabsf(a - b) <= share * (fabsf(a) + 1e-3f); }

static void flat_pictures_see_what_rays_see(void **state)
{
    (void)state;
    static RaySeen flat[COUNT], single[COUNT];
    World world = world_open_with(scene, NULL);
    Rays *rays = rays_create(world.physics, world.diags);
    rays_update(rays);
    for (int view = 0; view < COUNT_OF(views); view++) {
        int other = 0, other_shadow = 0, surfaces = 0, dark = 0;
        see(rays, views[view], true, flat);
        see(rays, views[view], false, single);
        for (int i = 0; i < COUNT; i++) {
            surfaces += flat[i].visual >= 0;
            other += flat[i].visual != single[i].visual || !is_alike(flat[i].distance, single[i].distance, 1e-4f);
            other_shadow += !is_alike(flat[i].light[1], single[i].light[1], 0.01f);
            dark += flat[i].light[1] < 0.7f * flat[i].full[1];
        }
        printf("view %d: %d of %d see a surface, %d of it in a shadow; %d differ, %d in their light\n", view, surfaces,
               COUNT, dark, other, other_shadow);
        CHECK(surfaces > COUNT / 4, "something is seen");
        CHECK(view != 0 || dark > 100, "shadows");
        CHECK(other <= COUNT / 1000, "but for roundings at edges the same surfaces");
        CHECK(other_shadow <= COUNT / 1000, "the same shadows");
    }
    rays_destroy(rays);
    world_close(&world);
}

static void wide_instructions_change_no_bit(void **state)
{
    (void)state;
    static RaySeen plain[COUNT], wide[COUNT];
    World world = world_open_with(scene, NULL);
    for (int view = 0; view < COUNT_OF(views); view++) {
        Rays *rays = rays_create(world.physics, world.diags);
        rays_update(rays);
        see(rays, views[view], true, wide);
        rays->shade = shade_portable;
        rays->block = block_surfaces_portable;
        rays->fill = raster_fill_portable;
        rays->darken = shadows_darken_portable;
        see(rays, views[view], true, plain);
        assert_memory_equal(plain, wide, sizeof plain);
        rays_destroy(rays);
    }
    world_close(&world);
}

// What was looked at before leaves nothing behind: after each move the picture is that of rays that never saw another.
static void moves_leave_nothing_behind(void **state)
{
    (void)state;
    static RaySeen used[COUNT], fresh[COUNT];
    World world = world_open_with(scene, NULL);
    Rays *rays = rays_create(world.physics, world.diags);
    Pose solids[16];
    int count = physics_solid_count(world.physics);
    assert_true(count <= COUNT_OF(solids));
    for (int i = 0; i < count; i++)
        solids[i] = physics_solid_pose(world.physics, i);
    for (int round = 0; round < 4; round++) {
        for (int i = 1; i < count; i++) {
            solids[i].t.z += 0.1 * round;
            if (i % 2 == round % 2)
                solids[i].q = quat_normalized((Quat){ .w = 1, .x = 0.1 * round, .y = 0.05 * i });
        }
        Rays *other = rays_create(world.physics, world.diags);
        rays_list(rays);
        rays_list(other);
        rays_place(rays, solids, count);
        rays_place(other, solids, count);
        see(rays, views[0], true, used);
        see(other, views[0], true, fresh);
        assert_memory_equal(used, fresh, sizeof used);
        rays_destroy(other);
    }
    rays_destroy(rays);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(flat_pictures_see_what_rays_see),
                                        cmocka_unit_test(wide_instructions_change_no_bit),
                                        cmocka_unit_test(moves_leave_nothing_behind) };
    return cmocka_run_group_tests_name("rays.flat", tests, NULL, NULL);
}
