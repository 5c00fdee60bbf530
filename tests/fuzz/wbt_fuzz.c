#include "scene_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return scene_fuzz_run("/absent/worlds/fuzz.wbt", "/absent/worlds/fuzz.wbt", data, size);
}
