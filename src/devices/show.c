// show.c - what devices show to eyes: LEDs that glow, displays, the paint of pens, the spots of lasers, and what is
// hidden from whom. Displays and paint are pixels that change while pictures of earlier moments may still be wanted:
// what a change overwrites is logged, and a picture of an earlier moment is made with the log undone.
#include "devices/devices_internal.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { LOG_BYTES_MAX = 64 << 20, EYE_OF_ALL = 63 };

// ---- the log ----
// One entry after the other: a head, then the bytes that stood there.
typedef struct LogHead {
    uint8_t *place;
    size_t size;  // of the entry before, then of this one: it is walked both ways
    size_t previous;
} LogHead;

static size_t entry_bytes(size_t size) { return sizeof(LogHead) + ((size + 7) & ~(size_t)7); }

static size_t show_mark(const Devices *devices) { return (size_t)devices->log_size; }

static void swap_bytes(uint8_t *a, uint8_t *b, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        uint8_t kept = a[i];
        a[i] = b[i];
        b[i] = kept;
    }
}

static void undo_to(Devices *devices, size_t mark)
{
    size_t at = (size_t)devices->log_size, size = devices->log_last;
    while (at > mark) {
        at -= entry_bytes(size);
        LogHead head;
        memcpy(&head, devices->log + at, sizeof head);
        swap_bytes(head.place, devices->log + at + sizeof head, head.size);
        size = head.previous;
    }
}

static void redo_from(Devices *devices, size_t mark)
{
    for (size_t at = mark; at < (size_t)devices->log_size;) {
        LogHead head;
        memcpy(&head, devices->log + at, sizeof head);
        swap_bytes(head.place, devices->log + at + sizeof head, head.size);
        at += entry_bytes(head.size);
    }
}

// Before `size` bytes at `place` change.
static void will_change(Devices *devices, void *place, size_t size)
{
    if (devices->due_count == 0) {
        devices->log_size = 0;
        return;
    }
    if ((size_t)devices->log_size + entry_bytes(size) > LOG_BYTES_MAX) {
        due_make_all(devices);
        devices->log_size = 0;
        return;
    }
    LogHead head = { place, size, devices->log_size > 0 ? devices->log_last : 0 };
    memory_grow(&devices->log, &devices->log_capacity, devices->log_size + (int)entry_bytes(size), 1);
    memcpy(devices->log + devices->log_size, &head, sizeof head);
    memcpy(devices->log + (size_t)devices->log_size + sizeof head, place, size);
    devices->log_size += (int)entry_bytes(size);
    devices->log_last = size;
}

// ---- LEDs ----

static Vec3 led_color(const SceneNode *node, int value)
{
    const FieldList *colors = scene_list(node, "color");
    if (!scene_bool(node, "gradual"))
        return value > 0 && value <= colors->count ? vec3(
                   colors->numbers[3 * value - 3], colors->numbers[3 * value - 2], colors->numbers[3 * value - 1])
                                                   : VEC3_ZERO;
    if (colors->count > 0)
        return vec3_scale(vec3(colors->numbers[0], colors->numbers[1], colors->numbers[2]),
                          double_clamp(value / 255.0, 0.0, 1.0));
    return vec3((value >> 16 & 255) / 255.0, (value >> 8 & 255) / 255.0, (value & 255) / 255.0);
}

// Where the colour of an LED goes: `node` is a Light, a Material or a PBRAppearance.
typedef struct LampVisit {
    void (*tell)(const struct LampVisit *visit, const SceneNode *node);
    Rays *rays;
    Vec3 color;
    bool is_on;
    DeviceGlow *glows;
    int *count, capacity;
} LampVisit;

// All Shapes and Lights in the first child.
static void each_lamp(const LampVisit *visit, const SceneNode *node, int depth)
{
    if (!node || !node->type || depth > 64)
        return;
    if (scene_node_is(node, "Light")) {
        visit->tell(visit, node);
    } else if (scene_node_is(node, "Shape")) {
        const SceneNode *look = scene_child(node, "appearance");
        const SceneNode *holder = look && scene_node_is(look, "Appearance") ? scene_child(look, "material") : look;
        if (holder)
            visit->tell(visit, scene_actual(holder));
    } else if (scene_node_is(node, "Group")) {
        const FieldList *children = scene_list(node, "children");
        for (int i = 0; i < children->count; i++)
            each_lamp(visit, scene_list_node(children, i), depth + 1);
    }
}

static void visit_led(LampVisit *visit, const SceneNode *led, int value)
{
    const FieldList *children = scene_list(led, "children");
    visit->color = led_color(led, value);
    visit->is_on = value != 0;
    if (children->count > 0)
        each_lamp(visit, scene_list_node(children, 0), 0);
}

