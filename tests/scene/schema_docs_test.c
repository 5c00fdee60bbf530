// docs/nodes/ says what the schema says. With TALUS_UPDATE=1 the pages are written anew.
#include "scene/schema_docs.h"

#include "support/support.h"

#include <dirent.h>
#include <sys/stat.h>

static void check_page(const char *name, Text *text)
{
    char path[256];
    snprintf(path, sizeof path, "docs/nodes/%s.md", name);
    if (getenv("TALUS_UPDATE"))
        support_write(path, text->data);
    char *page = support_read(path);
    CHECK(page != NULL, path);
    CHECK(!strcmp(page, text->data), path);
    free(page);
    text_free(text);
}

static void pages_are_up_to_date(void **state)
{
    (void)state;
    if (getenv("TALUS_UPDATE"))
        mkdir("docs/nodes", 0777);
    Text index = { 0 };
    schema_docs_index(&index);
    check_page("README", &index);
    for (int i = 0; i < schema_type_count(); i++) {
        Text text = { 0 };
        schema_docs_page(schema_type_at(i), &text);
        check_page(schema_type_at(i)->name, &text);
    }
}

static void no_page_is_left_over(void **state)
{
    (void)state;
    DIR *folder = opendir("docs/nodes");
    CHECK(folder != NULL, "docs/nodes");
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        const char *end = strstr(entry->d_name, ".md");
        if (end && strcmp(entry->d_name, "README.md"))
            CHECK(schema_type_text(entry->d_name, (size_t)(end - entry->d_name)) != NULL, entry->d_name);
    }
    closedir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(pages_are_up_to_date),
                                        cmocka_unit_test(no_page_is_left_over) };
    return cmocka_run_group_tests_name("scene.schema_docs", tests, NULL, NULL);
}
