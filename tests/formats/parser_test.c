// Small texts of every kind of right and wrong, what is said about them, and what is left of them when saved.
#include "base/file.h"
#include "formats/formats.h"
#include "support/support.h"

#define HEADER "#VRML_SIM R2025a utf8\n"

static const FormatsOptions reader_alone = { .without_upgrade = true };

static Scene *load(const char *name, const char *text, DiagSink *diags)
{
    return formats_load_text(name, text, strlen(text), &reader_alone, diags);
}

// The saved text without its first two lines.
static char *saved(const Scene *scene)
{
    Text text = { 0 };
    formats_write(scene, &text);
    char *copy = strdup(strstr(text.data, "\n\n") + 2);
    text_free(&text);
    return copy;
}

// Whether some message of the severity at this line:column (0: anywhere) holds the fragment.
static bool says(const DiagSink *diags, DiagSeverity severity, unsigned line, unsigned column, const char *fragment)
{
    for (int i = 0; i < diag_count(diags); i++) {
        const Diagnostic *item = diag_at(diags, i);
        if (item->severity == severity && (!line || item->pos.line == line) && (!column || item->pos.column == column)
            && strstr(item->message, fragment))
            return true;
    }
    return false;
}

static void print_all(const DiagSink *diags) { diag_print(diags, stdout, 0, DIAG_NOTE); }

typedef struct Case {
    const char *name;
    const char *text;       // after the header line
    const char *saved;      // NULL: not looked at
    DiagSeverity severity;  // of the message
    unsigned line, column;
    const char *message;  // NULL: nothing is said at all
} Case;

static void run_cases(const Case *cases, int count)
{
    for (int i = 0; i < count; i++) {
        const Case *row = &cases[i];
        char *text = malloc(strlen(HEADER) + strlen(row->text) + 1);
        strcpy(text, HEADER);
        strcat(text, row->text);
        DiagSink *diags = diag_create();
        Scene *scene = load("t.wbo", text, diags);
        CHECK(scene, row->name);
        char *again = saved(scene);
        if ((row->saved && strcmp(again, row->saved))
            || (row->message && !says(diags, row->severity, row->line, row->column, row->message))
            || (!row->message && diag_count(diags))) {
            printf("%s: saved\n%s\nbut wanted\n%s\nmessages:\n", row->name, again,
                   row->saved ? row->saved : "(anything)");
            print_all(diags);
        }
        if (row->saved)
            CHECK(!strcmp(again, row->saved), row->name);
        if (row->message)
            CHECK(says(diags, row->severity, row->line, row->column, row->message), row->name);
        else
            CHECK(diag_count(diags) == 0, row->name);
        free(again);
        free(text);
        scene_destroy(scene);
        diag_destroy(diags);
    }
}

