// contact.h - a point where two shapes touch, in the one form that it has from the collision pass through the solver to
// whoever listens, and what the two surfaces do to each other there. Points of a pair of materials share a row of a
// table; one whose surface is like no other's (a direction of friction, a belt) has its own beside the list of
// contacts.
#ifndef TALUS_PHYSICS_CONTACT_H
#define TALUS_PHYSICS_CONTACT_H

#include "base/common.h"
#include "base/vec.h"

enum {
    SOLVER_CONTACT_SOFT_ERP = 1,
    SOLVER_CONTACT_SOFT_CFM = 2,
    SOLVER_CONTACT_BOUNCE = 4,
    SOLVER_CONTACT_FDIR1 = 8,
    SOLVER_CONTACT_APPROX1_1 = 16,  // mu is a coefficient of the normal force; otherwise a force
    SOLVER_CONTACT_APPROX1_2 = 32,
    SOLVER_CONTACT_APPROX1_N = 64,
    SOLVER_CONTACT_ROLLING = 128,
};

typedef struct SolverSurface {
    uint32_t flags;
    double mu, mu2;          // friction along `fdir1` and across it, INFINITY for no limit
    double rho, rho2, rhoN;  // rolling about them, and spinning
    double bounce, bounce_velocity;
    double soft_erp, soft_cfm;
    double slip1, slip2;      // velocity per force
    double motion1, motion2;  // speed of the first body against the second that friction works towards (belts)
    Vec3 fdir1;               // first direction of friction, where the flag says so; the solver chooses otherwise
} SolverSurface;

// What listeners look at in every step stands in the first line of the cache. The solver looks at no shapes. It takes a
// contact of which the first side has no body as one with its sides, and its normal, turned round.
typedef struct SolverContact {
    int32_t shape[2];  // -1 for a shape that a plugin made
    int32_t body[2];   // -1: the world; not both
    int32_t surface;   // row of the table
    bool has_own_surface;
    bool is_new;  // the pair did not touch in the pass before
    bool is_asleep;
    Vec3 point;                  // world
    Vec3 normal;                 // from side 1 into side 0, as ODE has it
    double depth;                // m
    double target_normal_speed;  // m/s along the normal: not 0 where a fast shape would pass through the other
} SolverContact;

#endif
