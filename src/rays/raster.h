// raster.h - the folder's own: triangles and forms over the pixels of a flat picture (raster.c), which raster_fill.c
// fills.
#ifndef TALUS_RAYS_RASTER_H
#define TALUS_RAYS_RASTER_H

#include "rays/rays_internal.h"

// Pixels lie in blocks of eight, as packets of rays do; a cell of the picture is filled by one thread and lies in its
// cache.
enum {
    BLOCK_WIDTH = RAYS_BLOCK_WIDTH,
    BLOCK_HEIGHT = RAYS_BLOCK_HEIGHT,
    RASTER_CELL_WIDTH = 64,
    RASTER_CELL_HEIGHT = RAYS_BAND_HEIGHT
};
static_assert(BLOCK_WIDTH * BLOCK_HEIGHT == LANES, "a block is a packet");

// Planes are linear in the direction (1, across, above) through a pixel.
typedef struct RasterTriangle {
    float edge[3][3];   // not negative inside
    float nearness[3];  // one over the depth along the axis
    int visual, triangle;
    int16_t left, right, top, bottom;  // blocks, inclusive
} RasterTriangle;
static_assert(sizeof(RasterTriangle) == 64, "one line of the cache");

typedef struct RasterForm {
    int visual;
    int pixels[4];             // left, right, top, bottom, inclusive
    float nearest;             // no ray meets it before
    bool is_wide;              // wide_form.h meets it well enough from here
    float origin[3], turn[9];  // of the view, in the form's frame
} RasterForm;

typedef struct RasterCorner {
    Vec3 p;              // in the view's frame: ahead, left, up
    double column, row;  // in pixels, where it lies ahead
} RasterCorner;

typedef struct Raster {
    RaysFlat flat;
    Mat3 outwards, inwards;  // from the view's frame into that of the world, and back
    double step, left, top;  // of the plane at distance 1: a pixel, its left and upper edge
    double clip;             // depth before which nothing counts
    RasterTriangle *triangles;
    BinBox *boxes, *form_boxes;
    RasterForm *forms;
    RasterCorner *corners;  // of the mesh at hand
    bool *is_seen;          // of visuals
    Bins bins, form_bins;
    int triangle_count, triangle_capacity, box_capacity, form_count, form_capacity, form_box_capacity, corner_capacity,
        seen_capacity;
    int block_columns, block_rows;
    float *across, *above;  // eight for each column and row of blocks
    float *nearness;        // eight for each block: of what is seen
    int *items;             // likewise: which triangle, -1: none
    int across_capacity, above_capacity, nearness_capacity, item_capacity;
} Raster;

#endif
