// Every field of every node type, changed while the world runs: it acts as if the world had been loaded with it, on whatever the
// table of effects (scene/schema_effects.c) says, or is listed there as taken up at load, by the controller, or by nobody.
#include "devices/devices_internal.h"
#include "physics/joints/motor.h"
#include "physics/world.h"
#include "scene/schema_effects.h"

// ---------------------------------------------------------------------------------------------------------- the table

static void every_field_has_a_row(void **state)
{
    (void)state;
    for (int i = 0; i < schema_type_count(); i++)
        for (int k = 0; k < schema_type_at(i)->field_count; k++) {
            const FieldType *field = &schema_type_at(i)->fields[k];
            char name[256];
            snprintf(name, sizeof name, "%s.%s", schema_type_at(i)->name, field->name);
            unsigned effects = schema_effects(schema_type_at(i), field);
            CHECK(effects != 0, name);
            // What acts while the world runs is not also left for the load, or for nobody.
            unsigned idle = FIELD_ACTS_AT_LOAD | FIELD_ACTS_ON_NOTHING;
            CHECK(!(effects & idle) || (effects & ~idle) == 0, name);
        }
}

static bool some_descendant_has(const char *type, const char *field, size_t length)
{
    for (int i = 0; i < schema_type_count(); i++)
        if (schema_type_is(schema_type_at(i), type) && schema_field_text(schema_type_at(i), field, length))
            return true;
    return false;
}

static void every_row_is_about_something(void **state)
{
    (void)state;
    for (int i = 0; i < schema_effect_row_count(); i++) {
        const char *fields, *type = schema_effect_row(i, &fields);
        CHECK(schema_type(type) != NULL, type);
        for (const char *at = fields; *at && strcmp(fields, "*");) {
            size_t length = strcspn(at, " ");
            CHECK(some_descendant_has(type, at, length), at);
            at += length + (at[length] == ' ');
        }
    }
}

// ------------------------------------------------------------------------------------------------------------ a world

