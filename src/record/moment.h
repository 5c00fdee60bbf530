// moment.h - the state of a running world, copied out of it: poses, and what else frames may carry as sections.
// The copy is cheap and made between two steps; encoding and sending it can then happen on another thread.
#ifndef TALUS_RECORD_MOMENT_H
#define TALUS_RECORD_MOMENT_H

#include "devices/devices.h"
#include "physics/physics.h"
#include "record/frame.h"

enum {
    MOMENT_JOINTS = 1,  // JNTS: u16 first, u16 count, f32 positions of the axes of all joints in order
    MOMENT_CONTACTS =
        2,  // CONT: u16 solids (65535: none), f32 point, normal, force on the first one (0 unless physics keeps forces)
    MOMENT_STATES = 4,  // STAT: u16 solid, u8 of 1 colliding, 2 asleep; of those that changed, or all with MOMENT_ALL
    MOMENT_ALL = 8,
    MOMENT_SECTIONS_MAX = 3,
};

// { 0 } is ready; moment_deinit frees it. After the first ones of a world, taking one allocates nothing.
typedef struct Moment {
    PhysicsPoses
        poses;        // made by physics_poses_make(), on the thread that reads them; not finite where a solid is gone
    uint8_t *states;  // as of the last time that they were taken
    int state_count, state_capacity;
    Text joints, contacts, changes;
    DeviceGlow *glows;
    int glow_capacity;
    Text screens;  // SCRN of all displays: per node u32 id, u16 width and height (0: nothing was drawn), then red,
                   // green, blue
    DeviceShown *shown;
    int shown_count, shown_capacity;
    Text bones;  // BONE of all Skins whose bones programs move: per node u32 id, u32 count (0: as its file has them),
                 // then f32 place and quaternion (x, y, z, w) of each in the frame of its mesh
    Text glow;   // GLOW of all that LEDs light up: per node u32 id, f32 red, green, blue
    DeviceInk *ink;  // INKS: tiles of what Pens left that changed
    int ink_count, ink_capacity;
} Moment;

enum {
    MOMENT_GLOW_BYTES = 16,        // of one node
    MOMENT_SCREEN_HEAD_BYTES = 8,  // of one display
    MOMENT_INK_MAX = 64,           // tiles of ink taken at a time: a quarter of a megabyte
};

void moment_deinit(Moment *moment);
void moment_take(Moment *moment, const Physics *physics, int parts);
// Large displays are taken with fewer pixels, and no more of them than fit a bound.
void moment_take_screens(Moment *moment, const Devices *devices);  // NULL: there are none
size_t moment_screen_bytes(const char *screen);                    // of one in the section, with its head
void moment_take_glow(Moment *moment, const Devices *devices);     // NULL: nothing glows
void moment_take_bones(Moment *moment, const Devices *devices);
void moment_take_shown(Moment *moment, const Devices *devices);  // SHWN of LEDs and Pens: see DeviceShown
void moment_take_ink(Moment *moment, const Devices *devices, uint64_t *since);  // as devices_ink(), a few at a time
// The sections of the parts taken last; valid until the next. Returns how many.
int moment_sections(const Moment *moment, int parts, FrameSection sections[MOMENT_SECTIONS_MAX]);

#endif
