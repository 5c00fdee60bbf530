// resize.c - how large geometries and Transforms are, and acts that change it: handles in the picture. Which fields say
// the size of a node, and how, is a table. New values go through the reader's checks and take effect as any edit does,
// in what is seen and in what collides; a drag is one step of undo.
#include "viewer/viewer_internal.h"

#include "record/meta.h"

#include <math.h>
#include <string.h>

enum { SIZES_MAX = 64, SIZE_FIELDS = 3, SIZE_DEPTH_MAX = 64 };

// How a field follows from the size (x, y, z in m; of a Transform the scale itself).
typedef enum SizeRule {
    SIZE_NONE,
    SIZE_WHOLE,     // a vector of it
    SIZE_HALF_X,    // a radius
    SIZE_Z,         // a height
    SIZE_Z_LESS_X,  // the height of a Capsule, without its caps
    SIZE_SPACING_X,
    SIZE_SPACING_Y,
    SIZE_HEIGHTS,  // a list of heights, stretched
    SIZE_POINTS,   // a list of points, stretched
} SizeRule;

typedef struct SizeRow {
    const char *type, *handles;  // which sides have their own: "xyz", "xy", "round" (x and y are one), "all" (all are)
    struct {
        const char *name;
        SizeRule rule;
    } fields[SIZE_FIELDS];
} SizeRow;

static const SizeRow rows[] = {
    { "Box", "xyz", { { "size", SIZE_WHOLE } } },
    { "Sphere", "all", { { "radius", SIZE_HALF_X } } },
    { "Cylinder", "round", { { "radius", SIZE_HALF_X }, { "height", SIZE_Z } } },
    { "Capsule", "round", { { "radius", SIZE_HALF_X }, { "height", SIZE_Z_LESS_X } } },
    { "Cone", "round", { { "bottomRadius", SIZE_HALF_X }, { "height", SIZE_Z } } },
    { "Plane", "xy", { { "size", SIZE_WHOLE } } },
    { "ElevationGrid",
      "xyz",
      { { "xSpacing", SIZE_SPACING_X }, { "ySpacing", SIZE_SPACING_Y }, { "height", SIZE_HEIGHTS } } },
    { "Coordinate", "xyz", { { "point", SIZE_POINTS } } },
    { "Transform", "xyz", { { "scale", SIZE_WHOLE } } },
};

static const SizeRow *row_of(const SceneNode *node)
{
    for (int i = 0; node && node->type && i < COUNT_OF(rows); i++)
        if (!strcmp(node->type->name, rows[i].type))
            return &rows[i];
    return NULL;
}

// ---- how large it is ----

static double list_extent(const FieldList *list, int width, int axis)
{
    assert(width > 0 && axis >= 0 && axis < width);
    double low = INFINITY, high = -INFINITY;
    for (int i = axis; i < list->count * width; i += width) {
        low = fmin(low, list->numbers[i]);
        high = fmax(high, list->numbers[i]);
    }
    return high > low ? high - low : 0.0;
}

static double grid_cells(const SceneNode *grid, const char *dimension)
{
    return int_max(scene_int(grid, dimension) - 1, 1);
}

static Vec3 size_of(const SceneNode *node, const SizeRow *row)
{
    assert(row && row == row_of(node));
    Vec3 size = VEC3_ZERO;
    for (int i = 0; i < SIZE_FIELDS && row->fields[i].name; i++) {
        const FieldType *type = schema_field(node->type, row->fields[i].name);
        FieldValue value = scene_value(node, type);
        switch (row->fields[i].rule) {
        case SIZE_WHOLE: size = vec3(value.v[0], value.v[1], type->kind == FIELD_SF_VEC3F ? value.v[2] : 0.0); break;
        case SIZE_HALF_X: size.x = size.y = size.z = 2.0 * value.f; break;
        case SIZE_Z: size.z = value.f; break;
        case SIZE_Z_LESS_X: size.z = value.f + size.x; break;
        case SIZE_SPACING_X: size.x = value.f * grid_cells(node, "xDimension"); break;
        case SIZE_SPACING_Y: size.y = value.f * grid_cells(node, "yDimension"); break;
        case SIZE_HEIGHTS: size.z = list_extent(value.list, 1, 0); break;
        case SIZE_POINTS:
            size = vec3(list_extent(value.list, 3, 0), list_extent(value.list, 3, 1), list_extent(value.list, 3, 2));
            break;
        case SIZE_NONE: break;
        }
    }
    return size;
}

