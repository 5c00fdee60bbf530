// light.c - what surfaces send back of the light that falls on them: lights, the sky, fog, shadows. Physical appearances follow the
// metal and roughness model (Lambert, GGX, Smith, Schlick, the split sum for the surroundings), others the light model of VRML. As in
// Webots the matt share of a physical appearance grows with the square of a light's intensity.
#include "rays/rays_internal.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_LAYERS = 8, AT_ONCE = 16, PACKET = 8 };  // layers of transparent surfaces, one behind the other

// ---- the list ----

void lighting_clear(Rays *rays)
{
    Lighting *lighting = &rays->lighting;
    *lighting = (Lighting){ .lights = lighting->lights, .capacity = lighting->capacity, .cube = lighting->cube, .irradiance = lighting->irradiance, .luminosity = 1.0 };
}

void lighting_free(Rays *rays)
{
    sky_free(&rays->lighting);
    free(rays->lighting.lights);
}

static void read_fog(Lighting *lighting, const SceneNode *node)
{
    const char *type = scene_string(node, "fogType");
    lighting->fog = color_linear(scene_vec3(node, "color"));
    lighting->fog_range = scene_float(node, "visibilityRange");
    lighting->fog_power = !strcmp(type, "LINEAR") ? 0 : !strcmp(type, "EXPONENTIAL") ? 1 : 2;
}

static void add_light(Lighting *lighting, SceneNode *node, int solid, Affine local)
{
    Light light = {
        .node = node, .solid = solid, .local = local, .is_directional = scene_node_is(node, "DirectionalLight"), .is_on = scene_bool(node, "on"),
        .is_spot = scene_node_is(node, "SpotLight"), .casts_shadows = scene_bool(node, "castShadows"),
        .color = scene_vec3(node, "color"), .intensity = scene_float(node, "intensity"), .ambient = scene_float(node, "ambientIntensity"),
    };
    if (light.is_directional || light.is_spot)
        light.own_direction = scene_vec3(node, "direction");
    if (!light.is_directional) {
        light.own_position = scene_vec3(node, "location");
        light.attenuation = scene_vec3(node, "attenuation");
        light.radius = scene_float(node, "radius");
    }
    if (light.is_spot) {
        light.beam = scene_float(node, "beamWidth");
        light.cut = scene_float(node, "cutOffAngle");
    }
    memory_grow(&lighting->lights, &lighting->capacity, lighting->count + 1, sizeof light);
    lighting->lights[lighting->count++] = light;
}

void lighting_sum(Rays *rays)
{
    rays->lighting.ambient = VEC3_ZERO;
    for (int i = 0; i < rays->lighting.count; i++) {
        const Light *light = &rays->lighting.lights[i];
        if (light->is_on)
            rays->lighting.ambient = vec3_mad(rays->lighting.ambient, light->color, light->ambient);
    }
}

void lighting_add(Rays *rays, const ShapeSource *source, SceneNode *node, int solid, Affine local)
{
    if (scene_node_is(node, "Light"))
        add_light(&rays->lighting, node, solid, local);
    else if (scene_node_is(node, "Background"))
        sky_read(rays, source, node);
    else if (scene_node_is(node, "Fog"))
        read_fog(&rays->lighting, node);
}

void lighting_place(Rays *rays, const Pose *solids, int solid_count)
{
    for (int i = 0; i < rays->lighting.count; i++) {
        Light *light = &rays->lighting.lights[i];
        assert(light->solid < solid_count);
        (void)solid_count;
        Affine world = affine_mul(affine_of_pose(light->solid >= 0 ? solids[light->solid] : POSE_IDENTITY), light->local);
        light->position = vec3_add(mat3_apply(world.m, light->own_position), world.t);
        light->direction = vec3_normalized(mat3_apply(world.m, light->own_direction));
    }
}

// ---- what a light gives ----

// How much of a light reaches the point, where it comes from and how far away it is.
static double light_at(const Light *light, Vec3 point, Vec3 *towards, double *distance)
{
    if (light->is_directional) {
        *towards = vec3_neg(light->direction);
        *distance = INFINITY;
        return 1.0;
    }
    Vec3 offset = vec3_sub(light->position, point);
    *distance = vec3_length(offset);
    if (*distance > light->radius || *distance == 0.0)
        return 0.0;
    *towards = vec3_scale(offset, 1.0 / *distance);
    Vec3 loss = light->attenuation;
    double share = 1.0 / fmax(loss.x + *distance * (loss.y + *distance * loss.z), 1e-9);
    if (!light->is_spot)
        return share;
    double angle = acos(double_clamp(-vec3_dot(light->direction, *towards), -1.0, 1.0));
    if (angle >= light->cut)
        return 0.0;
    return angle > light->beam ? share * (light->cut - angle) / (light->cut - light->beam) : share;
}

