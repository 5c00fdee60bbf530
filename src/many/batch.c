// batch.c - many clones of a world stepped over a pool of threads (include/talus/batch.h). World i reads and writes row
// i alone, and draws from a stream of its own, so nothing depends on the number of worlds or threads.
#include "talus/batch.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/pool.h"
#include "base/random.h"
#include "sim/library.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_RULES = 64, MAX_WORLDS = 1 << 20, MAX_THREADS = 256 };

typedef struct Randomisation {
    char *path;       // of a field; NULL: it is an item
    TalusView *view;  // of an item
    TalusChange change;
    TalusSpread spread;
    double a, b;
} Randomisation;

typedef struct Termination {
    TalusView *view;
    double low, high;
    double *scratch;  // a row for each world
} Termination;

typedef struct BatchWorld {  // what every step reads stands first
    TalusWorld *world;
    bool is_over;         // ended, and not reset yet
    bool is_stream_seed;  // the first episode has the stream itself as its seed
    char failure[160];
    Random random;
    uint64_t seed;  // of the episode that runs
    uint64_t stream,
        episode;  // what seeds of episodes are made of: a number of its own, and how many there were with it
} BatchWorld;

struct TalusBatch {
    BatchWorld *worlds;
    int count;
    Pool *pool;
    PhysicsScratch **thread_scratch;  // one for each
    TalusView *action_view, *observation_view;
    double *actions, *observations, *final_observations, *scratch;
    uint8_t *terminated, *truncated, *failed;
    uint64_t *episode_steps;
    int action_count, observation_count;
    bool may_lack_readings;  // some observation is a sensor's
    bool looks_ahead;        // what the next world reads is fetched while one is stepped
    TalusAutoreset autoreset;
    int repeat;
    int64_t limit;
    Randomisation randomisations[MAX_RULES];
    int randomisation_count, scratch_count;
    Termination terminations[MAX_RULES];
    int termination_count;
};

// What the threads of one reset share.
typedef struct ResetWork {
    TalusBatch *batch;
    const uint8_t *mask;
    const uint64_t *seeds;
} ResetWork;

// Bodies, with what steps touch of their worlds (some 1.5 kB each), that stay in a processor's second cache by
// themselves: asking for them costs more than it brings. 64 cart-poles make 4 % more steps without, 64 humanoids 3 %
// more with.
enum { CACHED_BODIES = 256 };

// ---- life ----

static int thread_count_of(int threads, int count)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (threads == 0)
        threads = cores > 0 ? (int)int_min((int)cores, MAX_THREADS) : 1;
    return int_min(threads, count);
}

// Clones first, since they alone can fail; then what stands beside each of them, and the threads with their scratch.
TalusBatch *talus_batch_create(TalusWorld *world, int count, int threads)
{
    if (!library_given(world, world, "world"))
        return NULL;
    if (count < 1 || count > MAX_WORLDS || threads < 0 || threads > MAX_THREADS) {
        library_failed("a batch has 1 to %d worlds on 1 to %d threads, not %d on %d", MAX_WORLDS, MAX_THREADS, count,
                       threads);
        return NULL;
    }
    const void *heap = memory_heap_end();
    TalusWorld **worlds = memory_alloc_array((size_t)count, sizeof *worlds);
    if (!talus_clone_many(world, count, worlds)) {
        free(worlds);
        return NULL;
    }
    TalusBatch *batch = memory_alloc(sizeof *batch);
    batch->count = count;
    batch->repeat = 1;
    batch->worlds = memory_alloc_lines(memory_product((size_t)count, sizeof *batch->worlds));
    batch->terminated = memory_alloc_lines((size_t)count);
    batch->truncated = memory_alloc_lines((size_t)count);
    batch->failed = memory_alloc_lines((size_t)count);
    batch->episode_steps = memory_alloc_lines(memory_product((size_t)count, sizeof *batch->episode_steps));
    for (int i = 0; i < count; i++) {
        batch->worlds[i].world = worlds[i];
        batch->worlds[i].seed = physics_seed(sim_physics(worlds[i]->sim));
    }
    free(worlds);
    int used = thread_count_of(threads, count);
    assert(used >= 1 && used <= count);
    batch->pool = used > 1 ? pool_create(used) : NULL;
    batch->thread_scratch = memory_alloc_array((size_t)used, sizeof *batch->thread_scratch);
    assert(pool_thread_count(batch->pool) <= used);
    for (int i = 0; i < pool_thread_count(batch->pool); i++)
        batch->thread_scratch[i] = physics_scratch_create();
    int64_t bodies = (int64_t)count * physics_body_count(sim_physics(world->sim));
    batch->looks_ahead = bodies > (int64_t)pool_thread_count(batch->pool) * CACHED_BODIES;
    talus_batch_set_seed(batch, 0);
    talus_batch_set_actions(batch, NULL, 0);
    talus_batch_set_observations(batch, NULL, 0);
    memory_use_large_pages(heap);
    return batch;
}

