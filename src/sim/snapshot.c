// Snapshots of a whole run, in memory and in files, and worlds saved in mid-run.
#include "sim/sim_internal.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "formats/body/body.h"
#include "formats/proto/proto.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char magic[8] = "TALSNAP3";

// Sizes of the parts follow the header, then the bytes of physics and of every part.
typedef struct SnapshotHeader {
    char magic[8];
    uint64_t model, steps, physics_size, part_count;
} SnapshotHeader;

static void reserve(SimSnapshot *snapshot, size_t size)
{
    if (size <= snapshot->capacity)
        return;
    free(snapshot->data);
    snapshot->capacity = size + size / 2;
    snapshot->data = memory_alloc_raw(snapshot->capacity);
    assert_debug(snapshot->data);
}

// `model` is NULL for a full snapshot.
static void take(Sim *sim, const uint64_t *model, SimSnapshot *snapshot)
{
    size_t physics_size = model ? physics_snapshot_light_size(sim->physics) : physics_snapshot_size(sim->physics);
    SnapshotHeader header = { .model = model ? *model : sim_model_hash(sim),
                              .steps = sim->steps,
                              .physics_size = physics_size,
                              .part_count = (uint64_t)sim->part_count };
    memcpy(header.magic, magic, sizeof(magic));
    size_t size = sizeof(header) + sizeof(uint64_t) * (size_t)sim->part_count + header.physics_size;
    for (int i = 0; i < sim->part_count; i++)
        size += sim->parts[i].size(sim->parts[i].context);
    reserve(snapshot, size);
    snapshot->size = size;
    snapshot->is_packed = false;
    char *to = snapshot->data;
    memcpy(to, &header, sizeof(header));
    to += sizeof(header);
    for (int i = 0; i < sim->part_count; i++, to += sizeof(uint64_t)) {
        uint64_t size_of_it = sim->parts[i].size(sim->parts[i].context);
        memcpy(to, &size_of_it, sizeof(size_of_it));
    }
    if (model)
        physics_snapshot_light(sim->physics, *model, to);
    else
        physics_snapshot(sim->physics, to);
    to += header.physics_size;
    for (int i = 0; i < sim->part_count; i++) {
        sim->parts[i].save(sim->parts[i].context, to);
        to += sim->parts[i].size(sim->parts[i].context);
    }
    assert(to == (char *)snapshot->data + size);  // each part says the same size whenever it is asked
}

void sim_snapshot(Sim *sim, SimSnapshot *snapshot) { take(sim, NULL, snapshot); }

void sim_snapshot_light(Sim *sim, uint64_t model, SimSnapshot *snapshot) { take(sim, &model, snapshot); }

static bool refuse(Sim *sim, const char *why)
{
    diag_error(sim->diags, (SourcePos){ 0 }, "the snapshot cannot be used: %s", why);
    return false;
}

// A stranger's: `from` stands behind the header.
static bool refuse_model(Sim *sim, const SnapshotHeader *header, const char *from, size_t left)
{
    Text what = { 0 };
    size_t parts = header->part_count <= left / sizeof(uint64_t) ? (size_t)header->part_count * sizeof(uint64_t) : left;
    size_t size = header->physics_size < left - parts ? (size_t)header->physics_size : left - parts;
    if (physics_snapshot_differs(sim->physics, from + parts, size, &what))
        diag_error(sim->diags, (SourcePos){ 0 },
                   "the snapshot cannot be used: it is of another world, or of another state of its file: %s differ",
                   what.data);
    else
        refuse(sim, "it is of another world, or of another state of its file");
    text_free(&what);
    return false;
}

// The sizes of the parts stand in the snapshot as they come, not aligned.
static uint64_t part_size(const char *sizes, int part)
{
    assert_debug(part >= 0);
    uint64_t size;
    memcpy(&size, sizes + sizeof(size) * (size_t)part, sizeof(size));
    return size;
}

