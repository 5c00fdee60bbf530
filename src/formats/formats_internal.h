// formats_internal.h - the reader of VRML-like text, and the seams between its parts. For this folder alone.
//
//   text/      lexer.c: text -> tokens with places; reader.c: the Reader's state; parser*.c: tokens -> nodes, their
//              names, fields, values and connections; writer.c: scene -> text
//   template/  the code in PROTO bodies
//   proto/     which PROTO a name means, its definition, and the tree of an instance
//   upgrade/   old releases -> newest schema
//   check/     structure
//   body/      Choreonoid's bodies and projects
//   formats.c  puts them together
//
// A Reader reads one text in one DEF scope. A world is one Reader; the body of a PROTO (or what its template made of
// it) is another one with `parameters` set, in which a field may be connected: `translation IS pose`. Such a body is
// read once into nodes (of the same scene, or of a scene that lives as long) and copied for every instance with
// scene_node_clone_body(). Nodes given as parameters are read by the Reader of the file that gives them, hence in the
// scope of that file, before proto_instantiate() is called at the closing brace of the instance.
#ifndef TALUS_FORMATS_FORMATS_INTERNAL_H
#define TALUS_FORMATS_FORMATS_INTERNAL_H

#include "formats/formats.h"

// ---- lexer.c ----

typedef enum TokenKind {
    TOKEN_END,
    TOKEN_WORD,    // names, keywords, also numbers that are none: "1.2.3"
    TOKEN_NUMBER,  // `number` holds it; nan and inf are words
    TOKEN_STRING,  // `text` is what stands between the quotes, escapes not yet resolved
    TOKEN_BRACE_OPEN,
    TOKEN_BRACE_CLOSE,
    TOKEN_BRACKET_OPEN,
    TOKEN_BRACKET_CLOSE,
} TokenKind;

typedef struct Token {
    const char *text;
    size_t length;
    double number;
    SourcePos pos;
    uint8_t kind;
    bool has_escapes;
} Token;

typedef struct Lexer {
    const char *start, *end;  // the whole text; need not end with NUL
    const char *at;           // next character to read
    const char *line_start;
    uint32_t line;
    uint16_t file;
    bool reported_encoding;
    const char *open_string;            // the one string that has no closing quote, NULL when there is none so far
    const char *comment, *comment_end;  // comments since someone last took them, from the first '#' on; NULL: none
    const uint32_t *line_map;  // for generated text: line_map[i] is the source line of line i + 1; NULL: the same
    uint32_t line_map_count;
    DiagSink *diags;
} Lexer;

// Skips a byte order mark. `text` must outlive the lexer.
void lexer_init(Lexer *lexer, const char *text, size_t size, uint16_t file, DiagSink *diags);
void lexer_next(Lexer *lexer, Token *token);
SourcePos lexer_pos(const Lexer *lexer, const char *at);  // `at` must be on the current line
bool token_is(const Token *token, const char *word);      // a word that is exactly this
// The string or word with escapes resolved, in the arena; bytes that are not UTF-8 become '?', NULs ' '.
const char *token_string(const Token *token, Arena *arena);

// ---- reader.c, parser*.c ----

typedef struct DefEntry {
    const char *name;  // that the node had when it was added: an upgrade may give it to one inside
    SceneNode *node;
    int64_t order;     // of its beginning in the text
    int64_t expanded;  // nodes that a USE of it stands for
    bool is_gone;      // it was in the default of a parameter that is given after all
} DefEntry;

// DEF names, open addressing. A name is that of the node which ended last, unless one inside of it has the same: this
// one goes on counting.
typedef struct DefTable {
    DefEntry *slots;
    int count, slot_count;
} DefTable;

const DefEntry *def_table_find(const DefTable *table, const char *name, size_t length);  // NULL: none
void def_table_put(DefTable *table, DefEntry entry);
void def_table_deinit(DefTable *table);

typedef struct ProtoScope ProtoScope;  // of proto.c: which file this is, what it declares, what was found already

