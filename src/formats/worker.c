// worker.c - this side of the template processes: start, feed, watch, end.
#include "formats/worker.h"

#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MESSAGES_MAX 1000           // that one template may print
#define FILE_BYTES_MAX (16u << 20)  // of one file that a template reads
#define WATCH_MS 10

typedef struct Worker {
    pid_t pid;            // 0: not running
    int socket;
    int64_t base_bytes;   // resident when it was ready
    int64_t job_cpu_ms;   // processor time when the job began
    int64_t job_wall_ms;
} Worker;

// The processes are shared by all worlds of this process: the one thing here that outlives a load. The lock guards it.
static struct {
    pthread_mutex_t lock;
    Worker workers[3];    // by language
} host = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool send_all(int socket, const void *data, size_t size)
{
    const char *at = data;
    while (size > 0) {
        ssize_t sent = send(socket, at, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        at += sent;
        size -= (size_t)sent;
    }
    return true;
}

bool worker_send(int socket, WorkerMessage kind, const void *data, size_t size)
{
    WorkerHeader header = { kind, (uint32_t)size };
    return size <= UINT32_MAX && send_all(socket, &header, sizeof header) && send_all(socket, data, size);
}

void worker_put_u32(Text *out, uint32_t value)
{
    text_add(out, (const char *)&value, sizeof value);
}

void worker_put_bytes(Text *out, const void *data, size_t size)
{
    worker_put_u32(out, (uint32_t)size);
    text_add(out, data, size);
}

uint32_t worker_get_u32(WorkerInput *input)
{
    uint32_t value = 0;
    if (input->end - input->at < (ptrdiff_t)sizeof value)
        input->failed = true;
    if (input->failed)
        return 0;
    memcpy(&value, input->at, sizeof value);
    input->at += sizeof value;
    return value;
}

const char *worker_get_bytes(WorkerInput *input, uint32_t *size)
{
    *size = worker_get_u32(input);
    if (input->end - input->at < (ptrdiff_t)*size)
        input->failed = true;
    if (input->failed) {
        *size = 0;
        return "";
    }
    const char *bytes = input->at;
    input->at += *size;
    return bytes;
}

static int64_t clock_ms(clockid_t clock)
{
    struct timespec now;
    if (clock_gettime(clock, &now) != 0)
        return 0;
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int64_t worker_cpu_ms(const Worker *worker)
{
    clockid_t clock;
    return clock_getcpuclockid(worker->pid, &clock) == 0 ? clock_ms(clock) : 0;
}

// Resident memory of the process, 0 when it is gone.
static int64_t worker_bytes(const Worker *worker)
{
    char path[64], line[128];
    snprintf(path, sizeof path, "/proc/%d/statm", (int)worker->pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t length = read(fd, line, sizeof line - 1);
    close(fd);
    if (length <= 0)
        return 0;
    line[length] = '\0';
    long long total = 0, resident = 0;
    return sscanf(line, "%lld %lld", &total, &resident) == 2 ? resident * sysconf(_SC_PAGESIZE) : 0;
}

static void worker_stop(Worker *worker)
{
    if (worker->pid == 0)
        return;
    kill(worker->pid, SIGKILL);
    close(worker->socket);
    while (waitpid(worker->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    *worker = (Worker){ 0 };
}

// Ends the worker that closed its socket and tells how it died.
static const char *worker_bury(Worker *worker)
{
    int status = 0;
    close(worker->socket);
    for (int i = 0; i < 200 && waitpid(worker->pid, &status, WNOHANG) == 0; i++) {
        if (i == 100)
            kill(worker->pid, SIGKILL);
        usleep(1000);
    }
    *worker = (Worker){ 0 };
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
        return "ran out of its processor time";
    return WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "ended by itself";
}

static bool worker_start(Worker *worker, TemplateLanguage language)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return false;
    fflush(NULL);  // what is buffered belongs to this process alone
    pid_t pid = fork();
    if (pid < 0) {
        close(pair[0]);
        close(pair[1]);
        return false;
    }
    if (pid == 0)
        worker_child_main(pair[1], language);
    close(pair[1]);
    *worker = (Worker){ .pid = pid, .socket = pair[0] };
    char ready;
    ssize_t got;
    struct pollfd wait = { .fd = pair[0], .events = POLLIN };
    while ((got = poll(&wait, 1, 20000)) < 0 && errno == EINTR)
        ;
    if (got != 1 || recv(pair[0], &ready, 1, 0) != 1) {
        worker_stop(worker);
        return false;
    }
    worker->base_bytes = worker_bytes(worker);
    return true;
}

// Why the worker must be ended, or NULL while all is well.
static const char *worker_excess(const Worker *worker, const WorkerJob *job, char buffer[96])
{
    int64_t cpu_ms = worker_cpu_ms(worker) - worker->job_cpu_ms;
    int64_t wall_ms = clock_ms(CLOCK_MONOTONIC) - worker->job_wall_ms;
    if (cpu_ms > job->time_ms || wall_ms > 20 * job->time_ms + 60000) {
        snprintf(buffer, 96, "takes more than %.3g s", (double)job->time_ms / 1000.0);
        return buffer;
    }
    if (worker_bytes(worker) - worker->base_bytes > job->memory_bytes) {
        snprintf(buffer, 96, "takes more than %.3g MB of memory", (double)job->memory_bytes / 1048576.0);
        return buffer;
    }
    return NULL;
}

typedef enum ReceiveResult { RECEIVED, RECEIVE_ENDED, RECEIVE_EXCESS } ReceiveResult;

// Fills `size` bytes from the worker, watching it meanwhile. On excess *why says which.
static ReceiveResult receive(Worker *worker, const WorkerJob *job, void *data, size_t size, char why[96])
{
    char *at = data;
    int64_t last_check = clock_ms(CLOCK_MONOTONIC);
    while (size > 0) {
        ssize_t got = recv(worker->socket, at, size, MSG_DONTWAIT);
        if (got > 0) {
            at += got;
            size -= (size_t)got;
        } else if (got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
            return RECEIVE_ENDED;
        } else {
            struct pollfd wait = { .fd = worker->socket, .events = POLLIN };
            poll(&wait, 1, WATCH_MS);
        }
        int64_t now = clock_ms(CLOCK_MONOTONIC);
        if (now - last_check >= WATCH_MS) {
            last_check = now;
            if (worker_excess(worker, job, why))
                return RECEIVE_EXCESS;
        }
    }
    return RECEIVED;
}

static void write_job(const WorkerJob *job, Text *out)
{
    const TemplateScript *script = job->script;
    worker_put_bytes(out, &job->output_bytes, sizeof job->output_bytes);
    worker_put_bytes(out, &job->memory_bytes, sizeof job->memory_bytes);
    worker_put_bytes(out, script->code.data ? script->code.data : "", script->code.length);
    worker_put_bytes(out, job->fields, strlen(job->fields));
    worker_put_bytes(out, job->context, strlen(job->context));
    worker_put_u32(out, (uint32_t)script->piece_count);
    for (int i = 0; i < script->piece_count; i++) {
        worker_put_u32(out, (uint32_t)script->pieces[i].line);
        worker_put_bytes(out, script->pieces_text.data + script->pieces[i].begin, script->pieces[i].length);
    }
}

static SourcePos job_pos(const WorkerJob *job, uint32_t generated_line)
{
    int line = template_script_line(job->script, generated_line > INT32_MAX ? 0 : (int)generated_line);
    return (SourcePos){ job->file, 0, (uint32_t)(line ? line : job->script->line_count ? job->script->line_of[0] : 0) };
}

// Printable, bounded, one line.
static void clean_message(const char *bytes, uint32_t size, Text *out)
{
    for (uint32_t i = 0; i < size && i < 2000; i++)
        text_add_char(out, (unsigned char)bytes[i] < 0x20 ? ' ' : bytes[i]);
    while (out->length > 0 && out->data[out->length - 1] == ' ')
        out->data[--out->length] = '\0';
}

static void take_say(const WorkerJob *job, WorkerInput *input, DiagSink *diags)
{
    uint32_t severity = worker_get_u32(input), line = worker_get_u32(input), size;
    const char *bytes = worker_get_bytes(input, &size);
    if (input->failed)
        return;
    Text message = { 0 };
    clean_message(bytes, size, &message);
    if (message.length > 0 && severity == DIAG_NOTE)
        diag_note(diags, job_pos(job, line), "template: %s", message.data);
    else if (message.length > 0)
        diag_warning(diags, job_pos(job, line), "template: %s", message.data);
    text_free(&message);
}

static void take_failure(const WorkerJob *job, WorkerInput *input, DiagSink *diags)
{
    uint32_t line = worker_get_u32(input), size;
    const char *bytes = worker_get_bytes(input, &size);
    Text message = { 0 };
    clean_message(bytes, size, &message);
    diag_error(diags, job_pos(job, line), "template: %s", message.length ? message.data : "failed without a message");
    text_free(&message);
}

static bool take_result(const WorkerJob *job, WorkerInput *input, TemplateResult *result)
{
    uint32_t text_size, lines_size;
    const char *text = worker_get_bytes(input, &text_size);
    const char *lines = worker_get_bytes(input, &lines_size);
    if (input->failed || text_size > (uint64_t)job->output_bytes * 4 || lines_size % 4 != 0)
        return false;
    text_add(&result->text, text, text_size);
    result->line_count = lines_size / 4;
    result->line_of = memory_alloc_array(result->line_count, sizeof *result->line_of);
    memcpy(result->line_of, lines, lines_size);
    return true;
}

static void answer_file(Worker *worker, const WorkerJob *job, WorkerMessage kind, const char *bytes, uint32_t size)
{
    Arena *arena = arena_create();
    Text answer = { 0 };
    char *wanted = arena_text(arena, bytes, size);
    const char *folder = path_real(arena, job->folder);
    const char *path = folder && strlen(wanted) == size ? path_real(arena, path_join(arena, folder, wanted)) : NULL;
    FileData file = { 0 };
    bool found = path && path_is_inside(path, folder) && file_exists(path);
    if (found && kind == WORKER_READ)
        found = file_read(path, FILE_BYTES_MAX, &file, NULL, (SourcePos){ 0 });
    text_add_char(&answer, found ? 1 : 0);
    if (file.data)
        text_add(&answer, file.data, file.size);
    file_release(&file);
    worker_send(worker->socket, WORKER_FILE, answer.data, answer.length);
    text_free(&answer);
    arena_destroy(arena);
}

static bool fail(Worker *worker, const WorkerJob *job, DiagSink *diags, const char *why)
{
    diag_error(diags, job_pos(job, 0), "template %s", why);
    worker_stop(worker);
    return false;
}

// Handles messages until the job is done or has failed.
static bool serve(Worker *worker, const WorkerJob *job, TemplateResult *result, DiagSink *diags)
{
    int said = 0;
    Text data = { 0 };
    bool ok = false, over = false;
    while (!over) {
        WorkerHeader header;
        char why[128];
        ReceiveResult state = receive(worker, job, &header, sizeof header, why);
        if (state == RECEIVED && header.size > (uint64_t)job->output_bytes * 6 + (1u << 20)) {
            snprintf(why, sizeof why, "makes more text than allowed (%.3g MB)", (double)job->output_bytes / 1048576.0);
            state = RECEIVE_EXCESS;
        } else if (state == RECEIVED) {
            char *bytes = memory_alloc_raw(header.size);
            state = receive(worker, job, bytes, header.size, why);
            text_clear(&data);
            if (state == RECEIVED)
                text_add(&data, bytes, header.size);
            free(bytes);
        }
        if (state == RECEIVE_ENDED) {
            const char *how = worker_bury(worker);
            diag_error(diags, job_pos(job, 0), "template: its process died: %s", how);
            break;
        }
        if (state == RECEIVE_EXCESS) {
            fail(worker, job, diags, why);
            break;
        }
        WorkerInput input = { data.data, data.data + data.length, false };
        switch (header.kind) {
        case WORKER_SAY:
            if (++said <= MESSAGES_MAX)
                take_say(job, &input, diags);
            break;
        case WORKER_READ:
        case WORKER_EXISTS:
            answer_file(worker, job, (WorkerMessage)header.kind, data.data ? data.data : "", (uint32_t)data.length);
            break;
        case WORKER_FAILED:
            take_failure(job, &input, diags);
            over = true;
            break;
        case WORKER_DONE:
            over = true;
            ok = take_result(job, &input, result);
            if (!ok)
                fail(worker, job, diags, "sent a broken result");
            break;
        default:
            fail(worker, job, diags, "sent a message that does not exist");
            over = true;
        }
    }
    text_free(&data);
    return ok;
}

// If this process dies, a looping worker must not live on: its processor time is bounded by the system, too.
static void bound_time(const Worker *worker, const WorkerJob *job)
{
    struct rlimit limit = { 0 };
    if (prlimit(worker->pid, RLIMIT_CPU, NULL, &limit) == 0) {
        limit.rlim_cur = (rlim_t)((worker->job_cpu_ms + job->time_ms) / 1000 + 3);
        prlimit(worker->pid, RLIMIT_CPU, &limit, NULL);
    }
}

bool worker_run(const WorkerJob *job, TemplateResult *result, DiagSink *diags)
{
    Text message = { 0 };
    write_job(job, &message);
    pthread_mutex_lock(&host.lock);
    Worker *worker = &host.workers[job->language];
    bool sent = false, ok = false;
    for (int attempt = 0; attempt < 2 && !sent; attempt++) {
        if (worker->pid == 0 && !worker_start(worker, job->language))
            break;
        worker->job_cpu_ms = worker_cpu_ms(worker);
        worker->job_wall_ms = clock_ms(CLOCK_MONOTONIC);
        bound_time(worker, job);
        sent = worker_send(worker->socket, WORKER_JOB, message.data, message.length);
        if (!sent)
            worker_stop(worker);  // it died between jobs
    }
    if (sent)
        ok = serve(worker, job, result, diags);
    else
        diag_error(diags, job_pos(job, 0), "template: cannot start the process that evaluates it: %s", strerror(errno));
    pthread_mutex_unlock(&host.lock);
    text_free(&message);
    return ok;
}

void worker_stop_all(void)
{
    pthread_mutex_lock(&host.lock);
    for (int i = 0; i < COUNT_OF(host.workers); i++)
        worker_stop(&host.workers[i]);
    pthread_mutex_unlock(&host.lock);
}
