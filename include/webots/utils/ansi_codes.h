/* utils/ansi_codes.h - colours and styles of a terminal. */
#ifndef WEBOTS_UTILS_ANSI_CODES_H
#define WEBOTS_UTILS_ANSI_CODES_H

#define ANSI_RESET "\x1b[0m"
#define ANSI_BOLD "\x1b[1m"
#define ANSI_UNDERLINE "\x1b[4m"
#define ANSI_BLACK_FOREGROUND "\x1b[30m"
#define ANSI_RED_FOREGROUND "\x1b[31m"
#define ANSI_GREEN_FOREGROUND "\x1b[32m"
#define ANSI_YELLOW_FOREGROUND "\x1b[33m"
#define ANSI_BLUE_FOREGROUND "\x1b[34m"
#define ANSI_MAGENTA_FOREGROUND "\x1b[35m"
#define ANSI_CYAN_FOREGROUND "\x1b[36m"
#define ANSI_WHITE_FOREGROUND "\x1b[37m"
#define ANSI_BLACK_BACKGROUND "\x1b[40m"
#define ANSI_RED_BACKGROUND "\x1b[41m"
#define ANSI_GREEN_BACKGROUND "\x1b[42m"
#define ANSI_YELLOW_BACKGROUND "\x1b[43m"
#define ANSI_BLUE_BACKGROUND "\x1b[44m"
#define ANSI_MAGENTA_BACKGROUND "\x1b[45m"
#define ANSI_CYAN_BACKGROUND "\x1b[46m"
#define ANSI_WHITE_BACKGROUND "\x1b[47m"
#define ANSI_CLEAR_SCREEN "\x1b[2J"
#define ANSI_PRINTF_IN_RED(...) (printf(ANSI_RED_FOREGROUND), printf(__VA_ARGS__), printf(ANSI_RESET))
#define ANSI_PRINTF_IN_GREEN(...) (printf(ANSI_GREEN_FOREGROUND), printf(__VA_ARGS__), printf(ANSI_RESET))
#define ANSI_PRINTF_IN_BLUE(...) (printf(ANSI_BLUE_FOREGROUND), printf(__VA_ARGS__), printf(ANSI_RESET))

#endif
