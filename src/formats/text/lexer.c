// lexer.c - from the bytes of a world or PROTO to tokens with their places.
#include "formats/formats_internal.h"

#include <string.h>

// What a byte is outside of strings and comments.
enum { PART, WHITE, LINE_END, PUNCTUATION, COMMENT, QUOTE, CONTROL };

static const uint8_t classes[256] = {
    [0] = CONTROL,       [1] = CONTROL,       [2] = CONTROL,       [3] = CONTROL,       [4] = CONTROL,
    [5] = CONTROL,       [6] = CONTROL,       [7] = CONTROL,       [8] = CONTROL,       ['\t'] = WHITE,
    ['\n'] = LINE_END,   ['\v'] = WHITE,      ['\f'] = WHITE,      ['\r'] = WHITE,      [14] = CONTROL,
    [15] = CONTROL,      [16] = CONTROL,      [17] = CONTROL,      [18] = CONTROL,      [19] = CONTROL,
    [20] = CONTROL,      [21] = CONTROL,      [22] = CONTROL,      [23] = CONTROL,      [24] = CONTROL,
    [25] = CONTROL,      [26] = CONTROL,      [27] = CONTROL,      [28] = CONTROL,      [29] = CONTROL,
    [30] = CONTROL,      [31] = CONTROL,      [127] = CONTROL,     [' '] = WHITE,       [','] = WHITE,
    ['{'] = PUNCTUATION, ['}'] = PUNCTUATION, ['['] = PUNCTUATION, [']'] = PUNCTUATION, ['#'] = COMMENT,
    ['"'] = QUOTE,
};

static inline int class_of(const char *at) { return classes[(unsigned char)*at]; }

