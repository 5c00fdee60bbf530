// camera.c - cameras: their facts and settings, and what they recognise. Their pictures are made in picture.c.
#include "devices/devices_internal.h"

#include <webots/nodes.h>

#include <limits.h>
#include <string.h>

// ---- recognition ----
// What the library unpacks: the number of objects, then for each OBJECT_NUMBERS numbers in the order of Recognized, its
// colours, and its model as text padded with zeros to whole numbers.

enum { OBJECT_NUMBERS = 15, OBJECTS_MAX = 256 };

typedef struct Recognized {
    int solid;
    Sight sight;
    int place[2], size[2];  // pixels
} Recognized;

static Vec3 corner_of(const Sight *sight, int i)
{
    assert_debug(i >= 0 && i < 8);
    Vec3 half = vec3_scale(sight->size, 0.5);
    return vec3_add(sight->centre, vec3(i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y, i & 4 ? half.z : -half.z));
}

// The pixels around the box: of its middle and its eight corners; those of a ball lie beside its middle. False: it
// covers less than one.
static bool place_on_image(const ImageView *view, Recognized *object)
{
    int low[2] = { INT_MAX, INT_MAX }, high[2] = { INT_MIN, INT_MIN };
    const int last[2] = { view->width - 1, view->height - 1 };
    for (int i = 0; i < 9; i++) {
        double at[2];
        Vec3 corner = i < 8 ? corner_of(&object->sight, i) : object->sight.centre;
        if (object->sight.is_ball)
            corner.x = object->sight.centre.x;
        image_place(view, corner, &at[0], &at[1]);
        for (int k = 0; k < 2; k++) {
            int pixel = int_min((int)at[k], last[k]);
            low[k] = int_min(low[k], pixel);
            high[k] = int_max(high[k], pixel);
        }
    }
    for (int k = 0; k < 2; k++) {
        object->place[k] = (low[k] + high[k] + 1) / 2;
        object->size[k] = high[k] - low[k];
    }
    return object->size[0] > 0 && object->size[1] > 0;
}

// With occlusion 1 one ray to the object decides; with 2 one to any corner suffices too.
static bool is_hidden(const DeviceContext *at, int occlusion, const Recognized *object)
{
    double depth = 0.5 * object->sight.size.x;
    if (occlusion <= 0 || !sight_is_hidden(at, object->solid, physics_solid_pose(at->physics, object->solid).t, depth))
        return false;
    Pose pose = device_pose(at);
    for (int i = 0; occlusion > 1 && i < 8; i++)
        if (!sight_is_hidden(at, object->solid, pose_apply(pose, corner_of(&object->sight, i)), 0.0))
            return false;
    return true;
}

static bool recognise(const DeviceContext *at, const SceneNode *recognition, const ImageView *view, int solid,
                      Recognized *object)
{
    assert(solid >= 0 && solid < physics_solid_count(at->physics));
    object->solid = solid;
    const Sight *sight = &object->sight;
    if (scene_list(physics_solid_node(at->physics, solid), "recognitionColors")->count == 0 || solid == at->info->solid
        || !sight_of(at, solid, view->horizontal, view->vertical, &object->sight)
        || (view->projection == PLANAR ? sight->centre.x : vec3_length(sight->centre))
               > scene_float(recognition, "maxRange") + 0.5 * sight->size.x
        || is_hidden(at, scene_int(recognition, "occlusion"), object))
        return false;
    return place_on_image(view, object);
}

static int64_t area(const Recognized *object) { return (int64_t)object->size[0] * object->size[1]; }

// Keeps the largest on the image, in the order of the file.
static void keep(Recognized *objects, int *count, int max, const Recognized *object)
{
    assert_debug(*count >= 0 && *count <= OBJECTS_MAX);
    if (*count < max) {
        objects[(*count)++] = *object;
        return;
    }
    int min = 0;
    for (int i = 1; i < *count; i++)
        if (area(&objects[i]) < area(&objects[min]))
            min = i;
    if (max < 1 || area(object) <= area(&objects[min]))
        return;
    memmove(&objects[min], &objects[min + 1], (size_t)(*count - 1 - min) * sizeof *objects);
    objects[*count - 1] = *object;
}

static int model_numbers(const SceneNode *node)
{
    return (int)(strlen(scene_string(node, "model")) / sizeof(double)) + 1;
}

// Numbers, colours, then the name in whole doubles: one array that the program's library takes apart.
static double *pack(const DeviceContext *at, const Recognized *object, double *out)
{
    assert(object->solid >= 0 && out);
    const SceneNode *node = physics_solid_node(at->physics, object->solid);
    const FieldList *colors = scene_list(node, "recognitionColors");
    Quat turn = quat_mul(quat_conj(device_pose(at).q), physics_solid_pose(at->physics, object->solid).q);
    Rotation rotation = quat_to_rotation(turn);
    const Sight *sight = &object->sight;
    const double numbers[OBJECT_NUMBERS] = {
        scene_instance(node)->id,
        sight->centre.x,
        sight->centre.y,
        sight->centre.z,
        rotation.x,
        rotation.y,
        rotation.z,
        rotation.angle,
        sight->size.x,
        sight->size.y,
        object->place[0],
        object->place[1],
        object->size[0],
        object->size[1],
        colors->count,
    };
    memcpy(out, numbers, sizeof numbers);
    out += OBJECT_NUMBERS;
    memcpy(out, colors->numbers, (size_t)colors->count * 3 * sizeof *out);
    out += 3 * colors->count;
    int text = model_numbers(node);
    memset(out, 0, (size_t)text * sizeof *out);
    memcpy(out, scene_string(node, "model"), strlen(scene_string(node, "model")));
    return out + text;
}

