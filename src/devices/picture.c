// picture.c - what cameras see, and people: one ray for each pixel, or four where edges are to be smooth; then what lens, film and
// electronics make of the light, in the order in which Webots has it: glow, focus, blur of motion, exposure, noise, mask.
#include "devices/devices_internal.h"

#include "base/memory.h"
#include "base/pool.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PICTURE_PIXELS_MAX = 1 << 21, ROWS_AT_ONCE = 4, RAYS_AT_ONCE = 64, TONES = 256 };

typedef struct Job {
    const Picture *picture;
    const Rays *rays;
    float *light;                // red, green, blue per pixel; NULL: straight to pixels
    float *depth;                // along the axis; NULL: not wanted
    uint8_t *pixels;
    Mat3 turn;                   // of the picture's pose
    double tones[TONES];         // from which light on a byte is at least i
} Job;

// ---- light becomes colour ----

static uint8_t byte_of(double color)
{
    return (uint8_t)(255.0 * double_clamp(color, 0.0, 1.0) + 0.5);
}

// Exposure and a gamma of 2.2: which byte some light gives is looked up between the lights where the byte grows.
static void tones_of(double exposure, double tones[TONES])
{
    tones[0] = 0.0;
    for (int i = 1; i < TONES; i++)
        tones[i] = -log(1.0 - pow((i - 0.5) / 255.0, 2.2)) / fmax(exposure, 1e-12);
}

static uint8_t exposed(const double tones[TONES], double light)
{
    int low = 0;
    for (int step = TONES / 2; step > 0; step /= 2)
        low += light >= tones[low + step] ? step : 0;
    return (uint8_t)low;
}

static void write_pixel(uint8_t *pixel, uint8_t red, uint8_t green, uint8_t blue)
{
    pixel[0] = blue;
    pixel[1] = green;
    pixel[2] = red;
    pixel[3] = 255;
}

// ---- rays ----

static Ray ray_through(const Picture *picture, const Mat3 *turn, double x, double y)
{
    Vec3 direction = image_direction(&picture->view, x, y);
    double slant = picture->view.projection == PLANAR ? fmax(direction.x, 1e-6) : 1.0;
    return (Ray){ picture->pose.t, mat3_apply(*turn, direction), picture->near / slant, picture->far / slant,
                  picture->spread * slant / picture->samples };
}

static bool is_visible(const Rays *rays, int visual, void *context)
{
    return !rays_is_hidden(rays, visual, ((const Picture *)context)->eye);
}

static RaysFilter filter_of(const Picture *picture, const Rays *rays)
{
    return rays_hides(rays, picture->eye) ? is_visible : NULL;
}

static void put_light(const Job *job, int column, int row, Vec3 light)
{
    size_t at = (size_t)row * (size_t)job->picture->view.width + (size_t)column;
    if (job->light) {
        float *to = job->light + 3 * at;
        to[0] = (float)light.x, to[1] = (float)light.y, to[2] = (float)light.z;
    } else {
        write_pixel(job->pixels + 4 * at, exposed(job->tones, light.x), exposed(job->tones, light.y), exposed(job->tones, light.z));
    }
}

