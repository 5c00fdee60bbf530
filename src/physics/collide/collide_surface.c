// Which triangles are near a shape, and their points together. A mesh is asked by its tree, a grid of heights by the
// cells under the shape, whose triangles are made when they are wanted.
#include "physics/collide/collide_surface.h"

#include "base/memory.h"
#include "physics/collide/collide_internal.h"
#include "physics/collide/collide_triangle.h"
#include "physics/collide/convex.h"
#include "physics/collide/tuning.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Six times the volume and twice the area.
static void measure(const MeshTree *tree, double *volume, double *area)
{
    *volume = *area = 0.0;
    for (int i = 0; i < tree->triangle_count; i++) {
        double v[3][3], across[3], u[3], w[3];
        for (int k = 0; k < 3; k++)
            vec_sub(mesh_tree_corner(tree, i, k), mesh_tree_corner(tree, 0, 0), v[k]);
        vec_cross(v[1], v[2], across);
        *volume += vec_dot(v[0], across);
        vec_sub(v[1], v[0], u);
        vec_sub(v[2], v[0], w);
        vec_cross(u, w, across);
        *area += sqrt(vec_dot(across, across));
    }
}

CollideSurface *collide_surface_mesh(const double *positions, int vertex_count, const int *indices, int triangle_count)
{
    CollideSurface *surface = memory_alloc(sizeof *surface);
    MeshTree *tree = surface->tree = mesh_tree_create(positions, vertex_count, indices, triangle_count);
    double volume, area, d[3];
    measure(tree, &volume, &area);
    surface->has_back = !(tree->is_closed && volume > 0.0);  // or its outside is inside
    vec_sub(tree->high, tree->low, d);
    surface->reach = surface->has_back ? OPEN_REACH * sqrt(vec_dot(d, d)) : volume / (3.0 * area);
    return surface;
}

CollideSurface *collide_surface_heights(const CollideHeights *heights)
{
    assert(heights->count[0] >= 2 && heights->count[1] >= 2);
    CollideSurface *surface = memory_alloc(sizeof *surface);
    surface->grid = *heights;
    surface->is_solid = true;
    surface->low = surface->high = heights->heights[0];
    for (int i = 1; i < heights->count[0] * heights->count[1]; i++) {
        surface->low = heights->heights[i] < surface->low ? heights->heights[i] : surface->low;
        surface->high = larger(heights->heights[i], surface->high);
    }
    surface->low -= heights->thickness;
    return surface;
}

void collide_surface_destroy(CollideSurface *surface)
{
    if (!surface)
        return;
    mesh_tree_destroy(surface->tree);
    free(surface);
}

bool collide_surface_is_mesh(const CollideSurface *surface) { return surface->tree != NULL; }

CollideShape collide_surface_box(const CollideSurface *surface, const CollidePose *at, CollidePose *middle)
{
    CollideShape box = { .type = GEOMETRY_BOX };
    const CollideHeights *grid = &surface->grid;
    double half[2] = { 0.5 * (grid->count[0] - 1) * grid->spacing[0], 0.5 * (grid->count[1] - 1) * grid->spacing[1] };
    double low[3] = { -half[0], surface->low, -half[1] }, high[3] = { half[0], surface->high, half[1] };
    if (surface->tree) {
        memcpy(low, surface->tree->low, sizeof low);
        memcpy(high, surface->tree->high, sizeof high);
    }
    *middle = *at;
    for (int k = 0; k < 3; k++) {
        box.size[k] = 0.5 * (high[k] - low[k]);
        for (int i = 0; i < 3; i++)
            middle->position[i] += at->rotation[3 * i + k] * 0.5 * (high[k] + low[k]);
    }
    return box;
}

void collide_surface_bounds(const CollideSurface *surface, const CollidePose *at, double low[3], double high[3])
{
    assert(surface);
    CollidePose middle;
    CollideShape box = collide_surface_box(surface, at, &middle);
    collide_bounds(&box, &middle, low, high);
}

CollideShape collide_surface_outline(const CollideSurface *surface)
{
    assert(surface);
    CollideShape box = { .type = GEOMETRY_BOX };
    for (int k = 0; k < 3; k++)
        box.size[k] = larger(fabs(surface->tree->low[k]), fabs(surface->tree->high[k]));
    return box;
}

// ---- triangles ----