// ---- what a surface sends back ----

static double fifth_power(double x)
{
    double square = x * x;
    return square * square * x;
}

// Schlick: all is mirrored at a grazing angle, but where next to nothing is mirrored at a right one.
static Vec3 fresnel(Vec3 straight, double cosine)
{
    double most = fmin(25.0 * fmax(straight.x, fmax(straight.y, straight.z)), 1.0), rest = fifth_power(double_clamp(1.0 - cosine, 0.0, 1.0));
    return vec3(straight.x + (most - straight.x) * rest, straight.y + (most - straight.y) * rest, straight.z + (most - straight.z) * rest);
}

static double smith(double cosine, double alpha)
{
    return 2.0 * cosine / (cosine + sqrt(alpha * alpha + (1.0 - alpha * alpha) * cosine * cosine));
}

static double ggx(double cosine, double alpha)
{
    double square = alpha * alpha, f = cosine * cosine * (square - 1.0) + 1.0;
    return square / (M_PI * f * f);
}

typedef struct Meeting {
    const Surface *surface;
    Vec3 normal, eye, matt, straight;  // matt: colour of the diffuse share; straight: what is mirrored at a right angle
    double roughness;
} Meeting;

static Vec3 physical_light(const Meeting *at, const Light *light, Vec3 towards)
{
    Vec3 half = vec3_normalized(vec3_add(towards, at->eye));
    double n_l = double_clamp(vec3_dot(at->normal, towards), 1e-4, 1.0), n_v = fabs(vec3_dot(at->normal, at->eye)) + 1e-4;
    double n_h = double_clamp(vec3_dot(at->normal, half), 0.0, 1.0), v_h = double_clamp(vec3_dot(at->eye, half), 0.0, 1.0);
    double alpha = at->roughness * at->roughness;
    Vec3 mirrored = fresnel(at->straight, v_h);
    double gloss = smith(n_l, alpha) * smith(n_v, alpha) * ggx(n_h, alpha) / (4.0 * n_l * n_v);
    Vec3 matt = vec3_scale(vec3_mul(vec3_sub(vec3(1, 1, 1), mirrored), at->matt), light->intensity / M_PI);
    return vec3_scale(vec3_add(matt, vec3_scale(mirrored, gloss)), n_l * light->intensity);
}

static Vec3 plain_light(const Meeting *at, const Light *light, Vec3 towards)
{
    double n_l = vec3_dot(at->normal, towards);
    if (n_l <= 0.0)
        return VEC3_ZERO;
    Vec3 half = vec3_normalized(vec3_add(towards, at->eye));
    Vec3 gloss = vec3_scale(at->surface->specular, pow(fmax(vec3_dot(at->normal, half), 0.0), at->surface->exponent));
    return vec3_scale(vec3_add(vec3_scale(at->surface->base, n_l), gloss), light->intensity);
}

// The light of the surroundings on a physical surface, of the lights' ambient parts on another.
static Vec3 light_from_all_around(const Rays *rays, const Meeting *at, const RaysStyle *style)
{
    const Surface *surface = at->surface;
    const Lighting *lighting = &rays->lighting;
    if (!surface->is_physical)
        return vec3_scale(vec3_mul(lighting->ambient, surface->ambient), surface->occlusion);
    bool needs_sky = style->is_for_people && !lighting->has_background;
    Vec3 matt = needs_sky ? vec3(0.45, 0.48, 0.52) : lighting->sky_light, mirrored = matt;
    if (lighting->irradiance.is_there) {
        Vec3 out = vec3_sub(vec3_scale(at->normal, 2.0 * vec3_dot(at->normal, at->eye)), at->eye);
        matt = cube_at(&lighting->irradiance, at->normal, 6.0);
        mirrored = cube_at(&lighting->irradiance, out, 7.0 * at->roughness);
    }
    double scale, bias;
    brdf_at(rays->brdf, vec3_dot(at->normal, at->eye), at->roughness, &scale, &bias);
    Vec3 share = vec3_add(vec3_scale(at->straight, scale), vec3(bias, bias, bias));
    Vec3 sum = vec3_add(vec3_mul(matt, at->matt), vec3_mul(mirrored, share));
    return vec3_scale(sum, lighting->luminosity * surface->background_share * surface->occlusion);
}

