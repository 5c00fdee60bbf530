// fittings.c - what is neither a body nor a plain joint: tracks, propellers, connectors, vacuum grippers, touch
// sensors. Met while the world is built, stepped before and after the solver. drive.c moves what is driven, hold.c
// holds what is held; a touch sensor that measures forces reads the feedback of its own weld.
#include "physics/fittings/fittings_internal.h"

#include "physics/joints/motor.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

Fittings *fittings_of(Physics *physics)
{
    if (!physics->fittings)
        physics->fittings = memory_alloc(sizeof *physics->fittings);
    return physics->fittings;
}

// ---- build ----

void fittings_add(Physics *physics, SceneNode *node, int solid, Pose frame)
{
    assert(solid >= -1 && solid < physics->solid_count);  // -1: a Propeller that stands outside of any Solid
    if (scene_node_is(node, "Track")) {
        drive_add(physics, node, solid, frame, true);
    } else if (scene_node_is(node, "Propeller")) {
        drive_add(physics, node, solid, frame, false);
    } else if (scene_node_is(node, "Conveyor")) {
        fittings_of(physics);
        if (physics->solids[solid].parent >= 0)
            physics->solids[physics->solids[solid].parent].conveyor = solid;
    } else if (scene_node_is(node, "Connector")) {
        holder_add(physics, node, solid, false);
    } else if (scene_node_is(node, "VacuumGripper") || scene_node_is(node, "Holder")) {
        holder_add(physics, node, solid, true);
    } else if (scene_node_is(node, "TouchSensor") && !scene_node_is(node, "ForceTorqueSensor")) {
        Fittings *machines = fittings_of(physics);
        memory_grow(&machines->touches, &machines->touch_capacity, machines->touch_count + 1,
                    sizeof *machines->touches);
        machines->touches[machines->touch_count++] = (Touch){ .solid = solid };
    }
}

static void build_touch(Physics *physics, const Touch *touch)
{
    const PhysicsSolid *solid = &physics->solids[touch->solid];
    bool is_force = strcmp(scene_string(solid->node, "type"), "bumper") != 0;
    if (is_force && solid->weld >= 0)
        constraint_want_wrenches(physics->welds[solid->weld].constraint, true);
    else if (is_force)
        diag_warning(physics->diags, solid->node->pos,
                     "a touch sensor of type \"%s\" needs physics and a boundingObject to measure a force",
                     scene_string(solid->node, "type"));
}

void fittings_built(Physics *physics)
{
    Fittings *machines = physics->fittings;
    if (machines) {
        for (; machines->built_driven < machines->drive_count; machines->built_driven++)
            drive_build(physics, &machines->drive[machines->built_driven]);
        for (; machines->built_touches < machines->touch_count; machines->built_touches++)
            build_touch(physics, &machines->touches[machines->built_touches]);
    }
    motors_couple(physics);
}

bool fittings_hold(const Physics *physics)
{
    const Fittings *machines = physics->fittings;
    for (int i = 0; machines && i < machines->holder_count; i++)
        if (machines->holds[i].peer >= 0)
            return true;
    return false;
}

void fittings_destroy(Physics *physics)
{
    Fittings *machines = physics->fittings;
    if (!machines)
        return;
    free(machines->holders);
    free(machines->holds);
    free(machines->drive);
    free(machines->touches);
    free(machines);
    physics->fittings = NULL;
}

// ---- touch sensors ----

Vec3 physics_touch_force(const Physics *physics, int solid)
{
    for (int i = 0; physics->fittings && i < physics->fittings->touch_count; i++) {
        const Touch *touch = &physics->fittings->touches[i];
        if (touch->solid != solid || physics->solids[solid].weld < 0)
            continue;
        // The feedback is that of the weld's first body: the mount, or without one the sensor itself.
        int parent = physics->solids[solid].parent;
        double sign = parent >= 0 && physics->solids[parent].body >= 0 ? 1.0 : -1.0;
        const double *f = physics->welds[physics->solids[solid].weld].constraint->wrenches.f1;
        Vec3 force = vec3_scale(vec3(f[0], f[1], f[2]), sign);
        return quat_unrotate(physics->solid_world[solid].q, force);
    }
    return VEC3_ZERO;
}

bool physics_touch_is_touching(const Physics *physics, int solid)
{
    assert(solid >= 0 && solid < physics->solid_count);
    return physics->solid_states[solid].is_touching;
}

// ---- the step, state, saving ----

void fittings_prestep(Physics *physics, double dt)
{
    Fittings *machines = physics->fittings;
    if (!machines)
        return;
    for (int i = 0; i < machines->drive_count; i++)
        drive_step(physics, &machines->drive[i], dt);
    for (int i = 0; i < machines->holder_count; i++)
        holder_step(physics, i);
}

void fittings_poststep(Physics *physics, double dt)
{
    (void)dt;
    for (int i = 0; physics->fittings && i < physics->fittings->holder_count; i++)
        holder_step_end(physics, i);
}

void fittings_keep_nodes(const Physics *physics, Scene *scene)
{
    const Fittings *machines = physics->fittings;
    for (int i = 0; machines && i < machines->holder_count; i++)
        scene_keep(scene, machines->holders[i].node);
    for (int i = 0; machines && i < machines->drive_count; i++)
        scene_keep(scene, machines->drive[i].node);
}

bool fitting_at(const Physics *physics, int index, const SceneNode **node, Pose *frame)
{
    const Fittings *machines = physics->fittings;
    if (!machines || index >= machines->holder_count + machines->drive_count)
        return false;
    bool is_holder = index < machines->holder_count;
    const Drive *drive = is_holder ? NULL : &machines->drive[index - machines->holder_count];
    int solid = is_holder ? machines->holders[index].solid : drive->solid;
    *frame = is_holder ? POSE_IDENTITY : drive->frame;
    *node = is_holder ? machines->holders[index].node : drive->node;
    if (solid >= 0 && !physics->solids[solid].is_alive)
        *node = NULL;
    return true;
}

int fittings_state(Physics *physics, StateBlock *blocks)
{
    Fittings *machines = physics->fittings;
    if (!machines || !machines->holder_count)
        return 0;
    blocks[0] = (StateBlock){ "holds", machines->holds, (size_t)machines->holder_count * sizeof *machines->holds, true,
                              holds_are_sound };
    return 1;
}

void fittings_restored(Physics *physics)
{
    if (physics->fittings)
        holders_restored(physics);
}

void fittings_sync_scene(Physics *physics)
{
    body_switches_sync_scene(physics);
    if (!physics->fittings)
        return;
    drive_sync_scene(physics);
    holders_sync_scene(physics);
}
