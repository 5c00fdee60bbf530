#include "assets/image.h"

#include "base/file.h"
#include "base/memory.h"

#define STBI_NO_STDIO
#define STBI_WRITE_NO_STDIO
#include <stb/stb_image.h>
#include <stb/stb_image_write.h>
#include <stdlib.h>
#include <string.h>

void image_destroy(Image *image)
{
    if (!image)
        return;
    stbi_image_free(image->pixels);
    stbi_image_free(image->light);
    free(image);
}

static void find_alpha(Image *image)
{
    size_t count = (size_t)image->width * (size_t)image->height;
    for (size_t i = 0; i < count && !image->has_alpha; i++)
        image->has_alpha = image->pixels[4 * i + 3] != 255;
}

Image *image_from_bytes(const char *name, const void *data, size_t size, const Limits *limits, DiagSink *diags, SourcePos pos)
{
    int64_t most = limits_or_default(limits)->image_side;
    int width, height, channels;
    if (size > INT32_MAX || !stbi_info_from_memory(data, (int)size, &width, &height, &channels)) {
        diag_error(diags, pos, "cannot read image '%s': it is no PNG, JPEG or HDR picture", name);
        return NULL;
    }
    if (width <= 0 || height <= 0 || width > most || height > most) {
        diag_error(diags, pos, "cannot read image '%s': %d x %d pixels are above the limit of %lld a side", name, width, height,
                   (long long)most);
        return NULL;
    }
    Image *image = memory_alloc(sizeof *image);
    image->width = width;
    image->height = height;
    if (stbi_is_hdr_from_memory(data, (int)size)) {
        image->light = stbi_loadf_from_memory(data, (int)size, &width, &height, &channels, 3);
    } else {
        image->pixels = stbi_load_from_memory(data, (int)size, &width, &height, &channels, 4);
        if (image->pixels && (channels == 2 || channels == 4))
            find_alpha(image);
    }
    bool is_same = width == image->width && height == image->height;
    if ((!image->pixels && !image->light) || !is_same) {
        const char *reason = stbi_failure_reason();
        diag_error(diags, pos, "cannot read image '%s': %s", name, reason ? reason : "it is broken");
        image_destroy(image);
        return NULL;
    }
    return image;
}

Image *image_read(const char *path, const Limits *limits, DiagSink *diags, SourcePos pos)
{
    FileData file;
    if (!file_read(path, (size_t)limits_or_default(limits)->file_bytes, &file, diags, pos))
        return NULL;
    Image *image = image_from_bytes(path, file.data, file.size, limits, diags, pos);
    file_release(&file);
    return image;
}

static void add_bytes(void *context, void *data, int size)
{
    text_add(context, data, (size_t)size);
}

bool image_encode_png(int width, int height, int channels, const void *pixels, int stride, Text *out)
{
    return width > 0 && height > 0 &&
           stbi_write_png_to_func(add_bytes, out, width, height, channels, pixels, stride > 0 ? stride : width * channels) != 0;
}

bool image_write_png(const char *path, int width, int height, int channels, const void *pixels, int stride, DiagSink *diags)
{
    Text text = { 0 };
    bool ok = image_encode_png(width, height, channels, pixels, stride, &text) && file_write_atomic(path, text.data, text.length, diags);
    text_free(&text);
    return ok;
}