// Something of everything, in motion and in sight. Nodes to be changed have DEF names.
static const char world_text[] =
    "DEF INFO WorldInfo { basicTimeStep 16 defaultDamping DEF AIR Damping { linear 0.1 angular 0.1 } contactProperties ["
    "  DEF TOUCH ContactProperties { material1 \"soft\" bounce 0.4 bounceVelocity 0.01 coulombFriction [ 0.3 ] } ] }"
    "DEF VIEW Viewpoint { position -6 0 2 }"
    "DEF SKY Background { skyColor [ 0.2 0.3 0.8 ] }"
    "DEF MIST Fog { color 0.5 0.5 0.5 visibilityRange 60 }"
    "DEF SUN DirectionalLight { direction 0.3 0.2 -1 ambientIntensity 0.3 }"
    "DEF BULB PointLight { location 0 0 4 attenuation 0 0 1 }"
    "DEF SPOT SpotLight { location -3 2 4 direction 0 0 -1 }"
    "DEF FLOOR Solid { name \"floor\" children [ Shape { appearance PBRAppearance { baseColor 0.4 0.5 0.6 metalness 0 } geometry DEF GROUND Plane { size 30 30 } } ]"
    "  boundingObject USE GROUND }"
    "DEF STONE Solid { name \"stone\" translation 0 0 0.6 linearVelocity 0.5 0.2 0 angularVelocity 0 0.3 0.2 contactMaterial \"soft\""
    "  children [ DEF FORM Shape { appearance DEF LOOK PBRAppearance { baseColor 0.8 0.3 0.2 roughness 0.5 metalness 0.2 emissiveColor 0.1 0 0 } geometry DEF BLOCK Box { size 0.6 0.5 0.4 } } ]"
    "  boundingObject USE BLOCK physics DEF WEIGHT Physics { density 500 damping DEF DRAG Damping { linear 0.3 angular 0.4 } } }"
    "DEF BALL Solid { name \"ball\" translation 1.5 0 0.5 linearVelocity 0 0.5 0 contactMaterial \"soft\""
    "  children [ Shape { appearance DEF PAINT Appearance { material DEF STUFF Material { diffuseColor 0.2 0.8 0.3 } } geometry DEF ROUND Sphere { radius 0.3 } } ]"
    "  boundingObject USE ROUND physics Physics { density 300 } }"
    "DEF CAN Solid { name \"can\" translation -1.5 0.3 0.7 rotation 1 0 0 0.4 children [ Shape { geometry DEF TIN Cylinder { radius 0.2 height 0.6 } } ] boundingObject USE TIN physics Physics { } }"
    "DEF PILL Solid { name \"pill\" translation -1.5 -1.2 0.8 rotation 1 0 0 0.9 children [ Shape { geometry DEF LOAF Capsule { radius 0.2 height 0.5 } } ] boundingObject USE LOAF physics Physics { } }"
    "DEF WEDGE Solid { name \"wedge\" translation 0 -2 0.8 children [ Shape { geometry DEF FACES IndexedFaceSet { coord DEF CORNERS Coordinate { point [ 0 0 0, 0.6 0 0, 0 0.6 0, 0 0 0.6 ] }"
    "  coordIndex [ 0 2 1 -1 0 1 3 -1 0 3 2 -1 1 2 3 -1 ] } } ] boundingObject USE FACES physics Physics { } }"
    "DEF HILL Solid { name \"hill\" translation 3 -2 0 children [ Shape { geometry DEF GRID ElevationGrid { xDimension 3 yDimension 3 xSpacing 0.7 ySpacing 0.7 height [ 0 0 0 0 0.5 0 0 0 0 ] } } ] boundingObject USE GRID }"
    "DEF ROLLER Solid { name \"roller\" translation 3.6 -1.2 1.2 boundingObject Sphere { radius 0.2 } physics Physics { } }"
    "DEF HAT Solid { name \"hat\" translation 2 2 0 children [ DEF BEND Transform { scale 1 1 1.5 children [ Shape { geometry DEF CONE Cone { bottomRadius 0.3 height 0.5 } } ] } ] }"
    "DEF STEM Pose { translation -2 2 0 children [ Solid { name \"branch\" translation 0 0 0.5 children [ Shape { geometry Box { size 0.1 0.1 1 } } ] boundingObject Box { size 0.1 0.1 1 } } ] }"
    "DEF POOL Fluid { translation 6 0 0 streamVelocity 0.2 0 0 boundingObject Box { size 2 2 2 } }"
    "DEF CORK Solid { name \"cork\" translation 6 0 0.5 boundingObject Sphere { radius 0.3 } physics Physics { density 400 }"
    "  immersionProperties [ DEF WET ImmersionProperties { fluidName \"fluid\" dragForceCoefficients 1 1 1 viscousResistanceForceCoefficient 5 } ] }"
    "DEF ROBOT Robot { name \"robot\" translation 0 4 1.2 children ["
    "  DEF HINGE HingeJoint { jointParameters DEF HINGE_AXIS HingeJointParameters { axis 0 1 0 springConstant 3 dampingConstant 0.5 minStop -1 maxStop 1 }"
    "    device [ DEF MOTOR RotationalMotor { name \"motor\" maxTorque 20 } DEF ANGLE PositionSensor { name \"angle\" } DEF BRAKE Brake { name \"brake\" } ]"
    "    endPoint Solid { name \"arm\" translation 0.5 0 0 boundingObject Box { size 0.8 0.1 0.1 } physics Physics { } } }"
    "  DEF SLIDER SliderJoint { jointParameters DEF SLIDER_AXIS JointParameters { axis 0 0 1 springConstant 40 dampingConstant 1 }"
    "    device [ DEF LINEAR LinearMotor { name \"linear\" maxForce 2 } ]"
    "    endPoint Solid { name \"piston\" translation 0 0.5 0.2 boundingObject Box { size 0.1 0.1 0.3 } physics Physics { } } }"
    "  DEF TWO Hinge2Joint { jointParameters DEF TWO_FIRST HingeJointParameters { axis 0 0 1 anchor 0 -0.5 0 suspensionSpringConstant 500 suspensionDampingConstant 5 suspensionAxis 0 0 1 }"
    "    jointParameters2 DEF TWO_SECOND JointParameters { axis 0 1 0 springConstant 1 }"
    "    endPoint Solid { name \"wheel\" translation 0.1 -0.5 0 boundingObject Sphere { radius 0.15 } physics Physics { } } }"
    "  DEF SOCKET BallJoint { jointParameters DEF SOCKET_AXIS BallJointParameters { anchor -0.5 0 0 springConstant 1 }"
    "    endPoint Solid { name \"tail\" translation -0.7 0 0 boundingObject Box { size 0.3 0.1 0.1 } physics Physics { } } }"
    "  DEF SCREW Propeller { shaftAxis 0 0 1 thrustConstants 0.02 0 torqueConstants 0.002 0 device RotationalMotor { name \"screw\" maxVelocity 100 } }"
    "  DEF GPS GPS { } DEF GYRO Gyro { } DEF NORTH Compass { } DEF LEVEL InertialUnit { } DEF SHAKE Accelerometer { } DEF HEIGHT Altimeter { }"
    "  DEF NEAR DistanceSensor { name \"near\" translation 0 0 -0.3 rotation 0 1 0 1.2 lookupTable [ 0 0 0 5 5 0 ] }"
    "  DEF LIGHT LightSensor { translation 0 0 0.4 rotation 0 1 0 -1.57 }"
    "  DEF SKIN TouchSensor { type \"force\" translation 0 0 -0.5 boundingObject Sphere { radius 0.1 } physics Physics { } }"
    "  DEF EYE Camera { translation 0.2 0 0.3 rotation 0 0 1 -1.57 width 8 height 6 focus DEF FOCUS Focus { } zoom DEF ZOOM Zoom { } recognition DEF KNOW Recognition { } }"
    "  DEF DEPTH RangeFinder { name \"depth\" translation 0.2 0 0.3 rotation 0 0 1 -1.57 width 8 height 6 maxRange 9 }"
    "  DEF SCAN Lidar { name \"scan\" translation 0 0 0.3 rotation 0 0 1 -1.57 horizontalResolution 16 numberOfLayers 2 maxRange 9 }"
    "  DEF ECHO Radar { name \"echo\" rotation 0 0 1 -1.57 maxRange 20 }"
    "  DEF LAMP LED { children [ Shape { appearance PBRAppearance { } geometry Sphere { radius 0.05 } } ] }"
    "] boundingObject Box { size 0.3 0.3 0.3 } physics Physics { density -1 mass 5 } recognitionColors [ 1 0 0 ] battery [ 1000 1000 10 ] }";

