// rays_internal.h - the folder's own: what a visual is made of.
#ifndef TALUS_RAYS_RAYS_INTERNAL_H
#define TALUS_RAYS_RAYS_INTERNAL_H

#include "formats/shape/shape.h"
#include "rays/embree.h"
#include "rays/rays.h"

// A linear map and a shift; scales of Transforms make it more than a pose.
typedef struct Affine {
    Mat3 m;
    Vec3 t;
} Affine;

// ---- texture.c: images in ever smaller copies ----
enum { MIP_LEVELS_MAX = 16 };
typedef struct Mip {
    const Image *image;
    int level_count;
    int width[MIP_LEVELS_MAX], height[MIP_LEVELS_MAX];
    uint8_t *levels[MIP_LEVELS_MAX];  // the first is the image's own
} Mip;

typedef struct Texture {
    const Mip *mip;          // NULL: none
    const RaysLayer *layer;  // drawn over it, by its alpha; NULL: none
    bool repeats_s, repeats_t;
    int filtering;  // as ImageTexture has it: 0 the nearest pixel, then smooth, 2 and more for slanted views
} Texture;

// A place on a texture, and how far it moves from pixel to pixel of the picture to the right and downwards.
typedef struct TexturePlace {
    double u, v;
    double du[2], dv[2];
} TexturePlace;

Mip *mip_create(const Image *image);
void mip_destroy(Mip *mip);  // NULL is fine
bool texture_is_there(const Texture *texture);
// Red, green, blue as the image has them; *cover is how much of the surface is there.
Vec3 texture_at(const Texture *texture, const TexturePlace *place, double *cover);
Vec3 texture_pixel(const Texture *texture, double u, double v);  // the nearest one

// ---- look.c ----
typedef struct Look {
    const SceneNode *emissive_node;  // the Material or PBRAppearance whose emissiveColor a lamp may set
    Vec3 color, linear;
    double roughness, transparency;
    Texture base, rough, occluded, metal, glow, normal;
    bool is_physical;  // a PBRAppearance; else the light model of VRML
    double metalness, background_share, occlusion_strength, normal_factor, emissive_intensity;
    Vec3 emissive, specular, ambient;  // linear; ambient is the colour that the lights' ambient parts meet
    double exponent;
    bool has_transform, has_parts;  // parts: the mesh brings its own materials
    bool is_textured;
    Vec2 center, scale, translation;
    double rotation;
} Look;

// A line, or a point where both ends are the same.
typedef struct Stroke {
    Vec3 a, b;
    Vec3 light;  // that it sends out
} Stroke;

typedef struct Strokes {
    Stroke *items;
    int count, capacity;
} Strokes;

// A form in its own frame.
typedef struct Form {
    ShapeForm shape;
    bool without_top, without_bottom, without_side;
    Vec3 low, high;
    const Stroke *strokes;  // of lines and points
    int stroke_count;
} Form;

typedef struct FormHit {
    double distance;
    Vec3 normal;  // need not be of unit length
    Vec3 smooth;  // likewise; of meshes alone
    double u, v;
    int face;  // of a box, or 0 side, 1 top, 2 bottom
} FormHit;

// The first entry from outside beyond `near`; the direction may have any length, which is the unit of distance.
bool form_hit(const Form *form, Vec3 origin, Vec3 direction, double near, FormHit *hit);
// ---- strokes.c ----
bool strokes_read(const SceneNode *geometry, const Look *look, Strokes *strokes);  // false: none
double strokes_margin(const Strokes *strokes);
Form strokes_form(const Strokes *strokes, int first, double margin);  // of some from the first on: form.stroke_count
bool strokes_hit(const Form *form, Vec3 origin, Vec3 direction, double near, double spread, FormHit *hit);

// Whether wide_form.h has it, which meets eight rays at once in single precision.
static inline bool form_is_wide(const Form *form)
{
    GeometryKind kind = form->shape.kind;
    return form->stroke_count == 0
           && (kind == GEOMETRY_BOX || kind == GEOMETRY_PLANE || kind == GEOMETRY_SPHERE || kind == GEOMETRY_CYLINDER);
}

