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

// The text of --help again, in the form of a manual page.
static void write_roff_command(const AppCommand *command, Text *out)
{
    assert_debug(!command->is_hidden && command->summary);
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

// Rows of a section of the manual: a name and what it is for.
typedef struct ManualRow {
    const char *name, *text;
} ManualRow;

static const ManualRow environment_rows[] = {
    { "TALUS_PATH",
      "folders, between colons, in which PROTOs, meshes and pictures are looked for after those of the project" },
    { "TALUS_CACHE", "folder of what talus fetch downloads; ~/.cache/talus otherwise" },
    { "TALUS_LIBRARY", "folder of the PROTO library, in place of the one that comes with Talus" },
    { "TALUS_CONTROLLER_PATH", "folder with libController.so and python/, for controllers that are started by hand" },
    { "TALUS_TOKEN", "what --controller-token and talus controller --token say, out of sight of other users" },
    { "TALUS_TEMPLATE, TALUS_MOVIE",
      "the helper programs talus-template and talus-movie, where they are not beside talus" },
    { "WEBOTS_HOME",
      "set for the commands that talus build runs, and for controllers where it is not; not needed by Talus itself" },
    { "WEBOTS_CONTROLLER_URL, WEBOTS_ROBOT_NAME",
      "the simulator and robot that a controller started by hand connects to" },
    { "CHOREONOID_SHARE", "the share folder of a Choreonoid, for bodies that name models of it" },
    { "NO_COLOR, CLICOLOR_FORCE", "no colours, or colours also where standard output is no terminal" },
    { "TMPDIR", "where files between processes are made; /tmp otherwise" },
};

static const ManualRow file_rows[] = {
    { "PROJECT/worlds/NAME.wbt",
      "a world; of a project's folder the only one, or the one with the folder's name, is meant" },
    { "PROJECT/controllers/NAME/", "a robot's program: sources, what talus build makes of them, runtime.ini" },
    { "PROJECT/plugins/physics/NAME/", "a physics plugin" },
    { "PROJECT/protos/", "PROTOs of the project" },
    { "../share/talus/library", "stand-ins for the PROTOs of Webots' distribution" },
    { "../share/talus/resources", "Makefile.include for robot programs, and what talus new writes" },
    { "../lib/talus", "libController, the Python packages, talus-template, talus-movie" },
    { "~/.cache/talus", "what talus fetch has downloaded" },
    { "WORLD.crash.snap", "the last good state, when a physics plugin fails" },
};

static void write_roff_rows(const char *section, const ManualRow *rows, int count, Text *out)
{
    assert_debug(rows && count > 0);
    text_printf(out, ".SH %s\n", section);
    for (int i = 0; i < count; i++) {
        text_add_string(out, ".TP\n.B ");
        add_roff(out, rows[i].name);
        text_add_char(out, '\n');
        add_roff(out, rows[i].text);
        text_add_char(out, '\n');
    }
}

static void write_roff(Text *out)
{
    text_printf(
        out,
        ".TH TALUS 1 \"\" \"talus %s\" \"User commands\"\n.SH NAME\ntalus \\- robot simulator for Webots worlds and Choreonoid bodies\n",
        talus_version());
    text_add_string(out, ".SH SYNOPSIS\n.B talus\n.I VERB\n[options] [files]\n.SH DESCRIPTION\n");
    add_roff(
        out,
        "Opens Webots worlds (.wbt) with their PROTOs and Choreonoid bodies (.body) and projects (.cnoid), simulates them without\n"
        "a window, GPU or network, runs their controllers and physics plugins, and gives the same bytes of state every time.\n"
        "A first project: talus new my_rover --template rover.\n");
    text_add_string(out, ".SH VERBS\n");
    for (int i = 0; app_commands[i]; i++)
        if (!app_commands[i]->is_hidden)
            write_roff_command(app_commands[i], out);
    text_add_string(
        out,
        ".SH EXIT STATUS\n0 ok, 1 the simulation failed or an output cannot be written, 2 usage, 3 an input file is bad, 4 out of time, 5 a bug in talus.\n");
    write_roff_rows("ENVIRONMENT", environment_rows, COUNT_OF(environment_rows), out);
    write_roff_rows("FILES", file_rows, COUNT_OF(file_rows), out);
    text_add_string(out, ".SH SEE ALSO\nThe documents in share/doc/talus.\n");
}

// ---- completion ----

static void write_verbs(Text *out)
{
    for (int i = 0; app_commands[i]; i++)
        if (!app_commands[i]->is_hidden)
            text_printf(out, "%s ", app_commands[i]->name);
}

// Completion is made of the same rows as --help, so it cannot lag behind.
static void write_bash(Text *out)
{
    text_add_string(out, "# bash completion for talus\n_talus()\n{\n    local word=${COMP_WORDS[COMP_CWORD]} options=\n"
                         "    if [ \"$COMP_CWORD\" = 1 ]; then\n        COMPREPLY=($(compgen -W \"");
    write_verbs(out);
    text_add_string(
        out,
        "help --help --version\" -- \"$word\"))\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n    help) COMPREPLY=($(compgen -W \"");
    write_verbs(out);
    text_add_string(out, "\" -- \"$word\")); return ;;\n");
    for (int i = 0; app_commands[i]; i++) {
        if (app_commands[i]->is_hidden)
            continue;
        text_printf(out, "    %s) options=\"", app_commands[i]->name);
        for (int k = 0; k < app_commands[i]->option_count; k++)
            if (app_commands[i]->options[k].help)
                text_printf(out, "--%.*s ", (int)strcspn(app_commands[i]->options[k].name, "|"),
                            app_commands[i]->options[k].name);
        text_add_string(out, "--help\" ;;\n");
    }
    text_add_string(out, "    esac\n    case ${COMP_WORDS[1]}:${COMP_WORDS[COMP_CWORD-1]} in\n");
    for (int i = 0; app_commands[i]; i++)
        for (int k = 0; k < app_commands[i]->option_count; k++) {
            const AppOption *option = &app_commands[i]->options[k];
            if (!option->help || !option->value || !strchr(option->value, '|'))
                continue;
            text_printf(out, "    %s:--%.*s) COMPREPLY=($(compgen -W \"", app_commands[i]->name,
                        (int)strcspn(option->name, "|"), option->name);
            for (const char *c = option->value; *c; c++)
                text_add_char(out, *c == '|' ? ' ' : *c);
            text_add_string(out, "\" -- \"$word\")); return ;;\n");
        }
    text_add_string(
        out,
        "    esac\n    if [[ $word == -* ]]; then\n        COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n    else\n"
        "        COMPREPLY=($(compgen -f -- \"$word\"))\n    fi\n}\ncomplete -o filenames -F _talus talus\n");
}

// A text between single quotes; what `also` names is escaped by a backslash as well.
static void add_quoted(Text *out, const char *text, const char *also)
{
    for (const char *c = text; *c; c++) {
        if (*c == '\'')
            text_add_string(out, "'\\''");
        else if (strchr(also, *c))
            text_printf(out, "\\%c", *c);
        else
            text_add_char(out, *c == '\n' ? ' ' : *c);
    }
}

static void write_zsh_option(const AppOption *option, Text *out)
{
    assert_debug(option->help);
    text_printf(out, "        '--%.*s", (int)strcspn(option->name, "|"), option->name);
    text_add_string(out, option->value ? "=[" : "[");
    add_quoted(out, option->help, "[]:\\");
    text_add_char(out, ']');
    if (option->value && strchr(option->value, '|')) {
        text_add_string(out, ":value:(");
        for (const char *c = option->value; *c; c++)
            text_add_char(out, *c == '|' ? ' ' : *c);
        text_add_char(out, ')');
    } else if (option->value) {
        text_add_string(out, ":value:_files");
    }
    text_add_string(out, "' \\\n");
}

static void write_zsh(Text *out)
{
    text_add_string(out, "#compdef talus\n# zsh completion for talus\n_talus()\n{\n    local -a verbs\n    verbs=(\n");
    for (int i = 0; app_commands[i]; i++) {
        if (app_commands[i]->is_hidden)
            continue;
        text_printf(out, "        '%s:", app_commands[i]->name);
        add_quoted(out, app_commands[i]->summary, ":\\");
        text_add_string(out, "'\n");
    }
    text_add_string(
        out,
        "    )\n    if (( CURRENT == 2 )); then\n        _describe verb verbs\n        return\n    fi\n"
        "    local verb=$words[2]\n    shift words\n    (( CURRENT-- ))\n    case $verb in\n    help) _describe verb verbs ;;\n");
    for (int i = 0; app_commands[i]; i++) {
        if (app_commands[i]->is_hidden)
            continue;
        text_printf(out, "    %s) _arguments \\\n", app_commands[i]->name);
        for (int k = 0; k < app_commands[i]->option_count; k++)
            if (app_commands[i]->options[k].help)
                write_zsh_option(&app_commands[i]->options[k], out);
        text_add_string(out, "        '--help[this text]' '*:file:_files' ;;\n");
    }
    text_add_string(out, "    esac\n}\n_talus \"$@\"\n");
}

// One line for each option, with its help: fish shows it beside the word.
static void write_fish(Text *out)
{
    text_add_string(out, "# fish completion for talus\n");
    for (int i = 0; app_commands[i]; i++) {
        const AppCommand *command = app_commands[i];
        if (command->is_hidden)
            continue;
        text_printf(out, "complete -c talus -n __fish_use_subcommand -f -a %s -d '", command->name);
        add_quoted(out, command->summary, "");
        text_add_string(out, "'\n");
        for (int k = 0; k < command->option_count; k++) {
            const AppOption *option = &command->options[k];
            if (!option->help)
                continue;
            text_printf(out, "complete -c talus -n '__fish_seen_subcommand_from %s' -l %.*s", command->name,
                        (int)strcspn(option->name, "|"), option->name);
            if (option->value && strchr(option->value, '|')) {
                text_add_string(out, " -x -a '");
                for (const char *c = option->value; *c; c++)
                    text_add_char(out, *c == '|' ? ' ' : *c);
                text_add_char(out, '\'');
            } else if (option->value) {
                text_add_string(out, " -r");
            }
            text_add_string(out, " -d \"");
            for (const char *c = option->help; *c; c++)
                strchr("\"$\\", *c) ? text_printf(out, "\\%c", *c) : text_add_char(out, *c == '\n' ? ' ' : *c);
            text_add_string(out, "\"\n");
        }
    }
}

typedef struct ManualOptions {
    const char *completion;
} ManualOptions;

static int run_manual(const AppCommand *command, int argc, char **argv)
{
    ManualOptions options = { 0 };
    int files;
    int status = app_parse(command, argc, argv, &options, &files);
    if (status >= 0)
        return status;
    if (files > 0)
        return app_usage_error(command, "'%s' is not wanted", argv[1]);
    Text out = { 0 };
    if (!options.completion)
        write_roff(&out);
    else if (!strcmp(options.completion, "zsh"))
        write_zsh(&out);
    else if (!strcmp(options.completion, "fish"))
        write_fish(&out);
    else
        write_bash(&out);
    app_print(&out);  // (app_end_output() tells when that failed)
    return EXIT_OK;
}

static const AppOption manual_options[] = {
    { "completion", OPTION_STRING, offsetof(ManualOptions, completion), "bash|zsh|fish",
      "write the completion of a shell instead" },
};
const AppCommand command_manual = {
    .name = "manual",
    .arguments = "[--completion SHELL]",
    .summary = "write the manual page in roff",
    .options = manual_options,
    .option_count = COUNT_OF(manual_options),
    .run = run_manual,
    .is_hidden = true,
};
