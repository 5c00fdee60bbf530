// physics_internal.h - the folder's shared structs. These arrays are the truth. ODE's types are allowed here, for the
// twins that stand at the rim while a plugin or a stepper of ODE's needs them (mirror.h); their members are NULL in a
// plain world. Data of one Physics in flat arrays: what the file fixes (PhysicsSolid, Body, Shape, PhysicsJoint) apart
// from what time changes (*State, plain bytes without pointers, which snapshots copy and the state hash reads).
#ifndef TALUS_PHYSICS_PHYSICS_INTERNAL_H
#define TALUS_PHYSICS_PHYSICS_INTERNAL_H

#include "base/arena.h"
#include "base/pool.h"
#include "physics/collide/broadphase.h"
#include "physics/joints/joint.h"
#include "physics/joints/constraint.h"
#include "physics/mass.h"
#include "physics/ode/ode.h"
#include "physics/physics.h"
#include "physics/stepper.h"

#include <assert.h>
#include <ode/ode.h>

// ---- solids ----
typedef struct PhysicsSolid {
    SceneNode *node;
    const char *label;  // unique, for messages and columns
    int parent;         // nearest solid above, -1
    int top;            // uppermost solid of its tree
    int end;            // one past the last solid below it: a tree is contiguous
    int robot;          // nearest Robot at or above, -1
    int joint;          // joint whose end point it is, -1
    int body_owner;     // solid whose body it shares (itself when it has one of its own), -1: kinematic
    int body;           // -1: kinematic
    int first_shape, shape_count;
    int material;  // row of the contact table
    // In the arena of the Physics whose rows these are; NULL: the identity. See solid_base(), solid_in_body().
    Pose *base;             // from the frame of the parent solid to the frame its translation and rotation are in
    Pose *in_body;          // of its frame in the body's
    double mass;            // own; 0 without Physics. Its inertia is just part of its body's
    Vec3 center;            // of that mass, in its frame
    double reference_mass;  // of its boundingObject at 1000 kg/m^3: the weight of its damping
    double linear_damping, angular_damping;  // per second, -1: no Damping node
    int track;                               // index of the Track it is, -1
    int conveyor;                            // solid of the Conveyor that moves its surface, -1
    int holder;                              // row of a Connector, VacuumGripper or Holder in fittings_internal.h, -1
    int weld;                                // index in Physics.welds, -1
    bool is_alive;
    bool is_loose;               // at the end of a FreeJoint: a body of its own that nothing ties to the solid above
    bool is_helix;               // of a propeller: never dynamic
    bool allows_self_collision;  // robots
    bool feels_static;           // touch sensors and robots notice static shapes
    bool has_dynamic_parent;     // some solid above has a body
} PhysicsSolid;

static inline Pose solid_base(const PhysicsSolid *solid) { return solid->base ? *solid->base : POSE_IDENTITY; }
static inline Pose solid_in_body(const PhysicsSolid *solid) { return solid->in_body ? *solid->in_body : POSE_IDENTITY; }

typedef struct SolidState {
    Pose local;            // in the frame of the parent solid; of kinematic solids (dynamic ones have their body)
    Vec3 linear, angular;  // kinematic velocity, world frame
    int32_t is_colliding;  // in the last pass
    int32_t is_touching;   // as above, static on static included (touch sensors)
    int32_t is_off;        // a Conveyor, Attachment or Marker that is switched off
    int32_t reserved;
} SolidState;

// ---- bodies ----
typedef struct Body {
    dBodyID ode;     // its twin, NULL: none
    dSpaceID space;  // of ODE's geoms when it has several shapes, else NULL
    int solid;       // that owns it: PhysicsSolid.body_owner
    bool is_alive;
    bool is_anchored;  // a joint or weld ties it to the static world
    Vec3 com;          // centre of mass in the frame of that solid
} Body;

typedef struct BodyState {
    Vec3 position;  // of the centre of mass
    Quat orientation;
    Vec3 linear, angular;
    Vec3 force, torque;   // applied since the last step; while it has a twin in ODE, that one gathers them
    double idle_left;     // s until it falls asleep
    int32_t is_disabled;  // asleep
    int32_t is_frozen;    // isolated after a state that was not finite
} BodyState;

// ---- shapes ----
// What the data pointer of every geom of ours points to; plugins tell their own geoms apart by it.
#define SHAPE_MAGIC 0x7765626f7473u
typedef struct ShapeTag {
    uint64_t magic;
    Physics *physics;
    int shape;
} ShapeTag;

// What is known of a shape's geom.
typedef struct ShapeTwin {
    ShapeTag tag;      // dGeomGetData of it
    dBodyID on;        // what ODE said last
    const void *data;  // what it was made of: a plugin may have given it something else
} ShapeTwin;

