// cpu.h - what the machine can do beyond what every machine of its kind can.
#ifndef TALUS_BASE_CPU_H
#define TALUS_BASE_CPU_H

#include <stdbool.h>
#include <stdint.h>

// Of a function that is called where cpu_has_avx2(), beside a twin without it that shares its source: the same bits
// with fewer instructions, since none overwrites what it reads.
#ifdef __x86_64__
#define CPU_WIDE __attribute__((target("avx2")))
#else
#define CPU_WIDE
#endif
#define CPU_SHARED inline __attribute__((always_inline))  // the source

// Numbers that one instruction works on, wherever they stand. What has such as an argument or result is always inlined:
// how they are passed depends on the instructions that a function may use.
typedef double V4 __attribute__((vector_size(32), aligned(8)));
typedef double V2 __attribute__((vector_size(16), aligned(8)));
typedef int64_t I4 __attribute__((vector_size(32)));  // bits of the four

static inline bool cpu_has_avx2(void)
{
#ifdef __x86_64__
    return __builtin_cpu_supports("avx2") != 0;
#else
    return false;
#endif
}

#endif
