// Pictures by their pixels: where things are seen, what hides what, and what a physics plugin draws under and over
// them; and what it draws as corners.
#include "support/support.h"

#include "viewer/drawing.h"
#include "viewer/gl.h"
#include "viewer/render.h"

enum { SIDE = 201, MIDDLE = 100 };

typedef struct World {
    Sim *sim;
    DiagSink *diags;
    FILE *console;
} World;

static const char *folder;

static World world_open(const char *name, const char *plugin, const char *nodes)
{
    World world = { .diags = diag_create(), .console = tmpfile() };
    char path[1024];
    Text text = { 0 };
    text_printf(
        &text,
        "#VRML_SIM R2025a utf8\nWorldInfo { physics \"%s\" }\nViewpoint { position -10 0 0 }\nBackground { skyColor [ 0 0 1 ] }\n%s",
        plugin, nodes);
    snprintf(path, sizeof path, "%s/worlds/%s.wbt", folder, name);
    support_write(path, text.data);
    text_free(&text);
    world.sim = sim_load(path, NULL, world.diags);
    CHECK(world.sim, name);
    char snapshot[1100];
    snprintf(snapshot, sizeof snapshot, "%s.crash.snap", path);
    SimPluginOptions options = { .plugin = { .out = world.console }, .crash_snapshot = snapshot };
    CHECK(sim_start_plugin(world.sim, &options), name);
    return world;
}

static void world_close(World *world)
{
    sim_destroy(world->sim);
    diag_destroy(world->diags);
    fclose(world->console);
}

static void compile(const char *name, const char *flags, const char *source)
{
    char path[1024], command[4096];
    snprintf(command, sizeof command, "mkdir -p %s/plugins/physics/%s", folder, name);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s/plugins/physics/%s/%s.c", folder, name, name);
    support_write(path, source);
    snprintf(command, sizeof command,
             "gcc -Wall -Wextra -Werror %s -fPIC -shared -Iinclude %s -o %s/plugins/physics/%s/lib%s.so -lGL", flags,
             path, folder, name, name);
    CHECK(system(command) == 0, command);
}

static const char *color_at(const uint8_t *pixels, int x, int y)
{
    static char text[32];
    const uint8_t *p = pixels + 4 * ((size_t)y * SIDE + (size_t)x);
    snprintf(text, sizeof text, "%d %d %d", p[0], p[1], p[2]);
    return text;
}

#define PIXEL(pixels, x, y, color)                                                                                     \
    do {                                                                                                               \
        if (strcmp(color_at(pixels, x, y), color))                                                                     \
            fail_msg("%s:%d: at %d,%d it is %s, not %s", __FILE__, __LINE__, x, y, color_at(pixels, x, y), color);     \
    } while (0)

static uint8_t *frame_of(World *world, const RenderCamera *camera)
{
    RenderCamera viewpoint = render_viewpoint(sim_scene(world->sim));
    uint8_t *pixels = malloc(4 * SIDE * SIDE);
    Devices *devices = devices_create(sim_scene(world->sim), sim_physics(world->sim), world->diags);
    bool is_fine = render_frame(world->sim, devices, camera ? camera : &viewpoint, &(RenderImage){ SIDE, SIDE, pixels },
                                NULL);
    diag_print(world->diags, stderr, 0, DIAG_ERROR);
    assert_true(is_fine);
    devices_destroy(devices);
    return pixels;
}

// A thing of one exact colour, whatever the light: full light is 207 at an exposure of 1, half of it (in sRGB) 121.
#define GLOWING(color, geometry)                                                                                       \
    "Shape { appearance Appearance { material Material { diffuseColor 0 0 0 emissiveColor " color                      \
    " } } geometry " geometry " }"

static const char *const red_box = GLOWING("1 0 0", "Box { size 2 2 2 }");

// The longer side sees 45 degrees from 10 m: a metre at the origin's plane is 24.1 pixels.
static int column(double left) { return (int)(MIDDLE + 0.5 - left * 24.26); }
static int row(double up) { return (int)(MIDDLE + 0.5 - up * 24.26); }

