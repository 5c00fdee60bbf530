// plugin_bench.c - what an empty physics plugin costs: the same world with and without one, in turns within one process.
// The plugin has all callbacks but draw and collide, which is the plugin of a world that only adds forces; with --collide it
// has that too. Prints the median over pairs of turns of the difference, in percent of the step without it.
#include "sim/sim.h"

#include "../scenes/builders.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static const char *const source =
    "#include <plugins/physics.h>\n"
    "DLLEXPORT void webots_physics_init(void) { }\n"
    "DLLEXPORT void webots_physics_step(void) { }\n"
    "#ifdef COLLIDE\n"
    "DLLEXPORT int webots_physics_collide(dGeomID a, dGeomID b) { (void)a; (void)b; return 0; }\n"
    "#endif\n"
    "DLLEXPORT void webots_physics_step_end(void) { }\n"
    "DLLEXPORT void webots_physics_cleanup(void) { }\n";

static bool compile(const char *folder, bool has_collide)
{
    char command[2048], path[1024];
    snprintf(path, sizeof path, "%s/empty.c", folder);
    FILE *file = fopen(path, "w");
    if (!file)
        return false;
    fputs(source, file);
    fclose(file);
    snprintf(command, sizeof command, "mkdir -p %s/plugins/physics/empty && cc -O2 -fPIC -shared -Iinclude %s %s -o %s/plugins/physics/empty/libempty.so",
             folder, has_collide ? "-DCOLLIDE" : "", path, folder);
    return system(command) == 0;
}

static Sim *load(const char *name, const Text *text, const char *folder, DiagSink *diags)
{
    Sim *sim = sim_load_text(name, text->data, text->length, NULL, diags);
    if (!sim || !folder)
        return sim;
    const FieldList *nodes = scene_list(scene_root(sim_scene(sim)), "children");
    for (int i = 0; i < nodes->count; i++)
        if (scene_node_is(nodes->nodes[i], "WorldInfo"))
            scene_set_string(sim_scene(sim), nodes->nodes[i], "physics", "empty");
    const char *paths[] = { folder, NULL };
    SimPluginOptions options = { .plugin = { .search_paths = paths } };
    if (!sim_start_plugin(sim, &options) || !sim_plugin(sim)) {
        diag_print(diags, stderr, 0, DIAG_WARNING);
        exit(1);
    }
    return sim;
}

static double turn(Sim *sim, int steps)
{
    double start = now();
    for (int i = 0; i < steps; i++)
        sim_step(sim);
    return (now() - start) / steps;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void measure(const char *name, Text *text, const char *folder, int steps, int turns)
{
    DiagSink *diags = diag_create();
    Sim *plain = load(name, text, NULL, diags), *hosted = load(name, text, folder, diags);
    double ratios[1000], costs[1000];
    turn(plain, 300);
    turn(hosted, 300);
    // The two are at the same state in every pair; who goes first changes, so that a drift of the clock falls on both.
    for (int i = 0; i < turns; i++) {
        double first = turn(i % 2 ? hosted : plain, steps), second = turn(i % 2 ? plain : hosted, steps);
        double without = i % 2 ? second : first, with = i % 2 ? first : second;
        ratios[i] = 100.0 * (with / without - 1.0);
        costs[i] = 1e6 * without;
    }
    if (getenv("PHASES"))
        for (int i = 0; i < SIM_PHASE_COUNT; i++)
            printf("  %-12s %8.3f %8.3f\n", sim_phase_name((SimPhase)i), 1e6 * sim_phase_seconds(plain)[i] / (300 + steps * turns),
                   1e6 * sim_phase_seconds(hosted)[i] / (300 + steps * turns));
    bool is_same = sim_hash(plain) == sim_hash(hosted);
    qsort(ratios, (size_t)turns, sizeof *ratios, compare);
    qsort(costs, (size_t)turns, sizeof *costs, compare);
    printf("%-14s %9.1f us a step, plugin %+.2f %% (quartiles %+.2f %+.2f)%s\n", name, costs[turns / 2], ratios[turns / 2], ratios[turns / 4],
           ratios[3 * turns / 4], is_same ? "" : ", STATES DIFFER");
    sim_destroy(plain);
    sim_destroy(hosted);
    diag_destroy(diags);
    text_free(text);
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/talus-plugin-bench-XXXXXX";
    bool has_collide = argc > 1 && !strcmp(argv[1], "--collide");
    if (!mkdtemp(folder) || !compile(folder, has_collide))
        return 1;
    Text pile = { 0 }, humanoid = { 0 }, mixed = { 0 };
    scene_pile(&pile, 200, false);
    scene_humanoids(&humanoid, 1);
    scene_pile(&mixed, 1000, true);
    measure("pile of 200", &pile, folder, 20, 100);
    measure("humanoid", &humanoid, folder, 200, 100);
    measure("mixed 1000", &mixed, folder, 5, 60);
    char command[256];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) != 0;
}
