// solver_direct_trees.h - trees that nothing touches, of hinges and sliders without motor and stop: their equations are
// taken from what the joints hold in short, without rows, and bodies are integrated on the way down. The same
// operations in the same order as where rows stand between, so the same bits. A part of solver_direct.c, which is
// compiled once for each instruction set.
#ifndef TALUS_PHYSICS_SOLVER_DIRECT_TREES_H
#define TALUS_PHYSICS_SOLVER_DIRECT_TREES_H

#include "physics/solver/integrate.h"
#include "physics/solver/solver_direct_build.h"
#include "physics/solver/solver_direct_tree.h"

// What is opposite of the one body is the other's: signs of the numbers of three rows.
#define FLIP INT64_MIN
static const I4 opposite[2] = { { 0, 0, 0, 0 }, { FLIP, FLIP, FLIP, 0 } };
static const I4 crossed[2][3] = { { { 0, 0, FLIP, 0 }, { FLIP, 0, 0, 0 }, { 0, FLIP, 0, 0 } },
                                  { { 0, FLIP, 0, 0 }, { 0, 0, FLIP, 0 }, { FLIP, 0, 0, 0 } } };

// The side of the first (0) or second (1) body of a joint that holds a point: a turn moves it across its arm.
INLINE PointSide hold_point(const SolverHold *hold, int body)
{
    const V4 arm = v4_load(hold->arm[body]), none = { 0 };
    const I4 *signs = crossed[body];
    return (PointSide){ body ? -1.0 : 1.0,
                        { { v4_flip(v4_load(hold->across[0]), opposite[body]),
                            v4_flip(v4_load(hold->across[1]), opposite[body]), none } },
                        { { v4_flip(__builtin_shufflevector(arm, arm, 3, 2, 1, 3), signs[0]),
                            v4_flip(__builtin_shufflevector(arm, arm, 2, 3, 0, 3), signs[1]),
                            v4_flip(__builtin_shufflevector(arm, arm, 1, 0, 3, 3), signs[2]) } } };
}

// The same of a slider, whose levers are those of both.
INLINE SlideSide hold_slide(const SolverHold *hold, int body)
{
    const V4 x = { 1.0 }, y = { 0.0, 1.0 }, z = { 0.0, 0.0, 1.0 }, none = { 0 };
    const I4 signs = opposite[body];
    return (
        SlideSide){ body ? -1.0 : 1.0,
                    { { v4_flip(x, signs), v4_flip(y, signs), v4_flip(z, signs) } },
                    { { v4_flip(v4_load(hold->across[0]), signs), v4_flip(v4_load(hold->across[1]), signs), none } },
                    { { v4_load(hold->arm[0]), v4_load(hold->arm[1]), none } } };
}

// matrix3_dots() and matrix3_sum() of matrices whose third row is empty.
INLINE V4 two_dots(const double *rows, V4 x)
{
    const V4 none = { 0 }, p = v4_load(rows) * x, q = v4_load(rows + 4) * x;
    const V4 two = __builtin_shufflevector(p, q, 0, 4, 2, 6) + __builtin_shufflevector(p, q, 1, 5, 3, 7);
    return __builtin_shufflevector(two, none, 0, 1, 4, 5) + __builtin_shufflevector(two, none, 2, 3, 6, 7);
}

INLINE V4 two_sum(const double *rows, V4 x) { return v4_load(rows) * v4_x(x) + v4_load(rows + 4) * v4_y(x); }

// As node_factor().
INLINE void node_factor_hinge(DirectScratch *s, Node *node, Inverse3 turn, double fps)
{
    const V4 all = v4_three(node->hold->cfm * fps, node->hold->cfm * fps, node->hold->cfm * fps);
    const int child = node->flipped;
    LinkMatrix matrix = point_couple(node, hold_point(node->hold, child), (Spatial){ all, all }, turn, 2);
    Inverse3 last = link_eliminate(node, &matrix, 2, &s->redundant);
    if (node->parent >= 0) {
        Node *parent = &s->nodes[node->parent];
        parent->is_leaf = false;
        point_pass(node, hold_point(node->hold, 1 - child), last, &parent->mass, 2);
    }
    node_solve_up(s, node, false, true, 2);
}

// As node_solve_up() and node_solve_down(): the first three equations of a slider turn with the body or against it and
// do nothing else.
INLINE void slider_solve_up(DirectScratch *s, Node *node, double sign)
{
    const Spatial b = spatial_load(node->momentum), rhs = spatial_load(node->rhs);
    V4 free = b.angular;
    if (!node->is_leaf)
        free -= matrix3_sum(matrix3_load(node->mass.coupling), b.linear);
    const V4 moving = matrix3_sum(matrix3_load(node->mass.linear), b.linear),
             turning = matrix3_sum(matrix3_load(node->mass.angular), free);
    V4 first = rhs.linear - turning * sign, last = rhs.angular;
    last -= two_dots(node->child_side[ANGULAR_HALF][LAST_THREE], turning);
    last -= two_dots(node->child_side[LINEAR_HALF][LAST_THREE], moving);
    last -= v4_load(node->across) * v4_x(first) + v4_load(node->across + 4) * v4_y(first);
    last -= v4_load(node->across + 8) * v4_z(first);
    last = two_sum(node->last, last);
    v4_store(node->turning, turning);
    spatial_store(node->missing, (Spatial){ first, last });
    if (node->parent >= 0)
        node_push_parent(s, node, first, last, false, 3);
}

