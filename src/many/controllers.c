// controllers.c - robot programs for those who embed Talus (include/talus/controllers.h). The world's devices are
// sampled by whoever feeds the programs while there are any, and by the library otherwise.
#include "talus/controllers.h"

#include "control/control.h"
#include "sim/library.h"

static void end_controllers(TalusWorld *world)
{
    control_destroy(world->control);
    world->control = NULL;
    world->end_controllers = NULL;
    library_devices_hook(world, true);
}

bool talus_controllers_start(TalusWorld *world, const TalusControllerOptions *from)
{
    TalusControllerOptions given;
    library_options(&given, sizeof given, from);
    if (!library_own(world))
        return false;
    if (world->control)
        return true;
    bool had_devices = world->devices;
    Devices *devices = library_devices(world);
    if (!control_is_needed(devices)) {
        if (!had_devices)
            library_devices_free(world);
        return true;
    }
    library_devices_hook(world, false);
    ControlOptions options = { .timeout_ms = given.timeout_ms,
                               .stops_on_failure = given.stops_on_failure,
                               .is_quiet = given.is_quiet };
    world->control = control_create(world->sim, &options, world->diags);
    world->end_controllers = end_controllers;
    return library_told(world, world->control != NULL);
}

bool talus_controllers_stop(TalusWorld *world)
{
    if (!library_given(world, world, "world"))
        return false;
    if (world->control)
        control_end(world->control);
    if (world->end_controllers)
        world->end_controllers(world);
    return library_told(world, true);
}

int talus_controllers_running(const TalusWorld *world)
{
    return world && world->control ? control_running(world->control) : 0;
}

int talus_controllers_quit_status(const TalusWorld *world)
{
    return world && world->control ? control_quit_status(world->control) : -1;
}