static void take_row(const Job *job, int row)
{
    const Picture *picture = job->picture;
    int side = picture->samples, each = side * side, at_once = int_max(RAYS_AT_ONCE / each, 1);
    RaysStyle style = { .eye = picture->eye, .occlusion = picture->occlusion, .softness = picture->softness, .seed = (uint32_t)row * 9781u,
                        .is_for_people = picture->is_for_people };
    for (int first = 0; first < picture->view.width; first += at_once) {
        Ray rays[RAYS_AT_ONCE];
        RayHit hits[RAYS_AT_ONCE];
        Vec3 light[RAYS_AT_ONCE];
        int here = int_min(picture->view.width - first, at_once), count = here * each;
        for (int i = 0; i < count; i++)
            rays[i] = ray_through(picture, &job->turn, first + i / each + (i % side + 0.5) / side, row + (i % each / side + 0.5) / side);
        rays_cast(job->rays, rays, count, filter_of(picture, job->rays), (void *)picture, hits);
        style.seed += 64u;
        rays_shade(job->rays, rays, hits, count, &style, light);
        for (int i = 0; i < here; i++) {
            Vec3 sum = VEC3_ZERO;
            for (int k = 0; k < each; k++)
                sum = vec3_add(sum, light[i * each + k]);
            put_light(job, first + i, row, vec3_scale(sum, 1.0 / each));
            const RayHit *hit = &hits[i * each];
            if (job->depth)
                job->depth[(size_t)row * (size_t)picture->view.width + (size_t)(first + i)] =
                    hit->visual >= 0 ? (float)(hit->distance * image_direction(&picture->view, first + i + 0.5, row + 0.5).x) : INFINITY;
        }
    }
}

static void take_rows(int begin, int end, int worker, void *context)
{
    (void)worker;
    for (int row = begin; row < end; row++)
        take_row(context, row);
}

// ---- what lenses do ----

static int place_in(int x, int count)
{
    return int_max(int_min(x, count - 1), 0);
}

// A blur of 1 4 6 4 1 in one direction, `step` pixels apart.
static void blur_one_way(const float *from, float *to, int width, int height, int dx, int dy)
{
    static const float weights[5] = { 0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f };
    for (int row = 0; row < height; row++)
        for (int column = 0; column < width; column++) {
            float *out = to + 3 * ((size_t)row * (size_t)width + (size_t)column);
            out[0] = out[1] = out[2] = 0.0f;
            for (int k = -2; k <= 2; k++) {
                const float *in = from + 3 * ((size_t)place_in(row + k * dy, height) * (size_t)width + (size_t)place_in(column + k * dx, width));
                for (int c = 0; c < 3; c++)
                    out[c] += weights[k + 2] * in[c];
            }
        }
}

static void blur(float *image, float *scratch, int width, int height, int step)
{
    blur_one_way(image, scratch, width, height, step, 0);
    blur_one_way(scratch, image, width, height, 0, step);
}

// What is brighter than the threshold glows over its surroundings, in three widths.
static void add_bloom(float *light, int width, int height, double threshold)
{
    size_t count = 3 * (size_t)width * (size_t)height;
    float *bright = memory_alloc_array(count, sizeof *bright), *scratch = memory_alloc_array(count, sizeof *scratch);
    bool is_any = false;
    for (size_t i = 0; i < count; i += 3) {
        double luma = 0.2126 * (double)light[i] + 0.7152 * (double)light[i + 1] + 0.0722 * (double)light[i + 2];
        bool glows = luma > threshold;
        is_any |= glows;
        for (size_t c = 0; c < 3; c++)
            bright[i + c] = glows ? light[i + c] : 0.0f;
    }
    for (int step = 1; is_any && step <= 4; step *= 2) {
        blur(bright, scratch, width, height, step);
        for (size_t i = 0; i < count; i++)
            light[i] += 0.3f * bright[i];
    }
    free(bright);
    free(scratch);
}

// From -1 (nearer by the focal length) over 0 (sharp) to 1.5 (far away).
static double sharpness_lost(const Picture *picture, double depth)
{
    double away = (depth + picture->near - picture->focal_distance) / picture->focal_length;
    return fmin(away, 1.5);
}

