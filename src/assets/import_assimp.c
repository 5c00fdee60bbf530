// import_assimp.c - formats that assimp reads, in a worker process that has nothing to lose: no files, no network,
// bounded time and memory. It gets the file (and the files it names, once it has asked for them) and sends plain arrays
// back; import_reply.c is the other side.
#include "assets/import_internal.h"

#include "assets/import_wire.h"

#include <assimp/cfileio.h>
#include <assimp/cimport.h>
#include <assimp/config.h>
#include <assimp/material.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST_NODE = 512, LONGEST_NAME = 1024 };
#define IMPORT_MEMORY ((int64_t)4 << 30)

typedef struct MemoryFile {
    const char *name;
    const char *data;
    size_t size;
} MemoryFile;

typedef struct Request {
    MemoryFile files[COMPANIONS_MAX + 1];
    int file_count;
    char *wanted[COMPANIONS_MAX];
    int wanted_count;
} Request;

typedef struct OpenFile {
    const MemoryFile *file;
    size_t place;
} OpenFile;

static size_t file_read_items(struct aiFile *handle, char *out, size_t size, size_t count)
{
    OpenFile *open = (OpenFile *)(void *)handle->UserData;
    assert(open->place <= open->file->size);
    size_t left = open->file->size - open->place;
    if (size == 0 || count == 0)
        return 0;
    size_t items = left / size < count ? left / size : count;
    memcpy(out, open->file->data + open->place, items * size);
    open->place += items * size;
    return items;
}

static size_t file_write_items(struct aiFile *handle, const char *data, size_t size, size_t count)
{
    (void)handle;
    (void)data;
    (void)size;
    (void)count;
    return 0;
}

static size_t file_tell(struct aiFile *handle) { return ((OpenFile *)(void *)handle->UserData)->place; }

static size_t file_size(struct aiFile *handle) { return ((OpenFile *)(void *)handle->UserData)->file->size; }

static void file_flush(struct aiFile *handle) { (void)handle; }

static enum aiReturn file_seek(struct aiFile *handle, size_t offset, enum aiOrigin origin)
{
    OpenFile *open = (OpenFile *)(void *)handle->UserData;
    size_t base = origin == aiOrigin_SET ? 0 : origin == aiOrigin_CUR ? open->place : open->file->size;
    size_t place = base + offset;  // assimp passes negative offsets as large ones: the sum wraps back
    if (place > open->file->size)
        return aiReturn_FAILURE;
    open->place = place;
    return aiReturn_SUCCESS;
}

static const char *without_dot(const char *name)
{
    while (name[0] == '.' && name[1] == '/')
        name += 2;
    return name;
}

static void want(Request *request, const char *name)
{
    if (request->wanted_count >= COMPANIONS_MAX || strlen(name) > LONGEST_NAME)
        return;
    for (int i = 0; i < request->wanted_count; i++)
        if (!strcmp(request->wanted[i], name))
            return;
    assert_debug(request->wanted_count < COMPANIONS_MAX);
    request->wanted[request->wanted_count++] = strdup(name);
}

static struct aiFile *open_file(struct aiFileIO *io, const char *name, const char *mode)
{
    Request *request = (Request *)(void *)io->UserData;
    name = without_dot(name);
    if (strchr(mode, 'w') || strchr(mode, 'a'))
        return NULL;
    for (int i = 0; i < request->file_count; i++) {
        if (strcmp(request->files[i].name, name))
            continue;
        if (!request->files[i].data)
            return NULL;  // the parent has it not
        OpenFile *open = calloc(1, sizeof *open);
        struct aiFile *handle = calloc(1, sizeof *handle);
        *open = (OpenFile){ &request->files[i], 0 };
        *handle = (struct aiFile){ file_read_items, file_write_items, file_tell,   file_size,
                                   file_seek,       file_flush,       (char *)open };
        return handle;
    }
    want(request, name);
    return NULL;
}

static void close_file(struct aiFileIO *io, struct aiFile *handle)
{
    (void)io;
    free(handle->UserData);
    free(handle);
}

