// tuning.h - the numbers of this room that somebody chose, each with its unit, why it is so, and the test that fails or
// shows it when it is far off. docs/solver.md takes its table from here (tests/tuning_test.sh). Grains of loops and
// sizes of arrays stand where they are used.
#ifndef TALUS_PHYSICS_JOINTS_TUNING_H
#define TALUS_PHYSICS_JOINTS_TUNING_H

// rad: beyond this a hinge's own stop could be passed between two steps, and an angular motor with the unwrapped
// angle keeps it. physics.joint
#define STOP_WRAP 3.0
// rad or m: a joint that is this close to its stop stands at it. Who puts it there by hand means the stop, and the last
// bit of an angle must not decide whether it is held. control.behaviours
#define STOP_TOUCH 1e-9
// rad: more than a hinge's quick angle is ever off (0.0076): one that is farther than this from both its stops is at
// neither, whatever the exact one is. physics.constraint
#define ANGLE_ROUGH 0.01
// N or N m: a motor with more is itself a stop: no number holds its force beside a stop's. physics.joint
#define UNLIMITED_FORCE 1e20
// rad: that a body may have turned when an angle which nobody asked for is read all the same: two bodies are then a
// quarter turn apart, and it is told from the one that was read last up to half a turn. physics.joint
#define MAX_UNREAD_TURN 0.7
// rad or m: a motor without physics that is this close has arrived. physics.move
#define KINEMATIC_TOLERANCE 1e-6
// m: and of quaternions: what passing through a file changes is far less. sim.body_formula
#define SAME_KEPT_PLACE 1e-9

#endif
