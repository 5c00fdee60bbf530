// placement.c - where the visuals are: poses of solids become boxes of forms and instances of meshes in the tree of the
// world. A moving world so needs new boxes alone.
#include "rays/rays_internal.h"

#include "base/memory.h"

#include <string.h>

void placement_drop_instances(Rays *rays)
{
    for (int i = 0; i < rays->visual_count; i++) {
        Visual *visual = &rays->visuals[i];
        if (!visual->instance)
            continue;
        rtcDetachGeometry(rays->scene, (unsigned)i + 1);
        rtcReleaseGeometry(visual->instance);
        visual->instance = NULL;
    }
}

void placement_make_instances(Rays *rays)
{
    for (int i = 0; i < rays->visual_count; i++) {
        Visual *visual = &rays->visuals[i];
        if (visual->mesh < 0)
            continue;
        assert_debug(!visual->instance && visual->mesh < rays->mesh_count);
        visual->instance = rtcNewGeometry(rays->device, RTC_GEOMETRY_TYPE_INSTANCE);
        rtcSetGeometryInstancedScene(visual->instance, rays->meshes[visual->mesh].scene);
        rtcSetGeometryMask(visual->instance, MASK_SEEN | (visual->casts_shadow ? MASK_SHADOW : 0));
        rtcAttachGeometryByID(rays->scene, visual->instance, (unsigned)i + 1);
    }
}

static void place_instance(const Visual *visual, bool is_seen)
{
    assert_debug(visual->instance);
    const double *m = visual->world.m.m;
    const float columns[12] = { (float)m[0],
                                (float)m[3],
                                (float)m[6],
                                (float)m[1],
                                (float)m[4],
                                (float)m[7],
                                (float)m[2],
                                (float)m[5],
                                (float)m[8],
                                (float)visual->world.t.x,
                                (float)visual->world.t.y,
                                (float)visual->world.t.z };
    if (!is_seen) {
        rtcDisableGeometry(visual->instance);
        return;
    }
    rtcEnableGeometry(visual->instance);
    rtcSetGeometryTransform(visual->instance, 0, RTC_FORMAT_FLOAT3X4_COLUMN_MAJOR, columns);
    rtcCommitGeometry(visual->instance);
}

// Whether rays, which are cast in single precision, can be brought into the frame of the visual.
static bool is_within_reach(const Visual *visual, Vec3 centre)
{
    bool is_within = fabs(centre.x) <= RAYS_COORDINATE_MAX && fabs(centre.y) <= RAYS_COORDINATE_MAX
                     && fabs(centre.z) <= RAYS_COORDINATE_MAX;
    for (int i = 0; i < 9; i++)
        is_within = is_within && fabs(visual->world.m.m[i]) <= RAYS_COORDINATE_MAX
                    && fabs(visual->inverse.m[i]) <= RAYS_INVERSE_MAX;
    return is_within;
}

static bool place(Visual *visual, Pose pose, bool is_forced)
{
    if (!is_forced && !visual->is_stale && !memcmp(&pose, &visual->pose, sizeof pose))
        return false;
    visual->is_stale = false;
    visual->pose = pose;
    visual->world = affine_mul(affine_of_pose(pose), visual->local);
    const double *m = visual->world.m.m;
    Vec3 middle = vec3_scale(vec3_add(visual->form.low, visual->form.high), 0.5),
         half = vec3_scale(vec3_sub(visual->form.high, visual->form.low), 0.5);
    Vec3 centre = vec3_add(mat3_apply(visual->world.m, middle), visual->world.t);
    const double c[3] = { centre.x, centre.y, centre.z };
    bool is_seen = mat3_inverse(visual->world.m, &visual->inverse) && is_within_reach(visual, centre)
                   && !visual->is_off;
    for (int i = 0; i < 3; i++) {
        double reach = fabs(m[3 * i]) * half.x + fabs(m[3 * i + 1]) * half.y + fabs(m[3 * i + 2]) * half.z;
        // What rounding to single precision takes away is added again.
        double slack = 1e-6 * (fabs(c[i]) + reach) + 1e-9;
        visual->low[i] = is_seen ? (float)(c[i] - reach - slack) : INFINITY;  // an empty box is never met
        visual->high[i] = is_seen ? (float)(c[i] + reach + slack) : -INFINITY;
    }
    for (int i = 0; i < 9; i++)
        visual->inverse_float[i] = is_seen ? (float)visual->inverse.m[i] : 0.0f;
    if (visual->instance)
        place_instance(visual, is_seen);
    return true;
}

void placement_bounds(const struct RTCBoundsFunctionArguments *arguments)
{
    const Rays *rays = arguments->geometryUserPtr;
    assert_debug((int)arguments->primID < rays->visual_count);
    const Visual *visual = &rays->visuals[arguments->primID];
    bool is_form = visual->mesh < 0;
    struct RTCBounds *out = arguments->bounds_o;
    out->lower_x = is_form ? visual->low[0] : INFINITY;
    out->lower_y = is_form ? visual->low[1] : INFINITY;
    out->lower_z = is_form ? visual->low[2] : INFINITY;
    out->upper_x = is_form ? visual->high[0] : -INFINITY;
    out->upper_y = is_form ? visual->high[1] : -INFINITY;
    out->upper_z = is_form ? visual->high[2] : -INFINITY;
}

// A bare floor of some size shows squares to people; how wide they are, 0: it shows none.
static double squares_of(const Visual *visual, Vec3 up)
{
    Vec3 size = vec3((double)visual->high[0] - (double)visual->low[0], (double)visual->high[1] - (double)visual->low[1],
                     (double)visual->high[2] - (double)visual->low[2]);
    double reach = fmin(size.x, up.z > 0.0 ? size.y : size.z);  // both ways across
    if (visual->look.is_textured || visual->look.has_parts || !(reach > 1.5))
        return 0.0;
    return reach > 20.0 ? 1.0 : reach > 5.0 ? 0.5 : 0.25;
}

void rays_place(Rays *rays, const Pose *solids, int solid_count)
{
    assert(solid_count == 0 || solids);
    bool is_new = rays->is_unplaced, is_moved = is_new;
    skins_place(rays, solids, solid_count);
    for (int i = 0; i < rays->visual_count; i++) {
        Visual *visual = &rays->visuals[i];
        assert(visual->solid < solid_count);
        assert_debug(visual->solid >= -1);
        if (!place(visual,
                   visual->solid >= 0   ? solids[visual->solid]
                   : visual->is_overlay ? rays->view
                                        : POSE_IDENTITY,
                   is_new))
            continue;
        visual->squares = squares_of(visual, rays->lighting.up);
        is_moved = true;
    }
    bool is_turned = lighting_place(rays, solids, solid_count);
    rays->placings += is_moved || is_turned;
    rays->is_unplaced = false;
    if (!is_moved)
        return;
    rtcCommitGeometry(rays->geometry);
    rtcCommitScene(rays->scene);
}

void rays_update(Rays *rays)
{
    int count = physics_solid_count(rays->physics);
    memory_grow(&rays->solids, &rays->solid_capacity, count, sizeof *rays->solids);
    for (int i = 0; i < count; i++)
        rays->solids[i] = physics_solid_exists(rays->physics, i) ? physics_solid_pose(rays->physics, i) : POSE_IDENTITY;
    rays_list(rays);
    rays_place(rays, rays->solids, count);
}
