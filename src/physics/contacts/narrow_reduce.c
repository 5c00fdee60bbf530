// narrow_reduce.c - of a pair with more points than its rule allows, those that hold it best are kept.
#include "physics/contacts/narrow_internal.h"

#include <stdlib.h>
#include <string.h>

static int by_depth(const void *a, const void *b)
{
    const Candidate *x = a, *y = b;
    if (x->point.depth != y->point.depth)
        return x->point.depth > y->point.depth ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);  // ties stay as they came
}

static double distance2(const Candidate *a, const Candidate *b)
{
    double sum = 0.0;
    for (int k = 0; k < 3; k++)
        sum += (a->point.position[k] - b->point.position[k]) * (a->point.position[k] - b->point.position[k]);
    return sum;
}

static double extent2_of(const Candidate *points, int count)
{
    double extent2 = 0.0;
    for (int k = 0; k < 3; k++) {
        double low = points[0].point.position[k], high = low;
        for (int i = 1; i < count; i++) {
            low = fmin(low, points[i].point.position[k]);
            high = fmax(high, points[i].point.position[k]);
        }
        extent2 += (high - low) * (high - low);
    }
    return extent2;
}

static bool joins_region(const Candidate *points, int count, int at, int region, double near2)
{
    for (int k = 0; k < count; k++)
        if (points[k].region == region && distance2(&points[at], &points[k]) <= near2)
            return true;
    return false;
}

// Marks which connected region every point is in: points nearer than a fifth of the whole extent belong together.
static int find_regions(Candidate *points, int count)
{
    double near2 = extent2_of(points, count) / 25.0;
    int regions = 0;
    for (int i = 0; i < count; i++)
        points[i].region = -1;
    for (int seed = 0; seed < count; seed++) {
        if (points[seed].region >= 0)
            continue;
        points[seed].region = regions;
        // Grows the region until nothing is added; the number of points is bounded, so is this.
        for (bool has_grown = true; has_grown;) {
            has_grown = false;
            for (int i = 0; i < count; i++)
                if (points[i].region < 0 && joins_region(points, count, i, regions, near2)) {
                    points[i].region = regions;
                    has_grown = true;
                }
        }
        regions++;
    }
    return regions;
}

int narrow_keep_deepest(Candidate *points, int count, int max, int *regions)
{
    assert(max > 0 && count > max);
    enum { REGIONS_CHECKED = 256 };
    qsort(points, (size_t)count, sizeof(*points), by_depth);
    int checked = int_min(count, REGIONS_CHECKED), kept = 0;
    *regions = find_regions(points, checked);
    if (*regions == 1)
        return max;
    for (int round = 0; kept < max && round < checked; round++)
        for (int region = 0; region < *regions && kept < max; region++)
            for (int i = kept; i < checked; i++) {
                if (points[i].region != region)
                    continue;
                Candidate point = points[i];
                memmove(&points[kept + 1], &points[kept], sizeof(*points) * (size_t)(i - kept));
                points[kept++] = point;
                break;
            }
    return kept;
}
