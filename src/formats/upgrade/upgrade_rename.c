// What changed its name or its form and nothing else: rows of old names, and a function where a row cannot say it.
#include "formats/upgrade/upgrade_internal.h"

#include <math.h>
#include <string.h>

// ---- values of one field ----

typedef void (*FieldUpgrade)(Upgrade *upgrade, SceneNode *node, SceneField *field);

// Gives a field of an older form its value in the form of today.
static void set_current(SceneNode *node, SceneField *field, FieldValue value)
{
    field->type = schema_field(node->type, field->type->name);
    field->value = value;
}

bool upgrade_is_z_up(const Upgrade *upgrade, const SceneNode *world_info)
{
    const SceneField *system = world_info ? upgrade_own(world_info, "coordinateSystem") : NULL;
    return system ? !strcmp(system->value.s, "ENU") : upgrade->release >= RELEASE_R2020B;
}

static void gravity_vector(Upgrade *upgrade, SceneNode *node, SceneField *field)
{
    assert_debug(field->type->kind == FIELD_SF_VEC3F);
    Vec3 gravity = vec3(field->value.v[0], field->value.v[1], field->value.v[2]);
    SourcePos pos = field->pos;
    double strength = vec3_length(gravity);
    Vec3 down = upgrade_is_z_up(upgrade, node) ? vec3(0, 0, -1) : vec3(0, -1, 0);
    set_current(node, field, (FieldValue){ .f = strength });
    if (strength == 0.0 || vec3_dot(gravity, down) >= strength * (1.0 - 1e-12))
        return;
    upgrade_note(upgrade, node, pos,
                 "gravity does not point down; its direction is kept in the hidden field gravityDirection");
    scene_set_vec3(upgrade->scene, node, "gravityDirection",
                   vec3(gravity.x / strength, gravity.y / strength, gravity.z / strength));
}

static void filtering_bool(Upgrade *upgrade, SceneNode *node, SceneField *field)
{
    (void)upgrade;
    set_current(node, field, (FieldValue){ .i = field->value.b ? 4 : 0 });
}

static void occlusion_bool(Upgrade *upgrade, SceneNode *node, SceneField *field)
{
    (void)upgrade;
    set_current(node, field, (FieldValue){ .i = field->value.b ? 1 : 0 });
}

static void follow_orientation(Upgrade *upgrade, SceneNode *node, SceneField *field)
{
    bool is_mounted = field->value.b;
    upgrade_drop(node, field);
    if (is_mounted)
        scene_set_string(upgrade->scene, node, "followType", "Mounted Shot");
}

static void spherical_image(Upgrade *upgrade, SceneNode *node, SceneField *field)
{
    bool is_spherical = field->value.b;
    upgrade_drop(node, field);
    if (is_spherical)
        scene_set_string(upgrade->scene, node, "projection", "cylindrical");
}

static void spherical_lidar(Upgrade *upgrade, SceneNode *node, SceneField *field)
{
    bool is_spherical = field->value.b;
    upgrade_drop(node, field);
    if (!is_spherical)
        scene_set_string(upgrade->scene, node, "projection", "planar");
}

static void muscle_radius(Upgrade *upgrade, SceneNode *node, SceneField *field)
{
    double radius = field->value.f;
    SourcePos pos = field->pos;
    upgrade_drop(node, field);
    if (radius <= 0.0)
        return;
    upgrade_note(upgrade, node, pos, "maxRadius became volume: that of a sphere of this radius");
    scene_set_float(upgrade->scene, node, "volume", 4.0 / 3.0 * 3.14159265358979323846 * radius * radius * radius);
}

static void inertial_lookup_table(Upgrade *upgrade, SceneNode *node, SceneField *field)
{
    assert_debug(field->type->kind == FIELD_MF_VEC3F);
    const FieldList *table = field->value.list;
    double noise = 0.0;
    for (int i = 0; i < table->count; i++)
        noise = fmax(noise, table->numbers[3 * i + 2]);
    SourcePos pos = field->pos;
    upgrade_drop(node, field);
    if (table->count > 0)
        upgrade_note(upgrade, node, pos, "lookupTable became noise, its greatest noise value");
    if (noise > 0.0)
        scene_set_float(upgrade->scene, node, "noise", noise);
}

static void control_gain(Upgrade *upgrade, SceneNode *node, SceneField *field)
{
    double gain = field->value.f;
    upgrade_drop(node, field);
    scene_set_vec3(upgrade->scene, node, "controlPID", vec3(gain, 0, 0));
}

static void one_muscle(Upgrade *upgrade, SceneNode *node, SceneField *field)
{
    SceneNode *muscle = field->value.node;
    upgrade_drop(node, field);
    if (muscle)
        upgrade_add_child(upgrade, node, "muscles", muscle);
}

