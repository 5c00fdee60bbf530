// share.c - clones of a world read the rows of solids and bodies of the Physics that they are made like: a batch then has one copy of what
// never changes in a run, and it stays in the cache. Whoever changes rows (edits, twins in ODE) gets own ones first.
#include "physics/mirror.h"
#include "physics/physics_internal.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

// Both were built from the same nodes, which are frozen, and nothing has changed either since.
static bool has_same_rows(const Physics *physics, const Physics *like)
{
    if (physics->solid_count != like->solid_count || physics->body_count != like->body_count)
        return false;
    for (int i = 0; i < physics->solid_count; i++)
        if (physics->solids[i].node != like->solids[i].node || physics->solids[i].body != like->solids[i].body)
            return false;
    return true;
}

void physics_share_rows(Physics *physics)
{
    const Physics *like = physics->like;
    if (!like || physics->shares_rows || like->shares_rows || like->are_labels_stale || mirror_is_open(physics)
        || mirror_is_open(like) || physics->edit_count > 0 || !has_same_rows(physics, like))
        return;
    free(physics->solids);
    free(physics->bodies);
    physics->solids = like->solids;
    physics->bodies = like->bodies;
    physics->are_labels_stale = false;
    physics->shares_rows = true;
}

static void *copy_rows(const void *rows, int count, int *capacity, size_t size)
{
    *capacity = count + 1;
    void *copy = memory_alloc_array((size_t)*capacity, size);
    if (count > 0)
        memcpy(copy, rows, (size_t)count * size);
    return copy;
}

void physics_own_rows(Physics *physics)
{
    if (!physics->shares_rows)
        return;
    assert(!mirror_is_open(physics));
    physics->solids = copy_rows(physics->solids, physics->solid_count, &physics->solid_capacity,
                                sizeof *physics->solids);
    physics->bodies = copy_rows(physics->bodies, physics->body_count, &physics->body_capacity, sizeof *physics->bodies);
    physics->shares_rows = false;
}
