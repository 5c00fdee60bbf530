// driver.c - runs a fuzz target over the files of a folder, for builds without libFuzzer.
#include "support/support.h"

#include "base/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run_one(const char *path, void *context)
{
    FileData file;
    if (!file_read(path, SIZE_MAX, &file, NULL, (SourcePos){ 0 }))
        return;
    LLVMFuzzerTestOneInput((const uint8_t *)file.data, file.size);
    file_release(&file);
    ++*(int *)context;
}

int main(int argc, char **argv)
{
    int count = 0;
    for (int i = 1; i < argc; i++)
        support_each_file(argv[i], "", run_one, &count);
    printf("%d inputs\n", count);
    return count > 0 ? 0 : 1;
}
