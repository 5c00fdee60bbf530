// viewer_internal.h - shared by the files of the browser's server.
//
//   exchange.c  what the two threads hand each other: orders in, letters and moments out
//   hub.c       clients: greeting, roles, queues, what is sent next            (server thread)
//   history.c   past moments for those who look back                           (server thread)
//   pages.c     files of robot windows                                         (server thread)
//   web.c       HTTP and WebSocket by libwebsockets; the only file that knows  (server thread)
//   session.c   the world's side: pausing, pace, publishing, snapshots         (world's thread)
//   acts.c      what people do to the world, by rows; drags                    (world's thread)
//   edits.c     the tree of nodes, their fields, undo                          (world's thread)
//   resize.c    how large things are, and handles that change it               (world's thread)
//   windows.c   robot windows: pages that talk with robots' programs           (world's thread)
//   watch.c     what is computed only while somebody looks at it               (world's thread)
//   drawing.c   what the physics plugin draws, as corners                      (world's thread)
//   journal.c   acts with their steps, written and read                        (world's thread)
#ifndef TALUS_VIEWER_VIEWER_INTERNAL_H
#define TALUS_VIEWER_VIEWER_INTERNAL_H

#include "base/arena.h"
#include "base/file.h"
#include "base/json.h"
#include "base/json_read.h"
#include "record/frame.h"
#include "record/moment.h"
#include "viewer/drawing.h"
#include "viewer/viewer.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
    VIEWER_TOKEN_CHARS = 32,         // 128 bits in hexadecimal
    VIEWER_CLIENTS_MAX = 64,         // greeted or not; further ones are turned away
    VIEWER_MESSAGE_BYTES = 1 << 18,  // of one message of a client
    VIEWER_INBOX_MAX = 1024,         // orders that wait for the next step
    VIEWER_OUTBOX_MAX = 4096,        // letters that wait for the server thread
    VIEWER_QUEUE_MAX = 512,          // letters that wait for one client
    VIEWER_QUEUE_BYTES = 8 << 20,    // and their bytes, but for the scene
    VIEWER_PIECE_BYTES = 1 << 16,    // sent at a time
    VIEWER_LINES_KEPT = 200,         // of what was printed, for those who come later
    VIEWER_LABELS_MAX = 128,
    VIEWER_HISTORY_BYTES = 64 << 20,  // of past moments to look at
    VIEWER_SNAPSHOT_BYTES = 192 << 20,
    VIEWER_WATCHES_MAX = 256,  // of all clients
    VIEWER_UNDO_MAX = 200,
};
#define VIEWER_FRAME_SECONDS (1.0 / 60.0)  // moments are published no more often
#define VIEWER_PICTURE_SECONDS 0.1         // nor pictures of one device

// ---- bytes that several hold ----
typedef struct Blob {
    atomic_int holders;
    size_t size;
    uint8_t data[];
} Blob;
Blob *blob_create(const void *data, size_t size);
Blob *blob_hold(Blob *blob);
void blob_release(Blob *blob);  // NULL is fine

// ---- a moment of the world ----
enum {
    WATCH_CONTACTS = 1,
    WATCH_STATES = 2,
    WATCH_JOINTS = 4,
    WATCH_INFO = 8,
    WATCH_DRAWING = 16,
    WATCH_BUOYANCY = 32,
    WATCH_KINDS = 6
};
extern const struct WatchKind {
    const char *name;
    int part;                // of a Moment
} watch_kinds[WATCH_KINDS];  // by bit

typedef struct ViewMoment {
    uint64_t serial;
    uint32_t revision;
    uint64_t step;
    double time, speed;
    Moment world;
    unsigned parts;  // WATCH_ bits of what is in it beside the poses
    Text info;
    Text drawing;  // of the physics plugin (drawing.h)
    uint64_t drawing_hash;
    Text buoyancy;                // u16 solid, f32 centre of what is immersed of it, f32 kg of fluid in its place
    bool is_running, is_rewound;  // rewound: the world went back, what came after is forgotten
    bool can_resume;
    double pace;
} ViewMoment;

