// import_reply.c - the parent's side of meshes that assimp reads (import_assimp.c): it hands files to the worker, and
// checks the arrays that come back as it would check any file, since the worker may have been taken over by what it
// read.
#include "assets/import_internal.h"

#include "assets/import_wire.h"
#include "base/memory.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROUNDS_MAX = 4,
    SMALL_FILE_MS = 3000,
    MS_PER_MB = 1000,
};

typedef struct Companion {
    char *name;
    FileData file;
    bool is_there;
} Companion;

typedef struct ReplyReader {
    const char *p, *end;
    bool failed;
} ReplyReader;

static const void *take(ReplyReader *reader, uint64_t size)
{
    if (reader->failed || size > (uint64_t)(reader->end - reader->p)) {
        reader->failed = true;
        return NULL;
    }
    const void *data = reader->p;
    reader->p += size;
    return data;
}

static void take_struct(ReplyReader *reader, void *out, size_t size)
{
    assert_debug(out && size > 0);
    const void *data = take(reader, size);
    if (data)
        memcpy(out, data, size);
    else
        memset(out, 0, size);
}

// A text of that size whose last byte must be its NUL.
static const char *take_text(ReplyReader *reader, uint32_t size)
{
    const char *text = take(reader, size);
    if (!text || size == 0 || memchr(text, '\0', size) != text + size - 1) {
        reader->failed = true;
        return "";
    }
    return text;
}

static void read_material(ReplyReader *reader, MeshBuilder *builder)
{
    ReplyMaterial in;
    take_struct(reader, &in, sizeof in);
    const char *name = take_text(reader, in.name_size), *texture = take_text(reader, in.texture_size);
    if (reader->failed)
        return;
    mesh_build_material(
        builder,
        &(MeshMaterial){
            .name = (char *)name,
            .diffuse = { in.diffuse[0], in.diffuse[1], in.diffuse[2] },
            .specular = { in.specular[0], in.specular[1], in.specular[2] },
            .emissive = { in.emissive[0], in.emissive[1], in.emissive[2] },
            .shininess = in.shininess,
            .transparency = in.transparency,
            .texture = *texture && *texture != '*' ? (char *)texture : NULL,  // "*0" is a picture inside the file
        });
}

// Without scale and shear: those are in the mesh already.
static Pose pose_of_rows(const float m[12])
{
    Vec3 x = vec3_normalized(vec3((double)m[0], (double)m[4], (double)m[8])),
         y = vec3((double)m[1], (double)m[5], (double)m[9]);
    y = vec3_normalized(vec3_mad(y, x, -vec3_dot(x, y)));
    Vec3 z = vec3_cross(x, y);
    Mat3 turn = { { x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z } };
    return (Pose){ vec3((double)m[3], (double)m[7], (double)m[11]), quat_normalized(quat_from_mat3(turn)) };
}

static void read_bones(ReplyReader *reader, MeshBuilder *builder)
{
    uint32_t count;
    take_struct(reader, &count, sizeof count);
    reader->failed |= count > MESH_BONES_MAX;
    for (uint32_t i = 0; i < count && !reader->failed; i++) {
        assert(builder->mesh.bone_count < MESH_BONES_MAX);
        ReplyBone bone;
        take_struct(reader, &bone, sizeof bone);
        const char *name = take_text(reader, bone.name_size);
        if (!reader->failed)
            mesh_build_bone(builder, name, bone.parent, pose_of_rows(bone.matrix));
    }
}

// Bytes in an answer are not aligned.
static float float_at(const char *data, size_t index)
{
    float value;
    memcpy(&value, data + index * sizeof value, sizeof value);
    return value;
}

