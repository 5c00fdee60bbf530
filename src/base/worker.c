// worker.c - confined processes that do what untrusted data asks for, with bounded time and memory.
#include "base/worker.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// The protocol: one SEQPACKET message each way. The request's bytes lie in one shared memory file, the answer's in
// another; both exist before the fork, so the worker never receives a descriptor. The parent copies the answer out with
// pread, because a mapping could be cut short under its hands by a worker gone bad.

enum { DEFAULT_TIME_MS = 10000, WATCH_MS = 20, WALL_FACTOR = 20, WALL_EXTRA_MS = 20000, STILL_MS = 1000, TRIES = 5 };
#define DEFAULT_MEMORY ((int64_t)2 << 30)
#define DEFAULT_REPLY ((int64_t)1 << 30)

typedef struct Message {
    uint64_t size;
    uint32_t ok;
    uint32_t padding;
} Message;

struct Worker {
    WorkerOptions options;
    pthread_mutex_t lock;
    pid_t process;  // 0 when none runs
    int channel;
    int request_file, reply_file;
    int64_t base_bytes;   // resident when it was ready: much of it is inherited
    WorkerLimits limits;  // of the request under way
    WorkerBudget *budget;
};

struct WorkerReply {
    int file;
    char *data;
    size_t size, capacity, limit;
};

static WorkerOptions with_defaults(const WorkerOptions *options)
{
    WorkerOptions filled = *options;
    if (filled.time_ms <= 0)
        filled.time_ms = DEFAULT_TIME_MS;
    if (filled.memory_bytes <= 0)
        filled.memory_bytes = DEFAULT_MEMORY;
    if (filled.reply_bytes <= 0)
        filled.reply_bytes = DEFAULT_REPLY;
    return filled;
}

void worker_set_budget(Worker *worker, WorkerBudget *budget) { worker->budget = budget; }

Worker *worker_create(const WorkerOptions *options)
{
    Worker *worker = memory_alloc(sizeof *worker);
    worker->options = with_defaults(options);
    assert_debug(worker->options.name && worker->options.time_ms > 0);
    worker->channel = worker->request_file = worker->reply_file = -1;
    pthread_mutex_init(&worker->lock, NULL);
    return worker;
}

static void close_file(int *file)
{
    if (*file >= 0)
        close(*file);
    *file = -1;
}

// Ends the process and returns its wait status, -1 when unknown.
static int stop(Worker *worker, bool at_once)
{
    int status = -1;
    close_file(&worker->channel);
    if (worker->process > 0) {
        if (at_once)
            kill(worker->process, SIGKILL);
        while (waitpid(worker->process, &status, 0) < 0 && errno == EINTR)
            ;
    }
    worker->process = 0;
    close_file(&worker->request_file);
    close_file(&worker->reply_file);
    return status;
}

void worker_destroy(Worker *worker)
{
    if (!worker)
        return;
    stop(worker, true);
    pthread_mutex_destroy(&worker->lock);
    free(worker);
}

// ---- inside the worker ----

#if defined(__x86_64__)
#define OUR_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

static const int plain_calls[] = {
    SYS_read,
    SYS_write,
    SYS_readv,
    SYS_writev,
    SYS_pread64,
    SYS_recvfrom,
    SYS_recvmsg,
    SYS_sendto,
    SYS_sendmsg,
    SYS_ppoll,
    SYS_mmap,
    SYS_munmap,
    SYS_mremap,
    SYS_mprotect,
    SYS_madvise,
    SYS_brk,
    SYS_futex,
    SYS_exit,
    SYS_exit_group,
    SYS_rt_sigreturn,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_sigaltstack,
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_clock_nanosleep,
    SYS_nanosleep,
    SYS_gettimeofday,
    SYS_getpid,
    SYS_gettid,
    SYS_sched_yield,
    SYS_sched_getaffinity,
    SYS_getrandom,
    SYS_fstat,
    SYS_ftruncate,
    SYS_lseek,
    SYS_close,
    SYS_set_robust_list,
    SYS_getrusage,
    SYS_sysinfo,
    SYS_uname,
    SYS_getcpu,
    SYS_membarrier,
    SYS_times,
    SYS_restart_syscall,
    SYS_munlock,
    SYS_mlock,
    SYS_getuid,
    SYS_getppid,
#ifdef SYS_poll
    SYS_poll,
#endif
#ifdef SYS_time
    SYS_time,
#endif
#ifdef SYS_rseq
    SYS_rseq,
#endif
};
static const int thread_calls[] = {
    SYS_set_tid_address,        SYS_sched_getparam,         SYS_sched_getscheduler,
    SYS_sched_get_priority_max, SYS_sched_get_priority_min, SYS_rt_sigtimedwait,
    SYS_rt_sigsuspend,          SYS_rt_sigpending,          SYS_getpriority,
};

