// drag.h - what a fluid does to what moves in it. Pure functions.
#ifndef TALUS_PHYSICS_DRAG_H
#define TALUS_PHYSICS_DRAG_H

#include "physics/fluids/immersion.h"

// ImmersionProperties as numbers.
typedef struct DragProperties {
    bool is_projected;  // areas seen along the axes of the shape, or else the whole wetted one with the .x coefficients
    Vec3 drag_force, drag_torque;
    double viscous_force, viscous_torque;
} DragProperties;

typedef struct DragFluid {
    double density, viscosity;
} DragFluid;

typedef struct DragMotion {
    Quat frame;            // of the shape
    Vec3 linear, angular;  // through the fluid, in the world
    double mass, min_inertia;
    double dt;
} DragMotion;

typedef struct Drag {
    Vec3 force, torque;  // in the world
} Drag;

// Drag and viscous resistance, together at most what stops the motion within a step.
Drag drag_of(const DragProperties *properties, DragFluid fluid, const Immersion *wet, DragMotion motion);

#endif
