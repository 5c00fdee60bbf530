// template.h - procedural PROTO bodies: template text and parameter values in, VRML text out.
// Belongs here: splitting a template into text and code, handing parameters to JavaScript or Lua, the cache of results.
// Not here: reading PROTO files (proto.h), the confined process in which the code runs (template_engine.h).
// Nothing of a template runs in this process. The same template with the same values is evaluated once per process.
#ifndef TALUS_FORMATS_TEMPLATE_H
#define TALUS_FORMATS_TEMPLATE_H

#include "base/diag.h"
#include "base/limits.h"
#include "base/text.h"
#include "base/worker.h"
#include "formats/template/template_wire.h"
#include "scene/scene.h"

typedef enum TemplateLanguage { TEMPLATE_NONE, TEMPLATE_JAVASCRIPT, TEMPLATE_LUA } TemplateLanguage;

typedef struct TemplateField {
    const FieldType *type;  // name, kind and default
    FieldValue value;
} TemplateField;

// What a template sees as `context`. NULL strings are given as "".
typedef struct TemplateContext {
    const char *world, *proto, *project_path, *webots_home, *temporary_files_path, *coordinate_system;
    const char *webots_version;  // "R2025a"
    int id;                      // of the instance
    int world_release;  // of the world file, for stand-ins whose original changed: 2022100 is R2022b; 0: unknown
} TemplateContext;

// What the templates of one world wrote. They find it at context.temporary_files_path; on disk there is nothing. { 0 }
// is empty.
#define TEMPLATE_FILES_PATH WIRE_FILES_PATH
#define TEMPLATE_FILES_MAX 256
#define TEMPLATE_FILES_BYTES ((size_t)64 << 20)
typedef struct TemplateFile {
    char *name;
    char *content;
    size_t size;
} TemplateFile;

typedef struct TemplateFiles {
    TemplateFile *items;
    int count, capacity;
    size_t bytes;
} TemplateFiles;

const TemplateFile *template_files_find(const TemplateFiles *files, const char *path);  // NULL: none
bool template_files_put(TemplateFiles *files, const char *name, size_t name_size, const char *content,
                        size_t size);  // false: too many or too large
void template_files_free(TemplateFiles *files);

typedef struct TemplateJob {
    const char *path;  // of the PROTO file; wbfile reads below its folder
    const char *text;  // the body between the braces
    size_t size;
    SourcePos pos;  // of its first character; messages count lines from here
    TemplateLanguage language;
    const TemplateField *fields;  // those that the code reads, see template_uses_field
    int field_count;
    TemplateContext context;
    bool
        has_old_fields;  // Lua of V7 and V8.0: fields.x is the value itself, and a line may begin with '#' as a comment
    const Limits *limits;  // NULL: defaults
    WorkerBudget *budget;  // of all templates of the world; NULL: none
    TemplateFiles *files;  // what it may read and write at temporary_files_path; NULL: nothing
} TemplateJob;

// The text a template made. line_of[i] is the line of the PROTO file that output line i (from 0) came from.
typedef struct TemplateResult {
    Text text;
    uint32_t *line_of;
    uint32_t line_count;
} TemplateResult;

// Whether the body holds template blocks of the language (outside comments).
bool template_is_used(const char *text, size_t size, TemplateLanguage language);
// Whether the code of the body reads fields.NAME; `any` is set when it uses `fields` without a name.
bool template_uses_field(const char *text, size_t size, TemplateLanguage language, const char *name, bool *any);

// Whether the code may write files or read what was written: its result then depends on more than its fields.
bool template_uses_files(const char *text, size_t size);

// Whether the code asks for fields.NAME.value of any name, as all but the oldest releases do.
bool template_asks_for_value(const char *text, size_t size);

// On failure reports with the PROTO's file and line and returns false. The result is the caller's to free.
bool template_eval(const TemplateJob *job, TemplateResult *result, DiagSink *diags);
void template_result_free(TemplateResult *result);

// How many templates this process has really evaluated (not taken from the cache), for tests and benchmarks.
int template_evaluation_count(void);

// A template as a script: code that calls talus_text(i) for piece i of the plain text and talus_value(expression,
// line).
typedef struct TemplatePiece {
    uint32_t begin, length;  // in the text of TemplateScript.pieces_text
    int line;                // of its first character, in the PROTO file
} TemplatePiece;

typedef struct TemplateScript {
    Text code;
    int *line_of;  // generated line (from 0) to line of the PROTO file
    int line_count, line_capacity;
    Text pieces_text;
    TemplatePiece *pieces;
    int piece_count, piece_capacity;
} TemplateScript;

bool template_compile(const TemplateJob *job, TemplateScript *script, DiagSink *diags);
void template_script_free(TemplateScript *script);
int template_script_line(const TemplateScript *script, int generated_line);  // generated lines count from 1

// Parameters, and what the code names of the context, as JSON. A NULL node is left out.
void template_write_fields(const TemplateJob *job, Text *out);
void template_write_context(const TemplateJob *job, Text *out);

#endif
