// talus-template.c - runs the code of PROTO templates, JavaScript or Lua, in confinement: jobs in, text out, for
// formats/template/template_engine.c. A program of its own, so that the interpreters are in no process but this one. It
// is started with its descriptors in place (base/worker.h), loads its interpreter, gives up files, network and other
// processes, and then serves one job after the other.
#include "engine.h"

#include "base/arena.h"
#include "base/memory.h"
#include "base/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void engine_say(EngineJob *job, DiagSeverity severity, int generated_line, const char *text, size_t size)
{
    enum { LONGEST = 2000 };
    if (job->said_count >= WIRE_SAID_MAX)
        return;
    job->said_count++;
    wire_put_u32(&job->said, severity);
    wire_put_u32(&job->said, (uint32_t)generated_line);
    wire_put_bytes(&job->said, text, size > LONGEST ? LONGEST : size);
}

void engine_write(EngineJob *job, const char *name, const char *content, size_t size)
{
    wire_put_bytes(&job->written, name, strlen(name) + 1);
    wire_put_bytes(&job->written, content, size);
    text_add_char(&job->written, '\0');
}

// What this run itself has written under the name. The last one counts.
static const EngineFile *written_file(const EngineJob *job, const char *name)
{
    static EngineFile found;
    WireInput input = { job->written.data, job->written.data + job->written.length, false };
    bool is_found = false;
    while (input.at < input.end && !input.failed) {
        uint32_t size;
        const char *own = wire_get_bytes(&input, &size);
        const char *content = wire_get_bytes(&input, &size);
        input.at++;
        if (strcmp(own, name) != 0)
            continue;
        found = (EngineFile){ .path = own, .is_found = true, .content = content, .size = size };
        is_found = true;
    }
    return is_found ? &found : NULL;
}

const EngineFile *engine_file(EngineJob *job, const char *path)
{
    static const EngineFile none = { .path = "" };
    size_t folder = strlen(WIRE_FILES_PATH);
    const EngineFile *own = strncmp(path, WIRE_FILES_PATH, folder) ? NULL : written_file(job, path + folder);
    if (own)
        return own;
    for (uint32_t i = 0; i < job->file_count; i++)
        if (!strcmp(job->files[i].path, path))
            return &job->files[i];
    if (job->file_count >= WIRE_FILES_MAX || !*path)
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

static const char *take_string(WireInput *input, Arena *arena, uint32_t *size)
{
    const char *bytes = wire_get_bytes(input, size);
    return arena_text(arena, bytes, *size);
}

static bool read_job(const char *request, size_t request_size, Arena *arena, EngineJob *job)
{
    WireInput input = { request, request + request_size, false };
    uint32_t size;
    const char *limits = wire_get_bytes(&input, &size);
    if (size != 2 * sizeof(uint64_t))
        return false;
    memcpy(&job->output_limit, limits, sizeof(uint64_t));
    memcpy(&job->memory_limit, limits + sizeof(uint64_t), sizeof(uint64_t));
    job->code = take_string(&input, arena, &job->code_size);
    job->fields = take_string(&input, arena, &size);
    job->context = take_string(&input, arena, &size);
    job->piece_count = wire_get_u32(&input);
    if (job->piece_count > request_size)
        return false;
    job->pieces = arena_alloc_array(arena, job->piece_count, sizeof *job->pieces);
    job->piece_sizes = arena_alloc_array(arena, job->piece_count, sizeof *job->piece_sizes);
    job->piece_lines = arena_alloc_array(arena, job->piece_count, sizeof *job->piece_lines);
    for (uint32_t i = 0; i < job->piece_count; i++) {
        job->piece_lines[i] = wire_get_u32(&input);
        job->pieces[i] = take_string(&input, arena, &job->piece_sizes[i]);
    }
    job->file_count = wire_get_u32(&input);
    if (job->file_count > WIRE_FILES_MAX)
        return false;
    job->files = arena_alloc_array(arena, job->file_count, sizeof *job->files);
    for (uint32_t i = 0; i < job->file_count; i++) {
        job->files[i].path = take_string(&input, arena, &size);
        job->files[i].is_found = wire_get_u32(&input) != 0;
        job->files[i].content = take_string(&input, arena, &job->files[i].size);
    }
    return !input.failed;
}

static void write_answer(const EngineJob *job, bool ok, Text *out)
{
    WireAnswer kind = job->wanted.length ? WIRE_WANTS_FILE : ok ? WIRE_DONE : WIRE_FAILED;
    wire_put_u32(out, kind);
    if (kind == WIRE_WANTS_FILE) {
        wire_put_text(out, &job->wanted);
        return;
    }
    wire_put_text(out, &job->said);
    if (kind == WIRE_DONE) {
        wire_put_text(out, &job->text);
        wire_put_text(out, &job->lines);
        wire_put_text(out, &job->written);
    } else {
        wire_put_u32(out, (uint32_t)job->line);
        wire_put_text(out, &job->message);
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
    text_free(&job.written);
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
static void clear_environment(void)
{
    clearenv();
    setenv("TZ", "UTC", 1);
    setenv("LC_ALL", "C", 1);
}

static void *start_js(const void *context)
{
    clear_environment();
    engine_js_start();
    return (void *)context;
}

static void *start_lua(const void *context)
{
    clear_environment();
    return (void *)context;
}

int main(int argc, char **argv)
{
    WorkerOptions options = { .name = "template",
                              .time_ms = WIRE_PROCESS_TIME_MS,
                              .memory_bytes = WIRE_PROCESS_MEMORY };
    if (argc == 2 && !strcmp(argv[1], "javascript")) {
        options.start = start_js;
        options.handle = handle_js;
        options.with_threads = true;
    } else if (argc == 2 && !strcmp(argv[1], "lua")) {
        options.start = start_lua;
        options.handle = handle_lua;
    } else {
        fputs("talus-template evaluates PROTO templates for talus, which starts it\n", stderr);
        return 2;
    }
    return worker_serve(&options);
}
