// pin.c - robots that their program pins to the static world: a fixed joint between it and the robot's own body, made and
// taken away while the world runs. Every robot with a body has its place here, so the state keeps its size.
#include "physics/fittings/machine.h"
#include "physics/physics_internal.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

typedef struct Pin { int solid; dJointID joint; } Pin;
typedef struct PinState {
    Pose anchored;   // of the body when it was pinned
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

static void take_joint(Pin *pin)
{
    if (pin->joint)
        dJointDestroy(pin->joint);
    pin->joint = NULL;
}

// Ties the body where it is now.
static void set(Physics *physics, int index)
{
    Pin *pin = &physics->pins->items[index];
    int body = physics->solids[pin->solid].body;
    if (!pin->joint) {
        pin->joint = dJointCreateFixed(physics->world, NULL);
        dJointAttach(pin->joint, NULL, physics->bodies[body].ode);
    }
    dJointSetFixed(pin->joint);
    physics->pins->states[index].anchored = body_pose(physics, body);
}

void physics_robot_pin(Physics *physics, int solid, bool on)
{
    Pins *pins = physics->pins;
    for (int i = 0; pins && i < pins->count; i++) {
        if (pins->items[i].solid != solid || !physics->solids[solid].is_alive || (pins->states[i].is_on != 0) == on)
            continue;
        odelib_begin(physics);
        pins->states[i] = (PinState){ .anchored = POSE_IDENTITY, .is_on = on };
        if (on)
            set(physics, i);
        else
            take_joint(&pins->items[i]);
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
            set(physics, i);
    }
}

void pins_remove(Physics *physics, int top)
{
    Pins *pins = physics->pins;
    for (int i = 0; pins && i < pins->count; i++) {
        if (pins->items[i].solid < top || pins->items[i].solid >= physics->solids[top].end)
            continue;
        take_joint(&pins->items[i]);
        pins->states[i] = (PinState){ .anchored = POSE_IDENTITY };
    }
}

const char *pins_joint_owner(const Physics *physics, const void *joint)
{
    const Pins *pins = physics->pins;
    for (int i = 0; pins && i < pins->count; i++)
        if (joint == pins->items[i].joint)
            return physics_solid_label(physics, pins->items[i].solid);
    return NULL;
}

void pins_destroy(Physics *physics)
{
    Pins *pins = physics->pins;
    if (!pins)
        return;
    for (int i = 0; i < pins->count; i++)
        take_joint(&pins->items[i]);
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
        if (!state_pose_is_sound(state.anchored) || (state.is_on && !physics->solids[physics->pins->items[i].solid].is_alive))
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
        take_joint(&pins->items[i]);
        if (!pins->states[i].is_on)
            continue;
        int body = physics->solids[pins->items[i].solid].body;
        BodyState now = physics->body_states[body];
        physics->body_states[body].position = pins->states[i].anchored.t;
        physics->body_states[body].orientation = pins->states[i].anchored.q;
        body_write(physics, body);
        set(physics, i);
        physics->body_states[body] = now;
        body_write(physics, body);
    }
}
