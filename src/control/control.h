// control.h - robot programs: finds, starts, feeds and stops the controllers of a world, in lock step with it.
// Belongs here: processes, their output, the exchange of frames, the supervisor's questions. Not here: what devices
// read (devices/), the encoding (protocol/), the programs' own library (controller/ beside src/).
//
// A Control hooks into the phases of its Sim: before a step it waits for every synchronous controller's next request,
// in the order of robots in the file, and applies what they ask; after it every controller whose time has come gets its
// readings. So results do not depend on how the system schedules the processes.
#ifndef TALUS_CONTROL_CONTROL_H
#define TALUS_CONTROL_CONTROL_H

#include "control/input.h"
#include "devices/devices.h"
#include "sim/sim.h"

#include <stdio.h>

typedef struct Control Control;

// A movie as a supervisor asks for it.
typedef struct ControlMovie {
    const char *path;
    int width, height;  // pixels
    int quality;        // 1 to 100
    double speed;       // seconds of the world in one of the movie
    bool has_caption;   // the speed is shown
} ControlMovie;

// What a supervisor asks to be recorded. Each may be NULL. False: it cannot be done, which has been reported.
typedef struct ControlShow {
    void *context;
    bool (*picture)(void *context, const char *path, int quality);
    bool (*movie_start)(void *context, const ControlMovie *movie);
    void (*movie_stop)(void *context);
    int (*movie_status)(void *context);  // WbSupervisorMovieStatus
    bool (*animation_start)(void *context, const char *path);
    bool (*animation_stop)(void *context);
} ControlShow;

// A text that a supervisor puts over the picture; an empty one takes it away.
typedef struct ControlLabel {
    int id;
    const char *text, *font;  // font "": the default
    double x, y, size;        // shares of the picture's width and height, from the top left
    int color;                // 0xRRGGBB
    double transparency;      // 0 to 1
} ControlLabel;

// Who follows what robot programs say and show. Each function may be NULL; texts are valid during the call.
typedef struct ControlWatch {
    void *context;
    void (*heard)(void *context, const char *robot, const char *text, size_t length, bool is_error);  // one line
    void (*labelled)(void *context, const ControlLabel *label);
    // A supervisor sets the mode (WbSimulationMode). True: who looks on pauses and paces the world, and can let it go
    // on.
    bool (*moded)(void *context, int mode);
    // What a program says to the window of its robot (wb_robot_wwi_send).
    void (*windowed)(void *context, const SceneNode *robot, const char *data, size_t size);
} ControlWatch;
enum { CONTROL_WATCHES = 3 };

typedef struct ControlOptions {
    int timeout_ms;         // a controller that keeps the world waiting longer is ended; 0: never
    bool stops_on_failure;  // a controller that crashes or ends with an error ends the run
    bool runs_nothing;      // files of unknown origin: programs that the world names are not started
    bool is_quiet;          // drop what controllers print
    FILE *out;              // where what they print goes, each line behind "[robot] "; NULL: stdout
    int port;               // TCP port on loopback for <extern> controllers from elsewhere; 0: none
    const char *token;      // whoever is not the user of this process must show it, and other machines may come; NULL:
                            // none, they may not
    Input *input;           // the caller's: what a person does at keys, mouse and joystick; NULL: nobody is there
    ControlWatch watches[CONTROL_WATCHES];  // what is recorded, who looks on, the progress line; { 0 }: nobody
    ControlShow show;              // pictures, movies and animations that supervisors ask for; { 0 }: none are made
    bool (*is_interrupted)(void);  // asked while controllers are waited for; NULL: never
    void (*idle)(void *context);   // called from time to time while one is waited for, to show what was reported
                                   // meanwhile; NULL: nothing
    void *idle_context;
} ControlOptions;

// Whether any robot names a program to run.
bool control_is_needed(const Devices *devices);
// The devices are the caller's and must outlive the Control. Nothing is started before the first step.
Control *control_create(Sim *sim, const ControlOptions *options, DiagSink *diags);
// The run is over: answers what controllers still ask, tells them to quit, and waits for their end, at most some
// seconds. What they said last is in the world and the devices then. Afterwards no step may be made.
void control_end(Control *control);
void control_destroy(Control *control);  // ends it too; NULL is fine

int control_running(const Control *control);  // controllers that are alive
// After a supervisor asked for the end of the run: its status, else -1.
int control_quit_status(const Control *control);
// After a supervisor asked for another world: its path, "" for the same again, else NULL.
const char *control_next_world(const Control *control);

// Between two steps, for those who handle the world from outside.
void control_listen(Control *control);   // passes on what programs have printed meanwhile
void control_touched(Control *control);  // something was changed: what supervisors read next is to be looked up anew
void control_reset(Control *control);    // the world goes back to its start, and all programs start again
void control_rewound(Control *control, uint64_t from_step);  // a snapshot was restored; programs go on as they are

// Robot windows: HTML pages that a robot's program talks with. The robot is an index in Devices.
const char *control_window_page(Control *control, int robot);  // its file; NULL: the robot has none that is there
// A message from the window, which the program gets with its next step. Returns what stands in the way, NULL: nothing.
const char *control_window_say(Control *control, int robot, const char *text);

// Without starting anything: says of each robot's program what stands in its way.
void control_look(Sim *sim, DiagSink *diags);
// The robot with all below it as URDF; names of links and joints begin with the prefix. The scene must be up to date.
void control_write_urdf(const Physics *physics, const SceneNode *robot, const char *prefix, Text *out);

#endif
