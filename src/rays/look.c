// look.c - what a surface looks like: colours of materials and of the images on them, paint, and the patch that a pixel
// covers.
#include "rays/rays_internal.h"

// Where the sRGB curve is linear and where it is a power (IEC 61966-2-1).
static double channel_linear(double c) { return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4); }

Vec3 color_linear(Vec3 color)
{
    return vec3(channel_linear(color.x), channel_linear(color.y), channel_linear(color.z));
}

// Likewise for colours from 0 to 1, between the places of a table.
static double texel_channel(const Rays *rays, double c)
{
    double place = LINEAR_PLACES * double_clamp(c, 0.0, 1.0);
    int below = (int)place;
    assert_debug(below >= 0 && below <= LINEAR_PLACES);
    return rays->linear[below] + (place - below) * (rays->linear[below + 1] - rays->linear[below]);
}

static Vec3 texel_linear(const Rays *rays, Vec3 color)
{
    return vec3(texel_channel(rays, color.x), texel_channel(rays, color.y), texel_channel(rays, color.z));
}

// ---- reading ----

static Texture texture_of(Rays *rays, const ShapeSource *source, const SceneNode *node)
{
    const SceneNode *texture = scene_actual(node);
    if (!texture || !scene_node_is(texture, "ImageTexture"))
        return (Texture){ 0 };
    const Image *image = shape_texture(source, texture);
    Texture result = { image && image->pixels ? rays_mip(rays, image) : NULL, NULL, scene_bool(texture, "repeatS"),
                       scene_bool(texture, "repeatT"), scene_int(texture, "filtering") };
    for (int i = 0; i < rays->cover_count; i++)
        if (rays->covers[i].node == texture)
            result.layer = rays->covers[i].layer;
    return result;
}

static void read_transform(Look *look, const SceneNode *appearance)
{
    const SceneNode *transform = scene_child(appearance, "textureTransform");
    if (!transform)
        return;
    look->has_transform = true;
    look->center = scene_vec2(transform, "center");
    look->scale = scene_vec2(transform, "scale");
    look->translation = scene_vec2(transform, "translation");
    look->rotation = scene_float(transform, "rotation");
}

static void read_physical(Look *look, Rays *rays, const ShapeSource *source, const SceneNode *appearance)
{
    look->is_physical = true;
    look->emissive_node = scene_actual(appearance);
    look->color = scene_vec3(appearance, "baseColor");
    look->roughness = scene_float(appearance, "roughness");
    look->transparency = scene_float(appearance, "transparency");
    look->metalness = scene_float(appearance, "metalness");
    look->background_share = scene_float(appearance, "IBLStrength");
    look->occlusion_strength = scene_float(appearance, "occlusionMapStrength");
    look->normal_factor = scene_float(appearance, "normalMapFactor");
    look->emissive_intensity = scene_float(appearance, "emissiveIntensity");
    look->emissive = scene_vec3(appearance, "emissiveColor");  // as it is, as in Webots
    const struct {
        Texture *texture;
        const char *field;
    } maps[] = {
        { &look->base, "baseColorMap" },  { &look->rough, "roughnessMap" },    { &look->occluded, "occlusionMap" },
        { &look->metal, "metalnessMap" }, { &look->glow, "emissiveColorMap" }, { &look->normal, "normalMap" },
    };
    for (int i = 0; i < COUNT_OF(maps); i++) {
        *maps[i].texture = texture_of(rays, source, scene_child(appearance, maps[i].field));
        look->is_textured |= texture_is_there(maps[i].texture);
    }
}

// The diffuse colour shows only where no image covers it. The ambient colour is the product as the file has it, then
// linear.
static void read_plain(Look *look, Rays *rays, const ShapeSource *source, const SceneNode *appearance)
{
    const SceneNode *material = scene_child(appearance, "material");
    look->base = texture_of(rays, source, scene_child(appearance, "texture"));
    look->is_textured = texture_is_there(&look->base);
    if (!material)
        return;
    double ambient = scene_float(material, "ambientIntensity");
    look->emissive_node = scene_actual(material);
    look->transparency = scene_float(material, "transparency");
    look->emissive = color_linear(scene_vec3(material, "emissiveColor"));
    look->ambient = color_linear(vec3(ambient, ambient, ambient));
    if (look->is_textured)
        return;
    look->color = scene_vec3(material, "diffuseColor");
    look->ambient = color_linear(vec3_scale(look->color, ambient));
    look->specular = color_linear(scene_vec3(material, "specularColor"));
    look->exponent = 128.0 * scene_float(material, "shininess");
}

