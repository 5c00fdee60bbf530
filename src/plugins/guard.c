// guard.c - a guard around every call into a plugin: faults, time, and the state of the process are caught and put
// back.
#include "plugins/guard.h"

#include "base/memory.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum {
    HANDLER_STACK = 256 * 1024,  // backtraces want room, also when the fault was an overflow of the stack
    SETTLE_SECONDS = 5,          // for a report, see settling
    PARKED_SECONDS = 5,          // until the world's thread looks after a fault of another
    PATIENCE_SECONDS = 1,        // with a call that may wait for the thread that is parked
    OWNERS_MAX = 64,
};
#define TIMEOUT_SIGNAL (SIGRTMIN + 5)

typedef enum GuardState { GUARD_OFF, GUARD_RUNNING, GUARD_COLLECTING } GuardState;

// Rounding, subnormal numbers, traps: foreign code that changes them must not change our numbers.
typedef struct FloatMode {
    unsigned vector;
    unsigned short stack;
} FloatMode;

// Of the thread that is in a guarded call. Signal handlers are functions of the process, so this is how they know.
typedef struct Guard {
    sigjmp_buf jump;
    volatile sig_atomic_t state;
    GuardFault *fault;
    GuardOwner *owner;
    int64_t timeout_ms;
    FloatMode mode;    // ours
    int64_t enter_ns;  // when the call began,
    int64_t delay_ns;  // and run_delay_ns() when the series of calls did
} Guard;
static _Thread_local Guard guard;
static _Thread_local GuardOwner *adopted_by;
static _Thread_local int thread_id;  // 0: the thread is not prepared yet
static _Thread_local bool has_timer;
static _Thread_local timer_t timer;
static pthread_key_t stack_key, crew_key;

struct GuardCrew {
    atomic_int count;
};  // its owner, and every thread

static const int caught[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGPIPE };
static struct sigaction previous[COUNT_OF(caught)];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int users;
static GuardOwner *_Atomic owners[OWNERS_MAX];
static pid_t process;                           // whose calls are guarded
static volatile sig_atomic_t is_foreign_child;  // the foreign code forked: this is its copy of the process

// What the process dies of, should it die. Written by the thread that failed before anything else is done.
static struct {
    GuardOwner *owner;
    GuardFault fault;
} last;
static volatile sig_atomic_t is_post_mortem;
static atomic_int speaker;  // thread that gives the last words, 0: none

// The fault of a thread that the foreign code made, until the thread of its world takes it over.
typedef enum ParkState { PARK_EMPTY, PARK_FILLING, PARK_WAITING, PARK_TAKEN } ParkState;
static struct {
    atomic_int state;
    GuardOwner *owner;
    GuardFault fault;
} parked;

// ---- the end of the process ----

static void say(const char *text)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written;
}

void guard_end_process(int status)
{
    for (;;)
        syscall(SYS_exit_group, status);
}

static bool owner_is_live(const GuardOwner *owner)
{
    for (int i = 0; owner && i < OWNERS_MAX; i++)
        if (atomic_load(&owners[i]) == owner)
            return true;
    return false;
}

static _Noreturn void sleep_forever(void)
{
    for (;;)
        pause();
}

// A report has so much of the processor's time, and may lie still as long: for what holds a lock that it wants. Time in
// which a busy machine, or who stopped the process, does not let it run is not its own.
static struct {
    clockid_t clock;  // of the thread that reports
    _Atomic int64_t start_ms, last_ms;
    atomic_int still_seconds;  // in which it used nothing
} settling;
enum { TICK_SECONDS = 1 };

static int64_t settling_ms(void)  // -1: the thread is no more
{
    struct timespec used;
    return clock_gettime(settling.clock, &used) ? -1 : (int64_t)used.tv_sec * 1000 + used.tv_nsec / 1000000;
}

static void settle_begin(void)
{
    if (pthread_getcpuclockid(pthread_self(), &settling.clock))
        settling.clock = CLOCK_PROCESS_CPUTIME_ID;
    atomic_store(&settling.start_ms, settling_ms());
    atomic_store(&settling.last_ms, settling.start_ms);
    atomic_store(&settling.still_seconds, 0);
    alarm(TICK_SECONDS);
}

static bool settle_is_over(void)
{
    int64_t now_ms = settling_ms();
    if (atomic_exchange(&settling.last_ms, now_ms) == now_ms)
        atomic_fetch_add(&settling.still_seconds, TICK_SECONDS);
    return settling.still_seconds >= SETTLE_SECONDS || now_ms - settling.start_ms >= SETTLE_SECONDS * 1000;
}

