// store.h - the assets of a world, each loaded once and shared: meshes, images, sounds and raw files behind URLs.
// The store owns all it gives out; pointers stay valid until store_destroy. Files with the same content are one asset,
// wherever they lie. It may be used from several threads.
#ifndef TALUS_ASSETS_STORE_H
#define TALUS_ASSETS_STORE_H

#include "assets/clip.h"
#include "assets/image.h"
#include "assets/import.h"
#include "assets/resolve.h"
#include "base/file.h"

typedef struct AssetStore AssetStore;

typedef struct StoreOptions {
    ResolveOptions resolve;
    const Limits *limits;  // NULL: the defaults, or the untrusted set when resolve.is_untrusted
} StoreOptions;

AssetStore *store_create(const StoreOptions *options);  // NULL: defaults
void store_destroy(AssetStore *store);                  // NULL is fine; the last one who shares it frees it
AssetStore *store_share(AssetStore *store);             // one more owner of it
const Resolver *store_resolver(const AssetStore *store);
const Limits *store_limits(const AssetStore *store);

typedef struct StoreMeshQuery {
    const char *name;      // only parts of that name; NULL or "": all
    int material;          // only parts of that material; -1: all
    bool keep_axes, flat;  // see ImportOptions
} StoreMeshQuery;
#define STORE_MESH_ALL ((StoreMeshQuery){ .material = -1 })

// `url` as named in the file `from`. NULL when it is missing (a warning names every place tried) or unreadable (an
// error).
const Mesh *store_mesh(AssetStore *store, const char *url, const char *from, const StoreMeshQuery *query,
                       DiagSink *diags, SourcePos pos);
const Image *store_image(AssetStore *store, const char *url, const char *from, DiagSink *diags, SourcePos pos);
const Clip *store_clip(AssetStore *store, const char *url, const char *from, DiagSink *diags, SourcePos pos);
// Sounds that others make (speech, synthesised ones) under a key of theirs, as store_find_mesh and store_keep_mesh do
// for meshes.
const Clip *store_find_clip(AssetStore *store, const char *key);
const Clip *store_keep_clip(AssetStore *store, const char *key, Clip *clip);
// Bytes of any file (skeletons, VRML scenes); *path (may be NULL) is where it lies.
typedef struct StoreFileQuery {
    const char *what;  // for messages
    const char *url, *from;
} StoreFileQuery;
const FileData *store_file(AssetStore *store, const StoreFileQuery *query, const char **path, DiagSink *diags,
                           SourcePos pos);

// Meshes that others make (tessellated primitives, parts of VRML scenes) under a key of theirs. store_keep_mesh takes
// over `mesh` and returns the one to use: when another thread was faster, that one's.
const Mesh *store_find_mesh(AssetStore *store, const char *key);
const Mesh *store_keep_mesh(AssetStore *store, const char *key, Mesh *mesh);

// What stands for a mesh that could not be had: a box of 10 cm.
const Mesh *store_placeholder(AssetStore *store);

typedef struct StoreCounts {
    int meshes, images, clips, files, shared;
    size_t bytes;
} StoreCounts;
StoreCounts store_counts(const AssetStore *store);  // `shared`: requests that were answered by what was there

// Every asset asked for, for `talus info`: its URL, the file taken (NULL when missing) and how it was found.
typedef struct StoreEntry {
    const char *url, *from, *path, *origin;
} StoreEntry;
int store_entry_count(const AssetStore *store);
StoreEntry store_entry_at(const AssetStore *store, int index);

#endif
