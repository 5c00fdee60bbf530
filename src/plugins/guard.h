// guard.h - runs foreign code and survives its faults: signals, exit(), exceptions, too long a time.
// Faults outside a guarded call go to whoever handled them before. One thread may have one guarded call at a time.
#ifndef TALUS_PLUGINS_GUARD_H
#define TALUS_PLUGINS_GUARD_H

#include "base/common.h"

enum { GUARD_FRAMES = 48 };

typedef struct GuardFault {
    int signal;              // 0: exit() was called
    int exit_status;
    bool is_timeout;
    bool is_fault_frame_known;  // frames[0] is the instruction that faulted, not a return address
    uintptr_t address;       // of a bad access
    void *frames[GUARD_FRAMES];
    int frame_count;
} GuardFault;

void guard_acquire(void);  // installs the handlers for the process; counted
void guard_release(void);
// Calls `function(context)`; false when it faulted. `timeout_ms` 0: no limit. `what` is said at once when the process is
// in too bad a state for a better report: it stays valid during the call.
bool guard_call(void (*function)(void *context), void *context, int64_t timeout_ms, const char *const *what, GuardFault *fault);
// After a fault the process may be damaged: for the rest of its life further faults, and a hang of more than some seconds
// before guard_settled(), end it with a message and exit status 1.
void guard_settled(void);

// ---- place.c: what an address is ----
typedef struct GuardPlace {
    const char *function;  // NULL when unknown
    const char *file;      // source, NULL when unknown
    int line;
    const char *module;    // path of the program or library
} GuardPlace;
typedef struct Arena Arena;
// Of every frame; `places` has room for fault->frame_count.
void guard_places(const GuardFault *fault, GuardPlace *places, Arena *arena);
// How many parameters the function was written with; -1 when no debug information tells.
int guard_parameter_count(const void *function);
const char *guard_signal_name(int signal);

#endif
