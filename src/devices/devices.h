// devices.h - sensors and actuators of robots: which there are, what they are told, what they read.
// Belongs here: every device node, sampling periods, noise, lookup tables, radio traffic between devices, batteries.
// Not here: processes and messages (control/, protocol/), how bodies move (physics/), rays through visuals (rays/).
// A Devices borrows scene and physics and owns all the rest. Its state (enabled periods, queues, random streams) is
// part of a simulation's state: it is hashed, saved in snapshots and restored.
//
// A robot is named by its index in file order; a device by its tag, from 1 in the order in which the file declares the
// devices of that robot. Tag 0 is the robot itself. Both stay what they are while the robot lives.
#ifndef TALUS_DEVICES_DEVICES_H
#define TALUS_DEVICES_DEVICES_H

#include "assets/clip.h"
#include "physics/physics.h"

typedef struct Devices Devices;

Devices *devices_create(Scene *scene, Physics *physics, DiagSink *diags);
void devices_destroy(Devices *devices);  // NULL is fine
// After nodes came or went: new robots get new indices, those that went are marked gone, devices are listed anew.
// The ball around what is seen of a node and all below it; false when nothing is.
bool devices_ball(Devices *devices, const SceneNode *node, Vec3 *centre, double *radius);
void devices_rescan(Devices *devices);
// Writes into the scene what a saved world must know of them: the energy left in batteries.
void devices_keep(Devices *devices);

// After a reset of the simulation, which may have made its physics anew: all is as at the start (streams, states,
// energy, no packets under way), but what controllers enabled stays enabled.
void devices_reset(Devices *devices, Physics *physics);

const Physics *devices_physics(const Devices *devices);
int devices_robot_count(const Devices *devices);  // holes included
bool devices_robot_exists(const Devices *devices, int robot);
SceneNode *devices_robot_node(const Devices *devices, int robot);
int devices_robot_of(const Devices *devices, const SceneNode *robot);  // -1
// The index of a robot that was removed for good may be given to the next one with the same devices, so that a world in
// which robots come and go does not grow; its serial number is then another one. Whoever remembers things of robots by
// their index holds them, and releases those that are gone when it is done with them.
uint32_t devices_robot_serial(const Devices *devices, int robot);
void devices_hold_robots(Devices *devices, bool are_held);
void devices_release_robot(Devices *devices, int robot);  // one that does not exist any more

// One kind of device: a row of devices/registry.c. A new device is one file and one line there.
typedef struct DeviceKind DeviceKind;

typedef struct DeviceInfo {
    SceneNode *node;
    const DeviceKind *kind;
    const char *name;
    const char *model;
    int solid;        // its own, or the one it sits in
    int joint, axis;  // of motors, position sensors and brakes, else -1
} DeviceInfo;
int devices_count(const Devices *devices, int robot);
const DeviceInfo *devices_info(const Devices *devices, int robot, int tag);  // tag from 1
int devices_find(const Devices *devices, int robot, const char *name);       // tag, 0 when there is none

// ---- sampling ----
// Most devices have one channel of readings, numbered 0; motors have force feedback as 0; cameras recognition as 1, the
// robot (tag 0) its battery as 0. Period in ms, rounded up to whole steps; 0 switches off and keeps the last reading.
void devices_enable(Devices *devices, int robot, int tag, int channel, int period_ms);
void devices_switch_off(Devices *devices, int robot);  // all of a robot that nobody listens to any more
int devices_period(const Devices *devices, int robot, int tag, int channel);  // ms, 0: off
// Reads all that are due after step number `step`. The first reading comes one period after enabling.
void devices_sample(Devices *devices, uint64_t step);
// Numbers of the last reading and its serial number (0: none yet). What the numbers are is said by the kind's rows.
const double *devices_reading(const Devices *devices, int robot, int tag, int channel, int *count, uint32_t *serial);

// The bytes of the last image of a channel; NULL: it has none. Row by row from the top left: distances in m as floats
// of range finders and lidars; blue, green, red and 255 of cameras; image 2 of a camera is segmented. Of a camera's
// recognition: as camera.c packs it. Pictures are made here, when they are asked for, and show the moment at which they
// were due. They are no part of the state.
const void *devices_image(Devices *devices, int robot, int tag, int number, int *size);
// The image of a channel's readings that is made when asked for; -1: it has none.
int devices_due_image(const Devices *devices, int robot, int tag, int channel);

