// A world of an old release moves as its modern conversion does: loaded, written in the newest release, loaded again.
#include "physics/world.h"

static void same_motion(const char *name, Sim *old, Sim *modern, int steps, double tolerance)
{
    Physics *a = sim_physics(old), *b = sim_physics(modern);
    CHECK(physics_solid_count(a) == physics_solid_count(b), name);
    CHECK(physics_body_count(a) == physics_body_count(b) && physics_joint_count(a) == physics_joint_count(b), name);
    for (int i = 0; i < steps; i++)
        CHECK(sim_step(old) == sim_step(modern), name);
    for (int i = 0; i < physics_solid_count(a); i++) {
        double apart = vec3_distance(physics_solid_pose(a, i).t, physics_solid_pose(b, i).t);
        if (apart > tolerance)
            fail_msg("%s: '%s' is %g m apart after %d steps", name, physics_solid_label(a, i), apart, steps);
    }
}

static Sim *converted(Sim *sim, const char *name, DiagSink *diags)
{
    Text text = { 0 };
    formats_write(sim_scene(sim), &text);
    Sim *modern = sim_load_text(name, text.data, text.length, NULL, diags);
    text_free(&text);
    return modern;
}

static const struct {
    const char *name, *text;
} worlds[] = {
    { "V5",
      "#VRML_SIM V5.0 utf8\nWorldInfo { basicTimeStep 16 }\nViewpoint { }\n"
      "Solid { children [ ] name \"floor\" boundingObject Box { size 20 0.2 20 } }\n"
      "DEF A Solid { translation 0 2 0 rotation 0 0 1 0.3 name \"a\" boundingObject Box { size 0.4 0.2 0.3 } physics Physics { density 500 coulombFriction 0.3 bounce 0.2 } }\n"
      "DEF C Solid { translation 3 2 0 rotation 1 0 0 0.4 name \"c\" boundingObject Cylinder { height 0.5 radius 0.2 } physics Physics { density 500 } }\n" },
    { "V7",
      "#VRML_SIM V7.0 utf8\nWorldInfo { basicTimeStep 16 contactProperties [ ContactProperties { material2 \"ice\" coulombFriction 0.1 } ] }\nViewpoint { }\n"
      "Solid { name \"floor\" boundingObject Plane { } }\n"
      "DEF A Solid { translation 0 2 0 linearVelocity 1 0 0 name \"a\" contactMaterial \"ice\" boundingObject Capsule { height 0.4 radius 0.1 } physics Physics { } }\n" },
    // Rubber on a plane, a box and a cap of a cylinder: hardly any friction along z, much along x.
    { "V8",
      "#VRML_SIM V8.0 utf8\nWorldInfo { basicTimeStep 16 contactProperties [ ContactProperties { material2 \"ski\" coulombFriction [ 0.01, 1, 0.01, 1 ] bounce 0 } ] }\nViewpoint { }\n"
      "Solid { name \"floor\" boundingObject Plane { } }\n"
      "Solid { translation 0 -0.5 40 name \"block\" boundingObject Box { size 10 1.5 10 } }\n"
      "Solid { translation 0 -0.5 80 name \"drum\" boundingObject Cylinder { height 1.5 radius 10 } }\n"
      "DEF A Solid { translation 0 0.5 0 linearVelocity 0 0 1 name \"along\" contactMaterial \"ski\" boundingObject Box { size 0.4 0.2 0.4 } physics Physics { } }\n"
      "DEF B Solid { translation 4 0.5 0 linearVelocity 1 0 0 name \"across\" contactMaterial \"ski\" boundingObject Box { size 0.4 0.2 0.4 } physics Physics { } }\n"
      "DEF C Solid { translation 0 0.7 40 linearVelocity 0 0 1 name \"block along\" contactMaterial \"ski\" boundingObject Cylinder { height 0.2 radius 0.2 } physics Physics { } }\n"
      "DEF D Solid { translation 4 0.7 40 linearVelocity 1 0 0 name \"block across\" contactMaterial \"ski\" boundingObject Cylinder { height 0.2 radius 0.2 } physics Physics { } }\n"
      "DEF E Solid { translation 0 0.7 80 linearVelocity 0 0 1 name \"drum along\" contactMaterial \"ski\" boundingObject Box { size 0.4 0.2 0.4 } physics Physics { } }\n"
      "DEF F Solid { translation 4 0.7 80 linearVelocity 1 0 0 name \"drum across\" contactMaterial \"ski\" boundingObject Box { size 0.4 0.2 0.4 } physics Physics { } }\n" },
    { "R2019b",
      "#VRML_SIM R2019b utf8\nWorldInfo { gravity 0 -9.81 0 basicTimeStep 8 }\nViewpoint { }\n"
      "Solid { name \"floor\" boundingObject Plane { } }\n"
      "Robot { translation 0 1 0 name \"r\" boundingObject Box { size 0.3 0.3 0.3 } physics Physics { } children [ HingeJoint { jointParameters HingeJointParameters { axis 0 0 1 anchor 0.2 0 0 } "
      "endPoint DEF E Solid { translation 0.5 0 0 name \"e\" boundingObject Transform { translation 0 0.1 0 children [ Cylinder { height 0.3 radius 0.05 } ] } physics Physics { } } } ] }\n" },
    { "R2021b",
      "#VRML_SIM R2021b utf8\nWorldInfo { coordinateSystem \"NUE\" basicTimeStep 8 }\nViewpoint { }\n"
      "Solid { name \"ground\" translation -2 0 -2 boundingObject ElevationGrid { xDimension 3 zDimension 3 xSpacing 2 zSpacing 2 height [ 0 0.3 0 0.1 0 0.2 0 0.1 0 ] } }\n"
      "DEF B Solid { translation 0.3 1 0.2 name \"b\" boundingObject Sphere { radius 0.2 } physics Physics { } }\n" },
};

