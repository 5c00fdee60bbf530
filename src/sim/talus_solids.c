// The library over bodies: where solids are, how they move, what pushes them, what they touch.
#include "sim/library.h"

int library_solid(const TalusWorld *world, TalusNode id)
{
    const SceneNode *node = library_node(world, id);
    int solid = node ? physics_solid_of(sim_physics(world->sim), node) : -1;
    if (node && solid < 0)
        library_failed("node %u is no solid", id);
    return solid;
}

TalusNode library_solid_id(const TalusWorld *world, int solid)
{
    assert_debug(solid < physics_solid_count(sim_physics(world->sim)));
    return solid < 0 ? TALUS_NONE : library_id(physics_solid_node(sim_physics(world->sim), solid));
}

int talus_solids(const TalusWorld *world, TalusNode *nodes, int capacity)
{
    if (!world)
        return 0;
    const Physics *physics = sim_physics(world->sim);
    int count = 0;
    for (int i = 0; i < physics_solid_count(physics); i++)
        if (physics_solid_exists(physics, i)) {
            if (nodes && count < capacity)
                nodes[count] = library_solid_id(world, i);
            count++;
        }
    return count;
}

const char *talus_solid_label(const TalusWorld *world, TalusNode id)
{
    int solid = library_solid(world, id);
    return solid < 0 ? NULL : physics_solid_label(sim_physics(world->sim), solid);
}

bool talus_pose(const TalusWorld *world, TalusNode id, TalusPose *pose)
{
    int solid = library_solid(world, id);
    if (solid < 0)
        return false;
    Pose now = physics_solid_pose(sim_physics(world->sim), solid);
    if (pose)
        *pose = (TalusPose){ vector_out(now.t), { now.q.w, now.q.x, now.q.y, now.q.z } };
    return true;
}

bool talus_velocity(const TalusWorld *world, TalusNode id, TalusVector *linear, TalusVector *angular)
{
    int solid = library_solid(world, id);
    if (solid < 0)
        return false;
    if (linear)
        *linear = vector_out(physics_solid_linear_velocity(sim_physics(world->sim), solid));
    if (angular)
        *angular = vector_out(physics_solid_angular_velocity(sim_physics(world->sim), solid));
    return true;
}

bool talus_mass(const TalusWorld *world, TalusNode id, double *mass, TalusVector *center)
{
    int solid = library_solid(world, id);
    if (solid < 0)
        return false;
    if (mass)
        *mass = physics_solid_mass(sim_physics(world->sim), solid);
    if (center)
        *center = vector_out(physics_solid_center_of_mass(sim_physics(world->sim), solid));
    return true;
}

bool talus_is_dynamic(const TalusWorld *world, TalusNode id)
{
    int solid = library_solid(world, id);
    return solid >= 0 && physics_solid_body(sim_physics(world->sim), solid) >= 0;
}

bool talus_is_idle(const TalusWorld *world, TalusNode id)
{
    int solid = library_solid(world, id);
    return solid >= 0 && physics_solid_is_idle(sim_physics(world->sim), solid);
}

bool talus_is_colliding(const TalusWorld *world, TalusNode id)
{
    int solid = library_solid(world, id);
    return solid >= 0 && physics_solid_is_colliding(sim_physics(world->sim), solid);
}

bool talus_set_pose(TalusWorld *world, TalusNode id, TalusPose pose)
{
    int solid = library_solid(world, id);
    Pose to = { vector_in(pose.position),
                { pose.orientation.w, pose.orientation.x, pose.orientation.y, pose.orientation.z } };
    if (solid < 0)
        return false;
    physics_solid_set_pose(sim_physics(world->sim), solid, to);
    return library_told(world, pose_is_finite(to));
}

bool talus_set_velocity(TalusWorld *world, TalusNode id, TalusVector linear, TalusVector angular)
{
    int solid = library_solid(world, id);
    if (solid < 0)
        return false;
    return library_told(
        world, physics_solid_set_velocity(sim_physics(world->sim), solid, vector_in(linear), vector_in(angular)));
}

bool talus_reset_motion(TalusWorld *world, TalusNode id)
{
    int solid = library_solid(world, id);
    if (solid >= 0)
        physics_solid_reset(sim_physics(world->sim), solid);
    return solid >= 0;
}

bool talus_add_force(TalusWorld *world, TalusNode id, TalusVector force)
{
    int solid = library_solid(world, id);
    return library_told(world, solid >= 0 && physics_solid_add_force(sim_physics(world->sim), solid, vector_in(force)));
}

bool talus_add_force_at(TalusWorld *world, TalusNode id, TalusVector force, TalusVector point)
{
    int solid = library_solid(world, id);
    return library_told(
        world,
        solid >= 0 && physics_solid_add_force_at(sim_physics(world->sim), solid, vector_in(force), vector_in(point)));
}

bool talus_add_torque(TalusWorld *world, TalusNode id, TalusVector torque)
{
    int solid = library_solid(world, id);
    return library_told(world,
                        solid >= 0 && physics_solid_add_torque(sim_physics(world->sim), solid, vector_in(torque)));
}

// ---- contacts ----

int talus_contacts(const TalusWorld *world, TalusContact *contacts, int capacity)
{
    if (!world)
        return 0;
    const Physics *physics = sim_physics(world->sim);
    int count;
    const PhysicsContact *from = physics_contacts(physics, &count);
    for (int i = 0; contacts && i < count && i < capacity; i++) {
        PhysicsContactMotion motion = physics_contact_motion(physics, i);
        contacts[i] = (TalusContact){ { library_solid_id(world, physics_contact_solid(physics, &from[i], 0)),
                                        library_solid_id(world, physics_contact_solid(physics, &from[i], 1)) },
                                      vector_out(from[i].point),
                                      vector_out(from[i].normal),
                                      from[i].depth,
                                      physics_contact_surface(physics, i)->mu,
                                      physics_contact_properties(&from[i]),
                                      motion.sliding_speed,
                                      motion.rolling_speed,
                                      motion.impact_energy };
    }
    return count;
}

int talus_contact_forces(TalusWorld *world, TalusContactForce *forces, int capacity)
{
    if (!world)
        return 0;
    Physics *physics = sim_physics(world->sim);
    physics_want_contact_forces(physics, true);
    int count;
    const PhysicsContactForce *from = physics_contact_forces(physics, &count);
    for (int i = 0; forces && i < count && i < capacity; i++)
        forces[i] = (TalusContactForce){ { library_solid_id(world, from[i].solid[0]),
                                           library_solid_id(world, from[i].solid[1]) },
                                         vector_out(from[i].point),
                                         vector_out(from[i].normal),
                                         vector_out(from[i].force) };
    return count;
}
