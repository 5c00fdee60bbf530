// sim.h - a world that runs: scene, physics and time, one step after the other in a fixed list of phases.
// Belongs here: the order of a step, time, reset, snapshots, the state hash, saving. Not here: how bodies move
// (physics/), processes, windows, files of a recording (control/, viewer/, record/ hook into the phases).
// A Sim owns its scene and physics. One thread at a time works on it; several may live in one process.
#ifndef TALUS_SIM_SIM_H
#define TALUS_SIM_SIM_H

#include "devices/devices.h"
#include "formats/formats.h"
#include "physics/physics.h"
#include "plugins/plugins.h"

typedef struct Sim Sim;

typedef struct SimOptions {
    PhysicsOptions physics;
    FormatsOptions formats;
} SimOptions;

// The phases of one step, in this order. A hook on a phase runs after what the phase does by itself.
typedef enum SimPhase {
    SIM_PHASE_BEGIN,        // marks of the last step forgotten, generators seeded
    SIM_PHASE_COMMANDS,     // what controllers and viewers asked for: moves, new fields
    SIM_PHASE_PRESTEP,      // moves by hand, kinematic solids, motors, springs
    SIM_PHASE_PLUGIN_STEP,  // webots_physics_step
    SIM_PHASE_FLUIDS,       // buoyancy and drag
    SIM_PHASE_ADVANCE,      // the stepper
    SIM_PHASE_COLLIDE,      // contacts of the coming step
    SIM_PHASE_PLUGIN_END,   // webots_physics_step_end
    SIM_PHASE_POSTSTEP,     // poses and positions read back
    SIM_PHASE_TIME,         // the clock moves on
    SIM_PHASE_DEVICES,      // sensors that are due are read
    SIM_PHASE_CONTROL,      // controllers get readings, give commands
    SIM_PHASE_OUTPUT,       // recording, viewers
    SIM_PHASE_COUNT
} SimPhase;

// False stops the run: the step is finished, then sim_step returns false and sim_failure says why.
typedef bool (*SimHook)(Sim *sim, void *context);

// The sink must outlive the Sim. NULL when the file cannot be read at all or an option is wrong; the sink says why.
Sim *sim_load(const char *path, const SimOptions *options, DiagSink *diags);
Sim *sim_load_text(const char *name, const char *text, size_t size, const SimOptions *options, DiagSink *diags);
Sim *sim_create(Scene *scene, const SimOptions *options, DiagSink *diags);  // takes the scene
void sim_destroy(Sim *sim);                                                 // NULL is fine

Scene *sim_scene(const Sim *sim);
Physics *sim_physics(const Sim *sim);
// Another number whenever solids or joints may have other indices than before: after edits, and when physics was made
// anew.
void sim_prefetch(const Sim *sim);  // before it is stepped after a while: what a step reads first comes into the cache
uint64_t sim_tree_version(const Sim *sim);
AssetStore *sim_assets(const Sim *sim);  // meshes and images of the world, shared by all that need them
DiagSink *sim_diags(const Sim *sim);

// Hooks run in the order they were added. They are for those who follow in the data flow; none changes the results
// unless it means to.
void sim_add_hook(Sim *sim, SimPhase phase, SimHook hook, void *context);
void sim_remove_hooks(Sim *sim, void *context);  // all with this context
// Called at reset and restore, after the state is back.

// Called before each step, when no phase is at work: whoever handles the world from outside may do anything to it
// there, and take as long as it likes. False: the step is not made, and the run ends without failure. One caller; NULL:
// none.
void sim_set_boundary(Sim *sim, SimHook boundary, void *context);

bool sim_step(Sim *sim);  // false when the run has failed or a hook stopped it
uint64_t sim_steps(const Sim *sim);
double sim_time(const Sim *sim);              // s
double sim_time_step(const Sim *sim);         // s
void sim_stop(Sim *sim, const char *reason);  // marks it failed; the first reason stays
const char *sim_failure(const Sim *sim);      // NULL while all is well

bool sim_reset(Sim *sim);  // the state at load (or of the last save): nodes, poses, time 0
uint64_t sim_hash(const Sim *sim);

// More of the same world as it is now, with sinks of their own. They share scene, assets and collision meshes with a
// model of it, so the world itself may change or go. Their resets come back to this moment. False: the sink of `source`
// says why; what was made is the caller's all the same, the rest is NULL. Parts (see below) are not cloned: those of
// the source are in the state to reset to.
bool sim_clone(Sim *source, int count, Sim **clones);
bool sim_is_shared(const Sim *sim);  // its scene is also that of others: nothing may write into it
// Its own scene from now on, and another Physics. Nobody may hold on to nodes of the old one; state parts are removed
// before.
bool sim_own_scene(Sim *sim);
bool sim_is_edited(const Sim *sim);  // nodes or fields were changed: a reset makes its physics anew
uint64_t sim_model_hash(const Sim *sim);