static void test_directions(void **state)
{
    (void)state;
    World
        world =
            world_open("directions", "",
                       "Pose { translation 0 2 0 children [ " GLOWING(
                           "0 1 0", "Box { size 1 1 1 }") " ] }\n"
                                                          "Pose { translation 0 0 2 children [ " GLOWING(
                                                              "1 1 0", "Sphere { radius 0.5 subdivision 3 }") " ] }\n"
                                                                                                              "Pose { translation 0 -2 0 children [ " GLOWING("1 0 1", "Cylinder { radius 0.4 height 1.5 }") " ] }\n"
                                                                                                                                                                                                             "Transform { translation 0 0 -2 scale 1 -1 0.5 children [ " GLOWING("0 1 1", "Cone { bottomRadius 0.5 height 2 }") " ] }\n"
                                                                                                                                                                                                                                                                                                                                "Pose { translation 0 2 2 children [ " GLOWING("1 1 1", "Capsule { radius 0.3 height 0.5 }") " ] }\n"
                                                                                                                                                                                                                                                                                                                                                                                                                             "Pose { translation 0 -2 2 rotation 0 1 0 -1.5708 children [ " GLOWING("1 0.5 0",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                    "Plane { size 1 1 }") " ] }\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                          "Pose { translation 0 -2 -2 children [ " GLOWING("0.5 0 0",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                           "IndexedFaceSet { coord Coordinate { point [ 0 -0.5 -0.5 0 0.5 -0.5 0 0 0.5 ] } coordIndex [ 0 2 1 -1 ] }") " ] }\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                       "Pose { translation 0 2 -2 children [ " GLOWING("0 0.5 0",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                       "IndexedFaceSet { coord Coordinate { point [ 0 -0.5 -0.5 0 0.5 -0.5 0 0 0.5 ] } coordIndex [ 0 1 2 -1 ] }") " ] }\n");
    uint8_t *pixels = frame_of(&world, NULL);
    PIXEL(pixels, MIDDLE, MIDDLE, "0 0 255");
    PIXEL(pixels, column(2), MIDDLE, "0 207 0");
    PIXEL(pixels, MIDDLE, row(2), "207 207 0");
    PIXEL(pixels, column(-2), MIDDLE, "207 0 207");
    PIXEL(pixels, column(-2), row(0.7), "207 0 207");
    PIXEL(pixels, column(-2.3), row(0.7), "207 0 207");
    PIXEL(pixels, MIDDLE, row(-2.3), "0 207 207");  // wide below, narrow above
    PIXEL(pixels, column(0.3), row(-2.4), "0 207 207");
    PIXEL(pixels, column(0.3), row(-1.6), "0 0 255");
    PIXEL(pixels, column(2), row(2.45), "207 207 207");
    PIXEL(pixels, column(-2), row(2), "207 121 0");
    PIXEL(pixels, column(-2), row(-2), "121 0 0");
    PIXEL(pixels, column(2), row(-2), "0 0 255");  // its back is not seen
    free(pixels);
    world_close(&world);
}

// The nearer hides the farther; glass lets through; images stand upright.
static void test_depth_and_glass(void **state)
{
    (void)state;
    World world = world_open(
        "depth", "",
        "Pose { translation 3 0 0 children [ " GLOWING(
            "0 1 0",
            "Box { size 1 8 8 }") " ] }\n"
                                  "Pose { translation -3 1 0 children [ Shape { appearance Appearance { material Material {\n"
                                  "  diffuseColor 0 0 0 emissiveColor 1 0 0 transparency 0.5 } } geometry Box { size 0.1 1 1 } } ] }\n");
    uint8_t *pixels = frame_of(&world, NULL);
    PIXEL(pixels, MIDDLE, MIDDLE, "0 207 0");
    // Half red, half green; front and back are culled to one layer.
    const uint8_t *glass = pixels + 4 * (MIDDLE * SIDE + (size_t)column(1.0 * 10 / 7));
    assert_in_range(glass[0], 165, 169);
    assert_in_range(glass[1], 165, 169);
    free(pixels);
    world_close(&world);
}

