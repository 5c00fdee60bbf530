// PROTO files: each row is a small project of its own, its world, what the world then holds, and what was said about
// it. Names of rows follow the cases that a Webots-compatible reader is expected to pass.
#include "formats/proto/proto.h"

#include "base/file.h"
#include "base/text.h"
#include "formats/formats.h"
#include "formats/template/template.h"
#include "support/support.h"

#define R25 "#VRML_SIM R2025a utf8\n"
#define JS25 R25 "# template language: javascript\n"
#define R23 "#VRML_SIM R2023b utf8\n"

typedef struct ProtoFile {
    const char *name, *text;
} ProtoFile;

typedef struct Case {
    const char *name;
    ProtoFile files[4];
    const char *world;     // without header and declarations; declares all files
    const char *expected;  // tree through PROTO instances
    const char *said[5];   // parts of the diagnostics, in order; none: there must be none
} Case;

// ------------------------------------------------------------------------------------------------------------- helpers

static void dump_node(const SceneNode *node, Text *out);

static void dump_value(FieldKind kind, FieldValue value, Text *out)
{
    int doubles = field_kind_doubles(kind);
    if (field_kind_is_list(kind)) {
        FieldKind item = field_kind_item(kind);
        text_add_char(out, '[');
        for (int i = 0; i < value.list->count; i++) {
            FieldValue one = { 0 };
            if (item == FIELD_SF_NODE)
                one.node = value.list->nodes[i];
            else if (item == FIELD_SF_STRING)
                one.s = value.list->strings[i];
            else if (item == FIELD_SF_INT32)
                one.i = value.list->ints[i];
            else if (item == FIELD_SF_BOOL)
                one.b = value.list->bools[i];
            else
                memcpy(one.v, &value.list->numbers[i * doubles], (size_t)doubles * sizeof(double));
            text_add_string(out, i ? "," : "");
            dump_value(item, one, out);
        }
        text_add_char(out, ']');
    } else if (kind == FIELD_SF_NODE) {
        dump_node(value.node, out);
    } else if (kind == FIELD_SF_STRING) {
        text_printf(out, "'%s'", value.s);
    } else if (kind == FIELD_SF_INT32) {
        text_printf(out, "%d", (int)value.i);
    } else if (kind == FIELD_SF_BOOL) {
        text_add_string(out, value.b ? "TRUE" : "FALSE");
    } else {
        for (int i = 0; i < doubles; i++) {
            text_add_string(out, i ? " " : "");
            text_add_double(out, value.v[i]);
        }
    }
}

// "Solid(name='a' children=[Shape()])": what simulation would see.
static void dump_node(const SceneNode *node, Text *out)
{
    const SceneNode *actual = scene_actual(node);
    if (!actual) {
        text_add_string(out, "nothing");
        return;
    }
    text_printf(out, "%s(", actual->type->name);
    for (int i = 0; i < actual->field_count; i++) {
        text_printf(out, "%s%s=", i ? " " : "", actual->fields[i].type->name);
        dump_value(actual->fields[i].type->kind, actual->fields[i].value, out);
    }
    text_add_char(out, ')');
}

static void dump_scene(const Scene *scene, Text *out)
{
    const FieldList *children = scene_list(scene_root(scene), "children");
    bool is_first = true;
    for (int i = 0; i < children->count; i++) {
        if (children->nodes[i]->pos.line == 0)
            continue;  // added by the check of structure
        text_add_string(out, is_first ? "" : " ");
        is_first = false;
        dump_node(children->nodes[i], out);
    }
}

static Scene *load_case(const Case *test, DiagSink *diags, const FormatsOptions *options)
{
    char folder[256], path[512];
    snprintf(folder, sizeof folder, "proto_%s", test->name);
    const char *scratch = support_scratch(folder);
    snprintf(path, sizeof path, "%s/protos", scratch);
    file_make_directories(path);
    snprintf(path, sizeof path, "%s/worlds", scratch);
    file_make_directories(path);
    Text world = { 0 };
    text_add_string(&world, R25);
    for (int i = 0; i < COUNT_OF(test->files) && test->files[i].name; i++) {
        snprintf(path, sizeof path, "%s/protos/%s.proto", scratch, test->files[i].name);
        support_write(path, test->files[i].text);
        text_printf(&world, "EXTERNPROTO \"../protos/%s.proto\"\n", test->files[i].name);
    }
    text_add_string(&world, test->world);
    snprintf(path, sizeof path, "%s/worlds/test.wbt", scratch);
    support_write(path, world.data);
    text_free(&world);
    return formats_load(path, options, diags);
}

// Checks of structure (a missing WorldInfo and so on) are not what these rows are about.
static bool is_about_structure(const Diagnostic *diagnostic)
{
    return strstr(diagnostic->message, "WorldInfo") || strstr(diagnostic->message, "Viewpoint")
           || strstr(diagnostic->message, "a second Solid") || strstr(diagnostic->message, "boundingObject");
}

static void check_said(const Case *test, const DiagSink *diags)
{
    int next = 0;
    for (int i = 0; i < diag_count(diags); i++) {
        const Diagnostic *diagnostic = diag_at(diags, i);
        if (is_about_structure(diagnostic))
            continue;
        if (next >= COUNT_OF(test->said) || !test->said[next] || !strstr(diagnostic->message, test->said[next])) {
            diag_print(diags, stdout, 0, DIAG_NOTE);
            fail_msg("%s: unexpected message '%s'", test->name, diagnostic->message);
        }
        next++;
    }
    if (next < COUNT_OF(test->said) && test->said[next])
        fail_msg("%s: nobody said '%s'", test->name, test->said[next]);
}

static void run_case(const Case *test)
{
    DiagSink *diags = diag_create();
    Scene *scene = load_case(test, diags, NULL);
    CHECK(scene, test->name);
    Text tree = { 0 };
    dump_scene(scene, &tree);
    if (strcmp(tree.data ? tree.data : "", test->expected)) {
        diag_print(diags, stdout, 0, DIAG_NOTE);
        fail_msg("%s:\n got  %s\n want %s", test->name, tree.data, test->expected);
    }
    check_said(test, diags);
    text_free(&tree);
    scene_destroy(scene);
    diag_destroy(diags);
}

static void run_cases(const Case *cases, int count)
{
    for (int i = 0; i < count; i++)
        run_case(&cases[i]);
}

// ---------------------------------------------------------------------------------------------------------------
// syntax

