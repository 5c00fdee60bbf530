// The change of axes in R2022a.
//
// Round forms, planes and grids (GEOMETRY_STOOD_ALONG_Y) stood along y and stand along z now. A Shape (or a geometry in
// a bounding object) of an old file gets a quarter turn about x: into the Pose that holds it alone, or else into a Pose
// of its own. A Shape with a DEF name becomes that Pose itself, so that each USE of it is turned too; a geometry that
// is USEd stays as it is and each place that uses it is turned. Nothing is turned twice: every Shape and every place of
// a geometry is met once.
//
// Cameras and such looked along -z, emitters and such along z; they look along x now. Their rotation takes up the turn
// and everything inside them is turned back.
#include "formats/upgrade/upgrade_internal.h"

#include "assets/geometry.h"

#include <string.h>

static bool is_upright(const SceneNode *node)
{
    const GeometryType *form = node && node->type ? geometry_type(node->type->name) : NULL;
    return form && form->traits & GEOMETRY_STOOD_ALONG_Y;
}

static void set_rotation(Upgrade *upgrade, SceneNode *node, const char *field, Quat q)
{
    Rotation turn = upgrade_tidy(q);
    if (turn.angle == 0.0 && !upgrade_is_connected(node, field))
        upgrade_drop_named(node, field);
    else
        scene_set_rotation(upgrade->scene, node, field, turn);
}

// ---- geometry ----

// Heights ran along +z with y up, and run along +y with z up: turned, the rows come from the other side.
static void reverse_rows(Upgrade *upgrade, SceneNode *grid)
{
    assert_debug(schema_type_is(grid->type, "ElevationGrid"));
    if (grid->is_upgraded)
        return;
    grid->is_upgraded = true;
    upgrade_move(upgrade, grid, "zDimension", grid, "yDimension");
    upgrade_move(upgrade, grid, "zSpacing", grid, "ySpacing");
    if (upgrade_is_connected(grid, "height") || upgrade_is_connected(grid, "xDimension")
        || upgrade_is_connected(grid, "yDimension")) {
        upgrade_warning(upgrade, grid, grid->pos,
                        "heights that come from parameters keep their order; rows are mirrored");
        return;
    }
    int64_t columns = scene_int(grid, "xDimension"), rows = scene_int(grid, "yDimension");
    const FieldList *old = scene_list(grid, "height");
    if (columns < 1 || rows < 2 || old->count == 0)
        return;
    // Rows that are missing at the end are 0, so the list may grow; but not beyond what it stands for.
    int64_t cells = columns * rows;
    if (cells > limits_default.heightfield_cells)
        return;
    FieldList *list = arena_alloc(scene_arena(upgrade->scene), sizeof *list);
    scene_list_reserve(upgrade->scene, list, FIELD_SF_FLOAT, (int)cells);
    list->count = (int)cells;
    for (int64_t row = 0; row < rows; row++)
        for (int64_t column = 0; column < columns; column++) {
            int64_t from = (rows - 1 - row) * columns + column;
            list->numbers[row * columns + column] = from < old->count ? old->numbers[from] : 0.0;
        }
    upgrade_own(grid, "height")->value.list = list;
}

// What takes the geometry of today to where it was: a turn, and for grids a shift.
static Pose old_place(Upgrade *upgrade, SceneNode *geometry)
{
    assert_debug(schema_type_is(geometry->type, "Geometry"));
    Pose pose = { VEC3_ZERO, upgrade_quarter_x(-1) };
    if (!strcmp(geometry->type->name, "ElevationGrid")) {
        reverse_rows(upgrade, geometry);
        int rows = scene_int(geometry, "yDimension");
        if (rows > 1)
            pose.t.z = (rows - 1) * scene_float(geometry, "ySpacing");
    }
    return pose;
}

static void set_place(Upgrade *upgrade, SceneNode *pose, Pose place)
{
    if (vec3_length2(place.t) > 0.0)
        scene_set_vec3(upgrade->scene, pose, "translation", place.t);
    set_rotation(upgrade, pose, "rotation", place.q);
}