// Where a shape stands on its body, or in the world when it has none.
typedef struct ShapePlace {
    Pose pose;      // of its frame with that of height fields in ODE
    Mat3 rotation;  // of its quaternion
} ShapePlace;

typedef struct Shape {
    dGeomID ode;
    GeometryKind kind;
    int solid;  // -1 for a fluid's
    int fluid;  // -1
    int body;   // that its contacts push, -1: none of ours. The one of its solid, unless somebody gave it to another
    int home;   // the one of its solid, -1
    bool is_outside;  // it is on a body that a plugin made
    bool is_away;     // somebody disabled it or took it out of the world's space: it meets nothing
    SceneNode *geometry;
    Vec3 size;
    // In the arena, NULL while they are nothing else than the identity: most bodies are one shape in their middle.
    Pose *local;         // in the frame of its solid; see shape_local()
    Pose *ode_offset;    // of height fields: from the geometry's frame to that of ODE's geom; of others nothing
    ShapePlace *placed;  // see shape_placed()
    bool is_centred;     // `placed` is the identity
    bool is_alive;
    bool is_alone;     // its solid belongs to no robot, and none stands above or below it
    bool was_changed;  // moved or resized by hand since the last pass: wakes what it touches
    bool
        has_ridden;  // without a body itself, it moved with the one above it since the last pass: wakes what it touches
    bool is_rider;   // listed in Sleep.riders
    struct ShapeTwin *twin;                // from its first geom on; NULL: it never had one
    struct Convex *convex;                 // of convex meshes; of boxes once they meet one; else NULL
    const struct CollideSurface *surface;  // of meshes and heights, else NULL; belongs to the MeshEntry
} Shape;

static inline Pose shape_local(const Shape *shape) { return shape->local ? *shape->local : POSE_IDENTITY; }
static inline dBodyID shape_on(const Shape *shape) { return shape->twin ? shape->twin->on : NULL; }
static inline Pose shape_placed(const Shape *shape) { return shape->placed ? shape->placed->pose : POSE_IDENTITY; }

// A rigid tie to the static world, or (touch sensors) to the body of the solid above.
typedef struct Weld {
    Constraint *constraint;
    int solid, body, parent_body;
    bool is_alive;
} Weld;
typedef struct WeldState {
    Pose anchored[2];
} WeldState;  // poses of body and parent body when it was last set

// ---- contacts ----
typedef struct ContactRule {  // a ContactProperties node, ready for use
    SceneNode *node;          // NULL: the defaults
    int friction_count, slip_count;
    double friction[4], slip[4];  // -1 already INFINITY
    double rotation[2];
    double rolling[3];
    double bounce, bounce_velocity, soft_erp, soft_cfm;
    double static_friction;  // -1: that of slipping surfaces
    int max_joints;
    bool has_old_directions;  // of files before R2022a: see friction_direction
} ContactRule;

typedef struct ContactTable {  // rules by pair of materials
    ContactRule *rules;        // rules[0] are the defaults
    SolverSurface *surfaces;   // two of each rule, as far as its points are alike: 2 i, and 2 i + 1 for fast shapes
    int rule_count;
    bool has_differing;      // some rule gives each point a surface of its own
    const char **materials;  // materials[0] stands for every name that no rule mentions
    int material_count;
    int16_t *rule_of;  // material_count squared: rule index; negative: inversed, -(index + 1)
} ContactTable;

// Bytes that snapshots copy and the hash reads. A snapshot may come from a stranger's file, so `is_sound` looks at the
// bytes (which need not be aligned) before they are taken: indices in range, numbers finite, quaternions unit.
typedef struct StateBlock {
    const char *name;
    void *data;
    size_t size;
    bool is_hashed;
    bool (*is_sound)(const Physics *physics, const void *bytes);
} StateBlock;
#define STATE_BLOCKS_MAX 16

// What plugins may ask to be called for (set by plugins/ through physics/ode.h).
typedef struct GeomPair {
    dGeomID a, b;
    int answer;
} GeomPair;
typedef struct CollideHook {
    PhysicsCollideHook asks;  // asks.collide is NULL when there is none
    // Of the current pass, in hashed tables whose order nothing depends on.
    GeomPair *answers;  // about pairs with a space
    int answer_count, answer_size;
    GeomPair *ours;  // geoms of shapes, in member a
    int ours_size;
    GeomPair *pending;  // found with a space locked, asked about when it is not
    int pending_count, pending_capacity;
} CollideHook;