typedef struct Filter {
    struct sock_filter code[256];
    unsigned short count;
} Filter;

static void emit(Filter *filter, struct sock_filter instruction)
{
    assert(filter->count < COUNT_OF(filter->code));
    filter->code[filter->count++] = instruction;
}

static void emit_allow(Filter *filter, int call)
{
    emit(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1));
    emit(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
}

// Allows `call` when its first argument has all the bits of `mask` (0: equals zero bits, always) or equals `value`.
static void emit_allow_argument(Filter *filter, int call, int argument, uint32_t mask, uint32_t value)
{
    assert_debug(argument >= 0 && argument < 6);
    unsigned place = (unsigned)(offsetof(struct seccomp_data, args) + 8 * (size_t)argument);
    emit(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 5));
    emit(filter, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, place));
    emit(filter, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask));
    emit(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1));
    emit(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    emit(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
}

// What is not listed fails with EPERM, as a library expects of a call that can fail; clone3 says it does not exist, so
// that the C library falls back to clone, whose flags a filter can read.
static bool install_filter(bool with_threads)
{
#ifdef OUR_ARCHITECTURE
    enum { CLONE_THREAD_FLAG = 0x00010000 };
    Filter filter = { .count = 0 };
    emit(&filter, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)));
    emit(&filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCHITECTURE, 1, 0));
    emit(&filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
    emit(&filter, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
    for (int i = 0; i < COUNT_OF(plain_calls); i++)
        emit_allow(&filter, plain_calls[i]);
    for (int i = 0; with_threads && i < COUNT_OF(thread_calls); i++)
        emit_allow(&filter, thread_calls[i]);
    emit(&filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1));
    emit(&filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS));
    emit_allow_argument(&filter, SYS_tgkill, 0, 0xffffffffu, (uint32_t)getpid());
    emit_allow_argument(&filter, SYS_prlimit64, 0, 0xffffffffu, 0);
    if (with_threads) {
        emit_allow_argument(&filter, SYS_clone, 0, CLONE_THREAD_FLAG, CLONE_THREAD_FLAG);
        emit_allow_argument(&filter, SYS_prctl, 0, 0xffffffffu, PR_SET_NAME);
    }
    emit(&filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
    struct sock_fprog program = { filter.count, filter.code };
    // TSYNC: threads that `start` has made already are confined, too.
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
           && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
#else
    (void)with_threads;
    return false;
#endif
}

static void reset_signals(void)
{
    for (int number = 1; number < 32; number++)
        if (number != SIGKILL && number != SIGSTOP)
            signal(number, SIG_DFL);
    signal(SIGINT, SIG_IGN);  // the parent decides
    signal(SIGPIPE, SIG_IGN);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

// Where a worker has its descriptors.
enum { CHANNEL_PLACE = 3, REQUEST_PLACE, REPLY_PLACE };

// Moves the three descriptors to their places, points 0 to 2 at nothing and closes all others.
static void keep_descriptors(Worker *worker)
{
    int high[3] = { fcntl(worker->channel, F_DUPFD, 100), fcntl(worker->request_file, F_DUPFD, 100),
                    fcntl(worker->reply_file, F_DUPFD, 100) };
    int *places[3] = { &worker->channel, &worker->request_file, &worker->reply_file };
    for (int i = 0; i < 3; i++)
        *places[i] = dup2(high[i], CHANNEL_PLACE + i);
    int nothing = open("/dev/null", O_RDWR);
    if (nothing >= 0) {
        dup2(nothing, 0);
        dup2(nothing, 1);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        if (!getenv("TALUS_WORKER_STDERR"))
            dup2(nothing, 2);
#endif
    }
    close_range(REPLY_PLACE + 1, ~0u, 0);
}

static void limit_resource(int resource, rlim_t soft, rlim_t hard)
{
    struct rlimit limit = { soft, hard };
    setrlimit((__rlimit_resource_t)resource, &limit);
}

static int64_t own_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec;
}

