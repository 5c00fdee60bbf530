/* talus.h - the Talus library for programs that embed it: load a world, look into it, simulate it. C and C++.
 *
 * Handles are opaque. Several worlds can live in one process; one thread at a time works on each, different threads may
 * work on different worlds. Functions that can fail return false, NULL, -1 or TALUS_NONE and leave their reasons in the
 * world's diagnostics. So does a world, name, path, field, text or snapshot that is NULL; a place for a result may be
 * NULL when nobody wants it. Options and strings are copied unless a comment says otherwise. Units are SI, angles
 * radians, vectors in the frame of the world, quaternions w x y z and unit. The same file, seed and calls give the same
 * bytes of state. */
#ifndef TALUS_TALUS_H
#define TALUS_TALUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) || defined(__clang__)
#define TALUS_API __attribute__((visibility("default")))
#else
#define TALUS_API
#endif

#define TALUS_VERSION_MAJOR 0
#define TALUS_VERSION_MINOR 2
#define TALUS_VERSION_PATCH 0
#define TALUS_VERSION "0.2.0"
/* For comparisons by the preprocessor: #if TALUS_VERSION_NUMBER >= 10000 */
#define TALUS_VERSION_NUMBER (10000 * TALUS_VERSION_MAJOR + 100 * TALUS_VERSION_MINOR + TALUS_VERSION_PATCH)

TALUS_API const char *talus_version(void);
TALUS_API int talus_version_number(void); /* TALUS_VERSION_NUMBER of the library, which may be newer than this header */
/* Why the last call on this thread that failed did so; "" when none has. Valid until the next call on this thread. */
TALUS_API const char *talus_last_error(void);

typedef struct TalusWorld TalusWorld;
typedef struct TalusSnapshot TalusSnapshot;

/* A node of a world. Ids are never given twice, so one that was kept of a removed node is harmless. */
typedef uint32_t TalusNode;
#define TALUS_NONE UINT32_MAX
#define TALUS_ROOT 0u

typedef struct TalusVector {
    double x, y, z;
} TalusVector;
typedef struct TalusQuaternion {
    double w, x, y, z;
} TalusQuaternion;
typedef struct TalusPose {
    TalusVector position;
    TalusQuaternion orientation;
} TalusPose;

/* ---- diagnostics ---- */

typedef enum TalusSeverity { TALUS_NOTE, TALUS_WARNING, TALUS_ERROR } TalusSeverity;
typedef struct TalusDiagnostic {
    TalusSeverity severity;
    const char *file;           /* "" when it has no place */
    unsigned line, column;      /* 0 when it has none */
    const char *message, *hint; /* hint may be NULL */
    int count;                  /* how often exactly this was said */
} TalusDiagnostic;
/* Called for every new diagnostic, at the end of the call that gave it. */
typedef void (*TalusDiagnosticHandler)(const TalusDiagnostic *diagnostic, void *context);

/* ---- worlds ---- */

/* All zero means the defaults. */
typedef struct TalusOptions {
    size_t size;                     /* sizeof(TalusOptions) of whoever fills it in; 0: that of this header */
    const char *stepper;             /* NULL: the default; "ode-exact", "ode-quick", "talus" */
    const char *const *search_paths; /* further folders for PROTOs and meshes, NULL-terminated */
    int threads;                     /* 0: WorldInfo decides */
    uint64_t seed;
    bool has_seed;       /* false: WorldInfo decides */
    bool freezes_on_nan; /* isolate a body whose state is not finite instead of failing */
    bool is_untrusted;   /* lower limits for files of unknown origin */
    TalusDiagnosticHandler on_diagnostic;
    void *context;
} TalusOptions;
static inline TalusOptions talus_options_defaults(void)
{
    TalusOptions options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    return options;
}

