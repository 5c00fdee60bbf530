// Every type of node in every field that may hold it: in a file, put into a running world, and where nothing of its
// kind belongs. Such a world runs, and what it saves opens again with the same solids.
#include "support/any_node.h"
#include "support/support.h"

#include "talus/talus.h"

static const TalusOptions options = { .size = sizeof(TalusOptions), .freezes_on_nan = true, .threads = 1 };

static int count_solids(const TalusWorld *world)
{
    TalusNode none[1];
    return talus_solids(world, none, 0);
}

static void check_saved(TalusWorld *world, const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/saved.wbt", support_scratch("any_place"));
    CHECK(talus_save(world, path), name);
    TalusWorld *saved = talus_load(path, &options);
    CHECK(saved && count_solids(saved) == count_solids(world), name);
    CHECK(talus_step(saved, 1), name);
    talus_free(saved);
}

static void check_world(TalusWorld *world, const char *name)
{
    CHECK(talus_step(world, 2), name);
    talus_reset(world);
    CHECK(talus_step(world, 1), name);
}

// The holder below `above`, with the node in its field: all of it in the file, the node put in later, both put in
// later.
static void check_pair(const char *above, const NodeType *holder, const FieldType *field, const NodeType *type)
{
    bool is_list = field_kind_is_list(field->kind);
    char node[64], full[256], empty[64], name[256];
    snprintf(name, sizeof name, "%s in %s.%s below %s", type->name, holder->name, field->name, above);
    snprintf(node, sizeof node, "%s { }", type->name);
    snprintf(empty, sizeof empty, "DEF HOLDER %s { }", holder->name);
    snprintf(full, sizeof full, "DEF HOLDER %s { %s %s%s%s }", holder->name, field->name, is_list ? "[ " : "", node,
             is_list ? " ]" : "");
    const struct {
        const char *child, *into, *field, *inserted;
    } ways[] = { { full, NULL, NULL, NULL },
                 { empty, "HOLDER", field->name, node },
                 { "", "ABOVE", "children", full } };
    for (int i = 0; i < COUNT_OF(ways); i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "#VRML_SIM R2025a utf8\nWorldInfo { } Viewpoint { }\nDEF ABOVE %s { children [ %s ] }\n", above,
                 ways[i].child);
        TalusWorld *world = talus_load_text("any.wbt", text, strlen(text), &options);
        CHECK(world, name);
        TalusNode into = ways[i].into ? talus_find(world, ways[i].into) : TALUS_NONE;
        if (into != TALUS_NONE)  // else the holder may not stand here
            talus_insert(world, into, ways[i].field, -1, ways[i].inserted);
        if (i == 1)  // before a reset takes it out again
            check_saved(world, name);
        check_world(world, name);
        talus_free(world);
    }
}

static bool is_node_field(const FieldType *field)
{
    return field && field_kind_item(field->kind) == FIELD_SF_NODE && field->class != FIELD_DEPRECATED;
}

static void every_node_stands_anywhere(void **state)
{
    (void)state;
    int pairs = 0;
    for (int i = 0; i < schema_type_count(); i++) {
        const NodeType *holder = schema_type_at(i);
        for (int k = 0; any_node_is_written(holder) && k < holder->own_field_count; k++) {
            const FieldType *field = schema_field(holder, holder->own_fields[k].name);
            for (int j = 0; is_node_field(field) && j < schema_type_count(); j++) {
                const NodeType *type = schema_type_at(j);
                // Of those that the field does not hold, a few.
                if (!any_node_is_written(type) || (!schema_allows_type(field->allowed, type) && (i + j) % 16))
                    continue;
                check_pair("Robot", holder, field, type);
                check_pair("Group", holder, field, type);
                pairs++;
            }
        }
    }
    assert_true(pairs > 300);
    print_message("%d pairs\n", pairs);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_node_stands_anywhere) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