static void test_camera(void **state)
{
    (void)state;
    compile("eyes", "-g",
            "#include <GL/gl.h>\n#include <plugins/physics.h>\n#include <string.h>\n"
            "DLLEXPORT void webots_physics_init(void) { }\n"
            "DLLEXPORT void webots_physics_step(void) { }\n"
            "DLLEXPORT void webots_physics_draw(int pass, const char *view)\n"
            "{\n"
            "  dWebotsConsolePrintf(\"%d %s\", pass, view ? view : \"3D\");\n"
            "  if (pass != 1 || !view || strcmp(view, \"eye\"))\n"
            "    return;\n"
            "  glPointSize(9);\n"
            "  glColor3f(1, 1, 1);\n"
            "  glBegin(GL_POINTS);\n"
            "  glVertex3f(0, 5, 0);\n"
            "  glEnd();\n"
            "}\n"
            "DLLEXPORT void webots_physics_cleanup(void) { }\n");
    World world = world_open(
        "eyes", "eyes",
        "Pose { translation 0 5 1 children [ " GLOWING(
            "0 1 0",
            "Box { size 1 1 1 }") " ] }\n"
                                  "Robot { name \"bob\" rotation 0 0 1 1.5708 children [ Camera { name \"eye\" width 30 height 20 fieldOfView 1 } ] }\n"
                                  "Robot { name \"ann\" children [ Camera { name \"eye\" } ] }\n");
    const Scene *scene = sim_scene(world.sim);
    const SceneNode *camera = render_find_camera(scene, "eye");
    assert_string_equal(render_robot_name(camera), "bob");
    assert_ptr_equal(render_find_camera(scene, "bob/eye"), camera);
    assert_string_equal(render_robot_name(render_find_camera(scene, "ann/eye")), "ann");
    assert_null(render_find_camera(scene, "eve/eye"));
    assert_null(render_next_camera(scene, 2));
    RenderCamera view = render_camera(camera);
    assert_int_equal(view.width, 30);
    uint8_t *pixels = frame_of(&world, &view);
    PIXEL(pixels, MIDDLE, MIDDLE, "255 255 255");   // the plugin's point, 5 m to the left of the world's x
    PIXEL(pixels, MIDDLE, MIDDLE - 37, "0 207 0");  // the box a metre above it
    free(pixels);
    pixels = frame_of(&world, NULL);
    PIXEL(pixels, MIDDLE, MIDDLE, "0 0 255");
    free(pixels);
    char out[256] = "";
    rewind(world.console);
    assert_true(fread(out, 1, sizeof out - 1, world.console) > 0);
    assert_string_equal(out, "[eyes] 0 eye\n[eyes] 1 eye\n[eyes] 0 3D\n[eyes] 1 3D\n");
    world_close(&world);
}

// Pass 0 is under the scene and pass 1 over it; with the depth test both go by distance.
static void test_passes(void **state)
{
    (void)state;
    compile("passes", "",
            "#include <GL/gl.h>\n#include <plugins/physics.h>\n"
            "static void line(float r, float g, float b, float x, float z)\n"
            "{\n"
            "  glLineWidth(3);\n"
            "  glBegin(GL_LINES);\n"
            "  glColor3f(r, g, b);\n"
            "  glVertex3f(x, -3, z);\n"
            "  glVertex3f(x, 3, z);\n"
            "  glEnd();\n"
            "}\n"
            "DLLEXPORT void webots_physics_init(void) { }\n"
            "DLLEXPORT void webots_physics_step(void) { }\n"
            "DLLEXPORT void webots_physics_draw(int pass, const char *view)\n"
            "{\n"
            "  (void)view;\n"
            "  if (pass == 0) {\n"
            "    glDisable(GL_DEPTH_TEST);\n"
            "    line(1, 1, 1, -2, 0.4f);\n"  // in front, but painted before the scene
            "  } else {\n"
            "    line(0, 1, 0, 2, 0);\n"       // behind the box
            "    line(1, 1, 0, -2, -0.4f);\n"  // in front of it
            "    glDisable(GL_DEPTH_TEST);\n"
            "    line(0, 1, 1, 2, -0.8f);\n"  // behind it, but painted over all
            "  }\n"
            "}\n"
            "DLLEXPORT void webots_physics_cleanup(void) { }\n");
    World world = world_open("passes", "passes", red_box);
    uint8_t *pixels = frame_of(&world, NULL);
    int up = (int)(MIDDLE + 0.5 - 0.4 * 30.3), down = (int)(MIDDLE + 0.5 + 0.4 * 30.3),
        far = (int)(MIDDLE + 0.5 + 0.8 * 20.2);
    PIXEL(pixels, MIDDLE, MIDDLE - 5, "207 0 0");
    PIXEL(pixels, MIDDLE, up, "207 0 0");
    PIXEL(pixels, column(2), up, "255 255 255");
    PIXEL(pixels, MIDDLE, MIDDLE, "207 0 0");
    PIXEL(pixels, column(2), MIDDLE, "0 255 0");
    PIXEL(pixels, MIDDLE, down, "255 255 0");
    PIXEL(pixels, column(2), down, "255 255 0");
    PIXEL(pixels, MIDDLE, far, "0 255 255");
    free(pixels);
    world_close(&world);
}

