// physics.c - a world's life and its step: made from the scene, the parts of a step in their order, and what others ask
// of solids, bodies, shapes and joints.
#include "physics/contacts/contact_narrow.h"
#include "physics/contacts/contact_thin.h"
#include "physics/collide/convex.h"
#include "physics/contacts/sleep.h"

#include "base/memory.h"
#include "physics/mirror.h"
#include "physics/prefetch.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

// ---- the world ----

static SceneNode *find_info(Scene *scene)
{
    const FieldList *nodes = scene_list(scene_root(scene), "children");
    for (int i = 0; i < nodes->count; i++) {
        SceneNode *node = scene_list_node(nodes, i);
        if (node && scene_node_is(node, "WorldInfo"))
            return node;
    }
    return NULL;
}

static double read_time_step(Physics *physics)
{
    double ms = physics->info ? scene_float(physics->info, "basicTimeStep") : 32.0;
    double dt = 0.001 * ms;
    if (dt >= LIMIT_TIME_STEP_LOW && dt <= LIMIT_TIME_STEP_HIGH)
        return dt;
    double used = isfinite(dt) ? double_clamp(dt, LIMIT_TIME_STEP_LOW, LIMIT_TIME_STEP_HIGH) : 0.032;
    diag_error(physics->diags, scene_field_pos(physics->info, "basicTimeStep"),
               "basicTimeStep %g ms is out of range; using %g ms", ms, 1000.0 * used);
    return used;
}

static void read_gravity(Physics *physics)
{
    double g = physics->info ? scene_float(physics->info, "gravity") : 9.81;
    const char *axes = physics->info ? scene_string(physics->info, "coordinateSystem") : "ENU";
    g = isfinite(g) ? double_clamp(g, -1e6, 1e6) : 9.81;
    physics->up_axis = !strcmp(axes, "ENU") ? 2 : 1;
    physics->gravity = physics->up_axis == 2 ? vec3(0, 0, -g) : vec3(0, -g, 0);
    // Files before R2020b had a gravity vector; one that did not point down keeps its direction here.
    Vec3 direction = physics->info ? scene_vec3(physics->info, "gravityDirection") : VEC3_ZERO;
    if (vec3_length2(direction) > 0.0)
        physics->gravity = vec3_scale(vec3_normalized(direction), g);
}

static double info_float(const Physics *physics, const char *field, double preset)
{
    double value = physics->info ? scene_float(physics->info, field) : preset;
    return isfinite(value) ? value : preset;
}

void world_read_info(Physics *physics)
{
    read_gravity(physics);
    physics->erp = double_clamp(info_float(physics, "ERP", 0.2), 0.0, 1.0);
    physics->cfm = double_clamp(info_float(physics, "CFM", 1e-5), 0.0, 1e6);
    physics->contact_surface_layer = double_clamp(info_float(physics, "contactSurfaceLayer", 0.0), 0.0, 1.0);
    physics->disable_time = info_float(physics, "physicsDisableTime", 1.0);
    physics->disable_linear = info_float(physics, "physicsDisableLinearThreshold", 0.01);
    physics->disable_angular = info_float(physics, "physicsDisableAngularThreshold", 0.01);
    physics->default_linear_damping = physics->default_angular_damping = 0.0;
    SceneNode *damping = physics->info ? scene_child(physics->info, "defaultDamping") : NULL;
    if (damping) {
        physics->default_linear_damping = double_clamp(scene_float(damping, "linear"), 0.0, 1.0);
        physics->default_angular_damping = double_clamp(scene_float(damping, "angular"), 0.0, 1.0);
    }
    mirror_settings(physics);
    contact_table_build(physics);
}

static uint64_t choose_seed(const Physics *physics, const PhysicsOptions *options)
{
    if (options->has_seed)
        return options->seed;
    // Without a seed in the world (-1) Webots takes the clock; a run of ours is to repeat, so it takes a constant.
    int seed = physics->info ? scene_int(physics->info, "randomSeed") : 0;
    return seed >= 0 ? (uint64_t)seed : 0;
}

