// Node types that stand once at the root of a world, and what they hold.
#include "scene/schema_internal.h"

// clang-format off
static const FieldType world_info[] = {
    FIELD("info", MF_STRING, "[]", NULL, NULL, "free text: author, licence, purpose"),
    FIELD("title", SF_STRING, "\"\"", NULL, NULL, "title of the world"),
    FIELD("window", SF_STRING, "\"<none>\"", NULL, NULL, "world window plugin; Talus opens none"),
    FIELD("gravity", SF_FLOAT, "9.81", "[0,1000000]", "m/s^2", "strength of gravity, pointing down in the chosen coordinate system"),
    OLD("gravity", SF_VEC3F, "0 -9.81 0", "gravity as a vector", "R2020a"),
    FIELD("CFM", SF_FLOAT, "0.00001", "(0,1000000]", NULL, "constraint force mixing of all constraints without their own"),
    FIELD("ERP", SF_FLOAT, "0.2", "[0,1]", NULL, "share of a constraint's error that one step corrects"),
    FIELD("physics", SF_STRING, "\"<none>\"", NULL, NULL, "name of the physics plugin in the project's plugins/physics folder"),
    FIELD("basicTimeStep", SF_FLOAT, "32", ">0", "ms", "simulated time of one step"),
    FIELD("FPS", SF_FLOAT, "60", ">0", "1/s", "most frames a viewer shows per second in real time"),
    FIELD("optimalThreadCount", SF_INT32, "1", ">=1", NULL, "threads that suit this world"),
    FIELD("physicsDisableTime", SF_FLOAT, "1", ">=0", "s", "a body at rest this long falls asleep; 0: never"),
    FIELD("physicsDisableLinearThreshold", SF_FLOAT, "0.01", ">=0", "m/s", "a body slower than this may fall asleep"),
    FIELD("physicsDisableAngularThreshold", SF_FLOAT, "0.01", ">=0", "rad/s", "a body turning slower than this may fall asleep"),
    FIELD("defaultDamping", SF_NODE, "NULL", "Damping", NULL, "damping of all bodies without their own"),
    FIELD("inkEvaporation", SF_FLOAT, "0", ">=0", NULL, "how fast the ink of Pen devices fades"),
    FIELD("coordinateSystem", SF_STRING, "\"ENU\"", "ENU|NUE|EUN", NULL, "what x, y and z mean on the map: ENU has z up, NUE and EUN have y up"),
    FIELD("gpsCoordinateSystem", SF_STRING, "\"local\"", "local|WGS84", NULL, "what a GPS returns: metres, or latitude, longitude and altitude"),
    FIELD("gpsReference", SF_VEC3F, "0 0 0", NULL, NULL, "latitude, longitude and altitude of the origin, or its local coordinates"),
    FIELD("lineScale", SF_FLOAT, "0.1", ">=0", "m", "length of lines that a viewer draws for axes, rays and so on"),
    FIELD_SINCE("dragForceScale", SF_FLOAT, "30", ">=0", NULL, "force of dragging a solid with the mouse", "R2021b"),
    FIELD_SINCE("dragTorqueScale", SF_FLOAT, "5", ">=0", NULL, "torque of dragging a solid with the mouse", "R2021b"),
    FIELD("randomSeed", SF_INT32, "0", "-1|>=0", NULL, "seed of all noise; -1: another one each time"),
    FIELD("contactProperties", MF_NODE, "[]", "ContactProperties", NULL, "what happens where two materials touch"),
    STATE("gravityDirection", SF_VEC3F, "0 0 0", NULL, "direction of gravity where it is not down, from old files with a slanted gravity vector; 0 0 0: down (Talus)"),
    STATE("contactSurfaceLayer", SF_FLOAT, "0", "m", "depth to which bodies that touch may sink into one another without being pushed apart (Talus)"),
    OLD("northDirection", SF_VEC3F, "0 1 0", "direction of north; follows from coordinateSystem", "R2021b"),
    OLD("fast2d", SF_STRING, "\"\"", "name of a 2D physics plugin", "R2018b"),
    OLD("runRealTime", SF_BOOL, "FALSE", "start in real-time mode", "V7.4"),
    OLD("displayRefresh", SF_INT32, "2", "steps between two frames of the main view", "V8.6"),
    OLD("sound", SF_STRING, "\"\"", "name of a sound plugin", "V6.4"),
    OLD("maxContactPoints", SF_INT32, "-1", "most contact points of a pair, in a development release", "R2023b"),
};

