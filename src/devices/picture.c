// picture.c - what cameras see: one ray for each pixel, or four where edges are to be smooth. Light becomes colour by the camera's
// exposure and a gamma of 2.2, as in Webots.
#include "devices/devices_internal.h"

#include "base/pool.h"

enum { PICTURE_PIXELS_MAX = 1 << 21, ROWS_AT_ONCE = 4 };

typedef struct Picture {
    ImageView view;
    Pose pose;
    const Rays *rays;
    double near, far, exposure, noise;
    bool is_smooth;
    const DeviceContext *at;
    uint8_t *pixels;
} Picture;

int picture_bytes(const DeviceContext *at)
{
    int64_t width = scene_int(at->info->node, "width"), height = scene_int(at->info->node, "height");
    if (width > 0 && height > 0 && width * height <= PICTURE_PIXELS_MAX)
        return (int)(4 * width * height);
    diag_warning(at->devices->diags, at->info->node->pos, "'%s' has %d by %d pixels, of which at most %d can be seen; it sees nothing",
                 at->info->name, (int)width, (int)height, PICTURE_PIXELS_MAX);
    return 0;
}

static Picture picture_of(const DeviceContext *at, uint8_t *pixels)
{
    const SceneNode *node = at->info->node;
    const CameraState *state = at->state;
    double far = scene_float(node, "far");
    return (Picture){
        .at = at, .pixels = pixels, .view = image_view(node, state->field_of_view), .pose = device_pose(at), .rays = device_rays(at), .near = scene_float(node, "near"),
        .far = far > 0.0 ? far : 1e6, .exposure = state->exposure, .noise = scene_float(node, "noise"), .is_smooth = scene_bool(node, "antiAliasing"),
    };
}

static Ray ray_through(const Picture *picture, double x, double y)
{
    Vec3 direction = image_direction(&picture->view, x, y);
    double slant = picture->view.projection == PLANAR ? fmax(direction.x, 1e-6) : 1.0;
    return (Ray){ picture->pose.t, quat_rotate(picture->pose.q, direction), picture->near / slant, picture->far / slant };
}

static Vec3 light_through(const Picture *picture, double x, double y)
{
    Ray ray = ray_through(picture, x, y);
    RayHit hit;
    rays_cast(picture->rays, &ray, 1, NULL, NULL, &hit);
    return rays_radiance(picture->rays, &ray, &hit);
}

static Vec3 light_of_pixel(const Picture *picture, int column, int row)
{
    if (!picture->is_smooth)
        return light_through(picture, column + 0.5, row + 0.5);
    Vec3 sum = VEC3_ZERO;
    for (int k = 0; k < 4; k++)
        sum = vec3_add(sum, light_through(picture, column + 0.25 + 0.5 * (k & 1), row + 0.25 + 0.5 * (k >> 1)));
    return vec3_scale(sum, 0.25);
}

static uint8_t byte_of(double color)
{
    return (uint8_t)(255.0 * double_clamp(color, 0.0, 1.0) + 0.5);
}

static uint8_t exposed(const Picture *picture, double light)
{
    return byte_of(pow(1.0 - exp(-fmax(light, 0.0) * picture->exposure), 1.0 / 2.2));
}

static void write_pixel(uint8_t *pixel, uint8_t red, uint8_t green, uint8_t blue)
{
    pixel[0] = blue;
    pixel[1] = green;
    pixel[2] = red;
    pixel[3] = 255;
}

static void take_rows(int begin, int end, int worker, void *context)
{
    (void)worker;
    const Picture *picture = context;
    uint8_t *pixel = picture->pixels + 4 * (size_t)begin * (size_t)picture->view.width;
    for (int row = begin; row < end; row++) {
        for (int column = 0; column < picture->view.width; column++, pixel += 4) {
            Vec3 light = light_of_pixel(picture, column, row);
            write_pixel(pixel, exposed(picture, light.x), exposed(picture, light.y), exposed(picture, light.z));
        }
    }
}

// After the rows, in their order: the stream of a camera's noise has one.
static void add_noise(const Picture *picture, Random *random)
{
    for (int i = 0; i < 4 * picture->view.width * picture->view.height; i++)
        if (i % 4 < 3)
            picture->pixels[i] = byte_of(picture->pixels[i] / 255.0 + picture->noise * random_gaussian(random));
}

void picture_take(DeviceContext *at)
{
    int bytes = picture_bytes(at);
    if (!bytes)
        return;
    Picture picture = picture_of(at, device_image(at, 0, bytes));
    pool_for(physics_pool(at->physics), picture.view.height, ROWS_AT_ONCE, take_rows, &picture);
    if (picture.noise > 0.0)
        add_noise(&picture, at->random);
}

// ---- segmentation ----

// The first of the colours of the solid that was hit, or of the nearest above that has some; black without.
static Vec3 color_of_solid(const DeviceContext *at, int solid)
{
    for (; solid >= 0; solid = physics_solid_parent(at->physics, solid)) {
        const FieldList *colors = scene_list(physics_solid_node(at->physics, solid), "recognitionColors");
        if (colors->count > 0)
            return vec3(colors->numbers[0], colors->numbers[1], colors->numbers[2]);
    }
    return VEC3_ZERO;
}

static void segment_rows(int begin, int end, int worker, void *context)
{
    (void)worker;
    const Picture *picture = context;
    uint8_t *pixel = picture->pixels + 4 * (size_t)begin * (size_t)picture->view.width;
    for (int row = begin; row < end; row++) {
        for (int column = 0; column < picture->view.width; column++, pixel += 4) {
            Ray ray = ray_through(picture, column + 0.5, row + 0.5);
            RayHit hit;
            rays_cast(picture->rays, &ray, 1, NULL, NULL, &hit);
            Vec3 color = hit.visual >= 0 ? color_of_solid(picture->at, hit.solid) : VEC3_ZERO;
            write_pixel(pixel, byte_of(color.x), byte_of(color.y), byte_of(color.z));
        }
    }
}

void picture_segment(DeviceContext *at, uint8_t *pixels)
{
    Picture picture = picture_of(at, pixels);
    pool_for(physics_pool(at->physics), picture.view.height, ROWS_AT_ONCE, segment_rows, &picture);
}
