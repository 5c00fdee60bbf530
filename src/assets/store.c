// store.c - assets that several users share: each is loaded once and kept by what it is.
#include "assets/store.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef enum ItemKind { ITEM_MESH, ITEM_IMAGE, ITEM_CLIP, ITEM_FILE } ItemKind;

// One loaded asset; `key` names kind, options and content. What failed to load stays as an item without data.
typedef struct Item {
    uint64_t hash;
    const char *key;
    ItemKind kind;
    Mesh *mesh;
    Image *image;
    Clip *clip;
    FileData file;
    bool is_alias;  // the data belongs to another item
} Item;

struct AssetStore {
    Arena *arena;
    Resolver *resolver;
    Importer *importer;
    Worker *pictures, *sounds;
    const Limits *limits;
    pthread_mutex_t lock;
    Item *items;
    int item_count, item_capacity;
    int *slots;  // hash table over items, index + 1
    int slot_count;
    StoreEntry *entries;
    int entry_count, entry_capacity;
    StoreCounts counts;
    WorkerBudget budget;     // of all that reads files for it
    atomic_int other_users;  // beside the one that made it
};

AssetStore *store_create(const StoreOptions *options)
{
    static const StoreOptions usual;
    if (!options)
        options = &usual;
    AssetStore *store = memory_alloc(sizeof *store);
    store->arena = arena_create();
    store->limits = options->limits                 ? options->limits
                    : options->resolve.is_untrusted ? &limits_untrusted
                                                    : &limits_default;
    store->resolver = resolve_create(&options->resolve);
    store->importer = import_create(store->limits);
    store->pictures = image_worker_create();
    store->sounds = clip_worker_create();
    store->budget = (WorkerBudget){ .total_ms = store->limits->imports_ms, .limit = "imports_ms" };
    import_set_budget(store->importer, &store->budget);
    worker_set_budget(store->pictures, &store->budget);
    worker_set_budget(store->sounds, &store->budget);
    pthread_mutex_init(&store->lock, NULL);
    return store;
}

void store_destroy(AssetStore *store)
{
    if (!store || atomic_fetch_sub(&store->other_users, 1) > 0)
        return;
    for (int i = 0; i < store->item_count; i++) {
        Item *item = &store->items[i];
        if (item->is_alias)
            continue;
        mesh_destroy(item->mesh);
        image_destroy(item->image);
        clip_destroy(item->clip);
        if (item->file.data)
            file_release(&item->file);
    }
    free(store->items);
    free(store->slots);
    free(store->entries);
    import_destroy(store->importer);
    worker_destroy(store->pictures);
    worker_destroy(store->sounds);
    resolve_destroy(store->resolver);
    arena_destroy(store->arena);
    pthread_mutex_destroy(&store->lock);
    free(store);
}

AssetStore *store_share(AssetStore *store)
{
    assert(store);
    atomic_fetch_add(&store->other_users, 1);
    return store;
}

const Resolver *store_resolver(const AssetStore *store) { return store->resolver; }

const Limits *store_limits(const AssetStore *store) { return store->limits; }

StoreCounts store_counts(const AssetStore *store) { return store->counts; }

int store_entry_count(const AssetStore *store) { return store->entry_count; }

StoreEntry store_entry_at(const AssetStore *store, int index)
{
    assert(index >= 0 && index < store->entry_count);
    return store->entries[index];
}

// ---- the table; the lock is held ----

static int find_item(const AssetStore *store, const char *key)
{
    assert_debug(store->slot_count == 0 || (store->slot_count & (store->slot_count - 1)) == 0);
    uint64_t hash = hash_string(key);
    for (int slot = (int)(hash & (uint64_t)(store->slot_count - 1)); store->slot_count > 0;
         slot = (slot + 1) & (store->slot_count - 1)) {
        int index = store->slots[slot] - 1;
        if (index < 0)
            return -1;
        if (store->items[index].hash == hash && !strcmp(store->items[index].key, key))
            return index;
    }
    return -1;
}

