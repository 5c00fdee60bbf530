// model.c - what a world is, as opposed to where it is in time: one hash for each kind of fact that a step depends on.
// A snapshot carries them, so that one of another world is refused, with the names of the facts that differ.
#include "physics/physics_internal.h"

#include "base/hash.h"
#include "base/text.h"

#include <string.h>

static uint64_t add_count(uint64_t hash, int64_t value) { return hash_combine(hash, (uint64_t)value); }

static uint64_t add_double(uint64_t hash, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return hash_combine(hash, bits);
}

static uint64_t add_vector(uint64_t hash, Vec3 v) { return add_double(add_double(add_double(hash, v.x), v.y), v.z); }

static uint64_t add_pose(uint64_t hash, Pose pose)
{
    hash = add_vector(hash, pose.t);
    return add_double(add_double(add_double(add_double(hash, pose.q.w), pose.q.x), pose.q.y), pose.q.z);
}

static uint64_t add_doubles(uint64_t hash, const double *values, int count)
{
    assert_debug(values && count > 0);
    return hash_bytes(values, (size_t)count * sizeof *values, hash);
}

// ---- the world ----

static uint64_t time_step(const Physics *physics, uint64_t hash) { return add_double(hash, physics->dt); }

static uint64_t gravity(const Physics *physics, uint64_t hash) { return add_vector(hash, physics->gravity); }

static uint64_t softness(const Physics *physics, uint64_t hash)
{
    return add_double(add_double(hash, physics->erp), physics->cfm);
}

static uint64_t sleeping(const Physics *physics, uint64_t hash)
{
    return add_double(add_double(add_double(hash, physics->disable_time), physics->disable_linear),
                      physics->disable_angular);
}

static uint64_t contact_properties(const Physics *physics, uint64_t hash)
{
    const ContactTable *table = &physics->contact_table;
    assert_debug(table->rule_count > 0 && table->material_count > 0);  // the defaults are there
    for (int i = 0; i < table->rule_count; i++) {
        const ContactRule *rule = &table->rules[i];
        const double numbers[] = { rule->bounce,   rule->bounce_velocity, rule->soft_erp,
                                   rule->soft_cfm, rule->static_friction, rule->max_joints };
        hash = add_doubles(add_count(add_count(hash, rule->friction_count), rule->slip_count), rule->friction,
                           COUNT_OF(rule->friction));
        hash = add_doubles(add_doubles(hash, rule->slip, COUNT_OF(rule->slip)), rule->rotation,
                           COUNT_OF(rule->rotation));
        hash = add_doubles(add_doubles(hash, rule->rolling, COUNT_OF(rule->rolling)), numbers, COUNT_OF(numbers));
    }
    for (int i = 1; i < table->material_count; i++)
        hash = hash_combine(hash, hash_string(table->materials[i]));
    return hash;
}

// ---- solids and bodies ----

static uint64_t solids(const Physics *physics, uint64_t hash)
{
    hash = add_count(hash, physics->solid_count);
    for (int i = 0; i < physics->solid_count; i++) {
        const PhysicsSolid *solid = &physics->solids[i];
        hash = add_count(hash, solid->is_alive);
        if (!solid->is_alive)
            continue;
        hash = add_count(add_count(add_count(hash, solid->parent), solid->body), solid->allows_self_collision);
        hash = add_pose(add_count(hash, solid->weld >= 0), solid_base(solid));
    }
    return hash;
}

static uint64_t materials(const Physics *physics, uint64_t hash)
{
    for (int i = 0; i < physics->solid_count; i++)
        hash = add_count(hash, physics->solids[i].is_alive ? physics->solids[i].material : -1);
    return hash;
}

static uint64_t masses(const Physics *physics, uint64_t hash)
{
    hash = add_count(hash, physics->body_count);
    for (int i = 0; i < physics->body_count; i++) {
        const Body *body = &physics->bodies[i];
        hash = add_count(hash, body->is_alive);
        if (!body->is_alive)
            continue;
        hash = add_vector(add_double(hash, physics->masses[i].mass), body->com);
        hash = add_doubles(hash, physics->masses[i].inertia.m, COUNT_OF(physics->masses[i].inertia.m));
    }
    return hash;
}

static uint64_t damping(const Physics *physics, uint64_t hash)
{
    for (int i = 0; i < physics->body_count; i++)
        if (physics->bodies[i].is_alive)
            hash = add_double(add_double(hash, physics->masses[i].linear_damping), physics->masses[i].angular_damping);
    return hash;
}

// ---- shapes ----

