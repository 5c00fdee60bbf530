#include "scene_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// What begins like VRML97 is read as such, whatever its name, and gets the nodes that each world has when it is read
// again, as the world that it was saved as. All else has to be the same when it is saved twice.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *name = "/absent/worlds/fuzz.wbt";
    const bool is_vrml = formats_detect(name, (const char *)data, size) == FORMAT_VRML97;
    return scene_fuzz_run(name, is_vrml ? NULL : name, data, size);
}
