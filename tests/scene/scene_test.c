// Nodes built by hand: wrappers, connected fields, copies, removal, search.
#include "base/random.h"
#include "scene/scene.h"
#include "support/support.h"

static const SourcePos nowhere = { 0 };

static SceneNode *make(Scene *scene, const char *type) { return scene_node_create(scene, schema_type(type), nowhere); }

static SceneNode *add_child(Scene *scene, SceneNode *parent, const char *type)
{
    SceneNode *node = make(scene, type);
    scene_list_insert_node(scene, parent, "children", -1, node);
    return node;
}

static void test_values_and_defaults(void **state)
{
    (void)state;
    Scene *scene = scene_create();
    SceneNode *solid = add_child(scene, scene_root(scene), "Solid");
    assert_string_equal(scene_string(solid, "name"), "solid");
    assert_null(scene_field(solid, "name"));
    scene_set_string(scene, solid, "name", "box");
    scene_set_vec3(scene, solid, "translation", vec3(1, 2, 3));
    scene_set_bool(scene, solid, "locked", true);
    assert_string_equal(scene_string(solid, "name"), "box");
    assert_true(scene_bool(solid, "locked"));
    assert_true(scene_vec3(solid, "translation").z == 3.0);
    assert_int_equal(solid->field_count, 3);
    scene_reset_field(scene, solid, "name");
    assert_string_equal(scene_string(solid, "name"), "solid");
    assert_int_equal(solid->field_count, 2);
    assert_null(scene_child(solid, "boundingObject"));
    assert_int_equal(scene_list(solid, "children")->count, 0);
    scene_destroy(scene);
}

// What is written again and again is kept once: the memory of a long run does not grow with it.
static SceneNode *kept_by_hand;
static void keep_one(void *context, Scene *scene) { scene_keep(scene, *(SceneNode **)context); }

// A piece of two nodes below the root, with words of its own.
static SceneNode *add_piece(Scene *scene, const char *words)
{
    scene_piece_begin(scene);
    SceneNode *solid = make(scene, "Solid");
    add_child(scene, solid, "Pose")->def = arena_string(scene_arena(scene), words);
    scene_piece_end(scene);
    scene_list_insert_node(scene, scene_root(scene), "children", -1, solid);
    return solid;
}

// Once a scene runs, what nobody refers to any more goes: nodes that were removed and values that were overwritten.
static void test_sweeps_take_what_nobody_refers_to(void **state)
{
    (void)state;
    Scene *scene = scene_create();
    SceneNode *of_file = add_child(scene, scene_root(scene), "Solid");
    scene_run(scene);
    scene_add_keeper(scene, keep_one, &kept_by_hand);
    SceneNode *stays = add_piece(scene, "STAYS"), *goes = add_piece(scene, "GOES"), *kept = add_piece(scene, "KEPT");
    SceneNode *used = add_piece(scene, "USED");
    SceneNode *user = scene_node_create_use(scene, used, "USED", nowhere);  // a piece of its own
    scene_list_insert_node(scene, of_file, "children", -1, user);
    uint32_t ids[] = { stays->id, goes->id, kept->id, used->id, user->id };
    int count = scene_node_count(scene);
    for (int i = 0; i < 100; i++) {
        char text[32];
        snprintf(text, sizeof text, "words %d", i);
        scene_set_string(scene, of_file, "description", text);
        scene_set_string(scene, stays, "name", text);
    }
    scene_node_remove(scene, goes);
    scene_node_remove(scene, kept);
    scene_node_remove(scene, used);
    kept_by_hand = kept;
    for (int round = 0; round < 2; round++) {
        scene_sweep(scene);
        assert_ptr_equal(scene_find_id(scene, ids[0]), stays);
        assert_null(scene_find_id(scene, ids[1]));
        assert_null(scene_find_id(scene, ids[1] + 1));
        assert_ptr_equal(scene_find_id(scene, ids[2]), kept);
        assert_ptr_equal(scene_find_id(scene, ids[3]), used);  // a USE still names it
        assert_ptr_equal(scene_find_id(scene, ids[4]), user);
        assert_int_equal(scene_node_count(scene), count - 2);
        assert_ptr_equal(scene_node_after(scene, ids[0] + 1), kept);
        assert_ptr_equal(scene_node_after(scene, ids[4]), NULL);
        assert_string_equal(scene_string(of_file, "description"), "words 99");
        assert_string_equal(scene_string(stays, "name"), "words 99");
        assert_ptr_equal(scene_find_def(scene, "STAYS"), scene_find_id(scene, ids[0] + 1));
    }
    Scene *copy = scene_copy(scene);
    assert_string_equal(scene_string(scene_find_id(copy, ids[0]), "name"), "words 99");
    assert_null(scene_find_id(copy, ids[1]));
    assert_false(scene_sweep_is_due(scene));  // a copy shares names with it
    kept_by_hand = NULL;
    scene_destroy(copy);
    scene_sweep(scene);
    assert_null(scene_find_id(scene, ids[2]));
    assert_true(add_piece(scene, "NEW")->id > ids[4]);  // ids are not given again
    scene_destroy(scene);
}

