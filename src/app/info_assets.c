// info_assets.c - every file that a world asks for, and where it was found: for `talus info`.
#include "app/info_assets.h"

#include "base/memory.h"
#include "formats/shape/shape.h"

#include <string.h>
#include <strings.h>

enum { ASSETS_MAX = 20000 };

typedef struct Finder {
    ShapeSource source;
    Resolver *resolver;
    Arena *arena;
    InfoAssets *assets;
} Finder;

static void add_asset(Finder *finder, const char *url, const char *from, const char *type)
{
    assert_debug(url && from && type);
    InfoAssets *assets = finder->assets;
    Resolved resolved;
    bool found = resolve_url(finder->resolver, url, from, finder->arena, &resolved);
    for (int i = 0; i < assets->count; i++) {
        InfoAsset *asset = &assets->items[i];
        bool is_same_file = found == (asset->path != NULL) && (!found || !strcmp(resolved.path, asset->path));
        if (is_same_file && !strcmp(asset->url, url)) {
            asset->count++;
            return;
        }
    }
    if (assets->count >= ASSETS_MAX)
        return;
    *memory_push(assets->items, assets->count, assets->capacity) = (InfoAsset){ url, type, found ? resolved.path : NULL,
                                                                                found ? resolved.origin : NULL, 1 };
}

// url of Mesh, ImageTexture ..., frontUrl of Background, modelUrl of Skin, sounds of motors and contacts.
static bool names_a_file(const FieldType *field)
{
    size_t length = strlen(field->name);
    return !strcmp(field->name, "url") || (length > 3 && !strcmp(field->name + length - 3, "Url"))
           || (length > 5 && !strcasecmp(field->name + length - 5, "sound")) || !strcmp(field->name, "sound");
}

static bool find_in_node(SceneNode *node, void *context)
{
    Finder *finder = context;
    for (int i = 0; i < node->field_count; i++) {
        const SceneField *field = &node->fields[i];
        if (!names_a_file(field->type) || !strcmp(node->type->name, "Anchor"))
            continue;
        const char *from = shape_naming_file(&finder->source, node, field->type->name);
        if (field->type->kind == FIELD_SF_STRING && *field->value.s)
            add_asset(finder, field->value.s, from, node->type->name);
        if (field->type->kind == FIELD_MF_STRING && field->value.list->count > 0 && *field->value.list->strings[0])
            add_asset(finder, field->value.list->strings[0], from, node->type->name);
    }
    return true;
}

void info_assets_find(const Scene *scene, bool is_untrusted, DiagSink *diags, Arena *arena, InfoAssets *assets)
{
    ResolveOptions options = { .main_file = scene_path(scene), .is_untrusted = is_untrusted };
    Finder finder = { { scene, NULL, diags }, resolve_create(&options), arena, assets };
    scene_walk(scene_root(scene), false, find_in_node, &finder);
    resolve_destroy(finder.resolver);
}
