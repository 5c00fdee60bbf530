// bins.c - boxes sorted into the cells of a flat grid: triangles over a picture, casters of shadows seen along a light.
#include "rays/rays_internal.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

void bins_fill(Bins *bins, int columns, int rows, const BinBox *boxes, int count)
{
    assert_debug(count >= 0 && (boxes || count == 0));
    int cells = columns * rows;
    assert(columns > 0 && rows > 0);
    bins->columns = columns;
    bins->rows = rows;
    memory_grow(&bins->starts, &bins->start_capacity, cells + 2, sizeof *bins->starts);
    memset(bins->starts, 0, ((size_t)cells + 2) * sizeof *bins->starts);
    // Two places ahead: after the second pass each start stands where the cell begins.
    int *next = bins->starts + 1;
    for (int i = 0; i < count; i++)
        for (int row = boxes[i].top; row <= boxes[i].bottom; row++)
            for (int column = boxes[i].left; column <= boxes[i].right; column++) {
                assert(row >= 0 && row < rows && column >= 0 && column < columns);
                next[row * columns + column + 1]++;
            }
    for (int i = 0; i < cells; i++)
        next[i + 1] += next[i];
    assert_debug(next[cells] >= 0);
    memory_grow(&bins->items, &bins->item_capacity, next[cells] + 1, sizeof *bins->items);
    for (int i = 0; i < count; i++)
        for (int row = boxes[i].top; row <= boxes[i].bottom; row++)
            for (int column = boxes[i].left; column <= boxes[i].right; column++)
                bins->items[next[row * columns + column]++] = i;
}

double bins_crowding(const Bins *bins)
{
    assert_debug(bins->starts);
    double sum = 0.0, squares = 0.0;
    for (int i = 0; i < bins->columns * bins->rows; i++) {
        double here = bins->starts[i + 1] - bins->starts[i];
        sum += here;
        squares += here * here;
    }
    return sum > 0.0 ? squares / sum : 0.0;
}

void bins_free(Bins *bins)
{
    free(bins->starts);
    free(bins->items);
    *bins = (Bins){ 0 };
}
