// block.c - eight neighbours of a flat picture that see one plain surface, a mesh or form without images: what light
// meets there, for all of them together. Most blocks of most pictures are such; see.c cares for the others. Compiled
// twice, see block_avx2.c; both give the same bits.
#include "rays/raster.h"
#include "rays/wide_form.h"

#ifndef BLOCK_VARIANT
#define BLOCK_VARIANT block_surfaces_portable
#endif

static void put(float to[LANES], double value) { f8_store(to, f8((float)value)); }

static void put3(float to[3][LANES], Vec3 value) { v8_store(to, v8(value.x, value.y, value.z)); }

// As set_plain_surface has it, and all of it.
static void put_look(Lit *lit, const Look *look)
{
    put3(lit->base, look->linear);
    put3(lit->emissive, vec3_scale(look->emissive, look->emissive_intensity));
    put3(lit->specular, look->specular);
    put3(lit->ambient, look->ambient);
    put(lit->exponent, look->exponent);
    put(lit->roughness, look->roughness);
    put(lit->metalness, look->metalness);
    put(lit->occlusion, 1.0);
    put(lit->background_share, look->background_share);
}

// Eight numbers from eight places each become the first, second, ... of all places.
static void transpose(const float *const from[LANES], F8 to[LANES])
{
    F8 a[LANES], b[LANES];
    for (int i = 0; i < LANES; i += 2) {
        F8 x = f8_load(from[i]), y = f8_load(from[i + 1]);
        a[i] = __builtin_shufflevector(x, y, 0, 8, 1, 9, 4, 12, 5, 13);
        a[i + 1] = __builtin_shufflevector(x, y, 2, 10, 3, 11, 6, 14, 7, 15);
    }
    for (int i = 0; i < LANES; i += 4)
        for (int k = 0; k < 2; k++) {
            b[i + 2 * k] = __builtin_shufflevector(a[i + k], a[i + k + 2], 0, 1, 8, 9, 4, 5, 12, 13);
            b[i + 2 * k + 1] = __builtin_shufflevector(a[i + k], a[i + k + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        }
    for (int i = 0; i < 4; i++) {
        to[i] = __builtin_shufflevector(b[i], b[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        to[i + 4] = __builtin_shufflevector(b[i], b[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
}

// Normals go by the transposed inverse.
static V8 turned(const float *inverse, V8 n)
{
    return (V8){ inverse[0] * n.x + inverse[3] * n.y + inverse[6] * n.z,
                 inverse[1] * n.x + inverse[4] * n.y + inverse[7] * n.z,
                 inverse[2] * n.x + inverse[5] * n.y + inverse[8] * n.z };
}

static V8 smooth_normal(const Mesh *mesh, const RasterTriangle *const triangles[LANES], F8 across, F8 above)
{
    assert_debug(mesh->normals);
    const float *edges[LANES], *normals[LANES];
    F8 e[LANES], n[LANES], last_edge, last;
    for (int i = 0; i < LANES; i++) {
        edges[i] = triangles[i]->edge[0];
        normals[i] = mesh->normals + 9 * (size_t)triangles[i]->triangle;
        last_edge[i] = edges[i][8];
        last[i] = normals[i][8];
    }
    transpose(edges, e);
    transpose(normals, n);
    F8 zero = f8(0.0f), a = f8_max(e[0] + e[1] * across + e[2] * above, zero),
       b = f8_max(e[3] + e[4] * across + e[5] * above, zero),
       c = f8_max(e[6] + e[7] * across + last_edge * above, zero), sum = f8_max(a + b + c, f8(1e-37f));
    b /= sum;
    c /= sum;
    a = 1.0f - b - c;
    return (V8){ a * n[0] + b * n[3] + c * n[6], a * n[1] + b * n[4] + c * n[7], a * n[2] + b * n[5] + c * last };
}

static bool is_plain(const Visual *visual)
{
    const Look *look = &visual->look;
    return !look->is_textured && !look->has_parts && !visual->paint && !(look->transparency > 0.0)
           && visual->form.stroke_count == 0;
}

// The rays of a block, and what of forms and triangles they see.
typedef struct View {
    F8 across, above, depth;  // depth: along the axis
    I8 form;                  // index among the forms of the picture, -1: a triangle or nothing
    V8 normal;                // of the form, in its frame
} View;

static void meet_form(const Rays *rays, const RasterForm *form, int index, F8 near, View *view)
{
    assert_debug(form->visual >= 0 && form->visual < rays->visual_count);
    const float *m = form->turn;
    WideRay ray = { .o = v8((double)form->origin[0], (double)form->origin[1], (double)form->origin[2]),
                    .d = { m[0] + m[1] * view->across + m[2] * view->above,
                           m[3] + m[4] * view->across + m[5] * view->above,
                           m[6] + m[7] * view->across + m[8] * view->above },
                    .distance = view->depth,
                    .normal = view->normal,
                    .is_hit = view->form ^ view->form };
    wide_form_hit(&ray, &rays->visuals[form->visual].form, near);
    I8 own = { index, index, index, index, index, index, index, index };
    view->depth = ray.distance;
    view->normal = ray.normal;
    view->form = (own & ray.is_hit) | (view->form & ~ray.is_hit);
}

// False: there is one that must be met ray by ray.
static bool meet_forms(const Rays *rays, int column, int row, View *view)
{
    const Raster *raster = rays->raster;
    const Bins *bins = &raster->form_bins;
    int left = column * BLOCK_WIDTH, top = row * BLOCK_HEIGHT,
        cell = top / RASTER_CELL_HEIGHT * bins->columns + left / RASTER_CELL_WIDTH;
    F8 near = f8((float)raster->flat.near);
    for (int i = bins->starts[cell]; i < bins->starts[cell + 1]; i++) {
        const RasterForm *form = &raster->forms[bins->items[i]];
        if (left + BLOCK_WIDTH <= form->pixels[0] || left > form->pixels[1] || top + BLOCK_HEIGHT <= form->pixels[2]
            || top > form->pixels[3])
            continue;
        if (!form->is_wide)
            return false;
        if (i8_any(view->depth >= form->nearest))
            meet_form(rays, form, bins->items[i], near, view);
    }
    return true;
}

// The one visual that all triangles belong to, -1: there are several.
static int visual_of(const Raster *raster, const int *items, const RasterTriangle *triangles[LANES])
{
    assert_debug(items[0] >= 0 && items[0] < raster->triangle_count);
    int visual = raster->triangles[items[0]].visual;
    for (int i = 0; i < LANES; i++) {
        triangles[i] = &raster->triangles[items[i]];
        if (triangles[i]->visual != visual)
            return -1;
    }
    return visual;
}

static void put_triangle_normals(const Rays *rays, const Visual *visual, const RasterTriangle *const triangles[LANES],
                                 const View *view, Lit *lit)
{
    assert_debug(visual->mesh >= 0 && visual->mesh < rays->mesh_count);
    const MeshTree *tree = &rays->meshes[visual->mesh];
    V8 face, smooth;
    for (int i = 0; i < LANES; i++) {
        const float *n = tree->normals + 3 * (size_t)triangles[i]->triangle;
        face.x[i] = n[0], face.y[i] = n[1], face.z[i] = n[2];
    }
    smooth = tree->mesh->normals ? smooth_normal(tree->mesh, triangles, view->across, view->above) : face;
    v8_store(lit->geometric, turned(visual->inverse_float, face));
    v8_store(lit->normal, turned(visual->inverse_float, smooth));
}

static void put_form_normals(const Visual *visual, const View *view, Lit *lit)
{
    V8 normal = turned(visual->inverse_float, view->normal);
    v8_store(lit->geometric, normal);
    v8_store(lit->normal, normal);
}

static void put_places(const Raster *raster, const View *view, Lit *lit, RaysBlock *seen)
{
    const double *m = raster->outwards.m;
    F8 length = f8_sqrt(1.0f + view->across * view->across + view->above * view->above);
    V8 ahead = { (float)m[0] + (float)m[1] * view->across + (float)m[2] * view->above,
                 (float)m[3] + (float)m[4] * view->across + (float)m[5] * view->above,
                 (float)m[6] + (float)m[7] * view->across + (float)m[8] * view->above };
    Vec3 eye = raster->flat.pose.t;
    f8_store(seen->distance, view->depth * length);
    v8_store(lit->point, v8_mad(v8(eye.x, eye.y, eye.z), ahead, view->depth));
    v8_store(lit->eye, v8_scale(ahead, -1.0f / length));
}

static void put_visual(const Visual *visual, int index, Lit *lit, RaysBlock *seen)
{
    static const int all[LANES] = { -1, -1, -1, -1, -1, -1, -1, -1 }, none[LANES] = { 0 };
    put_look(lit, &visual->look);
    memcpy(lit->is_lit, all, sizeof all);
    memcpy(lit->is_physical, visual->look.is_physical ? all : none, sizeof all);
    memcpy(lit->is_overlay, visual->is_overlay ? all : none, sizeof all);
    for (int i = 0; i < LANES; i++) {
        seen->visual[i] = index;
        seen->is_textured[i] = false;
    }
}

// Eight neighbours of a flat picture mostly see one plain surface: then nothing is looked up pixel by pixel. All
// else is left to the slower way.
int BLOCK_VARIANT(const Rays *rays, int column, int row, Lit *lit, RaysBlock *seen)
{
    const Raster *raster = rays->raster;
    assert_debug(column >= 0 && column < raster->block_columns && row >= 0 && row < raster->block_rows);
    size_t at = LANES * ((size_t)row * (size_t)raster->block_columns + (size_t)column);
    const int *items = raster->items + at;
    const RasterTriangle *triangles[LANES];
    I8 is_empty = i8_load(items) < 0;
    F8 farthest = f8((float)(raster->flat.far * (1.0 + 1e-6)));
    View view = { .across = f8_load(raster->across + LANES * column),
                  .above = f8_load(raster->above + LANES * row),
                  .depth = f8_where(is_empty, farthest, 1.0f / f8_load(raster->nearness + at)),
                  .form = ~(is_empty ^ is_empty) };
    if (raster->form_count > 0 && !meet_forms(rays, column, row, &view))
        return BLOCK_MIXED;
    bool has_form = i8_any(view.form >= 0);
    if (!has_form && i8_any(is_empty))
        return i8_any(~is_empty) ? BLOCK_MIXED : BLOCK_SKY;
    if (has_form && i8_any(view.form != view.form[0]))
        return BLOCK_MIXED;
    int index = has_form ? raster->forms[view.form[0]].visual : visual_of(raster, items, triangles);
    if (index < 0 || !is_plain(&rays->visuals[index]))
        return BLOCK_MIXED;
    if (has_form)
        put_form_normals(&rays->visuals[index], &view, lit);
    else
        put_triangle_normals(rays, &rays->visuals[index], triangles, &view, lit);
    put_places(raster, &view, lit, seen);
    put_visual(&rays->visuals[index], index, lit, seen);
    return BLOCK_PLAIN;
}
