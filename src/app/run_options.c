// run_options.c - what `talus run` and `talus view` may be asked for: their options as rows, and what options say about
// each other.
#include "app/run.h"

#include "record/movie.h"
#include "viewer/viewer.h"

#include <math.h>
#include <string.h>

#define ROW(name, kind, member, value, help)                                                                           \
    {                                                                                                                  \
        name, kind, offsetof(RunOptions, member), value, help                                                          \
    }
static const AppOption rows[] = {
    ROW("steps", OPTION_INT, steps, "N", "stop after N steps"),
    ROW("until", OPTION_DOUBLE, until, "SECONDS", "stop at this simulated time"),
    ROW("timeout", OPTION_DOUBLE, timeout, "SECONDS", "stop after this time on the clock, with exit code 4"),
    ROW("seed", OPTION_INT, seed, "N", "seed of all random numbers (WorldInfo.randomSeed otherwise)"),
    ROW("realtime", OPTION_FLAG, realtime, NULL, "no faster than real time"),
    ROW("hash", OPTION_FLAG, hash, NULL, "print the hash of the final state"),
    ROW("record", OPTION_STRING, record, "FILE",
        "keep the run: FILE.talus (for `talus replay` and `talus export`), .html, .glb, .mcap, .mp4, .webm; any other name, or - for standard output: a CSV table of poses, velocities and joint positions"),
    ROW("columns", OPTION_STRING, columns, "GLOB", "columns of the table, e.g. 'ROBOT.*,*.position'"),
    ROW("every", OPTION_INT, every, "N",
        "record only every N-th step (otherwise every one in a table, about 60 a second in a recording)"),
    ROW("record-contacts", OPTION_FLAG, record_contacts, NULL, "keep contacts with their forces too"),
    ROW("record-values", OPTION_STRING, record_values, "GLOB",
        "keep readings of these devices too, as ROBOT/DEVICE, e.g. 'e-puck/ps*'"),
    ROW("record-silently", OPTION_FLAG, record_silently, NULL, "keep no sounds"),
    ROW("sound", OPTION_STRING, sound, "FILE.wav",
        "write what is heard at the Viewpoint: contacts, motors, Speakers; webots or webots,FILE.wav: contacts by Webots' rule"),
    ROW("sound-law", OPTION_STRING, sound_law, "talus|webots",
        "how contacts sound: mended (default), or by Webots' rule to the letter"),
    ROW("movie", OPTION_STRING, movie, "FILE", "film the run with its sound: FILE.webm or FILE.mp4"),
    ROW("movie-size", OPTION_STRING, movie_size, "WxH", "pixels of the movie (1280x720)"),
    ROW("movie-rate", OPTION_DOUBLE, movie_rate, "N", "pictures a second of the movie (30)"),
    ROW("movie-speed", OPTION_DOUBLE, movie_speed, "X",
        "simulated seconds in one second of the movie (1; others are silent)"),
    ROW("movie-camera", OPTION_STRING, movie_camera, "NAME", "film through this Camera instead of the Viewpoint"),
    ROW("save", OPTION_STRING, save, "FILE.wbt", "save the world as it is at the end"),
    ROW("snapshot", OPTION_STRING, snapshot, "FILE", "write the exact state at the end"),
    ROW("from", OPTION_STRING, from, "FILE", "start from such a state"),
    ROW("nan", OPTION_STRING, nan, "stop|freeze", "what to do when a body's state is not finite any more"),
    ROW("stepper", OPTION_STRING, stepper, "NAME", "solver: talus (default), ode-exact, ode-quick"),
    ROW("threads", OPTION_INT, threads, "N", "threads to use; results do not depend on it"),
    ROW("no-controllers", OPTION_FLAG, no_controllers, NULL, "start no controllers"),
    ROW("controller", OPTION_STRING, controller, "NAME",
        "program of the robots that name none, such as a .body; in controllers/NAME beside the file"),
    ROW("controller-timeout", OPTION_INT, controller_timeout, "MS",
        "end a controller that keeps the world waiting this long"),
    ROW("stop-on-controller-failure", OPTION_FLAG, stop_on_failure, NULL,
        "a controller that crashes, fails or is missing ends the run with exit code 1"),
    ROW("port", OPTION_INT, port, "N",
        "TCP port on this machine for <extern> controllers; 1234 or the next free one when there are any"),
    ROW("controller-token", OPTION_STRING, controller_token, "TEXT",
        "let controllers of other users and machines connect that show it (TALUS_TOKEN)"),
    ROW("input", OPTION_STRING, input, "FILE",
        "keys, mouse and joystick as a file of timed events has them (docs/controllers.md), or the acts that --log wrote"),
    ROW("view", OPTION_OPTIONAL, view, "PORT",
        "show the run in a browser: prints the link to open (docs/viewer.md); a free port unless one is given"),
    ROW("address", OPTION_STRING, address, "IP",
        "listen for browsers at this address of the machine, so that others reach it (127.0.0.1 otherwise)"),
    ROW("ghost", OPTION_STRING, ghost, "RUN.talus", "with a view: " VIEWER_GHOST_HELP),
    ROW("embed", OPTION_STRING, embed, "ORIGIN,...", "with a view: " VIEWER_EMBED_HELP),
    ROW("play", OPTION_FLAG, play, NULL, "with `talus view`: start running instead of paused"),
    ROW("log", OPTION_STRING, log, "FILE",
        "write down what people do in the browser; --input FILE repeats it, to the last bit"),
    ROW("no-plugin", OPTION_FLAG, no_plugin, NULL, "load no physics plugin"),
    ROW("plugin-timeout", OPTION_INT, plugin_timeout, "MS", APP_PLUGIN_TIMEOUT_HELP),
    ROW("crash-snapshot", OPTION_STRING, crash_snapshot, "FILE",
        "where the last good state goes when the plugin fails (WORLD.crash.snap otherwise)"),
    ROW("explain-contacts", OPTION_FLAG, explain_contacts, NULL,
        "print the contacts at the end and which ContactProperties they got"),
    ROW("explain-solver", OPTION_FLAG, explain_solver, NULL,
        "print at the end how the last step was solved, island by island, and what all steps had trouble with"),
    ROW("strict", OPTION_FLAG, strict, NULL,
        "a file with errors in it ends with exit code 3, also when what could be read was simulated to the end"),
    ROW("untrusted", OPTION_FLAG, untrusted, NULL,
        "files of unknown origin: lower limits, and no code that they name is run"),
    ROW("limits", OPTION_STRING, limit_changes, "NAME=N,...", APP_LIMITS_HELP),
    ROW("quiet|q", OPTION_FLAG, quiet, NULL, "print nothing but errors and what was asked for"),
    ROW("json", OPTION_FLAG, json, NULL, "print the summary as one JSON object"),
    ROW("mode", OPTION_STRING, mode, "fast|realtime|run", "as in Webots"),
    ROW("batch|no-rendering|minimize|stdout|stderr|fullscreen", OPTION_IGNORED, quiet, NULL, NULL),
};