Form form_of(const SceneNode *geometry);  // kind GEOMETRY_NONE when it has no formula
// Where a place of the surface lies on its paint, from 0 to 1: faces lie beside each other. False: it cannot be
// painted. Where a spot of paint around a hit lies, by its reach in shares of the face's width and height.
int form_paint_spots(const Form *form, const RayHit *hit, double reach_u, double reach_v, RaysSpot spots[6]);
double form_radius(const Form *form,
                   const Mesh *mesh);  // of a sphere around it; the mesh is NULL where there is a formula
void form_paint_cells(const Form *form, int cells[2]);  // how many sides beside and above each other
bool form_paint_place(const Form *form, const RayHit *hit, double *u, double *v);
Look look_of_skin(Rays *rays, const ShapeSource *source, const SceneNode *appearance);  // NULL: white
Look look_of(Rays *rays, const ShapeSource *source, const SceneNode *shape);

// What light meets at a point: linear colours.
typedef struct Surface {
    bool is_physical;
    Vec3 base, emissive, specular, ambient;
    Vec3 normal;  // that light sees, from a normal map too
    double roughness, metalness, occlusion, transparency, background_share, exponent;
} Surface;
Vec3 color_linear(Vec3 color);

typedef struct MeshTree {
    const Mesh *mesh;
    RTCScene scene;
    RTCGeometry geometry;  // of one that changes; NULL: it never does
    float *normals;        // of the triangles, of any length
    unsigned version;      // grows when the mesh changes
    int users;             // visuals of the present list
    double radius;         // of a sphere around it
} MeshTree;

typedef struct Visual {
    SceneNode *node;
    int solid;
    int mesh;   // index of its tree, -1: a formula
    Form form;  // low and high also for meshes
    Look look;
    bool casts_shadow;
    bool is_overlay;         // of a Billboard: stands before the main view, and is seen by it alone
    uint64_t hidden;         // from which eyes, as bits
    Vec3 recognition;        // colour in segmented pictures
    const RaysPaint *paint;  // NULL: none
    const SceneNode *drive;  // the Track or Propeller whose motor moves it; NULL: none
    int piece, pieces;       // of a belt; 0 pieces: a helix
    Affine belt, in_piece;   // of the track in its solid, of the shape in its piece
    bool is_fast, is_alone;  // of a helix: for high speeds; the only one
    Vec2 slide,
        slide_from;  // of a track's own shape: how far its image moves with each metre of the belt, and from where
    bool is_off;     // not seen at all
    double squares;  // that people see on it as a bare floor: their width, 0: none
    bool is_stale;   // to be placed anew
    RTCGeometry instance;  // of a mesh in the tree; NULL: none
    Affine local;          // in the frame of the solid
    Affine world;
    Mat3 inverse;  // of world.m
    float inverse_float[9];
    Pose pose;  // of the solid, as it is in `world`
    float low[3], high[3];
} Visual;

typedef struct Light {
    SceneNode *node;
    int solid;  // that carries it, -1: the world
    Affine local;
    bool is_directional, is_spot, casts_shadows, is_on;
    Vec3 own_position, own_direction;  // in the frame of `local`
    Vec3 color, position, direction, attenuation;
    double intensity, radius, beam, cut, ambient;
} Light;

// Six square images around the world.
typedef struct SkyCube {
    bool is_there;
    const Image *images[6];
    Vec3 up, front, right;
    int side;  // pixels of a face
    int level_count;
    float *levels[MIP_LEVELS_MAX];  // red, green, blue of 6 faces, ever smaller
} SkyCube;

// What is not a surface: lights, the sky, fog.
typedef struct Lighting {
    Light *lights;
    int count, capacity;
    Vec3 ambient;  // of all lights that are on
    bool has_background;
    Vec3 sky;        // as it is seen
    Vec3 sky_light;  // as it lights surfaces
    double luminosity;
    Vec3 up;  // of the world
    SkyCube cube, irradiance;
    Vec3 fog;
    double fog_range;  // 0: none
    int fog_power;     // 0 linear, 1 and 2 exponential
} Lighting;

