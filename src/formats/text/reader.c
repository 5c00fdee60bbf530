// The reader's state: tokens, places, names, what to skip after a mistake. Nodes and values are in parser*.c.
#include "base/hash.h"
#include "base/memory.h"
#include "formats/formats_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SYNTAX_ERRORS_MAX = 1000, NEWEST_RELEASE = 2025000 };

void reader_init(Reader *reader, Scene *scene, ReaderText text, const Limits *limits, DiagSink *diags)
{
    assert_debug(scene && (text.text || text.size == 0) && diags);
    *reader = (Reader){ .scene = scene,
                        .diags = diags,
                        .limits = limits_or_default(limits),
                        .format = FORMAT_WORLD,
                        .release = NEWEST_RELEASE };
    memory_grow(&reader->scratch.fields, &reader->scratch.field_capacity, 64, sizeof *reader->scratch.fields);
    memory_grow(&reader->scratch.nodes, &reader->scratch.node_capacity, 64, sizeof *reader->scratch.nodes);
    memory_grow(&reader->scratch.numbers, &reader->scratch.number_capacity, 64, sizeof *reader->scratch.numbers);
    memory_grow(&reader->scratch.strings, &reader->scratch.string_capacity, 16, sizeof *reader->scratch.strings);
    lexer_init(&reader->lexer, text.text, text.size, text.file, diags);
    reader->previous_end = reader->lexer.at;
    lexer_next(&reader->lexer, &reader->token);
}

void reader_deinit(Reader *reader)
{
    free(reader->scratch.fields);
    free(reader->scratch.nodes);
    free(reader->scratch.numbers);
    free(reader->scratch.strings);
    def_table_deinit(&reader->defs);
    free(reader->reported);
}

void reader_advance(Reader *reader)
{
    reader->previous_end = reader->lexer.at;
    lexer_next(&reader->lexer, &reader->token);
}

// ---- messages ----

const char *token_describe(const Token *token, char buffer[64])
{
    if (token->kind == TOKEN_END)
        return "the end of the file";
    int length = int_min((int)token->length, 40);
    const char *more = (int)token->length > length ? "..." : "";
    while (length > 0 && (int)token->length > length && (token->text[length] & 0xc0) == 0x80)
        length--;
    if (token->kind == TOKEN_STRING)
        snprintf(buffer, 64, "the string \"%.*s%s\"", length, token->text, more);
    else
        snprintf(buffer, 64, "'%.*s%s'", length, token->text, more);
    return buffer;
}

void reader_error(Reader *reader, SourcePos pos, const char *format, ...)
{
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (++reader->syntax_errors == SYNTAX_ERRORS_MAX) {
        diag_error(reader->diags, pos, "more than %d mistakes in this file; the rest is not read", SYNTAX_ERRORS_MAX);
        reader->lexer.at = reader->lexer.end;
        reader->token = (Token){ .kind = TOKEN_END, .text = reader->lexer.end, .pos = pos };
    } else if (reader->syntax_errors < SYNTAX_ERRORS_MAX) {
        diag_error(reader->diags, pos, "%s", message);
    }
}

bool reader_expect(Reader *reader, TokenKind kind, const char *what)
{
    if (reader->token.kind == kind) {
        reader_advance(reader);
        return true;
    }
    char buffer[64];
    reader_error(reader, reader->token.pos, "expected %s, found %s", what, token_describe(&reader->token, buffer));
    return false;
}

static uint64_t *reported_slot(uint64_t *hashes, int slots, uint64_t hash)
{
    assert_debug(slots > 0 && (slots & (slots - 1)) == 0 && hash != 0);
    uint64_t slot = hash;
    while (hashes[slot & (uint64_t)(slots - 1)] && hashes[slot & (uint64_t)(slots - 1)] != hash)
        slot++;
    return &hashes[slot & (uint64_t)(slots - 1)];
}