// ---- what a device is and can be told, as plain numbers ----
// Constants of the device (ranges, lookup table, sizes) in the order of its kind's `constants` rows, variable part
// last.
int devices_constants(const Devices *devices, int robot, int tag, double *values, int capacity);
// A command by its row in the kind's table, with numbers and bytes.
typedef struct DeviceCommand {
    int row;
    const double *numbers;
    int number_count;
    const void *bytes;
    int byte_count;
} DeviceCommand;
// Returns what is wrong in words, or NULL.
const char *devices_command(Devices *devices, int robot, int tag, const DeviceCommand *command);

// ---- lamps ----
// What LEDs light up: by the id of the node that says how a shape glows (a Material or a PBRAppearance), or of a Light,
// what it gives off now, linear. A Light that is off gives none.
typedef struct DeviceGlow {
    uint32_t node;
    Vec3 light;
} DeviceGlow;
// Of all LEDs of robots that are there, in their order. Returns how many there are, of which `capacity` at most are
// written.
int devices_glows(const Devices *devices, DeviceGlow *glows, int capacity);

// Where the bones of a Skin are that programs move, in the frame of its mesh. Returns how many; 0: they are as its file
// has them; -1: this is no such Skin.
enum { DEVICE_BONES_MAX = 256 };
int devices_bones(const Devices *devices, int robot, int tag, Pose bones[DEVICE_BONES_MAX]);
// A Skin is bent like that: by its node. Without effect when there is no such Skin, or it has another number of bones.
void devices_show_bones(Devices *devices, uint32_t node, const Pose *bones, int count);

// ---- devices of bodies ----
// The device that a node is. False: it is none.
bool devices_of_node(const Devices *devices, const SceneNode *node, int *robot, int *tag);
// Holder, VacuumGripper, Conveyor, Attachment, Marker: on or off. Others return false.
bool devices_switch(Devices *devices, int robot, int tag, bool on);
bool devices_is_on(const Devices *devices, int robot, int tag);
// Somebody presses a bumper: it counts as touched until it is read next. False: the device is no bumper.
bool devices_press(Devices *devices, int robot, int tag);
// Lines of a DigitalIO. False: no DigitalIO, or it has no such line. An input line switches what it is connected to.
bool devices_signal_set(Devices *devices, int robot, int tag, bool is_input, int line, bool on);
bool devices_signal(const Devices *devices, int robot, int tag, bool is_input, int line, bool *on);

// ---- packets ----
typedef struct DevicePacket {
    const void *data;
    int size;
    double strength;      // 1 / r^2
    double direction[3];  // of the emitter, in the receiver's frame, unit
} DevicePacket;
int devices_packet_count(const Devices *devices, int robot, int tag);
DevicePacket devices_packet(Devices *devices, int robot, int tag, int index);
void devices_packet_drop(Devices *devices, int robot, int tag);  // the first one
// To and from the physics plugin.
void devices_send_from_plugin(Devices *devices, int channel, const void *data, int size);
void devices_plugin_listens(Devices *devices);  // from now on what is sent on channel 0 is kept for it
const void *devices_received_by_plugin(Devices *devices, int *size);  // all of channel 0 since it last read; NULL: none
void devices_plugin_forgets(Devices *devices);                        // what it read: its next step begins

// ---- what Speakers play ----
enum { DEVICE_SOUND_NAME = 512 };
typedef struct DeviceSound {
    uint32_t id;  // of the controller's call; 0: this place is free
    int32_t loops, is_speech;
    int32_t side;    // -1 plays the left channel alone, 1 the right one, 0 both
    double start;    // s of simulated time
    double seconds;  // of the clip at pitch 1
    double volume, pitch, balance;
    char name[DEVICE_SOUND_NAME];  // URL of the clip, or the key of the speech in the store
} DeviceSound;
// The places for sounds of a Speaker, free ones included; NULL when it is none.
const DeviceSound *devices_sounds(const Devices *devices, int robot, int tag, int *count);
const Clip *device_sound_clip(const Devices *devices,
                              const DeviceSound *sound);  // NULL: it has none (which has been said)

// ---- what Microphones hear ----
// One of them, at the end of a step.
typedef struct DeviceEar {
    int robot, tag;
    Pose pose;
    Vec3 velocity;
    double aperture;  // rad, around +x; not positive: everywhere
    double gain;
} DeviceEar;
// What makes samples for them; sound/ gives itself in. Its memory of what sounds is part of the devices' state.
typedef struct DeviceHearing {
    void *context;
    int (*frame_count)(void *context, uint64_t step, double dt);  // samples of this step
    void (*hear)(void *context, const DeviceEar *ear, uint64_t step, double dt, int16_t *samples, int count);
    void (*forget)(void *context, int robot, int tag);  // it was switched off
    size_t (*size)(void *context);                      // of its state; 0: nothing sounds
    void (*save)(void *context, void *to);
    uint64_t (*hash)(void *context, uint64_t hash);
    bool (*is_sound)(void *context, const void *from, size_t size);
    void (*restore)(void *context, const void *from, size_t size);  // of a sound one; size 0: nothing sounds
    void (*destroy)(void *context);
} DeviceHearing;
void devices_set_hearing(Devices *devices, const DeviceHearing *hearing);  // takes the context over; NULL: none

