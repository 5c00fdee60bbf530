// doctor.c - `talus doctor`: everything a bug report needs about this build and machine.
#include "app/app.h"

#include "assets/speech.h"
#include "assets/web_page.h"
#include "base/cpu.h"
#include "base/file.h"
#include "base/json.h"
#include "base/program.h"
#include "formats/formats.h"
#include "formats/template/template_engine.h"
#include "rays/rays.h"
#include "record/movie.h"
#include "talus/talus.h"
#include "viewer/gl.h"
#include "viewer/viewer.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

typedef struct DoctorOptions {
    bool json, quiet;
} DoctorOptions;

typedef struct Finding {
    const char *what;
    const char *value;
    bool is_fine;   // false: Talus itself does not work
    bool is_there;  // false: a feature is missing
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
    static const char world[] =
        "#VRML_SIM R2025a utf8\nWorldInfo { }\nViewpoint { }\nSolid { boundingObject Box { } physics Physics { } }\n";
    DiagSink *diags = diag_create();
    Scene *scene = formats_load_text("doctor.wbt", world, sizeof world - 1, NULL, diags);
    bool ok = scene && !diag_has_errors(diags);
    scene_destroy(scene);
    diag_destroy(diags);
    return ok;
}

static bool is_on_path(Arena *arena, const char *program)
{
    const char *path = getenv("PATH");
    char *rest = arena_string(arena, path ? path : "/usr/bin:/bin");
    for (char *folder; (folder = strsep(&rest, ":"));)
        if (access(arena_printf(arena, "%s/%s", *folder ? folder : ".", program), X_OK) == 0)
            return true;
    return false;
}

// What `talus build` and Python robots need of this machine.
static int gather_tools(Finding *findings, int count, Arena *arena)
{
    assert(count >= 0);
    static const struct {
        const char *program, *package, *use;
    } tools[] = {
        { "make", "make", "talus build" },
        { "cc", "gcc", "robot programs and plugins in C" },
        { "c++", "g++", "robot programs and plugins in C++" },
        { "cmake", "cmake", "folders with a CMakeLists.txt" },
        { "python3", "python3", "robot programs in Python" },
    };
    for (int i = 0; i < COUNT_OF(tools); i++) {
        bool is_there = is_on_path(arena, tools[i].program);
        const char *value = is_there ? arena_printf(arena, "there, for %s", tools[i].use)
                                     : arena_printf(arena, "missing, for %s; install the package %s", tools[i].use,
                                                    tools[i].package);
        findings[count++] = (Finding){ tools[i].program, value, true, is_there };
    }
    return count;
}

// What is there, and the Debian package that has what is not. What is missing of features is told; what is broken is
// not fine.
static int gather(Finding *findings, Arena *arena)
{
    struct utsname system;
    uname(&system);
    int count = 0;
    findings[count++] = (Finding){ "version", talus_version(), true, true };
    findings[count++] = (Finding){ "compiler", compiler(), true, true };
    findings[count++] = (Finding){ "system",
                                   arena_printf(arena, "%s %s %s", system.sysname, system.release, system.machine),
                                   true, true };
    findings[count++] = (Finding){ "processors", arena_printf(arena, "%ld", sysconf(_SC_NPROCESSORS_ONLN)), true,
                                   true };
#if defined(__x86_64__)
    findings[count++] = (Finding){ "AVX2", cpu_has_avx2() ? "yes" : "no", true, true };
#endif
    findings[count++] = (Finding){ "rays", rays_library(), true, true };
    char program[PATH_MAX];
    bool evaluates = engine_is_available(program, sizeof program);
    findings[count++] =
        (Finding){ "templates",
                   evaluates ? "talus-template, by JavaScriptCore and Lua (a program of its own)"
                             : "talus-template is missing beside talus and in ../lib/talus: install all of Talus",
                   evaluates, evaluates };
    bool films = movie_is_available(program, sizeof program);
    findings[count++] = (Finding){
        "movies",
        films
            ? "talus-movie, by FFmpeg's libraries (GPL; a program of its own)"
            : "talus-movie is missing; build with the packages libavcodec-dev libavformat-dev libswscale-dev libswresample-dev",
        true, films
    };
    bool speaks = speech_is_available();
    findings[count++] = (Finding){
        "speech", speaks ? "espeak-ng" : "Speakers that speak are silent; install the package espeak-ng", true, speaks
    };
    bool works = reader_works();
    findings[count++] = (Finding){ "reader", works ? "works" : "cannot read a plain world", works, works };
    bool can_draw;
    const char *opengl = gl_describe(arena, &can_draw);
    findings[count++] = (Finding){ "OpenGL", opengl, true, can_draw };
    count = gather_tools(findings, count, arena);
    bool serves = viewer_is_available();
    findings[count++] = (Finding){
        "viewer", serves ? "libwebsockets" : "no `talus view`; build with the package libwebsockets-dev", true, serves
    };
    bool has_page = web_page_file_count > 0;
    findings[count++] = (Finding){ "browser page",
                                   has_page ? "bundled with three.js"
                                            : "no page for `talus view` and HTML replays; build with the packages "
                                              "nodejs and npm and a reachable npm registry",
                                   true, has_page };
    bool spreads = program_find("talus-mpi", "TALUS_MPI", program, sizeof program);
    findings[count++] =
        (Finding){ "MPI",
                   spreads ? "talus-mpi, by OpenMPI (a program of its own): mpirun talus sweep"
                           : "talus-mpi is missing: sweeps run on one machine; build with the package libopenmpi-dev",
                   true, spreads };
#if defined(TALUS_HAS_PYTHON)
    findings[count++] = (Finding){ "Python", "package talus for Python 3.11 and later, with NumPy", true, true };
#else
    findings[count++] = (Finding){ "Python", "no package talus; build with the package python3-dev", true, false };
#endif
    const char *path = getenv("TALUS_PATH");
    findings[count++] = (Finding){ "TALUS_PATH", path ? path : "not set", true, true };
    return count;
}

// Something missing is no failure: the exit code tells only of what Talus cannot work without.
static int run_doctor(const AppCommand *command, int argc, char **argv)
{
    DoctorOptions options = { 0 };
    int files;
    int status = app_parse(command, argc, argv, &options, &files);
    if (status >= 0)
        return status;
    if (files > 0)
        return app_usage_error(command, "'%s' is not wanted: it looks at this build and machine", argv[1]);
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
        else if (!options.quiet || !findings[i].is_there)
            text_printf(&out, "%s %-14s %s\n", findings[i].is_there ? "  " : "! ", findings[i].what, findings[i].value);
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
    { "quiet|q", OPTION_FLAG, offsetof(DoctorOptions, quiet), NULL, "print what is missing alone" },
    { "json", OPTION_FLAG, offsetof(DoctorOptions, json), NULL, "one JSON object" },
};
const AppCommand command_doctor = {
    .name = "doctor",
    .arguments = "[--json]",
    .summary = "tell about this build and machine, for bug reports",
    .examples = "  talus doctor",
    .options = doctor_options,
    .option_count = COUNT_OF(doctor_options),
    .run = run_doctor,
};
