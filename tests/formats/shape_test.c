#include "formats/shape/shape.h"

#include "base/file.h"
#include "formats/formats.h"
#include "support/support.h"

typedef struct Fixture {
    Scene *scene;
    AssetStore *store;
    DiagSink *diags;
    ShapeSource source;
    int loaded;  // messages of the load alone
} Fixture;

static Fixture open_text(const char *folder, const char *text)
{
    Arena *arena = arena_create();
    Fixture f = { .diags = diag_create() };
    char *path = path_join(arena, folder, "w.wbt");
    f.scene = formats_load_text(path, text, strlen(text), NULL, f.diags);
    f.store = store_create(&(StoreOptions){ .resolve = { .main_file = path, .cache = "" } });
    f.source = (ShapeSource){ f.scene, f.store, f.diags };
    f.loaded = diag_count(f.diags);
    arena_destroy(arena);
    return f;
}

static void close_all(Fixture *f)
{
    store_destroy(f->store);
    scene_destroy(f->scene);
    diag_destroy(f->diags);
}

// The last top-level node of the world.
static SceneNode *last_node(const Fixture *f)
{
    const FieldList *top = scene_list(scene_root(f->scene), "children");
    return scene_list_node(top, top->count - 1);
}

#define WORLD(shape) "#VRML_SIM R2023b utf8\nWorldInfo { }\nViewpoint { }\nShape { geometry " shape " }\n"

static void geometries_become_meshes(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
        GeometryKind kind;
        int triangles;
        double volume;
    } cases[] = {
        { "box", WORLD("Box { size 1 2 3 }"), GEOMETRY_BOX, 12, 6.0 },
        { "default box", WORLD("Box { }"), GEOMETRY_BOX, 12, 8.0 },
        { "sphere", WORLD("Sphere { radius 0.5 subdivision 3 }"), GEOMETRY_SPHERE, 320, 0.0 },
        { "uv sphere", WORLD("Sphere { radius 0.5 ico FALSE subdivision 24 }"), GEOMETRY_SPHERE, 24 * 2 * 23, 0.0 },
        { "cylinder", WORLD("Cylinder { radius 0.5 height 2 subdivision 8 }"), GEOMETRY_CYLINDER, 32,
          8 * 0.5 * 0.25 * 0.7071067811865476 * 2 },
        { "open cylinder", WORLD("Cylinder { top FALSE bottom FALSE subdivision 8 }"), GEOMETRY_CYLINDER, 16, 0.0 },
        { "capsule", WORLD("Capsule { radius 0.5 height 2 }"), GEOMETRY_CAPSULE, 0, 0.0 },
        { "cone", WORLD("Cone { bottomRadius 0.5 height 2 subdivision 8 }"), GEOMETRY_CONE, 16,
          8 * 0.5 * 0.25 * 0.7071067811865476 * 2 / 3 },
        { "plane", WORLD("Plane { size 2 3 }"), GEOMETRY_PLANE, 2, 0.0 },
        { "grid", WORLD("ElevationGrid { xDimension 3 yDimension 2 height [0 1 2 3 4 5] }"), GEOMETRY_HEIGHTS, 4, 0.0 },
        { "faces",
          WORLD(
              "IndexedFaceSet { coord Coordinate { point [0 0 0, 1 0 0, 0 1 0, 0 0 1] } coordIndex [0 2 1 -1 0 1 3 -1 0 3 2 -1 1 2 3 -1] }"),
          GEOMETRY_MESH, 4, 1.0 / 6.0 },
        { "clockwise faces",
          WORLD(
              "IndexedFaceSet { ccw FALSE coord Coordinate { point [0 0 0, 1 0 0, 0 1 0, 0 0 1] } coordIndex [0 1 2 -1 0 3 1 -1 0 2 3 -1 1 3 2] }"),
          GEOMETRY_MESH, 4, 1.0 / 6.0 },
        { "lines", WORLD("IndexedLineSet { }"), GEOMETRY_DRAWN, 0, 0.0 },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        Fixture f = open_text(support_scratch("shape"), cases[i].text);
        SceneNode *shape = last_node(&f);
        CHECK(shape_form(shape).kind == cases[i].kind, cases[i].name);
        ShapeMesh result = shape_mesh(&f.source, shape);
        CHECK(!result.is_placeholder && (result.mesh != NULL) == (cases[i].kind != GEOMETRY_DRAWN), cases[i].name);
        CHECK(diag_count(f.diags) == f.loaded, cases[i].name);
        if (result.mesh && cases[i].triangles)
            CHECK(result.mesh->triangle_count == cases[i].triangles, cases[i].name);
        if (result.mesh && cases[i].volume > 0.0) {
            MeshMass mass;
            mesh_mass(result.mesh, &mass);
            CHECK(mass.is_solid, cases[i].name);
            CHECK_NEAR(mass.volume, cases[i].volume, 1e-12, cases[i].name);
        }
        CHECK(shape_mesh(&f.source, scene_child(shape, "geometry")).mesh == result.mesh, "shared");
        close_all(&f);
    }
}

