// main.c - the program `talus`: finds the verb and hands over. Every verb is a file of this folder.
#include "app/app.h"

#include "plugins/plugins.h"
#include "talus/talus.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

const AppCommand *const app_commands[] = {
    &command_run,    &command_view,       &command_render, &command_check,
    &command_info,   &command_convert,    &command_fetch,  &command_new,
    &command_build,  &command_controller, &command_doctor, &command_manual,
    &command_export, &command_replay,     &command_sweep,  NULL,
};

static const AppCommand *find_verb(const char *name)
{
    for (int i = 0; app_commands[i]; i++)
        if (!strcmp(name, app_commands[i]->name))
            return app_commands[i];
    return NULL;
}

// Words of other programs, which no likeness of letters would find.
static const char *other_word(const char *verb)
{
    static const struct {
        const char *word, *verb;
    } words[] = {
        { "draw", "render" },   { "show", "view" },      { "open", "run" },   { "simulate", "run" },
        { "start", "run" },     { "play", "run" },       { "lint", "check" }, { "validate", "check" },
        { "test", "check" },    { "init", "new" },       { "create", "new" }, { "make", "build" },
        { "compile", "build" }, { "download", "fetch" }, { "get", "fetch" },  { "upgrade", "convert" },
    };
    for (int i = 0; i < COUNT_OF(words); i++)
        if (!strcmp(verb, words[i].word))
            return words[i].verb;
    return NULL;
}

static int unknown_verb(const char *verb)
{
    assert_debug(verb);
    const char *names[32];
    int count = 0;
    for (int i = 0; app_commands[i] && count < COUNT_OF(names); i++)
        if (!app_commands[i]->is_hidden)
            names[count++] = app_commands[i]->name;
    const char *closest = other_word(verb);
    closest = closest ? closest : text_closest(verb, names, count);
    fprintf(stderr, "talus: there is no verb '%s'", verb);
    fprintf(stderr, closest ? "; did you mean '%s'?\n" : "; `talus --help` lists them\n", closest);
    return EXIT_USAGE;
}

static int show_help(int argc, char **argv)
{
    assert(argc >= 2);
    Text help = { 0 };
    if (argc > 2) {
        const AppCommand *command = find_verb(argv[2]);
        if (!command)
            return unknown_verb(argv[2]);
        app_write_help(command, &help);
    } else {
        app_write_overview(&help);
    }
    app_print(&help);
    return EXIT_OK;
}

static int run_program(int argc, char **argv)
{
    assert_debug(argc >= 0 && argv);
    if (argc < 2) {
        Text overview = { 0 };
        app_write_overview(&overview);
        fputs(overview.data, stderr);
        text_free(&overview);
        return EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
        return show_help(argc, argv);
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V") || !strcmp(argv[1], "version")) {
        printf("talus %s\n", talus_version());
        return EXIT_OK;
    }
    const AppCommand *command = find_verb(argv[1]);
    return command ? command->run(command, argc - 1, argv + 1) : unknown_verb(argv[1]);
}

int main(int argc, char **argv)
{
    if (plugin_is_helper(argc, argv))
        return plugin_help(argc, argv);
    plugin_keep_output();
    signal(SIGXFSZ, SIG_IGN);  // a file that may not grow any more is an error of its writer
    const char *name = strrchr(argv[0], '/');
    if (!strcmp(name ? name + 1 : argv[0], "webots-controller"))
        return command_controller.run(&command_controller, argc, argv);
    return app_end_output(run_program(argc, argv));
}