// ---- which sizes there are of a solid ----

typedef struct Sized {
    const SceneNode *node;
    const char *type;  // as people call it: of points the set that has them
    bool is_seen, is_bounding;
    Pose pose;  // in the solid's frame
} Sized;

typedef struct SizeList {
    const Physics *physics;
    Sized items[SIZES_MAX];
    int count;
} SizeList;

// Where a node stands, and how much larger what is below it is.
typedef struct Frame {
    Pose pose;
    Vec3 scale;
} Frame;

static void add_size(SizeList *list, const SceneNode *node, const char *type, bool is_bounding, Frame frame)
{
    assert(row_of(node) && list->count <= SIZES_MAX);
    if (node->in_proto)
        return;
    int place = 0;
    while (place < list->count && list->items[place].node != node)
        place++;
    if (place == SIZES_MAX)
        return;
    if (place == list->count)
        list->items[list->count++] = (Sized){ .node = node, .type = type, .pose = frame.pose };
    list->items[place].is_seen |= !is_bounding;
    list->items[place].is_bounding |= is_bounding;
}

static void list_sizes(SizeList *list, const SceneNode *node, bool is_bounding, Frame frame, int depth)
{
    assert_debug(depth >= 0);
    node = scene_actual(node);
    if (!node || !node->type || node->is_removed || depth > SIZE_DEPTH_MAX)
        return;
    if (scene_node_is(node, "Shape")) {
        list_sizes(list, scene_child(node, "geometry"), is_bounding, frame, depth + 1);
        return;
    }
    if (schema_field(node->type, "coord")) {
        const SceneNode *points = scene_child(node, "coord");
        if (points && row_of(points))
            add_size(list, points, node->type->name, is_bounding, frame);
        return;
    }
    if (scene_node_is(node, "Pose")) {
        if (physics_solid_of(list->physics, node) >= 0 && depth > 0)
            return;  // a solid of its own
        if (depth > 0) {
            Pose local = scene_pose(node);
            local.t = vec3(local.t.x * frame.scale.x, local.t.y * frame.scale.y, local.t.z * frame.scale.z);
            frame.pose = pose_mul(frame.pose, local);
        }
    }
    if (row_of(node))
        add_size(list, node, node->type->name, is_bounding, frame);
    if (scene_node_is(node, "Transform")) {
        Vec3 scale = scene_vec3(node, "scale");
        frame.scale = vec3(frame.scale.x * scale.x, frame.scale.y * scale.y, frame.scale.z * scale.z);
    }
    const FieldList *children = schema_field(node->type, "children") ? scene_list(node, "children") : NULL;
    for (int i = 0; children && i < children->count; i++)
        list_sizes(list, children->nodes[i], is_bounding, frame, depth + 1);
    if (schema_field(node->type, "boundingObject"))
        list_sizes(list, scene_child(node, "boundingObject"), true, frame, depth + 1);
}

static void write_size(JsonWriter *json, const char *key, const double *numbers, int count)
{
    json_begin_array(json, key);
    for (int i = 0; i < count; i++)
        json_double(json, NULL, numbers[i]);
    json_end_array(json);
}

static const char *word_of(const Sized *sized)
{
    return sized->is_seen && sized->is_bounding ? "both" : sized->is_bounding ? "bounding" : "seen";
}