// Whatever state the plugin leaves behind, the scene and the plugin's second pass are as without.
static void test_leaks(void **state)
{
    (void)state;
    compile(
        "leaking", "-DGL_GLEXT_PROTOTYPES",
        "#include <GL/gl.h>\n#include <GL/glext.h>\n#include <plugins/physics.h>\n"
        "DLLEXPORT void webots_physics_init(void) { }\n"
        "DLLEXPORT void webots_physics_step(void) { }\n"
        "DLLEXPORT void webots_physics_draw(int pass, const char *view)\n"
        "{\n"
        "  static const float odd[4] = { 0.3f, 0.1f, 0.9f, 0.2f };\n"
        "  GLuint name;\n"
        "  (void)view;\n"
        "  if (pass == 1) {\n"
        "    GLfloat matrix[16];\n"
        "    glGetFloatv(GL_MODELVIEW_MATRIX, matrix);\n"
        "    if (matrix[1] != 0 || glIsEnabled(GL_FOG) || !glIsEnabled(GL_DEPTH_TEST))\n"
        "      dWebotsConsolePrintf(\"state leaks into the second pass\");\n"
        "    return;\n"
        "  }\n"
        "  glEnable(GL_SCISSOR_TEST); glScissor(0, 0, 3, 3); glViewport(5, 5, 7, 7);\n"
        "  glPolygonMode(GL_FRONT_AND_BACK, GL_LINE); glDisable(GL_DEPTH_TEST); glDepthMask(GL_FALSE); glDepthFunc(GL_NEVER);\n"
        "  glDepthRange(1, 0); glColorMask(0, 1, 0, 1); glFrontFace(GL_CW); glCullFace(GL_FRONT_AND_BACK);\n"
        "  glEnable(GL_BLEND); glBlendFunc(GL_ZERO, GL_ZERO); glEnable(GL_ALPHA_TEST); glAlphaFunc(GL_NEVER, 0.5f);\n"
        "  glEnable(GL_STENCIL_TEST); glStencilFunc(GL_NEVER, 1, 1); glEnable(GL_COLOR_LOGIC_OP); glLogicOp(GL_INVERT);\n"
        "  glEnable(GL_FOG); glFogfv(GL_FOG_COLOR, odd); glEnable(GL_COLOR_MATERIAL); glColor3f(0, 1, 0);\n"
        "  glEnable(GL_LIGHT7); glLightfv(GL_LIGHT7, GL_DIFFUSE, odd); glLightfv(GL_LIGHT0, GL_POSITION, odd); glLightf(GL_LIGHT0, GL_SPOT_CUTOFF, 3);\n"
        "  glLightModeli(GL_LIGHT_MODEL_TWO_SIDE, 1); glLightModelfv(GL_LIGHT_MODEL_AMBIENT, odd); glShadeModel(GL_FLAT);\n"
        "  glMaterialfv(GL_FRONT, GL_EMISSION, odd); glEnable(GL_CLIP_PLANE0); glEnable(GL_TEXTURE_2D); glEnable(GL_TEXTURE_GEN_S);\n"
        "  glActiveTexture(GL_TEXTURE3); glEnable(GL_TEXTURE_2D); glMatrixMode(GL_TEXTURE); glScalef(9, 9, 9);\n"
        "  glGenTextures(1, &name); glBindTexture(GL_TEXTURE_2D, name); glGenBuffers(1, &name); glBindBuffer(GL_ARRAY_BUFFER, name);\n"
        "  glGenVertexArrays(1, &name); glBindVertexArray(name); glGenFramebuffers(1, &name); glBindFramebuffer(GL_FRAMEBUFFER, name);\n"
        "  glEnableClientState(GL_COLOR_ARRAY); glPixelStorei(GL_PACK_ROW_LENGTH, 7); glPixelStorei(GL_PACK_ALIGNMENT, 8);\n"
        "  glEnable(GL_POLYGON_STIPPLE); glEnable(GL_POLYGON_OFFSET_FILL); glPolygonOffset(1e6f, 1e6f); glEnable(GL_RASTERIZER_DISCARD);\n"
        "  glMatrixMode(GL_MODELVIEW); glPushMatrix(); glRotatef(30, 0, 0, 1); glMatrixMode(GL_PROJECTION); glPushMatrix(); glLoadIdentity();\n"
        "  for (int i = 0; i < 50; i++) glPushMatrix();\n"
        "  for (int i = 0; i < 3; i++) { glPushAttrib(GL_ENABLE_BIT); glPushClientAttrib(GL_CLIENT_ALL_ATTRIB_BITS); }\n"
        "  glClearColor(1, 1, 1, 1); glRenderMode(GL_FEEDBACK); glNewList(glGenLists(1), GL_COMPILE); glBegin(GL_TRIANGLES);\n"
        "}\n"
        "DLLEXPORT void webots_physics_cleanup(void) { }\n");
    static const char *const nodes =
        "Solid { rotation 0.3 0.5 0.8 1 children [ Shape { appearance PBRAppearance { baseColor 0.8 0.3 0.2 roughness 0.3 } geometry Box { size 2 2 2 } } ] }\n"
        "Pose { translation -2 1 0 children [ Shape { appearance Appearance { material Material { transparency 0.4 } } geometry Sphere { subdivision 3 } } ] }\n";
    World plain = world_open("unleaked", "", nodes), leaking = world_open("leaked", "leaking", nodes);
    uint8_t *a = frame_of(&plain, NULL), *b = frame_of(&leaking, NULL);
    assert_memory_equal(a, b, 4 * SIDE * SIDE);
    assert_int_equal(ftell(leaking.console), 0);
    free(a);
    free(b);
    world_close(&plain);
    world_close(&leaking);
}

