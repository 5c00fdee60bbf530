// upgrade_internal.h - how files of old releases are brought to the newest schema. For upgrade*.c alone.
//
// The passes, in their order (upgrade.c):
//   upgrade_rename.c   fields and types that only changed their name or their form (table rows)
//   upgrade_physics.c  Webots 5 and 6: centre of mass, inertia, contact fields of Physics, quads that are planes
//   upgrade_robots.c   Servo, DifferentialWheels
//   upgrade_axes.c     the change of axes in R2022a
//   upgrade_scale.c    scale of Solids and of what holds Solids becomes part of the sizes
// and at last Transform without scale becomes Pose, whatever the release.
//
// In the definition of a PROTO a field may be connected to a parameter; its value is then unknown and such fields are
// renamed but never computed with. Where that loses something it is reported.
#ifndef TALUS_FORMATS_UPGRADE_INTERNAL_H
#define TALUS_FORMATS_UPGRADE_INTERNAL_H

#include "formats/formats_internal.h"

enum {
    RELEASE_V6 = 6000,
    RELEASE_V7 = 7000,
    RELEASE_V7_4 = 7400,
    RELEASE_R2019A = 2019000,
    RELEASE_R2020A = 2020000,
    RELEASE_R2020B = 2020100,
    RELEASE_R2022A = 2022000,
    RELEASE_R2023B = 2023100,
};

typedef struct Upgrade {
    Scene *scene;
    DiagSink *diags;
    int release;
    SceneNode *top;
    SceneNode **nodes;  // everything to upgrade, in file order: plain nodes, USE nodes, instances (not their trees)
    int count, capacity;
} Upgrade;

// Gathers the nodes anew; a pass that adds nodes does not see its own additions.
void upgrade_collect(Upgrade *upgrade);

void upgrade_rename(Upgrade *upgrade);
// Arguments that old files give as one string become a list. With an instance: those that come from a parameter of it.
void upgrade_arguments(Upgrade *upgrade, SceneNode *node, const SceneNode *instance);
void upgrade_physics(Upgrade *upgrade);
void upgrade_robots(Upgrade *upgrade);
void upgrade_axes(Upgrade *upgrade);
void upgrade_scale(Upgrade *upgrade);
void upgrade_contacts(Upgrade *upgrade);  // for the whole world, after everything else

// By its WorldInfo, and by the release where that is silent or there is none.
bool upgrade_is_z_up(const Upgrade *upgrade, const SceneNode *world_info);

// Fields of exactly this node
SceneField *upgrade_own(const SceneNode *node, const char *name);  // NULL when not set
bool upgrade_is_connected(const SceneNode *node, const char *name);
void upgrade_drop(SceneNode *node, SceneField *field);
void upgrade_drop_named(SceneNode *node, const char *name);  // nothing happens when it is not set
// Moves the field, with its connection, to a field of the same kind of another node (or the same).
void upgrade_move(Upgrade *upgrade, SceneNode *from, const char *name, SceneNode *to, const char *new_name);
void upgrade_set_type(SceneNode *node, const char *type_name);  // fields that the new type lacks are dropped

// Nodes
bool upgrade_is_plain(const SceneNode *node, const char *type_name);  // a plain node of exactly this type
bool upgrade_is_pose_only(const SceneNode *node);                     // a plain Pose or Transform
// The actual node in an SFNode field when it is of this type, else NULL. (Nothing has been checked yet: anything may be
// there.)
SceneNode *upgrade_child(const SceneNode *node, const char *field, const char *type_name);
SceneNode *upgrade_make(Upgrade *upgrade, const char *type_name, SourcePos pos);
// The contents of `node` move to a new node, which is returned; `node` stays where it is, keeps its DEF name, and
// becomes an empty node of the given type. Every USE of it now repeats that.
SceneNode *upgrade_split(Upgrade *upgrade, SceneNode *node, const char *type_name);
// Puts `other` where `node` is held. Returns false when it is not found in its holder.
bool upgrade_replace(SceneNode *node, SceneNode *other);
// Puts a new Pose or Transform where `node` is held, with the node as its only child.
SceneNode *upgrade_wrap(Upgrade *upgrade, SceneNode *node, const char *type_name);
void upgrade_add_child(Upgrade *upgrade, SceneNode *node, const char *field, SceneNode *child);
SceneNode *upgrade_copy(Upgrade *upgrade, const SceneNode *node);  // a deep copy that shares no DEF name
// The plain node of this type in an SFNode field; in place of a USE it becomes a copy of its own. NULL when there is
// none.
SceneNode *upgrade_own_child(Upgrade *upgrade, SceneNode *node, const char *field, const char *type_name);

// Values
Rotation upgrade_tidy(Quat q);  // without the rounding noise of quarter turns
Vec3 upgrade_tidy_vector(Vec3 v);
Mat3 upgrade_matrix(Quat q);  // of a turn by quarters, exactly
Quat upgrade_quarter_x(int quarters);
Quat upgrade_quarter_z(int quarters);
#define UPGRADE_QUARTER 1.5707963267948966

// Messages
void upgrade_note(Upgrade *upgrade, const SceneNode *node, SourcePos pos, const char *format, ...) PRINTF_LIKE(4, 5);
void upgrade_warning(Upgrade *upgrade, const SceneNode *node, SourcePos pos, const char *format, ...) PRINTF_LIKE(4, 5);

#endif
