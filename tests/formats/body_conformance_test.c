// Every link, device and total of the bodies in the corpus against what Choreonoid itself made of the same files.
#include "formats/body/body.h"

#include "base/file.h"
#include "support/support.h"

#include <math.h>

enum { MAX_COLUMNS = 40, MAX_ROWS = 2000 };

typedef struct Table {
    char *text;
    char *cells[MAX_ROWS][MAX_COLUMNS];
    int row_count, column_counts[MAX_ROWS];
} Table;

static Table expected, actual;

static void split(Table *table, char *text)
{
    memset(table, 0, sizeof *table);
    table->text = text;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        int column = 0;
        char **cells = table->cells[table->row_count];
        cells[column++] = line;
        for (char *c = line; *c; c++) {
            if (*c != ',')
                continue;
            *c = '\0';
            cells[column++] = c + 1;
        }
        table->column_counts[table->row_count++] = column;
    }
}

static bool cells_agree(const char *a, const char *b)
{
    char *end_a, *end_b;
    double x = strtod(a, &end_a), y = strtod(b, &end_b);
    if (*end_a || *end_b || end_a == a || end_b == b)
        return !strcmp(a, b);
    // Rounding of sines leaves 1e-16 where the other has 0.
    return x == y || fabs(x - y) <= 1e-9 * fmax(fabs(x), fabs(y)) || fabs(x - y) < 1e-15;
}

static char *path_of(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", support_corpus(), name);
    return path;
}

// One body's rows of the expected table begin at `row`; returns the row after them.
static int check_body(BodyCsv kind, int row)
{
    const char *file = expected.cells[row][0];
    char path[4096], name[200];
    snprintf(path, sizeof path, "%s/choreonoid+choreonoid/%s", support_corpus(), file);
    DiagSink *diags = diag_create();
    BodyModel *model = body_load(path, NULL, diags);
    CHECK(model != NULL, file);
    Text text = { 0 };
    body_write_csv(model, kind, file, false, &text);
    split(&actual, text.data ? text.data : (char[]){ "" });
    bool lacks_arm = strstr(file, "AizuWheel") != NULL;  // its arm, a sub-body, is not in the corpus
    int at = 0;
    for (; row < expected.row_count && !strcmp(expected.cells[row][0], file); row++) {
        if (kind == BODY_CSV_SUMMARY && (lacks_arm || expected.column_counts[row] < 3))
            continue;
        if (lacks_arm && (!strncmp(expected.cells[row][2], "ARM_", 4) || kind == BODY_CSV_DEVICES))
            continue;
        CHECK(at < actual.row_count, file);
        for (int k = 0; k < expected.column_counts[row]; k++) {
            snprintf(name, sizeof name, "%.90s row %d column %s: %.30s, not %.30s", file, row, expected.cells[0][k],
                     actual.cells[at][k], expected.cells[row][k]);
            CHECK(cells_agree(actual.cells[at][k], expected.cells[row][k]), name);
        }
        at++;
    }
    text_free(&text);
    body_destroy(model);
    diag_destroy(diags);
    return row;
}

static int check_table(BodyCsv kind, const char *name)
{
    if (!support_corpus())
        SUPPORT_SKIP("the corpus is not on this machine");
    char *text = support_read(path_of(name));
    if (!text)
        SUPPORT_SKIP("Choreonoid's tables are not on this machine");
    split(&expected, text);
    int bodies = 0;
    for (int row = 1; row < expected.row_count; bodies++)
        row = check_body(kind, row);
    free(text);
    return bodies;
}

static void links_agree(void **state)
{
    (void)state;
    CHECK(check_table(BODY_CSV_LINKS, "../reference/choreonoid-runs/body-links.csv") >= 40, "bodies with links");
}

static void devices_agree(void **state)
{
    (void)state;
    CHECK(check_table(BODY_CSV_DEVICES, "../reference/choreonoid-runs/body-devices.csv") >= 10, "bodies with devices");
}

static void totals_agree(void **state)
{
    (void)state;
    CHECK(check_table(BODY_CSV_SUMMARY, "../reference/choreonoid-runs/body-load.csv") == 58, "bodies");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_agree),
        cmocka_unit_test(devices_agree),
        cmocka_unit_test(totals_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