static void add_corners(MeshBuilder *builder, int triangle, const uint32_t t[3], const ReplyPart *part,
                        const char *normals, const char *texcoords)
{
    assert_debug(triangle >= 0 && triangle < builder->mesh.triangle_count);
    float n[9] = { 0 }, uv[6] = { 0 };
    for (int k = 0; k < 3; k++) {
        if (t[k] >= part->vertex_count)
            continue;
        for (size_t i = 0; normals && i < 3; i++)
            n[3 * (size_t)k + i] = float_at(normals, 3 * (size_t)t[k] + i);
        for (size_t i = 0; texcoords && i < 2; i++)
            uv[2 * (size_t)k + i] = float_at(texcoords, 2 * (size_t)t[k] + i);
    }
    if (normals)
        mesh_build_normals(builder, triangle, n);
    if (texcoords)
        mesh_build_texcoords(builder, triangle, uv);
}

// Nothing that the worker says is believed: it read a file of unknown origin. Triangles with corners that do not
// exist become degenerate, so that counts and normals still fit.
static void read_part(ReplyReader *reader, MeshBuilder *builder)
{
    ReplyPart part;
    take_struct(reader, &part, sizeof part);
    const char *name = take_text(reader, part.name_size);
    const char *positions = take(reader, (uint64_t)part.vertex_count * 12);
    const char *normals = part.has_normals ? take(reader, (uint64_t)part.vertex_count * 12) : NULL;
    const char *texcoords = part.has_texcoords ? take(reader, (uint64_t)part.vertex_count * 8) : NULL;
    const char *triangles = take(reader, (uint64_t)part.triangle_count * 12);
    const char *influences = part.has_bones ? take(reader, (uint64_t)part.vertex_count * sizeof(MeshInfluence)) : NULL;
    if (reader->failed)
        return;
    bool material_exists = part.material >= 0 && part.material < builder->mesh.material_count;
    mesh_build_part(builder, name, material_exists ? part.material : -1);
    int64_t first = builder->mesh.vertex_count;
    for (size_t i = 0; i < part.vertex_count && !builder->report.too_large; i++) {
        int vertex = mesh_build_vertex(
            builder, vec3(float_at(positions, 3 * i), float_at(positions, 3 * i + 1), float_at(positions, 3 * i + 2)));
        MeshInfluence influence;
        if (!influences || vertex < 0)
            continue;
        memcpy(&influence, influences + i * sizeof influence, sizeof influence);
        mesh_build_influence(builder, vertex, &influence);
    }
    for (size_t i = 0; i < part.triangle_count && !builder->report.too_large; i++) {
        uint32_t t[3];
        memcpy(t, triangles + 12 * i, sizeof t);
        bool is_inside = t[0] < part.vertex_count && t[1] < part.vertex_count && t[2] < part.vertex_count;
        int triangle = is_inside ? mesh_build_triangle(builder, first + t[0], first + t[1], first + t[2])
                                 : mesh_build_triangle(builder, -1, -1, -1);
        add_corners(builder, triangle, t, &part, normals, texcoords);
    }
}

static bool read_reply(const WorkerAnswer *answer, MeshBuilder *builder)
{
    ReplyReader reader = { answer->data, answer->data + answer->size, false };
    ReplyHeader header;
    take_struct(&reader, &header, sizeof header);
    for (uint32_t i = 0; i < header.count && !reader.failed; i++)
        read_material(&reader, builder);
    read_bones(&reader, builder);
    while (!reader.failed && reader.p < reader.end)
        read_part(&reader, builder);
    return !reader.failed;
}

// Gathers the files that the worker asked for. Returns false when there is nothing new.
static bool gather(const WorkerAnswer *answer, const ImportCompanions *companions, Companion *list, int *count)
{
    assert_debug(*count >= 0 && *count <= COMPANIONS_MAX);
    ReplyReader reader = { answer->data, answer->data + answer->size, false };
    ReplyHeader header;
    take_struct(&reader, &header, sizeof header);
    bool is_new = false;
    for (uint32_t i = 0; i < header.count && *count < COMPANIONS_MAX; i++) {
        const char *end = memchr(reader.p, '\0', (size_t)(reader.end - reader.p));
        if (!end)
            return is_new;
        Companion *companion = &list[*count];
        *companion = (Companion){ .name = memory_string(reader.p) };
        companion->is_there = import_companion(companions, reader.p, &companion->file);
        ++*count;
        is_new = true;
        reader.p = end + 1;
    }
    return is_new;
}

