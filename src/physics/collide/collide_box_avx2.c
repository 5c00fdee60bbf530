// Box against box with wide instructions: the same source, compiled with -mavx2 where it is known.
#include "physics/collide/collide_internal.h"

#define BOX_VARIANT collide_box_box_avx2
#include "physics/collide/collide_box.c"
