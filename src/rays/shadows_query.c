// shadows_query.c - whether something stands between eight points and the sun: they are looked up in the grids of
// shadows.c, those of one cell together. Compiled twice, see shadows_query_avx2.c; both give the same bits.
#include "rays/shadows.h"
#include "rays/wide_form.h"

#ifndef DARKEN_VARIANT
#define DARKEN_VARIANT shadows_darken_portable
#endif

static I8 cells_at(const Bins *bins, F8 u, F8 v, const float low[2], const float scale[2])
{
    F8 column = f8_clamp((u - low[0]) * scale[0], 0.0f, (float)bins->columns - 1.0f),
       row = f8_clamp((v - low[1]) * scale[1], 0.0f, (float)bins->rows - 1.0f);
    return __builtin_convertvector(row, I8) * bins->columns + __builtin_convertvector(column, I8);
}

static I8 darkened_by_mesh(const ShadowGrid *grid, F8 u, F8 v, F8 height, I8 left)
{
    I8 cells = cells_at(&grid->bins, u, v, grid->low, grid->scale), dark = left ^ left;
    while (i8_any(left)) {
        int cell = cells[i8_first(left)];
        I8 here = left & (cells == cell);
        left &= ~here;
        for (int i = grid->bins.starts[cell]; i < grid->bins.starts[cell + 1]; i++) {
            const ShadowTriangle *t = &grid->triangles[grid->bins.items[i]];
            I8 inside = (t->edge[0][2] + t->edge[0][0] * u + t->edge[0][1] * v >= 0.0f)
                        & (t->edge[1][2] + t->edge[1][0] * u + t->edge[1][1] * v >= 0.0f)
                        & (t->edge[2][2] + t->edge[2][0] * u + t->edge[2][1] * v >= 0.0f);
            inside &= t->plane[3] + t->plane[0] * u + t->plane[1] * v + t->plane[2] * height < 0.0f;
            dark |= inside & here;
            if (!i8_any(here & ~dark))
                break;
        }
    }
    return dark;
}

static V8 into(const float *m, V8 v)
{
    return (V8){ m[0] * v.x + m[1] * v.y + m[2] * v.z, m[3] * v.x + m[4] * v.y + m[5] * v.z,
                 m[6] * v.x + m[7] * v.y + m[8] * v.z };
}

static I8 darkened_by_form(const Visual *visual, Vec3 towards, V8 from, I8 left)
{
    if (form_is_wide(&visual->form)) {
        Vec3 t = visual->world.t;
        WideRay ray = { .o = into(visual->inverse_float, v8_sub(from, v8(t.x, t.y, t.z))),
                        .d = into(visual->inverse_float, v8(towards.x, towards.y, towards.z)),
                        .distance = f8(INFINITY),
                        .is_hit = left ^ left };
        wide_form_hit(&ray, &visual->form, f8(0.0f));
        return ray.is_hit & left;
    }
    for (int i = 0; i < LANES; i++)
        if (left[i])
            left[i] = shadow_form_darkens(visual, vec3((double)from.x[i], (double)from.y[i], (double)from.z[i]),
                                          towards, INFINITY)
                          ? -1
                          : 0;
    return left;
}

void DARKEN_VARIANT(const Rays *rays, const ShadowSide *side, const float from[3][LANES], const int valid[LANES],
                    int darkened[LANES])
{
    const double *m = side->along.m;
    V8 point = v8_load(from);
    F8 u = v8_dot(point, v8(m[0], m[1], m[2])), v = v8_dot(point, v8(m[3], m[4], m[5])),
       height = v8_dot(point, v8(m[6], m[7], m[8]));
    I8 left = i8_load(valid) & (u >= side->low[0]) & (u <= side->high[0]) & (v >= side->low[1]) & (v <= side->high[1]),
       dark = left ^ left, cells = cells_at(&side->bins, u, v, side->low, side->scale);
    while (i8_any(left)) {
        int cell = cells[i8_first(left)];
        I8 here = left & (cells == cell);
        left &= ~here;
        for (int i = side->bins.starts[cell]; i < side->bins.starts[cell + 1]; i++) {
            const ShadowCaster *caster = &side->casters[side->bins.items[i]];
            I8 below = here & ~dark & (u >= caster->low[0]) & (u <= caster->high[0]) & (v >= caster->low[1])
                       & (v <= caster->high[1]) & (height <= caster->high[2]);
            if (!i8_any(below))
                continue;
            dark |= caster->grid >= 0
                        ? darkened_by_mesh(&rays->shadows->grids[caster->grid], u - caster->shift[0],
                                           v - caster->shift[1], height - caster->shift[2], below)
                        : darkened_by_form(&rays->visuals[caster->visual], vec3(m[6], m[7], m[8]), point, below);
        }
    }
    i8_store(darkened, dark);
}
