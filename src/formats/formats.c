// formats.c - which format a file is of, and the reader and writer of each.
#include "formats/formats.h"

#include "base/file.h"
#include "base/memory.h"
#include "formats/formats_internal.h"
#include "formats/proto/proto.h"

#include <stdlib.h>
#include <string.h>

// ---- formats ----

static const struct {
    const char *extension, *name;
    FileFormat format;
} formats[] = {
    { ".wbt", "Webots world", FORMAT_WORLD },
    { ".wbo", "Webots object", FORMAT_OBJECT },
    { ".proto", "Webots PROTO", FORMAT_PROTO },
    { ".wrl", "VRML97", FORMAT_VRML97 },
    { ".vrml", "VRML97", FORMAT_VRML97 },
    { ".body", "Choreonoid body", FORMAT_BODY },
    { ".cnoid", "Choreonoid project", FORMAT_PROJECT },
};

static FileFormat format_by_name(const char *path)
{
    const char *extension = path_extension(path);
    for (int i = 0; i < COUNT_OF(formats); i++)
        if (!strcasecmp(extension, formats[i].extension))
            return formats[i].format;
    return FORMAT_UNKNOWN;
}

// Whether the first word that is no comment and no declaration is PROTO.
static bool holds_proto(const char *text, size_t size)
{
    enum { WORDS_TO_LOOK_AT = 2000 };
    DiagSink *diags = diag_create();  // what is wrong with the text is said when it is read
    Lexer lexer;
    Token token;
    lexer_init(&lexer, text, size, 0, diags);
    bool found = false;
    for (int i = 0; i < WORDS_TO_LOOK_AT; i++) {
        lexer_next(&lexer, &token);
        if (token_is(&token, "PROTO"))
            found = true;
        if (token.kind != TOKEN_STRING && !token_is(&token, "EXTERNPROTO") && !token_is(&token, "IMPORTABLE"))
            break;
    }
    diag_destroy(diags);
    return found;
}

// A YAML file that is a body by its key `format`, or names one by its key `modelFile`.
static bool is_yaml_body(const char *path, const char *text, size_t size)
{
    static const char *const keys[] = { "modelFile:", "model_file:", "format: ChoreonoidBody" };
    const char *extension = path_extension(path);
    if (strcasecmp(extension, ".yaml") && strcasecmp(extension, ".yml"))
        return false;
    for (const char *line = text, *end = text + size; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        for (int i = 0; i < COUNT_OF(keys); i++)
            if ((size_t)(end - line) > strlen(keys[i]) && !memcmp(line, keys[i], strlen(keys[i])))
                return true;
        line = stop ? stop + 1 : end;
    }
    return false;
}

// Models of OpenHRP are VRML97 files with a node Humanoid.
static bool is_humanoid(const char *text, size_t size)
{
    static const char word[] = "Humanoid";
    const char *end = text + size;
    for (const char *at = text; (at = memmem(at, (size_t)(end - at), word, strlen(word)));) {
        at += strlen(word);
        const char *next = at;
        while (next < end && strchr(" \t\r\n", *next))
            next++;
        if (next < end && *next == '{')
            return true;
    }
    return false;
}

FileFormat formats_detect(const char *path, const char *text, size_t size)
{
    if (size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) {
        text += 3;
        size -= 3;
    }
    FileFormat named = format_by_name(path);
    if (size >= 9 && !memcmp(text, "#VRML_SIM", 9)) {
        if (holds_proto(text, size))
            return FORMAT_PROTO;
        return named == FORMAT_OBJECT ? FORMAT_OBJECT : FORMAT_WORLD;
    }
    bool is_vrml = size >= 7 && !memcmp(text, "#VRML V", 7);
    if ((is_vrml || named == FORMAT_VRML97) && named != FORMAT_OBJECT)
        return is_humanoid(text, size) ? FORMAT_BODY : FORMAT_VRML97;
    if (is_vrml)
        return FORMAT_OBJECT;
    if (named == FORMAT_PROTO && !holds_proto(text, size))
        return FORMAT_UNKNOWN;  // also the ending of protocol buffer definitions
    if (named == FORMAT_UNKNOWN && is_yaml_body(path, text, size))
        return FORMAT_BODY;
    return named;
}

