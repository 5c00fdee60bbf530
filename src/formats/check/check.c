// Goes through a scene and reports what stands where it must not.
#include "formats/check/check_internal.h"

#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- messages ----

static void add_path(Check *check, const SceneNode *node)
{
    diag_node(check->diags, scene_node_path(node, scene_arena(check->scene)));
}

void check_error(Check *check, const SceneNode *node, SourcePos pos, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    diag_error(check->diags, pos, "%s", text);
    add_path(check, node);
}

void check_warning(Check *check, const SceneNode *node, SourcePos pos, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    diag_warning(check->diags, pos, "%s", text);
    add_path(check, node);
}

// ---- changing ----

static void put(SceneNode *holder, const FieldType *type, const SceneNode *node, SceneNode *other)
{
    assert_debug(holder && type);
    for (int i = 0; i < holder->field_count; i++) {
        SceneField *field = &holder->fields[i];
        if (field->type != type)
            continue;
        if (type->kind == FIELD_SF_NODE && field->value.node == node)
            field->value.node = other;
        for (int k = 0; type->kind == FIELD_MF_NODE && k < field->value.list->count; k++)
            if (field->value.list->nodes[k] == node)
                ((FieldList *)field->value.list)->nodes[k] = other;
        other->parent = holder;
        other->in_bounding = node->in_bounding;
        other->in_proto = node->in_proto;
    }
}

void check_forbid(Check *check, SceneNode *holder, const FieldType *field, SceneNode *node)
{
    const char *name = node->kind == SCENE_NODE_INSTANCE ? node->proto->name : node->type ? node->type->name : "USE";
    SceneNode *kept = scene_node_create_unknown(check->scene, name, "", node->pos);
    kept->target = node;
    put(holder, field, node, kept);
}

// ---- positions ----

static bool is_root_only(const NodeType *type)
{
    return !strcmp(type->name, "WorldInfo") || !strcmp(type->name, "Viewpoint") || !strcmp(type->name, "Background")
           || !strcmp(type->name, "Fog");
}

static bool is_at_root(const Check *check, const Place *place) { return place->holder == scene_root(check->scene); }

// Whether the field takes this type at all. Reports it and puts the node aside when not.
static bool fits_field(Check *check, SceneNode *node, const NodeType *type, const Place *place)
{
    assert_debug(place->field);
    if (is_root_only(type)) {
        if (is_at_root(check, place))
            return true;
        check_error(check, node, node->pos, "%s stands at the root of a world; here it is ignored", type->name);
    } else if (schema_allows_type(place->field->allowed, type)) {
        return true;
    } else if (type->flags & NODE_VRML97) {
        check_warning(check, node, node->pos, "%s is a node of VRML97 files; in a world it is ignored", type->name);
    } else if (place->in_bounding
               && (!strcmp(place->field->name, "boundingObject") || !strcmp(place->field->name, "children"))) {
        return true;  // check_bounding says more
    } else if (!strcmp(type->name, "SolidReference")) {
        check_error(
            check, node, node->pos,
            "a SolidReference stands in the endPoint of a joint or among the bones of a Skin; here it is ignored");
    } else {
        check_error(check, node, node->pos, "%s cannot stand in %s of %s; it is ignored", type->name,
                    place->field->name, place->holder->type->name);
        if (!strcmp(place->field->name, "children") && schema_type_is(type, "Device") && !schema_type_is(type, "Solid"))
            diag_hint(check->diags, "a %s belongs into the device list of a joint", type->name);
    }
    check_forbid(check, place->holder, place->field, node);
    return false;
}

static void check_position(Check *check, const SceneNode *node, const Place *place)
{
    assert_debug(node->type);
    const NodeType *type = node->type;
    bool is_solid = schema_type_is(type, "Solid"), is_joint = schema_type_is(type, "Joint");
    bool is_propeller = !strcmp(type->name, "Propeller");
    if (place->scaled && (is_solid || is_joint || is_propeller))
        check_error(check, node, node->pos,
                    "%s must not stand inside of a Transform with scale; the scale does not reach it", type->name);
    if ((is_joint || is_propeller) && !place->solid)
        check_error(check, node, node->pos, "%s needs a Solid above it; it does nothing", type->name);
    if (!strcmp(type->name, "TrackWheel") && !schema_type_is(place->holder->type, "Track"))
        check_error(check, node, node->pos,
                    "a TrackWheel stands among the children of a Track; here it is only looked at");
    if ((type->flags & NODE_DEVICE) && !place->robot && strcmp(type->name, "Connector"))
        check_warning(check, node, node->pos, "%s is a device but not inside of a Robot: no controller can reach it",
                      type->name);
    if (type->flags & NODE_EXPERIMENTAL)
        check_warning(check, node, node->pos, "%s is a device that nothing simulates: its program gets no data",
                      type->name);
}

