// DEF names and what USE finds by them: in the text above, in the world, in the defaults of a PROTO's parameters.
#include "base/hash.h"
#include "base/memory.h"
#include "formats/formats_internal.h"
#include "formats/text/parser_internal.h"

#include <stdlib.h>
#include <string.h>

// ---- the table ----

static DefEntry *def_slot(const DefTable *table, const char *name, size_t length)
{
    assert_debug(table->slot_count > 0 && (table->slot_count & (table->slot_count - 1)) == 0);
    uint64_t slot = hash_bytes(name, length, 0);
    uint64_t mask = (uint64_t)(table->slot_count - 1);
    for (;; slot++) {
        DefEntry *entry = &table->slots[slot & mask];
        if (!entry->node || (!strncmp(entry->name, name, length) && !entry->name[length]))
            return entry;
    }
}

const DefEntry *def_table_find(const DefTable *table, const char *name, size_t length)
{
    if (!table->count)
        return NULL;
    const DefEntry *entry = def_slot(table, name, length);
    return entry->node && !entry->is_gone ? entry : NULL;
}

static void grow(DefTable *table)
{
    DefEntry *old = table->slots;
    int old_count = table->slot_count;
    table->slot_count = old_count ? old_count * 2 : 64;
    table->slots = memory_alloc_array((size_t)table->slot_count, sizeof *old);
    for (int i = 0; i < old_count; i++)
        if (old[i].node)
            *def_slot(table, old[i].name, strlen(old[i].name)) = old[i];
    assert_debug(table->count < table->slot_count);
    free(old);
}

void def_table_put(DefTable *table, DefEntry entry)
{
    if (table->count * 2 >= table->slot_count)
        grow(table);
    DefEntry *slot = def_slot(table, entry.name, strlen(entry.name));
    if (slot->node && !slot->is_gone && slot->order > entry.order)
        return;
    if (!slot->node)
        table->count++;
    *slot = entry;
}

void def_table_deinit(DefTable *table)
{
    free(table->slots);
    *table = (DefTable){ 0 };
}

// ---- names while a text is read ----

const DefEntry *defs_find(const Reader *reader, const char *name, size_t length)
{
    return def_table_find(&reader->defs, name, length);
}

void defs_add(Reader *reader, SceneNode *node, int64_t expanded)
{
    assert(node->def && node->kind != SCENE_NODE_USE && expanded > 0);
    def_table_put(&reader->defs,
                  (DefEntry){ .name = node->def, .node = node, .order = node->id, .expanded = expanded });
}

// Goes through nodes that are made already, as a USE behind them sees them: those inside first.
int64_t defs_each(Reader *reader, SceneNode *node, DefAct *act)
{
    assert_debug(act);
    if (!node)
        return 0;
    int64_t expanded = 1;
    for (int i = 0; i < node->field_count; i++) {
        const SceneField *field = &node->fields[i];
        if (field->type->kind == FIELD_SF_NODE)
            expanded += defs_each(reader, field->value.node, act);
        for (int k = 0; field->type->kind == FIELD_MF_NODE && k < field->value.list->count; k++)
            expanded += defs_each(reader, field->value.list->nodes[k], act);
    }
    if (node->def && node->kind != SCENE_NODE_USE)
        act(reader, node, expanded);
    return expanded;
}

void defs_forget(Reader *reader, SceneNode *node, int64_t expanded)
{
    assert_debug(node->def);
    (void)expanded;
    DefEntry *entry = reader->defs.count > 0 ? def_slot(&reader->defs, node->def, strlen(node->def)) : NULL;
    if (entry && entry->node == node)
        entry->is_gone = true;
}

void defs_follow(Reader *reader, SceneNode *node, int64_t expanded)
{
    assert_debug(node->def);
    (void)expanded;
    DefEntry *entry = reader->defs.count > 0 ? def_slot(&reader->defs, node->def, strlen(node->def)) : NULL;
    if (entry && entry->node && !entry->node->def)
        entry->node = node;
}

void defs_each_of_field(Reader *reader, const SceneField *field, DefAct *act)
{
    if (field->type->kind == FIELD_SF_NODE)
        defs_each(reader, field->value.node, act);
    for (int i = 0; field->type->kind == FIELD_MF_NODE && i < field->value.list->count; i++)
        defs_each(reader, field->value.list->nodes[i], act);
}

static const char *closest_def(Reader *reader, const char *name)
{
    enum { COUNT_MAX = 2000 };
    if (reader->defs.count > COUNT_MAX)
        return NULL;
    const char **candidates = memory_alloc_array((size_t)reader->defs.count + 1, sizeof *candidates);
    // In the order of the file, so that the hint never depends on the table.
    const DefEntry *last = NULL;
    int count = 0;
    for (int found = 0; found < reader->defs.count; found++) {
        const DefEntry *next = NULL;
        for (int i = 0; i < reader->defs.slot_count; i++) {
            const DefEntry *entry = &reader->defs.slots[i];
            if (entry->node && (!last || entry->node->id > last->node->id)
                && (!next || entry->node->id < next->node->id))
                next = entry;
        }
        if (!next)
            break;
        candidates[count++] = next->name;
        assert(count <= reader->defs.count);
        last = next;
    }
    const char *closest = text_closest(name, candidates, count);
    free(candidates);
    return closest;
}

