// worker_child.c - the confined process: it has one socket and nothing else.
//
// Confinement is by the kernel: every file descriptor but the socket is closed, and a seccomp filter lets pass only what
// an interpreter needs (memory, threads, time, its socket). Everything else fails with EPERM. JavaScriptCore is started
// before the filter, since it looks at the machine once.
#include "formats/worker.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

// This process serves one socket and one job at a time.
static int child_socket;

static bool receive_all(void *data, size_t size)
{
    char *at = data;
    while (size > 0) {
        ssize_t got = recv(child_socket, at, size, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += got;
        size -= (size_t)got;
    }
    return true;
}

static bool receive_message(uint32_t expected, Text *data)
{
    WorkerHeader header;
    text_clear(data);
    if (!receive_all(&header, sizeof header) || header.kind != expected)
        return false;
    char *bytes = memory_alloc_raw((size_t)header.size + 1);
    bool ok = receive_all(bytes, header.size);
    if (ok)
        text_add(data, bytes, header.size);
    free(bytes);
    return ok;
}

void engine_say(DiagSeverity severity, int generated_line, const char *text, size_t size)
{
    Text message = { 0 };
    worker_put_u32(&message, severity);
    worker_put_u32(&message, (uint32_t)generated_line);
    worker_put_bytes(&message, text, size > 4000 ? 4000 : size);
    if (!worker_send(child_socket, WORKER_SAY, message.data, message.length))
        _exit(1);
    text_free(&message);
}

static bool ask_file(WorkerMessage kind, const char *path, Text *answer)
{
    if (!worker_send(child_socket, kind, path, strlen(path)) || !receive_message(WORKER_FILE, answer))
        _exit(1);
    return answer->length > 0 && answer->data[0] != 0;
}

bool engine_file_exists(const char *path)
{
    Text answer = { 0 };
    bool found = ask_file(WORKER_EXISTS, path, &answer);
    text_free(&answer);
    return found;
}

char *engine_read_file(const char *path, size_t *size)
{
    Text answer = { 0 };
    char *content = NULL;
    if (ask_file(WORKER_READ, path, &answer)) {
        *size = answer.length - 1;
        content = memory_text(answer.data + 1, *size);
    }
    text_free(&answer);
    return content;
}

const char *engine_module(const char *name, const char *extension, size_t *size)
{
    char file[64];
    if (snprintf(file, sizeof file, "%s%s", name, extension) >= (int)sizeof file)
        return NULL;
    for (int i = 0; i < template_module_count; i++) {
        if (!strcmp(template_modules[i].name, file)) {
            *size = template_modules[i].size;
            return (const char *)template_modules[i].data;
        }
    }
    return NULL;
}

static bool read_job(const Text *data, EngineJob *job)
{
    WorkerInput input = { data->data, data->data + data->length, false };
    uint32_t size;
    const char *bytes = worker_get_bytes(&input, &size);
    if (size != sizeof job->output_limit)
        return false;
    memcpy(&job->output_limit, bytes, size);
    bytes = worker_get_bytes(&input, &size);
    if (size != sizeof job->memory_limit)
        return false;
    memcpy(&job->memory_limit, bytes, size);
    bytes = worker_get_bytes(&input, &job->code_size);
    job->code = memory_text(bytes, job->code_size);
    bytes = worker_get_bytes(&input, &size);
    job->fields = memory_text(bytes, size);
    bytes = worker_get_bytes(&input, &size);
    job->context = memory_text(bytes, size);
    job->piece_count = worker_get_u32(&input);
    if (job->piece_count > data->length)
        return false;
    job->pieces = memory_alloc_array(job->piece_count, sizeof *job->pieces);
    job->piece_sizes = memory_alloc_array(job->piece_count, sizeof *job->piece_sizes);
    job->piece_lines = memory_alloc_array(job->piece_count, sizeof *job->piece_lines);
    for (uint32_t i = 0; i < job->piece_count; i++) {
        job->piece_lines[i] = worker_get_u32(&input);
        bytes = worker_get_bytes(&input, &job->piece_sizes[i]);
        job->pieces[i] = memory_text(bytes, job->piece_sizes[i]);
    }
    return !input.failed;
}

static void free_job(EngineJob *job)
{
    free((char *)job->code);
    free((char *)job->fields);
    free((char *)job->context);
    for (uint32_t i = 0; i < job->piece_count; i++)
        free((char *)job->pieces[i]);
    free(job->pieces);
    free(job->piece_sizes);
    free(job->piece_lines);
}

static bool serve_one(TemplateLanguage language)
{
    Text data = { 0 };
    EngineJob job = { 0 };
    EngineResult result = { 0 };
    if (!receive_message(WORKER_JOB, &data) || !read_job(&data, &job))
        return false;
    text_free(&data);
    bool ok = language == TEMPLATE_LUA ? engine_lua_run(&job, &result) : engine_js_run(&job, &result);
    free_job(&job);
    Text answer = { 0 };
    if (ok) {
        worker_put_bytes(&answer, result.text.data ? result.text.data : "", result.text.length);
        worker_put_bytes(&answer, result.lines.data ? result.lines.data : "", result.lines.length);
    } else {
        worker_put_u32(&answer, (uint32_t)result.line);
        worker_put_bytes(&answer, result.message.data ? result.message.data : "", result.message.length);
    }
    ok = worker_send(child_socket, ok ? WORKER_DONE : WORKER_FAILED, answer.data, answer.length);
    text_free(&answer);
    text_free(&result.text);
    text_free(&result.lines);
    text_free(&result.message);
    return ok;
}

// System calls that an interpreter with threads and one socket makes.
static const uint16_t allowed_calls[] = {
    __NR_read, __NR_write, __NR_readv, __NR_writev, __NR_recvfrom, __NR_recvmsg, __NR_sendto, __NR_sendmsg, __NR_close, __NR_fstat,
    __NR_lseek, __NR_ppoll, __NR_mmap, __NR_munmap, __NR_mprotect, __NR_madvise, __NR_mremap, __NR_brk, __NR_mincore,
    __NR_futex, __NR_set_robust_list, __NR_rseq, __NR_membarrier, __NR_sched_yield, __NR_sched_getaffinity,
    __NR_sched_getparam, __NR_sched_getscheduler, __NR_sched_setscheduler, __NR_sched_get_priority_max,
    __NR_sched_get_priority_min, __NR_sched_setattr, __NR_getpriority, __NR_rt_sigaction, __NR_rt_sigprocmask,
    __NR_rt_sigreturn, __NR_rt_sigsuspend, __NR_rt_sigtimedwait, __NR_sigaltstack, __NR_tgkill, __NR_getpid, __NR_gettid, __NR_getuid,
    __NR_geteuid, __NR_getgid, __NR_getegid, __NR_clock_gettime, __NR_clock_getres, __NR_clock_nanosleep, __NR_nanosleep,
    __NR_gettimeofday, __NR_times, __NR_getrusage, __NR_sysinfo, __NR_uname, __NR_getrandom, __NR_exit, __NR_exit_group,
    __NR_restart_syscall, __NR_set_tid_address, __NR_prctl, __NR_eventfd2, __NR_pipe2, __NR_get_mempolicy,
#ifdef __NR_poll
    __NR_poll,
#endif
#ifdef __NR_arch_prctl
    __NR_arch_prctl,
#endif
#ifdef __NR_time
    __NR_time,
#endif
};

#if defined(__x86_64__)
#define CHILD_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define CHILD_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

// Threads may be made, processes not; clone3 hides its flags from filters, so it "does not exist" and clone is used.
static bool confine(void)
{
#ifdef CHILD_ARCHITECTURE
    struct sock_filter filter[COUNT_OF(allowed_calls) * 2 + 16];
    unsigned short n = 0;
    const struct sock_filter head[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CHILD_ARCHITECTURE, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_clone3, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_clone, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x00010000 /* CLONE_THREAD */, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
    memcpy(filter, head, sizeof head);
    n = COUNT_OF(head);
    for (int i = 0; i < COUNT_OF(allowed_calls); i++) {
        filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed_calls[i], 0, 1);
        filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    struct sock_fprog program = { n, filter };
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
#else
    return false;
#endif
}

static void reset_process(void)
{
    for (int signal_number = 1; signal_number < 32; signal_number++)
        signal(signal_number, SIG_DFL);
    signal(SIGINT, SIG_IGN);  // the terminal's Ctrl-C is for the program, which then closes the socket
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    child_socket = fcntl(child_socket, F_DUPFD_CLOEXEC, 3);
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd < 3; fd++)
        dup2(nowhere, fd);
    dup2(child_socket, 3);
    child_socket = 3;
    syscall(SYS_close_range, 4u, ~0u, 0u);
    struct rlimit none_at_all = { 0, 0 };
    setrlimit(RLIMIT_CORE, &none_at_all);
    setrlimit(RLIMIT_FSIZE, &none_at_all);
    if (chdir("/") != 0)
        _exit(1);
    clearenv();
    setenv("TZ", "UTC", 1);
    setenv("LC_ALL", "C", 1);
}

_Noreturn void worker_child_main(int socket, TemplateLanguage language)
{
    child_socket = socket;
    reset_process();
    if (language == TEMPLATE_JAVASCRIPT)
        engine_js_start();
    if (!confine())
        _exit(3);
    if (send(child_socket, "r", 1, MSG_NOSIGNAL) != 1)
        _exit(1);
    while (serve_one(language))
        ;
    _exit(0);
}
