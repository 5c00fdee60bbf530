// fittings_internal.h - what the rooms of fittings.c share: its tables, and who does what with them.
#ifndef TALUS_PHYSICS_MACHINE_INTERNAL_H
#define TALUS_PHYSICS_MACHINE_INTERNAL_H

#include "physics/fittings/fittings.h"
#include "physics/physics_internal.h"

// What a connector or gripper holds. Plain bytes: part of snapshots.
typedef struct HoldState {
    int32_t is_on;       // locked, or sucking
    int32_t peer;        // solid held, -1
    int32_t first;       // 1: this one made the joint (of two connectors one does)
    int32_t wants_lock;  // autoLock, or locked from the start: tried in every step
    Pose anchored[2];    // poses of both bodies when the joint was made
} HoldState;

typedef struct Holder {
    SceneNode *node;
    int solid;
    bool is_gripper;  // a VacuumGripper or the Holder of a body
    bool is_body_holder;
    Constraint *joint;  // only where state.first
} Holder;

typedef struct Drive {  // a track or a propeller
    SceneNode *node;
    int solid;  // the track; of a propeller the solid it hangs on
    int joint;
    Pose frame;    // of a propeller, in the solid's frame
    int helix[2];  // solids that turn, -1
    bool is_track;
    bool is_surface;  // a track of a body: its whole surface moves
    double shown;     // travelled distance at which its wheels were last turned
} Drive;

typedef struct Touch {
    int solid;
} Touch;

typedef struct Fittings {
    Holder *holders;
    HoldState *holds;
    int holder_count, holder_capacity, hold_capacity;
    Drive *drive;
    int drive_count, drive_capacity;
    Touch *touches;
    int touch_count, touch_capacity;
    int built_holders, built_driven, built_touches;  // how many fittings_built has dealt with
} Fittings;

Fittings *fittings_of(Physics *physics);  // made when the first machine is met

static inline int body_above(const Physics *physics, int solid)
{
    assert_debug(solid < physics->solid_count);
    while (solid >= 0 && physics->solids[solid].body < 0)
        solid = physics->solids[solid].parent;
    return solid >= 0 ? physics->solids[solid].body : -1;
}

// ---- drive.c: tracks, propellers, conveyors ----
void drive_add(Physics *physics, SceneNode *node, int solid, Pose frame, bool is_track);
void drive_build(Physics *physics, Drive *drive);
void drive_step(Physics *physics, const Drive *drive, double dt);
void drive_sync_scene(Physics *physics);  // the wheels of tracks turn

// ---- hold.c: connectors, vacuum grippers, holders of bodies ----
void holder_add(Physics *physics, SceneNode *node, int solid, bool is_gripper);
void holder_step(Physics *physics, int index);      // before the step: ruptures, automatic locks
void holder_step_end(Physics *physics, int index);  // after it: a gripper takes what touches it
bool holds_are_sound(const Physics *physics, const void *bytes);
void holders_restored(Physics *physics);
void holders_sync_scene(Physics *physics);

#endif
