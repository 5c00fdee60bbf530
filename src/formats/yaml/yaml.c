// yaml.c - YAML as a tree with places: events of libyaml, anchors and merge keys of ours.
#include "formats/yaml/yaml.h"

#include "base/arena.h"
#include "base/hash.h"
#include "base/memory.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { INDEX_FROM = 9 };  // maps with at least so many keys get a hash index

typedef struct Anchor {
    const char *name;
    YamlNode *node;
    bool is_open;  // the node is still being read: an alias now would make it contain itself
} Anchor;

struct YamlDocument {
    Arena *arena;
    const YamlNode *root;
    const YamlDocument *outer;
    Anchor *anchors;  // in file order; a later one of the same name hides the earlier
    int anchor_count, anchor_capacity;
    int32_t *anchor_slots;  // hash table over anchors, -1 for empty
    int anchor_mask;
};

typedef struct Reader {
    YamlDocument *document;
    yaml_parser_t parser;
    const Limits *limits;
    DiagSink *diags;
    uint16_t file;
    int64_t node_count;
    int64_t alias_weight;  // nodes that aliases have stood for so far
    bool failed;
    YamlPair *pairs;  // stack of pairs of the maps being read
    int pair_count, pair_capacity;
    const YamlNode **items;  // the same for lists
    int item_count, item_capacity;
} Reader;

static SourcePos place(const Reader *reader, yaml_mark_t mark)
{
    SourcePos pos = { .file = reader->file };
    pos.line = mark.line < UINT32_MAX ? (uint32_t)mark.line + 1 : UINT32_MAX;
    pos.column = mark.column < UINT16_MAX ? (uint16_t)(mark.column + 1) : UINT16_MAX;
    return pos;
}

static YamlNode *read_failed(Reader *reader)
{
    reader->failed = true;
    return NULL;
}

static bool next_event(Reader *reader, yaml_event_t *event)
{
    if (yaml_parser_parse(&reader->parser, event))
        return true;
    const yaml_parser_t *parser = &reader->parser;
    const char *problem = parser->problem ? parser->problem : "out of memory";
    SourcePos pos = place(reader, parser->problem_mark);
    if (parser->error == YAML_READER_ERROR)
        diag_error(reader->diags, pos, "not YAML: %s at byte %zu", problem, parser->problem_offset);
    else if (parser->context)
        diag_error(reader->diags, pos, "not YAML: %s, %s that starts at line %zu, column %zu", problem, parser->context,
                   parser->context_mark.line + 1, parser->context_mark.column + 1);
    else
        diag_error(reader->diags, pos, "not YAML: %s", problem);
    reader->failed = true;
    return false;
}

// Anchors

static int anchor_slot(const YamlDocument *document, const char *name)
{
    assert_debug(document->anchor_slots && (document->anchor_mask & (document->anchor_mask + 1)) == 0);
    int slot = (int)(hash_string(name) & (uint64_t)document->anchor_mask);
    while (document->anchor_slots[slot] >= 0 && strcmp(document->anchors[document->anchor_slots[slot]].name, name))
        slot = (slot + 1) & document->anchor_mask;
    return slot;
}

static Anchor *anchor_find(const YamlDocument *document, const char *name)
{
    if (document->anchor_count == 0)
        return NULL;
    int index = document->anchor_slots[anchor_slot(document, name)];
    return index < 0 ? NULL : &document->anchors[index];
}

static void anchor_index_grow(YamlDocument *document)
{
    int size = document->anchor_mask ? 2 * (document->anchor_mask + 1) : 32;
    document->anchor_slots = arena_alloc_array(document->arena, (size_t)size, sizeof *document->anchor_slots);
    document->anchor_mask = size - 1;
    for (int i = 0; i < size; i++)
        document->anchor_slots[i] = -1;
    for (int i = 0; i < document->anchor_count; i++)
        document->anchor_slots[anchor_slot(document, document->anchors[i].name)] = i;
}

