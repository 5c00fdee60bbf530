// body_keys.c - values of keys, with the two tempers of Choreonoid's reader: soft reads ignore what they cannot use,
// hard reads refuse the file. Talus says so in both cases and goes on with the default.
#include "formats/body/body_internal.h"

#include "base/hash.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

const YamlNode *body_key(const YamlNode *map, const char *key, const char *old_key)
{
    const YamlNode *value = key ? yaml_get(map, key) : NULL;
    return value || !old_key ? value : yaml_get(map, old_key);
}

static const char *kind_name(const YamlNode *node)
{
    return node->kind == YAML_SCALAR ? "a word" : node->kind == YAML_LIST ? "a list" : "a map";
}

static void say_unused(BodyReader *reader, const YamlNode *node, const char *key, const char *wanted)
{
    if (node->kind == YAML_SCALAR)
        diag_warning(reader->diags, node->pos, "%s wants %s, found '%.60s'; ignored", key, wanted, node->text);
    else
        diag_warning(reader->diags, node->pos, "%s wants %s, found %s; ignored", key, wanted, kind_name(node));
}

bool body_double(BodyReader *reader, const YamlNode *map, const char *key, const char *old_key, double *value)
{
    const YamlNode *node = body_key(map, key, old_key);
    if (!node)
        return false;
    if (yaml_double(node, value))
        return true;
    say_unused(reader, node, key, "a number");
    return false;
}

bool body_angle(BodyReader *reader, const YamlNode *map, const char *key, const char *old_key, double *value)
{
    if (!body_double(reader, map, key, old_key, value))
        return false;
    *value *= reader->angle;
    return true;
}

bool body_int(BodyReader *reader, const YamlNode *map, const char *key, const char *old_key, int *value)
{
    const YamlNode *node = body_key(map, key, old_key);
    if (!node)
        return false;
    if (yaml_int(node, value))
        return true;
    say_unused(reader, node, key, "a whole number");
    return false;
}

bool body_bool(BodyReader *reader, const YamlNode *map, const char *key, const char *old_key, bool *value)
{
    const YamlNode *node = body_key(map, key, old_key);
    if (!node)
        return false;
    if (yaml_bool(node, value))
        return true;
    say_unused(reader, node, key, "true or false");
    return false;
}

bool body_string(BodyReader *reader, const YamlNode *map, const char *key, const char *old_key, const char **value)
{
    const YamlNode *node = body_key(map, key, old_key);
    if (!node)
        return false;
    if (node->kind == YAML_SCALAR) {
        *value = node->text;
        return true;
    }
    say_unused(reader, node, key, "a word");
    return false;
}

// One number of a list or of a key that Choreonoid reads hard.
static bool hard_number(BodyReader *reader, const YamlNode *node, const char *what, double *value)
{
    double number;
    if (yaml_double(node, &number)) {
        *value = number;
        return true;
    }
    if (yaml_double_prefix(node, &number)) {
        diag_warning(reader->diags, node->pos, "%s: '%.60s' is read as %g", what, node->text, number);
        *value = number;
        return true;
    }
    if (node->kind == YAML_SCALAR)
        diag_error(reader->diags, node->pos, "%s wants a number, found '%.60s'", what, node->text);
    else
        diag_error(reader->diags, node->pos, "%s wants a number, found %s", what, kind_name(node));
    return false;
}

bool body_hard_double(BodyReader *reader, const YamlNode *map, const char *key, const char *old_key, double *value)
{
    const YamlNode *node = body_key(map, key, old_key);
    return node && hard_number(reader, node, key, value);
}

bool body_hard_int(BodyReader *reader, const YamlNode *map, const char *key, const char *old_key, int *value)
{
    assert_debug(key && value);
    const YamlNode *node = body_key(map, key, old_key);
    if (!node)
        return false;
    if (yaml_int(node, value))
        return true;
    if (yaml_int_prefix(node, value)) {
        diag_warning(reader->diags, node->pos, "%s: '%.60s' is read as %d", key, node->text, *value);
        return true;
    }
    diag_error(reader->diags, node->pos, "%s wants a whole number, found %s", key,
               node->kind == YAML_SCALAR ? node->text : kind_name(node));
    return false;
}