static void bad_geometry_is_said_and_survived(void **state)
{
    (void)state;
    static const struct {
        const char *id, *text, *says;
        int triangles;
    } cases[] = {
        { "C05 fewer", WORLD("ElevationGrid { xDimension 3 yDimension 3 height [1 2] }"), "2 heights for 9 grid points",
          8 },
        { "C05 more", WORLD("ElevationGrid { xDimension 2 yDimension 2 height [1 2 3 4 5 6] }"),
          "those beyond are ignored", 2 },
        { "C57",
          WORLD("IndexedFaceSet { coord Coordinate { point [0 0 0, 1 0 0, 2 0 0] } coordIndex [0 1 2 -1 0 0 0 -1] }"),
          "no triangles", 0 },
        { "C57 empty", WORLD("IndexedFaceSet { }"), "no triangles", 0 },
        { "bad index",
          WORLD("IndexedFaceSet { coord Coordinate { point [0 0 0, 1 0 0, 0 1 0] } coordIndex [0 1 7 -1 0 1 2 -1] }"),
          "does not exist", 1 },
        { "1 x 1 grid", WORLD("ElevationGrid { xDimension 1 yDimension 1 height [1] }"), "no surface", 0 },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        Fixture f = open_text(support_scratch("shape"), cases[i].text);
        ShapeMesh result = shape_mesh(&f.source, last_node(&f));
        CHECK((result.mesh ? result.mesh->triangle_count : 0) == cases[i].triangles, cases[i].id);
        bool said = false;
        for (int k = 0; k < diag_count(f.diags); k++)
            said |= strstr(diag_at(f.diags, k)->message, cases[i].says) != NULL;
        CHECK(said, cases[i].id);
        close_all(&f);
    }
}

// C21: a mesh without volume is still a mesh to collide with; it just has no mass of its own.
static void c21_flat_meshes_are_not_solid(void **state)
{
    (void)state;
    Fixture f = open_text(
        support_scratch("shape"),
        WORLD(
            "IndexedFaceSet { coord Coordinate { point [0 0 0, 1 0 0, 1 1 0, 0 1 0] } coordIndex [0 1 2 3 -1 3 2 1 0 -1] }"));
    ShapeMesh result = shape_mesh(&f.source, last_node(&f));
    MeshMass mass;
    mesh_mass(result.mesh, &mass);
    assert_int_equal(result.mesh->triangle_count, 4);
    CHECK(!mass.is_solid && mass.volume == 0.0, "C21");
    close_all(&f);
}

// C45: the file is nowhere; a box stands for it, and the message names the places.
static void c45_missing_meshes_have_a_placeholder(void **state)
{
    (void)state;
    static const char *const urls[] = { "https://example.org/models/none.obj", "meshes/none.stl",
                                        "webots://projects/none.dae", "none.wrl" };
    for (int i = 0; i < COUNT_OF(urls); i++) {
        char text[512];
        snprintf(text, sizeof text, WORLD("Mesh { url \"%s\" }"), urls[i]);
        Fixture f = open_text(support_scratch("shape"), text);
        ShapeMesh result = shape_mesh(&f.source, last_node(&f));
        CHECK(result.is_placeholder && result.mesh->triangle_count == 12, urls[i]);
        CHECK(diag_count(f.diags) > f.loaded, urls[i]);
        const Diagnostic *message = diag_at(f.diags, f.loaded);
        CHECK(strstr(message->message, urls[i]) && message->pos.line == 4, message->message);
        close_all(&f);
    }
}

static const char scene_wrl[] =
    "#VRML V2.0 utf8\n"
    "DEF TOP Transform { translation 10 0 0 rotation 0 0 1 1.5707963267948966 children [\n"
    "  DEF A Transform { translation 1 0 0 scale 2 1 1 children [ Shape { appearance Appearance { material Material { diffuseColor 1 0 0 } }\n"
    "    geometry Box { size 1 1 1 } } ] }\n"
    "  Group { children [ DEF CYL Shape { geometry Cylinder { radius 1 height 4 } } Transform { translation 0 0 3 children USE A } ] }\n"
    "  Switch { whichChoice 1 choice [ Shape { geometry Box { size 9 9 9 } } Shape { geometry Sphere { radius 0.1 } } ] }\n"
    "] }\n";