static void contact_count(Upgrade *upgrade, SceneNode *node, SceneField *field)
{
    int count = field->value.i;
    upgrade_drop(node, field);
    if (count > 0 && !strcmp(node->type->name, "ContactProperties"))
        scene_set_int(upgrade->scene, node, "maxContactJoints", count);
}

static void lost(Upgrade *upgrade, SceneNode *node, SceneField *field)
{
    upgrade_warning(upgrade, node, field->pos, "%s is no longer known; it is ignored", field->type->name);
    upgrade_drop(node, field);
}

static void noted(Upgrade *upgrade, SceneNode *node, SceneField *field)
{
    if (field->value.s[0])
        upgrade_note(upgrade, node, field->pos, "%s is no longer kept", field->type->name);
    upgrade_drop(node, field);
}

static void lost_node(Upgrade *upgrade, SceneNode *node, SceneField *field)
{
    if (field->value.node)
        upgrade_note(upgrade, node, field->pos, "%s is only for looks and no longer known; it is ignored",
                     field->type->name);
    upgrade_drop(node, field);
}

// A row: the node type (with all below it), the old field, what it is called now (NULL: nothing), what else to do.
// Rows without either are dropped in silence: they never changed what is simulated.
static const struct FieldRow {
    const char *type, *field, *now;
    FieldUpgrade upgrade;
} field_rows[] = {
    { "WorldInfo", "gravity", NULL, gravity_vector },
    { "WorldInfo", "northDirection", NULL, lost },
    { "WorldInfo", "fast2d", NULL, noted },
    { "WorldInfo", "runRealTime", NULL, NULL },
    { "WorldInfo", "displayRefresh", NULL, NULL },
    { "WorldInfo", "sound", NULL, noted },
    { "WorldInfo", "maxContactPoints", NULL, contact_count },
    { "ContactProperties", "maxContactPoints", NULL, contact_count },
    { "Viewpoint", "followOrientation", NULL, follow_orientation },
    { "Background", "cubemap", NULL, lost_node },
    { "ImageTexture", "filtering", NULL, filtering_bool },
    { "PBRAppearance", "environmentMap", NULL, lost_node },
    { "Recognition", "occlusion", NULL, occlusion_bool },
    { "Camera", "spherical", NULL, spherical_image },
    { "Camera", "colorNoise", "noise", NULL },
    { "Camera", "windowPosition", NULL, NULL },
    { "Camera", "pixelSize", NULL, NULL },
    { "Camera", "display", NULL, NULL },
    { "RangeFinder", "spherical", NULL, spherical_image },
    { "RangeFinder", "windowPosition", NULL, NULL },
    { "RangeFinder", "pixelSize", NULL, NULL },
    { "Display", "windowPosition", NULL, NULL },
    { "Display", "pixelSize", NULL, NULL },
    { "Lidar", "spherical", NULL, spherical_lidar },
    { "InertialUnit", "lookupTable", NULL, inertial_lookup_table },
    { "Muscle", "maxRadius", NULL, muscle_radius },
    { "Motor", "controlP", NULL, control_gain },
    { "Motor", "muscle", NULL, one_muscle },
    { "Speaker", "aperture", NULL, NULL },
    { "Speaker", "power", NULL, NULL },
    { "Skin", "model", "modelUrl", NULL },
    { "Robot", "data", "customData", NULL },
    { "Robot", "robotWindow", "window", NULL },
    { "Robot", "showWindow", NULL, NULL },
    { "Robot", "showRobotWindow", NULL, NULL },
    { "Solid", "author", NULL, noted },
    { "Solid", "constructor", NULL, noted },
    { "Solid", "joint", NULL, NULL },       // a joint of V5 said nothing that its Solid and its Servo did not
    { "Transform", "center", NULL, lost },  // in VRML97 files alone it has an effect
    { "Transform", "scaleOrientation", NULL, lost },
    { "IndexedFaceSet", "solid", NULL, NULL },
    { "IndexedFaceSet", "color", NULL, lost_node },
    { "IndexedFaceSet", "colorIndex", NULL, NULL },
    { "IndexedFaceSet", "colorPerVertex", NULL, NULL },
    { "ElevationGrid", "color", NULL, lost_node },
    { "ElevationGrid", "colorPerVertex", NULL, NULL },
};

