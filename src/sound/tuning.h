// tuning.h - the numbers of the sound stage: value, unit, why, and the test that pins it.
#ifndef TALUS_SOUND_TUNING_H
#define TALUS_SOUND_TUNING_H

// Voices at once. Beyond some thirty a listener hears no more of them; keeps mixing bounded. sound.stage voices
#define SOUND_VOICES_MAX 32
// s. A pair that flickers between touching and not would rattle; two hits closer than this are heard as one.
// sound.stage bump
#define SOUND_BUMP_PAUSE 0.05
// Below this gain (-26 dB) nothing begins: resting contacts tremble. Webots' figure. sound.stage quiet
#define SOUND_GAIN_MIN 0.05
// m/s, of slip: below, a contact rests. Webots' figure. sound.stage quiet
#define SOUND_SLIP_MIN 0.01
// rad/s, of rolling spin. Webots' figure. sound.stage quiet
#define SOUND_SPIN_MIN 0.1
// Share of maxVelocity from which a motor is heard. Webots' figure. sound.stage motor
#define SOUND_MOTOR_MIN 0.1
// s in which gain and pitch follow what is asked: short enough to follow, long enough not to click. sound.stage clicks
#define SOUND_RAMP 0.015
// s of cross-fade where the end of a clip meets its beginning. sound.stage clicks
#define SOUND_LOOP_FADE 0.02
// s of fade at the very end of a clip that plays once. sound.stage clicks
#define SOUND_END_FADE 0.004
// m/s, in air at 20 degrees; for Doppler's shift. sound.stage doppler
#define SOUND_SPEED 343.3
// Doppler's factor stays within 1 / max and max: a teleport is no supersonic flight. sound.stage doppler
#define SOUND_DOPPLER_MAX 2.0

#endif
