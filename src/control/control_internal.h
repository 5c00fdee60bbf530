// control_internal.h - shared by the files of this folder.
#ifndef TALUS_CONTROL_CONTROL_INTERNAL_H
#define TALUS_CONTROL_CONTROL_INTERNAL_H

#include "base/arena.h"
#include "base/text.h"
#include "control/control.h"
#include "protocol/protocol.h"

#include <sys/types.h>

typedef enum ControllerPhase {
    CONTROLLER_NONE,     // nothing to run for this robot
    CONTROLLER_STARTED,  // the process is there, HELLO not yet
    CONTROLLER_ASKS,     // it may send; a synchronous one is waited for
    CONTROLLER_WAITS,    // for its time to come
    CONTROLLER_GONE,
} ControllerPhase;

// How long somebody is waited for. { 0 }: a look and no more.
typedef struct Patience {
    int64_t since_ms, limit_ms;  // wall clock
    bool is_strict;              // the wall clock alone counts
    bool is_late;                // the limit was once found to be over; from then on:
    int64_t start_us, last_us;   // processor time of its process then and when last looked at
} Patience;

typedef struct Controller {
    int robot;                 // index in Devices
    uint32_t serial_of_robot;  // of those that had the index
    const char *name;          // of the robot
    const char *program;       // Robot.controller
    const char *script;        // that is run, when it is one of Python; NULL
    ControllerPhase phase;
    bool is_synchronous;
    bool is_extern;
    pid_t pid;  // 0: not our child
    Channel *channel;
    int output[2];              // pipes of stdout and stderr, -1
    Text lines[2];              // what came without a newline yet
    uint64_t asked_step;        // when it sent its last STEP
    uint64_t due_step;          // when it wants its STATE
    uint32_t *serials;          // of readings already sent, DEVICE channels by tag
    uint64_t *constant_hashes;  // of the devices' constants already sent, by tag
    uint64_t constants_edit;    // edit of the scene at which they were last compared
    int serial_count;
    int *packets_sent;  // by tag: packets of the queue the controller already has
    char *custom_data;  // what the controller knows of Robot.customData
    struct {
        char *messages;  // of its robot window, each ended by a NUL: they come with the next STATE
        size_t size;
        const char *name, *page;  // Robot.window and the file it was found to be
    } window;
    bool has_exited_well;
    int64_t asked_ms;    // wall clock when it was last given something to answer
    Patience answer;     // since then, when a limit is set
    int serial;          // of the process, among all that this Control started
    pid_t peer_pid;      // of an extern one on this machine, 0
    bool is_foreign;     // an extern one of another user or machine
    bool was_killed;     // by us: how it then ends says nothing
    bool wants_restart;  // a supervisor asked for it
} Controller;

// A field that a supervisor holds a reference to.
typedef struct FieldRef {
    int number;       // by which it is asked for; the list is in their order
    SceneNode *node;  // looked through only while the scene has it under this id
    uint32_t id;
    const FieldType *type;
    bool is_read_only;       // inside a PROTO
    uint64_t regenerations;  // of the world's templates when it was given; 0 unless is_read_only
} FieldRef;

// Rows of a list by a hash of what they are about: open addressing, never more than half full. { 0 } is empty.
typedef struct RowIndex {
    int32_t *slots;
    int capacity, count;
} RowIndex;  // slots hold rows from 1

typedef struct Tracked {
    int robot;
    int what, id, extra;
    int period;  // steps
} Tracked;

typedef struct SavedState {
    uint32_t node;  // 0: the whole world
    const char *name;
    void *data;
} SavedState;

struct Control {
    Sim *sim;
    Devices *devices;
    DiagSink *diags;
    ControlOptions options;
    Arena *arena;
    Controller *controllers;
    int count, capacity;
    bool has_started;
    bool is_ending;              // the run is over
    int listener;                // socket for controllers from elsewhere, -1
    int local_listener;          // Unix socket for those of this machine, -1
    int port;                    // of both
    struct ExternGuest *guests;  // who has connected and not greeted yet
    int guest_count;
    int64_t looked_ms;    // when guests were last looked for
    int64_t reminder_ms;  // when it may next be said who holds the world
    const char
        *tag;  // environment by which all processes that controllers start are known; the controller's serial follows
    int serials;         // processes started so far
    int64_t drained_ms;  // when the output of programs that ended was last looked at
    uint64_t structure;  // of the scene when it was last searched for robots
    FrameWriter frame;
    FieldRef *fields;
    int field_count, field_capacity;
    int next_field;  // number of the next one: none is given again
    RowIndex field_index;
    Tracked *tracked;
    int tracked_count, tracked_capacity;
    SavedState *states;
    int state_count, state_capacity;
    RowIndex state_index;
    int quit_status;  // -1: nobody asked
    const char *next_world;
    int simulation_mode;    // WbSimulationMode
    const char *paused_by;  // name of the robot; NULL: the world is not paused
    int64_t paced_ms;       // wall clock of the last step in real time, 0: it was not
    bool wants_reset;
    uint64_t synced_step;  // step at which the scene was last brought up to date, plus one
};