static void test_right(void **state)
{
    (void)state;
    static const Case cases[] = {
        { "empty", "", "", 0, 0, 0, NULL },
        { "empty node", "Solid{}", "Solid {\n}\n", 0, 0, 0, NULL },
        { "default is left out", "Solid { translation 0 0 0 name \"solid\" children [] }", "Solid {\n}\n", 0, 0, 0,
          NULL },
        { "values", "Solid { translation 1 -2.5 1e-05 rotation 0 1 0 0.5 name \"a\" locked TRUE }",
          "Solid {\n  translation 1 -2.5 1e-05\n  rotation 0 1 0 0.5\n  name \"a\"\n  locked TRUE\n}\n", 0, 0, 0,
          NULL },
        { "white space", "Solid\t{\r\n,translation,1,,2\t3\r\n}", "Solid {\n  translation 1 2 3\n}\n", 0, 0, 0, NULL },
        { "numbers", "Solid { translation +.5 5. -.25E+1 }", "Solid {\n  translation 0.5 5 -2.5\n}\n", 0, 0, 0, NULL },
        { "hexadecimal", "Camera { width 0x20 }", "Camera {\n  width 32\n}\n", 0, 0, 0, NULL },
        { "list without brackets", "Solid { children Shape { } recognitionColors 1 0 0 }",
          "Solid {\n  children [\n    Shape {\n    }\n  ]\n  recognitionColors [\n    1 0 0\n  ]\n}\n", 0, 0, 0, NULL },
        { "string list", "WorldInfo { info [ \"a\" \"b\\\"c\" ] }",
          "WorldInfo {\n  info [\n    \"a\"\n    \"b\\\"c\"\n  ]\n}\n", 0, 0, 0, NULL },
        { "int list", "IndexedFaceSet { coordIndex [ 0, 1, 2, -1 ] }",
          "IndexedFaceSet {\n  coordIndex [\n    0 1 2 -1\n  ]\n}\n", 0, 0, 0, NULL },
        { "empty list that is not default", "DistanceSensor { lookupTable [ ] }",
          "DistanceSensor {\n  lookupTable [ ]\n}\n", 0, 0, 0, NULL },
        { "NULL", "Solid { boundingObject NULL }", "Solid {\n}\n", 0, 0, 0, NULL },
        { "DEF and USE", "Solid { children [ DEF S Shape { geometry Box { } } ] boundingObject USE S }",
          "Solid {\n  children [\n    DEF S Shape {\n      geometry Box {\n      }\n    }\n  ]\n  boundingObject USE S\n}\n",
          0, 0, 0, NULL },
        { "comments", "# one\nSolid { # two\n  name \"a\" # three\n  # four\n} # five",
          "# one\nSolid {\n  # two\n  name \"a\"\n  # three\n  # four\n}\n# five\n", 0, 0, 0, NULL },
        { "comment in a list", "Group { children [\n # a \"quoted\" one\n Solid { } # after\n ] }",
          "Group {\n  children [\n    # a \"quoted\" one\n    Solid {\n    }\n  ]\n  # after\n}\n", 0, 0, 0, NULL },
        { "comment before a default", "Solid {\n  # why\n  name \"solid\"\n}", "Solid {\n  # why\n}\n", 0, 0, 0, NULL },
        { "declarations", "# note\nEXTERNPROTO \"a/B.proto\"\nIMPORTABLE EXTERNPROTO \"C.proto\"\nSolid { }",
          "# note\nEXTERNPROTO \"a/B.proto\"\nIMPORTABLE EXTERNPROTO \"C.proto\"\n\nSolid {\n}\n", 0, 0, 0, NULL },
        { "hidden velocity", "Solid { linearVelocity 1 0 0 }", "Solid {\n  linearVelocity 1 0 0\n}\n", 0, 0, 0, NULL },
        { "UTF-8",
          "DEF GR\xc3\x9c\xc3\x9f"
          "E Solid { name \"\xe6\x9c\xba\xe5\x99\xa8\" }",
          "DEF GR\xc3\x9c\xc3\x9f"
          "E Solid {\n  name \"\xe6\x9c\xba\xe5\x99\xa8\"\n}\n",
          0, 0, 0, NULL },
        { "numbers keep their value", "Solid { translation 0.1 1.7976931348623157e+08 -0.30000000000000004 }",
          "Solid {\n  translation 0.1 179769313.48623157 -0.30000000000000004\n}\n", 0, 0, 0, NULL },
    };
    run_cases(cases, COUNT_OF(cases));
}

