// Any bytes as what a client of the viewer sends: each line is one message, an empty one a step of the world. The
// client has shown its token. Nothing may crash, block or grow, and the world stays simulable.
#include "viewer/viewer_internal.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// The folder is not there, so that nothing is saved.
static const char name[] = "nowhere/fuzz.wbt";
static const char world[] =
    "#VRML_SIM R2025a utf8\nWorldInfo { }\nViewpoint { }\n"
    "DEF FLOOR Solid { locked TRUE boundingObject Plane { } }\n"
    "DEF BOX Solid { translation 0 0 1 name \"box\" boundingObject Box { } physics Physics { } }\n"
    "Robot { name \"r\" children [ Camera { width 2 height 2 } TouchSensor { boundingObject Capsule { } } HingeJoint { jointParameters HingeJointParameters { axis 0 1 0 }\n"
    "  device [ PositionSensor { } ] endPoint Solid { boundingObject Sphere { } physics Physics { } } } ] }\n";

static void no_thread(void *context) { (void)context; }

static bool is_tired(void) { return true; }  // nothing waits

static void send_all(Hub *hub, Client *client)
{
    HubPiece piece;
    hub_drain(hub);
    while (hub_next(hub, client, &piece))
        hub_sent(client);
    client->awaits_ack = false;
}

static void step(Viewer *viewer, Sim *sim)
{
    viewer->pace = 0.0;
    viewer->is_paused = viewer->wants_reload = false;
    sim_step(sim);
}

static bool greet(Hub *hub, Client *client)
{
    char hello[120];
    int length = snprintf(hello, sizeof hello, "{\"do\":\"hello\",\"token\":\"%s\",\"protocol\":1}", hub->token);
    return hub_receive(hub, client, &(HubFragment){ hello, (size_t)length, true, true, false });
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { STEPS_MAX = 50, LINES_MAX = 200 };
    DiagSink *diags = diag_create();
    Limits limits = limits_untrusted;
    limits.nodes = 5000;
    SimOptions options = { .physics = { .limits = &limits }, .formats = { .limits = &limits } };
    Sim *sim = sim_load_text(name, world, sizeof world - 1, &options, diags);
    Devices *devices = devices_create(sim_scene(sim), sim_physics(sim), diags);
    Input *input = input_create_live();
    Viewer *viewer = viewer_start(&(ViewerOptions){ .without_server = true, .is_interrupted = is_tired }, diags);
    viewer->exchange.wake = no_thread;
    viewer_attach(viewer, sim, &(ViewerWorld){ .devices = devices, .input = input });
    Client *client = hub_open(&viewer->hub, NULL);
    bool is_there = greet(&viewer->hub, client);
    step(viewer, sim);
    send_all(&viewer->hub, client);
    const char *at = (const char *)data, *end = at + size;
    for (int lines = 0, steps = 0; is_there && at < end && lines < LINES_MAX; lines++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        if (stop > at)
            is_there = hub_receive(&viewer->hub, client, &(HubFragment){ at, (size_t)(stop - at), true, true, false });
        else if (steps++ < STEPS_MAX)
            step(viewer, sim);
        send_all(&viewer->hub, client);
        at = stop + 1;
    }
    step(viewer, sim);
    send_all(&viewer->hub, client);
    hub_close(&viewer->hub, client);
    viewer_stop(viewer);
    input_destroy(input);
    devices_destroy(devices);
    sim_destroy(sim);
    diag_destroy(diags);
    return 0;
}
