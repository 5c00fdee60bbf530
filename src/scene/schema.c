// schema.c - lookups in the tables of node types: by name, inheritance, what may stand where.
#include "scene/schema.h"

#include "base/arena.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/text.h"
#include "scene/schema_internal.h"

#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const SchemaFamily *const families[] = {
    &schema_world,  &schema_solids, &schema_geometry, &schema_appearance, &schema_joints, &schema_devices,
    &schema_lights, &schema_old,    &schema_vrml97,   &schema_humanoid,   &schema_talus,
};

// Everything below is written once, under pthread_once, and never freed: it is the program's vocabulary.
static struct {
    NodeType *types;
    int type_count;
    int16_t *slots;
    int slot_mask;
    Arena *arena;  // holds all of it until the process ends
} schema;
static pthread_once_t schema_once = PTHREAD_ONCE_INIT;

// Kinds

static const struct {
    const char *single, *list;
    int doubles;
} kinds[] = {
    [FIELD_SF_BOOL] = { "SFBool", "MFBool", 0 },    [FIELD_SF_INT32] = { "SFInt32", "MFInt32", 0 },
    [FIELD_SF_FLOAT] = { "SFFloat", "MFFloat", 1 }, [FIELD_SF_VEC2F] = { "SFVec2f", "MFVec2f", 2 },
    [FIELD_SF_VEC3F] = { "SFVec3f", "MFVec3f", 3 }, [FIELD_SF_ROTATION] = { "SFRotation", "MFRotation", 4 },
    [FIELD_SF_COLOR] = { "SFColor", "MFColor", 3 }, [FIELD_SF_STRING] = { "SFString", "MFString", 0 },
    [FIELD_SF_NODE] = { "SFNode", "MFNode", 0 },
};

int field_kind_doubles(FieldKind kind)
{
    FieldKind item = field_kind_item(kind);
    return item > FIELD_NONE && item <= FIELD_SF_NODE ? kinds[item].doubles : 0;
}

bool field_type_holds(const FieldType *type, const double *numbers, int count)
{
    assert_debug(type && count >= 0);
    FieldKind item = field_kind_item(type->kind);
    bool is_place = item == FIELD_SF_VEC2F || item == FIELD_SF_VEC3F;
    double max = !is_place ? DBL_MAX : !strcmp(type->name, "translation") ? (double)FLT_MAX : LIMIT_COORDINATE;
    for (int i = 0; i < count; i++)
        if (!(fabs(numbers[i]) <= max))
            return false;
    return true;
}

const char *field_kind_name(FieldKind kind)
{
    FieldKind item = field_kind_item(kind);
    if (item <= FIELD_NONE || item > FIELD_SF_NODE)
        return "none";
    return field_kind_is_list(kind) ? kinds[item].list : kinds[item].single;
}

// Both are asked for every node of a world many times over: the first letters nearly always tell names apart.
static inline bool is_word(const char *word, const char *text, size_t length)
{
    return (!length || word[0] == text[0]) && !strncmp(word, text, length) && word[length] == '\0';
}

static inline bool is_name(const char *name, const char *other) { return name[0] == other[0] && !strcmp(name, other); }

FieldKind field_kind_from_name(const char *name, size_t length)
{
    for (int item = FIELD_SF_BOOL; item <= FIELD_SF_NODE; item++) {
        if (is_word(kinds[item].single, name, length))
            return (FieldKind)item;
        if (is_word(kinds[item].list, name, length))
            return (FieldKind)(item | FIELD_MF);
    }
    // VRML97 has times and images; a time is a number, and no field of ours is an image.
    if (is_word("SFTime", name, length))
        return FIELD_SF_FLOAT;
    return is_word("MFTime", name, length) ? FIELD_MF_FLOAT : FIELD_NONE;
}

// Defaults

static const char *skip_space(const char *text)
{
    while (*text == ' ' || *text == ',')
        text++;
    return text;
}

// Defaults are written in the rows as people know them from the files; they are ours, so a slip in one is an assert.
static const char *parse_item(const char *text, FieldKind item, void *out, Arena *arena)
{
    text = skip_space(text);
    const char *end = text + strlen(text);
    int64_t integer;
    switch (item) {
    case FIELD_SF_BOOL:
        *(bool *)out = !strncmp(text, "TRUE", 4);
        assert(*(bool *)out || !strncmp(text, "FALSE", 5));
        return text + (*(bool *)out ? 4 : 5);
    case FIELD_SF_INT32:
        text = text_scan_int(text, end, &integer);
        assert(text);
        *(int32_t *)out = (int32_t)integer;
        return text;
    case FIELD_SF_STRING: {
        assert(*text == '"');
        const char *close = strchr(text + 1, '"');
        assert(close);
        *(const char **)out = arena_text(arena, text + 1, (size_t)(close - text - 1));
        return close + 1;
    }
    case FIELD_SF_NODE:
        assert(!strcmp(text, "NULL"));
        *(SceneNode **)out = NULL;
        return text + 4;
    default:
        for (int i = 0; i < field_kind_doubles(item); i++) {
            text = text_scan_double(skip_space(text), end, &((double *)out)[i]);
            assert(text);
        }
        return text;
    }
}

