// body_wrl.c - VRML97 resources as shapes of a link.
#include "formats/body_internal.h"

bool body_wrl_read(BodyReader *reader, const char *path, const char *node, SourcePos pos, ElementScope scope)
{
    BodyGeometry *geometry = body_geometry_create(reader, BODY_MESH_FILE, pos);
    geometry->uri = geometry->path = path;
    geometry->node = node;
    body_shape_add(reader, (BodyShape){ .link = scope.link, .device = scope.device, .frame = scope.frame, .geometry = geometry,
                                        .is_visual = scope.is_visual, .is_collision = scope.is_collision, .name = "" });
    return true;
}
