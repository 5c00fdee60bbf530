// Contacts that begin and end, and rays against bounding objects, for those who embed Talus.
#include "sim/library.h"

#include "base/memory.h"
#include "physics/ray.h"

#include <stdlib.h>
#include <string.h>

// Pairs of solids as keys, the lower index first: sorted lists of now and of the step before are compared side by side.
typedef struct PairList {
    uint64_t *keys;
    int count, capacity;
} PairList;

typedef struct ContactEvents {
    PairList now, before;
    TalusContactEvent *queue;
    int count, capacity;
} ContactEvents;

static int by_key(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void find_pairs(const Physics *physics, PairList *list)
{
    assert_debug(list);
    int count, kept = 0;
    const PhysicsContact *contacts = physics_contacts(physics, &count);
    memory_grow(&list->keys, &list->capacity, count + 1, sizeof *list->keys);
    list->count = 0;
    for (int i = 0; i < count; i++) {
        int a = physics_contact_solid(physics, &contacts[i], 0), b = physics_contact_solid(physics, &contacts[i], 1);
        if (a < 0 || b < 0)
            continue;
        list->keys[list->count++] = (uint64_t)int_min(a, b) << 32 | (uint64_t)int_max(a, b);
    }
    if (list->count > 0)
        qsort(list->keys, (size_t)list->count, sizeof *list->keys, by_key);
    for (int i = 0; i < list->count; i++)
        if (i == 0 || list->keys[i] != list->keys[kept - 1])
            list->keys[kept++] = list->keys[i];
    assert_debug(list->count == 0 || kept > 0);
    list->count = kept;
}

static void add_event(TalusWorld *world, uint64_t key, bool begins)
{
    assert_debug(key >> 32 <= (key & UINT32_MAX));
    assert_debug(world->events);
    ContactEvents *events = world->events;
    *memory_push(events->queue, events->count, events->capacity) = (TalusContactEvent){
        sim_steps(world->sim),
        { library_solid_id(world, (int)(key >> 32)), library_solid_id(world, (int)(key & UINT32_MAX)) },
        begins
    };
}

static bool after_step(Sim *sim, void *context)
{
    TalusWorld *world = context;
    assert_debug(world->events);
    ContactEvents *events = world->events;
    PairList swap = events->before;
    events->before = events->now;
    events->now = swap;
    find_pairs(sim_physics(sim), &events->now);
    int i = 0, k = 0;
    while (i < events->now.count || k < events->before.count) {
        bool is_new = k == events->before.count
                      || (i < events->now.count && events->now.keys[i] < events->before.keys[k]);
        bool is_old = i == events->now.count
                      || (k < events->before.count && events->before.keys[k] < events->now.keys[i]);
        if (is_new)
            add_event(world, events->now.keys[i++], true);
        else if (is_old)
            add_event(world, events->before.keys[k++], false);
        else
            i++, k++;
    }
    return true;
}

void library_events_forget(TalusWorld *world)
{
    if (!world->events)
        return;
    world->events->count = 0;
    find_pairs(sim_physics(world->sim), &world->events->now);
}

void library_events_free(TalusWorld *world)
{
    if (!world->events)
        return;
    sim_remove_hooks(world->sim, world);
    free(world->events->now.keys);
    free(world->events->before.keys);
    free(world->events->queue);
    free(world->events);
    world->events = NULL;
}

int talus_contact_events(TalusWorld *world, TalusContactEvent *events, int capacity)
{
    if (!world)
        return 0;
    if (!world->events) {
        world->events = memory_alloc(sizeof *world->events);
        sim_add_hook(world->sim, SIM_PHASE_OUTPUT, after_step, world);
        library_events_forget(world);
    }
    ContactEvents *from = world->events;
    int count = events ? int_max(0, int_min(from->count, capacity)) : 0;
    if (count == 0)
        return 0;
    memcpy(events, from->queue, (size_t)count * sizeof *events);
    memmove(from->queue, from->queue + count, (size_t)(from->count - count) * sizeof *from->queue);
    from->count -= count;
    return count;
}

// ---- rays ----

static bool cast(TalusWorld *world, TalusVector origin, TalusVector direction, double range, TalusHit *hit)
{
    assert_debug(hit && range >= 0.0);
    PhysicsRayHit found;
    *hit = (TalusHit){ .solid = TALUS_NONE, .distance = INFINITY };
    double reach = range < LIMIT_COORDINATE ? range : LIMIT_COORDINATE;
    PhysicsRay ray = { .origin = vector_in(origin),
                       .direction = vec3_normalized(vector_in(direction)),
                       .range = reach };
    if (!physics_ray_cast(sim_physics(world->sim), &ray, &found))
        return false;
    *hit = (TalusHit){ library_solid_id(world, found.solid), found.distance, vector_out(found.point),
                       vector_out(found.normal) };
    return true;
}

static bool ray_is_sound(TalusVector origin, TalusVector direction, double range)
{
    double length = vec3_length2(vector_in(direction));
    return vec3_is_finite(vector_in(origin)) && isfinite(length) && length > 0.0 && range >= 0.0;
}

bool talus_ray(TalusWorld *world, TalusVector origin, TalusVector direction, double range, TalusHit *hit)
{
    TalusHit unwanted;
    if (!library_given(world, world, "world"))
        return false;
    if (!ray_is_sound(origin, direction, range))
        return library_failed("a ray wants a finite origin, a direction and a range that is not negative");
    return cast(world, origin, direction, range, hit ? hit : &unwanted);
}

int talus_rays(TalusWorld *world, int count, const TalusVector *origins, const TalusVector *directions, double range,
               TalusHit *hits)
{
    if (!library_given(world, count > 0 ? (const void *)origins : "", "origins")
        || !library_given(world, count > 0 ? (const void *)directions : "", "directions")
        || !library_given(world, count > 0 ? (const void *)hits : "", "hits"))
        return -1;
    for (int i = 0; i < count; i++)
        if (!ray_is_sound(origins[i], directions[i], range)) {
            library_failed("ray %d wants a finite origin, a direction and a range that is not negative", i);
            return -1;
        }
    int found = 0;
    for (int i = 0; i < count; i++)
        found += cast(world, origins[i], directions[i], range, &hits[i]);
    return found;
}
