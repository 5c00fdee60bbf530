// strokes.c - IndexedLineSet and PointSet: lines one pixel wide and points of three, whatever their distance, in their
// glow or else their colour, as no light falls on them. They cast no shadow, and rays that stand for no pixel (lidars,
// distances) miss them.
#include "rays/rays_internal.h"

#include "base/memory.h"

#include <stdlib.h>

enum { STROKES_AT_ONCE = 8 };  // in one visual: few enough to be tried one by one

static const FieldList *list_in(const SceneNode *geometry, const char *child, const char *field)
{
    const SceneNode *holder = schema_field(geometry->type, child) ? scene_child(geometry, child) : NULL;
    return holder && holder->type && schema_field(holder->type, field) ? scene_list(holder, field) : NULL;
}

static Vec3 numbers_at(const FieldList *list, int index)
{
    assert(index >= 0 && index < list->count);
    const double *v = list->numbers + 3 * (size_t)index;
    return vec3(v[0], v[1], v[2]);
}

static void add_stroke(Strokes *strokes, Vec3 a, Vec3 b, Vec3 light)
{
    if (!vec3_is_finite(a) || !vec3_is_finite(b))
        return;
    *memory_push(strokes->items, strokes->count, strokes->capacity) = (Stroke){ a, b, light };
}

static void read_lines(const SceneNode *geometry, const FieldList *points, Vec3 light, Strokes *strokes)
{
    const FieldList *indices = scene_list(geometry, "coordIndex");
    for (int i = 0; i + 1 < indices->count; i++) {
        int a = indices->ints[i], b = indices->ints[i + 1];
        if (a >= 0 && b >= 0 && a < points->count && b < points->count)
            add_stroke(strokes, numbers_at(points, a), numbers_at(points, b), light);
    }
}

static void read_points(const SceneNode *geometry, const FieldList *points, Vec3 light, Strokes *strokes)
{
    const FieldList *colors = list_in(geometry, "color", "color");
    for (int i = 0; i < points->count; i++) {
        Vec3 at = numbers_at(points, i);
        add_stroke(strokes, at, at, colors && i < colors->count ? color_linear(numbers_at(colors, i)) : light);
    }
}

bool strokes_read(const SceneNode *geometry, const Look *look, Strokes *strokes)
{
    const FieldList *points = list_in(geometry, "coord", "point");
    *strokes = (Strokes){ 0 };
    if (!points)
        return false;
    Vec3 glow = vec3_scale(look->emissive, look->emissive_intensity);
    Vec3 light = vec3_length2(glow) > 0.0 ? glow : look->linear;
    if (scene_node_is(geometry, "IndexedLineSet"))
        read_lines(geometry, points, light, strokes);
    else if (scene_node_is(geometry, "PointSet"))
        read_points(geometry, points, light, strokes);
    return strokes->count > 0;
}

// The box of a few of them, with room for their width as seen from some way off.
Form strokes_form(const Strokes *strokes, int first, double margin)
{
    assert(first >= 0 && first < strokes->count);
    Form form = { .shape = { .kind = GEOMETRY_DRAWN },
                  .strokes = strokes->items + first,
                  .stroke_count = int_min(strokes->count - first, STROKES_AT_ONCE),
                  .low = { INFINITY, INFINITY, INFINITY },
                  .high = { -INFINITY, -INFINITY, -INFINITY } };
    for (int i = 0; i < 2 * form.stroke_count; i++) {
        Vec3 p = i & 1 ? form.strokes[i / 2].b : form.strokes[i / 2].a;
        form.low = vec3(fmin(form.low.x, p.x - margin), fmin(form.low.y, p.y - margin), fmin(form.low.z, p.z - margin));
        form.high = vec3(fmax(form.high.x, p.x + margin), fmax(form.high.y, p.y + margin),
                         fmax(form.high.z, p.z + margin));
    }
    return form;
}

double strokes_margin(const Strokes *strokes)
{
    assert_debug(strokes->count > 0);
    Vec3 low = strokes->items[0].a, high = low;
    for (int i = 0; i < 2 * strokes->count; i++) {
        Vec3 p = i & 1 ? strokes->items[i / 2].b : strokes->items[i / 2].a;
        low = vec3(fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z));
        high = vec3(fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z));
    }
    return 0.02 * vec3_distance(low, high) + 0.005;
}

// Where ray and line come nearest: along the ray in units of its direction, and how far apart they are then.
static double nearest_along(Vec3 origin, Vec3 direction, const Stroke *stroke, double *apart)
{
    Vec3 along = vec3_sub(stroke->b, stroke->a), from = vec3_sub(stroke->a, origin);
    double dd = vec3_dot(direction, direction), da = vec3_dot(direction, along), aa = vec3_dot(along, along),
           df = vec3_dot(direction, from), af = vec3_dot(along, from), square = dd * aa - da * da;
    double share = square > 1e-12 * dd * aa ? double_clamp((da * df - dd * af) / square, 0.0, 1.0) : 0.0;
    double distance = (df + share * da) / dd;
    *apart = vec3_distance(vec3_mad(origin, direction, distance), vec3_mad(stroke->a, along, share));
    return distance;
}

bool strokes_hit(const Form *form, Vec3 origin, Vec3 direction, double near, double spread, FormHit *hit)
{
    double width = 0.75 * spread * vec3_length(direction);  // from the middle, at distance 1: lines have no gaps
    bool is_hit = false;
    for (int i = 0; i < form->stroke_count; i++) {
        const Stroke *stroke = &form->strokes[i];
        double apart, distance = nearest_along(origin, direction, stroke, &apart);
        double reach = width * distance * (vec3_is_equal(stroke->a, stroke->b) ? 2.0 : 1.0);
        if (!(distance > near) || !(apart < reach) || (is_hit && distance >= hit->distance))
            continue;
        *hit = (FormHit){ .distance = distance, .normal = vec3_neg(direction), .face = i };
        is_hit = true;
    }
    return is_hit;
}
