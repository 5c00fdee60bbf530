// see.c - from rays to the light that comes along them: search, the surfaces that were met, their light, fog, what
// shines through. Eight rays at a time, as neighbours meet much the same.
#include "rays/rays_internal.h"

#include <string.h>

enum { LAYERS_MAX = 8 };  // of transparent surfaces, one behind the other

static void set3_of(float to[3], Vec3 v) { to[0] = (float)v.x, to[1] = (float)v.y, to[2] = (float)v.z; }

// A bare floor of some size shows squares to people, for scale and direction; they fade where a pixel covers several.
static void add_squares(const Rays *rays, const Ray *query, const Visual *visual, float distance, Vec3 point, Lit *lit,
                        int lane)
{
    double side = visual->squares;
    Vec3 up = rays->lighting.up, normal = vec3((double)lit->geometric[0][lane], (double)lit->geometric[1][lane],
                                               (double)lit->geometric[2][lane]);
    double rises = vec3_dot(normal, up);
    if (!(side > 0.0) || rises <= 0.0 || rises * rises < 0.998 * vec3_length2(normal))
        return;
    double falls = -vec3_dot(query->direction, up), y = up.z > 0.0 ? point.y : point.z;
    double covered = (double)distance * query->spread / (falls > 0.01 ? falls : 0.01) / side;
    int64_t square = (int64_t)floor(point.x / side) + (int64_t)floor(y / side);
    double fade = 1.0 / (1.0 + 4.0 * covered * covered);
    for (int c = 0; c < 3; c++)
        lit->base[c][lane] *= (float)(1.0 - (0.12 + (square & 1 ? 0.12 : -0.12) * fade));
}

static void add_spots(const Rays *rays, const Lit *lit, int lane, RaySeen *seen)
{
    Vec3 point = vec3((double)lit->point[0][lane], (double)lit->point[1][lane], (double)lit->point[2][lane]);
    for (int i = 0; i < rays->dot_count; i++) {
        const Dot *dot = &rays->dots[i];
        if (vec3_distance(point, dot->place) > dot->radius)
            continue;
        Vec3 light = vec3_mul(dot->color, vec3_add(rays->lighting.ambient, vec3(1, 1, 1)));
        set3_of(seen->light, light);
        set3_of(seen->full, light);
    }
}

static void add_fog(const Lighting *lighting, RaySeen *seen)
{
    double depth = (double)seen->distance / lighting->fog_range;
    double clear = lighting->fog_power == 0 ? fmax(1.0 - depth, 0.0)
                                            : exp2(-(lighting->fog_power == 1 ? depth : depth * depth));
    float share = (float)pow(1.0 - clear, 2.2);
    const float fog[3] = { (float)lighting->fog.x, (float)lighting->fog.y, (float)lighting->fog.z };
    for (int c = 0; c < 3; c++) {
        seen->light[c] = (1.0f - share) * seen->light[c] + share * fog[c];
        seen->full[c] = (1.0f - share) * seen->full[c] + share * fog[c];
    }
}

// ---- surfaces ----

static void set3(float to[3][LANES], int lane, Vec3 v)
{
    to[0][lane] = (float)v.x, to[1][lane] = (float)v.y, to[2][lane] = (float)v.z;
}

// As surface_at has it, for looks without images, parts and paint.
static void set_plain_surface(Lit *lit, int lane, const Look *look)
{
    set3(lit->base, lane, look->linear);
    set3(lit->emissive, lane, vec3_scale(look->emissive, look->emissive_intensity));
    if (!look->is_physical) {
        set3(lit->specular, lane, look->specular);
        set3(lit->ambient, lane, look->ambient);
        lit->exponent[lane] = (float)look->exponent;
    }
    lit->roughness[lane] = (float)look->roughness;
    lit->metalness[lane] = (float)look->metalness;
    lit->occlusion[lane] = 1.0f;
    lit->background_share[lane] = (float)look->background_share;
}