Physics *physics_create(Scene *scene, const PhysicsOptions *options, DiagSink *diags)
{
    static const PhysicsOptions defaults;
    options = options ? options : &defaults;
    const StepperType *stepper = stepper_find(options->stepper);
    if (!stepper) {
        diag_error(diags, (SourcePos){ 0 }, "there is no stepper '%s'", options->stepper);
        return NULL;
    }
    Physics *physics = memory_alloc(sizeof(*physics));
    physics->scene = scene;
    physics->diags = diags;
    physics->limits = *limits_or_default(options->limits);
    physics->arena = arena_create_small();
    physics->stepper = stepper;
    physics->needs_contact_joints = stepper->wants_ode;
    physics->owns_assets = !options->assets;
    physics->assets = options->assets ? options->assets
                                      : store_create(&(StoreOptions){ .resolve.main_file = scene_path(scene),
                                                                      .limits = options->limits });
    physics->like = options->like;
    physics->nan_policy = options->nan_policy;
    physics->info = find_info(scene);
    physics->reads_rates = scene_release(scene) > 0 && scene_release(scene) < schema_release("R2023b", 6);
    physics->threads = options->threads > 0 ? options->threads
                       : physics->info      ? scene_int(physics->info, "optimalThreadCount")
                                            : 1;
    physics->threads = int_max(1, int_min(physics->threads, 256));
    physics->seed = choose_seed(physics, options);
    physics->broadphase = broadphase_create();
    physics->narrow = narrow_create(physics->threads);
    physics->sleep = memory_alloc(sizeof *physics->sleep);
    physics->needs_full_pass = true;
    if (physics->threads > 1)
        physics->pool = pool_create(physics->threads);
    broadphase_use_pool(physics->broadphase, physics->pool);
    broadphase_limit(physics->broadphase, (int)(PAIRS_SEARCHED * physics->limits.pairs));
    // The order matters: dampings and joints that build_world() makes read the step's length and the world's softness;
    // twins and the stepper's own arrays are made of what it built.
    physics->dt = read_time_step(physics);
    world_read_info(physics);
    build_world(physics);
    physics_fit_rows(physics);
    if (stepper->wants_ode)
        mirror_open(physics);
    if (stepper->create)
        physics->stepper_self = stepper->create(physics);
    return physics;
}

void physics_destroy(Physics *physics)
{
    if (!physics)
        return;
    odelib_begin(physics);
    if (physics->stepper->destroy)
        physics->stepper->destroy(physics->stepper_self);
    physics->solved_count = 0;  // it was the stepper's
    contacts_release(physics);
    for (int i = physics->joint_count - 1; i >= 0; i--)  // those made last stand first in the lists of constraints
        if (physics->joints[i].is_alive)
            joint_unmake(physics, i);
    fittings_destroy(physics);
    collision_rules_destroy(physics);
    extra_joints_destroy(physics);
    pins_destroy(physics);
    fluids_destroy(physics);
    probes_destroy(physics);
    for (int i = 0; i < physics->shape_count; i++)
        shape_destroy(physics, i);
    plugin_free(physics);
    mirror_close(physics);
    while (physics->constraint_count > 0)
        constraint_unmake(physics, physics->constraints[physics->constraint_count - 1]);
    meshes_destroy(physics);
    odelib_end();
    broadphase_destroy(physics->broadphase);
    if (!physics->shares_rows) {
        free(physics->solids);
        free(physics->bodies);
        free(physics->masses);
    }
    free(physics->solid_states);
    free(physics->solid_world);
    free(physics->solid_of_node.slots);
    free(physics->body_states);
    free(physics->body_constraints);
    free(physics->previous);
    free(physics->shapes);
    free(physics->joints);
    free(physics->constraints);
    free(physics->joint_states);
    free(physics->joint_lists.driven);
    free(physics->joint_lists.watched);
    free(physics->welds);
    free(physics->weld_states);
    free(physics->contacts);
    free(physics->own_surfaces);
    free(physics->held);
    free(physics->contact_joints);
    free(physics->feedbacks);
    free(physics->contact_forces);
    free(physics->last_forces);
    free(physics->resting_forces);
    free(physics->touching);
    free(physics->touched);
    free(physics->record_chunks);
    narrow_destroy(physics->narrow);
    thin_destroy(physics->thin);
    sleep_destroy(physics->sleep);
    pool_destroy(physics->pool);
    if (physics->owns_assets)
        store_destroy(physics->assets);
    arena_destroy(physics->arena);
    free(physics);
}