static bool confine(Worker *worker)
{
    limit_resource(RLIMIT_CORE, 0, 0);
    limit_resource(RLIMIT_FSIZE, (rlim_t)worker->options.reply_bytes, (rlim_t)worker->options.reply_bytes);
    prctl(PR_SET_DUMPABLE, 0);
    return install_filter(worker->options.with_threads);
}

void *worker_reply_reserve(WorkerReply *reply, size_t size)
{
    assert_debug(reply->size <= reply->limit);
    if (size > reply->limit - reply->size)
        raise(SIGXFSZ);  // the parent reports an answer that is too large
    size_t needed = reply->size + size;
    if (needed > reply->capacity) {
        size_t capacity = reply->capacity * 2 > needed ? reply->capacity * 2 : needed;
        capacity = (capacity + 0xffff) & ~(size_t)0xffff;
        if (capacity > reply->limit)
            capacity = reply->limit;
        if (ftruncate(reply->file, (off_t)capacity) < 0)
            raise(SIGXFSZ);
        void *data = reply->data ? mremap(reply->data, reply->capacity, capacity, MREMAP_MAYMOVE)
                                 : mmap(NULL, capacity, PROT_READ | PROT_WRITE, MAP_SHARED, reply->file, 0);
        if (data == MAP_FAILED)
            raise(SIGXFSZ);
        reply->data = data;
        reply->capacity = capacity;
    }
    assert_debug(needed <= reply->capacity);
    void *place = reply->data + reply->size;
    reply->size = needed;
    return place;
}

void worker_reply_add(WorkerReply *reply, const void *data, size_t size)
{
    assert_debug(data || size == 0);
    void *place = worker_reply_reserve(reply, size);
    if (size)
        memcpy(place, data, size);
}

void worker_reply_clear(WorkerReply *reply) { reply->size = 0; }

static bool serve_one(Worker *worker, uint64_t size, void *state)
{
    // If the parent dies nobody watches the clock, so the worker also limits itself.
    rlim_t seconds = (rlim_t)(own_seconds() + 2 * worker->options.time_ms / 1000 + 2);
    limit_resource(RLIMIT_CPU, seconds, RLIM_INFINITY);
    char *request = NULL;
    if (size > 0) {
        request = mmap(NULL, size, PROT_READ, MAP_PRIVATE, worker->request_file, 0);
        if (request == MAP_FAILED)
            return false;
    }
    WorkerReply reply = { .file = worker->reply_file, .limit = (size_t)worker->options.reply_bytes };
    bool ok = worker->options.handle(request ? request : "", size, &reply, state);
    Message message = { .size = reply.size, .ok = ok };
    if (reply.data)
        munmap(reply.data, reply.capacity);
    if (request)
        munmap(request, size);
    return send(worker->channel, &message, sizeof message, MSG_NOSIGNAL) == (ssize_t)sizeof message;
}

static void serve(Worker *worker)
{
    prctl(PR_SET_NAME, "talus-worker");
    void *state = worker->options.start ? worker->options.start(worker->options.context)
                                        : (void *)worker->options.context;
    if (!confine(worker))
        _exit(99);
    Message hello = { .ok = 1 };
    if (send(worker->channel, &hello, sizeof hello, MSG_NOSIGNAL) != (ssize_t)sizeof hello)
        _exit(0);
    for (Message message;;) {
        ssize_t got = recv(worker->channel, &message, sizeof message, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got != (ssize_t)sizeof message || !serve_one(worker, message.size, state))
            _exit(0);
    }
}

