// supervisor_internal.h - shared by the supervisor's rooms: one call, what it may ask, and how it is answered.
// supervisor.c takes a question and sends it to its room: nodes and the world stay there, supervisor_fields.c reads and
// changes fields, supervisor_motion.c has where things are, how they move and what they touch.
#ifndef TALUS_CONTROL_SUPERVISOR_INTERNAL_H
#define TALUS_CONTROL_SUPERVISOR_INTERNAL_H

#include "control/control_internal.h"

typedef struct Call {
    Control *control;
    Controller *controller;
    const Record *record;
    FrameWriter *answer;
} Call;

Scene *call_scene(const Call *call);
Physics *call_physics(const Call *call);
int call_number(const Call *call, int index);       // -1 beyond the last
SceneNode *call_node(const Call *call, int index);  // the one whose id the number is, NULL when there is none any more

void answer_record(const Call *call, Record answer);  // its op and tag are those of the question
void answer_int(const Call *call, int32_t value);
void answer_doubles(const Call *call, const double *values, int count);
void answer_text(const Call *call, const char *text);
void answer_nothing(const Call *call);
void answer_failed(const Call *call, const char *why);

// The node that the file has, of a Pose that was put around it when the file was brought to today's axes.
const SceneNode *supervisor_seen(const SceneNode *node);
// What supervisors see of a node: the PROTO instance that stands for it, when one does. -1: none.
int32_t supervisor_outer_id(const SceneNode *node);
// Poses and positions live in the physics; the scene is brought up to date when somebody asks.
void supervisor_sync(Control *control);
void supervisor_sync_field(Control *control, const SceneNode *node, const char *field);  // enough to read this field

// ---- supervisor_fields.c ----
int field_types_shown(const NodeType *type);  // how many supervisors count: all but those of old files
const FieldType *field_type_find(const FieldType *fields, int count, int index, const char *name);
int field_reference(Control *control, SceneNode *node, const FieldType *type, bool is_read_only);
void call_node_field(const Call *call);
void call_field_info(const Call *call);
void call_field_get(const Call *call);
void call_field_set(const Call *call);
void call_field_insert(const Call *call);
void call_field_remove(const Call *call);
void call_field_import(const Call *call);
void call_field_actual(const Call *call);

// ---- supervisor_motion.c ----
void call_node_pose(const Call *call);
void call_node_velocity(const Call *call);
void call_node_set_velocity(const Call *call);
void call_node_force(const Call *call);
void call_node_center_of_mass(const Call *call);
void call_node_contacts(const Call *call);
void call_node_balance(const Call *call);
void call_node_reset_physics(const Call *call);
void call_node_joint_position(const Call *call);
void call_node_viewpoint(const Call *call);

// ---- supervisor_state.c ----
void call_node_state(const Call *call);
void supervisor_forget_states(Control *control);

#endif
