// Nodes and whole files: base nodes, instances of PROTOs, unknown ones.
#include "base/memory.h"
#include "formats/formats_internal.h"
#include "formats/text/parser_internal.h"

#include <stdlib.h>
#include <string.h>

// ---- nodes ----

static void report_unknown_node(Reader *reader, const Token *name)
{
    if (!reader_first_report(reader, "", name->text, name->length))
        return;
    char buffer[64];
    diag_warning(reader->diags, name->pos, "%s is neither a node nor a PROTO that can be found; it is ignored",
                 token_describe(name, buffer));
    int count = schema_type_count();
    const char **candidates = memory_alloc_array((size_t)count + 1, sizeof *candidates);
    int used = 0;
    for (int i = 0; i < count; i++)
        if (!(schema_type_at(i)->flags & NODE_ABSTRACT))
            candidates[used++] = schema_type_at(i)->name;
    const char *word = arena_text(scene_arena(reader->scene), name->text, (size_t)int_min((int)name->length, 100));
    const char *closest = text_closest(word, candidates, used);
    free(candidates);
    if (closest)
        diag_hint(reader->diags, "did you mean '%s'?", closest);
    else if (reader->release >= 2022100 && reader->format != FORMAT_VRML97)
        diag_hint(reader->diags, "a PROTO is declared at the top of the file: EXTERNPROTO \".../%.40s.proto\"", word);
}

static bool read_unknown_node(Reader *reader, const Token *name, const char *def, SceneNode **node)
{
    assert_debug(name->kind == TOKEN_WORD && node);
    report_unknown_node(reader, name);
    const char *type_name = token_string(name, scene_arena(reader->scene));
    if (reader->token.kind == TOKEN_BRACE_OPEN && !reader_skip_block(reader)) {
        reader_error(reader, reader->token.pos, "the file ends inside of %.60s", type_name);
        return false;
    }
    const char *open = reader->lexer.open_string;
    if (open && open > name->text && open <= reader->previous_end)
        return false;
    const char *text = reader->format == FORMAT_VRML97 ? "" : reader_text_since(reader, name->text);
    *node = scene_node_create_unknown(reader->scene, type_name, text, name->pos);
    reader_add_passed_over(reader, *node, name->text);
    if (def) {
        (*node)->def = def;
        defs_add(reader, *node, 1);
    }
    return true;
}

// A base node of this name, unless the file means a PROTO: names of removed and of VRML97 nodes are free for them, and
// those of our own additions, which no author of a world has to know.
static const NodeType *find_type(Reader *reader, const Token *name, SceneProto **proto)
{
    assert_debug(name->kind == TOKEN_WORD);
    const NodeType *type = reader->format == FORMAT_VRML97 ? schema_humanoid_type(name->text, name->length) : NULL;
    *proto = NULL;
    if (type)
        return type;
    type = schema_type_text(name->text, name->length);
    if (type && (type->flags & NODE_ABSTRACT) && !(type->flags & NODE_REMOVED))
        return NULL;
    bool is_free = false;
    if (type && reader->format != FORMAT_VRML97) {
        if (type->flags & (NODE_VRML97 | NODE_TALUS))
            is_free = true;
        else if ((type->flags & NODE_REMOVED) && type->until)
            is_free = reader->release > schema_release(type->until, strlen(type->until));
    }
    if (reader->protos && (!type || (is_free && proto_exists(reader, name->text, name->length))))
        *proto = proto_resolve(reader, name->text, name->length, name->pos);
    return *proto ? NULL : type;
}

// Nesting deeper than allowed: the block is passed over without going down into it.
static bool enter(Reader *reader, SourcePos pos)
{
    assert(reader->depth >= 0);
    if (reader->depth < reader->limits->nesting) {
        reader->depth++;
        return true;
    }
    if (!reader->too_deep)
        reader_error(reader, pos, "nodes are nested deeper than %lld; what is deeper is left out",
                     (long long)reader->limits->nesting);
    reader->too_deep = true;
    if (reader->token.kind == TOKEN_BRACE_OPEN)
        reader_skip_block(reader);
    return false;
}

