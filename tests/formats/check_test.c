// What formats_check says, and what it leaves alone. The names C01 and so on are those of the scenes that are known to
// have broken simulators.
#include "formats/formats.h"

#include "support/support.h"

#define HEADER "#VRML_SIM R2025a utf8\nWorldInfo { }\nViewpoint { }\n"

static Scene *load(const char *text, DiagSink *diags)
{
    return formats_load_text("test.wbt", text, strlen(text), NULL, diags);
}

static Scene *load_body(const char *body, DiagSink *diags)
{
    Text text = { 0 };
    text_add_string(&text, HEADER);
    text_add_string(&text, body);
    Scene *scene = load(text.data, diags);
    text_free(&text);
    return scene;
}

static bool has_message(const DiagSink *diags, DiagSeverity severity, const char *part)
{
    for (int i = 0; i < diag_count(diags); i++)
        if (diag_at(diags, i)->severity == severity && strstr(diag_at(diags, i)->message, part))
            return true;
    return false;
}

static const struct MessageCase {
    const char *name, *world;
    DiagSeverity severity;
    const char *message;
} message_cases[] = {
    // forms of older releases
    { "a vector of gravity", "Group { } WorldInfo { gravity 0 0 -9.81 }", DIAG_WARNING,
      "gravity is of type SFFloat; a value of type SFVec3f, as up to R2020a, is converted" },
    // positions
    { "C01 Solid in boundingObject",
      "Solid { children [ DEF B Group { children [ Solid { name \"x\" physics Physics { } boundingObject Box { } } ] } ] boundingObject USE B physics Physics { } }",
      DIAG_ERROR, "Solid is not allowed inside of a boundingObject" },
    { "WorldInfo inside", "Group { children [ WorldInfo { } ] }", DIAG_ERROR, "WorldInfo stands at the root" },
    { "Fog inside", "Solid { children [ Fog { } ] }", DIAG_ERROR, "Fog stands at the root" },
    { "second WorldInfo", "WorldInfo { title \"b\" }", DIAG_WARNING, "a world has one WorldInfo" },
    { "second Viewpoint", "Viewpoint { }", DIAG_WARNING, "a world has one Viewpoint" },
    { "Physics as child", "Solid { children [ Physics { } ] }", DIAG_ERROR,
      "Physics cannot stand in children of Solid" },
    { "Box as physics", "Solid { physics Box { } }", DIAG_ERROR, "Box cannot stand in physics of Solid" },
    { "name in a field of old files",
      "Shape { geometry IndexedFaceSet { color DEF F IndexedFaceSet { coord Material { } } } } Solid { boundingObject USE F }",
      DIAG_ERROR, "Material cannot stand in coord of IndexedFaceSet" },
    { "Material as geometry", "Shape { geometry Material { } }", DIAG_ERROR,
      "Material cannot stand in geometry of Shape" },
    { "motor as child", "Robot { children [ RotationalMotor { } ] }", DIAG_ERROR,
      "RotationalMotor cannot stand in children of Robot" },
    { "linear motor in a hinge", "Robot { children [ HingeJoint { device LinearMotor { } endPoint Solid { } } ] }",
      DIAG_ERROR, "LinearMotor cannot stand in device of HingeJoint" },
    { "hinge parameters in a slider",
      "Robot { children [ SliderJoint { jointParameters HingeJointParameters { } endPoint Solid { } } ] }", DIAG_ERROR,
      "HingeJointParameters cannot stand in jointParameters of SliderJoint" },
    { "Shape as endPoint", "Robot { children [ HingeJoint { endPoint Shape { } } ] }", DIAG_ERROR,
      "Shape cannot stand in endPoint of HingeJoint" },
    { "SolidReference as child", "Solid { children [ SolidReference { } ] }", DIAG_ERROR,
      "a SolidReference stands in the endPoint" },
    { "Solid in Transform", "Transform { scale 2 2 2 children [ Solid { } ] }", DIAG_ERROR,
      "Solid must not stand inside of a Transform with scale" },
    { "joint in Transform",
      "Solid { children [ Transform { scale 2 2 2 children [ HingeJoint { endPoint Solid { } } ] } ] }", DIAG_ERROR,
      "HingeJoint must not stand inside of a Transform" },
    { "joint without Solid", "Group { children [ HingeJoint { endPoint Solid { } } ] }", DIAG_ERROR,
      "HingeJoint needs a Solid above it" },
    { "Propeller without Solid", "Propeller { }", DIAG_ERROR, "Propeller needs a Solid above it" },
    { "TrackWheel in Solid", "Solid { children [ TrackWheel { } ] }", DIAG_ERROR,
      "a TrackWheel stands among the children of a Track" },
    { "device outside", "Solid { children [ GPS { } ] }", DIAG_WARNING, "GPS is a device but not inside of a Robot" },
    { "VRML97 node", "Switch { }", DIAG_WARNING, "Switch is a node of VRML97 files" },
    { "USE of a Solid", "DEF A Solid { } Group { children [ USE A ] }", DIAG_WARNING,
      "USE of a Solid, which can only be in one place" },
    { "two motors",
      "Robot { children [ HingeJoint { device [ RotationalMotor { name \"a\" } RotationalMotor { name \"b\" } ] endPoint Solid { } } ] }",
      DIAG_WARNING, "a second RotationalMotor for the same axis" },
    { "two sensors of the second axis",
      "Robot { children [ Hinge2Joint { device2 [ PositionSensor { name \"a\" } PositionSensor { name \"b\" } ] endPoint Solid { } } ] }",
      DIAG_WARNING, "a second PositionSensor for the same axis" },
    // bounding objects
    { "cone", "Solid { boundingObject Cone { } }", DIAG_ERROR, "Cone cannot collide" },
    { "cone in Shape", "Solid { boundingObject Shape { geometry Cone { } } }", DIAG_ERROR, "Cone cannot collide" },
    { "points in Group", "Solid { boundingObject Group { children [ Pose { children [ PointSet { } ] } ] } }",
      DIAG_ERROR, "PointSet cannot collide" },
    { "CadShape", "Solid { boundingObject CadShape { } }", DIAG_ERROR,
      "CadShape is not allowed inside of a boundingObject" },
    { "joint", "Solid { boundingObject Group { children [ HingeJoint { } ] } }", DIAG_ERROR,
      "HingeJoint is not allowed inside of a boundingObject" },
    { "C07 Shape without geometry", "Robot { children [ Track { boundingObject Shape { } } ] }", DIAG_WARNING,
      "a Shape without geometry in a boundingObject" },
    { "several in Pose", "Solid { boundingObject Pose { children [ Box { } Sphere { } ] } }", DIAG_WARNING,
      "only the first of 2 children of a Pose" },
    { "empty Group", "Solid { boundingObject Group { } }", DIAG_WARNING, "an empty Group in a boundingObject" },
    { "C37 grid with Physics",
      "Solid { boundingObject ElevationGrid { xDimension 2 yDimension 2 height [ 0 0 0 0 ] } physics Physics { } }",
      DIAG_ERROR, "ElevationGrid is for things that do not move" },
    { "C37 plane with Physics",
      "Solid { boundingObject Pose { children [ Shape { geometry Plane { } } ] } physics Physics { } }", DIAG_ERROR,
      "Plane is for things that do not move" },
    { "physics alone", "Solid { physics Physics { } }", DIAG_WARNING, "Physics without a boundingObject" },
    { "flat grid", "Solid { boundingObject ElevationGrid { } }", DIAG_WARNING, "less than 2 x 2 points" },
    // names
    { "same name", "Solid { name \"a\" } Group { children [ Solid { name \"a\" } ] }", DIAG_WARNING,
      "a second Solid named \"a\"" },
    { "same device", "Robot { children [ GPS { } Solid { children [ GPS { } ] } ] }", DIAG_WARNING,
      "a second device named \"gps\"" },
    { "colon", "Solid { name \"a:b\" }", DIAG_WARNING, "contains ':'" },
    // numbers
    { "C03 CFM 0", "WorldInfo { CFM 0 }", DIAG_WARNING, "CFM 0 is outside" },
    { "C03 CFM huge", "WorldInfo { CFM 1e300 }", DIAG_WARNING, "CFM 1e+300 is outside" },
    { "C03 ERP negative", "WorldInfo { ERP -1 }", DIAG_WARNING, "ERP -1 is outside" },
    { "C03 nan", "WorldInfo { ERP nan }", DIAG_ERROR, "is not a finite number" },
    { "C05 too few heights", "Solid { boundingObject ElevationGrid { xDimension 2 yDimension 2 height [ 1 2 ] } }",
      DIAG_WARNING, "2 heights for 4 grid points; the missing ones are 0" },
    { "C05 too many heights",
      "Solid { boundingObject ElevationGrid { xDimension 2 yDimension 2 height [ 1 2 3 4 5 ] } }", DIAG_WARNING,
      "5 heights for 4 grid points; those beyond are ignored" },
    { "huge grid", "Shape { geometry ElevationGrid { xDimension 2000000000 yDimension 2000000000 } }", DIAG_ERROR,
      "grid points are more than" },
    { "C19 flat scale", "Transform { scale 1 0 1 children [ Shape { geometry Box { } } ] }", DIAG_ERROR,
      "makes everything flat" },
    { "VRML97's centre", "Transform { center 1 2 3 rotation 0 0 1 1 }", DIAG_WARNING, "center is no longer known" },
    { "C19 zero scale", "Transform { scale 0 0 0 }", DIAG_WARNING, "scale must not be the zero vector" },
    { "C27 million layers", "Robot { children [ Lidar { numberOfLayers 1000000 } ] }", DIAG_ERROR,
      "numberOfLayers 1000000 is more than" },
    { "C27 no layers", "Robot { children [ Lidar { numberOfLayers 0 } ] }", DIAG_WARNING,
      "numberOfLayers 0 is outside" },
    { "C33 one value", "Robot { battery [ 0 ] }", DIAG_WARNING, "battery takes three values" },
    { "C33 two values", "Charger { battery [ 1 2 ] }", DIAG_WARNING, "battery takes three values" },
    { "C51 heights", "Shape { geometry ElevationGrid { xDimension 1 yDimension 1 height [ 1e308 ] } }", DIAG_ERROR,
      "is beyond 1e+09 m" },
    { "C51 spacing", "Shape { geometry ElevationGrid { xSpacing 1e308 } }", DIAG_ERROR, "xSpacing 1e+308 is beyond" },
    { "C53 tiny mass", "Solid { boundingObject Box { } physics Physics { mass 1e-300 } }", DIAG_ERROR,
      "mass 1e-300 is outside" },
    { "planet", "Solid { boundingObject Box { } physics Physics { mass 6e24 } }", DIAG_WARNING,
      "mass 6e+24 is more than" },
    { "more than a turn", "Robot { children [ RangeFinder { fieldOfView 6.2833 } ] }", DIAG_WARNING,
      "fieldOfView 6.2833 is outside of" },
    { "C59 size 0", "Shape { geometry Box { size 0 1 1 } }", DIAG_WARNING, "size 0 is outside of >0" },
    { "no mass", "Solid { boundingObject Box { } physics Physics { density -1 } }", DIAG_WARNING,
      "neither mass nor density" },
    { "inertia rows", "Solid { boundingObject Box { } physics Physics { inertiaMatrix [ 1 1 1 ] } }", DIAG_WARNING,
      "inertiaMatrix takes two rows" },
    { "inertia impossible",
      "Solid { boundingObject Box { } physics Physics { mass 1 centerOfMass [ 0 0 0 ] inertiaMatrix [ 1 1 -1, 0 0 0 ] } }",
      DIAG_WARNING, "not positive definite" },
    { "inertia alone", "Solid { boundingObject Box { } physics Physics { inertiaMatrix [ 1 1 1, 0 0 0 ] } }",
      DIAG_WARNING, "counts only together with mass" },
    { "two centres", "Solid { boundingObject Box { } physics Physics { centerOfMass [ 0 0 0, 1 1 1 ] } }", DIAG_WARNING,
      "centerOfMass takes one point" },
    { "collinear axes",
      "Robot { children [ Hinge2Joint { jointParameters HingeJointParameters { axis 0 0 1 } jointParameters2 JointParameters { axis 0 0 -2 } endPoint Solid { } } ] }",
      DIAG_ERROR, "must not point the same way" },
    { "motor limits",
      "Robot { children [ HingeJoint { jointParameters HingeJointParameters { position 3 } device RotationalMotor { minPosition -1 maxPosition 1 } endPoint Solid { } } ] }",
      DIAG_WARNING, "position 3 is outside of the motor's" },
    { "motor beyond stops",
      "Robot { children [ HingeJoint { jointParameters HingeJointParameters { minStop -0.5 maxStop 0.5 } device RotationalMotor { minPosition -1 maxPosition 1 } endPoint Solid { } } ] }",
      DIAG_WARNING, "reach beyond the stops" },
    { "limits reversed",
      "Robot { children [ HingeJoint { device RotationalMotor { minPosition 1 maxPosition -1 } endPoint Solid { } } ] }",
      DIAG_WARNING, "minPosition 1 is greater than maxPosition -1" },
    { "bad index", "Shape { geometry IndexedFaceSet { coord Coordinate { point [ 0 0 0 ] } coordIndex [ 0 1 2 ] } }",
      DIAG_ERROR, "coordIndex names point 1, but there are 1" },
    { "wide camera", "Robot { children [ Camera { fieldOfView 4 } ] }", DIAG_WARNING, "must be less than pi" },
    { "huge camera", "Robot { children [ Camera { width 1000000 } ] }", DIAG_ERROR, "width 1000000 is more than" },
    { "laser with rays", "Robot { children [ DistanceSensor { type \"laser\" numberOfRays 3 } ] }", DIAG_WARNING,
      "a laser has one ray" },
    { "ranges reversed", "Robot { children [ Lidar { minRange 2 maxRange 1 } ] }", DIAG_WARNING,
      "minRange 2 is greater than maxRange 1" },
    { "missing reference", "Solid { children [ HingeJoint { endPoint SolidReference { solidName \"nobody\" } } ] }",
      DIAG_WARNING, "there is no Solid named \"nobody\"" },
    { "no end point", "Solid { children [ HingeJoint { } ] }", DIAG_WARNING, "HingeJoint without endPoint" },
};

