// Lights.
#include "scene/schema_internal.h"

// clang-format off
static const FieldType light[] = {
    FIELD("ambientIntensity", SF_FLOAT, "0", "[0,1]", NULL, "light it adds everywhere"),
    FIELD("color", SF_COLOR, "1 1 1", "[0,1]", NULL, "colour"),
    FIELD("intensity", SF_FLOAT, "1", ">=0", NULL, "strength"),
    FIELD("on", SF_BOOL, "TRUE", NULL, NULL, "is on"),
    FIELD("castShadows", SF_BOOL, "FALSE", NULL, NULL, "makes shadows"),
};
static const FieldType directional_light[] = {
    FIELD("direction", SF_VEC3F, "0 0 -1", NULL, NULL, "direction of its rays"),
    FIELD("castLensFlares", SF_BOOL, "FALSE", NULL, NULL, "makes lens flares"),
};
static const FieldType point_light[] = {
    FIELD("attenuation", SF_VEC3F, "1 0 0", ">=0", NULL, "constant, linear and square loss with distance"),
    FIELD("location", SF_VEC3F, "0 0 0", NULL, "m", "position"),
    FIELD("radius", SF_FLOAT, "100", ">=0", "m", "lights nothing farther away"),
};
static const FieldType spot_light[] = {
    FIELD("attenuation", SF_VEC3F, "1 0 0", ">=0", NULL, "constant, linear and square loss with distance"),
    FIELD("beamWidth", SF_FLOAT, "1.570796", "[0,1.5707963267948966]", "rad", "half angle of the full light"),
    FIELD("cutOffAngle", SF_FLOAT, "0.785398", "[0,1.5707963267948966]", "rad", "half angle of all light"),
    FIELD("direction", SF_VEC3F, "0 0 -1", NULL, NULL, "direction"),
    FIELD("location", SF_VEC3F, "0 0 0", NULL, "m", "position"),
    FIELD("radius", SF_FLOAT, "100", ">=0", "m", "lights nothing farther away"),
};

static const NodeType types[] = {
    TYPE("Light", NULL, NODE_ABSTRACT, light, "A source of light."),
    TYPE("DirectionalLight", "Light", 0, directional_light, "Parallel light, as from the sun."),
    TYPE("PointLight", "Light", 0, point_light, "Light from a point in all directions."),
    TYPE("SpotLight", "Light", 0, spot_light, "Light from a point into a cone."),
};
// clang-format on

FAMILY(schema_lights, types);
