// Grouping nodes, Solid and what hangs on it, Robot.
#include "scene/schema_internal.h"

// clang-format off
#define STEPS \
    FIELD("translationStep", SF_FLOAT, "0.01", ">=0", "m", "step of moving it by hand"), \
    FIELD("rotationStep", SF_FLOAT, "0.261799387", ">=0", "rad", "step of turning it by hand")

static const FieldType group[] = {
    FIELD("children", MF_NODE, "[]", ALLOWED_CHILDREN, NULL, "nodes inside, in this node's frame"),
    OLD("bboxCenter", SF_VEC3F, "0 0 0", "centre of a box around the children", "VRML97"),
    OLD("bboxSize", SF_VEC3F, "-1 -1 -1", "size of a box around the children", "VRML97"),
};

static const FieldType pose[] = {
    FIELD("translation", SF_VEC3F, "0 0 0", NULL, "m", "position in the parent's frame"),
    FIELD("rotation", SF_ROTATION, "0 0 1 0", NULL, NULL, "orientation in the parent's frame: axis and angle"),
    HERE("children"),
    WITHOUT("bboxCenter"),
    WITHOUT("bboxSize"),
    STEPS,
};

static const FieldType transform[] = {
    FIELD("scale", SF_VEC3F, "1 1 1", "!=0", NULL, "factors along the axes"),
    HERE("children"), HERE("translationStep"), HERE("rotationStep"),
    OLD("center", SF_VEC3F, "0 0 0", "point about which it turns and scales", "VRML97"),
    OLD("scaleOrientation", SF_ROTATION, "0 0 1 0", "turns the axes of scale", "VRML97"),
    OLD("bboxCenter", SF_VEC3F, "0 0 0", "centre of a box around the children", "VRML97"),
    OLD("bboxSize", SF_VEC3F, "-1 -1 -1", "size of a box around the children", "VRML97"),
};

static const FieldType billboard[] = {
    OLD("axisOfRotation", SF_VEC3F, "0 1 0", "axis about which it turns to the viewer", "VRML97"),
};

static const FieldType solid[] = {
    FIELD("name", SF_STRING, "\"solid\"", NULL, NULL, "name, unique among its siblings"),
    FIELD("model", SF_STRING, "\"\"", NULL, NULL, "kind of object, as recognition reports it"),
    FIELD("description", SF_STRING, "\"\"", NULL, NULL, "free text"),
    FIELD("contactMaterial", SF_STRING, "\"default\"", NULL, NULL, "name that ContactProperties refer to"),
    FIELD("immersionProperties", MF_NODE, "[]", "ImmersionProperties", NULL, "how fluids act on it"),
    FIELD("boundingObject", SF_NODE, "NULL", ALLOWED_BOUNDING, NULL, "shape for collisions and for mass from density"),
    FIELD("physics", SF_NODE, "NULL", "Physics", NULL, "makes it move by the laws of physics; NULL: it stays or is moved by hand"),
    FIELD("locked", SF_BOOL, "FALSE", NULL, NULL, "cannot be moved with the mouse"),
    FIELD("radarCrossSection", SF_FLOAT, "0", ">=0", "m^2", "how well a radar sees it; 0: not at all"),
    FIELD("recognitionColors", MF_COLOR, "[]", "[0,1]", NULL, "colours that recognition reports; empty: not recognised"),
    HERE("translationStep"), HERE("rotationStep"),
    STATE("linearVelocity", SF_VEC3F, "0 0 0", "m/s", "velocity of the centre of mass at the start, world frame"),
    STATE("angularVelocity", SF_VEC3F, "0 0 0", "rad/s", "angular velocity at the start, world frame"),
    OLD("scale", SF_VEC3F, "1 1 1", "scale of everything inside; becomes part of the sizes", "R2023a"),
    OLD("author", SF_STRING, "\"\"", "who made the model", "V6.1"),
    OLD("constructor", SF_STRING, "\"\"", "who builds the real thing", "V6.1"),
    OLD("joint", SF_NODE, "NULL", "joint to the parent, in Webots 4 and 5", "V5.9"),
};

