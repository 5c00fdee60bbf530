// What happened to a plugin, in words: the cause, the place in its source, the way there, and what may help.
#include "plugins/plugins_internal.h"

#include "base/file.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void words_add(PluginWords *words, const char *format, ...)
{
    assert(words->length < sizeof words->text);
    va_list arguments;
    va_start(arguments, format);
    size_t room = sizeof words->text - words->length;
    int length = vsnprintf(words->text + words->length, room, format, arguments);
    va_end(arguments);
    if (length > 0)
        words->length += (size_t)length < room ? (size_t)length : room - 1;
}

static bool is_file(const char *path, const char *file)
{
    return path && file && !strcmp(path_name(path), path_name(file));
}

static void add_place(PluginWords *out, const GuardPlace *place)
{
    words_add(out, "%s", place->function ? place->function : "an unknown function");
    if (place->file)
        words_add(out, " (%s:%d)", place->file, place->line);
    else if (place->module)
        words_add(out, " (%s)", path_name(place->module));
}

static bool is_one_of(const char *name, const char *const *names, int count)
{
    assert_debug(names && count > 0);
    for (int i = 0; name && i < count; i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

typedef struct FaultView {
    const GuardPlace *places;
    int count;
    int top;   // the frame to name first: what the plugin called, or the plugin's own
    int own;   // the innermost frame of the plugin, -1
    int last;  // without such a frame: what the plugin called as the last thing it did, -1
    bool is_heap, is_exception, is_ode;
} FaultView;

static bool is_caller(const char *function)  // who calls plugins is not of interest
{
    return function && (!strncmp(function, "call_", 5) || !strcmp(function, "on_collide"));
}

static FaultView view_fault(const PluginHost *host, const GuardFault *fault, const GuardPlace *places)
{
    assert(fault->frame_count >= 0 && fault->frame_count <= GUARD_FRAMES);
    static const char *const throwing[] = { "__cxa_throw", "__cxa_rethrow", "_Unwind_RaiseException" };
    FaultView view = {
        .places = places, .count = fault->frame_count, .own = -1, .last = -1, .is_heap = fault->is_heap
    };
    for (int i = 0; i < view.count && view.own < 0; i++)
        if (is_file(places[i].module, host->path))
            view.own = i;
    // A compiler leaves out the frame of a function that ends in a call.
    for (int i = 1; i < view.count && view.own < 0 && view.last < 0; i++)
        if (is_caller(places[i].function))
            view.last = i - 1;
    int end = view.own >= 0 ? view.own : view.last >= 0 ? view.last + 1 : view.count;
    for (int i = 0; i < end; i++) {
        view.is_exception |= is_one_of(places[i].function, throwing, COUNT_OF(throwing));
        view.is_ode |= places[i].module && strstr(path_name(places[i].module), "libode") != NULL;
    }
    // Of what the plugin called, the outermost function is the one its author knows.
    view.top = view.own > 0 ? view.own - 1 : int_max(view.last, 0);
    return view;
}

static void add_cause(PluginWords *out, const PluginHost *host, const GuardFault *fault, const FaultView *view)
{
    assert(view->own < view->count);
    const char *name = guard_signal_name(fault->signal);
    if (fault->is_timeout)
        words_add(out, "did not end in time");
    else if (fault->ender && host->not_its_own)
        words_add(out, "called %s() with an object that is not its own but part of '%s'", fault->ender,
                  host->not_its_own);
    else if (fault->ender && !strcmp(fault->ender, "pthread_exit"))
        words_add(out, "called pthread_exit()");
    else if (fault->ender)
        words_add(out, "called %s(%d)", fault->ender, fault->exit_status);
    else if (view->is_heap)
        words_add(out, "damaged the heap, as a double free does (%s)", name);
    else if (view->is_exception)
        words_add(out, "threw an exception that nothing caught (SIGABRT)");
    else if (fault->signal == SIGABRT && physics_ode_error())
        words_add(out, "was aborted (SIGABRT): ODE says \"%s\"", physics_ode_error());
    else if (fault->signal == SIGABRT)
        words_add(out, "was aborted (SIGABRT)");
    else if (fault->signal == SIGPIPE)
        words_add(out, "wrote to a pipe or socket that nobody reads (SIGPIPE)");
    else if (fault->signal == SIGSEGV || fault->signal == SIGBUS)
        words_add(out, "crashed (%s at address %#llx)", name, (unsigned long long)fault->address);
    else
        words_add(out, "crashed (%s)", name);
}

static void add_stack(PluginWords *out, const FaultView *view)
{
    assert_debug(view->count >= 0 && view->count <= GUARD_FRAMES);
    int known = int_max(view->own, view->last), first = int_max(known - 2, 0), shown = 0;
    for (int i = first; i < view->count && shown < 8; i++, shown++) {
        if (known >= 0 && i > known && (!view->places[i].function || is_caller(view->places[i].function)))
            break;
        words_add(out, "%s", shown ? "; called from " : "stack: ");
        add_place(out, &view->places[i]);
    }
}

static void add_hint(PluginWords *out, const PluginHost *host, const GuardFault *fault, const FaultView *view)
{
    assert(view->own < view->count);
    bool is_refused = fault->signal == SIGABRT && physics_ode_error() && strstr(physics_ode_error(), "argument");
    bool is_null = (fault->signal == SIGSEGV && fault->address < 4096) || is_refused;
    if (fault->is_timeout)
        words_add(out, "the limit is %lld ms (--plugin-timeout); ", (long long)host->options.timeout_ms);
    else if (fault->ender && host->not_its_own)
        words_add(out, "a supervisor may remove nodes; a plugin may disable bodies, geoms and joints; ");
    else if (view->is_heap)
        words_add(
            out,
            "memory was freed twice or written past its end, maybe long before this place: run it under valgrind; ");
    else if (is_null && view->is_ode && (view->own >= 0 || view->last >= 0))
        words_add(
            out, "a NULL body, geom or joint was given to %s: did dWebotsGetBodyFromDEF() find what it was asked for? ",
            view->places[view->top].function ? view->places[view->top].function : "ODE");
    add_stack(out, view);
}

void plugin_report(const PluginHost *host, const GuardFault *fault, const GuardPlace *places, PluginReport *report)
{
    FaultView view = view_fault(host, fault, places);
    report->message = report->hint = (PluginWords){ 0 };
    PluginWords *message = &report->message;
    words_add(message, "physics plugin '%s': ", host->name);
    if (fault->is_outside)
        words_add(message, "a function of its own, outside of its callbacks, ");
    else
        words_add(message, fault->is_own_thread ? "a thread of its own, seen in %s, " : "%s ", host->running);
    add_cause(message, host, fault, &view);
    words_add(message, " at %g s", host->time);
    if (fault->frame_count > 0) {
        words_add(message, " in ");
        if (view.own > 0 && places[view.top].function && fault->signal != SIGABRT && !fault->is_timeout
            && !fault->ender)
            words_add(message, "%s, called from ", places[view.top].function);
        assert_debug(view.own < view.count && view.top < view.count);
        add_place(message, &places[view.own >= 0 ? view.own : view.top]);
        if (view.own < 0 && view.last >= 0)
            words_add(message, ", which a function of the plugin ends with");
    }
    add_hint(&report->hint, host, fault, &view);
}
