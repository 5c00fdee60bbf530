// Worlds of the corpus that open without a placeholder, the others with their reasons, and how often each PROTO of the
// library is used.
#include "base/diag.h"
#include "base/file.h"
#include "formats/formats.h"
#include "support/support.h"

enum { MOST_NAMES = 2048 };

typedef struct Use {
    char name[64];
    int worlds, instances;
    int last_world;
} Use;

typedef struct Tally {
    int worlds, complete;
    Use uses[MOST_NAMES];
    int use_count;
} Tally;

static void count_use(Tally *tally, const char *name)
{
    int i = 0;
    while (i < tally->use_count && strcmp(tally->uses[i].name, name) != 0)
        i++;
    if (i == MOST_NAMES)
        return;
    if (i == tally->use_count) {
        snprintf(tally->uses[i].name, sizeof tally->uses[i].name, "%s", name);
        tally->use_count++;
    }
    tally->uses[i].instances++;
    tally->uses[i].worlds += tally->uses[i].last_world != tally->worlds;
    tally->uses[i].last_world = tally->worlds;
}

static bool count_instance(SceneNode *node, void *context)
{
    for (const SceneNode *up = node->parent; up && up->kind == SCENE_NODE_INSTANCE && up->target == node;
         node = (SceneNode *)up, up = up->parent)
        if (up->proto && up->proto->origin && !strcmp(up->proto->origin, "library"))
            count_use(context, up->proto->name);
    return true;
}

static void open_world(const char *path, void *context)
{
    Tally *tally = context;
    DiagSink *diags = diag_create();
    Scene *scene = formats_load(path, NULL, diags);
    tally->worlds++;
    const char *reason = scene ? NULL : "nothing could be read";
    for (int i = 0; i < diag_count(diags); i++)
        if (strstr(diag_at(diags, i)->message, "placeholder"))
            reason = diag_at(diags, i)->message;
    tally->complete += reason == NULL;
    if (reason)
        printf("not complete: %s: %s\n", path, reason);
    if (scene)
        scene_walk(scene_root(scene), false, count_instance, tally);
    scene_destroy(scene);
    diag_destroy(diags);
}

static int by_worlds(const void *a, const void *b)
{
    const Use *x = a, *y = b;
    return x->worlds != y->worlds ? y->worlds - x->worlds : strcmp(x->name, y->name);
}

static void test_worlds_open_without_placeholder(void **state)
{
    (void)state;
    const char *corpus = support_corpus();
    if (!corpus)
        SUPPORT_SKIP("the corpus is not on this machine");
    static Tally tally;
    support_each_file(corpus, ".wbt", open_world, &tally);
    qsort(tally.uses, (size_t)tally.use_count, sizeof(Use), by_worlds);
    printf("%-32s %7s %10s\n", "PROTO of the library", "worlds", "instances");
    for (int i = 0; i < tally.use_count; i++)
        printf("%-32s %7d %10d\n", tally.uses[i].name, tally.uses[i].worlds, tally.uses[i].instances);
    printf("%d of %d worlds (%.1f %%) open without a placeholder\n", tally.complete, tally.worlds,
           100.0 * tally.complete / tally.worlds);
    assert_true(tally.worlds > 100);
    assert_true(tally.complete * 100 >= tally.worlds * 90);
    assert_true(tally.use_count > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_worlds_open_without_placeholder) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
