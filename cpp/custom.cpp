// custom.cpp - the part of libCppController that is more than passing a call on: one object a device, a node, a field; what a robot
// makes when it begins and frees when it ends; pictures of a display. The rest is made from api/webots.api.
#include <webots/Accelerometer.hpp>
#include <webots/Altimeter.hpp>
#include <webots/Brake.hpp>
#include <webots/Camera.hpp>
#include <webots/Compass.hpp>
#include <webots/Connector.hpp>
#include <webots/Display.hpp>
#include <webots/DistanceSensor.hpp>
#include <webots/Emitter.hpp>
#include <webots/GPS.hpp>
#include <webots/Gyro.hpp>
#include <webots/InertialUnit.hpp>
#include <webots/Joystick.hpp>
#include <webots/Keyboard.hpp>
#include <webots/LED.hpp>
#include <webots/Lidar.hpp>
#include <webots/LightSensor.hpp>
#include <webots/Microphone.hpp>
#include <webots/Motor.hpp>
#include <webots/Mouse.hpp>
#include <webots/Pen.hpp>
#include <webots/PositionSensor.hpp>
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
#include <webots/vehicle/Driver.hpp>

#include <webots/camera.h>
#include <webots/device.h>
#include <webots/display.h>
#include <webots/range_finder.h>
#include <webots/robot.h>
#include <webots/supervisor.h>
#include <webots/utils/motion.h>
#include <webots/vehicle/driver.h>

#include <cstdlib>
#include <map>

namespace webots {
  // ---- devices ----

  Device::Device(const std::string &own) : mTag(wb_robot_get_device(own.c_str())), mName(own)
  {
  }

  Device::Device(WbDeviceTag own) : mTag(own), mName(Robot::getDeviceNameFromTag(own))
  {
  }

  bool Device::hasType(int tag, int type)
  {
    return tag > 0 && wb_device_get_node_type(static_cast<WbDeviceTag>(tag)) == type;
  }

  // ---- the robot ----

  static Robot *the_robot = NULL;

  Robot::Robot() : mKeyboard(NULL), mJoystick(NULL), mMouse(NULL)
  {
    if (the_robot) {
      std::cerr << "Only one instance of the Robot class should be created" << std::endl;
      exit(EXIT_FAILURE);
    }
    the_robot = this;
    wb_robot_init();
    mKeyboard = new Keyboard();
    mJoystick = new Joystick();
    mMouse = new Mouse();
  }

  Robot::~Robot()
  {
    for (size_t i = 0; i < mDevices.size(); i++)
      delete mDevices[i];
    delete mKeyboard;
    delete mJoystick;
    delete mMouse;
    the_robot = NULL;
    wb_robot_cleanup();
  }

  Robot *Robot::internalGetInstance()
  {
    return the_robot ? the_robot : new Robot();
  }

  Keyboard *Robot::getKeyboard() const
  {
    return mKeyboard;
  }

  Mouse *Robot::getMouse() const
  {
    return mMouse;
  }

  Joystick *Robot::getJoystick() const
  {
    return mJoystick;
  }

  Device *Robot::getOrCreateDevice(int tag)
  {
    if (tag <= 0)
      return NULL;
    if (mDevices.size() <= static_cast<size_t>(tag))
      mDevices.resize(static_cast<size_t>(tag) + 1, NULL);
    Device *&device = mDevices[static_cast<size_t>(tag)];
    if (!device) {
      device = createDevice(getDeviceTypeFromTag(tag), getDeviceNameFromTag(tag));
      if (device)
        device->mTag = static_cast<WbDeviceTag>(tag);  // its name may be that of another device too
    }
    return device;
  }

  Device *Robot::getDeviceFromTag(int tag)
  {
    return tag > 0 ? internalGetInstance()->getOrCreateDevice(tag) : NULL;
  }

  int Robot::getDeviceTypeFromTag(int tag)
  {
    return wb_device_get_node_type(static_cast<WbDeviceTag>(tag));
  }

  std::string Robot::getDeviceNameFromTag(int tag)
  {
    const char *name = wb_device_get_name(static_cast<WbDeviceTag>(tag));
    return name ? name : "";
  }

  int Robot::getDeviceTagFromIndex(int index)
  {
    return wb_robot_get_device_by_index(index);
  }

  int Robot::getDeviceTagFromName(const std::string &name)
  {
    return wb_robot_get_device(name.c_str());
  }

  // Worlds of Webots 7 and older have Servos, which the simulator reads as a joint with a motor of that name.
  Servo *Robot::getServo(const std::string &name)
  {
    static std::map<int, Servo *> servos;
    int tag = getDeviceTagFromName(name);
    if (tag <= 0)
      return NULL;
    Servo *&servo = servos[tag];
    return servo ? servo : servo = createServo(name);
  }

  // Until Webots 8.3 a range finder was a kind of camera.
  Camera *Robot::getCamera(const std::string &name)
  {
    static std::map<int, Camera *> finders;
    int tag = getDeviceTagFromName(name);
    if (!Device::hasType(tag, WB_NODE_RANGE_FINDER))
      return dynamic_cast<Camera *>(getOrCreateDevice(tag));
    Camera *&finder = finders[tag];
    return finder ? finder : finder = createCamera(name);
  }

