// template_engine.c - this side of talus-template: sends jobs to the confined process of their language and takes what
// it answers.
#include "formats/template/template_engine.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/program.h"
#include "base/worker.h"
#include "formats/template/template_wire.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define FILE_BYTES_MAX (16u << 20)  // of one file that a template reads

// The processes are shared by all worlds of this process, and live as long as it does. Each has a lock of its own.
static struct {
    pthread_mutex_t lock;
    Worker *workers[3];  // by language
} host = { .lock = PTHREAD_MUTEX_INITIALIZER };

static Worker *worker_of(TemplateLanguage language)
{
    assert_debug((int)language >= 0 && (int)language < COUNT_OF(host.workers));
    static char program[PATH_MAX];  // written under the lock, the same every time
    pthread_mutex_lock(&host.lock);
    if (!host.workers[language] && engine_is_available(program, sizeof program)) {
        WorkerOptions options = {
            .name = "template",
            .program = program,
            .argument = language == TEMPLATE_LUA ? "lua" : "javascript",
            .time_ms = WIRE_PROCESS_TIME_MS,
            .memory_bytes = WIRE_PROCESS_MEMORY,
        };
        host.workers[language] = worker_create(&options);
    }
    Worker *worker = host.workers[language];
    pthread_mutex_unlock(&host.lock);
    return worker;
}