static void put_slot(AssetStore *store, int index)
{
    assert_debug(index >= 0 && index < store->item_count && store->item_count < store->slot_count);
    int mask = store->slot_count - 1, slot = (int)(store->items[index].hash & (uint64_t)mask);
    while (store->slots[slot])
        slot = (slot + 1) & mask;
    store->slots[slot] = index + 1;
}

static int add_item(AssetStore *store, Item item)
{
    memory_grow(&store->items, &store->item_capacity, store->item_count + 1, sizeof *store->items);
    item.key = arena_string(store->arena, item.key);
    item.hash = hash_string(item.key);
    store->items[store->item_count++] = item;
    if (2 * store->item_count > store->slot_count) {
        store->slot_count = store->slot_count ? 2 * store->slot_count : 64;
        free(store->slots);
        store->slots = memory_alloc_array((size_t)store->slot_count, sizeof *store->slots);
        for (int i = 0; i < store->item_count; i++)
            put_slot(store, i);
    } else {
        put_slot(store, store->item_count - 1);
    }
    return store->item_count - 1;
}

static void count_item(AssetStore *store, const Item *item)
{
    assert_debug(!item->is_alias);
    store->counts.meshes += item->mesh != NULL;
    store->counts.images += item->image != NULL;
    store->counts.clips += item->clip != NULL;
    store->counts.files += item->file.data != NULL;
    if (item->mesh)
        store->counts.bytes += mesh_bytes(item->mesh);
    if (item->image)
        store->counts.bytes += (size_t)item->image->width * (size_t)item->image->height * (item->image->light ? 12 : 4);
    if (item->clip)
        store->counts.bytes += (size_t)item->clip->frame_count * (size_t)item->clip->channels * sizeof(float);
    store->counts.bytes += item->file.size;
}

static void note_entry(AssetStore *store, const char *url, const char *from, const Resolved *resolved)
{
    assert_debug(url);
    enum { ENTRIES_MAX = 100000 };
    for (int i = store->entry_count - 1; i >= 0 && i >= store->entry_count - 64; i--)
        if (!strcmp(store->entries[i].url, url) && !strcmp(store->entries[i].from, from))
            return;
    if (store->entry_count >= ENTRIES_MAX)
        return;
    *memory_push(store->entries, store->entry_count, store->entry_capacity) =
        (StoreEntry){ arena_string(store->arena, url), arena_string(store->arena, from),
                      resolved->path ? arena_string(store->arena, resolved->path) : NULL, resolved->origin };
}

// ---- loading ----

typedef struct Load {
    AssetStore *store;
    ItemKind kind;
    const char *what;  // for messages
    StoreMeshQuery query;
    const char *path;
    DiagSink *diags;
    SourcePos pos;
} Load;

static const char *option_text(const Load *load, Arena *arena)
{
    static const char *const kinds[] = { "mesh", "image", "sound", "file" };
    if (load->kind != ITEM_MESH)
        return kinds[load->kind];
    return arena_printf(arena, "mesh%s%s", load->query.keep_axes ? " as it stands" : "",
                        load->query.flat ? " flat" : "");
}

static Item load_content(const Load *load, FileData *file)
{
    assert_debug(file->data || file->size == 0);
    Item item = { .kind = load->kind };
    const Limits *limits = load->store->limits;
    if (load->kind == ITEM_MESH) {
        ImportOptions options = { limits, load->store->resolver, load->query.keep_axes, load->query.flat };
        item.mesh = import_bytes(load->store->importer, load->path, file->data, file->size, &options, load->diags,
                                 load->pos);
    } else if (load->kind == ITEM_IMAGE) {
        item.image = image_from_bytes(load->store->pictures, load->path, file->data, file->size, limits, load->diags,
                                      load->pos);
    } else if (load->kind == ITEM_CLIP) {
        item.clip = clip_from_bytes(load->store->sounds, load->path, file->data, file->size, limits, load->diags,
                                    load->pos);
    } else {
        item.file = *file;
        *file = (FileData){ 0 };
    }
    return item;
}