// Threads end before the worlds that they step.
void talus_batch_free(TalusBatch *batch)
{
    if (!batch)
        return;
    for (int i = 0; i < pool_thread_count(batch->pool); i++)
        physics_scratch_destroy(batch->thread_scratch[i]);
    free(batch->thread_scratch);
    pool_destroy(batch->pool);
    for (int i = 0; i < batch->count; i++)
        talus_free(batch->worlds[i].world);
    for (int i = 0; i < batch->randomisation_count; i++) {
        free(batch->randomisations[i].path);
        talus_view_free(batch->randomisations[i].view);
    }
    for (int i = 0; i < batch->termination_count; i++) {
        talus_view_free(batch->terminations[i].view);
        free(batch->terminations[i].scratch);
    }
    talus_view_free(batch->action_view);
    talus_view_free(batch->observation_view);
    free(batch->worlds);
    free(batch->actions);
    free(batch->observations);
    free(batch->final_observations);
    free(batch->scratch);
    free(batch->terminated);
    free(batch->truncated);
    free(batch->failed);
    free(batch->episode_steps);
    free(batch);
}

static bool given(const TalusBatch *batch) { return batch || library_failed("there is no batch: it is NULL"); }

int talus_batch_count(const TalusBatch *batch) { return batch ? batch->count : 0; }
int talus_batch_threads(const TalusBatch *batch) { return batch ? pool_thread_count(batch->pool) : 0; }
const TalusView *talus_batch_action_view(const TalusBatch *batch) { return batch ? batch->action_view : NULL; }
const TalusView *talus_batch_observation_view(const TalusBatch *batch)
{
    return batch ? batch->observation_view : NULL;
}
double *talus_batch_actions(TalusBatch *batch) { return batch ? batch->actions : NULL; }
const double *talus_batch_observations(const TalusBatch *batch) { return batch ? batch->observations : NULL; }
const double *talus_batch_final_observations(const TalusBatch *batch)
{
    return batch ? batch->final_observations : NULL;
}
const uint8_t *talus_batch_terminated(const TalusBatch *batch) { return batch ? batch->terminated : NULL; }
const uint8_t *talus_batch_truncated(const TalusBatch *batch) { return batch ? batch->truncated : NULL; }
const uint8_t *talus_batch_failed(const TalusBatch *batch) { return batch ? batch->failed : NULL; }
const uint64_t *talus_batch_episode_steps(const TalusBatch *batch) { return batch ? batch->episode_steps : NULL; }

static bool has_world(const TalusBatch *batch, int index)
{
    return given(batch)
           && ((index >= 0 && index < batch->count)
               || library_failed("a batch of %d has no world %d", batch->count, index));
}

TalusWorld *talus_batch_world(TalusBatch *batch, int index)
{
    return has_world(batch, index) ? batch->worlds[index].world : NULL;
}

uint64_t talus_batch_seed(const TalusBatch *batch, int index)
{
    return has_world(batch, index) ? batch->worlds[index].seed : 0;
}

const char *talus_batch_failure(const TalusBatch *batch, int index)
{
    return has_world(batch, index) ? batch->worlds[index].failure : "";
}

// ---- items ----

// A view of the first world, which all others can use: they are built from the same nodes.
static TalusView *make_view(TalusBatch *batch, const char *const *items, int count)
{
    TalusView *view = talus_view_create(batch->worlds[0].world, items, count);
    for (int i = 0; view && i < batch->count; i++)
        if (!talus_view_use(batch->worlds[i].world, view)) {
            talus_view_free(view);
            return NULL;
        }
    return view;
}

