// movie.c - pictures of a run at an even pace, through a pipe to talus-movie.
#include "record/movie.h"

#include "base/memory.h"
#include "base/program.h"
#include "protocol/movie.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

struct MovieRecorder {
    Sim *sim;
    MovieOptions options;
    char *path;
    pid_t process;
    int input, said;  // pipes: to it, and what it says
    uint64_t steps;   // since the movie began: a reset of the run does not turn it back
    int64_t pictures;
    MovieState state;
    bool is_hooked, is_asked;  // asked for its state since it was stopped
    Text message;
};

bool movie_has_format(const char *path)
{
    return text_ends_with(path, ".webm") || text_ends_with(path, ".mp4") || text_ends_with(path, ".mkv");
}

bool movie_is_available(char *program, size_t capacity)
{
    return program_find("talus-movie", "TALUS_MOVIE", program, capacity);
}

static void report(MovieRecorder *movie, const char *why)
{
    if (movie->state != MOVIE_FAILED)
        diag_error(sim_diags(movie->sim), (SourcePos){ 0 }, "cannot write the movie '%s': %s", movie->path, why);
    movie->state = MOVIE_FAILED;
}

// ---- the process ----

static bool start_process(MovieRecorder *movie, const char *program)
{
    assert(movie->process <= 0 && program);
    int to[2] = { -1, -1 }, from[2] = { -1, -1 };
    if (pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0) {
        if (to[0] >= 0)
            close(to[0]), close(to[1]);
        return false;
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, from[1], STDERR_FILENO);
    char *arguments[] = { (char *)program, NULL };
    int error = posix_spawn(&movie->process, program, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(to[0]);
    close(from[1]);
    movie->input = to[1];
    movie->said = from[0];
    fcntl(movie->said, F_SETFL, O_NONBLOCK);
    if (error)
        movie->process = 0;
    return error == 0;
}

static void take_message(MovieRecorder *movie)
{
    char block[512];
    ssize_t count;
    while (movie->said >= 0 && (count = read(movie->said, block, sizeof block)) > 0 && movie->message.length < 4096)
        text_add(&movie->message, block, (size_t)count);
}

// Takes the end of the process when it has come, or waits for it.
static bool has_ended(MovieRecorder *movie, bool waits)
{
    if (movie->process <= 0)
        return true;
    int status;
    pid_t pid;
    while ((pid = waitpid(movie->process, &status, waits ? 0 : WNOHANG)) < 0 && errno == EINTR)
        continue;
    if (pid == 0)
        return false;
    take_message(movie);
    movie->process = 0;
    if (pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        if (movie->state != MOVIE_FAILED)
            movie->state = MOVIE_DONE;
        return true;
    }
    const char *why = movie->message.length > 0 ? movie->message.data : "talus-movie ended in the middle of it";
    if (text_starts_with(why, "talus-movie: "))
        why += strlen("talus-movie: ");
    report(movie, why);
    return true;
}

static bool send_bytes(MovieRecorder *movie, const void *data, size_t size)
{
    assert_debug(data || size == 0);
    const uint8_t *bytes = data;
    while (size > 0 && movie->state == MOVIE_RECORDING) {
        ssize_t count = write(movie->input, bytes, size);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0) {
            has_ended(movie, true);  // it says why
            report(movie, strerror(errno));
            return false;
        }
        bytes += count;
        size -= (size_t)count;
    }
    return size == 0;
}

// A pipe that nobody reads any more is an error of its own, not the end of the program.
static bool send_parts(MovieRecorder *movie, char kind, const void *first, size_t first_size, const void *second,
                       size_t second_size)
{
    struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
    sigaction(SIGPIPE, &ignore, &before);
    bool ok = (kind == 0 || send_bytes(movie, &kind, 1)) && send_bytes(movie, first, first_size)
              && send_bytes(movie, second, second_size);
    sigaction(SIGPIPE, &before, NULL);
    return ok;
}

// ---- pictures and sound ----

static double rate_of(const MovieOptions *options) { return options->rate > 0.0 ? options->rate : 30.0; }

static double speed_of(const MovieOptions *options) { return options->speed > 0.0 ? options->speed : 1.0; }

// Picture k shows the world at k * speed / rate, or at the last step before; the same one again when steps are longer.
static void show_pictures(MovieRecorder *movie, double elapsed)
{
    const MovieOptions *options = &movie->options;
    bool is_drawn = false;
    while (movie->state == MOVIE_RECORDING
           && (double)movie->pictures * speed_of(options) / rate_of(options) <= elapsed + 1e-9) {
        const uint8_t *pixels = is_drawn ? NULL : options->draw(options->context);
        if (!is_drawn && !pixels) {
            report(movie, "the world cannot be drawn");
            return;
        }
        size_t size = pixels ? (size_t)options->width * (size_t)options->height * 4 : 0;
        send_parts(movie, pixels ? 'V' : 'R', pixels, size, NULL, 0);
        is_drawn = true;
        movie->pictures++;
    }
}

