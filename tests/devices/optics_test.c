// Where the pixels of round pictures look: one circle as wide as the picture, or two half spaces beside each other.
#include "devices/devices_internal.h"

#include "physics/world.h"

static void round_pictures(void **state)
{
    (void)state;
    static const double half = 0.70710678118654752;
    static const struct {
        Projection projection;
        int width, height;
        double field_of_view, x, y;
        Vec3 direction;
        const char *what;
    } cases[] = {
        { FISHEYE, 100, 100, M_PI, 50, 50, { 1, 0, 0 }, "the middle looks ahead" },
        { FISHEYE, 100, 100, M_PI, 0, 50, { 0, 1, 0 }, "the left edge to the left" },
        { FISHEYE, 100, 100, M_PI, 50, 25, { half, 0, half }, "half way up by half a right angle" },
        { FISHEYE, 100, 100, M_PI_2, 100, 50, { half, -half, 0 }, "the edge of a narrower one" },
        { FISHEYE, 100, 100, M_PI, 10, 10, { 0, 0, 0 }, "nothing in the corners" },
        { FISHEYE, 100, 100, 6, 0, 50, { 0, 1, 0 }, "no more than a half space" },
        { DUAL_FISHEYE, 200, 100, M_PI, 50, 50, { 1, 0, 0 }, "the left circle looks ahead" },
        { DUAL_FISHEYE, 200, 100, M_PI, 50, 0, { 0, -1, 0 }, "above is what lies to the right" },
        { DUAL_FISHEYE, 200, 100, M_PI, 0, 50, { 0, 0, 1 }, "to the left what lies above" },
        { DUAL_FISHEYE, 200, 100, M_PI, 150, 50, { -1, 0, 0 }, "the right circle looks back" },
        { DUAL_FISHEYE, 200, 100, M_PI, 150, 0, { 0, -1, 0 }, "above is the same side" },
        { DUAL_FISHEYE, 200, 100, M_PI, 200, 50, { 0, 0, 1 }, "to the right what lies above" },
        { DUAL_FISHEYE, 200, 100, M_PI, 195, 5, { 0, 0, 0 }, "nothing in the corners of the second" },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        ImageView view = image_view_of(cases[i].projection, cases[i].width, cases[i].height, cases[i].field_of_view);
        CHECK(vec3_distance(image_direction(&view, cases[i].x, cases[i].y), cases[i].direction) < 1e-9, cases[i].what);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(round_pictures) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
