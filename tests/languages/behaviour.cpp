// behaviour.cpp - the behaviour test in C++; see behaviour.c.
#include "behaviour.h"

#include <webots/Camera.hpp>
#include <webots/Connector.hpp>
#include <webots/Display.hpp>
#include <webots/Emitter.hpp>
#include <webots/Field.hpp>
#include <webots/GPS.hpp>
#include <webots/Joystick.hpp>
#include <webots/Keyboard.hpp>
#include <webots/Lidar.hpp>
#include <webots/Microphone.hpp>
#include <webots/Motor.hpp>
#include <webots/Mouse.hpp>
#include <webots/Node.hpp>
#include <webots/PositionSensor.hpp>
#include <webots/Proto.hpp>
#include <webots/Radar.hpp>
#include <webots/RangeFinder.hpp>
#include <webots/Receiver.hpp>
#include <webots/Servo.hpp>
#include <webots/Skin.hpp>
#include <webots/Speaker.hpp>
#include <webots/Supervisor.hpp>
#include <webots/TouchSensor.hpp>
#include <webots/VacuumGripper.hpp>
#include <webots/utils/Motion.hpp>

#include <cstring>

using namespace webots;

static Supervisor *robot;

static void steps(int count)
{
  for (int i = 0; i < count; i++)
    robot->step(32);
}

static void pictures()
{
  Camera *camera = robot->getCamera("camera");
  camera->enable(32);
  camera->recognitionEnable(32);
  camera->enableRecognitionSegmentation();
  steps(3);
  const int width = camera->getWidth(), height = camera->getHeight();
  const unsigned char *image = camera->getImage();
  SAY("image", sum_of_bytes(image, 4 * width * height));
  SAY("pixel", double(Camera::imageGetRed(image, width, 8, 4)), double(Camera::imageGetGreen(image, width, 8, 4)),
      double(Camera::imageGetBlue(image, width, 8, 4)), double(Camera::imageGetGray(image, width, 8, 4)), double(camera->imageGetGrey(image, width, 8, 4)));
  SAY("segmentation", sum_of_bytes(camera->getRecognitionSegmentationImage(), 4 * width * height));
  const CameraRecognitionObject *seen = camera->getRecognitionObjects();
  SAY("recognised", double(camera->getRecognitionNumberOfObjects()), double(seen->id), double(seen->number_of_colors), double(strlen(seen->model)));
  say_values("recognised position", seen->position, 3);
  say_values("recognised orientation", seen->orientation, 4);
  say_values("recognised size", seen->size, 2);
  say_values("recognised colors", seen->colors, 3 * seen->number_of_colors);
  SAY("recognised on image", double(seen->position_on_image[0]), double(seen->position_on_image[1]), double(seen->size_on_image[0]),
      double(seen->size_on_image[1]));
  camera->disableRecognitionSegmentation();
  camera->recognitionDisable();
  steps(1);
  SAY("recognition off", double(camera->isRecognitionSegmentationEnabled()), double(camera->getRecognitionSamplingPeriod()));
}

static void depths()
{
  Lidar *lidar = robot->getLidar("lidar");
  RangeFinder *finder = robot->getRangeFinder("range_finder");
  Radar *radar = robot->getRadar("radar");
  lidar->enable(32);
  lidar->enablePointCloud();
  finder->enable(32);
  radar->enable(32);
  steps(3);
  SAY("lidar", sum_of_ranges(lidar->getRangeImage(), 64), sum_of_ranges(lidar->getLayerRangeImage(1), 32));
  const LidarPoint *point = lidar->getPointCloud() + 40, *other = lidar->getLayerPointCloud(1) + 8;
  SAY("cloud", point->x, point->y, point->z, double(point->layer_id), point->time);
  SAY("layer cloud", other->x, other->y, other->z, double(other->layer_id), other->time);
  const float *ranges = finder->getRangeImage();
  SAY("range finder", sum_of_ranges(ranges, 32), double(RangeFinder::rangeImageGetDepth(ranges, 8, 3, 2)));
  const RadarTarget *target = radar->getTargets();
  SAY("radar", double(radar->getNumberOfTargets()), target->distance, target->received_power, target->speed, target->azimuth);
  lidar->disablePointCloud();
  lidar->disable();
  finder->disable();
  radar->disable();
  steps(1);
  SAY("depths off", double(lidar->isPointCloudEnabled()), double(lidar->getSamplingPeriod()), double(finder->getSamplingPeriod()),
      double(radar->getSamplingPeriod()));
}

