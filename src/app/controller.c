// controller.c - `talus controller`: starts a program for a robot whose controller is "<extern>", with the address of
// the simulator and everything that the program needs to find libController or the Python module. Webots' own launcher
// has the same options.
#include "app/app.h"

#include "base/arena.h"
#include "base/file.h"
#include "control/environment.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct ControllerOptions {
    const char *robot_name, *protocol, *ip_address, *token;
    int64_t port;
    bool is_ignored;
} ControllerOptions;

#define ROW(name, kind, member, value, help)                                                                           \
    {                                                                                                                  \
        name, kind, offsetof(ControllerOptions, member), value, help                                                   \
    }
static const AppOption rows[] = {
    ROW("robot-name", OPTION_STRING, robot_name, "NAME", "the robot; the only one that waits otherwise"),
    ROW("protocol", OPTION_STRING, protocol, "ipc|tcp",
        "ipc: shared memory on this machine (default); tcp: over the network"),
    ROW("ip-address", OPTION_STRING, ip_address, "ADDRESS", "machine of the simulator, with tcp"),
    ROW("port", OPTION_INT, port, "N", "port of the simulator; 1234 and the nine after it are tried otherwise"),
    ROW("token", OPTION_STRING, token, "TEXT", "what the simulator was given as --controller-token (TALUS_TOKEN)"),
    ROW("interactive|stdout-redirect|stderr-redirect|verbose", OPTION_IGNORED, is_ignored, NULL, NULL),
    ROW("matlab-path", OPTION_IGNORED, is_ignored, "PATH", NULL),
};

// The program's own options come behind it and are none of ours.
static int find_program(const AppCommand *command, int argc, char **argv)
{
    assert(argc > 0 && command->option_count > 0);
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-')
            return i;
        const char *name = argv[i] + strspn(argv[i], "-");
        for (int k = 0; k < command->option_count; k++)
            i += command->options[k].value && !strcmp(command->options[k].name, name);
    }
    return argc;
}

static void set_address(Environment *environment, const ControllerOptions *options)
{
    Text url = { 0 };
    bool is_tcp = options->protocol && !strcmp(options->protocol, "tcp");
    text_add_string(&url, is_tcp ? "tcp://" : "ipc://");
    if (is_tcp)
        text_printf(&url, "%s:", options->ip_address ? options->ip_address : "127.0.0.1");
    if (options->port > 0)
        text_printf(&url, "%lld", (long long)options->port);
    else if (is_tcp)
        text_add_string(&url, "1234");
    text_add_char(&url, '/');
    for (const char *at = options->robot_name ? options->robot_name : ""; *at; at++)
        text_printf(&url, isalnum((unsigned char)*at) || strchr("-_.", *at) ? "%c" : "%%%02X", (unsigned char)*at);
    environment_set(environment, "WEBOTS_CONTROLLER_URL", url.data);
    if (options->token)
        environment_set(environment, "TALUS_TOKEN", options->token);
    text_free(&url);
}

// How a file of this kind is started; NULL when it cannot be.
static const char *interpreter_of(const char *program, const Runtime *runtime)
{
    static const char *const others[][2] = {
        { ".java", "Java" }, { ".class", "Java" }, { ".jar", "Java" }, { ".m", "MATLAB" }
    };
    for (int i = 0; i < COUNT_OF(others); i++)
        if (text_ends_with(program, others[i][0])) {
            fprintf(stderr,
                    "talus controller: %s is a %s program, which Talus cannot run; those in C, C++ and Python it can\n",
                    program, others[i][1]);
            return NULL;
        }
    return text_ends_with(program, ".py") ? runtime->command ? runtime->command : "python3" : "";
}

static int start(const ControllerOptions *options, char **arguments, int count)
{
    assert(count > 0 && arguments[0]);
    Arena *arena = arena_create();
    char *program = path_real(arena, arguments[0]);
    if (!program || !file_exists(program)) {
        fprintf(stderr, "talus controller: there is no program %s\n", arguments[0]);
        arena_destroy(arena);
        return EXIT_INPUT;
    }
    char *folder = path_directory(arena, program);
    Environment environment = environment_make(arena, folder, NULL);
    DiagSink *diags = diag_create();
    Runtime runtime = environment_read_runtime(&environment, folder, diags);
    diag_print(diags, stderr, 0, DIAG_WARNING);
    diag_destroy(diags);
    set_address(&environment, options);
    const char *interpreter = interpreter_of(program, &runtime);
    if (!interpreter) {
        free(environment.items);
        arena_destroy(arena);
        return EXIT_INPUT;
    }
    char **list = arena_alloc_array(arena, (size_t)count + 3, sizeof *list);
    int used = 0;
    if (*interpreter) {
        list[used++] = (char *)interpreter;
        list[used++] = (char *)"-u";
    }
    list[used++] = program;
    memcpy(list + used, arguments + 1, (size_t)(count - 1) * sizeof *list);
    // Programs find the files beside them, as when the simulator starts them.
    if (chdir(folder) == 0)
        execvpe(list[0], list, environment.items);
    fprintf(stderr, "talus controller: cannot run %s: %s\n", list[0], strerror(errno));
    free(environment.items);
    arena_destroy(arena);
    return EXIT_INPUT;
}

static int controller_verb(const AppCommand *command, int argc, char **argv)
{
    ControllerOptions options = { 0 };
    int place = find_program(command, argc, argv), files;
    int code = app_parse(command, place, argv, &options, &files);
    if (code >= 0)
        return code;
    if (place >= argc)
        return app_usage_error(command, "give the program to start");
    if (options.port < 0 || options.port > 65535)
        return app_usage_error(command, "--port wants 1 to 65535");
    if (options.ip_address && (!options.protocol || strcmp(options.protocol, "tcp")))
        return app_usage_error(command, "--ip-address goes with --protocol tcp");
    return start(&options, argv + place, argc - place);
}

const AppCommand command_controller = {
    .name = "controller",
    .arguments = "[options] PROGRAM [arguments of the program]",
    .summary = "start a program for a robot whose controller is \"<extern>\"",
    .details = "PROGRAM is an executable or a .py file; it runs in its own folder, with runtime.ini of that folder. It "
               "waits up to 50 s for the\n"
               "simulator. `webots-controller` is the same under the name that Webots gives it.",
    .examples = "talus controller --robot-name epuck controllers/walker/walker\n"
                "talus controller --protocol tcp --ip-address 10.0.0.7 --port 1234 --robot-name epuck walker.py --fast",
    .options = rows,
    .option_count = COUNT_OF(rows),
    .run = controller_verb,
};