Scene *physics_scene(const Physics *physics) { return physics->scene; }
AssetStore *physics_assets(const Physics *physics) { return physics->assets; }
double physics_time_step(const Physics *physics) { return physics->dt; }
Vec3 physics_gravity(const Physics *physics) { return physics->gravity; }
uint64_t physics_seed(const Physics *physics) { return physics->seed; }
void physics_set_seed(Physics *physics, uint64_t seed) { physics->seed = seed; }
struct Pool *physics_pool(const Physics *physics) { return physics->pool; }
const char *physics_stepper_name(const Physics *physics) { return physics->stepper->name; }
const char *const *physics_stepper_names(void) { return stepper_names(); }
bool physics_has_failed(const Physics *physics) { return physics->has_failed; }

// ---- the parts of a step ----

// Whether a step would find everything as the last one left it.
static bool is_still(const Physics *physics)
{
    return physics->is_at_rest && !physics->plugin_holds_ode && !physics->needs_pass && !physics->is_static_moved;
}

// Joints without physics, tracks, propellers and fluids may act on their own, so worlds that have them are not skipped.
static bool comes_to_rest(const Physics *physics)
{
    if (physics->plugin_holds_ode || physics->fittings || physics->fluids || physics->needs_pass
        || physics->is_static_moved)
        return false;
    if (physics->sleep->awake_count > 0 || physics->has_moving_solids)
        return false;
    for (int i = 0; i < physics->joint_count; i++)
        if (physics->joints[i].is_alive && !physics->joints[i].is_dynamic)
            return false;
    return true;
}

void physics_begin_step(Physics *physics, uint64_t step)
{
    physics->step = step;
    if (!mirror_is_open(physics))
        return;
    odelib_generator_take(physics->seed + step);
    odelib_generator_give();
}

// Solids without physics that have a velocity move along and take everything below with them.
static void move_kinematic(Physics *physics)
{
    if (!physics->has_moving_solids)
        return;
    physics->has_moving_solids = false;
    for (int i = 0; i < physics->solid_count; i++) {
        const PhysicsSolid *solid = &physics->solids[i];
        const SolidState *state = &physics->solid_states[i];
        if (!solid->is_alive || solid->body >= 0 || solid->has_dynamic_parent)
            continue;
        if (vec3_length2(state->linear) == 0.0 && vec3_length2(state->angular) == 0.0)
            continue;
        physics->has_moving_solids = true;
        solids_refresh(physics);
        Pose pose = physics->solid_world[i];
        pose.t = vec3_mad(pose.t, state->linear, physics->dt);
        pose.q = quat_integrate(pose.q, state->angular, physics->dt);
        // It moves in every step: what it touches wakes up, not the whole world, and no pass is made for it alone.
        bool needs_pass = physics->needs_pass, is_static_moved = physics->is_static_moved;
        solid_move(physics, i, pose);
        physics->needs_pass = needs_pass;
        physics->is_static_moved = is_static_moved;
    }
}

// ODE's messages are bound to this world while it has objects there.
static inline void phase_begin(Physics *physics)
{
    if (mirror_is_open(physics))
        odelib_begin(physics);
}

static inline void phase_end(const Physics *physics)
{
    if (mirror_is_open(physics))
        odelib_end();
}

