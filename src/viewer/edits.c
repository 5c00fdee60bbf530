// edits.c - the tree of nodes and the fields of each, made from the rows of the schema; changes of them with the checks
// of the reader; undo and redo. A step of undo is a pair of acts, so both ways are the same acts that people do.
#include "viewer/viewer_internal.h"

#include "base/file.h"
#include "base/memory.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS_SHOWN = 500, CHILDREN_SHOWN = 20000 };

// ---- nodes ----

// A node that an undo made again has another number.
static uint32_t renamed(const Viewer *viewer, uint32_t id)
{
    assert_debug(viewer->rename_count <= COUNT_OF(viewer->renames));
    for (int i = 0; i < viewer->rename_count; i++)
        if (viewer->renames[i].from == id)
            id = viewer->renames[i].to;
    return id;
}

SceneNode *viewer_node(const Viewer *viewer, uint32_t id)
{
    Scene *scene = sim_scene(viewer->sim);
    uint32_t number = renamed(viewer, id);
    SceneNode *node = number == 0 ? scene_root(scene) : scene_find_id(scene, number);
    return node && !scene_node_is_gone(node) ? node : NULL;
}

const char *edit_find_node(Act *act, SceneNode **node)
{
    assert(act->viewer->sim);
    int64_t id;
    if (!json_member_int(act->message, "node", 0, UINT32_MAX, &id))
        return "node wants the number of a node";
    *node = viewer_node(act->viewer, (uint32_t)id);
    return *node ? NULL : "there is no such node any more";
}

static const char *type_name(const SceneNode *node)
{
    assert_debug(node->kind != SCENE_NODE_INSTANCE || node->proto);
    if (node->kind == SCENE_NODE_INSTANCE)
        return node->proto->name;
    return node->type ? node->type->name : "unknown";
}

// The fields that people see of a node: parameters of a PROTO instance, else those of its type.
static const FieldType *shown_fields(const SceneNode *node, int *count)
{
    if (node->kind == SCENE_NODE_INSTANCE) {
        *count = node->proto->parameter_count;
        return node->proto->parameters;
    }
    *count = node->kind == SCENE_NODE_PLAIN && node->type ? node->type->field_count : 0;
    return *count ? node->type->fields : NULL;
}

static bool is_shown(const FieldType *type) { return type->class == FIELD_PLAIN || type->class == FIELD_UNCONNECTED; }

const FieldType *edit_find_field(const SceneNode *node, const char *name)
{
    int count;
    const FieldType *fields = shown_fields(node, &count);
    for (int i = 0; name && i < count; i++)
        if (!strcmp(fields[i].name, name))
            return &fields[i];
    return NULL;
}

// ---- the tree ----

static int child_count(const SceneNode *node)
{
    assert_debug(node->field_count >= 0);
    int total = 0;
    for (int i = 0; i < node->field_count && node->kind != SCENE_NODE_USE; i++) {
        const SceneField *field = &node->fields[i];
        if (field->type->kind == FIELD_SF_NODE)
            total += field->value.node != NULL;
        else if (field->type->kind == FIELD_MF_NODE)
            total += field->value.list->count;
    }
    return total;
}

static void write_child(Act *act, const SceneNode *node, const char *field, int index)
{
    assert(node && index >= -1);
    JsonWriter *json = act->answer;
    const SceneNode *actual = scene_actual(node);
    const Physics *physics = sim_physics(act->viewer->sim);
    int solid = actual ? physics_solid_of(physics, actual) : -1;
    int joint = actual ? physics_joint_of(physics, actual) : -1;
    json_begin_object(json, NULL);
    json_int(json, "node", node->id);
    json_string(json, "type", type_name(node));
    if (actual && node->kind == SCENE_NODE_INSTANCE)
        json_string(json, "base", actual->type->name);
    if (node->kind == SCENE_NODE_USE)
        json_bool(json, "use", true);
    json_string(json, "def", node->def);
    if (actual && schema_field(actual->type, "name") && schema_field(actual->type, "name")->kind == FIELD_SF_STRING)
        json_string(json, "name", scene_string(actual, "name"));
    json_string(json, "field", field);
    json_int(json, "index", index);
    json_int(json, "count", child_count(node));
    if (solid >= 0)
        json_int(json, "solid", solid);
    if (joint >= 0)
        json_int(json, "joint", joint);
    json_end_object(json);
}