// Each pixel gathers from a disc that grows with its distance from the focus, up to 5 pixels at one focal length; what is sharp and
// nearer does not bleed into what lies behind.
static void defocus(const Picture *picture, float *light, const float *depth)
{
    enum { TAPS = 12 };
    int width = picture->view.width, height = picture->view.height;
    size_t count = 3 * (size_t)width * (size_t)height;
    float *sharp = memory_alloc_array(count, sizeof *sharp), *soft = memory_alloc_array(count, sizeof *soft), *scratch = memory_alloc_array(count, sizeof *scratch);
    memcpy(sharp, light, count * sizeof *sharp);
    memcpy(soft, light, count * sizeof *soft);
    blur(soft, scratch, width, height, 1);
    blur(soft, scratch, width, height, 2);
    for (int row = 0; row < height; row++)
        for (int column = 0; column < width; column++) {
            size_t at = (size_t)row * (size_t)width + (size_t)column;
            double own = sharpness_lost(picture, (double)depth[at]), radius = 5.0 * fabs(own), sum[3] = { 0 }, weight = 0.0;
            for (int k = 0; k < TAPS; k++) {
                double reach = 0.5 * radius * sqrt(k / (double)TAPS), angle = 2.39996 * k;  // a sunflower's seeds
                size_t tap = (size_t)place_in(row + (int)lround(reach * sin(angle)), height) * (size_t)width +
                             (size_t)place_in(column + (int)lround(reach * cos(angle)), width);
                double lost = sharpness_lost(picture, (double)depth[tap]), share = fmin(fabs(lost), 1.0);
                double counts = lost >= 0.5 * own + 0.5 ? 1.0 : fmax(fabs(lost), 1e-6);
                for (size_t c = 0; c < 3; c++)
                    sum[c] += counts * ((double)sharp[3 * tap + c] + share * ((double)soft[3 * tap + c] - (double)sharp[3 * tap + c]));
                weight += counts;
            }
            for (size_t c = 0; c < 3; c++)
                light[3 * at + c] = (float)(sum[c] / weight);
        }
    free(sharp);
    free(soft);
    free(scratch);
}

// Ghosts of bright pixels on the line through the middle, and their glow.
static void add_flare(const Picture *picture, float *light)
{
    int width = picture->view.width, height = picture->view.height;
    size_t count = 3 * (size_t)width * (size_t)height;
    float *ghosts = memory_alloc_array(count, sizeof *ghosts), *scratch = memory_alloc_array(count, sizeof *scratch);
    for (int row = 0; row < height; row++)
        for (int column = 0; column < width; column++)
            for (int k = 1; k <= picture->flare_ghosts; k++) {
                double share = 1.0 - k * picture->flare_dispersal, x = 0.5 * width - share * (column + 0.5 - 0.5 * width), y = 0.5 * height - share * (row + 0.5 - 0.5 * height);
                if (x < 0.0 || y < 0.0 || x >= width || y >= height)
                    continue;
                const float *from = light + 3 * ((size_t)y * (size_t)width + (size_t)x);
                float *to = ghosts + 3 * ((size_t)row * (size_t)width + (size_t)column);
                for (int c = 0; c < 3; c++)
                    to[c] += (float)(picture->flare_scale * fmax((double)from[c] + picture->flare_bias, 0.0));
            }
    blur(ghosts, scratch, width, height, 1);
    blur(ghosts, scratch, width, height, 2);
    for (size_t i = 0; i < count; i++)
        light[i] += ghosts[i];
    free(ghosts);
    free(scratch);
}

// What is left of the pictures before, which must have been made.
static void trail(const Picture *picture, Device *device, float *light)
{
    int count = 3 * picture->view.width * picture->view.height;
    bool is_first = device->trail_count != count || picture->is_first;
    memory_grow(&device->trail, &device->trail_capacity, count, sizeof *device->trail);
    for (int i = 0; i < count; i++) {
        if (!is_first)
            light[i] += (float)picture->blur * (device->trail[i] - light[i]);
        device->trail[i] = light[i];
    }
    device->trail_count = count;
}

static bool needs_light(const Picture *picture)
{
    return picture->bloom >= 0.0 || picture->focal_distance > 0.0 || picture->blur > 0.0 || picture->flare_ghosts > 0;
}

// ---- electronics ----

