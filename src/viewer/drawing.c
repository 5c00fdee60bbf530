// drawing.c - what a physics plugin draws with OpenGL, as points, lines and triangles in the world: OpenGL's feedback
// mode gives corners back instead of painting them, so a browser can look at them from wherever it likes.
#include "viewer/drawing.h"

#include "base/memory.h"
#include "viewer/gl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct PluginDrawing {
    GlScreen *screen;
    bool is_useless;  // there is no OpenGL, or the plugin has failed: which was said
    bool was_cut;     // so was that it draws too much
    float *numbers;   // of the feedback
    int capacity;
};

PluginDrawing *drawing_create(void) { return memory_alloc(sizeof(PluginDrawing)); }

void drawing_destroy(PluginDrawing *drawing)
{
    if (!drawing)
        return;
    gl_close(drawing->screen);
    free(drawing->numbers);
    free(drawing);
}

#ifdef TALUS_HAS_EGL

#include <GL/gl.h>

enum {
    SCREEN_PIXELS = 1024,     // of the view that corners come back in; nothing is painted
    NUMBERS_FIRST = 1 << 14,  // of the feedback
    NUMBERS_MAX = 1 << 20,    // about 70 000 lines
    CORNER_NUMBERS = 7,       // x y z of the view, red green blue alpha
    HALF_MIN = 64,
    HALF_EXPONENT_MAX = 20,  // m, of the cube that is looked at; to 1000 km
    CUBE_MARGIN = 8,         // so much wider than the world
};

typedef struct Cube {
    Vec3 center;
    double half;
} Cube;  // that is looked at; what lies outside is cut off

// Coordinates come back as floats, so the cube is no wider than the world asks for.
static Cube cube_around(const Pose *poses, int count)
{
    assert(poses || count == 0);
    Vec3 low = vec3(INFINITY, INFINITY, INFINITY), high = vec3(-INFINITY, -INFINITY, -INFINITY);
    for (int i = 0; i < count; i++)
        if (vec3_is_finite(poses[i].t)) {
            low = vec3(fmin(low.x, poses[i].t.x), fmin(low.y, poses[i].t.y), fmin(low.z, poses[i].t.z));
            high = vec3(fmax(high.x, poses[i].t.x), fmax(high.y, poses[i].t.y), fmax(high.z, poses[i].t.z));
        }
    if (!(low.x <= high.x))
        return (Cube){ VEC3_ZERO, HALF_MIN };
    double extent = fmax(high.x - low.x, fmax(high.y - low.y, high.z - low.z)), half = HALF_MIN;
    for (int i = 0; i < HALF_EXPONENT_MAX && half < CUBE_MARGIN * extent; i++)
        half *= 2.0;
    return (Cube){ vec3_scale(vec3_add(low, high), 0.5), half };
}

static void look_at(const Cube *cube)
{
    Vec3 c = cube->center;
    double h = cube->half;
    glMatrixMode(GL_PROJECTION);
    glLoadIdentity();
    glOrtho(-h, h, -h, h, -h, h);
    glMatrixMode(GL_MODELVIEW);
    glLoadIdentity();
    glTranslated(-c.x, -c.y, -c.z);
}

typedef struct PassState {
    bool is_on_top, is_blended;
    float line_width, point_size;
} PassState;  // as the plugin leaves it: what holds for single corners OpenGL does not tell

static PassState state_now(void)
{
    PassState state = { .is_on_top = !glIsEnabled(GL_DEPTH_TEST), .is_blended = glIsEnabled(GL_BLEND) };
    glGetFloatv(GL_LINE_WIDTH, &state.line_width);
    glGetFloatv(GL_POINT_SIZE, &state.point_size);
    return state;
}

// How many numbers came back, negative when they did not fit; *state is that of its end. False when the plugin fails.
static bool run_pass(PluginDrawing *drawing, Sim *sim, const Cube *cube, int pass, int *count, PassState *state)
{
    assert(drawing->screen && drawing->numbers && drawing->capacity > 0);
    gl_clean(drawing->screen);
    look_at(cube);
    glFeedbackBuffer(drawing->capacity, GL_3D_COLOR, drawing->numbers);
    glRenderMode(GL_FEEDBACK);
    gl_enter_foreign(drawing->screen);
    glMatrixMode(GL_MODELVIEW);
    if (!plugin_draw(sim_plugin(sim), sim_time(sim), pass, NULL))
        return false;
    glEnd();  // harmless when nothing was begun
    glEndList();
    *state = state_now();
    *count = glRenderMode(GL_RENDER);
    gl_leave_foreign(drawing->screen);
    return true;
}

// ---- corners ----

static void add_corner(Text *out, const Cube *cube, const PassState *state, const float *numbers)
{
    assert_debug(cube->half > 0.0);
    struct {
        float at[3];
        uint8_t color[4];
    } corner;
    static_assert(sizeof corner == DRAWING_CORNER_BYTES, "as it is sent");
    const double center[3] = { cube->center.x, cube->center.y, cube->center.z };
    for (int k = 0; k < 3; k++) {
        double part = (double)numbers[k] / (k < 2 ? SCREEN_PIXELS : 1.0);           // of the cube's width
        double along = (k < 2 ? 2.0 * part - 1.0 : 1.0 - 2.0 * part) * cube->half;  // depth grows downwards
        corner.at[k] = (float)(center[k] + along);
    }
    for (int k = 0; k < 4; k++)
        corner.color[k] = (uint8_t)lrint(255.0 * double_clamp((double)numbers[3 + k], 0.0, 1.0));
    if (!state->is_blended)
        corner.color[3] = 255;
    text_add(out, (const char *)&corner, sizeof corner);
}

enum { KINDS = 3 };

