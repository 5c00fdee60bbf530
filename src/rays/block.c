// block.c - eight neighbours of a flat picture that see one plain surface, a mesh without images: what light meets there, for all of
// them together. Most blocks of most pictures are such; see.c cares for the others. Compiled twice, see block_avx2.c; both give the
// same bits.
#include "rays/raster.h"
#include "rays/wide.h"

#ifndef BLOCK_VARIANT
#define BLOCK_VARIANT block_surfaces_portable
#endif

static void put(float to[LANES], double value) { f8_store(to, f8((float)value)); }

static void put3(float to[3][LANES], Vec3 value) { v8_store(to, v8(value.x, value.y, value.z)); }

// As set_plain_surface has it.
static void put_look(Lit *lit, const Look *look)
{
    put3(lit->base, look->linear);
    put3(lit->emissive, vec3_scale(look->emissive, look->emissive_intensity));
    if (!look->is_physical) {
        put3(lit->specular, look->specular);
        put3(lit->ambient, look->ambient);
        put(lit->exponent, look->exponent);
    }
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

static bool is_plain(const Visual *visual, const RaysStyle *style)
{
    const Look *look = &visual->look;
    return !look->is_textured && !look->has_parts && !visual->paint && !(look->transparency > 0.0)
           && !(style->is_for_people && visual->squares > 0.0);
}

int BLOCK_VARIANT(const Rays *rays, int column, int row, const RaysStyle *style, Lit *lit, RaysBlock *seen)
{
    const Raster *raster = rays->raster;
    size_t at = LANES * ((size_t)row * (size_t)raster->block_columns + (size_t)column);
    const int *items = raster->items + at;
    I8 is_sky = i8_load(items) < 0;
    if (i8_any(is_sky))
        return i8_any(~is_sky) ? -1 : 0;
    const RasterTriangle *triangles[LANES];
    int visual_index = raster->triangles[items[0]].visual;
    for (int i = 0; i < LANES; i++) {
        triangles[i] = &raster->triangles[items[i]];
        if (triangles[i]->visual != visual_index)
            return -1;
    }
    const Visual *visual = &rays->visuals[visual_index];
    if (!is_plain(visual, style))
        return -1;
    const MeshTree *tree = &rays->meshes[visual->mesh];
    F8 across = f8_load(raster->across + LANES * column), above = f8_load(raster->above + LANES * row);
    V8 face;
    for (int i = 0; i < LANES; i++) {
        const float *n = tree->normals + 3 * (size_t)triangles[i]->triangle;
        face.x[i] = n[0], face.y[i] = n[1], face.z[i] = n[2];
        seen->visual[i] = visual_index;
        seen->is_textured[i] = false;
    }
    const double *m = raster->outwards.m;
    F8 depth = 1.0f / f8_load(raster->nearness + at), length = f8_sqrt(1.0f + across * across + above * above),
       back = -1.0f / length;
    V8 ahead = { (float)m[0] + (float)m[1] * across + (float)m[2] * above,
                 (float)m[3] + (float)m[4] * across + (float)m[5] * above,
                 (float)m[6] + (float)m[7] * across + (float)m[8] * above };
    Vec3 eye = raster->flat.pose.t;
    f8_store(seen->distance, depth * length);
    v8_store(lit->point, v8_mad(v8(eye.x, eye.y, eye.z), ahead, depth));
    v8_store(lit->eye, v8_scale(ahead, back));
    face = turned(visual->inverse_float, face);
    v8_store(lit->geometric, face);
    v8_store(lit->normal, tree->mesh->normals
                              ? turned(visual->inverse_float, smooth_normal(tree->mesh, triangles, across, above))
                              : face);
    put_look(lit, &visual->look);
    I8 none = is_sky ^ is_sky, all = ~none;
    i8_store(lit->is_lit, all);
    i8_store(lit->is_physical, visual->look.is_physical ? all : none);
    i8_store(lit->is_overlay, visual->is_overlay ? all : none);
    return 1;
}
