// load_bench - how long worlds take to load and how much memory that needs, beside `wc -w` on the same file in the same
// run. Usage: load_bench [largest node count]. Bars: at most 5 times the time of wc, at most 400 bytes per node, linear
// growth. Besides the time that passes it gives processor time, which says the same on a machine that is busy with
// other work.
#include "base/common.h"
#include "base/file.h"
#include "base/text.h"
#include "formats/formats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RUNS = 3 };

typedef struct Measure {
    double seconds, processor;
    double bytes;  // peak resident memory above that of the empty process
    int nodes, errors;
} Measure;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double processor_seconds(const struct rusage *usage)
{
    return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec)
           + 1e-6 * (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
}

static double status_bytes(const char *key)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    double kib = 0.0;
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, key, strlen(key)))
            kib = strtod(line + strlen(key) + 1, NULL);
    if (file)
        fclose(file);
    return kib * 1024.0;
}

// ------------------------------------------------------------------------------------------------------------- worlds

static void add_header(Text *out)
{
    text_add_string(out, "#VRML_SIM R2025a utf8\n\nWorldInfo {\n  basicTimeStep 16\n}\nViewpoint {\n}\n");
}

// Groups of nine nodes as real worlds have them: a solid with a shape, a moved part, a bounding object and physics.
static void write_plain(Text *out, int nodes)
{
    add_header(out);
    for (int i = 0; i * 9 < nodes; i++) {
        double x = 0.37 * (i % 1000), y = 0.41 * (i / 1000);
        text_printf(
            out,
            "DEF BOX_%d Solid {\n  translation %.6g %.6g 0.125\n  rotation 0 0 1 %.4f\n  children [\n"
            "    DEF SHAPE_%d Shape {\n      appearance PBRAppearance {\n        baseColor 0.8 0.75 0.7\n"
            "        roughness 0.5\n        metalness 0\n      }\n      geometry Box {\n"
            "        size 0.25 0.25 0.25\n      }\n    }\n"
            "    Pose {\n      translation 0 0.05 %.4f\n      children [\n        Shape {\n"
            "          geometry Sphere {\n            radius 0.05\n          }\n        }\n      ]\n    }\n  ]\n"
            "  name \"box(%d)\"\n  boundingObject Box {\n    size 0.25 0.25 0.25\n  }\n"
            "  physics Physics {\n    density -1\n    mass 1.5\n  }\n}\n",
            i, x, y, 0.001 * (i % 3000), i, 0.1 + 0.0001 * (i % 777), i);
    }
}

static void write_instances(Text *out, int count, const char *proto)
{
    text_printf(out, "#VRML_SIM R2025a utf8\n\nEXTERNPROTO \"../protos/%s.proto\"\n\nWorldInfo {\n}\nViewpoint {\n}\n",
                proto);
    for (int i = 0; i < count; i++)
        text_printf(out, "%s {\n  translation %d %d 0\n  name \"crate(%d)\"\n  side %.3f\n}\n", proto, i % 100, i / 100,
                    i, 0.2 + 0.001 * (i % 50));
}

static const char plain_proto[] =
    "#VRML_SIM R2025a utf8\nPROTO Crate [\n  field SFVec3f translation 0 0 0\n  field SFRotation rotation 0 0 1 0\n"
    "  field SFString name \"crate\"\n  unconnectedField SFFloat side 0.3\n  field MFNode children []\n]\n{\n"
    "  Solid {\n    translation IS translation\n    rotation IS rotation\n    name IS name\n    children [\n"
    "      DEF BODY Shape {\n        appearance PBRAppearance { roughness 1 metalness 0 }\n"
    "        geometry Box { size 0.3 0.3 0.3 }\n      }\n      Group { children IS children }\n    ]\n"
    "    boundingObject USE BODY\n    physics Physics { density 300 }\n  }\n}\n";
static const char template_proto[] =
    "#VRML_SIM R2025a utf8\n# template language: javascript\nPROTO CrateT [\n  field SFVec3f translation 0 0 0\n"
    "  field SFRotation rotation 0 0 1 0\n  field SFString name \"crate\"\n  field SFFloat side 0.3\n]\n{\n"
    "  %< const s = fields.side.value; >%\n  Solid {\n    translation IS translation\n    rotation IS rotation\n"
    "    name IS name\n    children [\n      DEF BODY Shape {\n        geometry Box { size %<= s >% %<= s >% %<= s >% }\n"
    "      }\n    ]\n    boundingObject USE BODY\n    physics Physics { density 300 }\n  }\n}\n";

// ---------------------------------------------------------------------------------------------------------- measuring

static Measure count_words(const char *path)
{
    double start = now();
    pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stdout))
            _exit(1);
        execlp("wc", "wc", "-w", path, (char *)NULL);
        _exit(1);
    }
    int status;
    struct rusage usage;
    wait4(child, &status, 0, &usage);
    return (Measure){ .seconds = now() - start, .processor = processor_seconds(&usage) };
}