// The file to be read and those that it names, as far as they are known.
typedef struct FileSet {
    char main_name[32];
    WorkerPart main_file;
    Companion companions[COMPANIONS_MAX];
    int count;
} FileSet;

// A small file that promises a billion vertices shall not take a minute to be found out.
static WorkerLimits limits_for(const WorkerPart *parts, int count)
{
    size_t bytes = 0;
    for (int i = 0; i < count; i++)
        bytes += parts[i].size;
    int64_t time_ms = SMALL_FILE_MS + (int64_t)(bytes >> 20) * MS_PER_MB;
    return (WorkerLimits){ .time_ms = time_ms < IMPORT_TIME_MS ? time_ms : IMPORT_TIME_MS };
}

static WorkerStatus call(Worker *worker, RequestHeader *header, const FileSet *set, WorkerAnswer *answer)
{
    assert(set->count >= 0 && set->count <= COMPANIONS_MAX);
    WorkerPart parts[1 + 3 * (COMPANIONS_MAX + 1)];
    FileHeader files[COMPANIONS_MAX + 1];
    int part_count = 0;
    header->file_count = (uint32_t)set->count + 1;
    parts[part_count++] = (WorkerPart){ header, sizeof *header };
    for (int i = 0; i <= set->count; i++) {
        const Companion *companion = i > 0 ? &set->companions[i - 1] : NULL;
        const char *name = companion ? companion->name : set->main_name;
        bool is_there = !companion || companion->is_there;
        WorkerPart data = companion ? (WorkerPart){ companion->file.data, companion->file.size } : set->main_file;
        files[i] = (FileHeader){ .name_size = (uint32_t)strlen(name) + 1,
                                 .data_size = is_there ? data.size : UINT64_MAX };
        parts[part_count++] = (WorkerPart){ &files[i], sizeof files[i] };
        parts[part_count++] = (WorkerPart){ name, files[i].name_size };
        if (is_there)
            parts[part_count++] = data;
    }
    assert(part_count <= COUNT_OF(parts));
    WorkerLimits limits = limits_for(parts, part_count);
    return worker_call_limited(worker, parts, part_count, &limits, answer);
}

// The worker reads no files. When it meets names of others it answers with these, gets them if the importing file
// may name them, and starts again: a few rounds are enough for materials that name textures.
bool import_by_worker(Worker *worker, const char *extension, WorkerPart file, MeshBuilder *builder,
                      const ImportCompanions *companions, char reason[256])
{
    assert_debug(extension && *extension && (file.data || file.size == 0));
    RequestHeader header = { .keep_axes = companions->options->keep_axes,
                             .vertex_limit = (uint64_t)builder->vertex_limit };
    snprintf(header.extension, sizeof header.extension, "%s", extension);
    FileSet set = { .main_file = file };
    snprintf(set.main_name, sizeof set.main_name, "model.%s", extension);
    bool ok = false;
    for (int round = 0; round < ROUNDS_MAX; round++) {
        WorkerAnswer answer;
        WorkerStatus status = call(worker, &header, &set, &answer);
        ReplyHeader reply = { 0 };
        if (status == WORKER_OK && answer.size >= sizeof reply)
            memcpy(&reply, answer.data, sizeof reply);
        if (status != WORKER_OK)
            snprintf(reason, 256, "%s", answer.message);
        else if (reply.kind == REPLY_MESH)
            ok = read_reply(&answer, builder);
        bool again = reply.kind == REPLY_WANTED && gather(&answer, companions, set.companions, &set.count);
        if (status == WORKER_OK && !ok && !again)
            snprintf(reason, 256, "%s",
                     reply.kind == REPLY_WANTED ? "it needs files that are not there"
                                                : "the mesh importer answered nonsense");
        free(answer.data);
        if (!again)
            break;
    }
    if (!ok && !*reason)
        snprintf(reason, 256, "it goes on asking for more files");
    for (int i = 0; i < set.count; i++) {
        if (set.companions[i].is_there)
            file_release(&set.companions[i].file);
        free(set.companions[i].name);
    }
    return ok;
}