static void test_poses(void **state)
{
    (void)state;
    Scene *scene = scene_create();
    SceneNode *outer = add_child(scene, scene_root(scene), "Pose");
    SceneNode *group = add_child(scene, outer, "Group");
    SceneNode *inner = add_child(scene, group, "Solid");
    scene_set_vec3(scene, outer, "translation", vec3(1, 0, 0));
    scene_set_rotation(scene, outer, "rotation", (Rotation){ 0, 0, 1, 1.5707963267948966 });
    scene_set_vec3(scene, inner, "translation", vec3(1, 0, 0));
    Vec3 at = scene_world_pose(inner).t;
    CHECK_NEAR(at.x, 1.0, 1e-12, "x");
    CHECK_NEAR(at.y, 1.0, 1e-12, "y");
    assert_ptr_equal(scene_parent(inner), group);
    assert_null(scene_parent(scene_root(scene)));
    scene_destroy(scene);
}

static void test_use_and_bounding(void **state)
{
    (void)state;
    Scene *scene = scene_create();
    SceneNode *solid = add_child(scene, scene_root(scene), "Solid");
    SceneNode *shape = add_child(scene, solid, "Shape");
    shape->def = "S";
    scene_set_child(scene, shape, "geometry", make(scene, "Box"));
    SceneNode *use = scene_node_create_use(scene, shape, "S", nowhere);
    scene_set_child(scene, solid, "boundingObject", use);
    assert_ptr_equal(scene_child(solid, "boundingObject"), shape);
    assert_true(use->in_bounding);
    assert_false(shape->in_bounding);
    assert_ptr_equal(scene_parent(use), solid);

    SceneNode *group = make(scene, "Group");
    SceneNode *deep = add_child(scene, group, "Shape");
    scene_set_child(scene, solid, "boundingObject", group);
    assert_true(deep->in_bounding);
    scene_destroy(scene);
}

static void test_lists_and_removal(void **state)
{
    (void)state;
    Scene *scene = scene_create();
    SceneNode *root = scene_root(scene);
    SceneNode *nodes[5];
    for (int i = 0; i < COUNT_OF(nodes); i++)
        nodes[i] = add_child(scene, root, "Group");
    SceneNode *first = make(scene, "Group");
    scene_list_insert_node(scene, root, "children", 0, first);
    const FieldList *children = scene_list(root, "children");
    assert_int_equal(children->count, 6);
    assert_ptr_equal(children->nodes[0], first);
    assert_ptr_equal(children->nodes[5], nodes[4]);
    scene_node_remove(scene, nodes[1]);
    children = scene_list(root, "children");
    assert_int_equal(children->count, 5);
    assert_ptr_equal(children->nodes[2], nodes[2]);
    assert_true(nodes[1]->is_removed);
    assert_int_equal(scene_list(nodes[0], "children")->count, 0);  // the shared default is untouched
    for (uint32_t id = 1; (int)id <= scene_node_count(scene); id++)
        assert_int_equal(scene_find_id(scene, id)->id, id);
    assert_null(scene_find_id(scene, 1000));
    scene_destroy(scene);
}

static bool count_visit(SceneNode *node, void *context)
{
    (void)node;
    ++*(int *)context;
    return true;
}