static double *make_block(const TalusBatch *batch, int columns)
{
    assert(batch->count > 0 && columns >= 0);
    return memory_alloc_lines(memory_product(memory_product((size_t)batch->count, (size_t)columns), sizeof(double)));
}

bool talus_batch_set_actions(TalusBatch *batch, const char *const *items, int count)
{
    TalusView *view = given(batch) ? make_view(batch, items, count) : NULL;
    if (!view)
        return false;
    if (!library_view_is_writable(view)) {
        talus_view_free(view);
        return library_failed("an item of the actions cannot be written");
    }
    talus_view_free(batch->action_view);
    free(batch->actions);
    batch->action_view = view;
    batch->action_count = talus_view_count(view);
    batch->actions = make_block(batch, batch->action_count);
    return true;
}

// What the first reading of a sensor has not come for is 0.
static bool observe(TalusBatch *batch, int index)
{
    assert_debug(index >= 0 && index < batch->count);
    assert_debug(batch->observation_count == talus_view_count(batch->observation_view));
    double *row = batch->observations + (ptrdiff_t)index * batch->observation_count;
    if (!talus_view_read(batch->worlds[index].world, batch->observation_view, row))
        return false;
    for (int i = 0; batch->may_lack_readings && i < batch->observation_count; i++)
        if (isnan(row[i]))
            row[i] = 0.0;
    return true;
}

bool talus_batch_set_observations(TalusBatch *batch, const char *const *items, int count)
{
    TalusView *view = given(batch) ? make_view(batch, items, count) : NULL;
    if (!view)
        return false;
    if (!library_view_is_readable(view)) {
        talus_view_free(view);
        return library_failed("an item of the observations cannot be read");
    }
    talus_view_free(batch->observation_view);
    free(batch->observations);
    free(batch->final_observations);
    batch->observation_view = view;
    batch->observation_count = talus_view_count(view);
    batch->may_lack_readings = library_view_has_sensors(view);
    batch->observations = make_block(batch, batch->observation_count);
    batch->final_observations = make_block(batch, batch->observation_count);
    for (int i = 0; i < batch->count; i++)
        observe(batch, i);
    return true;
}

// ---- rules of episodes ----

bool talus_batch_set_autoreset(TalusBatch *batch, TalusAutoreset autoreset)
{
    if (!given(batch))
        return false;
    if ((int)autoreset < TALUS_RESET_NEVER || autoreset > TALUS_RESET_NEXT_STEP)
        return library_failed("there is no way %d to reset by itself", (int)autoreset);
    batch->autoreset = autoreset;
    return true;
}

bool talus_batch_set_repeat(TalusBatch *batch, int steps)
{
    if (!given(batch))
        return false;
    if (steps < 1)
        return library_failed("a step of the batch is 1 step of its worlds at least, not %d", steps);
    batch->repeat = steps;
    return true;
}

bool talus_batch_set_limit(TalusBatch *batch, int64_t steps)
{
    if (!given(batch))
        return false;
    if (steps < 0)
        return library_failed("an episode cannot have %lld steps", (long long)steps);
    batch->limit = steps;
    return true;
}

bool talus_batch_set_seed(TalusBatch *batch, uint64_t seed)
{
    if (!given(batch))
        return false;
    for (int i = 0; i < batch->count; i++) {
        batch->worlds[i].stream = hash_combine(seed, (uint64_t)i);
        batch->worlds[i].is_stream_seed = false;
        batch->worlds[i].episode = 0;
    }
    return true;
}

bool talus_batch_terminate(TalusBatch *batch, const char *item, double low, double high)
{
    if (!given(batch))
        return false;
    if (!(low <= high))
        return library_failed("%s: a range from %g to %g holds nothing", item ? item : "", low, high);
    if (batch->termination_count == MAX_RULES)
        return library_failed("a batch has %d terminations at most", MAX_RULES);
    TalusView *view = make_view(batch, &item, 1);
    if (!view)
        return false;
    if (!library_view_is_readable(view)) {
        talus_view_free(view);
        return library_failed("%s cannot be read", item);
    }
    batch->terminations[batch->termination_count++] = (Termination){ view, low, high,
                                                                     make_block(batch, talus_view_count(view)) };
    return true;
}

