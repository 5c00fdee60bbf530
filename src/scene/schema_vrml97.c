// Node types of VRML97 files (.wrl) that Webots does not have. They are read so that such files open clean; what has
// geometry inside is a Group. Events and scripts do nothing.
#include "scene/schema_internal.h"

// clang-format off
static const FieldType anchor[] = {
    FIELD("description", SF_STRING, "\"\"", NULL, NULL, "free text"),
    FIELD("parameter", MF_STRING, "[]", NULL, NULL, "how to open the address"),
    FIELD("url", MF_STRING, "[]", NULL, NULL, "address"),
};
static const FieldType audio_clip[] = {
    FIELD("description", SF_STRING, "\"\"", NULL, NULL, "free text"),
    FIELD("loop", SF_BOOL, "FALSE", NULL, NULL, "repeats"),
    FIELD("pitch", SF_FLOAT, "1", ">0", NULL, "speed"),
    FIELD("startTime", SF_FLOAT, "0", NULL, "s", "start"),
    FIELD("stopTime", SF_FLOAT, "0", NULL, "s", "end"),
    FIELD("url", MF_STRING, "[]", NULL, NULL, "sound file"),
};
static const FieldType collision[] = {
    FIELD("collide", SF_BOOL, "TRUE", NULL, NULL, "the visitor collides with it"),
    FIELD("proxy", SF_NODE, "NULL", NULL, NULL, "simpler shape to collide with"),
};
static const FieldType cylinder_sensor[] = {
    FIELD("autoOffset", SF_BOOL, "TRUE", NULL, NULL, "goes on from the last value"),
    FIELD("diskAngle", SF_FLOAT, "0.262", NULL, "rad", "angle that tells disk from cylinder"),
    FIELD("enabled", SF_BOOL, "TRUE", NULL, NULL, "is active"),
    FIELD("maxAngle", SF_FLOAT, "-1", NULL, "rad", "upper bound"),
    FIELD("minAngle", SF_FLOAT, "0", NULL, "rad", "lower bound"),
    FIELD("offset", SF_FLOAT, "0", NULL, "rad", "start value"),
};
static const FieldType plane_sensor[] = {
    FIELD("autoOffset", SF_BOOL, "TRUE", NULL, NULL, "goes on from the last value"),
    FIELD("enabled", SF_BOOL, "TRUE", NULL, NULL, "is active"),
    FIELD("maxPosition", SF_VEC2F, "-1 -1", NULL, "m", "upper bound"),
    FIELD("minPosition", SF_VEC2F, "0 0", NULL, "m", "lower bound"),
    FIELD("offset", SF_VEC3F, "0 0 0", NULL, "m", "start value"),
};
static const FieldType sphere_sensor[] = {
    FIELD("autoOffset", SF_BOOL, "TRUE", NULL, NULL, "goes on from the last value"),
    FIELD("enabled", SF_BOOL, "TRUE", NULL, NULL, "is active"),
    FIELD("offset", SF_ROTATION, "0 1 0 0", NULL, NULL, "start value"),
};
static const FieldType box_sensor[] = {
    FIELD("center", SF_VEC3F, "0 0 0", NULL, "m", "centre of the region"),
    FIELD("size", SF_VEC3F, "0 0 0", NULL, "m", "size of the region"),
    FIELD("enabled", SF_BOOL, "TRUE", NULL, NULL, "is active"),
};
static const FieldType time_sensor[] = {
    FIELD("cycleInterval", SF_FLOAT, "1", ">0", "s", "period"),
    FIELD("enabled", SF_BOOL, "TRUE", NULL, NULL, "is active"),
    FIELD("loop", SF_BOOL, "FALSE", NULL, NULL, "repeats"),
    FIELD("startTime", SF_FLOAT, "0", NULL, "s", "start"),
    FIELD("stopTime", SF_FLOAT, "0", NULL, "s", "end"),
};
#define KEY FIELD("key", MF_FLOAT, "[]", NULL, NULL, "times")
static const FieldType color_interpolator[] = { KEY, FIELD("keyValue", MF_COLOR, "[]", NULL, NULL, "values") };
static const FieldType vector_interpolator[] = { KEY, FIELD("keyValue", MF_VEC3F, "[]", NULL, NULL, "values") };
static const FieldType rotation_interpolator[] = { KEY, FIELD("keyValue", MF_ROTATION, "[]", NULL, NULL, "values") };
static const FieldType scalar_interpolator[] = { KEY, FIELD("keyValue", MF_FLOAT, "[]", NULL, NULL, "values") };
static const FieldType font_style[] = {
    FIELD("family", MF_STRING, "[\"SERIF\"]", NULL, NULL, "font"),
    FIELD("horizontal", SF_BOOL, "TRUE", NULL, NULL, "lines run sideways"),
    FIELD("justify", MF_STRING, "[\"BEGIN\"]", NULL, NULL, "alignment"),
    FIELD("language", SF_STRING, "\"\"", NULL, NULL, "language"),
    FIELD("leftToRight", SF_BOOL, "TRUE", NULL, NULL, "direction of text"),
    FIELD("size", SF_FLOAT, "1", ">0", "m", "height of a line"),
    FIELD("spacing", SF_FLOAT, "1", ">=0", NULL, "distance of lines"),
    FIELD("style", SF_STRING, "\"PLAIN\"", NULL, NULL, "style"),
    FIELD("topToBottom", SF_BOOL, "TRUE", NULL, NULL, "direction of lines"),
};
static const FieldType text[] = {
    FIELD("string", MF_STRING, "[]", NULL, NULL, "lines"),
    FIELD("fontStyle", SF_NODE, "NULL", "FontStyle", NULL, "font"),
    FIELD("length", MF_FLOAT, "[]", NULL, "m", "lengths of lines"),
    FIELD("maxExtent", SF_FLOAT, "0", ">=0", "m", "most length"),
};
static const FieldType inline_rows[] = {
    FIELD("url", MF_STRING, "[]", NULL, NULL, "file to insert"),
    FIELD("bboxCenter", SF_VEC3F, "0 0 0", NULL, "m", "centre of a box around it"),
    FIELD("bboxSize", SF_VEC3F, "-1 -1 -1", NULL, "m", "size of a box around it"),
};
static const FieldType lod[] = {
    FIELD("level", MF_NODE, "[]", NULL, NULL, "versions, the finest first"),
    FIELD("center", SF_VEC3F, "0 0 0", NULL, "m", "point from which distance is measured"),
    FIELD("range", MF_FLOAT, "[]", NULL, "m", "distances at which versions change"),
};
static const FieldType switch_rows[] = {
    FIELD("choice", MF_NODE, "[]", NULL, NULL, "nodes to choose from"),
    FIELD("whichChoice", SF_INT32, "-1", ">=-1", NULL, "the one that is there; -1: none"),
};
static const FieldType movie_texture[] = {
    FIELD("url", MF_STRING, "[]", NULL, NULL, "film file"),
    FIELD("loop", SF_BOOL, "FALSE", NULL, NULL, "repeats"),
    FIELD("speed", SF_FLOAT, "1", NULL, NULL, "speed"),
    FIELD("startTime", SF_FLOAT, "0", NULL, "s", "start"),
    FIELD("stopTime", SF_FLOAT, "0", NULL, "s", "end"),
    FIELD("repeatS", SF_BOOL, "TRUE", NULL, NULL, "repeats sideways"),
    FIELD("repeatT", SF_BOOL, "TRUE", NULL, NULL, "repeats upwards"),
};
static const FieldType pixel_texture[] = {
    FIELD("image", MF_INT32, "[0 0 0]", NULL, NULL, "width, height, components and then the pixels"),
    FIELD("repeatS", SF_BOOL, "TRUE", NULL, NULL, "repeats sideways"),
    FIELD("repeatT", SF_BOOL, "TRUE", NULL, NULL, "repeats upwards"),
};
static const FieldType navigation_info[] = {
    FIELD("avatarSize", MF_FLOAT, "[0.25, 1.6, 0.75]", NULL, "m", "size of the visitor"),
    FIELD("headlight", SF_BOOL, "TRUE", NULL, NULL, "a light at the viewer"),
    FIELD("speed", SF_FLOAT, "1", ">=0", "m/s", "speed of the visitor"),
    FIELD("type", MF_STRING, "[\"WALK\", \"ANY\"]", NULL, NULL, "ways of moving"),
    FIELD("visibilityLimit", SF_FLOAT, "0", ">=0", "m", "nothing farther is shown; 0: no bound"),
};
static const FieldType script[] = {
    FIELD("url", MF_STRING, "[]", NULL, NULL, "program; never run"),
    FIELD("directOutput", SF_BOOL, "FALSE", NULL, NULL, "may change nodes"),
    FIELD("mustEvaluate", SF_BOOL, "FALSE", NULL, NULL, "gets each event at once"),
};
static const FieldType sound[] = {
    FIELD("direction", SF_VEC3F, "0 0 1", NULL, NULL, "direction"),
    FIELD("intensity", SF_FLOAT, "1", "[0,1]", NULL, "loudness"),
    FIELD("location", SF_VEC3F, "0 0 0", NULL, "m", "position"),
    FIELD("maxBack", SF_FLOAT, "10", ">=0", "m", "reach behind"),
    FIELD("maxFront", SF_FLOAT, "10", ">=0", "m", "reach in front"),
    FIELD("minBack", SF_FLOAT, "1", ">=0", "m", "full loudness behind"),
    FIELD("minFront", SF_FLOAT, "1", ">=0", "m", "full loudness in front"),
    FIELD("priority", SF_FLOAT, "0", "[0,1]", NULL, "importance"),
    FIELD("source", SF_NODE, "NULL", "AudioClip|MovieTexture", NULL, "what sounds"),
    FIELD("spatialize", SF_BOOL, "TRUE", NULL, NULL, "seems to come from its position"),
};

