// ODE's boxes, for the steppers that are its own: which of two stands first in the file does not decide whether they
// touch. Stock ODE finds no point of a plate against a long beam in one order of the two, at turns next to a right
// angle.
#include "world.h"

#include <math.h>

// Both boxes stand in a frame that is turned by nearly a quarter about y; the rotations below are that turn and what
// follows it.
static Pose in_frame(double turn, Vec3 place, double about_x)
{
    Pose frame = { VEC3_ZERO, quat_from_axis_angle(vec3(0, 1, 0), turn) };
    return pose_mul(frame, (Pose){ place, quat_from_axis_angle(vec3(1, 0, 0), about_x) });
}

static void add_box(Text *text, const char *name, Pose pose, const char *size)
{
    char line[512];
    Rotation r = quat_to_rotation(pose.q);
    snprintf(
        line, sizeof line,
        "Solid { name \"%s\" translation %.17g %.17g %.17g rotation %.17g %.17g %.17g %.17g boundingObject Box { size %s } physics Physics { } }\n",
        name, pose.t.x, pose.t.y, pose.t.z, r.x, r.y, r.z, r.angle, size);
    text_add_string(text, line);
}

static int points(Pose plate, Pose beam, bool plate_first)
{
    Text text = { 0 };
    text_add_string(&text, "WorldInfo { basicTimeStep 16 gravity 0 }\n");
    if (plate_first)
        add_box(&text, "plate", plate, "0.1 0.1 0.01");
    add_box(&text, "beam", beam, "0.2 0.1 1");
    if (!plate_first)
        add_box(&text, "plate", plate, "0.1 0.1 0.01");
    World world = world_open_with(text.data, &(SimOptions){ .physics.stepper = "ode-exact" });
    text_free(&text);
    int count, first = world_solid(&world, "plate");
    const PhysicsContact *contacts = physics_contacts(world.physics, &count);
    Vec3 apart = vec3_sub(plate.t, beam.t);
    for (int i = 0; i < count; i++)
        CHECK(vec3_dot(contacts[i].normal, apart)
                      * (physics_contact_solid(world.physics, &contacts[i], 0) == first ? 1.0 : -1.0)
                  > 0.0,
              "the normal pushes the plate off");
    world_close(&world);
    return count;
}

static void order_does_not_matter(void **state)
{
    (void)state;
    for (int i = 0; i < 50; i++) {
        double turn = -M_PI_2 + 1e-7 * (i - 25), off = 8e-5 * (i % 11) - 4e-4;
        Pose plate = in_frame(turn, vec3(0, -0.45, -0.106), 0.0),
             beam = in_frame(turn, vec3(0, -2e-5 * i, -0.1502), -M_PI_2 - off);
        int one = points(plate, beam, true), other = points(plate, beam, false);
        CHECK(one > 0 && other > 0, "they overlap by more than a centimetre");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(order_does_not_matter) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
