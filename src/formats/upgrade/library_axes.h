// library_axes.h - PROTOs of the library in worlds from before R2022a. For upgrade*.c alone.
#ifndef TALUS_FORMATS_LIBRARY_AXES_H
#define TALUS_FORMATS_LIBRARY_AXES_H

#include "formats/upgrade/upgrade_internal.h"

// Turns an instance that an old file placed in old axes, with its sizes, points and slots, as the comments of its PROTO
// file tell. False, and nothing is done, when they tell nothing.
bool library_axes_turn(Upgrade *upgrade, SceneNode *instance);

#endif
