// solver_direct_link.h - the equations of one link: what a child's mass, seen through its joint, adds to its parent's.
// A part of solver_direct.c, which is compiled once for each instruction set.
#ifndef TALUS_PHYSICS_SOLVER_DIRECT_LINK_H
#define TALUS_PHYSICS_SOLVER_DIRECT_LINK_H

#include "physics/solver/solver_direct_inverse.h"

// Whether equation r of a link is empty for certain: `turns` of the joint that holds a point is 2.
static inline bool is_left_out(int r, int turns) { return r == 2 && turns == 2; }

// Three numbers of a row; behind them stands another of it.
static inline V4 row_half(const double *j) { return v4_first_three(v4_load(j)); }

// Both sides of a node's equations. An empty one has zeros.
typedef struct LinkSides {
    const double *child[LINK_ROWS], *parent[LINK_ROWS];
} LinkSides;

static inline LinkSides node_sides(const Node *node)
{
    static const SolverRow nothing;
    LinkSides sides;
    for (int r = 0; r < LINK_ROWS; r++) {
        const SolverRow *row = node->rows[r] ? node->rows[r] : &nothing;
        bool flipped = node->flipped >> r & 1;
        sides.child[r] = flipped ? row->j2 : row->j1;
        sides.parent[r] = flipped ? row->j1 : row->j2;
    }
    return sides;
}

// What a row adds to the diagonal of S; an empty one gets something to divide by.
static inline double row_softness(const SolverRow *row, double fps) { return row ? row->cfm * fps : 1.0; }

static inline Spatial row_side(const double *j) { return (Spatial){ row_half(j), row_half(j + 3) }; }

// Any joint: y = M^-1 Jc' and S^-1.
static inline void link_couple(DirectScratch *s, Node *node, const LinkSides *sides, double fps)
{
    Spatial j[LINK_ROWS], y[LINK_ROWS];
    double d[LINK_ROWS][LINK_ROWS], scale[LINK_ROWS];
    for (int r = 0; r < LINK_ROWS; r++) {
        double six[SPATIAL];
        j[r] = row_side(sides->child[r]);
        spatial_store(six, j[r]);
        y[r] = spatial_matrix(node->inverse, six);
        spatial_store(node->y + SPATIAL * r, y[r]);
    }
    for (int r = 0; r < LINK_ROWS; r++) {
        for (int c = r; c < LINK_ROWS; c++)
            d[c][r] = d[r][c] = spatial_dot(j[r], y[c]);
        scale[r] = d[r][r] += row_softness(node->rows[r], fps);
    }
    V4 last[3];
    for (int r = 0; r < 3; r++) {
        v4_store(node->s + SPATIAL * r + 4, v4_three(d[r][3], d[r][4], d[r][5]));
        last[r] = v4_three(d[3 + r][3], d[3 + r][4], d[3 + r][5]);
    }
    symmetric_invert(node->s, (Sym3){ d[0][0], d[0][1], d[0][2], d[1][1], d[1][2], d[2][2] }, last, scale,
                     &s->redundant);
}

