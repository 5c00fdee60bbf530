// export_html.c - a recording as one HTML file: the browser page (web/) with the recording inside, to be opened from
// disk.
#include "record/export.h"

#include "assets/web_page.h"
#include "base/stream.h"

#include <stdlib.h>
#include <string.h>

// Three bytes to four characters, piece by piece.
typedef struct Base64 {
    FileStream *stream;
    uint8_t rest[3];
    int rest_count;
} Base64;

static void encode(const uint8_t bytes[3], int count, char out[4])
{
    assert_debug(count >= 1 && count <= 3);
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t bits = (uint32_t)bytes[0] << 16 | (count > 1 ? (uint32_t)bytes[1] << 8 : 0) | (count > 2 ? bytes[2] : 0u);
    for (int i = 0; i < 4; i++)
        out[i] = i <= count ? digits[bits >> (18 - 6 * i) & 63] : '=';
}

static void add_base64(Base64 *base64, const void *data, size_t size)
{
    const uint8_t *bytes = data;
    char out[4096];
    size_t length = 0;
    for (size_t i = 0; i < size; i++) {
        base64->rest[base64->rest_count++] = bytes[i];
        assert_debug(base64->rest_count <= 3);
        if (base64->rest_count < 3)
            continue;
        encode(base64->rest, 3, out + length);
        base64->rest_count = 0;
        if ((length += 4) == sizeof out) {
            stream_write(base64->stream, out, length);
            length = 0;
        }
    }
    stream_write(base64->stream, out, length);
}

static void end_base64(Base64 *base64)
{
    char out[4];
    if (base64->rest_count > 0) {
        encode(base64->rest, base64->rest_count, out);
        stream_write(base64->stream, out, sizeof out);
    }
}

// The recording anew: without blocks that are damaged, with an index, and cut to the part that is asked for by whole
// blocks.
static void copy_recording(Recording *recording, const ExportOptions *options, DiagSink *diags, Text *out)
{
    RecordingWriter *writer = recording_create_in(out);
    Text data = { 0 };
    for (int i = 0; i < recording_block_count(recording); i++) {
        const RecordingBlock *block = recording_block(recording, i);
        bool is_frames = !memcmp(block->type, "FRMS", 4);
        bool is_outside = block->last < options->from || (options->to > 0.0 && block->first > options->to);
        if (!memcmp(block->type, "INDX", 4) || (is_frames && is_outside) || !recording_read(recording, i, &data))
            continue;
        recording_write(writer, block->type, block->first, block->last, data.data, data.length);
    }
    text_free(&data);
    recording_finish(writer, diags);
}

static void write_recording(FileStream *stream, Recording *recording, const ExportOptions *options, DiagSink *diags)
{
    Text file = { 0 };
    copy_recording(recording, options, diags, &file);
    Base64 base64 = { .stream = stream };
    add_base64(&base64, file.data, file.length);
    end_base64(&base64);
    text_free(&file);
}

bool export_html(Recording *recording, const char *path, const ExportOptions *options, DiagSink *diags)
{
    const WebPageFile *head = web_page_find("replay-head"), *tail = web_page_find("replay-tail");
    if (!head || !tail) {
        diag_error(diags, (SourcePos){ 0 },
                   "'%s' is not written: this build has no browser page (node, npm or its registry was missing)", path);
        return false;
    }
    FileStream *stream = stream_open(path, diags);
    if (!stream)
        return false;
    stream_write(stream, head->data, head->size);
    write_recording(stream, recording, options, diags);
    if (options->ghost) {
        static const char next[] = "</script>\n<script type=\"application/octet-stream;base64\" id=\"talus-ghost\">";
        stream_write(stream, next, sizeof next - 1);
        write_recording(stream, options->ghost, options, diags);
    }
    stream_write(stream, tail->data, tail->size);
    return stream_close(stream);
}