  // ---- supervisors ----

  Supervisor::~Supervisor()
  {
    Node::cleanup();
    Field::cleanup();
    Proto::cleanup();
  }

  Supervisor *Supervisor::internalGetInstance()
  {
    return the_robot ? dynamic_cast<Supervisor *>(the_robot) : new Supervisor();
  }

  Node *Supervisor::getFromDeviceTag(int tag) const
  {
    return Node::findNode(wb_supervisor_node_get_from_device(static_cast<WbDeviceTag>(tag)));
  }

  static std::map<WbNodeRef, Node *> nodes;
  static std::map<WbFieldRef, Field *> fields;
  static std::map<WbProtoRef, Proto *> protos;

  Node *Node::findNode(WbNodeRef ref)
  {
    if (!ref)
      return NULL;
    Node *&node = nodes[ref];
    return node ? node : node = new Node(ref);
  }

  void Node::cleanup()
  {
    for (std::map<WbNodeRef, Node *>::iterator it = nodes.begin(); it != nodes.end(); ++it)
      delete it->second;
    nodes.clear();
  }

  Field *Field::findField(WbFieldRef ref)
  {
    if (!ref)
      return NULL;
    Field *&field = fields[ref];
    return field ? field : field = new Field(ref);
  }

  void Field::cleanup()
  {
    for (std::map<WbFieldRef, Field *>::iterator it = fields.begin(); it != fields.end(); ++it)
      delete it->second;
    fields.clear();
  }

  Proto *Proto::findProto(WbProtoRef ref)
  {
    if (!ref)
      return NULL;
    Proto *&proto = protos[ref];
    return proto ? proto : proto = new Proto(ref);
  }

  void Proto::cleanup()
  {
    for (std::map<WbProtoRef, Proto *>::iterator it = protos.begin(); it != protos.end(); ++it)
      delete it->second;
    protos.clear();
  }

  // ---- pictures ----

  unsigned char Camera::imageGetRed(const unsigned char *image, int width, int x, int y)
  {
    return wb_camera_image_get_red(image, width, x, y);
  }

  unsigned char Camera::imageGetGreen(const unsigned char *image, int width, int x, int y)
  {
    return wb_camera_image_get_green(image, width, x, y);
  }

  unsigned char Camera::imageGetBlue(const unsigned char *image, int width, int x, int y)
  {
    return wb_camera_image_get_blue(image, width, x, y);
  }

  unsigned char Camera::imageGetGray(const unsigned char *image, int width, int x, int y)
  {
    return static_cast<unsigned char>(wb_camera_image_get_gray(image, width, x, y));
  }

  unsigned char Camera::imageGetGrey(const unsigned char *image, int width, int x, int y)
  {
    return imageGetGray(image, width, x, y);
  }

  float Camera::rangeImageGetDepth(const float *image, int width, int x, int y)
  {
    return wb_camera_range_image_get_depth(image, width, x, y);
  }

  float RangeFinder::rangeImageGetDepth(const float *image, int width, int x, int y)
  {
    return wb_range_finder_image_get_depth(image, width, x, y);
  }

  static ImageRef *image_of(WbImageRef image)
  {
    return image ? new ImageRef(image) : NULL;
  }

  static WbDeviceTag tag_of(const Device *device)
  {
    return static_cast<WbDeviceTag>(device->getTag());
  }

  ImageRef *Display::imageNew(int width, int height, const void *data, int format) const
  {
    return image_of(wb_display_image_new(tag_of(this), width, height, data, format));
  }

  ImageRef *Display::imageCopy(int x, int y, int width, int height) const
  {
    return image_of(wb_display_image_copy(tag_of(this), x, y, width, height));
  }

  ImageRef *Display::imageLoad(const std::string &filename) const
  {
    return image_of(wb_display_image_load(tag_of(this), filename.c_str()));
  }

  void Display::imagePaste(ImageRef *image, int x, int y, bool blend)
  {
    (wb_display_image_paste)(tag_of(this), image->getImageRef(), x, y, blend);
  }

  // Without an image the whole display is saved.
  void Display::imageSave(ImageRef *image, const std::string &filename)
  {
    wb_display_image_save(tag_of(this), image ? image->getImageRef() : NULL, filename.c_str());
  }

  void Display::imageDelete(ImageRef *image)
  {
    wb_display_image_delete(tag_of(this), image->getImageRef());
    delete image;
  }

  // ---- motions and cars ----

  Motion::Motion(const std::string &fileName) : ref(wbu_motion_new(fileName.c_str()))
  {
  }

  Motion::~Motion()
  {
    if (ref)
      wbu_motion_delete(ref);
  }

  bool Motion::isValid() const
  {
    return ref != NULL;
  }

  static Driver *the_driver = NULL;

  Driver::Driver() : Supervisor()
  {
    the_driver = this;
    wbu_driver_init();
  }

  Driver::~Driver()
  {
    wbu_driver_cleanup();
    the_driver = NULL;
  }

  Driver *Driver::internalGetInstanceDriver()
  {
    return the_driver ? the_driver : new Driver();
  }

  int Driver::step()
  {
    return wbu_driver_step();
  }
}
