// import_internal.h - what the mesh readers share. For assets/import*.c and their tests and fuzz targets alone.
#ifndef TALUS_ASSETS_IMPORT_INTERNAL_H
#define TALUS_ASSETS_IMPORT_INTERNAL_H

#include "assets/import.h"
#include "base/file.h"
#include "base/worker.h"

// Reads a file that a mesh file names, relative to its folder. False when it is not there or not allowed.
typedef struct ImportCompanions {
    const char *path;  // of the mesh file
    const ImportOptions *options;
    DiagSink *diags;
    SourcePos pos;
} ImportCompanions;
bool import_companion(const ImportCompanions *companions, const char *name, FileData *file);

// The readers fill a builder and return NULL, or a reason why the file cannot be read (a static string).
const char *import_stl(const char *data, size_t size, MeshBuilder *builder, MeshBuildOptions *build);
const char *import_obj(const char *data, size_t size, MeshBuilder *builder, const ImportCompanions *companions);
bool import_stl_is_binary(const char *data, size_t size);

Worker *import_worker_create(void);
// Through assimp; `extension` is without the dot. `reason` gets at least 256 bytes of text on failure.
bool import_by_worker(Worker *worker, const char *extension, WorkerPart file, MeshBuilder *builder,
                      const ImportCompanions *companions, char reason[256]);

#endif
