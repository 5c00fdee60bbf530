// soundtrack.c - one block of sound after each step, and a WAV file made of the blocks.
#include "record/soundtrack.h"

#include "base/memory.h"
#include "base/stream.h"

#include <stdlib.h>

struct SoundTrack {
    Sim *sim;
    const Devices *devices;
    SoundTrackOptions options;
    SoundStage *stage;
    uint64_t steps;  // heard so far: a reset of the run does not turn the sound back
    int64_t frames;
    int16_t *block;
    int block_count, block_capacity;
};

static Pose viewpoint_pose(const Scene *scene)
{
    const FieldList *nodes = scene_list(scene_root(scene), "children");
    for (int i = 0; i < nodes->count; i++) {
        const SceneNode *node = scene_list_node(nodes, i);
        if (node && scene_node_is(node, "Viewpoint"))
            return (Pose){ scene_vec3(node, "position"), quat_from_rotation(scene_rotation(node, "orientation")) };
    }
    return (Pose){ VEC3_ZERO, { 1, 0, 0, 0 } };
}

static bool listen(Sim *sim, void *context)
{
    SoundTrack *track = context;
    double dt = sim_time_step(sim);
    sound_step(track->stage, sim_physics(sim), track->devices, sim_time(sim), dt);
    track->steps++;
    int64_t frames = sound_frames_at(track->stage, (double)track->steps * dt);
    track->block_count = (int)(frames - track->frames);
    track->frames = frames;
    memory_grow(&track->block, &track->block_capacity, 2 * track->block_count, sizeof *track->block);
    SoundListener listener = { .volume = track->options.volume > 0.0 ? track->options.volume : 1.0 };
    listener.pose = track->options.listener ? track->options.listener(track->options.context)
                                            : viewpoint_pose(sim_scene(sim));
    sound_mix(track->stage, &listener, track->block, track->block_count);
    return true;
}

SoundTrack *soundtrack_create(Sim *sim, const Devices *devices, const SoundTrackOptions *options)
{
    assert_debug(sim);
    SoundTrack *track = memory_alloc(sizeof *track);
    track->sim = sim;
    track->devices = devices;
    if (options)
        track->options = *options;
    track->stage = sound_create(&track->options.stage, sim_diags(sim));
    sim_add_hook(sim, SIM_PHASE_OUTPUT, listen, track);
    return track;
}

void soundtrack_destroy(SoundTrack *track)
{
    if (!track)
        return;
    sim_remove_hooks(track->sim, track);
    sound_destroy(track->stage);
    free(track->block);
    free(track);
}

SoundStage *soundtrack_stage(const SoundTrack *track) { return track->stage; }

const int16_t *soundtrack_frames(const SoundTrack *track, int *frame_count)
{
    *frame_count = track->block_count;
    return track->block;
}

// ---- WAV ----

struct WavRecorder {
    Sim *sim;
    SoundTrack *track;
    FileStream *stream;
    int64_t frames;
};

static bool write_block(Sim *sim, void *context)
{
    (void)sim;
    WavRecorder *recorder = context;
    int count;
    const int16_t *frames = soundtrack_frames(recorder->track, &count);
    static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "samples lie in memory as a WAV file has them");
    stream_write(recorder->stream, frames, (size_t)count * 2 * sizeof *frames);
    recorder->frames += count;
    return true;
}

static bool write_header(WavRecorder *recorder, bool (*put)(FileStream *, int64_t, const void *, size_t))
{
    uint8_t header[CLIP_WAV_HEADER];
    clip_wav_header(header, 2, sound_rate(recorder->track->stage), recorder->frames);
    return put ? put(recorder->stream, 0, header, sizeof header)
               : stream_write(recorder->stream, header, sizeof header);
}

WavRecorder *wav_open(Sim *sim, SoundTrack *track, const char *path)
{
    assert_debug(sim && track && path);
    FileStream *stream = stream_open(path, sim_diags(sim));
    if (!stream)
        return NULL;
    WavRecorder *recorder = memory_alloc(sizeof *recorder);
    *recorder = (WavRecorder){ sim, track, stream, 0 };
    write_header(recorder, NULL);
    sim_add_hook(sim, SIM_PHASE_OUTPUT, write_block, recorder);
    return recorder;
}

bool wav_close(WavRecorder *recorder)
{
    if (!recorder)
        return true;
    sim_remove_hooks(recorder->sim, recorder);
    bool ok = write_header(recorder, stream_write_at);
    ok = stream_close(recorder->stream) && ok;
    free(recorder);
    return ok;
}
