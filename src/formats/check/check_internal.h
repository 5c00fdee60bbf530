// check_internal.h - the parts of formats_check(). For check*.c alone.
//
//   check.c          goes through the scene and knows where each node stands: which positions are allowed
//   check_bounding.c what may stand in a boundingObject
//   check_rules.c    rules about the values of one node, by its type (table)
//   check_names.c    names that must be unique
//
// A value that nobody can work with is mended on the spot, and the message says how. A node that must not be where it
// is becomes an unknown node: it is kept for saving and ignored by everyone else.
#ifndef TALUS_FORMATS_CHECK_INTERNAL_H
#define TALUS_FORMATS_CHECK_INTERNAL_H

#include "formats/formats_internal.h"

typedef struct NameEntry {
    uint32_t holder;  // id of the solid, or of the robot, in which the name must be unique
    bool is_device;
    const char *name;
    const SceneNode *node;
} NameEntry;

typedef struct Check {
    Scene *scene;
    DiagSink *diags;
    NameEntry *names;
    int name_count, name_capacity;
    int references;  // SolidReferences looked up so far
    uint8_t *seen;   // a bit for each node of a whole scene: checked already; NULL: the scene was checked before
    int seen_capacity;
    int64_t copied;  // nodes made by copying what USE must not repeat
} Check;

// Where a node stands.
typedef struct Place {
    SceneNode *holder;  // plain node whose field holds it
    const FieldType *field;
    SceneNode *solid;         // nearest Solid above, NULL: none
    SceneNode *robot;         // nearest Robot above
    bool in_bounding;         // somewhere in a boundingObject
    const SceneNode *scaled;  // nearest Transform with scale above, below the nearest Solid
} Place;

void check_error(Check *check, const SceneNode *node, SourcePos pos, const char *format, ...) PRINTF_LIKE(4, 5);
void check_warning(Check *check, const SceneNode *node, SourcePos pos, const char *format, ...) PRINTF_LIKE(4, 5);

// Puts `node`, held in `field` of `holder`, aside: kept for saving, ignored otherwise.
void check_forbid(Check *check, SceneNode *holder, const FieldType *field, SceneNode *node);

void check_bounding(Check *check, SceneNode *solid);  // of a Solid or Fluid
// A node that comes into the boundingObject of `solid` (NULL: of a Fluid). False when it must not stand there.
bool check_bounding_item(Check *check, SceneNode *node, SceneNode *solid);
void check_rules(Check *check, SceneNode *node, const Place *place);

void check_names_add(Check *check, const SceneNode *node, const Place *place);
void check_names_report(Check *check);

#endif
