// The iterative method's inner loops with wide instructions: the same source, compiled with -mavx2 where it is known.
#include "physics/solver/solver_block.h"

#define BLOCK_VARIANT solver_block_avx2
#include "physics/solver/solver_block.c"
