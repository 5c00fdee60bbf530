// pgs_manifolds.c - what the iterative method works on: contacts of one pair of bodies as manifolds of up to four
// points that share a direction and a surface; joints, and contacts that do not fit, as plain rows.
#include "physics/solver/pgs_internal.h"

#include "base/memory.h"
#include "physics/solver/tuning.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#define RUN_PIECE 64  // runs of an island's contacts that a worker takes at a time

static bool surface_equals(const SolverSurface *a, const SolverSurface *b)
{
    return a == b
           || (a->mu == b->mu && a->mu2 == b->mu2 && a->slip1 == b->slip1 && a->slip2 == b->slip2
               && a->motion1 == b->motion1 && a->motion2 == b->motion2 && a->flags == b->flags
               && a->soft_cfm == b->soft_cfm && a->bounce == b->bounce && a->bounce_velocity == b->bounce_velocity);
}

// Whether two contacts of one pair are close enough in direction to share a manifold.
static bool normal_equals(const SolverContact *a, const SolverContact *b)
{
    double cosine = vec3_dot(a->normal, b->normal);
    return ((a->body[0] < 0) == (b->body[0] < 0) ? cosine : -cosine) > 0.9999;
}

// A contact that is to have a speed and bounces too does not fit a block: contacts of ours have one or the other.
static bool surface_is_plain(const SolverSurface *surface, const SolverContact *contact)
{
    uint32_t both = SOLVER_CONTACT_APPROX1_1 | SOLVER_CONTACT_APPROX1_2;
    bool frictional = surface->mu > 0.0 || surface->mu2 > 0.0;
    return (surface->flags & SOLVER_CONTACT_ROLLING) || (frictional && (surface->flags & both) != both)
           || (contact->target_normal_speed != 0.0 && solver_surface_bounces(surface));
}

static void contact_add_rows(PgsScratch *s, const ContactRun *run, int contact, const int places[2],
                             double min_softness)
{
    assert_debug(contact >= 0 && contact < s->input->contact_count && places[0] < s->body_count);
    ContactRow rows[SOLVER_CONTACT_ROWS];
    int count = solver_contact_rows(s->input, run->bodies, contact, rows), normal = s->row_count;
    for (int i = 0; i < count; i++) {
        PlainRow *row = pgs_row_add(s);
        pgs_row_fill(s, row, places[0], places[1], rows[i].j1, rows[i].j2, rows[i].cfm);
        row->rhs = (float)rows[i].rhs;
        row->scaled_by = rows[i].scaled ? normal : -1;
        row->lo = (float)(rows[i].scaled ? rows[i].lo : rows[i].lo * s->input->dt);
        row->hi = (float)(rows[i].scaled ? rows[i].hi : rows[i].hi * s->input->dt);
        row->memory = contact_impulse(&s->memory[contact], s->rolling ? &s->rolling[contact] : NULL, rows[i].slot);
        row->impulse = (float)*row->memory;
    }
    s->rows[normal].gamma = fmaxf(s->rows[normal].gamma, (float)min_softness);
}

// Marks the contacts of a run that open a manifold; what follows joins the open one while it has room and their
// surfaces are alike.
static void run_mark(PgsScratch *s, const ContactRun *run)
{
    const int first = run->first, count = run->count;
    assert_debug(first >= 0 && count > 0 && first + count <= s->input->contact_count);
    const SolverContact *contacts = s->input->contacts, *open = NULL;
    const SolverSurface *seen = NULL, *open_surface = NULL;
    bool is_plain = false;
    for (int i = first, point_count = 0; i < first + count; i++) {
        const SolverSurface *surface = solver_surface(s->input, i);
        bool has_target = contacts[i].target_normal_speed != 0.0;
        if (surface != seen || has_target)
            is_plain = surface_is_plain(surface, &contacts[i]);
        seen = has_target ? NULL : surface;
        bool opens = point_count == 0 || point_count == BLOCK_POINTS || !surface_equals(open_surface, surface)
                     || !normal_equals(open, &contacts[i]);
        s->marks[i] = is_plain ? CONTACT_IS_PLAIN : opens ? CONTACT_OPENS : 0;
        if (is_plain)
            continue;
        if (opens)
            open = &contacts[i], open_surface = surface, point_count = 0;
        point_count++;
    }
}

void pgs_mark_pieces(int begin, int end, int worker, void *context)
{
    assert_debug(begin >= 0 && end <= ((PgsScratch *)context)->piece_count);
    PgsScratch *s = context;
    (void)worker;
    for (int i = begin; i < end; i++) {
        const IslandTask *task = &s->tasks[s->pieces[i].task];
        for (int r = s->pieces[i].first; r < s->pieces[i].last; r++)
            run_mark(s, &task->contact_runs[task->runs[r]]);
    }
}

void pgs_pieces_cut(PgsScratch *s)
{
    s->piece_count = 0;
    for (int i = 0; i < s->task_count; i++)
        for (int first = 0; first < s->tasks[i].run_count; first += RUN_PIECE) {
            memory_grow(&s->pieces, &s->piece_capacity, s->piece_count + 1, sizeof *s->pieces);
            s->pieces[s->piece_count++] = (ContactPiece){ i, first, int_min(first + RUN_PIECE, s->tasks[i].run_count) };
        }
}

