// collide_random.h - random poses for the tests of kernels. Each test names its own COLLIDE_SEED first, so that its
// numbers stay when another's change.
#ifndef TALUS_TESTS_PHYSICS_COLLIDE_RANDOM_H
#define TALUS_TESTS_PHYSICS_COLLIDE_RANDOM_H

#include "physics/collide/collide.h"

#include <math.h>
#include <ode/ode.h>

static uint64_t seed = COLLIDE_SEED;
static inline double random_unit(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) / 9007199254740992.0;
}

static inline void pose_from_quaternion(const double q[4], CollidePose *pose)
{
    dMatrix3 r;
    dQtoR(q, r);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            pose->rotation[3 * i + k] = r[4 * i + k];
}

static inline void random_pose(double spread, CollidePose *pose, double q[4])
{
    double length = 0.0;
    for (int i = 0; i < 4; i++) {
        q[i] = random_unit() - 0.5;
        length += q[i] * q[i];
    }
    for (int i = 0; i < 4; i++)
        q[i] /= sqrt(length);
    pose_from_quaternion(q, pose);
    for (int i = 0; i < 3; i++)
        pose->position[i] = spread * (random_unit() - 0.5);
}

#endif