// The sensors and actuators of its robots, made with the first call and its own: they end with it. They are no part of
// its state until whoever drives and samples them says so.
Devices *sim_devices(Sim *sim);
void sim_devices_in_state(Sim *sim, bool are_in);
void sim_drop_devices(Sim *sim);  // before its end; hooks of theirs are gone by then

// Further state that snapshots hold (random streams, devices). Parts are saved in the order they were added.
typedef struct SimStatePart {
    const char *name;
    void *context;
    size_t (*size)(void *context);
    void (*save)(void *context, void *buffer);
    bool (*restore)(void *context, const void *buffer, size_t size);
    uint64_t (*hash)(void *context);  // NULL: no part of the state hash
    void (*keep)(
        void *context);  // before the world is saved: writes into the scene what the file must tell; NULL: nothing
} SimStatePart;
void sim_add_state(Sim *sim, const SimStatePart *part);  // copies it
void sim_remove_state(Sim *sim, const void *context);    // all with this context

// Snapshots in memory. The buffer is the caller's; it grows as needed and may be used again. { 0 } is empty.
typedef struct SimSnapshot {
    void *data;
    size_t size, capacity;
    bool is_packed;  // its zeros are counted and not written: see sim_snapshot_pack()
} SimSnapshot;
void sim_snapshot(Sim *sim, SimSnapshot *snapshot);
const SimSnapshot *sim_start_state(const Sim *sim);        // what sim_reset comes back to
bool sim_restore(Sim *sim, const SimSnapshot *snapshot);   // false: not of this model (reported); nothing changed
int sim_snapshot_part_count(const SimSnapshot *snapshot);  // of SimStatePart; 0 too when it is no snapshot
void sim_snapshot_free(SimSnapshot *snapshot);
bool sim_snapshot_load(Sim *sim, const char *path,
                       SimSnapshot *snapshot);  // false: reported; checks that the file is whole
bool sim_snapshot_write(Sim *sim, const char *path);
bool sim_snapshot_read(Sim *sim, const char *path);  // loads and restores

void sim_sync_scene(Sim *sim);                                // the scene now says what the simulation is at
void sim_sync_solid(Sim *sim, int solid);                     // pose and velocities of this one alone
Pose sim_loaded_pose(const Sim *sim, const SceneNode *node);  // of a Pose in its parent, as the world was loaded
bool sim_save(Sim *sim,
              const char *path);  // sync, then write the world (NULL: no file); reset goes back to this moment

// Fields at run time. Everything that is written into the scene between the two takes effect: in the fields that are
// connected to it through PROTO instances, in templates that read it, in physics and whatever follows physics.
void sim_begin_write(Sim *sim);
void sim_end_write(Sim *sim);
void sim_set_value(Sim *sim, SceneNode *node, const FieldType *type, FieldValue value);  // one write between the two
uint64_t sim_regenerations(const Sim *sim);  // how many trees of templates such writes have made anew since load

// Nodes at run time. `parent` may be a PROTO instance and `field` one of its parameters.
SceneNode *sim_insert(Sim *sim, SceneNode *parent, const char *field, int index, const char *text, size_t size);
bool sim_remove(Sim *sim, SceneNode *node);
void sim_field_changed(Sim *sim, SceneNode *node, const char *field);

// ---- the physics plugin ----
typedef struct SimPluginOptions {
    PluginOptions plugin;
    const char *
        crash_snapshot;  // where the state of the last completed step goes when it fails; NULL: <world>.crash.snap here
} SimPluginOptions;
// Loads and starts the plugin that the world names, if any. False when it cannot be used (the sink says why; the world
// is as it was). Its failure in mid-run stops the run, and sim_failure says so. At reset it is cleaned up and started
// again.
bool sim_start_plugin(Sim *sim, const SimPluginOptions *options);
PluginHost *sim_plugin(const Sim *sim);  // NULL when there is none
void sim_plugin_will_draw(Sim *sim);     // before and after plugin_draw
bool sim_plugin_drew(Sim *sim);          // false when it failed: the state is saved as after a failing step
bool sim_end_plugin(Sim *sim);           // cleans it up and unloads it, as sim_destroy does; false when it failed ever

// Seconds spent in each phase, hooks included, since somebody asked for it. A look at the clock costs up to half a
// microsecond, as much as a phase of a small world.
void sim_time_phases(Sim *sim);
const double *sim_phase_seconds(const Sim *sim);
const char *sim_phase_name(SimPhase phase);
SimPhase sim_phase(const Sim *sim);  // in which the step at hand is, also for a signal's handler

#endif
