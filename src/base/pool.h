// pool.h - a few threads that help with one loop at a time. Item i writes slot i alone, so results do not depend on the
// number of threads or on who took which item. A Pool belongs to the thread that created it.
#ifndef TALUS_BASE_POOL_H
#define TALUS_BASE_POOL_H

#include "base/common.h"

typedef struct Pool Pool;
// `worker` is 0 to pool_thread_count-1 and unique among the calls running at once: an index for scratch memory.
typedef void (*PoolRange)(int begin, int end, int worker, void *context);

Pool *pool_create(int thread_count);      // counts the caller's thread; 1 or less means no thread is started
void pool_destroy(Pool *pool);            // NULL is fine
int pool_thread_count(const Pool *pool);  // 1 for NULL

// Calls `range` for pieces of [0, count) of at most `grain` items and returns when all are done.
// Who did the first items of the last loop does the first of this one, as long as there is no better.
void pool_for_threads(Pool *pool, int count, int grain, PoolRange range, void *context);  // with more than one thread
static inline void pool_for(Pool *pool, int count, int grain, PoolRange range, void *context)
{
    if (pool)
        pool_for_threads(pool, count, grain, range, context);
    else if (count > 0)
        range(0, count, 0, context);
}
// Where the items end with which a thread begins in such a loop.
int pool_share_end(const Pool *pool, int count, int grain, int thread);
// The same for items one by one where the caller knows what is a fair share: thread i begins with those before ends[i],
// of which there is one per thread. The last end is the number of items.
void pool_for_shares(Pool *pool, const int *ends, PoolRange range, void *context);

#endif
