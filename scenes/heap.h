// heap.h - what malloc has given out, for tests and benchmarks that count the bytes of a world. A sanitizer's own heap
// says 0.
#ifndef TALUS_SCENES_HEAP_H
#define TALUS_SCENES_HEAP_H

#include <malloc.h>
#include <stddef.h>

// In its heaps, and by itself for large blocks.
static inline size_t heap_bytes_in_use(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

#endif
