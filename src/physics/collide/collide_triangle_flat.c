// Boxes and convex solids against one triangle: the axis of least overlap among the triangle's normal, the solid's
// faces and crossed edges, then the points by clipping the one to the other.
#include "physics/collide/collide_internal.h"
#include "physics/collide/collide_triangle.h"

#include <math.h>

static bool is_downward(const Touch *touch, const double axis[3])
{
    return touch->is_solid && vec_dot(axis, touch->up) < -1e-9;  // a solid ground has no end that way
}

// ---- boxes ----

// The box's faces; the axis points from the triangle to the box.
static void box_faces(const Touch *touch, const Triangle *t, AxisChoice *best)
{
    for (int k = 0; k < 3; k++) {
        double low = smaller(t->v[0][k], smaller(t->v[1][k], t->v[2][k])),
               high = larger(t->v[0][k], larger(t->v[1][k], t->v[2][k]));
        double apart[2] = { -touch->size[k] - high, low - touch->size[k] };
        for (int side = 0; side < 2; side++) {
            double axis[3] = { 0.0, 0.0, 0.0 };
            axis[k] = side ? -1.0 : 1.0;
            if (apart[side] <= best->separation || is_downward(touch, axis))
                continue;
            best->separation = apart[side];
            best->feature = k;
            vec_copy(axis, best->axis);
        }
    }
}

// Edges of the box crossed with those of the triangle. Stops at the first that separates.
static void box_edges(const Touch *touch, const Triangle *t, AxisChoice *best)
{
    for (int e = 0; e < 3; e++) {
        double along[3];
        vec_sub(t->v[(e + 1) % 3], t->v[e], along);
        double length2 = vec_dot(along, along);
        for (int k = 0; k < 3; k++) {
            int i = (k + 1) % 3, j = (k + 2) % 3;
            double flat2 = along[i] * along[i] + along[j] * along[j];
            if (flat2 < 1e-4 * length2)
                continue;  // nearly parallel: faces say it better
            double scale = 1.0 / sqrt(flat2), x = along[j] * scale, y = -along[i] * scale;
            double reach = touch->size[i] * fabs(x) + touch->size[j] * fabs(y);
            double on = x * t->v[e][i] + y * t->v[e][j], off = x * t->v[(e + 2) % 3][i] + y * t->v[(e + 2) % 3][j];
            // The edge is outermost on the side away from the third corner; on the other side that corner is.
            double apart[2] = { -reach - larger(on, off), smaller(on, off) - reach };
            for (int side = 0; side < 2; side++) {
                if (apart[side] <= best->separation)
                    continue;
                double axis[3] = { 0.0, 0.0, 0.0 };
                axis[i] = side ? -x : x;
                axis[j] = side ? -y : y;
                // With the third corner outermost the axis is one of corners, which faces and other edges decide.
                bool is_edge = side ? on < off : on > off;
                if (is_downward(touch, axis) || (!is_edge && apart[side] <= touch->margin))
                    continue;
                best->separation = apart[side];
                best->feature = 3 * e + k;
                vec_copy(axis, best->axis);
                if (apart[side] > touch->margin)
                    return;
            }
        }
    }
}

// The face of the box that looks at the triangle.
static void box_normal_points(Touch *touch, const Triangle *t)
{
    int face = 0;
    for (int k = 1; k < 3; k++)
        if (fabs(t->normal[k]) > fabs(t->normal[face]))
            face = k;
    int i = (face + 1) % 3, j = (face + 2) % 3;
    static const double corner[4][2] = { { 1.0, 1.0 }, { -1.0, 1.0 }, { -1.0, -1.0 }, { 1.0, -1.0 } };
    Polygon feature;
    for (int c = 0; c < 4; c++) {
        feature[c][face] = t->normal[face] > 0.0 ? -touch->size[face] : touch->size[face];
        feature[c][i] = corner[c][0] * touch->size[i];
        feature[c][j] = corner[c][1] * touch->size[j];
    }
    touch_face(touch, t, feature, 4);
}

static void box_face_points(Touch *touch, const Triangle *t, const AxisChoice *face)
{
    Polygon first, second;
    double(*from)[3] = first, (*to)[3] = second;
    int count = 3, k = face->feature;
    assert_debug(k >= 0 && k < 3);
    for (int c = 0; c < 3; c++)
        vec_copy(t->v[c], first[c]);
    for (int side = 0; side < 4 && count > 0; side++) {
        int across = (k + 1 + side / 2) % 3;
        double out[3] = { 0.0, 0.0, 0.0 };
        out[across] = side % 2 ? -1.0 : 1.0;
        count = polygon_clip((const double(*)[3])from, count, out, touch->size[across], to);
        double(*swap)[3] = from;
        from = to;
        to = swap;
    }
    for (int c = 0; c < count; c++) {
        double depth = face->axis[k] * from[c][k] + touch->size[k], p[3];
        vec_copy(from[c], p);
        p[k] -= 0.5 * depth * face->axis[k];
        touch_add(touch, p, face->axis, depth, (uint32_t)t->index << 4 | (uint32_t)c);
    }
}