const char *act_children(Act *act)
{
    SceneNode *node;
    const char *error = edit_find_node(act, &node);
    if (error)
        return error;
    int left = CHILDREN_SHOWN;
    json_begin_array(act->answer, "nodes");
    for (int i = 0; i < node->field_count && node->kind != SCENE_NODE_USE; i++) {
        const SceneField *field = &node->fields[i];
        if (field->type->kind == FIELD_SF_NODE && field->value.node && left-- > 0)
            write_child(act, field->value.node, field->type->name, -1);
        for (int k = 0; field->type->kind == FIELD_MF_NODE && k < field->value.list->count && left-- > 0; k++)
            write_child(act, field->value.list->nodes[k], field->type->name, k);
    }
    json_end_array(act->answer);
    return NULL;
}

// ---- the inspector ----

static bool is_node_kind(FieldKind kind) { return field_kind_item(kind) == FIELD_SF_NODE; }

static const char *value_text(Act *act, const SceneNode *node, const FieldType *type, bool *is_cut)
{
    FieldValue value = scene_value(node, type);
    *is_cut = field_kind_is_list(type->kind) && value.list->count > ITEMS_SHOWN;
    if (*is_cut)
        return arena_printf(act->viewer->arena, "[%d values]", value.list->count);
    if (type->kind == FIELD_SF_NODE)
        return value.node ? type_name(value.node) : "NULL";
    if (type->kind == FIELD_MF_NODE)
        return arena_printf(act->viewer->arena, "[%d node%s]", value.list->count, value.list->count == 1 ? "" : "s");
    Text text = { 0 };
    formats_write_value(sim_scene(act->viewer->sim), type->kind, &value, &text);
    const char *kept = arena_text(act->viewer->arena, text.data ? text.data : "", text.length);
    text_free(&text);
    return kept;
}

// Whether the value follows the motion of the world.
static bool is_live(const SceneNode *node, const FieldType *type)
{
    static const char *const names[] = { "translation", "rotation", "position", "linearVelocity", "angularVelocity" };
    bool moves = scene_node_is(node, "Solid") || scene_node_is(node, "JointParameters");
    for (int i = 0; moves && i < COUNT_OF(names); i++)
        if (!strcmp(type->name, names[i]))
            return true;
    return false;
}

static void write_row(Act *act, const SceneNode *node, const FieldType *type)
{
    JsonWriter *json = act->answer;
    bool is_cut;
    const SceneField *given = NULL;
    for (int i = 0; i < node->field_count; i++)
        if (node->fields[i].type == type)
            given = &node->fields[i];
    SourcePos pos = given ? given->pos : node->pos;
    json_begin_object(json, NULL);
    json_string(json, "field", type->name);
    json_string(json, "type", field_kind_name(type->kind));
    json_string(json, "text", value_text(act, node, type, &is_cut));
    json_string(json, "default", type->preset ? type->preset : "");
    json_string(json, "unit", type->unit);
    json_string(json, "help", type->help);
    json_string(json, "allowed", type->allowed);
    json_string(json, "file", diag_file_name(act->viewer->diags, pos.file));
    json_int(json, "line", pos.line);
    json_bool(json, "live", is_live(node, type));
    json_bool(json, "given", given != NULL);
    json_bool(json, "editable", !is_cut && !is_node_kind(type->kind) && !node->in_proto);
    json_end_object(json);
}

const char *act_fields(Act *act)
{
    SceneNode *node;
    const char *error = edit_find_node(act, &node);
    if (error)
        return error;
    if (node->kind == SCENE_NODE_USE && node->target)
        node = node->target;
    int count;
    const FieldType *fields = shown_fields(node, &count);
    sim_sync_scene(act->viewer->sim);
    json_string(act->answer, "type", type_name(node));
    json_string(act->answer, "def", node->def);
    json_string(act->answer, "help", node->type ? node->type->help : NULL);
    json_string(act->answer, "file", diag_file_name(act->viewer->diags, node->pos.file));
    json_int(act->answer, "line", node->pos.line);
    json_begin_array(act->answer, "rows");
    for (int i = 0; i < count; i++)
        if (is_shown(&fields[i]))
            write_row(act, node, &fields[i]);
    json_end_array(act->answer);
    return NULL;
}

// ---- changes ----

