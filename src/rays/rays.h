// rays.h - rays against what is seen: the Shapes and CadShapes of a world with their colours, and the light that they send back.
// For infra-red sensors, lidars, range finders and cameras: many rays in, one hit out for each.
// Belongs here: visual forms and where they are, the search tree over them (Embree), the look of a surface at a hit, lights.
// Not here: bounding objects (physics/ray.h), what a sensor makes of a hit (devices/).
//
// A Rays borrows the physics (which has the scene and the assets) and owns all the rest. Forms with a formula are met exactly,
// in double precision; meshes are searched in single precision and the distance is then computed in double. Surfaces have one
// side, as in Webots: a ray that starts inside a form leaves it unseen. Of two surfaces at the same distance the one that the
// file names first counts, so the answer never depends on the tree's past.
#ifndef TALUS_RAYS_RAYS_H
#define TALUS_RAYS_RAYS_H

#include "physics/physics.h"

typedef struct Rays Rays;

Rays *rays_create(Physics *physics, DiagSink *diags);
void rays_destroy(Rays *rays);  // NULL is fine

// Brings the visuals to where their solids are. Lists them anew after an edit of the scene; otherwise allocates nothing and
// does nothing for what did not move. To be called before casting, when something is due to look.
void rays_update(Rays *rays);
// After physics was made anew, or the scene was changed without physics being told.
void rays_rebind(Rays *rays, Physics *physics);

typedef struct Ray {
    Vec3 origin, direction;  // direction of unit length
    double near, far;        // hits between them, `near` excluded
} Ray;

typedef struct RayHit {
    int visual;        // -1: nothing was hit, the rest means nothing
    int solid;         // that carries it, -1: the world
    double distance;
    Vec3 normal;       // unit, world, towards the ray's origin
    Vec3 smooth;       // the normal that light sees: between those of a mesh's corners
    double u, v;       // on the texture, v upwards
    int triangle;      // of a mesh, else -1
} RayHit;

// Whether a visual may be hit; NULL means every one may.
typedef bool (*RaysFilter)(const Rays *rays, int visual, void *context);
void rays_cast(const Rays *rays, const Ray *queries, int count, RaysFilter filter, void *context, RayHit *hits);

int rays_visual_count(const Rays *rays);
SceneNode *rays_visual_node(const Rays *rays, int visual);  // Shape or CadShape
int rays_visual_solid(const Rays *rays, int visual);        // -1: the world

// What is seen at a hit: colour of texture and material together, transparency taken off.
typedef struct RayLook {
    Vec3 color;
    double roughness, occlusion, transparency;  // 0 where the appearance has none
} RayLook;
RayLook rays_look(const Rays *rays, const RayHit *hit);

// The light that comes along a ray: linear red, green and blue before any exposure. `hit` is the ray's own, from rays_cast; behind
// transparent surfaces it goes on by itself. May be called by several threads between updates.
Vec3 rays_radiance(const Rays *rays, const Ray *ray, const RayHit *hit);

const char *rays_library(void);  // name and version of what searches, for `talus doctor`

#endif