// Each row has a noise of its own, so that rows may be made in any order.
static void add_noise(const Picture *picture, uint8_t *pixels)
{
    for (int row = 0; row < picture->view.height; row++) {
        Random random;
        random_seed(&random, picture->seed + (uint64_t)row, "row");
        for (int column = 0; column < picture->view.width; column++, pixels += 4)
            for (int c = 2; c >= 0; c--)
                pixels[c] = byte_of(pixels[c] / 255.0 + picture->noise * random_gaussian(&random));
    }
}

// An image laid over the picture at a place that is another in each picture; small ones are repeated.
static void add_mask(const Picture *picture, uint8_t *pixels)
{
    const Image *mask = picture->mask;
    double width = picture->view.width, height = picture->view.height, factor[2] = { width / mask->width, height / mask->height };
    if (mask->width < width || mask->height < height) {
        bool is_wider = mask->width - width > mask->height - height;
        factor[0] = is_wider ? width / height : 1.0;
        factor[1] = is_wider ? 1.0 : height / width;
    }
    for (int row = 0; row < picture->view.height; row++)
        for (int column = 0; column < picture->view.width; column++, pixels += 4) {
            double u = ((column + 0.5) / width + picture->mask_place[0]) * factor[0], v = ((row + 0.5) / height + picture->mask_place[1]) * factor[1];
            int x = place_in((int)((u - floor(u)) * mask->width), mask->width), y = place_in((int)((v - floor(v)) * mask->height), mask->height);
            const uint8_t *over = mask->pixels + 4 * ((size_t)y * (size_t)mask->width + (size_t)x);
            for (int c = 0; c < 3; c++)
                pixels[2 - c] = (uint8_t)(pixels[2 - c] + (over[c] - pixels[2 - c]) * over[3] / 255.0 + 0.5);
        }
}

// ---- the whole ----

static void develop(const Job *job)
{
    int count = job->picture->view.width * job->picture->view.height;
    for (int i = 0; i < count; i++) {
        const float *light = job->light + 3 * (size_t)i;
        write_pixel(job->pixels + 4 * (size_t)i, exposed(job->tones, (double)light[0]), exposed(job->tones, (double)light[1]), exposed(job->tones, (double)light[2]));
    }
}

void picture_make(const Picture *picture, const Rays *rays, struct Pool *pool, Device *device, uint8_t *pixels, float *depth)
{
    Job job = { .picture = picture, .rays = rays, .pixels = pixels, .depth = depth, .turn = mat3_from_quat(picture->pose.q) };
    size_t count = (size_t)picture->view.width * (size_t)picture->view.height;
    tones_of(picture->exposure, job.tones);
    if (needs_light(picture))
        job.light = memory_alloc_array(3 * count, sizeof *job.light);
    if (picture->focal_distance > 0.0 && !depth)
        job.depth = memory_alloc_array(count, sizeof *job.depth);
    pool_for(pool, picture->view.height, ROWS_AT_ONCE, take_rows, &job);
    if (job.light) {
        if (picture->bloom >= 0.0)
            add_bloom(job.light, picture->view.width, picture->view.height, picture->bloom);
        if (picture->flare_ghosts > 0)
            add_flare(picture, job.light);
        if (picture->focal_distance > 0.0)
            defocus(picture, job.light, job.depth);
        if (picture->blur > 0.0 && device)
            trail(picture, device, job.light);
        develop(&job);
    }
    if (picture->noise > 0.0)
        add_noise(picture, pixels);
    if (picture->mask)
        add_mask(picture, pixels);
    free(job.light);
    if (!depth)
        free(job.depth);
}

// ---- of a camera ----

bool picture_fits(const DeviceContext *at, const ImageView *view)
{
    if (view->width > 0 && view->height > 0 && (int64_t)view->width * view->height <= PICTURE_PIXELS_MAX)
        return true;
    diag_warning(at->devices->diags, at->info->node->pos, "'%s' has %d by %d pixels, of which at most %d can be seen; it sees nothing",
                 at->info->name, view->width, view->height, PICTURE_PIXELS_MAX);
    return false;
}

