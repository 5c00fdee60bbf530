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

// Somebody's pixels, to be written.
typedef struct ImagePixels {
    int width, height;
    int channels;      // of 8 bits: 1 grey, 3 RGB, 4 RGBA
    const void *rows;  // from the top
    int stride;        // bytes from row to row; 0: width * channels. JPEG knows no other
} ImagePixels;
// False when the picture is empty, or (with the reason in `diags`) when it cannot be written.
bool image_encode_png(const ImagePixels *pixels, Text *out);
bool image_write_png(const char *path, const ImagePixels *pixels, DiagSink *diags);
// Quality is 1 to 100 (held within). Alpha is left out.
bool image_write_jpeg(const char *path, const ImagePixels *pixels, int quality, DiagSink *diags);

#endif
