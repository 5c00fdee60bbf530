#include "physics/physics_internal.h"

void fluids_add(Physics *physics, SceneNode *node, Pose pose)
{
    (void)physics, (void)node, (void)pose;
}
void fluids_pair(Physics *physics, int solid_shape, int fluid_shape)
{
    (void)physics, (void)solid_shape, (void)fluid_shape;
}
void fluids_begin_pass(Physics *physics)
{
    (void)physics;
}
void fluids_step(Physics *physics, double dt)
{
    (void)physics, (void)dt;
}
void fluids_destroy(Physics *physics)
{
    (void)physics;
}
