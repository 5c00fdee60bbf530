// download.c - fetches files over HTTP(S) with libcurl into the cache, each written aside and renamed when whole.
#include "app/download.h"

#include "assets/resolve.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "base/text.h"
#include "talus/talus.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { REDIRECTS_MAX = 5, CONNECT_SECONDS = 20, STALL_SECONDS = 30, STALL_BYTES_PER_SECOND = 100, LONGEST_TAG = 200 };

struct Downloader {
    DownloadOptions options;
    CURL *curl;
    int64_t total;
};

Downloader *download_create(const DownloadOptions *options)
{
    assert_debug(options);
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return NULL;
    Downloader *downloader = memory_alloc(sizeof *downloader);
    downloader->options = *options;
    if (downloader->options.file_bytes <= 0)
        downloader->options.file_bytes = (int64_t)512 << 20;
    if (downloader->options.total_bytes <= 0)
        downloader->options.total_bytes = (int64_t)4 << 30;
    downloader->curl = curl_easy_init();
    if (!downloader->curl) {
        free(downloader);
        return NULL;
    }
    return downloader;
}

void download_destroy(Downloader *downloader)
{
    if (!downloader)
        return;
    curl_easy_cleanup(downloader->curl);
    curl_global_cleanup();
    free(downloader);
}

// A transfer into a partial file. The tag is the server's name for this version of the file: only with it can a later
// try go on where this one stopped and be sure that the file has not changed meanwhile.
typedef struct Transfer {
    Downloader *downloader;
    int file;
    int64_t start;    // bytes that were there
    int64_t written;  // bytes of the file so far
    char tag[LONGEST_TAG];
    bool has_begun;
    bool too_large;
    bool cannot_write;
} Transfer;

static size_t take_header(char *data, size_t size, size_t count, void *context)
{
    Transfer *transfer = context;
    assert(transfer->file >= 0);
    size_t length = size * count;
    if (length > 5 && !strncasecmp(data, "HTTP/", 5))
        transfer->tag[0] = '\0';  // of the answer before a redirect
    if (length > 5 && !strncasecmp(data, "ETag:", 5)) {
        const char *begin = data + 5, *end = data + length;
        while (begin < end && (*begin == ' ' || *begin == '\t'))
            begin++;
        while (end > begin && (unsigned char)end[-1] <= ' ')
            end--;
        size_t tag = (size_t)(end - begin);
        if (tag < LONGEST_TAG && strncmp(begin, "W/", 2)) {
            memcpy(transfer->tag, begin, tag);
            transfer->tag[tag] = '\0';
        }
    }
    return length;
}

// The server may ignore the wish to go on and send the file from its start.
static bool begin_body(Transfer *transfer)
{
    assert(!transfer->has_begun && transfer->file >= 0);
    long code = 0;
    curl_easy_getinfo(transfer->downloader->curl, CURLINFO_RESPONSE_CODE, &code);
    transfer->has_begun = true;
    if (code == 206 && transfer->start > 0)
        return true;
    transfer->start = transfer->written = 0;
    return ftruncate(transfer->file, 0) == 0 && lseek(transfer->file, 0, SEEK_SET) == 0;
}

static size_t take_body(char *data, size_t size, size_t count, void *context)
{
    Transfer *transfer = context;
    assert(transfer->file >= 0);
    const DownloadOptions *options = &transfer->downloader->options;
    size_t length = size * count, done = 0;
    if (!transfer->has_begun && !begin_body(transfer)) {
        transfer->cannot_write = true;
        return 0;
    }
    transfer->too_large = transfer->written + (int64_t)length > options->file_bytes
                          || transfer->downloader->total + (int64_t)length > options->total_bytes;
    if (transfer->too_large)
        return 0;
    while (done < length) {
        ssize_t put = write(transfer->file, data + done, length - done);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0) {
            transfer->cannot_write = true;
            return 0;
        }
        done += (size_t)put;
    }
    transfer->written += (int64_t)length;
    transfer->downloader->total += (int64_t)length;
    return length;
}

static bool is_loopback(const char *url)
{
    static const char *const hosts[] = { "http://127.0.0.1:", "http://127.0.0.1/",
                                         "http://localhost:", "http://localhost/", "http://[::1]:" };
    for (int i = 0; i < COUNT_OF(hosts); i++)
        if (text_starts_with(url, hosts[i]))
            return true;
    return false;
}

// No redirect may lead to another protocol, and certificates are always checked: what is fetched becomes part of
// worlds.
static void set_up(Downloader *downloader, const char *url, Transfer *transfer, char error[CURL_ERROR_SIZE])
{
    assert(transfer->file >= 0);
    CURL *curl = downloader->curl;
    const char *protocols = downloader->options.allow_loopback && is_loopback(url) ? "http" : "https";
    char agent[64];
    snprintf(agent, sizeof agent, "talus/%s", talus_version());
    curl_easy_reset(curl);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, protocols);
    curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, protocols);
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(curl, CURLOPT_MAXREDIRS, (long)REDIRECTS_MAX);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
    curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, (long)STALL_BYTES_PER_SECOND);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)STALL_SECONDS);
    curl_easy_setopt(curl, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)downloader->options.file_bytes);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, agent);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, error);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, transfer);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, transfer);
    if (strcmp(protocols, "https"))
        curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
}

static bool hash_file(const char *path, char hex[65])
{
    FileData data;
    if (!file_read(path, SIZE_MAX, &data, NULL, (SourcePos){ 0 }))
        return false;
    Sha256 sha;
    sha256_init(&sha);
    sha256_add(&sha, data.data, data.size);
    sha256_end(&sha, hex);
    file_release(&data);
    return true;
}

