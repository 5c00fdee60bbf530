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

typedef struct Findings {
    Finding items[32];
    int count;
    Arena *arena;  // of the values
} Findings;

static void add(Findings *findings, Finding finding)
{
    assert(findings->count < COUNT_OF(findings->items));
    findings->items[findings->count++] = finding;
}

static void add_fact(Findings *findings, const char *what, const char *value)
{
    add(findings, (Finding){ what, value, true, true });
}

// A part that Talus does without: what it is, or what to install.
static void add_part(Findings *findings, const char *what, bool is_there, const char *value, const char *remedy)
{
    add(findings, (Finding){ what, is_there ? value : remedy, true, is_there });
}

// A part that Talus needs.
static void add_need(Findings *findings, const char *what, bool is_there, const char *value, const char *remedy)
{
    add(findings, (Finding){ what, is_there ? value : remedy, is_there, is_there });
}

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
    assert_debug(!strchr(program, '/'));
    const char *path = getenv("PATH");
    char *rest = arena_string(arena, path ? path : "/usr/bin:/bin");
    for (char *folder; (folder = strsep(&rest, ":"));)
        if (access(arena_printf(arena, "%s/%s", *folder ? folder : ".", program), X_OK) == 0)
            return true;
    return false;
}

// What `talus build` and Python robots need of this machine.
static void gather_tools(Findings *findings)
{
    static const struct {
        const char *program, *package, *use;
    } tools[] = {
        { "make", "make", "talus build" },
        { "cc", "gcc", "robot programs and plugins in C" },
        { "c++", "g++", "robot programs and plugins in C++" },
        { "cmake", "cmake", "folders with a CMakeLists.txt" },
        { "python3", "python3", "robot programs in Python" },
    };
    for (int i = 0; i < COUNT_OF(tools); i++)
        add_part(
            findings, tools[i].program, is_on_path(findings->arena, tools[i].program),
            arena_printf(findings->arena, "there, for %s", tools[i].use),
            arena_printf(findings->arena, "missing, for %s; install the package %s", tools[i].use, tools[i].package));
}

static void gather_machine(Findings *findings)
{
    assert_debug(findings->count == 0);  // it comes first
    struct utsname system;
    uname(&system);
    add_fact(findings, "version", talus_version());
    add_fact(findings, "compiler", compiler());
    add_fact(findings, "system",
             arena_printf(findings->arena, "%s %s %s", system.sysname, system.release, system.machine));
    add_fact(findings, "processors", arena_printf(findings->arena, "%ld", sysconf(_SC_NPROCESSORS_ONLN)));
#if defined(__x86_64__)
    add_fact(findings, "AVX2", cpu_has_avx2() ? "yes" : "no");
#endif
    add_fact(findings, "rays", rays_library());
}

// What reads, films, speaks and draws, much of it in programs and libraries that need not be there.
static void gather_parts(Findings *findings)
{
    char program[PATH_MAX];
    add_need(findings, "templates", engine_is_available(program, sizeof program),
             "talus-template, by JavaScriptCore and Lua (a program of its own)",
             "talus-template is missing beside talus and in ../lib/talus: install all of Talus");
    add_part(
        findings, "movies", movie_is_available(program, sizeof program),
        "talus-movie, by FFmpeg's libraries (GPL; a program of its own)",
        "talus-movie is missing; build with the packages libavcodec-dev libavformat-dev libswscale-dev libswresample-dev");
    add_part(findings, "speech", speech_is_available(), "espeak-ng",
             "Speakers that speak are silent; install the package espeak-ng");
    add_need(findings, "reader", reader_works(), "works", "cannot read a plain world");
    bool can_draw;
    const char *opengl = gl_describe(findings->arena, &can_draw);
    add_part(findings, "OpenGL", can_draw, opengl, opengl);
}

// Where else a world may be seen, run and asked from.
static void gather_surroundings(Findings *findings)
{
    char program[PATH_MAX];
    add_part(findings, "viewer", viewer_is_available(), "libwebsockets",
             "no `talus view`; build with the package libwebsockets-dev");
    add_part(findings, "browser page", web_page_file_count > 0, "bundled with three.js",
             "no page for `talus view` and HTML replays; build with the packages nodejs and npm and a reachable npm "
             "registry");
    add_part(findings, "MPI", program_find("talus-mpi", "TALUS_MPI", program, sizeof program),
             "talus-mpi, by OpenMPI (a program of its own): mpirun talus sweep",
             "talus-mpi is missing: sweeps run on one machine; build with the package libopenmpi-dev");
#if defined(TALUS_HAS_PYTHON)
    add_fact(findings, "Python", "package talus for Python 3.11 and later, with NumPy");
#else
    add_part(findings, "Python", false, NULL, "no package talus; build with the package python3-dev");
#endif
    const char *path = getenv("TALUS_PATH");
    add_fact(findings, "TALUS_PATH", path ? path : "not set");
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
    Findings findings = { .arena = arena_create() };
    gather_machine(&findings);
    gather_parts(&findings);
    gather_tools(&findings);
    gather_surroundings(&findings);
    Text out = { 0 };
    JsonWriter json = { .out = &out };
    bool fine = true;
    if (options.json)
        json_begin_object(&json, NULL);
    for (int i = 0; i < findings.count; i++) {
        const Finding *finding = &findings.items[i];
        fine = fine && finding->is_fine;
        if (options.json)
            json_string(&json, finding->what, finding->value);
        else if (!options.quiet || !finding->is_there)
            text_printf(&out, "%s %-14s %s\n", finding->is_there ? "  " : "! ", finding->what, finding->value);
    }
    if (options.json) {
        json_end_object(&json);
        text_add_char(&out, '\n');
    }
    app_print(&out);
    arena_destroy(findings.arena);
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
