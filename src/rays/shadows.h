// shadows.h - the folder's own: what stands in the way of the light of the sun (shadows.c), which shadows_query.c asks.
#ifndef TALUS_RAYS_SHADOWS_H
#define TALUS_RAYS_SHADOWS_H

#include "rays/rays_internal.h"

// Seen along the light: two places across it and the height towards it.
typedef struct ShadowTriangle {
    float edge[3][3];  // of (u, v, 1): not negative inside
    float plane[4];    // of (u, v, height, 1): negative below it
    float reserved[3];
} ShadowTriangle;
static_assert(sizeof(ShadowTriangle) == 64, "one line of the cache");

// A mesh as a visual turns and scales it. Visuals that differ in their places alone share one.
typedef struct ShadowGrid {
    int mesh;
    unsigned version;  // of the mesh
    Mat3 turn;         // from the mesh's frame along the light
    int users;
    bool is_crowded;  // too many triangles in a cell: a search costs less
    ShadowTriangle *triangles;
    BinBox *boxes;
    Bins bins;
    int triangle_count, triangle_capacity, box_capacity;
    float low[3], high[3], scale[2];
} ShadowGrid;

typedef struct ShadowCaster {
    int visual;
    int grid;  // -1: a form
    float shift[3];
    float low[3], high[3];
} ShadowCaster;

// Of one light.
typedef struct ShadowSide {
    bool is_usable;
    Mat3 along;  // from the world's frame
    ShadowCaster *casters;
    BinBox *boxes;
    Bins bins;
    int caster_count, caster_capacity, box_capacity;
    float low[2], high[2], scale[2];
} ShadowSide;

typedef struct Shadows {
    ShadowGrid *grids;
    ShadowSide *sides;  // as many as there are lights
    int grid_count, grid_capacity, side_count, side_capacity;
    Vec3 *corners;  // of the mesh at hand
    int corner_capacity;
    uint64_t placings;  // of the rays, as of the last look
    bool is_usable;
} Shadows;

bool shadow_form_darkens(const Visual *visual, Vec3 origin, Vec3 direction, double far);

#endif