// Gives `object` a second name in the tree; where the file system has no hard links, a copy.
static bool link_or_copy(const char *object, const char *path, Arena *arena)
{
    char *aside = arena_printf(arena, "%s.%ld.tmp", path, (long)getpid());
    if (!file_make_directories(path_directory(arena, path)))
        return false;
    unlink(aside);
    if (link(object, aside) == 0 && rename(aside, path) == 0) {
        unlink(aside);  // rename does nothing when both are the same file
        return true;
    }
    unlink(aside);
    FileData data;
    if (!file_read(object, SIZE_MAX, &data, NULL, (SourcePos){ 0 }))
        return false;
    bool ok = file_write_atomic(path, data.data, data.size, NULL);
    file_release(&data);
    return ok;
}

static bool store_file(const char *cache, const char *partial, const char *tree_path, Arena *arena, Download *result)
{
    if (!hash_file(partial, result->sha256))
        return false;
    char *folder = arena_printf(arena, "%s/objects/%.2s", cache, result->sha256);
    char *object = arena_printf(arena, "%s/%s", folder, result->sha256 + 2);
    if (file_exists(object)) {  // the same content came from another address
        unlink(partial);
    } else if (!file_make_directories(folder) || chmod(partial, 0444) < 0 || rename(partial, object) < 0) {
        return false;
    }
    result->path = tree_path;
    return link_or_copy(object, tree_path, arena);
}

static int open_partial(const char *path)
{
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file >= 0 && flock(file, LOCK_EX) < 0) {  // another talus may be fetching the same
        close(file);
        return -1;
    }
    return file;
}

static void fail(Download *result, const char *reason)
{
    snprintf(result->message, sizeof result->message, "%s", reason);
}

static void perform(Downloader *downloader, const char *url, const char *tag_path, Transfer *transfer, Download *result)
{
    assert(transfer->file >= 0 && !transfer->has_begun);
    char error[CURL_ERROR_SIZE] = "";
    struct curl_slist *headers = NULL;
    set_up(downloader, url, transfer, error);
    if (transfer->start > 0) {
        char line[LONGEST_TAG + 32];
        snprintf(line, sizeof line, "If-Range: %s", transfer->tag);
        headers = curl_slist_append(headers, line);
        curl_easy_setopt(downloader->curl, CURLOPT_HTTPHEADER, headers);
        char range[64];
        snprintf(range, sizeof range, "%lld-", (long long)transfer->start);
        curl_easy_setopt(downloader->curl, CURLOPT_RANGE, range);
    }
    CURLcode code = curl_easy_perform(downloader->curl);
    curl_slist_free_all(headers);
    result->ok = code == CURLE_OK;
    if (result->ok && !transfer->has_begun && !begin_body(transfer))  // an empty file has no body
        result->ok = false;
    transfer->too_large |= code == CURLE_FILESIZE_EXCEEDED;
    if (transfer->too_large)
        fail(result, "it is larger than the limit");
    else if (transfer->cannot_write)
        fail(result, "the cache cannot be written");
    else if (!result->ok)
        fail(result, *error ? error : curl_easy_strerror(code));
    if (!result->ok && transfer->tag[0] && !transfer->too_large)
        file_write_atomic(tag_path, transfer->tag, strlen(transfer->tag), NULL);
    else
        unlink(tag_path);
}

static void read_tag(const char *path, char tag[LONGEST_TAG])
{
    FileData data;
    tag[0] = '\0';
    if (!file_read(path, LONGEST_TAG - 1, &data, NULL, (SourcePos){ 0 }))
        return;
    assert(data.size < LONGEST_TAG);
    memcpy(tag, data.data, data.size);
    tag[data.size] = '\0';
    if (strpbrk(tag, "\r\n"))
        tag[0] = '\0';
    file_release(&data);
}

void download_get(Downloader *downloader, const char *url, Arena *arena, Download *result)
{
    *result = (Download){ 0 };
    const char *cache = downloader->options.cache;
    char *tree_path = resolve_cache_path(arena, cache, url);
    char *folder = arena_printf(arena, "%s/partial", cache);
    char *partial = arena_printf(arena, "%s/%016llx", folder, (unsigned long long)hash_string(url));
    char *tag_path = arena_printf(arena, "%s.tag", partial);
    bool may = text_starts_with(url, "https://") || (downloader->options.allow_loopback && is_loopback(url));
    if (!tree_path || !may) {
        fail(result, tree_path ? "only https is fetched" : "it names no file");
        return;
    }
    Transfer transfer = { .downloader = downloader, .file = -1 };
    if (file_make_directories(folder))
        transfer.file = open_partial(partial);
    if (transfer.file < 0) {
        fail(result, "the cache cannot be written");
        return;
    }
    read_tag(tag_path, transfer.tag);
    struct stat info;
    if (transfer.tag[0] && fstat(transfer.file, &info) == 0)
        transfer.start = transfer.written = info.st_size;
    lseek(transfer.file, transfer.start, SEEK_SET);
    perform(downloader, url, tag_path, &transfer, result);
    result->resumed_at = result->ok ? transfer.start : 0;
    result->bytes = transfer.written;
    if (result->ok && (fsync(transfer.file) < 0 || !store_file(cache, partial, tree_path, arena, result))) {
        result->ok = false;
        fail(result, "the cache cannot be written");
    }
    if (!result->ok && !file_exists(tag_path))  // there is nothing to go on from
        unlink(partial);
    close(transfer.file);
}
