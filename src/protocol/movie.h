// movie.h - what talus-movie (movie/) is told on its standard input. One header line, then records until 'E':
//   "talus-movie 1 WIDTH HEIGHT RATE_NUMERATOR RATE_DENOMINATOR SOUND_RATE QUALITY PATH\n"
//   'V' and WIDTH * HEIGHT pixels of red, green, blue, alpha: the next picture, rows from the top
//   'R': the last picture once more
//   'A', a 32-bit count and so many frames of left and right as 16-bit numbers: the next samples (SOUND_RATE 0: none)
//   'E': the end. Without it the movie was cut short, and nothing is left of it.
// QUALITY is 1 to 100. Numbers are little endian. On failure it says why in one line on standard error and ends with
// status 1.
#ifndef TALUS_PROTOCOL_MOVIE_H
#define TALUS_PROTOCOL_MOVIE_H

#define MOVIE_HEADER_FORMAT "talus-movie 1 %d %d %d %d %d %d %s\n"
enum { MOVIE_SIDE_MAX = 8192, MOVIE_PATH_MAX = 4096 };

#endif