static void interfaces_are_read(void **state)
{
    (void)state;
    static const Case cases[] = {
        { "parameters_of_every_kind",
          { { "P", R25
              "PROTO P [\n field SFBool b TRUE\n field SFString s \"x\"\n field SFVec3f t 1 2 3\n field SFRotation r 0 0 1 0.5\n"
              " field SFNode n NULL\n field MFNode m []\n field MFString l [ \"a\", \"b\" ]\n field MFFloat ff [ 1 2 3 ]\n"
              " vrmlField SFString name \"p\"\n w3dField SFBool locked FALSE\n]\n"
              "{ Robot { translation IS t rotation IS r name IS name customData IS s supervisor IS b controllerArgs IS l\n"
              " battery IS ff physics IS n children IS m locked IS locked } }" } },
          "P { t 4 5 6 l [ \"c\" ] }",
          "Robot(translation=4 5 6 rotation=0 0 1 0.5 name='p' customData='x' supervisor=TRUE controllerArgs=['c'] battery=[1,2,3] "
          "physics=nothing children=[] locked=FALSE)",
          { 0 } },
        { "valid_proto_comments",
          { { "P", R25
              "# license: x\n# documentation url: https://y\n# keywords: a/b, c\n# text\n\nPROTO P [ # after\n"
              "  field SFVec3f translation 0 0 0 # Is `Pose.translation`.\n  # alone\n]\n{ # more\n  Pose { translation IS "
              "translation } # end }\n}\n# behind }" } },
          "P { }",
          "Pose(translation=0 0 0)",
          { 0 } },
        { "concatenated_comment",
          { { "P", R25
              "PROTO P [ field SFFloat x 1#comment\n field SFString n \"#no comment\" ] { Solid { name IS n density 0 } }" } },
          "P { }",
          "Solid(name='#no comment')",
          { "no field 'density'", "parameter 'x' of the PROTO 'P' is not used" } },
        { "unconnected_and_hidden_fields",
          { { "P", R25
              "PROTO P [ unconnectedField SFFloat a 1 hiddenField SFFloat b 1 deprecatedField SFFloat c 1 ] { Group { } }" } },
          "P { a 2 }",
          "Group()",
          { 0 } },
        { "unused_proto_parameter",
          { { "P", R25 "PROTO P [ field SFFloat a 1 ] { Group { } }" } },
          "P { }",
          "Group()",
          { "parameter 'a' of the PROTO 'P' is not used" } },
        { "use_of_what_a_default_holds",
          { { "P", R25
              "PROTO P [ field SFNode a DEF D Box { size 2 2 2 } field MFNode b [] ] { Solid { children IS b boundingObject IS a } }" } },
          "P { b [ Shape { geometry USE D } ] }",
          "Solid(children=[Shape(geometry=Box(size=2 2 2))] boundingObject=Box(size=2 2 2))",
          { 0 } },
        { "use_of_a_default_that_is_given_later",
          { { "P", R25
              "PROTO P [ field SFNode a DEF D Box { size 2 2 2 } field MFNode b [] ] { Solid { children IS b boundingObject IS a } }" } },
          "P { b [ Shape { geometry USE D } ] a Sphere { } }",
          "Solid(children=[Shape(geometry=Box(size=2 2 2))] boundingObject=Sphere())",
          { "the parameters of this P are not in the order" } },
        { "proto_mismatch_field_type",
          { { "P", R25 "PROTO P [ field SFFloat a 1 ] { Pose { translation IS a } }" } },
          "P { }",
          "Pose()",
          { "type mismatch: the field 'translation' is of type SFVec3f, its parameter 'a' of type SFFloat" } },
        { "proto_typo_in_alias",
          { { "P", R25 "PROTO P [ field SFVec3f shift 1 2 3 ] { Pose { translation IS shfit } }" } },
          "P { }",
          "Pose()",
          { "no such parameter", "parameter 'shift' of the PROTO 'P' is not used" } },
        { "proto_mismatch_file_name",
          { { "P", R25 "PROTO Q [ ] { Group { } }" } },
          "P { }",
          "Group()",
          { "the PROTO is named 'Q', but its file 'P.proto'" } },
        { "proto_unknown_field_header",
          { { "P", R25 "PROTO P [ feild SFFloat a 1 field SFVec3f t 1 2 3 ] { Pose { translation IS t } }" } },
          "P { }",
          "Pose(translation=1 2 3)",
          { "expected 'field' or ']'" } },
        { "proto_unknown_field_type",
          { { "P", R25 "PROTO P [ field SFDouble a 1 field SFVec3f t 1 2 3 ] { Pose { translation IS t } }" } },
          "P { }",
          "Pose(translation=1 2 3)",
          { "'SFDouble' is no type of a field" } },
        { "proto_missing_item_value_in_field",
          { { "P", R25
              "PROTO P [ field SFVec3f t 1 2\n field SFString n \"a\" ] { Solid { translation IS t name IS n } }" } },
          "P { }",
          "Solid(translation=0 0 0 name='a')",
          { "t wants 3 numbers, found only 2" } },
        { "proto_parameter_missing",
          { { "P", R25 "PROTO P [ field SFVec3f ] { Pose { } }" } },
          "P { }",
          "Pose()",
          { "expected the name of the parameter" } },
        { "proto_unknown_parameter",
          { { "P", R25 "PROTO P [ field SFVec3f translation 0 0 0 ] { Pose { translation IS translation } }" } },
          "P { translation 1 0 0 tranlation 2 0 0 }",
          "Pose(translation=1 0 0)",
          { "P has no parameter 'tranlation'" } },
        { "proto_missing_ending_curly_bracket",
          { { "P", R25 "PROTO P [ ] { Group { }" } },
          "P { }",
          "Group()",
          { "closing '}'" } },
        { "proto_empty_body",
          { { "P", R25 "PROTO P [ ] { }" } },
          "P { }",
          "nothing",
          { "the body of the PROTO 'P' is empty" } },
        { "proto_two_nodes",
          { { "P", R25 "PROTO P [ ] { Group { } Pose { } }" } },
          "P { }",
          "Group()",
          { "the body of a PROTO is one node" } },
        { "proto_twice_declared",
          { { "P", R25 "PROTO P [ field SFFloat a 1 field SFFloat a 2 ] { Sphere { radius IS a } }" } },
          "Shape { geometry P { } }",
          "Shape(geometry=Sphere(radius=1))",
          { "'a' is declared twice" } },
        { "deprecated_tag",
          { { "P", R25 "# tags: deprecated\nPROTO P [ ] { Group { } }" } },
          "P { }",
          "Group()",
          { "'P' is deprecated" } },
    };
    run_cases(cases, COUNT_OF(cases));
}

#define TWO_SLOTS                                                                                                           \
    R25 "PROTO P [ field SFNode a DEF A Box { size 2 2 2 } field SFNode b DEF B Sphere { radius 3 } field MFNode m [ ] ]\n" \
        "{ Group { children [ Shape { geometry IS a } Shape { geometry IS b } Group { children IS m } ] } }"

static void defaults_have_names(void **state)
{
    (void)state;
    static const Case cases[] = {
        { "a USE behind the instance finds the default",
          { { "P", TWO_SLOTS } },
          "P { } Shape { geometry USE A } Shape { geometry USE B }",
          "Group(children=[Shape(geometry=Box(size=2 2 2)),Shape(geometry=Sphere(radius=3)),Group(children=[])]) "
          "Shape(geometry=Box(size=2 2 2)) Shape(geometry=Sphere(radius=3))",
          { 0 } },
        { "and one in a later parameter",
          { { "P", TWO_SLOTS } },
          "P { m [ Shape { geometry USE A } ] }",
          "Group(children=[Shape(geometry=Box(size=2 2 2)),Shape(geometry=Sphere(radius=3)),Group(children=[Shape(geometry=Box(size=2 2 2))])])",
          { 0 } },
        { "a default that is replaced has no name",
          { { "P", TWO_SLOTS } },
          "P { a Cone { } } Shape { geometry USE A }",
          "Group(children=[Shape(geometry=Cone()),Shape(geometry=Sphere(radius=3)),Group(children=[])]) Shape()",
          { "USE A: no node above has this DEF name" } },
        { "the order of the declaration",
          { { "P", TWO_SLOTS } },
          "P { m [ ] a DEF B Box { } } Shape { geometry USE B }",
          "Group(children=[Shape(geometry=Box()),Shape(geometry=Sphere(radius=3)),Group(children=[])]) Shape(geometry=Box())",
          { "the parameters of this P are not in the order of its declaration" } },
        { "inside of another PROTO",
          { { "P", TWO_SLOTS },
            { "Q",
              R25 "EXTERNPROTO \"P.proto\"\nPROTO Q [ ] { Group { children [ P { } Shape { geometry USE A } ] } }" } },
          "Q { }",
          "Group(children=[Group(children=[Shape(geometry=Box(size=2 2 2)),Shape(geometry=Sphere(radius=3)),Group(children=[])]),"
          "Shape(geometry=Box(size=2 2 2))])",
          { 0 } },
    };
    run_cases(cases, COUNT_OF(cases));
}

// Templates of V7 and V8.0: `fields.x` is the value, a line that begins with '#' is a comment.
static void oldest_templates_mean_what_they_meant(void **state)
{
    (void)state;
    static const Case cases[] = {
        { "the value itself",
          { { "P",
              "#VRML_SIM V7.4 utf8\nPROTO P [ field SFFloat r 2 field SFVec3f v 1 2 3 ]\n{\n %{\n # a remark with ' in it\n local r = fields.r + fields.v.z\n }%\n"
              " Shape { geometry Sphere { radius %{= r }% } } }" } },
          "P { } P { r 4 }",
          "Shape(geometry=Sphere(radius=5)) Shape(geometry=Sphere(radius=7))",
          { 0 } },
        { "later templates below an old header",
          { { "P",
              "#VRML_SIM V7.4 utf8\nPROTO P [ field SFFloat r 2 ] { %{ local r = fields.r.value }% Shape { geometry Sphere { radius %{= r }% } } }" } },
          "P { }",
          "Shape(geometry=Sphere(radius=2))",
          { 0 } },
        { "a length later on",
          { { "P",
              "#VRML_SIM R2019a utf8\nPROTO P [ field MFFloat r [ 1 2 3 ] ] { %{ local r =\n #fields.r.value }% Shape { geometry Sphere { radius %{= r }% } } }" } },
          "P { }",
          "Shape(geometry=Sphere(radius=3))",
          { 0 } },
        { "pictures are not drawn",
          { { "P",
              "#VRML_SIM R2019a utf8\nPROTO P [ ] { %{ local gd = require('gd') local im = gd.createTrueColor(8, 4)\n"
              " local red = im:colorAllocate(255, 0, 0) im:filledRectangle(0, 0, 7, 3, red) im:png('x.png') }% Shape { geometry Sphere { radius %{= im:sizeX() }% } } }" } },
          "P { }",
          "Shape(geometry=Sphere(radius=8))",
          { "draws a picture with the module 'gd'" } },
        { "a quote that is escaped in the value",
          { { "P",
              "#VRML_SIM R2022b utf8\nPROTO P [ field SFString s \"\" ] { Solid { name \"%{= #fields.s.value }%\" } }" } },
          "P { s \"a\\\\\\\"b\" }",
          "Solid(name='3')",
          { 0 } },
    };
    run_cases(cases, COUNT_OF(cases));
}

