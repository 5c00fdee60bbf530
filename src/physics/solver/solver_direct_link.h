// solver_direct_link.h - the equations of one link: what a child's mass, seen through its joint, adds to its parent's.
// A part of solver_direct.c, which is compiled once for each instruction set.
//
// A joint that holds a point (balls, hinges, universal and fixed joints) has child's side (0 D; k X) and parent's
// (0 D'; o X'): the first equations turn, the last three are the point's. Functions are written once for it and for any
// other link and become one each by their constant arguments: `holds_point`, and `turns`, how many of the first three
// equations there are.
#ifndef TALUS_PHYSICS_SOLVER_DIRECT_LINK_H
#define TALUS_PHYSICS_SOLVER_DIRECT_LINK_H

#include "physics/solver/solver_direct_matrix.h"

#include <assert.h>
#include <stddef.h>

// Half of three rows that stand as vectors: the linear or the angular one.
INLINE Matrix3 half_load(const double *rows)
{
    return (Matrix3){ { v4_load(rows), v4_load(rows + SPATIAL), v4_load(rows + 2 * SPATIAL) } };
}

INLINE void half_store(double *rows, Matrix3 m)
{
    v4_store(rows, m.row[0]);
    v4_store(rows + SPATIAL, m.row[1]);
    v4_store(rows + 2 * SPATIAL, m.row[2]);
}

// Where three rows of vectors have their halves, and where the last three rows stand.
enum { ANGULAR = 4, LAST = 3 * SPATIAL };

// ---- masses ----

// Alone a body's mass is factored as it is but for the inverses. Returns that of the angular block, as the link needs
// it at once.
INLINE Inverse3 mass_factor(NodeMass *mass, bool is_leaf)
{
    Matrix3 turn = matrix3_load(mass->angular);
    if (is_leaf) {
        matrix3_store(mass->linear, matrix3_diagonal(1.0 / mass->linear[0]));
    } else {
        Inverse3 move = matrix3_inverse_mass(matrix3_load(mass->linear));
        Matrix3 across = matrix3_load(mass->coupling);
        Matrix3 moved = matrix3_scale(matrix3_multiply(move.matrix, across), move.by);
        turn = matrix3_take_square(turn, across, moved, 3);
        matrix3_store(mass->linear, inverse3_matrix(move));
        matrix3_store(mass->coupling, moved);
    }
    Inverse3 inverse = matrix3_inverse_mass(turn);
    matrix3_store(mass->angular, inverse3_matrix(inverse));
    return inverse;
}

// ---- the matrix of a link ----

// Both sides of a node's equations. An empty one has zeros.
typedef struct LinkSides {
    const double *child[LINK_ROWS], *parent[LINK_ROWS];
} LinkSides;

INLINE LinkSides node_sides(const Node *node, bool holds_point)
{
    static_assert(offsetof(SolverRow, j1) == 0 && offsetof(SolverRow, j2) == 6 * sizeof(double), "sides of a row");
    LinkSides sides;
    for (int r = 0; r < LINK_ROWS; r++) {
        const SolverRow *row = holds_point && r > 3 ? node->rows[3] + (r - 3) : node->rows[r];
        int child = 6 * (holds_point ? node->flipped & 1 : node->flipped >> r & 1);
        sides.child[r] = (const double *)row + child;
        sides.parent[r] = (const double *)row + (6 - child);
    }
    return sides;
}

// One half of the three rows from `first` on.
INLINE Matrix3 sides_half(const double *const *sides, int first, int half)
{
    return (Matrix3){ { v4_load_three(sides[first] + half), v4_load_three(sides[first + 1] + half),
                        v4_load_three(sides[first + 2] + half) } };
}

typedef struct LinkMatrix {
    Matrix3 first, across, last;
} LinkMatrix;

// What rows add to the diagonal of S.
INLINE V4 rows_softness(SolverRow *const *rows, double fps)
{
    return v4_three(rows[0]->cfm * fps, rows[1]->cfm * fps, rows[2]->cfm * fps);
}

INLINE Spatial node_softness(const Node *node, double fps)
{
    return (Spatial){ rows_softness(node->rows, fps), rows_softness(node->rows + 3, fps) };
}

INLINE Matrix3 matrix3_soften(Matrix3 m, V4 softness)
{
    const I4 x = { -1, 0, 0, 0 }, y = { 0, -1, 0, 0 }, z = { 0, 0, -1, 0 }, all = (I4)softness;
    return (Matrix3){ { m.row[0] + (V4)(all & x), m.row[1] + (V4)(all & y), m.row[2] + (V4)(all & z) } };
}

