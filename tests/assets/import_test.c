#include "assets/import.h"
#include "assets/store.h"

#include "base/file.h"
#include "support/support.h"

#include <sys/stat.h>
#include <unistd.h>

static Importer *importer;

static int set_up(void **state)
{
    (void)state;
    importer = import_create(NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    import_destroy(importer);
    return 0;
}

static Mesh *import_text(const char *name, const char *text, const ImportOptions *options, DiagSink *diags)
{
    return import_bytes(importer, name, text, strlen(text), options, diags, (SourcePos){ 0 });
}

static void check_cube(const Mesh *mesh, double side, const char *name)
{
    CHECK(mesh != NULL, name);
    MeshMass mass;
    mesh_mass(mesh, &mass);
    CHECK(mass.is_closed && mass.is_solid, name);
    CHECK_NEAR(mass.volume, side * side * side, 1e-6 * side, name);
    CHECK(mesh->vertex_count == 8 && mesh->triangle_count == 12, name);
}

// A cube as STL: the bytes of both spellings.
static size_t cube_stl(unsigned char *out)
{
    Mesh *cube = mesh_box(vec3(2, 2, 2));
    memset(out, 0, 84);
    memcpy(out, "solid but binary", 16);  // as many exporters write
    out[80] = (unsigned char)cube->triangle_count;
    size_t size = 84;
    for (int i = 0; i < cube->triangle_count; i++) {
        float facet[12] = { 0 };
        for (int k = 0; k < 9; k++)
            facet[3 + k] = (float)cube->positions[3 * cube->triangles[3 * i + k / 3] + k % 3];
        memcpy(out + size, facet, sizeof facet);
        out[size + 48] = out[size + 49] = 0;
        size += 50;
    }
    mesh_destroy(cube);
    return size;
}

static char *cube_ascii(void)
{
    unsigned char binary[84 + 50 * 12];
    cube_stl(binary);
    char *text = calloc(1, 8192), *p = text;
    p += sprintf(p, "solid the cube\r\n");
    for (int i = 0; i < 12; i++) {
        float corners[9];
        memcpy(corners, binary + 84 + 50 * i + 12, sizeof corners);
        p += sprintf(p, " facet normal 0 0 0\n  outer loop\n");
        for (int k = 0; k < 3; k++)
            p += sprintf(p, "   VERTEX %g %e\t%g\n", (double)corners[3 * k], (double)corners[3 * k + 1],
                         (double)corners[3 * k + 2]);
        p += sprintf(p, "  endloop\n endfacet\n");
    }
    sprintf(p, "endsolid the cube\n");
    return text;
}

static void stl_is_read(void **state)
{
    (void)state;
    DiagSink *diags = diag_create();
    unsigned char binary[84 + 50 * 12];
    size_t size = cube_stl(binary);
    Mesh *mesh = import_bytes(importer, "cube.stl", (const char *)binary, size, NULL, diags, (SourcePos){ 0 });
    check_cube(mesh, 2.0, "binary");
    assert_null(mesh->normals);
    mesh_destroy(mesh);
    char *text = cube_ascii();
    mesh = import_text("cube.STL", text, NULL, diags);
    check_cube(mesh, 2.0, "ascii");
    assert_int_equal(mesh->part_count, 1);
    assert_string_equal(mesh->parts[0].name, "the cube");
    mesh_destroy(mesh);
    assert_int_equal(diag_count(diags), 0);
    // Cut short: what is there is used, and it is said.
    mesh = import_bytes(importer, "cut.stl", (const char *)binary, size - 70, NULL, diags, (SourcePos){ 0 });
    assert_int_equal(mesh->triangle_count, 10);
    assert_int_equal(diag_total(diags, DIAG_WARNING), 1);
    mesh_destroy(mesh);
    // Every possible length of both: never a crash, and never more triangles than there are.
    for (size_t cut = 0; cut < size; cut++)
        mesh_destroy(import_bytes(importer, "cut.stl", (const char *)binary, cut, NULL, diags, (SourcePos){ 0 }));
    for (size_t cut = 0; cut < strlen(text); cut += 3)
        mesh_destroy(import_bytes(importer, "cut.stl", text, cut, NULL, diags, (SourcePos){ 0 }));
    free(text);
    diag_destroy(diags);
}

static const char cube_obj[] = "# a cube\r\n"
                               "o cube\n"
                               "v -1 -1 -1\nv 1 -1 -1\nv 1 1 -1 1.0 0.5 0.5\nv -1 1 -1\n"
                               "v -1 -1 1\nv 1 -1 1\nv 1 1 1\nv -1 1 1\n"
                               "vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n"
                               "vn 0 0 -1\n"
                               "f 1/1/1 4/2/1 3/3/1 2/4/1\n"
                               "usemtl red\n"
                               "f -4/1 -3/2 -2/3 -1/4\n"
                               "f 1 2 6 \\\n 5\n"
                               "g sides\n"
                               "f 2//  3// 7// 6//\nf 3 4 8 7\nf 4 1 5 8\n";

static void obj_is_read(void **state)
{
    (void)state;
    DiagSink *diags = diag_create();
    Mesh *mesh = import_text("cube.obj", cube_obj, NULL, diags);
    check_cube(mesh, 2.0, "obj");
    assert_int_equal(mesh->part_count, 3);
    assert_string_equal(mesh->parts[2].name, "sides");
    assert_int_equal(mesh->parts[2].triangle_count, 6);
    assert_non_null(mesh->texcoords);
    CHECK_NEAR(mesh->normals[2], -1.0, 1e-6, "a given normal");
    mesh_destroy(mesh);
    for (size_t cut = 0; cut < sizeof cube_obj; cut++)
        mesh_destroy(import_bytes(importer, "cut.obj", cube_obj, cut, NULL, diags, (SourcePos){ 0 }));
    diag_destroy(diags);
}

static void obj_finds_its_materials(void **state)
{
    (void)state;
    Arena *arena = arena_create();
    const char *folder = support_scratch("import_obj");
    support_write(path_join(arena, folder, "my colours.mtl"),
                  "newmtl red\nKd 1 0 0\nd 0.25\nNs 500\nmap_Kd -s 2 2 1 -clamp on tex ture.png\n"
                  "newmtl blue\n  Kd 0 0 1\nTr 0.5\n");
    support_write(path_join(arena, folder, "m.obj"),
                  "mtllib my colours.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl blue\nf 1 2 3\nusemtl red\nf 3 2 1\n"
                  "usemtl none\nf 1 3 2 1\n");
    DiagSink *diags = diag_create();
    Mesh *mesh = import_file(importer, path_join(arena, folder, "m.obj"), NULL, diags, (SourcePos){ 0 });
    assert_non_null(mesh);
    assert_int_equal(mesh->material_count, 2);
    assert_string_equal(mesh->materials[0].texture, "tex ture.png");
    CHECK_NEAR(mesh->materials[0].transparency, 0.75, 1e-12, "d");
    CHECK_NEAR(mesh->materials[0].shininess, 0.5, 1e-12, "Ns");
    assert_int_equal(mesh->parts[0].material, 1);
    assert_int_equal(mesh->parts[1].material, 0);
    assert_int_equal(mesh->parts[2].material, -1);
    mesh_destroy(mesh);
    diag_destroy(diags);
    arena_destroy(arena);
}

#define DAE(axis, unit)                                                                                                           \
    "<?xml version=\"1.0\"?><COLLADA xmlns=\"http://www.collada.org/2005/11/COLLADASchema\" version=\"1.4.1\"><asset>"            \
    "<unit meter=\"" unit "\" name=\"u\"/><up_axis>" axis "</up_axis></asset>"                                                    \
    "<library_effects><effect id=\"e\"><profile_COMMON><technique sid=\"c\"><lambert><diffuse><color>1 0 0 1</color></diffuse>"   \
    "</lambert></technique></profile_COMMON></effect></library_effects>"                                                          \
    "<library_materials><material id=\"m\" name=\"red\"><instance_effect url=\"#e\"/></material></library_materials>"             \
    "<library_geometries><geometry id=\"g\" name=\"tri\"><mesh><source id=\"p\"><float_array id=\"pa\" count=\"9\">"              \
    "0 0 0 1 0 0 0 0 2</float_array><technique_common><accessor source=\"#pa\" count=\"3\" stride=\"3\"><param name=\"X\" "       \
    "type=\"float\"/><param name=\"Y\" type=\"float\"/><param name=\"Z\" type=\"float\"/></accessor></technique_common></source>" \
    "<vertices id=\"v\"><input semantic=\"POSITION\" source=\"#p\"/></vertices><triangles count=\"1\" material=\"s\">"            \
    "<input semantic=\"VERTEX\" source=\"#v\" offset=\"0\"/><p>0 1 2</p></triangles></mesh></geometry></library_geometries>"      \
    "<library_visual_scenes><visual_scene id=\"s\"><node id=\"n\"><translate>0 0 1</translate><instance_geometry url=\"#g\">"     \
    "<bind_material><technique_common><instance_material symbol=\"s\" target=\"#m\"/></technique_common></bind_material>"         \
    "</instance_geometry></node></visual_scene></library_visual_scenes><scene><instance_visual_scene url=\"#s\"/></scene></COLLADA>"

// The triangle reaches from z = 1 to z = 3 in the file's own axes.
static void dae_axes_and_units_are_as_expected(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
        bool keep_axes;
        Vec3 low, high;
    } cases[] = {
        { "z up", DAE("Z_UP", "1"), false, { 0, 0, 1 }, { 1, 0, 3 } },
        { "y up becomes z up", DAE("Y_UP", "1"), false, { 0, -3, 0 }, { 1, -1, 0 } },
        { "y up as it stands", DAE("Y_UP", "1"), true, { 0, 0, 1 }, { 1, 0, 3 } },
        { "z up as it stands", DAE("Z_UP", "1"), true, { 0, 0, 1 }, { 1, 0, 3 } },
        { "centimetres", DAE("Z_UP", "0.01"), false, { 0, 0, 0.01 }, { 0.01, 0, 0.03 } },
    };
    DiagSink *diags = diag_create();
    for (int i = 0; i < COUNT_OF(cases); i++) {
        Mesh *mesh = import_text("t.dae", cases[i].text, &(ImportOptions){ .keep_axes = cases[i].keep_axes }, diags);
        diag_print(diags, stdout, 0, DIAG_NOTE);
        CHECK(mesh != NULL, cases[i].name);
        CHECK_NEAR(vec3_distance(mesh->low, cases[i].low), 0.0, 1e-6, cases[i].name);
        CHECK_NEAR(vec3_distance(mesh->high, cases[i].high), 0.0, 1e-6, cases[i].name);
        CHECK(mesh->part_count == 1 && mesh->material_count >= 1, cases[i].name);
        CHECK_NEAR(mesh->materials[mesh->parts[0].material].diffuse.x, 1.0, 1e-6, cases[i].name);
        CHECK_NEAR(mesh->materials[mesh->parts[0].material].diffuse.y, 0.0, 1e-6, cases[i].name);
        mesh_destroy(mesh);
    }
    diag_destroy(diags);
}

