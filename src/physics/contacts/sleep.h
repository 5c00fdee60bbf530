// sleep.h - who is awake, so that a step costs what moves and not what exists. For the folder alone.
// The awake set lists awake bodies, the shapes of each body, and the sleeping contacts of sleeping bodies. It follows
// every change that goes through body_wake() and bodies_fall_asleep(); whatever else may have changed (a plugin at
// work, nodes added or removed, a restore) makes it be written anew from the states, which stay the truth.
#ifndef TALUS_PHYSICS_SLEEP_H
#define TALUS_PHYSICS_SLEEP_H

#include "physics/physics_internal.h"

#include <stdatomic.h>

typedef struct SleepLink {
    int32_t next[2], before[2];
} SleepLink;  // contact * 2 + side, -1

typedef struct Sleep {  // what every step reads stands first, on one line of the cache
    bool is_valid;      // false: to be written anew
    bool is_sorted;
    bool has_sleepers;            // some of `awake` fell asleep
    bool may_rest;                // some body may have fallen asleep since the last pass
    uint32_t version;             // another one each time it was written anew
    int body_count, shape_count;  // for which it was written
    int32_t *awake;               // bodies, rising
    int awake_count, woken_count, slept_count, rider_count, marked_count;
    int held_shape_count;  // of shapes that bodies have
    uint64_t pass;         // number of the last one
    int32_t *woken;        // since the last pass, maybe several times, as `slept`
    int32_t *slept;
    uint8_t *is_listed;  // by body: in `awake`
    int awake_capacity, listed_capacity, woken_capacity, slept_capacity;
    int32_t *first_shape, *shapes;  // shapes of body i: shapes[first_shape[i]] ... shapes[first_shape[i + 1]]
    int first_shape_capacity, shapes_capacity;
    int32_t *kept;                     // by body: its first sleeping contact, * 2 + side, -1
    SleepLink *links;                  // beside the sleeping contacts
    uint64_t *touched;                 // by body: the pass in which it last got a contact that is not kept
    int32_t *solid_kept, *shape_kept;  // how many sleeping contacts each has
    int kept_capacity, link_capacity, touched_capacity, solid_kept_capacity, shape_kept_capacity;
    uint64_t *claims;  // by top solid: the update of poses in which a thread took its tree
    uint64_t update;   // number of the last one
    int claim_capacity;
    int32_t *riders;  // shapes without a body that moved with the one above them, in this step or the one before
    int rider_capacity;
    int32_t *marked;  // shapes marked as touching in the last pass
    int marked_capacity;
    int32_t *stack, *list, *heads, *nexts;  // scratch
    int stack_capacity, list_capacity, head_capacity, next_capacity;
} Sleep;
static_assert(offsetof(Sleep, slept) == 64, "a line of the cache");

static inline bool body_rests(const Physics *physics, int body)  // asleep, or none
{
    return body < 0 || physics->body_states[body].is_disabled;
}

bool mirror_is_enabled(const Shape *shape);  // of a shape on a body that a plugin made (ode/plugin.c)

static inline bool shape_rests(const Physics *physics, const Shape *shape)
{
    return shape->is_outside ? !mirror_is_enabled(shape) : body_rests(physics, shape->body);
}

void sleep_destroy(Sleep *sleep);     // NULL is fine
void sleep_forget(Physics *physics);  // it is written anew when next needed
void sleep_renew(Physics *physics);   // the rare part of sleep_refresh()
// Makes sure that it is right, and sorted.
static inline void sleep_refresh(Physics *physics)
{
    const Sleep *sleep = physics->sleep;
    if (!sleep->is_valid || !sleep->is_sorted || sleep->body_count != physics->body_count
        || sleep->shape_count != physics->shape_count)
        sleep_renew(physics);
}
void sleep_on_wake(Physics *physics, int body);
void sleep_on_sleep(Physics *physics, int body);
// False: everybody is awake.
static inline bool sleep_any_asleep(const Physics *physics)
{
    return !physics->sleep->is_valid || physics->sleep->awake_count < physics->body_count;
}
void sleep_spread_awake(Physics *physics);  // the rare part of sleep_spread()
// What touches or is joined to something awake wakes, as in ODE's islands.
static inline void sleep_spread(Physics *physics)
{
    if (physics->sleep->has_sleepers || sleep_any_asleep(physics))
        sleep_spread_awake(physics);
}
void sleep_ride(Physics *physics, int shape);          // a shape without a body moved with the one above it
bool sleep_is_held(const Physics *physics, int body);  // a joint or contact is at it
void sleep_link(Physics *physics, int contact);        // a contact that is kept from now on
void sleep_unlink(Physics *physics, int contact);
void sleep_relink(Physics *physics, int from, int to);  // the sleeping contact `from` goes to the free place `to`
// Calls `range` for pieces of the list of awake bodies, over the threads, with a SleepWork as context. Each changes
// what is its body's alone; what it may not do there it leaves, and says so: then the call returns true.
typedef struct SleepWork {
    Physics *physics;
    const int32_t *awake;
    atomic_bool has_left;
} SleepWork;
bool sleep_for_awake(Physics *physics, PoolRange range);
// The sleeping contacts of bodies that woke since the last pass, rising, each once. Valid until the next call.
const int32_t *sleep_woken_contacts(Physics *physics, int *count);

#endif
