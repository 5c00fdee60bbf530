// shape.h - geometry nodes of a scene as forms and as triangles: the one way from a node to what physics, rays,
// renderer and viewer use. Belongs here: nodes to meshes, VRML97 files as meshes, which file names a URL. Not here: the
// meshes themselves and files (assets/), ODE, looks of surfaces.
#ifndef TALUS_FORMATS_SHAPE_H
#define TALUS_FORMATS_SHAPE_H

#include "assets/geometry.h"
#include "assets/store.h"
#include "scene/scene.h"

// What a geometry is asked with. `diags` is the sink that the scene was loaded with: places in it name files, and a URL
// is relative to the file it stands in.
typedef struct ShapeSource {
    const Scene *scene;
    AssetStore *assets;
    DiagSink *diags;
} ShapeSource;

typedef struct ShapeForm {
    GeometryKind kind;
    Vec3 size;                 // as GeometryKind says
    const GeometryType *type;  // NULL with GEOMETRY_NONE
} ShapeForm;

// The form of a geometry node (also of a CadShape, or of a Shape by its geometry). Loads nothing.
ShapeForm shape_form(const SceneNode *geometry);

typedef struct ShapeMesh {
    const Mesh *mesh;     // owned by the store; NULL when there are no triangles (which has been said)
    bool is_placeholder;  // the file is missing or unreadable: a small box stands for it
} ShapeMesh;

// The triangles of a geometry node (or CadShape, or Shape): tessellated, read from a file, or built from its faces. The
// same content gives the same mesh. What is wrong is reported at the node.
ShapeMesh shape_mesh(const ShapeSource *source, const SceneNode *geometry);

// The meshes of a VRML97 file, placed by its Transforms and merged, one part for each Shape with its material. With
// `node` only what the node of that DEF name holds, cut out as Choreonoid does: turned and scaled by all that stands
// above it, but with its own origin at zero.
const Mesh *shape_vrml_mesh(const ShapeSource *source, const char *url, const char *from, const char *node,
                            SourcePos pos);

// A file with meshes by its path, whatever its format, as Choreonoid takes it: axes as they stand, flat unless it has
// normals. `node` as for shape_vrml_mesh, the name of a part for other formats; NULL: all.
const Mesh *shape_file_mesh(const ShapeSource *source, const char *url, const char *from, const char *node,
                            SourcePos pos);

// The file in which the value of a field stands: the PROTO or world that wrote it.
const char *shape_naming_file(const ShapeSource *source, const SceneNode *node, const char *field);
// The image of an ImageTexture node; NULL when it has none or it cannot be had (which has been said).
const Image *shape_texture(const ShapeSource *source, const SceneNode *texture);
// The image that any other field names; likewise.
const Image *shape_image(const ShapeSource *source, const SceneNode *node, const char *field, const char *url);

#endif
