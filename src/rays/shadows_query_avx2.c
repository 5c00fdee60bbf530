// Shadows of the sun with wide instructions: the same source, compiled with -mavx2 where the compiler knows it.
#include "rays/rays_internal.h"

#define DARKEN_VARIANT shadows_darken_avx2
#include "rays/shadows_query.c"
