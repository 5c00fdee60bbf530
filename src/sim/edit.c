// Nodes that come and go while the world runs, and what a reset takes back.
#include "sim/sim_internal.h"

#include "base/memory.h"
#include "formats/proto/proto.h"
#include "scene/schema_effects.h"

#include <string.h>

// ---- what a reset takes back ----

// The list of nodes in a field of exactly this node, NULL when it is not set.
static const FieldList *nodes_in(const SceneNode *node, const char *field)
{
    for (int i = 0; i < node->field_count; i++)
        if (node->fields[i].type->kind == FIELD_MF_NODE && !strcmp(node->fields[i].type->name, field))
            return node->fields[i].value.list;
    return NULL;
}

static int find_insert(const Sim *sim, const SceneNode *node)
{
    assert(node);
    int i = node->id > sim->initial_id ? sim->edit_count - 1 : -1;
    while (i >= 0 && !(sim->edits[i].is_insert && sim->edits[i].node == node))
        i--;
    return i;
}

// Whether a reset takes the node away, with something that came.
static bool is_guest(const Sim *sim, const SceneNode *node)
{
    for (const SceneNode *at = node; at && at->id > sim->initial_id; at = at->parent)
        if (find_insert(sim, at) >= 0)
            return true;
    return false;
}

static void remember(Sim *sim, SimEdit edit)
{
    assert_debug(edit.node);
    sim->is_edited = true;
    *memory_push(sim->edits, sim->edit_count, sim->edit_capacity) = edit;
}

static void remember_insert(Sim *sim, SceneNode *node)
{
    sim->is_edited = true;
    if (!is_guest(sim, node->parent))
        remember(sim, (SimEdit){ .node = node, .is_insert = true });
}

static void remember_remove(Sim *sim, SimEdit edit)
{
    assert_debug(edit.node && edit.holder && !edit.is_insert);
    sim->is_edited = true;
    int insert = find_insert(sim, edit.node);
    if (insert >= 0) {  // it came and went: nothing to take back
        memmove(&sim->edits[insert], &sim->edits[insert + 1],
                (size_t)(sim->edit_count - insert - 1) * sizeof *sim->edits);
        sim->edit_count--;
    } else if (!is_guest(sim, edit.holder)) {
        remember(sim, edit);
    }
}

// A removed node is remembered as standing behind so many others. Those that came since do not count: a reset takes
// them away too.
static bool is_counted(const Sim *sim, const SceneNode *node) { return !node || find_insert(sim, node) < 0; }

static bool find_place(const Sim *sim, SceneNode *node, SimEdit *edit)
{
    assert_debug(node && edit);
    *edit = (SimEdit){ .node = node, .holder = node->parent };
    int place;
    if (!scene_node_place(node, &edit->field, &place))
        return false;
    edit->index = place < 0 ? -1 : 0;
    const FieldList *list = place < 0 ? NULL : nodes_in(node->parent, edit->field);
    assert_debug(place < 0 || (list && place < list->count));
    for (int i = 0; i < place; i++)
        edit->index += is_counted(sim, list->nodes[i]);
    return true;
}

static int place_now(const Sim *sim, const SimEdit *edit)
{
    assert_debug(!edit->is_insert && edit->index >= 0);
    const FieldList *list = nodes_in(edit->holder, edit->field);
    int place = 0;
    for (int counted = 0; list && place < list->count && counted < edit->index; place++)
        counted += is_counted(sim, list->nodes[place]);
    return place;
}

void sim_forget_edits(Sim *sim)
{
    assert(!sim->is_writing);
    sim->edit_count = sim->field_count = sim->changed_count = 0;
    sim->has_fields = sim->is_edited = false;
    sim->initial_id = scene_last_id(sim->scene);
    scene_set_lasting(sim->scene, sim->initial_id);
}

// ---- memory ----

static void keep_nodes(void *context, Scene *scene)
{
    const Sim *sim = context;
    physics_keep_nodes(sim->physics, scene);
    for (int i = 0; i < sim->edit_count; i++) {
        scene_keep(scene, sim->edits[i].node);
        scene_keep(scene, sim->edits[i].holder);
    }
    const SimField *lists[] = { sim->fields, sim->changed };
    const int counts[] = { sim->field_count, sim->changed_count };
    for (int k = 0; k < COUNT_OF(lists); k++)
        for (int i = 0; i < counts[k]; i++) {
            scene_keep(scene, lists[k][i].node);
            scene_keep_value(scene, lists[k][i].type, &lists[k][i].value);
        }
}

