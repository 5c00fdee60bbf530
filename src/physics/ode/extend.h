// extend.h - what Webots' ODE adds to the joints of ODE: a suspension along any axis on hinges and hinge-2s, positions
// and stops on linear motors. Such a joint gets a method table of its own, in which the methods that give its rows are
// ours; so it acts in every stepper, and everything else about it, its end included, is ODE's.
#ifndef TALUS_PHYSICS_ODEEXTRA_H
#define TALUS_PHYSICS_ODEEXTRA_H

#include "base/vec.h"

#include "physics/ode/layout.h"

// Why this ODE's joints cannot be extended, NULL when they can. ODE is initialised before the first call.
const char *odeextra_problem(void);

// Of a hinge or hinge-2, in the world; fixed to the first body, or to the second where there is no first. The setter
// returns false, having done nothing, for an axis without direction or when there is a problem.
bool odeextra_set_suspension_axis(dJointID joint, Vec3 axis);
Vec3 odeextra_suspension_axis(dJointID joint);
// dParamSuspensionERP or dParamSuspensionCFM of a hinge; at first those of the world. A hinge-2 has them in ODE itself.
bool odeextra_set_hinge_suspension(dJointID hinge, int parameter, double value);
double odeextra_hinge_suspension(dJointID hinge, int parameter);

// Where a linear motor's axis stands against its stops; its rate is that of the first body seen from the second, along
// the axis.
bool odeextra_set_lmotor_position(dJointID motor, int axis, double position);
double odeextra_lmotor_position(dJointID motor, int axis);

// The methods that give the rows of an extended joint; false, and nothing set, for one that is ODE's alone.
bool odeextra_methods(dJointID joint, OdeGetInfo1 *info1, OdeGetInfo2 *info2);

#endif