static void names_of_our_own_nodes_are_free(void **state)
{
    (void)state;
    static const char *const names[] = { "Marker", "Conveyor", "Body", "Holder", "ForceTorqueSensor", "Attachment" };
    for (int i = 0; i < COUNT_OF(names); i++) {
        char text[256], world[64];
        snprintf(text, sizeof text,
                 R25 "PROTO %s [ field SFFloat reach 1 ] { Shape { geometry Sphere { radius IS reach } } }", names[i]);
        snprintf(world, sizeof world, "%s { reach 2 }", names[i]);
        Case one = { names[i], { { names[i], text } }, world, "Shape(geometry=Sphere(radius=2))", { 0 } };
        run_cases(&one, 1);
    }
}

static void connections_convert_numbers(void **state)
{
    (void)state;
    static const Case cases[] = {
        { "whole to any",
          { { "P", R25 "PROTO P [ field SFInt32 n 3 ] { Shape { geometry Sphere { radius IS n } } }" } },
          "P { } P { n 5 }",
          "Shape(geometry=Sphere(radius=3)) Shape(geometry=Sphere(radius=5))",
          { "type mismatch: the field 'radius' is of type SFFloat, its parameter 'n' of type SFInt32; the value is converted" } },
        { "any to whole",
          { { "P", R25 "PROTO P [ field SFFloat n 3.2 ] { Shape { geometry Sphere { subdivision IS n } } }" } },
          "P { }",
          "Shape(geometry=Sphere(subdivision=3))",
          { "the field 'subdivision' is of type SFInt32" } },
        { "one string to a list",
          { { "P", R25 "PROTO P [ field SFString a \"x y\" ] { Robot { controllerArgs IS a } }" } },
          "P { }",
          "Robot(controllerArgs=['x y'])",
          { "type mismatch: the field 'controllerArgs' is of type MFString, its parameter 'a' of type SFString" } },
        { "old arguments are split",
          { { "P",
              "#VRML_SIM R2019a utf8\nPROTO P [ field SFString a \"x y\" ] { Robot { controller \"c\" controllerArgs IS a } }" } },
          "P { } P { a \"1 2 'a b'\" }",
          "Robot(controller='c' controllerArgs=['x','y']) Robot(controller='c' controllerArgs=['1','2','a b'])",
          { 0 } },
        { "vectors do not convert",
          { { "P", R25 "PROTO P [ field SFColor c 1 1 1 ] { Pose { translation IS c } }" } },
          "P { }",
          "Pose()",
          { "type mismatch: the field 'translation' is of type SFVec3f, its parameter 'c' of type SFColor" } },
    };
    run_cases(cases, COUNT_OF(cases));
}

static void restrictions_are_checked(void **state)
{
    (void)state;
#define RESTRICTED                                                                                                              \
    R25 "PROTO P [ field SFString{\"a\", \"b\"} s \"a\" field SFInt32{1, 2} i 1 field SFRotation{0 1 0 0, 0 0 1 0} r 0 1 0 0\n" \
        " field MFNode{Solid{}+, Q{}} n [] field MFString{\"x\" \"y\"} l [] ]\n"                                                \
        "{ Robot { rotation IS r name IS s window IS s children IS n controllerArgs IS l customData \"%d\" } }"
    static const Case cases[] = {
        { "proto_allowed_field_value",
          { { "P", RESTRICTED }, { "Q", R25 "PROTO Q [ ] { Pose { } }" } },
          "P { s \"b\" r 0 0 1 0 n [ Solid { } Robot { } Q { } ] l \"y\" }",
          "Robot(rotation=0 0 1 0 name='b' window='b' children=[Solid(),Robot(),Pose()] controllerArgs=['y'] customData='%d')",
          { "parameter 'i' of the PROTO 'P' is not used" } },
        { "proto_not_allowed_field_value",
          { { "P", RESTRICTED } },
          "P { s \"c\" i 3 r 1 0 0 0 l [ \"x\" \"z\" ] }",
          "Robot(rotation=0 1 0 0 name='a' window='a' children=[] controllerArgs=['x'] customData='%d')",
          { "the value of 's' of P is not allowed", "of 'i' of P", "of 'r' of P",
            "'\"z\"' is not allowed in 'l' of P and is left out", "is not used" } },
        { "proto_not_allowed_mf_field_value",
          { { "P", RESTRICTED } },
          "P { n [ Shape { } Solid { } Group { } ] }",
          "Robot(rotation=0 1 0 0 name='a' window='a' children=[Solid()] controllerArgs=[] customData='%d')",
          { "'Shape' is not allowed in 'n' of P and is left out; allowed are: Solid+, Q", "'Group' is not allowed",
            "is not used" } },
        { "a type alone does not allow what is derived from it",
          { { "P", R25 "PROTO P [ field MFNode{Group{}, Solid{}} n [] ] { Group { children IS n } }" } },
          "P { n [ Group { } Pose { } Solid { } Robot { } ] }",
          "Group(children=[Group(),Solid()])",
          { "'Pose' is not allowed in 'n' of P", "'Robot' is not allowed in 'n' of P" } },
        { "a PROTO counts by its base type",
          { { "P", R25 "PROTO P [ field MFNode{Solid{}} n [] ] { Group { children IS n } }" },
            { "Q", R25 "PROTO Q [ ] { Solid { } }" } },
          "P { n [ Q { } ] }",
          "Group(children=[Solid()])",
          { 0 } },
        { "a PROTO allows itself",
          { { "P", R25 "EXTERNPROTO \"Q.proto\"\nPROTO P [ field MFNode{Q{}} n [] ] { Group { children IS n } }" },
            { "Q", R25 "PROTO Q [ ] { Solid { } }" },
            { "D", R25 "EXTERNPROTO \"Q.proto\"\nPROTO D [ ] { Q { } }" } },
          "P { n [ Q { } D { } Solid { } ] }",
          "Group(children=[Solid()])",
          { "'D' is not allowed", "'Solid' is not allowed" } },
        { "a PROTO with a plus allows those derived from it",
          { { "P", R25 "EXTERNPROTO \"Q.proto\"\nPROTO P [ field MFNode{Q{}+} n [] ] { Group { children IS n } }" },
            { "Q", R25 "PROTO Q [ ] { Solid { } }" },
            { "D", R25 "EXTERNPROTO \"Q.proto\"\nPROTO D [ ] { Q { } }" } },
          "P { n [ Q { } D { } Solid { } ] }",
          "Group(children=[Solid(),Solid()])",
          { "'Solid' is not allowed" } },
        { "a single node that is not allowed",
          { { "P", R25 "PROTO P [ field SFNode{Box{}, Sphere{}} n NULL ] { Shape { geometry IS n } }" } },
          "P { n Cone { } }",
          "Shape(geometry=nothing)",
          { "the value of 'n' of P is not allowed and is left out; allowed are: Box, Sphere" } },
        { "old names mean new types",
          { { "P", "#VRML_SIM R2022a utf8\nPROTO P [ field MFNode{Transform{}} n [] ] { Group { children IS n } }" } },
          "P { n [ Pose { } Solid { } ] }",
          "Group(children=[Pose()])",
          { "'Solid' is not allowed" } },
        { "default outside of the list",
          { { "P", R25 "PROTO P [ field SFString{\"a\", \"b\"} s \"c\" ] { Solid { name IS s } }" } },
          "P { }",
          "Solid(name='c')",
          { "the default of 's' is not in the list of its allowed values" } },
    };
    run_cases(cases, COUNT_OF(cases));
}

