// Along a ridge of the separation of two shapes (collide_cylinder.c) the way is smooth between corners; this climbs it.
#include "physics/collide/collide_internal.h"
#include "physics/collide/tuning.h"

#include <math.h>

// One arc between two corners, where all signs stay: s(n) = n.g - radius * sqrt(1 - (n.axis)^2) but for a constant.
typedef struct Arc {
    const CollideRidge *ridge;
    double g[2], turn;  // turn: 1 or -1, the sense of travel
} Arc;

static double arc_slope(const Arc *arc, const double n[2], double *curvature)
{
    const CollideRidge *r = arc->ridge;
    double m[2] = { -arc->turn * n[1], arc->turn * n[0] };
    double x = n[0] * r->axis[0] + n[1] * r->axis[1], dx = m[0] * r->axis[0] + m[1] * r->axis[1];
    double rho = sqrt(double_max(1e-12, 1.0 - x * x));
    *curvature = -(n[0] * arc->g[0] + n[1] * arc->g[1])
                 + r->radius * ((dx * dx - x * x) / rho + x * x * dx * dx / (rho * rho * rho));
    return m[0] * arc->g[0] + m[1] * arc->g[1] + r->radius * x * dx / rho;
}

static void between(const double a[2], const double b[2], double out[2])
{
    double x = a[0] + b[0], y = a[1] + b[1], k = 1.0 / sqrt(double_max(1e-30, x * x + y * y));
    out[0] = k * x, out[1] = k * y;
}

// The next corner from n in the sense of travel, at most a right angle away.
static void arc_end(const CollideRidge *r, const double n[2], double turn, double end[2])
{
    double m[2] = { -turn * n[1], turn * n[0] }, length = sqrt(r->axis[0] * r->axis[0] + r->axis[1] * r->axis[1]),
           best = 0.0;
    double corners[4][2] = { { 1.0, 0.0 }, { 0.0, 1.0 }, { 0.0, 0.0 }, { 0.0, 0.0 } };
    if (length > 0.01)
        corners[2][0] = -r->axis[1] / length, corners[2][1] = r->axis[0] / length;
    if (length > 0.999)
        corners[3][0] = r->axis[0] / length, corners[3][1] = r->axis[1] / length;
    end[0] = m[0], end[1] = m[1];
    for (int k = r->size[0] > 0.0 || r->size[1] > 0.0 ? 0 : 2; k < 4; k++)
        for (int sign = -1; sign <= 1; sign += 2) {
            double c[2] = { sign * corners[k][0], sign * corners[k][1] }, ahead = n[0] * c[0] + n[1] * c[1];
            if (m[0] * c[0] + m[1] * c[1] > 1e-9 && ahead > best)
                best = ahead, end[0] = c[0], end[1] = c[1];
        }
}

static void arc_maximum(const Arc *arc, const double from[2], const double to[2], double n[2])
{
    double low[2] = { from[0], from[1] }, high[2] = { to[0], to[1] }, curvature;
    between(low, high, n);
    for (int i = 0; i < COLLIDE_SEARCH_STEPS; i++) {
        double slope = arc_slope(arc, n, &curvature), *end = slope > 0.0 ? low : high,
               step = curvature < 0.0 ? -slope / curvature : 1e3;
        end[0] = n[0], end[1] = n[1];
        double next[2] = { n[0] - step * arc->turn * n[1], n[1] + step * arc->turn * n[0] };
        double k = 1.0 / sqrt(next[0] * next[0] + next[1] * next[1]);
        next[0] *= k, next[1] *= k;
        if (fabs(step) < COLLIDE_SEARCH_END) {
            n[0] = next[0], n[1] = next[1];
            return;
        }
        bool inside = arc->turn * (low[0] * next[1] - low[1] * next[0]) > 0.0
                      && arc->turn * (next[0] * high[1] - next[1] * high[0]) > 0.0;
        if (inside && fabs(step) < 1.0)
            n[0] = next[0], n[1] = next[1];
        else
            between(low, high, n);
    }
}

bool collide_refine_edge_axis(const CollideRidge *r, double n[2])
{
    for (int turn = -1; turn <= 1; turn += 2) {
        double end[2], middle[2], curvature;
        arc_end(r, n, turn, end);
        between(n, end, middle);
        double x = middle[0] * r->axis[0] + middle[1] * r->axis[1];
        Arc arc = { .ridge = r, .turn = turn };
        for (int i = 0; i < 2; i++)
            arc.g[i] = r->centre[i] - copysign(r->size[i], middle[i]) - copysign(r->half, x) * r->axis[i];
        if (!(arc_slope(&arc, n, &curvature) > 1e-9))
            continue;
        if (arc_slope(&arc, end, &curvature) >= 0.0) {
            n[0] = end[0], n[1] = end[1];
            return true;
        }
        arc_maximum(&arc, n, end, n);
        return false;
    }
    return false;
}