// draw() without arguments, of old: once a frame, over the 3D view, not in cameras.
static void test_old_draw(void **state)
{
    (void)state;
    compile(
        "olddraw", "-g",
        "#include <plugins/physics.h>\n"
        "DLLEXPORT void webots_physics_init(dWorldID w, dSpaceID s, dJointGroupID g) { (void)w; (void)s; (void)g; }\n"
        "DLLEXPORT void webots_physics_step(void) { }\n"
        "DLLEXPORT void webots_physics_draw(void)\n"
        "{\n"
        "  dWebotsConsolePrintf(\"draws\");\n"
        "  glDisable(GL_LIGHTING);\n"
        "  glDisable(GL_DEPTH_TEST);\n"
        "  glPointSize(9); glColor3f(0, 1, 0); glBegin(GL_POINTS); glVertex3f(5, 0, 0); glEnd();\n"
        "}\n"
        "DLLEXPORT void webots_physics_cleanup(void) { }\n");
    World world = world_open("olddraw", "olddraw", red_box);
    uint8_t *pixels = frame_of(&world, NULL);
    PIXEL(pixels, MIDDLE, MIDDLE, "0 255 0");
    PIXEL(pixels, MIDDLE + 10, MIDDLE, "207 0 0");
    free(pixels);
    RenderCamera camera = render_viewpoint(sim_scene(world.sim));
    camera.name = "some camera";
    pixels = frame_of(&world, &camera);
    PIXEL(pixels, MIDDLE, MIDDLE, "207 0 0");
    free(pixels);
    assert_int_equal(ftell(world.console), strlen("[olddraw] draws\n"));
    world_close(&world);
}

// The state is drawn as it is now, and drawing changes no result.
static void test_motion(void **state)
{
    (void)state;
    Text nodes = { 0 };
    text_printf(&nodes,
                "Solid { translation 0 0 3 children [ %s ] boundingObject Box { size 2 2 2 } physics Physics { } }\n",
                red_box);
    World drawn = world_open("drawn", "", nodes.data), plain = world_open("undrawn", "", nodes.data);
    text_free(&nodes);
    uint8_t *pixels = frame_of(&drawn, NULL);
    PIXEL(pixels, MIDDLE, row(3), "207 0 0");
    PIXEL(pixels, MIDDLE, MIDDLE, "0 0 255");
    free(pixels);
    for (int i = 0; i < 24; i++) {
        assert_true(sim_step(drawn.sim) && sim_step(plain.sim));
        if (i % 8 == 0)
            free(frame_of(&drawn, NULL));
    }
    pixels = frame_of(&drawn, NULL);
    PIXEL(pixels, MIDDLE, MIDDLE, "207 0 0");
    PIXEL(pixels, MIDDLE, row(3), "0 0 255");
    free(pixels);
    assert_true(sim_hash(drawn.sim) == sim_hash(plain.sim));
    world_close(&drawn);
    world_close(&plain);
}

