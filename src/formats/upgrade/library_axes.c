// library_axes.c - PROTOs of the library in worlds from before R2022a.
//
// The library has z up and x to the front. Before R2022a the PROTOs of the same names had y up and looked where their
// authors liked; an old world places them in those axes. Comment lines at the top of a library file say what there was:
//
//   # old front: -z                    its front was -z, with y up: -z +z -x +x; "+x up z" and "-y up z" had z up
//   # old sizes: size frameSize        parameters that are sizes along its axes
//   # old points: path                 parameters that are points in its axes; two numbers are x and z
//   # old points -z x -y: shape        the same, with the new x, y and z spelled out
//   # old rotations: camera_rotation   parameters that are turns in its axes
//   # old slots: bodySlot              parameters that hold nodes placed in its axes
//   # old slots -z: sensorsSlotTop     the same, of a slot that looked elsewhere than the PROTO itself
//   # old default: rotation 1 0 0 -1.5708   the default of a parameter at that time
//
// So an instance keeps its place and its sizes, whatever the axes of its world are.
#include "formats/upgrade/library_axes.h"

#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 32, WORD_SIZE = 64 };

typedef struct Words {
    char words[WORDS_MAX][WORD_SIZE];
    int count;
} Words;

// Reads words up to `end`; those that are too many or too long are left out.
static Words split(const char *at, const char *end)
{
    assert(at <= end);
    Words words = { .count = 0 };
    while (at < end && words.count < WORDS_MAX) {
        while (at < end && isspace((unsigned char)*at))
            at++;
        const char *start = at;
        while (at < end && !isspace((unsigned char)*at))
            at++;
        size_t length = (size_t)(at - start);
        if (length == 0 || length >= WORD_SIZE)
            continue;
        memcpy(words.words[words.count], start, length);
        words.words[words.count++][length] = '\0';
    }
    return words;
}

// "-z" as a direction. False for anything else.
static bool read_axis(const char *word, Vec3 *axis)
{
    double sign = *word == '-' ? -1.0 : 1.0;
    if (*word == '-' || *word == '+')
        word++;
    if (strlen(word) != 1 || *word < 'x' || *word > 'z')
        return false;
    *axis = vec3(*word == 'x' ? sign : 0.0, *word == 'y' ? sign : 0.0, *word == 'z' ? sign : 0.0);
    return true;
}

static Mat3 rows(Vec3 x, Vec3 y, Vec3 z) { return (Mat3){ { x.x, x.y, x.z, y.x, y.y, y.z, z.x, z.y, z.z } }; }

// The matrix that takes a point from the old axes to the new ones: "-z", "+x up z".
static bool read_front(const Words *words, int first, Mat3 *to_new)
{
    assert(first >= 0 && words->count <= WORDS_MAX);
    Vec3 front, up = vec3(0, 1, 0);
    if (words->count <= first || !read_axis(words->words[first], &front))
        return false;
    if (words->count == first + 3 && !strcmp(words->words[first + 1], "up") && !read_axis(words->words[first + 2], &up))
        return false;
    if (vec3_dot(front, up) != 0.0)
        return false;
    *to_new = rows(front, vec3_cross(up, front), up);
    return true;
}

// Three axes: what the new x, y and z are in old ones.
static bool read_map(const Words *words, int first, Mat3 *map)
{
    assert(first >= 0 && words->count <= WORDS_MAX);
    Vec3 axes[3];
    if (words->count != first + 3)
        return false;
    for (int i = 0; i < 3; i++)
        if (!read_axis(words->words[first + i], &axes[i]))
            return false;
    *map = rows(axes[0], axes[1], axes[2]);
    return true;
}

// ---- values ----

typedef struct Turn {
    Upgrade *upgrade;
    SceneNode *instance;
    Mat3 to_new;
    bool is_z_up;  // the world: defaults of that time made robots stand where y is up
} Turn;

static const FieldType *find_parameter(const SceneProto *proto, const char *name)
{
    for (int i = 0; i < proto->parameter_count; i++)
        if (!strcmp(proto->parameters[i].name, name))
            return &proto->parameters[i];
    return NULL;
}

// What the file gives, or a parameter of the PROTO around it, stands in old axes; a default of today does not.
static void turn_vectors(const Turn *turn, Mat3 map, const char *name, bool is_size)
{
    const FieldType *parameter = find_parameter(turn->instance->proto, name);
    if (!parameter || field_kind_doubles(field_kind_item(parameter->kind)) < 2 || scene_turn(turn->instance, parameter))
        return;
    scene_turn_vector(turn->upgrade->scene, turn->instance, parameter->name, map, is_size);
    SceneField *field = upgrade_own(turn->instance, name);
    if (field)
        field->value = scene_value_turned(turn->upgrade->scene, turn->instance, parameter, field->value, false);
}

// A rotation becomes left * rotation * right.
static void turn_rotation(const Turn *turn, const FieldType *parameter, Quat left, Quat right)
{
    assert_debug(parameter->kind == FIELD_SF_ROTATION);
    if (scene_turn(turn->instance, parameter))
        return;
    scene_turn_rotation(turn->upgrade->scene, turn->instance, parameter->name, left, right);
    const SceneField *field = upgrade_own(turn->instance, parameter->name);
    const double *v = field ? field->value.v : (const double[4]){ 0.0, 0.0, 1.0, 0.0 };
    Rotation r = upgrade_tidy(
        quat_mul(quat_mul(left, quat_from_rotation((Rotation){ v[0], v[1], v[2], v[3] })), right));
    scene_set_value(turn->upgrade->scene, turn->instance, parameter, (FieldValue){ .v = { r.x, r.y, r.z, r.angle } });
}

