#include "formats/template/template.h"

#include "base/file.h"
#include "formats/template/template_engine.h"
#include "support/support.h"

#include <math.h>

#define JS TEMPLATE_JAVASCRIPT
#define LUA TEMPLATE_LUA

typedef struct Run {
    DiagSink *diags;
    TemplateResult result;
    bool ok;
} Run;

static const FieldList three_floats = { .count = 3, .numbers = (double[]){ 1, 2.5, -3 } };
static const FieldList two_colors = { .count = 2, .numbers = (double[]){ 1, 0, 0, 0, 0.5, 1 } };
static const FieldList two_strings = { .count = 2, .strings = (const char *[]){ "a", "say \"hi\"\n\\" } };
static const FieldList no_items = { 0 };
static const FieldList ints = { .count = 2, .ints = (int32_t[]){ 7, -8 } };
static const FieldList bools = { .count = 2, .bools = (bool[]){ true, false } };

static const FieldType types[] = {
    { .name = "flag", .kind = FIELD_SF_BOOL, .value = { .b = false } },
    { .name = "count", .kind = FIELD_SF_INT32, .value = { .i = 10 } },
    { .name = "size", .kind = FIELD_SF_FLOAT, .value = { .f = 0.1 } },
    { .name = "text", .kind = FIELD_SF_STRING, .value = { .s = "none" } },
    { .name = "v2", .kind = FIELD_SF_VEC2F, .value = { .v = { 0, 0 } } },
    { .name = "v3", .kind = FIELD_SF_VEC3F, .value = { .v = { 0, 0, 0 } } },
    { .name = "turn", .kind = FIELD_SF_ROTATION, .value = { .v = { 0, 0, 1, 0 } } },
    { .name = "color", .kind = FIELD_SF_COLOR, .value = { .v = { 1, 1, 1 } } },
    { .name = "node", .kind = FIELD_SF_NODE, .value = { .node = NULL } },
    { .name = "floats", .kind = FIELD_MF_FLOAT, .value = { .list = &no_items } },
    { .name = "colors", .kind = FIELD_MF_COLOR, .value = { .list = &no_items } },
    { .name = "strings", .kind = FIELD_MF_STRING, .value = { .list = &no_items } },
    { .name = "ints", .kind = FIELD_MF_INT32, .value = { .list = &no_items } },
    { .name = "bools", .kind = FIELD_MF_BOOL, .value = { .list = &no_items } },
};

static const TemplateField fields[] = {
    { &types[0], { .b = true } },
    { &types[1], { .i = 4 } },
    { &types[2], { .f = 2.5 } },
    { &types[3], { .s = "it's \"x\"" } },
    { &types[4], { .v = { 1, 2 } } },
    { &types[5], { .v = { 1, 2, 3 } } },
    { &types[6], { .v = { 0, 1, 0, 1.57 } } },
    { &types[7], { .v = { 0.25, 0.5, 1 } } },
    { &types[8], { .node = NULL } },
    { &types[9], { .list = &three_floats } },
    { &types[10], { .list = &two_colors } },
    { &types[11], { .list = &two_strings } },
    { &types[12], { .list = &ints } },
    { &types[13], { .list = &bools } },
};

static Run run_limited(TemplateLanguage language, const char *text, const char *path, const Limits *limits)
{
    Run run = { .diags = diag_create() };
    TemplateJob job = {
        .path = path,
        .text = text,
        .size = strlen(text),
        .language = language,
        .fields = fields,
        .field_count = COUNT_OF(fields),
        .limits = limits,
        .context = { .world = "/w/worlds/a.wbt",
                     .proto = "/w/protos/P.proto",
                     .project_path = "/w",
                     .coordinate_system = "ENU",
                     .webots_version = "R2025a",
                     .id = 42,
                     .world_release = 2022100 },
    };
    job.pos = (SourcePos){ diag_file(run.diags, path), 1, 10 };
    run.ok = template_eval(&job, &run.result, run.diags);
    return run;
}

static Run run_template(TemplateLanguage language, const char *text)
{
    return run_limited(language, text, "protos/P.proto", NULL);
}

