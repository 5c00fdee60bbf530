// trees.c - the triangles of meshes as trees of Embree, each shared by all visuals with that mesh, and the images on
// them in ever smaller copies. Trees of skins change with their bones; the others never do.
#include "rays/rays_internal.h"

#include "base/memory.h"

#include <string.h>

static void set_triangle_normals(const Mesh *mesh, float *normals)
{
    for (int i = 0; i < mesh->triangle_count; i++) {
        Vec3 normal = mesh_face_normal(mesh, (unsigned)i);
        normals[3 * i] = (float)normal.x, normals[3 * i + 1] = (float)normal.y, normals[3 * i + 2] = (float)normal.z;
    }
}

static float *triangle_normals(const Mesh *mesh)
{
    float *normals = memory_alloc_array(3 * (size_t)mesh->triangle_count, sizeof *normals);
    set_triangle_normals(mesh, normals);
    return normals;
}

static void copy_points(const Mesh *mesh, float *points)
{
    for (size_t i = 0; points && i < 3 * (size_t)mesh->vertex_count; i++)
        points[i] = (float)mesh->positions[i];
}

static int new_tree(Rays *rays, const Mesh *mesh, bool is_changing)
{
    assert(mesh);
    RTCGeometry geometry = rtcNewGeometry(rays->device, RTC_GEOMETRY_TYPE_TRIANGLE);
    float *points = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, 3 * sizeof(float),
                                            (size_t)mesh->vertex_count);
    unsigned *corners = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3,
                                                3 * sizeof(unsigned), (size_t)mesh->triangle_count);
    copy_points(mesh, points);
    if (corners)
        memcpy(corners, mesh->triangles, 3 * (size_t)mesh->triangle_count * sizeof *corners);
    rtcSetGeometryMask(geometry, MASK_SEEN | MASK_SHADOW);
    RTCScene scene = rtcNewScene(rays->device);
    rtcSetSceneFlags(scene, RTC_SCENE_FLAG_ROBUST | (is_changing ? RTC_SCENE_FLAG_DYNAMIC : RTC_SCENE_FLAG_NONE));
    rtcCommitGeometry(geometry);
    rtcAttachGeometry(scene, geometry);
    if (!is_changing)
        rtcReleaseGeometry(geometry);
    rtcCommitScene(scene);
    memory_grow(&rays->meshes, &rays->mesh_capacity, rays->mesh_count + 1, sizeof *rays->meshes);
    rays->meshes[rays->mesh_count] = (MeshTree){ .mesh = mesh,
                                                 .scene = scene,
                                                 .geometry = is_changing ? geometry : NULL,
                                                 .normals = triangle_normals(mesh),
                                                 .radius = form_radius(NULL, mesh) };
    return rays->mesh_count++;
}

int rays_tree_of(Rays *rays, const Mesh *mesh)
{
    for (int i = 0; i < rays->mesh_count; i++)
        if (rays->meshes[i].mesh == mesh)
            return i;
    return new_tree(rays, mesh, false);
}

int rays_tree_that_changes(Rays *rays, const Mesh *mesh) { return new_tree(rays, mesh, true); }

void rays_tree_changed(Rays *rays, int index)
{
    assert_debug(index >= 0 && index < rays->mesh_count);
    MeshTree *tree = &rays->meshes[index];
    assert(tree->geometry);
    copy_points(tree->mesh, rtcGetGeometryBufferData(tree->geometry, RTC_BUFFER_TYPE_VERTEX, 0));
    rtcUpdateGeometryBuffer(tree->geometry, RTC_BUFFER_TYPE_VERTEX, 0);
    rtcCommitGeometry(tree->geometry);
    rtcCommitScene(tree->scene);
    set_triangle_normals(tree->mesh, tree->normals);
    tree->radius = form_radius(NULL, tree->mesh);
    tree->version++;
}

const Mip *rays_mip(Rays *rays, const Image *image)
{
    for (int i = 0; i < rays->mip_count; i++)
        if (rays->mips[i]->image == image)
            return rays->mips[i];
    memory_grow(&rays->mips, &rays->mip_capacity, rays->mip_count + 1, sizeof *rays->mips);
    return rays->mips[rays->mip_count++] = mip_create(image);
}

void mesh_texture_place(const Mesh *mesh, int triangle, double b, double c, double *u, double *v)
{
    assert_debug(triangle >= 0 && triangle < mesh->triangle_count);
    double a = 1.0 - b - c;
    const float *uv = mesh->texcoords ? mesh->texcoords + 6 * (size_t)triangle : NULL;
    if (uv) {
        *u = a * (double)uv[0] + b * (double)uv[2] + c * (double)uv[4];
        *v = a * (double)uv[1] + b * (double)uv[3] + c * (double)uv[5];
        return;
    }
    unsigned t = (unsigned)triangle;
    Vec3 p = vec3_mad(vec3_mad(vec3_scale(mesh_corner(mesh, t, 0), a), mesh_corner(mesh, t, 1), b),
                      mesh_corner(mesh, t, 2), c);
    mesh_default_texcoord(mesh, p, u, v);
}
