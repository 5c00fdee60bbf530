// The triangles of a picture with wide instructions: the same source, compiled with -mavx2 where the compiler knows it.
#include "rays/rays_internal.h"

#define FILL_VARIANT raster_fill_avx2
#include "rays/raster_fill.c"
