// Contacts: the rows that each asks for, and which point of the last step it was.
#include "physics/solver/solver_internal.h"
#include "physics/solver/tuning.h"

#include "base/memory.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PIECE 256  // contacts that a worker takes at a time

static void cross(const double *a, const double *b, double *out)
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static inline void contact_jacobian(const double arms[2][3], const int32_t bodies[2], const double *axis, bool rolling,
                                    ContactRow *row)
{
    double *j1 = row->j1, *j2 = row->j2, moment[3];
    if (rolling) {
        for (int i = 0; i < 3; i++) {
            j1[i] = j2[i] = 0.0;
            j1[3 + i] = axis[i];
            j2[3 + i] = bodies[1] < 0 ? 0.0 : -axis[i];
        }
        return;
    }
    cross(arms[0], axis, moment);
    for (int i = 0; i < 3; i++) {
        j1[i] = axis[i];
        j1[3 + i] = moment[i];
    }
    if (bodies[1] < 0) {
        memset(j2, 0, sizeof row->j2);
        return;
    }
    cross(arms[1], axis, moment);
    for (int i = 0; i < 3; i++) {
        j2[i] = -axis[i];
        j2[3 + i] = -moment[i];
    }
}

static double normal_rhs(const SolverInput *input, const int32_t bodies[2], const SolverSurface *surface,
                         const SolverContact *contact, const double arms[2][3], const double normal[3])
{
    double push = solver_contact_push(input, surface, contact), speed = 0.0;
    if (!solver_surface_bounces(surface))
        return push;
    for (int k = 0; k < 2; k++)
        if (bodies[k] >= 0)
            speed = solver_point_speed(&input->bodies[bodies[k]], arms[k], normal, speed, k ? -1.0 : 1.0);
    return solver_contact_bounce(surface, push, contact->target_normal_speed, speed);
}

// The normal first; then friction and rolling friction, where there is any, in the order of solver_contact_forces().
int solver_contact_rows(const SolverInput *input, const int32_t bodies[2], int index,
                        ContactRow rows[SOLVER_CONTACT_ROWS])
{
    assert(index >= 0 && index < input->contact_count);
    const SolverContact *contact = &input->contacts[index];
    const SolverSurface *surface = solver_surface(input, index);
    double axes[3][3], arms[2][3];
    solver_contact_axes(contact, surface, axes);
    for (int k = 0; k < 2; k++)
        if (bodies[k] >= 0)
            solver_arm(&input->bodies[bodies[k]], contact->point, arms[k]);
    ContactRow *normal = &rows[0];
    int count = 1;
    contact_jacobian(arms, bodies, axes[0], false, normal);
    normal->rhs = normal_rhs(input, bodies, surface, contact, arms, axes[0]);
    normal->cfm = surface->flags & SOLVER_CONTACT_SOFT_CFM ? surface->soft_cfm : input->cfm;
    normal->lo = 0.0;
    normal->hi = SOLVER_INFINITY;
    normal->slot = 0;
    normal->scaled = false;
    bool rolling = (surface->flags & SOLVER_CONTACT_ROLLING) != 0;
    const double limits[5] = { surface->mu, surface->mu2, surface->rho, surface->rho2, surface->rhoN };
    const double motions[2] = { surface->motion1, surface->motion2 }, slips[2] = { surface->slip1, surface->slip2 };
    static const uint32_t scaled[3] = { SOLVER_CONTACT_APPROX1_1, SOLVER_CONTACT_APPROX1_2, SOLVER_CONTACT_APPROX1_N };
    for (int i = 0; i < (rolling ? 5 : 2); i++) {
        if (!(limits[i] > 0.0))
            continue;
        ContactRow *row = &rows[count++];
        int axis = i < 2 ? i : i - 2;
        contact_jacobian(arms, bodies, axes[(axis + 1) % 3], i >= 2, row);
        row->rhs = i < 2 ? motions[i] : 0.0;
        row->cfm = i < 2 && slips[i] > 0.0 ? slips[i] : input->cfm;
        row->lo = -limits[i];
        row->hi = limits[i];
        row->slot = 1 + i;
        row->scaled = (surface->flags & scaled[axis]) != 0;
    }
    return count;
}

// ---- least softness ----

