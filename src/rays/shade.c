// shade.c - what eight surfaces send back of the light that falls on them. Physical appearances follow the metal and
// roughness model (Lambert, GGX, Smith, Schlick, the split sum for the surroundings), others the light model of VRML.
// As in Webots the matt share of a physical appearance grows with the square of a light's intensity. Compiled twice,
// see shade_avx2.c; both give the same bits.
#include "rays/rays_internal.h"
#include "rays/wide.h"

#ifndef SHADE_VARIANT
#define SHADE_VARIANT shade_portable
#endif

// The surfaces as the light meets them.
typedef struct Meeting {
    V8 point, geometric, normal, eye;
    V8 base, matt, straight;  // matt: colour of the diffuse share; straight: what is mirrored at a right angle
    F8 max;                   // what is mirrored at a grazing angle
    F8 n_v, alpha2, smith_v;
    I8 is_physical, is_lit;
    V8 from;       // where rays to lights start
    V8 sum, full;  // with and without what stands in the way
} Meeting;

static F8 smith_root(F8 cosine, F8 alpha2) { return f8_sqrt(alpha2 + (1.0f - alpha2) * cosine * cosine); }

static Meeting meeting_of(const Lit *lit)
{
    static const float plain = 0.04f;  // what is mirrored by all that is no metal
    Meeting at = { .point = v8_load(lit->point),
                   .geometric = v8_normalized(v8_load(lit->geometric)),
                   .normal = v8_normalized(v8_load(lit->normal)),
                   .eye = v8_load(lit->eye),
                   .base = v8_load(lit->base),
                   .is_physical = i8_load(lit->is_physical),
                   .is_lit = i8_load(lit->is_lit) };
    F8 rough = f8_clamp(f8_load(lit->roughness), 0.04f, 1.0f), alpha = rough * rough,
       metal = f8_clamp(f8_load(lit->metalness), 0.0f, 1.0f), other = 1.0f - metal;
    at.matt = v8_scale(at.base, (1.0f - plain) * other);
    at.straight = (V8){ plain * other + at.base.x * metal, plain * other + at.base.y * metal,
                        plain * other + at.base.z * metal };
    at.max = f8_min(25.0f * f8_max(at.straight.x, f8_max(at.straight.y, at.straight.z)), f8(1.0f));
    at.alpha2 = alpha * alpha;
    at.n_v = f8_abs(v8_dot(at.normal, at.eye)) + 1e-4f;
    at.smith_v = at.n_v + smith_root(at.n_v, at.alpha2);
    // Far from the origin single precision is coarser than the gap that keeps a surface out of its own shadow.
    F8 size = f8_max(f8_max(f8_abs(at.point.x), f8_abs(at.point.y)), f8_abs(at.point.z));
    at.from = v8_mad(at.point, at.geometric, f8_max(f8(SHADOW_GAP), 4e-7f * size));
    return at;
}

// ---- one light ----

// Schlick: all is mirrored at a grazing angle, but where next to nothing is mirrored at a right one.
static V8 physical_light(const Meeting *at, V8 towards, float intensity)
{
    V8 half = v8_normalized(v8_add(towards, at->eye));
    F8 n_l = f8_clamp(v8_dot(at->normal, towards), 1e-4f, 1.0f), n_h = f8_clamp(v8_dot(at->normal, half), 0.0f, 1.0f),
       v_h = f8_clamp(v8_dot(at->eye, half), 0.0f, 1.0f);
    F8 rest = 1.0f - v_h, rest2 = rest * rest, rest5 = rest2 * rest2 * rest;
    V8 mirrored = { at->straight.x + (at->max - at->straight.x) * rest5,
                    at->straight.y + (at->max - at->straight.y) * rest5,
                    at->straight.z + (at->max - at->straight.z) * rest5 };
    F8 f = n_h * n_h * (at->alpha2 - 1.0f) + 1.0f;
    F8 gloss = at->alpha2 / ((float)M_PI * f * f * (n_l + smith_root(n_l, at->alpha2)) * at->smith_v);
    float matt = intensity / (float)M_PI;
    V8 part = { (1.0f - mirrored.x) * at->matt.x * matt + mirrored.x * gloss,
                (1.0f - mirrored.y) * at->matt.y * matt + mirrored.y * gloss,
                (1.0f - mirrored.z) * at->matt.z * matt + mirrored.z * gloss };
    return v8_scale(part, n_l * intensity);
}

