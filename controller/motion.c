// motion.c - motion files: "#WEBOTS_MOTION,V1.0,motor,..." and then rows "mm:ss:ms,name,position or *,...".
#include "core.h"

#include "base/memory.h"

#include <webots/motor.h>
#include <webots/robot.h>
#include <webots/utils/motion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A position that the file gives; between two of them a motor moves in a straight line.
typedef struct Keyframe {
    int ms;
    double position;
} Keyframe;

typedef struct MotionTrack {
    WbDeviceTag motor;    // 0: the robot has none of this name
    Keyframe *keyframes;  // rising times
    int count, capacity;
} MotionTrack;

struct WbMotionStructPrivate {
    MotionTrack *tracks;
    int track_count, track_capacity;
    int duration;  // ms, the time of the last row; -1: no row yet
    bool is_playing, loops, is_reversed;
    double time;     // ms into the motion
    double started;  // s, simulated, when `time` was last moved on
    WbMotionRef next;
};

static WbMotionRef motions;

// "minutes:seconds:milliseconds" as ms; -1 when it is none, or more than an int holds.
static int parse_time(const char *text)
{
    static const int units[] = { 60000, 1000, 1 };
    int64_t ms = 0;
    for (int i = 0; i < COUNT_OF(units); i++) {
        char *end;
        long part = strtol(text, &end, 10);
        bool is_last = i == COUNT_OF(units) - 1;
        if (end == text || part < 0 || part > INT32_MAX || (!is_last && *end != ':'))
            return -1;
        ms += (int64_t)part * units[i];
        text = end + 1;
    }
    return ms <= INT32_MAX ? (int)ms : -1;
}

static void read_header(WbMotionRef motion, char *line)
{
    assert_debug(motion->track_count == 0);
    strsep(&line, ",");
    strsep(&line, ",");
    for (char *name; (name = strsep(&line, ","));) {
        name[strcspn(name, "\r\n")] = '\0';
        memory_grow(&motion->tracks, &motion->track_capacity, motion->track_count + 1, sizeof *motion->tracks);
        motion->tracks[motion->track_count++] = (MotionTrack){ .motor = wb_robot_get_device(name) };
    }
}

// A "*", or nothing, leaves a motor on its way to the next position.
static bool read_row(WbMotionRef motion, char *line)
{
    const char *time = strsep(&line, ",");
    int ms = time ? parse_time(time) : -1;
    if (ms < 0 || ms < motion->duration || !strsep(&line, ","))
        return false;
    motion->duration = ms;
    for (int i = 0; i < motion->track_count && line; i++) {
        const char *value = strsep(&line, ",");
        char *end;
        double position = strtod(value, &end);
        if (end == value || !isfinite(position))
            continue;
        MotionTrack *track = &motion->tracks[i];
        memory_grow(&track->keyframes, &track->capacity, track->count + 1, sizeof *track->keyframes);
        track->keyframes[track->count++] = (Keyframe){ ms, position };
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
    WbMotionRef motion = memory_alloc(sizeof *motion);
    motion->duration = -1;
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
    if (!is_good || motion->duration < 0) {
        if (is_good || !motion->track_count)
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
    for (int i = 0; i < motion->track_count; i++)
        free(motion->tracks[i].keyframes);
    free(motion->tracks);
    free(motion);
}

// NaN where the file has no position from this time on and none before.
static double position_at(const MotionTrack *track, double time)
{
    int low = 0, high = track->count;  // the first keyframe that is not before `time`
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (track->keyframes[middle].ms < time)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == track->count)
        return low > 0 ? track->keyframes[low - 1].position : NAN;
    const Keyframe *to = &track->keyframes[low], *from = low > 0 ? to - 1 : to;
    if (to->ms == from->ms)
        return to->position;
    return from->position + (to->position - from->position) * (time - from->ms) / ((double)to->ms - from->ms);
}

static void move_on(WbMotionRef motion, double duration)
{
    assert(duration >= 0.0);
    // Motions move on by the time that has passed since the last step, whatever its length was; a reset sets it back.
    bool goes_on = motion->started >= 0.0 && core.time >= motion->started;
    double elapsed = goes_on ? (core.time - motion->started) * 1000.0 : 0.0;
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
    for (int i = 0; i < motion->track_count; i++) {
        const MotionTrack *track = &motion->tracks[i];
        double position = track->motor ? position_at(track, motion->time) : NAN;
        if (!isnan(position))
            wb_motor_set_position(track->motor, position);
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

int wbu_motion_get_duration(WbMotionRef motion) { return motion ? motion->duration : 0; }

int wbu_motion_get_time(WbMotionRef motion) { return motion ? (int)lround(motion->time) : 0; }

void wbu_motion_set_time(WbMotionRef motion, int time)
{
    if (motion)
        motion->time = fmin(fmax(time, 0.0), wbu_motion_get_duration(motion));
}
