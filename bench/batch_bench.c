// batch_bench.c - steps per second of batches of cart-poles and humanoids, with 1 and 2 threads, beside MuJoCo's with a
// thread per core and one mjData for each world, in the same run (when its library was found). Both get the same rows
// of links as text: masses, inertias, shapes, steps; both are told the same torques before each step, give positions
// and velocities of all joints after it, and are reset after the same number of them. Robots do not touch themselves.
//
// Two ways, each the same for both: "together", as a policy wants it, all worlds make one step and threads meet after
// it; "rollout", with torques known before, each world makes a whole episode by itself and threads meet after that.
//
// A run is cut into slices of whole episodes, so that batches of all sizes fall and lie for the same share of each, and
// counts with its fastest slice: other guests of a machine come and go within seconds. Rates are the best of
// interleaved rounds; ratios are of the two runs that stand beside each other in a round, the median of all rounds.
//
// usage: batch_bench [rounds] [largest batch]; prints tables in Markdown.
//
// or: batch_bench talus|mujoco SCENE WORLDS STEPS [THREADS] [rollout]; one engine alone, for a profiler: steps per
// second, of processor time when it has one thread.
#include "base/memory.h"
#include "base/pool.h"
#include "base/text.h"
#include "talus/batch.h"

#include <assert.h>
#include <malloc.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef TALUS_BENCH_MUJOCO
#include <mujoco/mujoco.h>
#endif

enum { EPISODE = 200, MAX_LINKS = 32 };

static clockid_t bench_clock = CLOCK_MONOTONIC;