bool body_list_doubles(BodyReader *reader, const YamlNode *list, const char *what, int count, double *values)
{
    if (!yaml_is_list(list)) {
        diag_warning(reader->diags, list->pos, "%s wants a list of %d numbers; ignored", what, count);
        return false;
    }
    if (list->count != count) {
        diag_error(reader->diags, list->pos, "%s wants %d numbers, found %d", what, count, list->count);
        return false;
    }
    double numbers[16];
    assert(count <= COUNT_OF(numbers));
    for (int i = 0; i < count; i++)
        if (!hard_number(reader, list->items[i], what, &numbers[i]))
            return false;
    memcpy(values, numbers, (size_t)count * sizeof *values);
    return true;
}

bool body_vec3(BodyReader *reader, const YamlNode *map, const char *key, const char *old_key, Vec3 *value)
{
    const YamlNode *node = body_key(map, key, old_key);
    double numbers[3];
    if (!node || !body_list_doubles(reader, node, key, 3, numbers))
        return false;
    *value = vec3(numbers[0], numbers[1], numbers[2]);
    return true;
}

bool body_vec2(BodyReader *reader, const YamlNode *map, const char *key, const char *old_key, Vec2 *value)
{
    const YamlNode *node = body_key(map, key, old_key);
    double numbers[2];
    if (!node || !body_list_doubles(reader, node, key, 2, numbers))
        return false;
    *value = (Vec2){ numbers[0], numbers[1] };
    return true;
}

// A list may also be written as a list of lists, one per group of numbers.
static int flat_count(const YamlNode *list)
{
    int64_t count = 0;
    for (int i = 0; i < list->count; i++)
        count += list->items[i]->kind == YAML_LIST ? list->items[i]->count : 1;
    return count > INT32_MAX ? INT32_MAX : (int)count;
}

bool body_numbers(BodyReader *reader, const YamlNode *map, const char *key, const char *old_key, int group,
                  BodyNumbers *value)
{
    assert_debug(group > 0);
    const YamlNode *list = body_key(map, key, old_key);
    if (!list)
        return false;
    if (list->kind != YAML_LIST) {
        say_unused(reader, list, key, "a list of numbers");
        return false;
    }
    int count = flat_count(list), filled = 0;
    double *items = arena_alloc_array(reader->arena, (size_t)count, sizeof *items);
    for (int i = 0; i < list->count; i++) {
        const YamlNode *item = list->items[i];
        int inner = item->kind == YAML_LIST ? item->count : 1;
        for (int k = 0; k < inner; k++)
            if (!hard_number(reader, item->kind == YAML_LIST ? item->items[k] : item, key, &items[filled++]))
                return false;
    }
    if (count % group != 0) {
        diag_warning(reader->diags, list->pos, "%s wants groups of %d numbers, found %d numbers; the rest is ignored",
                     key, group, count);
        count -= count % group;
    }
    *value = (BodyNumbers){ items, count };
    return true;
}

bool body_indices(BodyReader *reader, const YamlNode *map, const char *key, const char *old_key, BodyIndices *value)
{
    assert_debug(key);
    const YamlNode *list = body_key(map, key, old_key);
    if (!list)
        return false;
    if (list->kind != YAML_LIST) {
        say_unused(reader, list, key, "a list of whole numbers");
        return false;
    }
    int32_t *items = arena_alloc_array(reader->arena, (size_t)list->count, sizeof *items);
    for (int i = 0; i < list->count; i++) {
        int index;
        if (!yaml_int_prefix(list->items[i], &index)) {
            diag_error(reader->diags, list->items[i]->pos, "%s wants whole numbers", key);
            return false;
        }
        items[i] = index;
    }
    *value = (BodyIndices){ items, list->count };
    return true;
}

// Poses

Mat3 body_axis_angle(Vec3 a, double angle)
{
    double c = cos(angle), s = sin(angle), k = 1.0 - c;
    return (Mat3){ { a.x * a.x * k + c, a.x * a.y * k - a.z * s, a.x * a.z * k + a.y * s, a.x * a.y * k + a.z * s,
                     a.y * a.y * k + c, a.y * a.z * k - a.x * s, a.x * a.z * k - a.y * s, a.y * a.z * k + a.x * s,
                     a.z * a.z * k + c } };
}

BodyFrame body_frame_mul(BodyFrame a, BodyFrame b)
{
    return (BodyFrame){ mat3_mul(a.m, b.m), body_frame_apply(a, b.t) };
}