// What the reader said about a text that it did not take. What it would use instead is left out: here nothing is used.
static const char *trouble_since(Act *act, int first)
{
    assert(first >= 0 && first <= diag_count(act->viewer->diags));
    static const DiagSeverity severities[] = { DIAG_ERROR, DIAG_WARNING };
    const DiagSink *diags = act->viewer->diags;
    for (int k = 0; k < COUNT_OF(severities); k++)
        for (int i = first; i < diag_count(diags); i++) {
            const char *message = diag_at(diags, i)->message, *remedy = strstr(message, "; using ");
            if (diag_at(diags, i)->severity == severities[k])
                return arena_printf(act->viewer->arena, "%.*s", (int)(remedy ? remedy - message : INT_MAX), message);
        }
    return "that could not be done (it was said before why)";
}

void edit_begin(Act *act) { sim_sync_scene(act->viewer->sim); }

void edit_end(Act *act, bool changes_model)
{
    Viewer *viewer = act->viewer;
    viewer->has_edited = viewer->is_dirty = true;
    if (changes_model)
        session_forget_snapshots(viewer);
    if (viewer->world.devices && !viewer->world.control)
        devices_rescan(viewer->world.devices);
}

const char *edit_quoted(Act *act, const char *text)
{
    assert(text);
    Text out = { 0 };
    JsonWriter json = { .out = &out, .compact = true };
    json_string(&json, NULL, text);
    const char *kept = arena_text(act->viewer->arena, out.data, out.length);
    text_free(&out);
    return kept;
}

static const char *set_text(Act *act, uint32_t node, const char *field, const char *text)
{
    return arena_printf(act->viewer->arena, "{\"do\":\"set\",\"node\":%u,\"field\":%s,\"text\":%s}", node,
                        edit_quoted(act, field), edit_quoted(act, text));
}

const char *edit_read_value(Act *act, const SceneNode *node, const FieldType *type, const char *text, FieldValue *value)
{
    assert(node && type && text && value);
    Sim *sim = act->viewer->sim;
    int said = diag_count(act->viewer->diags), errors = diag_total(act->viewer->diags, DIAG_ERROR);
    int warnings = diag_total(act->viewer->diags, DIAG_WARNING);
    const char *whole = arena_printf(act->viewer->arena, "%s { %s %s\n}", type_name(node), type->name, text);
    const FieldList *nodes = formats_parse_nodes(sim_scene(sim), whole, strlen(whole), false, act->viewer->diags);
    if (diag_total(act->viewer->diags, DIAG_ERROR) > errors || diag_total(act->viewer->diags, DIAG_WARNING) > warnings)
        return trouble_since(act, said);
    const SceneNode *made = nodes && nodes->count == 1 ? nodes->nodes[0] : NULL;
    const FieldType *found = made ? edit_find_field(made, type->name) : NULL;
    if (!made || strcmp(type_name(made), type_name(node)) || !found || found->kind != type->kind
        || made->field_count > 1)
        return "the text is not one value";
    *value = scene_value(made, found);
    return NULL;
}

// A field gets a value, read as if it stood in a file; one that is refused leaves the world as it was.
const char *act_set(Act *act)
{
    Viewer *viewer = act->viewer;
    SceneNode *node;
    const char *text = json_member_string(act->message, "text"), *error = edit_find_node(act, &node);
    if (error)
        return error;
    const FieldType *type = edit_find_field(node, json_member_string(act->message, "field"));
    if (!type)
        return "there is no such field";
    if (is_node_kind(type->kind))
        return "nodes are inserted and deleted";
    if (node->in_proto)
        return "this is inside of a PROTO; its parameters can be changed";
    if (!text)
        return "text wants the new value";
    edit_begin(act);
    bool is_cut;
    const char *before = value_text(act, node, type, &is_cut);
    FieldValue value;
    if ((error = edit_read_value(act, node, type, text, &value)))
        return error;
    uint64_t model = sim_model_hash(viewer->sim);
    sim_set_value(viewer->sim, node, type, value);
    edit_end(act, model != sim_model_hash(viewer->sim));
    if (!is_cut)
        undo_add(viewer, set_text(act, node->id, type->name, before), set_text(act, node->id, type->name, text), 0);
    json_string(act->answer, "text", value_text(act, node, type, &is_cut));
    return NULL;
}

