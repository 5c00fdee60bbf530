// schema.h - what node types there are and what fields they have: one table for reader, checker, upgrader, writer,
// manual pages, supervisor API and viewer. Immutable after the first use; shared by all worlds and threads.
// Not here: nodes of a world (scene.h), parsing of files (formats/).
//
// The family tree is chosen for whoever asks schema_type_is():
//   Group        Group, Billboard, TrackWheel, Pose and all below
//     Pose       Pose, Transform, Fluid, Solid and all below
//       Solid    Solid, Charger, Track, Robot, the devices that have a body (Camera, Connector ...), Servo of old files
//   Device       every device, those that are Solids included: it asks for NODE_DEVICE, not for a parent
//   Motor        RotationalMotor, LinearMotor
//   Joint        HingeJoint, Hinge2Joint, BallJoint, SliderJoint: all siblings, a Hinge2Joint is no HingeJoint
//   JointParameters  itself, HingeJointParameters, Hinge2JointParameters, BallJointParameters
//   Geometry, Light, AbstractAppearance (Appearance, PBRAppearance), Texture (ImageTexture and those of VRML97)
// Skin has a pose but is no Pose, since it has no children.
//
// To add a type, add its rows to the schema_*.c of its family: everything else follows.
#ifndef TALUS_SCENE_SCHEMA_H
#define TALUS_SCENE_SCHEMA_H

#include "base/common.h"
#include "base/vec.h"

typedef struct SceneNode SceneNode;

// The numbers are those of Webots' WbFieldType: a list kind is FIELD_MF plus the kind of its items.
typedef enum FieldKind {
    FIELD_NONE = 0,
    FIELD_SF_BOOL = 1,
    FIELD_SF_INT32,
    FIELD_SF_FLOAT,
    FIELD_SF_VEC2F,
    FIELD_SF_VEC3F,
    FIELD_SF_ROTATION,
    FIELD_SF_COLOR,
    FIELD_SF_STRING,
    FIELD_SF_NODE,
    FIELD_MF = 0x10,
    FIELD_MF_BOOL,
    FIELD_MF_INT32,
    FIELD_MF_FLOAT,
    FIELD_MF_VEC2F,
    FIELD_MF_VEC3F,
    FIELD_MF_ROTATION,
    FIELD_MF_COLOR,
    FIELD_MF_STRING,
    FIELD_MF_NODE,
} FieldKind;

static inline bool field_kind_is_list(FieldKind kind) { return (kind & FIELD_MF) != 0; }
static inline FieldKind field_kind_item(FieldKind kind) { return (FieldKind)(kind & ~FIELD_MF); }
int field_kind_doubles(FieldKind kind);       // numbers per item: 1 float, 2 vec2, 3 vec3/color, 4 rotation, else 0
const char *field_kind_name(FieldKind kind);  // "SFVec3f"
FieldKind field_kind_from_name(const char *name, size_t length);  // FIELD_NONE when unknown

// Items of a list field. `count` items; numbers of vector kinds are flat (count * field_kind_doubles).
// A list with capacity 0 is shared (a default, a PROTO's own) and copied before it is changed.
typedef struct FieldList {
    int count;
    int capacity;
    union {
        double *numbers;  // MFFloat, MFVec2f, MFVec3f, MFRotation, MFColor
        int32_t *ints;    // MFInt32
        bool *bools;      // MFBool
        const char **strings;
        SceneNode **nodes;
        void *items;
    };
} FieldList;

typedef union FieldValue {
    bool b;
    int32_t i;
    double f;
    double v[4];            // vec2, vec3, color, rotation (x y z angle)
    const char *s;          // never NULL
    SceneNode *node;        // NULL for the NULL node
    const FieldList *list;  // never NULL; an empty list has count 0
} FieldValue;

typedef enum FieldClass {
    FIELD_PLAIN,
    FIELD_HIDDEN,       // state that is saved and read but not shown
    FIELD_DEPRECATED,   // read, converted or ignored with a message, never saved
    FIELD_UNCONNECTED,  // PROTO parameters alone
} FieldClass;

