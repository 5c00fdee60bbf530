// any_node.h - text of any node that the schema knows, below any field, with any values: what its author chooses, bytes
// or a generator of random numbers. For tests that must hold for all worlds, not for those that someone thought of.
#ifndef TALUS_SUPPORT_ANY_NODE_H
#define TALUS_SUPPORT_ANY_NODE_H

#include "base/text.h"
#include "scene/schema.h"

typedef struct AnyNode {
    int (*choose)(void *context, int count);  // 0 to count - 1
    void *context;
    size_t length_max;  // of the whole text; beyond it nodes stay empty
    bool is_old;        // also what only old releases have
} AnyNode;

bool any_node_is_written(const NodeType *type);  // whether worlds of today have nodes of this type
// A node of the type, or with NULL of one that the field holds (now and then of one that it does not).
void any_node_add(Text *text, const AnyNode *any, const NodeType *type, const FieldType *field);

#endif
