// worker.h - a confined helper process for risky work on data from outside: importers, template interpreters.
// The worker is started at the first call and reused: a copy of this process, or a program that calls worker_serve. It
// has no files, no network and no other processes (seccomp), bounded processor time per request, memory and answer
// size. It is given bytes and gives back bytes through shared memory; if it crashes, hangs or grows too large it is
// ended, the call says so, and the next call starts a fresh one. Belongs here: the process and its confinement. Not
// here: what requests mean.
//
// What a library needs from the file system (shared objects, tables) must be touched in `start`, which runs in the
// worker before it is confined. A Worker may be used from several threads; calls take turns.
#ifndef TALUS_BASE_WORKER_H
#define TALUS_BASE_WORKER_H

#include "base/common.h"

typedef struct Worker Worker;

// The answer while it is written, inside the worker: bytes straight in shared memory.
typedef struct WorkerReply WorkerReply;
void *worker_reply_reserve(WorkerReply *reply,
                           size_t size);  // adds room for `size` bytes, valid until the next addition
void worker_reply_add(WorkerReply *reply, const void *data, size_t size);
void worker_reply_clear(WorkerReply *reply);

typedef struct WorkerOptions {
    const char *name;  // for messages, as "mesh importer"
    // A program to run as the worker, and its one argument; NULL: a copy of this process serves, with the functions
    // below.
    const char *program, *argument;
    // Both run in the worker. `handle` writes the answer; when it returns false the answer is a message for people.
    void *(*start)(const void *context);  // may be NULL; its result is the state of `handle`
    bool (*handle)(const char *request, size_t size, WorkerReply *reply, void *state);
    const void *context;
    int64_t time_ms;       // processor time of one request, 0: 10 s
    int64_t memory_bytes;  // resident, beyond what it has when it is ready; 0: 2 GiB
    int64_t reply_bytes;   // 0: 1 GiB
    bool with_threads;     // the library makes threads of its own
} WorkerOptions;

typedef enum WorkerStatus {
    WORKER_OK,
    WORKER_REFUSED,  // `handle` returned false
    WORKER_CRASHED,
    WORKER_TIMEOUT,
    WORKER_MEMORY,
    WORKER_STILL,        // it slept instead of serving, again and again
    WORKER_SPENT,        // its budget was used up before
    WORKER_UNAVAILABLE,  // no process could be started
} WorkerStatus;

typedef struct WorkerPart {
    const void *data;
    size_t size;
} WorkerPart;

typedef struct WorkerAnswer {
    char *data;  // on the heap, the caller frees; followed by a NUL that is not counted. NULL unless WORKER_OK
    size_t size;
    char message[240];  // why it failed, naming the worker; empty when it did not
} WorkerAnswer;

// Processor time that all requests of a job may take together, whichever workers serve them. Whoever counts owns it.
typedef struct WorkerBudget {
    int64_t total_ms;
    const char *limit;  // its name in base/limits.h, for messages
    _Atomic int64_t spent_us;
} WorkerBudget;

Worker *worker_create(const WorkerOptions *options);           // starts no process yet
void worker_destroy(Worker *worker);                           // NULL is fine; ends the process
void worker_set_budget(Worker *worker, WorkerBudget *budget);  // of all its requests from now on; outlives the worker

// Sends the parts as one request and waits for the answer.
WorkerStatus worker_call(Worker *worker, const WorkerPart *parts, int part_count, WorkerAnswer *answer);

// The same with lower limits for this request: zero means that of the options.
typedef struct WorkerLimits {
    int64_t time_ms, memory_bytes;
    WorkerBudget *budget;  // NULL: that of the worker
} WorkerLimits;
WorkerStatus worker_call_limited(Worker *worker, const WorkerPart *parts, int part_count, const WorkerLimits *limits,
                                 WorkerAnswer *answer);

// The whole life of a program that is started as a worker: `options` are those of its own side, with the limits of the
// other. Returns the exit status.
int worker_serve(const WorkerOptions *options);

#endif
