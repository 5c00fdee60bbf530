// The rows of constraints with wide instructions: the same source, compiled with -mavx2 where the compiler knows it.
#include "physics/joints/constraint.h"

#define CONSTRAINT_VARIANT constraint_rows_avx2
#define CONSTRAINT_HOLD_VARIANT constraint_hold_avx2
#include "physics/joints/constraint_rows.c"
