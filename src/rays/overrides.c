// overrides.c - what devices change of what is seen: lamps, layers on textures, paint, nodes hidden from some eyes,
// dots of lasers. It is known by node and stays when the visuals are listed anew.
#include "rays/rays_internal.h"

#include "base/memory.h"

const RaysPaint *overrides_paint(const Rays *rays, const SceneNode *shape)
{
    for (int i = 0; i < rays->paint_count; i++)
        if (rays->paints[i].node == shape)
            return rays->paints[i].paint;
    return NULL;
}

static void light_lamp(Visual *visual, Vec3 color)
{
    visual->look.emissive = visual->look.is_physical ? color : color_linear(color);
}

void overrides_light(Rays *rays, Visual *visual)
{
    assert_debug(visual->node);
    for (int i = 0; visual->look.emissive_node && i < rays->lamp_count; i++)
        if (rays->lamps[i].node == visual->look.emissive_node)
            light_lamp(visual, rays->lamps[i].color);
}

uint64_t overrides_hidden(const Rays *rays, const SceneNode *node)
{
    uint64_t eyes = 0;
    for (int i = 0; i < rays->veil_count; i++)
        if (rays->veils[i].node == node)
            eyes |= rays->veils[i].eyes;
    return eyes;
}

void overrides_sum_veils(Rays *rays)
{
    rays->veiled = 0;
    for (int i = 0; i < rays->veil_count; i++)
        rays->veiled |= rays->veils[i].eyes;
}

// What devices showed on nodes that are lost.
void overrides_drop_lost(Rays *rays)
{
    const Scene *scene = physics_scene(rays->physics);
    int lamps = 0, covers = 0, paints = 0, veils = 0;
    for (int i = 0; i < rays->lamp_count; i++)
        if (!scene_node_is_lost(scene, rays->lamps[i].node))
            rays->lamps[lamps++] = rays->lamps[i];
    for (int i = 0; i < rays->cover_count; i++)
        if (!scene_node_is_lost(scene, rays->covers[i].node))
            rays->covers[covers++] = rays->covers[i];
    for (int i = 0; i < rays->paint_count; i++)
        if (!scene_node_is_lost(scene, rays->paints[i].node))
            rays->paints[paints++] = rays->paints[i];
    for (int i = 0; i < rays->veil_count; i++)
        if (!scene_node_is_lost(scene, rays->veils[i].node))
            rays->veils[veils++] = rays->veils[i];
    rays->lamp_count = lamps;
    rays->cover_count = covers;
    rays->paint_count = paints;
    rays->veil_count = veils;
}

void rays_set_lamp(Rays *rays, const SceneNode *node, Vec3 color, bool is_on)
{
    assert(node);
    int at = 0;
    while (at < rays->lamp_count && rays->lamps[at].node != node)
        at++;
    if (at == rays->lamp_count)
        memory_grow(&rays->lamps, &rays->lamp_capacity, ++rays->lamp_count, sizeof *rays->lamps);
    rays->lamps[at] = (Lamp){ node, color, is_on };
    for (int i = 0; i < rays->visual_count; i++)
        if (rays->visuals[i].look.emissive_node == node)
            light_lamp(&rays->visuals[i], color);
    for (int i = 0; i < rays->lighting.count; i++)
        if (rays->lighting.lights[i].node == node) {
            rays->lighting.lights[i].color = color;
            rays->lighting.lights[i].is_on = is_on;
        }
    lighting_sum(rays);
}

void rays_set_layer(Rays *rays, const SceneNode *texture, const RaysLayer *layer)
{
    assert(texture);
    int at = 0;
    while (at < rays->cover_count && rays->covers[at].node != texture)
        at++;
    if (at < rays->cover_count && rays->covers[at].layer == layer)
        return;
    if (at == rays->cover_count)
        memory_grow(&rays->covers, &rays->cover_capacity, ++rays->cover_count, sizeof *rays->covers);
    rays->covers[at] = (Cover){ texture, layer };
    rays->is_listed = false;
}

