// Islands of many loose bodies: warm-started sequential impulses. All such islands of a step go in together. Contacts
// of one pair of bodies form a manifold of up to four points; manifolds are coloured so that no body appears twice in a
// colour, and eight manifolds of a colour make a block whose lanes are worked on at once. Colours follow each other,
// blocks of a colour may run on any thread: the result depends on neither.
//
// What does not fit that form (joints of an island too big for the direct method, rolling friction, friction with a
// fixed force) is kept as plain rows and iterated one after the other.
#include "physics/solver/pgs_internal.h"

#include "base/memory.h"
#include "physics/solver/tuning.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define BODY_GRAIN 64
#define CHECK_GRAIN 128  // bodies whose velocities are put aside at a time

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
    free(s->block_order);
    free(s->block_shares);
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
    int grown = needed + needed / 64 + 8;  // worlds seldom get more bodies
    free(*data);
    *data = memory_alloc_lines(memory_product((size_t)grown, item_size));
    *capacity = grown;
}

// ---- bodies ----

static void body_prepare(PgsScratch *s, int place)
{
    const SolverInput *input = s->input;
    PgsBody *loose = &s->bodies[place];
    PgsVelocity *velocity = &s->velocities[place], *before = &s->checked[place];
    const SolverBody *body = &input->bodies[loose->body];
    for (int i = 0; i < 6; i++)
        before->v[i] = (float)body->velocity[i];
    if (pgs_moves(s, place)) {
        solver_body_predict(input, loose->body, loose->inertia, velocity->v);
        loose->inverse_mass = (float)(1.0 / input->masses[loose->body].mass);
        return;
    }
    bool asleep = (body->flags & SOLVER_BODY_ASLEEP) != 0;
    for (int i = 0; i < 6; i++)
        velocity->v[i] = asleep ? 0.0f : (float)body->velocity[i];
}

static void prepare_range(PgsScratch *s, int begin, int end)
{
    assert_debug(begin >= 0 && begin <= end && end <= s->body_count);
    for (int i = begin; i < end; i++) {
        memset(&s->velocities[i], 0, sizeof s->velocities[i]);
        memset(&s->checked[i], 0, sizeof s->checked[i]);
        if (s->bodies[i].body >= 0)
            body_prepare(s, i);
    }
}

int pgs_body_add(PgsScratch *s, int body)
{
    assert(s->body_count < s->body_capacity);
    s->bodies[s->body_count] = (PgsBody){ .body = body };
    return s->body_count++;
}

static void kinematic_reserve(PgsScratch *s)
{
    int known = s->kinematic_capacity;
    memory_grow(&s->kinematic_place, &s->kinematic_capacity, s->input->body_count, sizeof *s->kinematic_place);
    if (s->kinematic_capacity > known)
        memset(s->kinematic_place + known, 0, (size_t)(s->kinematic_capacity - known) * sizeof *s->kinematic_place);
}

// Where the velocity of a body stands that nothing here moves.
int pgs_fixed_place(PgsScratch *s, int body)
{
    assert(body < s->input->body_count);
    if (body < 0 || !(s->input->bodies[body].flags & SOLVER_BODY_KINEMATIC))
        return 0;
    kinematic_reserve(s);
    if (s->kinematic_place[body] == 0)
        s->kinematic_place[body] = pgs_body_add(s, body);
    return s->kinematic_place[body];
}

int pgs_place(PgsScratch *s, const IslandTask *task, int body)
{
    assert_debug(body < s->input->body_count);
    return body < 0 || solver_body_is_fixed(&s->input->bodies[body]) ? pgs_fixed_place(s, body)
                                                                     : task->node_of_body[body];
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
    assert_debug(begin >= 0 && end <= ((PgsScratch *)context)->body_count);
    PgsScratch *s = context;
    (void)worker;
    for (int i = begin; i < end; i++)
        if (pgs_moves(s, i))
            for (int k = 0; k < 6; k++)
                s->input->bodies[s->bodies[i].body].velocity[k] = (double)s->velocities[i].v[k];
}

