#include "formats/formats_internal.h"
#include "support/support.h"

// One letter per token: w word, n number, s string, and the brackets themselves.
static void spell(const char *text, size_t size, char *kinds, size_t room, DiagSink *diags)
{
    static const char letters[] = ".wns{}[]";
    Lexer lexer;
    Token token;
    lexer_init(&lexer, text, size, diag_file(diags, "t"), diags);
    size_t count = 0;
    for (lexer_next(&lexer, &token); token.kind != TOKEN_END && count + 1 < room; lexer_next(&lexer, &token))
        kinds[count++] = letters[token.kind];
    kinds[count] = '\0';
}

static void test_kinds(void **state)
{
    (void)state;
    static const struct {
        const char *text, *kinds;
        int messages;
    } cases[] = {
        { "", "", 0 },
        { "Solid { translation 0 1 2 }", "w{wnnn}", 0 },
        { "a,b , c", "www", 0 },
        { "[1,2,3]", "[nnn]", 0 },
        { "[1 ,2\t3\r\n4]", "[nnnn]", 0 },
        { "+.5 -.5 5. -1e-05 1E+3 0", "nnnnnn", 0 },
        { "1e 1.2.3 -x + - . 0x1f", "wwwwwww", 0 },
        { "nan inf -inf", "www", 0 },
        { "E-puck{}BB-8{}", "w{}w{}", 0 },
        { "a#b\nc", "ww", 0 },
        { "# only a comment", "", 0 },
        { "\"a # b\" c", "sw", 0 },
        { "\"two\nlines\" x", "sw", 0 },
        { "\"quote \\\" inside\" x", "sw", 0 },
        { "\"ends with \\\\\" x", "sw", 0 },
        { "name \"open\nchildren [ ]", "wsw[]", 1 },
        { "\xef\xbb\xbf"
          "Solid",
          "w", 0 },
        { "\"gr\xc3\xbc\xc3\x9f\"", "s", 0 },
        { "\"bad \xff\" \"again \xfe\"", "ss", 1 },
        { "a \x01 b", "ww", 1 },
        { "}{][", "}{][", 0 },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        DiagSink *diags = diag_create();
        char kinds[64];
        spell(cases[i].text, strlen(cases[i].text), kinds, sizeof kinds, diags);
        CHECK(!strcmp(kinds, cases[i].kinds), cases[i].text);
        CHECK(diag_count(diags) == cases[i].messages, cases[i].text);
        diag_destroy(diags);
    }
    DiagSink *diags = diag_create();
    char kinds[64];
    spell("a\0b", 3, kinds, sizeof kinds, diags);
    assert_string_equal(kinds, "ww");
    diag_destroy(diags);
}

static void test_places(void **state)
{
    (void)state;
    static const char text[] = "a\r\n  bb \"x\ny\" c\n\n# z\n\td";
    static const struct {
        unsigned line, column;
    } places[] = { { 1, 1 }, { 2, 3 }, { 2, 6 }, { 3, 4 }, { 6, 2 } };
    DiagSink *diags = diag_create();
    Lexer lexer;
    Token token;
    lexer_init(&lexer, text, strlen(text), diag_file(diags, "t"), diags);
    for (int i = 0; i < COUNT_OF(places); i++) {
        lexer_next(&lexer, &token);
        assert_int_equal(token.pos.line, places[i].line);
        assert_int_equal(token.pos.column, places[i].column);
    }
    diag_destroy(diags);
}

static void test_line_map(void **state)
{
    (void)state;
    static const uint32_t map[] = { 10, 20 };
    DiagSink *diags = diag_create();
    Lexer lexer;
    Token token;
    lexer_init(&lexer, "a\nb\nc", 5, diag_file(diags, "t"), diags);
    lexer.line_map = map;
    lexer.line_map_count = 2;
    static const unsigned lines[] = { 10, 20, 20 };
    for (int i = 0; i < COUNT_OF(lines); i++) {
        lexer_next(&lexer, &token);
        assert_int_equal(token.pos.line, lines[i]);
    }
    diag_destroy(diags);
}

static void test_strings(void **state)
{
    (void)state;
    static const struct {
        const char *text, *value;
    } cases[] = {
        { "\"\"", "" },
        { "\"plain\"", "plain" },
        { "\"a \\\"b\\\" c\"", "a \"b\" c" },
        { "\"C:\\\\Users\"", "C:\\Users" },
        { "\"C:\\Users\\new\"", "C:\\Users\\new" },
        { "\"gr\xc3\xbc\xc3\x9f\"", "gr\xc3\xbc\xc3\x9f" },
        { "\"bad \xff!\"", "bad ?!" },
        { "\"cut \xc3\"", "cut ?" },
    };
    Arena *arena = arena_create();
    for (int i = 0; i < COUNT_OF(cases); i++) {
        DiagSink *diags = diag_create();
        Lexer lexer;
        Token token;
        lexer_init(&lexer, cases[i].text, strlen(cases[i].text), 0, diags);
        lexer_next(&lexer, &token);
        CHECK(!strcmp(token_string(&token, arena), cases[i].value), cases[i].text);
        diag_destroy(diags);
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_line_map),
        cmocka_unit_test(test_strings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
