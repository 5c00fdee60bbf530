// file.c - whole files in and out: reads within a limit, writes a temporary one and renames it.
#include "base/file.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void report(DiagSink *diags, SourcePos pos, const char *path, const char *why)
{
    if (diags)
        diag_error(diags, pos, "cannot read '%s': %s", path, why);
}

// Never mapped: a file that others shorten meanwhile would end the process at the first touch of what is gone.
static bool slurp(int descriptor, size_t size, FileData *file)
{
    assert_debug(descriptor >= 0);
    char *data = memory_alloc_raw(size + 1);
    size_t done = 0;
    while (done < size) {
        ssize_t got = read(descriptor, data + done, size - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            free(data);
            return false;
        }
        if (got == 0) {
            free(data);
            errno = ESTALE;
            return false;
        }
        done += (size_t)got;
    }
    data[done] = '\0';
    *file = (FileData){ data, done };
    return true;
}

bool file_read(const char *path, size_t size_limit, FileData *file, DiagSink *diags, SourcePos pos)
{
    *file = (FileData){ 0 };
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0) {
        report(diags, pos, path, strerror(errno));
        return false;
    }
    struct stat info;
    bool ok = false;
    if (fstat(descriptor, &info) < 0)
        report(diags, pos, path, strerror(errno));
    else if (S_ISDIR(info.st_mode))
        report(diags, pos, path, "it is a directory");
    else if (!S_ISREG(info.st_mode))
        report(diags, pos, path, "it is not a regular file");
    else if ((uintmax_t)info.st_size > size_limit)
        report(diags, pos, path, "it is larger than the limit for such files");
    else if (slurp(descriptor, (size_t)info.st_size, file))
        ok = true;
    else
        report(diags, pos, path, errno == ESTALE ? "it was shortened while it was read" : strerror(errno));
    close(descriptor);
    return ok;
}

void file_release(FileData *file)
{
    free((void *)file->data);
    *file = (FileData){ 0 };
}

bool file_write_all(int descriptor, const void *bytes, size_t size)
{
    const char *data = bytes;
    assert_debug(descriptor >= 0 && (data || size == 0));
    while (size > 0) {
        ssize_t done = write(descriptor, data, size);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        data += done;
        size -= (size_t)done;
    }
    return true;
}

// A write beyond RLIMIT_FSIZE is an error like any other, not the end of the process: its signal is held back and
// taken.
static void hold_size_signal(sigset_t *before)
{
    sigset_t held;
    sigemptyset(&held);
    sigaddset(&held, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &held, before);
}

static void release_size_signal(const sigset_t *before)
{
    sigset_t held, pending;
    sigemptyset(&held);
    sigaddset(&held, SIGXFSZ);
    if (!sigismember(before, SIGXFSZ) && sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ))
        sigtimedwait(&held, NULL, &(struct timespec){ 0 });
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

// A file without a name, so that nothing is left of it however the process ends. Not all file systems have them.
static int open_nameless(const FileTemporary *temporary)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(temporary->place, '/');
    int length = snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - temporary->place) + 1 : 1,
                          slash ? temporary->place : ".");
    if (length >= (int)sizeof folder || access("/proc/self/fd", X_OK) < 0)
        return -1;
    return open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644);
}

int file_temporary_open(FileTemporary *temporary, const char *path)
{
    struct stat info;
    bool is_there = stat(path, &info) == 0;
    *temporary = (FileTemporary){ .descriptor = -1, .mode = -1, .is_special = is_there && !S_ISREG(info.st_mode) };
    char real[PATH_MAX];
    bool is_real = is_there && !temporary->is_special
                   && realpath(path, real);  // what a link names is replaced, not the link
    if (is_there && !temporary->is_special)
        temporary->mode = (int)(info.st_mode & 07777);
    if (snprintf(temporary->place, sizeof temporary->place, "%s", is_real ? real : path)
        >= (int)sizeof temporary->place) {
        errno = ENAMETOOLONG;
        return -1;
    }
    snprintf(temporary->name, sizeof temporary->name, "%s.%ld.tmp", temporary->place, (long)getpid());
    if (temporary->is_special)
        return temporary->descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    temporary->descriptor = open_nameless(temporary);
    temporary->is_nameless = temporary->descriptor >= 0;
    if (!temporary->is_nameless)
        temporary->descriptor = open(temporary->name, O_WRONLY | O_CREAT | O_CLOEXEC | O_TRUNC | O_NOFOLLOW, 0644);
    return temporary->descriptor;
}

static bool give_name(const FileTemporary *temporary)
{
    char self[48];
    snprintf(self, sizeof self, "/proc/self/fd/%d", temporary->descriptor);
    unlink(temporary->name);  // of a process that had our number and was killed
    return linkat(AT_FDCWD, self, AT_FDCWD, temporary->name, AT_SYMLINK_FOLLOW) == 0;
}

