// sky.c - what is seen where nothing is: a colour, or six images; and the light that the surroundings send to physical
// surfaces.
#include "rays/rays_internal.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { RIGHT, LEFT, TOP, BOTTOM, FRONT, BACK, FACES };
static const char *const face_names[FACES] = { "right", "left", "top", "bottom", "front", "back" };

// The light that the main view's exposure turns into this colour.
static double before_exposure(double color, double exposure)
{
    double max = 1.0 - 1e-9;
    return -log(1.0 - fmin(pow(color, 2.2), max)) / fmax(exposure, 1e-9);
}

static double main_exposure(const Rays *rays)
{
    const FieldList *top = scene_list(scene_root(physics_scene(rays->physics)), "children");
    for (int i = 0; i < top->count; i++) {
        const SceneNode *node = scene_list_node(top, i);
        if (node && node->type && scene_node_is(node, "Viewpoint"))
            return scene_float(node, "exposure");
    }
    return 1.0;
}

// ---- six images ----

bool sky_is_z_up(const Rays *rays)
{
    const FieldList *top = scene_list(scene_root(physics_scene(rays->physics)), "children");
    for (int i = 0; i < top->count; i++) {
        const SceneNode *node = scene_list_node(top, i);
        if (node && node->type && scene_node_is(node, "WorldInfo"))
            return !strcmp(scene_string(node, "coordinateSystem"), "ENU");
    }
    return true;
}

// The front image stands towards -x where z is up, else towards -z.
static void set_axes(const Rays *rays, SkyCube *cube)
{
    bool is_z_up = sky_is_z_up(rays);
    cube->up = is_z_up ? vec3(0, 0, 1) : vec3(0, 1, 0);
    cube->front = is_z_up ? vec3(-1, 0, 0) : vec3(0, 0, -1);
    cube->right = vec3_cross(cube->front, cube->up);
}

static void copy_face(const Image *image, float *to, double gamma)
{
    assert_debug(image->light || image->pixels);
    enum { LIGHT_MAX = 25 };
    size_t count = 3 * (size_t)image->width * (size_t)image->height;
    for (size_t i = 0; i < count; i++)
        to[i] = image->light ? fminf(image->light[i], LIGHT_MAX)
                             : (float)pow(image->pixels[i / 3 * 4 + i % 3] / 255.0, gamma);
}

static void halve_faces(SkyCube *cube, int level)
{
    assert_debug(level > 0 && level < MIP_LEVELS_MAX && cube->levels[level - 1] && !cube->levels[level]);
    int side = cube->side >> (level - 1), half = side / 2;
    cube->levels[level] = memory_alloc_array((size_t)FACES * (size_t)half * (size_t)half, 3 * sizeof(float));
    for (int face = 0; face < FACES; face++)
        for (int row = 0; row < half; row++)
            for (int column = 0; column < half; column++)
                for (int c = 0; c < 3; c++) {
                    const float *from =
                        cube->levels[level - 1]
                        + 3 * (((size_t)face * (size_t)side + 2 * (size_t)row) * (size_t)side + 2 * (size_t)column) + c;
                    cube->levels[level]
                                [3 * (((size_t)face * (size_t)half + (size_t)row) * (size_t)half + (size_t)column)
                                 + (size_t)c] = 0.25f * (from[0] + from[3] + from[3 * side] + from[3 * side + 3]);
                }
}

static void free_cube(SkyCube *cube)
{
    for (int i = 0; i < cube->level_count; i++)
        free(cube->levels[i]);
    *cube = (SkyCube){ 0 };
}

// All six or none; of one size, square, which is said when it is not so.
static bool find_images(Rays *rays, const ShapeSource *source, const SceneNode *node, const char *suffix,
                        const Image *images[FACES])
{
    char field[40];
    for (int i = 0; i < FACES; i++) {
        snprintf(field, sizeof field, "%s%s", face_names[i], suffix);
        const FieldList *urls = scene_list(node, field);
        if (urls->count == 0 || !urls->strings[0][0])
            return false;
        images[i] = shape_image(source, node, field, urls->strings[0]);
        if (!images[i])
            return false;
        if (images[i]->width != images[i]->height || images[i]->width != images[0]->width) {
            diag_warning(rays->diags, scene_field_pos(node, field),
                         "the images of a background must be square and of one size; this one has %d by %d pixels",
                         images[i]->width, images[i]->height);
            return false;
        }
    }
    return true;
}

static void read_cube(Rays *rays, const ShapeSource *source, const SceneNode *node, const char *suffix, double gamma,
                      SkyCube *cube)
{
    const Image *images[FACES];
    bool is_there = find_images(rays, source, node, suffix, images);
    if (is_there && cube->is_there && !memcmp(images, cube->images, sizeof images))
        return;  // as at the last listing
    free_cube(cube);
    if (!is_there)
        return;
    memcpy(cube->images, images, sizeof images);
    set_axes(rays, cube);
    cube->side = images[0]->width;
    size_t count = 3 * (size_t)cube->side * (size_t)cube->side;
    cube->levels[0] = memory_alloc_array(FACES * count, sizeof(float));
    for (int i = 0; i < FACES; i++)
        copy_face(images[i], cube->levels[0] + (size_t)i * count, gamma);
    for (cube->level_count = 1; cube->level_count < MIP_LEVELS_MAX && (cube->side >> cube->level_count) >= 1;
         cube->level_count++)
        halve_faces(cube, cube->level_count);
    cube->is_there = true;
}

