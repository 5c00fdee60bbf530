// worker.h - the process in which template code runs: no files, no network, bounded time and memory, restarted when it
// dies. Belongs here: starting, watching and ending it, the messages between the two. Not here: what a template is.
//
// One process per language is forked when the first template of it comes, and serves one job after the other. It keeps
// nothing between jobs. It talks over one socket; what it sends is checked like any file. It may ask for files below the
// PROTO's folder, which this side reads for it.
#ifndef TALUS_FORMATS_WORKER_H
#define TALUS_FORMATS_WORKER_H

#include "formats/template.h"

typedef struct WorkerJob {
    TemplateLanguage language;
    const TemplateScript *script;
    const char *fields, *context;   // JSON
    const char *folder;             // files may be read below it
    int64_t time_ms, memory_bytes, output_bytes;
    uint16_t file;                  // for places of messages
} WorkerJob;

// Runs the job and reports what the code prints and why it fails. Calls are served one at a time, from any thread.
bool worker_run(const WorkerJob *job, TemplateResult *result, DiagSink *diags);
void worker_stop_all(void);  // ends the processes; the next job starts new ones

// Messages: a header and `size` bytes.
typedef enum WorkerMessage {
    WORKER_JOB = 1,   // to the worker: limits, code, pieces, fields, context
    WORKER_FILE,      // to the worker: answer to WORKER_READ or WORKER_EXISTS: one byte found, then the content
    WORKER_DONE,      // from it: text, lines
    WORKER_FAILED,    // generated line, message
    WORKER_SAY,       // severity, generated line, message
    WORKER_READ,      // path
    WORKER_EXISTS,    // path
} WorkerMessage;

typedef struct WorkerHeader {
    uint32_t kind, size;
} WorkerHeader;

bool worker_send(int socket, WorkerMessage kind, const void *data, size_t size);
void worker_put_u32(Text *out, uint32_t value);
void worker_put_bytes(Text *out, const void *data, size_t size);  // with its size

// Reads what the put functions wrote; `failed` once something is missing.
typedef struct WorkerInput {
    const char *at, *end;
    bool failed;
} WorkerInput;
uint32_t worker_get_u32(WorkerInput *input);
const char *worker_get_bytes(WorkerInput *input, uint32_t *size);

// The other side of the socket; never returns.
_Noreturn void worker_child_main(int socket, TemplateLanguage language);

// What an engine needs from worker_child.c.
typedef struct EngineJob {
    uint64_t output_limit, memory_limit;
    const char *code;            // NUL-terminated
    uint32_t code_size;
    uint32_t piece_count;
    const char **pieces;
    uint32_t *piece_sizes, *piece_lines;
    const char *fields, *context;
} EngineJob;

typedef struct EngineResult {
    Text text;
    Text lines;      // uint32_t each
    Text message;    // of a failure
    int line;        // generated line of a failure, 0 when unknown
} EngineResult;

void engine_say(DiagSeverity severity, int generated_line, const char *text, size_t size);
// Content of a file below the PROTO's folder, the caller's to free; NULL when there is none.
char *engine_read_file(const char *path, size_t *size);
bool engine_file_exists(const char *path);
const char *engine_module(const char *name, const char *extension, size_t *size);  // NULL when there is none

void engine_js_start(void);
bool engine_js_run(const EngineJob *job, EngineResult *result);
bool engine_lua_run(const EngineJob *job, EngineResult *result);

// Files of src/formats/modules, put into the library by the build.
typedef struct EmbeddedFile {
    const char *name;
    const unsigned char *data;
    size_t size;
} EmbeddedFile;
extern const EmbeddedFile template_modules[];
extern const int template_module_count;

#endif
