// windows.c - robot windows, the world's side: who has one, what pages say to robots' programs, which is an act like
// any other and so is logged with its step, and what programs say to those clients that have the page open.
#include "viewer/viewer_internal.h"

#include "base/file.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static int robot_of(const Act *act)
{
    int64_t id;
    const SceneNode *node = json_member_int(act->message, "node", 0, UINT32_MAX, &id)
                                ? viewer_node(act->viewer, (uint32_t)id)
                                : NULL;
    return node && act->viewer->world.devices ? devices_robot_of(act->viewer->world.devices, scene_actual(node)) : -1;
}

const char *act_window(Act *act)
{
    const char *text = json_member_string(act->message, "text");
    if (!act->viewer->world.control)
        return "no robot has a program";
    if (!text)
        return "text wants the words for the program";
    return control_window_say(act->viewer->world.control, robot_of(act), text);
}

// Which robots have a page that can be opened, and where. The server is told their folders, and serves nothing else.
const char *act_windows(Act *act)
{
    Viewer *viewer = act->viewer;
    const Devices *devices = viewer->world.devices;
    Text table = { 0 };
    if (viewer->web) {
        json_int(act->answer, "port", web_window_port(viewer->web));
        json_string(act->answer, "token", viewer->hub.page_token);
    }
    json_begin_array(act->answer, "windows");
    for (int i = 0; viewer->world.control && i < devices_robot_count(devices); i++) {
        const char *page = control_window_page(viewer->world.control, i);
        if (!page)
            continue;
        const SceneNode *robot = devices_robot_node(devices, i);
        text_printf(&table, "%u", robot->id);
        text_add_char(&table, '\0');
        text_add_string(&table, path_directory(viewer->arena, page));
        text_add_char(&table, '\0');
        json_begin_object(act->answer, NULL);
        json_int(act->answer, "node", robot->id);
        json_int(act->answer, "solid", physics_solid_of(sim_physics(viewer->sim), robot));
        json_string(act->answer, "name", scene_string(robot, "name"));
        json_string(act->answer, "page", path_name(page));
        json_end_object(act->answer);
    }
    json_end_array(act->answer);
    exchange_send(&viewer->exchange, (Letter){ .kind = LETTER_WINDOWS, .blob = blob_create(table.data, table.length) });
    text_free(&table);
    return NULL;
}

// Words reach a page as text: a program that ends them as C does is not shown the end.
void viewer_windowed(void *context, const SceneNode *robot, const char *data, size_t size)
{
    assert(robot && (data || size == 0));
    Viewer *viewer = context;
    uint32_t clients[VIEWER_CLIENTS_MAX];
    size_t bad, length = strnlen(data, size);
    if (!viewer->web || !viewer->sim)
        return;
    int count = watch_windows(viewer, robot, clients);
    bool is_text = text_is_valid_utf8(data, length, &bad);
    if (count == 0 || !is_text) {
        if (!viewer->has_unheard)
            diag_note(viewer->diags, robot->pos, "robot '%s' speaks to its window, %s; such words are dropped",
                      scene_string(robot, "name"), is_text ? "which nobody has open" : "but not in UTF-8");
        viewer->has_unheard = true;
        return;
    }
    Text text = { 0 };
    char *words = memory_text(data, length);
    JsonWriter json = { .out = &text, .compact = true };
    json_begin_object(&json, NULL);
    json_string(&json, "is", "window");
    json_int(&json, "node", robot->id);
    json_string(&json, "robot", scene_string(robot, "name"));
    json_string(&json, "text", words);
    json_end_object(&json);
    for (int i = 0; i < count; i++)
        session_tell(viewer, clients[i], &text, true);
    text_free(&text);
    free(words);
}
