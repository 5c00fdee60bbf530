// Every field of every node type with every odd value there is, in a file of today and in old ones: it loads, says
// something or not, can be saved, and the saved text is read again. What is checked is that nothing breaks and that no
// number in the scene is other than finite.
#include "formats/formats.h"

#include "support/support.h"

#include <math.h>

static const char *const values[] = {
    "",
    "\"text\"",
    "[ ]",
    "[",
    "1e300",
    "-1e300",
    "-1",
    "nan nan nan nan",
    "inf -inf inf inf",
    "1e999",
    "-0 -0 -0 -0",
    "0 0 0 0",
    "TRUE",
    "NULL",
    "Box { }",
    "DEF Q Solid { }",
    "USE NOBODY",
    "[ 1 2 3 4 5 6 7 ]",
    "[ -1 5000000 3 ]",
    "2147483648",
    "1 1",
    "[ Solid { } Physics { } NULL Group { } Robot { } HingeJoint { } ]",
    "[ \"a\" \"\" \"b:c\" ]",
    "IS parameter",
    "{ }",
    "1 2 3 4 5 6 7 8 9",
};

static const char *const releases[] = { "R2025a", "R2021b", "V6.0", "V5.0" };

// A place where the type may stand: "Solid { physics" for Physics.
static void find_place(const NodeType *type, Text *open, Text *close)
{
    text_add_string(open, "Robot { name \"r\" boundingObject Box { } physics Physics { } children [ ");
    text_add_string(close, " ] }\n");
    if (schema_type_is(type, "Group"))
        return;
    for (int i = 0; i < schema_type_count(); i++) {
        const NodeType *host = schema_type_at(i);
        for (int k = 0; !(host->flags & (NODE_ABSTRACT | NODE_VRML97 | NODE_REMOVED)) && k < host->field_count; k++) {
            const FieldType *field = &host->fields[k];
            if (field_kind_item(field->kind) != FIELD_SF_NODE || !field->allowed
                || !schema_allows_type(field->allowed, type))
                continue;
            text_printf(open, "%s { %s ", host->name, field->name);
            text_add_string(close, "}");
            text_clear(close);
            text_add_string(close, " } ] }\n");
            return;
        }
    }
}

static bool is_finite_value(const FieldType *type, FieldValue value)
{
    int numbers = field_kind_doubles(type->kind);
    if (numbers == 0)
        return true;
    bool is_list = field_kind_is_list(type->kind);
    const double *v = is_list ? value.list->numbers : numbers == 1 ? &value.f : value.v;
    for (int64_t i = 0; i < (is_list ? (int64_t)value.list->count * numbers : numbers); i++)
        if (!isfinite(v[i]))
            return false;
    return true;
}

static bool check_finite(SceneNode *node, void *context)
{
    for (int i = 0; i < node->field_count; i++) {
        char name[160];
        snprintf(name, sizeof name, "%s.%s in %s", node->type->name, node->fields[i].type->name, (const char *)context);
        CHECK(is_finite_value(node->fields[i].type, node->fields[i].value), name);
    }
    return true;
}

static void check_world(const char *text, size_t size, const char *name)
{
    DiagSink *diags = diag_create();
    Scene *scene = formats_load_text("mutated.wbt", text, size, NULL, diags);
    CHECK(scene != NULL, name);
    scene_walk(scene_root(scene), true, check_finite, (void *)name);
    Text saved = { 0 };
    formats_write(scene, &saved);
    DiagSink *quiet = diag_create();
    Scene *again = formats_load_text("saved.wbt", saved.data, saved.length, NULL, quiet);
    CHECK(again != NULL, name);
    scene_destroy(again);
    diag_destroy(quiet);
    text_free(&saved);
    scene_destroy(scene);
    diag_destroy(diags);
}

// One world holds one node per field, each with that field mutated.
static void mutate(const NodeType *type, const char *value, const char *release)
{
    Text open = { 0 }, close = { 0 }, world = { 0 };
    find_place(type, &open, &close);
    text_printf(&world, "#VRML_SIM %s utf8\nWorldInfo { }\nViewpoint { }\nDEF A Solid { }\n", release);
    for (int i = 0; i < type->field_count; i++)
        text_printf(&world, "%s%s { %s %s }%s", open.data, type->name, type->fields[i].name, value, close.data);
    char name[160];
    snprintf(name, sizeof name, "%s with %s in %s", type->name, value, release);
    check_world(world.data, world.length, name);
    text_free(&open);
    text_free(&close);
    text_free(&world);
}

static void odd_values_load(void **state)
{
    (void)state;
    for (int i = 0; i < schema_type_count(); i++)
        for (int k = 0; k < COUNT_OF(values); k++)
            mutate(schema_type_at(i), values[k], releases[(i + k) % COUNT_OF(releases)]);
}

// Each type where it does not belong: at the root, in bounding objects, as an end point, shared.
static void odd_places_load(void **state)
{
    (void)state;
    static const char *const places[] = {
        "%s { }",
        "Solid { boundingObject %s { } physics Physics { } }",
        "Solid { boundingObject Group { children [ Pose { children [ %s { } ] } ] } }",
        "Solid { physics %s { } }",
        "Robot { children [ HingeJoint { jointParameters %s { } } ] }",
        "Robot { children [ HingeJoint { device %s { } endPoint %s { } } ] }",
        "Shape { appearance %s { } geometry %s { } }",
        "Transform { scale 2 2 2 children [ %s { } ] }",
        "DEF X %s { } Solid { children [ USE X ] boundingObject USE X physics USE X }",
        "Solid { scale 2 2 2 children [ DEF X %s { } USE X ] } Solid { children [ USE X ] }",
    };
    for (int i = 0; i < schema_type_count(); i++)
        for (int k = 0; k < COUNT_OF(releases); k++) {
            const char *type = schema_type_at(i)->name;
            Text world = { 0 };
            text_printf(&world, "#VRML_SIM %s utf8\nWorldInfo { }\nViewpoint { }\n", releases[k]);
            for (int p = 0; p < COUNT_OF(places); p++) {
                for (const char *at = places[p]; *at; at++)
                    if (at[0] == '%' && at[1] == 's')
                        text_add_string(&world, type), at++;
                    else
                        text_add_char(&world, *at);
                text_add_char(&world, '\n');
            }
            check_world(world.data, world.length, type);
            text_free(&world);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(odd_values_load), cmocka_unit_test(odd_places_load) };
    return cmocka_run_group_tests_name("formats.mutation", tests, NULL, NULL);
}
