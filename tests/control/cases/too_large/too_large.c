// What no message can carry: the text of a robot with 21 MB of arguments is refused with words, and the run goes on.
#include "check.h"

#include <webots/supervisor.h>

#include <stdlib.h>
#include <string.h>

int main(void)
{
    enum { SIZE = 7 << 20, TEXTS = 3 };
    wb_robot_init();
    char *text = malloc(SIZE + 1);
    memset(text, 'x', SIZE);
    text[SIZE] = '\0';
    WbNodeRef other = wb_supervisor_node_get_from_def("OTHER");
    WbFieldRef words = wb_supervisor_node_get_field(other, "controllerArgs");
    for (int i = 0; i < TEXTS; i++)
        wb_supervisor_field_insert_mf_string(words, -1, text);
    check_steps(2);
    CHECK(wb_supervisor_field_get_count(words) == TEXTS);
    CHECK(strlen(wb_supervisor_field_get_mf_string(words, TEXTS - 1)) == SIZE);
    const char *whole = wb_supervisor_node_export_string(other);
    CHECK(!whole || !*whole);
    // The one that fits is carried.
    wb_supervisor_field_remove_mf(words, 0);
    whole = wb_supervisor_node_export_string(other);
    CHECK(whole && strlen(whole) > 2 * SIZE);
    check_steps(2);
    free(text);
    return check_done();
}
