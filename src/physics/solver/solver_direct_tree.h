// solver_direct_tree.h - the joint tree solved: masses and momenta up, velocities down.
// A part of solver_direct.c, which is compiled once for each instruction set.
#ifndef TALUS_PHYSICS_SOLVER_DIRECT_TREE_H
#define TALUS_PHYSICS_SOLVER_DIRECT_TREE_H

#include "physics/solver/solver_direct_link.h"

// What the equations lack by a momentum alone: of the first three, and of the last three with these eliminated.
INLINE void link_lack(const Node *node, Spatial moved, Spatial *missing, bool holds_point, int turns)
{
    V4 first = missing->linear, last = missing->angular;
    const Matrix3 turn = matrix3_load(node->child_side[ANGULAR_HALF][FIRST_THREE]),
                  point = matrix3_load(node->child_side[ANGULAR_HALF][LAST_THREE]);
    first -= matrix3_dots(turn, moved.angular);
    last -= matrix3_dots(point, moved.angular);
    if (holds_point) {
        last -= moved.linear * node->child_point;
    } else {
        first -= matrix3_dots(matrix3_load(node->child_side[LINEAR_HALF][FIRST_THREE]), moved.linear);
        last -= matrix3_dots(matrix3_load(node->child_side[LINEAR_HALF][LAST_THREE]), moved.linear);
    }
    last -= v4_load(node->across) * v4_x(first) + v4_load(node->across + 4) * v4_y(first);
    if (turns == 3)
        last -= v4_load(node->across + 8) * v4_z(first);
    *missing = (Spatial){ first, last };
}

// What the link's impulses do to the parent's momentum: those that the first equations lack and the last have.
INLINE void node_push_parent(DirectScratch *s, const Node *node, V4 first, V4 last, bool holds_point, int turns)
{
    double *up = s->nodes[node->parent].momentum;
    V4 angular = v4_load(up + ANGULAR), linear = v4_load(up);
    angular += matrix3_sum(matrix3_load(node->parent_side[ANGULAR_HALF][LAST_THREE]), last);
    angular += v4_load(node->push[ANGULAR_HALF][FIRST_THREE]) * v4_x(first)
               + v4_load(node->push[ANGULAR_HALF][FIRST_THREE] + 4) * v4_y(first);
    if (turns == 3)
        angular += v4_load(node->push[ANGULAR_HALF][FIRST_THREE] + 8) * v4_z(first);
    linear += holds_point ? last * node->parent_point
                          : matrix3_sum(matrix3_load(node->parent_side[LINEAR_HALF][LAST_THREE]), last)
                                + matrix3_sum(matrix3_load(node->push[LINEAR_HALF][FIRST_THREE]), first);
    spatial_store(up, (Spatial){ linear, angular });
}

// The node's momentum goes over its link to the parent, and what the way down needs is kept. With `change`, momenta are
// impulses added to a solved tree.
INLINE void node_solve_up(DirectScratch *s, Node *node, bool change, bool holds_point, int turns)
{
    const Spatial b = spatial_load(node->momentum), none = { { 0 }, { 0 } };
    V4 free = b.angular;
    if (!node->is_leaf)
        free -= matrix3_sum(matrix3_load(node->mass.coupling), b.linear);
    Spatial moved = { matrix3_sum(matrix3_load(node->mass.linear), b.linear),
                      matrix3_sum(matrix3_load(node->mass.angular), free) };
    v4_store(node->turning, moved.angular);
    if (node->link == LINK_LOOSE)
        return;
    Spatial missing = change ? none : spatial_load(node->rhs);
    link_lack(node, moved, &missing, holds_point, turns);
    V4 first = missing.linear, last = matrix3_sum(matrix3_load(node->last), missing.angular);
    spatial_store(node->missing, (Spatial){ first, last });
    if (node->parent >= 0)
        node_push_parent(s, node, first, last, holds_point, turns);
}

