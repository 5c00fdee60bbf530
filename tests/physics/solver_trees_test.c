// Trees of bare hinges and sliders solved without rows beside the same trees with rows: the same bits after every step,
// for both instruction sets. Half of the trees lie in a plane, with axes and places along those of the world, so that
// many numbers are exactly zero and signs of zeros count.
#include "support/support.h"

#include "base/random.h"
#include "physics/joints/constraint.h"

#include <math.h>
#include <string.h>

enum { MAX_BODIES = 7, STEPS = 12 };

typedef struct Trees {
    int body_count, joint_count;
    SolverBody bodies[MAX_BODIES];
    SolverMass masses[MAX_BODIES];
    Constraint joints[MAX_BODIES];
    double dt;
    ConstraintStep step;
} Trees;

static double between(Random *random, double low, double high) { return low + (high - low) * random_uniform(random); }

static Vec3 direction(Random *random, bool is_plain)
{
    if (is_plain) {
        Vec3 axes[6] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 }, { -1, 0, 0 }, { 0, -1, 0 }, { 0, 0, -1 } };
        return axes[(int)(random_uniform(random) * 6.0)];
    }
    for (;;) {
        Vec3 v = vec3(between(random, -1, 1), between(random, -1, 1), between(random, -1, 1));
        if (vec3_length(v) > 0.3)
            return vec3_normalized(v);
    }
}

static void make_body(Trees *trees, int index, Random *random, bool is_plain)
{
    SolverBody *body = &trees->bodies[index];
    Vec3 at = vec3_scale(direction(random, is_plain), between(random, 0.1, 2.0));
    Quat q = is_plain ? QUAT_IDENTITY : quat_from_axis_angle(direction(random, false), between(random, -3, 3));
    *body = (SolverBody){ .position = { at.x, at.y, at.z },
                          .quaternion = { q.w, q.x, q.y, q.z },
                          .flags = SOLVER_BODY_GRAVITY | SOLVER_BODY_GYROSCOPIC | SOLVER_BODY_MAX_ANGULAR_SPEED };
    solver_body_refresh(body);
    for (int i = 0; i < 6 && !is_plain; i++)
        body->velocity[i] = between(random, -1, 1);
    double x = between(random, 0.01, 1), y = between(random, 0.01, 1);
    trees->masses[index] = (SolverMass){ .mass = between(random, 0.01, 10),
                                         .inertia = { { x, 0, 0, 0, y, 0, 0, 0, x + y } } };
}

// Each body hangs on an earlier one, on the world, or on nothing; as parent or as child.
static void make_joint(Trees *trees, int child, Random *random, bool is_plain)
{
    int parent = (int)(random_uniform(random) * (child + 2)) - 2;
    if (parent == -2)
        return;
    bool is_turned = random_uniform(random) < 0.3;
    int sides[2] = { is_turned ? child : parent, is_turned ? parent : child };
    ConstraintKind kind = random_uniform(random) < 0.5 ? CONSTRAINT_HINGE : CONSTRAINT_SLIDER;
    ConstraintPlace place = { .anchor = vec3_scale(direction(random, is_plain), 0.7),
                              .axis = direction(random, is_plain) };
    for (int i = 0; i < 2; i++) {
        const SolverBody *body = sides[i] >= 0 ? &trees->bodies[sides[i]] : NULL;
        const double *p = body ? body->position : NULL, *q = body ? body->quaternion : NULL;
        place.side[i] = body ? (Pose){ vec3(p[0], p[1], p[2]), { q[0], q[1], q[2], q[3] } } : POSE_IDENTITY;
    }
    Constraint *joint = &trees->joints[trees->joint_count++];
    constraint_init(joint, kind, sides[0], sides[1], 1);
    constraint_place(joint, &place);
}

static Trees make_trees(Random *random, bool is_plain)
{
    static const double steps_ms[] = { 1, 2, 4, 8, 10, 16, 32, 49, 7.3 };
    Trees trees = { .body_count = 1 + (int)(random_uniform(random) * MAX_BODIES) };
    trees.dt = 0.001 * steps_ms[(int)(random_uniform(random) * COUNT_OF(steps_ms))];
    trees.step = (ConstraintStep){ 1.0 / trees.dt, 0.2, random_uniform(random) < 0.2 ? 0.0 : 1e-5 };
    for (int i = 0; i < trees.body_count; i++)
        make_body(&trees, i, random, is_plain);
    for (int i = 0; i < trees.body_count; i++)
        make_joint(&trees, i, random, is_plain);
    return trees;
}

static void push(Trees *trees, const double forces[MAX_BODIES][6])
{
    for (int i = 0; i < trees->body_count; i++)
        memcpy(trees->bodies[i].force, forces[i], sizeof trees->bodies[i].force);
}

