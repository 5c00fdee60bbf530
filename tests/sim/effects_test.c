// Every field of every node type, changed while the world runs: it acts as if the world had been loaded with it, on
// whatever the table of effects (scene/schema_effects.c) says, or is listed there as taken up at load, by the
// controller, or by nobody.
#include "devices/devices_internal.h"
#include "physics/joints/motor.h"
#include "physics/world.h"
#include "scene/schema_effects.h"
#include "support/everything.h"

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

static SceneNode *named(const Sim *sim, const char *def) { return scene_find_def(sim_scene(sim), def); }

// ---------------------------------------------------------------------------------------------------- what can be seen

enum { STEPS = 12, SIDE = 20, READINGS = 8192 };

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
        Vec3 ahead = vec3_normalized(
            vec3(1.0, reach * (1.0 - 2.0 * (i % SIDE + 0.5) / SIDE), reach * (1.0 - 2.0 * (i / SIDE + 0.5) / SIDE)));
        Ray ray = {
            .origin = scene_vec3(view, "position"), .direction = quat_rotate(turn, ahead), .near = 0.0, .far = INFINITY
        };
        RaySeen seen;
        rays_see(w->rays, &ray, 1, &(RaysStyle){ .eye = 0 }, &seen);
        for (int c = 0; c < 3; c++)
            out->light[3 * i + c] = (double)seen.light[c];
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
        memcpy(out->places + out->place_count,
               (double[7]){ pose.t.x, pose.t.y, pose.t.z, pose.q.w, pose.q.x, pose.q.y, pose.q.z }, 7 * sizeof(double));
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

// ------------------------------------------------------------------------------------------------------------ the walk

static Sim *load(DiagSink *diags, const char *def, const FieldType *type)
{
    Scene *scene = formats_load_text("effects.wbt", everything_text, strlen(everything_text), NULL, diags);
    SceneNode *node = def ? scene_find_def(scene, def) : NULL;
    if (node) {
        FieldValue value = scene_value(node, type);
        everything_other_value(type, &value);
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
    everything_other_value(type, &value);
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

typedef struct Tally {
    int tried, shown, wrong;
} Tally;

static void try_field(const char *def, const NodeType *node_type, const FieldType *type, const Outcome *plain,
                      Tally *tally)
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
        bool is_common = strcmp(def, "STONE") && strcmp(def, "ROBOT") && schema_field(schema_type("Solid"), type->name)
                         && strcmp(type->name, "translation");
        if (type->class != FIELD_DEPRECATED && !is_common && !means_something_else(def, type)
            && everything_other_value(type, &value))
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
