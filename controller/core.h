// core.h - the inside of libController: the connection to the simulator, the robot, its devices and their readings.
// One robot per process, as the API has it; functions may be called from several threads of the controller.
#ifndef TALUS_CONTROLLER_CORE_H
#define TALUS_CONTROLLER_CORE_H

#include "base/common.h"
#include "protocol/protocol.h"

#include <webots/nodes.h>
#include <webots/types.h>

enum {
    CORE_CHANNELS = 3,  // the last one for a picture beside those of the readings
    CORE_MESSAGE_BYTES = 16 << 20
};  // as limits.h has message_bytes

typedef struct CorePacket {
    void *data;
    int size;
    double strength, direction[3];
    struct CorePacket *next;
} CorePacket;

typedef struct CoreDevice {
    char *name, *model;
    WbNodeType type;
    double *constants;
    int constant_count;
    struct CoreChannel {
        int period;
        double *numbers;  // of the last reading
        int count, capacity;
        uint32_t serial;  // readings so far
        void *bytes;      // its image
        size_t byte_count;
        bool is_waiting;  // a newer image stands in the simulator, which makes it when it is asked for
        int looks;        // how often the program took the pointer of the image: 0, 1 or 2 and more
    } channels[CORE_CHANNELS];
    CorePacket *first, *last;  // queue of a receiver
    int packet_count;
    double enabled_at;  // of a camera
    bool is_segmented;  // likewise
    void *own;          // what a device's file keeps beside, freed with free()
} CoreDevice;

typedef struct Core {
    Channel *channel;
    FrameWriter commands;  // gathered until the next step
    bool has_commands;
    bool is_connected;
    bool must_quit;                                                     // the run is over, and the program knows
    enum { CORE_STEP_NONE, CORE_STEP_BEGUN, CORE_STEP_ANSWERED } step;  // of wb_robot_step_begin and _end
    int step_delay;                                                     // what the answer to a step that was begun says
    bool supervisor, synchronization;
    int mode, simulation_mode;
    WbNodeType robot_type;  // as the release of the world has it
    double time, basic_time_step;
    char *name;
    char *texts[7];
    struct {
        char *data;         // messages of the robot window that came, each ended by a NUL
        size_t size, read;  // how much there is, and how much of it the program has taken
    } window;
    CoreDevice *devices;  // by tag; 0 is the robot
    int device_count;     // with the robot
} Core;

extern Core core;  // the API has no handle to pass

void core_lock(void);
void core_unlock(void);

// The device with this tag, when it is of one of the types (ended by WB_NODE_NO_NODE); else says so on stderr as the
// function `who` and returns NULL.
CoreDevice *core_device(WbDeviceTag tag, const WbNodeType *types, const char *who);
#define CORE_DEVICE(tag, ...) core_device((tag), (const WbNodeType[]){ __VA_ARGS__, WB_NODE_NO_NODE }, __func__)

double core_constant(const CoreDevice *device, int index);  // 0 beyond the last
void core_enable(WbDeviceTag tag, int channel, int period);
void core_command(WbDeviceTag tag, int command, const double *numbers, int count, const void *bytes, int byte_count);
void core_add(const Record *record);  // to the commands of the next step
// Numbers of the last reading; NULL before the first.
const double *core_reading(const CoreDevice *device, int channel, int *count);
double core_value(const CoreDevice *device, int channel);  // the first of them, NaN before the first reading

// Brings the image of a channel's last reading when it waits in the simulator.
void core_fetch_image(CoreDevice *device, int channel);
// Sends what is gathered and waits. Returns what wb_robot_step returns.
int core_step(int duration);
int core_step_begin(int duration);  // sends; what is gathered from now on goes out with the next step
int core_step_end(void);            // waits
// Sends what is gathered, then the question, and gives the answer (valid until the next call). False: it failed; `why`
// is printed as from `who`.
bool core_call(const Record *question, Record *answer, const char *who);
void core_send_displays(void);          // what was drawn since the last step; in display.c
void input_take(const Record *record);  // of keyboard, mouse or joystick: input.c
// Writes a picture of blue, green, red and alpha as .jpg (quality 1 to 100) or .png; in display.c.
bool core_save_picture(const char *path, const unsigned char *pixels, int width, int height, int quality);
// Writes distances as a picture (.png, .jpg; `low` black, `high` and beyond white) or as they are (.hdr); in display.c.
bool core_save_depth(const char *path, const float *image, int width, int height, double low, double high);
void core_warn(const char *who, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