// Where two edges cross, seen along an axis square to both: midway between them. The shape's begins at `from` and has a
// length.
static void crossing_point(Touch *touch, const Triangle *t, int edge, const double from[3], const double direction[3],
                           double length, const AxisChoice *choice)
{
    assert_debug(edge >= 0 && edge < 3);
    double along[3], w[3], p[3];
    vec_sub(t->v[(edge + 1) % 3], t->v[edge], along);
    vec_sub(from, t->v[edge], w);
    double aa = vec_dot(along, along), ab = vec_dot(along, direction),
           share = (vec_dot(along, w) - ab * vec_dot(direction, w)) / (aa - ab * ab);
    double way = share * ab - vec_dot(direction, w);
    if (!(share >= -1e-6 && share <= 1.0 + 1e-6) || !(way >= -1e-6 * length && way <= (1.0 + 1e-6) * length))
        return;  // the edge goes on beyond the triangle, or the ground does below an edge that the shape does not reach
    for (int k = 0; k < 3; k++)
        p[k] = t->v[edge][k] + share * along[k] + 0.5 * choice->separation * choice->axis[k];
    touch_add(touch, p, choice->axis, -choice->separation, (uint32_t)t->index << 4 | 8u | (uint32_t)edge);
}

static void box_edge_points(Touch *touch, const Triangle *t, const AxisChoice *choice)
{
    int edge = choice->feature / 3, k = choice->feature % 3;
    double from[3], direction[3] = { 0.0, 0.0, 0.0 };
    direction[k] = 1.0;
    for (int q = 0; q < 3; q++)
        from[q] = q == k || choice->axis[q] > 0.0 ? -touch->size[q] : touch->size[q];
    crossing_point(touch, t, edge, from, direction, 2.0 * touch->size[k], choice);
}

void triangle_box(Touch *touch, const Triangle *triangle)
{
    const double *s = touch->size, *n = triangle->normal;
    double reach = s[0] * fabs(n[0]) + s[1] * fabs(n[1]) + s[2] * fabs(n[2]);
    Triangle t;
    bool can_face;
    if (!touch_side(touch, triangle, reach, touch->has_back, &t, &can_face))
        return;
    AxisChoice face = { .separation = -INFINITY }, edge = { .separation = -INFINITY };
    box_faces(touch, &t, &face);
    if (face.separation > touch->margin)
        return;
    box_edges(touch, &t, &edge);
    if (edge.separation > touch->margin)
        return;
    switch (touch_choose(touch, &t, can_face ? t.height - reach : -INFINITY, &face, &edge,
                         1e-3 * smaller(s[0], smaller(s[1], s[2])))) {
    case AXIS_NORMAL: box_normal_points(touch, &t); break;
    case AXIS_FACE: box_face_points(touch, &t, &face); break;
    case AXIS_EDGE: box_edge_points(touch, &t, &edge); break;
    case AXIS_NONE: break;
    }
}

// ---- convex solids ----

static void hull_range(const Hull *hull, const double axis[3], double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (int i = 0; i < hull->vertex_count; i++) {
        double at = vec_dot(axis, hull->vertices[i]);
        *low = smaller(*low, at);
        *high = larger(*high, at);
    }
}

static void hull_faces(const Touch *touch, const Triangle *t, AxisChoice *best)
{
    for (int i = 0; i < touch->hull->face_count; i++) {
        const HullFace *face = &touch->hull->faces[i];
        double nearest = smaller(vec_dot(face->normal, t->v[0]),
                                 smaller(vec_dot(face->normal, t->v[1]), vec_dot(face->normal, t->v[2])));
        double axis[3] = { -face->normal[0], -face->normal[1], -face->normal[2] }, separation = nearest - face->offset;
        if (separation <= best->separation || is_downward(touch, axis))
            continue;
        best->separation = separation;
        best->feature = i;
        vec_copy(axis, best->axis);
        if (separation > touch->margin)
            return;
    }
}

