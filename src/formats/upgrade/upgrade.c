// Brings nodes of old files to the newest schema: the driver, and what all passes share.
#include "formats/upgrade/library_axes.h"
#include "formats/proto/proto.h"
#include "formats/upgrade/upgrade_internal.h"

#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- gathering ----

static void add_node(Upgrade *upgrade, SceneNode *node)
{
    *memory_push(upgrade->nodes, upgrade->count, upgrade->capacity) = node;
}

static void gather(Upgrade *upgrade, SceneNode *node)
{
    if (!node || node->kind == SCENE_NODE_UNKNOWN)
        return;
    if (node->kind == SCENE_NODE_INSTANCE && node->is_upgraded)
        return;
    add_node(upgrade, node);
    if (node->kind == SCENE_NODE_USE)
        return;
    for (int i = 0; i < node->field_count; i++) {
        const SceneField *field = &node->fields[i];
        if (field->parameter_index >= 0)
            continue;  // given by another file
        if (field->type->kind == FIELD_SF_NODE)
            gather(upgrade, field->value.node);
        else if (field->type->kind == FIELD_MF_NODE)
            for (int k = 0; k < field->value.list->count; k++)
                gather(upgrade, field->value.list->nodes[k]);
    }
}

void upgrade_collect(Upgrade *upgrade)
{
    upgrade->count = 0;
    gather(upgrade, upgrade->top);
}

// ---- fields ----

SceneField *upgrade_own(const SceneNode *node, const char *name)
{
    for (int i = 0; i < node->field_count; i++)
        if (!strcmp(node->fields[i].type->name, name))
            return &node->fields[i];
    return NULL;
}

bool upgrade_is_connected(const SceneNode *node, const char *name)
{
    const SceneField *field = upgrade_own(node, name);
    return field && field->parameter_index >= 0;
}

void upgrade_drop(SceneNode *node, SceneField *field)
{
    size_t after = (size_t)(node->fields + node->field_count - (field + 1));
    memmove(field, field + 1, after * sizeof *field);
    node->field_count--;
}

void upgrade_drop_named(SceneNode *node, const char *name)
{
    SceneField *field = upgrade_own(node, name);
    if (field)
        upgrade_drop(node, field);
}

// Children of the value get `node` as their parent.
static void adopt(SceneNode *node, const SceneField *field)
{
    if (field->type->kind == FIELD_SF_NODE && field->value.node)
        field->value.node->parent = node;
    if (field->type->kind == FIELD_MF_NODE)
        for (int i = 0; i < field->value.list->count; i++)
            if (field->value.list->nodes[i])
                field->value.list->nodes[i]->parent = node;
}

// Whether the field of today allows the number that an old one had. A parameter brings its own, now or later.
static bool is_allowed(const FieldType *type, const SceneField *field)
{
    FieldKind kind = field->type->kind;
    if (field->parameter_index >= 0 || (kind != FIELD_SF_INT32 && kind != FIELD_SF_FLOAT))
        return true;
    return schema_allows_number(type->allowed, kind == FIELD_SF_INT32 ? field->value.i : field->value.f, NULL);
}

void upgrade_move(Upgrade *upgrade, SceneNode *from, const char *name, SceneNode *to, const char *new_name)
{
    SceneField *field = upgrade_own(from, name);
    if (!field)
        return;
    SceneField moved = *field;
    upgrade_drop(from, field);
    const FieldType *type = schema_field(to->type, new_name);
    assert(type && type->kind == moved.type->kind);
    if (!is_allowed(type, &moved)) {
        upgrade_warning(upgrade, from, moved.pos, "%s is outside of %s; using the default", name, type->allowed);
        return;
    }
    SceneField *place = scene_field_add(upgrade->scene, to, type, moved.pos);
    moved.type = type;
    *place = moved;
    adopt(to, place);
}

void upgrade_set_type(SceneNode *node, const char *type_name)
{
    const NodeType *type = schema_type(type_name);
    assert(type);
    int kept = 0;
    for (int i = 0; i < node->field_count; i++) {
        const FieldType *field = schema_field(type, node->fields[i].type->name);
        if (field && field->kind != node->fields[i].type->kind)
            field = field->older && field->older->kind == node->fields[i].type->kind ? field->older : NULL;
        if (!field)
            continue;
        node->fields[kept] = node->fields[i];
        node->fields[kept++].type = field;
    }
    node->field_count = (uint16_t)kept;
    node->type = type;
}

