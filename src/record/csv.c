// csv.c - what a run writes as a table: columns chosen by name, one row a step.
#include "record/csv.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SOLID_NUMBERS = 13 };
static const char *const solid_names[SOLID_NUMBERS] = { "x",  "y",  "z",  "qw", "qx", "qy", "qz",
                                                        "vx", "vy", "vz", "wx", "wy", "wz" };

typedef struct Column {
    uint32_t node;  // id of the node of the solid
    int solid, joint,
        part;  // as they are since the last edit of a tree; solid -1: it has gone, joint -1: of the solid itself
} Column;      // of a solid (joint -1) or of a joint (part: 2 * axis + is_velocity)

struct CsvRecorder {
    Sim *sim;
    FILE *file;
    char *path;
    Column *columns;
    int column_count, column_capacity;
    int every;
    bool has_failed;
    bool is_standard_output;  // the path is "-"
    Text row;
    const Physics *physics;  // whose rows the columns name
    uint64_t tree;
};

bool csv_is_chosen(const char *name, const char *globs)
{
    if (!globs)
        return true;
    char pattern[256];
    for (const char *at = globs; *at;) {
        size_t length = strcspn(at, ",");
        if (length < sizeof(pattern)) {
            memcpy(pattern, at, length);
            pattern[length] = '\0';
            if (text_matches_glob(name, pattern))
                return true;
        }
        at += length + (at[length] == ',');
    }
    return false;
}

void csv_add_name(Text *row, const char *name)
{
    assert_debug(name);
    text_add_char(row, ',');
    if (!strpbrk(name, ",\"\n\r")) {
        text_add_string(row, name);
        return;
    }
    text_add_char(row, '"');
    for (const char *c = name; *c; c++) {
        if (*c == '"')
            text_add_char(row, '"');
        text_add_char(row, *c);
    }
    text_add_char(row, '"');
}

static void add_column(CsvRecorder *recorder, const char *globs, Text *name, Column column)
{
    assert_debug(column.solid >= 0 || column.joint >= 0);
    if (csv_is_chosen(name->data, globs)) {
        *memory_push(recorder->columns, recorder->column_count, recorder->column_capacity) = column;
        csv_add_name(&recorder->row, name->data);
    }
    text_clear(name);
}

static void choose_columns(CsvRecorder *recorder, const char *globs)
{
    assert_debug(recorder->row.length == 0);
    const Physics *physics = sim_physics(recorder->sim);
    Text name = { 0 };
    text_add_string(&recorder->row, "time");
    for (int i = 0; i < physics_solid_count(physics); i++)
        for (int k = 0; physics_solid_exists(physics, i) && k < SOLID_NUMBERS; k++) {
            text_printf(&name, "%s.%s", physics_solid_label(physics, i), solid_names[k]);
            add_column(recorder, globs, &name, (Column){ physics_solid_node(physics, i)->id, i, -1, k });
        }
    for (int i = 0; i < physics_joint_count(physics); i++) {
        int child = physics_joint_exists(physics, i) ? physics_joint_child(physics, i) : -1;
        // A joint that closes a loop ends at a solid that is the end point of another one already.
        if (child < 0 || physics_solid_joint(physics, child) != i)
            continue;
        for (int k = 0; k < 2 * physics_joint_axis_count(physics, i); k++) {
            text_printf(&name, "%s.%s", physics_solid_label(physics, child), k % 2 ? "velocity" : "position");
            if (k >= 2)
                text_printf(&name, "%d", k / 2 + 1);
            add_column(recorder, globs, &name, (Column){ physics_solid_node(physics, child)->id, child, i, k });
        }
    }
    text_add_char(&recorder->row, '\n');
    text_free(&name);
}

static double solid_number(const Physics *physics, int solid, int part)
{
    assert_debug(part >= 0 && solid >= 0);
    Vec3 v;
    if (part < 7) {
        Pose pose = physics_solid_pose(physics, solid);
        const double numbers[7] = { pose.t.x, pose.t.y, pose.t.z, pose.q.w, pose.q.x, pose.q.y, pose.q.z };
        return numbers[part];
    }
    v = part < 10 ? physics_solid_linear_velocity(physics, solid) : physics_solid_angular_velocity(physics, solid);
    return part % 3 == 1 ? v.x : part % 3 == 2 ? v.y : v.z;
}

