#include "check.h"

#include <time.h>
#include <unistd.h>
#include <webots/emitter.h>

int main(void)
{
    wb_robot_init();
    WbDeviceTag emitter = wb_robot_get_device("emitter");
    srand((unsigned)getpid() ^ (unsigned)time(NULL));
    for (int i = 0; i < 100; i++) {
        usleep((unsigned)rand() % 2000);  // how fast a program is must not matter
        wb_emitter_send(emitter, wb_robot_get_name(), 2);
        check_steps(1);
    }
    return check_done();
}
