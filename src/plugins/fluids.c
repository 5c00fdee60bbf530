// Fluids and immersion links that plugins make. They are few, so lists in the order of creation will do; an id that is
// not in its list is a wrong argument, never followed.
#include "base/memory.h"
#include "physics/fluids/drag.h"
#include "physics/ode/layout.h"
#include "plugins/plugins_internal.h"

#include <plugins/fluid.h>

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default"), used))

struct dxFluid {
    dWorldID world;
    double density, viscosity;
    dVector3 stream;
    void *data;
    bool is_disabled;
};

struct dxImmersionLinkGroup {
    int unused;  // links name their group
};

struct dxImmersionLink {
    dWorldID world;
    dImmersionLinkGroupID group;
    dImmersion immersion;
    Quat frame;         // of the immersed geom, whose areas are along its axes
    double total_area;  // of that geom
    dBodyID body;
    dFluidID fluid;
    bool is_disabled;
    void *data;
};

// A geom that is a fluid's volume. Geoms end without telling: never followed.
typedef struct FluidGeom {
    dGeomID geom;
    dFluidID fluid;
} FluidGeom;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    dFluidID *fluids;
    dImmersionLinkID *links;
    FluidGeom *geoms;
    int fluid_count, link_count, geom_count, fluid_capacity, link_capacity, geom_capacity;
} all;

static int fluid_index(dFluidID fluid)
{
    for (int i = 0; i < all.fluid_count; i++)
        if (all.fluids[i] == fluid)
            return i;
    return -1;
}

static int link_index(dImmersionLinkID link)
{
    for (int i = all.link_count - 1; i >= 0; i--)
        if (all.links[i] == link)
            return i;
    return -1;
}

static dFluidID want_fluid(dFluidID fluid, const char *function)
{
    pthread_mutex_lock(&lock);
    bool is_known = fluid_index(fluid) >= 0;
    pthread_mutex_unlock(&lock);
    if (!is_known)
        dDebug(d_ERR_UASSERT, "Bad argument(s) in %s()", function);
    return fluid;
}

static dImmersionLinkID want_link(dImmersionLinkID link, const char *function)
{
    pthread_mutex_lock(&lock);
    bool is_known = link_index(link) >= 0;
    pthread_mutex_unlock(&lock);
    if (!is_known)
        dDebug(d_ERR_UASSERT, "Bad argument(s) in %s()", function);
    return link;
}

static void *want(void *object, const char *function)
{
    if (!object)
        dDebug(d_ERR_UASSERT, "Bad argument(s) in %s()", function);
    return object;
}

// ---- fluids ----

EXPORTED dFluidID dFluidCreate(dWorldID world)
{
    want(world, __func__);
    dFluidID fluid = memory_alloc(sizeof *fluid);
    *fluid = (struct dxFluid){ .world = world, .density = 1000.0, .viscosity = 0.001 };
    pthread_mutex_lock(&lock);
    *memory_push(all.fluids, all.fluid_count, all.fluid_capacity) = fluid;
    pthread_mutex_unlock(&lock);
    return fluid;
}

static void forget_geoms(dGeomID geom, dFluidID fluid)
{
    int kept = 0;
    for (int i = 0; i < all.geom_count; i++)
        if (all.geoms[i].geom != geom && all.geoms[i].fluid != fluid)
            all.geoms[kept++] = all.geoms[i];
    all.geom_count = kept;
}

static void destroy_fluid(int index)
{
    assert_debug(index >= 0 && index < all.fluid_count);
    dFluidID fluid = all.fluids[index];
    forget_geoms(NULL, fluid);
    for (int i = 0; i < all.link_count; i++)
        if (all.links[i]->fluid == fluid)
            all.links[i]->fluid = NULL;
    free(fluid);
    memmove(all.fluids + index, all.fluids + index + 1, (size_t)(--all.fluid_count - index) * sizeof *all.fluids);
}

EXPORTED void dFluidDestroy(dFluidID fluid)
{
    want_fluid(fluid, __func__);
    pthread_mutex_lock(&lock);
    destroy_fluid(fluid_index(fluid));
    pthread_mutex_unlock(&lock);
}

