// memory.c - allocation that ends the process with a message instead of returning NULL.
#include "base/memory.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

void memory_copy(void *to, const void *from, size_t size)
{
    const size_t max_piece = 2048;
    for (size_t at = 0; at < size;) {
        size_t piece = size - at < max_piece ? size - at : max_piece;
        memcpy((char *)to + at, (const char *)from + at, piece);
        at += piece;
    }
}

char *memory_text(const char *text, size_t length)
{
    assert(text || length == 0);
    char *copy = memory_alloc_raw(length + 1);
    if (length)
        memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

char *memory_string(const char *text) { return memory_text(text, strlen(text)); }

// Small arrays grow by half. Large ones by an eighth or less: what they have too much of is memory that nobody uses,
// and the system moves their pages in place of copying them.
void memory_grow_more(void *data_pointer, int *capacity, int needed, size_t item_size)
{
    assert_debug(item_size > 0 && *capacity >= 0);
    assert(needed > *capacity);
    enum { LARGE_ARRAY = 8 * 1024, HUGE_ARRAY = 128 * 1024 };  // bytes
    size_t bytes = (size_t)*capacity * item_size;
    int grown = *capacity < 8 ? 8 : *capacity + *capacity / (bytes >= HUGE_ARRAY ? 32 : bytes >= LARGE_ARRAY ? 8 : 2);
    if (grown < needed)
        grown = needed;
    void **data = data_pointer;
    assert_debug(*data || *capacity == 0);
    *data = memory_resize(*data, (size_t)grown, item_size);
    *capacity = grown;
}

void memory_fit(void *data_pointer, int *capacity, int count, size_t item_size)
{
    assert(item_size > 0 && count >= 0 && count <= *capacity);
    void **data = data_pointer;
    if (count == 0 || count == *capacity)
        return;
    *data = memory_resize(*data, (size_t)count, item_size);
    *capacity = count;
}

const void *memory_heap_end(void) { return sbrk(0); }

const void *memory_use_large_pages(const void *begin)
{
#ifdef MADV_HUGEPAGE
    enum { COLLAPSE = 25 };  // MADV_COLLAPSE of Linux 6.1: at once, which headers of before do not name
    const uintptr_t page = (uintptr_t)2 << 20;
    uintptr_t first = ((uintptr_t)begin + page - 1) & ~(page - 1), end = (uintptr_t)memory_heap_end() & ~(page - 1);
    if (!begin || first >= end)
        return begin;
    if (madvise((void *)first, end - first, MADV_HUGEPAGE) == 0)
        madvise((void *)first, end - first, COLLAPSE);
    return (const void *)end;
#else
    return begin;
#endif
}

// glibc takes the size of a block with pages of its own, when that is freed, as one that comes and goes, and serves the
// next ones up to that size from the heap.
void memory_prefer_heap(void) { free(memory_alloc_raw((size_t)16 << 20)); }