void physics_prestep(Physics *physics)
{
    if (is_still(physics))
        return;
    if (prefetch_next(physics))
        prefetch_at_prestep(prefetch_next(physics));
    phase_begin(physics);
    move_kinematic(physics);
    joints_prestep(physics, physics->dt);
    if (physics->fittings)
        fittings_prestep(physics, physics->dt);
    if (physics->needs_pass) {
        physics->needs_pass = false;
        contacts_collide(physics);
    }
    phase_end(physics);
}

void physics_fluids(Physics *physics)
{
    if (!physics->fluids)
        return;
    phase_begin(physics);
    fluids_step(physics, physics->dt);
    phase_end(physics);
}

static void remember_range(int begin, int end, int worker, void *context)
{
    const SleepWork *work = context;
    (void)worker;
    for (int i = begin; i < end; i++)
        work->physics->previous[work->awake[i]] = work->physics->body_states[work->awake[i]];
}

// Whether there are any to collect, or some of the steps before to forget.
static bool has_contact_forces(const Physics *physics)
{
    return physics->wants_contact_forces || physics->contact_force_count > 0 || physics->last_force_count > 0;
}

// bodies: a step of more goes through many times the pages (2.5 KB a body) that a processor keeps the places of at
// hand, some 70. Two threads take 3 % less time for 1000 bodies in large ones, one thread 0.5 % less.
enum { LARGE_WORLD = 512 };

// The arrays of a large world grow in its first steps; the heap is looked at in each, which costs no call of the
// system.
static void use_large_pages(Physics *physics)
{
    const uintptr_t enough = (uintptr_t)4 << 20;  // bytes: two large pages, one of them whole
    if (!physics->large_pages) {
        memory_prefer_heap();
        physics->large_pages = physics->scene;  // which was there before
    }
    if ((uintptr_t)memory_heap_end() > (uintptr_t)physics->large_pages + enough)
        physics->large_pages = memory_use_large_pages(physics->large_pages);
}

void physics_advance(Physics *physics)
{
    if (is_still(physics))
        return;
    if (physics->body_count >= LARGE_WORLD)
        use_large_pages(physics);
    phase_begin(physics);
    sleep_refresh(physics);
    if (mirror_is_open(physics))  // else the stepper does where it reads them
        finite_check_inputs(physics);
    if (physics->step == 0)
        finite_check_start(physics);
    if (mirror_is_open(physics)) {
        bodies_enabled_outside(physics);
        body_gather(physics);
    }
    bodies_fall_asleep(physics);
    sleep_spread(physics);
    if (mirror_is_open(physics)) {  // else the stepper does where it has to
        memory_grow(&physics->previous, &physics->previous_capacity, physics->body_count + 1, sizeof(BodyState));
        sleep_for_awake(physics, remember_range);
    }
    physics->stepper->step(physics->stepper_self, physics, physics->dt);
    if (has_contact_forces(physics))
        contacts_collect_forces(physics);
    if (mirror_is_open(physics) || physics->has_unsound_states)
        finite_check_states(physics);
    solids_moved(physics);
    phase_end(physics);
}

void physics_collide(Physics *physics)
{
    if (is_still(physics))
        return;
    if (prefetch_next(physics))
        prefetch_at_collide(prefetch_next(physics), physics->plan->after);
    phase_begin(physics);
    contacts_collide(physics);
    physics->is_at_rest = comes_to_rest(physics);
    phase_end(physics);
}

void physics_poststep(Physics *physics)
{
    phase_begin(physics);
    joints_poststep(physics, physics->dt);
    if (physics->fittings)
        fittings_poststep(physics, physics->dt);
    phase_end(physics);
}

// ---- solids ----

int physics_solid_count(const Physics *physics) { return physics->solid_count; }

bool physics_solid_exists(const Physics *physics, int solid)
{
    return solid >= 0 && solid < physics->solid_count && physics->solids[solid].is_alive;
}

int physics_solid_of(const Physics *physics, const SceneNode *node)
{
    const SceneNode *actual = scene_actual(node);
    return actual ? node_map_get(&physics->solid_of_node, actual->id) : -1;
}

