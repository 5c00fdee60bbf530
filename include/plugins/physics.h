/* plugins/physics.h - what a physics plugin is compiled against.
 * A plugin is a shared library named by WorldInfo.physics that takes part in the simulation with ODE's whole API.
 * It defines, with C names:
 *   void webots_physics_init(void)                          or (dWorldID, dSpaceID, dJointGroupID)
 *   void webots_physics_step(void)                          before every step
 *   int  webots_physics_collide(dGeomID g1, dGeomID g2)     0: the simulator does it, 1: handled, 2: and colliding
 *   void webots_physics_step_end(void)                      after every step
 *   void webots_physics_draw(int pass, const char *view)    or (void)
 *   void webots_physics_cleanup(void)
 * step and cleanup must be there; the others may be. docs/plugins.md tells when each is called. */
#ifndef TALUS_PLUGINS_PHYSICS_H
#define TALUS_PLUGINS_PHYSICS_H

#include <ode/ode.h>
#include <plugins/fluid.h>
#include <pthread.h>

/* Plugins of old draw without including it. */
#ifdef __has_include
#if __has_include(<GL/gl.h>)
#include <GL/gl.h>
#endif
#endif

#if !defined(dDOUBLE) && !defined(dIDEDOUBLE)
#error "physics plugins want ODE in double precision"
#endif

/* init and draw exist with two signatures each, so they are not declared here: DLLEXPORT gives them their C names. */
#ifdef __cplusplus
#define DLLEXPORT extern "C" __attribute__((visibility("default")))
extern "C" {
#else
#define DLLEXPORT __attribute__((visibility("default")))
#endif

__attribute__((visibility("default"))) void webots_physics_step(void);
__attribute__((visibility("default"))) void webots_physics_step_end(void);
__attribute__((visibility("default"))) int webots_physics_collide(dGeomID g1, dGeomID g2);
__attribute__((visibility("default"))) void webots_physics_cleanup(void);

/* Bodies and geoms of Solid nodes by their DEF name, or a path "ROBOT.ARM.HAND". NULL when there is none (a Solid
 * without Physics has no body, one without boundingObject no geom). Valid until webots_physics_cleanup. */
dGeomID dWebotsGetGeomFromDEF(const char *DEFName);
dBodyID dWebotsGetBodyFromDEF(const char *DEFName);
/* Where contact joints of the plugin go. It changes every step; joints in it act in one step and are then destroyed. */
dJointGroupID dWebotsGetContactJointGroup(void);
/* To receivers on a channel, and from emitters on channel 0: all bytes since it was last asked, NULL when there are
 * none. */
void dWebotsSend(int channel, const void *buffer, int size);
void *dWebotsReceive(int *size);
/* Simulated time in milliseconds. */
double dWebotsGetTime(void);
/* One or more lines on the console, behind the plugin's name. '\f' clears it. */
void dWebotsConsolePrintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What Webots' ODE adds to ODE. */
int dAreGeomsSame(dGeomID g1, dGeomID g2);
void dGeomSetDynamicFlag(dGeomID geom);
/* A suspension is soft along its axis by dParamSuspensionERP and dParamSuspensionCFM, which dJointSetHingeParam() takes
 * too. */
void dJointSetHingeSuspensionAxis(dJointID joint, dReal x, dReal y, dReal z);
void dJointGetHingeSuspensionAxis(dJointID joint, dVector3 result);
void dJointSetHinge2SuspensionAxis(dJointID joint, dReal x, dReal y, dReal z);
void dJointGetHinge2SuspensionAxis(dJointID joint, dVector3 result);
/* Where a linear motor's axis is, to be told before every step: its stops then act. */
void dJointSetLMotorPosition(dJointID joint, int axis, dReal position);
dReal dJointGetLMotorPosition(dJointID joint, int axis);

#ifdef __cplusplus
}
#endif

#endif
