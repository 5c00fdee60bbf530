// scene_turn.c - fields that stand in other axes here than in their file. Files from before R2022a are brought to
// today's axes when they are loaded; whoever speaks the file's language (supervisors, PROTO parameters of the same
// file) gets its own numbers.
#include "scene/scene_internal.h"

#include <string.h>

const SceneTurn *scene_turn(const SceneNode *node, const FieldType *type)
{
    for (const SceneTurn *turn = node->turns; turn; turn = turn->next)
        if (!strcmp(turn->field, type->name))
            return turn;
    return NULL;
}

void scene_turn_add(Scene *scene, SceneNode *node, const SceneTurn *turn)
{
    SceneTurn *added = scene_take(scene, sizeof *added);
    *added = *turn;
    added->next = NULL;
    for (const SceneTurn **place = &node->turns; *place; place = (const SceneTurn **)&(*place)->next) {
        const SceneTurn *old = *place;
        if (strcmp(old->field, turn->field))
            continue;
        assert(old->kind == turn->kind);
        added->left = quat_mul(turn->left, old->left);
        added->right = quat_mul(old->right, turn->right);
        added->map = mat3_mul(turn->map, old->map);
        added->next = old->next;
        *place = added;
        return;
    }
    added->next = node->turns;
    node->turns = added;
}

void scene_turn_rotation(Scene *scene, SceneNode *node, const char *field, Quat left, Quat right)
{
    scene_turn_add(
        scene, node,
        &(SceneTurn){
            .field = field, .kind = SCENE_TURN_ROTATION, .left = left, .right = right, .map = MAT3_IDENTITY });
}

void scene_turn_vector(Scene *scene, SceneNode *node, const char *field, Mat3 map, bool is_size)
{
    scene_turn_add(scene, node,
                   &(SceneTurn){ .field = field,
                                 .kind = is_size ? SCENE_TURN_SIZE : SCENE_TURN_VECTOR,
                                 .left = QUAT_IDENTITY,
                                 .right = QUAT_IDENTITY,
                                 .map = map });
}

static Vec3 mapped(Mat3 map, Vec3 v, bool is_size)
{
    Vec3 turned = mat3_apply(map, v);
    return is_size ? vec3(fabs(turned.x), fabs(turned.y), fabs(turned.z))
                   : vec3(turned.x + 0.0, turned.y + 0.0, turned.z + 0.0);
}

// Three numbers are a vector. Two are x and z of the old level plane, and x and y of today's.
static void turn_vector(const SceneTurn *turn, bool to_file, double *numbers, int count)
{
    assert_debug(count == 2 || count == 3);
    Mat3 map = to_file ? mat3_transposed(turn->map) : turn->map;
    bool is_flat = count == 2, is_size = turn->kind == SCENE_TURN_SIZE;
    Vec3 v = !is_flat  ? vec3(numbers[0], numbers[1], numbers[2])
             : to_file ? vec3(numbers[0], numbers[1], 0.0)
                       : vec3(numbers[0], 0.0, numbers[1]);
    v = mapped(map, v, is_size);
    numbers[0] = v.x;
    numbers[1] = is_flat && to_file ? v.z : v.y;
    if (!is_flat)
        numbers[2] = v.z;
}

static void turn_rotation(const SceneTurn *turn, bool to_file, double *numbers)
{
    Quat left = to_file ? quat_conj(turn->left) : turn->left, right = to_file ? quat_conj(turn->right) : turn->right;
    Quat q = quat_mul(quat_mul(left, quat_from_rotation((Rotation){ numbers[0], numbers[1], numbers[2], numbers[3] })),
                      right);
    Rotation r = quat_to_rotation(q);
    memcpy(numbers, (double[4]){ r.x, r.y, r.z, r.angle }, 4 * sizeof *numbers);
}

void scene_turn_numbers(const SceneTurn *turn, bool to_file, double *numbers, int count)
{
    assert_debug(numbers);
    if (turn->kind == SCENE_TURN_ROTATION && count == 4)
        turn_rotation(turn, to_file, numbers);
    else if (turn->kind != SCENE_TURN_ROTATION && (count == 2 || count == 3))
        turn_vector(turn, to_file, numbers, count);
}

FieldValue scene_value_turned(Scene *scene, const SceneNode *node, const FieldType *type, FieldValue value,
                              bool to_file)
{
    const SceneTurn *turn = scene_turn(node, type);
    FieldKind item = field_kind_item(type->kind);
    int width = field_kind_doubles(item);
    if (!turn || width < 2)
        return value;
    if (!field_kind_is_list(type->kind)) {
        scene_turn_numbers(turn, to_file, value.v, width);
        return value;
    }
    FieldList *list = scene_list_copy(scene, value.list, item, value.list->count);
    for (int i = 0; i < list->count; i++)
        scene_turn_numbers(turn, to_file, &list->numbers[i * width], width);
    value.list = list;
    return value;
}
