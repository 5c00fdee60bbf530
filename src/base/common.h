// common.h - the few things every file may lean on: sizes, counts, attributes. Nothing here owns anything.
#ifndef TALUS_BASE_COMMON_H
#define TALUS_BASE_COMMON_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define PRINTF_LIKE(format_index, first_index) __attribute__((format(printf, format_index, first_index)))

// An assert for inner loops: on in builds with sanitizers and without optimisation, where tests look for mistakes, and
// free elsewhere. All others are on in every build.
#if defined(__has_feature)
#define COMMON_HAS_SANITIZER (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define COMMON_HAS_SANITIZER 1
#else
#define COMMON_HAS_SANITIZER 0
#endif
#if COMMON_HAS_SANITIZER || !defined(__OPTIMIZE__)
#define assert_debug(condition) assert(condition)
#else
#define assert_debug(condition) ((void)sizeof(condition))
#endif

static inline int int_min(int a, int b) { return a < b ? a : b; }
static inline int int_max(int a, int b) { return a > b ? a : b; }
// fmin and fmax are calls, for the sake of what they do with NaN; these give the second value then.
static inline double double_min(double a, double b) { return a < b ? a : b; }

static inline double double_max(double a, double b) { return a > b ? a : b; }

static inline double double_clamp(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

#endif
