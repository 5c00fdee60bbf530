#include "formats/yaml/yaml.h"

#include "support/support.h"

static YamlDocument *parse(const char *text, DiagSink *diags)
{
    return yaml_parse("test.yaml", text, strlen(text), NULL, diags);
}

static const YamlNode *at(const YamlDocument *document, const char *key) { return yaml_get(yaml_root(document), key); }

static void values_are_found_with_places(void **state)
{
    (void)state;
    DiagSink *diags = diag_create();
    YamlDocument *document = parse("a: 1.5\nb : [ 1,\t2 ]\nc:\n  - x\n  - { y: yes }\n", diags);
    CHECK(document && diag_count(diags) == 0, "a blank before a colon and a tab in a list are fine");
    double number;
    bool flag;
    CHECK(yaml_double(at(document, "a"), &number) && number == 1.5, "number");
    CHECK(yaml_is_list(at(document, "b")) && at(document, "b")->count == 2 && at(document, "b")->pos.line == 2, "list");
    CHECK(yaml_bool(yaml_get(at(document, "c")->items[1], "y"), &flag) && flag, "bool");
    CHECK(at(document, "c")->items[1]->pos.line == 5 && at(document, "c")->items[1]->pos.column == 5, "place");
    yaml_destroy(document);
    diag_destroy(diags);
}

static void scalars_convert(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool whole, prefix;
        double value;
    } cases[] = {
        { "1.5", true, true, 1.5 },  { "1.5abc", false, true, 1.5 }, { "abc", false, false, 0 },
        { "\"2\"", true, true, 2 },  { "1e400", false, false, 0 },   { ".nan", false, false, 0 },
        { "-.5", true, true, -0.5 }, { "\"\"", false, false, 0 },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        char text[100];
        snprintf(text, sizeof text, "k: %s\n", cases[i].text);
        DiagSink *diags = diag_create();
        YamlDocument *document = parse(text, diags);
        double value = 0.0;
        CHECK(yaml_double(at(document, "k"), &value) == cases[i].whole, cases[i].text);
        CHECK(yaml_double_prefix(at(document, "k"), &value) == cases[i].prefix, cases[i].text);
        CHECK(!cases[i].prefix || value == cases[i].value, cases[i].text);
        yaml_destroy(document);
        diag_destroy(diags);
    }
}

static void merges_fill_what_is_missing(void **state)
{
    (void)state;
    DiagSink *diags = diag_create();
    YamlDocument *document = parse("A: &A { x: 1, y: 1, z: 1 }\nB: &B { y: 2, w: 2 }\n"
                                   "one: { <<: *A, x: 9 }\nlater: { x: 9, <<: *A }\nlist: { <<: [ *B, *A ] }\n",
                                   diags);
    CHECK(document && diag_count(diags) == 0, "merge");
    CHECK(!strcmp(yaml_get(at(document, "one"), "x")->text, "9")
              && !strcmp(yaml_get(at(document, "one"), "z")->text, "1"),
          "explicit wins");
    CHECK(!strcmp(yaml_get(at(document, "later"), "x")->text, "9"), "in any order");
    CHECK(!strcmp(yaml_get(at(document, "list"), "y")->text, "2")
              && !strcmp(yaml_get(at(document, "list"), "z")->text, "1"),
          "earlier wins");
    CHECK(yaml_get(at(document, "one"), "z") == yaml_get(at(document, "A"), "z"), "shared");
    yaml_destroy(document);
    diag_destroy(diags);
}

static void odd_maps_are_read(void **state)
{
    (void)state;
    DiagSink *diags = diag_create();
    YamlDocument *document = parse("a: 1\na: 2\nb: &X 1\nc: &X 2\nd: *X\n? [ 1 ]\n: 2\n<<: 3\n", diags);
    CHECK(document != NULL, "read");
    CHECK(!strcmp(at(document, "a")->text, "2"), "the last of equal keys");
    CHECK(!strcmp(at(document, "d")->text, "2"), "the last of equal anchors");
    CHECK(diag_total(diags, DIAG_WARNING) == 3 && diag_total(diags, DIAG_ERROR) == 1, "said");
    yaml_destroy(document);
    diag_destroy(diags);
}

static void large_maps_have_an_index(void **state)
{
    (void)state;
    Text text = { 0 };
    for (int i = 0; i < 50000; i++)
        text_printf(&text, "key%d: %d\n", i, i);
    DiagSink *diags = diag_create();
    YamlDocument *document = parse(text.data, diags);
    CHECK(document && !strcmp(at(document, "key49999")->text, "49999") && !at(document, "key50000"), "index");
    yaml_destroy(document);
    diag_destroy(diags);
    text_free(&text);
}