static bool sizes_fit(const SnapshotHeader *header, const char *sizes, int parts, size_t left)
{
    assert_debug(parts >= 0);
    if (header->physics_size > left)
        return false;
    left -= (size_t)header->physics_size;
    for (int i = 0; i < parts; i++) {
        if (part_size(sizes, i) > left)
            return false;
        left -= (size_t)part_size(sizes, i);
    }
    return left == 0;
}

// What the parts are at, so that they can go back to it when a later one refuses. Their sizes go before their bytes.
static void keep_parts(Sim *sim, int parts)
{
    assert_debug(parts >= 0 && parts <= sim->part_count);
    if (parts == 0)
        return;
    size_t size = sizeof(uint64_t) * (size_t)parts;
    for (int i = 0; i < parts; i++)
        size += sim->parts[i].size(sim->parts[i].context);
    reserve(&sim->kept_parts, size);
    char *to = (char *)sim->kept_parts.data + sizeof(uint64_t) * (size_t)parts;
    for (int i = 0; i < parts; i++) {
        uint64_t its_size = sim->parts[i].size(sim->parts[i].context);
        memcpy((char *)sim->kept_parts.data + sizeof(its_size) * (size_t)i, &its_size, sizeof(its_size));
        sim->parts[i].save(sim->parts[i].context, to);
        to += its_size;
    }
}

static void give_back_parts(Sim *sim, int parts, int count)
{
    assert_debug(count >= 0 && count <= parts);
    if (parts == 0)
        return;
    const char *from = (const char *)sim->kept_parts.data + sizeof(uint64_t) * (size_t)parts;
    for (int i = 0; i < count; i++) {
        uint64_t size = part_size(sim->kept_parts.data, i);
        bool is_back = sim->parts[i].restore(sim->parts[i].context, from, (size_t)size);
        assert(is_back);
        (void)is_back;
        from += size;
    }
}

// All or nothing: each looks at its bytes before it takes any of them, and the parts go back when one after them
// refuses.
static bool take_over(Sim *sim, const SnapshotHeader *header, const char *sizes, int parts, const char *from,
                      const char **why)
{
    assert_debug(parts <= sim->part_count);
    const char *at = from + header->physics_size;
    keep_parts(sim, parts);
    for (int i = 0; i < parts; i++) {
        if (!sim->parts[i].restore(sim->parts[i].context, at, (size_t)part_size(sizes, i))) {
            give_back_parts(sim, parts, i);
            *why = sim->parts[i].name;
            return false;
        }
        at += part_size(sizes, i);
    }
    if (physics_restore(sim->physics, from, (size_t)header->physics_size))
        return true;
    give_back_parts(sim, parts, parts);
    *why = "its contents do not fit this world";
    return false;
}

static bool restore_with(Sim *sim, const SimSnapshot *snapshot, bool wants_parts)
{
    assert(!snapshot->is_packed);
    SnapshotHeader header;
    const char *from = snapshot->data;
    size_t left = snapshot->size;
    if (!from || left < sizeof(header))
        return refuse(sim, "it is too short");
    memcpy(&header, from, sizeof(header));
    from += sizeof(header);
    left -= sizeof(header);
    if (memcmp(header.magic, magic, sizeof(magic)))
        return refuse(sim, "it is not a snapshot of this version");
    if (header.model != sim_model_hash(sim))
        return refuse_model(sim, &header, from, left);
    // The snapshot taken at load knows no parts; those start anew by their reset hooks.
    bool fits = header.part_count <= (uint64_t)sim->part_count || (!wants_parts && header.part_count < INT_MAX);
    int parts = fits ? (int)header.part_count : -1;
    if (parts < 0 || left < sizeof(uint64_t) * (size_t)parts)
        return refuse(sim, "it holds other parts");
    const char *sizes = from;
    from += sizeof(uint64_t) * (size_t)parts;
    left -= sizeof(uint64_t) * (size_t)parts;
    const char *why = "its sizes do not fit its contents";
    bool has_sizes = sizes_fit(&header, sizes, parts, left);
    bool is_restored = has_sizes
                       && take_over(sim, &header, sizes, parts < sim->part_count ? parts : sim->part_count, from, &why);
    // Robots may have come since a reset's start was taken; parts that do not fit it any more start anew, too.
    if (!is_restored && has_sizes && !wants_parts)
        is_restored = take_over(sim, &header, sizes, 0, from, &why);
    if (!is_restored)
        return refuse(sim, why);
    sim->steps = header.steps;
    physics_begin_step(sim->physics, sim->steps);
    if (sim->plugin && plugin_restored(sim->plugin))
        physics_collide_restored(sim->physics);
    return true;
}