// ---- between the threads ----
typedef enum OrderKind {
    ORDER_ACT,      // `text` is the message
    ORDER_WELCOME,  // a client has shown its token: scene and meta are wanted
    ORDER_GONE,     // it has left
} OrderKind;
typedef struct Order {
    OrderKind kind;
    uint32_t client;
    char *text;  // the reader frees it
    size_t size;
    uint64_t drag;  // of which the newest one alone counts; 0: none, this one counts by itself
} Order;

typedef enum LetterKind {
    LETTER_TEXT,
    LETTER_BINARY,
    LETTER_SCENE,
    LETTER_WELCOME,
    LETTER_WINDOWS,  // which robots have a page: number of the node and folder, each ended by a NUL
    LETTER_BYE
} LetterKind;
typedef struct Letter {
    LetterKind kind;
    uint32_t client;    // 0: everybody
    bool is_droppable;  // news that a slow reader may miss
    bool is_line;       // kept for those who come later
    int label;          // so is the last one of each number but 0
    Blob *blob;         // the message; of a scene and a welcome its meta
    Blob *scene;
    uint32_t revision;
} Letter;

enum {
    ATTENTION_CLIENTS = 1,  // somebody is there
    ATTENTION_INBOX = 2,
    ATTENTION_PAUSED = 4,
    ATTENTION_PACED = 8,
    ATTENTION_ACTS = 16,  // a drag is on, a step was asked for, or acts are repeated
};

typedef struct Exchange {
    pthread_mutex_t lock;  // held while pointers move, never while something is computed
    pthread_cond_t arrived;
    atomic_uint attention;  // the one thing that a step without clients looks at
    Order inbox[VIEWER_INBOX_MAX];
    int inbox_first, inbox_count;
    Letter outbox[VIEWER_OUTBOX_MAX];
    int outbox_first, outbox_count;
    ViewMoment moments[3];
    ViewMoment *back, *fresh, *front;  // filled by the world; waiting; the server's
    bool has_fresh;
    bool is_called;               // the server was woken for the fresh one
    bool is_watched;              // it looks for moments of a running world by itself
    void (*wake)(void *context);  // the server thread; NULL: there is none
    void *wake_context;
} Exchange;
void exchange_init(Exchange *exchange);
void exchange_deinit(Exchange *exchange);
void exchange_attend(Exchange *exchange, unsigned bits, bool on);
bool exchange_order(Exchange *exchange, Order order);        // takes the text; false: full
bool exchange_take_order(Exchange *exchange, Order *order);  // the caller frees its text
void exchange_wait(Exchange *exchange, double seconds);      // for an order, or until then
void exchange_send(Exchange *exchange, Letter letter);       // takes the blobs; news are dropped when it is full
bool exchange_take_letter(Exchange *exchange, Letter *letter);
void exchange_publish(Exchange *exchange);      // `back` is whole
bool exchange_take_moment(Exchange *exchange);  // the newest one is `front` now; false: it was already
bool exchange_watch(Exchange *exchange,
                    bool on);  // the server will look by itself; true: it has to, also when `on` is not
void exchange_wake(Exchange *exchange);

// ---- past moments ----
typedef struct PastMoment {
    uint64_t step;
    uint32_t revision;
    double time;
    int pose_count, first;  // 7 numbers each, from `first` on
} PastMoment;
typedef struct History {
    PastMoment *items;
    float *numbers;  // of all poses, in the order of the items
    int count, capacity, number_count, number_capacity;
    size_t bytes_max;  // 0: VIEWER_HISTORY_BYTES
    Pose *poses;       // of the one asked for
    int pose_capacity;
} History;
void history_add(History *history, const ViewMoment *moment);
void history_drop_after(History *history, uint64_t step);
void history_clear(History *history);
void history_deinit(History *history);
const PastMoment *history_at(const History *history,
                             double time);  // the last not after it, else the first; NULL: empty
const Pose *history_poses(History *history, const PastMoment *moment);

