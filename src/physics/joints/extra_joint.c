// extra_joint.c - loops of joints that an ExtraJoint node closes between two solids of one robot. The joint's frame is
// given on both sides; where they do not meet at the start, it pulls them together as it does with every error.
#include "physics/physics_internal.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef struct ExtraJoint {
    const SceneNode *node;
    int solid[2];
    Constraint *constraint;
} ExtraJoint;

struct ExtraJoints {
    ExtraJoint *items;
    int count, capacity;
};
typedef struct ExtraJoints ExtraJoints;

static int find_solid(const Physics *physics, int from, const char *name)
{
    assert_debug(from >= 0 && from < physics->solid_count);
    int top = physics->solids[from].top;
    for (int i = top + 1; i < physics->solids[top].end; i++)
        if (physics->solids[i].is_alive && !strcmp(scene_string(physics->solids[i].node, "name"), name))
            return i;
    return strcmp(scene_string(physics->solids[top].node, "name"), name) ? -1 : top;
}

static ConstraintKind kind_of(const char *type)
{
    static const struct {
        const char *type;
        ConstraintKind kind;
    } kinds[] = {
        { "hinge", CONSTRAINT_HINGE },
        { "piston", CONSTRAINT_PISTON },
        { "fixed", CONSTRAINT_FIXED },
    };
    for (int i = 0; i < COUNT_OF(kinds); i++)
        if (!strcmp(type, kinds[i].type))
            return kinds[i].kind;
    return CONSTRAINT_BALL;
}

static Pose side_pose(const SceneNode *node, const char *anchor, const char *rotation)
{
    return (Pose){ scene_vec3(node, anchor), quat_from_rotation(scene_rotation(node, rotation)) };
}

// The constraint is placed as if the moved body stood where the sides meet.
static void make(Physics *physics, ExtraJoint *extra)
{
    assert_debug(!extra->constraint);
    const SceneNode *node = extra->node;
    const char *type = scene_string(node, "type");
    int bodies[2] = { physics->solids[extra->solid[0]].body, physics->solids[extra->solid[1]].body };
    if (bodies[0] == bodies[1]) {
        diag_warning(physics->diags, node->pos, "both sides of this joint are the same body; it does nothing");
        return;
    }
    extra->constraint = constraint_make(physics, kind_of(type), bodies[0], bodies[1], 0, NULL);
    Pose local[2] = { side_pose(node, "anchor", "rotation"), side_pose(node, "anchor2", "rotation2") };
    int moved = bodies[1] >= 0 ? 1 : 0, kept = 1 - moved;
    Pose joint = pose_mul(physics->solid_world[extra->solid[kept]], local[kept]);
    // Where the moved side's joint frame would coincide; hinges and pistons keep the turn about their axis as it is.
    Pose solid_now = physics->solid_world[extra->solid[moved]];
    Pose joint_now = pose_mul(solid_now, local[moved]);
    Vec3 axis = vec3_normalized(scene_vec3(node, "axis"));
    Pose target = { joint.t, joint_now.q };
    if (!strcmp(type, "fixed"))
        target.q = joint.q;
    else if (strcmp(type, "ball") != 0)
        target.q = quat_mul(quat_between(quat_rotate(joint_now.q, axis), quat_rotate(joint.q, axis)), joint_now.q);
    Pose body_now = body_pose(physics, bodies[moved]);
    Pose change = pose_mul(target, pose_inverse(joint_now));
    ConstraintPlace place = { .anchor = joint.t, .axis = quat_rotate(joint.q, axis) };
    place.side[moved] = pose_mul(change, body_now);
    place.side[moved].q = quat_normalized(place.side[moved].q);
    place.side[kept] = constraint_side(physics, extra->constraint, kept);
    constraint_anchor(physics, extra->constraint, &place);
    double gap = vec3_distance(joint.t, joint_now.t);
    if (gap > 0.01)
        diag_warning(physics->diags, node->pos, "the two sides of this joint start %g m apart; it pulls them together",
                     gap);
}

static void add(Physics *physics, const SceneNode *node, int solid)
{
    if (!physics->extra_joints)
        physics->extra_joints = memory_alloc(sizeof *physics->extra_joints);
    ExtraJoints *list = physics->extra_joints;
    int other = find_solid(physics, solid, scene_string(node, "solidName"));
    if (other < 0) {
        diag_error(physics->diags, node->pos, "no solid named '%s' in the same robot; this joint holds nothing",
                   scene_string(node, "solidName"));
        return;
    }
    if (physics->solids[solid].body < 0 && physics->solids[other].body < 0)
        return;
    memory_grow(&list->items, &list->capacity, list->count + 1, sizeof *list->items);
    list->items[list->count] = (ExtraJoint){ .node = node, .solid = { solid, other } };
    make(physics, &list->items[list->count++]);
}

void extra_joints_build(Physics *physics, int first_solid, int end)
{
    assert_debug(first_solid >= 0 && end <= physics->solid_count);
    for (int i = first_solid; i < end; i++) {
        const FieldList *children = scene_list(physics->solids[i].node, "children");
        for (int k = 0; k < children->count; k++) {
            const SceneNode *child = scene_list_node(children, k);
            if (child && scene_node_is(child, "ExtraJoint"))
                add(physics, child, i);
        }
    }
}

void extra_joints_remove(Physics *physics, int top)
{
    assert(top >= 0 && top < physics->solid_count);
    ExtraJoints *list = physics->extra_joints;
    int end = physics->solids[top].end, kept = 0;
    for (int i = 0; list && i < list->count; i++) {
        ExtraJoint *extra = &list->items[i];
        bool is_below = (extra->solid[0] >= top && extra->solid[0] < end)
                        || (extra->solid[1] >= top && extra->solid[1] < end);
        if (!is_below)
            list->items[kept++] = *extra;
        else
            constraint_unmake(physics, extra->constraint);
    }
    if (list)
        list->count = kept;
}

const SceneNode *extra_joint_node(const Physics *physics, int index)
{
    return physics->extra_joints && index < physics->extra_joints->count ? physics->extra_joints->items[index].node
                                                                         : NULL;
}

const char *extra_joints_owner(const Physics *physics, const void *joint)
{
    const ExtraJoints *extras = physics->extra_joints;
    for (int i = 0; extras && i < extras->count; i++)
        if (extras->items[i].constraint && joint == extras->items[i].constraint->ode)
            return physics_solid_label(physics, extras->items[i].solid[0]);
    return NULL;
}

void extra_joints_destroy(Physics *physics)
{
    if (physics->extra_joints)
        free(physics->extra_joints->items);
    free(physics->extra_joints);
    physics->extra_joints = NULL;
}
