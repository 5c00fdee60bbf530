// Node types of OpenHRP models: VRML97 files in which PROTOs Humanoid, Joint, Segment and sensors describe a robot.
// Each such file declares the same PROTOs; here they are rows, under names of their own because Joint and Gyro mean
// other things in worlds. The parser asks for them when it reads a VRML97 file; formats/body/body_humanoid.c makes a
// body of them.
#include "scene/schema_internal.h"

#include <stdio.h>
#include <string.h>

#define PREFIX "Hrp"

// clang-format off
static const FieldType humanoid[] = {
    FIELD("humanoidBody", MF_NODE, "[]", "HrpJoint", NULL, "the root joint"),
    FIELD("name", SF_STRING, "\"\"", NULL, NULL, "name"),
    FIELD("version", SF_STRING, "\"\"", NULL, NULL, "version of H-Anim"),
    FIELD("info", MF_STRING, "[]", NULL, NULL, "free text"),
    FIELD("joints", MF_NODE, "[]", NULL, NULL, "all joints once more"),
    FIELD("segments", MF_NODE, "[]", NULL, NULL, "all segments once more"),
    FIELD("sites", MF_NODE, "[]", NULL, NULL, "points of interest"),
    FIELD("viewpoints", MF_NODE, "[]", NULL, NULL, "views"),
};
static const FieldType joint[] = {
    FIELD("name", SF_STRING, "\"\"", NULL, NULL, "name"),
    FIELD("jointType", SF_STRING, "\"\"", NULL, NULL, "free, fixed, rotate, slide or crawler"),
    FIELD("jointId", SF_INT32, "-1", NULL, NULL, "index of the joint; -1: none"),
    FIELD("jointAxis", SF_VEC3F, "0 0 1", NULL, NULL, "axis in the frame of the joint"),
    OLD("jointAxis", SF_STRING, "\"Z\"", "axis by its name: X, Y or Z", "VRML97"),
    FIELD("jointValue", SF_FLOAT, "0", NULL, NULL, "position of the model as drawn"),
    FIELD("ulimit", MF_FLOAT, "[]", NULL, "rad or m", "upper end of the range"),
    FIELD("llimit", MF_FLOAT, "[]", NULL, "rad or m", "lower end of the range"),
    FIELD("uvlimit", MF_FLOAT, "[]", NULL, "rad/s or m/s", "greatest velocity"),
    FIELD("lvlimit", MF_FLOAT, "[]", NULL, "rad/s or m/s", "smallest velocity"),
    FIELD("climit", MF_FLOAT, "[]", NULL, "A", "greatest current"),
    FIELD("dh", MF_FLOAT, "[]", NULL, NULL, "parameters of Denavit and Hartenberg"),
    FIELD("limitOrientation", SF_ROTATION, "0 0 1 0", NULL, NULL, "frame of the limits"),
    FIELD("stiffness", MF_FLOAT, "[]", NULL, NULL, "stiffness of the three axes"),
    FIELD("gearRatio", SF_FLOAT, "1", NULL, NULL, "turns of the motor for one of the joint"),
    FIELD("gearEfficiency", SF_FLOAT, "1", NULL, NULL, "efficiency of the gear"),
    FIELD("rotorInertia", SF_FLOAT, "0", NULL, "kg m^2", "inertia of the motor"),
    FIELD("rotorResistor", SF_FLOAT, "0", NULL, "ohm", "resistance of the motor"),
    FIELD("torqueConst", SF_FLOAT, "1", NULL, "N m/A", "torque constant of the motor"),
    FIELD("encoderPulse", SF_FLOAT, "1", NULL, NULL, "pulses of the encoder for one turn"),
    FIELD("equivalentInertia", SF_FLOAT, "-1", NULL, "kg m^2", "what the motor adds on the axis; below 0: from the gear"),
};
static const FieldType segment[] = {
    FIELD("name", SF_STRING, "\"\"", NULL, NULL, "name"),
    FIELD("mass", SF_FLOAT, "0", NULL, "kg", "mass"),
    FIELD("centerOfMass", SF_VEC3F, "0 0 0", NULL, "m", "centre of mass"),
    FIELD("momentsOfInertia", MF_FLOAT, "[]", NULL, "kg m^2", "inertia about the centre of mass, nine numbers"),
    FIELD("coord", SF_NODE, "NULL", NULL, NULL, "points of its surface"),
    FIELD("displacers", MF_NODE, "[]", NULL, NULL, "deformations"),
};
static const FieldType surface[] = {
    FIELD("name", SF_STRING, "\"\"", NULL, NULL, "name"),
    FIELD("visual", MF_NODE, "[]", NULL, NULL, "what is seen"),
    FIELD("collision", MF_NODE, "[]", NULL, NULL, "what collides"),
};
#define SENSOR_ID FIELD("sensorId", SF_INT32, "-1", NULL, NULL, "index of the sensor"), \
                  FIELD("deviceId", SF_INT32, "-1", NULL, NULL, "index of the device"), \
                  FIELD("name", SF_STRING, "\"\"", NULL, NULL, "name")
