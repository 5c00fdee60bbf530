#include "physics/joint.h"

#include "physics/physics_internal.h"

void joint_read(Physics *physics, int joint)
{
    (void)physics, (void)joint;
}
void joint_make(Physics *physics, int joint)
{
    (void)physics, (void)joint;
}
void joint_unmake(Physics *physics, int joint)
{
    (void)physics, (void)joint;
}
void joint_moved(Physics *physics, int joint, bool is_rigid)
{
    (void)physics, (void)joint, (void)is_rigid;
}
void joint_restored(Physics *physics, int joint)
{
    (void)physics, (void)joint;
}
void joint_sync_scene(Physics *physics, int joint)
{
    (void)physics, (void)joint;
}
void joint_field_changed(Physics *physics, int joint, SceneNode *node, const char *field)
{
    (void)physics, (void)joint, (void)node, (void)field;
}
void joints_prestep(Physics *physics, double dt)
{
    (void)physics, (void)dt;
}
void joints_poststep(Physics *physics, double dt)
{
    (void)physics, (void)dt;
}
void physics_joint_set_position(Physics *physics, int joint, int axis, double position)
{
    (void)physics, (void)joint, (void)axis, (void)position;
}
