// limits.h - how large an input may be, in one table. Readers take a `const Limits *`; NULL means the defaults.
// `--untrusted` uses the lower set; `--limits NAME=VALUE,...` changes single ones. Each limit is tested at the limit
// and one past.
#ifndef TALUS_BASE_LIMITS_H
#define TALUS_BASE_LIMITS_H

#include "base/common.h"

#define LIMIT_NONE INT64_MAX

// name, default, untrusted, what it bounds
#define LIMITS(X)                                                                                                      \
    X(file_bytes, 512u << 20, 64u << 20, "size of an input file")                                                      \
    X(nesting, 4096, 1024, "depth of nested nodes or lists in a file")                                                 \
    X(proto_depth, 64, 64, "depth of PROTO instances inside PROTO instances")                                          \
    X(nodes, 10000000, 1000000, "nodes after expansion")                                                               \
    X(yaml_nodes, 10000000, 1000000, "YAML nodes that aliases may expand to")                                          \
    X(string_bytes, 1u << 20, 1u << 20, "length of one string")                                                        \
    X(array_items, 50000000, 5000000, "elements of one list")                                                          \
    X(mesh_vertices, 20000000, 2000000, "vertices of one mesh")                                                        \
    X(image_side, 16384, 16384, "width or height of an image")                                                         \
    X(sound_frames, 50000000, 5000000, "samples of one sound, per channel")                                            \
    X(bodies, 1000000, 1000000, "bodies of a world")                                                                   \
    X(contacts_per_pair, 64, 64, "contact points of one pair of shapes")                                               \
    X(pairs, 1000000, 250000, "pairs of shapes near each other, before bodies with many are thinned")                  \
    X(pairs_per_body, 128, 64, "neighbours that a body then keeps among others that have as many")                     \
    X(contacts, 250000, 100000, "contact points of a world, before bodies with many are thinned")                      \
    X(contacts_per_body, 64, 48, "contact points that a body then keeps with others that have as many")                \
    X(heightfield_cells, 64000000, 64000000, "cells of an elevation grid")                                             \
    X(template_ms, 5000, 2000, "processor time of one PROTO template")                                                 \
    X(template_bytes, 512u << 20, 256u << 20, "memory of the template worker")                                         \
    X(template_output_bytes, 64u << 20, 16u << 20, "text that one template may produce")                               \
    X(templates_ms, LIMIT_NONE, 20000, "processor time of all PROTO templates of a world")                             \
    X(imports_ms, LIMIT_NONE, 60000, "processor time of all mesh importers of a world")                                \
    X(message_bytes, 16u << 20, 16u << 20, "one message of a controller")                                              \
    X(load_ms, LIMIT_NONE, 120000, "processor time of the program `talus` until a world is loaded")                    \
    X(step_ms, LIMIT_NONE, 30000, "processor time of the program `talus` in one step")                                 \
    X(memory_bytes, LIMIT_NONE, (int64_t)6 << 30, "resident memory of the program `talus`")                            \
    X(output_bytes, LIMIT_NONE, (int64_t)4 << 30, "size of a file that the program `talus` writes")

typedef struct Limits {
#define LIMIT_MEMBER(name, normal, untrusted, help) int64_t name;
    LIMITS(LIMIT_MEMBER)
#undef LIMIT_MEMBER
    bool is_untrusted;  // files are also confined to their folders, and tell nothing of others
} Limits;

extern const Limits limits_default;
extern const Limits limits_untrusted;

// Changes limits as "step_ms=500,nodes=1000" says. False: *wrong and *length name the piece that is no limit with a
// number of 1 or more.
bool limits_change(Limits *limits, const char *changes, const char **wrong, int *length);

static inline const Limits *limits_or_default(const Limits *limits) { return limits ? limits : &limits_default; }

// Physical ranges that no world may leave.
#define LIMIT_COORDINATE 1e9      // m
#define LIMIT_SIZE_LOW 1e-9       // m, of what collides
#define LIMIT_MASS_LOW 1e-9       // kg
#define LIMIT_MASS_HIGH 1e12      // kg
#define LIMIT_TIME_STEP_LOW 1e-6  // s
#define LIMIT_TIME_STEP_HIGH 1.0  // s

#endif