static int recognise_all(DeviceContext *at, const SceneNode *recognition, double *reading)
{
    int max = scene_int(recognition, "maxObjects"), count = 0, size = 1;
    Recognized objects[OBJECTS_MAX], object;
    ImageView view = image_view(at->info->node, camera_settings(at)->field_of_view.now);
    for (int solid = 0; solid < physics_solid_count(at->physics); solid++)
        if (physics_solid_exists(at->physics, solid) && recognise(at, recognition, &view, solid, &object))
            keep(objects, &count, max < 0 ? OBJECTS_MAX : int_min(max, OBJECTS_MAX), &object);
    for (int i = 0; i < count; i++) {
        const SceneNode *node = physics_solid_node(at->physics, objects[i].solid);
        size += OBJECT_NUMBERS + 3 * scene_list(node, "recognitionColors")->count + model_numbers(node);
    }
    assert_debug(count <= OBJECTS_MAX);
    double *out = device_image(at, 1, size * (int)sizeof *out);
    *out++ = count;
    for (int i = 0; i < count; i++)
        out = pack(at, &objects[i], out);
    if (((const CameraState *)at->state)->segments)
        picture_segment(at);
    reading[0] = count;
    return 1;
}

static int camera_sample(DeviceContext *at, int channel, double *reading)
{
    assert_debug(channel == 0 || channel == 1);
    const SceneNode *recognition = scene_child(at->info->node, "recognition");
    if (channel == 1)
        return recognition ? recognise_all(at, recognition, reading) : 0;
    picture_take(at);
    return 0;
}

// ---- settings ----

static void camera_start(DeviceContext *at)
{
    const SceneNode *node = at->info->node, *focus = scene_child(node, "focus");
    *(CameraState *)at->state = (CameraState){
        .field_of_view = setting_of(scene_float(node, "fieldOfView")),
        .exposure = setting_of(scene_float(node, "exposure")),
        .focal_distance = setting_of(focus ? scene_float(focus, "focalDistance") : 0.0),
        .focal_length = setting_of(focus ? scene_float(focus, "focalLength") : 0.0),
    };
}

const CameraState *camera_settings(const DeviceContext *at)
{
    const SceneNode *node = at->info->node, *focus = scene_child(node, "focus");
    CameraState *state = at->state;
    setting_follow(&state->field_of_view, scene_float(node, "fieldOfView"));
    setting_follow(&state->exposure, scene_float(node, "exposure"));
    setting_follow(&state->focal_distance, focus ? scene_float(focus, "focalDistance") : 0.0);
    setting_follow(&state->focal_length, focus ? scene_float(focus, "focalLength") : 0.0);
    return state;
}

// Values are checked here again although libraries of robots do: a program may speak the protocol itself.
static const char *camera_command(DeviceContext *at, int command, const double *numbers, int count, const void *bytes,
                                  int byte_count)
{
    enum { SET_FOV, SET_EXPOSURE, SET_SEGMENTATION, SET_FOCUS };
    CameraState *state = at->state;
    camera_settings(at);
    const SceneNode *zoom = scene_child(at->info->node, "zoom"),
                    *recognition = scene_child(at->info->node, "recognition");
    (void)bytes, (void)byte_count;
    if (count < 1 || !isfinite(numbers[0]))
        return "a number is missing";
    switch (command) {
    case SET_FOV:
        if (!zoom || numbers[0] < scene_float(zoom, "minFieldOfView")
            || numbers[0] > scene_float(zoom, "maxFieldOfView"))
            return "the camera cannot zoom so far";
        state->field_of_view.now = numbers[0];
        return NULL;
    case SET_EXPOSURE:
        if (numbers[0] < 0.0)
            return "an exposure cannot be negative";
        state->exposure.now = numbers[0];
        return NULL;
    case SET_SEGMENTATION:
        if (!recognition || !scene_bool(recognition, "segmentation"))
            return "the camera has no segmentation";
        state->segments = numbers[0] != 0.0;
        return NULL;
    case SET_FOCUS: state->focal_distance.now = fmax(numbers[0], 0.0); return NULL;
    default: return "a camera knows no such command";
    }
}

// ---- facts ----

// Beside the fields: has zoom, its limits, has focus, its limits, has recognition, has segmentation.
static int camera_constants(DeviceContext *at, double *values, int capacity)
{
    static const char *const names[] = { "width", "height", "fieldOfView", "near", "exposure" };
    static const char *const zoom[] = { "minFieldOfView", "maxFieldOfView" };
    static const char *const focus[] = { "focalDistance", "focalLength", "minFocalDistance", "maxFocalDistance" };
    const SceneNode *node = at->info->node;
    if (capacity < 16)
        return 0;
    memset(values, 0, 16 * sizeof *values);
    device_field_constants(node, names, COUNT_OF(names), values, capacity);
    const CameraState *state = camera_settings(at);
    values[2] = state->field_of_view.now;
    values[4] = state->exposure.now;
    const SceneNode *part = scene_child(node, "zoom");
    values[5] = part != NULL;
    if (part)
        device_field_constants(part, zoom, COUNT_OF(zoom), values + 6, 2);
    part = scene_child(node, "focus");
    values[8] = part != NULL;
    if (part)
        device_field_constants(part, focus, COUNT_OF(focus), values + 9, 4);
    if (part)
        values[9] = state->focal_distance.now;
    part = scene_child(node, "recognition");
    values[13] = part != NULL;
    values[14] = part && scene_bool(part, "segmentation");
    return 15;
}
const DeviceKind camera_device = {
    .type = "Camera",
    .code = WB_NODE_CAMERA,
    .channels = 2,
    .state_size = sizeof(CameraState),
    .start = camera_start,
    .sample = camera_sample,
    .make = camera_make,
    .constants = camera_constants,
    .command = camera_command,
};