// ---- clients ----
typedef enum ClientRole { CLIENT_GUEST, CLIENT_SPECTATOR, CLIENT_CONTROLLER } ClientRole;

typedef struct QueuedLetter {
    Blob *blob;
    bool is_binary, is_scene;  // a scene is shared by all and counts for nobody
} QueuedLetter;

// A section of frames as a client knows it.
typedef struct ClientTold {
    Text last;
    uint32_t revision;  // of the scene it was told for
} ClientTold;

typedef struct Client {
    uint32_t id;  // never given again; 0: this place is free
    ClientRole role;
    bool may_control, is_ready, is_ending;
    void *socket;
    Text partial;  // of a message that comes in pieces
    QueuedLetter queue[VIEWER_QUEUE_MAX];
    int queue_first, queue_count;
    size_t queue_bytes;
    QueuedLetter sending;
    size_t sent;
    FrameEncoder encoder;
    Text screens;            // of displays, as it was told last
    double screens_sent;     // when, on the clock
    ClientTold glow, bones;  // of LEDs and of Skins, likewise
    uint64_t drawing_hash;   // of what a plugin draws, likewise
    bool has_drawing;
    bool awaits_ack, wants_key;
    bool wants_state;   // the last one was left out
    uint64_t moment;    // serial of the last one sent
    uint32_t revision;  // of the scene sent
    unsigned watches;
    bool is_looking_back, wants_past;
    double past_time;
} Client;

typedef struct Hub {
    Exchange *exchange;
    char token[VIEWER_TOKEN_CHARS + 1], watch_token[VIEWER_TOKEN_CHARS + 1];
    char page_token[VIEWER_TOKEN_CHARS + 1];  // in the path of files of robot windows
    Blob *windows;                            // of the last LETTER_WINDOWS, NULL: none has come
    Client *clients[VIEWER_CLIENTS_MAX];
    int client_count, ready_count;
    uint32_t last_id;
    History history;
    Blob *scene;
    uint32_t revision;
    Blob *lines[VIEWER_LINES_KEPT];
    int line_first, line_count;
    struct {
        int number;
        Blob *blob;
    } labels[VIEWER_LABELS_MAX];
    int label_count;
    Text frame, text;
    Arena *arena;
    // What the last state told to all said.
    bool was_running, could_resume;
    uint64_t told_step;
    double told_pace, told_history, told_time;
    int told_clients;
} Hub;
void hub_init(Hub *hub, Exchange *exchange);
void hub_deinit(Hub *hub);
Client *hub_open(Hub *hub, void *socket);  // NULL: there are too many
void hub_close(Hub *hub, Client *client);
// A message of a client, or a fragment of one, as the socket gives it.
typedef struct HubFragment {
    const void *data;
    size_t size;
    bool is_first, is_last, is_binary;
} HubFragment;
// False: the connection is to be ended.
bool hub_receive(Hub *hub, Client *client, const HubFragment *fragment);
bool hub_drain(Hub *hub);  // takes what the world has left; true: a new moment, too
bool hub_has_more(const Hub *hub, const Client *client);
void answer_begin(JsonWriter *json, const JsonValue *message,
                  bool is_fine);  // "re" and "ok", in the object that is open
typedef struct HubPiece {
    const uint8_t *data;
    size_t size;
    bool is_first, is_last, is_binary;
} HubPiece;
bool hub_next(Hub *hub, Client *client, HubPiece *piece);  // false: nothing to send now
void hub_sent(Client *client);                             // the piece is no longer needed

bool hub_token_is(const char *token, const char *shown, size_t length);  // takes the same time wherever they differ

// ---- pages.c ----
typedef struct PageFile {
    const char *type;  // of its content
    Blob *blob;        // the caller's; NULL: there is no such file
} PageFile;
// The file that a path /TOKEN/NODE/NAME stands for: below the folder of that robot's window and nowhere else, pages and
// scripts with the address of Webots' RobotWindow.js replaced by that of our own, /TOKEN/RobotWindow.js.
PageFile page_read(const Hub *hub, const char *path);
bool page_is_class(const Hub *hub, const char *path);  // our own, also where a page brings a copy of theirs