// What devices show: it stays over listings.
typedef struct Lamp {
    const SceneNode *node;  // a Material, PBRAppearance or Light
    Vec3 color;
    bool is_on;  // of a light
} Lamp;
typedef struct Cover {
    const SceneNode *node;  // an ImageTexture
    const RaysLayer *layer;
} Cover;
typedef struct Painted {
    const SceneNode *node;  // a Shape
    const RaysPaint *paint;
} Painted;
typedef struct Veil {
    const SceneNode *node;
    uint64_t eyes;
} Veil;
typedef struct Dot {
    Vec3 place;
    double radius;
    Vec3 color;
} Dot;

enum { BRDF_SIDE = 32, CIRCLE_PLACES = 1024, LINEAR_PLACES = 1024, LANES = 8 };
enum { OPEN_RAYS = 3, LIGHT_RAYS = 2 };  // of each ray, where things are soft: to the surroundings, to each light
#define SHADOW_GAP 1e-4f                 // m: between a surface and the rays that leave it

// ---- bins.c: boxes in the cells of a flat grid ----
typedef struct BinBox {
    int16_t left, right, top, bottom;  // cells, inclusive
} BinBox;
typedef struct Bins {
    int columns, rows;
    int *starts;  // of each cell, and behind the last: where its items begin
    int *items;   // ascending within a cell
    int start_capacity, item_capacity;
} Bins;
void bins_fill(Bins *bins, int columns, int rows, const BinBox *boxes, int count);
double bins_crowding(const Bins *bins);  // how many others share a cell with an item, on average over all items
void bins_free(Bins *bins);

struct Lit;
struct Raster;
struct Shadows;
struct ShadowSide;
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
    Strokes *strokes;  // of the present list, one for each shape
    int stroke_set_count, stroke_set_capacity;
    struct Skin **skins;
    int skin_count, skin_capacity;
    Mip **mips;
    int mip_count, mip_capacity;
    Lighting lighting;
    uint64_t edits;  // of physics, as of the last listing
    bool is_listed;
    bool is_unplaced;  // listed anew since the last placing
    Pose *solids;      // of the last update
    int solid_capacity;
    Lamp *lamps;
    Cover *covers;
    Painted *paints;
    Veil *veils;
    Dot *dots;
    int lamp_count, lamp_capacity, cover_count, cover_capacity, paint_count, paint_capacity, veil_count, veil_capacity,
        dot_count, dot_capacity;
    Pose view;                          // of the main view, for what stands before it
    uint64_t veiled;                    // eyes that something is hidden from
    const float (*brdf)[BRDF_SIDE][2];  // brdf_table(): scale and bias by roughness and cosine; NULL until a physical
                                        // surface is listed
    double linear[LINEAR_PLACES + 2];   // the sRGB curve
    float (*circle)[2];                 // places around it, for what is soft
    uint64_t placings;                  // how often something was listed or moved
    struct Raster *raster;              // of the last flat picture; NULL: there was none
    struct Shadows *shadows;            // NULL: not yet wanted
    void (*shade)(const Rays *rays, struct Lit *lit, const RaysStyle *style);
    void (*fill)(const struct Raster *raster, int column, int row);
    int (*block)(const Rays *rays, int column, int row, struct Lit *lit, RaysBlock *seen);
    void (*darken)(const Rays *rays, const struct ShadowSide *side, const float from[3][LANES], const int valid[LANES],
                   int darkened[LANES]);
};

static inline Affine affine_mul(Affine a, Affine b)
{
    return (Affine){ mat3_mul(a.m, b.m), vec3_add(mat3_apply(a.m, b.t), a.t) };
}

static inline Affine affine_of_pose(Pose pose) { return (Affine){ mat3_from_quat(pose.q), pose.t }; }

