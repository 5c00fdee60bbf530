// body_internal.h - what the parts of the body reader share. Not for other files.
#ifndef TALUS_FORMATS_BODY_INTERNAL_H
#define TALUS_FORMATS_BODY_INTERNAL_H

#include "assets/resolve.h"
#include "formats/body/body.h"

typedef struct BodyCache {  // from YAML nodes to what was read from them, so that aliases share it
    const YamlNode **keys;
    const void **values;
    int count, capacity;  // capacity is 0 or a power of two
} BodyCache;

typedef struct BodyFile {  // a YAML or mesh file that Resource nodes named
    const char *path;
    YamlDocument *document;
    bool is_open;  // its elements are being read: naming it again would not end
    struct BodyFile *next;
} BodyFile;

// Who asked for this body, to notice a body that contains itself.
typedef struct BodyChain {
    const char *path;
    const struct BodyChain *outer;
    int depth;
} BodyChain;

typedef struct BodyReader {
    BodyModel *model;
    Arena *arena;
    DiagSink *diags;
    const BodyOptions *options;
    const Limits *limits;
    const Resolver *resolver;
    const BodyChain *chain;
    const char *path;        // of the file that is being read now
    YamlDocument *document;  // of the body itself
    double angle;            // radian per unit of angle in the file
    int64_t *element_count;  // elements read so far, of all files of this load
    BodyFile *files;
    BodyCache geometries, appearances;
    const char **said;  // "context.key" of unknown keys that have been reported
    int said_count, said_capacity;
} BodyReader;

// Where elements are being read.
typedef struct ElementScope {
    int link;
    int device;
    BodyFrame frame;
    bool is_visual, is_collision;
    bool ignores_mass;  // in the entry of a sub-body
    int depth;
    struct BodyMassSum *sum;
} ElementScope;

typedef struct BodyMassPart {
    double mass;
    Vec3 com;
    Mat3 inertia;
} BodyMassPart;
typedef struct BodyMassSum {
    BodyMassPart *parts;
    int count, capacity;
} BodyMassSum;

// Looking keys up. `key` is snake_case; `old_key` the camelCase spelling or NULL.
const YamlNode *body_key(const YamlNode *map, const char *key, const char *old_key);
// Soft reads: a value of the wrong kind is a warning and leaves *value.
bool body_double(BodyReader *reader, const YamlNode *map, const char *key, const char *old_key, double *value);
bool body_angle(BodyReader *reader, const YamlNode *map, const char *key, const char *old_key, double *value);
bool body_int(BodyReader *reader, const YamlNode *map, const char *key, const char *old_key, int *value);
bool body_bool(BodyReader *reader, const YamlNode *map, const char *key, const char *old_key, bool *value);
bool body_string(BodyReader *reader, const YamlNode *map, const char *key, const char *old_key, const char **value);
bool body_vec3(BodyReader *reader, const YamlNode *map, const char *key, const char *old_key, Vec3 *value);
bool body_vec2(BodyReader *reader, const YamlNode *map, const char *key, const char *old_key, Vec2 *value);
bool body_numbers(BodyReader *reader, const YamlNode *map, const char *key, const char *old_key, int group,
                  BodyNumbers *value);
bool body_indices(BodyReader *reader, const YamlNode *map, const char *key, const char *old_key, BodyIndices *value);
// Hard reads: a value that Choreonoid refuses is an error; text behind a number a warning.
bool body_hard_double(BodyReader *reader, const YamlNode *map, const char *key, const char *old_key, double *value);
bool body_hard_int(BodyReader *reader, const YamlNode *map, const char *key, const char *old_key, int *value);
bool body_list_doubles(BodyReader *reader, const YamlNode *list, const char *what, int count, double *values);
// translation, rotation (also lists of such) and, if `scale` is not NULL, scale.
bool body_translation(BodyReader *reader, const YamlNode *map, const char *key, Vec3 *value);
bool body_rotation(BodyReader *reader, const YamlNode *map, const char *key, Mat3 *value);
BodyFrame body_transform(BodyReader *reader, const YamlNode *map);
Mat3 body_axis_angle(Vec3 unit_axis, double angle);
bool body_mass_matrix(BodyReader *reader, const YamlNode *map, Mat3 *inertia);

// Reports keys of `map` that are in none of the NULL-terminated lists, once each; keeps them in *info when not NULL.
void body_check_keys(BodyReader *reader, const YamlNode *map, const char *context, const char *const *known,
                     const char *const *more, BodyInfo **info);
BodyInfo **body_info_add(BodyReader *reader, BodyInfo **tail, const YamlPair *pair);  // returns the new tail
bool body_key_is(const char *key, const char *const *list);
extern const char *const body_transform_keys[];

const void *body_cache_get(const BodyCache *cache, const YamlNode *key);
void body_cache_put(BodyCache *cache, const YamlNode *key, const void *value);
void body_cache_free(BodyCache *cache);

// body_link.c
void body_link_init(BodyLink *link);
void body_link_read(BodyReader *reader, const YamlNode *map, BodyLink *link, bool is_sub_body);
extern const char *const body_link_keys[];

