// share.c - clones of a world read the rows of solids and bodies, and the places of joints, of the Physics that they
// are made like: a batch then has one copy of what never changes in a run, and it stays in the cache. Whoever changes
// rows (edits, twins in ODE) gets own ones first; a joint that is placed anew has its own place.
#include "physics/contacts/contact_narrow.h"
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

// Arrays grow ahead of what they hold; those of a world that was built hold all that there will be.
void physics_fit_rows(Physics *physics)
{
    int solids = physics->solid_count, bodies = physics->body_count, joints = physics->joint_count;
    memory_fit(&physics->joints, &physics->joint_capacity, joints, sizeof *physics->joints);
    memory_fit(&physics->joint_states, &physics->joint_state_capacity, joints, sizeof *physics->joint_states);
    memory_fit(&physics->body_states, &physics->body_state_capacity, bodies, sizeof *physics->body_states);
    memory_fit(&physics->shapes, &physics->shape_capacity, physics->shape_count, sizeof *physics->shapes);
    memory_fit(&physics->solid_states, &physics->solid_state_capacity, solids, sizeof *physics->solid_states);
    memory_fit(&physics->solid_world, &physics->solid_world_capacity, solids, sizeof *physics->solid_world);
    if (!physics->shares_rows) {
        memory_fit(&physics->solids, &physics->solid_capacity, solids, sizeof *physics->solids);
        memory_fit(&physics->bodies, &physics->body_capacity, bodies, sizeof *physics->bodies);
        memory_fit(&physics->masses, &physics->mass_capacity, bodies, sizeof *physics->masses);
    }
    broadphase_fit(physics->broadphase);
    narrow_fit(physics);
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
    free(physics->masses);
    physics->solids = like->solids;
    physics->bodies = like->bodies;
    physics->masses = like->masses;
    physics->body_version = like->body_version;
    physics->are_labels_stale = false;
    physics->shares_rows = true;
    physics_fit_rows(physics);
    share_places(physics, like);
}

// The identity to the last bit, zeros without a sign.
static bool pose_is_plain(const Pose *pose)
{
    const Pose identity = POSE_IDENTITY;
    return !memcmp(pose, &identity, sizeof identity);
}

void pose_store(Arena *arena, Pose **to, Pose pose)
{
    if (!*to && pose_is_plain(&pose))
        return;
    if (!*to)
        *to = arena_alloc(arena, sizeof **to);
    **to = pose;
}

// Of rows that were copied: what they point to is the other world's.
static void own_pose(Physics *physics, Pose **pose)
{
    *pose = *pose ? arena_copy(physics->arena, *pose, sizeof **pose) : NULL;
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
    for (int i = 0; i < physics->solid_count; i++) {
        own_pose(physics, &physics->solids[i].base);
        own_pose(physics, &physics->solids[i].in_body);
    }
    physics->bodies = copy_rows(physics->bodies, physics->body_count, &physics->body_capacity, sizeof *physics->bodies);
    physics->masses = copy_rows(physics->masses, physics->body_count, &physics->mass_capacity, sizeof *physics->masses);
    own_places(physics);
    physics->shares_rows = false;
}
