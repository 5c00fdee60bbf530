// budget.h - what a process may use up for a world of unknown origin: processor time of a load and of one step, and
// memory. Belongs here: measuring, and ending the process with the name of the limit. Not here: the limits (limits.h),
// those of helper processes (worker.h), what is done when a step takes too long (who steps). A timer of the process
// looks every 20 ms of processor time, so also a library that never comes back is ended. There is one budget per
// process, that of the program; a library's caller has limits of its own.
#ifndef TALUS_BASE_BUDGET_H
#define TALUS_BASE_BUDGET_H

#include "base/limits.h"

typedef enum BudgetWork { BUDGET_OTHER, BUDGET_LOAD, BUDGET_STEP } BudgetWork;

// What has been used up: processor time since this piece of work began, and memory now.
typedef struct BudgetUse {
    BudgetWork work;
    int64_t used_us;
    int64_t memory_bytes;
} BudgetUse;

typedef enum BudgetLimit { BUDGET_FITS, BUDGET_LOAD_MS, BUDGET_STEP_MS, BUDGET_MEMORY_BYTES } BudgetLimit;
BudgetLimit budget_excess(const Limits *limits, BudgetUse use);  // the limit that is exceeded

typedef struct BudgetOptions {
    const Limits *limits;
    int exit_code;  // after a message on standard error, when a load or memory is over the limit
    // Whether a step is at work, and a number that changes from step to step. Called in a signal handler. NULL: no
    // steps are made.
    bool (*is_in_step)(int64_t *serial);
    // A step is over its limit: called once, in the signal handler; NULL: the process ends as above.
    void (*step_is_over)(const char *words);
} BudgetOptions;

// Starts the watch, with a load at work; none when no limit is set. It goes on to the end of the process, so the limits
// are copied. Also bounds the size of files written.
void budget_start(const BudgetOptions *options);
void budget_begin_load(void);
void budget_end_load(void);  // looks once more, so that also a short load that is over its limit ends here

#endif