static bool read_request(const char *data, size_t size, RequestHeader *header, Request *request)
{
    const char *end = data + size;
    if (size < sizeof *header)
        return false;
    memcpy(header, data, sizeof *header);
    data += sizeof *header;
    for (uint32_t i = 0; i < header->file_count && i <= COMPANIONS_MAX; i++) {
        FileHeader file;
        memcpy(&file, data, sizeof file);
        data += sizeof file;
        request->files[request->file_count++] =
            (MemoryFile){ data, file.data_size == UINT64_MAX ? NULL : data + file.name_size, (size_t)file.data_size };
        data += file.name_size + (file.data_size == UINT64_MAX ? 0 : file.data_size);
    }
    return data <= end;
}

static float clamped(float value) { return value > 0.0f ? (value < 1.0f ? value : 1.0f) : 0.0f; }

static void get_color(const struct aiMaterial *material, const char *key, unsigned type, unsigned index, float out[3])
{
    struct aiColor4D color;
    if (aiGetMaterialColor(material, key, type, index, &color) != aiReturn_SUCCESS)
        return;
    out[0] = clamped(color.r);
    out[1] = clamped(color.g);
    out[2] = clamped(color.b);
}

static void reply_material(WorkerReply *reply, const struct aiMaterial *material)
{
    ReplyMaterial out = { .diffuse = { 0.8f, 0.8f, 0.8f } };
    get_color(material, AI_MATKEY_COLOR_DIFFUSE, out.diffuse);
    get_color(material, AI_MATKEY_COLOR_SPECULAR, out.specular);
    get_color(material, AI_MATKEY_COLOR_EMISSIVE, out.emissive);
    float value;
    unsigned one = 1;
    if (aiGetMaterialFloatArray(material, AI_MATKEY_OPACITY, &value, &one) == aiReturn_SUCCESS)
        out.transparency = clamped(1.0f - value);
    one = 1;
    if (aiGetMaterialFloatArray(material, AI_MATKEY_SHININESS, &value, &one) == aiReturn_SUCCESS)
        out.shininess = clamped(value / 1000.0f);
    struct aiString name = { 0 }, texture = { 0 };
    aiGetMaterialString(material, AI_MATKEY_NAME, &name);
    static const enum aiTextureType types[] = { aiTextureType_BASE_COLOR, aiTextureType_DIFFUSE };
    for (int i = 0; i < COUNT_OF(types) && !texture.length; i++)
        if (aiGetMaterialTexture(material, types[i], 0, &texture, NULL, NULL, NULL, NULL, NULL, NULL)
            != aiReturn_SUCCESS)
            texture.length = 0;
    name.data[name.length] = texture.data[texture.length] = '\0';
    out.name_size = (uint32_t)strlen(name.data) + 1;
    out.texture_size = (uint32_t)strlen(texture.data) + 1;
    worker_reply_add(reply, &out, sizeof out);
    worker_reply_add(reply, name.data, out.name_size);
    worker_reply_add(reply, texture.data, out.texture_size);
}

typedef struct Skeleton {
    struct Bone {
        const struct aiNode *node;
        struct aiMatrix4x4 matrix;
        bool has_matrix;
        int parent;
    } bones[MESH_BONES_MAX];
    int count;
} Skeleton;

typedef struct Output {
    WorkerReply *reply;
    const struct aiScene *scene;
    uint64_t vertices_left;
    Skeleton *skeleton;
} Output;

static void multiply(const struct aiMatrix4x4 *a, const struct aiMatrix4x4 *b, struct aiMatrix4x4 *out)
{
    struct aiMatrix4x4 product = *a;
    aiMultiplyMatrix4(&product, b);
    *out = product;
}

// Directions turn with the cofactors of the matrix, so that uneven scale leaves them square to the surface.
static void turn_normals(const struct aiMatrix4x4 *m, const struct aiVector3D *normals, unsigned count, float *out)
{
    float c[9] = { m->b2 * m->c3 - m->b3 * m->c2, m->b3 * m->c1 - m->b1 * m->c3, m->b1 * m->c2 - m->b2 * m->c1,
                   m->c2 * m->a3 - m->c3 * m->a2, m->c3 * m->a1 - m->c1 * m->a3, m->c1 * m->a2 - m->c2 * m->a1,
                   m->a2 * m->b3 - m->a3 * m->b2, m->a3 * m->b1 - m->a1 * m->b3, m->a1 * m->b2 - m->a2 * m->b1 };
    for (unsigned i = 0; i < count; i++)
        for (int k = 0; k < 3; k++)
            out[3 * i + (unsigned)k] = c[3 * k] * normals[i].x + c[3 * k + 1] * normals[i].y
                                       + c[3 * k + 2] * normals[i].z;
}