static void other_formats_come_through_the_worker(void **state)
{
    (void)state;
    static const char ply[] =
        "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
        "element face 1\nproperty list uchar int vertex_indices\nend_header\n"
        "0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n";
    static const char gltf[] =
        "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"mesh\":0}],"
        "\"meshes\":[{\"name\":\"tri\",\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],"
        "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\","
        "\"min\":[0,0,0],\"max\":[1,1,0]}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":36}],"
        "\"buffers\":[{\"byteLength\":36,\"uri\":\"points.bin\"}]}";
    static const char off[] = "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n";
    Arena *arena = arena_create();
    const char *folder = support_scratch("import_other");
    DiagSink *diags = diag_create();
    Mesh *mesh = import_text("square.ply", ply, NULL, diags);
    assert_non_null(mesh);
    CHECK_NEAR(mesh_area(mesh), 1.0, 1e-6, "ply");
    mesh_destroy(mesh);
    mesh = import_text("t.off", off, NULL, diags);
    assert_non_null(mesh);
    mesh_destroy(mesh);
    assert_int_equal(diag_count(diags), 0);
    // A companion file is read by the parent and handed over; without it there is a message.
    char *path = path_join(arena, folder, "t.gltf");
    support_write(path, gltf);
    assert_null(import_file(importer, path, NULL, diags, (SourcePos){ 0 }));
    assert_int_equal(diag_total(diags, DIAG_ERROR), 1);
    static const float points[9] = { 0, 0, 0, 1, 0, 0, 0, 1, 0 };
    assert_true(file_write_atomic(path_join(arena, folder, "points.bin"), points, sizeof points, NULL));
    mesh = import_file(importer, path, NULL, diags, (SourcePos){ 0 });
    diag_print(diags, stdout, 1, DIAG_NOTE);
    assert_non_null(mesh);
    CHECK_NEAR(mesh_area(mesh), 0.5, 1e-6, "gltf");
    mesh_destroy(mesh);
    diag_destroy(diags);
    arena_destroy(arena);
}

