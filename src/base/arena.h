// arena.h - memory that is given out piece by piece and freed at once.
// An Arena owns its blocks; what arena_alloc returns is zeroed, aligned to 8 bytes (to 16 where its size is a multiple
// of 16, as that of a type is which wants it) and valid until arena_reset or arena_destroy. Running out of memory ends
// the process with a message: no caller can go on without it.
#ifndef TALUS_BASE_ARENA_H
#define TALUS_BASE_ARENA_H

#include "base/common.h"

typedef struct Arena Arena;

Arena *arena_create(void);
Arena *arena_create_small(void);   // begins with little, for what there are thousands of
void arena_destroy(Arena *arena);  // NULL is fine
void arena_reset(Arena *arena);    // empties it and keeps the blocks for the next use

void *arena_alloc(Arena *arena, size_t size);
void *arena_alloc_array(Arena *arena, size_t count, size_t item_size);  // checks the product
void *arena_copy(Arena *arena, const void *data, size_t size);
char *arena_text(Arena *arena, const char *text, size_t length);  // copies and ends with NUL
char *arena_string(Arena *arena, const char *text);
char *arena_printf(Arena *arena, const char *format, ...) PRINTF_LIKE(2, 3);

size_t arena_bytes(const Arena *arena);  // taken from the heap
// Where its memory lies: the block behind `block` (NULL: the first), NULL after the last.
const void *arena_next_block(const Arena *arena, const void *block, const void **data, size_t *size);

#endif