static void add_sound(MovieRecorder *movie, const int16_t *frames, int count)
{
    assert_debug(frames || count == 0);
    uint32_t number = (uint32_t)count;
    if (count > 0)
        send_parts(movie, 'A', &number, sizeof number, frames, (size_t)count * 2 * sizeof *frames);
}

static bool record(Sim *sim, void *context)
{
    (void)sim;
    MovieRecorder *movie = context;
    if (movie->state != MOVIE_RECORDING)
        return true;
    movie->steps++;
    int count = 0;
    const int16_t *frames = movie->options.sound ? soundtrack_frames(movie->options.sound, &count) : NULL;
    add_sound(movie, frames, count);
    show_pictures(movie, (double)movie->steps * sim_time_step(movie->sim));
    return true;
}

static bool send_header(MovieRecorder *movie)
{
    const MovieOptions *options = &movie->options;
    char line[MOVIE_PATH_MAX + 128];
    int length = snprintf(line, sizeof line, MOVIE_HEADER_FORMAT, options->width, options->height,
                          (int)lrint(1000.0 * rate_of(options)), 1000,
                          options->sound ? sound_rate(soundtrack_stage(options->sound)) : options->driven_rate,
                          options->quality > 0 ? options->quality : 75, movie->path);
    return length < (int)sizeof line && !strchr(movie->path, '\n')
           && send_parts(movie, 0, line, (size_t)length, NULL, 0);
}

// The encoder is a program of its own, whose licence stays out of the library; it starts before the first step, so
// that a missing one is told at once.
MovieRecorder *movie_open(Sim *sim, const MovieOptions *options)
{
    assert_debug(sim && options->path && options->draw);
    char program[PATH_MAX];
    MovieRecorder *movie = memory_alloc(sizeof *movie);
    movie->sim = sim;
    movie->options = *options;
    movie->path = memory_string(options->path);
    movie->input = movie->said = -1;
    assert(options->is_driven || options->driven_rate == 0);
    if (speed_of(options) != 1.0) {
        movie->options.sound = NULL;
        movie->options.driven_rate = 0;
    }
    if (!movie_has_format(options->path))
        report(movie, "its name ends neither with .webm nor .mp4");
    else if (!movie_is_available(program, sizeof program))
        report(movie,
               "talus-movie is not installed beside this program (it needs FFmpeg's libraries; see `talus doctor`)");
    else if (!start_process(movie, program))
        report(movie, strerror(errno));
    else if (!send_header(movie))
        report(movie, "talus-movie does not listen");
    if (movie->state == MOVIE_RECORDING)
        show_pictures(movie, 0.0);
    if (movie->state != MOVIE_RECORDING) {
        movie_discard(movie);
        return NULL;
    }
    if (!options->is_driven)
        sim_add_hook(sim, SIM_PHASE_OUTPUT, record, movie);
    movie->is_hooked = !options->is_driven;
    return movie;
}

void movie_show(MovieRecorder *movie, double elapsed)
{
    assert(!movie->is_hooked);
    show_pictures(movie, elapsed);
}

void movie_hear(MovieRecorder *movie, const int16_t *frames, int frame_count)
{
    assert_debug(frames || frame_count == 0);
    assert(!movie->is_hooked);
    if (movie->options.driven_rate > 0)
        add_sound(movie, frames, frame_count);
}

static void unhook(MovieRecorder *movie)
{
    if (movie->is_hooked)
        sim_remove_hooks(movie->sim, movie);
    movie->is_hooked = false;
}

static void close_input(MovieRecorder *movie)
{
    if (movie->input >= 0)
        close(movie->input);
    movie->input = -1;
}

void movie_stop(MovieRecorder *movie)
{
    unhook(movie);
    if (movie->state == MOVIE_RECORDING && send_parts(movie, 'E', NULL, 0, NULL, 0))
        movie->state = MOVIE_ENCODING;
    close_input(movie);
}

// The first answer after the stop is always that it is being encoded: so it does not depend on how fast that goes.
MovieState movie_state(MovieRecorder *movie)
{
    if (movie->state == MOVIE_ENCODING && movie->is_asked)
        has_ended(movie, false);
    movie->is_asked = movie->state == MOVIE_ENCODING;
    return movie->state;
}

static void release(MovieRecorder *movie)
{
    if (movie->said >= 0)
        close(movie->said);
    text_free(&movie->message);
    free(movie->path);
    free(movie);
}

bool movie_close(MovieRecorder *movie)
{
    if (!movie)
        return true;
    movie_stop(movie);
    has_ended(movie, true);
    bool ok = movie->state == MOVIE_DONE;
    release(movie);
    return ok;
}

void movie_discard(MovieRecorder *movie)
{
    if (!movie)
        return;
    unhook(movie);
    close_input(movie);  // without its end it leaves nothing
    movie->state = MOVIE_FAILED;
    has_ended(movie, true);
    release(movie);
}