static _Noreturn void give_up(bool is_state_safe)
{
    int none = 0, me = (int)gettid();
    if (atomic_compare_exchange_strong(&speaker, &none, me) && owner_is_live(last.owner)) {
        settle_begin();
        last.owner->last_words(last.owner, &last.fault, is_state_safe);
        guard_end_process(1);
    }
    if (none != 0 && none != me)
        sleep_forever();  // another thread is speaking
    say("talus: the physics plugin has damaged the process beyond repair; ending without a further report\n");
    guard_end_process(1);
}

static void on_hang(int number)
{
    (void)number;
    if (!is_post_mortem)
        return;
    if (!settle_is_over()) {
        alarm(TICK_SECONDS);
        return;
    }
    if (atomic_load(&speaker) != 0) {
        say("talus: the report does not come to its end; ending\n");
        guard_end_process(1);
    }
    give_up(true);
}

static void start_post_mortem(GuardOwner *owner, const GuardFault *fault)
{
    last.owner = owner;
    last.fault = *fault;
    is_post_mortem = 1;
    struct sigaction action = { .sa_handler = on_hang, .sa_flags = SA_ONSTACK | SA_RESTART };
    sigaction(SIGALRM, &action, NULL);
    settle_begin();
    if (fault->is_final)
        give_up(true);
}

void guard_settled(void)
{
    alarm(0);
    last.owner = NULL;
}

// ---- what happened ----

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
        assert_debug(fault->frame_count >= 0 && fault->frame_count <= GUARD_FRAMES);
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

// A fault in there leaves lists half written and a lock taken.
static bool is_in_heap(const GuardFault *fault)
{
    static const char *const functions[] = { "malloc",         "free",           "cfree",       "calloc",
                                             "realloc",        "reallocarray",   "memalign",    "aligned_alloc",
                                             "posix_memalign", "__libc_malloc",  "__libc_free", "__libc_calloc",
                                             "__libc_realloc", "__libc_memalign" };
    for (int i = 0; i < int_min(fault->frame_count, 12); i++) {
        Dl_info info;
        if (!guard_linked(fault, i, &info) || !info.dli_sname)
            continue;
        for (int k = 0; k < COUNT_OF(functions); k++)
            if (!strcmp(info.dli_sname, functions[k]))
                return true;
    }
    return false;
}

static void describe_signal(GuardFault *fault, int number, const siginfo_t *info, void *context)
{
    memset(fault, 0, sizeof *fault);
    uintptr_t stack, pc = fault_pc(context, &stack);
    fault->signal = number;
    fault->is_timeout = number == TIMEOUT_SIGNAL;
    fault->is_fault_frame_known = true;
    fault->address = number == SIGSEGV || number == SIGBUS ? (uintptr_t)info->si_addr : 0;
    fault->frames[0] = (void *)pc;
    fault->frame_count = 1;
    collect(fault, pc, stack);
    fault->is_heap = fault->is_final = is_in_heap(fault);
}

static void describe_end(GuardFault *fault, const char *function, int status)
{
    memset(fault, 0, sizeof *fault);
    fault->ender = function;
    fault->exit_status = status;
    fault->frame_count = backtrace(fault->frames, GUARD_FRAMES);
}

// ---- handlers ----

// The foreign code's own child may end as it likes.
static bool is_in_child(void) { return getpid() != process; }

static void timer_set(int64_t timeout_ms)
{
    assert(timeout_ms >= 0);
    if (!has_timer) {
        struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = TIMEOUT_SIGNAL };
        event._sigev_un._tid = gettid();
        has_timer = timer_create(CLOCK_MONOTONIC, &event, &timer) == 0;
    }
    struct itimerspec time = { .it_value = { timeout_ms / 1000, timeout_ms % 1000 * 1000000 } };
    if (has_timer)
        timer_settime(timer, 0, &time, NULL);
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// For how long this thread has waited for a processor, ever: the second number of its schedstat. 0 where the system
// does not tell.
static int64_t run_delay_ns(void)
{
    char text[96];
    int file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? 0 : read(file, text, sizeof text);
    if (file >= 0)
        close(file);
    int64_t delay = 0;
    for (ssize_t i = 0, word = 0; i < length && word < 2; i++) {
        if (text[i] < '0' || text[i] > '9')
            word++;
        else if (word == 1)
            delay = 10 * delay + (text[i] - '0');
    }
    return delay;
}

