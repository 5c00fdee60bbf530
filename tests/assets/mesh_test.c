#include "assets/mesh.h"

#include "support/support.h"

static void check_inertia(Mat3 actual, double xx, double yy, double zz, double tolerance, const char *name)
{
    CHECK_NEAR(actual.m[0], xx, tolerance, name);
    CHECK_NEAR(actual.m[4], yy, tolerance, name);
    CHECK_NEAR(actual.m[8], zz, tolerance, name);
    CHECK_NEAR(actual.m[1], 0.0, tolerance, name);
    CHECK_NEAR(actual.m[2], 0.0, tolerance, name);
    CHECK_NEAR(actual.m[5], 0.0, tolerance, name);
}

// Normals are unit and look to the side on which the triangle turns left; texture coordinates are there.
static void check_surface(const Mesh *mesh, const char *name)
{
    for (int i = 0; i < mesh->triangle_count; i++) {
        Vec3 flat = mesh_triangle_normal(mesh, i);
        for (int k = 0; k < 3 && mesh->normals; k++) {
            const float *n = mesh->normals + 9 * (size_t)i + 3 * k;
            Vec3 normal = vec3(n[0], n[1], n[2]);
            CHECK_NEAR(vec3_length(normal), 1.0, 1e-5, name);
            CHECK(vec3_dot(normal, flat) > 0.0, name);
        }
    }
    CHECK(mesh->texcoords != NULL, name);
    for (size_t i = 0; i < 6 * (size_t)mesh->triangle_count; i++)
        CHECK(mesh->texcoords[i] >= 0.0f && mesh->texcoords[i] <= 2.0f, name);
}

// A regular prism over n corners is what a cylinder of n divisions is: exact values, no tolerance for the tessellation.
static double polygon_area(int n, double r) { return 0.5 * n * r * r * sin(2.0 * M_PI / n); }

static void primitives_have_their_volume(void **state)
{
    (void)state;
    double r = 0.7, h = 1.3;
    int n = 36;
    double disc = polygon_area(n, r);
    const MeshRound round = { .radius = r, .height = h, .divisions = n };
    const MeshRound round_y = { .radius = r, .height = h, .divisions = n, .axis = MESH_AXIS_Y };
    struct {
        const char *name;
        Mesh *mesh;
        double volume, tolerance;
        Vec3 size;
    } cases[] = {
        { "box", mesh_box(vec3(1, 2, 3)), 6.0, 1e-14, { 1, 2, 3 } },
        { "cylinder", mesh_cylinder(&round), disc * h, 1e-14, { 2 * r, 2 * r, h } },
        { "cylinder y", mesh_cylinder(&round_y), disc * h, 1e-14, { 2 * r, h, 2 * r } },
        { "cone", mesh_cone(&round), disc * h / 3.0, 1e-14, { 2 * r, 2 * r, h } },
        { "cone y", mesh_cone(&round_y), disc * h / 3.0, 1e-14, { 2 * r, h, 2 * r } },
        { "ico sphere", mesh_sphere_ico(r, 5), 4.0 / 3.0 * M_PI * r * r * r, 5e-3, { 2 * r, 2 * r, 2 * r } },
        { "uv sphere",
          mesh_sphere_uv(r, 96, 48, MESH_AXIS_Z),
          4.0 / 3.0 * M_PI * r * r * r,
          6e-3,
          { 2 * r, 2 * r, 2 * r } },
        { "capsule",
          mesh_capsule(&(MeshRound){ .radius = r, .height = h, .divisions = 96 }),
          4.0 / 3.0 * M_PI * r * r * r + M_PI * r * r * h,
          1e-2,
          { 2 * r, 2 * r, 2 * r + h } },
        { "capsule y",
          mesh_capsule(&(MeshRound){ .radius = r, .height = h, .divisions = 96, .axis = MESH_AXIS_Y }),
          4.0 / 3.0 * M_PI * r * r * r + M_PI * r * r * h,
          1e-2,
          { 2 * r, 2 * r + h, 2 * r } },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        MeshMass mass;
        mesh_mass(cases[i].mesh, &mass);
        CHECK(mass.is_closed && mass.is_solid, cases[i].name);
        CHECK_NEAR(mass.volume, cases[i].volume, cases[i].tolerance, cases[i].name);
        Vec3 size = vec3_sub(cases[i].mesh->high, cases[i].mesh->low);
        CHECK_NEAR(vec3_distance(size, cases[i].size), 0.0, 0.02, cases[i].name);
        check_surface(cases[i].mesh, cases[i].name);
        mesh_destroy(cases[i].mesh);
    }
    Mesh *ico = mesh_sphere_ico(1.0, 3);
    assert_int_equal(ico->triangle_count, 320);
    assert_int_equal(ico->vertex_count, 162);
    mesh_destroy(ico);
}

