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

// Of arrays, in pieces that the C library copies by registers: for large ones it takes an instruction that callgrind
// counts once a byte, and that is no faster for what is in the cache.
void memory_copy(void *to, const void *from, size_t size);

// GCC takes a function that just asks for bytes for one without effect and leaves its calls out; not with this in it.
#define MEMORY_KEEP_PREFETCH() __asm__ volatile("")

// Asks for bytes to be in the second cache, on every line that they lie on: what is read microseconds later. The first
// cache takes few requests at a time, and whoever asks for more waits. Any address is fine: nothing is read.
static inline void memory_prefetch(const void *at, size_t size)
{
    enum { LINE = 64, SECOND_CACHE = 2 };
    const char *end = (const char *)at + size;
    MEMORY_KEEP_PREFETCH();
    for (const char *line = (const char *)((uintptr_t)at & -(uintptr_t)LINE); line < end; line += LINE)
        __builtin_prefetch(line, 0, SECOND_CACHE);
}

// The same for a few lines that are read in a moment: in the first cache.
static inline void memory_prefetch_near(const void *at, size_t size)
{
    enum { LINE = 64, FIRST_CACHE = 3 };
    const char *end = (const char *)at + size;
    MEMORY_KEEP_PREFETCH();
    for (const char *line = (const char *)((uintptr_t)at & -(uintptr_t)LINE); line < end; line += LINE)
        __builtin_prefetch(line, 0, FIRST_CACHE);
}

// Where the heap of this thread's process ends now: what is allocated next mostly stands from here on.
const void *memory_heap_end(void);
// Asks the system to hold what the heap has got since `begin` in large pages: data of thousands of worlds is then found
// without looking through its tables. It changes how long things take and nothing else; a system that cannot is left
// alone. Returns up to where it is so: the next call may go on from there.
const void *memory_use_large_pages(const void *begin);
// From here on blocks of some MB come from the heap too, where large pages hold them, and not from pages of their own.
void memory_prefer_heap(void);

void memory_grow_more(void *data_pointer, int *capacity, int needed,
                      size_t item_size);  // the rare part of memory_grow()
// Makes room for at least `needed` items in a growing array: *data and *capacity are updated, growth is geometric.
static inline void memory_grow(void *data_pointer, int *capacity, int needed, size_t item_size)
{
    if (needed > *capacity)
        memory_grow_more(data_pointer, capacity, needed, item_size);
}

// Gives back what such an array of `count` items has too much of: for one that is not expected to grow further.
void memory_fit(void *data_pointer, int *capacity, int count, size_t item_size);

// Room for one more at the end of a growing array of any type, which then counts: *memory_push(list, count, capacity) =
// item;
#define memory_push(items, count, capacity)                                                                            \
    (memory_grow(&(items), &(capacity), (count) + 1, sizeof *(items)), &(items)[(count)++])

#endif
