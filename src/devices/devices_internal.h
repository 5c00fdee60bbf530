// devices_internal.h - the folder's own: what a kind of device is made of, and what its functions get.
#ifndef TALUS_DEVICES_DEVICES_INTERNAL_H
#define TALUS_DEVICES_DEVICES_INTERNAL_H

#include "base/random.h"
#include "devices/devices.h"
#include "devices/registry.h"
#include "formats/shape/shape.h"
#include "rays/rays.h"

#include <webots/nodes.h>

enum { DEVICE_CHANNELS = 2, READING_MAX = 256 };
enum { IMAGE_SEGMENTED = 2, DEVICE_IMAGES = 3 };  // images 0 and 1 belong to the channels of readings

typedef struct Device Device;
typedef struct DeviceState DeviceState;
// What the functions of a kind work on.
typedef struct DeviceContext {
    Devices *devices;
    Physics *physics;
    const DeviceInfo *info;
    Random *random;
    void *state;        // of the kind, plain bytes
    double time;        // s
    double period_ms;   // of this channel
    double since_last;  // s since this channel was last read, or since it was enabled
    bool is_first;      // the first reading since it was enabled
    int robot, tag;
} DeviceContext;

struct DeviceKind {
    const char *type;  // node type; its descendants too, unless they have a row of their own
    int code;          // WbNodeType
    int channels;      // of readings; 0: never sampled
    size_t state_size;
    void (*start)(DeviceContext *at);  // fills the state from the node's fields
    int (*sample)(DeviceContext *at, int channel,
                  double *reading);    // writes at most READING_MAX numbers, returns how many
    void (*watch)(DeviceContext *at);  // at each step while it is enabled, before it is sampled
    int (*constants)(DeviceContext *at, double *values, int capacity);
    const char *(*command)(DeviceContext *at, int command, const double *numbers, int number_count, const void *bytes,
                           int byte_count);
    void (*enabled)(DeviceContext *at, int channel, bool is_on);
    void (*make)(DeviceContext *at, int number, const void *due, void *bytes);  // an image that device_due announced
    void (*tell)(DeviceContext *at, int number);  // fills the image `number` anew, whenever somebody asks for it
};

extern const DeviceKind *const device_kinds[];  // registry.c, NULL-terminated
#define DECLARED(name) extern const DeviceKind name##_device;
DEVICE_KINDS(DECLARED)
#undef DECLARED

// ---- scan.c ----
void device_bind(const Devices *devices, Device *device);        // to what physics has for its node
void devices_start(Devices *devices, int robot, int first_tag);  // random streams and states, from that tag on
bool device_node_is_gone(const SceneNode *node);                 // it, or what it stands in, was taken out

// ---- battery.c ----
double battery_of(const SceneNode *robot, int index);  // of its field: energy, capacity, charging speed; -1: not given
bool robot_has_battery(const Devices *devices, int robot);
void battery_update_power(Devices *devices, int robot);  // motors have none while it is empty, those that come in too
void battery_drain(Devices *devices, int robot);         // by one step
void battery_add_charger(Devices *devices, SceneNode *node);
void battery_charge(Devices *devices, int charger);  // what it gives in one step

// ---- devices.c ----
DeviceContext device_context(Devices *devices, int robot, int tag);
bool device_is_due(const Devices *devices, int robot, int tag, int channel, uint64_t step);  // for its next reading

// ---- shared.c ----
// The lookup table of a node: rows of input, output, relative noise. Empty: the value itself.
double device_lookup(const SceneNode *node, double value, Random *random);
double device_rounded(double value, double resolution);  // resolution <= 0: as it is
int device_lookup_constants(const SceneNode *node, double *values, int capacity);
// Copies number fields of the node, in the order of the names.
int device_field_constants(const SceneNode *node, const char *const *names, int count, double *values, int capacity);
Rays *device_rays(const DeviceContext *at);                          // brought up to date once a step
void *device_image(const DeviceContext *at, int channel, int size);  // room for so many bytes
Pose device_pose(const DeviceContext *at);                           // of the device's own frame, in the world
// Where a node's frame is now: it moves with the solid that holds it. NULL: the world's.
Pose device_frame(const DeviceContext *at, const SceneNode *node);
// Sets axes switched off by xAxis, yAxis, zAxis to NaN and rounds the others.
void device_finish_vector(const DeviceContext *at, double reading[3]);