static bool may_turn(const SceneNode *pose)
{
    static const char *const fields[] = { "translation", "rotation", "scale", "children" };
    if (!upgrade_is_pose_only(pose) || scene_list(pose, "children")->count != 1)
        return false;
    for (int i = 0; i < COUNT_OF(fields); i++)
        if (upgrade_is_connected(pose, fields[i]))
            return false;
    return true;
}

// The pose takes up the place of its only child: its scale then acts on axes that have changed their names.
static void turn_holder(Upgrade *upgrade, SceneNode *pose, Pose place)
{
    assert_debug(schema_type_is(pose->type, "Pose"));
    Pose own = scene_pose(pose);
    Vec3 scale = upgrade_own(pose, "scale") ? scene_vec3(pose, "scale") : vec3(1, 1, 1);
    if (upgrade_own(pose, "scale"))
        scene_set_vec3(upgrade->scene, pose, "scale", vec3(scale.x, scale.z, scale.y));
    if (schema_field(pose->type, "scale"))
        scene_turn_vector(upgrade->scene, pose, "scale", upgrade_matrix(upgrade_quarter_x(1)), true);
    scene_turn_rotation(upgrade->scene, pose, "rotation", QUAT_IDENTITY, place.q);
    if (vec3_length2(place.t) > 0.0)
        scene_set_vec3(upgrade->scene, pose, "translation",
                       vec3_add(own.t, quat_rotate(own.q, vec3_mul(scale, place.t))));
    set_rotation(upgrade, pose, "rotation", quat_mul(own.q, place.q));
}

static void turn_shape(Upgrade *upgrade, SceneNode *shape)
{
    assert_debug(schema_field(shape->type, "geometry"));
    if (!upgrade_own(shape, "geometry") || upgrade_is_connected(shape, "geometry"))
        return;
    SceneNode *geometry = scene_child(shape, "geometry");
    if (!is_upright(geometry))
        return;
    Pose place = old_place(upgrade, geometry);
    if (!shape->def && may_turn(shape->parent)) {
        turn_holder(upgrade, shape->parent, place);
        return;
    }
    SceneNode *inner = upgrade_split(upgrade, shape, "Pose");
    shape->is_inserted = true;
    set_place(upgrade, shape, place);
    upgrade_add_child(upgrade, shape, "children", inner);
}

// A geometry, or the USE of one, that stands by itself in a bounding object.
static void turn_geometry(Upgrade *upgrade, SceneNode *node, SceneNode *geometry)
{
    assert_debug(geometry);
    if (may_turn(node->parent)) {
        turn_holder(upgrade, node->parent, old_place(upgrade, geometry));
        return;
    }
    Pose place = old_place(upgrade, geometry);
    SceneNode *pose = upgrade_wrap(upgrade, node, "Pose");
    if (pose)
        pose->is_inserted = true;
    if (pose)
        set_place(upgrade, pose, place);
    else
        upgrade_warning(upgrade, node, node->pos, "this %s stands along y in its old file and cannot be turned here",
                        geometry->type->name);
}

static void turn_occurrence(Upgrade *upgrade, SceneNode *node)
{
    if (upgrade_is_plain(node, "Shape")) {
        turn_shape(upgrade, node);
        return;
    }
    if (node->kind == SCENE_NODE_INSTANCE)
        return;
    SceneNode *geometry = node->kind == SCENE_NODE_USE ? node->target : node;
    while (geometry && geometry->kind == SCENE_NODE_USE)
        geometry = geometry->target;
    if (!geometry || geometry->kind != SCENE_NODE_PLAIN || !is_upright(geometry) || !node->parent)
        return;
    bool is_in_shape = node->parent->kind == SCENE_NODE_PLAIN && schema_type_is(node->parent->type, "Shape");
    if (!is_in_shape)
        turn_geometry(upgrade, node, geometry);
}

// ---- devices ----

