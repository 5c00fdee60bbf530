/* controllers.h - the programs of a world's robots, started from a program that has the world in its own process. */
#ifndef TALUS_CONTROLLERS_H
#define TALUS_CONTROLLERS_H

#include <talus/talus.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All zero means the defaults. */
typedef struct TalusControllerOptions {
    size_t size;           /* as of TalusOptions */
    int timeout_ms;        /* one that keeps the world waiting longer is ended; 0: never */
    bool is_quiet;         /* what they print is dropped, else it goes to standard output behind "[robot] " */
    bool stops_on_failure; /* one that crashes or ends with an error fails the world */
} TalusControllerOptions;
static inline TalusControllerOptions talus_controller_options_defaults(void)
{
    TalusControllerOptions options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    return options;
}

/* Programs that the world names run from its next step on, in lock step with it. True also when it names none. */
TALUS_API bool talus_controllers_start(TalusWorld *world, const TalusControllerOptions *options);
TALUS_API bool talus_controllers_stop(TalusWorld *world); /* tells them to quit and waits for it, as talus_free does */
TALUS_API int talus_controllers_running(const TalusWorld *world);
TALUS_API int talus_controllers_quit_status(const TalusWorld *world); /* after a supervisor ended the run, else -1 */

#ifdef __cplusplus
}
#endif

#endif
