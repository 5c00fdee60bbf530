// Box against box: the separating axis of least overlap among the fifteen, then the incident face clipped to the
// reference face, or the closest points of two edges. Compiled twice, for the plain and the wide instruction set; both
// do the same operations in the same order, so both give the same bits.
#include "base/cpu.h"
#include "physics/collide/collide_clip.h"

#include <assert.h>
#include <math.h>

#ifndef BOX_VARIANT
#define BOX_VARIANT collide_box_box_portable

int collide_box_box(const CollideShape *a, const CollidePose *pa, const CollideShape *b, const CollidePose *pb,
                    double margin, CollidePoint *points)
{
    return cpu_has_avx2() ? collide_box_box_avx2(a, pa, b, pb, margin, points)
                          : collide_box_box_portable(a, pa, b, pb, margin, points);
}
#endif

typedef struct BoxPair {
    const double *size_a, *size_b;
    double c[9];  // B's axes in A's frame, as columns
    double absolute[9];
    double t[3];  // centre of B in A's frame
} BoxPair;

static void pair_init(BoxPair *p, const CollideShape *a, const CollidePose *pa, const CollideShape *b,
                      const CollidePose *pb)
{
    const double *ra = pa->rotation, *rb = pb->rotation;
    double d[3];
    vec_sub(pb->position, pa->position, d);
    p->size_a = a->size;
    p->size_b = b->size;
    for (int i = 0; i < 3; i++) {
        p->t[i] = ra[i] * d[0] + ra[3 + i] * d[1] + ra[6 + i] * d[2];
        for (int j = 0; j < 3; j++) {
            p->c[3 * i + j] = ra[i] * rb[j] + ra[3 + i] * rb[3 + j] + ra[6 + i] * rb[6 + j];
            p->absolute[3 * i + j] = fabs(p->c[3 * i + j]);
        }
    }
}

// Largest separation over the six face axes; `axis` 0-2 are A's, 3-5 B's. Above `margin` as soon as one separates.
static double face_axes(const BoxPair *p, double margin, int *axis)
{
    const double *a = p->size_a, *b = p->size_b, *m = p->absolute;
    double best = -INFINITY;
    for (int i = 0; i < 3; i++) {
        double s = fabs(p->t[i]) - (a[i] + b[0] * m[3 * i] + b[1] * m[3 * i + 1] + b[2] * m[3 * i + 2]);
        if (s > margin)
            return s;
        if (s > best)
            best = s, *axis = i;
    }
    for (int j = 0; j < 3; j++) {
        double along = p->t[0] * p->c[j] + p->t[1] * p->c[3 + j] + p->t[2] * p->c[6 + j];
        double s = fabs(along) - (b[j] + a[0] * m[j] + a[1] * m[3 + j] + a[2] * m[6 + j]);
        if (s > margin)
            return s;
        if (s > best + 1e-6)
            best = s, *axis = 3 + j;
    }
    return best;
}

static double edge_axes(const BoxPair *p, double margin, int *axis)
{
    const double *a = p->size_a, *b = p->size_b, *m = p->absolute, *c = p->c, *t = p->t;
    double best = -INFINITY;
    for (int i = 0; i < 3; i++) {
        int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
        for (int j = 0; j < 3; j++) {
            int j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            double length2 = 1.0 - c[3 * i + j] * c[3 * i + j];
            if (length2 < 1e-4)
                continue;  // nearly parallel edges: the face axes say it better
            double reach = a[i1] * m[3 * i2 + j] + a[i2] * m[3 * i1 + j] + b[j1] * m[3 * i + j2]
                           + b[j2] * m[3 * i + j1];
            double s = fabs(t[i2] * c[3 * i1 + j] - t[i1] * c[3 * i2 + j]) - reach;
            if (s > margin)
                return s;
            s /= sqrt(length2);
            if (s > best)
                best = s, *axis = 3 * i + j;
        }
    }
    return best;
}

