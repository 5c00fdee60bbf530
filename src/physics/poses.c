// poses.c - poses of solids for another thread: in the step's own thread what they follow from is copied in one pass,
// and whoever wants them makes them of the copy.
#include "physics/contacts/sleep.h"

#include "base/memory.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void physics_poses_deinit(PhysicsPoses *copy)
{
    free(copy->solids);
    free(copy->moved);
    free(copy->rows);
    free(copy->first_row);
    free(copy->others);
    *copy = (PhysicsPoses){ 0 };
}

// Which solids stand on which body and where. They are the same as long as no body is weighed anew.
static void take_rows(const Physics *physics, PhysicsPoses *copy)
{
    int count = physics->body_count;
    memory_grow(&copy->first_row, &copy->first_row_capacity, count + 1, sizeof *copy->first_row);
    memory_grow(&copy->rows, &copy->row_capacity, physics->solid_count, sizeof *copy->rows);
    int *end = copy->first_row + 1;  // of the rows of each body; while they are filled, where its next one goes
    memset(copy->first_row, 0, (size_t)(count + 1) * sizeof *copy->first_row);
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < physics->solid_count; i++) {
            const PhysicsSolid *solid = &physics->solids[i];
            if (!solid->is_alive || solid->body < 0)
                continue;
            assert(solid->body < count);
            if (pass == 1)
                copy->rows[end[solid->body]] = (PhysicsPoseRow){ i, solid_in_body(solid) };
            end[solid->body]++;
        }
        for (int b = 0, before = 0; pass == 0 && b < count; b++) {
            int own = end[b];
            end[b] = before;
            before += own;
        }
    }
    copy->other_count = 0;
    for (int i = 0; i < physics->solid_count; i++)
        if (!physics->solids[i].is_alive || physics->solids[i].body < 0)
            *memory_push(copy->others, copy->other_count, copy->other_capacity) = i;
    copy->body_count = count;
    copy->row_solids = physics->solid_count;
    copy->rows_version = physics->body_version;
}

static void take_moved(const Physics *physics, PhysicsPoses *copy)
{
    const Sleep *sleep = physics->sleep;
    memory_grow(&copy->moved, &copy->moved_capacity, sleep->awake_count, sizeof *copy->moved);
    PhysicsMovedBody *moved = copy->moved;
    for (int k = 0; k < sleep->awake_count; k++) {
        assert_debug(sleep->awake[k] >= 0 && sleep->awake[k] < physics->body_count);
        const BodyState *state = &physics->body_states[sleep->awake[k]];
        if (!state->is_disabled)
            *moved++ = (PhysicsMovedBody){ sleep->awake[k], { state->position, state->orientation } };
    }
    copy->moved_count = (int)(moved - copy->moved);
}

static void take_others(const Physics *physics, PhysicsPoses *copy)
{
    for (int k = 0; k < copy->other_count; k++) {
        int solid = copy->others[k];
        copy->solids[solid] = physics->solid_world[solid];
        if (!physics->solids[solid].is_alive)
            copy->solids[solid].t.x = NAN;
    }
}

// Of the poses as they were last made those are taken that no body in motion will give.
void physics_poses_take(const Physics *physics, PhysicsPoses *copy)
{
    memory_grow(&copy->solids, &copy->solid_capacity, physics->solid_count, sizeof *copy->solids);
    copy->solid_count = physics->solid_count;
    copy->moved_count = 0;
    if (physics->are_poses_stale) {
        if (copy->rows_version != physics->body_version || copy->body_count != physics->body_count
            || copy->row_solids != physics->solid_count)
            take_rows(physics, copy);
        take_moved(physics, copy);
    }
    if (copy->moved_count > 0 && copy->moved_count == physics->body_count)
        take_others(physics, copy);
    else
        solids_copy_poses(physics, copy->solids);
}

void physics_poses_make(PhysicsPoses *copy)
{
    for (int k = 0; k < copy->moved_count; k++) {
        const PhysicsMovedBody *moved = &copy->moved[k];
        assert(moved->body >= 0 && moved->body < copy->body_count);
        for (int r = copy->first_row[moved->body]; r < copy->first_row[moved->body + 1]; r++) {
            assert_debug(copy->rows[r].solid < copy->solid_count);
            copy->solids[copy->rows[r].solid] = pose_on_body(moved->pose, &copy->rows[r].in_body);
        }
    }
    copy->moved_count = 0;
}