static void light_up(const LampVisit *visit, const SceneNode *node)
{
    rays_set_lamp(visit->rays, node, visit->color, visit->is_on);
}

static void show_led(Devices *devices, Device *device, int value)
{
    if (device->is_shown && device->shown_value == value)
        return;
    visit_led(&(LampVisit){ .tell = light_up, .rays = devices->rays }, device->info.node, value);
    device->is_shown = true;
    device->shown_value = value;
}

static void note_glow(const LampVisit *visit, const SceneNode *node)
{
    if (scene_node_is(node, "Light"))
        return;
    if (*visit->count < visit->capacity)
        visit->glows[*visit->count] =
            (DeviceGlow){ node->id, scene_node_is(node, "Material") ? rays_linear_color(visit->color) : visit->color };
    ++*visit->count;
}

int devices_glows(const Devices *devices, DeviceGlow *glows, int capacity)
{
    int count = 0;
    LampVisit visit = { .tell = note_glow, .glows = glows, .count = &count, .capacity = capacity };
    for (int robot = 0; robot < devices->robot_count; robot++)
        for (int tag = 1; devices->robots[robot].is_alive && tag <= devices->robots[robot].device_count; tag++) {
            const DeviceInfo *info = devices_info(devices, robot, tag);
            if (info->kind == &led_device && !device_at(devices, robot, tag)->is_gone)
                visit_led(&visit, info->node, ((const LedState *)device_state(devices, robot, tag))->value);
        }
    return count;
}

// ---- displays ----

typedef struct DisplayState {
    int32_t attached;  // tag of a camera, 0: none
    int32_t reserved;
} DisplayState;

