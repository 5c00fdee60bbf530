// physics.h - solids in motion: bodies, shapes, joints, contacts, fluids, and the step that moves them.
// Belongs here: everything between a scene at rest and its next state. Not here: the order of a simulation step
// (sim/), what sensors read (devices/), controllers. No ODE type appears here; plugins/ finds them in physics/ode.h.
//
// A Physics borrows the scene it was made from and owns all the rest. One thread at a time works on it; several may
// live in one process. Objects are named by index: solids, bodies, shapes and joints are numbered in file order,
// parents before children. Removing one leaves a hole and its index is never given again, so an index is a safe thing
// to keep.
#ifndef TALUS_PHYSICS_PHYSICS_H
#define TALUS_PHYSICS_PHYSICS_H

#include "assets/geometry.h"
#include "assets/store.h"
#include "base/diag.h"
#include "base/limits.h"
#include "base/text.h"
#include "base/vec.h"
#include "physics/solver/contact.h"
#include "scene/scene.h"

typedef struct Physics Physics;

typedef enum PhysicsNanPolicy { PHYSICS_NAN_STOP, PHYSICS_NAN_FREEZE } PhysicsNanPolicy;

typedef struct PhysicsOptions {
    const char *stepper;  // "ode-exact", "ode-quick", "talus"; NULL: the default
    PhysicsNanPolicy nan_policy;
    int threads;           // 0: WorldInfo decides
    uint64_t seed;         // of the run; see has_seed
    bool has_seed;         // false: WorldInfo.randomSeed
    const Limits *limits;  // NULL: defaults
    AssetStore *assets;    // where meshes come from, shared with others; NULL: a store of its own
    // One of the same scene, or of a copy of it: its collision meshes are used too, so it has to live longer. NULL:
    // none.
    const Physics *like;
} PhysicsOptions;

// Builds all solids of the scene. What is wrong in it is reported and mended or left out; only an unknown stepper gives
// NULL. The sink must outlive the Physics: trouble of the run is reported there too.
Physics *physics_create(Scene *scene, const PhysicsOptions *options, DiagSink *diags);
void physics_destroy(Physics *physics);  // NULL is fine
// Uses the rows of solids and bodies of the one that it was made like, when both are of the same nodes, which do not
// change any more. Edits give it rows of its own again.
void physics_share_rows(Physics *physics);

Scene *physics_scene(const Physics *physics);
AssetStore *physics_assets(const Physics *physics);
double physics_time_step(const Physics *physics);  // s
Vec3 physics_gravity(const Physics *physics);
uint64_t physics_seed(const Physics *physics);
void physics_set_seed(Physics *physics, uint64_t seed);  // from the next step on
// What a step writes before it reads: worlds that are stepped one after the other on one thread may share it, and then
// find it in the cache. Lent to a Physics of one thread for the steps until it is taken back (NULL); nothing that is
// computed depends on it.
typedef struct PhysicsScratch PhysicsScratch;
PhysicsScratch *physics_scratch_create(void);
void physics_scratch_destroy(PhysicsScratch *scratch);  // NULL is fine
void physics_lend_scratch(Physics *physics, PhysicsScratch *scratch);
// Those that will be stepped with this scratch after the present one: while it is stepped they are fetched into the
// cache. NULL: none.
void physics_plan_next(PhysicsScratch *scratch, const Physics *next, const Physics *after);
struct Pool *physics_pool(const Physics *physics);  // its threads, for loops of whoever asks between steps; NULL: one
const char *physics_stepper_name(const Physics *physics);
const char *const *physics_stepper_names(void);  // NULL-terminated

// The parts of one step, in the order in which sim/ calls them (reference: the phase list in sim/sim.c).
void physics_begin_step(Physics *physics, uint64_t step);  // seeds generators, forgets last step's marks
void physics_prestep(Physics *physics);           // moves made by hand, kinematic solids, joints and motors, propellers
void physics_fluids(Physics *physics);            // buoyancy and drag from the last collision pass
void physics_advance(Physics *physics);           // the stepper
void physics_collide(Physics *physics);           // contacts for the next step; also called once after load
void physics_poststep(Physics *physics);          // poses and joint positions read back; false states found
bool physics_has_failed(const Physics *physics);  // a state is not finite and the policy says stop

