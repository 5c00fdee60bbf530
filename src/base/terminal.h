// terminal.h - what a terminal may be given: colours, and lines that are written over.
// A stream has colours when it is a terminal and neither NO_COLOR nor TERM=dumb says otherwise; CLICOLOR_FORCE gives
// them to any.
#ifndef TALUS_BASE_TERMINAL_H
#define TALUS_BASE_TERMINAL_H

#include "base/common.h"

#include <stdio.h>

typedef enum TerminalColor {
    TERMINAL_PLAIN,
    TERMINAL_BOLD,
    TERMINAL_RED,
    TERMINAL_YELLOW,
    TERMINAL_CYAN,
    TERMINAL_GREEN
} TerminalColor;

bool terminal_has_color(FILE *out);
// The bytes that switch to a colour, "" for a stream without.
const char *terminal_color(FILE *out, TerminalColor color);

// One line that tells how far a long job is, written over on a terminal and now and then otherwise. { 0 } and `start`
// begin it.
typedef struct Progress {
    bool is_quiet, is_terminal, is_written;
    double started, shown;  // s on the clock
} Progress;

void progress_start(Progress *progress, bool is_quiet);
bool progress_is_due(const Progress *progress);  // whether it is time to show it again
// Shows it now: the text, and how long it will take when `done` of `total` (any unit; 0: unknown) is made.
void progress_show(Progress *progress, double done, double total, const char *format, ...) PRINTF_LIKE(4, 5);
void progress_clear(Progress *progress);  // makes room for other lines; also at the end

// A time as a person says it: "850 ms", "3.2 s", "4 min 10 s", "2 h 5 min". Returns `text`.
const char *terminal_duration(double seconds, char text[static 32]);

#endif
