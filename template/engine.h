// engine.h - the two interpreters of talus-template and what they share: a job with the code and its data, and what a
// run leaves.
//
// An interpreter has no files. When the code asks for one below the PROTO's folder that the job does not carry, the run
// ends, the simulator reads the file and sends the job again with it: the code is repeatable, so it comes to the same
// place.
#ifndef TALUS_TEMPLATE_ENGINE_H
#define TALUS_TEMPLATE_ENGINE_H

#include "base/diag.h"
#include "formats/template/template_wire.h"

typedef struct EngineFile {
    const char *path;  // as the code named it
    bool is_found;
    const char *content;
    uint32_t size;
} EngineFile;

typedef struct EngineJob {
    uint64_t output_limit, memory_limit;
    const char *code;  // NUL-terminated, as the other strings
    uint32_t code_size;
    uint32_t piece_count;
    const char **pieces;
    uint32_t *piece_sizes, *piece_lines;
    const char *fields, *context;
    EngineFile *files;
    uint32_t file_count;

    // What a run leaves.
    Text text;
    Text lines;    // uint32_t each
    Text message;  // of a failure
    int line;      // generated line of a failure, 0 when unknown
    Text said;     // what the code printed: severity, generated line, text
    int said_count;
    Text wanted;   // path of a file that the job lacks; the run then counts for nothing
    Text written;  // files: name and content of each, the last of a name counts
} EngineJob;

void engine_say(EngineJob *job, DiagSeverity severity, int generated_line, const char *text, size_t size);
void engine_write(EngineJob *job, const char *name, const char *content, size_t size);
// The file that the code names. NULL: not in the job; the code must be ended.
const EngineFile *engine_file(EngineJob *job, const char *path);
const char *engine_module(const char *name, const char *extension, size_t *size);  // NULL when there is none

void engine_js_start(void);
bool engine_js_run(EngineJob *job);
bool engine_lua_run(EngineJob *job);

// Files of template/modules, put into the program by the build.
typedef struct EmbeddedFile {
    const char *name;
    const unsigned char *data;
    size_t size;
} EmbeddedFile;
extern const EmbeddedFile template_modules[];
extern const int template_module_count;

#endif
