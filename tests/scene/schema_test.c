#include "scene/schema.h"

#include "support/support.h"

#include <math.h>

static bool is_number_kind(FieldKind kind)
{
    return field_kind_doubles(kind) > 0 || field_kind_item(kind) == FIELD_SF_INT32;
}

// Every alternative of `allowed` for nodes names a type there is.
static void check_allowed_types(const FieldType *field, const char *name)
{
    for (const char *text = field->allowed; text && *text;) {
        size_t length = strcspn(text, "|");
        bool is_exact = *text == '=';
        CHECK(schema_type_text(text + is_exact, length - is_exact) != NULL, name);
        text += length;
        text += *text == '|';
    }
}

static void check_numbers(const FieldType *field, const char *name)
{
    bool is_list = field_kind_is_list(field->kind), is_int = field_kind_item(field->kind) == FIELD_SF_INT32;
    int items = is_list ? field->value.list->count : 1, per_item = is_int ? 1 : field_kind_doubles(field->kind);
    bool is_vector_axis = field->allowed && !strcmp(field->allowed, "!=0") && per_item > 1;
    for (int i = 0; i < items * per_item && !is_vector_axis; i++) {
        double value = is_int    ? (double)(is_list ? field->value.list->ints[i] : field->value.i)
                       : is_list ? field->value.list->numbers[i]
                                 : (per_item == 1 ? field->value.f : field->value.v[i]);
        CHECK(isfinite(value), name);
        CHECK(schema_allows_number(field->allowed, value, NULL), name);
    }
}

static void check_release(const char *release, const char *name)
{
    CHECK(!release || !strcmp(release, "VRML97") || schema_release(release, strlen(release)) > 0, name);
}

static void check_field(const NodeType *type, const FieldType *field)
{
    char name[128];
    snprintf(name, sizeof name, "%s.%s", type->name, field->name);
    CHECK(field->kind != FIELD_NONE && field->preset && field->help && field->help[0], name);
    CHECK(!field_kind_is_list(field->kind) || field->value.list, name);
    CHECK(schema_field(type, field->name) == field || schema_field(type, field->name)->older == field, name);
    check_release(field->since, name);
    check_release(field->until, name);
    FieldKind item = field_kind_item(field->kind);
    if (item == FIELD_SF_NODE)
        check_allowed_types(field, name);
    else if (is_number_kind(field->kind))
        check_numbers(field, name);
    else if (field->kind == FIELD_SF_STRING)
        CHECK(schema_allows_word(field->allowed, field->value.s), name);
    if (field->older) {
        CHECK(field->older->kind != field->kind && field->older->class == FIELD_DEPRECATED, name);
        check_field(type, field->older);
    }
}

static void every_row_is_sound(void **state)
{
    (void)state;
    CHECK(schema_type_count() > 100, "count");
    for (int i = 0; i < schema_type_count(); i++) {
        const NodeType *type = schema_type_at(i);
        CHECK(schema_type(type->name) == type && type->index == i && type->help, type->name);
        CHECK(!type->parent_name || !strcmp(type->parent->name, type->parent_name), type->name);
        check_release(type->since, type->name);
        check_release(type->until, type->name);
        for (int k = 0; k < type->field_count; k++) {
            CHECK(type->fields[k].index == k, type->name);
            check_field(type, &type->fields[k]);
        }
    }
    CHECK(!schema_type("solid") && !schema_type("") && !schema_type_text("SolidX", 4) && schema_type_text("SolidX", 5),
          "text");
    CHECK(!schema_field(schema_type("Solid"), "nam") && !schema_field(schema_type("Geometry"), "size"),
          "unknown fields");
}

static void families_are_what_consumers_ask_for(void **state)
{
    (void)state;
    static const struct {
        const char *type, *ancestor;
        bool is;
    } cases[] = {
        { "Camera", "Solid", true },
        { "Camera", "Device", true },
        { "Camera", "Group", true },
        { "Robot", "Device", false },
        { "Robot", "Solid", true },
        { "Servo", "Solid", true },
        { "Brake", "Device", true },
        { "Brake", "Solid", false },
        { "LinearMotor", "Motor", true },
        { "Skin", "Device", true },
        { "Skin", "Pose", false },
        { "Fluid", "Pose", true },
        { "Fluid", "Solid", false },
        { "Hinge2Joint", "Joint", true },
        { "Hinge2Joint", "HingeJoint", false },
        { "BallJointParameters", "JointParameters", true },
        { "Extrusion", "Geometry", true },
        { "SpotLight", "Light", true },
        { "PBRAppearance", "AbstractAppearance", true },
        { "TrackWheel", "Group", true },
        { "TrackWheel", "Pose", false },
        { "Supervisor", "Robot", true },
        { "Transform", "Pose", true },
        { "Slot", "Group", false },
        { "Mesh", "Geometry", true },
    };
    for (int i = 0; i < COUNT_OF(cases); i++)
        CHECK(schema_type_is(schema_type(cases[i].type), cases[i].ancestor) == cases[i].is, cases[i].type);
    CHECK(!schema_type_is(NULL, "Solid"), "NULL");
}

