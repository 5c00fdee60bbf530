/* talus.h - the Talus library for programs that embed it: load a world, look into it, simulate it. C and C++.
 *
 * Handles are opaque. Several worlds can live in one process; one thread at a time works on each, different threads may
 * work on different worlds. Functions that can fail return false, NULL, -1 or TALUS_NONE and leave their reasons in the
 * world's diagnostics. So does a world, name, path, field, text or snapshot that is NULL; a place for a result may be NULL when nobody
 * wants it. Options and strings are copied unless a comment says otherwise. Units are SI, angles radians, vectors in the frame of the world, quaternions w x y z and unit.
 * The same file, seed and calls give the same bytes of state. */
#ifndef TALUS_TALUS_H
#define TALUS_TALUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TALUS_VERSION "0.1.0"

const char *talus_version(void);

typedef struct TalusWorld TalusWorld;
typedef struct TalusSnapshot TalusSnapshot;

/* A node of a world. Ids are never given twice, so one that was kept of a removed node is harmless. */
typedef uint32_t TalusNode;
#define TALUS_NONE UINT32_MAX
#define TALUS_ROOT 0u

typedef struct TalusVector { double x, y, z; } TalusVector;
typedef struct TalusQuaternion { double w, x, y, z; } TalusQuaternion;
typedef struct TalusPose { TalusVector position; TalusQuaternion orientation; } TalusPose;

/* ---- diagnostics ---- */

typedef enum TalusSeverity { TALUS_NOTE, TALUS_WARNING, TALUS_ERROR } TalusSeverity;
typedef struct TalusDiagnostic {
    TalusSeverity severity;
    const char *file;       /* "" when it has no place */
    unsigned line, column;  /* 0 when it has none */
    const char *message, *hint;  /* hint may be NULL */
    int count;              /* how often exactly this was said */
} TalusDiagnostic;
/* Called for every new diagnostic, at the end of the call that gave it. */
typedef void (*TalusDiagnosticHandler)(const TalusDiagnostic *diagnostic, void *context);

/* ---- worlds ---- */

/* All zero means the defaults. */
typedef struct TalusOptions {
    const char *stepper;                 /* NULL: the default; "ode-exact", "ode-quick", "talus" */
    const char *const *search_paths;     /* further folders for PROTOs and meshes, NULL-terminated */
    int threads;                         /* 0: WorldInfo decides */
    uint64_t seed;
    bool has_seed;                       /* false: WorldInfo decides */
    bool freezes_on_nan;                 /* isolate a body whose state is not finite instead of failing */
    bool is_untrusted;                   /* lower limits for files of unknown origin */
    TalusDiagnosticHandler on_diagnostic;
    void *context;
} TalusOptions;

/* A .wbt world, .wbo, .proto or .body file. NULL when nothing could be read; the handler was told why. */
TalusWorld *talus_load(const char *path, const TalusOptions *options);
/* The same from memory; `name` is used in messages and to find files beside it. */
TalusWorld *talus_load_text(const char *name, const char *text, size_t size, const TalusOptions *options);
void talus_free(TalusWorld *world); /* NULL is fine */

int talus_diagnostic_count(const TalusWorld *world); /* 0 without a world */
bool talus_diagnostic_at(const TalusWorld *world, int index, TalusDiagnostic *diagnostic);
int talus_diagnostic_total(const TalusWorld *world, TalusSeverity severity); /* with repetitions */

/* Reads a file and checks it without simulating. Returns the number of errors, -1 when it cannot be read at all. */
int talus_check(const char *path, const TalusOptions *options);

/* ---- time ---- */

bool talus_step(TalusWorld *world, int steps); /* false when steps < 0, or the run has failed: see talus_failure */
const char *talus_failure(const TalusWorld *world); /* NULL while all is well */
/* 0 without a world */
uint64_t talus_steps(const TalusWorld *world);
double talus_time(const TalusWorld *world);
double talus_time_step(const TalusWorld *world);
bool talus_reset(TalusWorld *world);           /* the state at load or of the last save */
uint64_t talus_hash(const TalusWorld *world);  /* of everything the future depends on */

/* Snapshots cost microseconds and fit any instance of the same world. Devices too are as they were when it was taken: sensors enabled
   since then are off again. */
TalusSnapshot *talus_snapshot_create(void);
void talus_snapshot_free(TalusSnapshot *snapshot);
void talus_snapshot_take(TalusWorld *world, TalusSnapshot *snapshot); /* may be used again and again */
bool talus_snapshot_restore(TalusWorld *world, const TalusSnapshot *snapshot);
bool talus_snapshot_write(TalusWorld *world, const char *path);
bool talus_snapshot_read(TalusWorld *world, const char *path);
bool talus_save(TalusWorld *world, const char *path); /* the running world as a .wbt file */

/* ---- nodes ---- */