bool sim_restore(Sim *sim, const SimSnapshot *snapshot) { return restore_with(sim, snapshot, true); }

bool sim_start_fits(const Sim *sim)
{
    SnapshotHeader header;
    const SimSnapshot *start = sim_start_state(sim);
    assert_debug(!start->is_packed);
    if (start->size < sizeof(header))
        return false;
    memcpy(&header, start->data, sizeof(header));
    return header.model == sim_model_hash(sim);
}

bool sim_restore_start(Sim *sim) { return restore_with(sim, sim_start_state(sim), false); }

int sim_snapshot_part_count(const SimSnapshot *snapshot)
{
    SnapshotHeader header;
    if (!snapshot->data || snapshot->size < sizeof(header))
        return 0;
    memcpy(&header, snapshot->data, sizeof(header));
    return header.part_count <= INT_MAX ? (int)header.part_count : 0;
}

// ---- packed ----

// Words of eight bytes: the size of all bytes, then stretches, each with how many zeros it begins with, how many other
// words follow, and these; bytes beyond the last word stand at the end.
typedef struct Stretch {
    uint32_t zeros, others;
} Stretch;

static uint64_t word_at(const char *data, size_t word)
{
    uint64_t value;
    memcpy(&value, data + word * sizeof value, sizeof value);
    return value;
}

static Stretch stretch_at(const char *data, size_t at, size_t words)
{
    assert_debug(at < words);
    Stretch stretch = { 0 };
    while (at < words && stretch.zeros < UINT32_MAX && word_at(data, at) == 0)
        stretch.zeros++, at++;
    while (at < words && stretch.others < UINT32_MAX && word_at(data, at) != 0)
        stretch.others++, at++;
    return stretch;
}

// Returns the number of bytes; writes nothing to NULL.
static size_t pack(const SimSnapshot *snapshot, char *to)
{
    const char *from = snapshot->data;
    size_t words = snapshot->size / sizeof(uint64_t), rest = snapshot->size % sizeof(uint64_t);
    uint64_t whole = snapshot->size;
    size_t size = sizeof whole;
    if (to)
        memcpy(to, &whole, sizeof whole);
    for (size_t at = 0; at < words;) {
        Stretch stretch = stretch_at(from, at, words);
        size_t others = stretch.others * sizeof(uint64_t);
        at += stretch.zeros;
        if (to) {
            memcpy(to + size, &stretch, sizeof stretch);
            memcpy(to + size + sizeof stretch, from + at * sizeof(uint64_t), others);
        }
        at += stretch.others;
        size += sizeof stretch + others;
    }
    if (to && rest > 0)
        memcpy(to + size, from + words * sizeof(uint64_t), rest);
    return size + rest;
}

void sim_snapshot_pack(SimSnapshot *snapshot)
{
    assert_debug(!snapshot->is_packed);
    size_t size = pack(snapshot, NULL);
    if (size >= snapshot->size)
        return;
    char *data = memory_alloc_raw(size);
    size_t written = pack(snapshot, data);
    assert(written == size);
    (void)written;
    free(snapshot->data);
    *snapshot = (SimSnapshot){ .data = data, .size = size, .capacity = size, .is_packed = true };
}