// An empty sixth equation is as soft as one exactly: it has the bits of one that is left out.
INLINE Spatial slide_softness(const Node *node, Spatial softness)
{
    if (node->row_count < LINK_ROWS && node->spare < 0)
        softness.angular = __builtin_shufflevector(softness.angular, (V4){ 1.0 }, 0, 1, 4, 3);
    return softness;
}

INLINE void node_factor(DirectScratch *s, Node *node, Inverse3 turn, double fps, LinkKind link, int turns)
{
    const bool holds_point = link_holds_point(link);
    const LinkSides sides = node_sides(node, holds_point);
    const Spatial softness = node_softness(node, fps);
    LinkMatrix matrix;
    if (holds_point)
        matrix = point_couple(node, sides_point(sides.child), softness, turn, turns);
    else if (link == LINK_SLIDE)
        matrix = slide_couple(node, sides_slide(sides.child), slide_softness(node, softness));
    else
        matrix = link_couple(node, &sides, softness);
    Inverse3 last = link_eliminate(node, &matrix, turns, &s->redundant);
    if (node->parent >= 0) {
        Node *parent = &s->nodes[node->parent];
        parent->is_leaf = false;
        if (holds_point)
            point_pass(node, sides_point(sides.parent), last, &parent->mass, turns);
        else
            link_pass(node, sides_any(sides.parent), &parent->mass);
    }
    node_solve_up(s, node, false, holds_point, turns);
}

// Factors the mass of a node whose children are done and, while it is at hand, carries mass and momentum to the parent.
INLINE void node_eliminate(DirectScratch *s, Node *node, double fps)
{
    Inverse3 turn = mass_factor(&node->mass, node->is_leaf);
    switch (node->link) {
    case LINK_POINT_TWO_TURNS: node_factor(s, node, turn, fps, LINK_POINT_TWO_TURNS, 2); break;
    case LINK_POINT_THREE_TURNS: node_factor(s, node, turn, fps, LINK_POINT_THREE_TURNS, 3); break;
    case LINK_SLIDE: node_factor(s, node, turn, fps, LINK_SLIDE, 3); break;
    case LINK_ANY: node_factor(s, node, turn, fps, LINK_ANY, 3); break;
    default: node_solve_up(s, node, false, false, 3);
    }
}

// From the leaves up all nodes, or those on a row's way to the root, or the others.
typedef enum NodeChoice { NODES_ALL, NODES_ON_PATH, NODES_OFF_PATH } NodeChoice;

static __attribute__((noinline)) void tree_factor(DirectScratch *s, double dt, NodeChoice choice)
{
    double fps = 1.0 / dt;
    assert_debug(dt > 0.0 && s->node_count > 0 && s->nodes[0].parent < 0);
    for (int i = s->node_count - 1; i >= 0; i--)
        if (choice == NODES_ALL || s->nodes[i].on_path == (choice == NODES_ON_PATH))
            node_eliminate(s, &s->nodes[i], fps);
}

// Impulses of the link when its parent moves with `above`; `missing` as node_solve_up() kept it.
INLINE Spatial link_impulses(const Node *node, Spatial missing, Spatial above, bool holds_point)
{
    V4 first = missing.linear, last = missing.angular;
    V4 carried = matrix3_dots(matrix3_load(node->parent_side[ANGULAR_HALF][LAST_THREE]), above.angular);
    first -= matrix3_dots(matrix3_load(node->parent_side[ANGULAR_HALF][FIRST_THREE]), above.angular);
    if (holds_point) {
        carried += above.linear * node->parent_point;
    } else {
        carried += matrix3_dots(matrix3_load(node->parent_side[LINEAR_HALF][LAST_THREE]), above.linear);
        first -= matrix3_dots(matrix3_load(node->parent_side[LINEAR_HALF][FIRST_THREE]), above.linear);
    }
    return (Spatial){ first, last - matrix3_sum(matrix3_load(node->last), carried) };
}

