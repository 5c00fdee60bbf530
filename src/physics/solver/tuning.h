// tuning.h - the numbers of this room that somebody chose, each with its unit, why it is so, and the test that fails or
// shows it when it is far off. docs/solver.md takes its table from here (tests/tuning_test.sh). Grains of loops and
// sizes of arrays stand where they are used.
#ifndef TALUS_PHYSICS_SOLVER_TUNING_H
#define TALUS_PHYSICS_SOLVER_TUNING_H

// rows: a loose island with more is iterated: pivoting them would take longer. physics.solver_core
#define MAX_DIRECT_ROWS 48
// rows: an iterated island below this is exact again; the gap keeps a pile from changing its method every step.
// physics.solver_core
#define MIN_ITERATED_ROWS 30
// bodies: so few are exact up to the rows of jointed islands: a table on its many feet. physics.contact
#define FEW_BODIES 2
// bodies: as many like bodies are iterated like a large pile, whatever their rows. physics.rest
#define PILE_BODIES 4
// bodies: as many are iterated while they lie still: the last impulses are the answer then. physics.rest
#define REST_BODIES 2
// m/s: what moves faster does not lie still; less than gravity gives in a step of 8 ms. physics.rest
#define REST_SPEED 0.05
// rad/s: the same for turning, at the corner of a box of 0.2 m. physics.rest
#define REST_TURN 0.5
// 1: largest ratio of masses in a small pile: few iterations carry no more. physics.rest
#define LIKE_MASSES 4.0
// rows: contacts of a jointed island with more are iterated (direct joints, PGS contacts). physics.solver_large
#define MAX_PIVOT_ROWS 120
// rows: and pivoted again below this. physics.solver_large
#define MIN_SWEEP_ROWS 90
// rows: a dense problem that was too large is one again below this. physics.solver_large
#define DENSE_AGAIN_ROWS 480
// bodies: of a wider tree the responses of more rows than a dense problem has would fill the memory.
// physics.solver_large
#define MAX_SWEPT_TREE 150
// bundles: islands go to threads in bundles of about equal work; more cost more than they even out.
// physics.solver_threads
#define BUNDLES_PER_THREAD 48
// rows: of the largest dense problem: its factor takes 3 MB and some 12 ms. physics.solver_large
#define MAX_DENSE_ROWS 600
// 1: softness (CFM over dt) by what the bodies give way themselves: below it a contact is hard and shows what
// iterations leave. physics.rest
#define HARD_SHARE 0.05
// iterations: before it is first looked whether a velocity still changes. physics.rest
#define CHECK_FIRST 4
// iterations: between the looks after that. physics.rest
#define CHECK_EVERY 2
// 1: of the speed that gravity gives in a step: less change in an iteration is none. At 1.6e-3 light towers sway.
// physics.rest
#define CONVERGED 4e-4f
// radii of gyration: from the centre to the rim, where a turn counts: the corner of a cube. physics.rest
#define RIM_RADII 2.0f
// 1: of that change, for islands of fewer than PILE_BODIES: those that move are exact, and it must not show which are.
// plugins.reach
#define FEW_CONVERGED 0.25f
// iterations: of a large pile at 8 ms: its p95 penetration stays below half that of the peers. physics.solver_large
#define MIN_ITERATIONS 10
// s: up to which those are enough; longer steps get more in proportion. physics.rest
#define ITERATED_STEP 0.008
// iterations: however long the step. physics.rest
#define MAX_ITERATIONS 100
// manifolds: up to which iterations cost little beside the rest of a step. physics.rest
#define FEW_MANIFOLDS 400
// iterations: for so few: tall stacks sway less. physics.rest
#define FEW_ITERATIONS 30
// iterations: when plain rows take part: they converge slower. physics.solver_large
#define ROW_ITERATIONS 40
// 1: of a joint row's last impulse that it starts from: the whole of what few iterations found would swing up.
// physics.solver_large
#define JOINT_WARM_SHARE 0.8f
// rounds: that any dense problem gets. physics.solver_core
#define MIN_PIVOT_ROUNDS 60
// rounds: that a small one may take. physics.solver_core
#define MAX_PIVOT_ROUNDS 2000
// numbers: that the rounds of a problem may touch beyond the least: some 0.1 s. physics.solver_large
#define MAX_PIVOT_WORK 3e8
// rounds: that rows in the tree may take to find their states; then the dense problem is as cheap. physics.solver_core
#define MAX_SOFT_ROUNDS 3
// nodes: of a tree by rows with bounds: with fewer rows the dense problem costs less than solving the tree twice.
// physics.solver_core
#define MAX_NODES_PER_SPRING 4
// 1: softness of a row that is a spring in the tree, by what its body gives way: the rest of the digits is lost in its
// impulse. physics.solver_ode
#define MIN_SPRING_SHARE 1e-5
// sweeps: of PGS for a problem that pivoting did not end. physics.solver_core
#define FALLBACK_SWEEPS 200
// 1: of bounds and velocities, relative to the largest: less is rounding. physics.solver_ode
#define PIVOT_SLACK 1e-10
// sweeps: over the contacts of a jointed island. physics.rest
#define MAX_SWEEPS 80
// numbers: that all sweeps of an island may touch: crowds that start inside each other get fewer.
// physics.solver_large
#define MAX_SWEEP_WORK 8000000
// sweeps: however large the crowd. physics.solver_large
#define MIN_SWEEPS 8
// 1: change of velocity in a sweep that ends it, relative to the largest that is asked for. physics.rest
#define SWEEP_CONVERGED 1e-5
// steps: that a motor which reached its limit stays a bounded row: a gripper does not solve every step twice.
// physics.solver_acts
#define MOTOR_DENSE_STEPS 20
// solves: of one step with more and more motors as bounded rows. physics.solver_acts
#define MAX_RESTARTS 4
// rows: of a swept island from which on no motor is tried as an equation: solving again would take long.
// physics.solver_large
#define CROWD_ROWS 4000
// m: that a point of contact may travel in a step and still be the same one of the warm start. physics.rest
#define MATCH_DISTANCE 0.03f
// m: a point at the same place of its pair's list that travelled less is taken without looking at the others.
// physics.rest
#define SAME_POINT_DISTANCE 1e-3f
// points: that hold a body up which lies on a face. physics.rest
#define FACE_POINTS 4
// 1: of a face in PGS, by what the bodies give way themselves: harder stacks swing up. physics.rest
#define MIN_SOFTNESS 0.03
// 1: the same where contacts are swept: these iterations are more than twice as many. physics.rest
#define MIN_SWEPT_SOFTNESS 0.012
// 1: of a radius of gyration: how much deeper a body may lie for that. physics.rest
#define MAX_DEEPER_SHARE 0.02

#endif
