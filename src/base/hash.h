// hash.h - one 64-bit hash for tables, cache keys and the state hash. Stable across machines and builds.
#ifndef TALUS_BASE_HASH_H
#define TALUS_BASE_HASH_H

#include "base/common.h"

uint64_t hash_bytes(const void *data, size_t size, uint64_t seed);
uint64_t hash_string(const char *text);

static inline uint64_t hash_combine(uint64_t hash, uint64_t value)
{
    uint64_t mixed = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return mixed ^ (mixed >> 29);
}

#endif
