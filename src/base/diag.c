// diag.c - the sink of messages: places, severities, hints; identical ones are counted.
#include "base/diag.h"

#include "base/arena.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/terminal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_LIMIT = 10000 };

struct DiagSink {
    Arena *arena;
    Diagnostic *items;
    int count, capacity;
    const char **files;
    int file_count, file_capacity;
    int *slots;  // open addressing over items, -1 empty
    int slot_count;
    int totals[3];
    int limit;
    int last;  // index of the message given last when it was new, else -1
    bool has_output_errors;
};

DiagSink *diag_create(void)
{
    DiagSink *diags = memory_alloc(sizeof *diags);
    diags->arena = arena_create();
    diags->limit = DEFAULT_LIMIT;
    diags->last = -1;
    diag_file(diags, "");
    return diags;
}

DiagSink *diag_create_like(const DiagSink *other, bool shares_names)
{
    assert_debug(other && other->file_count > 0);
    DiagSink *diags = memory_alloc(sizeof *diags);
    diags->arena = arena_create_small();
    diags->limit = other->limit;
    diags->last = -1;
    memory_grow(&diags->files, &diags->file_capacity, other->file_count, sizeof *diags->files);
    for (int i = 0; i < other->file_count; i++)
        diags->files[i] = shares_names ? other->files[i] : arena_string(diags->arena, other->files[i]);
    diags->file_count = other->file_count;
    return diags;
}

void diag_destroy(DiagSink *diags)
{
    if (!diags)
        return;
    arena_destroy(diags->arena);
    free(diags->items);
    free(diags->files);
    free(diags->slots);
    free(diags);
}

uint16_t diag_file(DiagSink *diags, const char *name)
{
    assert(name);
    for (int i = diags->file_count - 1; i >= 0; i--)
        if (!strcmp(diags->files[i], name))
            return (uint16_t)i;
    if (diags->file_count == UINT16_MAX)
        return 0;
    memory_grow(&diags->files, &diags->file_capacity, diags->file_count + 1, sizeof *diags->files);
    diags->files[diags->file_count] = arena_string(diags->arena, name);
    return (uint16_t)diags->file_count++;
}

const char *diag_file_name(const DiagSink *diags, uint16_t file)
{
    return file < diags->file_count ? diags->files[file] : "";
}

static uint64_t hash_message(DiagSeverity severity, SourcePos pos, const char *message)
{
    uint64_t hash = hash_bytes(message, strlen(message), (uint64_t)severity + 1);
    hash = hash_combine(hash, pos.line);
    return hash_combine(hash, (uint64_t)pos.file << 16 | pos.column);
}

static void rebuild_slots(DiagSink *diags)
{
    free(diags->slots);
    diags->slot_count = diags->slot_count ? diags->slot_count * 2 : 64;
    assert_debug(diags->slot_count > diags->count);
    diags->slots = memory_alloc_array((size_t)diags->slot_count, sizeof *diags->slots);
    memset(diags->slots, 0xff, (size_t)diags->slot_count * sizeof *diags->slots);
    for (int i = 0; i < diags->count; i++) {
        const Diagnostic *item = &diags->items[i];
        uint64_t slot = hash_message(item->severity, item->pos, item->message);
        while (diags->slots[slot % (uint64_t)diags->slot_count] >= 0)
            slot++;
        diags->slots[slot % (uint64_t)diags->slot_count] = i;
    }
}

static bool same(const Diagnostic *item, DiagSeverity severity, SourcePos pos, const char *message)
{
    return item->severity == severity && item->pos.file == pos.file && item->pos.line == pos.line
           && item->pos.column == pos.column && !strcmp(item->message, message);
}

static bool is_control(const char *c)
{
    unsigned char byte = (unsigned char)c[0], next = (unsigned char)c[1];
    return byte < ' ' || byte == 0x7f || (byte == 0xc2 && next >= 0x80 && next <= 0x9f);
}

// What a terminal would obey is written as \xNN: control bytes, also those that two bytes of UTF-8 stand for. Ends of
// lines become spaces. `size` is the room; what does not fit is cut off.
static void clean(char *text, size_t size)
{
    const char *c = text;
    while (*c && !is_control(c))
        c++;
    if (!*c)
        return;
    char plain[2048];
    size_t length = 0, max = size < sizeof plain ? size : sizeof plain;
    for (c = text; *c && length + 5 <= max; c++) {
        if (*c == '\n' || *c == '\t' || *c == '\r')
            plain[length++] = ' ';
        else if (is_control(c))
            length += (size_t)snprintf(plain + length, max - length, "\\x%02x",
                                       (unsigned char)(*c == (char)0xc2 ? *++c : *c));
        else
            plain[length++] = *c;
    }
    plain[length] = '\0';
    memcpy(text, plain, length + 1);
}