// Standard output is a table then, and nothing else goes there.
bool run_records_table(const RunOptions *options) { return options->record && !outputs_records(options->record); }
bool run_records_to_output(const RunOptions *options) { return options->record && !strcmp(options->record, "-"); }

bool run_is_realtime(const RunOptions *options) { return options->realtime || !strcmp(options->mode, "realtime"); }

static bool stepper_is_known(const char *name)
{
    assert_debug(name && *physics_stepper_names());
    for (const char *const *known = physics_stepper_names(); *known; known++)
        if (!strcmp(*known, name))
            return true;
    return false;
}

static bool is_port(const char *text)
{
    int64_t port;
    return !*text || (text_to_int(text, &port) && port >= 0 && port <= 65535);
}

// A recording that is named as a movie is one; the law of sounds may stand before its file.
static void settle_outputs(RunOptions *options)
{
    assert_debug(!options->sound_is_law);  // it is settled once
    if (options->record && movie_has_format(options->record) && !options->movie) {
        options->movie = options->record;
        options->record = NULL;
    }
    static const char *const laws[] = { "webots", "talus" };
    for (int i = 0; i < COUNT_OF(laws) && options->sound; i++) {
        size_t length = strlen(laws[i]);
        if (strncmp(options->sound, laws[i], length) != 0 || (options->sound[length] && options->sound[length] != ','))
            continue;
        options->sound_law = laws[i];
        options->sound_is_law = !options->sound[length];
        options->sound = options->sound_is_law ? NULL : options->sound + length + 1;
    }
}

