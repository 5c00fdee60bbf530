// supervisor_nodes.c - what supervisors ask about nodes and do to them: who they are, where, how they move, what they
// touch.
#include "supervisor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct WbNodeStructPrivate {
    int id;
    char *type_name, *base_name, *def, *export;
    double position[3], orientation[9], pose[16], center[3], velocity[6];
    WbContactPoint *contacts;
    int contact_count;
    double contact[3];
};

static References nodes;

static void free_node(void *record)
{
    WbNodeRef node = record;
    assert(node->id >= 0);
    free(node->type_name);
    free(node->base_name);
    free(node->def);
    free(node->export);
    free(node->contacts);
    free(node);
}

void supervisor_free_nodes(void) { references_free(&nodes, free_node); }

WbNodeRef node_ref(int id)
{
    if (id < 0)
        return NULL;
    WbNodeRef node = references_get(&nodes, id);
    assert_debug(!node || node->id == id);
    if (node)
        return node;
    node = calloc(1, sizeof *node);
    node->id = id;
    references_put(&nodes, id, node);
    return node;
}

int node_id(WbNodeRef node) { return node->id; }

static WbNodeRef node_from(const char *who, int how, int number, const char *def)
{
    assert_debug(how >= 0 && how <= 6);
    return node_ref(ask_int(who, &(Ask){ OP_NODE_FROM, { how, number }, 2, NULL, 0, def }, -1));
}

WbNodeRef wb_supervisor_node_get_root(void) { return node_from(__func__, 0, 0, NULL); }

WbNodeRef wb_supervisor_node_get_self(void) { return node_from(__func__, 1, 0, NULL); }

WbNodeRef wb_supervisor_node_get_from_id(int id) { return id < 0 ? NULL : node_from(__func__, 2, id, NULL); }

WbNodeRef wb_supervisor_node_get_from_def(const char *def)
{
    return def && *def ? node_from(__func__, 3, 0, def) : NULL;
}

WbNodeRef wb_supervisor_node_get_from_device(WbDeviceTag tag) { return node_from(__func__, 4, tag, NULL); }

WbNodeRef wb_supervisor_node_get_selected(void) { return node_from(__func__, 5, 0, NULL); }

WbNodeRef wb_supervisor_node_get_from_proto_def(WbNodeRef node, const char *def)
{
    return node_is_good(node, __func__) && def ? node_from(__func__, 6, node->id, def) : NULL;
}

int wb_supervisor_node_get_id(WbNodeRef node)
{
    // A node that was taken out, or a PROTO made anew without it, has none any more.
    return may_ask(__func__) && node
                   && (node->id == 0
                       || ask_int(__func__, &(Ask){ OP_NODE_FROM, { 2, node->id }, 2, NULL, 0, NULL }, -1) >= 0)
               ? node->id
               : -1;
}

typedef struct NodeInfo {
    int type, parent, is_proto, fields, base_fields;
} NodeInfo;

static void replace(char **text, const char *value)
{
    assert_debug(text && value);
    if (*text && !strcmp(*text, value))
        return;
    free(*text);
    *text = strdup(value);
}

static NodeInfo node_info(const char *who, WbNodeRef node)
{
    NodeInfo info = { WB_NODE_NO_NODE, -1, 0, -1, -1 };
    Record answer;
    if (!node_is_good(node, who) || !ask(who, &(Ask){ OP_NODE_INFO, { node->id }, 1, NULL, 0, NULL }, &answer)
        || answer.int_count < 5)
        return info;
    info = (NodeInfo){ answer.ints[0], answer.ints[1], answer.ints[2], answer.ints[3], answer.ints[4] };
    const char *end = answer.bytes + answer.byte_count, *place = answer.bytes;
    char **texts[3] = { &node->type_name, &node->base_name, &node->def };
    for (int i = 0; i < 3 && place < end; i++) {
        replace(texts[i], place);
        place += strlen(place) + 1;
    }
    return info;
}

WbNodeRef wb_supervisor_node_get_parent_node(WbNodeRef node) { return node_ref(node_info(__func__, node).parent); }

WbNodeType wb_supervisor_node_get_type(WbNodeRef node) { return (WbNodeType)node_info(__func__, node).type; }

const char *wb_supervisor_node_get_type_name(WbNodeRef node)
{
    return node_info(__func__, node).fields < 0 ? "" : node->type_name;
}

const char *wb_supervisor_node_get_base_type_name(WbNodeRef node)
{
    return node_info(__func__, node).fields < 0 ? "" : node->base_name;
}

const char *wb_supervisor_node_get_def(WbNodeRef node)
{
    return node_info(__func__, node).fields < 0 || !node->def ? "" : node->def;
}

bool wb_supervisor_node_is_proto(WbNodeRef node) { return node_info(__func__, node).is_proto == 1; }

int wb_supervisor_node_get_number_of_fields(WbNodeRef node) { return node_info(__func__, node).fields; }

