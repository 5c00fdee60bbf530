// Pictures on demand: whoever looks, and whenever, sees the moment at which the picture was due, with the same noise;
// nothing else of the simulation depends on it. The same bytes for any number of threads, and clear limits of size.
#include "devices/devices.h"

#include "physics/world.h"

#include <string.h>

enum { SIDE = 24, PERIOD_MS = 64, STEPS = 12 };

static const char scene[] =
    "WorldInfo { basicTimeStep 16 }\nViewpoint { }\nBackground { skyColor [ 0.2 0.4 0.8 ] }\nDirectionalLight { direction 1 1 -1 castShadows TRUE }\n"
    "DEF FALLING Solid { translation 3 0 2 children [ DEF LOOK Shape { appearance PBRAppearance { baseColor 1 0.4 0.1 metalness 0 roughness 0.5 } geometry Box { size 1 1 1 } } ]"
    "  boundingObject Box { size 1 1 1 } physics Physics { } }\n"
    "Solid { name \"lamp\" translation 4 -1 0.5 children [ PointLight { attenuation 0 0 1 } Shape { geometry Sphere { radius 0.2 } } ] physics Physics { } boundingObject Sphere { radius 0.2 } }\n"
    "Robot { children [ Camera { width 24 height 24 noise 0.02 } Camera { name \"wide\" projection \"spherical\" fieldOfView 3 width 24 height 24 }"
    "  RangeFinder { width 24 height 24 maxRange 9 noise 0.01 } Lidar { numberOfLayers 4 horizontalResolution 144 maxRange 9 } ] }\n";
static const char *const names[] = { "camera", "wide", "range-finder", "lidar" };
enum { EYES = COUNT_OF(names) };

typedef struct Seen {
    uint8_t bytes[STEPS][EYES][4 * SIDE * SIDE];
    uint64_t hash;
} Seen;

// What is done to the world after every second step, before a late reader looks.
static void disturb(World *world, int step)
{
    SceneNode *shape = scene_find_def(sim_scene(world->sim), "LOOK");
    SceneNode *appearance = shape ? scene_child(shape, "appearance") : NULL;
    if (appearance && step % 2) {
        scene_set_vec3(sim_scene(world->sim), appearance, "baseColor", vec3(0.1 * (step % 9), 1, 0));
        sim_field_changed(world->sim, appearance, "baseColor");
    }
    if (step == 9 && scene_find_def(sim_scene(world->sim), "FALLING"))
        assert_true(sim_remove(world->sim, scene_find_def(sim_scene(world->sim), "FALLING")));
}

// `late`: looks only after the world was disturbed and stepped on; `mask`: which eyes are looked at.
static void watch(Seen *seen, int threads, int late, int mask)
{
    World world = world_open_with(scene, &(SimOptions){ .physics = { .threads = threads } });
    Devices *devices = devices_create(sim_scene(world.sim), world.physics, world.diags);
    memset(seen, 0, sizeof *seen);
    for (int i = 0; i < EYES; i++)
        devices_enable(devices, 0, devices_find(devices, 0, names[i]), 0, PERIOD_MS);
    for (int step = 0; step < STEPS; step++) {
        world_step(&world, 1);
        if (!late)
            devices_sample(devices, sim_steps(world.sim));
        for (int pass = 0; pass <= late; pass++) {
            if (late && pass == 0) {
                devices_sample(devices, sim_steps(world.sim));
                continue;
            }
            if (late)
                disturb(&world, step);
            for (int i = 0; i < EYES; i++) {
                int size = 0;
                const void *bytes = mask >> i & 1
                                        ? devices_image(devices, 0, devices_find(devices, 0, names[i]), 0, &size)
                                        : NULL;
                if (bytes && (sim_steps(world.sim) % 4) == (late ? 2 : 0))
                    memcpy(seen->bytes[step - (late ? 2 : 0)][i], bytes, (size_t)size);
            }
            if (!late)
                disturb(&world, step);
        }
    }
    seen->hash = devices_hash(devices);
    devices_destroy(devices);
    world_close(&world);
}

