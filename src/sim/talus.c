// The library's own interface (include/talus/talus.h) over Sim, Scene and Physics: node ids outside, indices inside.
#include "sim/talus_internal.h"

#include "base/memory.h"
#include "physics/machine.h"
#include "physics/motor.h"

#include <stdlib.h>
#include <string.h>

struct TalusSnapshot { SimSnapshot data; };

// ---- values ----

static Vec3 in(TalusVector v) { return vec3(v.x, v.y, v.z); }
static TalusVector out(Vec3 v) { return (TalusVector){ v.x, v.y, v.z }; }

// ---- diagnostics ----

static void convert(const DiagSink *diags, const Diagnostic *from, TalusDiagnostic *to)
{
    static_assert((int)TALUS_ERROR == (int)DIAG_ERROR && (int)TALUS_NOTE == (int)DIAG_NOTE, "the same order");
    *to = (TalusDiagnostic){ (TalusSeverity)from->severity, diag_file_name(diags, from->pos.file), from->pos.line, from->pos.column,
                             from->message, from->hint, from->count };
}

static void tell(TalusWorld *world)
{
    for (; world->handler && world->told < diag_count(world->diags); world->told++) {
        TalusDiagnostic diagnostic;
        convert(world->diags, diag_at(world->diags, world->told), &diagnostic);
        world->handler(&diagnostic, world->context);
    }
}

bool talus_told(TalusWorld *world, bool result)
{
    tell(world);
    return result;
}

int talus_diagnostic_count(const TalusWorld *world) { return diag_count(world->diags); }

bool talus_diagnostic_at(const TalusWorld *world, int index, TalusDiagnostic *diagnostic)
{
    if (index < 0 || index >= diag_count(world->diags))
        return false;
    convert(world->diags, diag_at(world->diags, index), diagnostic);
    return true;
}

int talus_diagnostic_total(const TalusWorld *world, TalusSeverity severity) { return diag_total(world->diags, (DiagSeverity)severity); }

// ---- life ----

static SimOptions sim_options(const TalusOptions *options)
{
    SimOptions result = { 0 };
    if (!options)
        return result;
    const Limits *limits = options->is_untrusted ? &limits_untrusted : NULL;
    result.physics = (PhysicsOptions){ .stepper = options->stepper, .threads = options->threads, .seed = options->seed,
                                       .has_seed = options->has_seed, .limits = limits,
                                       .nan_policy = options->freezes_on_nan ? PHYSICS_NAN_FREEZE : PHYSICS_NAN_STOP };
    result.formats = (FormatsOptions){ .limits = limits, .search_paths = options->search_paths };
    return result;
}

static TalusWorld *world_create(const TalusOptions *options)
{
    TalusWorld *world = memory_alloc(sizeof(*world));
    world->diags = diag_create();
    if (options) {
        world->handler = options->on_diagnostic;
        world->context = options->context;
    }
    return world;
}

static TalusWorld *world_or_nothing(TalusWorld *world)
{
    tell(world);
    if (world->sim)
        return world;
    talus_free(world);
    return NULL;
}

TalusWorld *talus_load(const char *path, const TalusOptions *options)
{
    TalusWorld *world = world_create(options);
    SimOptions how = sim_options(options);
    world->sim = sim_load(path, &how, world->diags);
    return world_or_nothing(world);
}

TalusWorld *talus_load_text(const char *name, const char *text, size_t size, const TalusOptions *options)
{
    TalusWorld *world = world_create(options);
    SimOptions how = sim_options(options);
    world->sim = sim_load_text(name, text, size, &how, world->diags);
    return world_or_nothing(world);
}

void talus_free(TalusWorld *world)
{
    if (!world)
        return;
    talus_devices_free(world);
    sim_destroy(world->sim);
    diag_destroy(world->diags);
    free(world);
}

int talus_check(const char *path, const TalusOptions *options)
{
    TalusWorld *world = world_create(options);
    SimOptions how = sim_options(options);
    Scene *scene = formats_load(path, &how.formats, world->diags);
    tell(world);
    int errors = scene ? diag_total(world->diags, DIAG_ERROR) : -1;
    scene_destroy(scene);
    talus_free(world);
    return errors;
}