// Whether a call whose timer has run out is to end. That a busy machine did not let it run is not its doing: waiting
// for a processor does not count. A call that hangs runs or sleeps, so its own time comes to an end.
static bool is_overdue(void)
{
    const int64_t limit = guard.timeout_ms * 1000000, passed = now_ns() - guard.enter_ns;
    const int64_t own = passed - (run_delay_ns() - guard.delay_ns);
    if (own >= limit - limit / 10)  // on an idle machine it waits for µs too
        return true;
    const int64_t left_ms = (limit - own) / 1000000;
    timer_set(left_ms > 1 ? left_ms : 1);
    return false;
}

static void pass_on(int number, const siginfo_t *info)
{
    for (int i = 0; i < COUNT_OF(caught); i++)
        if (caught[i] == number)
            sigaction(number, &previous[i], NULL);
    // A fault happens again when this returns; a signal that was sent does not.
    if ((info->si_code <= 0 && number != SIGABRT) || number == SIGPIPE)
        raise(number);
}

// Whoever reads what the program prints went away, as `| head` does: that is no fault.
static bool is_output_closed(void)
{
    struct pollfd out = { .fd = STDOUT_FILENO };
    return poll(&out, 1, 0) > 0 && (out.revents & (POLLERR | POLLHUP)) != 0;
}

// The world may be in the middle of a step on its thread, which takes the fault over at its next guarded call.
static _Noreturn void park(void)
{
    parked.fault.is_own_thread = true;
    parked.owner = adopted_by;
    atomic_store(&parked.state, PARK_WAITING);
    for (int i = 0; i < 100 * PARKED_SECONDS; i++) {
        nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
        if (atomic_load(&parked.state) == PARK_TAKEN)
            sleep_forever();
        int waiting = i == 100 * PATIENCE_SECONDS ? atomic_load(&parked.owner->thread) : 0;
        if (waiting)
            syscall(SYS_tgkill, process, waiting, TIMEOUT_SIGNAL);
    }
    int waiting = PARK_WAITING;
    if (!atomic_compare_exchange_strong(&parked.state, &waiting, PARK_TAKEN))
        sleep_forever();
    last.owner = parked.owner;
    last.fault = parked.fault;
    is_post_mortem = 1;
    give_up(false);
}

// Foreign code that something else called: ODE in a step, the dynamic linker when the library goes.
static GuardOwner *owner_of_frames(const GuardFault *fault)
{
    for (int i = 0; i < fault->frame_count; i++) {
        Dl_info info;
        if (!guard_linked(fault, i, &info) || !info.dli_fname)
            continue;
        for (int k = 0; k < OWNERS_MAX; k++) {
            GuardOwner *owner = atomic_load(&owners[k]);
            if (owner && owner->library && !strcmp(owner->library, info.dli_fname))
                return owner;
        }
    }
    return NULL;
}

static void give_up_outside(int number, const siginfo_t *info, void *context)
{
    static GuardFault fault;
    static atomic_flag is_busy = ATOMIC_FLAG_INIT;
    if (number == SIGPIPE || atomic_flag_test_and_set(&is_busy))
        return;
    describe_signal(&fault, number, info, context);
    last.owner = owner_of_frames(&fault);
    if (!last.owner)
        return;
    last.fault = fault;
    last.fault.is_outside = true;
    is_post_mortem = 1;
    struct sigaction action = { .sa_handler = on_hang, .sa_flags = SA_ONSTACK };
    sigaction(SIGALRM, &action, NULL);
    give_up(false);
}

static void enter_park(void)
{
    int empty = PARK_EMPTY;
    if (!atomic_compare_exchange_strong(&parked.state, &empty, PARK_FILLING))
        sleep_forever();
}

// Its world has ended, so there is nobody to report it to. The program goes on unless the thread may hold the lock of
// the heap.
static _Noreturn void end_left_thread(int number, const siginfo_t *info, void *context)
{
    GuardFault fault;
    say("talus: a thread that the physics plugin left running after webots_physics_cleanup has crashed\n");
    describe_signal(&fault, number, info, context);
    if (fault.is_heap)
        guard_end_process(1);
    sleep_forever();
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    if (number == TIMEOUT_SIGNAL && info->si_code == SI_TIMER && guard.state == GUARD_RUNNING) {
        const int error = errno;
        if (!is_overdue()) {
            errno = error;
            return;
        }
    }
    bool is_caught = number != SIGPIPE || !is_output_closed();
    if (guard.state == GUARD_COLLECTING) {  // the stack is too damaged to be read
        if (number != TIMEOUT_SIGNAL)
            siglongjmp(guard.jump, 1);
        return;
    }
    if (guard.state == GUARD_RUNNING && is_caught && !is_in_child()) {
        guard.state = GUARD_COLLECTING;
        describe_signal(guard.fault, number, info, context);
        siglongjmp(guard.jump, 1);
    }
    if (number == TIMEOUT_SIGNAL)
        return;
    if (adopted_by && is_caught && !is_in_child()) {
        if (!owner_is_live(adopted_by))
            end_left_thread(number, info, context);
        enter_park();
        describe_signal(&parked.fault, number, info, context);
        park();
    }
    if (is_post_mortem && number != SIGPIPE)
        give_up(true);
    if (!is_in_child())
        give_up_outside(number, info, context);
    pass_on(number, info);
}

