// proto_internal.h - how the PROTOs of one load are kept. For proto*.c alone.
//
//   proto.c         scopes and names: which definition a name means in a file
//   proto_search.c  folders and their index
//   proto_read.c    a .proto file: header, interface, where the body is
//   proto_bodies.c  text of the body -> nodes
//   proto_restrict.c  what parameters may be
//   proto_make.c    body -> tree of an instance
//   proto_hidden.c  "hidden translation_1 ..." lines
#ifndef TALUS_FORMATS_PROTO_INTERNAL_H
#define TALUS_FORMATS_PROTO_INTERNAL_H

#include "assets/resolve.h"
#include "base/file.h"
#include "formats/formats_internal.h"
#include "formats/proto/proto.h"
#include "formats/template/template.h"

#include <pthread.h>

// Names to pointers, open addressing. Keys live elsewhere. { 0 } is empty.
typedef struct NameMap {
    struct {
        const char *key;
        void *value;
    } * slots;
    int count, slot_count;
} NameMap;
void *name_map_find(const NameMap *map, const char *key, size_t length);
void name_map_put(NameMap *map, const char *key, void *value);  // replaces
void name_map_free(NameMap *map);

// All .proto files below a folder, by name.
typedef struct FolderIndex {
    const char *folder;
    const char *origin;  // of SceneProto
    bool is_read;
    NameMap files;  // stem -> path
} FolderIndex;
const char *folder_index_find(FolderIndex *index, const char *name, Arena *arena);

// Values that a parameter may have: SFString{"a", "b"}, MFNode{Solid{}, Pose{}+}.
typedef struct Restriction {
    FieldList values;    // of the kind of one item; for nodes the names of types and PROTOs, as strings
    bool *with_derived;  // for nodes, of each name: what is derived from it is allowed too
    bool is_old;         // of a file in which types had other names
} Restriction;

typedef enum DefinitionState {
    DEFINITION_NEW,
    DEFINITION_LOADING,
    DEFINITION_READY,
    DEFINITION_BROKEN
} DefinitionState;

typedef struct GeneratedBody {
    uint64_t hash[2];  // of the text that the template made
    SceneNode *root;
    int node_count;
    struct GeneratedBody *next;
} GeneratedBody;

typedef struct ProtoLibrary ProtoLibrary;

typedef struct Definition {
    SceneProto proto;  // what others see; proto.definition is this
    ProtoLibrary *library;
    ProtoScope *scope;
    DefinitionState state;
    FileData file;
    const char *text;  // of the whole file
    size_t size;
    Lexer body_lexer;      // just behind the '{' of the body
    const char *body_end;  // its '}'
    TemplateLanguage language;
    bool is_deprecated, has_indirect_access;
    bool is_volatile;            // tagged nonDeterministic
    SourcePos *parameter_pos;    // file numbers are those of the sink of the load
    Restriction **restrictions;  // NULL: anything
    bool *used;                  // parameters that an IS names
    bool *is_read;               // parameters that the code of the template reads
    SourcePos pos;
    bool is_header_read;  // and reported, by who opened the file; proto.release is set
    bool is_body_read;    // of a PROTO without template
    SceneNode *body;
    int body_nodes;
    GeneratedBody *generated;
    bool in_progress;  // one of its instances is being made
    bool reported_cycle, reported_unused, reported_use;
} Definition;

struct ProtoLibrary {
    pthread_mutex_t lock;  // clones of a world share it and may make instances anew at the same time
    Scene *scene;
    Scene *definitions;  // owns the nodes of bodies and defaults
    Arena *arena;
    Resolver *resolver;
    const char *world_path;  // absolute
    Limits limits;
    bool without_templates, without_upgrade;
    TemplateFiles files;  // that its templates wrote
    WorkerBudget template_budget;
    NameMap by_path;       // Definition
    NameMap placeholders;  // SceneProto
    SceneProto **protos;   // all, in the order met
    int proto_count, proto_capacity;
    FolderIndex *indexes;
    int index_count, index_capacity;
    int search_count;    // indexes of the world's project and the search folders; the library's is behind them
    Definition **chain;  // definitions whose instances are being made, outermost first
    int chain_count, chain_capacity;
    bool reported_depth, reported_nodes;
};

struct ProtoScope {
    ProtoLibrary *library;
    const char *path;
    int release;
    struct {
        const char *url, *name;
        SourcePos pos;
    } * declarations;
    int declaration_count, declaration_capacity;
    NameMap resolved;         // SceneProto
    FolderIndex own_project;  // of a PROTO file from another project; that of the world is in the library
};

ProtoLibrary *proto_library(const Scene *scene);  // NULL when the scene was not loaded from text
ProtoScope *proto_scope_for(ProtoLibrary *library, const char *path, int release);
void proto_library_add(ProtoLibrary *library, SceneProto *proto);

// Whether the default of the parameter is among its allowed values. Trees of instances in it are not made yet.
bool proto_default_is_allowed(const Restriction *restriction, const FieldType *type);

// Who makes instances, and where.
typedef struct ProtoMaker {
    ProtoLibrary *library;
    Scene *scene;
    DiagSink *diags;
} ProtoMaker;

// ---- proto_bodies.c ----
SourcePos proto_pos_in(const Definition *definition, SourcePos pos, DiagSink *diags);  // of the definition's own file
const SceneField *proto_own_field(const SceneNode *instance, int parameter);           // NULL: not given
SceneNode *proto_plain_body(Definition *definition, DiagSink *diags);
SceneNode *proto_template_body(ProtoMaker *maker, Definition *definition, const SceneNode *instance, int *node_count);

// ---- proto_restrict.c ----
void proto_check_restrictions(ProtoMaker *maker, const Definition *definition, SceneNode *instance);
void proto_report_unused(Definition *definition, DiagSink *diags);
void proto_check_derived(const Definition *definition, const SceneNode *root, DiagSink *diags);

// Reads the interface of a definition whose `text` and proto.path are set. False when it is no usable PROTO (reported).
bool proto_read_definition(Definition *definition, const char *expected_name, DiagSink *diags);

// Makes the tree of an instance.
bool proto_make(ProtoLibrary *library, Scene *scene, SceneNode *instance, DiagSink *diags);

#endif
