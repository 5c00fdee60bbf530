/* plugins/fluid.h - fluids of a plugin's own making, as Webots' ODE has them. <plugins/physics.h> includes it.
 * A fluid has a density, a viscosity and a stream; geoms can be its volume. dImmerse() tells how a geom lies in such a
 * geom. A link made of that answer pushes its body in every step until it is destroyed: by buoyancy, drag and viscous
 * resistance. So a plugin empties its group and makes its links in webots_physics_step(). docs/plugins.md lists what is
 * left out. */
#ifndef TALUS_PLUGINS_FLUID_H
#define TALUS_PLUGINS_FLUID_H

#include <ode/ode.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dxFluid *dFluidID;
typedef struct dxImmersionLink *dImmersionLinkID;
typedef struct dxImmersionLinkGroup *dImmersionLinkGroupID;
typedef struct dxImmersionOutline *dImmersionOutlineID;

enum { dImmersionProjectedAreas = 1, dImmersionImmersedArea = 2 };

typedef struct dImmersionSurfaceParameters {
    int mode; /* which area drag goes by; with the immersed one the first coefficients count */
    dVector3 dragForceCoefficients, dragTorqueCoefficients;
    dReal viscousResistanceForceCoefficient, viscousResistanceTorqueCoefficient;
    dReal maxAngularVel, maxLinearVel; /* drag grows no more beyond these; 0: no limit */
} dImmersionSurfaceParameters;

typedef struct dImmersionGeom {
    dVector3 buoyancyCenter; /* in the world */
    dReal volume, area;      /* below the surface */
    dReal referenceArea;
    dVector3 projectedAreas;     /* of that area along the axes of g1 */
    dImmersionOutlineID outline; /* always 0 */
    dGeomID g1, g2;              /* what is immersed, and the fluid's geom */
} dImmersionGeom;

typedef struct dImmersion {
    dImmersionSurfaceParameters surface;
    dImmersionGeom geom;
} dImmersion;

dFluidID dFluidCreate(dWorldID world);
void dFluidDestroy(dFluidID fluid); /* its links act no more, but are not destroyed */
dWorldID dFluidGetWorld(dFluidID fluid);
void dFluidSetData(dFluidID fluid, void *data);
void *dFluidGetData(dFluidID fluid);
void dFluidSetDensity(dFluidID fluid, dReal density);
dReal dFluidGetDensity(dFluidID fluid);
void dFluidSetViscosity(dFluidID fluid, dReal viscosity);
dReal dFluidGetViscosity(dFluidID fluid);
void dFluidSetStreamVel(dFluidID fluid, const dReal *velocity);
const dReal *dFluidGetStreamVel(dFluidID fluid);
void dFluidEnable(dFluidID fluid);
void dFluidDisable(dFluidID fluid);
int dFluidIsEnabled(dFluidID fluid);
dGeomID dFluidGetFirstGeom(dFluidID fluid);
dGeomID dFluidGetNextGeom(dGeomID geom);
void dGeomSetFluid(dGeomID geom, dFluidID fluid);
dFluidID dGeomGetFluid(dGeomID geom);
int dFluidDynamicsStep(dWorldID world); /* is done before every step anyway */

/* Of boxes, spheres, capsules, cylinders and closed meshes. The plane is a x + b y + c z = d, its normal out of the
 * fluid. */
dReal dGeomGetArea(dGeomID geom);
dReal dGeomGetVolume(dGeomID geom);
void dGeomGetImmersionPlane(dGeomID geom, dVector4 plane);
int dGeomIsBelowImmersionPlane(dGeomID geom, dReal x, dReal y, dReal z);
int dGeomIsInside(dGeomID geom, dReal x, dReal y, dReal z);
/* The same for one class of geoms. */
dReal dGeomBoxGetArea(dGeomID box);
dReal dGeomBoxGetVolume(dGeomID box);
void dGeomBoxGetImmersionPlane(dGeomID box, dVector4 plane);
dReal dGeomSphereGetArea(dGeomID sphere);
dReal dGeomSphereGetVolume(dGeomID sphere);
void dGeomSphereGetImmersionPlane(dGeomID sphere, dVector4 plane);
dReal dGeomCapsuleGetArea(dGeomID capsule);
dReal dGeomCapsuleGetVolume(dGeomID capsule);
void dGeomCapsuleGetImmersionPlane(dGeomID capsule, dVector4 plane);
dReal dGeomCylinderGetArea(dGeomID cylinder);
dReal dGeomCylinderGetVolume(dGeomID cylinder);
void dGeomCylinderGetImmersionPlane(dGeomID cylinder, dVector4 plane);
dReal dGeomTriMeshGetArea(dGeomID mesh);
dReal dGeomTriMeshGetVolume(dGeomID mesh);
void dGeomTriMeshGetImmersionPlane(dGeomID mesh, dVector4 plane);
int dImmerse(dGeomID o1, dGeomID o2, int flags, dImmersionGeom *immersion); /* 1 when some of it is below the surface */

dImmersionLinkGroupID dImmersionLinkGroupCreate(void);
void dImmersionLinkGroupEmpty(dImmersionLinkGroupID group);
void dImmersionLinkGroupDestroy(dImmersionLinkGroupID group);
dImmersionLinkID dImmersionLinkCreate(dWorldID world, dImmersionLinkGroupID group, const dImmersion *immersion);
void dImmersionLinkDestroy(dImmersionLinkID link); /* does nothing to one in a group */
void dImmersionLinkAttach(dImmersionLinkID link, dBodyID body, dFluidID fluid);
void dImmersionLinkEnable(dImmersionLinkID link);
void dImmersionLinkDisable(dImmersionLinkID link);
int dImmersionLinkIsEnabled(dImmersionLinkID link);
void dImmersionLinkSetData(dImmersionLinkID link, void *data);
void *dImmersionLinkGetData(dImmersionLinkID link);
dBodyID dImmersionLinkGetBody(dImmersionLinkID link);
dFluidID dImmersionLinkGetFluid(dImmersionLinkID link);
dImmersionLinkID dLinkingImmersionLink(dBodyID body, dFluidID fluid);
int dAreLinked(dBodyID body, dFluidID fluid);
int dBodyGetNumImmersionLinks(dBodyID body);
dImmersionLinkID dBodyGetImmersionLink(dBodyID body, int index);
int dFluidGetNumImmersionLinks(dFluidID fluid);
dImmersionLinkID dFluidGetImmersionLink(dFluidID fluid, int index);

#ifdef __cplusplus
}
#endif

#endif