// One body's side of a joint that holds a point: `k` is the velocity of the point by that of the body.
typedef struct PointSide {
    double k;
    Matrix3 turn, point;
} PointSide;

INLINE PointSide sides_point(const double *const *sides)
{
    return (PointSide){ sides[3][0], sides_half(sides, 0, 3), sides_half(sides, 3, 3) };
}

// Child's side and S of a joint that holds a point. `inverse`: of the mass that turns.
INLINE LinkMatrix point_couple(Node *node, PointSide side, Spatial softness, Inverse3 inverse, int turns)
{
    const double k = side.k;
    const Matrix3 move = matrix3_load(node->mass.linear), by = inverse.matrix, turn = side.turn;
    Matrix3 point = side.point;
    if (!node->is_leaf)
        point = matrix3_subtract(point, matrix3_scale(matrix3_load(node->mass.coupling), k));
    matrix3_store(node->child_side[ANGULAR_HALF][FIRST_THREE], turn);
    matrix3_store(node->child_side[ANGULAR_HALF][LAST_THREE], point);
    node->child_point = k;
    LinkMatrix s = { .last = matrix3_soften(matrix3_scale(move, k * k), softness.angular) };
    const Matrix3 columns = matrix3_transpose(point);
    for (int i = 0; i < 3; i++)
        s.last.row[i] += matrix3_sum(columns, matrix3_sum(by, point.row[i])) * inverse.by;
    Matrix3 turned = { { matrix3_sum(by, turn.row[0]), matrix3_sum(by, turn.row[1]) } };
    if (turns == 3)
        turned.row[2] = matrix3_sum(by, turn.row[2]);
    for (int i = 0; i < turns; i++)
        s.across.row[i] = matrix3_sum(columns, turned.row[i]) * inverse.by;
    if (turns == 3) {
        s.first = matrix3_scale(matrix3_multiply(turned, matrix3_transpose(turn)), inverse.by);
        s.first = matrix3_soften(s.first, softness.linear);
    } else {
        double across = v4_dot(turn.row[0], turned.row[1]) * inverse.by;
        s.first.row[0] = (V4){ v4_dot(turn.row[0], turned.row[0]) * inverse.by + softness.linear[0], across };
        s.first.row[1] = (V4){ across, v4_dot(turn.row[1], turned.row[1]) * inverse.by + softness.linear[1] };
    }
    return s;
}

// One body's side of a link whose first three equations turn about the axes of the world: `sign` about each, or against
// it.
typedef struct SlideSide {
    double sign;
    Matrix3 turn, linear, angular;
} SlideSide;

INLINE SlideSide sides_slide(const double *const *sides)
{
    return (SlideSide){ sides[0][3], sides_half(sides, 0, 3), sides_half(sides, 3, 0), sides_half(sides, 3, 3) };
}

// The same of such a link.
INLINE LinkMatrix slide_couple(Node *node, SlideSide side, Spatial softness)
{
    const Matrix3 move = matrix3_load(node->mass.linear), turn = matrix3_load(node->mass.angular),
                  coupling = matrix3_load(node->mass.coupling), none = { { { 0 }, { 0 }, { 0 } } };
    const Matrix3 linear = side.linear, angular = matrix3_subtract(side.angular, matrix3_multiply(linear, coupling));
    const Matrix3 moved = matrix3_multiply(linear, move), turned = matrix3_multiply(angular, turn);
    const Matrix3 columns = matrix3_transpose(angular);
    matrix3_store(node->child_side[LINEAR_HALF][FIRST_THREE], none);
    matrix3_store(node->child_side[LINEAR_HALF][LAST_THREE], linear);
    matrix3_store(node->child_side[ANGULAR_HALF][FIRST_THREE], side.turn);
    matrix3_store(node->child_side[ANGULAR_HALF][LAST_THREE], angular);
    LinkMatrix s;
    s.first = matrix3_soften(turn, softness.linear);
    s.across = matrix3_scale(matrix3_multiply(turn, columns), side.sign);
    s.last = matrix3_add(matrix3_multiply(moved, matrix3_transpose(linear)), matrix3_multiply(turned, columns));
    s.last = matrix3_soften(s.last, softness.angular);
    return s;
}

