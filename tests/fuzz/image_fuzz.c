// PNG, JPEG and HDR pictures, through the confined worker: whatever the decoder does, the parent lives and says why.
#include "assets/image.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static Worker *worker;
    if (!worker)
        worker = image_worker_create();
    Limits limits = limits_default;
    limits.image_side = 512;
    DiagSink *diags = diag_create();
    Image *image = image_from_bytes(worker, "fuzz", data, size, &limits, diags, (SourcePos){ 0 });
    if (image) {
        // Every pixel is there to be read.
        size_t count = (size_t)image->width * (size_t)image->height;
        unsigned sum = 0;
        for (size_t i = 0; image->pixels && i < 4 * count; i++)
            sum += image->pixels[i];
        for (size_t i = 0; image->light && i < 3 * count; i++)
            sum += image->light[i] > 0.0f;
        if (sum == UINT32_MAX)
            abort();
    } else if (!diag_has_errors(diags)) {
        abort();
    }
    image_destroy(image);
    diag_destroy(diags);
    return 0;
}
