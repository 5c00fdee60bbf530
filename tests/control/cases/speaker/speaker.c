// Speakers and what Microphones hear of them: what plays is known at once, ends when its time is over, by pitch and
// loop, and is stopped by name or all together. With --sound, tests/record/sound_test.sh hears what is played here:
// first 0.5 s on the middle one, then on two sides.
#include "check.h"

#include <webots/microphone.h>
#include <webots/speaker.h>

#include <stdlib.h>

enum { RATE = 44100 };

// A tone of 441 Hz and half the full level as a WAV file; of two channels the right one is silent.
static void write_tone(const char *path, double seconds, int channels)
{
    int count = (int)(seconds * RATE), bytes = 2 * channels * count;
    FILE *file = fopen(path, "wb");
    struct {
        char riff[4];
        int size;
        char wave[8];
        int length;
        short format, channels;
        int rate, pace;
        short frame, bits;
        char data[4];
        int bytes;
    } header = { { 'R', 'I', 'F', 'F' },
                 36 + bytes,
                 { 'W', 'A', 'V', 'E', 'f', 'm', 't', ' ' },
                 16,
                 1,
                 (short)channels,
                 RATE,
                 2 * channels * RATE,
                 (short)(2 * channels),
                 16,
                 { 'd', 'a', 't', 'a' },
                 bytes };
    if (!file || fwrite(&header, 1, 44, file) != 44)
        CHECK(!"tone");
    for (int i = 0; file && i < count; i++) {
        short frame[2] = { (short)(16383.5 * sin(2.0 * 3.14159265358979 * 441.0 * i / RATE)), 0 };
        fwrite(frame, 2, (size_t)channels, file);
    }
    if (file)
        fclose(file);
}

// Of a microphone's last reading, as a share of the full level.
static double loudness(WbDeviceTag microphone)
{
    const short *samples = wb_microphone_get_sample_data(microphone);
    int count = wb_microphone_get_sample_size(microphone) / (int)sizeof *samples;
    double sum = 0.0;
    for (int i = 0; i < count; i++)
        sum += samples[i] / 32767.0 * samples[i] / 32767.0;
    return count > 0 ? sqrt(sum / count) : 0.0;
}

