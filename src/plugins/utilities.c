// The functions that plugins call. They take no world: each works for the host whose callback runs on the calling thread,
// or, on a thread that a plugin made, for the only host there is.
#include "plugins/plugins_internal.h"

#include <plugins/physics.h>

#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default"), used))

static _Thread_local PluginHost *bound;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static PluginHost *only;   // valid while host_count is 1
static int host_count;

PluginHost *utilities_bind(PluginHost *host)
{
    PluginHost *before = bound;
    bound = host;
    return before;
}

void utilities_host_added(PluginHost *host)
{
    pthread_mutex_lock(&lock);
    only = host_count++ == 0 ? host : NULL;
    pthread_mutex_unlock(&lock);
}

void utilities_host_removed(PluginHost *host)
{
    pthread_mutex_lock(&lock);
    host_count--;
    if (only == host || host_count != 1)
        only = NULL;
    pthread_mutex_unlock(&lock);
}

static PluginHost *current(void)
{
    if (bound)
        return bound;
    pthread_mutex_lock(&lock);
    PluginHost *host = host_count == 1 ? only : NULL;
    pthread_mutex_unlock(&lock);
    return host;
}

// ---- by DEF name ----

static bool def_is(const SceneNode *node, const char *name, size_t length)
{
    for (const SceneNode *at = node; at; at = at->parent) {
        if (at->def && strlen(at->def) == length && !strncmp(at->def, name, length))
            return true;
        if (!at->parent || at->parent->kind != SCENE_NODE_INSTANCE || at->parent->target != at)
            return false;
    }
    return false;
}

// Whether "A.B.C" names this node: its own name is the last, those of nodes above it the others, from the right.
static bool path_names(const SceneNode *node, const char *path)
{
    const char *end = path + strlen(path);
    bool is_first = true;
    for (const SceneNode *at = node; at; at = scene_parent(at)) {
        const char *start = end;
        while (start > path && start[-1] != '.')
            start--;
        if (def_is(at, start, (size_t)(end - start))) {
            if (start == path)
                return true;
            end = start - 1;
        } else if (is_first) {
            return false;
        }
        is_first = false;
    }
    return false;
}

static int find_solid(const PluginHost *host, const char *path)
{
    const SceneNode *node = scene_actual(scene_find_def(host->scene, path));
    int solid = node ? physics_solid_of(host->physics, node) : -1;
    // The name may be used for other nodes too: a Solid is what is meant.
    for (int i = 0; solid < 0 && i < physics_solid_count(host->physics); i++)
        if (physics_solid_exists(host->physics, i) && path_names(physics_solid_node(host->physics, i), path))
            solid = i;
    return solid;
}

static int solid_of_def(PluginHost *host, const char *function, const char *name)
{
    if (!name || !*name) {
        diag_warning(host->diags, host->pos, "plugin '%s': %s wants a DEF name, not %s", host->name, function, name ? "an empty one" : "NULL");
        return -1;
    }
    return find_solid(host, name);
}

EXPORTED dGeomID dWebotsGetGeomFromDEF(const char *name)
{
    PluginHost *host = current();
    int solid = host ? solid_of_def(host, "dWebotsGetGeomFromDEF()", name) : -1;
    return solid >= 0 ? physics_ode_geom(host->physics, solid) : NULL;
}

EXPORTED dBodyID dWebotsGetBodyFromDEF(const char *name)
{
    PluginHost *host = current();
    int solid = host ? solid_of_def(host, "dWebotsGetBodyFromDEF()", name) : -1;
    return solid >= 0 ? physics_ode_body(host->physics, solid) : NULL;
}

EXPORTED dJointGroupID dWebotsGetContactJointGroup(void)
{
    PluginHost *host = current();
    return host ? host->groups[host->group] : NULL;
}

// ---- messages, time, console ----

EXPORTED void dWebotsSend(int channel, const void *buffer, int size)
{
    PluginHost *host = current();
    if (!host)
        return;
    if (!buffer || size < 1) {
        diag_warning(host->diags, host->pos, "plugin '%s': dWebotsSend() wants at least one byte", host->name);
        return;
    }
    if (host->devices)
        devices_send_from_plugin(host->devices, channel, buffer, size);
    messages_sent(host, channel, buffer, size);
}

EXPORTED void *dWebotsReceive(int *size)
{
    PluginHost *host = current();
    int count = 0;
    const void *data = host && host->devices ? devices_received_by_plugin(host->devices, &count) : NULL;
    if (host && !data)
        data = messages_received(host, &count);
    if (size)
        *size = count;
    return (void *)data;
}

EXPORTED double dWebotsGetTime(void)
{
    const PluginHost *host = current();
    return host ? 1000.0 * host->time : 0.0;
}

static void print_lines(const PluginHost *host, FILE *out, const char *text)
{
    const char *cleared = strrchr(text, '\f');
    if (cleared) {
        if (isatty(fileno(out)))
            fputs("\033[2J\033[H", out);
        text = cleared + 1;
    }
    while (*text) {
        size_t length = strcspn(text, "\n"), shown = length;
        while (shown > 0 && text[shown - 1] == '\r')
            shown--;
        fprintf(out, "[%s] %.*s\n", host->name, (int)shown, text);
        text += length + (text[length] == '\n');
    }
    fflush(out);
}

EXPORTED void dWebotsConsolePrintf(const char *format, ...)
{
    const PluginHost *host = current();
    if (!host || host->options.is_quiet || !format)
        return;
    char buffer[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(buffer, sizeof buffer, format, arguments);
    va_end(arguments);
    print_lines(host, host->options.out ? host->options.out : stdout, buffer);
}

// ---- what Webots' ODE adds ----

EXPORTED int dAreGeomsSame(dGeomID a, dGeomID b)
{
    return a == b;
}

// Webots' several collision threads want to know which geoms a plugin moves; here one thread calls.
EXPORTED void dGeomSetDynamicFlag(dGeomID geom)
{
    (void)geom;
}

// Plain ODE has no suspension on a hinge, and a hinge-2's is always along its first axis.
static void suspension_is_fixed(const char *function)
{
    PluginHost *host = current();
    if (!host)
        return;
    diag_warning(host->diags, host->pos, "plugin '%s': %s has no effect on a joint that the plugin made", host->name, function);
    diag_hint(host->diags, "give the joint node suspensionAxis and its constants, or make a dJointCreatePU() joint");
}

EXPORTED void dJointSetHingeSuspensionAxis(dJointID joint, dReal x, dReal y, dReal z)
{
    (void)joint, (void)x, (void)y, (void)z;
    suspension_is_fixed("dJointSetHingeSuspensionAxis()");
}

EXPORTED void dJointGetHingeSuspensionAxis(dJointID joint, dVector3 result)
{
    dJointGetHingeAxis(joint, result);
}

EXPORTED void dJointSetHinge2SuspensionAxis(dJointID joint, dReal x, dReal y, dReal z)
{
    dVector3 axis;
    dJointGetHinge2Axis1(joint, axis);
    Vec3 wanted = vec3_normalized(vec3(x, y, z)), has = vec3(axis[0], axis[1], axis[2]);
    if (!(fabs(vec3_dot(wanted, has)) > 1.0 - 1e-6))
        suspension_is_fixed("dJointSetHinge2SuspensionAxis() with another axis than the first");
}

EXPORTED void dJointGetHinge2SuspensionAxis(dJointID joint, dVector3 result)
{
    dJointGetHinge2Axis1(joint, result);
}
