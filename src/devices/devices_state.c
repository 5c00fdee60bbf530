// devices_state.c - the state of all devices as bytes, for snapshots and the state hash.
#include "devices/devices_internal.h"

#include "base/hash.h"
#include "base/memory.h"

#include <string.h>

typedef struct Section {
    const void *data;
    size_t size;
} Section;
// In the order in which they lie in a snapshot.
enum {
    SECTION_ROBOTS,
    SECTION_SAMPLING,
    SECTION_READINGS,
    SECTION_KINDS,
    SECTION_PACKETS,
    SECTION_POOL,
    SECTION_PLUGIN,
    SECTION_RESERVED,  // always empty
    SECTION_CHARGERS,
    SECTIONS
};

// Sections whose size is that of the devices which there are; the others hold what is on its way.
static bool has_fixed_size(int section) { return section < SECTION_PACKETS || section == SECTION_CHARGERS; }

static void sections_of(const Devices *devices, Section sections[SECTIONS])
{
    Section all[SECTIONS] = {
        [SECTION_ROBOTS] = { devices->robot_states, (size_t)devices->robot_count * sizeof *devices->robot_states },
        [SECTION_SAMPLING] = { devices->states, (size_t)devices->device_count * sizeof *devices->states },
        [SECTION_READINGS] = { devices->readings, (size_t)devices->device_count * sizeof *devices->readings },
        [SECTION_KINDS] = { devices->kind_states, (size_t)devices->kind_state_size },
        [SECTION_PACKETS] = { devices->packets, (size_t)devices->packet_count * sizeof *devices->packets },
        [SECTION_POOL] = { devices->pool, (size_t)devices->pool_size },
        [SECTION_PLUGIN] = { devices->plugin_inbox, devices->plugin_is_read ? 0 : (size_t)devices->plugin_size },
        [SECTION_CHARGERS] = { devices->charger_energy,
                               (size_t)devices->charger_count * sizeof *devices->charger_energy },
    };
    memcpy(sections, all, sizeof all);
}

uint64_t devices_hash(const Devices *devices)
{
    Section sections[SECTIONS];
    sections_of(devices, sections);
    uint64_t hash = devices->step;
    for (int i = 0; i < SECTIONS; i++)
        if (sections[i].size)
            hash = hash_bytes(sections[i].data, sections[i].size, hash);
    return microphones_state_hash(devices, show_state_hash(devices, hash));
}

typedef struct SnapshotHead {
    uint64_t step;
    uint64_t sizes[SECTIONS];
    uint64_t shown;  // what displays and pens left to be seen
    uint64_t heard;  // what microphones hear
} SnapshotHead;

size_t devices_snapshot_size(const Devices *devices)
{
    Section sections[SECTIONS];
    sections_of(devices, sections);
    size_t size = sizeof(SnapshotHead);
    for (int i = 0; i < SECTIONS; i++)
        size += sections[i].size;
    return size + show_state_size(devices) + microphones_state_size(devices);
}

void devices_snapshot(const Devices *devices, void *buffer)
{
    assert_debug(buffer);
    Section sections[SECTIONS];
    sections_of(devices, sections);
    SnapshotHead head = { .step = devices->step,
                          .shown = show_state_size(devices),
                          .heard = microphones_state_size(devices) };
    char *place = (char *)buffer + sizeof head;
    for (int i = 0; i < SECTIONS; i++) {
        head.sizes[i] = sections[i].size;
        if (sections[i].size)
            memcpy(place, sections[i].data, sections[i].size);
        place += sections[i].size;
    }
    show_state_save(devices, place);
    microphones_state_save(devices, place + head.shown);
    memcpy(buffer, &head, sizeof head);
}

// Where the parts of a snapshot lie.
typedef struct SnapshotParts {
    SnapshotHead head;
    const char *sections;       // SECTIONS of them, one behind the other
    const char *packets;        // of them, that section
    const char *shown, *heard;  // behind them
} SnapshotParts;

