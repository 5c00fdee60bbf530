// sim_internal.h - the struct behind a Sim, for the files of this folder alone.
#ifndef TALUS_SIM_SIM_INTERNAL_H
#define TALUS_SIM_SIM_INTERNAL_H

#include "sim/sim.h"

typedef struct HookEntry { SimHook hook; void *context; } HookEntry;
typedef struct HookList { HookEntry *items; int count, capacity; } HookList;

// One change of structure since load, with what it takes to undo it.
typedef struct SimEdit {
    SceneNode *node;
    bool is_insert;
    SceneNode *holder;    // of a removed node: where it was
    const char *field;
    int index;            // -1: a single node field
} SimEdit;

struct Sim {
    Scene *scene;
    Physics *physics;
    AssetStore *assets;
    DiagSink *diags;
    SimOptions options;
    double step_ms;
    uint64_t steps;
    char *failure;
    bool is_synced;          // the scene's fields were overwritten by those of some moment
    HookList hooks[SIM_PHASE_COUNT];
    HookList reset_hooks;
    double seconds[SIM_PHASE_COUNT];
    SimStatePart *parts;
    int part_count, part_capacity;
    SimSnapshot initial;
    SimEdit *edits;
    int edit_count, edit_capacity;
};

void sim_take_initial(Sim *sim);   // reset comes back to now
bool sim_rebuild(Sim *sim);        // physics anew from the scene

#endif