// The same of a joint that holds a point, its child side Jc = (0 D; k X), without the third row of D when `turns` is 2.
static inline __attribute__((always_inline)) void point_couple(DirectScratch *s, Node *node, const LinkSides *sides,
                                                               double fps, int turns)
{
    const double *inverse = node->inverse, *const *child = sides->child;
    double k = child[3][0], turn[3][3] = { { 0 } }, soft[LINK_ROWS], scale[LINK_ROWS];
    V4 across[3], points[LINK_ROWS];  // columns of X; S of each row with the point's
    for (int i = 0; i < 3; i++)
        across[i] = v4_three(child[3][3 + i], child[4][3 + i], child[5][3 + i]);
    for (int r = 0; r < LINK_ROWS; r++)
        soft[r] = row_softness(node->rows[r], fps);
    const V4 softness[LINK_ROWS] = { { 0 }, { 0 }, { 0 }, { soft[3] }, { 0.0, soft[4] }, { 0.0, 0.0, soft[5] } };
    for (int r = 0; r < LINK_ROWS; r++) {
        if (is_left_out(r, turns)) {
            spatial_store(node->y + SPATIAL * r, (Spatial){ { 0 }, { 0 } });
            points[r] = (V4){ 0 };
            continue;
        }
        const double *j = child[r], *w = node->y + SPATIAL * r + 4;
        Spatial y = spatial_mad(spatial_scale(spatial_load(inverse + SPATIAL * 3), j[3]),
                                spatial_load(inverse + SPATIAL * 4), j[4]);
        Spatial rest = spatial_scale(spatial_load(inverse + SPATIAL * 5), j[5]);
        if (r >= 3)
            rest = spatial_mad(rest, spatial_load(inverse + SPATIAL * (r - 3)), k);
        y = spatial_add(y, rest);
        spatial_store(node->y + SPATIAL * r, y);
        points[r] = (y.linear * k + across[0] * w[0]) + (across[1] * w[1] + across[2] * w[2]);
        if (r >= 3)
            points[r] += softness[r];
        for (int q = 0; r < 3 && q <= r; q++)
            turn[q][r] = child[q][3] * w[0] + child[q][4] * w[1] + child[q][5] * w[2];
    }
    for (int r = 0; r < 3; r++) {
        scale[r] = turn[r][r] += soft[r];
        scale[3 + r] = points[3 + r][r];
        v4_store(node->s + SPATIAL * r + 4, points[r]);
    }
    symmetric_invert(node->s, (Sym3){ turn[0][0], turn[0][1], turn[0][2], turn[1][1], turn[1][2], turn[2][2] },
                     points + 3, scale, &s->redundant);
}

// x = S^-1 Jp, and what it adds to the parent's mass.
static inline void link_pass(Node *node, const LinkSides *sides, double *mass)
{
    Spatial x[LINK_ROWS], j[LINK_ROWS];
    for (int r = 0; r < LINK_ROWS; r++)
        j[r] = row_side(sides->parent[r]);
    for (int r = 0; r < LINK_ROWS; r++) {
        x[r] = spatial_scale(j[0], node->s[SPATIAL * r]);
        for (int c = 1; c < LINK_ROWS; c++)
            x[r] = spatial_mad(x[r], j[c], node->s[SPATIAL * r + spatial_place(c)]);
        spatial_store(node->x + SPATIAL * r, x[r]);
    }
    for (int k = 0; k < 6; k++) {
        Spatial sum = spatial_load(mass + SPATIAL * k);
        for (int r = 0; r < LINK_ROWS; r++)
            sum = spatial_mad(sum, x[r], sides->parent[r][k]);
        spatial_store(mass + SPATIAL * k, sum);
    }
}

// The same of a joint that holds a point.
static inline __attribute__((always_inline)) void point_pass(Node *node, const LinkSides *sides, double *mass,
                                                             int turns)
{
    const double *const *parent = sides->parent;
    double k = parent[3][0];
    V4 j[LINK_ROWS], x[LINK_ROWS];
    for (int r = 0; r < LINK_ROWS; r++)
        j[r] = row_half(parent[r] + 3);
    for (int r = 0; r < LINK_ROWS; r++) {
        if (is_left_out(r, turns)) {
            spatial_store(node->x + SPATIAL * r, (Spatial){ { 0 }, { 0 } });
            continue;
        }
        const double *s = node->s + SPATIAL * r;
        x[r] = j[0] * s[0] + j[1] * s[1];
        if (turns == 3)
            x[r] += j[2] * s[2];
        x[r] += j[3] * s[4] + j[4] * s[5] + j[5] * s[6];
        V4 linear = v4_load(s + 4) * k;
        spatial_store(node->x + SPATIAL * r, (Spatial){ linear, x[r] });
        if (r >= 3) {
            double *row = mass + SPATIAL * (r - 3);
            spatial_store(row, spatial_mad(spatial_load(row), (Spatial){ linear, x[r] }, k));
        }
    }
    for (int i = 0; i < 3; i++) {
        double *row = mass + SPATIAL * (3 + i) + 4;
        V4 sum = v4_load(row);
        for (int r = 0; r < LINK_ROWS; r++)
            if (!is_left_out(r, turns))
                sum += x[r] * parent[r][3 + i];
        v4_store(row, sum);
    }
}

#endif
