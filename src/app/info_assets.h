// info_assets.h - the files that the nodes of a scene name (meshes, textures, sounds) and where each was found.
#ifndef TALUS_APP_INFO_ASSETS_H
#define TALUS_APP_INFO_ASSETS_H

#include "base/arena.h"
#include "scene/scene.h"

typedef struct InfoAsset {
    const char *url, *type;     // type of the first node that names it
    const char *path, *origin;  // NULL when it is missing
    int count;                  // nodes that name it
} InfoAsset;

typedef struct InfoAssets {
    InfoAsset *items;  // in file order; the caller frees
    int count, capacity;
} InfoAssets;

// `diags` is the sink that the scene was loaded with. Looks only: nothing is read, nothing reported. Strings are in
// `arena`.
void info_assets_find(const Scene *scene, bool is_untrusted, DiagSink *diags, Arena *arena, InfoAssets *assets);

#endif
