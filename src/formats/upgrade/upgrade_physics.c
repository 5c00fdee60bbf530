// Webots 5 and 6: what Physics and boundingObject meant then.
//
// The centre of mass was the origin of the Solid unless given; since V7 it is that of the bounding object, so the old
// default is written out. In V5 a Transform as boundingObject placed the centre of mass and turned the inertia matrix,
// and a face set of one quad was an infinite plane. The inertia matrix had 9 values until V6.2.
//
// bounce, bounceVelocity, coulombFriction and forceDependentSlip were fields of Physics, and a contact took the values
// of both solids together. Now pairs of materials have ContactProperties. A Solid with values of its own gets a
// material named after them ("old contact 0.5 0.01 1 0"), and for each pair of such materials in the world a
// ContactProperties node is added: the mean of both, friction infinite when both are and otherwise the finite one.
// A Solid without Physics (a floor, a wall) had no values, so the other's counted alone; that is the pair with
// "default". Where any Solid has values of its own, those with a Physics of default values get a material too, to be
// told apart.
#include "formats/upgrade/upgrade_internal.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MATERIAL_PREFIX "old contact "

typedef struct OldContact {
    double bounce, bounce_velocity, friction, slip;
} OldContact;

static const OldContact old_default = { 0.5, 0.01, 1.0, 0.0 };

// ---- contact fields ----

static const char *const contact_fields[] = { "bounce", "bounceVelocity", "coulombFriction", "forceDependentSlip" };

static double number_of(const SceneNode *node, const char *name, double otherwise)
{
    const SceneField *field = upgrade_own(node, name);
    return field ? field->value.f : otherwise;
}

static bool has_contact_fields(const SceneNode *physics)
{
    for (int i = 0; i < COUNT_OF(contact_fields); i++)
        if (upgrade_own(physics, contact_fields[i]))
            return true;
    return false;
}

static void name_material(const OldContact *contact, Text *name)
{
    text_clear(name);
    text_add_string(name, MATERIAL_PREFIX);
    text_add_double(name, contact->bounce);
    text_add_char(name, ' ');
    text_add_double(name, contact->bounce_velocity);
    text_add_char(name, ' ');
    text_add_double(name, contact->friction);
    text_add_char(name, ' ');
    text_add_double(name, contact->slip);
}

static bool parse_material(const char *name, OldContact *contact)
{
    if (!text_starts_with(name, MATERIAL_PREFIX))
        return false;
    const char *at = name + strlen(MATERIAL_PREFIX), *end = name + strlen(name);
    double *values[] = { &contact->bounce, &contact->bounce_velocity, &contact->friction, &contact->slip };
    for (int i = 0; i < COUNT_OF(values); i++) {
        at = text_scan_double(at + strspn(at, " "), end, values[i]);
        if (!at)
            return false;
    }
    return at == end;
}

static OldContact contact_of(const SceneNode *physics)
{
    assert_debug(schema_type_is(physics->type, "Physics"));
    OldContact contact = {
        double_clamp(number_of(physics, "bounce", old_default.bounce), 0.0, 1.0),
        fmax(number_of(physics, "bounceVelocity", old_default.bounce_velocity), 0.0),
        number_of(physics, "coulombFriction", old_default.friction),
        fmax(number_of(physics, "forceDependentSlip", old_default.slip), 0.0),
    };
    if (contact.friction < 0.0)
        contact.friction = -1.0;
    return contact;
}

static bool is_default_contact(const OldContact *contact) { return !memcmp(contact, &old_default, sizeof *contact); }

static void set_material(Upgrade *upgrade, SceneNode *solid, const OldContact *contact)
{
    Text name = { 0 };
    name_material(contact, &name);
    scene_set_string(upgrade->scene, solid, "contactMaterial", name.data);
    text_free(&name);
}

static void give_material(Upgrade *upgrade, SceneNode *solid, const SceneNode *physics)
{
    OldContact contact = contact_of(physics);
    if (is_default_contact(&contact) || strcmp(scene_string(solid, "contactMaterial"), "default"))
        return;
    set_material(upgrade, solid, &contact);
    upgrade_warning(upgrade, physics, physics->pos,
                    "friction and bounce are no longer fields of Physics; ContactProperties are made from them");
}

