// proto_bodies.c - the body of a PROTO as nodes: read once, or once for each text that its template makes. Instances
// are clones of it (proto_make.c).
#include "formats/proto/proto_internal.h"

#include "base/hash.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

SourcePos proto_pos_in(const Definition *definition, SourcePos pos, DiagSink *diags)
{
    pos.file = diag_file(diags, definition->proto.path);
    return pos;
}

const SceneField *proto_own_field(const SceneNode *instance, int parameter)
{
    assert(parameter >= 0 && parameter < instance->proto->parameter_count);
    const FieldType *type = &instance->proto->parameters[parameter];
    for (int i = 0; i < instance->field_count; i++)
        if (instance->fields[i].type == type)
            return &instance->fields[i];
    return NULL;
}

// Everything of the definition's release becomes what the newest schema says. The root may become another node.
static SceneNode *upgrade_body(Definition *definition, SceneNode *root, DiagSink *diags)
{
    assert_debug(definition->library);
    ProtoLibrary *library = definition->library;
    if (!root || library->without_upgrade)
        return root;
    SceneNode *holder = scene_node_create(library->definitions, schema_type("Group"), root->pos);
    SceneNode *children[] = { root };
    FieldList list = { .count = 1, .nodes = children };
    scene_set_value(library->definitions, holder, schema_field(holder->type, "children"),
                    (FieldValue){ .list = &list });
    upgrade_nodes(library->definitions, holder, definition->proto.release, diags);
    const FieldList *upgraded = scene_list(holder, "children");
    root = upgraded->count > 0 ? upgraded->nodes[0] : NULL;
    if (root)
        root->parent = NULL;
    return root;
}

// Parameters are known while the body is read, so that IS connects fields by index. All mistakes of a body are told
// at its own lines, whoever instantiates it.
static SceneNode *read_body(Definition *definition, Reader *reader, int *node_count)
{
    assert_debug(!reader->parameters);  // given here
    ProtoLibrary *library = definition->library;
    int before = scene_node_count(library->definitions);
    reader->protos = definition->scope;
    reader->format = FORMAT_PROTO;
    reader->release = definition->proto.release;
    reader->parameters = definition->proto.parameters;
    reader->parameter_count = definition->proto.parameter_count;
    reader->parameter_used = definition->used;
    reader->is_body = true;
    SceneNode *root = NULL;
    if (reader->token.kind == TOKEN_BRACE_CLOSE || reader->token.kind == TOKEN_END) {
        reader_error(reader, reader->token.pos, "the body of the PROTO '%s' is empty", definition->proto.name);
        diag_hint(reader->diags, "a PROTO makes exactly one node");
    } else if (!reader_node(reader, &root) || !root) {
        root = NULL;
    } else if (reader->token.kind == TOKEN_WORD || reader->token.kind == TOKEN_BRACKET_OPEN) {
        char buffer[64];
        reader_error(reader, reader->token.pos, "the body of a PROTO is one node; what follows from %s on is ignored",
                     token_describe(&reader->token, buffer));
    } else if (reader->token.kind == TOKEN_END && !definition->proto.is_template) {
        reader_error(reader, reader->token.pos, "the body of the PROTO '%s' has no closing '}'",
                     definition->proto.name);
    }
    if (root && (root->kind == SCENE_NODE_USE || root->kind == SCENE_NODE_UNKNOWN)) {
        diag_error(reader->diags, root->pos, "the body of the PROTO '%s' makes no node", definition->proto.name);
        root = NULL;
    }
    root = upgrade_body(definition, root, reader->diags);
    *node_count = scene_node_count(library->definitions) - before;
    return root;
}

SceneNode *proto_plain_body(Definition *definition, DiagSink *diags)
{
    if (definition->is_body_read)
        return definition->body;
    definition->is_body_read = true;
    Reader reader;
    ReaderText text = { definition->text, definition->size, diag_file(diags, definition->proto.path) };
    reader_init(&reader, definition->library->definitions, text, &definition->library->limits, diags);
    reader.lexer = definition->body_lexer;
    reader.lexer.diags = diags;
    reader.lexer.file = diag_file(diags, definition->proto.path);
    reader_advance(&reader);
    definition->body = read_body(definition, &reader, &definition->body_nodes);
    reader_deinit(&reader);
    return definition->body;
}

static const char *coordinate_system(const Scene *scene)
{
    enum { NODES_TO_LOOK_AT = 64, FIRST_ENU_RELEASE = 2020100 };
    for (uint32_t id = 1; id < NODES_TO_LOOK_AT && (int)id < scene_node_count(scene); id++) {
        const SceneNode *node = scene_find_id(scene, id);
        if (!node || node->kind != SCENE_NODE_PLAIN || strcmp(node->type->name, "WorldInfo"))
            continue;
        for (int i = 0; i < node->field_count; i++)
            if (!strcmp(node->fields[i].type->name, "coordinateSystem"))
                return node->fields[i].value.s;
    }
    return scene_release(scene) && scene_release(scene) < FIRST_ENU_RELEASE ? "NUE" : "ENU";
}

