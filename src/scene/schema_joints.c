// Joints, their parameters, and the devices that sit in them.
#include "scene/schema_internal.h"

// clang-format off
#define ROTATIONAL_DEVICES "RotationalMotor|PositionSensor|Brake"
#define LINEAR_DEVICES "LinearMotor|PositionSensor|Brake"

static const FieldType joint[] = {
    FIELD("endPoint", SF_NODE, "NULL", ALLOWED_END_POINT, NULL, "the solid that the joint moves"),
    STATE("motion", MF_FLOAT, "[]", NULL, "what the joint and its motors were at when the running world was saved; counts while its solids stand where they stood (Talus)"),
};
static const FieldType hinge_joint[] = {
    FIELD("jointParameters", SF_NODE, "NULL", "HingeJointParameters|Hinge2JointParameters", NULL, "axis, anchor, stops, springs"),
    FIELD("device", MF_NODE, "[]", ROTATIONAL_DEVICES, NULL, "at most one motor, one sensor and one brake"),
    HERE("endPoint"),
    STATE("position", SF_FLOAT, "0", "rad", "position at the start"),
};
static const FieldType hinge2_joint[] = {
    FIELD("jointParameters", SF_NODE, "NULL", "HingeJointParameters|Hinge2JointParameters", NULL, "first axis, anchor, stops, springs"),
    FIELD("jointParameters2", SF_NODE, "NULL", "=JointParameters", NULL, "second axis, stops, springs"),
    FIELD("device", MF_NODE, "[]", ROTATIONAL_DEVICES, NULL, "devices of the first axis, at most one of a kind"),
    FIELD("device2", MF_NODE, "[]", ROTATIONAL_DEVICES, NULL, "devices of the second axis, at most one of a kind"),
    HERE("endPoint"),
    STATE("position", SF_FLOAT, "0", "rad", "position of the first axis at the start"),
    STATE("position2", SF_FLOAT, "0", "rad", "position of the second axis at the start"),
};
static const FieldType ball_joint[] = {
    FIELD("jointParameters", SF_NODE, "NULL", "BallJointParameters", NULL, "anchor, and springs of all axes"),
    FIELD_SINCE("jointParameters2", SF_NODE, "NULL", "=JointParameters", NULL, "second axis, stops, springs", "R2019b"),
    FIELD_SINCE("jointParameters3", SF_NODE, "NULL", "=JointParameters", NULL, "third axis, stops, springs", "R2019b"),
    FIELD_SINCE("device", MF_NODE, "[]", ROTATIONAL_DEVICES, NULL, "devices of the first axis, at most one of a kind", "R2019b"),
    FIELD_SINCE("device2", MF_NODE, "[]", ROTATIONAL_DEVICES, NULL, "devices of the second axis, at most one of a kind", "R2019b"),
    FIELD_SINCE("device3", MF_NODE, "[]", ROTATIONAL_DEVICES, NULL, "devices of the third axis, at most one of a kind", "R2019b"),
    HERE("endPoint"),
    STATE("position", SF_FLOAT, "0", "rad", "position of the first axis at the start"),
    STATE("position2", SF_FLOAT, "0", "rad", "position of the second axis at the start"),
    STATE("position3", SF_FLOAT, "0", "rad", "position of the third axis at the start"),
};
static const FieldType slider_joint[] = {
    FIELD("jointParameters", SF_NODE, "NULL", "=JointParameters", NULL, "axis, stops, springs"),
    FIELD("device", MF_NODE, "[]", LINEAR_DEVICES, NULL, "at most one motor, one sensor and one brake"),
    HERE("endPoint"),
    STATE("position", SF_FLOAT, "0", "m", "position at the start"),
};
static const FieldType joint_parameters[] = {
    FIELD("position", SF_FLOAT, "0", NULL, "rad or m", "where the joint is in the file's poses"),
    FIELD("axis", SF_VEC3F, "0 0 1", "!=0", NULL, "axis in the parent solid's frame"),
    FIELD("minStop", SF_FLOAT, "0", NULL, "rad or m", "hard lower stop; equal stops: none"),
    FIELD("maxStop", SF_FLOAT, "0", NULL, "rad or m", "hard upper stop; equal stops: none"),
    FIELD("springConstant", SF_FLOAT, "0", ">=0", "N m/rad or N/m", "spring that pulls to position 0"),
    FIELD("dampingConstant", SF_FLOAT, "0", ">=0", "N m s/rad or N s/m", "damper"),
    FIELD("staticFriction", SF_FLOAT, "0", ">=0", "N m or N", "friction that holds it at rest and slows it"),
};
#define SUSPENSION \
    FIELD("suspensionSpringConstant", SF_FLOAT, "0", ">=0", "N/m", "spring along the suspension axis; 0: stiff"), \
    FIELD("suspensionDampingConstant", SF_FLOAT, "0", ">=0", "N s/m", "damper along the suspension axis")
