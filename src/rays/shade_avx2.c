// The light on eight surfaces with wide instructions: the same source, compiled with -mavx2 where the compiler knows
// it.
#include "rays/rays_internal.h"

#define SHADE_VARIANT shade_avx2
#include "rays/shade.c"
