// body_materials.c - what two links are to one another when they touch.
#include "formats/body/body.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

typedef struct Material {
    char *name;
    double roughness, viscosity;
} Material;
typedef struct Pair {
    char *names[2];
    BodyContact contact;
} Pair;

// Where things stand by their hash: index + 1, 0 for a free slot. At most half of the slots are taken.
enum { ITEMS_MAX = 4096, SLOTS = 2 * ITEMS_MAX };

struct BodyMaterials {
    Material *materials;
    int material_count, material_capacity;
    uint16_t material_slots[SLOTS];
    Pair *pairs;
    int pair_count, pair_capacity;
    uint16_t pair_slots[SLOTS];
    bool is_full;  // and it was said
};
static_assert(ITEMS_MAX <= UINT16_MAX, "an index fits a slot");

static const char *plain_name(const char *name) { return !*name || !strcmp(name, "default") ? "Default" : name; }

static int material_slot(const BodyMaterials *table, const char *name)
{
    for (uint64_t i = hash_string(name);; i++) {
        int item = table->material_slots[i % SLOTS];
        if (item == 0 || !strcmp(table->materials[item - 1].name, name))
            return (int)(i % SLOTS);
    }
}

static bool is_pair_of(const Pair *pair, const char *a, const char *b)
{
    return (!strcmp(pair->names[0], a) && !strcmp(pair->names[1], b))
           || (!strcmp(pair->names[0], b) && !strcmp(pair->names[1], a));
}

static int pair_slot(const BodyMaterials *table, const char *a, const char *b)
{
    for (uint64_t i = hash_string(a) + hash_string(b);; i++) {  // the same in both orders
        int item = table->pair_slots[i % SLOTS];
        if (item == 0 || is_pair_of(&table->pairs[item - 1], a, b))
            return (int)(i % SLOTS);
    }
}

static const Material *find_material(const BodyMaterials *table, const char *name)
{
    int item = table->material_slots[material_slot(table, name)];
    return item ? &table->materials[item - 1] : NULL;
}

static const Pair *find_pair(const BodyMaterials *table, const char *a, const char *b)
{
    int item = table->pair_slots[pair_slot(table, a, b)];
    return item ? &table->pairs[item - 1] : NULL;
}

static bool set_material(BodyMaterials *table, const char *name, double roughness, double viscosity)
{
    assert(name);
    name = plain_name(name);
    uint16_t *slot = &table->material_slots[material_slot(table, name)];
    if (!*slot) {
        if (table->material_count >= ITEMS_MAX)
            return false;
        memory_grow(&table->materials, &table->material_capacity, table->material_count + 1, sizeof *table->materials);
        table->materials[table->material_count++] = (Material){ .name = memory_string(name) };
        *slot = (uint16_t)table->material_count;
    }
    Material *material = &table->materials[*slot - 1];
    material->roughness = roughness;
    material->viscosity = viscosity;
    return true;
}

static bool set_pair(BodyMaterials *table, const char *a, const char *b, BodyContact contact)
{
    assert_debug(a && b);
    a = plain_name(a);
    b = plain_name(b);
    uint16_t *slot = &table->pair_slots[pair_slot(table, a, b)];
    if (!*slot) {
        if (table->pair_count >= ITEMS_MAX)
            return false;
        memory_grow(&table->pairs, &table->pair_capacity, table->pair_count + 1, sizeof *table->pairs);
        table->pairs[table->pair_count++] = (Pair){ .names = { memory_string(a), memory_string(b) } };
        *slot = (uint16_t)table->pair_count;
    }
    contact.is_given = true;
    table->pairs[*slot - 1].contact = contact;
    return true;
}

// The table that Choreonoid ships; what files say is added to it and wins.
static const struct {
    const char *name;
    double roughness, viscosity;
} usual_materials[] = {
    { "Default", 1.0, 1.0 },
    { "Ground", 1.0, 1.0 },
    { "Ball", 0.5, 0.36 },
    { "Slider", 0.0, 1.0 },
    { "Tire", 1.0, 1.0 },
    { "Tracks", 0.5, 1.0 },
    { "OilWetGround", 0.1, 1.0 },
    { "Sole", 1.0, 1.0 },
    { "Hand", 1.0, 1.0 },
    { "TankTracks", 1.0, 1.0 },
    { "TankWheel", 1.0, 1.0 },
    { "AizuSpiderTracks", 1.0, 1.0 },
    { "AizuSpiderWheel", 1.0, 1.0 },
    { "DoubleArmV7ATracks", 1.0, 1.0 },
    { "DoubleArmV7AWheel", 1.0, 1.0 },
    { "Wire", 0.5, 1.0 },
    { "Steel", 1.0, 1.0 },
};
static const struct {
    const char *a, *b;
    double friction, restitution;
} usual_pairs[] = {
    { "Default", "Default", 0.5, 0.0 },
    { "Ground", "Ball", 0.5, 0.8 },
    { "Ground", "Default", 0.5, 0.0 },
    { "Default", "Slider", 0.0, 0.0 },
    { "Ground", "Slider", 0.0, 0.0 },
    { "Ground", "Sole", 1.0, 0.0 },
    { "Ground", "Tire", 3.0, 0.0 },
    { "Default", "Hand", 1.0, 0.0 },
    { "Ground", "TankTracks", 1.0, 0.0 },
    { "TankWheel", "TankTracks", 1.0, 0.0 },
    { "Ground", "AizuSpiderTracks", 1.0, 0.0 },
    { "AizuSpiderWheel", "AizuSpiderTracks", 1.0, 0.0 },
    { "Ground", "DoubleArmV7ATracks", 1.0, 0.0 },
    { "DoubleArmV7AWheel", "DoubleArmV7ATracks", 1.0, 0.0 },
    { "Wire", "Default", 0.5, 0.0 },
    { "Wire", "Ground", 0.5, 0.0 },
    { "Steel", "Steel", 0.5, 0.0 },
    { "Steel", "Hand", 1.0, 0.0 },
};