void sim_watch_scene(Sim *sim)
{
    assert(!sim_is_shared(sim));  // nobody writes into a scene that others read
    scene_watch(sim->scene, sim_remember_field, sim);
    scene_add_keeper(sim->scene, keep_nodes, sim);
    scene_run(sim->scene);
}

void sim_sweep(Sim *sim)
{
    assert(!sim->is_writing);
    sim_forget_model(sim);  // it shares names with the scene
    if (!scene_is_frozen(sim->scene) && scene_sweep_is_due(sim->scene))
        scene_sweep(sim->scene);
}

// ---- as it was at load ----

static void keep_field(Sim *sim, SceneNode *node, const char *name)
{
    assert(name);
    const FieldType *type = node ? schema_field(node->type, name) : NULL;
    if (!type)
        return;
    *memory_push(sim->fields, sim->field_count, sim->field_capacity) =
        (SimField){ node, type, scene_field(node, name) != NULL, scene_value(node, type) };
}

// Poses, velocities and positions of the moving parts have their own list, made in one go.
static bool is_motion(const SceneNode *node, const FieldType *type)
{
    static const char *const names[] = { "translation", "rotation", "linearVelocity", "angularVelocity" };
    if (scene_node_is(node, "Viewpoint"))
        return !strcmp(type->name, "position") || !strcmp(type->name, "orientation");
    if (!strncmp(type->name, "position", 8))
        return scene_node_is(node, "JointParameters") || scene_node_is(node, "Joint");
    for (int i = 0; i < COUNT_OF(names); i++)
        if (!strcmp(type->name, names[i]))
            return scene_node_is(node, "Solid");
    return false;
}

// Whether the value comes from a parameter of a PROTO instance: it is put back there.
static bool is_connected(const Sim *sim, const SceneNode *node, const FieldType *type)
{
    for (int i = 0; i < node->field_count; i++) {
        const SceneField *field = &node->fields[i];
        if (field->type != type || field->parameter_index < 0 || !field->instance_id)
            continue;
        const SceneNode *instance = scene_find_id(sim->scene, field->instance_id);
        return instance && instance->kind == SCENE_NODE_INSTANCE
               && field->parameter_index < instance->proto->parameter_count
               && instance->proto->parameters[field->parameter_index].kind == type->kind;
    }
    return false;
}

// What physics depends on is remembered before its first change. Words (names, arguments, data) outlive a reset, as in
// Webots.
static void remember_field(Sim *sim, SceneNode *node, const FieldType *type)
{
    FieldKind item = field_kind_item(type->kind);
    if (item == FIELD_SF_STRING || item == FIELD_SF_NODE)
        return;
    sim_keep_fields(sim);
    if (is_motion(node, type) || is_connected(sim, node, type))
        return;
    sim->is_edited = true;
    if (is_guest(sim, node))
        return;
    for (int i = 0; i < sim->changed_count; i++)
        if (sim->changed[i].node == node && sim->changed[i].type == type)
            return;
    *memory_push(sim->changed, sim->changed_count, sim->changed_capacity) =
        (SimField){ node, type, scene_field(node, type->name) != NULL, scene_value_kept(sim->scene, node, type) };
}

void sim_remember_field(void *context, SceneNode *node, const FieldType *type)
{
    assert_debug(node && type);
    Sim *sim = context;
    if (!sim->ignores_own_writes) {
        remember_field(sim, node, type);
        sim_follow_touched(sim, node, type);
    }
    if (!sim->is_writing)
        return;
    *memory_push(sim->written, sim->written_count, sim->written_capacity) = (SimWrite){ node, type };
}

static void put_back(Sim *sim, const SimField *field)
{
    if (field->was_set)
        scene_set_value(sim->scene, field->node, field->type, field->value);
    else
        scene_reset_field(sim->scene, field->node, field->type->name);
}

