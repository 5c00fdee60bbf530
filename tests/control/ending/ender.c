// Comes to the end of a run in the way that its first argument says, and prints how many steps it saw. What it writes
// to the file of its second argument stays in stdio's memory until exit() flushes it.
#include <webots/motor.h>
#include <webots/robot.h>
#include <webots/supervisor.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int steps;

static void say(void) { printf("%d steps, %g s\n", steps, wb_robot_get_time()); }

// As most programs do.
static void count(void)
{
    while (wb_robot_step(16) != -1)
        steps++;
    say();
}

// Asks in every step and once more after the end: that question has no answer, so the program ends there.
static void ask(void)
{
    WbFieldRef field = wb_supervisor_node_get_field(wb_supervisor_node_get_self(), "translation");
    double sum = 0.0;
    while (wb_robot_step(16) != -1) {
        steps++;
        sum += wb_supervisor_field_get_sf_vec3f(field)[0];
    }
    printf("%d steps, sum %g\n", steps, sum);
    fflush(stdout);
    printf("not reached %g\n", wb_supervisor_field_get_sf_vec3f(field)[0]);
    fflush(stdout);
}

// Never looks at what a step returns.
static void ignore(FILE *file)
{
    for (;;) {
        wb_robot_step(16);
        fprintf(file, "%d\n", ++steps);
    }
}

// Asks before it looks.
static void ask_first(FILE *file)
{
    WbNodeRef self = wb_supervisor_node_get_self();
    for (;;) {
        wb_robot_step(16);
        fprintf(file, "%d %g\n", ++steps, wb_supervisor_node_get_position(self)[0]);
    }
}

// Says its last words without a step.
static void leave(void)
{
    WbDeviceTag motor = wb_robot_get_device("motor");
    wb_motor_set_position(motor, 1e9);
    wb_motor_set_velocity(motor, 1.0);
    for (int i = 0; i < 5; i++)
        wb_robot_step(16);
    wb_motor_set_velocity(motor, 0.0);
    wb_robot_set_custom_data("last words");
}

// Its robot goes in the middle of a long step of its own.
static void vanish(void)
{
    for (int i = 0; i < 3; i++)
        wb_robot_step(16);
    wb_supervisor_node_remove(wb_supervisor_node_get_self());
    int result = wb_robot_step(1000000);
    printf("removed, step says %d\n", result);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    FILE *file = argc > 2 ? fopen(argv[2], "w") : NULL;
    wb_robot_init();
    if (!strcmp(how, "count"))
        count();
    else if (!strcmp(how, "ask"))
        ask();
    else if (!strcmp(how, "ignore"))
        ignore(file);
    else if (!strcmp(how, "ask first"))
        ask_first(file);
    else if (!strcmp(how, "leave"))
        leave();
    else if (!strcmp(how, "vanish"))
        vanish();
    wb_robot_cleanup();
    return 0;
}
