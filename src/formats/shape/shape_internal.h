// shape_internal.h - between shape.c and shape_vrml.c.
#ifndef TALUS_FORMATS_SHAPE_INTERNAL_H
#define TALUS_FORMATS_SHAPE_INTERNAL_H

#include "formats/shape/shape.h"

// Triangles of a geometry that is no file, with the axis its format has; a mesh of the caller's. NULL when there are
// none.
Mesh *shape_build(const ShapeSource *source, const SceneNode *geometry, MeshAxis axis);

#endif