// ---- optics.c: images of devices that look along +x with z up; columns run from the left, rows from the top ----
typedef enum Projection { PLANAR, CYLINDRICAL, SPHERICAL, FISHEYE, DUAL_FISHEYE } Projection;
typedef struct ImageLens {
    bool is_there;
    double center[2], radial[2], tangential[2];  // in shares of width and height
} ImageLens;
typedef struct ImageView {
    Projection projection;
    int width, height;
    double horizontal, vertical;  // fields of view, rad
    double reach;                 // of a flat image at distance 1, from side to side
    ImageLens lens;
} ImageView;
Projection projection_of(const SceneNode *node);
ImageView image_view_of(Projection projection, int width, int height, double field_of_view);
ImageView image_view(const SceneNode *node, double field_of_view);  // of a Camera or RangeFinder
// Where a place of the image looks, of unit length; the middle of the first pixel is at 0.5, 0.5.
Vec3 image_direction(const ImageView *view, double x, double y);
// Where a point before the camera is seen, held within the image; a lens is left out.
void image_place(const ImageView *view, Vec3 p, double *x, double *y);

// ---- picture.c ----
// What a field says at first and the program's commands change: `now` counts. A field that is written while the world
// runs wins over earlier commands.
typedef struct Setting {
    double now;
    double field;  // what it said when it was last looked at
} Setting;
Setting setting_of(double field);
void setting_follow(Setting *setting, double field);

typedef struct CameraState {
    Setting field_of_view, exposure, focal_distance, focal_length;
    int32_t segments;  // whether recognition also draws its picture
    int32_t reserved;
} CameraState;
const CameraState *camera_settings(const DeviceContext *at);  // with what was written into its fields

// What a picture is made of: plain values that are kept until somebody looks at it.
typedef struct Picture {
    ImageView view;
    Pose pose;
    double near, far;
    double spread;  // width of a pixel at distance 1
    int samples;    // along each side of a pixel
    int eye;        // whose view it is, see rays_hide
    double exposure;
    double occlusion, softness;  // see RaysStyle
    bool is_for_people;
    double bloom;  // light above it glows; negative: none does
    int flare_ghosts;
    double flare_scale, flare_bias, flare_dispersal;
    double focal_distance, focal_length;  // 0: all is sharp
    double blur;                          // share of the picture before
    bool is_first;
    double noise;
    uint64_t seed;      // of this picture's noise
    const Image *mask;  // NULL: none
    double mask_place[2];
} Picture;
Picture picture_of(const DeviceContext *at);                        // of a camera, now
bool picture_fits(const DeviceContext *at, const ImageView *view);  // false, and said, when it has too many pixels
void picture_take(DeviceContext *at);     // of the camera, as its image 0: blue, green, red, opaque
void picture_segment(DeviceContext *at);  // likewise as image 2, in the colours of what is recognised
// Blue, green, red, 255, by rays as they are placed now. `device` keeps what blurs the next picture; NULL: nothing.
// `depth` gets distances along the axis, INFINITY where nothing is; NULL: they are not wanted.
void picture_make(const Picture *picture, Rays *rays, struct Pool *pool, Device *device, uint8_t *pixels, float *depth);
void camera_make(DeviceContext *at, int number, const void *due, void *bytes);
int device_eye(const DeviceContext *at);  // of a camera, for what is hidden from it

// ---- sight.c ----
// The box, in the device's frame, around what is seen of a solid.
typedef struct Sight {
    Vec3 centre, size;
    bool is_ball;  // of spheres alone: it looks as wide as at its middle
} Sight;
bool sight_of(const DeviceContext *at, int solid, double horizontal, double vertical,
              Sight *sight);  // fields of view in rad
// Whether something stands between the device and a point of the solid, more than `depth` before the point.
bool sight_is_hidden(const DeviceContext *at, int solid, Vec3 point, double depth);

// ---- due.c ----
enum { DUE_BYTES = 640 };
// What pictures of one moment show.
typedef struct Moment {
    Pose *solids;  // where they were
    int solid_count, solid_capacity;
    int32_t *lamps;  // value of each device that is an LED
    double *drives;  // of each device that is the motor of a Track (m) or Propeller (rad/s)
    Pose *bones;     // of each device that is a Skin, one after the other; `lamps` has how many
    int lamp_count, lamp_capacity, drive_capacity, bone_count, bone_capacity;
    struct ShownSpot *spots;
    int spot_count, spot_capacity;
    size_t log_mark;  // of what displays and pens changed since
    uint64_t step;
    int users;  // pictures that are not made yet; 0: free for another moment
} Moment;
// The picture `number` of the device, of `size` bytes, shows the present moment; the kind's `make` gets the `due` bytes
// when somebody looks, or never.
void device_due(const DeviceContext *at, int number, int size, const void *due, size_t due_size);
Rays *due_rays(Devices *devices);  // listed as the scene is now, placed anywhere
void due_make_all(Devices *devices);
Moment *due_present(Devices *devices);                               // the present moment, until the next call
void due_forget(Devices *devices, int robot, int tag, int channel);  // another takes its place
void due_free(Devices *devices);