typedef struct Materials {
    Upgrade *upgrade;
    const char **names;
    OldContact *contacts;
    int count, name_capacity, contact_capacity;
} Materials;

static bool find_material(SceneNode *node, void *context)
{
    enum { MATERIALS_MAX = 48 };
    Materials *materials = context;
    if (!schema_type_is(node->type, "Solid"))
        return true;
    const SceneNode *physics = scene_child(node, "physics");
    if (physics && upgrade_is_plain(physics, "Physics") && has_contact_fields(physics))
        give_material(materials->upgrade, node, physics);
    const char *name = scene_string(node, "contactMaterial");
    OldContact contact;
    if (!parse_material(name, &contact) || materials->count == MATERIALS_MAX)
        return true;
    for (int i = 0; i < materials->count; i++)
        if (!strcmp(materials->names[i], name))
            return true;
    memory_grow(&materials->names, &materials->name_capacity, materials->count + 1, sizeof *materials->names);
    memory_grow(&materials->contacts, &materials->contact_capacity, materials->count + 1, sizeof *materials->contacts);
    materials->names[materials->count] = name;
    materials->contacts[materials->count++] = contact;
    return true;
}

// Bodies of default values, once others have values of their own. What a PROTO of the library makes is not of that
// time.
static bool name_default(SceneNode *node, void *context)
{
    Materials *materials = context;
    if (!schema_type_is(node->type, "Solid") || node->in_proto)
        return true;
    const SceneNode *physics = scene_child(node, "physics");
    if (physics && upgrade_is_plain(physics, "Physics") && !strcmp(scene_string(node, "contactMaterial"), "default"))
        set_material(materials->upgrade, node, &old_default);
    return true;
}

static double mean_friction(double a, double b)
{
    if (a < 0.0 || b < 0.0)
        return a < 0.0 ? b : a;
    return 0.5 * (a + b);
}

static void set_single(Upgrade *upgrade, SceneNode *node, const char *name, double value)
{
    FieldList *list = scene_list_edit(upgrade->scene, node, name);
    scene_list_reserve(upgrade->scene, list, FIELD_SF_FLOAT, 1);
    list->count = 1;
    list->numbers[0] = value;
}

static SceneNode *make_pair(Upgrade *upgrade, const char *first, const OldContact *a, const char *second,
                            const OldContact *b)
{
    assert_debug(first && second);
    SceneNode *node = upgrade_make(upgrade, "ContactProperties", (SourcePos){ 0 });
    if (strcmp(first, "default"))
        scene_set_string(upgrade->scene, node, "material1", first);
    scene_set_string(upgrade->scene, node, "material2", second);
    set_single(upgrade, node, "coulombFriction", mean_friction(a->friction, b->friction));
    scene_set_float(upgrade->scene, node, "bounce", 0.5 * (a->bounce + b->bounce));
    scene_set_float(upgrade->scene, node, "bounceVelocity", 0.5 * (a->bounce_velocity + b->bounce_velocity));
    set_single(upgrade, node, "forceDependentSlip", 0.5 * (a->slip + b->slip));
    node->is_upgraded = true;
    return node;
}

// A saved world has the pairs already.
static void add_pair(Upgrade *upgrade, SceneNode *info, const char *first, const OldContact *a, const char *second,
                     const OldContact *b)
{
    assert_debug(schema_type_is(info->type, "WorldInfo"));
    const FieldList *pairs = scene_list(info, "contactProperties");
    for (int i = 0; i < pairs->count; i++) {
        const SceneNode *pair = scene_list_node(pairs, i);
        if (pair && scene_node_is(pair, "ContactProperties") && !strcmp(scene_string(pair, "material1"), first)
            && !strcmp(scene_string(pair, "material2"), second))
            return;
    }
    upgrade_add_child(upgrade, info, "contactProperties", make_pair(upgrade, first, a, second, b));
}