static void write_row(CsvRecorder *recorder)
{
    assert_debug(recorder->file);
    if (recorder->row.length > 0
        && fwrite(recorder->row.data, 1, recorder->row.length, recorder->file) != recorder->row.length
        && !recorder->has_failed) {
        diag_error(sim_diags(recorder->sim), (SourcePos){ 0 }, "cannot write %s: %s", recorder->path,
                   file_write_error(errno));
        recorder->has_failed = true;
    }
    text_clear(&recorder->row);
    if (recorder->is_standard_output)
        fflush(recorder->file);  // whoever reads it gets the row of now
}

// After an edit solids and joints may stand in other rows.
static void find_columns(CsvRecorder *recorder, const Physics *physics)
{
    assert_debug(physics);
    if (recorder->physics == physics && recorder->tree == physics_tree_count(physics))
        return;
    recorder->physics = physics;
    recorder->tree = physics_tree_count(physics);
    for (int i = 0; i < recorder->column_count; i++) {
        Column *column = &recorder->columns[i];
        const SceneNode *node = scene_find_id(physics_scene(physics), column->node);
        column->solid = !node || scene_node_is_gone(node) ? -1 : physics_solid_of(physics, node);
        if (column->joint >= 0 && column->solid >= 0)
            column->joint = int_max(physics_solid_joint(physics, column->solid), 0);
        if (column->joint >= 0 && column->solid >= 0 && physics_solid_joint(physics, column->solid) < 0)
            column->solid = -1;  // it has no joint any more
    }
}

static bool record(Sim *sim, void *context)
{
    CsvRecorder *recorder = context;
    assert(recorder->every > 0);
    if (sim_steps(sim) % (uint64_t)recorder->every != 0)
        return true;
    const Physics *physics = sim_physics(sim);
    find_columns(recorder, physics);
    Text *row = &recorder->row;
    text_add_double(row, sim_time(sim));
    for (int i = 0; i < recorder->column_count; i++) {
        const Column *column = &recorder->columns[i];
        text_add_char(row, ',');
        if (column->solid < 0)
            continue;
        if (column->joint < 0)
            text_add_double(row, solid_number(physics, column->solid, column->part));
        else if (column->part % 2)
            text_add_double(row, physics_joint_velocity(physics, column->joint, column->part / 2));
        else
            text_add_double(row, physics_joint_position(physics, column->joint, column->part / 2));
    }
    text_add_char(row, '\n');
    write_row(recorder);
    return true;
}

CsvRecorder *csv_open(Sim *sim, const char *path, const CsvOptions *options)
{
    assert_debug(sim && path);
    bool is_standard_output = !strcmp(path, "-");
    FILE *file = is_standard_output ? stdout : fopen(path, "w");
    if (!file) {
        diag_error(sim_diags(sim), (SourcePos){ 0 }, "cannot write %s: %s", path, file_write_error(errno));
        return NULL;
    }
    CsvRecorder *recorder = memory_alloc(sizeof(*recorder));
    *recorder = (CsvRecorder){ .sim = sim,
                               .file = file,
                               .path = memory_string(is_standard_output ? "standard output" : path),
                               .is_standard_output = is_standard_output,
                               .every = options && options->every > 0 ? options->every : 1 };
    choose_columns(recorder, options ? options->columns : NULL);
    if (recorder->column_count == 0 && options && options->columns)
        diag_warning(sim_diags(sim), (SourcePos){ 0 }, "nothing is named like '%s': %s has the time alone",
                     options->columns, recorder->path);
    write_row(recorder);
    record(sim, recorder);
    sim_add_hook(sim, SIM_PHASE_OUTPUT, record, recorder);
    return recorder;
}

bool csv_close(CsvRecorder *recorder)
{
    if (!recorder)
        return true;
    sim_remove_hooks(recorder->sim, recorder);
    bool is_closed = (recorder->is_standard_output ? fflush(recorder->file) : fclose(recorder->file)) == 0;
    if (!is_closed && !recorder->has_failed)
        diag_error(sim_diags(recorder->sim), (SourcePos){ 0 }, "cannot write %s: %s", recorder->path,
                   file_write_error(errno));
    bool is_fine = is_closed && !recorder->has_failed;
    text_free(&recorder->row);
    free(recorder->columns);
    free(recorder->path);
    free(recorder);
    return is_fine;
}
