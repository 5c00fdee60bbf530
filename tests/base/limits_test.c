// limits_test.c - the table of limits in SECURITY.md is that of base/limits.h. TALUS_UPDATE=1 writes it anew.
#include "base/limits.h"

#include "base/file.h"
#include "base/text.h"
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

static void add_amount(Text *out, const char *name, int64_t value)
{
    if (value == LIMIT_NONE)
        text_add_string(out, "none");
    else if (text_ends_with(name, "_bytes") && value % (1 << 20) == 0)
        text_printf(out, "%lld MiB", (long long)(value >> 20));
    else if (text_ends_with(name, "_ms"))
        text_printf(out, "%lld ms", (long long)value);
    else
        text_printf(out, "%lld", (long long)value);
}

static void write_table(Text *out)
{
    text_add_string(out, "| limit | default | `--untrusted` | bounds |\n| --- | --- | --- | --- |\n");
#define ROW(name, normal, untrusted, help)                                                                             \
    text_add_string(out, "| `" #name "` | ");                                                                          \
    add_amount(out, #name, (int64_t)(normal));                                                                         \
    text_add_string(out, " | ");                                                                                       \
    add_amount(out, #name, (int64_t)(untrusted));                                                                      \
    text_add_string(out, " | " help " |\n");
    LIMITS(ROW)
#undef ROW
}

static void the_documented_limits_are_true(void **state)
{
    (void)state;
    static const char begin[] = "<!-- limits: made from src/base/limits.h by tests/base/limits_test.c -->\n";
    static const char end[] = "<!-- end of limits -->";
    FileData file;
    assert_true(file_read("SECURITY.md", 1 << 20, &file, NULL, (SourcePos){ 0 }));
    Text page = { 0 }, table = { 0 }, wanted = { 0 };
    text_add(&page, file.data, file.size);
    file_release(&file);
    write_table(&table);
    char *from = strstr(page.data, begin), *to = strstr(page.data, end);
    assert_true(from && to && from < to);
    text_add(&wanted, page.data, (size_t)(from + strlen(begin) - page.data));
    text_add_string(&wanted, table.data);
    text_add_string(&wanted, to);
    if (getenv("TALUS_UPDATE") && strcmp(page.data, wanted.data) != 0)
        assert_true(file_write_atomic("SECURITY.md", wanted.data, wanted.length, NULL));
    else if (strcmp(page.data, wanted.data) != 0)
        fail_msg("SECURITY.md does not have the limits of base/limits.h; TALUS_UPDATE=1 mends it");
    text_free(&page);
    text_free(&table);
    text_free(&wanted);
}

static void an_untrusted_file_is_never_allowed_more(void **state)
{
    (void)state;
#define COMPARE(name, normal, untrusted, help) assert_true(limits_untrusted.name <= limits_default.name);
    LIMITS(COMPARE)
#undef COMPARE
}

static void limits_are_changed_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *changes, *wrong;
    } cases[] = {
        { "nodes=7", NULL },
        { "nodes=7,step_ms=1", NULL },
        { "nodes=0", "nodes=0" },
        { "nodes=-1", "nodes=-1" },
        { "nodes", "nodes" },
        { "nodes=7,", "" },
        { "node=7", "node=7" },
        { "", "" },
        { "nodes=7,steps_ms=1,bodies=2", "steps_ms=1" },
        { "=7", "=7" },
        { "nodes=", "nodes=" },
        { "nodes=777777777777777777777777", "nodes=777777777777777777777777" },
        { "is_untrusted=1", "is_untrusted=1" },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        Limits limits = limits_untrusted;
        const char *wrong = NULL;
        int length = 0;
        bool ok = limits_change(&limits, cases[i].changes, &wrong, &length);
        CHECK(ok == !cases[i].wrong, cases[i].changes);
        CHECK(ok || (strlen(cases[i].wrong) == (size_t)length && !strncmp(wrong, cases[i].wrong, (size_t)length)),
              cases[i].changes);
        CHECK(!ok || limits.nodes == 7, cases[i].changes);
        CHECK(limits.is_untrusted, cases[i].changes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_documented_limits_are_true),
                                        cmocka_unit_test(an_untrusted_file_is_never_allowed_more),
                                        cmocka_unit_test(limits_are_changed_by_name) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