static void add(DiagSink *diags, DiagSeverity severity, SourcePos pos, const char *format, va_list arguments)
{
    assert_debug(severity >= DIAG_NOTE && severity <= DIAG_ERROR);
    char buffer[1024];
    int length = vsnprintf(buffer, sizeof buffer, format, arguments);
    if (length >= (int)sizeof buffer)
        memcpy(buffer + sizeof buffer - 4, "...", 4);
    clean(buffer, sizeof buffer);
    diags->totals[severity]++;
    diags->last = -1;
    if (diags->count * 2 >= diags->slot_count)
        rebuild_slots(diags);
    assert_debug(diags->count < diags->slot_count);
    uint64_t slot = hash_message(severity, pos, buffer);
    for (int index; (index = diags->slots[slot % (uint64_t)diags->slot_count]) >= 0; slot++) {
        if (same(&diags->items[index], severity, pos, buffer)) {
            diags->items[index].count++;
            return;
        }
    }
    if (diags->count >= diags->limit)
        return;
    memory_grow(&diags->items, &diags->capacity, diags->count + 1, sizeof *diags->items);
    diags->items[diags->count] =
        (Diagnostic){ .severity = severity, .pos = pos, .message = arena_string(diags->arena, buffer), .count = 1 };
    diags->slots[slot % (uint64_t)diags->slot_count] = diags->count;
    diags->last = diags->count++;
}

void diag_error(DiagSink *diags, SourcePos pos, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(diags, DIAG_ERROR, pos, format, arguments);
    va_end(arguments);
}

void diag_warning(DiagSink *diags, SourcePos pos, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(diags, DIAG_WARNING, pos, format, arguments);
    va_end(arguments);
}

void diag_note(DiagSink *diags, SourcePos pos, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(diags, DIAG_NOTE, pos, format, arguments);
    va_end(arguments);
}

void diag_hint(DiagSink *diags, const char *format, ...)
{
    if (diags->last < 0)
        return;
    assert_debug(diags->last < diags->count);
    char buffer[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(buffer, sizeof buffer, format, arguments);
    va_end(arguments);
    clean(buffer, sizeof buffer);
    diags->items[diags->last].hint = arena_string(diags->arena, buffer);
}

void diag_node(DiagSink *diags, const char *path)
{
    if (diags->last < 0 || !path)
        return;
    assert_debug(diags->last < diags->count);
    char buffer[1024];
    snprintf(buffer, sizeof buffer, "%s", path);
    clean(buffer, sizeof buffer);
    diags->items[diags->last].node = arena_string(diags->arena, buffer);
}

int diag_count(const DiagSink *diags) { return diags->count; }

const Diagnostic *diag_at(const DiagSink *diags, int index)
{
    assert(index >= 0 && index < diags->count);
    return &diags->items[index];
}

int diag_total(const DiagSink *diags, DiagSeverity severity) { return diags->totals[severity]; }

bool diag_has_errors(const DiagSink *diags) { return diags->totals[DIAG_ERROR] > 0; }

void diag_output_error(DiagSink *diags, const char *path, const char *why)
{
    diags->has_output_errors = true;
    diag_error(diags, (SourcePos){ 0 }, "cannot write '%s': %s", path, why);
}

bool diag_has_output_errors(const DiagSink *diags) { return diags->has_output_errors; }

const char *diag_severity_name(DiagSeverity severity)
{
    static const char *const names[] = { "note", "warning", "error" };
    assert_debug((int)severity >= 0 && (int)severity < COUNT_OF(names));
    return names[severity];
}

// How many messages before this one say the same of other places, and whether one has the same hint.
static int count_before(const DiagSink *diags, int index, bool *has_hint)
{
    assert(index >= 0 && index < diags->count);
    const Diagnostic *item = &diags->items[index];
    int count = 0;
    *has_hint = false;
    for (int i = 0; i < index; i++) {
        const Diagnostic *other = &diags->items[i];
        if (other->severity == item->severity && other->message[0] == item->message[0]
            && !strcmp(other->message, item->message))
            count++;
        if (item->hint && other->hint && !strcmp(other->hint, item->hint))
            *has_hint = true;
    }
    return count;
}

static const char *severity_color(FILE *out, DiagSeverity severity)
{
    static const TerminalColor colors[] = { TERMINAL_CYAN, TERMINAL_YELLOW, TERMINAL_RED };
    assert_debug((int)severity >= 0 && (int)severity < COUNT_OF(colors));
    return terminal_color(out, colors[severity]);
}

static void print_place(const DiagSink *diags, FILE *out, SourcePos pos)
{
    char name[1024];
    snprintf(name, sizeof name, "%s", diag_file_name(diags, pos.file));
    clean(name, sizeof name);
    if (pos.file)
        fprintf(out, "%s:", name);
    if (pos.line)
        fprintf(out, "%u:%u:", pos.line, pos.column);
    if (pos.file)
        fputc(' ', out);
}

void diag_print(const DiagSink *diags, FILE *out, int first, DiagSeverity min)
{
    assert_debug(first >= 0);
    enum {
        ALIKE_MAX = 3,
        COMPARED_MAX = 2000
    };  // places of one message that are shown; beyond so many messages nobody reads on
    int folded = 0;
    for (int i = first; i < diags->count; i++) {
        const Diagnostic *item = &diags->items[i];
        bool has_hint = false;
        if (item->severity < min)
            continue;
        if (i < COMPARED_MAX && count_before(diags, i, &has_hint) >= ALIKE_MAX) {
            folded++;
            continue;
        }
        print_place(diags, out, item->pos);
        fprintf(out, "%s%s:%s %s", severity_color(out, item->severity), diag_severity_name(item->severity),
                terminal_color(out, TERMINAL_PLAIN), item->message);
        if (item->node)
            fprintf(out, " [%s]", item->node);
        if (item->count > 1)
            fprintf(out, " (%d times)", item->count);
        fputc('\n', out);
        if (item->hint && !has_hint)
            fprintf(out, "    hint: %s\n", item->hint);
    }
    if (folded > 0)
        fprintf(out, "    and %d more that say the same of other places\n", folded);
}
