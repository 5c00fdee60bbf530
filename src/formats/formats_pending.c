// Weak stand-ins so that everything links until each part is there; a strong definition replaces each.
#include "formats/formats_internal.h"

#define WEAK __attribute__((weak))

WEAK ProtoScope *proto_scope_create(Scene *scene, const char *path, const FormatsOptions *options, DiagSink *diags)
{
    (void)scene; (void)path; (void)options; (void)diags;
    return NULL;
}
WEAK void proto_scope_declare(ProtoScope *scope, const SceneExtern *declaration) { (void)scope; (void)declaration; }
WEAK SceneProto *proto_resolve(Reader *reader, const char *name, size_t length, SourcePos pos)
{
    (void)reader; (void)name; (void)length; (void)pos;
    return NULL;
}
WEAK void proto_instantiate(Reader *reader, SceneNode *instance) { (void)reader; (void)instance; }
WEAK bool proto_read_file(Reader *reader, const char *path) { (void)reader; (void)path; return false; }
WEAK void formats_check(Scene *scene, DiagSink *diags) { (void)scene; (void)diags; }
WEAK bool body_read_scene(Scene *scene, const char *name, const char *text, size_t size, const FormatsOptions *options,
                          DiagSink *diags)
{
    (void)scene; (void)text; (void)size; (void)options;
    diag_error(diags, (SourcePos){ .file = diag_file(diags, name) }, "bodies cannot be read yet");
    return false;
}
