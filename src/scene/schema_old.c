// Node types of old releases. The upgrader turns them into newer ones (formats/upgrade/upgrade.c).
#include "scene/schema_internal.h"

// clang-format off
static const FieldType servo[] = {
    DEVICE_NAME("servo"),
    FIELD("type", SF_STRING, "\"rotational\"", "rotational|linear", NULL, "turns about its rotation axis, or slides along its z axis"),
    FIELD("maxVelocity", SF_FLOAT, "10", ">=0", "rad/s or m/s", "most velocity"),
    FIELD("maxForce", SF_FLOAT, "10", ">=0", "N m or N", "most torque or force; 0: passive"),
    FIELD("controlP", SF_FLOAT, "10", ">0", NULL, "proportional gain of the position control"),
    FIELD("acceleration", SF_FLOAT, "-1", "-1|>=0", "rad/s^2 or m/s^2", "most acceleration; -1: unlimited"),
    FIELD("position", SF_FLOAT, "0", NULL, "rad or m", "position that translation and rotation stand for"),
    FIELD("minPosition", SF_FLOAT, "0", NULL, "rad or m", "soft lower limit; both 0: none"),
    FIELD("maxPosition", SF_FLOAT, "0", NULL, "rad or m", "soft upper limit; both 0: none"),
    FIELD("minStop", SF_FLOAT, "0", NULL, "rad or m", "hard lower stop; both 0: none"),
    FIELD("maxStop", SF_FLOAT, "0", NULL, "rad or m", "hard upper stop; both 0: none"),
    FIELD("springConstant", SF_FLOAT, "0", ">=0", "N m/rad or N/m", "spring that pulls to position 0"),
    FIELD("dampingConstant", SF_FLOAT, "0", ">=0", "N m s/rad or N s/m", "damper"),
    FIELD("staticFriction", SF_FLOAT, "0", ">=0", "N m or N", "friction"),
    FIELD("animation", MF_NODE, "[]", NULL, NULL, "animation of Webots 4; ignored"),
};
static const FieldType differential_wheels[] = {
    FIELD("motorConsumption", SF_FLOAT, "0", NULL, "W", "power of the motors"),
    FIELD("axleLength", SF_FLOAT, "0.1", ">0", "m", "distance of the wheels (kinematic)"),
    FIELD("wheelRadius", SF_FLOAT, "0.01", ">0", "m", "radius of the wheels (kinematic)"),
    FIELD("maxSpeed", SF_FLOAT, "10", ">0", "rad/s", "most speed of a wheel"),
    FIELD("maxAcceleration", SF_FLOAT, "10", ">0", "rad/s^2", "most acceleration of a wheel (kinematic)"),
    FIELD("speedUnit", SF_FLOAT, "1", ">0", "rad/s", "what one unit of the controller's speed means; 0.1 in files before V6 that do not say"),
    FIELD("slipNoise", SF_FLOAT, "0.1", "-1|>=0", NULL, "noise of the wheels' movement"),
    FIELD("encoderNoise", SF_FLOAT, "-1", "-1|>=0", NULL, "noise of the encoders; -1: no encoders"),
    FIELD("encoderResolution", SF_FLOAT, "-1", "-1|>=0", "1/rad", "encoder steps per radian; -1: no encoders"),
    FIELD("maxForce", SF_FLOAT, "0.3", ">=0", "N m", "most torque of a wheel motor"),
};
static const FieldType gripper[] = {
    DEVICE_NAME("gripper"),
    FIELD("closedPosition", SF_FLOAT, "0", NULL, NULL, "position in which it is closed"),
    FIELD("openPosition", SF_FLOAT, "1", NULL, NULL, "position in which it is open"),
    FIELD("maxSpeed", SF_FLOAT, "1", NULL, NULL, "most speed of closing"),
    FIELD("maxForce", SF_FLOAT, "10", NULL, NULL, "most force of closing"),
    FIELD("maxAperture", SF_FLOAT, "0.1", NULL, "m", "widest opening"),
};
static const FieldType hyper_gate[] = {
    DEVICE_NAME("hypergate"),
    FIELD("url", MF_STRING, "[]", NULL, NULL, "address of the world behind the gate"),
    FIELD("target", SF_STRING, "\"\"", NULL, NULL, "name of the gate in that world"),
    FIELD("enabled", SF_BOOL, "TRUE", NULL, NULL, "is open"),
};
static const FieldType cubemap[] = {
    FIELD("textureBaseName", SF_STRING, "\"\"", NULL, NULL, "common start of the six file names"),
    FIELD("directory", SF_STRING, "\"textures/cubic\"", NULL, NULL, "folder of the files"),
};
static const FieldType collada_shape[] = {
    FIELD("url", MF_STRING, "[]", NULL, NULL, "file of the mesh"),
    FIELD("ccw", SF_BOOL, "TRUE", NULL, NULL, "front faces are counter-clockwise"),
};
static const FieldType extrusion[] = {
    FIELD("beginCap", SF_BOOL, "TRUE", NULL, NULL, "is closed at the start"),
    FIELD("ccw", SF_BOOL, "TRUE", NULL, NULL, "the cross-section runs counter-clockwise"),
    FIELD("convex", SF_BOOL, "TRUE", NULL, NULL, "the cross-section is convex"),
    FIELD("creaseAngle", SF_FLOAT, "0", ">=0", "rad", "sharper edges are shown as edges"),
    FIELD("crossSection", MF_VEC2F, "[1 1, 1 -1, -1 -1, -1 1, 1 1]", NULL, "m", "the outline, in x and z"),
    FIELD("endCap", SF_BOOL, "TRUE", NULL, NULL, "is closed at the end"),
    FIELD("orientation", MF_ROTATION, "[0 0 1 0]", NULL, NULL, "turns of the outline along the spine"),
    FIELD("scale", MF_VEC2F, "[1 1]", ">0", NULL, "factors of the outline along the spine"),
    FIELD("solid", SF_BOOL, "TRUE", NULL, NULL, "back faces are not shown"),
    FIELD("spine", MF_VEC3F, "[0 0 0, 0 1 0]", NULL, "m", "points that the outline moves through"),
    FIELD("splineSubdivision", SF_INT32, "4", ">=0", NULL, "points between two points of the spine; 0: straight"),
};
static const FieldType several_images[] = {
    FIELD("url", MF_STRING, "[]", NULL, NULL, "images, one per side or level"),
};

