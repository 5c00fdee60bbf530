// The server of the viewer as bytes on a socket: who is let in, and what becomes of those who are not.
#include "viewer/viewer_internal.h"

#include "support/support.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

static DiagSink *diags;

static void hosts_are_checked(void **state)
{
    (void)state;
    static const struct {
        const char *host, *address;
        bool ok;
    } cases[] = {
        { "127.0.0.1:8000", NULL, true },
        { "localhost:8000", NULL, true },
        { "LOCALHOST:8000", NULL, true },
        { "[::1]:8000", NULL, true },
        { "127.0.0.1", NULL, false },  // port 80 is another one
        { "127.0.0.1:8001", NULL, false },
        { "l:8000", NULL, false },  // a beginning is not enough
        { "localhost.evil.org:8000", NULL, false },
        { "evil.org:8000", NULL, false },  // rebinding: its DNS may say 127.0.0.1
        { "192.168.1.7:8000", NULL, false },
        { "127.0.0.1.evil.org:8000", NULL, false },
        { "", NULL, false },
        { ":8000", NULL, false },
        { "[::1:8000", NULL, false },
        { "192.168.1.7:8000", "192.168.1.7", true },
        { "127.0.0.1:8000", "192.168.1.7", false },
        { "192.168.1.7:8000", "0.0.0.0", true },
        { "evil.org:8000", "0.0.0.0", false },
        { "[fe80::1]:8000", "::", true },
    };
    for (int i = 0; i < COUNT_OF(cases); i++)
        CHECK(viewer_host_is_allowed(cases[i].host, cases[i].address, 8000) == cases[i].ok, cases[i].host);
}

static int connect_to(const Viewer *viewer)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)viewer_port(viewer)),
                                   .sin_addr = { htonl(INADDR_LOOPBACK) } };
    int connection = socket(AF_INET, SOCK_STREAM, 0);
    struct timeval limit = { .tv_sec = 60 };
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    assert_int_equal(connect(connection, (struct sockaddr *)&address, sizeof address), 0);
    return connection;
}

// Sends the text and reads until the server ends the connection.
static void talk(const Viewer *viewer, const char *text, Text *answer)
{
    char room[4096];
    ssize_t got;
    int connection = connect_to(viewer);
    assert_int_equal(send(connection, text, strlen(text), MSG_NOSIGNAL), strlen(text));
    while ((got = recv(connection, room, sizeof room, 0)) > 0)
        text_add(answer, room, (size_t)got);
    close(connection);
}

static Viewer *start(int hello_ms)
{
    Viewer *viewer = viewer_start(&(ViewerOptions){ .hello_ms = hello_ms }, diags);
    assert_non_null(viewer);
    return viewer;
}

static const char upgrade[] = "GET /socket HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: %s\r\nConnection: %s\r\n"
                              "Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\nSec-WebSocket-Version: 13\r\n"
                              "Sec-WebSocket-Protocol: talus\r\n%s\r\n";

// One that opens a socket and never says its token is let go. The wait is for the server's end of the connection.
static void silence_ends(void **state)
{
    (void)state;
    Viewer *viewer = start(20);
    Text request = { 0 }, answer = { 0 };
    text_printf(&request, upgrade, viewer_port(viewer), "websocket", "Upgrade", "");
    talk(viewer, request.data, &answer);
    assert_non_null(strstr(answer.data, "101 "));
    text_free(&request);
    text_free(&answer);
    viewer_stop(viewer);
}

// libwebsockets 4.1.6 goes on with a freed request here unless it is stopped; the address sanitizer sees it if it does.
static void foreign_upgrades_end(void **state)
{
    (void)state;
    static const struct {
        const char *wanted, *connection, *more;
    } cases[] = {
        { "foo", "Upgrade", "" },
        { "foo", "Upgrade, HTTP2-Settings", "HTTP2-Settings: AAMAAABkAAQAAP__\r\n" },
        { "h2c", "Upgrade, HTTP2-Settings", "HTTP2-Settings: AAMAAABkAAQAAP__\r\n" },
        { "websocketx", "Upgrade", "" },
        { "websocket", "Upgrade", "Origin: http://evil.org\r\n" },
        { "websocket", "Upgrade", "Origin: null\r\n" },
    };
    Viewer *viewer = start(0);
    for (int i = 0; i < 2 * COUNT_OF(cases); i++) {
        Text request = { 0 }, answer = { 0 };
        text_printf(&request, upgrade, viewer_port(viewer), cases[i / 2].wanted, cases[i / 2].connection,
                    cases[i / 2].more);
        talk(viewer, request.data, &answer);
        CHECK(!answer.data || !strstr(answer.data, "101 "), cases[i / 2].wanted);
        text_free(&request);
        text_free(&answer);
    }
    Text answer = { 0 }, request = { 0 };
    text_printf(&request, "GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n\r\n", viewer_port(viewer));
    talk(viewer, request.data, &answer);
    CHECK(strstr(answer.data, "200 "), "the server lives on");
    text_free(&request);
    text_free(&answer);
    viewer_stop(viewer);
}