// What must not be in two places at once.
static bool is_single(const NodeType *type)
{
    static const char *const types[] = { "Solid",      "Joint",     "Device", "JointParameters",
                                         "TrackWheel", "Propeller", "Fluid",  "Skin" };
    for (int i = 0; i < COUNT_OF(types); i++)
        if (schema_type_is(type, types[i]))
            return true;
    return false;
}

static int64_t count_below(const SceneNode *node)
{
    int64_t count = 1;
    for (int i = 0; i < node->field_count; i++) {
        const SceneField *field = &node->fields[i];
        if (field->type->kind == FIELD_SF_NODE && field->value.node)
            count += count_below(field->value.node);
        for (int k = 0; field->type->kind == FIELD_MF_NODE && k < field->value.list->count; k++)
            count += field->value.list->nodes[k] ? count_below(field->value.list->nodes[k]) : 0;
    }
    return count;
}

// A USE of something that has a body or a state of its own becomes a copy. Returns it, or NULL when it stays. Nobody
// holds a node that is imported yet.
static SceneNode *copy_single(Check *check, SceneNode *use, const NodeType *type, const Place *place)
{
    assert_debug(use->kind == SCENE_NODE_USE && use->target);
    enum { COPIED_MAX = 1000000 };
    if (!is_single(type) || place->in_bounding)
        return NULL;
    check->copied += count_below(use->target);
    if (check->copied > COPIED_MAX) {
        check_error(check, use, use->pos, "USE of a %s: too much to copy; it is ignored", type->name);
        if (place->holder)
            check_forbid(check, place->holder, place->field, use);
        return NULL;
    }
    check_warning(check, use, use->pos, "USE of a %s, which can only be in one place; it becomes a copy", type->name);
    SceneNode *copy = scene_node_clone(check->scene, use->target);
    copy->def = NULL;
    if (place->holder)
        put(place->holder, place->field, use, copy);
    return copy;
}

typedef void ChildVisit(Check *check, SceneNode *child, const Place *place);

// Each node in the fields of `node`, with where it stands; `place` is that of the node itself. A visit may put another
// node into its place.
static void visit_children(Check *check, SceneNode *node, Place place, ChildVisit *visit)
{
    assert_debug(node && node->type);
    const bool in_bounding = place.in_bounding;
    place.holder = node;
    for (int i = 0; i < node->field_count; i++) {
        const SceneField *field = &node->fields[i];
        place.field = field->type;
        place.in_bounding = in_bounding || !strcmp(field->type->name, "boundingObject");
        if (field->type->kind == FIELD_SF_NODE && field->value.node)
            visit(check, field->value.node, &place);
        for (int k = 0; field->type->kind == FIELD_MF_NODE && k < node->fields[i].value.list->count; k++)
            if (node->fields[i].value.list->nodes[k])
                visit(check, node->fields[i].value.list->nodes[k], &place);
    }
}

// ---- what is imported ----

// A USE becomes a copy where it must; returns what stands there now.
static SceneNode *copy_singles(Check *check, SceneNode *node, const Place *place);

static void copy_singles_of_child(Check *check, SceneNode *child, const Place *place)
{
    copy_singles(check, child, place);
}

static SceneNode *copy_singles(Check *check, SceneNode *node, const Place *place)
{
    SceneNode *actual = scene_actual(node);
    if (!actual)
        return node;
    SceneNode *copy = node->kind == SCENE_NODE_USE ? copy_single(check, node, actual->type, place) : NULL;
    if (copy || node->kind != SCENE_NODE_USE)
        visit_children(check, copy ? scene_actual(copy) : actual, *place, copy_singles_of_child);
    return copy ? copy : node;
}

SceneNode *check_imported(Scene *scene, SceneNode *node, bool in_bounding, DiagSink *diags)
{
    Check check = { .scene = scene, .diags = diags };
    return copy_singles(&check, node, &(Place){ .in_bounding = in_bounding });
}

// ---- the walk ----

static void check_node(Check *check, SceneNode *node, const Place *place);
static void check_below(Check *check, SceneNode *node, const Place *place);

static bool was_seen(const Check *check, const SceneNode *node)
{
    return node->id / 8 < (uint32_t)check->seen_capacity && check->seen[node->id / 8] >> (node->id % 8) & 1;
}

static void mark_seen(Check *check, const SceneNode *node)
{
    int before = check->seen_capacity;
    memory_grow(&check->seen, &check->seen_capacity, (int)(node->id / 8) + 1, 1);  // copies have later ids
    memset(check->seen + before, 0, (size_t)(check->seen_capacity - before));
    check->seen[node->id / 8] |= (uint8_t)(1u << (node->id % 8));
}