/* By DEF name, by a path of DEF names ("ROBOT.ARM.HAND": each anywhere below the one before), or by a Solid's name. */
TalusNode talus_find(const TalusWorld *world, const char *name);
TalusNode talus_find_below(const TalusWorld *world, TalusNode top, const char *def_path);
bool talus_node_exists(const TalusWorld *world, TalusNode node);
const char *talus_node_type(const TalusWorld *world, TalusNode node); /* "HingeJoint"; NULL when there is no such node */
const char *talus_node_def(const TalusWorld *world, TalusNode node);  /* NULL when it has none */
TalusNode talus_node_parent(const TalusWorld *world, TalusNode node); /* TALUS_NONE at the root */

/* Fields. Reading gives false when there is no such field or it is of another kind; poses, velocities, joint positions
   and switches are those of this moment. Writing acts at once. */
bool talus_get_bool(const TalusWorld *world, TalusNode node, const char *field, bool *value);
bool talus_get_int(const TalusWorld *world, TalusNode node, const char *field, int *value);
bool talus_get_double(const TalusWorld *world, TalusNode node, const char *field, double *value);
bool talus_get_vector(const TalusWorld *world, TalusNode node, const char *field, TalusVector *value);
const char *talus_get_string(const TalusWorld *world, TalusNode node, const char *field); /* NULL on failure */
TalusNode talus_get_node(const TalusWorld *world, TalusNode node, const char *field, int index); /* index 0 for a single one */
/* Numbers of any numeric field, single or list, flat: writes at most `capacity` and returns how many there are, -1 on failure. */
int talus_get_numbers(const TalusWorld *world, TalusNode node, const char *field, double *values, int capacity);
bool talus_set_bool(TalusWorld *world, TalusNode node, const char *field, bool value);
bool talus_set_int(TalusWorld *world, TalusNode node, const char *field, int value);
bool talus_set_double(TalusWorld *world, TalusNode node, const char *field, double value);
bool talus_set_vector(TalusWorld *world, TalusNode node, const char *field, TalusVector value);
bool talus_set_string(TalusWorld *world, TalusNode node, const char *field, const char *value);
/* The counterpart of talus_get_numbers: `count` must fit the field (3 for one vector, a multiple of 3 for a list of them). */
bool talus_set_numbers(TalusWorld *world, TalusNode node, const char *field, const double *values, int count);

/* Puts one node, written as in a world file, into a field of `parent` (at the end when index is -1). */
TalusNode talus_insert(TalusWorld *world, TalusNode parent, const char *field, int index, const char *text);
bool talus_remove(TalusWorld *world, TalusNode node);

/* ---- solids ---- */

/* All solids in file order: writes at most `capacity` of them and returns how many there are. */
int talus_solids(const TalusWorld *world, TalusNode *nodes, int capacity);
const char *talus_solid_label(const TalusWorld *world, TalusNode solid); /* unique name, as in recordings; NULL */
bool talus_pose(const TalusWorld *world, TalusNode solid, TalusPose *pose);
bool talus_velocity(const TalusWorld *world, TalusNode solid, TalusVector *linear, TalusVector *angular); /* of its origin */
bool talus_mass(const TalusWorld *world, TalusNode solid, double *mass, TalusVector *center); /* center in the world */
bool talus_is_dynamic(const TalusWorld *world, TalusNode solid);  /* has a body */
bool talus_is_idle(const TalusWorld *world, TalusNode solid);
bool talus_is_colliding(const TalusWorld *world, TalusNode solid);
bool talus_set_pose(TalusWorld *world, TalusNode solid, TalusPose pose); /* takes everything below along */
bool talus_set_velocity(TalusWorld *world, TalusNode solid, TalusVector linear, TalusVector angular);
bool talus_reset_motion(TalusWorld *world, TalusNode solid); /* velocities of it and all below to zero */
/* Act during the next step. False when the solid has no body. */
bool talus_add_force(TalusWorld *world, TalusNode solid, TalusVector force);
bool talus_add_force_at(TalusWorld *world, TalusNode solid, TalusVector force, TalusVector point);
bool talus_add_torque(TalusWorld *world, TalusNode solid, TalusVector torque);

/* ---- joints and motors ---- */

/* `joint` is a joint, its end point, or a motor, sensor or brake on it; `axis` counts from 0 and is ignored for devices. */
bool talus_joint_position(const TalusWorld *world, TalusNode joint, int axis, double *position);
bool talus_joint_velocity(const TalusWorld *world, TalusNode joint, int axis, double *velocity);
bool talus_joint_set_position(TalusWorld *world, TalusNode joint, int axis, double position); /* at once, by hand */
/* Commands. Values beyond a motor's limits are clipped, with a diagnostic. Position INFINITY: velocity control. */
bool talus_motor_set_position(TalusWorld *world, TalusNode joint, int axis, double position);
bool talus_motor_set_velocity(TalusWorld *world, TalusNode joint, int axis, double velocity);
bool talus_motor_set_force(TalusWorld *world, TalusNode joint, int axis, double force);
bool talus_motor_set_available_force(TalusWorld *world, TalusNode joint, int axis, double force);
bool talus_motor_set_acceleration(TalusWorld *world, TalusNode joint, int axis, double acceleration);
bool talus_motor_set_gains(TalusWorld *world, TalusNode joint, int axis, double p, double i, double d);
bool talus_motor_feedback(TalusWorld *world, TalusNode joint, int axis, double *force); /* of the last step, from the second call on */
bool talus_brake_set_damping(TalusWorld *world, TalusNode joint, int axis, double damping);