static const Image *mask_of(const DeviceContext *at)
{
    const SceneNode *node = at->info->node;
    const char *url = scene_string(node, "noiseMaskUrl");
    if (!*url)
        return NULL;
    ShapeSource source = { physics_scene(at->physics), physics_assets(at->physics), at->devices->diags };
    const Image *mask = shape_image(&source, node, "noiseMaskUrl", url);
    return mask && mask->pixels ? mask : NULL;
}

static void read_flare(Picture *picture, const SceneNode *flare)
{
    picture->flare_ghosts = int_min(int_max(scene_int(flare, "samples"), 0), 16);
    picture->flare_scale = scene_float(flare, "scale");
    picture->flare_bias = scene_float(flare, "bias");
    picture->flare_dispersal = scene_float(flare, "dispersal");
}

Picture picture_of(const DeviceContext *at)
{
    const SceneNode *node = at->info->node, *flare = scene_child(node, "lensFlare");
    const CameraState *state = at->state;
    double far = scene_float(node, "far"), blur_ms = scene_float(node, "motionBlur");
    Picture picture = {
        .view = image_view(node, state->field_of_view), .pose = device_pose(at), .near = scene_float(node, "near"), .far = far > 0.0 ? far : 1e6,
        .exposure = state->exposure, .noise = scene_float(node, "noise"), .samples = scene_bool(node, "antiAliasing") ? 2 : 1,
        .eye = device_eye(at), .bloom = scene_float(node, "bloomThreshold"), .occlusion = scene_float(node, "ambientOcclusionRadius"), .mask = mask_of(at),
        .blur = blur_ms > 0.0 ? pow(0.005, at->period_ms / blur_ms) : 0.0, .is_first = at->is_first,
    };
    picture.spread = picture.view.reach / int_max(picture.view.width, 1);
    if (picture.view.projection != PLANAR)
        picture.spread = picture.view.horizontal / int_max(picture.view.width, 1);
    if (picture.view.projection == PLANAR && state->focal_distance > 0.0 && state->focal_length > 0.0) {
        picture.focal_distance = state->focal_distance;
        picture.focal_length = state->focal_length;
    }
    if (flare)
        read_flare(&picture, flare);
    return picture;
}

void picture_take(DeviceContext *at)
{
    Picture picture = picture_of(at);
    if (!picture_fits(at, &picture.view))
        return;
    if (picture.noise > 0.0)
        picture.seed = random_bits(at->random);
    for (int i = 0; picture.mask && i < 2; i++)
        picture.mask_place[i] = random_uniform(at->random);
    device_due(at, 0, 4 * picture.view.width * picture.view.height, &picture, sizeof picture);
    int size;
    if (picture.blur > 0.0)
        devices_image(at->devices, at->robot, at->tag, 0, &size);  // the next one shows a part of it
    show_camera(at->devices, at->robot, at->tag);
}

// ---- segmentation ----

static void segment_rows(int begin, int end, int worker, void *context)
{
    (void)worker;
    const Job *job = context;
    const Picture *picture = job->picture;
    uint8_t *pixel = job->pixels + 4 * (size_t)begin * (size_t)picture->view.width;
    for (int row = begin; row < end; row++) {
        for (int column = 0; column < picture->view.width; column++, pixel += 4) {
            Ray ray = ray_through(picture, &job->turn, column + 0.5, row + 0.5);
            RayHit hit;
            rays_cast(job->rays, &ray, 1, filter_of(picture, job->rays), (void *)picture, &hit);
            Vec3 color = hit.visual >= 0 ? rays_recognition_color(job->rays, hit.visual) : VEC3_ZERO;
            write_pixel(pixel, byte_of(color.x), byte_of(color.y), byte_of(color.z));
        }
    }
}

// The picture of the moment, in the colours of what can be recognised.
void picture_segment(DeviceContext *at)
{
    Picture picture = picture_of(at);
    picture.samples = 1;
    if (picture_fits(at, &picture.view))
        device_due(at, IMAGE_SEGMENTED, 4 * picture.view.width * picture.view.height, &picture, sizeof picture);
}

