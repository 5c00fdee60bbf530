// supervisor.c - what supervisors ask about the world and do to it. Every function is one question over the connection;
// references are small records of ours that live until the end, so a pointer once given stays good.
#include "core.h"

#include <webots/supervisor.h>

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct WbNodeStructPrivate {
    int id;
    char *type_name, *base_name, *def, *export;
    double position[3], orientation[9], pose[16], center[3], velocity[6];
    WbContactPoint *contacts;
    int contact_count;
    double contact[3];
    WbNodeRef next;
};

// What a getter gave a pointer to. Every item of a list has its own, so that two of them can be held at once.
typedef struct FieldItem {
    double numbers[4];
    char *string;
} FieldItem;

struct WbFieldStructPrivate {
    int id;
    char *name;
    WbFieldType type;
    bool is_read_only;
    FieldItem **items[2];    // by index from the front, and from the end
    int item_counts[2];
    double set_time;         // when a rotation was last set: until the next step it reads as it was given
    bool was_set;
    WbFieldRef next;
};

struct WbProtoInfoStructPrivate {
    int node, depth;
    char *name;
    bool is_derived;
    int field_count;
    WbProtoRef next;
};

static WbNodeRef nodes;
static WbFieldRef fields;
static WbProtoRef protos;

void supervisor_cleanup(void);
void supervisor_cleanup(void)
{
    while (nodes) {
        WbNodeRef next = nodes->next;
        free(nodes->type_name);
        free(nodes->base_name);
        free(nodes->def);
        free(nodes->export);
        free(nodes->contacts);
        free(nodes);
        nodes = next;
    }
    while (fields) {
        WbFieldRef next = fields->next;
        free(fields->name);
        for (int side = 0; side < 2; side++) {
            for (int i = 0; i < fields->item_counts[side]; i++) {
                if (fields->items[side][i])
                    free(fields->items[side][i]->string);
                free(fields->items[side][i]);
            }
            free(fields->items[side]);
        }
        free(fields);
        fields = next;
    }
    while (protos) {
        WbProtoRef next = protos->next;
        free(protos->name);
        free(protos);
        protos = next;
    }
}

// ---- asking ----

static bool may_ask(const char *who)
{
    if (core.supervisor)
        return true;
    core_warn(who, "this function can only be used by a supervisor: set the robot's field \"supervisor\" to TRUE");
    return false;
}

typedef struct Ask {
    uint16_t op;
    int32_t ints[8];
    int int_count;
    const double *doubles;
    int double_count;
    const char *bytes;
} Ask;

static bool ask(const char *who, const Ask *question, Record *answer)
{
    static Record unused;
    if (!may_ask(who))
        return false;
    const char *bytes = question->bytes ? question->bytes : "";
    return core_call(&(Record){ .op = question->op, .int_count = question->int_count, .ints = question->ints, .double_count = question->double_count,
                                .doubles = question->doubles, .byte_count = (int)strlen(bytes), .bytes = bytes }, answer ? answer : &unused, who);
}

static int ask_int(const char *who, const Ask *question, int otherwise)
{
    Record answer;
    return ask(who, question, &answer) && answer.int_count > 0 ? answer.ints[0] : otherwise;
}

static bool node_is_good(WbNodeRef node, const char *who)
{
    if (node)
        return true;
    if (may_ask(who))
        core_warn(who, "called with a NULL node");
    return false;
}

static bool numbers_are_good(const double *numbers, const char *who)
{
    if (!numbers)
        core_warn(who, "called with NULL values");
    return numbers != NULL;
}

static WbNodeRef node_ref(int id)
{
    if (id < 0)
        return NULL;
    for (WbNodeRef node = nodes; node; node = node->next)
        if (node->id == id)
            return node;
    WbNodeRef node = calloc(1, sizeof *node);
    node->id = id;
    node->next = nodes;
    nodes = node;
    return node;
}