static void set_surface(Lit *lit, int lane, const Surface *surface)
{
    set3(lit->base, lane, surface->base);
    set3(lit->emissive, lane, surface->emissive);
    set3(lit->specular, lane, surface->specular);
    set3(lit->ambient, lane, surface->ambient);
    set3(lit->normal, lane, surface->normal);
    lit->exponent[lane] = (float)surface->exponent;
    lit->roughness[lane] = (float)surface->roughness;
    lit->metalness[lane] = (float)surface->metalness;
    lit->occlusion[lane] = (float)surface->occlusion;
    lit->background_share[lane] = (float)surface->background_share;
}

// Normals go by the transposed inverse.
static void set_normal(float to[3][LANES], int lane, const float *inverse, float x, float y, float z)
{
    float a = inverse[0] * x + inverse[3] * y + inverse[6] * z, b = inverse[1] * x + inverse[4] * y + inverse[7] * z,
          c = inverse[2] * x + inverse[5] * y + inverse[8] * z;
    to[0][lane] = a, to[1][lane] = b, to[2][lane] = c;
}

static void set_triangle_normals(const Rays *rays, Lit *lit, int lane, const Visual *visual, const Found *found)
{
    const Mesh *mesh = rays->meshes[visual->mesh].mesh;
    set_normal(lit->geometric, lane, visual->inverse_float, found->normal[0][lane], found->normal[1][lane],
               found->normal[2][lane]);
    if (!mesh->normals) {
        for (int i = 0; i < 3; i++)
            lit->normal[i][lane] = lit->geometric[i][lane];
        return;
    }
    const float *n = mesh->normals + 9 * (size_t)found->triangle[lane];
    float b = found->b[lane], c = found->c[lane], a = 1.0f - b - c;
    set_normal(lit->normal, lane, visual->inverse_float, a * n[0] + b * n[3] + c * n[6], a * n[1] + b * n[4] + c * n[7],
               a * n[2] + b * n[5] + c * n[8]);
}

// Whether the details of a hit matter.
static bool is_simple(const Visual *visual)
{
    return !visual->look.is_textured && !visual->look.has_parts && !visual->paint && visual->form.stroke_count == 0;
}

// Neighbours get values that are far apart: what is left of the error is finer than what the eye resolves.
static void set_places(Lit *lit, int lane, const RaysStyle *style, int ray)
{
    assert_debug(ray >= 0 && lane >= 0 && lane < LANES);
    int per_pixel = int_max(style->per_pixel, 1);
    double x = style->pixels ? style->pixels[ray / per_pixel][0] : ray / per_pixel,
           y = style->pixels ? style->pixels[ray / per_pixel][1] : 0;
    double slope = 0.06711056 * x + 0.00583715 * y, mixed = 52.9829189 * (slope - floor(slope));
    double other = 0.7548776662466927 * x + 0.5698402909980532 * y;
    lit->turn[lane] = (float)(mixed - floor(mixed));
    lit->share[lane] = (float)(other - floor(other));
    lit->before[lane] = (float)(ray % per_pixel);
}

typedef struct Batch {
    const Rays *rays;
    const RaysStyle *style;
    const Ray *queries;
    const int *numbers;  // of the rays among those of the style
    int count, layer;
    bool is_flat;  // the rays of a block of a flat picture
    Found found;
    Lit lit;
    float passes[LANES];  // transparency
} Batch;

