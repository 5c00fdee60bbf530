// journal.c - the acts of people as a file: one JSON object a line, {"step":12,"act":{...}} with the act as it came, in
// the order in which they were done. A run that is given the file does the same at the same steps, so it ends in the
// same state to the last bit.
#include "viewer/viewer_internal.h"

#include "base/file.h"
#include "base/limits.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct JournalAct {
    uint64_t step;
    char *text;
    size_t size;
    uint64_t to_step, to_acts;  // of one that goes back
} JournalAct;

struct Journal {
    JournalAct *acts;
    int count, capacity, done;
    int *resumes;  // indices of the acts that go back, which are few among many
    int resume_count, resume_capacity;
};

// ---- writing ----

bool journal_open(Viewer *viewer)
{
    assert(!viewer->log && viewer->options.log);
    viewer->log = fopen(viewer->options.log, "we");
    if (viewer->log)
        return true;
    diag_error(viewer->diags, (SourcePos){ 0 }, "the log '%s' cannot be written: %s", viewer->options.log,
               strerror(errno));
    return false;
}

// Line ends in a message are blanks between its parts: strings cannot have them.
void journal_write(Viewer *viewer, const char *text, size_t size)
{
    assert(viewer->sim && text && size > 0);
    viewer->acts_done++;
    if (!viewer->log)
        return;
    fprintf(viewer->log, "{\"step\":%llu,\"act\":", (unsigned long long)sim_steps(viewer->sim));
    for (size_t i = 0; i < size; i++)
        fputc(text[i] == '\n' || text[i] == '\r' ? ' ' : text[i], viewer->log);
    fputs("}\n", viewer->log);
    fflush(viewer->log);
}

bool viewer_log_is_whole(Viewer *viewer)
{
    if (!viewer->log)
        return true;
    bool is_written = !ferror(viewer->log);
    is_written = fclose(viewer->log) == 0 && is_written;
    viewer->log = NULL;
    if (!is_written)
        diag_error(viewer->diags, (SourcePos){ 0 }, "the log '%s' could not be written whole", viewer->options.log);
    return is_written;
}

// ---- reading ----

bool journal_is_one(const char *text, size_t size)
{
    while (size > 0 && strchr(" \t\r\n", *text) && *text)
        text++, size--;
    return size > 0 && *text == '{';
}

// The act of a line as text: what stands between the first colon after "act" and the last brace.
static bool take_act(JournalAct *act, const char *line, size_t size)
{
    assert(!act->text);
    static const char key[] = "\"act\":";
    const char *start = NULL;
    for (size_t i = 0; !start && i + sizeof key - 1 < size; i++)
        if (!memcmp(line + i, key, sizeof key - 1))
            start = line + i + sizeof key - 1;
    while (size > 0 && line[size - 1] != '}')
        size--;
    if (!start || line + size - 1 <= start)
        return false;
    act->size = (size_t)(line + size - 1 - start);
    act->text = memory_text(start, act->size);
    return true;
}

// One line of the log, with its act as the text that it was. *why says what was missed first.
static bool read_line(Journal *journal, Arena *arena, const char *line, size_t size, const char **why)
{
    int64_t step, to_step, to_acts;
    const JsonValue *row = json_parse(arena, line, size, why);
    const JsonValue *message = json_member(row, "act");
    const char *name = json_member_string(message, "do");
    JournalAct act = { 0 };
    if (!row)
        return false;
    *why = "a line wants to be {\"step\":N,\"act\":{\"do\":...}}";
    if (!json_member_int(row, "step", 0, INT64_C(1) << 53, &step) || !name)
        return false;
    *why = "there is no such act";
    const ActType *type = act_type(name);
    if (!type || (!type->is_logged && strcmp(name, "resume")))
        return false;
    *why = "the act cannot be read";
    if (!take_act(&act, line, size))
        return false;
    act.step = (uint64_t)step;
    if (!strcmp(name, "resume") && json_member_int(message, "step", 0, INT64_C(1) << 53, &to_step)
        && json_member_int(message, "acts", 0, INT64_C(1) << 53, &to_acts)) {
        act.to_step = (uint64_t)to_step;
        act.to_acts = (uint64_t)to_acts;
        memory_grow(&journal->resumes, &journal->resume_capacity, journal->resume_count + 1, sizeof *journal->resumes);
        journal->resumes[journal->resume_count++] = journal->count;
    }
    memory_grow(&journal->acts, &journal->capacity, journal->count + 1, sizeof *journal->acts);
    journal->acts[journal->count++] = act;
    return true;
}

static bool read_lines(Journal *journal, const char *path, const FileData *file, DiagSink *diags)
{
    Arena *arena = arena_create();
    SourcePos pos = { .file = diag_file(diags, path), .column = 1 };
    int mistakes = 0;
    const char *at = file->data, *end = file->data + file->size;
    while (at < end && mistakes < 100) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        pos.line++;
        const char *why = NULL;
        arena_reset(arena);
        if (stop > at && strspn(at, " \t\r") < (size_t)(stop - at)
            && !read_line(journal, arena, at, (size_t)(stop - at), &why)) {
            diag_error(diags, pos, "this is no act: %s", why);
            mistakes++;
        }
        at = stop + 1;
    }
    arena_destroy(arena);
    return mistakes == 0;
}

Journal *journal_read(const char *path, DiagSink *diags)
{
    FileData file;
    if (!file_read(path, (size_t)limits_default.file_bytes, &file, diags, (SourcePos){ 0 }))
        return NULL;
    Journal *journal = memory_alloc(sizeof *journal);
    bool is_read = read_lines(journal, path, &file, diags);
    file_release(&file);
    if (is_read)
        return journal;
    journal_destroy(journal);
    return NULL;
}

void journal_destroy(Journal *journal)
{
    if (!journal)
        return;
    for (int i = 0; i < journal->count; i++)
        free(journal->acts[i].text);
    free(journal->acts);
    free(journal->resumes);
    free(journal);
}

bool journal_next(Journal *journal, uint64_t step, const char **text, size_t *size)
{
    assert(journal->done >= 0 && journal->done <= journal->count);
    if (!journal_has_more(journal) || journal->acts[journal->done].step != step)
        return false;
    *text = journal->acts[journal->done].text;
    *size = journal->acts[journal->done].size;
    journal->done++;
    return true;
}

bool journal_has_more(const Journal *journal) { return journal->done < journal->count; }

bool journal_wants_snapshot(const Journal *journal, uint64_t step, uint64_t acts)
{
    assert_debug(journal->done <= journal->count);
    for (int i = journal->resume_count - 1; i >= 0 && journal->resumes[i] >= journal->done; i--) {
        const JournalAct *act = &journal->acts[journal->resumes[i]];
        if (act->to_step == step && act->to_acts == acts)
            return true;
    }
    return false;
}