static void to_shape(const Touch *touch, const double p[3], double out[3])
{
    const double *r = touch->frame.rotation;
    for (int i = 0; i < 3; i++)
        out[i] = touch->frame.position[i] + r[3 * i] * p[0] + r[3 * i + 1] * p[1] + r[3 * i + 2] * p[2];
}

// Corners of a cell: A (x, z), B (x + 1, z), C (x, z + 1), D (x + 1, z + 1); its triangles are A C B and D B C,
// numbered 2 cell and 2 cell + 1.
static const int grid_corners[2][3][2] = { { { 0, 0 }, { 0, 1 }, { 1, 0 } }, { { 1, 1 }, { 1, 0 }, { 0, 1 } } };
static const int grid_tips[2][3][2] = { { { -1, 1 }, { 1, 1 }, { 1, -1 } }, { { 2, 0 }, { 0, 0 }, { 0, 2 } } };
static const int grid_mates[2][3][2] = { { { -1, 0 }, { 0, 0 }, { 0, -1 } },
                                         { { 1, 0 }, { 0, 0 }, { 0, 1 } } };  // cells

// False: it has no area.
static bool finish(Triangle *t, int index)
{
    t->index = index;
    t->is_back = false;
    if (!mesh_tree_normal(t->v[0], t->v[1], t->v[2], t->normal))
        return false;
    t->height = -vec_dot(t->normal, t->v[0]);
    return true;
}

// How the surface goes on beyond an edge, and `tip`: the corner of the neighbour that the triangle does not have. A
// mesh knows its neighbours; of heights they follow from the cell. Seen from the back, hills are valleys.
MeshEdge touch_edge(const Touch *touch, const Triangle *t, int edge, double tip[3], bool *is_ours)
{
    assert_debug(edge >= 0 && edge < 3);
    static const int turned[3] = { 2, 1, 0 };
    int k = t->is_back ? turned[edge] : edge;
    const CollideSurface *surface = touch->surface;
    MeshEdge kind;
    if (surface->tree) {
        const MeshTriangle *from = &surface->tree->triangles[t->index];
        int mate = from->mates[k];
        kind = (MeshEdge)from->edges[k];
        *is_ours = mate < 0 || t->index < mate;
        if (kind == MESH_EDGE_BORDER)
            return kind;
        assert_debug(mate >= 0 && mate < surface->tree->triangle_count);
        const double *positions = surface->tree->positions;
        const double *a = positions + 3 * (size_t)from->vertices[k],
                     *b = positions + 3 * (size_t)from->vertices[(k + 1) % 3];
        for (int q = 0; q < 3; q++) {
            const double *corner = positions + 3 * (size_t)surface->tree->triangles[mate].vertices[q];
            if (memcmp(corner, a, 3 * sizeof *a) != 0 && memcmp(corner, b, 3 * sizeof *b) != 0)
                to_shape(touch, corner, tip);
        }
    } else {
        const CollideHeights *grid = &surface->grid;
        int half = t->index & 1, cell = t->index >> 1, x = cell % (grid->count[0] - 1), z = cell / (grid->count[0] - 1);
        int mate_x = x + grid_mates[half][k][0], mate_z = z + grid_mates[half][k][1];
        *is_ours = true;
        if (mate_x < 0 || mate_z < 0 || mate_x >= grid->count[0] - 1 || mate_z >= grid->count[1] - 1)
            return MESH_EDGE_BORDER;
        *is_ours = half == 0;
        double p[3];
        collide_grid_point(grid, x + grid_tips[half][k][0], z + grid_tips[half][k][1], p);
        to_shape(touch, p, tip);
        kind = mesh_tree_edge(t->normal, t->v[edge], t->v[(edge + 1) % 3], tip);
    }
    if (t->is_back && kind != MESH_EDGE_FLAT)
        kind = kind == MESH_EDGE_CONVEX ? MESH_EDGE_CONCAVE : MESH_EDGE_CONVEX;
    return kind;
}

// Of heights: whether the ground falls away from the triangle's plane on any side of the corner.
static bool grid_corner_is_sharp(const Touch *touch, const Triangle *t, int corner)
{
    assert_debug(corner >= 0 && corner < 3 && !touch->surface->tree);
    const CollideHeights *grid = &touch->surface->grid;
    int half = t->index & 1, cell = t->index >> 1, at[2] = { cell % (grid->count[0] - 1), cell / (grid->count[0] - 1) };
    double slack = 1e-4 * fmin(grid->spacing[0], grid->spacing[1]);
    for (int k = 0; k < 2; k++)
        at[k] += grid_corners[half][corner][k];
    for (int z = int_max(at[1] - 1, 0); z <= int_min(at[1] + 1, grid->count[1] - 1); z++)
        for (int x = int_max(at[0] - 1, 0); x <= int_min(at[0] + 1, grid->count[0] - 1); x++) {
            double p[3], local[3];
            collide_grid_point(grid, x, z, p);
            to_shape(touch, p, local);
            if (vec_dot(t->normal, local) + t->height < -slack)
                return true;
        }
    return false;
}

