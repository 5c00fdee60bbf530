// template_compile.c - a PROTO body with template blocks becomes a script.
//
// Text between blocks turns into calls talus_text(i), `%<= e >%` into talus_value(e), code is copied. Every piece ends
// its line, so that a comment at the end of a block hides nothing and each generated line has exactly one line of the
// PROTO file. A '#' outside blocks and strings starts a VRML comment, and template tokens in a comment do not count;
// inside a block '#' belongs to the code.
//
// JavaScript: JavaScriptCore's C interface evaluates scripts, not modules, so import statements become constants bound
// to talus_import(). Lua: templates were written for Lua 5.1 and 5.2, where every number is a double that prints
// without
// ".0"; whole literals become floats here and `..` goes through an operand that prints numbers the old way.
#include "formats/template/template.h"

#include "base/memory.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct Tokens {
    const char *open, *close;
} Tokens;

static Tokens language_tokens(TemplateLanguage language)
{
    return language == TEMPLATE_LUA ? (Tokens){ "%{", "}%" } : (Tokens){ "%<", ">%" };
}

static bool starts_with(const char *at, const char *end, const char *token)
{
    return (size_t)(end - at) >= strlen(token) && !memcmp(at, token, strlen(token));
}

static const char *find(const char *at, const char *end, const char *token)
{
    return memmem(at, (size_t)(end - at), token, strlen(token));
}

// Where the next block opens, or `end`. Text on the way, without comments, goes to `text` when it is not NULL.
static const char *skip_text(const char *at, const char *end, const char *open, bool *in_string, Text *text)
{
    assert_debug(at <= end && *open);
    const char *run = at;
    while (at < end && !starts_with(at, end, open)) {
        if (*at == '#' && !*in_string) {
            if (text)
                text_add(text, run, (size_t)(at - run));
            const char *eol = memchr(at, '\n', (size_t)(end - at));
            run = at = eol ? eol : end;
            continue;
        }
        if (*at == '"')
            *in_string = !*in_string;
        if (*at == '\n')
            *in_string = false;  // a stray quote must not turn the comments of the whole file into text
        at += *at == '\\' && *in_string && at + 1 < end ? 2 : 1;
    }
    if (text)
        text_add(text, run, (size_t)(at - run));
    return at;
}