typedef struct MeshHeights {
    int count[2];
    double spacing[2], thickness, low, high;
} MeshHeights;
// A mesh or grid of heights, shared by all shapes that repeat its geometry node.
typedef struct MeshEntry {
    SceneNode *geometry;
    Vec3 scale;              // of the Transforms around it
    const Mesh *mesh;        // of the asset store
    const double *vertices;  // its positions and triangles
    const int *indices;
    int vertex_count, triangle_count;
    dTriMeshDataID data;             // ODE's, once it needs them; NULL for heights
    struct Convex *convex;           // of meshes that are convex, else NULL
    struct CollideSurface *surface;  // its triangles as the narrow phase finds them
    double *heights;
    MeshHeights grid;          // of heights
    dHeightfieldDataID field;  // ODE's, once it needs them; NULL for meshes
    bool is_usable;
    bool is_borrowed;  // its surface, convex and heights are those of another world
} MeshEntry;

// What the world is, one hash for each kind of fact (model.c), as it was after so many edits.
#define PHYSICS_MODEL_FACTS 21
typedef struct PhysicsModel {
    uint64_t hash, facts[PHYSICS_MODEL_FACTS];
    uint64_t edit_count;
    int shape_count;
    bool is_known;
} PhysicsModel;

// Which solid a node is (node_map.c).
typedef struct NodeMapSlot {
    uint32_t id;    // of the node
    int32_t solid;  // -1: the slot is free
} NodeMapSlot;
typedef struct NodeMap {
    NodeMapSlot *slots;
    int mask, count;
} NodeMap;
void node_map_set(NodeMap *map, uint32_t id, int solid);
int node_map_get(const NodeMap *map, uint32_t id);  // -1: none
void node_map_remove(NodeMap *map, uint32_t id);

struct Physics {
    // What every step of a plain world reads or writes.
    void *stepper_self;
    const StepperType *stepper;
    PhysicsScratch *scratch;          // lent for the next steps, NULL: the stepper's own
    const struct PrefetchPlan *plan;  // in it: worlds that come next, NULL: none
    struct Sleep *sleep;              // sleep.h
    PhysicsJoint *joints;
    PhysicsJointState *joint_states;
    BodyState *body_states;
    SolverMass *masses;         // beside `bodies`, as the solver takes them
    Constraint **constraints;   // all, in the order of their making
    Pose *solid_world;          // derived from bodies and local poses; solids_refresh() before it is read
    Pool *pool;                 // NULL: one thread
    dWorldID world;             // ODE's, NULL in a plain world: then nothing of ODE's below exists
    struct Fluids *fluids;      // fluid.c, NULL when there are none
    struct Fittings *fittings;  // tracks, connectors, grippers, propellers, chargers: fittings.c, NULL when none
    int body_count, joint_count, constraint_count, shape_count, solid_count;
    bool has_failed;
    bool is_static_moved;   // a static shape was moved: the whole world wakes
    bool needs_pass;        // nodes changed or a solid was reset: contacts are found anew before the step
    bool is_at_rest;        // every body sleeps and nothing else moves: steps have nothing to do until something wakes
    bool plugin_holds_ode;  // ODE's objects were handed out (plugins): what they do is not seen, so no body or joint is
                            // skipped
    bool plugin_may_touch_contacts, plugin_may_touch_shapes;  // and they can get at contact joints, or change shapes
    bool has_moving_solids;                                   // some solid without physics may have a velocity
    bool has_changed_shapes;                                  // some shape has was_changed
    bool has_late_changes;      // one was changed in the middle of a pass: it counts as changed in the next too
    bool needs_full_pass;       // the next collision pass looks at every shape and contact
    bool needs_contact_joints;  // the stepper works with ODE's contact joints
    bool wants_contact_forces;
    bool has_unsound_states;  // of a plain world: the step left some that finite_check_states() has to look at
    bool has_frozen;          // some body may be frozen
    bool reads_rates;         // positions of hinges are the sum of their rates: worlds before R2023b
    bool are_poses_stale;     // those of solids on awake bodies, since the last step
    bool has_riders;          // some solid without a body stands on one that has one: see poses_may_wait
    int riders_sought;        // solid_count,
    uint64_t riders_edit;     // and edit_count when they were looked for
    uint64_t step;
    uint64_t edit_count;    // changes of the scene that were told
    uint64_t tree_count;    // those after which solids or joints may have other indices
    uint64_t body_version;  // of the masses, inertias and dampings in `bodies`: others in the process have others
    double dt;
    Vec3 gravity;
    double erp, cfm;
    double contact_surface_layer;  // m of penetration that is left alone
    double disable_time;           // 0: bodies never fall asleep
    JointLists joint_lists;
    const SolverBody
        *solved;  // by body, as the last plain step left them; a body that was moved since has another quaternion
    int solved_count;
    int unread_steps;              // since joints that are read on demand were read,
    double unread_turn;            // rad that no body turned more since then,
    double step_turn;              // and in the last step
    PhysicsContact *contacts;      // sleeping ones first, then those of the last pass by pair
    PhysicsSurface *own_surfaces;  // beside contacts, of those that have their own; there once some may
    Vec3 *held;  // beside the first of them: impulses of the normal and of friction that sleeping ones begin with when
                 // they wake; see contact_hold()
    int held_count, held_capacity;
    int contact_count, sleeping_contact_count, contact_force_count, last_force_count, feedback_capacity;
    int pair_count, touching_count, touched_count;
    double deepest;
    ContactTable contact_table;
    CollideHook collide_hook;