static void upgrade_field(Upgrade *upgrade, SceneNode *node, const struct FieldRow *row)
{
    assert_debug(row->field);
    SceneField *field = upgrade_own(node, row->field);
    if (!field || field->type->class != FIELD_DEPRECATED)
        return;
    if (field->parameter_index >= 0 && !row->now) {
        if (row->upgrade)
            upgrade_warning(upgrade, node, field->pos,
                            "%s is no longer known and connected to a parameter; it is ignored", row->field);
        upgrade_drop(node, field);
    } else if (row->upgrade) {
        row->upgrade(upgrade, node, field);
    } else if (row->now && !upgrade_own(node, row->now)) {
        upgrade_move(upgrade, node, row->field, node, row->now);
    } else {
        upgrade_drop(node, field);
    }
}

static void upgrade_fields(Upgrade *upgrade, SceneNode *node)
{
    bool has_old = false;
    for (int i = 0; i < node->field_count; i++)
        has_old = has_old || node->fields[i].type->class == FIELD_DEPRECATED;
    for (int i = 0; has_old && i < COUNT_OF(field_rows); i++)
        if (schema_type_is(node->type, field_rows[i].type))
            upgrade_field(upgrade, node, &field_rows[i]);
}

// ---- types of ----
// nodes

typedef void (*TypeUpgrade)(Upgrade *upgrade, SceneNode *node);

static void make_supervisor(Upgrade *upgrade, SceneNode *node)
{
    scene_set_bool(upgrade->scene, node, "supervisor", true);
}

static void name_suspension(Upgrade *upgrade, SceneNode *node)
{
    SceneField *axis = upgrade_own(node, "axis");
    if (!axis)
        return;
    const FieldType *type = schema_field(node->type, "suspensionAxis");
    SceneField copy = *axis;
    copy.type = type;
    *scene_field_add(upgrade->scene, node, type, copy.pos) = copy;
}

static void report_gate(Upgrade *upgrade, SceneNode *node)
{
    upgrade_warning(
        upgrade, node, node->pos,
        "a node of a kind that no longer exists (a Gripper or HyperGate) is read as a Solid; what it did is not simulated");
}

// A row: old type, new type, what else to do afterwards, first release in which the row no longer holds (0: always
// holds).
static const struct TypeRow {
    const char *type, *now;
    TypeUpgrade upgrade;
} type_rows[] = {
    { "Supervisor", "Robot", make_supervisor },
    { "SupervisorRobot", "Robot", make_supervisor },
    { "CustomRobot", "Robot", NULL },
    { "CameraFocus", "Focus", NULL },
    { "CameraLensDistortion", "Lens", NULL },
    { "CameraZoom", "Zoom", NULL },
    { "Hinge2JointParameters", "HingeJointParameters", name_suspension },
    { "ColladaShape", "CadShape", NULL },
    { "HyperGate", "Solid", report_gate },
    { "Gripper", "Solid", report_gate },
};

static void upgrade_type(Upgrade *upgrade, SceneNode *node)
{
    if (!(node->type->flags & NODE_REMOVED))
        return;
    for (int i = 0; i < COUNT_OF(type_rows); i++) {
        if (strcmp(node->type->name, type_rows[i].type))
            continue;
        upgrade_set_type(node, type_rows[i].now);
        if (type_rows[i].upgrade)
            type_rows[i].upgrade(upgrade, node);
        return;
    }
}

// ---- defaults that ----
// changed

// What an old file meant by not saying anything. Only what a simulation can tell apart.
static const struct DefaultRow {
    const char *type, *field;
    int before;  // the first release with today's default
    FieldValue value;
} default_rows[] = {
    { "Robot", "controller", RELEASE_R2020A, { .s = "void" } },
    { "Viewpoint", "position", RELEASE_R2019A, { .v = { 0, 0, 0 } } },
    { "Viewpoint", "position", RELEASE_R2022A, { .v = { 0, 0, 10 } } },
};

static void set_defaults(Upgrade *upgrade, SceneNode *node)
{
    for (int i = 0; i < COUNT_OF(default_rows); i++) {
        const struct DefaultRow *row = &default_rows[i];
        if (upgrade->release >= row->before || !schema_type_is(node->type, row->type) || upgrade_own(node, row->field))
            continue;
        scene_set_value(upgrade->scene, node, schema_field(node->type, row->field), row->value);
    }
    const SceneField *battery = upgrade->release < RELEASE_R2019A && schema_type_is(node->type, "Robot")
                                    ? upgrade_own(node, "battery")
                                    : NULL;
    if (battery && battery->parameter_index < 0 && battery->value.list->count > 0
        && !upgrade_own(node, "cpuConsumption"))
        scene_set_float(upgrade->scene, node, "cpuConsumption", 0.0);
}

// ---- single node types ----