bool template_is_used(const char *text, size_t size, TemplateLanguage language)
{
    Tokens tokens = language_tokens(language);
    bool in_string = false;
    return skip_text(text, text + size, tokens.open, &in_string, NULL) < text + size;
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$'; }

static bool code_uses_field(const char *at, const char *end, const char *name, bool *any)
{
    assert_debug(at <= end && *name);
    bool found = false;
    size_t length = strlen(name);
    const char *start = at;
    while ((at = find(at, end, "fields"))) {
        bool own_word = at == start || !(is_word(at[-1]) || at[-1] == '.');
        const char *after = at + 6;
        at = after;
        if (!own_word || (after < end && is_word(*after)))
            continue;
        if (after < end && *after == '.') {
            after++;
            found = found
                    || ((size_t)(end - after) >= length && !memcmp(after, name, length)
                        && ((size_t)(end - after) == length || !is_word(after[length])));
        } else {
            *any = true;
        }
    }
    return found;
}

bool template_uses_field(const char *text, size_t size, TemplateLanguage language, const char *name, bool *any)
{
    assert_debug(any && (text || size == 0));
    Tokens tokens = language_tokens(language);
    const char *end = text + size, *at = text;
    bool in_string = false, found = false;
    *any = false;
    while ((at = skip_text(at, end, tokens.open, &in_string, NULL)) < end) {
        const char *close = find(at + 2, end, tokens.close);
        close = close ? close : end;
        found = code_uses_field(at + 2, close, name, any) || found;
        at = close < end ? close + 2 : end;
    }
    return found;
}

bool template_asks_for_value(const char *text, size_t size)
{
    const char *at = text, *end = text + size;
    while ((at = find(at, end, "fields."))) {
        at += strlen("fields.");
        while (at < end && is_word(*at))
            at++;
        if (starts_with(at, end, ".value") || starts_with(at, end, ".defaultValue"))
            return true;
    }
    return false;
}

static void mark_line(TemplateScript *script, int line)
{
    assert_debug(line >= 0);
    *memory_push(script->line_of, script->line_count, script->line_capacity) = line;
}

static void end_line(TemplateScript *script, int line)
{
    text_add_char(&script->code, '\n');
    mark_line(script, line);
}

static void add_piece(TemplateScript *script, size_t begin, int line)
{
    assert_debug(begin <= script->pieces_text.length);
    size_t length = script->pieces_text.length - begin;
    if (length == 0)
        return;
    memory_grow(&script->pieces, &script->piece_capacity, script->piece_count + 1, sizeof *script->pieces);
    script->pieces[script->piece_count] = (TemplatePiece){ (uint32_t)begin, (uint32_t)length, line };
    text_printf(&script->code, "talus_text(%d);", script->piece_count++);
}

// Copies one character of code, keeping the line table.
static void add_code(TemplateScript *script, const char *code, size_t length, int *line)
{
    for (size_t i = 0; i < length; i++) {
        if (code[i] == '\n')
            end_line(script, ++*line);
        else if (code[i] != '\r')
            text_add_char(&script->code, code[i]);
    }
}

// JavaScript

// End of the string, template literal, comment that starts at `at`, or `at` when none does.
static const char *js_skip_literal(const char *at, const char *end)
{
    assert_debug(at < end);
    if (*at == '\'' || *at == '"' || *at == '`') {
        char quote = *at++;
        while (at < end && *at != quote && (quote == '`' || *at != '\n'))
            at += *at == '\\' && at + 1 < end ? 2 : 1;
        return at < end ? at + 1 : end;
    }
    if (starts_with(at, end, "//")) {
        const char *eol = memchr(at, '\n', (size_t)(end - at));
        return eol ? eol : end;
    }
    if (starts_with(at, end, "/*")) {
        const char *close = find(at + 2, end, "*/");
        return close ? close + 2 : end;
    }
    return at;
}

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && isspace((unsigned char)*at))
        at++;
    return at;
}

static const char *skip_word(const char *at, const char *end)
{
    while (at < end && is_word(*at))
        at++;
    return at;
}

// The clause of an import statement as a binding pattern: "* as a" -> a, "{a, b as c}" -> {a, b: c}, "d" -> {default:
// d}.
static void js_add_binding(Text *out, const char *at, const char *end)
{
    at = skip_space(at, end);
    if (at < end && *at == '*') {
        const char *as = find(at, end, "as");
        const char *name = as ? skip_space(as + 2, end) : end;
        text_add(out, name, (size_t)(skip_word(name, end) - name));
        return;
    }
    bool named = memchr(at, '{', (size_t)(end - at)) != NULL;
    text_add_char(out, '{');
    if (!named)
        text_add_string(out, "default: ");
    while (at < end) {
        const char *word_end = skip_word(at, end);
        if (word_end == at) {
            if (*at == ',' || *at == ' ')
                text_add_char(out, *at);
            at++;
        } else if (word_end - at == 2 && !memcmp(at, "as", 2)) {
            text_add_char(out, ':');
            at = word_end;
        } else {
            text_add(out, at, (size_t)(word_end - at));
            at = word_end;
        }
    }
    text_add_char(out, '}');
}

// Turns `import CLAUSE from 'module'` at `at` into a constant. Returns the end of the statement, or `at` if it is none.
static const char *js_add_import(TemplateScript *script, const char *at, const char *end, int *line)
{
    assert_debug(at + 6 <= end && !strncmp(at, "import", 6));
    const char *clause = at + 6;
    const char *quote = clause;
    while (quote < end && *quote != '\'' && *quote != '"' && *quote != ';' && *quote != '(' && *quote != '`')
        quote++;
    if (quote >= end || (*quote != '\'' && *quote != '"'))
        return at;
    const char *close = memchr(quote + 1, *quote, (size_t)(end - quote - 1));
    if (!close || memchr(quote, '\n', (size_t)(close - quote)))
        return at;
    const char *clause_end = quote;
    while (clause_end > clause && isspace((unsigned char)clause_end[-1]))
        clause_end--;
    bool binds = clause_end - clause >= 4 && !memcmp(clause_end - 4, "from", 4);
    if (!binds && clause_end > clause)
        return at;
    if (binds) {
        text_add_string(&script->code, "const ");
        js_add_binding(&script->code, clause, clause_end - 4);
        text_add_string(&script->code, " = ");
    }
    text_add_string(&script->code, "talus_import(");
    text_add(&script->code, quote, (size_t)(close + 1 - quote));
    text_add_string(&script->code, ")");
    for (const char *c = at; c < close; c++)
        if (*c == '\n')
            end_line(script, ++*line);
    return close + 1;
}