/* A .wbt world, .wbo, .proto or .body file. NULL when nothing could be read; the handler was told why. */
TALUS_API TalusWorld *talus_load(const char *path, const TalusOptions *options);
/* The same from memory; `name` is used in messages and to find files beside it. */
TALUS_API TalusWorld *talus_load_text(const char *name, const char *text, size_t size, const TalusOptions *options);
TALUS_API void talus_free(TalusWorld *world); /* NULL is fine */
/* One more of the same world, as it is now: microseconds per body, since nodes, meshes and assets are shared. The two
   know nothing of each other afterwards: either may be changed, stepped on another thread, or freed first. A reset of
   the clone comes back to this moment. A clone that is written into (talus_set_*, talus_insert, ...), or asked for a
   field that moves, gets nodes of its own then. Without the handler of the original and without its plugin: NULL while
   one runs. */
TALUS_API TalusWorld *talus_clone(TalusWorld *world);
TALUS_API bool talus_clone_many(TalusWorld *world, int count, TalusWorld **clones); /* all or none */

TALUS_API int talus_diagnostic_count(const TalusWorld *world); /* 0 without a world */
TALUS_API bool talus_diagnostic_at(const TalusWorld *world, int index, TalusDiagnostic *diagnostic);
TALUS_API int talus_diagnostic_total(const TalusWorld *world, TalusSeverity severity); /* with repetitions */

/* Reads a file and checks it without simulating. Returns the number of errors, -1 when it cannot be read at all. */
TALUS_API int talus_check(const char *path, const TalusOptions *options);

/* ---- time ---- */

TALUS_API bool talus_step(TalusWorld *world,
                          int steps); /* false when steps < 0, or the run has failed: see talus_failure */
TALUS_API const char *talus_failure(const TalusWorld *world); /* NULL while all is well */
/* 0 without a world */
TALUS_API uint64_t talus_steps(const TalusWorld *world);
TALUS_API double talus_time(const TalusWorld *world);
TALUS_API double talus_time_step(const TalusWorld *world);
TALUS_API bool talus_reset(TalusWorld *world);          /* the state at load or of the last save */
TALUS_API uint64_t talus_hash(const TalusWorld *world); /* of everything the future depends on */

/* Snapshots cost microseconds and fit any instance of the same world. Devices too are as they were when it was taken:
   sensors enabled since then are off again. */
TALUS_API TalusSnapshot *talus_snapshot_create(void);
TALUS_API void talus_snapshot_free(TalusSnapshot *snapshot);
TALUS_API void talus_snapshot_take(TalusWorld *world, TalusSnapshot *snapshot); /* may be used again and again */
TALUS_API bool talus_snapshot_restore(TalusWorld *world, const TalusSnapshot *snapshot);
TALUS_API bool talus_snapshot_write(TalusWorld *world, const char *path);
TALUS_API bool talus_snapshot_read(TalusWorld *world, const char *path);
TALUS_API bool talus_save(TalusWorld *world, const char *path); /* the running world as a .wbt file */

/* ---- the viewer ---- */

/* All zero but the size means the defaults. The strings must stay valid until the viewer is stopped. */
typedef struct TalusViewerOptions {
    size_t size;         /* as of TalusOptions */
    const char *address; /* numeric, to listen at; NULL: 127.0.0.1, which nobody else reaches */
    int port;            /* 0: a free one */
    bool is_paused;      /* talus_step waits until somebody presses play */
    double pace;         /* simulated seconds a second; 0: as fast as talus_step is called */
    const char *log;     /* file for what people do in the browser, which `talus run --input` repeats; NULL: none */
    bool (*is_interrupted)(void); /* asked while the world is paused: true makes talus_step return false; NULL: never */
    const char *ghost;            /* recording of a second run, shown translucent at the same moments; NULL: none */
    const char *embed; /* origins whose pages may show it in a frame, "http://127.0.0.1:8000,..."; NULL: none may */
} TalusViewerOptions;
static inline TalusViewerOptions talus_viewer_options_defaults(void)
{
    TalusViewerOptions options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    return options;
}
/* Shows the world in browsers, from a thread of its own. What people do there enters between the steps of talus_step,
   which also waits while they pause; looking on changes nothing. Returns the link to open, valid until the viewer is
   stopped, or NULL: it cannot be. */
TALUS_API const char *talus_view_start(TalusWorld *world, const TalusViewerOptions *options);
TALUS_API const char *talus_view_watch_link(
    const TalusWorld *world);                      /* for those who may only look; NULL: none is shown */
