// schema_effects.h - what a change of a field takes effect on while the world runs: one table beside the schema, with a
// row for every field that today's files have.
#ifndef TALUS_SCENE_SCHEMA_EFFECTS_H
#define TALUS_SCENE_SCHEMA_EFFECTS_H

#include "scene/schema.h"

typedef enum FieldEffect {
    FIELD_ACTS_ON_PHYSICS = 1 << 0,     // bodies, joints, contacts, fluids
    FIELD_ACTS_ON_SIGHT = 1 << 1,       // pictures, and whatever rays see
    FIELD_ACTS_ON_DEVICES = 1 << 2,     // what devices measure and do
    FIELD_ACTS_ON_CONTROLLER = 1 << 3,  // the program of a robot, which sees it or takes it up when it starts
    FIELD_ACTS_ON_NOTHING = 1 << 4,     // kept for who reads it
    FIELD_ACTS_AT_LOAD = 1 << 5,        // taken up when the world is loaded, not before
} FieldEffect;

// FieldEffect flags of a field of a node type; 0: no row tells (a parameter of a PROTO).
unsigned schema_effects(const NodeType *type, const FieldType *field);

// The rows, for the test that none is about something that is not there.
int schema_effect_row_count(void);
const char *schema_effect_row(int index, const char **fields);  // its type

#endif