void sim_keep_fields(Sim *sim)
{
    if (sim->has_fields)
        return;
    sim->has_fields = true;
    static const char *const solid_fields[] = { "translation",     "rotation", "linearVelocity",
                                                "angularVelocity", "isLocked", "isOn" };
    static const char *const joint_fields[] = { "position", "position2", "position3" };
    static const char *const parameters[] = { "jointParameters", "jointParameters2", "jointParameters3" };
    static const char *const view_fields[] = { "position", "orientation" };
    const Physics *physics = sim->physics;
    const FieldList *top = scene_list(scene_root(sim->scene), "children");
    for (int i = 0; i < top->count; i++)
        for (int k = 0; k < COUNT_OF(view_fields); k++)
            if (scene_list_node(top, i) && scene_node_is(scene_list_node(top, i), "Viewpoint"))
                keep_field(sim, scene_actual(scene_list_node(top, i)), view_fields[k]);
    for (int i = 0; i < physics_solid_count(physics); i++)
        for (int k = 0; physics_solid_exists(physics, i) && k < COUNT_OF(solid_fields); k++)
            keep_field(sim, physics_solid_node(physics, i), solid_fields[k]);
    for (int i = 0; i < physics_joint_count(physics); i++)
        for (int k = 0; physics_joint_exists(physics, i) && k < COUNT_OF(joint_fields); k++) {
            SceneNode *node = physics_joint_node(physics, i);
            keep_field(sim, node, joint_fields[k]);
            if (schema_field(node->type, parameters[k]))
                keep_field(sim, scene_child(node, parameters[k]), "position");
        }
}

Pose sim_loaded_pose(const Sim *sim, const SceneNode *node)
{
    Pose pose = scene_pose(node);
    for (int i = 0; i < sim->field_count; i++) {
        const SimField *field = &sim->fields[i];
        if (field->node != node)
            continue;
        const double *v = field->value.v;
        if (!strcmp(field->type->name, "translation"))
            pose.t = vec3(v[0], v[1], v[2]);
        else if (!strcmp(field->type->name, "rotation"))
            pose.q = quat_from_rotation((Rotation){ v[0], v[1], v[2], v[3] });
    }
    return pose;
}

static bool is_template_parameter(const SceneNode *node, const FieldType *type)
{
    return node->kind == SCENE_NODE_INSTANCE && node->proto && !node->proto->is_placeholder
           && type >= node->proto->parameters && type < node->proto->parameters + node->proto->parameter_count
           && proto_parameter_regenerates(node, type);
}

static void mark_present(SceneNode *node)
{
    if (!node || !node->is_removed)
        return;
    node->is_removed = false;
    if (node->kind == SCENE_NODE_INSTANCE)
        mark_present(node->target);
    for (int i = 0; i < node->field_count; i++) {
        const SceneField *field = &node->fields[i];
        if (field->type->kind == FIELD_SF_NODE)
            mark_present(field->value.node);
        for (int k = 0; field->type->kind == FIELD_MF_NODE && k < field->value.list->count; k++)
            mark_present(field->value.list->nodes[k]);
    }
}

static bool was_written_before(const Sim *sim, int index)
{
    assert_debug(index >= 0 && index < sim->written_count);
    for (int i = 0; i < index; i++)
        if (sim->written[i].node == sim->written[index].node && sim->written[i].type == sim->written[index].type)
            return true;
    return false;
}

// Makes the trees anew whose templates read what was written, outer ones first: a write goes from outside in. Returns
// whether `node` (may be NULL) is inside one of them. Physics is told unless it is made anew afterwards.
static bool regenerate_written(Sim *sim, const SceneNode *node, bool tells_physics)
{
    assert(!sim->is_writing);  // what regeneration writes is not added to the list that is walked
    bool is_inside = false;
    for (int i = 0; i < sim->written_count; i++) {
        SceneNode *instance = sim->written[i].node;
        if (!is_template_parameter(instance, sim->written[i].type) || was_written_before(sim, i)
            || scene_node_is_gone(instance))
            continue;
        if (!proto_regenerate(sim->scene, instance, sim->diags))
            continue;
        sim->regenerations++;
        if (tells_physics)
            physics_instance_remade(sim->physics, instance);
        for (const SceneNode *at = node; at && !is_inside; at = at->parent)
            is_inside = at == instance;
    }
    return is_inside;
}

