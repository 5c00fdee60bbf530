// Prints the variables that its arguments name.
#include <webots/robot.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    wb_robot_init();
    for (int i = 1; i < argc; i++)
        printf("%s=%s\n", argv[i], getenv(argv[i]) ? getenv(argv[i]) : "(none)");
    wb_robot_step(16);
    wb_robot_cleanup();
    return 0;
}
