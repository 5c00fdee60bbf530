// exchange.c - what the world's thread and the server's thread hand each other. Both sides only move pointers under the
// lock; a queue that is full turns away what comes last, and of moments the newest alone is kept, so neither side can
// make the other wait or grow.
#include "viewer/viewer_internal.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

Blob *blob_create(const void *data, size_t size)
{
    assert(data || size == 0);
    Blob *blob = memory_alloc_raw(sizeof *blob + size + 1);
    atomic_init(&blob->holders, 1);
    blob->size = size;
    if (size)
        memcpy(blob->data, data, size);
    blob->data[size] = 0;
    return blob;
}

Blob *blob_hold(Blob *blob)
{
    assert(atomic_load(&blob->holders) > 0);  // who has it may share it
    atomic_fetch_add(&blob->holders, 1);
    return blob;
}

void blob_release(Blob *blob)
{
    if (blob && atomic_fetch_sub(&blob->holders, 1) == 1)
        free(blob);
}

double viewer_clock(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void exchange_init(Exchange *exchange)
{
    memset(exchange, 0, sizeof *exchange);
    pthread_mutex_init(&exchange->lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&exchange->arrived, &monotonic);
    pthread_condattr_destroy(&monotonic);
    exchange->back = &exchange->moments[0];
    exchange->fresh = &exchange->moments[1];
    exchange->front = &exchange->moments[2];
}

static void release_letter(Letter *letter)
{
    blob_release(letter->blob);
    blob_release(letter->scene);
}

void exchange_deinit(Exchange *exchange)
{
    Order order;
    Letter letter;
    while (exchange_take_order(exchange, &order))
        free(order.text);
    while (exchange_take_letter(exchange, &letter))
        release_letter(&letter);
    for (int i = 0; i < COUNT_OF(exchange->moments); i++) {
        moment_deinit(&exchange->moments[i].world);
        text_free(&exchange->moments[i].info);
        text_free(&exchange->moments[i].drawing);
        text_free(&exchange->moments[i].buoyancy);
    }
    pthread_cond_destroy(&exchange->arrived);
    pthread_mutex_destroy(&exchange->lock);
}

void exchange_attend(Exchange *exchange, unsigned bits, bool on)
{
    assert(bits != 0);
    if (on)
        atomic_fetch_or(&exchange->attention, bits);
    else
        atomic_fetch_and(&exchange->attention, ~bits);
}

void exchange_wake(Exchange *exchange)
{
    if (exchange->wake)
        exchange->wake(exchange->wake_context);
}

// ---- orders: from clients to the world ----

bool exchange_order(Exchange *exchange, Order order)
{
    assert(order.client != 0 && (order.kind == ORDER_ACT) == (order.text != NULL));
    char *stale = NULL;
    pthread_mutex_lock(&exchange->lock);
    Order *last = exchange->inbox_count == 0
                      ? NULL
                      : &exchange->inbox[(exchange->inbox_first + exchange->inbox_count - 1) % VIEWER_INBOX_MAX];
    bool is_taken = true;
    if (last && order.drag && last->drag == order.drag && last->client == order.client) {
        stale = last->text;
        *last = order;
    } else if (exchange->inbox_count < VIEWER_INBOX_MAX) {
        exchange->inbox[(exchange->inbox_first + exchange->inbox_count++) % VIEWER_INBOX_MAX] = order;
    } else {
        is_taken = false;
    }
    pthread_cond_signal(&exchange->arrived);
    pthread_mutex_unlock(&exchange->lock);
    exchange_attend(exchange, ATTENTION_INBOX, true);
    free(stale);
    if (!is_taken)
        free(order.text);
    return is_taken;
}

bool exchange_take_order(Exchange *exchange, Order *order)
{
    pthread_mutex_lock(&exchange->lock);
    bool is_there = exchange->inbox_count > 0;
    if (is_there) {
        *order = exchange->inbox[exchange->inbox_first];
        exchange->inbox_first = (exchange->inbox_first + 1) % VIEWER_INBOX_MAX;
        exchange->inbox_count--;
    } else {
        exchange_attend(exchange, ATTENTION_INBOX, false);
    }
    pthread_mutex_unlock(&exchange->lock);
    return is_there;
}

void exchange_wait(Exchange *exchange, double seconds)
{
    assert(seconds >= 0.0 && seconds < 1e6);
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    int64_t nanoseconds = end.tv_nsec + (int64_t)(1e9 * seconds);
    end.tv_sec += nanoseconds / 1000000000;
    end.tv_nsec = nanoseconds % 1000000000;
    pthread_mutex_lock(&exchange->lock);
    if (exchange->inbox_count == 0)
        pthread_cond_timedwait(&exchange->arrived, &exchange->lock, &end);
    pthread_mutex_unlock(&exchange->lock);
}

// ---- letters: from the world to clients ----

void exchange_send(Exchange *exchange, Letter letter)
{
    assert(letter.blob && (letter.kind != LETTER_SCENE || letter.scene));
    pthread_mutex_lock(&exchange->lock);
    int room = VIEWER_OUTBOX_MAX - exchange->outbox_count;
    bool fits = exchange->wake && room > (letter.is_droppable ? VIEWER_OUTBOX_MAX / 2 : 0);
    if (fits)
        exchange->outbox[(exchange->outbox_first + exchange->outbox_count++) % VIEWER_OUTBOX_MAX] = letter;
    pthread_mutex_unlock(&exchange->lock);
    if (fits)
        exchange_wake(exchange);
    else
        release_letter(&letter);
}

bool exchange_take_letter(Exchange *exchange, Letter *letter)
{
    pthread_mutex_lock(&exchange->lock);
    bool is_there = exchange->outbox_count > 0;
    if (is_there) {
        *letter = exchange->outbox[exchange->outbox_first];
        exchange->outbox_first = (exchange->outbox_first + 1) % VIEWER_OUTBOX_MAX;
        exchange->outbox_count--;
    }
    pthread_mutex_unlock(&exchange->lock);
    return is_there;
}

// ---- moments ----

void exchange_publish(Exchange *exchange)
{
    pthread_mutex_lock(&exchange->lock);
    assert(exchange->back != exchange->fresh && exchange->back != exchange->front);
    ViewMoment *moment = exchange->back;
    // A world that went back has to be told, also when the moment in which it did is overtaken.
    moment->is_rewound |= exchange->has_fresh && exchange->fresh->is_rewound;
    exchange->back = exchange->fresh;
    exchange->fresh = moment;
    exchange->has_fresh = true;
    // To wake a thread costs more than the moment itself: a server that looks by itself is called when the world stops.
    bool wants_call = !exchange->is_watched || !moment->is_running;
    bool calls = wants_call && !exchange->is_called;
    exchange->is_called |= calls;
    pthread_mutex_unlock(&exchange->lock);
    if (calls)
        exchange_wake(exchange);
}

bool exchange_take_moment(Exchange *exchange)
{
    pthread_mutex_lock(&exchange->lock);
    assert(exchange->front != exchange->fresh);
    bool is_new = exchange->has_fresh;
    if (is_new) {
        ViewMoment *moment = exchange->fresh;
        exchange->fresh = exchange->front;
        exchange->front = moment;
        exchange->has_fresh = exchange->is_called = false;
    }
    pthread_mutex_unlock(&exchange->lock);
    return is_new;
}

bool exchange_watch(Exchange *exchange, bool on)
{
    pthread_mutex_lock(&exchange->lock);
    exchange->is_watched = on || exchange->has_fresh;  // one that came without a call is not left lying
    on = exchange->is_watched;
    pthread_mutex_unlock(&exchange->lock);
    return on;
}
