// Addresses to functions and source lines, from the debug information of the loaded files.
#include "plugins/plugins_internal.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *readable(const char *symbol, Arena *arena)
{
    typedef char *(*Demangle)(const char *name, char *buffer, size_t *size, int *status);
    void *found = dlsym(RTLD_DEFAULT, "__cxa_demangle");
    if (symbol[0] != '_' || symbol[1] != 'Z' || !found)
        return arena_string(arena, symbol);
    int status = -1;
    char *text = ((Demangle)found)(symbol, NULL, NULL, &status);
    const char *result = arena_string(arena, status == 0 && text ? text : symbol);
    free(text);
    return result;
}

static void place_of(Dwfl *dwfl, uintptr_t address, bool is_return, GuardPlace *place, Arena *arena)
{
    assert_debug(dwfl && place && arena);
    // A return address may already belong to the next line or function.
    Dwarf_Addr at = address - (is_return ? 1 : 0);
    Dwfl_Module *module = dwfl_addrmodule(dwfl, at);
    if (!module)
        return;
    const char *symbol = dwfl_module_addrname(module, at);
    if (symbol)
        place->function = readable(symbol, arena);
    // Known only after the file was opened for something.
    const char *main_file = NULL;
    dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, &main_file, NULL);
    if (main_file)
        place->module = arena_string(arena, main_file);
    Dwfl_Line *line = dwfl_module_getsrc(module, at);
    const char *file = line ? dwfl_lineinfo(line, NULL, &place->line, NULL, NULL, NULL) : NULL;
    if (file)
        place->file = arena_string(arena, file);
}

// Debug information comes from this machine or not at all.
static Dwfl *open_process(pid_t process)
{
    static const Dwfl_Callbacks callbacks = { .find_elf = dwfl_linux_proc_find_elf,
                                              .find_debuginfo = dwfl_standard_find_debuginfo };
    unsetenv("DEBUGINFOD_URLS");
    Dwfl *dwfl = dwfl_begin(&callbacks);
    if (dwfl)
        dwfl_report_begin(dwfl);
    if (dwfl && dwfl_linux_proc_report(dwfl, process) == 0 && dwfl_report_end(dwfl, NULL, NULL) == 0)
        return dwfl;
    dwfl_end(dwfl);
    return NULL;
}

void guard_places(const GuardFault *fault, GuardPlace *places, Arena *arena)
{
    assert_debug(fault->frame_count <= GUARD_FRAMES);
    for (int i = 0; i < fault->frame_count; i++)
        places[i] = (GuardPlace){ 0 };
    Dwfl *dwfl = open_process(getpid());
    for (int i = 0; dwfl && i < fault->frame_count; i++)
        place_of(dwfl, (uintptr_t)fault->frames[i], i > 0 || !fault->is_fault_frame_known, &places[i], arena);
    dwfl_end(dwfl);
}

// ---- from outside ----
// The looking is done by this program, started anew as a process of its own: it reads the map of the damaged one, and
// one line per frame goes back through a pipe.

static const char helper_name[] = "talus-places";
static bool has_helper;
enum { HELPER_SECONDS = 4, FAR_SECONDS = 120 };  // of the processor; of the clock, which a busy machine may take

bool plugin_is_helper(int argc, char **argv)
{
    has_helper = true;
    return argc > 3 && !strcmp(argv[0], helper_name);
}

int plugin_help(int argc, char **argv)
{
    Arena *arena = arena_create();
    Dwfl *dwfl = open_process((pid_t)atol(argv[1]));
    bool is_exact = argv[2][0] == '1';
    for (int i = 3; i < argc; i++) {
        GuardPlace place = { 0 };
        if (dwfl)
            place_of(dwfl, strtoul(argv[i], NULL, 16), i > 3 || !is_exact, &place, arena);
        printf("%s\t%s\t%d\t%s\n", place.function ? place.function : "", place.file ? place.file : "", place.line,
               place.module ? place.module : "");
    }
    dwfl_end(dwfl);
    arena_destroy(arena);
    return fflush(stdout) != 0;
}

// A tick of the report's time that was on its way when it was switched off may still come, and is no answer.
static bool wait_for_words(int handle)
{
    struct pollfd wait = { .fd = handle, .events = POLLIN };
    int ready;
    do {
        ready = poll(&wait, 1, 1000 * FAR_SECONDS);
    } while (ready < 0 && errno == EINTR);
    return ready > 0;
}