static void test_wrong_syntax(void **state)
{
    (void)state;
    static const Case cases[] = {
        { "empty_value", "Solid {\n  translation\n  name \"a\"\n}", "Solid {\n  name \"a\"\n}\n", DIAG_ERROR, 4, 3,
          "wants 3 numbers" },
        { "missing_closing_curly_bracket", "Solid {\n  name \"a\"\n", "Solid {\n  name \"a\"\n}\n", DIAG_ERROR, 4, 1,
          "ends inside" },
        { "missing_closing_square_bracket", "Solid {\n  children [\n    Shape { }\n  name \"a\"\n}",
          "Solid {\n  children [\n    Shape {\n    }\n  ]\n  name \"a\"\n}\n", DIAG_ERROR, 5, 3,
          "expected a node, found 'name'" },
        { "missing bracket of numbers", "IndexedFaceSet {\n  coordIndex [ 0 1 2 -1\n  ccw FALSE\n}",
          "IndexedFaceSet {\n  ccw FALSE\n}\n", DIAG_ERROR, 4, 3, "found 'ccw'" },
        { "supplementary_curly_bracket", "Solid { } }\nGroup { }", "Solid {\n}\nGroup {\n}\n", DIAG_ERROR, 2, 11,
          "found '}'" },
        { "supplementary_square_bracket", "Solid { children [ ] ] name \"a\" }", "Solid {\n  name \"a\"\n}\n",
          DIAG_ERROR, 2, 22, "found ']'" },
        { "missing_item_in_value", "Solid { translation 1 2\n name \"a\" }", "Solid {\n  name \"a\"\n}\n", DIAG_ERROR,
          3, 2, "found only 2" },
        { "supplementary_item_in_value", "Solid { translation 1 2 3 4 name \"a\" }",
          "Solid {\n  translation 1 2 3\n  name \"a\"\n}\n", DIAG_ERROR, 2, 27, "found '4'" },
        { "missing_def_value", "DEF Solid { name \"a\" }", "Solid {\n  name \"a\"\n}\n", DIAG_ERROR, 2, 1,
          "DEF has no name" },
        { "missing_use_value", "Solid { boundingObject USE }", "Solid {\n}\n", DIAG_ERROR, 2, 28, "a name after USE" },
        { "node_without_brackets", "Shape { geometry Box castShadows FALSE }",
          "Shape {\n  geometry Box {\n  }\n  castShadows FALSE\n}\n", DIAG_ERROR, 2, 22, "expected '{'" },
        { "mismatch_field_type", "Solid { name 5 locked TRUE }", "Solid {\n  locked TRUE\n}\n", DIAG_ERROR, 2, 14,
          "name wants a string" },
        { "string for numbers", "Solid { translation \"1 2 3\" locked TRUE }", "Solid {\n  locked TRUE\n}\n",
          DIAG_ERROR, 2, 21, "wants 3 numbers" },
        { "number for a bool", "Solid { locked 1 name \"a\" }", "Solid {\n  name \"a\"\n}\n", DIAG_ERROR, 2, 16,
          "TRUE or FALSE" },
        { "number for a node", "Shape { geometry 5 castShadows FALSE }", "Shape {\n  castShadows FALSE\n}\n",
          DIAG_ERROR, 2, 18, "wants a node" },
        { "list for a single value", "Solid { translation [ 1 2 3 ] name \"a\" }", "Solid {\n  name \"a\"\n}\n",
          DIAG_ERROR, 2, 21, "wants 3 numbers" },
        { "incomplete vector in a list", "Coordinate { point [ 1 2 3 4 ] }",
          "Coordinate {\n  point [\n    1 2 3\n  ]\n}\n", DIAG_ERROR, 2, 22, "no multiple of 3" },
        { "word in a list", "Coordinate { point [ 1 2 x ] }", "Coordinate {\n}\n", DIAG_ERROR, 2, 26, "found 'x'" },
        { "two mistakes, first", "Solid { locked 1 }\nSolid { locked 2 }", NULL, DIAG_ERROR, 2, 16, "TRUE or FALSE" },
        { "two mistakes, second", "Solid { locked 1 }\nSolid { locked 2 }", NULL, DIAG_ERROR, 3, 16, "TRUE or FALSE" },
        { "open string", "Solid { name \"a\n}\nGroup { }", "Solid {\n  name \"a\"\n}\nGroup {\n}\n", DIAG_ERROR, 2, 14,
          "no closing" },
        { "node among fields", "Solid { Shape { } name \"a\" }", "Solid {\n  name \"a\"\n}\n", DIAG_ERROR, 2, 9,
          "found the node 'Shape'" },
        { "IS in a world", "Solid { name IS x locked TRUE }", "Solid {\n  locked TRUE\n}\n", DIAG_ERROR, 2, 14,
          "only the body of a PROTO" },
        { "number at the top", "5 Solid { }", "Solid {\n}\n", DIAG_ERROR, 2, 1, "expected a node, found '5'" },
        { "word at the top", "x Solid { }", "Solid {\n}\n", DIAG_ERROR, 2, 1, "expected a node, found 'x'" },
        { "ROUTE in a world", "ROUTE a.b TO c.d Solid { }", "Solid {\n}\n", DIAG_ERROR, 2, 1,
          "cannot stand in a world" },
        { "given twice", "Solid { name \"a\" name \"b\" }", "Solid {\n  name \"b\"\n}\n", DIAG_WARNING, 2, 18,
          "given twice" },
        { "name in a lost node", "Solid { DEF A Box { } }\nGroup { children [ USE A ] }", "Solid {\n}\nGroup {\n}\n",
          DIAG_ERROR, 3, 24, "no node above has this DEF name" },
        { "name in a value that does not count", "Solid { boundingObject DEF A Box { } boundingObject USE A }",
          "Solid {\n  boundingObject DEF A Box {\n  }\n}\n", DIAG_ERROR, 2, 57, "no node above has this DEF name" },
        { "url without quotes", "EXTERNPROTO x Solid { }", NULL, DIAG_ERROR, 2, 13, "the url of a PROTO" },
    };
    run_cases(cases, COUNT_OF(cases));
}

