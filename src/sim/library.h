// library.h - what the files behind include/talus/talus.h share, here and in the folders after sim/. Names that begin
// with talus_ are exported by the library, those here are not.
#ifndef TALUS_SIM_LIBRARY_H
#define TALUS_SIM_LIBRARY_H

#include "devices/devices.h"
#include "sim/sim.h"
#include "talus/talus.h"

#define LIBRARY_VIEWS 4  // that a world remembers to fit

struct TalusWorld {
    Sim *sim;
    uint64_t fits_tree;               // sim_tree_version at which the views below were seen to fit
    uint64_t fitting[LIBRARY_VIEWS];  // numbers of views, 0: none
    DiagSink *diags;
    TalusDiagnosticHandler handler;
    void *context;
    int told;                      // diagnostics that the handler has seen
    char **search_paths;           // those of the options, NULL-terminated; NULL when there are none
    Devices *devices;              // from the first call on that asks for a device
    bool is_clone;                 // its diagnostics belong to its sim
    int heard;                     // diagnostics that talus_last_error knows of
    struct ContactEvents *events;  // talus_events.c; NULL: nobody listens
    void *guest;                   // of library_guest
    void (*guest_end)(void *guest);
    struct Control *control;                     // robot programs, while there are any; many/controllers.c
    void (*end_controllers)(TalusWorld *world);  // set with it
    struct Tape *tape;                           // its recording, while there is one; many/record.c
    bool (*end_tape)(TalusWorld *world);         // set with it
};

bool library_told(TalusWorld *world, bool result);  // passes diagnostics on, returns `result`
// False, said once: `what` of the function's arguments must not be NULL. A world that is NULL can be told nothing.
bool library_given(const TalusWorld *world, const void *argument, const char *what);
bool library_failed(const char *format, ...) PRINTF_LIKE(1, 2);  // returns false; talus_last_error gives the words
// The bytes of an options struct that a caller built with another header has given, the rest zero. NULL: all zero.
void library_options(void *to, size_t size, const void *from);

// talus_clone.c: nodes of its own, before somebody writes into them. What was asked of the world before (nodes,
// physics) is void.
bool library_own(TalusWorld *world);

// Something of a later folder that lives with the world, one at a time (its viewer): `end` is called before the Sim
// goes, or when another is given. NULL: none.
void library_guest(TalusWorld *world, void *guest, void (*end)(void *guest));

// talus_view.c
bool library_view_is_readable(const TalusView *view);
bool library_view_is_writable(const TalusView *view);
bool library_view_has_sensors(const TalusView *view);  // whose numbers are NaN before their first reading

// talus_events.c
void library_events_forget(TalusWorld *world);  // after a reset or restore: what touches now is known
void library_events_free(TalusWorld *world);

static inline Vec3 vector_in(TalusVector v) { return vec3(v.x, v.y, v.z); }
static inline TalusVector vector_out(Vec3 v) { return (TalusVector){ v.x, v.y, v.z }; }

// talus_nodes.c
SceneNode *library_node(const TalusWorld *world, TalusNode id);  // NULL: there is none
TalusNode library_id(const SceneNode *node);                     // NULL is fine

// talus_solids.c
int library_solid(const TalusWorld *world, TalusNode id);  // -1: it is none
TalusNode library_solid_id(const TalusWorld *world, int solid);

// talus_devices.c
Devices *library_devices(TalusWorld *world);  // those that are there, if they are
void library_devices_hook(TalusWorld *world,
                          bool is_on);  // whether the library samples them and keeps them in the state
void library_devices_reset(TalusWorld *world);
void library_devices_changed(TalusWorld *world);  // nodes came or went
void library_devices_free(TalusWorld *world);

#endif