int main(void)
{
    wb_robot_init();
    WbDeviceTag near_one = wb_robot_get_device("near"), far_one = wb_robot_get_device("far");
    WbDeviceTag middle = wb_robot_get_device("middle"), left = wb_robot_get_device("left"),
                right = wb_robot_get_device("right");
    write_tone("tone.wav", 0.5, 1);
    write_tone("sides.wav", 0.2, 2);
    CHECK_TEXT(wb_speaker_get_engine(middle), "pico");
    CHECK_TEXT(wb_speaker_get_language(middle), "en-US");
    CHECK(wb_speaker_set_engine(middle, "espeak") && !wb_speaker_set_engine(middle, "parrot"));
    CHECK_TEXT(wb_speaker_get_engine(middle), "espeak");
    CHECK(wb_speaker_set_language(middle, "de-DE") && !wb_speaker_set_language(middle, "x; rm")
          && !wb_speaker_set_language(middle, NULL));
    CHECK_TEXT(wb_speaker_get_language(middle), "de-DE");

    wb_microphone_enable(near_one, 48);
    wb_microphone_enable(far_one, 16);
    CHECK(wb_microphone_get_sampling_period(near_one) == 48 && wb_microphone_get_sample_size(near_one) == 0
          && !wb_microphone_get_sample_data(near_one));

    // 0.5 s at pitch 1 is over after 32 steps of 16 ms, not after 31.
    wb_speaker_play_sound(middle, middle, "tone.wav", 0.8, 1.0, 0.0, false);
    CHECK(wb_speaker_is_sound_playing(middle, "tone.wav") && wb_speaker_is_sound_playing(middle, NULL)
          && wb_speaker_is_sound_playing(middle, ""));
    CHECK(!wb_speaker_is_sound_playing(left, "tone.wav") && !wb_speaker_is_sound_playing(middle, "other.wav"));
    check_steps(31);
    CHECK(wb_speaker_is_sound_playing(middle, "tone.wav"));
    // The tone has 0.8 of half the full level: so near, and a quarter of it 4 m away. 30 steps had 10 readings of
    // three.
    CHECK(abs(wb_microphone_get_sample_size(near_one) - (int)(0.048 * RATE) * 2) <= 2);
    CHECK_NEAR(loudness(near_one), 0.4 * sqrt(0.5), 0.01);
    CHECK_NEAR(loudness(far_one), 0.1 * sqrt(0.5), 0.0025);
    check_steps(2);
    CHECK(!wb_speaker_is_sound_playing(middle, "tone.wav") && !wb_speaker_is_sound_playing(middle, NULL));
    check_steps(2);
    CHECK(loudness(far_one) == 0.0);
    wb_microphone_disable(near_one);
    CHECK(wb_microphone_get_sampling_period(near_one) == 0);

    // Twice as high is half as long; on two speakers each plays its channel.
    wb_speaker_play_sound(left, right, "sides.wav", 1.0, 2.0, 0.0, false);
    check_steps(5);
    CHECK(wb_speaker_is_sound_playing(left, "sides.wav") && wb_speaker_is_sound_playing(right, "sides.wav"));
    check_steps(4);
    CHECK(!wb_speaker_is_sound_playing(left, "sides.wav") && !wb_speaker_is_sound_playing(right, "sides.wav"));

    // A loop goes on until it is stopped; told again without the loop it ends by itself.
    wb_speaker_play_sound(left, left, "sides.wav", 0.0, 1.0, -1.0, true);
    check_steps(20);
    CHECK(wb_speaker_is_sound_playing(left, "sides.wav"));
    wb_speaker_stop(left, "tone.wav");
    CHECK(wb_speaker_is_sound_playing(left, "sides.wav"));
    wb_speaker_stop(left, "sides.wav");
    CHECK(!wb_speaker_is_sound_playing(left, "sides.wav"));
    check_steps(1);
    CHECK(!wb_speaker_is_sound_playing(left, NULL));
    wb_speaker_play_sound(left, left, "sides.wav", 0.0, 1.0, 0.0, true);
    check_steps(20);
    wb_speaker_play_sound(left, left, "sides.wav", 0.0, 1.0, 0.0, false);
    check_steps(14);
    CHECK(!wb_speaker_is_sound_playing(left, "sides.wav"));

    // Speech lasts for a while, with or without a program that speaks.
    CHECK(!wb_speaker_is_speaking(right));
    wb_speaker_speak(right, "<volume level='50'>one two three</volume>", 0.0);
    CHECK(wb_speaker_is_speaking(right) && wb_speaker_is_sound_playing(right, NULL)
          && !wb_speaker_is_sound_playing(right, "tone.wav"));
    check_steps(2);
    CHECK(wb_speaker_is_speaking(right));
    wb_speaker_stop(right, NULL);
    CHECK(!wb_speaker_is_speaking(right));
    check_steps(2);
    CHECK(!wb_speaker_is_speaking(right));

    // What makes no sense is said and changes nothing; a file that is not there does not play.
    wb_speaker_play_sound(middle, middle, NULL, 1, 1, 0, false);
    wb_speaker_play_sound(middle, middle, "tone.wav", NAN, 1, 0, false);
    wb_speaker_play_sound(middle, middle, "tone.wav", 1, -1, 0, false);
    wb_speaker_speak(middle, NULL, 1);
    CHECK(!wb_speaker_is_sound_playing(middle, NULL));
    wb_speaker_play_sound(middle, middle, "missing.wav", 1, 1, 0, true);
    check_steps(2);
    CHECK(!wb_speaker_is_sound_playing(middle, "missing.wav"));
    remove("tone.wav");
    remove("sides.wav");
    return check_done();
}
