// Whatever bytes a file holds, loading ends, in bounded time and memory. Limits hold exactly where they say.
#include "base/limits.h"
#include "formats/formats.h"
#include "support/support.h"

static const char sample[] =
    "#VRML_SIM R2025a utf8\n"
    "EXTERNPROTO \"Thing.proto\"\n"
    "# a comment\n"
    "WorldInfo { info [ \"a\" \"b\" ] gravity 9.81 basicTimeStep 16 }\n"
    "Viewpoint { position 1 2 3 orientation 0 1 0 0.5 }\n"
    "DEF ROBOT Robot {\n"
    "  translation 0 0 0.1 children [\n"
    "    DEF S Shape { appearance PBRAppearance { baseColor 1 0.5 0 } geometry Mesh { url [ \"a.obj\" ] } }\n"
    "    HingeJoint { jointParameters HingeJointParameters { axis 0 1 0 } device [ RotationalMotor { } ]\n"
    "      endPoint Solid { name \"wheel\" boundingObject USE S physics Physics { density -1 mass 1 } } }\n"
    "  ]\n"
    "  name \"quoted \\\" name\" unknownField [ 1 2 { } ] controllerArgs [ \"x\" ]\n"
    "}\n"
    "Thing { hidden translation_1 0 0 1 hidden position_0_0 0.25 foo TRUE }\n"
    "Unknown { a 5 }\n";

static void load_and_save(const char *name, const char *text, size_t size, const Limits *limits, DiagSink *diags)
{
    const FormatsOptions options = { .limits = limits, .without_templates = true };
    Scene *scene = formats_load_text(name, text, size, &options, diags);
    Text out = { 0 };
    if (scene)
        formats_write(scene, &out);
    text_free(&out);
    scene_destroy(scene);
}

static void test_truncated_at_each_byte(void **state)
{
    (void)state;
    for (size_t size = 0; size <= strlen(sample); size++) {
        char *copy = malloc(size ? size : 1);  // exactly as long, so that reading past it is seen
        memcpy(copy, sample, size);
        DiagSink *diags = diag_create();
        load_and_save("t.wbo", copy, size, NULL, diags);
        // C69: a cut inside of a node is an error; the cuts between nodes are none.
        if (size > 200 && size < strlen(sample) - 200 && sample[size - 1] != '\n')
            assert_true(diag_total(diags, DIAG_ERROR) > 0);
        diag_destroy(diags);
        free(copy);
    }
}

static void test_each_byte_changed(void **state)
{
    (void)state;
    static const char bytes[] = { '\0', '{', '}', '[', ']', '"', '#', '\\', '\xff', '0' };
    char copy[sizeof sample];
    for (size_t i = 0; i < strlen(sample); i++) {
        for (int j = 0; j < COUNT_OF(bytes); j++) {
            memcpy(copy, sample, sizeof sample);
            copy[i] = bytes[j];
            DiagSink *diags = diag_create();
            load_and_save("t.wbo", copy, strlen(sample), NULL, diags);
            diag_destroy(diags);
        }
    }
}

static void test_long_strings(void **state)
{
    (void)state;
    enum { LONG = 1 << 20 };
    static const struct {
        const char *before, *after;
    } places[] = {
        { "Solid { name \"", "\" }" },
        { "Solid { unknown \"", "\" }" },
        { "WorldInfo { info [ \"", "\" ] }" },
        { "EXTERNPROTO \"", "\" Solid { }" },
        { "DEF ", " Solid { }" },
        { "Solid { boundingObject USE ", " }" },
        { "", " { }" },
        { "Solid { ", " 1 }" },
        { "# ", "\nSolid { }" },
        { "Solid { translation ", " 0 0 }" },
        { "Emitter { type \"", "\" }" },
        { "", "" },
    };
    static const char fillers[] = { 'a', '1', '\xff', '\\' };
    for (int i = 0; i < COUNT_OF(places); i++) {
        for (int j = 0; j < COUNT_OF(fillers); j++) {
            for (int extra = 0; extra <= 1; extra++) {
                Text text = { 0 };
                text_add_string(&text, "#VRML_SIM R2025a utf8\n");
                text_add_string(&text, places[i].before);
                for (int k = 0; k < LONG + extra; k++)
                    text_add_char(&text, fillers[j]);
                text_add_string(&text, places[i].after);
                DiagSink *diags = diag_create();
                load_and_save("t.wbo", text.data, text.length, NULL, diags);
                diag_destroy(diags);
                text_free(&text);
            }
        }
    }
}

// ------------------------------------------------------------------------------------------------------------- limits

static char *nested(int depth)
{
    Text text = { 0 };
    text_add_string(&text, "#VRML_SIM R2025a utf8\n");
    for (int i = 0; i < depth; i++)
        text_add_string(&text, "Group { children [ ");
    for (int i = 0; i < depth; i++)
        text_add_string(&text, "] } ");
    return text.data;
}