/* ---- connectors and grippers ---- */

/* False when the node is no Connector. Presence: -1 it is passive, 1 a fitting peer is there or held, 0 none. */
bool talus_connector_set_locked(TalusWorld *world, TalusNode connector, bool is_locked);
bool talus_connector_presence(TalusWorld *world, TalusNode connector, int *presence);
TalusNode talus_connector_peer(const TalusWorld *world, TalusNode connector); /* what it is attached to, or TALUS_NONE */
/* False when the node is no VacuumGripper. */
bool talus_gripper_set_on(TalusWorld *world, TalusNode gripper, bool is_on);
TalusNode talus_gripper_held(const TalusWorld *world, TalusNode gripper); /* the solid it holds, or TALUS_NONE */

/* ---- devices ---- */

/* A device of a robot by its name, as wb_robot_get_device finds it. TALUS_NONE as robot: of the first robot that has one. */
TalusNode talus_device(TalusWorld *world, TalusNode robot, const char *name);
/* Switches the readings of a sensor on, one every period_ms (rounded up to whole steps; the first comes a period later); 0: off. */
bool talus_device_enable(TalusWorld *world, TalusNode device, int period_ms);
/* The numbers of the last reading, as the sensor's wb_*_get_value(s) gives them; a ForceTorqueSensor has three of force (N) and three
   of torque (N m). Writes at most `capacity` and returns how many there are: 0 before the first reading, -1: no such device. */
int talus_device_read(TalusWorld *world, TalusNode device, double *values, int capacity);
/* On or off: Holder, VacuumGripper, Conveyor, Attachment, Marker, and lights. False: it cannot be switched. */
bool talus_device_switch(TalusWorld *world, TalusNode device, bool on);
bool talus_device_is_on(TalusWorld *world, TalusNode device, bool *on);
/* Lines of a DigitalIO. An input line switches what the body file connects to it. False: there is no such line. */
bool talus_signal_set(TalusWorld *world, TalusNode device, bool is_input, int line, bool on);
bool talus_signal_get(TalusWorld *world, TalusNode device, bool is_input, int line, bool *on);

/* ---- the physics plugin ---- */

/* All zero means the defaults. */
typedef struct TalusPluginOptions {
    const char *const *search_paths; /* further project folders, NULL-terminated */
    int64_t timeout_ms;              /* of one call into the plugin; 0: no limit */
    const char *crash_snapshot;      /* where the last good state goes when it fails; NULL: <world>.crash.snap */
    bool is_quiet;                   /* what it prints is dropped, else it goes to standard output */
} TalusPluginOptions;
/* Loads and starts the plugin that WorldInfo.physics names: code of the world runs from here on. True also when it names
 * none; false when it cannot be used, and then the world runs without it. A plugin that fails in mid-run fails the world.
 * The strings of the options must stay valid until it is stopped. */
bool talus_plugin_start(TalusWorld *world, const TalusPluginOptions *options);
bool talus_plugin_stop(TalusWorld *world);  /* cleans it up and unloads it, as talus_free does; false when it failed */
/* To the plugin as if an Emitter sent it on channel 0: dWebotsReceive gives all of it in the next step. */
bool talus_plugin_send(TalusWorld *world, const void *data, size_t size);
/* What the plugin sent on a channel with dWebotsSend, oldest first; valid until the next call. NULL: nothing more. */
const void *talus_plugin_receive(TalusWorld *world, int channel, size_t *size);

/* ---- contacts ---- */

typedef struct TalusContact {
    TalusNode solid[2];
    TalusVector point, normal; /* the normal looks from solid[1] into solid[0] */
    double depth;
    double friction;           /* INFINITY: no limit */
    int properties;            /* index in WorldInfo.contactProperties, -1: defaults */
    double sliding_speed, rolling_speed, impact_energy;
} TalusContact;
/* The points of the last collision pass: writes at most `capacity` and returns how many there are. */
int talus_contacts(const TalusWorld *world, TalusContact *contacts, int capacity);

typedef struct TalusContactForce { TalusNode solid[2]; TalusVector point, normal, force; } TalusContactForce;
/* Forces of the last step on solid[0]; they are computed from the first call on. */
int talus_contact_forces(TalusWorld *world, TalusContactForce *forces, int capacity);

typedef struct TalusStatistics {
    int solids, bodies, bodies_awake, joints, contacts, contacts_dropped, frozen;
    double deepest;
} TalusStatistics;
TalusStatistics talus_statistics(const TalusWorld *world); /* all zero without a world */

#ifdef __cplusplus
}
#endif

#endif