typedef struct Reader {
    Scene *scene;
    DiagSink *diags;
    const Limits *limits;
    Lexer lexer;
    Token token;               // the one to look at next
    const char *previous_end;  // where the one before it ended
    FileFormat format;         // FORMAT_WORLD, FORMAT_OBJECT, FORMAT_PROTO or FORMAT_VRML97
    int release;               // of the text's header

    ProtoScope *protos;           // NULL: unknown names are unknown nodes
    const FieldType *parameters;  // what IS may name; NULL outside of PROTO bodies
    int parameter_count;
    bool without_upgrade;  // what is given to instances stays as an old release wrote it
    bool is_body;          // instances inside are not made yet: whoever copies the body does that
    bool *parameter_used;  // parameter_count flags, set when an IS names one; NULL: nobody asks

    int depth;
    int64_t expanded;  // nodes so far, each USE counting as what it repeats
    int64_t syntax_errors;
    bool too_many_nodes, too_deep;  // reported already
    uint64_t *reported;             // hashes of unknown names that were reported already, open addressing
    int reported_count, reported_slots;
    struct {  // scratch of the parser: stacks shared by all levels
        SceneField *fields;
        SceneNode **nodes;
        double *numbers;
        int field_count, field_capacity, node_count, node_capacity, number_capacity;
        const char **strings;
        int string_capacity;
    } scratch;
    DefTable defs;
    bool is_import;  // a USE may name what the scene has already
} Reader;

typedef struct ReaderText {
    const char *text;
    size_t size;
    uint16_t file;  // of diag_file()
} ReaderText;

// The text must outlive the reader. The first token is read already.
void reader_init(Reader *reader, Scene *scene, ReaderText text, const Limits *limits, DiagSink *diags);
void reader_deinit(Reader *reader);
void reader_advance(Reader *reader);  // to the next token

// The header line "#VRML_SIM R2025a utf8", to be called before anything was read. Returns false, having reported it,
// when it is missing or wrong; reading on is then a guess at the newest release. Sets `release` and `format`.
bool reader_header(Reader *reader, FileFormat expected);
// An "EXTERNPROTO url" or "IMPORTABLE EXTERNPROTO url" at the current token: true and *out when there is one.
bool reader_extern(Reader *reader, SceneExtern *out);
// All nodes up to the end of the text, as children of the scene's root.
void reader_world(Reader *reader);

// A node, USE or NULL at the current token. Returns false when none is there or it is unusable (reported, and skipped);
// *node is NULL for NULL.
bool reader_node(Reader *reader, SceneNode **node);
// In the body of a PROTO, at a USE of the name that a parameter gives its whole default value: that parameter, else -1.
int reader_parameter_of_use(Reader *reader);
// A value of the type's kind, in range, in the scene's arena. Returns false when there is none (reported, and skipped);
// *value is then the type's default.
bool reader_value(Reader *reader, const FieldType *type, FieldValue *value);
// The field after its name: a value, or IS and a parameter. A connected field has the parameter's default as its value
// (no nodes). Its kind is that of the parameter, or the list of it: old PROTOs have `controllerArgs IS args` with an
// SFString; scene_value_as() converts. Returns false when the field is to be left out.
bool reader_field(Reader *reader, const FieldType *type, SceneField *field);
// Whether the value at the current token has the form of the kind.
bool reader_value_has_form(const Reader *reader, FieldKind kind);
// Skips one value of unknown kind. Returns whether there was one, and whole.
bool reader_skip_value(Reader *reader);
// Comments before the current token that nobody has kept yet, and keeping them with a node: before its field `before`,
// NULL before the node, "" at its end. What stands inside of text that is kept as it is is kept with that.
typedef struct CommentRange {
    const char *from, *to;
} CommentRange;  // from is NULL when there is none
CommentRange reader_comment(const Reader *reader);
void reader_keep_comment(Reader *reader, const SceneNode *node, const char *before, CommentRange range);
void reader_drop_comments_before(Reader *reader, const char *end);
// Like diag_error, for mistakes of syntax: counts them. After too many of them the rest of the text is skipped.
void reader_error(Reader *reader, SourcePos pos, const char *format, ...) PRINTF_LIKE(3, 4);
// Whether this name is reported for the first time in this text.
bool reader_first_report(Reader *reader, const char *kind, const char *name, size_t length);
const char *token_describe(const Token *token, char buffer[64]);  // for messages: 'word', "string", end of file
// Skips a balanced {...} or [...] at the current token. Returns false at the end of the text.
bool reader_skip_block(Reader *reader);
bool reader_expect(Reader *reader, TokenKind kind,
                   const char *what);  // reports "expected what, found ..." when it is not