// As slide_couple(), of a link without a sixth equation, and without what is zero or one of it.
INLINE LinkMatrix bare_slide_couple(Node *node, SlideSide side, double softness)
{
    const Matrix3 move = matrix3_load(node->mass.linear), turn = matrix3_load(node->mass.angular),
                  coupling = matrix3_load(node->mass.coupling);
    Matrix3 moved, turned, angular = { { { 0 }, { 0 }, { 0 } } };
    for (int i = 0; i < 2; i++) {
        moved.row[i] = matrix3_sum(move, side.linear.row[i]);
        angular.row[i] = side.angular.row[i] - matrix3_sum(coupling, side.linear.row[i]);
        turned.row[i] = matrix3_sum(turn, angular.row[i]);
        v4_store(node->child_side[LINEAR_HALF][LAST_THREE] + 4 * i, side.linear.row[i]);
        v4_store(node->child_side[ANGULAR_HALF][LAST_THREE] + 4 * i, angular.row[i]);
    }
    const Matrix3 columns = matrix3_transpose(angular), linear_columns = matrix3_transpose(side.linear);
    LinkMatrix s;
    s.first = matrix3_soften(turn, v4_three(softness, softness, softness));
    s.across = matrix3_scale(matrix3_multiply(turn, columns), side.sign);
    for (int i = 0; i < 2; i++)
        s.last.row[i] = matrix3_sum(linear_columns, moved.row[i]) + matrix3_sum(columns, turned.row[i]);
    s.last.row[0] += (V4){ softness };
    s.last.row[1] += (V4){ 0.0, softness };
    return s;
}

// The same of any link.
INLINE LinkMatrix link_couple(Node *node, const LinkSides *sides, Spatial softness)
{
    const Matrix3 move = matrix3_load(node->mass.linear), turn = matrix3_load(node->mass.angular),
                  coupling = matrix3_load(node->mass.coupling);
    Matrix3 linear[2], angular[2], moved[2], turned[2];
    for (int k = 0; k < 2; k++) {
        linear[k] = sides_half(sides->child, 3 * k, 0);
        angular[k] = matrix3_subtract(sides_half(sides->child, 3 * k, 3), matrix3_multiply(linear[k], coupling));
        matrix3_store(node->child_side[LINEAR_HALF][k], linear[k]);
        matrix3_store(node->child_side[ANGULAR_HALF][k], angular[k]);
        moved[k] = matrix3_multiply(linear[k], move);
        turned[k] = matrix3_multiply(angular[k], turn);
        linear[k] = matrix3_transpose(linear[k]);
        angular[k] = matrix3_transpose(angular[k]);
    }
    LinkMatrix s;
    s.first = matrix3_add(matrix3_multiply(moved[0], linear[0]), matrix3_multiply(turned[0], angular[0]));
    s.across = matrix3_add(matrix3_multiply(moved[0], linear[1]), matrix3_multiply(turned[0], angular[1]));
    s.last = matrix3_add(matrix3_multiply(moved[1], linear[1]), matrix3_multiply(turned[1], angular[1]));
    s.first = matrix3_soften(s.first, softness.linear);
    s.last = matrix3_soften(s.last, softness.angular);
    return s;
}

// The first `turns` rows of a m.
INLINE Matrix3 first_apply(Matrix3 a, Matrix3 m, int turns)
{
    Matrix3 out = { { { 0 }, { 0 }, { 0 } } };
    for (int i = 0; i < turns; i++) {
        out.row[i] = m.row[0] * v4_x(a.row[i]) + m.row[1] * v4_y(a.row[i]);
        if (turns == 3)
            out.row[i] += m.row[2] * v4_z(a.row[i]);
    }
    return out;
}

// Eliminates the first equations from the last; returns the inverse of what is left of these.
INLINE Inverse3 link_eliminate(Node *node, const LinkMatrix *s, int turns, int *redundant)
{
    const double scale[LINK_ROWS] = { s->first.row[0][0], s->first.row[1][1], turns == 3 ? s->first.row[2][2] : 1.0,
                                      s->last.row[0][0],  s->last.row[1][1],  s->last.row[2][2] };
    Inverse3 first = turns == 3 ? matrix3_inverse_rows(s->first, scale, redundant)
                                : matrix2_inverse_rows(s->first.row[0][0], s->first.row[0][1], s->first.row[1][1],
                                                       scale, redundant);
    Matrix3 across = matrix3_scale(first_apply(first.matrix, s->across, turns), first.by);
    matrix3_store(node->first, inverse3_matrix(first));
    matrix3_store(node->across, across);
    Inverse3 last = matrix3_inverse_rows(matrix3_take_square(s->last, s->across, across, turns), scale + 3, redundant);
    matrix3_store(node->last, inverse3_matrix(last));
    return last;
}

