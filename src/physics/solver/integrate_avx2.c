// Poses from velocities with wide instructions: the same source, compiled with -mavx2 where the compiler knows it.
#include "physics/solver/solver_internal.h"

#define INTEGRATE_VARIANT solver_bodies_integrate_avx2
#include "physics/solver/integrate.c"
