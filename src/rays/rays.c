// rays.c - what can be seen of a world, its life and questions about it. Embree holds the meshes as instances of trees
// (trees.c) and one user geometry whose primitives are the forms with a formula (form.c), by their boxes in the world.
// The scene becomes a list of visuals (visuals.c), which gets its places (placement.c) and is searched (cast.c).
#include "rays/shadows.h"

#include "base/cpu.h"
#include "base/memory.h"

#include <stdlib.h>

// ---- edits ----

void rays_keep_nodes(const Rays *rays, Scene *scene)
{
    for (int i = 0; i < rays->visual_count; i++) {
        scene_keep(scene, rays->visuals[i].node);
        scene_keep(scene, rays->visuals[i].look.emissive_node);
        scene_keep(scene, rays->visuals[i].drive);
    }
    for (int i = 0; i < rays->lighting.count; i++)
        scene_keep(scene, rays->lighting.lights[i].node);
    for (int i = 0; i < rays->lamp_count; i++)
        scene_keep(scene, rays->lamps[i].node);
    for (int i = 0; i < rays->cover_count; i++)
        scene_keep(scene, rays->covers[i].node);
    for (int i = 0; i < rays->paint_count; i++)
        scene_keep(scene, rays->paints[i].node);
    for (int i = 0; i < rays->veil_count; i++)
        scene_keep(scene, rays->veils[i].node);
}

void rays_rebind(Rays *rays, Physics *physics)
{
    assert(physics);
    rays->physics = physics;
    rays->is_listed = false;
}

// ---- questions ----

int rays_visual_count(const Rays *rays) { return rays->visual_count; }

SceneNode *rays_visual_node(const Rays *rays, int visual)
{
    assert(visual >= 0 && visual < rays->visual_count);
    return rays->visuals[visual].node;
}

Vec3 rays_recognition_color(const Rays *rays, int visual)
{
    assert(visual >= 0 && visual < rays->visual_count);
    return rays->visuals[visual].recognition;
}

RayLook rays_look(const Rays *rays, const RayHit *hit)
{
    assert(hit->visual >= 0 && hit->visual < rays->visual_count);
    const Visual *visual = &rays->visuals[hit->visual];
    return look_at(visual, visual->mesh >= 0 ? rays->meshes[visual->mesh].mesh : NULL, hit);
}

static bool is_at_or_below(const SceneNode *node, const SceneNode *top)
{
    const SceneNode *at = node;
    while (at && at != top)
        at = scene_parent(at);
    return at != NULL;
}

bool rays_bounds(const Rays *rays, Vec3 *low, Vec3 *high) { return rays_bounds_below(rays, NULL, low, high); }

bool rays_bounds_below(const Rays *rays, const SceneNode *top, Vec3 *low, Vec3 *high)
{
    double min[3] = { INFINITY, INFINITY, INFINITY }, max[3] = { -INFINITY, -INFINITY, -INFINITY };
    for (int i = 0; i < rays->visual_count; i++)
        for (int k = 0; k < 3 && (!top || is_at_or_below(rays->visuals[i].node, top)); k++) {
            min[k] = fmin(min[k], (double)rays->visuals[i].low[k]);
            max[k] = fmax(max[k], (double)rays->visuals[i].high[k]);
        }
    *low = vec3(min[0], min[1], min[2]);
    *high = vec3(max[0], max[1], max[2]);
    return vec3_is_finite(*low) && vec3_is_finite(*high);
}

int rays_triangle_count(const Rays *rays)
{
    int count = 0;
    for (int i = 0; i < rays->visual_count; i++)
        count += rays->visuals[i].mesh >= 0 ? rays->meshes[rays->visuals[i].mesh].mesh->triangle_count : 1;
    return count;
}

Vec3 rays_up(const Rays *rays) { return rays->lighting.up; }

int rays_texture_count(const Rays *rays) { return rays->mip_count; }

// ---- life ----

Rays *rays_create(Physics *physics, DiagSink *diags)
{
    assert(physics && diags);
    Rays *rays = memory_alloc(sizeof *rays);
    rays->physics = physics;
    rays->diags = diags;
    rays->view = POSE_IDENTITY;
    bool is_wide = cpu_has_avx2();
    rays->shade = is_wide ? shade_avx2 : shade_portable;
    rays->block = is_wide ? block_surfaces_avx2 : block_surfaces_portable;
    rays->fill = is_wide ? raster_fill_avx2 : raster_fill_portable;
    rays->darken = is_wide ? shadows_darken_avx2 : shadows_darken_portable;
    rays->circle = memory_alloc_array(CIRCLE_PLACES, sizeof *rays->circle);
    for (int i = 0; i < CIRCLE_PLACES; i++) {
        rays->circle[i][0] = (float)cos(2.0 * M_PI * i / CIRCLE_PLACES);
        rays->circle[i][1] = (float)sin(2.0 * M_PI * i / CIRCLE_PLACES);
    }
    for (int i = 0; i <= LINEAR_PLACES + 1; i++)
        rays->linear[i] = color_linear(vec3((double)i / LINEAR_PLACES, 0, 0)).x;
    // One thread: a world is stepped by the thread that owns it, and many worlds may live in one process.
    rays->device = rtcNewDevice("threads=1,user_threads=1");
    rays->scene = rtcNewScene(rays->device);
    rtcSetSceneFlags(rays->scene, RTC_SCENE_FLAG_DYNAMIC | RTC_SCENE_FLAG_ROBUST);
    rtcSetSceneBuildQuality(rays->scene, RTC_BUILD_QUALITY_LOW);
    rays->geometry = rtcNewGeometry(rays->device, RTC_GEOMETRY_TYPE_USER);
    rtcSetGeometryUserData(rays->geometry, rays);
    rtcSetGeometryBoundsFunction(rays->geometry, placement_bounds, NULL);
    rtcSetGeometryIntersectFunction(rays->geometry, cast_meet_forms);
    rtcSetGeometryOccludedFunction(rays->geometry, cast_darken_forms);
    rtcSetGeometryBuildQuality(rays->geometry, RTC_BUILD_QUALITY_LOW);
    rtcSetGeometryMask(rays->geometry, MASK_SEEN | MASK_SHADOW);
    rtcAttachGeometryByID(rays->scene, rays->geometry, 0);
    return rays;
}

// Instances refer to trees and the scene to both, so they are released in that order.
void rays_destroy(Rays *rays)
{
    if (!rays)
        return;
    placement_drop_instances(rays);
    visuals_drop_strokes(rays);
    free(rays->strokes);
    for (int i = 0; i < rays->mesh_count; i++) {
        if (rays->meshes[i].geometry)
            rtcReleaseGeometry(rays->meshes[i].geometry);
        rtcReleaseScene(rays->meshes[i].scene);
        free(rays->meshes[i].normals);
    }
    skins_free(rays);
    raster_free(rays);
    shadows_free(rays);
    rtcReleaseGeometry(rays->geometry);
    rtcReleaseScene(rays->scene);
    rtcReleaseDevice(rays->device);
    for (int i = 0; i < rays->mip_count; i++)
        mip_destroy(rays->mips[i]);
    free(rays->mips);
    free(rays->meshes);
    free(rays->visuals);
    free(rays->solids);
    free(rays->lamps);
    free(rays->covers);
    free(rays->paints);
    free(rays->veils);
    free(rays->dots);
    free(rays->circle);
    lighting_free(rays);
    free(rays);
}

const char *rays_library(void) { return "Embree " RTC_VERSION_STRING; }
