// More of the same world. The first clone makes a model of it: a frozen copy of the scene, one Physics made from it,
// and the assets. Every clone shares those and has bodies, joints and contacts of its own. Who wants to write into its
// scene gets one of its own first (sim_own_scene).
#include "sim/sim_internal.h"

#include "base/memory.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct SimModel {
    atomic_int other_users;  // beside the first
    Scene *scene;
    AssetStore *assets;
    DiagSink *diags;   // names of files, for those of the clones
    Physics *physics;  // its collision meshes are everybody's; it never steps
    uint64_t edits;    // of the world that it was made of, at that time
};

struct SimStart {
    atomic_int other_users;
    SimSnapshot state;
};

void sim_model_release(SimModel *model)
{
    int others = model ? atomic_fetch_sub(&model->other_users, 1) : 1;
    assert(others >= 0);  // below: somebody gave it back twice
    if (others > 0)
        return;
    physics_destroy(model->physics);
    scene_destroy(model->scene);
    store_destroy(model->assets);
    diag_destroy(model->diags);
    free(model);
}

void sim_start_release(SimStart *start)
{
    int others = start ? atomic_fetch_sub(&start->other_users, 1) : 1;
    assert(others >= 0);
    if (others > 0)
        return;
    sim_snapshot_free(&start->state);
    free(start);
}

// Poses and positions that the run was written into are those of the load again: anchors of joints come from them.
static void as_at_load(const Sim *sim, Scene *copy)
{
    for (int i = 0; i < sim->field_count; i++) {
        const SimField *field = &sim->fields[i];
        SceneNode *node = scene_find_id(copy, field->node->id);
        assert(node);  // a copy has the ids of its original
        if (node->is_removed)
            continue;
        if (field->was_set)
            scene_set_value(copy, node, field->type, field->value);
        else
            scene_reset_field(copy, node, field->type->name);
    }
}

static SimModel *make_model(Sim *sim)
{
    assert_debug(sim->scene && sim->physics);
    SimModel *model = memory_alloc(sizeof *model);
    model->diags = diag_create_like(sim->diags, false);
    model->assets = store_share(sim->assets);
    model->scene = scene_copy(sim->scene);
    as_at_load(sim, model->scene);
    PhysicsOptions options = sim->options.physics;
    options.threads = 1;
    options.like = NULL;  // meshes of its own: that of which `sim` is a clone may go first
    model->physics = physics_create(model->scene, &options, model->diags);
    assert(model->physics);  // the stepper was found for `sim` before
    if (physics_solid_count(model->physics) > 0)
        physics_solid_label(model->physics, 0);  // made now: clones on many threads read them
    scene_freeze(model->scene);
    model->edits = physics_edit_count(sim->physics);
    return model;
}

// The model of the world as it is, made anew when somebody changed the world since.
static SimModel *model_of(Sim *sim)
{
    assert_debug(!scene_is_frozen(sim->scene) || sim->origin);
    if (scene_is_frozen(sim->scene))
        return sim->origin;
    if (sim->model && sim->model->edits == physics_edit_count(sim->physics))
        return sim->model;
    sim_model_release(sim->model);
    sim->model = NULL;
    SimModel *model = make_model(sim);
    if (physics_model_hash(model->physics) != sim_model_hash(sim)) {
        diag_error(sim->diags, (SourcePos){ 0 },
                   "the world cannot be cloned: nodes were added or removed since it was loaded");
        diag_hint(sim->diags, "save it and load what was saved");
        sim_model_release(model);
        return NULL;
    }
    return sim->model = model;
}

void sim_forget_model(Sim *sim)
{
    if (!sim->model || sim->model->edits == physics_edit_count(sim->physics))
        return;
    sim_model_release(sim->model);
    sim->model = NULL;
}

static Sim *clone_of(Sim *source, SimModel *model, SimStart *start)
{
    assert_debug(model && start);
    Sim *sim = memory_alloc(sizeof *sim);
    sim->origin = model;
    sim->start = start;
    atomic_fetch_add(&model->other_users, 1);
    atomic_fetch_add(&start->other_users, 1);
    sim->diags = diag_create_like(model->diags, true);
    sim->owns_diags = true;
    sim->options = source->options;
    sim->options.formats.search_paths = NULL;  // theirs; whoever needs them has copies
    sim->options.physics.threads = 1;
    sim->options.physics.like = model->physics;
    sim->options.physics.seed = physics_seed(source->physics);
    sim->options.physics.has_seed = true;
    sim->scene = scene_share(model->scene);
    sim->assets = store_share(model->assets);
    sim->step_ms = source->step_ms;
    sim_rebuild(sim);
    assert(sim->physics);
    physics_share_rows(sim->physics);
    return sim;
}

bool sim_clone(Sim *source, int count, Sim **clones)
{
    assert_debug(source && count >= 0 && (clones || count == 0));
    if (source->plugin) {
        diag_error(source->diags, (SourcePos){ 0 },
                   "a world whose physics plugin runs cannot be cloned: it works on one world");
        return false;
    }
    SimModel *model = model_of(source);
    if (!model)
        return false;
    SimStart *start = memory_alloc(sizeof *start);
    sim_snapshot(source, &start->state);
    bool is_fine = true;
    for (int i = 0; i < count; i++) {
        clones[i] = clone_of(source, model, start);
        is_fine = is_fine && sim_restore_start(clones[i]);
    }
    sim_start_release(start);
    return is_fine;
}

bool sim_is_shared(const Sim *sim) { return scene_is_frozen(sim->scene); }

bool sim_is_edited(const Sim *sim) { return sim->is_edited || sim_has_varying(sim); }

const SimSnapshot *sim_start_state(const Sim *sim)
{
    if (sim->start)
        return &sim->start->state;
    SimSnapshot *initial = (SimSnapshot *)&sim->initial;  // what it says stays the same
    sim_snapshot_unpack(initial);
    assert_debug(!initial->is_packed);
    return initial;
}

bool sim_own_scene(Sim *sim)
{
    if (!sim_is_shared(sim))
        return true;
    assert(sim->part_count == 0 && !sim->is_edited && !sim->has_fields);
    SimSnapshot now = { 0 };
    sim_snapshot(sim, &now);
    Scene *shared = sim->scene;
    sim->scene = scene_copy(shared);
    bool is_restored = sim_rebuild(sim) && sim_restore(sim, &now);
    scene_destroy(shared);
    sim_watch_scene(sim);
    sim_snapshot_free(&now);
    return is_restored;
}
