// rays.h - rays against what is seen: the Shapes and CadShapes of a world with their colours, and the light that they
// send back. For infra-red sensors, lidars, range finders, cameras and pictures for people: many rays in, one hit out
// for each. Belongs here: visual forms and where they are, the search tree over them (Embree), the look of a surface at
// a hit, lights, the sky. Not here: bounding objects (physics/ray.h), what a sensor makes of a hit (devices/).
//
// A Rays borrows the physics (which has the scene and the assets) and owns all the rest. Forms with a formula are met
// exactly, in double precision; meshes are searched in single precision and the distance is then computed in double.
// Surfaces have one side, as in Webots: a ray that starts inside a form leaves it unseen. Of two surfaces at the same
// distance the one that the file names first counts, so the answer never depends on the tree's past.
#ifndef TALUS_RAYS_RAYS_H
#define TALUS_RAYS_RAYS_H

#include "physics/physics.h"

typedef struct Rays Rays;

Rays *rays_create(Physics *physics, DiagSink *diags);
void rays_destroy(Rays *rays);  // NULL is fine

// Brings the visuals to where their solids are. Lists them anew after an edit of the scene; otherwise allocates nothing
// and does nothing for what did not move. To be called before casting, when something is due to look.
void rays_update(Rays *rays);
// The two halves of it, for pictures of a moment that is past: what there is, as the scene has it now, and where it is,
// by the poses of all solids. Placing works on the last list, also when the scene has another one by now.
void rays_keep_nodes(const Rays *rays, Scene *scene);  // scene_keep() for all that it remembers
bool rays_is_listed(const Rays *rays);                 // the list is that of the scene
void rays_list(Rays *rays);
void rays_place(Rays *rays, const Pose *solids, int solid_count);
// After physics was made anew, or the scene was changed without physics being told.
void rays_rebind(Rays *rays, Physics *physics);

typedef struct Ray {
    Vec3 origin, direction;  // direction of unit length
    double near, far;        // hits between them, `near` excluded
    double spread;           // width of a pixel at distance 1, for textures; 0: endlessly thin
} Ray;

typedef struct RayHit {
    int visual;  // -1: nothing was hit, the rest means nothing
    int solid;   // that carries it, -1: the world
    double distance;
    Vec3 normal;   // unit, world, towards the ray's origin
    Vec3 smooth;   // the normal that light sees: between those of a mesh's corners
    double u, v;   // on the texture, v upwards
    int triangle;  // of a mesh, else -1
    int face;      // of a form: which of its sides
} RayHit;

// Whether a visual may be hit; NULL means every one may.
typedef bool (*RaysFilter)(const Rays *rays, int visual, void *context);
// May be called by several threads between updates, as all that follows but for the switches.
void rays_cast(const Rays *rays, const Ray *queries, int count, RaysFilter filter, void *context, RayHit *hits);

// How far away the first surface is, INFINITY: nothing is. For sensors that want no more: meshes in single precision.
void rays_distances(const Rays *rays, const Ray *queries, int count, RaysFilter filter, void *context,
                    double *distances);

int rays_visual_count(const Rays *rays);
// One visual as plain values, for those who draw it elsewhere.
typedef struct RaysVisual {
    SceneNode *node;
    int solid;         // -1: the world
    const Mesh *mesh;  // its triangles, in its own frame; NULL: it has none. Owned by the store, of Skins by the rays
    double local[12];  // from there into the frame of the solid: three rows of four
    Vec3 color, emissive;   // colour as files write it, glow linear
    const SceneNode *glow;  // Material or PBRAppearance that says how it glows; NULL: none does
    double transparency, roughness, metalness;
    bool has_parts;      // the mesh's own materials count
    const Image *image;  // over the colour; NULL: none
    bool repeats[2];
    bool has_transform;  // of the image's coordinates, as TextureTransform has it
    Vec2 center, scale, shift;
    double rotation;
} RaysVisual;
RaysVisual rays_describe(const Rays *rays, int visual);
// A visual whose mesh bones bend: a part of a Skin.
typedef struct RaysSkin {
    const Mesh *rest;   // as its file has it
    const int *solids;  // that move its bones, -1: the bone stays with the Skin; NULL: programs move all of them
} RaysSkin;
bool rays_describe_skin(const Rays *rays, int visual, RaysSkin *skin);  // false: it is none
Vec3 rays_linear_color(Vec3 color);                                     // of one as files write it
SceneNode *rays_visual_node(const Rays *rays, int visual);              // Shape or CadShape
bool rays_bounds(const Rays *rays, Vec3 *low, Vec3 *high);              // around all that is seen; false: nothing is
bool rays_bounds_below(const Rays *rays, const SceneNode *top, Vec3 *low,
                       Vec3 *high);         // around what is seen of a node and all below it
int rays_triangle_count(const Rays *rays);  // of all visuals; forms with a formula count as one
int rays_texture_count(const Rays *rays);
Vec3 rays_up(const Rays *rays);  // the world's axis that points upwards

// What is seen at a hit: colour of texture, material and paint together, transparency taken off.
typedef struct RayLook {
    Vec3 color;
    double roughness, occlusion, transparency;  // 0 where the appearance has none
} RayLook;
RayLook rays_look(const Rays *rays, const RayHit *hit);
Vec3 rays_recognition_color(const Rays *rays, int visual);  // of the nearest solid that has some; black without

