// The direct method with wide instructions: the same source, compiled with -mavx2 where the compiler knows it.
#include "physics/solver/solver_internal.h"

#define SOLVER_VARIANT solver_direct_avx2
#define SOLVER_TREES_VARIANT solver_trees_avx2
#include "physics/solver/solver_direct.c"
