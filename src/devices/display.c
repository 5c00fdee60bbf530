// display.c - Displays: programs draw on a canvas, a camera may lie behind it, and what comes of both covers the
// textures of the display's shapes.
#include "devices/devices_internal.h"

#include "base/memory.h"

#include <string.h>

typedef struct DisplayState {
    int32_t attached;  // tag of a camera, 0: none
    int32_t reserved;
} DisplayState;

// Calls for every image on the shapes of the first child.
static int find_textures(const SceneNode *node, const SceneNode **textures, int count, int max, int depth)
{
    assert_debug(count >= 0 && count <= max);
    static const char *const fields[] = { "texture", "baseColorMap", "emissiveColorMap" };
    if (!node || !node->type || depth > 64)
        return count;
    if (scene_node_is(node, "Shape")) {
        const SceneNode *look = scene_child(node, "appearance");
        for (int i = 0; look && i < COUNT_OF(fields); i++) {
            const SceneNode *texture = schema_field(look->type, fields[i]) ? scene_child(look, fields[i]) : NULL;
            if (texture && count < max)
                textures[count++] = scene_actual(texture);
        }
    } else if (scene_node_is(node, "Group")) {
        const FieldList *children = scene_list(node, "children");
        for (int i = 0; i < children->count; i++)
            count = find_textures(scene_list_node(children, i), textures, count, max, depth + 1);
    }
    return count;
}

enum { DISPLAY_TEXTURES = 32, DISPLAY_PIXELS_MAX = 1 << 24 };

static int textures_of(const SceneNode *display, const SceneNode *textures[DISPLAY_TEXTURES])
{
    const FieldList *children = scene_list(display, "children");
    return children->count > 0 ? find_textures(scene_list_node(children, 0), textures, 0, DISPLAY_TEXTURES, 0) : 0;
}

static int display_pixels(const SceneNode *node)
{
    int64_t width = scene_int(node, "width"), height = scene_int(node, "height");
    return width > 0 && height > 0 && width * height <= DISPLAY_PIXELS_MAX ? (int)(width * height) : 0;
}

// Black until something is drawn.
static void make_screen(Device *device)
{
    assert_debug(device->info.kind == &display_device);
    int count = display_pixels(device->info.node);
    if (device->canvas || count == 0)
        return;
    device->canvas = memory_alloc_array((size_t)count, 4);
    device->screen = memory_alloc_array((size_t)count, 4);
    device->layer = memory_alloc(sizeof *device->layer);
    *device->layer = (RaysLayer){ scene_int(device->info.node, "width"), scene_int(device->info.node, "height"),
                                  device->screen };
    for (int i = 0; i < count; i++)
        device->canvas[4 * i + 3] = device->screen[4 * i + 3] = 255;
}

// What is drawn, over what the attached camera sees.
static void compose(Devices *devices, int robot, Device *device, const DisplayState *state, int first_row, int rows)
{
    assert_debug(first_row >= 0 && rows >= 0 && first_row + rows <= device->layer->height);
    int width = device->layer->width, height = device->layer->height, size = 0, columns = 1, lines = 1;
    const uint8_t *under = NULL;
    if (state->attached > 0 && state->attached <= devices_count(devices, robot)) {
        const SceneNode *camera = devices_info(devices, robot, state->attached)->node;
        columns = int_max(scene_int(camera, "width"), 1), lines = int_max(scene_int(camera, "height"), 1);
        under = devices_image(devices, robot, state->attached, 0, &size);
        if (size < 4 * columns * lines)
            under = NULL;
    }
    device->is_drawn = true;
    show_will_change(devices, device->screen + 4 * (size_t)first_row * (size_t)width, 4 * (size_t)rows * (size_t)width);
    for (int row = first_row; row < first_row + rows; row++)
        for (int column = 0; column < width; column++) {
            size_t at = 4 * ((size_t)row * (size_t)width + (size_t)column);
            const uint8_t *over = device->canvas + at;
            uint8_t *to = device->screen + at;
            memcpy(to, over, 4);
            if (!under)
                continue;
            const uint8_t *behind = under
                                    + 4
                                          * ((size_t)(row * (int64_t)lines / height) * (size_t)columns
                                             + (size_t)(column * (int64_t)columns / width));
            for (int c = 0; c < 3; c++)
                to[c] = (uint8_t)((over[c] * over[3] + behind[2 - c] * (255 - over[3]) + 127) / 255);
            to[3] = 255;
        }
}

static const char *draw_rows(DeviceContext *at, const double *numbers, int count, const void *bytes, int byte_count)
{
    Device *device = device_at(at->devices, at->robot, at->tag);
    make_screen(device);
    if (count < 2 || !device->canvas)
        return "there is nothing to draw on";
    int width = device->layer->width, height = device->layer->height;
    if (!(numbers[0] >= 0.0 && numbers[1] >= 1.0 && numbers[0] + numbers[1] <= height)
        || byte_count != 4 * width * (int)numbers[1])
        return "rows outside the display";
    int first = (int)numbers[0], rows = (int)numbers[1];
    memcpy(device->canvas + 4 * (size_t)first * (size_t)width, bytes, (size_t)byte_count);
    compose(at->devices, at->robot, device, at->state, first, rows);
    return NULL;
}