// ---- nodes ----

bool upgrade_is_plain(const SceneNode *node, const char *type_name)
{
    return node && node->kind == SCENE_NODE_PLAIN && !strcmp(node->type->name, type_name);
}

bool upgrade_is_pose_only(const SceneNode *node)
{
    return upgrade_is_plain(node, "Pose") || upgrade_is_plain(node, "Transform");
}

SceneNode *upgrade_child(const SceneNode *node, const char *name, const char *type_name)
{
    const SceneField *field = upgrade_own(node, name);
    SceneNode *child = field && field->type->kind == FIELD_SF_NODE ? scene_actual(field->value.node) : NULL;
    return child && schema_type_is(child->type, type_name) ? child : NULL;
}

SceneNode *upgrade_make(Upgrade *upgrade, const char *type_name, SourcePos pos)
{
    return scene_node_create(upgrade->scene, schema_type(type_name), pos);
}

SceneNode *upgrade_split(Upgrade *upgrade, SceneNode *node, const char *type_name)
{
    assert_debug(node->kind == SCENE_NODE_PLAIN && schema_type(type_name));
    SceneNode *inner = scene_node_create(upgrade->scene, node->type, node->pos);
    uint32_t id = inner->id;
    *inner = *node;
    inner->id = id;
    inner->def = NULL;
    inner->parent = node;
    for (int i = 0; i < inner->field_count; i++)
        adopt(inner, &inner->fields[i]);
    if (inner->kind == SCENE_NODE_USE)
        inner->def = node->def;
    scene_extras_move_inside(upgrade->scene, node, inner);
    node->kind = SCENE_NODE_PLAIN;
    node->type = schema_type(type_name);
    node->target = NULL;
    node->proto = NULL;
    node->fields = NULL;
    node->field_count = node->field_capacity = 0;
    return inner;
}

static FieldList *own_list(FieldList *list)
{
    assert(list->capacity > 0);
    return list;
}

bool upgrade_replace(SceneNode *node, SceneNode *other)
{
    assert_debug(node != other);
    SceneNode *holder = node->parent;
    for (int i = 0; holder && i < holder->field_count; i++) {
        SceneField *field = &holder->fields[i];
        if (field->type->kind == FIELD_SF_NODE && field->value.node == node) {
            field->value.node = other;
            other->parent = holder;
            other->in_bounding = node->in_bounding;
            return true;
        }
        if (field->type->kind != FIELD_MF_NODE)
            continue;
        for (int k = 0; k < field->value.list->count; k++) {
            if (field->value.list->nodes[k] != node)
                continue;
            own_list((FieldList *)field->value.list)->nodes[k] = other;
            other->parent = holder;
            other->in_bounding = node->in_bounding;
            return true;
        }
    }
    return false;
}

void upgrade_add_child(Upgrade *upgrade, SceneNode *node, const char *field, SceneNode *child)
{
    scene_list_insert_node(upgrade->scene, node, field, -1, child);
}

SceneNode *upgrade_wrap(Upgrade *upgrade, SceneNode *node, const char *type_name)
{
    SceneNode *outer = upgrade_make(upgrade, type_name, node->pos);
    if (!upgrade_replace(node, outer))
        return NULL;
    upgrade_add_child(upgrade, outer, "children", node);
    return outer;
}

static bool is_used_below(const SceneNode *node, const SceneNode *target)
{
    if (!node)
        return false;
    if (node->kind == SCENE_NODE_USE)
        return node->target == target;
    for (int i = 0; i < node->field_count; i++) {
        const SceneField *field = &node->fields[i];
        if (field->type->kind == FIELD_SF_NODE && is_used_below(field->value.node, target))
            return true;
        for (int k = 0; field->type->kind == FIELD_MF_NODE && k < field->value.list->count; k++)
            if (is_used_below(field->value.list->nodes[k], target))
                return true;
    }
    return false;
}