EXPORTED dWorldID dFluidGetWorld(dFluidID fluid) { return want_fluid(fluid, __func__)->world; }

EXPORTED void dFluidSetData(dFluidID fluid, void *data) { want_fluid(fluid, __func__)->data = data; }

EXPORTED void *dFluidGetData(dFluidID fluid) { return want_fluid(fluid, __func__)->data; }

EXPORTED void dFluidSetDensity(dFluidID fluid, dReal density) { want_fluid(fluid, __func__)->density = density; }

EXPORTED dReal dFluidGetDensity(dFluidID fluid) { return want_fluid(fluid, __func__)->density; }

EXPORTED void dFluidSetViscosity(dFluidID fluid, dReal viscosity)
{
    want_fluid(fluid, __func__)->viscosity = viscosity;
}

EXPORTED dReal dFluidGetViscosity(dFluidID fluid) { return want_fluid(fluid, __func__)->viscosity; }

EXPORTED void dFluidSetStreamVel(dFluidID fluid, const dReal *velocity)
{
    want((void *)velocity, __func__);
    memcpy(want_fluid(fluid, __func__)->stream, velocity, 3 * sizeof *velocity);
}

EXPORTED const dReal *dFluidGetStreamVel(dFluidID fluid) { return want_fluid(fluid, __func__)->stream; }

EXPORTED void dFluidEnable(dFluidID fluid) { want_fluid(fluid, __func__)->is_disabled = false; }

EXPORTED void dFluidDisable(dFluidID fluid) { want_fluid(fluid, __func__)->is_disabled = true; }

EXPORTED int dFluidIsEnabled(dFluidID fluid) { return !want_fluid(fluid, __func__)->is_disabled; }

EXPORTED void dGeomSetFluid(dGeomID geom, dFluidID fluid)
{
    want(geom, __func__);
    if (fluid)
        want_fluid(fluid, __func__);
    pthread_mutex_lock(&lock);
    forget_geoms(geom, NULL);
    if (fluid) {
        *memory_push(all.geoms, all.geom_count, all.geom_capacity) = (FluidGeom){ geom, fluid };
    }
    pthread_mutex_unlock(&lock);
}

EXPORTED dFluidID dGeomGetFluid(dGeomID geom)
{
    dFluidID fluid = NULL;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < all.geom_count; i++)
        if (all.geoms[i].geom == geom)
            fluid = all.geoms[i].fluid;
    pthread_mutex_unlock(&lock);
    return fluid;
}