static V8 plain_light(const Meeting *at, const Lit *lit, V8 towards, float intensity)
{
    F8 n_l = v8_dot(at->normal, towards);
    V8 part = v8_scale(at->base, n_l);
    V8 half = v8_normalized(v8_add(towards, at->eye)), specular = v8_load(lit->specular);
    F8 n_h = f8_max(v8_dot(at->normal, half), f8(0.0f)), gloss = f8(0.0f);
    I8 is_glossy = (specular.x + specular.y + specular.z > 0.0f) & at->is_lit & (n_l > 0.0f);
    for (int i = 0; i < LANES && i8_any(is_glossy); i++)
        if (is_glossy[i])
            gloss[i] = powf(n_h[i], lit->exponent[i]);
    return v8_masked(n_l > 0.0f, v8_scale(v8_mad(part, specular, gloss), f8(intensity)));
}

static V8 light_part(const Meeting *at, const Lit *lit, V8 towards, float intensity)
{
    V8 part = v8(0, 0, 0);
    if (i8_any(at->is_physical))
        part = physical_light(at, towards, intensity);
    if (i8_any(~at->is_physical & at->is_lit))
        part = v8_where(at->is_physical, part, plain_light(at, lit, towards, intensity));
    return part;
}

// ---- soft things: sampled at places that differ from pixel to pixel, always the same for the same pixel ----

typedef struct Disk {
    F8 x, y;    // of the present sample, on the unit circle
    F8 square;  // its share of the radius squared
    F8 step;
} Disk;

// The rays of a pixel share out the samples of it: each takes some of as many places, laid out over the whole.
static Disk disk_of(const Rays *rays, const Lit *lit, int each)
{
    assert_debug(each > 0 && lit->per_pixel > 0);
    F8 before = f8_load(lit->before) * (float)each, turn = f8_load(lit->turn) + before * 0.6180339887498949f;
    float count = (float)(lit->per_pixel * each);
    Disk disk = { .square = (before + f8_load(lit->share)) / count, .step = f8(1.0f / count) };
    I8 place = __builtin_convertvector(turn * (float)CIRCLE_PLACES, I8) & (CIRCLE_PLACES - 1);
    for (int i = 0; i < LANES; i++) {
        disk.x[i] = rays->circle[place[i]][0];
        disk.y[i] = rays->circle[place[i]][1];
    }
    return disk;
}

// On by the golden angle, and outwards.
static void disk_next(Disk *disk)
{
    static const float c = -0.73736887807831990f, s = 0.67549029426152364f;
    F8 x = disk->x * c - disk->y * s;
    disk->y = disk->x * s + disk->y * c;
    disk->x = x;
    disk->square += disk->step;
}

// Two directions across a unit vector (Duff and others, 2017).
static void across(V8 n, V8 *x, V8 *y)
{
    F8 sign = f8_where(n.z < 0.0f, f8(-1.0f), f8(1.0f)), a = -1.0f / (sign + n.z), b = n.x * n.y * a;
    *x = (V8){ 1.0f + sign * n.x * n.x * a, sign * b, -sign * n.x };
    *y = (V8){ b, sign + n.y * n.y * a, -n.y };
}

