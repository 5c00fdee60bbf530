// supervisor_fields.c - what supervisors ask about fields and PROTOs and write into them.
#include "supervisor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    FieldItem **items[2];  // by index from the front, and from the end
    int item_counts[2];
    double set_time;  // when a rotation was last set: until the next step it reads as it was given
    bool was_set;
};

struct WbProtoInfoStructPrivate {
    int node, depth;
    char *name;
    bool is_derived;
    int field_count;
    WbProtoRef next;
};

static References fields;
static WbProtoRef protos;

static void free_field(void *record)
{
    WbFieldRef field = record;
    free(field->name);
    for (int side = 0; side < 2; side++) {
        assert(field->item_counts[side] >= 0);
        for (int i = 0; i < field->item_counts[side]; i++) {
            if (field->items[side][i])
                free(field->items[side][i]->string);
            free(field->items[side][i]);
        }
        free(field->items[side]);
    }
    free(field);
}

void supervisor_free_fields(void)
{
    references_free(&fields, free_field);
    while (protos) {
        WbProtoRef next = protos->next;
        free(protos->name);
        free(protos);
        protos = next;
    }
}

// ---- field references ----

static WbFieldRef field_ref(const char *who, int id)
{
    if (id < 0)
        return NULL;
    WbFieldRef field = references_get(&fields, id);
    assert_debug(!field || field->id == id);
    if (field)
        return field;
    Record answer;
    if (!ask(who, &(Ask){ OP_FIELD_INFO, { id }, 1, NULL, 0, NULL }, &answer) || answer.int_count < 3)
        return NULL;
    field = calloc(1, sizeof *field);
    *field = (struct WbFieldStructPrivate){
        .id = id, .name = strdup(answer.bytes), .type = (WbFieldType)answer.ints[0], .is_read_only = answer.ints[2]
    };
    references_put(&fields, id, field);
    return field;
}