// ----------------------------------------------------------------------------------------------------------- structure

#define BOX                                                                                                            \
    R25 "PROTO BoxShape [ field SFVec3f size 1 1 1 field SFNode look NULL ] { Shape { appearance IS look geometry Box { size IS size } } }"
#define SLOT                                                                                                           \
    R25 "PROTO Slotted [ field SFVec3f translation 0 0 0 field MFNode slot [] ] { Solid { translation IS translation children IS slot } }"

static void protos_nest_and_derive(void **state)
{
    (void)state;
    static const Case cases[] = {
        { "proto_direct_nested",
          { { "BoxShape", BOX },
            { "P",
              R25 "EXTERNPROTO \"BoxShape.proto\"\nPROTO P [ field SFVec3f s 2 2 2 ] { BoxShape { size IS s } }" } },
          "P { } P { s 3 3 3 }",
          "Shape(appearance=nothing geometry=Box(size=2 2 2)) Shape(appearance=nothing geometry=Box(size=3 3 3))",
          { 0 } },
        { "proto_nested",
          { { "BoxShape", BOX },
            { "P", R25
              "EXTERNPROTO \"BoxShape.proto\"\nPROTO P [ field SFVec3f s 2 2 2 ] { Pose { children [ BoxShape { size IS s } BoxShape { } ] } }" } },
          "P { s 4 4 4 }",
          "Pose(children=[Shape(appearance=nothing geometry=Box(size=4 4 4)),Shape(appearance=nothing geometry=Box(size=1 1 1))])",
          { 0 } },
        { "proto_nested_parameter",
          { { "Slotted", SLOT },
            { "P", R25
              "EXTERNPROTO \"Slotted.proto\"\nPROTO P [ field MFNode slot [] ] { Slotted { translation 1 0 0 slot [ Group { children IS slot } ] } }" } },
          "P { slot [ Pose { } Slotted { slot Shape { } } ] }",
          "Solid(translation=1 0 0 children=[Group(children=[Pose(),Solid(translation=0 0 0 children=[Shape()])])])",
          { "the parameter 'slot' has the name of a parameter of 'Slotted' but is connected to something else" } },
        { "derived_proto_parameter",
          { { "Slotted", SLOT },
            { "P", R25
              "EXTERNPROTO \"Slotted.proto\"\nPROTO P [ field SFVec3f translation 5 0 0 field MFNode slot [] ] { Slotted { translation IS translation slot IS slot } }" } },
          "P { slot [ Shape { } ] } P { translation 6 0 0 }",
          "Solid(translation=5 0 0 children=[Shape()]) Solid(translation=6 0 0 children=[])",
          { 0 } },
        { "derived_proto_with_default_parameter",
          { { "BoxShape", BOX },
            { "Slotted", SLOT },
            { "P", R25
              "EXTERNPROTO \"Slotted.proto\"\nEXTERNPROTO \"BoxShape.proto\"\nPROTO P [ field MFNode slot [ BoxShape { size 7 7 7 } ] ] { Slotted { slot IS slot } }" } },
          "P { } P { }",
          "Solid(translation=0 0 0 children=[Shape(appearance=nothing geometry=Box(size=7 7 7))]) "
          "Solid(translation=0 0 0 children=[Shape(appearance=nothing geometry=Box(size=7 7 7))])",
          { 0 } },
        { "derived_proto_nested_internal",
          { { "A",
              R25 "PROTO A [ field SFString name \"a\" field MFNode c [] ] { Solid { name IS name children IS c } }" },
            { "B", R25
              "EXTERNPROTO \"A.proto\"\nPROTO B [ field SFString name \"b\" field MFNode c [ A { name \"inner\" } ] ] { A { name IS name c IS c } }" },
            { "C", R25 "EXTERNPROTO \"B.proto\"\nPROTO C [ field SFString name \"c\" ] { B { name IS name } }" } },
          "C { }",
          "Solid(name='c' children=[Solid(name='inner' children=[])])",
          { 0 } },
        { "same_parameter_in_several_fields",
          { { "P", R25
              "PROTO P [ field SFNode s DEF BOX Shape { geometry Box { } } field SFVec3f v 1 2 3 ] { Group { children [\n"
              " Solid { translation IS v children [ Slot { endPoint IS s } ] boundingObject IS s } Pose { translation IS v } ] } }" } },
          "P { } P { s Shape { } v 4 5 6 }",
          "Group(children=[Solid(translation=1 2 3 children=[Slot(endPoint=Shape(geometry=Box()))] boundingObject=Shape(geometry=Box())),Pose(translation=1 2 3)]) "
          "Group(children=[Solid(translation=4 5 6 children=[Slot(endPoint=Shape())] boundingObject=Shape()),Pose(translation=4 5 6)])",
          { 0 } },
        { "def_and_use_are_private",
          { { "P", R25
              "PROTO P [ field MFNode c [] ] { Group { children [ DEF X Pose { translation 1 0 0 } USE X Group { children IS c } ] } }" } },
          "DEF X Solid { } P { c [ Pose { children DEF Y Shape { } } ] } Pose { children [ USE Y ] }",
          "Solid() Group(children=[Pose(translation=1 0 0),Pose(translation=1 0 0),Group(children=[Pose(children=[Shape()])])]) Pose(children=[Shape()])",
          { 0 } },
        { "use_of_outer_def_is_unknown_inside",
          { { "P", R25 "PROTO P [ ] { Group { children [ USE OUTER ] } }" } },
          "DEF OUTER Pose { } P { }",
          "Pose() Group(children=[])",
          { "USE OUTER" } },
        { "C13_children_in_children",
          { { "Inner", R25 "PROTO Inner [ field MFNode children [] ] { Group { children IS children } }" },
            { "Outer", R25
              "EXTERNPROTO \"Inner.proto\"\nPROTO Outer [ field MFNode children [] ] { Inner { children IS children } }" } },
          "Outer { children [ Outer { children [ Shape { } ] } ] }",
          "Group(children=[Group(children=[Shape()])])",
          { 0 } },
        { "C15_def_and_use_in_parameter",
          { { "Slotted", SLOT } },
          "Slotted { slot [ DEF X Pose { translation 1 0 0 } USE X ] } Pose { children USE X }",
          "Solid(translation=0 0 0 children=[Pose(translation=1 0 0),Pose(translation=1 0 0)]) Pose(children=[Pose(translation=1 0 0)])",
          { 0 } },
        { "recursive_proto",
          { { "A", R25 "EXTERNPROTO \"A.proto\"\nPROTO A [ ] { Group { children [ A { } ] } }" } },
          "A { }",
          "Group(children=[nothing])",
          { "the PROTO 'A' contains itself: A > A" } },
        { "C17_cycle",
          { { "A", R25 "EXTERNPROTO \"B.proto\"\nPROTO A [ ] { Group { children [ B { } B { } ] } }" },
            { "B", R25 "EXTERNPROTO \"A.proto\"\nPROTO B [ ] { Pose { children [ A { } ] } }" } },
          "A { }",
          "Group(children=[Pose(children=[nothing]),Pose(children=[nothing])])",
          { "the PROTO 'A' contains itself: A > B > A" } },
        { "cycle_in_defaults",
          { { "A", R25 "EXTERNPROTO \"B.proto\"\nPROTO A [ field MFNode c [ B { } ] ] { Group { children IS c } }" },
            { "B", R25 "EXTERNPROTO \"A.proto\"\nPROTO B [ field MFNode c [ A { } ] ] { Group { children IS c } }" } },
          "A { }",
          "Group(children=[Group(children=[nothing])])",
          { "needs itself" } },
        { "missing_proto_is_a_placeholder",
          { { 0 } },
          "NoSuchThing { translation 1 2 3 name \"x\" other [ 1 2 ] children [ Shape { } ] } Shape { appearance NoLook { color 1 0 0 } }",
          "Solid(translation=1 2 3 rotation=0 0 1 0 name='x' children=[Shape()]) Shape(appearance=nothing)",
          { "the PROTO 'NoSuchThing' was not found", "the PROTO 'NoLook' was not found" } },
        { "slots",
          { { "Slotted", SLOT },
            { "P", R25
              "PROTO P [ field SFNode end NULL field SFString type \"a+\" ] { Slot { type IS type endPoint IS end } }" } },
          "Robot { children [ P { end P { type \"a-\" end Solid { } } } ] }",
          "Robot(children=[Slot(type='a+' endPoint=Slot(type='a-' endPoint=Solid()))])",
          { 0 } },
    };
    run_cases(cases, COUNT_OF(cases));
}