bool touch_corner_is_sharp(const Touch *touch, const Triangle *t, int corner)
{
    if (!touch->surface->tree)
        return grid_corner_is_sharp(touch, t, corner);
    return t->is_back || touch->surface->tree->triangles[t->index].sharp_corners >> corner & 1;
}

// ---- those that are near ----

typedef struct Query {
    double low[3], high[3];
} Query;  // the core in the frame of the surface

// Whether a triangle can touch at all, told by the boxes around it and around the shape's core. What is solid has no
// end below, so there the shape's middle must be above.
static bool is_near(const Touch *touch, const Triangle *t)
{
    if (touch->is_solid
        && (vec_dot(touch->up, t->v[0]) > 0.0 || vec_dot(touch->up, t->v[1]) > 0.0
            || vec_dot(touch->up, t->v[2]) > 0.0))
        return true;
    double sum = 0.0, reach = touch->radius + touch->margin;
    for (int k = 0; k < 3; k++) {
        double a = t->v[0][k], b = t->v[1][k], c = t->v[2][k];
        double low = a < b ? a : b, high = a < b ? b : a;
        low = c < low ? c : low;
        high = c > high ? c : high;
        double below = low - touch->core[1][k], above = touch->core[0][k] - high, gap = below > above ? below : above;
        gap = gap > 0.0 ? gap : 0.0;
        sum += gap * gap;
    }
    return sum <= reach * reach;
}

static void each_mesh_triangle(Touch *touch, const Query *query, TriangleTouch visit)
{
    const MeshTree *tree = touch->surface->tree;
    MeshWalk walk;
    MeshQuery rounded;
    float reach = nextafterf((float)(touch->radius + touch->margin), INFINITY);
    rounded.radius2 = nextafterf(reach * reach, INFINITY);
    for (int k = 0; k < 3; k++) {
        rounded.low[k] = nextafterf((float)query->low[k], -INFINITY);
        rounded.high[k] = nextafterf((float)query->high[k], INFINITY);
    }
    mesh_walk_begin(&walk, tree, &rounded);
    for (int count = mesh_walk_next(&walk, tree); count > 0; count = mesh_walk_next(&walk, tree))
        for (int i = 0; i < count; i++) {
            Triangle t;
            for (int k = 0; k < 3; k++)
                to_shape(touch, tree->positions + 3 * (size_t)tree->triangles[walk.found[i]].vertices[k], t.v[k]);
            if (is_near(touch, &t) && finish(&t, walk.found[i]))
                visit(touch, &t);
        }
}

static int cell_of(double at, double spacing, int count)
{
    assert_debug(spacing > 0.0 && count >= 2);
    double cell = floor(at / spacing + 0.5 * (count - 1));
    return !(cell > 0.0) ? 0 : cell > count - 2 ? count - 2 : (int)cell;  // of a place that is no number: the first
}

static bool is_beside(const CollideHeights *grid, const Query *query)
{
    for (int k = 0; k < 2; k++) {
        double half = 0.5 * (grid->count[k] - 1) * grid->spacing[k];
        if (query->low[2 * k] > half || query->high[2 * k] < -half)
            return true;
    }
    return false;
}

// The two corners of a cell at x, in the frame of the shape.
static void cell_side(const Touch *touch, int x, int z, double out[2][3])
{
    assert_debug(x >= 0 && x < touch->surface->grid.count[0] && z >= 0 && z + 1 < touch->surface->grid.count[1]);
    for (int k = 0; k < 2; k++) {
        double p[3];
        collide_grid_point(&touch->surface->grid, x, z + k, p);
        to_shape(touch, p, out[k]);
    }
}