static uint64_t meshes(const Physics *physics, uint64_t hash)
{
    for (int i = 0; i < physics->mesh_count; i++) {
        const MeshEntry *mesh = &physics->meshes[i];
        assert_debug(mesh->vertex_count >= 0 && mesh->triangle_count >= 0);
        if (!mesh->geometry || !mesh->is_usable)
            continue;
        hash = add_count(add_count(hash, mesh->vertex_count), mesh->triangle_count);
        if (mesh->vertices && mesh->vertex_count > 0)
            hash = hash_bytes(mesh->vertices, sizeof(double) * 3 * (size_t)mesh->vertex_count, hash);
        if (mesh->indices && mesh->triangle_count > 0)
            hash = hash_bytes(mesh->indices, sizeof(int) * 3 * (size_t)mesh->triangle_count, hash);
    }
    return hash;
}

static uint64_t shapes(const Physics *physics, uint64_t hash)
{
    hash = add_count(hash, physics->shape_count);
    for (int i = 0; i < physics->shape_count; i++) {
        const Shape *shape = &physics->shapes[i];
        hash = add_count(hash, shape->is_alive);
        if (!shape->is_alive)
            continue;
        hash = add_vector(add_count(add_count(hash, shape->kind), shape->solid), shape->size);
        hash = add_pose(hash, shape_local(shape));
    }
    return hash;
}

// ---- joints ----

typedef uint64_t AddJoint(uint64_t hash, const PhysicsJoint *joint);

static uint64_t each_joint(const Physics *physics, uint64_t hash, AddJoint *add)
{
    for (int i = 0; i < physics->joint_count; i++)
        if (physics->joints[i].is_alive)
            hash = add(hash, &physics->joints[i]);
    return hash;
}

static uint64_t add_kind(uint64_t hash, const PhysicsJoint *joint)
{
    hash = add_count(add_count(add_count(hash, joint->kind), joint->parent), joint->child);
    return add_count(add_count(hash, joint->is_reference), joint->child_is_world);
}

static uint64_t add_anchor(uint64_t hash, const PhysicsJoint *joint)
{
    return add_vector(add_pose(hash, joint->frame), joint->anchor);
}

static uint64_t add_axes(uint64_t hash, const PhysicsJoint *joint)
{
    for (int i = 0; i < joint->axis_count; i++)
        hash = add_vector(hash, joint->axes[i].axis);
    return hash;
}

static uint64_t add_stops(uint64_t hash, const PhysicsJoint *joint)
{
    for (int i = 0; i < joint->axis_count; i++) {
        const PhysicsAxis *axis = &joint->axes[i];
        const double numbers[] = { axis->min_stop, axis->max_stop, axis->stop_erp, axis->stop_cfm };
        hash = add_doubles(hash, numbers, COUNT_OF(numbers));
    }
    return hash;
}

static uint64_t add_springs(uint64_t hash, const PhysicsJoint *joint)
{
    for (int i = 0; i < joint->axis_count; i++) {
        const PhysicsAxis *axis = &joint->axes[i];
        const double numbers[] = { axis->spring, axis->damping, axis->static_friction, axis->rotor };
        hash = add_doubles(hash, numbers, COUNT_OF(numbers));
    }
    return hash;
}

static uint64_t add_suspension(uint64_t hash, const PhysicsJoint *joint)
{
    hash = add_double(add_double(hash, joint->suspension_spring), joint->suspension_damping);
    return joint->suspension_spring > 0.0 || joint->suspension_damping > 0.0 ? add_vector(hash, joint->suspension_axis)
                                                                             : hash;
}

static uint64_t add_motors(uint64_t hash, const PhysicsJoint *joint)
{
    for (int i = 0; i < joint->axis_count; i++) {
        const PhysicsAxis *axis = &joint->axes[i];
        const double numbers[] = { axis->motor_min,       axis->motor_max,        axis->motor_max_velocity,
                                   axis->motor_max_force, axis->motor_multiplier, axis->coupled_next };
        hash = add_doubles(add_count(hash, axis->motor != NULL), numbers, COUNT_OF(numbers));
        hash = add_count(hash, axis->brake != NULL);
    }
    return hash;
}

static uint64_t joints(const Physics *physics, uint64_t hash)
{
    return each_joint(physics, add_count(hash, physics->joint_count), add_kind);
}
static uint64_t joint_anchors(const Physics *physics, uint64_t hash) { return each_joint(physics, hash, add_anchor); }
static uint64_t joint_axes(const Physics *physics, uint64_t hash) { return each_joint(physics, hash, add_axes); }
static uint64_t joint_stops(const Physics *physics, uint64_t hash) { return each_joint(physics, hash, add_stops); }
static uint64_t joint_springs(const Physics *physics, uint64_t hash) { return each_joint(physics, hash, add_springs); }
static uint64_t suspensions(const Physics *physics, uint64_t hash) { return each_joint(physics, hash, add_suspension); }
static uint64_t motors(const Physics *physics, uint64_t hash) { return each_joint(physics, hash, add_motors); }

