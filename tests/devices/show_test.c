// What devices leave to be seen: LEDs, displays, the paint of pens, laser spots; of the moment that a picture shows,
// and in snapshots.
#include "devices/devices.h"

#include "physics/world.h"

#include <string.h>

typedef struct Stage {
    World world;
    Devices *devices;
} Stage;

static Stage stage_open(const char *nodes)
{
    Stage stage = { .world = world_open_with(nodes, NULL) };
    stage.devices = devices_create(sim_scene(stage.world.sim), stage.world.physics, stage.world.diags);
    return stage;
}

static void stage_close(Stage *stage)
{
    devices_destroy(stage->devices);
    world_close(&stage->world);
}

static void stage_step(Stage *stage, int steps)
{
    for (int i = 0; i < steps; i++) {
        devices_paint(stage->devices);
        world_step(&stage->world, 1);
        devices_sample(stage->devices, sim_steps(stage->world.sim));
    }
}

static int tag_of(const Stage *stage, const char *name)
{
    int tag = devices_find(stage->devices, 0, name);
    assert_true(tag > 0);
    return tag;
}

static void command(Stage *stage, const char *name, int row, double a, double b, const void *bytes, int size)
{
    const char *problem = devices_command(stage->devices, 0, tag_of(stage, name),
                                          &(DeviceCommand){ row, (double[]){ a, b }, 2, bytes, size });
    if (problem)
        fail_msg("%s: %s", name, problem);
}

// The middle pixel of a camera: red, green, blue.
static const uint8_t *middle(Stage *stage, const char *camera)
{
    int size;
    const uint8_t *pixels = devices_image(stage->devices, 0, tag_of(stage, camera), 0, &size);
    assert_int_equal(size, 4 * 3 * 3);
    static uint8_t rgb[3];
    for (int c = 0; c < 3; c++)
        rgb[c] = pixels[4 * 4 + 2 - c];
    return rgb;
}

#define CAMERA "Camera { translation 0 0 1 rotation 0 1 0 1.5708 width 3 height 3 fieldOfView 0.1 }"
#define HEAD "WorldInfo { inkEvaporation 2 }\nViewpoint { }\nPointLight { ambientIntensity 1 intensity 0 }\n"
#define BOARD                                                                                                          \
    "DirectionalLight { direction 0 0 -1 }\nSolid { name \"board\" children [ Shape { appearance Appearance { material Material { ambientIntensity 0 diffuseColor 1 1 1 } } geometry Plane { size 1 1 } } ] }\n"

static void leds_glow(void **state)
{
    (void)state;
    Stage stage = stage_open(
        HEAD
        "Robot { children [ " CAMERA
        " LED { color [ 1 0 0, 0 1 0 ] children [ Shape { appearance PBRAppearance { baseColor 0 0 0 emissiveColor 1 1 1 }"
        " geometry Box { size 0.5 0.5 0.1 } } ] } ] }\n");
    devices_enable(stage.devices, 0, tag_of(&stage, "camera"), 0, 32);
    static const struct {
        int value, red, green;
    } cases[] = { { 0, 0, 0 }, { 1, 207, 0 }, { 2, 0, 207 }, { 0, 0, 0 } };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        command(&stage, "led", 0, cases[i].value, 0, NULL, 0);
        stage_step(&stage, 1);
        command(&stage, "led", 0, 2 - cases[i].value / 2, 0, NULL, 0);  // after the picture was due
        const uint8_t *seen = middle(&stage, "camera");
        CHECK(seen[0] == cases[i].red && seen[1] == cases[i].green, "the LED as it was then");
    }
    stage_close(&stage);
}

