// Nodes and fields that change while the world runs, and reset as if nothing had happened.
#include "physics/world.h"

static const char world_text[] =
    "WorldInfo { basicTimeStep 8 }"
    "DEF FLOOR Solid { name \"floor\" boundingObject Plane { } }"
    "DEF A Solid { name \"a\" translation 0 0 0.5 boundingObject DEF GEOMETRY Box { size 1 1 1 } physics DEF PHYSICS Physics { density 100 } }"
    "DEF HELD Pose { translation 5 0 0 children [ DEF P Solid { name \"p\" translation 0 0 0.2 boundingObject Box { size 0.4 0.4 0.4 } physics Physics { } } ] }"
    "DEF ARM Robot { name \"arm\" translation -5 0 1 boundingObject Box { size 0.2 0.2 0.2 } physics Physics { } children ["
    "  DEF J HingeJoint { jointParameters HingeJointParameters { axis 0 1 0 } device RotationalMotor { name \"m\" maxTorque 1000 }"
    "    endPoint DEF TIP Solid { name \"tip\" translation 0.5 0 0 boundingObject Box { size 0.2 0.2 0.2 } physics Physics { } } } ] }";

static SceneNode *def(World *world, const char *name)
{
    SceneNode *node = scene_find_def(sim_scene(world->sim), name);
    if (!node)
        fail_msg("no %s", name);
    return node;
}

static int solids_of(const World *world)
{
    int count = 0;
    for (int i = 0; i < physics_solid_count(world->physics); i++)
        count += physics_solid_exists(world->physics, i);
    return count;
}

static bool says(const World *world, const char *words)
{
    for (int i = 0; i < diag_count(world->diags); i++)
        if (strstr(diag_at(world->diags, i)->message, words))
            return true;
    return false;
}

static SceneNode *insert(World *world, SceneNode *parent, const char *field, const char *text)
{
    SceneNode *node = sim_insert(world->sim, parent, field, -1, text, strlen(text));
    if (!node)
        diag_print(world->diags, stderr, 0, DIAG_NOTE);
    CHECK(node != NULL, text);
    return node;
}

static void nodes_come_and_go_and_reset_forgets_it(void **state)
{
    (void)state;
    World world = world_open(world_text);
    uint64_t start = sim_hash(world.sim);
    world_step(&world, 40);
    uint64_t plain = sim_hash(world.sim);
    CHECK(sim_reset(world.sim), "reset");
    world_step(&world, 20);
    SceneNode *ball = insert(
        &world, scene_root(sim_scene(world.sim)), "children",
        "DEF BALL Solid { name \"ball\" translation 0 0 3 boundingObject Sphere { radius 0.2 } physics Physics { density 100 } }");
    world_step(&world, 200);
    CHECK_NEAR(world_position(&world, "BALL").z, 1.2, 0.02, "lies on the box");
    // A child that is put in rigidly adds to the mass of its parent.
    int a = world_solid(&world, "A");
    double mass = physics_body_mass(world.physics, physics_solid_body(world.physics, a));
    insert(
        &world, def(&world, "A"), "children",
        "DEF LOAD Solid { name \"load\" translation 0 0 -0.2 boundingObject Box { size 0.1 0.1 0.1 } physics Physics { density -1 mass 7 } }");
    a = world_solid(&world, "A");
    CHECK_NEAR(physics_body_mass(world.physics, physics_solid_body(world.physics, a)), mass + 7, 1e-9, "merged in");
    world_step(&world, 50);
    CHECK_NEAR(world_position(&world, "A").z, 0.5, 0.02, "box still lies");
    CHECK(sim_remove(world.sim, def(&world, "LOAD")), "remove load");
    a = world_solid(&world, "A");
    CHECK_NEAR(physics_body_mass(world.physics, physics_solid_body(world.physics, a)), mass, 1e-9, "taken out");
    CHECK(sim_remove(world.sim, def(&world, "A")), "remove box");
    CHECK(!sim_remove(world.sim, ball->parent), "the root stays");
    world_step(&world, 200);
    CHECK_NEAR(world_position(&world, "BALL").z, 0.2, 0.02, "the ball fell when its support went");
    CHECK(sim_remove(world.sim, ball), "remove ball");
    CHECK(!sim_remove(world.sim, ball), "only once");
    world_step(&world, 10);
    for (int round = 0; round < 2; round++) {
        CHECK(sim_reset(world.sim), "reset");
        world.physics = sim_physics(world.sim);
        CHECK(sim_hash(world.sim) == start, "as at load");
        CHECK(scene_find_def(sim_scene(world.sim), "BALL") == NULL, "no ball");
        world_step(&world, 40);
        CHECK(sim_hash(world.sim) == plain, "same run");
    }
    world_close(&world);
}