// ------------------------------------------------------------------------------------------------------------
// templates

static void templates_make_trees(void **state)
{
    (void)state;
    static const Case cases[] = {
        { "template_direct_nested",
          { { "T", JS25
              "PROTO T [ field SFInt32 n 2 ] { Group { children [ %< for (let i = 0; i < fields.n.value; i++) { >% Pose { translation %<= i >% 0 0 } %< } >% ] } }" } },
          "T { } T { n 1 }",
          "Group(children=[Pose(translation=0 0 0),Pose(translation=1 0 0)]) Group(children=[Pose(translation=0 0 0)])",
          { 0 } },
        { "template_lua",
          { { "T", R23
              "PROTO T [ field SFInt32 n 2 ] { Group { children [ %{ for i = 1, fields.n.value do }% Pose { translation %{= i / 2 }% 0 0 } %{ end }% ] } }" } },
          "T { }",
          "Group(children=[Pose(translation=0.5 0 0),Pose(translation=1 0 0)])",
          { 0 } },
        { "template_with_is_and_parameter_nodes",
          { { "T", JS25
              "PROTO T [ field SFBool on TRUE field MFNode c [] field SFVec3f t 0 0 0 ] { Solid { translation IS t %< if (fields.on.value) { >% children IS c %< } >% } }" } },
          "T { c [ Shape { } ] t 1 1 1 } T { on FALSE c [ Shape { } ] }",
          "Solid(translation=1 1 1 children=[Shape()]) Solid(translation=0 0 0)",
          { 0 } },
        { "template_nested_in_template",
          { { "Inner", JS25
              "PROTO Inner [ field SFFloat r 1 ] { Shape { geometry Sphere { radius %<= fields.r.value * 2 >% } } }" },
            { "Outer", JS25
              "EXTERNPROTO \"Inner.proto\"\nPROTO Outer [ field SFFloat r 1 ] { Group { children [ Inner { r IS r } Inner { r %<= fields.r.value + 1 >% } ] } }" } },
          "Outer { r 3 }",
          "Group(children=[Shape(geometry=Sphere(radius=6)),Shape(geometry=Sphere(radius=8))])",
          { 0 } },
        { "mixed_template_derived_proto",
          { { "Base",
              R23 "PROTO Base [ field SFFloat r 1 ] { Shape { geometry Sphere { radius %{= fields.r.value }% } } }" },
            { "Derived", JS25
              "EXTERNPROTO \"Base.proto\"\nPROTO Derived [ field SFFloat r 4 ] { Base { r %<= fields.r.value / 2 >% } }" } },
          "Derived { }",
          "Shape(geometry=Sphere(radius=2))",
          { 0 } },
        { "derived_proto_with_template_default_parameter",
          { { "Ball", JS25 "PROTO Ball [ field SFFloat r 1 ] { Sphere { radius %<= fields.r.value * 10 >% } }" },
            { "P",
              R25 "EXTERNPROTO \"Ball.proto\"\nPROTO P [ field SFNode g Ball { r 2 } ] { Shape { geometry IS g } }" } },
          "P { }",
          "Shape(geometry=Sphere(radius=20))",
          { 0 } },
        { "derived_proto_automatic_IS_redirection",
          { { "BoxShape", BOX },
            { "P", JS25
              "EXTERNPROTO \"BoxShape.proto\"\nPROTO P [ field SFVec3f size 5 5 5 ] { %< if (fields.size.value.x > 0) console.log('positive'); >% BoxShape { size 0.1 0.1 0.1 } }" } },
          "P { }",
          "Shape(appearance=nothing geometry=Box(size=0.1 0.1 0.1))",
          { "template: positive" } },
        { "template_indirect_field_access",
          { { "T", R25
              "# tags: indirectFieldAccess\n# template language: javascript\nPROTO T [ field SFFloat a 1 field SFFloat b 2 ] { Sphere { radius %<= ['a', 'b'].map(n => fields[n].value).reduce((x, y) => x + y) >% } }" } },
          "Shape { geometry T { b 5 } }",
          "Shape(geometry=Sphere(radius=6))",
          { 0 } },
        { "template_reads_nodes",
          { { "Slotted", SLOT },
            { "T", JS25
              "PROTO T [ field SFNode n NULL field MFNode m [] ] { Sphere { radius %<= fields.n.value.node_name === 'Cone' && fields.n.value.fields.height.value + fields.m.value[0].fields.translation.value.x + fields.m.value.length >% } }" } },
          "Shape { geometry T { n Cone { height 3 } m [ Slotted { translation 7 0 0 } Pose { } ] } }",
          "Shape(geometry=Sphere(radius=12))",
          { 0 } },
        { "javascript_invalid_vrml_comment",
          { { "T", JS25 "PROTO T [ ]\n{\n  %<\n    const a = 1; # no\n  >%\n  Group { }\n}" } },
          "T { }",
          "nothing",
          { "template: SyntaxError" } },
        { "lua_invalid_vrml_comment",
          { { "T", R23 "PROTO T [ ]\n{\n  %{\n    local a = 1 # no\n  }%\n  Group { }\n}" } },
          "T { }",
          "nothing",
          { "template: " } },
        { "lua_length_operator",
          { { "T", R23 "PROTO T [ ] { %{ local t = { 1, 2, 3 } local n = #t }% Sphere { radius %{= n }% } }" } },
          "Shape { geometry T { } }",
          "Shape(geometry=Sphere(radius=3))",
          { 0 } },
        { "double_quote_in_lua_string_field",
          { { "T", R23 "PROTO T [ field SFString s \"\" ] { %{ print(fields.s.value) }% Group { } }" } },
          "T { s \"a \\\"quoted\\\" word\" }",
          "Group()",
          { "template: a \"quoted\" word" } },
        { "error_in_generated_text",
          { { "T", JS25
              "PROTO T [ field SFFloat r 1 ]\n{\n  %< const x = fields.r.value; >%\n  Sphere {\n    radius %<= 'one' >%\n  }\n}" } },
          "Shape { geometry T { } }",
          "Shape(geometry=Sphere())",
          { "radius wants a number", "Sphere has no field 'one'" } },
        { "template_context_print",
          { { "T", JS25
              "PROTO T [ ] { %< console.log(context.os, context.coordinate_system, context.world.endsWith('worlds/test.wbt'), context.proto.endsWith('T.proto')); >% Group { } }" } },
          "WorldInfo { coordinateSystem \"NUE\" } T { }",
          "WorldInfo(coordinateSystem='NUE') Group()",
          { "template: linux NUE true true" } },
    };
    run_cases(cases, COUNT_OF(cases));
}

// The line of a mistake in generated text is that of the PROTO file.
static void generated_text_has_places(void **state)
{
    (void)state;
    static const Case test = {
        "generated_place",
        { { "T", JS25 "PROTO T [ ]\n{\n%< for (let i = 0; i < 3; i++) { >%\n%< } >%\nGroup {\n  nofield 1\n}\n}" } },
        "T { }",
        "",
        { 0 }
    };
    DiagSink *diags = diag_create();
    Scene *scene = load_case(&test, diags, NULL);
    bool found = false;
    for (int i = 0; i < diag_count(diags); i++) {
        const Diagnostic *diagnostic = diag_at(diags, i);
        if (strstr(diagnostic->message, "nofield")) {
            found = true;
            assert_int_equal(diagnostic->pos.line, 8);
            CHECK(text_ends_with(diag_file_name(diags, diagnostic->pos.file), "T.proto"), "file of the message");
        }
    }
    CHECK(found, "message about nofield");
    scene_destroy(scene);
    diag_destroy(diags);
}