static void js_add_code(TemplateScript *script, const char *at, const char *end, int *line)
{
    assert_debug(at <= end);
    const char *begin = at;
    while (at < end) {
        const char *next = js_skip_literal(at, end);
        if (next == at && is_word(*at)) {
            next = skip_word(at, end);
            bool is_import = next - at == 6 && !memcmp(at, "import", 6) && (at == begin || at[-1] != '.');
            if (is_import) {
                const char *after = js_add_import(script, at, end, line);
                if (after > at) {
                    at = after;
                    continue;
                }
            }
        }
        if (next == at)
            next++;
        add_code(script, at, (size_t)(next - at), line);
        at = next;
    }
}

// Lua

// Length of a long bracket "[==[" at `at`, 0 when there is none; `level` is its number of '='.
static size_t lua_long_bracket(const char *at, const char *end, size_t *level)
{
    const char *c = at + 1;
    while (c < end && *c == '=')
        c++;
    *level = (size_t)(c - at - 1);
    return *at == '[' && c < end && *c == '[' ? *level + 2 : 0;
}

static const char *lua_long_end(const char *at, const char *end, size_t level)
{
    for (; at < end; at++) {
        if (*at != ']' || (size_t)(end - at) < level + 2)
            continue;
        size_t i = 0;
        while (i < level && at[1 + i] == '=')
            i++;
        if (i == level && at[1 + level] == ']')
            return at + level + 2;
    }
    return end;
}

static const char *lua_skip_literal(const char *at, const char *end)
{
    assert_debug(at < end);
    size_t level;
    if (starts_with(at, end, "--")) {
        size_t open = at + 2 < end ? lua_long_bracket(at + 2, end, &level) : 0;
        if (open)
            return lua_long_end(at + 2 + open, end, level);
        const char *eol = memchr(at, '\n', (size_t)(end - at));
        return eol ? eol : end;
    }
    if (*at == '\'' || *at == '"') {
        char quote = *at++;
        while (at < end && *at != quote && *at != '\n')
            at += *at == '\\' && at + 1 < end ? 2 : 1;
        return at < end ? at + 1 : end;
    }
    if (*at == '[') {
        size_t open = lua_long_bracket(at, end, &level);
        if (open)
            return lua_long_end(at + open, end, level);
    }
    return at;
}

// A numeral; *whole tells whether it is decimal digits alone.
static const char *lua_skip_number(const char *at, const char *end, bool *whole)
{
    const char *begin = at;
    bool hexadecimal = starts_with(at, end, "0x") || starts_with(at, end, "0X");
    *whole = !hexadecimal;
    while (at < end) {
        if (starts_with(at, end, ".."))
            break;  // 1..2 is an error in Lua, "1 ..x" a concatenation; leave the dots to it
        bool exponent = !hexadecimal && (*at == 'e' || *at == 'E');
        if (!isalnum((unsigned char)*at) && *at != '.')
            break;
        if (!isdigit((unsigned char)*at))
            *whole = false;
        at++;
        if (exponent && at < end && (*at == '+' || *at == '-'))
            at++;
    }
    return at > begin ? at : begin + 1;
}

// A numeral may begin with its point, ".5", but for the dots of a concatenation.
static bool lua_is_number(const char *at, const char *end)
{
    return isdigit((unsigned char)*at) || (*at == '.' && at + 1 < end && isdigit((unsigned char)at[1]));
}

// A line of the oldest templates whose first character is '#', from that on.
static bool is_old_comment(const char *begin, const char *at)
{
    if (*at != '#')
        return false;
    while (at > begin && (at[-1] == ' ' || at[-1] == '\t'))
        at--;
    return at == begin || at[-1] == '\n';
}