static bool read_def(Reader *reader, Token *def)
{
    assert_debug(token_is(&reader->token, "DEF"));
    SourcePos pos = reader->token.pos;
    reader_advance(reader);
    if (!token_is_name(&reader->token)) {
        reader_expect(reader, TOKEN_WORD, "a name and a node after DEF");
        return false;
    }
    Lexer ahead = reader->lexer;
    Token next;
    lexer_next(&ahead, &next);
    if (next.kind == TOKEN_BRACE_OPEN) {
        if (reader->format == FORMAT_VRML97)
            diag_warning(reader->diags, pos, "DEF has no name; it is ignored");
        else
            reader_error(reader, pos, "DEF has no name");
        diag_hint(reader->diags, "DEF is followed by a name and a node: DEF NAME %.*s { ... }",
                  int_min((int)reader->token.length, 40), reader->token.text);
        return true;
    }
    *def = reader->token;
    reader_advance(reader);
    return true;
}

// Whether a node begins at the current token, after its DEF. A name that is no base node's is one only with a brace.
static bool expect_node(Reader *reader, bool has_def)
{
    const Token *name = &reader->token;
    if (name->kind != TOKEN_WORD || name->length >= NAME_BYTES_MAX) {
        reader_expect(reader, TOKEN_WORD, "the name of a node");
        return false;
    }
    Lexer ahead = reader->lexer;
    Token next;
    lexer_next(&ahead, &next);
    if (next.kind == TOKEN_BRACE_OPEN || has_def || schema_type_text(name->text, name->length))
        return true;
    char buffer[64];
    reader_error(reader, name->pos, "expected a node, found %s", token_describe(name, buffer));
    return false;
}

// From the '{' on. An instance gets its tree at the closing brace, when its parameters are known.
static void complete_node(Reader *reader, SceneNode *node)
{
    assert(reader->depth > 0);  // of enter()
    if (reader->token.kind == TOKEN_BRACE_OPEN)
        reader_fields(reader, node);
    else
        reader_expect(reader, TOKEN_BRACE_OPEN, "'{' after the name of a node");
    reader->depth--;
    if (node->kind != SCENE_NODE_INSTANCE || reader->is_body)
        return;
    if (reader->release && !reader->without_upgrade) {
        upgrade_nodes(reader->scene, node, reader->release, reader->diags);
        for (int i = 0; i < node->field_count; i++)
            defs_each_of_field(reader, &node->fields[i], defs_follow);
    }
    proto_instantiate(reader, node);
}

// A base node, an instance of a PROTO or an unknown node; what is wrong is skipped with its braces, so that the rest of
// the file is read all the same.
static bool read_named_node(Reader *reader, const char *def, CommentRange comment, SceneNode **node)
{
    Token name = reader->token;
    SceneProto *proto;
    const NodeType *type = find_type(reader, &name, &proto);
    assert_debug(!type || !proto);
    if (!reader_count_nodes(reader, name.pos, 1)) {
        reader_advance(reader);
        if (reader->token.kind == TOKEN_BRACE_OPEN)
            reader_skip_block(reader);
        return false;
    }
    if (!type && !proto) {
        reader_advance(reader);
        if (!read_unknown_node(reader, &name, def, node))
            return false;
        reader_keep_comment(reader, *node, NULL, comment);
        return true;
    }
    int64_t expanded_before = reader->expanded - 1;
    SceneNode *made = type ? scene_node_create(reader->scene, type, name.pos)
                           : scene_node_create_instance(reader->scene, proto, name.pos);
    made->def = def;
    reader_keep_comment(reader, made, NULL, comment);
    reader_advance(reader);
    if (!enter(reader, name.pos))
        return false;
    complete_node(reader, made);
    if (def)
        defs_add(reader, made, reader->expanded - expanded_before);
    *node = made;
    return true;
}

bool reader_node(Reader *reader, SceneNode **node)
{
    *node = NULL;
    const CommentRange comment = reader_comment(reader);
    if (token_is(&reader->token, "NULL")) {
        reader_advance(reader);
        return true;
    }
    if (token_is(&reader->token, "USE")) {
        bool is_read = reader_use(reader, node);
        if (is_read)
            reader_keep_comment(reader, *node, NULL, comment);
        return is_read;
    }
    Token def = { 0 };
    if (token_is(&reader->token, "DEF") && !read_def(reader, &def))
        return false;
    if (!expect_node(reader, def.length > 0))
        return false;
    return read_named_node(reader, def.length ? token_string(&def, scene_arena(reader->scene)) : NULL, comment, node);
}

