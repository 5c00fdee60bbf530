// A painter that writes with two pens from its 10th step to its 40th, and a lamp that is lit at its 20th.
#include <string.h>
#include <webots/led.h>
#include <webots/pen.h>
#include <webots/robot.h>

int main(void)
{
    wb_robot_init();
    int paints = !strcmp(wb_robot_get_name(), "painter");
    for (int step = 0; wb_robot_step(16) != -1; step++) {
        if (paints && (step == 10 || step == 40)) {
            wb_pen_write(wb_robot_get_device("pen"), step == 10);
            wb_pen_write(wb_robot_get_device("second"), step == 10);
        }
        if (!paints && step == 20)
            wb_led_set(wb_robot_get_device("led"), 1);
    }
    return 0;
}
