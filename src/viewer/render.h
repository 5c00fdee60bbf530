// render.h - pictures of a world for people: as it stands now, seen by the Viewpoint or by a robot's camera.
// Belongs here: from where it is seen, the picture as a file, what a physics plugin draws into it. Not here: how light
// falls (rays/), what cameras see (devices/), the OpenGL context (gl.h). A picture changes nothing of the simulation.
#ifndef TALUS_VIEWER_RENDER_H
#define TALUS_VIEWER_RENDER_H

#include "devices/devices.h"
#include "sim/sim.h"

typedef struct RenderCamera {
    Pose pose;                          // in the world; looks along +x with z up
    double field_of_view;               // rad
    bool is_of_longer_side;             // the field of view goes along it; else it is horizontal
    double near, far;                   // far 0: no end
    double exposure, occlusion, bloom;  // of the Viewpoint
    int width, height;                  // pixels that the camera has; 0: it has no mind of its own
    const char *name;                   // of a robot's camera; NULL: the 3D view
    const SceneNode *node;              // likewise
} RenderCamera;

RenderCamera render_viewpoint(const Scene *scene);
// The Camera of that name, or "ROBOT/NAME"; NULL when there is none. The first in file order.
const SceneNode *render_find_camera(const Scene *scene, const char *name);
const SceneNode *render_next_camera(const Scene *scene, int index);  // all of them in file order; NULL after the last
RenderCamera render_camera(const SceneNode *camera);
const char *render_robot_name(const SceneNode *camera);  // "" when it has none

RenderCamera render_view(Sim *sim);  // the Viewpoint now; brings the scene up to date
// A pose from which the whole box is seen, in the camera's direction (from above at least a little), upright.
Pose render_fit(const RenderCamera *camera, Vec3 low, Vec3 high, Vec3 up, int width, int height);

enum {
    RENDER_WIDTH = 800,
    RENDER_HEIGHT = 600,
    RENDER_MOST_PIXELS = 8192
};  // of a view that nobody gave a size; of a side

typedef struct RenderCounts {
    int shapes, triangles, textures;
    int64_t covered;  // pixels in which something is seen
} RenderCounts;
typedef struct RenderImage {
    int width, height;
    uint8_t *pixels;  // red, green, blue, 255, rows from the top; the caller's
} RenderImage;
// The world as it is now. The physics plugin of the world draws under and
// over it; false when that fails, which has been said. `counts` may be NULL.
bool render_frame(Sim *sim, Devices *devices, const RenderCamera *camera, const RenderImage *image,
                  RenderCounts *counts);

// ---- as a file ----
bool render_picture_has_format(const char *path);  // .png, .jpg, .jpeg
// As JPEG when the name says so (quality 1 to 100), else as PNG. False when it cannot be drawn or written, which has
// been said.
typedef struct RenderFile {
    const char *path;
    int width, height, quality;
} RenderFile;
bool render_picture(Sim *sim, Devices *devices, const RenderCamera *camera, const RenderFile *file,
                    RenderCounts *counts);

// ---- overlay.c ----
// What the plugin draws before and after the scene, into a picture that has been made, by distance where the plugin
// asks for it. `depth` is along the axis of the view, INFINITY where nothing is.
bool render_overlay(Sim *sim, PluginHost *plugin, const RenderCamera *camera, const float *depth,
                    const RenderImage *image);

#endif