#define VRML97(name, parent, rows, help) TYPE_UNTIL(name, parent, NODE_VRML97, rows, "VRML97", help)

static const NodeType types[] = {
    VRML97("Anchor", "Group", anchor, "A link around nodes."),
    VRML97("AudioClip", NULL, audio_clip, "A sound file."),
    VRML97("Collision", "Group", collision, "Says what a visitor collides with."),
    VRML97("ColorInterpolator", NULL, color_interpolator, "Colours over time."),
    VRML97("CoordinateInterpolator", NULL, vector_interpolator, "Points over time."),
    VRML97("CylinderSensor", NULL, cylinder_sensor, "Turns by dragging."),
    VRML97("FontStyle", NULL, font_style, "Font of Text."),
    VRML97("Inline", NULL, inline_rows, "Another file in this place."),
    VRML97("LOD", NULL, lod, "Versions by distance; the first is taken."),
    VRML97("MovieTexture", "Texture", movie_texture, "A film on a surface."),
    VRML97("NavigationInfo", NULL, navigation_info, "How a visitor moves."),
    VRML97("NormalInterpolator", NULL, vector_interpolator, "Normals over time."),
    VRML97("OrientationInterpolator", NULL, rotation_interpolator, "Rotations over time."),
    VRML97("PixelTexture", "Texture", pixel_texture, "An image in the file itself."),
    VRML97("PlaneSensor", NULL, plane_sensor, "Moves by dragging."),
    VRML97("PositionInterpolator", NULL, vector_interpolator, "Positions over time."),
    VRML97("ProximitySensor", NULL, box_sensor, "Notices the visitor."),
    VRML97("ScalarInterpolator", NULL, scalar_interpolator, "Numbers over time."),
    VRML97("Script", NULL, script, "A program; never run."),
    VRML97("Sound", NULL, sound, "A sound in space."),
    VRML97("SphereSensor", NULL, sphere_sensor, "Turns by dragging."),
    VRML97("Switch", NULL, switch_rows, "One of several nodes."),
    VRML97("Text", "Geometry", text, "Letters."),
    VRML97("TimeSensor", NULL, time_sensor, "A clock."),
    VRML97("VisibilitySensor", NULL, box_sensor, "Notices being seen."),
};
// clang-format on

FAMILY(schema_vrml97, types);
