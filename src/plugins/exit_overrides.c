// Functions of the C library that a plugin finds here first: those that end the process or the calling thread without
// any handler being run, and the one that makes threads, so that a fault on a plugin's own thread is known to be the
// plugin's. For everybody else they do what the library's do.
#include "plugins/guard.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default"), used))

EXPORTED void _exit(int status)
{
    guard_end_called("_exit", status, true);
    guard_end_process(status);
}

EXPORTED void _Exit(int status)
{
    guard_end_called("_Exit", status, true);
    guard_end_process(status);
}

EXPORTED void quick_exit(int status)
{
    guard_end_called("quick_exit", status, true);
    void *found = dlsym(RTLD_NEXT, "quick_exit");
    if (found)
        ((void (*)(int))found)(status);
    guard_end_process(status);
}

EXPORTED void pthread_exit(void *result)
{
    guard_end_called("pthread_exit", 0, false);
    void *found = dlsym(RTLD_NEXT, "pthread_exit");
    if (found)
        ((void (*)(void *))found)(result);
    guard_end_process(1);
}

typedef void *(*ThreadStart)(void *argument);
typedef int (*ThreadCreate)(pthread_t *thread, const pthread_attr_t *attributes, ThreadStart start, void *argument);
typedef struct OwnThread {
    ThreadStart start;
    void *argument;
    GuardOwner *owner;
    GuardCrew *crew;
} OwnThread;

static void *run_own_thread(void *context)
{
    OwnThread own = *(OwnThread *)context;
    free(context);
    guard_adopt_thread(own.owner, own.crew);
    return own.start(own.argument);
}

EXPORTED int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes, ThreadStart start,
                            void *restrict argument)
{
    ThreadCreate create = (ThreadCreate)dlsym(RTLD_NEXT, "pthread_create");
    GuardOwner *owner = guard_owner();
    OwnThread *own = owner ? malloc(sizeof *own) : NULL;
    if (!own)
        return create(thread, attributes, start, argument);
    *own = (OwnThread){ start, argument, owner, guard_crew_join(owner) };
    int error = create(thread, attributes, run_own_thread, own);
    if (error) {
        guard_crew_leave(own->crew);
        free(own);
    }
    return error;
}