TALUS_API void talus_view_stop(TalusWorld *world); /* as talus_free does */

/* ---- nodes ---- */

/* By DEF name, by a path of DEF names ("ROBOT.ARM.HAND": each anywhere below the one before), or by a Solid's name. */
TALUS_API TalusNode talus_find(const TalusWorld *world, const char *name);
TALUS_API TalusNode talus_find_below(const TalusWorld *world, TalusNode top, const char *def_path);
TALUS_API bool talus_node_exists(const TalusWorld *world, TalusNode node);
TALUS_API const char *talus_node_type(const TalusWorld *world,
                                      TalusNode node); /* "HingeJoint"; NULL when there is no such node */
TALUS_API const char *talus_node_def(const TalusWorld *world, TalusNode node);  /* NULL when it has none */
TALUS_API TalusNode talus_node_parent(const TalusWorld *world, TalusNode node); /* TALUS_NONE at the root */

/* Fields. Reading gives false when there is no such field or it is of another kind; poses, velocities, joint positions
   and switches are those of this moment. Writing acts at once. */
TALUS_API bool talus_get_bool(const TalusWorld *world, TalusNode node, const char *field, bool *value);
TALUS_API bool talus_get_int(const TalusWorld *world, TalusNode node, const char *field, int *value);
TALUS_API bool talus_get_double(const TalusWorld *world, TalusNode node, const char *field, double *value);
TALUS_API bool talus_get_vector(const TalusWorld *world, TalusNode node, const char *field, TalusVector *value);
TALUS_API const char *talus_get_string(const TalusWorld *world, TalusNode node,
                                       const char *field); /* NULL on failure */
TALUS_API TalusNode talus_get_node(const TalusWorld *world, TalusNode node, const char *field,
                                   int index); /* index 0 for a single one */
/* Numbers of any numeric field, single or list, flat: writes at most `capacity` and returns how many there are, -1 on
 * failure. */
TALUS_API int talus_get_numbers(const TalusWorld *world, TalusNode node, const char *field, double *values,
                                int capacity);
TALUS_API bool talus_set_bool(TalusWorld *world, TalusNode node, const char *field, bool value);
TALUS_API bool talus_set_int(TalusWorld *world, TalusNode node, const char *field, int value);
TALUS_API bool talus_set_double(TalusWorld *world, TalusNode node, const char *field, double value);
TALUS_API bool talus_set_vector(TalusWorld *world, TalusNode node, const char *field, TalusVector value);
TALUS_API bool talus_set_string(TalusWorld *world, TalusNode node, const char *field, const char *value);
/* The counterpart of talus_get_numbers: `count` must fit the field (3 for one vector, a multiple of 3 for a list of
 * them). */
TALUS_API bool talus_set_numbers(TalusWorld *world, TalusNode node, const char *field, const double *values, int count);

/* Puts one node, written as in a world file, into a field of `parent` (at the end when index is -1). */
TALUS_API TalusNode talus_insert(TalusWorld *world, TalusNode parent, const char *field, int index, const char *text);
TALUS_API bool talus_remove(TalusWorld *world, TalusNode node);

/* ---- what there is: each writes at most `capacity` and returns how many there are, in file order ---- */

TALUS_API int talus_children(const TalusWorld *world, TalusNode node, TalusNode *nodes,
                             int capacity); /* nodes in all its fields */
TALUS_API int talus_robots(const TalusWorld *world, TalusNode *nodes, int capacity);
TALUS_API int talus_joints(const TalusWorld *world, TalusNode *nodes, int capacity); /* those with an axis at least */
TALUS_API int talus_joint_axis_count(const TalusWorld *world, TalusNode joint);      /* 0: it is none */
TALUS_API int talus_motors(const TalusWorld *world, TalusNode *nodes, int capacity);
/* Of one robot, or with TALUS_NONE of all; their names are in the field "name". */
TALUS_API int talus_devices(TalusWorld *world, TalusNode robot, TalusNode *nodes, int capacity);

/* ---- solids ---- */

