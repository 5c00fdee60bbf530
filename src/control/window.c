// window.c - robot windows: which page a robot has, and what goes between the page and the robot's program. Who shows
// pages is elsewhere (viewer/); here messages are handed on, those of a window at the next step of the program, in
// their order.
#include "control/control_internal.h"

#include "base/file.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { WAITING_BYTES = 1 << 20 };  // of one robot's window, until its program's next step

static Controller *controller_of(Control *control, int robot)
{
    if (!control->has_started)  // later ones are found where they are started
        control_find_robots(control);
    return robot >= 0 && robot < control->count && devices_robot_exists(control->devices, robot)
               ? &control->controllers[robot]
               : NULL;
}

// A name is that of a folder: it leads nowhere else.
static bool names_page(const char *name) { return *name && *name != '<' && *name != '.' && !strchr(name, '/'); }

const char *control_window_page(Control *control, int robot)
{
    Controller *controller = controller_of(control, robot);
    if (!controller)
        return NULL;
    const SceneNode *node = devices_robot_node(control->devices, robot);
    const char *name = scene_string(node, "window");
    if (controller->window.name && !strcmp(controller->window.name, name))
        return controller->window.page;
    controller->window.name = arena_string(control->arena, name);
    controller->window.page = NULL;
    const char *folder = names_page(name) ? launch_folder(control, node, "plugins/robot_windows", name) : NULL;
    char *page = folder ? path_join(control->arena, folder, arena_printf(control->arena, "%s.html", name)) : NULL;
    if (page && file_exists(page))
        controller->window.page = page;
    else if (names_page(name))
        diag_note(control->diags, node->pos, "the window '%s' of robot '%s' cannot be opened: no project has %s", name,
                  controller->name, arena_printf(control->arena, "plugins/robot_windows/%s/%s.html", name, name));
    return controller->window.page;
}

const char *control_window_say(Control *control, int robot, const char *text)
{
    assert(text);
    Controller *controller = controller_of(control, robot);
    if (!controller)
        return "there is no such robot";
    if (control->has_started && !controller->channel)
        return "the robot has no program that runs";
    size_t size = strlen(text) + 1;
    if (controller->window.size + size > WAITING_BYTES)
        return "the robot's program has not taken what waits for it";
    controller->window.messages = memory_resize(controller->window.messages, controller->window.size + size, 1);
    memcpy(controller->window.messages + controller->window.size, text, size);
    controller->window.size += size;
    assert_debug(controller->window.size <= WAITING_BYTES);
    return NULL;
}

void window_told(const Control *control, const Controller *controller, const Record *record)
{
    assert_debug(record->op == OP_WINDOW_TEXT);
    const SceneNode *robot = devices_robot_node(control->devices, controller->robot);
    for (int i = 0; i < CONTROL_WATCHES; i++) {
        const ControlWatch *watch = &control->options.watches[i];
        if (watch->windowed)
            watch->windowed(watch->context, robot, record->bytes, (size_t)record->byte_count);
    }
}

void window_forget(Controller *controller) { controller->window.size = 0; }