static const char *delete_text(Act *act, uint32_t node)
{
    return arena_printf(act->viewer->arena, "{\"do\":\"delete\",\"node\":%u}", node);
}

static const char *insert_text(Act *act, uint32_t parent, const char *field, int index, const char *text)
{
    return arena_printf(act->viewer->arena, "{\"do\":\"insert\",\"node\":%u,\"field\":%s,\"index\":%d,\"text\":%s}",
                        parent, edit_quoted(act, field), index, edit_quoted(act, text));
}

static const char *insert(Act *act, SceneNode *parent, const char *field, int index, const char *text, SceneNode **made)
{
    assert(parent && !parent->in_proto && index >= -1);
    int said = diag_count(act->viewer->diags);
    edit_begin(act);
    *made = sim_insert(act->viewer->sim, parent, field, index, text, strlen(text));
    edit_end(act, true);
    if (!*made)
        return trouble_since(act, said);
    act->viewer->made_node = (*made)->id;
    json_int(act->answer, "node", (*made)->id);
    undo_add(act->viewer, delete_text(act, (*made)->id), insert_text(act, parent->id, field, index, text), 0);
    return NULL;
}

const char *act_insert(Act *act)
{
    SceneNode *parent, *made;
    int64_t index = -1;
    const char *field = json_member_string(act->message, "field"), *text = json_member_string(act->message, "text");
    const char *error = edit_find_node(act, &parent);
    if (error)
        return error;
    json_member_int(act->message, "index", -1, INT32_MAX, &index);
    if (!field || !text)
        return "insert wants a field and the text of a node";
    if (parent->in_proto)
        return "this is inside of a PROTO; its parameters can be changed";
    return insert(act, parent, field, (int)index, text, &made);
}

static const char *node_text(Act *act, const SceneNode *node)
{
    Text text = { 0 };
    formats_write_node(sim_scene(act->viewer->sim), node, &text);
    const char *kept = arena_text(act->viewer->arena, text.data ? text.data : "", text.length);
    text_free(&text);
    return kept;
}

const char *act_delete(Act *act)
{
    Viewer *viewer = act->viewer;
    SceneNode *node;
    const char *field, *error = edit_find_node(act, &node);
    int index;
    if (error)
        return error;
    if (!node->parent || scene_node_is(node, "WorldInfo") || scene_node_is(node, "Viewpoint"))
        return "a world keeps its WorldInfo and Viewpoint";
    if (node->in_proto || !scene_node_place(node, &field, &index))
        return "this is inside of a PROTO; its parameters can be changed";
    edit_begin(act);
    const char *text = node_text(act, node);
    uint32_t parent = node->parent->id, id = node->id;
    int said = diag_count(viewer->diags);
    bool is_removed = sim_remove(viewer->sim, node);
    edit_end(act, true);
    if (!is_removed)
        return trouble_since(act, said);
    viewer->drag = (Drag){ 0 };
    undo_add(viewer, insert_text(act, parent, field, index, text), delete_text(act, id), 0);
    return NULL;
}

static const char *without_def(const char *text)
{
    if (strncmp(text, "DEF ", 4))
        return text;
    const char *after = strchr(text + 4, ' ');
    return after ? after + 1 : text;
}

const char *act_duplicate(Act *act)
{
    Viewer *viewer = act->viewer;
    SceneNode *node, *made;
    const char *field, *error = edit_find_node(act, &node);
    int index;
    if (error)
        return error;
    if (!node->parent || node->in_proto || !scene_node_place(node, &field, &index) || index < 0)
        return "only a node of a list can be duplicated";
    sim_sync_scene(viewer->sim);
    const SceneNode *actual = scene_actual(node);
    const char *name = NULL;
    if (actual && scene_node_is(actual, "Solid"))
        name = arena_string(viewer->arena, formats_free_name(sim_scene(viewer->sim), node->parent,
                                                             scene_string(actual, "name"), viewer->arena));
    if ((error = insert(act, node->parent, field, index + 1, without_def(node_text(act, node)), &made)))
        return error;
    const FieldType *type = name ? edit_find_field(made, "name") : NULL;
    if (type && type->kind == FIELD_SF_STRING)
        sim_set_value(viewer->sim, made, type, (FieldValue){ .s = name });
    if (name)
        json_string(act->answer, "name", name);
    return NULL;
}

