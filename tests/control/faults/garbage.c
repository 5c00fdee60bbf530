// Writes nonsense into the memory shared with the simulator, whose layout is said in src/protocol/channel.c; at once,
// or in the middle of a run, or when it is asked to end.
#include <webots/robot.h>

#include <linux/futex.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { HEAD = 4096 };
typedef struct Direction {
    uint32_t count, waiting, is_closed, padding;
    uint64_t size;
} Direction;

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "nothing", *when = argc > 2 ? argv[2] : "init";
    if (strcmp(when, "init")) {
        wb_robot_init();
        for (int i = 0; i < 5; i++)
            wb_robot_step(16);
        if (!strcmp(when, "cleanup"))
            while (wb_robot_step(16) != -1)
                continue;
    }
    int descriptor = atoi(getenv("TALUS_CHANNEL"));
    struct stat info;
    if (fstat(descriptor, &info) < 0)
        return 4;
    uint8_t *memory = mmap(NULL, (size_t)info.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (memory == MAP_FAILED)
        return 5;
    if (ftruncate(descriptor, 4096) == 0)
        return 6;  // it is sealed: this must not work
    if (!strcmp(what, "nothing"))
        return 0;
    size_t limit = ((size_t)info.st_size - HEAD) / 2;
    Direction *out = (Direction *)(memory + 8) + 1;
    uint8_t *buffer = memory + HEAD + limit;
    memset(buffer, 0xa5, 4096);
    out->size = 4096;
    if (!strcmp(what, "length"))
        out->size = UINT64_MAX - 3;
    if (!strcmp(what, "ops")) {
        memset(buffer, 0, 4096);
        buffer[100] = 77;
    }
    __atomic_add_fetch(&out->count, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &out->count, FUTEX_WAKE, 1, NULL, NULL, 0);
    pause();  // the simulator ends it
    return 0;
}
