// mirror.h - what the rim is told. While a plugin is at work, or a stepper of ODE's, every body, shape and constraint
// of ours has a twin in ODE; the functions below bring a change of ours to its twin, and do nothing in a plain world.
// They are called by whoever changed the arrays, after the change. The way back, what others did to the twins, is
// body_gather() and shape_follow(). Everything that calls ODE is in ode/.
#ifndef TALUS_PHYSICS_MIRROR_H
#define TALUS_PHYSICS_MIRROR_H

#include "physics/collide/collide.h"
#include "physics/physics_internal.h"

static inline bool mirror_is_open(const Physics *physics) { return physics->world != NULL; }

void mirror_open(Physics *physics);            // makes the twins of all; open once, it stays so
void mirror_close(Physics *physics);           // at the end of the world, while its arrays still stand
void mirror_settings(const Physics *physics);  // gravity, ERP, CFM ...

// ---- bodies ----
void mirror_body_make(Physics *physics, int body);
void mirror_body_destroy(Physics *physics, int body);
void mirror_body_state(Physics *physics, int body);  // pose and velocities, to the last bit
void mirror_body_mass(const Physics *physics, int body);
void mirror_body_settings(const Physics *physics, int body);  // mass, damping and what else is no state
void mirror_body_enabled(Physics *physics, int body);         // asleep or awake, as its state says
void mirror_body_frozen(Physics *physics, int body, bool is_frozen);
void mirror_body_push(Physics *physics, int body, Vec3 force, Vec3 torque);  // adds to what its twin gathered
void mirror_body_force(Physics *physics, int body);  // the force and torque of its state in place of that
void mirror_forces_take(Physics *physics);           // the other way: what twins gathered, into all states
void mirror_body_group(Physics *physics, int body);  // its geoms stand in a space of their own when there are several

void mirror_check_inputs(Physics *physics);  // before a step: drops what is not finite at the twins

// ---- shapes ----
dGeomID mirror_make_geom(Physics *physics, Shape *shape);  // one that stands in no space and on no body
// Whether ODE, which counts cells of a grid of heights in ints and ends the process when there are more, may collide it
// with the other.
bool mirror_grid_counts(Physics *physics, const Shape *grid, dGeomID geom, dGeomID other);
dGeomID mirror_make_form(GeometryKind kind, Vec3 size);  // NULL: ODE has no such class
void mirror_shape_make(Physics *physics, int shape);
void mirror_shape_destroy(Physics *physics, int shape);
void mirror_shape_place(Physics *physics, int shape);  // as `placed` says
void mirror_meshes_destroy(Physics *physics);
void mirror_narrow_pose(const Shape *shape, CollidePose *pose);  // of the geom, as kernels see it
void mirror_narrow_size(const Shape *shape, Vec3 *size);         // as Shape.size, left alone for what has none
void mirror_narrow_bounds(const Shape *shape, BroadBox *box);
bool mirror_narrow_has_own_surface(const Shape *shape);  // the geom still has the triangles it was made of

// ---- constraints ----
void mirror_constraint_make(Physics *physics, Constraint *constraint);
void mirror_constraint_destroy(Constraint *constraint);
void mirror_constraint_place(Physics *physics, Constraint *constraint);
void mirror_constraint_number(Constraint *constraint, int axis, ConstraintNumber number, double value);
void mirror_constraint_angle(Constraint *constraint, int axis);
void mirror_constraint_motor_axis(Constraint *constraint, int axis, int relative, Vec3 world);
void mirror_constraint_wrenches(Constraint *constraint);

// ---- contacts ----
void mirror_contact_make(Physics *physics, int contact);
void mirror_contact_destroy(Physics *physics, int contact);  // of one that sleeps
void mirror_contacts_drop(Physics *physics);                 // of all awake ones
void mirror_contact_wants_force(Physics *physics, int contact, bool want);

// ---- what a plugin may have joined or attached ----
bool mirror_are_joined(const Physics *physics, int a, int b);   // b -1: to the static world
bool mirror_shapes_are_joined(const Shape *a, const Shape *b);  // of which one is on a body that is not ours
int mirror_joint_count(const Physics *physics, int body);

// ---- dCollide for pairs that no kernel of ours knows, and under ODE's steppers (probe.c) ----
int odelib_collide(dGeomID a, dGeomID b, int max, dContactGeom *points);  // dCollide; 0 when ODE refuses it (init.c)
int probe_collide(Physics *physics, int a, int b, int max, dContactGeom *points);
bool probe_ray(Physics *physics, int shape, Vec3 origin, Vec3 direction, double range, dContactGeom *hit);
bool probe_is(const Physics *physics, const void *object);  // one of what rays are asked with
void probe_forget(Physics *physics, int shape);             // it goes
void probes_destroy(Physics *physics);

#endif
