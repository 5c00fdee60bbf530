// body.h - a Choreonoid body (.body) as plain data: links in tree order with joints, mass, shapes and devices.
// Belongs here: what a body file says, with Choreonoid's meaning of every key, in SI units and radian; reading,
// writing, tables for people; the way from a body to the nodes of a scene and back. Not here: anything that moves. A
// BodyModel owns all its data; pointers into it stay valid until body_destroy().
//
// Frames: z is up. World pose of a link = pose of its parent * translation * rotation * motion(q). The motion turns by
// q about `axis` (revolute) or shifts by q * axis (prismatic), both in the link's own frame after `rotation`; the other
// joint types have none. The anchor of a joint is the origin of its link. Mass data are in the link's frame, the
// inertia about the centre of mass. Shapes and devices have a frame in their link's frame that may hold a scale.
#ifndef TALUS_FORMATS_BODY_H
#define TALUS_FORMATS_BODY_H

#include "assets/geometry.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/limits.h"
#include "base/text.h"
#include "base/vec.h"
#include "formats/formats.h"
#include "formats/yaml/yaml.h"

#include <float.h>

typedef struct BodyModel BodyModel;
typedef struct Resolver Resolver;

#define BODY_UNLIMITED DBL_MAX  // ranges that have no end, as Choreonoid keeps them

typedef enum BodyJointType {
    BODY_JOINT_FIXED,
    BODY_JOINT_FREE,
    BODY_JOINT_REVOLUTE,
    BODY_JOINT_PRISMATIC,
    BODY_JOINT_TRACK,  // fixed to its parent; its surface moves along axis x contact normal
} BodyJointType;

typedef enum BodyActuation {
    BODY_ACTUATION_NONE,  // free-running until a controller commands it
    BODY_ACTUATION_EFFORT,
    BODY_ACTUATION_DISPLACEMENT,
    BODY_ACTUATION_VELOCITY,
    BODY_ACTUATION_LINK_POSITION,
} BodyActuation;

typedef struct BodyFrame {  // maps local points to its parent: p -> m p + t
    Mat3 m;
    Vec3 t;
} BodyFrame;
#define BODY_FRAME_IDENTITY ((BodyFrame){ MAT3_IDENTITY, VEC3_ZERO })

typedef struct BodyInfo {  // keys that the format does not define, kept as they are
    const char *key;
    const YamlNode *value;
    struct BodyInfo *next;
} BodyInfo;

typedef struct BodyLink {
    const char *name;        // "" when the file gives none
    const char *joint_name;  // its own or that of the link
    const char *material;    // contact material, "Default" when none
    int parent;              // index, -1 for the root
    Vec3 translation;        // of the link's frame in its parent's; of the root in the world
    Mat3 rotation;
    BodyJointType joint_type;
    BodyActuation actuation;
    int joint_id;                                 // -1: none
    Vec3 axis;                                    // as written, not normalised
    double q_initial;                             // rad or m
    double q_lower, q_upper, dq_lower, dq_upper;  // +-BODY_UNLIMITED when open
    double effort_limit;                          // N m or N, both ways; BODY_UNLIMITED when open
    double rotor_inertia;                         // kg m^2 (kg on a prismatic joint)
    double gear_ratio;
    double axis_inertia;  // what the rotor adds on the joint's axis: gear_ratio^2 * rotor_inertia, or as given
    double mass;
    Vec3 com;
    Mat3 inertia;
    bool has_mass_data;  // the file gave some; without, the link has 1 kg and the identity as inertia
    BodyInfo *info;
    SourcePos pos;
} BodyLink;

// Forms with a formula are the kinds of assets/geometry.h; those that are round about an axis stand along +y here. What
// has no formula is one of these.
typedef enum BodyGeometryKind {
    BODY_EXTRUSION = 100,  // beyond those kinds
    BODY_ELEVATION_GRID,
    BODY_FACES,      // IndexedFaceSet
    BODY_TRIANGLES,  // TriangleMesh: the same without -1 in its faces
    BODY_MESH_FILE,  // Resource with a mesh
} BodyGeometryKind;

typedef struct BodyNumbers {
    double *items;
    int count;
} BodyNumbers;
typedef struct BodyIndices {
    int32_t *items;
    int count;
} BodyIndices;

