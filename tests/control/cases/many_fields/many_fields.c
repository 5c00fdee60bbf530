// Fields of every kind: read, set, lists that grow and shrink, and what does not fit refused.
#include <webots/supervisor.h>

#include "check.h"

static WbFieldRef field(const char *def, const char *name)
{
    WbFieldRef found = wb_supervisor_node_get_field(wb_supervisor_node_get_from_def(def), name);
    if (!found)
        printf("FAIL no field %s\n", name);
    return found;
}

static void pairs(void)
{
    WbFieldRef center = field("TURN", "center"), pair = field("MANY", "pair");
    CHECK(wb_supervisor_field_get_type(center) == WB_SF_VEC2F && wb_supervisor_field_get_sf_vec2f(center)[1] == 0.25);
    wb_supervisor_field_set_sf_vec2f(center, (const double[2]){ 7, 8 });
    CHECK(wb_supervisor_field_get_sf_vec2f(center)[0] == 7 && wb_supervisor_field_get_sf_vec2f(center)[1] == 8);
    CHECK(wb_supervisor_field_get_sf_vec2f(pair)[1] == 2);
    CHECK(!wb_supervisor_field_get_sf_vec2f(field("MANY", "flags")) && !wb_supervisor_field_get_sf_vec3f(pair));
    wb_supervisor_field_set_sf_vec2f(pair, (const double[2]){ NAN, 1 });  // refused
    CHECK(wb_supervisor_field_get_sf_vec2f(pair)[0] == 1);
}

static void bools(void)
{
    WbFieldRef flags = field("MANY", "flags");
    CHECK(wb_supervisor_field_get_count(flags) == 2 && wb_supervisor_field_get_mf_bool(flags, 0)
          && !wb_supervisor_field_get_mf_bool(flags, -1));
    wb_supervisor_field_set_mf_bool(flags, 1, true);
    wb_supervisor_field_insert_mf_bool(flags, 0, false);
    CHECK(wb_supervisor_field_get_count(flags) == 3 && !wb_supervisor_field_get_mf_bool(flags, 0)
          && wb_supervisor_field_get_mf_bool(flags, 2));
    wb_supervisor_field_remove_mf(flags, 0);
    wb_supervisor_field_remove_mf(flags, 9);
    CHECK(wb_supervisor_field_get_count(flags) == 2 && wb_supervisor_field_get_mf_bool(flags, 0));
    wb_supervisor_field_insert_mf_bool(flags, 9, true);  // beyond the end
    CHECK(wb_supervisor_field_get_count(flags) == 2 && !wb_supervisor_field_get_mf_bool(flags, 9));
}

static void rotations(void)
{
    WbFieldRef turns = field("MANY", "turns");
    CHECK(wb_supervisor_field_get_mf_rotation(turns, 0)[3] == 0.5);
    wb_supervisor_field_insert_mf_rotation(turns, -1, (const double[4]){ 1, 0, 0, 0.25 });
    CHECK(wb_supervisor_field_get_count(turns) == 2 && wb_supervisor_field_get_mf_rotation(turns, 1)[0] == 1);
    wb_supervisor_field_set_mf_rotation(turns, 0, (const double[4]){ 0, 2, 0, 1 });
    // Each item has a place of its own, so two can be held.
    const double *first = wb_supervisor_field_get_mf_rotation(turns, 0),
                 *second = wb_supervisor_field_get_mf_rotation(turns, 1);
    CHECK(first != second && first[3] == 1 && second[3] == 0.25);
    wb_supervisor_field_set_mf_rotation(turns, 0, NULL);
    CHECK(wb_supervisor_field_get_mf_rotation(turns, 0)[3] == 1);
    // A single rotation reads as it was set until the next step, and is unit from then on.
    WbFieldRef turn = field("GROUND", "rotation");
    CHECK_NEAR(wb_supervisor_field_get_sf_rotation(turn)[2], 1, 1e-12);
    wb_supervisor_field_set_sf_rotation(turn, (const double[4]){ 0, 2, 0, 0.5 });
    CHECK(wb_supervisor_field_get_sf_rotation(turn)[1] == 2 && wb_supervisor_field_get_sf_rotation(turn)[3] == 0.5);
    check_steps(1);
    CHECK_NEAR(wb_supervisor_field_get_sf_rotation(turn)[1], 1, 1e-12);
    CHECK(!wb_supervisor_field_get_mf_rotation(turns, 2) && !wb_supervisor_field_get_mf_rotation(NULL, 0));
}

