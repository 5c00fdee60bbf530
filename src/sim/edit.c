// Nodes that come and go while the world runs.
#include "sim/sim_internal.h"

#include "base/memory.h"

#include <string.h>

static void remember(Sim *sim, SimEdit edit)
{
    memory_grow(&sim->edits, &sim->edit_capacity, sim->edit_count + 1, sizeof(SimEdit));
    sim->edits[sim->edit_count++] = edit;
}

// ---- as it was at load ----

static void keep_field(Sim *sim, SceneNode *node, const char *name)
{
    const FieldType *type = node ? schema_field(node->type, name) : NULL;
    if (!type)
        return;
    memory_grow(&sim->fields, &sim->field_capacity, sim->field_count + 1, sizeof(SimField));
    sim->fields[sim->field_count++] = (SimField){ node, type, scene_field(node, name) != NULL, scene_value(node, type) };
}

// Poses, velocities and positions of the moving parts have their own list, made in one go.
static bool is_motion(const SceneNode *node, const FieldType *type)
{
    static const char *const names[] = { "translation", "rotation", "linearVelocity", "angularVelocity" };
    if (!strncmp(type->name, "position", 8))
        return scene_node_is(node, "JointParameters") || scene_node_is(node, "Joint");
    for (int i = 0; i < COUNT_OF(names); i++)
        if (!strcmp(type->name, names[i]))
            return scene_node_is(node, "Solid");
    return false;
}

// What physics depends on is remembered before its first change. Words (names, arguments, data) outlive a reset, as in Webots.
void sim_remember_field(void *context, SceneNode *node, const FieldType *type)
{
    Sim *sim = context;
    FieldKind item = field_kind_item(type->kind);
    if (sim->is_deaf || item == FIELD_SF_STRING || item == FIELD_SF_NODE)
        return;
    sim_keep_fields(sim);
    if (is_motion(node, type))
        return;
    for (int i = 0; i < sim->changed_count; i++)
        if (sim->changed[i].node == node && sim->changed[i].type == type)
            return;
    memory_grow(&sim->changed, &sim->changed_capacity, sim->changed_count + 1, sizeof(SimField));
    sim->changed[sim->changed_count++] = (SimField){ node, type, scene_field(node, type->name) != NULL, scene_value_kept(sim->scene, node, type) };
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
    static const char *const solid_fields[] = { "translation", "rotation", "linearVelocity", "angularVelocity", "isLocked", "isOn" };
    static const char *const joint_fields[] = { "position", "position2", "position3" };
    static const char *const parameters[] = { "jointParameters", "jointParameters2", "jointParameters3" };
    const Physics *physics = sim->physics;
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

void sim_undo_edits(Sim *sim)
{
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
            scene_list_insert_node(sim->scene, edit->holder, edit->field, edit->index, edit->node);
    }
    for (int i = 0; i < sim->changed_count; i++)
        put_back(sim, &sim->changed[i]);
    for (int i = 0; i < sim->field_count; i++)
        put_back(sim, &sim->fields[i]);
    sim->field_count = sim->changed_count = 0;
    sim->has_fields = false;
}

// ---- nodes that come and go ----

SceneNode *sim_insert(Sim *sim, SceneNode *parent, const char *field, int index, const char *text, size_t size)
{
    const FieldType *type = parent && parent->type ? schema_field(parent->type, field) : NULL;
    if (!type || (type->kind != FIELD_MF_NODE && type->kind != FIELD_SF_NODE)) {
        diag_error(sim->diags, (SourcePos){ 0 }, "there is no field '%s' that holds nodes", field);
        return NULL;
    }
    int errors = diag_total(sim->diags, DIAG_ERROR);
    const FieldList *nodes = formats_parse_nodes(sim->scene, text, size, sim->diags);
    if (diag_total(sim->diags, DIAG_ERROR) > errors)
        return NULL;
    if (!nodes || nodes->count != 1 || !nodes->nodes[0]) {
        diag_error(sim->diags, (SourcePos){ 0 }, "the text to insert wants to be exactly one node");
        return NULL;
    }
    SceneNode *node = nodes->nodes[0];
    const SceneNode *actual = scene_actual(node);
    if (!actual || (type->allowed && !schema_allows_type(type->allowed, actual->type))) {
        diag_error(sim->diags, (SourcePos){ 0 }, "a %s is not allowed in '%s'", actual ? actual->type->name : "node", field);
        return NULL;
    }
    if (type->kind == FIELD_MF_NODE) {
        int count = scene_list(parent, field)->count;
        if (index < 0 || index > count)
            index = count;
        scene_list_insert_node(sim->scene, parent, field, index, node);
    } else {
        if (scene_child(parent, field)) {
            diag_error(sim->diags, (SourcePos){ 0 }, "field '%s' is taken", field);
            return NULL;
        }
        scene_set_child(sim->scene, parent, field, node);
    }
    remember(sim, (SimEdit){ .node = node, .is_insert = true });
    sim_keep_fields(sim);
    physics_node_added(sim->physics, node);
    return node;
}

// Where a node stands in its holder: the field, and the index in a list (-1 for a single node).
static bool find_place(const SceneNode *node, SimEdit *edit)
{
    SceneNode *holder = node->parent;
    for (int i = 0; holder && i < holder->field_count; i++) {
        const SceneField *field = &holder->fields[i];
        if (field->type->kind == FIELD_SF_NODE && field->value.node == node) {
            *edit = (SimEdit){ .node = (SceneNode *)node, .holder = holder, .field = field->type->name, .index = -1 };
            return true;
        }
        for (int k = 0; field->type->kind == FIELD_MF_NODE && k < field->value.list->count; k++)
            if (field->value.list->nodes[k] == node) {
                *edit = (SimEdit){ .node = (SceneNode *)node, .holder = holder, .field = field->type->name, .index = k };
                return true;
            }
    }
    return false;
}

bool sim_remove(Sim *sim, SceneNode *node)
{
    SimEdit edit;
    node = node ? scene_instance(node) : NULL;
    if (!node || node->is_removed || !find_place(node, &edit)) {
        diag_error(sim->diags, (SourcePos){ 0 }, "the node to remove is not in the world");
        return false;
    }
    scene_node_remove(sim->scene, node);
    remember(sim, edit);
    sim_keep_fields(sim);
    physics_node_removed(sim->physics, node, edit.holder);
    return true;
}

void sim_field_changed(Sim *sim, SceneNode *node, const char *field)
{
    sim_keep_fields(sim);
    physics_field_changed(sim->physics, node, field);
}
