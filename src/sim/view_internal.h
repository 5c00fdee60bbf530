// view_internal.h - what views of a world are made of: quantities, one row for each thing that can be asked for
// (talus_quantity.c), and the entries that name one of a solid, an axis or a sensor (talus_view.c).
#ifndef TALUS_SIM_VIEW_INTERNAL_H
#define TALUS_SIM_VIEW_INTERNAL_H

#include "sim/library.h"
#include "sim/sim_internal.h"

typedef enum TargetKind { OF_WORLD, OF_SOLID, OF_AXIS, OF_MOTOR, OF_SENSOR } TargetKind;

typedef struct ViewEntry ViewEntry;
typedef void (*ReadEntry)(TalusWorld *world, const ViewEntry *entry, double *values);
typedef void (*WriteEntry)(TalusWorld *world, const ViewEntry *entry, const double *values);

// Numbers of axes, one each.
typedef void (*ReadAxes)(const Physics *physics, const PhysicsAxisRef *axes, int count, double *values);
typedef void (*WriteAxes)(Physics *physics, const PhysicsAxisRef *axes, int count, const double *values);

// One quantity that can be asked for. A new one is a row.
typedef struct Quantity {
    const char *name;
    TargetKind target;
    int count;             // of numbers; 0: the device says
    const char *suffixes;  // a letter for each number, NULL: none
    const char *unit;      // of a sliding axis when there are two: "rad|m"
    ReadEntry read;        // NULL: it is written alone
    WriteEntry write;      // NULL: it is read alone
    void (*range)(const TalusWorld *world, const ViewEntry *entry, double *low, double *high);  // NULL: no end
    bool wants_forces, wants_effort;
    ReadAxes read_axes;    // many at once; NULL: one by one
    WriteAxes write_axes;  // likewise
} Quantity;

struct ViewEntry {
    const Quantity *quantity;
    int index;       // of the solid or joint, or the robot of a sensor
    uint32_t node;   // id of the solid's or joint's node: rows are used again by others when nodes come and go
    int part;        // axis, or tag of a sensor
    int count;       // of numbers
    bool is_linear;  // an axis that slides
};

const Quantity *quantity_find(const char *name, size_t length);  // NULL: there is none of that name

static inline Physics *physics_in(const TalusWorld *world) { return world->sim->physics; }

#endif