// ---- show.c ----
typedef struct LedState {
    int32_t value;
    int32_t reserved;
} LedState;
typedef struct PenState {
    int32_t writes;
    int32_t color;
    double density;
} PenState;
// Where the bones of a Skin are, each in the frame of its parent; none until one was moved.
typedef struct SkinState {
    int32_t bone_count;
    int32_t reserved;
    Pose bones[MESH_BONES_MAX];
} SkinState;
int skin_bones(const DeviceContext *at,
               Pose bones[MESH_BONES_MAX]);  // in the frame of its mesh; 0: as the file has them
// Where a laser's light falls.
typedef struct ShownSpot {
    Vec3 place;
    double radius;
} ShownSpot;
typedef struct ShownPaint {
    SceneNode *shape;
    float *pixels;  // red, green, blue, density, rows from the bottom
    RaysPaint paint;
    bool is_wet;        // something is left to evaporate
    uint64_t *changes;  // by tile (ink.c): number of the last change in it, 0: none
} ShownPaint;
void show_will_change(Devices *devices, void *place, size_t size);  // before so many bytes of pixels change
// ---- ink.c ----
void ink_changed(Devices *devices, ShownPaint *paint, int left, int right, int bottom, int top);  // pixels, both ends
void ink_changed_all(Devices *devices, ShownPaint *paint);
int ink_tile_count(int width, int height);
void show_static(Devices *devices);                       // displays take their place on shapes
void show_keep(Devices *devices, Moment *moment);         // what is shown now
void show_begin(Devices *devices, const Moment *moment);  // rays see what was shown then, until the end
void show_end(Devices *devices, const Moment *moment);
bool distance_spot(const Devices *devices, int robot, int tag, ShownSpot *spot);  // of a laser that is on; distance.c
void show_reset(Devices *devices);
void show_clear(Devices *devices);  // no paint, black displays
// ---- display.c ----
void display_show(Devices *devices, Device *device);  // on its shapes, from now on
void display_clear(Devices *devices, Device *device);
void display_show_camera(Devices *devices, int robot, int camera);  // displays that show it get its picture
void display_restore(Devices *devices, int device, const void *pixels);
// ---- pen.c ----
void paint_clear(Devices *devices);
void paint_restore(Devices *devices, SceneNode *shape, int width, int height, const void *pixels);
// ---- show_state.c ----
size_t show_state_size(const Devices *devices);
void show_state_save(const Devices *devices, char *to);
uint64_t show_state_hash(const Devices *devices, uint64_t hash);
bool show_state_is_sound(const Devices *devices, const char *from, size_t size);
void show_state_restore(Devices *devices, const char *from, size_t size);  // of a sound one
void show_free(Devices *devices);

// ---- microphone.c ----
enum { MICROPHONE_SAMPLES_MAX = 441000 };  // of one reading: 10 s. What is older is lost.
typedef struct DeviceHeard {
    int16_t *samples;  // since the last reading
    int count, capacity;
} DeviceHeard;
size_t microphones_state_size(const Devices *devices);
void microphones_state_save(const Devices *devices, char *to);
uint64_t microphones_state_hash(const Devices *devices, uint64_t hash);
bool microphones_state_is_sound(const Devices *devices, const char *from, size_t size);
void microphones_state_restore(Devices *devices, const char *from, size_t size);  // of a sound one

// ---- speaker.c ----
void speakers_restored(Devices *devices);  // what they say is spoken again where it is not known yet

// ---- radio.c ----
void radio_deliver(Devices *devices, uint64_t step);  // packets whose time has come reach their receivers
void radio_forget(Devices *devices, int robot);       // its receivers' queues
bool radio_is_sound(const Devices *devices, const void *packets, int count, size_t pool_size);  // packets of a snapshot

// ---- the whole ----
typedef struct DeviceImage {
    void *bytes;  // NULL: none yet
    int size, capacity;
    Moment *moment;  // that it will show; NULL: it is made
    bool is_on_demand;
    _Alignas(double) char due[DUE_BYTES];  // what its kind needs to make it
} DeviceImage;

