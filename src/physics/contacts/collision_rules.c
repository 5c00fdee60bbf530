// collision_rules.c - which links of one robot may touch, where its body file says so (BodyInfo.collisionRules).
// Without rules the joints decide: neighbours do not touch.
#include "physics/physics_internal.h"
#include "physics/contacts/tuning.h"

#include "base/memory.h"
#include "base/text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef struct RobotRules {
    int robot, count;   // solids robot ... robot + count - 1
    uint8_t *disabled;  // count x count
} RobotRules;

struct CollisionRules {
    RobotRules *items;
    int count, capacity;
};
typedef struct CollisionRules CollisionRules;

static const SceneNode *body_info(const SceneNode *robot)
{
    const FieldList *children = scene_list(robot, "children");
    for (int i = 0; i < children->count; i++) {
        const SceneNode *child = scene_list_node(children, i);
        if (child && scene_node_is(child, "BodyInfo"))
            return child;
    }
    return NULL;
}

static void set_pair(RobotRules *rules, int a, int b, bool is_disabled)
{
    rules->disabled[a * rules->count + b] = rules->disabled[b * rules->count + a] = is_disabled;
}

// Steps from link to link between two solids, at most `most` + 1. A free link begins a chain of its own.
static int steps_between(const Physics *physics, int a, int b, int max)
{
    for (int up = 0; a >= 0 && up <= max; up++) {
        int other = b;
        for (int down = 0; other >= 0 && up + down <= max; down++) {
            if (a == other)
                return up + down;
            other = physics->solids[other].is_loose ? -1 : physics->solids[other].parent;
        }
        a = physics->solids[a].is_loose ? -1 : physics->solids[a].parent;
    }
    return max + 1;
}

static void disable_chains(const Physics *physics, RobotRules *rules, int level)
{
    level = int_min(level, 64);
    for (int a = 0; a < rules->count; a++)
        for (int b = a + 1; b < rules->count; b++)
            if (steps_between(physics, rules->robot + a, rules->robot + b, level) <= level)
                set_pair(rules, a, b, true);
}

static int find_link(const Physics *physics, const RobotRules *rules, const char *root, const char *name, size_t length)
{
    for (int i = 0; i < rules->count; i++) {
        const char *own = i == 0 && *root ? root : scene_string(physics->solids[rules->robot + i].node, "name");
        if (strlen(own) == length && !strncmp(own, name, length))
            return i;
    }
    return -1;
}

static void set_group(const Physics *physics, RobotRules *rules, const char *root, const char *names, bool is_disabled)
{
    int *members = memory_alloc_array((size_t)rules->count, sizeof *members), count = 0;
    while (*names && count < rules->count) {
        names += strspn(names, " ");
        size_t length = strcspn(names, ",");
        int link = find_link(physics, rules, root, names, length);
        if (link >= 0)
            members[count++] = link;
        names += length + (names[length] == ',');
    }
    for (int i = 0; i < count; i++)
        for (int k = i + 1; k < count; k++)
            set_pair(rules, members[i], members[k], is_disabled);
    free(members);
}

static void apply(const Physics *physics, RobotRules *rules, const char *root, const char *rule)
{
    const char *colon = strchr(rule, ':');
    if (!colon)
        return;
    if (text_starts_with(rule, "disabled_link_chain_level:"))
        disable_chains(physics, rules, int_max(atoi(colon + 1), 0));
    else if (text_starts_with(rule, "disabled_link_group:"))
        set_group(physics, rules, root, colon + 1, true);
    else if (text_starts_with(rule, "enabled_link_group:"))
        set_group(physics, rules, root, colon + 1, false);
    // Links that touch nothing at all have no boundingObject.
}

void collision_rules_build(Physics *physics, int first_solid, int end)
{
    for (int i = first_solid; i < end; i++) {
        const PhysicsSolid *solid = &physics->solids[i];
        const SceneNode *info = solid->robot == i ? body_info(solid->node) : NULL;
        if (!info || !scene_field(info, "collisionRules"))
            continue;
        if (solid->end - i > MAX_RULED_SOLIDS) {
            diag_warning(physics->diags, info->pos, "collision rules of more than %d solids are not used",
                         MAX_RULED_SOLIDS);
            continue;
        }
        if (!physics->collision_rules)
            physics->collision_rules = memory_alloc(sizeof *physics->collision_rules);
        CollisionRules *list = physics->collision_rules;
        memory_grow(&list->items, &list->capacity, list->count + 1, sizeof *list->items);
        RobotRules *rules = &list->items[list->count++];
        *rules = (RobotRules){ .robot = i, .count = solid->end - i };
        rules->disabled = memory_alloc_array((size_t)rules->count * (size_t)rules->count, 1);
        const FieldList *texts = scene_list(info, "collisionRules");
        for (int k = 0; k < texts->count; k++)
            apply(physics, rules, scene_string(info, "rootLink"), texts->strings[k]);
    }
}

bool collision_rules_say(const Physics *physics, int a, int b, bool *is_excluded)
{
    assert(a >= 0 && a < physics->solid_count);
    assert(b >= 0 && b < physics->solid_count);
    const CollisionRules *list = physics->collision_rules;
    for (int i = 0; list && i < list->count; i++) {
        const RobotRules *rules = &list->items[i];
        if (rules->robot != physics->solids[a].robot)
            continue;
        bool is_one_body = physics->solids[a].body >= 0 && physics->solids[a].body == physics->solids[b].body;
        *is_excluded = is_one_body || rules->disabled[(a - rules->robot) * rules->count + (b - rules->robot)];
        return true;
    }
    return false;
}

void collision_rules_destroy(Physics *physics)
{
    CollisionRules *list = physics->collision_rules;
    for (int i = 0; list && i < list->count; i++)
        free(list->items[i].disabled);
    if (list)
        free(list->items);
    free(list);
    physics->collision_rules = NULL;
}