static const FieldType physics[] = {
    FIELD("density", SF_FLOAT, "1000", "-1|>0", "kg/m^3", "density of the bounding object; used when mass is -1"),
    FIELD("mass", SF_FLOAT, "-1", "-1|>0", "kg", "mass; -1: from density"),
    FIELD("centerOfMass", MF_VEC3F, "[]", NULL, "m", "centre of mass in the solid's frame; empty: that of the bounding object"),
    FIELD("inertiaMatrix", MF_VEC3F, "[]", NULL, "kg m^2", "[Ixx Iyy Izz, Ixy Ixz Iyz] about the centre of mass; empty: from the bounding object"),
    FIELD("damping", SF_NODE, "NULL", "Damping", NULL, "damping of this body"),
    OLD("bounce", SF_FLOAT, "0.5", "restitution; now in ContactProperties", "V6.4"),
    OLD("bounceVelocity", SF_FLOAT, "0.01", "least speed that bounces; now in ContactProperties", "V6.4"),
    OLD("coulombFriction", SF_FLOAT, "1", "friction, -1 infinite; now in ContactProperties", "V6.4"),
    OLD("forceDependentSlip", SF_FLOAT, "0", "slip; now in ContactProperties", "V6.4"),
    OLD("orientation", SF_ROTATION, "0 1 0 0", "turns the inertia matrix", "V6.2"),
};

static const FieldType immersion_properties[] = {
    FIELD("fluidName", SF_STRING, "\"\"", NULL, NULL, "name of the Fluid"),
    FIELD("referenceArea", SF_STRING, "\"immersed area\"", "immersed area|xyz-projected area", NULL, "area that drag is computed with"),
    FIELD("dragForceCoefficients", SF_VEC3F, "0 0 0", ">=0", NULL, "drag along the solid's axes"),
    FIELD("dragTorqueCoefficients", SF_VEC3F, "0 0 0", ">=0", NULL, "drag about the solid's axes"),
    FIELD("viscousResistanceForceCoefficient", SF_FLOAT, "0", ">=0", "1/s", "resistance per velocity"),
    FIELD("viscousResistanceTorqueCoefficient", SF_FLOAT, "0", ">=0", "1/s", "resistance per angular velocity"),
};

static const FieldType fluid[] = {
    FIELD("name", SF_STRING, "\"fluid\"", NULL, NULL, "name that ImmersionProperties refer to"),
    FIELD("model", SF_STRING, "\"\"", NULL, NULL, "kind of fluid, free text"),
    FIELD("description", SF_STRING, "\"\"", NULL, NULL, "free text"),
    FIELD("density", SF_FLOAT, "1000", ">=0", "kg/m^3", "density"),
    FIELD("viscosity", SF_FLOAT, "0.001", ">=0", "kg/(m s)", "dynamic viscosity"),
    FIELD("streamVelocity", SF_VEC3F, "0 0 0", NULL, "m/s", "velocity of the stream"),
    FIELD("boundingObject", SF_NODE, "NULL", ALLOWED_BOUNDING, NULL, "where the fluid is"),
    FIELD("locked", SF_BOOL, "FALSE", NULL, NULL, "cannot be moved with the mouse"),
    HERE("translationStep"), HERE("rotationStep"),
    OLD("scale", SF_VEC3F, "1 1 1", "scale of everything inside", "R2023a"),
};

static const FieldType charger[] = {
    DEVICE_NAME("charger"),
    FIELD("battery", MF_FLOAT, "[]", NULL, "J, J, W", "energy now, most energy, power it gives"),
    FIELD("radius", SF_FLOAT, "0.04", ">=0", "m", "a robot whose origin is closer is charged"),
    FIELD("emissiveColor", SF_COLOR, "0 1 0", "[0,1]", NULL, "glow of its lights when full"),
    FIELD("gradual", SF_BOOL, "TRUE", NULL, NULL, "the glow follows the energy; FALSE: on or off"),
};

