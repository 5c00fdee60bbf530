// Rules about single nodes, by their type: ranges that depend on other fields, counts of lists, numbers beyond any
// world.
#include "formats/check/check_internal.h"

#include "base/memory.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

typedef void (*Rule)(Check *check, SceneNode *node, const Place *place);

// ---- for every node ----

// A length in metres beyond the largest coordinate. (Vectors are watched by the reader.)
static void check_lengths(Check *check, SceneNode *node)
{
    for (int i = 0; i < node->field_count; i++) {
        SceneField *field = &node->fields[i];
        if (!field->type->unit || strcmp(field->type->unit, "m"))
            continue;
        if (field->type->kind == FIELD_SF_FLOAT && fabs(field->value.f) > LIMIT_COORDINATE) {
            check_error(check, node, field->pos, "%s %g is beyond %g m; using the default", field->type->name,
                        field->value.f, LIMIT_COORDINATE);
            field->value = field->type->value;
        }
        for (int k = 0; field->type->kind == FIELD_MF_FLOAT && k < field->value.list->count; k++) {
            double *number = &field->value.list->numbers[k];
            if (fabs(*number) <= LIMIT_COORDINATE)
                continue;
            check_error(check, node, field->pos, "%s holds %g, which is beyond %g m; using 0", field->type->name,
                        *number, LIMIT_COORDINATE);
            *number = 0.0;
        }
    }
}

// ---- helpers ----

static void set_list(Check *check, SceneNode *node, const char *name, int count)
{
    assert(count >= 0);
    FieldList *list = scene_list_edit(check->scene, node, name);
    const FieldType *type = schema_field(node->type, name);
    int old = list->count, per_item = field_kind_doubles(type->kind);
    scene_list_reserve(check->scene, list, field_kind_item(type->kind), count);
    for (int64_t i = (int64_t)old * per_item; i < (int64_t)count * per_item; i++)
        list->numbers[i] = 0.0;
    list->count = count;
}

static SourcePos at(const SceneNode *node, const char *name) { return scene_field_pos(node, name); }

static void check_order(Check *check, SceneNode *node, const char *low, const char *high)
{
    double a = scene_float(node, low), b = scene_float(node, high);
    if (a > b)
        check_warning(check, node, at(node, low), "%s %g is greater than %s %g", low, a, high, b);
}

static void clamp_int(Check *check, SceneNode *node, const char *name, int max)
{
    int value = scene_int(node, name);
    if (value <= max)
        return;
    check_error(check, node, at(node, name), "%s %d is more than %d, which is used", name, value, max);
    scene_set_int(check->scene, node, name, max);
}

// ---- world ----

static void world_info(Check *check, SceneNode *node, const Place *place)
{
    assert_debug(schema_type_is(node->type, "WorldInfo"));
    (void)place;
    double step = scene_float(node, "basicTimeStep") * 1e-3;
    double used = double_clamp(step, LIMIT_TIME_STEP_LOW, LIMIT_TIME_STEP_HIGH);
    if (step == used)
        return;
    check_error(check, node, at(node, "basicTimeStep"), "basicTimeStep %g ms is outside of %g ms to %g ms; using %g",
                step * 1e3, LIMIT_TIME_STEP_LOW * 1e3, LIMIT_TIME_STEP_HIGH * 1e3, used * 1e3);
    scene_set_float(check->scene, node, "basicTimeStep", used * 1e3);
}

static void contact_properties(Check *check, SceneNode *node, const Place *place)
{
    assert_debug(schema_type_is(node->type, "ContactProperties"));
    (void)place;
    static const char *const lists[] = { "coulombFriction", "forceDependentSlip" };
    for (int i = 0; i < COUNT_OF(lists); i++) {
        int count = scene_list(node, lists[i])->count;
        if (count >= 1 && count <= 4)
            continue;
        check_warning(check, node, at(node, lists[i]), "%s has %d values but takes 1 to 4; %s", lists[i], count,
                      count ? "the first 4 count" : "using the default");
        if (count)
            set_list(check, node, lists[i], 4);
        else
            scene_reset_field(check->scene, node, lists[i]);
    }
}

// ---- solids ----

// Worlds with planets exist; a sun is the most that is let in.
#define HEAVIEST 1e31

