// Friction and bounce as fields of Physics, as V5 and V6 have them: they act wherever the Physics stands.
#include "sim/sim.h"

#include "base/file.h"
#include "support/support.h"

#define V6 "#VRML_SIM V6.0 utf8\n"
#define BALL "boundingObject Sphere { radius 0.1 }"
#define LIVELY "Physics { density -1 mass 0.01 bounce 1 bounceVelocity 0 }"

static const struct {
    const char *name, *text;
} protos[] = {
    { "Given", V6
      "PROTO Given [ field SFVec3f translation 0 0 0 field SFNode physics NULL ] { Solid { translation IS translation " BALL
      " physics IS physics } }" },
    { "Number", V6
      "PROTO Number [ field SFVec3f translation 0 0 0 field SFFloat bounce 0 ] { Solid { translation IS translation " BALL
      " physics Physics { density -1 mass 0.01 bounce IS bounce bounceVelocity 0 } } }" },
    { "Own", V6 "PROTO Own [ field SFVec3f translation 0 0 0 ] { Solid { translation IS translation " BALL
                " physics " LIVELY " } }" },
};

static const struct {
    const char *name, *header, *node;
    bool is_lively;
} cases[] = {
    { "plain", V6, "DEF A Solid { translation 0 1 0 " BALL " physics " LIVELY " }", true },
    { "by USE", V6,
      "Solid { name \"other\" translation 5 1 0 " BALL " physics DEF P " LIVELY
      " } DEF A Solid { translation 0 1 0 " BALL " physics USE P }",
      true },
    { "given to a PROTO", V6, "DEF A Given { translation 0 1 0 physics " LIVELY " }", true },
    { "a number given to a PROTO", V6, "DEF A Number { translation 0 1 0 bounce 1 }", true },
    { "of a PROTO", V6, "DEF A Own { translation 0 1 0 }", true },
    { "nothing said", V6, "DEF A Solid { translation 0 1 0 " BALL " physics Physics { density -1 mass 0.01 } }",
      false },
    { "a material of its own", V6,
      "DEF A Solid { translation 0 1 0 contactMaterial \"x\" " BALL " physics " LIVELY " }", false },
};

// Height at which a ball turns around after its first touch, dropped from 1 m onto a floor that has no Physics and so
// leaves bounce to the ball: all of its speed, or the default half of it and so a quarter of its height of fall. It is
// light, so that softCFM takes nothing off.
static double rebound(int index, const char *folder)
{
    char path[512];
    snprintf(path, sizeof path, "%s/worlds/test.wbt", folder);
    Text text = { 0 };
    text_printf(
        &text,
        "%sWorldInfo { basicTimeStep 2 }\nSolid { name \"floor\" translation 0 -0.1 0 boundingObject Box { size 20 0.2 20 } }\n%s\n",
        cases[index].header, cases[index].node);
    DiagSink *diags = diag_create();
    Sim *sim = sim_load_text(path, text.data, text.length, NULL, diags);
    CHECK(sim && !diag_has_errors(diags), cases[index].name);
    double highest = 0.0;
    bool has_touched = false;
    for (int i = 0; i < 500; i++) {
        sim_step(sim);
        sim_sync_scene(sim);
        double y = scene_vec3(scene_find_def(sim_scene(sim), "A"), "translation").y;
        has_touched = has_touched || y < 0.11;
        highest = has_touched && y > highest ? y : highest;
    }
    sim_destroy(sim);
    diag_destroy(diags);
    text_free(&text);
    return highest;
}

static void contact_fields_of_physics_act(void **state)
{
    (void)state;
    const char *folder = support_scratch("old_contact");
    char path[512];
    snprintf(path, sizeof path, "%s/protos", folder);
    file_make_directories(path);
    snprintf(path, sizeof path, "%s/worlds", folder);
    file_make_directories(path);
    for (int i = 0; i < COUNT_OF(protos); i++) {
        snprintf(path, sizeof path, "%s/protos/%s.proto", folder, protos[i].name);
        support_write(path, protos[i].text);
    }
    for (int i = 0; i < COUNT_OF(cases); i++) {
        double kept = cases[i].is_lively ? 1.0 : 0.5;
        CHECK_NEAR(rebound(i, folder), 0.1 + 0.9 * kept * kept, 0.03, cases[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(contact_fields_of_physics_act) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
