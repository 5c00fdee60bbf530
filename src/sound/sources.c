// sources.c - what can be heard: the clips that a world names, its motors and its Speakers.
#include "sound/sound_internal.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "formats/shape/shape.h"
#include "physics/joints/motor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- clips ----

// One channel of a clip: of two, the left, the right, or both weighed by the balance as Webots does.
static float *one_channel(const Clip *clip, int side, double balance)
{
    assert_debug(clip->channels >= 1 && clip->frame_count > 0);
    float *out = memory_alloc_array((size_t)clip->frame_count, sizeof *out);
    double left = side < 0 ? 1.0 : side > 0 ? 0.0 : 0.5 * (1.0 - balance);
    for (int i = 0; i < clip->frame_count; i++)
        out[i] = clip->channels == 1
                     ? clip->samples[i]
                     : (float)(left * (double)clip->samples[2 * i] + (1.0 - left) * (double)clip->samples[2 * i + 1]);
    return out;
}

// The end fades into the beginning with equal power; what is left repeats without a seam.
static void make_loop(StageClip *made)
{
    assert_debug(made->once && !made->loop);
    int fade = int_min((int)(SOUND_LOOP_FADE * made->clip->rate), made->frame_count / 2);
    made->loop_count = made->frame_count - fade;
    made->loop = memory_alloc_array((size_t)made->loop_count, sizeof *made->loop);
    memcpy(made->loop, made->once, (size_t)made->loop_count * sizeof *made->loop);
    for (int i = 0; i < fade; i++) {
        double angle = 0.5 * M_PI * (i + 0.5) / fade;
        made->loop[i] = (float)(sin(angle) * (double)made->once[i]
                                + cos(angle) * (double)made->once[made->loop_count + i]);
    }
}

int stage_add_clip(SoundStage *stage, StageClip made)
{
    assert_debug(made.clip);
    made.frame_count = made.clip->frame_count;
    made.once = one_channel(made.clip, made.side, made.balance);
    make_loop(&made);
    memory_grow(&stage->clips, &stage->clip_capacity, stage->clip_count + 1, sizeof *stage->clips);
    stage->clips[stage->clip_count] = made;
    return stage->clip_count++;
}

int stage_clip(SoundStage *stage, const Clip *clip, int side, double balance)
{
    if (clip->channels == 1)
        side = 0, balance = 0.0;
    for (int i = 0; i < stage->clip_count; i++)
        if (stage->clips[i].clip == clip && stage->clips[i].side == side && stage->clips[i].balance == balance)
            return i;
    return stage_add_clip(stage, (StageClip){ .clip = clip, .side = side, .balance = balance });
}

uint64_t stage_clip_content(SoundStage *stage, int clip)
{
    assert(clip >= 0 && clip < stage->clip_count);
    StageClip *at = &stage->clips[clip];
    if (at->content == 0)
        at->content = hash_bytes(at->once, (size_t)at->frame_count * sizeof *at->once, (uint64_t)at->clip->rate) | 1u;
    return at->content;
}

bool stage_clips_equal(SoundStage *stage, int a, int b)
{
    assert_debug(a >= 0 && a < stage->clip_count && b >= 0 && b < stage->clip_count);
    return a == b || stage_clip_content(stage, a) == stage_clip_content(stage, b);
}

int stage_speaker_clip(SoundStage *stage, const Devices *devices, const DeviceSound *sound)
{
    const Clip *clip = device_sound_clip(devices, sound);
    if (!clip)
        return -1;
    int index = stage_clip(stage, clip, sound->side, sound->balance);
    if (!stage->clips[index].name) {
        stage->clips[index].name = memory_string(sound->name);
        stage->clips[index].is_speech = sound->is_speech;
    }
    return index;
}

int stage_default_clip(SoundStage *stage, DefaultClip which)
{
    assert_debug((int)which >= 0 && (int)which < COUNT_OF(stage->default_clips));
    if (stage->default_clips[which] < 0) {
        Clip *clip = synth_clip(which, stage->rate);
        stage->default_clips[which] = stage_add_clip(stage, (StageClip){ .clip = clip, .own = clip });
    }
    return stage->default_clips[which];
}

// The clip behind a field: ours for Webots' own, none for an empty name or a file that cannot be had (which is then
// said).
static int clip_of_field(SoundStage *stage, const ShapeSource *source, const SceneNode *node, const char *field,
                         DefaultClip usual)
{
    const char *url = scene_string(node, field);
    if (!*url)
        return -1;
    if (strstr(url, "projects/default/worlds/sounds/"))
        return stage_default_clip(stage, usual);
    const Clip *clip = store_clip(source->assets, url, shape_naming_file(source, node, field), source->diags,
                                  node->pos);
    return clip ? stage_clip(stage, clip, 0, 0.0) : -1;
}

// ---- lists ----

static void list_properties(SoundStage *stage, const ShapeSource *source)
{
    static const struct {
        const char *field;
        DefaultClip usual;
    } kinds[3] = { { "bumpSound", CLIP_BUMP }, { "rollSound", CLIP_ROLL }, { "slideSound", CLIP_SLIDE } };
    stage->properties_count = 1;
    memory_grow(&stage->properties, &stage->properties_capacity, 1, sizeof *stage->properties);
    for (int k = 0; k < 3; k++)
        stage->properties[0][k] = stage_default_clip(stage, kinds[k].usual);
    const SceneNode *info = scene_find_top(source->scene, "WorldInfo");
    const FieldList *rules = info ? scene_list(info, "contactProperties") : NULL;
    for (int r = 0; rules && r < rules->count; r++) {
        const SceneNode *rule = scene_list_node(rules, r);
        memory_grow(&stage->properties, &stage->properties_capacity, stage->properties_count + 1,
                    sizeof *stage->properties);
        for (int k = 0; k < 3; k++)
            stage->properties[stage->properties_count][k] =
                rule ? clip_of_field(stage, source, rule, kinds[k].field, kinds[k].usual) : -1;
        stage->properties_count++;
    }
}