bool body_translation(BodyReader *reader, const YamlNode *map, const char *key, Vec3 *value)
{
    const YamlNode *node = yaml_get(map, key);
    if (!node)
        return false;
    double numbers[3];
    if (!yaml_is_list(node) || node->count == 0 || node->items[0]->kind != YAML_LIST) {
        if (!body_list_doubles(reader, node, key, 3, numbers))
            return false;
        *value = vec3(numbers[0], numbers[1], numbers[2]);
        return true;
    }
    Vec3 sum = VEC3_ZERO;
    for (int i = 0; i < node->count; i++) {
        if (!body_list_doubles(reader, node->items[i], key, 3, numbers))
            return false;
        sum = vec3_add(sum, vec3(numbers[0], numbers[1], numbers[2]));
    }
    *value = sum;
    return true;
}

static bool read_rotation(BodyReader *reader, const YamlNode *node, const char *key, Mat3 *value)
{
    double n[4];
    if (!body_list_doubles(reader, node, key, 4, n))
        return false;
    Vec3 axis = vec3(n[0], n[1], n[2]);
    double length = vec3_length(axis);
    if (!(length >= 1e-6) || !isfinite(length)) {
        diag_error(reader->diags, node->pos, "%s has no axis: %g %g %g", key, n[0], n[1], n[2]);
        return false;
    }
    *value = body_axis_angle(vec3_scale(axis, 1.0 / length), n[3] * reader->angle);
    return true;
}

bool body_rotation(BodyReader *reader, const YamlNode *map, const char *key, Mat3 *value)
{
    const YamlNode *node = yaml_get(map, key);
    if (!node)
        return false;
    if (!yaml_is_list(node) || node->count == 0 || node->items[0]->kind != YAML_LIST)
        return read_rotation(reader, node, key, value);
    Mat3 product = MAT3_IDENTITY;
    for (int i = 0; i < node->count; i++) {
        Mat3 factor;
        if (!read_rotation(reader, node->items[i], key, &factor))
            return false;
        product = mat3_mul(product, factor);
    }
    *value = product;
    return true;
}

BodyFrame body_transform(BodyReader *reader, const YamlNode *map)
{
    assert_debug(yaml_is_map(map));
    BodyFrame frame = BODY_FRAME_IDENTITY;
    body_translation(reader, map, "translation", &frame.t);
    body_rotation(reader, map, "rotation", &frame.m);
    const YamlNode *node = yaml_get(map, "scale");
    double s[3];
    if (yaml_is_scalar(node)) {
        if (!yaml_double(node, &s[0]))
            return frame;
        s[1] = s[2] = s[0];
    } else if (!node || !body_list_doubles(reader, node, "scale", 3, s)) {
        return frame;
    }
    if (s[0] == 0.0 || s[1] == 0.0 || s[2] == 0.0) {
        diag_error(reader->diags, node->pos, "scale %g %g %g has a zero; ignored", s[0], s[1], s[2]);
        return frame;
    }
    for (int i = 0; i < 9; i++)
        frame.m.m[i] *= s[i % 3];
    return frame;
}

bool body_mass_matrix(BodyReader *reader, const YamlNode *map, Mat3 *inertia)
{
    const YamlNode *list = yaml_get(map, "inertia");
    if (!list)
        return false;
    if (!yaml_is_list(list) || (list->count != 9 && list->count != 6)) {
        diag_error(reader->diags, list->pos,
                   "inertia wants 9 numbers (row by row) or 6 (xx, xy, xz, yy, yz, zz), found %d",
                   yaml_is_list(list) ? list->count : 1);
        return false;
    }
    double n[9];
    if (!body_list_doubles(reader, list, "inertia", list->count, n))
        return false;
    if (list->count == 9)
        memcpy(inertia->m, n, sizeof n);
    else
        *inertia = (Mat3){ { n[0], n[1], n[2], n[1], n[3], n[4], n[2], n[4], n[5] } };
    return true;
}

// Unknown keys

const char *const body_transform_keys[] = { "type",     "name",        "translation", "rotation", "scale",
                                            "elements", "is_optional", "isOptional",  NULL };

bool body_key_is(const char *key, const char *const *list)
{
    for (; list && *list; list++)
        if (!strcmp(*list, key))
            return true;
    return false;
}

BodyInfo **body_info_add(BodyReader *reader, BodyInfo **tail, const YamlPair *pair)
{
    BodyInfo *added = arena_alloc(reader->arena, sizeof *added);
    *added = (BodyInfo){ .key = pair->key, .value = pair->value };
    *tail = added;
    return &added->next;
}

// Whether this is the first time that the key is met in this context; remembers it.
static bool is_news(BodyReader *reader, const char *context, const char *key)
{
    assert_debug(reader->said_count % 2 == 0);
    for (int i = 0; i < reader->said_count; i += 2)
        if (!strcmp(reader->said[i], context) && !strcmp(reader->said[i + 1], key))
            return false;
    if (reader->said_count >= 1000)
        return false;
    memory_grow(&reader->said, &reader->said_capacity, reader->said_count + 2, sizeof *reader->said);
    reader->said[reader->said_count++] = context;
    reader->said[reader->said_count++] = key;
    return true;
}