static Measure load_here(const char *path)
{
    Measure measure = { 0 };
    double before = status_bytes("VmRSS:");
    DiagSink *diags = diag_create();
    struct rusage first, last;
    getrusage(RUSAGE_SELF, &first);
    double start = now();
    Scene *scene = formats_load(path, NULL, diags);
    measure.seconds = now() - start;
    getrusage(RUSAGE_SELF, &last);
    measure.processor = processor_seconds(&last) - processor_seconds(&first);
    measure.bytes = status_bytes("VmHWM:") - before;
    measure.nodes = scene ? scene_node_count(scene) : 0;
    measure.errors = diag_total(diags, DIAG_ERROR);
    diag_print(diags, stderr, 0, DIAG_WARNING);
    scene_destroy(scene);
    diag_destroy(diags);
    return measure;
}

static Measure load_apart(const char *path)
{
    int ends[2];
    Measure measure = { 0 };
    if (pipe(ends) != 0)
        return measure;
    pid_t child = fork();
    if (child == 0) {
        Measure own = load_here(path);
        bool is_written = write(ends[1], &own, sizeof own) == (ssize_t)sizeof own;
        _exit(is_written ? 0 : 1);
    }
    close(ends[1]);
    if (read(ends[0], &measure, sizeof measure) != (ssize_t)sizeof measure)
        measure = (Measure){ 0 };
    close(ends[0]);
    waitpid(child, NULL, 0);
    return measure;
}

static void run(const char *name, const char *path)
{
    Measure best = { .seconds = 1e9, .processor = 1e9 }, words = best;
    for (int i = 0; i < RUNS; i++) {
        Measure counted = count_words(path), measure = load_apart(path);
        words.seconds = fmin(words.seconds, counted.seconds);
        words.processor = fmin(words.processor, counted.processor);
        if (!measure.nodes)
            continue;
        measure.seconds = fmin(best.seconds, measure.seconds);
        measure.processor = fmin(best.processor, measure.processor);
        best = measure;
    }
    struct stat info;
    double megabytes = stat(path, &info) == 0 ? 1e-6 * (double)info.st_size : 0.0;
    if (!best.nodes) {
        printf("%-28s could not be loaded\n", name);
        return;
    }
    printf(
        "%-28s %6.2f MB %8d nodes %7.0f bytes/node | %8.1f ms, wc -w %7.1f ms: %6.2f x | processor %8.1f ms, %5.0f ns/node, "
        "wc -w %7.1f ms: %6.2f x | %d errors\n",
        name, megabytes, best.nodes, best.bytes / best.nodes, 1e3 * best.seconds, 1e3 * words.seconds,
        best.seconds / words.seconds, 1e3 * best.processor, 1e9 * best.processor / best.nodes, 1e3 * words.processor,
        best.processor / words.processor, best.errors);
    fflush(stdout);
}

static void save(const char *path, Text *text)
{
    DiagSink *diags = diag_create();
    if (!file_write_atomic(path, text->data, text->length, diags))
        diag_print(diags, stderr, 0, DIAG_NOTE);
    diag_destroy(diags);
    text_free(text);
}

int main(int argc, char **argv)
{
    int largest = argc > 1 ? atoi(argv[1]) : 1000000;
    char folder[] = "/tmp/talus-load-XXXXXX";
    if (!mkdtemp(folder))
        return 1;
    Arena *arena = arena_create();
    const char *worlds = path_join(arena, folder, "worlds"), *protos = path_join(arena, folder, "protos");
    file_make_directories(worlds);
    file_make_directories(protos);
    const char *path = path_join(arena, worlds, "load.wbt");
    const char *crate = path_join(arena, protos, "Crate.proto"), *crate_t = path_join(arena, protos, "CrateT.proto");

    for (int nodes = 10000; nodes <= largest; nodes *= 10) {
        Text text = { 0 };
        write_plain(&text, nodes);
        save(path, &text);
        run(arena_printf(arena, "%d plain nodes", nodes), path);
    }
    Text text = { 0 };
    text_add_string(&text, plain_proto);
    save(crate, &text);
    text_add_string(&text, template_proto);
    save(crate_t, &text);
    static const struct {
        int count;
        const char *proto;
    } instances[] = { { 1000, "Crate" }, { 10000, "Crate" }, { 100, "CrateT" }, { 1000, "CrateT" } };
    for (int i = 0; i < COUNT_OF(instances); i++) {
        write_instances(&text, instances[i].count, instances[i].proto);
        save(path, &text);
        run(arena_printf(arena, "%d instances of %s", instances[i].count, instances[i].proto), path);
    }
    unlink(path);
    unlink(crate);
    unlink(crate_t);
    rmdir(worlds);
    rmdir(protos);
    rmdir(folder);
    arena_destroy(arena);
    return 0;
}
