// Drawing a list of things with OpenGL, the plugin's drawing under and over it.
#include "viewer/render_internal.h"

#include "base/memory.h"
#include "viewer/gl.h"

#include <stdlib.h>
#include <string.h>

#ifdef TALUS_HAS_EGL

#define GL_GLEXT_PROTOTYPES
#include <GL/gl.h>
#include <GL/glext.h>

// Triangles with all that a corner has, ready to be drawn.
typedef struct MeshArrays { const Mesh *mesh; float *positions, *normals; } MeshArrays;
typedef struct ImageTexture { const Image *image; bool repeats_s, repeats_t, is_smooth; GLuint name; } ImageTexture;

struct Renderer {
    Sim *sim;
    GlScreen *screen;
    DrawList list;
    MeshArrays *meshes;
    int mesh_count, mesh_capacity;
    ImageTexture *textures;
    int texture_count, texture_capacity;
    RenderCounts counts;
    bool is_lost;        // the plugin failed while it drew
    uint8_t *pixels;
};

Renderer *render_create(Sim *sim, int width, int height)
{
    GlScreen *screen = gl_open(width, height, sim_diags(sim));
    if (!screen)
        return NULL;
    Renderer *renderer = memory_alloc(sizeof *renderer);
    renderer->sim = sim;
    renderer->screen = screen;
    renderer->pixels = memory_alloc_raw(4 * (size_t)width * (size_t)height);
    return renderer;
}

void render_destroy(Renderer *renderer)
{
    if (!renderer)
        return;
    for (int i = 0; i < renderer->mesh_count; i++) {
        free(renderer->meshes[i].positions);
        free(renderer->meshes[i].normals);
    }
    free(renderer->meshes);
    free(renderer->textures);
    free(renderer->pixels);
    draw_list_free(&renderer->list);
    if (renderer->is_lost)
        gl_abandon(renderer->screen);
    else
        gl_close(renderer->screen);
    free(renderer);
}

RenderCounts render_counts(const Renderer *renderer)
{
    return renderer->counts;
}

// ---- meshes and images ----

static void fill_arrays(MeshArrays *arrays, const Mesh *mesh)
{
    size_t corners = 3 * (size_t)mesh->triangle_count;
    arrays->mesh = mesh;
    arrays->positions = memory_alloc_raw((3 * corners + 1) * sizeof(float));
    arrays->normals = memory_alloc_raw((3 * corners + 1) * sizeof(float));
    for (size_t i = 0; i < corners; i++) {
        Vec3 p = mesh_position(mesh, mesh->triangles[i]);
        Vec3 n = mesh->normals ? VEC3_ZERO : mesh_triangle_normal(mesh, (int)(i / 3));
        float *position = arrays->positions + 3 * i, *normal = arrays->normals + 3 * i;
        position[0] = (float)p.x, position[1] = (float)p.y, position[2] = (float)p.z;
        normal[0] = (float)n.x, normal[1] = (float)n.y, normal[2] = (float)n.z;
    }
    if (mesh->normals)
        memcpy(arrays->normals, mesh->normals, 3 * corners * sizeof(float));
}

static const MeshArrays *arrays_of(Renderer *renderer, const Mesh *mesh)
{
    // Shapes that share a mesh mostly follow each other.
    for (int i = renderer->mesh_count - 1; i >= 0; i--)
        if (renderer->meshes[i].mesh == mesh)
            return &renderer->meshes[i];
    memory_grow(&renderer->meshes, &renderer->mesh_capacity, renderer->mesh_count + 1, sizeof(MeshArrays));
    fill_arrays(&renderer->meshes[renderer->mesh_count], mesh);
    return &renderer->meshes[renderer->mesh_count++];
}

static GLuint upload(const Look *look)
{
    const Image *image = look->image;
    GLuint name = 0;
    GLint most = 0;
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &most);
    if (image->width > most || image->height > most)
        return 0;
    glGenTextures(1, &name);
    glBindTexture(GL_TEXTURE_2D, name);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, look->repeats_s ? GL_REPEAT : GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, look->repeats_t ? GL_REPEAT : GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, look->is_smooth ? GL_LINEAR_MIPMAP_LINEAR : GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, look->is_smooth ? GL_LINEAR : GL_NEAREST);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, image->width, image->height, 0, GL_RGBA, GL_UNSIGNED_BYTE, image->pixels);
    if (look->is_smooth)
        glGenerateMipmap(GL_TEXTURE_2D);
    return name;
}