// ---- web.c ----
typedef struct Web Web;
// NULL: reported. The ghost, a recording, must outlive it.
Web *web_start(const ViewerOptions *options, const FileData *ghost, Hub *hub, DiagSink *diags);
void web_stop(Web *web);
int web_port(const Web *web);
int web_window_port(const Web *web);  // of another origin, for the pages of robot windows
bool viewer_host_is_allowed(const char *host, const char *address, int port);  // the Host of a request

// ---- acts ----
typedef enum DragKind { DRAG_NONE, DRAG_HOLD, DRAG_FORCE, DRAG_TORQUE, DRAG_PULL, DRAG_TOUCH } DragKind;
typedef struct Drag {
    DragKind kind;
    int solid;
    Vec3 at, to;  // point of the solid in its frame; where it is drawn to. Of a torque `to` is the vector.
    Pose pose;    // of a hold
    bool has_acted, is_last;
} Drag;

typedef struct UndoStep {
    char *undo, *redo;  // acts as text
    uint64_t drag;      // moves of one drag are one step; 0: none
} UndoStep;

typedef struct NodeRename {
    uint32_t from, to;
} NodeRename;

typedef struct Watch {
    uint32_t client;
    char *what;
    uint32_t node;
    int kind;
    const FieldType *field;
    uint32_t serial;
    double last;  // clock of the last picture
} Watch;

typedef struct SessionSnapshot {
    SimSnapshot state;
    uint64_t step;
    uint64_t acts;  // done before it was taken: a step and this name a moment
    double time;
} SessionSnapshot;

typedef struct Journal Journal;

struct Viewer {
    ViewerOptions options;
    DiagSink *diags;      // of the world at hand, else
    DiagSink *own_diags;  // those of viewer_start
    Exchange exchange;
    Hub hub;
    Web *web;
    char *url, *watch_url;
    FILE *log;
    Journal *journal;  // acts to repeat
    FileData ghost;
    // ---- of the world at hand ----
    Sim *sim;
    ViewerWorld world;
    bool is_paused, wants_reload;
    uint64_t acts_done;  // that change the world
    int64_t steps_left;  // asked for while paused
    double pace;
    double paced_from;  // clock
    uint64_t paced_step;
    uint32_t revision;
    Blob *scene, *meta;
    uint64_t seen_edit, seen_tree;
    double scene_made, scene_cost;
    uint64_t moment_serial;
    bool is_dirty, is_rewound;
    double published;
    uint64_t published_step;
    bool has_edited;  // a person changed the scene
    double speed_from, speed;
    uint64_t speed_step;
    int diags_told;
    Drag drag;
    uint64_t drag_serial;
    uint32_t drag_client;
    uint32_t slid_joint;  // node of the joint that was moved last
    uint32_t sized_node;  // node whose size a drag changes; 0: none
    UndoStep undo[VIEWER_UNDO_MAX];
    int undo_count, undo_at;  // those from undo_at on have been undone
    bool is_undoing;
    NodeRename renames[2 * VIEWER_UNDO_MAX];  // of nodes that were deleted and made again
    int rename_count;
    uint32_t made_node;  // by the last insert
    Watch watches[VIEWER_WATCHES_MAX];
    int watch_count;
    unsigned watched;
    bool has_unheard;      // a program spoke to a window that nobody has open, which was said
    bool is_picture_late;  // one was left out, since the last of its device was sent just before
    uint64_t ink_seen;     // changes of ink that clients were told
    double ink_sent;       // clock
    SessionSnapshot *snapshots;
    int snapshot_count, snapshot_capacity;
    size_t snapshot_bytes;
    double snapshot_taken;
    bool wants_forces;
    PluginDrawing *drawing;  // while it is watched; NULL: it never was
    Arena *arena;            // of the act at hand
    Text text;
};