static void end_run(Run *run)
{
    template_result_free(&run->result);
    diag_destroy(run->diags);
}

static void expect(TemplateLanguage language, const char *text, const char *expected)
{
    Run run = run_template(language, text);
    if (!run.ok)
        diag_print(run.diags, stdout, 0, DIAG_NOTE);
    CHECK(run.ok, text);
    if (strcmp(run.result.text.data ? run.result.text.data : "", expected))
        fail_msg("template <%s>\nmade     <%s>\nexpected <%s>", text, run.result.text.data, expected);
    end_run(&run);
}

static void javascript_is_evaluated(void **state)
{
    (void)state;
    static const struct {
        const char *text, *expected;
    } cases[] = {
        { "radius %<= fields.size.value * 2 >%", "radius 5" },
        { "%< if (fields.flag.value) { >%A%< } else { >%B%< } >%", "A" },
        { "%< if (!fields.flag.value) >%A%< else >%B", "B" },
        { "%< for (let i = 0; i < fields.count.value; i++) { >% %<= i >%%< } >%", " 0 1 2 3" },
        { "%<= fields.count.defaultValue; >%", "10" },
        { "%<= context.world_release >= 2022000 >%", "true" },
        { "%<= fields.text.value >%", "it's \"x\"" },
        { "%<= fields.v2.value.x >% %<= fields.v2.value.y >%", "1 2" },
        { "%<= fields.v3.value.x + fields.v3.value.y + fields.v3.value.z >%", "6" },
        { "%<= fields.turn.value.a >%", "1.57" },
        { "%<= fields.color.value.r + fields.color.value.g + fields.color.value.b >%", "1.75" },
        { "%<= fields.node.value === undefined >%%<= fields.node.defaultValue === undefined >%", "truetrue" },
        { "%<= fields.floats.value.join(' ') >%", "1 2.5 -3" },
        { "%<= fields.colors.value[1].g >%", "0.5" },
        { "%<= fields.strings.value[1] >%", "say \"hi\"\n\\" },
        { "%<= fields.ints.value[1] >%%<= fields.bools.value[0] >%", "-8true" },
        { "%< let a = 1 >%%< let b = a + 1 // a comment >%%<= b >%", "2" },
        { "%<= `${1 + 1}` >%", "2" },
        { "# %< broken( >%\nname \"#1\" # end\nx", "\nname \"#1\" \nx" },
        { "name \"%<= 'a#b' >%\" # c", "name \"a#b\" " },
        { "%< const f = fields; >%%<= f.count.value >%", "4" },
        { "%< function twice(x) { return 2 * x; } >%%<= twice(4) >%", "8" },
        { "%< import * as wbrandom from 'wbrandom.js'; wbrandom.seed(3) >%%<= wbrandom.integer(1, 6) >%", "3" },
        { "%<\n  import {integer, seed as start} from \"wbrandom.js\"\n  start(3);\n>%%<= integer(1, 6) >%", "3" },
        { "%< import * as a from 'wbvector2.js'; import * as b from 'wbvector3.js'; >%%<= a.norm({x: 3, y: 4}) >%"
          "%<= b.cross({x: 1, y: 0, z: 0}, {x: 0, y: 1, z: 0}).z >%",
          "51" },
        { "%< import * as g from 'wbgeometry.js'; >%%<= g.circle(1, 8, {x: 0, y: 0}, 0).length >%", "9" },
        { "%< import * as g from 'wbgeometry.js'; const s = [{x: 0, y: 0}, {x: 1, y: 0}, {x: 1, y: 1}, {x: 0, y: 1}]; >%"
          "%<= g.isPoint2InPolygon({x: 0.5, y: 0.5}, s) >% %<= g.isPoint2InPolygon({x: 2, y: 0.5}, s) >%"
          " %<= g.isPoint2ArrayClockwise(s) >%",
          "true false false" },
        { "%< import * as r from 'wbrotation.js'; const c = r.combine({x: 0, y: 0, z: 1, a: 1}, {x: 0, y: 0, z: 1, a: 0.5}); >%"
          "%<= c.z >% %<= c.a.toFixed(6) >%",
          "1 1.500000" },
        { "%< import * as u from 'wbutility.js'; >%%<= u.degreesToRadians(180) === Math.PI >%"
          "%<= u.isVector3({x: 1, y: 2, z: 3}) >%%<= u.colorHexStringToRedGreenBlue('#ff0000').red >%",
          "truetrue1" },
        { "%<= context.world >% %<= context.id >% %<= context.os >% %<= context.coordinate_system >%"
          " %<= context.webots_version.major >%",
          "/w/worlds/a.wbt 42 linux ENU R2025a" },
        { "%<= Date.now() + new Date().getTime() >%", "0" },
        { "%<= (function () { return typeof this; })() >%", "undefined" },  // strict mode
    };
    for (int i = 0; i < COUNT_OF(cases); i++)
        expect(JS, cases[i].text, cases[i].expected);
}

