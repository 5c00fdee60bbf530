#include "scene_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return scene_fuzz_run("/absent/fuzz.wrl", NULL, data, size);
}
