/* batch.h - many copies of one world, stepped together over threads: actions in, observations out, each one contiguous
 * block.
 *
 * World i does the same to the last bit whatever the number of worlds and threads. Once every world has made a few
 * steps, talus_batch_step takes no memory. One thread at a time works on a batch; it starts the others itself.
 * Everything below fails as talus.h says, with words in talus_last_error(). */
#ifndef TALUS_BATCH_H
#define TALUS_BATCH_H

#include <talus/talus.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TalusBatch TalusBatch;

/* `count` clones of the world as it is now, on so many threads (0: one for each core). The world itself is not needed
   afterwards and may be changed or freed; it changes nothing here. */
TALUS_API TalusBatch *talus_batch_create(TalusWorld *world, int count, int threads);
TALUS_API void talus_batch_free(TalusBatch *batch); /* NULL is fine */
TALUS_API int talus_batch_count(const TalusBatch *batch);
TALUS_API int talus_batch_threads(const TalusBatch *batch);

/* ---- what goes in and out ---- */

/* Items as in talus_view_create: what each world is told before each step, and what is read after it. Blocks are made
 * anew. */
TALUS_API bool talus_batch_set_actions(TalusBatch *batch, const char *const *items, int count);
TALUS_API bool talus_batch_set_observations(TalusBatch *batch, const char *const *items, int count);
/* Names, units and ranges of one row. They belong to the batch. */
TALUS_API const TalusView *talus_batch_action_view(const TalusBatch *batch);
TALUS_API const TalusView *talus_batch_observation_view(const TalusBatch *batch);
/* One row for each world, valid until the items are set anew. Actions are filled in by the caller and stay as they are;
   sensors that have no reading yet are 0. */
TALUS_API double *talus_batch_actions(TalusBatch *batch);
TALUS_API const double *talus_batch_observations(const TalusBatch *batch);
/* The last observations of an episode, of worlds that were reset in this step; of one that failed, those before that.
 */
TALUS_API const double *talus_batch_final_observations(const TalusBatch *batch);
/* One for each world, of the last step: an item left its range, or it failed; the limit of steps was reached; its state
   became not finite (why: talus_batch_failure) and it was reset. Bytes are 0 or 1. */
TALUS_API const uint8_t *talus_batch_terminated(const TalusBatch *batch);
TALUS_API const uint8_t *talus_batch_truncated(const TalusBatch *batch);
TALUS_API const uint8_t *talus_batch_failed(const TalusBatch *batch);
TALUS_API const uint64_t *talus_batch_episode_steps(const TalusBatch *batch);  /* of the batch, since the last reset */
TALUS_API const char *talus_batch_failure(const TalusBatch *batch, int index); /* "" while all is well */

/* ---- episodes ---- */

typedef enum TalusAutoreset {
    TALUS_RESET_NEVER,     /* a world that has ended stands still until it is reset; one that failed is reset at once */
    TALUS_RESET_SAME_STEP, /* it is reset in the step in which it ends; its last observation is in the final ones */
    TALUS_RESET_NEXT_STEP  /* the step after that resets it in place of stepping it, whatever the action */
} TalusAutoreset;
TALUS_API bool talus_batch_set_autoreset(TalusBatch *batch, TalusAutoreset autoreset); /* at first: never */
TALUS_API bool talus_batch_set_repeat(TalusBatch *batch, int steps);    /* of a world in one of the batch; at first 1 */
TALUS_API bool talus_batch_set_limit(TalusBatch *batch, int64_t steps); /* of the batch, then truncated; 0: no limit */
/* An episode ends when a number of the item is outside of low to high. Up to 64 of them. */
TALUS_API bool talus_batch_terminate(TalusBatch *batch, const char *item, double low, double high);

typedef enum TalusChange { TALUS_CHANGE_SET, TALUS_CHANGE_ADD, TALUS_CHANGE_SCALE } TalusChange;
typedef enum TalusSpread {
    TALUS_SPREAD_UNIFORM,     /* a to b */
    TALUS_SPREAD_NORMAL,      /* mean a, standard deviation b */
    TALUS_SPREAD_LOG_UNIFORM, /* a to b, both positive */
} TalusSpread;
/* At each reset a number is drawn and set, added to what the world has at its start, or multiplied with it. `what` is
   the path of a field
   ("POLE.physics.mass", see talus_get_path) or an item that can be written ("joint_position HINGE": each of its numbers
   is drawn by itself). Fields give every world nodes of its own. Up to 64 of them, drawn in this order. */
TALUS_API bool talus_batch_randomise(TalusBatch *batch, const char *what, TalusChange change, TalusSpread spread,
                                     double a, double b);

/* Episode k of world i draws from a seed made of this one, i and k; k is counted anew. At first 0. */
TALUS_API bool talus_batch_set_seed(TalusBatch *batch, uint64_t seed);
/* Those whose byte in `mask` is not 0 (NULL: all) begin a new episode. With `seeds`, one for each world, they draw from
   those, and episodes after them from seeds made of those. */
TALUS_API bool talus_batch_reset(TalusBatch *batch, const uint8_t *mask, const uint64_t *seeds);
TALUS_API uint64_t talus_batch_seed(const TalusBatch *batch, int index); /* of the episode that runs */

/* All worlds, one step of the batch. False when an action is not a number: then nothing is stepped. */
TALUS_API bool talus_batch_step(TalusBatch *batch);

/* Many steps of the batch with actions that are known before: each world makes all of its steps by itself, so threads
   do not meet after each, and a world stays in the cache. World by world the same bits as steps one by one; afterwards
   the batch's own observations and flags are those of the last step. Blocks have `stride` steps for each world, one
   behind the other, of which the first `steps` are read and written: row k of world i begins at (i * stride + k) *
   columns. */
typedef struct TalusRollout {
    size_t size;           /* as of TalusOptions */
    int steps;             /* of the batch; 0 does nothing */
    int stride;            /* 0: as many as `steps` */
    const double *actions; /* NULL: those of the batch in every step */
    double *observations;  /* NULL where nobody wants them, as for the flags: a byte for each step */
    uint8_t *terminated, *truncated, *failed;
} TalusRollout;
static inline TalusRollout talus_rollout_defaults(void) /* no step, nothing wanted */
{
    TalusRollout rollout;
    memset(&rollout, 0, sizeof rollout);
    rollout.size = sizeof rollout;
    return rollout;
}
/* False when an action is not a number: then nothing is stepped. */
TALUS_API bool talus_batch_rollout(TalusBatch *batch, const TalusRollout *rollout);

/* One of the worlds, to look at or to change between steps. It belongs to the batch. */
TALUS_API TalusWorld *talus_batch_world(TalusBatch *batch, int index);

#ifdef __cplusplus
}
#endif

#endif
