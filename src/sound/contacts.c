// contacts.c - the sound of touching: a hit once when a pair of shapes meets, then sliding or rolling for as long as it
// lasts.
#include "sound/sound_internal.h"

#include <math.h>

// What the points of one pair do together: the loudest of each.
typedef struct PairMotion {
    const PhysicsContact *first;
    Vec3 point;
    double impact, slip, spin, roll;
} PairMotion;

static Vec3 point_velocity(const Physics *physics, const PhysicsContact *contact)
{
    int solid = contact->body[0] >= 0 ? physics_contact_solid(physics, contact, 0)
                                      : physics_contact_solid(physics, contact, 1);
    return solid >= 0 ? physics_solid_point_velocity(physics, solid, contact->point) : VEC3_ZERO;
}

// Below this spin rolling stays under SOUND_GAIN_MIN.
#define SPIN_HEARD double_max(SOUND_SPIN_MIN, SOUND_GAIN_MIN * 5.0 * M_PI)

static void add_point(const Physics *physics, const PhysicsContact *contacts, int index, PairMotion *pair)
{
    assert(index >= 0);
    PhysicsContactMotion motion;
    if (!physics_contact_moves(physics, index, SOUND_SLIP_MIN, SPIN_HEARD, &motion))
        return;
    pair->impact = double_max(motion.impact_energy, pair->impact);
    pair->slip = double_max(motion.sliding_speed, pair->slip);
    pair->spin = double_max(motion.rolling_spin, pair->spin);
    pair->roll = double_max(motion.rolling_speed, pair->roll);
    pair->point = contacts[index].point;
}

static bool was_just_hit(const SoundStage *stage, VoiceKey key, double time)
{
    for (int i = 0; i < stage->voice_count; i++) {
        const Voice *voice = &stage->voices[i];
        if (voice->key.kind == key.kind && voice->key.a == key.a && voice->key.b == key.b
            && time - voice->started < SOUND_BUMP_PAUSE)
            return true;
    }
    return false;
}

// A voice where the pair touches; what is asked for has all but its place.
static void request(SoundStage *stage, const Physics *physics, const PairMotion *pair, VoiceRequest voice)
{
    assert_debug(voice.clip < stage->clip_count);
    if (voice.clip < 0 || !(voice.gain > SOUND_GAIN_MIN))
        return;
    voice.loops = !voice.is_once;
    voice.position = pair->point;
    voice.velocity = point_velocity(physics, pair->first);
    *stage_request(stage) = voice;
}

static void sound_pair(SoundStage *stage, const Physics *physics, const PairMotion *pair, double time)
{
    const int *clips = stage_contact_clips(stage, physics_contact_properties(pair->first));
    uint32_t a = (uint32_t)pair->first->shape[0], b = (uint32_t)pair->first->shape[1];
    VoiceKey bump = { VOICE_BUMP, a, b };
    if (pair->impact > 0.0 && !was_just_hit(stage, bump, time))
        request(stage, physics, pair,
                (VoiceRequest){ .key = bump,
                                .clip = clips[0],
                                .gain = double_min(10.0 * sqrt(pair->impact), 1.0),
                                .pitch = 1.0,
                                .is_once = true });
    // What slips more than it rolls slides.
    if (pair->slip > SOUND_SLIP_MIN && pair->slip >= pair->roll) {
        double gain = sqrt(double_min(pair->slip, 1.0));
        request(
            stage, physics, pair,
            (VoiceRequest){ .key = { VOICE_SLIDE, a, b }, .clip = clips[2], .gain = gain, .pitch = 0.8 + 0.4 * gain });
    } else if (pair->spin > SOUND_SPIN_MIN && pair->roll > SOUND_SLIP_MIN) {
        double gain = double_min(pair->spin / (5.0 * M_PI), 1.0);
        request(
            stage, physics, pair,
            (VoiceRequest){ .key = { VOICE_ROLL, a, b }, .clip = clips[1], .gain = gain, .pitch = 0.85 + 0.3 * gain });
    }
}

// Points of one pair stand together in the list, and are new and asleep together. All of them count where a pair meets;
// how it goes on sliding or rolling is seen at the first. A glance is for pairs that meet.
void sources_contacts(SoundStage *stage, const Physics *physics, double time, bool is_glance)
{
    int count;
    const PhysicsContact *contacts = physics_contacts(physics, &count);
    for (int i = 0, end; i < count; i = end) {
        const PhysicsContact *first = &contacts[i];
        PairMotion pair = { .first = first };
        for (end = i;
             end < count && contacts[end].shape[0] == first->shape[0] && contacts[end].shape[1] == first->shape[1];
             end++)
            if (!first->is_asleep && (first->is_new || (end == i && !is_glance)))
                add_point(physics, contacts, end, &pair);
        if (pair.impact > 0.0 || pair.slip > SOUND_SLIP_MIN || pair.spin > SOUND_SPIN_MIN)
            sound_pair(stage, physics, &pair, time);
    }
}