typedef struct BodyGeometry {
    int kind;  // GeometryKind or BodyGeometryKind
    SourcePos pos;
    Vec3 size;
    double radius, height;
    bool has_top, has_bottom, has_begin_cap, has_end_cap, is_ccw, is_solid;
    bool removes_redundant;
    int division;               // segments around a round shape when it is drawn as triangles
    double crease_angle;        // rad
    BodyNumbers cross_section;  // pairs x, z
    BodyNumbers spine;          // triples
    BodyNumbers orientation;    // x y z angle, rad
    BodyNumbers scales;         // pairs
    int x_dimension, z_dimension;
    double x_spacing, z_spacing;
    BodyNumbers heights;
    BodyNumbers vertices, normals, tex_coords;  // triples, triples, pairs
    BodyIndices faces, normal_indices, tex_coord_indices;
    const char *uri;   // of a mesh file as written
    const char *path;  // and where it lies; NULL when it was not found
    const char *node;  // the part of it that is meant, or NULL
    double unit;       // m per unit of the mesh
    bool is_y_up;
} BodyGeometry;

typedef struct BodyAppearance {
    SourcePos pos;
    double ambient, specular_exponent, transparency;  // 0: opaque
    Vec3 diffuse, emissive, specular;
    const char *texture_uri, *texture_path;  // NULL: none
    bool repeat_s, repeat_t;
    bool has_texture_transform;
    Vec2 texture_center, texture_scale, texture_translation;
    double texture_rotation;
} BodyAppearance;

typedef struct BodyShape {
    int link;
    int device;  // rides on this device's frame, -1: none (the frame is the link's all the same)
    BodyFrame frame;
    const BodyGeometry *geometry;
    const BodyAppearance *appearance;  // NULL: none
    bool is_visual, is_collision;
    const char *name;  // "" when none
} BodyShape;

typedef enum BodyDeviceType {
    BODY_ACCELERATION_SENSOR,
    BODY_RATE_GYRO,
    BODY_IMU,
    BODY_FORCE_SENSOR,
    BODY_CAMERA,        // format COLOR
    BODY_RANGE_CAMERA,  // every other format
    BODY_RANGE_SENSOR,
    BODY_SPOT_LIGHT,
    BODY_POINT_LIGHT,
    BODY_HOLDER,
    BODY_ATTACHMENT,
    BODY_CONVEYOR,
    BODY_MARKER,
    BODY_DIGITAL_IO,
    BODY_ZMP,
    BODY_DEVICE_TYPE_COUNT,
} BodyDeviceType;

typedef struct BodyDevice {
    BodyDeviceType type;
    const char *name;  // "" when none
    int id;            // -1: none
    int link;
    BodyFrame frame;  // in the link's frame
    bool is_on;
    SourcePos pos;
    BodyInfo *info;
    // Ratings of sensors; a component of BODY_UNLIMITED is none.
    Vec3 max_acceleration, max_angular_velocity, max_force, max_torque;
    // Cameras and range sensors
    const char *format;         // COLOR, DEPTH, COLOR_DEPTH, POINT_CLOUD, COLOR_POINT_CLOUD
    const char *lens;           // NORMAL, FISHEYE, DUAL_FISHEYE
    const char *optical_frame;  // gl, cv, robotics
    Mat3 optical_rotation;
    bool has_optical_rotation;
    int width, height;
    double field_of_view;  // rad, across the smaller side
    double near_clip, far_clip, frame_rate;
    double min_distance, max_distance, detection_rate, error_deviation;
    double min_yaw, max_yaw, yaw_step, min_pitch, max_pitch, pitch_step;  // rad
    int yaw_samples, pitch_samples;
    // Lights
    Vec3 color, attenuation, direction;
    double intensity, beam_width, cut_off_angle, cut_off_exponent;
    // Holder, attachment
    const char *category;  // "" when none; several are separated by ';'
    const char *hold_condition, *hold_target;
    double max_hold_distance;
    // Conveyor
    const char *conveyor_type;
    Vec3 axis;
    double speed;
    // Marker
    const char *marker_type;
    double marker_size, emission, transparency;
    Vec3 offset_translation;
    Mat3 offset_rotation;
    // Digital input and output
    int signal_lines;
    const char *connections, *out_labels, *in_labels;  // "LINE: NAME" in lines: what inputs switch, names of lines
} BodyDevice;