static FieldValue parse_list(const char *text, FieldKind item, Arena *arena)
{
    FieldList *list = arena_alloc(arena, sizeof *list);
    size_t item_size = item == FIELD_SF_BOOL    ? sizeof(bool)
                       : item == FIELD_SF_INT32 ? sizeof(int32_t)
                       : item == FIELD_SF_STRING || item == FIELD_SF_NODE
                           ? sizeof(void *)
                           : sizeof(double) * (size_t)field_kind_doubles(item);
    enum { ITEMS_MAX = 16 };
    char *items = arena_alloc_array(arena, ITEMS_MAX, item_size);
    assert(*text == '[');
    for (text = skip_space(text + 1); *text != ']'; text = skip_space(text)) {
        assert_debug(list->count < ITEMS_MAX);
        text = parse_item(text, item, items + (size_t)list->count++ * item_size, arena);
    }
    list->items = list->count > 0 ? items : NULL;
    list->capacity = list->count;
    return (FieldValue){ .list = list };
}

static FieldValue parse_default(const FieldType *field, Arena *arena)
{
    if (field_kind_is_list(field->kind))
        return parse_list(field->preset, field_kind_item(field->kind), arena);
    FieldValue value = { 0 };
    const char *rest = parse_item(field->preset, field->kind, &value, arena);
    assert(*skip_space(rest) == '\0');
    (void)rest;
    return value;
}

// Building

static int16_t *slots_create(Arena *arena, int count, int *mask)
{
    assert(count >= 0);
    int size = 4;
    while (size < 2 * count)
        size *= 2;
    int16_t *slots = arena_alloc_array(arena, (size_t)size, sizeof *slots);
    memset(slots, -1, (size_t)size * sizeof *slots);
    *mask = size - 1;
    return slots;
}

static void slots_add(int16_t *slots, int mask, const char *name, int index)
{
    assert_debug(index >= 0 && index <= INT16_MAX && (mask & (mask + 1)) == 0);
    int slot = (int)(hash_string(name) & (uint64_t)mask);
    while (slots[slot] >= 0)
        slot = (slot + 1) & mask;
    slots[slot] = (int16_t)index;
}

static int find_row(const FieldType *fields, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(fields[i].name, name))
            return i;
    return -1;
}

static void remove_row(FieldType *fields, int *count, int index)
{
    assert_debug(index >= 0 && index < *count);
    memmove(&fields[index], &fields[index + 1], (size_t)(*count - index - 1) * sizeof *fields);
    (*count)--;
}

// Applies one own row to the fields gathered so far.
static void apply_row(FieldType *fields, int *count, const FieldType *row, Arena *arena)
{
    int found = find_row(fields, *count, row->name);
    if (row->kind == FIELD_NONE) {
        assert(found >= 0);
        FieldType moved = fields[found];
        remove_row(fields, count, found);
        if (!strcmp(row->preset, "here"))
            fields[(*count)++] = moved;
        return;
    }
    FieldType field = *row;
    field.value = parse_default(row, arena);
    if (found < 0) {
        fields[(*count)++] = field;
    } else if (row->class == FIELD_DEPRECATED && fields[found].class != FIELD_DEPRECATED) {
        field.index = (uint16_t)found;
        fields[found].older = arena_copy(arena, &field, sizeof field);
    } else {
        fields[found] = field;
    }
}

static void build_fields(NodeType *type, Arena *arena)
{
    if (type->fields)
        return;
    const NodeType *parent = type->parent;
    if (parent)
        build_fields((NodeType *)parent, arena);
    int max = (parent ? parent->field_count : 0) + type->own_field_count;
    FieldType *fields = arena_alloc_array(arena, (size_t)max + 1, sizeof *fields);
    int count = parent ? parent->field_count : 0;
    if (count > 0)
        memcpy(fields, parent->fields, (size_t)count * sizeof *fields);
    for (int i = 0; i < type->own_field_count; i++)
        apply_row(fields, &count, &type->own_fields[i], arena);
    assert_debug(count <= max);
    type->fields = fields;
    type->field_count = count;
    type->slots = slots_create(arena, count, &type->slot_mask);
    for (int i = 0; i < count; i++) {
        fields[i].index = (uint16_t)i;
        slots_add(type->slots, type->slot_mask, fields[i].name, i);
    }
}

