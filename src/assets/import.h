// import.h - mesh files to meshes: STL and OBJ (with MTL) by our own readers, DAE, PLY, glTF/GLB, FBX, 3DS, X, DXF, OFF
// and BLEND through assimp in a confined worker process. VRML97 files are scenes: formats/shape/shape.h reads those.
// Belongs here: telling formats apart, reading, axes and units. Not here: finding files (resolve.h), sharing (store.h).
//
// Axes and units are what each format's users expect. STL, OBJ, PLY: the numbers as they stand. DAE: its unit is
// applied; its up axis becomes +z for Webots, while Choreonoid takes the file's axes as they are (keep_axes). Others:
// as assimp gives them.
#ifndef TALUS_ASSETS_IMPORT_H
#define TALUS_ASSETS_IMPORT_H

#include "assets/mesh.h"
#include "assets/resolve.h"
#include "base/worker.h"

typedef struct Importer Importer;

typedef struct ImportOptions {
    const Limits *limits;      // NULL: defaults
    const Resolver *resolver;  // confines the files that a mesh file names (materials, buffers); NULL: not confined
    bool keep_axes;            // the up axis of DAE files is ignored, as Choreonoid does
    bool flat;  // meshes without normals stay flat; else they are smoothed, as Webots does (STL is always flat)
} ImportOptions;

// Starts no process until a format asks for one. An Importer may be used from several threads.
Importer *import_create(const Limits *limits);
void import_destroy(Importer *importer);                           // NULL is fine
void import_set_budget(Importer *importer, WorkerBudget *budget);  // of all that its worker does; outlives the importer

// Whether the name looks like a mesh file that import_file reads.

// Reads a mesh. On failure returns NULL and reports an error at `pos`.
Mesh *import_file(Importer *importer, const char *path, const ImportOptions *options, DiagSink *diags, SourcePos pos);
// The same from memory; `path` is for messages and for finding companions.
Mesh *import_bytes(Importer *importer, const char *path, const char *data, size_t size, const ImportOptions *options,
                   DiagSink *diags, SourcePos pos);

#endif