static void lua_is_evaluated(void **state)
{
    (void)state;
    static const struct {
        const char *text, *expected;
    } cases[] = {
        { "radius %{= fields.size.value * 2 }%", "radius 5" },
        { "%{ if fields.flag.value then }%A%{ else }%B%{ end }%", "A" },
        { "%{ for i = 0, fields.count.value - 1 do }% %{= i }%%{ end }%", " 0 1 2 3" },
        { "%{= fields.count.defaultValue }%", "10" },
        { "%{= 10 / 2 }% %{= 1 / 4 }% %{= 1e300 }% %{= -7 % 3 }%", "5 0.25 1e+300 2" },
        { "%{ local t = .025 }%%{= t * 2 }% %{= .5 }% %{= -.25e1 }% %{= 1 ..'x' }%", "0.05 0.5 -2.5 1x" },
        { "%{= 'n' .. 4 / 2 .. '-' .. fields.count.value .. 1 }%", "n2-41" },
        { "%{= fields.text.value }%", "it's \"x\"" },
        { "%{= fields.v3.value.x }%%{= fields.turn.value.a }%%{= fields.color.value.g }%", "11.570.5" },
        { "%{= tostring(fields.node.value) }%", "nil" },
        { "%{= #fields.floats.value }% %{= fields.floats.value[2] }%", "3 2.5" },
        { "%{= fields.strings.value[2] }%", "say \"hi\"\n\\" },
        { "%{ local t = { 1, 2, 3, 4 } }%%{= #t }%%{= table.getn(t) }%%{= unpack(t) }%", "441" },
        { "%{= math.pow(2, 10) }% %{= math.atan2(0, 1) }% %{= math.mod(7, 4) }%", "1024 0 3" },
        { "%{= table.concat({ 1, 2 }, ',') }% %{= string.format('%d %s %.2f', 3.0, 5, 1) }%", "1,2 3 5 1.00" },
        { "%{= loadstring('return 6 * 7')() }%", "42" },
        { "%{ -- a comment }%x%{ --[[ long\ncomment ]] local y = [[z]] }%%{= y }%", "xz" },
        { "%{ for k, v in pairs({ b = 2, a = 1, 'first' }) do }%%{= k }%%{= v }% %{ end }%", "1first a1 b2 " },
        { "%{ local r = require('wbrandom') r.seed(3) }%%{= r.integer(1, 6) }%", "3" },
        { "%{ local m, r = require('wbmath'), require('wbrotation') local c = r.combine({x=0, y=0, z=1, a=m.degrees2radians(90)},"
          " {x=0, y=0, z=1, a=0}) }%%{= m.round(c.a * 1000) }%",
          "1571" },
        { "%{ local g = require('wbgeometry') }%%{= #g.circle(1, 8, 0, 0, 0) }%", "9" },
        { "%{= context.world }% %{= context.id }%", "/w/worlds/a.wbt 42" },
        { "%{= os.time() + os.clock() }%", "0" },
        { "name \"#%{= 1 }%\" # %{ nonsense }%", "name \"#1\" " },
        { "%{ local f = function(...) return select('#', ...) end }%%{= f(1, 2, 3) }%", "3" },
    };
    for (int i = 0; i < COUNT_OF(cases); i++)
        expect(LUA, cases[i].text, cases[i].expected);
}

