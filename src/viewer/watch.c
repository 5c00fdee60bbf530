// watch.c - what is computed only while somebody looks at it: contacts with forces, states, joints and counts as
// sections of frames; values of fields, joints and devices as numbers; pictures of devices.
#include "viewer/viewer_internal.h"

#include "base/hash.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PICTURE_WIDTH_MAX = 640,
    PICTURE_HEIGHT_MAX = 640,
    PICTURE_RGBA = 0,
    PICTURE_DISTANCES = 1,
    NUMBERS_MAX = 64,
    IMMERSIONS_MAX = 10000
};

typedef enum WatchedKind { WATCHED_SECTION, WATCHED_DEVICE, WATCHED_VALUE, WATCHED_JOINT, WATCHED_WINDOW } WatchedKind;

// ---- asking ----

static bool starts_with_number(const char *text, uint32_t *number, const char **rest)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    *number = (uint32_t)value;
    *rest = end;
    return end != text && value <= UINT32_MAX && *text >= '0' && *text <= '9';
}

// What a name stands for: a section of frames, or a kind of thing and the number of its node. NULL: fine.
static const char *read_watch(Viewer *viewer, const char *what, Watch *watch)
{
    assert(viewer->sim && what);
    static const struct {
        const char *prefix;
        WatchedKind kind;
    } prefixes[] = { { "device:", WATCHED_DEVICE },
                     { "value:", WATCHED_VALUE },
                     { "joint:", WATCHED_JOINT },
                     { "window:", WATCHED_WINDOW } };
    for (int i = 0; i < WATCH_KINDS; i++)
        if (!strcmp(what, watch_kinds[i].name)) {
            watch->kind = WATCHED_SECTION;
            watch->node = 1u << i;
            return NULL;
        }
    for (int i = 0; i < COUNT_OF(prefixes); i++) {
        const char *rest;
        if (!text_starts_with(what, prefixes[i].prefix)
            || !starts_with_number(what + strlen(prefixes[i].prefix), &watch->node, &rest))
            continue;
        SceneNode *node = scene_find_id(sim_scene(viewer->sim), watch->node);
        watch->kind = (int)prefixes[i].kind;
        watch->field = node && node->type && watch->kind == WATCHED_VALUE && *rest == '.'
                           ? schema_field(node->type, rest + 1)
                           : NULL;
        if (!node || (watch->kind == WATCHED_VALUE && !watch->field) || (watch->kind != WATCHED_VALUE && *rest))
            return "there is nothing of that name to watch";
        return NULL;
    }
    return "watch wants contacts, states, joints, info, drawing, buoyancy, device:NODE, value:NODE.field, joint:NODE or window:NODE";
}

static void recount(Viewer *viewer)
{
    assert(viewer->watch_count >= 0 && viewer->watch_count <= VIEWER_WATCHES_MAX);
    viewer->watched = 0;
    for (int i = 0; i < viewer->watch_count; i++)
        if (viewer->watches[i].kind == WATCHED_SECTION)
            viewer->watched |= viewer->watches[i].node;
    bool wants = viewer->watched & WATCH_CONTACTS;
    if (wants != viewer->wants_forces && viewer->sim)
        physics_want_contact_forces(sim_physics(viewer->sim), wants);
    viewer->wants_forces = wants;
    viewer->is_dirty = true;
}

static void remove_watch(Viewer *viewer, int index)
{
    assert(index >= 0 && index < viewer->watch_count);
    free(viewer->watches[index].what);
    viewer->watches[index] = viewer->watches[--viewer->watch_count];
}

void watch_client_left(Viewer *viewer, uint32_t client)
{
    for (int i = viewer->watch_count - 1; i >= 0; i--)
        if (viewer->watches[i].client == client)
            remove_watch(viewer, i);
    recount(viewer);
}

const char *act_watch(Act *act)
{
    Viewer *viewer = act->viewer;
    const char *what = json_member_string(act->message, "what");
    if (!what || strlen(what) > 200)
        return "what wants the name of something";
    int place = 0;
    while (place < viewer->watch_count
           && (viewer->watches[place].client != act->client || strcmp(viewer->watches[place].what, what)))
        place++;
    bool is_there = place < viewer->watch_count, is_wanted = json_member_bool(act->message, "on", true);
    if (is_there && !is_wanted)
        remove_watch(viewer, place);
    if (!is_there && is_wanted) {
        Watch watch = { .client = act->client };
        const char *error = read_watch(viewer, what, &watch);
        if (error)
            return error;
        if (viewer->watch_count == VIEWER_WATCHES_MAX)
            return "too many things are watched";
        watch.what = memory_string(what);
        viewer->watches[viewer->watch_count++] = watch;
    }
    recount(viewer);
    return NULL;
}

