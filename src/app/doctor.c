// doctor.c - `talus doctor`: everything a bug report needs about this build and machine.
#include "app/app.h"

#include "assets/speech.h"
#include "base/file.h"
#include "base/json.h"
#include "formats/formats.h"
#include "rays/rays.h"
#include "record/movie.h"
#include "talus/talus.h"
#include "viewer/gl.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

typedef struct DoctorOptions {
    bool json;
} DoctorOptions;

typedef struct Finding {
    const char *what;
    const char *value;
    bool is_fine;
} Finding;

static const char *compiler(void)
{
#if defined(__clang__)
    return "clang " __clang_version__;
#else
    return "gcc " __VERSION__;
#endif
}

// Loads a world with one procedural PROTO's worth of work: reader, schema and checks.
static bool reader_works(void)
{
    static const char world[] = "#VRML_SIM R2025a utf8\nWorldInfo { }\nViewpoint { }\nSolid { boundingObject Box { } physics Physics { } }\n";
    DiagSink *diags = diag_create();
    Scene *scene = formats_load_text("doctor.wbt", world, sizeof world - 1, NULL, diags);
    bool ok = scene && !diag_has_errors(diags);
    scene_destroy(scene);
    diag_destroy(diags);
    return ok;
}

static int gather(Finding *findings, Arena *arena)
{
    struct utsname system;
    uname(&system);
    int count = 0;
    findings[count++] = (Finding){ "version", talus_version(), true };
    findings[count++] = (Finding){ "compiler", compiler(), true };
    findings[count++] = (Finding){ "system", arena_printf(arena, "%s %s %s", system.sysname, system.release, system.machine), true };
    findings[count++] = (Finding){ "processors", arena_printf(arena, "%ld", sysconf(_SC_NPROCESSORS_ONLN)), true };
#if defined(__x86_64__)
    findings[count++] = (Finding){ "AVX2", __builtin_cpu_supports("avx2") ? "yes" : "no", true };
#endif
    findings[count++] = (Finding){ "rays", rays_library(), true };
    char movie[PATH_MAX];
    bool films = movie_is_available(movie, sizeof movie);
    findings[count++] = (Finding){ "movies", films ? "talus-movie, by FFmpeg's libraries (GPL; a program of its own)"
                                                   : "talus-movie is missing; build with the packages libavcodec-dev libavformat-dev libswscale-dev libswresample-dev", true };
    bool speaks = speech_is_available();
    findings[count++] = (Finding){ "speech", speaks ? "espeak-ng" : "Speakers that speak are silent; install the package espeak-ng", true };
    bool works = reader_works();
    findings[count++] = (Finding){ "reader", works ? "works" : "cannot read a plain world", works };
    bool can_draw;
    const char *opengl = gl_describe(arena, &can_draw);
    findings[count++] = (Finding){ "OpenGL", opengl, true };
    const char *path = getenv("TALUS_PATH");
    findings[count++] = (Finding){ "TALUS_PATH", path ? path : "not set", true };
    return count;
}

static int run_doctor(const AppCommand *command, int argc, char **argv)
{
    DoctorOptions options = { 0 };
    int files;
    int status = app_parse(command, argc, argv, &options, &files);
    if (status >= 0)
        return status;
    Arena *arena = arena_create();
    Finding findings[32];
    int count = gather(findings, arena);
    Text out = { 0 };
    JsonWriter json = { .out = &out };
    bool fine = true;
    if (options.json)
        json_begin_object(&json, NULL);
    for (int i = 0; i < count; i++) {
        fine = fine && findings[i].is_fine;
        if (options.json)
            json_string(&json, findings[i].what, findings[i].value);
        else
            text_printf(&out, "%s %-14s %s\n", findings[i].is_fine ? "  " : "! ", findings[i].what, findings[i].value);
    }
    if (options.json) {
        json_end_object(&json);
        text_add_char(&out, '\n');
    }
    app_print(&out);
    arena_destroy(arena);
    return fine ? EXIT_OK : EXIT_INTERNAL;
}

static const AppOption doctor_options[] = {
    { "json", OPTION_FLAG, offsetof(DoctorOptions, json), NULL, "one JSON object" },
};
const AppCommand command_doctor = {
    .name = "doctor", .arguments = "[--json]", .summary = "tell about this build and machine, for bug reports",
    .examples = "  talus doctor", .options = doctor_options, .option_count = COUNT_OF(doctor_options), .run = run_doctor,
};