// ---- trees.c ----
enum { MASK_SEEN = 1, MASK_SHADOW = 2 };  // what rays of Embree ask for
static inline Vec3 mesh_corner(const Mesh *mesh, unsigned triangle, int k)
{
    assert_debug(triangle < (unsigned)mesh->triangle_count && k >= 0 && k < 3);
    return mesh_position(mesh, mesh->triangles[3 * (size_t)triangle + (size_t)k]);
}

static inline Vec3 mesh_face_normal(const Mesh *mesh, unsigned triangle)
{
    Vec3 a = mesh_corner(mesh, triangle, 0);
    return vec3_cross(vec3_sub(mesh_corner(mesh, triangle, 1), a), vec3_sub(mesh_corner(mesh, triangle, 2), a));
}

int rays_tree_of(Rays *rays, const Mesh *mesh);            // index of its tree, made when it is first asked for
int rays_tree_that_changes(Rays *rays, const Mesh *mesh);  // likewise, of a mesh that others change
void rays_tree_changed(Rays *rays, int tree);              // its mesh did
// Where on the texture a place of a triangle lies: by its coordinates, or else laid over the longest sides of the
// mesh's box.
void mesh_texture_place(const Mesh *mesh, int triangle, double b, double c, double *u, double *v);
const Mip *rays_mip(Rays *rays, const Image *image);
Surface surface_at(const Rays *rays, const Ray *ray, const RayHit *hit);
RayLook look_at(const Visual *visual, const Mesh *mesh, const RayHit *hit);

// ---- visuals.c ----
void visuals_drop_strokes(Rays *rays);

// ---- placement.c ----
void placement_drop_instances(Rays *rays);  // of the list as it is, before it goes
void placement_make_instances(Rays *rays);
void placement_bounds(const struct RTCBoundsFunctionArguments *arguments);  // of a form, for Embree

// ---- overrides.c ----
void overrides_drop_lost(Rays *rays);                                        // of nodes that are gone
void overrides_sum_veils(Rays *rays);                                        // which eyes something is hidden from
uint64_t overrides_hidden(const Rays *rays, const SceneNode *node);          // from which eyes, as bits
const RaysPaint *overrides_paint(const Rays *rays, const SceneNode *shape);  // NULL: none
void overrides_light(Rays *rays, Visual *visual);                            // by a lamp of its look

// ---- cast.c ----
void cast_meet_forms(const struct RTCIntersectFunctionNArguments *arguments);   // for Embree
void cast_darken_forms(const struct RTCOccludedFunctionNArguments *arguments);  // likewise, for shadows
// Embree works in single precision and ends the program when a number of a ray is beyond 1.8e18, also in the frame of
// a visual. So rays begin and point within the first of these; what is scaled beyond it, or so much smaller that its
// inverse is beyond the second, is not seen.
#define RAYS_COORDINATE_MAX (3 * LIMIT_COORDINATE)
#define RAYS_INVERSE_MAX 1e8
// Whether something that casts shadows stands in the way of eight rays: their tfar then becomes negative. Of the packet
// the caller gives origins, directions and tfar; those that are `valid` stay within these bounds.
void rays_occluded(const Rays *rays, const int *valid, struct RTCRay8 *packet);

// What up to eight rays met first.
typedef struct FormFound {
    int visual;  // -1: none yet
    FormHit hit;
} FormFound;
typedef struct Found {
    int visual[LANES];    // -1: nothing
    int triangle[LANES];  // -1: a form
    float distance[LANES], b[LANES], c[LANES];
    float normal[3][LANES];  // of triangles, in the frame of the mesh, of any length
    FormFound form[LANES];
} Found;
void rays_search(const Rays *rays, const Ray *queries, int count, RaysFilter filter, void *context, Found *found);
RayHit rays_hit_of(const Rays *rays, const Ray *query, const Found *found, int lane);
bool rays_meet_form(const Visual *visual, const Ray *ray, FormHit *hit);

