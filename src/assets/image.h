// image.h - pictures: PNG, JPEG and HDR in, PNG and JPEG out. Not here: textures on surfaces, files of other kinds.
// An Image owns its pixels. Rows run from the top, pixels from the left.
// Pictures are decoded in a confined worker process (base/worker.h): the library that does it is known to write out of
// bounds for some broken files.
#ifndef TALUS_ASSETS_IMAGE_H
#define TALUS_ASSETS_IMAGE_H

#include "base/diag.h"
#include "base/limits.h"
#include "base/text.h"
#include "base/worker.h"

typedef struct Image {
    int width, height;
    bool has_alpha;   // some pixel is not opaque
    uint8_t *pixels;  // red, green, blue, alpha; NULL for HDR
    float *light;     // red, green, blue, linear; of HDR images alone
    void *memory;     // private: what holds them
} Image;

void image_destroy(Image *image);  // NULL is fine

Worker *image_worker_create(void);

// Reads a picture. Its size is known and checked before a pixel is decoded. On failure NULL, with an error at `pos`.
// `worker` is of image_worker_create; NULL starts one for this picture alone.
Image *image_read(Worker *worker, const char *path, const Limits *limits, DiagSink *diags, SourcePos pos);
Image *image_from_bytes(Worker *worker, const char *name, const void *data, size_t size, const Limits *limits,
                        DiagSink *diags, SourcePos pos);

// Writes 8-bit pixels (1 grey, 3 RGB or 4 RGBA channels) as PNG. `stride` is in bytes, 0: width * channels.
bool image_encode_png(int width, int height, int channels, const void *pixels, int stride, Text *out);
bool image_write_png(const char *path, int width, int height, int channels, const void *pixels, int stride,
                     DiagSink *diags);
// The same as JPEG, quality 1 to 100 (held within). Alpha is left out.
bool image_write_jpeg(const char *path, int width, int height, int channels, const void *pixels, int quality,
                      DiagSink *diags);

#endif
