// Any bytes as the runtime.ini beside a program: variables are set or left out, within what a program may be given.
#include "control/environment.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena *arena = arena_create();
    DiagSink *diags = diag_create();
    Environment environment = { .arena = arena };
    environment_set(&environment, "HOME", "home");
    Runtime runtime = environment_take_runtime(&environment, "runtime.ini", (const char *)data, size, diags);
    size_t bytes = 0;
    for (int i = 0; i < environment.count; i++) {
        assert(strchr(environment.items[i], '='));
        bytes += strlen(environment.items[i]) + 1;
    }
    assert(bytes <= (256 << 10) + sizeof "HOME=home" && !environment.items[environment.count]);
    assert(!runtime.command || strlen(runtime.command) <= size);
    assert(!runtime.options || strlen(runtime.options) <= size);
    free(environment.items);
    diag_destroy(diags);
    arena_destroy(arena);
    return 0;
}