static void mass_integrals_are_exact(void **state)
{
    (void)state;
    MeshMass mass;
    Mesh *box = mesh_box(vec3(1, 2, 3));
    // Far from the origin and turned: the integrals must not lose digits.
    Pose far = { { 1000, -2000, 500 }, quat_from_axis_angle(vec3(0, 0, 1), M_PI / 2) };
    Mesh *moved = mesh_transformed(box, vec3(1, 1, 1), far);
    mesh_mass(box, &mass);
    check_inertia(mass.inertia, 6.0 * (4 + 9) / 12.0, 6.0 * (1 + 9) / 12.0, 6.0 * (1 + 4) / 12.0, 1e-13, "box");
    mesh_mass(moved, &mass);
    CHECK_NEAR(mass.volume, 6.0, 1e-9, "moved box");
    CHECK_NEAR(vec3_distance(mass.centre, far.t), 0.0, 1e-9, "moved box");
    check_inertia(mass.inertia, 6.0 * (1 + 9) / 12.0, 6.0 * (4 + 9) / 12.0, 6.0 * (1 + 4) / 12.0, 1e-9, "moved box");
    mesh_destroy(moved);

    // The unit tetrahedron: V = 1/6, centre at 1/4 each, Ixx about it 1/80, Ixy 1/480.
    const double points[] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    const int32_t faces[] = { 0, 2, 1, -1, 0, 1, 3, -1, 0, 3, 2, -1, 1, 2, 3, -1 };
    Mesh *tetrahedron = mesh_faces(
        &(MeshFaces){ .points = points, .point_count = 4, .indices = faces, .index_count = 16 }, NULL, NULL);
    mesh_mass(tetrahedron, &mass);
    CHECK_NEAR(mass.volume, 1.0 / 6.0, 1e-16, "tetrahedron");
    CHECK_NEAR(vec3_distance(mass.centre, vec3(0.25, 0.25, 0.25)), 0.0, 1e-15, "tetrahedron");
    CHECK_NEAR(mass.inertia.m[0], 1.0 / 80.0, 1e-16, "tetrahedron");
    CHECK_NEAR(mass.inertia.m[1], 1.0 / 480.0, 1e-16, "tetrahedron");  // -(integral of xy - V cx cy)
    mesh_destroy(tetrahedron);

    Mesh *mirrored = mesh_transformed(box, vec3(-1, 1, 2), POSE_IDENTITY);
    mesh_mass(mirrored, &mass);
    CHECK_NEAR(mass.volume, 12.0, 1e-13, "a mirrored box keeps its outside out");
    check_surface(mirrored, "mirrored box");
    mesh_destroy(mirrored);
    Mesh *inside_out = mesh_flipped(box);
    mesh_mass(inside_out, &mass);
    CHECK_NEAR(mass.volume, -6.0, 1e-13, "flipped");
    CHECK(mass.is_closed && !mass.is_solid, "flipped");
    mesh_destroy(inside_out);
    mesh_destroy(box);
}

