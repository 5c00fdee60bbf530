// physics/spring_damping_force: a spring does the same on a fixed parent and on one that rests on the floor, and brings
// the joint back. Ends 1 and 2 are sliders, 3 and 4 hinges, 5 and 6 balls; all are pushed for 20 steps.
#include "check.h"

#include <webots/supervisor.h>

static WbNodeRef numbered(const char *name, int number)
{
    char def[16];
    snprintf(def, sizeof def, "%s%d", name, number);
    return wb_supervisor_node_get_from_def(def);
}

static double position(int spring)
{
    return wb_supervisor_field_get_sf_float(wb_supervisor_node_get_field(numbered("SPRING", spring), "position"));
}

int main(void)
{
    static const double pushes[6][3] = { { 0.2, 0, 0 }, { 0.2, 0, 0 }, { 0, 5, 0 },
                                         { 0, 0, -5 },  { 1, 0, 0.5 }, { 1, 0, 0.5 } };
    double worst = 0, moved = 0;
    wb_robot_init();
    for (int step = 1; step <= 60; step++) {
        for (int i = 0; i < 6 && step <= 20; i++)
            wb_supervisor_node_add_force(numbered("END", i + 1), pushes[i], true);
        check_steps(1);
        for (int i = 1; i <= 6; i += 2) {
            double first[3];
            memcpy(first,
                   wb_supervisor_field_get_sf_vec3f(wb_supervisor_node_get_field(numbered("END", i), "translation")),
                   sizeof first);
            const double *second = wb_supervisor_field_get_sf_vec3f(
                wb_supervisor_node_get_field(numbered("END", i + 1), "translation"));
            for (int k = 0; k < 3; k++)
                worst = fmax(worst, fabs(first[k] - second[k]));
            if (i < 5)
                worst = fmax(worst, fabs(position(i) - position(i + 1)));
            if (i < 5)
                moved = fmax(moved, fabs(position(i)));
        }
    }
    CHECK(moved > 0.02);
    CHECK_NEAR(worst, 0, 0.01);
    check_steps(10);
    for (int i = 1; i <= 4; i++)
        CHECK_NEAR(position(i), 0, 0.01);
    return check_done();
}