static void step_with_rows(Trees *trees, Solver *solver, bool is_portable)
{
    SolverJoint joints[MAX_BODIES];
    SolverRow rows[MAX_BODIES * CONSTRAINT_ROWS_MAX];
    int32_t awake[MAX_BODIES];
    for (int i = 0; i < trees->body_count; i++)
        awake[i] = i;
    for (int i = 0; i < trees->joint_count; i++) {
        const Constraint *joint = &trees->joints[i];
        int first = i * CONSTRAINT_ROWS_MAX;
        ConstraintRows rows_of = is_portable ? constraint_rows_portable : constraint_rows_best();
        joints[i] = (SolverJoint){ joint->solved[0], joint->solved[1], first,
                                   rows_of(joint, &trees->step, trees->bodies, &rows[first]) };
    }
    solver_step(solver, &(SolverInput){ .dt = trees->dt,
                                        .gravity = { 0, 0, -9.81 },
                                        .erp = trees->step.erp,
                                        .cfm = trees->step.cfm,
                                        .bodies = trees->bodies,
                                        .masses = trees->masses,
                                        .joints = joints,
                                        .rows = rows,
                                        .body_count = trees->body_count,
                                        .joint_count = trees->joint_count,
                                        .row_count = MAX_BODIES * CONSTRAINT_ROWS_MAX,
                                        .awake = awake,
                                        .awake_count = trees->body_count });
}

static void step_in_short(Trees *trees, Solver *solver, bool is_portable)
{
    SolverHold holds[MAX_BODIES];
    const SolverJoint *known = solver_tree_joints(solver, trees->body_count, trees->joint_count);
    CHECK(known || trees->joint_count == 0, "the solver knows its trees");
    for (int i = 0; i < trees->joint_count; i++) {
        const Constraint *joint = &trees->joints[i];
        ConstraintHold hold_of = is_portable ? constraint_hold_portable : constraint_hold_best();
        CHECK(known[i].body1 == joint->solved[0] && known[i].body2 == joint->solved[1], "with their bodies");
        CHECK(hold_of(joint, &trees->step, trees->bodies, &holds[i]), "a bare joint");
    }
    solver_trees_step(solver, &(SolverTrees){ .dt = trees->dt,
                                              .gravity = { 0, 0, -9.81 },
                                              .bodies = trees->bodies,
                                              .masses = trees->masses,
                                              .holds = holds });
}

static void random_forces(double forces[MAX_BODIES][6], Random *random, bool is_plain)
{
    memset(forces, 0, MAX_BODIES * sizeof forces[0]);
    for (int i = 0; i < MAX_BODIES; i++)
        for (int k = 0; k < 6; k++)
            if (!is_plain || k == 0)
                forces[i][k] = between(random, -5, 5);
}

static void trees_have_the_same_bits(void **state)
{
    (void)state;
    Random random;
    random_seed(&random, 20, "trees");
    for (int round = 0; round < support_trials(4000); round++) {
        const bool is_plain = round % 2, is_portable = round % 4 >= 2;
        Trees rows = make_trees(&random, is_plain), held = rows;
        Solver *solvers[2] = { solver_create(&(SolverOptions){ .portable = is_portable }),
                               solver_create(&(SolverOptions){ .portable = is_portable }) };
        double forces[MAX_BODIES][6];
        for (int step = 0; step < STEPS; step++) {
            random_forces(forces, &random, is_plain);
            push(&rows, forces);
            push(&held, forces);
            step_with_rows(&rows, solvers[0], is_portable);
            if (step == 0)
                step_with_rows(&held, solvers[1], is_portable);  // which finds the trees
            else
                step_in_short(&held, solvers[1], is_portable);
            if (memcmp(rows.bodies, held.bodies, sizeof rows.bodies) != 0) {
                CHECK(false, "the same bits with rows and in short");
                break;
            }
        }
        solver_destroy(solvers[0]);
        solver_destroy(solvers[1]);
    }
}

// What is not bare has no short form: a motor, a stop that was reached, another kind.
static void others_have_rows(void **state)
{
    (void)state;
    Random random;
    random_seed(&random, 21, "others");
    Trees trees = { .body_count = 1, .step = { 100.0, 0.2, 1e-5 } };
    SolverHold hold;
    make_body(&trees, 0, &random, true);
    for (int kind = 0; kind < 3; kind++) {
        static const ConstraintKind kinds[] = { CONSTRAINT_HINGE, CONSTRAINT_SLIDER, CONSTRAINT_BALL };
        Constraint *joint = &trees.joints[0];
        ConstraintPlace place = { .side = { POSE_IDENTITY, POSE_IDENTITY }, .axis = vec3(1, 0, 0) };
        constraint_init(joint, kinds[kind], -1, 0, 1);
        constraint_place(joint, &place);
        CHECK(constraint_hold_best()(joint, &trees.step, trees.bodies, &hold) == (kind < 2), "bare");
        joint->axes[0].max_force = 1.0;
        CHECK(!constraint_hold_best()(joint, &trees.step, trees.bodies, &hold), "with a motor");
        joint->axes[0].max_force = 0.0;
        joint->axes[0].low = joint->axes[0].high = 0.0;
        CHECK(!constraint_hold_best()(joint, &trees.step, trees.bodies, &hold), "at a stop");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(trees_have_the_same_bits),
                                        cmocka_unit_test(others_have_rows) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