static void the_moment_is_kept(void **state)
{
    (void)state;
    static Seen in_time, afterwards, again;
    watch(&in_time, 1, 0, 15);
    int different = 0;
    for (int i = 0; i < EYES; i++)
        different += memcmp(in_time.bytes[3][i], in_time.bytes[7][i], sizeof in_time.bytes[3][i]) != 0;
    assert_int_equal(different, EYES);
    watch(&again, 4, 0, 15);
    assert_memory_equal(&again, &in_time, sizeof again);
    // A reader who comes two steps later, when colours have changed and things have moved.
    watch(&afterwards, 1, 1, 15);
    for (int i = 0; i < EYES; i++)
        for (int step = 3; step < STEPS - 2; step += 4)
            CHECK(!memcmp(afterwards.bytes[step][i], in_time.bytes[step][i], sizeof in_time.bytes[step][i]), names[i]);
}

static void nobody_need_look(void **state)
{
    (void)state;
    static Seen all, one, none;
    watch(&all, 1, 0, 15);
    watch(&one, 1, 0, 1);
    watch(&none, 1, 0, 0);
    assert_true(all.hash == one.hash && one.hash == none.hash);
    for (int step = 0; step < STEPS; step++)
        assert_memory_equal(one.bytes[step][0], all.bytes[step][0], sizeof one.bytes[step][0]);
}

// Pictures for people: soft shadows that neighbouring pixels share, and edges with more rays. Not a byte depends on the
// threads.
static void people_see_the_same(void **state)
{
    (void)state;
    enum { WIDTH = 101, HEIGHT = 53 };
    static uint8_t pixels[2][4 * WIDTH * HEIGHT];
    for (int i = 0; i < 2; i++) {
        World world = world_open_with(scene, &(SimOptions){ .physics = { .threads = i ? 4 : 1 } });
        Devices *devices = devices_create(sim_scene(world.sim), world.physics, world.diags);
        DevicesView view = { .pose = { vec3(-1, 0, 2), QUAT_IDENTITY },
                             .field_of_view = 1.2,
                             .width = WIDTH,
                             .height = HEIGHT,
                             .near = 0.05,
                             .occlusion = 2.0,
                             .bloom = 21.0 };
        devices_look(devices, &view, pixels[i], NULL);
        devices_destroy(devices);
        world_close(&world);
    }
    assert_memory_equal(pixels[0], pixels[1], sizeof pixels[0]);
    bool has_box = false, has_sky = false;
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        has_box |= pixels[0][4 * i] > pixels[0][4 * i + 2] + 50;
        has_sky |= pixels[0][4 * i + 2] > pixels[0][4 * i] + 50;
    }
    assert_true(has_box && has_sky);
}

static void sizes_have_limits(void **state)
{
    (void)state;
    static const struct {
        int width, height, size;
    } cases[] = {
        { 1, 1, 4 },       { 8192, 256, 4 * 8192 * 256 }, { 8192, 1, 4 * 8192 }, { 1, 8192, 4 * 8192 },
        { 8192, 8192, 0 }, { 0, 5, 4 * 64 * 5 },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        Text text = { 0 };
        text_printf(&text, "WorldInfo { }\nViewpoint { }\nRobot { children [ Camera { width %d height %d } ] }\n",
                    cases[i].width, cases[i].height);
        World world = world_open_with(text.data, NULL);
        Devices *devices = devices_create(sim_scene(world.sim), world.physics, world.diags);
        int before = diag_total(world.diags, DIAG_WARNING), size = 0;
        devices_enable(devices, 0, 1, 0, 32);
        world_step(&world, 1);
        devices_sample(devices, sim_steps(world.sim));
        const void *bytes = devices_image(devices, 0, 1, 0, &size);
        bool has_default = cases[i].width < 1;  // a width of 0 is refused when the file is read
        CHECK(has_default || size == cases[i].size, "its size");
        CHECK(has_default || (bytes != NULL) == (cases[i].size > 0), "a picture");
        CHECK(has_default || diag_total(world.diags, DIAG_WARNING) - before == (cases[i].size == 0), "or a word");
        devices_destroy(devices);
        world_close(&world);
        text_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_moment_is_kept), cmocka_unit_test(nobody_need_look),
                                        cmocka_unit_test(people_see_the_same), cmocka_unit_test(sizes_have_limits) };
    return cmocka_run_group_tests_name("devices.due", tests, NULL, NULL);
}