static void drawing()
{
  Display *display = robot->getDisplay("display");
  const int x[] = { 2, 12, 7 }, y[] = { 2, 3, 12 };
  const unsigned char pixels[] = { 255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 9, 9 };
  display->setColor(0x2040ff);
  display->drawPolygon(x, y, 3);
  display->fillPolygon(x, y, 3);
  ImageRef *image = display->imageNew(2, 2, pixels, Display::RGB);
  display->imagePaste(image, 15, 5);
  ImageRef *copy = display->imageCopy(0, 0, 20, 14);
  display->imageSave(copy, "copy.png");
  SAY("saved picture", size_of_file("copy.png"));
  ImageRef *loaded = display->imageLoad("copy.png");
  SAY("loaded picture", double(loaded != NULL));
  display->imageDelete(image);
  display->imageDelete(copy);
  display->attachCamera(robot->getCamera("camera"));
  steps(1);
  display->detachCamera();
}

static void packets()
{
  Emitter *emitter = robot->getEmitter("emitter");
  Receiver *receiver = robot->getReceiver("receiver");
  const double numbers[] = { 1.5, -2.25 };
  const int counts[] = { 3, 4, 500000 };
  const bool flags[] = { true, false, true };
  receiver->enable(32);
  steps(2);
  const int one = emitter->send("hello", 5), two = emitter->send(numbers, sizeof numbers), three = emitter->send(counts, sizeof counts);
  SAY("send", double(one), double(two), double(three), double(emitter->send(flags, sizeof flags)));
  steps(4);
  SAY("queue", double(receiver->getQueueLength()), double(receiver->getDataSize()), receiver->getSignalStrength());
  say_values("direction", receiver->getEmitterDirection(), 3);
  SAY("text", double(static_cast<const char *>(receiver->getData())[1]));
  receiver->nextPacket();
  say_values("doubles", static_cast<const double *>(receiver->getData()), 2);
  receiver->nextPacket();
  const int *back = static_cast<const int *>(receiver->getData());
  SAY("ints", double(back[0]), double(back[1]), double(back[2]));
  receiver->nextPacket();
  const bool *truths = static_cast<const bool *>(receiver->getData());
  SAY("bools", double(truths[0]), double(truths[1]), double(truths[2]));
}

static void actuators()
{
  Motor *motor = robot->getMotor("motor"), *lift = robot->getMotor("lift");
  Servo *servo = robot->getServo("servo");
  PositionSensor *sensor = motor->getPositionSensor(), *height = robot->getPositionSensor("height");
  TouchSensor *touch = robot->getTouchSensor("touch3d");
  sensor->enable(32);
  height->enable(32);
  touch->enable(32);
  motor->enableTorqueFeedback(32);
  motor->setTorque(0.05);
  lift->setAvailableForce(60);
  lift->enableForceFeedback(32);
  lift->setPosition(0.1);
  servo->enablePosition(32);
  servo->enableMotorForceFeedback(32);
  servo->setForce(0.02);
  steps(6);
  SAY("motor", sensor->getValue(), motor->getTorqueFeedback());
  SAY("lift", height->getValue(), lift->getForceFeedback(), lift->getAvailableForce(), lift->getMaxForce(), double(lift->getForceFeedbackSamplingPeriod()));
  SAY("servo", servo->getPosition(), servo->getMotorForceFeedback());
  say_values("touch", touch->getValues(), 3);
  lift->setForce(9.81);
  motor->disableTorqueFeedback();
  lift->disableForceFeedback();
  servo->disablePosition();
  servo->disableMotorForceFeedback();
  motor->disablePosition();
  steps(2);
  SAY("feedback off", double(motor->getTorqueFeedbackSamplingPeriod()), double(lift->getForceFeedbackSamplingPeriod()),
      double(servo->getPositionSamplingPeriod()), height->getValue());
}

