// share.c - clones of a world read the rows of solids and bodies, and the places of joints, of the Physics that they
// are made like: a batch then has one copy of what never changes in a run, and it stays in the cache. Whoever changes
// rows (edits, twins in ODE) gets own ones first; a joint that is placed anew has its own place.
#include "physics/mirror.h"
#include "physics/physics_internal.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

// Both were built from the same nodes, which are frozen, and nothing has changed either since.
static bool has_same_rows(const Physics *physics, const Physics *like)
{
    if (physics->solid_count != like->solid_count || physics->body_count != like->body_count
        || physics->joint_count != like->joint_count || physics->constraint_count != like->constraint_count)
        return false;
    for (int i = 0; i < physics->solid_count; i++)
        if (physics->solids[i].node != like->solids[i].node || physics->solids[i].body != like->solids[i].body)
            return false;
    return true;
}

// Arrays grow ahead of what they hold; those of a clone hold all that there will be.
static void trim(void *array, int count, int *capacity, size_t size)
{
    void *now, *less;
    memcpy(&now, array, sizeof now);
    if (count == 0 || *capacity <= count || !(less = realloc(now, (size_t)count * size)))
        return;
    memcpy(array, &less, sizeof less);
    *capacity = count;
}

static void trim_rows(Physics *physics)
{
    trim(&physics->joints, physics->joint_count, &physics->joint_capacity, sizeof *physics->joints);
    trim(&physics->joint_states, physics->joint_count, &physics->joint_state_capacity, sizeof *physics->joint_states);
    trim(&physics->body_states, physics->body_count, &physics->body_state_capacity, sizeof *physics->body_states);
    trim(&physics->shapes, physics->shape_count, &physics->shape_capacity, sizeof *physics->shapes);
    trim(&physics->solid_states, physics->solid_count, &physics->solid_state_capacity, sizeof *physics->solid_states);
    trim(&physics->solid_world, physics->solid_count, &physics->solid_world_capacity, sizeof *physics->solid_world);
}

// What joints and constraints keep of their places is the model's, where it is the same to the last bit.
static void share_places(Physics *physics, const Physics *like)
{
    assert_debug(like->joint_count == physics->joint_count && like->constraint_count == physics->constraint_count);
    for (int i = 0; i < physics->joint_count; i++) {
        PhysicsJoint *own = &physics->joints[i];
        const JointPlacing *model = &like->joints[i].own_placing;
        own->shared_placing = memcmp(&own->own_placing, model, sizeof *model) ? NULL : model;
    }
    for (int i = 0; i < physics->constraint_count; i++) {
        Constraint *own = physics->constraints[i];
        const ConstraintFrames *model = &like->constraints[i]->own_frames;
        own->shared_frames = memcmp(&own->own_frames, model, sizeof *model) ? NULL : model;
    }
}

static void own_places(Physics *physics)
{
    for (int i = 0; i < physics->joint_count; i++)
        physics->joints[i].shared_placing = NULL;
    for (int i = 0; i < physics->constraint_count; i++)
        physics->constraints[i]->shared_frames = NULL;
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
    physics->body_version = like->body_version;
    physics->are_labels_stale = false;
    physics->shares_rows = true;
    trim_rows(physics);
    share_places(physics, like);
}

static void *copy_rows(const void *rows, int count, int *capacity, size_t size)
{
    *capacity = count + 1;
    void *copy = memory_alloc_array((size_t)*capacity, size);
    if (count > 0)
        memcpy(copy, rows, (size_t)count * size);
    return copy;
}

void physics_bodies_new(Physics *physics)
{
    static _Atomic uint64_t count;
    assert_debug(!physics->shares_rows);
    physics->body_version = ++count;
}

void physics_own_rows(Physics *physics)
{
    if (!physics->shares_rows)
        return;
    assert(!mirror_is_open(physics));
    physics->solids = copy_rows(physics->solids, physics->solid_count, &physics->solid_capacity,
                                sizeof *physics->solids);
    physics->bodies = copy_rows(physics->bodies, physics->body_count, &physics->body_capacity, sizeof *physics->bodies);
    own_places(physics);
    physics->shares_rows = false;
}