void guard_end_called(const char *function, int status, bool ends_process)
{
    if (guard.state == GUARD_RUNNING && !is_in_child()) {
        guard.state = GUARD_COLLECTING;
        describe_end(guard.fault, function, status);
        siglongjmp(guard.jump, 1);
    }
    if (ends_process && guard.state == GUARD_OFF && adopted_by && owner_is_live(adopted_by) && !is_in_child()) {
        enter_park();
        describe_end(&parked.fault, function, status);
        parked.fault.is_final = true;  // exit() holds a lock that the next one waits for
        park();
    }
}

// Inside exit(): who called it can still be seen, and going on is allowed, since the next exit() carries on from here.
static void on_process_exit(int status, void *context)
{
    (void)context;
    guard_end_called("exit", status, true);
}

// ---- setting up ----

static void drop_stack(void *memory)
{
    sigaltstack(&(stack_t){ .ss_flags = SS_DISABLE }, NULL);
    munmap(memory, HANDLER_STACK);
}

static void forked(void)
{
    if (guard.state == GUARD_RUNNING || adopted_by)
        is_foreign_child = 1;
    else
        process = getpid();
}

static void prepare_process(void)
{
    void *frames[4];
    backtrace(frames, COUNT_OF(frames));  // loads the unwinder now rather than in a handler
    process = getpid();
    pthread_atfork(NULL, NULL, forked);
    pthread_key_create(&stack_key, drop_stack);
    pthread_key_create(&crew_key, guard_crew_leave);
    on_exit(on_process_exit, NULL);
}

static void install(int number, struct sigaction *old)
{
    // Not deferred: a second fault while the first is looked at must be seen.
    struct sigaction action = { .sa_sigaction = on_fault,
                                .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART };
    sigaction(number, &action, old);
}

bool guard_retake_handlers(void)
{
    bool any = false;
    for (int i = 0; i < COUNT_OF(caught); i++) {
        struct sigaction now;
        if (sigaction(caught[i], NULL, &now) || ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_fault))
            continue;
        // SIGPIPE that is ignored harms nobody.
        if (caught[i] == SIGPIPE && now.sa_handler == SIG_IGN)
            continue;
        any = true;
        previous[i] = now;
        install(caught[i], NULL);
    }
    return any;
}

static void swap_owner(GuardOwner *from, GuardOwner *to)
{
    for (int i = 0; i < OWNERS_MAX; i++)
        if (atomic_load(&owners[i]) == from) {
            atomic_store(&owners[i], to);
            return;
        }
}

GuardCrew *guard_crew_join(GuardOwner *owner)
{
    atomic_fetch_add(&owner->crew->count, 1);
    return owner->crew;
}

void guard_crew_leave(void *crew)
{
    GuardCrew *left = crew;
    if (atomic_fetch_sub(&left->count, 1) == 1)
        free(left);
}

bool guard_has_threads(const GuardOwner *owner) { return atomic_load(&owner->crew->count) > 1; }

void guard_acquire(GuardOwner *owner)
{
    assert_debug(owner && !owner->crew);
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare_process);
    pthread_mutex_lock(&lock);
    swap_owner(NULL, owner);
    owner->crew = memory_alloc(sizeof *owner->crew);
    owner->crew->count = 1;
    if (users++ == 0) {
        for (int i = 0; i < COUNT_OF(caught); i++)
            install(caught[i], &previous[i]);
        install(TIMEOUT_SIGNAL, NULL);
    } else {
        guard_retake_handlers();  // the program may have set others since, of which no plugin is to be blamed
    }
    pthread_mutex_unlock(&lock);
}

void guard_release(GuardOwner *owner)
{
    assert_debug(owner->crew);
    pthread_mutex_lock(&lock);
    swap_owner(owner, NULL);
    users -= !guard_has_threads(owner);
    assert(users >= 0);
    guard_crew_leave(owner->crew);
    if (users == 0 && !is_post_mortem)
        for (int i = 0; i < COUNT_OF(caught); i++)
            sigaction(caught[i], &previous[i], NULL);
    pthread_mutex_unlock(&lock);
}

