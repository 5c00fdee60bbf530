// The functions that plugins call. They take no world: each works for the host whose callback runs on the calling
// thread, or, on a thread that a plugin made, for the only host there is.
#include "physics/ode/extend.h"
#include "plugins/plugins_internal.h"

#include <plugins/physics.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default"), used))

static _Thread_local PluginHost *bound;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static PluginHost *only;  // valid while host_count is 1
static int host_count;

PluginHost *utilities_bind(PluginHost *host)
{
    PluginHost *before = bound;
    bound = host;
    return before;
}

void utilities_host_added(PluginHost *host)
{
    assert_debug(host && host_count >= 0);
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

PluginHost *utilities_host(void)
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
    assert(solid < physics_solid_count(host->physics));
}

static int solid_of_def(PluginHost *host, const char *function, const char *name)
{
    if (!name || !*name) {
        diag_warning(host->diags, host->pos, "plugin '%s': %s wants a DEF name, not %s", host->name, function,
                     name ? "an empty one" : "NULL");
        return -1;
    }
    return find_solid(host, name);
}

EXPORTED dGeomID dWebotsGetGeomFromDEF(const char *name)
{
    PluginHost *host = utilities_host();
    int solid = host ? solid_of_def(host, "dWebotsGetGeomFromDEF()", name) : -1;
    return solid >= 0 ? physics_ode_geom(host->physics, solid) : NULL;
}

EXPORTED dBodyID dWebotsGetBodyFromDEF(const char *name)
{
    PluginHost *host = utilities_host();
    int solid = host ? solid_of_def(host, "dWebotsGetBodyFromDEF()", name) : -1;
    return solid >= 0 ? physics_ode_body(host->physics, solid) : NULL;
}

EXPORTED dJointGroupID dWebotsGetContactJointGroup(void)
{
    PluginHost *host = utilities_host();
    return host ? host->groups[host->group] : NULL;
}

// ---- messages, time, console ----

enum { MESSAGE_MAX = 16 * 1024 * 1024 };  // bytes

// Whoever wonders why nothing happens is told, once.
static void say_alone(PluginHost *host)
{
    if (!host->has_said_alone)
        diag_warning(host->diags, host->pos,
                     "plugin '%s' talks with controllers, and none runs: nobody hears it or sends it anything",
                     host->name);
    host->has_said_alone = true;
}

EXPORTED void dWebotsSend(int channel, const void *buffer, int size)
{
    PluginHost *host = utilities_host();
    if (!host)
        return;
    if (!buffer || size < 1 || size > MESSAGE_MAX || channel < -1) {
        diag_warning(host->diags, host->pos,
                     "plugin '%s': dWebotsSend() wants a channel of -1 or more and 1 to %d bytes", host->name,
                     MESSAGE_MAX);
        return;
    }
    if (host->options.is_alone)
        say_alone(host);
    if (host->devices)
        devices_send_from_plugin(host->devices, channel, buffer, size);
    messages_sent(host, channel, buffer, size);
}

EXPORTED void *dWebotsReceive(int *size)
{
    PluginHost *host = utilities_host();
    int count = 0;
    // Without devices controllers were switched off. In a world that has none, plugins that listen just in case do no
    // harm.
    if (host && host->options.is_alone && !host->devices)
        say_alone(host);
    const void *data = host && host->devices ? devices_received_by_plugin(host->devices, &count) : NULL;
    if (host && !data)
        data = messages_received(host, &count);
    if (size)
        *size = count;
    return (void *)data;
}

EXPORTED double dWebotsGetTime(void)
{
    const PluginHost *host = utilities_host();
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
    const PluginHost *host = utilities_host();
    if (!host || host->options.is_quiet || !format)
        return;
    char buffer[2048], *text = buffer;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(buffer, sizeof buffer, format, arguments);
    va_end(arguments);
    if (length >= (int)sizeof buffer && (text = malloc((size_t)length + 1))) {
        va_start(arguments, format);
        vsnprintf(text, (size_t)length + 1, format, arguments);
        va_end(arguments);
    }
    if (length > 0)
        print_lines(host, host->options.out ? host->options.out : stdout, text ? text : buffer);
    if (text != buffer)
        free(text);
}

// ---- what Webots' ODE adds ----

EXPORTED int dAreGeomsSame(dGeomID a, dGeomID b) { return a == b; }

// Webots' several collision threads want to know which geoms a plugin moves; here one thread calls.
EXPORTED void dGeomSetDynamicFlag(dGeomID geom) { (void)geom; }

// ODE's way to say it; the guard turns it into a report about the plugin.
static void want_joint(dJointID joint, dJointType type, const char *function)
{
    if (!joint || dJointGetType(joint) != type)
        dDebug(d_ERR_UASSERT, "Bad argument(s) in %s()", function);
}

