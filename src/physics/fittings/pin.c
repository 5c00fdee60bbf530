// pin.c - robots that their program pins to the static world: a fixed joint between it and the robot's own body, made
// and taken away while the world runs. Every robot with a body has its place here, so the state keeps its size.
#include "physics/fittings/fittings.h"
#include "physics/physics_internal.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef struct Pin {
    int solid;
    Constraint *joint;
} Pin;
typedef struct PinState {
    Pose anchored;  // of the body when it was pinned
    int32_t is_on;
    int32_t padding;
} PinState;

struct Pins {
    Pin *items;
    PinState *states;
    int count, capacity, state_capacity;
};
typedef struct Pins Pins;

void pins_build(Physics *physics, int first_solid, int end)
{
    assert_debug(first_solid >= 0 && end <= physics->solid_count);
    for (int i = first_solid; i < end; i++) {
        if (physics->solids[i].body < 0 || !scene_node_is(physics->solids[i].node, "Robot"))
            continue;
        if (!physics->pins)
            physics->pins = memory_alloc(sizeof *physics->pins);
        Pins *pins = physics->pins;
        memory_grow(&pins->items, &pins->capacity, pins->count + 1, sizeof *pins->items);
        memory_grow(&pins->states, &pins->state_capacity, pins->count + 1, sizeof *pins->states);
        pins->items[pins->count] = (Pin){ .solid = i };
        pins->states[pins->count++] = (PinState){ .anchored = POSE_IDENTITY };
    }
}

static void take_joint(Physics *physics, Pin *pin)
{
    constraint_unmake(physics, pin->joint);
    pin->joint = NULL;
}

// Ties the body as if it stood at `at`.
static void set(Physics *physics, int index, Pose at)
{
    Pin *pin = &physics->pins->items[index];
    int body = physics->solids[pin->solid].body;
    assert_debug(body >= 0);
    if (!pin->joint)
        pin->joint = constraint_make(physics, CONSTRAINT_FIXED, -1, body, 0, NULL);
    constraint_anchor(physics, pin->joint, &(ConstraintPlace){ .side = { POSE_IDENTITY, at } });
    physics->pins->states[index].anchored = at;
}

void physics_robot_pin(Physics *physics, int solid, bool on)
{
    assert_debug(solid >= 0 && solid < physics->solid_count);
    Pins *pins = physics->pins;
    for (int i = 0; pins && i < pins->count; i++) {
        if (pins->items[i].solid != solid || !physics->solids[solid].is_alive || (pins->states[i].is_on != 0) == on)
            continue;
        odelib_begin(physics);
        pins->states[i] = (PinState){ .anchored = POSE_IDENTITY, .is_on = on };
        if (on)
            set(physics, i, body_pose(physics, physics->solids[solid].body));
        else
            take_joint(physics, &pins->items[i]);
        body_wake(physics, physics->solids[solid].body);
        odelib_end();
    }
}

bool physics_robot_is_pinned(const Physics *physics, int solid)
{
    const Pins *pins = physics->pins;
    for (int i = 0; pins && i < pins->count; i++)
        if (pins->items[i].solid == solid)
            return pins->states[i].is_on != 0;
    return false;
}

void pins_moved(Physics *physics, int first_solid, int end)
{
    Pins *pins = physics->pins;
    for (int i = 0; pins && i < pins->count; i++) {
        int solid = pins->items[i].solid;
        if (pins->states[i].is_on && solid >= first_solid && solid < end && physics->solids[solid].is_alive)
            set(physics, i, body_pose(physics, physics->solids[solid].body));
    }
}

bool pins_hold(const Physics *physics)
{
    const Pins *pins = physics->pins;
    for (int i = 0; pins && i < pins->count; i++)
        if (pins->states[i].is_on)
            return true;
    return false;
}

void pins_remove(Physics *physics, int top)
{
    assert(top >= 0 && top < physics->solid_count);
    Pins *pins = physics->pins;
    for (int i = 0; pins && i < pins->count; i++) {
        if (pins->items[i].solid < top || pins->items[i].solid >= physics->solids[top].end)
            continue;
        take_joint(physics, &pins->items[i]);
        pins->states[i] = (PinState){ .anchored = POSE_IDENTITY };
    }
}

const char *pins_joint_owner(const Physics *physics, const void *joint)
{
    const Pins *pins = physics->pins;
    for (int i = 0; pins && i < pins->count; i++)
        if (pins->items[i].joint && joint == pins->items[i].joint->ode)
            return physics_solid_label(physics, pins->items[i].solid);
    return NULL;
}

void pins_destroy(Physics *physics)
{
    Pins *pins = physics->pins;
    if (!pins)
        return;
    for (int i = 0; i < pins->count; i++)
        take_joint(physics, &pins->items[i]);
    free(pins->items);
    free(pins->states);
    free(pins);
    physics->pins = NULL;
}

// ---- state ----

static bool pins_are_sound(const Physics *physics, const void *bytes)
{
    for (int i = 0; i < physics->pins->count; i++) {
        PinState state;
        memcpy(&state, (const char *)bytes + sizeof state * (size_t)i, sizeof state);
        if (!state_pose_is_sound(state.anchored)
            || (state.is_on && !physics->solids[physics->pins->items[i].solid].is_alive))
            return false;
    }
    return true;
}

int pins_state(Physics *physics, StateBlock *blocks)
{
    Pins *pins = physics->pins;
    if (!pins || !pins->count)
        return 0;
    blocks[0] = (StateBlock){ "pins", pins->states, (size_t)pins->count * sizeof *pins->states, true, pins_are_sound };
    return 1;
}

// The joint is made with the body where it stood then.
void pins_restored(Physics *physics)
{
    Pins *pins = physics->pins;
    for (int i = 0; pins && i < pins->count; i++) {
        take_joint(physics, &pins->items[i]);
        if (!pins->states[i].is_on)
            continue;
        set(physics, i, pins->states[i].anchored);
    }
}