// ---- solids ----
// Every Solid of the scene (devices and robots included), whether it has physics or not.
int physics_solid_count(const Physics *physics);  // holes included
bool physics_solid_exists(const Physics *physics, int solid);
int physics_solid_of(const Physics *physics, const SceneNode *node);  // -1 when it is none
SceneNode *physics_solid_node(const Physics *physics, int solid);
int physics_solid_parent(const Physics *physics, int solid);         // nearest solid above, -1 at the top
int physics_solid_joint(const Physics *physics, int solid);          // the joint whose end point it is, -1
int physics_solid_body(const Physics *physics, int solid);           // -1: kinematic
const char *physics_solid_label(const Physics *physics, int solid);  // unique: DEF or name, with parents where needed
Pose physics_solid_pose(const Physics *physics, int solid);          // of the node's frame, in the world
void physics_solid_poses(const Physics *physics, Pose *poses);       // of all; t.x is NaN where one is gone
// The same for another thread: what they follow from is copied in one pass, and whoever wants the poses makes them
// later, bit for bit those of that moment. { 0 } is ready. After the first ones of a world taking allocates nothing.
typedef struct PhysicsPoseRow {
    int solid;
    Pose in_body;  // of the solid's frame
} PhysicsPoseRow;
typedef struct PhysicsMovedBody {
    int body;
    Pose pose;
} PhysicsMovedBody;
typedef struct PhysicsPoses {
    Pose *solids;  // whole after physics_poses_make()
    int solid_count, solid_capacity;
    PhysicsMovedBody *moved;  // whose solids are still to be placed
    int moved_count, moved_capacity;
    PhysicsPoseRow *rows;  // by body: from first_row[body] to first_row[body + 1]
    int *first_row;
    int body_count, row_capacity, first_row_capacity;
    int *others;  // solids without a body
    int other_count, other_capacity;
    uint64_t rows_version;  // of the bodies that the rows are of,
    int row_solids;         // and how many solids there were
} PhysicsPoses;
void physics_poses_take(const Physics *physics, PhysicsPoses *copy);
void physics_poses_make(PhysicsPoses *copy);  // by any thread; again is fine
void physics_poses_deinit(PhysicsPoses *copy);
Vec3 physics_solid_linear_velocity(const Physics *physics, int solid);  // of the node's origin, world frame
Vec3 physics_solid_angular_velocity(const Physics *physics, int solid);
Vec3 physics_solid_point_velocity(const Physics *physics, int solid, Vec3 point);  // world point that moves with it
Vec3 physics_solid_center_of_mass(const Physics *physics,
                                  int solid);                  // world, of the solid alone; its origin without physics
double physics_solid_mass(const Physics *physics, int solid);  // of the solid alone, 0 without physics
bool physics_solid_is_idle(const Physics *physics, int solid);
bool physics_solid_is_colliding(const Physics *physics, int solid);  // in the last collision pass

// Writing takes effect at the next step and wakes what it touches. A pose is a teleport: velocities stay.
void physics_solid_set_pose(Physics *physics, int solid, Pose world);
// Of the merged body, in the world's frame. False, said: a number that no snapshot would take.
bool physics_solid_set_velocity(Physics *physics, int solid, Vec3 linear, Vec3 angular);
void physics_solid_reset(
    Physics *physics,
    int solid);  // velocities, forces and motor speeds of it and all below to zero; contacts are found anew
// For the next step only. `point` is a world point. False when the solid has no body (or a value is not finite).
bool physics_solid_add_force(Physics *physics, int solid, Vec3 force);
bool physics_solid_add_force_at(Physics *physics, int solid, Vec3 force, Vec3 point);
bool physics_solid_add_torque(Physics *physics, int solid, Vec3 torque);

// ---- bodies ----
int physics_body_count(const Physics *physics);
int physics_body_solid(const Physics *physics, int body);  // the top one of the solids merged into it
double physics_body_mass(const Physics *physics, int body);
Mat3 physics_body_inertia(const Physics *physics, int body);          // about the centre of mass, body axes
Pose physics_body_pose(const Physics *physics, int body);             // origin at the centre of mass, axes of its solid
Vec3 physics_body_linear_velocity(const Physics *physics, int body);  // of the centre of mass
Vec3 physics_body_angular_velocity(const Physics *physics, int body);
bool physics_body_is_idle(const Physics *physics, int body);