// A mesh of one plain look needs no exact hit, which is most of what is seen: its normals come straight from the
// search.
static void set_lane(Batch *batch, int lane)
{
    assert_debug(lane >= 0 && lane < batch->count && batch->found.visual[lane] >= 0);
    const Found *found = &batch->found;
    const Ray *query = &batch->queries[lane];
    const Visual *visual = &batch->rays->visuals[found->visual[lane]];
    Lit *lit = &batch->lit;
    lit->is_lit[lane] = -1;
    lit->is_physical[lane] = visual->look.is_physical ? -1 : 0;
    lit->is_overlay[lane] = visual->is_overlay ? -1 : 0;
    Vec3 point = vec3_mad(query->origin, query->direction, (double)found->distance[lane]);
    set3(lit->point, lane, point);
    set3(lit->eye, lane, vec3_neg(query->direction));
    batch->passes[lane] = (float)visual->look.transparency;
    if (found->triangle[lane] >= 0 && is_simple(visual)) {
        set_triangle_normals(batch->rays, lit, lane, visual, found);
        set_plain_surface(lit, lane, &visual->look);
    } else {
        RayHit hit = rays_hit_of(batch->rays, query, found, lane);
        set3(lit->geometric, lane, hit.normal);
        set3(lit->normal, lane, hit.smooth);
        if (is_simple(visual)) {
            set_plain_surface(lit, lane, &visual->look);
        } else {
            Surface surface = surface_at(batch->rays, query, &hit);
            set_surface(lit, lane, &surface);
            batch->passes[lane] = (float)surface.transparency;
        }
    }
    if (batch->style->is_for_people)
        add_squares(batch->rays, query, visual, found->distance[lane], point, lit, lane);
    if (batch->style->occlusion > 0.0 || batch->style->softness > 0.0)
        set_places(lit, lane, batch->style, batch->numbers[lane]);
}

// ---- the whole ----

static bool is_visible(const Rays *rays, int visual, void *context)
{
    return !rays_is_hidden(rays, visual, ((const RaysStyle *)context)->eye);
}

static void see_batch(Batch *batch, RaySeen *seen);

// What is seen behind surfaces through which some light passes.
static void add_light_behind(const Batch *batch, RaySeen *seen)
{
    Ray onwards[LANES];
    RaySeen behind[LANES];
    int lanes[LANES], numbers[LANES], count = 0;
    for (int i = 0; i < batch->count; i++)
        if (seen[i].visual >= 0 && batch->passes[i] > 0.0f) {
            onwards[count] = batch->queries[i];
            onwards[count].near = (double)batch->found.distance[i] * (1.0 + 1e-6) + 1e-6;
            numbers[count] = batch->numbers[i];
            lanes[count++] = i;
        }
    if (count == 0)
        return;
    Batch next = { .rays = batch->rays,
                   .style = batch->style,
                   .queries = onwards,
                   .numbers = numbers,
                   .count = count,
                   .layer = batch->layer + 1 };
    see_batch(&next, behind);
    for (int i = 0; i < count; i++)
        for (int c = 0; c < 3; c++) {
            float passes = fminf(batch->passes[lanes[i]], 1.0f);
            RaySeen *to = &seen[lanes[i]];
            to->light[c] = (1.0f - passes) * to->light[c] + passes * behind[i].light[c];
            to->full[c] = (1.0f - passes) * to->full[c] + passes * behind[i].full[c];
        }
}

static void see_sky(const Batch *batch, int lane, RaySeen *seen)
{
    const Lighting *lighting = &batch->rays->lighting;
    Vec3 direction = batch->queries[lane].direction;
    *seen = (RaySeen){ .visual = -1, .distance = INFINITY };
    Vec3 light = batch->style->is_for_people ? sky_for_people(lighting, direction) : sky_seen(lighting, direction);
    set3_of(seen->light, light);
    set3_of(seen->full, light);
}

static void see_surface(const Batch *batch, int lane, RaySeen *seen)
{
    assert_debug(batch->found.visual[lane] >= 0 && batch->found.visual[lane] < batch->rays->visual_count);
    const Lit *lit = &batch->lit;
    seen->visual = batch->found.visual[lane];
    seen->distance = batch->found.distance[lane];
    seen->is_textured = batch->rays->visuals[seen->visual].look.is_textured;
    for (int c = 0; c < 3; c++) {
        seen->normal[c] = lit->geometric[c][lane];
        seen->light[c] = lit->sum[c][lane];
        seen->full[c] = lit->full[c][lane];
    }
    if (batch->rays->dot_count > 0)
        add_spots(batch->rays, lit, lane, seen);
    if (batch->rays->lighting.fog_range > 0.0)
        add_fog(&batch->rays->lighting, seen);
}

