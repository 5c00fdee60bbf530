// strays.c - what controllers started and left behind. A controller is the leader of a process group, but what it
// starts may leave the group; all of it still carries the environment variable by which the controller was started.
#include "control/control_internal.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SWEEPS_MAX = 5, ENVIRONMENT_BYTES = 1 << 18 };

// Reads a file of /proc/PID; the number of bytes, -1 when there is none.
static ssize_t read_about(pid_t pid, const char *name, char *buffer, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    int handle = open(path, O_RDONLY | O_CLOEXEC);
    if (handle < 0)
        return -1;
    size_t length = 0;
    ssize_t got;
    while (length < size && (got = read(handle, buffer + length, size - length)) > 0)
        length += (size_t)got;
    close(handle);
    return (ssize_t)length;
}

// "pid (name) state parent group ...": the name may hold anything, so what follows is found from its end.
static bool is_of_group(pid_t pid, pid_t group, bool *is_dead)
{
    char text[512], state = 'Z';
    int of = 0;
    ssize_t length = read_about(pid, "stat", text, sizeof text - 1);
    text[length > 0 ? length : 0] = '\0';
    const char *end = strrchr(text, ')');
    *is_dead = !end || sscanf(end + 1, " %c %*d %d", &state, &of) != 2 || state == 'Z' || state == 'X';
    return !*is_dead && group > 0 && of == group;
}

// The tag ends with a point when all of a Control are meant.
static bool has_tag(pid_t pid, const char *tag, char *buffer)
{
    assert_debug(*tag);
    ssize_t length = read_about(pid, "environ", buffer, ENVIRONMENT_BYTES);
    bool is_whole = tag[strlen(tag) - 1] != '.';
    size_t tag_length = strlen(tag) + is_whole;  // with the NUL that ends the variable
    for (const char *at = buffer, *end = buffer + (length > 0 ? length : 0); at && at < end;) {
        if ((size_t)(end - at) >= tag_length && !memcmp(at, tag, tag_length))
            return true;
        at = memchr(at, '\0', (size_t)(end - at));
        at = at ? at + 1 : NULL;
    }
    return false;
}

// A program that serves a robot of its own goes on when the one that started it ends.
static bool serves_a_robot(const Control *control, pid_t pid)
{
    for (int i = 0; i < control->count; i++)
        if (control->controllers[i].channel && control->controllers[i].peer_pid == pid)
            return true;
    return false;
}

static int sweep(const Control *control, pid_t group, const char *tag, char *buffer)
{
    DIR *folder = opendir("/proc");
    int ended = 0;
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        pid_t pid = isdigit((unsigned char)entry->d_name[0]) ? (pid_t)atoi(entry->d_name) : 0;
        bool is_dead;
        if (pid <= 1 || pid == getpid() || serves_a_robot(control, pid))
            continue;
        bool is_stray = is_of_group(pid, group, &is_dead);
        if (is_dead || (!is_stray && !has_tag(pid, tag, buffer)))
            continue;
        ended += kill(pid, SIGKILL) == 0;
    }
    if (folder)
        closedir(folder);
    return ended;
}

// Again until nothing is found: what is about to fork has forked by then.
static void sweep_all(const Control *control, pid_t group, const char *tag)
{
    char *buffer = malloc(ENVIRONMENT_BYTES);
    for (int i = 0; buffer && i < SWEEPS_MAX && sweep(control, group, tag, buffer) > 0; i++)
        continue;
    free(buffer);
}

void strays_end(const Control *control, const Controller *controller)
{
    assert(controller->serial > 0 && controller->pid > 0);  // else the tag and group would mean others
    char tag[128];
    snprintf(tag, sizeof tag, "%s%d", control->tag, controller->serial);
    sweep_all(control, controller->pid, tag);
}

void strays_end_all(const Control *control)
{
    if (control->serials > 0)
        sweep_all(control, 0, control->tag);
}
