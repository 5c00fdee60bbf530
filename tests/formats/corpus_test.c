// Every file of the shared corpus opens; a table says what was not clean and why. Saving is a fixed point.
#include "base/diag.h"
#include "base/file.h"
#include "formats/formats.h"
#include "support/support.h"

// Mistakes that the files really have. Every other error is one of ours.
static const struct {
    const char *file, *message;
} justified[] = {
    { "SoccerField5v5.proto", "IS 'wallThickness': the PROTO has no such parameter" },
    { "RobotinoConveyorBelt.proto", "IS 'model': the PROTO has no such parameter" },
};

typedef struct Tally {
    int files, unreadable, errors, unjustified, warnings, unknown, unstable;
    bool verbose;
    const char *corpus;
} Tally;

static bool is_unknown_message(const char *message) { return strstr(message, " has no field ") != NULL; }

static void print_messages(const Tally *tally, const char *path, const DiagSink *diags)
{
    const char *name = path + strlen(tally->corpus) + 1;
    int errors = diag_total(diags, DIAG_ERROR), warnings = diag_total(diags, DIAG_WARNING);
    if (!errors && !warnings)
        return;
    printf("%-100.100s %4d errors %5d warnings\n", name, errors, warnings);
    for (int i = 0; i < diag_count(diags); i++) {
        const Diagnostic *item = diag_at(diags, i);
        if (item->severity == DIAG_ERROR || (tally->verbose && item->severity == DIAG_WARNING))
            printf("    %s:%u:%u: %s: %s\n", path_name(diag_file_name(diags, item->pos.file)), item->pos.line,
                   item->pos.column, diag_severity_name(item->severity), item->message);
    }
}

static bool is_justified(const char *file, const char *message)
{
    for (int i = 0; i < COUNT_OF(justified); i++) {
        size_t length = strlen(file), tail = strlen(justified[i].file);
        if (length >= tail && !strcmp(file + length - tail, justified[i].file) && strstr(message, justified[i].message))
            return true;
    }
    return false;
}

static void count_messages(Tally *tally, const DiagSink *diags)
{
    tally->errors += diag_total(diags, DIAG_ERROR);
    tally->warnings += diag_total(diags, DIAG_WARNING);
    for (int i = 0; i < diag_count(diags); i++) {
        const Diagnostic *item = diag_at(diags, i);
        tally->unknown += is_unknown_message(item->message);
        if (item->severity == DIAG_ERROR && !is_justified(diag_file_name(diags, item->pos.file), item->message))
            tally->unjustified++;
    }
}

static void open_file(const char *path, void *context)
{
    Tally *tally = context;
    DiagSink *diags = diag_create();
    Scene *scene = formats_load(path, NULL, diags);
    tally->files++;
    tally->unreadable += scene == NULL;
    count_messages(tally, diags);
    print_messages(tally, path, diags);
    scene_destroy(scene);
    diag_destroy(diags);
}

// What is saved is read back from the folder of the original, so that it finds the same PROTOs.
static void save_file(const char *path, void *context)
{
    Tally *tally = context;
    DiagSink *diags = diag_create();
    Scene *first = formats_load(path, NULL, diags);
    if (first) {
        Text once = { 0 }, twice = { 0 };
        formats_write(first, &once);
        Scene *second = formats_load_text(path, once.data, once.length, NULL, diags);
        if (second)
            formats_write(second, &twice);
        if (once.length != twice.length || memcmp(once.data, twice.data, once.length) != 0) {
            size_t at = 0;
            while (at < once.length && at < twice.length && once.data[at] == twice.data[at])
                at++;
            printf("%s: saving twice differs at byte %zu: '%.80s' and '%.80s'\n", path, at, once.data + at,
                   twice.data ? twice.data + at : "");
            tally->unstable++;
        }
        text_free(&once);
        text_free(&twice);
        scene_destroy(second);
    }
    tally->files++;
    scene_destroy(first);
    diag_destroy(diags);
}

static Tally visit(const char *suffix, void (*visitor)(const char *path, void *context))
{
    const char *corpus = support_corpus();
    if (!corpus)
        SUPPORT_SKIP("the corpus is not on this machine");
    Tally tally = { .corpus = corpus, .verbose = getenv("TALUS_VERBOSE") != NULL };
    support_each_file(corpus, suffix, visitor, &tally);
    printf("%s: %d files, %d unreadable, %d errors, %d warnings, %d unknown fields of base nodes, %d unstable\n",
           suffix, tally.files, tally.unreadable, tally.errors, tally.warnings, tally.unknown, tally.unstable);
    return tally;
}

static void test_worlds(void **state)
{
    (void)state;
    Tally tally = visit(".wbt", open_file);
    assert_int_equal(tally.unreadable, 0);
    assert_int_equal(tally.unknown, 0);
    assert_int_equal(tally.unjustified, 0);
}

static void test_meshes(void **state)
{
    (void)state;
    Tally tally = visit(".wrl", open_file);
    assert_int_equal(tally.unreadable, 0);
    assert_int_equal(tally.unknown, 0);
    assert_int_equal(tally.unjustified, 0);
}

static void test_saving(void **state)
{
    (void)state;
    assert_int_equal(visit(".wbt", save_file).unstable, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_worlds),
        cmocka_unit_test(test_meshes),
        cmocka_unit_test(test_saving),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
