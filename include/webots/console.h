/* console.h - prints to the console of the simulator. */
#ifndef WEBOTS_CONSOLE_H
#define WEBOTS_CONSOLE_H

#include <webots/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WB_STDOUT 1
#define WB_STDERR 2
void wb_console_print(const char *text, int stream);

#ifdef __cplusplus
}
#endif

#endif
