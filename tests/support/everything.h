// everything.h - a world with something of everything, in motion and in sight, and other values for its fields: for
// tests that change all that can be changed.
#ifndef TALUS_SUPPORT_EVERYTHING_H
#define TALUS_SUPPORT_EVERYTHING_H

#include "scene/scene.h"

extern const char everything_text[];  // a whole file; nodes to be changed have DEF names
// Another value that the field allows; it lives until the next call. False where there is none to try.
bool everything_other_value(const FieldType *type, FieldValue *value);

#endif