// Returns the index of the anchor, -1 when the node has none.
static int anchor_add(Reader *reader, YamlNode *node, const yaml_char_t *name, bool is_open)
{
    if (!name)
        return -1;
    YamlDocument *document = reader->document;
    node->anchor = arena_string(document->arena, (const char *)name);
    Anchor *same = anchor_find(document, node->anchor);
    if (same) {
        diag_warning(reader->diags, node->pos, "anchor '%s' is given twice; from here on it means this one",
                     node->anchor);
        diag_hint(reader->diags, "the first is at line %u; Choreonoid refuses such a file",
                  (unsigned)same->node->pos.line);
        same->node = node;
        same->is_open = is_open;
        return (int)(same - document->anchors);
    }
    if (2 * (document->anchor_count + 1) > document->anchor_mask)
        anchor_index_grow(document);
    memory_grow(&document->anchors, &document->anchor_capacity, document->anchor_count + 1, sizeof *document->anchors);
    int index = document->anchor_count;
    document->anchors[index] = (Anchor){ .name = node->anchor, .node = node, .is_open = is_open };
    assert_debug(index >= 0 && index < document->anchor_capacity);
    document->anchor_slots[anchor_slot(document, node->anchor)] = index;
    document->anchor_count++;
    return index;
}

static void anchor_close(Reader *reader, const YamlNode *node, int index)
{
    assert_debug(index < reader->document->anchor_count);
    if (index >= 0 && reader->document->anchors[index].node == node)
        reader->document->anchors[index].is_open = false;
}

const YamlNode *yaml_anchor(const YamlDocument *document, const char *name)
{
    assert(name);
    for (; document; document = document->outer) {
        const Anchor *anchor = anchor_find(document, name);
        if (anchor)
            return anchor->node;
    }
    return NULL;
}

// Nodes

static YamlNode *node_create(Reader *reader, YamlKind kind, SourcePos pos)
{
    if (++reader->node_count > reader->limits->nodes) {
        diag_error(reader->diags, pos, "more than %lld YAML nodes", (long long)reader->limits->nodes);
        return read_failed(reader);
    }
    YamlNode *node = arena_alloc(reader->document->arena, sizeof *node);
    node->kind = (uint8_t)kind;
    node->pos = pos;
    node->weight = 1;
    return node;
}

static YamlNode *read_alias(Reader *reader, const char *name, SourcePos pos)
{
    const Anchor *anchor = anchor_find(reader->document, name);
    if (anchor && anchor->is_open) {
        diag_error(reader->diags, pos, "'*%s' stands inside the node that it names: a node cannot contain itself",
                   name);
        return read_failed(reader);
    }
    const YamlNode *node = anchor ? anchor->node : yaml_anchor(reader->document->outer, name);
    if (!node) {
        diag_error(reader->diags, pos, "no anchor '&%s' stands before this '*%s'", name, name);
        YamlNode *empty = node_create(reader, YAML_SCALAR, pos);
        if (empty)
            empty->text = "";
        return empty;
    }
    reader->alias_weight += node->weight;
    if (reader->alias_weight > reader->limits->yaml_nodes) {
        diag_error(reader->diags, pos, "aliases stand for more than %lld nodes", (long long)reader->limits->yaml_nodes);
        diag_hint(reader->diags, "an alias inside an alias multiplies: this file asks for too many");
        return read_failed(reader);
    }
    return (YamlNode *)node;
}

static YamlNode *read_scalar(Reader *reader, const yaml_event_t *event)
{
    SourcePos pos = place(reader, event->start_mark);
    size_t length = event->data.scalar.length;
    if ((int64_t)length > reader->limits->string_bytes) {
        diag_error(reader->diags, pos, "a text of %zu bytes; at most %lld are read", length,
                   (long long)reader->limits->string_bytes);
        return read_failed(reader);
    }
    YamlNode *node = node_create(reader, YAML_SCALAR, pos);
    if (!node)
        return NULL;
    node->text = arena_text(reader->document->arena, (const char *)event->data.scalar.value, length);
    node->is_quoted = event->data.scalar.style == YAML_SINGLE_QUOTED_SCALAR_STYLE
                      || event->data.scalar.style == YAML_DOUBLE_QUOTED_SCALAR_STYLE;
    anchor_add(reader, node, event->data.scalar.anchor, false);
    return node;
}