// ---- time ----

bool talus_step(TalusWorld *world, int steps)
{
    bool goes_on = !sim_failure(world->sim);
    for (int i = 0; i < steps && goes_on; i++)
        goes_on = sim_step(world->sim);
    return talus_told(world, goes_on);
}

const char *talus_failure(const TalusWorld *world) { return sim_failure(world->sim); }
uint64_t talus_steps(const TalusWorld *world) { return sim_steps(world->sim); }
double talus_time(const TalusWorld *world) { return sim_time(world->sim); }
double talus_time_step(const TalusWorld *world) { return sim_time_step(world->sim); }

bool talus_reset(TalusWorld *world)
{
    bool is_back = sim_reset(world->sim);
    talus_devices_reset(world);
    return talus_told(world, is_back);
}

uint64_t talus_hash(const TalusWorld *world) { return sim_hash(world->sim); }
TalusSnapshot *talus_snapshot_create(void) { return memory_alloc(sizeof(TalusSnapshot)); }

void talus_snapshot_free(TalusSnapshot *snapshot)
{
    if (!snapshot)
        return;
    sim_snapshot_free(&snapshot->data);
    free(snapshot);
}

void talus_snapshot_take(TalusWorld *world, TalusSnapshot *snapshot) { sim_snapshot(world->sim, &snapshot->data); }

bool talus_snapshot_restore(TalusWorld *world, const TalusSnapshot *snapshot)
{
    return talus_told(world, sim_restore(world->sim, &snapshot->data));
}

bool talus_snapshot_write(TalusWorld *world, const char *path) { return talus_told(world, sim_snapshot_write(world->sim, path)); }
bool talus_snapshot_read(TalusWorld *world, const char *path) { return talus_told(world, sim_snapshot_read(world->sim, path)); }
bool talus_save(TalusWorld *world, const char *path) { return talus_told(world, sim_save(world->sim, path)); }

// ---- nodes ----

SceneNode *talus_node_of(const TalusWorld *world, TalusNode id)
{
    SceneNode *node = id == TALUS_NONE ? NULL : scene_find_id(sim_scene(world->sim), id);
    return node && !node->is_removed ? node : NULL;
}

static TalusNode id_of(const SceneNode *node) { return node ? node->id : TALUS_NONE; }

TalusNode talus_find(const TalusWorld *world, const char *name)
{
    const SceneNode *node = scene_find_def(sim_scene(world->sim), name);
    return id_of(node ? node : scene_find_solid(sim_scene(world->sim), name));
}

TalusNode talus_find_below(const TalusWorld *world, TalusNode top, const char *def_path)
{
    const SceneNode *node = talus_node_of(world, top);
    return node ? id_of(scene_find_def_below(node, def_path)) : TALUS_NONE;
}

bool talus_node_exists(const TalusWorld *world, TalusNode node) { return talus_node_of(world, node) != NULL; }

const char *talus_node_type(const TalusWorld *world, TalusNode id)
{
    const SceneNode *node = talus_node_of(world, id);
    return node && node->type ? node->type->name : NULL;
}

const char *talus_node_def(const TalusWorld *world, TalusNode id)
{
    const SceneNode *node = talus_node_of(world, id);
    return node ? scene_instance(node)->def : NULL;
}

TalusNode talus_node_parent(const TalusWorld *world, TalusNode id)
{
    const SceneNode *node = talus_node_of(world, id);
    return node ? id_of(scene_parent(node)) : TALUS_NONE;
}

// Fields that the simulation moves are written into the scene when somebody asks for one of them.
static void bring_up_to_date(const TalusWorld *world, const char *field)
{
    static const char *const moving[] = { "translation", "rotation", "linearVelocity", "angularVelocity", "position", "position2", "position3", "isLocked", "isOn", "on" };
    for (int i = 0; i < COUNT_OF(moving); i++)
        if (!strcmp(field, moving[i])) {
            sim_sync_scene(world->sim);
            return;
        }
}

