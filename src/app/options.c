// options.c - parses a verb's options by its rows and writes its help from the same rows.
#include "app/app.h"

#include "base/budget.h"
#include "base/json.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The long name of a row such as "quiet|q".
static int name_length(const AppOption *option) { return (int)strcspn(option->name, "|"); }

int app_usage_error(const AppCommand *command, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "talus %s: ", command->name);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\nusage: talus %s %s   (talus %s --help tells more)\n", command->name, command->arguments,
            command->name);
    va_end(arguments);
    return EXIT_USAGE;
}

int app_take_limits(const AppCommand *command, bool is_untrusted, const char *changes, Limits *limits,
                    const BudgetOptions *budget)
{
    const char *wrong;
    int length;
    *limits = is_untrusted ? limits_untrusted : limits_default;
    if (changes && !limits_change(limits, changes, &wrong, &length))
        return app_usage_error(command, "--limits wants NAME=N of the table in SECURITY.md, not '%.*s'", length, wrong);
    BudgetOptions whole = budget ? *budget : (BudgetOptions){ 0 };
    whole.limits = limits;
    whole.exit_code = EXIT_INPUT;
    budget_start(&whole);
    return -1;
}

static bool name_matches(const char *row_name, const char *name, size_t length)
{
    assert_debug(row_name && *row_name);
    for (const char *part = row_name; *part;) {
        size_t part_length = strcspn(part, "|");
        if (part_length == length && !strncmp(part, name, length))
            return true;
        part += part_length + (part[part_length] == '|');
    }
    return false;
}

static const AppOption *find_option(const AppCommand *command, const char *name, size_t length)
{
    assert_debug(command->options || command->option_count == 0);
    for (int i = 0; i < command->option_count; i++)
        if (name_matches(command->options[i].name, name, length))
            return &command->options[i];
    return NULL;
}

// Every word of the rows, to compare a wrong one with. Names of one letter are left out.
static int unknown_option(const AppCommand *command, const char *argument)
{
    assert_debug(*argument == '-');
    enum { NAMES_MAX = 128, LONGEST = 48 };
    char words[NAMES_MAX][LONGEST];
    const char *names[NAMES_MAX];
    int count = 0;
    for (int i = 0; i < command->option_count; i++)
        for (const char *part = command->options[i].name; *part && count < NAMES_MAX;) {
            size_t length = strcspn(part, "|");
            if (length > 1 && length < LONGEST && command->options[i].help) {
                snprintf(words[count], LONGEST, "%.*s", (int)length, part);
                names[count] = words[count];
                count++;
            }
            part += length + (part[length] == '|');
        }
    char wrong[LONGEST];
    const char *name = argument + strspn(argument, "-");
    snprintf(wrong, sizeof wrong, "%.*s", (int)strcspn(name, "="), name);
    const char *closest = text_closest(wrong, names, count);
    if (closest)
        return app_usage_error(command, "there is no option '%s'; did you mean --%s?", argument, closest);
    return app_usage_error(command, "there is no option '%s'", argument);
}

// A value such as "stop|freeze" lists the words that are allowed.
static bool word_is_allowed(const char *words, const char *value)
{
    return !strchr(words, '|') || name_matches(words, value, strlen(value));
}

#define LARGEST_NUMBER 999999999999999LL  // what the reader of numbers tells apart from larger ones

static int store(const AppCommand *command, const AppOption *option, const char *value, void *options)
{
    void *place = (char *)options + option->offset;
    switch (option->kind) {
    case OPTION_FLAG: *(bool *)place = true; return -1;
    case OPTION_INT:
        if (!text_to_int(value, place) || llabs(*(int64_t *)place) > LARGEST_NUMBER)
            return app_usage_error(command, "--%.*s wants a whole number of at most 15 digits, not '%s'",
                                   name_length(option), option->name, value);
        return -1;
    case OPTION_DOUBLE:
        if (!text_to_double(value, place) || !isfinite(*(double *)place))
            return app_usage_error(command, "--%.*s wants a number, not '%s'", name_length(option), option->name,
                                   value);
        return -1;
    case OPTION_STRING:
        if (!*value)
            return app_usage_error(command, "--%.*s is empty", name_length(option), option->name);
        if (!word_is_allowed(option->value, value))
            return app_usage_error(command, "--%.*s wants one of %s, not '%s'", name_length(option), option->name,
                                   option->value, value);
        *(const char **)place = value;
        return -1;
    case OPTION_OPTIONAL: *(const char **)place = value; return -1;
    case OPTION_IGNORED: return -1;
    }
    return EXIT_INTERNAL;
}