// A worm along z with bones from 0, 0.4 and 0.8 m: where they are, which vertices follow them, and how it bends.
static void bones_come_with_their_weights(void **state)
{
    (void)state;
    static const char *const names[] = { "root", "spine", "neck" };
    DiagSink *diags = diag_create();
    Mesh *mesh = import_file(importer, "tests/control/cases/skin/worm.gltf", NULL, diags, (SourcePos){ 0 }), bent;
    assert_non_null(mesh);
    assert_int_equal(mesh->bone_count, 3);
    for (int i = 0; i < 3; i++) {
        assert_string_equal(mesh->bones[i].name, names[i]);
        assert_int_equal(mesh->bones[i].parent, i - 1);
        CHECK_NEAR(mesh->bones[i].rest.t.z, 0.4 * i, 1e-6, "place of a bone");
        CHECK_NEAR(mesh->bones[i].rest.q.w, 1.0, 1e-6, "its direction");
    }
    for (int i = 0; i < mesh->vertex_count; i++) {
        const MeshInfluence *influence = &mesh->influences[i];
        double z = mesh_position(mesh, (uint32_t)i).z, sum = 0.0;
        for (int k = 0; k < MESH_INFLUENCES; k++)
            sum += (double)influence->weights[k];
        CHECK_NEAR(sum, 1.0, 1e-6, "sum of the weights");
        CHECK(z > 0.29 || (influence->bones[0] == 0 && influence->weights[0] == 1.0f), "the foot follows the root");
        CHECK(z < 0.91 || (influence->bones[0] == 2 && influence->weights[0] == 1.0f), "the head follows the neck");
    }
    // The head is lifted by 0.5 m, and nothing else but what lies between.
    MeshMotion motions[3] = { { MAT3_IDENTITY, { 0 } }, { MAT3_IDENTITY, { 0 } }, { MAT3_IDENTITY, { 0, 0, 0.5 } } };
    mesh_bend_init(&bent, mesh);
    mesh_bend(&bent, mesh, motions);
    CHECK_NEAR(bent.high.z, 1.7, 1e-6, "the head is higher");
    CHECK_NEAR(bent.low.z, 0.0, 1e-6, "the foot stays");
    mesh_bend_deinit(&bent);
    Mesh *part = mesh_filtered(mesh, NULL, 1);
    assert_true(part->bone_count == 3 && part->vertex_count < mesh->vertex_count);
    CHECK(part->influences[part->vertex_count - 1].bones[0] == 2, "a part keeps its bones");
    mesh_destroy(part);
    mesh_destroy(mesh);
    diag_destroy(diags);
}