// Masks of the rays that meet something.
static I8 occluded(const Rays *rays, const Meeting *at, V8 towards, F8 far, I8 valid)
{
    const float max2 = (float)(RAYS_COORDINATE_MAX * RAYS_COORDINATE_MAX);
    struct RTCRay8 packet;
    _Alignas(32) int is_valid[LANES];
    valid &= (v8_dot(at->from, at->from) <= max2) & (v8_dot(towards, towards) <= max2);
    i8_store(is_valid, valid);
    f8_store(packet.org_x, at->from.x), f8_store(packet.org_y, at->from.y), f8_store(packet.org_z, at->from.z);
    f8_store(packet.dir_x, towards.x), f8_store(packet.dir_y, towards.y), f8_store(packet.dir_z, towards.z);
    f8_store(packet.tfar, far);
    rays_occluded(rays, is_valid, &packet);
    return (f8_load(packet.tfar) < 0.0f) & valid;
}

// How open the half space above each surface is within the radius.
static F8 openness(const Rays *rays, const Meeting *at, const Lit *lit, double radius)
{
    V8 x, y;
    F8 open = f8(1.0f);
    Disk disk = disk_of(rays, lit, OPEN_RAYS);
    across(at->geometric, &x, &y);
    for (int k = 0; k < OPEN_RAYS; k++, disk_next(&disk)) {
        F8 side = f8_sqrt(disk.square), up = f8_sqrt(f8_max(1.0f - disk.square, f8(0.0f)));
        V8 towards = v8_mad(v8_mad(v8_scale(at->geometric, up), x, side * disk.x), y, side * disk.y);
        I8 is_dark = occluded(rays, at, towards, f8((float)radius), at->is_lit & ~i8_load(lit->is_overlay));
        open -= f8_masked(is_dark, f8(1.0f / OPEN_RAYS));
    }
    return open;
}

// The same for a light that is infinitely far away, without rays.
static I8 darkened(const Rays *rays, const Meeting *at, const struct ShadowSide *side, I8 valid)
{
    float from[3][LANES];
    int is_valid[LANES], is_dark[LANES];
    v8_store(from, at->from);
    i8_store(is_valid, valid);
    rays->darken(rays, side, (const float(*)[LANES])from, is_valid, is_dark);
    return i8_load(is_dark);
}

// How a light comes to the points: from where, how far away it is, how much of it, and what has its shadows.
typedef struct Incidence {
    V8 towards;
    F8 distance, share;
    const struct ShadowSide *side;  // NULL: a search along rays must tell
} Incidence;

// A light of some size is seen from a point by several of its places. Which share of it.
static F8 unshadowed(const Rays *rays, const Meeting *at, const Lit *lit, const Incidence *from, I8 valid,
                     double softness)
{
    V8 towards = from->towards;
    if (from->side)
        return f8_masked(~darkened(rays, at, from->side, valid), f8(1.0f));
    if (!(softness > 0.0))
        return f8_masked(~occluded(rays, at, towards, from->distance, valid), f8(1.0f));
    V8 x, y;
    F8 seen = f8(1.0f);
    Disk disk = disk_of(rays, lit, LIGHT_RAYS);
    across(towards, &x, &y);
    for (int k = 0; k < LIGHT_RAYS; k++, disk_next(&disk)) {
        F8 off = (float)softness * f8_sqrt(disk.square);
        V8 place = v8_normalized(v8_mad(v8_mad(towards, x, off * disk.x), y, off * disk.y));
        seen -= f8_masked(occluded(rays, at, place, from->distance, valid), f8(1.0f / LIGHT_RAYS));
    }
    return seen;
}

// ---- the lights ----

// How much of a light reaches the points, where it comes from and how far away it is.
static F8 light_at(const Light *light, V8 point, V8 *towards, F8 *distance)
{
    if (light->is_directional) {
        *towards = v8(-light->direction.x, -light->direction.y, -light->direction.z);
        *distance = f8(1e6f);
        return f8(1.0f);
    }
    V8 offset = v8_sub(v8(light->position.x, light->position.y, light->position.z), point);
    F8 length = f8_sqrt(v8_dot(offset, offset));
    I8 reaches = (length <= (float)light->radius) & (length > 0.0f);
    *distance = length - SHADOW_GAP;
    *towards = v8_scale(offset, 1.0f / f8_max(length, f8(1e-15f)));
    F8 share = 1.0f
               / f8_max((float)light->attenuation.x
                            + length * ((float)light->attenuation.y + length * (float)light->attenuation.z),
                        f8(1e-9f));
    if (!light->is_spot)
        return f8_masked(reaches, share);
    F8 cosine = f8_clamp(-v8_dot(v8(light->direction.x, light->direction.y, light->direction.z), *towards), -1.0f,
                         1.0f);
    for (int i = 0; i < LANES; i++) {
        double angle = reaches[i] ? acos((double)cosine[i]) : INFINITY;
        if (angle >= light->cut)
            share[i] = 0.0f;
        else if (angle > light->beam)
            share[i] *= (float)((light->cut - angle) / (light->cut - light->beam));
    }
    return share;
}

