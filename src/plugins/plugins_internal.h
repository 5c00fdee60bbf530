// plugins_internal.h - shared by the files of this folder.
#ifndef TALUS_PLUGINS_PLUGINS_INTERNAL_H
#define TALUS_PLUGINS_PLUGINS_INTERNAL_H

#include "base/arena.h"
#include "physics/ode/ode.h"
#include "plugins/guard.h"
#include "plugins/plugins.h"

#include <link.h>
#include <stdio.h>

typedef enum PluginCallback {
    CALLBACK_INIT,
    CALLBACK_STEP,
    CALLBACK_COLLIDE,
    CALLBACK_STEP_END,
    CALLBACK_PREDRAW,
    CALLBACK_DRAW,
    CALLBACK_CLEANUP,
    CALLBACK_COUNT
} PluginCallback;

typedef struct PluginBytes {
    char *data;
    int size, capacity;
} PluginBytes;

struct PluginHost {
    GuardOwner guard;
    const char *running;  // callback
    Arena *arena;
    Scene *scene;
    Physics *physics;
    Devices *devices;
    DiagSink *diags;
    PluginOptions options;
    SourcePos pos;  // of WorldInfo.physics
    const char *name, *folder, *path;
    void *library;
    const char *copy;                 // a copy of the file that is loaded in its place; NULL: the file itself
    bool touches_ode;                 // its code names functions of ODE; otherwise it cannot act on the world
    unsigned reach;                   // what these functions can get at
    bool is_draw_known, is_old_draw;  // whether draw takes no arguments
    void *functions[CALLBACK_COUNT];
    double time;              // s
    bool is_live;             // init has been called and cleanup not yet
    bool is_in_series;        // a guard stands around the pairs of a pass
    const char *not_its_own;  // whose object it wanted to destroy, NULL
    char *failure;
    dJointGroupID groups[2];     // contact joints, used in turn
    dJointGroupID old_group;     // for plugins that keep the one init gave them
    int group;                   // in use
    bool is_group_used;          // the stepper ran since the group was taken into use
    bool has_said_alone;         // that nobody hears it
    PluginBytes inbox, waiting;  // from the hosting program: for this step, for the next
    PluginBytes outbox, taken;   // to it: sent, and the one given out last
};

// ---- find.c ----
typedef struct PluginPlace {
    const char *folder;   // NULL: no such folder
    const char *library;  // NULL: none in it
    const char *foreign;  // a library for another system that is there instead, NULL
    const char *tried;    // folders, as a person reads them
    bool has_sources;
} PluginPlace;
PluginPlace plugin_find(const Scene *scene, const char *name, const char *const *search_paths, Arena *arena);

// ---- elf_imports.c ----
// Whether it can act on a world, and on what that is otherwise left out, for physics_ode_hand_out(); all when in doubt.
bool plugin_touches_ode(void *library, unsigned *reach);

// ---- elf_library.c ----
const char *library_problem(const char *path,
                            Arena *arena);  // "is ...": why it cannot be loaded here, NULL when it may be
const char *library_layout_problem(FILE *file, const ElfW(Ehdr) * head,
                                   long size);  // elf_layout.c: the same of its tables
const char *library_plain_name(const char *name,
                               Arena *arena);  // without folder, "lib" and ending: old worlds name the file

// ---- report.c: a fault in words; allocates nothing ----
typedef struct PluginWords {
    char text[4096];
    size_t length;
} PluginWords;
typedef struct PluginReport {
    PluginWords message, hint;
} PluginReport;
void words_add(PluginWords *words, const char *format, ...) PRINTF_LIKE(2, 3);  // what does not fit is left out
void plugin_report(const PluginHost *host, const GuardFault *fault, const GuardPlace *places, PluginReport *report);

// ---- messages.c ----
void messages_begin_step(PluginHost *host);
const void *messages_received(const PluginHost *host, int *size);
void messages_sent(PluginHost *host, int channel, const void *data, int size);
void messages_free(PluginHost *host);

// ---- utilities.c: dWebots* ----
PluginHost *utilities_bind(PluginHost *host);  // on this thread; returns what was bound before
PluginHost *utilities_host(void);              // bound on this thread, or the only one there is, or NULL
void utilities_host_added(PluginHost *host);
void utilities_host_removed(PluginHost *host);

// ---- fluids.c: dFluid*, dImmersion* ----
bool plugin_fluids_step(dWorldID world, double dt);  // what links make their bodies feel; false when there are none
void plugin_fluids_forget(dWorldID world);           // fluids and links of a world that ends

#endif
