// Files that others change while they are read, and saves that keep what they replace.
#include "base/file.h"

#include "support/support.h"

#include <sys/stat.h>
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

static void saves_keep_link_and_mode(void **state)
{
    (void)state;
    char real[512], link[512], aside[600];
    const char *folder = support_scratch("file_save");
    snprintf(real, sizeof real, "%s/real", folder);
    snprintf(link, sizeof link, "%s/link", folder);
    support_write(real, "old");
    assert_int_equal(chmod(real, 0640), 0);
    assert_int_equal(symlink("real", link), 0);
    assert_true(file_write_atomic(link, "new", 3, NULL));
    struct stat info;
    assert_true(lstat(link, &info) == 0 && S_ISLNK(info.st_mode));
    assert_true(stat(real, &info) == 0 && (info.st_mode & 07777) == 0640);
    char *text = support_read(real);
    assert_string_equal(text, "new");
    free(text);
    snprintf(aside, sizeof aside, "%s.%ld.tmp", real, (long)getpid());
    assert_false(file_exists(aside));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(what_was_read_stays), cmocka_unit_test(saves_keep_link_and_mode) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