static bool spread_is_sound(const char *what, TalusSpread spread, double a, double b)
{
    if (!isfinite(a) || !isfinite(b))
        return library_failed("%s: a number to draw wants finite bounds", what);
    switch (spread) {
    case TALUS_SPREAD_UNIFORM: return a <= b || library_failed("%s: a range from %g to %g holds nothing", what, a, b);
    case TALUS_SPREAD_NORMAL: return b >= 0.0 || library_failed("%s: a standard deviation is not %g", what, b);
    case TALUS_SPREAD_LOG_UNIFORM:
        return (a > 0.0 && a <= b) || library_failed("%s: a range from %g to %g has no logarithms", what, a, b);
    }
    return library_failed("%s: there is no spread %d", what, (int)spread);
}

// A field by its path, which every world then has of its own; or an item, whose numbers each are drawn.
bool talus_batch_randomise(TalusBatch *batch, const char *what, TalusChange change, TalusSpread spread, double a,
                           double b)
{
    if (!given(batch) || !library_given(batch->worlds[0].world, what, "path or item"))
        return false;
    if (!spread_is_sound(what, spread, a, b))
        return false;
    if ((int)change < TALUS_CHANGE_SET || change > TALUS_CHANGE_SCALE)
        return library_failed("%s: there is no change %d", what, (int)change);
    if (batch->randomisation_count == MAX_RULES)
        return library_failed("a batch has %d randomisations at most", MAX_RULES);
    Randomisation rule = { .change = change, .spread = spread, .a = a, .b = b };
    if (strchr(what, ' ')) {
        rule.view = make_view(batch, &what, 1);
        if (!rule.view)
            return false;
        if (!library_view_is_writable(rule.view)
            || (change != TALUS_CHANGE_SET && !library_view_is_readable(rule.view))) {
            talus_view_free(rule.view);
            return library_failed("%s cannot be changed so", what);
        }
        batch->scratch_count = int_max(batch->scratch_count, talus_view_count(rule.view));
        free(batch->scratch);
        batch->scratch = make_block(batch, batch->scratch_count);
    } else {
        double value;
        if (!talus_get_path(batch->worlds[0].world, what, &value))
            return false;
        for (int i = 0; i < batch->count; i++)
            if (!library_own(batch->worlds[i].world))
                return false;
        rule.path = memory_string(what);
    }
    batch->randomisations[batch->randomisation_count++] = rule;
    return true;
}

// ---- a new episode ----

static double draw(Random *random, const Randomisation *rule)
{
    assert_debug(isfinite(rule->a) && isfinite(rule->b));  // spread_is_sound
    switch (rule->spread) {
    case TALUS_SPREAD_NORMAL: return rule->a + rule->b * random_gaussian(random);
    case TALUS_SPREAD_LOG_UNIFORM: return rule->a * exp(random_uniform(random) * log(rule->b / rule->a));
    default: return rule->a + random_uniform(random) * (rule->b - rule->a);
    }
}

static double changed(const Randomisation *rule, double before, double drawn)
{
    return rule->change == TALUS_CHANGE_SET   ? drawn
           : rule->change == TALUS_CHANGE_ADD ? before + drawn
                                              : before * drawn;
}

static bool apply(TalusBatch *batch, int index, const Randomisation *rule)
{
    assert_debug(index >= 0 && index < batch->count);
    assert((rule->path != NULL) != (rule->view != NULL));
    BatchWorld *self = &batch->worlds[index];
    if (rule->path) {
        double value;
        return talus_get_path(self->world, rule->path, &value)
               && talus_set_path(self->world, rule->path, changed(rule, value, draw(&self->random, rule)));
    }
    assert_debug(talus_view_count(rule->view) <= batch->scratch_count);
    double *values = batch->scratch + (ptrdiff_t)index * batch->scratch_count;
    if (rule->change != TALUS_CHANGE_SET && !talus_view_read(self->world, rule->view, values))
        return false;
    for (int i = 0; i < talus_view_count(rule->view); i++)
        values[i] = changed(rule, values[i], draw(&self->random, rule));
    return talus_view_write(self->world, rule->view, values);
}