void lexer_init(Lexer *lexer, const char *text, size_t size, uint16_t file, DiagSink *diags)
{
    *lexer = (Lexer){
        .start = text, .end = text + size, .at = text, .line_start = text, .line = 1, .file = file, .diags = diags
    };
    if (size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
        lexer->at = lexer->line_start = text + 3;
}

SourcePos lexer_pos(const Lexer *lexer, const char *at)
{
    assert_debug(at >= lexer->start && at <= lexer->end);
    ptrdiff_t column = at - lexer->line_start + 1;
    uint32_t line = lexer->line;
    if (lexer->line_map && lexer->line_map_count) {
        uint32_t index = line <= lexer->line_map_count ? line - 1 : lexer->line_map_count - 1;
        line = lexer->line_map[index];
    }
    return (SourcePos){ .file = lexer->file,
                        .line = line,
                        .column = (uint16_t)(column > UINT16_MAX ? UINT16_MAX
                                             : column < 1        ? 1
                                                                 : column) };
}

static void check_encoding(Lexer *lexer, const char *text, size_t length, SourcePos pos)
{
    size_t bad;
    if (lexer->reported_encoding || text_is_valid_utf8(text, length, &bad))
        return;
    lexer->reported_encoding = true;
    diag_warning(lexer->diags, pos, "byte 0x%02x is not UTF-8; such bytes are read as '?'", (unsigned char)text[bad]);
    diag_hint(lexer->diags, "save the file with the encoding UTF-8");
}

static void skip_comment(Lexer *lexer)
{
    if (!lexer->comment)
        lexer->comment = lexer->at;
    const char *line_end = memchr(lexer->at, '\n', (size_t)(lexer->end - lexer->at));
    lexer->at = lexer->comment_end = line_end ? line_end : lexer->end;
}

static void skip_white(Lexer *lexer)
{
    assert_debug(lexer->at <= lexer->end);
    const char *at = lexer->at, *end = lexer->end;
    while (at < end) {
        switch (class_of(at)) {
        case WHITE: at++; break;
        case LINE_END:
            lexer->line++;
            lexer->line_start = ++at;
            break;
        case COMMENT:
            lexer->at = at;
            skip_comment(lexer);
            at = lexer->at;
            break;
        case CONTROL:
            diag_warning(lexer->diags,
                         (SourcePos){ .file = lexer->file, .line = lexer_pos(lexer, at).line, .column = 1 },
                         "control characters in this line are taken for white space");
            at++;
            break;
        default: lexer->at = at; return;
        }
    }
    lexer->at = at;
}

static void read_string(Lexer *lexer, Token *token)
{
    assert_debug(lexer->at < lexer->end && *lexer->at == '"');
    const char *at = lexer->at + 1, *end = lexer->end;
    uint32_t lines = 0;
    const char *line_start = lexer->line_start, *first_line_end = NULL;
    bool is_ascii = true;
    token->text = at;
    for (; at < end && *at != '"'; at++) {
        if (*at == '\\' && at + 1 < end) {
            token->has_escapes = true;
            at++;
        }
        if (*at == '\n') {
            lines++;
            line_start = at + 1;
            if (!first_line_end)
                first_line_end = at;
        }
        is_ascii = is_ascii && (unsigned char)*at < 0x80;
    }
    token->kind = TOKEN_STRING;
    if (at >= end) {
        lexer->open_string = token->text;
        // No later string can be open as well, so that looking for the closing quote stays linear.
        diag_error(lexer->diags, token->pos, "this string has no closing '\"'");
        at = first_line_end ? first_line_end : end;
        token->length = (size_t)(at - token->text);
        while (token->length && (at[-1] == '\r' || at[-1] == ' ')) {
            at--;
            token->length--;
        }
        lexer->at = at;
    } else {
        token->length = (size_t)(at - token->text);
        lexer->at = at + 1;
        lexer->line += lines;
        lexer->line_start = line_start;
    }
    if (!is_ascii)
        check_encoding(lexer, token->text, token->length, token->pos);
}

static inline bool starts_number(const char *at, const char *end)
{
    if (*at == '-' || *at == '+')
        at++;
    if (at < end && *at == '.')
        at++;
    return at < end && *at >= '0' && *at <= '9';
}

static void read_word(Lexer *lexer, Token *token)
{
    assert_debug(lexer->at < lexer->end);
    const char *at = lexer->at, *end = lexer->end;
    unsigned char bits = 0;
    for (; at < end && class_of(at) == PART; at++)
        bits |= (unsigned char)*at;
    token->kind = TOKEN_WORD;
    token->length = (size_t)(at - token->text);
    lexer->at = at;
    if (bits & 0x80)
        check_encoding(lexer, token->text, token->length, token->pos);
}

// A number is one token with its value: worlds are mostly numbers, and reading each of them once is what makes
// loading fast.
void lexer_next(Lexer *lexer, Token *token)
{
    assert_debug(lexer->start <= lexer->at && lexer->at <= lexer->end);
    skip_white(lexer);
    const char *at = lexer->at;
    token->text = at;
    token->length = 0;
    token->has_escapes = false;
    token->pos = lexer_pos(lexer, at);
    if (at >= lexer->end) {
        token->kind = TOKEN_END;
        return;
    }
    switch (*at) {
    case '{': token->kind = TOKEN_BRACE_OPEN; break;
    case '}': token->kind = TOKEN_BRACE_CLOSE; break;
    case '[': token->kind = TOKEN_BRACKET_OPEN; break;
    case ']': token->kind = TOKEN_BRACKET_CLOSE; break;
    case '"': read_string(lexer, token); return;
    default:
        if (starts_number(at, lexer->end)) {
            const char *stop = text_scan_double(at, lexer->end, &token->number);
            if (stop && (stop == lexer->end || class_of(stop) != PART)) {
                token->kind = TOKEN_NUMBER;
                token->length = (size_t)(stop - at);
                lexer->at = stop;
                return;
            }
        }
        read_word(lexer, token);
        return;
    }
    token->length = 1;
    lexer->at = at + 1;
}

bool token_is(const Token *token, const char *word)
{
    return token->kind == TOKEN_WORD && strlen(word) == token->length && !memcmp(token->text, word, token->length);
}

// Length of the UTF-8 sequence at `text`, 0 when it is none.
static size_t sequence_length(const char *text, size_t left)
{
    unsigned char first = (unsigned char)*text;
    size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    return length <= left && text_is_valid_utf8(text, length, NULL) ? length : 0;
}

const char *token_string(const Token *token, Arena *arena)
{
    assert_debug(token->text || token->length == 0);
    bool is_plain = !token->has_escapes && text_is_valid_utf8(token->text, token->length, NULL)
                    && !memchr(token->text, '\0', token->length);
    if (is_plain)
        return arena_text(arena, token->text, token->length);
    char *copy = arena_alloc(arena, token->length + 1);
    size_t length = 0;
    for (size_t i = 0; i < token->length;) {
        char c = token->text[i];
        // A backslash before anything but a quote or another one stands for itself, as in Windows paths.
        if (c == '\\' && token->kind == TOKEN_STRING && i + 1 < token->length) {
            char next = token->text[i + 1];
            if (next == '"' || next == '\\') {
                copy[length++] = next;
                i += 2;
                continue;
            }
        }
        size_t sequence = sequence_length(token->text + i, token->length - i);
        if (sequence && c != '\0') {
            memcpy(copy + length, token->text + i, sequence);
            length += sequence;
            i += sequence;
        } else {
            copy[length++] = c ? '?' : ' ';
            i++;
        }
    }
    return copy;
}