static void others(void)
{
    WbFieldRef counts = field("MANY", "counts"), weights = field("MANY", "weights"), two = field("MANY", "pairs"),
               places = field("MANY", "places");
    WbFieldRef colors = field("MANY", "colors"), words = field("MANY", "words");
    wb_supervisor_field_insert_mf_int32(counts, -1, 3);
    wb_supervisor_field_set_mf_int32(counts, 0, -7);
    CHECK(wb_supervisor_field_get_mf_int32(counts, 0) == -7 && wb_supervisor_field_get_mf_int32(counts, -1) == 3);
    wb_supervisor_field_insert_mf_float(weights, 0, 0.25);
    wb_supervisor_field_set_mf_float(weights, 1, 4);
    CHECK(wb_supervisor_field_get_mf_float(weights, 0) == 0.25 && wb_supervisor_field_get_mf_float(weights, 1) == 4);
    wb_supervisor_field_insert_mf_vec2f(two, 1, (const double[2]){ 9, 9 });
    wb_supervisor_field_set_mf_vec2f(two, 0, (const double[2]){ 5, 6 });
    CHECK(wb_supervisor_field_get_mf_vec2f(two, 1)[0] == 9 && wb_supervisor_field_get_mf_vec2f(two, 2)[1] == 4);
    CHECK(wb_supervisor_field_get_mf_vec2f(two, 0)[1] == 6);
    wb_supervisor_field_insert_mf_vec3f(places, 0, (const double[3]){ 4, 5, 6 });
    wb_supervisor_field_set_mf_vec3f(places, 1, (const double[3]){ 7, 8, 9 });
    CHECK(wb_supervisor_field_get_mf_vec3f(places, 0)[2] == 6 && wb_supervisor_field_get_mf_vec3f(places, 1)[2] == 9);
    wb_supervisor_field_insert_mf_color(colors, 1, (const double[3]){ 0, 1, 0 });
    wb_supervisor_field_set_mf_color(colors, 0, (const double[3]){ 0, 0, 1 });
    CHECK(wb_supervisor_field_get_mf_color(colors, 1)[1] == 1 && wb_supervisor_field_get_mf_color(colors, 0)[2] == 1);
    wb_supervisor_field_insert_mf_string(words, 1, "b \"c\"");
    wb_supervisor_field_set_mf_string(words, 0, "");
    CHECK_TEXT(wb_supervisor_field_get_mf_string(words, 1), "b \"c\"");
    CHECK_TEXT(wb_supervisor_field_get_mf_string(words, 0), "");
    while (wb_supervisor_field_get_count(words) > 0)
        wb_supervisor_field_remove_mf(words, -1);
    CHECK(wb_supervisor_field_get_count(words) == 0 && !*wb_supervisor_field_get_mf_string(words, 0));
}

// Nodes from files, the old way.
static void nodes(void)
{
    FILE *file = fopen("thing.wbo", "w");
    fputs("#VRML_OBJ R2025a utf8\nDEF THING Solid { name \"from a file\" }\n", file);
    fclose(file);
    WbFieldRef children = field("GROUP", "children");
    wb_supervisor_field_import_mf_node(children, -1, "thing.wbo");
    CHECK(wb_supervisor_field_get_count(children) == 1 && wb_supervisor_node_get_from_def("THING"));
    wb_supervisor_field_import_mf_node(children, -1, "missing.wbo");
    wb_supervisor_field_import_mf_node(children, -1, NULL);
    wb_supervisor_field_import_mf_node_from_string(children, 0, "Solid {");  // not whole
    wb_supervisor_field_import_mf_node_from_string(children, 0, "nonsense");
    wb_supervisor_field_import_mf_node_from_string(children, 0, "");
    CHECK(wb_supervisor_field_get_count(children) == 1);
    wb_supervisor_field_import_mf_node_from_string(children, -1, "Shape { }");
    CHECK(wb_supervisor_field_get_count(children) == 2);
    file = fopen("box.wbo", "w");
    fputs("#VRML_OBJ R2025a utf8\nBox { size 1 2 3 }\n", file);
    fclose(file);
    WbFieldRef geometry = wb_supervisor_node_get_field(wb_supervisor_field_get_mf_node(children, 1), "geometry");
    CHECK(!wb_supervisor_field_get_sf_node(geometry));
    wb_supervisor_field_import_sf_node(geometry, "box.wbo");
    CHECK(wb_supervisor_node_get_type(wb_supervisor_field_get_sf_node(geometry)) == WB_NODE_BOX);
    wb_supervisor_field_remove_sf(geometry);
    CHECK(!wb_supervisor_field_get_sf_node(geometry));
}

int main(void)
{
    wb_robot_init();
    pairs();
    bools();
    rotations();
    others();
    nodes();
    check_steps(2);
    return check_done();
}