static void add_light(const Rays *rays, Meeting *at, const Lit *lit, const Light *light, const Incidence *from,
                      const RaysStyle *style)
{
    I8 valid = at->is_lit & (from->share > 0.0f) & (v8_dot(at->geometric, from->towards) > 0.0f);
    if (!i8_any(valid))
        return;
    V8 part = v8_mul(light_part(at, lit, from->towards, (float)light->intensity),
                     v8(light->color.x, light->color.y, light->color.z));
    part = v8_masked(valid, v8_scale(part, from->share));
    at->full = v8_add(at->full, part);
    at->sum = v8_mad(at->sum, part,
                     light->casts_shadows && !style->is_unshadowed
                         ? unshadowed(rays, at, lit, from, valid, style->softness)
                         : f8(1.0f));
}

// Of a world that has none: from the left above the eye, and a little from everywhere.
static void add_light_of_the_eye(const Rays *rays, Meeting *at, const Lit *lit, const RaysStyle *style)
{
    static const Light light = { .casts_shadows = true, .color = { 1, 1, 1 }, .intensity = 1.3 };
    V8 up = v8(rays->lighting.up.x, rays->lighting.up.y, rays->lighting.up.z);
    I8 is_overlay = i8_load(lit->is_overlay);  // it looks the same wherever the view goes
    V8 towards = v8_normalized(v8_mad(v8_add(v8_scale(up, f8(1.5f)), at->eye), v8_cross(up, at->eye), f8(-0.7f)));
    Incidence from = { towards, f8(1e6f), f8_masked(~is_overlay, f8(1.0f)), NULL };
    add_light(rays, at, lit, &light, &from, style);
    F8 high = 0.5f + 0.5f * v8_dot(at->normal, up), share = f8_where(is_overlay, f8(0.4f), 0.15f + 0.25f * high);
    at->sum = v8_mad(at->sum, at->base, share);
    at->full = v8_mad(at->full, at->base, share);
}

// ---- the surroundings ----

static void cubes_at(const SkyCube *cube, const Meeting *at, const Lit *lit, V8 *matt, V8 *mirrored)
{
    assert_debug(cube->is_there && cube->level_count > 0);
    V8 out = v8_sub(v8_scale(at->normal, 2.0f * v8_dot(at->normal, at->eye)), at->eye);
    for (int i = 0; i < LANES; i++) {
        if (!(lit->is_lit[i] & lit->is_physical[i]))
            continue;
        double rough = double_clamp((double)lit->roughness[i], 0.04, 1.0);
        Vec3 even = cube_at(cube, vec3((double)at->normal.x[i], (double)at->normal.y[i], (double)at->normal.z[i]), 6.0),
             sharp = cube_at(cube, vec3((double)out.x[i], (double)out.y[i], (double)out.z[i]), 7.0 * rough);
        matt->x[i] = (float)even.x, matt->y[i] = (float)even.y, matt->z[i] = (float)even.z;
        mirrored->x[i] = (float)sharp.x, mirrored->y[i] = (float)sharp.y, mirrored->z[i] = (float)sharp.z;
    }
}