bool reader_first_report(Reader *reader, const char *kind, const char *name, size_t length)
{
    if (reader->reported_count * 2 >= reader->reported_slots) {
        int slots = reader->reported_slots ? reader->reported_slots * 2 : 64;
        uint64_t *hashes = memory_alloc_array((size_t)slots, sizeof *hashes);
        for (int i = 0; i < reader->reported_slots; i++)
            if (reader->reported[i])
                *reported_slot(hashes, slots, reader->reported[i]) = reader->reported[i];
        free(reader->reported);
        reader->reported = hashes;
        reader->reported_slots = slots;
    }
    uint64_t hash = hash_bytes(name, length, hash_string(kind)) | 1;
    uint64_t *slot = reported_slot(reader->reported, reader->reported_slots, hash);
    if (*slot)
        return false;
    *slot = hash;
    reader->reported_count++;
    return true;
}

// ---- comments ----

// Passes over a string; a quote that is never closed ends with the text.
static const char *skip_quoted(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        if (*at == '\\' && at + 1 < end)
            at++;
    return at < end ? at + 1 : end;
}

// The comments alone of a piece of text, one per line, without trailing white space.
static char *comment_lines(const char *at, const char *end, Arena *arena)
{
    Text lines = { 0 };
    while (at < end) {
        if (*at == '"') {
            at = skip_quoted(at, end);
        } else if (*at != '#') {
            at++;
        } else {
            const char *stop = memchr(at, '\n', (size_t)(end - at));
            stop = stop ? stop : end;
            const char *last = stop;
            while (last > at && (unsigned char)last[-1] <= ' ')
                last--;
            if (lines.length)
                text_add_char(&lines, '\n');
            Token line = { .kind = TOKEN_WORD, .text = at, .length = (size_t)(last - at) };
            text_add_string(&lines, token_string(&line, arena));
            at = stop;
        }
    }
    char *text = arena_text(arena, lines.data ? lines.data : "", lines.length);
    text_free(&lines);
    return text;
}

CommentRange reader_comment(const Reader *reader)
{
    return (CommentRange){ reader->lexer.comment, reader->lexer.comment_end };
}

void reader_keep_comment(Reader *reader, const SceneNode *node, const char *before, CommentRange range)
{
    if (!range.from)
        return;
    if (reader->format != FORMAT_VRML97 && (int64_t)(range.to - range.from) <= reader->limits->string_bytes) {
        const char *text = comment_lines(range.from, range.to, scene_arena(reader->scene));
        scene_extra_add(reader->scene, node, true, before, text);
    }
    reader_drop_comments_before(reader, range.to);
}

// The first comment from a place between tokens on.
static const char *find_comment(const char *at, const char *end)
{
    while (at < end && *at != '#')
        at = *at == '"' ? skip_quoted(at, end) : at + 1;
    return at < end ? at : NULL;
}

void reader_drop_comments_before(Reader *reader, const char *end)
{
    Lexer *lexer = &reader->lexer;
    if (!lexer->comment || lexer->comment >= end)
        return;
    lexer->comment = end < lexer->comment_end ? find_comment(end, lexer->comment_end) : NULL;
    if (!lexer->comment)
        lexer->comment_end = NULL;
}

// ---- skipping ----

bool reader_skip_block(Reader *reader)
{
    int64_t depth = 0;  // braces and brackets alike: what matters is that the text balances
    do {
        switch (reader->token.kind) {
        case TOKEN_BRACE_OPEN:
        case TOKEN_BRACKET_OPEN: depth++; break;
        case TOKEN_BRACE_CLOSE:
        case TOKEN_BRACKET_CLOSE: depth--; break;
        case TOKEN_END: return false;
        default: break;
        }
        reader_advance(reader);
    } while (depth > 0);
    return true;
}

static bool is_value_word(const Token *token)
{
    return token_is(token, "TRUE") || token_is(token, "FALSE") || token_is(token, "NULL");
}

static bool skip_name(Reader *reader)
{
    if (reader->token.kind != TOKEN_WORD && reader->token.kind != TOKEN_NUMBER)
        return false;
    reader_advance(reader);
    return true;
}

