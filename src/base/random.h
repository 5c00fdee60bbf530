// random.h - repeatable random streams, one per user (a device, a noise source), so that a new one disturbs no old one.
#ifndef TALUS_BASE_RANDOM_H
#define TALUS_BASE_RANDOM_H

#include "base/common.h"

typedef struct Random {
    uint64_t state[2];
    double spare;
    bool has_spare;
} Random;

void random_seed(Random *random, uint64_t seed, const char *name);
uint64_t random_bits(Random *random);
double random_uniform(Random *random);   // [0, 1)
double random_gaussian(Random *random);  // mean 0, standard deviation 1

#endif
