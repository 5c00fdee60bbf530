// resolve.h - where the file behind a URL lies on this machine: the one place that knows all ways of naming a PROTO,
// mesh, texture or sound. Belongs here: search order, package and cache layout, confinement. Not here: reading the
// files (see store.h), and never the network.
//
// What a URL may be, and where it is looked for, in order:
//   plain path          beside the naming file, in the project, beside the main file, in the search folders, in the
//                       default project of WEBOTS_HOME; an absolute one as it is, then by its tail in project and
//                       beside the naming file (worlds often carry paths of their author's disk)
//   webots://TAIL       WEBOTS_HOME, search folders, cache (first the release of the naming file), library
//   https://...         cache, then search folders, WEBOTS_HOME and library by tail: the longest tail that exists wins
//   file://PATH         that path
//   package://NAME/...  ROS_PACKAGE_PATH, AMENT_PREFIX_PATH, folders above the naming file, search folders
//   model://NAME/...    GZ_SIM_RESOURCE_PATH, IGN_GAZEBO_RESOURCE_PATH, GAZEBO_MODEL_PATH, SDF_PATH, then as package
//   ${SHARE} ${PROGRAM_TOP} ${HOME} ${PROJECT_DIR}
//                       Choreonoid's folders: search folders, `share` folders above the naming file, CHOREONOID_SHARE,
//                       an installed Choreonoid
//
// Confinement: real projects reach out of their folder with "../" and absolute paths, so a trusted load may read every
// regular file. With is_untrusted a file counts only if it lies, symbolic links resolved, inside the project, a search
// folder, the cache, the library, WEBOTS_HOME or a package folder. Devices, FIFOs and folders are never an answer.
//
// A Resolver is immutable after creation but for the arena it copies options to; several threads may use one.
#ifndef TALUS_ASSETS_RESOLVE_H
#define TALUS_ASSETS_RESOLVE_H

#include "base/arena.h"
#include "base/diag.h"

typedef struct Resolver Resolver;

typedef struct ResolveOptions {
    const char *main_file;            // the world or body that is opened, NULL: none
    const char *project;              // NULL: found from main_file, see resolve_project
    const char *const *search_paths;  // NULL-terminated; NULL: none. TALUS_PATH and WEBOTS_EXTRA_PROJECT_PATH are added
    const char *library;              // stand-ins that come with the program, searched last; NULL: none
    const char *cache;                // NULL: resolve_default_cache; "": none
    bool is_untrusted;
} ResolveOptions;

typedef struct Resolved {
    const char *path;    // NULL when there is no such file
    const char *origin;  // "file" (beside the naming one), "project", "path", "webots", "package", "cache", "library"
    bool is_network;     // the URL names a file on the network (https://, http://, webots://)
    bool is_refused;     // a file was there, but confinement refused it
    const char **tried;  // places, as a person reads them
    int tried_count;
} Resolved;

Resolver *resolve_create(const ResolveOptions *options);
void resolve_destroy(Resolver *resolver);                      // NULL is fine
const char *resolve_project_folder(const Resolver *resolver);  // "" when there is none

// Finds the file behind `url` as named in the file `from` (NULL or "": the main file). Results live in `arena`.
bool resolve_url(const Resolver *resolver, const char *url, const char *from, Arena *arena, Resolved *result);

// Says that `what` (as "mesh", "texture", "PROTO") was not found: a warning at `pos` that names every place tried, with
// a hint to `talus fetch` for what is on the network.
void resolve_report_missing(const Resolved *result, const char *what, const char *url, DiagSink *diags, SourcePos pos);

// Whether the file may be read: always when trusted.
bool resolve_is_allowed(const Resolver *resolver, const char *path);

// The project of a file: the folder above the nearest `worlds` or `protos` folder it lies in, else the nearest folder
// above with a package.xml, else its own folder.
char *resolve_project(Arena *arena, const char *file);
char *resolve_default_cache(
    Arena *arena);  // $TALUS_CACHE, else $XDG_CACHE_HOME/talus, else ~/.cache/talus; "" without any

bool resolve_is_network(const char *url);  // https://, http:// or webots://
// The https form of a URL: webots://TAIL is the file of that release ("R2023b") in Webots' public repository; relative
// ones are taken against `base`. NULL when it has none.
char *resolve_network_url(Arena *arena, const char *url, const char *base, const char *release);
// Place of a downloaded URL in a cache folder, as a path that keeps the URL's own folders so that relative names inside
// the file work. NULL when the URL names no file.
char *resolve_cache_path(Arena *arena, const char *cache, const char *url);
// The https URL of which a path in the cache is the copy; NULL when it is none.
char *resolve_cache_url(Arena *arena, const char *cache, const char *path);

#endif