// ---- proto*.c ----

// Made for the file at `path`, whose EXTERNPROTO lines are in reader->scene or are added with proto_scope_declare.
// Belongs to the scene (scene_attach).
ProtoScope *proto_scope_create(Scene *scene, const char *path, const FormatsOptions *options, DiagSink *diags);
void proto_scope_declare(ProtoScope *scope, const SceneExtern *declaration, DiagSink *diags);
bool proto_needs_declaration(const ProtoScope *scope, const char *name, size_t length);  // and has none
// The PROTO that this file means by a name that is no base node, or NULL when it means none (then it is an unknown
// node, reported by the caller). One that cannot be found is a placeholder: reported once, kept, its unknown parameters
// too.
SceneProto *proto_resolve(Reader *reader, const char *name, size_t length, SourcePos pos);
// Whether a file of that name can be found; nothing is reported.
bool proto_exists(Reader *reader, const char *name, size_t length);
// Whether a node in the default of a parameter has a DEF name, which a USE behind it in the file may name.
bool proto_default_has_names(const SceneProto *proto, int parameter);
// The default of the parameter as a field of this instance's own.
SceneField proto_own_default(Reader *reader, SceneNode *instance, int parameter);
// Called at the closing brace of an instance whose parameters have been read: makes its tree (`target`), or reports.
void proto_instantiate(Reader *reader, SceneNode *instance);
// State that was saved with an instance: given to the nodes of its tree, and taken from them as they are in the scene
// now.
void proto_apply_hidden(Scene *scene, SceneNode *instance, DiagSink *diags);
void proto_keep_hidden(Scene *scene, SceneNode *instance);
// The text of the file that defines a PROTO, its comments included; NULL and 0 for a placeholder, which has none.
const char *proto_text(const SceneProto *proto, size_t *size);
// A .proto file: defines it and puts one instance with all defaults into the scene.
bool proto_read_file(Reader *reader, const char *path);

// ---- upgrade*.c, check*.c ----

// Brings nodes read from a file of `release` to the newest schema: everything below `top`, but not into instances of
// PROTOs (their own release counts for them). For a world `top` is the root of the scene.
// An instance as `top` has its parameters upgraded: to be done before its tree is made, once; later calls pass it by.
void upgrade_nodes(Scene *scene, SceneNode *top, int release, DiagSink *diags);
// What can only be done when the tree of an instance stands and connected fields have their values: to be called then.
void upgrade_instance(Scene *scene, SceneNode *instance, DiagSink *diags);
// The same for nodes that nothing holds yet, such as the default of a PROTO's parameter. Returns the value to use.
FieldValue upgrade_value(Scene *scene, const FieldType *type, FieldValue value, int release, DiagSink *diags);
// Transform became a thing to look at; without scale it is a Pose.
void upgrade_name_pose(SceneNode *node);

// ---- body*.c ----

// A .body or .cnoid file as nodes of an empty scene. False when nothing could be read.
bool body_read_scene(Scene *scene, const char *name, const char *text, size_t size, const FormatsOptions *options,
                     DiagSink *diags);
// Makes robots of all Body nodes at or below `top`.
void body_place_all(Scene *scene, SceneNode *top, const FormatsOptions *options, DiagSink *diags);

// ---- check/check.c ----

// A node that is imported, or the copy that stands for it: no USE in it is of something that can only be in one place.
SceneNode *check_imported(Scene *scene, SceneNode *node, bool in_bounding, DiagSink *diags);

// ---- writer.c ----

// One value as a file writes it, lists and nodes indented to continue at `indent` spaces.
void writer_value(const Scene *scene, FieldKind kind, const FieldValue *value, int indent, Text *out);
bool writer_is_default(const FieldType *type, const FieldValue *value);

#endif