// Keys of plug-ins and of older tools that real files carry; they are no slips of the pen.
static const char *const foreign_keys[] = { "jointLockForceRange",
                                            "jointMotorForceRange",
                                            "jointLockCompliance",
                                            "jointLock",
                                            "jointMotor",
                                            "jointMotorCompliance",
                                            "jointMotorSpookDamping",
                                            "jointLockSpookDamping",
                                            "jointCompliance",
                                            "jointSpookDamping",
                                            "convexDecomposition",
                                            "density",
                                            "massType",
                                            "autoSleep",
                                            "AMOR",
                                            "childLinks",
                                            "forceRange",
                                            "force_range",
                                            "rotorResistor",
                                            "drive_stiffness",
                                            "drive_damping",
                                            "gui_handle_size",
                                            "import",
                                            NULL };

// Slips of the pen are warned of, keys of other programs are noted: both would be lost silently otherwise.
void body_check_keys(BodyReader *reader, const YamlNode *map, const char *context, const char *const *known,
                     const char *const *more, BodyInfo **info)
{
    assert_debug(yaml_is_map(map) && known);
    while (info && *info)
        info = &(*info)->next;
    for (int i = 0; i < map->count; i++) {
        const YamlPair *pair = &map->pairs[i];
        if (body_key_is(pair->key, known) || body_key_is(pair->key, more))
            continue;
        if (info)
            info = body_info_add(reader, info, pair);
        if (!is_news(reader, context, pair->key))
            continue;
        const char *names[128];
        int count = 0;
        for (const char *const *name = known; name && *name && count < COUNT_OF(names); name++)
            names[count++] = *name;
        for (const char *const *name = more; name && *name && count < COUNT_OF(names); name++)
            names[count++] = *name;
        const char *closest = body_key_is(pair->key, foreign_keys) ? NULL : text_closest(pair->key, names, count);
        if (closest) {
            diag_warning(reader->diags, pair->pos, "unknown key '%.60s' of %s has no effect", pair->key, context);
            diag_hint(reader->diags, "did you mean '%s'?", closest);
        } else {
            diag_note(reader->diags, pair->pos, "key '%.60s' of %s is not of the format%s", pair->key, context,
                      info ? "; kept" : "; it has no effect");
        }
    }
}

// Cache

const void *body_cache_get(const BodyCache *cache, const YamlNode *key)
{
    if (cache->capacity == 0)
        return NULL;
    uint64_t address = (uint64_t)(uintptr_t)key;
    int slot = (int)(hash_bytes(&address, sizeof address, 0) & (uint64_t)(cache->capacity - 1));
    for (; cache->keys[slot]; slot = (slot + 1) & (cache->capacity - 1))
        if (cache->keys[slot] == key)
            return cache->values[slot];
    return NULL;
}

static void cache_insert(BodyCache *cache, const YamlNode *key, const void *value)
{
    assert_debug(cache->capacity > 0 && (cache->capacity & (cache->capacity - 1)) == 0 && key);
    uint64_t address = (uint64_t)(uintptr_t)key;
    int slot = (int)(hash_bytes(&address, sizeof address, 0) & (uint64_t)(cache->capacity - 1));
    while (cache->keys[slot])
        slot = (slot + 1) & (cache->capacity - 1);
    cache->keys[slot] = key;
    cache->values[slot] = value;
}

void body_cache_put(BodyCache *cache, const YamlNode *key, const void *value)
{
    assert_debug(key && value);
    if (2 * (cache->count + 1) > cache->capacity) {
        BodyCache larger = { .capacity = cache->capacity ? 2 * cache->capacity : 64, .count = cache->count };
        larger.keys = memory_alloc_array((size_t)larger.capacity, sizeof *larger.keys);
        larger.values = memory_alloc_array((size_t)larger.capacity, sizeof *larger.values);
        for (int i = 0; i < cache->capacity; i++)
            if (cache->keys[i])
                cache_insert(&larger, cache->keys[i], cache->values[i]);
        body_cache_free(cache);
        *cache = larger;
    }
    cache_insert(cache, key, value);
    cache->count++;
}

void body_cache_free(BodyCache *cache)
{
    free(cache->keys);
    free(cache->values);
    *cache = (BodyCache){ 0 };
}