static YamlNode *read_node(Reader *reader, yaml_event_t *event, int depth);

static bool depth_is_fine(Reader *reader, int depth, SourcePos pos)
{
    if (depth < reader->limits->nesting)
        return true;
    diag_error(reader->diags, pos, "nested deeper than %lld levels", (long long)reader->limits->nesting);
    reader->failed = true;
    return false;
}

// Items wait on the reader's stack until the list is whole; the weight bounds what aliases would expand to.
static YamlNode *read_list(Reader *reader, yaml_event_t *event, int depth)
{
    SourcePos pos = place(reader, event->start_mark);
    YamlNode *node = node_create(reader, YAML_LIST, pos);
    if (!node || !depth_is_fine(reader, depth, pos))
        return NULL;
    int anchor = anchor_add(reader, node, event->data.sequence_start.anchor, true);
    int first = reader->item_count;
    for (;;) {
        yaml_event_t inner;
        if (!next_event(reader, &inner))
            return NULL;
        if (inner.type == YAML_SEQUENCE_END_EVENT) {
            yaml_event_delete(&inner);
            break;
        }
        const YamlNode *item = read_node(reader, &inner, depth + 1);
        yaml_event_delete(&inner);
        if (!item)
            return NULL;
        if (reader->item_count - first >= reader->limits->array_items || reader->item_count == INT_MAX) {
            diag_error(reader->diags, pos, "a list of more than %lld items", (long long)reader->limits->array_items);
            return read_failed(reader);
        }
        *memory_push(reader->items, reader->item_count, reader->item_capacity) = item;
        node->weight += item->weight;
    }
    node->count = reader->item_count - first;
    node->items = arena_alloc_array(reader->document->arena, (size_t)node->count, sizeof *node->items);
    if (node->count)
        memcpy(node->items, reader->items + first, (size_t)node->count * sizeof *node->items);
    reader->item_count = first;
    anchor_close(reader, node, anchor);
    return node;
}

// A map's index while it is being built, so that a later pair can replace an earlier one of the same key at once.
static void map_index(Reader *reader, YamlNode *map, int capacity)
{
    int size = 32;
    while (size < 2 * capacity)
        size *= 2;
    map->slots = arena_alloc_array(reader->document->arena, (size_t)size, sizeof *map->slots);
    map->slot_mask = size - 1;
    for (int i = 0; i < size; i++)
        map->slots[i] = -1;
}

static int map_slot(const YamlNode *map, const char *key)
{
    assert_debug(map->slots && (map->slot_mask & (map->slot_mask + 1)) == 0);
    int slot = (int)(hash_string(key) & (uint64_t)map->slot_mask);
    while (map->slots[slot] >= 0 && strcmp(map->pairs[map->slots[slot]].key, key))
        slot = (slot + 1) & map->slot_mask;
    return slot;
}

static int map_find(const YamlNode *map, const char *key)
{
    assert_debug(map->kind == YAML_MAP && key);
    if (map->slots)
        return map->slots[map_slot(map, key)];
    for (int i = 0; i < map->count; i++)
        if (!strcmp(map->pairs[i].key, key))
            return i;
    return -1;
}

static void map_append(YamlNode *map, YamlPair pair)
{
    assert_debug(map->kind == YAML_MAP && pair.key);
    int index = map->count++;
    map->pairs[index] = pair;
    if (map->slots)
        map->slots[map_slot(map, pair.key)] = index;
}

// How many pairs a `<<` value offers, at most.
static int merge_capacity(const YamlNode *value)
{
    assert_debug(value);
    if (value->kind == YAML_MAP)
        return value->count;
    int64_t sum = 0;
    for (int i = 0; value->kind == YAML_LIST && i < value->count; i++)
        if (value->items[i]->kind == YAML_MAP)
            sum += value->items[i]->count;
    return sum > INT_MAX / 4 ? INT_MAX / 4 : (int)sum;
}

