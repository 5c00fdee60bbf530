// schema_internal.h - how the rows of schema_*.c are written, for the scene folder alone.
#ifndef TALUS_SCENE_SCHEMA_INTERNAL_H
#define TALUS_SCENE_SCHEMA_INTERNAL_H

#include "assets/geometry.h"
#include "scene/schema.h"

typedef struct SchemaFamily {
    const NodeType *types;
    int count;
} SchemaFamily;

extern const SchemaFamily schema_world, schema_solids, schema_geometry, schema_appearance, schema_joints,
    schema_devices, schema_lights, schema_old, schema_vrml97, schema_humanoid, schema_talus;

// clang-format off
// A field: name, kind without FIELD_, default, allowed, unit, help.
#define FIELD(name, kind, preset, allowed, unit, help) { name, FIELD_##kind, preset, allowed, unit, help, FIELD_PLAIN, NULL, NULL }
// The same with the first release that has it.
#define FIELD_SINCE(name, kind, preset, allowed, unit, help, since) \
    { name, FIELD_##kind, preset, allowed, unit, help, FIELD_PLAIN, since, NULL }
#define STATE(name, kind, preset, unit, help) { name, FIELD_##kind, preset, NULL, unit, help, FIELD_HIDDEN, NULL, NULL }
// A field of old files: name, kind, default, help, last release that has it. After a plain row of the same name it is
// that row's `older`.
#define OLD(name, kind, preset, help, until) { name, FIELD_##kind, preset, NULL, NULL, help, FIELD_DEPRECATED, NULL, until }
// Marks that change what is inherited: an inherited field takes its place here; an inherited field is not in this type.
#define HERE(name) { name, FIELD_NONE, "here" }
#define WITHOUT(name) { name, FIELD_NONE, "without" }
#define DEVICE_NAME(name) FIELD("name", SF_STRING, "\"" name "\"", NULL, NULL, "name by which a controller finds it")

#define TYPE(name, parent, flags, rows, help) { name, parent, flags, rows, COUNT_OF(rows), NULL, NULL, help }
#define TYPE_SINCE(name, parent, flags, rows, since, help) { name, parent, flags, rows, COUNT_OF(rows), since, NULL, help }
#define TYPE_UNTIL(name, parent, flags, rows, until, help) { name, parent, flags, rows, COUNT_OF(rows), NULL, until, help }
#define TYPE_EMPTY(name, parent, flags, help) { name, parent, flags, NULL, 0, NULL, NULL, help }
#define FAMILY(name, rows) const SchemaFamily name = { rows, COUNT_OF(rows) }
// clang-format on

// Node types that several fields allow.
#define ALLOWED_CHILDREN "Group|Shape|CadShape|Joint|Light|Propeller|Slot|Skin|BodyExtra|Body"
#define ALLOWED_BOUNDING GEOMETRY_COLLIDING "|Shape|=Group|=Pose|=Transform"
#define ALLOWED_END_POINT "Solid|SolidReference|Slot"

#endif