static void open_and_flat_ones_say_so(void **state)
{
    (void)state;
    MeshMass mass;
    Mesh *open = mesh_cylinder(&(MeshRound){ .radius = 1, .height = 1, .divisions = 8, .without_top = true });
    mesh_mass(open, &mass);
    CHECK(!mass.is_closed, "open cylinder");
    mesh_destroy(open);
    Mesh *plane = mesh_plane((Vec2){ 2, 3 }, MESH_AXIS_Z);
    CHECK_NEAR(mesh_area(plane), 6.0, 1e-14, "plane");
    mesh_mass(plane, &mass);
    CHECK(!mass.is_closed && !mass.is_solid && mass.volume == 0.0, "plane");
    assert_true(mesh_triangle_normal(plane, 0).z == 1.0);
    mesh_destroy(plane);
    Mesh *plane_y = mesh_plane((Vec2){ 2, 3 }, MESH_AXIS_Y);
    assert_true(mesh_triangle_normal(plane_y, 0).y == 1.0);
    mesh_destroy(plane_y);
    MeshBuilder nothing = { 0 };
    Mesh *empty = mesh_build_end(&nothing, NULL, NULL);
    mesh_mass(empty, &mass);
    CHECK(!mass.is_closed && !mass.is_solid && empty->triangle_count == 0, "empty");
    mesh_destroy(empty);
}

static void dirt_is_dropped_and_counted(void **state)
{
    (void)state;
    MeshBuilder builder = { 0 };
    static const double z[] = { 0, 0, 0, 1, NAN, 1e300, 0 };
    for (int i = 0; i < 7; i++)
        mesh_build_vertex(&builder, vec3(i == 1 || i == 6, i == 2, z[i]));
    static const int triangles[][3] = {
        { 0, 1, 2 }, { 2, 0, 1 },  // the same one
        { 0, 6, 2 },               // vertex 6 lies on vertex 1
        { 0, 2, 1 },               // the other way round is another triangle
        { 0, 1, 1 }, { 1, 6, 2 },  // no area
        { 0, 1, 9 }, { -1, 0, 1 }, { 0, 1, 4 }, { 0, 1, 5 }, { 0, 1, 3 },
    };
    mesh_build_part(&builder, "all", -1);
    for (int i = 0; i < COUNT_OF(triangles); i++)
        mesh_build_triangle(&builder, triangles[i][0], triangles[i][1], triangles[i][2]);
    mesh_build_part(&builder, "empty", -1);
    MeshReport report = { 0 };
    Mesh *mesh = mesh_build_end(&builder, NULL, &report);
    assert_int_equal(mesh->triangle_count, 3);
    assert_int_equal(mesh->vertex_count, 4);
    assert_int_equal(report.duplicate, 2);
    assert_int_equal(report.degenerate, 2);
    assert_int_equal(report.bad_index, 2);
    assert_int_equal(report.not_finite, 2);
    assert_int_equal(mesh->parts[0].triangle_count, 3);
    assert_int_equal(mesh->parts[1].triangle_count, 0);
    DiagSink *diags = diag_create();
    mesh_report(&report, "mesh 'x.stl'", diags, (SourcePos){ 0 });
    assert_int_equal(diag_total(diags, DIAG_WARNING), 2);
    assert_int_equal(diag_total(diags, DIAG_NOTE), 2);
    diag_destroy(diags);
    mesh_destroy(mesh);
    MeshBuilder small = { .vertex_limit = 3 };
    for (int i = 0; i < 3; i++)
        assert_int_equal(mesh_build_vertex(&small, vec3(i, i == 1, 0)), i);
    assert_false(small.report.too_large);
    assert_int_equal(mesh_build_vertex(&small, VEC3_ZERO), -1);
    assert_true(small.report.too_large);
    mesh_build_cancel(&small);
}