// C23: files of the wrong kind give an error, and devices are not read.
static void c23_wrong_kinds_are_refused(void **state)
{
    (void)state;
    Arena *arena = arena_create();
    const char *folder = support_scratch("import_c23");
    static const unsigned char png[] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0, 0,
                                         0,    13,  'I', 'H', 'D',  'R',  0,    0,    0, 1 };
    assert_true(file_write_atomic(path_join(arena, folder, "a.png"), png, sizeof png, NULL));
    assert_true(file_write_atomic(path_join(arena, folder, "image.obj"), png, sizeof png, NULL));
    assert_true(file_write_atomic(path_join(arena, folder, "image.stl"), png, sizeof png, NULL));
    assert_true(file_write_atomic(path_join(arena, folder, "image.dae"), png, sizeof png, NULL));
    support_write(path_join(arena, folder, "text.txt"), "just words\n");
    support_write(path_join(arena, folder, "words.obj"), "just words\n");
    support_write(path_join(arena, folder, "words.stl"),
                  "solid words without any facets whatsoever, long enough to pass the shortest length there is.");
    support_write(path_join(arena, folder, "words.dae"), "just words\n");
    support_write(path_join(arena, folder, "words.glb"), "glTFjust words\n");
    support_write(path_join(arena, folder, "empty.obj"), "");
    support_write(path_join(arena, folder, "empty.dae"), "");
    support_write(path_join(arena, folder, "cube.obj"), cube_obj);
    file_make_directories(path_join(arena, folder, "folder.stl"));
    assert_int_equal(mkfifo(path_join(arena, folder, "fifo.stl"), 0600), 0);
    assert_int_equal(symlink("/dev/zero", path_join(arena, folder, "zero.stl")), 0);
    static const char *const meshes[] = { "a.png",     "image.obj",  "image.stl", "image.dae", "text.txt",
                                          "words.obj", "words.stl",  "words.dae", "words.glb", "empty.obj",
                                          "empty.dae", "folder.stl", "fifo.stl",  "zero.stl",  "absent.stl" };
    AssetStore *store = store_create(
        &(StoreOptions){ .resolve = { .main_file = path_join(arena, folder, "w.wbt"), .cache = "" } });
    for (int i = 0; i < COUNT_OF(meshes); i++) {
        DiagSink *diags = diag_create();
        CHECK(import_file(importer, path_join(arena, folder, meshes[i]), NULL, diags, (SourcePos){ 0 }) == NULL,
              meshes[i]);
        CHECK(diag_total(diags, DIAG_ERROR) >= 1, meshes[i]);
        CHECK(strstr(diag_at(diags, diag_count(diags) - 1)->message, meshes[i]), meshes[i]);
        diag_destroy(diags);
        diags = diag_create();
        CHECK(store_mesh(store, meshes[i], NULL, NULL, diags, (SourcePos){ 0 }) == NULL, meshes[i]);
        CHECK(diag_count(diags) >= 1, meshes[i]);
        CHECK(store_image(store, meshes[i], NULL, diags, (SourcePos){ 0 }) == NULL, meshes[i]);
        CHECK(diag_count(diags) >= 2, meshes[i]);
        diag_destroy(diags);
    }
    DiagSink *diags = diag_create();
    assert_null(store_image(store, "cube.obj", NULL, diags, (SourcePos){ 0 }));
    CHECK(strstr(diag_at(diags, 0)->message, "no PNG"), "an OBJ file as texture");
    diag_destroy(diags);
    store_destroy(store);
    arena_destroy(arena);
}