static Meeting meeting_of(const Surface *surface, Vec3 normal, Vec3 eye)
{
    static const double plain = 0.04;  // what is mirrored by all that is no metal
    Meeting at = { .surface = surface, .normal = normal, .eye = eye, .roughness = double_clamp(surface->roughness, 0.04, 1.0) };
    double metal = double_clamp(surface->metalness, 0.0, 1.0);
    at.matt = vec3_scale(surface->base, (1.0 - plain) * (1.0 - metal));
    at.straight = vec3_add(vec3_scale(vec3(plain, plain, plain), 1.0 - metal), vec3_scale(surface->base, metal));
    return at;
}

// ---- soft things: sampled at places that differ from pixel to pixel, always the same for the same pixel ----

static double noise(uint32_t *state)
{
    uint32_t x = *state += 0x9e3779b9u;
    x = (x ^ x >> 16) * 0x21f0aaadu;
    x = (x ^ x >> 15) * 0x735a2d97u;
    return (double)(x ^ x >> 15) / 4294967296.0;
}

static Vec3 around_axis(Vec3 axis, double along, double side, double angle)
{
    Vec3 x = vec3_orthogonal(axis), y = vec3_cross(axis, x);
    return vec3_mad(vec3_mad(vec3_scale(axis, along), x, side * cos(angle)), y, side * sin(angle));
}

// ---- many surfaces at once ----

typedef struct Lit {
    int ray;             // which one of the batch
    Surface surface;
    Meeting at;
    Vec3 point, geometric, sum;
} Lit;

// How open the half space above each surface is within the radius: a few rays from each, eight at once over all of them.
typedef struct Openness {
    int count;
    int lit[PACKET];
    Vec3 from[PACKET], towards[PACKET];
    double far[PACKET];
} Openness;

enum { OPEN_RAYS = 2 };

static void count_open(const Rays *rays, Openness *rows, int *closed)
{
    bool is_dark[PACKET] = { false };
    if (rows->count > 0)
        rays_occluded(rays, rows->from, rows->towards, rows->far, rows->count, is_dark);
    for (int i = 0; i < rows->count; i++)
        closed[rows->lit[i]] += is_dark[i];
    rows->count = 0;
}

static void take_openness(const Rays *rays, Lit *all, int count, const RaysStyle *style)
{
    Openness rows = { 0 };
    int closed[AT_ONCE] = { 0 };
    for (int i = 0; i < count; i++) {
        uint32_t seed = style->seed * 9781u + (uint32_t)all[i].ray * 6271u;
        double turn = noise(&seed);
        for (int k = 0; k < OPEN_RAYS; k++) {
            double share = (k + noise(&seed)) / OPEN_RAYS, angle = 2.0 * M_PI * (turn + k * 0.6180339887498949);
            rows.lit[rows.count] = i;
            rows.from[rows.count] = vec3_mad(all[i].point, all[i].geometric, 1e-4);
            rows.towards[rows.count] = around_axis(all[i].geometric, sqrt(1.0 - share), sqrt(share), angle);
            rows.far[rows.count++] = style->occlusion;
            if (rows.count == PACKET)
                count_open(rays, &rows, closed);
        }
    }
    count_open(rays, &rows, closed);
    for (int i = 0; i < count; i++)
        all[i].surface.occlusion *= 1.0 - (double)closed[i] / OPEN_RAYS;
}

typedef struct Shadows {
    int count;
    int lit[PACKET];
    Vec3 from[PACKET], towards[PACKET], part[PACKET];
    double far[PACKET];
} Shadows;

static void settle(const Rays *rays, Shadows *shadows, Lit *all)
{
    bool is_dark[PACKET] = { false };
    if (shadows->count > 0)
        rays_occluded(rays, shadows->from, shadows->towards, shadows->far, shadows->count, is_dark);
    for (int i = 0; i < shadows->count; i++)
        if (!is_dark[i])
            all[shadows->lit[i]].sum = vec3_add(all[shadows->lit[i]].sum, shadows->part[i]);
    shadows->count = 0;
}

static void add_shadow_test(const Rays *rays, Shadows *shadows, Lit *all, int lit, Vec3 towards, double distance, Vec3 part)
{
    double gap = 1e-4;
    int k = shadows->count++;
    shadows->lit[k] = lit;
    shadows->from[k] = vec3_mad(all[lit].point, all[lit].geometric, gap);
    shadows->towards[k] = towards;
    shadows->far[k] = isfinite(distance) ? distance - gap : 1e6;
    shadows->part[k] = part;
    if (shadows->count == PACKET)
        settle(rays, shadows, all);
}