static GLuint texture_of(Renderer *renderer, const Look *look)
{
    for (int i = 0; i < renderer->texture_count; i++) {
        const ImageTexture *texture = &renderer->textures[i];
        if (texture->image == look->image && texture->repeats_s == look->repeats_s && texture->repeats_t == look->repeats_t &&
            texture->is_smooth == look->is_smooth)
            return texture->name;
    }
    memory_grow(&renderer->textures, &renderer->texture_capacity, renderer->texture_count + 1, sizeof(ImageTexture));
    ImageTexture texture = { look->image, look->repeats_s, look->repeats_t, look->is_smooth, upload(look) };
    renderer->textures[renderer->texture_count++] = texture;
    return texture.name;
}

// ---- the eye ----

static void load_projection(const Renderer *renderer, const RenderCamera *camera)
{
    double aspect = (double)gl_width(renderer->screen) / gl_height(renderer->screen), tangent = tan(0.5 * camera->field_of_view);
    double x = tangent, y = tangent / aspect;
    if (camera->is_of_longer_side && aspect < 1.0) {
        y = tangent;
        x = tangent * aspect;
    }
    double near = camera->near > 0.0 ? camera->near : 0.05, far = camera->far;
    bool is_endless = !(far > near);
    Matrix m = { { 1.0 / x, 0, 0, 0, 0, 1.0 / y, 0, 0, 0, 0, is_endless ? -1.0 : -(far + near) / (far - near), -1, 0, 0,
                   is_endless ? -2.0 * near : -2.0 * far * near / (far - near), 0 } };
    glMatrixMode(GL_PROJECTION);
    glLoadMatrixd(m.m);
}

// OpenGL looks along -z with y up, cameras along +x with z up.
static void load_view(const RenderCamera *camera)
{
    static const Matrix axes = { { 0, 0, -1, 0, -1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1 } };
    Matrix view = matrix_mul(axes, matrix_from_pose(pose_inverse(camera->pose)));
    glMatrixMode(GL_MODELVIEW);
    glLoadMatrixd(view.m);
}

static void load_eye(const Renderer *renderer, const RenderCamera *camera)
{
    load_projection(renderer, camera);
    load_view(camera);
}

// ---- the scene ----

static void load_light(GLenum name, Vec3 towards, const float color[3], float factor)
{
    float place[4] = { (float)towards.x, (float)towards.y, (float)towards.z, 0.0f };
    float shade[4] = { factor * color[0], factor * color[1], factor * color[2], 1.0f };
    static const float none[4] = { 0, 0, 0, 1 };
    glEnable(name);
    glLightfv(name, GL_POSITION, place);
    glLightfv(name, GL_AMBIENT, none);
    glLightfv(name, GL_DIFFUSE, shade);
    glLightfv(name, GL_SPECULAR, shade);
    glLightf(name, GL_SPOT_CUTOFF, 180.0f);
}

static void load_lights(const Renderer *renderer, const RenderCamera *camera)
{
    static const float white[3] = { 1, 1, 1 };
    const DrawList *list = &renderer->list;
    const float ambient[4] = { list->ambient, list->ambient, list->ambient, 1.0f };
    glEnable(GL_LIGHTING);
    glEnable(GL_NORMALIZE);
    glLightModelfv(GL_LIGHT_MODEL_AMBIENT, ambient);
    glLightModeli(GL_LIGHT_MODEL_COLOR_CONTROL, GL_SEPARATE_SPECULAR_COLOR);
    for (int i = 0; i < list->light_count; i++)
        load_light(GL_LIGHT0 + (GLenum)i, vec3_neg(list->lights[i].direction), list->lights[i].color, 1.0f);
    load_light(GL_LIGHT0 + (GLenum)list->light_count, quat_rotate(camera->pose.q, vec3(-1, 0, 0)), white, 0.2f);
}

