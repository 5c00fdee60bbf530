// fetch.c - `talus fetch`: lists and downloads what worlds name on the network, into the cache that every other verb
// reads from. The only verb that opens connections.
#include "app/app.h"

#include "app/download.h"
#include "app/fetch_scan.h"
#include "assets/resolve.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES_MAX = 20000 };

typedef struct FetchOptions {
    bool dry_run, json, quiet, allow_loopback;
    const char *cache;
    int64_t file_mb, total_mb;
} FetchOptions;

typedef enum FetchStatus {
    FETCH_WAITING,
    FETCH_WANTED,
    FETCH_CACHED,
    FETCH_LOCAL,
    FETCH_DONE,
    FETCH_FAILED,
    STATUS_COUNT
} FetchStatus;
static const char *const status_names[STATUS_COUNT] = { "waiting", "wanted", "cached", "local", "fetched", "failed" };

// A file to look into: one on the network (url) or on the disk (path alone).
typedef struct FetchItem {
    const char *url, *path, *named_by;
    uint64_t hash;  // of its name
    FetchStatus status;
    int64_t bytes;
    const char *sha256, *message;
} FetchItem;

typedef struct Fetch {
    Progress progress;
    FetchOptions options;
    Arena *arena;
    Resolver *resolver;
    Downloader *downloader;
    FetchItem *items;
    int item_count, item_capacity;
    char release[24];
} Fetch;

static const char *item_name(const FetchItem *item) { return item->url ? item->url : item->path; }

static void add_item(Fetch *fetch, const char *url, const char *path, const char *named_by)
{
    assert_debug(named_by && (url || path));
    const char *name = url ? url : path;
    uint64_t hash = hash_string(name);
    for (int i = 0; i < fetch->item_count; i++)
        if (fetch->items[i].hash == hash && !strcmp(item_name(&fetch->items[i]), name))
            return;
    if (fetch->item_count >= FILES_MAX)
        return;
    *memory_push(fetch->items, fetch->item_count,
                 fetch->item_capacity) = (FetchItem){ .url = url ? arena_string(fetch->arena, url) : NULL,
                                                      .path = path ? arena_string(fetch->arena, path) : NULL,
                                                      .named_by = named_by,
                                                      .hash = hash };
}

// The file that is looked into, as a copy: the list grows meanwhile.
typedef struct ScanContext {
    Fetch *fetch;
    FetchItem item;
} ScanContext;

static void found_name(const char *name, void *context)
{
    const ScanContext *scan = context;
    Fetch *fetch = scan->fetch;
    const FetchItem *from = &scan->item;
    char *url = resolve_network_url(fetch->arena, name, from->url, fetch->release);
    Resolved resolved;
    if (url)
        add_item(fetch, url, NULL, item_name(from));
    else if (resolve_url(fetch->resolver, name, from->path, fetch->arena, &resolved))
        add_item(fetch, NULL, resolved.path, item_name(from));
}

static void scan_item(Fetch *fetch, int index)
{
    assert_debug(index >= 0 && index < fetch->item_count);
    ScanContext scan = { fetch, fetch->items[index] };
    FileData file;
    if (!scan.item.path || !file_read(scan.item.path, (size_t)limits_default.file_bytes, &file, NULL, (SourcePos){ 0 }))
        return;
    if (!scan.item.url) {
        char release[24];
        fetch_scan_release(file.data, file.size, release);
        if (*release && !*fetch->release)
            memcpy(fetch->release, release, sizeof release);
    }
    // A file of the network is told by its URL: its place in the cache may have another ending behind a query.
    char *name = arena_text(fetch->arena, item_name(&scan.item), strcspn(item_name(&scan.item), "?#"));
    fetch_scan(name, file.data, file.size, found_name, &scan);
    file_release(&file);
}

static void look_up(Fetch *fetch, FetchItem *item)
{
    assert_debug(fetch->resolver && item->url);
    char *cached = resolve_cache_path(fetch->arena, fetch->options.cache, item->url);
    Resolved resolved;
    if (cached && file_exists(cached)) {
        item->path = cached;
        item->status = FETCH_CACHED;
    } else if (resolve_url(fetch->resolver, item->url, NULL, fetch->arena, &resolved)
               && strcmp(resolved.origin, "cache")) {
        item->path = resolved.path;
        item->status = FETCH_LOCAL;
    } else {
        item->status = FETCH_WANTED;
    }
}

