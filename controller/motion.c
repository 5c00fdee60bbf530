// motion.c - motion files: "#WEBOTS_MOTION,V1.0,motor,..." and then rows "mm:ss:ms,name,position or *,...".
#include "core.h"

#include <webots/motor.h>
#include <webots/robot.h>
#include <webots/utils/motion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct WbMotionStructPrivate {
    WbDeviceTag *motors;
    int motor_count;
    int *times;         // ms, rising
    double *positions;  // row by row; NaN: not given
    int row_count;
    bool is_playing, loops, is_reversed;
    double time;     // ms into the motion
    double started;  // s, simulated, when `time` was last moved on
    WbMotionRef next;
};

static WbMotionRef motions;

static int parse_time(const char *text)
{
    int minutes, seconds, milliseconds;
    return sscanf(text, "%d:%d:%d", &minutes, &seconds, &milliseconds) == 3
               ? (minutes * 60 + seconds) * 1000 + milliseconds
               : -1;
}

static void read_header(WbMotionRef motion, char *line)
{
    assert_debug(motion->motor_count == 0);
    strsep(&line, ",");
    strsep(&line, ",");
    for (char *name; (name = strsep(&line, ","));) {
        name[strcspn(name, "\r\n")] = '\0';
        motion->motors = realloc(motion->motors, (size_t)(motion->motor_count + 1) * sizeof *motion->motors);
        motion->motors[motion->motor_count++] = wb_robot_get_device(name);
    }
}

static bool read_row(WbMotionRef motion, char *line)
{
    const char *time = strsep(&line, ",");
    int ms = time ? parse_time(time) : -1;
    if (ms < 0 || (motion->row_count && ms < motion->times[motion->row_count - 1]) || !strsep(&line, ","))
        return false;
    int row = motion->row_count++, width = motion->motor_count;
    motion->times = realloc(motion->times, (size_t)motion->row_count * sizeof *motion->times);
    motion->positions = realloc(motion->positions,
                                (size_t)motion->row_count * (size_t)(width + 1) * sizeof *motion->positions);
    motion->times[row] = ms;
    for (int i = 0; i < width; i++) {
        const char *value = strsep(&line, ",");
        char *end = NULL;
        double position = value ? strtod(value, &end) : NAN;
        motion->positions[(size_t)row * (size_t)width + (size_t)i] = value && end != value && isfinite(position)
                                                                         ? position
                                                                         : NAN;
    }
    return true;
}

// A bad row ends the motion and is told with its line: half a motion is worse than none.
WbMotionRef wbu_motion_new(const char *filename)
{
    FILE *file = filename ? fopen(filename, "r") : NULL;
    if (!file) {
        core_warn(__func__, "cannot read '%s'", filename ? filename : "(null)");
        return NULL;
    }
    WbMotionRef motion = calloc(1, sizeof *motion);
    char *line = NULL;
    size_t size = 0;
    bool is_good = getline(&line, &size, file) > 0 && !strncmp(line, "#WEBOTS_MOTION,", 15);
    if (is_good)
        read_header(motion, line);
    for (int number = 2; is_good && getline(&line, &size, file) > 0; number++) {
        if (line[strspn(line, " \t\r\n")] && !read_row(motion, line)) {
            core_warn(__func__, "%s:%d: this row makes no sense", filename, number);
            is_good = false;
        }
    }
    free(line);
    fclose(file);
    if (!is_good || !motion->row_count) {
        if (is_good || !motion->motor_count)
            core_warn(__func__, "'%s' is no motion file", filename);
        wbu_motion_delete(motion);
        return NULL;
    }
    motion->next = motions;
    motions = motion;
    return motion;
}

void wbu_motion_delete(WbMotionRef motion)
{
    if (!motion)
        return;
    for (WbMotionRef *place = &motions; *place; place = &(*place)->next)
        if (*place == motion) {
            *place = motion->next;
            break;
        }
    free(motion->motors);
    free(motion->times);
    free(motion->positions);
    free(motion);
}

// Between two rows positions move in a straight line.
static double position_at(WbMotionRef motion, int motor)
{
    assert_debug(motion->row_count > 0);
    assert(motor >= 0 && motor < motion->motor_count);
    int above = 0, width = motion->motor_count;
    while (above < motion->row_count && motion->times[above] < motion->time)
        above++;
    int low = above - 1, high = above;
    while (low >= 0 && isnan(motion->positions[low * width + motor]))
        low--;
    while (high < motion->row_count && isnan(motion->positions[high * width + motor]))
        high++;
    if (high >= motion->row_count)
        return low >= 0 ? motion->positions[low * width + motor] : NAN;
    double to = motion->positions[high * width + motor];
    if (low < 0 || motion->times[high] == motion->times[low])
        return to;
    double from = motion->positions[low * width + motor];
    return from + (to - from) * (motion->time - motion->times[low]) / (motion->times[high] - motion->times[low]);
}

static void move_on(WbMotionRef motion, double duration)
{
    assert(duration >= 0.0);
    // Motions move on by the time that has passed since the last step, whatever its length was.
    double elapsed = motion->started >= 0.0 ? (core.time - motion->started) * 1000.0 : 0.0;
    motion->started = core.time;
    motion->time += motion->is_reversed ? -elapsed : elapsed;
    bool is_over = motion->is_reversed ? motion->time < 0.0 : motion->time > duration;
    if (is_over && motion->loops)
        motion->time = motion->is_reversed ? duration : 0.0;
    else if (is_over)
        motion->time = motion->is_reversed ? 0.0 : duration;
}

static void play_one(WbMotionRef motion)
{
    assert_debug(motion->is_playing);
    double duration = wbu_motion_get_duration(motion);
    move_on(motion, duration);
    for (int i = 0; i < motion->motor_count; i++) {
        double position = motion->motors[i] ? position_at(motion, i) : NAN;
        if (!isnan(position))
            wb_motor_set_position(motion->motors[i], position);
    }
}

void motion_step(void);
void motion_step(void)
{
    for (WbMotionRef motion = motions; motion; motion = motion->next)
        if (motion->is_playing)
            play_one(motion);
}

void wbu_motion_play(WbMotionRef motion)
{
    if (!motion)
        return;
    if (wbu_motion_is_over(motion))
        motion->time = motion->is_reversed ? wbu_motion_get_duration(motion) : 0.0;
    if (!motion->is_playing)
        motion->started = -1.0;
    motion->is_playing = true;
}

void wbu_motion_stop(WbMotionRef motion)
{
    if (motion)
        motion->is_playing = false;
}

void wbu_motion_set_loop(WbMotionRef motion, bool loop)
{
    if (motion)
        motion->loops = loop;
}

void wbu_motion_set_reverse(WbMotionRef motion, bool reverse)
{
    if (motion)
        motion->is_reversed = reverse;
}

bool wbu_motion_is_over(WbMotionRef motion)
{
    return motion && (motion->is_reversed ? motion->time <= 0.0 : motion->time >= wbu_motion_get_duration(motion));
}

int wbu_motion_get_duration(WbMotionRef motion)
{
    return motion && motion->row_count ? motion->times[motion->row_count - 1] : 0;
}

int wbu_motion_get_time(WbMotionRef motion) { return motion ? (int)lround(motion->time) : 0; }

void wbu_motion_set_time(WbMotionRef motion, int time)
{
    if (motion)
        motion->time = fmin(fmax(time, 0.0), wbu_motion_get_duration(motion));
}
