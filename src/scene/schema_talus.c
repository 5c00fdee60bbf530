// Nodes of ours: what Choreonoid's bodies can say and Webots has no node for. docs/bodies.md gives their exact meaning.
#include "scene/schema_internal.h"

// clang-format off
#define BODY_MOTOR \
    FIELD("actuation", SF_STRING, "\"none\"", "none|effort|displacement|velocity|position", NULL, \
          "what drives the joint before the first command: nothing, the force 0, its start position, the velocity 0, the pose of the link"), \
    FIELD("rotorInertia", SF_FLOAT, "0", ">=0", "kg m^2 or kg", "inertia of the rotor before the gear"), \
    FIELD("gearRatio", SF_FLOAT, "1", NULL, NULL, "turns of the rotor per turn of the joint; the joint's axis feels rotorInertia * gearRatio^2"), \
    FIELD("velocityRange", SF_VEC2F, "0 0", NULL, "rad/s or m/s", "lowest and highest velocity where they are not -maxVelocity and maxVelocity"), \
    FIELD("jointId", SF_INT32, "-1", ">=-1", NULL, "number of the joint in its body; -1: none")

static const FieldType body_rotational_motor[] = { BODY_MOTOR };
static const FieldType body_linear_motor[] = { BODY_MOTOR };

static const FieldType free_joint[] = {
    HERE("endPoint"),
};

static const FieldType body_track[] = {
    FIELD("axis", SF_VEC3F, "0 1 0", "!=0", NULL, "axis in the track's frame: the surface moves along axis x n with n pointing out of the track, so that it drives like a wheel about the axis"),
};

static const FieldType extra_joint[] = {
    FIELD("type", SF_STRING, "\"ball\"", "fixed|hinge|ball|piston", NULL, "what it leaves free"),
    FIELD("solidName", SF_STRING, "\"\"", NULL, NULL, "name of the other solid, in the same robot"),
    FIELD("anchor", SF_VEC3F, "0 0 0", NULL, "m", "point of the joint in the frame of the solid that holds this node"),
    FIELD("anchor2", SF_VEC3F, "0 0 0", NULL, "m", "the same point in the frame of the other solid"),
    FIELD("rotation", SF_ROTATION, "0 0 1 0", NULL, NULL, "orientation of the joint in the frame of the solid that holds this node"),
    FIELD("rotation2", SF_ROTATION, "0 0 1 0", NULL, NULL, "the same in the frame of the other solid"),
    FIELD("axis", SF_VEC3F, "1 0 0", "!=0", NULL, "axis of a hinge or piston in the frame of the joint"),
};

static const FieldType body_link[] = {
    FIELD("jointName", SF_STRING, "\"\"", NULL, NULL, "name of the joint when it has no motor"),
    FIELD("jointId", SF_INT32, "-1", ">=-1", NULL, "number of the joint when it has no motor; -1: none"),
    FIELD("jointType", SF_STRING, "\"\"", "|fixed|free|revolute|prismatic|pseudo_continuous_track", NULL, "type in the body file when the nodes do not show it"),
    FIELD("jointAxis", SF_VEC3F, "0 0 1", "!=0", NULL, "axis in the link's frame when the nodes do not show it"),
    FIELD("mass", SF_FLOAT, "-1", "-1|>=0", "kg", "mass in the body file when physics does not say it; -1: physics says it"),
    FIELD("centerOfMass", SF_VEC3F, "0 0 0", NULL, "m", "centre of mass that goes with mass"),
    FIELD("inertiaMatrix", MF_VEC3F, "[]", NULL, "kg m^2", "[Ixx Iyy Izz, Ixy Ixz Iyz] that goes with mass"),
    FIELD("material", SF_STRING, "\"\"", NULL, NULL, "contact material in the body file where contactMaterial does not say it"),
    FIELD("info", SF_STRING, "\"\"", NULL, NULL, "other keys of the link as YAML, for plug-ins of Choreonoid"),
};

static const FieldType body_info[] = {
    FIELD("name", SF_STRING, "\"\"", NULL, NULL, "name of the model"),
    FIELD("rootLink", SF_STRING, "\"\"", NULL, NULL, "name of the root link"),
    FIELD("handlers", MF_STRING, "[]", NULL, NULL, "native code of Choreonoid that the body asks for; not run"),
    FIELD("collisionRules", MF_STRING, "[]", NULL, NULL, "rules of self-collision in order, as body files name them: \"disabled_link_group: a, b\""),
    FIELD("info", SF_STRING, "\"\"", NULL, NULL, "other sections of the body file as YAML"),
};

static const FieldType force_torque_sensor[] = {
    DEVICE_NAME("force sensor"),
    FIELD("maxForce", SF_VEC3F, "-1 -1 -1", "-1|>=0", "N", "readings are held within this; -1: no bound"),
    FIELD("maxTorque", SF_VEC3F, "-1 -1 -1", "-1|>=0", "N m", "readings are held within this; -1: no bound"),
};