// What no solver can work with is replaced and is an error; what is merely odd is a warning and stays as it was
// written.
static void physics(Check *check, SceneNode *node, const Place *place)
{
    assert_debug(schema_type_is(node->type, "Physics"));
    (void)place;
    double mass = scene_float(node, "mass"), density = scene_float(node, "density");
    if (mass != -1.0 && !(mass >= LIMIT_MASS_LOW && mass <= HEAVIEST)) {
        double used = double_clamp(mass, LIMIT_MASS_LOW, HEAVIEST);
        check_error(check, node, at(node, "mass"), "mass %g is outside of %g kg to %g kg; using %g", mass,
                    LIMIT_MASS_LOW, HEAVIEST, used);
        scene_set_float(check->scene, node, "mass", used);
    } else if (mass > LIMIT_MASS_HIGH) {
        check_warning(check, node, at(node, "mass"),
                      "mass %g is more than %g kg: forces between such bodies and usual ones are not exact", mass,
                      LIMIT_MASS_HIGH);
    }
    if (density > 1e9) {
        check_error(check, node, at(node, "density"), "density %g is beyond anything; using 1000", density);
        scene_set_float(check->scene, node, "density", 1000.0);
    }
    if (mass == -1.0 && density == -1.0) {
        check_warning(check, node, node->pos, "neither mass nor density is given; using density 1000");
        scene_set_float(check->scene, node, "density", 1000.0);
    }
    int centers = scene_list(node, "centerOfMass")->count;
    if (centers > 1)
        check_warning(check, node, at(node, "centerOfMass"), "centerOfMass takes one point; the first of %d counts",
                      centers);
    if (centers > 1)
        set_list(check, node, "centerOfMass", 1);
    const FieldList *rows = scene_list(node, "inertiaMatrix");
    if (rows->count == 0)
        return;
    if (rows->count != 2) {
        check_warning(check, node, at(node, "inertiaMatrix"),
                      "inertiaMatrix takes two rows, [Ixx Iyy Izz, Ixy Ixz Iyz], not %d", rows->count);
        return;
    }
    const double *v = rows->numbers;
    if (!mat3_is_positive_definite((Mat3){ { v[0], v[3], v[4], v[3], v[1], v[5], v[4], v[5], v[2] } }))
        check_warning(check, node, at(node, "inertiaMatrix"),
                      "inertiaMatrix is not positive definite; no body has such an inertia");
    else if (mass <= 0.0 || centers != 1)
        check_warning(check, node, at(node, "inertiaMatrix"),
                      "inertiaMatrix counts only together with mass and one centerOfMass");
}

static void battery(Check *check, SceneNode *node, const Place *place)
{
    assert_debug(schema_field(node->type, "battery"));
    (void)place;
    const FieldList *list = scene_list(node, "battery");
    if (list->count != 0 && list->count != 3) {
        check_warning(check, node, at(node, "battery"),
                      "battery takes three values (energy, most energy, power) or none; %d are ignored", list->count);
        set_list(check, node, "battery", 0);
        return;
    }
    for (int i = 0; i < list->count; i++)
        if (list->numbers[i] < 0.0)
            check_warning(check, node, at(node, "battery"), "battery holds the negative value %g", list->numbers[i]);
}

static void transform(Check *check, SceneNode *node, const Place *place)
{
    assert_debug(schema_field(node->type, "scale"));
    (void)place;
    Vec3 scale = scene_vec3(node, "scale");
    if (scale.x != 0.0 && scale.y != 0.0 && scale.z != 0.0)
        return;
    check_error(check, node, at(node, "scale"), "scale %g %g %g makes everything flat; 1 is used in place of 0",
                scale.x, scale.y, scale.z);
    scene_set_vec3(
        check->scene, node, "scale",
        vec3(scale.x == 0.0 ? 1.0 : scale.x, scale.y == 0.0 ? 1.0 : scale.y, scale.z == 0.0 ? 1.0 : scale.z));
    upgrade_name_pose(node);  // as it will be when it is saved and read again
}

static void solid_reference(Check *check, SceneNode *node, const Place *place)
{
    enum { REFERENCES_MAX = 1000 };
    const char *name = scene_string(node, "solidName");
    if (!name[0] || !strcmp(name, "<static environment>") || check->references++ >= REFERENCES_MAX)
        return;
    if (!place->solid || scene_find_solid(check->scene, name))
        return;
    check_warning(check, node, at(node, "solidName"), "there is no Solid named \"%.80s\"", name);
}

// ---- geometry ----

static void elevation_grid(Check *check, SceneNode *node, const Place *place)
{
    assert_debug(schema_type_is(node->type, "ElevationGrid"));
    (void)place;
    int64_t columns = int_max(0, scene_int(node, "xDimension")), rows = int_max(0, scene_int(node, "yDimension"));
    int64_t cells = columns * rows;
    if (cells > limits_default.heightfield_cells) {
        check_error(check, node, node->pos, "%lld x %lld grid points are more than %lld; it is ignored",
                    (long long)columns, (long long)rows, (long long)limits_default.heightfield_cells);
        scene_set_int(check->scene, node, "xDimension", 0);
        scene_set_int(check->scene, node, "yDimension", 0);
        cells = 0;
    }
    int count = scene_list(node, "height")->count;
    if (count == cells)
        return;
    check_warning(check, node, at(node, "height"), "%d heights for %lld grid points; %s", count, (long long)cells,
                  count < cells ? "the missing ones are 0" : "those beyond are ignored");
    set_list(check, node, "height", (int)cells);
}

