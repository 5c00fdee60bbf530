// Any bytes as a motion file: refused, or played to its end and back with positions that are numbers. The robot behind
// it is not there: what libController's motions ask of the rest of it stands below.
#include "core.h"

#include "memory_file.h"

#include <webots/motor.h>
#include <webots/robot.h>
#include <webots/utils/motion.h>

#include <math.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void motion_step(void);

Core core;

void core_warn(const char *who, const char *format, ...) { (void)who, (void)format; }

// A robot without a motor "none".
WbDeviceTag wb_robot_get_device(const char *name) { return strcmp(name, "none") != 0; }

void wb_motor_set_position(WbDeviceTag motor, double position) { assert(motor == 1 && isfinite(position)); }

static void play(WbMotionRef motion, int at, bool is_reversed)
{
    core.time = 0.0;
    wbu_motion_set_time(motion, at);
    wbu_motion_set_reverse(motion, is_reversed);
    wbu_motion_play(motion);
    for (int i = 0; i < 8; i++) {
        motion_step();
        assert(wbu_motion_get_time(motion) >= 0 && wbu_motion_get_time(motion) <= wbu_motion_get_duration(motion));
        core.time += wbu_motion_get_duration(motion) / 4000.0;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    MemoryFile file = memory_file_open(data, size);
    WbMotionRef motion = wbu_motion_new(file.path);
    if (motion) {
        play(motion, 0, false);
        play(motion, wbu_motion_get_duration(motion), true);
        wbu_motion_set_loop(motion, true);
        play(motion, wbu_motion_get_duration(motion) / 2, false);
        play(motion, wbu_motion_get_duration(motion) / 2, true);
    }
    wbu_motion_delete(motion);
    memory_file_close(&file);
    return 0;
}
