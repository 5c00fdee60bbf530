// memory.h - the heap, with the checks every caller would repeat. Running out of memory ends the process with a
// message and exit code 5; nothing sensible can follow it.
#ifndef TALUS_BASE_MEMORY_H
#define TALUS_BASE_MEMORY_H

#include "base/common.h"

void *memory_alloc(size_t size);                           // zeroed
void *memory_alloc_raw(size_t size);                       // not zeroed
void *memory_alloc_array(size_t count, size_t item_size);  // zeroed
void *memory_alloc_lines(size_t size);                     // zeroed; shares no cache line with anything else
void *memory_resize(void *data, size_t count, size_t item_size);
char *memory_text(const char *text, size_t length);
char *memory_string(const char *text);
size_t memory_product(size_t count, size_t item_size);  // ends the process when it overflows

void memory_grow_more(void *data_pointer, int *capacity, int needed,
                      size_t item_size);  // the rare part of memory_grow()
// Makes room for at least `needed` items in a growing array: *data and *capacity are updated, growth is geometric.
static inline void memory_grow(void *data_pointer, int *capacity, int needed, size_t item_size)
{
    if (needed > *capacity)
        memory_grow_more(data_pointer, capacity, needed, item_size);
}

#endif
