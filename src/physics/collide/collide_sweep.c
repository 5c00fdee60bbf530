// Fast shapes: where the middle of one goes through a surface or a box within a step. A point ahead then holds it, for
// this one step, to the way that is left, so that it comes to lie on what it would pass.
#include "physics/collide/collide_sweep.h"

#include "physics/collide/collide_internal.h"
#include "physics/collide/collide_triangle.h"
#include "physics/collide/tuning.h"

#include <math.h>

typedef struct Ray {
    double from[3], way[3];
    bool from_behind;
    CollideCrossing *first;  // share beyond 1: none yet
} Ray;

static void ray_triangle(const Ray *ray, const double *a, const double *b, const double *c)
{
    double u[3], v[3], p[3], q[3], s[3], normal[3];
    vec_sub(b, a, u);
    vec_sub(c, a, v);
    vec_cross(ray->way, v, p);
    double det = vec_dot(u, p);
    if (det == 0.0 || (det < 0.0 && !ray->from_behind))
        return;
    vec_sub(ray->from, a, s);
    vec_cross(s, u, q);
    double x = vec_dot(s, p) / det, y = vec_dot(ray->way, q) / det, share = vec_dot(v, q) / det;
    if (!(x >= -BESIDE_TRIANGLE && y >= -BESIDE_TRIANGLE && x + y <= 1.0 + BESIDE_TRIANGLE && share >= 0.0
          && share < ray->first->share)
        || !mesh_tree_normal(a, b, c, normal))
        return;
    ray->first->share = share;
    ray->first->is_back = det < 0.0;
    for (int k = 0; k < 3; k++)
        ray->first->normal[k] = det > 0.0 ? normal[k] : -normal[k];
}

// ---- meshes ----

// Of one box: whether the ray comes into it before its first crossing.
static bool ray_meets(const Ray *ray, const MeshNode *node, int box)
{
    assert_debug(box >= 0 && box < 4);
    double enter = 0.0, leave = ray->first->share;
    for (int k = 0; k < 3; k++) {
        double low = (double)node->low[k][box] - ray->from[k], high = (double)node->high[k][box] - ray->from[k];
        if (low > high)
            return false;  // no box
        if (ray->way[k] == 0.0) {
            if (low > 0.0 || high < 0.0)
                return false;
            continue;
        }
        double x = low / ray->way[k], y = high / ray->way[k];
        enter = larger(enter, smaller(x, y));
        leave = smaller(leave, larger(x, y));
    }
    return enter <= leave;
}

static void ray_mesh(const Ray *ray, const MeshTree *tree)
{
    int32_t stack[3 * MESH_DEPTH_MAX + 4] = { 0 };
    int waiting = tree->node_count > 0;
    while (waiting > 0) {
        const MeshNode *node = &tree->nodes[stack[--waiting]];
        for (int box = 0; box < 4; box++) {
            if (!ray_meets(ray, node, box))
                continue;
            int32_t part = node->parts[box];
            assert_debug(part < tree->node_count && waiting < COUNT_OF(stack));
            if (part >= 0)
                stack[waiting++] = part;
            else
                ray_triangle(ray, mesh_tree_corner(tree, ~part, 0), mesh_tree_corner(tree, ~part, 1),
                             mesh_tree_corner(tree, ~part, 2));
        }
    }
}

// ---- heights ----

static void ray_cell(const Ray *ray, const CollideHeights *grid, int x, int z)
{
    assert_debug(x >= 0 && x + 1 < grid->count[0] && z >= 0 && z + 1 < grid->count[1]);
    double corners[2][2][3];
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++)
            collide_grid_point(grid, x + i, z + k, corners[i][k]);
    ray_triangle(ray, corners[0][0], corners[0][1], corners[1][0]);
    ray_triangle(ray, corners[1][1], corners[1][0], corners[0][1]);
}