static void check_child(Check *check, SceneNode *child, const Place *place)
{
    SceneNode *actual = scene_actual(child);
    if (!actual || !fits_field(check, child, actual->type, place))
        return;
    if (child->kind == SCENE_NODE_USE) {
        SceneNode *copy = copy_single(check, child, actual->type, place);
        // What it names was checked where it stands, unless it stands nowhere: in a field that is no longer.
        if (!copy && (!check->seen || was_seen(check, actual)))
            return;
        actual = copy ? scene_actual(copy) : actual;
    }
    check_node(check, actual, place);
}

static void check_node(Check *check, SceneNode *node, const Place *place)
{
    if (check->seen)
        mark_seen(check, node);
    check_rules(check, node, place);
    if (!place->in_bounding) {
        check_position(check, node, place);
        check_names_add(check, node, place);
    }
    check_below(check, node, place);
}

static bool has_scale(const SceneNode *node)
{
    const FieldType *scale = schema_field(node->type, "scale");
    if (!scale || strcmp(node->type->name, "Transform"))
        return false;
    FieldValue value = scene_value(node, scale);
    return value.v[0] != 1.0 || value.v[1] != 1.0 || value.v[2] != 1.0;
}

// What stands below a node has it above.
static void place_below(Place *place, SceneNode *node)
{
    if (schema_type_is(node->type, "Solid")) {
        place->solid = node;
        place->scaled = NULL;
    }
    if (schema_type_is(node->type, "Robot"))
        place->robot = node;
    if (!strcmp(node->type->name, "Transform") && has_scale(node))
        place->scaled = node;
}

static void check_below(Check *check, SceneNode *node, const Place *above)
{
    assert_debug(node->type);
    Place place = *above;
    place_below(&place, node);
    visit_children(check, node, place, check_child);
    if (schema_type_is(node->type, "Solid") || !strcmp(node->type->name, "Fluid"))
        check_bounding(check, node);
}

// ---- nodes that come into a running world ----

// Below `holder`, an actual node or NULL, and all that is above it.
static Place place_in(SceneNode *holder)
{
    if (!holder)
        return (Place){ 0 };
    Place place = place_in(scene_parent(holder));
    place_below(&place, holder);
    place.holder = holder;
    return place;
}

bool formats_check_node(Scene *scene, SceneNode *node, SceneNode *parent, bool in_bounding, DiagSink *diags)
{
    assert(node && parent);
    SceneNode *actual = scene_actual(node);
    if (!actual || node->kind == SCENE_NODE_USE)
        return true;  // what it names was checked where it stands
    Check check = { .scene = scene, .diags = diags };
    Place place = place_in(scene_actual(parent));
    place.in_bounding = in_bounding;
    check_node(&check, actual, &place);
    check_names_report(&check);
    free(check.names);
    return !in_bounding || check_bounding_item(&check, node, place.solid);
}

// ---- the root ----

// Exactly one of these stands at the root; one that is missing is made.
static void check_one(Check *check, const char *type_name, int index_when_made)
{
    assert(index_when_made >= -1);
    SceneNode *root = scene_root(check->scene);
    const FieldList *children = scene_list(root, "children");
    const SceneNode *found = NULL;
    for (int i = 0; i < children->count; i++) {
        const SceneNode *node = scene_actual(children->nodes[i]);
        if (!node || strcmp(node->type->name, type_name))
            continue;
        if (found) {
            check_warning(check, node, node->pos, "a world has one %s; this one is ignored", type_name);
            check_forbid(check, root, schema_field(root->type, "children"), children->nodes[i]);
        } else {
            found = node;
        }
    }
    if (found)
        return;
    SourcePos whole = { .file = diag_file(check->diags, scene_path(check->scene)) };
    // Nothing that is simulated depends on where a viewer stands.
    if (!strcmp(type_name, "Viewpoint"))
        diag_note(check->diags, whole, "the world has no Viewpoint; one with default values is used");
    else
        diag_warning(check->diags, whole, "the world has no %s; one with default values is used", type_name);
    SceneNode *made = scene_node_create(check->scene, schema_type(type_name), whole);
    int release = scene_release(check->scene);
    if (!strcmp(type_name, "WorldInfo") && release && release < 2020100)
        scene_set_string(check->scene, made, "coordinateSystem", "NUE");
    scene_list_insert_node(check->scene, root, "children", index_when_made, made);
}

void formats_check(Scene *scene, DiagSink *diags)
{
    Check check = { .scene = scene, .diags = diags };
    mark_seen(&check, scene_root(scene));
    check_one(&check, "WorldInfo", 0);
    check_one(&check, "Viewpoint", -1);
    SceneNode *root = scene_root(scene);
    Place place = { .holder = root };
    check_below(&check, root, &place);
    check_names_report(&check);
    free(check.names);
    free(check.seen);
}
