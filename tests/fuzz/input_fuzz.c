// Any bytes as a file of keys, mouse and joystick events: read, and played to its end and back.
#include "control/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    DiagSink *diags = diag_create();
    Input *input = input_parse("fuzz", (const char *)data, size, diags);
    if (input) {
        input_at(input, 0.5);
        input_at(input, 1e300);
        input_at(input, 0.0);
    }
    input_destroy(input);
    diag_destroy(diags);
    return 0;
}