// Velocity of a node whose link pushes it: `turning` is what its momentum causes alone.
INLINE Spatial node_move(const Node *node, V4 momentum, V4 turning, Spatial impulse, bool holds_point)
{
    V4 pushed = momentum,
       twist = matrix3_sum(matrix3_load(node->child_side[ANGULAR_HALF][FIRST_THREE]), impulse.linear)
               + matrix3_sum(matrix3_load(node->child_side[ANGULAR_HALF][LAST_THREE]), impulse.angular);
    if (holds_point)
        pushed += impulse.angular * node->child_point;
    else
        pushed += matrix3_sum(matrix3_load(node->child_side[LINEAR_HALF][FIRST_THREE]), impulse.linear)
                  + matrix3_sum(matrix3_load(node->child_side[LINEAR_HALF][LAST_THREE]), impulse.angular);
    turning += matrix3_sum(matrix3_load(node->mass.angular), twist);
    V4 moving = matrix3_sum(matrix3_load(node->mass.linear), pushed);
    if (!node->is_leaf)
        moving -= matrix3_dots(matrix3_load(node->mass.coupling), turning);
    return (Spatial){ moving, turning };
}

INLINE Spatial node_solve_down(DirectScratch *s, Node *node, bool change, bool holds_point)
{
    const bool is_pushed = !change || node->on_path;
    const Spatial none = { { 0 }, { 0 } };
    Spatial missing = is_pushed ? spatial_load(node->missing) : none;
    if (node->parent >= 0) {
        // With `change` the parent's momentum slot holds its change of velocity by now.
        const Node *parent = &s->nodes[node->parent];
        missing = link_impulses(node, missing, spatial_load(change ? parent->momentum : parent->velocity), holds_point);
    }
    V4 first = matrix3_sum(matrix3_load(node->first), missing.linear)
               - matrix3_dots(matrix3_load(node->across), missing.angular);
    Spatial impulse = { first, missing.angular };
    spatial_store(node->impulse, change ? spatial_add(impulse, spatial_load(node->impulse)) : impulse);
    return node_move(node, is_pushed ? v4_load(node->momentum) : none.linear,
                     is_pushed ? v4_load(node->turning) : none.linear, impulse, holds_point);
}

// Of a node that nothing links.
INLINE Spatial node_drift(const Node *node)
{
    V4 turning = v4_load(node->turning), moving = matrix3_sum(matrix3_load(node->mass.linear), v4_load(node->momentum));
    return (Spatial){ moving - matrix3_dots(matrix3_load(node->mass.coupling), turning), turning };
}

// Velocities down. With `change` they are added to those of the solved tree; then only nodes on a row's way to the root
// have felt impulses.
INLINE void tree_solve_down(DirectScratch *s, bool change)
{
    for (int i = 0; i < s->node_count; i++) {
        Node *node = &s->nodes[i];
        Spatial v = { { 0 }, { 0 } };
        if (link_holds_point(node->link))
            v = node_solve_down(s, node, change, true);
        else if (node->link != LINK_LOOSE)
            v = node_solve_down(s, node, change, false);
        else if (!change || node->on_path)
            v = node_drift(node);
        if (change) {
            spatial_store(node->momentum, v);
            v = spatial_add(v, spatial_load(node->velocity));
        }
        spatial_store(node->velocity, v);
    }
}

static __attribute__((noinline)) void tree_solve_free(DirectScratch *s) { tree_solve_down(s, false); }

static __attribute__((noinline)) void tree_solve_change(DirectScratch *s)
{
    for (int i = s->node_count - 1; i >= 0; i--) {
        Node *node = &s->nodes[i];
        if (!node->on_path)
            continue;
        if (link_holds_point(node->link))
            node_solve_up(s, node, true, true, 3);
        else
            node_solve_up(s, node, true, false, 3);
    }
    tree_solve_down(s, true);
}

#endif