#define ROBOT_KIND(name, rows, until, help) TYPE_UNTIL(name, "Robot", NODE_REMOVED, rows, until, help)

static const NodeType types[] = {
    TYPE_UNTIL("Servo", "Solid", NODE_REMOVED | NODE_DEVICE, servo, "V7.4", "A Solid with a motor to the Solid above it."),
    ROBOT_KIND("DifferentialWheels", differential_wheels, "R2018b", "A Robot with two wheels; see DifferentialWheelsDrive."),
    { "Supervisor", "Robot", NODE_REMOVED, NULL, 0, NULL, "R2018b", "A Robot whose program may change the world." },
    { "CustomRobot", "Robot", NODE_REMOVED, NULL, 0, NULL, "V5.9", "A Robot." },
    { "SupervisorRobot", "Robot", NODE_REMOVED, NULL, 0, NULL, "V5.9", "A Robot whose program may change the world." },
    TYPE_UNTIL("Gripper", "Solid", NODE_REMOVED | NODE_DEVICE, gripper, "V6.1", "A hand of Webots 4 and 5; read as a Solid."),
    TYPE_UNTIL("HyperGate", "Solid", NODE_REMOVED, hyper_gate, "V5.9", "A gate to another world; read as a Solid."),
    TYPE_UNTIL("Cubemap", NULL, NODE_REMOVED, cubemap, "R2019a", "Six images of a Background."),
    TYPE_UNTIL("ColladaShape", NULL, NODE_REMOVED, collada_shape, "R2022a", "Earlier name of CadShape."),
    { "CameraFocus", "Focus", NODE_REMOVED, NULL, 0, NULL, "R2018b", "Earlier name of Focus." },
    { "CameraLensDistortion", "Lens", NODE_REMOVED, NULL, 0, NULL, "R2018b", "Earlier name of Lens." },
    { "CameraZoom", "Zoom", NODE_REMOVED, NULL, 0, NULL, "R2018b", "Earlier name of Zoom." },
    TYPE("Extrusion", "Geometry", NODE_REMOVED, extrusion, "An outline moved along a line. Still read; written as it is."),
    TYPE_UNTIL("ComposedCubeMapTexture", "Texture", NODE_REMOVED, several_images, "V8.6", "Six images; ignored."),
    TYPE_UNTIL("MultiTexture", "Texture", NODE_REMOVED, several_images, "V8.6", "Several images on one surface; ignored."),
};
// clang-format on

FAMILY(schema_old, types);