static void vrml_files_are_flattened(void **state)
{
    (void)state;
    const char *folder = support_scratch("shape_vrml");
    Arena *arena = arena_create();
    support_write(path_join(arena, folder, "scene.wrl"), scene_wrl);
    support_write(path_join(arena, folder, "outer.wrl"),
                  "#VRML V2.0 utf8\nTransform { translation 0 0 5 children Inline { url \"scene.wrl\" } }\n");
    support_write(path_join(arena, folder, "self.wrl"),
                  "#VRML V2.0 utf8\nShape { geometry Box { } } Inline { url \"self.wrl\" }\n");
    Fixture f = open_text(folder, WORLD("Mesh { url \"scene.wrl\" }"));
    ShapeMesh whole = shape_mesh(&f.source, last_node(&f));
    diag_print(f.diags, stdout, f.loaded, DIAG_NOTE);
    assert_false(whole.is_placeholder);
    assert_int_equal(diag_count(f.diags), f.loaded);
    const Mesh *mesh = whole.mesh;
    assert_int_equal(mesh->part_count, 4);  // box, cylinder, the box again, sphere
    assert_string_equal(mesh->parts[0].name, "A");
    assert_string_equal(mesh->parts[1].name, "CYL");
    CHECK_NEAR(mesh->materials[mesh->parts[0].material].diffuse.x, 1.0, 0.0, "red");
    // The box: 2 x 1 x 1, turned by 90 degrees about z, at (10, 1, 0). The cylinder lies along y, turned to -x.
    CHECK_NEAR(mesh->low.x, 8.0, 1e-9, "the cylinder's end");
    CHECK_NEAR(mesh->high.x, 12.0, 1e-9, "the cylinder's end");
    CHECK_NEAR(mesh->high.y, 2.0, 1e-9, "the box's end");
    SourcePos nowhere = { 0 };
    const Mesh *box = shape_vrml_mesh(&f.source, "scene.wrl", scene_path(f.scene), "A", nowhere);
    assert_int_equal(box->triangle_count, 12);
    CHECK_NEAR(vec3_distance(box->high, vec3(0.5, 1.0, 0.5)), 0.0, 1e-9, "cut out: turned and scaled, but at zero");
    assert_ptr_equal(shape_vrml_mesh(&f.source, "scene.wrl", scene_path(f.scene), "A", nowhere), box);
    assert_null(shape_vrml_mesh(&f.source, "scene.wrl", scene_path(f.scene), "NONE", nowhere));
    const Mesh *outer = shape_vrml_mesh(&f.source, "outer.wrl", scene_path(f.scene), NULL, nowhere);
    CHECK_NEAR(outer->high.z, mesh->high.z + 5.0, 1e-9, "inline");
    const Mesh *self = shape_vrml_mesh(&f.source, "self.wrl", scene_path(f.scene), NULL, nowhere);
    assert_non_null(self);  // bounded
    close_all(&f);
    arena_destroy(arena);
}

static void urls_are_relative_to_the_file_that_names_them(void **state)
{
    (void)state;
    const char *folder = support_scratch("shape_from");
    Arena *arena = arena_create();
    file_make_directories(path_join(arena, folder, "protos"));
    file_make_directories(path_join(arena, folder, "worlds"));
    support_write(path_join(arena, folder, "protos/small.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    support_write(path_join(arena, folder, "worlds/large.obj"), "v 0 0 0\nv 5 0 0\nv 0 5 0\nf 1 2 3\n");
    support_write(
        path_join(arena, folder, "protos/Thing.proto"),
        "#VRML_SIM R2023b utf8\nPROTO Thing [ field MFString url [\"small.obj\"] ] { Shape { geometry Mesh { url IS url } } }\n");
    char *world = path_join(arena, folder, "worlds/w.wbt");
    support_write(
        world,
        "#VRML_SIM R2023b utf8\nEXTERNPROTO \"../protos/Thing.proto\"\nWorldInfo { }\nThing { }\nThing { url \"large.obj\" }\n");
    Fixture f = { .diags = diag_create() };
    f.scene = formats_load(world, NULL, f.diags);
    f.store = store_create(&(StoreOptions){ .resolve = { .main_file = world, .cache = "" } });
    f.source = (ShapeSource){ f.scene, f.store, f.diags };
    const FieldList *top = scene_list(scene_root(f.scene), "children");
    SceneNode *first = scene_list_node(top, 1), *second = scene_list_node(top, 2);
    if (!first || !second) {
        close_all(&f);
        SUPPORT_SKIP("PROTOs are not instantiated here");
    }
    CHECK_NEAR(shape_mesh(&f.source, first).mesh->high.x, 1.0, 0.0, "the PROTO's own file");
    CHECK_NEAR(shape_mesh(&f.source, second).mesh->high.x, 5.0, 0.0, "the world's file");
    close_all(&f);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(geometries_become_meshes),
        cmocka_unit_test(bad_geometry_is_said_and_survived),
        cmocka_unit_test(c21_flat_meshes_are_not_solid),
        cmocka_unit_test(c45_missing_meshes_have_a_placeholder),
        cmocka_unit_test(vrml_files_are_flattened),
        cmocka_unit_test(urls_are_relative_to_the_file_that_names_them),
    };
    return cmocka_run_group_tests_name("formats.shape", tests, NULL, NULL);
}
