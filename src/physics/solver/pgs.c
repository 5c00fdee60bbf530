// Islands of many loose bodies: warm-started sequential impulses. All such islands of a step go in together. Contacts
// of one pair of bodies form a manifold of up to four points; manifolds are coloured so that no body appears twice in a
// colour, and eight manifolds of a colour make a block whose lanes are worked on at once. Colours follow each other,
// blocks of a colour may run on any thread: the result depends on neither.
//
// What does not fit that form (joints of an island too big for the direct method, rolling friction, friction with a
// fixed force) is kept as plain rows and iterated one after the other.
#include "physics/solver/solver_internal.h"

#include "base/memory.h"
#include "physics/solver/pgs_block.h"
#include "physics/solver/tuning.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define COLOURS 64  // that a body can have in one round of colouring
#define BODY_GRAIN 64
#define BLOCK_GRAIN 4
#define RUN_PIECE 64  // runs of an island's contacts that a worker takes at a time

typedef struct Manifold {
    int32_t contacts[BLOCK_POINTS];
    int32_t body1, body2;  // places among the loose bodies; 0: the world
    int32_t colour;
    int32_t point_count;
    int32_t task;     // island that it is of
    int32_t surface;  // row of the table, OWN_SURFACE: none
} Manifold;
enum { OWN_SURFACE = -1 };

// An island while it is iterated: its bodies stand together.
typedef struct PgsIsland {
    int32_t first_body, body_count;
    atomic_bool has_hard;  // some contact is: then all iterations are made
    bool has_converged;
} PgsIsland;

// A stretch of by_colour, and where the parts of its block begin.
typedef struct BlockSpan {
    int32_t first, count;
    int32_t first_point, point_count;
    int32_t first_other;  // NO_OTHERS: the second bodies are the world
    int32_t surface;      // among s->surfaces
} BlockSpan;
enum { NO_OTHERS = -1 };

typedef struct PgsBody {
    float inverse_mass;
    float inertia[6];
    int32_t body;  // -1: the world
    bool moves;
} PgsBody;

// One row beside the blocks.
typedef struct PlainRow {
    float j1[6], j2[6], m1[6], m2[6];  // m: what a unit impulse does to the velocity
    float rhs, gamma, mass, impulse, lo, hi;
    int32_t body1, body2, scaled_by;  // scaled_by: plain row of the normal, -1
    double *force;                    // of a joint's row, else NULL
    double *memory;                   // impulse kept for the next step: of a contact,
    RowMemory *joint_memory;          // of a joint; NULL: none
} PlainRow;

// A stretch of an island's runs.
typedef struct ContactPiece {
    int32_t task, first, last;
} ContactPiece;

enum { CONTACT_OPENS = 1, CONTACT_IS_PLAIN = 2 };

struct PgsScratch {
    SharedBlock *shared;  // of the solver: blocks and points stand there
    const SolverInput *input;
    PgsOptions options;
    const IslandTask *tasks;
    int task_count;
    ContactPiece *pieces;
    uint8_t *marks;            // per contact: whether it opens a manifold, or is kept as plain rows
    int32_t *kinematic_place;  // per body: place of a kinematic one among the loose bodies in this step, 0: none yet
    int piece_capacity, mark_capacity, kinematic_capacity, piece_count, moving_count;
    PgsBody *bodies;
    PgsVelocity *velocities;
    PgsVelocity *checked;  // velocities before the step, then of an iteration before
    PgsIsland *islands;    // beside tasks
    uint8_t *is_done;      // per block: all islands in it have converged
    bool has_done;         // some block is
    Manifold *manifolds;
    int32_t *by_colour;
    BlockSpan *spans;  // per block
    PgsBlock *blocks;
    PgsPoint *points;      // of all blocks, of each as many as its longest lane has
    PgsSide *others;       // beside those of blocks that are not on the world
    PgsSurface *surfaces;  // of rows of the table, then of blocks that have their own
    uint64_t *colours;  // per loose body: those taken
    PlainRow *rows;
    ContactMemory *memory;
    RollingMemory *rolling;  // beside it, NULL: nothing rolls
    const BlockKernels *kernels;
    int span_capacity, island_capacity, done_capacity, body_capacity, velocity_capacity, checked_capacity,
        manifold_capacity, by_colour_capacity, colour_capacity, row_capacity;
    int body_count, manifold_count, block_count, row_count;
    int colour_count;
    int32_t *colour_first;  // manifolds of colour c in by_colour
    int32_t *block_first;
    int32_t *rank_first;  // the same by colour and number of points
    int colour_first_capacity, block_first_capacity, rank_first_capacity;
};

PgsScratch *pgs_scratch_create(SharedBlock *shared)
{
    assert_debug(shared);
    PgsScratch *s = memory_alloc(sizeof *s);
    s->shared = shared;
    return s;
}

