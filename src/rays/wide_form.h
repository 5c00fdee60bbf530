// wide_form.h - where eight rays enter a form at once, in single precision: boxes, planes, balls and cylinders. As
// form.c has them, without places on textures. Private to the files that are compiled twice.
#ifndef TALUS_RAYS_WIDE_FORM_H
#define TALUS_RAYS_WIDE_FORM_H

#include "rays/rays_internal.h"
#include "rays/wide.h"

// Origins and directions in the form's frame; the length of a direction is the unit of distance.
typedef struct WideRay {
    V8 o, d;
    F8 distance;  // of the first entry so far; none beyond it counts
    V8 normal;    // there, of any length
    I8 is_hit;
} WideRay;

static inline void wide_offer(WideRay *ray, I8 is_met, F8 distance, V8 normal, F8 near)
{
    is_met &= (distance > near) & (distance < ray->distance);
    ray->distance = f8_where(is_met, distance, ray->distance);
    ray->normal = v8_where(is_met, normal, ray->normal);
    ray->is_hit |= is_met;
}

static inline void wide_box(WideRay *ray, const Form *form, F8 near)
{
    const float half[3] = { (float)(0.5 * form->shape.size.x), (float)(0.5 * form->shape.size.y),
                            (float)(0.5 * form->shape.size.z) };
    const F8 o[3] = { ray->o.x, ray->o.y, ray->o.z }, d[3] = { ray->d.x, ray->d.y, ray->d.z };
    F8 enter = f8(-INFINITY), leave = f8(INFINITY), zero = f8(0.0f), n[3] = { zero, zero, zero };
    for (int i = 0; i < 3; i++) {
        // Along a side the quotients are infinite, with the signs of a ray that is between or beside the two.
        F8 step = d[i] + 0.0f;  // never -0
        I8 is_upwards = step >= 0.0f;
        F8 outside = f8_where(is_upwards, f8(-half[i]), f8(half[i])), first = (outside - o[i]) / step,
           last = (-outside - o[i]) / step;
        I8 is_later = first > enter;
        enter = f8_where(is_later, first, enter);
        leave = f8_where(last < leave, last, leave);
        for (int k = 0; k < 3; k++)
            n[k] = f8_where(is_later, k == i ? outside : zero, n[k]);
    }
    wide_offer(ray, enter <= leave, enter, (V8){ n[0], n[1], n[2] }, near);
}

static inline void wide_plane(WideRay *ray, const Form *form, F8 near)
{
    F8 distance = -ray->o.z / ray->d.z, x = ray->o.x + ray->d.x * distance, y = ray->o.y + ray->d.y * distance;
    I8 is_met = (ray->d.z < 0.0f) & (f8_abs(x) <= (float)(0.5 * form->shape.size.x))
                & (f8_abs(y) <= (float)(0.5 * form->shape.size.y));
    wide_offer(ray, is_met, distance, v8(0, 0, 1), near);
}

// From the place where the ray is nearest to the middle, for the sake of what single precision has left there.
static inline void wide_ball(WideRay *ray, const Form *form, F8 near)
{
    float square = (float)(form->shape.size.x * form->shape.size.x);
    F8 length2 = v8_dot(ray->d, ray->d), middle = -v8_dot(ray->o, ray->d) / length2;
    V8 p = v8_mad(ray->o, ray->d, middle);
    F8 inside = square - v8_dot(p, p), distance = middle - f8_sqrt(f8_max(inside, f8(0.0f)) / length2);
    I8 is_met = (inside >= 0.0f) & (v8_dot(ray->o, ray->o) >= square);
    wide_offer(ray, is_met, distance, v8_mad(ray->o, ray->d, distance), near);
}

static inline void wide_disc(WideRay *ray, float square, float z, float up, F8 near)
{
    F8 distance = (z - ray->o.z) / ray->d.z, x = ray->o.x + ray->d.x * distance, y = ray->o.y + ray->d.y * distance;
    wide_offer(ray, (up * ray->d.z < 0.0f) & (x * x + y * y <= square), distance, v8(0, 0, (double)up), near);
}

static inline void wide_cylinder(WideRay *ray, const Form *form, F8 near)
{
    float square = (float)(form->shape.size.x * form->shape.size.x), half = (float)(0.5 * form->shape.size.y);
    F8 length2 = ray->d.x * ray->d.x + ray->d.y * ray->d.y,
       middle = -(ray->o.x * ray->d.x + ray->o.y * ray->d.y) / length2;
    F8 x = ray->o.x + ray->d.x * middle, y = ray->o.y + ray->d.y * middle, inside = square - (x * x + y * y),
       distance = middle - f8_sqrt(f8_max(inside, f8(0.0f)) / length2);
    V8 p = v8_mad(ray->o, ray->d, distance);
    I8 is_met = (inside >= 0.0f) & (ray->o.x * ray->o.x + ray->o.y * ray->o.y >= square) & (f8_abs(p.z) <= half);
    p.z = f8(0.0f);
    if (!form->without_side)
        wide_offer(ray, is_met, distance, p, near);
    if (!form->without_top)
        wide_disc(ray, square, half, 1.0f, near);
    if (!form->without_bottom)
        wide_disc(ray, square, -half, -1.0f, near);
}

static inline void wide_form_hit(WideRay *ray, const Form *form, F8 near)
{
    switch (form->shape.kind) {
    case GEOMETRY_BOX: wide_box(ray, form, near); break;
    case GEOMETRY_PLANE: wide_plane(ray, form, near); break;
    case GEOMETRY_SPHERE: wide_ball(ray, form, near); break;
    default: wide_cylinder(ray, form, near); break;
    }
}

#endif
