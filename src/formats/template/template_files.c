// template_files.c - what templates write with wbfile.writeTextFile: files in memory, of one world, seen by its
// templates alone.
#include "formats/template/template.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

const TemplateFile *template_files_find(const TemplateFiles *files, const char *path)
{
    size_t folder = strlen(TEMPLATE_FILES_PATH);
    for (int i = 0; files && !strncmp(path, TEMPLATE_FILES_PATH, folder) && i < files->count; i++)
        if (!strcmp(files->items[i].name, path + folder))
            return &files->items[i];
    return NULL;
}

bool template_files_put(TemplateFiles *files, const char *name, size_t name_size, const char *content, size_t size)
{
    assert(name && (content || size == 0));
    int index = 0;
    while (index < files->count
           && (strlen(files->items[index].name) != name_size || memcmp(files->items[index].name, name, name_size) != 0))
        index++;
    size_t old = index < files->count ? files->items[index].size : 0;
    if (index >= TEMPLATE_FILES_MAX || files->bytes - old + size > TEMPLATE_FILES_BYTES)
        return false;
    if (index == files->count) {
        *memory_push(files->items, files->count,
                     files->capacity) = (TemplateFile){ .name = memory_text(name, name_size) };
    }
    TemplateFile *file = &files->items[index];
    free(file->content);
    file->content = memory_text(content, size);
    file->size = size;
    files->bytes += size - old;
    return true;
}

void template_files_free(TemplateFiles *files)
{
    for (int i = 0; i < files->count; i++) {
        free(files->items[i].name);
        free(files->items[i].content);
    }
    free(files->items);
    *files = (TemplateFiles){ 0 };
}