// The node behind an id if it has a field of one of two kinds.
static SceneNode *with_field(const TalusWorld *world, TalusNode id, const char *field, FieldKind kind, FieldKind other)
{
    SceneNode *node = talus_node_of(world, id);
    SceneNode *actual = scene_actual(node);
    // A PROTO instance is asked for its parameters by the actual node's field of the same name.
    const FieldType *type = actual && actual->type ? schema_field(actual->type, field) : NULL;
    if (!type || (type->kind != kind && type->kind != other))
        return NULL;
    bring_up_to_date(world, field);
    return actual;
}

bool talus_get_bool(const TalusWorld *world, TalusNode id, const char *field, bool *value)
{
    const SceneNode *node = with_field(world, id, field, FIELD_SF_BOOL, FIELD_SF_BOOL);
    if (node)
        *value = scene_bool(node, field);
    return node != NULL;
}

bool talus_get_int(const TalusWorld *world, TalusNode id, const char *field, int *value)
{
    const SceneNode *node = with_field(world, id, field, FIELD_SF_INT32, FIELD_SF_INT32);
    if (node)
        *value = scene_int(node, field);
    return node != NULL;
}

bool talus_get_double(const TalusWorld *world, TalusNode id, const char *field, double *value)
{
    const SceneNode *node = with_field(world, id, field, FIELD_SF_FLOAT, FIELD_SF_FLOAT);
    if (node)
        *value = scene_float(node, field);
    return node != NULL;
}

bool talus_get_vector(const TalusWorld *world, TalusNode id, const char *field, TalusVector *value)
{
    const SceneNode *node = with_field(world, id, field, FIELD_SF_VEC3F, FIELD_SF_COLOR);
    if (node)
        *value = out(scene_vec3(node, field));
    return node != NULL;
}

const char *talus_get_string(const TalusWorld *world, TalusNode id, const char *field)
{
    const SceneNode *node = with_field(world, id, field, FIELD_SF_STRING, FIELD_SF_STRING);
    return node ? scene_string(node, field) : NULL;
}

TalusNode talus_get_node(const TalusWorld *world, TalusNode id, const char *field, int index)
{
    const SceneNode *node = with_field(world, id, field, FIELD_SF_NODE, FIELD_MF_NODE);
    if (!node || index < 0)
        return TALUS_NONE;
    if (schema_field(node->type, field)->kind == FIELD_SF_NODE)
        return index == 0 ? id_of(scene_child(node, field)) : TALUS_NONE;
    const FieldList *list = scene_list(node, field);
    return index < list->count ? id_of(scene_list_node(list, index)) : TALUS_NONE;
}

int talus_get_numbers(const TalusWorld *world, TalusNode id, const char *field, double *values, int capacity)
{
    const SceneNode *node = scene_actual(talus_node_of(world, id));
    const FieldType *type = node && node->type ? schema_field(node->type, field) : NULL;
    if (!type)
        return -1;
    bring_up_to_date(world, field);
    FieldValue value = scene_value(node, type);
    FieldKind item = field_kind_item(type->kind);
    bool is_list = field_kind_is_list(type->kind);
    int per_item = item == FIELD_SF_INT32 || item == FIELD_SF_BOOL ? 1 : field_kind_doubles(item);
    if (per_item == 0)
        return -1;
    int count = is_list ? value.list->count * per_item : per_item;
    for (int i = 0; i < count && i < capacity; i++) {
        if (item == FIELD_SF_INT32)
            values[i] = is_list ? value.list->ints[i] : value.i;
        else if (item == FIELD_SF_BOOL)
            values[i] = is_list ? value.list->bools[i] : value.b;
        else if (is_list)
            values[i] = value.list->numbers[i];
        else
            values[i] = item == FIELD_SF_FLOAT ? value.f : value.v[i];
    }
    return count;
}

static bool changed(TalusWorld *world, SceneNode *node, const char *field)
{
    sim_field_changed(world->sim, node, field);
    return talus_told(world, true);
}

bool talus_set_bool(TalusWorld *world, TalusNode id, const char *field, bool value)
{
    SceneNode *node = with_field(world, id, field, FIELD_SF_BOOL, FIELD_SF_BOOL);
    if (!node)
        return false;
    scene_set_bool(sim_scene(world->sim), node, field, value);
    return changed(world, node, field);
}

