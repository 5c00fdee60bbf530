// control_bench.c - what a control step costs: the round trip of an empty controller, launched, in Python, from outside
// in shared memory and from outside over TCP, beside bare ping-pongs between two processes (futex, loopback) measured
// in the same run; swarms of 1, 10 and 100 robots; a robot with 1000 rays. This program is its own controller: the
// simulator starts it again with TALUS_CHANNEL set.
#include "control/control.h"
#include "protocol/protocol.h"
#include "sim/sim.h"

#include <arpa/inet.h>
#include <linux/futex.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TRIPS = 20000, REPEATS = 5, SPINS = 200 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// ---- bare ping-pong ----

// The word after the value says whether somebody sleeps, so that nobody is woken for nothing: as good as it gets.
static void wait_for(_Atomic uint32_t *word, uint32_t value)
{
    uint32_t seen;
    for (int i = 0; i < SPINS; i++)
        if (atomic_load(word) == value)
            return;
    atomic_store(word + 1, 1);
    while ((seen = atomic_load(word)) != value)
        syscall(SYS_futex, word, FUTEX_WAIT, seen, NULL, NULL, 0);
    atomic_store(word + 1, 0);
}

static void post(_Atomic uint32_t *word, uint32_t value)
{
    atomic_store(word, value);
    if (atomic_load(word + 1))
        syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static double ping_pong(void)
{
    _Atomic uint32_t *words = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child = fork();
    if (child == 0) {
        for (uint32_t i = 1; i <= TRIPS; i++) {
            wait_for(&words[0], i);
            post(&words[16], i);
        }
        _exit(0);
    }
    double start = now();
    for (uint32_t i = 1; i <= TRIPS; i++) {
        post(&words[0], i);
        wait_for(&words[16], i);
    }
    double seconds = now() - start;
    waitpid(child, NULL, 0);
    munmap((void *)words, 4096);
    return seconds / TRIPS;
}

// ---- the controller's side, without libController: greet, enable what there is, step for ever ----

static bool ask(Channel *channel, const FrameWriter *frame, FrameReader *reader)
{
    const void *data;
    size_t size;
    return channel_send(channel, frame) && channel_receive(channel, -1, 0, &data, &size) == CHANNEL_OK
           && frame_open(reader, data, size);
}

static int be_controller(Channel *channel)
{
    FrameWriter frame = { 0 };
    FrameReader reader;
    Record record;
    int32_t hello[2] = { PROTOCOL_VERSION, getpid() }, duration = 16, devices = 0;
    frame_begin(&frame, FRAME_HELLO);
    frame_add(&frame, &(Record){ .op = OP_HELLO_VERSION, .int_count = 2, .ints = hello });
    if (!channel || !ask(channel, &frame, &reader))
        return 1;
    while (frame_next(&reader, &record))
        devices += record.op == OP_DEVICE;
    frame_begin(&frame, FRAME_STEP);
    for (int tag = 1; tag <= devices; tag++)
        frame_add(&frame,
                  &(Record){ .op = OP_ENABLE, .tag = (uint16_t)tag, .int_count = 2, .ints = (int32_t[]){ 0, 16 } });
    do {
        frame_add(&frame, &(Record){ .op = OP_DURATION, .int_count = 1, .ints = &duration });
        if (!ask(channel, &frame, &reader))
            return 1;
        frame_begin(&frame, FRAME_STEP);
    } while (reader.kind == FRAME_STATE);
    return 0;
}

// ---- from outside ----

typedef enum Way { WAY_NONE, WAY_LAUNCHED, WAY_PYTHON, WAY_SHARED, WAY_TCP } Way;
enum { PORT = 27182, MESSAGE_BYTES = 16 << 20 };

static int connect_way(Way way)
{
    struct sockaddr_un here;
    socklen_t length = protocol_socket_name(PORT, &here);
    struct sockaddr_in network = { .sin_family = AF_INET,
                                   .sin_port = htons(PORT),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int handle = socket(way == WAY_TCP ? AF_INET : AF_UNIX, SOCK_STREAM, 0);
    int result = way == WAY_TCP ? connect(handle, (struct sockaddr *)&network, sizeof network)
                                : connect(handle, (struct sockaddr *)&here, length);
    if (result == 0)
        return handle;
    close(handle);
    return -1;
}

// A process that connects as soon as the simulator is there.
static pid_t start_outsider(Way way)
{
    pid_t child = fork();
    if (child != 0)
        return child;
    int handle;
    while ((handle = connect_way(way)) < 0)
        usleep(1000);
    Channel *channel = channel_open_socket(handle, MESSAGE_BYTES);
    if (way == WAY_SHARED)
        channel_take_memory(channel);
    _exit(be_controller(channel));
}

// A small message there and back over loopback.
static double tcp_ping_pong(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof address;
    int yes = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0 || listen(listener, 1) < 0
        || getsockname(listener, (struct sockaddr *)&address, &length) < 0)
        return NAN;
    char message[128] = "";
    pid_t child = fork();
    if (child == 0) {
        int handle = socket(AF_INET, SOCK_STREAM, 0);
        setsockopt(handle, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        if (connect(handle, (struct sockaddr *)&address, sizeof address) < 0)
            _exit(1);
        while (recv(handle, message, sizeof message, MSG_WAITALL) == sizeof message)
            if (send(handle, message, sizeof message, 0) < 0)
                _exit(1);
        _exit(0);
    }
    int handle = accept(listener, NULL, NULL);
    setsockopt(handle, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    double start = now();
    for (int i = 0; i < TRIPS / 4; i++)
        if (send(handle, message, sizeof message, 0) < 0 || recv(handle, message, sizeof message, MSG_WAITALL) < 0)
            break;
    double seconds = (now() - start) / (TRIPS / 4);
    close(handle);
    close(listener);
    waitpid(child, NULL, 0);
    return seconds;
}

// ---- worlds ----

// Obstacles stand in a grid behind the wall: what a ray must not be slowed down by.
static Sim *make_world(const char *folder, const char *controller, int robots, int sensors, int rays, int obstacles,
                       DiagSink *diags)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/worlds/bench.wbt", folder);
    FILE *file = fopen(path, "w");
    if (!file)
        return NULL;
    fprintf(
        file,
        "#VRML_SIM R2025a utf8\nWorldInfo { basicTimeStep 16 }\nViewpoint { }\nSolid { name \"wall\" translation 0 0 5 boundingObject Box { size 100 100 0.1 } }\n");
    for (int i = 0; i < robots; i++) {
        fprintf(file, "Robot { name \"r%d\" translation %d %d 0 controller \"%s\" children [ ", i, i % 10, i / 10,
                controller);
        for (int k = 0; k < sensors; k++)
            fprintf(
                file,
                "DistanceSensor { name \"d%d\" rotation 0 1 0 -1.5708 numberOfRays %d aperture 0.5 lookupTable [ 0 0 0, 10 10 0 ] } ",
                k, rays);
        fprintf(file, "] }\n");
    }
    for (int i = 0; i < obstacles; i++)
        fprintf(file, "Solid { name \"o%d\" translation %d %d 8 boundingObject Box { size 0.5 0.5 0.5 } }\n", i, i % 32,
                i / 32);
    fclose(file);
    return sim_load(path, NULL, diags);
}

static double seconds_per_step(const char *folder, int robots, int sensors, int rays, int obstacles, int steps, Way way)
{
    DiagSink *diags = diag_create();
    bool is_outside = way == WAY_SHARED || way == WAY_TCP;
    Sim *sim = make_world(folder,
                          is_outside          ? "<extern>"
                          : way == WAY_PYTHON ? "python"
                                              : "bench",
                          robots, sensors, rays, obstacles, diags);
    if (!sim)
        exit(1);
    ControlOptions options = { .port = is_outside ? PORT : 0 };
    Control *control = way != WAY_NONE ? control_create(sim, &options, diags) : NULL;
    pid_t outsider = is_outside ? start_outsider(way) : 0;
    for (int i = 0; i < 20; i++)
        sim_step(sim);
    double start = now();
    for (int i = 0; i < steps; i++)
        sim_step(sim);
    double seconds = (now() - start) / steps;
    if (control && control_running(control) != robots)
        printf("only %d of %d controllers run\n", control_running(control), robots);
    control_destroy(control);
    sim_destroy(sim);
    diag_destroy(diags);
    if (outsider)
        waitpid(outsider, NULL, 0);
    return seconds;
}

// An empty controller in Python. The package lies in the folder above this program's.
static void add_python_controller(const char *folder, const char *program)
{
    char path[8192];
    snprintf(path, sizeof path, "%s", program);
    for (int i = 0; i < 2; i++)
        *strrchr(path, '/') = '\0';
    setenv("TALUS_CONTROLLER_PATH", path, 1);
    snprintf(path, sizeof path, "%s/controllers/python", folder);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/controllers/python/python.py", folder);
    FILE *file = fopen(path, "w");
    if (!file)
        exit(1);
    fputs("from controller import Robot\nrobot = Robot()\nstep = robot.step\nwhile step(16) != -1:\n    pass\n", file);
    fclose(file);
}

static void make_project(char folder[4096], const char *self)
{
    char path[8192], program[4096];
    snprintf(folder, 4096, "%s", "/tmp/talus-control-bench-XXXXXX");
    ssize_t length = readlink(self, program, sizeof program - 1);
    if (length < 0 || !mkdtemp(folder))
        exit(1);
    program[length] = '\0';
    static const char *const parts[] = { "worlds", "controllers", "controllers/bench" };
    for (int i = 0; i < COUNT_OF(parts); i++) {
        snprintf(path, sizeof path, "%s/%s", folder, parts[i]);
        mkdir(path, 0700);
    }
    snprintf(path, sizeof path, "%s/controllers/bench/bench", folder);
    if (symlink(program, path) < 0)
        exit(1);
    add_python_controller(folder, program);
}

static void remove_project(const char *folder)
{
    static const char *const parts[] = { "controllers/bench/bench",
                                         "controllers/bench",
                                         "controllers/python/python.py",
                                         "controllers/python",
                                         "controllers",
                                         "worlds/bench.wbt",
                                         "worlds",
                                         "." };
    char path[8192];
    for (int i = 0; i < COUNT_OF(parts); i++) {
        snprintf(path, sizeof path, i == COUNT_OF(parts) - 1 ? "%s" : "%s/%s", folder, parts[i]);
        remove(path);
    }
}

int main(void)
{
    const char *channel = getenv("TALUS_CHANNEL");
    if (channel)
        return be_controller(channel_open_shared(atoi(channel)));
    char folder[4096];
    make_project(folder, "/proc/self/exe");
    double bare = 1e9, bare_tcp = 1e9, empty = 1e9, trips[WAY_TCP + 1] = { 0, 1e9, 1e9, 1e9, 1e9 };
    for (int i = 0; i < REPEATS; i++) {
        bare = fmin(bare, ping_pong());
        bare_tcp = fmin(bare_tcp, tcp_ping_pong());
        empty = fmin(empty, seconds_per_step(folder, 1, 0, 1, 0, 5000, WAY_NONE));
        for (Way way = WAY_LAUNCHED; way <= WAY_TCP; way++)
            trips[way] = fmin(trips[way], seconds_per_step(folder, 1, 0, 1, 0, 5000, way));
    }
    double launched = trips[WAY_LAUNCHED] - empty, python = trips[WAY_PYTHON] - empty,
           shared = trips[WAY_SHARED] - empty, tcp = trips[WAY_TCP] - empty;
    printf("bare futex ping-pong      %8.2f us\n", 1e6 * bare);
    printf("empty controller step     %8.2f us   %.2f times the bare one\n", 1e6 * launched, launched / bare);
    printf("empty step in Python      %8.2f us   %.2f times the one in C\n", 1e6 * python, python / launched);
    printf("extern, shared memory     %8.2f us   %.2f times the launched one\n", 1e6 * shared, shared / launched);
    printf("bare loopback ping-pong   %8.2f us\n", 1e6 * bare_tcp);
    printf("extern, TCP               %8.2f us   %.2f times the bare one\n", 1e6 * tcp, tcp / bare_tcp);
    static const int robots[] = { 1, 10, 100 };
    for (int i = 0; i < COUNT_OF(robots); i++) {
        double seconds = seconds_per_step(folder, robots[i], 1, 1, 0, 20000 / robots[i] / 10, WAY_LAUNCHED);
        printf("%3d robots, 1 ray each    %8.2f us a step, %.0f steps/s, %.2f us a robot\n", robots[i], 1e6 * seconds,
               1.0 / seconds, 1e6 * seconds / robots[i]);
    }
    static const int shapes[] = { 0, 1000 };
    for (int i = 0; i < COUNT_OF(shapes); i++) {
        double rays = seconds_per_step(folder, 1, 100, 10, shapes[i], 300, WAY_LAUNCHED);
        printf("1000 rays, %4d shapes    %8.2f us a step, %.3f us a ray\n", shapes[i] + 1, 1e6 * rays, 1e3 * rays);
    }
    remove_project(folder);
    return 0;
}
