// plugins.h - the physics plugin of a world: found, loaded, called, and contained when it fails.
// Belongs here: the shared library, its callbacks, the dWebots* functions that it calls, faults inside it. Not here:
// when a callback is due (sim/plugin.c), what its joints and forces do (physics/).
//
// A PluginHost borrows scene, physics and devices. The functions that plugins call take no world, so they are bound to
// the host whose callback runs on the calling thread; worlds on several threads have their plugins side by side. A
// second world with the same plugin gets a copy of the library, so that each has its own global variables.
//
// A fault inside a callback (a signal, exit(), an exception, an endless loop with a time limit) ends the callback: the
// host reports it with its place in the source, is failed from then on and calls nothing any more. After damage to the
// heap the process ends with that report and status 1.
#ifndef TALUS_PLUGINS_PLUGINS_H
#define TALUS_PLUGINS_PLUGINS_H

#include "devices/devices.h"
#include "physics/physics.h"

typedef struct PluginHost PluginHost;

typedef struct PluginOptions {
    const char *const *search_paths;  // further project folders, NULL-terminated; TALUS_PATH and such are added
    int64_t timeout_ms;               // of one callback; 0: none
    FILE *out;                        // console; NULL: stdout
    bool is_quiet;                    // drop what it prints
    Devices *devices;                 // for messages from emitters and to receivers; NULL: there are none
    bool keeps_messages;              // what the plugin sends is kept for plugin_receive too
    bool is_alone;                    // no controller runs: messages go nowhere, which is said once
    // Saves the last completed step when the process is about to end, without allocating; gives the file's name or
    // NULL.
    const char *(*save_last)(void *context);
    void *save_context;
    // The summary of the run for standard output when the process is about to end, without allocating; NULL: none.
    const char *(*sum_up)(void *context, const char *failure);
    void *sum_context;
} PluginOptions;

// Without loading anything: says what stands in the way of the plugin that the world names, if any.
void plugin_look(const Scene *scene, DiagSink *diags);
const char *plugin_name(const Scene *scene);              // that the world wants, NULL when none
const char *plugin_name_in(const SceneNode *world_info);  // NULL is fine

// Finds and loads the plugin that the world names. NULL when there is none or it cannot be used; then *is_missing tells
// which, and the sink why. A plugin that crashed while it was loaded is one that has failed.
PluginHost *plugin_open(Scene *scene, Physics *physics, const PluginOptions *options, DiagSink *diags,
                        bool *is_missing);
bool plugin_unload(PluginHost *host);  // runs its destructors; false when it has failed, now or before
void plugin_close(PluginHost *host);   // NULL is fine; after plugin_unload()

void plugin_take_back(PluginHost *host,
                      Physics *physics);  // after cleanup: what it set on ODE's objects is as they were made
void plugin_set_physics(PluginHost *host, Physics *physics);  // after it was built anew, between cleanup and init

// The callbacks. `time` is simulated, in seconds. False when the plugin has failed now or earlier.
bool plugin_init(PluginHost *host, double time);
bool plugin_step(PluginHost *host, double time);
bool plugin_advanced(PluginHost *host);  // the stepper is done: contact joints of the plugin have acted
bool plugin_collided(PluginHost *host);  // a collision pass is over
bool plugin_step_end(PluginHost *host, double time);
bool plugin_settle(PluginHost *host);  // before anything else follows a step: what step_end did is looked at
bool plugin_cleanup(PluginHost *host, double time);
// The state went back to a snapshot: contact joints of the plugin are of another moment and go. True when a collision
// pass is needed to get them again.
bool plugin_restored(PluginHost *host);
bool plugin_has_collide(const PluginHost *host);
bool plugin_has_draw(const PluginHost *host);
bool plugin_draw(
    PluginHost *host, double time, int pass,
    const char *view);  // a GL context is current; pass 0 before the scene, 1 after; view NULL: the main one

// Messages to and from the program that hosts the world. Sent ones are what dWebotsReceive gives in the next step;
// those that the plugin sent on a channel are given oldest first, each until the next call, NULL when there is none.
bool plugin_send(PluginHost *host, const void *data, int size);
const void *plugin_receive(PluginHost *host, int channel, int *size);

bool plugin_is_failed(const PluginHost *host);
const char *plugin_failure(const PluginHost *host);  // one line, NULL while all is well
void plugin_is_saved(PluginHost *host);  // after a failure: what was to be saved is; until then a hang ends the process

// For main(), before anything is printed: what is printed is not lost when a plugin damages the heap.
void plugin_keep_output(void);
// For main(): with these a report has source lines also when the heap is damaged. When the first is true the second is
// all that is to be done, and gives the exit status.
bool plugin_is_helper(int argc, char **argv);
int plugin_help(int argc, char **argv);

#endif
