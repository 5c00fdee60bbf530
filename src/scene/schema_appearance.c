// How surfaces look.
#include "scene/schema_internal.h"

// clang-format off
static const FieldType appearance[] = {
    FIELD("material", SF_NODE, "NULL", "Material", NULL, "colours"),
    FIELD("texture", SF_NODE, "NULL", "Texture", NULL, "image on the surface"),
    FIELD("textureTransform", SF_NODE, "NULL", "TextureTransform", NULL, "moves the image"),
    FIELD("name", SF_STRING, "\"appearance\"", NULL, NULL, "name of the material in a mesh file that it replaces"),
};
static const FieldType pbr_appearance[] = {
    FIELD("baseColor", SF_COLOR, "1 1 1", "[0,1]", NULL, "colour"),
    FIELD("baseColorMap", SF_NODE, "NULL", "ImageTexture", NULL, "image of the colour"),
    FIELD("transparency", SF_FLOAT, "0", "[0,1]", NULL, "0 opaque, 1 clear"),
    FIELD("roughness", SF_FLOAT, "0", "[0,1]", NULL, "0 mirror, 1 matt"),
    FIELD("roughnessMap", SF_NODE, "NULL", "ImageTexture", NULL, "image of the roughness"),
    FIELD("metalness", SF_FLOAT, "1", "[0,1]", NULL, "0 dielectric, 1 metal"),
    FIELD("metalnessMap", SF_NODE, "NULL", "ImageTexture", NULL, "image of the metalness"),
    FIELD("IBLStrength", SF_FLOAT, "1", ">=0", NULL, "factor of the light from the background"),
    FIELD("normalMap", SF_NODE, "NULL", "ImageTexture", NULL, "image of small bumps"),
    FIELD("normalMapFactor", SF_FLOAT, "1", ">=0", NULL, "height of the bumps"),
    FIELD("occlusionMap", SF_NODE, "NULL", "ImageTexture", NULL, "image of shaded places"),
    FIELD("occlusionMapStrength", SF_FLOAT, "1", ">=0", NULL, "strength of the shading"),
    FIELD("emissiveColor", SF_COLOR, "0 0 0", "[0,1]", NULL, "colour that it glows in"),
    FIELD("emissiveColorMap", SF_NODE, "NULL", "ImageTexture", NULL, "image of the glow"),
    FIELD("emissiveIntensity", SF_FLOAT, "1", ">=0", NULL, "strength of the glow"),
    FIELD("textureTransform", SF_NODE, "NULL", "TextureTransform", NULL, "moves the images"),
    FIELD("name", SF_STRING, "\"PBRAppearance\"", NULL, NULL, "name of the material in a mesh file that it replaces"),
    OLD("environmentMap", SF_NODE, "NULL", "what it mirrors; now the Background", "R2019a"),
};
static const FieldType material[] = {
    FIELD("ambientIntensity", SF_FLOAT, "0.2", "[0,1]", NULL, "share of ambient light it returns"),
    FIELD("diffuseColor", SF_COLOR, "0.8 0.8 0.8", "[0,1]", NULL, "colour"),
    FIELD("emissiveColor", SF_COLOR, "0 0 0", "[0,1]", NULL, "colour that it glows in"),
    FIELD("shininess", SF_FLOAT, "0.2", "[0,1]", NULL, "sharpness of highlights"),
    FIELD("specularColor", SF_COLOR, "0 0 0", "[0,1]", NULL, "colour of highlights"),
    FIELD("transparency", SF_FLOAT, "0", "[0,1]", NULL, "0 opaque, 1 clear"),
};
static const FieldType image_texture[] = {
    FIELD("url", MF_STRING, "[]", NULL, NULL, "image file; the first that can be read"),
    FIELD("repeatS", SF_BOOL, "TRUE", NULL, NULL, "repeats sideways"),
    FIELD("repeatT", SF_BOOL, "TRUE", NULL, NULL, "repeats upwards"),
    FIELD("filtering", SF_INT32, "4", "[0,5]", NULL, "quality of filtering"),
    OLD("filtering", SF_BOOL, "TRUE", "whether it is filtered at all", "V8.5"),
};
static const FieldType texture_transform[] = {
    FIELD("center", SF_VEC2F, "0 0", NULL, NULL, "point about which it turns and scales"),
    FIELD("rotation", SF_FLOAT, "0", NULL, "rad", "angle"),
    FIELD("scale", SF_VEC2F, "1 1", NULL, NULL, "factors"),
    FIELD("translation", SF_VEC2F, "0 0", NULL, NULL, "shift"),
};

static const NodeType types[] = {
    TYPE_EMPTY("AbstractAppearance", NULL, NODE_ABSTRACT, "The looks of a Shape."),
    TYPE_EMPTY("Texture", NULL, NODE_ABSTRACT, "An image on a surface."),
    TYPE("Appearance", "AbstractAppearance", 0, appearance, "Looks by colours and one image."),
    TYPE("PBRAppearance", "AbstractAppearance", 0, pbr_appearance, "Looks by physical properties."),
    TYPE("Material", NULL, 0, material, "Colours of an Appearance."),
    TYPE("ImageTexture", "Texture", 0, image_texture, "An image from a file."),
    TYPE("TextureTransform", NULL, 0, texture_transform, "Moves, turns and scales an image on a surface."),
};
// clang-format on

FAMILY(schema_appearance, types);