static const FieldType robot[] = {
    FIELD("name", SF_STRING, "\"robot\"", NULL, NULL, "name of the robot"),
    FIELD("controller", SF_STRING, "\"<generic>\"", NULL, NULL, "name of its program; \"<extern>\": one that attaches itself, \"<none>\": none"),
    FIELD("controllerArgs", MF_STRING, "[]", NULL, NULL, "arguments of the program"),
    FIELD("customData", SF_STRING, "\"\"", NULL, NULL, "text shared by its program and supervisors"),
    FIELD_SINCE("supervisor", SF_BOOL, "FALSE", NULL, NULL, "its program may change the world", "R2019a"),
    FIELD("synchronization", SF_BOOL, "TRUE", NULL, NULL, "the simulation waits for its program"),
    FIELD("battery", MF_FLOAT, "[]", NULL, "J, J, W", "energy now, most energy, power of charging; empty: no battery"),
    FIELD("cpuConsumption", SF_FLOAT, "10", ">=0", "W", "power of its processor"),
    FIELD("selfCollision", SF_BOOL, "FALSE", NULL, NULL, "its own solids collide with one another, but for neighbours at a joint"),
    FIELD("window", SF_STRING, "\"<generic>\"", NULL, NULL, "robot window: page of plugins/robot_windows that the viewer opens"),
    FIELD("remoteControl", SF_STRING, "\"<none>\"", NULL, NULL, "remote-control plugin"),
    { "differentialWheels", FIELD_SF_NODE, "NULL", "DifferentialWheelsDrive", NULL,
      "drive of a robot that was a DifferentialWheels node in its file (Talus)", FIELD_HIDDEN, NULL, NULL },
    OLD("data", SF_STRING, "\"\"", "earlier name of customData", "V8.6"),
    OLD("showWindow", SF_BOOL, "FALSE", "show the robot window", "R2021b"),
    OLD("showRobotWindow", SF_BOOL, "FALSE", "earlier name of showWindow", "V8.6"),
    OLD("robotWindow", SF_STRING, "\"\"", "earlier name of window", "V8.6"),
};

static const FieldType differential_wheels_drive[] = {
    FIELD("mode", SF_STRING, "\"physics\"", "physics|kinematic", NULL, "whether wheel motors act by physics, or the robot is moved on its plane"),
    FIELD("motorConsumption", SF_FLOAT, "0", NULL, "W", "power of the motors"),
    FIELD("axleLength", SF_FLOAT, "0.1", ">0", "m", "distance of the wheels (kinematic)"),
    FIELD("wheelRadius", SF_FLOAT, "0.01", ">0", "m", "radius of the wheels (kinematic)"),
    FIELD("maxSpeed", SF_FLOAT, "10", ">0", "rad/s", "most speed of a wheel"),
    FIELD("maxAcceleration", SF_FLOAT, "10", ">0", "rad/s^2", "most acceleration of a wheel (kinematic)"),
    FIELD("speedUnit", SF_FLOAT, "1", ">0", "rad/s", "what one unit of the controller's speed means"),
    FIELD("slipNoise", SF_FLOAT, "0.1", "-1|>=0", NULL, "each wheel step is multiplied by 1 + uniform(-s, s)"),
    FIELD("encoderNoise", SF_FLOAT, "-1", "-1|>=0", NULL, "noise of the wheel encoders; -1: no encoders"),
    FIELD("encoderResolution", SF_FLOAT, "-1", "-1|>=0", "1/rad", "encoder steps per radian; -1: no encoders"),
    FIELD("maxForce", SF_FLOAT, "0.3", ">=0", "N m", "most torque of a wheel motor (physics)"),
    FIELD("leftMotor", SF_STRING, "\"left wheel motor\"", NULL, NULL, "name of the left wheel's motor"),
    FIELD("rightMotor", SF_STRING, "\"right wheel motor\"", NULL, NULL, "name of the right wheel's motor"),
};

static const FieldType slot[] = {
    FIELD("type", SF_STRING, "\"\"", NULL, NULL, "what fits: equal types, or equal up to a trailing + and -"),
    FIELD("endPoint", SF_NODE, "NULL", "SolidReference|" ALLOWED_CHILDREN, NULL, "the node in the slot, or the other Slot"),
};

static const FieldType solid_reference[] = {
    FIELD("solidName", SF_STRING, "\"\"", NULL, NULL, "name of the Solid, or \"<static environment>\""),
};

static const FieldType propeller[] = {
    FIELD("shaftAxis", SF_VEC3F, "1 0 0", "!=0", NULL, "axis of the thrust and of the turning"),
    FIELD("centerOfThrust", SF_VEC3F, "0 0 0", NULL, "m", "where the thrust acts"),
    FIELD("thrustConstants", SF_VEC2F, "1 0", NULL, "N s^2/rad^2, N s^2/(rad m)", "thrust by speed of turning, and by speed through the air"),
    FIELD("torqueConstants", SF_VEC2F, "1 0", NULL, "N m s^2/rad^2, N s^2/rad", "torque by speed of turning, and by speed through the air"),
    FIELD_SINCE("fastHelixThreshold", SF_FLOAT, "75.4", ">=0", "rad/s", "from this speed on fastHelix is shown", "R2019b"),
    FIELD("device", SF_NODE, "NULL", "RotationalMotor", NULL, "its motor"),
    FIELD("fastHelix", SF_NODE, "NULL", "Solid|Slot", NULL, "what a fast propeller looks like"),
    FIELD("slowHelix", SF_NODE, "NULL", "Solid|Slot", NULL, "what a slow propeller looks like"),
};