bool talus_set_int(TalusWorld *world, TalusNode id, const char *field, int value)
{
    SceneNode *node = with_field(world, id, field, FIELD_SF_INT32, FIELD_SF_INT32);
    if (!node)
        return false;
    scene_set_int(sim_scene(world->sim), node, field, value);
    return changed(world, node, field);
}

bool talus_set_double(TalusWorld *world, TalusNode id, const char *field, double value)
{
    SceneNode *node = with_field(world, id, field, FIELD_SF_FLOAT, FIELD_SF_FLOAT);
    if (!node || !isfinite(value))
        return false;
    scene_set_float(sim_scene(world->sim), node, field, value);
    return changed(world, node, field);
}

bool talus_set_vector(TalusWorld *world, TalusNode id, const char *field, TalusVector value)
{
    SceneNode *node = with_field(world, id, field, FIELD_SF_VEC3F, FIELD_SF_COLOR);
    if (!node || !vec3_is_finite(in(value)))
        return false;
    scene_set_vec3(sim_scene(world->sim), node, field, in(value));
    return changed(world, node, field);
}

bool talus_set_string(TalusWorld *world, TalusNode id, const char *field, const char *value)
{
    SceneNode *node = with_field(world, id, field, FIELD_SF_STRING, FIELD_SF_STRING);
    if (!node || !value)
        return false;
    scene_set_string(sim_scene(world->sim), node, field, value);
    return changed(world, node, field);
}

static int numbers_per_item(FieldKind item)
{
    return item == FIELD_SF_INT32 || item == FIELD_SF_BOOL ? 1 : field_kind_doubles(item);
}

static bool numbers_fit(FieldKind item, const double *values, int count)
{
    for (int i = 0; i < count; i++)
        if (!isfinite(values[i]) || (item == FIELD_SF_INT32 && !(fabs(values[i]) <= INT32_MAX)))
            return false;
    return true;
}

static void set_list(Scene *scene, SceneNode *node, const char *field, FieldKind item, const double *values, int count)
{
    FieldList *list = scene_list_edit(scene, node, field);
    scene_list_reserve(scene, list, item, count / numbers_per_item(item));
    list->count = count / numbers_per_item(item);
    for (int i = 0; i < count; i++) {
        if (item == FIELD_SF_INT32)
            list->ints[i] = (int32_t)values[i];
        else if (item == FIELD_SF_BOOL)
            list->bools[i] = values[i] != 0.0;
        else
            list->numbers[i] = values[i];
    }
}

bool talus_set_numbers(TalusWorld *world, TalusNode id, const char *field, const double *values, int count)
{
    SceneNode *node = scene_actual(talus_node_of(world, id));
    const FieldType *type = node && node->type ? schema_field(node->type, field) : NULL;
    if (!type || count < 0)
        return false;
    FieldKind item = field_kind_item(type->kind);
    int per_item = numbers_per_item(item);
    bool is_list = field_kind_is_list(type->kind);
    if (per_item == 0 || (is_list ? count % per_item != 0 : count != per_item) || !numbers_fit(item, values, count))
        return false;
    if (is_list) {
        set_list(sim_scene(world->sim), node, field, item, values, count);
        return changed(world, node, field);
    }
    FieldValue value = { 0 };
    if (item == FIELD_SF_INT32)
        value.i = (int32_t)values[0];
    else if (item == FIELD_SF_BOOL)
        value.b = values[0] != 0.0;
    else if (item == FIELD_SF_FLOAT)
        value.f = values[0];
    else
        memcpy(value.v, values, sizeof(double) * (size_t)count);
    scene_set_value(sim_scene(world->sim), node, type, value);
    return changed(world, node, field);
}

TalusNode talus_insert(TalusWorld *world, TalusNode parent, const char *field, int index, const char *text)
{
    SceneNode *holder = talus_node_of(world, parent);
    const SceneNode *node = holder ? sim_insert(world->sim, holder, field, index, text, strlen(text)) : NULL;
    talus_devices_changed(world);
    tell(world);
    return id_of(scene_actual(node));
}

