// pose_filter.h - the frames of a block in an order that packs well: what is said of each solid as what differs from
// where it was headed, and byte by byte side by side. Both ways; nothing is lost. Not here: frames (frame.h), packing
// itself (recording.h).
//
// u32 bytes of the rest; the rest: the frames as they are, but those that tell of changes without their poses; then 17
// columns with one byte of each such pose, in the order of the frames: two of the solid, nine of its place, six of its
// turn. Numbers of place (3 of 24 bits) and turn (3 of 15 bits) are the distance to what continues the last two of that
// solid in the block evenly (the last one, 0), as 2 d or -2 d - 1. The topmost bits of the first two numbers of the
// turn are those of its largest part, exclusive-or that of the last one.
#ifndef TALUS_RECORD_POSE_FILTER_H
#define TALUS_RECORD_POSE_FILTER_H

#include "base/text.h"

bool pose_filter_pack(const char *frames, size_t size, Text *out);    // false: these are no frames
bool pose_filter_unpack(const char *packed, size_t size, Text *out);  // false: it is damaged

#endif