static void reuse(const Load *load, const Item *item)
{
    load->store->counts.shared++;
    if (!item->mesh && !item->image && !item->clip && !item->file.data)
        diag_error(load->diags, load->pos, "%s '%s' cannot be used, as said before", load->what, load->path);
}

// The item of a file: by its path when it was asked for before, else by its content, else freshly loaded.
static int item_of_path(const Load *load, Arena *arena)
{
    AssetStore *store = load->store;
    const char *options = option_text(load, arena);
    char *path_key = arena_printf(arena, "%s at %s", options, load->path);
    int index = find_item(store, path_key);
    if (index >= 0) {
        reuse(load, &store->items[index]);
        return index;
    }
    FileData file;
    Item item = { .kind = load->kind };
    if (file_read(load->path, (size_t)store->limits->file_bytes, &file, load->diags, load->pos)) {
        // Folder and extension take part for meshes: what they name lies beside them, and some formats show in the name
        // alone.
        bool is_mesh = load->kind == ITEM_MESH;
        char *content_key = arena_printf(
            arena, "%s %016llx %zu in %s%s", options, (unsigned long long)hash_bytes(file.data, file.size, 0),
            file.size, is_mesh ? path_directory(arena, load->path) : "", is_mesh ? path_extension(load->path) : "");
        int same = find_item(store, content_key);
        if (same >= 0) {
            reuse(load, &store->items[same]);
            item = store->items[same];
            item.is_alias = true;
        } else {
            item = load_content(load, &file);
            count_item(store, &item);
            item.key = content_key;
            add_item(store, item);
            item.is_alias = true;
        }
        if (file.data)
            file_release(&file);
    }
    item.key = path_key;
    return add_item(store, item);
}

static int load_url(Load *load, const char *url, const char *from, Arena *arena)
{
    assert_debug(url);
    Resolved resolved;
    bool found = resolve_url(load->store->resolver, url, from, arena, &resolved);
    note_entry(load->store, url, from ? from : "", &resolved);
    if (!found) {
        resolve_report_missing(&resolved, load->what, url, load->diags, load->pos);
        return -1;
    }
    load->path = resolved.path;
    return item_of_path(load, arena);
}

static bool has_filter(const StoreMeshQuery *query) { return (query->name && *query->name) || query->material >= 0; }

// A part of a mesh, as an asset of its own; the lock is held.
static const Mesh *filtered(const Load *load, const Mesh *whole, const char *url, Arena *arena)
{
    assert_debug(whole && load->path && has_filter(&load->query));
    const StoreMeshQuery *query = &load->query;
    const char *name = query->name && *query->name ? query->name : NULL;
    char *key = arena_printf(arena, "%s of %s name %s material %d", option_text(load, arena), load->path,
                             name ? name : "", query->material);
    int index = find_item(load->store, key);
    if (index < 0) {
        Item item = { .kind = ITEM_MESH, .key = key, .mesh = mesh_filtered(whole, name, query->material) };
        count_item(load->store, &item);
        index = add_item(load->store, item);
    }
    const Mesh *mesh = load->store->items[index].mesh;
    if (mesh->triangle_count > 0)
        return mesh;
    if (name)
        diag_warning(load->diags, load->pos, "mesh '%s' has no part with name '%s'", url, name);
    else
        diag_warning(load->diags, load->pos, "mesh '%s' has no part with material index %d", url, query->material);
    return NULL;
}

const Mesh *store_mesh(AssetStore *store, const char *url, const char *from, const StoreMeshQuery *query,
                       DiagSink *diags, SourcePos pos)
{
    assert_debug(store && url);
    Arena *arena = arena_create();
    Load load = { store, ITEM_MESH, "mesh", query ? *query : STORE_MESH_ALL, NULL, diags, pos };
    pthread_mutex_lock(&store->lock);
    int index = load_url(&load, url, from, arena);
    const Mesh *mesh = index >= 0 ? store->items[index].mesh : NULL;
    if (mesh && has_filter(&load.query))
        mesh = filtered(&load, mesh, url, arena);
    pthread_mutex_unlock(&store->lock);
    arena_destroy(arena);
    return mesh;
}

