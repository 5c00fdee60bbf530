// guard.h - runs foreign code and survives its faults: signals, exit(), exceptions, too long a time.
// Faults that are not the foreign code's go to whoever handled them before. One thread may have one guarded call at a
// time.
//
// After a fault only what is safe in a damaged process happens at once. Then, as a rule, guard_call() returns false and
// the program goes on to report it. Where it cannot (the heap is damaged and its lock may be held, the report itself
// faults or hangs), the owner's last_words() are asked for: they allocate nothing, and the process ends with status 1.
#ifndef TALUS_PLUGINS_GUARD_H
#define TALUS_PLUGINS_GUARD_H

#include "base/common.h"

#include <dlfcn.h>
#include <stdatomic.h>

enum { GUARD_FRAMES = 48 };

typedef struct GuardFault {
    int signal;         // 0: a function that ends the process or the thread was called
    const char *ender;  // its name, NULL
    int exit_status;
    bool is_timeout;
    bool is_fault_frame_known;  // frames[0] is the instruction that faulted, not a return address
    bool is_heap;               // inside malloc() or free(): they cannot be called any more
    bool is_own_thread;         // on a thread that the foreign code made
    bool is_outside;            // in foreign code that was called in some other way than by guard_call()
    bool is_final;              // the process cannot go on after it
    uintptr_t address;          // of a bad access
    int frame_count;
    void *frames[GUARD_FRAMES];
} GuardFault;

// Threads that foreign code made, counted until each has ended; it may outlive the owner.
typedef struct GuardCrew GuardCrew;

// Whose code it is. Threads that are made inside its calls are its own.
typedef struct GuardOwner GuardOwner;
struct GuardOwner {
    const char *library;  // file of the code, NULL while there is none
    _Atomic int thread;   // in guard_call(), 0: none
    GuardCrew *crew;      // threads of its own; NULL before guard_acquire()
    // What to say when the process ends: no malloc, no stdio. `is_state_safe`: nobody else is at work on the world.
    void (*last_words)(GuardOwner *owner, const GuardFault *fault, bool is_state_safe);
};

void guard_acquire(GuardOwner *owner);            // installs the handlers for the process; counted
void guard_release(GuardOwner *owner);            // handlers stay for threads of its own that run on
bool guard_has_threads(const GuardOwner *owner);  // of its own, that have not ended: its code must stay
// Calls `function(context)`; false when it faulted, or one of the owner's threads has. `timeout_ms` 0: no limit.
typedef bool GuardRun(GuardOwner *owner, void (*function)(void *context), void *context, int64_t timeout_ms,
                      GuardFault *fault);
GuardRun guard_call;
// The same for a function that is ours and calls foreign code many times: only what runs between guard_enter() and
// guard_exit() is foreign, and the time limit is that of each. A fault leaves `function` at once, from within
// guard_enter().
GuardRun guard_series;
void guard_enter(void);
void guard_exit(void);
bool guard_is_inside(void);  // this thread runs foreign code
// After a fault the process may be damaged: a hang of more than some seconds before this, and further faults for the
// rest of its life, end it.
void guard_settled(void);

// ---- for exit_overrides.c: functions that foreign code must not call unseen ----
void guard_end_called(const char *function, int status,
                      bool ends_process);                      // returns when it is not foreign code that calls
GuardOwner *guard_owner(void);                                 // of the code that runs on this thread, NULL
GuardCrew *guard_crew_join(GuardOwner *owner);                 // before a thread of its own is made
void guard_crew_leave(void *crew);                             // it was not made, or has ended
void guard_adopt_thread(GuardOwner *owner, GuardCrew *crew);   // this thread is its own and leaves when it ends
void guard_end_process(int status) __attribute__((noreturn));  // at once, nothing is run

// ---- process_state.c: what a call should leave as it was ----
typedef struct ProcessState ProcessState;
void process_state_lock(void);  // they are one for all worlds of the process; the same thread may lock again
void process_state_unlock(void);
ProcessState *process_state_take(void);                  // locked until they are put back
const char *process_state_put_back(ProcessState *kept);  // frees it; what had been changed, NULL when nothing
bool guard_retake_handlers(void);                        // true when some were not ours any more

// ---- symbolize.c: what an address is ----
typedef struct GuardPlace {
    const char *function;  // NULL when unknown
    const char *file;      // source, NULL when unknown
    int line;
    const char *module;  // path of the program or library
} GuardPlace;
typedef struct Arena Arena;
// Of every frame; `places` has room for fault->frame_count.
void guard_places(const GuardFault *fault, GuardPlace *places, Arena *arena);
// The same when nothing may be allocated: another process looks, if this program is the one that can. Texts stay valid.
void guard_places_outside(const GuardFault *fault, GuardPlace *places);
// What the dynamic linker knows of a frame: its file, and the function when that is exported.
bool guard_linked(const GuardFault *fault, int frame, Dl_info *info);
// How many parameters the function was written with; -1 when no debug information tells.
int guard_parameter_count(const void *function);
const char *guard_signal_name(int signal);

#endif