static void templates_can_be_off(void **state)
{
    (void)state;
    static const Case test = { "templates_off",
                               { { "T", JS25 "PROTO T [ ] { Sphere { radius %<= 1 >% } }" } },
                               "Shape { geometry T { } }",
                               "",
                               { 0 } };
    DiagSink *diags = diag_create();
    Scene *scene = load_case(&test, diags, &(FormatsOptions){ .without_templates = true });
    Text tree = { 0 };
    dump_scene(scene, &tree);
    assert_string_equal(tree.data, "Shape(geometry=nothing)");
    text_free(&tree);
    scene_destroy(scene);
    diag_destroy(diags);
}

// ------------------------------------------------------------------------------------------------------- at run time

static void parameters_reach_their_fields(void **state)
{
    (void)state;
    static const Case test = {
        "parameter_set",
        { { "Inner", R25
            "PROTO Inner [ field SFVec3f t 0 0 0 ] { Solid { translation IS t children [ Pose { translation IS t } ] } }" },
          { "Outer", R25 "EXTERNPROTO \"Inner.proto\"\nPROTO Outer [ field SFVec3f t 1 1 1 ] { Inner { t IS t } }" } },
        "DEF O Outer { }",
        "",
        { 0 }
    };
    DiagSink *diags = diag_create();
    Scene *scene = load_case(&test, diags, NULL);
    SceneNode *outer = scene_instance(scene_find_def(scene, "O"));
    scene_set_vec3(scene, outer, "t", vec3(4, 5, 6));
    CHECK(scene_vec3(scene_actual(outer), "translation").y == 5, "outer parameter");
    CHECK(scene_vec3(scene_list_node(scene_list(outer, "children"), 0), "translation").z == 6, "second field");
    scene_set_vec3(scene, scene_actual(outer), "translation", vec3(7, 8, 9));
    CHECK(scene_vec3(scene_list_node(scene_list(outer, "children"), 0), "translation").x == 7,
          "field to parameter and back");
    scene_destroy(scene);
    diag_destroy(diags);
}

static void templates_are_regenerated(void **state)
{
    (void)state;
    static const Case test = {
        "regeneration",
        { { "T", JS25
            "PROTO T [ field SFInt32 n 1 field MFNode c [] field SFVec3f t 0 0 0 ] { Solid { translation IS t children [ %< for (let i = 0; i < fields.n.value; i++) { >% Pose { } %< } >% Group { children IS c } ] } }" } },
        "DEF A T { c [ DEF GIVEN Pose { } ] } DEF B T { }",
        "",
        { 0 }
    };
    DiagSink *diags = diag_create();
    Scene *scene = load_case(&test, diags, NULL);
    SceneNode *a = scene_instance(scene_find_def(scene, "A"));
    SceneNode *given = scene_find_def(scene, "GIVEN");
    const FieldType *n = &a->proto->parameters[0], *t = &a->proto->parameters[2];
    CHECK(proto_parameter_regenerates(a, n) && !proto_parameter_regenerates(a, t), "which parameters regenerate");
    SceneNode *old = scene_actual(a);
    scene_set_int(scene, a, "n", 3);
    CHECK(proto_regenerate(scene, a, diags), "regenerated");
    CHECK(scene_actual(a) != old && old->is_removed, "a new tree");
    assert_int_equal(scene_list(a, "children")->count, 4);
    assert_int_equal(scene_list(scene_find_def(scene, "B"), "children")->count, 2);
    CHECK(scene_find_def(scene, "GIVEN") == given && !given->is_removed && !given->in_proto, "the given node stays");
    CHECK(scene_parent(given) == scene_list_node(scene_list(a, "children"), 3), "and hangs in the new tree");
    CHECK(proto_count(scene) == 1 && !strcmp(proto_at(scene, 0)->origin, "declared"), "list of PROTOs");
    scene_destroy(scene);
    diag_destroy(diags);
}

static void hidden_state_is_applied(void **state)
{
    (void)state;
    static const Case test = {
        "hidden_state",
        { { "P", R25
            "PROTO P [ field SFVec3f translation 0 0 0 ] { Solid { translation IS translation children [\n"
            " HingeJoint { jointParameters HingeJointParameters { axis 0 0 1 } endPoint Solid { name \"a\" children [ HingeJoint { endPoint Solid { name \"b\" } } ] } } ] } }" } },
        "DEF O P { hidden translation_1 1 2 3 hidden rotation_2 0 0 1 0.5 hidden position_0_0 0.25 hidden position_1_0 0.75 hidden linearVelocity_0 1 0 0 }\n"
        "P { hidden translation_9 1 2 3 }",
        "",
        { 0 }
    };
    DiagSink *diags = diag_create();
    Scene *scene = load_case(&test, diags, NULL);
    SceneNode *a = scene_find_solid(scene, "a"), *b = scene_find_solid(scene, "b");
    CHECK(a && b && scene_vec3(a, "translation").y == 2, "translation of the second solid");
    CHECK(scene_rotation(b, "rotation").angle == 0.5, "rotation of the third");
    CHECK(scene_float(scene_child(scene_parent(a), "jointParameters"), "position") == 0.25, "joint of the root");
    CHECK(scene_float(scene_child(scene_parent(b), "jointParameters"), "position") == 0.75,
          "joint of the second solid");
    CHECK(scene_vec3(scene_find_def(scene, "O"), "linearVelocity").x == 1, "velocity of the root");
    bool warned = false;
    for (int i = 0; i < diag_count(diags); i++)
        warned = warned || strstr(diag_at(diags, i)->message, "does not fit its structure");
    CHECK(warned, "state that does not fit");
    scene_destroy(scene);
    diag_destroy(diags);
}

static SceneNode *first_joint(SceneNode *root)
{
    const FieldList *children = scene_list(root, "children");
    for (int i = 0; i < children->count; i++)
        if (scene_node_is(scene_list_node(children, i), "HingeJoint"))
            return scene_list_node(children, i);
    return NULL;
}

// What Webots saved with its own model of a robot names other Solids than a stand-in of the library has: it counts as a
// whole or not at all, so that no knee takes the angle of a finger.
static void state_of_another_model_is_left_out(void **state)
{
    (void)state;
    static const struct {
        const char *what, *text;
        double angle;
        bool is_told;
    } cases[] = {
        { "the second arm turned about its hinge", "hidden position_0_0 0.5 hidden rotation_1 0 0 1 0.5", 0.5, false },
        { "an arm 5 m off its hinge", "hidden position_0_0 0.5 hidden translation_1 5 5 5", 0.0, true },
        { "a Solid that is not there", "hidden position_0_0 0.5 hidden rotation_99 0 0 1 0.5", 0.0, true },
        { "a joint that is not there", "hidden position_0_0 0.5 hidden position_1_7 1", 0.0, true },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        char world[512];
        snprintf(world, sizeof world, "DEF R UR5e { %s hidden linearVelocity_0 1 0 0 }", cases[i].text);
        Case test = { "state_of_another_model", { { 0 } }, world, "", { 0 } };
        DiagSink *diags = diag_create();
        Scene *scene = load_case(&test, diags, NULL);
        SceneNode *joint = first_joint(scene_actual(scene_find_def(scene, "R")));
        CHECK(joint, cases[i].what);
        CHECK(scene_float(scene_child(joint, "jointParameters"), "position") == cases[i].angle, cases[i].what);
        CHECK(scene_vec3(scene_find_def(scene, "R"), "linearVelocity").x == 1, "the velocity of the whole counts");
        bool told = false;
        for (int j = 0; j < diag_count(diags); j++)
            told = told || strstr(diag_at(diags, j)->message, "of another model of UR5e");
        CHECK(told == cases[i].is_told, cases[i].what);
        scene_destroy(scene);
        diag_destroy(diags);
    }
}

