// web_page.c - finds a file of the browser page by its name.
#include "assets/web_page.h"

#include <assert.h>
#include <string.h>

const WebPageFile *web_page_find(const char *name)
{
    assert(name != NULL);
    for (int i = 0; i < web_page_file_count; i++)
        if (strcmp(web_page_files[i].name, name) == 0)
            return &web_page_files[i];
    return NULL;
}