static void assets_are_loaded_once_and_shared(void **state)
{
    (void)state;
    Arena *arena = arena_create();
    const char *folder = support_scratch("store");
    support_write(path_join(arena, folder, "a.obj"), cube_obj);
    support_write(path_join(arena, folder, "b.obj"), cube_obj);  // the same content under another name
    support_write(path_join(arena, folder, "parts.dae"), DAE("Z_UP", "1"));
    AssetStore *store = store_create(
        &(StoreOptions){ .resolve = { .main_file = path_join(arena, folder, "w.wbt"), .cache = "" } });
    DiagSink *diags = diag_create();
    const SourcePos nowhere = { 0 };
    const Mesh *a = store_mesh(store, "a.obj", NULL, NULL, diags, nowhere);
    assert_non_null(a);
    assert_ptr_equal(store_mesh(store, "./a.obj", NULL, NULL, diags, nowhere), a);
    assert_ptr_equal(store_mesh(store, "b.obj", NULL, NULL, diags, nowhere), a);
    assert_int_equal(store_counts(store).meshes, 1);
    assert_int_equal(store_counts(store).shared, 2);
    const Mesh *flat = store_mesh(store, "a.obj", NULL, &(StoreMeshQuery){ .material = -1, .flat = true }, diags,
                                  nowhere);
    assert_ptr_not_equal(flat, a);
    const Mesh *tri = store_mesh(store, "parts.dae", NULL, &(StoreMeshQuery){ .material = -1, .name = "g" }, diags,
                                 nowhere);
    assert_non_null(tri);
    assert_ptr_equal(
        store_mesh(store, "parts.dae", NULL, &(StoreMeshQuery){ .material = -1, .name = "g" }, diags, nowhere), tri);
    assert_int_equal(diag_count(diags), 0);
    assert_null(
        store_mesh(store, "parts.dae", NULL, &(StoreMeshQuery){ .material = -1, .name = "other" }, diags, nowhere));
    assert_null(store_mesh(store, "parts.dae", NULL, &(StoreMeshQuery){ .material = 99 }, diags, nowhere));
    assert_int_equal(diag_total(diags, DIAG_WARNING), 2);
    // C45: what is missing is a warning that names the places, and the placeholder has a shape.
    assert_null(store_mesh(store, "https://example.org/x/none.obj", NULL, NULL, diags, nowhere));
    CHECK(strstr(diag_at(diags, 2)->message, "none.obj"), diag_at(diags, 2)->message);
    assert_int_equal(store_placeholder(store)->triangle_count, 12);
    assert_ptr_equal(store_placeholder(store), store_placeholder(store));
    assert_int_equal(store_entry_count(store), 5);
    assert_null(store_entry_at(store, 4).path);
    diag_destroy(diags);
    store_destroy(store);
    arena_destroy(arena);
}

