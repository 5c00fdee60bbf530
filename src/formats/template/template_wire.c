// template_wire.c - values in requests to talus-template and in its answers.
#include "formats/template/template_wire.h"

#include <string.h>

void wire_put_u32(Text *out, uint32_t value) { text_add(out, (const char *)&value, sizeof value); }

void wire_put_bytes(Text *out, const void *data, size_t size)
{
    wire_put_u32(out, (uint32_t)size);
    text_add(out, data, size);
}

void wire_put_text(Text *out, const Text *text) { wire_put_bytes(out, text->data ? text->data : "", text->length); }

uint32_t wire_get_u32(WireInput *input)
{
    assert_debug(input->at <= input->end);
    uint32_t value = 0;
    if (input->end - input->at < (ptrdiff_t)sizeof value)
        input->failed = true;
    if (input->failed)
        return 0;
    memcpy(&value, input->at, sizeof value);
    input->at += sizeof value;
    return value;
}

const char *wire_get_bytes(WireInput *input, uint32_t *size)
{
    assert(input->at <= input->end);
    *size = wire_get_u32(input);
    if (input->end - input->at < (ptrdiff_t)*size)
        input->failed = true;
    if (input->failed) {
        *size = 0;
        return "";
    }
    const char *bytes = input->at;
    input->at += *size;
    return bytes;
}