static void test_search(void **state)
{
    (void)state;
    Scene *scene = scene_create();
    SceneNode *a = add_child(scene, scene_root(scene), "Solid"), *b = add_child(scene, a, "Solid");
    SceneNode *c = add_child(scene, b, "Solid"), *other = add_child(scene, scene_root(scene), "Solid");
    a->def = "A";
    b->def = "B";
    c->def = "C";
    other->def = "C";
    scene_set_string(scene, other, "name", "other");
    assert_ptr_equal(scene_find_def(scene, "A"), a);
    assert_ptr_equal(scene_find_def(scene, "C"), c);
    assert_ptr_equal(scene_find_def(scene, "A.C"), c);
    assert_ptr_equal(scene_find_def(scene, "A.B.C"), c);
    assert_null(scene_find_def(scene, "B.A"));
    assert_null(scene_find_def(scene, ""));
    assert_null(scene_find_def(scene, "A."));
    assert_ptr_equal(scene_find_solid(scene, "other"), other);
    assert_null(scene_find_solid(scene, "none"));
    int count = 0;
    assert_true(scene_walk(scene_root(scene), false, count_visit, &count));
    assert_int_equal(count, 5);
    Arena *arena = arena_create();
    assert_string_equal(scene_node_path(c, arena), "DEF A Solid.children[0] DEF B Solid.children[0] DEF C Solid");
    arena_destroy(arena);
    scene_destroy(scene);
}

// Asked often, names are looked up in a table: it must say what a walk says, whatever came and went in between.
static void test_search_while_the_scene_changes(void **state)
{
    (void)state;
    enum { NAMES = 12, ROUNDS = 200 };
    static const char *const paths[] = { "N0", "N1",  "N2",  "N3",    "N4",       "N5", "N6",  "N7", "N8",
                                         "N9", "N10", "N11", "N1.N2", "N3.N3.N4", "N",  "N1.", "." };
    Scene *scene = scene_create();
    SceneNode *nodes[ROUNDS] = { scene_root(scene) };
    Random random;
    random_seed(&random, 7, "search");
    for (int round = 1; round < ROUNDS; round++) {
        unsigned draw = (unsigned)(random_bits(&random) >> 33);
        SceneNode *near = nodes[draw % (unsigned)round];
        nodes[round] = scene_root(scene);
        if (draw % 5 == 0 && near != scene_root(scene) && !near->is_removed) {
            scene_node_remove(scene, near);
        } else if (!near->is_removed) {
            SceneNode *made = nodes[round] = make(scene, "Solid");
            made->def = paths[draw / 64 % NAMES];
            scene_list_insert_node(scene, near, "children", draw % 2 ? 0 : -1, made);
        }
        for (int i = 0; i < 3 * COUNT_OF(paths); i++)
            assert_ptr_equal(scene_find_def(scene, paths[i % COUNT_OF(paths)]),
                             scene_find_def_below(scene_root(scene), paths[i % COUNT_OF(paths)]));
    }
    scene_destroy(scene);
}

// A PROTO by hand: Solid { translation IS place  children [ Group { children IS parts } ]  name IS label }
typedef struct HandProto {
    FieldType parameters[3];
    SceneProto proto;
    SceneNode *body;
} HandProto;

static void connect_field(Scene *scene, SceneNode *node, const char *field, int parameter)
{
    scene_field_add(scene, node, schema_field(node->type, field), nowhere)->parameter_index = (int16_t)parameter;
}

static void define(HandProto *hand, Scene *library)
{
    static const FieldList none = { 0 };
    hand->parameters[0] = (FieldType){ .name = "place", .kind = FIELD_SF_VEC3F };
    hand->parameters[1] = (FieldType){ .name = "parts", .kind = FIELD_MF_NODE, .value.list = &none, .index = 1 };
    hand->parameters[2] = (FieldType){ .name = "label", .kind = FIELD_SF_STRING, .value.s = "x", .index = 2 };
    hand->proto = (SceneProto){
        .name = "Hand", .parameters = hand->parameters, .parameter_count = 3, .base_type = schema_type("Solid")
    };
    hand->body = make(library, "Solid");
    connect_field(library, hand->body, "translation", 0);
    connect_field(library, hand->body, "name", 2);
    SceneNode *group = add_child(library, hand->body, "Group");
    connect_field(library, group, "children", 1);
    SceneNode *shape = add_child(library, hand->body, "Shape");
    shape->def = "S";
    scene_set_child(library, hand->body, "boundingObject", scene_node_create_use(library, shape, "S", nowhere));
}

