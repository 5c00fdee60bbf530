// drawing.h - what a physics plugin draws (webots_physics_draw), as geometry in the world for browsers.
// Belongs here: the corners of what is drawn. Not here: pictures of it (render.h), the OpenGL context (gl.h).
#ifndef TALUS_VIEWER_DRAWING_H
#define TALUS_VIEWER_DRAWING_H

#include "sim/sim.h"

typedef struct PluginDrawing PluginDrawing;

// The bytes are runs, little-endian: u8 kind, u8 flags, u8 pixels of width, u8 0, u32 corners; then for each corner f32
// x y z in the world and u8 red, green, blue, alpha. Two corners make a line, three a triangle.
typedef enum DrawingKind { DRAWING_POINTS = 1, DRAWING_LINES = 2, DRAWING_TRIANGLES = 3 } DrawingKind;
enum {
    DRAWING_ON_TOP = 1,  // flag: drawn without the depth test, over all
    DRAWING_CORNER_BYTES = 16,
    DRAWING_HEAD_BYTES = 8,
};

PluginDrawing *drawing_create(void);
void drawing_destroy(PluginDrawing *drawing);  // NULL is fine; on the thread that took
// Appends what the plugin of this world draws now in its two passes over the 3D view. Nothing when it draws nothing,
// has failed or there is no OpenGL (said once). The poses are those of the world's solids. Changes nothing of the
// simulation.
void drawing_take(PluginDrawing *drawing, Sim *sim, const Pose *poses, int pose_count, Text *out);

#endif
