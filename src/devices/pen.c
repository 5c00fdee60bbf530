// pen.c - Pens and what they leave: paint on shapes, which dries up.
#include "devices/devices_internal.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { PEN_WRITE, PEN_INK };
static void pen_start(DeviceContext *at)
{
    Vec3 ink = scene_vec3(at->info->node, "inkColor");
    int color = (int)(ink.x * 255 + 0.5) << 16 | (int)(ink.y * 255 + 0.5) << 8 | (int)(ink.z * 255 + 0.5);
    *(PenState *)at->state = (PenState){ scene_bool(at->info->node, "write"), color,
                                         scene_float(at->info->node, "inkDensity") };
}

static const char *pen_command(DeviceContext *at, int command, const double *numbers, int count, const void *bytes,
                               int byte_count)
{
    (void)bytes, (void)byte_count;
    PenState *state = at->state;
    if (command == PEN_WRITE && count >= 1) {
        state->writes = numbers[0] != 0.0;
    } else if (command == PEN_INK && count >= 2) {
        if (!(numbers[1] >= 0.0 && numbers[1] <= 1.0))
            return "the density must be between 0 and 1";
        state->color = (int32_t)double_clamp(numbers[0], 0, 0xffffff);
        state->density = numbers[1];
    } else {
        return "no such command";
    }
    return NULL;
}

const DeviceKind pen_device = {
    .type = "Pen", .code = WB_NODE_PEN, .state_size = sizeof(PenState), .start = pen_start, .command = pen_command
};

static ShownPaint *paint_on(Devices *devices, SceneNode *shape, int width, int height)
{
    assert_debug(shape && width > 0 && height > 0);
    enum { PAINTS_MAX = 4096 };
    for (int i = 0; i < devices->paint_count; i++)
        if (devices->paints[i]->shape == shape)
            return devices->paints[i];
    if (devices->paint_count >= PAINTS_MAX)
        return NULL;
    ShownPaint *paint = memory_alloc(sizeof *paint);
    paint->shape = shape;
    paint->pixels = memory_alloc_array((size_t)width * (size_t)height, 4 * sizeof(float));
    paint->paint = (RaysPaint){ width, height, paint->pixels };
    for (size_t i = 0; i < 4 * (size_t)width * (size_t)height; i++)
        paint->pixels[i] = i % 4 < 3 ? 1.0f : 0.0f;
    paint->changes = memory_alloc_array((size_t)ink_tile_count(width, height), sizeof *paint->changes);
    *memory_push(devices->paints, devices->paint_count, devices->paint_capacity) = paint;
    if (devices->rays)
        rays_set_paint(devices->rays, shape, &paint->paint);
    return paint;
}

// Old and new ink mix by their densities.
static void add_ink(float *pixel, Vec3 ink, float density)
{
    float sum = density + pixel[3], old = sum < 1e-15f ? 0.0f : pixel[3] / sum;
    const float color[3] = { (float)ink.x, (float)ink.y, (float)ink.z };
    for (int c = 0; c < 3; c++)
        pixel[c] = old * pixel[c] + (1.0f - old) * color[c];
    pixel[3] = fminf(sum, 1.0f);
}

// A pixel belongs to the disc when its middle does; the one under the pen always does.
static void draw_spot(Devices *devices, ShownPaint *paint, const RaysSpot *spot, Vec3 ink, double density)
{
    assert_debug(paint->paint.width > 0 && paint->paint.height > 0);
    int width = paint->paint.width, height = paint->paint.height, x = (int)(spot->u * width),
        y = (int)(spot->v * height);
    double reach_x = spot->reach_u * width, reach_y = spot->reach_v * height;
    int left = int_max((int)floor(spot->u * width - reach_x), (int)(spot->low[0] * width + 0.5)),
        right = int_min((int)(spot->u * width + reach_x), (int)(spot->high[0] * width + 0.5) - 1);
    int bottom = int_max((int)floor(spot->v * height - reach_y), (int)(spot->low[1] * height + 0.5)),
        top = int_min((int)(spot->v * height + reach_y), (int)(spot->high[1] * height + 0.5) - 1);
    for (int row = int_max(bottom, 0); left <= right && row <= int_min(top, height - 1); row++) {
        float *line = paint->pixels + 4 * (size_t)row * (size_t)width;
        show_will_change(devices, line + 4 * left, (size_t)(right - left + 1) * 4 * sizeof(float));
        for (int column = left; column <= right; column++) {
            double dx = reach_x > 0.0 ? (column - x) / reach_x : 0.0, dy = reach_y > 0.0 ? (row - y) / reach_y : 0.0;
            if (dx * dx + dy * dy <= 1.0)
                add_ink(line + 4 * column, ink, (float)density);
        }
    }
    if (left <= right)
        ink_changed(devices, paint, left, right, int_max(bottom, 0), int_min(top, height - 1));
    paint->is_wet = true;
}