static void face_set(Check *check, SceneNode *node, const Place *place)
{
    assert_debug(schema_field(node->type, "coordIndex"));
    (void)place;
    const SceneNode *coord = scene_child(node, "coord");
    int points = coord && !strcmp(coord->type->name, "Coordinate") ? scene_list(coord, "point")->count : 0;
    const FieldList *index = scene_list(node, "coordIndex");
    for (int i = 0; i < index->count; i++) {
        if (index->ints[i] < points)
            continue;
        check_error(check, node, at(node, "coordIndex"),
                    "coordIndex names point %d, but there are %d; such faces are left out", index->ints[i], points);
        return;
    }
}

static void sphere(Check *check, SceneNode *node, const Place *place)
{
    (void)place;
    int value = scene_int(node, "subdivision"), max = scene_bool(node, "ico") ? 5 : 200;
    if (value <= max)
        return;
    check_warning(check, node, at(node, "subdivision"), "subdivision %d is more than %d, which is used", value, max);
    scene_set_int(check->scene, node, "subdivision", max);
}

// ---- joints ----

static void count_devices(Check *check, SceneNode *node, const char *field)
{
    assert_debug(field);
    static const char *const kinds[] = { "Motor", "PositionSensor", "Brake" };
    if (!schema_field(node->type, field))
        return;
    const FieldList *devices = scene_list(node, field);
    int counts[COUNT_OF(kinds)] = { 0 };
    for (int i = 0; i < devices->count; i++)
        for (int k = 0; k < COUNT_OF(kinds); k++) {
            const SceneNode *device = scene_list_node(devices, i);
            if (device && schema_type_is(device->type, kinds[k]) && ++counts[k] == 2)
                check_warning(check, device, device->pos, "a second %s for the same axis; only the first counts",
                              device->type->name);
        }
}

static const SceneNode *parameters_of(const SceneNode *joint, const char *field)
{
    const SceneNode *parameters = schema_field(joint->type, field) ? scene_child(joint, field) : NULL;
    return parameters && schema_type_is(parameters->type, "JointParameters") ? parameters : NULL;
}

static void check_motor_limits(Check *check, SceneNode *joint, const char *device_field, const char *parameters_field)
{
    const SceneNode *parameters = parameters_of(joint, parameters_field);
    const FieldList *devices = schema_field(joint->type, device_field) ? scene_list(joint, device_field) : NULL;
    for (int i = 0; parameters && devices && i < devices->count; i++) {
        const SceneNode *motor = scene_list_node(devices, i);
        if (!motor || !schema_type_is(motor->type, "Motor"))
            continue;
        double low = scene_float(motor, "minPosition"), high = scene_float(motor, "maxPosition");
        double position = scene_float(parameters, "position");
        double low_stop = scene_float(parameters, "minStop"), high_stop = scene_float(parameters, "maxStop");
        if (low == high)
            continue;
        if (position < low || position > high)
            check_warning(check, joint, at(parameters, "position"),
                          "position %g is outside of the motor's minPosition %g to maxPosition %g", position, low,
                          high);
        if (low_stop != high_stop && (low < low_stop || high > high_stop))
            check_warning(check, joint, at(motor, "minPosition"),
                          "the motor's minPosition %g to maxPosition %g reach beyond the stops %g to %g", low, high,
                          low_stop, high_stop);
    }
}

static void joint(Check *check, SceneNode *node, const Place *place)
{
    assert_debug(schema_type_is(node->type, "Joint"));
    (void)place;
    static const char *const devices[] = { "device", "device2", "device3" };
    static const char *const parameters[] = { "jointParameters", "jointParameters2", "jointParameters3" };
    for (int i = 0; i < COUNT_OF(devices); i++) {
        count_devices(check, node, devices[i]);
        check_motor_limits(check, node, devices[i], parameters[i]);
    }
    if (!scene_child(node, "endPoint"))
        check_warning(check, node, node->pos, "%s without endPoint moves nothing", node->type->name);
}

static void hinge2_joint(Check *check, SceneNode *node, const Place *place)
{
    (void)place;
    const SceneNode *first = parameters_of(node, "jointParameters"), *second = parameters_of(node, "jointParameters2");
    Vec3 a = first && schema_field(first->type, "axis") ? scene_vec3(first, "axis") : vec3(1, 0, 0);
    Vec3 b = second && schema_field(second->type, "axis") ? scene_vec3(second, "axis") : vec3(0, 0, 1);
    if (vec3_length(vec3_cross(vec3_normalized(a), vec3_normalized(b))) < 1e-9)
        check_error(check, node, node->pos, "the two axes of a Hinge2Joint must not point the same way");
}

