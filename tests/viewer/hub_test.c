// What the server tells a client, without sockets: of a world that stands the last state reaches everybody, also who
// read nothing for a while, and also when nobody saw the world run.
#include "viewer/viewer_internal.h"

#include "base/memory.h"
#include "support/support.h"

typedef struct Stage {
    Exchange exchange;
    Hub hub;
    Client *client;
} Stage;

static void no_thread(void *context) { (void)context; }

static void publish(Stage *stage, uint64_t step, bool is_running)
{
    ViewMoment *moment = stage->exchange.back;
    moment->serial++;
    moment->revision = 1;
    moment->step = step;
    moment->is_running = is_running;
    exchange_publish(&stage->exchange);
}

static void print(Stage *stage)
{
    static const char line[] = "{\"is\":\"print\",\"text\":\"x\"}";
    exchange_send(&stage->exchange,
                  (Letter){ .kind = LETTER_TEXT, .is_droppable = true, .blob = blob_create(line, sizeof line - 1) });
}

// A client that has been welcomed, and a world that stands at the start.
static Stage *open_stage(void)
{
    Stage *stage = memory_alloc(sizeof *stage);
    char hello[120];
    exchange_init(&stage->exchange);
    stage->exchange.wake = no_thread;
    hub_init(&stage->hub, &stage->exchange);
    stage->client = hub_open(&stage->hub, NULL);
    snprintf(hello, sizeof hello, "{\"do\":\"hello\",\"token\":\"%s\",\"protocol\":1}", stage->hub.token);
    HubFragment whole = { .data = hello, .size = strlen(hello), .is_first = true, .is_last = true };
    assert_true(hub_receive(&stage->hub, stage->client, &whole));
    exchange_send(&stage->exchange, (Letter){ .kind = LETTER_WELCOME,
                                              .client = stage->client->id,
                                              .blob = blob_create("{}", 2),
                                              .scene = blob_create("glb", 3),
                                              .revision = 1 });
    publish(stage, 0, false);
    hub_drain(&stage->hub);
    return stage;
}

static void close_stage(Stage *stage)
{
    hub_deinit(&stage->hub);
    exchange_deinit(&stage->exchange);
    free(stage);
}

// Reads all that there is for the client: the last state of it has these words.
static void check_state(Stage *stage, const char *wanted)
{
    Text message = { 0 }, state = { 0 };
    HubPiece piece;
    while (hub_next(&stage->hub, stage->client, &piece)) {
        if (piece.is_first)
            text_clear(&message);
        text_add(&message, (const char *)piece.data, piece.size);
        if (piece.is_last && !piece.is_binary && strstr(message.data, "\"is\":\"state\"")) {
            text_clear(&state);
            text_add(&state, message.data, message.length);
        }
        hub_sent(stage->client);
    }
    stage->client->awaits_ack = false;
    CHECK(state.data && strstr(state.data, wanted), wanted);
    CHECK(!hub_has_more(&stage->hub, stage->client), wanted);
    text_free(&message);
    text_free(&state);
}

static void who_reads_late_learns_that_it_stands(void **state)
{
    (void)state;
    Stage *stage = open_stage();
    check_state(stage, "\"running\":false");
    publish(stage, 1, true);
    hub_drain(&stage->hub);
    check_state(stage, "\"running\":true");
    for (int i = 0; i < VIEWER_QUEUE_MAX; i++) {
        print(stage);
        hub_drain(&stage->hub);
    }
    publish(stage, 2, false);  // told while much waits: left out
    hub_drain(&stage->hub);
    check_state(stage, "\"running\":false");
    close_stage(stage);
}

static void steps_that_nobody_saw_are_told(void **state)
{
    (void)state;
    Stage *stage = open_stage();
    check_state(stage, "\"step\":0");
    publish(stage, 3, true);
    publish(stage, 5, false);  // overtakes the one before
    hub_drain(&stage->hub);
    check_state(stage, "\"step\":5");
    close_stage(stage);
}

// The world has ended while an acknowledgement was on its way: that does not end the connection before its words.
static void last_words_are_not_cut_short(void **state)
{
    (void)state;
    static const char ack[] = "{\"do\":\"ack\",\"step\":0}";
    const HubFragment whole = { .data = ack, .size = sizeof ack - 1, .is_first = true, .is_last = true };
    Stage *stage = open_stage();
    check_state(stage, "\"running\":false");
    exchange_send(&stage->exchange, (Letter){ .kind = LETTER_BYE, .blob = blob_create("the end", 7) });
    hub_drain(&stage->hub);
    assert_true(hub_receive(&stage->hub, stage->client, &whole));
    HubPiece piece;
    assert_true(hub_next(&stage->hub, stage->client, &piece));
    CHECK(memmem(piece.data, piece.size, "the end", 7), "what it is told");
    hub_sent(stage->client);
    assert_false(hub_next(&stage->hub, stage->client, &piece));
    close_stage(stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(last_words_are_not_cut_short),
        cmocka_unit_test(who_reads_late_learns_that_it_stands),
        cmocka_unit_test(steps_that_nobody_saw_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