static void limits_hold_at_the_limit_and_one_past(void **state)
{
    (void)state;
    unsigned char binary[84 + 50 * 12];
    size_t size = cube_stl(binary);
    for (int over = 0; over < 2; over++) {
        Limits limits = limits_default;
        limits.mesh_vertices = 8 - over;
        DiagSink *diags = diag_create();
        ImportOptions options = { .limits = &limits };
        mesh_destroy(import_bytes(importer, "c.stl", (const char *)binary, size, &options, diags, (SourcePos){ 0 }));
        mesh_destroy(import_text("c.obj", cube_obj, &options, diags));
        int said = 0;
        for (int i = 0; i < diag_count(diags); i++)
            said += strstr(diag_at(diags, i)->message, "more vertices than the limit") != NULL;
        assert_int_equal(said, 2 * over);
        diag_destroy(diags);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stl_is_read),
        cmocka_unit_test(obj_is_read),
        cmocka_unit_test(obj_finds_its_materials),
        cmocka_unit_test(dae_axes_and_units_are_as_expected),
        cmocka_unit_test(other_formats_come_through_the_worker),
        cmocka_unit_test(bones_come_with_their_weights),
        cmocka_unit_test(c23_wrong_kinds_are_refused),
        cmocka_unit_test(assets_are_loaded_once_and_shared),
        cmocka_unit_test(limits_hold_at_the_limit_and_one_past),
    };
    return cmocka_run_group_tests_name("assets.import", tests, set_up, tear_down);
}
