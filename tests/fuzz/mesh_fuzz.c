// Our own STL and OBJ readers: the first byte chooses, the rest is the file.
#include "assets/import.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = { "fuzz.stl", "fuzz.obj" };
    static Importer *importer;
    if (!importer)
        importer = import_create(NULL);
    if (size == 0)
        return 0;
    const char *name = names[data[0] % 2];
    Limits limits = limits_default;
    limits.mesh_vertices = 10000;
    DiagSink *diags = diag_create();
    Mesh *mesh = import_bytes(importer, name, (const char *)data + 1, size - 1, &(ImportOptions){ .limits = &limits },
                              diags, (SourcePos){ 0 });
    if (mesh) {
        MeshMass mass;
        mesh_mass(mesh, &mass);
        for (size_t i = 0; i < 3 * (size_t)mesh->triangle_count; i++)
            if (mesh->triangles[i] >= (uint32_t)mesh->vertex_count)
                abort();
        for (size_t i = 0; i < 3 * (size_t)mesh->vertex_count; i++)
            if (!isfinite(mesh->positions[i]))
                abort();
        Mesh *part = mesh_filtered(mesh, "a", -1);
        mesh_destroy(part);
        mesh_destroy(mesh);
    } else if (!diag_has_errors(diags)) {
        abort();  // nothing is refused in silence
    }
    diag_destroy(diags);
    return 0;
}
