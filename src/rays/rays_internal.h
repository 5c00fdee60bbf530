// rays_internal.h - the folder's own: what a visual is made of.
#ifndef TALUS_RAYS_RAYS_INTERNAL_H
#define TALUS_RAYS_RAYS_INTERNAL_H

#include "formats/shape.h"
#include "rays/rays.h"

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
    Vec3 color;
    double roughness, transparency;
    Texture base, rough, occluded;
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
    double u, v;
} FormHit;

// The first entry from outside beyond `near`; the direction may have any length, which is the unit of distance.
bool form_hit(const Form *form, Vec3 origin, Vec3 direction, double near, FormHit *hit);
Form form_of(const SceneNode *geometry);     // kind SHAPE_NONE when it has no formula
Look look_of(const ShapeSource *source, const SceneNode *shape);
RayLook look_at(const Look *look, const Mesh *mesh, int triangle, double u, double v);

#endif
