// The iterative method's inner loops with wide instructions: the same source, compiled with -mavx2 where it is known.
#include "physics/solver/pgs_block.h"

#define BLOCK_VARIANT pgs_block_avx2
#include "physics/solver/pgs_block.c"