INLINE Spatial slider_solve_down(DirectScratch *s, Node *node)
{
    const double sign = node->flipped ? -1.0 : 1.0;
    Spatial missing = spatial_load(node->missing);
    if (node->parent >= 0)
        missing = link_impulses(node, missing, spatial_load(s->nodes[node->parent].velocity), false);
    const V4 last = missing.angular, first = matrix3_sum(matrix3_load(node->first), missing.linear)
                                             - matrix3_dots(matrix3_load(node->across), last);
    const V4 twist = first * sign + two_sum(node->child_side[ANGULAR_HALF][LAST_THREE], last),
             pushed = v4_load(node->momentum) + two_sum(node->child_side[LINEAR_HALF][LAST_THREE], last);
    const V4 turning = v4_load(node->turning) + matrix3_sum(matrix3_load(node->mass.angular), twist);
    V4 moving = matrix3_sum(matrix3_load(node->mass.linear), pushed);
    if (!node->is_leaf)
        moving -= matrix3_dots(matrix3_load(node->mass.coupling), turning);
    return (Spatial){ moving, turning };
}

INLINE void node_factor_slider(DirectScratch *s, Node *node, double fps)
{
    const int child = node->flipped;
    const SlideSide own = hold_slide(node->hold, child);
    const LinkMatrix matrix = bare_slide_couple(node, own, node->hold->cfm * fps);
    bare_slide_eliminate(node, &matrix, &s->redundant);
    if (node->parent >= 0) {
        Node *parent = &s->nodes[node->parent];
        const SlideSide side = hold_slide(node->hold, 1 - child);
        const Matrix3 none = { { { 0 }, { 0 }, { 0 } } };
        parent->is_leaf = false;
        link_pass(node, (AnySide){ { none, side.turn }, { side.linear, side.angular } }, &parent->mass);
    }
    slider_solve_up(s, node, own.sign);
}

static const LinkKind link_of_form[] = {
    [SOLVER_ROWS_ANY] = LINK_LOOSE, [SOLVER_ROWS_POINT] = LINK_POINT_TWO_TURNS, [SOLVER_ROWS_SLIDE] = LINK_SLIDE
};

// Nodes of one tree stand as its links do, parents before children.
static inline void tree_load(DirectScratch *s, const Topology *topology, const TreeGroup *group,
                             const SolverTrees *trees)
{
    const TreeLink *link = &topology->links[group->first];
    const V4 gain = gravity_gain(trees->gravity, trees->dt);
    nodes_reserve(s, group->count);
    s->node_count = group->count;
    for (Node *node = s->nodes, *end = node + s->node_count; node < end; node++, link++) {
        node->body = link->body;
        node->parent = link->parent < 0 ? -1 : link->parent - group->first;
        assert_debug(link->joint_count <= 1 && node->parent < node - s->nodes);
        node->link = LINK_LOOSE;
        node_load_body(node, &trees->bodies[link->body], &trees->masses[link->body], gain, trees->dt);
        if (link->joint_count == 0)
            continue;
        const LinkJoint joint = topology->link_joints[link->first_joint];
        const SolverHold *hold = &trees->holds[joint.joint];
        node->hold = hold;
        node->flipped = (uint8_t)joint.child_is_body2;
        node->link = link_of_form[hold->form];
        spatial_store(node->rhs, spatial_load(hold->rhs));
    }
}

static inline void tree_factor_holds(DirectScratch *s, double dt)
{
    const double fps = 1.0 / dt;
    for (Node *node = s->nodes + s->node_count - 1; node >= s->nodes; node--) {
        Inverse3 turn = mass_factor(&node->mass, node->is_leaf);
        if (node->link == LINK_POINT_TWO_TURNS)
            node_factor_hinge(s, node, turn, fps);
        else if (node->link == LINK_SLIDE)
            node_factor_slider(s, node, fps);
        else
            node_solve_up(s, node, false, false, 3);
    }
}

// Returns how many bodies were stopped.
static inline int tree_move_bodies(DirectScratch *s, const SolverTrees *trees)
{
    const IntegrateStep step = { trees->dt, trees->ignores_rotations };
    int stopped = 0;
    for (Node *node = s->nodes, *end = node + s->node_count; node < end; node++) {
        Spatial v = node->link == LINK_POINT_TWO_TURNS ? node_solve_down(s, node, false, true)
                    : node->link == LINK_SLIDE         ? slider_solve_down(s, node)
                                                       : node_drift(node);
        SolverBody *body = &trees->bodies[node->body];
        spatial_store(node->velocity, v);
        v4_store_three(body->velocity, v.linear);
        v4_store_three(body->velocity + 3, v.angular);
        stopped += body_stop_unsound(body, &v.linear, &v.angular);
        body_integrate(body, &trees->masses[node->body], NULL, v.linear, v.angular, step);
    }
    return stopped;
}

void SOLVER_TREES_VARIANT(DirectScratch *s, const Topology *topology, const SolverTrees *trees,
                          SolverStatistics *statistics)
{
    int stopped = 0;
    s->redundant = 0;
    for (int g = 0; g < topology->group_count; g++) {
        tree_load(s, topology, &topology->groups[g], trees);
        tree_factor_holds(s, trees->dt);
        stopped += tree_move_bodies(s, trees);
    }
    statistics->redundant_count = s->redundant;
    statistics->body_reset_count = stopped;
}

#endif