static void map_merge(Reader *reader, YamlNode *map, const YamlNode *value, SourcePos pos)
{
    if (value->kind == YAML_LIST) {
        for (int i = 0; i < value->count; i++) {
            if (value->items[i]->kind == YAML_MAP)
                map_merge(reader, map, value->items[i], pos);
            else
                diag_warning(reader->diags, pos, "'<<' takes maps, item %d of its list is none; ignored", i + 1);
        }
        return;
    }
    if (value->kind != YAML_MAP) {
        diag_warning(reader->diags, pos, "'<<' takes a map or a list of maps; ignored");
        return;
    }
    for (int i = 0; i < value->count; i++) {
        YamlPair pair = value->pairs[i];
        if (map_find(map, pair.key) >= 0)
            continue;
        pair.is_merged = true;
        map_append(map, pair);
        map->weight += pair.value->weight;
    }
}

// Own pairs first (the last of equal keys wins, at the place of the first), then what `<<` adds, earlier merges first.
static void map_finish(Reader *reader, YamlNode *map, int first)
{
    assert_debug(first >= 0 && first <= reader->pair_count);
    const YamlPair *raw = reader->pairs ? reader->pairs + first : NULL;
    int raw_count = reader->pair_count - first;
    int64_t capacity = 0;
    for (int i = 0; i < raw_count; i++)
        capacity += strcmp(raw[i].key, "<<") ? 1 : merge_capacity(raw[i].value);
    map->pairs = arena_alloc_array(reader->document->arena, (size_t)capacity, sizeof *map->pairs);
    if (capacity >= INDEX_FROM)
        map_index(reader, map, (int)capacity);
    for (int i = 0; i < raw_count; i++) {
        if (!strcmp(raw[i].key, "<<"))
            continue;
        int index = map_find(map, raw[i].key);
        if (index < 0) {
            map_append(map, raw[i]);
        } else {
            diag_warning(reader->diags, raw[i].pos, "key '%s' stands twice in this map; the last one counts",
                         raw[i].key);
            map->pairs[index] = raw[i];
        }
    }
    for (int i = 0; i < raw_count; i++)
        if (!strcmp(raw[i].key, "<<"))
            map_merge(reader, map, raw[i].value, raw[i].pos);
    reader->pair_count = first;
}

// Pairs wait on the reader's stack until the map is whole: merge keys may stand anywhere in it and give way to all
// others. The weight bounds what aliases would expand to.
static YamlNode *read_map(Reader *reader, yaml_event_t *event, int depth)
{
    SourcePos pos = place(reader, event->start_mark);
    YamlNode *node = node_create(reader, YAML_MAP, pos);
    if (!node || !depth_is_fine(reader, depth, pos))
        return NULL;
    int anchor = anchor_add(reader, node, event->data.mapping_start.anchor, true);
    int first = reader->pair_count;
    for (;;) {
        yaml_event_t inner;
        if (!next_event(reader, &inner))
            return NULL;
        if (inner.type == YAML_MAPPING_END_EVENT) {
            yaml_event_delete(&inner);
            break;
        }
        const YamlNode *key = read_node(reader, &inner, depth + 1);
        yaml_event_delete(&inner);
        if (!key || !next_event(reader, &inner))
            return NULL;
        const YamlNode *value = read_node(reader, &inner, depth + 1);
        yaml_event_delete(&inner);
        if (!value)
            return NULL;
        if (key->kind != YAML_SCALAR) {
            diag_error(reader->diags, key->pos, "a key must be a word, not a list or map; ignored with its value");
            continue;
        }
        if (reader->pair_count == INT_MAX)
            return read_failed(reader);
        *memory_push(reader->pairs, reader->pair_count,
                     reader->pair_capacity) = (YamlPair){ .key = key->text, .value = value, .pos = key->pos };
        node->weight += value->weight + 1;
    }
    map_finish(reader, node, first);
    anchor_close(reader, node, anchor);
    return node;
}

