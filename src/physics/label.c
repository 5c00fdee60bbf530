// label.c - the names of solids in messages and recordings: DEF or name, unique in a world.
#include "physics/physics_internal.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

const char *label_plain(const SceneNode *node)
{
    const SceneNode *outer = scene_instance(node);
    if (outer && outer->def)
        return outer->def;
    if (node->def)
        return node->def;
    const char *name = scene_string(node, "name");
    return *name ? name : node->type->name;
}

typedef struct LabelSlot {
    const char *label;
    int solid;
} LabelSlot;
static int by_label(const void *a, const void *b)
{
    const LabelSlot *x = a, *y = b;
    int order = strcmp(x->label, y->label);
    return order ? order : (x->solid > y->solid) - (x->solid < y->solid);
}

// Solids with the same label get the label of the solid above in front, as often as it takes; a number at last.
void labels_make(Physics *physics)
{
    int count = physics->solid_count;
    LabelSlot *slots = memory_alloc_array((size_t)count + 1, sizeof(LabelSlot));
    int *above = memory_alloc_array((size_t)count + 1, sizeof(int));
    int used = 0;
    for (int i = 0; i < count; i++) {
        physics->solids[i].label = label_plain(physics->solids[i].node);
        above[i] = physics->solids[i].parent;
        if (physics->solids[i].is_alive)
            slots[used++].solid = i;
    }
    for (int round = 0; round < 64; round++) {
        for (int i = 0; i < used; i++)
            slots[i].label = physics->solids[slots[i].solid].label;
        qsort(slots, (size_t)used, sizeof(LabelSlot), by_label);
        bool is_changed = false;
        for (int i = 0; i < used;) {
            int end = i + 1;
            while (end < used && !strcmp(slots[end].label, slots[i].label))
                end++;
            for (int k = i, number = 1; end - i > 1 && k < end; k++, number++) {
                int solid = slots[k].solid;
                if (above[solid] >= 0) {
                    physics->solids[solid].label = arena_printf(
                        physics->arena, "%s.%s", label_plain(physics->solids[above[solid]].node), slots[k].label);
                    above[solid] = physics->solids[above[solid]].parent;
                    is_changed = true;
                } else if (number > 1) {
                    physics->solids[solid].label = arena_printf(physics->arena, "%s#%d", slots[k].label, number);
                    is_changed = true;
                }
            }
            i = end;
        }
        if (!is_changed)
            break;
    }
    free(slots);
    free(above);
    physics->are_labels_stale = false;
}

const char *solid_label(const Physics *physics, int solid)
{
    assert_debug(solid < physics->solid_count);
    if (physics->are_labels_stale)
        labels_make(
            (Physics *)physics);  // known only when asked for: worlds that grow by thousands of solids rarely ask
    return solid < 0 ? "the world" : physics->solids[solid].label;
}