void camera_make(DeviceContext *at, int number, const void *due, void *bytes)
{
    const Picture *picture = due;
    Job job = { .picture = picture, .rays = at->devices->rays, .pixels = bytes, .turn = mat3_from_quat(picture->pose.q) };
    if (number == IMAGE_SEGMENTED)
        pool_for(physics_pool(at->physics), picture->view.height, ROWS_AT_ONCE, segment_rows, &job);
    else
        picture_make(picture, job.rays, physics_pool(at->physics), device_at(at->devices, at->robot, at->tag), bytes, NULL);
}

// ---- for people ----

static void look(Devices *devices, const Picture *picture, uint8_t *pixels, float *depth)
{
    Rays *rays = due_rays(devices);
    Moment *moment = due_present(devices);
    show_begin(devices, moment);
    rays_place(rays, moment->solids, moment->solid_count);
    devices->looked = UINT64_MAX;
    // A picture for people may take all that the machine has: its bytes do not depend on it.
    enum { THREADS_MAX = 16 };
    struct Pool *own = physics_pool(devices->physics) ? NULL : pool_create(int_min((int)sysconf(_SC_NPROCESSORS_ONLN), THREADS_MAX));
    picture_make(picture, rays, own ? own : physics_pool(devices->physics), NULL, pixels, depth);
    pool_destroy(own);
    show_end(devices, moment);
    size_t count = (size_t)picture->view.width * (size_t)picture->view.height;
    for (size_t i = 0; i < count; i++) {
        uint8_t blue = pixels[4 * i];
        pixels[4 * i] = pixels[4 * i + 2];
        pixels[4 * i + 2] = blue;
    }
}

void devices_look(Devices *devices, const DevicesView *view, uint8_t *pixels, float *depth)
{
    Picture picture = {
        .view = image_view_of(PLANAR, view->width, view->height, view->field_of_view), .pose = view->pose, .near = view->near, .far = view->far > 0.0 ? view->far : 1e6,
        .samples = view->is_quick ? 1 : 2, .eye = 0, .exposure = view->exposure > 0.0 ? view->exposure : 1.0, .occlusion = view->is_quick ? 0.0 : view->occlusion,
        .softness = view->is_quick ? 0.0 : 0.02, .is_for_people = true, .bloom = view->bloom > 0.0 ? view->bloom : -1.0,
    };
    picture.spread = picture.view.reach / int_max(view->width, 1);
    rays_set_view(due_rays(devices), view->pose);
    look(devices, &picture, pixels, depth);
}

bool devices_look_through(Devices *devices, const SceneNode *camera, int width, int height, uint8_t *pixels, float *depth)
{
    int robot, tag;
    if (!devices_of_node(devices, camera, &robot, &tag) || devices_info(devices, robot, tag)->kind != &camera_device)
        return false;
    DeviceContext at = device_context(devices, robot, tag);
    Picture picture = picture_of(&at);
    ImageLens lens = picture.view.lens;
    picture.view = image_view_of(picture.view.projection, width, height, picture.view.horizontal);
    picture.view.lens = lens;
    picture.blur = 0.0;
    picture.seed = devices->step;  // not from the device's own stream: who looks on changes nothing
    look(devices, &picture, pixels, depth);
    return true;
}

void devices_look_counts(Devices *devices, int *shapes, int *triangles, int *textures)
{
    const Rays *rays = due_rays(devices);
    *shapes = rays_visual_count(rays);
    *triangles = rays_triangle_count(rays);
    *textures = rays_texture_count(rays);
}

bool devices_look_bounds(Devices *devices, Vec3 *low, Vec3 *high)
{
    Rays *rays = due_rays(devices);
    devices->looked = UINT64_MAX;
    rays_update(rays);
    return rays_bounds(rays, low, high);
}

Vec3 devices_look_up(Devices *devices)
{
    return rays_up(due_rays(devices));
}
