// What is Talus's is not a plugin's to destroy: functions of ODE that a plugin finds here first. Given an object of the
// world's they are reported like a fault, before anything is lost. For everybody else, and for objects that the plugin
// made, they do what ODE's do.
#include "plugins/plugins_internal.h"

#include <dlfcn.h>

#define EXPORTED __attribute__((visibility("default"), used))

static const char *owner_of(const PluginHost *host, const void *object)
{
    if (object == host->groups[0] || object == host->groups[1] || object == host->old_group)
        return "the world";
    return physics_ode_owner(host->physics, object);
}

typedef enum Destroyer {
    DESTROY_BODY,
    DESTROY_GEOM,
    DESTROY_JOINT,
    DESTROY_GROUP,
    DESTROY_SPACE,
    DESTROY_WORLD,
    DESTROY_MESH,
    DESTROY_HEIGHTS,
    DESTROYER_COUNT
} Destroyer;
static const char *const names[] = {
    [DESTROY_BODY] = "dBodyDestroy",
    [DESTROY_GEOM] = "dGeomDestroy",
    [DESTROY_JOINT] = "dJointDestroy",
    [DESTROY_GROUP] = "dJointGroupDestroy",
    [DESTROY_SPACE] = "dSpaceDestroy",
    [DESTROY_WORLD] = "dWorldDestroy",
    [DESTROY_MESH] = "dGeomTriMeshDataDestroy",
    [DESTROY_HEIGHTS] = "dGeomHeightfieldDataDestroy",
};
static_assert(COUNT_OF(names) == DESTROYER_COUNT, "one name for every function");

static PluginHost *calling_host(void)
{
    PluginHost *host = guard_owner() ? utilities_host() : NULL;
    return host && host->physics ? host : NULL;
}

// Does not return when the object is not the plugin's.
static void destroy(Destroyer which, void *object)
{
    assert_debug((int)which >= 0 && (int)which < COUNT_OF(names));
    PluginHost *host = object ? calling_host() : NULL;
    const char *owner = host ? owner_of(host, object) : NULL;
    if (owner) {
        host->not_its_own = owner;
        guard_end_called(names[which], 0, true);
    }
    typedef void (*Function)(void *object);
    static _Atomic(Function) functions[DESTROYER_COUNT];  // ODE's
    Function function = functions[which];
    if (!function)
        functions[which] = function = (Function)dlsym(RTLD_NEXT, names[which]);
    function(object);
}

EXPORTED void dBodyDestroy(dBodyID body) { destroy(DESTROY_BODY, body); }
EXPORTED void dGeomDestroy(dGeomID geom) { destroy(DESTROY_GEOM, geom); }
EXPORTED void dJointDestroy(dJointID joint) { destroy(DESTROY_JOINT, joint); }
EXPORTED void dJointGroupDestroy(dJointGroupID group) { destroy(DESTROY_GROUP, group); }
EXPORTED void dSpaceDestroy(dSpaceID space) { destroy(DESTROY_SPACE, space); }
EXPORTED void dWorldDestroy(dWorldID world) { destroy(DESTROY_WORLD, world); }
EXPORTED void dGeomTriMeshDataDestroy(dTriMeshDataID data) { destroy(DESTROY_MESH, data); }
EXPORTED void dGeomHeightfieldDataDestroy(dHeightfieldDataID data) { destroy(DESTROY_HEIGHTS, data); }

// Who writes dInitODE() and this in init and cleanup, as programs do, means no harm: ODE stays for everybody else.
EXPORTED void dCloseODE(void)
{
    if (calling_host())
        return;
    typedef void (*Function)(void);
    static _Atomic(Function) found;
    Function function = found;
    if (!function)
        found = function = (Function)dlsym(RTLD_NEXT, "dCloseODE");
    function();
}
