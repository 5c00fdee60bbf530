// gl.c - an OpenGL context without a window, for what plugins draw.
#include "viewer/gl.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#ifdef TALUS_HAS_EGL

#define EGL_NO_X11
#define GL_GLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>

enum { SAMPLES = 0, MOST_TEXTURE_UNITS = 8, MOST_ATTRIBUTES = 16 };

struct GlScreen {
    EGLDisplay display;
    EGLContext context;
    int width, height;
    GLuint framebuffer, color, depth;   // drawn into, one sample a pixel as the pictures that are laid into it have
    GLuint resolved, resolved_color;    // read from
    int attribute_depth, client_depth;  // of the stacks when foreign code was entered
};

// ---- context ----

static EGLDisplay open_display(const char **why)
{
    // A machine without a GPU has this platform all the same: Mesa draws in software.
    PFNEGLGETPLATFORMDISPLAYEXTPROC get = (PFNEGLGETPLATFORMDISPLAYEXTPROC)(void (*)(void))eglGetProcAddress(
        "eglGetPlatformDisplayEXT");
    EGLDisplay display = get ? get(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL) : EGL_NO_DISPLAY;
    if (display == EGL_NO_DISPLAY || !eglInitialize(display, NULL, NULL)) {
        *why = "EGL has no display without a window (Debian's package libgl1-mesa-dri gives one)";
        return EGL_NO_DISPLAY;
    }
    return display;
}

static EGLContext open_context(EGLDisplay display, const char **why)
{
    static const EGLint wanted[] = { EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_NONE };
    static const EGLint anything[] = { EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_SURFACE_TYPE, 0, EGL_NONE };
    EGLConfig config = NULL;
    EGLint count = 0;
    if (!eglBindAPI(EGL_OPENGL_API)) {
        *why = "EGL has no OpenGL";
        return EGL_NO_CONTEXT;
    }
    if (!eglChooseConfig(display, wanted, &config, 1, &count) || count == 0)
        if (!eglChooseConfig(display, anything, &config, 1, &count) || count == 0)
            config = NULL;  // surfaceless contexts may do without
    // Without attributes the profile is the compatible one.
    EGLContext context = eglCreateContext(display, config, EGL_NO_CONTEXT, NULL);
    if (context == EGL_NO_CONTEXT)
        *why = "EGL cannot make an OpenGL context";
    return context;
}

static bool make_framebuffer(GlScreen *screen, int samples)
{
    assert(screen->width > 0 && screen->height > 0 && samples >= 0);
    glGenFramebuffers(1, &screen->framebuffer);
    glGenRenderbuffers(1, &screen->color);
    glGenRenderbuffers(1, &screen->depth);
    glBindRenderbuffer(GL_RENDERBUFFER, screen->color);
    glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, GL_RGBA8, screen->width, screen->height);
    glBindRenderbuffer(GL_RENDERBUFFER, screen->depth);
    glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, GL_DEPTH24_STENCIL8, screen->width, screen->height);
    glBindFramebuffer(GL_FRAMEBUFFER, screen->framebuffer);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, screen->color);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_STENCIL_ATTACHMENT, GL_RENDERBUFFER, screen->depth);
    return glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
}

static bool make_resolved(GlScreen *screen)
{
    glGenFramebuffers(1, &screen->resolved);
    glGenRenderbuffers(1, &screen->resolved_color);
    glBindRenderbuffer(GL_RENDERBUFFER, screen->resolved_color);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, screen->width, screen->height);
    glBindFramebuffer(GL_FRAMEBUFFER, screen->resolved);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, screen->resolved_color);
    return glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
}

static bool make_pictures(GlScreen *screen)
{
    GLint most = 0;
    glGetIntegerv(GL_MAX_SAMPLES, &most);
    if (!make_framebuffer(screen, most < SAMPLES ? most : SAMPLES) && !make_framebuffer(screen, 0))
        return false;
    return make_resolved(screen);
}

