// export.c - which ending is written by whom.
#include "record/export.h"

#include "base/file.h"

#include <strings.h>

static const struct {
    const char *ending;
    bool (*write)(Recording *recording, const char *path, const ExportOptions *options, DiagSink *diags);
} rows[] = {
    { ".html", export_html }, { ".htm", export_html },  { ".glb", export_glb },
    { ".csv", export_csv },   { ".mcap", export_mcap },
};

static int row_of(const char *path)
{
    for (int i = 0; i < COUNT_OF(rows); i++)
        if (!strcasecmp(path_extension(path), rows[i].ending))
            return i;
    return -1;
}

bool export_has_format(const char *path) { return row_of(path) >= 0; }

bool export_wants(const ExportOptions *options, const FrameView *view)
{
    return view->time >= options->from && (options->to <= 0.0 || view->time <= options->to);
}

bool export_write(Recording *recording, const char *path, const ExportOptions *options, DiagSink *diags)
{
    int row = row_of(path);
    assert(row >= 0);
    return rows[row].write(recording, path, options, diags);
}