// Both languages draw the same numbers, and those of a generator computed in doubles.
static void random_numbers_agree(void **state)
{
    (void)state;
    Run js = run_template(
        JS,
        "%< import * as r from 'wbrandom.js'; r.seed(7); for (let i = 0; i < 50; i++) { >%%<= r.integer() >% %< } >%");
    Run lua = run_template(
        LUA,
        "%{ local r = require('wbrandom') r.seed(7) for i = 1, 50 do }%%{= string.format('%d', r.integer()) }% %{ end }%");
    CHECK(js.ok && lua.ok, "both run");
    assert_string_equal(js.result.text.data, lua.result.text.data);
    double value = 7;
    const char *at = js.result.text.data;
    for (int i = 0; i < 50; i++) {
        value = fmod(1140671485.0 * value + 12820163.0, 16777216.0);
        char *after;
        CHECK(strtod(at, &after) == value, "value of the generator");
        at = after;
    }
    end_run(&js);
    end_run(&lua);
}

static void errors_name_the_line(void **state)
{
    (void)state;
    static const struct {
        TemplateLanguage language;
        const char *text;
        uint32_t line;
        const char *part;
    } cases[] = {
        { JS, "a\nb\n%< let x = ; >%\nc", 12, "SyntaxError" },
        { JS, "a\n%<\n  const y = 1; # no comment here\n>%", 12, "SyntaxError" },
        { JS, "a\n\n%<= nothing.at.all >%", 12, "nothing" },
        { JS, "%<\nfunction f() {\n  throw new Error('boom');\n}\n>%\n%< f(); >%", 12, "boom" },
        { JS, "x\n%< import * as q from 'wbnone.js'; >%", 11, "wbnone" },
        { JS, "x\n%< import * as v from 'wbvector2.js';\n v.norm(undefined); >%", 12, "undefined" },
        { JS, "x\n%< let a = 1;", 11, "not closed" },
        { LUA, "a\nb\n%{ local x = = 2 }%", 12, "unexpected symbol" },
        { LUA, "%{\n  local y = 1 # no comment here\n}%", 11, "" },
        { LUA, "a\n\n%{= nothing.at }%", 12, "nothing" },
        { LUA, "x\n%{ error('boom') }%", 11, "boom" },
        { LUA, "x\n\n%{ require('wbnone') }%", 12, "wbnone" },
        { LUA, "x\n%{ local a = 'a' .. {} }%", 11, "concatenate a table" },
        { LUA, "x\n%{ if true then }%\ny", 12, "'end' expected" },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        Run run = run_template(cases[i].language, cases[i].text);
        CHECK(!run.ok && diag_count(run.diags) == 1, cases[i].text);
        const Diagnostic *diagnostic = diag_at(run.diags, 0);
        if (diagnostic->pos.line != cases[i].line || !strstr(diagnostic->message, cases[i].part))
            fail_msg("<%s>: line %u, wanted %u: %s", cases[i].text, diagnostic->pos.line, cases[i].line,
                     diagnostic->message);
        CHECK(diagnostic->severity == DIAG_ERROR, cases[i].text);
        CHECK(!strcmp(diag_file_name(run.diags, diagnostic->pos.file), "protos/P.proto"), cases[i].text);
        end_run(&run);
    }
}

