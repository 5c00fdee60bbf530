// Contact points of convex solids against what geometry says.
#include "physics/collide/convex.h"

#include "support/support.h"

static Pose at(double x, double y, double z) { return (Pose){ vec3(x, y, z), QUAT_IDENTITY }; }

static void boxes_meet_with_their_faces(void **state)
{
    (void)state;
    Convex *a = convex_from_box(vec3(1, 1, 1)), *b = convex_from_box(vec3(4, 4, 1));
    ConvexScratch *scratch = convex_scratch_create();
    ConvexPoint points[CONVEX_POINTS];
    CHECK(convex_collide(a, at(0, 0, 1.01), b, at(0, 0, 0), scratch, points) == 0, "apart");
    int count = convex_collide(a, at(0.5, 0, 0.99), b, at(0, 0, 0), scratch, points);
    CHECK(count == 4, "four corners");
    for (int i = 0; i < count; i++) {
        CHECK_NEAR(points[i].depth, 0.01, 1e-12, "depth");
        CHECK_NEAR(points[i].normal.z, 1.0, 1e-12, "the normal points into the first solid");
        CHECK_NEAR(fabs(points[i].position.y), 0.5, 1e-12, "at a corner");
    }
    count = convex_collide(b, at(0, 0, 0), a, at(0.5, 0, 0.99), scratch, points);
    CHECK(count == 4 && points[0].normal.z < -0.999, "the other way round");
    convex_scratch_destroy(scratch);
    convex_destroy(a);
    convex_destroy(b);
}

static void edges_meet_in_a_point(void **state)
{
    (void)state;
    Convex *a = convex_from_box(vec3(1, 1, 1)), *b = convex_from_box(vec3(1, 1, 1));
    // Both stand on an edge, crosswise: the edges meet sqrt(2)/2 from each centre.
    Pose low = { VEC3_ZERO, quat_from_axis_angle(vec3(1, 0, 0), 0.78539816339744828) };
    Pose high = { vec3(0, 0, 1.4142135623730951 - 0.01), quat_from_axis_angle(vec3(0, 1, 0), 0.78539816339744828) };
    ConvexScratch *scratch = convex_scratch_create();
    ConvexPoint points[CONVEX_POINTS];
    int count = convex_collide(a, high, b, low, scratch, points);
    CHECK(count == 1, "one point");
    CHECK_NEAR(points[0].depth, 0.01, 1e-9, "depth");
    CHECK_NEAR(points[0].normal.z, 1.0, 1e-9, "normal");
    CHECK_NEAR(vec3_length(vec3_sub(points[0].position, vec3(0, 0, 0.70710678 - 0.005))), 0.0, 1e-6, "place");
    convex_scratch_destroy(scratch);
    convex_destroy(a);
    convex_destroy(b);
}

static void only_convex_meshes_are_taken(void **state)
{
    (void)state;
    Mesh *ball = mesh_sphere_uv(1.0, 8, 4, MESH_AXIS_Z), *large = mesh_sphere_uv(1.0, 40, 20, MESH_AXIS_Z),
         *plane = mesh_plane((Vec2){ 1, 1 }, MESH_AXIS_Z);
    const double section[] = { 0, 0, 2, 0, 2, 1, 1, 1, 1, 2, 0, 2, 0, 0 }, spine[] = { 0, 0, 0, 0, 1, 0 };
    MeshExtrusion corner = { .section = section, .section_count = 7, .spine = spine, .spine_count = 2 };
    MeshReport report = { 0 };
    Mesh *angle = mesh_extrusion(&corner, NULL, &report);
    Convex *convex = convex_from_mesh(ball);
    CHECK(convex != NULL, "a ball of few faces");
    convex_destroy(convex);
    CHECK(!convex_from_mesh(large) && !convex_from_mesh(plane) && !convex_from_mesh(angle),
          "many faces, open, with a corner");
    mesh_destroy(ball);
    mesh_destroy(large);
    mesh_destroy(plane);
    mesh_destroy(angle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_meet_with_their_faces),
        cmocka_unit_test(edges_meet_in_a_point),
        cmocka_unit_test(only_convex_meshes_are_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