static void test_unknown(void **state)
{
    (void)state;
    static const Case cases[] = {
        { "field", "Solid {\n  colour 1 0 0\n  name \"a\"\n}", "Solid {\n  colour 1 0 0\n  name \"a\"\n}\n",
          DIAG_WARNING, 3, 3, "Solid has no field 'colour'" },
        { "field with nodes", "Solid { parts [ Shape { } DEF A Box { } ] name \"a\" boundingObject USE A }",
          "Solid {\n  parts [ Shape { } DEF A Box { } ]\n  name \"a\"\n  boundingObject USE A\n}\n", DIAG_WARNING, 2, 9,
          "'parts'" },
        { "field with a node", "Solid { part DEF A Shape { } name \"a\" }",
          "Solid {\n  part DEF A Shape { }\n  name \"a\"\n}\n", DIAG_WARNING, 2, 9, "'part'" },
        { "field without value", "Solid { part name \"a\" }", "Solid {\n  name \"a\"\n}\n", DIAG_WARNING, 2, 9,
          "'part'" },
        { "node cut off", "Group { children [ Light { Solid {", "Group {\n}\n", DIAG_ERROR, 2, 35,
          "ends inside of Light" },
        { "node", "Motor { name \"a\" # kept\n}\nGroup { }", "Motor { name \"a\" # kept\n}\nGroup {\n}\n", DIAG_WARNING,
          2, 1, "'Motor'" },
        { "comments around", "# a\nLight { }\n# b\nSolid {\n  # c\n  bar 1 # d\n  # e\n  name \"x\"\n}",
          "# a\nLight { }\n# b\nSolid {\n  bar 1\n  # d\n  # e\n  name \"x\"\n  # c\n}\n", DIAG_WARNING, 3, 1,
          "'Light'" },
        { "node with DEF", "DEF X Device { a [ { } ] }", "DEF X Device { a [ { } ] }\n", DIAG_WARNING, 2, 7,
          "'Device'" },
        { "node in a list", "Group { children [ Light { } Solid { } ] }",
          "Group {\n  children [\n    Light { }\n    Solid {\n    }\n  ]\n}\n", DIAG_WARNING, 2, 20, "'Light'" },
        { "abstract node", "Geometry { }", "Geometry { }\n", DIAG_WARNING, 2, 1, "'Geometry'" },
    };
    run_cases(cases, COUNT_OF(cases));

    // Said once, with the name that was meant.
    DiagSink *diags = diag_create();
    Scene *scene = load("t.wbo", HEADER "Solid { nane \"a\" }\nSolid { nane \"b\" }\nSoild { name \"a\" }\nSoild { }\n",
                        diags);
    assert_int_equal(diag_total(diags, DIAG_WARNING), 2);
    assert_non_null(strstr(diag_at(diags, 0)->hint, "'name'"));
    assert_non_null(strstr(diag_at(diags, 1)->hint, "'Solid'"));
    scene_destroy(scene);
    diag_destroy(diags);
}

