// sleep.c - the awake set: lists that follow what wakes and falls asleep, and how waking spreads.
#include "physics/contacts/sleep.h"
#include "physics/mirror.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define BODY_GRAIN 128  // bodies that a worker takes at a time

void sleep_destroy(Sleep *sleep)
{
    if (!sleep)
        return;
    void *owned[] = { sleep->awake,      sleep->is_listed, sleep->woken,  sleep->slept,   sleep->first_shape,
                      sleep->shapes,     sleep->kept,      sleep->links,  sleep->touched, sleep->solid_kept,
                      sleep->shape_kept, sleep->claims,    sleep->riders, sleep->marked,  sleep->stack,
                      sleep->list,       sleep->heads,     sleep->nexts };
    for (int i = 0; i < COUNT_OF(owned); i++)
        free(owned[i]);
    free(sleep);
}

void sleep_forget(Physics *physics) { physics->sleep->is_valid = false; }

static void push(int32_t **array, int *count, int *capacity, int value)
{
    memory_grow(array, capacity, *count + 1, sizeof **array);
    (*array)[(*count)++] = value;
}

// ---- sleeping contacts ----

void sleep_link(Physics *physics, int index)
{
    assert(index >= 0 && index < physics->contact_count);
    Sleep *sleep = physics->sleep;
    const PhysicsContact *contact = &physics->contacts[index];
    memory_grow(&sleep->links, &sleep->link_capacity, index + 1, sizeof *sleep->links);
    for (int side = 0; side < 2; side++) {
        int body = contact->body[side];
        sleep->links[index].before[side] = sleep->links[index].next[side] = -1;
        sleep->solid_kept[contact_solid(physics, contact, side)]++;
        sleep->shape_kept[contact->shape[side]]++;
        if (body < 0)
            continue;
        int first = sleep->kept[body];
        sleep->links[index].next[side] = first;
        if (first >= 0)
            sleep->links[first / 2].before[first % 2] = 2 * index + side;
        sleep->kept[body] = 2 * index + side;
    }
}

void sleep_unlink(Physics *physics, int index)
{
    assert(index >= 0 && index < physics->contact_count);
    Sleep *sleep = physics->sleep;
    const PhysicsContact *contact = &physics->contacts[index];
    for (int side = 0; side < 2; side++) {
        sleep->solid_kept[contact_solid(physics, contact, side)]--;
        sleep->shape_kept[contact->shape[side]]--;
        if (contact->body[side] < 0)
            continue;
        int next = sleep->links[index].next[side], before = sleep->links[index].before[side];
        if (next >= 0)
            sleep->links[next / 2].before[next % 2] = before;
        if (before >= 0)
            sleep->links[before / 2].next[before % 2] = next;
        else
            sleep->kept[contact->body[side]] = next;
    }
}

void sleep_relink(Physics *physics, int from, int to)
{
    assert(from != to);
    assert(from >= 0 && from < physics->contact_count);
    assert(to >= 0 && to < physics->contact_count);
    sleep_unlink(physics, from);
    contact_move(physics, from, to);
    sleep_link(physics, to);
}

