// Loops follow each other within microseconds during a step, so both sides spin for a moment before they sleep: a
// worker until the next loop is given out, the caller until the last piece is done. Sleeping and waking is a futex on
// the word that is waited for, and nobody is woken who does not sleep. The caller waits for pieces, not for workers:
// one that the system did not run in time takes none and holds nobody up.
//
// Every thread starts with a stretch of the items that is its own, and takes from the others' when it is done: loops
// over the same things then find them in the cache of the processor that wrote them last.
#include "base/pool.h"

#include "base/memory.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SPIN_ROUNDS 4000        // some 50 µs
#define SPIN_ROUNDS_CROWDED 40  // when there are more threads than processors
#define LINE 64                 // bytes of a cache line: words of different writers stand apart

typedef struct Worker {
    Pool *pool;
    pthread_t thread;
    int index;
} Worker;

// Pieces that one thread takes first, from `first` on.
typedef struct Stretch {
    _Alignas(LINE) atomic_int left;  // pieces to be claimed
    int count, first;
} Stretch;

// A line that another processor wrote takes some 100 ns to come, and loops of a few µs begin and end with such: what
// workers read first comes with the word that they wait for, and the caller writes nothing that they write.
struct Pool {
    int thread_count, spin_rounds;
    Worker *workers;
    Stretch *stretches;  // one per thread
    atomic_bool stop;
    _Alignas(LINE) atomic_int generation;  // of the loop; workers wait for it to change
    // The loop. Who has claimed a piece may read this, and where its stretch is, until the piece is done.
    int count, grain, pieces;
    unsigned finished_before;  // `finished` before any piece of it could be claimed; the caller's
    PoolRange range;
    void *context;
    _Alignas(LINE) atomic_int finished;  // pieces that workers have ever done, modulo 2^32; the caller waits for it
    _Alignas(LINE) atomic_int sleepers;  // workers that may sleep on `generation`
    atomic_int caller_sleeps;
};