static void defaults_are_parsed(void **state)
{
    (void)state;
    const NodeType *camera = schema_type("Camera");
    CHECK(!strcmp(schema_field(camera, "name")->value.s, "camera"), "name");
    CHECK(schema_field(camera, "rotation")->value.v[2] == 1.0, "rotation");
    CHECK(schema_field(camera, "width")->value.i == 64, "width");
    CHECK(schema_field(schema_type("Cylinder"), "top")->value.b, "top");
    const FieldList *table = schema_field(schema_type("DistanceSensor"), "lookupTable")->value.list;
    CHECK(table->count == 2 && table->numbers[3] == 0.1 && table->numbers[4] == 1000.0, "lookupTable");
    const FieldType *gravity = schema_field(schema_type("WorldInfo"), "gravity");
    CHECK(gravity->value.f == 9.81 && gravity->older && gravity->older->kind == FIELD_SF_VEC3F, "gravity");
    CHECK(!schema_field(schema_type("BallJointParameters"), "axis"), "a dropped field");
    static const char *const order[] = { "translation", "rotation", "children", "name" };
    for (int i = 0; i < COUNT_OF(order); i++)
        CHECK(!strcmp(camera->fields[i].name, order[i]), order[i]);
}

static void ranges_are_understood(void **state)
{
    (void)state;
    static const struct {
        const char *allowed;
        double value;
        bool ok;
        double nearest;
    } cases[] = {
        { NULL, -5, true, -5 },          { ">=0", 0, true, 0 },
        { ">=0", -1, false, 0 },         { ">0", 0, false, NAN },
        { ">0", -2, false, NAN },        { "[0,1]", 2, false, 1 },
        { "[0,1]", -2, false, 0 },       { "-1|>=0", -1, true, -1 },
        { "-1|>=0", -0.4, false, 0 },    { "-1|>=0", -0.6, false, -1 },
        { "!=0", 0, false, NAN },        { "!=0", 1, true, 1 },
        { "(0,3]", 3, true, 3 },         { "(0,3]", 4, false, 3 },
        { "(0,3]", 0, false, NAN },      { "(0,3)", 3, false, NAN },
        { "0|1|2", 2, true, 2 },         { "0|1|2", 7, false, 2 },
        { ">=0", NAN, false, NAN },      { ">=0", INFINITY, true, INFINITY },
        { "[0,1]", INFINITY, false, 1 }, { "-1|[0,6.28]", 9, false, 6.28 },
        { ">=0", -0.0, true, -0.0 },     { "<=1", 2, false, 1 },
        { "-1|>0", 0, false, -1 },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        double nearest = 12345.0;
        const char *name = cases[i].allowed ? cases[i].allowed : "NULL";
        CHECK(schema_allows_number(cases[i].allowed, cases[i].value, &nearest) == cases[i].ok, name);
        CHECK(isnan(cases[i].nearest) ? isnan(nearest) : nearest == cases[i].nearest, name);
    }
}

static void words_and_types_are_matched(void **state)
{
    (void)state;
    CHECK(schema_allows_word("a|bc", "bc") && !schema_allows_word("a|bc", "b") && schema_allows_word(NULL, "x"),
          "words");
    CHECK(!schema_allows_word("a|bc", "") && !schema_allows_word("a|bc", "a|bc"), "words");
    CHECK(schema_allows_type("Solid|Slot", schema_type("Camera")), "descendant");
    CHECK(!schema_allows_type("=Solid", schema_type("Camera")) && schema_allows_type("=Solid", schema_type("Solid")),
          "exact");
    CHECK(schema_allows_type("Device", schema_type("Camera")) && !schema_allows_type("Device", schema_type("Robot")),
          "device");
    CHECK(!schema_allows_type("Solid", NULL), "NULL");
}

static void releases_are_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int release;
        const char *name;
    } cases[] = {
        { "V5.0", 5000, "V5.0" },
        { "V7.4.3", 7403, "V7.4.3" },
        { "R2021b rev1", 2021101, "R2021b rev1" },
        { "R2025a", 2025000, "R2025a" },
        { "R2021b", 2021100, "R2021b" },
        { "V8.6", 8600, "V8.6" },
        { "V8.5.0", 8500, "V8.5" },
        { "V2.0", 2000, "V2.0" },
        { "2021b", 0, NULL },
        { "R21b", 0, NULL },
        { "R2021c", 0, NULL },
        { "V", 0, NULL },
        { "", 0, NULL },
        { "V7..1", 0, NULL },
        { "R2021b revx", 0, NULL },
        { "V99999999999999.0", 0, NULL },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        char buffer[24];
        CHECK(schema_release(cases[i].text, strlen(cases[i].text)) == cases[i].release, cases[i].text);
        CHECK(!cases[i].name || !strcmp(schema_release_name(cases[i].release, buffer), cases[i].name), cases[i].text);
    }
}

static void kinds_have_names(void **state)
{
    (void)state;
    for (int kind = FIELD_SF_BOOL; kind <= FIELD_MF_NODE; kind++) {
        if (kind > FIELD_SF_NODE && kind <= FIELD_MF)
            continue;
        const char *name = field_kind_name((FieldKind)kind);
        CHECK((int)field_kind_from_name(name, strlen(name)) == kind, name);
    }
    CHECK(field_kind_from_name("SFFloaty", 8) == FIELD_NONE && field_kind_from_name("SFFloaty", 7) == FIELD_SF_FLOAT,
          "text");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_sound),
        cmocka_unit_test(families_are_what_consumers_ask_for),
        cmocka_unit_test(defaults_are_parsed),
        cmocka_unit_test(ranges_are_understood),
        cmocka_unit_test(words_and_types_are_matched),
        cmocka_unit_test(releases_are_numbers),
        cmocka_unit_test(kinds_have_names),
    };
    return cmocka_run_group_tests_name("scene.schema", tests, NULL, NULL);
}