bool sim_has_varying(const Sim *sim)
{
    if (sim->start)
        return false;  // a clone comes back to what it was made from
    for (const SceneNode *node = scene_node_after(sim->scene, 0); node; node = scene_node_after(sim->scene, node->id))
        if (node->kind == SCENE_NODE_INSTANCE && !scene_node_is_gone(node) && proto_varies(node))
            return true;
    return false;
}

// Instances whose PROTO says that every reset makes them anew.
static void regenerate_varying(Sim *sim)
{
    uint32_t last = sim->start ? 0 : scene_last_id(sim->scene);
    for (SceneNode *node = scene_node_after(sim->scene, 0); node && node->id <= last;
         node = scene_node_after(sim->scene, node->id))
        if (node->kind == SCENE_NODE_INSTANCE && !scene_node_is_gone(node) && proto_varies(node))
            sim->regenerations += proto_regenerate(sim->scene, node, sim->diags);
}

void sim_undo_edits(Sim *sim)
{
    assert(!sim->is_writing);
    while (sim->edit_count > 0) {
        const SimEdit *edit = &sim->edits[--sim->edit_count];
        if (edit->is_insert) {
            if (!edit->node->is_removed)
                scene_node_remove(sim->scene, edit->node);
            continue;
        }
        mark_present(edit->node);
        if (edit->index < 0)
            scene_set_child(sim->scene, edit->holder, edit->field, edit->node);
        else
            scene_list_insert_node(sim->scene, edit->holder, edit->field, place_now(sim, edit), edit->node);
    }
    sim->is_writing = true;
    sim->written_count = 0;
    for (int i = 0; i < sim->changed_count; i++)
        put_back(sim, &sim->changed[i]);
    sim->is_writing = false;
    regenerate_written(sim, NULL, false);
    regenerate_varying(sim);
    for (int i = 0; i < sim->field_count; i++)
        put_back(sim, &sim->fields[i]);
    sim_forget_edits(sim);
}

// ---- what a write reaches ----

void sim_begin_write(Sim *sim)
{
    assert(!sim_is_shared(sim));
    assert(!sim->is_writing);
    sim_keep_fields(sim);
    sim->is_writing = true;
    sim->written_count = 0;
}

// Tells whoever a field acts on. Devices and rays follow the count of edits that physics keeps.
static void tell(Sim *sim, SceneNode *node, const FieldType *type)
{
    const unsigned told = FIELD_ACTS_ON_PHYSICS | FIELD_ACTS_ON_SIGHT | FIELD_ACTS_ON_DEVICES;
    unsigned effects = schema_effects(node->type, type);
    if (field_kind_item(type->kind) == FIELD_SF_NODE)
        return;  // nodes that came or went are told by themselves
    if (effects & told)
        physics_field_changed(sim->physics, node, type->name);
    if (effects & FIELD_ACTS_AT_LOAD) {
        diag_warning(sim->diags, (SourcePos){ 0 }, "%s of %s takes effect when the world is loaded, not while it runs",
                     type->name, node->type->name);
        diag_hint(sim->diags, "docs/nodes/%s.md says of each field what it takes effect on", node->type->name);
    }
}

// Everything that was written takes effect. Returns whether a template that was evaluated anew has `node` in its tree.
static bool end_write(Sim *sim, const SceneNode *node)
{
    assert(sim->is_writing);
    sim->is_writing = false;
    bool is_inside = regenerate_written(sim, node, true);
    for (int i = 0; i < sim->written_count; i++) {
        const SimWrite *write = &sim->written[i];
        if (write->node->kind == SCENE_NODE_PLAIN && !was_written_before(sim, i) && !scene_node_is_gone(write->node))
            tell(sim, write->node, write->type);
    }
    sim->written_count = 0;
    return is_inside;
}

uint64_t sim_regenerations(const Sim *sim) { return sim->regenerations; }

void sim_end_write(Sim *sim)
{
    end_write(sim, NULL);
    sim_follow_settle(sim);
}

// ---- nodes that come and go ----