static void get(Fetch *fetch, FetchItem *item)
{
    assert_debug(item->url && item->status == FETCH_WANTED);
    Download download;
    if (fetch->progress.is_terminal)
        progress_show(&fetch->progress, 0.0, 0.0, "%d of %d files: %s", (int)(item - fetch->items) + 1,
                      fetch->item_count, item->url);
    else if (!fetch->options.quiet && !fetch->options.json)
        fprintf(stderr, "fetching %s\n", item->url);
    download_get(fetch->downloader, item->url, fetch->arena, &download);
    item->status = download.ok ? FETCH_DONE : FETCH_FAILED;
    item->bytes = download.bytes;
    item->path = download.path;
    item->sha256 = download.ok ? arena_string(fetch->arena, download.sha256) : NULL;
    item->message = download.ok ? NULL : arena_string(fetch->arena, download.message);
}

static void process(Fetch *fetch, int index)
{
    assert_debug(index >= 0 && index < fetch->item_count);
    FetchItem *item = &fetch->items[index];
    if (item->url) {
        look_up(fetch, item);
        if (item->status == FETCH_WANTED && !fetch->options.dry_run)
            get(fetch, item);
    } else {
        item->status = FETCH_LOCAL;
    }
    scan_item(fetch, index);
}

static void print_text(const Fetch *fetch, const int counts[STATUS_COUNT])
{
    for (int i = 0; i < fetch->item_count; i++) {
        const FetchItem *item = &fetch->items[i];
        if (!item->url || (fetch->options.quiet && item->status != FETCH_FAILED))
            continue;
        if (item->status == FETCH_FAILED)
            fprintf(stderr, "talus: cannot fetch %s: %s (named by %s)\n", item->url, item->message, item->named_by);
        else
            printf("%-8s %s\n", status_names[item->status], item->url);
    }
    if (!fetch->options.quiet)
        printf("%d fetched, %d cached, %d found on this machine, %d %s, %d failed\n", counts[FETCH_DONE],
               counts[FETCH_CACHED], counts[FETCH_LOCAL], counts[FETCH_WANTED],
               fetch->options.dry_run ? "to fetch (and what they name)" : "left", counts[FETCH_FAILED]);
}

// Counts first, as a script wants them; then each file with where it went or why not.
static void print_json(const Fetch *fetch, const int counts[STATUS_COUNT])
{
    assert(fetch->item_count <= fetch->item_capacity);
    Text out = { 0 };
    JsonWriter json = { .out = &out };
    json_begin_object(&json, NULL);
    json_string(&json, "cache", fetch->options.cache);
    for (int i = FETCH_WANTED; i < STATUS_COUNT; i++)
        json_int(&json, status_names[i], counts[i]);
    json_begin_array(&json, "files");
    for (int i = 0; i < fetch->item_count; i++) {
        const FetchItem *item = &fetch->items[i];
        if (!item->url)
            continue;
        json_begin_object(&json, NULL);
        json_string(&json, "url", item->url);
        json_string(&json, "status", status_names[item->status]);
        json_string(&json, "path", item->path);
        json_string(&json, "namedBy", item->named_by);
        if (item->sha256)
            json_string(&json, "sha256", item->sha256);
        if (item->status == FETCH_DONE)
            json_int(&json, "bytes", item->bytes);
        if (item->message)
            json_string(&json, "message", item->message);
        json_end_object(&json);
    }
    json_end_array(&json);
    json_end_object(&json);
    text_add_char(&out, '\n');
    app_print(&out);
}

// Looks into one world and all that it names, breadth first.
static bool fetch_world(Fetch *fetch, const char *path)
{
    assert_debug(!fetch->resolver);
    if (!file_exists(path)) {
        fprintf(stderr, "talus: there is no file '%s'\n", path);
        return false;
    }
    fetch->release[0] = '\0';
    fetch->resolver = resolve_create(&(ResolveOptions){ .main_file = path, .cache = fetch->options.cache });
    int first = fetch->item_count;
    add_item(fetch, NULL, path, path);
    for (int i = first; i < fetch->item_count; i++)
        process(fetch, i);
    progress_clear(&fetch->progress);
    resolve_destroy(fetch->resolver);
    fetch->resolver = NULL;
    return true;
}

