#include "base/worker.h"

#include "base/file.h"
#include "support/support.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static int *naps;  // shared with the workers: how often "nap" still sleeps

// What the test worker does is the first word of the request.
static bool handle(const char *request, size_t size, WorkerReply *reply, void *state)
{
    if (size >= 4 && !memcmp(request, "echo", 4)) {
        worker_reply_add(reply, request + 4, size - 4);
        return true;
    }
    if (!strncmp(request, "state", size)) {
        worker_reply_add(reply, state, strlen(state));
        return true;
    }
    if (!strncmp(request, "crash", size))
        abort();
    if (!strncmp(request, "leave", size))
        _exit(3);
    if (!strncmp(request, "hang", size))
        for (volatile unsigned i = 0;; i++)
            ;
    if (!strncmp(request, "nap", size)) {
        if ((*naps)-- > 0)
            sleep(1000);
        worker_reply_add(reply, "awake", 5);
        return true;
    }
    if (!strncmp(request, "grow", size))
        for (;;) {
            void *block = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (block != MAP_FAILED)
                memset(block, 1, 1 << 20);
        }
    if (!strncmp(request, "flood", size))
        for (;;)
            worker_reply_reserve(reply, 1 << 16);
    if (!strncmp(request, "escape", size)) {
        bool escaped = open("/etc/passwd", O_RDONLY) >= 0 || open("/dev/null", O_WRONLY) >= 0
                       || socket(AF_INET, SOCK_STREAM, 0) >= 0 || fork() >= 0 || kill(getppid(), 0) == 0
                       || execl("/bin/true", "true", NULL) == 0;
        worker_reply_add(reply, escaped ? "out" : "in", escaped ? 3 : 2);
        return true;
    }
    worker_reply_add(reply, "what is that", 12);
    return false;
}

static void *start(const void *context) { return strdup(context); }

// The limit of time is far from what a busy machine takes for an answer, but where a case is about the limit itself.
static Worker *make(int time_ms)
{
    return worker_create(&(WorkerOptions){ .name = "test worker",
                                           .start = start,
                                           .handle = handle,
                                           .context = "ready",
                                           .time_ms = time_ms,
                                           .memory_bytes = 256 << 20,
                                           .reply_bytes = 8 << 20 });
}

static WorkerStatus call(Worker *worker, const char *text, WorkerAnswer *answer)
{
    return worker_call(worker, &(WorkerPart){ text, strlen(text) }, 1, answer);
}

static void call_and_answer(Worker *worker)
{
    WorkerAnswer answer;
    assert_int_equal(call(worker, "echo here", &answer), WORKER_OK);
    assert_string_equal(answer.data, " here");
    free(answer.data);
}

static void answers_and_survives_everything(void **state)
{
    (void)state;
    static const struct {
        const char *request;
        WorkerStatus status;
        const char *answer, *message;
    } cases[] = {
        { "echo hello", WORKER_OK, " hello", "" },
        { "state", WORKER_OK, "ready", "" },
        { "unknown", WORKER_REFUSED, NULL, "what is that" },
        { "escape", WORKER_OK, "in", "" },
        { "crash", WORKER_CRASHED, NULL, "crashed" },
        { "echo again", WORKER_OK, " again", "" },
        { "hang", WORKER_TIMEOUT, NULL, "more than 1 s" },
        { "leave", WORKER_CRASHED, NULL, "ended unexpectedly" },
        { "flood", WORKER_CRASHED, NULL, "made more than 8 MB" },
        { "grow", WORKER_MEMORY, NULL, "more than 256 MB" },
        { "echo", WORKER_OK, "", "" },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        Worker *worker = make(cases[i].status == WORKER_TIMEOUT ? 1000 : 120000);
        call_and_answer(worker);
        WorkerAnswer answer;
        WorkerStatus status = call(worker, cases[i].request, &answer);
        if (status != cases[i].status)
            fail_msg("%s: status %d, %s", cases[i].request, (int)status, answer.message);
        CHECK(!cases[i].answer || !strcmp(answer.data, cases[i].answer), cases[i].request);
        CHECK(cases[i].answer || !answer.data, cases[i].request);
        CHECK(strstr(answer.message, cases[i].message), answer.message);
        free(answer.data);
        call_and_answer(worker);  // whatever happened, the next one is answered
        worker_destroy(worker);
    }
}

// As when it was forked while another thread held a lock: a worker that sleeps is ended and another one tries.
static void a_worker_that_stands_still_is_replaced(void **state)
{
    (void)state;
    Worker *worker = make(120000);
    WorkerAnswer answer;
    *naps = 2;
    assert_int_equal(call(worker, "nap", &answer), WORKER_OK);
    assert_string_equal(answer.data, "awake");
    assert_int_equal(*naps, -1);
    free(answer.data);
    *naps = 1000;
    assert_int_equal(call(worker, "nap", &answer), WORKER_STILL);
    assert_non_null(strstr(answer.message, "stood still 5 times"));
    worker_destroy(worker);
}

// What all requests take together is bounded, whichever worker serves them: the first one that hangs uses it up.
static void a_budget_is_for_all_requests(void **state)
{
    (void)state;
    WorkerBudget budget = { .total_ms = 300, .limit = "tests_ms" };
    Worker *first = make(120000), *second = make(120000);
    WorkerAnswer answer;
    worker_set_budget(first, &budget);
    call_and_answer(first);
    assert_int_equal(call(first, "hang", &answer), WORKER_TIMEOUT);
    assert_true(budget.spent_us >= 300000);
    assert_int_equal(call(first, "echo", &answer), WORKER_SPENT);
    assert_non_null(strstr(answer.message, "(limit tests_ms)"));
    call_and_answer(second);  // it has none
    const WorkerPart part = { "echo", 4 };
    assert_int_equal(worker_call_limited(second, &part, 1, &(WorkerLimits){ .budget = &budget }, &answer),
                     WORKER_SPENT);
    // One thousandth more than was used is left, at which it is asked again; at the limit it is not.
    budget.total_ms = budget.spent_us / 1000;
    assert_int_equal(worker_call_limited(second, &part, 1, &(WorkerLimits){ .budget = &budget }, &answer),
                     WORKER_SPENT);
    budget.total_ms += 60000;
    assert_int_equal(worker_call_limited(second, &part, 1, &(WorkerLimits){ .budget = &budget }, &answer), WORKER_OK);
    free(answer.data);
    worker_destroy(first);
    worker_destroy(second);
}

static void parts_are_joined_and_large_answers_arrive(void **state)
{
    (void)state;
    Worker *worker = make(120000);
    size_t size = (8 << 20) - 4;
    char *data = malloc(size);
    for (size_t i = 0; i < size; i++)
        data[i] = (char)(i * 7 + (i >> 9));
    for (int round = 0; round < 3; round++) {
        WorkerAnswer answer;
        const WorkerPart parts[] = { { "echo", 4 }, { data, size / 2 }, { data + size / 2, size - size / 2 } };
        assert_int_equal(worker_call(worker, parts, 3, &answer), WORKER_OK);
        assert_int_equal(answer.size, size);
        assert_memory_equal(answer.data, data, size);
        free(answer.data);
    }
    free(data);
    worker_destroy(worker);
}

int main(void)
{
    naps = mmap(NULL, sizeof *naps, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_and_survives_everything),
        cmocka_unit_test(a_worker_that_stands_still_is_replaced),
        cmocka_unit_test(a_budget_is_for_all_requests),
        cmocka_unit_test(parts_are_joined_and_large_answers_arrive),
    };
    return cmocka_run_group_tests_name("base.worker", tests, NULL, NULL);
}