int file_temporary_close(FileTemporary *temporary, bool keeps)
{
    assert_debug(temporary->descriptor >= 0);
    bool is_named = !temporary->is_special && !temporary->is_nameless;
    int error = 0;
    if (keeps && !temporary->is_special) {
        bool ok = fsync(temporary->descriptor) == 0
                  && (temporary->mode < 0 || fchmod(temporary->descriptor, (mode_t)temporary->mode) == 0);
        if (ok && temporary->is_nameless)
            ok = is_named = give_name(temporary);
        error = ok ? 0 : errno;
    }
    if (close(temporary->descriptor) < 0 && !error)
        error = errno;
    if (keeps && !error && is_named && rename(temporary->name, temporary->place) < 0)
        error = errno;
    if (is_named && (error || !keeps))
        unlink(temporary->name);
    return keeps ? error : 0;
}

const char *file_write_error(int error)
{
    struct rlimit limit;
    if (error == EFBIG && getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        return "it would be larger than files may be (limit output_bytes, or ulimit -f)";
    return strerror(error);
}

bool file_write_atomic(const char *path, const void *data, size_t size, DiagSink *diags)
{
    assert_debug(path && (data || size == 0));
    FileTemporary temporary;  // not on the heap: also a process whose heap is damaged saves its state
    int error = file_temporary_open(&temporary, path) < 0 ? errno : 0;
    if (!error) {
        sigset_t before;
        hold_size_signal(&before);
        if (!file_write_all(temporary.descriptor, data, size))
            error = errno;
        release_size_signal(&before);
        int end = file_temporary_close(&temporary, !error);
        error = error ? error : end;
    }
    if (error && diags)
        diag_output_error(diags, path, file_write_error(error));
    return !error;
}

bool file_can_write(const char *path, DiagSink *diags)
{
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
        return true;  // opening a pipe to try it would tell its reader of an end
    FileTemporary temporary;
    bool can = file_temporary_open(&temporary, path) >= 0;
    if (can)
        file_temporary_close(&temporary, false);
    else
        diag_output_error(diags, path, file_write_error(errno));
    return can;
}

bool file_exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

bool file_is_directory(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool file_make_directories(const char *path)
{
    char *copy = memory_string(path);
    bool ok = true;
    for (char *slash = copy + 1; ok && *slash; slash++) {
        if (*slash != '/')
            continue;
        *slash = '\0';
        ok = mkdir(copy, 0755) == 0 || errno == EEXIST;
        *slash = '/';
    }
    ok = ok && (mkdir(copy, 0755) == 0 || errno == EEXIST) && file_is_directory(copy);
    free(copy);
    return ok;
}

char *path_join(Arena *arena, const char *directory, const char *name)
{
    if (name[0] == '/' || !directory[0] || !strcmp(directory, "."))
        return arena_string(arena, name);
    size_t length = strlen(directory);
    return arena_printf(arena, directory[length - 1] == '/' ? "%s%s" : "%s/%s", directory, name);
}

char *path_directory(Arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return arena_string(arena, ".");
    return arena_text(arena, path, slash == path ? 1 : (size_t)(slash - path));
}

const char *path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *path_extension(const char *path)
{
    const char *name = path_name(path);
    const char *dot = strrchr(name, '.');
    return dot && dot != name ? dot : name + strlen(name);
}

char *path_stem(Arena *arena, const char *path)
{
    const char *name = path_name(path);
    return arena_text(arena, name, (size_t)(path_extension(path) - name));
}

char *path_normalized(Arena *arena, const char *path)
{
    char *out = arena_alloc(arena, strlen(path) + 2);
    size_t length = 0;
    bool absolute = path[0] == '/';
    if (absolute)
        out[length++] = '/';
    size_t floor = length;  // ".." cannot climb above this
    for (const char *p = path; *p;) {
        while (*p == '/')
            p++;
        size_t part = strcspn(p, "/");
        if (part == 0)
            break;
        if (part == 1 && p[0] == '.') {
            p += part;
            continue;
        }
        if (part == 2 && p[0] == '.' && p[1] == '.') {
            if (length > floor) {
                while (length > floor && out[length - 1] != '/')
                    length--;
                if (length > floor)
                    length--;
                p += part;
                continue;
            }
            if (absolute) {
                p += part;
                continue;
            }
            floor = length + (length ? 1 : 0) + 2;
        }
        if (length && out[length - 1] != '/')
            out[length++] = '/';
        memcpy(out + length, p, part);
        length += part;
        p += part;
    }
    if (length == 0)
        out[length++] = '.';
    assert_debug(length < strlen(path) + 2);
    out[length] = '\0';
    return out;
}

char *path_real(Arena *arena, const char *path)
{
    char *real = realpath(path, NULL);
    if (!real)
        return NULL;
    char *copy = arena_string(arena, real);
    free(real);
    return copy;
}

bool path_is_inside(const char *real_path, const char *real_directory)
{
    size_t length = strlen(real_directory);
    while (length > 1 && real_directory[length - 1] == '/')
        length--;
    return !strncmp(real_path, real_directory, length)
           && (real_path[length] == '/' || real_path[length] == '\0' || (length == 1 && real_directory[0] == '/'));
}