// ---- sections of frames ----

static void add_info(Viewer *viewer, Text *out)
{
    PhysicsStatistics statistics = physics_statistics(sim_physics(viewer->sim));
    JsonWriter json = { .out = out, .compact = true };
    json_begin_object(&json, NULL);
    json_int(&json, "contacts", statistics.contacts);
    json_int(&json, "contactsDropped", statistics.contacts_dropped);
    json_int(&json, "bodies", statistics.bodies);
    json_int(&json, "awake", statistics.bodies_awake);
    json_int(&json, "frozen", statistics.frozen);
    json_double(&json, "deepest", statistics.deepest);
    json_int(&json, "warnings", diag_total(viewer->diags, DIAG_WARNING));
    json_int(&json, "errors", diag_total(viewer->diags, DIAG_ERROR));
    json_end_object(&json);
}

static void add_drawing(Viewer *viewer, ViewMoment *moment)
{
    if (!viewer->drawing)
        viewer->drawing = drawing_create();
    PhysicsPoses *poses = &moment->world.poses;
    physics_poses_make(poses);
    drawing_take(viewer->drawing, viewer->sim, poses->solids, poses->solid_count, &moment->drawing);
    moment->drawing_hash = hash_bytes(moment->drawing.data, moment->drawing.length, 0);
}

static void add_buoyancy(Viewer *viewer, Text *out)
{
    const Physics *physics = sim_physics(viewer->sim);
    int count = int_min(physics_immersions(physics, NULL, 0), IMMERSIONS_MAX);
    PhysicsImmersion *immersions = memory_alloc_array((size_t)count, sizeof *immersions);
    count = int_min(physics_immersions(physics, immersions, count), count);
    for (int i = 0; i < count; i++) {
        Vec3 center = immersions[i].center;
        uint16_t solid = (uint16_t)immersions[i].solid;
        const float numbers[4] = { (float)center.x, (float)center.y, (float)center.z, (float)immersions[i].mass };
        if (immersions[i].solid < UINT16_MAX) {
            text_add(out, (const char *)&solid, sizeof solid);
            text_add(out, (const char *)numbers, sizeof numbers);
        }
    }
    free(immersions);
}

static void add_sections(Viewer *viewer, ViewMoment *moment)
{
    assert_debug(viewer->sim);
    int parts = MOMENT_ALL;
    for (int i = 0; i < WATCH_KINDS; i++)
        if (viewer->watched & 1u << i)
            parts |= watch_kinds[i].part;
    moment->parts = viewer->watched;
    moment_take(&moment->world, sim_physics(viewer->sim), parts);
    moment_take_glow(&moment->world, viewer->world.devices);
    moment_take_bones(&moment->world, viewer->world.devices);
    moment_take_screens(&moment->world, viewer->world.devices);
    text_clear(&moment->info);
    if (viewer->watched & WATCH_INFO)
        add_info(viewer, &moment->info);
    text_clear(&moment->buoyancy);
    if (viewer->watched & WATCH_BUOYANCY)
        add_buoyancy(viewer, &moment->buoyancy);
    text_clear(&moment->drawing);
    if (viewer->watched & WATCH_DRAWING)
        add_drawing(viewer, moment);
}

// ---- numbers ----

static int field_numbers(const SceneNode *node, const FieldType *type, double *numbers)
{
    assert(node && type && field_kind_doubles(type->kind) <= NUMBERS_MAX);
    FieldValue value = scene_value(node, type);
    switch (type->kind) {
    case FIELD_SF_BOOL: numbers[0] = value.b; return 1;
    case FIELD_SF_INT32: numbers[0] = value.i; return 1;
    case FIELD_SF_FLOAT: numbers[0] = value.f; return 1;
    default: break;
    }
    int count = field_kind_is_list(type->kind) ? 0 : field_kind_doubles(type->kind);
    for (int i = 0; i < count; i++)
        numbers[i] = value.v[i];
    return count;
}