// Type, and the quarter turns about x and z whose product is the change of its axes.
static const struct DeviceRow {
    const char *type;
    int x, z;
} device_rows[] = {
    { "Camera", -1, 1 },     { "RangeFinder", -1, 1 },  { "Lidar", -1, 1 },    { "Radar", -1, 1 },
    { "Pen", -1, 0 },        { "Track", -1, 0 },        { "Emitter", -1, -1 }, { "Receiver", -1, -1 },
    { "Connector", -1, -1 }, { "TouchSensor", -1, -1 },
};

static const struct DeviceRow *find_device(const SceneNode *node)
{
    for (int i = 0; i < COUNT_OF(device_rows); i++)
        if (upgrade_is_plain(node, device_rows[i].type))
            return &device_rows[i];
    return NULL;
}

static bool can_turn_back(const SceneNode *node)
{
    if (node->kind != SCENE_NODE_PLAIN || !schema_type_is(node->type, "Pose"))
        return false;
    return !node->def || schema_type_is(node->type, "Solid");
}

static void turn_back(Upgrade *upgrade, SceneNode *node, Quat back)
{
    if (can_turn_back(node)) {
        Pose own = scene_pose(node);
        if (vec3_length2(own.t) > 0.0)
            scene_set_vec3(upgrade->scene, node, "translation", mat3_apply(upgrade_matrix(back), own.t));
        set_rotation(upgrade, node, "rotation", quat_mul(back, own.q));
        scene_turn_vector(upgrade->scene, node, "translation", upgrade_matrix(back), false);
        scene_turn_rotation(upgrade->scene, node, "rotation", back, QUAT_IDENTITY);
        return;
    }
    SceneNode *pose = upgrade_wrap(upgrade, node, "Pose");
    if (!pose)
        return;
    pose->is_inserted = true;
    set_rotation(upgrade, pose, "rotation", back);
}

// Wheels of a Track are placed in its plane, whose axes have turned with it; their frames were those of the Track.
static void turn_track_wheel(Upgrade *upgrade, SceneNode *wheel)
{
    scene_turn_rotation(upgrade->scene, wheel, "rotation", upgrade_quarter_x(1), QUAT_IDENTITY);
    if (!upgrade_own(wheel, "rotation"))
        return;
    Quat q = quat_mul(upgrade_quarter_x(1), quat_from_rotation(scene_rotation(wheel, "rotation")));
    scene_set_rotation(upgrade->scene, wheel, "rotation", upgrade_tidy(q));
}

static void turn_children(Upgrade *upgrade, SceneNode *node, Quat back)
{
    const SceneField *field = upgrade_own(node, "children");
    for (int i = 0; field && field->parameter_index < 0 && i < field->value.list->count; i++) {
        SceneNode *child = field->value.list->nodes[i];
        if (!child || child->kind == SCENE_NODE_UNKNOWN || scene_node_is(child, "Sphere"))
            continue;
        if (upgrade_is_plain(child, "TrackWheel"))
            turn_track_wheel(upgrade, child);
        else
            turn_back(upgrade, child, back);
    }
}

static void turn_bounding(Upgrade *upgrade, SceneNode *node, Quat back)
{
    SceneNode *bounding = upgrade_own(node, "boundingObject") ? scene_child(node, "boundingObject") : NULL;
    if (!bounding || upgrade_is_connected(node, "boundingObject") || schema_type_is(bounding->type, "Sphere"))
        return;
    if (upgrade_is_plain(bounding, "Group")) {
        SceneNode *group = upgrade_own_child(upgrade, node, "boundingObject", "Group");
        if (group)
            turn_children(upgrade, group, back);
        return;
    }
    SceneNode *held = upgrade_own(node, "boundingObject")->value.node;
    if (upgrade_is_pose_only(bounding) && !can_turn_back(held)) {
        // A Pose must not stand in a Pose here: a copy of this one is turned.
        if (held->kind == SCENE_NODE_PLAIN) {
            turn_back(upgrade, held, back);  // others may use it, but it is defined here
            return;
        }
        SceneNode *copy = upgrade_copy(upgrade, bounding);
        upgrade_replace(held, copy);
        held = copy;
    }
    turn_back(upgrade, held, back);
}