// Places for all bodies that move, and for as many kinematic ones as there can be: the assembly adds these while others
// work on the first.
static void bodies_begin(PgsScratch *s)
{
    int count = s->input->body_count;
    memory_grow(&s->bodies, &s->body_capacity, count + 1, sizeof *s->bodies);
    grow_aligned(&s->velocities, &s->velocity_capacity, count + 1, sizeof *s->velocities);
    grow_aligned(&s->checked, &s->checked_capacity, count + 1, sizeof *s->checked);
    s->body_count = 0;
    pgs_body_add(s, -1);
    memory_grow(&s->islands, &s->island_capacity, s->task_count, sizeof *s->islands);
    for (int i = 0; i < s->task_count; i++) {
        int first = s->body_count;
        pgs_add_bodies(s, &s->tasks[i]);
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
    pgs_pieces_cut(s);
}

void solver_pgs_mark(PgsScratch *s) { pool_for(s->options.pool, s->piece_count, 1, pgs_mark_pieces, s); }

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
        pgs_add_joints(s, &s->tasks[i]);
        pgs_add_contacts(s, i);
    }
    for (int i = s->moving_count; i < s->body_count; i++)
        s->kinematic_place[s->bodies[i].body] = 0;
    prepare_range(s, s->moving_count, s->body_count);
    pgs_colour(s);
}

// Softness, which makes a stack's slow modes die down, is the less in a step the longer that is; iterations make up for
// it. So a second of simulation takes as many with long steps as with those of 8 ms.
static int iteration_count(const PgsScratch *s)
{
    assert_debug(s->input->dt > 0.0);
    if (s->options.iterations > 0)
        return s->options.iterations;
    int min = s->row_count > 0 ? ROW_ITERATIONS : s->manifold_count < FEW_MANIFOLDS ? FEW_ITERATIONS : MIN_ITERATIONS;
    double by_step = fmin(ceil(MIN_ITERATIONS * s->input->dt / ITERATED_STEP), MAX_ITERATIONS);
    return int_max(min, (int)by_step);
}

static void check_range(int begin, int end, int worker, void *context)
{
    assert_debug(begin >= 0 && end <= ((PgsScratch *)context)->body_count);
    PgsScratch *s = context;
    (void)worker;
    for (int i = begin; i < end; i++) {
        const PgsBody *body = &s->bodies[i];
        const float *m = body->inertia;
        s->checked[i] = s->velocities[i];
        s->checked[i].v[VELOCITY_RIM] = pgs_moves(s, i)
                                            ? RIM_RADII * sqrtf(3.0f * body->inverse_mass / (m[0] + m[3] + m[5]))
                                            : 0.0f;
    }
}

// Looks which islands have come to an end; true: all have. With plain rows, which converge slower than it shows, none
// ever has.
static bool islands_converge(PgsScratch *s, float limit)
{
    assert_debug(limit >= 0.0f && s->task_count > 0);
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
        pgs_rows_iterate(s);
        each_colour(s, s->options.pool, s->kernels->iterate);
        bool is_look = i >= CHECK_FIRST && (i - CHECK_FIRST) % CHECK_EVERY == 0;
        if (i == CHECK_FIRST)
            pool_for(s->options.pool, s->body_count, CHECK_GRAIN, check_range, s);
        else if (is_look && s->row_count == 0 && islands_converge(s, limit))
            break;
    }
    s->has_done = false;
}

void solver_pgs_end(PgsScratch *s)
{
    assert_debug(s->block_count >= 0 && s->input && s->tasks);
    Pool *pool = s->options.pool;
    pool_for(pool, s->block_count, BLOCK_GRAIN, pgs_build_blocks, s);
    pgs_rows_prepare(s);
    each_colour(s, pool, s->kernels->warm_start);
    iterate_all(s);
    pool_for(pool, s->body_count, BODY_GRAIN, write_bodies, s);
    pool_for(pool, s->block_count, BLOCK_GRAIN, pgs_write_blocks, s);
    pgs_rows_write(s);
}
