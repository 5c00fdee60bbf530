// Nodes that come and go while the world runs.
#include "sim/sim_internal.h"

#include "base/memory.h"

static void remember(Sim *sim, SimEdit edit)
{
    memory_grow(&sim->edits, &sim->edit_capacity, sim->edit_count + 1, sizeof(SimEdit));
    sim->edits[sim->edit_count++] = edit;
}

SceneNode *sim_insert(Sim *sim, SceneNode *parent, const char *field, int index, const char *text, size_t size)
{
    const FieldType *type = parent && parent->type ? schema_field(parent->type, field) : NULL;
    if (!type || (type->kind != FIELD_MF_NODE && type->kind != FIELD_SF_NODE)) {
        diag_error(sim->diags, (SourcePos){ 0 }, "there is no field '%s' that holds nodes", field);
        return NULL;
    }
    const FieldList *nodes = formats_parse_nodes(sim->scene, text, size, sim->diags);
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
    if (!node || node->is_removed || !find_place(node, &edit)) {
        diag_error(sim->diags, (SourcePos){ 0 }, "the node to remove is not in the world");
        return false;
    }
    physics_node_removed(sim->physics, node);
    scene_node_remove(sim->scene, node);
    remember(sim, edit);
    return true;
}

void sim_field_changed(Sim *sim, SceneNode *node, const char *field)
{
    physics_field_changed(sim->physics, node, field);
}