void sim_snapshot_unpack(SimSnapshot *snapshot)
{
    if (!snapshot->is_packed)
        return;
    const char *from = snapshot->data, *end = from + snapshot->size;
    uint64_t whole;
    assert(snapshot->size >= sizeof whole);
    memcpy(&whole, from, sizeof whole);
    from += sizeof whole;
    char *data = memory_alloc((size_t)whole);
    size_t at = 0, words = (size_t)whole / sizeof(uint64_t) * sizeof(uint64_t);
    while (at < words) {
        Stretch stretch;
        memcpy(&stretch, from, sizeof stretch);
        from += sizeof stretch;
        at += stretch.zeros * sizeof(uint64_t);
        size_t others = stretch.others * sizeof(uint64_t);
        assert_debug(at + others <= words && from + others <= end);
        memcpy(data + at, from, others);
        at += others;
        from += others;
    }
    assert(at == words && (size_t)(end - from) == (size_t)whole - words);
    memcpy(data + at, from, (size_t)(end - from));
    free(snapshot->data);
    *snapshot = (SimSnapshot){ .data = data, .size = (size_t)whole, .capacity = (size_t)whole };
}

void sim_snapshot_free(SimSnapshot *snapshot)
{
    free(snapshot->data);
    *snapshot = (SimSnapshot){ 0 };
}

// A file ends with the hash of all that stands before it.
bool sim_snapshot_write(Sim *sim, const char *path)
{
    assert_debug(path);
    SimSnapshot snapshot = { 0 };
    sim_snapshot(sim, &snapshot);
    uint64_t hash = hash_bytes(snapshot.data, snapshot.size, 0);
    char *data = memory_alloc_raw(snapshot.size + sizeof(hash));
    memcpy(data, snapshot.data, snapshot.size);
    memcpy(data + snapshot.size, &hash, sizeof(hash));
    bool is_written = file_write_atomic(path, data, snapshot.size + sizeof(hash), sim->diags);
    free(data);
    sim_snapshot_free(&snapshot);
    return is_written;
}

bool sim_snapshot_load(Sim *sim, const char *path, SimSnapshot *snapshot)
{
    assert_debug(path && snapshot);
    FileData file;
    size_t limit = (size_t)limits_or_default(sim->options.formats.limits)->file_bytes;
    if (!file_read(path, limit, &file, sim->diags, (SourcePos){ 0 }))
        return false;
    uint64_t hash;
    bool is_sound = file.size > sizeof(hash);
    if (is_sound) {
        size_t size = file.size - sizeof(hash);
        memcpy(&hash, file.data + size, sizeof(hash));
        is_sound = hash == hash_bytes(file.data, size, 0);
        reserve(snapshot, size);
        memcpy(snapshot->data, file.data, size);
        snapshot->size = size;
    }
    file_release(&file);
    return is_sound || refuse(sim, "the file is damaged or cut short");
}

bool sim_snapshot_read(Sim *sim, const char *path)
{
    SimSnapshot snapshot = { 0 };
    bool is_restored = sim_snapshot_load(sim, path, &snapshot) && sim_restore(sim, &snapshot);
    sim_snapshot_free(&snapshot);
    return is_restored;
}

void sim_sync_scene(Sim *sim)
{
    sim_keep_fields(sim);
    bool was_deaf = sim->ignores_own_writes;
    sim->ignores_own_writes = true;
    physics_sync_scene(sim->physics);
    sim_follow(sim);
    sim->ignores_own_writes = was_deaf;
}

void sim_sync_solid(Sim *sim, int solid)
{
    assert(solid >= 0 && solid < physics_solid_count(sim->physics));
    sim_keep_fields(sim);
    bool was_deaf = sim->ignores_own_writes;
    sim->ignores_own_writes = true;
    physics_sync_solid(sim->physics, solid);
    sim->ignores_own_writes = was_deaf;
}

bool sim_save(Sim *sim, const char *path)
{
    assert(!sim->is_writing && !sim_is_shared(sim));
    sim_sync_scene(sim);
    if (sim->steps > 0) {
        sim->ignores_own_writes = true;
        physics_keep_joints(sim->physics);
        sim->ignores_own_writes = false;
        proto_keep_state(sim->scene);
    }
    body_keep_positions(sim->scene, sim->steps > 0);
    sim->ignores_own_writes = true;
    for (int i = 0; i < sim->part_count; i++)
        if (sim->parts[i].keep)
            sim->parts[i].keep(sim->parts[i].context);
    sim->ignores_own_writes = false;
    if (path && !formats_save(sim->scene, path, sim->diags))
        return false;
    sim_take_initial(sim);
    return true;
}