// Checks of the options, in the order in which a user would mend them. -1: nothing is wrong; else the exit code, having
// explained it.

static int check_length(const AppCommand *command, const RunOptions *options)
{
    if (options->steps < 0 && options->steps != NO_STEPS)
        return app_usage_error(command, "--steps wants 0 or more");
    if (options->until < 0.0)
        return app_usage_error(command, "--until wants 0 or more seconds");
    return -1;
}

static int check_recording(const AppCommand *command, const RunOptions *options)
{
    assert_debug(!options->sound_is_law || options->sound_law);
    if (options->columns && !run_records_table(options))
        return app_usage_error(command, "--columns chooses what --record writes into a table, and none is asked for");
    bool has_recording = options->record && !run_records_table(options);
    if ((options->record_contacts || options->record_silently || options->record_values) && !has_recording)
        return app_usage_error(command,
                               "--record-contacts, -silently and -values need --record FILE.talus, .html or .mcap");
    if (options->every > 1 && !options->record)
        return app_usage_error(command, "--every chooses what --record writes, which is not given");
    if (!options->sound_law || options->sound || options->movie || has_recording)
        return -1;
    if (options->sound_is_law)
        return app_usage_error(command,
                               "--sound %s names a law and no file; give --sound %s,FILE.wav, or --movie or "
                               "--record FILE.talus beside it",
                               options->sound_law, options->sound_law);
    return app_usage_error(command, "--sound-law is for --sound, --movie or --record FILE.talus, which are not given");
}

static int check_left_out(const AppCommand *command, const RunOptions *options)
{
    if (options->no_controllers
        && (options->controller || options->stop_on_failure || options->port || options->controller_timeout))
        return app_usage_error(
            command, "--no-controllers leaves nothing to --controller, --stop-on-controller-failure, --port and "
                     "--controller-timeout");
    if (options->no_plugin && (options->plugin_timeout || options->crash_snapshot))
        return app_usage_error(command, "--no-plugin leaves nothing to --plugin-timeout and --crash-snapshot");
    return -1;
}

static int check_numbers(const AppCommand *command, const RunOptions *options)
{
    if (options->steps >= 0 && !isnan(options->until))
        return app_usage_error(command, "give --steps or --until, not both");
    if (options->every < 0 || options->threads < 0 || options->threads > 256 || options->plugin_timeout < 0)
        return app_usage_error(command, "--every wants at least 1, --threads 1 to 256");
    if (options->controller_token && !*options->controller_token)
        return app_usage_error(command, "--controller-token is empty: whoever can reach this machine would be let in");
    if (!(options->timeout >= 0.0))
        return app_usage_error(command, "--timeout wants seconds");
    if (options->port < 0 || options->port > 65535)
        return app_usage_error(command, "--port wants 1 to 65535");
    return -1;
}