static void prepare_thread(void)
{
    stack_t old;
    thread_id = (int)gettid();
    if (sigaltstack(NULL, &old) == 0 && !(old.ss_flags & SS_DISABLE) && old.ss_size >= HANDLER_STACK)
        return;
    void *memory = mmap(NULL, HANDLER_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return;
    stack_t stack = { .ss_sp = memory, .ss_size = HANDLER_STACK };
    sigaltstack(&stack, NULL);
    pthread_setspecific(stack_key, memory);
}

GuardOwner *guard_owner(void)
{
    return guard_is_inside() ? guard.owner : owner_is_live(adopted_by) ? adopted_by : NULL;
}

void guard_adopt_thread(GuardOwner *owner, GuardCrew *crew)
{
    assert_debug(owner && !adopted_by);  // a thread has one owner for life
    adopted_by = owner;
    pthread_setspecific(crew_key, crew);
    prepare_thread();
}

// ---- calls ----

static FloatMode float_mode(void)
{
    FloatMode mode = { 0 };
#if defined(__x86_64__)
    mode.vector = _mm_getcsr() & ~0x3fu;  // without what merely happened
    __asm__ volatile("fnstcw %0" : "=m"(mode.stack));
#endif
    return mode;
}

static void float_mode_put_back(FloatMode mode)
{
#if defined(__x86_64__)
    FloatMode now = float_mode();
    if (now.vector != mode.vector)
        _mm_setcsr(mode.vector);
    if (now.stack != mode.stack)
        __asm__ volatile("fldcw %0" : : "m"(mode.stack));
#else
    (void)mode;
#endif
}

void guard_enter(void)
{
    assert_debug(guard.owner && guard.fault);
    if (guard.timeout_ms > 0) {
        guard.enter_ns = now_ns();
        timer_set(guard.timeout_ms);
    }
    guard.state = GUARD_RUNNING;
}

void guard_exit(void)
{
    guard.state = GUARD_OFF;
    if (guard.timeout_ms > 0)
        timer_set(0);
    float_mode_put_back(guard.mode);
    if (is_foreign_child)
        guard_end_process(0);  // one process simulates
}

bool guard_is_inside(void) { return guard.state == GUARD_RUNNING; }

static bool take_parked(const GuardOwner *owner, GuardFault *fault)
{
    int waiting = PARK_WAITING;
    if (atomic_load_explicit(&parked.state, memory_order_relaxed) != PARK_WAITING || parked.owner != owner)
        return false;
    if (!atomic_compare_exchange_strong(&parked.state, &waiting, PARK_TAKEN))
        return false;
    *fault = parked.fault;
    return true;
}

static void arm(GuardOwner *owner, int64_t timeout_ms, GuardFault *fault)
{
    assert(guard.state == GUARD_OFF);
    if (thread_id == 0)
        prepare_thread();
    guard.fault = fault;
    guard.owner = owner;
    guard.timeout_ms = timeout_ms;
    guard.delay_ns = timeout_ms > 0 ? run_delay_ns() : 0;
    guard.mode = float_mode();
    atomic_store_explicit(&owner->thread, thread_id, memory_order_relaxed);
}

bool guard_series(GuardOwner *owner, void (*function)(void *context), void *context, int64_t timeout_ms,
                  GuardFault *fault)
{
    assert_debug(owner->crew && function && fault);
    arm(owner, timeout_ms, fault);
    if (sigsetjmp(guard.jump, 0) == 0) {
        function(context);
        atomic_store_explicit(&owner->thread, 0, memory_order_relaxed);
        if (!take_parked(owner, fault))
            return true;
    } else {
        guard_exit();
        atomic_store_explicit(&owner->thread, 0, memory_order_relaxed);
        if (fault->is_timeout)
            take_parked(owner, fault);  // it waited for that thread
    }
    start_post_mortem(owner, fault);
    return false;
}

typedef struct OneCall {
    void (*function)(void *context);
    void *context;
} OneCall;

static void call_once(void *context)
{
    const OneCall *call = context;
    guard_enter();
    call->function(call->context);
    guard_exit();
}

bool guard_call(GuardOwner *owner, void (*function)(void *context), void *context, int64_t timeout_ms,
                GuardFault *fault)
{
    return guard_series(owner, call_once, &(OneCall){ function, context }, timeout_ms, fault);
}
