#include "formats/template_engine.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/worker.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SAID_MOST 1000                // messages of one template
#define FILES_MOST 64                 // that one template may read
#define FILE_BYTES_MOST (16u << 20)   // of one of them
#define PROCESS_TIME_MS 60000         // backstops of the process; a request has its own, lower ones
#define PROCESS_MEMORY ((int64_t)4 << 30)

typedef enum AnswerKind { ANSWER_DONE = 1, ANSWER_FAILED, ANSWER_WANTS_FILE } AnswerKind;

// -------------------------------------------------------------------------------------------------------------- values

void engine_put_u32(Text *out, uint32_t value)
{
    text_add(out, (const char *)&value, sizeof value);
}

void engine_put_bytes(Text *out, const void *data, size_t size)
{
    engine_put_u32(out, (uint32_t)size);
    text_add(out, data, size);
}

static void put_text(Text *out, const Text *text)
{
    engine_put_bytes(out, text->data ? text->data : "", text->length);
}

uint32_t engine_get_u32(EngineInput *input)
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

const char *engine_get_bytes(EngineInput *input, uint32_t *size)
{
    *size = engine_get_u32(input);
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

// ------------------------------------------------------------------------------------- inside of the confined process

void engine_say(EngineJob *job, DiagSeverity severity, int generated_line, const char *text, size_t size)
{
    enum { LONGEST = 2000 };
    if (job->said_count >= SAID_MOST)
        return;
    job->said_count++;
    engine_put_u32(&job->said, severity);
    engine_put_u32(&job->said, (uint32_t)generated_line);
    engine_put_bytes(&job->said, text, size > LONGEST ? LONGEST : size);
}

const EngineFile *engine_file(EngineJob *job, const char *path)
{
    static const EngineFile none = { .path = "" };
    for (uint32_t i = 0; i < job->file_count; i++)
        if (!strcmp(job->files[i].path, path))
            return &job->files[i];
    if (job->file_count >= FILES_MOST || !*path)
        return &none;
    if (job->wanted.length == 0)
        text_add_string(&job->wanted, path);
    return NULL;
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

static const char *take_string(EngineInput *input, Arena *arena, uint32_t *size)
{
    const char *bytes = engine_get_bytes(input, size);
    return arena_text(arena, bytes, *size);
}

static bool read_job(const char *request, size_t request_size, Arena *arena, EngineJob *job)
{
    EngineInput input = { request, request + request_size, false };
    uint32_t size;
    const char *limits = engine_get_bytes(&input, &size);
    if (size != 2 * sizeof(uint64_t))
        return false;
    memcpy(&job->output_limit, limits, sizeof(uint64_t));
    memcpy(&job->memory_limit, limits + sizeof(uint64_t), sizeof(uint64_t));
    job->code = take_string(&input, arena, &job->code_size);
    job->fields = take_string(&input, arena, &size);
    job->context = take_string(&input, arena, &size);
    job->piece_count = engine_get_u32(&input);
    if (job->piece_count > request_size)
        return false;
    job->pieces = arena_alloc_array(arena, job->piece_count, sizeof *job->pieces);
    job->piece_sizes = arena_alloc_array(arena, job->piece_count, sizeof *job->piece_sizes);
    job->piece_lines = arena_alloc_array(arena, job->piece_count, sizeof *job->piece_lines);
    for (uint32_t i = 0; i < job->piece_count; i++) {
        job->piece_lines[i] = engine_get_u32(&input);
        job->pieces[i] = take_string(&input, arena, &job->piece_sizes[i]);
    }
    job->file_count = engine_get_u32(&input);
    if (job->file_count > FILES_MOST)
        return false;
    job->files = arena_alloc_array(arena, job->file_count, sizeof *job->files);
    for (uint32_t i = 0; i < job->file_count; i++) {
        job->files[i].path = take_string(&input, arena, &size);
        job->files[i].is_found = engine_get_u32(&input) != 0;
        job->files[i].content = take_string(&input, arena, &job->files[i].size);
    }
    return !input.failed;
}

static void write_answer(const EngineJob *job, bool ok, Text *out)
{
    AnswerKind kind = job->wanted.length ? ANSWER_WANTS_FILE : ok ? ANSWER_DONE : ANSWER_FAILED;
    engine_put_u32(out, kind);
    if (kind == ANSWER_WANTS_FILE) {
        put_text(out, &job->wanted);
        return;
    }
    put_text(out, &job->said);
    if (kind == ANSWER_DONE) {
        put_text(out, &job->text);
        put_text(out, &job->lines);
    } else {
        engine_put_u32(out, (uint32_t)job->line);
        put_text(out, &job->message);
    }
}

static bool handle(const char *request, size_t size, WorkerReply *reply, bool (*run)(EngineJob *job))
{
    EngineJob job = { 0 };
    Text answer = { 0 };
    Arena *arena = arena_create();
    bool ok = read_job(request, size, arena, &job);
    if (ok) {
        write_answer(&job, run(&job), &answer);
        worker_reply_add(reply, answer.data, answer.length);
    }
    text_free(&answer);
    text_free(&job.text);
    text_free(&job.lines);
    text_free(&job.message);
    text_free(&job.said);
    text_free(&job.wanted);
    arena_destroy(arena);
    return ok;
}

static bool handle_js(const char *request, size_t size, WorkerReply *reply, void *state)
{
    (void)state;
    return handle(request, size, reply, engine_js_run);
}

static bool handle_lua(const char *request, size_t size, WorkerReply *reply, void *state)
{
    (void)state;
    return handle(request, size, reply, engine_lua_run);
}

// Results must not depend on the user's environment.
static void *start(const void *context)
{
    clearenv();
    setenv("TZ", "UTC", 1);
    setenv("LC_ALL", "C", 1);
    if (*(const TemplateLanguage *)context == TEMPLATE_JAVASCRIPT)
        engine_js_start();
    return NULL;
}

// ------------------------------------------------------------------------------------------------------- on this side

// The processes are shared by all worlds of this process, and live as long as it does. Each has a lock of its own.
static struct {
    pthread_mutex_t lock;
    Worker *workers[3];  // by language
} host = { .lock = PTHREAD_MUTEX_INITIALIZER };

static Worker *worker_of(TemplateLanguage language)
{
    static const TemplateLanguage languages[] = { TEMPLATE_NONE, TEMPLATE_JAVASCRIPT, TEMPLATE_LUA };
    pthread_mutex_lock(&host.lock);
    if (!host.workers[language]) {
        WorkerOptions options = {
            .name = "template", .start = start, .handle = language == TEMPLATE_LUA ? handle_lua : handle_js,
            .context = &languages[language], .time_ms = PROCESS_TIME_MS, .memory_bytes = PROCESS_MEMORY,
            .with_threads = language == TEMPLATE_JAVASCRIPT,
        };
        host.workers[language] = worker_create(&options);
    }
    Worker *worker = host.workers[language];
    pthread_mutex_unlock(&host.lock);
    return worker;
}

void engine_stop_all(void)
{
    pthread_mutex_lock(&host.lock);
    for (int i = 0; i < COUNT_OF(host.workers); i++) {
        worker_destroy(host.workers[i]);
        host.workers[i] = NULL;
    }
    pthread_mutex_unlock(&host.lock);
}

static void write_request(const EngineRequest *request, Text *out)
{
    const TemplateScript *script = request->script;
    uint64_t limits[] = { (uint64_t)request->output_bytes, (uint64_t)request->memory_bytes };
    engine_put_bytes(out, limits, sizeof limits);
    put_text(out, &script->code);
    engine_put_bytes(out, request->fields, strlen(request->fields));
    engine_put_bytes(out, request->context, strlen(request->context));
    engine_put_u32(out, (uint32_t)script->piece_count);
    for (int i = 0; i < script->piece_count; i++) {
        engine_put_u32(out, (uint32_t)script->pieces[i].line);
        engine_put_bytes(out, script->pieces_text.data + script->pieces[i].begin, script->pieces[i].length);
    }
}

// A file below the PROTO's folder, links resolved; anything else does not exist for a template.
static void write_file(const EngineRequest *request, const char *name, size_t size, Text *out)
{
    Arena *arena = arena_create();
    const char *folder = path_real(arena, request->folder);
    char *wanted = arena_text(arena, name, size);
    const char *path = folder && strlen(wanted) == size ? path_real(arena, path_join(arena, folder, wanted)) : NULL;
    FileData file = { 0 };
    bool is_found = path && path_is_inside(path, folder) && file_read(path, FILE_BYTES_MOST, &file, NULL, (SourcePos){ 0 });
    engine_put_bytes(out, name, size);
    engine_put_u32(out, is_found);
    engine_put_bytes(out, is_found ? file.data : "", is_found ? file.size : 0);
    file_release(&file);
    arena_destroy(arena);
}

static SourcePos place(const EngineRequest *request, uint32_t generated_line)
{
    const TemplateScript *script = request->script;
    int line = template_script_line(script, generated_line > INT32_MAX ? 0 : (int)generated_line);
    return (SourcePos){ request->file, 0, (uint32_t)(line ? line : script->line_count ? script->line_of[0] : 0) };
}

// Printable, bounded, one line.
static void clean_message(const char *bytes, uint32_t size, Text *out)
{
    text_clear(out);
    for (uint32_t i = 0; i < size && i < 2000; i++)
        text_add_char(out, (unsigned char)bytes[i] < 0x20 ? ' ' : bytes[i]);
    while (out->length > 0 && out->data[out->length - 1] == ' ')
        out->data[--out->length] = '\0';
}

static void report_said(const EngineRequest *request, EngineInput *input, DiagSink *diags)
{
    uint32_t size;
    const char *bytes = engine_get_bytes(input, &size);
    EngineInput said = { bytes, bytes + size, false };
    Text message = { 0 };
    for (int i = 0; i < SAID_MOST && said.at < said.end; i++) {
        uint32_t severity = engine_get_u32(&said), line = engine_get_u32(&said);
        bytes = engine_get_bytes(&said, &size);
        clean_message(bytes, size, &message);
        if (said.failed || message.length == 0)
            continue;
        if (severity == DIAG_NOTE)
            diag_note(diags, place(request, line), "template: %s", message.data);
        else
            diag_warning(diags, place(request, line), "template: %s", message.data);
    }
    text_free(&message);
}

static bool take_failure(const EngineRequest *request, EngineInput *input, DiagSink *diags)
{
    uint32_t line = engine_get_u32(input), size;
    const char *bytes = engine_get_bytes(input, &size);
    Text message = { 0 };
    clean_message(bytes, size, &message);
    diag_error(diags, place(request, line), "template: %s", message.length ? message.data : "failed without a message");
    text_free(&message);
    return false;
}

static bool take_result(const EngineRequest *request, EngineInput *input, TemplateResult *result, DiagSink *diags)
{
    uint32_t text_size, lines_size;
    const char *text = engine_get_bytes(input, &text_size);
    const char *lines = engine_get_bytes(input, &lines_size);
    // A character of JavaScript is up to three bytes of UTF-8.
    if (input->failed || text_size > (uint64_t)request->output_bytes * 3 || lines_size % 4 != 0) {
        diag_error(diags, place(request, 0), "template: its process sent a broken result");
        return false;
    }
    text_add(&result->text, text, text_size);
    result->line_count = lines_size / 4;
    result->line_of = memory_alloc_array(result->line_count, sizeof *result->line_of);
    memcpy(result->line_of, lines, lines_size);
    return true;
}

// True when the job is to be run again with one more file.
static bool take_answer(const EngineRequest *request, const WorkerAnswer *answer, Text *files, uint32_t *file_count,
                        TemplateResult *result, bool *ok, DiagSink *diags)
{
    EngineInput input = { answer->data, answer->data + answer->size, false };
    uint32_t kind = engine_get_u32(&input);
    if (kind == ANSWER_WANTS_FILE && *file_count < FILES_MOST) {
        uint32_t size;
        const char *name = engine_get_bytes(&input, &size);
        write_file(request, name, size, files);
        ++*file_count;
        return !input.failed;
    }
    report_said(request, &input, diags);
    *ok = kind == ANSWER_DONE ? take_result(request, &input, result, diags) : take_failure(request, &input, diags);
    return false;
}

bool engine_run(const EngineRequest *request, TemplateResult *result, DiagSink *diags)
{
    Text job = { 0 }, files = { 0 };
    uint32_t file_count = 0;
    bool ok = false, again = true;
    Worker *worker = worker_of(request->language);
    WorkerLimits limits = { request->time_ms, request->memory_bytes };
    write_request(request, &job);
    while (again) {
        WorkerPart parts[] = { { job.data, job.length }, { &file_count, sizeof file_count }, { files.data, files.length } };
        WorkerAnswer answer;
        again = false;
        WorkerStatus status = worker_call_limited(worker, parts, COUNT_OF(parts), &limits, &answer);
        if (status == WORKER_CRASHED)  // it may have been dead before it was asked; a template that kills it does so again
            status = worker_call_limited(worker, parts, COUNT_OF(parts), &limits, &answer);
        if (status == WORKER_OK)
            again = take_answer(request, &answer, &files, &file_count, result, &ok, diags);
        else
            diag_error(diags, place(request, 0), "%s", answer.message);
        free(answer.data);
    }
    text_free(&job);
    text_free(&files);
    return ok;
}