void pgs_scratch_destroy(PgsScratch *s)
{
    if (!s)
        return;
    free(s->bodies);
    free(s->velocities);
    free(s->checked);
    free(s->islands);
    free(s->is_done);
    free(s->manifolds);
    free(s->by_colour);
    free(s->spans);
    free(s->colours);
    free(s->colour_first);
    free(s->block_first);
    free(s->rank_first);
    free(s->rows);
    free(s->pieces);
    free(s->marks);
    free(s->kinematic_place);
    free(s);
}

// Wide loads want velocities on 32-byte bounds; the contents need not survive growing.
static void grow_aligned(void *pointer, int *capacity, int needed, size_t item_size)
{
    assert(needed >= 0 && item_size > 0);
    void **data = pointer;
    if (needed <= *capacity)
        return;
    int grown = needed + needed / 16 + 8;
    free(*data);
    *data = memory_alloc_lines(memory_product((size_t)grown, item_size));
    *capacity = grown;
}

// ---- bodies ----

static void body_prepare(const SolverInput *input, PgsBody *loose, PgsVelocity *velocity, PgsVelocity *before)
{
    const SolverBody *body = &input->bodies[loose->body];
    for (int i = 0; i < 6; i++)
        before->v[i] = (float)body->velocity[i];
    if (loose->moves) {
        solver_body_predict(input, body, loose->inertia, velocity->v);
        loose->inverse_mass = (float)(1.0 / body->mass);
        return;
    }
    bool asleep = (body->flags & SOLVER_BODY_ASLEEP) != 0;
    for (int i = 0; i < 6; i++)
        velocity->v[i] = asleep ? 0.0f : (float)body->velocity[i];
}

static void prepare_range(PgsScratch *s, int begin, int end)
{
    for (int i = begin; i < end; i++) {
        memset(&s->velocities[i], 0, sizeof s->velocities[i]);
        memset(&s->checked[i], 0, sizeof s->checked[i]);
        if (s->bodies[i].body >= 0)
            body_prepare(s->input, &s->bodies[i], &s->velocities[i], &s->checked[i]);
    }
}

static int pgs_body_add(PgsScratch *s, int body, bool moves)
{
    assert(s->body_count < s->body_capacity);
    s->bodies[s->body_count] = (PgsBody){ .body = body, .moves = moves };
    return s->body_count++;
}

// Where the velocity of a body stands that nothing here moves.
static int fixed_place(PgsScratch *s, int body)
{
    assert(body < s->input->body_count);
    if (body < 0 || !(s->input->bodies[body].flags & SOLVER_BODY_KINEMATIC))
        return 0;
    if (s->kinematic_place[body] == 0)
        s->kinematic_place[body] = pgs_body_add(s, body, false);
    return s->kinematic_place[body];
}

static int pgs_place(PgsScratch *s, const IslandTask *task, int body)
{
    return body < 0 || solver_body_is_fixed(&s->input->bodies[body]) ? fixed_place(s, body) : task->node_of_body[body];
}

// ---- manifolds ----

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

static PlainRow *row_add(PgsScratch *s)
{
    memory_grow(&s->rows, &s->row_capacity, s->row_count + 1, sizeof *s->rows);
    s->rows[s->row_count] = (PlainRow){ .scaled_by = -1 };
    return &s->rows[s->row_count++];
}

static void row_fill(PgsScratch *s, PlainRow *row, int body1, int body2, const double *j1, const double *j2, double cfm)
{
    row->body1 = body1;
    row->body2 = body2;
    row->gamma = (float)(cfm / s->input->dt);
    for (int i = 0; i < 6; i++) {
        row->j1[i] = (float)j1[i];
        row->j2[i] = (float)j2[i];
    }
}