// ---- what a plugin draws, as corners in the world ----

typedef struct Run {
    uint8_t kind, flags, width, nothing;
    uint32_t count;
    struct {
        float at[3];
        uint8_t color[4];
    } corners[8];  // the first ones
} Run;

// The runs of a drawing, as many as fit. Returns how many there are.
static int runs_of(const Text *text, Run *runs, int most)
{
    int count = 0;
    for (size_t at = 0; at < text->length; count++) {
        Run run = { 0 };
        assert_true(text->length - at >= DRAWING_HEAD_BYTES);
        memcpy(&run, text->data + at, DRAWING_HEAD_BYTES);
        at += DRAWING_HEAD_BYTES;
        size_t bytes = (size_t)run.count * DRAWING_CORNER_BYTES;
        assert_true(text->length - at >= bytes);
        memcpy(run.corners, text->data + at, bytes < sizeof run.corners ? bytes : sizeof run.corners);
        at += bytes;
        if (count < most)
            runs[count] = run;
    }
    return count;
}

#define CORNER(run, index, x, y, z, r, g, b, a)                                                                        \
    do {                                                                                                               \
        for (int k = 0; k < 3; k++)                                                                                    \
            assert_true(fabsf((run).corners[index].at[k] - (const float[3]){ x, y, z }[k]) < 1e-4f);                   \
        for (int k = 0; k < 4; k++)                                                                                    \
            assert_int_equal((run).corners[index].color[k], ((const int[4]){ r, g, b, a }[k]));                        \
    } while (0)

static void test_corners(void **state)
{
    (void)state;
    compile("corners", "",
            "#include <GL/gl.h>\n#include <plugins/physics.h>\n"
            "DLLEXPORT void webots_physics_init(void) { }\n"
            "DLLEXPORT void webots_physics_step(void) { }\n"
            "DLLEXPORT void webots_physics_draw(int pass, const char *view)\n"
            "{\n"
            "  if (view)\n"
            "    return;\n"
            "  if (pass == 0) {\n"
            "    glPointSize(5);\n"
            "    glTranslatef(1, 2, 3);\n"  // matrices hold
            "    glScalef(2, 2, 2);\n"
            "    glBegin(GL_POINTS);\n"
            "    glColor3f(1, 0, 0);\n"
            "    glVertex3f(0.25f, 0, -1);\n"
            "    glEnd();\n"
            "    return;\n"
            "  }\n"
            "  glDisable(GL_DEPTH_TEST);\n"
            "  glEnable(GL_BLEND);\n"
            "  glLineWidth(3);\n"
            "  glBegin(GL_QUADS);\n"
            "  glColor4f(0, 1, 0, 0.5f);\n"
            "  glVertex3f(0, 0, 0); glVertex3f(0, 1, 0); glVertex3f(0, 1, 1); glVertex3f(0, 0, 1);\n"
            "  glEnd();\n"
            "  glBegin(GL_LINE_STRIP);\n"
            "  glVertex3f(-20, 0, 7);\n"
            "  glColor4f(0, 0, 1, 1);\n"
            "  glVertex3f(4.125f, -0.0625f, 0.001f); glVertex3f(0, 0, 0);\n"
            "}\n"  // left open
            "DLLEXPORT void webots_physics_cleanup(void) { }\n");
    World world = world_open("corners", "corners", red_box);
    PluginDrawing *drawing = drawing_create();
    uint64_t hash = sim_hash(world.sim);
    for (int turn = 0; turn < 3; turn++) {  // also after a picture of the same plugin
        Text text = { 0 };
        Run runs[3] = { 0 };
        drawing_take(drawing, world.sim, NULL, 0, &text);
        assert_int_equal(runs_of(&text, runs, 3), 3);
        assert_true(runs[0].kind == DRAWING_POINTS && runs[0].flags == 0 && runs[0].width == 5 && runs[0].count == 1);
        CORNER(runs[0], 0, 1.5f, 2, 1, 255, 0, 0, 255);
        assert_true(runs[1].kind == DRAWING_LINES && runs[1].flags == DRAWING_ON_TOP && runs[1].width == 3);
        assert_int_equal(runs[1].count, 4);
        CORNER(runs[1], 0, -20, 0, 7, 0, 255, 0, 128);
        CORNER(runs[1], 1, 4.125f, -0.0625f, 0.001f, 0, 0, 255, 255);
        CORNER(runs[1], 3, 0, 0, 0, 0, 0, 255, 255);
        assert_true(runs[2].kind == DRAWING_TRIANGLES && runs[2].count == 6);
        CORNER(runs[2], 0, 0, 0, 0, 0, 255, 0, 128);
        text_free(&text);
        free(frame_of(&world, NULL));
    }
    assert_true(sim_hash(world.sim) == hash);
    drawing_destroy(drawing);
    world_close(&world);
}