static void test_instances(void **state)
{
    (void)state;
    Scene *library = scene_create(), *scene = scene_create();
    HandProto hand;
    define(&hand, library);
    SceneNode *instance = scene_node_create_instance(scene, &hand.proto, nowhere);
    scene_list_insert_node(scene, scene_root(scene), "children", -1, instance);
    SceneNode *body = scene_node_clone_body(scene, hand.body, instance);
    assert_ptr_equal(scene_actual(instance), body);
    assert_ptr_equal(scene_instance(body), instance);
    assert_true(body->in_proto);
    assert_ptr_equal(scene_parent(body), scene_root(scene));
    assert_true(scene_node_is(instance, "Pose"));

    // USE inside follows into the copy.
    const FieldList *children = scene_list(instance, "children");
    assert_int_equal(children->count, 2);
    assert_ptr_equal(scene_child(instance, "boundingObject"), children->nodes[1]);
    assert_true(children->nodes[1] != scene_list(hand.body, "children")->nodes[1]);

    // A parameter and what is connected to it change together.
    scene_set_vec3(scene, instance, "place", vec3(1, 2, 3));
    assert_true(scene_vec3(instance, "translation").y == 2.0);
    scene_set_vec3(scene, body, "translation", vec3(4, 5, 6));
    assert_true(scene_value(instance, &hand.parameters[0]).v[1] == 5.0);
    scene_set_string(scene, instance, "label", "b");
    assert_string_equal(scene_string(body, "name"), "b");

    SceneNode *part = make(scene, "Solid");
    scene_list_insert_node(scene, instance, "parts", -1, part);
    SceneNode *group = scene_list(body, "children")->nodes[0];
    assert_ptr_equal(scene_list(group, "children")->nodes[0], part);
    assert_ptr_equal(scene_parent(part), group);

    // A copy of the instance is connected within itself.
    SceneNode *copy = scene_node_clone(scene, instance);
    SceneNode *copy_body = scene_actual(copy);
    assert_true(copy_body && copy_body != body);
    scene_set_vec3(scene, copy, "place", vec3(7, 8, 9));
    assert_true(scene_vec3(copy_body, "translation").x == 7.0);
    assert_true(scene_vec3(body, "translation").x == 4.0);
    SceneNode *copy_group = scene_list(copy_body, "children")->nodes[0];
    SceneNode *copy_part = scene_list(copy_group, "children")->nodes[0];
    assert_true(copy_part != part);
    assert_ptr_equal(scene_parent(copy_part), copy_group);
    assert_ptr_equal(scene_value(copy, &hand.parameters[1]).list->nodes[0], copy_part);

    scene_node_remove(scene, part);
    assert_int_equal(scene_list(group, "children")->count, 0);
    assert_int_equal(scene_value(instance, &hand.parameters[1]).list->count, 0);
    assert_int_equal(scene_list(copy_group, "children")->count, 1);
    scene_destroy(scene);
    scene_destroy(library);
}

static void test_single_value_as_list(void **state)
{
    (void)state;
    Scene *scene = scene_create();
    FieldValue list = scene_value_as(scene, (FieldValue){ .s = "a" }, FIELD_SF_STRING, FIELD_MF_STRING);
    assert_int_equal(list.list->count, 1);
    assert_string_equal(list.list->strings[0], "a");
    list = scene_value_as(scene, (FieldValue){ .v = { 1, 2, 3 } }, FIELD_SF_VEC3F, FIELD_MF_VEC3F);
    assert_true(list.list->numbers[2] == 3.0);
    scene_destroy(scene);
}

static void test_extras(void **state)
{
    (void)state;
    Scene *scene = scene_create();
    for (int i = 0; i < 100; i++) {
        SceneNode *node = add_child(scene, scene_root(scene), "Group");
        scene_extra_add(scene, node, true, NULL, "# one");
        scene_extra_add(scene, node, false, NULL, "two 2");
        SceneHidden hidden = { .name = "position_0_0", .kind = FIELD_SF_FLOAT, .v = { i } };
        scene_hidden_add(scene, node, &hidden);
    }
    const FieldList *children = scene_list(scene_root(scene), "children");
    for (int i = 0; i < children->count; i++) {
        const SceneExtra *extra = scene_extras(scene, children->nodes[i]);
        assert_string_equal(extra->text, "# one");
        assert_string_equal(extra->next->text, "two 2");
        assert_true(scene_hidden(scene, children->nodes[i])->v[0] == i);
    }
    scene_hidden_clear(scene, children->nodes[3]);
    assert_null(scene_hidden(scene, children->nodes[3]));
    assert_null(scene_extras(scene, scene_root(scene)));
    scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_and_defaults),
        cmocka_unit_test(test_sweeps_take_what_nobody_refers_to),
        cmocka_unit_test(test_poses),
        cmocka_unit_test(test_use_and_bounding),
        cmocka_unit_test(test_lists_and_removal),
        cmocka_unit_test(test_search),
        cmocka_unit_test(test_search_while_the_scene_changes),
        cmocka_unit_test(test_instances),
        cmocka_unit_test(test_single_value_as_list),
        cmocka_unit_test(test_extras),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