static int joint_numbers(const Viewer *viewer, const SceneNode *node, double *numbers)
{
    const Physics *physics = sim_physics(viewer->sim);
    int joint = physics_joint_of(physics, scene_actual(node)), count = 0;
    for (int axis = 0; joint >= 0 && axis < physics_joint_axis_count(physics, joint); axis++) {
        numbers[count++] = physics_joint_position(physics, joint, axis);
        numbers[count++] = physics_joint_velocity(physics, joint, axis);
    }
    return count;
}

static int device_numbers(const Viewer *viewer, const SceneNode *node, double *numbers)
{
    int robot, tag, count = 0;
    uint32_t serial;
    if (!viewer->world.devices || !devices_of_node(viewer->world.devices, node, &robot, &tag))
        return 0;
    const double *reading = devices_reading(viewer->world.devices, robot, tag, 0, &count, &serial);
    count = reading && serial ? int_min(count, NUMBERS_MAX) : 0;
    memcpy(numbers, reading ? reading : numbers, (size_t)count * sizeof *numbers);
    return count;
}

static void send_numbers(Viewer *viewer, const Watch *watch, const double *numbers, int count)
{
    assert(count >= 0 && count <= NUMBERS_MAX);
    text_clear(&viewer->text);
    JsonWriter json = { .out = &viewer->text, .compact = true };
    json_begin_object(&json, NULL);
    json_string(&json, "is", "value");
    json_string(&json, "name", watch->what);
    json_double(&json, "t", sim_time(viewer->sim));
    json_begin_array(&json, "v");
    for (int i = 0; i < count; i++)
        json_double(&json, NULL, numbers[i]);
    json_end_array(&json);
    json_end_object(&json);
    session_tell(viewer, watch->client, &viewer->text, true);
}

// ---- pictures ----

static void add_number(Text *out, uint32_t value, int bytes)
{
    assert(bytes > 0 && bytes <= 4);
    for (int i = 0; i < bytes; i++)
        text_add_char(out, (char)(value >> (8 * i) & 0xff));
}

static void send_picture(Viewer *viewer, const Watch *watch, int width, int height, int kind, const void *pixels)
{
    assert(width > 0 && width <= UINT16_MAX && height > 0 && height <= UINT16_MAX && pixels);
    Text *out = &viewer->text;
    text_clear(out);
    text_add(out, "PICT", 4);
    add_number(out, watch->node, 4);
    add_number(out, (uint32_t)width, 2);
    add_number(out, (uint32_t)height, 2);
    add_number(out, (uint32_t)kind, 1);
    text_add(out, pixels, (size_t)width * (size_t)height * 4);
    exchange_send(&viewer->exchange, (Letter){ .kind = LETTER_BINARY,
                                               .client = watch->client,
                                               .is_droppable = true,
                                               .blob = blob_create(out->data, out->length) });
}

static bool send_distances(Viewer *viewer, const Watch *watch, const SceneNode *node, int robot, int tag)
{
    int size, number = devices_due_image(viewer->world.devices, robot, tag, 0);
    const void *image = number >= 0 ? devices_image(viewer->world.devices, robot, tag, number, &size) : NULL;
    int width = schema_field(node->type, "width")                  ? scene_int(node, "width")
                : schema_field(node->type, "horizontalResolution") ? scene_int(node, "horizontalResolution")
                                                                   : 0;
    if (!image || width <= 0 || size / 4 < width || width > 0xffff)
        return false;
    send_picture(viewer, watch, width, int_min(size / 4 / width, 0xffff), PICTURE_DISTANCES, image);
    return true;
}

static bool send_camera(Viewer *viewer, const Watch *watch, const SceneNode *node)
{
    assert(viewer->world.devices);
    int width = scene_int(node, "width"), height = scene_int(node, "height");
    double shrink = fmax(1.0, fmax((double)width / PICTURE_WIDTH_MAX, (double)height / PICTURE_HEIGHT_MAX));
    width = int_max(1, (int)(width / shrink));
    height = int_max(1, (int)(height / shrink));
    uint8_t *pixels = memory_alloc_array((size_t)width * (size_t)height, 4);
    bool is_seen = devices_look_through(viewer->world.devices, node, width, height, pixels, NULL);
    if (is_seen)
        send_picture(viewer, watch, width, height, PICTURE_RGBA, pixels);
    free(pixels);
    return is_seen;
}

static bool send_display(Viewer *viewer, const Watch *watch, int robot, int tag)
{
    int width, height;
    const uint8_t *pixels = devices_display(viewer->world.devices, robot, tag, &width, &height);
    if (!pixels || width > 0xffff || height > 0xffff)
        return false;
    send_picture(viewer, watch, width, height, PICTURE_RGBA, pixels);
    return true;
}