struct Device {
    DeviceInfo info;
    bool is_gone;  // its node was taken out; the tag stays, for one that comes in its place
    uint32_t state_offset;
    bool is_shown;    // LEDs and displays: rays know of it
    int shown_value;  // of an LED
    uint8_t *canvas;  // of a display: what was drawn; red, green, blue, alpha
    uint8_t *screen;  // and what is seen of it
    bool is_drawn;    // something was drawn since the start
    RaysLayer *layer;
    int eye;                      // from 1, of a camera that something is hidden from; 0: like the main view
    struct PictureKept *picture;  // of a camera: what its fields say, until something changes; NULL: not read yet
    float *trail;                 // light of the last picture of a camera with motion blur
    int trail_count, trail_capacity;
    DeviceImage images[DEVICE_IMAGES];
    DeviceHeard heard;  // of a microphone
};

typedef struct ChannelState {
    int32_t period;  // steps, 0: off
    int32_t period_ms;
    uint64_t since;  // step of the last reading, or of enabling
    uint32_t serial;
    int32_t count;
    int32_t has_read;  // since it was enabled
    int32_t reserved;
} ChannelState;

struct DeviceState {
    ChannelState channels[DEVICE_CHANNELS];
    Random random;
};

typedef struct DeviceRobot {
    SceneNode *node;
    int solid;
    int first_device, device_count;
    bool is_alive;
    bool is_held;     // somebody knows it by its index
    uint32_t serial;  // how many robots had the index before
} DeviceRobot;

typedef struct RobotState {
    ChannelState battery;
    double energy;  // J
    int32_t is_empty;
    int32_t is_free;                          // kinematic drive: it touched nothing at free_pose
    double wheel_speeds[2], wheel_angles[2];  // of a kinematic drive, left and right
    Pose free_pose;
} RobotState;

// Where a packet is (radio.c).
typedef enum PacketStage { PACKET_SENT, PACKET_WAITING, PACKET_READY, PACKET_DONE } PacketStage;

typedef struct Packet {
    int32_t robot, tag;  // while it is SENT those of the emitter (robot -1: the plugin), then of the receiver
    uint64_t due;        // step at whose end it is handed over
    int32_t stage;       // PacketStage; no padding: packets are hashed as they lie
    int32_t channel, size;
    int32_t reserved;
    size_t offset;  // in the pool
    double strength, direction[3];
} Packet;

// Where the search for a packet of a queue ended; no part of the state.
typedef struct PacketCursor {
    bool is_valid;
    int robot, tag, index, place;
} PacketCursor;

struct Devices {
    Scene *scene;
    Physics *physics;
    DiagSink *diags;
    DeviceRobot *robots;
    RobotState *robot_states;
    int robot_count, robot_capacity, robot_state_capacity;
    bool holds_robots;
    Device *devices;
    DeviceState *states;
    double (*readings)[DEVICE_CHANNELS][READING_MAX];
    int device_count, device_capacity, state_capacity, reading_capacity;
    uint8_t *kind_states;
    int kind_state_size, kind_state_capacity;
    SceneNode **chargers;
    double *charger_energy;  // J left in each
    int charger_count, charger_capacity, charger_energy_capacity;
    Packet *packets;  // on their way and in queues, in the order of sending and of arrival
    int packet_count, packet_capacity;
    PacketCursor cursor;
    uint8_t *pool;  // their bytes
    int pool_size, pool_capacity;
    uint8_t *plugin_inbox;  // channel 0, for the physics plugin
    int plugin_size, plugin_capacity;
    bool has_plugin, plugin_is_read;
    DeviceHearing hearing;  // zeroed: microphones are deaf
    uint64_t step;
    uint64_t tree;    // physics_tree_count when devices and their places were last looked up
    Rays *rays;       // NULL until something looks
    uint64_t looked;  // step for which they were brought up to date
    Moment **moments, *present;
    int moment_count, moment_capacity;
    int due_count;  // pictures that are not made yet
    ShownPaint **paints;
    int paint_count, paint_capacity;
    uint64_t ink_changes;  // of paint, since the start
    uint8_t *log;          // what displays and paint were before they changed, for pictures of earlier moments
    int log_size, log_capacity;
    size_t log_last;  // size of the last entry
};

Device *device_at(const Devices *devices, int robot, int tag);
void *device_state(const Devices *devices, int robot, int tag);
DeviceState *device_sampling(const Devices *devices, int robot, int tag);

#endif
