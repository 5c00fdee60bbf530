// body_rules.c - what relates several links: extra joints and the rules of self-collision.
#include "formats/body/body_internal.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static bool read_link_name(BodyReader *reader, const YamlNode *map, const char *key, const char *old_key, int *link)
{
    const char *name;
    if (!body_string(reader, map, key, old_key, &name)) {
        diag_error(reader->diags, map->pos, "an extra joint needs '%s'", key);
        return false;
    }
    *link = body_find_link(reader->model, name);
    if (*link < 0)
        diag_error(reader->diags, body_key(map, key, old_key)->pos, "there is no link '%.60s'", name);
    return *link >= 0;
}

static void read_side(BodyReader *reader, const YamlNode *map, int side, BodyFrame *frame)
{
    assert(side == 0 || side == 1);
    static const char *const translations[2][4] = {
        { "translation_in_link1", "link1LocalPos", "link1_local_pos", "link1LocalPosition" },
        { "translation_in_link2", "link2LocalPos", "link2_local_pos", "link2LocalPosition" },
    };
    static const char *const rotations[2] = { "rotation_in_link1", "rotation_in_link2" };
    *frame = BODY_FRAME_IDENTITY;
    for (int i = 0; i < 4; i++)
        if (body_vec3(reader, map, translations[side][i], NULL, &frame->t))
            break;
    body_rotation(reader, map, rotations[side], &frame->m);
}

// A joint that closes a loop: every spelling that versions of Choreonoid have had for its keys.
static const char *const extra_types[] = { "fixed", "hinge", "ball", "piston" };
static_assert(COUNT_OF(extra_types) == BODY_EXTRA_PISTON + 1, "one word per type");

const char *body_extra_type_name(BodyExtraType type)
{
    assert_debug((int)type >= 0 && (int)type < COUNT_OF(extra_types));
    return extra_types[type];
}

static bool read_extra_type(BodyReader *reader, const YamlNode *map, BodyExtraType *type)
{
    const char *word = NULL;
    body_string(reader, map, "joint_type", "jointType", &word);
    for (int i = 0; word && i < COUNT_OF(extra_types); i++) {
        if (strcmp(extra_types[i], word) != 0)
            continue;
        *type = (BodyExtraType)i;
        return true;
    }
    diag_error(reader->diags, map->pos, "an extra joint has joint_type fixed, hinge, ball or piston, not '%.60s'",
               word ? word : "");
    return false;
}

static void read_extra_axis(BodyReader *reader, const YamlNode *map, BodyExtraJoint *joint)
{
    Vec3 axis;
    if (!body_vec3(reader, map, "axis", "jointAxis", &axis) && !body_vec3(reader, map, "joint_axis", NULL, &axis))
        return;
    if (vec3_length(axis) < 1e-9)
        diag_error(reader->diags, map->pos, "the axis of an extra joint is zero; using 1 0 0");
    else
        joint->axis = vec3_normalized(axis);
}

static void read_extra_joint(BodyReader *reader, const YamlNode *map)
{
    assert_debug(yaml_is_map(map));
    static const char *const keys[] = {
        // clang-format off
        "name", "link1_name", "link1Name", "link2_name", "link2Name",
        "joint_type", "jointType", "axis", "joint_axis", "jointAxis",
        "translation_in_link1", "link1LocalPos", "link1_local_pos", "link1LocalPosition",
        "translation_in_link2", "link2LocalPos", "link2_local_pos", "link2LocalPosition",
        "rotation_in_link1", "rotation_in_link2", NULL
        // clang-format on
    };
    body_check_keys(reader, map, "an extra joint", keys, NULL, NULL);
    BodyExtraJoint joint = { .name = "", .axis = { 1, 0, 0 }, .pos = map->pos };
    bool has_first = read_link_name(reader, map, "link1_name", "link1Name", &joint.link[0]);
    bool has_second = read_link_name(reader, map, "link2_name", "link2Name", &joint.link[1]);
    if (!read_extra_type(reader, map, &joint.type) || !has_first || !has_second)
        return;
    body_string(reader, map, "name", NULL, &joint.name);
    read_extra_axis(reader, map, &joint);
    read_side(reader, map, 0, &joint.frame[0]);
    read_side(reader, map, 1, &joint.frame[1]);
    if (yaml_get(map, "link1_local_pos") || yaml_get(map, "link2_local_pos"))
        diag_note(reader->diags, map->pos,
                  "Choreonoid reads translation_in_link1/2 or link1LocalPos/link2LocalPos, not the manual's spelling");
    BodyModel *model = reader->model;
    *memory_push(model->extra_joints, model->extra_joint_count, model->extra_joint_capacity) = joint;
}

void body_extra_joints_read(BodyReader *reader, const YamlNode *list)
{
    if (!yaml_is_list(list)) {
        diag_error(reader->diags, list->pos, "extra_joints wants a list");
        return;
    }
    for (int i = 0; i < list->count; i++) {
        if (yaml_is_map(list->items[i]))
            read_extra_joint(reader, list->items[i]);
        else
            diag_error(reader->diags, list->items[i]->pos, "an extra joint wants a map of its keys");
    }
}

// Collision rules

typedef struct RuleList {
    BodyRule *items;
    int count, capacity;
} RuleList;

static void rule_add(RuleList *list, BodyRule rule) { *memory_push(list->items, list->count, list->capacity) = rule; }

