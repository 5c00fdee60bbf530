// support.h - what tests share: cmocka with its includes, checks that name their case, scratch folders, the corpus.
#ifndef TALUS_TESTS_SUPPORT_H
#define TALUS_TESTS_SUPPORT_H

#include "base/arena.h"
#include "base/common.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// Frames of a build with sanitizers are several times as large as those that limits.h reckons with.
void support_widen_stack(void);
#if defined(__SANITIZE_ADDRESS__)
__attribute__((constructor)) static void widen_stack(void) { support_widen_stack(); }
#endif

// How many of `count` random trials to make. A sanitized build looks for faults of memory and undefined behaviour,
// which the first eighth reaches as well as all of them do; what the numbers are is the plain build's matter.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SUPPORT_TRIALS_PART = 8 };
#else
enum { SUPPORT_TRIALS_PART = 1 };
#endif
static inline int support_trials(int count) { return count / SUPPORT_TRIALS_PART; }

// Fails the test with the place, the condition and the case's name.
#define CHECK(condition, name)                                                                                         \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            fail_msg("%s:%d: %s [%s]", __FILE__, __LINE__, #condition, (name));                                        \
    } while (0)
#define CHECK_NEAR(actual, expected, tolerance, name)                                                                  \
    support_near((actual), (expected), (tolerance), (name), __FILE__, __LINE__)

void support_near(double actual, double expected, double tolerance, const char *name, const char *file, int line);

// A fresh folder below the build directory, emptied when it is asked for. Lives until the process ends.
const char *support_scratch(const char *name);
void support_write(const char *path, const char *text);
char *support_read(const char *path);  // the caller frees; NULL when it cannot be read

// Path of the shared corpus, or NULL when it is not on this machine (then skip, saying so).
const char *support_corpus(void);
// The test cannot be made here. The program then ends with 77, which ctest reports as skipped, unless another of its
// tests fails.
#define SUPPORT_SKIP(reason)                                                                                           \
    do {                                                                                                               \
        support_skips(reason);                                                                                         \
        skip();                                                                                                        \
    } while (0)
void support_skips(const char *reason);

// Calls `visit` for each regular file below `directory` whose name ends with `suffix`, in sorted order.
void support_each_file(const char *directory, const char *suffix, void (*visit)(const char *path, void *context),
                       void *context);

#endif
