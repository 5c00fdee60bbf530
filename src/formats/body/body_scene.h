// body_scene.h - what the parts that turn a body into nodes share. Not for other files.
#ifndef TALUS_FORMATS_BODY_SCENE_H
#define TALUS_FORMATS_BODY_SCENE_H

#include "formats/body/body_internal.h"

typedef struct NodeStack {
    SceneNode **items;
    int count, capacity;
} NodeStack;

typedef struct BodyScene {
    const BodyModel *model;
    const BodyPlacement *placement;
    Scene *scene;
    DiagSink *diags;
    const Limits *limits;
    struct WrlFile *wrl_files;
    BodyCache faces;     // from geometry to the node that was made of it
    const char *prefix;  // of DEF names
    int def_count;
    const double *q;                  // per link
    bool *is_static;                  // per link: fixed to the world
    bool *is_untouchable;             // per link: a rule takes it out of all collisions
    int *first_child, *next;          // per link, -1: none
    int *first_shape, *first_device;  // per link, and one past the last
    SceneNode **solids;               // per link, once made
    NodeStack nodes;                  // children being gathered, of all levels
} BodyScene;

SceneNode *body_scene_node(BodyScene *out, const char *type, SourcePos pos);
void body_scene_pose(BodyScene *out, SceneNode *node, Pose pose);
void body_scene_nodes(BodyScene *out, SceneNode *node, const char *field, SceneNode *const *items, int count);
void body_scene_numbers(BodyScene *out, SceneNode *node, const char *field, const double *numbers, int item_count);
void body_scene_string_list(BodyScene *out, SceneNode *node, const char *field, const char *text);
const char *body_scene_url(BodyScene *out, const char *path);  // relative to the scene's file where that is possible
void body_scene_gather(BodyScene *out, SceneNode *node);       // onto the stack; NULL is fine

// body_shapes.c: gathers the nodes of a shape, none when there is nothing to see or touch
void body_shape_nodes(BodyScene *out, const BodyShape *shape, bool is_collision);
// body_wrl.c: the shapes in a VRML97 file, or below one node of it, in the frame of the file
const WrlShapes *body_wrl_shapes(BodyScene *out, const BodyGeometry *geometry);  // NULL: reported
void body_wrl_free(BodyScene *out);
// body_devices.c: gathers the nodes of a device
void body_device_nodes(BodyScene *out, int device);

#endif