Look look_of(Rays *rays, const ShapeSource *source, const SceneNode *shape)
{
    Look look = { .color = { 1, 1, 1 }, .emissive_intensity = 1.0, .ambient = { 1, 1, 1 } };
    if (!scene_node_is(shape, "Shape")) {
        look.has_parts = look.is_physical = true;
        look.background_share = 1.0;
        look.roughness = 1.0;
        look.linear = vec3(1, 1, 1);
        return look;
    }
    const SceneNode *appearance = scene_child(shape, "appearance");
    if (appearance && scene_node_is(appearance, "PBRAppearance"))
        read_physical(&look, rays, source, appearance);
    else if (appearance && scene_node_is(appearance, "Appearance"))
        read_plain(&look, rays, source, appearance);
    if (appearance && schema_field(appearance->type, "textureTransform"))
        read_transform(&look, appearance);
    look.linear = color_linear(look.color);
    return look;
}

Look look_of_skin(Rays *rays, const ShapeSource *source, const SceneNode *appearance)
{
    Look look = { .color = { 1, 1, 1 }, .linear = { 1, 1, 1 }, .emissive_intensity = 1.0, .ambient = { 1, 1, 1 } };
    if (appearance && scene_node_is(appearance, "PBRAppearance"))
        read_physical(&look, rays, source, appearance);
    else if (appearance && scene_node_is(appearance, "Appearance"))
        read_plain(&look, rays, source, appearance);
    look.linear = color_linear(look.color);
    return look;
}

// ---- at a point ----

// As VRML97 has it: shifted back by the centre, scaled, turned, shifted.
static void transform(const Look *look, double *u, double *v)
{
    double x = *u + look->translation.x - look->center.x, y = *v + look->translation.y - look->center.y;
    double c = cos(look->rotation), s = sin(look->rotation), turned_x = c * x - s * y, turned_y = s * x + c * y;
    *u = look->scale.x * turned_x + look->center.x;
    *v = look->scale.y * turned_y + look->center.y;
}

static const MeshMaterial *material_of(const Mesh *mesh, int triangle)
{
    for (int i = 0; mesh && i < mesh->part_count; i++) {
        const MeshPart *part = &mesh->parts[i];
        if (triangle >= part->first_triangle && triangle - part->first_triangle < part->triangle_count)
            return part->material >= 0 ? &mesh->materials[part->material] : NULL;
    }
    return NULL;
}

// Red, green, blue and density of the paint at a hit; false where there is none.
static bool paint_at(const Visual *visual, const RayHit *hit, Vec3 *color, double *density)
{
    double u, v;
    const RaysPaint *paint = visual->paint;
    if (!paint || !form_paint_place(&visual->form, hit, &u, &v))
        return false;
    int x = int_max(int_min((int)(u * paint->width), paint->width - 1), 0),
        y = int_max(int_min((int)(v * paint->height), paint->height - 1), 0);
    const float *p = paint->pixels + 4 * ((size_t)y * (size_t)paint->width + (size_t)x);
    *color = vec3((double)p[0], (double)p[1], (double)p[2]);
    *density = (double)p[3];
    return *density > 0.0;
}

static Vec3 mix(Vec3 a, Vec3 b, double share) { return vec3_add(vec3_scale(a, 1.0 - share), vec3_scale(b, share)); }

RayLook look_at(const Visual *visual, const Mesh *mesh, const RayHit *hit)
{
    const Look *look = &visual->look;
    double u = hit->u, v = hit->v, density;
    RayLook seen = { look->color, look->roughness, 0.0, look->transparency };
    const MeshMaterial *material = look->has_parts ? material_of(mesh, hit->triangle) : NULL;
    Vec3 ink;
    if (look->has_parts)
        seen.roughness = 0.0;
    if (material) {
        seen.color = material->diffuse;
        seen.transparency = material->transparency;
    }
    if (texture_is_there(&look->base)) {
        if (look->has_transform)
            transform(look, &u, &v);
        seen.color = vec3_mul(seen.color, texture_pixel(&look->base, u, v));
        if (texture_is_there(&look->rough))
            seen.roughness = texture_pixel(&look->rough, u, v).x;
        if (texture_is_there(&look->occluded))
            seen.occlusion = texture_pixel(&look->occluded, u, v).x;
    }
    if (paint_at(visual, hit, &ink, &density))
        seen.color = mix(seen.color, ink, density);
    seen.color = vec3_scale(seen.color, 1.0 - seen.transparency);
    return seen;
}