int worker_serve(const WorkerOptions *options)
{
    struct stat info;
    for (int place = CHANNEL_PLACE; place <= REPLY_PLACE; place++)
        if (fstat(place, &info) < 0 || (place == CHANNEL_PLACE && !S_ISSOCK(info.st_mode)))
            return 99;
    Worker worker = { .options = with_defaults(options),
                      .channel = CHANNEL_PLACE,
                      .request_file = REQUEST_PLACE,
                      .reply_file = REPLY_PLACE };
    serve(&worker);
    return 0;
}

// What the new process does after the fork. Until a program takes over, only what a signal handler may do.
static void become_worker(Worker *worker)
{
    reset_signals();
    keep_descriptors(worker);
    if (worker->options.program) {
        execl(worker->options.program, worker->options.program, worker->options.argument, (char *)NULL);
        _exit(98);
    }
    serve(worker);
}

// ---- in the parent ----

static int64_t now_us(clockid_t clock)
{
    struct timespec now;
    return clock_gettime(clock, &now) == 0 ? (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000 : 0;
}

static int64_t now_ms(clockid_t clock) { return now_us(clock) / 1000; }

// What the kernel tells of a process in one of its short files; empty when it tells nothing.
static void read_process_file(pid_t process, const char *name, char text[static 512])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/%s", (long)process, name);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = file >= 0 ? read(file, text, 511) : 0;
    close_file(&file);
    text[got > 0 ? got : 0] = '\0';
}

static int64_t resident_bytes(pid_t process)
{
    char text[512];
    read_process_file(process, "statm", text);
    long long total = 0, resident = 0;
    return sscanf(text, "%lld %lld", &total, &resident) == 2 ? resident * sysconf(_SC_PAGESIZE) : 0;
}

static bool is_asleep(pid_t process)
{
    char text[512];
    read_process_file(process, "stat", text);
    const char *name_end = strrchr(text, ')');
    return name_end && strncmp(name_end, ") S", 3) == 0;
}

// A worker waits for nothing while it serves. One that sleeps all the same waits for a lock that another thread of the
// parent held when it was forked, and that nobody is left to open: the C library's allocator is safe there, those of
// sanitizers and some others are not.
typedef struct StillWatch {
    int64_t cpu_ms, since_ms;
} StillWatch;

static bool stands_still(StillWatch *watch, pid_t process, int64_t cpu_ms, int64_t wall_ms)
{
    if (cpu_ms != watch->cpu_ms || !is_asleep(process))
        *watch = (StillWatch){ cpu_ms, wall_ms };
    return wall_ms - watch->since_ms > STILL_MS;
}

// Waits for one message while watching the worker's time and memory.
static WorkerStatus watch_message(Worker *worker, Message *message)
{
    clockid_t clock;
    bool has_clock = clock_getcpuclockid(worker->process, &clock) == 0;
    int64_t cpu_start = has_clock ? now_ms(clock) : 0, wall_start = now_ms(CLOCK_MONOTONIC);
    StillWatch watch = { cpu_start, wall_start };
    for (int wait_ms = 1;; wait_ms = WATCH_MS) {
        struct pollfd channel = { worker->channel, POLLIN, 0 };
        int ready = poll(&channel, 1, wait_ms);
        if (ready > 0) {
            ssize_t got = recv(worker->channel, message, sizeof *message, MSG_DONTWAIT);
            if (got < 0 && (errno == EINTR || errno == EAGAIN))
                continue;
            return got == (ssize_t)sizeof *message ? WORKER_OK : WORKER_CRASHED;
        }
        if (resident_bytes(worker->process) - worker->base_bytes > worker->limits.memory_bytes)
            return WORKER_MEMORY;
        int64_t cpu = has_clock ? now_ms(clock) : 0, wall = now_ms(CLOCK_MONOTONIC);
        if (cpu - cpu_start > worker->limits.time_ms
            || wall - wall_start > WALL_FACTOR * worker->limits.time_ms + WALL_EXTRA_MS)
            return WORKER_TIMEOUT;
        if (has_clock && stands_still(&watch, worker->process, cpu, wall))
            return WORKER_STILL;
    }
}

