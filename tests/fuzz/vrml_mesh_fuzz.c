// VRML97 files as meshes: parsing, flattening, and every kind of geometry in them.
#include "base/file.h"
#include "formats/formats.h"
#include "formats/shape/shape.h"

#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char folder[] = "/tmp/talus_vrml_fuzz.XXXXXX";
    static bool is_ready;
    static char path[64];
    if (!is_ready) {
        if (!mkdtemp(folder))
            abort();
        snprintf(path, sizeof path, "%s/fuzz.wrl", folder);
        is_ready = true;
    }
    FILE *file = fopen(path, "wb");
    if (!file)
        abort();
    fwrite(data, 1, size, file);
    fclose(file);
    Limits limits = limits_default;
    limits.mesh_vertices = 20000;
    limits.nodes = 20000;
    limits.heightfield_cells = 20000;
    DiagSink *diags = diag_create();
    Scene *scene = scene_create();
    AssetStore *store = store_create(
        &(StoreOptions){ .resolve = { .main_file = path, .cache = "", .is_untrusted = true }, .limits = &limits });
    const ShapeSource source = { scene, store, diags };
    static const char *const nodes[] = { NULL, "A" };
    for (int i = 0; i < COUNT_OF(nodes); i++) {
        const Mesh *mesh = shape_vrml_mesh(&source, path, path, nodes[i], (SourcePos){ 0 });
        for (size_t k = 0; mesh && k < 3 * (size_t)mesh->triangle_count; k++)
            if (mesh->triangles[k] >= (uint32_t)mesh->vertex_count)
                abort();
        if (!mesh && diag_count(diags) == 0)
            abort();
    }
    store_destroy(store);
    scene_destroy(scene);
    diag_destroy(diags);
    unlink(path);
    return 0;
}
