// world.h - small worlds written in a test: made from text, stepped, asked for solids by name.
#ifndef TALUS_TESTS_PHYSICS_WORLD_H
#define TALUS_TESTS_PHYSICS_WORLD_H

#include "sim/sim.h"
#include "support/support.h"

#include <stdlib.h>

typedef struct World {
    Sim *sim;
    Physics *physics;
    DiagSink *diags;
} World;

#define WORLD_HEADER "#VRML_SIM R2025a utf8\n"

static inline World world_open_with(const char *nodes, const SimOptions *options)
{
    World world = { .diags = diag_create() };
    Text text = { 0 };
    text_add_string(&text, WORLD_HEADER);
    text_add_string(&text, nodes);
    // Formulas hold for every stepper: TALUS_TEST_STEPPER runs the tests that name none with another one.
    SimOptions chosen = options ? *options : (SimOptions){ 0 };
    if (!chosen.physics.stepper)
        chosen.physics.stepper = getenv("TALUS_TEST_STEPPER");
    world.sim = sim_load_text("test.wbt", text.data, text.length, &chosen, world.diags);
    text_free(&text);
    if (!world.sim) {
        diag_print(world.diags, stderr, 0, DIAG_NOTE);
        fail_msg("the world of the test does not load");
    }
    world.physics = sim_physics(world.sim);
    return world;
}

// Opens a world in which nothing is wrong.
static inline World world_open(const char *nodes)
{
    World world = world_open_with(nodes, NULL);
    if (diag_has_errors(world.diags) || diag_total(world.diags, DIAG_WARNING) > 0) {
        diag_print(world.diags, stderr, 0, DIAG_NOTE);
        fail_msg("the world of the test has something wrong");
    }
    return world;
}

static inline void world_close(World *world)
{
    sim_destroy(world->sim);
    diag_destroy(world->diags);
}

static inline void world_step(World *world, int steps)
{
    for (int i = 0; i < steps; i++)
        if (!sim_step(world->sim)) {
            diag_print(world->diags, stderr, 0, DIAG_NOTE);
            fail_msg("step %d failed: %s", i, sim_failure(world->sim));
        }
}

static inline int world_solid(const World *world, const char *label)
{
    for (int i = 0; i < physics_solid_count(world->physics); i++)
        if (physics_solid_exists(world->physics, i) && !strcmp(physics_solid_label(world->physics, i), label))
            return i;
    fail_msg("no solid '%s'", label);
    return -1;
}

static inline Vec3 world_position(const World *world, const char *label)
{
    return physics_solid_pose(world->physics, world_solid(world, label)).t;
}

static inline Vec3 world_velocity(const World *world, const char *label)
{
    return physics_solid_linear_velocity(world->physics, world_solid(world, label));
}

static inline Vec3 world_spin(const World *world, const char *label)
{
    return physics_solid_angular_velocity(world->physics, world_solid(world, label));
}

// How often a message that contains `words` was given.
static inline int world_said(const World *world, const char *words)
{
    int count = 0;
    for (int i = 0; i < diag_count(world->diags); i++)
        if (strstr(diag_at(world->diags, i)->message, words))
            count += diag_at(world->diags, i)->count;
    return count;
}

#endif
