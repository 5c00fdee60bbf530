// sha256.h - the SHA-256 digest (FIPS 180-4), for content-addressed storage. Not for tables: hash.h is much faster.
#ifndef TALUS_BASE_SHA256_H
#define TALUS_BASE_SHA256_H

#include "base/common.h"

typedef struct Sha256 {
    uint32_t state[8];
    uint64_t size;
    uint8_t block[64];
} Sha256;

void sha256_init(Sha256 *sha);
void sha256_add(Sha256 *sha, const void *data, size_t size);
void sha256_end(Sha256 *sha, char hex[65]);  // lower case, with its NUL

#endif
