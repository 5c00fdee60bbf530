// body_vrml.c - nodes that worlds and VRML97 files share, as parts of a body: faces and materials. Whoever reads them
// checks what it cannot trust (body_wrl.c) or knows the scene to be checked (body_from_parts.c).
#include "formats/body/body_internal.h"

#include "scene/scene.h"

BodyNumbers body_vrml_numbers(Arena *arena, const FieldList *list, int per_item)
{
    assert_debug(per_item > 0);
    size_t count = (size_t)list->count * (size_t)per_item;
    return (BodyNumbers){ count ? arena_copy(arena, list->numbers, count * sizeof(double)) : NULL, (int)count };
}

static BodyIndices copy_indices(Arena *arena, const FieldList *list)
{
    return (BodyIndices){ list->count ? arena_copy(arena, list->ints, (size_t)list->count * sizeof(int32_t)) : NULL,
                          list->count };
}

bool body_vrml_faces(Arena *arena, const SceneNode *node, BodyGeometry *geometry)
{
    assert_debug(scene_node_is(node, "IndexedFaceSet"));
    const SceneNode *coord = scene_child(node, "coord"), *tex_coord = scene_child(node, "texCoord");
    geometry->kind = BODY_FACES;
    if (!coord)
        return false;
    geometry->vertices = body_vrml_numbers(arena, scene_list(coord, "point"), 3);
    geometry->faces = copy_indices(arena, scene_list(node, "coordIndex"));
    geometry->crease_angle = scene_float(node, "creaseAngle");
    if (tex_coord) {
        geometry->tex_coords = body_vrml_numbers(arena, scene_list(tex_coord, "point"), 2);
        geometry->tex_coord_indices = copy_indices(arena, scene_list(node, "texCoordIndex"));
    }
    return true;
}

BodyAppearance *body_appearance_create(Arena *arena, SourcePos pos)
{
    BodyAppearance *appearance = arena_alloc(arena, sizeof *appearance);
    *appearance = (BodyAppearance){ .pos = pos,
                                    .ambient = 1.0,
                                    .specular_exponent = 25.0,
                                    .diffuse = { 1, 1, 1 },
                                    .repeat_s = true,
                                    .repeat_t = true,
                                    .texture_scale = { 1, 1 } };
    return appearance;
}

void body_vrml_material(const SceneNode *material, BodyAppearance *appearance)
{
    if (!material)
        return;
    appearance->ambient = scene_float(material, "ambientIntensity");
    appearance->diffuse = scene_vec3(material, "diffuseColor");
    appearance->emissive = scene_vec3(material, "emissiveColor");
    appearance->specular = scene_vec3(material, "specularColor");
    appearance->specular_exponent = 127.0 * scene_float(material, "shininess") + 1.0;
    appearance->transparency = scene_float(material, "transparency");
}
