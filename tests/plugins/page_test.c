// docs/plugins.md says what the code does: the figure and line of the callbacks' order, the tables and sentences about
// ODE objects.
#include "support/plugin_world.h"

#include <stdlib.h>
#include <string.h>

// The text between two marks of the page.
static char *section(const char *from, const char *to)
{
    char *text = support_read("docs/plugins.md");
    assert_non_null(text);
    const char *start = strstr(text, from), *end = start ? strstr(start + strlen(from), to) : NULL;
    CHECK(start && end, from);
    size_t length = (size_t)(end - start);
    memmove(text, start, length);
    text[length] = '\0';
    return text;
}

// ---- the order of callbacks ----

static const char *const names[] = { "init", "collide*", "step", "step_end", "cleanup" };

static void add_callback(Text *out, const char *word, size_t length)
{
    for (int i = 0; i < COUNT_OF(names); i++)
        if (strlen(names[i]) == length && !strncmp(names[i], word, length))
            text_printf(out, "%s%.*s", out->length ? " " : "", (int)strcspn(names[i], "*"), names[i]);
}

// Callbacks in a line of the figure: in one that starts with a word at the margin all of them, else the first word
// alone.
static void add_line(Text *out, const char *line, size_t length)
{
    const char *end = line + length, *at = line;
    bool is_chain = *line >= 'a' && *line <= 'z';
    while (at < end) {
        size_t word = strcspn(at, " \n");
        bool is_word = *at >= 'a' && *at <= 'z';
        if (is_word)
            add_callback(out, at, word);
        if (is_word && !is_chain)
            return;
        at += word;
        at += strspn(at, " \n");
    }
}

// A load, two steps, a reset, a step and the end, as the figure has them.
static void read_figure(Text *out)
{
    char *figure = section("## Execution scheme", "The order of callbacks");
    Text chains[3] = { { 0 } }, loop = { 0 };
    static const char *const starts[] = { "load", "reset", "end" };
    for (const char *line = figure; *line; line += strcspn(line, "\n") + (line[strcspn(line, "\n")] == '\n')) {
        Text *target = &loop;
        for (int i = 0; i < COUNT_OF(starts); i++)
            if (!strncmp(line, starts[i], strlen(starts[i])))
                target = &chains[i];
        add_line(target, line, strcspn(line, "\n"));
    }
    assert_true(loop.length && chains[0].length && chains[1].length && chains[2].length);
    text_printf(out, "%s %s %s %s %s %s", chains[0].data, loop.data, loop.data, chains[1].data, loop.data,
                chains[2].data);
    text_free(&loop);
    for (int i = 0; i < COUNT_OF(chains); i++)
        text_free(&chains[i]);
    free(figure);
}

static void test_order(void **state)
{
    (void)state;
    compile(
        "gcc", "order",
        "#include <plugins/physics.h>\n"
        "#include <string.h>\n"
        "static char last[20];\n"
        "static void say(const char *what) { if (strcmp(last, what)) dWebotsConsolePrintf(\"%s\", what); strcpy(last, what); }\n"
        "DLLEXPORT void webots_physics_init(void) { say(\"init\"); }\n"
        "DLLEXPORT void webots_physics_step(void) { say(\"step\"); }\n"
        "DLLEXPORT int webots_physics_collide(dGeomID a, dGeomID b) { (void)a; (void)b; say(\"collide\"); return 0; }\n"
        "DLLEXPORT void webots_physics_step_end(void) { say(\"step_end\"); }\n"
        "DLLEXPORT void webots_physics_cleanup(void) { say(\"cleanup\"); }\n",
        false);
    World world = world_open("order", falling);
    assert_true(world_start(&world, NULL));
    steps(&world, 2);
    assert_true(sim_reset(world.sim));
    steps(&world, 1);
    assert_true(sim_end_plugin(world.sim));
    Text seen = { 0 }, drawn = { 0 };
    for (const char *at = printed(&world); *at; at += strcspn(at, "\n") + 1) {
        at += strlen("[order] ");
        text_printf(&seen, "%s%.*s", seen.length ? " " : "", (int)strcspn(at, "\n"), at);
    }
    read_figure(&drawn);
    assert_string_equal(seen.data, drawn.data);
    char *text = section("as the test `plugins.page` sees it:\n\n    ", "\n\n##");
    const char *line = strstr(text, "    ") + 4;
    assert_string_equal(line, seen.data);
    free(text);
    text_free(&seen);
    text_free(&drawn);
    world_close(&world);
}

