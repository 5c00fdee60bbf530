// proto_search.c - where PROTO files lie: folders, each read once per load, and Talus's own library.
#include "formats/proto/proto_internal.h"

#include "base/hash.h"
#include "base/memory.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEEPEST_FOLDER = 12, ENTRIES_MAX = 200000 };

static uint64_t slot_of(const NameMap *map, const char *key, size_t length)
{
    assert_debug(map->slots && map->slot_count > 0);
    uint64_t slot = hash_bytes(key, length, 0) & (uint64_t)(map->slot_count - 1);
    while (map->slots[slot].key && (strncmp(map->slots[slot].key, key, length) || map->slots[slot].key[length]))
        slot = (slot + 1) & (uint64_t)(map->slot_count - 1);
    return slot;
}

void *name_map_find(const NameMap *map, const char *key, size_t length)
{
    return map->count ? map->slots[slot_of(map, key, length)].value : NULL;
}

void name_map_put(NameMap *map, const char *key, void *value)
{
    assert_debug(key && value);
    if (map->count * 2 >= map->slot_count) {
        NameMap grown = { .slot_count = map->slot_count ? map->slot_count * 2 : 16, .count = map->count };
        grown.slots = memory_alloc_array((size_t)grown.slot_count, sizeof *grown.slots);
        for (int i = 0; i < map->slot_count; i++)
            if (map->slots[i].key)
                grown.slots[slot_of(&grown, map->slots[i].key, strlen(map->slots[i].key))] = map->slots[i];
        free(map->slots);
        *map = grown;
    }
    uint64_t slot = slot_of(map, key, strlen(key));
    if (!map->slots[slot].key) {
        map->slots[slot].key = key;
        map->count++;
    }
    map->slots[slot].value = value;
}

void name_map_free(NameMap *map)
{
    free(map->slots);
    *map = (NameMap){ 0 };
}

typedef struct FolderWalk {
    FolderIndex *index;
    Arena *arena;
    int entries;
} FolderWalk;

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add_file(FolderWalk *walk, const char *folder, const char *name)
{
    const char *extension = path_extension(name);
    if (strcasecmp(extension, ".proto"))
        return;
    char *stem = arena_text(walk->arena, name, strlen(name) - strlen(extension));
    if (!name_map_find(&walk->index->files, stem, strlen(stem)))
        name_map_put(&walk->index->files, stem, path_join(walk->arena, folder, name));
}

// Files of a folder come before those of the folders in it, each in the order of their names: the first one counts.
static void walk_folder(FolderWalk *walk, const char *folder, int depth)
{
    assert_debug(depth >= 0);
    DIR *directory = opendir(folder);
    if (!directory)
        return;
    const char **files = NULL, **folders = NULL;
    int file_count = 0, file_capacity = 0, folder_count = 0, folder_capacity = 0;
    for (struct dirent *entry; (entry = readdir(directory)) && walk->entries < ENTRIES_MAX;) {
        struct stat info;
        walk->entries++;
        if (entry->d_name[0] == '.')
            continue;
        bool is_folder = entry->d_type == DT_DIR;
        if (entry->d_type == DT_UNKNOWN)
            is_folder = fstatat(dirfd(directory), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0
                        && S_ISDIR(info.st_mode);
        if (is_folder) {
            *memory_push(folders, folder_count, folder_capacity) = arena_string(walk->arena, entry->d_name);
        } else {
            *memory_push(files, file_count, file_capacity) = arena_string(walk->arena, entry->d_name);
        }
    }
    closedir(directory);
    if (file_count)
        qsort(files, (size_t)file_count, sizeof *files, compare_names);
    for (int i = 0; i < file_count; i++)
        add_file(walk, folder, files[i]);
    if (folder_count)
        qsort(folders, (size_t)folder_count, sizeof *folders, compare_names);
    for (int i = 0; i < folder_count && depth < DEEPEST_FOLDER; i++)
        walk_folder(walk, path_join(walk->arena, folder, folders[i]), depth + 1);
    free(files);
    free(folders);
}

const char *folder_index_find(FolderIndex *index, const char *name, Arena *arena)
{
    assert_debug(name && arena);
    if (!index->folder)
        return NULL;
    if (!index->is_read) {
        FolderWalk walk = { index, arena, 0 };
        walk_folder(&walk, index->folder, 0);
        index->is_read = true;
    }
    return name_map_find(&index->files, name, strlen(name));
}

// `folder` if it is a library, that is, if it has a folder "protos".
static char *library_at(Arena *arena, const char *folder)
{
    return file_is_directory(path_join(arena, folder, "protos")) ? path_normalized(arena, folder) : NULL;
}

// Beside a program or shared library: installed in PREFIX/bin or PREFIX/lib, or in a build folder of the source tree.
static char *library_beside(Arena *arena, const char *program)
{
    static const char *const places[] = { "../share/talus/library", "../../share/talus/library", "../library",
                                          "../../library" };
    char *folder = path_directory(arena, program);
    char *found = NULL;
    for (int i = 0; i < COUNT_OF(places) && !found; i++)
        found = library_at(arena, path_join(arena, folder, places[i]));
    return found;
}

char *proto_library_folder(Arena *arena)
{
    const char *variable = getenv("TALUS_LIBRARY");
    if (variable && *variable)
        return library_at(arena, variable);
    char program[4096];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    char *found = length > 0 ? library_beside(arena, program) : NULL;
    Dl_info self;  // in a program of others, libtalus knows where it lies
    if (!found && dladdr((const void *)(uintptr_t)compare_names, &self) && self.dli_fname) {
        char *real = path_real(arena, self.dli_fname);
        found = real ? library_beside(arena, real) : NULL;
    }
    return found;
}