// ---- bones: nodes that some mesh names as such ----

static int bone_named(const Skeleton *skeleton, const struct aiString *name)
{
    for (int i = 0; i < skeleton->count; i++)
        if (!strcmp(skeleton->bones[i].node->mName.data, name->data))
            return i;
    return -1;
}

static bool is_bone(const struct aiScene *scene, const struct aiNode *node)
{
    for (unsigned i = 0; i < scene->mNumMeshes; i++)
        for (unsigned k = 0; k < scene->mMeshes[i]->mNumBones; k++)
            if (!strcmp(scene->mMeshes[i]->mBones[k]->mName.data, node->mName.data))
                return true;
    return false;
}

static void find_bones(const struct aiScene *scene, Skeleton *skeleton, const struct aiNode *node, int parent,
                       int depth)
{
    if (depth > DEEPEST_NODE)
        return;
    if (skeleton->count < MESH_BONES_MAX && is_bone(scene, node) && bone_named(skeleton, &node->mName) < 0) {
        assert_debug(skeleton->count < MESH_BONES_MAX && parent < skeleton->count);
        skeleton->bones[skeleton->count] = (struct Bone){ .node = node, .parent = parent };
        parent = skeleton->count++;
    }
    for (unsigned i = 0; i < node->mNumChildren; i++)
        find_bones(scene, skeleton, node->mChildren[i], parent, depth + 1);
}

// Where bones are when their meshes are as the file has them: the way from a mesh into their frame, turned round.
static void place_bones(Output *output, const struct aiNode *node, const struct aiMatrix4x4 *above, int depth)
{
    assert(depth >= 0);
    struct aiMatrix4x4 matrix;
    if (depth > DEEPEST_NODE)
        return;
    multiply(above, &node->mTransformation, &matrix);
    for (unsigned i = 0; i < node->mNumMeshes; i++) {
        const struct aiMesh *mesh = output->scene->mMeshes[node->mMeshes[i]];
        for (unsigned k = 0; k < mesh->mNumBones; k++) {
            int index = bone_named(output->skeleton, &mesh->mBones[k]->mName);
            if (index < 0 || output->skeleton->bones[index].has_matrix)
                continue;
            struct aiMatrix4x4 outwards = mesh->mBones[k]->mOffsetMatrix;
            aiMatrix4Inverse(&outwards);
            multiply(&matrix, &outwards, &output->skeleton->bones[index].matrix);
            output->skeleton->bones[index].has_matrix = true;
        }
    }
    for (unsigned i = 0; i < node->mNumChildren; i++)
        place_bones(output, node->mChildren[i], &matrix, depth + 1);
}

static void reply_bones(Output *output)
{
    assert(output->skeleton->count <= MESH_BONES_MAX);
    uint32_t count = (uint32_t)output->skeleton->count;
    worker_reply_add(output->reply, &count, sizeof count);
    for (uint32_t i = 0; i < count; i++) {
        const struct Bone *bone = &output->skeleton->bones[i];
        const struct aiMatrix4x4 *m = &bone->matrix;
        ReplyBone out = { { m->a1, m->a2, m->a3, m->a4, m->b1, m->b2, m->b3, m->b4, m->c1, m->c2, m->c3, m->c4 },
                          bone->parent,
                          (uint32_t)strnlen(bone->node->mName.data, sizeof bone->node->mName.data - 1) + 1 };
        worker_reply_add(output->reply, &out, sizeof out);
        worker_reply_add(output->reply, bone->node->mName.data, out.name_size - 1);
        worker_reply_add(output->reply, "", 1);
    }
}