// ---- world ----

static bool order_world(const char *who, int what, int status, const char *file)
{
    // A relative path is one from the controller's folder; the simulator runs elsewhere.
    char path[8192], folder[4096];
    bool is_relative = file && *file && *file != '/' && getcwd(folder, sizeof folder);
    if (is_relative) {
        snprintf(path, sizeof path, "%s/%s", folder, file);
        if (what == 4 || access(path, R_OK) == 0)
            file = path;
    }
    return ask_int(who, &(Ask){ OP_WORLD, { what, status }, 2, NULL, 0, file }, 0) == 1;
}

void wb_supervisor_simulation_reset(void)
{
    order_world(__func__, 0, 0, NULL);
}

void wb_supervisor_world_reload(void)
{
    order_world(__func__, 1, 0, NULL);
}

void wb_supervisor_simulation_revert(void)
{
    order_world(__func__, 1, 0, NULL);
}

void wb_supervisor_simulation_reset_physics(void)
{
    order_world(__func__, 2, 0, NULL);
}

void wb_supervisor_simulation_physics_reset(void)
{
    order_world(__func__, 2, 0, NULL);
}

void wb_supervisor_simulation_quit(int status)
{
    order_world(__func__, 3, status, NULL);
}

bool wb_supervisor_world_save(const char *filename)
{
    return order_world(__func__, 4, 0, filename);
}

bool wb_supervisor_save_world(const char *filename)
{
    return order_world(__func__, 4, 0, filename);
}

void wb_supervisor_world_load(const char *filename)
{
    order_world(__func__, 5, 0, filename);
}

void wb_supervisor_load_world(const char *filename)
{
    order_world(__func__, 5, 0, filename);
}

WbSimulationMode wb_supervisor_simulation_get_mode(void)
{
    return (WbSimulationMode)ask_int(__func__, &(Ask){ OP_SIMULATION_MODE, { -1 }, 1, NULL, 0, NULL }, WB_SUPERVISOR_SIMULATION_MODE_FAST);
}

void wb_supervisor_simulation_set_mode(WbSimulationMode mode)
{
    ask(__func__, &(Ask){ OP_SIMULATION_MODE, { (int32_t)mode }, 1, NULL, 0, NULL }, NULL);
}

void wb_supervisor_set_label(int id, const char *text, double x, double y, double size, int color, double transparency, const char *font)
{
    (void)font;
    double numbers[4] = { x, y, size, transparency };
    ask(__func__, &(Ask){ OP_LABEL, { id, color }, 2, numbers, 4, text }, NULL);
}

// A name without a folder in front is meant in the controller's own folder, not in that of the simulator.
static void absolute_path(const char *file, char path[PATH_MAX])
{
    char folder[PATH_MAX];
    bool is_relative = file && *file && *file != '/' && getcwd(folder, sizeof folder);
    int length = is_relative ? snprintf(path, PATH_MAX, "%s/%s", folder, file) : snprintf(path, PATH_MAX, "%s", file ? file : "");
    if (length >= PATH_MAX)
        *path = '\0';
}

static int order_recording(const char *who, int what, const char *file, int quality, const char *why_not)
{
    char path[PATH_MAX];
    absolute_path(file, path);
    int result = ask_int(who, &(Ask){ OP_RECORDING, { what, quality }, 2, NULL, 0, path }, -1);
    if (result < 0 && core.supervisor)
        core_warn(who, "%s", why_not);
    return result;
}

static const char no_film[] = "no film is made; `talus render WORLD PICTURE.png --at SECONDS` draws a moment of the world";
static const char no_animation[] = "no animation is made; `talus run WORLD --record FILE.csv` records all motions";

static bool movie_has_failed;

void wb_supervisor_export_image(const char *filename, int quality)
{
    order_recording(__func__, 5, filename, quality, "no picture was made");
}