// The body may use nodes of its parameters' defaults by name: a whole default stands for what the parameter has, a node
// inside of one for itself.
static void body_uses_defaults(void **state)
{
    (void)state;
    static const Case test = {
        "use_of_default",
        { { "P", R25
            "PROTO P [ field SFNode geometry DEF GEO Box { size 1 2 3 }\n"
            " field MFNode things [ DEF THING Shape { geometry Cone { } } ] ]\n"
            "{ Solid { children [ Shape { geometry IS geometry } Group { children IS things } USE THING USE THING ]\n"
            "  boundingObject USE GEO } }" } },
        "DEF A P { } DEF B P { geometry Sphere { radius 2 } things [ ] }",
        "",
        { 0 }
    };
    DiagSink *diags = diag_create();
    Scene *scene = load_case(&test, diags, NULL);
    for (int i = 0; i < diag_count(diags); i++)
        CHECK(diag_at(diags, i)->severity != DIAG_ERROR, diag_at(diags, i)->message);
    static const struct {
        const char *def, *bounding;
    } instances[] = { { "A", "Box" }, { "B", "Sphere" } };
    for (int i = 0; i < COUNT_OF(instances); i++) {
        const SceneNode *solid = scene_actual(scene_find_def(scene, instances[i].def));
        const SceneNode *bounding = scene_actual(scene_child(solid, "boundingObject"));
        CHECK(bounding && !strcmp(bounding->type->name, instances[i].bounding), instances[i].def);
        const FieldList *children = scene_list(solid, "children");
        CHECK(children->count == 4, instances[i].def);
        CHECK(scene_list_node(children, 2) == scene_list_node(children, 3), "both are the same node");
        CHECK(!strcmp(scene_child(scene_list_node(children, 2), "geometry")->type->name, "Cone"), instances[i].def);
    }
    scene_destroy(scene);
    diag_destroy(diags);
}

static void equal_templates_are_evaluated_once(void **state)
{
    (void)state;
    static const Case test = {
        "template_deterministic",
        { { "T", JS25
            "PROTO T [ field SFFloat r 1 field SFVec3f t 0 0 0 ] { Solid { translation IS t children Shape { geometry Sphere { radius %<= fields.r.value + 0.125 >% } } } }" },
          { "N", JS25 "# tags: nonDeterministic\nPROTO N [ ] { Solid { customData \"%<= context.id >%\" } }" } },
        "T { t 1 0 0 } T { t 2 0 0 } T { r 1 } T { r 2 } DEF A N { } DEF B N { }",
        "",
        { 0 }
    };
    DiagSink *diags = diag_create();
    int before = template_evaluation_count();
    Scene *scene = load_case(&test, diags, NULL);
    assert_int_equal(template_evaluation_count() - before, 4);  // two of T, one for each N
    scene_destroy(scene);
    diag_destroy(diags);
}

// template_node_id: each instance has an id of its own, the same in every load.
static void templates_know_their_id(void **state)
{
    (void)state;
    static const Case test = { "template_node_id",
                               { { "N", JS25 "PROTO N [ ] { Solid { name \"id %<= context.id >%\" } }" } },
                               "DEF A N { } DEF B N { }",
                               "",
                               { 0 } };
    char names[2][2][64];
    for (int round = 0; round < 2; round++) {
        DiagSink *diags = diag_create();
        Scene *scene = load_case(&test, diags, NULL);
        for (int i = 0; i < 2; i++) {
            const SceneNode *node = scene_instance(scene_find_def(scene, i ? "B" : "A"));
            snprintf(names[round][i], sizeof names[round][i], "%s", scene_string(node, "name"));
            char expected[64];
            snprintf(expected, sizeof expected, "id %u", node->id);
            assert_string_equal(names[round][i], expected);
        }
        scene_destroy(scene);
        diag_destroy(diags);
    }
    CHECK(strcmp(names[0][0], names[0][1]), "two ids");
    assert_memory_equal(names[0][0], names[1][0], strlen(names[0][0]) + 1);
}

// proto_import: nodes that come later find the PROTOs that the world declares.
static void instances_are_imported(void **state)
{
    (void)state;
    static const Case test = {
        "proto_import",
        { { "P",
            JS25 "PROTO P [ field SFFloat r 1 ] { Shape { geometry Sphere { radius %<= fields.r.value * 2 >% } } }" } },
        "Group { }",
        "",
        { 0 }
    };
    DiagSink *diags = diag_create();
    Scene *scene = load_case(&test, diags, NULL);
    static const char text[] = "P { r 4 }";
    const FieldList *list = formats_parse_nodes(scene, text, strlen(text), false, diags);
    assert_int_equal(list->count, 1);
    Text tree = { 0 };
    dump_node(list->nodes[0], &tree);
    assert_string_equal(tree.data, "Shape(geometry=Sphere(radius=8))");
    text_free(&tree);
    scene_destroy(scene);
    diag_destroy(diags);
}

// Instances are saved as they were written, and placeholders with everything that was said of them.
static void instances_are_saved_as_written(void **state)
{
    (void)state;
    static const Case test = {
        "save_instances",
        { { "P", R25
            "PROTO P [ field SFVec3f t 0 0 0 field MFNode c [] field SFNode j NULL ] { Solid { translation IS t children IS c physics IS j } }" } },
        "DEF A P { t 1 2 3 c [ DEF B Pose { children P { } } USE B ] j Physics { mass 2 } }\nGone { translation 1 0 0 other [ 1 2 ] name \"g\" }",
        "",
        { 0 }
    };
    DiagSink *diags = diag_create();
    Scene *scene = load_case(&test, diags, NULL);
    Text saved = { 0 };
    formats_write(scene, &saved);
    static const char *const parts[] = { "DEF A P {", "t 1 2 3",           "DEF B Pose {",  "USE B",     "mass 2",
                                         "Gone {",    "translation 1 0 0", "other [ 1 2 ]", "name \"g\"" };
    for (int i = 0; i < COUNT_OF(parts); i++)
        CHECK(strstr(saved.data, parts[i]), parts[i]);
    CHECK(!strstr(saved.data, "Solid"), "what a PROTO makes is not saved");
    text_free(&saved);
    scene_destroy(scene);
    diag_destroy(diags);
}

// relative_asset_resolution: a URL belongs to the file that gives it, however many PROTOs it passes through.
static void values_keep_the_place_they_come_from(void **state)
{
    (void)state;
    static const Case test = {
        "relative_asset_resolution",
        { { "Inner", R25 "PROTO Inner [ field MFString url \"inner.png\" ] { ImageTexture { url IS url } }" },
          { "Outer", R25
            "EXTERNPROTO \"Inner.proto\"\nPROTO Outer [ field MFString url \"outer.png\" ] { Group { children [ Shape { appearance PBRAppearance { baseColorMap Inner { } metalnessMap Inner { url IS url } normalMap Inner { url \"own.png\" } } } ] } }" } },
        "DEF A Outer { } DEF B Outer { url \"world.png\" }",
        "",
        { 0 }
    };
    static const struct {
        const char *def, *field, *file;
    } cases[] = {
        { "A", "baseColorMap", "Inner.proto" }, { "A", "metalnessMap", "Outer.proto" },
        { "A", "normalMap", "Outer.proto" },    { "B", "baseColorMap", "Inner.proto" },
        { "B", "metalnessMap", "test.wbt" },    { "B", "normalMap", "Outer.proto" },
    };
    DiagSink *diags = diag_create();
    Scene *scene = load_case(&test, diags, NULL);
    for (int i = 0; i < COUNT_OF(cases); i++) {
        const SceneNode *shape = scene_list_node(scene_list(scene_find_def(scene, cases[i].def), "children"), 0);
        const SceneNode *texture = scene_child(scene_child(shape, "appearance"), cases[i].field);
        const char *file = diag_file_name(diags, scene_field_pos(texture, "url").file);
        if (strcmp(path_name(file), cases[i].file))
            fail_msg("%s %s: %s, wanted %s", cases[i].def, cases[i].field, file, cases[i].file);
    }
    scene_destroy(scene);
    diag_destroy(diags);
}

// bounding_object_regeneration: what is below a boundingObject knows it, also when it came through a parameter.
static void bounding_objects_come_through_parameters(void **state)
{
    (void)state;
    static const Case test = {
        "bounding_object_regeneration",
        { { "P", JS25
            "PROTO P [ field SFNode b NULL field SFFloat r 1 ] { Solid { name \"s\" boundingObject %< if (fields.r.value > 1) { >% Sphere { radius %<= fields.r.value >% } %< } else { >% IS b %< } >% } }" } },
        "DEF A P { b Group { children [ DEF INNER Box { } ] } }",
        "",
        { 0 }
    };
    DiagSink *diags = diag_create();
    Scene *scene = load_case(&test, diags, NULL);
    SceneNode *instance = scene_instance(scene_find_def(scene, "A"));
    CHECK(scene_find_def(scene, "INNER")->in_bounding, "a given node");
    scene_set_float(scene, instance, "r", 3);
    CHECK(proto_regenerate(scene, instance, diags), "regenerated");
    SceneNode *sphere = scene_child(instance, "boundingObject");
    CHECK(scene_node_is(sphere, "Sphere") && sphere->in_bounding && scene_float(sphere, "radius") == 3, "the new one");
    scene_destroy(scene);
    diag_destroy(diags);
}