// Files name others, so the list grows while it is worked through; each is scanned once it is there.
static int run_fetch(const AppCommand *command, int argc, char **argv)
{
    Fetch fetch = { .arena = arena_create() };
    int files, status = app_parse(command, argc, argv, &fetch.options, &files);
    if (status < 0 && files == 0)
        status = app_usage_error(command, "which world?");
    if (status < 0 && (fetch.options.file_mb < 0 || fetch.options.total_mb < 0))
        status = app_usage_error(command, "--max-file-mb and --max-total-mb cannot be negative");
    if (status < 0 && !fetch.options.cache) {
        fetch.options.cache = resolve_default_cache(fetch.arena);
        if (!*fetch.options.cache)
            status = app_usage_error(command, "no cache folder: give --cache, or set TALUS_CACHE or HOME");
    }
    if (status >= 0) {
        arena_destroy(fetch.arena);
        return status;
    }
    DownloadOptions options = { fetch.options.cache, fetch.options.file_mb << 20, fetch.options.total_mb << 20,
                                fetch.options.allow_loopback };
    if (!fetch.options.dry_run)
        fetch.downloader = download_create(&options);
    bool ok = fetch.options.dry_run || fetch.downloader;
    progress_start(&fetch.progress, fetch.options.quiet || fetch.options.json);
    if (!ok)
        fprintf(stderr, "talus: the network library cannot be set up\n");
    for (int i = 1; ok && i <= files; i++)
        ok = fetch_world(&fetch, argv[i]);
    int counts[STATUS_COUNT] = { 0 };
    for (int i = 0; i < fetch.item_count; i++)
        counts[fetch.items[i].status] += fetch.items[i].url != NULL;
    if (fetch.options.json)
        print_json(&fetch, counts);
    else
        print_text(&fetch, counts);
    download_destroy(fetch.downloader);
    free(fetch.items);
    arena_destroy(fetch.arena);
    return ok && counts[FETCH_FAILED] == 0 ? EXIT_OK : EXIT_INPUT;
}

static const AppOption fetch_options[] = {
    { "dry-run|n", OPTION_FLAG, offsetof(FetchOptions, dry_run), NULL, "list what is named; open no connection" },
    { "cache", OPTION_STRING, offsetof(FetchOptions, cache), "DIR",
      "where to put the files (default: TALUS_CACHE, or talus in the user's cache folder)" },
    { "max-file-mb", OPTION_INT, offsetof(FetchOptions, file_mb), "N", "refuse larger files (default 512)" },
    { "max-total-mb", OPTION_INT, offsetof(FetchOptions, total_mb), "N", "stop after so much (default 4096)" },
    { "quiet|q", OPTION_FLAG, offsetof(FetchOptions, quiet), NULL, "print failures alone" },
    { "json", OPTION_FLAG, offsetof(FetchOptions, json), NULL, "one JSON object with every file" },
    { "allow-http-loopback", OPTION_FLAG, offsetof(FetchOptions, allow_loopback), NULL, NULL },
};
const AppCommand command_fetch = {
    .name = "fetch",
    .arguments = "WORLD... [--dry-run] [--cache DIR] [--json]",
    .summary = "download what worlds name on the network, for later use without it",
    .details =
        "PROTOs, meshes, materials, textures and sounds that a world names by https:// or webots:// addresses, and what those\n"
        "files name in turn, are put into the cache, where every other verb finds them. No other verb ever opens a connection.\n"
        "Downloads are verified (https), bounded, and go on where an interrupted one stopped. Names that a PROTO template\n"
        "puts together at run time are not seen. Exit code 0: all is there, 3: something could not be fetched.",
    .examples = "  talus fetch worlds/city.wbt\n"
                "  talus fetch --dry-run --json worlds/*.wbt",
    .options = fetch_options,
    .option_count = COUNT_OF(fetch_options),
    .run = run_fetch,
};