// The views that were made for the first world, asked of this one again: a reset may have made its physics anew.
static bool use_views(TalusBatch *batch, TalusWorld *world)
{
    bool fits = talus_view_use(world, batch->action_view) && talus_view_use(world, batch->observation_view);
    for (int i = 0; i < batch->termination_count; i++)
        fits = fits && talus_view_use(world, batch->terminations[i].view);
    return fits;
}

static uint64_t next_seed(const BatchWorld *self)
{
    return self->is_stream_seed && self->episode == 0 ? self->stream : hash_combine(self->stream, self->episode);
}

static bool begin_episode(TalusBatch *batch, int index)
{
    assert_debug(index >= 0 && index < batch->count);
    assert_debug(batch->action_view && batch->observation_view);
    BatchWorld *self = &batch->worlds[index];
    self->seed = next_seed(self);
    self->episode++;
    self->is_over = false;
    batch->episode_steps[index] = 0;
    bool is_fine = talus_reset(self->world);
    physics_set_seed(sim_physics(self->world->sim), self->seed);
    library_devices_reset(self->world);
    random_seed(&self->random, self->seed, "batch");
    for (int i = 0; i < batch->randomisation_count && is_fine; i++)
        is_fine = apply(batch, index, &batch->randomisations[i]);
    is_fine = is_fine && use_views(batch, self->world) && observe(batch, index);
    if (!is_fine)
        snprintf(self->failure, sizeof self->failure, "%s", talus_last_error());
    return is_fine;
}

static void reset_range(int begin, int end, int worker, void *context)
{
    (void)worker;
    const ResetWork *work = context;
    TalusBatch *batch = work->batch;
    assert_debug(begin >= 0 && begin <= end && end <= batch->count);
    for (int i = begin; i < end; i++) {
        if (work->mask && !work->mask[i])
            continue;
        batch->worlds[i].failure[0] = '\0';
        if (work->seeds) {
            batch->worlds[i].stream = work->seeds[i];
            batch->worlds[i].is_stream_seed = true;
            batch->worlds[i].episode = 0;
        }
        bool is_fine = begin_episode(batch, i);
        batch->failed[i] = !is_fine;
        batch->terminated[i] = batch->truncated[i] = 0;
    }
}

static int grain_of(const TalusBatch *batch)
{
    enum { PIECES = 8, LARGEST = 16 };
    return int_max(1, int_min(LARGEST, batch->count / (PIECES * pool_thread_count(batch->pool))));
}

bool talus_batch_reset(TalusBatch *batch, const uint8_t *mask, const uint64_t *seeds)
{
    if (!given(batch))
        return false;
    ResetWork work = { batch, mask, seeds };
    pool_for(batch->pool, batch->count, grain_of(batch), reset_range, &work);
    for (int i = 0; i < batch->count; i++)
        if (batch->failed[i] && (!mask || mask[i]))
            return library_failed("world %d cannot be reset: %s", i, batch->worlds[i].failure);
    return true;
}

// ---- steps ----

// Whether a number is outside of its range. False: one cannot be read, and talus_last_error says why.
static bool find_end(TalusBatch *batch, int index, bool *is_over)
{
    for (int i = 0; i < batch->termination_count; i++) {
        const Termination *rule = &batch->terminations[i];
        int count = talus_view_count(rule->view);
        assert_debug(rule->scratch && rule->low <= rule->high);
        double *values = rule->scratch + (ptrdiff_t)index * count;
        if (!talus_view_read(batch->worlds[index].world, rule->view, values))
            return false;
        for (int k = 0; k < count; k++)
            *is_over = *is_over || values[k] < rule->low || values[k] > rule->high;
    }
    return true;
}

// The world is told its row of actions before each of its own steps, since forces last for one.
static bool advance(TalusBatch *batch, int index, const double *row, PhysicsScratch *scratch)
{
    BatchWorld *self = &batch->worlds[index];
    assert_debug(batch->repeat >= 1 && batch->action_count == talus_view_count(batch->action_view));
    Sim *sim = self->world->sim;
    bool is_fine = true;
    for (int i = 0; i < batch->repeat && is_fine; i++) {
        physics_lend_scratch(sim_physics(sim), scratch);
        is_fine = talus_view_write(self->world, batch->action_view, row) && talus_step(self->world, 1);
        physics_lend_scratch(sim_physics(sim), NULL);  // which a supervisor's reset may have made anew
    }
    return is_fine && observe(batch, index);
}