    // What the world is, and what steps seldom look at.
    Scene *scene;
    DiagSink *diags;
    bool are_labels_stale;  // solids came since labels_make
    Arena *arena;           // model data, lives as long as the Physics
    AssetStore *assets;     // meshes
    const Physics *like;    // whose collision meshes are used too, NULL: nobody's
    bool owns_assets;
    PhysicsNanPolicy nan_policy;
    int threads;
    uint64_t seed;

    SceneNode *info;  // WorldInfo, NULL when there is none
    int up_axis;      // index of the component that gravity acts along
    double disable_linear, disable_angular;
    double default_linear_damping, default_angular_damping;  // per second

    dThreadingImplementationID threading;
    dSpaceID space;
    dJointGroupID contact_group;  // contact joints of awake pairs, emptied before every pass

    PhysicsSolid *solids;
    SolidState *solid_states;
    int solid_capacity, solid_state_capacity, solid_world_capacity;
    int solids_gone;  // of them, so that a world without holes need not be searched for them
    NodeMap solid_of_node;
    Body *bodies;
    Constraint **body_constraints;  // by body: those that hold it, chained by Constraint.next of its side
    int body_capacity, mass_capacity, body_state_capacity, body_constraint_capacity;
    bool shares_rows;  // solids and bodies are those of `like`
    Shape *shapes;
    int shape_capacity;
    int joint_capacity, joint_state_capacity;
    int constraint_capacity;
    Weld *welds;
    WeldState *weld_states;
    int weld_count, weld_capacity, weld_state_capacity;
    BodyState *previous;  // before the step: of all bodies that move; in a plain world of those whose state is not fine
    int previous_capacity;
    MeshEntry *meshes;
    int mesh_count, mesh_capacity;

    Broadphase *broadphase;
    int own_surface_capacity;
    int contact_capacity;
    dJointID *contact_joints;  // beside the first of them, see contact_joint()
    int contact_joint_count, contact_joint_capacity;
    ConstraintWrenches *feedbacks;  // one per contact when forces are wanted
    PhysicsContactForce *contact_forces;
    int contact_force_capacity;
    PhysicsContactForce *last_forces;  // of the step before
    int last_force_capacity;
    Vec3 *resting_forces;  // of contacts that sleep: the force of the last step that solved them; no state
    int resting_force_count, resting_force_capacity;
    uint64_t *touching, *touched;  // keys of the pairs touching in this pass and in the one before, sorted
    int touching_capacity, touched_capacity;
    struct RecordChunk *record_chunks;  // scratch of contact_touch.c
    int record_chunk_capacity;
    struct Narrow *narrow;  // contact_narrow.c
    struct Thin *thin;      // contact_thin.h
    bool has_thinned;       // it was said

    struct Probes *probes;  // ode/probe.c, NULL: none
    int trouble_count;      // messages about exploding states so far
    int contacts_dropped;
    struct CollisionRules *collision_rules;  // of bodies: collision_rules.c, NULL when none has any
    struct ExtraJoints *extra_joints;        // loops that bodies close: extra_joint.c, NULL when none
    struct Pins *pins;                       // robots pinned to the world: pin.c, NULL when no robot has a body

    // Rarely or never read in a step.
    const void *large_pages;  // of a large world: up to where the heap has them; NULL: it was not looked at
    Limits limits;
    PhysicsModel model;  // see physics_model()
};

// ---- model.c ----
const PhysicsModel *physics_model(const Physics *physics);
bool model_differs(const Physics *physics, const uint64_t other[PHYSICS_MODEL_FACTS],
                   Text *what);  // adds the names of what does

// ---- build.c: from nodes to solids, bodies, shapes and joints ----
void build_world(Physics *physics);
void build_subtree(Physics *physics, SceneNode *node);
void remove_subtree(Physics *physics, int solid);        // with everything below and all joints at it
void build_again(Physics *physics);                      // all trees, in rows without holes
void solid_rebuild_shapes(Physics *physics, int solid);  // its boundingObject changed
void solid_rebuild_mass(Physics *physics, int solid);    // its Physics changed