void wb_supervisor_movie_start_recording(const char *filename, int width, int height, int codec, int quality, int acceleration, bool caption)
{
    (void)width, (void)height, (void)codec, (void)quality, (void)acceleration, (void)caption;
    movie_has_failed = order_recording(__func__, 0, filename, 0, no_film) < 0;
}

void wb_supervisor_start_movie(const char *filename, int width, int height, int codec, int quality, int acceleration, bool caption)
{
    wb_supervisor_movie_start_recording(filename, width, height, codec, quality, acceleration, caption);
}

void wb_supervisor_movie_stop_recording(void)
{
    may_ask(__func__);
}

void wb_supervisor_stop_movie(void)
{
    wb_supervisor_movie_stop_recording();
}

bool wb_supervisor_movie_is_ready(void)
{
    return may_ask(__func__);
}

bool wb_supervisor_movie_failed(void)
{
    return movie_has_failed;
}

int wb_supervisor_get_movie_status(void)
{
    return movie_has_failed ? WB_SUPERVISOR_MOVIE_SIMULATION_ERROR : WB_SUPERVISOR_MOVIE_READY;
}

bool wb_supervisor_animation_start_recording(const char *filename)
{
    return order_recording(__func__, 3, filename, 0, no_animation) >= 0;
}

bool wb_supervisor_animation_stop_recording(void)
{
    return order_recording(__func__, 4, NULL, 0, no_animation) >= 0;
}

bool wb_supervisor_virtual_reality_headset_is_used(void)
{
    return false;
}

const double *wb_supervisor_virtual_reality_headset_get_position(void)
{
    static const double none[3] = { NAN, NAN, NAN };
    return none;
}

const double *wb_supervisor_virtual_reality_headset_get_orientation(void)
{
    static const double none[9] = { NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN };
    return none;
}

// ---- nodes ----

static WbNodeRef node_from(const char *who, int how, int number, const char *def)
{
    return node_ref(ask_int(who, &(Ask){ OP_NODE_FROM, { how, number }, 2, NULL, 0, def }, -1));
}

WbNodeRef wb_supervisor_node_get_root(void)
{
    return node_from(__func__, 0, 0, NULL);
}

WbNodeRef wb_supervisor_node_get_self(void)
{
    return node_from(__func__, 1, 0, NULL);
}

WbNodeRef wb_supervisor_node_get_from_id(int id)
{
    return id < 0 ? NULL : node_from(__func__, 2, id, NULL);
}

WbNodeRef wb_supervisor_node_get_from_def(const char *def)
{
    return def && *def ? node_from(__func__, 3, 0, def) : NULL;
}

WbNodeRef wb_supervisor_node_get_from_device(WbDeviceTag tag)
{
    return node_from(__func__, 4, tag, NULL);
}

WbNodeRef wb_supervisor_node_get_selected(void)
{
    return node_from(__func__, 5, 0, NULL);
}

WbNodeRef wb_supervisor_node_get_from_proto_def(WbNodeRef node, const char *def)
{
    return node_is_good(node, __func__) && def ? node_from(__func__, 6, node->id, def) : NULL;
}

int wb_supervisor_node_get_id(WbNodeRef node)
{
    return may_ask(__func__) && node ? node->id : -1;
}

typedef struct NodeInfo {
    int type, parent, is_proto, fields, base_fields;
} NodeInfo;

static void replace(char **text, const char *value)
{
    if (*text && !strcmp(*text, value))
        return;
    free(*text);
    *text = strdup(value);
}