static void printing_is_reported(void **state)
{
    (void)state;
    static const struct {
        TemplateLanguage language;
        const char *text;
        DiagSeverity severity;
        uint32_t line;
        const char *message;
    } cases[] = {
        { JS, "\n%< console.log('hello', {a: 1}, 2); >%", DIAG_NOTE, 11, "template: hello {\"a\":1} 2" },
        { JS, "\n\n%< console.warn('careful'); >%", DIAG_WARNING, 12, "template: careful" },
        { JS, "%< console.error('bad\\nthing'); >%", DIAG_WARNING, 10, "template: bad thing" },
        { LUA, "\n%{ print('hello', 2) }%", DIAG_NOTE, 11, "template: hello 2" },
        { LUA, "\n%{ io.stderr:write('reset to ' .. 0.5 .. '\\n') }%", DIAG_WARNING, 11, "template: reset to 0.5" },
        { LUA, "%{ io.stdout:write('a', 1, '\\n') }%", DIAG_NOTE, 10, "template: a1" },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        Run run = run_template(cases[i].language, cases[i].text);
        CHECK(run.ok && diag_count(run.diags) == 1, cases[i].text);
        const Diagnostic *diagnostic = diag_at(run.diags, 0);
        CHECK(diagnostic->severity == cases[i].severity && diagnostic->pos.line == cases[i].line, cases[i].text);
        assert_string_equal(diagnostic->message, cases[i].message);
        end_run(&run);
    }
}

// Lines of the output know the line of the PROTO file they came from.
static void output_lines_are_mapped(void **state)
{
    (void)state;
    static const struct {
        TemplateLanguage language;
        const char *text;
    } cases[] = {
        { JS, "a\n%< for (let i = 0; i < 2; i++) { >%\nb\n%< } >%\nc %<= 'x\\ny' >%\nd" },
        { LUA, "a\n%{ for i = 0, 1 do }%\nb\n%{ end }%\nc %{= 'x\\ny' }%\nd" },
    };
    static const uint32_t lines[] = { 10, 11, 12, 13, 12, 13, 14, 14, 15 };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        Run run = run_template(cases[i].language, cases[i].text);
        CHECK(run.ok, cases[i].text);
        assert_string_equal(run.result.text.data, "a\n\nb\n\nb\n\nc x\ny\nd");
        CHECK(run.result.line_count == COUNT_OF(lines), cases[i].text);
        for (int k = 0; k < COUNT_OF(lines); k++)
            assert_int_equal(run.result.line_of[k], lines[k]);
        end_run(&run);
    }
}

static void files_are_confined(void **state)
{
    (void)state;
    const char *folder = support_scratch("template_files");
    char path[512], other[600];
    snprintf(path, sizeof path, "%s/inner", folder);
    CHECK(file_make_directories(path), path);
    snprintf(other, sizeof other, "%s/inner/data.txt", folder);
    support_write(other, "inside");
    snprintf(other, sizeof other, "%s/secret.txt", folder);
    support_write(other, "outside");
    snprintf(other, sizeof other, "%s/inner/helper.lua", folder);
    support_write(other, "return { value = 5 }");
    snprintf(path, sizeof path, "%s/inner/P.proto", folder);
    static const struct {
        TemplateLanguage language;
        const char *text, *expected;
    } cases[] = {
        { JS, "%<= wbfile.fileExists('data.txt') >% %<= wbfile.readTextFile('data.txt') >%", "true inside" },
        { JS, "%<= wbfile.fileExists('../secret.txt') >%%<= wbfile.fileExists('/etc/passwd') >%", "falsefalse" },
        { JS, "<%<= wbfile.readTextFile('../secret.txt') >%%<= wbfile.readTextFile('/etc/passwd') >%>", "<>" },
        { JS, "%<= wbfile.writeTextFile('../new.txt', 'x') >%%<= wbfile.writeTextFile('/new.txt', 'x') >%",
          "falsefalse" },
        { LUA, "%{= io.open('data.txt'):read('*a') }%%{= tostring(io.open('../secret.txt')) }%", "insidenil" },
        { LUA, "%{= tostring(io.open('new.txt', 'w')) }%%{= tostring(dofile) }%%{= tostring(os.execute) }%",
          "nilnilnil" },
        { LUA, "%{= require('helper').value }%", "5" },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        Run run = run_limited(cases[i].language, cases[i].text, path, NULL);
        CHECK(run.ok, cases[i].text);
        assert_string_equal(run.result.text.data, cases[i].expected);
        end_run(&run);
    }
}

