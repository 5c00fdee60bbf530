// Cached points with wide instructions: the same source, compiled with -mavx2 where it is known.
#include "physics/collide/cache_entry.h"

#define CACHE_VARIANT cache_entry_avx2
#include "physics/collide/cache_entry.c"