static const FieldType contact_properties[] = {
    FIELD("material1", SF_STRING, "\"default\"", NULL, NULL, "contactMaterial of one solid"),
    FIELD("material2", SF_STRING, "\"default\"", NULL, NULL, "contactMaterial of the other solid"),
    FIELD("coulombFriction", MF_FLOAT, "[1]", "-1|>=0", NULL, "friction coefficients, 1 to 4: both; one each direction; per solid and direction; -1: infinite"),
    FIELD("frictionRotation", SF_VEC2F, "0 0", NULL, "rad", "turns the friction directions of the first and second solid"),
    FIELD_SINCE("rollingFriction", SF_VEC3F, "0 0 0", "-1|>=0", "m", "rolling friction about the two tangents and the normal; -1: infinite", "R2022a"),
    FIELD("bounce", SF_FLOAT, "0.5", "[0,1]", NULL, "restitution: 0 none, 1 perfect"),
    FIELD("bounceVelocity", SF_FLOAT, "0.01", ">=0", "m/s", "slower contacts do not bounce"),
    FIELD("forceDependentSlip", MF_FLOAT, "[0]", ">=0", "m/(s N)", "slip per tangential force, 1 to 4 values like coulombFriction"),
    FIELD("softERP", SF_FLOAT, "0.2", "[0,1]", NULL, "share of the penetration that one step corrects"),
    FIELD("softCFM", SF_FLOAT, "0.001", ">0", NULL, "softness of the contact"),
    FIELD("bumpSound", SF_STRING, "\"webots://projects/default/worlds/sounds/bump.wav\"", NULL, NULL, "sound of a hit"),
    FIELD("rollSound", SF_STRING, "\"webots://projects/default/worlds/sounds/roll.wav\"", NULL, NULL, "sound of rolling"),
    FIELD("slideSound", SF_STRING, "\"webots://projects/default/worlds/sounds/slide.wav\"", NULL, NULL, "sound of sliding"),
    FIELD_SINCE("maxContactJoints", SF_INT32, "10", ">0", NULL, "most contact points kept for one pair of shapes", "R2023b"),
    STATE("staticFriction", SF_FLOAT, "-1", NULL, "friction while the surfaces do not slip, where it is not coulombFriction; -1: the same (Talus)"),
    STATE("oldDirections", SF_BOOL, "FALSE", NULL, "several coefficients act along the directions that releases before R2022a gave to boxes, planes and caps of cylinders (Talus)"),
    OLD("maxContactPoints", SF_INT32, "-1", "earlier name of maxContactJoints in a development release", "R2023b"),
};

static const FieldType damping[] = {
    FIELD("linear", SF_FLOAT, "0.2", "[0,1]", "1/s", "share of the linear velocity lost per second"),
    FIELD("angular", SF_FLOAT, "0.2", "[0,1]", "1/s", "share of the angular velocity lost per second"),
};

static const FieldType viewpoint[] = {
    FIELD("fieldOfView", SF_FLOAT, "0.785398", "(0,3.1415926535897931)", "rad", "angle of view along the longer side of the window"),
    FIELD("orientation", SF_ROTATION, "0 0 1 0", NULL, NULL, "where the viewer looks: the identity looks along +x with z up"),
    FIELD("position", SF_VEC3F, "-10 0 0", NULL, "m", "where the viewer stands"),
    FIELD("description", SF_STRING, "\"\"", NULL, NULL, "free text"),
    FIELD("near", SF_FLOAT, "0.05", ">0", "m", "nothing closer is shown"),
    FIELD("far", SF_FLOAT, "0", ">=0", "m", "nothing farther is shown; 0: no bound"),
    FIELD("exposure", SF_FLOAT, "1", ">=0", NULL, "brightness factor"),
    FIELD("follow", SF_STRING, "\"\"", NULL, NULL, "name of the solid that the viewpoint follows"),
    FIELD_SINCE("followType", SF_STRING, "\"Tracking Shot\"", "None|Tracking Shot|Mounted Shot|Pan and Tilt Shot", NULL, "how it follows: its position, its pose, or by turning", "R2020a"),
    FIELD("followSmoothness", SF_FLOAT, "0.5", "[0,1]", NULL, "0 follows at once, 1 very slowly"),
    FIELD("lensFlare", SF_NODE, "NULL", "LensFlare", NULL, "flare of lights in the lens"),
    FIELD("ambientOcclusionRadius", SF_FLOAT, "2", ">=0", "m", "reach of ambient occlusion; 0: off"),
    FIELD("bloomThreshold", SF_FLOAT, "21", "-1|>=0", NULL, "brighter pixels glow; -1: off"),
    OLD("followOrientation", SF_BOOL, "FALSE", "TRUE follows the pose: followType \"Mounted Shot\"", "R2019b"),
    OLD("jump", SF_BOOL, "TRUE", "how a VRML97 browser moves here", "VRML97"),
};

