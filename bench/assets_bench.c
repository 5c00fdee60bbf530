// assets_bench - loading large meshes beside assimp alone on the same file in the same run.
// Usage: assets_bench [triangles]. Bar: binary STL and OBJ of 1 000 000 triangles in at most 2 times the time of
// assimp.
#include "assets/import.h"
#include "base/file.h"
#include "base/text.h"

#include <assimp/cimport.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { RUNS = 3 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);  // the machine may be busy with other things
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// A closed bumpy sphere with about that many triangles.
static Mesh *make_mesh(int triangles)
{
    int slices = (int)sqrt((double)triangles), stacks = slices / 2 + 1;
    MeshBuilder builder = { 0 };
    for (int i = 0; i <= stacks; i++) {
        for (int k = 0; k < slices; k++) {
            double a = M_PI * i / stacks, b = 2.0 * M_PI * k / slices, r = 1.0 + 0.1 * sin(9.0 * a) * cos(7.0 * b);
            bool is_pole = i == 0 || i == stacks;
            double s = is_pole ? 0.0 : sin(a);
            mesh_build_vertex(&builder, vec3(is_pole ? 0.0 : r * s * cos(b), is_pole ? 0.0 : r * s * sin(b),
                                             is_pole ? cos(a) : r * cos(a)));
        }
    }
    for (int i = 0; i < stacks; i++) {
        for (int k = 0; k < slices; k++) {
            int a = i * slices + k, b = i * slices + (k + 1) % slices;
            mesh_build_triangle(&builder, a, a + slices, b + slices);
            mesh_build_triangle(&builder, a, b + slices, b);
        }
    }
    return mesh_build_end(&builder, NULL, NULL);
}

static void write_stl(const Mesh *mesh, const char *path)
{
    Text out = { 0 };
    char header[84] = "bench";
    uint32_t count = (uint32_t)mesh->triangle_count;
    memcpy(header + 80, &count, 4);
    text_add(&out, header, sizeof header);
    for (int i = 0; i < mesh->triangle_count; i++) {
        char facet[50] = { 0 };
        Vec3 n = mesh_triangle_normal(mesh, i);
        float numbers[12] = { (float)n.x, (float)n.y, (float)n.z };
        for (int k = 0; k < 9; k++)
            numbers[3 + k] = (float)mesh->positions[3 * (size_t)mesh->triangles[3 * i + k / 3] + (size_t)(k % 3)];
        memcpy(facet, numbers, sizeof numbers);
        text_add(&out, facet, sizeof facet);
    }
    file_write_atomic(path, out.data, out.length, NULL);
    text_free(&out);
}

static void write_obj(const Mesh *mesh, const char *path, bool with_normals)
{
    Text out = { 0 };
    for (int i = 0; i < mesh->vertex_count; i++) {
        Vec3 p = mesh_position(mesh, (uint32_t)i);
        text_printf(&out, "v %.6f %.6f %.6f\n", p.x, p.y, p.z);
    }
    for (int i = 0; with_normals && i < mesh->vertex_count; i++) {
        Vec3 p = vec3_normalized(mesh_position(mesh, (uint32_t)i));
        text_printf(&out, "vn %.4f %.4f %.4f\n", p.x, p.y, p.z);
    }
    for (int i = 0; i < mesh->triangle_count; i++) {
        const uint32_t *t = mesh->triangles + 3 * (size_t)i;
        text_printf(&out, with_normals ? "f %u//%u %u//%u %u//%u\n" : "f %u %u %u\n", t[0] + 1,
                    with_normals ? t[0] + 1 : t[1] + 1, with_normals ? t[1] + 1 : t[2] + 1, t[1] + 1, t[2] + 1,
                    t[2] + 1);
    }
    file_write_atomic(path, out.data, out.length, NULL);
    text_free(&out);
}

static double time_ours(Importer *importer, const char *path, int *triangles)
{
    double best = 1e9;
    for (int run = 0; run < RUNS; run++) {
        DiagSink *diags = diag_create();
        double start = now();
        Mesh *mesh = import_file(importer, path, NULL, diags, (SourcePos){ 0 });
        best = fmin(best, now() - start);
        *triangles = mesh ? mesh->triangle_count : 0;
        diag_print(diags, stderr, 0, DIAG_NOTE);
        mesh_destroy(mesh);
        diag_destroy(diags);
    }
    return best;
}

static double time_assimp(const char *path, unsigned flags, int *triangles)
{
    double best = 1e9;
    for (int run = 0; run < RUNS; run++) {
        double start = now();
        const struct aiScene *scene = aiImportFile(path, flags);
        best = fmin(best, now() - start);
        *triangles = 0;
        for (unsigned i = 0; scene && i < scene->mNumMeshes; i++)
            *triangles += (int)scene->mMeshes[i]->mNumFaces;
        if (scene)
            aiReleaseImport(scene);
    }
    return best;
}

int main(int argc, char **argv)
{
    int wanted = argc > 1 ? atoi(argv[1]) : 1000000;
    Mesh *mesh = make_mesh(wanted);
    Importer *importer = import_create(NULL);
    char folder[] = "/tmp/talus_assets_bench.XXXXXX";
    if (!mkdtemp(folder))
        return 1;
    static const char *const names[] = { "mesh.stl", "mesh.obj", "normals.obj" };
    char path[128];
    bool ok = true;
    printf("%-12s %9s %10s %14s %16s %7s\n", "file", "triangles", "talus s", "assimp bare s", "assimp usual s",
           "ratio");
    for (int i = 0; i < COUNT_OF(names); i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        if (i == 0)
            write_stl(mesh, path);
        else
            write_obj(mesh, path, i == 2);
        int ours, bare, usual;
        double our_time = time_ours(importer, path, &ours);
        double bare_time = time_assimp(path, aiProcess_Triangulate, &bare);
        // What a mesh needs to be used: vertices joined, normals there.
        double usual_time = time_assimp(
            path, aiProcess_Triangulate | aiProcess_JoinIdenticalVertices | aiProcess_GenSmoothNormals, &usual);
        printf("%-12s %9d %10.3f %14.3f %16.3f %7.2f\n", names[i], ours, our_time, bare_time, usual_time,
               our_time / bare_time);
        ok = ok && our_time <= 2.0 * bare_time && ours == mesh->triangle_count;
        unlink(path);
    }
    rmdir(folder);
    printf("bar, at most 2 times assimp without any post-processing: %s\n", ok ? "held" : "MISSED");
    import_destroy(importer);
    mesh_destroy(mesh);
    return ok ? 0 : 1;
}