// Two instances whose templates made the same text share one body, whatever their parameters were.
static SceneNode *read_generated(Definition *definition, const TemplateResult *result, DiagSink *diags, int *node_count)
{
    assert_debug(result->text.data || result->text.length == 0);
    ProtoLibrary *library = definition->library;
    const char *text = result->text.data ? result->text.data : "";
    uint64_t hash[2] = { hash_bytes(text, result->text.length, 1), hash_bytes(text, result->text.length, 2) };
    for (GeneratedBody *body = definition->generated; body; body = body->next) {
        if (body->hash[0] == hash[0] && body->hash[1] == hash[1]) {
            *node_count = body->node_count;
            return body->root;
        }
    }
    Reader reader;
    uint16_t file = diag_file(diags, definition->proto.path);
    reader_init(&reader, library->definitions, (ReaderText){ "", 0, file }, &library->limits, diags);
    lexer_init(&reader.lexer, text, result->text.length, file, diags);
    reader.lexer.line_map = result->line_of;
    reader.lexer.line_map_count = result->line_count;
    reader.previous_end = reader.lexer.at;
    reader_advance(&reader);
    GeneratedBody *body = arena_alloc(library->arena, sizeof *body);
    body->hash[0] = hash[0];
    body->hash[1] = hash[1];
    body->root = read_body(definition, &reader, &body->node_count);
    body->next = definition->generated;
    definition->generated = body;
    reader_deinit(&reader);
    *node_count = body->node_count;
    return body->root;
}

// Headers of those releases are also met above templates of later ones, which a look at the code tells apart.
static bool has_old_fields(const Definition *definition)
{
    enum { FIRST_RELEASE_WITH_FIELD_TABLES = 8100 };
    const char *begin = definition->body_lexer.at;
    int release = definition->proto.release;
    return definition->language == TEMPLATE_LUA && release && release < FIRST_RELEASE_WITH_FIELD_TABLES
           && !template_asks_for_value(begin, (size_t)(definition->body_end - begin));
}

// The parameters that the template's code reads, with what the instance gives them. The caller frees them.
static int list_read_fields(const Definition *definition, const SceneNode *instance, TemplateField **fields)
{
    const SceneProto *proto = &definition->proto;
    assert_debug(definition->is_read && instance->proto == proto);
    int count = 0;
    *fields = memory_alloc_array((size_t)proto->parameter_count + 1, sizeof **fields);
    for (int i = 0; i < proto->parameter_count; i++) {
        const SceneField *own = proto_own_field(instance, i);
        if (definition->is_read[i])
            (*fields)[count++] = (TemplateField){ &proto->parameters[i],
                                                  own ? own->value : proto->parameters[i].value };
    }
    return count;
}

// Evaluates the template with the parameters that its code reads and reads what comes out; the same text is read once.
SceneNode *proto_template_body(ProtoMaker *maker, Definition *definition, const SceneNode *instance, int *node_count)
{
    ProtoLibrary *library = definition->library;
    const SceneProto *proto = &definition->proto;
    if (library->without_templates) {
        if (!definition->is_body_read)
            diag_warning(maker->diags, proto_pos_in(definition, definition->pos, maker->diags),
                         "the template of the PROTO '%s' is not evaluated", proto->name);
        definition->is_body_read = true;
        return NULL;
    }
    TemplateField *fields;
    int field_count = list_read_fields(definition, instance, &fields);
    char *real = path_real(library->arena, proto->path);
    TemplateJob job = {
        .path = proto->path,
        .text = definition->body_lexer.at,
        .size = (size_t)(definition->body_end - definition->body_lexer.at),
        .pos = { diag_file(maker->diags, proto->path), 1, definition->body_lexer.line },
        .language = definition->language,
        .fields = fields,
        .field_count = field_count,
        .has_old_fields = has_old_fields(definition),
        .limits = &library->limits,
        .files = &library->files,
        .budget = &library->template_budget,
        .context = { .world = library->world_path,
                     .proto = real ? real : proto->path,
                     .project_path = resolve_project_folder(library->resolver),
                     .webots_version = "R2025a",
                     .temporary_files_path = TEMPLATE_FILES_PATH,
                     .coordinate_system = coordinate_system(maker->scene),
                     .id = (int)instance->id,
                     .world_release = scene_release(maker->scene) },
    };
    TemplateResult result;
    SceneNode *body = NULL;
    if (template_eval(&job, &result, maker->diags)) {
        body = read_generated(definition, &result, maker->diags, node_count);
        template_result_free(&result);
    }
    free(fields);
    return body;
}