// Runs the helper; its words are in `text` when the answer is true.
static bool ask_helper(const GuardFault *fault, char *text, size_t size)
{
    assert(fault->frame_count >= 0 && fault->frame_count <= GUARD_FRAMES && size > 0);
    static char numbers[GUARD_FRAMES + 1][24];
    static char *arguments[GUARD_FRAMES + 4];
    static char *environment[] = { NULL };
    int count = 0, ends[2];
    snprintf(numbers[0], sizeof numbers[0], "%ld", (long)getpid());
    arguments[count++] = (char *)helper_name;
    arguments[count++] = numbers[0];
    arguments[count++] = fault->is_fault_frame_known ? "1" : "0";
    for (int i = 0; i < fault->frame_count; i++) {
        snprintf(numbers[i + 1], sizeof numbers[0], "%lx", (unsigned long)(uintptr_t)fault->frames[i]);
        arguments[count++] = numbers[i + 1];
    }
    if (!has_helper || pipe2(ends, O_CLOEXEC))
        return false;
    pid_t child = _Fork();  // runs nothing of what fork() runs in between
    if (child == 0) {
        setrlimit(RLIMIT_CPU, &(struct rlimit){ HELPER_SECONDS, HELPER_SECONDS });
        dup2(ends[1], STDOUT_FILENO);
        execve("/proc/self/exe", arguments, environment);
        guard_end_process(1);
    }
    close(ends[1]);
    unsigned report_seconds = alarm(0);  // the wait for the helper has an end of its own
    size_t length = 0;
    ssize_t got = 1;
    while (child > 0 && got > 0 && length + 1 < size && wait_for_words(ends[0])) {
        got = read(ends[0], text + length, size - 1 - length);
        length += got > 0 ? (size_t)got : 0;
    }
    text[length] = '\0';
    close(ends[0]);
    if (child > 0) {
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    alarm(report_seconds);
    return length > 0;
}

static char *cut(char **rest, char end)
{
    char *text = *rest, *at = strchr(text, end);
    *rest = at ? at + 1 : text + strlen(text);
    if (at)
        *at = '\0';
    return text;
}

static const char *filled(const char *text) { return *text ? text : NULL; }

bool guard_linked(const GuardFault *fault, int frame, Dl_info *info)
{
    assert_debug(frame >= 0 && frame < fault->frame_count);
    bool is_return = frame > 0 || !fault->is_fault_frame_known;
    return dladdr((const void *)((uintptr_t)fault->frames[frame] - is_return), info) != 0;
}

static void place_by_linker(const GuardFault *fault, int frame, GuardPlace *place)
{
    Dl_info info;
    if (!guard_linked(fault, frame, &info))
        return;
    place->function = info.dli_sname;
    place->module = info.dli_fname;
}

void guard_places_outside(const GuardFault *fault, GuardPlace *places)
{
    assert_debug(fault->frame_count <= GUARD_FRAMES);
    static char text[32 * 1024];
    char *rest = text;
    bool is_told = ask_helper(fault, text, sizeof text);
    for (int i = 0; i < fault->frame_count; i++) {
        places[i] = (GuardPlace){ 0 };
        if (!is_told) {
            place_by_linker(fault, i, &places[i]);
            continue;
        }
        char *line = cut(&rest, '\n');
        places[i].function = filled(cut(&line, '\t'));
        places[i].file = filled(cut(&line, '\t'));
        places[i].line = atoi(cut(&line, '\t'));
        places[i].module = filled(line);
    }
}

// ---- parameters ----

static int count_parameters(Dwarf_Die *function)
{
    Dwarf_Die child;
    int count = 0;
    if (dwarf_child(function, &child) != 0)
        return 0;
    do {
        count += dwarf_tag(&child) == DW_TAG_formal_parameter;
    } while (dwarf_siblingof(&child, &child) == 0);
    return count;
}

int guard_parameter_count(const void *function)
{
    assert_debug(function);
    Dwfl *dwfl = open_process(getpid());
    Dwarf_Addr bias, at = (Dwarf_Addr)(uintptr_t)function;
    Dwarf_Die *unit = dwfl ? dwfl_addrdie(dwfl, at, &bias) : NULL, *scopes = NULL;
    int scope_count = unit ? dwarf_getscopes(unit, at - bias, &scopes) : 0, count = -1;
    for (int i = 0; i < scope_count && count < 0; i++)
        if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram)
            count = count_parameters(&scopes[i]);
    free(scopes);
    dwfl_end(dwfl);
    return count;
}

const char *guard_signal_name(int number)
{
    static const struct {
        int number;
        const char *name;
    } names[] = {
        { SIGSEGV, "SIGSEGV" }, { SIGBUS, "SIGBUS" },   { SIGFPE, "SIGFPE" }, { SIGILL, "SIGILL" },
        { SIGABRT, "SIGABRT" }, { SIGTRAP, "SIGTRAP" }, { SIGSYS, "SIGSYS" }, { SIGPIPE, "SIGPIPE" },
    };
    for (int i = 0; i < COUNT_OF(names); i++)
        if (names[i].number == number)
            return names[i].name;
    return "signal";
}