static int face_contact(const CollideShape *reference, const CollidePose *pr, const CollideShape *incident,
                        const CollidePose *pi, int axis, bool flip, double margin, CollidePoint *points)
{
    assert(axis >= 0 && axis < 3);
    const double *r = pr->rotation, *s = pi->rotation;
    double d[3], n[3] = { r[axis], r[3 + axis], r[6 + axis] };
    vec_sub(pi->position, pr->position, d);
    double sign = vec_dot(n, d) < 0.0 ? -1.0 : 1.0;
    for (int i = 0; i < 3; i++)
        n[i] *= sign;
    int face = 0;
    double along[3];
    for (int k = 0; k < 3; k++) {
        along[k] = s[k] * n[0] + s[3 + k] * n[1] + s[6 + k] * n[2];
        if (fabs(along[k]) > fabs(along[face]))
            face = k;
    }
    int u = (axis + 1) % 3, v = (axis + 2) % 3, e = (face + 1) % 3, f = (face + 2) % 3;
    double towards = along[face] > 0.0 ? -incident->size[face] : incident->size[face], centre[3];
    for (int i = 0; i < 3; i++)
        centre[i] = d[i] + towards * s[3 * i + face];
    double axis_u[3] = { r[u], r[3 + u], r[6 + u] }, axis_v[3] = { r[v], r[3 + v], r[6 + v] };
    double edge_e[3] = { s[e], s[3 + e], s[6 + e] }, edge_f[3] = { s[f], s[3 + f], s[6 + f] };
    double cu = vec_dot(centre, axis_u), cv = vec_dot(centre, axis_v), cw = vec_dot(centre, n) - reference->size[axis];
    double eu = vec_dot(edge_e, axis_u) * incident->size[e], ev = vec_dot(edge_e, axis_v) * incident->size[e],
           ew = along[e] * incident->size[e];
    double fu = vec_dot(edge_f, axis_u) * incident->size[f], fv = vec_dot(edge_f, axis_v) * incident->size[f],
           fw = along[f] * incident->size[f];
    ClipPoint first[CLIP_POINTS] = { { cu + eu + fu, cv + ev + fv, cw + ew + fw, 0 },
                                     { cu - eu + fu, cv - ev + fv, cw - ew + fw, 1 },
                                     { cu - eu - fu, cv - ev - fv, cw - ew - fw, 2 },
                                     { cu + eu - fu, cv + ev - fv, cw + ew - fw, 3 } };
    ClipPoint second[CLIP_POINTS];
    double hu = reference->size[u], hv = reference->size[v];
    // A face that lies within the strip between two sides need not be clipped to them.
    int count = 4, kept = 0;
    if (fabs(cu) + fabs(eu) + fabs(fu) > hu) {
        count = collide_clip_side(first, count, second, 0, 1.0, hu, 0);
        count = collide_clip_side(second, count, first, 0, -1.0, hu, 1);
    }
    if (fabs(cv) + fabs(ev) + fabs(fv) > hv) {
        count = collide_clip_side(first, count, second, 1, 1.0, hv, 2);
        count = collide_clip_side(second, count, first, 1, -1.0, hv, 3);
    }
    for (int i = 0; i < count; i++)
        if (first[i].height < margin)
            first[kept++] = first[i];
    kept = collide_clip_reduce(first, kept);
    uint32_t base = (uint32_t)(axis + (flip ? 3 : 0)) << 12 | (uint32_t)face << 10 | (sign > 0.0 ? 1u << 9 : 0u)
                    | (towards > 0.0 ? 1u << 8 : 0u);
    for (int i = 0; i < kept; i++) {
        CollidePoint *out = &points[i];
        double height = reference->size[axis] + 0.5 * first[i].height;  // midway between the two surfaces
        for (int k = 0; k < 3; k++) {
            out->position[k] = pr->position[k] + first[i].u * axis_u[k] + first[i].v * axis_v[k] + height * n[k];
            out->normal[k] = flip ? n[k] : -n[k];
        }
        out->depth = -first[i].height;
        out->feature = base | first[i].feature;
    }
    return kept;
}

static int edge_contact(const BoxPair *p, const CollidePose *pa, const CollidePose *pb, int axis, double depth,
                        CollidePoint *point)
{
    assert(axis >= 0 && axis < 9);
    const double *ra = pa->rotation, *rb = pb->rotation;
    int i = axis / 3, j = axis % 3;
    double da[3] = { ra[i], ra[3 + i], ra[6 + i] }, db[3] = { rb[j], rb[3 + j], rb[6 + j] }, n[3], d[3];
    vec_cross(da, db, n);
    double k = 1.0 / sqrt(vec_dot(n, n));
    vec_sub(pb->position, pa->position, d);
    if (vec_dot(n, d) < 0.0)
        k = -k;
    for (int c = 0; c < 3; c++)
        n[c] *= k;  // from A to B
    double on_a[3], on_b[3];
    vec_copy(pa->position, on_a);
    vec_copy(pb->position, on_b);
    uint32_t feature = 1u << 15 | (uint32_t)axis << 4;
    for (int c = 0; c < 3; c++) {
        double xa = ra[c] * n[0] + ra[3 + c] * n[1] + ra[6 + c] * n[2],
               xb = rb[c] * n[0] + rb[3 + c] * n[1] + rb[6 + c] * n[2];
        double sa = c == i     ? 0.0
                    : xa > 0.0 ? p->size_a[c]
                               : -p->size_a[c],
               sb = c == j     ? 0.0
                    : xb > 0.0 ? -p->size_b[c]
                               : p->size_b[c];
        feature |= (uint32_t)(sa > 0.0) << (c == (i + 1) % 3 ? 0 : 1)
                   | (uint32_t)(sb > 0.0) << (c == (j + 1) % 3 ? 2 : 3);
        for (int q = 0; q < 3; q++) {
            on_a[q] += sa * ra[3 * q + c];
            on_b[q] += sb * rb[3 * q + c];
        }
    }
    double w[3];
    vec_sub(on_b, on_a, w);
    double b = vec_dot(da, db), x = vec_dot(da, w), y = vec_dot(db, w), q = 1.0 / (1.0 - b * b);
    double s = (x - b * y) * q, t = (b * x - y) * q;
    for (int c = 0; c < 3; c++) {
        point->position[c] = 0.5 * (on_a[c] + s * da[c] + on_b[c] + t * db[c]);
        point->normal[c] = -n[c];
    }
    point->depth = depth;
    point->feature = feature;
    return 1;
}

int BOX_VARIANT(const CollideShape *a, const CollidePose *pa, const CollideShape *b, const CollidePose *pb,
                double margin, CollidePoint *points)
{
    BoxPair pair;
    int face = 0, edge = -1;
    pair_init(&pair, a, pa, b, pb);
    double face_separation = face_axes(&pair, margin, &face);
    if (face_separation > margin)
        return 0;
    double edge_separation = edge_axes(&pair, margin, &edge);
    if (edge_separation > margin)
        return 0;
    // A face gives up to four points and stays the same longer: an edge must be clearly better.
    if (edge >= 0 && edge_separation > 0.9 * face_separation + 1e-3 * double_min(a->size[0], b->size[0]))
        return edge_contact(&pair, pa, pb, edge, -edge_separation, points);
    return face < 3 ? face_contact(a, pa, b, pb, face, false, margin, points)
                    : face_contact(b, pb, a, pa, face - 3, true, margin, points);
}
