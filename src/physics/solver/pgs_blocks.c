// pgs_blocks.c - manifolds are coloured so that no body appears twice in a colour, and eight manifolds of a colour make
// a block whose lanes are worked on at once. In the end the impulses of the lanes go back to what contacts remember.
#include "physics/solver/pgs_internal.h"

#include "base/memory.h"
#include "physics/solver/tuning.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum { LARGE_PILE = 2048 };  // manifolds: what fewer are made of is in the near caches anyway
#define COLOURS 64           // that a body can have in one round of colouring

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
        uint64_t taken = (pgs_moves(s, m->body1) ? s->colours[m->body1] : 0)
                         | (pgs_moves(s, m->body2) ? s->colours[m->body2] : 0);
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
    assert_debug(m->point_count > 0 && m->point_count <= BLOCK_POINTS && m->colour >= 0);
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
    assert_debug(lane >= 0 && lane < BLOCK_LANES);
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
    assert_debug(first >= 0 && first < end && end <= s->manifold_count);
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
    assert_debug(memory && count >= 0 && size > 0);
    void *part = memory + *used;
    *used += memory_product((size_t)count, size);
    return part;
}

static inline int block_place(const PgsScratch *s, int first) { return s->manifolds[s->by_colour[first]].body1; }

// Where the blocks of a colour begin, by the place of their first body: a thread that takes the first ones of every
// colour then meets the same bodies again, and their velocities stay in its cache. The result is the same in any order.
static void colour_order(PgsScratch *s, int colour, int32_t *firsts)
{
    enum { STRIPES = 64 };
    const int begin = s->colour_first[colour], end = s->colour_first[colour + 1];
    int start[STRIPES + 1] = { 0 };
    const uint32_t width = (uint32_t)s->body_count / STRIPES + 1;
    for (int first = begin; first < end; first += BLOCK_LANES)
        start[(uint32_t)block_place(s, first) / width + 1]++;
    for (int i = 0; i < STRIPES; i++)
        start[i + 1] += start[i];
    for (int first = begin; first < end; first += BLOCK_LANES)
        firsts[start[(uint32_t)block_place(s, first) / width]++] = first;
}

// All blocks, those first with which the first thread begins in the loop over their colour, then those of the second:
// who builds a block has it in its cache when it is iterated.
static void blocks_share(PgsScratch *s)
{
    const int threads = pool_thread_count(s->options.pool);
    int count = 0;
    memory_grow(&s->block_shares, &s->block_share_capacity, s->block_count + 1, sizeof *s->block_shares);
    for (int t = 0; t < threads; t++)
        for (int c = 0; c < s->colour_count; c++) {
            const int first = s->block_first[c], blocks = s->block_first[c + 1] - first;
            const int end = pool_share_end(s->options.pool, blocks, BLOCK_GRAIN, t);
            for (int i = t == 0 ? 0 : pool_share_end(s->options.pool, blocks, BLOCK_GRAIN, t - 1); i < end; i++)
                s->block_shares[count++] = first + i;
        }
    assert(count == s->block_count);
}

// Whose manifolds, `span->count` of them, stand in by_colour from `span->first` on.
static void blocks_span(PgsScratch *s)
{
    BlockParts used = { .surfaces = s->input->surface_count };
    memory_grow(&s->spans, &s->span_capacity, s->block_count + 1, sizeof *s->spans);
    memory_grow(&s->block_order, &s->block_order_capacity, s->block_count + 1, sizeof *s->block_order);
    const bool is_shared = pool_thread_count(s->options.pool) > 1;
    for (int c = 0; c < s->colour_count; c++) {
        int32_t *firsts = s->block_order + s->block_first[c];
        const int count = s->block_first[c + 1] - s->block_first[c];
        for (int i = 0; i < count; i++)
            firsts[i] = s->colour_first[c] + i * BLOCK_LANES;
        if (is_shared)
            colour_order(s, c, firsts);
        for (int i = 0; i < count; i++)
            s->spans[s->block_first[c] + i] = span_at(s, firsts[i], s->colour_first[c + 1], &used);
    }
    size_t room = (size_t)s->block_count * sizeof *s->blocks + (size_t)used.points * sizeof *s->points
                  + (size_t)used.others * sizeof *s->others + (size_t)used.surfaces * sizeof *s->surfaces;
    char *memory = shared_block_reserve(s->shared, room + 1);
    size_t at = 0;
    s->blocks = part_at(memory, &at, s->block_count, sizeof *s->blocks);
    s->points = part_at(memory, &at, used.points, sizeof *s->points);
    s->others = part_at(memory, &at, used.others, sizeof *s->others);
    s->surfaces = part_at(memory, &at, used.surfaces, sizeof *s->surfaces);
    assert(at == room);
    blocks_share(s);
    for (int i = 0; i < s->input->surface_count; i++)
        surface_fill(s, &s->surfaces[i], &s->input->surfaces[i]);
}

void pgs_colour(PgsScratch *s)
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
    block->moves1 |= (uint8_t)(pgs_moves(s, m->body1) << lane);
    block->moves2 |= (uint8_t)(pgs_moves(s, m->body2) << lane);
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
    assert_debug(lane >= 0 && lane < BLOCK_LANES && s->input->dt > 0.0);
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

