// raster_fill.c - the triangles of one cell of a picture, eight pixels at a time: the nearest one stays, of equals the
// first. Compiled twice, see raster_fill_avx2.c; both give the same bits.
#include "rays/raster.h"
#include "rays/wide.h"

#ifndef FILL_VARIANT
#define FILL_VARIANT raster_fill_portable
#endif

static void clear_cell(const Raster *raster, const int blocks[4])
{
    F8 farthest = f8((float)(1.0 / (raster->flat.far * (1.0 + 1e-6))));
    for (int row = blocks[2]; row <= blocks[3]; row++)
        for (int column = blocks[0]; column <= blocks[1]; column++) {
            size_t at = LANES * ((size_t)row * (size_t)raster->block_columns + (size_t)column);
            f8_store(raster->nearness + at, farthest);
            i8_store(raster->items + at, (I8){ -1, -1, -1, -1, -1, -1, -1, -1 });
        }
}

static void fill_triangle(const Raster *raster, int item, const int blocks[4], F8 limit)
{
    assert_debug(item >= 0 && item < raster->triangle_count);
    const RasterTriangle *triangle = &raster->triangles[item];
    const float(*e)[3] = triangle->edge, *n = triangle->nearness;
    int left = int_max(triangle->left, blocks[0]), right = int_min(triangle->right, blocks[1]),
        bottom = int_min(triangle->bottom, blocks[3]);
    F8 across_e[3] = { f8(e[0][1]), f8(e[1][1]), f8(e[2][1]) }, across_n = f8(n[1]);
    I8 own = { item, item, item, item, item, item, item, item };
    for (int row = int_max(triangle->top, blocks[2]); row <= bottom; row++) {
        F8 above = f8_load(raster->above + LANES * row), row_e[3], row_n = n[0] + n[2] * above;
        for (int i = 0; i < 3; i++)
            row_e[i] = e[i][0] + e[i][2] * above;
        size_t at = LANES * ((size_t)row * (size_t)raster->block_columns + (size_t)left);
        for (int column = left; column <= right; column++, at += LANES) {
            F8 across = f8_load(raster->across + LANES * column);
            I8 inside = (row_e[0] + across_e[0] * across >= 0.0f) & (row_e[1] + across_e[1] * across >= 0.0f)
                        & (row_e[2] + across_e[2] * across >= 0.0f);
            F8 nearness = row_n + across_n * across, before = f8_load(raster->nearness + at);
            inside &= (nearness > before) & (nearness < limit);
            if (!i8_any(inside))
                continue;
            f8_store(raster->nearness + at, f8_where(inside, nearness, before));
            i8_store(raster->items + at, (own & inside) | (i8_load(raster->items + at) & ~inside));
        }
    }
}

void FILL_VARIANT(const Raster *raster, int column, int row)
{
    assert_debug(column >= 0 && column < raster->bins.columns && row >= 0 && row < raster->bins.rows);
    const Bins *bins = &raster->bins;
    int cell = row * bins->columns + column;
    const int blocks[4] = {
        column * RASTER_CELL_WIDTH / BLOCK_WIDTH,
        int_min((column + 1) * RASTER_CELL_WIDTH / BLOCK_WIDTH, raster->block_columns) - 1,
        row * RASTER_CELL_HEIGHT / BLOCK_HEIGHT,
        int_min((row + 1) * RASTER_CELL_HEIGHT / BLOCK_HEIGHT, raster->block_rows) - 1,
    };
    F8 limit = f8((float)(1.0 / raster->flat.near));
    clear_cell(raster, blocks);
    for (int i = bins->starts[cell]; i < bins->starts[cell + 1]; i++)
        fill_triangle(raster, bins->items[i], blocks, limit);
}
