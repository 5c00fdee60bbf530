// viewer_bench - what a viewer costs a run, at 1000 bodies: processor time of the world's thread per step without a
// viewer's business, per published moment with 0, 1 and 10 clients that read and acknowledge, the time of a snapshot;
// and bytes on the wire per second at 60 moments a second when all or a tenth of the bodies move; last, how many steps
// a force that is sent over the socket takes until it is in force. Usage: viewer_bench [bodies]. Bars (docs/viewer.md):
// no client: one atomic load a step; with clients at most 20 us per moment on the world's thread, for any number of
// them; at most 1.1 and 0.12 MB/s; at most one step.
#include "base/memory.h"
#include "viewer/viewer_internal.h"

#include <arpa/inet.h>
#include <math.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CLIENTS_MAX = 10, MOMENTS = 120 };

static double thread_time(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// ---- a client ----

typedef struct Reader {
    pthread_t thread;
    const Viewer *viewer;
    _Atomic long frames, bytes;  // of frames that are not key frames
    atomic_bool is_ready;
    int connection;
} Reader;

static void send_message(int connection, const char *text)
{
    uint8_t frame[300];
    size_t length = strlen(text), at = 0;
    frame[at++] = 0x81;
    frame[at++] = (uint8_t)(0x80 | length);
    memset(frame + at, 0, 4);  // the mask
    memcpy(frame + at + 4, text, length);
    ssize_t ignored = send(connection, frame, at + 4 + length, MSG_NOSIGNAL);
    (void)ignored;
}

static bool read_exactly(int connection, void *data, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t got = recv(connection, (char *)data + done, size - done, 0);
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

static bool read_size(int connection, uint8_t head[2], uint64_t *size)
{
    uint8_t more[8];
    if (!read_exactly(connection, head, 2))
        return false;
    *size = head[1] & 0x7f;
    int bytes = *size == 126 ? 2 : *size == 127 ? 8 : 0;
    if (!read_exactly(connection, more, (size_t)bytes))
        return false;
    if (bytes)
        *size = 0;
    for (int i = 0; i < bytes; i++)
        *size = *size << 8 | more[i];
    return true;
}

static void *read_frames(void *context)
{
    Reader *reader = context;
    char text[400], *data = NULL;
    int capacity = 0;
    char last = 0;
    int length = snprintf(text, sizeof text,
                          "GET /socket HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                          "Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\nSec-WebSocket-Version: 13\r\n"
                          "Sec-WebSocket-Protocol: talus\r\n\r\n",
                          viewer_port(reader->viewer));
    send(reader->connection, text, (size_t)length, MSG_NOSIGNAL);
    for (int ends = 0; ends < 4 && read_exactly(reader->connection, &last, 1);)
        ends = last == "\r\n\r\n"[ends] ? ends + 1 : last == '\r';
    snprintf(text, sizeof text, "{\"do\":\"hello\",\"token\":\"%s\",\"protocol\":1}", reader->viewer->hub.token);
    send_message(reader->connection, text);
    uint8_t head[2];
    uint64_t size;
    while (read_size(reader->connection, head, &size)) {
        memory_grow(&data, &capacity, (int)size + 1, 1);
        if (!read_exactly(reader->connection, data, (size_t)size))
            break;
        if (size < 52 || memcmp(data, "TFRM", 4))
            continue;
        reader->is_ready = true;
        if (!(data[5] & FRAME_KEY)) {
            reader->frames++;
            reader->bytes += (long)size;
        }
        send_message(reader->connection, "{\"do\":\"ack\"}");
    }
    free(data);
    return NULL;
}

static double clock_time(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void start_reader(Reader *reader, const Viewer *viewer)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)viewer_port(viewer)),
                                   .sin_addr = { htonl(INADDR_LOOPBACK) } };
    *reader = (Reader){ .viewer = viewer, .connection = socket(AF_INET, SOCK_STREAM, 0) };
    int at_once = 1;  // as browsers have it: small messages do not wait for each other
    setsockopt(reader->connection, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    if (connect(reader->connection, (struct sockaddr *)&address, sizeof address) != 0)
        abort();
    pthread_create(&reader->thread, NULL, read_frames, reader);
}

// ---- a world ----

