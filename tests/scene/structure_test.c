// The number that says whether nodes came, went or moved: it changes with each of these and with nothing else, so that
// whoever keeps a list of nodes walks the scene only then.
#include "sim/sim.h"

#include "physics/world.h"

static const char text[] =
    "WorldInfo { basicTimeStep 16 }\n"
    "DEF BALL Solid { translation 0 0 5 boundingObject Sphere { } physics Physics { } children [ DEF INNER Pose { } ] }\n"
    "DEF BOX Solid { name \"box\" boundingObject Box { } }\n";

static SceneNode *find(World *world, const char *def) { return scene_find_def(sim_scene(world->sim), def); }

static void step(World *world) { world_step(world, 1); }
static void sync(World *world) { sim_sync_scene(world->sim); }
static void move(World *world)
{
    scene_set_vec3(sim_scene(world->sim), find(world, "BOX"), "translation", vec3(1, 2, 3));
    sim_field_changed(world->sim, find(world, "BOX"), "translation");
}
static void rename_it(World *world) { scene_set_string(sim_scene(world->sim), find(world, "BOX"), "name", "other"); }
static void insert(World *world)
{
    static const char node[] = "Robot { name \"new\" }";
    assert_non_null(sim_insert(world->sim, scene_root(sim_scene(world->sim)), "children", -1, node, sizeof node - 1));
}
static void take_out(World *world) { assert_true(sim_remove(world->sim, find(world, "INNER"))); }
static void reset(World *world)
{
    sim_reset(world->sim);
    world->physics = sim_physics(world->sim);
}

static const struct {
    const char *name;
    void (*act)(World *world);
    bool changes;
} acts[] = {
    { "step", step, false },        { "sync", sync, false },
    { "move", move, false },        { "rename", rename_it, false },
    { "insert", insert, true },     { "step after", step, false },
    { "take out", take_out, true }, { "reset puts back", reset, true },
    { "step again", step, false },
};

static void structure_follows_nodes_alone(void **state)
{
    (void)state;
    World world = world_open_with(text, &(SimOptions){ 0 });
    for (int i = 0; i < COUNT_OF(acts); i++) {
        uint64_t before = scene_structure(sim_scene(world.sim));
        acts[i].act(&world);
        CHECK((scene_structure(sim_scene(world.sim)) != before) == acts[i].changes, acts[i].name);
    }
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(structure_follows_nodes_alone) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