static const FieldType force_sensor[] = {
    SENSOR_ID,
    FIELD("maxForce", SF_VEC3F, "-1 -1 -1", NULL, "N", "rating; below 0: none"),
    FIELD("maxTorque", SF_VEC3F, "-1 -1 -1", NULL, "N m", "rating; below 0: none"),
};
static const FieldType gyro[] = { SENSOR_ID, FIELD("maxAngularVelocity", SF_VEC3F, "-1 -1 -1", NULL, "rad/s", "rating; below 0: none") };
static const FieldType acceleration_sensor[] = { SENSOR_ID, FIELD("maxAcceleration", SF_VEC3F, "-1 -1 -1", NULL, "m/s^2", "rating; below 0: none") };
static const FieldType pressure_sensor[] = { SENSOR_ID, FIELD("maxPressure", SF_FLOAT, "-1", NULL, "Pa", "rating; below 0: none") };
static const FieldType photo_interrupter[] = {
    SENSOR_ID,
    FIELD("transmitter", SF_VEC3F, "0 0 0", NULL, "m", "where the light comes from"),
    FIELD("receiver", SF_VEC3F, "0 0 0", NULL, "m", "where it goes"),
};
static const FieldType vision_sensor[] = {
    SENSOR_ID,
    FIELD("type", SF_STRING, "\"NONE\"", NULL, NULL, "COLOR, MONO, DEPTH, COLOR_DEPTH, MONO_DEPTH, POINT_CLOUD or COLOR_POINT_CLOUD"),
    FIELD("width", SF_INT32, "320", NULL, NULL, "pixels across"),
    FIELD("height", SF_INT32, "240", NULL, NULL, "pixels down"),
    FIELD("fieldOfView", SF_FLOAT, "0.785398", NULL, "rad", "view across the smaller side"),
    FIELD("frontClipDistance", SF_FLOAT, "0.01", NULL, "m", "nearest distance"),
    FIELD("backClipDistance", SF_FLOAT, "10", NULL, "m", "farthest distance"),
    FIELD("frameRate", SF_FLOAT, "30", NULL, "1/s", "pictures a second"),
    FIELD("on", SF_BOOL, "TRUE", NULL, NULL, "works from the start"),
};
static const FieldType range_sensor[] = {
    SENSOR_ID,
    FIELD("scanAngle", SF_FLOAT, "3.14159", NULL, "rad", "whole angle"),
    FIELD("scanStep", SF_FLOAT, "0.1", NULL, "rad", "angle between rays"),
    FIELD("scanRate", SF_FLOAT, "10", NULL, "1/s", "scans a second"),
    FIELD("minDistance", SF_FLOAT, "0.01", NULL, "m", "nearest distance"),
    FIELD("maxDistance", SF_FLOAT, "10", NULL, "m", "farthest distance"),
    FIELD("on", SF_BOOL, "TRUE", NULL, NULL, "works from the start"),
};
static const FieldType spot_light_device[] = {
    SENSOR_ID,
    FIELD("attenuation", SF_VEC3F, "1 0 0", NULL, NULL, "attenuation with distance"),
    FIELD("beamWidth", SF_FLOAT, "1.570796", NULL, "rad", "angle of full light"),
    FIELD("color", SF_COLOR, "1 1 1", NULL, NULL, "colour"),
    FIELD("cutOffAngle", SF_FLOAT, "0.785398", NULL, "rad", "angle at which it ends"),
    FIELD("direction", SF_VEC3F, "0 0 -1", NULL, NULL, "direction"),
    FIELD("intensity", SF_FLOAT, "1", NULL, NULL, "intensity"),
    FIELD("on", SF_BOOL, "TRUE", NULL, NULL, "shines from the start"),
};
static const FieldType extra_joint[] = {
    FIELD("link1Name", SF_STRING, "\"\"", NULL, NULL, "first link"),
    FIELD("link2Name", SF_STRING, "\"\"", NULL, NULL, "second link"),
    FIELD("link1LocalPos", SF_VEC3F, "0 0 0", NULL, "m", "point in the first link"),
    FIELD("link2LocalPos", SF_VEC3F, "0 0 0", NULL, "m", "point in the second link"),
    FIELD("jointType", SF_STRING, "\"ball\"", NULL, NULL, "ball or piston"),
    FIELD("jointAxis", SF_VEC3F, "1 0 0", NULL, NULL, "axis of a piston"),
};

#define HUMANOID(name, parent, rows, help) TYPE_UNTIL(PREFIX name, parent, NODE_VRML97, rows, "VRML97", help)

static const NodeType types[] = {
    HUMANOID("Humanoid", "Transform", humanoid, "A robot of OpenHRP."),
    HUMANOID("Joint", "Transform", joint, "A link of a robot and the joint that holds it."),
    HUMANOID("Segment", "Group", segment, "Mass and shapes of a link."),
    HUMANOID("Surface", NULL, surface, "Shapes that are seen and shapes that collide."),
    HUMANOID("ForceSensor", "Transform", force_sensor, "Force and torque at a joint."),
    HUMANOID("Gyro", "Transform", gyro, "Rate of turn."),
    HUMANOID("AccelerationSensor", "Transform", acceleration_sensor, "Acceleration."),
    HUMANOID("PressureSensor", "Transform", pressure_sensor, "Pressure."),
    HUMANOID("PhotoInterrupter", "Transform", photo_interrupter, "A light barrier."),
    HUMANOID("VisionSensor", "Transform", vision_sensor, "A camera."),
    HUMANOID("RangeSensor", "Transform", range_sensor, "A scanner of distances."),
    HUMANOID("SpotLightDevice", "Transform", spot_light_device, "A lamp."),
    HUMANOID("ExtraJoint", NULL, extra_joint, "A joint that closes a loop."),
};
// clang-format on

FAMILY(schema_humanoid, types);

const NodeType *schema_humanoid_type(const char *name, size_t length)
{
    char full[32];
    if (length + sizeof PREFIX > sizeof full)
        return NULL;
    snprintf(full, sizeof full, PREFIX "%.*s", (int)length, name);
    return schema_type_text(full, strlen(full));
}

const char *schema_type_label(const NodeType *type)
{
    bool is_humanoid = (type->flags & NODE_VRML97) && !strncmp(type->name, PREFIX, strlen(PREFIX));
    return type->name + (is_humanoid ? strlen(PREFIX) : 0);
}
