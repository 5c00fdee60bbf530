// lighting.c - the lights of a world, and its fog: what there is and where it is. What surfaces make of it is in
// shade.c.
#include "rays/rays_internal.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

// ---- the list ----

void lighting_clear(Rays *rays)
{
    Lighting *lighting = &rays->lighting;
    *lighting = (Lighting){ .lights = lighting->lights,
                            .capacity = lighting->capacity,
                            .cube = lighting->cube,
                            .irradiance = lighting->irradiance,
                            .luminosity = 1.0 };
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

// Fields are read once for each listing; where the light is comes with every placing.
static void add_light(Lighting *lighting, SceneNode *node, int solid, Affine local)
{
    assert_debug(solid >= -1);
    Light light = {
        .node = node,
        .solid = solid,
        .local = local,
        .is_directional = scene_node_is(node, "DirectionalLight"),
        .is_on = scene_bool(node, "on"),
        .is_spot = scene_node_is(node, "SpotLight"),
        .casts_shadows = scene_bool(node, "castShadows"),
        .color = scene_vec3(node, "color"),
        .intensity = scene_float(node, "intensity"),
        .ambient = scene_float(node, "ambientIntensity"),
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
    *memory_push(lighting->lights, lighting->count, lighting->capacity) = light;
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

bool lighting_place(Rays *rays, const Pose *solids, int solid_count)
{
    assert_debug(solids || solid_count == 0);
    bool is_turned = false;
    for (int i = 0; i < rays->lighting.count; i++) {
        Light *light = &rays->lighting.lights[i];
        assert(light->solid < solid_count);
        (void)solid_count;
        Affine world = affine_mul(affine_of_pose(light->solid >= 0 ? solids[light->solid] : POSE_IDENTITY),
                                  light->local);
        light->position = vec3_add(mat3_apply(world.m, light->own_position), world.t);
        Vec3 direction = vec3_normalized(mat3_apply(world.m, light->own_direction));
        is_turned |= memcmp(&direction, &light->direction, sizeof direction) != 0;
        light->direction = direction;
    }
    return is_turned;
}
