// Scale around collision shapes: what is drawn scaled or mirrored collides so. Each row drops a wedge (its point 0.15
// above its origin, its base 0.1 below) or a plain form on the floor and says where it rests.
#include "sim/sim.h"

#include "support/support.h"

#define WEDGE "v -0.1 -0.1 -0.1\nv 0.1 -0.1 -0.1\nv 0 0.1 -0.1\nv 0 0 0.15\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"
#define HEAVY "physics Physics { density -1 mass 1 centerOfMass [ 0 0 0 ] inertiaMatrix [ 0.01 0.01 0.01, 0 0 0 ] }"
#define MESH "Mesh { url \"wedge.obj\" }"

typedef struct Case {
    const char *name, *header, *body;
    double rests_at;  // z of the solid A
} Case;

#define R25 "#VRML_SIM R2025a utf8\n"
#define R22 "#VRML_SIM R2022b utf8\n"
static const Case cases[] = {
    { "as it is", R25, "boundingObject " MESH, 0.1 },
    { "doubled", R25, "boundingObject Transform { scale 2 2 2 children [ " MESH " ] }", 0.2 },
    { "doubled twice", R25,
      "boundingObject Transform { scale 2 2 2 children [ Transform { scale 2 2 2 children [ " MESH " ] } ] }", 0.4 },
    { "along one axis", R25, "boundingObject Transform { scale 1 1 3 children [ " MESH " ] }", 0.3 },
    { "moved inside", R25,
      "boundingObject Transform { scale 2 2 2 children [ Pose { translation 0 0 0.05 children [ " MESH " ] } ] }",
      0.1 },
    { "a box", R25, "boundingObject Transform { scale 1 2 3 children [ Box { size 0.1 0.1 0.1 } ] }", 0.15 },
    { "a ball", R25, "boundingObject Transform { scale 2 2 2 children [ Sphere { radius 0.1 } ] }", 0.2 },
    { "an old solid", R22, "scale 2 2 2 boundingObject " MESH, 0.2 },
    { "an old solid, by its looks", R22,
      "scale 2 2 2 children [ DEF S Shape { geometry " MESH " } ] boundingObject USE S", 0.2 },
    { "an old solid, by the mesh of its looks", R22,
      "scale 2 2 2 children [ Shape { geometry DEF M " MESH " } ] boundingObject USE M", 0.2 },
    { "an old solid, looks by the mesh", R22,
      "scale 2 2 2 children [ Shape { geometry DEF M " MESH " } ] boundingObject Shape { geometry USE M }", 0.2 },
};

static double rest(const char *folder, const Case *test, const char *rotation)
{
    Text text = { 0 };
    text_printf(
        &text,
        "%sWorldInfo { basicTimeStep 4 }\nViewpoint { }\nSolid { name \"floor\" boundingObject Plane { size 20 20 } }\n"
        "DEF A Solid { translation 0 0 0.6 rotation %s name \"a\" %s " HEAVY " }\n",
        test->header, rotation, test->body);
    DiagSink *diags = diag_create();
    char path[512];
    snprintf(path, sizeof path, "%s/test.wbt", folder);
    Sim *sim = sim_load_text(path, text.data, text.length, NULL, diags);
    CHECK(sim, test->name);
    for (int i = 0; i < 1500; i++)
        sim_step(sim);
    sim_sync_scene(sim);
    double z = scene_vec3(scene_find_def(sim_scene(sim), "A"), "translation").z;
    sim_destroy(sim);
    diag_destroy(diags);
    text_free(&text);
    return z;
}

static const char *scratch(void)
{
    static char path[512];
    const char *folder = support_scratch("scale");
    snprintf(path, sizeof path, "%s/wedge.obj", folder);
    support_write(path, WEDGE);
    return folder;
}

static void scaled_shapes_collide_scaled(void **state)
{
    (void)state;
    const char *folder = scratch();
    for (int i = 0; i < COUNT_OF(cases); i++)
        CHECK_NEAR(rest(folder, &cases[i], "0 0 1 0"), cases[i].rests_at, 0.002, cases[i].name);
}

// Mirrored along z the point looks down: held still by its symmetry, it balances or falls, but never sinks. Turned over
// by half a turn it stands on its base again.
static void mirrored_shapes_collide_mirrored(void **state)
{
    (void)state;
    const char *folder = scratch();
    static const Case mirrored = { "mirrored", R25, "boundingObject Transform { scale 1 1 -1 children [ " MESH " ] }",
                                   0.1 };
    static const Case sideways = { "mirrored sideways", R25,
                                   "boundingObject Transform { scale -1 1 1 children [ " MESH " ] }", 0.1 };
    static const Case turned = {
        "turned in a mirror", R25,
        "boundingObject Transform { scale 1 1 -1 children [ Pose { rotation 1 0 0 3.14159265358979 children [ " MESH
        " ] } ] }",
        0.1
    };
    CHECK_NEAR(rest(folder, &mirrored, "1 0 0 3.14159265358979"), 0.1, 0.002, "on its base");
    CHECK_NEAR(rest(folder, &sideways, "0 0 1 0"), 0.1, 0.002, "the base stays below");
    CHECK_NEAR(rest(folder, &turned, "0 0 1 0"), 0.1, 0.002, "a turn inside of a mirror");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scaled_shapes_collide_scaled),
        cmocka_unit_test(mirrored_shapes_collide_mirrored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
