// A frame of a recording or a socket: read or refused, and what is read is within bounds and finite.
#include "record/frame.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FrameView view;
    const char *why = NULL;
    if (!frame_read(data, size, &view, &why)) {
        if (!why)
            abort();
        return 0;
    }
    for (int i = 0; i < view.pose_count; i++) {
        Pose pose;
        if (frame_pose(&view, i, &pose) < 0 || !vec3_is_finite(pose.t))
            abort();
    }
    FrameSection section;
    if (frame_section(&view, "EVTS", &section) && section.size > 0 && ((const char *)section.data)[0] == 0x7f)
        return 0;
    return 0;
}