static inline void spin_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static void word_sleep(atomic_int *word, int seen)
{
    syscall(SYS_futex, (int *)word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static void word_wake(atomic_int *word, int count)
{
    syscall(SYS_futex, (int *)word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

static bool claim_piece(Stretch *stretch, int *piece)
{
    int left = atomic_load_explicit(&stretch->left, memory_order_acquire);
    while (left > 0)
        if (atomic_compare_exchange_weak(&stretch->left, &left, left - 1)) {
            *piece = stretch->first + stretch->count - left;
            return true;
        }
    return false;
}

// Returns how many pieces were done: all of one loop, which cannot end before they are counted.
static int take_pieces(Pool *pool, int worker)
{
    assert_debug(worker >= 0 && worker < pool->thread_count);
    int done = 0;
    for (int i = 0; i < pool->thread_count; i++) {
        Stretch *stretch = &pool->stretches[(worker + i) % pool->thread_count];
        for (int piece; claim_piece(stretch, &piece); done++) {
            assert_debug(piece >= 0 && piece < pool->pieces);
            int begin = piece * pool->grain;
            pool->range(begin, int_min(begin + pool->grain, pool->count), worker, pool->context);
        }
    }
    return done;
}

static void help(Pool *pool, int worker)
{
    assert_debug(worker > 0);
    int done = take_pieces(pool, worker);
    if (done == 0)
        return;
    atomic_fetch_add(&pool->finished, done);
    if (atomic_load(&pool->caller_sleeps))
        word_wake(&pool->finished, 1);
}

static int wait_for_work(Pool *pool, int seen)
{
    for (int i = 0; i < pool->spin_rounds; i++) {
        int generation = atomic_load_explicit(&pool->generation, memory_order_acquire);
        if (generation != seen)
            return generation;
        spin_pause();
    }
    // Counted before the last look: whoever changes the word afterwards sees the sleeper.
    atomic_fetch_add(&pool->sleepers, 1);
    int generation;
    while ((generation = atomic_load(&pool->generation)) == seen)
        word_sleep(&pool->generation, seen);
    atomic_fetch_sub(&pool->sleepers, 1);
    return generation;
}

static void *worker_main(void *argument)
{
    Worker *worker = argument;
    Pool *pool = worker->pool;
    int seen = 0;
    for (;;) {
        seen = wait_for_work(pool, seen);
        if (atomic_load(&pool->stop))
            return NULL;
        help(pool, worker->index);
    }
}

// Processors that this process may use, which can be fewer than the machine has.
static int processor_count(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
    return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

Pool *pool_create(int thread_count)
{
    Pool *pool = memory_alloc_lines(sizeof *pool);
    pool->thread_count = int_max(thread_count, 1);
    pool->spin_rounds = pool->thread_count <= processor_count() ? SPIN_ROUNDS : SPIN_ROUNDS_CROWDED;
    pool->workers = memory_alloc_array((size_t)pool->thread_count, sizeof *pool->workers);
    pool->stretches = memory_alloc_lines(memory_product((size_t)pool->thread_count, sizeof *pool->stretches));
    for (int i = 1; i < pool->thread_count; i++) {
        pool->workers[i] = (Worker){ .pool = pool, .index = i };
        if (pthread_create(&pool->workers[i].thread, NULL, worker_main, &pool->workers[i]) != 0) {
            pool->thread_count = i;  // fewer helpers give the same results, later
            break;
        }
    }
    return pool;
}

static void start_generation(Pool *pool, int helpers)
{
    atomic_fetch_add(&pool->generation, 1);
    if (atomic_load(&pool->sleepers) > 0)
        word_wake(&pool->generation, helpers);
}

void pool_destroy(Pool *pool)
{
    if (!pool)
        return;
    atomic_store(&pool->stop, true);
    start_generation(pool, pool->thread_count);
    for (int i = 1; i < pool->thread_count; i++)
        pthread_join(pool->workers[i].thread, NULL);
    free(pool->workers);
    free(pool->stretches);
    free(pool);
}

int pool_thread_count(const Pool *pool) { return pool ? pool->thread_count : 1; }

static void wait_for_workers(Pool *pool, int goal)
{
    for (int i = 0; i < pool->spin_rounds; i++) {
        if (atomic_load_explicit(&pool->finished, memory_order_acquire) == goal)
            return;
        spin_pause();
    }
    atomic_store(&pool->caller_sleeps, 1);
    int finished;
    while ((finished = atomic_load(&pool->finished)) != goal)
        word_sleep(&pool->finished, finished);
    atomic_store(&pool->caller_sleeps, 0);
}

static void start_loop(Pool *pool, int count, int grain, PoolRange range, void *context)
{
    assert_debug(count > 0 && grain > 0);
    pool->count = count;
    pool->grain = grain;
    pool->pieces = (count - 1) / grain + 1;
    pool->range = range;
    pool->context = context;
    // Between two loops no worker counts anything. From the first stretch on one that still looks round may.
    pool->finished_before = (unsigned)atomic_load_explicit(&pool->finished, memory_order_relaxed);
}

static void give_stretch(Pool *pool, int thread, int first, int count)
{
    assert_debug(thread >= 0 && thread < pool->thread_count && first >= 0 && count >= 0);
    pool->stretches[thread].first = first;
    pool->stretches[thread].count = count;
    atomic_store_explicit(&pool->stretches[thread].left, count, memory_order_release);
}

static void run_loop(Pool *pool)
{
    start_generation(pool, pool->pieces - 1);
    int done = take_pieces(pool, 0);
    wait_for_workers(pool, (int)(pool->finished_before + (unsigned)(pool->pieces - done)));
}

// In pieces.
static int share_end(const Pool *pool, int pieces, int thread)
{
    assert_debug(pieces >= 0 && thread >= 0 && thread < pool->thread_count);
    return (int)((int64_t)pieces * (thread + 1) / pool->thread_count);
}

int pool_share_end(const Pool *pool, int count, int grain, int thread)
{
    assert(count >= 0 && grain > 0 && thread >= 0 && thread < pool_thread_count(pool));
    if (!pool || count <= grain)
        return count;
    return int_min(count, share_end(pool, (count - 1) / grain + 1, thread) * grain);
}

void pool_for_threads(Pool *pool, int count, int grain, PoolRange range, void *context)
{
    assert(count >= 0 && range);
    if (count <= 0)
        return;
    if (!pool || pool->thread_count == 1 || count <= grain) {
        range(0, count, 0, context);
        return;
    }
    start_loop(pool, count, int_max(grain, 1), range, context);
    for (int i = 0, first = 0; i < pool->thread_count; i++) {
        int end = share_end(pool, pool->pieces, i);
        give_stretch(pool, i, first, end - first);
        first = end;
    }
    run_loop(pool);
}

void pool_for_shares(Pool *pool, const int *ends, PoolRange range, void *context)
{
    assert(ends && range);
    const int thread_count = pool_thread_count(pool), count = ends[thread_count - 1];
    if (thread_count == 1 || count <= 1) {
        pool_for(NULL, count, 1, range, context);
        return;
    }
    start_loop(pool, count, 1, range, context);
    for (int i = 0, first = 0; i < thread_count; i++) {
        assert(ends[i] >= first && ends[i] <= count);
        give_stretch(pool, i, first, ends[i] - first);
        first = ends[i];
    }
    run_loop(pool);
}