static void test_ranges(void **state)
{
    (void)state;
    static const Case cases[] = {
        { "C03 negative", "WorldInfo { CFM -1 }", NULL, DIAG_WARNING, 2, 17, "CFM -1 is outside" },
        { "C03 ERP above", "WorldInfo { ERP 1.5 }", "WorldInfo {\n  ERP 1\n}\n", DIAG_WARNING, 2, 17,
          "ERP 1.5 is outside" },
        { "C03 nan", "WorldInfo { ERP nan title \"a\" }", "WorldInfo {\n  title \"a\"\n}\n", DIAG_ERROR, 2, 17,
          "not a finite number" },
        { "C03 inf", "WorldInfo { CFM -inf title \"a\" }", "WorldInfo {\n  title \"a\"\n}\n", DIAG_ERROR, 2, 17,
          "not a finite number" },
        { "C03 too large for a double", "WorldInfo { CFM 1e999 title \"a\" }", "WorldInfo {\n  title \"a\"\n}\n",
          DIAG_ERROR, 2, 17, "not a finite number" },
        { "nan in a vector", "Solid { translation 1 nan 2 name \"a\" }", "Solid {\n  name \"a\"\n}\n", DIAG_ERROR, 2,
          23, "not a finite number" },
        { "nan in a list", "Coordinate { point [ 1 nan 2 ] }", "Coordinate {\n}\n", DIAG_ERROR, 2, 24,
          "not a finite number" },
        { "size", "Box { size 1 -1 1 }", "Box {\n  size 1 2 1\n}\n", DIAG_WARNING, 2, 12, "size -1 is outside" },
        { "far away", "Solid { translation 0 1e308 0 name \"a\" }", "Solid {\n  name \"a\"\n}\n", DIAG_ERROR, 2, 21,
          "beyond 1e+09" },
        { "far away in a list", "Coordinate { point [ 0 1e10 0 ] }", "Coordinate {\n}\n", DIAG_ERROR, 2, 22,
          "beyond 1e+09" },
        { "zero axis", "HingeJointParameters { axis 0 0 0 }", "HingeJointParameters {\n}\n", DIAG_WARNING, 2, 29,
          "zero vector" },
        { "C25 axis 0 0 0", "Solid { rotation 0 0 0 1 }", "Solid {\n}\n", DIAG_WARNING, 2, 18, "axis 0 0 0" },
        { "C25 angle 1e300", "Solid { rotation 1 0 0 1e300 }", NULL, DIAG_WARNING, 2, 18, "whole turns" },
        { "C25 axis of extreme length", "Solid { rotation 1e300 0 0 1 }", "Solid {\n  rotation 1 0 0 1\n}\n",
          DIAG_WARNING, 2, 18, "normalised" },
        { "word", "Emitter { type \"radoi\" }", "Emitter {\n}\n", DIAG_WARNING, 2, 16, "is none of" },
        { "fraction", "Camera { width 2.5 }", "Camera {\n  width 2\n}\n", DIAG_WARNING, 2, 16, "whole number" },
        { "beyond 32 bits", "WorldInfo { randomSeed 1e12 }", "WorldInfo {\n  randomSeed 2147483647\n}\n", DIAG_WARNING,
          2, 24, "32 bits" },
    };
    run_cases(cases, COUNT_OF(cases));
}

