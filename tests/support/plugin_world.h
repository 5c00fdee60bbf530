// plugin_world.h - plugins that a test writes, compiles and runs in a world of its own.
#ifndef TALUS_SUPPORT_PLUGIN_WORLD_H
#define TALUS_SUPPORT_PLUGIN_WORLD_H

#include "support/support.h"

#include "sim/sim.h"

typedef struct World {
    Sim *sim;
    DiagSink *diags;
    FILE *stream;  // what the plugin prints
    char out[8192];
} World;

extern const char *const falling;  // nodes: a floor and a box that rests on it

const char *plugin_scratch(const char *name);  // an empty project for the test, used by all functions below
bool has_compiler(const char *command);        // its first word; says so when it is not there
// Compiles a plugin into the scratch project. The source is C and C++ at once.
void compile(const char *compiler, const char *name, const char *source, bool is_cpp);
World world_open(const char *plugin, const char *nodes);
World world_open_with(const char *plugin, const char *nodes, const SimOptions *options);
bool world_start(World *world, Devices *devices);
void world_close(World *world);
const char *printed(World *world);
void steps(World *world, int count);
void expect_no_errors(const World *world);
int times_said(const World *world, DiagSeverity severity, const char *part);  // diagnostics with it in their text

#endif
