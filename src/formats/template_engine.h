// template_engine.h - how template code is run: a job goes to the confined process of its language, a result comes back.
// Belongs here: the request and the answer, the two interpreters. Not here: the process and its confinement
// (base/worker.h), what a template is (template.h).
//
// An interpreter has no files. When the code asks for one below the PROTO's folder that the job does not carry, the run
// ends, this side reads the file and runs the job again with it: the code is repeatable, so it comes to the same place.
#ifndef TALUS_FORMATS_TEMPLATE_ENGINE_H
#define TALUS_FORMATS_TEMPLATE_ENGINE_H

#include "formats/template.h"

typedef struct EngineRequest {
    TemplateLanguage language;
    const TemplateScript *script;
    const char *fields, *context;   // JSON
    const char *folder;             // files may be read below it
    int64_t time_ms, memory_bytes, output_bytes;
    uint16_t file;                  // for places of messages
} EngineRequest;

// Runs the request and reports what the code prints and why it fails. From any thread; requests of a language take turns.
bool engine_run(const EngineRequest *request, TemplateResult *result, DiagSink *diags);
void engine_stop_all(void);  // ends the processes; the next request starts new ones

// ------------------------------------------------------------------------------------- inside of the confined process

typedef struct EngineFile {
    const char *path;     // as the code named it
    bool is_found;
    const char *content;
    uint32_t size;
} EngineFile;

typedef struct EngineJob {
    uint64_t output_limit, memory_limit;
    const char *code;     // NUL-terminated, as the other strings
    uint32_t code_size;
    uint32_t piece_count;
    const char **pieces;
    uint32_t *piece_sizes, *piece_lines;
    const char *fields, *context;
    EngineFile *files;
    uint32_t file_count;

    // What a run leaves.
    Text text;
    Text lines;           // uint32_t each
    Text message;         // of a failure
    int line;             // generated line of a failure, 0 when unknown
    Text said;            // what the code printed: severity, generated line, text
    int said_count;
    Text wanted;          // path of a file that the job lacks; the run then counts for nothing
} EngineJob;

void engine_say(EngineJob *job, DiagSeverity severity, int generated_line, const char *text, size_t size);
// The file that the code names. NULL: not in the job; the code must be ended.
const EngineFile *engine_file(EngineJob *job, const char *path);
const char *engine_module(const char *name, const char *extension, size_t *size);  // NULL when there is none

void engine_js_start(void);
bool engine_js_run(EngineJob *job);
bool engine_lua_run(EngineJob *job);

// Values in requests and answers. Reading what is not there sets `failed`.
void engine_put_u32(Text *out, uint32_t value);
void engine_put_bytes(Text *out, const void *data, size_t size);
typedef struct EngineInput {
    const char *at, *end;
    bool failed;
} EngineInput;
uint32_t engine_get_u32(EngineInput *input);
const char *engine_get_bytes(EngineInput *input, uint32_t *size);

// Files of src/formats/modules, put into the library by the build.
typedef struct EmbeddedFile {
    const char *name;
    const unsigned char *data;
    size_t size;
} EmbeddedFile;
extern const EmbeddedFile template_modules[];
extern const int template_module_count;

#endif
