// Every mesh and image of the corpus loads; prints a table of formats.
#include "assets/store.h"
#include "base/file.h"
#include "formats/shape/shape.h"
#include "support/support.h"

typedef struct Row {
    const char *suffix;
    int files, failed, closed;
    int64_t triangles, vertices;
} Row;

static Row meshes[] = { { "stl" }, { "STL" }, { "obj" }, { "dae" }, { "wrl" }, { "ply" }, { "gltf" }, { "glb" } };
static Row images[] = { { "png" }, { "jpg" }, { "jpeg" }, { "hdr" } };

static AssetStore *store;
static DiagSink *diags;
static Scene *scene;

// A VRML file may hold lights and fog alone.
static bool has_geometry(const char *path)
{
    char *text = support_read(path);
    bool has = text && strstr(text, "geometry");
    free(text);
    return has || !strstr(path, ".wrl");
}

static void load_mesh(const char *path, void *context)
{
    Row *row = context;
    const ShapeSource source = { scene, store, diags };
    int before = diag_count(diags);
    const Mesh *mesh = shape_file_mesh(&source, path, "", NULL, (SourcePos){ 0 });
    row->files++;
    if (!mesh) {
        if (!has_geometry(path))
            return;
        row->failed++;
        printf("FAILED %s\n", path);
        diag_print(diags, stdout, before, DIAG_NOTE);
        return;
    }
    CHECK(mesh->triangle_count > 0 && vec3_is_finite(mesh->low) && vec3_is_finite(mesh->high), path);
    row->triangles += mesh->triangle_count;
    row->vertices += mesh->vertex_count;
    row->closed += mesh_is_closed(mesh);
}

static void load_image(const char *path, void *context)
{
    Row *row = context;
    int before = diag_count(diags);
    const Image *image = store_image(store, path, "", diags, (SourcePos){ 0 });
    row->files++;
    if (!image) {
        row->failed++;
        printf("FAILED %s\n", path);
        diag_print(diags, stdout, before, DIAG_NOTE);
        return;
    }
    row->triangles += (int64_t)image->width * image->height;
}

static void everything_in_the_corpus_loads(void **state)
{
    (void)state;
    const char *corpus = support_corpus();
    if (!corpus)
        SUPPORT_SKIP("the corpus is not here");
    store = store_create(&(StoreOptions){ .resolve = { .cache = "" } });
    diags = diag_create();
    scene = scene_create();
    Arena *arena = arena_create();
    const char *real = path_real(arena, corpus);
    int failed = 0;
    printf("%-6s %6s %7s %9s %9s %7s\n", "format", "files", "failed", "triangles", "vertices", "closed");
    for (int i = 0; i < COUNT_OF(meshes); i++) {
        support_each_file(real, arena_printf(arena, ".%s", meshes[i].suffix), load_mesh, &meshes[i]);
        const Row *row = &meshes[i];
        printf("%-6s %6d %7d %9lld %9lld %7d\n", row->suffix, row->files, row->failed, (long long)row->triangles,
               (long long)row->vertices, row->closed);
        failed += row->failed;
    }
    printf("%-6s %6s %7s %9s\n", "format", "files", "failed", "pixels");
    for (int i = 0; i < COUNT_OF(images); i++) {
        support_each_file(real, arena_printf(arena, ".%s", images[i].suffix), load_image, &images[i]);
        printf("%-6s %6d %7d %9lld\n", images[i].suffix, images[i].files, images[i].failed,
               (long long)images[i].triangles);
        failed += images[i].failed;
    }
    StoreCounts counts = store_counts(store);
    printf("%d meshes, %d images, %d shared, %.1f MB\n", counts.meshes, counts.images, counts.shared,
           (double)counts.bytes / 1e6);
    assert_int_equal(failed, 0);
    assert_true(meshes[0].files + meshes[1].files + meshes[2].files + meshes[3].files + meshes[4].files > 50);
    store_destroy(store);
    diag_destroy(diags);
    scene_destroy(scene);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(everything_in_the_corpus_loads) };
    return cmocka_run_group_tests_name("formats.mesh_corpus", tests, NULL, NULL);
}
