// tuning.h - the numbers of this room that somebody chose, each with its unit, why it is so, and the test that fails or
// shows it when it is far off. docs/solver.md takes its table from here (tests/tuning_test.sh). Grains of loops and
// sizes of arrays stand where they are used.
#ifndef TALUS_PHYSICS_CONTACTS_TUNING_H
#define TALUS_PHYSICS_CONTACTS_TUNING_H

// 1: of half its thickness in a step: what goes farther could pass through something thin, and is looked at along its
// way. physics.sweep
#define FAST_SHARE 0.5
// points: of one pair that there is room for at first where ODE finds them. physics.narrow
#define MIN_ODE_POINTS 128
// points: of one pair that ODE is asked for. physics.narrow
#define MAX_ODE_POINTS 8192
// 1: times Limits.pairs: what the broad phase may find for some of them to be chosen. physics.thin
#define PAIRS_SEARCHED 8
// 1: a body's share of what does not move: the ground may be of many pieces. physics.thin
#define STATIC_SHARES 16
// solids: of one robot with rules about self-collision: its table has one bit a pair. formats.body
#define MAX_RULED_SOLIDS 4000
// m/s: slower surfaces do not slip: the bound of Choreonoid's simulator. sim.body_device
#define STICKING_SPEED 1e-4

#endif