// Area of the cut polygon must be that of the polygon, whatever its shape.
static void polygons_are_cut(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int count;
        double points[24];
        double area;
        int bad;
    } cases[] = {
        { "square", 4, { 0, 0, 1, 0, 1, 1, 0, 1 }, 1.0, 0 },
        { "arrow", 4, { 0, 0, 2, 1, 0, 2, 1, 1 }, 1.0, 0 },
        { "L", 6, { 0, 0, 2, 0, 2, 1, 1, 1, 1, 2, 0, 2 }, 3.0, 0 },
        { "clockwise L", 6, { 0, 2, 1, 2, 1, 1, 2, 1, 2, 0, 0, 0 }, 3.0, 0 },
        { "comb", 12, { 0, 0, 5, 0, 5, 3, 4, 3, 4, 1, 3, 1, 3, 3, 2, 3, 2, 1, 1, 1, 1, 3, 0, 3 }, 11.0, 0 },
        { "hole by a bridge", 10, { 0, 0, 3, 0, 3, 3, 0, 3, 0, 0, 1, 1, 1, 2, 2, 2, 2, 1, 1, 1 }, 8.0, 0 },
        { "with straight corners", 6, { 0, 0, 1, 0, 2, 0, 2, 2, 1, 2, 0, 2 }, 4.0, 0 },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        for (int plane = 0; plane < 3; plane++) {
            MeshBuilder builder = { 0 };
            int64_t vertices[12];
            for (int k = 0; k < cases[i].count; k++) {
                double x = cases[i].points[2 * k], y = cases[i].points[2 * k + 1];
                vertices[k] = mesh_build_vertex(&builder, plane == 0   ? vec3(x, y, 7)
                                                          : plane == 1 ? vec3(7, x, y)
                                                                       : vec3(y, 7, x));
            }
            int count, corners[36];
            assert_int_equal(mesh_build_polygon(&builder, vertices, cases[i].count, corners, &count), 0);
            assert_int_equal(count, cases[i].count - 2);
            MeshReport report = { 0 };
            Mesh *mesh = mesh_build_end(&builder, NULL, &report);
            CHECK_NEAR(mesh_area(mesh), cases[i].area, 1e-12, cases[i].name);
            CHECK(report.bad_polygon == cases[i].bad, cases[i].name);
            Vec3 normal = mesh_triangle_normal(mesh, 0);
            for (int t = 1; t < mesh->triangle_count; t++)
                CHECK(vec3_dot(normal, mesh_triangle_normal(mesh, t)) > 0.999, cases[i].name);
            mesh_destroy(mesh);
        }
    }
    // A star that crosses itself is reported and survived, and a huge spiral ends in bounded time.
    MeshBuilder builder = { 0 };
    enum { CORNERS = 20000 };
    static int64_t spiral[CORNERS];
    for (int k = 0; k < CORNERS; k++) {
        double angle = k * 0.7, r = 1.0 + (k % 7);
        spiral[k] = mesh_build_vertex(&builder, vec3(r * cos(angle), r * sin(angle), 0));
    }
    int count;
    mesh_build_polygon(&builder, spiral, CORNERS, NULL, &count);
    assert_int_equal(count, CORNERS - 2);
    assert_int_equal(builder.report.bad_polygon, 1);
    mesh_build_cancel(&builder);
}

static void faces_keep_their_attributes(void **state)
{
    (void)state;
    const double points[] = { 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0 };
    const int32_t indices[] = { 0, 1, 2, 3, -1 }, flipped[] = { 3, 2, 1, 0 }, outside[] = { 0, 1, 99, -1, 0, 1, 2 };
    const double texcoords[] = { 0, 0, 1, 0, 1, 1, 0, 1 };
    MeshReport report = { 0 };
    MeshFaces faces = { .points = points,
                        .point_count = 4,
                        .indices = indices,
                        .index_count = 5,
                        .texcoords = texcoords,
                        .texcoord_count = 4,
                        .texcoord_indices = flipped,
                        .texcoord_index_count = 4 };
    Mesh *mesh = mesh_faces(&faces, NULL, &report);
    for (int i = 0; i < 6; i++) {
        uint32_t vertex = mesh->triangles[i];
        CHECK(mesh->texcoords[2 * i] == (float)texcoords[2 * (3 - vertex)], "texture index");
    }
    assert_true(mesh_triangle_normal(mesh, 0).z == 1.0);
    mesh_destroy(mesh);
    faces.is_clockwise = true;
    mesh = mesh_faces(&faces, NULL, &report);
    assert_true(mesh_triangle_normal(mesh, 0).z == -1.0);
    mesh_destroy(mesh);
    assert_int_equal(report.bad_normal + report.bad_index, 0);
    mesh = mesh_faces(&(MeshFaces){ .points = points, .point_count = 4, .indices = outside, .index_count = 7 }, NULL,
                      &report);
    assert_int_equal(report.bad_index, 1);
    assert_int_equal(mesh->triangle_count, 1);
    mesh_destroy(mesh);
    const int32_t triples[] = { 0, 1, 2, 0, 2, 3 };
    mesh = mesh_faces(
        &(MeshFaces){ .points = points, .point_count = 4, .indices = triples, .index_count = 6, .are_triangles = true },
        NULL, NULL);
    CHECK_NEAR(mesh_area(mesh), 1.0, 1e-15, "triples");
    mesh_destroy(mesh);
}

