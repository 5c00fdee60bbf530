// A program that a person starts for a robot. What it does: count steps until the end; run "forever" without looking;
// "leave" after ten steps without a word; "die" there; "say" goodbye there; "stall" in the middle of a step, reading
// nothing; "save" a world.
#include <webots/robot.h>
#include <webots/supervisor.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "count";
    int steps = 0;
    wb_robot_init();
    printf("controls %s, argument %s\n", wb_robot_get_name(), argc > 2 ? argv[2] : "none");
    fflush(stdout);
    if (!strcmp(how, "save"))
        wb_supervisor_world_save(argv[2]);
    if (!strcmp(how, "stall")) {
        wb_robot_step_begin(16);
        raise(SIGSTOP);
        wb_robot_step_end();
    }
    bool stops = strcmp(how, "count") && strcmp(how, "forever") && strcmp(how, "save");
    while (!stops || steps < 10) {
        int result = wb_robot_step(16);
        if (result == -1 && strcmp(how, "forever"))
            break;
        steps++;
    }
    printf("%d steps\n", steps);
    fflush(stdout);
    if (!strcmp(how, "leave"))
        _exit(0);
    if (!strcmp(how, "die"))
        kill(getpid(), SIGKILL);
    wb_robot_cleanup();
    return 0;
}
