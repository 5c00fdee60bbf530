// due.c - pictures are made when somebody looks at them. When one is due, what it shows is kept: the poses of all
// solids (once for all devices that are due in that step) and what the device needs to know. The list of what is seen
// stays in rays/ as it was, and is made anew only after the pictures that need the old one were made or replaced.
#include "devices/devices_internal.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static DeviceImage *image_at(const Devices *devices, int robot, int tag, int number)
{
    assert(number >= 0 && number < DEVICE_IMAGES);
    return &device_at(devices, robot, tag)->images[number];
}

static void forget(Devices *devices, DeviceImage *image)
{
    if (!image->moment)
        return;
    assert(image->moment->users > 0 && devices->due_count > 0);
    image->moment->users--;
    image->moment = NULL;
    devices->due_count--;
}

void due_forget(Devices *devices, int robot, int tag, int channel)
{
    forget(devices, image_at(devices, robot, tag, channel));
}

// ---- moments ----

static Moment *free_moment(Devices *devices)
{
    for (int i = 0; i < devices->moment_count; i++)
        if (devices->moments[i]->users == 0)
            return devices->moments[i];
    memory_grow(&devices->moments, &devices->moment_capacity, devices->moment_count + 1, sizeof *devices->moments);
    return devices->moments[devices->moment_count++] = memory_alloc(sizeof(Moment));
}

static void keep_poses(const Devices *devices, Moment *moment)
{
    const Physics *physics = devices->physics;
    moment->solid_count = physics_solid_count(physics);
    memory_grow(&moment->solids, &moment->solid_capacity, moment->solid_count, sizeof *moment->solids);
    physics_solid_poses(physics, moment->solids);  // what is gone is nowhere, and nothing of it is seen
}

static Moment *present(Devices *devices)
{
    if (devices->present && devices->present->users > 0 && devices->present->step == devices->step)
        return devices->present;
    Moment *moment = free_moment(devices);
    moment->step = devices->step;
    keep_poses(devices, moment);
    show_keep(devices, moment);
    return devices->present = moment;
}

Moment *due_present(Devices *devices)
{
    Moment *moment = free_moment(devices);
    moment->step = devices->step;
    keep_poses(devices, moment);
    show_keep(devices, moment);
    return moment;
}

// ---- due and made ----

static void make(Devices *devices, int robot, int tag, int number)
{
    DeviceImage *image = image_at(devices, robot, tag, number);
    DeviceContext at = device_context(devices, robot, tag);
    assert_debug(image->moment && image->bytes && at.info->kind->make);
    Moment *moment = image->moment;
    show_begin(devices, moment);
    rays_place(devices->rays, moment->solids, moment->solid_count);
    devices->looked = UINT64_MAX;
    at.info->kind->make(&at, number, image->due, image->bytes);
    show_end(devices, moment);
    forget(devices, image);
}

void due_make_all(Devices *devices)
{
    assert_debug(devices->due_count >= 0);
    for (int robot = 0; devices->due_count > 0 && robot < devices->robot_count; robot++)
        for (int tag = 1; tag <= devices->robots[robot].device_count; tag++)
            for (int number = 0; number < DEVICE_IMAGES; number++)
                if (image_at(devices, robot, tag, number)->moment)
                    make(devices, robot, tag, number);
}

Rays *due_rays(Devices *devices)
{
    if (!devices->rays)
        devices->rays = rays_create(devices->physics, devices->diags);
    show_static(devices);
    if (!rays_is_listed(devices->rays)) {
        due_make_all(devices);
        rays_list(devices->rays);
    }
    return devices->rays;
}

void device_due(const DeviceContext *at, int number, int size, const void *due, size_t due_size)
{
    assert_debug(size >= 0 && (due || due_size == 0));
    Devices *devices = at->devices;
    DeviceImage *image = image_at(devices, at->robot, at->tag, number);
    assert(at->info->kind->make && due_size <= sizeof image->due);
    forget(devices, image);
    due_rays(devices);
    device_image(at, number, size);
    memcpy(image->due, due, due_size);
    image->is_on_demand = true;
    image->moment = present(devices);
    image->moment->users++;
    devices->due_count++;
}

int devices_due_image(const Devices *devices, int robot, int tag, int channel)
{
    int number = channel == 1 ? IMAGE_SEGMENTED : channel;
    return image_at(devices, robot, tag, number)->is_on_demand ? number : -1;
}

const void *devices_image(Devices *devices, int robot, int tag, int number, int *size)
{
    assert_debug(size);
    const DeviceImage *image = image_at(devices, robot, tag, number);
    const DeviceKind *kind = device_at(devices, robot, tag)->info.kind;
    DeviceContext at = device_context(devices, robot, tag);
    if (image->moment)
        make(devices, robot, tag, number);
    else if (kind->tell)
        kind->tell(&at, number);
    *size = image->size;
    return image->bytes;
}

void due_free(Devices *devices)
{
    for (int i = 0; i < devices->moment_count; i++) {
        free(devices->moments[i]->solids);
        free(devices->moments[i]->lamps);
        free(devices->moments[i]->drives);
        free(devices->moments[i]->bones);
        free(devices->moments[i]->spots);
        free(devices->moments[i]);
    }
    free(devices->moments);
}
