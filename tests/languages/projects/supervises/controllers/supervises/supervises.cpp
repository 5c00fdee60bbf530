// A supervisor adds a ball, lets it fall and reads where it is; its Makefile says WEBOTS_HOME itself.
#include <webots/Field.hpp>
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
  supervisor->simulationQuit(EXIT_SUCCESS);
  supervisor->step(32);
  delete supervisor;
}
