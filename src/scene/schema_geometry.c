// Shapes and what they are made of. Axes are those of R2022a and later: z is up.
#include "scene/schema_internal.h"

// clang-format off
static const FieldType shape[] = {
    FIELD("appearance", SF_NODE, "NULL", "AbstractAppearance", NULL, "colours and textures"),
    FIELD("geometry", SF_NODE, "NULL", "Geometry", NULL, "the form"),
    FIELD("castShadows", SF_BOOL, "TRUE", NULL, NULL, "throws shadows"),
    FIELD("isPickable", SF_BOOL, "TRUE", NULL, NULL, "can be selected with the mouse"),
};
static const FieldType cad_shape[] = {
    FIELD("url", MF_STRING, "[]", NULL, NULL, "file with meshes and materials (dae, obj)"),
    FIELD("ccw", SF_BOOL, "TRUE", NULL, NULL, "front faces are counter-clockwise"),
    FIELD("castShadows", SF_BOOL, "TRUE", NULL, NULL, "throws shadows"),
    FIELD("isPickable", SF_BOOL, "TRUE", NULL, NULL, "can be selected with the mouse"),
};
static const FieldType box[] = {
    FIELD("size", SF_VEC3F, "2 2 2", ">0", "m", "lengths of the sides"),
};
static const FieldType capsule[] = {
    FIELD("bottom", SF_BOOL, "TRUE", NULL, NULL, "the lower cap is shown"),
    FIELD("height", SF_FLOAT, "2", ">0", "m", "length along z without the caps"),
    FIELD("radius", SF_FLOAT, "1", ">0", "m", "radius"),
    FIELD("side", SF_BOOL, "TRUE", NULL, NULL, "the side is shown"),
    FIELD("top", SF_BOOL, "TRUE", NULL, NULL, "the upper cap is shown"),
    FIELD("subdivision", SF_INT32, "12", ">=3", NULL, "faces around when drawn"),
};
static const FieldType cone[] = {
    FIELD("bottomRadius", SF_FLOAT, "1", ">0", "m", "radius at the bottom"),
    FIELD("height", SF_FLOAT, "2", ">0", "m", "length along z"),
    FIELD("side", SF_BOOL, "TRUE", NULL, NULL, "the side is shown"),
    FIELD("bottom", SF_BOOL, "TRUE", NULL, NULL, "the bottom is shown"),
    FIELD("subdivision", SF_INT32, "12", ">=3", NULL, "faces around when drawn"),
};
static const FieldType cylinder[] = {
    FIELD("bottom", SF_BOOL, "TRUE", NULL, NULL, "the lower disk is shown"),
    FIELD("height", SF_FLOAT, "2", ">0", "m", "length along z"),
    FIELD("radius", SF_FLOAT, "1", ">0", "m", "radius"),
    FIELD("side", SF_BOOL, "TRUE", NULL, NULL, "the side is shown"),
    FIELD("top", SF_BOOL, "TRUE", NULL, NULL, "the upper disk is shown"),
    FIELD("subdivision", SF_INT32, "36", ">=3", NULL, "faces around when drawn"),
};
static const FieldType sphere[] = {
    FIELD("radius", SF_FLOAT, "1", ">0", "m", "radius"),
    FIELD("subdivision", SF_INT32, "1", ">=1", NULL, "fineness when drawn: 1 to 5 for ico, faces around (from 3) otherwise"),
    FIELD_SINCE("ico", SF_BOOL, "TRUE", NULL, NULL, "drawn from an icosahedron; FALSE: from meridians", "R2019b"),
};
static const FieldType plane[] = {
    FIELD("size", SF_VEC2F, "1 1", ">0", "m", "what is shown of it in x and y; collisions know no end"),
};
static const FieldType elevation_grid[] = {
    FIELD("height", MF_FLOAT, "[]", NULL, "m", "heights, x running fastest; missing ones are 0"),
    FIELD("xDimension", SF_INT32, "0", ">=0", NULL, "grid points along x"),
    FIELD("xSpacing", SF_FLOAT, "1", ">0", "m", "distance of grid points along x"),
    FIELD_SINCE("yDimension", SF_INT32, "0", ">=0", NULL, "grid points along y", "R2022a"),
    FIELD_SINCE("ySpacing", SF_FLOAT, "1", ">0", "m", "distance of grid points along y", "R2022a"),
    FIELD("thickness", SF_FLOAT, "1", ">=0", "m", "depth of the ground below its lowest point, for collisions"),
    OLD("zDimension", SF_INT32, "0", "grid points along z, when y was up", "R2021b"),
    OLD("zSpacing", SF_FLOAT, "1", "distance of grid points along z, when y was up", "R2021b"),
    OLD("color", SF_NODE, "NULL", "colours of points or faces", "R2019a"),
    OLD("colorPerVertex", SF_BOOL, "TRUE", "whether colours are of points", "R2019a"),
    OLD("normal", SF_NODE, "NULL", "normals", "VRML97"),
    OLD("normalPerVertex", SF_BOOL, "TRUE", "whether normals are of points", "VRML97"),
    OLD("texCoord", SF_NODE, "NULL", "texture coordinates", "VRML97"),
    OLD("ccw", SF_BOOL, "TRUE", "front faces are counter-clockwise", "VRML97"),
    OLD("creaseAngle", SF_FLOAT, "0", "sharper edges are shown as edges", "VRML97"),
    OLD("solid", SF_BOOL, "TRUE", "back faces are not shown", "VRML97"),
};
static const FieldType indexed_face_set[] = {
    FIELD("coord", SF_NODE, "NULL", "Coordinate", NULL, "points"),
    FIELD_SINCE("normal", SF_NODE, "NULL", "Normal", NULL, "normals", "R2019b"),
    FIELD("texCoord", SF_NODE, "NULL", "TextureCoordinate", NULL, "texture coordinates"),
    FIELD("ccw", SF_BOOL, "TRUE", NULL, NULL, "front faces are counter-clockwise"),
    FIELD("convex", SF_BOOL, "TRUE", NULL, NULL, "all faces are convex"),
    FIELD_SINCE("normalPerVertex", SF_BOOL, "TRUE", NULL, NULL, "normals are of points; FALSE: of faces", "R2019b"),
    FIELD("coordIndex", MF_INT32, "[]", ">=-1", NULL, "indices of the points of each face, -1 after each"),
    FIELD_SINCE("normalIndex", MF_INT32, "[]", ">=-1", NULL, "indices of normals, like coordIndex", "R2019b"),
    FIELD("texCoordIndex", MF_INT32, "[]", ">=-1", NULL, "indices of texture coordinates, like coordIndex"),
    FIELD("creaseAngle", SF_FLOAT, "0", ">=0", "rad", "sharper edges are shown as edges"),
    OLD("solid", SF_BOOL, "TRUE", "back faces are not shown", "R2019a"),
    OLD("color", SF_NODE, "NULL", "colours of points or faces", "VRML97"),
    OLD("colorIndex", MF_INT32, "[]", "indices of colours", "VRML97"),
    OLD("colorPerVertex", SF_BOOL, "TRUE", "whether colours are of points", "VRML97"),
};
static const FieldType indexed_line_set[] = {
    FIELD("coord", SF_NODE, "NULL", "Coordinate", NULL, "points"),
    FIELD("coordIndex", MF_INT32, "[]", ">=-1", NULL, "indices of the points of each line, -1 after each"),
    OLD("color", SF_NODE, "NULL", "colours of points or lines", "VRML97"),
    OLD("colorIndex", MF_INT32, "[]", "indices of colours", "VRML97"),
    OLD("colorPerVertex", SF_BOOL, "TRUE", "whether colours are of points", "VRML97"),
};
static const FieldType point_set[] = {
    FIELD("color", SF_NODE, "NULL", "Color", NULL, "a colour for each point"),
    FIELD("coord", SF_NODE, "NULL", "Coordinate", NULL, "points"),
};
static const FieldType mesh[] = {
    FIELD("url", MF_STRING, "[]", NULL, NULL, "file of the mesh (obj, stl, dae)"),
    FIELD_SINCE("ccw", SF_BOOL, "TRUE", NULL, NULL, "front faces are counter-clockwise", "R2022b"),
    FIELD("name", SF_STRING, "\"\"", NULL, NULL, "takes only the part of this name; empty: all"),
    FIELD("materialIndex", SF_INT32, "-1", ">=-1", NULL, "takes only parts with this material; -1: all"),
};
static const FieldType coordinate[] = { FIELD("point", MF_VEC3F, "[]", NULL, "m", "points") };
static const FieldType normal[] = { FIELD("vector", MF_VEC3F, "[]", NULL, NULL, "normals") };
static const FieldType texture_coordinate[] = { FIELD("point", MF_VEC2F, "[]", NULL, NULL, "texture coordinates") };
static const FieldType color[] = { FIELD("color", MF_COLOR, "[]", "[0,1]", NULL, "colours") };