static void wrong_insertions_are_refused(void **state)
{
    (void)state;
    World world = world_open(world_text);
    static const struct {
        const char *field, *text;
    } cases[] = {
        { "children", "Solid { name " },         { "children", "" },
        { "children", "Physics { }" },           { "nothing", "Solid { }" },
        { "children", "Solid { } Physics { }" }, { "physics", "Physics { } Physics { }" },
        { "translation", "Solid { }" },          { "physics", "Physics { }" },
    };
    for (int i = 0; i < COUNT_OF(cases); i++)
        CHECK(!sim_insert(world.sim, def(&world, "A"), cases[i].field, -1, cases[i].text, strlen(cases[i].text)),
              cases[i].text);
    world_step(&world, 5);
    world_close(&world);
}

// What must not be where it is, inside of what is inserted, is said and passed over, as in a file.
static void wrong_parts_of_insertions_are_passed_over(void **state)
{
    (void)state;
    static const struct {
        const char *into, *field, *text, *said;
        bool comes;
    } cases[] = {
        { NULL, "children", "Solid { name \"n\" boundingObject Box { } physics Box { } }",
          "Box cannot stand in physics", true },
        { NULL, "children", "Solid { name \"n\" boundingObject Box { } physics GPS { } }",
          "GPS cannot stand in physics", true },
        { NULL, "children", "Solid { name \"n\" children [ HingeJoint { jointParameters Damping { } } ] }",
          "Damping cannot stand", true },
        { NULL, "children", "Propeller { device RotationalMotor { } }", "Propeller needs a Solid above it", true },
        { NULL, "children", "Robot { name \"n\" children [ Lidar { numberOfLayers 1000000 } ] }", "numberOfLayers",
          true },
        { NULL, "children", "Solid { name \"n\" boundingObject Group { children [ Solid { } ] } }",
          "Solid is not allowed inside of a boundingObject", true },
        { "BOUNDS", "children", "Solid { }", "Solid is not allowed inside of a boundingObject", false },
        { "BOUNDS", "children", "PointSet { }", "PointSet is not allowed", false },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        World world = world_open(
            "WorldInfo { } DEF A Solid { boundingObject DEF BOUNDS Group { children [ Box { } ] } physics Physics { } }");
        SceneNode *into = cases[i].into ? def(&world, cases[i].into) : scene_root(sim_scene(world.sim));
        bool has_come = sim_insert(world.sim, into, cases[i].field, -1, cases[i].text, strlen(cases[i].text)) != NULL;
        CHECK(has_come == cases[i].comes, cases[i].text);
        CHECK(says(&world, cases[i].said), cases[i].text);
        world_step(&world, 3);
        world_close(&world);
    }
}

// What a template makes anew is checked like what it made first.
static void templates_made_anew_are_checked(void **state)
{
    (void)state;
    char path[1024];
    const char *folder = support_scratch("edit");
    snprintf(path, sizeof path, "%s/Thing.proto", folder);
    support_write(
        path,
        "#VRML_SIM R2025a utf8\n# template language: javascript\nPROTO Thing [ field SFString kind \"\" ] {\n"
        "%< if (fields.kind.value == 'other') { >% Physics { } %< } else { >%\n"
        "Solid { boundingObject Box { } physics %< if (fields.kind.value) { >% GPS { } %< } else { >% Physics { } %< } >% }\n"
        "%< } >% }\n");
    snprintf(path, sizeof path, "%s/thing.wbt", folder);
    support_write(path,
                  "#VRML_SIM R2025a utf8\nEXTERNPROTO \"Thing.proto\"\nWorldInfo { } Viewpoint { }\nDEF T Thing { }\n");
    World world = { .diags = diag_create() };
    world.sim = sim_load(path, NULL, world.diags);
    assert_non_null(world.sim);
    world.physics = sim_physics(world.sim);
    SceneNode *thing = scene_instance(def(&world, "T"));
    const FieldType *kind = &thing->proto->parameters[0];
    CHECK(physics_solid_body(world.physics, world_solid(&world, "T")) >= 0, "a body");
    sim_set_value(world.sim, thing, kind, (FieldValue){ .s = "wrong part" });
    CHECK(says(&world, "GPS cannot stand in physics"), "said");
    CHECK(physics_solid_body(world.physics, world_solid(&world, "T")) < 0, "passed over");
    sim_set_value(world.sim, thing, kind, (FieldValue){ .s = "other" });
    CHECK(says(&world, "Thing has become a Physics, which cannot stand in children"), "said");
    CHECK(solids_of(&world) == 1, "stays as it was");
    sim_set_value(world.sim, thing, kind, (FieldValue){ .s = "" });
    CHECK(physics_solid_body(world.physics, world_solid(&world, "T")) >= 0, "a body again");
    world_step(&world, 2);
    world_close(&world);
}