// ---- loading ----

// What a scene remembers of its load, for nodes that are read into it later.
typedef struct LoadContext {
    ProtoScope *protos;
    Limits limits;
} LoadContext;

static void load_context_destroy(void *data) { free(data); }

typedef struct Source {
    FileFormat format;
    const char *name, *text;
    size_t size;
} Source;

// Text of the VRML family. Upgrades and bodies come when all nodes are there, checks when they are what they will be.
static bool load_scene(Scene *scene, const Source *source, const FormatsOptions *options, DiagSink *diags)
{
    FileFormat format = source->format;
    LoadContext *context = memory_alloc(sizeof *context);
    context->limits = *limits_or_default(options->limits);
    scene_attach(scene, context, load_context_destroy);
    Reader reader;
    reader_init(&reader, scene, (ReaderText){ source->text, source->size, diag_file(diags, source->name) },
                &context->limits, diags);
    reader_header(&reader, format);
    scene_set_path(scene, source->name);
    scene_set_release(scene, reader.release);
    if (format != FORMAT_VRML97)
        reader.protos = context->protos = proto_scope_create(scene, source->name, options, diags);
    reader.without_upgrade = options->without_upgrade;
    bool is_read = true;
    if (format == FORMAT_PROTO)
        is_read = proto_read_file(&reader, source->name);
    else
        reader_world(&reader);
    reader_deinit(&reader);
    if (format != FORMAT_VRML97 && !options->without_upgrade)
        upgrade_nodes(scene, scene_root(scene), scene_release(scene), diags);
    if (format != FORMAT_VRML97)
        body_place_all(scene, scene_root(scene), options, diags);
    if (format == FORMAT_WORLD && is_read)
        formats_check(scene, diags);
    return is_read;
}

static Scene *load_as(FileFormat format, const char *name, const char *text, size_t size, const FormatsOptions *options,
                      DiagSink *diags)
{
    static const FormatsOptions defaults = { 0 };
    options = options ? options : &defaults;
    SourcePos whole = { .file = diag_file(diags, name) };
    if ((int64_t)size > limits_or_default(options->limits)->file_bytes) {
        diag_error(diags, whole, "the file is larger than %lld bytes",
                   (long long)limits_or_default(options->limits)->file_bytes);
        return NULL;
    }
    // Mistakes inside a file are reported and leave a scene of what could be read; NULL is for what is none at all.
    Scene *scene = scene_create();
    bool is_read = false;
    switch (format) {
    case FORMAT_WORLD:
    case FORMAT_OBJECT:
    case FORMAT_PROTO:
    case FORMAT_VRML97: is_read = load_scene(scene, &(Source){ format, name, text, size }, options, diags); break;
    case FORMAT_BODY:
    case FORMAT_PROJECT: is_read = body_read_scene(scene, name, text, size, options, diags); break;
    default:
        diag_error(diags, whole, "this is not a file that can be opened here");
        diag_hint(diags, "known are .wbt, .wbo, .proto, .wrl and .body files, by their first line or their name");
        break;
    }
    if (is_read)
        return scene;
    scene_destroy(scene);
    return NULL;
}

// The format is what the first line says, else the ending: files of unknown origin are named as they like.
Scene *formats_load_text(const char *name, const char *text, size_t size, const FormatsOptions *options,
                         DiagSink *diags)
{
    return load_as(formats_detect(name, text, size), name, text, size, options, diags);
}

Scene *formats_load_vrml_text(const char *name, const char *text, size_t size, const FormatsOptions *options,
                              DiagSink *diags)
{
    return load_as(FORMAT_VRML97, name, text, size, options, diags);
}

typedef Scene *LoadText(const char *name, const char *text, size_t size, const FormatsOptions *options,
                        DiagSink *diags);

static Scene *load_file(const char *path, const FormatsOptions *options, DiagSink *diags, LoadText *load)
{
    const Limits *limits = limits_or_default(options ? options->limits : NULL);
    FileData file;
    SourcePos whole = { .file = diag_file(diags, path) };
    if (!file_read(path, (size_t)limits->file_bytes, &file, diags, whole))
        return NULL;
    Scene *scene = load(path, file.data, file.size, options, diags);
    file_release(&file);
    return scene;
}