// A new episode in place of one that ended, whose last row is kept.
static void replace_episode(TalusBatch *batch, int index)
{
    ptrdiff_t row = (ptrdiff_t)index * batch->observation_count;
    if (batch->observation_count > 0)
        memcpy(batch->final_observations + row, batch->observations + row,
               sizeof(double) * (size_t)batch->observation_count);
    if (!begin_episode(batch, index))
        batch->failed[index] = 1;
}

static void fail_world(TalusBatch *batch, int index)
{
    BatchWorld *self = &batch->worlds[index];
    snprintf(self->failure, sizeof self->failure, "%s", talus_last_error());
    batch->failed[index] = batch->terminated[index] = 1;
    batch->truncated[index] = 0;
    replace_episode(batch, index);
}

// Flags of 64 worlds share a line of the cache, and threads that step neighbours would take it from each other with
// every world: what stays as it is is not written.
static inline void set_flag(uint8_t *flag, bool value)
{
    if (*flag != value)
        *flag = value;
}

// With its row of actions.
static void step_world(TalusBatch *batch, int index, const double *row, PhysicsScratch *scratch)
{
    assert_debug(index >= 0 && index < batch->count && scratch);
    BatchWorld *self = &batch->worlds[index];
    if (self->is_over && batch->autoreset == TALUS_RESET_NEVER)
        return;
    set_flag(&batch->failed[index], false);
    self->failure[0] = '\0';
    if (self->is_over) {
        batch->terminated[index] = batch->truncated[index] = 0;
        replace_episode(batch, index);
        return;
    }
    bool is_over = false;
    if (!advance(batch, index, row, scratch) || !find_end(batch, index, &is_over)) {
        fail_world(batch, index);
        return;
    }
    batch->episode_steps[index]++;
    set_flag(&batch->terminated[index], is_over);
    set_flag(&batch->truncated[index], batch->limit > 0 && (int64_t)batch->episode_steps[index] >= batch->limit);
    self->is_over = batch->terminated[index] || batch->truncated[index];
    if (self->is_over && batch->autoreset == TALUS_RESET_SAME_STEP)
        replace_episode(batch, index);
}

// What is fetched ahead lies in the same piece: the worlds of other pieces are other threads', which may make them
// anew.
static const Physics *physics_at(const TalusBatch *batch, int index, int end)
{
    return index < end ? sim_physics(batch->worlds[index].world->sim) : NULL;
}

// The way to a world's physics, one pointer at a time: each was fetched a world earlier.
static void look_ahead(const TalusBatch *batch, int index, int end)
{
    if (index + 8 < end)
        memory_prefetch(&batch->worlds[index + 8], sizeof batch->worlds->world);
    if (index + 4 < end)
        memory_prefetch(batch->worlds[index + 4].world, sizeof(TalusWorld));
    if (index + 3 < end) {
        const TalusWorld *world = batch->worlds[index + 3].world;
        sim_prefetch(world->sim);
        memory_prefetch(world->diags, 32);  // where it counts them
    }
    if (index + 1 < end) {  // its rows
        memory_prefetch(batch->actions + (ptrdiff_t)(index + 1) * batch->action_count,
                        sizeof *batch->actions * (size_t)batch->action_count);
        memory_prefetch(batch->observations + (ptrdiff_t)(index + 1) * batch->observation_count,
                        sizeof *batch->observations * (size_t)batch->observation_count);
    }
}

static const double *own_actions(const TalusBatch *batch, int index)
{
    return batch->actions + (ptrdiff_t)index * batch->action_count;
}

static void step_range(int begin, int end, int worker, void *context)
{
    TalusBatch *batch = context;
    assert_debug(worker >= 0 && worker < pool_thread_count(batch->pool));
    assert_debug(begin >= 0 && begin <= end && end <= batch->count);
    PhysicsScratch *scratch = batch->thread_scratch[worker];
    if (!batch->looks_ahead) {
        physics_plan_next(scratch, NULL, NULL);
        for (int i = begin; i < end; i++)
            step_world(batch, i, own_actions(batch, i), scratch);
        return;
    }
    const Physics *next = physics_at(batch, begin + 1, end);
    for (int i = begin; i < end; i++) {
        const Physics *after = physics_at(batch, i + 2, end);
        look_ahead(batch, i, end);
        physics_plan_next(scratch, next, after);
        step_world(batch, i, own_actions(batch, i), scratch);
        next = after;
    }
}