static void fields_act_at_once(void **state)
{
    (void)state;
    World world = world_open(world_text);
    Scene *scene = sim_scene(world.sim);
    world_step(&world, 200);
    CHECK(physics_solid_is_idle(world.physics, world_solid(&world, "A")), "asleep");
    scene_set_vec3(scene, def(&world, "GEOMETRY"), "size", vec3(1, 1, 2));
    sim_field_changed(world.sim, def(&world, "GEOMETRY"), "size");
    int body = physics_solid_body(world.physics, world_solid(&world, "A"));
    CHECK_NEAR(physics_body_mass(world.physics, body), 200, 1e-9, "twice as large");
    world_step(&world, 300);
    CHECK_NEAR(world_position(&world, "A").z, 1.0, 0.02, "pushed up by the floor");
    scene_set_float(scene, def(&world, "PHYSICS"), "density", 50);
    sim_field_changed(world.sim, def(&world, "PHYSICS"), "density");
    CHECK_NEAR(physics_body_mass(world.physics, body), 100, 1e-9, "half as dense");
    scene_set_vec3(scene, def(&world, "A"), "translation", vec3(1, 2, 3));
    sim_field_changed(world.sim, def(&world, "A"), "translation");
    CHECK_NEAR(vec3_distance(world_position(&world, "A"), vec3(1, 2, 3)), 0, 1e-12, "moved");
    scene_set_vec3(scene, def(&world, "HELD"), "translation", vec3(8, 0, 0));
    sim_field_changed(world.sim, def(&world, "HELD"), "translation");
    CHECK_NEAR(world_position(&world, "P").x, 8, 1e-5, "the solid in a moved Pose");
    SceneNode *info = scene_list_node(scene_list(scene_root(scene), "children"), 0);
    scene_set_float(scene, info, "gravity", 0);
    sim_field_changed(world.sim, info, "gravity");
    double vz = world_velocity(&world, "A").z;
    world_step(&world, 20);
    CHECK_NEAR(world_velocity(&world, "A").z, vz, 1e-12, "no gravity");
    // A robot that is moved takes its joints along.
    scene_set_vec3(scene, def(&world, "ARM"), "translation", vec3(-9, 3, 5));
    Vec3 apart = vec3_sub(world_position(&world, "TIP"), world_position(&world, "ARM"));
    sim_field_changed(world.sim, def(&world, "ARM"), "translation");
    world_step(&world, 20);
    CHECK_NEAR(vec3_distance(vec3_sub(world_position(&world, "TIP"), world_position(&world, "ARM")), apart), 0, 1e-3,
               "arm stays together");
    world_close(&world);
}

// A reset also takes back what was written into fields; words stay.
static void reset_takes_fields_back(void **state)
{
    (void)state;
    World world = world_open(world_text);
    Scene *scene = sim_scene(world.sim);
    uint64_t start = sim_hash(world.sim);
    world_step(&world, 60);
    uint64_t plain = sim_hash(world.sim);
    for (int round = 0; round < 2; round++) {
        scene_set_vec3(scene, def(&world, "GEOMETRY"), "size", vec3(1, 1, 2));
        sim_field_changed(world.sim, def(&world, "GEOMETRY"), "size");
        scene_set_float(scene, def(&world, "PHYSICS"), "density", 50 + round);
        sim_field_changed(world.sim, def(&world, "PHYSICS"), "density");
        scene_set_vec3(scene, def(&world, "HELD"), "translation", vec3(8, 0, 0));
        sim_field_changed(world.sim, def(&world, "HELD"), "translation");
        scene_set_vec3(scene, def(&world, "A"), "translation", vec3(1, 2, 3));
        sim_field_changed(world.sim, def(&world, "A"), "translation");
        SceneNode *info = scene_list_node(scene_list(scene_root(scene), "children"), 0);
        scene_set_float(scene, info, "gravity", 1);
        sim_field_changed(world.sim, info, "gravity");
        scene_set_string(scene, def(&world, "A"), "description", "kept");
        FieldList *colors = scene_list_edit(scene, def(&world, "A"), "recognitionColors");
        scene_list_reserve(scene, colors, FIELD_SF_COLOR, 1);
        colors->count = 1;
        sim_field_changed(world.sim, def(&world, "A"), "recognitionColors");
        world_step(&world, 30);
        CHECK(sim_hash(world.sim) != plain, "another run");
        CHECK(sim_reset(world.sim), "reset");
        world.physics = sim_physics(world.sim);
        CHECK(sim_hash(world.sim) == start, "as at load");
        CHECK_NEAR(scene_float(def(&world, "PHYSICS"), "density"), 100, 0, "density");
        CHECK_NEAR(scene_float(info, "gravity"), 9.81, 0, "gravity");
        CHECK_NEAR(scene_vec3(def(&world, "HELD"), "translation").x, 5, 0, "a Pose's place");
        CHECK_NEAR(scene_vec3(def(&world, "A"), "translation").z, 0.5, 0, "a solid's place");
        CHECK(scene_list(def(&world, "A"), "recognitionColors")->count == 0, "a list");
        CHECK(!strcmp(scene_string(def(&world, "A"), "description"), "kept"), "words stay");
        world_step(&world, 60);
        CHECK(sim_hash(world.sim) == plain, "same run");
    }
    world_close(&world);
}