// What of a solid can be resized: the forms of its shapes and of its bounding object, and Transforms around them.
const char *act_sizes(Act *act)
{
    const Physics *physics = sim_physics(act->viewer->sim);
    SceneNode *node;
    const char *error = edit_find_node(act, &node);
    if (error)
        return error;
    int solid = physics_solid_of(physics, scene_actual(node));
    if (solid < 0)
        return "this is no solid";
    SizeList list = { .physics = physics };
    list_sizes(&list, node, false, (Frame){ POSE_IDENTITY, vec3(1, 1, 1) }, 0);
    json_begin_array(act->answer, "sizes");
    for (int i = 0; i < list.count; i++) {
        const Sized *sized = &list.items[i];
        Pose pose = sized->pose;
        Vec3 size = size_of(sized->node, row_of(sized->node));
        json_begin_object(act->answer, NULL);
        json_int(act->answer, "node", sized->node->id);
        json_string(act->answer, "type", sized->type);
        json_string(act->answer, "for", word_of(sized));
        json_string(act->answer, "handles", row_of(sized->node)->handles);
        write_size(act->answer, "size", (const double[3]){ size.x, size.y, size.z }, 3);
        write_size(act->answer, "position", (const double[3]){ pose.t.x, pose.t.y, pose.t.z }, 3);
        write_size(act->answer, "rotation", (const double[4]){ pose.q.x, pose.q.y, pose.q.z, pose.q.w }, 4);
        json_end_object(act->answer);
    }
    json_end_array(act->answer);
    return NULL;
}

// ---- changing it ----

static void add_stretched(Text *out, const FieldList *list, int width, Vec3 by)
{
    assert(width == 1 || width == 3);
    const double factors[3] = { by.x, by.y, by.z };
    text_add_char(out, '[');
    for (int i = 0; i < list->count * width; i++) {
        text_add_char(out, ' ');
        text_add_double(out, list->numbers[i] * (width == 1 ? by.z : factors[i % width]));
    }
    text_add_char(out, ']');
}

// The text of a field for the size, as a file would have it.
static const char *text_for(Act *act, const SceneNode *node, const char *name, SizeRule rule, Vec3 size, Vec3 was)
{
    assert(schema_field(node->type, name) && rule != SIZE_NONE);
    Text out = { 0 };
    const FieldType *type = schema_field(node->type, name);
    FieldValue value = scene_value(node, type);
    Vec3 by = vec3(was.x > 0.0 ? size.x / was.x : 1.0, was.y > 0.0 ? size.y / was.y : 1.0,
                   was.z > 0.0 ? size.z / was.z : 1.0);
    const double numbers[3] = { size.x, size.y, size.z };
    switch (rule) {
    case SIZE_WHOLE:
        for (int i = 0; i < field_kind_doubles(type->kind); i++) {
            text_add_string(&out, i ? " " : "");
            text_add_double(&out, numbers[i]);
        }
        break;
    case SIZE_HALF_X: text_add_double(&out, 0.5 * size.x); break;
    case SIZE_Z: text_add_double(&out, size.z); break;
    case SIZE_Z_LESS_X: text_add_double(&out, size.z - size.x); break;
    case SIZE_SPACING_X: text_add_double(&out, size.x / grid_cells(node, "xDimension")); break;
    case SIZE_SPACING_Y: text_add_double(&out, size.y / grid_cells(node, "yDimension")); break;
    case SIZE_HEIGHTS: add_stretched(&out, value.list, 1, by); break;
    case SIZE_POINTS: add_stretched(&out, value.list, 3, by); break;
    case SIZE_NONE: break;
    }
    const char *kept = arena_text(act->viewer->arena, out.data ? out.data : "", out.length);
    text_free(&out);
    return kept;
}

static const char *text_now(Act *act, const SceneNode *node, const FieldType *type)
{
    Text out = { 0 };
    FieldValue value = scene_value(node, type);
    formats_write_value(sim_scene(act->viewer->sim), type->kind, &value, &out);
    const char *kept = arena_text(act->viewer->arena, out.data ? out.data : "", out.length);
    text_free(&out);
    return kept;
}

