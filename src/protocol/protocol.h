// protocol.h - the messages between the simulator and a controller: one encoding for all, described once.
// Belongs here: frames, records, the list of operations, and the two ways to carry them (shared memory, socket).
// Not here: processes (control/), what operations do. libController is built from this folder too, so it includes base/
// alone and needs no other library.
//
// A frame is a header and records. A record is an operation with a tag (device, or 0), whole numbers, reals and bytes;
// what they mean is said beside each operation. All little endian, reals IEEE doubles, everything 8-byte aligned.
// The reader checks every length: bytes from the other side are never trusted.
#ifndef TALUS_PROTOCOL_PROTOCOL_H
#define TALUS_PROTOCOL_PROTOCOL_H

#include "base/common.h"

#include <sys/socket.h>
#include <sys/un.h>

#define PROTOCOL_VERSION 1

// ---- frames ----
// C: controller to simulator, S: simulator to controller. One is in flight at a time.
#define PROTOCOL_FRAMES(X)                                                                                             \
    X(HELLO, "C first of all: HELLO_* records")                                                                        \
    X(CONFIG, "S answer to HELLO: what the robot is and has; or REFUSED")                                              \
    X(STEP, "C commands gathered since the last step, then the duration")                                              \
    X(STATE, "S answer to STEP when that time is reached: readings, packets, keys")                                    \
    X(CALL, "C one question that wants its answer now (supervisor, step of 0)")                                        \
    X(RESULT, "S answer to CALL")                                                                                      \
    X(BYE, "C the controller ends by itself")                                                                          \
    X(QUIT, "S instead of STATE, never unasked: the controller must end")

typedef enum ProtocolFrame {
#define PROTOCOL_FRAME_ENUM(name, help) FRAME_##name,
    PROTOCOL_FRAMES(PROTOCOL_FRAME_ENUM)
#undef PROTOCOL_FRAME_ENUM
        FRAME_COUNT
} ProtocolFrame;

typedef struct Record {
    uint16_t op;
    uint16_t tag;
    int int_count, double_count, byte_count;
    const int32_t *ints;
    const double *doubles;
    const char *bytes;  // followed by a NUL that is not counted
} Record;

// A frame being built. { 0 } is empty; memory is kept from frame to frame.
typedef struct FrameWriter {
    uint8_t *data;
    size_t size, capacity;
} FrameWriter;
void frame_begin(FrameWriter *frame, ProtocolFrame kind);
void frame_add(FrameWriter *frame, const Record *record);
void frame_free(FrameWriter *frame);

typedef struct FrameReader {
    const uint8_t *data;
    size_t size, offset;
    ProtocolFrame kind;
    bool is_broken;
} FrameReader;
bool frame_open(FrameReader *reader, const void *data, size_t size);  // false: no frame
bool frame_next(FrameReader *reader, Record *record);                 // false at the end, or broken

