// Loose bodies (to follow).
#include "physics/solver_internal.h"
#include "base/memory.h"
#include <stdlib.h>
struct LooseScratch { int unused; };
LooseScratch *loose_scratch_create(void) { return memory_alloc(sizeof(LooseScratch)); }
void loose_scratch_destroy(LooseScratch *scratch) { free(scratch); }
