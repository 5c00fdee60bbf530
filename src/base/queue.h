// queue.h - a bounded queue between one thread that makes things and one that uses them. The things are slots of the
// caller's own array, named by index: a slot belongs to the maker between begin_put and end_put, to the user between
// begin_take and end_take. The maker waits while all slots are full, the user while all are empty: memory is constant
// and nothing is lost.
#ifndef TALUS_BASE_QUEUE_H
#define TALUS_BASE_QUEUE_H

#include "base/common.h"

typedef struct Queue Queue;

Queue *queue_create(int slot_count);
void queue_destroy(Queue *queue);  // both threads are done with it; NULL is fine

int queue_begin_put(Queue *queue);
void queue_end_put(Queue *queue);
void queue_close(Queue *queue);  // the maker has no more

int queue_begin_take(Queue *queue);  // -1: closed, and all was taken
void queue_end_take(Queue *queue);

#endif
