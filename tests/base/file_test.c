// Files that others change while they are read, and saves that keep what they replace.
#include "base/file.h"

#include "base/stream.h"
#include "support/support.h"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// What was read stays readable when the file is shortened: a mapping would end the process here.
static void what_was_read_stays(void **state)
{
    (void)state;
    char path[512];
    snprintf(path, sizeof path, "%s/long", support_scratch("file"));
    enum { SIZE = 200001 };
    char *text = malloc(SIZE + 1);
    memset(text, 'x', SIZE);
    text[SIZE] = '\0';
    support_write(path, text);
    FileData file;
    assert_true(file_read(path, 1 << 20, &file, NULL, (SourcePos){ 0 }));
    assert_int_equal(truncate(path, 10), 0);
    size_t count = 0;
    for (size_t i = 0; i < file.size; i++)
        count += file.data[i] == 'x';
    assert_int_equal(count, SIZE);
    assert_int_equal(file.data[file.size], 0);
    file_release(&file);
    free(text);
}

static void check_saved(const char *real, const char *link, const char *wanted)
{
    char temporary[600];
    struct stat info;
    assert_true(lstat(link, &info) == 0 && S_ISLNK(info.st_mode));
    assert_true(stat(real, &info) == 0 && (info.st_mode & 07777) == 0640);
    char *text = support_read(real);
    assert_string_equal(text, wanted);
    free(text);
    snprintf(temporary, sizeof temporary, "%s.%ld.tmp", real, (long)getpid());
    assert_false(file_exists(temporary));
}

static void saves_keep_link_and_mode(void **state)
{
    (void)state;
    char real[512], link[512];
    const char *folder = support_scratch("file_save");
    snprintf(real, sizeof real, "%s/real", folder);
    snprintf(link, sizeof link, "%s/link", folder);
    support_write(real, "old");
    assert_int_equal(chmod(real, 0640), 0);
    assert_int_equal(symlink("real", link), 0);
    assert_true(file_write_atomic(link, "new", 3, NULL));
    check_saved(real, link, "new");
    FileStream *stream = stream_open(link, NULL);
    assert_true(stream && stream_write(stream, "newer", 5) && stream_close(stream));
    check_saved(real, link, "newer");
    stream = stream_open(link, NULL);
    assert_true(stream && stream_write(stream, "newest", 6));
    stream_discard(stream);
    check_saved(real, link, "newer");
}

// However the process ends, a file that is not whole is not there.
static void what_is_not_whole_is_not_there(void **state)
{
    (void)state;
    char path[512];
    const char *folder = support_scratch("file_cut");
    snprintf(path, sizeof path, "%s/cut", folder);
    FileTemporary probe;  // on a file system without nameless files something may stay after SIGKILL
    assert_true(file_temporary_open(&probe, path) >= 0);
    assert_int_equal(file_temporary_close(&probe, false), 0);
    fflush(NULL);
    pid_t process = fork();
    if (process == 0) {
        FileTemporary temporary;
        if (file_temporary_open(&temporary, path) >= 0 && write(temporary.descriptor, "half", 4) == 4)
            raise(SIGKILL);
        _exit(1);
    }
    int status;
    assert_int_equal(waitpid(process, &status, 0), process);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_false(file_exists(path));
    DIR *entries = opendir(folder);
    int count = 0;
    while (readdir(entries))
        count++;
    closedir(entries);
    assert_int_equal(count, probe.is_nameless ? 2 : 3);  // "." and ".."
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(what_was_read_stays),
                                        cmocka_unit_test(saves_keep_link_and_mode),
                                        cmocka_unit_test(what_is_not_whole_is_not_there) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