// Of a plugin that faults while it draws the context is left as it is: OpenGL may be in the middle of anything.
const char *__lsan_default_suppressions(void);
__attribute__((visibility("default"), used)) const char *__lsan_default_suppressions(void)
{
    return "leak:swrast_dri\nleak:libgallium\n";
}

// A drawing may be large; one that is too large is left out, and one whose plugin faults ends with words.
static void test_large_and_broken(void **state)
{
    (void)state;
    compile("large", "-g",
            "#include <GL/gl.h>\n#include <plugins/physics.h>\n#include <stdlib.h>\n"
            "static int count = 20000;\n"
            "DLLEXPORT void webots_physics_init(void) { }\n"
            "DLLEXPORT void webots_physics_step(void) { count = count == 20000 ? 1000000 : -1; }\n"
            "DLLEXPORT void webots_physics_draw(int pass, const char *view)\n"
            "{\n"
            "  (void)view;\n"
            "  if (pass == 0)\n"
            "    return;\n"
            "  glBegin(GL_POINTS);\n"
            "  for (int i = 0; i < count; i++)\n"
            "    glVertex3f(1e-5f * (float)i, 0, 0);\n"
            "  if (count < 0)\n"
            "    abort();\n"
            "  glEnd();\n"
            "}\n"
            "DLLEXPORT void webots_physics_cleanup(void) { }\n");
    World world = world_open("large", "large", red_box);
    PluginDrawing *drawing = drawing_create();
    Text text = { 0 };
    Run run = { 0 };
    drawing_take(drawing, world.sim, NULL, 0, &text);
    assert_int_equal(runs_of(&text, &run, 1), 1);
    assert_int_equal(run.count, 20000);
    text_clear(&text);
    assert_true(sim_step(world.sim));
    for (int turn = 0; turn < 2; turn++)
        drawing_take(drawing, world.sim, NULL, 0, &text);
    assert_int_equal(text.length, 0);
    assert_int_equal(diag_total(world.diags, DIAG_WARNING), 1);
    assert_true(sim_step(world.sim));
    drawing_take(drawing, world.sim, NULL, 0, &text);
    assert_int_equal(text.length, 0);
    assert_non_null(sim_failure(world.sim));
    drawing_take(drawing, world.sim, NULL, 0, &text);
    assert_int_equal(text.length, 0);
    text_free(&text);
    drawing_destroy(drawing);
    world_close(&world);
}

int main(void)
{
    Arena *arena = arena_create();
    bool is_there;
    printf("OpenGL: %s\n", gl_describe(arena, &is_there));
    arena_destroy(arena);
#ifndef TALUS_HAS_EGL
    return 77;
#endif
    folder = support_scratch("render");
    char command[1024];
    snprintf(command, sizeof command, "mkdir -p %s/worlds", folder);
    if (system(command))
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_directions),
        cmocka_unit_test(test_depth_and_glass),
        cmocka_unit_test(test_camera),
        cmocka_unit_test(test_passes),
        cmocka_unit_test(test_leaks),
        cmocka_unit_test(test_old_draw),
        cmocka_unit_test(test_motion),
        cmocka_unit_test(test_corners),
        cmocka_unit_test(test_large_and_broken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