static void load_look(Renderer *renderer, const Look *look, bool has_texcoords)
{
    float specular[4] = { look->specular[0], look->specular[1], look->specular[2], 1.0f };
    float emissive[4] = { look->emissive[0], look->emissive[1], look->emissive[2], 1.0f };
    glMaterialfv(GL_FRONT_AND_BACK, GL_AMBIENT_AND_DIFFUSE, look->color);
    glMaterialfv(GL_FRONT_AND_BACK, GL_SPECULAR, specular);
    glMaterialfv(GL_FRONT_AND_BACK, GL_EMISSION, emissive);
    glMaterialf(GL_FRONT_AND_BACK, GL_SHININESS, look->shininess);
    GLuint texture = look->image && has_texcoords ? texture_of(renderer, look) : 0;
    if (texture) {
        // Rows of images run from the top, texture coordinates from the bottom.
        static const Matrix flipped = { { 1, 0, 0, 0, 0, -1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 1 } };
        Matrix matrix = matrix_mul(flipped, look->texture);
        glBindTexture(GL_TEXTURE_2D, texture);
        glEnable(GL_TEXTURE_2D);
        glMatrixMode(GL_TEXTURE);
        glLoadMatrixd(matrix.m);
        glMatrixMode(GL_MODELVIEW);
    } else {
        glDisable(GL_TEXTURE_2D);
    }
}

static void draw_triangles(Renderer *renderer, const Drawable *item)
{
    const MeshArrays *arrays = arrays_of(renderer, item->mesh);
    const float *texcoords = item->mesh->texcoords;
    load_look(renderer, &item->look, texcoords != NULL);
    glEnableClientState(GL_VERTEX_ARRAY);
    glEnableClientState(GL_NORMAL_ARRAY);
    glVertexPointer(3, GL_FLOAT, 0, arrays->positions);
    glNormalPointer(GL_FLOAT, 0, arrays->normals);
    if (texcoords) {
        glEnableClientState(GL_TEXTURE_COORD_ARRAY);
        glTexCoordPointer(2, GL_FLOAT, 0, texcoords);
    } else {
        glDisableClientState(GL_TEXTURE_COORD_ARRAY);
    }
    glDrawArrays(GL_TRIANGLES, 3 * item->first_triangle, 3 * item->triangle_count);
    renderer->counts.triangles += item->triangle_count;
}

static const FieldList *list_of(const SceneNode *node, const char *child, const char *field)
{
    const SceneNode *holder = scene_child(node, child);
    return holder && holder->type && schema_field(holder->type, field) ? scene_list(holder, field) : NULL;
}

static void draw_line_set(const SceneNode *node, const FieldList *points)
{
    const FieldList *indices = scene_list(node, "coordIndex");
    glBegin(GL_LINES);
    for (int i = 0; i + 1 < indices->count; i++) {
        int a = indices->ints[i], b = indices->ints[i + 1];
        if (a < 0 || b < 0 || a >= points->count || b >= points->count)
            continue;
        glVertex3dv(points->numbers + 3 * (size_t)a);
        glVertex3dv(points->numbers + 3 * (size_t)b);
    }
    glEnd();
}

static void draw_point_set(const SceneNode *node, const FieldList *points)
{
    const FieldList *colors = list_of(node, "color", "color");
    glPointSize(3.0f);
    glBegin(GL_POINTS);
    for (int i = 0; i < points->count; i++) {
        if (colors && i < colors->count)
            glColor3dv(colors->numbers + 3 * (size_t)i);
        glVertex3dv(points->numbers + 3 * (size_t)i);
    }
    glEnd();
}

// Lines have no side that light could fall on: they show their glow, or their colour when they have none.
static void draw_lines(const Drawable *item)
{
    const FieldList *points = list_of(item->lines, "coord", "point");
    const float *glow = item->look.emissive;
    if (!points)
        return;
    glDisable(GL_LIGHTING);
    glDisable(GL_TEXTURE_2D);
    glColor4fv(glow[0] + glow[1] + glow[2] > 0.0f ? (float[4]){ glow[0], glow[1], glow[2], 1.0f } : item->look.color);
    if (scene_node_is(item->lines, "IndexedLineSet"))
        draw_line_set(item->lines, points);
    else
        draw_point_set(item->lines, points);
    glEnable(GL_LIGHTING);
}

static void draw_item(Renderer *renderer, const Drawable *item)
{
    glPushMatrix();
    glMultMatrixd(item->matrix.m);
    glFrontFace(matrix_determinant(&item->matrix) < 0.0 ? GL_CW : GL_CCW);
    if (item->mesh)
        draw_triangles(renderer, item);
    else
        draw_lines(item);
    glPopMatrix();
    renderer->counts.shapes++;
}

