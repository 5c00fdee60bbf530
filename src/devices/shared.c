// shared.c - what several kinds of device use: lookup tables, rounding, settings, constants from fields, frames, rays.
#include "devices/devices_internal.h"

#include "base/memory.h"

#include <string.h>

double device_rounded(double value, double resolution)
{
    return resolution > 0.0 ? resolution * round(value / resolution) : value;
}

double device_lookup(const SceneNode *node, double value, Random *random)
{
    const FieldList *table = scene_list(node, "lookupTable");
    if (table->count == 0)
        return value;
    const double *rows = table->numbers;
    int last = table->count - 1, above = 0;
    while (above <= last && rows[3 * above] < value)
        above++;
    double output, noise;
    if (above == 0 || above > last) {
        const double *row = &rows[3 * (above == 0 ? 0 : last)];
        output = row[1];
        noise = row[2];
    } else {
        const double *low = &rows[3 * (above - 1)], *high = &rows[3 * above];
        double width = high[0] - low[0], share = width > 0.0 ? (value - low[0]) / width : 1.0;
        output = low[1] + share * (high[1] - low[1]);
        noise = low[2] + share * (high[2] - low[2]);
    }
    return noise > 0.0 ? output * (1.0 + noise * random_gaussian(random)) : output;
}

Setting setting_of(double field) { return (Setting){ field, field }; }

void setting_follow(Setting *setting, double field)
{
    if (field != setting->field)
        *setting = setting_of(field);
}

int device_lookup_constants(const SceneNode *node, double *values, int capacity)
{
    assert_debug(capacity == 0 || values);
    const FieldList *table = scene_list(node, "lookupTable");
    int count = int_min(table->count * 3, capacity);
    if (count > 0)
        memcpy(values, table->numbers, (size_t)count * sizeof *values);
    return count;
}

int device_field_constants(const SceneNode *node, const char *const *names, int count, double *values, int capacity)
{
    assert_debug(names && count >= 0);
    if (capacity < count)
        return 0;
    for (int i = 0; i < count; i++) {
        const FieldType *field = schema_field(node->type, names[i]);
        values[i] = !field                          ? 0.0
                    : field->kind == FIELD_SF_INT32 ? scene_int(node, names[i])
                                                    : scene_float(node, names[i]);
    }
    return count;
}

void *device_image(const DeviceContext *at, int channel, int size)
{
    assert(channel >= 0 && channel < DEVICE_IMAGES && size >= 0);
    DeviceImage *image = &device_at(at->devices, at->robot, at->tag)->images[channel];
    memory_grow(&image->bytes, &image->capacity, size, 1);
    image->size = size;
    return image->bytes;
}

Rays *device_rays(const DeviceContext *at)
{
    Devices *devices = at->devices;
    Rays *rays = due_rays(devices);
    if (devices->looked != devices->step)
        rays_update(rays);
    devices->looked = devices->step;
    return rays;
}

bool devices_ball(Devices *devices, const SceneNode *node, Vec3 *centre, double *radius)
{
    Vec3 low, high;
    Rays *rays = due_rays(devices);
    due_make_all(devices);
    rays_update(rays);
    devices->looked = UINT64_MAX;
    if (!rays_bounds_below(rays, node, &low, &high))
        return false;
    *centre = vec3_scale(vec3_add(low, high), 0.5);
    *radius = 0.5 * vec3_distance(low, high);
    return true;
}

Pose device_pose(const DeviceContext *at)
{
    return at->info->solid >= 0 ? physics_solid_pose(at->physics, at->info->solid) : scene_world_pose(at->info->node);
}

Pose device_frame(const DeviceContext *at, const SceneNode *node)
{
    Pose pose = POSE_IDENTITY;
    for (const SceneNode *above = node; above; above = scene_parent(above)) {
        int solid = scene_node_is(above, "Solid") ? physics_solid_of(at->physics, above) : -1;
        if (solid >= 0)
            return pose_mul(physics_solid_pose(at->physics, solid), pose);
        pose = pose_mul(scene_pose(above), pose);
    }
    return pose;
}

void device_finish_vector(const DeviceContext *at, double reading[3])
{
    static const char *const axes[3] = { "xAxis", "yAxis", "zAxis" };
    double resolution = scene_float(at->info->node, "resolution");
    for (int i = 0; i < 3; i++)
        reading[i] = scene_bool(at->info->node, axes[i]) ? device_rounded(reading[i], resolution) : NAN;
}