// The same, and what it took is counted.
static WorkerStatus await(Worker *worker, Message *message)
{
    clockid_t clock;
    bool has_clock = clock_getcpuclockid(worker->process, &clock) == 0;
    int64_t start_us = has_clock ? now_us(clock) : 0;
    WorkerStatus status = watch_message(worker, message);
    // (the clock of a process that has ended stays until it is waited for)
    if (has_clock && worker->limits.budget)
        atomic_fetch_add(&worker->limits.budget->spent_us, now_us(clock) - start_us);
    return status;
}

static WorkerStatus start(Worker *worker)
{
    int channel[2] = { -1, -1 };
    worker->request_file = memfd_create("talus-request", MFD_CLOEXEC);
    worker->reply_file = memfd_create("talus-reply", MFD_CLOEXEC);
    if (worker->request_file < 0 || worker->reply_file < 0
        || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel) < 0)
        return WORKER_UNAVAILABLE;
    worker->process = fork();
    if (worker->process == 0) {
        worker->channel = channel[1];
        become_worker(worker);
        _exit(0);
    }
    close(channel[1]);
    worker->channel = channel[0];
    if (worker->process < 0)
        return WORKER_UNAVAILABLE;
    Message hello;
    WorkerLimits limits = worker->limits;
    worker->base_bytes = 0;
    worker->limits = (WorkerLimits){ worker->options.time_ms, INT64_MAX, NULL };
    WorkerStatus status = await(worker, &hello);
    worker->limits = limits;
    worker->base_bytes = resident_bytes(worker->process);
    return status == WORKER_OK || status == WORKER_STILL ? status : WORKER_UNAVAILABLE;
}

static bool write_at(int file, const char *data, size_t size, off_t place)
{
    while (size > 0) {
        ssize_t done = pwrite(file, data, size, place);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        data += done;
        size -= (size_t)done;
        place += done;
    }
    return true;
}

static bool send_request(Worker *worker, const WorkerPart *parts, int part_count)
{
    assert_debug(worker->process > 0);
    Message message = { 0 };
    if (ftruncate(worker->request_file, 0) < 0 || ftruncate(worker->reply_file, 0) < 0)
        return false;
    for (int i = 0; i < part_count; i++) {
        if (!write_at(worker->request_file, parts[i].data, parts[i].size, (off_t)message.size))
            return false;
        message.size += parts[i].size;
    }
    return send(worker->channel, &message, sizeof message, MSG_NOSIGNAL) == (ssize_t)sizeof message;
}