int wb_supervisor_node_get_number_of_base_node_fields(WbNodeRef node)
{
    NodeInfo info = node_info(__func__, node);
    return info.is_proto ? info.base_fields : -1;
}

int wb_supervisor_node_get_proto_number_of_fields(WbNodeRef node)
{
    return wb_supervisor_node_get_number_of_base_node_fields(node);
}

// ---- following ----

void wb_supervisor_node_enable_pose_tracking(WbNodeRef node, int sampling_period, WbNodeRef from_node)
{
    if (node_is_good(node, __func__) && period_is_good(sampling_period, __func__))
        follow(__func__, 0, node->id, sampling_period, from_node ? from_node->id : -1);
}

void wb_supervisor_node_disable_pose_tracking(WbNodeRef node, WbNodeRef from_node)
{
    if (node_is_good(node, __func__))
        follow(__func__, 0, node->id, 0, from_node ? from_node->id : -1);
}

void wb_supervisor_node_enable_contact_points_tracking(WbNodeRef node, int sampling_period, bool include_descendants)
{
    if (node_is_good(node, __func__) && period_is_good(sampling_period, __func__))
        follow(__func__, 1, node->id, sampling_period, include_descendants);
}

void wb_supervisor_node_disable_contact_points_tracking(WbNodeRef node)
{
    if (node_is_good(node, __func__)) {
        follow(__func__, 1, node->id, 0, 0);
        follow(__func__, 1, node->id, 0, 1);
    }
}

void wb_supervisor_node_enable_contact_point_tracking(WbNodeRef node, int sampling_period, bool include_descendants)
{
    wb_supervisor_node_enable_contact_points_tracking(node, sampling_period, include_descendants);
}

void wb_supervisor_node_disable_contact_point_tracking(WbNodeRef node, bool include_descendants)
{
    (void)include_descendants;
    wb_supervisor_node_disable_contact_points_tracking(node);
}

// ---- where nodes are and how they move ----

static const double *numbers_of(const char *who, const Ask *question, double *place, int count)
{
    assert(place && count > 0);
    Record answer;
    for (int i = 0; i < count; i++)
        place[i] = NAN;
    if (ask(who, question, &answer) && answer.double_count >= count)
        memcpy(place, answer.doubles, (size_t)count * sizeof(double));
    return place;
}

static const double *pose_of(const char *who, WbNodeRef node, WbNodeRef from)
{
    assert_debug(node);
    return numbers_of(who, &(Ask){ OP_NODE_POSE, { node->id, from ? from->id : -1 }, 2, NULL, 0, NULL }, node->pose,
                      16);
}

const double *wb_supervisor_node_get_pose(WbNodeRef node, WbNodeRef from_node)
{
    return node_is_good(node, __func__) ? pose_of(__func__, node, from_node) : NULL;
}

const double *wb_supervisor_node_get_position(WbNodeRef node)
{
    if (!node_is_good(node, __func__))
        return NULL;
    const double *pose = pose_of(__func__, node, NULL);
    for (int i = 0; i < 3; i++)
        node->position[i] = pose[4 * i + 3];
    return node->position;
}

const double *wb_supervisor_node_get_orientation(WbNodeRef node)
{
    if (!node_is_good(node, __func__))
        return NULL;
    const double *pose = pose_of(__func__, node, NULL);
    for (int i = 0; i < 9; i++)
        node->orientation[i] = pose[4 * (i / 3) + i % 3];
    return node->orientation;
}

const double *wb_supervisor_node_get_center_of_mass(WbNodeRef node)
{
    return node_is_good(node, __func__)
               ? numbers_of(__func__, &(Ask){ OP_NODE_CENTER_OF_MASS, { node->id }, 1, NULL, 0, NULL }, node->center, 3)
               : NULL;
}

const double *wb_supervisor_node_get_velocity(WbNodeRef node)
{
    return node_is_good(node, __func__)
               ? numbers_of(__func__, &(Ask){ OP_NODE_VELOCITY, { node->id }, 1, NULL, 0, NULL }, node->velocity, 6)
               : NULL;
}

void wb_supervisor_node_set_velocity(WbNodeRef node, const double velocity[6])
{
    if (node_is_good(node, __func__) && numbers_are_good(velocity, __func__))
        ask(__func__, &(Ask){ OP_NODE_SET_VELOCITY, { node->id }, 1, velocity, 6, NULL }, NULL);
}

bool wb_supervisor_node_get_static_balance(WbNodeRef node)
{
    return node_is_good(node, __func__)
           && ask_int(__func__, &(Ask){ OP_NODE_BALANCE, { node->id }, 1, NULL, 0, NULL }, 0) == 1;
}

void wb_supervisor_node_reset_physics(WbNodeRef node)
{
    if (node_is_good(node, __func__))
        ask(__func__, &(Ask){ OP_NODE_RESET_PHYSICS, { node->id }, 1, NULL, 0, NULL }, NULL);
}

void wb_supervisor_node_restart_controller(WbNodeRef node)
{
    if (node_is_good(node, __func__))
        ask(__func__, &(Ask){ OP_NODE_RESTART, { node->id }, 1, NULL, 0, NULL }, NULL);
}