static const FieldType background[] = {
    FIELD("skyColor", MF_COLOR, "[0 0 0]", "[0,1]", NULL, "colour of the sky"),
    FIELD("backUrl", MF_STRING, "[]", NULL, NULL, "image of the cube's back side"),
    FIELD("bottomUrl", MF_STRING, "[]", NULL, NULL, "image of the cube's bottom side"),
    FIELD("frontUrl", MF_STRING, "[]", NULL, NULL, "image of the cube's front side"),
    FIELD("leftUrl", MF_STRING, "[]", NULL, NULL, "image of the cube's left side"),
    FIELD("rightUrl", MF_STRING, "[]", NULL, NULL, "image of the cube's right side"),
    FIELD("topUrl", MF_STRING, "[]", NULL, NULL, "image of the cube's top side"),
    FIELD("backIrradianceUrl", MF_STRING, "[]", NULL, NULL, "light that comes from the back side"),
    FIELD("bottomIrradianceUrl", MF_STRING, "[]", NULL, NULL, "light that comes from the bottom side"),
    FIELD("frontIrradianceUrl", MF_STRING, "[]", NULL, NULL, "light that comes from the front side"),
    FIELD("leftIrradianceUrl", MF_STRING, "[]", NULL, NULL, "light that comes from the left side"),
    FIELD("rightIrradianceUrl", MF_STRING, "[]", NULL, NULL, "light that comes from the right side"),
    FIELD("topIrradianceUrl", MF_STRING, "[]", NULL, NULL, "light that comes from the top side"),
    FIELD("luminosity", SF_FLOAT, "1", ">=0", NULL, "scales the light of the background"),
    OLD("cubemap", SF_NODE, "NULL", "the six images as a Cubemap", "R2019a"),
    OLD("groundAngle", MF_FLOAT, "[]", "angles of the ground's colour bands", "VRML97"),
    OLD("groundColor", MF_COLOR, "[]", "colours of the ground", "VRML97"),
    OLD("skyAngle", MF_FLOAT, "[]", "angles of the sky's colour bands", "VRML97"),
};

static const FieldType fog[] = {
    FIELD("color", SF_COLOR, "1 1 1", "[0,1]", NULL, "colour of the fog"),
    FIELD("fogType", SF_STRING, "\"LINEAR\"", "LINEAR|EXPONENTIAL|EXPONENTIAL2", NULL, "how fog grows with distance"),
    FIELD("visibilityRange", SF_FLOAT, "0", ">=0", "m", "distance at which all is fog; 0: no fog"),
};

static const NodeType types[] = {
    TYPE("WorldInfo", NULL, 0, world_info, "The world as a whole: time step, gravity, contact properties, title. Exactly one, at the root."),
    TYPE("ContactProperties", NULL, 0, contact_properties, "Friction, bounce, softness and sounds of contacts between two materials."),
    TYPE("Damping", NULL, 0, damping, "Slows bodies down as if they moved in air."),
    TYPE("Viewpoint", NULL, 0, viewpoint, "Where a viewer stands and where it looks. Exactly one, at the root."),
    TYPE("Background", NULL, 0, background, "Colour or images behind everything."),
    TYPE("Fog", NULL, 0, fog, "Fades far things into a colour. At the root."),
};
// clang-format on

FAMILY(schema_world, types);