static void others()
{
  Connector *connector = robot->getConnector("connector");
  VacuumGripper *gripper = robot->getVacuumGripper("vacuum_gripper");
  Skin *skin = robot->getSkin("skin");
  Speaker *speaker = robot->getSpeaker("speaker");
  Microphone *microphone = robot->getMicrophone("microphone");
  const double turn[] = { 0, 0, 1, 0.5 }, place[] = { 0, 0, 1 };
  connector->enablePresence(32);
  gripper->enablePresence(32);
  steps(1);
  connector->disablePresence();
  gripper->disablePresence();
  SAY("presence off", double(connector->getPresenceSamplingPeriod()), double(gripper->getPresenceSamplingPeriod()));
  skin->setBoneOrientation(0, turn, false);
  skin->setBonePosition(0, place, false);
  say_values("bone orientation", skin->getBoneOrientation(0, false), 4);
  say_values("bone position", skin->getBonePosition(0, false), 3);
  Speaker::playSound(speaker, speaker, "missing.wav", 1.0, 1.0, 0.0, false);
  SAY("speaking", double(speaker->isSpeaking()));
  microphone->enable(32);
  steps(1);
  const unsigned char *heard = static_cast<const unsigned char *>(microphone->getSampleData());
  SAY("microphone", double(microphone->getSampleSize()), heard ? double(heard[0]) : -1.0);
}

static void person()
{
  Keyboard *keyboard = robot->getKeyboard();
  Mouse *mouse = robot->getMouse();
  Joystick *joystick = robot->getJoystick();
  keyboard->enable(32);
  mouse->enable(32);
  mouse->enable3dPosition();
  joystick->enable(32);
  steps(2);
  const MouseState state = mouse->getState();
  const int first = keyboard->getKey();
  SAY("keys", double(first), double(keyboard->getKey()));
  SAY("mouse", double(state.left), double(state.middle), double(state.right), state.u, state.v, state.x, state.y, state.z);
  SAY("joystick", double(joystick->isConnected()), double(joystick->getAxisValue(1)), double(joystick->getPressedButton()));
  SAY("event", double(robot->waitForUserInputEvent(Robot::EVENT_KEYBOARD, 64)));
  keyboard->disable();
  mouse->disable3dPosition();
  mouse->disable();
  joystick->disable();
  robot->keyboardDisable();
  SAY("input off", double(keyboard->getSamplingPeriod()), double(mouse->getSamplingPeriod()), double(mouse->is3dPositionEnabled()),
      double(joystick->getSamplingPeriod()));
}

static void motions()
{
  Motion motion("probe.motion"), none("missing.motion");
  SAY("motions", double(motion.isValid()), double(none.isValid()), double(motion.getDuration()));
  motion.play();
  steps(12);
  SAY("played", double(motion.getTime()), robot->getMotor("motor")->getTargetPosition());
}

static void fields()
{
  Node *ball = robot->getFromDef("BALL"), *kinds = robot->getFromDef("KINDS");
  Field *children = robot->getRoot()->getField("children"), *place = ball->getField("translation"), *physics = ball->getField("physics");
  Field *counts = kinds->getField("mfInt32");
  const int count = children->getCount();
  place->enableSFTracking(32);
  children->importMFNodeFromString(-1, "DEF NEW Solid { translation 0 0 5 name \"new\" }");
  children->importMFNode(-1, "thing.wbo");
  SAY("imported", double(children->getCount() - count));
  Node *last = children->getMFNode(count);
  say_values("new place", last->getField("translation")->getSFVec3f(), 3);
  children->removeMFNode(count + 1);
  last->remove();
  counts->removeMF(0);
  SAY("removed", double(children->getCount() - count), double(counts->getCount()), double(counts->getMFInt32(0)));
  physics->removeSF();
  SAY("no physics", double(physics->getSFNode() != NULL));
  physics->importSFNodeFromString("Physics { density -1 mass 2 }");
  SAY("physics", physics->getSFNode()->getField("mass")->getSFFloat());
  physics->removeSF();
  physics->importSFNode("physics.wbo");
  SAY("physics of a file", physics->getSFNode()->getField("mass")->getSFFloat());
  steps(2);
  say_values("tracked", place->getSFVec3f(), 3);
  place->disableSFTracking();
}