// "--speed 3 'a b'" was one string that the program got as three arguments.
static void split_arguments(Upgrade *upgrade, SceneField *field)
{
    if (!field || field->type->kind != FIELD_MF_STRING || field->value.list->count != 1)
        return;
    const char *text = field->value.list->strings[0];
    if (text[0] && !strpbrk(text, " \t'\""))
        return;
    Arena *arena = scene_arena(upgrade->scene);
    FieldList *list = arena_alloc(arena, sizeof *list);
    while (*text) {
        text += strspn(text, " \t");
        if (!*text)
            break;
        char *word = arena_alloc(arena, strlen(text) + 1);
        size_t length = 0;
        for (char quote = 0; *text && (quote || (*text != ' ' && *text != '\t')); text++) {
            if (!quote && (*text == '\'' || *text == '"'))
                quote = *text;
            else if (quote && *text == quote)
                quote = 0;
            else
                word[length++] = *text;
        }
        scene_list_reserve(upgrade->scene, list, FIELD_SF_STRING, list->count + 1);
        list->strings[list->count++] = word;
    }
    field->value.list = list;
}

void upgrade_arguments(Upgrade *upgrade, SceneNode *node, const SceneNode *instance)
{
    SceneField *field = upgrade_own(node, "controllerArgs");
    if (!field || upgrade->release >= RELEASE_R2020B)
        return;
    // Where the parameter is a list, whoever gave it has had it split.
    bool is_whole = !instance ? field->parameter_index < 0
                              : field->parameter_index >= 0 && field->instance_id == instance->id
                                    && instance->proto->parameters[field->parameter_index].kind == FIELD_SF_STRING;
    if (is_whole)
        split_arguments(upgrade, field);
}

// A camera of type "range-finder" is a RangeFinder since V8.3.
static void split_camera(Upgrade *upgrade, SceneNode *node)
{
    assert_debug(schema_type_is(node->type, "Camera"));
    SceneField *type = upgrade_own(node, "type");
    const char *word = type && type->parameter_index < 0 ? type->value.s : "color";
    SourcePos pos = type ? type->pos : node->pos;
    upgrade_drop_named(node, "type");
    if (!strcmp(word, "range-finder")) {
        SceneField *range = upgrade_own(node, "rangeNoise"), *resolution = upgrade_own(node, "rangeResolution");
        SceneField range_copy = range ? *range : (SceneField){ 0 },
                   resolution_copy = resolution ? *resolution : (SceneField){ 0 };
        upgrade_drop_named(node, "noise");
        upgrade_set_type(node, "RangeFinder");
        if (range)
            scene_set_float(upgrade->scene, node, "noise", range_copy.value.f);
        if (resolution)
            scene_set_float(upgrade->scene, node, "resolution", resolution_copy.value.f);
        return;
    }
    if (!strcmp(word, "both"))
        upgrade_warning(upgrade, node, pos, "a camera of type \"both\" is read as a Camera; its range image is lost");
    else if (strcmp(word, "color"))
        upgrade_note(upgrade, node, pos, "a camera of type \"%s\" sees colours", word);
    upgrade_drop_named(node, "rangeNoise");
    upgrade_drop_named(node, "rangeResolution");
    upgrade_drop_named(node, "maxRange");
}

static void upgrade_world_info(Upgrade *upgrade, SceneNode *node)
{
    if (upgrade->release < RELEASE_R2020B && !upgrade_own(node, "coordinateSystem"))
        scene_set_string(upgrade->scene, node, "coordinateSystem", "NUE");
}

static void upgrade_one(Upgrade *upgrade, SceneNode *node)
{
    assert_debug(node->type);
    const char *type = node->type->name;
    if (schema_type_is(node->type, "Robot"))
        upgrade_arguments(upgrade, node, NULL);
    if (!strcmp(type, "Camera"))
        split_camera(upgrade, node);
    if (!strcmp(type, "WorldInfo"))
        upgrade_world_info(upgrade, node);
    if (!strcmp(type, "GPS") && upgrade->release < RELEASE_V7_4 && !upgrade_own(node, "accuracy"))
        upgrade_move(upgrade, node, "resolution", node, "accuracy");
}

void upgrade_rename(Upgrade *upgrade)
{
    bool is_new = upgrade->release >= RELEASE_R2022A;
    for (int i = 0; i < upgrade->count; i++) {
        SceneNode *node = upgrade->nodes[i];
        if (node->kind == SCENE_NODE_INSTANCE)
            upgrade_arguments(upgrade, node, NULL);
        if (node->kind != SCENE_NODE_PLAIN)
            continue;
        upgrade_type(upgrade, node);
        if (!is_new || !strcmp(node->type->name, "Camera"))
            upgrade_one(upgrade, node);
        upgrade_fields(upgrade, node);
        if (!is_new)
            set_defaults(upgrade, node);
    }
}