// ---- shapes: what collides ----
typedef struct PhysicsShape {
    GeometryKind kind;  // with a formula, or GEOMETRY_MESH or GEOMETRY_HEIGHTS
    int solid;          // -1 for a fluid's
    int body;           // -1: static or kinematic
    SceneNode *geometry;
    Vec3 size;   // as GeometryKind says; zero for a plane
    Pose local;  // in the frame of its solid
    Pose world;
} PhysicsShape;
int physics_shape_count(const Physics *physics);
bool physics_shape_exists(const Physics *physics, int shape);
PhysicsShape physics_shape(const Physics *physics, int shape);

// ---- joints ----
#define PHYSICS_JOINT_AXES 3
typedef enum PhysicsJointKind {
    PHYSICS_JOINT_HINGE,
    PHYSICS_JOINT_HINGE2,
    PHYSICS_JOINT_SLIDER,
    PHYSICS_JOINT_BALL,
    PHYSICS_JOINT_FIXED,
    PHYSICS_JOINT_TRACK,
    PHYSICS_JOINT_PROPELLER,  // one axis of a belt or rotor, moved by its motor alone
} PhysicsJointKind;
int physics_joint_count(const Physics *physics);
bool physics_joint_exists(const Physics *physics, int joint);
int physics_joint_of(const Physics *physics, const SceneNode *node);  // -1
SceneNode *physics_joint_node(const Physics *physics, int joint);
PhysicsJointKind physics_joint_kind(const Physics *physics, int joint);
int physics_joint_axis_count(const Physics *physics, int joint);
int physics_joint_parent(const Physics *physics, int joint);  // solid, -1: the world
int physics_joint_child(const Physics *physics, int joint);   // solid, -1 when the end point is none
double physics_joint_position(const Physics *physics, int joint, int axis);
double physics_joint_velocity(const Physics *physics, int joint, int axis);
// The same of many axes.
typedef struct PhysicsAxisRef {
    int32_t joint, axis;
} PhysicsAxisRef;
void physics_joint_positions(const Physics *physics, const PhysicsAxisRef *axes, int count, double *positions);
void physics_joint_velocities(const Physics *physics, const PhysicsAxisRef *axes, int count, double *velocities);
void physics_joint_set_position(Physics *physics, int joint, int axis, double position);  // teleports the end point

// ---- contacts ----
// The points found by the last collision pass, in a fixed order. They act in the coming step.
typedef SolverContact PhysicsContact;
typedef SolverSurface PhysicsSurface;
const PhysicsContact *physics_contacts(const Physics *physics, int *count);
// The solid of a side, -1: of a shape that a plugin made.
int physics_contact_solid(const Physics *physics, const PhysicsContact *contact, int side);
const PhysicsSurface *physics_contact_surface(const Physics *physics, int index);
static inline int physics_contact_properties(
    const PhysicsContact *contact)  // index in WorldInfo.contactProperties, -1: defaults
{
    return contact->surface / 2 - 1;
}
// How the surfaces of contact `index` move against each other, for sounds and wear.
typedef struct PhysicsContactMotion {
    double sliding_speed;  // m/s, in the plane of contact
    double rolling_speed;  // m/s, at which the point of contact travels over the surfaces as they turn
    double rolling_spin;   // rad/s, of one body against the other about axes in the plane of contact
    double impact_energy;  // J, of the approach along the normal when the pair did not touch before; else 0
} PhysicsContactMotion;
PhysicsContactMotion physics_contact_motion(const Physics *physics, int index);
// Likewise, but false, and cheaply so, where the surfaces neither meet nor slide nor roll faster than m/s and rad/s.
bool physics_contact_moves(const Physics *physics, int index, double slide_min, double spin_min,
                           PhysicsContactMotion *motion);
// What acted in the last step, with the force on solid 0 (world, N); solid 1 feels the opposite. Empty unless wanted.
typedef struct PhysicsContactForce {
    int contact_shape[2];
    int solid[2];
    Vec3 point, normal, force;
} PhysicsContactForce;
void physics_want_contact_forces(Physics *physics, bool want);
const PhysicsContactForce *physics_contact_forces(const Physics *physics, int *count);