// ---- shape.c ----
// Adds the shapes of a boundingObject (NULL is fine) for a solid or a fluid (the other is -1); returns how many.
// `frame` is where the boundingObject stands in the frame of the solid, or in the world for a fluid. `old`: rows of
// shapes that were destroyed for these; they are used again where the number is the same.
typedef struct ShapeRows {
    int first, count;
} ShapeRows;
int shapes_build(Physics *physics, int solid, int fluid, SceneNode *bounding, Pose frame, ShapeRows old);
// Adds the mass of every shape of a boundingObject, at this density, in the solid's frame. False when nothing has any.
// `is_quiet`: the file gives the mass by itself, so what cannot be computed is nobody's loss.
bool shapes_mass(Physics *physics, SceneNode *bounding, double density, bool is_quiet, MassProperties *mass);
void shape_place(Physics *physics, int shape);  // puts a body-less one where its solid is
void shape_set_local(Physics *physics, int shape, Pose local);
void shape_offset(Physics *physics, int shape);  // puts one of a body where its solid is in the body's frame
void shape_enter(Physics *physics, int shape);   // into the broad phase, by what it is on
void shape_destroy(Physics *physics, int shape);
void mesh_forget(Physics *physics, const SceneNode *geometry);  // its faces changed: the next shape reads them again
void shape_update_box(Physics *physics, int shape);
Vec3 shape_size(const Shape *shape);  // as `size`; at the rim that of its twin
void shape_bounds(const Physics *physics, int shape,
                  BroadBox *box);  // where it is now; of a fast one with the way that it goes in a step
// Takes over what others did to its geom: body, offset, place, size, whether it is there at all. True when a shape that
// is static or of another form now stands there: what it touches wakes.
bool shape_follow(Physics *physics, int shape);
Pose mirror_shape_pose(const Shape *shape);  // where ODE's geom of it stands in the world
static inline bool shape_is_static(const Shape *shape) { return shape->body < 0 && !shape->is_outside; }
void meshes_destroy(Physics *physics);

// ---- physics.c ----
void world_read_info(Physics *physics);  // gravity, ERP, contact properties ... of WorldInfo

// ---- body.c: states of bodies ----
void body_gather(Physics *physics);  // ODE -> BodyState, of all that may have changed; nothing in a plain world
void body_rouse(Physics *physics, int body);  // what body_wake() does of one that sleeps, or at the rim
// The common case in place: a motor is told something in every step.
static inline void body_wake(Physics *physics, int body)
{
    assert(body >= 0 && body < physics->body_count);
    BodyState *state = &physics->body_states[body];
    if (state->is_frozen)
        return;
    physics->is_at_rest = false;
    state->idle_left = physics->disable_time;
    if (state->is_disabled || physics->world)
        body_rouse(physics, body);
}
void body_moved_asleep(Physics *physics, int body);  // its state was changed from outside: solids and shapes follow
void body_add_force(Physics *physics, int body, Vec3 force);  // at the centre of mass
void body_add_force_at(Physics *physics, int body, Vec3 force, Vec3 point);
void body_add_torque(Physics *physics, int body, Vec3 torque);
void body_set_force(Physics *physics, int body, Vec3 force, Vec3 torque);  // in place of what was applied
void weld_set(Physics *physics, int weld);    // ties it where the scene has it on the solid above
void weld_place(Physics *physics, int weld);  // where its state says
void bodies_enabled_outside(Physics *physics);
void bodies_fall_asleep(Physics *physics);  // ODE's auto-disabling, with timers of our own
void solids_moved(Physics *physics);        // after a step: the poses of solids follow, now or when somebody asks
void solids_update(Physics *physics);       // world poses of all solids on awake bodies, from bodies and local poses
// Before poses of solids are read, and before anything but a step changes what they follow from.
static inline void solids_refresh(const Physics *physics)
{
    if (physics->are_poses_stale)
        solids_update((Physics *)physics);  // what is read is as it was; only when it is computed changes
}
void solid_move(Physics *physics, int solid, Pose world);  // rigidly with everything below
// By hand. `in_joint`: its pose in the frame of the joint whose end point it is, as exactly as it is known; unused
// without a joint.
void solid_put(Physics *physics, int solid, Pose world, const Pose *in_joint);
Pose solid_frame(const Physics *physics, int solid);  // that its translation and rotation are in
static inline Pose body_pose(const Physics *physics, int body)
{
    assert_debug(body >= 0 && body < physics->body_count);
    return (Pose){ physics->body_states[body].position, physics->body_states[body].orientation };
}
// A body has the axes of the solid that owns it, and often its centre: then nothing is to be turned. NULL: it is both.
static inline Pose pose_on_body(Pose body, const Pose *in_body)
{
    Pose pose = body;
    if (!in_body)
        return pose;
    if (in_body->t.x != 0.0 || in_body->t.y != 0.0 || in_body->t.z != 0.0)
        pose.t = vec3_add(quat_rotate(body.q, in_body->t), body.t);
    if (in_body->q.x != 0.0 || in_body->q.y != 0.0 || in_body->q.z != 0.0)
        pose.q = quat_mul(body.q, in_body->q);
    return pose;
}
void solids_copy_poses(const Physics *physics, Pose *poses);  // as they were last made; t.x is NaN where one is gone

