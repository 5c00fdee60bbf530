// main.c - the program `talus`: finds the verb and hands over. Every verb is a file of this folder.
#include "app/app.h"

#include "plugins/plugins.h"
#include "talus/talus.h"

#include <stdio.h>
#include <string.h>

const AppCommand *const app_commands[] = {
    &command_run, &command_render, &command_check, &command_info, &command_convert, &command_fetch, &command_new, &command_build,
    &command_controller, &command_doctor, &command_manual, NULL,
};

static int unknown_verb(const char *verb)
{
    const char *names[32];
    int count = 0;
    for (int i = 0; app_commands[i] && count < COUNT_OF(names); i++)
        names[count++] = app_commands[i]->name;
    const char *closest = text_closest(verb, names, count);
    fprintf(stderr, "talus: there is no verb '%s'", verb);
    fprintf(stderr, closest ? "; did you mean '%s'?\n" : "; `talus --help` lists them\n", closest);
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    if (plugin_is_helper(argc, argv))
        return plugin_help(argc, argv);
    plugin_keep_output();
    const char *name = strrchr(argv[0], '/');
    if (!strcmp(name ? name + 1 : argv[0], "webots-controller"))
        return command_controller.run(&command_controller, argc, argv);
    if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        Text overview = { 0 };
        app_write_overview(&overview);
        if (argc < 2) {
            fputs(overview.data, stderr);
            text_free(&overview);
            return EXIT_USAGE;
        }
        app_print(&overview);
        return EXIT_OK;
    }
    if (!strcmp(argv[1], "--version")) {
        printf("talus %s\n", talus_version());
        return EXIT_OK;
    }
    for (int i = 0; app_commands[i]; i++)
        if (!strcmp(argv[1], app_commands[i]->name))
            return app_commands[i]->run(app_commands[i], argc - 1, argv + 1);
    return unknown_verb(argv[1]);
}