typedef struct Glass { const Drawable *item; double distance; } Glass;

// The farthest first; equal ones in the order of the file.
static int compare_glass(const void *a, const void *b)
{
    const Glass *x = a, *y = b;
    if (x->distance != y->distance)
        return x->distance > y->distance ? -1 : 1;
    return x->item < y->item ? -1 : x->item > y->item;
}

static Vec3 centre_of(const Drawable *item)
{
    const double *m = item->matrix.m;
    Vec3 c = item->mesh ? vec3_scale(vec3_add(item->mesh->low, item->mesh->high), 0.5) : VEC3_ZERO;
    return vec3(m[0] * c.x + m[4] * c.y + m[8] * c.z + m[12], m[1] * c.x + m[5] * c.y + m[9] * c.z + m[13],
                m[2] * c.x + m[6] * c.y + m[10] * c.z + m[14]);
}

static bool is_clear(const Look *look)
{
    return look->color[3] < 1.0f || (look->image && look->image->has_alpha);
}

static void draw_scene(Renderer *renderer, const RenderCamera *camera)
{
    const DrawList *list = &renderer->list;
    Glass *glasses = memory_alloc_raw(sizeof(Glass) * (size_t)(list->count + 1));
    int glass_count = 0;
    load_eye(renderer, camera);
    load_lights(renderer, camera);
    glEnable(GL_CULL_FACE);
    for (int i = 0; i < list->count; i++) {
        const Drawable *item = &list->items[i];
        if (is_clear(&item->look))
            glasses[glass_count++] = (Glass){ item, vec3_distance(centre_of(item), camera->pose.t) };
        else
            draw_item(renderer, item);
    }
    qsort(glasses, (size_t)glass_count, sizeof(Glass), compare_glass);
    glEnable(GL_BLEND);
    glDepthMask(GL_FALSE);
    for (int i = 0; i < glass_count; i++)
        draw_item(renderer, glasses[i].item);
    free(glasses);
    gl_clean(renderer->screen);
}

// ---- a frame ----

// The plugin sees the matrices of the view, the depth of what was drawn before, no lighting and no textures.
static bool draw_plugin(Renderer *renderer, const RenderCamera *camera, PluginHost *plugin, int pass)
{
    if (!plugin || !plugin_has_draw(plugin))
        return true;
    load_eye(renderer, camera);
    gl_enter_foreign(renderer->screen);
    glMatrixMode(GL_MODELVIEW);
    if (!plugin_draw(plugin, sim_time(renderer->sim), pass, camera->name)) {
        renderer->is_lost = true;  // it may have been in the middle of a call
        return false;
    }
    gl_leave_foreign(renderer->screen);
    return true;
}

const uint8_t *render_frame(Renderer *renderer, const RenderCamera *camera, PluginHost *plugin)
{
    if (renderer->is_lost)
        return NULL;
    ShapeSource source = { sim_scene(renderer->sim), sim_assets(renderer->sim), sim_diags(renderer->sim) };
    sim_sync_scene(renderer->sim);
    draw_list_gather(&renderer->list, &source);
    const float *sky = renderer->list.sky;
    renderer->counts = (RenderCounts){ 0 };
    gl_clean(renderer->screen);
    glClearColor(sky[0], sky[1], sky[2], 1.0f);
    glClearDepth(1.0);
    glClearStencil(0);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
    if (!draw_plugin(renderer, camera, plugin, 0))
        return NULL;
    draw_scene(renderer, camera);
    if (!draw_plugin(renderer, camera, plugin, 1))
        return NULL;
    gl_read(renderer->screen, renderer->pixels);
    renderer->counts.textures = renderer->texture_count;
    return renderer->pixels;
}

#else

struct Renderer { int none; };

Renderer *render_create(Sim *sim, int width, int height)
{
    gl_open(width, height, sim_diags(sim));  // says that there is none
    return NULL;
}
void render_destroy(Renderer *renderer) { (void)renderer; }
RenderCounts render_counts(const Renderer *renderer) { (void)renderer; return (RenderCounts){ 0 }; }
const uint8_t *render_frame(Renderer *renderer, const RenderCamera *camera, PluginHost *plugin)
{
    (void)renderer, (void)camera, (void)plugin;
    return NULL;
}

#endif