static void test_def_use(void **state)
{
    (void)state;
    static const Case cases[] = {
        { "unknown", "DEF BOX Shape { }\nSolid { boundingObject USE BOXX }", "DEF BOX Shape {\n}\nSolid {\n}\n",
          DIAG_ERROR, 3, 28, "USE BOXX" },
        { "used inside of itself", "DEF A Group { children USE A }", "DEF A Group {\n}\n", DIAG_ERROR, 2, 28, "USE A" },
        { "used before", "Group { children USE A } DEF A Shape { }", NULL, DIAG_ERROR, 2, 22, "USE A" },
    };
    run_cases(cases, COUNT_OF(cases));

    static const struct {
        const char *name, *text, *wanted;
    } targets[] = {
        { "the last above", "DEF A Box { size 1 1 1 } DEF A Box { size 3 3 3 } Solid { boundingObject USE A }", "3" },
        { "nested_def_name",
          "DEF A Group { children Shape { geometry DEF A Box { size 5 5 5 } } } Solid { boundingObject USE A }", "5" },
        { "an inner one does not hide a later one",
          "Group { children Shape { geometry DEF A Box { size 5 5 5 } } } DEF A Box { size 7 7 7 } Solid { boundingObject USE A }",
          "7" },
    };
    for (int i = 0; i < COUNT_OF(targets); i++) {
        DiagSink *diags = diag_create();
        char text[512];
        snprintf(text, sizeof text, HEADER "%s", targets[i].text);
        Scene *scene = load("t.wbo", text, diags);
        CHECK(diag_count(diags) == 0, targets[i].name);
        const FieldList *children = scene_list(scene_root(scene), "children");
        const SceneNode *box = scene_child(children->nodes[children->count - 1], "boundingObject");
        CHECK(box && scene_vec3(box, "size").x == atof(targets[i].wanted), targets[i].name);
        scene_destroy(scene);
        diag_destroy(diags);
    }
}

static void test_use_of_what_is_gone(void **state)
{
    (void)state;
    DiagSink *diags = diag_create();
    Scene *scene = load(
        "t.wbo", HEADER "Group { children [ DEF A Shape { castShadows FALSE } ] } Solid { children [ USE A USE A ] }",
        diags);
    scene_node_remove(scene, scene_find_def(scene, "A"));
    char *text = saved(scene);
    assert_string_equal(
        text,
        "Group {\n}\nSolid {\n  children [\n    DEF A Shape {\n      castShadows FALSE\n    }\n    USE A\n  ]\n}\n");
    free(text);
    scene_destroy(scene);
    diag_destroy(diags);
}

static void test_headers(void **state)
{
    (void)state;
    static const struct {
        const char *first_line;
        int release, errors, warnings;
        const char *message;
    } cases[] = {
        { "#VRML_SIM V5.0 utf8", 5000, 0, 0, NULL },
        { "#VRML_SIM V6.0 utf8", 6000, 0, 0, NULL },
        { "#VRML_SIM V7.4.3 utf8", 7403, 0, 0, NULL },
        { "#VRML_SIM R2021b rev1 utf8", 2021101, 0, 0, NULL },
        { "#VRML_SIM R2025a utf8", 2025000, 0, 0, NULL },
        { "\xef\xbb\xbf#VRML_SIM R2025a utf8 ", 2025000, 0, 0, NULL },
        { "#VRML_SIM R2025a utf8\r", 2025000, 0, 0, NULL },
        { "#VRML_SIM\tR2025a\tutf8", 2025000, 0, 0, NULL },
        { "\n \n#VRML_SIM R2022b utf8", 2022100, 0, 1, "below empty lines" },
        { "#VRML_SIM R2031a utf8", 2031000, 0, 1, "newer than" },
        { "#VRML_SIM R2025a", 2025000, 0, 1, "does not end with 'utf8'" },
        { "#VRML_SIM R2021c utf8", 2022000, 0, 1, "read as R2022a" },
        { "#VRML_SIM R2021A utf8", 2025000, 1, 0, "not a release" },
        { "#VRML_SIM foo utf8", 2025000, 1, 0, "not a release" },
        { "#VRML_SIM", 2025000, 1, 1, "not a release" },
        { "#VRML_SI", 2025000, 1, 0, "the first line is not" },
        { "", 2025000, 1, 0, "the first line is not" },
        { "Solid { }", 2025000, 1, 0, "the first line is not" },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        DiagSink *diags = diag_create();
        char text[200];
        snprintf(text, sizeof text, "%s\nGroup { }\n", cases[i].first_line);
        Scene *scene = load("t.wbo", text, diags);
        CHECK(scene && scene_release(scene) == cases[i].release, cases[i].first_line);
        CHECK(diag_total(diags, DIAG_ERROR) == cases[i].errors, cases[i].first_line);
        CHECK(diag_total(diags, DIAG_WARNING) <= cases[i].warnings, cases[i].first_line);
        CHECK(!cases[i].message || strstr(diag_at(diags, 0)->message, cases[i].message), cases[i].first_line);
        char *text_saved = saved(scene);
        CHECK(cases[i].errors || !strchr(text_saved, '#'), "the header is no comment");
        free(text_saved);
        scene_destroy(scene);
        diag_destroy(diags);
    }
}