static int check_outputs(const AppCommand *command, const RunOptions *options)
{
    if (options->json && run_records_to_output(options))
        return app_usage_error(command, "--json and --record - both want standard output; give --record a file");
    if (options->sound_law && strcmp(options->sound_law, "talus") && strcmp(options->sound_law, "webots"))
        return app_usage_error(command, "--sound-law wants talus or webots");
    int width, height;
    if (options->movie_size && !outputs_read_size(options->movie_size, &width, &height))
        return app_usage_error(command, "--movie-size wants WIDTHxHEIGHT, 16 to 8192 each, as 1280x720");
    if (options->movie && !movie_has_format(options->movie))
        return app_usage_error(command, "--movie wants a name that ends with .webm or .mp4");
    if (!(options->movie_rate >= 0.0 && options->movie_rate <= 1000.0)
        || !(options->movie_speed >= 0.0 && options->movie_speed <= 1e6))
        return app_usage_error(command, "--movie-rate wants up to 1000, --movie-speed up to 1e6");
    if (!options->movie
        && (options->movie_size || options->movie_rate > 0.0 || options->movie_speed > 0.0 || options->movie_camera))
        return app_usage_error(command, "--movie-size, -rate, -speed and -camera need --movie FILE");
    return -1;
}

static int check_view(const AppCommand *command, const RunOptions *options)
{
    assert_debug(options->view || !options->is_view);
    if (options->view && !is_port(options->view))
        return app_usage_error(command, "--view wants a port, 0 to 65535");
    if (!options->view && (options->address || options->log || options->ghost || options->embed))
        return app_usage_error(command, "--address, --log, --ghost and --embed need --view");
    if (options->embed && !viewer_origins_are_sound(options->embed))
        return app_usage_error(command, "--embed " VIEWER_ORIGINS_USAGE, options->embed);
    if (options->address && !viewer_address_is_sound(options->address))
        return app_usage_error(command, "--address wants an IP number of this machine, as 192.168.1.7 or ::, not '%s'",
                               options->address);
    if (options->stepper && !stepper_is_known(options->stepper))
        return app_usage_error(command, "there is no stepper '%s'", options->stepper);
    return -1;
}

int run_check_options(const AppCommand *command, RunOptions *options)
{
    assert_debug(!options->viewer);  // nothing is started before all is checked
    static int (*const checks[])(const AppCommand *command, const RunOptions *options) = {
        check_length, check_recording, check_left_out, check_numbers, check_outputs, check_view,
    };
    settle_outputs(options);
    int status = -1;
    for (int i = 0; status < 0 && i < COUNT_OF(checks); i++)
        status = checks[i](command, options);
    return status;
}

const AppCommand command_run = {
    .name = "run",
    .arguments = "FILE|PROJECT [--steps N | --until SECONDS]",
    .summary = "simulate a world or body",
    .details =
        "Without --steps or --until it runs until it is interrupted (Ctrl-C), then prints its summary all the same.\n"
        "The same file, seed and options give the same bytes of state, with any number of threads, recorded or not.",
    .examples = "talus run world.wbt --until 10 --hash\n"
                "talus run world.wbt --steps 1000 --record out.csv --columns 'ROBOT.*'\n"
                "talus run world.wbt --until 10 --record run.talus    # then: talus replay run.talus\n"
                "talus run world.wbt --until 10 --record run.html     # one page that plays it, to send to anybody\n"
                "talus run world.wbt --until 5 --snapshot five.snap && talus run world.wbt --from five.snap --until 10",
    .options = rows,
    .option_count = COUNT_OF(rows),
    .run = run_verb,
};

const AppCommand command_view = {
    .name = "view",
    .arguments = "FILE [--play]",
    .summary = "simulate a world or body and handle it in a browser",
    .details =
        "Prints two links: one for handling the world, one only for looking at it. Both carry a secret; nobody without it gets in, and\n"
        "nobody on other machines reaches it unless --address says so. The world waits until somebody presses play, then runs in real\n"
        "time (--mode fast: as fast as it goes). Everything of `talus run` works here too. docs/viewer.md has the rest.",
    .examples =
        "talus view world.wbt\n"
        "talus view world.wbt --play --view=8080\n"
        "talus view world.wbt --log acts.log     (what you do is written down, and repeated to the last bit by:)\n"
        "talus run world.wbt --input acts.log --until 10 --hash\n"
        "talus run world.wbt --view              (attach a browser to any run, at any time)",
    .options = rows,
    .option_count = COUNT_OF(rows),
    .run = run_verb,
};