static int compare_types(const void *a, const void *b)
{
    return strcmp(((const NodeType *)a)->name, ((const NodeType *)b)->name);
}

static void build_schema(void)
{
    Arena *arena = schema.arena = arena_create();
    for (int i = 0; i < COUNT_OF(families); i++)
        schema.type_count += families[i]->count;
    schema.types = arena_alloc_array(arena, (size_t)schema.type_count, sizeof *schema.types);
    int count = 0;
    for (int i = 0; i < COUNT_OF(families); i++) {
        memcpy(&schema.types[count], families[i]->types, (size_t)families[i]->count * sizeof *schema.types);
        count += families[i]->count;
    }
    qsort(schema.types, (size_t)count, sizeof *schema.types, compare_types);
    schema.slots = slots_create(arena, count, &schema.slot_mask);
    for (int i = 0; i < count; i++) {
        assert(i == 0 || compare_types(&schema.types[i - 1], &schema.types[i]) < 0);
        schema.types[i].index = i;
        slots_add(schema.slots, schema.slot_mask, schema.types[i].name, i);
    }
    for (int i = 0; i < count; i++) {
        NodeType *type = &schema.types[i];
        for (int k = 0; type->parent_name && k < count; k++)
            if (!strcmp(schema.types[k].name, type->parent_name))
                type->parent = &schema.types[k];
        assert(!type->parent_name || type->parent);
    }
    for (int i = 0; i < count; i++)
        build_fields(&schema.types[i], arena);
}

// Looking up

int schema_type_count(void)
{
    pthread_once(&schema_once, build_schema);
    return schema.type_count;
}

const NodeType *schema_type_at(int index)
{
    assert(index >= 0 && index < schema_type_count());
    return &schema.types[index];
}

const NodeType *schema_type_text(const char *name, size_t length)
{
    assert_debug(name || length == 0);
    pthread_once(&schema_once, build_schema);
    int slot = (int)(hash_bytes(name, length, 0) & (uint64_t)schema.slot_mask);
    for (; schema.slots[slot] >= 0; slot = (slot + 1) & schema.slot_mask) {
        const NodeType *type = &schema.types[schema.slots[slot]];
        if (is_word(type->name, name, length))
            return type;
    }
    return NULL;
}

const NodeType *schema_type(const char *name) { return schema_type_text(name, strlen(name)); }

bool schema_type_is(const NodeType *type, const char *ancestor)
{
    if (type && (type->flags & NODE_DEVICE) && is_name(ancestor, "Device"))
        return true;
    for (; type; type = type->parent)
        if (is_name(type->name, ancestor))
            return true;
    return false;
}

const FieldType *schema_field_text(const NodeType *type, const char *name, size_t length)
{
    assert_debug(type && type->slots);
    int slot = (int)(hash_bytes(name, length, 0) & (uint64_t)type->slot_mask);
    for (; type->slots[slot] >= 0; slot = (slot + 1) & type->slot_mask) {
        const FieldType *field = &type->fields[type->slots[slot]];
        if (is_word(field->name, name, length))
            return field;
    }
    return NULL;
}

const FieldType *schema_field(const NodeType *type, const char *name)
{
    return schema_field_text(type, name, strlen(name));
}

// Ranges

// One alternative as an interval. A bare number is the interval that holds it alone; "!=x" everything but x.
typedef struct Range {
    double low, high;
    bool low_open, high_open, is_hole;
} Range;

static const char *scan_bound(const char *text, double *bound)
{
    const char *after = text_scan_double(text, text + strlen(text), bound);
    assert(after && "a range of the schema is malformed");
    return after;
}

static const char *scan_range(const char *text, Range *range)
{
    *range = (Range){ -INFINITY, INFINITY, false, false, false };
    if (text[0] == '>' || text[0] == '<') {
        bool is_open = text[1] != '=', is_low = text[0] == '>';
        *(is_low ? &range->low_open : &range->high_open) = is_open;
        return scan_bound(text + (is_open ? 1 : 2), is_low ? &range->low : &range->high);
    }
    if (text[0] == '!') {
        range->is_hole = true;
        return scan_bound(text + 2, &range->low);
    }
    if (text[0] == '[' || text[0] == '(') {
        range->low_open = text[0] == '(';
        text = scan_bound(text + 1, &range->low);
        text = scan_bound(text + 1, &range->high);
        range->high_open = *text == ')';
        return text + 1;
    }
    text = scan_bound(text, &range->low);
    range->high = range->low;
    return text;
}