// ---- ODE objects ----

static void test_structure(void **state)
{
    (void)state;
    compile(
        "gcc", "structure",
        "#include <plugins/physics.h>\n"
        "#include <string.h>\n"
        "static void claim(int holds, const char *what) { dWebotsConsolePrintf(\"%s: %s\", holds ? \"holds\" : \"does not hold\", what); }\n"
        "static const char *geom(dGeomID g)\n"
        "{\n"
        "  switch (g ? dGeomGetClass(g) : -1) {\n"
        "  case dBoxClass: return \"dBoxClass\";\n"
        "  case dSphereClass: return \"dSphereClass\";\n"
        "  case dCapsuleClass: return \"dCapsuleClass\";\n"
        "  case dCylinderClass: return \"dCylinderClass\";\n"
        "  case dPlaneClass: return \"dPlaneClass\";\n"
        "  case dHeightfieldClass: return \"dHeightfieldClass\";\n"
        "  case dTriMeshClass: return \"dTriMeshClass\";\n"
        "  case dSimpleSpaceClass: return \"dSimpleSpaceClass\";\n"
        "  default: return \"none\";\n"
        "  }\n"
        "}\n"
        "static const char *joint(dBodyID b)\n"
        "{\n"
        "  for (int i = 0; b && i < dBodyGetNumJoints(b); i++)\n"
        "    switch (dJointGetType(dBodyGetJoint(b, i))) {\n"
        "    case dJointTypeHinge: return \"dJointTypeHinge\";\n"
        "    case dJointTypeSlider: return \"dJointTypeSlider\";\n"
        "    case dJointTypeBall: return \"dJointTypeBall\";\n"
        "    case dJointTypePU: return \"dJointTypePU\";\n"
        "    default: break;\n"
        "    }\n"
        "  return \"none\";\n"
        "}\n"
        "DLLEXPORT void webots_physics_init(void)\n"
        "{\n"
        "  static const char *const geoms[] = { \"Box\", \"Sphere\", \"Capsule\", \"Cylinder\", \"Plane\", \"ElevationGrid\", \"IndexedFaceSet\", \"Group\" };\n"
        "  static const char *const joints[] = { \"HingeJoint\", \"Hinge2Joint\", \"SliderJoint\", \"BallJoint\" };\n"
        "  for (int i = 0; i < 8; i++)\n"
        "    dWebotsConsolePrintf(\"| `%s` | `%s` |\", geoms[i], geom(dWebotsGetGeomFromDEF(geoms[i])));\n"
        "  for (int i = 0; i < 4; i++)\n"
        "    dWebotsConsolePrintf(\"| `%s` | `%s` |\", joints[i], joint(dWebotsGetBodyFromDEF(joints[i])));\n"
        "  dJointID hinge = dBodyGetJoint(dWebotsGetBodyFromDEF(\"HingeJoint\"), 0);\n"
        "  claim(dJointGetBody(hinge, 0) == dWebotsGetBodyFromDEF(\"PARENT0\") && dJointGetBody(hinge, 1) == dWebotsGetBodyFromDEF(\"HingeJoint\"),\n"
        "        \"The joint is attached as (parent body, child body)\");\n"
        "  claim(!strcmp(joint(dWebotsGetBodyFromDEF(\"SUSPENDED\")), \"dJointTypePU\"), \"A HingeJoint with suspension is a `dJointTypePU`\");\n"
        "  claim(dWebotsGetBodyFromDEF(\"FIXED\") == dWebotsGetBodyFromDEF(\"PARENT0\") && dWebotsGetBodyFromDEF(\"FIXED\"),\n"
        "        \"rigidly joined to their parent share its body\");\n"
        "  claim(dBodyGetPosition(dWebotsGetBodyFromDEF(\"SHIFTED\"))[2] == 50.25, \"position is the centre of mass\");\n"
        "  dGeomID box = dWebotsGetGeomFromDEF(\"Box\"), several = dWebotsGetGeomFromDEF(\"Group\");\n"
        "  claim(dGeomGetSpace(box) == dGeomGetSpace(dWebotsGetGeomFromDEF(\"Sphere\")) && dGeomGetSpace(several) == dGeomGetSpace(box) &&\n"
        "        dSpaceGetNumGeoms((dSpaceID)several) == 2, \"Geoms of a body with one shape lie in the world's space\");\n"
        "}\n"
        "DLLEXPORT void webots_physics_step(void) { }\n"
        "DLLEXPORT void webots_physics_cleanup(void) { }\n",
        false);
    static const char *const solids[][2] = {
        { "Box", "Box { }" },
        { "Sphere", "Sphere { }" },
        { "Capsule", "Capsule { }" },
        { "Cylinder", "Cylinder { }" },
        { "Plane", "Plane { }" },
        { "ElevationGrid", "ElevationGrid { xDimension 2 yDimension 2 height [ 0 0 0 0 ] }" },
        { "IndexedFaceSet",
          "IndexedFaceSet { coord Coordinate { point [ 0 0 0, 1 0 0, 0 1 0, 0 0 1 ] } coordIndex [ 0 2 1 -1 0 1 3 -1 1 2 3 -1 0 3 2 -1 ] }" },
        { "Group", "Group { children [ Box { } Sphere { } ] }" },
    };
    static const char *const joints[] = { "HingeJoint", "Hinge2Joint", "SliderJoint", "BallJoint" };
    Text nodes = { 0 };
    for (int i = 0; i < COUNT_OF(solids); i++)
        text_printf(&nodes, "DEF %s Solid { name \"%s\" translation %d 0 50 boundingObject %s %s }\n", solids[i][0],
                    solids[i][0], 10 * i, solids[i][1], i == 4 || i == 5 ? "" : "physics Physics { }");
    for (int i = 0; i < COUNT_OF(joints); i++)
        text_printf(
            &nodes,
            "DEF PARENT%d Solid { name \"p%d\" translation 0 %d 50 boundingObject Box { } physics Physics { } children [ %s %s { endPoint DEF %s Solid {\n"
            "name \"e\" translation 2 0 0 boundingObject Box { } physics Physics { } } } ] }\n",
            i, i, 10 + 10 * i,
            i == 0 ? "DEF FIXED Solid { name \"f\" translation 0 0 2 boundingObject Box { } physics Physics { } }" : "",
            joints[i], joints[i]);
    text_add_string(
        &nodes,
        "Solid { name \"s\" translation 0 60 50 boundingObject Box { } physics Physics { } children [ HingeJoint {\n"
        "jointParameters HingeJointParameters { suspensionSpringConstant 100 suspensionAxis 0 0 1 } endPoint DEF SUSPENDED Solid {\n"
        "name \"e\" translation 2 0 0 boundingObject Box { } physics Physics { } } } ] }\n"
        "DEF SHIFTED Solid { name \"c\" translation 0 70 50 boundingObject Box { } physics Physics { density -1 mass 1 centerOfMass [ 0 0 0.25 ] } }\n");
    World world = world_open("structure", nodes.data);
    text_free(&nodes);
    assert_true(world_start(&world, NULL));
    char *text = section("## Structure of ODE objects", "## When a plugin fails");
    int rows = 0, written = 0, claims = 0;
    for (const char *at = printed(&world); *at; at += strcspn(at, "\n") + 1) {
        at += strlen("[structure] ");
        char row[200];
        snprintf(row, sizeof row, "%.*s", (int)strcspn(at, "\n"), at);
        CHECK(strncmp(row, "does not hold", 13), row);
        bool is_claim = !strncmp(row, "holds: ", 7);
        CHECK(strstr(text, is_claim ? row + 7 : row), row);
        rows += !is_claim;
        claims += is_claim;
    }
    for (const char *at = text; (at = strstr(at, "\n| `")); at++)
        written++;
    assert_int_equal(rows, written);  // no row of the page is left unseen
    assert_int_equal(claims, 5);
    free(text);
    world_close(&world);
}

int main(void)
{
    plugin_scratch("plugin_page");
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_order), cmocka_unit_test(test_structure) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