// --name value, --name=value, -n, and plain arguments in any order; "--" ends the options.
int app_parse(const AppCommand *command, int argc, char **argv, void *options, int *file_count)
{
    assert_debug(argc > 0 && file_count);
    int files = 0;
    bool only_files = false;
    for (int i = 1; i < argc; i++) {
        char *argument = argv[i];
        if (only_files || argument[0] != '-' || !argument[1]) {
            argv[1 + files++] = argument;
            continue;
        }
        if (!strcmp(argument, "--")) {
            only_files = true;
            continue;
        }
        if (!strcmp(argument, "--help") || !strcmp(argument, "-h")) {
            Text help = { 0 };
            app_write_help(command, &help);
            app_print(&help);
            return EXIT_OK;
        }
        const char *name = argument + (argument[1] == '-' ? 2 : 1);
        size_t length = strcspn(name, "=");
        const AppOption *option = find_option(command, name, length);
        if (!option)
            return unknown_option(command, argument);
        const char *value = name[length] == '=' ? name + length + 1 : NULL;
        if (option->kind == OPTION_OPTIONAL && !value) {
            value = "";
        } else if (option->value && !value && option->kind != OPTION_IGNORED) {
            if (i + 1 >= argc)
                return app_usage_error(command, "%s wants a value (%s)", argument, option->value);
            value = argv[++i];
        } else if (!option->value && value && option->kind != OPTION_IGNORED) {
            return app_usage_error(command, "--%.*s takes no value", name_length(option), option->name);
        }
        int status = store(command, option, value, options);
        if (status >= 0)
            return status;
    }
    *file_count = files;
    return -1;
}

static void write_option(const AppOption *option, Text *out)
{
    assert_debug(option->help);
    Text left = { 0 };
    size_t length = strcspn(option->name, "|");
    const char *letter = option->name[length] ? option->name + length + 1 : NULL;
    if (letter)
        text_printf(&left, "-%s, ", letter);
    text_printf(&left, "--%.*s", (int)length, option->name);
    if (option->value)
        text_printf(&left, option->kind == OPTION_OPTIONAL ? "[=%s]" : " %s", option->value);
    text_printf(out, "  %-26s %s\n", left.data, option->help);
    text_free(&left);
}

// What is accepted so that command lines of Webots work as they are, and has no effect.
static void write_ignored(const AppCommand *command, Text *out)
{
    for (int i = 0; i < command->option_count; i++) {
        if (command->options[i].kind != OPTION_IGNORED)
            continue;
        text_add_string(out, "  accepted for Webots' sake, without effect:");
        for (const char *part = command->options[i].name; *part;) {
            size_t length = strcspn(part, "|");
            text_printf(out, " --%.*s", (int)length, part);
            part += length + (part[length] == '|');
        }
        text_add_char(out, '\n');
    }
}

void app_write_help(const AppCommand *command, Text *out)
{
    assert_debug(command->name && command->summary);
    text_printf(out, "talus %s - %s\n\nusage: talus %s %s\n", command->name, command->summary, command->name,
                command->arguments);
    if (command->details)
        text_printf(out, "\n%s\n", command->details);
    text_add_string(out, "\noptions:\n");
    for (int i = 0; i < command->option_count; i++)
        if (command->options[i].help)
            write_option(&command->options[i], out);
    write_option(&(AppOption){ "help|h", OPTION_FLAG, 0, NULL, "this text" }, out);
    write_ignored(command, out);
    if (command->examples)
        text_printf(out, "\nexamples:\n%s\n", command->examples);
    text_add_string(out, "\nexit codes: 0 ok, 1 the simulation failed or an output cannot be written, 2 usage,\n"
                         "            3 an input file is bad, 4 out of time, 5 our bug\n");
}

void app_write_overview(Text *out)
{
    text_add_string(
        out,
        "talus - robot simulator for Webots worlds and Choreonoid bodies\n\nusage: talus VERB [options] [files]\n\nverbs:\n");
    for (int i = 0; app_commands[i]; i++)
        if (!app_commands[i]->is_hidden)
            text_printf(out, "  %-10s %s\n", app_commands[i]->name, app_commands[i]->summary);
    text_add_string(
        out,
        "\n`talus help VERB` explains a verb with examples, `talus --version` (-V) prints the version, `--` ends the options.\n"
        "A start: talus new my_rover --template rover\n");
}

bool app_print(Text *text)
{
    bool ok = !text->length || fwrite(text->data, 1, text->length, stdout) == text->length;
    ok = fflush(stdout) == 0 && ok;
    text_free(text);
    return ok;
}

void app_print_outcome(const char *from, const char *to, bool ok, const DiagSink *diags)
{
    Text out = { 0 };
    JsonWriter json = { .out = &out };
    json_begin_object(&json, NULL);
    json_string(&json, "from", from);
    json_string(&json, "to", to);
    json_bool(&json, "ok", ok);
    json_int(&json, "errors", diag_total(diags, DIAG_ERROR));
    json_int(&json, "warnings", diag_total(diags, DIAG_WARNING));
    json_end_object(&json);
    text_add_char(&out, '\n');
    app_print(&out);
}

int app_end_output(int code)
{
    errno = 0;
    bool is_written = fflush(stdout) == 0 && !ferror(stdout);
    if (is_written || errno == EPIPE || errno == EBADF)
        return code;
    fprintf(stderr, "talus: cannot write to standard output%s%s\n", errno ? ": " : "", errno ? strerror(errno) : "");
    return code ? code : EXIT_SIMULATION;
}