SceneNode *physics_solid_node(const Physics *physics, int solid)
{
    assert(solid >= 0 && solid < physics->solid_count);
    return physics->solids[solid].node;
}

int physics_solid_parent(const Physics *physics, int solid)
{
    assert(solid >= 0 && solid < physics->solid_count);
    return physics->solids[solid].parent;
}

int physics_solid_joint(const Physics *physics, int solid)
{
    assert(solid >= 0 && solid < physics->solid_count);
    return physics->solids[solid].joint;
}

int physics_solid_body(const Physics *physics, int solid)
{
    assert(solid >= 0 && solid < physics->solid_count);
    return physics->solids[solid].body;
}

const char *physics_solid_label(const Physics *physics, int solid)
{
    assert(solid >= 0 && solid < physics->solid_count);
    return solid_label(physics, solid);
}

Pose physics_solid_pose(const Physics *physics, int solid)
{
    assert(solid >= 0 && solid < physics->solid_count);
    solids_refresh(physics);
    return physics->solid_world[solid];
}

void solids_copy_poses(const Physics *physics, Pose *poses)
{
    if (physics->solid_count > 0)
        memcpy(poses, physics->solid_world, (size_t)physics->solid_count * sizeof *poses);
    for (int i = 0, left = physics->solids_gone; left > 0 && i < physics->solid_count; i++)
        if (!physics_solid_exists(physics, i)) {
            poses[i].t.x = NAN;
            left--;
        }
}

void physics_solid_poses(const Physics *physics, Pose *poses)
{
    solids_refresh(physics);
    solids_copy_poses(physics, poses);
}

double physics_solid_mass(const Physics *physics, int solid)
{
    assert(solid >= 0 && solid < physics->solid_count);
    return physics->solids[solid].mass;
}

bool physics_solid_is_colliding(const Physics *physics, int solid)
{
    assert(solid >= 0 && solid < physics->solid_count);
    return physics->solid_states[solid].is_colliding != 0;
}

Vec3 physics_solid_point_velocity(const Physics *physics, int solid, Vec3 point)
{
    assert(solid >= 0 && solid < physics->solid_count);
    const PhysicsSolid *s = &physics->solids[solid];
    if (s->body >= 0) {
        const BodyState *state = &physics->body_states[s->body];
        return vec3_add(state->linear, vec3_cross(state->angular, vec3_sub(point, state->position)));
    }
    solids_refresh(physics);
    const SolidState *state = &physics->solid_states[solid];
    if (vec3_length2(state->linear) > 0.0 || vec3_length2(state->angular) > 0.0)
        return vec3_add(state->linear, vec3_cross(state->angular, vec3_sub(point, physics->solid_world[solid].t)));
    return s->parent >= 0 ? physics_solid_point_velocity(physics, s->parent, point) : VEC3_ZERO;
}

Vec3 physics_solid_linear_velocity(const Physics *physics, int solid)
{
    assert(solid >= 0 && solid < physics->solid_count);
    solids_refresh(physics);
    return physics_solid_point_velocity(physics, solid, physics->solid_world[solid].t);
}

Vec3 physics_solid_angular_velocity(const Physics *physics, int solid)
{
    assert(solid >= 0 && solid < physics->solid_count);
    const PhysicsSolid *s = &physics->solids[solid];
    if (s->body >= 0)
        return physics->body_states[s->body].angular;
    const SolidState *state = &physics->solid_states[solid];
    if (vec3_length2(state->linear) > 0.0 || vec3_length2(state->angular) > 0.0 || s->parent < 0)
        return state->angular;
    return physics_solid_angular_velocity(physics, s->parent);
}

Vec3 physics_solid_center_of_mass(const Physics *physics, int solid)
{
    assert(solid >= 0 && solid < physics->solid_count);
    const PhysicsSolid *s = &physics->solids[solid];
    solids_refresh(physics);
    return s->mass > 0.0 ? pose_apply(physics->solid_world[solid], s->center) : physics->solid_world[solid].t;
}