// ---- joints/constraints.c: all constraints of a world ----
Constraint *constraint_make(Physics *physics, ConstraintKind kind, int parent, int child, int axis_count, void *owner);
void constraint_unmake(Physics *physics, Constraint *constraint);  // NULL is fine
void constraint_detach(Physics *physics, Constraint *constraint);  // one of its bodies goes: it holds nothing any more
void constraint_anchor(Physics *physics, Constraint *constraint, const ConstraintPlace *place);
void constraint_turn_motor(Physics *physics, Constraint *constraint, int axis, int relative,
                           Vec3 world);  // sides as they stand
void constraint_tell_motor_axis(Physics *physics, Constraint *constraint,
                                int axis);  // to its twin, after the axis was set
void constraint_set(Constraint *constraint, int axis, ConstraintNumber number, double value);
// A motor is told in every step: its twin only where it has one.
static inline void constraint_set_motor(Constraint *constraint, int axis, double velocity, double max_force)
{
    assert(axis >= 0 && axis < CONSTRAINT_AXES);
    constraint->axes[axis].velocity = velocity;
    constraint->axes[axis].max_force = max_force;
    if (!constraint->ode)
        return;
    constraint_set(constraint, axis, CONSTRAINT_VELOCITY, velocity);
    constraint_set(constraint, axis, CONSTRAINT_MAX_FORCE, max_force);
}
void constraint_set_angle(Constraint *constraint, int axis, double angle);  // of an angular motor
void constraint_fix(Physics *physics, Constraint *constraint);  // a fixed one: anchored where its bodies stand
void constraint_want_wrenches(Constraint *constraint, bool want);
bool bodies_are_joined(const Physics *physics, int a, int b);                          // b -1: to the static world
Pose constraint_side(const Physics *physics, const Constraint *constraint, int side);  // pose of its body there now

// ---- contact.c, surface.c ----
// The rule of two solids by their materials; negative when it names them the other way round: -(index + 1). Where no
// rule names a material nothing is looked up.
static inline int contact_rule_of_solids(const Physics *physics, int a, int b)
{
    const ContactTable *table = &physics->contact_table;
    assert_debug(a >= 0 && a < physics->solid_count && b >= 0 && b < physics->solid_count);
    int n = table->material_count, place = 0;
    if (n > 1)
        place = physics->solids[a].material * n + physics->solids[b].material;
    assert(place >= 0 && place < n * n);
    return table->rule_of[place];
}
// The solid of a side of a contact, -1: of a shape that a plugin made.
static inline int contact_solid(const Physics *physics, const PhysicsContact *contact, int side)
{
    assert_debug(side >= 0 && side < 2 && contact->shape[side] < physics->shape_count);
    return contact->shape[side] >= 0 ? physics->shapes[contact->shape[side]].solid : -1;
}
void contact_table_build(Physics *physics);
int contact_material(const Physics *physics, const char *name);
void contacts_collide(Physics *physics);
void contacts_release(Physics *physics);          // destroys ODE's contact joints, keeps the records
void contacts_recreate(Physics *physics);         // and makes them again, after all other joints
void contacts_forget(Physics *physics, int top);  // records of solid `top` and all below it, which go away
void contacts_find_fluids(Physics *physics);      // pairs with fluids of the last pass, after a restore
void contacts_collect_forces(Physics *physics);   // after the step, when wanted
bool contacts_want_joints(const Physics *physics);
bool contact_wants_joint(const Physics *physics, int contact);
// Whether points may have surfaces of their own: rules with directions or static friction, tracks and conveyors.
bool contact_surfaces_differ(const Physics *physics);
void contact_own_surfaces_reserve(Physics *physics, int count);
// The row of surfaces by the materials of a pair (solids are set). False: they differ from point to point, and
// contact_surface_at_point() has to complete each in `own`, with its bodies, point and normal.
// A contact's joint in ODE, NULL: none. A plain world has none and keeps no list of them.
static inline dJointID contact_joint(const Physics *physics, int index)
{
    assert_debug(index >= 0 && index < physics->contact_count);
    return index < physics->contact_joint_count ? physics->contact_joints[index] : NULL;
}
void contact_set_joint(Physics *physics, int index, dJointID joint);
bool contact_surface_of_pair(const Physics *physics, PhysicsContact *contact);
void contact_surface_at_point(const Physics *physics, const PhysicsContact *contact, PhysicsSurface *own);
// A fast shape that would pass through the other: lets the two come together by `gap` in this step, or bounces them.
// `own` as above, or NULL.
void contact_make_speculative(const Physics *physics, PhysicsContact *contact, double gap, PhysicsSurface *own);
static inline bool body_is_tied(const Physics *physics, int body)
{
    return body >= 0 && physics->body_constraints[body];
}
// Two loose solids, or one and the ground: nothing keeps them from meeting. Most pairs are such, and of them neither
// solids nor bodies are looked at.
static inline bool contact_pair_is_plain(const Physics *physics, const Shape *a, const Shape *b)
{
    return a->is_alone && b->is_alone && a->solid != b->solid && (a->body >= 0 || b->body >= 0)
           && !body_is_tied(physics, a->body) && !body_is_tied(physics, b->body) && !physics->has_frozen
           && !physics->plugin_holds_ode && !physics->plugin_may_touch_shapes;
}
bool contact_rules_exclude(const Physics *physics, const Shape *a,
                           const Shape *b);  // what the others are kept apart by