// ---- the patch that a pixel covers ----

typedef struct Patch {
    TexturePlace place;
    Vec3 across[2];  // on the surface, to the right and downwards, world
} Patch;

static void wrap_step(double *step)
{
    *step -= round(*step);  // over the seam of a round form
}

// Where neighbouring rays would meet the same form, or the plane of the same triangle.
static bool place_beside(const Rays *rays, const Visual *visual, const RayHit *hit, Vec3 origin, Vec3 direction,
                         double *u, double *v, Vec3 *point)
{
    Vec3 o = mat3_apply(visual->inverse, vec3_sub(origin, visual->world.t)), d = mat3_apply(visual->inverse, direction);
    if (visual->mesh < 0) {
        FormHit beside;
        if (!form_hit(&visual->form, o, d, 0.0, &beside) || beside.face != hit->face)
            return false;
        *u = beside.u, *v = beside.v;
        *point = vec3_mad(origin, direction, beside.distance);
        return true;
    }
    const Mesh *mesh = rays->meshes[visual->mesh].mesh;
    assert_debug(hit->triangle >= 0 && hit->triangle < mesh->triangle_count);
    const uint32_t *corners = mesh->triangles + 3 * (size_t)hit->triangle;
    Vec3 a = mesh_position(mesh, corners[0]), ab = vec3_sub(mesh_position(mesh, corners[1]), a),
         ac = vec3_sub(mesh_position(mesh, corners[2]), a);
    Vec3 n = vec3_cross(ab, ac);
    double along = vec3_dot(n, d), size = vec3_dot(n, n);
    if (along == 0.0 || size == 0.0)
        return false;
    double distance = vec3_dot(n, vec3_sub(a, o)) / along;
    Vec3 p = vec3_sub(vec3_mad(o, d, distance), a);
    mesh_texture_place(mesh, hit->triangle, vec3_dot(vec3_cross(p, ac), n) / size,
                       vec3_dot(vec3_cross(ab, p), n) / size, u, v);
    *point = vec3_mad(origin, direction, distance);
    return true;
}

static Patch patch_of(const Rays *rays, const Visual *visual, const Ray *ray, const RayHit *hit)
{
    Patch patch = { .place = { .u = hit->u, .v = hit->v } };
    Vec3 point = vec3_mad(ray->origin, ray->direction, hit->distance), side = vec3_orthogonal(ray->direction),
         down = vec3_cross(ray->direction, side);
    double spread = ray->spread > 0.0 ? ray->spread : 1e-4;
    for (int i = 0; i < 2; i++) {
        Vec3 direction = vec3_mad(ray->direction, i ? down : side, spread), beside;
        double u, v;
        if (!place_beside(rays, visual, hit, ray->origin, direction, &u, &v, &beside)) {
            direction = vec3_mad(ray->direction, i ? down : side, -spread);
            if (!place_beside(rays, visual, hit, ray->origin, direction, &u, &v, &beside))
                continue;
        }
        patch.place.du[i] = u - hit->u;
        patch.place.dv[i] = v - hit->v;
        if (visual->mesh < 0) {
            wrap_step(&patch.place.du[i]);
            wrap_step(&patch.place.dv[i]);
        }
        patch.across[i] = vec3_sub(beside, point);
    }
    return patch;
}

static void transform_place(const Look *look, TexturePlace *place)
{
    TexturePlace from = *place;
    transform(look, &place->u, &place->v);
    for (int i = 0; i < 2; i++) {
        double u = from.u + from.du[i], v = from.v + from.dv[i];
        transform(look, &u, &v);
        place->du[i] = u - place->u;
        place->dv[i] = v - place->v;
    }
}

