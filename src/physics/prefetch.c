// prefetch.c - while one world of a batch is stepped, what the next one reads is fetched into the cache, a part in each
// phase: worlds by the thousand do not stay there by themselves. It changes how long a step takes and nothing else.
#include "physics/contacts/sleep.h"
#include "physics/prefetch.h"

#include <stddef.h>

enum { LINE = 64 };

static void fetch(const void *at, size_t size)
{
    const char *byte = at;
    for (size_t i = 0; i < size; i += LINE)
        __builtin_prefetch(byte + i, 1, 2);
}

// The first bytes of each row, those that steps read.
static void fetch_rows(const void *rows, int count, size_t size, size_t read)
{
    for (int i = 0; i < count; i++)
        fetch((const char *)rows + (size_t)i * size, read);
}

static void fetch_constraints(const Physics *next)
{
    for (int i = 0; i < next->constraint_count; i++)
        fetch(next->constraints[i], offsetof(Constraint, axes) + sizeof(ConstraintAxis));
}

void prefetch_part(const PrefetchPlan *plan, PrefetchPart part)
{
    const Physics *next = plan->next;
    if (!next)
        return;
    switch (part) {
    case PREFETCH_AT_PRESTEP:
        fetch_rows(next->joints, next->joint_count, sizeof *next->joints,
                   offsetof(PhysicsJoint, axes) + sizeof(PhysicsAxis));
        break;
    case PREFETCH_AT_READ:
        fetch_rows(next->joint_states, next->joint_count, sizeof *next->joint_states, sizeof(PhysicsAxisState));
        fetch(next->body_states, sizeof *next->body_states * (size_t)next->body_count);
        break;
    case PREFETCH_AT_SOLVE: fetch_constraints(next); break;
    case PREFETCH_AT_COLLIDE:
        fetch(next->shapes, sizeof *next->shapes * (size_t)next->shape_count);
        fetch(next->solid_world, sizeof *next->solid_world * (size_t)next->solid_count);
        break;
    case PREFETCH_AT_POSTSTEP:
        if (plan->after)
            fetch(plan->after, offsetof(Physics, limits));
        fetch(next->sleep, sizeof *next->sleep);
        break;
    }
}
