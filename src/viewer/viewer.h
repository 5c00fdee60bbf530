// viewer.h - a browser as the window of a running world: a small web server on a thread of its own, and the acts of
// people, which enter the world between two steps and are written down with the step they came in, so that a run can be
// repeated. Belongs here: sockets, clients, what is sent to them, what they ask for. Not here: the page (web/), the
// bytes of a frame (record/).
//
// A Viewer outlives worlds: a reload or a supervisor's next world attaches another Sim to the same server and its
// clients. All functions are for the thread that steps the world. The server thread never touches a world, and the
// world never waits for a client.
#ifndef TALUS_VIEWER_VIEWER_H
#define TALUS_VIEWER_VIEWER_H

#include "control/control.h"
#include "devices/devices.h"
#include "sim/sim.h"

typedef struct Viewer Viewer;

typedef struct ViewerOptions {
    bool without_server;    // nobody looks on: acts come from `acts` alone
    const char *address;    // numeric, to listen at; NULL: 127.0.0.1, which nobody else reaches
    int port;               // 0: a free one
    bool is_paused;         // wait for somebody to press play
    double pace;            // simulated seconds a second; 0: as fast as it goes
    const char *log;        // file for the acts of people; NULL: none
    const char *acts;       // such a file to repeat; NULL: none
    int hello_ms;           // how long a connection may be silent before it says its token; 0: 5 s
    int request_seconds;    // how long a request may take to come; 0: 15
    int answer_ms;          // how long a client may take nothing of its answer; 0: 15 s
    bool cannot_reload;     // the caller has no file to read again
    const void *recording;  // instead of a world: a .talus file for the page to play; must outlive the viewer
    size_t recording_size;
    const char *ghost;             // a .talus file that the page shows beside it; NULL: none
    const char *embed;             // origins of pages that may show it in a frame, separated by commas; NULL: none may
    bool (*is_interrupted)(void);  // asked while the world is paused; NULL: never
} ViewerOptions;

// Words of the commands that show worlds.
#define VIEWER_GHOST_HELP "a recording of a second run, shown translucent at the same moments"
#define VIEWER_EMBED_HELP                                                                                              \
    "pages of these origins may show this one in a frame, e.g. http://127.0.0.1:8000 (none may otherwise)"
#define VIEWER_ORIGINS_USAGE "wants origins as http://127.0.0.1:8000, separated by commas, not '%s'"

bool viewer_is_available(void);                      // false: built without libwebsockets
bool viewer_address_is_sound(const char *address);   // of IPv4 or IPv6, as digits
bool viewer_origins_are_sound(const char *origins);  // http://HOST:PORT or https://HOST, separated by commas

// NULL when it cannot listen or a file cannot be used (reported). The strings of the options must outlive it.
Viewer *viewer_start(const ViewerOptions *options, DiagSink *diags);
void viewer_stop(Viewer *viewer);                    // says good-bye to all; NULL is fine
const char *viewer_url(const Viewer *viewer);        // with the token of those who may act; NULL without a server
const char *viewer_watch_url(const Viewer *viewer);  // with that of those who may only look
int viewer_port(const Viewer *viewer);
bool viewer_log_is_whole(Viewer *viewer);  // closes the log; false when it could not be written (reported)

// What a run has beside its world. Each may be NULL.
typedef struct ViewerWorld {
    Devices *devices;
    Control *control;
    Input *input;  // a live one (input_create_live): what clients do at keys, mouse and joystick goes there
    void (*idle)(void *context);  // called from time to time while the world is paused
    void *idle_context;
} ViewerWorld;
// From now on the viewer is asked before every step of this world; until viewer_detach, which must come before the
// Sim's end.
void viewer_attach(Viewer *viewer, Sim *sim, const ViewerWorld *world);
void viewer_detach(Viewer *viewer);
bool viewer_wants_reload(
    const Viewer *viewer);  // somebody asked for the file to be read again: the last step was not made
bool viewer_has_acts_left(const Viewer *viewer);  // of the file that is repeated

// What a robot's program printed, a supervisor's label and its mode, words for a robot window; for
// ControlOptions.watches.
void viewer_heard(void *viewer, const char *robot, const char *text, size_t length, bool is_error);
void viewer_labelled(void *viewer, const ControlLabel *label);
bool viewer_moded(void *viewer, int mode);  // a supervisor pauses, or sets the pace
void viewer_windowed(void *viewer, const SceneNode *robot, const char *data, size_t size);  // to its robot window

// Whether a file of input is a log of acts (and not a table of timed events, see control/input.h).
bool journal_is_one(const char *text, size_t size);

// Serves a recording until told to end.
void viewer_serve(Viewer *viewer, bool (*is_interrupted)(void));

#endif