static void every_mistake_has_its_message(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(message_cases); i++) {
        const struct MessageCase *row = &message_cases[i];
        DiagSink *diags = diag_create();
        Scene *scene = load_body(row->world, diags);
        if (!has_message(diags, row->severity, row->message))
            diag_print(diags, stdout, 0, DIAG_NOTE);
        CHECK(scene && has_message(diags, row->severity, row->message), row->name);
        scene_destroy(scene);
        diag_destroy(diags);
    }
}

// Worlds about which nothing is said.
static const struct {
    const char *name, *world;
} clean_cases[] = {
    { "C09 USE of its own Shape",
      "Group { children [ Solid { name \"floor\" boundingObject Plane { } } ] }"
      "Robot { children [ SliderJoint { jointParameters JointParameters { } device LinearMotor { }"
      " endPoint Solid { children [ DEF S Shape { geometry Box { size 1 1 1 } } ] boundingObject USE S physics Physics { } } } ] }" },
    { "a turn in six digits", "Robot { children [ Lidar { fieldOfView 6.28319 } ] }" },
    { "C11 Track with Group",
      "Robot { children [ Track { children [ Group { } TrackWheel { } ] device [ LinearMotor { } PositionSensor { } Brake { } ] } ] }" },
    { "C21 own mass without bounding volume",
      "Solid { physics Physics { mass 1 density -1 centerOfMass [ 0 0 0 ] inertiaMatrix [ 1 1 1, 0 0 0 ] } }" },
    { "Robot in Pose",
      "Pose { children [ Group { children [ Robot { children [ Camera { } Robot { name \"inner\" children [ Camera { } ] } ] } ] } ] }" },
    { "forms of bounding",
      "Solid { boundingObject Group { children [ Box { } Capsule { } Cylinder { } IndexedFaceSet { } Mesh { } Plane { } Sphere { }"
      " Shape { geometry Box { } } Pose { children [ Shape { geometry Sphere { } } ] } ElevationGrid { xDimension 2 yDimension 2 height [ 1 2 3 4 ] } ] } }" },
    { "coupled motors",
      "Robot { children [ HingeJoint { device RotationalMotor { name \"m\" } endPoint Solid { name \"a\" } }"
      " HingeJoint { device RotationalMotor { name \"m\" } endPoint Solid { name \"b\" } } ] }" },
    { "Connector in a Solid", "Solid { children [ Connector { } ] }" },
    { "loop of joints",
      "Solid { name \"a\" children [ BallJoint { endPoint Solid { name \"b\" children [ HingeJoint { endPoint SolidReference { solidName \"a\" } } ] } } ] }" },
    { "Slot",
      "Solid { children [ Slot { endPoint Slot { endPoint Solid { name \"x\" } } } HingeJoint { endPoint Slot { endPoint Solid { } } } ] }" },
    { "only looks in Transform",
      "Transform { scale 1 2 3 children [ Shape { geometry Sphere { } } Group { children [ PointLight { } ] } ] }" },
    { "same names apart",
      "Solid { name \"a\" children [ Solid { name \"x\" } ] } Solid { name \"b\" children [ Solid { name \"x\" } ] }" },
};