static void old_texts_move_alike(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(worlds); i++) {
        DiagSink *diags = diag_create();
        Sim *old = sim_load_text("old.wbt", worlds[i].text, strlen(worlds[i].text), NULL, diags);
        CHECK(old != NULL, worlds[i].name);
        Sim *modern = converted(old, "modern.wbt", diags);
        CHECK(modern != NULL, worlds[i].name);
        int dynamic = physics_statistics(sim_physics(old)).bodies;
        CHECK(dynamic > 0, worlds[i].name);
        double before = physics_body_pose(sim_physics(old), 0).t.y;
        same_motion(worlds[i].name, old, modern, 300, 1e-6);
        double after = physics_body_pose(sim_physics(old), 0).t.y;
        CHECK(after < before - 0.2 && after > -0.5, "it fell along y and landed");
        sim_destroy(old);
        sim_destroy(modern);
        diag_destroy(diags);
    }
}

// The directions in which several coefficients act are those of the file's own release, in the file and in its
// conversion.
static void skis_glide_along_z(void **state)
{
    (void)state;
    DiagSink *diags = diag_create();
    int v8 = 0;
    while (strcmp(worlds[v8].name, "V8"))
        v8++;
    Sim *old = sim_load_text("old.wbt", worlds[v8].text, strlen(worlds[v8].text), NULL, diags);
    CHECK(old != NULL, "V8");
    Sim *sims[] = { old, converted(old, "modern.wbt", diags) };
    for (int i = 0; i < COUNT_OF(sims); i++) {
        World world = { .sim = sims[i], .physics = sim_physics(sims[i]), .diags = diags };
        world_step(&world, 100);
        static const char *const along[] = { "A", "C", "E" }, *const across[] = { "B", "D", "F" };
        for (int k = 0; k < COUNT_OF(along); k++) {
            CHECK(world_velocity(&world, along[k]).z > 0.5, along[k]);
            CHECK(world_velocity(&world, across[k]).x < 0.01 && world_position(&world, across[k]).x < 4.5, across[k]);
        }
    }
    sim_destroy(sims[0]);
    sim_destroy(sims[1]);
    diag_destroy(diags);
}

static int compared, seen;
static int every = 4;  // a quarter of the worlds; `old_test all` takes every one

static void compare_file(const char *path, void *context)
{
    (void)context;
    if (seen++ % every != 0)
        return;
    DiagSink *diags = diag_create();
    Sim *old = sim_load(path, NULL, diags);
    if (old && scene_release(sim_scene(old)) < 2022000 && physics_statistics(sim_physics(old)).bodies > 0) {
        Sim *modern = converted(old, path, diags);
        CHECK(modern != NULL, path);
        // Contacts amplify the last bit; a short run keeps that below the tolerance.
        same_motion(path, old, modern, 25, 1e-6);
        compared++;
        sim_destroy(modern);
    }
    sim_destroy(old);
    diag_destroy(diags);
}

static void old_worlds_of_the_corpus_move_alike(void **state)
{
    (void)state;
    const char *corpus = support_corpus();
    if (!corpus)
        SUPPORT_SKIP("the corpus is not on this machine");
    support_each_file(corpus, ".wbt", compare_file, NULL);
    printf("%d old worlds compared\n", compared);
    CHECK(compared > 100 / every, "the corpus has many old worlds");
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "all"))
        every = 1;
    const struct CMUnitTest tests[] = { cmocka_unit_test(old_texts_move_alike), cmocka_unit_test(skis_glide_along_z),
                                        cmocka_unit_test(old_worlds_of_the_corpus_move_alike) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
