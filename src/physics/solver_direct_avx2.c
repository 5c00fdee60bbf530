// The direct method with wide instructions: the same source, compiled with -mavx2 where the compiler knows it.
#include "physics/solver_internal.h"

#define SOLVER_VARIANT solver_direct_avx2
#include "physics/solver_direct.c"
