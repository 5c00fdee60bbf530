// overlay.c - what a physics plugin draws with OpenGL, composed with a picture that was traced: the picture and its
// depth are laid into the frame buffer, under what the plugin draws first and over it, so that nearer things hide
// farther ones both ways.
#include "viewer/render.h"

#include "base/memory.h"
#include "viewer/gl.h"

#include <stdlib.h>
#include <string.h>

#ifdef TALUS_HAS_EGL

#define GL_GLEXT_PROTOTYPES
#include <GL/gl.h>
#include <GL/glext.h>

typedef struct Matrix {
    double m[16];
} Matrix;  // by columns, as OpenGL has it

typedef struct Eye {
    Matrix projection, view;
    double a, b;  // depth in the buffer is 0.5 + 0.5 * (a + b / distance)
} Eye;

// OpenGL looks along -z with y up, cameras along +x with z up.
static Matrix view_of(Pose pose)
{
    Pose inverse = pose_inverse(pose);
    Mat3 r = mat3_from_quat(inverse.q);
    const double *m = r.m, t[3] = { inverse.t.x, inverse.t.y, inverse.t.z };
    return (Matrix){ { -m[3], m[6], -m[0], 0, -m[4], m[7], -m[1], 0, -m[5], m[8], -m[2], 0, -t[1], t[2], -t[0], 1 } };
}

static Eye eye_of(const RenderCamera *camera, int width, int height)
{
    assert(width > 0 && height > 0);
    double aspect = (double)width / height, x = tan(0.5 * camera->field_of_view), y = x / aspect;
    if (camera->is_of_longer_side && aspect < 1.0) {
        y = x;
        x *= aspect;
    }
    double near = camera->near > 0.0 ? camera->near : 0.05, far = camera->far;
    bool is_endless = !(far > near);
    Eye eye = { .view = view_of(camera->pose),
                .a = is_endless ? 1.0 : (far + near) / (far - near),
                .b = is_endless ? -2.0 * near : -2.0 * far * near / (far - near) };
    eye.projection = (Matrix){ { 1.0 / x, 0, 0, 0, 0, 1.0 / y, 0, 0, 0, 0, -eye.a, -1, 0, 0, eye.b, 0 } };
    return eye;
}

static void load_eye(const Eye *eye)
{
    glMatrixMode(GL_PROJECTION);
    glLoadMatrixd(eye->projection.m);
    glMatrixMode(GL_MODELVIEW);
    glLoadMatrixd(eye->view.m);
}

static bool draw_plugin(Sim *sim, GlScreen *screen, const Eye *eye, PluginHost *plugin, int pass, const char *name)
{
    assert(pass == 0 || pass == 1);
    load_eye(eye);
    gl_enter_foreign(screen);
    glMatrixMode(GL_MODELVIEW);
    if (!plugin_draw(plugin, sim_time(sim), pass, name))
        return false;  // it may have been in the middle of a call
    gl_leave_foreign(screen);
    return true;
}

static void lay_colors(int width, int height, const uint8_t *pixels)
{
    glWindowPos2i(0, 0);
    for (int row = 0; row < height; row++) {
        glWindowPos2i(0, height - 1 - row);
        glDrawPixels(width, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixels + 4 * (size_t)row * (size_t)width);
    }
}

// Where the scene is nearer than what was drawn before, its colour counts.
static void lay_scene(const Eye *eye, int width, int height, const float *depth, const uint8_t *pixels)
{
    float *line = memory_alloc_array((size_t)width, sizeof *line);
    glEnable(GL_DEPTH_TEST);
    glDepthFunc(GL_LESS);
    glEnable(GL_STENCIL_TEST);
    glStencilFunc(GL_ALWAYS, 1, 255);
    glStencilOp(GL_KEEP, GL_KEEP, GL_REPLACE);
    glColorMask(0, 0, 0, 0);
    for (int row = 0; row < height; row++) {
        for (int column = 0; column < width; column++) {
            double distance = (double)depth[(size_t)row * (size_t)width + (size_t)column];
            line[column] = isfinite(distance) && distance > 0.0
                               ? (float)double_clamp(0.5 + 0.5 * (eye->a + eye->b / distance), 0.0, 1.0)
                               : 1.0f;
        }
        glWindowPos2i(0, height - 1 - row);
        glDrawPixels(width, 1, GL_DEPTH_COMPONENT, GL_FLOAT, line);
    }
    free(line);
    glColorMask(1, 1, 1, 1);
    glDisable(GL_DEPTH_TEST);
    glStencilFunc(GL_EQUAL, 1, 255);
    glStencilOp(GL_KEEP, GL_KEEP, GL_KEEP);
    lay_colors(width, height, pixels);
    glDisable(GL_STENCIL_TEST);
    glEnable(GL_DEPTH_TEST);
}

bool render_overlay(Sim *sim, PluginHost *plugin, const RenderCamera *camera, const float *depth,
                    const RenderImage *image)
{
    int width = image->width, height = image->height;
    assert(depth && image->pixels);
    GlScreen *screen = gl_open(width, height, sim_diags(sim));
    if (!screen)
        return false;
    Eye eye = eye_of(camera, width, height);
    gl_clean(screen);
    glClearColor(0.0f, 0.0f, 0.0f, 1.0f);
    glClearDepth(1.0);
    glClearStencil(0);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
    glDisable(GL_DEPTH_TEST);
    lay_colors(width, height, image->pixels);
    glEnable(GL_DEPTH_TEST);
    if (!draw_plugin(sim, screen, &eye, plugin, 0, camera->name)) {
        gl_abandon(screen);
        return false;
    }
    // Between the two drawings, by depth: whatever is nearer counts.
    lay_scene(&eye, width, height, depth, image->pixels);
    if (!draw_plugin(sim, screen, &eye, plugin, 1, camera->name)) {
        gl_abandon(screen);
        return false;
    }
    gl_read(screen, image->pixels);
    gl_close(screen);
    return true;
}

#else

bool render_overlay(Sim *sim, PluginHost *plugin, const RenderCamera *camera, const float *depth,
                    const RenderImage *image)
{
    (void)plugin, (void)camera, (void)depth;
    gl_open(image->width, image->height, sim_diags(sim));  // says that there is none
    return true;                                           // the picture is fine without
}

#endif