static void explain(bool is_done, const char *function)
{
    PluginHost *host = is_done ? NULL : utilities_host();
    if (!host)
        return;
    const char *problem = odeextra_problem();
    diag_warning(host->diags, host->pos, "plugin '%s': %s() has no effect: %s%s", host->name, function,
                 problem ? "this ODE cannot be extended, " : "",
                 problem ? problem : "it wants finite numbers, an axis with a direction and an axis number of 0 to 2");
}

static void give(Vec3 axis, dVector3 result)
{
    result[0] = axis.x, result[1] = axis.y, result[2] = axis.z, result[3] = 0.0;
}

EXPORTED void dJointSetHingeSuspensionAxis(dJointID joint, dReal x, dReal y, dReal z)
{
    want_joint(joint, dJointTypeHinge, __func__);
    explain(odeextra_set_suspension_axis(joint, vec3(x, y, z)), __func__);
}

EXPORTED void dJointGetHingeSuspensionAxis(dJointID joint, dVector3 result)
{
    want_joint(joint, dJointTypeHinge, __func__);
    give(odeextra_suspension_axis(joint), result);
}

EXPORTED void dJointSetHinge2SuspensionAxis(dJointID joint, dReal x, dReal y, dReal z)
{
    want_joint(joint, dJointTypeHinge2, __func__);
    explain(odeextra_set_suspension_axis(joint, vec3(x, y, z)), __func__);
}

EXPORTED void dJointGetHinge2SuspensionAxis(dJointID joint, dVector3 result)
{
    want_joint(joint, dJointTypeHinge2, __func__);
    give(odeextra_suspension_axis(joint), result);
}

EXPORTED void dJointSetLMotorPosition(dJointID joint, int axis, dReal position)
{
    want_joint(joint, dJointTypeLMotor, __func__);
    explain(odeextra_set_lmotor_position(joint, axis, position), __func__);
}

EXPORTED dReal dJointGetLMotorPosition(dJointID joint, int axis)
{
    want_joint(joint, dJointTypeLMotor, __func__);
    return odeextra_lmotor_position(joint, axis);
}

// These two stand before ODE's own of the same name, which know no suspension of a hinge; plugins and Talus alike get
// them.
static void (*ode_set_hinge_param)(dJointID, int, dReal);
static dReal (*ode_get_hinge_param)(dJointID, int);

static void find_hinge_params(void)
{
    void *set = dlsym(RTLD_NEXT, "dJointSetHingeParam"), *get = dlsym(RTLD_NEXT, "dJointGetHingeParam");
    // In a program that loads ODE before Talus, ODE's are the first of all.
    set = set ? set : dlsym(RTLD_DEFAULT, "dJointSetHingeParam");
    get = get ? get : dlsym(RTLD_DEFAULT, "dJointGetHingeParam");
    memcpy(&ode_set_hinge_param, &set, sizeof set);
    memcpy(&ode_get_hinge_param, &get, sizeof get);
}

static bool is_suspension(dJointID joint, int parameter)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_hinge_params);
    return (parameter == dParamSuspensionERP || parameter == dParamSuspensionCFM) && joint
           && dJointGetType(joint) == dJointTypeHinge;
}

EXPORTED void dJointSetHingeParam(dJointID joint, int parameter, dReal value)
{
    if (is_suspension(joint, parameter))
        explain(odeextra_set_hinge_suspension(joint, parameter, value), __func__);
    else
        ode_set_hinge_param(joint, parameter, value);
}

EXPORTED dReal dJointGetHingeParam(dJointID joint, int parameter)
{
    return is_suspension(joint, parameter) ? odeextra_hinge_suspension(joint, parameter)
                                           : ode_get_hinge_param(joint, parameter);
}

// ---- what ODE's headers declare and its library lacks ----

EXPORTED void *dGeomTriMeshDataGet(dTriMeshDataID data, int which) { return dGeomTriMeshDataGet2(data, which, NULL); }

void dJointAddPUTorque(dJointID joint, dReal torque);  // headers after ODE 0.16.3 have it no longer

EXPORTED void dJointAddPUTorque(dJointID joint, dReal torque)
{
    want_joint(joint, dJointTypePU, __func__);
    dVector3 axis;
    dJointGetPUAxis1(joint, axis);
    for (int i = 0; i < 2; i++) {
        dBodyID body = dJointGetBody(joint, i);
        dReal share = i == 0 ? torque : -torque;
        if (body)
            dBodyAddTorque(body, share * axis[0], share * axis[1], share * axis[2]);
    }
}
