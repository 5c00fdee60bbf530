// Any bytes as the answer of a confined worker that was taken over by what it read: the first byte chooses what was
// asked for. The workers here give back the file that they are handed, so that the rest of the input is the answer.
#include "assets/clip.h"
#include "assets/image.h"
#include "assets/import_internal.h"
#include "formats/template/template_engine.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// `context` is how many bytes of a request stand before the file.
static void *start(const void *context) { return (void *)context; }

static bool give_back(const char *request, size_t size, WorkerReply *reply, void *state)
{
    size_t before = *(const size_t *)state;
    worker_reply_add(reply, request + before, size - before);
    return true;
}

static Worker *worker_after(const size_t *before)
{
    return worker_create(&(WorkerOptions){ .name = "echo", .start = start, .handle = give_back, .context = before });
}

static void take_mesh(const uint8_t *data, size_t size, DiagSink *diags)
{
    // A header of 32 bytes, then that of the file with its 16, then its name.
    static const size_t before = 32 + 16 + sizeof "model.dae";
    static Worker *worker;
    if (!worker)
        worker = worker_after(&before);
    MeshBuilder builder = { .vertex_limit = 10000 };
    Limits limits = limits_default;
    limits.file_bytes = 100;  // of files that the answer names
    ImportOptions options = { .limits = &limits };
    ImportCompanions companions = { "nowhere/fuzz.dae", &options, diags, { 0 } };
    char reason[256] = "";
    if (!import_by_worker(worker, "dae", (WorkerPart){ data, size }, &builder, &companions, reason)) {
        assert(*reason);
        mesh_build_cancel(&builder);
        return;
    }
    MeshReport report = { 0 };
    Mesh *mesh = mesh_build_end(&builder, &(MeshBuildOptions){ 0 }, &report);
    for (int i = 0; i < 3 * mesh->vertex_count; i++)
        assert(isfinite(mesh->positions[i]));
    for (int i = 0; i < 3 * mesh->triangle_count; i++)
        assert(mesh->triangles[i] < (uint32_t)mesh->vertex_count);
    for (int i = 0; i < mesh->part_count; i++)
        assert(mesh->parts[i].material < mesh->material_count);
    mesh_hash(mesh);
    mesh_destroy(mesh);
}

static void take_image(const uint8_t *data, size_t size, DiagSink *diags)
{
    static const size_t before = sizeof(int64_t);
    static Worker *worker;
    if (!worker)
        worker = worker_after(&before);
    Image *image = image_from_bytes(worker, "fuzz", data, size, NULL, diags, (SourcePos){ 0 });
    assert(image || diag_has_errors(diags));
    size_t count = image ? (size_t)image->width * (size_t)image->height : 0;
    for (size_t i = 0; i < count; i++)
        assert(image->light ? isfinite(image->light[3 * i + 2]) : image->pixels[4 * i + 3] <= 255);
    image_destroy(image);
}

static void take_clip(const uint8_t *data, size_t size, DiagSink *diags)
{
    static const size_t before = sizeof(int64_t);
    static Worker *worker;
    if (!worker)
        worker = worker_after(&before);
    Clip *clip = clip_from_bytes(worker, "fuzz", data, size, NULL, diags, (SourcePos){ 0 });
    assert(clip || diag_has_errors(diags));
    for (size_t i = 0; clip && i < (size_t)clip->channels * (size_t)clip->frame_count; i++)
        assert(isfinite(clip->samples[i]));
    clip_destroy(clip);
}

static void take_template(const uint8_t *data, size_t size, DiagSink *diags)
{
    TemplateScript script = { 0 };
    TemplateFiles files = { 0 };
    TemplateResult result = { 0 };
    EngineRequest request = { .script = &script, .folder = "nowhere", .output_bytes = 1000, .files = &files };
    // The answer ends where its bytes do, so that reading beyond is seen.
    WorkerAnswer answer = { .data = memory_text((const char *)data, size), .size = size };
    bool is_fine = engine_read_answer(&request, &answer, &result, diags);
    assert(is_fine ? result.text.length <= 3000 : diag_has_errors(diags));
    free(answer.data);
    template_result_free(&result);
    template_files_free(&files);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const takes[])(const uint8_t *, size_t, DiagSink *) = { take_mesh, take_image, take_clip,
                                                                          take_template };
    if (size == 0)
        return 0;
    DiagSink *diags = diag_create();
    takes[data[0] % COUNT_OF(takes)](data + 1, size - 1, diags);
    diag_destroy(diags);
    return 0;
}
