// shape_vrml.c - VRML97 files as meshes: the tree of Transforms and Shapes flattened to one mesh with parts.
// Primitives stand along y and grids have y up, as VRML97 says; nothing is turned to z up, because the one who uses the
// file knows its axes (Choreonoid takes them as they stand).
#include "formats/formats.h"
#include "formats/shape/shape_internal.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { DEEPEST_NODE = 1024, INLINES_MAX = 64 };

typedef struct Affine {
    Mat3 m;
    Vec3 t;
} Affine;

typedef struct Walk {
    const ShapeSource *outer;  // who asked; messages go to its sink
    ShapeSource source;        // the same for the scene of the file
    MeshBuilder *builder;
    const char *path;          // of the file
    const char *name;          // nearest DEF name above
    const struct Walk *above;  // of the file that inserts this one
    int *inlines_left;
} Walk;

static Vec3 affine_apply(const Affine *a, Vec3 v) { return vec3_add(mat3_apply(a->m, v), a->t); }

static Affine affine_mul(const Affine *a, const Affine *b)
{
    return (Affine){ mat3_mul(a->m, b->m), affine_apply(a, b->t) };
}

static Mat3 mat3_diagonal(Vec3 d) { return (Mat3){ { d.x, 0, 0, 0, d.y, 0, 0, 0, d.z } }; }

// T * C * R * SR * S * -SR * -C, VRML97 clause 6.52.
static Affine transform_of(const SceneNode *node)
{
    assert_debug(schema_field(node->type, "translation"));
    Quat rotation = quat_from_rotation(scene_rotation(node, "rotation"));
    Affine result = { mat3_from_quat(rotation), scene_vec3(node, "translation") };
    if (!schema_field(node->type, "scale"))
        return result;
    Mat3 scale = mat3_diagonal(scene_vec3(node, "scale"));
    Vec3 center = VEC3_ZERO;
    if (schema_field(node->type, "scaleOrientation")) {
        Mat3 turn = mat3_from_quat(quat_from_rotation(scene_rotation(node, "scaleOrientation")));
        scale = mat3_mul(mat3_mul(turn, scale), mat3_transposed(turn));
        center = scene_vec3(node, "center");
    }
    result.m = mat3_mul(result.m, scale);
    result.t = vec3_add(result.t, vec3_sub(center, mat3_apply(result.m, center)));
    return result;
}

// A mesh has flat materials; of an appearance it takes what all importers give (colours, shininess, one texture).
static int add_material(Walk *walk, const SceneNode *shape)
{
    const SceneNode *appearance = scene_child(shape, "appearance");
    const SceneNode *material = appearance && schema_field(appearance->type, "material")
                                    ? scene_child(appearance, "material")
                                    : NULL;
    const SceneNode *texture = appearance && schema_field(appearance->type, "texture")
                                   ? scene_child(appearance, "texture")
                                   : NULL;
    if (!material && !texture)
        return -1;
    MeshMaterial out = { .name = (char *)(appearance->def             ? appearance->def
                                          : material && material->def ? material->def
                                                                      : ""),
                         .diffuse = { 0.8, 0.8, 0.8 },
                         .shininess = 0.2 };
    if (material) {
        out.diffuse = scene_vec3(material, "diffuseColor");
        out.specular = scene_vec3(material, "specularColor");
        out.emissive = scene_vec3(material, "emissiveColor");
        out.shininess = scene_float(material, "shininess");
        out.transparency = scene_float(material, "transparency");
    }
    if (texture && schema_field(texture->type, "url")) {
        const FieldList *urls = scene_list(texture, "url");
        out.texture = urls->count > 0 ? (char *)urls->strings[0] : NULL;
    }
    return mesh_build_material(walk->builder, &out);
}

static double determinant(const Mat3 *m)
{
    const double *a = m->m;
    return a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) + a[2] * (a[3] * a[7] - a[4] * a[6]);
}

static Mat3 cofactors(const Mat3 *m)
{
    const double *a = m->m;
    return (Mat3){ { a[4] * a[8] - a[5] * a[7], a[5] * a[6] - a[3] * a[8], a[3] * a[7] - a[4] * a[6],
                     a[2] * a[7] - a[1] * a[8], a[0] * a[8] - a[2] * a[6], a[1] * a[6] - a[0] * a[7],
                     a[1] * a[5] - a[2] * a[4], a[2] * a[3] - a[0] * a[5], a[0] * a[4] - a[1] * a[3] } };
}

