// pages.c - files of robot windows, read for the server: below the folder of one robot's window and nowhere else. Pages
// of others are served as they are, but for one thing: they import Webots' class RobotWindow from a server on the
// network, and get ours instead.
#include "viewer/viewer_internal.h"

#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE_BYTES_MAX = 8 << 20, RELEASE_CHARS_MAX = 32 };

#define CLASS_NAME "RobotWindow.js"

// ---- kinds of content ----

static const struct PageType {
    const char *ending, *type;
    bool has_imports;
} page_types[] = {
    { "html", "text/html; charset=utf-8", true },
    { "js", "text/javascript; charset=utf-8", true },
    { "mjs", "text/javascript; charset=utf-8", true },
    { "css", "text/css; charset=utf-8", false },
    { "json", "application/json", false },
    { "txt", "text/plain; charset=utf-8", false },
    { "csv", "text/csv; charset=utf-8", false },
    { "png", "image/png", false },
    { "jpg", "image/jpeg", false },
    { "jpeg", "image/jpeg", false },
    { "gif", "image/gif", false },
    { "svg", "image/svg+xml", false },
    { "webp", "image/webp", false },
    { "ico", "image/x-icon", false },
    { "woff", "font/woff", false },
    { "woff2", "font/woff2", false },
    { "ttf", "font/ttf", false },
    { "wav", "audio/wav", false },
    { "mp3", "audio/mpeg", false },
    { "ogg", "audio/ogg", false },
    { "mp4", "video/mp4", false },
    { "webm", "video/webm", false },
    { "wasm", "application/wasm", false },
    { "", "application/octet-stream", false },
};

static const struct PageType *type_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    int row = 0;
    while (row < COUNT_OF(page_types) - 1 && (!dot || strcasecmp(dot + 1, page_types[row].ending)))
        row++;
    return &page_types[row];
}

// ---- the address of the class ----

// How long the address of Webots' class is that starts here, of whatever release; 0: there is none.
static size_t class_address(const char *at, const char *end)
{
    assert_debug(at <= end);
    static const char start[] = "https://cyberbotics.com/wwi/", last[] = "/" CLASS_NAME;
    const size_t head = sizeof start - 1, tail = sizeof last - 1;
    if ((size_t)(end - at) < head + tail || memcmp(at, start, head))
        return 0;
    const char *slash = memchr(at + head, '/', (size_t)(end - at) - head);
    bool fits = slash && slash - at - (ptrdiff_t)head <= RELEASE_CHARS_MAX && (size_t)(end - slash) >= tail
                && !memcmp(slash, last, tail);
    return fits ? (size_t)(slash - at) + tail : 0;
}

static Blob *with_own_class(const Hub *hub, Blob *blob)
{
    assert(blob);
    const char *at = (const char *)blob->data, *end = at + blob->size;
    Text out = { 0 };
    while (at < end) {
        size_t length = class_address(at, end);
        if (length > 0)
            text_printf(&out, "/%s/" CLASS_NAME, hub->page_token);
        const char *next = length > 0 ? at + length : memchr(at + 1, 'h', (size_t)(end - at - 1));
        if (length == 0)
            text_add(&out, at, (size_t)((next ? next : end) - at));
        at = next ? next : end;
    }
    blob_release(blob);
    blob = blob_create(out.data, out.length);
    text_free(&out);
    return blob;
}

// ---- files ----

static const char *folder_of(const Blob *windows, const char *node, size_t length)
{
    const char *at = windows ? (const char *)windows->data : NULL, *end = at ? at + windows->size : NULL;
    while (at < end) {
        const char *folder = at + strlen(at) + 1;
        if (strlen(at) == length && !memcmp(at, node, length))
            return folder;
        at = folder + strlen(folder) + 1;
    }
    return NULL;
}

// No part of it is hidden, leads up or is empty.
static bool is_plain_path(const char *path)
{
    assert(path);
    for (const char *part = path; part; part = strchr(part, '/'))
        if (part += part != path, !*part || *part == '.' || *part == '/')
            return false;
    return true;
}

static Blob *read_whole(int file)
{
    assert(file >= 0);
    struct stat state;
    if (fstat(file, &state) != 0 || !S_ISREG(state.st_mode) || state.st_size > PAGE_BYTES_MAX)
        return NULL;
    size_t size = (size_t)state.st_size, done = 0;
    char *data = memory_alloc_raw(size + 1);
    while (done < size) {
        ssize_t got = read(file, data + done, size - done);
        if (got == 0 || (got < 0 && errno != EINTR))
            break;
        done += got > 0 ? (size_t)got : 0;
    }
    Blob *blob = done == size ? blob_create(data, size) : NULL;
    free(data);
    return blob;
}

// Links may lead about in the folder, but not out of it.
static Blob *read_below(const char *folder, const char *path)
{
    assert(is_plain_path(path));
    Arena *arena = arena_create();
    char *above = path_real(arena, folder), *real = above ? path_real(arena, path_join(arena, above, path)) : NULL;
    int file = real && path_is_inside(real, above) ? open(real, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK) : -1;
    Blob *blob = file >= 0 ? read_whole(file) : NULL;
    if (file >= 0)
        close(file);
    arena_destroy(arena);
    return blob;
}

// What follows /TOKEN/ in a path; NULL: it is not that of this run.
static const char *behind_token(const Hub *hub, const char *path)
{
    const char *slash = *path == '/' ? strchr(path + 1, '/') : NULL;
    return slash && hub_token_is(hub->page_token, path + 1, (size_t)(slash - path - 1)) ? slash + 1 : NULL;
}

// Some pages bring a copy of Webots' class, which would look for its server.
bool page_is_class(const Hub *hub, const char *path)
{
    const char *rest = behind_token(hub, path);
    return rest && !strcmp(path_name(rest), CLASS_NAME);
}

PageFile page_read(const Hub *hub, const char *path)
{
    assert(path);
    const char *node = behind_token(hub, path), *slash = node ? strchr(node, '/') : NULL;
    const char *folder = slash ? folder_of(hub->windows, node, (size_t)(slash - node)) : NULL;
    if (!folder || !is_plain_path(slash + 1))
        return (PageFile){ 0 };
    const struct PageType *type = type_of(slash + 1);
    Blob *blob = read_below(folder, slash + 1);
    return (PageFile){ type->type, blob && type->has_imports ? with_own_class(hub, blob) : blob };
}
