// proto.h - what other folders may ask about the PROTOs of a loaded scene.
#ifndef TALUS_FORMATS_PROTO_H
#define TALUS_FORMATS_PROTO_H

#include "base/diag.h"
#include "scene/scene.h"

// Makes the tree of an instance anew from its parameters, for a parameter that its template reads. Nodes that were
// given as parameters stay the same nodes; everything else below the instance is new. False when it failed (reported);
// the old tree then stays.
bool proto_regenerate(Scene *scene, SceneNode *instance, DiagSink *diags);
// Whether a change of this parameter needs proto_regenerate.
bool proto_parameter_regenerates(const SceneNode *instance, const FieldType *parameter);

// Whether the PROTO says that it is made anew at every reset (the tag nonDeterministic) and may come out differently:
// its template reads or writes files. Nothing else varies here.
bool proto_varies(const SceneNode *instance);

// For a save: what the run has changed inside of instances (poses, velocities, joint positions) goes into their hidden
// lines.
void proto_keep_state(Scene *scene);

// PROTOs that were found for this scene, and placeholders, in the order they were met.
int proto_count(const Scene *scene);
const SceneProto *proto_at(const Scene *scene, int index);

// Folder of the PROTOs that come with Talus: $TALUS_LIBRARY, beside the program, where it was installed or built. NULL
// when there is none.
char *proto_library_folder(Arena *arena);
// Around whatever makes instances in a world that runs.
void proto_lock(const Scene *scene);
void proto_unlock(const Scene *scene);

#endif