// body_elements.c
void body_elements_read(BodyReader *reader, const YamlNode *elements, ElementScope scope);
void body_link_mass(BodyReader *reader, const YamlNode *map, BodyLink *link, const BodyMassSum *sum);
void body_mass_add(BodyMassSum *sum, BodyMassPart part);
void body_mass_set(BodyLink *link, const BodyMassSum *sum);
const char *body_resolve(BodyReader *reader, const char *uri, const char *what, SourcePos pos);

// body_shape.c
void body_shape_read(BodyReader *reader, const YamlNode *map, ElementScope scope);
void body_shape_add(BodyReader *reader, BodyShape shape);
void body_mesh_file_add(BodyReader *reader, const YamlNode *resource, const char *path, ElementScope scope);
BodyGeometry *body_geometry_create(Arena *arena, int kind, SourcePos pos);  // with the defaults of Choreonoid
Mesh *body_geometry_faces(
    const BodyGeometry *geometry);         // of one given by faces or triangles; the caller's, NULL: none
const char *body_geometry_name(int kind);  // in files

// body_vrml.c
BodyNumbers body_vrml_numbers(Arena *arena, const FieldList *list, int per_item);   // a copy
bool body_vrml_faces(Arena *arena, const SceneNode *node, BodyGeometry *geometry);  // false: it has no points
BodyAppearance *body_appearance_create(Arena *arena, SourcePos pos);                // with the defaults of Choreonoid
void body_vrml_material(const SceneNode *material, BodyAppearance *appearance);     // NULL: nothing changes

// body_wrl.c: what is to be seen below a node of a VRML97 file
typedef struct WrlShapes {
    BodyShape *items;
    int count, capacity;
} WrlShapes;
#define WRL_INLINES_MAX 1000
typedef struct WrlWalk {
    Arena *arena;  // of what is found
    const Limits *limits;
    DiagSink *diags;
    const char *path;  // of the file that is walked
    WrlShapes *shapes;
    bool is_collision;  // of Surfaces what collides, and nothing beside them; otherwise all that is seen
    bool has_surfaces;  // out: there was one
    bool is_inside;     // of a Surface
    int depth, inline_count;
    const struct WrlWalk *outer;  // the file that this one stands in
} WrlWalk;
BodyFrame body_wrl_frame(const SceneNode *node);  // of a Transform; the identity otherwise
void body_wrl_collect(WrlWalk *walk, const SceneNode *node, BodyFrame frame);

// body_humanoid.c: OpenHRP models
bool body_humanoid_read(BodyReader *reader, const char *text, size_t size);

// body_device.c
extern const BodyDevice body_device_defaults;
bool body_device_is(const char *type);
int body_device_read(BodyReader *reader, const char *type, const YamlNode *map,
                     ElementScope scope);  // index, -1: no device

// body_rules.c
void body_extra_joints_read(BodyReader *reader, const YamlNode *list);
void body_rules_read(BodyReader *reader, const YamlNode *root);

// body_world.c: the scene has its path already, which may be that of a file to be written
bool body_fill_scene(Scene *scene, const char *name, const char *text, size_t size, const FormatsOptions *options,
                     DiagSink *diags);
// cnoid.c
bool cnoid_fill_scene(Scene *scene, const char *name, const char *text, size_t size, const FormatsOptions *options,
                      DiagSink *diags);

// body_write.c
const char *body_relative_path(Arena *arena, const char *folder,
                               const char *path);  // `path` itself when they share nothing

// A link while the file is read: in file order, with its parent by name.
typedef struct BodyRawLink {
    BodyLink link;
    const char *parent_name;  // NULL: none
    SourcePos parent_pos;
    int parent;  // index of raw link, -1: none or not known yet
    int first_child, last_child, next;
    int order;  // place in the tree, -1: not reached
} BodyRawLink;

typedef struct BodyRawLinks {
    BodyRawLink *items;
    int count, capacity;
    int32_t *slots;  // hash table over names
    int mask;
} BodyRawLinks;

// body_tree.c
int body_raw_add(BodyRawLinks *raw);
// Hangs the links under their parents and fills the model with those that the root reaches. `top` may name the root;
// NULL: the first.
void body_tree_build(BodyReader *reader, BodyRawLinks *raw, const YamlNode *top);

// body_entries.c
typedef struct BodyPartKeys {
    const char *uri, *prefix, *suffix, *device_prefix;
    int id_offset;
} BodyPartKeys;
void body_entries_read(BodyReader *reader, const YamlNode *links, BodyRawLinks *raw);
BodyModel *body_part_load(BodyReader *reader, const BodyPartKeys *keys, SourcePos pos);
void body_part_own(BodyReader *reader, BodyModel *part);  // it lives as long as the model
void body_part_add(BodyReader *reader, const BodyModel *part, const BodyPartKeys *keys, BodyRawLinks *raw);

// body.c
// What a body and the bodies inside of it share while they are read.
typedef struct BodyLoad {
    const BodyOptions *options;  // NULL: defaults
    const Resolver *resolver;
    const BodyChain *chain;
    int64_t *element_count;  // so far, against the limit
} BodyLoad;
BodyModel *body_load_chained(const char *path, const BodyLoad *load, DiagSink *diags);

#endif