static void test_detection(void **state)
{
    (void)state;
    static const struct {
        const char *path, *text;
        FileFormat format;
    } cases[] = {
        { "a.wbt", "#VRML_SIM R2025a utf8\nSolid { }", FORMAT_WORLD },
        { "a.wbt", "", FORMAT_WORLD },
        { "a.txt", "#VRML_SIM R2025a utf8\n", FORMAT_WORLD },
        { "a.wbo", "#VRML_SIM R2025a utf8\n", FORMAT_OBJECT },
        { "a.proto", "#VRML_SIM R2025a utf8\n# tags: x\nEXTERNPROTO \"b.proto\"\nPROTO A [ ] { Solid { } }",
          FORMAT_PROTO },
        { "a.txt", "#VRML_SIM R2025a utf8\nPROTO A [ ] { Solid { } }", FORMAT_PROTO },
        { "a.proto", "syntax = \"proto3\";\nmessage A { }", FORMAT_UNKNOWN },
        { "a.wrl", "#VRML V2.0 utf8\n", FORMAT_VRML97 },
        { "a.wrl", "Transform { }", FORMAT_VRML97 },
        { "a.WBT", "", FORMAT_WORLD },
        { "a.body", "format: ChoreonoidBody\n", FORMAT_BODY },
        { "a.png", "\x89PNG", FORMAT_UNKNOWN },
    };
    for (int i = 0; i < COUNT_OF(cases); i++)
        CHECK(formats_detect(cases[i].path, cases[i].text, strlen(cases[i].text)) == cases[i].format, cases[i].text);
}

static void test_vrml97(void **state)
{
    (void)state;
    static const char text[] =
        "#VRML V2.0 utf8 by hand\n"
        "PROTO P [ field SFFloat x 1 ] { Group { } }\n"
        "DEF T Transform {\n  center 0 0 1 children [\n"
        "    DEF TOUCH TouchSensor { }\n"
        "    Shape { geometry IndexedFaceSet { solid FALSE coord Coordinate { point [ 0 0 0, 1 0 0, 0 1 0 ] } coordIndex [ 0 1 2 -1 ] } }\n"
        "    DEF S Script { url \"javascript: function f() { }\" eventIn SFBool in field SFNode n USE T directOutput TRUE }\n"
        "  ]\n  ROUTE TOUCH.isActive TO S.in\n}\n"
        "ROUTE TOUCH.isActive TO S.in\n";
    DiagSink *diags = diag_create();
    Scene *scene = load("t.wrl", text, diags);
    assert_non_null(scene);
    if (diag_total(diags, DIAG_ERROR))
        print_all(diags);
    assert_int_equal(diag_total(diags, DIAG_ERROR), 0);
    const FieldList *top = scene_list(scene_root(scene), "children");
    assert_int_equal(top->count, 1);
    assert_true(scene_node_is(top->nodes[0], "Transform"));
    scene_destroy(scene);
    diag_destroy(diags);
}