static GlScreen *open_screen(int width, int height, const char **why)
{
    GlScreen *screen = memory_alloc(sizeof *screen);
    screen->width = width;
    screen->height = height;
    screen->context = EGL_NO_CONTEXT;
    screen->display = open_display(why);
    if (screen->display != EGL_NO_DISPLAY)
        screen->context = open_context(screen->display, why);
    if (screen->context != EGL_NO_CONTEXT) {
        *why = "the OpenGL context cannot be used without a window";
        if (eglMakeCurrent(screen->display, EGL_NO_SURFACE, EGL_NO_SURFACE, screen->context) && make_pictures(screen)) {
            gl_clean(screen);
            return screen;
        }
    }
    gl_close(screen);
    return NULL;
}

GlScreen *gl_open(int width, int height, DiagSink *diags)
{
    assert(width > 0 && height > 0 && width <= GL_MOST_PIXELS && height <= GL_MOST_PIXELS);
    const char *why = "no reason is known";
    GlScreen *screen = open_screen(width, height, &why);
    if (!screen)
        diag_error(diags, (SourcePos){ 0 }, "there is no OpenGL to draw with: %s", why);
    return screen;
}

// The display stays initialised: it is one for the process, and others may use it.
void gl_close(GlScreen *screen)
{
    if (!screen)
        return;
    if (screen->context != EGL_NO_CONTEXT) {
        eglMakeCurrent(screen->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
        eglDestroyContext(screen->display, screen->context);
    }
    free(screen);
}

bool gl_use(GlScreen *screen)
{
    assert(screen->context != EGL_NO_CONTEXT);
    return eglMakeCurrent(screen->display, EGL_NO_SURFACE, EGL_NO_SURFACE, screen->context);
}

void gl_release(GlScreen *screen)
{
    if (screen)
        eglMakeCurrent(screen->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
}

const char *gl_describe(Arena *arena, bool *is_there)
{
    const char *why = "no reason is known";
    GlScreen *screen = open_screen(16, 16, &why);
    *is_there = screen != NULL;
    if (!screen)
        return arena_printf(arena, "none: %s", why);
    const char *text = arena_printf(arena, "%s, %s", (const char *)glGetString(GL_VERSION),
                                    (const char *)glGetString(GL_RENDERER));
    gl_close(screen);
    return text;
}

// ---- state ----

static void empty_matrix_stack(GLenum mode, GLenum depth_name)
{
    GLint depth = 0;
    glMatrixMode(mode);
    for (glGetIntegerv(depth_name, &depth); depth > 1; depth--)
        glPopMatrix();
    glLoadIdentity();
}

static void clean_units(void)
{
    for (int i = MOST_TEXTURE_UNITS - 1; i >= 0; i--) {
        glActiveTexture(GL_TEXTURE0 + (GLenum)i);
        glClientActiveTexture(GL_TEXTURE0 + (GLenum)i);
        glDisable(GL_TEXTURE_1D);
        glDisable(GL_TEXTURE_2D);
        glDisable(GL_TEXTURE_3D);
        glDisable(GL_TEXTURE_CUBE_MAP);
        glDisable(GL_TEXTURE_GEN_S);
        glDisable(GL_TEXTURE_GEN_T);
        glDisable(GL_TEXTURE_GEN_R);
        glDisable(GL_TEXTURE_GEN_Q);
        glBindTexture(GL_TEXTURE_2D, 0);
        glTexEnvi(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, GL_MODULATE);
        glDisableClientState(GL_TEXTURE_COORD_ARRAY);
        empty_matrix_stack(GL_TEXTURE, GL_TEXTURE_STACK_DEPTH);
    }
}

static void clean_arrays(void)
{
    static const GLenum arrays[] = { GL_VERTEX_ARRAY,    GL_NORMAL_ARRAY,    GL_COLOR_ARRAY, GL_SECONDARY_COLOR_ARRAY,
                                     GL_EDGE_FLAG_ARRAY, GL_FOG_COORD_ARRAY, GL_INDEX_ARRAY };
    glBindVertexArray(0);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, 0);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    for (int i = 0; i < COUNT_OF(arrays); i++)
        glDisableClientState(arrays[i]);
    for (GLuint i = 0; i < MOST_ATTRIBUTES; i++)
        glDisableVertexAttribArray(i);
}

static void clean_pixels(void)
{
    static const GLenum stores[] = { GL_UNPACK_ROW_LENGTH, GL_UNPACK_SKIP_ROWS, GL_UNPACK_SKIP_PIXELS,
                                     GL_UNPACK_SWAP_BYTES, GL_UNPACK_LSB_FIRST, GL_PACK_ROW_LENGTH,
                                     GL_PACK_SKIP_ROWS,    GL_PACK_SKIP_PIXELS, GL_PACK_SWAP_BYTES,
                                     GL_PACK_LSB_FIRST };
    static const GLenum scales[] = { GL_RED_SCALE, GL_GREEN_SCALE, GL_BLUE_SCALE, GL_ALPHA_SCALE };
    static const GLenum biases[] = { GL_RED_BIAS, GL_GREEN_BIAS, GL_BLUE_BIAS, GL_ALPHA_BIAS };
    for (int i = 0; i < COUNT_OF(stores); i++)
        glPixelStorei(stores[i], 0);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    for (int i = 0; i < COUNT_OF(scales); i++) {
        glPixelTransferf(scales[i], 1.0f);
        glPixelTransferf(biases[i], 0.0f);
    }
    glPixelTransferi(GL_MAP_COLOR, GL_FALSE);
}

// Whatever a plugin enabled: each is set to what OpenGL starts with.
static void clean_capabilities(void)
{
    static const GLenum off[] = { GL_ALPHA_TEST,
                                  GL_BLEND,
                                  GL_COLOR_LOGIC_OP,
                                  GL_COLOR_MATERIAL,
                                  GL_COLOR_SUM,
                                  GL_CULL_FACE,
                                  GL_FOG,
                                  GL_LIGHTING,
                                  GL_LINE_SMOOTH,
                                  GL_LINE_STIPPLE,
                                  GL_NORMALIZE,
                                  GL_POINT_SMOOTH,
                                  GL_POINT_SPRITE,
                                  GL_POLYGON_OFFSET_FILL,
                                  GL_POLYGON_OFFSET_LINE,
                                  GL_POLYGON_OFFSET_POINT,
                                  GL_POLYGON_SMOOTH,
                                  GL_POLYGON_STIPPLE,
                                  GL_RESCALE_NORMAL,
                                  GL_SAMPLE_ALPHA_TO_COVERAGE,
                                  GL_SAMPLE_COVERAGE,
                                  GL_SCISSOR_TEST,
                                  GL_STENCIL_TEST,
                                  GL_RASTERIZER_DISCARD,
                                  GL_PRIMITIVE_RESTART,
                                  GL_DEPTH_CLAMP,
                                  GL_FRAMEBUFFER_SRGB };
    for (int i = 0; i < COUNT_OF(off); i++)
        glDisable(off[i]);
    for (GLenum i = 0; i < 8; i++)
        glDisable(GL_LIGHT0 + i);
    for (GLenum i = 0; i < 6; i++)
        glDisable(GL_CLIP_PLANE0 + i);
    glEnable(GL_DITHER);
    glEnable(GL_MULTISAMPLE);
    glEnable(GL_DEPTH_TEST);
    glDepthFunc(GL_LESS);
    glDepthMask(GL_TRUE);
    glDepthRange(0.0, 1.0);
    glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
    glStencilMask(~0u);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    glBlendEquation(GL_FUNC_ADD);
    glCullFace(GL_BACK);
    glFrontFace(GL_CCW);
    glPolygonMode(GL_FRONT_AND_BACK, GL_FILL);
    glShadeModel(GL_SMOOTH);
    glLineWidth(1.0f);
    glPointSize(1.0f);
    glLightModeli(GL_LIGHT_MODEL_TWO_SIDE, GL_FALSE);
    glLightModeli(GL_LIGHT_MODEL_LOCAL_VIEWER, GL_FALSE);
    glLightModeli(GL_LIGHT_MODEL_COLOR_CONTROL, GL_SINGLE_COLOR);
    glColor4f(1.0f, 1.0f, 1.0f, 1.0f);
    glNormal3f(0.0f, 0.0f, 1.0f);
}

static void forget_errors(void)
{
    // A lost context gives errors for ever.
    for (int i = 0; i < 100 && glGetError() != GL_NO_ERROR; i++)
        continue;
}

void gl_clean(GlScreen *screen)
{
    glEnd();  // harmless when nothing was begun
    glEndList();
    glRenderMode(GL_RENDER);
    glUseProgram(0);
    glBindFramebuffer(GL_FRAMEBUFFER, screen->framebuffer);
    glDrawBuffer(GL_COLOR_ATTACHMENT0);
    glReadBuffer(GL_COLOR_ATTACHMENT0);
    glViewport(0, 0, screen->width, screen->height);
    clean_arrays();
    clean_pixels();
    clean_units();
    clean_capabilities();
    empty_matrix_stack(GL_PROJECTION, GL_PROJECTION_STACK_DEPTH);
    empty_matrix_stack(GL_MODELVIEW, GL_MODELVIEW_STACK_DEPTH);
    forget_errors();
}

static const struct {
    GLenum mode, depth;
} stacks[] = {
    { GL_TEXTURE, GL_TEXTURE_STACK_DEPTH },
    { GL_PROJECTION, GL_PROJECTION_STACK_DEPTH },
    { GL_MODELVIEW, GL_MODELVIEW_STACK_DEPTH },
};

void gl_enter_foreign(GlScreen *screen)
{
    assert(eglGetCurrentContext() == screen->context);
    glGetIntegerv(GL_ATTRIB_STACK_DEPTH, &screen->attribute_depth);
    glGetIntegerv(GL_CLIENT_ATTRIB_STACK_DEPTH, &screen->client_depth);
    for (int i = 0; i < COUNT_OF(stacks); i++) {
        glMatrixMode(stacks[i].mode);
        glPushMatrix();
    }
    glPushAttrib(GL_ALL_ATTRIB_BITS);
    glPushClientAttrib(GL_CLIENT_ALL_ATTRIB_BITS);
}

void gl_leave_foreign(GlScreen *screen)
{
    assert(screen->attribute_depth >= 0 && screen->client_depth >= 0);
    GLint depth = 0;
    glEnd();
    glEndList();
    glUseProgram(0);
    glActiveTexture(GL_TEXTURE0);
    for (glGetIntegerv(GL_CLIENT_ATTRIB_STACK_DEPTH, &depth); depth > screen->client_depth; depth--)
        glPopClientAttrib();
    for (glGetIntegerv(GL_ATTRIB_STACK_DEPTH, &depth); depth > screen->attribute_depth; depth--)
        glPopAttrib();
    gl_clean(screen);
}

void gl_read(GlScreen *screen, uint8_t *pixels)
{
    assert(pixels && eglGetCurrentContext() == screen->context);
    gl_clean(screen);
    glDisable(GL_SCISSOR_TEST);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, screen->framebuffer);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, screen->resolved);
    glBlitFramebuffer(0, 0, screen->width, screen->height, 0, 0, screen->width, screen->height, GL_COLOR_BUFFER_BIT,
                      GL_NEAREST);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, screen->resolved);
    size_t row = 4 * (size_t)screen->width;
    for (int y = 0; y < screen->height; y++)  // OpenGL's rows start at the bottom
        glReadPixels(0, screen->height - 1 - y, screen->width, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixels + row * (size_t)y);
    gl_clean(screen);
}

#else

struct GlScreen {
    int width, height;
};

static const char *const absent =
    "this build was made without EGL and OpenGL (Debian's packages libegl-dev and libopengl-dev)";

GlScreen *gl_open(int width, int height, DiagSink *diags)
{
    (void)width, (void)height;
    diag_error(diags, (SourcePos){ 0 }, "there is no OpenGL to draw with: %s", absent);
    return NULL;
}
void gl_close(GlScreen *screen) { (void)screen; }
bool gl_use(GlScreen *screen) { return screen != NULL; }
void gl_release(GlScreen *screen) { (void)screen; }
void gl_clean(GlScreen *screen) { (void)screen; }
void gl_enter_foreign(GlScreen *screen) { (void)screen; }
void gl_leave_foreign(GlScreen *screen) { (void)screen; }
void gl_read(GlScreen *screen, uint8_t *pixels) { (void)screen, (void)pixels; }
const char *gl_describe(Arena *arena, bool *is_there)
{
    *is_there = false;
    return arena_printf(arena, "none: %s", absent);
}

#endif

void gl_abandon(GlScreen *screen) { free(screen); }