// Appends the primitive at *at to the pad of its kind; a polygon as a fan of triangles. False: these are no tokens.
static bool read_token(const float *numbers, int count, int *at, const Cube *cube, const PassState *state,
                       Text pads[KINDS])
{
    assert_debug(*at >= 0 && *at < count);
    int token = (int)numbers[(*at)++], corners = 0;
    if (token == GL_PASS_THROUGH_TOKEN) {
        ++*at;
        return true;
    }
    if (token == GL_POLYGON_TOKEN && *at < count)
        corners = (int)numbers[(*at)++];
    else if (token == GL_LINE_TOKEN || token == GL_LINE_RESET_TOKEN)
        corners = 2;
    else if (token == GL_POINT_TOKEN || token == GL_BITMAP_TOKEN || token == GL_DRAW_PIXEL_TOKEN
             || token == GL_COPY_PIXEL_TOKEN)
        corners = 1;
    if (corners < 1 || corners > (count - *at) / CORNER_NUMBERS)
        return false;
    const float *first = numbers + *at;
    *at += corners * CORNER_NUMBERS;
    if (token == GL_POINT_TOKEN || corners == 2)
        for (int i = 0; i < corners; i++)
            add_corner(&pads[corners - 1], cube, state, first + (ptrdiff_t)i * CORNER_NUMBERS);
    for (int i = 2; i < corners; i++) {
        add_corner(&pads[2], cube, state, first);
        add_corner(&pads[2], cube, state, first + (ptrdiff_t)(i - 1) * CORNER_NUMBERS);
        add_corner(&pads[2], cube, state, first + (ptrdiff_t)i * CORNER_NUMBERS);
    }
    return true;
}

static void add_run(Text *out, DrawingKind kind, const PassState *state, const Text *corners)
{
    assert(corners->length > 0 && corners->length % DRAWING_CORNER_BYTES == 0);
    float width = kind == DRAWING_POINTS ? state->point_size : kind == DRAWING_LINES ? state->line_width : 1.0f;
    uint32_t count = (uint32_t)(corners->length / DRAWING_CORNER_BYTES);
    text_add_char(out, (char)kind);
    text_add_char(out, (char)(state->is_on_top ? DRAWING_ON_TOP : 0));
    text_add_char(out, (char)(uint8_t)double_clamp(round((double)width), 1.0, 255.0));
    text_add_char(out, 0);
    text_add(out, (const char *)&count, sizeof count);
    text_add(out, corners->data, corners->length);
}

static void add_pass(const PluginDrawing *drawing, const Cube *cube, const PassState *state, int count, Text *out)
{
    Text pads[KINDS] = { 0 };
    for (int at = 0; at < count && read_token(drawing->numbers, count, &at, cube, state, pads);)
        continue;
    for (int kind = 0; kind < KINDS; kind++) {
        if (pads[kind].length > 0)
            add_run(out, (DrawingKind)(DRAWING_POINTS + kind), state, &pads[kind]);
        text_free(&pads[kind]);
    }
}

// ---- a moment ----

static bool make_ready(PluginDrawing *drawing, Sim *sim)
{
    if (!drawing->screen)
        drawing->screen = gl_open(SCREEN_PIXELS, SCREEN_PIXELS, sim_diags(sim));
    drawing->is_useless = !drawing->screen || !gl_use(drawing->screen);
    if (!drawing->numbers)
        memory_grow(&drawing->numbers, &drawing->capacity, NUMBERS_FIRST, sizeof *drawing->numbers);
    return !drawing->is_useless;
}

static void say_cut(PluginDrawing *drawing, Sim *sim)
{
    if (!drawing->was_cut)
        diag_warning(sim_diags(sim), (SourcePos){ 0 },
                     "the physics plugin draws more than a browser is sent; nothing of it is shown there");
    drawing->was_cut = true;
}

// False when the plugin has failed.
static bool take_pass(PluginDrawing *drawing, Sim *sim, const Cube *cube, int pass, Text *out)
{
    assert(pass == 0 || pass == 1);
    PassState state;
    int count;
    for (;;) {
        if (!run_pass(drawing, sim, cube, pass, &count, &state)) {
            gl_abandon(drawing->screen);  // it may have been in the middle of a call
            drawing->screen = NULL;
            drawing->is_useless = true;
            return false;
        }
        if (count >= 0)
            break;
        if (drawing->capacity >= NUMBERS_MAX) {
            say_cut(drawing, sim);
            return true;
        }
        memory_grow(&drawing->numbers, &drawing->capacity, 2 * drawing->capacity, sizeof *drawing->numbers);
    }
    add_pass(drawing, cube, &state, count, out);
    return true;
}

void drawing_take(PluginDrawing *drawing, Sim *sim, const Pose *poses, int pose_count, Text *out)
{
    PluginHost *plugin = sim_plugin(sim);
    if (!plugin || !plugin_has_draw(plugin) || plugin_is_failed(plugin) || drawing->is_useless
        || !make_ready(drawing, sim))
        return;
    Cube cube = cube_around(poses, pose_count);
    sim_plugin_will_draw(sim);
    for (int pass = 0; pass < 2 && take_pass(drawing, sim, &cube, pass, out); pass++)
        continue;
    sim_plugin_drew(sim);
    gl_release(drawing->screen);
}

#else

void drawing_take(PluginDrawing *drawing, Sim *sim, const Pose *poses, int pose_count, Text *out)
{
    (void)poses, (void)pose_count, (void)out;
    PluginHost *plugin = sim_plugin(sim);
    if (plugin && plugin_has_draw(plugin) && !drawing->is_useless)
        gl_open(1, 1, sim_diags(sim));  // says that there is none
    drawing->is_useless = true;
}

#endif