// Rows of actions, of which each world has `rows`.
static bool actions_are_numbers(const TalusBatch *batch, const double *actions, ptrdiff_t worlds, ptrdiff_t rows,
                                int first_world)
{
    const ptrdiff_t count = worlds * rows * batch->action_count;
    ptrdiff_t i = 0;
    while (i < count && !isnan(actions[i]))
        i++;
    if (i == count)
        return true;
    TalusChannel channel;
    talus_view_channel(batch->action_view, (int)(i % batch->action_count), &channel);
    return library_failed("action '%s' of world %d is not a number; nothing was stepped", channel.name,
                          first_world + (int)(i / (rows * batch->action_count)));
}

bool talus_batch_step(TalusBatch *batch)
{
    if (!given(batch) || !actions_are_numbers(batch, batch->actions, batch->count, 1, 0))
        return false;
    pool_for(batch->pool, batch->count, grain_of(batch), step_range, batch);
    return true;
}

// ---- rollouts ----

typedef struct RolloutWork {
    TalusBatch *batch;
    TalusRollout rollout;  // with its stride
} RolloutWork;

static const double *rollout_actions(const TalusBatch *batch, const TalusRollout *rollout, int index, int step)
{
    if (!rollout->actions)
        return own_actions(batch, index);
    return rollout->actions + ((ptrdiff_t)index * rollout->stride + step) * batch->action_count;
}

// What the batch has of a world after a step, into the blocks of the caller.
static void keep_step(const TalusBatch *batch, const TalusRollout *rollout, int index, int step)
{
    ptrdiff_t row = (ptrdiff_t)index * rollout->stride + step;
    int columns = batch->observation_count;
    if (rollout->observations)
        memcpy(rollout->observations + row * columns, batch->observations + (ptrdiff_t)index * columns,
               sizeof(double) * (size_t)columns);
    if (rollout->terminated)
        rollout->terminated[row] = batch->terminated[index];
    if (rollout->truncated)
        rollout->truncated[row] = batch->truncated[index];
    if (rollout->failed)
        rollout->failed[row] = batch->failed[index];
}

static void rollout_range(int begin, int end, int worker, void *context)
{
    const RolloutWork *work = context;
    TalusBatch *batch = work->batch;
    assert_debug(worker >= 0 && worker < pool_thread_count(batch->pool));
    assert_debug(begin >= 0 && begin <= end && end <= batch->count);
    PhysicsScratch *scratch = batch->thread_scratch[worker];
    physics_plan_next(scratch, NULL, NULL);
    for (int i = begin; i < end; i++)
        for (int step = 0; step < work->rollout.steps; step++) {
            step_world(batch, i, rollout_actions(batch, &work->rollout, i, step), scratch);
            keep_step(batch, &work->rollout, i, step);
        }
}

bool talus_batch_rollout(TalusBatch *batch, const TalusRollout *rollout)
{
    if (!given(batch))
        return false;
    if (!rollout)
        return library_failed("there is no rollout: it is NULL");
    RolloutWork work = { .batch = batch };
    library_options(&work.rollout, sizeof work.rollout, rollout);
    if (work.rollout.steps < 0)
        return library_failed("a batch cannot make %d steps", work.rollout.steps);
    if (work.rollout.stride == 0)
        work.rollout.stride = work.rollout.steps;
    if (work.rollout.stride < work.rollout.steps)
        return library_failed("blocks with %d steps for each world do not hold %d", work.rollout.stride,
                              work.rollout.steps);
    const int rows = work.rollout.actions ? work.rollout.steps : 1;
    for (int i = 0; i < batch->count; i++)
        if (!actions_are_numbers(batch, rollout_actions(batch, &work.rollout, i, 0), 1, rows, i))
            return false;
    pool_for(batch->pool, batch->count, 1, rollout_range, &work);
    return true;
}
