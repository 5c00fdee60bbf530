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

typedef enum Kind { MESH, IMAGE, CLIP, TEMPLATE, KINDS } Kind;

static Worker *worker_of(Kind kind)
{
    static const size_t before[] = {
        [MESH] = 32 + 16 + sizeof "model.dae",  // the request's header, that of the file, its name
        [IMAGE] = sizeof(int64_t),
        [CLIP] = sizeof(int64_t),
    };
    static Worker *workers[COUNT_OF(before)];
    assert(kind < COUNT_OF(before));
    if (!workers[kind])
        workers[kind] = worker_create(
            &(WorkerOptions){ .name = "echo", .start = start, .handle = give_back, .context = &before[kind] });
    return workers[kind];
}

static void take_mesh(const uint8_t *data, size_t size, DiagSink *diags)
{
    MeshBuilder builder = { .vertex_limit = 10000 };
    Limits limits = limits_default;
    limits.file_bytes = 100;  // of files that the answer names
    ImportOptions options = { .limits = &limits };
    ImportCompanions companions = { "nowhere/fuzz.dae", &options, diags, { 0 } };
    char reason[256] = "";
    if (!import_by_worker(worker_of(MESH), "dae", (WorkerPart){ data, size }, &builder, &companions, reason)) {
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
    Image *image = image_from_bytes(worker_of(IMAGE), "fuzz", data, size, NULL, diags, (SourcePos){ 0 });
    assert(image || diag_has_errors(diags));
    // Every pixel is there to be read.
    size_t count = image ? (size_t)image->width * (size_t)image->height : 0, sum = 0;
    for (size_t i = 0; i < count; i++) {
        assert(!image->light || isfinite(image->light[3 * i + 2]));
        sum += image->pixels ? image->pixels[4 * i + 3] : 1;
    }
    assert(sum <= 255 * count);
    image_destroy(image);
}

static void take_clip(const uint8_t *data, size_t size, DiagSink *diags)
{
    Clip *clip = clip_from_bytes(worker_of(CLIP), "fuzz", data, size, NULL, diags, (SourcePos){ 0 });
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
    static void (*const takes[KINDS])(const uint8_t *, size_t, DiagSink *) = {
        [MESH] = take_mesh, [IMAGE] = take_image, [CLIP] = take_clip, [TEMPLATE] = take_template
    };
    if (size == 0)
        return 0;
    DiagSink *diags = diag_create();
    takes[data[0] % KINDS](data + 1, size - 1, diags);
    diag_destroy(diags);
    return 0;
}