void upgrade_contacts(Upgrade *upgrade)
{
    Materials materials = { .upgrade = upgrade };
    scene_walk(upgrade->top, false, find_material, &materials);
    if (materials.count > 0) {
        scene_walk(upgrade->top, false, name_default, &materials);
        scene_walk(upgrade->top, false, find_material, &materials);
    }
    SceneNode *info = NULL;
    const FieldList *children = scene_list(upgrade->top, "children");
    for (int i = 0; i < children->count && !info; i++)
        if (upgrade_is_plain(children->nodes[i], "WorldInfo"))
            info = children->nodes[i];
    for (int i = 0; info && i < materials.count; i++) {
        add_pair(upgrade, info, "default", &materials.contacts[i], materials.names[i], &materials.contacts[i]);
        for (int k = 0; k <= i; k++)
            add_pair(upgrade, info, materials.names[k], &materials.contacts[k], materials.names[i],
                     &materials.contacts[i]);
    }
    free(materials.names);
    free(materials.contacts);
}

// ---- inertia ----

static Mat3 read_inertia(const FieldList *rows)
{
    const double *v = rows->numbers;
    if (rows->count >= 3)
        return (Mat3){ { v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8] } };
    return (Mat3){ { v[0], v[3], v[4], v[3], v[1], v[5], v[4], v[5], v[2] } };
}

static void write_inertia(Upgrade *upgrade, SceneNode *physics, Mat3 inertia)
{
    FieldList *rows = scene_list_edit(upgrade->scene, physics, "inertiaMatrix");
    scene_list_reserve(upgrade->scene, rows, FIELD_SF_VEC3F, 2);
    const double *m = inertia.m;
    const double values[] = { m[0], m[4], m[8], m[1], m[2], m[5] };
    memcpy(rows->numbers, values, sizeof values);
    rows->count = 2;
}

static void upgrade_inertia(Upgrade *upgrade, SceneNode *physics, Quat turn)
{
    const SceneField *field = upgrade_own(physics, "inertiaMatrix");
    bool is_turned = turn.w != 1.0;
    if (!field || field->parameter_index >= 0 || field->value.list->count < 2
        || (field->value.list->count == 2 && !is_turned))
        return;
    Mat3 inertia = read_inertia(field->value.list);
    write_inertia(upgrade, physics, is_turned ? mat3_rotated(inertia, turn) : inertia);
}

static void set_center_of_mass(Upgrade *upgrade, SceneNode *physics, Vec3 center)
{
    assert_debug(schema_type_is(physics->type, "Physics"));
    if (upgrade_own(physics, "centerOfMass"))
        return;
    FieldList *list = scene_list_edit(upgrade->scene, physics, "centerOfMass");
    scene_list_reserve(upgrade->scene, list, FIELD_SF_VEC3F, 1);
    list->count = 1;
    list->numbers[0] = center.x;
    list->numbers[1] = center.y;
    list->numbers[2] = center.z;
}

static void upgrade_mass(Upgrade *upgrade, SceneNode *solid)
{
    assert_debug(schema_type_is(solid->type, "Solid"));
    SceneNode *bounding = upgrade->release < RELEASE_V6 ? upgrade_child(solid, "boundingObject", "Transform") : NULL;
    bool is_placed = bounding != NULL;
    SceneNode *physics = is_placed ? upgrade_own_child(upgrade, solid, "physics", "Physics")
                                   : upgrade_child(solid, "physics", "Physics");
    if (!physics || physics->is_upgraded)
        return;
    const SceneField *orientation = upgrade_own(physics, "orientation");
    Quat turn = QUAT_IDENTITY;
    if (orientation && orientation->parameter_index < 0)
        turn = quat_from_rotation((Rotation){ orientation->value.v[0], orientation->value.v[1], orientation->value.v[2],
                                              orientation->value.v[3] });
    Pose place = is_placed ? scene_pose(bounding) : POSE_IDENTITY;
    upgrade_inertia(upgrade, physics, is_placed && !orientation ? place.q : turn);
    set_center_of_mass(upgrade, physics, place.t);
    upgrade_drop_named(physics, "orientation");
    physics->is_upgraded = true;
}

// ---- a quad that is a ----
// plane

