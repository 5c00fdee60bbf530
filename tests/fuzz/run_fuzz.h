// run_fuzz.h - what the fuzz targets of running worlds share: how such a world is opened, and what must hold in it.
#ifndef TALUS_TESTS_RUN_FUZZ_H
#define TALUS_TESTS_RUN_FUZZ_H

#include "talus/talus.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const TalusOptions run_fuzz_options = {
    .size = sizeof(TalusOptions), .freezes_on_nan = true, .is_untrusted = true, .threads = 1
};

static inline void run_fuzz_check(const TalusWorld *world)
{
    TalusNode solids[200];
    int count = talus_solids(world, solids, 200);
    for (int i = 0; i < count && i < 200 && !talus_failure(world); i++) {
        TalusPose pose;
        if (talus_pose(world, solids[i], &pose) && !isfinite(pose.position.x + pose.orientation.w)) {
            fprintf(stderr, "the pose of '%s' is not finite\n", talus_solid_label(world, solids[i]));
            abort();
        }
    }
}

#endif