// The fluid's first geom behind `after`; its very first for NULL.
static dGeomID geom_after(dFluidID fluid, dGeomID after)
{
    dGeomID found = NULL;
    bool is_behind = !after;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < all.geom_count && !found; i++) {
        if (is_behind && all.geoms[i].fluid == fluid)
            found = all.geoms[i].geom;
        is_behind |= all.geoms[i].geom == after;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

EXPORTED dGeomID dFluidGetFirstGeom(dFluidID fluid) { return geom_after(want_fluid(fluid, __func__), NULL); }

EXPORTED dGeomID dFluidGetNextGeom(dGeomID geom)
{
    dFluidID fluid = dGeomGetFluid(geom);
    return fluid ? geom_after(fluid, geom) : NULL;
}

// ---- links ----

EXPORTED dImmersionLinkGroupID dImmersionLinkGroupCreate(void)
{
    return memory_alloc(sizeof(struct dxImmersionLinkGroup));
}

EXPORTED void dImmersionLinkGroupEmpty(dImmersionLinkGroupID group)
{
    want(group, __func__);
    pthread_mutex_lock(&lock);
    int kept = 0;
    for (int i = 0; i < all.link_count; i++) {
        if (all.links[i]->group == group)
            free(all.links[i]);
        else
            all.links[kept++] = all.links[i];
    }
    all.link_count = kept;
    assert(all.link_count <= all.link_capacity);
    pthread_mutex_unlock(&lock);
}

EXPORTED void dImmersionLinkGroupDestroy(dImmersionLinkGroupID group)
{
    dImmersionLinkGroupEmpty(group);
    free(group);
}

EXPORTED dImmersionLinkID dImmersionLinkCreate(dWorldID world, dImmersionLinkGroupID group, const dImmersion *immersion)
{
    want(world, __func__);
    want((void *)immersion, __func__);
    dImmersionLinkID link = memory_alloc(sizeof *link);
    *link = (struct dxImmersionLink){ .world = world, .group = group, .immersion = *immersion, .frame = QUAT_IDENTITY };
    if (immersion->geom.g1) {
        dQuaternion q;
        dGeomGetQuaternion(immersion->geom.g1, q);
        link->frame = (Quat){ .w = q[0], .x = q[1], .y = q[2], .z = q[3] };
        link->total_area = dGeomGetArea(immersion->geom.g1);
    }
    pthread_mutex_lock(&lock);
    *memory_push(all.links, all.link_count, all.link_capacity) = link;
    pthread_mutex_unlock(&lock);
    return link;
}

EXPORTED void dImmersionLinkDestroy(dImmersionLinkID link)
{
    if (want_link(link, __func__)->group)
        return;
    pthread_mutex_lock(&lock);
    int index = link_index(link);
    assert(index >= 0 && index < all.link_count);  // want_link() found it
    free(link);
    memmove(all.links + index, all.links + index + 1, (size_t)(--all.link_count - index) * sizeof *all.links);
    pthread_mutex_unlock(&lock);
}

EXPORTED void dImmersionLinkAttach(dImmersionLinkID link, dBodyID body, dFluidID fluid)
{
    want_link(link, __func__)->body = body;
    link->fluid = fluid ? want_fluid(fluid, __func__) : NULL;
}

EXPORTED void dImmersionLinkEnable(dImmersionLinkID link) { want_link(link, __func__)->is_disabled = false; }

EXPORTED void dImmersionLinkDisable(dImmersionLinkID link) { want_link(link, __func__)->is_disabled = true; }

EXPORTED int dImmersionLinkIsEnabled(dImmersionLinkID link) { return !want_link(link, __func__)->is_disabled; }

EXPORTED void dImmersionLinkSetData(dImmersionLinkID link, void *data) { want_link(link, __func__)->data = data; }

EXPORTED void *dImmersionLinkGetData(dImmersionLinkID link) { return want_link(link, __func__)->data; }

EXPORTED dBodyID dImmersionLinkGetBody(dImmersionLinkID link) { return want_link(link, __func__)->body; }

EXPORTED dFluidID dImmersionLinkGetFluid(dImmersionLinkID link) { return want_link(link, __func__)->fluid; }

// Of the links to a body, to a fluid, or to both, the one of this index; NULL stands for any. `count` (may be NULL) is
// how many.
static dImmersionLinkID find_link(dBodyID body, dFluidID fluid, int index, int *count)
{
    dImmersionLinkID found = NULL;
    int seen = 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < all.link_count; i++) {
        dImmersionLinkID link = all.links[i];
        if ((body && link->body != body) || (fluid && link->fluid != fluid))
            continue;
        if (seen++ == index)
            found = link;
    }
    pthread_mutex_unlock(&lock);
    if (count)
        *count = seen;
    return found;
}

EXPORTED dImmersionLinkID dLinkingImmersionLink(dBodyID body, dFluidID fluid)
{
    return find_link(want(body, __func__), want_fluid(fluid, __func__), 0, NULL);
}

EXPORTED int dAreLinked(dBodyID body, dFluidID fluid)
{
    return find_link(want(body, __func__), want_fluid(fluid, __func__), 0, NULL) != NULL;
}

EXPORTED int dBodyGetNumImmersionLinks(dBodyID body)
{
    int count;
    find_link(want(body, __func__), NULL, -1, &count);
    return count;
}

EXPORTED dImmersionLinkID dBodyGetImmersionLink(dBodyID body, int index)
{
    return find_link(want(body, __func__), NULL, index, NULL);
}

EXPORTED int dFluidGetNumImmersionLinks(dFluidID fluid)
{
    int count;
    find_link(NULL, want_fluid(fluid, __func__), -1, &count);
    return count;
}

EXPORTED dImmersionLinkID dFluidGetImmersionLink(dFluidID fluid, int index)
{
    return find_link(NULL, want_fluid(fluid, __func__), index, NULL);
}

