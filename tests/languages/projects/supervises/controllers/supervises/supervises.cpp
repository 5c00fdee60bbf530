// A supervisor adds a ball, lets it fall and reads where it is; adds a GPS to itself and a namesake of it, and uses both at once; its Makefile says WEBOTS_HOME itself.
#include <webots/Field.hpp>
#include <webots/GPS.hpp>
#include <webots/Node.hpp>
#include <webots/Supervisor.hpp>

using namespace webots;

int main() {
  Supervisor *supervisor = new Supervisor;
  Field *children = supervisor->getRoot()->getField("children");
  children->importMFNodeFromString(-1, "DEF BALL Solid { translation 0 3 2 boundingObject Sphere { radius 0.1 } physics Physics { } }");
  supervisor->step(32);
  Node *ball = supervisor->getFromDef("BALL");
  for (int i = 0; i < 9; i++)
    supervisor->step(32);
  const double *position = ball->getPosition(), *velocity = ball->getVelocity();
  std::cout << "RESULT " << ball->getTypeName() << " " << (position[2] < 1.9) << " " << (velocity[2] < -2) << " "
            << (supervisor->getSelf() == supervisor->getFromDef("ARM")) << " " << (ball->getField("none") == NULL) << std::endl;
  Field *own = supervisor->getSelf()->getField("children");
  own->importMFNodeFromString(-1, "GPS { name \"late\" }");
  own->importMFNodeFromString(-1, "GPS { name \"late\" translation 0 0 7 }");
  int count = supervisor->getNumberOfDevices();
  GPS *first = supervisor->getGPS("late");
  GPS *second = dynamic_cast<GPS *>(Robot::getDeviceFromTag(Robot::getDeviceTagFromIndex(count - 1)));
  first->enable(32);
  second->enable(32);
  supervisor->step(32);
  std::cout << "RESULT " << first->getValues()[2] << " " << second->getValues()[2] << std::endl;
  supervisor->simulationQuit(EXIT_SUCCESS);
  supervisor->step(32);
  delete supervisor;
}
