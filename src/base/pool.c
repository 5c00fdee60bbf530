#include "base/pool.h"

#include "base/memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sched.h>
#include <stdlib.h>

#define SPIN_ROUNDS 2000

typedef struct Worker {
    Pool *pool;
    pthread_t thread;
    int index;
} Worker;

struct Pool {
    int thread_count;
    Worker *workers;
    pthread_mutex_t mutex;
    pthread_cond_t work, done;
    atomic_int generation;  // of the loop; workers wait for it to change
    atomic_int busy;        // workers that have not finished this loop
    atomic_int next;
    bool stop;
    int count, grain;
    PoolRange range;
    void *context;
};

static void take_pieces(Pool *pool, int worker)
{
    for (;;) {
        int begin = atomic_fetch_add(&pool->next, pool->grain);
        if (begin >= pool->count)
            return;
        pool->range(begin, int_min(begin + pool->grain, pool->count), worker, pool->context);
    }
}

// Loops follow each other within microseconds during a step, so a worker spins for a moment before it sleeps.
static int wait_for_work(Pool *pool, int seen)
{
    for (int i = 0; i < SPIN_ROUNDS; i++) {
        int generation = atomic_load_explicit(&pool->generation, memory_order_acquire);
        if (generation != seen)
            return generation;
        if (i % 64 == 63)
            sched_yield();
    }
    pthread_mutex_lock(&pool->mutex);
    while (atomic_load(&pool->generation) == seen)
        pthread_cond_wait(&pool->work, &pool->mutex);
    int generation = atomic_load(&pool->generation);
    pthread_mutex_unlock(&pool->mutex);
    return generation;
}

static void *worker_main(void *argument)
{
    Worker *worker = argument;
    Pool *pool = worker->pool;
    int seen = 0;
    for (;;) {
        seen = wait_for_work(pool, seen);
        if (pool->stop)
            return NULL;
        take_pieces(pool, worker->index);
        if (atomic_fetch_sub(&pool->busy, 1) == 1) {
            pthread_mutex_lock(&pool->mutex);
            pthread_cond_signal(&pool->done);
            pthread_mutex_unlock(&pool->mutex);
        }
    }
}

Pool *pool_create(int thread_count)
{
    Pool *pool = memory_alloc(sizeof *pool);
    pool->thread_count = int_max(thread_count, 1);
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->done, NULL);
    pool->workers = memory_alloc_array((size_t)pool->thread_count, sizeof *pool->workers);
    for (int i = 1; i < pool->thread_count; i++) {
        pool->workers[i] = (Worker){ .pool = pool, .index = i };
        if (pthread_create(&pool->workers[i].thread, NULL, worker_main, &pool->workers[i]) != 0) {
            pool->thread_count = i;  // fewer helpers give the same results, later
            break;
        }
    }
    return pool;
}

static void start_generation(Pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    atomic_fetch_add(&pool->generation, 1);
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->mutex);
}

void pool_destroy(Pool *pool)
{
    if (!pool)
        return;
    pool->stop = true;
    start_generation(pool);
    for (int i = 1; i < pool->thread_count; i++)
        pthread_join(pool->workers[i].thread, NULL);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->mutex);
    free(pool->workers);
    free(pool);
}

int pool_thread_count(const Pool *pool)
{
    return pool ? pool->thread_count : 1;
}

void pool_for(Pool *pool, int count, int grain, PoolRange range, void *context)
{
    if (count <= 0)
        return;
    if (!pool || pool->thread_count == 1 || count <= grain) {
        range(0, count, 0, context);
        return;
    }
    pool->count = count;
    pool->grain = int_max(grain, 1);
    pool->range = range;
    pool->context = context;
    atomic_store(&pool->next, 0);
    atomic_store(&pool->busy, pool->thread_count - 1);
    start_generation(pool);
    take_pieces(pool, 0);
    for (int i = 0; i < SPIN_ROUNDS && atomic_load_explicit(&pool->busy, memory_order_acquire) > 0; i++)
        if (i % 64 == 63)
            sched_yield();
    if (atomic_load(&pool->busy) == 0)
        return;
    pthread_mutex_lock(&pool->mutex);
    while (atomic_load(&pool->busy) > 0)
        pthread_cond_wait(&pool->done, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
}
