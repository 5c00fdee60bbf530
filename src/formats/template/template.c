// template.c - evaluates templates in a confined process and remembers what came out.
#include "formats/template/template.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "formats/template/template_engine.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define CACHE_BYTES (64u << 20)  // of remembered text; beyond it the cache starts anew

typedef struct Key {
    uint64_t a, b;
} Key;

typedef struct CacheEntry {
    Key key;
    char *text;  // NULL: free slot
    size_t size;
    uint32_t *line_of;
    uint32_t line_count;
} CacheEntry;

// Results are shared by all loads of this process; they depend on nothing but their key. The lock guards the table.
static struct {
    pthread_mutex_t lock;
    CacheEntry *slots;
    int count, slot_count;
    size_t bytes;
    int evaluations;
} cache = { .lock = PTHREAD_MUTEX_INITIALIZER };

static CacheEntry *cache_slot(Key key)
{
    assert_debug((cache.slot_count & (cache.slot_count - 1)) == 0);
    if (cache.slot_count == 0)
        return NULL;
    for (uint64_t i = key.a;; i++) {
        CacheEntry *slot = &cache.slots[i & (uint64_t)(cache.slot_count - 1)];
        if (!slot->text || (slot->key.a == key.a && slot->key.b == key.b))
            return slot;
    }
}

static void cache_clear(void)
{
    for (int i = 0; i < cache.slot_count; i++) {
        free(cache.slots[i].text);
        free(cache.slots[i].line_of);
    }
    free(cache.slots);
    cache.slots = NULL;
    cache.count = cache.slot_count = 0;
    cache.bytes = 0;
}

static void cache_grow(void)
{
    CacheEntry *old = cache.slots;
    int old_count = cache.slot_count;
    assert(old_count >= 0 && (old_count & (old_count - 1)) == 0);
    cache.slot_count = int_max(64, old_count * 2);
    cache.slots = memory_alloc_array((size_t)cache.slot_count, sizeof *cache.slots);
    for (int i = 0; i < old_count; i++)
        if (old[i].text)
            *cache_slot(old[i].key) = old[i];
    free(old);
}

static bool cache_take(Key key, TemplateResult *result)
{
    pthread_mutex_lock(&cache.lock);
    CacheEntry *slot = cache_slot(key);
    bool found = slot && slot->text;
    if (found) {
        text_add(&result->text, slot->text, slot->size);
        result->line_count = slot->line_count;
        result->line_of = memory_alloc_array(slot->line_count, sizeof *result->line_of);
        memcpy(result->line_of, slot->line_of, slot->line_count * sizeof *result->line_of);
    }
    pthread_mutex_unlock(&cache.lock);
    return found;
}

static void cache_put(Key key, const TemplateResult *result)
{
    assert_debug(result->line_of || result->line_count == 0);
    pthread_mutex_lock(&cache.lock);
    cache.evaluations++;
    size_t bytes = result->text.length + result->line_count * sizeof *result->line_of + sizeof(CacheEntry);
    if (bytes <= CACHE_BYTES) {
        if (cache.bytes + bytes > CACHE_BYTES)
            cache_clear();
        if (cache.count * 2 >= cache.slot_count)
            cache_grow();
        CacheEntry *slot = cache_slot(key);
        if (!slot->text) {
            slot->key = key;
            slot->text = memory_text(result->text.data, result->text.length);
            slot->size = result->text.length;
            slot->line_count = result->line_count;
            slot->line_of = memory_alloc_array(result->line_count, sizeof *slot->line_of);
            memcpy(slot->line_of, result->line_of, result->line_count * sizeof *slot->line_of);
            cache.count++;
            cache.bytes += bytes;
        }
    }
    pthread_mutex_unlock(&cache.lock);
}

int template_evaluation_count(void)
{
    pthread_mutex_lock(&cache.lock);
    int count = cache.evaluations;
    pthread_mutex_unlock(&cache.lock);
    return count;
}

static uint64_t hash_job(const TemplateJob *job, const Text *fields, const Text *context, uint64_t seed)
{
    uint64_t hash = hash_bytes(job->text, job->size, seed + job->language + (job->has_old_fields ? 16 : 0));
    hash = hash_bytes(job->path, strlen(job->path), hash + job->pos.line);
    hash = hash_bytes(fields->data, fields->length, hash);
    return hash_bytes(context->data, context->length, hash);
}

bool template_uses_files(const char *text, size_t size)
{
    static const char *const words[] = { "writeTextFile", "temporary_files_path" };
    for (int i = 0; i < COUNT_OF(words); i++)
        if (memmem(text, size, words[i], strlen(words[i])))
            return true;
    return false;
}

// The same text, fields and context give the same result, which is kept: worlds have hundreds of equal instances,
// and each evaluation crosses to another process. A template that reads files may give another result, and is not
// kept.
bool template_eval(const TemplateJob *job, TemplateResult *result, DiagSink *diags)
{
    assert_debug(job->path && (job->text || job->size == 0));
    const Limits *limits = limits_or_default(job->limits);
    Text fields = { 0 }, context = { 0 };
    TemplateScript script = { 0 };
    *result = (TemplateResult){ 0 };
    template_write_fields(job, &fields);
    template_write_context(job, &context);
    Key key = { hash_job(job, &fields, &context, 1), hash_job(job, &fields, &context, 2) };
    bool is_repeatable = !template_uses_files(job->text, job->size);
    bool ok = is_repeatable && cache_take(key, result);
    if (!ok && template_compile(job, &script, diags)) {
        Arena *arena = arena_create();
        EngineRequest request = {
            .language = job->language,
            .script = &script,
            .fields = fields.data,
            .context = context.data,
            .folder = path_directory(arena, job->path),
            .time_ms = limits->template_ms,
            .memory_bytes = limits->template_bytes,
            .output_bytes = limits->template_output_bytes,
            .file = job->pos.file,
            .files = job->files,
            .budget = job->budget,
        };
        ok = engine_run(&request, result, diags);
        if (ok && is_repeatable)
            cache_put(key, result);
        arena_destroy(arena);
    }
    if (!ok)
        template_result_free(result);
    template_script_free(&script);
    text_free(&fields);
    text_free(&context);
    return ok;
}

void template_result_free(TemplateResult *result)
{
    text_free(&result->text);
    free(result->line_of);
    *result = (TemplateResult){ 0 };
}