static void test_old_kinds(void **state)
{
    (void)state;
    static const struct {
        const char *text, *field;
        FieldKind kind;
    } cases[] = {
        { "WorldInfo { gravity 0 -9.81 0 }", "gravity", FIELD_SF_VEC3F },
        { "WorldInfo { gravity 9.81 }", "gravity", FIELD_SF_FLOAT },
        { "WorldInfo { gravity 3.7 title \"a\" }", "gravity", FIELD_SF_FLOAT },
        { "ImageTexture { filtering FALSE }", "filtering", FIELD_SF_BOOL },
        { "ImageTexture { filtering 3 }", "filtering", FIELD_SF_INT32 },
        { "Robot { controllerArgs \"a b\" }", "controllerArgs", FIELD_MF_STRING },
        { "ContactProperties { coulombFriction 0.7 }", "coulombFriction", FIELD_MF_FLOAT },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        DiagSink *diags = diag_create();
        char text[200];
        snprintf(text, sizeof text, "#VRML_SIM V7.4.3 utf8\n%s", cases[i].text);
        Scene *scene = load("t.wbo", text, diags);
        CHECK(diag_count(diags) == 0, cases[i].text);
        const SceneNode *node = scene_list(scene_root(scene), "children")->nodes[0];
        CHECK(node->field_count >= 1 && !strcmp(node->fields[0].type->name, cases[i].field), cases[i].text);
        CHECK(node->fields[0].type->kind == cases[i].kind, cases[i].text);
        scene_destroy(scene);
        diag_destroy(diags);
    }
}

static void test_parse_nodes(void **state)
{
    (void)state;
    DiagSink *diags = diag_create();
    Scene *scene = load("t.wbt", HEADER "WorldInfo { }\nViewpoint { }\n", diags);
    static const char text[] = "DEF A Solid { name \"a\" } Solid { boundingObject USE A } } 5";
    const FieldList *list = formats_parse_nodes(scene, text, strlen(text), false, diags);
    assert_int_equal(list->count, 2);
    assert_null(list->nodes[0]->parent);
    assert_int_equal(diag_total(diags, DIAG_ERROR), 2);
    scene_list_insert_node(scene, scene_root(scene), "children", -1, list->nodes[0]);
    assert_ptr_equal(scene_find_def(scene, "A"), list->nodes[0]);
    scene_destroy(scene);
    diag_destroy(diags);
}

static void test_save_is_atomic(void **state)
{
    (void)state;
    const char *folder = support_scratch("parser_save");
    char path[512];
    snprintf(path, sizeof path, "%s/world.wbt", folder);
    DiagSink *diags = diag_create();
    Scene *scene = load("t.wbo", HEADER "Solid { name \"a\" }", diags);
    assert_true(formats_save(scene, path, diags));
    char *text = support_read(path);
    assert_string_equal(text, "#VRML_SIM R2025a utf8\n\nSolid {\n  name \"a\"\n}\n");
    free(text);
    snprintf(path, sizeof path, "%s/absent/world.wbt", folder);
    assert_false(formats_save(scene, path, diags));
    assert_int_equal(diag_total(diags, DIAG_ERROR), 1);
    scene_destroy(scene);
    diag_destroy(diags);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right),       cmocka_unit_test(test_wrong_syntax),
        cmocka_unit_test(test_unknown),     cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_def_use),     cmocka_unit_test(test_headers),
        cmocka_unit_test(test_detection),   cmocka_unit_test(test_vrml97),
        cmocka_unit_test(test_old_kinds),   cmocka_unit_test(test_use_of_what_is_gone),
        cmocka_unit_test(test_parse_nodes), cmocka_unit_test(test_save_is_atomic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
