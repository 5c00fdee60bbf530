// glb_internal.h - what a glTF file is made of: gathered by glb.c, written as JSON by glb_json.c.
#ifndef TALUS_RECORD_GLB_INTERNAL_H
#define TALUS_RECORD_GLB_INTERNAL_H

#include "base/json.h"
#include "rays/rays.h"
#include "record/glb.h"

typedef struct GlbView {
    int64_t offset, size;
    int target;
} GlbView;  // target 0: none
typedef struct GlbAccessor {
    int view, type, count, width;
    float low[3], high[3];
    bool has_bounds;
} GlbAccessor;  // width: numbers of one item
typedef struct GlbMaterial {
    Vec3 color, emissive;
    double transparency, roughness, metalness;
    int texture;
    bool has_transform;
    Vec2 center, scale, shift;
    double rotation;
} GlbMaterial;
typedef struct GlbPicture {
    const Image *image;
    bool repeats[2];
    int view;
} GlbPicture;
typedef struct GlbPrimitive {
    int position, normal, texcoord, index, material;
    int joints, weights;  // of a skin, else -1
} GlbPrimitive;
typedef enum GlbMeshUse { MESH_PLAIN, MESH_SCREEN, MESH_SKIN } GlbMeshUse;
typedef struct GlbMeshEntry {
    const Mesh *mesh;
    int material;
    bool has_parts;
    GlbMeshUse use;
    int first_primitive, primitive_count;
} GlbMeshEntry;
typedef struct GlbNodeEntry {
    int solid, mesh;
    uint32_t glow;     // id of the node that an LED may light up; 0: none does
    uint32_t screen;   // of the Display whose picture is on it; 0: none
    uint32_t ink;      // of the Shape that Pens may write on; 0: none can
    const char *form;  // of its geometry: where its paint lies follows from it
    double local[12];
    int skin;  // -1: none
} GlbNodeEntry;
// A part of a Skin. Its joints are the solids that move its bones, or nodes of their own where programs do; after them
// comes its anchor, a node that stands where the Skin stands, for what no bone moves.
typedef struct GlbSkinEntry {
    const SceneNode *node;
    const Mesh *rest;
    int *solids;  // by bone; NULL: programs move them
    int carrier;  // solid, -1: the world
    double local[12];
    int inverses;  // accessor
    int anchor;    // node; bones of their own follow it
} GlbSkinEntry;

typedef struct Glb {
    Sim *sim;
    Rays *rays;
    Text bin;
    GlbView *views;
    int view_count, view_capacity;
    GlbAccessor *accessors;
    int accessor_count, accessor_capacity;
    GlbMaterial *materials;
    int material_count, material_capacity;
    GlbPicture *pictures;
    int picture_count, picture_capacity;
    GlbPrimitive *primitives;
    int primitive_count, primitive_capacity;
    GlbMeshEntry *meshes;
    int mesh_count, mesh_capacity;
    GlbNodeEntry *nodes;
    int node_count, node_capacity;
    GlbSkinEntry *skins;
    int skin_count, skin_capacity;
} Glb;

typedef struct GlbChannel {
    int node, times, values;
    const char *path;
} GlbChannel;

// The JSON part of the file, for solids in the order of their nodes.
void glb_write_json(const Glb *glb, const int *solids, int solid_count, const GlbChannel *channels, int channel_count,
                    Text *out);

#endif