typedef enum BodyExtraType { BODY_EXTRA_FIXED, BODY_EXTRA_HINGE, BODY_EXTRA_BALL, BODY_EXTRA_PISTON } BodyExtraType;

typedef struct BodyExtraJoint {
    BodyExtraType type;
    const char *name;
    int link[2];
    BodyFrame frame[2];  // of the joint in each link; no scale
    Vec3 axis;           // unit, in the joint's frame of link 0
    SourcePos pos;
} BodyExtraJoint;

typedef enum BodyRuleType {
    BODY_RULE_CHAIN_LEVEL,  // pairs of links at most `level` steps apart do not collide
    BODY_RULE_DISABLED_GROUP,
    BODY_RULE_ENABLED_GROUP,
    BODY_RULE_DISABLED_LINKS,  // with nothing at all
    BODY_RULE_ENABLED_LINKS,
} BodyRuleType;

typedef struct BodyRule {
    BodyRuleType type;
    int level;
    bool is_all;
    int *links;
    int link_count;
} BodyRule;

struct BodyModel {
    Arena *arena;
    const char *name;
    const char *path;
    double format_version;
    BodyLink *links;  // depth first, the root is 0, children in file order
    int link_count;
    BodyShape *shapes;  // by link, in file order
    int shape_count;
    BodyDevice *devices;  // by link, in file order
    int device_count;
    BodyExtraJoint *extra_joints;
    int extra_joint_count;
    BodyRule *rules;
    int rule_count;
    bool has_rules;  // none given: parent and child do not collide
    const char **handlers;
    int handler_count;
    BodyInfo *info;  // other sections of the top level
    YamlDocument **documents;
    int document_count, document_capacity;
    struct BodyModel **parts;  // sub-bodies, whose data this model shares
    int part_count, part_capacity;
    int shape_capacity, device_capacity, extra_joint_capacity;
    int32_t *name_slots;  // hash table over link names
    int name_mask;
};

typedef struct BodyOptions {
    const Limits *limits;      // NULL: defaults
    const Resolver *resolver;  // finds meshes, textures and sub-bodies; NULL: one is made for the file
    const char *const *search_paths;
    bool is_untrusted;
} BodyOptions;

// Reads a body. NULL when nothing sensible can be made of the file; otherwise errors are in the sink and what was wrong
// has its default or is left out.
// A model of OpenHRP (.wrl with a node Humanoid) is read as well; any other .wrl is one fixed link with its shapes.
bool body_is_model(const char *path);  // by its ending
BodyModel *body_load(const char *path, const BodyOptions *options, DiagSink *diags);
// A mesh of STL, OBJ, DAE or PLY as a model of one fixed link.
bool body_is_mesh(const char *path);
BodyModel *body_load_mesh(const char *path, const BodyOptions *options, DiagSink *diags);
BodyModel *body_load_text(const char *name, const char *text, size_t size, const BodyOptions *options, DiagSink *diags);
void body_destroy(BodyModel *model);  // NULL is fine

int body_joint_count(const BodyModel *model);                  // highest joint id + 1
int body_all_joint_count(const BodyModel *model);              // and the movable links below the root without an id
int body_link_of_joint(const BodyModel *model, int joint_id);  // -1: none; the first in link order
int body_find_link(const BodyModel *model, const char *name);  // -1: none
bool body_is_static(const BodyModel *model);                   // nothing in it can move
double body_mass(const BodyModel *model);
const char *body_joint_type_name(BodyJointType type);      // as format 2.0 writes it
const char *body_actuation_name(BodyActuation actuation);  // as format 2.0 writes it, "none" for none
const char *body_device_type_name(BodyDeviceType type);    // name of the class in Choreonoid: "HolderDevice"
const char *body_extra_type_name(BodyExtraType type);
const char *body_rule_name(BodyRuleType type);
bool body_rule_named(const char *name, size_t length, BodyRuleType *type);  // false: there is none
// Poses of all links in the world for the joint displacements `q` per link (NULL: the initial ones).
void body_link_frames(const BodyModel *model, const double *q, BodyFrame *frames);
Vec3 body_center_of_mass(const BodyModel *model, const BodyFrame *frames);

