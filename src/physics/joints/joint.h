// joint.h - joints, their motors, springs and brakes: the model as plain structs, and what the build and the step call.
// Everything of a joint that changes with time is in PhysicsJointState: plain bytes, no pointers, copied by snapshots.
// The constraints that hold and drive it stand beside it; after a restore joint_restored() brings them in line.
#ifndef TALUS_PHYSICS_JOINT_H
#define TALUS_PHYSICS_JOINT_H

#include "physics/joints/constraint.h"
#include "physics/physics.h"

typedef enum MotorMode { MOTOR_POSITION, MOTOR_VELOCITY, MOTOR_FORCE } MotorMode;  // as PhysicsMotorMode

// One axis of a joint as the file describes it.
typedef struct PhysicsAxis {  // what every step reads stands first
    SceneNode *motor;         // devices of the axis, NULL when absent
    double static_friction, motor_max_force, motor_multiplier;
    int coupled_next;           // joint * PHYSICS_JOINT_AXES + axis of the next motor coupled by name, a ring; -1: none
    bool stops_are_open;        // its constraint knows none for now: see within_stops
    double min_stop, max_stop;  // active when they differ
    double spring, damping;
    SceneNode *parameters;  // JointParameters family, NULL: defaults
    SceneNode *sensor, *brake;
    Vec3 axis;                    // unit, frame of the joint (PhysicsJoint.frame)
    double stop_erp, stop_cfm;    // -1: the world's
    double motor_min, motor_max;  // position range of the motor, active when they differ
    double motor_max_velocity;
    double rotor;  // inertia that the motor's rotor adds on the axis
} PhysicsAxis;

typedef struct PhysicsAxisState {
    double position, velocity;
    double surplus;   // by which the position that is read is ahead of where the bodies stand: see count_rate
    double offset;    // joint position at which the constraint's angle is zero
    double feedback;  // force or torque that the motor gave in the last step
    double target_position, target_velocity, command_velocity;
    double acceleration;  // -1: unlimited
    double available_force;
    double force_command;  // in MOTOR_FORCE
    double gains[3];       // P, I, D
    double integral, last_error;
    double brake_damping;
    int32_t mode;  // MotorMode
    int32_t is_without_power;
} PhysicsAxisState;

typedef struct PhysicsJointState {
    PhysicsAxisState axes[PHYSICS_JOINT_AXES];
    Pose zero;            // of the end point at position zero and without suspension, in the joint's `frame`
    Pose anchored[2];     // poses of parent and child body that anchor and axes were last set for
    int32_t is_attached;  // connectors and grippers come and go
    int32_t is_broken;
} PhysicsJointState;

// What a joint keeps of where its constraint was placed, to read its positions by.
typedef struct JointPlacing {
    Quat sine, cosine;              // of one axis: their products with the turn now are those of half its angle
    Vec3 axis[PHYSICS_JOINT_AXES];  // axes in the frame of the parent's body (of the world without one)
    double slide;                   // of sliders: the child's place along the axis at that moment
    Quat turn;                      // of the child against the parent's side at that moment
} JointPlacing;

// What every step reads of a joint of one axis stands first and together.
typedef struct PhysicsJoint {
    Constraint *constraint;              // that holds it, NULL when kinematic
    const JointPlacing *shared_placing;  // of a clone: that of its model, while it is the same; NULL: its own
    PhysicsJointKind kind;
    int parent;   // solid that holds it, -1: none (then it is not simulated)
    int child;    // end point, -1: none
    int body[2];  // of parent and child, -1: none
    int axis_count;
    bool child_is_world;  // SolidReference "<static environment>"
    bool is_reference;    // the end point is a SolidReference: it closes a loop and owns no solid
    bool is_dynamic;      // simulated by the solver; else kinematic: positions computed, no forces
    bool is_alive;
    bool wants_feedback;
    bool is_reversed;       // there is no parent body: the constraint swapped the sides
    bool is_sprung_inside;  // a slider whose own motor row is its spring
    bool is_bare_motor;     // one axis, which a motor or friction drives and nothing else: see joints_prestep
    PhysicsAxis axes[PHYSICS_JOINT_AXES];
    SceneNode *node;
    Constraint *motor;   // that drives and stops it where its own row cannot, NULL
    Constraint *spring;  // of spring and damper, NULL
    Pose frame;          // of the joint's holder (nearest Pose above) in the parent solid's frame
    Vec3 anchor;         // in `frame`
    Vec3 suspension_axis;
    double suspension_spring, suspension_damping;
    Pose placed[2];  // the anchored poses that constraints and what is placed were last set for
    JointPlacing own_placing;
} PhysicsJoint;