// In each row of cells those between where the ray comes into it and where it leaves.
static void ray_heights(const Ray *ray, const CollideHeights *grid)
{
    double start[2], step[2];  // in cells
    for (int k = 0; k < 2; k++) {
        start[k] = ray->from[2 * k] / grid->spacing[k] + 0.5 * (grid->count[k] - 1);
        step[k] = ray->way[2 * k] / grid->spacing[k];
    }
    double low = smaller(start[1], start[1] + step[1]), high = larger(start[1], start[1] + step[1]);
    if (high < 0.0 || low > grid->count[1] - 1)
        return;
    for (int z = (int)larger(low, 0.0); z <= (int)smaller(high, grid->count[1] - 2); z++) {
        double t[2] = { 0.0, 1.0 };
        if (step[1] != 0.0)
            for (int k = 0; k < 2; k++)
                t[k] = double_clamp((z + (step[1] > 0.0 ? k : 1 - k) - start[1]) / step[1], 0.0, 1.0);
        double x[2] = { start[0] + t[0] * step[0], start[0] + t[1] * step[0] };
        double left = smaller(x[0], x[1]) - BESIDE_TRIANGLE, right = larger(x[0], x[1]) + BESIDE_TRIANGLE;
        if (right < 0.0 || left > grid->count[0] - 1)
            continue;
        for (int cell = (int)larger(left, 0.0); cell <= (int)smaller(right, grid->count[0] - 2); cell++)
            ray_cell(ray, grid, cell, z);
    }
}

static Ray ray_in(const CollidePose *at, const double from[3], const double way[3], CollideCrossing *crossing)
{
    Ray ray = { .first = crossing };
    const double *r = at->rotation;
    double d[3];
    vec_sub(from, at->position, d);
    for (int i = 0; i < 3; i++) {
        ray.from[i] = r[i] * d[0] + r[3 + i] * d[1] + r[6 + i] * d[2];
        ray.way[i] = r[i] * way[0] + r[3 + i] * way[1] + r[6 + i] * way[2];
    }
    crossing->share = 1.0 + BESIDE_TRIANGLE;
    return ray;
}

static bool ray_end(const CollidePose *at, CollideCrossing *crossing)
{
    if (crossing->share > 1.0)
        return false;
    const double *r = at->rotation, n[3] = { crossing->normal[0], crossing->normal[1], crossing->normal[2] };
    for (int i = 0; i < 3; i++)
        crossing->normal[i] = r[3 * i] * n[0] + r[3 * i + 1] * n[1] + r[3 * i + 2] * n[2];
    return true;
}

bool collide_cross_surface(const CollideSurface *surface, const CollidePose *at, const double from[3],
                           const double way[3], bool is_round, CollideCrossing *crossing)
{
    Ray ray = ray_in(at, from, way, crossing);
    ray.from_behind = surface->has_back && !is_round;
    if (surface->tree)
        ray_mesh(&ray, surface->tree);
    else
        ray_heights(&ray, &surface->grid);
    return ray_end(at, crossing);
}

bool collide_cross_box(const CollideShape *box, const CollidePose *at, const double from[3], const double way[3],
                       bool to_middle, CollideCrossing *crossing)
{
    assert_debug(box->type == GEOMETRY_BOX);
    Ray ray = ray_in(at, from, way, crossing);
    double enter = -INFINITY, leave = INFINITY, middle = INFINITY;
    for (int k = 0; k < 3; k++) {
        if (ray.way[k] == 0.0) {
            if (fabs(ray.from[k]) > box->size[k])
                return false;
            continue;
        }
        double side = ray.way[k] > 0.0 ? -1.0 : 1.0, into = (side * box->size[k] - ray.from[k]) / ray.way[k];
        leave = smaller(leave, (-side * box->size[k] - ray.from[k]) / ray.way[k]);
        if (into <= enter)
            continue;
        enter = into;
        middle = to_middle ? -ray.from[k] / ray.way[k] : into;
        for (int i = 0; i < 3; i++)
            crossing->normal[i] = i == k ? side : 0.0;
    }
    if (!(enter >= 0.0 && enter <= leave && middle <= 1.0))
        return false;
    crossing->share = enter;
    crossing->is_back = false;
    return ray_end(at, crossing);
}

// ---- the point ahead ----

CollidePoint collide_speculative_point(const CollideShape *shape, const CollidePose *pose, const double way[3],
                                       const CollideCrossing *crossing, double margin)
{
    double n[3];
    for (int k = 0; k < 3; k++)
        n[k] = pose->rotation[k] * crossing->normal[0] + pose->rotation[3 + k] * crossing->normal[1]
               + pose->rotation[6 + k] * crossing->normal[2];
    double reach = collide_support_distance(shape, n), away = -crossing->share * vec_dot(way, crossing->normal);
    if (away - reach <= margin)
        reach = collide_min_half_extent(shape);
    CollidePoint point = { .depth = smaller(reach - away, -1e-12) };
    vec_copy(crossing->normal, point.normal);
    for (int k = 0; k < 3; k++)
        point.position[k] = pose->position[k] - reach * crossing->normal[k];
    return point;
}