// The axes of the image on the surface, of which the longer has length 1; then the image's normal between them.
static Vec3 bent_normal(const Look *look, const Patch *patch, Vec3 normal)
{
    double cover;
    Vec3 map = vec3_sub(vec3_scale(texture_at(&look->normal, &patch->place, &cover), 2.0), vec3(1, 1, 1));
    Vec3 p2 = vec3_cross(patch->across[1], normal), p1 = vec3_cross(normal, patch->across[0]);
    Vec3 t = vec3_add(vec3_scale(p2, patch->place.du[0]), vec3_scale(p1, patch->place.du[1]));
    Vec3 b = vec3_add(vec3_scale(p2, patch->place.dv[0]), vec3_scale(p1, patch->place.dv[1]));
    double max = fmax(vec3_length2(t), vec3_length2(b));
    if (!(max > 0.0))
        return normal;
    double scale = look->normal_factor / sqrt(max);
    Vec3 bent = vec3_scale(normal, map.z);
    bent = vec3_mad(vec3_mad(bent, t, map.x * scale), b, map.y * scale);
    return vec3_length2(bent) > 0.0 ? vec3_normalized(bent) : normal;
}

static double red_at(const Texture *texture, const TexturePlace *place, double otherwise)
{
    double cover;
    return texture_is_there(texture) ? texture_at(texture, place, &cover).x : otherwise;
}

// Ink covers the image; on a plain material it covers the diffuse colour alone. Its colour counts as it is, as in
// Webots.
static void add_paint(const Visual *visual, const RayHit *hit, Vec3 *color)
{
    Vec3 ink;
    double density;
    if (paint_at(visual, hit, &ink, &density))
        *color = mix(*color, ink, density);
}

static void textured_surface(const Rays *rays, const Visual *visual, const Ray *ray, const RayHit *hit, Surface *seen)
{
    const Look *look = &visual->look;
    Patch patch = patch_of(rays, visual, ray, hit);
    double cover = 1.0, unused;
    if (look->has_transform)
        transform_place(look, &patch.place);
    if (texture_is_there(&look->base)) {
        Vec3 texel = texel_linear(rays, texture_at(&look->base, &patch.place, &cover));
        if (!look->is_physical)
            add_paint(visual, hit, &texel);
        seen->base = vec3_mul(look->linear, texel);
        if (!look->is_physical) {  // the image takes part in every kind of light
            seen->ambient = vec3_mul(seen->ambient, texel);
            seen->emissive = vec3_mul(seen->emissive, texel);
        }
    }
    seen->transparency = 1.0 - cover * (1.0 - seen->transparency);
    seen->roughness = red_at(&look->rough, &patch.place, look->roughness);
    seen->metalness = red_at(&look->metal, &patch.place, look->metalness);
    if (texture_is_there(&look->occluded))
        seen->occlusion = 1.0 - look->occlusion_strength * (1.0 - red_at(&look->occluded, &patch.place, 1.0));
    if (texture_is_there(&look->glow))
        seen->emissive = vec3_scale(texture_at(&look->glow, &patch.place, &unused), look->emissive_intensity);
    if (texture_is_there(&look->normal))
        seen->normal = bent_normal(look, &patch, hit->smooth);
}

// From the plain look to what this point of it is: the part of the mesh, then textures, then paint on top.
Surface surface_at(const Rays *rays, const Ray *ray, const RayHit *hit)
{
    assert(hit->visual >= 0 && hit->visual < rays->visual_count);
    const Visual *visual = &rays->visuals[hit->visual];
    const Look *look = &visual->look;
    assert_debug(!look->has_parts || visual->mesh >= 0);
    Surface seen = {
        .is_physical = look->is_physical,
        .base = look->linear,
        .emissive = vec3_scale(look->emissive, look->emissive_intensity),
        .specular = look->specular,
        .ambient = look->ambient,
        .normal = hit->smooth,
        .roughness = look->roughness,
        .metalness = look->metalness,
        .occlusion = 1.0,
        .transparency = look->transparency,
        .background_share = look->background_share,
        .exponent = look->exponent,
    };
    const MeshMaterial *material = look->has_parts ? material_of(rays->meshes[visual->mesh].mesh, hit->triangle) : NULL;
    if (material) {
        seen.base = color_linear(material->diffuse);
        seen.emissive = color_linear(material->emissive);
        seen.transparency = material->transparency;
    }
    if (visual->form.stroke_count > 0) {
        assert(hit->face >= 0 && hit->face < visual->form.stroke_count);
        seen.emissive = visual->form.strokes[hit->face].light;
    }
    if (look->is_textured)
        textured_surface(rays, visual, ray, hit, &seen);
    if (look->is_physical || !look->is_textured)
        add_paint(visual, hit, &seen.base);
    return seen;
}