bool token_is_name(const Token *token)
{
    return (token->kind == TOKEN_WORD || token->kind == TOKEN_NUMBER) && token->length < NAME_BYTES_MAX;
}

bool reader_count_nodes(Reader *reader, SourcePos pos, int64_t nodes)
{
    assert(nodes >= 0);
    if (reader->expanded + nodes <= reader->limits->nodes && scene_node_count(reader->scene) < reader->limits->nodes) {
        reader->expanded += nodes;
        return true;
    }
    if (!reader->too_many_nodes)
        reader_error(reader, pos, "more than %lld nodes, each USE counting as what it repeats; the rest is left out",
                     (long long)reader->limits->nodes);
    reader->too_many_nodes = true;
    return false;
}

// ---- names that stand in no text above ----

static bool count_one(SceneNode *node, void *context)
{
    (void)node;
    int64_t *left = context;
    return --*left > 0;
}

// A node for USE that no text above has: for what is imported, one of the world.
static bool find_elsewhere(Reader *reader, const char *name, DefEntry *entry)
{
    SceneNode *found = reader->is_import ? scene_find_def(reader->scene, name) : NULL;
    *entry = (DefEntry){ .name = name, .node = found ? scene_instance(found) : NULL };
    int64_t left = reader->limits->nodes;
    if (entry->node)
        scene_walk(entry->node, true, count_one, &left);
    entry->expanded = reader->limits->nodes - left;
    return entry->node != NULL;
}

typedef struct Search {
    const char *name;
    SceneNode *found;
} Search;

static bool is_searched(SceneNode *node, void *context)
{
    Search *search = context;
    if (!search->found && node->def && node->kind != SCENE_NODE_USE && !strcmp(node->def, search->name))
        search->found = node;
    return !search->found;
}

// In the body of a PROTO: a node in the default value of a parameter. The body gets a copy, which has the name from
// then on, whatever is given for the parameter.
static bool take_default(Reader *reader, const char *name, SourcePos pos, SceneNode **node)
{
    assert_debug(reader->parameters || reader->parameter_count == 0);
    Search search = { .name = name };
    for (int i = 0; i < reader->parameter_count && !search.found; i++) {
        const FieldType *parameter = &reader->parameters[i];
        if (parameter->kind == FIELD_SF_NODE && parameter->value.node)
            scene_walk(parameter->value.node, true, is_searched, &search);
        for (int k = 0; parameter->kind == FIELD_MF_NODE && k < parameter->value.list->count && !search.found; k++)
            scene_walk(parameter->value.list->nodes[k], true, is_searched, &search);
    }
    if (!search.found)
        return false;
    int64_t left = reader->limits->nodes;
    scene_walk(search.found, true, count_one, &left);
    if (!reader_count_nodes(reader, pos, reader->limits->nodes - left))
        return false;
    *node = scene_node_clone(reader->scene, search.found);
    defs_add(reader, *node, reader->limits->nodes - left);
    return true;
}

int reader_parameter_of_use(Reader *reader)
{
    if (!reader->parameters || !token_is(&reader->token, "USE"))
        return -1;
    Lexer ahead = reader->lexer;
    Token name;
    lexer_next(&ahead, &name);
    if (!token_is_name(&name) || defs_find(reader, name.text, name.length))
        return -1;
    for (int i = 0; i < reader->parameter_count; i++) {
        const FieldType *parameter = &reader->parameters[i];
        const SceneNode *node = parameter->kind == FIELD_SF_NODE ? parameter->value.node : NULL;
        if (node && node->def && node->kind != SCENE_NODE_USE && token_is(&name, node->def))
            return i;
    }
    return -1;
}

bool reader_use(Reader *reader, SceneNode **node)
{
    assert_debug(token_is(&reader->token, "USE"));
    SourcePos pos = reader->token.pos;
    reader_advance(reader);
    if (!token_is_name(&reader->token)) {
        reader_expect(reader, TOKEN_WORD, "a name after USE");
        return false;
    }
    Token token = reader->token;
    reader_advance(reader);
    Arena *arena = scene_arena(reader->scene);
    const DefEntry *entry = defs_find(reader, token.text, token.length);
    const char *name = entry ? entry->name : token_string(&token, arena);
    if (!entry)
        entry = defs_find(reader, name, strlen(name));  // with bytes that are not UTF-8
    DefEntry elsewhere;
    if (!entry && find_elsewhere(reader, name, &elsewhere))
        entry = &elsewhere;
    if (!entry && take_default(reader, name, pos, node))
        return true;
    if (!entry) {
        reader_error(reader, token.pos, "USE %.60s: no node above has this DEF name", name);
        const char *closest = closest_def(reader, name);
        if (closest)
            diag_hint(reader->diags, "did you mean '%s'?", closest);
        return false;
    }
    if (!reader_count_nodes(reader, pos, entry->expanded))
        return false;
    *node = scene_node_create_use(reader->scene, entry->node, name, pos);
    return true;
}