const char *act_save(Act *act)
{
    Viewer *viewer = act->viewer;
    const char *asked = json_member_string(act->message, "path"), *world = scene_path(sim_scene(viewer->sim));
    const char *path = world;
    if (asked) {
        if (*asked == '/' || strstr(asked, "..") || !text_ends_with(asked, ".wbt"))
            return "the path wants to be a name below the world's folder that ends with .wbt";
        path = path_join(viewer->arena, path_directory(viewer->arena, world), asked);
    }
    if (!*path || (!asked && !text_ends_with(path, ".wbt")))
        return "give a name that ends with .wbt";
    int said = diag_count(viewer->diags);
    // A run that repeats acts does what a save does to the world, and leaves the files alone.
    if (!sim_save(viewer->sim, act->client ? path : NULL))
        return trouble_since(act, said);
    json_string(act->answer, "path", path);
    return NULL;
}

// ---- undo ----

static void free_step(UndoStep *step)
{
    assert_debug(step->undo && step->redo);
    free(step->undo);
    free(step->redo);
    *step = (UndoStep){ 0 };
}

void session_forget_undo(Viewer *viewer)
{
    for (int i = 0; i < viewer->undo_count; i++)
        free_step(&viewer->undo[i]);
    viewer->undo_count = viewer->undo_at = viewer->rename_count = 0;
}

void undo_add(Viewer *viewer, const char *undo, const char *redo, uint64_t drag)
{
    assert(undo && redo && viewer->undo_at >= 0 && viewer->undo_at <= viewer->undo_count);
    if (viewer->is_undoing)
        return;
    while (viewer->undo_count > viewer->undo_at)
        free_step(&viewer->undo[--viewer->undo_count]);
    UndoStep *last = viewer->undo_count > 0 ? &viewer->undo[viewer->undo_count - 1] : NULL;
    if (last && drag && last->drag == drag) {
        free(last->redo);
        last->redo = memory_string(redo);
        return;
    }
    if (viewer->undo_count == VIEWER_UNDO_MAX) {
        free_step(&viewer->undo[0]);
        memmove(viewer->undo, viewer->undo + 1, sizeof viewer->undo - sizeof viewer->undo[0]);
        viewer->undo_count--;
    }
    viewer->undo[viewer->undo_count++] = (UndoStep){ memory_string(undo), memory_string(redo), drag };
    viewer->undo_at = viewer->undo_count;
}

// The number under which the other half of a step knows the node that has just been made again.
static void remember_rename(Viewer *viewer, const char *other)
{
    assert(viewer->rename_count >= 0);
    const char *place = strstr(other, "\"delete\",\"node\":");
    if (!place || !viewer->made_node || viewer->rename_count == COUNT_OF(viewer->renames))
        return;
    uint32_t old = renamed(viewer, (uint32_t)strtoul(place + strlen("\"delete\",\"node\":"), NULL, 10));
    if (old != viewer->made_node)
        viewer->renames[viewer->rename_count++] = (NodeRename){ old, viewer->made_node };
}

static const char *do_again(Act *act, const char *text, const char *other)
{
    assert(!act->viewer->is_undoing);  // an undo of an undo is a redo
    Viewer *viewer = act->viewer;
    const JsonValue *message = json_parse(viewer->arena, text, strlen(text), NULL);
    const ActType *type = act_type(json_member_string(message, "do"));
    Act again = *act;
    again.message = message;
    viewer->made_node = 0;
    viewer->is_undoing = true;
    const char *error = type->run(&again);
    viewer->is_undoing = false;
    if (!error)
        remember_rename(viewer, other);
    json_int(act->answer, "undo", viewer->undo_at);
    return error;
}

const char *act_undo(Act *act)
{
    assert(act->viewer->undo_at <= act->viewer->undo_count);
    Viewer *viewer = act->viewer;
    if (viewer->undo_at == 0)
        return "there is nothing to undo";
    const UndoStep *step = &viewer->undo[--viewer->undo_at];
    return do_again(act, step->undo, step->redo);
}

const char *act_redo(Act *act)
{
    assert(act->viewer->undo_at <= act->viewer->undo_count);
    Viewer *viewer = act->viewer;
    if (viewer->undo_at == viewer->undo_count)
        return "there is nothing to redo";
    const UndoStep *step = &viewer->undo[viewer->undo_at++];
    return do_again(act, step->redo, step->undo);
}