bool physics_solid_is_idle(const Physics *physics, int solid)
{
    assert(solid >= 0 && solid < physics->solid_count);
    int body = physics->solids[solid].body;
    return body >= 0 && physics->body_states[body].is_disabled;
}

static bool pose_is_in_range(Physics *physics, int solid, Pose world)
{
    if (!pose_is_finite(world) || vec3_length(world.t) > LIMIT_COORDINATE) {
        diag_error(physics->diags, (SourcePos){ 0 }, "a pose for '%s' is out of range; it stays where it is",
                   solid_label(physics, solid));
        return false;
    }
    return true;
}

void solid_put(Physics *physics, int solid, Pose world, const Pose *in_joint)
{
    assert(solid >= 0 && solid < physics->solid_count);
    if (!pose_is_in_range(physics, solid, world))
        return;
    odelib_begin(physics);
    world.q = quat_normalized(world.q);
    int joint = physics->solids[solid].joint;
    if (joint >= 0 && in_joint)
        joint_put_end_point(physics, joint, *in_joint);
    solid_move(physics, solid, world);
    odelib_end();
}

void physics_solid_set_pose(Physics *physics, int solid, Pose world)
{
    assert(solid >= 0 && solid < physics->solid_count);
    Pose in_joint = pose_mul(pose_inverse(solid_frame(physics, solid)), world);
    solid_put(physics, solid, world, &in_joint);
}

bool physics_solid_set_velocity(Physics *physics, int solid, Vec3 linear, Vec3 angular)
{
    assert(solid >= 0 && solid < physics->solid_count);
    const PhysicsSolid *s = &physics->solids[solid];
    if (!state_vector_is_sound(linear) || !state_vector_is_sound(angular)) {
        bool is_finite = vec3_is_finite(linear) && vec3_is_finite(angular);
        diag_error(physics->diags, (SourcePos){ 0 }, "a velocity for '%s' is %s; it is ignored",
                   solid_label(physics, solid), is_finite ? "out of range" : "not finite");
        return false;
    }
    if (s->body < 0) {
        physics->is_at_rest = false;
        physics->has_moving_solids = true;
        physics->solid_states[solid].linear = linear;
        physics->solid_states[solid].angular = angular;
        return true;
    }
    joints_refresh(physics);
    odelib_begin(physics);
    BodyState *state = &physics->body_states[s->body];
    state->linear = linear;
    state->angular = angular;
    mirror_body_state(physics, s->body);
    body_wake(physics, s->body);
    odelib_end();
    return true;
}

static bool can_push(Physics *physics, int solid, Vec3 value)
{
    if (physics->solids[solid].body < 0)
        return false;
    if (vec3_is_finite(value))
        return true;
    diag_error(physics->diags, (SourcePos){ 0 }, "a force on '%s' is not finite; it is dropped",
               solid_label(physics, solid));
    return false;
}

bool physics_solid_add_force(Physics *physics, int solid, Vec3 force)
{
    assert(solid >= 0 && solid < physics->solid_count);
    if (!can_push(physics, solid, force))
        return false;
    int body = physics->solids[solid].body;
    body_wake(physics, body);
    body_add_force(physics, body, force);
    return true;
}

bool physics_solid_add_force_at(Physics *physics, int solid, Vec3 force, Vec3 point)
{
    assert(solid >= 0 && solid < physics->solid_count);
    if (!can_push(physics, solid, force) || !vec3_is_finite(point))
        return false;
    int body = physics->solids[solid].body;
    body_wake(physics, body);
    body_add_force_at(physics, body, force, point);
    return true;
}

bool physics_solid_add_torque(Physics *physics, int solid, Vec3 torque)
{
    assert(solid >= 0 && solid < physics->solid_count);
    if (!can_push(physics, solid, torque))
        return false;
    int body = physics->solids[solid].body;
    body_wake(physics, body);
    body_add_torque(physics, body, torque);
    return true;
}