// ---- operations ----
// Numbers in i[], reals in d[], text or data in b. Operations of devices carry the tag.
#define PROTOCOL_OPS(X)                                                                                                                                           \
    /* HELLO */                                                                                                                                                   \
    X(HELLO_VERSION, "i: protocol version, process id")                                                                                                           \
    X(HELLO_ROBOT, "b: name of the robot to control, empty: the only one that waits")                                                                             \
    X(HELLO_TOKEN, "b: secret of the simulator, needed from other machines")                                                                                      \
    /* CONFIG */                                                                                                                                                  \
    X(ROBOT, "i: supervisor, synchronization, mode, node type; d: time s, basic time step ms; b: name")                                                           \
    X(ROBOT_TEXT,                                                                                                                                                 \
      "tag: 0 model, 1 customData (in STATE too when it is another), 2 project path, 3 world path, 4 controller, 5 arguments, 6 urdf; b")                         \
    X(DEVICE, "tag; i: node type code (WbNodeType); b: name")                                                                                                     \
    X(DEVICE_MODEL, "tag; b")                                                                                                                                     \
    X(DEVICE_CONSTANTS, "tag; d: see devices_constants; tag 0: devices_drive_constants")                                                                          \
    X(REFUSED, "b: why")                                                                                                                                          \
    /* STEP */                                                                                                                                                    \
    X(ENABLE, "tag; i: channel, period ms (0: off)")                                                                                                              \
    X(COMMAND, "tag; i: command row of the device kind; d; b: see devices_command")                                                                               \
    X(NEXT_PACKET, "tag; i: how many to drop")                                                                                                                    \
    X(DURATION, "i: ms; 0: at once")                                                                                                                              \
    X(CUSTOM_DATA, "b: Robot.customData")                                                                                                                         \
    X(PRINT, "i: 1 stdout, 2 stderr; b")                                                                                                                          \
    X(WINDOW_TEXT, "b: to the robot window")                                                                                                                      \
    X(PIN, "i: pinned to the static environment or not")                                                                                                          \
    /* STATE */                                                                                                                                                   \
    X(TIME, "d: time s; i: delay ms, simulation mode")                                                                                                            \
    X(READING,                                                                                                                                                    \
      "tag; i: channel, number of an image that IMAGE brings or -1; d: numbers of a new reading; b: its image")                                                   \
    X(PACKET, "tag; d: strength, direction x y z; b: data, appended to the queue")                                                                                \
    X(KEYS, "i: keys that are down")                                                                                                                              \
    X(MOUSE, "i: left, middle, right; d: u v x y z")                                                                                                              \
    X(JOYSTICK, "i: connected, axes, povs, pressed buttons as bits, axis values..., pov values...; b: model")                                                     \
    X(ROBOT_CHANGED, "as ROBOT: supervisor flag, synchronization or name is another now")                                                                         \
    X(MESSAGE, "i: 1 note, 2 warning, 3 error; b: something to print for the controller's user")                                                                  \
    X(WINDOW_MESSAGE, "b: from the robot window")                                                                                                                 \
    /* CALL and RESULT: the answer has the operation of the question */                                                                                           \
    X(IMAGE, "tag; i: number; answer b: the device's picture of its last reading, made now")                                                                      \
    X(FAILED, "b: why; answer to a call that cannot be done")                                                                                                     \
    X(NODE_FROM,                                                                                                                                                  \
      "i: how (0 root, 1 self, 2 id, 3 DEF, 4 device tag, 5 selected, 6 DEF inside a PROTO), number; b: DEF; "                                                    \
      "answer i: node id, -1 none")                                                                                                                               \
    X(NODE_INFO,                                                                                                                                                  \
      "i: node id; answer i: type code, parent id, is proto, fields, base fields; b: type, base type, DEF, each ended by NUL")                                    \
    X(NODE_FIELD, "i: node id, index or -1, is base field; b: name; answer i: field id, -1 none")                                                                 \
    X(FIELD_INFO, "i: field id; answer i: type, count, is read-only; b: name")                                                                                    \
    X(FIELD_GET, "i: field id, item index or -1; answer i, d or b by its type; a node as its id")                                                                 \
    X(FIELD_SET, "i: field id, item index or -1, then value; d; b")                                                                                               \
    X(FIELD_INSERT, "i: field id, item index; value")                                                                                                             \
    X(FIELD_REMOVE, "i: field id, item index or -1 for a single node")                                                                                            \
    X(FIELD_IMPORT, "i: field id, item index or -1 for a single node; b: node text; answer i: node id, -1")                                                       \
    X(FIELD_ACTUAL, "i: field id; answer i: field id")                                                                                                            \
    X(NODE_POSE, "i: node id, from id or -1; answer d: 16 numbers row by row; NaN when it has none")                                                              \
    X(NODE_VELOCITY, "i: node id; answer d: 6")                                                                                                                   \
    X(NODE_SET_VELOCITY, "i: node id; d: 6")                                                                                                                      \
    X(NODE_FORCE, "i: node id, kind (0 force, 1 with offset, 2 torque), is relative; d: 3 or 6")                                                                  \
    X(NODE_CENTER_OF_MASS, "i: node id; answer d: 3")                                                                                                             \
    X(NODE_BALANCE, "i: node id; answer i: is balanced")                                                                                                          \
    X(NODE_CONTACTS, "i: node id, with descendants; answer i: node ids; d: 3 per point")                                                                          \
    X(NODE_RESET_PHYSICS, "i: node id")                                                                                                                           \
    X(NODE_RESTART, "i: node id: its controller starts again")                                                                                                    \
    X(NODE_REMOVE, "i: node id")                                                                                                                                  \
    X(NODE_STATE, "i: node id, 0 save 1 load; b: name of the state")                                                                                              \
    X(NODE_JOINT_POSITION, "i: node id, axis from 1; d: position")                                                                                                \
    X(NODE_EXPORT, "i: node id; answer b: text")                                                                                                                  \
    X(NODE_VISIBILITY, "i: node id, from id, visible")                                                                                                            \
    X(NODE_VIEWPOINT, "i: node id: the view moves to it")                                                                                                         \
    X(PROTO_INFO, "i: node id, depth; answer i: is there, is derived, fields; b: name")                                                                           \
    X(PROTO_FIELD, "i: node id, depth, index or -1; b: name; answer i: field id")                                                                                 \
    X(TRACK, "i: what (0 pose, 1 contacts, 2 field), id, period ms or 0, extra: its value comes with every STATE")                                                \
    X(WORLD, "i: what (0 reset, 1 reload, 2 reset physics, 3 quit, 4 save, 5 load), status; b: file; answer i: done")                                             \
    X(SIMULATION_MODE, "i: -1 ask, else mode; answer i: mode")                                                                                                    \
    X(LABEL, "i: id, color; d: x y size transparency; b: font, text, each ended by NUL")                                                                          \
    X(RECORDING,                                                                                                                                                  \
      "i: what (0 movie start: width, height, quality, acceleration; 1 stop, 2 status, 3 animation start, 4 stop, 5 image: quality), numbers; b: file; answer i") \
    X(URDF, "b: prefix; answer b")