// `other`: the second body, NULL where it is the world. From the first one the point stands where its memory has it.
static void lane_point(const PgsScratch *s, PgsBlock *block, int lane, int k, int index, const SolverBody *other,
                       const SolverSurface *surface)
{
    assert_debug(lane >= 0 && lane < BLOCK_LANES && k >= 0 && k < block->point_count);
    const SolverContact *contact = &s->input->contacts[index];
    const ContactMemory *memory = &s->memory[index];
    PgsPoint *p = &block->points[k];
    for (int i = 0; i < 3; i++)
        p->side.r[i][lane] = memory->at[i];
    if (other && block->others) {
        double arm[3];
        solver_arm(other, contact->point, arm);
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
    assert_debug(m->task >= 0 && m->task < s->task_count);
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
    assert_debug(block->points && point_count > 0 && point_count <= BLOCK_POINTS);
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

// What the blocks of a large pile are made of lies anywhere, farther than the near caches reach: it is asked for ahead,
// the manifold first and then what it names, a lane at a time, since a processor waits for few lines at once.
enum { MANIFOLDS_AHEAD = 24, PARTS_AHEAD = 10 };
static inline void prefetch_memory(const PgsScratch *s, const Manifold *m)
{
    MEMORY_KEEP_PREFETCH();
    const ContactMemory *first = &s->memory[m->contacts[0]];
    memory_prefetch_near(first, sizeof *first * (size_t)m->point_count);
    __builtin_prefetch(&first[m->point_count], 1);
}

static inline void prefetch_parts(const PgsScratch *s, int lane)
{
    MEMORY_KEEP_PREFETCH();
    if (lane + MANIFOLDS_AHEAD < s->manifold_count)
        __builtin_prefetch(&s->manifolds[s->by_colour[lane + MANIFOLDS_AHEAD]]);
    if (lane + PARTS_AHEAD >= s->manifold_count)
        return;
    const Manifold *m = &s->manifolds[s->by_colour[lane + PARTS_AHEAD]];
    const SolverContact *first = &s->input->contacts[m->contacts[0]];
    // Mostly they stand together.
    memory_prefetch_near(first, sizeof *first * (size_t)m->point_count);
    __builtin_prefetch(&first[m->point_count].shape);
    prefetch_memory(s, m);
    __builtin_prefetch(&s->bodies[m->body1]);
    const PgsBody *other = &s->bodies[m->body2];
    if (other->body >= 0)
        __builtin_prefetch(s->input->bodies[other->body].position);
}

// Lane by lane from contacts and bodies; what of a point follows from these, the kernel computes for all lanes.
void pgs_build_blocks(int begin, int end, int worker, void *context)
{
    assert_debug(begin >= 0 && end <= ((PgsScratch *)context)->block_count);
    PgsScratch *s = context;
    (void)worker;
    bool is_large = s->manifold_count >= LARGE_PILE;
    for (int k = begin; k < end; k++) {
        const int i = s->block_shares[k];
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
            if (is_large)
                prefetch_parts(s, span->first + lane);
            const Manifold *m = &s->manifolds[manifolds[lane]];
            lane_bodies(s, block, lane, m);
            const SolverSurface *surface = solver_surface(s->input, m->contacts[0]);
            lane_axes(s, block, lane, &s->input->contacts[m->contacts[0]], surface);
            if (own)
                surface_lane(s, own, lane, surface);
            const int32_t *touching = s->input->contacts[m->contacts[0]].body;
            const SolverBody *other = touching[0] >= 0 && touching[1] >= 0 ? &s->input->bodies[touching[1]] : NULL;
            for (int p = 0; p < m->point_count; p++)
                lane_point(s, block, lane, p, m->contacts[p], other, solver_surface(s->input, m->contacts[p]));
            lane_soften(s, block, lane, m, surface);
        }
        s->kernels->prepare(block, 1, s->checked);
    }
}

static inline void prefetch_written(const PgsScratch *s, int lane)
{
    if (lane + MANIFOLDS_AHEAD < s->manifold_count)
        __builtin_prefetch(&s->manifolds[s->by_colour[lane + MANIFOLDS_AHEAD]]);
    if (lane + PARTS_AHEAD < s->manifold_count)
        prefetch_memory(s, &s->manifolds[s->by_colour[lane + PARTS_AHEAD]]);
}

void pgs_write_blocks(int begin, int end, int worker, void *context)
{
    assert_debug(begin >= 0 && end <= ((PgsScratch *)context)->block_count);
    PgsScratch *s = context;
    (void)worker;
    bool is_large = s->manifold_count >= LARGE_PILE;
    for (int k = begin; k < end; k++) {
        const int i = s->block_shares[k];
        const PgsBlock *block = &s->blocks[i];
        for (int lane = 0; lane < s->spans[i].count; lane++) {
            if (is_large)
                prefetch_written(s, s->spans[i].first + lane);
            const Manifold *m = &s->manifolds[s->by_colour[s->spans[i].first + lane]];
            for (int point = 0; point < m->point_count; point++) {
                const PgsPoint *p = &block->points[point];
                double *impulse = s->memory[m->contacts[point]].impulse;
                impulse[0] = (double)p->impulse[lane];
                impulse[1] = (double)p->impulse1[lane];
                impulse[2] = (double)p->impulse2[lane];
            }
        }
    }
}
