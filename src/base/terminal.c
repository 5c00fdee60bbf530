// terminal.c - colours, the progress line, times in words.
#include "base/terminal.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SHOW_SECONDS 0.1   // between two lines on a terminal
#define SAY_SECONDS 10.0   // between two lines in a file
#define FIRST_SECONDS 0.5  // a job shorter than this shows no line

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && *value;
}

bool terminal_has_color(FILE *out)
{
    const char *terminal = getenv("TERM"), *force = getenv("CLICOLOR_FORCE");
    if (is_set("NO_COLOR"))
        return false;
    if (force && *force && strcmp(force, "0") != 0)
        return true;
    return isatty(fileno(out)) && terminal && strcmp(terminal, "dumb") != 0;
}

const char *terminal_color(FILE *out, TerminalColor color)
{
    static const char *const codes[] = { "\033[0m", "\033[1m", "\033[1;31m", "\033[1;33m", "\033[36m", "\033[32m" };
    assert(color >= 0 && color < COUNT_OF(codes));
    return terminal_has_color(out) ? codes[color] : "";
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

const char *terminal_duration(double seconds, char text[static 32])
{
    long long whole = seconds < 1e15 ? llround(fmax(seconds, 0.0)) : 0;
    if (!(seconds < 1e15))
        snprintf(text, 32, "for ever");
    else if (seconds < 1.0)
        snprintf(text, 32, "%.0f ms", 1000.0 * fmax(seconds, 0.0));
    else if (seconds < 60.0)
        snprintf(text, 32, "%.*f s", seconds < 10.0 ? 1 : 0, seconds);
    else if (whole < 3600)
        snprintf(text, 32, "%lld min %lld s", whole / 60, whole % 60);
    else
        snprintf(text, 32, "%lld h %lld min", whole / 3600, whole % 3600 / 60);
    return text;
}

void progress_start(Progress *progress, bool is_quiet)
{
    *progress = (Progress){ .is_quiet = is_quiet, .is_terminal = isatty(STDERR_FILENO), .started = now() };
    progress->shown = progress->started + (progress->is_terminal ? FIRST_SECONDS - SHOW_SECONDS : 0.0);
}

bool progress_is_due(const Progress *progress)
{
    return !progress->is_quiet && now() - progress->shown >= (progress->is_terminal ? SHOW_SECONDS : SAY_SECONDS);
}

void progress_show(Progress *progress, double done, double total, const char *format, ...)
{
    if (progress->is_quiet)
        return;
    progress->shown = now();
    char text[256], left[32];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s%s", progress->is_terminal ? "\r\033[K" : "", text);
    if (total > 0.0 && done > 0.0 && total < 1e15)
        fprintf(stderr, ", %.0f %%, %s left", floor(100.0 * fmin(done / total, 1.0)),
                terminal_duration((progress->shown - progress->started) * fmax(total / done - 1.0, 0.0), left));
    fputs(progress->is_terminal ? "" : "\n", stderr);
    fflush(stderr);
    progress->is_written = progress->is_terminal;
}

void progress_clear(Progress *progress)
{
    if (progress->is_written)
        fputs("\r\033[K", stderr);
    progress->is_written = false;
}