// Impulses that start from those of the last step sum up what the iterations left over, and so does the push out of an
// overlap. Two sums in a row make the slow modes of a stack swing up: a mode dies down only where a step's iterations
// take away more than erp / 2 of it. Softness adds its own share to that for every mode, so no pair is harder than
// this; the price is that it lies a little deeper.
double solver_pair_min_softness(const SolverInput *input, const SolverSurface *surface, const PairTouch *touch)
{
    assert(touch->point_count > 0 && touch->point_count <= FACE_POINTS);
    double gamma = (touch->is_swept ? MIN_SWEPT_SOFTNESS : MIN_SOFTNESS) * touch->point_count / FACE_POINTS
                   * touch->inverse_mass;
    double push = solver_surface_erp(input, surface) / input->dt * MAX_DEEPER_SHARE * sqrt(touch->gyration_radius2);
    return gamma * touch->max_impulse > push ? push / touch->max_impulse : gamma;
}

static void touch_add_body(PairTouch *touch, const SolverInput *input, int index)
{
    if (index < 0 || solver_body_is_fixed(&input->bodies[index]))
        return;
    const SolverMass *body = &input->masses[index];
    const double *m = body->inertia.m;
    double c0 = m[4] * m[8] - m[5] * m[5], c1 = m[0] * m[8] - m[2] * m[2], c2 = m[0] * m[4] - m[1] * m[1];
    double determinant = m[0] * c0 + m[1] * (m[2] * m[5] - m[1] * m[8]) + m[2] * (m[1] * m[5] - m[2] * m[4]);
    touch->inverse_mass += 1.0 / body->mass;
    touch->gyration_radius2 = fmin(touch->gyration_radius2, 3.0 * determinant / (body->mass * (c0 + c1 + c2)));
}

double solver_run_min_softness(const IslandTask *task, const ContactRun *run)
{
    int first = run->first;
    assert(first >= 0 && first + run->count <= task->input->contact_count);
    PairTouch touch = { .gyration_radius2 = INFINITY,
                        .is_swept = task->swept,
                        .point_count = int_min(run->count, FACE_POINTS) };
    for (int i = first; i < first + run->count; i++)
        touch.max_impulse = double_max(touch.max_impulse, task->contact_memory[i].impulse[0]);
    touch_add_body(&touch, task->input, run->bodies[0]);
    touch_add_body(&touch, task->input, run->bodies[1]);
    return solver_pair_min_softness(task->input, solver_surface(task->input, first), &touch);
}

// ---- which point of the last step ----

static uint32_t key_hash(uint64_t key)
{
    key *= 0x9E3779B97F4A7C15u;
    return (uint32_t)(key >> 32);
}

static int table_size(int count)
{
    int size = 16;
    while (size < 2 * count)
        size *= 2;
    return size;
}

static int run_end(const ContactMemory *memory, int first, int count)
{
    assert_debug(first >= 0 && first < count);
    int end = first + 1;
    while (end < count && memory[end].pair == memory[first].pair)
        end++;
    return end;
}

// ---- order ----

static void order_begin(PairOrder *order)
{
    order->stretch_count = 1;
    order->first[0] = 0;
}

static void order_break(PairOrder *order, int at)
{
    assert_debug(at > 0 && order->stretch_count >= 0);
    if (order->stretch_count < STRETCH_MAX)
        order->first[order->stretch_count] = at;
    order->stretch_count = int_min(order->stretch_count + 1, STRETCH_MAX + 1);
}

static void order_end(PairOrder *order, int count) { order->first[int_min(order->stretch_count, STRETCH_MAX)] = count; }

static void order_of_memory(PairOrder *order, const ContactMemory *memory, int count)
{
    order_begin(order);
    for (int i = 1; i < count; i++)
        if (memory[i].pair < memory[i - 1].pair)
            order_break(order, i);
    order_end(order, count);
}

static void contact_table_build(Solver *solver)
{
    const ContactMemory *last = solver->contact_memory_last;
    int size = table_size(solver->contact_last_count);
    memory_grow(&solver->contact_table, &solver->contact_table_capacity, size, sizeof *solver->contact_table);
    memset(solver->contact_table, 0xff, (size_t)size * sizeof *solver->contact_table);
    for (int i = 0; i < solver->contact_last_count; i = run_end(last, i, solver->contact_last_count)) {
        uint32_t slot = key_hash(last[i].pair) & (uint32_t)(size - 1);
        while (solver->contact_table[slot] >= 0)
            slot = (slot + 1) & (uint32_t)(size - 1);
        solver->contact_table[slot] = i;
    }
    solver->contact_table_size = size;
}

