// replay.c - `talus replay`: a recording in the browser, with the page that shows running worlds.
#include "app/app.h"

#include "base/file.h"
#include "base/limits.h"
#include "record/recording.h"
#include "viewer/viewer.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

typedef struct ReplayOptions {
    int64_t port;
    const char *address, *ghost, *embed;
    bool quiet;
} ReplayOptions;

static volatile sig_atomic_t is_over;
static void on_signal(int number) { is_over = number; }
static bool was_interrupted(void) { return is_over != 0; }

// Says what is wrong with the file before a browser is asked to open it. False when nothing of it can be used.
static bool look_at(const char *path, bool is_quiet, DiagSink *diags)
{
    Recording *recording = recording_open(path, NULL, diags);
    double first = 0.0, last = 0.0;
    if (recording)
        recording_times(recording, &first, &last);
    if (recording && !is_quiet)
        printf("%s: %g s to %g s\n", path, first, last);
    recording_close(recording);
    return recording != NULL;
}

static int serve(const ReplayOptions *options, const FileData *file, DiagSink *diags)
{
    assert_debug(file->data || file->size == 0);
    ViewerOptions viewer_options = { .port = (int)options->port,
                                     .address = options->address,
                                     .recording = file->data,
                                     .recording_size = file->size,
                                     .ghost = options->ghost,
                                     .embed = options->embed,
                                     .is_interrupted = was_interrupted };
    Viewer *viewer = viewer_start(&viewer_options, diags);
    if (!viewer)
        return EXIT_SIMULATION;
    printf("open %s (Ctrl-C ends it)\n", viewer_url(viewer));
    fflush(stdout);
    viewer_serve(viewer, was_interrupted);
    viewer_stop(viewer);
    return EXIT_OK;
}

// The file is looked at before a port is opened for it, and held in memory whole while browsers ask for parts of it.
static int run_replay(const AppCommand *command, int argc, char **argv)
{
    ReplayOptions options = { 0 };
    int files;
    int status = app_parse(command, argc, argv, &options, &files);
    if (status >= 0)
        return status;
    if (files != 1)
        return app_usage_error(command, "give one recording");
    if (options.port < 0 || options.port > 65535)
        return app_usage_error(command, "--port wants 1 to 65535");
    if (options.address && !viewer_address_is_sound(options.address))
        return app_usage_error(command, "--address wants an IP number of this machine, as 192.168.1.7 or ::, not '%s'",
                               options.address);
    if (options.embed && !viewer_origins_are_sound(options.embed))
        return app_usage_error(command, "--embed " VIEWER_ORIGINS_USAGE, options.embed);
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND | SA_RESTART };
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    DiagSink *diags = diag_create();
    FileData file = { 0 };
    int code = EXIT_INPUT;
    if (look_at(argv[1], options.quiet, diags)
        && file_read(argv[1], RECORDING_FILE_MAX, &file, diags, (SourcePos){ 0 })) {
        code = serve(&options, &file, diags);
        file_release(&file);
    }
    diag_print(diags, stderr, 0, options.quiet ? DIAG_ERROR : DIAG_WARNING);
    diag_destroy(diags);
    return code;
}

static const AppOption rows[] = {
    { "port", OPTION_INT, offsetof(ReplayOptions, port), "N", "TCP port (a free one)" },
    { "address", OPTION_STRING, offsetof(ReplayOptions, address), "IP",
      "address to listen at (127.0.0.1, which nobody else reaches)" },
    { "ghost", OPTION_STRING, offsetof(ReplayOptions, ghost), "RUN.talus", VIEWER_GHOST_HELP },
    { "embed", OPTION_STRING, offsetof(ReplayOptions, embed), "ORIGIN,...", VIEWER_EMBED_HELP },
    { "quiet|q", OPTION_FLAG, offsetof(ReplayOptions, quiet), NULL, "print the address and errors alone" },
};
const AppCommand command_replay = {
    .name = "replay",
    .arguments = "RUN.talus",
    .summary = "look at a recording in a browser",
    .details = "Prints an address that only you can open, and serves the recording there until Ctrl-C.\n"
               "`talus export RUN.talus RUN.html` makes a page that needs no server.",
    .examples = "talus run world.wbt --until 10 --record run.talus && talus replay run.talus\n"
                "talus replay run.talus --ghost other.talus   (both at once, the second translucent)",
    .options = rows,
    .option_count = COUNT_OF(rows),
    .run = run_replay,
};
