// memory.c - allocation that ends the process with a message instead of returning NULL.
#include "base/memory.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void give_up(size_t size)
{
    fprintf(stderr, "talus: out of memory (%zu bytes wanted)\n", size);
    exit(5);
}

size_t memory_product(size_t count, size_t item_size)
{
    size_t size;
    if (__builtin_mul_overflow(count, item_size, &size))
        give_up(SIZE_MAX);
    return size;
}

void *memory_alloc(size_t size)
{
    void *data = calloc(1, size ? size : 1);
    if (!data)
        give_up(size);
    return data;
}

void *memory_alloc_raw(size_t size)
{
    void *data = malloc(size ? size : 1);
    if (!data)
        give_up(size);
    return data;
}

void *memory_alloc_lines(size_t size)
{
    // Processors fetch lines in pairs: what different threads write stands two apart.
    const size_t apart = 128;
    if (size > SIZE_MAX - apart)
        give_up(size);
    size_t whole = (size + apart - 1) / apart * apart;
    void *data = aligned_alloc(apart, whole ? whole : apart);
    if (!data)
        give_up(size);
    return memset(data, 0, whole);
}

void *memory_alloc_array(size_t count, size_t item_size) { return memory_alloc(memory_product(count, item_size)); }

void *memory_resize(void *data, size_t count, size_t item_size)
{
    size_t size = memory_product(count, item_size);
    void *resized = realloc(data, size ? size : 1);
    if (!resized)
        give_up(size);
    return resized;
}

char *memory_text(const char *text, size_t length)
{
    char *copy = memory_alloc_raw(length + 1);
    if (length)
        memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

char *memory_string(const char *text) { return memory_text(text, strlen(text)); }

void memory_grow_more(void *data_pointer, int *capacity, int needed, size_t item_size)
{
    assert(needed > *capacity);
    int grown = *capacity < 8 ? 8 : *capacity + *capacity / 2;
    if (grown < needed)
        grown = needed;
    void **data = data_pointer;
    *data = memory_resize(*data, (size_t)grown, item_size);
    *capacity = grown;
}
