// record.c - recordings for those who embed Talus (include/talus/record.h).
#include "talus/record.h"

#include "base/memory.h"
#include "record/export.h"
#include "record/recorder.h"
#include "sim/library.h"

#include <assert.h>
#include <stdlib.h>

// What a world has while it is recorded. The recording is in memory until it is exported, or is the file itself.
typedef struct Tape {
    Recorder *recorder;
    char *path;
    Text bytes;
    bool is_exported;
} Tape;

static bool write_export(const Tape *tape, DiagSink *diags)
{
    Recording *recording = recording_open_bytes(tape->path, tape->bytes.data, tape->bytes.length, NULL, diags);
    bool is_written = recording && export_write(recording, tape->path, &(ExportOptions){ 0 }, diags);
    recording_close(recording);
    return is_written;
}

static bool end_tape(TalusWorld *world)
{
    Tape *tape = world->tape;
    assert(tape && tape->recorder);
    world->tape = NULL;
    world->end_tape = NULL;
    bool is_written = recorder_close(tape->recorder);
    if (tape->is_exported)
        is_written = is_written && write_export(tape, world->diags);
    text_free(&tape->bytes);
    free(tape->path);
    free(tape);
    return is_written;
}

// The world records its own nodes, so a clone gets them first. What is exported is written at the end, from memory.
bool talus_record_start(TalusWorld *world, const char *path, const TalusRecordOptions *from)
{
    TalusRecordOptions given;
    library_options(&given, sizeof given, from);
    if (!library_given(world, path, "path"))
        return false;
    if (world->tape)
        return library_failed("%s: the world is recorded already", path);
    if (given.every < 0)
        return library_failed("%s: a frame after every %d steps cannot be", path, given.every);
    if (!recording_has_name(path) && !export_has_format(path))
        return library_failed("%s: a recording ends with .talus, .html, .glb, .csv or .mcap", path);
    if (!library_own(world))
        return false;
    Tape *tape = memory_alloc(sizeof *tape);
    tape->path = memory_string(path);
    tape->is_exported = !recording_has_name(path);
    RecorderOptions options = { .every = given.every, .with_contacts = given.with_contacts };
    tape->recorder = tape->is_exported ? recorder_open_in(world->sim, &tape->bytes, &options)
                                       : recorder_open(world->sim, path, &options);
    if (!tape->recorder) {
        text_free(&tape->bytes);
        free(tape->path);
        free(tape);
        return library_told(world, false);
    }
    world->tape = tape;
    world->end_tape = end_tape;
    return library_told(world, true);
}

bool talus_record_stop(TalusWorld *world)
{
    if (!library_given(world, world, "world"))
        return false;
    if (!world->end_tape)
        return library_failed("the world is not recorded");
    return library_told(world, world->end_tape(world));
}
