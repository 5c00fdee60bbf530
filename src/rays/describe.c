// describe.c - what is seen, as plain values: for those who draw it elsewhere (glTF files, the viewer's page).
#include "rays/rays_internal.h"

static const Image *image_of(const Texture *texture) { return texture->mip ? texture->mip->image : NULL; }

static const Mesh *triangles_of(const Rays *rays, const Visual *visual)
{
    if (visual->mesh >= 0)
        return rays->meshes[visual->mesh].mesh;
    ShapeSource source = { physics_scene(rays->physics), physics_assets(rays->physics), rays->diags };
    return shape_mesh(&source, visual->node).mesh;
}

Vec3 rays_linear_color(Vec3 color) { return color_linear(color); }

// The look of a visual in plain numbers for those who write it elsewhere (glTF, Webots' pages), without this
// folder's types.
RaysVisual rays_describe(const Rays *rays, int index)
{
    assert(index >= 0 && index < rays->visual_count);
    const Visual *visual = &rays->visuals[index];
    const Look *look = &visual->look;
    RaysVisual out = { .node = visual->node,
                       .solid = visual->solid,
                       .mesh = triangles_of(rays, visual),
                       .color = look->color,
                       .emissive = look->emissive,
                       .glow = look->emissive_node,
                       .transparency = look->transparency,
                       .roughness = look->is_physical ? look->roughness : 1.0,
                       .metalness = look->is_physical ? look->metalness : 0.0,
                       .image = image_of(&look->base),
                       .has_parts = look->has_parts,
                       .repeats = { look->base.repeats_s, look->base.repeats_t },
                       .has_transform = look->has_transform,
                       .center = look->center,
                       .scale = look->scale,
                       .shift = look->translation,
                       .rotation = look->rotation };
    const double *m = visual->local.m.m;
    const Vec3 t = visual->local.t;
    const double local[12] = { m[0], m[1], m[2], t.x, m[3], m[4], m[5], t.y, m[6], m[7], m[8], t.z };
    for (int i = 0; i < 12; i++)
        out.local[i] = local[i];
    return out;
}