static WbFieldRef node_field(const char *who, WbNodeRef node, int index, bool is_base, const char *name)
{
    if (!node_is_good(node, who) || (index < 0 && (!name || !*name)))
        return NULL;
    return field_ref(who,
                     ask_int(who, &(Ask){ OP_NODE_FIELD, { node_id(node), index, is_base }, 3, NULL, 0, name }, -1));
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

const char *wb_supervisor_field_get_name(WbFieldRef field) { return field ? field->name : ""; }

WbFieldType wb_supervisor_field_get_type(WbFieldRef field)
{
    // What is inside a PROTO is gone when the PROTO is made anew.
    if (field && field->is_read_only && core.supervisor
        && ask_int(NULL, &(Ask){ OP_FIELD_INFO, { field->id }, 1, NULL, 0, NULL }, -1) < 0)
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
    if (!field || !(field->type & WB_MF)
        || !ask(__func__, &(Ask){ OP_FIELD_INFO, { field->id }, 1, NULL, 0, NULL }, &answer))
        return -1;
    return answer.int_count >= 2 ? answer.ints[1] : -1;
}

WbFieldRef wb_supervisor_field_get_actual_field(WbFieldRef field)
{
    return field && may_ask(__func__)
               ? field_ref(__func__, ask_int(__func__, &(Ask){ OP_FIELD_ACTUAL, { field->id }, 1, NULL, 0, NULL }, -1))
               : NULL;
}

// ---- values ----

// Checks field, type and kind; the messages are those that help most.
static bool field_fits(const char *who, WbFieldRef field, WbFieldType type, bool writes)
{
    assert_debug(who && type != WB_NO_FIELD);
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
    return field_fits(who, field, type, false)
           && ask(who, &(Ask){ OP_FIELD_GET, { field->id, index }, 2, NULL, 0, NULL }, answer);
}

static FieldItem *item_of(WbFieldRef field, int index)
{
    int side = (field->type & WB_MF) && index < 0, place = !(field->type & WB_MF) ? 0 : side ? -1 - index : index;
    assert(place >= 0);
    if (place >= field->item_counts[side]) {
        field->items[side] = realloc(field->items[side], (size_t)(place + 1) * sizeof(FieldItem *));
        for (; field->item_counts[side] <= place; field->item_counts[side]++)
            field->items[side][field->item_counts[side]] = NULL;
    }
    assert_debug(place < field->item_counts[side]);
    if (!field->items[side][place])
        field->items[side][place] = calloc(1, sizeof(FieldItem));
    return field->items[side][place];
}

static const double *get_numbers(const char *who, WbFieldRef field, WbFieldType type, int index)
{
    assert_debug(type != WB_NO_FIELD);
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

// What is set or inserted: `index` is -1 for a single value.
typedef struct Put {
    uint16_t op;
    int index, number;
    const double *numbers;
    int count;
    const char *text;
} Put;

static void put(const char *who, WbFieldRef field, WbFieldType type, const Put *what)
{
    assert_debug(what->count >= 0 && what->count <= 4);
    assert_debug(what->op == OP_FIELD_SET || what->op == OP_FIELD_INSERT);
    if (!field_fits(who, field, type, true))
        return;
    if (what->count > 0 && !what->numbers) {
        core_warn(who, "called with NULL values");
        return;
    }
    Ask question = { what->op, { field->id, what->index, what->number }, 3, what->numbers, what->count, what->text };
    if (ask(who, &question, NULL) && type == WB_SF_ROTATION) {
        assert_debug(what->count == 4);
        memcpy(item_of(field, 0)->numbers, what->numbers, 4 * sizeof(double));
        field->was_set = true;
        field->set_time = core.time;
    }
}

#define GET_SET(name, NAME, Type, get_body, Argument, number, numbers, count, text)                                    \
    Type wb_supervisor_field_get_sf_##name(WbFieldRef field) { return get_body(__func__, field, WB_SF_##NAME, -1); }   \
    Type wb_supervisor_field_get_mf_##name(WbFieldRef field, int index)                                                \
    {                                                                                                                  \
        return get_body(__func__, field, WB_MF_##NAME, index);                                                         \
    }                                                                                                                  \
    void wb_supervisor_field_set_sf_##name(WbFieldRef field, Argument)                                                 \
    {                                                                                                                  \
        put(__func__, field, WB_SF_##NAME, &(Put){ OP_FIELD_SET, -1, number, numbers, count, text });                  \
    }                                                                                                                  \
    void wb_supervisor_field_set_mf_##name(WbFieldRef field, int index, Argument)                                      \
    {                                                                                                                  \
        put(__func__, field, WB_MF_##NAME, &(Put){ OP_FIELD_SET, index, number, numbers, count, text });               \
    }                                                                                                                  \
    void wb_supervisor_field_insert_mf_##name(WbFieldRef field, int index, Argument)                                   \
    {                                                                                                                  \
        put(__func__, field, WB_MF_##NAME, &(Put){ OP_FIELD_INSERT, index, number, numbers, count, text });            \
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

// ---- following ----

void wb_supervisor_field_enable_sf_tracking(WbFieldRef field, int sampling_period)
{
    if (field && period_is_good(sampling_period, __func__))
        follow(__func__, 2, field->id, sampling_period, -1);
}

void wb_supervisor_field_disable_sf_tracking(WbFieldRef field)
{
    if (field)
        follow(__func__, 2, field->id, 0, -1);
}

// ---- PROTOs ----

static WbProtoRef proto_ref(const char *who, int node, int depth)
{
    assert(depth >= 0);
    for (WbProtoRef proto = protos; proto; proto = proto->next)
        if (proto->node == node && proto->depth == depth)
            return proto;
    Record answer;
    if (!ask(who, &(Ask){ OP_PROTO_INFO, { node, depth }, 2, NULL, 0, NULL }, &answer) || answer.int_count < 3
        || !answer.ints[0])
        return NULL;
    WbProtoRef proto = calloc(1, sizeof *proto);
    *proto = (struct WbProtoInfoStructPrivate){ node,           depth,          strdup(answer.bytes),
                                                answer.ints[1], answer.ints[2], protos };
    protos = proto;
    return proto;
}

WbProtoRef wb_supervisor_node_get_proto(WbNodeRef node)
{
    return node_is_good(node, __func__) ? proto_ref(__func__, node_id(node), 0) : NULL;
}

const char *wb_supervisor_proto_get_type_name(WbProtoRef proto) { return proto ? proto->name : ""; }

bool wb_supervisor_proto_is_derived(WbProtoRef proto) { return proto && proto->is_derived; }

WbProtoRef wb_supervisor_proto_get_parent(WbProtoRef proto)
{
    return proto && proto->is_derived ? proto_ref(__func__, proto->node, proto->depth + 1) : NULL;
}

static WbFieldRef proto_field(const char *who, WbProtoRef proto, int index, const char *name)
{
    if (!proto || (index < 0 && !name))
        return NULL;
    return field_ref(
        who, ask_int(who, &(Ask){ OP_PROTO_FIELD, { proto->node, proto->depth, index }, 3, NULL, 0, name }, -1));
}

WbFieldRef wb_supervisor_proto_get_field(WbProtoRef proto, const char *field_name)
{
    return proto_field(__func__, proto, -1, field_name);
}

WbFieldRef wb_supervisor_proto_get_field_by_index(WbProtoRef proto, int index)
{
    return index < 0 ? NULL : proto_field(__func__, proto, index, NULL);
}

int wb_supervisor_proto_get_number_of_fields(WbProtoRef proto) { return proto ? proto->field_count : -1; }
