// ODE's process-wide side: started once, thread data per thread, and its messages brought to the sink of the world that
// is being worked on. ODE's handlers are global functions, so they find the world through a thread-local pointer.
#include "physics/physics_internal.h"

#include "physics/mirror.h"
#include "physics/ode/ode.h"
#include "physics/ode/layout.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local Physics *current;
static _Thread_local bool has_thread_data;

static void on_message(int number, const char *format, va_list arguments)
{
    (void)number;
    char message[512];
    vsnprintf(message, sizeof(message), format, arguments);
    for (char *c = message; *c; c++)
        if (*c == '\n' || *c == '\t')
            *c = ' ';
    if (!current)
        return;
    const char *pivot = strstr(message, "(s=");
    if (pivot) {
        // A pivot of the exact solver that should be positive. Zero is harmless; below it, its numbers got out of hand.
        // What comes out is checked by finite_check.c.
        if (strtod(pivot + 3, NULL) < -1e-9) {
            diag_warning(current->diags, (SourcePos){ 0 }, "the exact solver met a nearly singular system");
            diag_hint(current->diags,
                      "redundant joints, huge mass ratios or too much friction; a larger WorldInfo.CFM helps");
        }
        return;
    }
    diag_warning(current->diags, (SourcePos){ 0 }, "ODE says: %s", message);
}

static _Thread_local bool (*is_call_foreign)(void);
static _Thread_local char kept_error[256];

void physics_ode_keep_errors(bool (*is_foreign)(void))
{
    is_call_foreign = is_foreign;
    kept_error[0] = '\0';
}

const char *physics_ode_error(void) { return kept_error[0] ? kept_error : NULL; }

static _Thread_local jmp_buf *refusal;  // where a call that ODE may refuse goes on

// ODE normalizes what may be zero by rounding (the normal of a tiny shape far away) and asserts that it is not. Such a
// pair does not touch. Nothing is held in between: a collider only computes.
int odelib_collide(dGeomID a, dGeomID b, int max, dContactGeom *points)
{
    jmp_buf here;
    if (setjmp(here))
        return 0;
    refusal = &here;
    int count = dCollide(a, b, max, points, sizeof *points);
    refusal = NULL;
    return count;
}

// ODE's contract is that these two do not return.
static void on_error(int number, const char *format, va_list arguments)
{
    (void)number;
    if (is_call_foreign && is_call_foreign()) {
        vsnprintf(kept_error, sizeof(kept_error), format, arguments);
        abort();
    }
    if (refusal) {
        jmp_buf *place = refusal;
        refusal = NULL;
        longjmp(*place, 1);
    }
    fputs("talus: internal error: ODE refused a call; this is a bug of Talus or of a plugin: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    abort();
}

static void start(void)
{
    dInitODE2(0);
    ode_layout();
    dSetMessageHandler(on_message);
    dSetErrorHandler(on_error);
    dSetDebugHandler(on_error);
}

void odelib_thread(void)
{
    if (!has_thread_data)
        has_thread_data = dAllocateODEDataForThread(dAllocateMaskAll) != 0;
}

void odelib_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start);
    odelib_thread();
}

void odelib_begin(Physics *physics)
{
    assert_debug(!current || current == physics);  // one world at a time on a thread
    if (!physics->world)
        return;
    odelib_thread();
    current = physics;
}

void odelib_end(void) { current = NULL; }

static pthread_mutex_t generator = PTHREAD_MUTEX_INITIALIZER;

void odelib_generator_take(uint64_t seed)
{
    pthread_mutex_lock(&generator);
    dRandSetSeed((unsigned long)(seed & 0xffffffffu));
}

void odelib_generator_give(void) { pthread_mutex_unlock(&generator); }