// ---------------------------------------------------------------------------------------------------------------
// search

static void protos_are_found(void **state)
{
    (void)state;
    const char *scratch = support_scratch("proto_search");
    static const struct {
        const char *file, *text;
    } files[] = {
        { "project/protos/deep/er/InProject.proto", R25 "PROTO InProject [ ] { Group { } }" },
        { "project/worlds/Beside.proto", R25 "PROTO Beside [ ] { Group { } }" },
        { "extra/protos/OnPath.proto", R25 "PROTO OnPath [ ] { Group { } }" },
        { "mirror/projects/objects/protos/ByTail.proto",
          R25 "EXTERNPROTO \"ByTailPart.proto\"\nPROTO ByTail [ ] { Group { children ByTailPart { } } }" },
        { "mirror/projects/objects/protos/ByTailPart.proto", R25 "PROTO ByTailPart [ ] { Group { } }" },
        { "library/protos/things/InLibrary.proto", R25 "PROTO InLibrary [ ] { Group { } }" },
        { "project/worlds/test.wbt", R25
          "EXTERNPROTO \"https://raw.githubusercontent.com/cyberbotics/webots/R2023a/projects/objects/protos/ByTail.proto\"\n"
          "EXTERNPROTO \"https://raw.githubusercontent.com/cyberbotics/webots/R2023a/projects/things/protos/InLibrary.proto\"\n"
          "EXTERNPROTO \"webots://projects/nowhere/protos/Missing.proto\"\n"
          "WorldInfo { } Viewpoint { } InProject { } Beside { } OnPath { } ByTail { } InLibrary { } Missing { } Missing { }" },
    };
    char path[600];
    for (int i = 0; i < COUNT_OF(files); i++) {
        snprintf(path, sizeof path, "%s/%s", scratch, files[i].file);
        *strrchr(path, '/') = '\0';
        file_make_directories(path);
        snprintf(path, sizeof path, "%s/%s", scratch, files[i].file);
        support_write(path, files[i].text);
    }
    char extra[512], mirror[512], library[512];
    snprintf(extra, sizeof extra, "%s/extra", scratch);
    snprintf(mirror, sizeof mirror, "%s/mirror", scratch);
    snprintf(library, sizeof library, "%s/library", scratch);
    setenv("TALUS_LIBRARY", library, 1);
    setenv("WEBOTS_EXTRA_PROJECT_PATH", extra, 1);
    const char *paths[] = { mirror, NULL };
    DiagSink *diags = diag_create();
    Scene *scene = formats_load(path, &(FormatsOptions){ .search_paths = paths }, diags);
    unsetenv("TALUS_LIBRARY");
    unsetenv("WEBOTS_EXTRA_PROJECT_PATH");
    static const struct {
        const char *name, *origin;
    } expected[] = {
        { "InProject", "project" },   { "Beside", "project" },    { "OnPath", "path" },     { "ByTail", "path" },
        { "ByTailPart", "declared" }, { "InLibrary", "library" }, { "Missing", "missing" },
    };
    assert_int_equal(proto_count(scene), COUNT_OF(expected));
    for (int i = 0; i < COUNT_OF(expected); i++) {
        assert_string_equal(proto_at(scene, i)->name, expected[i].name);
        assert_string_equal(proto_at(scene, i)->origin, expected[i].origin);
    }
    int missing = 0, undeclared = 0;
    for (int i = 0; i < diag_count(diags); i++) {
        const Diagnostic *diagnostic = diag_at(diags, i);
        if (strstr(diagnostic->message, "'Missing' was not found")) {
            missing += diagnostic->count;
            CHECK(diagnostic->hint && strstr(diagnostic->hint, "webots://projects/nowhere"), "places in the hint");
        }
        undeclared += strstr(diagnostic->message, "missing declaration for") != NULL;
    }
    assert_int_equal(missing, 1);
    assert_int_equal(undeclared, 3);  // InProject, Beside, OnPath
    scene_destroy(scene);
    diag_destroy(diags);
}

// ----------------------------------------------------------------------------------------------------------------
// limits

static void depth_is_bounded(void **state)
{
    (void)state;
    const char *scratch = support_scratch("proto_depth");
    char path[512], text[512];
    enum { CHAIN = 300 };
    snprintf(path, sizeof path, "%s/protos", scratch);
    file_make_directories(path);
    for (int i = 0; i < CHAIN; i++) {
        snprintf(path, sizeof path, "%s/protos/P%d.proto", scratch, i);
        snprintf(text, sizeof text, R25 "EXTERNPROTO \"P%d.proto\"\nPROTO P%d [ ] { Group { children [ P%d { } ] } }",
                 i + 1, i, i + 1);
        support_write(path, text);
    }
    static const struct {
        int first;
        bool too_deep;
    } cases[] = { { 0, true }, { CHAIN - 64, false }, { CHAIN - 65, true } };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        snprintf(path, sizeof path, "%s/protos/P%d.proto", scratch, CHAIN);
        support_write(path, R25 "PROTO P300 [ ] { Group { } }");
        snprintf(path, sizeof path, "%s/protos/P%d.proto", scratch, cases[i].first + 1);
        DiagSink *diags = diag_create();
        Scene *scene = formats_load(path, NULL, diags);
        bool too_deep = false;
        for (int k = 0; k < diag_count(diags); k++)
            too_deep = too_deep || strstr(diag_at(diags, k)->message, "nested deeper than 64");
        CHECK(scene && too_deep == cases[i].too_deep, path);
        scene_destroy(scene);
        diag_destroy(diags);
    }
}

// Ten of ten of ten ...: the number of nodes is bounded, not only the depth.
static void growth_is_bounded(void **state)
{
    (void)state;
    const char *scratch = support_scratch("proto_growth");
    char path[512];
    for (int i = 0; i < 12; i++) {
        Text text = { 0 };
        text_printf(&text, R25 "EXTERNPROTO \"G%d.proto\"\nPROTO G%d [ ] { Group { children [ ", i + 1, i);
        for (int k = 0; k < 10; k++)
            text_printf(&text, "G%d { } ", i + 1);
        text_add_string(&text, "] } }");
        snprintf(path, sizeof path, "%s/G%d.proto", scratch, i);
        support_write(path, i < 11 ? text.data : R25 "PROTO G11 [ ] { Group { } }");
        text_free(&text);
    }
    snprintf(path, sizeof path, "%s/G0.proto", scratch);
    Limits limits = limits_default;
    limits.nodes = 20000;
    DiagSink *diags = diag_create();
    Scene *scene = formats_load(path, &(FormatsOptions){ .limits = &limits }, diags);
    CHECK(scene && scene_node_count(scene) <= limits.nodes, "bounded");
    CHECK(diag_has_errors(diags) && strstr(diag_at(diags, 0)->message, "more than 20000 nodes"), "reported");
    scene_destroy(scene);
    diag_destroy(diags);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interfaces_are_read),
        cmocka_unit_test(restrictions_are_checked),
        cmocka_unit_test(defaults_have_names),
        cmocka_unit_test(names_of_our_own_nodes_are_free),
        cmocka_unit_test(oldest_templates_mean_what_they_meant),
        cmocka_unit_test(connections_convert_numbers),
        cmocka_unit_test(protos_nest_and_derive),
        cmocka_unit_test(templates_make_trees),
        cmocka_unit_test(generated_text_has_places),
        cmocka_unit_test(templates_can_be_off),
        cmocka_unit_test(parameters_reach_their_fields),
        cmocka_unit_test(templates_are_regenerated),
        cmocka_unit_test(hidden_state_is_applied),
        cmocka_unit_test(state_of_another_model_is_left_out),
        cmocka_unit_test(body_uses_defaults),
        cmocka_unit_test(equal_templates_are_evaluated_once),
        cmocka_unit_test(templates_know_their_id),
        cmocka_unit_test(instances_are_imported),
        cmocka_unit_test(instances_are_saved_as_written),
        cmocka_unit_test(bounding_objects_come_through_parameters),
        cmocka_unit_test(values_keep_the_place_they_come_from),
        cmocka_unit_test(protos_are_found),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(growth_is_bounded),
    };
    return cmocka_run_group_tests_name("formats.proto", tests, NULL, NULL);
}