static void add_corners(MeshBuilder *builder, int triangle, const Mesh *mesh, int i, const Mat3 *turn, bool is_mirrored)
{
    assert_debug(triangle >= 0 && i >= 0 && i < mesh->triangle_count);
    static const int straight[3] = { 0, 1, 2 }, mirrored[3] = { 0, 2, 1 };
    const int *order = is_mirrored ? mirrored : straight;
    float normals[9], texcoords[6];
    Vec3 flat = mesh_triangle_normal(mesh, i);
    for (int k = 0; k < 3; k++) {
        const float *n = mesh->normals ? mesh->normals + 9 * (size_t)i + 3 * order[k] : NULL;
        Vec3 turned = vec3_normalized(mat3_apply(*turn, n ? vec3(n[0], n[1], n[2]) : flat));
        normals[3 * k] = (float)turned.x;
        normals[3 * k + 1] = (float)turned.y;
        normals[3 * k + 2] = (float)turned.z;
        for (int j = 0; j < 2; j++)
            texcoords[2 * k + j] = mesh->texcoords ? mesh->texcoords[6 * (size_t)i + (size_t)(2 * order[k] + j)] : 0.0f;
    }
    mesh_build_normals(builder, triangle, normals);
    if (mesh->texcoords)
        mesh_build_texcoords(builder, triangle, texcoords);
}

static void add_mesh(Walk *walk, const Mesh *mesh, const Affine *at)
{
    assert(mesh);
    MeshBuilder *builder = walk->builder;
    int64_t first = builder->mesh.vertex_count;
    bool is_mirrored = determinant(&at->m) < 0.0;
    Mat3 turn = cofactors(&at->m);
    if (is_mirrored)
        turn = mat3_scale(turn, -1.0);
    for (int i = 0; i < mesh->vertex_count; i++)
        if (mesh_build_vertex(builder, affine_apply(at, mesh_position(mesh, (uint32_t)i))) < 0)
            return;
    for (int i = 0; i < mesh->triangle_count && !builder->report.too_large; i++) {
        const uint32_t *t = mesh->triangles + 3 * (size_t)i;
        int triangle = mesh_build_triangle(builder, first + t[0], first + t[is_mirrored ? 2 : 1],
                                           first + t[is_mirrored ? 1 : 2]);
        add_corners(builder, triangle, mesh, i, &turn, is_mirrored);
    }
}

static void add_shape(Walk *walk, const SceneNode *shape, const Affine *at)
{
    assert_debug(schema_field(shape->type, "geometry"));
    const SceneNode *geometry = scene_child(shape, "geometry");
    GeometryKind kind = shape_form(geometry).kind;
    if (kind == GEOMETRY_NONE || kind == GEOMETRY_DRAWN)
        return;
    Mesh *mesh = shape_build(&walk->source, geometry, MESH_AXIS_Y);
    if (!mesh)
        return;
    const char *name = shape->def ? shape->def : walk->name;
    mesh_build_part(walk->builder, name ? name : "", add_material(walk, shape));
    add_mesh(walk, mesh, at);
    mesh_destroy(mesh);
}

static void visit(Walk *walk, const SceneNode *written, const Affine *at, int depth);

static void visit_list(Walk *walk, const FieldList *list, const Affine *at, int depth)
{
    assert_debug(depth >= 0);
    for (int i = 0; i < list->count && !walk->builder->report.too_large; i++)
        visit(walk, list->nodes[i], at, depth + 1);
}

static Scene *load_file(const ShapeSource *source, const char *url, const char *from, SourcePos pos)
{
    const char *path;
    const FileData *file = store_file(source->assets, &(StoreFileQuery){ "VRML file", url, from }, &path, source->diags,
                                      pos);
    if (!file)
        return NULL;
    FormatsOptions options = { .limits = store_limits(source->assets) };
    Scene *scene = NULL;
    FileFormat format = formats_detect(path, file->data, file->size);
    bool is_vrml = format == FORMAT_VRML97 || (format == FORMAT_BODY && file->size > 0 && file->data[0] == '#');
    if (is_vrml)
        scene = formats_load_vrml_text(path, file->data, file->size, &options, source->diags);
    else
        diag_error(source->diags, pos, "cannot read mesh '%s': it is no VRML97 file", path);
    if (scene)
        scene_set_path(scene, path);
    return scene;
}

static bool is_being_read(const Walk *walk, const char *path)
{
    for (; walk; walk = walk->above)
        if (!strcmp(walk->path, path))
            return true;
    return false;
}

static void visit_inline(Walk *walk, const SceneNode *node, const Affine *at, int depth)
{
    assert(depth >= 0 && walk->inlines_left);
    const FieldList *urls = scene_list(node, "url");
    if (urls->count == 0)
        return;
    if (--*walk->inlines_left < 0) {
        diag_warning(walk->outer->diags, node->pos, "more than %d Inline files; the rest is left out", INLINES_MAX);
        return;
    }
    Scene *scene = load_file(walk->outer, urls->strings[0], walk->path, node->pos);
    if (!scene)
        return;
    Walk inner = *walk;
    inner.source.scene = scene;
    inner.path = scene_path(scene);
    inner.above = walk;
    if (is_being_read(walk, inner.path))
        diag_error(walk->outer->diags, node->pos, "'%s' inserts itself; that part is left out", inner.path);
    else
        visit(&inner, scene_root(scene), at, depth + 1);
    scene_destroy(scene);
}

