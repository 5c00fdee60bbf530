// gl.h - an OpenGL picture without a window: EGL's surfaceless platform, software rendering when there is no GPU.
// Belongs here: the context, its frame buffer, state that foreign code may leave behind. Not here: what is drawn.
// The context has the compatibility profile (glBegin works), because physics plugins draw with it. It is current on the
// thread that opened it until it is closed.
#ifndef TALUS_VIEWER_GL_H
#define TALUS_VIEWER_GL_H

#include "base/arena.h"
#include "base/diag.h"

typedef struct GlScreen GlScreen;

enum { GL_MOST_PIXELS = 8192 };  // of a side

// NULL when this build or machine has no OpenGL; the sink says why.
GlScreen *gl_open(int width, int height, DiagSink *diags);
void gl_close(GlScreen *screen);  // NULL is fine
// It is taken from and given back to the thread at hand where it is used now and then.
bool gl_use(GlScreen *screen);
void gl_release(GlScreen *screen);  // NULL is fine
void gl_abandon(GlScreen *screen);  // after a fault in the middle of it: forgets it without another call

// Brings every state that matters for drawing to what OpenGL starts with, whatever was left behind: open glBegin,
// lists, stacks, bindings, capabilities. The frame buffer is ours again.
void gl_clean(GlScreen *screen);
// Before and after foreign code: all stacks and state are as before.
void gl_enter_foreign(GlScreen *screen);
void gl_leave_foreign(GlScreen *screen);
// The picture: red, green, blue, alpha; rows from the top. Room for width * height * 4 bytes.
void gl_read(GlScreen *screen, uint8_t *pixels);

// "OpenGL 4.5 (Compatibility Profile) Mesa ..., llvmpipe", or why there is none. Lives in the arena.
const char *gl_describe(Arena *arena, bool *is_there);

#endif