static void hull_edges(const Touch *touch, const Triangle *t, AxisChoice *best)
{
    for (int e = 0; e < 3; e++) {
        double along[3];
        vec_sub(t->v[(e + 1) % 3], t->v[e], along);
        double length2 = vec_dot(along, along);
        for (int i = 0; i < touch->hull->edge_count; i++) {
            const HullEdge *edge = &touch->hull->edges[i];
            double axis[3];
            vec_cross(along, edge->direction, axis);
            double square = vec_dot(axis, axis);
            if (square < 1e-4 * length2)
                continue;
            // To the side on which the triangle's third corner is not.
            double scale = 1.0 / sqrt(square), on = vec_dot(axis, t->v[e]), off = vec_dot(axis, t->v[(e + 2) % 3]);
            if (off > on)
                scale = -scale;
            for (int k = 0; k < 3; k++)
                axis[k] *= scale;
            double separation = vec_dot(axis, edge->from) - larger(on * scale, off * scale), low, high;
            if (separation <= best->separation || is_downward(touch, axis))
                continue;
            hull_range(touch->hull, axis, &low, &high);
            if (low < vec_dot(axis, edge->from) - 1e-9 * (high - low))
                continue;  // not the solid's outermost edge that way
            best->separation = separation;
            best->feature = e * touch->hull->edge_count + i;
            vec_copy(axis, best->axis);
            if (separation > touch->margin)
                return;
        }
    }
}

static int hull_face_polygon(const Hull *hull, const HullFace *face, Polygon out)
{
    assert_debug(face->count <= POLYGON_MAX);
    for (int i = 0; i < face->count; i++)
        vec_copy(hull->vertices[face->corners[i]], out[i]);
    return face->count;
}

static void hull_normal_points(Touch *touch, const Triangle *t)
{
    const Hull *hull = touch->hull;
    int facing = 0;
    for (int i = 1; i < hull->face_count; i++)
        if (vec_dot(hull->faces[i].normal, t->normal) < vec_dot(hull->faces[facing].normal, t->normal))
            facing = i;
    Polygon feature;
    int count = hull_face_polygon(hull, &hull->faces[facing], feature);
    touch_face(touch, t, feature, count);
}

static void hull_face_points(Touch *touch, const Triangle *t, const AxisChoice *choice)
{
    assert_debug(choice->feature >= 0 && choice->feature < touch->hull->face_count);
    const Hull *hull = touch->hull;
    const HullFace *face = &hull->faces[choice->feature];
    Polygon first, second;
    double(*from)[3] = first, (*to)[3] = second;
    int count = 3;
    for (int c = 0; c < 3; c++)
        vec_copy(t->v[c], first[c]);
    for (int i = 0; i < face->count && count > 0 && count < POLYGON_MAX - 1; i++) {
        double edge[3], out[3];
        const double *corner = hull->vertices[face->corners[i]];
        vec_sub(hull->vertices[face->corners[(i + 1) % face->count]], corner, edge);
        vec_cross(edge, face->normal, out);
        count = polygon_clip((const double(*)[3])from, count, out, vec_dot(out, corner), to);
        double(*swap)[3] = from;
        from = to;
        to = swap;
    }
    for (int c = 0; c < count; c++) {
        double depth = face->offset - vec_dot(face->normal, from[c]), p[3];
        for (int k = 0; k < 3; k++)
            p[k] = from[c][k] - 0.5 * depth * choice->axis[k];
        touch_add(touch, p, choice->axis, depth, (uint32_t)t->index << 4 | (uint32_t)c);
    }
}

void triangle_hull(Touch *touch, const Triangle *triangle)
{
    assert_debug(touch->hull && touch->hull->edge_count > 0);
    const Hull *hull = touch->hull;
    double low, high;
    hull_range(hull, triangle->normal, &low, &high);
    // Heights are told from the solid's middle along the normal, which is not its origin.
    Triangle centred = *triangle, t;
    double middle = 0.5 * (low + high), reach = 0.5 * (high - low);
    bool can_face;
    centred.height += middle;
    if (!touch_side(touch, &centred, reach, touch->has_back, &t, &can_face))
        return;
    double normal_separation = can_face ? t.height - reach : -INFINITY;
    t.height -= t.is_back ? -middle : middle;
    AxisChoice face = { .separation = -INFINITY }, edge = { .separation = -INFINITY };
    hull_faces(touch, &t, &face);
    if (face.separation > touch->margin)
        return;
    hull_edges(touch, &t, &edge);
    if (edge.separation > touch->margin)
        return;
    switch (touch_choose(touch, &t, normal_separation, &face, &edge, 1e-3 * reach)) {
    case AXIS_NORMAL: hull_normal_points(touch, &t); break;
    case AXIS_FACE: hull_face_points(touch, &t, &face); break;
    case AXIS_EDGE: {
        const HullEdge *solid = &hull->edges[edge.feature % hull->edge_count];
        crossing_point(touch, &t, edge.feature / hull->edge_count, solid->from, solid->direction, solid->length, &edge);
        break;
    }
    case AXIS_NONE: break;
    }
}