static void creases_split_normals(void **state)
{
    (void)state;
    Mesh *box = mesh_box(vec3(1, 1, 1));
    mesh_compute_normals(box, 1.0);  // below 90 degrees: sharp
    check_surface(box, "sharp box");
    for (int i = 0; i < box->triangle_count; i++) {
        Vec3 flat = mesh_triangle_normal(box, i);
        CHECK_NEAR(box->normals[9 * i] * flat.x + box->normals[9 * i + 1] * flat.y + box->normals[9 * i + 2] * flat.z,
                   1.0, 1e-6, "sharp");
    }
    mesh_compute_normals(box, 3.0);  // all smooth: normals are along the diagonals, whatever the cut of the faces
    for (size_t i = 0; i < 3 * (size_t)box->triangle_count; i++)
        for (int k = 0; k < 3; k++)
            CHECK_NEAR(fabs((double)box->normals[3 * i + (size_t)k]), 1.0 / sqrt(3.0), 1e-6, "smooth");
    mesh_compute_normals(box, 0.0);
    assert_null(box->normals);
    mesh_destroy(box);
}

static void extrusions_follow_their_spine(void **state)
{
    (void)state;
    static const double square[] = { 1, 1, 1, -1, -1, -1, -1, 1, 1, 1 };
    static const double straight[] = { 0, 0, 0, 0, 1, 0 }, along_x[] = { 0, 0, 0, 3, 0, 0 };
    static const double bent[] = { 0, 0, 0, 0, 2, 0, 2, 2, 0 }, taper[] = { 1, 1, 0, 0 };
    static const double ell[] = { 0, 0, 0, 2, 1, 2, 1, 1, 2, 1, 2, 0, 0, 0 };
    static const double ring[] = { 4, 0, 0, 0, 4, 0, -4, 0, 0, 0, -4, 0, 4, 0, 0 };
    static const double back[] = { 0, 1, 0, 0, 0, 0 };
    static const struct {
        const char *name;
        MeshExtrusion extrusion;
        double volume;
    } cases[] = {
        { "default square", { .section = square, .section_count = 5, .spine = straight, .spine_count = 2 }, 4.0 },
        { "along x", { .section = square, .section_count = 5, .spine = along_x, .spine_count = 2 }, 12.0 },
        { "downwards", { .section = square, .section_count = 5, .spine = back, .spine_count = 2 }, 4.0 },
        { "pyramid",
          { .section = square,
            .section_count = 5,
            .spine = straight,
            .spine_count = 2,
            .scales = taper,
            .scale_count = 2 },
          4.0 / 3.0 },
        { "concave caps",
          { .section = ell, .section_count = 7, .spine = straight, .spine_count = 2, .is_clockwise = true },
          -3.0 },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        MeshReport report = { 0 };
        Mesh *mesh = mesh_extrusion(&cases[i].extrusion, NULL, &report);
        MeshMass mass;
        mesh_mass(mesh, &mass);
        CHECK(mass.is_closed, cases[i].name);
        CHECK_NEAR(fabs(mass.volume), fabs(cases[i].volume), 1e-12, cases[i].name);
        check_surface(mesh, cases[i].name);
        mesh_destroy(mesh);
    }
    MeshMass mass;
    Mesh *elbow = mesh_extrusion(
        &(MeshExtrusion){ .section = square, .section_count = 5, .spine = bent, .spine_count = 3 }, NULL, NULL);
    mesh_mass(elbow, &mass);
    CHECK(mass.is_closed && mass.volume > 0.0, "elbow");
    mesh_destroy(elbow);
    Mesh *torus = mesh_extrusion(
        &(MeshExtrusion){ .section = square, .section_count = 5, .spine = ring, .spine_count = 5 }, NULL, NULL);
    mesh_mass(torus, &mass);
    CHECK(mass.is_closed && mass.volume > 0.0, "a closed spine needs no caps");
    mesh_destroy(torus);
    assert_null(mesh_extrusion(
        &(MeshExtrusion){ .section = square, .section_count = 5, .spine = straight, .spine_count = 1 }, NULL, NULL));
}

