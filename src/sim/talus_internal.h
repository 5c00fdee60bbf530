// talus_internal.h - what the files behind include/talus/talus.h share.
#ifndef TALUS_SIM_TALUS_INTERNAL_H
#define TALUS_SIM_TALUS_INTERNAL_H

#include "devices/devices.h"
#include "sim/sim.h"
#include "talus/talus.h"

struct TalusWorld {
    Sim *sim;
    DiagSink *diags;
    TalusDiagnosticHandler handler;
    void *context;
    int told;          // diagnostics that the handler has seen
    char **search_paths;  // those of the options, NULL-terminated; NULL when there are none
    Devices *devices;  // from the first call on that asks for a device
};

bool talus_told(TalusWorld *world, bool result);  // passes diagnostics on, returns `result`
// False, said once: `what` of the function's arguments must not be NULL. A world that is NULL can be told nothing.
bool talus_given(const TalusWorld *world, const void *argument, const char *what);

static inline Vec3 vector_in(TalusVector v) { return vec3(v.x, v.y, v.z); }
static inline TalusVector vector_out(Vec3 v) { return (TalusVector){ v.x, v.y, v.z }; }

// talus_nodes.c
SceneNode *talus_node_of(const TalusWorld *world, TalusNode id);  // NULL: there is none
TalusNode talus_id_of(const SceneNode *node);                     // NULL is fine

// talus_solids.c
int talus_solid_of(const TalusWorld *world, TalusNode id);  // -1: it is none
TalusNode talus_solid_id(const TalusWorld *world, int solid);

// talus_devices.c
Devices *talus_devices_make(TalusWorld *world);  // those that are there, if they are
void talus_devices_reset(TalusWorld *world);
void talus_devices_changed(TalusWorld *world);  // nodes came or went
void talus_devices_free(TalusWorld *world);

#endif