// What templates write stays in memory: they find it again, in the same run and in the next, and another world does
// not.
static void written_files_are_kept_in_memory(void **state)
{
    (void)state;
    TemplateFiles files[2] = { { 0 } };
    static const struct {
        int world;
        const char *text, *expected;
    } cases[] = {
        { 0, "%<= wbfile.fileExists(context.temporary_files_path + 'a') >%", "false" },
        { 0, "%<= wbfile.writeTextFile('a', 'one') >%%<= wbfile.writeTextFile('a', 'two') >%", "truetrue" },
        { 0, "%<= wbfile.readTextFile(context.temporary_files_path + 'a') >%", "two" },
        { 0,
          "%< const p = context.temporary_files_path; wbfile.writeTextFile('b', 7); >%%<= wbfile.readTextFile(p + 'b') >%",
          "7" },
        { 0, "%<= wbfile.fileExists('a') >%%<= wbfile.fileExists(context.temporary_files_path + 'b') >%", "falsetrue" },
        { 1, "%<= wbfile.fileExists(context.temporary_files_path + 'a') >%", "false" },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        DiagSink *diags = diag_create();
        TemplateJob job = {
            .path = "protos/P.proto",
            .text = cases[i].text,
            .size = strlen(cases[i].text),
            .language = JS,
            .files = &files[cases[i].world],
            .context = { .temporary_files_path = TEMPLATE_FILES_PATH },
        };
        TemplateResult result;
        CHECK(template_eval(&job, &result, diags), cases[i].text);
        assert_string_equal(result.text.data, cases[i].expected);
        template_result_free(&result);
        diag_destroy(diags);
    }
    char *large = calloc(1, TEMPLATE_FILES_BYTES);
    CHECK(!template_files_put(&files[0], "large", 5, large, TEMPLATE_FILES_BYTES),
          "as much as all may be, beside others");
    CHECK(template_files_put(&files[1], "large", 5, large, TEMPLATE_FILES_BYTES), "alone");
    CHECK(!template_files_put(&files[1], "more", 4, "x", 1), "one byte past");
    free(large);
    template_files_free(&files[0]);
    template_files_free(&files[1]);
}

static void limits_end_a_template(void **state)
{
    (void)state;
    Limits limits = limits_default;
    limits.template_ms = 300;
    limits.template_bytes = 128 << 20;
    limits.template_output_bytes = 1 << 20;
    static const struct {
        TemplateLanguage language;
        const char *text, *part;
    } cases[] = {
        { JS, "%< while (true) {} >%", "more than 0.3 s" },
        { LUA, "%{ while true do end }%", "more than 0.3 s" },
        { JS, "%< const a = []; while (true) a.push(new Array(100000).fill(1)); >%", "memory" },
        { LUA, "%{ local s = 'x' while true do s = s .. s end }%", "memory" },
        { JS, "%< while (true) { >%0123456789%< } >%", "more than 1048576 characters" },
        { LUA, "%{ while true do }%0123456789%{ end }%", "more than 1048576 characters" },
        { JS, "%< (function f() { f(); })(); >%", "stack" },
        { LUA, "%{ local function f() return 1 + f() end f() }%", "overflow" },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        Run run = run_limited(cases[i].language, cases[i].text, "protos/P.proto", &limits);
        CHECK(!run.ok && diag_has_errors(run.diags), cases[i].text);
        // Which limit a bomb meets first depends on the machine and the build; any of them is an end.
        const char *message = diag_at(run.diags, 0)->message;
        CHECK(strstr(message, cases[i].part) || strstr(message, "took more than"), message);
        end_run(&run);
        expect(cases[i].language, cases[i].language == JS ? "%<= 1 + 1 >%" : "%{= 1 + 1 }%", "2");
    }
}

// At the limit of output is fine, one past is not.
static void output_limit_is_exact(void **state)
{
    (void)state;
    Limits limits = limits_default;
    limits.template_output_bytes = 1000;
    static const struct {
        TemplateLanguage language;
        const char *text;
        bool ok;
    } cases[] = {
        { JS, "%<= 'x'.repeat(1000) >%", true },
        { JS, "%<= 'x'.repeat(1001) >%", false },
        { LUA, "%{= string.rep('x', 1000) }%", true },
        { LUA, "%{= string.rep('x', 1001) }%", false },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        Run run = run_limited(cases[i].language, cases[i].text, "protos/P.proto", &limits);
        CHECK(run.ok == cases[i].ok, cases[i].text);
        CHECK(!run.ok || run.result.text.length == 1000, cases[i].text);
        end_run(&run);
    }
}

