// keep.c - what physics remembers of the scene between edits, for the scene's sweeps. Rows of what was removed count
// too: they are looked at until the holes are taken out (edit.c), of which there are few.
#include "physics/physics_internal.h"

static void keep_solids(const Physics *physics, Scene *scene)
{
    for (int i = 0; i < physics->solid_count; i++) {
        scene_keep(scene, physics->solids[i].node);
        scene_keep(scene, physics->solids[i].label);
    }
    for (int i = 0; i < physics->shape_count; i++)
        scene_keep(scene, physics->shapes[i].geometry);
    for (int i = 0; i < physics->mesh_count; i++)
        scene_keep(scene, physics->meshes[i].geometry);
}

static void keep_joints(const Physics *physics, Scene *scene)
{
    for (int i = 0; i < physics->joint_count; i++) {
        const PhysicsJoint *joint = &physics->joints[i];
        scene_keep(scene, joint->node);
        for (int axis = 0; axis < PHYSICS_JOINT_AXES; axis++) {
            const PhysicsAxis *row = &joint->axes[axis];
            const SceneNode *nodes[] = { row->parameters, row->motor, row->sensor, row->brake };
            for (int k = 0; k < COUNT_OF(nodes); k++)
                scene_keep(scene, nodes[k]);
        }
    }
    const SceneNode *node;
    for (int i = 0; (node = extra_joint_node(physics, i)) != NULL; i++)
        scene_keep(scene, node);
}

static void keep_contacts(const Physics *physics, Scene *scene)
{
    const ContactTable *table = &physics->contact_table;
    for (int i = 0; i < table->rule_count; i++)
        scene_keep(scene, table->rules[i].node);
    for (int i = 0; i < table->material_count; i++)
        scene_keep(scene, table->materials[i]);
    scene_keep(scene, physics->info);
}

void physics_keep_nodes(const Physics *physics, Scene *scene)
{
    keep_solids(physics, scene);
    keep_joints(physics, scene);
    keep_contacts(physics, scene);
    fittings_keep_nodes(physics, scene);
    const SceneNode *node;
    for (int i = 0; (node = fluid_node(physics, i)) != NULL; i++)
        scene_keep(scene, node);
}