static const FieldType holder[] = {
    DEVICE_NAME("holder"),
    FIELD("on", SF_BOOL, "FALSE", NULL, NULL, "takes hold at the start"),
    FIELD("category", SF_STRING, "\"\"", NULL, NULL, "holds attachments of this category; several are separated by ;, empty: of any"),
    FIELD("condition", SF_STRING, "\"distance\"", "distance|collision|name", NULL, "how it finds what to hold: the nearest Attachment, what its link touches, the solid named targetName"),
    FIELD("maxDistance", SF_FLOAT, "0.1", ">=0", "m", "holds an Attachment that is no farther"),
    FIELD("targetName", SF_STRING, "\"\"", NULL, NULL, "holds the solid of this name"),
};
static const FieldType attachment[] = {
    DEVICE_NAME("attachment"),
    FIELD("on", SF_BOOL, "TRUE", NULL, NULL, "is on at the start"),
    FIELD("category", SF_STRING, "\"\"", NULL, NULL, "category by which a Holder knows it"),
};
static const FieldType conveyor[] = {
    DEVICE_NAME("conveyor"),
    FIELD("on", SF_BOOL, "TRUE", NULL, NULL, "runs at the start"),
    FIELD("type", SF_STRING, "\"linear\"", "linear|rotary", NULL, "moves along the axis, or turns about it"),
    FIELD("axis", SF_VEC3F, "1 0 0", "!=0", NULL, "axis in its own frame"),
    FIELD("speed", SF_FLOAT, "0", NULL, "m/s or rad/s", "speed of the surface of the link that holds it"),
};
static const FieldType marker[] = {
    DEVICE_NAME("marker"),
    FIELD("on", SF_BOOL, "TRUE", NULL, NULL, "is shown at the start"),
    FIELD("type", SF_STRING, "\"sphere\"", "sphere|cross|axes", NULL, "its form"),
    FIELD("size", SF_FLOAT, "0.01", ">0", "m", "its size"),
    FIELD("color", SF_COLOR, "1 1 1", "[0,1]", NULL, "its colour"),
    FIELD("emission", SF_FLOAT, "0.5", ">=0", NULL, "how it glows"),
    FIELD("transparency", SF_FLOAT, "0.7", "[0,1]", NULL, "0 opaque, 1 clear"),
};
static const FieldType digital_io[] = {
    DEVICE_NAME("digital io"),
    FIELD("signalLines", SF_INT32, "100", ">=0", NULL, "lines in and out"),
    FIELD("connections", MF_STRING, "[]", NULL, NULL, "devices of the robot that input lines switch on and off: \"0: NAME\""),
    FIELD("outLabels", MF_STRING, "[]", NULL, NULL, "names of output lines: \"0: NAME\""),
    FIELD("inLabels", MF_STRING, "[]", NULL, NULL, "names of input lines"),
};
static const FieldType zmp_sensor[] = { DEVICE_NAME("zmp") };

static const FieldType body[] = {
    FIELD("translation", SF_VEC3F, "0 0 0", NULL, "m", "position of the root link; not set: that of the body file"),
    FIELD("rotation", SF_ROTATION, "0 0 1 0", NULL, NULL, "orientation of the root link; not set: that of the body file"),
    FIELD("url", SF_STRING, "\"\"", NULL, NULL, "the .body file"),
    FIELD("name", SF_STRING, "\"\"", NULL, NULL, "name of the robot; empty: that of the model"),
    FIELD("jointPositions", MF_FLOAT, "[]", NULL, "rad or m", "positions by joint id; missing ones are those of the body file"),
    FIELD("fixed", SF_STRING, "\"file\"", "file|true|false", NULL, "whether the root link is fixed to the world: as the file says, yes, no"),
    FIELD("controller", SF_STRING, "\"<none>\"", NULL, NULL, "name of the program that drives it"),
    FIELD("controllerArgs", MF_STRING, "[]", NULL, NULL, "arguments of the program"),
    FIELD("selfCollision", SF_BOOL, "FALSE", NULL, NULL, "links collide with one another as the collision rules say"),
};

static const NodeType types[] = {
    TYPE_EMPTY("BodyExtra", NULL, NODE_ABSTRACT | NODE_TALUS, "Says more about the Solid that holds it."),
    TYPE("BodyRotationalMotor", "RotationalMotor", NODE_DEVICE | NODE_TALUS, body_rotational_motor, "A RotationalMotor with a rotor, idle until it is commanded."),
    TYPE("BodyLinearMotor", "LinearMotor", NODE_DEVICE | NODE_TALUS, body_linear_motor, "A LinearMotor with a rotor, idle until it is commanded."),
    TYPE("FreeJoint", "Joint", NODE_TALUS, free_joint, "Lets its end point move freely: a body of its own inside a robot."),
    TYPE("BodyTrack", "Track", NODE_TALUS, body_track, "A link whose whole surface moves like a crawler about an axis."),
    TYPE("ExtraJoint", "BodyExtra", NODE_TALUS, extra_joint, "Closes a loop between two solids of a robot."),
    TYPE("BodyLink", "BodyExtra", NODE_TALUS, body_link, "What the body file says of a link beyond its Solid."),
    TYPE("BodyInfo", "BodyExtra", NODE_TALUS, body_info, "What the body file says of the body as a whole."),
    TYPE("ForceTorqueSensor", "TouchSensor", NODE_DEVICE | NODE_TALUS, force_torque_sensor, "Measures force and torque in the joint above the link that holds it."),
    TYPE("Holder", "Solid", NODE_DEVICE | NODE_TALUS, holder, "Takes hold of other bodies."),
    TYPE("Attachment", "Solid", NODE_DEVICE | NODE_TALUS, attachment, "A place where a Holder can take hold."),
    TYPE("Conveyor", "Solid", NODE_DEVICE | NODE_TALUS, conveyor, "Moves the surface of the link that holds it."),
    TYPE("Marker", "Solid", NODE_DEVICE | NODE_TALUS, marker, "A sign to look at."),
    TYPE("DigitalIO", "Solid", NODE_DEVICE | NODE_TALUS, digital_io, "Digital lines in and out."),
    TYPE("ZmpSensor", "Solid", NODE_DEVICE | NODE_TALUS, zmp_sensor, "The zero moment point of a walking robot."),
    TYPE("Body", NULL, NODE_TALUS, body, "Places a Choreonoid body in a world."),
};
// clang-format on

FAMILY(schema_talus, types);