// The same of a slide without a sixth equation.
INLINE void bare_slide_eliminate(Node *node, const LinkMatrix *s, int *redundant)
{
    const double scale[] = { s->first.row[0][0], s->first.row[1][1], s->first.row[2][2], s->last.row[0][0],
                             s->last.row[1][1] };
    const Inverse3 first = matrix3_inverse_rows(s->first, scale, redundant);
    const Matrix3 across = matrix3_scale(first_apply(first.matrix, s->across, 3), first.by);
    matrix3_store(node->first, inverse3_matrix(first));
    matrix3_store(node->across, across);
    V4 x = s->last.row[0], y = s->last.row[1];
    for (int i = 0; i < 3; i++) {
        x -= across.row[i] * v4_x(s->across.row[i]);
        y -= across.row[i] * v4_y(s->across.row[i]);
    }
    matrix3_store(node->last, matrix2_inverse_as_three(x, y, scale + 3, redundant));
}

// ---- what reaches the parent ----

// Parent's side, and what it adds to the parent's mass.
INLINE void point_pass(Node *node, PointSide side, Inverse3 inverse, NodeMass *mass, int turns)
{
    const double o = side.k;
    const Matrix3 last = matrix3_load(node->last), across = matrix3_load(node->across), turn = side.turn;
    Matrix3 point = matrix3_take_square(side.point, across, turn, turns);
    Matrix3 turned = first_apply(matrix3_load(node->first), turn, turns);
    Matrix3 pushed = matrix3_scale(matrix3_multiply(inverse.matrix, point), inverse.by);
    matrix3_store(node->parent_side[ANGULAR_HALF][FIRST_THREE], turn);
    matrix3_store(node->parent_side[ANGULAR_HALF][LAST_THREE], point);
    matrix3_store(node->push[ANGULAR_HALF][FIRST_THREE], turned);
    matrix3_store(node->push[ANGULAR_HALF][LAST_THREE], pushed);
    node->parent_point = o;
    matrix3_store(mass->linear, matrix3_add(matrix3_load(mass->linear), matrix3_scale(last, o * o)));
    matrix3_store(mass->coupling, matrix3_add(matrix3_load(mass->coupling), matrix3_scale(pushed, o)));
    Matrix3 sum = matrix3_add_square(matrix3_load(mass->angular), point, pushed, 3);
    matrix3_store(mass->angular, matrix3_add_square(sum, turn, turned, turns));
}

// Parent's side of any link: its halves of the first and of the last equations.
typedef struct AnySide {
    Matrix3 first[2], last[2];
} AnySide;

INLINE AnySide sides_any(const double *const *sides)
{
    return (AnySide){ { sides_half(sides, 0, 0), sides_half(sides, 0, 3) },
                      { sides_half(sides, 3, 0), sides_half(sides, 3, 3) } };
}

// The same of any link.
INLINE void link_pass(Node *node, AnySide given, NodeMass *mass)
{
    const Matrix3 last = matrix3_load(node->last), across = matrix3_load(node->across);
    Matrix3 side[2][2], push[2][2];  // first and last equations, linear and angular
    for (int h = 0; h < 2; h++) {
        side[0][h] = given.first[h];
        side[1][h] = matrix3_take_square(given.last[h], across, side[0][h], 3);
        push[0][h] = first_apply(matrix3_load(node->first), side[0][h], 3);
        push[1][h] = matrix3_multiply(last, side[1][h]);
        for (int k = 0; k < 2; k++) {
            matrix3_store(node->parent_side[h][k], side[k][h]);
            matrix3_store(node->push[h][k], push[k][h]);
        }
    }
    Matrix3 linear = matrix3_load(mass->linear), coupling = matrix3_load(mass->coupling),
            angular = matrix3_load(mass->angular);
    for (int k = 0; k < 2; k++) {
        linear = matrix3_add_square(linear, side[k][0], push[k][0], 3);
        coupling = matrix3_add_square(coupling, side[k][0], push[k][1], 3);
        angular = matrix3_add_square(angular, side[k][1], push[k][1], 3);
    }
    matrix3_store(mass->linear, linear);
    matrix3_store(mass->coupling, coupling);
    matrix3_store(mass->angular, angular);
}

#endif
