// app.h - what the verbs of the program `talus` share. Every verb is a file of this folder that defines one AppCommand:
// its options as rows, from which parsing, --help, the manual page and shell completion are made. main.c lists them.
#ifndef TALUS_APP_APP_H
#define TALUS_APP_APP_H

#include "base/common.h"
#include "base/diag.h"
#include "base/limits.h"
#include "base/text.h"

typedef enum ExitCode {
    EXIT_OK = 0,
    EXIT_SIMULATION = 1,  // NaN, a controller's or plugin's failure, an output that cannot be written
    EXIT_USAGE = 2,
    EXIT_INPUT = 3,  // an input file is bad
    EXIT_TIMEOUT = 4,
    EXIT_INTERNAL = 5,
} ExitCode;

typedef enum AppOptionKind {
    OPTION_FLAG,      // bool
    OPTION_INT,       // int64_t
    OPTION_DOUBLE,    // double
    OPTION_STRING,    // const char *
    OPTION_OPTIONAL,  // const char *, "" when it stands without a value: --view or --view=8080
    OPTION_IGNORED,   // accepted for Webots users, does nothing
} AppOptionKind;

typedef struct AppOption {
    const char *name;  // without the dashes; "quiet|q" gives --quiet and -q
    AppOptionKind kind;
    size_t offset;  // of its member in the verb's options struct
    const char *
        value;  // what stands for the value in the help: "N", "FILE", "stop|freeze" (words are checked); NULL for flags
    const char *help;  // NULL: not shown
} AppOption;

typedef struct AppCommand {
    const char *name;
    const char *arguments;  // "FILE..." in the usage line
    const char *summary;    // one line for the list of verbs
    const char *details;    // a paragraph or more for --help, may be NULL
    const char *examples;   // lines for --help
    const AppOption *options;
    int option_count;
    int (*run)(const struct AppCommand *command, int argc, char **argv);  // argv[0] is the verb
    bool is_hidden;
} AppCommand;

// Parses argv into the struct at `options` (already holding the defaults). Plain arguments are gathered in order at the
// front of argv[1..], their number goes to *file_count. Returns -1 to go on, or the exit code to end with (after --help
// or a wrong option, which has been explained).
int app_parse(const AppCommand *command, int argc, char **argv, void *options, int *file_count);
int app_usage_error(const AppCommand *command, const char *format, ...) PRINTF_LIKE(2, 3);

// The limits of --untrusted and --limits, which every verb that reads worlds has. They bound the whole program from
// here on, a load being at work (base/budget.h). Returns -1 to go on, or the exit code after a mistake was explained.
struct BudgetOptions;
int app_take_limits(const AppCommand *command, bool is_untrusted, const char *changes, Limits *limits,
                    const struct BudgetOptions *budget);
#define APP_LIMITS_HELP "change limits of SECURITY.md: step_ms=100,nodes=5000"
#define APP_PLUGIN_TIMEOUT_HELP                                                                                        \
    "longest time that one call into the plugin may take, waiting for a processor aside (no limit otherwise)"

extern const AppCommand *const app_commands[];  // NULL-terminated
void app_write_help(const AppCommand *command, Text *out);
void app_write_overview(Text *out);

// Prints the text to standard output and frees it. Returns false when it could not be written (a closed pipe is fine).
bool app_print(Text *text);
// What became of a file that was made of another, as one JSON object: --json of convert and export.
void app_print_outcome(const char *from, const char *to, bool ok, const DiagSink *diags);
// What the program ends with: `code`, or an error when standard output could not be written (a full device).
int app_end_output(int code);

// info_body.c: the link tree of a body, or with `csv` ("links", "devices", "summary") a table of it.
bool info_is_body(const char *path);
int info_body(const char *path, const char *csv, const Limits *limits);

// render.c: the view into a file while the world runs, for ControlOptions.export_picture.
struct Sim;
struct Devices;
bool app_export_picture(struct Sim *sim, struct Devices *devices, const char *path, int quality);

extern const AppCommand command_run, command_view, command_render, command_check, command_info, command_convert,
    command_fetch, command_new, command_build, command_controller, command_sweep, command_doctor, command_manual,
    command_export, command_replay;

#endif