// Calls for every image on the shapes of the first child.
static int find_textures(const SceneNode *node, const SceneNode **textures, int count, int most, int depth)
{
    static const char *const fields[] = { "texture", "baseColorMap", "emissiveColorMap" };
    if (!node || !node->type || depth > 64)
        return count;
    if (scene_node_is(node, "Shape")) {
        const SceneNode *look = scene_child(node, "appearance");
        for (int i = 0; look && i < COUNT_OF(fields); i++) {
            const SceneNode *texture = schema_field(look->type, fields[i]) ? scene_child(look, fields[i]) : NULL;
            if (texture && count < most)
                textures[count++] = scene_actual(texture);
        }
    } else if (scene_node_is(node, "Group")) {
        const FieldList *children = scene_list(node, "children");
        for (int i = 0; i < children->count; i++)
            count = find_textures(scene_list_node(children, i), textures, count, most, depth + 1);
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
    will_change(devices, device->screen + 4 * (size_t)first_row * (size_t)width, 4 * (size_t)rows * (size_t)width);
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

static void show_display(Devices *devices, Device *device)
{
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
        will_change(devices, device->screen, 4 * (size_t)columns * (size_t)rows);
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
void show_camera(Devices *devices, int robot, int camera)
{
    assert(robot >= 0 && robot < devices->robot_count);
    for (int tag = 1; tag <= devices->robots[robot].device_count; tag++) {
        Device *device = device_at(devices, robot, tag);
        const DisplayState *state = device->info.kind == &display_device ? device_state(devices, robot, tag) : NULL;
        if (state && state->attached == camera && device->layer)
            compose(devices, robot, device, state, 0, device->layer->height);
    }
}

// ---- pens ----

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
    memory_grow(&devices->paints, &devices->paint_capacity, devices->paint_count + 1, sizeof *devices->paints);
    devices->paints[devices->paint_count++] = paint;
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
    int width = paint->paint.width, height = paint->paint.height, x = (int)(spot->u * width),
        y = (int)(spot->v * height);
    double reach_x = spot->reach_u * width, reach_y = spot->reach_v * height;
    int left = int_max((int)floor(spot->u * width - reach_x), (int)(spot->low[0] * width + 0.5)),
        right = int_min((int)(spot->u * width + reach_x), (int)(spot->high[0] * width + 0.5) - 1);
    int bottom = int_max((int)floor(spot->v * height - reach_y), (int)(spot->low[1] * height + 0.5)),
        top = int_min((int)(spot->v * height + reach_y), (int)(spot->high[1] * height + 0.5) - 1);
    for (int row = int_max(bottom, 0); left <= right && row <= int_min(top, height - 1); row++) {
        float *line = paint->pixels + 4 * (size_t)row * (size_t)width;
        will_change(devices, line + 4 * left, (size_t)(right - left + 1) * 4 * sizeof(float));
        for (int column = left; column <= right; column++) {
            double dx = reach_x > 0.0 ? (column - x) / reach_x : 0.0, dy = reach_y > 0.0 ? (row - y) / reach_y : 0.0;
            if (dx * dx + dy * dy <= 1.0)
                add_ink(line + 4 * column, ink, (float)density);
        }
    }
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
        will_change(devices, line + 4 * first, (size_t)(last - first + 1) * 4 * sizeof(float));
        for (int column = first; column <= last; column++)
            if (line[4 * column + 3] > 0.001f)
                line[4 * column + 3] *= factor;
    }
}

static double evaporation(const Devices *devices)
{
    const FieldList *top = scene_list(scene_root(devices->scene), "children");
    for (int i = 0; i < top->count; i++) {
        const SceneNode *node = scene_list_node(top, i);
        if (node && node->type && scene_node_is(node, "WorldInfo"))
            return scene_float(node, "inkEvaporation");
    }
    return 0.0;
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

// ---- drives ----

// The Track or Propeller that a motor drives; NULL: neither.
static const SceneNode *driven_by(const Device *device)
{
    const SceneNode *node = device->info.joint >= 0 ? scene_parent(device->info.node) : NULL;
    return node && (scene_node_is(node, "Track") || scene_node_is(node, "Propeller")) ? node : NULL;
}

static double drive_of(const Devices *devices, const Device *device)
{
    const SceneNode *node = driven_by(device);
    if (!node || !physics_joint_exists(devices->physics, device->info.joint))
        return 0.0;
    return scene_node_is(node, "Track")
               ? physics_joint_position(devices->physics, device->info.joint, device->info.axis)
               : physics_joint_velocity(devices->physics, device->info.joint, device->info.axis);
}

static void show_drive(Devices *devices, Device *device, double value)
{
    const SceneNode *node = driven_by(device);
    if (node)
        rays_set_drive(devices->rays, node, value);
}

// ---- bones ----

static int keep_bones(Devices *devices, int robot, int tag, Moment *moment)
{
    DeviceContext at = device_context(devices, robot, tag);
    Pose bones[MESH_BONES_MAX];
    int count = skin_bones(&at, bones);
    memory_grow(&moment->bones, &moment->bone_capacity, moment->bone_count + count, sizeof *moment->bones);
    if (count > 0)
        memcpy(moment->bones + moment->bone_count, bones, (size_t)count * sizeof *bones);
    moment->bone_count += count;
    return count;
}

static void show_bones(Devices *devices, const Moment *moment)
{
    int before = 0;
    for (int i = 0; i < devices->device_count && i < moment->lamp_count; i++)
        if (devices->devices[i].info.kind == &skin_device) {
            rays_set_bones(devices->rays, devices->devices[i].info.node, moment->bones + before, moment->lamps[i]);
            before += moment->lamps[i];
        }
}

// ---- spots ----

static void show_spots(Devices *devices, const Moment *moment)
{
    rays_clear_spots(devices->rays);
    for (int i = 0; i < moment->spot_count; i++)
        rays_add_spot(devices->rays, moment->spots[i].place, moment->spots[i].radius, vec3(1, 0, 0));
}

void show_keep(Devices *devices, Moment *moment)
{
    moment->lamp_count = devices->device_count;
    memory_grow(&moment->lamps, &moment->lamp_capacity, moment->lamp_count, sizeof *moment->lamps);
    memory_grow(&moment->drives, &moment->drive_capacity, moment->lamp_count, sizeof *moment->drives);
    if (devices->due_count == 0)
        devices->log_size = 0;
    moment->log_mark = show_mark(devices);
    moment->spot_count = moment->bone_count = 0;
    for (int robot = 0; robot < devices->robot_count; robot++)
        for (int tag = 1; tag <= devices->robots[robot].device_count; tag++) {
            const Device *device = device_at(devices, robot, tag);
            int index = devices->robots[robot].first_device + tag - 1;
            ShownSpot spot;
            moment->lamps[index] = device->info.kind == &led_device
                                       ? ((const LedState *)device_state(devices, robot, tag))->value
                                   : device->info.kind == &skin_device ? keep_bones(devices, robot, tag, moment)
                                                                       : 0;
            moment->drives[index] = drive_of(devices, device);
            if (!devices->robots[robot].is_alive || !distance_spot(devices, robot, tag, &spot))
                continue;
            memory_grow(&moment->spots, &moment->spot_capacity, moment->spot_count + 1, sizeof *moment->spots);
            moment->spots[moment->spot_count++] = spot;
        }
}

// ---- for a picture ----

void show_static(Devices *devices)
{
    for (int i = 0; i < devices->device_count; i++)
        if (devices->devices[i].info.kind == &display_device)
            show_display(devices, &devices->devices[i]);
}

void show_begin(Devices *devices, const Moment *moment)
{
    for (int i = 0; i < devices->device_count && i < moment->lamp_count; i++)
        if (devices->devices[i].info.kind == &led_device)
            show_led(devices, &devices->devices[i], moment->lamps[i]);
        else if (devices->devices[i].info.joint >= 0)
            show_drive(devices, &devices->devices[i], moment->drives[i]);
    show_bones(devices, moment);
    show_spots(devices, moment);
    undo_to(devices, moment->log_mark);
}

void show_end(Devices *devices, const Moment *moment) { redo_from(devices, moment->log_mark); }

// ---- what is hidden ----

static int eye_of(Devices *devices, const SceneNode *from)
{
    int robot, tag, most = 0;
    if (scene_node_is(from, "Viewpoint"))
        return 0;
    if (!devices_of_node(devices, from, &robot, &tag))
        return -1;
    Device *device = device_at(devices, robot, tag);
    for (int i = 0; i < devices->device_count; i++)
        most = int_max(most, devices->devices[i].eye);
    if (device->eye == 0 && most + 1 < EYE_OF_ALL)
        device->eye = most + 1;
    return device->eye > 0 ? device->eye : -1;
}

bool devices_set_visible(Devices *devices, SceneNode *node, const SceneNode *from, bool is_visible)
{
    int eye = eye_of(devices, scene_actual(from));
    if (eye < 0)
        return false;
    rays_hide(due_rays(devices), scene_actual(node), eye, !is_visible);
    return true;
}

int device_eye(const DeviceContext *at)
{
    int eye = device_at(at->devices, at->robot, at->tag)->eye;
    return eye > 0 ? eye : EYE_OF_ALL;
}

// ---- life ----

static void clear_display(Devices *devices, Device *device)
{
    size_t count = (size_t)device->layer->width * (size_t)device->layer->height;
    will_change(devices, device->screen, 4 * count);
    for (size_t i = 0; i < 4 * count; i++)
        device->canvas[i] = device->screen[i] = i % 4 == 3 ? 255 : 0;
    device->is_drawn = false;
}

static void clear_paint(Devices *devices)
{
    for (int i = 0; i < devices->paint_count; i++) {
        ShownPaint *paint = devices->paints[i];
        size_t count = 4 * (size_t)paint->paint.width * (size_t)paint->paint.height;
        will_change(devices, paint->pixels, count * sizeof(float));
        for (size_t k = 0; k < count; k++)
            paint->pixels[k] = k % 4 < 3 ? 1.0f : 0.0f;
    }
}

void show_clear(Devices *devices)
{
    for (int i = 0; i < devices->device_count; i++)
        if (devices->devices[i].is_drawn)
            clear_display(devices, &devices->devices[i]);
    clear_paint(devices);
}

const uint8_t *devices_display(const Devices *devices, int robot, int tag, int *width, int *height)
{
    const Device *device = device_at(devices, robot, tag);
    if (!device->is_drawn || !device->layer)
        return NULL;
    *width = device->layer->width;
    *height = device->layer->height;
    return device->screen;
}

void show_restore_display(Devices *devices, int index, const void *pixels)
{
    Device *device = &devices->devices[index];
    make_screen(device);
    if (!device->layer)
        return;
    size_t bytes = 4 * (size_t)device->layer->width * (size_t)device->layer->height;
    will_change(devices, device->screen, bytes);
    memcpy(device->canvas, pixels, bytes);
    memcpy(device->screen, (const char *)pixels + bytes, bytes);
    device->is_drawn = true;
}

void show_restore_paint(Devices *devices, SceneNode *shape, int width, int height, const void *pixels)
{
    ShownPaint *paint = paint_on(devices, shape, width, height);
    if (!paint || paint->paint.width != width || paint->paint.height != height)
        return;
    size_t bytes = (size_t)width * (size_t)height * 4 * sizeof(float);
    will_change(devices, paint->pixels, bytes);
    memcpy(paint->pixels, pixels, bytes);
    paint->is_wet = true;
}

// Displays stay as they are: the programs that drew on them go on.
void show_reset(Devices *devices)
{
    clear_paint(devices);
    if (devices->rays)
        rays_unhide_all(devices->rays);
}

void show_free(Devices *devices)
{
    for (int i = 0; i < devices->paint_count; i++) {
        free(devices->paints[i]->pixels);
        free(devices->paints[i]);
    }
    for (int i = 0; i < devices->device_count; i++) {
        free(devices->devices[i].canvas);
        free(devices->devices[i].screen);
        free(devices->devices[i].layer);
    }
    free(devices->paints);
    free(devices->log);
}