// ---- whole files ----

// ROUTE a.b TO c.d, PROTO Name [ ... ] { ... }: parts of VRML97 that a still mesh has no use for.
static bool skip_vrml97_statement(Reader *reader)
{
    Token token = reader->token;
    bool is_known = false;
    if (token_is(&token, "ROUTE")) {
        reader_advance(reader);
        for (int i = 0; i < 3 && reader->token.kind == TOKEN_WORD; i++)
            reader_advance(reader);
    } else if (token_is(&token, "PROTO")) {
        reader_advance(reader);
        is_known = schema_humanoid_type(reader->token.text, reader->token.length) != NULL;
        if (reader->token.kind == TOKEN_WORD)
            reader_advance(reader);
        if (reader->token.kind == TOKEN_BRACKET_OPEN)
            reader_skip_block(reader);
        if (reader->token.kind == TOKEN_BRACE_OPEN)
            reader_skip_block(reader);
    } else {
        return false;
    }
    char buffer[64];
    if (reader->format == FORMAT_VRML97) {
        if (!is_known && reader_first_report(reader, "statement", token.text, token.length))
            diag_note(reader->diags, token.pos, "%s is ignored", token_describe(&token, buffer));
    } else {
        reader_error(reader, token.pos, "%s cannot stand in a world", token_describe(&token, buffer));
        diag_hint(reader->diags, token_is(&token, "PROTO") ? "a PROTO has a file of its own, named after it"
                                                           : "nothing in a world is connected by routes");
    }
    return true;
}

static bool read_declaration(Reader *reader)
{
    SceneExtern declaration;
    const CommentRange comment = reader_comment(reader);
    if (!reader_extern(reader, &declaration))
        return false;
    if (declaration.url && reader->format != FORMAT_VRML97) {
        reader_keep_comment(reader, scene_root(reader->scene), NULL, comment);
        scene_extern_add(reader->scene, declaration.url, declaration.is_importable, declaration.pos);
        if (reader->protos)
            proto_scope_declare(reader->protos, &declaration, reader->diags);
    }
    return true;
}

// A brace, a bracket or a value where a node should begin.
static void skip_stray(Reader *reader)
{
    assert_debug(reader->token.kind != TOKEN_WORD && reader->token.kind != TOKEN_END);
    char buffer[64];
    reader_error(reader, reader->token.pos, "expected a node, found %s", token_describe(&reader->token, buffer));
    if (reader->token.kind == TOKEN_BRACE_CLOSE || reader->token.kind == TOKEN_BRACKET_CLOSE)
        diag_hint(reader->diags, "there is one more of them than was opened");
    if (reader->token.kind == TOKEN_BRACE_OPEN || reader->token.kind == TOKEN_BRACKET_OPEN)
        reader_skip_block(reader);
    else
        reader_advance(reader);
}

// The reader goes on after every mistake, and each turn of the loop takes at least one token: no text can hold it.
void reader_world(Reader *reader)
{
    assert_debug(reader->depth == 0 && reader->scratch.node_count == 0);
    SceneNode *root = scene_root(reader->scene);
    const FieldType *children = schema_field(root->type, "children");
    int base = reader->scratch.node_count;
    while (reader->token.kind != TOKEN_END) {
        if (read_declaration(reader) || skip_vrml97_statement(reader))
            continue;
        const char *before = reader->token.text;
        if (reader->token.kind != TOKEN_WORD) {
            skip_stray(reader);
            continue;
        }
        SceneNode *node;
        bool is_read = reader_node(reader, &node);
        if (is_read && node)
            *memory_push(reader->scratch.nodes, reader->scratch.node_count, reader->scratch.node_capacity) = node;
        if (!is_read && reader->token.text == before && reader->token.kind != TOKEN_END) {
            reader_advance(reader);
            if (reader->token.kind != TOKEN_WORD)
                reader_skip_value(reader);
        }
    }
    assert(reader->scratch.node_count >= base);  // each level gives back what it took of the stack
    reader_keep_comment(reader, root, "", reader_comment(reader));
    FieldList list = { .count = reader->scratch.node_count - base };
    list.nodes = reader->scratch.nodes + base;
    scene_set_value(reader->scene, root, children, (FieldValue){ .list = &list });
    reader->scratch.node_count = base;
}