// The strongest of a vertex.
static void add_weight(MeshInfluence *influence, int bone, float weight)
{
    assert_debug(bone >= 0 && bone < MESH_BONES_MAX);
    int weakest = 0;
    for (int i = 1; i < MESH_INFLUENCES; i++)
        if (influence->weights[i] < influence->weights[weakest])
            weakest = i;
    if (!(weight > influence->weights[weakest]))
        return;
    influence->bones[weakest] = (uint16_t)bone;
    influence->weights[weakest] = weight;
}

static void reply_influences(Output *output, const struct aiMesh *mesh)
{
    MeshInfluence *influences = calloc(mesh->mNumVertices, sizeof *influences);
    for (unsigned i = 0; i < mesh->mNumBones; i++) {
        const struct aiBone *bone = mesh->mBones[i];
        int index = bone_named(output->skeleton, &bone->mName);
        for (unsigned k = 0; index >= 0 && k < bone->mNumWeights; k++)
            if (bone->mWeights[k].mVertexId < mesh->mNumVertices)
                add_weight(&influences[bone->mWeights[k].mVertexId], index, bone->mWeights[k].mWeight);
    }
    worker_reply_add(output->reply, influences, mesh->mNumVertices * sizeof *influences);
    free(influences);
}

// The layout of the answer is that of read_part: head, name, positions, normals, coordinates, triangles, weights.
// Lines and points are no triangles and are left out.
static void reply_mesh(Output *output, const struct aiMesh *mesh, const struct aiMatrix4x4 *m)
{
    uint32_t triangles = 0;
    for (unsigned i = 0; i < mesh->mNumFaces; i++)
        triangles += mesh->mFaces[i].mNumIndices == 3;
    if (triangles == 0 || !mesh->mVertices || mesh->mNumVertices > output->vertices_left)
        return;
    output->vertices_left -= mesh->mNumVertices;
    unsigned count = mesh->mNumVertices;
    ReplyPart part = { count,
                       triangles,
                       (uint32_t)strnlen(mesh->mName.data, sizeof mesh->mName.data - 1) + 1,
                       (int32_t)mesh->mMaterialIndex,
                       mesh->mNormals != NULL,
                       mesh->mTextureCoords[0] != NULL,
                       output->skeleton->count > 0 && mesh->mNumBones > 0 };
    worker_reply_add(output->reply, &part, sizeof part);
    worker_reply_add(output->reply, mesh->mName.data, part.name_size - 1);
    worker_reply_add(output->reply, "", 1);
    float *positions = worker_reply_reserve(output->reply, (size_t)count * 3 * sizeof(float));
    for (unsigned i = 0; i < count; i++) {
        struct aiVector3D v = mesh->mVertices[i];
        float moved[3] = { m->a1 * v.x + m->a2 * v.y + m->a3 * v.z + m->a4,
                           m->b1 * v.x + m->b2 * v.y + m->b3 * v.z + m->b4,
                           m->c1 * v.x + m->c2 * v.y + m->c3 * v.z + m->c4 };
        memcpy((char *)positions + 12 * (size_t)i, moved, sizeof moved);
    }
    if (part.has_normals) {
        float *normals = malloc((size_t)count * 3 * sizeof(float));
        turn_normals(m, mesh->mNormals, count, normals);
        worker_reply_add(output->reply, normals, (size_t)count * 3 * sizeof(float));
        free(normals);
    }
    for (unsigned i = 0; part.has_texcoords && i < count; i++)
        worker_reply_add(output->reply, &mesh->mTextureCoords[0][i], 2 * sizeof(float));
    for (unsigned i = 0; i < mesh->mNumFaces; i++)
        if (mesh->mFaces[i].mNumIndices == 3)
            worker_reply_add(output->reply, mesh->mFaces[i].mIndices, 3 * sizeof(uint32_t));
    if (part.has_bones)
        reply_influences(output, mesh);
}

static void reply_node(Output *output, const struct aiNode *node, const struct aiMatrix4x4 *above, int depth)
{
    assert(depth >= 0);
    struct aiMatrix4x4 matrix;
    if (depth > DEEPEST_NODE)
        return;
    multiply(above, &node->mTransformation, &matrix);
    for (unsigned i = 0; i < node->mNumMeshes; i++)
        if (node->mMeshes[i] < output->scene->mNumMeshes)
            reply_mesh(output, output->scene->mMeshes[node->mMeshes[i]], &matrix);
    for (unsigned i = 0; i < node->mNumChildren; i++)
        reply_node(output, node->mChildren[i], &matrix, depth + 1);
}

