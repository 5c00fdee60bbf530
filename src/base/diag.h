// diag.h - everything a person should read about an input: errors, warnings and notes with their place.
// A DiagSink collects messages of one job (a load, a run). Identical ones are counted, not repeated. The sink owns all
// text it is given. It is not for use from several threads at once.
#ifndef TALUS_BASE_DIAG_H
#define TALUS_BASE_DIAG_H

#include "base/common.h"

#include <stdio.h>

typedef enum DiagSeverity { DIAG_NOTE, DIAG_WARNING, DIAG_ERROR } DiagSeverity;

// A place in a source file: the index of the file in its sink, line and column from 1. Zero line: the file as a whole.
// Columns beyond 65535 are given as 65535. { 0 } means "no place": file 0 is reserved for it.
typedef struct SourcePos {
    uint16_t file;
    uint16_t column;
    uint32_t line;
} SourcePos;

typedef struct DiagSink DiagSink;

typedef struct Diagnostic {
    DiagSeverity severity;
    SourcePos pos;
    const char *message;  // one line, no trailing newline
    const char *hint;     // what to do about it, or NULL
    const char *node;     // path of the node concerned, e.g. "DEF ARM Solid.children[2]", or NULL
    int count;            // how often exactly this was said
} Diagnostic;

DiagSink *diag_create(void);
// Empty, with the files of `other` under the same indices. Their names are copied, or shared: then `other` outlives it.
DiagSink *diag_create_like(const DiagSink *other, bool shares_names);
void diag_destroy(DiagSink *diags);  // NULL is fine

// Registers a file and returns its index for SourcePos; the same name gives the same index.
uint16_t diag_file(DiagSink *diags, const char *name);
const char *diag_file_name(const DiagSink *diags, uint16_t file);  // "" for file 0

void diag_error(DiagSink *diags, SourcePos pos, const char *format, ...) PRINTF_LIKE(3, 4);
void diag_warning(DiagSink *diags, SourcePos pos, const char *format, ...) PRINTF_LIKE(3, 4);
void diag_note(DiagSink *diags, SourcePos pos, const char *format, ...) PRINTF_LIKE(3, 4);
// Adds to the message given last: how to mend it, or which node it is about. A repeated message keeps its first ones.
void diag_hint(DiagSink *diags, const char *format, ...) PRINTF_LIKE(2, 3);
void diag_node(DiagSink *diags, const char *path);

int diag_count(const DiagSink *diags);  // distinct messages
const Diagnostic *diag_at(const DiagSink *diags, int index);
int diag_total(const DiagSink *diags, DiagSeverity severity);  // with repetitions
bool diag_has_errors(const DiagSink *diags);
// An error that is not the input's: a file could not be written. Whoever chooses an exit code asks for these.
void diag_output_error(DiagSink *diags, const char *path, const char *why);
bool diag_has_output_errors(const DiagSink *diags);

// Limits how many distinct messages are kept (default 10 000); further ones are only counted.

// Prints messages from index `first` on as "file:line:column: severity: message", at least as severe as `least`. What
// is said of many places is shown for the first few and then counted; a hint is given once.
void diag_print(const DiagSink *diags, FILE *out, int first, DiagSeverity min);
const char *diag_severity_name(DiagSeverity severity);

#endif