static bool skip_node(Reader *reader)
{
    if (token_is(&reader->token, "USE") || token_is(&reader->token, "IS")) {
        reader_advance(reader);
        return skip_name(reader);
    }
    if (token_is(&reader->token, "DEF")) {
        reader_advance(reader);
        if (!skip_name(reader))
            return false;
    }
    if (reader->token.kind != TOKEN_WORD)
        return false;
    reader_advance(reader);
    return reader->token.kind == TOKEN_BRACE_OPEN && reader_skip_block(reader);
}

// Whether the word at the current token begins a node and is not the name of the next field.
static bool begins_node(const Reader *reader)
{
    if (token_is(&reader->token, "DEF") || token_is(&reader->token, "USE") || token_is(&reader->token, "IS"))
        return true;
    Lexer ahead = reader->lexer;
    Token next;
    lexer_next(&ahead, &next);
    return next.kind == TOKEN_BRACE_OPEN;
}

bool reader_skip_value(Reader *reader)
{
    switch (reader->token.kind) {
    case TOKEN_BRACKET_OPEN: return reader_skip_block(reader);
    case TOKEN_STRING:
    case TOKEN_NUMBER:
        while (reader->token.kind == TOKEN_NUMBER || reader->token.kind == TOKEN_STRING)
            reader_advance(reader);
        return true;
    case TOKEN_WORD:
        if (is_value_word(&reader->token)) {
            reader_advance(reader);
            return true;
        }
        return begins_node(reader) && skip_node(reader);
    default: return false;
    }
}

// ---- header, declarations ----

// The first line that is not empty, without its line end.
static size_t first_line(const Reader *reader, const char **line, uint32_t *number)
{
    const char *start = reader->lexer.start, *end = reader->lexer.end;
    if (end - start >= 3 && !memcmp(start, "\xef\xbb\xbf", 3))
        start += 3;
    *number = 1;
    for (; start < end && (unsigned char)*start <= ' '; start++)
        *number += *start == '\n';
    const char *stop = start;
    while (stop < end && *stop != '\n')
        stop++;
    while (stop > start && (unsigned char)stop[-1] <= ' ')
        stop--;
    *line = start;
    return (size_t)(stop - start);
}

static bool starts(const char *line, size_t length, const char *prefix)
{
    return length >= strlen(prefix) && !memcmp(line, prefix, strlen(prefix));
}

// Development builds wrote "R2021c" on the way to R2022a, whose axes their files have: what the last release of a year
// led to. 0: it has no such form.
static int nearest_release(const char *from, const char *stop)
{
    enum { YEAR = 5 };  // "R2021"
    if (stop - from < YEAR + 1 || from[0] != 'R' || from[YEAR] < 'c' || from[YEAR] > 'z')
        return 0;
    char next[24];
    snprintf(next, sizeof next, "R%da", atoi(from + 1) + 1);
    return schema_release(next, strlen(next));
}

// All that is read afterwards depends on the release: axes, names and defaults changed. A slip is mended to the
// nearest one, as a world of the wrong release would be turned over.
static bool read_release(Reader *reader, const char *line, size_t length, SourcePos pos)
{
    static const char prefix[] = "#VRML_SIM";
    const char *from = line + strlen(prefix), *to = line + length;
    while (from < to && (*from == ' ' || *from == '\t'))
        from++;
    const char *encoding = from;
    while (encoding + 4 <= to && memcmp(encoding, "utf8", 4) != 0)
        encoding++;
    bool has_encoding = encoding + 4 <= to;
    const char *stop = has_encoding ? encoding : to;
    while (stop > from && (stop[-1] == ' ' || stop[-1] == '\t'))
        stop--;
    int release = schema_release(from, (size_t)(stop - from));
    if (!release && (release = nearest_release(from, stop))) {
        char name[24];
        diag_warning(reader->diags, pos, "'%.*s' is not a release of Webots; read as %s, the nearest one",
                     int_min((int)(stop - from), 40), from, schema_release_name(release, name));
    } else if (!release) {
        reader_error(reader, pos, "'%.*s' is not a release of Webots; read as R2025a", int_min((int)(stop - from), 40),
                     from);
        diag_hint(reader->diags, "the first line is for example '#VRML_SIM R2025a utf8'");
        return false;
    }
    reader->release = release;
    if (release > NEWEST_RELEASE)
        diag_warning(reader->diags, pos, "the file is from %.*s, newer than R2025a, the newest this program knows",
                     int_min((int)(stop - from), 40), from);
    else if (release < 5000)
        diag_warning(reader->diags, pos, "the file is from %.*s; it is read like V5.0", int_min((int)(stop - from), 40),
                     from);
    if (!has_encoding) {
        diag_warning(reader->diags, pos, "the first line does not end with 'utf8'");
        diag_hint(reader->diags, "the first line is for example '#VRML_SIM R2025a utf8'");
    }
    return true;
}

