// What the robots, vehicles and devices of the library have. tests/library/asked.txt lists the devices that published
// controllers ask for by name: every one must be there, of that type. docs/library-devices.md states the figures of all
// of them; with TALUS_UPDATE=1 the page is written anew.
#include "base/diag.h"
#include "base/text.h"
#include "formats/formats.h"
#include "physics/physics.h"
#include "support/support.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

typedef struct Listing {
    Scene *scene;
    DiagSink *diags;
    const char *name;  // of the PROTO
    Text *page;
    int device_count, missing_count;
} Listing;

static char *find_proto(const char *name)
{
    static const char *const folders[] = { "robots", "vehicles", "devices", "objects" };
    for (int i = 0; i < COUNT_OF(folders); i++) {
        char path[256];
        snprintf(path, sizeof path, "library/protos/%s/%s.proto", folders[i], name);
        char *text = support_read(path);
        free(text);
        if (text)
            return strdup(path);
    }
    return NULL;
}

// ---- what controllers ask for ----

typedef struct Search {
    const char *name, *type;
    bool is_found;
} Search;

static bool match_device(SceneNode *node, void *context)
{
    Search *search = context;
    if ((node->type->flags & NODE_DEVICE) && scene_node_is(node, search->type)
        && !strcmp(scene_string(node, "name"), search->name))
        search->is_found = true;
    return !search->is_found;
}

static void ask_one(Listing *listing, const char *type, const char *name)
{
    Search search = { name, type, false };
    const FieldList *top = scene_list(scene_root(listing->scene), "children");
    for (int i = 0; i < top->count; i++)
        scene_walk(scene_list_node(top, i), false, match_device, &search);
    if (!search.is_found)
        printf("%s has no %s '%s'\n", listing->name, type, name);
    listing->missing_count += !search.is_found;
    listing->device_count++;
}

// "ps0..7" means ps0 to ps7.
static void ask(Listing *listing, const char *type, const char *name)
{
    const char *dots = strstr(name, "..");
    if (!dots) {
        ask_one(listing, type, name);
        return;
    }
    const char *digits = dots;
    while (digits > name && isdigit((unsigned char)digits[-1]))
        digits--;
    const char *rest = dots + 2;
    for (int i = atoi(digits); i <= atoi(dots + 2); i++) {
        while (isdigit((unsigned char)*rest))
            rest++;
        char one[128];
        snprintf(one, sizeof one, "%.*s%d%s", (int)(digits - name), name, i, rest);
        ask_one(listing, type, one);
    }
}

static void close_listing(Listing *listing)
{
    scene_destroy(listing->scene);
    diag_destroy(listing->diags);
    listing->scene = NULL;
    listing->diags = NULL;
}

static void open_listing(Listing *listing, const char *name)
{
    char *path = find_proto(name);
    CHECK(path, name);
    listing->diags = diag_create();
    listing->scene = formats_load(path, NULL, listing->diags);
    listing->name = name;
    CHECK(listing->scene, name);
    free(path);
}

static void test_what_is_asked_for_is_there(void **state)
{
    (void)state;
    char *text = support_read("tests/library/asked.txt"), *rest = text, *line;
    CHECK(text, "asked.txt");
    Listing listing = { 0 };
    int protos = 0;
    while ((line = strsep(&rest, "\n"))) {
        char *type = line + strspn(line, " "), *names = strchr(type, ' ');
        if (*line == '#' || *line == '\0')
            continue;
        if (type == line) {
            if (listing.scene)
                close_listing(&listing);
            open_listing(&listing, line);
            protos++;
            continue;
        }
        CHECK(names, line);
        *names++ = '\0';
        for (char *name; (name = strsep(&names, ","));)
            ask(&listing, type, name + strspn(name, " "));
    }
    close_listing(&listing);
    free(text);
    printf("%d devices of %d PROTOs\n", listing.device_count, protos);
    assert_int_equal(listing.missing_count, 0);
    assert_true(protos >= 30 && listing.device_count >= 350);
}

// ---- the page ----

static SceneNode *placed_above(SceneNode *node)
{
    for (SceneNode *at = node; at; at = scene_parent(at))
        if (scene_node_is(at, "Pose"))
            return at;
    return NULL;
}

