/* record.h - a run as a file, from a program that has the world in its own process: a recording, or a page that plays
 * it. */
#ifndef TALUS_RECORD_H
#define TALUS_RECORD_H

#include <talus/talus.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All zero means the defaults. */
typedef struct TalusRecordOptions {
    size_t size;        /* as of TalusOptions */
    int every;          /* a frame after every N-th step; 0: about 60 a second of simulated time */
    bool with_contacts; /* contacts with their forces, and what collides or sleeps */
} TalusRecordOptions;
static inline TalusRecordOptions talus_record_options_defaults(void)
{
    TalusRecordOptions options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    return options;
}

/* Records what the world does from now on, by the ending of the path: .talus is written while it runs; .html (one page
   that plays it, without a network), .glb, .csv and .mcap when it is stopped. One recording of a world at a time. The
   run is the same with it. */
TALUS_API bool talus_record_start(TalusWorld *world, const char *path, const TalusRecordOptions *options);
TALUS_API bool talus_record_stop(
    TalusWorld *world); /* as talus_free does; false: it could not be written, or none runs */

#ifdef __cplusplus
}
#endif

#endif