static void right_worlds_are_left_alone(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(clean_cases); i++) {
        DiagSink *diags = diag_create();
        Scene *scene = load_body(clean_cases[i].world, diags);
        diag_print(diags, stdout, 0, DIAG_NOTE);
        CHECK(scene && diag_count(diags) == 0, clean_cases[i].name);
        scene_destroy(scene);
        diag_destroy(diags);
    }
}

static void mended_values_are_safe(void **state)
{
    (void)state;
    static const char world[] =
        "#VRML_SIM R2025a utf8\nWorldInfo { basicTimeStep 1e9 contactProperties [ ContactProperties { coulombFriction [ 1 2 3 4 5 ] forceDependentSlip [ ] } ] }\n"
        "Viewpoint { }\nDEF S Solid { boundingObject ElevationGrid { xDimension 3 yDimension 2 height [ 1 2 ] } physics Box { } }\n"
        "DEF R Robot { battery [ 1 ] children [ DEF L Lidar { numberOfLayers 1000000 } ] }\nDEF T Transform { scale 0 2 3 }\n"
        "DEF P Transform { scale 1 0 1 children [ Group { } ] }\n";
    DiagSink *diags = diag_create();
    Scene *scene = load(world, diags);
    const SceneNode *info = scene_list_node(scene_list(scene_root(scene), "children"), 0);
    CHECK(scene_float(info, "basicTimeStep") == 1000.0, "basicTimeStep");
    const SceneNode *contact = scene_list_node(scene_list(info, "contactProperties"), 0);
    CHECK(scene_list(contact, "coulombFriction")->count == 4 && scene_list(contact, "forceDependentSlip")->count == 1,
          "friction");
    const SceneNode *solid = scene_find_def(scene, "S");
    CHECK(scene_child(solid, "physics") == NULL, "a Box is no Physics");
    const FieldList *heights = scene_list(scene_child(solid, "boundingObject"), "height");
    CHECK(heights->count == 6 && heights->numbers[1] == 2.0 && heights->numbers[5] == 0.0, "heights");
    CHECK(scene_list(scene_find_def(scene, "R"), "battery")->count == 0, "battery");
    CHECK(scene_int(scene_find_def(scene, "L"), "numberOfLayers") == 4096, "layers");
    CHECK(scene_vec3(scene_find_def(scene, "T"), "scale").x == 1.0, "scale");
    CHECK(scene_node_is(scene_find_def(scene, "P"), "Pose") && !scene_node_is(scene_find_def(scene, "P"), "Transform"),
          "without scale it is what it will be when it is saved and read again");
    // What was put aside is still there for saving.
    Text text = { 0 };
    formats_write(scene, &text);
    CHECK(strstr(text.data, "physics Box"), "kept for saving");
    text_free(&text);
    scene_destroy(scene);
    diag_destroy(diags);
}