static const FieldType hinge_joint_parameters[] = {
    FIELD("axis", SF_VEC3F, "1 0 0", "!=0", NULL, "axis in the parent solid's frame"),
    FIELD("anchor", SF_VEC3F, "0 0 0", NULL, "m", "a point on the axis, in the parent solid's frame"),
    HERE("minStop"), HERE("maxStop"), HERE("springConstant"), HERE("dampingConstant"), HERE("staticFriction"),
    SUSPENSION,
    FIELD("suspensionAxis", SF_VEC3F, "1 0 0", "!=0", NULL, "axis along which the joint gives way"),
    FIELD_SINCE("stopERP", SF_FLOAT, "-1", "-1|>=0", NULL, "ERP of the stops; -1: that of the world", "R2021b"),
    FIELD_SINCE("stopCFM", SF_FLOAT, "-1", "-1|>0", NULL, "CFM of the stops; -1: that of the world", "R2021b"),
};
static const FieldType hinge2_joint_parameters[] = {
    FIELD("axis", SF_VEC3F, "1 0 0", "!=0", NULL, "first axis, which is the suspension axis too"),
    FIELD("anchor", SF_VEC3F, "0 0 0", NULL, "m", "a point on the axis, in the parent solid's frame"),
    HERE("minStop"), HERE("maxStop"), HERE("springConstant"), HERE("dampingConstant"), HERE("staticFriction"),
    SUSPENSION,
};
static const FieldType ball_joint_parameters[] = {
    WITHOUT("axis"),
    FIELD("anchor", SF_VEC3F, "0 0 0", NULL, "m", "centre of the joint, in the parent solid's frame"),
    HERE("minStop"), HERE("maxStop"), HERE("springConstant"), HERE("dampingConstant"), HERE("staticFriction"),
};

static const FieldType device[] = { DEVICE_NAME("") };
static const FieldType motor[] = {
    FIELD("acceleration", SF_FLOAT, "-1", "-1|>=0", "rad/s^2 or m/s^2", "most acceleration; -1: unlimited"),
    FIELD("consumptionFactor", SF_FLOAT, "10", NULL, "W/(N m) or W/N", "power per torque or force"),
    FIELD_SINCE("controlPID", SF_VEC3F, "10 0 0", ">=0", NULL, "gains of the position control", "V8.0"),
    FIELD("maxVelocity", SF_FLOAT, "10", ">=0", "rad/s or m/s", "most velocity"),
    FIELD("minPosition", SF_FLOAT, "0", NULL, "rad or m", "soft lower limit; equal limits: none"),
    FIELD("maxPosition", SF_FLOAT, "0", NULL, "rad or m", "soft upper limit; equal limits: none"),
    OLD("controlP", SF_FLOAT, "10", "proportional gain; now in controlPID", "V8.0"),
};
#define MOTOR_TAIL(sound) \
    FIELD_SINCE("multiplier", SF_FLOAT, "1", "!=0", NULL, "factor of commands to coupled motors of the same name", "R2021b"), \
    FIELD("sound", SF_STRING, "\"webots://projects/default/worlds/sounds/" sound "\"", NULL, NULL, "sound of the running motor"), \
    FIELD("muscles", MF_NODE, "[]", "Muscle", NULL, "muscles shown between the solids"), \
    OLD("muscle", SF_NODE, "NULL", "one muscle; now muscles", "R2018b"), \
    HERE("controlP")
