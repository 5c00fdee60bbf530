// Addresses to functions and source lines, from the debug information of the loaded files.
#include "plugins/guard.h"

#include "base/arena.h"

#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <signal.h>
#include <stdlib.h>
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
static Dwfl *open_process(void)
{
    static const Dwfl_Callbacks callbacks = { .find_elf = dwfl_linux_proc_find_elf, .find_debuginfo = dwfl_standard_find_debuginfo };
    unsetenv("DEBUGINFOD_URLS");
    Dwfl *dwfl = dwfl_begin(&callbacks);
    if (dwfl)
        dwfl_report_begin(dwfl);
    if (dwfl && dwfl_linux_proc_report(dwfl, getpid()) == 0 && dwfl_report_end(dwfl, NULL, NULL) == 0)
        return dwfl;
    dwfl_end(dwfl);
    return NULL;
}

void guard_places(const GuardFault *fault, GuardPlace *places, Arena *arena)
{
    for (int i = 0; i < fault->frame_count; i++)
        places[i] = (GuardPlace){ 0 };
    Dwfl *dwfl = open_process();
    for (int i = 0; dwfl && i < fault->frame_count; i++)
        place_of(dwfl, (uintptr_t)fault->frames[i], i > 0 || !fault->is_fault_frame_known, &places[i], arena);
    dwfl_end(dwfl);
}

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
    Dwfl *dwfl = open_process();
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
    static const struct { int number; const char *name; } names[] = {
        { SIGSEGV, "SIGSEGV" }, { SIGBUS, "SIGBUS" }, { SIGFPE, "SIGFPE" }, { SIGILL, "SIGILL" }, { SIGABRT, "SIGABRT" },
    };
    for (int i = 0; i < COUNT_OF(names); i++)
        if (names[i].number == number)
            return names[i].name;
    return "signal";
}
