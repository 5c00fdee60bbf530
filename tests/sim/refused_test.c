// A snapshot that is refused leaves the world as it was: physics, devices and clock, whichever of its bytes is wrong.
#include "devices/devices.h"

#include "physics/world.h"

#include <string.h>

static const char scene[] = "WorldInfo { basicTimeStep 16 }\n"
                            "Solid { translation 0 0 5 boundingObject Box { size 1 1 1 } physics Physics { } }\n"
                            "Robot { children [ DistanceSensor { } Emitter { } Receiver { } ] }\n";

static size_t size_of(void *devices) { return devices_snapshot_size(devices); }
static void save(void *devices, void *buffer) { devices_snapshot(devices, buffer); }
static bool restore(void *devices, const void *buffer, size_t size) { return devices_restore(devices, buffer, size); }
static uint64_t hash_of(void *devices) { return devices_hash(devices); }

static void refused_means_untouched(void **state)
{
    (void)state;
    World world = world_open_with(scene, &(SimOptions){ 0 });
    Devices *devices = devices_create(sim_scene(world.sim), world.physics, world.diags);
    sim_add_state(world.sim, &(SimStatePart){ "devices", devices, size_of, save, restore, hash_of });
    devices_enable(devices, 0, 1, 0, 16);
    for (int i = 0; i < 10; i++) {
        world_step(&world, 1);
        devices_sample(devices, sim_steps(world.sim));
    }
    SimSnapshot good = { 0 }, now = { 0 };
    sim_snapshot(world.sim, &good);
    for (int i = 0; i < 10; i++) {
        world_step(&world, 1);
        devices_sample(devices, sim_steps(world.sim));
    }
    sim_snapshot(world.sim, &now);
    uint64_t hash = sim_hash(world.sim), steps = sim_steps(world.sim);
    int refused = 0;
    for (size_t place = 0; place < good.size; place++) {
        SimSnapshot bad = { malloc(good.size), good.size, good.size };
        memcpy(bad.data, good.data, good.size);
        ((uint8_t *)bad.data)[place] ^= 0x80;
        if (sim_restore(world.sim, &bad))
            assert_true(sim_restore(world.sim, &now));  // it could be used: back to where it was
        else
            refused++;
        assert_true(sim_hash(world.sim) == hash && sim_steps(world.sim) == steps);
        free(bad.data);
    }
    for (size_t cut = 0; cut < good.size; cut += 7) {
        SimSnapshot bad = { good.data, cut, cut };
        assert_false(sim_restore(world.sim, &bad));
        assert_true(sim_hash(world.sim) == hash && sim_steps(world.sim) == steps);
    }
    assert_true(refused > 50);  // heads and sizes at the least
    assert_true(sim_restore(world.sim, &good) && sim_steps(world.sim) == 10);
    sim_snapshot_free(&good);
    sim_snapshot_free(&now);
    sim_remove_state(world.sim, devices);
    devices_destroy(devices);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(refused_means_untouched) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