// The field of a node, or the parameter of a PROTO instance, by name; of an instance without it, that of the node it
// makes, which *node then is.
static const FieldType *find_field(SceneNode **node, const char *name)
{
    for (SceneNode *at = *node; at; at = at->target) {
        *node = at;
        if (at->kind == SCENE_NODE_PLAIN)
            return schema_field(at->type, name);
        for (int i = 0; at->kind == SCENE_NODE_INSTANCE && i < at->proto->parameter_count; i++)
            if (!strcmp(at->proto->parameters[i].name, name))
                return &at->proto->parameters[i];
    }
    return NULL;
}

// The field of a plain node that a parameter ends in, through nested instances. NULL when templates alone read it.
static const FieldType *connected_field(const SceneNode *node, uint32_t instance, int parameter)
{
    assert_debug(parameter >= 0);
    if (!node || node->kind == SCENE_NODE_USE)
        return NULL;
    const FieldType *found = NULL;
    for (int i = 0; i < node->field_count && !found; i++) {
        const SceneField *field = &node->fields[i];
        if (field->parameter_index >= 0 && field->instance_id == instance) {
            if (field->parameter_index == parameter)
                found = node->kind != SCENE_NODE_INSTANCE ? field->type
                                                          : connected_field(node->target, node->id, field->type->index);
            continue;
        }
        if (field->type->kind == FIELD_SF_NODE)
            found = connected_field(field->value.node, instance, parameter);
        for (int k = 0; field->type->kind == FIELD_MF_NODE && k < field->value.list->count && !found; k++)
            found = connected_field(field->value.list->nodes[k], instance, parameter);
    }
    return found || node->kind != SCENE_NODE_INSTANCE ? found : connected_field(node->target, instance, parameter);
}

// A number beyond what its field allows, written at run time, is mended as one in a file: the nearest that is allowed,
// or the default. False when nothing was to be mended.
static bool mend(const FieldType *type, FieldValue *value)
{
    int count = field_kind_doubles(type->kind);
    assert_debug(count <= 4);
    if (!type->allowed || (count == 0 && type->kind != FIELD_SF_INT32))
        return false;
    double numbers[4], preset[4] = { 0 };
    bool is_sound = true, is_zero = true, is_vector_condition = count > 1 && !strncmp(type->allowed, "!=", 2);
    if (type->kind == FIELD_SF_INT32 || type->kind == FIELD_SF_FLOAT) {
        count = 1;
        numbers[0] = type->kind == FIELD_SF_INT32 ? value->i : value->f;
        preset[0] = type->kind == FIELD_SF_INT32 ? type->value.i : type->value.f;
    } else {
        memcpy(numbers, value->v, sizeof numbers);
        memcpy(preset, type->value.v, sizeof preset);
    }
    for (int i = 0; i < count; i++) {
        double nearest;
        is_zero = is_zero && numbers[i] == 0.0;
        if (is_vector_condition || schema_allows_number(type->allowed, numbers[i], &nearest))
            continue;
        is_sound = false;
        numbers[i] = isnan(nearest) || type->kind == FIELD_SF_INT32 ? preset[i] : nearest;
    }
    if (is_vector_condition && is_zero) {
        is_sound = false;
        memcpy(numbers, preset, sizeof numbers);
    }
    if (type->kind == FIELD_SF_INT32)
        value->i = (int32_t)numbers[0];
    else if (type->kind == FIELD_SF_FLOAT)
        value->f = numbers[0];
    else
        memcpy(value->v, numbers, sizeof value->v);
    return !is_sound;
}

void sim_set_value(Sim *sim, SceneNode *node, const FieldType *type, FieldValue value)
{
    assert_debug(node && type);
    sim_begin_write(sim);
    scene_set_value(sim->scene, node, type, value);
    // A parameter ends in fields of other nodes: each of them has been written too.
    for (int i = 0; i < sim->written_count; i++) {
        const SimWrite *write = &sim->written[i];
        if (write->type->kind != type->kind || !mend(write->type, &value))
            continue;
        diag_warning(sim->diags, (SourcePos){ 0 }, "'%s' of %s is set beyond %s; it is mended", write->type->name,
                     scene_actual(write->node) ? scene_actual(write->node)->type->name : "a node",
                     write->type->allowed);
        scene_set_value(sim->scene, node, type, value);
        break;
    }
    sim_end_write(sim);
}

