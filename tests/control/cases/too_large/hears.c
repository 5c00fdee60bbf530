// Goes on while others say too much.
#include "check.h"

int main(void)
{
    wb_robot_init();
    check_steps(10);
    return check_done();
}
