/* talus.h - the Talus library for programs that embed it: load, inspect, convert, simulate.
 * C and C++. Handles are opaque; several worlds can live in one process, one thread at a time on each.
 * Functions that can fail return false or NULL and leave their reasons in the world's diagnostics. */
#ifndef TALUS_TALUS_H
#define TALUS_TALUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TALUS_VERSION "0.1.0"

const char *talus_version(void);

#ifdef __cplusplus
}
#endif

#endif