static SceneNode *named(const Sim *sim, const char *def)
{
    return scene_find_def(sim_scene(sim), def);
}

// ---------------------------------------------------------------------------------------------------- what can be seen

enum { STEPS = 30, SIDE = 20, READINGS = 8192 };

typedef struct Outcome {
    double places[64 * 7];
    int place_count;
    double light[3 * SIDE * SIDE];
    double readings[READINGS];
    int reading_count;
} Outcome;

typedef struct Watch {
    Sim *sim;
    Devices *devices;
    Rays *rays;
} Watch;

static Watch watch(Sim *sim, DiagSink *diags)
{
    Watch w = { sim, devices_create(sim_scene(sim), sim_physics(sim), diags), rays_create(sim_physics(sim), diags) };
    for (int tag = 1; tag <= devices_count(w.devices, 0); tag++)
        for (int channel = 0; channel < devices_info(w.devices, 0, tag)->kind->channels; channel++)
            devices_enable(w.devices, 0, tag, channel, 16);
    rays_update(w.rays);
    return w;
}

static void look(const Watch *w, Outcome *out)
{
    const SceneNode *view = named(w->sim, "VIEW");
    Quat turn = quat_from_rotation(scene_rotation(view, "orientation"));
    double reach = tan(0.5 * scene_float(view, "fieldOfView"));
    rays_update(w->rays);
    for (int i = 0; i < SIDE * SIDE; i++) {
        Vec3 ahead = vec3_normalized(vec3(1.0, reach * (1.0 - 2.0 * (i % SIDE + 0.5) / SIDE), reach * (1.0 - 2.0 * (i / SIDE + 0.5) / SIDE)));
        Ray ray = { .origin = scene_vec3(view, "position"), .direction = quat_rotate(turn, ahead), .near = 0.0, .far = INFINITY };
        RayHit hit;
        rays_cast(w->rays, &ray, 1, NULL, NULL, &hit);
        Vec3 light;
        rays_shade(w->rays, &ray, &hit, 1, &(RaysStyle){ .eye = 0 }, &light);
        memcpy(out->light + 3 * i, (double[3]){ light.x, light.y, light.z }, 3 * sizeof(double));
    }
}