// A light of some size is seen from a point by several of its places.
static void add_light_softly(const Rays *rays, Shadows *shadows, Lit *all, int lit, Vec3 towards, double distance, Vec3 part, const RaysStyle *style)
{
    enum { PLACES = 2 };
    if (!(style->softness > 0.0)) {
        add_shadow_test(rays, shadows, all, lit, towards, distance, part);
        return;
    }
    uint32_t seed = style->seed * 747796405u + (uint32_t)all[lit].ray * 2891336453u;
    double turn = noise(&seed);
    for (int i = 0; i < PLACES; i++) {
        double side = style->softness * sqrt((i + noise(&seed)) / PLACES), angle = 2.0 * M_PI * (turn + i * 0.5);
        add_shadow_test(rays, shadows, all, lit, vec3_normalized(around_axis(towards, 1.0, side, angle)), distance, vec3_scale(part, 1.0 / PLACES));
    }
}

static void add_one_light(const Rays *rays, const Light *light, Lit *all, int count, const RaysStyle *style)
{
    Shadows shadows = { 0 };
    for (int i = 0; i < count; i++) {
        Lit *lit = &all[i];
        Vec3 towards;
        double distance, share = light_at(light, lit->point, &towards, &distance);
        if (!(share > 0.0) || vec3_dot(lit->geometric, towards) <= 0.0)
            continue;
        Vec3 part = lit->surface.is_physical ? physical_light(&lit->at, light, towards) : plain_light(&lit->at, light, towards);
        part = vec3_scale(vec3_mul(part, light->color), share);
        if (light->casts_shadows)
            add_light_softly(rays, &shadows, all, i, towards, distance, part, style);
        else
            lit->sum = vec3_add(lit->sum, part);
    }
    settle(rays, &shadows, all);
}

// Of a world that has none: from the left above the eye, and a little from everywhere.
static void add_light_of_the_eye(const Rays *rays, const Ray *queries, const RayHit *hits, Lit *all, int count, const RaysStyle *style)
{
    Vec3 up = rays->lighting.up;
    for (int i = 0; i < count; i++) {
        Vec3 eye = vec3_neg(queries[all[i].ray].direction);
        if (rays->visuals[hits[all[i].ray].visual].is_overlay) {  // it looks the same wherever the view goes
            all[i].sum = vec3_mad(all[i].sum, all[i].surface.base, 0.4);
            continue;
        }
        Light light = { .is_directional = true, .casts_shadows = true, .color = { 1, 1, 1 }, .intensity = 1.3 };
        light.direction = vec3_neg(vec3_normalized(vec3_add(vec3_add(vec3_scale(up, 1.5), eye), vec3_scale(vec3_cross(up, eye), -0.7))));
        add_one_light(rays, &light, &all[i], 1, style);
        double high = 0.5 + 0.5 * vec3_dot(all[i].at.normal, up);
        all[i].sum = vec3_mad(all[i].sum, all[i].surface.base, 0.15 + 0.25 * high);
    }
}

static void add_spots(const Rays *rays, Lit *lit)
{
    for (int i = 0; i < rays->dot_count; i++)
        if (vec3_distance(lit->point, rays->dots[i].place) <= rays->dots[i].radius)
            lit->sum = vec3_mul(rays->dots[i].color, vec3_add(rays->lighting.ambient, vec3(1, 1, 1)));
}

// A bare floor of some size shows squares to people, for scale and direction; they fade where a pixel covers several.
static void add_squares(const Rays *rays, const Ray *query, const RayHit *hit, Lit *lit)
{
    const Visual *visual = &rays->visuals[hit->visual];
    Vec3 up = rays->lighting.up, x = vec3_normalized(vec3(1.0 - up.x, 0, up.x)), y = vec3_cross(up, x);
    double reach = fmin(fabs(vec3_dot(x, vec3((double)(visual->high[0] - visual->low[0]), (double)(visual->high[1] - visual->low[1]), (double)(visual->high[2] - visual->low[2])))),
                        fabs(vec3_dot(y, vec3((double)(visual->high[0] - visual->low[0]), (double)(visual->high[1] - visual->low[1]), (double)(visual->high[2] - visual->low[2])))));
    if (visual->look.is_textured || visual->look.has_parts || vec3_dot(hit->normal, up) < 0.999 || !(reach > 1.5))
        return;
    double side = reach > 20.0 ? 1.0 : reach > 5.0 ? 0.5 : 0.25, covered = hit->distance * query->spread / fmax(-vec3_dot(query->direction, up), 0.01) / side;
    int64_t square = (int64_t)floor(vec3_dot(lit->point, x) / side) + (int64_t)floor(vec3_dot(lit->point, y) / side);
    double fade = 1.0 / (1.0 + 4.0 * covered * covered);
    lit->surface.base = vec3_scale(lit->surface.base, 1.0 - (0.12 + (square & 1 ? 0.12 : -0.12) * fade));
}