static void reply_scene(WorkerReply *reply, const struct aiScene *scene, const RequestHeader *header)
{
    ReplyHeader out = { REPLY_MESH, scene->mNumMaterials };
    worker_reply_add(reply, &out, sizeof out);
    for (unsigned i = 0; i < scene->mNumMaterials; i++)
        reply_material(reply, scene->mMaterials[i]);
    Output output = { reply, scene, header->vertex_limit, calloc(1, sizeof(Skeleton)) };
    struct aiMatrix4x4 top;
    aiIdentityMatrix4(&top);
    if (!strcmp(header->extension, "dae")
        && !header->keep_axes) {  // assimp makes +y up of any DAE file; Webots wants +z
        top.b2 = 0.0f;
        top.b3 = -1.0f;
        top.c2 = 1.0f;
        top.c3 = 0.0f;
    }
    find_bones(scene, output.skeleton, scene->mRootNode, -1, 0);
    if (output.skeleton->count > 0)
        place_bones(&output, scene->mRootNode, &top, 0);
    reply_bones(&output);
    reply_node(&output, scene->mRootNode, &top, 0);
    free(output.skeleton);
}

static bool refuse(WorkerReply *reply, const char *reason)
{
    worker_reply_clear(reply);
    worker_reply_add(reply, reason, strlen(reason));
    return false;
}

static void reply_wanted(WorkerReply *reply, const Request *request)
{
    ReplyHeader out = { REPLY_WANTED, (uint32_t)request->wanted_count };
    worker_reply_clear(reply);
    worker_reply_add(reply, &out, sizeof out);
    for (int i = 0; i < request->wanted_count; i++)
        worker_reply_add(reply, request->wanted[i], strlen(request->wanted[i]) + 1);
}

// In the worker. Data is validated by the library, and cut to what a mesh needs before that costs memory.
static bool handle(const char *data, size_t size, WorkerReply *reply, void *state)
{
    (void)state;
    RequestHeader header;
    Request *request = calloc(1, sizeof *request);
    if (!read_request(data, size, &header, request))
        return refuse(reply, "the request is broken");
    struct aiPropertyStore *properties = aiCreatePropertyStore();
    aiSetImportPropertyInteger(properties, AI_CONFIG_IMPORT_COLLADA_IGNORE_UP_DIRECTION, header.keep_axes != 0);
    aiSetImportPropertyInteger(properties, AI_CONFIG_PP_RVC_FLAGS,
                               aiComponent_CAMERAS | aiComponent_LIGHTS | aiComponent_ANIMATIONS | aiComponent_TEXTURES
                                   | aiComponent_COLORS);
    struct aiFileIO io = { open_file, close_file, (char *)request };
    const struct aiScene *scene = aiImportFileExWithProperties(
        request->files[0].name, aiProcess_Triangulate | aiProcess_RemoveComponent | aiProcess_ValidateDataStructure,
        &io, properties);
    bool ok = true;
    if (request->wanted_count > 0)
        reply_wanted(reply, request);
    else if (!scene)
        ok = refuse(reply, aiGetErrorString());
    else
        reply_scene(reply, scene, &header);
    if (scene)
        aiReleaseImport(scene);
    aiReleasePropertyStore(properties);
    for (int i = 0; i < request->wanted_count; i++)
        free(request->wanted[i]);
    free(request);
    return ok;
}

// The first import touches what assimp looks up once (locales, tables) before the worker is confined.
static void *start(const void *context)
{
    (void)context;
    static const char warm_up[] = "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n";
    const struct aiScene *scene = aiImportFileFromMemory(warm_up, sizeof warm_up - 1, aiProcess_Triangulate, "off");
    if (scene)
        aiReleaseImport(scene);
    return NULL;
}

Worker *import_worker_create(void)
{
    return worker_create(&(WorkerOptions){ .name = "mesh importer",
                                           .start = start,
                                           .handle = handle,
                                           .time_ms = IMPORT_TIME_MS,
                                           .memory_bytes = IMPORT_MEMORY,
                                           .reply_bytes = (int64_t)2 << 30 });
}
