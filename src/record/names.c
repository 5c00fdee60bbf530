// names.c - reads the META blocks of a recording.
#include "record/names.h"

#include "base/json_read.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *kept(Arena *arena, const char *text) { return text ? arena_string(arena, text) : NULL; }

static void read_solids(const JsonValue *meta, RecordingNames *names)
{
    const JsonValue *list = json_member(meta, "solids");
    int i = 0;
    for (const JsonValue *solid = list ? list->first : NULL; solid; solid = solid->next, i++) {
        memory_grow(&names->solids, &names->solid_capacity, i + 1, sizeof *names->solids);
        while (names->solid_count <= i)
            names->solids[names->solid_count++] = NULL;
        if (!names->solids[i])
            names->solids[i] = kept(names->arena, json_member_string(solid, "name"));
    }
}

static void read_joints(const JsonValue *meta, RecordingNames *names)
{
    assert_debug(names->joint_count == 0);
    const JsonValue *list = json_member(meta, "joints");
    for (const JsonValue *joint = list ? list->first : NULL; joint; joint = joint->next) {
        const char *name = json_member_string(joint, "name");
        int64_t axes = 0;
        json_member_int(joint, "axes", 0, 3, &axes);
        for (int k = 0; k < axes; k++) {
            char label[512];
            snprintf(label, sizeof label, k ? "%s.position%d" : "%s.position", name ? name : "", k + 1);
            *memory_push(names->joints, names->joint_count, names->joint_capacity) = kept(names->arena, label);
        }
    }
}

// Names may change in the middle of a recording (nodes are added): the first name of an index stays, as its column
// was headed with it.
bool names_read(Recording *recording, RecordingNames *names, DiagSink *diags)
{
    assert_debug(recording && names);
    *names = (RecordingNames){ .arena = arena_create() };
    Text text = { 0 };
    bool has_any = false;
    for (int i = -1; (i = recording_find(recording, "META", i + 1)) >= 0;) {
        const char *why = NULL;
        const JsonValue *meta = recording_read(recording, i, &text)
                                    ? json_parse(names->arena, text.data, text.length, &why)
                                    : NULL;
        if (!meta)
            continue;
        if (!has_any) {
            names->title = kept(names->arena, json_member_string(meta, "title"));
            names->file = kept(names->arena, json_member_string(meta, "file"));
            json_member_number(meta, "timestep", &names->time_step);
            read_joints(meta, names);
        }
        read_solids(meta, names);
        has_any = true;
    }
    text_free(&text);
    if (!has_any)
        diag_error(diags, (SourcePos){ 0 }, "the recording has no head that can be read: nothing in it has a name");
    if (!(names->time_step > 0.0 && isfinite(names->time_step)))
        names->time_step = 0.0;
    return has_any;
}

void names_free(RecordingNames *names)
{
    free(names->solids);
    free(names->joints);
    arena_destroy(names->arena);
    *names = (RecordingNames){ 0 };
}

const char *names_solid(const RecordingNames *names, int solid)
{
    static _Thread_local char made_up[32];
    if (solid >= 0 && solid < names->solid_count && names->solids[solid])
        return names->solids[solid];
    snprintf(made_up, sizeof made_up, "solid %d", solid);
    return made_up;
}