// ---- control.c ----
int64_t control_now_ms(void);  // wall clock
bool control_is_interrupted(const Control *control);
void control_heard(const Control *control, const Controller *controller, const char *text, size_t length,
                   bool is_error);                                    // to those who watch
void control_left(Control *control, Controller *controller);          // its program is gone, or will not be heard again
void control_find_robots(Control *control);                           // also those that have come since
void control_failed(Control *control, const Controller *controller);  // ends the run when the caller wants that

// ---- serve.c ----
bool control_is_over(const Control *control);  // no further step will be made
void serve_all(Control *control);
void serve_set_mode(Control *control, const Controller *controller, int mode);
void serve_paused(Control *control);  // keeps the world where it is while a supervisor has it paused
// Answers what it still asks, until it wants time to pass, at most for so long.
void serve_last(Control *control, Controller *controller, Patience patience);

// ---- patience.c ----
Patience patience_from_now(const Control *control, int wait_ms);  // strict when a person interrupts the run
// `used_us`: processor time of whoever is waited for, -1 when it cannot be told.
bool patience_is_over(Patience *patience, int64_t now_ms, int64_t used_us, bool is_asleep);

// ---- ending.c ----
void control_stop_one(Control *control, Controller *controller);

// ---- launch.c: which program, with which environment ----
typedef struct Launch {
    const char *folder;      // working directory
    char *const *arguments;  // NULL-terminated
    char *const *environment;
    const char *script;  // of Python, NULL
} Launch;
bool launch_find(Control *control, const Controller *controller, Launch *launch);
const char *launch_project(const Control *control);  // folder above "worlds"
// The folder KIND/NAME of the first project that has it: the world's, that of the robot's PROTO, those of the
// environment; NULL.
const char *launch_folder(Control *control, const SceneNode *robot, const char *kind, const char *name);
bool launch_is_python2(const char *script);  // it prints as Python 2 does

// ---- process.c ----
bool process_start(Control *control, Controller *controller, const Launch *launch, int channel_descriptor);
void process_drain(Control *control, Controller *controller);            // prints what it wrote, line by line
void process_flush(Control *control, Controller *controller);            // the last line without an end too; closes
bool process_is_late(const Controller *controller, Patience *patience);  // it has had its time
bool process_reap(Control *control, Controller *controller,
                  Patience patience);  // true: it has ended, and that was reported
void process_kill(Control *control, Controller *controller);
void process_kill_all(Control *control);  // with all that they started

// ---- strays.c ----
void strays_end(const Control *control,
                const Controller *controller);  // what it started; before its process is collected
void strays_end_all(const Control *control);

// ---- extern.c: controllers that somebody else starts ----
void extern_open(Control *control);
void extern_accept(Control *control, int wait_ms);
bool extern_may_name(Control *control, const Controller *controller,
                     const char *path);                                   // as a file to write or a world to open
bool extern_holds(const Control *control, const Controller *controller);  // it is synchronous and has no program yet
void extern_close(Control *control);

// ---- exchange.c ----
void exchange_config(Control *control, Controller *controller);
bool exchange_fits(const FrameWriter *frame);  // into a message
void exchange_state(Control *control, Controller *controller, ProtocolFrame kind);
// Devices that came into the robot since its controller was last told.
void exchange_new_devices(Control *control, Controller *controller, FrameWriter *frame);
bool exchange_commands(Control *control, Controller *controller, FrameReader *reader, int *duration_ms);

// ---- window.c ----
void window_told(const Control *control, const Controller *controller, const Record *record);  // to those who watch
void window_forget(Controller *controller);  // its program is another now

// ---- urdf.c ----
// The robot with all below it; names of links and joints begin with the prefix. The scene must be up to date.
void urdf_write(const Physics *physics, const SceneNode *robot, const char *prefix, Text *out);

// ---- supervisor.c ----
// Answers one CALL: adds the records of the answer to the frame.
void supervisor_call(Control *control, Controller *controller, const Record *call, FrameWriter *answer);
void supervisor_add_tracked(Control *control, Controller *controller, FrameWriter *frame);
int supervisor_robot_code(const Scene *scene, const SceneNode *robot);  // WbNodeType, as the world's release has it
bool controller_is_supervisor(const Control *control, const Controller *controller);
void supervisor_keep_nodes(void *context, Scene *scene);  // a SceneKeeper of a Control
void supervisor_remember_start(Control *control,
                               SceneNode *node);  // the state "__init__" of a new node; NULL: of the whole world
void supervisor_forget(Control *control);         // references and saved states, when the control ends

#endif