// One field. Rows of the table give the first group; the rest is filled in when the schema is first used.
// `allowed`: for numbers a range ">0", ">=0", "!=0", "[0,1]", "-1|>=0"; for strings the words "a|b|c"; for nodes the
// types "Solid|SolidReference|Slot" (a type stands for its descendants too, but "=Group" for Group alone). Ranges may
// also be "(0,3.14]", "<=1" or a plain number, and alternatives are joined by '|'. They hold for each component of a
// vector and each item of a list; "!=0" of a vector means that it is not the zero vector. NULL: anything of the kind.
typedef struct FieldType {
    const char *name;
    FieldKind kind;
    const char *preset;  // the default as a file writes it: "0 0 1 0", "[]", "NULL", "\"solid\""
    const char *allowed;
    const char *unit;
    const char *help;
    FieldClass class;
    const char *since, *until;  // releases, e.g. "R2021b"; NULL: always. `until` is the last one that has it.

    FieldValue value;  // the default, parsed
    uint16_t index;    // place among the fields of its type
    const struct FieldType
        *older;  // the field of this name as old files have it, of another kind (a vector `gravity`);
                 // NULL when there is none. A reader tries it when the value is not of `kind`.
} FieldType;

// Whether the field may have these numbers, in a file and from whoever sets them: finite ones, and no place beyond any
// world. A translation may be anything that a file keeps: who places bodies and shapes looks at it again.
bool field_type_holds(const FieldType *type, const double *numbers, int count);

typedef enum NodeFlags {
    NODE_ABSTRACT = 1 << 0,  // never written in a file
    NODE_DEVICE = 1 << 1,    // reachable by name from the controller of its robot
    NODE_EXPERIMENTAL = 1 << 2,
    NODE_REMOVED =
        1 << 3,            // only in old files; the upgrader turns it into something newer, or Talus handles it itself.
                           // (`Joint` is both abstract and removed: V5 files write it.)
    NODE_VRML97 = 1 << 4,  // only in .wrl meshes
    NODE_TALUS = 1 << 5,   // an addition of ours
} NodeFlags;

typedef struct NodeType {
    const char *name;
    const char *parent_name;  // NULL at the top
    unsigned flags;
    const FieldType *own_fields;
    int own_field_count;
    const char *since, *until;
    const char *help;

    const struct NodeType *parent;
    FieldType *fields;  // own and inherited, in the order of the manual; an own row replaces an inherited one
    int field_count;
    int16_t *slots;  // hash table over fields
    int slot_mask;
    int index;  // place in the table, for counting
} NodeType;

int schema_type_count(void);
const NodeType *schema_type_at(int index);
const NodeType *schema_type(const char *name);  // NULL when unknown
const NodeType *schema_type_text(const char *name, size_t length);
const NodeType *schema_humanoid_type(const char *name, size_t length);  // "Joint" of an OpenHRP model; NULL: none
const char *schema_type_label(const NodeType *type);  // its name in files: "Joint" again for one of these
bool schema_type_is(const NodeType *type,
                    const char *ancestor);  // the type itself or below `ancestor`; NULL type: false
const FieldType *schema_field(const NodeType *type, const char *name);  // NULL when unknown
const FieldType *schema_field_text(const NodeType *type, const char *name, size_t length);

// Whether a number, word or node type is within `allowed` (NULL allows everything). For a number out of range *nearest
// (may be NULL) is the nearest legal one, or NaN when there is none because the bound itself is not legal.
bool schema_allows_number(const char *allowed, double value, double *nearest);
bool schema_allows_word(const char *allowed, const char *word);
bool schema_allows_type(const char *allowed, const NodeType *type);

// Releases compare as numbers: "V5.0" 5000, "V7.4.3" 7403, "R2021b rev1" 2021101, "R2025a" 2025000.
int schema_release(const char *text, size_t length);  // 0 when it is none
const char *schema_release_name(int release, char buffer[24]);

#endif