// The face that a direction meets, and where: u to the right, v upwards, as the image is looked at from inside.
static int face_at(const SkyCube *cube, Vec3 d, double *u, double *v)
{
    double f = vec3_dot(d, cube->front), r = vec3_dot(d, cube->right), h = vec3_dot(d, cube->up);
    int face;
    double x, y, depth;
    if (fabs(h) >= fabs(f) && fabs(h) >= fabs(r))
        face = h > 0 ? TOP : BOTTOM, depth = fabs(h), x = r, y = h > 0 ? -f : f;
    else if (fabs(f) >= fabs(r))
        face = f > 0 ? FRONT : BACK, depth = fabs(f), x = f > 0 ? r : -r, y = h;
    else
        face = r > 0 ? RIGHT : LEFT, depth = fabs(r), x = r > 0 ? -f : f, y = h;
    *u = 0.5 + 0.5 * x / depth;
    *v = 0.5 + 0.5 * y / depth;
    return face;
}

static Vec3 face_texel(const SkyCube *cube, int level, int face, double u, double v)
{
    assert_debug(level >= 0 && level < cube->level_count && face >= 0 && face < FACES);
    int side = cube->side >> level;
    double x = u * side - 0.5, y = (1.0 - v) * side - 0.5, fx = x - floor(x), fy = y - floor(y);
    Vec3 sum = VEC3_ZERO;
    for (int k = 0; k < 4; k++) {
        int column = int_max(int_min((int)floor(x) + (k & 1), side - 1), 0),
            row = int_max(int_min((int)floor(y) + (k >> 1), side - 1), 0);
        const float *p = cube->levels[level]
                         + 3 * (((size_t)face * (size_t)side + (size_t)row) * (size_t)side + (size_t)column);
        sum = vec3_mad(sum, vec3((double)p[0], (double)p[1], (double)p[2]),
                       (k & 1 ? fx : 1.0 - fx) * (k >> 1 ? fy : 1.0 - fy));
    }
    return sum;
}

Vec3 cube_at(const SkyCube *cube, Vec3 direction, double level)
{
    assert_debug(cube->level_count > 0);
    double u, v;
    int face = face_at(cube, direction, &u, &v);
    level = double_clamp(level, 0.0, cube->level_count - 1);
    int lower = (int)level;
    double share = level - lower;
    Vec3 texel = face_texel(cube, lower, face, u, v);
    if (share <= 0.0)
        return texel;
    return vec3_add(vec3_scale(texel, 1.0 - share), vec3_scale(face_texel(cube, lower + 1, face, u, v), share));
}

// ---- the whole ----

void sky_read(Rays *rays, const ShapeSource *source, const SceneNode *background)
{
    Lighting *lighting = &rays->lighting;
    const FieldList *colors = scene_list(background, "skyColor");
    Vec3 color = colors->count > 0 ? vec3(colors->numbers[0], colors->numbers[1], colors->numbers[2]) : VEC3_ZERO;
    double exposure = main_exposure(rays);
    lighting->has_background = true;
    lighting->luminosity = scene_float(background, "luminosity");
    lighting->sky = vec3(before_exposure(color.x, exposure), before_exposure(color.y, exposure),
                         before_exposure(color.z, exposure));
    lighting->sky_light = color;  // as it is, as in Webots
    read_cube(rays, source, background, "Url", 2.0, &lighting->cube);
    read_cube(rays, source, background, "IrradianceUrl", 2.2, &lighting->irradiance);
}

void sky_free(Lighting *lighting)
{
    free_cube(&lighting->cube);
    free_cube(&lighting->irradiance);
}

Vec3 sky_seen(const Lighting *lighting, Vec3 direction)
{
    return lighting->cube.is_there ? cube_at(&lighting->cube, direction, 0.0) : lighting->sky;
}

Vec3 sky_for_people(const Lighting *lighting, Vec3 direction)
{
    static const Vec3 zenith = { 0.42, 0.60, 0.86 }, horizon = { 0.84, 0.89, 0.94 }, ground = { 0.58, 0.57, 0.55 };
    if (lighting->has_background)
        return sky_seen(lighting, direction);
    double height = vec3_dot(direction, lighting->up), share = height > 0.0 ? sqrt(height) : fmin(-6.0 * height, 1.0);
    Vec3 to = height > 0.0 ? zenith : ground, color = vec3_add(vec3_scale(horizon, 1.0 - share), vec3_scale(to, share));
    return vec3(before_exposure(color.x, 1.0), before_exposure(color.y, 1.0), before_exposure(color.z, 1.0));
}