bool reader_header(Reader *reader, FileFormat expected)
{
    const char *line;
    uint32_t number;
    size_t length = first_line(reader, &line, &number);
    SourcePos pos = { .file = reader->lexer.file, .line = number, .column = 1 };
    reader->format = expected;
    if (starts(line, length, "#VRML_SIM")) {
        if (number > 1)
            diag_warning(reader->diags, pos, "the header stands below empty lines; it belongs into the first line");
        reader_drop_comments_before(reader, line + length);
        return read_release(reader, line, length, pos);
    }
    bool is_vrml97 = starts(line, length, "#VRML V");
    if (is_vrml97)
        reader_drop_comments_before(reader, line + length);
    if (expected == FORMAT_VRML97) {
        if (!is_vrml97)
            diag_warning(reader->diags, pos, "the first line is not '#VRML V2.0 utf8'; read as VRML97 all the same");
        return is_vrml97;
    }
    pos.line = 1;
    if (expected == FORMAT_PROTO)  // which releases before R2023a did not ask for
        diag_warning(reader->diags, pos, "the first line is not '#VRML_SIM <release> utf8'");
    else
        reader_error(reader, pos, "the first line is not '#VRML_SIM <release> utf8'; read as R2025a");
    diag_hint(reader->diags, is_vrml97 ? "this is a VRML97 file: name it .wrl, and use it by the url of a Mesh"
                                       : "put for example '#VRML_SIM R2025a utf8' above everything else");
    return false;
}

bool reader_extern(Reader *reader, SceneExtern *out)
{
    SourcePos pos = reader->token.pos;
    bool is_importable = token_is(&reader->token, "IMPORTABLE");
    if (!is_importable && !token_is(&reader->token, "EXTERNPROTO"))
        return false;
    if (is_importable) {
        reader_advance(reader);
        if (!token_is(&reader->token, "EXTERNPROTO")) {
            char buffer[64];
            reader_error(reader, reader->token.pos, "expected EXTERNPROTO after IMPORTABLE, found %s",
                         token_describe(&reader->token, buffer));
            *out = (SceneExtern){ .url = NULL };
            return true;
        }
    }
    reader_advance(reader);
    *out = (SceneExtern){ .url = NULL, .is_importable = is_importable, .pos = pos };
    if (reader->format == FORMAT_VRML97 && reader->token.kind == TOKEN_WORD) {
        // VRML97 has another form: a name, an interface, one or several urls.
        reader_advance(reader);
        reader_skip_value(reader);
        reader_skip_value(reader);
        return true;
    }
    if (reader->token.kind != TOKEN_STRING) {
        reader_expect(reader, TOKEN_STRING, "the url of a PROTO in quotes");
        return true;
    }
    if ((int64_t)reader->token.length > reader->limits->string_bytes)
        reader_error(reader, reader->token.pos, "this url is longer than %lld bytes",
                     (long long)reader->limits->string_bytes);
    else
        out->url = token_string(&reader->token, scene_arena(reader->scene));
    reader_advance(reader);
    return true;
}
