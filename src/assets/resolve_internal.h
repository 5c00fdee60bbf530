// resolve_internal.h - the seams between the parts of the search for files. For this folder alone.
//
//   resolve.c          the roots, and which kind of URL goes where
//   resolve_search.c   one look-up under way; plain paths
//   resolve_network.c  https:// and webots://, the cache of downloads
//   resolve_package.c  package://, model://, ${SHARE}, ${PROGRAM_TOP}
#ifndef TALUS_ASSETS_RESOLVE_INTERNAL_H
#define TALUS_ASSETS_RESOLVE_INTERNAL_H

#include "assets/resolve.h"

enum {
    LONGEST_URL = 4096,
    HIGHEST_CLIMB = 12,  // folders above the naming file that are looked into
};

typedef struct Root {
    const char *path;
    const char *origin;
} Root;

typedef struct RootList {
    Root *items;
    int count, capacity;
} RootList;

struct Resolver {
    Arena *arena;
    const char *main_file;
    const char *project;
    const char *cache;
    const char *library;
    const char *webots_home;
    const char *home;
    const char *share;
    RootList search;    // search folders, in order
    RootList packages;  // ROS_PACKAGE_PATH
    RootList prefixes;  // AMENT_PREFIX_PATH, with /share
    RootList models;
    bool is_untrusted;
};

void resolve_add_root(RootList *list, const char *path, const char *origin);
char *resolve_parent_folder(Arena *arena, const char *folder);
char *resolve_percent_decoded(Arena *arena, const char *text);
char *resolve_with_slashes(Arena *arena, const char *text);  // for backslashes
bool resolve_is_absolute(const char *path);                  // here or on Windows

// One look-up under way.
typedef struct Search {
    const Resolver *resolver;
    Arena *arena;
    Resolved *result;
    const char *from;  // the naming file
    const char *from_folder;
} Search;

void search_note(Search *search, const char *place);  // as tried
// Takes the file at `path` as the answer if it is one. `quietly` leaves it out of the places tried.
bool search_take(Search *search, const char *path, const char *origin, bool quietly);
bool search_take_below(Search *search, const char *folder, const char *name, const char *origin, bool quietly);
// Looks for the longest tail of `path` below each folder; among equals the first folder wins.
bool search_take_tail(Search *search, const RootList *folders, const char *path);

// Each takes what stands behind the scheme, search_https() and search_plain() the whole URL; false: nothing is there.
bool search_plain(Search *search, const char *url);
bool search_file(Search *search, const char *rest);
bool search_home(Search *search, const char *rest);
bool search_project_dir(Search *search, const char *rest);
bool search_https(Search *search, const char *url);
bool search_webots(Search *search, const char *rest);
bool search_package(Search *search, const char *rest);
bool search_model(Search *search, const char *rest);
bool search_share(Search *search, const char *rest);
bool search_program_top(Search *search, const char *rest);

#endif
