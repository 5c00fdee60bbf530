// published.h - scenes of Webots' own tests, rebuilt from their description and driven through talus.h: open, ask by
// DEF name, compare with the published value. Each test runs once per stepper, which is its initial state.
#ifndef TALUS_TESTS_PHYSICS_PUBLISHED_H
#define TALUS_TESTS_PHYSICS_PUBLISHED_H

#include "support/support.h"
#include "talus/talus.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define EACH_STEPPER(test)                                                                                             \
    { #test " (talus)", test, NULL, NULL, "talus" }, { #test " (ode-exact)", test, NULL, NULL, "ode-exact" }

typedef struct Scenery {
    TalusWorld *world;
    const char *stepper;
} Scenery;

static inline void scenery_complain(const TalusDiagnostic *diagnostic, void *context)
{
    (void)context;
    if (diagnostic->severity >= TALUS_ERROR)
        print_error("%s:%u: %s\n", diagnostic->file, diagnostic->line, diagnostic->message);
}

// `state` is that of the test: which stepper runs. `release` is the one of the file's header, "R2025a".
static inline Scenery scenery_open(void **state, const char *release, const char *nodes)
{
    char header[64];
    snprintf(header, sizeof header, "#VRML_SIM %s utf8\n", release);
    size_t size = strlen(header) + strlen(nodes);
    char *text = malloc(size + 1);
    assert_non_null(text);
    snprintf(text, size + 1, "%s%s", header, nodes);
    TalusOptions options = { .stepper = *state, .on_diagnostic = scenery_complain };
    Scenery scenery = { talus_load_text("published.wbt", text, size, &options), *state };
    free(text);
    assert_non_null(scenery.world);
    assert_int_equal(talus_diagnostic_total(scenery.world, TALUS_ERROR), 0);
    return scenery;
}

static inline void scenery_close(Scenery *scenery) { talus_free(scenery->world); }

static inline void scenery_step(Scenery *scenery, int steps)
{
    if (!talus_step(scenery->world, steps))
        fail_msg("the run has failed: %s", talus_failure(scenery->world));
}

static inline TalusNode scenery_node(const Scenery *scenery, const char *def)
{
    TalusNode node = talus_find(scenery->world, def);
    if (node == TALUS_NONE)
        fail_msg("no node '%s'", def);
    return node;
}

static inline TalusPose scenery_pose(const Scenery *scenery, const char *def)
{
    TalusPose pose;
    assert_true(talus_pose(scenery->world, scenery_node(scenery, def), &pose));
    return pose;
}

static inline TalusVector scenery_position(const Scenery *scenery, const char *def)
{
    return scenery_pose(scenery, def).position;
}

static inline TalusVector scenery_velocity(const Scenery *scenery, const char *def)
{
    TalusVector linear;
    assert_true(talus_velocity(scenery->world, scenery_node(scenery, def), &linear, NULL));
    return linear;
}

static inline TalusVector scenery_spin(const Scenery *scenery, const char *def)
{
    TalusVector angular;
    assert_true(talus_velocity(scenery->world, scenery_node(scenery, def), NULL, &angular));
    return angular;
}

static inline double scenery_joint(const Scenery *scenery, const char *def, int axis)
{
    double position;
    assert_true(talus_joint_position(scenery->world, scenery_node(scenery, def), axis, &position));
    return position;
}

// A vector of the solid's own frame, in the world.
static inline TalusVector scenery_turned(const Scenery *scenery, const char *def, TalusVector v)
{
    TalusQuaternion q = scenery_pose(scenery, def).orientation;
    TalusVector t = { 2 * (q.y * v.z - q.z * v.y), 2 * (q.z * v.x - q.x * v.z), 2 * (q.x * v.y - q.y * v.x) };
    return (TalusVector){ v.x + q.w * t.x + q.y * t.z - q.z * t.y, v.y + q.w * t.y + q.z * t.x - q.x * t.z,
                          v.z + q.w * t.z + q.x * t.y - q.y * t.x };
}

static inline void scenery_push(Scenery *scenery, const char *def, TalusVector own_frame)
{
    assert_true(talus_add_force(scenery->world, scenery_node(scenery, def), scenery_turned(scenery, def, own_frame)));
}

// Prints what was measured beside what was published (docs/simulation.md has the table) and compares.
#define PUBLISHED(scenery, what, actual, expected, tolerance)                                                          \
    published_value((scenery), (what), (actual), (expected), (tolerance), __FILE__, __LINE__)
static inline void published_value(const Scenery *scenery, const char *what, double actual, double expected,
                                   double tolerance, const char *file, int line)
{
    print_message("%s, %s: published %.9g +-%g, here %.9g\n", what, scenery->stepper, expected, tolerance, actual);
    support_near(actual, expected, tolerance, what, file, line);
}

#endif