void physics_solid_reset(Physics *physics, int top)
{
    assert(top >= 0 && top < physics->solid_count);
    joints_refresh(physics);
    physics->needs_pass = true;  // contacts of a place that it has left go too
    odelib_begin(physics);
    for (int i = top; i < physics->solids[top].end; i++) {
        const PhysicsSolid *solid = &physics->solids[i];
        if (!solid->is_alive)
            continue;
        physics->solid_states[i].linear = physics->solid_states[i].angular = VEC3_ZERO;
        if (solid->body < 0)
            continue;
        BodyState *state = &physics->body_states[solid->body];
        state->linear = state->angular = VEC3_ZERO;
        mirror_body_state(physics, solid->body);
        body_set_force(physics, solid->body, VEC3_ZERO, VEC3_ZERO);
    }
    for (int i = 0; i < physics->joint_count; i++) {
        const PhysicsJoint *joint = &physics->joints[i];
        if (!joint->is_alive || joint->child < top || joint->child >= physics->solids[top].end)
            continue;
        for (int k = 0; k < joint->axis_count; k++)
            physics->joint_states[i].axes[k].command_velocity = physics->joint_states[i].axes[k].velocity = 0.0;
    }
    odelib_end();
}

// ---- bodies ----

int physics_body_count(const Physics *physics) { return physics->body_count; }

int physics_body_solid(const Physics *physics, int body)
{
    assert(body >= 0 && body < physics->body_count);
    return physics->bodies[body].solid;
}

double physics_body_mass(const Physics *physics, int body)
{
    assert(body >= 0 && body < physics->body_count);
    return physics->masses[body].mass;
}

Mat3 physics_body_inertia(const Physics *physics, int body)
{
    assert(body >= 0 && body < physics->body_count);
    return physics->masses[body].inertia;
}

Pose physics_body_pose(const Physics *physics, int body)
{
    assert(body >= 0 && body < physics->body_count);
    return body_pose(physics, body);
}

Vec3 physics_body_linear_velocity(const Physics *physics, int body)
{
    assert(body >= 0 && body < physics->body_count);
    return physics->body_states[body].linear;
}

Vec3 physics_body_angular_velocity(const Physics *physics, int body)
{
    assert(body >= 0 && body < physics->body_count);
    return physics->body_states[body].angular;
}

bool physics_body_is_idle(const Physics *physics, int body)
{
    assert(body >= 0 && body < physics->body_count);
    return physics->body_states[body].is_disabled != 0;
}

// ---- shapes ----

int physics_shape_count(const Physics *physics) { return physics->shape_count; }

bool physics_shape_exists(const Physics *physics, int shape)
{
    return shape >= 0 && shape < physics->shape_count && physics->shapes[shape].is_alive;
}

PhysicsShape physics_shape(const Physics *physics, int index)
{
    assert(index >= 0 && index < physics->shape_count);
    const Shape *shape = &physics->shapes[index];
    solids_refresh(physics);
    Pose owner = shape->solid >= 0 ? physics->solid_world[shape->solid] : POSE_IDENTITY;
    return (PhysicsShape){ shape->kind,
                           shape->solid,
                           shape->body,
                           shape->geometry,
                           shape->size,
                           shape_local(shape),
                           pose_mul(owner, shape_local(shape)) };
}

// ---- joints ----

int physics_joint_count(const Physics *physics) { return physics->joint_count; }

bool physics_joint_exists(const Physics *physics, int joint)
{
    return joint >= 0 && joint < physics->joint_count && physics->joints[joint].is_alive;
}

int physics_joint_of(const Physics *physics, const SceneNode *node)
{
    const SceneNode *actual = scene_actual(node);
    for (int i = 0; i < physics->joint_count; i++)
        if (physics->joints[i].is_alive && physics->joints[i].node == actual)
            return i;
    return -1;
}