bool talus_remove(TalusWorld *world, TalusNode id)
{
    SceneNode *node = talus_node_of(world, id);
    bool is_gone = node && sim_remove(world->sim, node);
    talus_devices_changed(world);
    return talus_told(world, is_gone);
}

// ---- solids ----

static int solid_of(const TalusWorld *world, TalusNode id)
{
    const SceneNode *node = talus_node_of(world, id);
    return node ? physics_solid_of(sim_physics(world->sim), node) : -1;
}

static TalusNode solid_id(const TalusWorld *world, int solid)
{
    return solid < 0 ? TALUS_NONE : id_of(physics_solid_node(sim_physics(world->sim), solid));
}

int talus_solids(const TalusWorld *world, TalusNode *nodes, int capacity)
{
    const Physics *physics = sim_physics(world->sim);
    int count = 0;
    for (int i = 0; i < physics_solid_count(physics); i++)
        if (physics_solid_exists(physics, i)) {
            if (count < capacity)
                nodes[count] = solid_id(world, i);
            count++;
        }
    return count;
}

const char *talus_solid_label(const TalusWorld *world, TalusNode id)
{
    int solid = solid_of(world, id);
    return solid < 0 ? NULL : physics_solid_label(sim_physics(world->sim), solid);
}

bool talus_pose(const TalusWorld *world, TalusNode id, TalusPose *pose)
{
    int solid = solid_of(world, id);
    if (solid < 0)
        return false;
    Pose now = physics_solid_pose(sim_physics(world->sim), solid);
    *pose = (TalusPose){ out(now.t), { now.q.w, now.q.x, now.q.y, now.q.z } };
    return true;
}

bool talus_velocity(const TalusWorld *world, TalusNode id, TalusVector *linear, TalusVector *angular)
{
    int solid = solid_of(world, id);
    if (solid < 0)
        return false;
    if (linear)
        *linear = out(physics_solid_linear_velocity(sim_physics(world->sim), solid));
    if (angular)
        *angular = out(physics_solid_angular_velocity(sim_physics(world->sim), solid));
    return true;
}

bool talus_mass(const TalusWorld *world, TalusNode id, double *mass, TalusVector *center)
{
    int solid = solid_of(world, id);
    if (solid < 0)
        return false;
    if (mass)
        *mass = physics_solid_mass(sim_physics(world->sim), solid);
    if (center)
        *center = out(physics_solid_center_of_mass(sim_physics(world->sim), solid));
    return true;
}

bool talus_is_dynamic(const TalusWorld *world, TalusNode id)
{
    int solid = solid_of(world, id);
    return solid >= 0 && physics_solid_body(sim_physics(world->sim), solid) >= 0;
}

bool talus_is_idle(const TalusWorld *world, TalusNode id)
{
    int solid = solid_of(world, id);
    return solid >= 0 && physics_solid_is_idle(sim_physics(world->sim), solid);
}

bool talus_is_colliding(const TalusWorld *world, TalusNode id)
{
    int solid = solid_of(world, id);
    return solid >= 0 && physics_solid_is_colliding(sim_physics(world->sim), solid);
}

bool talus_set_pose(TalusWorld *world, TalusNode id, TalusPose pose)
{
    int solid = solid_of(world, id);
    Pose to = { in(pose.position), { pose.orientation.w, pose.orientation.x, pose.orientation.y, pose.orientation.z } };
    if (solid < 0)
        return false;
    physics_solid_set_pose(sim_physics(world->sim), solid, to);
    return talus_told(world, pose_is_finite(to));
}

bool talus_set_velocity(TalusWorld *world, TalusNode id, TalusVector linear, TalusVector angular)
{
    int solid = solid_of(world, id);
    if (solid < 0)
        return false;
    physics_solid_set_velocity(sim_physics(world->sim), solid, in(linear), in(angular));
    return talus_told(world, vec3_is_finite(in(linear)) && vec3_is_finite(in(angular)));
}

bool talus_reset_motion(TalusWorld *world, TalusNode id)
{
    int solid = solid_of(world, id);
    if (solid >= 0)
        physics_solid_reset(sim_physics(world->sim), solid);
    return solid >= 0;
}