static NodeInfo node_info(const char *who, WbNodeRef node)
{
    NodeInfo info = { WB_NODE_NO_NODE, -1, 0, -1, -1 };
    Record answer;
    if (!node_is_good(node, who) || !ask(who, &(Ask){ OP_NODE_INFO, { node->id }, 1, NULL, 0, NULL }, &answer) || answer.int_count < 5)
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

WbNodeRef wb_supervisor_node_get_parent_node(WbNodeRef node)
{
    return node_ref(node_info(__func__, node).parent);
}

WbNodeType wb_supervisor_node_get_type(WbNodeRef node)
{
    return (WbNodeType)node_info(__func__, node).type;
}

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

bool wb_supervisor_node_is_proto(WbNodeRef node)
{
    return node_info(__func__, node).is_proto == 1;
}

int wb_supervisor_node_get_number_of_fields(WbNodeRef node)
{
    return node_info(__func__, node).fields;
}

int wb_supervisor_node_get_number_of_base_node_fields(WbNodeRef node)
{
    NodeInfo info = node_info(__func__, node);
    return info.is_proto ? info.base_fields : -1;
}

int wb_supervisor_node_get_proto_number_of_fields(WbNodeRef node)
{
    return wb_supervisor_node_get_number_of_base_node_fields(node);
}

// ---- field references ----

static WbFieldRef field_ref(const char *who, int id)
{
    if (id < 0)
        return NULL;
    for (WbFieldRef field = fields; field; field = field->next)
        if (field->id == id)
            return field;
    Record answer;
    if (!ask(who, &(Ask){ OP_FIELD_INFO, { id }, 1, NULL, 0, NULL }, &answer) || answer.int_count < 3)
        return NULL;
    WbFieldRef field = calloc(1, sizeof *field);
    *field = (struct WbFieldStructPrivate){ .id = id, .name = strdup(answer.bytes), .type = (WbFieldType)answer.ints[0],
                                            .is_read_only = answer.ints[2], .next = fields };
    fields = field;
    return field;
}

static WbFieldRef node_field(const char *who, WbNodeRef node, int index, bool is_base, const char *name)
{
    if (!node_is_good(node, who) || (index < 0 && (!name || !*name)))
        return NULL;
    return field_ref(who, ask_int(who, &(Ask){ OP_NODE_FIELD, { node->id, index, is_base }, 3, NULL, 0, name }, -1));
}

WbFieldRef wb_supervisor_node_get_field(WbNodeRef node, const char *field_name)
{
    return node_field(__func__, node, -1, false, field_name);
}

WbFieldRef wb_supervisor_node_get_field_by_index(WbNodeRef node, int index)
{
    return index < 0 ? NULL : node_field(__func__, node, index, false, NULL);
}

WbFieldRef wb_supervisor_node_get_base_node_field(WbNodeRef node, const char *field_name)
{
    return node_field(__func__, node, -1, true, field_name);
}

WbFieldRef wb_supervisor_node_get_base_node_field_by_index(WbNodeRef node, int index)
{
    return index < 0 ? NULL : node_field(__func__, node, index, true, NULL);
}

WbFieldRef wb_supervisor_node_get_proto_field(WbNodeRef node, const char *field_name)
{
    return node_field(__func__, node, -1, true, field_name);
}

WbFieldRef wb_supervisor_node_get_proto_field_by_index(WbNodeRef node, int index)
{
    return index < 0 ? NULL : node_field(__func__, node, index, true, NULL);
}

const char *wb_supervisor_field_get_name(WbFieldRef field)
{
    return field ? field->name : "";
}

WbFieldType wb_supervisor_field_get_type(WbFieldRef field)
{
    // What is inside a PROTO is gone when the PROTO is made anew.
    if (field && field->is_read_only && core.supervisor && ask_int(NULL, &(Ask){ OP_FIELD_INFO, { field->id }, 1, NULL, 0, NULL }, -1) < 0)
        return WB_NO_FIELD;
    return field ? field->type : WB_NO_FIELD;
}

const char *wb_supervisor_field_get_type_name(WbFieldRef field)
{
    static const char *const names[2][10] = {
        { "", "SFBool", "SFInt32", "SFFloat", "SFVec2f", "SFVec3f", "SFRotation", "SFColor", "SFString", "SFNode" },
        { "", "MFBool", "MFInt32", "MFFloat", "MFVec2f", "MFVec3f", "MFRotation", "MFColor", "MFString", "MFNode" },
    };
    unsigned type = field ? (unsigned)field->type : 0;
    return (type & 0xf) < 10 ? names[(type & WB_MF) != 0][type & 0xf] : "";
}

int wb_supervisor_field_get_count(WbFieldRef field)
{
    Record answer;
    if (!field || !(field->type & WB_MF) || !ask(__func__, &(Ask){ OP_FIELD_INFO, { field->id }, 1, NULL, 0, NULL }, &answer))
        return -1;
    return answer.int_count >= 2 ? answer.ints[1] : -1;
}

WbFieldRef wb_supervisor_field_get_actual_field(WbFieldRef field)
{
    return field;
}

// ---- values ----

// Checks field, type and kind; the messages are those that help most.
static bool field_fits(const char *who, WbFieldRef field, WbFieldType type, bool writes)
{
    if (!may_ask(who))
        return false;
    if (!field)
        core_warn(who, "called with a NULL field");
    else if (field->type != type)
        core_warn(who, "the field '%s' is of type %s", field->name, wb_supervisor_field_get_type_name(field));
    else if (writes && field->is_read_only)
        core_warn(who, "the field '%s' is inside a PROTO and can only be read", field->name);
    else
        return true;
    return false;
}

static bool get(const char *who, WbFieldRef field, WbFieldType type, int index, Record *answer)
{
    return field_fits(who, field, type, false) && ask(who, &(Ask){ OP_FIELD_GET, { field->id, index }, 2, NULL, 0, NULL }, answer);
}

static FieldItem *item_of(WbFieldRef field, int index)
{
    int side = (field->type & WB_MF) && index < 0, place = !(field->type & WB_MF) ? 0 : side ? -1 - index : index;
    if (place >= field->item_counts[side]) {
        field->items[side] = realloc(field->items[side], (size_t)(place + 1) * sizeof(FieldItem *));
        for (; field->item_counts[side] <= place; field->item_counts[side]++)
            field->items[side][field->item_counts[side]] = NULL;
    }
    if (!field->items[side][place])
        field->items[side][place] = calloc(1, sizeof(FieldItem));
    return field->items[side][place];
}

static const double *get_numbers(const char *who, WbFieldRef field, WbFieldType type, int index)
{
    Record answer;
    if (!get(who, field, type, index, &answer) || answer.double_count > 4)
        return NULL;
    FieldItem *item = item_of(field, index);
    if (!(type == WB_SF_ROTATION && field->was_set && field->set_time == core.time))
        memcpy(item->numbers, answer.doubles, (size_t)answer.double_count * sizeof(double));
    return item->numbers;
}

static const char *get_string(const char *who, WbFieldRef field, WbFieldType type, int index)
{
    Record answer;
    if (!get(who, field, type, index, &answer))
        return "";
    FieldItem *item = item_of(field, index);
    free(item->string);
    item->string = strndup(answer.bytes, (size_t)answer.byte_count);
    return item->string;
}

static int get_int(const char *who, WbFieldRef field, WbFieldType type, int index, int otherwise)
{
    Record answer;
    return get(who, field, type, index, &answer) && answer.int_count ? answer.ints[0] : otherwise;
}

static double get_double(const char *who, WbFieldRef field, WbFieldType type, int index)
{
    Record answer;
    return get(who, field, type, index, &answer) && answer.double_count ? answer.doubles[0] : 0.0;
}

static void put(const char *who, uint16_t op, WbFieldRef field, WbFieldType type, int index, int number, const double *numbers, int count, const char *text)
{
    if (!field_fits(who, field, type, true))
        return;
    if (count > 0 && !numbers) {
        core_warn(who, "called with NULL values");
        return;
    }
    if (ask(who, &(Ask){ op, { field->id, index, number }, 3, numbers, count, text }, NULL) && type == WB_SF_ROTATION) {
        memcpy(item_of(field, 0)->numbers, numbers, 4 * sizeof(double));
        field->was_set = true;
        field->set_time = core.time;
    }
}

#define GET_SET(name, NAME, Type, get_body, Argument, number, numbers, count, text)                                                \
    Type wb_supervisor_field_get_sf_##name(WbFieldRef field)                                                                       \
    {                                                                                                                              \
        return get_body(__func__, field, WB_SF_##NAME, -1);                                                                        \
    }                                                                                                                              \
    Type wb_supervisor_field_get_mf_##name(WbFieldRef field, int index)                                                            \
    {                                                                                                                              \
        return get_body(__func__, field, WB_MF_##NAME, index);                                                                     \
    }                                                                                                                              \
    void wb_supervisor_field_set_sf_##name(WbFieldRef field, Argument)                                                             \
    {                                                                                                                              \
        put(__func__, OP_FIELD_SET, field, WB_SF_##NAME, -1, number, numbers, count, text);                                        \
    }                                                                                                                              \
    void wb_supervisor_field_set_mf_##name(WbFieldRef field, int index, Argument)                                                  \
    {                                                                                                                              \
        put(__func__, OP_FIELD_SET, field, WB_MF_##NAME, index, number, numbers, count, text);                                     \
    }                                                                                                                              \
    void wb_supervisor_field_insert_mf_##name(WbFieldRef field, int index, Argument)                                               \
    {                                                                                                                              \
        put(__func__, OP_FIELD_INSERT, field, WB_MF_##NAME, index, number, numbers, count, text);                                  \
    }
#define GET_INT(who, field, type, index) get_int(who, field, type, index, 0)
GET_SET(bool, BOOL, bool, GET_INT, bool value, value, NULL, 0, NULL)
GET_SET(int32, INT32, int, GET_INT, int value, value, NULL, 0, NULL)
GET_SET(float, FLOAT, double, get_double, double value, 0, &value, 1, NULL)
GET_SET(vec2f, VEC2F, const double *, get_numbers, const double values[2], 0, values, 2, NULL)
GET_SET(vec3f, VEC3F, const double *, get_numbers, const double values[3], 0, values, 3, NULL)
GET_SET(rotation, ROTATION, const double *, get_numbers, const double values[4], 0, values, 4, NULL)
GET_SET(color, COLOR, const double *, get_numbers, const double values[3], 0, values, 3, NULL)
GET_SET(string, STRING, const char *, get_string, const char *value, 0, NULL, 0, value ? value : "")

WbNodeRef wb_supervisor_field_get_sf_node(WbFieldRef field)
{
    return node_ref(get_int(__func__, field, WB_SF_NODE, -1, -1));
}

WbNodeRef wb_supervisor_field_get_mf_node(WbFieldRef field, int index)
{
    return node_ref(get_int(__func__, field, WB_MF_NODE, index, -1));
}

void wb_supervisor_field_remove_mf(WbFieldRef field, int index)
{
    if (field && (field->type & WB_MF) && field_fits(__func__, field, field->type, true))
        ask(__func__, &(Ask){ OP_FIELD_REMOVE, { field->id, index }, 2, NULL, 0, NULL }, NULL);
}

void wb_supervisor_field_remove_mf_node(WbFieldRef field, int position)
{
    wb_supervisor_field_remove_mf(field, position);
}

void wb_supervisor_field_remove_sf(WbFieldRef field)
{
    if (field_fits(__func__, field, WB_SF_NODE, true))
        ask(__func__, &(Ask){ OP_FIELD_REMOVE, { field->id, -1 }, 2, NULL, 0, NULL }, NULL);
}

void wb_supervisor_field_import_mf_node_from_string(WbFieldRef field, int position, const char *node_string)
{
    if (field_fits(__func__, field, WB_MF_NODE, true) && node_string)
        ask(__func__, &(Ask){ OP_FIELD_IMPORT, { field->id, position }, 2, NULL, 0, node_string }, NULL);
}

void wb_supervisor_field_import_sf_node_from_string(WbFieldRef field, const char *node_string)
{
    if (field_fits(__func__, field, WB_SF_NODE, true) && node_string)
        ask(__func__, &(Ask){ OP_FIELD_IMPORT, { field->id, -1 }, 2, NULL, 0, node_string }, NULL);
}

// A .wbo file holds the node behind its header line.
static char *file_text(const char *who, const char *filename)
{
    FILE *file = fopen(filename, "r");
    if (!file) {
        core_warn(who, "cannot read '%s'", filename);
        return NULL;
    }
    char *text = NULL;
    size_t size = 0;
    ssize_t length = getdelim(&text, &size, '\0', file);
    fclose(file);
    if (length < 0) {
        free(text);
        return NULL;
    }
    return text;
}

void wb_supervisor_field_import_mf_node(WbFieldRef field, int position, const char *filename)
{
    char *text = filename ? file_text(__func__, filename) : NULL;
    if (text)
        wb_supervisor_field_import_mf_node_from_string(field, position, text);
    free(text);
}

void wb_supervisor_field_import_sf_node(WbFieldRef field, const char *filename)
{
    char *text = filename ? file_text(__func__, filename) : NULL;
    if (text)
        wb_supervisor_field_import_sf_node_from_string(field, text);
    free(text);
}

// ---- following: the simulator sends values by itself; asking stays right, so these only tell it to ----

static void follow(const char *who, int what, int id, int period, int extra)
{
    ask(who, &(Ask){ OP_TRACK, { what, id, period, extra }, 4, NULL, 0, NULL }, NULL);
}

void supervisor_take_tracked(const Record *head, FrameReader *reader);
void supervisor_take_tracked(const Record *head, FrameReader *reader)
{
    Record value;
    (void)head;
    frame_next(reader, &value);  // values are asked for when they are used, so what comes early is passed over
}

void wb_supervisor_field_enable_sf_tracking(WbFieldRef field, int sampling_period)
{
    if (field)
        follow(__func__, 2, field->id, sampling_period, -1);
}

void wb_supervisor_field_disable_sf_tracking(WbFieldRef field)
{
    if (field)
        follow(__func__, 2, field->id, 0, -1);
}

void wb_supervisor_node_enable_pose_tracking(WbNodeRef node, int sampling_period, WbNodeRef from_node)
{
    if (node_is_good(node, __func__))
        follow(__func__, 0, node->id, sampling_period, from_node ? from_node->id : -1);
}

void wb_supervisor_node_disable_pose_tracking(WbNodeRef node, WbNodeRef from_node)
{
    if (node_is_good(node, __func__))
        follow(__func__, 0, node->id, 0, from_node ? from_node->id : -1);
}

void wb_supervisor_node_enable_contact_points_tracking(WbNodeRef node, int sampling_period, bool include_descendants)
{
    if (node_is_good(node, __func__))
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
    Record answer;
    for (int i = 0; i < count; i++)
        place[i] = NAN;
    if (ask(who, question, &answer) && answer.double_count >= count)
        memcpy(place, answer.doubles, (size_t)count * sizeof(double));
    return place;
}

static const double *pose_of(const char *who, WbNodeRef node, WbNodeRef from)
{
    return numbers_of(who, &(Ask){ OP_NODE_POSE, { node->id, from ? from->id : -1 }, 2, NULL, 0, NULL }, node->pose, 16);
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
    return node_is_good(node, __func__) ? numbers_of(__func__, &(Ask){ OP_NODE_CENTER_OF_MASS, { node->id }, 1, NULL, 0, NULL }, node->center, 3) : NULL;
}

const double *wb_supervisor_node_get_velocity(WbNodeRef node)
{
    return node_is_good(node, __func__) ? numbers_of(__func__, &(Ask){ OP_NODE_VELOCITY, { node->id }, 1, NULL, 0, NULL }, node->velocity, 6) : NULL;
}

void wb_supervisor_node_set_velocity(WbNodeRef node, const double velocity[6])
{
    if (node_is_good(node, __func__) && numbers_are_good(velocity, __func__))
        ask(__func__, &(Ask){ OP_NODE_SET_VELOCITY, { node->id }, 1, velocity, 6, NULL }, NULL);
}

bool wb_supervisor_node_get_static_balance(WbNodeRef node)
{
    return node_is_good(node, __func__) && ask_int(__func__, &(Ask){ OP_NODE_BALANCE, { node->id }, 1, NULL, 0, NULL }, 0) == 1;
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
    if (!node_is_good(node, __func__) || !ask(__func__, &(Ask){ OP_NODE_EXPORT, { node->id }, 1, NULL, 0, NULL }, &answer))
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

void wb_supervisor_node_add_force_with_offset(WbNodeRef node, const double force[3], const double offset[3], bool relative)
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
    if (!node_is_good(node, __func__) || !ask(__func__, &(Ask){ OP_NODE_CONTACTS, { node->id, include_descendants }, 2, NULL, 0, NULL }, &answer))
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
    return node_is_good(node, __func__) && index >= 0 && index < node->contact_count ? node->contacts[index].point : none;
}

WbNodeRef wb_supervisor_node_get_contact_point_node(WbNodeRef node, int index)
{
    return node_is_good(node, __func__) && index >= 0 && index < node->contact_count ? node_ref(node->contacts[index].node_id) : NULL;
}

// ---- PROTOs ----

static WbProtoRef proto_ref(const char *who, int node, int depth)
{
    for (WbProtoRef proto = protos; proto; proto = proto->next)
        if (proto->node == node && proto->depth == depth)
            return proto;
    Record answer;
    if (!ask(who, &(Ask){ OP_PROTO_INFO, { node, depth }, 2, NULL, 0, NULL }, &answer) || answer.int_count < 3 || !answer.ints[0])
        return NULL;
    WbProtoRef proto = calloc(1, sizeof *proto);
    *proto = (struct WbProtoInfoStructPrivate){ node, depth, strdup(answer.bytes), answer.ints[1], answer.ints[2], protos };
    protos = proto;
    return proto;
}

WbProtoRef wb_supervisor_node_get_proto(WbNodeRef node)
{
    return node_is_good(node, __func__) ? proto_ref(__func__, node->id, 0) : NULL;
}

const char *wb_supervisor_proto_get_type_name(WbProtoRef proto)
{
    return proto ? proto->name : "";
}

bool wb_supervisor_proto_is_derived(WbProtoRef proto)
{
    return proto && proto->is_derived;
}

WbProtoRef wb_supervisor_proto_get_parent(WbProtoRef proto)
{
    return proto && proto->is_derived ? proto_ref(__func__, proto->node, proto->depth + 1) : NULL;
}

static WbFieldRef proto_field(const char *who, WbProtoRef proto, int index, const char *name)
{
    if (!proto || (index < 0 && !name))
        return NULL;
    return field_ref(who, ask_int(who, &(Ask){ OP_PROTO_FIELD, { proto->node, proto->depth, index }, 3, NULL, 0, name }, -1));
}

WbFieldRef wb_supervisor_proto_get_field(WbProtoRef proto, const char *field_name)
{
    return proto_field(__func__, proto, -1, field_name);
}

WbFieldRef wb_supervisor_proto_get_field_by_index(WbProtoRef proto, int index)
{
    return index < 0 ? NULL : proto_field(__func__, proto, index, NULL);
}

int wb_supervisor_proto_get_number_of_fields(WbProtoRef proto)
{
    return proto ? proto->field_count : -1;
}