typedef enum ProtocolOp {
#define PROTOCOL_OP_ENUM(name, help) OP_##name,
    PROTOCOL_OPS(PROTOCOL_OP_ENUM)
#undef PROTOCOL_OP_ENUM
        OP_COUNT
} ProtocolOp;
const char *protocol_op_name(unsigned op);  // "unknown" beyond the last

// Where the two sides of one machine meet, by the port that <extern> controllers use: a name that leaves no file
// behind.
socklen_t protocol_socket_name(int port, struct sockaddr_un *address);

// ---- ways to carry frames ----
// Both ends hold a Channel. Sending hands over a whole frame and wakes the other side; receiving waits for one.
typedef struct Channel Channel;
typedef enum ChannelResult { CHANNEL_OK, CHANNEL_TIMEOUT, CHANNEL_CLOSED, CHANNEL_BROKEN } ChannelResult;

// Shared memory with a futex on either side, for processes that the simulator starts. The file descriptor is inherited
// by the child; `limit` bounds a frame. The memory has no name, so nothing can be left behind.
Channel *channel_create_shared(size_t limit, int *descriptor);  // the simulator's end
Channel *channel_open_shared(int descriptor);                   // the controller's end
// Either end of a connected stream socket, which it takes over. Neither sending nor a wait of 0 ms ever blocks: what
// the other side does not read is kept, one frame at most, and who reads nothing or sends half a frame is
// CHANNEL_BROKEN in time.
Channel *channel_open_socket(int socket, size_t limit);
// The simulator's end of a Unix socket goes over to shared memory; the other end follows when it may
// (channel_take_memory), with its next frame. The socket then only tells when the other side is gone.
bool channel_share(Channel *channel);
void channel_take_memory(Channel *channel);
int channel_descriptor(const Channel *channel);  // of its socket, for poll; -1 none
void channel_close(Channel *channel);            // NULL is fine
bool channel_send(Channel *channel, const FrameWriter *frame);
// On CHANNEL_OK *data is valid until the next call. timeout_ms -1: for ever. A dead peer is found (`peer_pid` when >
// 0).
ChannelResult channel_receive(Channel *channel, int timeout_ms, int peer_pid, const void **data, size_t *size);

#endif