typedef struct Resized {
    const FieldType *types[SIZE_FIELDS];
    const char *before[SIZE_FIELDS], *after[SIZE_FIELDS];
    FieldValue values[SIZE_FIELDS];
    int count;
} Resized;

// Exact texts, as undo has them; or a size, of which they follow.
static const char *read_size(Act *act, const SceneNode *node, const SizeRow *row, Resized *to)
{
    assert(to->count == 0);
    const JsonValue *fields = json_member(act->message, "fields");
    double numbers[3];
    Vec3 was = size_of(node, row);
    bool has_size = json_member_numbers(act->message, "size", numbers, 3);
    for (int i = 0; has_size && i < 3; i++)
        if (!(numbers[i] >= 0.0) || !(numbers[i] < LIMIT_COORDINATE))
            return "a size wants three numbers that are not negative";
    if (!has_size && (!fields || fields->kind != JSON_OBJECT))
        return "size wants three numbers";
    for (int i = 0; i < SIZE_FIELDS && row->fields[i].name; i++) {
        const FieldType *type = edit_find_field(node, row->fields[i].name);
        const char *text = has_size ? text_for(act, node, row->fields[i].name, row->fields[i].rule,
                                               vec3(numbers[0], numbers[1], numbers[2]), was)
                                    : json_member_string(fields, row->fields[i].name);
        if (!type || !text)
            continue;
        to->types[to->count] = type;
        to->before[to->count] = text_now(act, node, type);
        to->after[to->count] = text;
        const char *error = edit_read_value(act, node, type, text, &to->values[to->count]);
        if (error)
            return error;
        to->count++;
    }
    return to->count > 0 ? NULL : "fields wants texts of those that say the size";
}

static const char *resize_text(Act *act, uint32_t node, const Resized *sized, const char *const *texts)
{
    assert(sized->count > 0 && sized->count <= SIZE_FIELDS);
    const char *all = "";
    for (int i = 0; i < sized->count; i++)
        all = arena_printf(act->viewer->arena, "%s%s%s:%s", all, i ? "," : "", edit_quoted(act, sized->types[i]->name),
                           edit_quoted(act, texts[i]));
    return arena_printf(act->viewer->arena, "{\"do\":\"resize\",\"node\":%u,\"fields\":{%s}}", node, all);
}

// One size for a node at the rest of a drag: what is seen is sent now and then until it is released.
const char *act_resize(Act *act)
{
    Viewer *viewer = act->viewer;
    SceneNode *node;
    const char *error = edit_find_node(act, &node);
    if (error)
        return error;
    const SizeRow *row = node->kind == SCENE_NODE_PLAIN ? row_of(node) : NULL;
    if (!row)
        return "this has no size of its own";
    if (node->in_proto)
        return "this is inside of a PROTO; its parameters can be changed";
    if ((error = act_refuse_locked(act, meta_solid_above(sim_physics(viewer->sim), node))))
        return error;
    edit_begin(act);
    Resized sized = { .count = 0 };
    if ((error = read_size(act, node, row, &sized)))
        return error;
    uint64_t model = sim_model_hash(viewer->sim);
    for (int i = 0; i < sized.count; i++)
        sim_set_value(viewer->sim, node, sized.types[i], sized.values[i]);
    edit_end(act, model != sim_model_hash(viewer->sim));
    bool is_held = json_member_bool(act->message, "hold", false);
    if (!is_held || viewer->sized_node != node->id)
        viewer->drag_serial++;
    viewer->sized_node = is_held ? node->id : 0;
    viewer->has_edited = !is_held;
    viewer->slid_joint = 0;
    viewer->drag = (Drag){ 0 };  // one hand at a time
    undo_add(viewer, resize_text(act, node->id, &sized, sized.before), resize_text(act, node->id, &sized, sized.after),
             viewer->drag_serial);
    Vec3 size = size_of(node, row);
    write_size(act->answer, "size", (const double[3]){ size.x, size.y, size.z }, 3);
    return NULL;
}