static void each_grid_triangle(Touch *touch, const Query *core, TriangleTouch visit)
{
    const CollideHeights *grid = &touch->surface->grid;
    Query around, *query = &around;
    double reach = touch->radius + touch->margin;
    for (int k = 0; k < 3; k++) {
        query->low[k] = core->low[k] - reach;
        query->high[k] = core->high[k] + reach;
    }
    if (is_beside(grid, query))
        return;
    int first[2], last[2];
    for (int k = 0; k < 2; k++) {
        first[k] = cell_of(query->low[2 * k], grid->spacing[k], grid->count[k]);
        last[k] = cell_of(query->high[2 * k], grid->spacing[k], grid->count[k]);
    }
    for (int z = first[1]; z <= last[1]; z++) {
        double sides[2][2][3] = { 0 };  // corners at x and x + 1; the former are those of the cell before
        int known = -1;                 // x of the latter
        for (int x = first[0]; x <= last[0]; x++) {
            const double *h = grid->heights + (size_t)z * (size_t)grid->count[0] + (size_t)x;
            if (larger(larger(h[0], h[1]), larger(h[grid->count[0]], h[grid->count[0] + 1])) < query->low[1])
                continue;
            if (known == x)
                memcpy(sides[0], sides[1], sizeof sides[0]);
            else
                cell_side(touch, x, z, sides[0]);
            cell_side(touch, x + 1, z, sides[1]);
            known = x + 1;
            for (int half = 0; half < 2; half++) {
                Triangle t;
                for (int k = 0; k < 3; k++)
                    vec_copy(sides[grid_corners[half][k][0]][grid_corners[half][k][1]], t.v[k]);
                if (is_near(touch, &t) && finish(&t, 2 * (z * (grid->count[0] - 1) + x) + half))
                    visit(touch, &t);
            }
        }
    }
}

static void each_triangle(Touch *touch, const Query *query, TriangleTouch visit)
{
    if (touch->surface->tree)
        each_mesh_triangle(touch, query, visit);
    else
        each_grid_triangle(touch, query, visit);
}

static void touch_begin(Touch *touch, const CollideSurface *surface, const CollidePose *at, const CollidePose *pose,
                        double margin)
{
    touch->surface = surface;
    touch->hull = NULL;
    touch->frame = collide_pose_relative(at, pose);
    touch->margin = margin;
    touch->lift = 0.5;
    touch->is_solid = surface->is_solid;
    touch->has_back = surface->has_back;
    touch->count = 0;
    for (int k = 0; k < 3; k++)
        touch->up[k] = touch->frame.rotation[3 * k + 1];
}

static int touch_end(Touch *touch, const CollidePose *pose, int max, CollidePoint *points)
{
    int count = touch_reduce(touch->points, touch->count, int_min(max, COLLIDE_SURFACE_POINTS));
    assert_debug(count <= max && count <= COLLIDE_SURFACE_POINTS);
    const double *r = pose->rotation;
    for (int i = 0; i < count; i++) {
        const CollidePoint *from = &touch->points[i];
        CollidePoint *to = &points[i];
        for (int k = 0; k < 3; k++) {
            to->position[k] = pose->position[k] + r[3 * k] * from->position[0] + r[3 * k + 1] * from->position[1]
                              + r[3 * k + 2] * from->position[2];
            to->normal[k] = r[3 * k] * from->normal[0] + r[3 * k + 1] * from->normal[1]
                            + r[3 * k + 2] * from->normal[2];
        }
        to->depth = from->depth;
        to->feature = from->feature;
    }
    return count;
}

// The box that is left of a shape without its round parts.
static void set_core(Touch *touch, const CollideShape *shape)
{
    double half[3] = { 0.0, 0.0, 0.0 };
    touch->radius = shape->type == GEOMETRY_BOX ? 0.0 : shape->size[0];
    if (shape->type == GEOMETRY_BOX)
        vec_copy(shape->size, half);
    else if (shape->type != GEOMETRY_SPHERE)
        half[2] = shape->size[1];
    for (int k = 0; k < 3; k++) {
        touch->core[0][k] = -half[k];
        touch->core[1][k] = half[k];
    }
}

static Query query_of(const Touch *touch, const CollidePose *pose, const CollidePose *at)
{
    Query query;
    CollidePose in_surface = collide_pose_relative(pose, at);
    for (int k = 0; k < 3; k++) {
        const double *r = in_surface.rotation + 3 * k;
        double middle = in_surface.position[k], reach = 0.0;
        for (int i = 0; i < 3; i++) {
            middle += r[i] * 0.5 * (touch->core[0][i] + touch->core[1][i]);
            reach += fabs(r[i]) * 0.5 * (touch->core[1][i] - touch->core[0][i]);
        }
        query.low[k] = middle - reach;
        query.high[k] = middle + reach;
    }
    return query;
}

