// movie.h - a run as a movie: pictures at an even pace and the sound beside them, handed to talus-movie, which encodes
// them in a process of its own (movie/movie.h says how it is told). Belongs here: which moment is shown when. Not here:
// drawing, codecs.
#ifndef TALUS_RECORD_MOVIE_H
#define TALUS_RECORD_MOVIE_H

#include "record/soundtrack.h"
#include "sim/sim.h"

typedef struct MovieRecorder MovieRecorder;

typedef struct MovieOptions {
    const char *path;  // .webm or .mp4; stands there only when the movie is whole
    int width, height;
    double rate;        // pictures a second; 0: 30
    double speed;       // simulated seconds in one of the movie; 0: 1
    int quality;        // 1 to 100; 0: 75
    SoundTrack *sound;  // NULL: silent. A movie of another speed than 1 is silent too
    // Draws the world as it is: width * height pixels of red, green, blue, alpha, rows from the top, valid until the
    // next call. NULL when it cannot (reported).
    const uint8_t *(*draw)(void *context);
    void *context;
    bool is_driven;   // not hooked into the run: whoever opened it calls movie_show
    int driven_rate;  // samples a second that it gives to movie_hear; 0: silent
} MovieOptions;

typedef enum MovieState { MOVIE_RECORDING, MOVIE_ENCODING, MOVIE_DONE, MOVIE_FAILED } MovieState;

bool movie_has_format(const char *path);                  // whether its ending is one of a movie
bool movie_is_available(char *program, size_t capacity);  // whether talus-movie is there, and where

// Shows the first picture and hooks into the run. NULL when it cannot begin (reported).
MovieRecorder *movie_open(Sim *sim, const MovieOptions *options);
void movie_show(MovieRecorder *movie,
                double elapsed);  // of a driven one: draws the pictures due up to then, in s since its start
void movie_hear(MovieRecorder *movie, const int16_t *frames,
                int frame_count);              // of a driven one: the sound that comes next, left and right
void movie_stop(MovieRecorder *movie);         // no more pictures; the rest is encoded while the run goes on
MovieState movie_state(MovieRecorder *movie);  // never waits
bool movie_close(MovieRecorder *movie);    // stops and waits for the end; false when it failed (reported). NULL is fine
void movie_discard(MovieRecorder *movie);  // leaves no file; NULL is fine

#endif
