// Many points of a shape and a surface become few: sorted by direction, and in each direction the deepest point, the
// one farthest from it and the farthest to both sides of the line between them.
#include "physics/collide/collide_triangle.h"

#include "physics/collide/collide_internal.h"
#include "physics/collide/tuning.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { GROUPS = 4, GROUP_POINTS = 4 };

typedef struct Group {
    int picks[GROUP_POINTS];
    int count;
} Group;

// Of the points of a group that are about as deep as its deepest, the one farthest from their middle: a corner stays
// the first whatever rounding makes of depths that are equal.
static int outermost(const CollidePoint *points, int count, const int8_t *group_of, int8_t self, int leader,
                     double gap2)
{
    double middle[3] = { 0.0 }, best = -1.0, depth = points[leader].depth, slack = ABOUT_AS_DEEP * sqrt(gap2);
    int first = leader, members = 0;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 3 && group_of[i] == self; k++) {
            middle[k] += points[i].position[k];
            members += k == 0;
        }
    for (int i = 0; i < count; i++) {
        if (group_of[i] != self || points[i].depth < depth - slack)
            continue;
        double away = 0.0;
        for (int k = 0; k < 3; k++)
            away += (points[i].position[k] - middle[k] / members) * (points[i].position[k] - middle[k] / members);
        if (away > best)
            best = away, first = i;
    }
    return first;
}

static int deepest_free(const CollidePoint *points, int count, const int8_t *group_of)
{
    int best = -1;
    for (int i = 0; i < count; i++)
        if (group_of[i] < 0 && (best < 0 || points[i].depth > points[best].depth))
            best = i;
    return best;
}

// Points at one place are one point.
static double min_gap2(const CollidePoint *points, int count)
{
    double extent2 = 0.0;
    for (int i = 1; i < count; i++) {
        double d[3];
        vec_sub(points[i].position, points[0].position, d);
        extent2 = larger(extent2, vec_dot(d, d));
    }
    return larger(1e-6 * extent2, 1e-18);
}

// Beside the deepest point of a group the farthest from it, and the farthest to both sides of the line between them.
static void pick_spread(const CollidePoint *points, int count, const int8_t *group_of, int8_t self, double gap2,
                        Group *group)
{
    const CollidePoint *first = &points[group->picks[0]];
    double best = gap2, line[3] = { 0.0 }, across[3], left = 0.0, right = 0.0;
    int far = -1, sides[2] = { -1, -1 };
    for (int i = 0; i < count; i++) {
        double d[3];
        vec_sub(points[i].position, first->position, d);
        if (group_of[i] == self && vec_dot(d, d) > best) {
            best = vec_dot(d, d);
            far = i;
            vec_copy(d, line);
        }
    }
    if (far < 0)
        return;
    group->picks[group->count++] = far;
    vec_cross(first->normal, line, across);
    double min = sqrt(gap2 * vec_dot(across, across));
    for (int i = 0; i < count; i++) {
        if (group_of[i] != self)
            continue;
        double d[3];
        vec_sub(points[i].position, first->position, d);
        double side = vec_dot(d, across);
        if (side > left + min)
            left = side, sides[0] = i;
        if (side < right - min)
            right = side, sides[1] = i;
    }
    for (int s = 0; s < 2; s++)
        if (sides[s] >= 0)
            group->picks[group->count++] = sides[s];
}

// Points of about one direction are a group, led by its deepest. Each group gives the outermost of its points in turn,
// so that each direction has one before any has two.
int touch_reduce(CollidePoint *points, int count, int max)
{
    assert(count >= 0 && max > 0);
    if (count <= 1)
        return int_min(count, max);
    int8_t group_of[TOUCH_MAX];
    Group groups[GROUPS];
    int group_count = 0;
    double gap2 = min_gap2(points, count);
    memset(group_of, -1, sizeof group_of);
    while (group_count < GROUPS) {
        int leader = deepest_free(points, count, group_of);
        if (leader < 0)
            break;
        int8_t self = (int8_t)group_count;
        for (int i = 0; i < count; i++)
            if (group_of[i] < 0 && vec_dot(points[i].normal, points[leader].normal) > SAME_DIRECTION)
                group_of[i] = self;
        group_of[leader] = self;
        Group *group = &groups[group_count++];
        *group = (Group){ { outermost(points, count, group_of, self, leader, gap2) }, 1 };
        pick_spread(points, count, group_of, self, gap2, group);
    }
    CollidePoint kept[GROUPS * GROUP_POINTS];
    int n = 0;
    for (int k = 0; k < GROUP_POINTS; k++)
        for (int g = 0; g < group_count && n < max; g++)
            if (k < groups[g].count)
                kept[n++] = points[groups[g].picks[k]];
    memcpy(points, kept, (size_t)n * sizeof *kept);
    return n;
}
