// What all kernels of one triangle share: which axis counts, what lies over a triangle.
#include "physics/collide/collide_triangle.h"

#include "physics/collide/collide_internal.h"
#include "physics/collide/tuning.h"

#include <math.h>
#include <string.h>

void touch_add(Touch *touch, const double position[3], const double normal[3], double depth, uint32_t feature)
{
    if (depth < -touch->margin)
        return;
    if (touch->count == TOUCH_MAX)
        touch->count = touch_reduce(touch->points, touch->count, TOUCH_ROOM);
    assert_debug(touch->count < TOUCH_MAX);
    CollidePoint *point = &touch->points[touch->count++];
    vec_copy(position, point->position);
    vec_copy(normal, point->normal);
    point->depth = depth;
    point->feature = feature;
}

int polygon_clip(const Polygon in, int count, const double normal[3], double offset, Polygon out)
{
    int kept = 0;
    for (int i = 0; i < count; i++) {
        const double *p = in[i], *q = in[i + 1 < count ? i + 1 : 0];
        double dp = vec_dot(normal, p) - offset, dq = vec_dot(normal, q) - offset;
        if (dp <= 0.0)
            vec_copy(p, out[kept++]);
        // A line has no way back from its second corner to its first.
        if ((dp <= 0.0) == (dq <= 0.0) || (count == 2 && i == 1) || count == 1)
            continue;
        double f = dp / (dp - dq);
        for (int k = 0; k < 3; k++)
            out[kept][k] = p[k] + f * (q[k] - p[k]);
        kept++;
    }
    assert_debug(kept <= POLYGON_MAX);
    return kept;
}

void touch_face(Touch *touch, const Triangle *t, Polygon feature, int count)
{
    assert_debug(count >= 1 && count <= POLYGON_MAX);
    Polygon other;
    double(*from)[3] = feature, (*to)[3] = other;
    const double *along = touch->is_solid ? touch->up : t->normal;
    for (int k = 0; k < 3 && count > 0; k++) {
        double edge[3], out[3];
        vec_sub(t->v[(k + 1) % 3], t->v[k], edge);
        vec_cross(edge, along, out);
        // What lies on the line between two triangles belongs to both.
        double slack = 1e-9 * sqrt(vec_dot(edge, edge) * vec_dot(out, out));
        count = polygon_clip((const double(*)[3])from, count, out, vec_dot(out, t->v[k]) + slack, to);
        double(*swap)[3] = from;
        from = to;
        to = swap;
    }
    for (int i = 0; i < count; i++) {
        double depth = -(vec_dot(t->normal, from[i]) + t->height), p[3];
        for (int k = 0; k < 3; k++)
            p[k] = from[i][k] + (1.0 - touch->lift) * depth * t->normal[k];
        touch_add(touch, p, t->normal, depth, (uint32_t)t->index << 4 | (uint32_t)i);
    }
}

bool touch_side(const Touch *touch, const Triangle *t, double reach, bool has_back, Triangle *out, bool *can_face)
{
    if (t->height - reach > touch->margin)
        return false;
    *out = *t;
    *can_face = true;
    if (touch->is_solid)
        return true;
    if (t->height + reach < -touch->margin)
        return false;
    if (t->height > -(has_back ? BEHIND_TWO_SIDED : BEHIND) * reach)
        return true;
    *can_face = has_back;
    if (!has_back)
        return true;
    vec_copy(t->v[2], out->v[1]);
    vec_copy(t->v[1], out->v[2]);
    for (int k = 0; k < 3; k++)
        out->normal[k] = -t->normal[k];
    out->height = -t->height;
    out->is_back = true;
    return true;
}

// What the surface says to an axis: it has an edge or corner there that the axis fits, it goes on beyond, or (of a
// corner at the foot of another triangle's edge) a single triangle cannot tell.
typedef enum Verdict { FITS, GOES_ON, UNSURE } Verdict;

static Verdict ask_edge(const Touch *touch, const Triangle *t, int edge, const double axis[3])
{
    assert_debug(edge >= 0 && edge < 3);
    double tip[3], along[3], out[3], mate[3];
    bool is_ours;
    MeshEdge kind = touch_edge(touch, t, edge, tip, &is_ours);
    if (kind == MESH_EDGE_FLAT || kind == MESH_EDGE_CONCAVE || (kind == MESH_EDGE_BORDER && touch->is_solid))
        return GOES_ON;
    const double *from = t->v[edge], *to = t->v[(edge + 1) % 3];
    vec_sub(to, from, along);
    vec_cross(along, t->normal, out);
    if (vec_dot(axis, out) < -CONE_SLACK * sqrt(vec_dot(out, out)))
        return GOES_ON;
    if (kind == MESH_EDGE_BORDER)
        return FITS;
    vec_sub(from, tip, mate);
    double share = vec_dot(mate, along) / vec_dot(along, along);
    for (int k = 0; k < 3; k++)
        mate[k] -= share * along[k];
    return vec_dot(axis, mate) >= -CONE_SLACK * sqrt(vec_dot(mate, mate)) ? FITS : GOES_ON;
}

// The part of the triangle that lies farthest along the axis must be one that the surface shows there.
static Verdict ask(const Touch *touch, const Triangle *t, const double axis[3])
{
    double along[3], low = INFINITY, high = -INFINITY;
    for (int k = 0; k < 3; k++) {
        along[k] = vec_dot(axis, t->v[k]);
        low = smaller(low, along[k]);
        high = larger(high, along[k]);
    }
    double limit = high - TWO_TOP * (high - low);
    bool is_top[3] = { along[0] >= limit, along[1] >= limit, along[2] >= limit };
    if (is_top[0] && is_top[1] && is_top[2])
        return vec_dot(axis, t->normal) > 0.0 ? FITS : GOES_ON;
    for (int k = 0; k < 3; k++)
        if (is_top[k] && is_top[(k + 1) % 3])
            return ask_edge(touch, t, k, axis);
    for (int k = 0; k < 3; k++)
        if (is_top[k]) {
            if (ask_edge(touch, t, k, axis) == FITS || ask_edge(touch, t, (k + 2) % 3, axis) == FITS)
                return FITS;
            return touch_corner_is_sharp(touch, t, k) ? UNSURE : GOES_ON;
        }
    return GOES_ON;
}

AxisKind touch_choose(const Touch *touch, const Triangle *t, double normal_separation, const AxisChoice *face,
                      const AxisChoice *edge, double slop)
{
    const AxisChoice *choices[2] = { face, edge };
    AxisKind kinds[2] = { AXIS_FACE, AXIS_EDGE };
    if (edge->separation > FACE_BIAS * face->separation + slop) {
        choices[0] = edge, choices[1] = face;
        kinds[0] = AXIS_EDGE, kinds[1] = AXIS_FACE;
    }
    double beside = -INFINITY;
    for (int i = 0; i < 2; i++) {
        if (!(choices[i]->separation > FACE_BIAS * normal_separation + slop))
            continue;
        Verdict verdict = ask(touch, t, choices[i]->axis);
        if (verdict == FITS)
            return kinds[i];
        if (verdict == UNSURE)
            beside = larger(beside, choices[i]->separation);
    }
    if (normal_separation == -INFINITY)
        return AXIS_NONE;
    // The shape is beside the triangle rather than over it: whoever is next to it there has the contact.
    if (beside > -INFINITY && normal_separation < SKIP_RATIO * (smaller(beside, 0.0) - slop))
        return AXIS_NONE;
    return AXIS_NORMAL;
}