bool talus_add_force(TalusWorld *world, TalusNode id, TalusVector force)
{
    int solid = solid_of(world, id);
    return talus_told(world, solid >= 0 && physics_solid_add_force(sim_physics(world->sim), solid, in(force)));
}

bool talus_add_force_at(TalusWorld *world, TalusNode id, TalusVector force, TalusVector point)
{
    int solid = solid_of(world, id);
    return talus_told(world, solid >= 0 && physics_solid_add_force_at(sim_physics(world->sim), solid, in(force), in(point)));
}

bool talus_add_torque(TalusWorld *world, TalusNode id, TalusVector torque)
{
    int solid = solid_of(world, id);
    return talus_told(world, solid >= 0 && physics_solid_add_torque(sim_physics(world->sim), solid, in(torque)));
}

// ---- joints ----

static bool axis_of(const TalusWorld *world, TalusNode id, int *joint, int *axis)
{
    const Physics *physics = sim_physics(world->sim);
    const SceneNode *node = talus_node_of(world, id);
    if (!node)
        return false;
    if (physics_axis_of(physics, scene_actual(node), joint, axis))
        return true;
    int solid = physics_solid_of(physics, node);
    *joint = solid >= 0 ? physics_solid_joint(physics, solid) : physics_joint_of(physics, node);
    return *joint >= 0 && *axis >= 0 && *axis < physics_joint_axis_count(physics, *joint);
}

bool talus_joint_position(const TalusWorld *world, TalusNode id, int axis, double *position)
{
    int joint;
    if (!axis_of(world, id, &joint, &axis))
        return false;
    *position = physics_joint_position(sim_physics(world->sim), joint, axis);
    return true;
}

bool talus_joint_velocity(const TalusWorld *world, TalusNode id, int axis, double *velocity)
{
    int joint;
    if (!axis_of(world, id, &joint, &axis))
        return false;
    *velocity = physics_joint_velocity(sim_physics(world->sim), joint, axis);
    return true;
}

bool talus_joint_set_position(TalusWorld *world, TalusNode id, int axis, double position)
{
    int joint;
    if (!isfinite(position) || !axis_of(world, id, &joint, &axis))
        return false;
    physics_joint_set_position(sim_physics(world->sim), joint, axis, position);
    return talus_told(world, true);
}

typedef const char *(*MotorSetter)(Physics *physics, int joint, int axis, double value);

static bool complain(TalusWorld *world, TalusNode id, const char *complaint)
{
    if (complaint) {
        const SceneNode *node = talus_node_of(world, id);
        diag_warning(world->diags, node->pos, "%s", complaint);
    }
    return talus_told(world, true);
}

static bool command(TalusWorld *world, TalusNode id, int axis, double value, MotorSetter setter)
{
    int joint;
    if (isnan(value) || !axis_of(world, id, &joint, &axis))
        return false;
    return complain(world, id, setter(sim_physics(world->sim), joint, axis, value));
}

bool talus_motor_set_position(TalusWorld *world, TalusNode joint, int axis, double position)
{
    return command(world, joint, axis, position, physics_motor_set_position);
}

bool talus_motor_set_velocity(TalusWorld *world, TalusNode joint, int axis, double velocity)
{
    return command(world, joint, axis, velocity, physics_motor_set_velocity);
}

bool talus_motor_set_force(TalusWorld *world, TalusNode joint, int axis, double force)
{
    return command(world, joint, axis, force, physics_motor_set_force);
}

bool talus_motor_set_available_force(TalusWorld *world, TalusNode joint, int axis, double force)
{
    return command(world, joint, axis, force, physics_motor_set_available_force);
}

bool talus_motor_set_acceleration(TalusWorld *world, TalusNode joint, int axis, double acceleration)
{
    return command(world, joint, axis, acceleration, physics_motor_set_acceleration);
}

bool talus_motor_set_gains(TalusWorld *world, TalusNode id, int axis, double p, double i, double d)
{
    int joint;
    if (isnan(p) || isnan(i) || isnan(d) || !axis_of(world, id, &joint, &axis))
        return false;
    return complain(world, id, physics_motor_set_gains(sim_physics(world->sim), joint, axis, p, i, d));
}

