/* utils/string.h - small helpers for text. */
#ifndef WEBOTS_UTILS_STRING_H
#define WEBOTS_UTILS_STRING_H

#include <webots/types.h>

#ifdef __cplusplus
extern "C" {
#endif

char *wbu_string_strsep(char **stringp, const char *delim);
char *wbu_string_replace(char *value, char *before, char *after);

#ifdef __cplusplus
}
#endif

#endif