static double now(void)
{
    struct timespec time;
    clock_gettime(bench_clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// ---- the scenes, as rows ----

typedef struct Link {
    int parent;  // -1: free, -2: on a rail along x
    double x, y, z;
    double radius, length;  // of its capsule along z; radius 0: nothing to touch
    double ax, ay, az;      // anchor of the joint to the parent, in the world
    int axis;               // 0 x, 1 y, 2 z
    double mass;
    double torque;  // largest of its motor, 0: none
} Link;

typedef struct BenchScene {
    const char *name;
    double step_ms;
    int link_count;
    Link links[MAX_LINKS];
} BenchScene;

static const BenchScene scenes[] = {
    { "cart-pole", 10, 2, { { -2, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 10 }, { 0, 0, 0, 1.5, 0, 0, 0, 0, 1, 1, 0.1, 0 } } },
    { "humanoid",
      4,
      14,
      {
          { -1, 0, 0, 0.95, 0.1, 0.1, 0, 0, 0, 1, 9, 0 },
          { 0, 0, 0, 1.2, 0.12, 0.25, 0, 0, 1.05, 1, 15, 40 },
          { 1, 0, 0, 1.5, 0.09, 0.05, 0, 0, 1.4, 1, 4, 5 },
          { 0, 0, 0.1, 0.86, 0, 0, 0, 0.1, 0.86, 0, 1, 30 },
          { 3, 0, 0.1, 0.67, 0.06, 0.25, 0, 0.1, 0.86, 1, 4, 60 },
          { 4, 0, 0.1, 0.26, 0.05, 0.25, 0, 0.1, 0.46, 1, 3, 40 },
          { 0, 0, -0.1, 0.86, 0, 0, 0, -0.1, 0.86, 0, 1, 30 },
          { 6, 0, -0.1, 0.67, 0.06, 0.25, 0, -0.1, 0.86, 1, 4, 60 },
          { 7, 0, -0.1, 0.26, 0.05, 0.25, 0, -0.1, 0.46, 1, 3, 40 },
          { 1, 0, 0.22, 1.2, 0.045, 0.2, 0, 0.22, 1.34, 1, 2, 15 },
          { 9, 0, 0.22, 0.92, 0.04, 0.2, 0, 0.22, 1.06, 1, 1.2, 10 },
          { 1, 0, -0.22, 1.2, 0.045, 0.2, 0, -0.22, 1.34, 1, 2, 15 },
          { 11, 0, -0.22, 0.92, 0.04, 0.2, 0, -0.22, 1.06, 1, 1.2, 10 },
          { 2, 0, 0, 1.6, 0, 0, 0, 0, 1.55, 2, 0.5, 2 },
      } },
};

static const char *const axes[] = { "1 0 0", "0 1 0", "0 0 1" };

// Inertia of a solid box around the capsule.
static void inertia_of(const Link *link, double inertia[3])
{
    double r = link->radius > 0.0 ? 2.0 * link->radius : 0.1, h = link->length + r;
    inertia[0] = inertia[1] = link->mass / 12.0 * (r * r + h * h);
    inertia[2] = link->mass / 6.0 * r * r;
}

static void write_wbt_link(const BenchScene *scene, int index, Text *out)
{
    const Link *link = &scene->links[index];
    double x = link->x, y = link->y, z = link->z, inertia[3];
    inertia_of(link, inertia);
    if (link->parent >= 0) {
        const Link *parent = &scene->links[link->parent];
        x -= parent->x, y -= parent->y, z -= parent->z;
        text_printf(out, "HingeJoint { jointParameters HingeJointParameters { axis %s anchor %g %g %g } ",
                    axes[link->axis], link->ax - parent->x, link->ay - parent->y, link->az - parent->z);
        if (link->torque > 0.0)
            text_printf(out, "device RotationalMotor { name \"m%d\" maxTorque %g maxVelocity 1000 } ", index,
                        link->torque);
        text_add_string(out, "endPoint ");
    } else if (link->parent == -2) {
        text_printf(
            out,
            "Robot { controller \"<none>\" children SliderJoint { jointParameters JointParameters { axis 1 0 0 } "
            "device LinearMotor { name \"m%d\" maxForce %g maxVelocity 1000 } endPoint ",
            index, link->torque);
    }
    text_printf(out, "%s { name \"l%d\" translation %g %g %g ", link->parent == -1 ? "Robot" : "Solid", index, x, y, z);
    if (link->parent == -1)
        text_add_string(out, "controller \"<none>\" ");
    if (link->radius > 0.0)
        text_printf(out, "boundingObject Capsule { radius %g height %g } ", link->radius, link->length);
    text_printf(
        out,
        "physics Physics { density -1 mass %g centerOfMass [ 0 0 0 ] inertiaMatrix [ %.9g %.9g %.9g, 0 0 0 ] } children [\n",
        link->mass, inertia[0], inertia[1], inertia[2]);
    for (int i = index + 1; i < scene->link_count; i++)
        if (scene->links[i].parent == index)
            write_wbt_link(scene, i, out);
    text_add_string(out, link->parent == -1 ? "] }\n" : link->parent == -2 ? "] } } }\n" : "] } }\n");
}

static TalusWorld *load_talus(const BenchScene *scene)
{
    Text out = { 0 };
    text_printf(&out,
                "#VRML_SIM R2025a utf8\nWorldInfo { basicTimeStep %g physicsDisableTime 0 }\n"
                "Solid { name \"floor\" boundingObject Plane { size 50 50 } }\n",
                scene->step_ms);
    write_wbt_link(scene, 0, &out);
    TalusWorld *world = talus_load_text("bench.wbt", out.data, out.length, NULL);
    text_free(&out);
    if (!world || talus_diagnostic_total(world, TALUS_ERROR) > 0) {
        fprintf(stderr, "batch_bench: %s\n", talus_last_error());
        exit(1);
    }
    return world;
}

// ---- a run ----

typedef struct Run {
    const BenchScene *scene;
    int worlds, threads, steps;
    bool is_rollout;
    double *torques;  // of the largest of each motor: a row for each step of an episode of each world
    int motors;
} Run;

// Waves of another phase for each motor and world, as their cost is no part of either engine's.
static void make_torques(Run *run)
{
    run->motors = 0;
    for (int i = 0; i < run->scene->link_count; i++)
        run->motors += run->scene->links[i].torque > 0.0;
    run->torques = memory_alloc_array((size_t)run->worlds * EPISODE * (size_t)run->motors, sizeof *run->torques);
    for (int i = 0; i < run->worlds; i++)
        for (int step = 0; step < EPISODE; step++)
            for (int m = 0; m < run->motors; m++)
                run->torques[(i * EPISODE + step) * run->motors + m] = 0.3 * sin(0.05 * step + 1.7 * m + 0.9 * i);
}

static double *torques_at(const Run *run, int world, int step)
{
    return run->torques + (ptrdiff_t)(world * EPISODE + step) * run->motors;
}

// The fastest slice of a run. Slices are of 20 000 steps of one world, and of a whole episode of all worlds at least.
typedef struct Slices {
    int steps;  // of each
    double began, least;
} Slices;

static Slices slices_begin(int worlds)
{
    int episodes = 20000 / (worlds * EPISODE);
    return (Slices){ EPISODE * (episodes < 1 ? 1 : episodes), now(), INFINITY };
}

// After so many steps, and after the reset that may follow them.
static void slices_look(Slices *slices, int steps)
{
    if (steps % slices->steps != 0)
        return;
    double time = now();
    slices->least = fmin(slices->least, time - slices->began);
    slices->began = time;
}

static double slices_rate(const Slices *slices, int worlds) { return (double)worlds * slices->steps / slices->least; }

typedef struct Measured {
    double rate;      // steps of all worlds together, per second
    double memory;    // bytes of a world
    double contacts;  // points of a world after a step, when they are counted
} Measured;

static bool counts_contacts;

// ---- Talus ----

static int talus_points(TalusBatch *batch, int worlds)
{
    int sum = 0;
    for (int i = 0; counts_contacts && i < worlds; i++)
        sum += talus_contacts(talus_batch_world(batch, i), NULL, 0);
    return sum;
}

static TalusBatch *open_batch(const Run *run, TalusWorld *world)
{
    static const char *const actions[] = { "motor_force *" }, *const observations[] = { "joint_position *",
                                                                                        "joint_velocity *" };
    TalusBatch *batch = talus_batch_create(world, run->worlds, run->threads);
    if (!batch || !talus_batch_set_actions(batch, actions, 1)
        || !talus_batch_set_observations(batch, observations, 2)) {
        fprintf(stderr, "batch_bench: %s\n", talus_last_error());
        exit(1);
    }
    return batch;
}

// Talus wants newton metres, MuJoCo what it multiplies with its gear.
static void scale_torques(const Run *run, const TalusBatch *batch)
{
    for (int m = 0; m < run->motors; m++) {
        TalusChannel channel;
        talus_view_channel(talus_batch_action_view(batch), m, &channel);
        for (int row = 0; row < run->worlds * EPISODE; row++)
            run->torques[row * run->motors + m] *= channel.high;
    }
}

// One step of all worlds, or an episode of each, from step `from` of it on.
static void advance_talus(const Run *run, TalusBatch *batch, double *seen, int from)
{
    if (run->is_rollout) {
        TalusRollout rollout = talus_rollout_defaults();
        rollout.steps = EPISODE;
        rollout.actions = run->torques;
        rollout.observations = seen;
        talus_batch_rollout(batch, &rollout);
        return;
    }
    double *const block = talus_batch_actions(batch);
    for (int i = 0; i < run->worlds; i++)
        memcpy(block + i * run->motors, torques_at(run, i, from), sizeof *block * (size_t)run->motors);
    talus_batch_step(batch);
}

static Measured run_talus(Run run)
{
    TalusWorld *world = load_talus(run.scene);
    struct mallinfo2 before = mallinfo2();
    TalusBatch *batch = open_batch(&run, world);
    make_torques(&run);
    assert(run.motors == talus_view_count(talus_batch_action_view(batch)));
    scale_torques(&run, batch);
    int columns = talus_view_count(talus_batch_observation_view(batch)), at_once = run.is_rollout ? EPISODE : 1;
    double points = 0.0, *seen = memory_alloc_array((size_t)run.worlds * (size_t)(columns * at_once), sizeof *seen);
    Slices slices = { 0 };
    for (int step = -EPISODE; step < run.steps; step += at_once) {
        if (step == 0)
            slices = slices_begin(run.worlds);
        advance_talus(&run, batch, seen, (step + EPISODE) % EPISODE);
        points += step >= 0 ? talus_points(batch, run.worlds) : 0;
        if ((step + at_once) % EPISODE == 0)
            talus_batch_reset(batch, NULL, NULL);
        if (step >= 0)
            slices_look(&slices, step + at_once);
    }
    free(seen);
    free(run.torques);
    Measured measured = { slices_rate(&slices, run.worlds), 0.0, points / run.worlds / run.steps };
    struct mallinfo2 after = mallinfo2();
    measured.memory = (double)(after.uordblks + after.hblkhd - before.uordblks - before.hblkhd) / run.worlds;
    talus_batch_free(batch);
    talus_free(world);
    return measured;
}

// ---- MuJoCo ----

#ifdef TALUS_BENCH_MUJOCO
static void write_mjcf_link(const BenchScene *scene, int index, FILE *out)
{
    const Link *link = &scene->links[index];
    const Link *parent = link->parent >= 0 ? &scene->links[link->parent] : NULL;
    double inertia[3];
    inertia_of(link, inertia);
    fprintf(out, "<body name='l%d' pos='%g %g %g'>", index, link->x - (parent ? parent->x : 0),
            link->y - (parent ? parent->y : 0), link->z - (parent ? parent->z : 0));
    fprintf(out, "<inertial pos='0 0 0' mass='%g' diaginertia='%.9g %.9g %.9g'/>", link->mass, inertia[0], inertia[1],
            inertia[2]);
    if (link->parent == -1)
        fprintf(out, "<freejoint/>");
    else if (link->parent == -2)
        fprintf(out, "<joint name='j%d' type='slide' axis='1 0 0'/>", index);
    else
        fprintf(out, "<joint name='j%d' type='hinge' axis='%s' pos='%g %g %g'/>", index, axes[link->axis],
                link->ax - link->x, link->ay - link->y, link->az - link->z);
    if (link->radius > 0.0)
        fprintf(out, "<geom type='capsule' size='%g %g' contype='1' conaffinity='0'/>", link->radius,
                0.5 * link->length);
    for (int i = index + 1; i < scene->link_count; i++)
        if (scene->links[i].parent == index)
            write_mjcf_link(scene, i, out);
    fprintf(out, "</body>\n");
}

static mjModel *load_mujoco(const BenchScene *scene)
{
    char path[] = "/tmp/talus-batch-bench-XXXXXX", error[1000] = "";
    int file = mkstemp(path);
    FILE *out = file >= 0 ? fdopen(file, "w") : NULL;
    if (!out)
        exit(1);
    fprintf(out,
            "<mujoco><option timestep='%g'/><size nconmax='%d' njmax='%d'/><worldbody>"
            "<geom type='plane' size='50 50 1' contype='0' conaffinity='1'/>\n",
            0.001 * scene->step_ms, 2 * scene->link_count + 2, 8 * scene->link_count + 8);
    write_mjcf_link(scene, 0, out);
    fprintf(out, "</worldbody><actuator>");
    for (int i = 0; i < scene->link_count; i++)
        if (scene->links[i].torque > 0.0)
            fprintf(out, "<motor joint='j%d' gear='%g'/>", i, scene->links[i].torque);
    fprintf(out, "</actuator></mujoco>\n");
    fclose(out);
    mjModel *model = mj_loadXML(path, NULL, error, sizeof error);
    remove(path);
    if (!model) {
        fprintf(stderr, "batch_bench: MuJoCo: %s\n", error);
        exit(1);
    }
    return model;
}

typedef struct MujocoWork {
    const Run *run;
    const mjModel *model;
    mjData **data;
    double *seen, *points;  // a row and a sum for each world
    int from, steps;        // of the episode
} MujocoWork;

static void step_mujoco(int begin, int end, int worker, void *context)
{
    (void)worker;
    const MujocoWork *work = context;
    const mjModel *model = work->model;
    const int columns = model->nq + model->nv;
    for (int i = begin; i < end; i++)
        for (int step = work->from; step < work->from + work->steps; step++) {
            mjData *data = work->data[i];
            memcpy(data->ctrl, torques_at(work->run, i, step), sizeof *data->ctrl * (size_t)model->nu);
            mj_step(model, data);
            double *row = work->seen + (ptrdiff_t)(i * work->steps + step - work->from) * columns;
            memcpy(row, data->qpos, sizeof *row * (size_t)model->nq);
            memcpy(row + model->nq, data->qvel, sizeof *row * (size_t)model->nv);
            if (counts_contacts)
                work->points[i] += data->ncon;
            if (step + 1 == EPISODE)
                mj_resetData(model, data);
        }
}

static Measured run_mujoco(Run run)
{
    mjModel *model = load_mujoco(run.scene);
    make_torques(&run);
    const int at_once = run.is_rollout ? EPISODE : 1, pieces = 8 * run.threads;  // as in a batch of Talus
    const int grain = run.is_rollout || run.worlds < pieces ? 1 : run.worlds / pieces > 16 ? 16 : run.worlds / pieces;
    MujocoWork work = { .run = &run, .model = model, .steps = at_once };
    work.data = memory_alloc_array((size_t)run.worlds, sizeof *work.data);
    work.points = memory_alloc_array((size_t)run.worlds, sizeof *work.points);
    work.seen = memory_alloc_array((size_t)run.worlds * (size_t)(at_once * (model->nq + model->nv)), sizeof *work.seen);
    for (int i = 0; i < run.worlds; i++)
        work.data[i] = mj_makeData(model);
    Pool *pool = run.threads > 1 ? pool_create(run.threads) : NULL;
    Slices slices = { 0 };
    for (int step = -EPISODE; step < run.steps; step += at_once) {
        if (step == 0)
            slices = slices_begin(run.worlds);
        work.from = (step + EPISODE) % EPISODE;
        pool_for(pool, run.worlds, grain, step_mujoco, &work);
        if (step >= 0)
            slices_look(&slices, step + at_once);
    }
    pool_destroy(pool);
    double points = 0.0;
    for (int i = 0; i < run.worlds; i++) {
        points += work.points[i];
        mj_deleteData(work.data[i]);
    }
    mj_deleteModel(model);
    free(work.data);
    free(work.points);
    free(work.seen);
    free(run.torques);
    return (Measured){ slices_rate(&slices, run.worlds), 0.0, points / run.worlds / (run.steps + EPISODE) };
}
#else
static Measured run_mujoco(Run run)
{
    (void)run;
    return (Measured){ NAN, NAN, NAN };
}
#endif

// ---- the table ----

// A number of the table; what was not measured is left empty.
static void print_cell(double value, int digits)
{
    if (isfinite(value) && value > 0.0)
        printf(" %.*f |", digits, value);
    else
        printf(" |");
}

enum { MAX_ROUNDS = 99, MAX_THREADS = 2 };

// Of one batch, by the number of threads less one.
typedef struct Row {
    double talus[MAX_THREADS], mujoco[MAX_THREADS];              // best rates
    double ratios[MAX_THREADS][MAX_ROUNDS], gained[MAX_ROUNDS];  // Talus by MuJoCo; two threads by one
    double memory;
} Row;

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(double *numbers, int count)
{
    qsort(numbers, (size_t)count, sizeof *numbers, compare_numbers);
    return 0.5 * (numbers[(count - 1) / 2] + numbers[count / 2]);
}

static void print_row(const char *name, int worlds, Row *row, int rounds)
{
    bool has_two = worlds > 1;
    printf("| %s | %d |", name, worlds);
    print_cell(row->talus[0], 0);
    print_cell(row->talus[1], 0);
    print_cell(has_two ? median_of(row->gained, rounds) : NAN, 2);
    print_cell(row->mujoco[0], 0);
    print_cell(row->mujoco[1], 0);
    print_cell(median_of(row->ratios[0], rounds), 2);
    print_cell(has_two ? median_of(row->ratios[1], rounds) : NAN, 2);
    print_cell(row->memory / 1024.0, 0);
    printf("\n");
    fflush(stdout);
}

static void measure(const BenchScene *scene, int worlds, bool is_rollout, int rounds)
{
    int budget = scene->link_count > 4 ? 30000 : 200000, episodes = budget / worlds / EPISODE,
        steps = EPISODE * (episodes < 1 ? 1 : episodes);
    Row row = { 0 };
    for (int round = 0; round < rounds; round++)
        for (int t = 0; t < MAX_THREADS && t < worlds; t++) {
            Run run = { .scene = scene, .worlds = worlds, .threads = t + 1, .steps = steps, .is_rollout = is_rollout };
            Measured ours = run_talus(run), theirs = run_mujoco(run);
            row.talus[t] = fmax(row.talus[t], ours.rate);
            row.mujoco[t] = fmax(row.mujoco[t], theirs.rate);
            row.ratios[t][round] = ours.rate / theirs.rate;
            row.gained[round] = t == 0 ? 1.0 / ours.rate : row.gained[round] * ours.rate;
            row.memory = ours.memory;
        }
    print_row(scene->name, worlds, &row, rounds);
}

static int run_alone(int argc, char **argv)
{
    Run run = { .worlds = atoi(argv[3]), .steps = atoi(argv[4]), .threads = argc > 5 ? atoi(argv[5]) : 1 };
    run.is_rollout = argc > 6 && !strcmp(argv[6], "rollout");
    bench_clock = run.threads > 1 ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID;
    for (int s = 0; s < (int)(sizeof scenes / sizeof *scenes); s++) {
        if (strcmp(scenes[s].name, argv[2]))
            continue;
        run.scene = &scenes[s];
        Measured measured = strcmp(argv[1], "mujoco") ? run_talus(run) : run_mujoco(run);
        printf("%.0f steps/s, %.0f kB a world\n", measured.rate, measured.memory / 1024.0);
        return 0;
    }
    fprintf(stderr, "batch_bench: there is no scene '%s'\n", argv[2]);
    return 2;
}

static void print_contacts(const BenchScene *scene)
{
    Run run = { .scene = scene, .worlds = 32, .threads = 1, .steps = EPISODE };
    double ours = run_talus(run).contacts, theirs = run_mujoco(run).contacts;
    printf("%s: %.1f points of contact in a step", scene->name, ours);
    if (isfinite(theirs))
        printf(", MuJoCo %.1f\n", theirs);
    else
        printf("; there is no MuJoCo here\n");
}

static void print_table(bool is_rollout, int rounds, int largest)
{
    static const int sizes[] = { 1, 64, 1024, 4096 };
    printf(
        "%s:\n\n"
        "| world | worlds | Talus, 1 thread | 2 threads | two do | MuJoCo, 1 thread | 2 threads | ratio, 1 thread | 2 threads | kB per world |\n"
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
        is_rollout ? "Rollouts of whole episodes" : "All worlds together, step by step");
    for (int s = 0; s < (int)(sizeof scenes / sizeof *scenes); s++)
        for (int i = 0; i < 4; i++)
            if (sizes[i] <= largest)
                measure(&scenes[s], sizes[i], is_rollout, sizes[i] > 1024 ? 1 : rounds);
    printf("\n");
}

int main(int argc, char **argv)
{
    if (argc >= 5)
        return run_alone(argc, argv);
    int rounds = argc > 1 ? atoi(argv[1]) : 5, largest = argc > 2 ? atoi(argv[2]) : 4096;
    rounds = rounds < 1 ? 1 : rounds > MAX_ROUNDS ? MAX_ROUNDS : rounds;
    print_table(false, rounds, largest);
    print_table(true, rounds, largest);
    counts_contacts = true;
    for (int s = 0; s < (int)(sizeof scenes / sizeof *scenes); s++)
        print_contacts(&scenes[s]);
    return 0;
}
