// prefetch.c - while one world of a batch is stepped, what the next one reads is fetched into the cache, a part in each
// phase: worlds by the thousand do not stay there by themselves. Each part follows pointers that the one before has
// fetched. It changes how long a step takes and nothing else.
#include "physics/prefetch.h"

#include "base/memory.h"
#include "physics/contacts/contact_narrow.h"
#include "physics/contacts/sleep.h"

#include <stddef.h>

// The first bytes of each row, those that steps read.
static void fetch_rows(const void *rows, int count, size_t size, size_t read)
{
    assert_debug(count >= 0 && read <= size);
    for (int i = 0; i < count; i++)
        memory_prefetch((const char *)rows + (size_t)i * size, read);
}

// What rows are made of; and where shapes are near each other the lists of bodies, which say who is joined to whom.
static void fetch_constraints(const Physics *next)
{
    const size_t lists = offsetof(Constraint, own_frames) - offsetof(Constraint, body);
    for (int i = 0; i < next->constraint_count; i++) {
        memory_prefetch(next->constraints[i], offsetof(Constraint, axes) + offsetof(ConstraintAxis, cfm));
        if (next->pair_count > 0)
            memory_prefetch(&next->constraints[i]->body, lists);
    }
}

static void fetch_sleep(const Physics *next)
{
    const Sleep *sleep = next->sleep;
    memory_prefetch(sleep->awake, sizeof *sleep->awake * (size_t)sleep->awake_count);
    if (sleep->held_shape_count == 0)
        return;
    memory_prefetch(next->shapes, sizeof *next->shapes * (size_t)next->shape_count);
    memory_prefetch(sleep->first_shape, sizeof *sleep->first_shape * (size_t)sleep->body_count);
    memory_prefetch(sleep->shapes, sizeof *sleep->shapes * (size_t)sleep->shape_count);
}

// What many shapes have does not fit into the cache beside the rest.
enum { COLLIDING_SHAPES_MAX = 200 };

static bool collides(const Physics *next) { return next->shape_count > 1 && next->shape_count <= COLLIDING_SHAPES_MAX; }

// Each reads of the next world only what those before it have fetched: an array's pointer comes before its rows.
void prefetch_at_prestep(const Physics *next)
{
    if (collides(next))
        memory_prefetch(&next->scene, offsetof(Physics, model) - offsetof(Physics, scene));
    memory_prefetch(next->sleep, next->shape_count > 1 ? sizeof *next->sleep : offsetof(Sleep, slept));
    memory_prefetch(next->constraints, sizeof *next->constraints * (size_t)next->constraint_count);
    memory_prefetch(next->joint_lists.driven, sizeof(int32_t) * (size_t)next->joint_lists.driven_count);
    stepper_talus_prefetch(next, STEPPER_ITSELF);
    fetch_rows(next->joints, next->joint_count, sizeof *next->joints,
               offsetof(PhysicsJoint, axes) + offsetof(PhysicsAxis, spring));
}

void prefetch_at_read(const Physics *next)
{
    stepper_talus_prefetch(next, STEPPER_SOLVER);
    if (!collides(next))
        return;
    broadphase_prefetch(next->broadphase, false);
    narrow_prefetch(next, NARROW_ITSELF);
}

void prefetch_at_constraints(const Physics *next, int begin, int end)
{
    assert_debug(begin >= 0);
    for (int i = begin; i < end; i++) {
        if (i < next->joint_count)
            memory_prefetch(&next->joint_states[i], sizeof(PhysicsAxisState));
        if (i < next->body_count)
            memory_prefetch(&next->body_states[i], sizeof *next->body_states);
    }
}

void prefetch_at_solve(const Physics *next)
{
    fetch_constraints(next);
    if (collides(next))
        narrow_prefetch(next, NARROW_COLLIDERS);
}

void prefetch_at_write(const Physics *next)
{
    stepper_talus_prefetch(next, STEPPER_MEMORY);
    fetch_sleep(next);
    if (collides(next))
        broadphase_prefetch(next->broadphase, true);
}

void prefetch_at_collide(const Physics *next, const Physics *after)
{
    if (collides(next))
        narrow_prefetch(next, NARROW_KNOWN);
    if (after)
        memory_prefetch(after, offsetof(Physics, collide_hook) + sizeof(void *));
}