bool talus_motor_feedback(TalusWorld *world, TalusNode id, int axis, double *force)
{
    int joint;
    if (!axis_of(world, id, &joint, &axis))
        return false;
    physics_motor_want_feedback(sim_physics(world->sim), joint, true);
    *force = physics_motor(sim_physics(world->sim), joint, axis).feedback;
    return true;
}

bool talus_brake_set_damping(TalusWorld *world, TalusNode id, int axis, double damping)
{
    int joint;
    if (!(damping >= 0.0) || !axis_of(world, id, &joint, &axis))
        return false;
    physics_brake_set_damping(sim_physics(world->sim), joint, axis, damping);
    return true;
}

// ---- connectors and grippers ----

// The solid of a node of this type, -1 when it is another.
static int device_of(const TalusWorld *world, TalusNode id, const char *type)
{
    const SceneNode *node = talus_node_of(world, id);
    return node && scene_node_is(scene_actual(node), type) ? solid_of(world, id) : -1;
}

bool talus_connector_set_locked(TalusWorld *world, TalusNode id, bool is_locked)
{
    int solid = device_of(world, id, "Connector");
    if (solid < 0)
        return false;
    if (is_locked)
        physics_connector_lock(sim_physics(world->sim), solid);
    else
        physics_connector_unlock(sim_physics(world->sim), solid);
    return talus_told(world, true);
}

bool talus_connector_presence(TalusWorld *world, TalusNode id, int *presence)
{
    int solid = device_of(world, id, "Connector");
    if (solid >= 0)
        *presence = physics_connector_presence(sim_physics(world->sim), solid);
    return solid >= 0;
}

TalusNode talus_connector_peer(const TalusWorld *world, TalusNode id)
{
    int solid = device_of(world, id, "Connector");
    return solid < 0 ? TALUS_NONE : solid_id(world, physics_connector_peer(sim_physics(world->sim), solid));
}

bool talus_gripper_set_on(TalusWorld *world, TalusNode id, bool is_on)
{
    int solid = device_of(world, id, "VacuumGripper");
    if (solid >= 0)
        physics_gripper_turn(sim_physics(world->sim), solid, is_on);
    return talus_told(world, solid >= 0);
}

TalusNode talus_gripper_held(const TalusWorld *world, TalusNode id)
{
    int solid = device_of(world, id, "VacuumGripper");
    return solid < 0 ? TALUS_NONE : solid_id(world, physics_gripper_held(sim_physics(world->sim), solid));
}

// ---- contacts ----

int talus_contacts(const TalusWorld *world, TalusContact *contacts, int capacity)
{
    const Physics *physics = sim_physics(world->sim);
    int count;
    const PhysicsContact *from = physics_contacts(physics, &count);
    for (int i = 0; i < count && i < capacity; i++) {
        PhysicsContactMotion motion = physics_contact_motion(physics, i);
        contacts[i] = (TalusContact){ { solid_id(world, from[i].solid[0]), solid_id(world, from[i].solid[1]) }, out(from[i].point),
                                      out(from[i].normal), from[i].depth, from[i].friction, from[i].properties,
                                      motion.sliding_speed, motion.rolling_speed, motion.impact_energy };
    }
    return count;
}

int talus_contact_forces(TalusWorld *world, TalusContactForce *forces, int capacity)
{
    Physics *physics = sim_physics(world->sim);
    physics_want_contact_forces(physics, true);
    int count;
    const PhysicsContactForce *from = physics_contact_forces(physics, &count);
    for (int i = 0; i < count && i < capacity; i++)
        forces[i] = (TalusContactForce){ { solid_id(world, from[i].solid[0]), solid_id(world, from[i].solid[1]) }, out(from[i].point),
                                         out(from[i].normal), out(from[i].force) };
    return count;
}

TalusStatistics talus_statistics(const TalusWorld *world)
{
    PhysicsStatistics s = physics_statistics(sim_physics(world->sim));
    return (TalusStatistics){ s.solids, s.bodies, s.bodies_awake, s.joints, s.contacts, s.contacts_dropped, s.frozen, s.deepest };
}