const Image *store_image(AssetStore *store, const char *url, const char *from, DiagSink *diags, SourcePos pos)
{
    assert_debug(url);
    Arena *arena = arena_create();
    Load load = { store, ITEM_IMAGE, "texture", STORE_MESH_ALL, NULL, diags, pos };
    pthread_mutex_lock(&store->lock);
    int index = load_url(&load, url, from, arena);
    const Image *image = index >= 0 ? store->items[index].image : NULL;
    pthread_mutex_unlock(&store->lock);
    arena_destroy(arena);
    return image;
}

const Clip *store_clip(AssetStore *store, const char *url, const char *from, DiagSink *diags, SourcePos pos)
{
    assert_debug(url);
    Arena *arena = arena_create();
    Load load = { store, ITEM_CLIP, "sound", STORE_MESH_ALL, NULL, diags, pos };
    pthread_mutex_lock(&store->lock);
    int index = load_url(&load, url, from, arena);
    const Clip *clip = index >= 0 ? store->items[index].clip : NULL;
    pthread_mutex_unlock(&store->lock);
    arena_destroy(arena);
    return clip;
}

const FileData *store_file(AssetStore *store, const StoreFileQuery *query, const char **path, DiagSink *diags,
                           SourcePos pos)
{
    assert_debug(query->what && query->url);
    Arena *arena = arena_create();
    Load load = { store, ITEM_FILE, query->what, STORE_MESH_ALL, NULL, diags, pos };
    pthread_mutex_lock(&store->lock);
    int index = load_url(&load, query->url, query->from, arena);
    const FileData *file = NULL;
    if (index >= 0 && store->items[index].file.data)  // items move when the array grows, so the answer is a copy
        file = arena_copy(store->arena, &store->items[index].file, sizeof *file);
    if (path)
        *path = file ? arena_string(store->arena, load.path) : NULL;
    pthread_mutex_unlock(&store->lock);
    arena_destroy(arena);
    return file;
}

const Mesh *store_find_mesh(AssetStore *store, const char *key)
{
    pthread_mutex_lock(&store->lock);
    int index = find_item(store, key);
    const Mesh *mesh = index >= 0 ? store->items[index].mesh : NULL;
    store->counts.shared += mesh != NULL;
    pthread_mutex_unlock(&store->lock);
    return mesh;
}

const Mesh *store_keep_mesh(AssetStore *store, const char *key, Mesh *mesh)
{
    assert(key && mesh);
    pthread_mutex_lock(&store->lock);
    int index = find_item(store, key);
    if (index < 0) {
        Item item = { .kind = ITEM_MESH, .key = key, .mesh = mesh };
        count_item(store, &item);
        index = add_item(store, item);
    } else {
        mesh_destroy(mesh);
    }
    const Mesh *kept = store->items[index].mesh;
    pthread_mutex_unlock(&store->lock);
    return kept;
}

const Mesh *store_placeholder(AssetStore *store)
{
    static const char key[] = "placeholder";
    const Mesh *mesh = store_find_mesh(store, key);
    return mesh ? mesh : store_keep_mesh(store, key, mesh_box(vec3(0.1, 0.1, 0.1)));
}

const Clip *store_find_clip(AssetStore *store, const char *key)
{
    pthread_mutex_lock(&store->lock);
    int index = find_item(store, key);
    const Clip *clip = index >= 0 ? store->items[index].clip : NULL;
    store->counts.shared += clip != NULL;
    pthread_mutex_unlock(&store->lock);
    return clip;
}

const Clip *store_keep_clip(AssetStore *store, const char *key, Clip *clip)
{
    assert(key && clip);
    pthread_mutex_lock(&store->lock);
    int index = find_item(store, key);
    if (index < 0) {
        Item item = { .kind = ITEM_CLIP, .key = key, .clip = clip };
        count_item(store, &item);
        index = add_item(store, item);
    } else {
        clip_destroy(clip);
    }
    const Clip *kept = store->items[index].clip;
    pthread_mutex_unlock(&store->lock);
    return kept;
}
