// cpu.h - what the machine can do beyond what every machine of its kind can.
#ifndef TALUS_BASE_CPU_H
#define TALUS_BASE_CPU_H

#include <stdbool.h>

static inline bool cpu_has_avx2(void)
{
#ifdef __x86_64__
    return __builtin_cpu_supports("avx2") != 0;
#else
    return false;
#endif
}

#endif