bool engine_is_available(char *program, size_t capacity)
{
    return program_find("talus-template", "TALUS_TEMPLATE", program, capacity);
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
    assert_debug(request->script && request->fields);
    const TemplateScript *script = request->script;
    uint64_t limits[] = { (uint64_t)request->output_bytes, (uint64_t)request->memory_bytes };
    wire_put_bytes(out, limits, sizeof limits);
    wire_put_text(out, &script->code);
    wire_put_bytes(out, request->fields, strlen(request->fields));
    wire_put_bytes(out, request->context, strlen(request->context));
    wire_put_u32(out, (uint32_t)script->piece_count);
    for (int i = 0; i < script->piece_count; i++) {
        wire_put_u32(out, (uint32_t)script->pieces[i].line);
        wire_put_bytes(out, script->pieces_text.data + script->pieces[i].begin, script->pieces[i].length);
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
    const TemplateFile *written = template_files_find(request->files, wanted);
    bool is_found = !written && path && path_is_inside(path, folder)
                    && file_read(path, FILE_BYTES_MAX, &file, NULL, (SourcePos){ 0 });
    wire_put_bytes(out, name, size);
    wire_put_u32(out, is_found || written);
    if (written)
        wire_put_bytes(out, written->content, written->size);
    else
        wire_put_bytes(out, is_found ? file.data : "", is_found ? file.size : 0);
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

static void report_said(const EngineRequest *request, WireInput *input, DiagSink *diags)
{
    uint32_t size;
    const char *bytes = wire_get_bytes(input, &size);
    WireInput said = { bytes, bytes + size, false };
    Text message = { 0 };
    for (int i = 0; i < WIRE_SAID_MAX && said.at < said.end; i++) {
        uint32_t severity = wire_get_u32(&said), line = wire_get_u32(&said);
        bytes = wire_get_bytes(&said, &size);
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

static bool take_failure(const EngineRequest *request, WireInput *input, DiagSink *diags)
{
    uint32_t line = wire_get_u32(input), size;
    const char *bytes = wire_get_bytes(input, &size);
    Text message = { 0 };
    clean_message(bytes, size, &message);
    diag_error(diags, place(request, line), "template: %s", message.length ? message.data : "failed without a message");
    text_free(&message);
    return false;
}

static void take_written(const EngineRequest *request, WireInput *input, DiagSink *diags)
{
    uint32_t size, name_size, content_size;
    const char *bytes = wire_get_bytes(input, &size);
    WireInput written = { bytes, bytes + size, false };
    while (written.at < written.end && !written.failed) {
        const char *name = wire_get_bytes(&written, &name_size);
        const char *content = wire_get_bytes(&written, &content_size);
        written.at++;
        if (written.failed || name_size == 0)
            return;
        if (!request->files
            || !template_files_put(request->files, name, strnlen(name, name_size - 1), content, content_size))
            diag_warning(diags, place(request, 0), "template: what it writes is too much to be kept");
    }
}

static bool take_result(const EngineRequest *request, WireInput *input, TemplateResult *result, DiagSink *diags)
{
    assert_debug(!result->text.length);
    uint32_t text_size, lines_size;
    const char *text = wire_get_bytes(input, &text_size);
    const char *lines = wire_get_bytes(input, &lines_size);
    // A character of JavaScript is up to three bytes of UTF-8.
    if (input->failed || text_size > (uint64_t)request->output_bytes * 3 || lines_size % 4 != 0) {
        diag_error(diags, place(request, 0), "template: its process sent a broken result");
        return false;
    }
    text_add(&result->text, text, text_size);
    result->line_count = lines_size / 4;
    result->line_of = memory_alloc_array(result->line_count, sizeof *result->line_of);
    memcpy(result->line_of, lines, lines_size);
    take_written(request, input, diags);
    return true;
}

bool engine_read_answer(const EngineRequest *request, const WorkerAnswer *answer, TemplateResult *result,
                        DiagSink *diags)
{
    assert(answer->data && !result->text.length);
    WireInput input = { answer->data, answer->data + answer->size, false };
    uint32_t kind = wire_get_u32(&input);
    report_said(request, &input, diags);
    return kind == WIRE_DONE ? take_result(request, &input, result, diags) : take_failure(request, &input, diags);
}

// A job under way: it is run again with one file more each time it asks for one.
typedef struct Run {
    const EngineRequest *request;
    Text job, files;
    uint32_t file_count;
    TemplateResult *result;
    bool is_fine;
} Run;

// True when the job is to be run again.
static bool take_answer(Run *run, const WorkerAnswer *answer, DiagSink *diags)
{
    assert(run->file_count <= WIRE_FILES_MAX);
    WireInput input = { answer->data, answer->data + answer->size, false };
    uint32_t kind = wire_get_u32(&input);
    if (kind == WIRE_WANTS_FILE && run->file_count < WIRE_FILES_MAX) {
        uint32_t size;
        const char *name = wire_get_bytes(&input, &size);
        write_file(run->request, name, size, &run->files);
        run->file_count++;
        return !input.failed;
    }
    run->is_fine = engine_read_answer(run->request, answer, run->result, diags);
    return false;
}

// True when the job is to be run again.
static bool run_once(Run *run, Worker *worker, DiagSink *diags)
{
    const EngineRequest *request = run->request;
    WorkerLimits limits = { request->time_ms, request->memory_bytes, request->budget };
    WorkerPart parts[] = { { run->job.data, run->job.length },
                           { &run->file_count, sizeof run->file_count },
                           { run->files.data, run->files.length } };
    WorkerAnswer answer;
    bool again = false;
    WorkerStatus status = worker_call_limited(worker, parts, COUNT_OF(parts), &limits, &answer);
    if (status == WORKER_CRASHED)  // it may have been dead before it was asked; a template that kills it does so again
        status = worker_call_limited(worker, parts, COUNT_OF(parts), &limits, &answer);
    if (status == WORKER_OK)
        again = take_answer(run, &answer, diags);
    else
        diag_error(diags, place(request, 0), "%s", answer.message);
    free(answer.data);
    return again;
}

bool engine_run(const EngineRequest *request, TemplateResult *result, DiagSink *diags)
{
    Worker *worker = worker_of(request->language);
    if (!worker) {
        diag_error(diags, place(request, 0),
                   "the template is not evaluated: talus-template is not installed beside this program");
        diag_hint(diags, "`talus doctor` tells where it is looked for");
        return false;
    }
    Run run = { .request = request, .result = result };
    write_request(request, &run.job);
    while (run_once(&run, worker, diags))
        ;
    text_free(&run.job);
    text_free(&run.files);
    return run.is_fine;
}