static int rising(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

const int32_t *sleep_woken_contacts(Physics *physics, int *count)
{
    Sleep *sleep = physics->sleep;
    int found = 0, kept = 0;
    for (int i = 0; i < sleep->woken_count; i++) {
        int body = sleep->woken[i];
        if (physics->body_states[body].is_disabled)
            continue;
        for (int at = sleep->kept[body]; at >= 0; at = sleep->links[at / 2].next[at % 2])
            push(&sleep->list, &found, &sleep->list_capacity, at / 2);
    }
    if (found > 1)
        qsort(sleep->list, (size_t)found, sizeof *sleep->list, rising);
    for (int i = 0; i < found; i++)
        if (i == 0 || sleep->list[i] != sleep->list[i - 1])
            sleep->list[kept++] = sleep->list[i];
    *count = kept;
    return sleep->list;
}

// ---- the awake set ----

static void write_awake(Physics *physics)
{
    Sleep *sleep = physics->sleep;
    memory_grow(&sleep->is_listed, &sleep->listed_capacity, physics->body_count + 1, 1);
    sleep->awake_count = sleep->woken_count = sleep->slept_count = 0;
    for (int i = 0; i < physics->body_count; i++) {
        sleep->is_listed[i] = physics->bodies[i].is_alive && !physics->body_states[i].is_disabled;
        if (!sleep->is_listed[i])
            continue;
        push(&sleep->awake, &sleep->awake_count, &sleep->awake_capacity, i);
        push(&sleep->woken, &sleep->woken_count, &sleep->woken_capacity, i);
    }
    sleep->is_sorted = true;
    sleep->has_sleepers = false;
    sleep->may_rest = true;
}

static void write_shapes(Physics *physics)
{
    Sleep *sleep = physics->sleep;
    memory_grow(&sleep->first_shape, &sleep->first_shape_capacity, physics->body_count + 2, sizeof(int32_t));
    memory_grow(&sleep->shapes, &sleep->shapes_capacity, physics->shape_count + 1, sizeof(int32_t));
    memset(sleep->first_shape, 0, sizeof(int32_t) * (size_t)(physics->body_count + 2));
    int32_t *first = sleep->first_shape + 1;
    for (int i = 0; i < physics->shape_count; i++)
        if (physics->shapes[i].is_alive && physics->shapes[i].body >= 0)
            first[physics->shapes[i].body]++;
    for (int i = 0, at = 0; i <= physics->body_count; i++) {
        int count = first[i];
        first[i] = at;
        at += count;
    }
    for (int i = 0; i < physics->shape_count; i++)
        if (physics->shapes[i].is_alive && physics->shapes[i].body >= 0)
            sleep->shapes[first[physics->shapes[i].body]++] = i;
    sleep->held_shape_count = sleep->first_shape[physics->body_count];
}

static void write_contacts(Physics *physics)
{
    Sleep *sleep = physics->sleep;
    memory_grow(&sleep->kept, &sleep->kept_capacity, physics->body_count + 1, sizeof(int32_t));
    memory_grow(&sleep->touched, &sleep->touched_capacity, physics->body_count + 1, sizeof *sleep->touched);
    memory_grow(&sleep->solid_kept, &sleep->solid_kept_capacity, physics->solid_count + 1, sizeof(int32_t));
    memory_grow(&sleep->shape_kept, &sleep->shape_kept_capacity, physics->shape_count + 1, sizeof(int32_t));
    memset(sleep->kept, 0xff, sizeof(int32_t) * (size_t)(physics->body_count + 1));
    memset(sleep->touched, 0, sizeof *sleep->touched * (size_t)(physics->body_count + 1));
    memset(sleep->solid_kept, 0, sizeof(int32_t) * (size_t)(physics->solid_count + 1));
    memset(sleep->shape_kept, 0, sizeof(int32_t) * (size_t)(physics->shape_count + 1));
    for (int i = 0; i < physics->sleeping_contact_count; i++)
        sleep_link(physics, i);
    for (int i = physics->sleeping_contact_count; i < physics->contact_count; i++)
        for (int side = 0; side < 2; side++)
            if (physics->contacts[i].body[side] >= 0)
                sleep->touched[physics->contacts[i].body[side]] = sleep->pass;
}

void sleep_renew(Physics *physics)
{
    Sleep *sleep = physics->sleep;
    if (!sleep->is_valid || sleep->body_count != physics->body_count || sleep->shape_count != physics->shape_count) {
        write_awake(physics);
        write_shapes(physics);
        write_contacts(physics);
        sleep->body_count = physics->body_count;
        sleep->shape_count = physics->shape_count;
        sleep->is_valid = true;
        sleep->version++;
    }
    if (!sleep->is_sorted)
        qsort(sleep->awake, (size_t)sleep->awake_count, sizeof *sleep->awake, rising);
    sleep->is_sorted = true;
}

bool sleep_for_awake(Physics *physics, PoolRange range)
{
    SleepWork work = { .physics = physics, .awake = physics->sleep->awake };
    pool_for(physics->pool, physics->sleep->awake_count, BODY_GRAIN, range, &work);
    return work.has_left;
}

void sleep_on_wake(Physics *physics, int body)
{
    Sleep *sleep = physics->sleep;
    if (!sleep->is_valid || body >= sleep->body_count || sleep->is_listed[body])
        return;
    sleep->is_listed[body] = true;
    sleep->is_sorted &= sleep->awake_count == 0 || sleep->awake[sleep->awake_count - 1] < body;
    push(&sleep->awake, &sleep->awake_count, &sleep->awake_capacity, body);
    push(&sleep->woken, &sleep->woken_count, &sleep->woken_capacity, body);
}

void sleep_on_sleep(Physics *physics, int body)
{
    Sleep *sleep = physics->sleep;
    sleep->has_sleepers = sleep->may_rest = true;
    if (sleep->is_valid && body < sleep->body_count)
        push(&sleep->slept, &sleep->slept_count, &sleep->slept_capacity, body);
}

void sleep_ride(Physics *physics, int index)
{
    assert_debug(index >= 0 && index < physics->shape_count);
    Sleep *sleep = physics->sleep;
    Shape *shape = &physics->shapes[index];
    shape->has_ridden = true;
    // What sleeps on it is in no list of the awake: this is for a pass that looks at every contact.
    if (index < sleep->shape_count && sleep->shape_kept[index] > 0)
        shape->was_changed = physics->has_changed_shapes = true;
    if (shape->is_rider)
        return;
    shape->is_rider = true;
    push(&sleep->riders, &sleep->rider_count, &sleep->rider_capacity, index);
}

// Those that fell asleep leave the list.
static void drop_sleepers(Physics *physics)
{
    Sleep *sleep = physics->sleep;
    int kept = 0;
    for (int i = 0; i < sleep->awake_count; i++) {
        int body = sleep->awake[i];
        if (physics->body_states[body].is_disabled || !physics->bodies[body].is_alive)
            sleep->is_listed[body] = false;
        else
            sleep->awake[kept++] = body;
    }
    sleep->awake_count = kept;
    sleep->has_sleepers = false;
}

static bool is_touched(const Sleep *sleep, int body) { return sleep->touched[body] == sleep->pass; }

static bool has_joints(const Physics *physics, int body)
{
    return physics->plugin_holds_ode ? mirror_joint_count(physics, body) > 0 : physics->body_constraints[body] != NULL;
}

bool sleep_is_held(const Physics *physics, int body)
{
    return is_touched(physics->sleep, body) || physics->sleep->kept[body] >= 0 || has_joints(physics, body);
}

// ---- waking spreads ----

static void wake_neighbour(Physics *physics, int body, int *count)
{
    assert_debug(body >= 0 && body < physics->body_count);
    BodyState *state = &physics->body_states[body];
    if (!state->is_disabled)
        return;
    solids_refresh(physics);  // of those that the last step moved: soon more are awake
    // Its timer goes on: what wakes in company falls asleep again as soon as that does.
    state->is_disabled = 0;
    mirror_body_enabled(physics, body);
    sleep_on_wake(physics, body);
    push(&physics->sleep->stack, count, &physics->sleep->stack_capacity, body);
}

// A body that was frozen is touched by nothing any more.
static void wake_touched(Physics *physics, int body, int *count)
{
    if (body >= 0 && !physics->body_states[body].is_frozen)
        wake_neighbour(physics, body, count);
}

static void wake_joined(Physics *physics, int body, int *count)
{
    for (const Constraint *at = physics->body_constraints[body]; at; at = at->next[at->body[1] == body]) {
        int other = at->body[at->body[0] == body];
        if (other >= 0)
            wake_neighbour(physics, other, count);
    }
}

// Chains the contacts of the last pass by body, when some of them touches a sleeper. False: none does.
static bool chain_contacts(Physics *physics)
{
    Sleep *sleep = physics->sleep;
    int first = physics->sleeping_contact_count, count = physics->contact_count;
    bool has_sleeper = false;
    for (int i = first; i < count && !has_sleeper; i++)
        for (int side = 0; side < 2; side++) {
            int body = physics->contacts[i].body[side];
            has_sleeper |= body >= 0 && physics->body_states[body].is_disabled;
        }
    if (!has_sleeper)
        return false;
    memory_grow(&sleep->heads, &sleep->head_capacity, physics->body_count + 1, sizeof(int32_t));
    memory_grow(&sleep->nexts, &sleep->next_capacity, 2 * (count - first) + 1, sizeof(int32_t));
    for (int i = first; i < count; i++)
        for (int side = 0; side < 2; side++)
            if (physics->contacts[i].body[side] >= 0)
                sleep->heads[physics->contacts[i].body[side]] = -1;
    for (int i = first; i < count; i++)
        for (int side = 0; side < 2; side++) {
            int body = physics->contacts[i].body[side];
            if (body < 0)
                continue;
            sleep->nexts[2 * (i - first) + side] = sleep->heads[body];
            sleep->heads[body] = 2 * (i - first) + side;
        }
    return true;
}

void sleep_spread_awake(Physics *physics)
{
    Sleep *sleep = physics->sleep;
    if (sleep->has_sleepers)
        drop_sleepers(physics);
    // With a plugin at work bodies and joints may not be ours: the stepper looks at all of them.
    if (physics->plugin_holds_ode || !sleep_any_asleep(physics))
        return;
    bool has_chains = chain_contacts(physics);
    int count = 0, first = physics->sleeping_contact_count;
    for (int i = 0; i < sleep->awake_count; i++)
        push(&sleep->stack, &count, &sleep->stack_capacity, sleep->awake[i]);
    while (count > 0) {
        int body = sleep->stack[--count];
        wake_joined(physics, body, &count);
        for (int at = sleep->kept[body]; at >= 0; at = sleep->links[at / 2].next[at % 2])
            wake_touched(physics, physics->contacts[at / 2].body[1 - at % 2], &count);
        if (!has_chains || !is_touched(sleep, body))
            continue;
        for (int at = sleep->heads[body]; at >= 0; at = sleep->nexts[at])
            wake_touched(physics, physics->contacts[first + at / 2].body[1 - at % 2], &count);
    }
    sleep_refresh(physics);
}
