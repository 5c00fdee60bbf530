#include "support/support.h"

#include "base/file.h"
#include "base/memory.h"

#include <dirent.h>
#include <math.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

void support_widen_stack(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= 64u << 20)
        return;
    limit.rlim_cur = limit.rlim_max == RLIM_INFINITY || limit.rlim_max > 64u << 20 ? 64u << 20 : limit.rlim_max;
    setrlimit(RLIMIT_STACK, &limit);
}

void support_near(double actual, double expected, double tolerance, const char *name, const char *file, int line)
{
    if (!(fabs(actual - expected) <= tolerance))
        fail_msg("%s:%d: %.10g is not %.10g +- %g [%s]", file, line, actual, expected, tolerance, name);
}

static void end_skipped(int status, void *context)
{
    (void)context;
    fflush(NULL);
    if (status == 0)
        _exit(77);
}

void support_skips(const char *reason)
{
    static bool is_noted;
    printf("skipped: %s\n", reason);
    if (!is_noted)
        on_exit(end_skipped, NULL);
    is_noted = true;
}

static Arena *paths(void)
{
    static Arena *arena;
    if (!arena)
        arena = arena_create();
    return arena;
}

static void empty_directory(const char *path)
{
    DIR *directory = opendir(path);
    if (!directory)
        return;
    for (struct dirent *entry; (entry = readdir(directory));) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        char *child = path_join(paths(), path, entry->d_name);
        struct stat info;
        if (lstat(child, &info) == 0 && S_ISDIR(info.st_mode)) {
            empty_directory(child);
            rmdir(child);
        } else {
            unlink(child);
        }
    }
    closedir(directory);
}

const char *support_scratch(const char *name)
{
    const char *build = getenv("TALUS_BUILD_DIR");
    char *path = arena_printf(paths(), "%s/scratch/%s", build ? build : "build", name);
    if (!file_make_directories(path))
        fail_msg("cannot make %s", path);
    empty_directory(path);
    return path;
}

void support_write(const char *path, const char *text)
{
    if (!file_write_atomic(path, text, strlen(text), NULL))
        fail_msg("cannot write %s", path);
}

char *support_read(const char *path)
{
    FileData file;
    if (!file_read(path, SIZE_MAX, &file, NULL, (SourcePos){ 0 }))
        return NULL;
    char *copy = memory_text(file.data, file.size);
    file_release(&file);
    return copy;
}

const char *support_corpus(void)
{
    const char *path = getenv("TALUS_CORPUS");
    if (!path)
        path = "../shared/corpus";
    return file_is_directory(path) ? path : NULL;
}

static int by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

void support_each_file(const char *directory, const char *suffix, void (*visit)(const char *path, void *context),
                       void *context)
{
    struct dirent **entries;
    int count = scandir(directory, &entries, NULL, by_name);
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        if (name[0] != '.') {
            char *path = path_join(paths(), directory, name);
            size_t length = strlen(name), tail = strlen(suffix);
            if (file_is_directory(path))
                support_each_file(path, suffix, visit, context);
            else if (length >= tail && !strcmp(name + length - tail, suffix) && file_exists(path))
                visit(path, context);
        }
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}