// The act at hand. A function adds members to `answer` or returns what is wrong, in words that live in the arena.
typedef struct Act {
    Viewer *viewer;
    uint32_t client;
    const JsonValue *message;
    const char *text;  // of the message
    size_t size;
    JsonWriter *answer;
} Act;
typedef const char *(*ActFunction)(Act *act);
typedef enum ActCount {
    ACT_EACH,    // counts by itself
    ACT_HELD,    // so does this, but while a hand holds on ("hold") the newest alone counts
    ACT_NEWEST,  // says how something is: what was said before does not matter
} ActCount;
typedef struct ActType {
    const char *name;
    ActFunction run;
    bool for_spectators;
    bool is_logged;  // it changes the world
    ActCount count;
} ActType;
const ActType *act_type(const char *name);                         // NULL: there is none
uint64_t act_drag(const ActType *type, const JsonValue *message);  // as Order has it: the act and what it is about
double viewer_clock(void);                                         // s

// session.c
bool session_before_step(Sim *sim, void *viewer);      // the boundary of the Sim
void session_run(Viewer *viewer, const Order *order);  // one order, with its answer
bool session_act(Viewer *viewer, uint32_t client, const char *text, size_t size, const JsonValue *message);
void session_tell(Viewer *viewer, uint32_t client, const Text *text, bool is_droppable);  // a JSON message
const char *session_reset(Viewer *viewer);
const char *session_resume(Viewer *viewer, uint64_t step, uint64_t acts);  // the snapshot of this moment
const SessionSnapshot *session_snapshot_before(const Viewer *viewer, double time, uint64_t step);
void session_take_snapshot(Viewer *viewer);
void session_forget_snapshots(Viewer *viewer);
void session_forget_undo(Viewer *viewer);

// acts.c
void drag_apply(Viewer *viewer);
const char *act_refuse_locked(Act *act, int solid);  // words when hands may not be laid on it; NULL: they may
// edits.c
SceneNode *viewer_node(const Viewer *viewer,
                       uint32_t id);  // by its number, also after an undo made it again; NULL: gone
const char *act_children(Act *act), *act_fields(Act *act), *act_set(Act *act), *act_insert(Act *act),
    *act_delete(Act *act), *act_duplicate(Act *act), *act_save(Act *act), *act_undo(Act *act), *act_redo(Act *act);
void undo_add(Viewer *viewer, const char *undo, const char *redo, uint64_t drag);  // copies
// Parts of edits. Words that are returned say what is wrong; NULL: fine.
const char *edit_find_node(Act *act, SceneNode **node);                     // that the message names
const FieldType *edit_find_field(const SceneNode *node, const char *name);  // as people see it; NULL: there is none
// The value that the text is for this field, read as if it stood in a file.
const char *edit_read_value(Act *act, const SceneNode *node, const FieldType *type, const char *text,
                            FieldValue *value);
const char *edit_quoted(Act *act, const char *text);  // as JSON
void edit_begin(Act *act), edit_end(Act *act, bool changes_model);
// resize.c
const char *act_sizes(Act *act), *act_resize(Act *act);
// watch.c
const char *act_watch(Act *act);
void watch_client_left(Viewer *viewer, uint32_t client);
void watch_publish(Viewer *viewer, ViewMoment *moment);  // adds sections, sends values, pictures and ink
void watch_forget_ink(Viewer *viewer);                   // clients have another world now
int watch_windows(const Viewer *viewer, const SceneNode *robot,
                  uint32_t clients[VIEWER_CLIENTS_MAX]);  // who has its window open
// windows.c
const char *act_window(Act *act), *act_windows(Act *act);

// journal.c
Journal *journal_read(const char *path, DiagSink *diags);  // NULL: reported
void journal_destroy(Journal *journal);
bool journal_next(Journal *journal, uint64_t step, const char **text, size_t *size);  // the next one, if it is due
bool journal_has_more(const Journal *journal);
bool journal_wants_snapshot(const Journal *journal, uint64_t step, uint64_t acts);  // a later act goes back to it
bool journal_open(Viewer *viewer);                                                  // to write; false: reported
void journal_write(Viewer *viewer, const char *text, size_t size);

#endif
