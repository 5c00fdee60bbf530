// Any bytes as a world or body that begins like one, others as choices of which a world is made: nodes of all types
// below any field (support/any_node.h). It is loaded, run with all its devices, looked at, converted, reset, saved, and
// opened again. Whatever it is, it stays sound.
#include "base/common.h"
#include "control/control.h"
#include "formats/body/body.h"
#include "record/glb.h"
#include "run_fuzz.h"
#include "sim/library.h"
#include "support/any_node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LENGTH_MAX = 8000, NODES_MAX = 200, VALUES_MAX = 64 };

typedef struct Bytes {
    const uint8_t *data;
    size_t size, at;
} Bytes;

static int choose(void *context, int count)
{
    Bytes *bytes = context;
    uint8_t byte = bytes->at < bytes->size ? bytes->data[bytes->at++] : 0;
    return byte % count;
}

static void make_world(Bytes *bytes, Text *text)
{
    static const char *const old_releases[] = { "V5.0",   "V6.0",   "V8.5.0", "R2018a",
                                                "R2020a", "R2021b", "R2022a", "R2023b" };
    int release = choose(bytes, 2 * COUNT_OF(old_releases));
    bool is_old = release < COUNT_OF(old_releases);
    const AnyNode any = { choose, bytes, LENGTH_MAX, is_old };
    const FieldType *top = schema_field(schema_type("Group"), "children");
    text_printf(text, "#VRML_SIM %s utf8\nWorldInfo { basicTimeStep 16 } Viewpoint { }\n",
                is_old ? old_releases[release] : "R2025a");
    for (int count = 1 + choose(bytes, 6); count > 0; count--) {
        int how = choose(bytes, 4);
        any_node_add(text, &any,
                     how == 0   ? schema_type("Robot")
                     : how == 1 ? schema_type("Solid")
                                : NULL,
                     how == 2 ? NULL : top);
        text_add_char(text, '\n');
    }
}

static bool begins_with(const Bytes *bytes, const char *word)
{
    return bytes->size >= strlen(word) && !memcmp(bytes->data, word, strlen(word));
}

// Returns the name of the file that it is.
static const char *make_file(Bytes *bytes, Text *text)
{
    static const struct {
        const char *begin, *name;
    } files[] = { { "#VRML_SIM", "any.wbt" }, { "format:", "any.body" }, { "#VRML V", "any.wrl" } };
    for (int i = 0; i < COUNT_OF(files); i++)
        if (begins_with(bytes, files[i].begin)) {
            text_add(text, (const char *)bytes->data, bytes->size);
            return files[i].name;
        }
    make_world(bytes, text);
    return "any.wbt";
}

// ---- what is done with it ----

static void use_devices(TalusWorld *world)
{
    TalusNode nodes[NODES_MAX];
    double values[VALUES_MAX];
    int count = talus_devices(world, TALUS_NONE, nodes, NODES_MAX);
    for (int i = 0; i < count && i < NODES_MAX; i++) {
        talus_device_enable(world, nodes[i], 16);
        talus_device_switch(world, nodes[i], true);
    }
    count = talus_joints(world, nodes, NODES_MAX);
    for (int i = 0; i < count && i < NODES_MAX; i++)
        talus_motor_set_velocity(world, nodes[i], 0, 1.0);
    talus_step(world, 2);
    count = talus_devices(world, TALUS_NONE, nodes, NODES_MAX);
    for (int i = 0; i < count && i < NODES_MAX; i++)
        talus_device_read(world, nodes[i], values, VALUES_MAX);
}

static void look(const TalusWorld *world)
{
    uint8_t pixels[4 * 4 * 4];
    TalusHit hit;
    talus_picture((TalusWorld *)world, TALUS_NONE, 4, 4, pixels);
    talus_ray((TalusWorld *)world, (TalusVector){ 0, 0, 5 }, (TalusVector){ 0, 0, -1 }, 10.0, &hit);
}

// As files of other kinds.
static void convert(const TalusWorld *world)
{
    const Scene *scene = sim_scene(world->sim);
    const FieldList *top = scene_list(scene_root(scene), "children");
    DiagSink *diags = diag_create();
    Text text = { 0 };
    glb_write(world->sim, NULL, &text);
    for (int i = 0; i < top->count; i++) {
        const SceneNode *node = scene_list_node(top, i);
        if (!node || !scene_node_is(node, "Solid"))
            continue;
        if (scene_node_is(node, "Robot"))
            control_write_urdf(sim_physics(world->sim), node, "", &text);
        BodyModel *model = body_from_node(scene, node, diags);
        if (model)
            body_write_yaml(model, NULL, &text);
        body_destroy(model);
    }
    text_free(&text);
    diag_destroy(diags);
}

static void restore(TalusWorld *world)
{
    TalusSnapshot *snapshot = talus_snapshot_create();
    talus_snapshot_take(world, snapshot);
    talus_step(world, 1);
    talus_snapshot_restore(world, snapshot);
    talus_snapshot_free(snapshot);
}

// ---- what must hold ----

static void save_and_open(TalusWorld *world)
{
    char folder[64], path[80];
    TalusNode none[1];
    snprintf(folder, sizeof folder, "/tmp/talus-world-%d", (int)getpid());
    snprintf(path, sizeof path, "%s/world.wbt", folder);
    mkdir(folder, 0700);
    int before = talus_solids(world, none, 0);
    TalusWorld *saved = talus_save(world, path) ? talus_load(path, &run_fuzz_options) : NULL;
    if (!saved || talus_solids(saved, none, 0) != before) {
        fprintf(stderr, "of %d solids %d are saved\n", before, saved ? talus_solids(saved, none, 0) : -1);
        abort();
    }
    talus_step(saved, 1);
    run_fuzz_check(saved);
    talus_free(saved);
    unlink(path);
    rmdir(folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Bytes bytes = { data, size, 0 };
    Text text = { 0 };
    const char *name = make_file(&bytes, &text);
    if (getenv("TALUS_SHOW_WORLD"))
        fprintf(stderr, "%s", text.data);
    TalusWorld *world = talus_load_text(name, text.data, text.length, &run_fuzz_options);
    text_free(&text);
    if (!world)
        return 0;
    talus_step(world, 1);
    use_devices(world);
    run_fuzz_check(world);
    look(world);
    convert(world);
    restore(world);
    if (!talus_failure(world))
        save_and_open(world);
    talus_reset(world);
    talus_step(world, 1);
    run_fuzz_check(world);
    talus_free(world);
    return 0;
}
