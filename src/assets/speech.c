// speech.c - espeak-ng as a process: text to its standard input, a WAV file from its standard output.
#include "assets/speech.h"

#include "base/memory.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char speaker_program[] = "espeak-ng";
// A hung program must not hold the world: no text that fits into a command takes so long to speak into a file.
enum { SPEECH_PATIENCE_MS = 20000, SPEECH_BYTES_MAX = 64 << 20, TEXT_BYTES_MAX = 8192 };

bool speech_is_available(void)
{
    const char *path = getenv("PATH");
    for (const char *from = path ? path : ""; *from;) {
        size_t length = strcspn(from, ":");
        char *file = memory_alloc(length + sizeof speaker_program + 2);
        memcpy(file, from, length);
        file[length] = '/';
        memcpy(file + length + 1, speaker_program, sizeof speaker_program);
        bool found = length > 0 && access(file, X_OK) == 0;
        free(file);
        if (found)
            return true;
        from += length + (from[length] == ':');
    }
    return false;
}

// What is spoken of a text: without the tags that other engines read.
static void add_plain(Text *out, const char *text)
{
    bool is_tag = false;
    for (; *text && out->length < TEXT_BYTES_MAX; text++) {
        is_tag = is_tag ? *text != '>' : *text == '<';
        if (!is_tag && *text != '>')
            text_add_char(out, *text);
    }
}

double speech_estimate(const char *text)
{
    Text plain = { 0 };
    add_plain(&plain, text);
    double seconds = 0.3 + 0.065 * (double)plain.length;  // about 15 characters a second
    text_free(&plain);
    return seconds;
}

// "en-US" becomes "en-us"; anything that is no such word is refused, because it becomes an argument.
static bool voice_of(const char *language, char voice[16])
{
    assert_debug(language);
    size_t length = strlen(language);
    if (length < 2 || length >= 16)
        return false;
    for (size_t i = 0; i <= length; i++) {
        if (language[i] && !isalnum((unsigned char)language[i]) && language[i] != '-')
            return false;
        voice[i] = (char)tolower((unsigned char)language[i]);
    }
    return isalpha((unsigned char)voice[0]);
}

static pid_t start_program(char *const arguments[], int ends[2])
{
    int in[2] = { -1, -1 }, out[2] = { -1, -1 };
    pid_t pid = -1;
    if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
        goto done;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (posix_spawnp(&pid, arguments[0], &actions, NULL, arguments, environ) != 0)
        pid = -1;
    posix_spawn_file_actions_destroy(&actions);
done:
    if (in[0] >= 0)
        close(in[0]);
    if (out[1] >= 0)
        close(out[1]);
    ends[0] = out[0];
    ends[1] = in[1];
    return pid;
}

// The text fits into a pipe, so it is written at once and all that is left is to read.
static bool exchange(const int ends[2], const Text *text, Text *sound)
{
    static_assert(TEXT_BYTES_MAX < 65536, "a pipe holds the whole text");
    ssize_t written = text->length > 0 ? write(ends[1], text->data, text->length) : 0;
    close(ends[1]);
    char block[65536];
    while (written >= 0 && sound->length < SPEECH_BYTES_MAX) {
        struct pollfd wait = { .fd = ends[0], .events = POLLIN };
        int ready = poll(&wait, 1, SPEECH_PATIENCE_MS);
        if (ready < 0 && errno == EINTR)
            continue;
        ssize_t count = ready > 0 ? read(ends[0], block, sizeof block) : -1;
        if (count <= 0)
            return count == 0;
        text_add(sound, block, (size_t)count);
    }
    return false;
}

Clip *speech_clip(const char *text, const char *language, const Limits *limits, const char **why)
{
    char voice[16];
    *why = "the language is none";
    if (!voice_of(language, voice))
        return NULL;
    *why = "espeak-ng is not installed (Debian package espeak-ng)";
    if (!speech_is_available())
        return NULL;
    char *arguments[] = { (char *)speaker_program, "--stdin", "--stdout", "-v", voice, NULL };
    int ends[2];
    Text plain = { 0 }, sound = { 0 };
    Clip *clip = NULL;
    DiagSink *unsaid = diag_create();
    // A program that goes before it has read must not take this one with it.
    struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
    sigaction(SIGPIPE, &ignore, &before);
    pid_t pid = start_program(arguments, ends);
    add_plain(&plain, text);
    *why = "espeak-ng cannot be run";
    if (pid > 0) {
        *why = "espeak-ng gave no sound";
        bool is_whole = exchange(ends, &plain, &sound);
        if (!is_whole)
            kill(pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            continue;
        if (is_whole && sound.length > 0)
            clip = clip_from_bytes(NULL, "speech", sound.data, sound.length, limits, unsaid, (SourcePos){ 0 });
        close(ends[0]);
    }
    sigaction(SIGPIPE, &before, NULL);
    diag_destroy(unsaid);
    text_free(&plain);
    text_free(&sound);
    return clip;
}