static void add_figures(Text *page, SceneNode *node)
{
    static const struct {
        const char *type, *fields;
    } rows[] = {
        { "RotationalMotor", "minPosition maxPosition maxVelocity maxTorque" },
        { "LinearMotor", "minPosition maxPosition maxVelocity maxForce" },
        { "Camera", "width height fieldOfView" },
        { "RangeFinder", "width height fieldOfView minRange maxRange" },
        { "Lidar", "horizontalResolution numberOfLayers fieldOfView minRange maxRange" },
        { "Emitter", "channel range" },
        { "Receiver", "channel" },
        { "DistanceSensor", "numberOfRays aperture" },
        { "PositionSensor", "resolution" },
        { "Display", "width height" },
    };
    for (int i = 0; i < COUNT_OF(rows); i++) {
        if (strcmp(node->type->name, rows[i].type))
            continue;
        char fields[128], *rest = fields, *name;
        snprintf(fields, sizeof fields, "%s", rows[i].fields);
        while ((name = strsep(&rest, " "))) {
            const FieldType *field = schema_field(node->type, name);
            assert_non_null(field);
            double value = field->kind == FIELD_SF_INT32 ? scene_int(node, name) : scene_float(node, name);
            text_printf(page, "%s%s %g", name == fields ? "" : ", ", name, value);
        }
    }
}

static double clean(double value) { return fabs(value) < 5e-5 ? 0.0 : value; }

static bool list_device(SceneNode *node, void *context)
{
    Listing *listing = context;
    if (!(node->type->flags & NODE_DEVICE) || !schema_field(node->type, "name"))
        return true;
    SceneNode *place = placed_above(node);
    Vec3 at = place ? scene_world_pose(place).t : VEC3_ZERO;
    text_printf(listing->page, "| %s | %s | %.4g %.4g %.4g | ", scene_string(node, "name"), node->type->name,
                clean(at.x), clean(at.y), clean(at.z));
    add_figures(listing->page, node);
    text_printf(listing->page, " |\n");
    listing->device_count++;
    return true;
}

static double mass_of(Listing *listing)
{
    Physics *physics = physics_create(listing->scene, NULL, listing->diags);
    double mass = 0.0;
    for (int i = 0; physics && i < physics_solid_count(physics); i++)
        mass += physics_solid_exists(physics, i) ? physics_solid_mass(physics, i) : 0.0;
    physics_destroy(physics);
    return mass;
}

static void list_proto(const char *path, void *context)
{
    Text *page = context;
    char name[128];
    snprintf(name, sizeof name, "%s", strrchr(path, '/') + 1);
    *strrchr(name, '.') = '\0';
    Text rows = { 0 };
    Listing listing = { .diags = diag_create(), .name = name, .page = &rows };
    listing.scene = formats_load(path, NULL, listing.diags);
    CHECK(listing.scene, path);
    const FieldList *top = scene_list(scene_root(listing.scene), "children");
    SceneNode *root = top->count ? scene_list_node(top, 0) : NULL;
    if (root) {
        Pose identity = POSE_IDENTITY;
        if (schema_field(root->type, "translation"))
            scene_set_vec3(listing.scene, root, "translation", identity.t);
        scene_walk(root, false, list_device, &listing);
    }
    if (listing.device_count)
        text_printf(page,
                    "\n## %s\n\n%d devices, %.4g kg.\n\n| device | type | place, m | figures |\n|---|---|---|---|\n%s",
                    name, listing.device_count, mass_of(&listing), rows.data);
    text_free(&rows);
    scene_destroy(listing.scene);
    diag_destroy(listing.diags);
}

static void test_page_states_the_figures(void **state)
{
    (void)state;
    Text page = { 0 };
    text_printf(
        &page,
        "# Devices of the library's robots\n\nWhat controllers find in each robot, vehicle and device of `library/protos/` with its parameters as they "
        "are: names, types,\nplaces in the robot's own axes (x to the front, z up), ranges and limits. Limits of 0 and 0 mean none. This page is "
        "made by\n`tests/library/figures_test.c` with TALUS_UPDATE=1; [library.md](library.md) tells what is faithful.\n");
    static const char *const folders[] = { "library/protos/robots", "library/protos/vehicles",
                                           "library/protos/devices" };
    for (int i = 0; i < COUNT_OF(folders); i++)
        support_each_file(folders[i], ".proto", list_proto, &page);
    if (getenv("TALUS_UPDATE"))
        support_write("docs/library-devices.md", page.data);
    char *written = support_read("docs/library-devices.md");
    CHECK(written && !strcmp(written, page.data), "docs/library-devices.md is old: run this test with TALUS_UPDATE=1");
    free(written);
    text_free(&page);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_what_is_asked_for_is_there),
                                        cmocka_unit_test(test_page_states_the_figures) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