static YamlNode *read_node(Reader *reader, yaml_event_t *event, int depth)
{
    switch (event->type) {
    case YAML_ALIAS_EVENT:
        return read_alias(reader, (const char *)event->data.alias.anchor, place(reader, event->start_mark));
    case YAML_SCALAR_EVENT: return read_scalar(reader, event);
    case YAML_SEQUENCE_START_EVENT: return read_list(reader, event, depth);
    case YAML_MAPPING_START_EVENT: return read_map(reader, event, depth);
    default: return read_failed(reader);
    }
}

static const YamlNode *read_document(Reader *reader)
{
    const YamlNode *root = NULL;
    bool done = false;
    while (!done && !reader->failed) {
        yaml_event_t event;
        if (!next_event(reader, &event))
            return NULL;
        switch (event.type) {
        case YAML_STREAM_START_EVENT:
        case YAML_DOCUMENT_START_EVENT: break;
        case YAML_DOCUMENT_END_EVENT:
        case YAML_STREAM_END_EVENT: done = true; break;
        default: root = read_node(reader, &event, 0);
        }
        yaml_event_delete(&event);
    }
    return reader->failed ? NULL : root;
}

// libyaml refuses a file with one byte that is no UTF-8 (an old comment in Shift-JIS, say). Such bytes become '?'.
static char *mended_text(Reader *reader, const char *text, size_t size)
{
    size_t bad = 0;
    bool has_bom16 = size >= 2 && (!memcmp(text, "\xff\xfe", 2) || !memcmp(text, "\xfe\xff", 2));
    if (has_bom16 || text_is_valid_utf8(text, size, &bad))
        return NULL;
    char *copy = memory_text(text, size);
    SourcePos pos = { .file = reader->file, .line = 1 };
    for (size_t i = 0; i < bad; i++)
        pos.line += text[i] == '\n';
    diag_warning(reader->diags, pos, "not UTF-8; bytes that are no character are read as '?'");
    size_t done = 0;
    while (done < size && !text_is_valid_utf8(copy + done, size - done, &bad)) {
        done += bad;
        copy[done] = '?';
    }
    return copy;
}

YamlDocument *yaml_parse(const char *name, const char *text, size_t size, const YamlOptions *options, DiagSink *diags)
{
    assert_debug(name && diags);
    YamlDocument *document = memory_alloc(sizeof *document);
    document->arena = arena_create();
    document->outer = options ? options->outer : NULL;
    Reader reader = { .document = document, .diags = diags, .file = diag_file(diags, name) };
    reader.limits = limits_or_default(options ? options->limits : NULL);
    char *mended = mended_text(&reader, text, size);
    if (yaml_parser_initialize(&reader.parser)) {
        yaml_parser_set_input_string(&reader.parser, (const unsigned char *)(mended ? mended : text), size);
        document->root = read_document(&reader);
        yaml_parser_delete(&reader.parser);
    }
    free(reader.pairs);
    free(reader.items);
    free(mended);
    if (reader.failed) {
        yaml_destroy(document);
        return NULL;
    }
    if (!document->root) {
        YamlNode *empty = node_create(&reader, YAML_SCALAR, (SourcePos){ .file = reader.file, .line = 1, .column = 1 });
        empty->text = "";
        document->root = empty;
    }
    return document;
}

void yaml_destroy(YamlDocument *document)
{
    if (!document)
        return;
    free(document->anchors);
    arena_destroy(document->arena);
    free(document);
}

const YamlNode *yaml_root(const YamlDocument *document) { return document->root; }

const YamlPair *yaml_pair(const YamlNode *map, const char *key)
{
    assert(key);
    if (!yaml_is_map(map))
        return NULL;
    int index = map_find(map, key);
    return index < 0 ? NULL : &map->pairs[index];
}

const YamlNode *yaml_get(const YamlNode *map, const char *key)
{
    const YamlPair *pair = yaml_pair(map, key);
    return pair ? pair->value : NULL;
}
