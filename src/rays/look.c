// look.c - what a surface looks like: colours of materials and of the images on them.
#include "rays/rays_internal.h"

static Texture texture_of(const ShapeSource *source, const SceneNode *node)
{
    if (!node || !scene_node_is(node, "ImageTexture"))
        return (Texture){ 0 };
    const Image *image = shape_texture(source, node);
    if (image && !image->pixels)
        image = NULL;
    return (Texture){ image, scene_bool(node, "repeatS"), scene_bool(node, "repeatT") };
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

static void read_physical(Look *look, const ShapeSource *source, const SceneNode *appearance)
{
    look->is_physical = true;
    look->metalness = scene_float(appearance, "metalness");
    look->background_share = scene_float(appearance, "IBLStrength");
    look->occlusion_strength = scene_float(appearance, "occlusionMapStrength");
    look->emissive = vec3_scale(color_linear(scene_vec3(appearance, "emissiveColor")), scene_float(appearance, "emissiveIntensity"));
    look->metal = texture_of(source, scene_child(appearance, "metalnessMap"));
    look->glow = texture_of(source, scene_child(appearance, "emissiveColorMap"));
}

static void read_material(Look *look, const SceneNode *material)
{
    look->transparency = scene_float(material, "transparency");
    look->ambient = scene_float(material, "ambientIntensity");
    look->emissive = color_linear(scene_vec3(material, "emissiveColor"));
    look->specular = color_linear(scene_vec3(material, "specularColor"));
    look->exponent = 128.0 * scene_float(material, "shininess");
}

// The diffuse colour shows only where no image covers it; the base colour of a physical appearance tints its image.
Look look_of(const ShapeSource *source, const SceneNode *shape)
{
    Look look = { .color = { 1, 1, 1 } };
    if (!scene_node_is(shape, "Shape")) {
        look.has_parts = look.is_physical = true;
        look.background_share = 1.0;
        return look;
    }
    const SceneNode *appearance = scene_child(shape, "appearance");
    look.ambient = 1.0;
    if (appearance && scene_node_is(appearance, "PBRAppearance")) {
        read_physical(&look, source, appearance);
        look.color = scene_vec3(appearance, "baseColor");
        look.roughness = scene_float(appearance, "roughness");
        look.transparency = scene_float(appearance, "transparency");
        look.base = texture_of(source, scene_child(appearance, "baseColorMap"));
        if (look.base.image) {
            look.rough = texture_of(source, scene_child(appearance, "roughnessMap"));
            look.occluded = texture_of(source, scene_child(appearance, "occlusionMap"));
        }
        read_transform(&look, appearance);
    } else if (appearance && scene_node_is(appearance, "Appearance")) {
        const SceneNode *material = scene_child(appearance, "material");
        look.base = texture_of(source, scene_child(appearance, "texture"));
        if (material && !look.base.image)
            look.color = scene_vec3(material, "diffuseColor");
        if (material)
            read_material(&look, material);
        read_transform(&look, appearance);
    }
    look.linear = color_linear(look.color);
    return look;
}

// ---- at a point ----

static double wrapped(double x, bool repeats)
{
    if (!isfinite(x))
        return 0.0;
    return repeats ? x - floor(x) : double_clamp(x, 0.0, 1.0);
}

static Vec3 pixel(const Texture *texture, double u, double v)
{
    const Image *image = texture->image;
    u = wrapped(u, texture->repeats_s);
    v = 1.0 - wrapped(v, texture->repeats_t);
    int column = int_min((int)(u * image->width), image->width - 1), row = int_min((int)(v * image->height), image->height - 1);
    const uint8_t *bytes = image->pixels + 4 * ((size_t)row * (size_t)image->width + (size_t)column);
    return vec3(bytes[0] / 255.0, bytes[1] / 255.0, bytes[2] / 255.0);
}

// Between the four pixels around the point; the fourth number is how much of the surface is there.
static Vec3 pixels_around(const Texture *texture, double u, double v, double *cover)
{
    const Image *image = texture->image;
    double x = wrapped(u, texture->repeats_s) * image->width - 0.5, y = (1.0 - wrapped(v, texture->repeats_t)) * image->height - 0.5;
    double fx = x - floor(x), fy = y - floor(y);
    Vec3 sum = VEC3_ZERO;
    *cover = 0.0;
    for (int k = 0; k < 4; k++) {
        int column = (int)floor(x) + (k & 1), row = (int)floor(y) + (k >> 1);
        column = texture->repeats_s ? (column + image->width) % image->width : int_max(int_min(column, image->width - 1), 0);
        row = texture->repeats_t ? (row + image->height) % image->height : int_max(int_min(row, image->height - 1), 0);
        const uint8_t *bytes = image->pixels + 4 * ((size_t)row * (size_t)image->width + (size_t)column);
        double share = (k & 1 ? fx : 1.0 - fx) * (k >> 1 ? fy : 1.0 - fy);
        sum = vec3_mad(sum, vec3(bytes[0] / 255.0, bytes[1] / 255.0, bytes[2] / 255.0), share);
        *cover += share * bytes[3] / 255.0;
    }
    return sum;
}

Vec3 color_linear(Vec3 color)
{
    return vec3(pow(color.x, 2.2), pow(color.y, 2.2), pow(color.z, 2.2));
}

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

RayLook look_at(const Look *look, const Mesh *mesh, int triangle, double u, double v)
{
    RayLook seen = { look->color, look->roughness, 0.0, look->transparency };
    const MeshMaterial *material = look->has_parts ? material_of(mesh, triangle) : NULL;
    if (material) {
        seen.color = material->diffuse;
        seen.transparency = material->transparency;
    }
    if (look->base.image) {
        if (look->has_transform)
            transform(look, &u, &v);
        seen.color = vec3_mul(seen.color, pixel(&look->base, u, v));
        if (look->rough.image)
            seen.roughness = pixel(&look->rough, u, v).x;
        if (look->occluded.image)
            seen.occlusion = pixel(&look->occluded, u, v).x;
    }
    seen.color = vec3_scale(seen.color, 1.0 - seen.transparency);
    return seen;
}

static double red_at(const Texture *texture, double u, double v, double otherwise)
{
    double cover;
    return texture->image ? pixels_around(texture, u, v, &cover).x : otherwise;
}

Surface surface_at(const Look *look, const Mesh *mesh, int triangle, double u, double v)
{
    Surface seen = {
        .is_physical = look->is_physical, .emissive = look->emissive, .specular = look->specular, .transparency = look->transparency,
        .background_share = look->background_share, .ambient = look->ambient, .exponent = look->exponent,
    };
    Vec3 color = look->color;
    double cover = 1.0;
    const MeshMaterial *material = look->has_parts ? material_of(mesh, triangle) : NULL;
    if (material) {
        color = material->diffuse;
        seen.emissive = color_linear(material->emissive);
        seen.transparency = material->transparency;
    }
    if (look->has_transform)
        transform(look, &u, &v);
    if (look->base.image)
        color = vec3_mul(color, pixels_around(&look->base, u, v, &cover));
    seen.base = material || look->base.image ? color_linear(color) : look->linear;
    seen.transparency = 1.0 - cover * (1.0 - seen.transparency);
    seen.roughness = look->has_parts ? 1.0 : red_at(&look->rough, u, v, look->roughness);
    seen.metalness = red_at(&look->metal, u, v, look->metalness);
    seen.occlusion = look->occluded.image ? 1.0 - look->occlusion_strength * (1.0 - red_at(&look->occluded, u, v, 1.0)) : 1.0;
    if (look->glow.image)
        seen.emissive = color_linear(pixels_around(&look->glow, u, v, &cover));
    return seen;
}