// ---- what steps read in the scene ----

// The fields that the type itself adds, but for those that say how it starts.
static uint64_t add_fields(uint64_t hash, const SceneNode *node)
{
    static const char *const starts[] = { "name", "isLocked", "isOn", "on", "description" };
    node = scene_actual(node);
    for (int i = 0; node && i < node->type->own_field_count; i++) {
        const FieldType *type = &node->type->own_fields[i];
        bool is_start = false;
        for (int k = 0; k < COUNT_OF(starts); k++)
            is_start |= !strcmp(type->name, starts[k]);
        if (is_start)
            continue;
        switch (type->kind) {
        case FIELD_SF_BOOL: hash = add_count(hash, scene_bool(node, type->name)); break;
        case FIELD_SF_INT32: hash = add_count(hash, scene_int(node, type->name)); break;
        case FIELD_SF_FLOAT: hash = add_double(hash, scene_float(node, type->name)); break;
        case FIELD_SF_VEC2F:
            hash = add_double(add_double(hash, scene_vec2(node, type->name).x), scene_vec2(node, type->name).y);
            break;
        case FIELD_SF_VEC3F: hash = add_vector(hash, scene_vec3(node, type->name)); break;
        case FIELD_SF_STRING: hash = hash_combine(hash, hash_string(scene_string(node, type->name))); break;
        default: break;
        }
    }
    return hash;
}

static uint64_t machines(const Physics *physics, uint64_t hash)
{
    const SceneNode *node;
    Pose frame;
    for (int i = 0; fitting_at(physics, i, &node, &frame); i++)
        if (node)
            hash = add_fields(add_pose(hash, frame), node);
    return hash;
}

static uint64_t fluids(const Physics *physics, uint64_t hash)
{
    SceneNode *node;
    for (int i = 0; (node = fluid_node(physics, i)) != NULL; i++)
        hash = add_fields(add_count(hash, node->is_removed), node);
    for (int i = 0; physics->fluids && i < physics->solid_count; i++) {
        const FieldList *list = physics->solids[i].is_alive ? scene_list(physics->solids[i].node, "immersionProperties")
                                                            : NULL;
        for (int k = 0; list && k < list->count; k++)
            hash = add_fields(add_count(hash, i), scene_list_node(list, k));
    }
    return hash;
}

static uint64_t stepper(const Physics *physics, uint64_t hash)
{
    assert_debug(physics->stepper && physics->stepper->name);
    return hash_combine(hash, hash_string(physics->stepper->name));
}

// ---- all of them ----

static const struct {
    const char *name;
    uint64_t (*add)(const Physics *physics, uint64_t hash);
} facts[PHYSICS_MODEL_FACTS] = {
    { "the time step", time_step },
    { "gravity", gravity },
    { "ERP or CFM", softness },
    { "when bodies sleep", sleeping },
    { "contact properties", contact_properties },
    { "solids", solids },
    { "contact materials", materials },
    { "masses", masses },
    { "damping", damping },
    { "shapes", shapes },
    { "meshes", meshes },
    { "joints", joints },
    { "joint anchors", joint_anchors },
    { "joint axes", joint_axes },
    { "joint stops", joint_stops },
    { "joint springs, dampers or friction", joint_springs },
    { "suspensions", suspensions },
    { "motors or brakes", motors },
    { "connectors, grippers, tracks or propellers", machines },
    { "fluids", fluids },
    { "the stepper", stepper },
};

// Meshes make it long, and snapshots ask for it again and again, so it is made anew after changes alone.
const PhysicsModel *physics_model(const Physics *physics)
{
    PhysicsModel *model = (PhysicsModel *)&physics->model;
    if (model->is_known && model->edit_count == physics->edit_count && model->shape_count == physics->shape_count)
        return model;
    *model = (PhysicsModel){
        .is_known = true, .edit_count = physics->edit_count, .shape_count = physics->shape_count, .hash = 1
    };
    for (int i = 0; i < PHYSICS_MODEL_FACTS; i++) {
        assert_debug(facts[i].name && facts[i].add);  // a row for each
        model->facts[i] = facts[i].add(physics, (uint64_t)i + 1);
        model->hash = hash_combine(model->hash, model->facts[i]);
    }
    return model;
}

uint64_t physics_model_hash(const Physics *physics) { return physics_model(physics)->hash; }

bool model_differs(const Physics *physics, const uint64_t other[PHYSICS_MODEL_FACTS], Text *what)
{
    const PhysicsModel *model = physics_model(physics);
    bool differs = false;
    for (int i = 0; i < PHYSICS_MODEL_FACTS; i++) {
        if (model->facts[i] == other[i])
            continue;
        text_add_string(what, differs ? ", " : "");
        text_add_string(what, facts[i].name);
        differs = true;
    }
    return differs;
}