static inline bool contact_pair_is_excluded(const Physics *physics, const Shape *a, const Shape *b)
{
    return !contact_pair_is_plain(physics, a, b) && contact_rules_exclude(physics, a, b);
}
bool contact_shape_rests(const Physics *physics,
                         const Shape *shape);  // asleep or static, and nothing that is at rest concerns it

void contact_move(Physics *physics, int from,
                  int to);  // its record, surface and what it holds, to a place of one that goes
// A contact that falls asleep takes along what it carried, so that the step in which it wakes goes on from there.
void contact_hold(Physics *physics, int index, const double impulse[3]);

// ---- contact_touch.c ----
void contacts_clear_marks(Physics *physics, bool is_full);                 // of the pass before
void contacts_touch(Physics *physics, const BroadPair *pairs, int count);  // the pairs of a pass become records
void contact_remember_pair(Physics *physics, int shape_a, int shape_b);    // they touch in this pass; in rising order
void contact_mark(Physics *physics, int shape_a, int shape_b);             // they collide, as a plugin says

// ---- plugin.c: the part of the collision pass that a plugin takes ----
void plugin_begin_pass(Physics *physics);
bool plugin_lets_meet(const Physics *physics, const Shape *a,
                      const Shape *b);                                 // as ODE's spaces would: by body, bits, enabled
int plugin_collide(Physics *physics, const Shape *a, const Shape *b);  // the plugin's answer about two of our shapes
void plugin_collide_others(Physics *physics);                          // pairs with geoms that are not ours
void plugin_free(Physics *physics);

// ---- finite_check.c: states that are not finite ----
#define FINITE_SPEED_LIMIT 1e6  // m/s or rad/s: faster is an explosion, not a motion
static inline double length2_of(const double v[3]) { return v[0] * v[0] + v[1] * v[1] + v[2] * v[2]; }
// The common case in a few operations; a number that is not finite fails the comparisons too.
static inline bool finite_motion_is_fine(const double *position, const double *quaternion, const double *linear,
                                         const double *angular)
{
    return length2_of(position) <= LIMIT_COORDINATE * LIMIT_COORDINATE
           && quaternion[0] * quaternion[0] + length2_of(quaternion + 1) < 4.0
           && length2_of(linear) <= FINITE_SPEED_LIMIT * FINITE_SPEED_LIMIT
           && length2_of(angular) <= FINITE_SPEED_LIMIT * FINITE_SPEED_LIMIT;
}
// What is not finite stays so when it is multiplied by zero: one test for six numbers.
static inline bool finite_force_is_fine(const BodyState *state)
{
    Vec3 f = state->force, t = state->torque;
    return 0.0 * f.x + 0.0 * f.y + 0.0 * f.z + 0.0 * t.x + 0.0 * t.y + 0.0 * t.z == 0.0;
}
void finite_check_inputs(Physics *physics);  // before the step: drops what was given that is not finite
void finite_reject(Physics *physics, int body, const char *what);  // says that something on it was dropped
void finite_check_states(Physics *physics);                        // after it
void finite_check_start(Physics *physics);                         // before the first step