BodyFrame body_frame_mul(BodyFrame a, BodyFrame b);
static inline Vec3 body_frame_apply(BodyFrame frame, Vec3 v) { return vec3_add(mat3_apply(frame.m, v), frame.t); }
// Splits a frame into a pose and a scale along the local axes. False when it also skews.
bool body_frame_split(BodyFrame frame, Pose *pose, Vec3 *scale);

typedef enum BodyCsv { BODY_CSV_LINKS, BODY_CSV_DEVICES, BODY_CSV_SUMMARY } BodyCsv;
// Tables with the columns of Choreonoid's own dumps; `file` fills the first column. With or without the heading line.
void body_write_csv(const BodyModel *model, BodyCsv kind, const char *file, bool has_heading, Text *out);
void body_write_tree(const BodyModel *model, Text *out);  // for people

// The body as a .body file, format 2.0, snake_case, degree. `folder` is where the file is to lie: URIs of meshes and
// textures become relative to it; NULL keeps them.
void body_write_yaml(const BodyModel *model, const char *folder, Text *out);

// Contact materials: names with roughness and viscosity, and pairs with friction and restitution. A table starts with
// the values that Choreonoid ships; files add to it and win.
typedef struct BodyMaterials BodyMaterials;
BodyMaterials *body_materials_create(void);
void body_materials_destroy(BodyMaterials *materials);  // NULL is fine
bool body_materials_load(BodyMaterials *materials, const char *path, const Limits *limits, DiagSink *diags);
// The pair as the table gives it, else friction = sqrt(roughness1 * roughness2) and restitution =
// sqrt((1 - viscosity1) * (1 - viscosity2)). Materials that no table names have roughness 0.5 and viscosity 1.
typedef struct BodyContact {
    double static_friction, dynamic_friction, restitution;
    bool is_given;
} BodyContact;
BodyContact body_materials_pair(const BodyMaterials *materials, const char *a, const char *b);

// How a body stands in a world. { 0 } is as its file says.
typedef struct BodyPlacement {
    const char *name;        // of the robot; NULL: that of the model
    const char *controller;  // NULL: "<none>"
    bool has_translation, has_rotation;
    Vec3 translation;  // of the root link
    Quat rotation;
    const double *joint_positions;  // by joint id, rad or m
    int joint_position_count;
    int fixed;  // 0: as the file says, 1: the root is fixed, -1: it is free
    bool self_collision;
    bool without_collision;  // it touches nothing
    double time_step;        // s; 0: 0.001
} BodyPlacement;
// The body as a Robot node of the scene, not yet placed in it. What the nodes cannot say is reported.
SceneNode *body_to_node(const BodyModel *model, const BodyPlacement *placement, Scene *scene, DiagSink *diags);
// A Robot or Solid of a scene as a body; what a body cannot say is reported. The world pose of the solid is the root's.
BodyModel *body_from_node(const Scene *scene, const SceneNode *solid, DiagSink *diags);
// Writes the scene's robots and solids as .body files: `path` when there is one of them, else path-NAME.body each.
// Returns how many were written.
int body_save(const Scene *scene, const char *path, DiagSink *diags);
// Converts a file when one of the two is a body (the ending of `to` decides what is written); *is_ours says whether
// that was so. False when nothing was written.
bool body_convert(const char *from, const char *to, const FormatsOptions *options, DiagSink *diags, bool *is_ours);
// Body nodes get the positions that the joints of their robots have in the scene now, so that saving keeps them. Once
// the world has run they also get poses and velocities of the links, as the hidden state of an instance.
void body_keep_positions(Scene *scene, bool has_run);
// WorldInfo with Choreonoid's defaults, a Viewpoint and light as the scene's first nodes. Time step in s.
SceneNode *body_world_create(Scene *scene, double time_step, double gravity);
// Puts a Viewpoint where it sees a ball about the target, upright.
void body_world_look(Scene *scene, SceneNode *viewpoint, Vec3 target, double radius);
// Contact properties in WorldInfo for every pair of materials that solids of the scene are made of.
void body_world_contacts(Scene *scene, const BodyMaterials *materials);

#endif
