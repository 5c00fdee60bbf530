// template_wire.h - the bytes between a simulator and talus-template (template/), the program that runs the code of
// templates. Belongs here: how values are written and read, and the bounds that both sides keep. Not here: what a
// template is (template.h), the interpreters (template/engine.h), the confinement (base/worker.h).
#ifndef TALUS_FORMATS_TEMPLATE_WIRE_H
#define TALUS_FORMATS_TEMPLATE_WIRE_H

#include "base/common.h"
#include "base/text.h"

#define WIRE_SAID_MAX 1000           // messages of one template
#define WIRE_FILES_MAX 64            // that one template may read
#define WIRE_FILES_PATH "memory://"  // where templates find what templates wrote
#define WIRE_PROCESS_TIME_MS 60000   // backstops of the process; a request has its own, lower ones
#define WIRE_PROCESS_MEMORY ((int64_t)4 << 30)

typedef enum WireAnswer { WIRE_DONE = 1, WIRE_FAILED, WIRE_WANTS_FILE } WireAnswer;

void wire_put_u32(Text *out, uint32_t value);
void wire_put_bytes(Text *out, const void *data, size_t size);
void wire_put_text(Text *out, const Text *text);

// Reading what is not there sets `failed`.
typedef struct WireInput {
    const char *at, *end;
    bool failed;
} WireInput;
uint32_t wire_get_u32(WireInput *input);
const char *wire_get_bytes(WireInput *input, uint32_t *size);

#endif
