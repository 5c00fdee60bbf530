// What of the process a plugin may change with good reason and Talus needs as it was: locale, working directory, the
// mask and the handlers of signals.
#include "plugins/guard.h"

#include "base/memory.h"

#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct ProcessState {
    char *folder, *locale;
    locale_t thread_locale;
    sigset_t mask;
    char changes[128];
};

// The folder, the locale and the handlers are the process's: while a plugin of one world may change them, those of
// others wait.
static pthread_mutex_t changing = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void process_state_lock(void) { pthread_mutex_lock(&changing); }

void process_state_unlock(void) { pthread_mutex_unlock(&changing); }

ProcessState *process_state_take(void)
{
    process_state_lock();
    ProcessState *kept = memory_alloc(sizeof *kept);
    kept->folder = getcwd(NULL, 0);
    const char *locale = setlocale(LC_ALL, NULL);
    kept->locale = locale ? memory_string(locale) : NULL;
    kept->thread_locale = uselocale((locale_t)0);
    pthread_sigmask(SIG_SETMASK, NULL, &kept->mask);
    return kept;
}

static void note(ProcessState *kept, const char *what)
{
    size_t length = strlen(kept->changes);
    snprintf(kept->changes + length, sizeof kept->changes - length, "%s%s", length ? ", " : "", what);
}

static void put_back_folder(ProcessState *kept)
{
    char *now = getcwd(NULL, 0);
    if (kept->folder && (!now || strcmp(now, kept->folder)) && chdir(kept->folder) == 0)
        note(kept, "the working directory");
    free(now);
}

static void put_back_locale(ProcessState *kept)
{
    bool is_changed = uselocale((locale_t)0) != kept->thread_locale;
    if (is_changed)
        uselocale(kept->thread_locale);
    const char *now = setlocale(LC_ALL, NULL);
    if (kept->locale && (!now || strcmp(now, kept->locale)))
        is_changed |= setlocale(LC_ALL, kept->locale) != NULL;
    if (is_changed)
        note(kept, "the locale");
}

static void put_back_mask(ProcessState *kept)
{
    sigset_t now;
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    bool is_changed = false;
    for (int i = 1; i < NSIG; i++)
        is_changed |= sigismember(&now, i) != sigismember(&kept->mask, i);
    if (!is_changed)
        return;
    pthread_sigmask(SIG_SETMASK, &kept->mask, NULL);
    note(kept, "the mask of signals");
}

const char *process_state_put_back(ProcessState *kept)
{
    assert_debug(kept);
    static _Thread_local char changes[128];
    put_back_folder(kept);
    put_back_locale(kept);
    put_back_mask(kept);
    if (guard_retake_handlers())
        note(kept, "handlers of signals");
    memcpy(changes, kept->changes, sizeof changes);
    free(kept->folder);
    free(kept->locale);
    free(kept);
    process_state_unlock();
    return changes[0] ? changes : NULL;
}