static Lit lit_of(const Rays *rays, const Ray *query, const RayHit *hit, int ray, const RaysStyle *style)
{
    Lit lit = { .ray = ray, .surface = surface_at(rays, query, hit), .point = vec3_mad(query->origin, query->direction, hit->distance), .geometric = hit->normal };
    if (style->is_for_people)
        add_squares(rays, query, hit, &lit);
    return lit;
}

static Vec3 through_fog(const Lighting *lighting, double distance, Vec3 light)
{
    if (!(lighting->fog_range > 0.0))
        return light;
    double depth = distance / lighting->fog_range;
    double clear = lighting->fog_power == 0 ? fmax(1.0 - depth, 0.0) : exp2(-(lighting->fog_power == 1 ? depth : depth * depth));
    double share = pow(1.0 - clear, 2.2);
    return vec3_add(vec3_scale(light, 1.0 - share), vec3_scale(lighting->fog, share));
}

static void shade_layer(const Rays *rays, const Ray *queries, const RayHit *hits, int count, const RaysStyle *style, int layer, Vec3 *light);

static bool is_visible(const Rays *rays, int visual, void *context)
{
    return !rays_is_hidden(rays, visual, ((const RaysStyle *)context)->eye);
}

// What is seen behind a surface through which some light passes.
static Vec3 light_behind(const Rays *rays, const Ray *query, const RayHit *hit, const RaysStyle *style, int layer)
{
    Ray onwards = *query;
    RayHit next;
    Vec3 light;
    onwards.near = hit->distance * (1.0 + 1e-9) + 1e-6;
    rays_cast(rays, &onwards, 1, rays_hides(rays, style->eye) ? is_visible : NULL, (void *)style, &next);
    shade_layer(rays, &onwards, &next, 1, style, layer + 1, &light);
    return light;
}

static void shade_layer(const Rays *rays, const Ray *queries, const RayHit *hits, int count, const RaysStyle *style, int layer, Vec3 *light)
{
    Lit all[AT_ONCE];
    int lit_count = 0;
    assert(count <= AT_ONCE);
    for (int i = 0; i < count; i++) {
        if (hits[i].visual < 0 || layer >= MOST_LAYERS) {
            light[i] = style->is_for_people ? sky_for_people(&rays->lighting, queries[i].direction) : sky_seen(&rays->lighting, queries[i].direction);
            continue;
        }
        all[lit_count++] = lit_of(rays, &queries[i], &hits[i], i, style);
    }
    if (style->occlusion > 0.0)
        take_openness(rays, all, lit_count, style);
    bool is_unlit = style->is_for_people && rays_light_count(rays) == 0;
    for (int i = 0; i < lit_count; i++) {
        Lit *lit = &all[i];
        lit->at = meeting_of(&lit->surface, lit->surface.normal, vec3_neg(queries[lit->ray].direction));
        lit->sum = vec3_add(lit->surface.emissive, light_from_all_around(rays, &lit->at, style));
    }
    for (int i = 0; i < rays->lighting.count; i++)
        if (rays->lighting.lights[i].is_on)
            add_one_light(rays, &rays->lighting.lights[i], all, lit_count, style);
    if (is_unlit)
        add_light_of_the_eye(rays, queries, hits, all, lit_count, style);
    for (int i = 0; i < lit_count; i++) {
        Lit *lit = &all[i];
        if (rays->dot_count > 0)
            add_spots(rays, lit);
        const RayHit *hit = &hits[lit->ray];
        double passes = double_clamp(lit->surface.transparency, 0.0, 1.0);
        Vec3 own = through_fog(&rays->lighting, hit->distance, lit->sum);
        if (passes > 0.0)
            own = vec3_add(vec3_scale(own, 1.0 - passes), vec3_scale(light_behind(rays, &queries[lit->ray], hit, style, layer), passes));
        light[lit->ray] = own;
    }
}

void rays_shade(const Rays *rays, const Ray *queries, const RayHit *hits, int count, const RaysStyle *style, Vec3 *light)
{
    for (int first = 0; first < count; first += AT_ONCE)
        shade_layer(rays, queries + first, hits + first, int_min(count - first, AT_ONCE), style, 0, light + first);
}