static void code_cannot_reach_the_machine(void **state)
{
    (void)state;
    static const struct {
        TemplateLanguage language;
        const char *text, *expected;
    } cases[] = {
        { JS, "%<= typeof require + typeof process + typeof fetch + typeof XMLHttpRequest + typeof load >%",
          "undefinedundefinedundefinedundefinedundefined" },
        { LUA,
          "%{= tostring(io.popen) }%%{= tostring(os.remove) }%%{= tostring(package.loadlib) }%%{= tostring(debug.setmetatable) }%",
          "nilnilnilnil" },
        { LUA, "%{= tostring(load('\\27Lua')) }%", "nil" },  // no byte code
    };
    for (int i = 0; i < COUNT_OF(cases); i++)
        expect(cases[i].language, cases[i].text, cases[i].expected);
}

static void jobs_share_nothing(void **state)
{
    (void)state;
    expect(JS, "%< globalThis.kept = 1; Array.prototype.flat = null; Number = null; >%a", "a");
    expect(JS, "%<= typeof kept >%%<= [].flat === null >%", "undefinedfalse");
    expect(LUA, "%{ kept = 1 string.rep = nil }%a", "a");
    expect(LUA, "%{= tostring(kept) }%%{= string.rep('x', 2) }%", "nilxx");
}

static void same_work_is_done_once(void **state)
{
    (void)state;
    int before = template_evaluation_count();
    for (int i = 0; i < 5; i++)
        expect(JS, "%<= fields.size.value + 100 >%", "102.5");
    assert_int_equal(template_evaluation_count(), before + 1);
}

static void worker_is_restarted(void **state)
{
    (void)state;
    engine_stop_all();
    expect(JS, "%<= 40 + 2 >%", "42");
    engine_stop_all();
    expect(JS, "%<= 40 + 3 >%", "43");
    expect(LUA, "%{= 40 + 3 }%", "43");
}

static void field_use_is_detected(void **state)
{
    (void)state;
    static const struct {
        const char *text, *name;
        bool used, any;
    } cases[] = {
        { "%<= fields.size.value >%", "size", true, false }, { "%<= fields.sizes.value >%", "size", false, false },
        { "size IS size %<= 1 >%", "size", false, false },   { "%<= myfields.size >%", "size", false, false },
        { "%< let f = fields; >%", "size", false, true },    { "# %< fields.size >%\n", "size", false, false },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        bool any;
        bool used = template_uses_field(cases[i].text, strlen(cases[i].text), JS, cases[i].name, &any);
        CHECK(used == cases[i].used && any == cases[i].any, cases[i].text);
    }
    CHECK(template_is_used("a %< >%", 7, JS) && !template_is_used("a %< >%", 7, LUA)
              && !template_is_used("# %< >%", 7, JS),
          "tokens");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(javascript_is_evaluated),
        cmocka_unit_test(lua_is_evaluated),
        cmocka_unit_test(random_numbers_agree),
        cmocka_unit_test(errors_name_the_line),
        cmocka_unit_test(printing_is_reported),
        cmocka_unit_test(output_lines_are_mapped),
        cmocka_unit_test(files_are_confined),
        cmocka_unit_test(limits_end_a_template),
        cmocka_unit_test(written_files_are_kept_in_memory),
        cmocka_unit_test(output_limit_is_exact),
        cmocka_unit_test(code_cannot_reach_the_machine),
        cmocka_unit_test(jobs_share_nothing),
        cmocka_unit_test(same_work_is_done_once),
        cmocka_unit_test(worker_is_restarted),
        cmocka_unit_test(field_use_is_detected),
    };
    return cmocka_run_group_tests_name("formats.template", tests, NULL, NULL);
}
