// schema_docs.h - the reference page of a node type, from its rows, as Markdown. docs/nodes/ is made of it; a test
// keeps the two alike.
#ifndef TALUS_SCENE_SCHEMA_DOCS_H
#define TALUS_SCENE_SCHEMA_DOCS_H

#include "base/text.h"
#include "scene/schema.h"

void schema_docs_page(const NodeType *type, Text *out);
void schema_docs_index(Text *out);

#endif
