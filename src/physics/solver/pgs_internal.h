// pgs_internal.h - the iterative method's own data, for its files: pgs.c leads a step, pgs_manifolds.c makes manifolds
// of contacts and rows of joints, pgs_blocks.c colours manifolds and packs them into blocks, pgs_rows.c does what does
// not fit those; the inner loops over blocks are pgs_block.c's.
#ifndef TALUS_PHYSICS_PGS_INTERNAL_H
#define TALUS_PHYSICS_PGS_INTERNAL_H

#include "physics/solver/pgs_block.h"
#include "physics/solver/solver_internal.h"

#include <stdatomic.h>

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
} PgsBody;
static_assert(sizeof(PgsBody) == 32, "two of them in a line of the cache");

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

enum { BLOCK_GRAIN = 4 };  // blocks that a worker takes at a time
enum { CONTACT_OPENS = 1, CONTACT_IS_PLAIN = 2 };

struct PgsScratch {
    SharedBlock *shared;  // of the solver: blocks and points stand there
    const SolverInput *input;
    PgsOptions options;
    const IslandTask *tasks;
    int task_count;
    ContactPiece *pieces;
    uint8_t *marks;  // per contact: whether it opens a manifold, or is kept as plain rows
    int32_t
        *kinematic_place;  // per body, once one is kinematic: its place among the loose ones in this step, 0: none yet
    int piece_capacity, mark_capacity, kinematic_capacity, piece_count, moving_count;
    PgsBody *bodies;
    PgsVelocity *velocities;
    PgsVelocity *checked;  // velocities before the step, then of an iteration before
    PgsIsland *islands;    // beside tasks
    uint8_t *is_done;      // per block: all islands in it have converged
    bool has_done;         // some block is
    Manifold *manifolds;
    int32_t *by_colour;
    BlockSpan *spans;       // per block
    int32_t *block_order;   // per block: where it begins in by_colour
    int32_t *block_shares;  // blocks as threads take them to build and to write
    PgsBlock *blocks;
    PgsPoint *points;      // of all blocks, of each as many as its longest lane has
    PgsSide *others;       // beside those of blocks that are not on the world
    PgsSurface *surfaces;  // of rows of the table, then of blocks that have their own
    uint64_t *colours;     // per loose body: those taken
    PlainRow *rows;
    ContactMemory *memory;
    RollingMemory *rolling;  // beside it, NULL: nothing rolls
    const BlockKernels *kernels;
    int span_capacity, block_order_capacity, block_share_capacity, island_capacity, done_capacity, body_capacity,
        velocity_capacity, checked_capacity, manifold_capacity, by_colour_capacity, colour_capacity, row_capacity;
    int body_count, manifold_count, block_count, row_count;
    int colour_count;
    int32_t *colour_first;  // manifolds of colour c in by_colour
    int32_t *block_first;
    int32_t *rank_first;  // the same by colour and number of points
    int colour_first_capacity, block_first_capacity, rank_first_capacity;
};

// pgs.c: bodies of the step, by place. 0 is the world; those that move stand before the others.
static inline bool pgs_moves(const PgsScratch *s, int place) { return place > 0 && place < s->moving_count; }
int pgs_body_add(PgsScratch *s, int body);
int pgs_fixed_place(PgsScratch *s, int body);  // of a body that nothing here moves
int pgs_place(PgsScratch *s, const IslandTask *task, int body);

// pgs_manifolds.c: contacts are marked in pieces, on any thread; then all is added in the order of islands.
void pgs_pieces_cut(PgsScratch *s);
void pgs_mark_pieces(int begin, int end, int worker, void *context);
void pgs_add_bodies(PgsScratch *s, const IslandTask *task);
void pgs_add_joints(PgsScratch *s, const IslandTask *task);
void pgs_add_contacts(PgsScratch *s, int index);

// pgs_blocks.c: colours and the room for blocks; then the blocks, and in the end what contacts remember of them, on any
// thread.
void pgs_colour(PgsScratch *s);
void pgs_build_blocks(int begin, int end, int worker, void *context);
void pgs_write_blocks(int begin, int end, int worker, void *context);

// pgs_rows.c: rows beside the blocks.
PlainRow *pgs_row_add(PgsScratch *s);
void pgs_row_fill(PgsScratch *s, PlainRow *row, int body1, int body2, const double *j1, const double *j2, double cfm);
void pgs_rows_prepare(PgsScratch *s);
void pgs_rows_iterate(PgsScratch *s);
void pgs_rows_write(PgsScratch *s);

#endif
