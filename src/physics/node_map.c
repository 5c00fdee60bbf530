// node_map.c - which solid a node is, by the id of the node. Ids are never given again, so a table by id would grow for
// ever while nodes come and go; this one is hashed, with open addressing, and has room for the solids that there are.
#include "physics/physics_internal.h"

#include "base/hash.h"
#include "base/memory.h"

#include <stdlib.h>

static int slot_of(const NodeMap *map, uint32_t id)
{
    int slot = (int)(hash_combine(0, id) & (uint64_t)map->mask);
    while (map->slots[slot].solid >= 0 && map->slots[slot].id != id)
        slot = (slot + 1) & map->mask;
    return slot;
}

static void make_room(NodeMap *map)
{
    if (map->slots && 2 * (map->count + 1) <= map->mask + 1)
        return;
    NodeMap larger = { .mask = map->slots ? 2 * map->mask + 1 : 63 };
    larger.slots = memory_alloc_array((size_t)larger.mask + 1, sizeof *larger.slots);
    for (int i = 0; i <= larger.mask; i++)
        larger.slots[i].solid = -1;
    for (int i = 0; map->slots && i <= map->mask; i++)
        if (map->slots[i].solid >= 0)
            larger.slots[slot_of(&larger, map->slots[i].id)] = map->slots[i];
    larger.count = map->count;
    free(map->slots);
    *map = larger;
}

void node_map_set(NodeMap *map, uint32_t id, int solid)
{
    assert(solid >= 0);
    make_room(map);
    int slot = slot_of(map, id);
    map->count += map->slots[slot].solid < 0;
    map->slots[slot] = (NodeMapSlot){ id, solid };
}

int node_map_get(const NodeMap *map, uint32_t id) { return map->slots ? map->slots[slot_of(map, id)].solid : -1; }

// What comes behind it in its row of slots moves up, so that it is found again.
void node_map_remove(NodeMap *map, uint32_t id)
{
    int slot = map->slots ? slot_of(map, id) : -1;
    if (slot < 0 || map->slots[slot].solid < 0)
        return;
    map->slots[slot].solid = -1;
    map->count--;
    for (int next = (slot + 1) & map->mask; map->slots[next].solid >= 0; next = (next + 1) & map->mask) {
        NodeMapSlot moved = map->slots[next];
        map->slots[next].solid = -1;
        map->slots[slot_of(map, moved.id)] = moved;
    }
}