static void grids_stand_where_their_heights_say(void **state)
{
    (void)state;
    static const double heights[] = { 0, 1, 2, 1, 2, 3 };
    for (int axis = 0; axis < 2; axis++) {
        MeshGrid grid = { .columns = 3,
                          .rows = 2,
                          .column_spacing = 0.5,
                          .row_spacing = 2.0,
                          .heights = heights,
                          .height_count = 6,
                          .axis = (MeshAxis)axis };
        Mesh *mesh = mesh_grid(&grid, NULL);
        assert_int_equal(mesh->triangle_count, 4);
        Vec3 up = axis == MESH_AXIS_Z ? vec3(0, 0, 1) : vec3(0, 1, 0);
        for (int i = 0; i < 4; i++)
            CHECK(vec3_dot(mesh_triangle_normal(mesh, i), up) > 0.0, "upwards");
        Vec3 high = axis == MESH_AXIS_Z ? vec3(1, 2, 3) : vec3(1, 3, 2);
        CHECK(vec3_is_equal(mesh->high, high), "place");
        check_surface(mesh, "grid");
        mesh_destroy(mesh);
        grid.thickness = 1.0;
        mesh = mesh_grid(&grid, NULL);
        MeshMass mass;
        mesh_mass(mesh, &mass);
        CHECK(mass.is_closed && mass.is_solid, "block");
        CHECK_NEAR(mass.volume, 2.0 * (1.5 + 1.0), 1e-12, "the mean height of this tilted plane is 1.5");
        mesh_destroy(mesh);
    }
    MeshGrid small = {
        .columns = 1, .rows = 2, .heights = heights, .height_count = 2, .column_spacing = 1, .row_spacing = 1
    };
    assert_null(mesh_grid(&small, NULL));
    MeshGrid wide = {
        .columns = 46341, .rows = 46341, .column_spacing = 1, .row_spacing = 1
    };  // the product leaves an int
    assert_null(mesh_grid(&wide, NULL));
    MeshGrid missing = {
        .columns = 2, .rows = 2, .column_spacing = 1, .row_spacing = 1, .heights = heights, .height_count = 2
    };
    Mesh *mesh = mesh_grid(&missing, NULL);
    CHECK(mesh->high.z == 1.0 && mesh->low.z == 0.0, "missing heights are 0");
    mesh_destroy(mesh);
}

static void parts_are_filtered(void **state)
{
    (void)state;
    MeshBuilder builder = { 0 };
    for (int i = 0; i < 12; i++)
        mesh_build_vertex(&builder, vec3(i, i % 3 == 1, 0));
    for (int i = 0; i < 4; i++) {
        mesh_build_part(&builder, i % 2 ? "odd" : "even", i);
        mesh_build_triangle(&builder, 3 * i, 3 * i + 1, 3 * i + 2);
    }
    Mesh *mesh = mesh_build_end(&builder, NULL, NULL);
    static const struct {
        const char *name;
        int material, triangles;
    } cases[] = {
        { NULL, -1, 4 }, { "odd", -1, 2 }, { "odd", 3, 1 }, { NULL, 0, 1 }, { "even", 1, 0 }, { "none", -1, 0 },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        Mesh *some = mesh_filtered(mesh, cases[i].name, cases[i].material);
        assert_int_equal(some->triangle_count, cases[i].triangles);
        assert_int_equal(some->vertex_count, 3 * cases[i].triangles);
        mesh_destroy(some);
    }
    mesh_destroy(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(primitives_have_their_volume),
        cmocka_unit_test(mass_integrals_are_exact),
        cmocka_unit_test(open_and_flat_ones_say_so),
        cmocka_unit_test(dirt_is_dropped_and_counted),
        cmocka_unit_test(polygons_are_cut),
        cmocka_unit_test(faces_keep_their_attributes),
        cmocka_unit_test(creases_split_normals),
        cmocka_unit_test(extrusions_follow_their_spine),
        cmocka_unit_test(grids_stand_where_their_heights_say),
        cmocka_unit_test(parts_are_filtered),
    };
    return cmocka_run_group_tests_name("assets.mesh", tests, NULL, NULL);
}
