// The physics plugin of a world, for those who embed Talus.
#include "sim/library.h"

bool talus_plugin_start(TalusWorld *world, const TalusPluginOptions *from)
{
    TalusPluginOptions options;
    library_options(&options, sizeof options, from);
    if (!library_own(world))
        return false;
    if (sim_plugin(world->sim))
        return true;
    SimPluginOptions given = { .plugin = { .keeps_messages = true } };
    given.plugin.search_paths = options.search_paths;
    given.plugin.timeout_ms = options.timeout_ms;
    given.plugin.is_quiet = options.is_quiet;
    given.crash_snapshot = options.crash_snapshot;
    bool is_started = sim_start_plugin(world->sim, &given);
    return library_told(world, is_started && !sim_failure(world->sim));
}

bool talus_plugin_stop(TalusWorld *world)
{
    if (!world)
        return false;
    bool is_fine = sim_end_plugin(world->sim);
    return library_told(world, is_fine);
}

bool talus_plugin_send(TalusWorld *world, const void *data, size_t size)
{
    if (!library_given(world, size > 0 ? data : "", "data"))
        return false;
    PluginHost *host = sim_plugin(world->sim);
    return host && size <= INT32_MAX && plugin_send(host, data, (int)size);
}

const void *talus_plugin_receive(TalusWorld *world, int channel, size_t *size)
{
    PluginHost *host = world ? sim_plugin(world->sim) : NULL;
    int count = 0;
    const void *data = host ? plugin_receive(host, channel, &count) : NULL;
    if (size)
        *size = (size_t)count;
    return data;
}
