// import.c - meshes of foreign formats, read in the confined worker and checked as they come back.
#include "assets/import_internal.h"

#include "base/memory.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct Importer {
    Worker *worker;
    const Limits *limits;
};

typedef enum Kind { KIND_UNKNOWN, KIND_STL, KIND_OBJ, KIND_WORKER, KIND_IMAGE, KIND_VRML } Kind;

static const struct {
    const char *extension;
    Kind kind;
} extensions[] = {
    { "stl", KIND_STL },     { "obj", KIND_OBJ },    { "dae", KIND_WORKER }, { "ply", KIND_WORKER },
    { "gltf", KIND_WORKER }, { "glb", KIND_WORKER }, { "fbx", KIND_WORKER }, { "3ds", KIND_WORKER },
    { "x", KIND_WORKER },    { "dxf", KIND_WORKER }, { "off", KIND_WORKER }, { "blend", KIND_WORKER },
    { "wrl", KIND_VRML },
};

// What the first bytes say, whatever the name is.
static const struct {
    const char *magic;
    size_t length;
    Kind kind;
    const char *extension;
} magics[] = {
    { "\x89PNG\r\n", 6, KIND_IMAGE, "png" },   { "\xff\xd8\xff", 3, KIND_IMAGE, "jpg" },
    { "GIF8", 4, KIND_IMAGE, "gif" },          { "#?RADIANCE", 10, KIND_IMAGE, "hdr" },
    { "glTF", 4, KIND_WORKER, "glb" },         { "ply\n", 4, KIND_WORKER, "ply" },
    { "ply\r", 4, KIND_WORKER, "ply" },        { "#VRML V2.0", 10, KIND_VRML, "wrl" },
    { "Kaydara FBX", 11, KIND_WORKER, "fbx" },
};

Importer *import_create(const Limits *limits)
{
    Importer *importer = memory_alloc(sizeof *importer);
    importer->limits = limits_or_default(limits);
    importer->worker = import_worker_create();
    return importer;
}

void import_set_budget(Importer *importer, WorkerBudget *budget) { worker_set_budget(importer->worker, budget); }

void import_destroy(Importer *importer)
{
    if (!importer)
        return;
    worker_destroy(importer->worker);
    free(importer);
}

static Kind kind_of_name(const char *path, const char **extension)
{
    const char *dot = path_extension(path);
    for (int i = 0; *dot && i < COUNT_OF(extensions); i++) {
        if (!strcasecmp(dot + 1, extensions[i].extension)) {
            *extension = extensions[i].extension;
            return extensions[i].kind;
        }
    }
    *extension = "";
    return KIND_UNKNOWN;
}

static bool has_text(const char *data, size_t size, size_t within, const char *text)
{
    return memmem(data, size < within ? size : within, text, strlen(text)) != NULL;
}

static Kind detect(const char *path, const char *data, size_t size, const char **extension)
{
    assert_debug(data || size == 0);
    for (int i = 0; i < COUNT_OF(magics); i++) {
        if (size >= magics[i].length && !memcmp(data, magics[i].magic, magics[i].length)) {
            *extension = magics[i].extension;
            return magics[i].kind;
        }
    }
    Kind kind = kind_of_name(path, extension);
    if (kind == KIND_UNKNOWN && has_text(data, size, 4096, "<COLLADA")) {
        *extension = "dae";
        return KIND_WORKER;
    }
    if (kind == KIND_UNKNOWN && (import_stl_is_binary(data, size) || has_text(data, size, 4096, "facet normal")))
        return KIND_STL;
    return kind;
}

bool import_companion(const ImportCompanions *companions, const char *name, FileData *file)
{
    assert_debug(companions->path && companions->options && name);
    Arena *arena = arena_create();
    char *clean = arena_string(arena, name);
    for (char *p = clean; *p; p++)
        if (*p == '\\')
            *p = '/';
    char *path = path_join(arena, path_directory(arena, companions->path), clean);
    if (!file_exists(path))  // often an absolute path of somebody's disk: the file then lies beside
        path = path_join(arena, path_directory(arena, companions->path), path_name(clean));
    const ImportOptions *options = companions->options;
    bool ok = file_exists(path) && (!options->resolver || resolve_is_allowed(options->resolver, path))
              && file_read(path, (size_t)limits_or_default(options->limits)->file_bytes, file, NULL, companions->pos);
    arena_destroy(arena);
    return ok;
}

static Mesh *finish(MeshBuilder *builder, const MeshBuildOptions *build, Kind kind, const ImportCompanions *source)
{
    assert_debug(source->path && source->options);
    MeshReport report = { 0 };
    MeshBuildOptions own = *build;
    own.keep_vertices |= builder->mesh.bone_count > 0;  // what touches at rest may part: lips, fingers
    Mesh *mesh = mesh_build_end(builder, &own, &report);
    Arena *arena = arena_create();
    char *what = arena_printf(arena, "mesh '%s'", source->path);
    mesh_report(&report, what, source->diags, source->pos);
    if (mesh->triangle_count == 0) {
        diag_error(source->diags, source->pos, "%s holds no triangles", what);
        mesh_destroy(mesh);
        mesh = NULL;
    } else if (!mesh->normals && !source->options->flat && kind != KIND_STL) {
        mesh_compute_normals(mesh, M_PI);
    }
    arena_destroy(arena);
    return mesh;
}

// STL and OBJ are read here, in one pass and with bounded memory; every other format goes to a library in a confined
// process.
Mesh *import_bytes(Importer *importer, const char *path, const char *data, size_t size, const ImportOptions *options,
                   DiagSink *diags, SourcePos pos)
{
    assert_debug(importer && (data || size == 0));
    static const ImportOptions usual;
    if (!options)
        options = &usual;
    const Limits *limits = options->limits ? options->limits : importer->limits;
    MeshBuilder builder = { .vertex_limit = limits->mesh_vertices };
    MeshBuildOptions build = { 0 };
    ImportCompanions companions = { path, options, diags, pos };
    const char *extension = "", *problem = NULL;
    char reason[256] = "";
    Kind kind = detect(path, data, size, &extension);
    if (kind == KIND_STL)
        problem = import_stl(data, size, &builder, &build);
    else if (kind == KIND_OBJ)
        problem = import_obj(data, size, &builder, &companions);
    else if (kind == KIND_WORKER)
        problem = import_by_worker(importer->worker, extension, (WorkerPart){ data, size }, &builder, &companions,
                                   reason)
                      ? NULL
                      : reason;
    else
        problem = kind == KIND_IMAGE  ? "it is an image, not a mesh"
                  : kind == KIND_VRML ? "VRML scenes are not meshes of their own"
                                      : "it is of no mesh format that is known";
    if (problem) {
        diag_error(diags, pos, "cannot read mesh '%s': %s", path, problem);
        mesh_build_cancel(&builder);
        return NULL;
    }
    return finish(&builder, &build, kind, &companions);
}

Mesh *import_file(Importer *importer, const char *path, const ImportOptions *options, DiagSink *diags, SourcePos pos)
{
    FileData file;
    const Limits *limits = options && options->limits ? options->limits : importer->limits;
    if (!file_read(path, (size_t)limits->file_bytes, &file, diags, pos))
        return NULL;
    Mesh *mesh = import_bytes(importer, path, file.data, file.size, options, diags, pos);
    file_release(&file);
    return mesh;
}