const int *stage_contact_clips(const SoundStage *stage, int properties)
{
    static const int silent[3] = { -1, -1, -1 };
    // Webots' rule has no sound where no ContactProperties fit.
    if (properties < 0 && stage->law == SOUND_LAW_WEBOTS)
        return silent;
    int index = properties + 1;
    return index >= 0 && index < stage->properties_count ? stage->properties[index] : silent;
}

typedef struct MotorSearch {
    SoundStage *stage;
    const Physics *physics;
    ShapeSource source;
} MotorSearch;

static bool list_motor(SceneNode *node, void *context)
{
    MotorSearch *search = context;
    SoundStage *stage = search->stage;
    int joint, axis;
    bool is_rotational = scene_node_is(node, "RotationalMotor");
    if ((!is_rotational && !scene_node_is(node, "LinearMotor"))
        || !physics_axis_of(search->physics, node, &joint, &axis))
        return true;
    int clip = clip_of_field(stage, &search->source, node, "sound",
                             is_rotational ? CLIP_ROTATIONAL_MOTOR : CLIP_LINEAR_MOTOR);
    if (clip < 0)
        return true;
    *memory_push(stage->motors, stage->motor_count, stage->motor_capacity) =
        (StageMotor){ node, joint, axis, clip, physics_joint_parent(search->physics, joint) };
    return true;
}

void stage_list(SoundStage *stage, Physics *physics)
{
    if (stage->listed == physics && stage->edits == physics_edit_count(physics))
        return;
    MotorSearch search = { stage, physics, { physics_scene(physics), physics_assets(physics), stage->diags } };
    list_properties(stage, &search.source);
    stage->motor_count = 0;
    scene_walk(scene_root(physics_scene(physics)), false, list_motor, &search);
    stage->listed = physics;
    stage->edits = physics_edit_count(physics);
}

// ---- motors and Speakers ----

VoiceRequest *stage_request(SoundStage *stage)
{
    memory_grow(&stage->requests, &stage->request_capacity, stage->request_count + 1, sizeof *stage->requests);
    VoiceRequest *request = &stage->requests[stage->request_count++];
    *request = (VoiceRequest){ .pitch = 1.0 };
    return request;
}

void sources_motors(SoundStage *stage, const Physics *physics)
{
    for (int i = 0; i < stage->motor_count; i++) {
        assert_debug(stage->motors[i].clip < stage->clip_count);
        const StageMotor *motor = &stage->motors[i];
        if (!physics_joint_exists(physics, motor->joint))
            continue;
        double max = physics_motor(physics, motor->joint, motor->axis).max_velocity;
        double speed = fabs(physics_joint_velocity(physics, motor->joint, motor->axis));
        double share = max > 0.0 ? double_min(speed / max, 1.0) : 0.0;
        if (!(share > SOUND_MOTOR_MIN))
            continue;
        VoiceRequest *request = stage_request(stage);
        request->key = (VoiceKey){ VOICE_MOTOR, (uint32_t)motor->joint, (uint32_t)motor->axis };
        request->clip = motor->clip;
        request->loops = true;
        request->gain = 0.9 + 0.1 * share;
        request->pitch = 0.6 + 0.8 * share;
        if (motor->solid >= 0 && physics_solid_exists(physics, motor->solid)) {
            request->position = physics_solid_pose(physics, motor->solid).t;
            request->velocity = physics_solid_linear_velocity(physics, motor->solid);
        }
    }
}

// Programs number their sounds by themselves: `speaker` tells two of the same number apart.
static void add_speaker(SoundStage *stage, const Devices *devices, const DeviceInfo *info, uint32_t speaker,
                        const DeviceSound *sound, double time)
{
    int clip = stage_speaker_clip(stage, devices, sound);
    if (clip < 0)
        return;
    const Physics *physics = devices_physics(devices);
    VoiceRequest *request = stage_request(stage);
    request->key = (VoiceKey){ VOICE_SPEAKER, speaker, sound->id };
    request->clip = clip;
    request->loops = sound->loops;
    request->gain = sound->volume;
    request->pitch = sound->pitch;
    request->start = double_max(time - sound->start, 0.0) * sound->pitch;
    request->position = physics_solid_pose(physics, info->solid).t;
    request->velocity = physics_solid_linear_velocity(physics, info->solid);
}

void sources_speakers(SoundStage *stage, const Devices *devices, double time)
{
    for (int robot = 0; devices && robot < devices_robot_count(devices); robot++) {
        int tags = devices_robot_exists(devices, robot) ? devices_count(devices, robot) : 0;
        for (int tag = 1; tag <= tags; tag++) {
            int count;
            const DeviceInfo *info = devices_info(devices, robot, tag);
            const DeviceSound *sounds = devices_sounds(devices, robot, tag, &count);
            for (int i = 0; i < count && info->solid >= 0; i++)
                if (sounds[i].id != 0)
                    add_speaker(stage, devices, info, (uint32_t)robot << 16 | (uint32_t)tag, &sounds[i], time);
        }
    }
}
