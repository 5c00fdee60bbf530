// body_from.h - what the parts that turn nodes into a body share. Not for other files.
#ifndef TALUS_FORMATS_BODY_FROM_H
#define TALUS_FORMATS_BODY_FROM_H

#include "formats/body/body_internal.h"

typedef struct BodyLoop {
    const SceneNode *joint;  // one that ends in a SolidReference, or an ExtraJoint
    const char *solid_name;
    int link;
    BodyFrame above;  // of the joint's holder in its link
} BodyLoop;

typedef struct BodyFrom {
    BodyModel *model;
    const Scene *scene;
    DiagSink *diags;
    BodyLink *links;
    int link_capacity;
    Vec3 *shifts;  // per link: origin of the solid in the frame of the link, whose origin is the joint's anchor
    int shift_capacity;
    BodyLoop *loops;
    int loop_count, loop_capacity;
    const char *root_name;  // of the solid, which may differ from that of the link
    bool is_static;         // the solid being read cannot move
    int plain_motors;
} BodyFrom;

const char *body_from_text(BodyFrom *from, const char *text);
void body_from_lost(BodyFrom *from, const SceneNode *node, const char *what);
BodyInfo *body_from_info(BodyFrom *from, const char *text);
void body_from_extra(BodyFrom *from, BodyExtraJoint extra);
void body_from_solid(BodyFrom *from, const SceneNode *solid, int index);
void body_from_fixed(BodyFrom *from, const SceneNode *solid, int parent, BodyFrame above);
void body_from_joint(BodyFrom *from, const SceneNode *joint, int parent, BodyFrame above);

// body_from_parts.c
void body_from_children(BodyFrom *from, const SceneNode *holder, int link, BodyFrame frame);
void body_from_shapes(BodyFrom *from, const SceneNode *node, int link, BodyFrame frame, bool is_collision);
BodyMassPart body_from_volume(const BodyFrom *from, int first_shape,
                              int link);  // of collision shapes: mass is the volume, in the solid's frame
void body_from_loop(BodyFrom *from, const BodyLoop *loop, BodyExtraJoint *extra);
void body_from_rules(BodyFrom *from, const FieldList *rules);
bool body_from_device(BodyFrom *from, const SceneNode *node, int link,
                      BodyFrame frame);  // false: not one that bodies have

// body.c
void body_index_names(BodyModel *model);

#endif
