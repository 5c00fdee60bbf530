// What there is in a world, for those who embed Talus: children, robots, joints, motors, devices, in file order.
#include "sim/library.h"

#include "physics/joints/motor.h"

typedef struct Listing {
    const TalusWorld *world;
    TalusNode *nodes;
    int count, capacity;
} Listing;

static void list(Listing *listing, const SceneNode *node)
{
    assert_debug(node && listing->count >= 0);
    if (listing->nodes && listing->count < listing->capacity)
        listing->nodes[listing->count] = library_id(node);
    listing->count++;
}

int talus_children(const TalusWorld *world, TalusNode id, TalusNode *nodes, int capacity)
{
    const SceneNode *node = scene_actual(library_node(world, id));
    Listing listing = { world, nodes, 0, capacity };
    for (int i = 0; node && i < node->field_count; i++) {
        const SceneField *field = &node->fields[i];
        if (field->type->kind == FIELD_SF_NODE && scene_actual(field->value.node))
            list(&listing, scene_actual(field->value.node));
        for (int k = 0; field->type->kind == FIELD_MF_NODE && k < field->value.list->count; k++)
            if (scene_list_node(field->value.list, k))
                list(&listing, scene_list_node(field->value.list, k));
    }
    return node ? listing.count : -1;
}

static bool list_robot(SceneNode *node, void *context)
{
    if (scene_node_is(node, "Robot"))
        list(context, node);
    return true;
}

int talus_robots(const TalusWorld *world, TalusNode *nodes, int capacity)
{
    Listing listing = { world, nodes, 0, capacity };
    if (world)
        scene_walk(scene_root(sim_scene(world->sim)), false, list_robot, &listing);
    return listing.count;
}

int talus_joints(const TalusWorld *world, TalusNode *nodes, int capacity)
{
    Listing listing = { world, nodes, 0, capacity };
    const Physics *physics = world ? sim_physics(world->sim) : NULL;
    for (int i = 0; physics && i < physics_joint_count(physics); i++)
        if (physics_joint_exists(physics, i) && physics_joint_axis_count(physics, i) > 0)
            list(&listing, physics_joint_node(physics, i));
    return listing.count;
}

int talus_joint_axis_count(const TalusWorld *world, TalusNode id)
{
    const SceneNode *node = library_node(world, id);
    int joint = node ? physics_joint_of(sim_physics(world->sim), scene_actual(node)) : -1;
    return joint >= 0 ? physics_joint_axis_count(sim_physics(world->sim), joint) : 0;
}

static bool list_motor(SceneNode *node, void *context)
{
    Listing *listing = context;
    int joint, axis;
    if (scene_node_is(node, "Motor") && physics_axis_of(sim_physics(listing->world->sim), node, &joint, &axis))
        list(listing, node);
    return true;
}

int talus_motors(const TalusWorld *world, TalusNode *nodes, int capacity)
{
    Listing listing = { world, nodes, 0, capacity };
    if (world)
        scene_walk(scene_root(sim_scene(world->sim)), false, list_motor, &listing);
    return listing.count;
}

int talus_devices(TalusWorld *world, TalusNode robot_id, TalusNode *nodes, int capacity)
{
    const SceneNode *wanted = robot_id == TALUS_NONE ? NULL : scene_actual(library_node(world, robot_id));
    if (!world || (robot_id != TALUS_NONE && !wanted))
        return 0;
    Devices *devices = library_devices(world);
    Listing listing = { world, nodes, 0, capacity };
    for (int robot = 0; robot < devices_robot_count(devices); robot++) {
        if (!devices_robot_exists(devices, robot) || (wanted && devices_robot_node(devices, robot) != wanted))
            continue;
        for (int tag = 1; tag <= devices_count(devices, robot); tag++)
            list(&listing, devices_info(devices, robot, tag)->node);
    }
    return listing.count;
}