BodyMaterials *body_materials_create(void)
{
    BodyMaterials *table = memory_alloc(sizeof *table);
    for (int i = 0; i < COUNT_OF(usual_materials); i++)
        set_material(table, usual_materials[i].name, usual_materials[i].roughness, usual_materials[i].viscosity);
    for (int i = 0; i < COUNT_OF(usual_pairs); i++) {
        double friction = usual_pairs[i].friction;
        set_pair(table, usual_pairs[i].a, usual_pairs[i].b,
                 (BodyContact){ friction, friction, usual_pairs[i].restitution, true });
    }
    return table;
}

void body_materials_destroy(BodyMaterials *table)
{
    if (!table)
        return;
    for (int i = 0; i < table->material_count; i++)
        free(table->materials[i].name);
    for (int i = 0; i < table->pair_count; i++) {
        free(table->pairs[i].names[0]);
        free(table->pairs[i].names[1]);
    }
    free(table->materials);
    free(table->pairs);
    free(table);
}

static double read_number(const YamlNode *map, const char *key, const char *old_key, double preset, double high,
                          DiagSink *diags)
{
    const YamlNode *node = yaml_get(map, key);
    node = node || !old_key ? node : yaml_get(map, old_key);
    double value = preset;
    if (!node)
        return preset;
    if (!yaml_double_prefix(node, &value) || value < 0.0) {
        diag_error(diags, node->pos, "%s wants a number from 0 on; using %g", key, preset);
        return preset;
    }
    if (value > high) {
        diag_warning(diags, node->pos, "%s %g is above %g; using that", key, value, high);
        value = high;
    }
    return value;
}

static void say_full(BodyMaterials *table, SourcePos pos, DiagSink *diags)
{
    if (!table->is_full)
        diag_warning(diags, pos, "more than %d materials or pairs of them; what comes new from here on is left out",
                     ITEMS_MAX);
    table->is_full = true;
}

static void read_pair(BodyMaterials *table, const YamlNode *map, DiagSink *diags)
{
    assert_debug(table);
    const YamlNode *names = yaml_get(map, "materials");
    if (!yaml_is_list(names) || names->count < 2 || names->count > 64) {
        diag_error(diags, map->pos, "a contact material needs 'materials', a list of two or more names");
        return;
    }
    double both = read_number(map, "friction", NULL, 0.5, 100.0, diags);
    BodyContact contact = {
        .static_friction = read_number(map, "static_friction", "staticFriction", both, 100.0, diags),
        .dynamic_friction = read_number(map, "dynamic_friction", "dynamicFriction", both, 100.0, diags),
        .restitution = read_number(map, "restitution", NULL, 0.0, 1.0, diags)
    };
    for (int i = 0; i < names->count; i++)
        for (int k = i + 1; k < names->count; k++)
            if (yaml_is_scalar(names->items[i]) && yaml_is_scalar(names->items[k])
                && !set_pair(table, names->items[i]->text, names->items[k]->text, contact))
                say_full(table, map->pos, diags);
}

// A later table adds to those before and replaces pairs of the same names, as a project may name several.
bool body_materials_load(BodyMaterials *table, const char *path, const Limits *limits, DiagSink *diags)
{
    assert_debug(table && path);
    FileData file;
    if (!file_read(path, (size_t)limits_or_default(limits)->file_bytes, &file, diags, (SourcePos){ 0 }))
        return false;
    YamlOptions options = { .limits = limits };
    YamlDocument *document = yaml_parse(path, file.data, file.size, &options, diags);
    file_release(&file);
    if (!document)
        return false;
    const YamlNode *root = yaml_root(document), *materials = yaml_get(root, "materials");
    const YamlNode *pairs = yaml_get(root, "contact_materials");
    pairs = pairs ? pairs : yaml_get(root, "contactMaterials");
    for (int i = 0; yaml_is_list(materials) && i < materials->count; i++) {
        const YamlNode *map = materials->items[i], *name = yaml_get(map, "name");
        if (!yaml_is_scalar(name))
            diag_error(diags, map->pos, "a material needs 'name'");
        else if (!set_material(table, name->text, read_number(map, "roughness", NULL, 0.5, 1e4, diags),
                               read_number(map, "viscosity", NULL, 1.0, 1.0, diags)))
            say_full(table, map->pos, diags);
    }
    for (int i = 0; yaml_is_list(pairs) && i < pairs->count; i++)
        read_pair(table, pairs->items[i], diags);
    bool is_table = yaml_is_list(materials) || yaml_is_list(pairs);
    if (!is_table)
        diag_error(diags, root->pos, "not a material table: neither 'materials' nor 'contact_materials'");
    yaml_destroy(document);
    return is_table;
}

BodyContact body_materials_pair(const BodyMaterials *table, const char *a, const char *b)
{
    assert_debug(table && a && b);
    a = plain_name(a);
    b = plain_name(b);
    const Pair *pair = find_pair(table, a, b);
    if (pair)
        return pair->contact;
    static const Material unknown = { NULL, 0.5, 1.0 };
    const Material *first = find_material(table, a), *second = find_material(table, b);
    first = first ? first : &unknown;
    second = second ? second : &unknown;
    double friction = sqrt(first->roughness * second->roughness);
    double restitution = sqrt(fmax(0.0, 1.0 - first->viscosity) * fmax(0.0, 1.0 - second->viscosity));
    return (BodyContact){ friction, friction, restitution, false };
}