void rays_set_paint(Rays *rays, const SceneNode *shape, const RaysPaint *paint)
{
    assert(shape);
    int at = 0;
    while (at < rays->paint_count && rays->paints[at].node != shape)
        at++;
    if (at == rays->paint_count)
        memory_grow(&rays->paints, &rays->paint_capacity, ++rays->paint_count, sizeof *rays->paints);
    rays->paints[at] = (Painted){ shape, paint };
    for (int i = 0; i < rays->visual_count; i++)
        if (rays->visuals[i].node == shape)
            rays->visuals[i].paint = paint;
}

int rays_paint_spots(const Rays *rays, const RayHit *hit, double reach_u, double reach_v, RaysSpot spots[6])
{
    assert(hit->visual >= 0 && hit->visual < rays->visual_count);
    return form_paint_spots(&rays->visuals[hit->visual].form, hit, reach_u, reach_v, spots);
}

void rays_paint_size(const Rays *rays, int visual, int *width, int *height, int cells[2], double *radius)
{
    assert(visual >= 0 && visual < rays->visual_count);
    enum { SIDE_MIN = 32, SIDE_MAX = 1024 };
    const Visual *of = &rays->visuals[visual];
    const double *m = of->local.m.m;
    double scale = sqrt(fmax(m[0] * m[0] + m[3] * m[3] + m[6] * m[6],
                             fmax(m[1] * m[1] + m[4] * m[4] + m[7] * m[7], m[2] * m[2] + m[5] * m[5] + m[8] * m[8])));
    *radius = scale * (of->mesh >= 0 ? rays->meshes[of->mesh].radius : form_radius(&of->form, NULL));
    form_paint_cells(&of->form, cells);
    if (of->look.base.mip) {
        *width = of->look.base.mip->width[0];
        *height = of->look.base.mip->height[0];
        return;
    }
    double size = SIDE_MIN + (SIDE_MAX - SIDE_MIN) * fmin(*radius / 10.0, 1.0);
    int side = SIDE_MIN;
    while (side * 2 <= size && side < SIDE_MAX)
        side *= 2;
    if (side < SIDE_MAX && 2 * side - size < size - side)
        side *= 2;
    *width = *height = side;
}

void rays_hide(Rays *rays, const SceneNode *node, int eye, bool is_hidden)
{
    assert(node);
    assert(eye >= 0 && eye < 64);
    int at = 0;
    while (at < rays->veil_count && rays->veils[at].node != node)
        at++;
    if (at == rays->veil_count) {
        memory_grow(&rays->veils, &rays->veil_capacity, ++rays->veil_count, sizeof *rays->veils);
        rays->veils[at] = (Veil){ node, 0 };
    }
    uint64_t bit = (uint64_t)1 << eye;
    rays->veils[at].eyes = is_hidden ? rays->veils[at].eyes | bit : rays->veils[at].eyes & ~bit;
    rays->is_listed = false;
}

void rays_unhide_all(Rays *rays)
{
    if (rays->veil_count > 0)
        rays->is_listed = false;
    rays->veil_count = 0;
}

void rays_set_view(Rays *rays, Pose view) { rays->view = view; }

bool rays_is_hidden(const Rays *rays, int visual, int eye)
{
    assert_debug(visual >= 0 && visual < rays->visual_count && eye >= 0 && eye < 64);
    return rays->visuals[visual].hidden >> eye & 1;
}

bool rays_hides(const Rays *rays, int eye)
{
    assert_debug(eye >= 0 && eye < 64);
    return rays->veiled >> eye & 1;
}

void rays_clear_spots(Rays *rays) { rays->dot_count = 0; }

void rays_add_spot(Rays *rays, Vec3 place, double radius, Vec3 color)
{
    *memory_push(rays->dots, rays->dot_count, rays->dot_capacity) = (Dot){ place, radius, color };
}