// Eight rays at a time through search, shading and what is behind glass; lanes without a hit are masked, so that the
// wide loops have no branches.
static void see_batch(Batch *batch, RaySeen *seen)
{
    assert_debug(batch->count > 0 && batch->layer <= LAYERS_MAX);
    const Rays *rays = batch->rays;
    const RaysStyle *style = batch->style;
    bool is_any = false;
    assert(batch->count <= LANES);
    if (batch->is_flat)
        raster_search(rays, batch->queries, style->pixels, batch->count, &batch->found);
    else
        rays_search(rays, batch->queries, batch->count, rays_hides(rays, style->eye) ? is_visible : NULL, (void *)style,
                    &batch->found);
    batch->lit.per_pixel = int_max(style->per_pixel, 1);
    for (int i = 0; i < LANES; i++) {
        batch->lit.is_lit[i] = 0;
        if (i >= batch->count || batch->found.visual[i] < 0 || batch->layer >= LAYERS_MAX)
            continue;
        set_lane(batch, i);
        is_any = true;
    }
    if (is_any)
        rays->shade(rays, &batch->lit, style);
    for (int i = 0; i < batch->count; i++)
        if (batch->lit.is_lit[i])
            see_surface(batch, i, &seen[i]);
        else
            see_sky(batch, i, &seen[i]);
    add_light_behind(batch, seen);
}

void rays_see(const Rays *rays, const Ray *queries, int count, const RaysStyle *style, RaySeen *seen)
{
    assert_debug(style && (count == 0 || (queries && seen)));
    Batch batch = { .rays = rays, .style = style };  // lanes without a surface hold zeros or what was there: never more
    for (int first = 0; first < count; first += LANES) {
        int numbers[LANES];
        for (int i = 0; i < LANES; i++)
            numbers[i] = first + i;
        batch.queries = queries + first;
        batch.numbers = numbers;
        batch.count = int_min(count - first, LANES);
        see_batch(&batch, seen + first);
    }
}

// ---- blocks of flat pictures ----

static void put_lane(RaysBlock *to, int lane, const RaySeen *seen)
{
    assert_debug(lane >= 0 && lane < LANES);
    to->visual[lane] = seen->visual;
    to->distance[lane] = seen->distance;
    to->is_textured[lane] = seen->is_textured;
    for (int c = 0; c < 3; c++) {
        to->normal[c][lane] = seen->normal[c];
        to->light[c][lane] = seen->light[c];
        to->full[c][lane] = seen->full[c];
    }
}

// The pixels of a block that lie in the picture; returns how many.
static int block_pixels(const Rays *rays, int column, int row, int pixels[LANES][2], int lanes[LANES])
{
    int width, height, count = 0;
    raster_size(rays, &width, &height);
    for (int i = 0; i < LANES; i++) {
        int x = column + i % RAYS_BLOCK_WIDTH, y = row + i / RAYS_BLOCK_WIDTH;
        if (x >= width || y >= height)
            continue;
        pixels[count][0] = x, pixels[count][1] = y;
        lanes[count++] = i;
    }
    return count;
}

// Ray by ray, where neighbours see different things.
static void see_mixed_block(const Rays *rays, int column, int row, const RaysStyle *style, RaysBlock *seen)
{
    static const int numbers[LANES] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    int pixels[LANES][2], lanes[LANES], count = block_pixels(rays, column, row, pixels, lanes);
    Ray queries[LANES];
    RaySeen single[LANES];
    RaysStyle own = *style;
    own.pixels = (const int(*)[2])pixels;
    own.per_pixel = 1;
    for (int i = 0; i < count; i++)
        queries[i] = raster_ray(rays, pixels[i][0], pixels[i][1]);
    Batch batch = {
        .rays = rays, .style = &own, .queries = queries, .numbers = numbers, .count = count, .is_flat = true
    };
    see_batch(&batch, single);
    for (int i = 0; i < count; i++)
        put_lane(seen, lanes[i], &single[i]);
}