static bool may_hold(const Sim *sim, const SceneNode *parent, const FieldType *type, const SceneNode *node)
{
    assert_debug(parent && type && field_kind_item(type->kind) == FIELD_SF_NODE);
    const SceneNode *actual = scene_actual(node);
    const FieldType *end = parent->kind == SCENE_NODE_INSTANCE
                               ? connected_field(parent->target, parent->id, type->index)
                               : type;
    const char *allowed = end ? end->allowed : type->allowed;
    if (actual && (!allowed || schema_allows_type(allowed, actual->type)))
        return true;
    diag_error(sim->diags, (SourcePos){ 0 }, "a %s is not allowed in '%s'", actual ? actual->type->name : "node",
               type->name);
    return false;
}

static void put_node(Sim *sim, SceneNode *parent, const FieldType *type, int index, SceneNode *node)
{
    assert_debug(parent && type && node);
    sim_begin_write(sim);
    if (type->kind == FIELD_MF_NODE)
        scene_list_insert_node(sim->scene, parent, type->name, index, node);
    else
        scene_set_child(sim->scene, parent, type->name, node);
    bool is_built = end_write(sim, node);
    remember_insert(sim, node);
    if (!is_built)
        physics_node_added(sim->physics, node);
}

// All is checked before the first change: either every node comes in, or the world is as it was.
SceneNode *sim_insert(Sim *sim, SceneNode *parent, const char *field, int index, const char *text, size_t size)
{
    assert_debug(parent && field && (text || size == 0));
    const FieldType *type = find_field(&parent, field);
    if (!type || field_kind_item(type->kind) != FIELD_SF_NODE || type->class == FIELD_DEPRECATED) {
        diag_error(sim->diags, (SourcePos){ 0 }, "there is no field '%s' that holds nodes", field);
        return NULL;
    }
    sim_sweep(sim);
    int errors = diag_total(sim->diags, DIAG_ERROR);
    bool in_bounding = parent->in_bounding || !strcmp(type->name, "boundingObject");
    const FieldList *nodes = formats_parse_nodes(sim->scene, text, size, in_bounding, sim->diags);
    if (diag_total(sim->diags, DIAG_ERROR) > errors)
        return NULL;
    bool is_list = type->kind == FIELD_MF_NODE;
    if (!nodes || nodes->count < 1 || (nodes->count > 1 && !is_list)) {
        diag_error(sim->diags, (SourcePos){ 0 }, "the text to insert wants to be %s",
                   is_list ? "a node or several" : "exactly one node");
        return NULL;
    }
    for (int i = 0; i < nodes->count; i++)
        if (!may_hold(sim, parent, type, nodes->nodes[i])
            || !formats_check_node(sim->scene, nodes->nodes[i], parent, in_bounding, sim->diags))
            return NULL;
    FieldValue value = scene_value(parent, type);
    if (!is_list && value.node) {
        diag_error(sim->diags, (SourcePos){ 0 }, "field '%s' is taken", field);
        return NULL;
    }
    if (is_list && (index < 0 || index > value.list->count))
        index = value.list->count;
    sim_keep_fields(sim);
    for (int i = 0; i < nodes->count; i++)
        put_node(sim, parent, type, index + i, nodes->nodes[i]);
    return nodes->nodes[0];
}

bool sim_remove(Sim *sim, SceneNode *node)
{
    assert(!sim->is_writing);
    SimEdit edit;
    node = node ? scene_instance(node) : NULL;
    while (node && node->parent && node->parent->is_inserted)
        node = node->parent;  // the Pose that an old file does not have goes with it
    if (!node || node->is_removed || !find_place(sim, node, &edit)) {
        diag_error(sim->diags, (SourcePos){ 0 }, "the node to remove is not in the world");
        return false;
    }
    sim_keep_fields(sim);
    sim_begin_write(sim);
    scene_node_remove(sim->scene, node);
    bool is_built = end_write(sim, edit.holder);
    remember_remove(sim, edit);
    if (!is_built)
        physics_node_removed(sim->physics, node, edit.holder);
    return true;
}

void sim_field_changed(Sim *sim, SceneNode *node, const char *field)
{
    assert_debug(node && field);
    sim_keep_fields(sim);
    physics_field_changed(sim->physics, node, field);
}