static bool split(const void *buffer, size_t size, SnapshotParts *parts)
{
    const char *bytes = buffer;
    SnapshotHead *head = &parts->head;
    if (size < sizeof *head)
        return false;
    memcpy(head, bytes, sizeof *head);
    size_t total = sizeof *head;
    parts->sections = bytes + total;
    for (int i = 0; i < SECTIONS; i++) {
        if (head->sizes[i] > size - total)
            return false;
        if (i == SECTION_PACKETS)
            parts->packets = bytes + total;
        total += head->sizes[i];
    }
    parts->shown = bytes + total;
    if (head->shown > size - total || head->heard != size - total - head->shown)
        return false;
    parts->heard = parts->shown + head->shown;
    return true;
}

// Whether the parts are of these devices and can be taken as they are.
static bool is_sound(const Devices *devices, const SnapshotParts *parts)
{
    const uint64_t *sizes = parts->head.sizes;
    if (!show_state_is_sound(devices, parts->shown, parts->head.shown)
        || !microphones_state_is_sound(devices, parts->heard, parts->head.heard))
        return false;
    Section sections[SECTIONS];
    sections_of(devices, sections);
    for (int i = 0; i < SECTIONS; i++)
        if (has_fixed_size(i) && sizes[i] != sections[i].size)
            return false;
    if (sizes[SECTION_PACKETS] % sizeof *devices->packets || sizes[SECTION_RESERVED] != 0)
        return false;
    int packets = (int)(sizes[SECTION_PACKETS] / sizeof *devices->packets);
    return radio_is_sound(devices, parts->packets, packets, sizes[SECTION_POOL]);
}

static void take_sections(Devices *devices, const SnapshotParts *parts)
{
    const uint64_t *sizes = parts->head.sizes;
    assert_debug(sizes[SECTION_RESERVED] == 0);  // it has no target
    devices->packet_count = (int)(sizes[SECTION_PACKETS] / sizeof *devices->packets);
    devices->pool_size = (int)sizes[SECTION_POOL];
    devices->plugin_size = (int)sizes[SECTION_PLUGIN];
    memory_grow(&devices->packets, &devices->packet_capacity, devices->packet_count, sizeof *devices->packets);
    memory_grow(&devices->pool, &devices->pool_capacity, devices->pool_size, 1);
    memory_grow(&devices->plugin_inbox, &devices->plugin_capacity, devices->plugin_size, 1);
    void *targets[SECTIONS] = {
        [SECTION_ROBOTS] = devices->robot_states, [SECTION_SAMPLING] = devices->states,
        [SECTION_READINGS] = devices->readings,   [SECTION_KINDS] = devices->kind_states,
        [SECTION_PACKETS] = devices->packets,     [SECTION_POOL] = devices->pool,
        [SECTION_PLUGIN] = devices->plugin_inbox, [SECTION_CHARGERS] = devices->charger_energy
    };
    const char *place = parts->sections;
    for (int i = 0; i < SECTIONS; i++) {
        if (sizes[i])
            memcpy(targets[i], place, sizes[i]);
        place += sizes[i];
    }
    assert_debug(place == parts->shown);
}

// Sizes are checked against each other and against the devices that there are before anything is written.
bool devices_restore(Devices *devices, const void *buffer, size_t size)
{
    assert_debug(buffer || size == 0);
    SnapshotParts parts;
    if (!split(buffer, size, &parts) || !is_sound(devices, &parts))
        return false;
    take_sections(devices, &parts);
    devices->cursor.is_valid = false;
    devices->plugin_is_read = false;
    devices->step = parts.head.step;
    devices->looked = UINT64_MAX;
    devices->present = NULL;
    show_state_restore(devices, parts.shown, parts.head.shown);
    speakers_restored(devices);
    microphones_state_restore(devices, parts.heard, parts.head.heard);
    return true;
}