static void read_devices(const Watch *w, Outcome *out)
{
    for (int tag = 1; tag <= devices_count(w->devices, 0); tag++)
        for (int channel = 0; channel < devices_info(w->devices, 0, tag)->kind->channels; channel++) {
            int count, size = 0;
            uint32_t serial;
            const double *reading = devices_reading(w->devices, 0, tag, channel, &count, &serial);
            const uint8_t *image = devices_image(w->devices, 0, tag, channel, &size);
            for (int i = 0; i < count && out->reading_count < READINGS; i++)
                out->readings[out->reading_count++] = isfinite(reading[i]) ? reading[i] : -1e9;
            for (int i = 0; i < size && out->reading_count < READINGS; i++)
                out->readings[out->reading_count++] = image[i];
        }
}

static void run(Watch *w, Outcome *out)
{
    memset(out, 0, sizeof *out);
    Physics *physics = sim_physics(w->sim);
    int joint, axis;
    physics_axis_of(physics, named(w->sim, "MOTOR"), &joint, &axis);
    PhysicsMotor motor = physics_motor(physics, joint, axis);
    motor.target_position = 0.8;
    physics_motor_command(physics, joint, axis, &motor);
    for (int i = 1; i <= STEPS; i++) {
        if (!sim_step(w->sim))
            fail_msg("step %d: %s", i, sim_failure(w->sim));
        devices_rescan(w->devices);
        devices_sample(w->devices, (uint64_t)i);
    }
    for (int i = 0; i < physics_solid_count(physics) && out->place_count < COUNT_OF(out->places) - 7; i++) {
        if (!physics_solid_exists(physics, i))
            continue;
        Pose pose = physics_solid_pose(physics, i);
        memcpy(out->places + out->place_count, (double[7]){ pose.t.x, pose.t.y, pose.t.z, pose.q.w, pose.q.x, pose.q.y, pose.q.z }, 7 * sizeof(double));
        out->place_count += 7;
    }
    look(w, out);
    read_devices(w, out);
    rays_destroy(w->rays);
    devices_destroy(w->devices);
}

