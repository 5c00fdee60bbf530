// formats.h - text files to scenes and back: .wbt, .wbo, .proto, VRML97 .wrl (and .body, see body.h).
// Belongs here: lexing, parsing, PROTO instancing and templates, upgrading of old releases, checks of structure,
// writing. Not here: what the nodes mean when time passes. Loading reports to the sink and goes on wherever it can; it
// never runs code named by a world, but PROTO templates, which run in a confined worker process. Nothing here opens a
// network connection.
#ifndef TALUS_FORMATS_FORMATS_H
#define TALUS_FORMATS_FORMATS_H

#include "base/diag.h"
#include "base/limits.h"
#include "base/text.h"
#include "scene/scene.h"

typedef enum FileFormat {
    FORMAT_UNKNOWN,
    FORMAT_WORLD,    // .wbt
    FORMAT_OBJECT,   // .wbo: nodes without a world around them
    FORMAT_PROTO,    // .proto
    FORMAT_VRML97,   // .wrl
    FORMAT_BODY,     // Choreonoid .body, or a robot of OpenHRP in a .wrl
    FORMAT_PROJECT,  // Choreonoid .cnoid
} FileFormat;

typedef struct FormatsOptions {
    const Limits *limits;             // NULL: defaults
    const char *const *search_paths;  // further folders to look in for PROTOs and assets, NULL-terminated; NULL: none
    bool without_templates;           // PROTO templates are not evaluated but reported
    bool without_upgrade;             // keep old releases as written (for tests of the reader alone)
} FormatsOptions;

FileFormat formats_detect(const char *path, const char *text, size_t size);  // by content first, then by name

// Returns the scene, also when there were errors in it, or NULL when nothing could be read at all. A .proto file gives
// a scene with one instance of it, all parameters at their defaults.
Scene *formats_load(const char *path, const FormatsOptions *options, DiagSink *diags);
// The same from memory. `name` is used in messages and, with its folder, to resolve relative paths.
Scene *formats_load_text(const char *name, const char *text, size_t size, const FormatsOptions *options,
                         DiagSink *diags);

// The nodes of a VRML97 file as they are, also when it describes a robot.
Scene *formats_load_vrml(const char *path, const FormatsOptions *options, DiagSink *diags);
Scene *formats_load_vrml_text(const char *name, const char *text, size_t size, const FormatsOptions *options,
                              DiagSink *diags);

// Reads nodes (as a supervisor imports them) into an existing scene; they are not yet placed in it. PROTOs are found as
// for the scene's own file. Where they will be `in_bounding` a USE may name anything; elsewhere one of a Solid or of
// what else can only be in one place becomes a copy. Returns a list in the scene's arena.
const FieldList *formats_parse_nodes(Scene *scene, const char *text, size_t size, bool in_bounding, DiagSink *diags);
// What formats_check() does, for a node that is about to come below `parent` or was made anew there. False when it must
// not stand in a boundingObject.
bool formats_check_node(Scene *scene, SceneNode *node, SceneNode *parent, bool in_bounding, DiagSink *diags);
// The first PROTO that the text has a node of and the scene's file does not declare, though its release asks for it;
// NULL when there is none. In the scene's arena.
const char *formats_undeclared_proto(Scene *scene, const char *text, size_t size);

// Canonical text of the scene in the newest release. Fields equal to their default are left out.
void formats_write(const Scene *scene, Text *out);
void formats_write_node(const Scene *scene, const SceneNode *node, Text *out);
void formats_write_value(const Scene *scene, FieldKind kind, const FieldValue *value, Text *out);
bool formats_save(const Scene *scene, const char *path, DiagSink *diags);  // atomic

// Checks structure: allowed positions, names, physics that lacks a bounding object ... (formats_load has called it.)
// What nobody could work with is mended in the scene, and the message says how; a node that must not be where it is
// stays for saving and is ignored otherwise.
void formats_check(Scene *scene, DiagSink *diags);

// `name`, or with the smallest free suffix: "box(1)". Free means that no Solid under the same Solid as a new child of
// `holder` would be has it. The result is `name` itself or lives in `arena`.
const char *formats_free_name(const Scene *scene, const SceneNode *holder, const char *name, Arena *arena);

#endif
