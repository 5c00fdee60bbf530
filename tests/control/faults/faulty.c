// Fails as its arguments say: how (crash, kill, exit, leave, hang, deaf, good, stay) and when (init, step, cleanup).
// With a third argument it first starts children of its own, which never end by themselves.
#include <webots/robot.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *how, *when;

static void maybe_fail(const char *moment)
{
    if (strcmp(when, moment))
        return;
    if (!strcmp(how, "crash")) {
        signal(SIGSEGV, SIG_DFL);  // a sanitizer would make an exit of it
        raise(SIGSEGV);
    } else if (!strcmp(how, "kill")) {
        kill(getpid(), SIGKILL);
    } else if (!strcmp(how, "exit")) {
        _exit(3);
    } else if (!strcmp(how, "leave")) {
        _exit(0);
    } else if (!strcmp(how, "hang")) {
        for (;;)
            pause();
    } else if (!strcmp(how, "deaf")) {
        signal(SIGTERM, SIG_IGN);  // only SIGKILL ends it
        for (;;)
            pause();
    }
}

static void start_children(void)
{
    for (int i = 0; i < 3; i++) {
        if (fork() != 0)
            continue;
        if (i == 0)
            setsid();  // leaves the group
        if (i == 1)
            signal(SIGTERM, SIG_IGN);
        if (i == 2)
            fork();
        for (;;)
            pause();
    }
}

int main(int argc, char **argv)
{
    how = argc > 1 ? argv[1] : "good";
    when = argc > 2 ? argv[2] : "never";
    if (argc > 3)
        start_children();
    maybe_fail("init");
    wb_robot_init();
    for (int i = 0; i < 10; i++) {
        if (i == 5)
            maybe_fail("step");
        if (wb_robot_step(16) == -1)
            break;
    }
    if (!strcmp(how, "good"))
        while (wb_robot_get_time() < 0.3 && wb_robot_step(16) != -1)
            continue;
    while (!strcmp(how, "stay") && wb_robot_step(16) != -1)
        continue;
    printf("finished\n");
    maybe_fail("cleanup");
    wb_robot_cleanup();
    return 0;
}