// A list of names, or the word "all"; names of links that are not there are told and left out.
static void read_rule_links(BodyReader *reader, const YamlNode *node, BodyRule *rule)
{
    assert_debug(rule->type != BODY_RULE_CHAIN_LEVEL);
    if (yaml_is_scalar(node)) {
        rule->is_all = !strcmp(node->text, "all");
        if (rule->is_all)
            return;
        int link = body_find_link(reader->model, node->text);
        if (link < 0) {
            diag_warning(reader->diags, node->pos, "a collision rule names link '%.60s', which is not there",
                         node->text);
            return;
        }
        rule->links = arena_copy(reader->arena, &link, sizeof link);
        rule->link_count = 1;
        return;
    }
    if (!yaml_is_list(node))
        return;
    rule->links = arena_alloc_array(reader->arena, (size_t)node->count, sizeof *rule->links);
    for (int i = 0; i < node->count; i++) {
        int link = yaml_is_scalar(node->items[i]) ? body_find_link(reader->model, node->items[i]->text) : -1;
        if (link >= 0)
            rule->links[rule->link_count++] = link;
        else
            diag_warning(reader->diags, node->items[i]->pos, "a collision rule names link '%.60s', which is not there",
                         yaml_is_scalar(node->items[i]) ? node->items[i]->text : "?");
    }
}

static const char *const rule_names[] = {
    [BODY_RULE_CHAIN_LEVEL] = "disabled_link_chain_level", [BODY_RULE_DISABLED_GROUP] = "disabled_link_group",
    [BODY_RULE_ENABLED_GROUP] = "enabled_link_group",      [BODY_RULE_DISABLED_LINKS] = "disabled_links",
    [BODY_RULE_ENABLED_LINKS] = "enabled_links",
};

const char *body_rule_name(BodyRuleType type)
{
    assert((int)type >= 0 && (int)type < COUNT_OF(rule_names));
    return rule_names[type];
}

bool body_rule_named(const char *name, size_t length, BodyRuleType *type)
{
    for (int i = 0; i < COUNT_OF(rule_names); i++) {
        if (strlen(rule_names[i]) != length || strncmp(rule_names[i], name, length) != 0)
            continue;
        *type = (BodyRuleType)i;
        return true;
    }
    return false;
}

static void read_rule(BodyReader *reader, const YamlPair *pair, RuleList *list)
{
    BodyRule rule = { .is_all = false };
    if (!body_rule_named(pair->key, strlen(pair->key), &rule.type)) {
        diag_warning(reader->diags, pair->pos, "unknown collision rule '%.60s'; ignored", pair->key);
        const char *closest = text_closest(pair->key, rule_names, COUNT_OF(rule_names));
        if (closest)
            diag_hint(reader->diags, "did you mean '%s'?", closest);
        return;
    }
    if (rule.type != BODY_RULE_CHAIN_LEVEL)
        read_rule_links(reader, pair->value, &rule);
    else if (!yaml_int_prefix(pair->value, &rule.level) || rule.level < 0)
        diag_error(reader->diags, pair->pos, "disabled_link_chain_level wants a number of steps");
    rule_add(list, rule);
}

// The old section: excludeTreeDepth [1], excludeLinks, excludeLinkGroups.
static void read_old_rules(BodyReader *reader, const YamlNode *map, RuleList *list)
{
    static const char *const keys[] = { "excludeTreeDepth",
                                        "excludeLinks",
                                        "excludeLinkGroups",
                                        "excludeSelfCollisionLinks",
                                        "excludeLinksDynamic",
                                        "excludeLinksWireCollision",
                                        NULL };
    body_check_keys(reader, map, "collisionDetection", keys, NULL, NULL);
    BodyRule depth = { .type = BODY_RULE_CHAIN_LEVEL, .level = 1 };
    body_int(reader, map, "excludeTreeDepth", NULL, &depth.level);
    depth.level = int_max(depth.level, 0);
    rule_add(list, depth);
    const YamlNode *links = yaml_get(map, "excludeLinks"), *groups = yaml_get(map, "excludeLinkGroups");
    if (links) {
        BodyRule rule = { .type = BODY_RULE_DISABLED_LINKS };
        read_rule_links(reader, links, &rule);
        rule_add(list, rule);
    }
    for (int i = 0; yaml_is_list(groups) && i < groups->count; i++) {
        const YamlNode *members = yaml_get(groups->items[i], "links");
        BodyRule rule = { .type = BODY_RULE_DISABLED_GROUP };
        if (members)
            read_rule_links(reader, members, &rule);
        rule_add(list, rule);
    }
}

void body_rules_read(BodyReader *reader, const YamlNode *root)
{
    assert_debug(yaml_is_map(root));
    const YamlNode *rules = yaml_get(root, "collision_detection_rules");
    const YamlNode *old = yaml_get(root, "collisionDetection");
    RuleList list = { 0 };
    if (yaml_is_list(rules)) {
        for (int i = 0; i < rules->count; i++)
            for (int k = 0; yaml_is_map(rules->items[i]) && k < rules->items[i]->count; k++)
                read_rule(reader, &rules->items[i]->pairs[k], &list);
    } else if (yaml_is_map(old)) {
        read_old_rules(reader, old, &list);
    } else {
        return;
    }
    BodyModel *model = reader->model;
    model->has_rules = true;
    model->rule_count = list.count;
    model->rules = list.count ? arena_copy(reader->arena, list.items, (size_t)list.count * sizeof *list.items) : NULL;
    free(list.items);
}