static void watch_device(Viewer *viewer, Watch *watch, const SceneNode *node)
{
    int robot, tag;
    double numbers[NUMBERS_MAX], now = viewer_clock();
    const SceneNode *actual = scene_actual(node);
    if (!actual || !viewer->world.devices || !devices_of_node(viewer->world.devices, actual, &robot, &tag))
        return;
    bool is_camera = scene_node_is(actual, "Camera"), is_display = scene_node_is(actual, "Display");
    bool has_distances = scene_node_is(actual, "RangeFinder") || scene_node_is(actual, "Lidar");
    if (!is_camera && !has_distances && !is_display) {
        int count = device_numbers(viewer, actual, numbers);
        if (count > 0)
            send_numbers(viewer, watch, numbers, count);
        return;
    }
    if (now - watch->last
        < VIEWER_PICTURE_SECONDS) {  // of this moment it comes later, also when the world stands still then
        viewer->is_picture_late = true;
        return;
    }
    bool is_sent = is_camera    ? send_camera(viewer, watch, actual)
                   : is_display ? send_display(viewer, watch, robot, tag)
                                : send_distances(viewer, watch, actual, robot, tag);
    if (is_sent)
        watch->last = now;
}

// ---- ink ----

static void send_ink(Viewer *viewer, const DeviceInk *tiles, int count)
{
    assert(count >= 0 && count <= MOMENT_INK_MAX && (tiles || count == 0));
    text_clear(&viewer->text);
    text_add(&viewer->text, "INKS", 4);
    if (count > 0)
        text_add(&viewer->text, (const char *)tiles, (size_t)count * sizeof *tiles);
    exchange_send(&viewer->exchange,
                  (Letter){ .kind = LETTER_BINARY, .blob = blob_create(viewer->text.data, viewer->text.length) });
}

void watch_forget_ink(Viewer *viewer)
{
    viewer->ink_seen = 0;
    send_ink(viewer, NULL, 0);
}

// Everybody is told what Pens wrote, now and then and piece by piece, so that much of it holds up nobody.
static void watch_ink(Viewer *viewer, Moment *moment)
{
    double now = viewer_clock();
    if (!viewer->world.devices || !devices_has_ink(viewer->world.devices, viewer->ink_seen))
        return;
    if (now - viewer->ink_sent >= VIEWER_PICTURE_SECONDS) {
        moment_take_ink(moment, viewer->world.devices, &viewer->ink_seen);
        send_ink(viewer, moment->ink, moment->ink_count);
        viewer->ink_sent = now;
    }
    viewer->is_picture_late |= devices_has_ink(viewer->world.devices, viewer->ink_seen);
}

int watch_windows(const Viewer *viewer, const SceneNode *robot, uint32_t clients[VIEWER_CLIENTS_MAX])
{
    int count = 0;
    for (int i = 0; i < viewer->watch_count && count < VIEWER_CLIENTS_MAX; i++) {
        const Watch *watch = &viewer->watches[i];
        const SceneNode *node = watch->kind == WATCHED_WINDOW ? scene_find_id(sim_scene(viewer->sim), watch->node)
                                                              : NULL;
        if (node && scene_actual(node) == robot)
            clients[count++] = watch->client;
    }
    return count;
}

void watch_publish(Viewer *viewer, ViewMoment *moment)
{
    add_sections(viewer, moment);
    bool is_synced = viewer->is_picture_late = false;
    watch_ink(viewer, &moment->world);
    for (int i = 0; i < viewer->watch_count; i++) {
        Watch *watch = &viewer->watches[i];
        SceneNode *node = watch->kind == WATCHED_SECTION ? NULL : scene_find_id(sim_scene(viewer->sim), watch->node);
        double numbers[NUMBERS_MAX];
        if (!node || node->is_removed)
            continue;
        if (watch->kind == WATCHED_DEVICE)
            watch_device(viewer, watch, node);
        if (watch->kind == WATCHED_JOINT)
            send_numbers(viewer, watch, numbers, joint_numbers(viewer, node, numbers));
        if (watch->kind == WATCHED_VALUE) {
            if (!is_synced)
                sim_sync_scene(viewer->sim);
            is_synced = true;
            send_numbers(viewer, watch, numbers, field_numbers(scene_actual(node), watch->field, numbers));
        }
    }
}