static const NodeType types[] = {
    TYPE_EMPTY("Geometry", NULL, NODE_ABSTRACT, "A form."),
    TYPE("Shape", NULL, 0, shape, "A form and its looks."),
    TYPE_SINCE("CadShape", NULL, 0, cad_shape, "R2022b", "Meshes with their own materials, to look at."),
    TYPE("Box", "Geometry", 0, box, "A box centred at the origin."),
    TYPE("Capsule", "Geometry", 0, capsule, "A cylinder along z with half a sphere at both ends."),
    TYPE("Cone", "Geometry", 0, cone, "A cone along z, to look at."),
    TYPE("Cylinder", "Geometry", 0, cylinder, "A cylinder along z."),
    TYPE("Sphere", "Geometry", 0, sphere, "A sphere at the origin."),
    TYPE("Plane", "Geometry", 0, plane, "The x-y plane, facing +z."),
    TYPE("ElevationGrid", "Geometry", 0, elevation_grid, "Ground given by heights on a grid in x and y."),
    TYPE("IndexedFaceSet", "Geometry", 0, indexed_face_set, "Faces given by points and indices."),
    TYPE("IndexedLineSet", "Geometry", 0, indexed_line_set, "Lines given by points and indices, to look at."),
    TYPE("PointSet", "Geometry", 0, point_set, "Points, to look at."),
    TYPE_SINCE("Mesh", "Geometry", 0, mesh, "R2020b", "Faces from a mesh file."),
    TYPE("Coordinate", NULL, 0, coordinate, "Points of a geometry."),
    TYPE_SINCE("Normal", NULL, 0, normal, "R2019b", "Normals of a geometry."),
    TYPE("TextureCoordinate", NULL, 0, texture_coordinate, "Texture coordinates of a geometry."),
    TYPE("Color", NULL, 0, color, "Colours of a geometry."),
};
// clang-format on

FAMILY(schema_geometry, types);