static double apart(const double *a, const double *b, int count)
{
    double most = 0.0;
    for (int i = 0; i < count; i++)
        most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

// Largest differences of places, of light and of readings.
static void compare(const Outcome *a, const Outcome *b, double out[3])
{
    out[0] = a->place_count != b->place_count ? INFINITY : apart(a->places, b->places, a->place_count);
    out[1] = apart(a->light, b->light, COUNT_OF(a->light));
    out[2] = a->reading_count != b->reading_count ? INFINITY : apart(a->readings, b->readings, a->reading_count);
}

// --------------------------------------------------------------------------------------------------------- other values

static double other_number(const FieldType *type, double value)
{
    const double tries[] = { 0.6 * value + 0.1, 1.5 * value + 0.2, 0.5, 0.25, 1.0, 2.0, 5.0, -0.5, 10.0 };
    bool is_whole = field_kind_item(type->kind) == FIELD_SF_INT32;
    for (int i = 0; i < COUNT_OF(tries); i++) {
        double other = is_whole ? nearbyint(tries[i]) : tries[i];
        if (other != value && schema_allows_number(type->allowed, other, NULL))
            return other;
    }
    return value;
}

static const char *other_word(const FieldType *type, const char *word)
{
    static char buffer[128];
    if (!type->allowed)
        return strcmp(word, "something else") ? "something else" : "another thing";
    for (const char *at = type->allowed; *at;) {
        size_t length = strcspn(at, "|");
        snprintf(buffer, sizeof buffer, "%.*s", (int)length, at);
        if (strcmp(buffer, word))
            return buffer;
        at += length + (at[length] == '|');
    }
    return word;
}

// False where there is no other value to try.
static bool other_value(const FieldType *type, FieldValue *value)
{
    FieldKind item = field_kind_item(type->kind);
    if (field_kind_is_list(type->kind)) {
        static double numbers[64];
        static FieldList list;
        int width = field_kind_doubles(item), count = value->list->count;
        if (width == 0 || count == 0 || count * width > COUNT_OF(numbers) || item == FIELD_SF_ROTATION)
            return false;
        for (int i = 0; i < count * width; i++)
            numbers[i] = other_number(type, value->list->numbers[i]);
        list = (FieldList){ .count = count, .numbers = numbers };
        value->list = &list;
        return true;
    }
    switch (item) {
    case FIELD_SF_BOOL: value->b = !value->b; return true;
    case FIELD_SF_INT32: value->i = (int32_t)other_number(type, value->i); return true;
    case FIELD_SF_FLOAT: value->f = other_number(type, value->f); return true;
    case FIELD_SF_STRING: value->s = other_word(type, value->s); return true;
    case FIELD_SF_ROTATION: memcpy(value->v, (double[4]){ 0, 0, 1, value->v[3] + 0.3 }, 4 * sizeof(double)); return true;
    case FIELD_SF_NODE: return false;
    default:
        for (int i = 0; i < field_kind_doubles(item); i++)
            value->v[i] = other_number(type, value->v[i]);
        return true;
    }
}

// ------------------------------------------------------------------------------------------------------------ the walk

static Sim *load(DiagSink *diags, const char *def, const FieldType *type)
{
    Text text = { 0 };
    text_add_string(&text, WORLD_HEADER);
    text_add_string(&text, world_text);
    Scene *scene = formats_load_text("effects.wbt", text.data, text.length, NULL, diags);
    text_free(&text);
    SceneNode *node = def ? scene_find_def(scene, def) : NULL;
    if (node) {
        FieldValue value = scene_value(node, type);
        other_value(type, &value);
        scene_set_value(scene, node, type, value);
    }
    return sim_create(scene, NULL, diags);
}

static void outcome_loaded(const char *def, const FieldType *type, Outcome *out)
{
    DiagSink *diags = diag_create();
    Sim *sim = load(diags, def, type);
    CHECK(sim != NULL, def ? def : "plain");
    Watch w = watch(sim, diags);
    run(&w, out);
    sim_destroy(sim);
    diag_destroy(diags);
}

static void outcome_set(const char *def, const FieldType *type, Outcome *out, int *messages)
{
    DiagSink *diags = diag_create();
    Sim *sim = load(diags, NULL, NULL);
    CHECK(sim != NULL, def);
    Watch w = watch(sim, diags);
    FieldValue value = scene_value(named(sim, def), type);
    other_value(type, &value);
    int before = diag_total(diags, DIAG_WARNING);
    sim_set_value(sim, named(sim, def), type, value);
    *messages = diag_total(diags, DIAG_WARNING) - before;
    run(&w, out);
    sim_destroy(sim);
    diag_destroy(diags);
}

// Where a world loaded with the value means something else than the change of it.
static bool means_something_else(const char *def, const FieldType *type)
{
    if (!strncmp(type->name, "position", 8) && strcmp(def, "VIEW"))
        return true;  // at load: how far the joint has come already; later: where it goes to
    // A body that is moved by hand meets what it met for one step more, as in Webots: here the water.
    return !strcmp(def, "CORK") && !strcmp(type->name, "translation");
}

typedef struct Tally { int tried, shown, wrong; } Tally;

static void try_field(const char *def, const NodeType *node_type, const FieldType *type, const Outcome *plain, Tally *tally)
{
    static Outcome loaded, set;
    int messages;
    double moved[3], away[3];
    outcome_set(def, type, &set, &messages);
    tally->tried++;
    unsigned effects = schema_effects(node_type, type);
    if (effects & FIELD_ACTS_AT_LOAD) {
        if (messages == 0) {
            printf("%s.%s: taken up at load, but nothing says so\n", def, type->name);
            tally->wrong++;
        }
        return;
    }
    outcome_loaded(def, type, &loaded);
    compare(&loaded, &set, away);
    compare(&loaded, plain, moved);
    bool is_shown = moved[0] > 1e-9 || moved[1] > 1e-9 || moved[2] > 1e-9;
    tally->shown += is_shown;
    static const char *const what[] = { "places", "light", "readings" };
    for (int i = 0; i < 3; i++)
        if (!(away[i] <= 1e-7)) {
            printf("%s.%s: %s are %g away from those of the world loaded with it\n", def, type->name, what[i], away[i]);
            tally->wrong++;
            break;
        }
    if (is_shown && !(effects & (FIELD_ACTS_ON_PHYSICS | FIELD_ACTS_ON_SIGHT | FIELD_ACTS_ON_DEVICES))) {
        printf("%s.%s acts, but its row does not say so\n", def, type->name);
        tally->wrong++;
    }
}

static bool walk_node(SceneNode *node, void *context)
{
    const char *def = scene_instance(node)->def;
    if (!def)
        return true;
    static Outcome plain;
    static bool has_plain;
    if (!has_plain)
        outcome_loaded(NULL, NULL, &plain);
    has_plain = true;
    for (int i = 0; i < node->type->field_count; i++) {
        const FieldType *type = &node->type->fields[i];
        FieldValue value = scene_value(node, type);
        // Fields that all solids have are tried on one of them.
        bool is_common = strcmp(def, "STONE") && strcmp(def, "ROBOT") && schema_field(schema_type("Solid"), type->name) && strcmp(type->name, "translation");
        if (type->class != FIELD_DEPRECATED && !is_common && !means_something_else(def, type) && other_value(type, &value))
            try_field(def, node->type, type, &plain, context);
    }
    return true;
}

static void changed_is_as_loaded(void **state)
{
    (void)state;
    DiagSink *diags = diag_create();
    Sim *sim = load(diags, NULL, NULL);
    if (diag_has_errors(diags))
        diag_print(diags, stderr, 0, DIAG_NOTE);
    CHECK(!diag_has_errors(diags), "the world is right");
    Tally tally = { 0 };
    scene_walk(scene_root(sim_scene(sim)), false, walk_node, &tally);
    printf("%d fields tried, %d seen to act, %d wrong\n", tally.tried, tally.shown, tally.wrong);
    CHECK(tally.wrong == 0, "see above");
    CHECK(tally.tried > 250, "fields");
    CHECK(tally.shown > 120, "fields that are seen to act");
    sim_destroy(sim);
    diag_destroy(diags);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_has_a_row),
        cmocka_unit_test(every_row_is_about_something),
        cmocka_unit_test(changed_is_as_loaded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