// ---- the step ----

// Bodies end without telling; where ODE can be read, its list tells.
static bool is_alive(dWorldID world, dBodyID body)
{
    const OdeLayout *inside = ode_layout();
    if (inside->problem)
        return true;
    dBodyID at = ode_layout_pointer(world, inside->first_body);
    while (at && at != body)
        at = ode_layout_pointer(at, inside->next_body);
    return at != NULL;
}

static Vec3 at_most(Vec3 velocity, double limit)
{
    double length = vec3_length(velocity);
    return limit > 0.0 && length > limit ? vec3_scale(velocity, limit / length) : velocity;
}

static Vec3 from_ode(const dReal *from) { return vec3(from[0], from[1], from[2]); }

// The same law of drag as for our own fluids, so a plugin that takes over the immersion of a solid changes nothing
// by that alone.
static void push(const struct dxImmersionLink *link, double dt)
{
    assert(dt > 0.0 && link->body && link->fluid);
    const dImmersionSurfaceParameters *surface = &link->immersion.surface;
    const dImmersionGeom *geom = &link->immersion.geom;
    const struct dxFluid *fluid = link->fluid;
    dVector3 gravity;
    dMass mass;
    dWorldGetGravity(link->world, gravity);
    dBodyGetMass(link->body, &mass);
    DragProperties properties = { (surface->mode & dImmersionProjectedAreas) != 0,
                                  from_ode(surface->dragForceCoefficients), from_ode(surface->dragTorqueCoefficients),
                                  surface->viscousResistanceForceCoefficient,
                                  surface->viscousResistanceTorqueCoefficient };
    Immersion wet = { .volume = geom->volume,
                      .area = geom->area,
                      .total_area = link->total_area,
                      .projected = from_ode(geom->projectedAreas) };
    Vec3 v = vec3_sub(from_ode(dBodyGetLinearVel(link->body)), from_ode(fluid->stream));
    DragMotion motion = { link->frame,
                          at_most(v, surface->maxLinearVel),
                          at_most(from_ode(dBodyGetAngularVel(link->body)), surface->maxAngularVel),
                          mass.mass,
                          fmin(mass.I[0], fmin(mass.I[5], mass.I[10])),
                          dt };
    Drag drag = drag_of(&properties, (DragFluid){ fluid->density, fluid->viscosity }, &wet, motion);
    Vec3 force = vec3_mad(drag.force, from_ode(gravity), -fluid->density * geom->volume);
    const dReal *center = geom->buoyancyCenter;
    dBodyAddForceAtPos(link->body, force.x, force.y, force.z, center[0], center[1], center[2]);
    dBodyAddTorque(link->body, drag.torque.x, drag.torque.y, drag.torque.z);
}

bool plugin_fluids_step(dWorldID world, double dt)
{
    assert(dt > 0.0);
    bool any = false;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < all.link_count; i++) {
        dImmersionLinkID link = all.links[i];
        if (link->world != world || !link->body || !link->fluid || link->is_disabled || link->fluid->is_disabled)
            continue;
        if (!is_alive(world, link->body)) {
            link->body = NULL;
            continue;
        }
        if (dBodyIsEnabled(link->body))
            push(link, dt);
        any = true;
    }
    pthread_mutex_unlock(&lock);
    return any;
}

EXPORTED int dFluidDynamicsStep(dWorldID world)
{
    want(world, __func__);
    const PluginHost *host = utilities_host();
    if (host)
        plugin_fluids_step(world, physics_time_step(host->physics));
    return 1;
}

void plugin_fluids_forget(dWorldID world)
{
    pthread_mutex_lock(&lock);
    int kept = 0;
    for (int i = 0; i < all.link_count; i++) {
        if (all.links[i]->world == world)
            free(all.links[i]);
        else
            all.links[kept++] = all.links[i];
    }
    all.link_count = kept;
    assert(all.link_count <= all.link_capacity);
    for (int i = all.fluid_count - 1; i >= 0; i--)
        if (all.fluids[i]->world == world)
            destroy_fluid(i);
    pthread_mutex_unlock(&lock);
}