static void turn_physics(Upgrade *upgrade, SceneNode *node, Quat back)
{
    const SceneNode *given = upgrade_child(node, "physics", "Physics");
    if (!given || (scene_list(given, "centerOfMass")->count == 0 && scene_list(given, "inertiaMatrix")->count != 2))
        return;
    SceneNode *physics = upgrade_own_child(upgrade, node, "physics", "Physics");
    if (!physics || upgrade_is_connected(physics, "centerOfMass") || upgrade_is_connected(physics, "inertiaMatrix"))
        return;
    if (scene_list(physics, "centerOfMass")->count > 0) {
        double *v = scene_list_edit(upgrade->scene, physics, "centerOfMass")->numbers;
        Vec3 center = mat3_apply(upgrade_matrix(back), vec3(v[0], v[1], v[2]));
        memcpy(v, &center, sizeof center);
    }
    if (scene_list(physics, "inertiaMatrix")->count == 2) {
        double *v = scene_list_edit(upgrade->scene, physics, "inertiaMatrix")->numbers;
        Mat3 turn = upgrade_matrix(back);
        Mat3 inertia = { { v[0], v[3], v[4], v[3], v[1], v[5], v[4], v[5], v[2] } };
        inertia = mat3_mul(mat3_mul(turn, inertia), mat3_transposed(turn));
        const double turned[] = { inertia.m[0], inertia.m[4], inertia.m[8], inertia.m[1], inertia.m[2], inertia.m[5] };
        memcpy(v, turned, sizeof turned);
    }
}

static void turn_device(Upgrade *upgrade, SceneNode *node, const struct DeviceRow *row)
{
    assert_debug(schema_type_is(node->type, row->type));
    Quat turn = quat_mul(upgrade_quarter_x(row->x), upgrade_quarter_z(row->z));
    Quat back = quat_conj(turn);
    set_rotation(upgrade, node, "rotation", quat_mul(quat_from_rotation(scene_rotation(node, "rotation")), turn));
    scene_turn_rotation(upgrade->scene, node, "rotation", QUAT_IDENTITY, turn);
    turn_children(upgrade, node, back);
    turn_bounding(upgrade, node, back);
    turn_physics(upgrade, node, back);
    if (!strcmp(row->type, "Track") && upgrade_own(node, "animatedGeometry")
        && !upgrade_is_connected(node, "animatedGeometry")) {
        SceneNode *piece = upgrade_own(node, "animatedGeometry")->value.node;
        if (piece)
            turn_back(upgrade, piece, back);
    }
}

static void turn_viewpoint(Upgrade *upgrade, SceneNode *node)
{
    Quat turn = quat_mul(upgrade_quarter_x(-1), upgrade_quarter_z(1));
    scene_turn_rotation(upgrade->scene, node, "orientation", QUAT_IDENTITY, turn);
    set_rotation(upgrade, node, "orientation", quat_mul(quat_from_rotation(scene_rotation(node, "orientation")), turn));
}

// Friction that depends on the direction goes by the axes of the shapes, which other releases named differently.
static void keep_directions(Upgrade *upgrade, SceneNode *node)
{
    static const char *const fields[] = { "coulombFriction", "forceDependentSlip" };
    for (int i = 0; i < COUNT_OF(fields); i++)
        if (upgrade_is_connected(node, fields[i]) || scene_list(node, fields[i])->count > 1) {
            scene_set_bool(upgrade->scene, node, "oldDirections", true);
            return;
        }
}

void upgrade_axes(Upgrade *upgrade)
{
    assert(upgrade->release < RELEASE_R2022A);
    for (int i = 0; i < upgrade->count; i++)
        turn_occurrence(upgrade, upgrade->nodes[i]);
    for (int i = 0; i < upgrade->count; i++) {
        SceneNode *node = upgrade->nodes[i];
        const struct DeviceRow *row = find_device(node);
        if (row)
            turn_device(upgrade, node, row);
        else if (upgrade_is_plain(node, "Viewpoint"))
            turn_viewpoint(upgrade, node);
        else if (upgrade_is_plain(node, "ContactProperties"))
            keep_directions(upgrade, node);
    }
}