static bool is_single_quad(const SceneNode *faces)
{
    assert_debug(schema_type_is(faces->type, "IndexedFaceSet"));
    const FieldList *index = scene_list(faces, "coordIndex");
    if (index->count != 4 && !(index->count == 5 && index->ints[4] == -1))
        return false;
    const SceneNode *coord = upgrade_child(faces, "coord", "Coordinate");
    if (!coord)
        return false;
    int points = scene_list(coord, "point")->count;
    for (int i = 0; i < 4; i++)
        if (index->ints[i] < 0 || index->ints[i] >= points)
            return false;
    return true;
}

static Vec3 corner(const SceneNode *faces, int i)
{
    const double *v =
        &scene_list(scene_child(faces, "coord"), "point")->numbers[3 * scene_list(faces, "coordIndex")->ints[i]];
    return vec3(v[0], v[1], v[2]);
}

// The face set in a bounding object, directly or in a Shape; NULL when there is none.
static SceneNode *face_set_of(const SceneNode *node)
{
    SceneNode *actual = scene_actual(node);
    if (actual && schema_type_is(actual->type, "Shape"))
        actual = scene_child(actual, "geometry");
    return actual && schema_type_is(actual->type, "IndexedFaceSet") ? actual : NULL;
}

// The plane stands in the axes of old files, in which its normal is y: the pass for axes turns it like every other.
static void make_plane(Upgrade *upgrade, SceneNode *node, const SceneNode *faces)
{
    Vec3 a = corner(faces, 0), b = corner(faces, 1), c = corner(faces, 2), d = corner(faces, 3);
    Vec3 normal = vec3_normalized(vec3_cross(vec3_sub(c, a), vec3_sub(d, b)));
    if (vec3_length(normal) < 0.5)
        return;
    if (!scene_bool(faces, "ccw"))
        normal = vec3_neg(normal);
    SceneNode *pose = upgrade_make(upgrade, "Transform", node->pos);
    SceneNode *plane = upgrade_make(upgrade, "Plane", node->pos);
    Vec3 middle = vec3_scale(vec3_add(vec3_add(a, b), vec3_add(c, d)), 0.25);
    if (vec3_length(middle) > 0.0)
        scene_set_vec3(upgrade->scene, pose, "translation", middle);
    Rotation turn = upgrade_tidy(quat_between(vec3(0, 1, 0), normal));
    if (turn.angle != 0.0)
        scene_set_rotation(upgrade->scene, pose, "rotation", turn);
    double width = vec3_distance(a, b), depth = vec3_distance(b, c);  // only for show; corners may coincide
    scene_set_vec2(upgrade->scene, plane, "size", (Vec2){ width > 0.0 ? width : 1.0, depth > 0.0 ? depth : 1.0 });
    if (!upgrade_replace(node, pose))
        return;
    upgrade_add_child(upgrade, pose, "children", plane);
    upgrade_note(upgrade, pose, node->pos,
                 "a face set of one quad is an infinite plane in bounding objects of Webots 5");
}

static bool is_in_bounding(const SceneNode *node)
{
    const SceneNode *parent = node->parent;
    return node->in_bounding && parent && !schema_type_is(parent->type, "Shape");
}

void upgrade_physics(Upgrade *upgrade)
{
    assert(upgrade->release < RELEASE_V7);
    for (int i = 0; i < upgrade->count; i++) {
        SceneNode *node = upgrade->nodes[i];
        if (node->kind != SCENE_NODE_PLAIN || !schema_type_is(node->type, "Solid")
            || upgrade_is_connected(node, "physics"))
            continue;
        const SceneNode *physics = upgrade_child(node, "physics", "Physics");
        if (!physics)
            continue;
        upgrade_mass(upgrade, node);
    }
    for (int i = 0; i < upgrade->count; i++) {
        SceneNode *node = upgrade->nodes[i];
        if (upgrade_is_plain(node, "Physics"))
            upgrade_drop_named(node, "orientation");
        const SceneNode *faces = upgrade->release < RELEASE_V6 && is_in_bounding(node) ? face_set_of(node) : NULL;
        if (faces && is_single_quad(faces))
            make_plane(upgrade, node, faces);
    }
}