// Lua 5.1 had one kind of number: 3 / 2 and 1 .. 2 mean other things in 5.4, so whole numbers get a point and joins
// a shim. Strings and comments stay as they are.
static void lua_add_code(TemplateScript *script, const char *at, const char *end, bool is_old, int *line)
{
    assert_debug(at <= end);
    const char *begin = at;
    while (at < end) {
        const char *next = lua_skip_literal(at, end);
        if (is_old && is_old_comment(begin, at)) {
            const char *eol = memchr(at, '\n', (size_t)(end - at));
            at = eol ? eol : end;
            continue;
        }
        if (next == at && lua_is_number(at, end)) {
            bool whole;
            next = lua_skip_number(at, end, &whole);
            add_code(script, at, (size_t)(next - at), line);
            if (whole)
                text_add_string(&script->code, ".0");
            at = next;
            continue;
        }
        if (next == at && is_word(*at)) {
            next = skip_word(at, end);
        } else if (next == at && starts_with(at, end, "...")) {
            next = at + 3;
        } else if (next == at && starts_with(at, end, "..")) {
            text_add_string(&script->code, " .. talus_join .. ");
            at += 2;
            continue;
        }
        if (next == at)
            next++;
        add_code(script, at, (size_t)(next - at), line);
        at = next;
    }
}

static void add_language_code(TemplateScript *script, const TemplateJob *job, const char *at, const char *end,
                              int *line)
{
    if (job->language == TEMPLATE_LUA)
        lua_add_code(script, at, end, job->has_old_fields, line);
    else
        js_add_code(script, at, end, line);
}

static void add_block(TemplateScript *script, const TemplateJob *job, const char *at, const char *end, int *line)
{
    assert_debug(at <= end);
    if (at == end || *at != '=') {
        add_language_code(script, job, at, end, line);
        end_line(script, *line);
        return;
    }
    at++;
    while (end > at && (isspace((unsigned char)end[-1]) || end[-1] == ';'))
        end--;
    int first = *line;
    text_add_string(&script->code, "talus_value((");
    add_language_code(script, job, at, end, line);
    end_line(script, *line);
    text_printf(&script->code, "), %d);", first);
    end_line(script, *line);
}

static int count_lines(const char *at, const char *end)
{
    int lines = 0;
    while (at < end && (at = memchr(at, '\n', (size_t)(end - at)))) {
        lines++;
        at++;
    }
    return lines;
}

// Text between blocks becomes calls with a number, not strings: it needs no quoting, and each line of the script
// keeps the line of the file that it came from.
bool template_compile(const TemplateJob *job, TemplateScript *script, DiagSink *diags)
{
    Tokens tokens = language_tokens(job->language);
    const char *at = job->text, *end = job->text + job->size;
    int line = (int)job->pos.line;
    bool in_string = false;
    *script = (TemplateScript){ 0 };
    mark_line(script, line);
    while (at < end) {
        size_t begin = script->pieces_text.length;
        const char *open = skip_text(at, end, tokens.open, &in_string, &script->pieces_text);
        add_piece(script, begin, line);
        line += count_lines(at, open);
        end_line(script, line);
        if (open == end)
            break;
        const char *close = find(open + 2, end, tokens.close);
        if (!close) {
            SourcePos pos = { job->pos.file, 0, (uint32_t)line };
            diag_error(diags, pos, "template block '%s' is not closed by '%s'", tokens.open, tokens.close);
            return false;
        }
        int lines_before = line;
        add_block(script, job, open + 2, close, &line);
        line = lines_before + count_lines(open, close);
        at = close + 2;
    }
    return true;
}

void template_script_free(TemplateScript *script)
{
    text_free(&script->code);
    text_free(&script->pieces_text);
    free(script->line_of);
    free(script->pieces);
    *script = (TemplateScript){ 0 };
}

int template_script_line(const TemplateScript *script, int generated_line)
{
    if (generated_line < 1 || script->line_count == 0)
        return 0;
    return script->line_of[int_min(generated_line, script->line_count) - 1];
}