/* All solids in file order: writes at most `capacity` of them and returns how many there are. */
TALUS_API int talus_solids(const TalusWorld *world, TalusNode *nodes, int capacity);
TALUS_API const char *talus_solid_label(const TalusWorld *world,
                                        TalusNode solid); /* unique name, as in recordings; NULL */
TALUS_API bool talus_pose(const TalusWorld *world, TalusNode solid, TalusPose *pose);
TALUS_API bool talus_velocity(const TalusWorld *world, TalusNode solid, TalusVector *linear,
                              TalusVector *angular); /* of its origin */
TALUS_API bool talus_mass(const TalusWorld *world, TalusNode solid, double *mass,
                          TalusVector *center);                            /* center in the world */
TALUS_API bool talus_is_dynamic(const TalusWorld *world, TalusNode solid); /* has a body */
TALUS_API bool talus_is_idle(const TalusWorld *world, TalusNode solid);
TALUS_API bool talus_is_colliding(const TalusWorld *world, TalusNode solid);
TALUS_API bool talus_set_pose(TalusWorld *world, TalusNode solid, TalusPose pose); /* takes everything below along */
TALUS_API bool talus_set_velocity(TalusWorld *world, TalusNode solid, TalusVector linear, TalusVector angular);
TALUS_API bool talus_reset_motion(TalusWorld *world, TalusNode solid); /* velocities of it and all below to zero */
/* Act during the next step alone, all of them added up; a force that lasts is given before each step. False when the
 * solid has no body. */
TALUS_API bool talus_add_force(TalusWorld *world, TalusNode solid, TalusVector force);
TALUS_API bool talus_add_force_at(TalusWorld *world, TalusNode solid, TalusVector force, TalusVector point);
TALUS_API bool talus_add_torque(TalusWorld *world, TalusNode solid, TalusVector torque);

/* ---- joints and motors ---- */

/* `joint` is a joint, its end point, or a motor, sensor or brake on it; `axis` counts from 0 and is ignored for
 * devices. */
TALUS_API bool talus_joint_position(const TalusWorld *world, TalusNode joint, int axis, double *position);
TALUS_API bool talus_joint_velocity(const TalusWorld *world, TalusNode joint, int axis, double *velocity);
TALUS_API bool talus_joint_set_position(TalusWorld *world, TalusNode joint, int axis,
                                        double position); /* at once, by hand */
/* Commands. Values beyond a motor's limits are clipped, with a diagnostic. Position INFINITY: velocity control. */
TALUS_API bool talus_motor_set_position(TalusWorld *world, TalusNode joint, int axis, double position);
TALUS_API bool talus_motor_set_velocity(TalusWorld *world, TalusNode joint, int axis, double velocity);
TALUS_API bool talus_motor_set_force(TalusWorld *world, TalusNode joint, int axis, double force);
TALUS_API bool talus_motor_set_available_force(TalusWorld *world, TalusNode joint, int axis, double force);
TALUS_API bool talus_motor_set_acceleration(TalusWorld *world, TalusNode joint, int axis, double acceleration);
TALUS_API bool talus_motor_set_gains(TalusWorld *world, TalusNode joint, int axis, double p, double i, double d);
TALUS_API bool talus_motor_feedback(TalusWorld *world, TalusNode joint, int axis,
                                    double *force); /* of the last step, from the second call on */
TALUS_API bool talus_brake_set_damping(TalusWorld *world, TalusNode joint, int axis, double damping);

/* ---- connectors and grippers ---- */

/* False when the node is no Connector. Presence: -1 it is passive, 1 a fitting peer is there or held, 0 none. */
TALUS_API bool talus_connector_set_locked(TalusWorld *world, TalusNode connector, bool is_locked);
TALUS_API bool talus_connector_presence(TalusWorld *world, TalusNode connector, int *presence);
TALUS_API TalusNode talus_connector_peer(const TalusWorld *world,
                                         TalusNode connector); /* what it is attached to, or TALUS_NONE */
/* False when the node is no VacuumGripper. */
TALUS_API bool talus_gripper_set_on(TalusWorld *world, TalusNode gripper, bool is_on);
TALUS_API TalusNode talus_gripper_held(const TalusWorld *world,
                                       TalusNode gripper); /* the solid it holds, or TALUS_NONE */