static const FieldType linear_motor[] = {
    DEVICE_NAME("linear motor"),
    FIELD("maxForce", SF_FLOAT, "10", ">=0", "N", "most force"),
    MOTOR_TAIL("linear_motor.wav"),
};
static const FieldType rotational_motor[] = {
    DEVICE_NAME("rotational motor"),
    FIELD("maxTorque", SF_FLOAT, "10", ">=0", "N m", "most torque"),
    MOTOR_TAIL("rotational_motor.wav"),
};
static const FieldType muscle[] = {
    FIELD_SINCE("volume", SF_FLOAT, "0.01", ">0", "m^3", "volume, which stays as it stretches", "R2019b"),
    FIELD("startOffset", SF_VEC3F, "0 0 0", NULL, "m", "where it starts, in the joint's parent"),
    FIELD("endOffset", SF_VEC3F, "0 0 0", NULL, "m", "where it ends, in the joint's end point"),
    FIELD("color", MF_COLOR, "[]", "[0,1]", NULL, "colours when idle, contracting, relaxing"),
    FIELD("castShadows", SF_BOOL, "TRUE", NULL, NULL, "throws shadows"),
    FIELD("visible", SF_BOOL, "TRUE", NULL, NULL, "is shown"),
    OLD("maxRadius", SF_FLOAT, "0", "greatest radius; now volume", "R2019a"),
};
static const FieldType brake[] = { DEVICE_NAME("brake") };
static const FieldType position_sensor[] = {
    DEVICE_NAME("position sensor"),
    FIELD_SINCE("noise", SF_FLOAT, "0", ">=0", "rad or m", "standard deviation of the noise", "R2019a"),
    FIELD("resolution", SF_FLOAT, "-1", "-1|>=0", "rad or m", "smallest step of the reading; -1: none"),
};

static const NodeType types[] = {
    TYPE("Joint", NULL, NODE_ABSTRACT | NODE_REMOVED, joint, "Links a Solid to the Solid above it."),
    TYPE("HingeJoint", "Joint", 0, hinge_joint, "Turns about one axis."),
    TYPE("Hinge2Joint", "Joint", 0, hinge2_joint, "Turns about two axes through one point."),
    TYPE("BallJoint", "Joint", 0, ball_joint, "Turns about three axes through one point."),
    TYPE("SliderJoint", "Joint", 0, slider_joint, "Slides along one axis."),
    TYPE("JointParameters", NULL, 0, joint_parameters, "Axis, stops and springs of a slider, or of a second or third axis."),
    TYPE("HingeJointParameters", "JointParameters", 0, hinge_joint_parameters, "Axis, anchor, stops, springs and suspension of a hinge."),
    TYPE_UNTIL("Hinge2JointParameters", "JointParameters", NODE_REMOVED, hinge2_joint_parameters, "V8.6", "First axis of a Hinge2Joint in old files."),
    TYPE("BallJointParameters", "JointParameters", 0, ball_joint_parameters, "Anchor and springs of a ball joint."),
    TYPE("Device", NULL, NODE_ABSTRACT, device, "A sense or actor of a robot."),
    TYPE("Motor", "Device", NODE_ABSTRACT | NODE_DEVICE, motor, "Drives a joint."),
    TYPE("LinearMotor", "Motor", NODE_DEVICE, linear_motor, "Drives a SliderJoint or a Track."),
    TYPE("RotationalMotor", "Motor", NODE_DEVICE, rotational_motor, "Drives an axis of a HingeJoint, Hinge2Joint, BallJoint or a Propeller."),
    TYPE("Muscle", NULL, 0, muscle, "Shows a muscle that works with a motor."),
    TYPE("Brake", "Device", NODE_DEVICE, brake, "Adds friction to a joint on command."),
    TYPE("PositionSensor", "Device", NODE_DEVICE, position_sensor, "Measures the position of a joint."),
};
// clang-format on

FAMILY(schema_joints, types);