// One clear error each, at once.
static void bombs_are_refused(void **state)
{
    (void)state;
    Text bomb = { 0 }, deep = { 0 }, block = { 0 };
    text_add_string(&bomb, "a: &a [ x, x, x, x, x, x, x, x, x ]\n");
    for (char c = 'b'; c <= 'j'; c++) {
        text_printf(&bomb, "%c: &%c [ ", c, c);
        for (int i = 0; i < 9; i++)
            text_printf(&bomb, "%s*%c", i ? ", " : "", c - 1);
        text_add_string(&bomb, " ]\n");
    }
    for (int i = 0; i < 5000; i++)
        text_add_char(&deep, '[');
    for (int i = 0; i < 5000; i++)
        text_add_string(&block, "{ k: ");
    const struct {
        const char *text, *message;
    } cases[] = {
        { bomb.data, "aliases stand for more than" },
        { deep.data, "nested deeper" },
        { block.data, "nested deeper" },
        { "&a [ *a ]", "cannot contain itself" },
        { "&a { x: *a }", "cannot contain itself" },
        { "k: &a { x: &b { y: [ 1, *a ] } }", "cannot contain itself" },
        { "k: *nothing", "no anchor" },
        { "k: [ 1, 2", "not YAML" },
        { "k: 'x", "not YAML" },
        { "\tk: 1\n a: 2", "not YAML" },
        { "k: \x01", "not YAML" },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        DiagSink *diags = diag_create();
        YamlDocument *document = parse(cases[i].text, diags);
        CHECK(diag_total(diags, DIAG_ERROR) == 1, cases[i].message);
        CHECK(strstr(diag_at(diags, 0)->message, cases[i].message), diag_at(diags, 0)->message);
        CHECK(diag_at(diags, 0)->pos.line > 0, cases[i].message);
        yaml_destroy(document);
        diag_destroy(diags);
    }
    text_free(&bomb);
    text_free(&deep);
    text_free(&block);
}

static void limits_hold_to_the_last(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t nesting, yaml_nodes;
        bool is_fine;
    } cases[] = {
        { "[[[[1]]]]", 4, 100, true },
        { "[[[[1]]]]", 3, 100, false },
        { "a: &a [ 1, 2 ]\nb: *a\nc: *a\n", 100, 6, true },
        { "a: &a [ 1, 2 ]\nb: *a\nc: *a\n", 100, 5, false },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        Limits limits = limits_default;
        limits.nesting = cases[i].nesting;
        limits.yaml_nodes = cases[i].yaml_nodes;
        DiagSink *diags = diag_create();
        YamlDocument *document = yaml_parse("t", cases[i].text, strlen(cases[i].text),
                                            &(YamlOptions){ .limits = &limits }, diags);
        CHECK((document != NULL) == cases[i].is_fine, cases[i].text);
        yaml_destroy(document);
        diag_destroy(diags);
    }
}

static void bytes_that_are_no_text_are_mended(void **state)
{
    (void)state;
    DiagSink *diags = diag_create();
    YamlDocument *document = parse("# \x83\x65\na: b\xff"
                                   "c\n",
                                   diags);
    CHECK(document && !strcmp(at(document, "a")->text, "b?c"), "mended");
    CHECK(diag_total(diags, DIAG_WARNING) == 1, "said once");
    yaml_destroy(document);
    diag_destroy(diags);
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    static const char *const texts[] = { "plain",       "with: colon", "- dash", "",    " blank", "a#b", "\"quote\"",
                                         "line\nbreak", "-1.5",        "yes",    "[x]", "x:",     "*a" };
    for (int i = 0; i < COUNT_OF(texts); i++) {
        Text text = { 0 };
        text_add_string(&text, "k: [ ");
        yaml_write_scalar(&text, texts[i]);
        text_add_string(&text, " ]\n");
        DiagSink *diags = diag_create();
        YamlDocument *document = parse(text.data, diags);
        CHECK(document && !strcmp(at(document, "k")->items[0]->text, texts[i]), text.data);
        yaml_destroy(document);
        diag_destroy(diags);
        text_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_found_with_places), cmocka_unit_test(scalars_convert),
        cmocka_unit_test(merges_fill_what_is_missing),  cmocka_unit_test(odd_maps_are_read),
        cmocka_unit_test(large_maps_have_an_index),     cmocka_unit_test(bombs_are_refused),
        cmocka_unit_test(limits_hold_to_the_last),      cmocka_unit_test(bytes_that_are_no_text_are_mended),
        cmocka_unit_test(what_is_written_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