// ---- raster.c: what pixels of a flat picture see first, see rays_flat_begin ----
void raster_search(const Rays *rays, const Ray *queries, const int (*pixels)[2], int count, Found *found);
void raster_size(const Rays *rays, int *width, int *height);
Ray raster_ray(const Rays *rays, int column, int row);  // through the middle of a pixel
void raster_free(Rays *rays);
// ---- raster_fill.c: the triangles of a cell of the picture ----
void raster_fill_portable(const struct Raster *raster, int column, int row);
void raster_fill_avx2(const struct Raster *raster, int column, int row);

// ---- shadows.c: sharp shadows of the sun ----
// What serves a light; NULL: a search along rays must.
const struct ShadowSide *shadows_side(const Rays *rays, int light);
void shadows_free(Rays *rays);
// ---- shadows_query.c: which of eight points lie in the shadow, as masks ----
void shadows_darken_portable(const Rays *rays, const struct ShadowSide *side, const float from[3][LANES],
                             const int valid[LANES], int darkened[LANES]);
void shadows_darken_avx2(const Rays *rays, const struct ShadowSide *side, const float from[3][LANES],
                         const int valid[LANES], int darkened[LANES]);

// ---- shade.c: eight surfaces and the light on them ----
typedef struct Lit {
    _Alignas(32) float point[3][LANES];
    float geometric[3][LANES], normal[3][LANES], eye[3][LANES];  // of the form; that light sees; of any length
    float base[3][LANES], emissive[3][LANES], specular[3][LANES], ambient[3][LANES];
    float roughness[LANES], metalness[LANES], occlusion[LANES], background_share[LANES], exponent[LANES];
    float turn[LANES], share[LANES], before[LANES];  // of the pixel, 0 to 1; rays of it before this one
    int per_pixel;
    int is_lit[LANES], is_physical[LANES], is_overlay[LANES];  // masks
    float sum[3][LANES], full[3][LANES];                       // what comes of it: with shadows and without
} Lit;
// ---- block.c: eight neighbours of a flat picture. Returns whether they see one plain surface, now in `lit`, nothing,
// or other things. Of `seen` it gives what is not light ----
enum { BLOCK_SKY, BLOCK_PLAIN, BLOCK_MIXED };
int block_surfaces_portable(const Rays *rays, int column, int row, Lit *lit, RaysBlock *seen);
int block_surfaces_avx2(const Rays *rays, int column, int row, Lit *lit, RaysBlock *seen);

void shade_portable(const Rays *rays, Lit *lit, const RaysStyle *style);
void shade_avx2(const Rays *rays, Lit *lit, const RaysStyle *style);

// ---- skinning.c ----
int skin_tree(Rays *rays, const SceneNode *node, const Mesh *mesh, int carrier,
              Affine local);                                        // of a Skin whose mesh has bones
void skins_place(Rays *rays, const Pose *solids, int solid_count);  // those whose bones are solids
void skins_free(Rays *rays);

// ---- moving.c ----
bool belt_frame(const SceneNode *track, int piece, int pieces, double travelled,
                Affine *frame);  // false: it has no belt

// ---- lighting.c ----
void lighting_clear(Rays *rays);
void lighting_add(Rays *rays, const ShapeSource *source, SceneNode *node, int solid,
                  Affine local);  // a Light, Background, Fog or Viewpoint met in the scene
bool lighting_place(Rays *rays, const Pose *solids, int solid_count);  // whether a light points elsewhere now
void lighting_sum(Rays *rays);                                         // after lights were switched
void lighting_free(Rays *rays);

// ---- sky.c ----
void sky_read(Rays *rays, const ShapeSource *source, const SceneNode *background);
void sky_free(Lighting *lighting);
bool sky_is_z_up(const Rays *rays);  // the world's axes
Vec3 sky_seen(const Lighting *lighting, Vec3 direction);
Vec3 sky_for_people(const Lighting *lighting,
                    Vec3 direction);  // likewise; blue above and grey below where the world has none
Vec3 cube_at(const SkyCube *cube, Vec3 direction, double level);

// ---- brdf.c ----
const float (*brdf_table(void))[BRDF_SIDE][2];  // scale and bias by roughness and cosine

#endif