// The two numbers of the split sum, between the places of the table.
static void split_sum(const Rays *rays, const Meeting *at, const Lit *lit, F8 *scale, F8 *bias)
{
    assert_debug(rays->brdf);
    F8 x = f8_clamp(v8_dot(at->normal, at->eye) * (float)BRDF_SIDE - 0.5f, 0.0f, BRDF_SIDE - 1.0f),
       y = f8_clamp(f8_clamp(f8_load(lit->roughness), 0.04f, 1.0f) * (float)BRDF_SIDE - 0.5f, 0.0f, BRDF_SIDE - 1.0f);
    F8 corners[8];  // scale and bias of four places
    I8 column = __builtin_convertvector(x, I8), row = __builtin_convertvector(y, I8);
    for (int i = 0; i < LANES; i++) {
        int r = row[i] < BRDF_SIDE - 2 ? row[i] : BRDF_SIDE - 2,
            c = column[i] < BRDF_SIDE - 2 ? column[i] : BRDF_SIDE - 2;
        const float *here = rays->brdf[r][c], *below = rays->brdf[r + 1][c];
        row[i] = r, column[i] = c;
        for (int k = 0; k < 4; k++)
            corners[k][i] = here[k], corners[4 + k][i] = below[k];
    }
    F8 fx = x - __builtin_convertvector(column, F8), fy = y - __builtin_convertvector(row, F8);
    F8 above = corners[0] + fx * (corners[2] - corners[0]), under = corners[4] + fx * (corners[6] - corners[4]);
    *scale = above + fy * (under - above);
    above = corners[1] + fx * (corners[3] - corners[1]), under = corners[5] + fx * (corners[7] - corners[5]);
    *bias = above + fy * (under - above);
}

// The light of the surroundings on physical surfaces, of the lights' ambient parts on others.
static V8 light_from_all_around(const Rays *rays, const Meeting *at, const Lit *lit, const RaysStyle *style)
{
    const Lighting *lighting = &rays->lighting;
    V8 light = v8_mul(v8(lighting->ambient.x, lighting->ambient.y, lighting->ambient.z), v8_load(lit->ambient));
    if (!i8_any(at->is_physical & at->is_lit))
        return light;
    bool needs_sky = style->is_for_people && !lighting->has_background;
    V8 matt = needs_sky ? v8(0.45, 0.48, 0.52)
                        : v8(lighting->sky_light.x, lighting->sky_light.y, lighting->sky_light.z),
       mirrored = matt;
    if (lighting->irradiance.is_there)
        cubes_at(&lighting->irradiance, at, lit, &matt, &mirrored);
    F8 scale, bias;
    split_sum(rays, at, lit, &scale, &bias);
    V8 share = { at->straight.x * scale + bias, at->straight.y * scale + bias, at->straight.z * scale + bias };
    V8 sum = v8_scale(v8_add(v8_mul(matt, at->matt), v8_mul(mirrored, share)),
                      (float)lighting->luminosity * f8_load(lit->background_share));
    return v8_where(at->is_physical, sum, light);
}

void SHADE_VARIANT(const Rays *rays, Lit *lit, const RaysStyle *style)
{
    Meeting at = meeting_of(lit);
    V8 around = v8_scale(light_from_all_around(rays, &at, lit, style), f8_load(lit->occlusion));
    V8 emissive = v8_load(lit->emissive);
    at.full = v8_add(emissive, around);
    at.sum = style->occlusion > 0.0 && !style->is_unshadowed
                 ? v8_mad(emissive, around, openness(rays, &at, lit, style->occlusion))
                 : at.full;
    bool is_unlit = style->is_for_people;
    for (int i = 0; i < rays->lighting.count; i++) {
        const Light *light = &rays->lighting.lights[i];
        if (!light->is_on)
            continue;
        Incidence from = { .side = style->has_shadows ? shadows_side(rays, i) : NULL };
        from.share = light_at(light, at.point, &from.towards, &from.distance);
        add_light(rays, &at, lit, light, &from, style);
        is_unlit = false;
    }
    if (is_unlit)
        add_light_of_the_eye(rays, &at, lit, style);
    v8_store(lit->geometric, at.geometric);
    v8_store(lit->sum, at.sum);
    v8_store(lit->full, at.full);
}