SceneNode *physics_joint_node(const Physics *physics, int joint)
{
    assert(joint >= 0 && joint < physics->joint_count);
    return physics->joints[joint].node;
}

PhysicsJointKind physics_joint_kind(const Physics *physics, int joint)
{
    assert(joint >= 0 && joint < physics->joint_count);
    return physics->joints[joint].kind;
}

int physics_joint_axis_count(const Physics *physics, int joint)
{
    assert(joint >= 0 && joint < physics->joint_count);
    return physics->joints[joint].axis_count;
}

int physics_joint_parent(const Physics *physics, int joint)
{
    assert(joint >= 0 && joint < physics->joint_count);
    return physics->joints[joint].parent;
}

int physics_joint_child(const Physics *physics, int joint)
{
    assert(joint >= 0 && joint < physics->joint_count);
    return physics->joints[joint].child;
}

double physics_joint_position(const Physics *physics, int joint, int axis)
{
    assert(joint >= 0 && joint < physics->joint_count && axis >= 0 && axis < PHYSICS_JOINT_AXES);
    if (physics->unread_steps > 0)
        joint_refresh((Physics *)physics, joint);  // what is read is as it was; only when it is read changes
    const PhysicsAxisState *state = &physics->joint_states[joint].axes[axis];
    return state->position + state->surplus;
}

double physics_joint_velocity(const Physics *physics, int joint, int axis)
{
    assert(joint >= 0 && joint < physics->joint_count && axis >= 0 && axis < PHYSICS_JOINT_AXES);
    if (physics->unread_steps > 0)
        joint_refresh((Physics *)physics, joint);
    return physics->joint_states[joint].axes[axis].velocity;
}

static inline const PhysicsAxisState *axis_state(const Physics *physics, const PhysicsJointState *states,
                                                 PhysicsAxisRef at)
{
    assert_debug(at.joint >= 0 && at.joint < physics->joint_count && at.axis >= 0 && at.axis < PHYSICS_JOINT_AXES);
    (void)physics;
    return &states[at.joint].axes[at.axis];
}

void physics_joint_positions(const Physics *physics, const PhysicsAxisRef *axes, int count, double *positions)
{
    if (physics->unread_steps > 0)
        joints_refresh((Physics *)physics);
    const PhysicsJointState *states = physics->joint_states;
    for (int i = 0; i < count; i++) {
        const PhysicsAxisState *state = axis_state(physics, states, axes[i]);
        positions[i] = state->position + state->surplus;
    }
}

void physics_joint_velocities(const Physics *physics, const PhysicsAxisRef *axes, int count, double *velocities)
{
    if (physics->unread_steps > 0)
        joints_refresh((Physics *)physics);
    const PhysicsJointState *states = physics->joint_states;
    for (int i = 0; i < count; i++)
        velocities[i] = axis_state(physics, states, axes[i])->velocity;
}

// ---- numbers ----

PhysicsStatistics physics_statistics(const Physics *physics)
{
    PhysicsStatistics statistics = { .pairs = physics->pair_count,
                                     .contacts = physics->contact_count,
                                     .contacts_dropped = physics->contacts_dropped,
                                     .deepest = physics->deepest };
    for (int i = 0; i < physics->sleeping_contact_count; i++)
        statistics.deepest = fmax(statistics.deepest, physics->contacts[i].depth);
    for (int i = 0; i < physics->solid_count; i++)
        statistics.solids += physics->solids[i].is_alive;
    for (int i = 0; i < physics->body_count; i++) {
        statistics.bodies += physics->bodies[i].is_alive;
        statistics.bodies_awake += physics->bodies[i].is_alive && !physics->body_states[i].is_disabled;
        statistics.frozen += physics->bodies[i].is_alive && physics->body_states[i].is_frozen;
    }
    for (int i = 0; i < physics->shape_count; i++)
        statistics.shapes += physics->shapes[i].is_alive;
    for (int i = 0; i < physics->joint_count; i++)
        statistics.joints += physics->joints[i].is_alive;
    return statistics;
}
