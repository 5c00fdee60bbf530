// Weak stand-ins so that everything links until the node tables are there; a strong definition replaces each.
#include "scene/schema.h"

#define WEAK __attribute__((weak))

WEAK int field_kind_doubles(FieldKind kind)
{
    static const int doubles[] = { [FIELD_SF_FLOAT] = 1, [FIELD_SF_VEC2F] = 2, [FIELD_SF_VEC3F] = 3,
                                   [FIELD_SF_ROTATION] = 4, [FIELD_SF_COLOR] = 3, [FIELD_SF_NODE] = 0 };
    return doubles[field_kind_item(kind)];
}
WEAK const NodeType *schema_type(const char *name) { (void)name; return NULL; }
WEAK bool schema_type_is(const NodeType *type, const char *ancestor) { (void)type; (void)ancestor; return false; }
WEAK const FieldType *schema_field(const NodeType *type, const char *name) { (void)type; (void)name; return NULL; }
