// probe.c - ODE's narrow phase as a kernel among ours: for the pairs that none of ours knows (a mesh that is not convex
// on heights), for rays on meshes and heights, and for everything under ODE's own steppers. In a plain world the geoms
// asked stand alone, in no space and on no body, made when first needed and placed where the shape is.
#include "physics/mirror.h"

#include "base/memory.h"
#include "physics/contacts/contact_narrow.h"

#include <assert.h>
#include <stdlib.h>

struct Probes {
    dGeomID ray;
    dGeomID *geoms;  // by shape
    int count, capacity;
};
typedef struct Probes Probes;

static Probes *probes_of(Physics *physics)
{
    if (!physics->probes) {
        odelib_start();
        physics->probes = memory_alloc(sizeof *physics->probes);
    }
    odelib_thread();
    return physics->probes;
}

static void place(dGeomID geom, GeometryKind kind, const CollidePose *pose)
{
    const double *p = pose->position, *r = pose->rotation;
    if (kind == GEOMETRY_PLANE) {
        dGeomPlaneSetParams(geom, r[2], r[5], r[8], r[2] * p[0] + r[5] * p[1] + r[8] * p[2]);
        return;
    }
    dGeomSetPosition(geom, p[0], p[1], p[2]);
    dGeomSetRotation(geom, (dMatrix3){ r[0], r[1], r[2], 0, r[3], r[4], r[5], 0, r[6], r[7], r[8], 0 });
}

static dGeomID probe_of(Physics *physics, int index)
{
    assert_debug(index >= 0 && index < physics->shape_count);
    Shape *shape = &physics->shapes[index];
    if (shape->ode)
        return shape->ode;
    Probes *probes = probes_of(physics);
    memory_grow(&probes->geoms, &probes->capacity, index + 1, sizeof *probes->geoms);
    while (probes->count <= index)
        probes->geoms[probes->count++] = NULL;
    if (!probes->geoms[index])
        probes->geoms[index] = mirror_make_geom(physics, shape);
    place(probes->geoms[index], shape->kind, narrow_pose(physics, index));
    return probes->geoms[index];
}

int probe_collide(Physics *physics, int a, int b, int max, dContactGeom *points)
{
    assert(a >= 0 && a < physics->shape_count && b >= 0 && b < physics->shape_count);
    dGeomID first = probe_of(physics, a), second = probe_of(physics, b);
    const Shape *x = &physics->shapes[a], *y = &physics->shapes[b];
    if ((x->kind == GEOMETRY_HEIGHTS && !mirror_grid_counts(physics, x, first, second))
        || (y->kind == GEOMETRY_HEIGHTS && !mirror_grid_counts(physics, y, second, first)))
        return 0;
    return odelib_collide(first, second, max, points);
}

bool probe_ray(Physics *physics, int shape, Vec3 origin, Vec3 direction, double range, dContactGeom *hit)
{
    Probes *probes = probes_of(physics);
    if (!probes->ray) {
        probes->ray = dCreateRay(NULL, 1.0);
        dGeomRaySetClosestHit(probes->ray, 1);
    }
    dGeomRaySetLength(probes->ray, range);
    dGeomRaySet(probes->ray, origin.x, origin.y, origin.z, direction.x, direction.y, direction.z);
    return odelib_collide(probes->ray, probe_of(physics, shape), 1, hit) != 0;
}

bool probe_is(const Physics *physics, const void *object) { return physics->probes && object == physics->probes->ray; }

void probe_forget(Physics *physics, int shape)
{
    Probes *probes = physics->probes;
    if (!probes || shape >= probes->count || !probes->geoms[shape])
        return;
    dGeomDestroy(probes->geoms[shape]);
    probes->geoms[shape] = NULL;
}

void probes_destroy(Physics *physics)
{
    Probes *probes = physics->probes;
    if (!probes)
        return;
    for (int i = 0; i < probes->count; i++)
        probe_forget(physics, i);
    if (probes->ray)
        dGeomDestroy(probes->ray);
    free(probes->geoms);
    free(probes);
    physics->probes = NULL;
    if (!mirror_is_open(physics))
        mirror_meshes_destroy(physics);
}
