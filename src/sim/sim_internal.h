// sim_internal.h - the struct behind a Sim, for the files of this folder alone.
#ifndef TALUS_SIM_SIM_INTERNAL_H
#define TALUS_SIM_SIM_INTERNAL_H

#include "sim/sim.h"

typedef struct HookEntry {
    SimHook hook;
    void *context;
} HookEntry;
typedef struct HookList {
    HookEntry *items;
    int count, capacity;
} HookList;

// One change of structure since load, with what it takes to undo it.
typedef struct SimEdit {
    SceneNode *node;
    bool is_insert;
    SceneNode *holder;  // of a removed node: where it was
    const char *field;
    int index;  // -1: a single node field; else how many nodes of before stand before it
} SimEdit;

// The value a field had before the run was written into the scene.
typedef struct SimField {
    SceneNode *node;
    const FieldType *type;
    bool was_set;
    FieldValue value;
} SimField;

// A field that was written, and has to take effect.
typedef struct SimWrite {
    SceneNode *node;
    const FieldType *type;
} SimWrite;

// follow.c: the solid that the Viewpoint follows. The view stood at `view` when the solid stood at `before`.
typedef struct SimFollow {
    int solid;       // -1: none
    uint64_t edits;  // physics_edit_count when it was looked up
    Pose view, before;
    bool has_turned;  // the view, since it was put there
    bool has_view;    // else it is what the fields say
    bool is_touched;  // somebody wrote the Viewpoint's place or whom it follows
} SimFollow;

typedef struct SimModel SimModel;  // clone.c: what clones of a world share
typedef struct SimStart SimStart;  // clone.c: the state that clones reset to

struct Sim {  // what every step reads stands first
    Physics *physics;
    char *failure;
    uint64_t steps;
    HookEntry boundary;    // before each step
    uint32_t hooked;       // a bit for each phase: it has hooks
    SimPhase phase;        // of the step that runs or ran last
    bool is_timed;         // `seconds` are measured
    bool is_broken;        // the plugin failed inside a step: the rest of it is left out
    bool is_writing;       // between sim_begin_write and sim_end_write
    SimModel *model;       // of a world that was cloned: what clones are made of; NULL: none since the last edit
    uint64_t build_count;  // how often physics was made
    Scene *scene;
    Devices *devices;  // NULL: nobody asked for them
    AssetStore *assets;
    DiagSink *diags;
    SimOptions options;
    double step_ms;
    HookList hooks[SIM_PHASE_COUNT];
    HookList reset_hooks;
    double seconds[SIM_PHASE_COUNT];
    SimStatePart *parts;
    int part_count, part_capacity;
    SimSnapshot kept_parts;  // scratch of sim_restore
    SimSnapshot initial;
    SimEdit *edits;  // those that a reset takes back: nodes that came, and nodes of before that went
    int edit_count, edit_capacity;
    bool is_edited;       // something came, went or was written since `initial`, even if it was taken back
    uint32_t initial_id;  // nodes with higher ids came since
    SimField *fields;     // as at load, once the run was written into the scene
    int field_count, field_capacity;
    bool has_fields;
    SimField *changed;  // other fields that were written since, as they were before
    int changed_count, changed_capacity;
    SimWrite *written;  // between sim_begin_write and sim_end_write
    int written_count, written_capacity;
    uint64_t regenerations;   // trees of templates made anew since load
    bool starts_from_scene;   // `initial` is of an edited world
    bool ignores_own_writes;  // the sim itself writes: nothing to remember
    PluginHost *plugin;       // NULL: none
    SimPluginOptions plugin_options;
    char *crash_path;         // where the last completed step goes when the plugin fails, as it is told
    char *crash_file;         // the same from the root: the plugin may go elsewhere
    SimSnapshot plugin_last;  // of the last completed step, for calls outside of a step; size 0: not taken
    SimModel *origin;         // of a clone: what it was made of, whose meshes and names it uses to its end; else NULL
    SimStart *start;          // of a clone: in place of `initial`
    bool owns_diags;          // of a clone
    SimFollow follow;
};

// What waits for a reset that may never come, in half the room or less: most numbers of a world that begins are zero.
void sim_snapshot_pack(SimSnapshot *snapshot);
void sim_snapshot_unpack(SimSnapshot *snapshot);                           // unless it is not packed
void sim_snapshot_light(Sim *sim, uint64_t model, SimSnapshot *snapshot);  // see physics_snapshot_light
void sim_take_initial(Sim *sim);                                           // reset comes back to now
void sim_keep_fields(Sim *sim);   // before the run is written into the scene: what the fields are at load
void sim_undo_edits(Sim *sim);    // nodes and fields as at load
void sim_forget_edits(Sim *sim);  // they are as they are
void sim_sweep(Sim *sim);         // between edits: memory of what they took away comes back when there is enough of it
void sim_watch_scene(Sim *sim);   // from now on edits are remembered and give their memory back
bool sim_has_varying(const Sim *sim);                                            // instances that a reset makes anew
void sim_remember_field(void *context, SceneNode *node, const FieldType *type);  // a SceneWatch
bool sim_start_fits(const Sim *sim);                                             // it is of the world as it is now
bool sim_restore_start(Sim *sim);  // what a reset goes back to; state parts that are not there any more are left out
void sim_follow_begin(Sim *sim);   // from what the scene says now
void sim_follow(Sim *sim);         // the fields of the Viewpoint, brought up to date
void sim_follow_settle(Sim *sim);  // after such a write: it goes along from here
void sim_follow_touched(Sim *sim, const SceneNode *node,
                        const FieldType *type);  // before a write that is not the sim's own
void sim_model_release(SimModel *model);         // NULL is fine, here and below
void sim_forget_model(Sim *sim);                 // of a world that was edited since: nothing is cloned from it any more
void sim_start_release(SimStart *start);
bool sim_rebuild(Sim *sim);  // physics anew from the scene
void sim_plugin_before_reset(Sim *sim);
void sim_plugin_take_back(Sim *sim);  // before the state is restored: what it set on ODE's objects
bool sim_plugin_after_reset(Sim *sim);

#endif
