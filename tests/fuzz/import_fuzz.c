// Formats that assimp reads, through the confined worker: the first byte chooses. Whatever assimp does, the parent
// lives, and says why there is no mesh.
#include "assets/import.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = { "fuzz.dae", "fuzz.ply", "fuzz.gltf", "fuzz.glb", "fuzz.off",
                                         "fuzz.3ds", "fuzz.x",   "fuzz.dxf",  "fuzz.fbx" };
    static Importer *importer;
    if (!importer)
        importer = import_create(NULL);
    if (size == 0)
        return 0;
    Limits limits = limits_default;
    limits.mesh_vertices = 10000;
    DiagSink *diags = diag_create();
    Mesh *mesh = import_bytes(importer, names[data[0] % COUNT_OF(names)], (const char *)data + 1, size - 1,
                              &(ImportOptions){ .limits = &limits }, diags, (SourcePos){ 0 });
    if (mesh) {
        for (size_t i = 0; i < 3 * (size_t)mesh->triangle_count; i++)
            if (mesh->triangles[i] >= (uint32_t)mesh->vertex_count)
                abort();
        mesh_destroy(mesh);
    } else if (!diag_has_errors(diags)) {
        abort();
    }
    diag_destroy(diags);
    return 0;
}
