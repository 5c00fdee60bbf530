// export.h - a recording as another file, by the ending of its name: a page that plays it, a glTF animation, a table,
// an MCAP log. Movies are no business of this folder's: they need a renderer (app/export.c). Files are written whole or
// not at all.
#ifndef TALUS_RECORD_EXPORT_H
#define TALUS_RECORD_EXPORT_H

#include "record/recording.h"

typedef struct ExportOptions {
    double from, to;      // s; to 0: up to the end
    const char *columns;  // of a table: globs separated by commas; NULL: all
    Recording *ghost;     // of a page: a second run, shown beside it; NULL: none
} ExportOptions;

bool export_has_format(const char *path);  // .html, .glb, .csv or .mcap
// False when it could not be written (reported).
bool export_write(Recording *recording, const char *path, const ExportOptions *options, DiagSink *diags);

// One for each ending.
bool export_html(Recording *recording, const char *path, const ExportOptions *options, DiagSink *diags);
bool export_glb(Recording *recording, const char *path, const ExportOptions *options, DiagSink *diags);
bool export_csv(Recording *recording, const char *path, const ExportOptions *options, DiagSink *diags);
bool export_mcap(Recording *recording, const char *path, const ExportOptions *options, DiagSink *diags);

// Whether a frame lies in the part that is asked for.
bool export_wants(const ExportOptions *options, const FrameView *view);

#endif