// A copy must not take over the DEF names of its original: a USE that follows would mean the copy. Names that it needs
// itself are changed.
static void rename_defs(Upgrade *upgrade, SceneNode *node, SceneNode *top)
{
    if (!node)
        return;
    if (node->kind == SCENE_NODE_USE) {
        node->def = node->target->def ? node->target->def : node->def;
        return;
    }
    if (node->def)
        node->def = is_used_below(top, node) ? arena_printf(scene_arena(upgrade->scene), "%s_%u", node->def, node->id)
                                             : NULL;
    for (int i = 0; i < node->field_count; i++) {
        const SceneField *field = &node->fields[i];
        if (field->type->kind == FIELD_SF_NODE)
            rename_defs(upgrade, field->value.node, top);
        for (int k = 0; field->type->kind == FIELD_MF_NODE && k < field->value.list->count; k++)
            rename_defs(upgrade, field->value.list->nodes[k], top);
    }
}

SceneNode *upgrade_copy(Upgrade *upgrade, const SceneNode *node)
{
    SceneNode *copy = scene_node_clone(upgrade->scene, node);
    rename_defs(upgrade, copy, copy);
    return copy;
}

SceneNode *upgrade_own_child(Upgrade *upgrade, SceneNode *node, const char *name, const char *type_name)
{
    assert_debug(schema_type(type_name));
    if (!upgrade_child(node, name, type_name) || upgrade_is_connected(node, name))
        return NULL;
    SceneNode *child = upgrade_own(node, name)->value.node;
    if (child->kind == SCENE_NODE_PLAIN)
        return child;
    if (child->kind != SCENE_NODE_USE || !child->target || child->target->kind != SCENE_NODE_PLAIN)
        return NULL;
    SceneNode *copy = upgrade_copy(upgrade, child->target);
    upgrade_replace(child, copy);
    return copy;
}

// ---- values ----

static double tidy_number(double value)
{
    double nearest = nearbyint(value);
    return fabs(value - nearest) < 1e-13 ? nearest + 0.0 : value;
}

Vec3 upgrade_tidy_vector(Vec3 v) { return vec3(tidy_number(v.x), tidy_number(v.y), tidy_number(v.z)); }

Rotation upgrade_tidy(Quat q)
{
    Rotation r = quat_to_rotation(q);
    r.x = tidy_number(r.x);
    r.y = tidy_number(r.y);
    r.z = tidy_number(r.z);
    double quarters = r.angle / UPGRADE_QUARTER;
    if (fabs(quarters - nearbyint(quarters)) < 1e-13)
        r.angle = nearbyint(quarters) * UPGRADE_QUARTER;
    // People write a quarter turn back about x, not forth about -x.
    if (r.x + r.y + r.z < 0.0 && (r.x == -1.0 || r.y == -1.0 || r.z == -1.0))
        r = (Rotation){ -r.x + 0.0, -r.y + 0.0, -r.z + 0.0, -r.angle };
    return r;
}

// Of a turn by quarters, whose numbers are whole ones.
Mat3 upgrade_matrix(Quat q)
{
    Mat3 matrix = mat3_from_quat(q);
    for (int i = 0; i < 9; i++)
        matrix.m[i] = tidy_number(matrix.m[i]);
    return matrix;
}

Quat upgrade_quarter_x(int quarters) { return quat_from_axis_angle(vec3(1, 0, 0), quarters * UPGRADE_QUARTER); }

Quat upgrade_quarter_z(int quarters) { return quat_from_axis_angle(vec3(0, 0, 1), quarters * UPGRADE_QUARTER); }

// ---- messages ----

static void report(Upgrade *upgrade, bool is_warning, const SceneNode *node, SourcePos pos, const char *text)
{
    if (is_warning)
        diag_warning(upgrade->diags, pos, "%s", text);
    else
        diag_note(upgrade->diags, pos, "%s", text);
    diag_node(upgrade->diags, scene_node_path(node, scene_arena(upgrade->scene)));
}

void upgrade_note(Upgrade *upgrade, const SceneNode *node, SourcePos pos, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    report(upgrade, false, node, pos, text);
}

void upgrade_warning(Upgrade *upgrade, const SceneNode *node, SourcePos pos, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    report(upgrade, true, node, pos, text);
}

// ---- the trip ----

void upgrade_name_pose(SceneNode *node)
{
    if (!upgrade_is_plain(node, "Transform") || upgrade_is_connected(node, "scale")
        || !vec3_is_equal(scene_vec3(node, "scale"), vec3(1, 1, 1)))
        return;
    upgrade_drop_named(node, "scale");
    upgrade_set_type(node, "Pose");
}

