// webots_law.c - the sound of touching by Webots' own rule, to the letter: the energy takes the sum of both masses and
// the whole velocity, hits come one step late, and what slides or rolls begins anew in every step. For who wants what
// Webots plays.
#include "sound/sound_internal.h"

#include "base/memory.h"

#include <math.h>

typedef enum WebotsType { TYPE_NONE, TYPE_BUMP, TYPE_SLIDE, TYPE_ROLL } WebotsType;

// A pair is forgotten when it has not touched for so long, s.
static const double PAIR_MEMORY = 0.05;

static Vec3 velocity_at(const Physics *physics, int body, Vec3 point)
{
    if (body < 0)
        return VEC3_ZERO;
    Vec3 arm = vec3_sub(point, physics_body_pose(physics, body).t);
    return vec3_add(physics_body_linear_velocity(physics, body),
                    vec3_cross(physics_body_angular_velocity(physics, body), arm));
}

static void take_velocities(const Physics *physics, WebotsPair *pair)
{
    for (int i = 0; i < 2; i++) {
        bool is_moved = pair->body[i] >= 0;
        pair->linear[i] = is_moved ? physics_body_linear_velocity(physics, pair->body[i]) : VEC3_ZERO;
        pair->angular[i] = is_moved ? physics_body_angular_velocity(physics, pair->body[i]) : VEC3_ZERO;
    }
}

static void set_energy(WebotsPair *pair, double energy, double dt)
{
    if (dt > 0.0) {
        double slope = (energy - pair->energy) / dt;
        pair->bend = (slope - pair->slope) / dt;
        pair->slope = slope;
    }
    pair->energy = energy;
}

static WebotsPair *pair_of(SoundStage *stage, const Physics *physics, const PhysicsContact *contact, double time)
{
    assert_debug(contact);
    uint32_t a = (uint32_t)contact->shape[0], b = (uint32_t)contact->shape[1];
    for (int i = 0; i < stage->pair_count; i++)
        if ((stage->pairs[i].a == a && stage->pairs[i].b == b) || (stage->pairs[i].a == b && stage->pairs[i].b == a))
            return &stage->pairs[i];
    memory_grow(&stage->pairs, &stage->pair_capacity, stage->pair_count + 1, sizeof *stage->pairs);
    WebotsPair *pair = &stage->pairs[stage->pair_count++];
    *pair = (WebotsPair){ .a = a,
                          .b = b,
                          .created = time,
                          .updated = time,
                          .body = { contact->body[0], contact->body[1] },
                          .properties = physics_contact_properties(contact) };
    for (int i = 0; i < 2; i++)
        pair->masses[i] = pair->body[i] >= 0 ? physics_body_mass(physics, pair->body[i]) : 0.0;
    return pair;
}

static void add_contact(SoundStage *stage, const Physics *physics, const PhysicsContact *contact, double time)
{
    WebotsPair *pair = pair_of(stage, physics, contact, time);
    double dt = time - pair->updated;
    if (dt > 0.0)
        pair->point_velocity = vec3_scale(vec3_sub(contact->point, pair->point), 1.0 / dt);
    pair->point = contact->point;
    Vec3 relative = vec3_sub(velocity_at(physics, pair->body[0], contact->point),
                             velocity_at(physics, pair->body[1], contact->point));
    set_energy(pair, 0.5 * (pair->masses[0] + pair->masses[1]) * vec3_length2(relative), dt);
    pair->updated = pair->touched = time;
    pair->is_touched = true;
    take_velocities(physics, pair);
}

static void finish_contact(const Physics *physics, WebotsPair *pair, double time)
{
    double dt = time - pair->updated;
    if (pair->is_touched || !(dt > 0.0))
        return;
    set_energy(pair, 0.0, dt);
    pair->point_velocity = VEC3_ZERO;
    pair->updated = time;
    take_velocities(physics, pair);
}