/* ---- devices ---- */

/* A device of a robot by its name, as wb_robot_get_device finds it. TALUS_NONE as robot: of the first robot that has
 * one. */
TALUS_API TalusNode talus_device(TalusWorld *world, TalusNode robot, const char *name);
/* Switches the readings of a sensor on, one every period_ms (rounded up to whole steps; the first comes a period
 * later); 0: off. */
TALUS_API bool talus_device_enable(TalusWorld *world, TalusNode device, int period_ms);
/* The numbers of the last reading, as the sensor's wb_*_get_value(s) gives them; a ForceTorqueSensor has three of force
   (N) and three of torque (N m). Writes at most `capacity` and returns how many there are: 0 before the first reading,
   -1: no such device. */
TALUS_API int talus_device_read(TalusWorld *world, TalusNode device, double *values, int capacity);
/* On or off: Holder, VacuumGripper, Conveyor, Attachment, Marker, and lights. False: it cannot be switched. */
TALUS_API bool talus_device_switch(TalusWorld *world, TalusNode device, bool on);
TALUS_API bool talus_device_is_on(TalusWorld *world, TalusNode device, bool *on);
/* Lines of a DigitalIO. An input line switches what the body file connects to it. False: there is no such line. */
TALUS_API bool talus_signal_set(TalusWorld *world, TalusNode device, bool is_input, int line, bool on);
TALUS_API bool talus_signal_get(TalusWorld *world, TalusNode device, bool is_input, int line, bool *on);

/* ---- the physics plugin ---- */

/* All zero means the defaults. */
typedef struct TalusPluginOptions {
    size_t size;                     /* as of TalusOptions */
    const char *const *search_paths; /* further project folders, NULL-terminated */
    int64_t timeout_ms;              /* of one call into the plugin; 0: no limit */
    const char *crash_snapshot;      /* where the last good state goes when it fails; NULL: <world>.crash.snap */
    bool is_quiet;                   /* what it prints is dropped, else it goes to standard output */
} TalusPluginOptions;
static inline TalusPluginOptions talus_plugin_options_defaults(void)
{
    TalusPluginOptions options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    return options;
}
/* Loads and starts the plugin that WorldInfo.physics names: code of the world runs from here on. True also when it
 * names none; false when it cannot be used, and then the world runs without it. A plugin that fails in mid-run fails
 * the world. The strings of the options must stay valid until it is stopped. */
TALUS_API bool talus_plugin_start(TalusWorld *world, const TalusPluginOptions *options);
TALUS_API bool talus_plugin_stop(
    TalusWorld *world); /* cleans it up and unloads it, as talus_free does; false when it failed */
/* To the plugin as if an Emitter sent it on channel 0: dWebotsReceive gives all of it in the next step. */
TALUS_API bool talus_plugin_send(TalusWorld *world, const void *data, size_t size);
/* What the plugin sent on a channel with dWebotsSend, oldest first; valid until the next call. NULL: nothing more. */
TALUS_API const void *talus_plugin_receive(TalusWorld *world, int channel, size_t *size);

/* ---- contacts ---- */

typedef struct TalusContact {
    TalusNode solid[2];
    TalusVector point, normal; /* the normal looks from solid[1] into solid[0] */
    double depth;
    double friction; /* INFINITY: no limit */
    int properties;  /* index in WorldInfo.contactProperties, -1: defaults */
    double sliding_speed, rolling_speed, impact_energy;
} TalusContact;
/* The points of the last collision pass: writes at most `capacity` and returns how many there are. */
TALUS_API int talus_contacts(const TalusWorld *world, TalusContact *contacts, int capacity);

typedef struct TalusContactForce {
    TalusNode solid[2];
    TalusVector point, normal, force;
} TalusContactForce;
/* Forces of the last step on solid[0]; they are computed from the first call on. */
TALUS_API int talus_contact_forces(TalusWorld *world, TalusContactForce *forces, int capacity);

typedef struct TalusContactEvent {
    uint64_t step; /* after which it was so */
    TalusNode solid[2];
    bool begins; /* false: they part */
} TalusContactEvent;
/* Which pairs of solids began or ceased to touch, oldest first. Listening begins with the first call, which gives none;
   what was given is not given again. Returns how many were written. A reset or restore drops what nobody has taken. */