// What was never drawn lets the camera's picture through.
static const char *attach(DeviceContext *at, int camera)
{
    Device *device = device_at(at->devices, at->robot, at->tag);
    DisplayState *state = at->state;
    make_screen(device);
    if (camera != 0
        && (camera < 1 || camera > devices_count(at->devices, at->robot)
            || devices_info(at->devices, at->robot, camera)->kind != &camera_device))
        return "there is no such camera";
    if (!device->canvas)
        return NULL;
    state->attached = camera;
    compose(at->devices, at->robot, device, state, 0, device->layer->height);
    return NULL;
}

static const char *display_command(DeviceContext *at, int command, const double *numbers, int count, const void *bytes,
                                   int byte_count)
{
    enum { DRAW, ATTACH };
    if (command == DRAW)
        return draw_rows(at, numbers, count, bytes, byte_count);
    if (command == ATTACH && count >= 1 && fabs(numbers[0]) <= INT32_MAX)
        return attach(at, (int)numbers[0]);
    return "a display knows no such command";
}

// Beside the size: whether a shape shows it.
static int display_constants(DeviceContext *at, double *values, int capacity)
{
    const SceneNode *textures[DISPLAY_TEXTURES];
    if (capacity < 3)
        return 0;
    values[0] = scene_int(at->info->node, "width");
    values[1] = scene_int(at->info->node, "height");
    values[2] = textures_of(at->info->node, textures) > 0;
    return 3;
}

const DeviceKind display_device = {
    .type = "Display",
    .code = WB_NODE_DISPLAY,
    .state_size = sizeof(DisplayState),
    .constants = display_constants,
    .command = display_command,
};

void display_show(Devices *devices, Device *device)
{
    assert_debug(devices->rays);
    const SceneNode *textures[DISPLAY_TEXTURES];
    if (device->is_shown)
        return;
    device->is_shown = true;
    int count = textures_of(device->info.node, textures);
    if (count > 0)
        make_screen(device);
    for (int i = 0; device->layer && i < count; i++)
        rays_set_layer(devices->rays, textures[i], device->layer);
}

void devices_show_screen(Devices *devices, uint32_t node, int width, int height, const uint8_t *pixels)
{
    assert(width > 0 && height > 0);
    for (int i = 0; i < devices->device_count; i++) {
        Device *device = &devices->devices[i];
        if (device->info.kind != &display_device || device->is_gone || device->info.node->id != node)
            continue;
        make_screen(device);
        if (!device->layer)
            return;
        int columns = device->layer->width, rows = device->layer->height;
        device->is_drawn = true;
        show_will_change(devices, device->screen, 4 * (size_t)columns * (size_t)rows);
        for (int y = 0; y < rows; y++)
            for (int x = 0; x < columns; x++)
                memcpy(device->screen + 4 * ((size_t)y * (size_t)columns + (size_t)x),
                       pixels
                           + 3
                                 * ((size_t)(y * (int64_t)height / rows) * (size_t)width
                                    + (size_t)(x * (int64_t)width / columns)),
                       3);
    }
}

// A camera that displays show is looked at whenever it has a picture.
void display_show_camera(Devices *devices, int robot, int camera)
{
    assert(robot >= 0 && robot < devices->robot_count);
    for (int tag = 1; tag <= devices->robots[robot].device_count; tag++) {
        Device *device = device_at(devices, robot, tag);
        const DisplayState *state = device->info.kind == &display_device ? device_state(devices, robot, tag) : NULL;
        if (state && state->attached == camera && device->layer)
            compose(devices, robot, device, state, 0, device->layer->height);
    }
}

void display_clear(Devices *devices, Device *device)
{
    assert_debug(device->layer && device->canvas && device->screen);
    size_t count = (size_t)device->layer->width * (size_t)device->layer->height;
    show_will_change(devices, device->screen, 4 * count);
    for (size_t i = 0; i < 4 * count; i++)
        device->canvas[i] = device->screen[i] = i % 4 == 3 ? 255 : 0;
    device->is_drawn = false;
}

const uint8_t *devices_display(const Devices *devices, int robot, int tag, int *width, int *height)
{
    assert_debug(width && height);
    const Device *device = device_at(devices, robot, tag);
    if (!device->is_drawn || !device->layer)
        return NULL;
    *width = device->layer->width;
    *height = device->layer->height;
    return device->screen;
}

void display_restore(Devices *devices, int index, const void *pixels)
{
    assert_debug(index >= 0 && index < devices->device_count);
    Device *device = &devices->devices[index];
    make_screen(device);
    if (!device->layer)
        return;
    size_t bytes = 4 * (size_t)device->layer->width * (size_t)device->layer->height;
    show_will_change(devices, device->screen, bytes);
    memcpy(device->canvas, pixels, bytes);
    memcpy(device->screen, (const char *)pixels + bytes, bytes);
    device->is_drawn = true;
}