// ---- the points of a pair in the last step ----

static int find_by_table(const Solver *solver, uint64_t pair)
{
    uint32_t mask = (uint32_t)solver->contact_table_size - 1;
    for (uint32_t slot = key_hash(pair) & mask;; slot = (slot + 1) & mask) {
        int at = solver->contact_table[slot];
        if (at < 0 || solver->contact_memory_last[at].pair == pair)
            return at;
    }
}

// The first place in a rising stretch whose pair is not lower. Pairs mostly keep their order: from the guess on it
// looks farther and farther to one side, then halves what it passed.
static int find_in_stretch(const ContactMemory *last, int first, int end, uint64_t pair, int guess)
{
    assert(first >= 0 && first <= end);
    int low = first, high = end;
    if (guess >= first && guess < end) {
        if (last[guess].pair < pair) {
            low = guess + 1;
            for (int step = 1; guess + step < end; step *= 2) {
                if (last[guess + step].pair >= pair) {
                    high = guess + step;
                    break;
                }
                low = guess + step + 1;
            }
        } else {
            high = guess;
            for (int step = 1; guess - step >= first; step *= 2) {
                if (last[guess - step].pair < pair) {
                    low = guess - step + 1;
                    break;
                }
                high = guess - step;
            }
        }
    }
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (last[middle].pair < pair)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// First of last step's points of the pair, -1: none. `guess` is where it probably is, and becomes where the next one
// is.
static int contact_find_run(const Solver *solver, uint64_t pair, int *guess)
{
    assert(*guess >= 0);
    const ContactMemory *last = solver->contact_memory_last;
    const PairOrder *order = &solver->contact_order_last;
    int count = solver->contact_last_count, found = -1;
    if (*guess < count && last[*guess].pair == pair && (*guess == 0 || last[*guess - 1].pair != pair))
        found = *guess;
    else if (count > 0 && order->stretch_count > STRETCH_MAX)
        found = find_by_table(solver, pair);
    for (int i = 0; found < 0 && count > 0 && order->stretch_count <= STRETCH_MAX && i < order->stretch_count; i++) {
        int at = find_in_stretch(last, order->first[i], order->first[i + 1], pair, *guess);
        if (at < order->first[i + 1] && last[at].pair == pair)
            found = at;
        else if (*guess >= order->first[i] && *guess <= order->first[i + 1])
            *guess = at;
    }
    if (found >= 0)
        *guess = run_end(last, found, count);
    return found;
}

static void contact_place(const SolverInput *input, const SolverContact *contact, int body, float at[3])
{
    assert_debug(body >= 0 && body < input->body_count);
    assert_debug(body >= 0 && body < input->body_count);
    const double *centre = input->bodies[body].position, *point = &contact->point.x;
    for (int i = 0; i < 3; i++)
        at[i] = (float)(point[i] - centre[i]);
}

static float distance2(const float a[3], const float b[3])
{
    float x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return x * x + y * y + z * z;
}

// The nearest point of last step's run that no other took. One that hardly moved stands where it stood in the run:
// `guess`.
static int contact_match(const ContactMemory *last, int first, int end, uint64_t *taken, const float at[3], int guess)
{
    assert_debug(first >= 0 && first <= end);
    if (guess < end && guess - first < 64 && !(*taken >> (guess - first) & 1)
        && distance2(last[guess].at, at) < SAME_POINT_DISTANCE * SAME_POINT_DISTANCE) {
        *taken |= 1ull << (guess - first);
        return guess;
    }
    float best = MATCH_DISTANCE * MATCH_DISTANCE;
    int found = -1;
    for (int i = first; i < end && i - first < 64; i++) {
        if (*taken >> (i - first) & 1)
            continue;
        float d = distance2(last[i].at, at);
        if (d < best)
            best = d, found = i;
    }
    if (found >= 0)
        *taken |= 1ull << (found - first);
    return found;
}

static void run_remember(const Solver *solver, const SolverInput *input, const ContactRun *run, int *guess)
{
    const int first_contact = run->first;
    assert_debug(first_contact >= 0 && first_contact + run->count <= input->contact_count);
    const ContactMemory *last = solver->contact_memory_last;
    RollingMemory *rolling = solver->has_rolling ? &solver->rolling_memory[first_contact] : NULL;
    uint64_t taken = 0;
    int first = contact_find_run(solver, run_pair(run), guess), end = first < 0 ? 0 : *guess;
    for (int i = 0; i < run->count; i++) {
        const SolverContact *contact = &input->contacts[first_contact + i];
        ContactMemory *memory = &solver->contact_memory[first_contact + i];
        float at[3];
        contact_place(input, contact, run->bodies[0], at);
        int match = first < 0 ? -1 : contact_match(last, first, end, &taken, at, first + i);
        if (rolling)
            rolling[i] = match >= 0 && solver->had_rolling ? solver->rolling_memory_last[match] : (RollingMemory){ 0 };
        *memory = match >= 0 ? last[match] : (ContactMemory){ .pair = run_pair(run) };
        if (match < 0 && first_contact + i < input->held_count)
            memcpy(memory->impulse, &input->held[first_contact + i], sizeof memory->impulse);
        memcpy(memory->at, at, sizeof at);
    }
}

int solver_contacts_piece_count(const SolverInput *input) { return (input->contact_count + PIECE - 1) / PIECE; }

static bool is_next_point(const SolverContact *last, const SolverContact *contact)
{
    int a = last->body[0] < 0, b = contact->body[0] < 0;
    return last->body[a] == contact->body[b] && (a ? -1 : last->body[1]) == (b ? -1 : contact->body[1]);
}

// The first contact of a piece that begins a run. A run belongs to the piece that has its first one.
static int piece_begin(const SolverInput *input, int piece)
{
    assert_debug(piece >= 0 && piece < solver_contacts_piece_count(input));
    int at = piece * PIECE, end = int_min(at + PIECE, input->contact_count);
    while (at > 0 && at < end && is_next_point(&input->contacts[at - 1], &input->contacts[at]))
        at++;
    return at;
}

void solver_contacts_remember(Solver *solver, const SolverInput *input, int piece)
{
    assert(piece >= 0 && piece < solver_contacts_piece_count(input));
    const ContactChunk *chunk = &solver->chunks[piece];
    int guess = piece * PIECE;
    for (int i = chunk->first_run; i < chunk->first_run + chunk->run_count; i++)
        run_remember(solver, input, &solver->contact_runs[i], &guess);
}

// ---- what islands need ----

typedef struct ContactWork {
    Solver *solver;
    const SolverInput *input;
} ContactWork;

// Where all bodies are listed as awake none of them is looked at: they are spread over the memory.
static inline int contact_group(const Topology *t, const SolverInput *input, int body)
{
    if (body < 0)
        return -1;
    bool all_move = input->awake && input->awake_count == input->body_count;
    return all_move || !(input->bodies[body].flags & SOLVER_BODY_ASLEEP) ? t->group_of_body[body] : -1;
}

static int surface_row_count(const SolverSurface *surface)
{
    bool rolling = (surface->flags & SOLVER_CONTACT_ROLLING) != 0;
    return 1 + (surface->mu > 0.0) + (surface->mu2 > 0.0)
           + (rolling ? (surface->rho > 0.0) + (surface->rho2 > 0.0) + (surface->rhoN > 0.0) : 0);
}

// The pair of bodies of a contact, the first one there.
static uint64_t contact_pair(const SolverContact *contact, int32_t bodies[2])
{
    int is_reversed = contact->body[0] < 0;
    bodies[0] = contact->body[is_reversed];
    bodies[1] = is_reversed ? -1 : contact->body[1];
    return solver_pair(bodies[0], bodies[1]);
}

static ContactRun run_at(const Solver *solver, const SolverInput *input, int first, uint32_t *flags)
{
    assert_debug(first >= 0 && first < input->contact_count);
    const SolverContact *contacts = input->contacts;
    const SolverSurface *surface = solver_surface(input, first);
    ContactRun run = { .first = first, .count = 1, .row_count = surface_row_count(surface) };
    *flags |= surface->flags;
    contact_pair(&contacts[first], run.bodies);
    assert_debug(run.bodies[0] < input->body_count && run.bodies[1] < input->body_count);  // -1: what does not move
    for (int k = 0; k < 2; k++)
        run.groups[k] = contact_group(&solver->topology, input, run.bodies[k]);
    for (int i = first + 1, rows = run.row_count;
         i < input->contact_count && is_next_point(&contacts[first], &contacts[i]); i++) {
        const SolverSurface *next = solver_surface(input, i);
        if (next != surface) {
            rows = surface_row_count(next);
            *flags |= next->flags;
            surface = next;
        }
        run.row_count += rows;
        run.count++;
    }
    return run;
}

void *shared_block_reserve(SharedBlock *block, size_t size)
{
    assert_debug(block && (block->data || block->size == 0));
    if (size > block->size) {
        free(block->data);
        block->size = size + size / 32;
        block->data = memory_alloc_lines(block->size);
    }
    return block->data;
}

// Where what was remembered in the last step is put aside, to be found while this step's is written.
static void memory_aside_reserve(Solver *solver)
{
    size_t last = (size_t)solver->contact_last_count, bytes = memory_product(last, sizeof(ContactMemory));
    size_t rolling = solver->has_rolling ? memory_product(last, sizeof(RollingMemory)) : 0;
    solver->had_rolling = solver->has_rolling;
    solver->contact_memory_last = shared_block_reserve(&solver->shared, bytes + rolling + 1);
    solver->rolling_memory_last = (RollingMemory *)(solver->contact_memory_last + last);
}

// What was remembered of the last step's contacts in a piece of them.
static void piece_put_aside(Solver *solver, int piece)
{
    assert_debug(piece >= 0);
    const int first = piece * PIECE, count = int_min(PIECE, solver->contact_last_count - first);
    if (count <= 0)
        return;
    memory_copy(solver->contact_memory_last + first, solver->contact_memory + first,
                (size_t)count * sizeof(ContactMemory));
    if (solver->had_rolling)
        memory_copy(solver->rolling_memory_last + first, solver->rolling_memory + first,
                    (size_t)count * sizeof(RollingMemory));
}

// The runs of a piece from its place among them on.
static void runs_piece(Solver *solver, const SolverInput *input, int piece)
{
    assert(piece >= 0 && piece * PIECE < input->contact_count);
    ContactChunk *chunk = &solver->chunks[piece];
    PairOrder *order = &chunk->order;
    int at = piece_begin(input, piece), end = int_min((piece + 1) * PIECE, input->contact_count);
    int32_t bodies[2];
    uint64_t before = at > 0 ? contact_pair(&input->contacts[at - 1], bodies) : 0;
    order->stretch_count = 0;
    uint32_t flags = 0;
    int next = chunk->first_run;
    while (at < end) {
        ContactRun *run = &solver->contact_runs[next++];
        *run = run_at(solver, input, at, &flags);
        if (run_pair(run) < before)
            order_break(order, at);
        before = run_pair(run);
        at += run->count;
    }
    chunk->run_count = next - chunk->first_run;
    chunk->rolls = (flags & SOLVER_CONTACT_ROLLING) != 0;
}

static int last_piece_count(const Solver *solver) { return (solver->contact_last_count + PIECE - 1) / PIECE; }

// Each piece has room for as many runs as it has contacts. What is remembered is put aside by pieces too, of which the
// last step may have had more.
static void runs_range(int begin, int end, int worker, void *context)
{
    const ContactWork *work = context;
    (void)worker;
    const int pieces = solver_contacts_piece_count(work->input);
    for (int i = begin; i < end; i++) {
        piece_put_aside(work->solver, i);
        if (i >= pieces)
            continue;
        work->solver->chunks[i].first_run = i * PIECE;
        runs_piece(work->solver, work->input, i);
    }
}

// Several threads write runs at once, with gaps between those of two pieces.
static void runs_write_apart(Solver *solver, const SolverInput *input, int pieces)
{
    memory_grow(&solver->contact_runs, &solver->contact_run_capacity, input->contact_count + 1,
                sizeof *solver->contact_runs);
    pool_for(solver->options.pool, int_max(pieces, last_piece_count(solver)), 1, runs_range,
             &(ContactWork){ solver, input });
    solver->run_count = 0;
    for (int i = 0; i < pieces; i++)
        solver->run_count += solver->chunks[i].run_count;
}

// One thread writes those of a piece behind those of the one before, and needs less room.
static void runs_write(Solver *solver, const SolverInput *input, int pieces)
{
    for (int i = 0; i < last_piece_count(solver); i++)
        piece_put_aside(solver, i);
    solver->run_count = 0;
    for (int i = 0; i < pieces; i++) {
        memory_grow(&solver->contact_runs, &solver->contact_run_capacity, solver->run_count + PIECE,
                    sizeof *solver->contact_runs);
        solver->chunks[i].first_run = solver->run_count;
        runs_piece(solver, input, i);
        solver->run_count += solver->chunks[i].run_count;
    }
}

static void order_gather(Solver *solver, int pieces, int count)
{
    order_begin(&solver->contact_order);
    for (int i = 0; i < pieces; i++)
        for (int k = 0; k < solver->chunks[i].order.stretch_count; k++)
            order_break(&solver->contact_order, solver->chunks[i].order.first[int_min(k, STRETCH_MAX - 1)]);
    order_end(&solver->contact_order, count);
}

static bool chunks_roll(const Solver *solver, int pieces)
{
    bool rolls = false;
    for (int i = 0; i < pieces; i++)
        rolls |= solver->chunks[i].rolls;
    return rolls;
}

// Room for what this step remembers; what the last one did was put aside.
static void contact_memory_begin(Solver *solver, int count, bool has_rolling)
{
    assert_debug(count >= 0 && solver->contact_last_count >= 0);
    memory_grow(&solver->contact_memory, &solver->contact_memory_capacity, count + 1, sizeof(ContactMemory));
    solver->has_rolling = has_rolling;
    if (solver->has_rolling)
        memory_grow(&solver->rolling_memory, &solver->rolling_memory_capacity, count + 1, sizeof(RollingMemory));
    solver->contact_order_last = solver->contact_order;
    if (!solver->is_order_known)
        order_of_memory(&solver->contact_order_last, solver->contact_memory_last, solver->contact_last_count);
    solver->is_order_known = true;
    if (solver->contact_order_last.stretch_count > STRETCH_MAX)
        contact_table_build(solver);
}

void solver_contacts_gather(Solver *solver, const SolverInput *input)
{
    int count = input->contact_count, pieces = solver_contacts_piece_count(input);
    memory_grow(&solver->chunks, &solver->chunk_capacity, pieces + 1, sizeof *solver->chunks);
    memory_aside_reserve(solver);
    if (pool_thread_count(solver->options.pool) > 1)
        runs_write_apart(solver, input, pieces);
    else
        runs_write(solver, input, pieces);
    solver->chunk_count = pieces;
    contact_memory_begin(solver, count, chunks_roll(solver, pieces));
    order_gather(solver, pieces, count);
}

// ---- what came out ----

void solver_contact_axes(const SolverContact *contact, const SolverSurface *surface, double axes[3][3])
{
    assert_debug(contact && surface && (contact->body[0] >= 0 || contact->body[1] >= 0));
    double *n = axes[0], sign = contact->body[0] < 0 ? -1.0 : 1.0;
    n[0] = sign * contact->normal.x;
    n[1] = sign * contact->normal.y;
    n[2] = sign * contact->normal.z;
    if (!(surface->flags & SOLVER_CONTACT_FDIR1)) {
        solver_plane_space(n, axes[1], axes[2]);
        return;
    }
    memcpy(axes[1], &surface->fdir1, sizeof axes[1]);
    cross(n, axes[1], axes[2]);
}

// A direction without friction has no row: what is remembered of it is of an earlier step.
void solver_contact_forces(const Solver *solver, const SolverInput *input, int contact, double forces[6])
{
    assert(contact >= 0 && contact < input->contact_count);
    ContactMemory *memory = &solver->contact_memory[contact];
    RollingMemory *rolls = solver->has_rolling ? &solver->rolling_memory[contact] : NULL;
    const double fps = 1.0 / input->dt;
    const SolverSurface *surface = solver_surface(input, contact);
    bool rolling = (surface->flags & SOLVER_CONTACT_ROLLING) != 0;
    const bool has_row[6] = { true,
                              surface->mu > 0.0,
                              surface->mu2 > 0.0,
                              rolling && surface->rho > 0.0,
                              rolling && surface->rho2 > 0.0,
                              rolling && surface->rhoN > 0.0 };
    for (int i = 0; i < 6; i++)
        forces[i] = has_row[i] ? *contact_impulse(memory, rolls, i) * fps : 0.0;
}

void solver_contact_force(const Solver *solver, const SolverInput *input, int contact, double force[3])
{
    double axes[3][3], forces[6];
    solver_contact_axes(&input->contacts[contact], solver_surface(input, contact), axes);
    solver_contact_forces(solver, input, contact, forces);
    for (int k = 0; k < 3; k++)
        force[k] = axes[0][k] * forces[0] + axes[1][k] * forces[1] + axes[2][k] * forces[2];
}