static void write_with(Devices *devices, int robot, int tag)
{
    DeviceContext at = device_context(devices, robot, tag);
    const PenState *pen = at.state;
    const SceneNode *node = at.info->node;
    if (!pen->writes)
        return;
    Pose pose = device_pose(&at);
    double reach = scene_float(node, "maxDistance"), radius;
    Ray ray = { pose.t, quat_rotate(pose.q, vec3(0, 0, -1)), 0.0, reach > 0.0 ? reach : 1e6, 0.0 };
    RayHit hit;
    Rays *rays = device_rays(&at);
    rays_cast(rays, &ray, 1, NULL, NULL, &hit);
    if (hit.visual < 0)
        return;
    int width, height, cells[2];
    RaysSpot spots[6];
    rays_paint_size(rays, hit.visual, &width, &height, cells, &radius);
    int half = radius > 0.0 ? (int)fmin(scene_float(node, "leadSize") * width / radius, 4096.0) / 2
                            : 0;  // pixels, as Webots counts them
    int count = rays_paint_spots(rays, &hit, (double)half / width, (double)half / height, spots);
    ShownPaint *paint = count > 0
                            ? paint_on(devices, rays_visual_node(rays, hit.visual), width * cells[0], height * cells[1])
                            : NULL;
    Vec3 ink = vec3((pen->color >> 16 & 255) / 255.0, (pen->color >> 8 & 255) / 255.0, (pen->color & 255) / 255.0);
    for (int i = 0; paint && i < count; i++)
        draw_spot(devices, paint, &spots[i], ink, pen->density);
}

static void evaporate(Devices *devices, ShownPaint *paint, float factor)
{
    assert(factor >= 0.0f && factor <= 1.0f);
    int width = paint->paint.width;
    paint->is_wet = false;
    for (int row = 0; row < paint->paint.height; row++) {
        float *line = paint->pixels + 4 * (size_t)row * (size_t)width;
        int first = -1, last = -1;
        for (int column = 0; column < width; column++)
            if (line[4 * column + 3] > 0.001f)
                first = first < 0 ? column : first, last = column;
        if (first < 0)
            continue;
        paint->is_wet = true;
        show_will_change(devices, line + 4 * first, (size_t)(last - first + 1) * 4 * sizeof(float));
        for (int column = first; column <= last; column++)
            if (line[4 * column + 3] > 0.001f)
                line[4 * column + 3] *= factor;
        ink_changed(devices, paint, first, last, row, row);
    }
}

static double evaporation(const Devices *devices)
{
    const SceneNode *info = scene_find_top(devices->scene, "WorldInfo");
    return info ? scene_float(info, "inkEvaporation") : 0.0;
}

void devices_paint(Devices *devices)
{
    double rate = devices->paint_count > 0 ? evaporation(devices) : 0.0;
    for (int i = 0; rate > 0.0 && i < devices->paint_count; i++)
        if (devices->paints[i]->is_wet)
            evaporate(devices, devices->paints[i], (float)exp(-rate * physics_time_step(devices->physics)));
    bool is_looking = false;
    for (int robot = 0; robot < devices->robot_count; robot++)
        for (int tag = 1; devices->robots[robot].is_alive && tag <= devices->robots[robot].device_count; tag++) {
            if (device_at(devices, robot, tag)->info.kind != &pen_device)
                continue;
            if (!is_looking)
                devices->looked = UINT64_MAX;  // things may have been moved since the last step
            is_looking = true;
            write_with(devices, robot, tag);
        }
    if (is_looking)
        devices->looked = UINT64_MAX;
}

void paint_clear(Devices *devices)
{
    for (int i = 0; i < devices->paint_count; i++) {
        ShownPaint *paint = devices->paints[i];
        size_t count = 4 * (size_t)paint->paint.width * (size_t)paint->paint.height;
        show_will_change(devices, paint->pixels, count * sizeof(float));
        for (size_t k = 0; k < count; k++)
            paint->pixels[k] = k % 4 < 3 ? 1.0f : 0.0f;
        ink_changed_all(devices, paint);
    }
}

void paint_restore(Devices *devices, SceneNode *shape, int width, int height, const void *pixels)
{
    assert_debug(pixels);
    ShownPaint *paint = paint_on(devices, shape, width, height);
    if (!paint || paint->paint.width != width || paint->paint.height != height)
        return;
    size_t bytes = (size_t)width * (size_t)height * 4 * sizeof(float);
    show_will_change(devices, paint->pixels, bytes);
    memcpy(paint->pixels, pixels, bytes);
    ink_changed_all(devices, paint);
    paint->is_wet = true;
}
