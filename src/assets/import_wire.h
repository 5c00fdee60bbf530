// import_wire.h - what is said between the parent and the worker that reads meshes by assimp. For assets/import_*.c
// alone.
#ifndef TALUS_ASSETS_IMPORT_WIRE_H
#define TALUS_ASSETS_IMPORT_WIRE_H

#include <stdint.h>

enum {
    COMPANIONS_MAX = 64,  // files that a mesh file may name
    IMPORT_TIME_MS = 60000,
};

// ---- the request: a header, then each file as name and bytes ----

typedef struct RequestHeader {
    uint32_t file_count;
    uint32_t keep_axes;
    uint64_t vertex_limit;
    char extension[16];
} RequestHeader;

typedef struct FileHeader {
    uint32_t name_size;  // with its NUL
    uint32_t padding;
    uint64_t data_size;
} FileHeader;

// ---- the answer: a header, materials, parts; or the names of files that are wanted ----

typedef enum ReplyKind { REPLY_MESH = 1, REPLY_WANTED = 2 } ReplyKind;

typedef struct ReplyHeader {
    uint32_t kind;
    uint32_t count;  // of wanted names, or of materials; parts follow to the end
} ReplyHeader;

typedef struct ReplyMaterial {
    float diffuse[3], specular[3], emissive[3];
    float shininess, transparency;
    uint32_t name_size, texture_size;  // with their NUL
} ReplyMaterial;

// After the materials: how many bones, then each with its name.
typedef struct ReplyBone {
    float matrix[12];  // from its frame into that of the mesh, three rows of four
    int32_t parent;
    uint32_t name_size;
} ReplyBone;

typedef struct ReplyPart {
    uint32_t vertex_count, triangle_count, name_size;
    int32_t material;
    uint32_t has_normals, has_texcoords, has_bones;
} ReplyPart;

#endif