static void play(SoundStage *stage, const WebotsPair *pair, VoiceKind kind, int clip, double gain, double pitch)
{
    assert_debug(clip < stage->clip_count);
    if (!(gain > SOUND_GAIN_MIN))
        return;
    VoiceRequest *asked = stage_request(stage);
    *asked = (VoiceRequest){ .key = { (uint32_t)kind, pair->a, pair->b },
                             .clip = clip,
                             .is_once = true,
                             .gain = gain,
                             .pitch = pitch,
                             .position = pair->point,
                             .velocity = pair->point_velocity };
}

// Ends whatever the pair plays: it has one source alone.
static void stop(SoundStage *stage, const WebotsPair *pair)
{
    for (int i = 0; i < stage->voice_count; i++)
        if (stage->voices[i].key.kind <= VOICE_ROLL && stage->voices[i].key.a == pair->a
            && stage->voices[i].key.b == pair->b)
            stage->voices[i].shown.is_ending = true;
}

static bool is_playing(const SoundStage *stage, const WebotsPair *pair)
{
    for (int i = 0; i < stage->voice_count; i++) {
        const Voice *voice = &stage->voices[i];
        if (voice->key.kind <= VOICE_ROLL && voice->key.a == pair->a && voice->key.b == pair->b
            && !voice->shown.is_ending)
            return true;
    }
    return false;
}

static void slide_or_roll(SoundStage *stage, WebotsPair *pair, const int *clips)
{
    double relative = vec3_length(vec3_sub(pair->linear[1], pair->linear[0])),
           travel = vec3_length(pair->point_velocity);
    if (!(relative > 0.01 && 0.99 * travel < relative && relative < 1.01 * travel)) {
        stop(stage, pair);
        pair->type = TYPE_NONE;
        return;
    }
    Vec3 along = vec3_scale(pair->point_velocity, 1.0 / travel), spin = vec3_add(pair->angular[0], pair->angular[1]);
    double rolling = vec3_length(vec3_mad(spin, along, -vec3_dot(spin, along)));
    bool is_strong = pair->energy > 0.1, turns = rolling > 0.1;
    if (clips[2] >= 0 && is_strong && !turns) {
        double gain = sqrt(double_min(travel, 1.0));
        stop(stage, pair);
        play(stage, pair, VOICE_SLIDE, clips[2], gain, 0.8 + 0.4 * gain);
        pair->type = TYPE_SLIDE;
    } else if (clips[1] >= 0 && !is_strong && turns) {
        double gain = double_min(rolling / (5.0 * M_PI), 1.0);
        stop(stage, pair);
        play(stage, pair, VOICE_ROLL, clips[1], gain, 0.85 + 0.3 * gain);
        pair->type = TYPE_ROLL;
    }
}

static void update_source(SoundStage *stage, WebotsPair *pair)
{
    const int *clips = stage_contact_clips(stage, pair->properties);
    if (is_playing(stage, pair))
        pair->type = TYPE_NONE;
    if (clips[0] >= 0 && pair->energy > 1e-6 && fabs(pair->bend) > 1.0) {
        if (pair->type != TYPE_BUMP)
            stop(stage, pair);
        play(stage, pair, VOICE_BUMP, clips[0], double_min(sqrt(100.0 * pair->energy), 1.0), 1.0);
        pair->type = TYPE_BUMP;
        return;
    }
    if (pair->type != TYPE_BUMP)
        slide_or_roll(stage, pair, clips);
}

void sources_contacts_webots(SoundStage *stage, const Physics *physics, double time)
{
    int count, kept = 0;
    const PhysicsContact *contacts = physics_contacts(physics, &count);
    for (int i = 0; i < stage->pair_count; i++)
        stage->pairs[i].is_touched = false;
    for (int i = 0; i < count; i++)
        add_contact(stage, physics, &contacts[i], time);
    for (int i = 0; i < stage->pair_count; i++) {
        WebotsPair *pair = &stage->pairs[i];
        finish_contact(physics, pair, time);
        if (pair->touched + PAIR_MEMORY < time) {
            stop(stage, pair);
            continue;
        }
        update_source(stage, pair);
        stage->pairs[kept++] = *pair;
    }
    stage->pair_count = kept;
}