// ---- init.c: one-time start of ODE, per-thread data, its messages ----
void odelib_start(void);   // before the first object is made
void odelib_thread(void);  // what ODE keeps for this thread is there
void odelib_begin(
    Physics *physics);  // binds ODE's message handler to this world on this thread; nothing in a plain world
void odelib_end(void);
// ODE has one generator of random numbers for the whole process: worlds on several threads take turns with it.
void odelib_generator_take(uint64_t seed);
void odelib_generator_give(void);

// ---- fittings.c, fluid.c: hooks; each does nothing when there is nothing of its kind ----
void fittings_add(Physics *physics, SceneNode *node, int solid,
                  Pose frame);  // Track, Connector, Propeller ... met in build
void fittings_built(Physics *physics);
void fittings_prestep(Physics *physics, double dt);
void fittings_poststep(Physics *physics, double dt);
void collision_rules_build(Physics *physics, int first_solid, int end);
void collision_rules_destroy(Physics *physics);
// Whether rules know the pair of solids of one robot, and what they say.
bool collision_rules_say(const Physics *physics, int a, int b, bool *is_excluded);
void force_sensors_build(Physics *physics, int first_solid, int end);
void extra_joints_build(Physics *physics, int first_solid, int end);  // those that the solids hold
void extra_joints_remove(Physics *physics, int top);                  // those at or below a solid
const char *extra_joints_owner(const Physics *physics,
                               const void *joint);  // label of the solid that holds its node, NULL
void extra_joints_destroy(Physics *physics);
void pins_build(Physics *physics, int first_solid, int end);  // pin.c: one for each robot
void pins_moved(Physics *physics, int first_solid,
                int end);  // bodies were moved by hand: they are pinned where they are now
void pins_remove(Physics *physics, int top);
const char *pins_joint_owner(const Physics *physics, const void *joint);  // label of the robot that it pins, NULL
void pins_destroy(Physics *physics);
bool pins_hold(const Physics *physics);                // some robot is pinned
int pins_state(Physics *physics, StateBlock *blocks);  // as fittings_state
void pins_restored(Physics *physics);
int body_holder_target(const Physics *physics, const SceneNode *holder,
                       int solid);  // body_holder.c: solid it can hold now, -1
void body_switches_sync_scene(Physics *physics);
// A track's belt or a conveyor moves the surface; true: it limits friction across its way.
bool fittings_contact(const Physics *physics, const PhysicsContact *contact, PhysicsSurface *surface);
const char *fittings_joint_owner(const Physics *physics,
                                 const void *joint);  // label of the connector or gripper that holds by it, NULL
void fittings_destroy(Physics *physics);
bool fittings_hold(const Physics *physics);  // some connector or gripper holds something
// Machine `index` of those that were ever made: its node, NULL when it is gone, and its frame. False after the last
// one.
void fittings_keep_nodes(const Physics *physics, Scene *scene);
bool fitting_at(const Physics *physics, int index, const SceneNode **node, Pose *frame);
int fittings_state(Physics *physics, StateBlock *blocks);  // how many blocks were added
void fittings_restored(Physics *physics);
void fittings_sync_scene(Physics *physics);
void fluids_add(Physics *physics, SceneNode *node, Pose pose);
// A field of the node changed, or something below it; `is_motion`: translation or rotation.
void fluids_changed(Physics *physics, const SceneNode *node, bool is_motion);
SceneNode *fluid_node(const Physics *physics, int index);              // NULL after the last one
const SceneNode *extra_joint_node(const Physics *physics, int index);  // NULL after the last one
void fluids_pair(Physics *physics, int solid_shape, int fluid_shape);  // boxes overlap, in the collision pass
void fluids_begin_pass(Physics *physics);
void fluids_step(Physics *physics, double dt);
void fluids_destroy(Physics *physics);

// ---- share.c ----
void pose_store(Arena *arena, Pose **to, Pose pose);  // NULL stays what it is for the identity
void physics_own_rows(Physics *physics);              // before solids or bodies are written
void physics_fit_rows(Physics *physics);              // after it was built
void physics_bodies_new(Physics *physics);            // after what they are was written

// ---- snapshot.c ----
int state_blocks(Physics *physics, StateBlock blocks[STATE_BLOCKS_MAX]);
bool state_vector_is_sound(Vec3 v);   // finite and in range
bool state_pose_is_sound(Pose pose);  // finite, in range, with a unit quaternion

// ---- label.c ----
const char *label_plain(const SceneNode *node);  // DEF, name or type: not unique
void labels_make(Physics *physics);
const char *solid_label(const Physics *physics, int solid);  // unique; -1 is the world

#endif
