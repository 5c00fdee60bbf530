// Loads its world again until it has been there so many times. Each time it notes in a file what the simulator holds:
// open files, shared memories of controllers, memory of its own in kB.
#include <webots/supervisor.h>
#include <webots/robot.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static FILE *open_of_simulator(const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)getppid(), name);
    return fopen(path, "r");
}

static int count_files(void)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd", (int)getppid());
    DIR *folder = opendir(path);
    int count = 0;
    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count;
}

static int count_maps(void)
{
    FILE *maps = open_of_simulator("maps");
    char line[4096];
    int count = 0;
    while (maps && fgets(line, sizeof line, maps))
        count += strstr(line, "talus-controller") != NULL;
    if (maps)
        fclose(maps);
    return count;
}

static int own_memory(void)
{
    FILE *status = open_of_simulator("status");
    char line[256];
    int size = 0;
    while (status && fgets(line, sizeof line, status))
        sscanf(line, "RssAnon: %d", &size);
    if (status)
        fclose(status);
    return size;
}

static int count_lines(const char *path)
{
    FILE *file = fopen(path, "r");
    int count = 0, c;
    while (file && (c = fgetc(file)) != EOF)
        count += c == '\n';
    if (file)
        fclose(file);
    return count;
}

int main(int argc, char **argv)
{
    wb_robot_init();
    if (argc < 3)
        return 1;
    for (int i = 0; i < 12; i++)
        wb_robot_step(16);
    FILE *notes = fopen(argv[1], "a");
    if (!notes)
        return 1;
    fprintf(notes, "%d %d %d\n", count_files(), count_maps(), own_memory());
    fclose(notes);
    if (count_lines(argv[1]) < atoi(argv[2]))
        wb_supervisor_world_reload();
    else
        wb_supervisor_simulation_quit(0);
    while (wb_robot_step(16) != -1)
        continue;
    wb_robot_cleanup();
    return 0;
}
