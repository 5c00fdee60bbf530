// yaml.h - YAML text as a tree of scalars, lists and maps that all know their place in the file.
// Belongs here: libyaml's events turned into nodes, anchors and aliases, merge keys, conversion of scalars, writing
// back. Not here: what any key means (body_*.c, cnoid.c).
//
// An alias is the same node as its anchor, not a copy: the tree is a directed graph without cycles. What walking it
// costs is bounded: the nodes that aliases stand for are counted over the whole document, and so is the depth. A
// YamlDocument owns its nodes; they are constant after parsing and valid until yaml_destroy().
#ifndef TALUS_FORMATS_YAML_H
#define TALUS_FORMATS_YAML_H

#include "base/diag.h"
#include "base/limits.h"
#include "base/text.h"

typedef struct YamlDocument YamlDocument;
typedef struct YamlNode YamlNode;

typedef enum YamlKind { YAML_SCALAR, YAML_LIST, YAML_MAP } YamlKind;

typedef struct YamlPair {
    const char *key;
    const YamlNode *value;
    SourcePos pos;   // of the key
    bool is_merged;  // came through a `<<` key
} YamlPair;

struct YamlNode {
    uint8_t kind;    // YamlKind
    bool is_quoted;  // a scalar that was written with quotes
    SourcePos pos;
    int count;           // items or pairs
    int slot_mask;       // of the index of large maps
    const char *anchor;  // name it was given, or NULL
    union {
        const char *text;  // scalar, never NULL
        const YamlNode **items;
        YamlPair *pairs;  // each key once
    };
    int32_t *slots;  // index of large maps, or NULL
    int64_t weight;  // this node and those below it, aliases followed
};

typedef struct YamlOptions {
    const Limits *limits;       // NULL: defaults
    const YamlDocument *outer;  // its anchors can be named too; may be NULL. Must outlive the new document.
} YamlOptions;

// Reads the first document of `text`. `name` is the file for messages. NULL after an error that leaves nothing
// sensible.
YamlDocument *yaml_parse(const char *name, const char *text, size_t size, const YamlOptions *options, DiagSink *diags);
void yaml_destroy(YamlDocument *document);  // NULL is fine
const YamlNode *yaml_root(const YamlDocument *document);
const YamlNode *yaml_anchor(const YamlDocument *document,
                            const char *name);  // also of the outer one; NULL: there is none

static inline bool yaml_is_scalar(const YamlNode *node) { return node && node->kind == YAML_SCALAR; }
static inline bool yaml_is_list(const YamlNode *node) { return node && node->kind == YAML_LIST; }
static inline bool yaml_is_map(const YamlNode *node) { return node && node->kind == YAML_MAP; }
// NULL when there is no such key or the node is no map (or NULL).
const YamlNode *yaml_get(const YamlNode *map, const char *key);
const YamlPair *yaml_pair(const YamlNode *map, const char *key);

// Conversions. The plain ones want the whole scalar to be the value; the prefix forms accept text behind a number, as
// strtod does. Not-a-number and infinities are refused.
bool yaml_double(const YamlNode *node, double *value);
bool yaml_double_prefix(const YamlNode *node, double *value);
bool yaml_int(const YamlNode *node, int *value);
bool yaml_int_prefix(const YamlNode *node, int *value);
bool yaml_bool(const YamlNode *node, bool *value);  // y yes true on, n no false off: lower, Capital or UPPER case

// Writes the node as block YAML, aliases spelt out; short lists of scalars stay on one line. The text continues a line
// that ends with "key:" when `indent` is that of the key, and ends with a newline.
void yaml_write_value(Text *out, const YamlNode *node, int indent);
void yaml_write_scalar(Text *out, const char *text);  // quoted where plain text would mean something else

#endif
