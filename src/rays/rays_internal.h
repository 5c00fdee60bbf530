// rays_internal.h - the folder's own: what a visual is made of.
#ifndef TALUS_RAYS_RAYS_INTERNAL_H
#define TALUS_RAYS_RAYS_INTERNAL_H

#include "formats/shape.h"
#include "rays/rays.h"

#include <embree3/rtcore.h>

// A linear map and a shift; scales of Transforms make it more than a pose.
typedef struct Affine {
    Mat3 m;
    Vec3 t;
} Affine;

typedef struct Texture {
    const Image *image;      // NULL: none
    bool repeats_s, repeats_t;
} Texture;

typedef struct Look {
    Vec3 color, linear;
    double roughness, transparency;
    Texture base, rough, occluded, metal, glow;
    bool is_physical;        // a PBRAppearance; else the light model of VRML
    double metalness, background_share, occlusion_strength;
    Vec3 emissive, specular;
    double ambient, exponent;
    bool has_transform, has_parts;  // parts: the mesh brings its own materials
    Vec2 center, scale, translation;
    double rotation;
} Look;

// A form in its own frame.
typedef struct Form {
    ShapeForm shape;
    bool without_top, without_bottom, without_side;
    Vec3 low, high;
} Form;

typedef struct FormHit {
    double distance;
    Vec3 normal;             // need not be of unit length
    Vec3 smooth;             // likewise; of meshes alone
    double u, v;
} FormHit;

// The first entry from outside beyond `near`; the direction may have any length, which is the unit of distance.
bool form_hit(const Form *form, Vec3 origin, Vec3 direction, double near, FormHit *hit);
Form form_of(const SceneNode *geometry);     // kind SHAPE_NONE when it has no formula
Look look_of(const ShapeSource *source, const SceneNode *shape);
RayLook look_at(const Look *look, const Mesh *mesh, int triangle, double u, double v);

// What light meets at a point: linear colours.
typedef struct Surface {
    bool is_physical;
    Vec3 base, emissive, specular;
    double roughness, metalness, occlusion, transparency, background_share, ambient, exponent;
} Surface;
Surface surface_at(const Look *look, const Mesh *mesh, int triangle, double u, double v);
Vec3 color_linear(Vec3 color);

typedef struct MeshTree {
    const Mesh *mesh;
    RTCScene scene;
} MeshTree;

typedef struct Visual {
    SceneNode *node;
    int solid;
    int mesh;            // index of its tree, -1: a formula
    Form form;           // low and high also for meshes
    Look look;
    Affine local;        // in the frame of the solid
    Affine world;
    Mat3 inverse;        // of world.m
    Pose pose;           // of the solid, as it is in `world`
    float low[3], high[3];
} Visual;

typedef struct Light {
    SceneNode *node;
    int solid;           // that carries it, -1: the world
    Affine local;
    bool is_directional, is_spot, casts_shadows;
    Vec3 color, position, direction, attenuation;
    double intensity, radius, beam, cut;
} Light;

// What is not a surface: lights, the sky, fog.
typedef struct Lighting {
    Light *lights;
    int count, capacity;
    Vec3 ambient;        // of all lights
    Vec3 sky;            // as it is seen
    Vec3 sky_light;      // as it lights surfaces
    Vec3 fog;
    double fog_range;    // 0: none
    int fog_power;       // 0 linear, 1 and 2 exponential
} Lighting;

struct Rays {
    Physics *physics;
    DiagSink *diags;
    RTCDevice device;
    RTCScene scene;
    RTCGeometry geometry;
    Visual *visuals;
    int visual_count, visual_capacity;
    MeshTree *meshes;
    int mesh_count, mesh_capacity;
    Lighting lighting;
    uint64_t edits;      // of physics, as of the last listing
    bool is_listed;
};

Affine affine_mul(Affine a, Affine b);
Affine affine_of_pose(Pose pose);

// ---- light.c ----
void lighting_clear(Rays *rays);
void lighting_add(Rays *rays, SceneNode *node, int solid, Affine local);  // a Light, Background, Fog or Viewpoint met in the scene
void lighting_place(Rays *rays);
void lighting_free(Rays *rays);

#endif
