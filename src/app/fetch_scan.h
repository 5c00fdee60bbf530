// fetch_scan.h - which files a file names: the text of worlds, PROTOs, OBJ, MTL, DAE and glTF files searched for URLs.
// Nothing is executed: what a PROTO template would put together at run time is not seen.
#ifndef TALUS_APP_FETCH_SCAN_H
#define TALUS_APP_FETCH_SCAN_H

#include "base/common.h"

// Calls `found` for each name, in order; names may repeat. `path` tells the kind of file by its ending.
typedef void (*FetchFound)(const char *name, void *context);
void fetch_scan(const char *path, const char *text, size_t size, FetchFound found, void *context);
// "R2023b" of a first line "#VRML_SIM R2023b utf8"; "" when it has none.
void fetch_scan_release(const char *text, size_t size, char release[24]);

#endif
