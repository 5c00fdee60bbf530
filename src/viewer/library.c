// library.c - the viewer in the library's own interface (include/talus/talus.h).
#include "sim/library.h"
#include "viewer/viewer.h"

static void stop(void *viewer) { viewer_stop(viewer); }

const char *talus_view_start(TalusWorld *world, const TalusViewerOptions *from)
{
    if (!world)
        return NULL;
    TalusViewerOptions options;
    library_options(&options, sizeof options, from);
    ViewerOptions given = { .cannot_reload = true,
                            .address = options.address,
                            .port = options.port,
                            .is_paused = options.is_paused,
                            .pace = options.pace,
                            .log = options.log,
                            .ghost = options.ghost,
                            .embed = options.embed,
                            .is_interrupted = options.is_interrupted };
    talus_view_stop(world);
    library_own(world);
    bool is_sound = !given.embed || viewer_origins_are_sound(given.embed);
    if (!is_sound)
        diag_error(world->diags, (SourcePos){ 0 }, "embed " VIEWER_ORIGINS_USAGE, given.embed);
    Viewer *viewer = is_sound ? viewer_start(&given, world->diags) : NULL;
    if (viewer) {
        library_guest(world, viewer, stop);
        viewer_attach(viewer, world->sim, &(ViewerWorld){ .devices = world->devices });
    }
    library_told(world, viewer != NULL);
    return viewer ? viewer_url(viewer) : NULL;
}

const char *talus_view_watch_link(const TalusWorld *world)
{
    return world && world->guest ? viewer_watch_url(world->guest) : NULL;
}

void talus_view_stop(TalusWorld *world)
{
    if (world)
        library_guest(world, NULL, NULL);
}
