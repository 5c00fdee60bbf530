// fittings.h - connectors, vacuum grippers, touch sensors and pinned robots: what devices and programs ask of them and
// tell them. Named by their solid.
#ifndef TALUS_PHYSICS_MACHINE_H
#define TALUS_PHYSICS_MACHINE_H

#include "physics/physics.h"

// Connectors. `solid` is that of a Connector node (asserted).
bool physics_connector_is_locked(const Physics *physics, int solid);
int physics_connector_presence(Physics *physics, int solid);    // -1 passive, 1 a fitting peer is there or held, 0 none
int physics_connector_peer(const Physics *physics, int solid);  // solid it is attached to, -1
void physics_connector_lock(Physics *physics, int solid);
void physics_connector_unlock(Physics *physics, int solid);

// Vacuum grippers, and the holders of bodies, which look once for something to hold when they are turned on. `solid` is
// that of a VacuumGripper or Holder node.
bool physics_gripper_is_on(const Physics *physics, int solid);
int physics_gripper_held(const Physics *physics, int solid);  // solid it holds, -1
void physics_gripper_turn(Physics *physics, int solid, bool on);

// Devices of bodies that are on or off and do no more: Conveyor, Attachment, Marker.
bool physics_solid_has_switch(const SceneNode *node);
bool physics_switch_is_on(const Physics *physics, int solid);
void physics_switch_turn(Physics *physics, int solid, bool on);

// A robot that is pinned stays where it is in the world, whatever acts on it; its limbs move. Moved by hand it is
// pinned at the new place. Nothing happens to a robot without a body: it stays by itself.
void physics_robot_pin(Physics *physics, int solid, bool on);
bool physics_robot_is_pinned(const Physics *physics, int solid);

// Touch sensors. Force on the sensor's mount in the last step, sensor frame; zero without physics. `solid` is that of a
// TouchSensor node.
Vec3 physics_touch_force(const Physics *physics, int solid);
bool physics_touch_is_touching(const Physics *physics, int solid);  // any contact of its shapes in the last pass

#endif