// What of a solid's shape is in a fluid, by the last collision pass.
typedef struct PhysicsImmersion {
    int solid;
    Vec3 center;  // of the part below the surface, in the world: where buoyancy acts
    double mass;  // kg of fluid in its place
} PhysicsImmersion;
// Returns how many there are; writes no more than fit.
int physics_immersions(const Physics *physics, PhysicsImmersion *immersions, int capacity);

// What a ForceTorqueSensor (by the index of its solid) reads of the last step, in its own frame: force in N, torque
// about its origin in N m. False when no joint is there to measure.
bool physics_force_sensor(const Physics *physics, int solid, Vec3 *force, Vec3 *torque);

// Which ContactProperties every pair of materials gets, one line each: what `talus info --contacts` prints.
void physics_explain_materials(const Physics *physics, Text *out);
// The contacts of the last pass, one line each: what `talus run --explain-contacts` prints.
void physics_explain_contacts(const Physics *physics, Text *out);
// What the solver did in the last step, one line per island: what `talus run --explain-solver` prints.
void physics_explain_solver(Physics *physics, Text *out);

// ---- the scene ----
// Writes poses, velocities and joint positions into the scene, so that saving it saves the moment.
void physics_sync_scene(Physics *physics);
void physics_sync_solid(Physics *physics, int solid);  // pose and velocities of this one alone
// Beyond that: gaps of joints and what motors were told, into a hidden field of each joint. A load takes them from
// there.
void physics_keep_joints(Physics *physics);
// The wheels of tracks, in the scene, as they stood before their belts ran: what another Physics of the same scene
// starts from.
void physics_rest_wheels(Physics *physics);
// After a field of `node` (or below it, for nodes that are not solids) was changed in the scene by anybody.
void physics_field_changed(Physics *physics, SceneNode *node, const char *field);
// After a node was put into the scene, or taken out of it (`parent` held it).
void physics_node_added(Physics *physics, SceneNode *node);
void physics_node_removed(Physics *physics, SceneNode *node, SceneNode *parent);
// After the tree of a PROTO instance was made anew. The scene says where everything is: it was synced before the
// change.
void physics_instance_remade(Physics *physics, SceneNode *instance);
// Grows with each of these; poses of solids are not counted. For those who keep lists made from the scene.
uint64_t physics_edit_count(const Physics *physics);
void physics_keep_nodes(const Physics *physics, Scene *scene);  // scene_keep() for all that it remembers
// Grows when nodes come or go and when parts are made anew: indices of solids and joints are to be asked for again.
uint64_t physics_tree_count(const Physics *physics);

// ---- state ----
// A snapshot holds all that the future depends on. Restoring wants the same model: the hash of it guards.
uint64_t physics_model_hash(const Physics *physics);
uint64_t physics_state_hash(const Physics *physics);
size_t physics_snapshot_size(const Physics *physics);
void physics_snapshot(const Physics *physics, void *buffer);
// A cheap one without contacts and what the solver remembers: after a restore contacts are found anew, so that the
// motion goes on from exactly this state but not to the last bit as it would have. `model` as physics_model_hash gives
// it.
void physics_drop_forces(Physics *physics);  // whatever was added to bodies since the last step
size_t physics_snapshot_light_size(const Physics *physics);
void physics_snapshot_light(const Physics *physics, uint64_t model, void *buffer);
// Whether a snapshot is of another model, as far as its head can be read; adds what differs, "gravity, joint axes".
bool physics_snapshot_differs(const Physics *physics, const void *buffer, size_t size, Text *what);
bool physics_restore(Physics *physics, const void *buffer, size_t size);  // false: not of this model; nothing changed
// The pass after a restore in which a plugin is asked. Forces that it adds in it are in the snapshot already, if that
// was no light one.
void physics_collide_restored(Physics *physics);

typedef struct PhysicsStatistics {
    int solids, bodies, bodies_awake, shapes, joints;
    int pairs;             // of boxes that overlap, in the last pass
    int contacts;          // in the last pass
    int contacts_dropped;  // beyond maxContactJoints, since load
    int frozen;
    double deepest;  // m, in the last pass
} PhysicsStatistics;
PhysicsStatistics physics_statistics(const Physics *physics);

#endif
