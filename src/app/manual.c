// manual.c - hidden verb: the manual page and shell completion, made from the verbs' own rows at build time.
#include "app/app.h"

#include "talus/talus.h"

#include <string.h>

static void add_roff(Text *out, const char *text)
{
    for (const char *c = text; *c; c++) {
        if (*c == '\\')
            text_add_string(out, "\\e");
        else if (*c == '-')
            text_add_string(out, "\\-");
        else if ((*c == '.' || *c == '\'') && (c == text || c[-1] == '\n'))
            text_printf(out, "\\&%c", *c);
        else
            text_add_char(out, *c);
    }
}

static void write_roff_command(const AppCommand *command, Text *out)
{
    text_printf(out, ".SS talus %s ", command->name);
    add_roff(out, command->arguments);
    text_add_char(out, '\n');
    add_roff(out, command->summary);
    text_add_string(out, ".\n");
    if (command->details) {
        text_add_string(out, ".PP\n");
        add_roff(out, command->details);
        text_add_char(out, '\n');
    }
    for (int i = 0; i < command->option_count; i++) {
        const AppOption *option = &command->options[i];
        if (!option->help)
            continue;
        text_printf(out, ".TP\n.B \\-\\-%.*s", (int)strcspn(option->name, "|"), option->name);
        if (option->value)
            text_printf(out, " %s", option->value);
        text_add_char(out, '\n');
        add_roff(out, option->help);
        text_add_char(out, '\n');
    }
    if (command->examples) {
        text_add_string(out, ".PP\n.nf\n");
        add_roff(out, command->examples);
        text_add_string(out, "\n.fi\n");
    }
}

static void write_roff(Text *out)
{
    text_printf(out, ".TH TALUS 1 \"\" \"talus %s\" \"User commands\"\n.SH NAME\ntalus \\- robot simulator for Webots worlds and Choreonoid bodies\n",
                talus_version());
    text_add_string(out, ".SH SYNOPSIS\n.B talus\n.I VERB\n[options] [files]\n.SH VERBS\n");
    for (int i = 0; app_commands[i]; i++)
        if (!app_commands[i]->is_hidden)
            write_roff_command(app_commands[i], out);
    text_add_string(out, ".SH EXIT STATUS\n0 ok, 1 the simulation failed, 2 usage, 3 an input file is bad, 4 out of time, 5 a bug in talus.\n");
}

static void write_completion(Text *out)
{
    text_add_string(out, "# bash completion for talus\n_talus()\n{\n    local word=${COMP_WORDS[COMP_CWORD]} options=\n"
                         "    if [ \"$COMP_CWORD\" = 1 ]; then\n        COMPREPLY=($(compgen -W \"");
    for (int i = 0; app_commands[i]; i++)
        if (!app_commands[i]->is_hidden)
            text_printf(out, "%s ", app_commands[i]->name);
    text_add_string(out, "--help --version\" -- \"$word\"))\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n");
    for (int i = 0; app_commands[i]; i++) {
        if (app_commands[i]->is_hidden)
            continue;
        text_printf(out, "    %s) options=\"", app_commands[i]->name);
        for (int k = 0; k < app_commands[i]->option_count; k++)
            if (app_commands[i]->options[k].help)
                text_printf(out, "--%.*s ", (int)strcspn(app_commands[i]->options[k].name, "|"), app_commands[i]->options[k].name);
        text_add_string(out, "--help\" ;;\n");
    }
    text_add_string(out, "    esac\n    if [[ $word == -* ]]; then\n        COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n    else\n"
                         "        COMPREPLY=($(compgen -f -- \"$word\"))\n    fi\n}\ncomplete -o filenames -F _talus talus\n");
}

typedef struct ManualOptions {
    bool completion;
} ManualOptions;

static int run_manual(const AppCommand *command, int argc, char **argv)
{
    ManualOptions options = { 0 };
    int files;
    int status = app_parse(command, argc, argv, &options, &files);
    if (status >= 0)
        return status;
    Text out = { 0 };
    if (options.completion)
        write_completion(&out);
    else
        write_roff(&out);
    return app_print(&out) ? EXIT_OK : EXIT_INTERNAL;
}

static const AppOption manual_options[] = {
    { "completion", OPTION_FLAG, offsetof(ManualOptions, completion), NULL, "write bash completion instead" },
};
const AppCommand command_manual = {
    .name = "manual", .arguments = "[--completion]", .summary = "write the manual page in roff",
    .options = manual_options, .option_count = COUNT_OF(manual_options), .run = run_manual, .is_hidden = true,
};
