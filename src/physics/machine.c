#include "physics/physics_internal.h"

void machines_add(Physics *physics, SceneNode *node, int solid, Pose frame)
{
    (void)physics, (void)node, (void)solid, (void)frame;
}
void machines_built(Physics *physics)
{
    (void)physics;
}
void machines_prestep(Physics *physics, double dt)
{
    (void)physics, (void)dt;
}
void machines_poststep(Physics *physics, double dt)
{
    (void)physics, (void)dt;
}
void machines_contact(Physics *physics, PhysicsContact *contact)
{
    (void)physics, (void)contact;
}
void machines_destroy(Physics *physics)
{
    (void)physics;
}
int machines_state(Physics *physics, StateBlock *blocks)
{
    (void)physics, (void)blocks;
    return 0;
}
void machines_restored(Physics *physics)
{
    (void)physics;
}
void machines_sync_scene(Physics *physics)
{
    (void)physics;
}
