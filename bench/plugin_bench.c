// plugin_bench.c - what a physics plugin that does nothing costs: the same world without one and with each kind, in
// turns within one process. A second world without a plugin shows what the machine's noise makes of no difference at
// all. Prints microseconds of processor time a step, and for each kind the median over the turns of the difference,
// with its quartiles, and the difference of the best turns, in percent of the step without a plugin. Arguments: turns,
// and one scene's name.
#include "sim/sim.h"

#include "../scenes/builders.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_TURNS = 400, WARM_UP = 300 };

#define EMPTY "#include <plugins/physics.h>\nDLLEXPORT void webots_physics_cleanup(void) { }\n"
#define PLAIN_INIT "DLLEXPORT void webots_physics_init(void) { }\n"
#define PLAIN_STEP "DLLEXPORT void webots_physics_step(void) { }\n"
#define REST                                                                                                           \
    "DLLEXPORT void webots_physics_step_end(void) { }\nDLLEXPORT void webots_physics_draw(int pass, const char *view) { (void)pass; (void)view; }\n"
#define COLLIDE "DLLEXPORT int webots_physics_collide(dGeomID a, dGeomID b) { (void)a; (void)b; return 0; }\n"
// Reads one thing in every step, and has a function in it that is never reached.
#define READING(NEVER)                                                                                                 \
    "static dWorldID world;\n"                                                                                         \
    "DLLEXPORT void webots_physics_init(dWorldID w, dSpaceID s, dJointGroupID g) { (void)s; (void)g; world = w; }\n"   \
    "DLLEXPORT void webots_physics_step(void) { dVector3 g; dWorldGetGravity(world, g); if (!world) " NEVER "; }\n"

static const struct {
    const char *name, *help, *source;
} kinds[] = {
    { "none", "no plugin", NULL },
    { "again", "no plugin, once more: the noise", NULL },
    { "least", "init, step, cleanup", EMPTY PLAIN_INIT PLAIN_STEP },
    { "most", "every callback but collide", EMPTY PLAIN_INIT PLAIN_STEP REST },
    { "collide", "every callback", EMPTY PLAIN_INIT PLAIN_STEP REST COLLIDE },
    { "reader", "init, step, cleanup, one call into ODE", EMPTY READING("dBodyAddForce(0, 1, 0, 0)") },
    { "shapes", "the same, could change shapes", EMPTY READING("dGeomSetPosition(0, 1, 0, 0)") },
    { "contacts", "the same, could find contact joints", EMPTY READING("dBodyGetNumJoints(0)") },
};
enum { KINDS = COUNT_OF(kinds) };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static bool compile(const char *folder, int kind)
{
    char command[2048], path[512];
    const char *name = kinds[kind].name;
    snprintf(path, sizeof path, "%s/%s.c", folder, name);
    FILE *file = fopen(path, "w");
    if (!file)
        return false;
    fputs(kinds[kind].source, file);
    fclose(file);
    snprintf(command, sizeof command,
             "mkdir -p %s/plugins/physics/%s && cc -O2 -fPIC -shared -Iinclude %s -o %s/plugins/physics/%s/lib%s.so",
             folder, name, path, folder, name, name);
    return system(command) == 0;
}

static Sim *load(const char *name, const Text *text, const char *folder, int kind, DiagSink *diags)
{
    Sim *sim = sim_load_text(name, text->data, text->length, NULL, diags);
    if (!sim || !kinds[kind].source)
        return sim;
    const FieldList *nodes = scene_list(scene_root(sim_scene(sim)), "children");
    for (int i = 0; i < nodes->count; i++)
        if (scene_node_is(nodes->nodes[i], "WorldInfo"))
            scene_set_string(sim_scene(sim), nodes->nodes[i], "physics", kinds[kind].name);
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
    return 1e6 * (now() - start) / steps;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double best(const double *costs, int turns)
{
    double least = costs[0];
    for (int i = 1; i < turns; i++)
        least = costs[i] < least ? costs[i] : least;
    return least;
}

static void print_kind(int kind, const double *costs, const double *without, int turns, bool is_same)
{
    double ratios[MOST_TURNS];
    for (int i = 0; i < turns; i++)
        ratios[i] = 100.0 * (costs[i] / without[i] - 1.0);
    qsort(ratios, (size_t)turns, sizeof *ratios, compare);
    printf("  %-40s %+6.2f %% (%+.2f %+.2f), best turns %+6.2f %%%s\n", kinds[kind].help, ratios[turns / 2],
           ratios[turns / 4], ratios[3 * turns / 4], 100.0 * (best(costs, turns) / best(without, turns) - 1.0),
           is_same ? "" : ", STATES DIFFER");
}

static void measure(const char *name, Text *text, const char *folder, int steps, int turns)
{
    static double costs[KINDS][MOST_TURNS];
    DiagSink *diags = diag_create();
    Sim *sims[KINDS];
    for (int k = 0; k < KINDS; k++) {
        sims[k] = load(name, text, folder, k, diags);
        turn(sims[k], WARM_UP);
    }
    // All are at the same state in every turn; who goes first changes, so that a drift of the clock falls on all.
    for (int i = 0; i < turns; i++)
        for (int k = 0; k < KINDS; k++) {
            int kind = (i % 2 ? KINDS - 1 - k + i / 2 : k + i / 2) % KINDS;
            costs[kind][i] = turn(sims[kind], steps);
        }
    printf("%s: %.1f us a step\n", name, best(costs[0], turns));
    for (int k = 1; k < KINDS; k++)
        print_kind(k, costs[k], costs[0], turns, sim_hash(sims[k]) == sim_hash(sims[0]));
    for (int k = 0; k < KINDS; k++)
        sim_destroy(sims[k]);
    diag_destroy(diags);
    text_free(text);
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/talus-plugin-bench-XXXXXX", command[256];
    int effort = argc > 1 ? atoi(argv[1]) : 100;  // turns
    int turns = effort < 4 ? 4 : effort > MOST_TURNS ? MOST_TURNS : effort;
    bool is_fine = mkdtemp(folder) != NULL;
    for (int k = 0; is_fine && k < KINDS; k++)
        is_fine = !kinds[k].source || compile(folder, k);
    if (!is_fine)
        return 1;
    Text worlds[3] = { 0 };
    scene_humanoids(&worlds[0], 1);
    scene_pile(&worlds[1], 200, false);
    scene_pile(&worlds[2], 1000, true);
    static const struct {
        const char *name;
        int steps, share;
    } rows[] = { { "humanoid", 200, 1 }, { "pile of 200", 20, 1 }, { "mixed 1000", 5, 4 } };
    for (int i = 0; i < COUNT_OF(rows); i++)
        if (argc < 3 || !strcmp(argv[2], rows[i].name))
            measure(rows[i].name, &worlds[i], folder, rows[i].steps, turns / rows[i].share);
        else
            text_free(&worlds[i]);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) != 0;
}