// ---- drives of old robots ----
// Moves the robots whose DifferentialWheelsDrive is kinematic by what their wheels do in the coming step.
void devices_drive(Devices *devices);
// speedUnit, maxSpeed, encoderNoise, encoderResolution; returns how many: none for a robot without such a drive.
int devices_drive_constants(const Devices *devices, int robot, double values[4]);

// ---- what devices leave to be seen ----
void devices_paint(Devices *devices);  // pens write on what is below them, ink evaporates: before each step
// What Pens left on a Shape, in square tiles of pixels. It lies in memory as files and messages have it.
enum { DEVICE_INK_SIDE = 32 };
typedef struct DeviceInk {
    uint32_t node;                                         // the Shape
    uint16_t width, height;                                // of all its paint, pixels
    uint16_t x, y;                                         // of the tile's first pixel; rows from the bottom
    uint8_t pixels[DEVICE_INK_SIDE * DEVICE_INK_SIDE][4];  // red, green, blue, density
} DeviceInk;
// The tiles that changed last since change number *since (0: all that ever had ink), in the order of their changes, so
// many at most; *since is then the last one told. Ink that was made anew, as after a load, begins at 0 again.
bool devices_has_ink(const Devices *devices, uint64_t since);  // there is something to tell
int devices_ink(const Devices *devices, uint64_t *since, DeviceInk *tiles, int capacity);
// Whether a node, with all below it, is seen by a camera (or the Viewpoint). False: there is no such eye.
bool devices_set_visible(Devices *devices, SceneNode *node, const SceneNode *from, bool is_visible);

// ---- pictures for people ----
typedef struct DevicesView {
    Pose pose;             // looks along +x with z up
    double field_of_view;  // horizontal, rad
    int width, height;
    double near, far;  // far 0: no end
    double exposure;
    double occlusion;  // m, as Viewpoint.ambientOcclusionRadius
    double bloom;      // as Viewpoint.bloomThreshold
    bool is_quick;     // one ray a pixel, sharp shadows
} DevicesView;
// The world as it is now, with what devices show: red, green, blue, 255, rows from the top. `depth` (NULL: not wanted)
// gets distances along the axis, INFINITY where nothing is seen. A world without lights is lit from the eye.
void devices_look(Devices *devices, const DevicesView *view, uint8_t *pixels, float *depth);
// What a robot's camera would see now, with its lens and noise, but with so many pixels; false: the node is no camera
// of a robot.
bool devices_look_through(Devices *devices, const SceneNode *camera, int width, int height, uint8_t *pixels,
                          float *depth);
void devices_look_counts(Devices *devices, int *shapes, int *triangles, int *textures);
bool devices_look_bounds(Devices *devices, Vec3 *low, Vec3 *high);  // around all that is seen; false: nothing is
Vec3 devices_look_up(Devices *devices);                             // the world's axis that points upwards

// What is to be seen on a Display: red, green, blue, alpha, rows from the top, valid until the next step; NULL: nothing
// was drawn yet, or it is no Display.
const uint8_t *devices_display(const Devices *devices, int robot, int tag, int *width, int *height);

// ---- what devices showed once, told again ----
// Of an LED its value; of a Pen whether it writes, and its ink.
typedef struct DeviceShown {
    uint32_t node;
    int32_t value, color;
    float density;
} DeviceShown;
// Of all LEDs and Pens that are there, in their order. Returns how many there are, of which `capacity` at most are
// written.
int devices_shown(const Devices *devices, DeviceShown *shown, int capacity);
void devices_show(Devices *devices, const DeviceShown *shown);  // without effect when there is no such node
bool devices_pen_writes(const Devices *devices);                // any of them
// A Display shows these pixels of red, green, blue, rows from the top, in whatever size they come.
void devices_show_screen(Devices *devices, uint32_t node, int width, int height, const uint8_t *pixels);

// ---- people's input ----

// ---- state ----
uint64_t devices_hash(const Devices *devices);
size_t devices_snapshot_size(const Devices *devices);
void devices_snapshot(const Devices *devices, void *buffer);
bool devices_restore(Devices *devices, const void *buffer, size_t size);

#endif