static inline const JointPlacing *joint_placing(const PhysicsJoint *row)
{
    return row->shared_placing ? row->shared_placing : &row->own_placing;
}

typedef struct Physics Physics;

// Joints that a step has something to do for, listed when joints came, went or changed.
typedef struct JointLists {
    int32_t *driven;   // before it: motors, springs, stops; kinematic ones
    int32_t *watched;  // after it: those that are not read on demand
    int driven_count, driven_capacity, watched_count, watched_capacity;
    int joint_count;      // for which they were written,
    uint64_t edit_count;  // Physics.edit_count then,
    bool is_mirrored;     // and whether there were twins
    bool has_kinematic;
    bool is_valid;
} JointLists;

// Called by build.c once all solids, bodies and end points are known: reads the fields of the joint's nodes and its
// devices, then makes ODE's objects.
void joint_read(Physics *physics, int joint);
void joint_make(Physics *physics, int joint);
void joint_unmake(Physics *physics, int joint);
// One or both of its bodies (or the solid it hangs from) were moved by hand: anchors and axes are set again, from the
// scene's numbers. The bodies keep the error that they stand with, so no number of moves adds up. `is_rigid`: both
// sides moved together; a loop whose one side moved is closed where the two stand now.
void joint_moved(Physics *physics, int joint, bool is_rigid);
// The end point is put by hand at a pose in the joint's frame, with the position that the joint has: what position zero
// means changes. Call it before the bodies move.
void joint_put_end_point(Physics *physics, int joint, Pose local);
void joint_close_loop(Physics *physics, int joint);  // the same for a loop: at where its far side stands now
Pose joint_end_point(const Physics *physics,
                     int joint);  // in the joint's frame, as its positions say, without error and suspension
void joint_restored(Physics *physics, int joint);  // the state was overwritten by a snapshot
Pose joint_side_pose(const Physics *physics, const PhysicsJoint *row,
                     int side);                          // of its body there, or of its solid without one
bool joint_axis_is_sound(const PhysicsAxisState *axis);  // numbers that an axis can be at (snapshot.c)
void joint_sync_scene(Physics *physics, int joint);      // position fields and the end point's pose
void joint_field_changed(Physics *physics, int joint, SceneNode *node, const char *field);

// Turns (slides) of the axes as a pose in `frame`: what takes the end point from position zero to the positions given.
Pose joint_motion(const PhysicsJoint *joint, const double positions[PHYSICS_JOINT_AXES]);
void joint_pose_child(Physics *physics, int joint);  // puts a kinematic end point where its positions say

// motor.c
void motor_read(Physics *physics, int joint, int axis);  // fields of the motor node
void motors_couple(Physics *physics);                    // rings of motors that share a name; after all joints are read
double motor_velocity(Physics *physics, int joint, int axis, double dt);  // this step's velocity command
void motor_move_kinematic(Physics *physics, int joint, int axis,
                          double dt);  // without physics: moves the position itself

// Adds what motors in force mode put on the child in the last step, as bodies feel it.
void joint_drive_wrench(const Physics *physics, int joint, Vec3 *force, Vec3 *torque);
void joints_prestep(Physics *physics, double dt);  // motors, springs, kinematic joints
void joints_changed(Physics *physics);             // what they are: the lists above are written anew
void joints_resume(Physics *physics);  // once after load: what the file kept of joints in motion (joint_keep.c)
void joints_start(Physics *physics);   // then: velocities
void joints_poststep(Physics *physics, double dt);  // positions, velocities, feedback
// Positions and velocities of joints with one axis are read when somebody asks, and before a step that needs them: this
// is to be called before, and before bodies are moved by hand.
void joints_refresh(Physics *physics);
void joint_refresh(Physics *physics, int joint);  // enough for what is asked of this one

#endif