void wb_supervisor_node_remove(WbNodeRef node)
{
    if (node_is_good(node, __func__))
        ask(__func__, &(Ask){ OP_NODE_REMOVE, { node->id }, 1, NULL, 0, NULL }, NULL);
}

void wb_supervisor_node_save_state(WbNodeRef node, const char *state_name)
{
    if (node_is_good(node, __func__))
        ask(__func__, &(Ask){ OP_NODE_STATE, { node->id, 0 }, 2, NULL, 0, state_name }, NULL);
}

void wb_supervisor_node_load_state(WbNodeRef node, const char *state_name)
{
    if (node_is_good(node, __func__))
        ask(__func__, &(Ask){ OP_NODE_STATE, { node->id, 1 }, 2, NULL, 0, state_name }, NULL);
}

void wb_supervisor_node_set_joint_position(WbNodeRef node, double position, int index)
{
    if (node_is_good(node, __func__))
        ask(__func__, &(Ask){ OP_NODE_JOINT_POSITION, { node->id, index }, 2, &position, 1, NULL }, NULL);
}

const char *wb_supervisor_node_export_string(WbNodeRef node)
{
    Record answer;
    if (!node_is_good(node, __func__)
        || !ask(__func__, &(Ask){ OP_NODE_EXPORT, { node->id }, 1, NULL, 0, NULL }, &answer))
        return "";
    free(node->export);
    node->export = strndup(answer.bytes, (size_t)answer.byte_count);
    return node->export;
}

void wb_supervisor_node_move_viewpoint(WbNodeRef node)
{
    if (node_is_good(node, __func__))
        ask(__func__, &(Ask){ OP_NODE_VIEWPOINT, { node->id }, 1, NULL, 0, NULL }, NULL);
}

void wb_supervisor_node_set_visibility(WbNodeRef node, WbNodeRef from, bool visible)
{
    if (node_is_good(node, __func__) && node_is_good(from, __func__))
        ask(__func__, &(Ask){ OP_NODE_VISIBILITY, { node->id, from->id, visible }, 3, NULL, 0, NULL }, NULL);
}

void wb_supervisor_node_add_force(WbNodeRef node, const double force[3], bool relative)
{
    if (node_is_good(node, __func__) && numbers_are_good(force, __func__))
        ask(__func__, &(Ask){ OP_NODE_FORCE, { node->id, 0, relative }, 3, force, 3, NULL }, NULL);
}

void wb_supervisor_node_add_force_with_offset(WbNodeRef node, const double force[3], const double offset[3],
                                              bool relative)
{
    if (!node_is_good(node, __func__) || !numbers_are_good(force, __func__) || !numbers_are_good(offset, __func__))
        return;
    double numbers[6] = { force[0], force[1], force[2], offset[0], offset[1], offset[2] };
    ask(__func__, &(Ask){ OP_NODE_FORCE, { node->id, 1, relative }, 3, numbers, 6, NULL }, NULL);
}

void wb_supervisor_node_add_torque(WbNodeRef node, const double torque[3], bool relative)
{
    if (node_is_good(node, __func__) && numbers_are_good(torque, __func__))
        ask(__func__, &(Ask){ OP_NODE_FORCE, { node->id, 2, relative }, 3, torque, 3, NULL }, NULL);
}

// ---- contacts ----

WbContactPoint *wb_supervisor_node_get_contact_points(WbNodeRef node, bool include_descendants, int *size)
{
    Record answer;
    if (size)
        *size = 0;
    if (!node_is_good(node, __func__)
        || !ask(__func__, &(Ask){ OP_NODE_CONTACTS, { node->id, include_descendants }, 2, NULL, 0, NULL }, &answer))
        return NULL;
    int count = answer.double_count / 3 < answer.int_count ? answer.double_count / 3 : answer.int_count;
    node->contacts = realloc(node->contacts, (size_t)(count + 1) * sizeof *node->contacts);
    for (int i = 0; i < count; i++) {
        memcpy(node->contacts[i].point, answer.doubles + 3 * i, sizeof node->contacts[i].point);
        node->contacts[i].node_id = answer.ints[i];
    }
    node->contact_count = count;
    if (size)
        *size = count;
    return node->contacts;
}

int wb_supervisor_node_get_number_of_contact_points(WbNodeRef node, bool include_descendants)
{
    int count;
    wb_supervisor_node_get_contact_points(node, include_descendants, &count);
    return count;
}

const double *wb_supervisor_node_get_contact_point(WbNodeRef node, int index)
{
    static const double none[3] = { NAN, NAN, NAN };
    return node_is_good(node, __func__) && index >= 0 && index < node->contact_count ? node->contacts[index].point
                                                                                     : none;
}

WbNodeRef wb_supervisor_node_get_contact_point_node(WbNodeRef node, int index)
{
    return node_is_good(node, __func__) && index >= 0 && index < node->contact_count
               ? node_ref(node->contacts[index].node_id)
               : NULL;
}
