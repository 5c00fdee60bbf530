// Worlds with templates are loaded by several threads at once: one process per language serves them all.
#include "formats/formats.h"
#include "support/support.h"

#include <pthread.h>

static const char proto[] =
    "#VRML_SIM R2023b utf8\n"
    "PROTO Ball [ field SFFloat r 1 field SFVec3f translation 0 0 0 ]\n"
    "{ Solid { translation IS translation children [ Shape { geometry Sphere { radius %{= fields.r.value * 2 }% } } ] } }\n";

typedef struct Job {
    const char *path;
    int index;
    int wrong;
} Job;

static void *load(void *context)
{
    enum { BALLS = 20 };
    Job *job = context;
    Text world = { 0 };
    text_add_string(&world, "#VRML_SIM R2023b utf8\nEXTERNPROTO \"Ball.proto\"\nWorldInfo { }\nViewpoint { }\n");
    for (int i = 0; i < BALLS; i++)
        text_printf(&world, "DEF B%d Ball { r %d }\n", i, 1000 * job->index + i + 1);
    DiagSink *diags = diag_create();
    Scene *scene = formats_load_text(job->path, world.data, world.length, NULL, diags);
    for (int i = 0; i < BALLS; i++) {
        char def[16];
        snprintf(def, sizeof def, "B%d", i);
        const SceneNode *shape = scene_list_node(scene_list(scene_find_def(scene, def), "children"), 0);
        job->wrong += scene_float(scene_child(shape, "geometry"), "radius") != 2.0 * (1000 * job->index + i + 1);
    }
    job->wrong += diag_has_errors(diags);
    scene_destroy(scene);
    diag_destroy(diags);
    text_free(&world);
    return NULL;
}

static void threads_share_the_processes(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    char path[512];
    const char *folder = support_scratch("proto_threads");
    snprintf(path, sizeof path, "%s/Ball.proto", folder);
    support_write(path, proto);
    snprintf(path, sizeof path, "%s/test.wbt", folder);
    pthread_t threads[THREADS];
    Job jobs[THREADS];
    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (Job){ path, i, 0 };
        assert_int_equal(pthread_create(&threads[i], NULL, load, &jobs[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(jobs[i].wrong, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(threads_share_the_processes) };
    return cmocka_run_group_tests_name("formats.proto_threads", tests, NULL, NULL);
}