static void turn_inner_rotation(const Turn *turn, const char *name)
{
    const FieldType *parameter = find_parameter(turn->instance->proto, name);
    Quat change = quat_from_mat3(turn->to_new);
    if (parameter && parameter->kind == FIELD_SF_ROTATION && upgrade_own(turn->instance, name))
        turn_rotation(turn, parameter, change, quat_conj(change));
    else if (parameter && parameter->kind == FIELD_SF_ROTATION)
        scene_turn_rotation(turn->upgrade->scene, turn->instance, parameter->name, change, quat_conj(change));
}

// What a slot holds was placed in old axes: a Pose turns it into the new ones.
static void turn_slot(const Turn *turn, Mat3 map, const char *name)
{
    const FieldType *parameter = find_parameter(turn->instance->proto, name);
    SceneField *field = parameter && parameter->kind == FIELD_MF_NODE ? upgrade_own(turn->instance, name) : NULL;
    Quat change = quat_from_mat3(map);
    if (!field || field->parameter_index >= 0 || upgrade_tidy(change).angle == 0.0)
        return;
    for (int i = 0; i < field->value.list->count; i++) {
        SceneNode *node = field->value.list->nodes[i];
        if (!node || node->is_removed)
            continue;
        SceneNode *pose = upgrade_wrap(turn->upgrade, node, "Pose");
        if (!pose)
            continue;
        pose->is_inserted = true;
        scene_set_rotation(turn->upgrade->scene, pose, "rotation", upgrade_tidy(change));
    }
}

// ---- the header ----

static void apply_names(const Turn *turn, const char *kind, const Words *head, const Words *names)
{
    bool is_points = !strcmp(kind, "points"), is_slots = !strcmp(kind, "slots");
    Mat3 map = turn->to_new;
    if (head->count > 2 && !(is_points ? read_map(head, 2, &map) : is_slots ? read_front(head, 2, &map) : false))
        return;
    for (int i = 0; i < names->count; i++) {
        const char *name = names->words[i];
        if (is_points || !strcmp(kind, "sizes"))
            turn_vectors(turn, map, name, !is_points);
        else if (is_slots)
            turn_slot(turn, map, name);
        else if (!strcmp(kind, "rotations"))
            turn_inner_rotation(turn, name);
    }
}

static void apply_default(const Turn *turn, const Words *words)
{
    const FieldType *parameter = words->count > 1 ? find_parameter(turn->instance->proto, words->words[0]) : NULL;
    int width = parameter && !field_kind_is_list(parameter->kind) ? field_kind_doubles(parameter->kind) : 0;
    assert(width <= 4 || !parameter);
    if (width == 0 || width > 4 || words->count != 1 + width || upgrade_own(turn->instance, words->words[0]))
        return;
    if (turn->is_z_up && parameter->kind == FIELD_SF_ROTATION)
        return;
    FieldValue value = { .v = { 0 } };
    for (int i = 0; i < width; i++)
        if (!text_to_double(words->words[1 + i], &value.v[i]))
            return;
    scene_set_value(turn->upgrade->scene, turn->instance, parameter, value);
}

// Calls for every "# old KIND ...: ..." line at the top of the file; `only_front` for the front alone, else all others.
static bool read_header(Turn *turn, bool only_front)
{
    assert_debug(turn->instance->proto);
    size_t size;
    const char *at = proto_text(turn->instance->proto, &size), *end = at + size;
    bool found = false;
    while (at < end && *at == '#') {
        const char *eol = memchr(at, '\n', (size_t)(end - at));
        eol = eol ? eol : end;
        const char *colon = memchr(at, ':', (size_t)(eol - at));
        if (colon) {
            Words head = split(at + 1, colon), rest = split(colon + 1, eol);
            if (head.count >= 2 && !strcmp(head.words[0], "old")) {
                if (!strcmp(head.words[1], "front"))
                    found = (only_front && read_front(&rest, 0, &turn->to_new)) || found;
                else if (!only_front && !strcmp(head.words[1], "default"))
                    apply_default(turn, &rest);
                else if (!only_front)
                    apply_names(turn, head.words[1], &head, &rest);
            }
        }
        at = eol < end ? eol + 1 : end;
    }
    return found;
}

static void turn_place(const Turn *turn)
{
    assert_debug(turn->instance->kind == SCENE_NODE_INSTANCE);
    SceneNode *node = turn->instance;
    const FieldType *translation = find_parameter(node->proto, "translation");
    const FieldType *rotation = find_parameter(node->proto, "rotation");
    // Defaults are heights above the ground, along y where that is up.
    if (!turn->is_z_up && translation && translation->kind == FIELD_SF_VEC3F && !upgrade_own(node, "translation")) {
        const double *v = translation->value.v;
        if (v[0] != 0.0 || v[1] != 0.0 || v[2] != 0.0)
            scene_set_value(turn->upgrade->scene, node, translation, (FieldValue){ .v = { -v[1], v[2], -v[0] } });
    }
    if (!rotation || rotation->kind != FIELD_SF_ROTATION)
        return;
    turn_rotation(turn, rotation, QUAT_IDENTITY, quat_from_mat3(mat3_transposed(turn->to_new)));
}

bool library_axes_turn(Upgrade *upgrade, SceneNode *instance)
{
    assert_debug(instance->kind == SCENE_NODE_INSTANCE);
    bool is_z_up = upgrade_is_z_up(upgrade, scene_find_top(upgrade->scene, "WorldInfo"));
    Turn turn = { .upgrade = upgrade, .instance = instance, .is_z_up = is_z_up };
    size_t size;
    if (!instance->proto || instance->proto->is_placeholder || !proto_text(instance->proto, &size))
        return false;
    if (!read_header(&turn, true))
        return false;
    read_header(&turn, false);
    turn_place(&turn);
    return true;
}