static bool read_reply(Worker *worker, size_t size, WorkerAnswer *answer)
{
    assert_debug(!answer->data);
    struct stat info;
    if (size > (size_t)worker->options.reply_bytes
        || (size > 0 && (fstat(worker->reply_file, &info) < 0 || (size_t)info.st_size < size)))
        return false;
    char *data = memory_alloc_raw(size + 1);
    size_t done = 0;
    while (done < size) {
        ssize_t got = pread(worker->reply_file, data + done, size - done, (off_t)done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    data[done] = '\0';
    if (done < size) {
        free(data);
        return false;
    }
    answer->data = data;
    answer->size = size;
    return true;
}

static void describe_end(const Worker *worker, WorkerStatus status, int wait_status, WorkerAnswer *answer)
{
    assert_debug(status != WORKER_OK && status != WORKER_REFUSED);
    const char *name = worker->options.name;
    if (status == WORKER_TIMEOUT)
        snprintf(answer->message, sizeof answer->message, "the %s took more than %.3g s and was ended", name,
                 (double)worker->limits.time_ms / 1000.0);
    else if (status == WORKER_MEMORY)
        snprintf(answer->message, sizeof answer->message, "the %s took more than %lld MB of memory and was ended", name,
                 (long long)(worker->limits.memory_bytes >> 20));
    else if (status == WORKER_STILL)
        snprintf(answer->message, sizeof answer->message, "the %s stood still %d times and was ended", name, TRIES);
    else if (status == WORKER_SPENT)
        snprintf(answer->message, sizeof answer->message,
                 "the %s is not asked any more: all together took %.3g s (limit %s)", name,
                 (double)worker->limits.budget->total_ms / 1000.0, worker->limits.budget->limit);
    else if (status == WORKER_UNAVAILABLE)
        snprintf(answer->message, sizeof answer->message, "the %s could not be started in confinement", name);
    else if (wait_status >= 0 && WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGXFSZ)
        snprintf(answer->message, sizeof answer->message, "the %s made more than %lld MB", name,
                 (long long)(worker->options.reply_bytes >> 20));
    else if (wait_status >= 0 && WIFSIGNALED(wait_status))
        snprintf(answer->message, sizeof answer->message, "the %s crashed (%s)", name,
                 strsignal(WTERMSIG(wait_status)));
    else
        snprintf(answer->message, sizeof answer->message, "the %s ended unexpectedly", name);
}

static WorkerStatus exchange(Worker *worker, const WorkerPart *parts, int part_count, Message *message)
{
    WorkerStatus status = worker->process ? WORKER_OK : start(worker);
    if (status == WORKER_OK)
        status = send_request(worker, parts, part_count) ? await(worker, message) : WORKER_CRASHED;
    return status;
}

static WorkerStatus call_locked(Worker *worker, const WorkerPart *parts, int part_count, WorkerAnswer *answer)
{
    assert_debug(!answer->data);
    Message message = { 0 };
    WorkerStatus status = exchange(worker, parts, part_count, &message);
    for (int i = 1; i < TRIES && status == WORKER_STILL; i++) {
        stop(worker, true);
        status = exchange(worker, parts, part_count, &message);
    }
    if (status == WORKER_OK && !read_reply(worker, (size_t)message.size, answer))
        status = WORKER_CRASHED;
    if (status != WORKER_OK) {
        int wait_status = stop(worker, status != WORKER_CRASHED);
        if (status == WORKER_CRASHED && wait_status >= 0 && WIFSIGNALED(wait_status)
            && WTERMSIG(wait_status) == SIGXCPU)
            status = WORKER_TIMEOUT;
        describe_end(worker, status, wait_status, answer);
        return status;
    }
    // Gives the pages back: a large mesh should not stay in memory a second time.
    if (ftruncate(worker->request_file, 0) < 0 || ftruncate(worker->reply_file, 0) < 0)
        stop(worker, true);
    if (message.ok)
        return WORKER_OK;
    snprintf(answer->message, sizeof answer->message, "%s", answer->size ? answer->data : "no reason given");
    free(answer->data);
    answer->data = NULL;
    answer->size = 0;
    return WORKER_REFUSED;
}

// Whether anything is left; the request may take no more than that.
static bool fits_budget(WorkerLimits *limits)
{
    if (!limits->budget)
        return true;
    int64_t left_ms = limits->budget->total_ms - atomic_load(&limits->budget->spent_us) / 1000;
    if (left_ms < limits->time_ms)
        limits->time_ms = left_ms;
    return left_ms > 0;
}

WorkerStatus worker_call_limited(Worker *worker, const WorkerPart *parts, int part_count, const WorkerLimits *limits,
                                 WorkerAnswer *answer)
{
    assert_debug(parts || part_count == 0);
    *answer = (WorkerAnswer){ 0 };
    pthread_mutex_lock(&worker->lock);
    worker->limits = *limits;
    if (worker->limits.time_ms <= 0 || worker->limits.time_ms > worker->options.time_ms)
        worker->limits.time_ms = worker->options.time_ms;
    if (worker->limits.memory_bytes <= 0 || worker->limits.memory_bytes > worker->options.memory_bytes)
        worker->limits.memory_bytes = worker->options.memory_bytes;
    if (!worker->limits.budget)
        worker->limits.budget = worker->budget;
    WorkerStatus status = WORKER_SPENT;
    if (fits_budget(&worker->limits))
        status = call_locked(worker, parts, part_count, answer);
    else
        describe_end(worker, status, -1, answer);
    pthread_mutex_unlock(&worker->lock);
    return status;
}

WorkerStatus worker_call(Worker *worker, const WorkerPart *parts, int part_count, WorkerAnswer *answer)
{
    return worker_call_limited(worker, parts, part_count, &(WorkerLimits){ 0 }, answer);
}