Scene *formats_load(const char *path, const FormatsOptions *options, DiagSink *diags)
{
    return load_file(path, options, diags, formats_load_text);
}

Scene *formats_load_vrml(const char *path, const FormatsOptions *options, DiagSink *diags)
{
    return load_file(path, options, diags, formats_load_vrml_text);
}

// A node in the words and axes of the world's release, in those of today. It may become another node, or stand in one.
static SceneNode *upgrade_imported(Scene *scene, SceneNode *node, DiagSink *diags)
{
    const FieldType *children = schema_field(schema_type("Group"), "children");
    if (!scene_release(scene) || node->kind == SCENE_NODE_USE || node->kind == SCENE_NODE_UNKNOWN
        || schema_type_is(node->type, "Geometry"))
        return node;
    FieldList list = { .count = 1, .nodes = &node };
    FieldValue value = upgrade_value(scene, children, (FieldValue){ .list = &list }, scene_release(scene), diags);
    node = value.list->count == 1 && value.list->nodes[0] ? value.list->nodes[0] : node;
    node->parent = NULL;
    return node;
}

const char *formats_undeclared_proto(Scene *scene, const char *text, size_t size)
{
    const LoadContext *context = scene_attached(scene, load_context_destroy);
    if (!context || !context->protos)
        return NULL;
    DiagSink *diags = diag_create();  // what is wrong with the text is said when it is read
    Lexer lexer;
    Token name, next;
    lexer_init(&lexer, text, size, 0, diags);
    const char *found = NULL;
    for (lexer_next(&lexer, &name); !found && name.kind != TOKEN_END; name = next) {
        lexer_next(&lexer, &next);
        if (name.kind == TOKEN_WORD && next.kind == TOKEN_BRACE_OPEN && !schema_type_text(name.text, name.length)
            && proto_needs_declaration(context->protos, name.text, name.length))
            found = token_string(&name, scene_arena(scene));
    }
    diag_destroy(diags);
    return found;
}

const FieldList *formats_parse_nodes(Scene *scene, const char *text, size_t size, bool in_bounding, DiagSink *diags)
{
    const LoadContext *context = scene_attached(scene, load_context_destroy);
    const Limits *limits = context ? &context->limits : &limits_default;
    scene_piece_begin(scene);  // goes as a whole when it is removed
    FieldList *list = arena_alloc(scene_arena(scene), sizeof *list);
    if ((int64_t)size > limits->file_bytes) {
        diag_error(diags, (SourcePos){ 0 }, "the text is larger than %lld bytes", (long long)limits->file_bytes);
        scene_piece_end(scene);
        return list;
    }
    Reader reader;
    reader_init(&reader, scene, (ReaderText){ text, size, diag_file(diags, "(imported)") }, limits, diags);
    reader.format = FORMAT_OBJECT;
    reader.protos = context ? context->protos : NULL;
    reader.release = scene_release(scene);  // controllers write what the world's file does
    reader.is_import = true;
    proto_lock(scene);
    while (reader.token.kind != TOKEN_END) {
        const char *before = reader.token.text;
        SceneNode *node;
        if (reader_node(&reader, &node) && node) {
            scene_list_reserve(scene, list, FIELD_SF_NODE, list->count + 1);
            node = upgrade_imported(scene, node, diags);
            list->nodes[list->count++] = check_imported(scene, node, in_bounding, diags);
            body_place_all(scene, list->nodes[list->count - 1], &(FormatsOptions){ .limits = limits }, diags);
        } else if (reader.token.text == before) {
            reader_advance(&reader);
        }
    }
    proto_unlock(scene);
    reader_deinit(&reader);
    scene_piece_end(scene);
    return list;
}

// ---- saving ----

bool formats_save(const Scene *scene, const char *path, DiagSink *diags)
{
    Text text = { 0 };
    formats_write(scene, &text);
    bool is_saved = file_write_atomic(path, text.data ? text.data : "", text.length, diags);
    text_free(&text);
    return is_saved;
}
