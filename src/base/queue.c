// queue.c - a ring of slots, a lock and two conditions.
#include "base/queue.h"

#include "base/memory.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct Queue {
    pthread_mutex_t lock;
    pthread_cond_t has_room, has_some;
    int slot_count, first, count;  // slots that are filled: count from `first` on
    bool is_closed;
};

Queue *queue_create(int slot_count)
{
    assert(slot_count > 0);
    Queue *queue = memory_alloc(sizeof *queue);
    queue->slot_count = slot_count;
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->has_room, NULL);
    pthread_cond_init(&queue->has_some, NULL);
    return queue;
}

void queue_destroy(Queue *queue)
{
    if (!queue)
        return;
    pthread_cond_destroy(&queue->has_some);
    pthread_cond_destroy(&queue->has_room);
    pthread_mutex_destroy(&queue->lock);
    free(queue);
}

int queue_begin_put(Queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    assert(!queue->is_closed);
    while (queue->count == queue->slot_count)
        pthread_cond_wait(&queue->has_room, &queue->lock);
    int slot = (queue->first + queue->count) % queue->slot_count;
    pthread_mutex_unlock(&queue->lock);
    return slot;
}

void queue_end_put(Queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    assert_debug(queue->count < queue->slot_count);
    queue->count++;
    pthread_cond_signal(&queue->has_some);
    pthread_mutex_unlock(&queue->lock);
}

void queue_close(Queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->is_closed = true;
    pthread_cond_signal(&queue->has_some);
    pthread_mutex_unlock(&queue->lock);
}

int queue_begin_take(Queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    while (queue->count == 0 && !queue->is_closed)
        pthread_cond_wait(&queue->has_some, &queue->lock);
    assert_debug(queue->first >= 0 && queue->first < queue->slot_count);
    int slot = queue->count > 0 ? queue->first : -1;
    pthread_mutex_unlock(&queue->lock);
    return slot;
}

void queue_end_take(Queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    assert(queue->count > 0);
    queue->first = (queue->first + 1) % queue->slot_count;
    queue->count--;
    pthread_cond_signal(&queue->has_room);
    pthread_mutex_unlock(&queue->lock);
}