static void displays_show(void **state)
{
    (void)state;
    Stage stage = stage_open(
        HEAD
        "Robot { children [ " CAMERA
        " Display { width 2 height 2 children [ Shape { appearance Appearance { material Material { ambientIntensity 1 }"
        " texture ImageTexture { filtering 0 } } geometry Plane { size 1 1 } } ] } ] }\n");
    devices_enable(stage.devices, 0, tag_of(&stage, "camera"), 0, 32);
    uint8_t red[16] = { 255, 0, 0, 255, 255, 0, 0, 255, 255, 0, 0, 255, 255, 0, 0, 255 },
            blue[16] = { 0, 0, 255, 255, 0, 0, 255, 255, 0, 0, 255, 255, 0, 0, 255, 255 };
    stage_step(&stage, 1);
    const uint8_t *seen = middle(&stage, "camera");
    CHECK(seen[0] == 0 && seen[2] == 0, "black at first");
    command(&stage, "display", 0, 0, 2, red, 16);
    stage_step(&stage, 1);
    command(&stage, "display", 0, 0, 2, blue, 16);
    seen = middle(&stage, "camera");
    CHECK(seen[0] == 207 && seen[2] == 0, "what was drawn before the picture was due");
    SimSnapshot snapshot = { 0 };
    void *state_bytes = malloc(devices_snapshot_size(stage.devices));
    size_t size = devices_snapshot_size(stage.devices);
    devices_snapshot(stage.devices, state_bytes);
    uint64_t hash = devices_hash(stage.devices);
    stage_step(&stage, 1);
    seen = middle(&stage, "camera");
    CHECK(seen[0] == 0 && seen[2] == 207, "then the next");
    command(&stage, "display", 0, 0, 2, red, 16);
    assert_true(devices_hash(stage.devices) != hash);
    assert_true(devices_restore(stage.devices, state_bytes, size));
    assert_true(devices_hash(stage.devices) == hash);
    for (size_t cut = 1; cut < 40; cut += 7)
        assert_false(devices_restore(stage.devices, state_bytes, size - cut));
    assert_non_null(devices_command(stage.devices, 0, tag_of(&stage, "display"),
                                    &(DeviceCommand){ 0, (double[]){ 1, 2 }, 2, red, 16 }));
    assert_non_null(devices_command(stage.devices, 0, tag_of(&stage, "display"),
                                    &(DeviceCommand){ 0, (double[]){ 0, 1 }, 2, red, 16 }));
    assert_non_null(
        devices_command(stage.devices, 0, tag_of(&stage, "display"), &(DeviceCommand){ 1, (double[]){ 99, 0 }, 2 }));
    free(state_bytes);
    sim_snapshot_free(&snapshot);
    stage_close(&stage);
}

static double reading(const Stage *stage, const char *name)
{
    int count;
    uint32_t serial;
    return devices_reading(stage->devices, 0, tag_of(stage, name), 0, &count, &serial)[0];
}

static void pens_paint(void **state)
{
    (void)state;
    Stage stage = stage_open(
        HEAD BOARD
        "Robot { children [ " CAMERA " Pen { translation 0 0 0.5 write FALSE inkColor 0 0 1 inkDensity 1 leadSize 0.2 }"
        " DistanceSensor { translation 0 0 0.8 rotation 0 1 0 1.5708 type \"infra-red\" lookupTable [ 0 0 0, 9 9 0 ] } ] }\n");
    devices_enable(stage.devices, 0, tag_of(&stage, "camera"), 0, 32);
    devices_enable(stage.devices, 0, tag_of(&stage, "distance sensor"), 0, 32);
    stage_step(&stage, 1);
    double bare = reading(&stage, "distance sensor");
    command(&stage, "pen", 0, 1, 0, NULL, 0);
    devices_paint(stage.devices);  // the picture of the last step is not looked at yet
    const uint8_t *seen = middle(&stage, "camera");
    CHECK(seen[0] == 207 && seen[1] == 207, "no paint when the picture was due");
    stage_step(&stage, 1);
    seen = middle(&stage, "camera");
    CHECK(seen[0] == 0 && seen[2] == 207, "blue paint");
    assert_true(reading(&stage, "distance sensor") > 1.5 * bare);  // no red comes back from it
    command(&stage, "pen", 0, 0, 0, NULL, 0);
    size_t size = devices_snapshot_size(stage.devices);
    void *bytes = malloc(size);
    devices_snapshot(stage.devices, bytes);
    uint64_t hash = devices_hash(stage.devices);
    stage_step(&stage, 8);
    seen = middle(&stage, "camera");
    CHECK(seen[0] > 60 && seen[0] < 207, "it evaporates");
    assert_true(devices_restore(stage.devices, bytes, size) && devices_hash(stage.devices) == hash);
    devices_reset(stage.devices, stage.world.physics);
    stage_step(&stage, 1);
    CHECK_NEAR(reading(&stage, "distance sensor"), bare, 1e-9, "a reset takes it off");
    free(bytes);
    stage_close(&stage);
}

static void lasers_leave_spots(void **state)
{
    (void)state;
    Stage stage = stage_open(
        HEAD
        "Solid { children [ Shape { geometry Plane { size 1 1 } } ] boundingObject Plane { size 1 1 } }\n"
        "Robot { children [ " CAMERA
        " DistanceSensor { translation 0 0 0.5 rotation 0 1 0 1.5708 type \"laser\" aperture 0.1 lookupTable [ 0 0 0, 9 9 0 ] } ] }\n");
    devices_enable(stage.devices, 0, tag_of(&stage, "camera"), 0, 32);
    stage_step(&stage, 2);
    CHECK(middle(&stage, "camera")[1] > 100, "off");
    devices_enable(stage.devices, 0, tag_of(&stage, "distance sensor"), 0, 32);
    stage_step(&stage, 2);
    const uint8_t *seen = middle(&stage, "camera");
    CHECK(seen[0] == 239 && seen[1] == 0, "a red spot");
    stage_close(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leds_glow),
        cmocka_unit_test(displays_show),
        cmocka_unit_test(pens_paint),
        cmocka_unit_test(lasers_leave_spots),
    };
    return cmocka_run_group_tests_name("devices.show", tests, NULL, NULL);
}