// So many balls far apart in space, the last of which, those on top, turn and fly up and away from the others.
static Sim *make_world(int bodies, int moving, DiagSink *diags)
{
    Text text = { 0 };
    text_add_string(
        &text, "#VRML_SIM R2025a utf8\nWorldInfo { gravity 0 basicTimeStep 16 physicsDisableTime 0 }\nViewpoint { }\n");
    int side = (int)ceil(cbrt((double)bodies));
    for (int i = 0; i < bodies; i++) {
        text_printf(&text, "Solid { name \"b%d\" translation %d %d %d ", i, i % side, i / side % side, i / side / side);
        if (i >= bodies - moving)
            text_printf(&text, "linearVelocity 0.3 0.2 0.1 angularVelocity 1 2 %d ", 1 + i % 3);
        text_add_string(&text, "boundingObject Sphere { radius 0.1 } physics Physics { } }\n");
    }
    Sim *sim = sim_load_text("bench.wbt", text.data, text.length, NULL, diags);
    text_free(&text);
    return sim;
}

typedef struct Cost {
    double moments[MOMENTS], snapshots;
    int moment_count, snapshot_count;
} Cost;

static Cost cost;

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool timed(Sim *sim, void *context)
{
    Viewer *viewer = context;
    uint64_t serial = viewer->moment_serial;
    int snapshots = viewer->snapshot_count;
    double start = thread_time();
    bool goes_on = session_before_step(sim, context);
    double seconds = thread_time() - start;
    if (viewer->snapshot_count > snapshots) {
        cost.snapshots += seconds;
        cost.snapshot_count++;
    } else if (viewer->moment_serial > serial && cost.moment_count < MOMENTS) {
        cost.moments[cost.moment_count++] = seconds;
    }
    return goes_on;
}

// What a step costs for which nobody is there, in us: too little for a clock around each.
static double idle_cost(Viewer *viewer, Sim *sim)
{
    enum { CALLS = 10000000 };
    sim_step(sim);
    double start = thread_time();
    for (int i = 0; i < CALLS; i++)
        session_before_step(sim, viewer);
    return 1e6 * (thread_time() - start) / CALLS;
}

static void measure(int bodies, int moving, int clients)
{
    DiagSink *diags = diag_create();
    Sim *sim = make_world(bodies, moving, diags);
    Viewer *viewer = viewer_start(&(ViewerOptions){ 0 }, diags);
    if (!sim || !viewer) {
        diag_print(diags, stderr, 0, DIAG_WARNING);
        exit(1);
    }
    viewer_attach(viewer, sim, NULL);
    sim_set_boundary(sim, NULL, NULL);
    sim_set_boundary(sim, timed, viewer);
    Reader readers[CLIENTS_MAX];
    for (int i = 0; i < clients; i++)
        start_reader(&readers[i], viewer);
    for (int i = 0; i < clients;) {
        sim_step(sim);
        i += readers[i].is_ready;
    }
    cost = (Cost){ 0 };
    long frames = clients ? readers[0].frames : 0, bytes = clients ? readers[0].bytes : 0;
    if (clients == 0)
        printf("%6d %7d %8d %10.4f\n", bodies, moving, clients, idle_cost(viewer, sim));
    while (clients && cost.moment_count < MOMENTS)
        sim_step(sim);
    if (clients > 0) {
        qsort(cost.moments, MOMENTS, sizeof cost.moments[0], compare);
        double per_frame = (double)(readers[0].bytes - bytes) / fmax(1.0, (double)(readers[0].frames - frames));
        printf("%6d %7d %8d %10s %10.1f %10.1f %10.1f %10.0f %10.3f\n", bodies, moving, clients, "-",
               1e6 * cost.moments[MOMENTS / 2], 1e6 * cost.moments[0],
               1e6 * cost.snapshots / fmax(1.0, (double)cost.snapshot_count), per_frame, 60e-6 * per_frame);
    }
    for (int i = 0; i < clients; i++) {
        shutdown(readers[i].connection, SHUT_RDWR);
        pthread_join(readers[i].thread, NULL);
        close(readers[i].connection);
    }
    viewer_stop(viewer);
    sim_destroy(sim);
    diag_destroy(diags);
}

// ---- from a hand to the world ----

enum { ACTS = 200, LATENCY_MAX = 8 };