// An old world places PROTOs that came with Webots in the axes of its time; those of today have z up and look along x.
// `proto` is in today's axes, `release` is that of the file that holds the instance.
static void turn_library_instances(Upgrade *upgrade)
{
    assert(upgrade->release < RELEASE_R2022A);
    Quat turn = quat_mul(upgrade_quarter_x(-1), upgrade_quarter_z(1));
    for (int i = 0; i < upgrade->count; i++) {
        SceneNode *node = upgrade->nodes[i];
        if (node->kind != SCENE_NODE_INSTANCE || !node->proto || node->proto->release < RELEASE_R2022A)
            continue;
        const char *origin = node->proto->origin ? node->proto->origin : "";
        if (!strcmp(origin, "library"))
            library_axes_turn(upgrade, node);
        if (strcmp(origin, "cache"))
            continue;
        for (int k = 0; k < node->proto->parameter_count; k++) {
            const FieldType *parameter = &node->proto->parameters[k];
            if (strcmp(parameter->name, "rotation") || parameter->kind != FIELD_SF_ROTATION)
                continue;
            const SceneField *field = upgrade_own(node, "rotation");
            const double *v = field ? field->value.v : parameter->value.v;
            Quat q = quat_from_rotation((Rotation){ v[0], v[1], v[2], v[3] });
            Rotation turned = upgrade_tidy(quat_mul(q, turn));
            scene_turn_rotation(upgrade->scene, node, "rotation", QUAT_IDENTITY, turn);
            scene_set_value(upgrade->scene, node, parameter,
                            (FieldValue){ .v = { turned.x, turned.y, turned.z, turned.angle } });
        }
    }
}

// Whether the world, or a PROTO in it, is of a release in which contacts were a matter of Physics.
static bool has_old_files(const Upgrade *upgrade)
{
    bool is_old = upgrade->release && upgrade->release < RELEASE_V7;
    for (int i = 0; i < proto_count(upgrade->scene) && !is_old; i++)
        is_old = proto_at(upgrade->scene, i)->release && proto_at(upgrade->scene, i)->release < RELEASE_V7;
    return is_old;
}

static void upgrade_all(Upgrade *upgrade)
{
    upgrade_collect(upgrade);
    upgrade_rename(upgrade);
    if (upgrade->release < RELEASE_V7)
        upgrade_physics(upgrade);
    if (upgrade->release < RELEASE_R2022A) {
        upgrade_collect(upgrade);
        upgrade_robots(upgrade);
        upgrade_collect(upgrade);
        upgrade_axes(upgrade);
        turn_library_instances(upgrade);
    }
    if (upgrade->release < RELEASE_R2023B) {
        upgrade_collect(upgrade);
        upgrade_scale(upgrade);
        upgrade_collect(upgrade);
    }
    for (int i = 0; i < upgrade->count; i++) {
        upgrade_name_pose(upgrade->nodes[i]);
        upgrade->nodes[i]->is_upgraded = true;
    }
    if (upgrade->top == scene_root(upgrade->scene) && has_old_files(upgrade))
        upgrade_contacts(upgrade);
}

void upgrade_nodes(Scene *scene, SceneNode *top, int release, DiagSink *diags)
{
    if (!top || (top->is_upgraded && top->kind != SCENE_NODE_INSTANCE))
        return;
    Upgrade upgrade = { .scene = scene, .diags = diags, .release = release, .top = top };
    upgrade_all(&upgrade);
    free(upgrade.nodes);
}

FieldValue upgrade_value(Scene *scene, const FieldType *type, FieldValue value, int release, DiagSink *diags)
{
    if (field_kind_item(type->kind) != FIELD_SF_NODE)
        return value;
    // A holder, so that nodes can be wrapped: a field for one node, or a list.
    bool is_list = field_kind_is_list(type->kind);
    bool is_bounding = strstr(type->name, "ounding") != NULL;
    SceneNode *holder = scene_node_create(scene,
                                          schema_type(is_bounding && !is_list ? "Solid"
                                                      : is_list               ? "Group"
                                                                              : "Slot"),
                                          (SourcePos){ 0 });
    const char *name = is_list ? "children" : is_bounding ? "boundingObject" : "endPoint";
    const FieldType *field = schema_field(holder->type, name);
    scene_set_value(scene, holder, field, value);
    upgrade_nodes(scene, holder, release, diags);
    value = scene_value(holder, field);
    holder->is_removed = true;
    return value;
}
