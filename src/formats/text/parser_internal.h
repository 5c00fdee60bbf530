// parser_internal.h - the seams between the files of the parser: DEF names, fields, nodes. For this folder alone.
#ifndef TALUS_FORMATS_TEXT_PARSER_INTERNAL_H
#define TALUS_FORMATS_TEXT_PARSER_INTERNAL_H

#include "formats/formats_internal.h"

enum { NAME_BYTES_MAX = 4096 };  // a longer word names no node and no DEF

// ---- parser_defs.c ----

typedef void DefAct(Reader *reader, SceneNode *node, int64_t expanded);

bool token_is_name(const Token *token);  // it may follow DEF and USE
// Counts nodes against the limit, once for each that a USE repeats. Returns false, having reported it, when too many.
bool reader_count_nodes(Reader *reader, SourcePos pos, int64_t nodes);
// The node that a USE at this place of the text means; NULL when there is none. Valid until a name is added.
const DefEntry *defs_find(const Reader *reader, const char *name, size_t length);
// `expanded` nodes are at and below it. To be called when the node is complete: what is inside of it cannot use it.
void defs_add(Reader *reader, SceneNode *node, int64_t expanded);
void defs_forget(Reader *reader, SceneNode *node, int64_t expanded);  // `expanded` is for the form of DefAct
void defs_follow(Reader *reader, SceneNode *node, int64_t expanded);  // it has a name that another one lost
// Acts on each named node at and below one that is made already, those inside first; NULL has none. Returns how many
// nodes these are.
int64_t defs_each(Reader *reader, SceneNode *node, DefAct *act);
void defs_each_of_field(Reader *reader, const SceneField *field, DefAct *act);
bool reader_use(Reader *reader, SceneNode **node);  // at the token USE

// ---- parser_fields.c ----

// From the '{' of a node to its '}': the fields become those of the node.
void reader_fields(Reader *reader, SceneNode *node);
// Text from `start` to the end of what was read, for saving.
const char *reader_text_since(Reader *reader, const char *start);
// Nodes with a DEF name inside of such text: a USE of them is no mistake, it just has nothing to show.
void reader_add_passed_over(Reader *reader, SceneNode *owner, const char *start);

#endif
