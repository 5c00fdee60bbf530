/* utils/system.h - small helpers of the system. */
#ifndef WEBOTS_UTILS_SYSTEM_H
#define WEBOTS_UTILS_SYSTEM_H

#include <webots/types.h>

#ifdef __cplusplus
extern "C" {
#endif

const char *wbu_system_getenv(const char *variable);
const char *wbu_system_short_path(const char *path);
const char *wbu_system_tmpdir(void);
const char *wbu_system_webots_instance_path(bool refresh);

#ifdef __cplusplus
}
#endif

#endif