static void nodes()
{
  Node *self = robot->getSelf(), *ball = robot->getFromDef("BALL"), *cube = robot->getFromDef("CUBE");
  say_values("inner", robot->getFromDef("KINDS")->getFromProtoDef("INNER")->getPosition(), 3);
  SAY("same", double(robot->getFromId(ball->getId()) == ball), double(robot->getFromDevice(robot->getGPS("gps"))->getId() > 0));
  const double velocity[] = { 0, 0, 2, 0, 0, 1 }, force[] = { 3, 0, 0 }, side[] = { 0, 2, 0 }, offset[] = { 0.01, 0, 0 }, torque[] = { 0, 0.001, 0 };
  ball->enablePoseTracking(32, self);
  cube->enableContactPointsTracking(32);
  ball->saveState("before");
  ball->setVelocity(velocity);
  ball->addForce(force, false);
  ball->addForceWithOffset(side, offset, true);
  ball->addTorque(torque, false);
  steps(2);
  say_values("pose", ball->getPose(self), 16);
  say_values("velocity", ball->getVelocity(), 6);
  int count = 0;
  const ContactPoint *points = cube->getContactPoints(false, &count);
  SAY("contacts", double(count), points[0].point[0], points[0].point[1], points[0].point[2], double(points[0].node_id > 0));
  ball->disablePoseTracking(self);
  cube->disableContactPointsTracking();
  ball->loadState("before");
  ball->resetPhysics();
  robot->getFromDef("JOINT")->setJointPosition(0.2);
  cube->setVisibility(self, false);
  cube->moveViewpoint();
  robot->getFromDef("ECHO")->restartController();
  steps(1);
  say_values("loaded", ball->getPosition(), 3);
}

static void world()
{
  robot->simulationSetMode(Supervisor::SIMULATION_MODE_FAST);
  const bool saved = robot->worldSave("saved.wbt"), again = robot->saveWorld("again.wbt");
  SAY("saved world", double(saved), double(again), double(size_of_file("saved.wbt") > 100));
  robot->animationStartRecording("film.html");
  robot->movieStartRecording("film.mp4", 64, 48, 0, 50, 1, false);
  steps(1);
  robot->movieStopRecording();
  robot->animationStopRecording();
  robot->startMovie("old.mp4", 64, 48, 0, 50, 1, false);
  robot->stopMovie();
  robot->setMode(Robot::MODE_SIMULATION, "");
  robot->batterySensorEnable(32);
  robot->batterySensorDisable();
  robot->pinToStaticEnvironment(false);
  const int begun = robot->stepBegin(32), ended = robot->stepEnd();
  SAY("step in parts", double(begun), double(ended), double(robot->batterySensorGetSamplingPeriod()));
  robot->simulationResetPhysics();
  robot->simulationPhysicsReset();
  steps(1);
  robot->simulationReset();
  steps(2);
  say_values("after the reset", robot->getFromDef("BALL")->getPosition(), 3);
}

int main()
{
  robot = new Supervisor();
  pictures();
  depths();
  drawing();
  packets();
  actuators();
  others();
  person();
  motions();
  fields();
  nodes();
  world();
  SAY("done", 1);
  fflush(stdout);
  robot->simulationQuit(0);
  robot->step(32);
  delete robot;
  return 0;
}
