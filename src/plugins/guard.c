#include "plugins/guard.h"

#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
    HANDLER_STACK = 256 * 1024,  // backtraces want room, also when the fault was an overflow of the stack
    SETTLE_SECONDS = 20,
};
#define TIMEOUT_SIGNAL (SIGRTMIN + 5)

typedef enum GuardState { GUARD_OFF, GUARD_RUNNING, GUARD_COLLECTING } GuardState;

// Of the thread that is in a guarded call. Signal handlers are functions of the process, so this is how they know.
typedef struct Guard {
    sigjmp_buf jump;
    volatile sig_atomic_t state;
    GuardFault *fault;
    const char *const *what;
} Guard;
static _Thread_local Guard guard;
static _Thread_local bool has_stack;
static _Thread_local bool has_timer;
static _Thread_local timer_t timer;

static const int caught[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
static struct sigaction previous[COUNT_OF(caught)];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int users;
static volatile sig_atomic_t is_post_mortem;

static void say(const char *text)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written;
}

static void end_process(void)
{
    say("talus: the physics plugin has damaged the memory of the process beyond repair");
    if (guard.what && *guard.what) {
        say(" (");
        say(*guard.what);
        say(")");
    }
    say("; ending without a further report\n");
    _exit(1);
}

static uintptr_t fault_pc(void *context, uintptr_t *stack)
{
#if defined(__x86_64__)
    const ucontext_t *at = context;
    *stack = (uintptr_t)at->uc_mcontext.gregs[REG_RSP];
    return (uintptr_t)at->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    const ucontext_t *at = context;
    *stack = 0;
    return (uintptr_t)at->uc_mcontext.pc;
#else
    (void)context;
    *stack = 0;
    return 0;
#endif
}

// Keeps the frames from the faulting one on.
static void collect(GuardFault *fault, uintptr_t pc, uintptr_t stack)
{
    void *all[GUARD_FRAMES + 16];
    int count = backtrace(all, COUNT_OF(all)), first = -1;
    for (int i = 0; i < count && first < 0; i++)
        if (pc != 0 && (uintptr_t)all[i] == pc)
            first = i;
    if (first >= 0) {
        fault->frame_count = int_min(count - first, GUARD_FRAMES);
        memcpy(fault->frames, all + first, sizeof(void *) * (size_t)fault->frame_count);
        return;
    }
    // A call to an address without code: the caller's place lies on top of the stack.
    fault->frames[0] = (void *)pc;
    fault->frame_count = 1;
    if (stack) {
        fault->frames[1] = *(void **)stack;
        fault->frame_count = 2;
    }
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    if (guard.state == GUARD_OFF) {
        if (number == TIMEOUT_SIGNAL)
            return;
        if (is_post_mortem)
            end_process();
        for (int i = 0; i < COUNT_OF(caught); i++)
            if (caught[i] == number)
                sigaction(number, &previous[i], NULL);
        // A fault happens again when this returns; a signal that was sent does not.
        if (info->si_code <= 0 && number != SIGABRT)
            raise(number);
        return;
    }
    if (guard.state == GUARD_COLLECTING) {  // the stack is too damaged to be read
        if (number != TIMEOUT_SIGNAL)
            siglongjmp(guard.jump, 1);
        return;
    }
    guard.state = GUARD_COLLECTING;
    GuardFault *fault = guard.fault;
    uintptr_t stack, pc = fault_pc(context, &stack);
    fault->signal = number;
    fault->is_timeout = number == TIMEOUT_SIGNAL;
    fault->is_fault_frame_known = true;
    fault->address = number == SIGSEGV || number == SIGBUS ? (uintptr_t)info->si_addr : 0;
    fault->frames[0] = (void *)pc;
    fault->frame_count = 1;
    collect(fault, pc, stack);
    siglongjmp(guard.jump, 1);
}

static void on_hang(int number)
{
    (void)number;
    if (is_post_mortem)
        end_process();
}

// Inside exit(): who called it can still be seen, and going on is allowed, since the next exit() carries on from here.
static void on_process_exit(int status, void *context)
{
    (void)context;
    if (guard.state != GUARD_RUNNING)
        return;
    guard.state = GUARD_COLLECTING;
    guard.fault->exit_status = status;
    void *frames[GUARD_FRAMES];
    int count = backtrace(frames, COUNT_OF(frames));
    guard.fault->frame_count = int_max(count - 1, 0);
    memcpy(guard.fault->frames, frames + 1, sizeof(void *) * (size_t)guard.fault->frame_count);
    siglongjmp(guard.jump, 1);
}

static void prepare_process(void)
{
    void *frames[4];
    backtrace(frames, COUNT_OF(frames));  // loads the unwinder now rather than in a handler
    on_exit(on_process_exit, NULL);
}

static void install(int number, struct sigaction *old)
{
    // Not deferred: a second fault while the first is looked at must be seen.
    struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER };
    sigaction(number, &action, old);
}

void guard_acquire(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare_process);
    pthread_mutex_lock(&lock);
    if (users++ == 0) {
        for (int i = 0; i < COUNT_OF(caught); i++)
            install(caught[i], &previous[i]);
        install(TIMEOUT_SIGNAL, NULL);
    }
    pthread_mutex_unlock(&lock);
}

void guard_release(void)
{
    pthread_mutex_lock(&lock);
    if (--users == 0 && !is_post_mortem)
        for (int i = 0; i < COUNT_OF(caught); i++)
            sigaction(caught[i], &previous[i], NULL);
    pthread_mutex_unlock(&lock);
}

static void prepare_thread(void)
{
    stack_t old;
    has_stack = true;
    if (sigaltstack(NULL, &old) == 0 && !(old.ss_flags & SS_DISABLE) && old.ss_size >= HANDLER_STACK)
        return;
    void *memory = mmap(NULL, HANDLER_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return;
    stack_t stack = { .ss_sp = memory, .ss_size = HANDLER_STACK };
    sigaltstack(&stack, NULL);
}

static void timer_set(int64_t timeout_ms)
{
    if (!has_timer) {
        struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = TIMEOUT_SIGNAL };
        event._sigev_un._tid = gettid();
        has_timer = timer_create(CLOCK_MONOTONIC, &event, &timer) == 0;
    }
    struct itimerspec time = { .it_value = { timeout_ms / 1000, timeout_ms % 1000 * 1000000 } };
    if (has_timer)
        timer_settime(timer, 0, &time, NULL);
}

static void start_post_mortem(void)
{
    is_post_mortem = 1;
    struct sigaction action = { .sa_handler = on_hang, .sa_flags = SA_ONSTACK };
    sigaction(SIGALRM, &action, NULL);
    alarm(SETTLE_SECONDS);
}

void guard_settled(void)
{
    alarm(0);
}

bool guard_call(void (*function)(void *context), void *context, int64_t timeout_ms, const char *const *what, GuardFault *fault)
{
    assert(guard.state == GUARD_OFF);
    if (!has_stack)
        prepare_thread();
    fault->frame_count = 0;
    guard.fault = fault;
    guard.what = what;
    if (sigsetjmp(guard.jump, 0) == 0) {
        if (timeout_ms > 0)
            timer_set(timeout_ms);
        guard.state = GUARD_RUNNING;
        function(context);
        guard.state = GUARD_OFF;
        if (timeout_ms > 0)
            timer_set(0);
        return true;
    }
    guard.state = GUARD_OFF;
    if (timeout_ms > 0)
        timer_set(0);
    start_post_mortem();
    return false;
}