enum { LONG_BYTES = 24 << 20, TRIES = 100 };  // more than the two ends of a connection hold

static Viewer *start_long(int request_seconds, int answer_ms)
{
    static const uint8_t recording[LONG_BYTES];
    Viewer *viewer = viewer_start(&(ViewerOptions){ .recording = recording,
                                                    .recording_size = LONG_BYTES,
                                                    .request_seconds = request_seconds,
                                                    .answer_ms = answer_ms },
                                  diags);
    assert_non_null(viewer);
    return viewer;
}

// A connection on which the head of a long recording has come and nothing of it was taken. A server that was itself
// late to read the request may have ended one before.
static int ask_for_recording(const Viewer *viewer)
{
    static const char fine[] = "HTTP/1.1 200";
    Text request = { 0 };
    text_printf(&request,
                "GET /recording HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nX-Talus-Token: %s\r\nConnection: close\r\n\r\n",
                viewer_port(viewer), strchr(viewer_url(viewer), '=') + 1);
    for (int i = 0; i < TRIES; i++) {
        char head[sizeof fine] = "";
        int connection = connect_to(viewer);
        send(connection, request.data, strlen(request.data), MSG_NOSIGNAL);
        if (recv(connection, head, sizeof fine - 1, MSG_PEEK | MSG_WAITALL) == (ssize_t)sizeof fine - 1) {
            assert_string_equal(head, fine);
            text_free(&request);
            return connection;
        }
        close(connection);
    }
    fail_msg("no answer in %d tries", TRIES);
    return -1;
}

static size_t count_rest(int connection)
{
    static char room[1 << 16];
    size_t count = 0;
    for (ssize_t got; (got = recv(connection, room, sizeof room, 0)) > 0;)
        count += (size_t)got;
    close(connection);
    return count;
}

// The limit for a request is not one for its answer, however long that takes.
static void slow_readers_get_all(void **state)
{
    (void)state;
    Viewer *viewer = start_long(1, 600000);
    int connection = ask_for_recording(viewer);
    usleep(2500000);  // longer than the limit; a busy machine makes it no shorter
    assert_true(count_rest(connection) > LONG_BYTES);
    viewer_stop(viewer);
}

// Who takes nothing for long is let go, sooner or later.
static void those_who_take_nothing_are_let_go(void **state)
{
    (void)state;
    Viewer *viewer = start_long(0, 20);
    size_t count = LONG_BYTES;
    for (useconds_t wait = 50000; count >= LONG_BYTES && wait < 60000000; wait *= 2) {
        int connection = ask_for_recording(viewer);
        usleep(wait);
        count = count_rest(connection);
    }
    assert_true(count < LONG_BYTES);
    viewer_stop(viewer);
}

static void a_taken_port_is_said(void **state)
{
    (void)state;
    Viewer *viewer = start(0);
    int errors = diag_total(diags, DIAG_ERROR);
    assert_null(viewer_start(&(ViewerOptions){ .port = viewer_port(viewer) }, diags));
    assert_int_equal(diag_total(diags, DIAG_ERROR), errors + 1);
    assert_null(viewer_start(&(ViewerOptions){ .address = "not an address" }, diags));
    viewer_stop(viewer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_are_checked),
        cmocka_unit_test(silence_ends),
        cmocka_unit_test(foreign_upgrades_end),
        cmocka_unit_test(slow_readers_get_all),
        cmocka_unit_test(those_who_take_nothing_are_let_go),
        cmocka_unit_test(a_taken_port_is_said),
    };
    if (!viewer_is_available()) {
        puts("built without libwebsockets");
        return 77;
    }
    diags = diag_create();
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    diag_destroy(diags);
    return failures;
}