// A ball touches its surface once wherever that is flat or bulges: of two points the shallower one counts only when the
// surface rises above the tangent plane of the deeper one.
static int keep_rising(CollidePoint *points, int count, double radius, double lift)
{
    int kept = 0;
    for (int i = 0; i < count; i++) {
        bool is_shadowed = false;
        for (int k = 0; k < count && !is_shadowed; k++) {
            double d[3];
            vec_sub(points[i].position, points[k].position, d);
            bool is_deeper = points[k].depth > points[i].depth || (points[k].depth == points[i].depth && k < i);
            is_shadowed = k != i && is_deeper
                          && vec_dot(d, points[k].normal) <= 1e-4 * radius + lift * (points[k].depth - points[i].depth);
        }
        points[count + kept] = points[i];
        kept += !is_shadowed;
    }
    memmove(points, points + count, (size_t)kept * sizeof *points);
    return kept;
}

// Whether the middle of the shape's core is behind what a point of it touches.
static bool is_behind(const Touch *touch, const CollidePoint *point)
{
    double arm[3];
    for (int k = 0; k < 3; k++)
        arm[k] = point->position[k] - 0.5 * (touch->core[0][k] + touch->core[1][k]);
    return vec_dot(point->normal, arm) + touch->lift * point->depth > 0.0;
}

// The middle of a shape is in front of one side of a thin wall and behind the other, which then has no say.
static void drop_far_sides(Touch *touch)
{
    int kept = 0;
    for (int i = 0; i < touch->count; i++) {
        const CollidePoint *point = &touch->points[i];
        bool is_far = false, may_be = is_behind(touch, point);
        for (int k = 0; may_be && k < touch->count && !is_far; k++)
            is_far = vec_dot(touch->points[k].normal, point->normal) < -OPPOSITE_NORMALS
                     && !is_behind(touch, &touch->points[k]);
        touch->points[kept] = *point;
        kept += !is_far;
    }
    touch->count = kept;
}

int collide_surface(const CollideShape *shape, const CollidePose *pose, const CollideSurface *surface,
                    const CollidePose *at, double margin, int max, CollidePoint *points)
{
    static const TriangleTouch kernels[] = { [GEOMETRY_SPHERE] = triangle_ball,
                                             [GEOMETRY_CAPSULE] = triangle_ball,
                                             [GEOMETRY_CYLINDER] = triangle_cylinder,
                                             [GEOMETRY_BOX] = triangle_box };
    if (shape->type == GEOMETRY_PLANE)
        return 0;
    assert(shape->type < COUNT_OF(kernels) && kernels[shape->type]);
    Touch touch;
    double size[3] = { shape->size[0], shape->type == GEOMETRY_SPHERE ? 0.0 : shape->size[1], shape->size[2] };
    touch_begin(&touch, surface, at, pose, margin);
    touch.size = size;
    set_core(&touch, shape);
    if (shape->type != GEOMETRY_BOX)
        touch.lift = 1.0;  // as on a plane
    Query query = query_of(&touch, pose, at);
    each_triangle(&touch, &query, kernels[shape->type]);
    if (shape->type == GEOMETRY_SPHERE) {
        if (touch.count > TOUCH_MAX / 2)
            touch.count = touch_reduce(touch.points, touch.count, TOUCH_ROOM);
        touch.count = keep_rising(touch.points, touch.count, size[0], touch.lift);
    }
    if (surface->tree)
        drop_far_sides(&touch);
    return touch_end(&touch, pose, max, points);
}

int collide_surface_convex(const Convex *convex, const CollidePose *pose, const CollideSurface *surface,
                           const CollidePose *at, double margin, int max, CollidePoint *points)
{
    Touch touch;
    touch_begin(&touch, surface, at, pose, margin);
    touch.hull = convex_hull(convex);
    touch.radius = 0.0;
    for (int k = 0; k < 3; k++) {
        touch.core[0][k] = INFINITY;
        touch.core[1][k] = -INFINITY;
        for (int i = 0; i < touch.hull->vertex_count; i++) {
            touch.core[0][k] = fmin(touch.core[0][k], touch.hull->vertices[i][k]);
            touch.core[1][k] = fmax(touch.core[1][k], touch.hull->vertices[i][k]);
        }
    }
    Query query = query_of(&touch, pose, at);
    each_triangle(&touch, &query, triangle_hull);
    if (surface->tree)
        drop_far_sides(&touch);
    return touch_end(&touch, pose, max, points);
}
