// api/supervisor_save_world, physics/floating_point_precision, physics/hidden_parameter_single, and the states of
// api/supervisor_node.
#include "check.h"

#include <float.h>
#include <webots/supervisor.h>

static WbFieldRef field(const char *def, const char *name)
{
    return wb_supervisor_node_get_field(wb_supervisor_node_get_from_def(def), name);
}

static double position(const char *def, const char *parameters)
{
    WbNodeRef node = wb_supervisor_field_get_sf_node(field(def, parameters));
    return wb_supervisor_field_get_sf_float(wb_supervisor_node_get_field(node, "position"));
}

static void check_hidden(void)
{
    CHECK_VECTOR(wb_supervisor_field_get_sf_vec3f(field("HIDDEN", "translation")), 0.1, 0.1, 50.23, 0);
    CHECK_VECTOR(wb_supervisor_field_get_sf_rotation(field("HIDDEN", "rotation")), 1, 0, 0, 0);
    CHECK_NEAR(wb_supervisor_field_get_sf_rotation(field("HIDDEN", "rotation"))[3], 0.47, 0);
    CHECK_NEAR(position("HINGE", "jointParameters"), 0.111, 1e-10);
    CHECK_NEAR(position("SLIDER", "jointParameters"), 0.222, 1e-10);
    CHECK_NEAR(position("HINGE2", "jointParameters"), 0.333, 1e-10);
    CHECK_NEAR(position("HINGE2", "jointParameters2"), 0.444, 1e-10);
    CHECK_NEAR(position("JOINT3", "jointParameters"), 0.555, 1e-10);
    CHECK_NEAR(position("JOINT3", "jointParameters2"), 0.666, 1e-10);
    CHECK_NEAR(position("JOINT3", "jointParameters3"), 0.777, 1e-10);
    check_steps(1);
    CHECK(wb_supervisor_field_get_sf_vec3f(field("HIDDEN", "translation"))[1] - 0.1 > 0.015);
}

// True when the saved world has a line that is `name value` and nothing more.
static int has_line(const char *file, const char *line)
{
    char text[256];
    int count = 0;
    FILE *in = fopen(file, "r");
    while (in && fgets(text, sizeof text, in)) {
        text[strcspn(text, "\n")] = 0;
        count += !strcmp(text + strspn(text, " "), line);
    }
    if (in)
        fclose(in);
    return count;
}

// (The published 0 is the field's default, which is not written.)
static const double precise[] = {
    0.1, 0.2, 0.3, 123456, 0.123456, 123456789012345, 0.123456789012345, DBL_EPSILON, -DBL_EPSILON, DBL_MIN, FLT_MAX
};
enum { PRECISE = sizeof precise / sizeof *precise };

static void check_precision(const char *file)
{
    char text[256];
    int found = 0;
    FILE *in = fopen(file, "r");
    while (in && fgets(text, sizeof text, in)) {
        double value;
        if (sscanf(text, " rotation %lf", &value) == 1 && found < PRECISE) {
            CHECK(value == precise[found]);
            found++;
        }
    }
    if (in)
        fclose(in);
    CHECK(found == PRECISE);
    CHECK(has_line(file, "rotation 0.1") == 1 && has_line(file, "rotation 0.2") == 1
          && has_line(file, "rotation 0.3") == 1);
}

static void check_saving(void)
{
    char text[256];
    wb_supervisor_field_set_sf_float(field("BALL", "radius"), 0.2);
    wb_supervisor_field_set_sf_vec3f(field("VIEW", "position"), (const double[3]){ 1, 2, 3 });
    wb_supervisor_field_set_sf_rotation(field("VIEW", "orientation"), (const double[4]){ 0, 0, 1, 0.5 });
    for (int i = 0; i < PRECISE; i++) {
        snprintf(text, sizeof text,
                 "Shape { appearance Appearance { textureTransform DEF N%d TextureTransform { rotation %.17g } } }", i,
                 precise[i]);
        wb_supervisor_field_import_mf_node_from_string(field("NUMBERS", "children"), -1, text);
        snprintf(text, sizeof text, "N%d", i);
        CHECK_NEAR(wb_supervisor_field_get_sf_float(field(text, "rotation")), precise[i], 0);
    }
    CHECK(wb_supervisor_world_save("saved.wbt"));
    CHECK(has_line("saved.wbt", "radius 0.2") == 1);
    CHECK(has_line("saved.wbt", "position 1 2 3") == 1 && has_line("saved.wbt", "orientation 0 0 1 0.5") == 1);
    check_precision("saved.wbt");
}

static void check_states(void)
{
    WbNodeRef turned = wb_supervisor_node_get_from_def("TURNED");
    double at[3], way[4];
    memcpy(at, wb_supervisor_field_get_sf_vec3f(field("TURNED", "translation")), sizeof at);
    memcpy(way, wb_supervisor_field_get_sf_rotation(field("TURNED", "rotation")), sizeof way);
    wb_supervisor_node_save_state(turned, "before");
    wb_supervisor_node_set_velocity(turned, (const double[6]){ 1, 0, 2, 3, 2, 1 });
    check_steps(10);
    CHECK(fabs(wb_supervisor_field_get_sf_vec3f(field("TURNED", "translation"))[0] - at[0]) > 0.1);
    wb_supervisor_node_load_state(turned, "before");
    CHECK_VECTOR(wb_supervisor_field_get_sf_vec3f(field("TURNED", "translation")), at[0], at[1], at[2], 1e-15);
    CHECK_VECTOR(wb_supervisor_field_get_sf_rotation(field("TURNED", "rotation")), way[0], way[1], way[2], 1e-12);
    CHECK_NEAR(wb_supervisor_field_get_sf_rotation(field("TURNED", "rotation"))[3], way[3], 1e-12);
}

int main(void)
{
    wb_robot_init();
    check_hidden();
    check_saving();
    check_states();
    return check_done();
}
