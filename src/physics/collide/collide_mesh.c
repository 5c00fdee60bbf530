// Meshes on the ground, and meshes on meshes.
//
// Two meshes touch where a corner of one is behind a face of the other and where crossed edges stick into each other.
// Single corners and edges do not know the way out of the whole mesh, so these rules choose it: a corner is pushed by a
// face only when it sticks out towards it (a body that ends flush with the one below is not pushed off by that one's
// wall), of several such faces by the nearest; edges do not push where an end of theirs has a shorter way; and what
// sticks out that way but for a little (bodies lie a little askew) counts beside something deeper that really does.
#include "physics/collide/collide_internal.h"
#include "physics/collide/collide_triangle.h"
#include "physics/collide/tuning.h"

#include <math.h>
#include <string.h>

#define EDGES 8u            // bit of a point's feature: of crossed edges
#define UNSURE 0x80000000u  // another: it counts only beside another

static void rotate(const double r[9], const double v[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = r[3 * i] * v[0] + r[3 * i + 1] * v[1] + r[3 * i + 2] * v[2];
}

static void rotate_back(const double r[9], const double v[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = r[i] * v[0] + r[3 + i] * v[1] + r[6 + i] * v[2];
}

static void place(const CollidePose *pose, const double p[3], double out[3])
{
    rotate(pose->rotation, p, out);
    for (int i = 0; i < 3; i++)
        out[i] += pose->position[i];
}

// ---- on the ground ----

int collide_surface_ground(const CollideSurface *surface, const CollidePose *pose, const CollidePose *plane,
                           double margin, int max, CollidePoint *points)
{
    assert_debug(surface && surface->tree && margin >= 0.0 && max > 0);
    const MeshTree *tree = surface->tree;
    const double up[3] = { plane->rotation[2], plane->rotation[5], plane->rotation[8] };
    double normal[3], away[3], size = 0.0;
    vec_sub(plane->position, pose->position, away);
    rotate_back(pose->rotation, up, normal);
    double offset = vec_dot(up, away);
    for (int k = 0; k < 3; k++)
        size += larger(fabs(tree->low[k]), fabs(tree->high[k]));
    MeshPlane below = { { (float)normal[0], (float)normal[1], (float)normal[2] },
                        (float)(offset + margin + 1e-6 * (size + fabs(offset))) };
    Touch touch;  // of which points alone are used
    touch.margin = margin;
    touch.count = 0;
    MeshWalk walk;
    mesh_walk_begin(&walk, tree, &(MeshQuery){ 0 });
    for (int count = mesh_walk_next_below(&walk, tree, &below); count > 0;
         count = mesh_walk_next_below(&walk, tree, &below))
        for (int i = 0; i < count; i++)
            for (int k = 0; k < 3; k++) {
                const double *corner = mesh_tree_corner(tree, walk.found[i], k);
                double depth = offset - vec_dot(normal, corner), p[3];
                if (!(tree->triangles[walk.found[i]].owned_corners >> k & 1) || depth < -margin)
                    continue;
                place(pose, corner, p);
                touch_add(&touch, p, up, depth, (uint32_t)walk.found[i] << 2 | (uint32_t)k);
            }
    int count = touch_reduce(touch.points, touch.count, int_min(max, COLLIDE_SURFACE_POINTS));
    for (int i = 0; i < count; i++)
        points[i] = touch.points[i];
    return count;
}

// ---- on another mesh ----

typedef struct Meeting {
    const CollideSurface *meshes[2];
    CollidePose poses[2];
    CollidePose other[2];  // the other mesh in the frame of this one
    Touch touch;           // points in the world; normals out of the second mesh
} Meeting;

static void meeting_add(Meeting *m, int frame, const double position[3], const double normal[3], double depth,
                        uint32_t feature)
{
    assert_debug(frame == 0 || frame == 1);
    double p[3], n[3];
    place(&m->poses[frame], position, p);
    rotate(m->poses[frame].rotation, normal, n);
    for (int k = 0; k < 3 && frame == 0; k++)
        n[k] = -n[k];
    touch_add(&m->touch, p, n, depth, feature);
}

static uint32_t feature_of(int triangle, uint32_t part, bool is_sure)
{
    return ((uint32_t)triangle << 4 & ~UNSURE) | part | (is_sure ? 0 : UNSURE);
}

#define FLOAT_STEP 1.2e-7  // more than a float's rounding, as a share

static MeshQuery query_around(const double low[3], const double high[3], double radius)
{
    MeshQuery query;
    query.radius2 = (float)(radius * radius * (1.0 + 2.0 * FLOAT_STEP));
    for (int k = 0; k < 3; k++) {
        query.low[k] = (float)(low[k] - FLOAT_STEP * fabs(low[k]));
        query.high[k] = (float)(high[k] + FLOAT_STEP * fabs(high[k]));
    }
    return query;
}

// The way out for a corner that is behind faces.
typedef struct WayOut {
    double normal[3], depth;
    bool is_sure;
} WayOut;

// A corner of mesh `of` (its owner: a triangle and which of its corners) as faces of the other mesh see it.
typedef struct Corner {
    int of, triangle, corner;
    double at[3];  // in the frame of the other
} Corner;

static Corner corner_of(const Meeting *m, int of, int triangle, int corner)
{
    assert_debug((of == 0 || of == 1) && corner >= 0 && corner < 3);
    Corner c = { .of = of, .triangle = triangle, .corner = corner };
    place(&m->other[1 - of], mesh_tree_corner(m->meshes[of]->tree, triangle, corner), c.at);
    return c;
}

// Below a valley the prisms behind its two sides leave a gap, which belongs to both.
static bool is_over(const CollideSurface *surface, int triangle, const double normal[3], double depth,
                    const double p[3], bool is_back)
{
    const MeshTriangle *t = &surface->tree->triangles[triangle];
    for (int k = 0; k < 3; k++) {
        const double *from = mesh_tree_corner(surface->tree, triangle, k);
        double edge[3], out[3], d[3];
        vec_sub(mesh_tree_corner(surface->tree, triangle, (k + 1) % 3), from, edge);
        vec_cross(edge, normal, out);
        vec_sub(p, from, d);
        double length2 = vec_dot(edge, edge), room = ON_EDGE * length2;
        if (t->edges[k] == (is_back ? MESH_EDGE_CONVEX : MESH_EDGE_CONCAVE) && depth > 0.0)
            room += 1.5 * depth * sqrt(length2);
        if (vec_dot(out, d) > room)
            return false;
    }
    return true;
}

static bool sticks_out(const Meeting *m, const Corner *c, const double normal[3], double slack)
{
    double towards[3];
    rotate_back(m->other[1 - c->of].rotation, normal, towards);
    for (int k = 0; k < 3; k++)
        towards[k] = -towards[k];
    return mesh_tree_is_outermost(m->meshes[c->of]->tree, c->triangle, c->corner, towards, slack);
}

// How far behind its faces a corner of the other mesh is still pushed to the front. With both sides to rest on, no more
// than tells on which of them the other mesh is.
static double depth_limit(const Meeting *m, int mesh)
{
    const CollideSurface *own = m->meshes[mesh], *other = m->meshes[1 - mesh];
    return larger(own->has_back ? smaller(own->reach, other->reach) : own->reach, m->touch.margin);
}

// Looks at one face: takes its way out when it is the shortest so far of those that are sure, or of the others, or
// notes how near in front of it the corner is.
static void ask_face(const Meeting *m, const Corner *c, int triangle, WayOut best[2], double *in_front)
{
    const CollideSurface *face = m->meshes[1 - c->of];
    const double *a = mesh_tree_corner(face->tree, triangle, 0);
    double normal[3], d[3];
    mesh_tree_normal(a, mesh_tree_corner(face->tree, triangle, 1), mesh_tree_corner(face->tree, triangle, 2), normal);
    vec_sub(c->at, a, d);
    double depth = -vec_dot(normal, d);
    if (fabs(depth) > depth_limit(m, 1 - c->of) || !is_over(face, triangle, normal, depth, c->at, false))
        return;
    if (!face->has_back && depth < 0.0)
        *in_front = smaller(*in_front, -depth);
    for (int side = 0; side <= face->has_back; side++) {
        double sign = side ? -1.0 : 1.0, n[3] = { sign * normal[0], sign * normal[1], sign * normal[2] };
        if (!(sign * depth >= -m->touch.margin && sign * depth < larger(best[0].depth, best[1].depth))
            || !sticks_out(m, c, n, CORNER_ASKEW))
            continue;
        bool is_sure = sticks_out(m, c, n, EDGE_UPRIGHT);
        if (sign * depth < best[is_sure].depth) {
            best[is_sure] = (WayOut){ .depth = sign * depth, .is_sure = is_sure };
            vec_copy(n, best[is_sure].normal);
        }
    }
}

static bool find_way_out(const Meeting *m, const Corner *c, WayOut *way)
{
    const CollideSurface *face = m->meshes[1 - c->of];
    MeshQuery query = query_around(c->at, c->at, depth_limit(m, 1 - c->of));
    MeshWalk walk;
    double in_front = INFINITY;
    WayOut best[2] = { { .depth = INFINITY }, { .depth = INFINITY } };  // that are not sure, that are
    mesh_walk_begin(&walk, face->tree, &query);
    for (int count = mesh_walk_next(&walk, face->tree); count > 0; count = mesh_walk_next(&walk, face->tree))
        for (int i = 0; i < count; i++)
            ask_face(m, c, walk.found[i], best, &in_front);
    *way = best[0].depth < (best[1].depth < INFINITY ? MUCH_SHORTER_WAY * best[1].depth : INFINITY) ? best[0] : best[1];
    // Nearer to the front of one face than to the back of another: outside.
    return way->depth < INFINITY && fabs(way->depth) <= in_front;
}

static void touch_corner(Meeting *m, int of, int triangle, int corner)
{
    assert_debug((of == 0 || of == 1) && corner >= 0 && corner < 3);
    Corner c = corner_of(m, of, triangle, corner);
    WayOut way;
    if (!find_way_out(m, &c, &way))
        return;
    double p[3];
    for (int k = 0; k < 3; k++)
        p[k] = c.at[k] + 0.5 * way.depth * way.normal[k];
    meeting_add(m, 1 - of, p, way.normal, way.depth,
                feature_of(triangle, (uint32_t)of << 2 | (uint32_t)corner, way.is_sure));
}

// ---- crossed edges ----

// An edge that sticks out, in the frame of the second mesh. What is outside of it lies between `out`, which continue
// its faces beyond it; a border has one.
typedef struct Ledge {
    int triangle, edge, out_count;
    double from[3], along[3], out[2][3];
} Ledge;

static void continue_face(Ledge *ledge, const double tip[3])
{
    assert_debug(ledge->out_count < 2);
    double *out = ledge->out[ledge->out_count++];
    vec_sub(ledge->from, tip, out);
    double share = vec_dot(out, ledge->along) / vec_dot(ledge->along, ledge->along), square = 0.0;
    for (int k = 0; k < 3; k++) {
        out[k] -= share * ledge->along[k];
        square += out[k] * out[k];
    }
    for (int k = 0; k < 3; k++)
        out[k] /= sqrt(square);
}

// False: it does not stick out, or another triangle speaks for it. `out` comes later, for the few that cross something.
static bool ledge_begin(const CollideSurface *surface, int triangle, int edge, Ledge *ledge)
{
    assert_debug(edge >= 0 && edge < 3);
    const MeshTree *tree = surface->tree;
    const MeshTriangle *t = &tree->triangles[triangle];
    MeshEdge kind = (MeshEdge)t->edges[edge];
    if ((t->mates[edge] >= 0 && t->mates[edge] < triangle) || kind == MESH_EDGE_FLAT
        || (kind == MESH_EDGE_CONCAVE && !surface->has_back))
        return false;
    ledge->triangle = triangle;
    ledge->edge = edge;
    ledge->out_count = 0;
    vec_copy(mesh_tree_corner(tree, triangle, edge), ledge->from);
    vec_sub(mesh_tree_corner(tree, triangle, (edge + 1) % 3), ledge->from, ledge->along);
    return true;
}

// `pose`: of its mesh in the frame of the second, NULL when it is the second.
static void ledge_finish(const CollideSurface *surface, const CollidePose *pose, Ledge *ledge)
{
    const MeshTree *tree = surface->tree;
    int mate = tree->triangles[ledge->triangle].mates[ledge->edge];
    const double *from = mesh_tree_corner(tree, ledge->triangle, ledge->edge),
                 *to = mesh_tree_corner(tree, ledge->triangle, (ledge->edge + 1) % 3);
    const double *tips[2] = { mesh_tree_corner(tree, ledge->triangle, (ledge->edge + 2) % 3), NULL };
    for (int k = 0; mate >= 0 && k < 3; k++) {
        const double *tip = mesh_tree_corner(tree, mate, k);
        if (memcmp(tip, from, 3 * sizeof *tip) != 0 && memcmp(tip, to, 3 * sizeof *tip) != 0)
            tips[1] = tip;
    }
    for (int i = 0; i < 2 && tips[i]; i++) {
        double tip[3];
        vec_copy(tips[i], tip);
        if (pose)
            place(pose, tips[i], tip);
        continue_face(ledge, tip);
    }
}

static void ledge_place(const CollidePose *pose, Ledge *ledge)
{
    Ledge own = *ledge;
    place(pose, own.from, ledge->from);
    rotate(pose->rotation, own.along, ledge->along);
}

static double outwards(const Ledge *ledge, const double normal[3])
{
    return vec_dot(ledge->out[0], normal) + (ledge->out_count > 1 ? vec_dot(ledge->out[1], normal) : 0.0);
}

static bool is_outside(const Ledge *ledge, const double normal[3], double sign, double slack)
{
    for (int i = 0; i < ledge->out_count; i++)
        if (sign * vec_dot(ledge->out[i], normal) < -slack)
            return false;
    return true;
}

// `is_sure`: the edge really sticks out along the normal. Then a way that its end just might take is none.
static bool has_shorter_way(const Meeting *m, int of, const Ledge *ledge, const double normal[3], double depth,
                            bool is_sure)
{
    assert_debug(of == 0 || of == 1);
    for (int end = 0; end < 2; end++) {
        Corner c = corner_of(m, of, ledge->triangle, (ledge->edge + end) % 3);
        WayOut way;
        double world[3], n[3];
        if (!find_way_out(m, &c, &way) || (is_sure && !way.is_sure)
            || !(way.depth < (way.is_sure ? SHORTER_WAY : MUCH_SHORTER_WAY) * depth))
            continue;
        rotate(m->poses[1 - of].rotation, way.normal, world);
        rotate_back(m->poses[1].rotation, world, n);
        if (fabs(vec_dot(n, normal)) < SAME_WAY)
            return true;
    }
    return false;
}

// Where two edges pass each other, as shares of their lengths; false: nowhere, or they do not cross.
static bool cross(const Ledge *a, const Ledge *b, double shares[2], double normal[3])
{
    double away[3], aa = vec_dot(a->along, a->along), ab = vec_dot(a->along, b->along),
                    bb = vec_dot(b->along, b->along);
    vec_cross(a->along, b->along, normal);
    double square = vec_dot(normal, normal);
    if (square < EDGES_CROSSED * EDGES_CROSSED * aa * bb)
        return false;
    vec_sub(a->from, b->from, away);
    double da = vec_dot(a->along, away), db = vec_dot(b->along, away);
    shares[0] = (ab * db - bb * da) / square;
    shares[1] = (aa * db - ab * da) / square;
    for (int k = 0; k < 3; k++)
        normal[k] /= sqrt(square);
    return shares[0] >= -ON_EDGE && shares[0] <= 1.0 + ON_EDGE && shares[1] >= -ON_EDGE && shares[1] <= 1.0 + ON_EDGE;
}

// The first ledge is of the first mesh; the normal points out of the second.
static void touch_crossing(Meeting *m, Ledge *first, Ledge *second)
{
    double normal[3], away[3], shares[2], p[3];
    if (!cross(first, second, shares, normal))
        return;
    vec_sub(second->from, first->from, away);
    double depth = vec_dot(away, normal);
    if (fabs(depth) > larger(smaller(m->meshes[0]->reach, m->meshes[1]->reach), m->touch.margin))
        return;
    if (first->out_count == 0)
        ledge_finish(m->meshes[0], &m->other[1], first);
    ledge_finish(m->meshes[1], NULL, second);
    if (outwards(second, normal) < outwards(first, normal)) {
        depth = -depth;
        for (int k = 0; k < 3; k++)
            normal[k] = -normal[k];
    }
    bool is_sure = is_outside(second, normal, 1.0, EDGE_UPRIGHT) && is_outside(first, normal, -1.0, EDGE_UPRIGHT);
    if (depth < -m->touch.margin || !is_outside(second, normal, 1.0, EDGE_ASKEW)
        || !is_outside(first, normal, -1.0, EDGE_ASKEW) || has_shorter_way(m, 0, first, normal, depth, is_sure)
        || has_shorter_way(m, 1, second, normal, depth, is_sure))
        return;
    for (int k = 0; k < 3; k++)
        p[k] = second->from[k] + shares[1] * second->along[k] - 0.5 * depth * normal[k];
    meeting_add(m, 1, p, normal, depth, feature_of(first->triangle, EDGES | (uint32_t)first->edge, is_sure));
}

static void touch_edge_of_first(Meeting *m, int triangle, int edge)
{
    Ledge first, second;
    if (!ledge_begin(m->meshes[0], triangle, edge, &first))
        return;
    ledge_place(&m->other[1], &first);
    double low[3], high[3];
    for (int k = 0; k < 3; k++) {
        low[k] = first.from[k] + smaller(first.along[k], 0.0);
        high[k] = first.from[k] + larger(first.along[k], 0.0);
    }
    const MeshTree *tree = m->meshes[1]->tree;
    MeshQuery query = query_around(low, high,
                                   larger(smaller(m->meshes[0]->reach, m->meshes[1]->reach), m->touch.margin));
    MeshWalk walk;
    mesh_walk_begin(&walk, tree, &query);
    for (int count = mesh_walk_next(&walk, tree); count > 0; count = mesh_walk_next(&walk, tree))
        for (int i = 0; i < count; i++)
            for (int k = 0; k < 3; k++)
                if (ledge_begin(m->meshes[1], walk.found[i], k, &second))
                    touch_crossing(m, &first, &second);
}

// ---- what of a mesh is near the other ----

static void touch_triangle(Meeting *m, int of, int triangle)
{
    for (int k = 0; k < 3; k++) {
        if (m->meshes[of]->tree->triangles[triangle].owned_corners >> k & 1)
            touch_corner(m, of, triangle, k);
        if (of == 0)
            touch_edge_of_first(m, triangle, k);
    }
}

static bool is_near(const Meeting *m, int of, const MeshNode *node, int box)
{
    const CollidePose *pose = &m->other[1 - of];
    double middle[3], half[3], at[3], low[3], high[3];
    for (int k = 0; k < 3; k++) {
        middle[k] = 0.5 * ((double)node->low[k][box] + (double)node->high[k][box]);
        half[k] = 0.5 * ((double)node->high[k][box] - (double)node->low[k][box]);
        if (half[k] < 0.0)
            return false;  // no box
    }
    place(pose, middle, at);
    for (int k = 0; k < 3; k++) {
        const double *r = pose->rotation + 3 * k;
        double reach = fabs(r[0]) * half[0] + fabs(r[1]) * half[1] + fabs(r[2]) * half[2];
        low[k] = at[k] - reach;
        high[k] = at[k] + reach;
    }
    MeshQuery query = query_around(low, high, depth_limit(m, 1 - of));
    return mesh_tree_is_near(m->meshes[1 - of]->tree, &query);
}

static void touch_near(Meeting *m, int of)
{
    const MeshTree *tree = m->meshes[of]->tree;
    int32_t stack[3 * MESH_DEPTH_MAX + 4] = { 0 };
    int waiting = tree->node_count > 0;
    while (waiting > 0) {
        const MeshNode *node = &tree->nodes[stack[--waiting]];
        for (int box = 0; box < 4; box++) {
            if (!is_near(m, of, node, box))
                continue;
            if (node->parts[box] < 0)
                touch_triangle(m, of, ~node->parts[box]);
            else
                stack[waiting++] = node->parts[box];
        }
    }
}

// The deepest point that is sure and pushes about the same way.
static const CollidePoint *backing_of(const Touch *touch, const CollidePoint *point)
{
    const CollidePoint *best = NULL;
    for (int i = 0; i < touch->count; i++) {
        const CollidePoint *other = &touch->points[i];
        if (!(other->feature & UNSURE) && other->depth >= (best ? best->depth : point->depth)
            && vec_dot(other->normal, point->normal) > SAME_WAY)
            best = other;
    }
    return best;
}

// What counts beside another pushes the way of that one.
static int keep_sure(const Touch *touch, CollidePoint kept[TOUCH_MAX])
{
    int count = 0, sure = 0;
    for (int i = 0; i < touch->count; i++)
        sure += !(touch->points[i].feature & UNSURE);
    for (int i = 0; i < touch->count; i++) {
        const CollidePoint *point = &touch->points[i],
                           *backing = point->feature & UNSURE ? backing_of(touch, point) : point;
        if (!backing && (sure > 0 || point->feature & EDGES))
            continue;  // a corner that is behind a face is inside, whatever way it leaves; lines that cross need not be
        kept[count] = *point;
        if (backing)
            vec_copy(backing->normal, kept[count].normal);
        kept[count++].feature &= ~UNSURE;
    }
    return count;
}

int collide_surface_surface(const CollideSurface *a, const CollidePose *pa, const CollideSurface *b,
                            const CollidePose *pb, double margin, int max, CollidePoint *points)
{
    assert_debug(a && b && margin >= 0.0 && max > 0);
    Meeting m;
    m.meshes[0] = a, m.meshes[1] = b;
    m.poses[0] = *pa, m.poses[1] = *pb;
    m.touch.margin = margin;
    m.touch.count = 0;
    m.other[0] = collide_pose_relative(pb, pa);
    m.other[1] = collide_pose_relative(pa, pb);
    touch_near(&m, 0);
    touch_near(&m, 1);
    CollidePoint kept[TOUCH_MAX];
    int count = touch_reduce(kept, keep_sure(&m.touch, kept), int_min(max, COLLIDE_SURFACE_POINTS));
    for (int i = 0; i < count; i++)
        points[i] = kept[i];
    return count;
}