// The light that comes along rays: linear red, green and blue before any exposure; through transparent surfaces it
// comes from behind.
typedef struct RaysStyle {
    int eye;                 // who looks, see rays_hide: what is hidden from it is not met
    double occlusion;        // m: what is near takes light of the surroundings away; 0: not
    double softness;         // rad: apparent radius of lights; 0: sharp shadows
    const int (*pixels)[2];  // column and row: soft things are sampled at places that differ from pixel to pixel,
    int per_pixel;           // ... and over all its rays, which follow each other; 0: one
    bool is_unshadowed;      // only the full light is wanted
    bool has_shadows;        // rays_prepare_shadows was called for the picture; lights are points
    bool is_for_people;      // a world without lights gets one, one without a background a sky, a bare floor a pattern
} RaysStyle;
typedef struct RaySeen {
    int visual;  // -1: the sky
    float distance;
    float normal[3];
    float light[3];
    float full[3];     // the light without shadows and occlusion by what is near
    bool is_textured;  // its pattern is the mean over the pixel already
} RaySeen;
void rays_see(const Rays *rays, const Ray *queries, int count, const RaysStyle *style, RaySeen *seen);

// Before a picture with sharp shadows and so many pixels: what finds those of the sun without rays, where that costs
// less. By the thread that owns the world, after placing.
void rays_prepare_shadows(Rays *rays, int pixel_count);

// A picture on a plane, seen from one point: what its pixels see first is found for neighbours together. One at a time;
// begun by the thread that owns the world, after placing, then filled band by band by any threads.
typedef struct RaysFlat {
    Pose pose;  // looks along x, z upwards
    int width, height;
    double reach;      // width of the plane at distance 1
    double near, far;  // along the axis
    int eye;
} RaysFlat;
bool rays_flat_begin(Rays *rays, const RaysFlat *flat);  // false: single rays suit it better
enum { RAYS_BAND_HEIGHT = 16 };                          // pixels
int rays_flat_bands(const RaysFlat *flat);
void rays_flat_fill(const Rays *rays, int band);
// What eight neighbours of a filled band see, four beside each other in two rows, from a column that is a multiple of
// four and an even row. Of those beyond the picture nothing is said.
enum { RAYS_BLOCK_WIDTH = 4, RAYS_BLOCK_HEIGHT = 2, RAYS_BLOCK = RAYS_BLOCK_WIDTH * RAYS_BLOCK_HEIGHT };
typedef struct RaysBlock {  // each as in RaySeen
    int visual[RAYS_BLOCK];
    float distance[RAYS_BLOCK], normal[3][RAYS_BLOCK], light[3][RAYS_BLOCK], full[3][RAYS_BLOCK];
    bool is_textured[RAYS_BLOCK];
} RaysBlock;
void rays_see_block(const Rays *rays, int column, int row, const RaysStyle *style, RaysBlock *seen);
// The visuals alone, -1: none.
void rays_find_block(const Rays *rays, int column, int row, int visuals[RAYS_BLOCK]);

// ---- what devices show: it outlasts listings, until it is said otherwise ----
// Lamps: the emissive colour of a Material or PBRAppearance, the colour of a Light and whether it is on.
void rays_set_lamp(Rays *rays, const SceneNode *node, Vec3 color, bool is_on);
// An image on top of an ImageTexture: red, green, blue, alpha, rows from the top. Borrowed; NULL takes it off.
typedef struct RaysLayer {
    int width, height;
    const uint8_t *pixels;
} RaysLayer;
void rays_set_layer(Rays *rays, const SceneNode *texture, const RaysLayer *layer);
// Paint on a Shape: red, green, blue, density of each pixel, rows from the bottom. Borrowed; NULL takes it off.
typedef struct RaysPaint {
    int width, height;
    const float *pixels;
} RaysPaint;
void rays_set_paint(Rays *rays, const SceneNode *shape, const RaysPaint *paint);
// Discs of paint on the faces of a shape around a hit, from 0 to 1 over the paint (rows from the bottom), each held
// within its face.
typedef struct RaysSpot {
    double u, v, reach_u, reach_v;
    double low[2], high[2];
} RaysSpot;
// The reach is in shares of a face's width and height. Returns how many; 0: it cannot be painted.
int rays_paint_spots(const Rays *rays, const RayHit *hit, double reach_u, double reach_v, RaysSpot spots[6]);
// How large paint is: pixels that the shape's texture has (or what suits its size), how many of such lie beside and
// above each other (for the sides of the shape), and the radius around the shape.
void rays_paint_size(const Rays *rays, int visual, int *width, int *height, int cells[2], double *radius);
// Whether a node and all below it is hidden from an eye: 0 is the main view, robots' cameras have 1 to 63.
void rays_hide(Rays *rays, const SceneNode *node, int eye, bool is_hidden);
bool rays_is_hidden(const Rays *rays, int visual, int eye);
bool rays_hides(const Rays *rays, int eye);  // anything at all
void rays_unhide_all(Rays *rays);
// Spots of light, such as those of lasers: seen on what they fall on.
void rays_clear_spots(Rays *rays);
void rays_add_spot(Rays *rays, Vec3 place, double radius, Vec3 color);

// Drives: how far a Track's belt has run (m), how fast a Propeller turns (rad/s).
void rays_set_drive(Rays *rays, const SceneNode *node, double value);
// Bones of a Skin that no solids move, in the frame of its mesh. Those beyond `count` are as the file has them.
void rays_set_bones(Rays *rays, const SceneNode *skin, const Pose *bones, int count);
// Where the main view is, for the Billboards before it.
void rays_set_view(Rays *rays, Pose view);

const char *rays_library(void);  // name and version of what searches, for `talus doctor`

#endif