static bool is_sky_plain(const Rays *rays, const RaysStyle *style)
{
    return !rays->lighting.cube.is_there && (rays->lighting.has_background || !style->is_for_people);
}

static void see_plain_sky(const Rays *rays, RaysBlock *seen)
{
    RaySeen sky = { .visual = -1, .distance = INFINITY };
    set3_of(sky.light, rays->lighting.sky);
    set3_of(sky.full, rays->lighting.sky);
    for (int i = 0; i < LANES; i++)
        put_lane(seen, i, &sky);
}

// What is done ray by ray in a plain block too.
static void finish_plain_block(const Rays *rays, int column, int row, const RaysStyle *style, int visual,
                               const float distances[LANES], Lit *lit)
{
    assert_debug(visual >= 0 && visual < rays->visual_count);
    int pixels[LANES][2];
    RaysStyle own = *style;
    bool is_soft = style->occlusion > 0.0 || style->softness > 0.0,
         has_squares = style->is_for_people && rays->visuals[visual].squares > 0.0;
    own.pixels = (const int(*)[2])pixels;
    own.per_pixel = lit->per_pixel = 1;
    for (int i = 0; i < LANES && (is_soft || has_squares); i++) {
        pixels[i][0] = column + i % RAYS_BLOCK_WIDTH, pixels[i][1] = row + i / RAYS_BLOCK_WIDTH;
        if (is_soft)
            set_places(lit, i, &own, i);
        if (!has_squares)
            continue;
        Ray ray = raster_ray(rays, pixels[i][0], pixels[i][1]);
        Vec3 point = vec3_mad(ray.origin, ray.direction, (double)distances[i]);
        add_squares(rays, &ray, &rays->visuals[visual], distances[i], point, lit, i);
    }
}

static int kind_of_block(const Rays *rays, int column, int row, Lit *lit, RaysBlock *seen)
{
    assert_debug(rays->raster);
    assert(column % RAYS_BLOCK_WIDTH == 0 && row % RAYS_BLOCK_HEIGHT == 0);
    return rays->dot_count > 0 || rays->lighting.fog_range > 0.0
               ? BLOCK_MIXED
               : rays->block(rays, column / RAYS_BLOCK_WIDTH, row / RAYS_BLOCK_HEIGHT, lit, seen);
}

void rays_see_block(const Rays *rays, int column, int row, const RaysStyle *style, RaysBlock *seen)
{
    Lit lit;
    int kind = kind_of_block(rays, column, row, &lit, seen);
    if (kind == BLOCK_MIXED || (kind == BLOCK_SKY && !is_sky_plain(rays, style))) {
        see_mixed_block(rays, column, row, style, seen);
        return;
    }
    if (kind == BLOCK_SKY) {
        see_plain_sky(rays, seen);
        return;
    }
    finish_plain_block(rays, column, row, style, seen->visual[0], seen->distance, &lit);
    rays->shade(rays, &lit, style);
    memcpy(seen->normal, lit.geometric, sizeof seen->normal);
    memcpy(seen->light, lit.sum, sizeof seen->light);
    memcpy(seen->full, lit.full, sizeof seen->full);
}

void rays_find_block(const Rays *rays, int column, int row, int visuals[RAYS_BLOCK])
{
    int pixels[LANES][2], lanes[LANES], count = block_pixels(rays, column, row, pixels, lanes);
    Ray queries[LANES];
    Found found;
    RaysBlock seen;
    Lit lit;
    int kind = kind_of_block(rays, column, row, &lit, &seen);
    for (int i = 0; i < LANES; i++)
        visuals[i] = kind == BLOCK_PLAIN ? seen.visual[0] : -1;
    if (kind != BLOCK_MIXED)
        return;
    for (int i = 0; i < count; i++)
        queries[i] = raster_ray(rays, pixels[i][0], pixels[i][1]);
    raster_search(rays, queries, (const int(*)[2])pixels, count, &found);
    for (int i = 0; i < count; i++)
        visuals[lanes[i]] = found.visual[i];
}