static const FieldType track[] = {
    FIELD("name", SF_STRING, "\"track\"", NULL, NULL, "name, unique among its siblings"),
    FIELD("device", MF_NODE, "[]", "LinearMotor|PositionSensor|Brake", NULL, "motor, sensor and brake of the belt"),
    FIELD("textureAnimation", SF_VEC2F, "0 0", NULL, NULL, "texture movement per metre of belt"),
    FIELD("animatedGeometry", SF_NODE, "NULL", "Shape|=Group|=Pose|=Transform|Slot", NULL, "one piece of the belt, repeated along it"),
    FIELD("geometriesCount", SF_INT32, "10", ">=0", NULL, "pieces of the belt"),
};

static const FieldType track_wheel[] = {
    FIELD("position", SF_VEC2F, "0 0", NULL, "m", "place in the x-z plane of the Track"),
    STATE("rotation", SF_ROTATION, "1 0 0 1.5708", NULL, "orientation of the wheel as it turns"),
    FIELD("radius", SF_FLOAT, "0.1", ">0", "m", "radius"),
    FIELD("inner", SF_BOOL, "TRUE", NULL, NULL, "the belt runs around it; FALSE: outside, pressing on the belt"),
    HERE("children"),
    WITHOUT("bboxCenter"),
    WITHOUT("bboxSize"),
};

static const FieldType skin[] = {
    FIELD("translation", SF_VEC3F, "0 0 0", NULL, "m", "position in the parent's frame"),
    FIELD("rotation", SF_ROTATION, "0 0 1 0", NULL, NULL, "orientation in the parent's frame"),
    FIELD("scale", SF_VEC3F, "1 1 1", "!=0", NULL, "factors along the axes"),
    DEVICE_NAME("skin"),
    FIELD("modelUrl", SF_STRING, "\"\"", NULL, NULL, "file of the mesh"),
    FIELD("appearance", MF_NODE, "[]", "AbstractAppearance", NULL, "looks of the materials of the mesh, by name"),
    FIELD("bones", MF_NODE, "[]", "SolidReference", NULL, "solids that move the bones; empty: the controller does"),
    FIELD("castShadows", SF_BOOL, "TRUE", NULL, NULL, "throws shadows"),
    STEPS,
    OLD("model", SF_STRING, "\"\"", "earlier way to name the mesh", "R2021a"),
};

static const NodeType types[] = {
    TYPE("Group", NULL, 0, group, "Holds other nodes."),
    TYPE_SINCE("Pose", "Group", 0, pose, "R2023b", "Holds other nodes at a position and orientation."),
    TYPE("Transform", "Pose", 0, transform, "A Pose with scale, for things that are only seen."),
    TYPE_SINCE("Billboard", "Group", 0, billboard, "R2021b", "Holds things that always face the viewer."),
    TYPE("Solid", "Pose", 0, solid, "A physical object: it can collide, move, carry sensors."),
    TYPE("Physics", NULL, 0, physics, "Mass, centre of mass and inertia of a Solid."),
    TYPE("ImmersionProperties", NULL, 0, immersion_properties, "How one fluid acts on a Solid."),
    TYPE("Fluid", "Pose", 0, fluid, "A volume of liquid or gas with density, viscosity and a stream."),
    TYPE("Charger", "Solid", 0, charger, "A place where robots charge their batteries."),
    TYPE("Robot", "Solid", 0, robot, "A Solid with a program; its devices are the program's senses and actors."),
    TYPE("DifferentialWheelsDrive", NULL, NODE_TALUS, differential_wheels_drive, "What a DifferentialWheels node of an old file said beyond being a Robot."),
    TYPE("Slot", NULL, 0, slot, "A place of a PROTO that accepts matching nodes."),
    TYPE("SolidReference", NULL, 0, solid_reference, "Names a Solid that is elsewhere, to close a loop of joints."),
    TYPE("Propeller", NULL, 0, propeller, "Thrust and torque of a turning propeller."),
    TYPE("Track", "Solid", 0, track, "A belt or caterpillar whose motor drives what it touches."),
    TYPE("TrackWheel", "Group", 0, track_wheel, "A wheel that a Track's belt runs around."),
    TYPE("Skin", "Device", NODE_DEVICE, skin, "A mesh that bends with bones."),
};
// clang-format on

FAMILY(schema_solids, types);