TALUS_API int talus_contact_events(TalusWorld *world, TalusContactEvent *events, int capacity);

typedef struct TalusHit {
    TalusNode solid; /* TALUS_NONE: nothing was hit */
    double distance; /* m from the origin; INFINITY */
    TalusVector point, normal;
} TalusHit;
/* The first bounding object on the way from `origin` along `direction` (of any length but 0), within `range` m;
 * INFINITY: however far. */
TALUS_API bool talus_ray(TalusWorld *world, TalusVector origin, TalusVector direction, double range, TalusHit *hit);
TALUS_API int talus_rays(TalusWorld *world, int count, const TalusVector *origins, const TalusVector *directions,
                         double range, TalusHit *hits); /* how many have hit something; -1: a ray has no direction */

/* ---- pictures ---- */

/* What a Camera of a robot, or with TALUS_NONE the Viewpoint, sees now: red, green, blue, 255, rows from the top, 4 *
   width * height bytes. Changes nothing of the simulation. */
TALUS_API bool talus_picture(TalusWorld *world, TalusNode camera, int width, int height, uint8_t *pixels);
TALUS_API bool talus_picture_write(TalusWorld *world, TalusNode camera, int width, int height,
                                   const char *path); /* .png or .jpg */

/* ---- many numbers at once ---- */

/* A view is a list of numbers of a world, looked up once: reading and writing it asks for no name. Each item is a
   quantity and what it is of: "joint_position HIP". Numbers come in the order of the items.
     of a solid (DEF path, name or label)
       position[3] orientation[4] linear_velocity[3] angular_velocity[3], all read and written;
       contact_force[3] (sum of the last step) touching[1], read; force[3] torque[3], written
     of a joint, its end point or motor
       joint_position (written: at once, by hand) joint_velocity joint_effort, one for each axis
     of a joint with motors, or a motor
       motor_position motor_velocity motor_force: read what it was told, written a command
     of a device by name, "ROBOT/NAME"
       sensor (all numbers of its reading, NaN before the first; it is switched on, read in each step)
     of the world
       time
   "*" in place of a name: all there are, in file order; "NAME.*": all below NAME. */
typedef struct TalusView TalusView;
typedef struct TalusChannel {
    const char *name; /* "position BALL.x" */
    const char *unit; /* "" when it has none */
    double low, high; /* what it can be as far as is known, else -INFINITY and INFINITY */
} TalusChannel;
TALUS_API TalusView *talus_view_create(TalusWorld *world, const char *const *items, int count);
TALUS_API void talus_view_free(TalusView *view);       /* NULL is fine */
TALUS_API int talus_view_count(const TalusView *view); /* of numbers */
TALUS_API bool talus_view_channel(const TalusView *view, int index, TalusChannel *channel);
/* Also for clones of the world that it was made for, which are told by talus_view_use what will be asked of them. False
   when nodes were added or removed so that it does not fit any more, or a value is not a number; then nothing is read
   or written. */
TALUS_API bool talus_view_use(TalusWorld *world, const TalusView *view);
TALUS_API bool talus_view_read(TalusWorld *world, const TalusView *view, double *values);
TALUS_API bool talus_view_write(TalusWorld *world, const TalusView *view,
                                const double *values); /* false too: an item is only read */

/* A number of a field by its path: DEF names or the type of a node at the top, then fields, lists with an index:
   "ARM.physics.mass", "WorldInfo.contactProperties[0].coulombFriction[0]", "BALL.translation[2]". */
TALUS_API bool talus_get_path(TalusWorld *world, const char *path, double *value);
TALUS_API bool talus_set_path(TalusWorld *world, const char *path, double value);

typedef struct TalusStatistics {
    int solids, bodies, bodies_awake, joints, contacts, contacts_dropped, frozen;
    double deepest;
} TalusStatistics;
TALUS_API TalusStatistics talus_statistics(const TalusWorld *world); /* all zero without a world */

#ifdef __cplusplus
}
#endif

#endif