static bool range_holds(const Range *range, double value)
{
    if (range->is_hole)
        return value != range->low;
    return (range->low_open ? value > range->low : value >= range->low)
           && (range->high_open ? value < range->high : value <= range->high);
}

bool schema_allows_number(const char *allowed, double value, double *nearest)
{
    double best = NAN;
    for (const char *text = allowed; text && *text;) {
        Range range;
        text = scan_range(text, &range);
        if (range_holds(&range, value)) {
            if (nearest)
                *nearest = value;
            return true;
        }
        double bound = value < range.low ? range.low : range.high;
        bool is_legal = !range.is_hole && !isnan(value)
                        && !(value < range.low || value == range.low ? range.low_open : range.high_open);
        if (is_legal && !(fabs(bound - value) >= fabs(best - value)))
            best = bound;
        if (*text == '|')
            text++;
    }
    if (nearest)
        *nearest = allowed ? best : value;
    return allowed == NULL;
}

// Calls of the form "is `word` one of a|b|c".
static const char *next_word(const char *text, const char **word, size_t *length)
{
    const char *end = strchr(text, '|');
    *word = text;
    *length = end ? (size_t)(end - text) : strlen(text);
    return end ? end + 1 : text + *length;
}

bool schema_allows_word(const char *allowed, const char *word)
{
    size_t length;
    const char *candidate;
    for (const char *text = allowed; text && *text;) {
        text = next_word(text, &candidate, &length);
        if (is_word(word, candidate, length))
            return true;
    }
    return allowed == NULL;
}

bool schema_allows_type(const char *allowed, const NodeType *type)
{
    if (!allowed)
        return true;
    for (const NodeType *step = type; step; step = step->parent) {
        const char *candidate;
        size_t length;
        for (const char *text = allowed; *text;) {
            text = next_word(text, &candidate, &length);
            bool is_exact = candidate[0] == '=';
            if (is_exact && step == type && is_word(step->name, candidate + 1, length - 1))
                return true;
            if (!is_exact && is_word(step->name, candidate, length))
                return true;
        }
    }
    return type && (type->flags & NODE_DEVICE) && schema_allows_word(allowed, "Device");
}

// Releases

static const char *scan_digits(const char *text, const char *end, int *value)
{
    const char *start = text;
    *value = 0;
    for (; text < end && text - start < 4 && *text >= '0' && *text <= '9'; text++)
        *value = *value * 10 + (*text - '0');
    return text > start ? text : NULL;
}

static int old_release(const char *text, const char *end)
{
    int part[3] = { 0, 0, 0 };
    for (int i = 0; i < 3; i++) {
        text = scan_digits(text, end, &part[i]);
        if (!text || part[i] > (i == 0 ? 99 : 9))
            return 0;
        if (text == end)
            return part[0] * 1000 + part[1] * 100 + part[2];
        if (*text++ != '.')
            return 0;
    }
    return 0;
}

int schema_release(const char *text, size_t length)
{
    assert(text || length == 0);
    const char *end = text + length;
    if (length >= 2 && text[0] == 'V')
        return old_release(text + 1, end);
    if (length < 6 || text[0] != 'R')
        return 0;
    int year, revision = 0;
    const char *rest = scan_digits(text + 1, end, &year);
    if (rest != text + 5 || (*rest != 'a' && *rest != 'b'))
        return 0;
    int release = year * 1000 + (*rest++ == 'b' ? 100 : 0);
    while (rest < end && (*rest == ' ' || *rest == '-'))
        rest++;
    if (end - rest >= 4 && !strncmp(rest, "rev", 3) && scan_digits(rest + 3, end, &revision) == end && revision < 100)
        return release + revision;
    return rest == end || !strncmp(rest, "dev", 3) ? release : 0;
}

const char *schema_release_name(int release, char buffer[24])
{
    assert_debug(release > 0);
    if (release >= 1000000) {
        int revision = release % 100;
        snprintf(buffer, 24, revision ? "R%d%c rev%d" : "R%d%c", release / 1000, release % 1000 >= 100 ? 'b' : 'a',
                 revision);
    } else if (release % 100) {
        snprintf(buffer, 24, "V%d.%d.%d", release / 1000, release / 100 % 10, release % 100);
    } else {
        snprintf(buffer, 24, "V%d.%d", release / 1000, release / 100 % 10);
    }
    return buffer;
}