// A world that starts in motion, as a saved one does, knows the rates of its joints at once.
static void joints_start_in_motion(void **state)
{
    (void)state;
    World world = world_open(
        "WorldInfo { basicTimeStep 8 gravity 0 } Robot { controller \"<none>\" name \"r\" children [ "
        "HingeJoint { jointParameters HingeJointParameters { axis 0 1 0 } endPoint DEF H Solid { name \"h\" translation 0.5 0 0 linearVelocity 0 0 -1 angularVelocity 0 2 0 "
        "  boundingObject Box { size 0.2 0.2 0.2 } physics Physics { } } } "
        "SliderJoint { jointParameters JointParameters { axis 0 0 1 } endPoint DEF S Solid { name \"s\" translation 0 3 0 linearVelocity 0 0 0.7 "
        "  boundingObject Box { size 0.2 0.2 0.2 } physics Physics { } } } ] }");
    int hinge = physics_solid_joint(world.physics, world_solid(&world, "H")),
        slider = physics_solid_joint(world.physics, world_solid(&world, "S"));
    CHECK_NEAR(physics_joint_velocity(world.physics, hinge, 0), 2, 1e-12, "hinge");
    CHECK_NEAR(physics_joint_velocity(world.physics, slider, 0), 0.7, 1e-12, "slider");
    CHECK_NEAR(physics_joint_position(world.physics, hinge, 0), 0, 0, "position");
    world_close(&world);
}

// In a boundingObject a USE of a solid is none. It must not become one in the file that is saved after the solid went;
// a Shape that is repeated stays.
static void what_repeats_a_removed_solid_is_not_saved(void **state)
{
    (void)state;
    static const char text[] =
        "#VRML_SIM R2025a utf8\nWorldInfo { } DEF STONE Solid { name \"stone\" children DEF SHAPE Shape { geometry Box { } } }"
        "DEF HOLDER Solid { name \"holder\" boundingObject Group { children [ USE STONE USE SHAPE ] } }";
    char path[4096];
    snprintf(path, sizeof path, "%s/saved.wbt", support_scratch("edit_use"));
    World world = { .diags = diag_create() }, again = { .diags = diag_create() };
    world.sim = sim_load_text("test.wbt", text, strlen(text), NULL, world.diags);
    CHECK(sim_remove(world.sim, def(&world, "STONE")) && sim_save(world.sim, path), path);
    again.sim = sim_load(path, NULL, again.diags);
    CHECK(again.sim && !scene_find_def(sim_scene(again.sim), "STONE"), "the stone is gone");
    CHECK(scene_find_def(sim_scene(again.sim), "SHAPE") != NULL, "the Shape stays");
    world_close(&again);
    world_close(&world);
}

