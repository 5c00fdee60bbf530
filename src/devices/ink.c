// ink.c - what Pens left, told in tiles to those who show it elsewhere: a browser, a recording. Each tile remembers the
// number of the last change in it, so that who asks gets what is new to him, at the cost of that.
#include "devices/devices_internal.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

enum { SIDE = DEVICE_INK_SIDE };
static_assert(sizeof(DeviceInk) == 12 + 4 * SIDE * SIDE, "nothing is padded");

static int tiles_along(int pixels) { return (pixels + SIDE - 1) / SIDE; }

int ink_tile_count(int width, int height) { return tiles_along(width) * tiles_along(height); }

void ink_changed(Devices *devices, ShownPaint *paint, int left, int right, int bottom, int top)
{
    assert_debug(left >= 0 && right < paint->paint.width && bottom >= 0 && top < paint->paint.height);
    int columns = tiles_along(paint->paint.width);
    for (int y = bottom / SIDE; y <= top / SIDE; y++)
        for (int x = left / SIDE; x <= right / SIDE; x++)
            paint->changes[y * columns + x] = ++devices->ink_changes;
}

// Those that never had any stay untold.
void ink_changed_all(Devices *devices, ShownPaint *paint)
{
    int count = ink_tile_count(paint->paint.width, paint->paint.height), columns = tiles_along(paint->paint.width);
    for (int tile = 0; tile < count; tile++) {
        int first = tile / columns * SIDE, last = int_min(first + SIDE, paint->paint.height);
        bool has_ink = paint->changes[tile] > 0;
        for (int row = first; row < last && !has_ink; row++)
            for (int x = tile % columns * SIDE; x < int_min((tile % columns + 1) * SIDE, paint->paint.width); x++)
                has_ink |= paint->pixels[4 * ((size_t)row * (size_t)paint->paint.width + (size_t)x) + 3] > 0.0f;
        if (has_ink)
            paint->changes[tile] = ++devices->ink_changes;
    }
}

static uint8_t byte_of(float share) { return (uint8_t)lroundf(255.0f * fminf(fmaxf(share, 0.0f), 1.0f)); }

// Beyond the edge of the paint a tile is blank.
static void fill_tile(const ShownPaint *paint, int left, int bottom, DeviceInk *ink)
{
    int width = paint->paint.width, height = paint->paint.height;
    *ink = (DeviceInk){ .node = paint->shape->id,
                        .width = (uint16_t)width,
                        .height = (uint16_t)height,
                        .x = (uint16_t)left,
                        .y = (uint16_t)bottom };
    for (int y = 0; y < SIDE && bottom + y < height; y++) {
        const float *line = paint->pixels + 4 * ((size_t)(bottom + y) * (size_t)width + (size_t)left);
        for (int x = 0; x < SIDE && left + x < width; x++)
            for (int c = 0; c < 4; c++)
                ink->pixels[y * SIDE + x][c] = byte_of(line[4 * x + c]);
    }
}

bool devices_has_ink(const Devices *devices, uint64_t since) { return devices->ink_changes != since; }

typedef struct ChangedTile {
    uint64_t change;
    const ShownPaint *paint;
    int tile;
} ChangedTile;

static int by_change(const void *a, const void *b)
{
    uint64_t x = ((const ChangedTile *)a)->change, y = ((const ChangedTile *)b)->change;
    return (x > y) - (x < y);
}

int devices_ink(const Devices *devices, uint64_t *since, DeviceInk *tiles, int capacity)
{
    assert(since && (tiles || capacity == 0));
    if (*since > devices->ink_changes)  // the ink was made anew since: all of it is new
        *since = 0;
    if (*since == devices->ink_changes)
        return 0;
    ChangedTile *changed = NULL;
    int count = 0, room = 0;
    for (int i = 0; i < devices->paint_count; i++) {
        const ShownPaint *paint = devices->paints[i];
        int all = ink_tile_count(paint->paint.width, paint->paint.height);
        bool is_told = !paint->shape->is_removed && paint->paint.width <= UINT16_MAX
                       && paint->paint.height <= UINT16_MAX;
        for (int tile = 0; is_told && tile < all; tile++)
            if (paint->changes[tile] > *since)
                *memory_push(changed, count, room) = (ChangedTile){ paint->changes[tile], paint, tile };
    }
    // Oldest changes first: where there is no room for all, `since` is that of the last one told, and the rest follow.
    if (count > 0)
        qsort(changed, (size_t)count, sizeof *changed, by_change);
    int told = int_min(count, capacity);
    for (int i = 0; i < told; i++) {
        int columns = tiles_along(changed[i].paint->paint.width);
        fill_tile(changed[i].paint, changed[i].tile % columns * SIDE, changed[i].tile / columns * SIDE, &tiles[i]);
    }
    *since = told == count ? devices->ink_changes : told > 0 ? changed[told - 1].change : *since;
    free(changed);
    return told;
}
