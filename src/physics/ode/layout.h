// layout.h - the few things inside the loaded libode that its API does not give, measured once at run time.
#ifndef TALUS_PHYSICS_ODEINSIDE_H
#define TALUS_PHYSICS_ODEINSIDE_H

#include <ode/ode.h>

#define ODE_JOINT_TYPES 20

typedef struct OdeJointInfo {
    unsigned char rows, unbounded;
} OdeJointInfo;
// C++ methods of a joint type, called with the object first as the platform's ABI has it.
typedef void (*OdeGetInfo1)(dJointID joint, OdeJointInfo *info);
typedef void (*OdeGetInfo2)(dJointID joint, double fps, double erp, int row_skip, double *j1, double *j2, int pair_skip,
                            double *rhs_cfm, double *lo_hi, int *findex);

typedef struct OdeLayout {
    const char *problem;          // NULL: everything was found
    int first_body, first_joint;  // offsets in a world
    int next_body, next_joint;    // in a body, in a joint
    int contact;                  // of the dContact in a contact joint
    int flags;                    // of a joint's flags
    unsigned reverse;             // bit: attached with the world first
    int moved_callback;           // in a body
    int body_flags;               // of a body's flags
    unsigned disabled;            // bit
    OdeGetInfo1 info1[ODE_JOINT_TYPES];
    OdeGetInfo2 info2[ODE_JOINT_TYPES];
    void (*fall_asleep)(dWorldID world, double dt);  // ODE's rule of auto-disabling, as its own steps begin with it
} OdeLayout;

const OdeLayout *ode_layout(void);  // ODE is initialised before the first call; the first one is the only user of ODE
// For tests: from now on the library counts as one that cannot be read, for this reason; NULL: as it was measured.
void ode_layout_pretend(const char *problem);

static inline void *ode_layout_pointer(const void *object, int offset)
{
    return *(void *const *)((const char *)object + offset);
}

#endif
