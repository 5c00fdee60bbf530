// export_csv.c - a recording as a table: one row per frame, places and turns of solids, positions of joints. Velocities
// are not in a recording; `talus run --record FILE.csv` writes them.
#include "record/export.h"

#include "base/memory.h"
#include "base/stream.h"
#include "record/csv.h"
#include "record/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SOLID_NUMBERS = 7 };

typedef struct Table {
    RecordingNames names;
    const ExportOptions *options;
    bool *is_chosen;  // of each column
    int column_count;
    Text row;
} Table;

// Calls for each column in order: its name, or the choice that was made.
static void choose_columns(Table *table)
{
    assert_debug(!table->is_chosen);
    static const char *const parts[SOLID_NUMBERS] = { "x", "y", "z", "qw", "qx", "qy", "qz" };
    const RecordingNames *names = &table->names;
    table->column_count = names->solid_count * SOLID_NUMBERS + names->joint_count;
    table->is_chosen = memory_alloc_array((size_t)table->column_count + 1, sizeof *table->is_chosen);
    Text name = { 0 };
    text_add_string(&table->row, "time");
    for (int i = 0; i < table->column_count; i++) {
        int joint = i - names->solid_count * SOLID_NUMBERS;
        text_clear(&name);
        if (joint < 0)
            text_printf(&name, "%s.%s", names_solid(names, i / SOLID_NUMBERS), parts[i % SOLID_NUMBERS]);
        else
            text_add_string(&name, names->joints[joint]);
        table->is_chosen[i] = csv_is_chosen(name.data, table->options->columns);
        if (table->is_chosen[i])
            csv_add_name(&table->row, name.data);
    }
    text_add_char(&table->row, '\n');
    text_free(&name);
}

static void add_solids(Table *table, const Recording *recording)
{
    assert_debug(table->is_chosen || table->names.solid_count == 0);
    int count;
    const Pose *poses = recording_poses(recording, &count);
    for (int i = 0; i < table->names.solid_count * SOLID_NUMBERS; i++) {
        if (!table->is_chosen[i])
            continue;
        text_add_char(&table->row, ',');
        int solid = i / SOLID_NUMBERS;
        if (solid >= count || !isfinite(poses[solid].t.x))
            continue;
        const Pose *pose = &poses[solid];
        const double numbers[SOLID_NUMBERS] = { pose->t.x, pose->t.y, pose->t.z, pose->q.w,
                                                pose->q.x, pose->q.y, pose->q.z };
        text_add_double(&table->row, numbers[i % SOLID_NUMBERS]);
    }
}

static void add_joints(Table *table, const FrameView *view)
{
    FrameSection section = { .size = 0 };
    uint16_t head[2] = { 0, 0 };
    if (frame_section(view, "JNTS", &section) && section.size >= sizeof head)
        memcpy(head, section.data, sizeof head);
    for (int i = 0; i < table->names.joint_count; i++) {
        if (!table->is_chosen[table->names.solid_count * SOLID_NUMBERS + i])
            continue;
        text_add_char(&table->row, ',');
        int at = i - head[0];
        float position;
        if (at < 0 || at >= head[1] || section.size < 4 + 4 * ((size_t)at + 1))
            continue;
        memcpy(&position, (const char *)section.data + 4 + 4 * (size_t)at, sizeof position);
        text_add_double(&table->row, (double)position);
    }
}

bool export_csv(Recording *recording, const char *path, const ExportOptions *options, DiagSink *diags)
{
    Table table = { .options = options };
    FileStream *stream = NULL;
    bool ok = names_read(recording, &table.names, diags) && (stream = stream_open(path, diags));
    if (ok) {
        FrameView view;
        choose_columns(&table);
        recording_rewind(recording);
        while (recording_next(recording, &view)) {
            if (!export_wants(options, &view))
                continue;
            text_add_double(&table.row, view.time);
            add_solids(&table, recording);
            add_joints(&table, &view);
            text_add_char(&table.row, '\n');
            stream_write(stream, table.row.data, table.row.length);
            text_clear(&table.row);
        }
        stream_write(stream, table.row.data ? table.row.data : "", table.row.length);
        ok = stream_close(stream);
    }
    free(table.is_chosen);
    text_free(&table.row);
    names_free(&table.names);
    return ok;
}
