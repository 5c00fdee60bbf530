// render.h - pictures of a world: its shapes as they stand now, seen by the Viewpoint or by a robot's camera.
// Belongs here: which node is seen how, and from where. Not here: the OpenGL context (gl.h), what cameras measure.
// A Renderer borrows its Sim and draws on the thread that created it. It changes nothing of the simulation.
//
// What is drawn: every Shape and CadShape with the colour, glow, transparency and image of its appearance, lit by the
// world's directional lights (by one from above when there is none) and a little from the viewer. No shadows, mirrors,
// fog, point lights or background images.
#ifndef TALUS_VIEWER_RENDER_H
#define TALUS_VIEWER_RENDER_H

#include "sim/sim.h"

typedef struct RenderCamera {
    Pose pose;                 // in the world; looks along +x with z up
    double field_of_view;      // rad
    bool is_of_longer_side;    // the field of view goes along it; else it is horizontal
    double near, far;          // far 0: no end
    int width, height;         // pixels that the camera has; 0: it has no mind of its own
    const char *name;          // of a robot's camera; NULL: the 3D view
} RenderCamera;

RenderCamera render_viewpoint(const Scene *scene);
// The Camera of that name, or "ROBOT/NAME"; NULL when there is none. The first in file order.
const SceneNode *render_find_camera(const Scene *scene, const char *name);
const SceneNode *render_next_camera(const Scene *scene, int index);  // all of them in file order; NULL after the last
RenderCamera render_camera(const SceneNode *camera);
const char *render_robot_name(const SceneNode *camera);  // "" when it has none

// The Viewpoint goes along with the solid that it follows: as it stood to the solid at `before`, it stands to it now.
Pose render_followed(const Scene *scene, Pose viewpoint, Pose before, Pose now);
const SceneNode *render_follow_solid(const Scene *scene);  // NULL: it follows none

typedef struct Renderer Renderer;
// NULL when there is no OpenGL (which has been said).
Renderer *render_create(Sim *sim, int width, int height);
void render_destroy(Renderer *renderer);  // NULL is fine
// The world as it is now: red, green, blue, alpha, rows from the top; valid until the next call. `plugin` (NULL: none)
// draws under and over it; NULL is returned when that fails, and nothing can be drawn any more.
const uint8_t *render_frame(Renderer *renderer, const RenderCamera *camera, PluginHost *plugin);

typedef struct RenderCounts { int shapes, triangles, textures; } RenderCounts;
RenderCounts render_counts(const Renderer *renderer);  // of the last frame

// ---- the 3D view as a picture file (picture.c) ----
enum { RENDER_WIDTH = 800, RENDER_HEIGHT = 600 };   // of a view that nobody gave a size
bool render_picture_has_format(const char *path);   // .png, .jpg, .jpeg
Pose render_follow_start(const Scene *scene);       // where the solid is that the Viewpoint follows, kept from load for render_view
RenderCamera render_view(Sim *sim, Pose follow_start);  // the Viewpoint now; brings the scene up to date
// As JPEG when the name says so (quality 1 to 100), else as PNG. False when it cannot be drawn or written, which has been said.
// `counts` may be NULL.
bool render_picture(Sim *sim, const RenderCamera *camera, int width, int height, const char *path, int quality, RenderCounts *counts);

#endif
