// pgs_block.h - eight pairs of loose bodies side by side, no body twice, as the iterative method works on them.
#ifndef TALUS_PHYSICS_SOLVER_BLOCK_H
#define TALUS_PHYSICS_SOLVER_BLOCK_H

#include "base/common.h"

#define BLOCK_LANES 8
#define BLOCK_POINTS 4
#define BLOCK_NO_BOUNCE 1e30f

typedef float F8 __attribute__((vector_size(32)));
typedef int32_t I8 __attribute__((vector_size(32)));

// Velocity of one body: linear, angular, two unused; of one that `change` looks at, the distance of its rim in m.
enum { VELOCITY_RIM = 6 };
typedef struct PgsVelocity {
    float v[8];
} PgsVelocity __attribute__((aligned(32)));

// A point as one of the two bodies sees it.
typedef struct PgsSide {
    F8 r[3];     // from the centre of mass
    F8 turn[3];  // what a unit impulse along the normal adds to the angular velocity
} PgsSide;

typedef struct PgsPoint {
    PgsSide side;           // of the first body
    F8 rhs;                 // wanted normal velocity; before `prepare` without what bounces
    F8 mass, mass1, mass2;  // one over stiffness of the normal and of the two friction directions; 0 in unused lanes
    F8 impulse, impulse1, impulse2;
} PgsPoint;

// What the surfaces of a block do. Blocks whose lanes are all of one row of the table share it.
typedef struct PgsSurface {
    F8 gamma1, gamma2;  // softness of friction
    F8 rhs1, rhs2;      // wanted velocities along its directions
    F8 mu1, mu2;
    F8 bounce, bounce_velocity;  // restitution, and the speed that bounces; BLOCK_NO_BOUNCE where nothing does
} PgsSurface;

typedef struct PgsBlock {
    int32_t body1[BLOCK_LANES], body2[BLOCK_LANES];  // places in the velocity array
    uint8_t moves1, moves2;                          // bit per lane: the body is written back
    int16_t point_count;
    bool bounces;  // in some lane
    F8 normal[3], tangent1[3], tangent2[3];
    F8 inverse_mass1, inverse_mass2;
    F8 inertia1[6], inertia2[6];  // inverse, world frame: xx xy xz yy yz zz
    F8 gamma;                     // softness of the normal
    const PgsSurface *surface;
    PgsPoint *points;  // point_count of them,
    PgsSide *others;   // and as the second bodies see them; NULL: these are the world in all lanes, which never moves
} PgsBlock;

typedef struct BlockKernels {
    // Masses from the geometry, and what bounces from the velocities before the step.
    void (*prepare)(PgsBlock *blocks, int count, const PgsVelocity *before);
    void (*warm_start)(PgsBlock *blocks, int count, PgsVelocity *velocities);
    void (*iterate)(PgsBlock *blocks, int count, PgsVelocity *velocities);
    // The largest difference of a speed, at the centre or by turning at the rim, from `before`, which becomes the same.
    float (*change)(const PgsVelocity *velocities, PgsVelocity *before, int count);
} BlockKernels;

extern const BlockKernels pgs_block_portable, pgs_block_avx2;

#endif