static void missing_nodes_are_made(void **state)
{
    (void)state;
    static const struct {
        const char *world, *system;
    } cases[] = {
        { "#VRML_SIM R2025a utf8\nSolid { }\n", "ENU" },
        { "#VRML_SIM R2019a utf8\nSolid { }\n", "NUE" },
        { "#VRML_SIM R2025a utf8\n", "ENU" },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        DiagSink *diags = diag_create();
        Scene *scene = load(cases[i].world, diags);
        const FieldList *children = scene_list(scene_root(scene), "children");
        CHECK(children->count >= 2 && scene_node_is(children->nodes[0], "WorldInfo")
                  && scene_node_is(children->nodes[children->count - 1], "Viewpoint"),
              cases[i].world);
        CHECK(!strcmp(scene_string(children->nodes[0], "coordinateSystem"), cases[i].system), cases[i].world);
        CHECK(has_message(diags, DIAG_WARNING, "no WorldInfo") && has_message(diags, DIAG_NOTE, "no Viewpoint"),
              cases[i].world);
        scene_destroy(scene);
        diag_destroy(diags);
    }
}

static void free_names_are_found(void **state)
{
    (void)state;
    DiagSink *diags = diag_create();
    Scene *scene = load_body(
        "Solid { name \"box\" children [ Solid { name \"in\" } ] } Group { children [ Solid { name \"box(1)\" } ] } DEF R Solid { name \"r\" children [ Solid { name \"box\" } ] }",
        diags);
    Arena *arena = arena_create();
    const SceneNode *root = scene_root(scene), *r = scene_find_def(scene, "R");
    CHECK(!strcmp(formats_free_name(scene, root, "ball", arena), "ball"), "free");
    CHECK(!strcmp(formats_free_name(scene, root, "box", arena), "box(2)"), "smallest");
    CHECK(!strcmp(formats_free_name(scene, root, "box(1)", arena), "box(2)"), "of a repetition");
    CHECK(!strcmp(formats_free_name(scene, r, "box", arena), "box(1)"), "in another Solid");
    CHECK(!strcmp(formats_free_name(scene, root, "in", arena), "in"), "deeper names do not count");
    arena_destroy(arena);
    scene_destroy(scene);
    diag_destroy(diags);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mistake_has_its_message), cmocka_unit_test(right_worlds_are_left_alone),
        cmocka_unit_test(mended_values_are_safe),        cmocka_unit_test(missing_nodes_are_made),
        cmocka_unit_test(free_names_are_found),
    };
    return cmocka_run_group_tests_name("formats.check", tests, NULL, NULL);
}
