// PROTOs of the library in old and new worlds. Each row places one PROTO in a world of an old release, whose axes have
// y up, and gives the box in the world that it must fill; the same row for a new world, whose axes have z up.
#include "base/diag.h"
#include "base/text.h"
#include "formats/formats.h"
#include "support/support.h"

#include <float.h>
#include <math.h>

typedef struct Case {
    const char *release;
    const char *node;
    Vec3 low, high;        // of all boxes, cylinders and spheres, in the world
    const char *look_for;  // only below the Solid of this name; NULL: everything
} Case;

#define OLD "R2020a"
#define NEW "R2023b"

static const Case cases[] = {
    // A wall of 1 m by 2.4 m, 0.2 m thick, along the old x axis.
    { OLD, "Wall { translation 2 0 3 size 1 2.4 0.2 }", { 1.5, 0, 2.9 }, { 2.5, 2.4, 3.1 }, NULL },
    { OLD, "Wall { rotation 0 1 0 1.5707963 size 1 2.4 0.2 }", { -0.1, 0, -0.5 }, { 0.1, 2.4, 0.5 }, NULL },
    { OLD, "Wall { }", { -0.5, 0, -0.1 }, { 0.5, 2.4, 0.1 }, NULL },
    { NEW, "Wall { translation 2 3 0 size 0.2 1 2.4 }", { 1.9, 2.5, 0 }, { 2.1, 3.5, 2.4 }, NULL },
    { OLD, "WoodenBox { translation 0 1 0 size 0.2 0.4 0.6 }", { -0.1, 0.8, -0.3 }, { 0.1, 1.2, 0.3 }, NULL },
    { OLD, "WoodenBox { }", { -0.3, 0, -0.3 }, { 0.3, 0.6, 0.3 }, NULL },  // default height 0.3
    { NEW, "WoodenBox { size 0.2 0.4 0.6 }", { -0.1, -0.2, 0 }, { 0.1, 0.2, 0.6 }, NULL },
    { OLD, "Table { size 2 0.7 1 }", { -1, 0, -0.5 }, { 1, 0.7, 0.5 }, NULL },
    { OLD, "SolidBox { translation 0 0 0 size 1 2 3 }", { -0.5, -1, -1.5 }, { 0.5, 1, 1.5 }, NULL },
    { OLD,
      "RectangleArena { floorSize 2 3 wallHeight 0.5 wallThickness 0.1 }",
      { -1.1, 0, -1.6 },
      { 1.1, 0.5, 1.6 },
      NULL },
    { NEW,
      "RectangleArena { floorSize 2 3 wallHeight 0.5 wallThickness 0.1 }",
      { -1.1, -1.6, 0 },
      { 1.1, 1.6, 0.5 },
      NULL },
    // Its back is at -x.
    { OLD, "Sofa { }", { -0.5, 0, -0.9 }, { 0.5, 0.814, 0.9 }, NULL },
    { OLD, "Can { }", { -0.0318, 0, -0.0318 }, { 0.0318, 0.1222, 0.0318 }, NULL },
    { OLD, "OilBarrel { translation 0 0.5 0 height 1 radius 0.2 }", { -0.2, 0, -0.2 }, { 0.2, 1, 0.2 }, NULL },
    { OLD, "WoodenPallet { size 0.8 0.14 1.2 }", { -0.4, 0, -0.6 }, { 0.4, 0.14, 0.6 }, NULL },
    // The left wheel of an e-puck is at -x of the old axes, its front is -z.
    { OLD, "E-puck { translation 1 0 2 }", { 0.9715, 0, 1.98 }, { 0.9765, 0.04, 2.02 }, "left wheel" },
    { NEW, "E-puck { translation 1 2 0 }", { 0.98, 2.0235, 0 }, { 1.02, 2.0285, 0.04 }, "left wheel" },
    // What a slot holds stays where the old axes put it, and so does what is fixed to a car.
    { OLD,
      "E-puck { turretSlot [ Solid { translation 0.01 0.02 0.03 name \"probe\" children [ Shape { geometry Box { size 0.002 0.004 0.006 } } ] } ] }",
      { 0.009, 0.0666, 0.0365 },
      { 0.011, 0.0706, 0.0425 },
      "probe" },
    { OLD,
      "BmwX5 { translation 0 0.4 0 sensorsSlotFront [ Solid { translation 0 0.1 -0.2 name \"probe\" children [ Shape { geometry Box { size 0.02 0.02 0.02 } } ] } ] }",
      { -0.01, 0.94, 4.04 },
      { 0.01, 0.96, 4.06 },
      "probe" },
    // Nao and the Mavic had z up before the others: so laid on their backs they stand, this one with its front to -x.
    { OLD,
      "Mavic2Pro { translation 0 0.1 0 rotation 0 0.70710678 0.70710678 3.14159265 }",
      { -0.063, 0.077, 0.147 },
      { -0.057, 0.083, 0.153 },
      "front left led" },
    { OLD, "Nao { }", { 0, 0, 0 }, { 0, 0, 0 }, "?height" },
    // Where z is up, as by default from R2020b on, a robot that had z up stands without being laid on its back.
    { "R2021b",
      "Mavic2Pro { translation 0 0 0.1 }",
      { 0.057, 0.147, 0.077 },
      { 0.063, 0.153, 0.083 },
      "front left led" },
    { "R2021b", "SummitXlSteel { }", { 0.0995, 0.1645, -0.005 }, { 0.3455, 0.2445, 0.241 }, "front_left_wheel_link" },
};