static char *many_nodes(int count)
{
    Text text = { 0 };
    text_add_string(&text, "#VRML_SIM R2025a utf8\n");
    for (int i = 0; i < count; i++)
        text_add_string(&text, "Group { }\n");
    return text.data;
}

// Ten uses of ten uses ...: 10^levels nodes.
static char *many_uses(int levels)
{
    Text text = { 0 };
    text_add_string(&text, "#VRML_SIM R2025a utf8\nDEF G0 Shape { }\n");
    for (int i = 1; i <= levels; i++) {
        text_printf(&text, "DEF G%d Group { children [ ", i);
        for (int j = 0; j < 10; j++)
            text_printf(&text, "USE G%d ", i - 1);
        text_add_string(&text, "] }\n");
    }
    return text.data;
}

static char *long_string(int length)
{
    Text text = { 0 };
    text_add_string(&text, "#VRML_SIM R2025a utf8\nSolid { name \"");
    for (int i = 0; i < length; i++)
        text_add_char(&text, 'a');
    text_add_string(&text, "\" }");
    return text.data;
}

static char *long_list(int items)
{
    Text text = { 0 };
    text_add_string(&text, "#VRML_SIM R2025a utf8\nCoordinate { point [");
    for (int i = 0; i < items; i++)
        text_add_string(&text, " 0 0 0");
    text_add_string(&text, " ] }");
    return text.data;
}

static char *long_file(int size)
{
    char *text = malloc((size_t)size + 1);
    memset(text, ' ', (size_t)size);
    memcpy(text, "#VRML_SIM R2025a utf8\n", 22);
    text[size] = '\0';
    return text;
}

static void test_limits(void **state)
{
    (void)state;
    Limits limits = limits_default;
    limits.nesting = 256;  // the default is held by sim.deep
    limits.nodes = 1000;
    limits.string_bytes = 5000;
    limits.array_items = 700;
    limits.file_bytes = 100000;
    const struct {
        const char *name;
        char *(*make)(int);
        int last;
        const char *message;
    } cases[] = {
        { "nesting", nested, (int)limits.nesting, "nested deeper" },
        { "nodes", many_nodes, 1000, "more than 1000 nodes" },
        { "uses", many_uses, 2, "more than 1000 nodes" },
        { "string", long_string, 5000, "longer than 5000" },
        { "list", long_list, 700, "more than 700 items" },
        { "file", long_file, 100000, "larger than 100000" },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        for (int past = 0; past <= 1; past++) {
            char *text = cases[i].make(cases[i].last + past);
            DiagSink *diags = diag_create();
            load_and_save("t.wbo", text, strlen(text), &limits, diags);
            CHECK(diag_total(diags, DIAG_ERROR) == past, cases[i].name);
            CHECK(!past || strstr(diag_at(diags, 0)->message, cases[i].message), cases[i].name);
            diag_destroy(diags);
            free(text);
        }
    }
}

static void test_far_past_the_limits(void **state)
{
    (void)state;
    char *const texts[] = { nested(200000), many_uses(30) };
    for (int i = 0; i < COUNT_OF(texts); i++) {
        DiagSink *diags = diag_create();
        load_and_save("t.wbo", texts[i], strlen(texts[i]), NULL, diags);
        assert_true(diag_has_errors(diags));
        diag_destroy(diags);
        free(texts[i]);
    }
    static const char openers[] = "{[\"}]#";
    enum { MANY = 300000 };
    for (int i = 0; openers[i]; i++) {
        char *text = malloc(MANY);
        memset(text, openers[i], MANY);
        DiagSink *diags = diag_create();
        load_and_save("t.wbt", text, MANY, NULL, diags);
        load_and_save("t.wrl", text, MANY, NULL, diags);
        assert_true(diag_has_errors(diags));
        diag_destroy(diags);
        free(text);
    }
}

static void test_many_mistakes(void **state)
{
    (void)state;
    Text text = { 0 };
    text_add_string(&text, "#VRML_SIM R2025a utf8\n");
    for (int i = 0; i < 20000; i++)
        text_add_string(&text, "Solid { locked 1 }\n");
    DiagSink *diags = diag_create();
    load_and_save("t.wbo", text.data, text.length, NULL, diags);
    assert_in_range(diag_count(diags), 900, 1100);
    assert_non_null(strstr(diag_at(diags, diag_count(diags) - 1)->message, "more than 1000 mistakes"));
    diag_destroy(diags);
    text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_truncated_at_each_byte), cmocka_unit_test(test_each_byte_changed),
        cmocka_unit_test(test_long_strings),           cmocka_unit_test(test_limits),
        cmocka_unit_test(test_far_past_the_limits),    cmocka_unit_test(test_many_mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
