// narrow_speculative.c - speculative contacts: a shape that is so fast, or so deep, that it would pass through another
// in this step gets a point where it meets it, with a negative depth while it is still away.
#include "physics/contacts/narrow_internal.h"

#include "physics/collide/collide_sweep.h"

// Whether a shape is so deep in another that a little farther is through.
static bool is_deep(const CollideShape *shape, const CollidePoint *points, int count)
{
    double deepest = 0.0;
    for (int i = 0; i < count; i++)
        deepest = double_max(deepest, points[i].depth);
    return deepest > FAST_SHARE * collide_min_half_extent(shape);
}

static bool is_long(const CollideShape *shape, const double way[3])
{
    double thin = FAST_SHARE * collide_min_half_extent(shape);
    return way[0] * way[0] + way[1] * way[1] + way[2] * way[2] > thin * thin;
}

// Where a shape on its way against another, a box or a surface, goes through it.
static bool cross(const CollideShape *shape, const CollidePose *pose, const double way[3], bool deep,
                  const Collider *through, CollideCrossing *crossing)
{
    if (through->surface)
        return collide_cross_surface(through->surface, &through->pose, pose->position, way, shape->type < GEOMETRY_BOX,
                                     crossing);
    return through->is_simple && through->shape.type == GEOMETRY_BOX
           && collide_cross_box(&through->shape, &through->pose, pose->position, way, !deep, crossing);
}

// Through a sheet from behind: unless that is the way on which it is pushed to the front.
static bool is_pushed_out(const CollidePoint *points, int count, const double normal[3], double sign)
{
    for (int i = 0; i < count; i++) {
        const double *n = points[i].normal;
        if (sign * (n[0] * normal[0] + n[1] * normal[1] + n[2] * normal[2]) < -0.5)
            return true;
    }
    return false;
}

int narrow_add_speculative(const Passage *passage, CollidePoint *points, int count)
{
    const Collider *moving = passage->moving, *through = passage->through;
    assert_debug(count >= 0 && passage->max > 0);  // those beyond it are left out later
    if (!moving->is_simple && !(moving->surface && collide_surface_is_mesh(moving->surface)))
        return count;
    CollidePose pose = moving->pose;
    CollideShape shape = moving->is_simple ? moving->shape : collide_surface_box(moving->surface, &moving->pose, &pose);
    double way[3], sign = passage->is_first ? 1.0 : -1.0;
    for (int k = 0; k < 3; k++)
        way[k] = moving->way[k] - through->way[k];
    CollideCrossing crossing;
    bool deep = is_deep(&shape, points, count);
    if (!(deep || is_long(&shape, way)) || !cross(&shape, &pose, way, deep, through, &crossing)
        || (crossing.is_back && is_pushed_out(points, count, crossing.normal, sign)))
        return count;
    count = int_min(count, passage->max - 1);
    points[count] = collide_speculative_point(&shape, &pose, way, &crossing, passage->margin);
    for (int k = 0; k < 3; k++)
        points[count].normal[k] *= sign;
    return count + 1;
}