static void contact_add_rows(PgsScratch *s, const ContactRun *run, int contact, const int places[2],
                             double min_softness)
{
    ContactRow rows[SOLVER_CONTACT_ROWS];
    int count = solver_contact_rows(s->input, run->bodies, contact, rows), normal = s->row_count;
    for (int i = 0; i < count; i++) {
        PlainRow *row = row_add(s);
        row_fill(s, row, places[0], places[1], rows[i].j1, rows[i].j2, rows[i].cfm);
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
static void run_mark(PgsScratch *s, int first, int count)
{
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

static void mark_pieces(int begin, int end, int worker, void *context)
{
    PgsScratch *s = context;
    (void)worker;
    for (int i = begin; i < end; i++) {
        const IslandTask *task = &s->tasks[s->pieces[i].task];
        for (int r = s->pieces[i].first; r < s->pieces[i].last; r++)
            run_mark(s, task->runs[r], task->contact_runs[task->runs[r]].count);
    }
}

static void pieces_cut(PgsScratch *s)
{
    s->piece_count = 0;
    for (int i = 0; i < s->task_count; i++)
        for (int first = 0; first < s->tasks[i].run_count; first += RUN_PIECE) {
            memory_grow(&s->pieces, &s->piece_capacity, s->piece_count + 1, sizeof *s->pieces);
            s->pieces[s->piece_count++] = (ContactPiece){ i, first,
                                                          int_min(first + RUN_PIECE, s->tasks[i].run_count) };
        }
}

static int surface_row(const PgsScratch *s, int contact)
{
    const SolverContact *c = &s->input->contacts[contact];
    return c->has_own_surface || c->surface >= s->input->surface_count ? OWN_SURFACE : c->surface;
}

// The contacts of a run by their marks: into the open manifold, as a new one, or as plain rows.
static void task_add_run(PgsScratch *s, int index, int first)
{
    const IslandTask *task = &s->tasks[index];
    const ContactRun *run = &task->contact_runs[first];
    Manifold *open = NULL;
    double min_softness = -1.0;
    int places[2];
    for (int k = 0; k < 2; k++)
        places[k] = run->groups[k] >= 0 ? task->node_of_body[run->bodies[k]] : fixed_place(s, run->bodies[k]);
    for (int i = first; i < first + run->count; i++) {
        if (s->marks[i] == 0) {
            assert(open && open->point_count < BLOCK_POINTS);
            open->contacts[open->point_count++] = i;
        } else if (s->marks[i] == CONTACT_IS_PLAIN) {
            if (min_softness < 0.0)
                min_softness = solver_run_min_softness(task, first);
            contact_add_rows(s, run, i, places, min_softness);
        } else {
            memory_grow(&s->manifolds, &s->manifold_capacity, s->manifold_count + 1, sizeof *s->manifolds);
            open = &s->manifolds[s->manifold_count++];
            *open = (Manifold){
                .contacts = { i }, .point_count = 1, .body1 = places[0], .body2 = places[1], .task = index,
                .surface = surface_row(s, i)
            };
        }
    }
}

static void task_add_contacts(PgsScratch *s, int index)
{
    assert(index >= 0 && index < s->task_count);
    const IslandTask *task = &s->tasks[index];
    for (int r = 0; r < task->run_count; r++)
        task_add_run(s, index, task->runs[r]);
}

// A joint's row starts from its last impulse as far as its bounds of this step allow: a stop may be another one by now.
static void row_start(PlainRow *row, RowMemory *memory, bool is_kept)
{
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
        PlainRow *row = row_add(s);
        row_fill(s, row, body1, body2, from->j1, from->j2, from->cfm);
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

static void task_add_bodies(PgsScratch *s, const IslandTask *task)
{
    const Topology *t = task->topology;
    for (int g = 0; g < task->group_count; g++) {
        const TreeGroup *group = &t->groups[task->groups[g]];
        for (int i = group->first; i < group->first + group->count; i++)
            task->node_of_body[t->links[i].body] = pgs_body_add(s, t->links[i].body, true);
    }
}

static void task_add_joints(PgsScratch *s, const IslandTask *task)
{
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

// ---- colours and blocks ----

// Gives the pending manifolds the first colour of this round that neither body has, and counts colours. Returns how
// many find none: crowds that start inside each other.
static int colour_round(PgsScratch *s, int32_t *pending, int count, int first_colour)
{
    assert(first_colour >= 0 && count <= s->manifold_count);
    int left = 0;
    uint64_t used = 0;
    memset(s->colours, 0, (size_t)s->body_count * sizeof *s->colours);
    for (int i = 0; i < count; i++) {
        Manifold *m = &s->manifolds[pending[i]];
        uint64_t taken = (s->bodies[m->body1].moves ? s->colours[m->body1] : 0)
                         | (s->bodies[m->body2].moves ? s->colours[m->body2] : 0);
        if (taken == UINT64_MAX) {
            pending[left++] = pending[i];
            continue;
        }
        int colour = __builtin_ctzll(~taken);
        m->colour = first_colour + colour;
        s->colours[m->body1] |= 1ull << colour;
        s->colours[m->body2] |= 1ull << colour;
        used |= 1ull << colour;
    }
    s->colour_count = first_colour + (used ? COLOURS - __builtin_clzll(used) : 0);  // colours are taken from below
    return left;
}

// Manifolds in the order of their colours, and within one those on the world apart, whose blocks have half the work,
// and those with most points first: a block takes as long as its longest lane. No two of a colour share a body, so the
// result is the same in any order.
enum { RANKS_PER_COLOUR = 2 * BLOCK_POINTS };
static int manifold_rank(const Manifold *m)
{
    return (2 * m->colour + (m->body2 == 0)) * BLOCK_POINTS + BLOCK_POINTS - m->point_count;
}

static void manifolds_sort(PgsScratch *s)
{
    int rank_count = s->colour_count * RANKS_PER_COLOUR;
    memory_grow(&s->rank_first, &s->rank_first_capacity, rank_count + 1, sizeof *s->rank_first);
    memory_grow(&s->colour_first, &s->colour_first_capacity, s->colour_count + 1, sizeof *s->colour_first);
    memset(s->rank_first, 0, (size_t)(rank_count + 1) * sizeof *s->rank_first);
    for (int i = 0; i < s->manifold_count; i++)
        s->rank_first[manifold_rank(&s->manifolds[i]) + 1]++;
    for (int k = 0; k < rank_count; k++)
        s->rank_first[k + 1] += s->rank_first[k];
    for (int c = 0; c <= s->colour_count; c++)
        s->colour_first[c] = s->rank_first[c * RANKS_PER_COLOUR];
    for (int i = 0; i < s->manifold_count; i++)
        s->by_colour[s->rank_first[manifold_rank(&s->manifolds[i])]++] = i;
}

static void surface_lane(const PgsScratch *s, PgsSurface *to, int lane, const SolverSurface *surface)
{
    const SolverInput *input = s->input;
    double fps = 1.0 / input->dt;
    to->gamma1[lane] = (float)((surface->slip1 > 0.0 ? surface->slip1 : input->cfm) * fps);
    to->gamma2[lane] = (float)((surface->slip2 > 0.0 ? surface->slip2 : input->cfm) * fps);
    to->rhs1[lane] = (float)surface->motion1;
    to->rhs2[lane] = (float)surface->motion2;
    to->mu1[lane] = (float)double_min(surface->mu, 1e30);
    to->mu2[lane] = (float)double_min(surface->mu2, 1e30);
    to->bounce[lane] = (float)surface->bounce;
    to->bounce_velocity[lane] = solver_surface_bounces(surface) ? (float)surface->bounce_velocity : BLOCK_NO_BOUNCE;
}

// The same in all lanes.
static void surface_fill(const PgsScratch *s, PgsSurface *to, const SolverSurface *surface)
{
    F8 *numbers = &to->gamma1, zero = { 0 };
    static_assert(sizeof *to % sizeof *numbers == 0, "nothing else stands in it");
    surface_lane(s, to, 0, surface);
    for (size_t i = 0; i < sizeof *to / sizeof *numbers; i++)
        numbers[i] = zero + numbers[i][0];
}

// How much there is of what blocks are made of.
typedef struct BlockParts {
    int points, others, surfaces;
} BlockParts;

// A block takes what its longest lane needs and no more: half of a pile's manifolds have fewer than four points.
static BlockSpan span_at(const PgsScratch *s, int first, int end, BlockParts *used)
{
    BlockSpan span = { .first = first, .count = int_min(BLOCK_LANES, end - first), .first_point = used->points };
    bool is_on_world = true;
    span.surface = s->manifolds[s->by_colour[first]].surface;
    for (int i = first; i < first + span.count; i++) {
        const Manifold *m = &s->manifolds[s->by_colour[i]];
        span.point_count = int_max(span.point_count, m->point_count);
        is_on_world &= m->body2 == 0;
        span.surface = m->surface == span.surface ? span.surface : OWN_SURFACE;
    }
    span.first_other = is_on_world ? NO_OTHERS : used->others;
    span.surface = span.surface == OWN_SURFACE ? used->surfaces++ : span.surface;
    used->points += span.point_count;
    used->others += is_on_world ? 0 : span.point_count;
    return span;
}

// Memory for a list of parts behind what is `used` of a block of memory.
static void *part_at(char *memory, size_t *used, int count, size_t size)
{
    void *part = memory + *used;
    *used += memory_product((size_t)count, size);
    return part;
}

// Whose manifolds, `span->count` of them, stand in by_colour from `span->first` on.
static void blocks_span(PgsScratch *s)
{
    BlockParts used = { .surfaces = s->input->surface_count };
    memory_grow(&s->spans, &s->span_capacity, s->block_count + 1, sizeof *s->spans);
    for (int c = 0, block = 0; c < s->colour_count; c++)
        for (int first = s->colour_first[c]; first < s->colour_first[c + 1]; first += BLOCK_LANES)
            s->spans[block++] = span_at(s, first, s->colour_first[c + 1], &used);
    size_t room = (size_t)s->block_count * sizeof *s->blocks + (size_t)used.points * sizeof *s->points
                  + (size_t)used.others * sizeof *s->others + (size_t)used.surfaces * sizeof *s->surfaces;
    char *memory = shared_block_reserve(s->shared, room + 1);
    size_t at = 0;
    s->blocks = part_at(memory, &at, s->block_count, sizeof *s->blocks);
    s->points = part_at(memory, &at, used.points, sizeof *s->points);
    s->others = part_at(memory, &at, used.others, sizeof *s->others);
    s->surfaces = part_at(memory, &at, used.surfaces, sizeof *s->surfaces);
    assert(at == room);
    for (int i = 0; i < s->input->surface_count; i++)
        surface_fill(s, &s->surfaces[i], &s->input->surfaces[i]);
}

static void manifolds_colour(PgsScratch *s)
{
    memory_grow(&s->colours, &s->colour_capacity, s->body_count + 1, sizeof *s->colours);
    memory_grow(&s->by_colour, &s->by_colour_capacity, s->manifold_count + 1, sizeof *s->by_colour);
    for (int i = 0; i < s->manifold_count; i++)
        s->by_colour[i] = i;
    s->colour_count = 0;
    for (int left = s->manifold_count; left > 0;)
        left = colour_round(s, s->by_colour, left, s->colour_count);
    manifolds_sort(s);
    memory_grow(&s->block_first, &s->block_first_capacity, s->colour_count + 1, sizeof *s->block_first);
    s->block_first[0] = 0;
    for (int c = 0; c < s->colour_count; c++)
        s->block_first[c + 1] = s->block_first[c]
                                + (s->colour_first[c + 1] - s->colour_first[c] + BLOCK_LANES - 1) / BLOCK_LANES;
    s->block_count = s->block_first[s->colour_count];
    blocks_span(s);
}

static void lane_bodies(const PgsScratch *s, PgsBlock *block, int lane, const Manifold *m)
{
    assert(m->body1 < s->body_count && m->body2 < s->body_count);
    const PgsBody *a = &s->bodies[m->body1], *b = &s->bodies[m->body2];
    block->body1[lane] = m->body1;
    block->body2[lane] = m->body2;
    block->moves1 |= (uint8_t)(a->moves << lane);
    block->moves2 |= (uint8_t)(b->moves << lane);
    block->inverse_mass1[lane] = a->inverse_mass;
    block->inverse_mass2[lane] = b->inverse_mass;
    for (int i = 0; i < 6; i++) {
        block->inertia1[i][lane] = a->inertia[i];
        block->inertia2[i][lane] = b->inertia[i];
    }
}

static void lane_axes(const PgsScratch *s, PgsBlock *block, int lane, const SolverContact *contact,
                      const SolverSurface *surface)
{
    const SolverInput *input = s->input;
    double axes[3][3], fps = 1.0 / input->dt;
    solver_contact_axes(contact, surface, axes);
    for (int i = 0; i < 3; i++) {
        block->normal[i][lane] = (float)axes[0][i];
        block->tangent1[i][lane] = (float)axes[1][i];
        block->tangent2[i][lane] = (float)axes[2][i];
    }
    block->gamma[lane] = (float)((surface->flags & SOLVER_CONTACT_SOFT_CFM ? surface->soft_cfm : input->cfm) * fps);
    block->bounces |= solver_surface_bounces(surface);
}

// `bodies`: the first is there, the second NULL where it is the world.
static void lane_point(const PgsScratch *s, PgsBlock *block, int lane, int k, int index,
                       const SolverBody *const bodies[2], const SolverSurface *surface)
{
    const SolverContact *contact = &s->input->contacts[index];
    const ContactMemory *memory = &s->memory[index];
    PgsPoint *p = &block->points[k];
    double arm[3];
    solver_arm(bodies[0], contact->point, arm);
    for (int i = 0; i < 3; i++)
        p->side.r[i][lane] = (float)arm[i];
    if (bodies[1] && block->others) {
        solver_arm(bodies[1], contact->point, arm);
        for (int i = 0; i < 3; i++)
            block->others[k].r[i][lane] = (float)arm[i];
    }
    p->rhs[lane] = (float)solver_contact_push(s->input, surface, contact);
    p->mass[lane] = 1.0f;
    p->impulse[lane] = (float)memory->impulse[0];
    p->impulse1[lane] = (float)memory->impulse[1];
    p->impulse2[lane] = (float)memory->impulse[2];
}

static float gyration_radius2(float inverse_mass, const F8 *inertia, int lane)
{
    float sum = inertia[0][lane] + inertia[3][lane] + inertia[5][lane];
    return sum > 0.0f ? 3.0f * inverse_mass / sum : INFINITY;
}

static void lane_soften(PgsScratch *s, PgsBlock *block, int lane, const Manifold *m, const SolverSurface *surface)
{
    float max = 0.0f;
    for (int k = 0; k < m->point_count; k++)
        max = block->points[k].impulse[lane] > max ? block->points[k].impulse[lane] : max;
    float radius2 = fminf(gyration_radius2(block->inverse_mass1[lane], block->inertia1, lane),
                          gyration_radius2(block->inverse_mass2[lane], block->inertia2, lane));
    PairTouch touch = { .point_count = m->point_count,
                        .max_impulse = (double)max,
                        .gyration_radius2 = (double)radius2,
                        .inverse_mass = (double)(block->inverse_mass1[lane] + block->inverse_mass2[lane]) };
    if (block->gamma[lane] < (float)HARD_SHARE * (block->inverse_mass1[lane] + block->inverse_mass2[lane]))
        atomic_store_explicit(&s->islands[m->task].has_hard, true, memory_order_relaxed);
    float gamma = (float)solver_pair_min_softness(s->input, surface, &touch);
    block->gamma[lane] = fmaxf(block->gamma[lane], gamma);
}

// What is written lane by lane; the kernels write the rest. By whole registers: a call would take longer.
static void block_clear(PgsBlock *block, int point_count)
{
    const F8 zero = { 0 };
    for (int lane = 0; lane < BLOCK_LANES; lane++)
        block->body1[lane] = block->body2[lane] = 0;
    block->moves1 = block->moves2 = 0;
    block->point_count = (int16_t)point_count;
    block->bounces = false;
    for (int i = 0; i < 3; i++)
        block->normal[i] = block->tangent1[i] = block->tangent2[i] = zero;
    for (int i = 0; i < 6; i++)
        block->inertia1[i] = block->inertia2[i] = zero;
    block->inverse_mass1 = block->inverse_mass2 = block->gamma = zero;
    for (int k = 0; k < point_count; k++) {
        PgsPoint *p = &block->points[k];
        for (int i = 0; i < 3; i++)
            p->side.r[i] = zero;
        for (int i = 0; block->others && i < 3; i++)
            block->others[k].r[i] = zero;
        p->rhs = p->mass = p->impulse = p->impulse1 = p->impulse2 = zero;
    }
}

static void build_blocks(int begin, int end, int worker, void *context)
{
    PgsScratch *s = context;
    (void)worker;
    for (int i = begin; i < end; i++) {
        PgsBlock *block = &s->blocks[i];
        const int32_t *manifolds = s->by_colour + s->spans[i].first;
        const BlockSpan *span = &s->spans[i];
        PgsSurface *own = span->surface >= s->input->surface_count ? &s->surfaces[span->surface] : NULL;
        block->points = &s->points[span->first_point];
        block->others = span->first_other == NO_OTHERS ? NULL : &s->others[span->first_other];
        block->surface = &s->surfaces[span->surface];
        if (own)
            memset(own, 0, sizeof *own);
        block_clear(block, span->point_count);
        for (int lane = 0; lane < s->spans[i].count; lane++) {
            const Manifold *m = &s->manifolds[manifolds[lane]];
            lane_bodies(s, block, lane, m);
            const SolverSurface *surface = solver_surface(s->input, m->contacts[0]);
            lane_axes(s, block, lane, &s->input->contacts[m->contacts[0]], surface);
            if (own)
                surface_lane(s, own, lane, surface);
            const int32_t *touching = s->input->contacts[m->contacts[0]].body;
            int is_reversed = touching[0] < 0;
            const SolverBody *bodies[2] = { &s->input->bodies[touching[is_reversed]],
                                            !is_reversed && touching[1] >= 0 ? &s->input->bodies[touching[1]] : NULL };
            for (int k = 0; k < m->point_count; k++)
                lane_point(s, block, lane, k, m->contacts[k], bodies, solver_surface(s->input, m->contacts[k]));
            lane_soften(s, block, lane, m, surface);
        }
        s->kernels->prepare(block, 1, s->checked);
    }
}

// ---- plain rows ----

static void row_respond(const PgsScratch *s, int body, const float *j, float *m)
{
    const PgsBody *b = &s->bodies[body];
    if (!b->moves)
        return;
    const float *q = b->inertia;
    for (int i = 0; i < 3; i++)
        m[i] = b->inverse_mass * j[i];
    m[3] = q[0] * j[3] + q[1] * j[4] + q[2] * j[5];
    m[4] = q[1] * j[3] + q[3] * j[4] + q[4] * j[5];
    m[5] = q[2] * j[3] + q[4] * j[4] + q[5] * j[5];
}

static void row_push(PgsScratch *s, const PlainRow *row, float change)
{
    float *a = s->velocities[row->body1].v, *b = s->velocities[row->body2].v;
    for (int i = 0; i < 6; i++)
        a[i] += row->m1[i] * change;
    for (int i = 0; i < 6; i++)
        b[i] += row->m2[i] * change;
}

static void rows_prepare(PgsScratch *s)
{
    for (int i = 0; i < s->row_count; i++) {
        PlainRow *row = &s->rows[i];
        row_respond(s, row->body1, row->j1, row->m1);
        row_respond(s, row->body2, row->j2, row->m2);
        float sum = row->gamma;
        for (int k = 0; k < 6; k++)
            sum += row->j1[k] * row->m1[k] + row->j2[k] * row->m2[k];
        row->mass = sum > 1e-30f ? 1.0f / sum : 0.0f;
        row_push(s, row, row->impulse);
    }
}

static void rows_iterate(PgsScratch *s)
{
    for (int i = 0; i < s->row_count; i++) {
        PlainRow *row = &s->rows[i];
        const float *a = s->velocities[row->body1].v, *b = s->velocities[row->body2].v;
        float speed = 0.0f, lo = row->lo, hi = row->hi;
        for (int k = 0; k < 6; k++)
            speed += row->j1[k] * a[k] + row->j2[k] * b[k];
        if (row->scaled_by >= 0) {
            float normal = s->rows[row->scaled_by].impulse;
            lo = normal > 0.0f ? lo * normal : 0.0f;
            hi = normal > 0.0f ? hi * normal : 0.0f;
        }
        float now = row->impulse + (row->rhs - speed - row->gamma * row->impulse) * row->mass;
        now = now < lo ? lo : now > hi ? hi : now;
        row_push(s, row, now - row->impulse);
        row->impulse = now;
    }
}

// ---- the solve ----

typedef struct BlockPhase {
    PgsScratch *s;
    int first;
    void (*kernel)(PgsBlock *blocks, int count, PgsVelocity *velocities);
} BlockPhase;

static void phase_range(int begin, int end, int worker, void *context)
{
    const BlockPhase *phase = context;
    PgsScratch *s = phase->s;
    (void)worker;
    if (!s->has_done) {
        phase->kernel(s->blocks + phase->first + begin, end - begin, s->velocities);
        return;
    }
    for (int i = phase->first + begin; i < phase->first + end; i++)
        if (!s->is_done[i])
            phase->kernel(&s->blocks[i], 1, s->velocities);
}

static void each_colour(PgsScratch *s, Pool *pool, void (*kernel)(PgsBlock *, int, PgsVelocity *))
{
    for (int c = 0; c < s->colour_count; c++) {
        int count = s->block_first[c + 1] - s->block_first[c];
        if (count == 0)
            continue;
        BlockPhase phase = { s, s->block_first[c], kernel };
        if (count <= BLOCK_GRAIN)
            phase_range(0, count, 0, &phase);
        else
            pool_for(pool, count, BLOCK_GRAIN, phase_range, &phase);
    }
}

static void write_bodies(int begin, int end, int worker, void *context)
{
    PgsScratch *s = context;
    (void)worker;
    for (int i = begin; i < end; i++)
        if (s->bodies[i].body >= 0 && s->bodies[i].moves)
            for (int k = 0; k < 6; k++)
                s->input->bodies[s->bodies[i].body].velocity[k] = (double)s->velocities[i].v[k];
}

static void write_blocks(int begin, int end, int worker, void *context)
{
    PgsScratch *s = context;
    (void)worker;
    for (int i = begin; i < end; i++) {
        const PgsBlock *block = &s->blocks[i];
        for (int lane = 0; lane < s->spans[i].count; lane++) {
            const Manifold *m = &s->manifolds[s->by_colour[s->spans[i].first + lane]];
            for (int k = 0; k < m->point_count; k++) {
                const PgsPoint *p = &block->points[k];
                double *impulse = s->memory[m->contacts[k]].impulse;
                impulse[0] = (double)p->impulse[lane];
                impulse[1] = (double)p->impulse1[lane];
                impulse[2] = (double)p->impulse2[lane];
            }
        }
    }
}

static void write_rows(PgsScratch *s)
{
    for (int i = 0; i < s->row_count; i++) {
        const PlainRow *row = &s->rows[i];
        if (row->force)
            *row->force = (double)row->impulse / s->input->dt;
        if (row->memory)
            *row->memory = (double)row->impulse;
        if (row->joint_memory)
            row->joint_memory->impulse = row->impulse;
    }
}

// Places for all bodies that move, and for as many kinematic ones as there can be: the assembly adds these while others
// work on the first.
static void bodies_begin(PgsScratch *s)
{
    int known = s->kinematic_capacity, count = s->input->body_count;
    memory_grow(&s->bodies, &s->body_capacity, count + 1, sizeof *s->bodies);
    grow_aligned(&s->velocities, &s->velocity_capacity, count + 1, sizeof *s->velocities);
    grow_aligned(&s->checked, &s->checked_capacity, count + 1, sizeof *s->checked);
    memory_grow(&s->kinematic_place, &s->kinematic_capacity, count + 1, sizeof *s->kinematic_place);
    if (s->kinematic_capacity > known)
        memset(s->kinematic_place + known, 0, (size_t)(s->kinematic_capacity - known) * sizeof *s->kinematic_place);
    s->body_count = 0;
    pgs_body_add(s, -1, false);
    memory_grow(&s->islands, &s->island_capacity, s->task_count, sizeof *s->islands);
    for (int i = 0; i < s->task_count; i++) {
        int first = s->body_count;
        task_add_bodies(s, &s->tasks[i]);
        s->islands[i] = (PgsIsland){ .first_body = first, .body_count = s->body_count - first };
    }
    s->moving_count = s->body_count;
}

void solver_pgs_begin(PgsScratch *s, const IslandTask *tasks, int task_count, const PgsOptions *options)
{
    assert(task_count > 0 && tasks);
    s->input = tasks[0].input;
    s->memory = tasks[0].contact_memory;
    s->rolling = tasks[0].rolling_memory;
    s->options = *options;
    s->tasks = tasks;
    s->task_count = task_count;
    s->kernels = options->wide ? &pgs_block_avx2 : &pgs_block_portable;
    bodies_begin(s);
    memory_grow(&s->marks, &s->mark_capacity, s->input->contact_count + 1, 1);
    pieces_cut(s);
    pool_for(options->pool, s->piece_count, 1, mark_pieces, s);
}

int solver_pgs_piece_count(const PgsScratch *s) { return (s->moving_count + BODY_GRAIN - 1) / BODY_GRAIN; }

void solver_pgs_prepare(PgsScratch *s, int piece)
{
    assert(piece >= 0 && piece < solver_pgs_piece_count(s));
    prepare_range(s, piece * BODY_GRAIN, int_min((piece + 1) * BODY_GRAIN, s->moving_count));
}

void solver_pgs_assemble(PgsScratch *s)
{
    s->manifold_count = s->row_count = 0;
    for (int i = 0; i < s->task_count; i++) {
        task_add_joints(s, &s->tasks[i]);
        task_add_contacts(s, i);
    }
    for (int i = s->moving_count; i < s->body_count; i++)
        s->kinematic_place[s->bodies[i].body] = 0;
    prepare_range(s, s->moving_count, s->body_count);
    manifolds_colour(s);
}

// Softness, which makes a stack's slow modes die down, is the less in a step the longer that is; iterations make up for
// it. So a second of simulation takes as many with long steps as with those of 8 ms.
static int iteration_count(const PgsScratch *s)
{
    if (s->options.iterations > 0)
        return s->options.iterations;
    int min = s->row_count > 0 ? ROW_ITERATIONS : s->manifold_count < FEW_MANIFOLDS ? FEW_ITERATIONS : MIN_ITERATIONS;
    double by_step = fmin(ceil(MIN_ITERATIONS * s->input->dt / ITERATED_STEP), MAX_ITERATIONS);
    return int_max(min, (int)by_step);
}

static void check_begin(PgsScratch *s)
{
    for (int i = 0; i < s->body_count; i++) {
        const PgsBody *body = &s->bodies[i];
        const float *m = body->inertia;
        s->checked[i] = s->velocities[i];
        s->checked[i].v[VELOCITY_RIM] = body->moves
                                            ? RIM_RADII * sqrtf(3.0f * body->inverse_mass / (m[0] + m[3] + m[5]))
                                            : 0.0f;
    }
}

// Looks which islands have come to an end; true: all have. With plain rows, which converge slower than it shows, none
// ever has.
static bool islands_converge(PgsScratch *s, float limit)
{
    int left = 0, done = 0;
    for (int i = 0; i < s->task_count; i++) {
        PgsIsland *island = &s->islands[i];
        int first = island->first_body;
        if (island->has_converged)
            continue;
        float max = island->body_count < PILE_BODIES ? FEW_CONVERGED * limit : limit;
        island->has_converged = !island->has_hard
                                && s->kernels->change(s->velocities + first, s->checked + first, island->body_count)
                                       <= max;
        left += !island->has_converged;
        done += island->has_converged;
    }
    if (left == 0 || done == 0)
        return left == 0;
    s->has_done = true;
    memset(s->is_done, 1, (size_t)s->block_count);
    for (int i = 0; i < s->block_count; i++) {
        const int32_t *manifolds = s->by_colour + s->spans[i].first;
        for (int lane = 0; lane < s->spans[i].count && s->is_done[i]; lane++)
            s->is_done[i] = s->islands[s->manifolds[manifolds[lane]].task].has_converged;
    }
    return false;
}

// Each island stops by itself, at a sign that depends on no thread.
static void iterate_all(PgsScratch *s)
{
    const double *g = s->input->gravity;
    float limit = CONVERGED * (float)(sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]) * s->input->dt) * CHECK_EVERY;
    int iterations = iteration_count(s);
    memory_grow(&s->is_done, &s->done_capacity, s->block_count + 1, 1);
    s->has_done = false;
    for (int i = 1; i <= iterations; i++) {
        rows_iterate(s);
        each_colour(s, s->options.pool, s->kernels->iterate);
        bool is_look = i >= CHECK_FIRST && (i - CHECK_FIRST) % CHECK_EVERY == 0;
        if (i == CHECK_FIRST)
            check_begin(s);
        else if (is_look && s->row_count == 0 && islands_converge(s, limit))
            break;
    }
    s->has_done = false;
}

void solver_pgs_end(PgsScratch *s)
{
    Pool *pool = s->options.pool;
    pool_for(pool, s->block_count, BLOCK_GRAIN, build_blocks, s);
    rows_prepare(s);
    each_colour(s, pool, s->kernels->warm_start);
    iterate_all(s);
    pool_for(pool, s->body_count, BODY_GRAIN, write_bodies, s);
    pool_for(pool, s->block_count, BLOCK_GRAIN, write_blocks, s);
    write_rows(s);
}