// A Solid stands in one place: what is imported and repeats one has a copy of it, as in a file, and takes it along.
static void what_is_imported_copies_the_solids_that_it_repeats(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "DEF IMPORTED Group { children [ USE STONE ] }",
        "DEF IMPORTED Solid { name \"holder\" children [ HingeJoint { endPoint USE STONE } ] boundingObject Box { } physics Physics { } }",
        "DEF IMPORTED Solid { name \"two\" children [ DEF INNER Solid { name \"inner\" boundingObject Box { } physics Physics { } } USE INNER ] }",
    };
    static const int solids[] = { 2, 3, 4 }, warnings[] = { 1, 1, 2 };  // two inner ones have one name
    for (int i = 0; i < COUNT_OF(texts); i++) {
        World world = world_open(
            "WorldInfo { } DEF STONE Solid { name \"stone\" boundingObject Box { } physics Physics { } }");
        SceneNode *root = scene_root(sim_scene(world.sim));
        CHECK(sim_insert(world.sim, root, "children", -1, texts[i], strlen(texts[i])) != NULL, texts[i]);
        CHECK(diag_total(world.diags, DIAG_WARNING) == warnings[i], texts[i]);
        CHECK(solids_of(&world) == solids[i], texts[i]);
        world_step(&world, 1);
        CHECK(sim_remove(world.sim, def(&world, "IMPORTED")), texts[i]);
        CHECK(solids_of(&world) == 1, texts[i]);
        world_step(&world, 1);
        world_close(&world);
    }
}

// A USE in what is saved finds the node that it repeats, also when another of the same name has come in before it.
static void names_that_come_twice_are_saved(void **state)
{
    (void)state;
    World world = world_open(
        "WorldInfo { } Solid { name \"a\" boundingObject DEF FORM Box { } } Solid { name \"b\" translation 9 0 0 boundingObject USE FORM }"
        "Solid { name \"c\" translation 18 0 0 boundingObject USE FORM }");
    static const char sphere[] = "Solid { name \"s\" translation 0 9 0 boundingObject DEF FORM Sphere { } }";
    assert_non_null(sim_insert(world.sim, scene_root(sim_scene(world.sim)), "children", 2, sphere, strlen(sphere)));
    char path[1024];
    snprintf(path, sizeof path, "%s/names.wbt", support_scratch("edit_names"));
    assert_true(formats_save(sim_scene(world.sim), path, world.diags));
    char *text = support_read(path);
    const char *first = strstr(text, "DEF FORM Box"), *second = strstr(first + 1, "DEF FORM Box");
    assert_true(first < strstr(text, "DEF FORM Sphere") && strstr(text, "DEF FORM Sphere") < second);
    assert_true(strstr(second, "USE FORM") && !strstr(second + 1, "DEF FORM"));  // once more is enough
    free(text);
    world_close(&world);
}

// One that is repeated as it stands, and what is repeated in a boundingObject: a solid is only looked at there, a Shape
// that is seen elsewhere collides and weighs.
static void imported_repetitions_count_where_they_stand(void **state)
{
    (void)state;
    World world = world_open(
        "WorldInfo { } DEF STONE Solid { name \"stone\" children DEF LOOK Shape { geometry Box { } } boundingObject Box { } physics Physics { } }"
        "DEF HOLDER Solid { name \"holder\" translation 9 0 0 boundingObject DEF SHAPES Group { children Box { } } physics Physics { } }");
    SceneNode *copy = insert(&world, scene_root(sim_scene(world.sim)), "children", "USE STONE");
    CHECK(copy->kind != SCENE_NODE_USE && !copy->def && solids_of(&world) == 3, "a copy");
    CHECK(sim_remove(world.sim, copy) && solids_of(&world) == 2, "goes alone");
    int holder = physics_solid_body(world.physics, world_solid(&world, "HOLDER"));
    double mass = physics_body_mass(world.physics, holder);
    SceneNode *use = insert(&world, def(&world, "SHAPES"), "children", "USE LOOK");
    CHECK_NEAR(physics_body_mass(world.physics, holder), 2 * mass, 1e-9 * mass, "two boxes");
    CHECK(sim_remove(world.sim, use), "removed");
    CHECK_NEAR(physics_body_mass(world.physics, holder), mass, 1e-9 * mass, "one box");
    use = sim_insert(world.sim, def(&world, "SHAPES"), "children", -1, "USE STONE", strlen("USE STONE"));
    CHECK(!use || use->kind == SCENE_NODE_USE, "no copy there");
    CHECK(solids_of(&world) == 2, "no solid either");
    world_step(&world, 1);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_come_and_go_and_reset_forgets_it),
        cmocka_unit_test(wrong_insertions_are_refused),
        cmocka_unit_test(names_that_come_twice_are_saved),
        cmocka_unit_test(wrong_parts_of_insertions_are_passed_over),
        cmocka_unit_test(templates_made_anew_are_checked),
        cmocka_unit_test(fields_act_at_once),
        cmocka_unit_test(reset_takes_fields_back),
        cmocka_unit_test(joints_start_in_motion),
        cmocka_unit_test(what_repeats_a_removed_solid_is_not_saved),
        cmocka_unit_test(what_is_imported_copies_the_solids_that_it_repeats),
        cmocka_unit_test(imported_repetitions_count_where_they_stand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
