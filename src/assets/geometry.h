// geometry.h - every form that a node or a body can name, one row each: what it is called, which fields hold its
// lengths, and what follows from these alone. Belongs here: names, volume, extent, triangles. Not here: nodes
// (formats/shape/shape.h), how two forms touch (physics/collide/), how rays meet them (rays/form.c). A form whose row
// has triangles and nothing else collides, floats, weighs and is seen by these: docs/extending.md.
#ifndef TALUS_ASSETS_GEOMETRY_H
#define TALUS_ASSETS_GEOMETRY_H

#include "assets/mesh.h"
#include "base/vec.h"

// Those with formulas come first, in the order in which kernels for pairs want them.
typedef enum GeometryKind {
    GEOMETRY_NONE,      // no geometry, an unknown one or an unfit one
    GEOMETRY_SPHERE,    // radius
    GEOMETRY_CAPSULE,   // radius, height of its cylindrical part, along z
    GEOMETRY_CYLINDER,  // radius, height, along z
    GEOMETRY_BOX,       // edges
    GEOMETRY_PLANE,     // what is shown of it in x and y, facing +z
    GEOMETRY_CONE,      // radius, height, along z with the tip at +height/2
    GEOMETRY_MESH,      // triangles
    GEOMETRY_HEIGHTS,   // ElevationGrid
    GEOMETRY_DRAWN,     // lines and points: nothing to touch
} GeometryKind;

// Types that may stand in a boundingObject, as a field's row of allowed types has them. A test ties it to the rows.
#define GEOMETRY_COLLIDING "Box|Capsule|Cylinder|ElevationGrid|IndexedFaceSet|Mesh|Plane|Sphere"

enum {
    GEOMETRY_COLLIDES = 1u,        // may stand in a boundingObject
    GEOMETRY_IS_GROUND = 2u,       // for things that do not move
    GEOMETRY_STOOD_ALONG_Y = 4u,   // until R2022a
    GEOMETRY_SCALES_AROUND = 8u,   // its axis may be scaled by another factor than its radius
    GEOMETRY_SCALES_FREELY = 16u,  // each axis by its own
    GEOMETRY_IS_ROUND = 32u,       // about z, with a radius and a height
    GEOMETRY_ENDS_ROUND = 64u,     // it is a ball where its height is 0
};

typedef struct MassProperties {
    double mass;
    Vec3 center;
    Mat3 inertia;  // about the centre, axes of the frame
} MassProperties;

// How triangles are to be made of a form.
typedef struct GeometryDetail {
    int divisions;  // around
    MeshAxis axis;
    bool is_ico;  // a sphere from an icosahedron
    bool without_top, without_bottom, without_side;
} GeometryDetail;

typedef struct GeometryType {
    const char *node;  // its type in worlds
    GeometryKind kind;
    unsigned traits;
    const char *lengths[4];  // fields that scale with it, in the order of `size` where it has one
    int size_count;          // of the numbers in `size` that must be positive
    MassProperties (*mass)(double density, Vec3 size);    // NULL: that of its triangles
    Vec3 (*reach)(Vec3 size);                             // half the edges of the box around it; NULL: of its triangles
    double (*radius)(Vec3 size);                          // of the ball around it; likewise
    Mesh *(*mesh)(Vec3 size, const GeometryDetail *how);  // NULL: what its node lists decides
    const char *word;                                     // in recordings; NULL: it is recorded by its triangles
} GeometryType;

// By the name of a node type, and by kind (the first of several). NULL: there is none.
const GeometryType *geometry_type(const char *node);
const GeometryType *geometry_of_kind(GeometryKind kind);
int geometry_type_count(void);
const GeometryType *geometry_type_at(int index);

#endif