static int surface_row(const PgsScratch *s, int contact)
{
    assert_debug(contact >= 0 && contact < s->input->contact_count);
    const SolverContact *c = &s->input->contacts[contact];
    return c->has_own_surface || c->surface >= s->input->surface_count ? OWN_SURFACE : c->surface;
}

// The contacts of a run by their marks: into the open manifold, as a new one, or as plain rows.
static void task_add_run(PgsScratch *s, int index, const ContactRun *run)
{
    assert_debug(index >= 0 && index < s->task_count);
    const IslandTask *task = &s->tasks[index];
    Manifold *open = NULL;
    double min_softness = -1.0;
    int places[2];
    for (int k = 0; k < 2; k++)
        places[k] = run->groups[k] >= 0 ? task->node_of_body[run->bodies[k]] : pgs_fixed_place(s, run->bodies[k]);
    for (int i = run->first; i < run->first + run->count; i++) {
        if (s->marks[i] == 0) {
            assert(open && open->point_count < BLOCK_POINTS);
            open->contacts[open->point_count++] = i;
        } else if (s->marks[i] == CONTACT_IS_PLAIN) {
            if (min_softness < 0.0)
                min_softness = solver_run_min_softness(task, run);
            contact_add_rows(s, run, i, places, min_softness);
        } else {
            memory_grow(&s->manifolds, &s->manifold_capacity, s->manifold_count + 1, sizeof *s->manifolds);
            open = &s->manifolds[s->manifold_count++];
            *open = (Manifold){ .contacts = { i },
                                .point_count = 1,
                                .body1 = places[0],
                                .body2 = places[1],
                                .task = index,
                                .surface = surface_row(s, i) };
        }
    }
}

void pgs_add_contacts(PgsScratch *s, int index)
{
    assert(index >= 0 && index < s->task_count);
    const IslandTask *task = &s->tasks[index];
    for (int r = 0; r < task->run_count; r++)
        task_add_run(s, index, &task->contact_runs[task->runs[r]]);
}

// A joint's row starts from its last impulse as far as its bounds of this step allow: a stop may be another one by now.
static void row_start(PlainRow *row, RowMemory *memory, bool is_kept)
{
    assert_debug(row && memory);
    row->joint_memory = memory;
    if (is_kept)
        row->impulse = JOINT_WARM_SHARE
                       * (row->scaled_by >= 0 ? memory->impulse : fminf(fmaxf(memory->impulse, row->lo), row->hi));
}

static void task_add_joint(PgsScratch *s, const IslandTask *task, int joint_index)
{
    assert(joint_index >= 0 && joint_index < s->input->joint_count);
    const SolverInput *input = s->input;
    const SolverJoint *joint = &input->joints[joint_index];
    int body1 = pgs_place(s, task, joint->body1), body2 = pgs_place(s, task, joint->body2), base = s->row_count;
    for (int i = 0; i < joint->row_count; i++) {
        SolverRow *from = &input->rows[joint->first_row + i];
        PlainRow *row = pgs_row_add(s);
        pgs_row_fill(s, row, body1, body2, from->j1, from->j2, from->cfm);
        row->rhs = (float)from->rhs;
        bool scaled = from->friction_of >= 0 && from->friction_of < i;
        row->scaled_by = scaled ? base + from->friction_of : -1;
        row->lo = (float)(scaled ? from->lo : from->lo * input->dt);
        row->hi = (float)(scaled ? from->hi : from->hi * input->dt);
        row->force = &from->force;
        if (i < SOLVER_JOINT_ROWS)
            row_start(row, &task->row_memory[joint_index * SOLVER_JOINT_ROWS + i], task->keeps_impulses);
    }
}

void pgs_add_bodies(PgsScratch *s, const IslandTask *task)
{
    assert_debug(task->group_count > 0 && task->node_of_body);
    const Topology *t = task->topology;
    for (int g = 0; g < task->group_count; g++) {
        const TreeGroup *group = &t->groups[task->groups[g]];
        for (int i = group->first; i < group->first + group->count; i++)
            task->node_of_body[t->links[i].body] = pgs_body_add(s, t->links[i].body);
    }
}

void pgs_add_joints(PgsScratch *s, const IslandTask *task)
{
    assert_debug(task->group_count > 0 && s->row_count >= 0);
    const Topology *t = task->topology;
    for (int g = 0; g < task->group_count; g++) {
        const TreeGroup *group = &t->groups[task->groups[g]];
        for (int i = group->first; i < group->first + group->count; i++)
            for (int k = 0; k < t->links[i].joint_count; k++)
                task_add_joint(s, task, t->link_joints[t->links[i].first_joint + k].joint);
        for (int k = 0; k < group->cut_count; k++)
            task_add_joint(s, task, t->cut_joints[group->first_cut + k]);
    }
}
