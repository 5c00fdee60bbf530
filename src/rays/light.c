// light.c - what surfaces send back of the light that falls on them: lights, the sky, fog, shadows. Physical appearances follow the
// metal and roughness model (Lambert, GGX, Smith, Schlick), others the light model of VRML. As in Webots the matt share of a physical
// appearance grows with the square of a light's intensity, and the sky is seen in its own colour at the viewpoint's exposure.
#include "rays/rays_internal.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_LAYERS = 8 };  // of transparent surfaces, one behind the other

// ---- the list ----

void lighting_clear(Rays *rays)
{
    Lighting *lighting = &rays->lighting;
    *lighting = (Lighting){ .lights = lighting->lights, .capacity = lighting->capacity };
}

void lighting_free(Rays *rays)
{
    free(rays->lighting.lights);
}

// The colour that the exposure of the main view turns into this one.
static double before_exposure(double color, double exposure)
{
    double most = 1.0 - 1e-9;
    return -log(1.0 - fmin(pow(color, 2.2), most)) / fmax(exposure, 1e-9);
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

static void read_background(Rays *rays, const SceneNode *node)
{
    const FieldList *colors = scene_list(node, "skyColor");
    if (colors->count < 1)
        return;
    Vec3 color = vec3(colors->numbers[0], colors->numbers[1], colors->numbers[2]);
    double exposure = main_exposure(rays);
    rays->lighting.sky = vec3(before_exposure(color.x, exposure), before_exposure(color.y, exposure), before_exposure(color.z, exposure));
    rays->lighting.sky_light = vec3_scale(color_linear(color), scene_float(node, "luminosity"));
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
    if (!scene_bool(node, "on"))
        return;
    Light light = {
        .node = node, .solid = solid, .local = local, .is_directional = scene_node_is(node, "DirectionalLight"),
        .is_spot = scene_node_is(node, "SpotLight"), .casts_shadows = scene_bool(node, "castShadows"),
        .color = scene_vec3(node, "color"), .intensity = scene_float(node, "intensity"),
    };
    if (!light.is_directional) {
        light.attenuation = scene_vec3(node, "attenuation");
        light.radius = scene_float(node, "radius");
    }
    if (light.is_spot) {
        light.beam = scene_float(node, "beamWidth");
        light.cut = scene_float(node, "cutOffAngle");
    }
    lighting->ambient = vec3_mad(lighting->ambient, light.color, scene_float(node, "ambientIntensity"));
    memory_grow(&lighting->lights, &lighting->capacity, lighting->count + 1, sizeof light);
    lighting->lights[lighting->count++] = light;
}

void lighting_add(Rays *rays, SceneNode *node, int solid, Affine local)
{
    if (scene_node_is(node, "Light"))
        add_light(&rays->lighting, node, solid, local);
    else if (scene_node_is(node, "Background"))
        read_background(rays, node);
    else if (scene_node_is(node, "Fog"))
        read_fog(&rays->lighting, node);
}

void lighting_place(Rays *rays)
{
    for (int i = 0; i < rays->lighting.count; i++) {
        Light *light = &rays->lighting.lights[i];
        Pose pose = light->solid >= 0 ? physics_solid_pose(rays->physics, light->solid) : POSE_IDENTITY;
        Affine world = affine_mul(affine_of_pose(pose), light->local);
        if (!light->is_directional)
            light->position = vec3_add(mat3_apply(world.m, scene_vec3(light->node, "location")), world.t);
        if (light->is_directional || light->is_spot)
            light->direction = vec3_normalized(mat3_apply(world.m, scene_vec3(light->node, "direction")));
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

static bool is_in_shadow(const Rays *rays, Vec3 point, Vec3 normal, Vec3 towards, double distance)
{
    double gap = 1e-4;
    Ray ray = { vec3_mad(point, normal, gap), towards, 0.0, isfinite(distance) ? distance - gap : 1e6 };
    RayHit hit;
    rays_cast(rays, &ray, 1, NULL, NULL, &hit);
    return hit.visual >= 0;
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

// The light of the sky on a physical surface, of the lights' ambient parts on another.
static Vec3 light_from_all_around(const Lighting *lighting, const Meeting *at)
{
    const Surface *surface = at->surface;
    if (!surface->is_physical)
        return vec3_scale(vec3_mul(lighting->ambient, surface->base), surface->ambient);
    double smoothness = 1.0 - at->roughness, rest = fifth_power(double_clamp(1.0 - vec3_dot(at->normal, at->eye), 0.0, 1.0));
    Vec3 s = at->straight;
    Vec3 mirrored = vec3(s.x + (fmax(smoothness, s.x) - s.x) * rest, s.y + (fmax(smoothness, s.y) - s.y) * rest, s.z + (fmax(smoothness, s.z) - s.z) * rest);
    return vec3_scale(vec3_mul(lighting->sky_light, vec3_add(at->matt, mirrored)), surface->background_share * surface->occlusion);
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

static Vec3 light_of_surface(const Rays *rays, const Ray *ray, const RayHit *hit, const Surface *surface)
{
    Vec3 point = vec3_mad(ray->origin, ray->direction, hit->distance);
    Meeting at = meeting_of(surface, hit->smooth, vec3_neg(ray->direction));
    Vec3 sum = vec3_add(surface->emissive, light_from_all_around(&rays->lighting, &at));
    for (int i = 0; i < rays->lighting.count; i++) {
        const Light *light = &rays->lighting.lights[i];
        Vec3 towards;
        double distance, share = light_at(light, point, &towards, &distance);
        if (!(share > 0.0) || vec3_dot(hit->normal, towards) <= 0.0)
            continue;
        if (light->casts_shadows && is_in_shadow(rays, point, hit->normal, towards, distance))
            continue;
        Vec3 part = surface->is_physical ? physical_light(&at, light, towards) : plain_light(&at, light, towards);
        sum = vec3_mad(sum, vec3_mul(part, light->color), share);
    }
    return sum;
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

static Surface surface_of(const Rays *rays, const RayHit *hit)
{
    const Visual *visual = &rays->visuals[hit->visual];
    return surface_at(&visual->look, visual->mesh >= 0 ? rays->meshes[visual->mesh].mesh : NULL, hit->triangle, hit->u, hit->v);
}

Vec3 rays_radiance(const Rays *rays, const Ray *ray, const RayHit *hit)
{
    Vec3 sum = VEC3_ZERO;
    double passed = 1.0;
    RayHit here = *hit;
    Ray onwards = *ray;
    for (int layer = 0; layer < MOST_LAYERS && here.visual >= 0; layer++) {
        Surface surface = surface_of(rays, &here);
        double seen = 1.0 - double_clamp(surface.transparency, 0.0, 1.0);
        if (seen > 0.0)
            sum = vec3_mad(sum, through_fog(&rays->lighting, here.distance, light_of_surface(rays, ray, &here, &surface)), passed * seen);
        passed *= 1.0 - seen;
        if (passed <= 0.0)
            return sum;
        onwards.near = here.distance * (1.0 + 1e-9) + 1e-6;
        rays_cast(rays, &onwards, 1, NULL, NULL, &here);
    }
    return vec3_mad(sum, rays->lighting.sky, passed);
}