static void visit_switch(Walk *walk, const SceneNode *node, const Affine *at, int depth)
{
    const FieldList *choices = scene_list(node, "choice");
    int which = scene_int(node, "whichChoice");
    if (which >= 0 && which < choices->count)
        visit(walk, choices->nodes[which], at, depth + 1);
}

// Down the tree of a VRML file, with the place and the name of what is around.
static void visit(Walk *walk, const SceneNode *written, const Affine *at, int depth)
{
    assert(depth >= 0);
    const SceneNode *node = scene_actual(written);
    if (!node || !node->type || depth > DEEPEST_NODE)
        return;
    const char *outer_name = walk->name, *type = node->type->name;
    if (node->def)
        walk->name = node->def;
    if (!strcmp(type, "Shape")) {
        add_shape(walk, node, at);
    } else if (!strcmp(type, "Inline")) {
        visit_inline(walk, node, at, depth);
    } else if (!strcmp(type, "Switch")) {
        visit_switch(walk, node, at, depth);
    } else if (!strcmp(type, "LOD")) {
        const FieldList *levels = scene_list(node, "level");
        if (levels->count > 0)
            visit(walk, levels->nodes[0], at, depth + 1);
    } else if (schema_field(node->type, "children")) {
        Affine inner = *at;
        if (schema_field(node->type, "translation")) {
            Affine own = transform_of(node);
            inner = affine_mul(at, &own);
        }
        visit_list(walk, scene_list(node, "children"), &inner, depth);
    }
    walk->name = outer_name;
}

// What stands above a node that is cut out: all turns and scales, no translation.
static Affine frame_above(const SceneNode *node)
{
    Affine frame = { MAT3_IDENTITY, VEC3_ZERO };
    int depth = 0;
    for (const SceneNode *above = scene_parent(node); above && depth < DEEPEST_NODE;
         above = scene_parent(above), depth++) {
        if (!above->type || !schema_field(above->type, "translation"))
            continue;
        Affine own = transform_of(above);
        frame.m = mat3_mul(own.m, frame.m);
    }
    return frame;
}

static bool walk_file(Walk *walk, Scene *scene, const char *node_name, SourcePos pos)
{
    Affine at = { MAT3_IDENTITY, VEC3_ZERO };
    if (!node_name) {
        visit(walk, scene_root(scene), &at, 0);
        return true;
    }
    SceneNode *node = scene_find_def(scene, node_name);
    if (!node) {
        diag_warning(walk->outer->diags, pos, "'%s' has no node called '%s'", walk->path, node_name);
        return false;
    }
    at = frame_above(node);
    if (node->type && schema_field(node->type, "translation")) {
        Affine own = transform_of(node), whole = affine_mul(&at, &own);
        at.t = vec3_neg(whole.t);  // its own origin lands at zero
    }
    visit(walk, node, &at, 0);
    return true;
}

// A whole VRML scene as one mesh, kept by the store under its file and node: worlds name the same file for each of a
// hundred parts.
const Mesh *shape_vrml_mesh(const ShapeSource *source, const char *url, const char *from, const char *node,
                            SourcePos pos)
{
    assert_debug(source->assets && url);
    Arena *arena = arena_create();
    Resolved resolved;
    const Mesh *mesh = NULL;
    bool found = resolve_url(store_resolver(source->assets), url, from, arena, &resolved);
    char *key = arena_printf(arena, "VRML97 %s node %s", found ? resolved.path : "", node ? node : "");
    mesh = found ? store_find_mesh(source->assets, key) : NULL;
    Scene *scene = mesh ? NULL : load_file(source, url, from, pos);
    if (scene) {
        MeshBuilder builder = { .vertex_limit = store_limits(source->assets)->mesh_vertices };
        int inlines_left = INLINES_MAX;
        Walk walk = { .outer = source,
                      .source = { scene, source->assets, source->diags },
                      .builder = &builder,
                      .path = scene_path(scene),
                      .inlines_left = &inlines_left };
        MeshReport report = { 0 };
        bool ok = walk_file(&walk, scene, node, pos);
        Mesh *built = mesh_build_end(&builder, NULL, &report);
        mesh_report(&report, arena_printf(arena, "mesh '%s'", url), source->diags, pos);
        if (ok && built->triangle_count > 0) {
            mesh = store_keep_mesh(source->assets, key, built);
        } else {
            if (ok)
                diag_error(source->diags, pos, "mesh '%s' holds no triangles", url);
            mesh_destroy(built);
        }
        scene_destroy(scene);
    }
    arena_destroy(arena);
    return mesh;
}