typedef struct Box {
    Vec3 low, high;
    const char *look_for;
    bool found;
} Box;

static void add_point(Box *box, Vec3 p)
{
    box->low = vec3(fmin(box->low.x, p.x), fmin(box->low.y, p.y), fmin(box->low.z, p.z));
    box->high = vec3(fmax(box->high.x, p.x), fmax(box->high.y, p.y), fmax(box->high.z, p.z));
    box->found = true;
}

static bool is_below(const SceneNode *node, const char *name)
{
    for (; node; node = scene_parent(node))
        if (scene_node_is(node, "Solid") && !strcmp(scene_string(node, "name"), name))
            return true;
    return false;
}

static bool measure(SceneNode *node, void *context)
{
    Box *box = context;
    if (!scene_node_is(node, "Shape") || node->in_bounding || (box->look_for && !is_below(node, box->look_for)))
        return true;
    const SceneNode *geometry = scene_child(node, "geometry");
    Vec3 half;
    if (scene_node_is(geometry, "Box")) {
        half = vec3_scale(scene_vec3(geometry, "size"), 0.5);
    } else if (scene_node_is(geometry, "Cylinder")) {
        double r = scene_float(geometry, "radius");
        half = vec3(r, r, scene_float(geometry, "height") / 2);
    } else if (scene_node_is(geometry, "Sphere")) {
        double r = scene_float(geometry, "radius");
        half = vec3(r, r, r);
    } else {
        return true;
    }
    Pose pose = scene_world_pose(node);
    for (int i = 0; i < 8; i++)
        add_point(box,
                  pose_apply(pose, vec3(i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y, i & 4 ? half.z : -half.z)));
    return true;
}

static void check_case(const Case *row)
{
    Text world = { 0 };
    text_printf(&world, "#VRML_SIM %s utf8\n", row->release);
    if (!strcmp(row->release, NEW)) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(row->node, " "), row->node);
        text_printf(&world, "EXTERNPROTO \"webots://projects/x/protos/%s.proto\"\n", name);
    }
    text_printf(&world, "WorldInfo { }\nViewpoint { }\n%s\n", row->node);
    DiagSink *diags = diag_create();
    Scene *scene = formats_load_text("axes.wbt", world.data, world.length, NULL, diags);
    CHECK(scene && diag_total(diags, DIAG_ERROR) == 0, row->node);
    bool is_height = row->look_for && !strcmp(row->look_for, "?height");
    Box box = { vec3(DBL_MAX, DBL_MAX, DBL_MAX), vec3(-DBL_MAX, -DBL_MAX, -DBL_MAX), is_height ? NULL : row->look_for,
                false };
    scene_walk(scene_root(scene), true, measure, &box);
    CHECK(box.found, row->node);
    if (is_height) {  // stands upright on the ground of an old world
        CHECK_NEAR(box.low.y, 0.0, 0.01, row->node);
        CHECK(box.high.y > 0.4 && box.high.x < 0.3 && box.high.z < 0.3, row->node);
    } else {
        const double *low = &box.low.x, *high = &box.high.x, *want_low = &row->low.x, *want_high = &row->high.x;
        for (int i = 0; i < 3; i++) {
            CHECK_NEAR(low[i], want_low[i], 2e-3, row->node);
            CHECK_NEAR(high[i], want_high[i], 2e-3, row->node);
        }
    }
    scene_destroy(scene);
    diag_destroy(diags);
    text_free(&world);
}

static void test_instances_stand_where_the_world_put_them(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(cases); i++)
        check_case(&cases[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_instances_stand_where_the_world_put_them) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