static void joint_parameters(Check *check, SceneNode *node, const Place *place)
{
    (void)place;
    check_order(check, node, "minStop", "maxStop");
}

static void motor(Check *check, SceneNode *node, const Place *place)
{
    (void)place;
    check_order(check, node, "minPosition", "maxPosition");
}

static void track(Check *check, SceneNode *node, const Place *place)
{
    (void)place;
    count_devices(check, node, "device");
}

// ---- devices ----

static void planar_view(Check *check, SceneNode *node)
{
    if (strcmp(scene_string(node, "projection"), "planar") || scene_float(node, "fieldOfView") < 3.1415926535897931)
        return;
    check_warning(check, node, at(node, "fieldOfView"),
                  "fieldOfView %g of a planar image must be less than pi; using the default",
                  scene_float(node, "fieldOfView"));
    scene_reset_field(check->scene, node, "fieldOfView");
}

static void camera(Check *check, SceneNode *node, const Place *place)
{
    (void)place;
    clamp_int(check, node, "width", (int)limits_default.image_side);
    clamp_int(check, node, "height", (int)limits_default.image_side);
    planar_view(check, node);
}

static void range_finder(Check *check, SceneNode *node, const Place *place)
{
    camera(check, node, place);
    check_order(check, node, "minRange", "maxRange");
}

static void lidar(Check *check, SceneNode *node, const Place *place)
{
    (void)place;
    clamp_int(check, node, "horizontalResolution", (int)limits_default.image_side);
    clamp_int(check, node, "numberOfLayers", 4096);
    planar_view(check, node);
    check_order(check, node, "minRange", "maxRange");
    check_order(check, node, "minFrequency", "maxFrequency");
}

static void display(Check *check, SceneNode *node, const Place *place)
{
    (void)place;
    clamp_int(check, node, "width", (int)limits_default.image_side);
    clamp_int(check, node, "height", (int)limits_default.image_side);
}

static void radar(Check *check, SceneNode *node, const Place *place)
{
    (void)place;
    check_order(check, node, "minRange", "maxRange");
}

static void distance_sensor(Check *check, SceneNode *node, const Place *place)
{
    (void)place;
    if (!strcmp(scene_string(node, "type"), "laser") && scene_int(node, "numberOfRays") != 1) {
        check_warning(check, node, at(node, "numberOfRays"), "a laser has one ray; %d is ignored",
                      scene_int(node, "numberOfRays"));
        scene_set_int(check->scene, node, "numberOfRays", 1);
    }
    clamp_int(check, node, "numberOfRays", 10000);
}

// ---- table ----

static const struct RuleRow {
    const char *type;  // with all below it
    Rule rule;
} rule_rows[] = {
    { "WorldInfo", world_info },
    { "ContactProperties", contact_properties },
    { "Physics", physics },
    { "Robot", battery },
    { "Charger", battery },
    { "Transform", transform },
    { "SolidReference", solid_reference },
    { "ElevationGrid", elevation_grid },
    { "IndexedFaceSet", face_set },
    { "IndexedLineSet", face_set },
    { "Sphere", sphere },
    { "Joint", joint },
    { "Hinge2Joint", hinge2_joint },
    { "JointParameters", joint_parameters },
    { "Motor", motor },
    { "Track", track },
    { "Camera", camera },
    { "RangeFinder", range_finder },
    { "Lidar", lidar },
    { "Display", display },
    { "Radar", radar },
    { "DistanceSensor", distance_sensor },
};
static_assert(COUNT_OF(rule_rows) <= 64, "a rule is a bit");

// Which rules concern a node type, by its index. Written once, like the schema itself.
static uint64_t *rules_of_type;
static pthread_once_t rules_once = PTHREAD_ONCE_INIT;

static void build_rules(void)
{
    rules_of_type = memory_alloc_array((size_t)schema_type_count(), sizeof *rules_of_type);
    for (int i = 0; i < schema_type_count(); i++)
        for (int k = 0; k < COUNT_OF(rule_rows); k++)
            if (schema_type_is(schema_type_at(i), rule_rows[k].type))
                rules_of_type[i] |= (uint64_t)1 << k;
}

void check_rules(Check *check, SceneNode *node, const Place *place)
{
    assert_debug(node->type->index >= 0 && node->type->index < schema_type_count());
    pthread_once(&rules_once, build_rules);
    check_lengths(check, node);
    uint64_t rules = rules_of_type[node->type->index];
    for (int i = 0; rules; i++, rules >>= 1)
        if (rules & 1)
            rule_rows[i].rule(check, node, place);
}
