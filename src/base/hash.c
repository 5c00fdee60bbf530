// hash.c - hashes of bytes, the same on every machine.
#include "base/hash.h"

#include <string.h>

// Multiply-and-fold over 8-byte words (the mixing step of wyhash-like functions, written anew).
static uint64_t fold(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t hash_bytes(const void *data, size_t size, uint64_t seed)
{
    assert_debug(data || size == 0);
    const unsigned char *bytes = data;
    uint64_t hash = seed ^ 0x2d358dccaa6c78a5u;
    size_t left = size;
    for (; left >= 8; left -= 8, bytes += 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        hash = fold(hash ^ word, 0x8bb84b93962eacc9u);
    }
    uint64_t tail = 0;
    for (size_t i = 0; i < left; i++)
        tail |= (uint64_t)bytes[i] << (8 * i);
    return fold(hash ^ tail, (uint64_t)size ^ 0x4b33a62ed433d4a3u);
}

uint64_t hash_string(const char *text) { return hash_bytes(text, strlen(text), 0); }