// Acts are told apart by their length. `begun` counts the steps that have passed their boundary.
typedef struct Hand {
    const Viewer *viewer;
    int connection;
    _Atomic long begun, seen;  // seen: number of the newest act in force,
    _Atomic long seen_begun;   // since that step
    _Atomic double seen_time;
    atomic_bool is_over;
    long latencies[LATENCY_MAX + 1];
    double seconds[ACTS];
} Hand;

static bool noted(Sim *sim, void *context)
{
    Hand *hand = context;
    Viewer *viewer = (Viewer *)hand->viewer;
    bool goes_on = session_before_step(sim, viewer);
    hand->begun++;
    long act = viewer->drag.kind == DRAG_TORQUE ? lround(1e3 * viewer->drag.to.z) : 0;
    if (act != hand->seen) {
        hand->seen_begun = hand->begun;
        hand->seen_time = clock_time();
        hand->seen = act;
    }
    return goes_on;
}

// Sends an act at any moment of a step, waits until it is in force, and notes how many steps began without it.
static void *pull_and_wait(void *context)
{
    Hand *hand = context;
    unsigned seed = 1;
    for (long act = 1; act <= ACTS; act++) {
        char text[100];
        struct timespec pause = { .tv_nsec = 1000L * (rand_r(&seed) % 16000) };
        nanosleep(&pause, NULL);
        snprintf(text, sizeof text, "{\"do\":\"torque\",\"solid\":0,\"vector\":[0,0,%.3f]}", 1e-3 * (double)act);
        long before = hand->begun;
        double start = clock_time();
        send_message(hand->connection, text);
        while (hand->seen != act)
            sched_yield();
        hand->seconds[act - 1] = hand->seen_time - start;
        long late = hand->seen_begun - before - 1;
        hand->latencies[late < LATENCY_MAX ? late : LATENCY_MAX]++;
    }
    hand->is_over = true;
    return NULL;
}

static void measure_latency(int bodies)
{
    DiagSink *diags = diag_create();
    Sim *sim = make_world(bodies, bodies, diags);
    Viewer *viewer = viewer_start(&(ViewerOptions){ .pace = 1.0 }, diags);
    if (!sim || !viewer)
        exit(1);
    viewer_attach(viewer, sim, NULL);
    static Hand hand;
    Reader reader;
    start_reader(&reader, viewer);
    while (!reader.is_ready)
        sim_step(sim);
    hand = (Hand){ .viewer = viewer, .connection = reader.connection };
    sim_set_boundary(sim, NULL, NULL);
    sim_set_boundary(sim, noted, &hand);
    pthread_t thread;
    pthread_create(&thread, NULL, pull_and_wait, &hand);
    while (!hand.is_over)
        sim_step(sim);
    pthread_join(thread, NULL);
    qsort(hand.seconds, ACTS, sizeof hand.seconds[0], compare);
    printf("steps of 16 ms that begin between an act's sending and the one it is in force in (of %d acts):", ACTS);
    for (int i = 0; i <= LATENCY_MAX; i++)
        if (hand.latencies[i] > 0)
            printf(" %d%s: %ld", i, i == LATENCY_MAX ? " or more" : "", hand.latencies[i]);
    printf("; median %.1f ms, longest %.1f ms\n", 1e3 * hand.seconds[ACTS / 2], 1e3 * hand.seconds[ACTS - 1]);
    shutdown(reader.connection, SHUT_RDWR);
    pthread_join(reader.thread, NULL);
    close(reader.connection);
    viewer_stop(viewer);
    sim_destroy(sim);
    diag_destroy(diags);
}

int main(int argc, char **argv)
{
    int bodies = argc > 1 ? atoi(argv[1]) : 1000;
    if (!viewer_is_available() || bodies < 10) {
        puts("viewer_bench [bodies]: wants libwebsockets and at least 10 bodies");
        return 77;
    }
    printf("%6s %7s %8s %10s %10s %10s %10s %10s %10s\n", "bodies", "moving", "clients", "us/step", "us/moment",
           "(best)", "us/snap", "B/frame", "MB/s at 60");
    measure(bodies, bodies, 0);
    measure(bodies, bodies, 1);
    measure(bodies, bodies, 10);
    measure(bodies, bodies / 10, 1);
    measure_latency(bodies);
    return 0;
}
