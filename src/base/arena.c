// arena.c - memory that is given back all at once: blocks in a chain, each request aligned.
#include "base/arena.h"

#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ALIGNMENT = 16,
    LEAST_ALIGNMENT = 8,
    FIRST_BLOCK = 16 * 1024,
    SMALL_BLOCK = 1024,
    DOUBLED_BLOCK = 64 * 1024,
    LARGEST_BLOCK = 4 * 1024 * 1024
};
enum { UNUSED_SHARE = 8 };  // of a large arena at most one in so many bytes waits in the last block

typedef struct Block {
    struct Block *next;
    size_t size;
    size_t used;
    size_t padding;
} Block;
static_assert(sizeof(Block) % ALIGNMENT == 0, "data after the header stays aligned");

struct Arena {
    Block *first;
    Block *current;
    size_t bytes;
    size_t next_size;
};

Arena *arena_create(void)
{
    Arena *arena = memory_alloc(sizeof *arena);
    arena->next_size = FIRST_BLOCK;
    return arena;
}

Arena *arena_create_small(void)
{
    Arena *arena = arena_create();
    arena->next_size = SMALL_BLOCK;
    return arena;
}

void arena_destroy(Arena *arena)
{
    if (!arena)
        return;
    for (Block *block = arena->first; block;) {
        Block *next = block->next;
        free(block);
        block = next;
    }
    free(arena);
}

void arena_reset(Arena *arena)
{
    for (Block *block = arena->first; block; block = block->next)
        block->used = 0;
    arena->current = arena->first;
}

static Block *add_block(Arena *arena, size_t size)
{
    assert_debug(arena->next_size > 0 && size <= SIZE_MAX - sizeof(Block));
    size_t wanted = size > arena->next_size ? size : arena->next_size;
    Block *block = memory_alloc_raw(sizeof *block + wanted);
    *block = (Block){ .size = wanted };
    assert_debug(block->size >= size);
    arena->bytes += sizeof *block + wanted;
    // Small arenas double; large ones grow by a share, for what the last block has too much of nobody uses.
    size_t doubled = arena->next_size < DOUBLED_BLOCK ? 2 * arena->next_size : DOUBLED_BLOCK;
    size_t share = arena->bytes / UNUSED_SHARE;
    arena->next_size = share < doubled ? doubled : share < LARGEST_BLOCK ? share : LARGEST_BLOCK;
    if (arena->current) {
        block->next = arena->current->next;
        arena->current->next = block;
    } else {
        arena->first = block;
    }
    arena->current = block;
    return block;
}

static size_t aligned(size_t offset, size_t alignment) { return (offset + alignment - 1) & ~(alignment - 1); }

static bool has_room(const Block *block, size_t size, size_t alignment)
{
    size_t start = aligned(block->used, alignment);
    return start <= block->size && block->size - start >= size;
}

static void *take(Arena *arena, size_t size, size_t alignment)
{
    Block *block = arena->current;
    while (block && !has_room(block, size, alignment) && block->next && block->next->used == 0) {
        block = block->next;
        arena->current = block;
    }
    if (!block || !has_room(block, size, alignment))
        block = add_block(arena, size);
    size_t start = aligned(block->used, alignment);
    void *data = (char *)(block + 1) + start;
    assert_debug(start + size <= block->size);
    assert_debug((uintptr_t)data % alignment == 0);
    block->used = start + size;
    return data;
}

// The size of what wants a bound of 16 bytes is a multiple of them.
static size_t alignment_of(size_t size) { return size % ALIGNMENT == 0 ? ALIGNMENT : LEAST_ALIGNMENT; }

void *arena_alloc(Arena *arena, size_t size)
{
    assert(arena);
    void *data = take(arena, size, alignment_of(size));
    memset(data, 0, size);
    return data;
}

void *arena_alloc_array(Arena *arena, size_t count, size_t item_size)
{
    return arena_alloc(arena, memory_product(count, item_size));
}

void *arena_copy(Arena *arena, const void *data, size_t size)
{
    assert_debug(data || size == 0);
    void *copy = take(arena, size, alignment_of(size));
    if (size)
        memcpy(copy, data, size);
    return copy;
}

char *arena_text(Arena *arena, const char *text, size_t length)
{
    assert(text || length == 0);
    char *copy = take(arena, length + 1, 1);
    if (length)
        memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

char *arena_string(Arena *arena, const char *text) { return arena_text(arena, text, strlen(text)); }

char *arena_printf(Arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *text = take(arena, (size_t)length + 1, 1);
    va_start(arguments, format);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    return text;
}

size_t arena_bytes(const Arena *arena) { return sizeof *arena + arena->bytes; }

const void *arena_next_block(const Arena *arena, const void *block, const void **data, size_t *size)
{
    assert_debug(data && size);
    const Block *next = block ? ((const Block *)block)->next : arena->first;
    if (!next)
        return NULL;
    *data = next + 1;
    *size = next->size;
    return next;
}
