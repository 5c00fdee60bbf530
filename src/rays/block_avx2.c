// Eight neighbours of a flat picture with wide instructions: the same source, compiled with -mavx2 where the compiler
// knows it.
#include "rays/rays_internal.h"

#define BLOCK_VARIANT block_surfaces_avx2
#include "rays/block.c"
