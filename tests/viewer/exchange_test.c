// What clients ask for waits until the world takes it, in order. Of a drag the newest alone counts, of all else every
// one. What the world shows is left for the server, which is woken only when it does not look by itself.
#include "viewer/viewer_internal.h"

#include "base/memory.h"
#include "support/support.h"

enum { ORDERS = 3 };

static void order(Exchange *exchange, uint32_t client, const char *text)
{
    Arena *arena = arena_create();
    const JsonValue *message = json_parse(arena, text, strlen(text), NULL);
    uint64_t drag = act_drag(act_type(json_member_string(message, "do")), message);
    assert_true(exchange_order(exchange, (Order){ .client = client, .text = memory_string(text), .drag = drag }));
    arena_destroy(arena);
}

static void the_newest_of_a_drag_counts(void **state)
{
    (void)state;
    static const struct {
        const char *name, *texts[ORDERS];
        int taken;
    } cases[] = {
        { "a drag",
          { "{\"do\":\"move\",\"solid\":1,\"hold\":true}", "{\"do\":\"move\",\"solid\":1,\"hold\":true}",
            "{\"do\":\"move\",\"solid\":1,\"hold\":true,\"last\":1}" },
          1 },
        { "keys and buttons that resize",
          { "{\"do\":\"resize\",\"node\":1,\"size\":[2,2,2]}", "{\"do\":\"resize\",\"node\":1,\"size\":[1,1,1]}",
            "{\"do\":\"resize\",\"node\":1,\"size\":[3,3,3]}" },
          3 },
        { "other things",
          { "{\"do\":\"joint\",\"node\":1,\"hold\":true}", "{\"do\":\"joint\",\"node\":1,\"axis\":1,\"hold\":true}",
            "{\"do\":\"joint\",\"node\":2,\"hold\":true}" },
          3 },
        { "other acts",
          { "{\"do\":\"mouse\"}", "{\"do\":\"joystick\"}", "{\"do\":\"move\",\"solid\":1,\"hold\":true}" },
          3 },
        { "the state of an input", { "{\"do\":\"mouse\"}", "{\"do\":\"mouse\"}", "{\"do\":\"mouse\",\"last\":1}" }, 1 },
        { "one between",
          { "{\"do\":\"pull\",\"solid\":1}", "{\"do\":\"release\"}", "{\"do\":\"pull\",\"solid\":1}" },
          3 },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        static Exchange exchange;
        exchange_init(&exchange);
        for (int k = 0; k < ORDERS; k++)
            order(&exchange, 7, cases[i].texts[k]);
        int taken = 0;
        for (Order next; exchange_take_order(&exchange, &next); taken++) {
            assert_string_equal(next.text, cases[i].texts[ORDERS - cases[i].taken + taken]);
            free(next.text);
        }
        CHECK(taken == cases[i].taken, cases[i].name);
        exchange_deinit(&exchange);
    }
}

static void clients_do_not_overtake_each_other(void **state)
{
    (void)state;
    static Exchange exchange;
    exchange_init(&exchange);
    order(&exchange, 1, "{\"do\":\"mouse\"}");
    order(&exchange, 2, "{\"do\":\"mouse\"}");
    Order next;
    for (uint32_t client = 1; client <= 2; client++) {
        assert_true(exchange_take_order(&exchange, &next));
        assert_int_equal(next.client, client);
        free(next.text);
    }
    assert_false(exchange_take_order(&exchange, &next));
    exchange_deinit(&exchange);
}

static int calls;

static void note_call(void *context)
{
    (void)context;
    calls++;
}

static void publish(Exchange *exchange, bool is_running)
{
    exchange->back->is_running = is_running;
    exchange_publish(exchange);
}

// A running world does not wake a server that looks by itself; one that does not look, and a world that stops, do.
static void who_looks_is_not_called(void **state)
{
    (void)state;
    static Exchange exchange;
    exchange_init(&exchange);
    exchange.wake = note_call;
    calls = 0;
    publish(&exchange, true);
    publish(&exchange, true);  // it was called for the one before
    assert_int_equal(calls, 1);
    assert_true(exchange_take_moment(&exchange));
    assert_true(exchange_watch(&exchange, true));
    publish(&exchange, true);
    assert_int_equal(calls, 1);
    publish(&exchange, false);
    assert_int_equal(calls, 2);
    assert_true(exchange_take_moment(&exchange));
    assert_false(exchange.front->is_running);
    publish(&exchange, true);
    assert_true(exchange_watch(&exchange, false));  // one lies there for which nobody was called
    assert_true(exchange_take_moment(&exchange));
    assert_false(exchange_watch(&exchange, false));
    publish(&exchange, true);
    assert_int_equal(calls, 3);
    exchange_deinit(&exchange);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_newest_of_a_drag_counts),
        cmocka_unit_test(clients_do_not_overtake_each_other),
        cmocka_unit_test(who_looks_is_not_called),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
