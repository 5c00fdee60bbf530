// Devices that have a body of their own (they are Solids), and the nodes that configure them.
#include "scene/schema_internal.h"

// clang-format off
#define PI "3.1415926535897931"
#define TWO_PI "6.2831853071795862"
#define RESOLUTION(unit) FIELD("resolution", SF_FLOAT, "-1", "-1|>=0", unit, "smallest step of the reading; -1: none")
#define AXES \
    FIELD("xAxis", SF_BOOL, "TRUE", NULL, NULL, "measures along or about x"), \
    FIELD("yAxis", SF_BOOL, "TRUE", NULL, NULL, "measures along or about y"), \
    FIELD("zAxis", SF_BOOL, "TRUE", NULL, NULL, "measures along or about z")
#define LOOKUP_TABLE(preset) \
    FIELD("lookupTable", MF_VEC3F, preset, NULL, NULL, "rows of measured value, returned value, relative noise; empty: unchanged")

#define RATING(unit) STATE("maxReading", SF_VEC3F, "-1 -1 -1", unit, "readings are held within this on each axis; -1: no bound (Talus)")
static const FieldType accelerometer[] = { DEVICE_NAME("accelerometer"), LOOKUP_TABLE("[]"), AXES, RESOLUTION("m/s^2"), RATING("m/s^2") };
static const FieldType compass[] = { DEVICE_NAME("compass"), LOOKUP_TABLE("[]"), AXES, RESOLUTION(NULL) };
static const FieldType gyro[] = { DEVICE_NAME("gyro"), LOOKUP_TABLE("[]"), AXES, RESOLUTION("rad/s"), RATING("rad/s") };
static const FieldType altimeter[] = {
    DEVICE_NAME("altimeter"),
    FIELD("accuracy", SF_FLOAT, "0", ">=0", "m", "standard deviation of the noise"),
    RESOLUTION("m"),
};
static const FieldType inertial_unit[] = {
    DEVICE_NAME("inertial unit"),
    FIELD_SINCE("noise", SF_FLOAT, "0", ">=0", "rad", "standard deviation of the noise", "R2021a"),
    AXES, RESOLUTION("rad"),
    OLD("lookupTable", MF_VEC3F, "[]", "rows like those of other sensors; now noise", "R2020b"),
};
static const FieldType gps[] = {
    DEVICE_NAME("gps"),
    FIELD("type", SF_STRING, "\"satellite\"", "satellite|laser", NULL, "kind of positioning system"),
    FIELD("accuracy", SF_FLOAT, "0", ">=0", "m", "standard deviation of the noise"),
    FIELD("noiseCorrelation", SF_FLOAT, "0", "[0,1]", NULL, "how much the noise of one second stays in the next"),
    RESOLUTION("m"),
    FIELD("speedNoise", SF_FLOAT, "0", ">=0", "m/s", "standard deviation of the speed's noise"),
    FIELD("speedResolution", SF_FLOAT, "-1", "-1|>=0", "m/s", "smallest step of the speed; -1: none"),
};
static const FieldType camera[] = {
    DEVICE_NAME("camera"),
    FIELD("fieldOfView", SF_FLOAT, "0.785398", "(0," TWO_PI "]", "rad", "horizontal angle of view"),
    FIELD("width", SF_INT32, "64", ">0", "px", "columns of the image"),
    FIELD("height", SF_INT32, "64", ">0", "px", "rows of the image"),
    FIELD_SINCE("projection", SF_STRING, "\"planar\"", "planar|cylindrical|spherical|fisheye|dual fisheye", NULL, "how directions map to pixels; the last two as in Choreonoid", "R2023a"),
    FIELD("near", SF_FLOAT, "0.01", ">0", "m", "sees nothing closer"),
    FIELD("far", SF_FLOAT, "0", ">=0", "m", "sees nothing farther; 0: no bound"),
    FIELD("exposure", SF_FLOAT, "1", ">=0", NULL, "brightness factor"),
    FIELD("antiAliasing", SF_BOOL, "FALSE", NULL, NULL, "smooth edges"),
    FIELD("ambientOcclusionRadius", SF_FLOAT, "0", ">=0", "m", "reach of ambient occlusion; 0: off"),
    FIELD("bloomThreshold", SF_FLOAT, "-1", "-1|>=0", NULL, "brighter pixels glow; -1: off"),
    FIELD("motionBlur", SF_FLOAT, "0", ">=0", "ms", "time in which a change is half seen; 0: at once"),
    FIELD("noise", SF_FLOAT, "0", "[0,1]", NULL, "standard deviation of the colour noise"),
    FIELD("noiseMaskUrl", SF_STRING, "\"\"", NULL, NULL, "image of the noise"),
    FIELD("lens", SF_NODE, "NULL", "Lens|CameraLensDistortion", NULL, "distortion of the lens"),
    FIELD("focus", SF_NODE, "NULL", "Focus|CameraFocus", NULL, "focus of the lens"),
    FIELD("zoom", SF_NODE, "NULL", "Zoom|CameraZoom", NULL, "bounds of the zoom"),
    FIELD("recognition", SF_NODE, "NULL", "Recognition", NULL, "recognises solids in the image"),
    FIELD("lensFlare", SF_NODE, "NULL", "LensFlare", NULL, "flare of lights in the lens"),
    OLD("spherical", SF_BOOL, "FALSE", "TRUE: projection \"cylindrical\"", "R2022b"),
    OLD("windowPosition", SF_VEC2F, "0 0", "place of its window", "R2022b"),
    OLD("pixelSize", SF_FLOAT, "1", "size of a pixel in its window", "R2022b"),
    OLD("type", SF_STRING, "\"color\"", "\"color\", \"black and white\", \"range-finder\" or \"both\"", "V8.3"),
    OLD("colorNoise", SF_FLOAT, "0", "standard deviation of the colour noise; now noise", "V8.3"),
    OLD("rangeNoise", SF_FLOAT, "0", "noise of the range image; now of RangeFinder", "V8.3"),
    OLD("rangeResolution", SF_FLOAT, "-1", "step of the range image; now of RangeFinder", "V8.3"),
    OLD("maxRange", SF_FLOAT, "1", "greatest range; now of RangeFinder", "V8.3"),
    OLD("display", SF_BOOL, "TRUE", "whether it has a window", "V6.0"),
};
#define DETECTION STATE("detectionRate", SF_FLOAT, "1", NULL, "share of the points that are seen, the others are lost at random (Talus)")
static const FieldType range_finder[] = {
    DEVICE_NAME("range-finder"),
    DETECTION,
    FIELD("fieldOfView", SF_FLOAT, "0.785398", "(0," TWO_PI "]", "rad", "horizontal angle of view"),
    FIELD("width", SF_INT32, "64", ">0", "px", "columns of the image"),
    FIELD("height", SF_INT32, "64", ">0", "px", "rows of the image"),
    FIELD_SINCE("projection", SF_STRING, "\"planar\"", "planar|cylindrical|spherical|fisheye|dual fisheye", NULL, "how directions map to pixels; the last two as in Choreonoid", "R2023a"),
    FIELD("near", SF_FLOAT, "0.01", ">0", "m", "sees nothing closer"),
    FIELD("minRange", SF_FLOAT, "0.01", ">=0", "m", "least range"),
    FIELD("maxRange", SF_FLOAT, "1", ">0", "m", "greatest range"),
    FIELD("motionBlur", SF_FLOAT, "0", ">=0", "ms", "time in which a change is half seen; 0: at once"),
    FIELD("noise", SF_FLOAT, "0", ">=0", NULL, "standard deviation relative to maxRange"),
    RESOLUTION("m"),
    FIELD("lens", SF_NODE, "NULL", "Lens|CameraLensDistortion", NULL, "distortion of the lens"),
    OLD("spherical", SF_BOOL, "FALSE", "TRUE: projection \"cylindrical\"", "R2022b"),
    OLD("windowPosition", SF_VEC2F, "0 0", "place of its window", "R2022b"),
    OLD("pixelSize", SF_FLOAT, "1", "size of a pixel in its window", "R2022b"),
};
static const FieldType lidar[] = {
    DEVICE_NAME("lidar"),
    DETECTION,
    FIELD("tiltAngle", SF_FLOAT, "0", "[-1.5707963267948966,1.5707963267948966]", "rad", "tilt of all layers"),
    FIELD("horizontalResolution", SF_INT32, "512", ">0", "px", "points of one layer"),
    FIELD("fieldOfView", SF_FLOAT, "1.5708", "(0," TWO_PI "]", "rad", "horizontal angle of view"),
    FIELD("verticalFieldOfView", SF_FLOAT, "0.2", "(0," PI "]", "rad", "angle between the first and the last layer"),
    FIELD("numberOfLayers", SF_INT32, "4", ">0", NULL, "layers"),
    FIELD("near", SF_FLOAT, "0.01", ">0", "m", "sees nothing closer"),
    FIELD("minRange", SF_FLOAT, "0.01", ">0", "m", "least range"),
    FIELD("maxRange", SF_FLOAT, "1", ">0", "m", "greatest range"),
    FIELD("type", SF_STRING, "\"fixed\"", "fixed|rotating", NULL, "whether its head turns"),
    FIELD_SINCE("projection", SF_STRING, "\"cylindrical\"", "planar|cylindrical", NULL, "how directions map to points", "R2023a"),
    FIELD("noise", SF_FLOAT, "0", ">=0", NULL, "standard deviation relative to maxRange"),
    RESOLUTION("m"),
    FIELD("defaultFrequency", SF_FLOAT, "10", ">0", "Hz", "turns per second at the start"),
    FIELD("minFrequency", SF_FLOAT, "1", ">0", "Hz", "fewest turns per second"),
    FIELD("maxFrequency", SF_FLOAT, "25", ">0", "Hz", "most turns per second"),
    FIELD("rotatingHead", SF_NODE, "NULL", "Solid|Slot", NULL, "what turns, to look at"),
    OLD("spherical", SF_BOOL, "TRUE", "FALSE: projection \"planar\"", "R2022b"),
};
static const FieldType radar[] = {
    DEVICE_NAME("radar"),
    FIELD("minRange", SF_FLOAT, "1", ">=0", "m", "least range"),
    FIELD("maxRange", SF_FLOAT, "50", ">0", "m", "greatest range"),
    FIELD("horizontalFieldOfView", SF_FLOAT, "0.78", "(0," TWO_PI "]", "rad", "horizontal angle of view"),
    FIELD("verticalFieldOfView", SF_FLOAT, "0.1", "(0," PI "]", "rad", "vertical angle of view"),
    FIELD("minAbsoluteRadialSpeed", SF_FLOAT, "0", ">=0", "m/s", "slower targets are not seen"),
    FIELD("minRadialSpeed", SF_FLOAT, "0", NULL, "m/s", "least speed towards it"),
    FIELD("maxRadialSpeed", SF_FLOAT, "0", NULL, "m/s", "greatest speed towards it; not above the least: no bound"),
    FIELD("cellDistance", SF_FLOAT, "0", ">=0", "m", "targets closer to one another are one"),
    FIELD("cellSpeed", SF_FLOAT, "0", ">=0", "m/s", "targets with speeds closer to one another are one"),
    FIELD("rangeNoise", SF_FLOAT, "0", ">=0", "m", "standard deviation of the range"),
    FIELD("speedNoise", SF_FLOAT, "0", ">=0", "m/s", "standard deviation of the speed"),
    FIELD("angularNoise", SF_FLOAT, "0", ">=0", "rad", "standard deviation of the direction"),
    FIELD("antennaGain", SF_FLOAT, "20", NULL, "dBi", "gain of the antenna"),
    FIELD("frequency", SF_FLOAT, "24", ">0", "GHz", "frequency"),
    FIELD("transmittedPower", SF_FLOAT, "20", NULL, "dBm", "power it sends"),
    FIELD("minDetectableSignal", SF_FLOAT, "-100", NULL, "dBm", "weaker echoes are not heard"),
    FIELD("occlusion", SF_BOOL, "FALSE", NULL, NULL, "solids hide targets"),
};
static const FieldType connector[] = {
    DEVICE_NAME("connector"),
    FIELD("type", SF_STRING, "\"symmetric\"", "symmetric|active|passive", NULL, "symmetric ones join one another, active ones passive ones"),
    FIELD("isLocked", SF_BOOL, "FALSE", NULL, NULL, "is locked at the start"),
    FIELD("autoLock", SF_BOOL, "FALSE", NULL, NULL, "locks by itself when another is present"),
    FIELD("unilateralLock", SF_BOOL, "TRUE", NULL, NULL, "one lock suffices; FALSE: both must lock"),
    FIELD("unilateralUnlock", SF_BOOL, "TRUE", NULL, NULL, "one unlock suffices; FALSE: both must unlock"),
    FIELD("distanceTolerance", SF_FLOAT, "0.01", ">=0", "m", "most distance at which they lock"),
    FIELD("axisTolerance", SF_FLOAT, "0.2", "[0," PI "]", "rad", "most angle between their axes"),
    FIELD("rotationTolerance", SF_FLOAT, "0.2", "[0," PI "]", "rad", "most turn from a docking position"),
    FIELD("numberOfRotations", SF_INT32, "4", ">=0", NULL, "docking positions in a full turn; 0: any"),
    FIELD("snap", SF_BOOL, "TRUE", NULL, NULL, "pulls them into place when they lock"),
    FIELD("tensileStrength", SF_FLOAT, "-1", "-1|>=0", "N", "breaks when pulled harder; -1: never"),
    FIELD("shearStrength", SF_FLOAT, "-1", "-1|>=0", "N", "breaks when sheared harder; -1: never"),
};
static const FieldType vacuum_gripper[] = {
    DEVICE_NAME("vacuum gripper"),
    FIELD("isOn", SF_BOOL, "FALSE", NULL, NULL, "is on at the start"),
    FIELD("tensileStrength", SF_FLOAT, "-1", "-1|>=0", "N", "lets go when pulled harder; -1: never"),
    FIELD("shearStrength", SF_FLOAT, "-1", "-1|>=0", "N", "lets go when sheared harder; -1: never"),
    FIELD("contactPoints", SF_INT32, "3", ">0", NULL, "contact points it needs to hold something"),
};
static const FieldType display[] = {
    DEVICE_NAME("display"),
    FIELD("width", SF_INT32, "64", ">=1", "px", "columns"),
    FIELD("height", SF_INT32, "64", ">=1", "px", "rows"),
    OLD("windowPosition", SF_VEC2F, "0 0", "place of its window", "R2023b"),
    OLD("pixelSize", SF_FLOAT, "1", "size of a pixel in its window", "R2023b"),
};
static const FieldType distance_sensor[] = {
    DEVICE_NAME("distance sensor"),
    LOOKUP_TABLE("[0 0 0, 0.1 1000 0]"),
    FIELD("type", SF_STRING, "\"generic\"", "generic|infra-red|sonar|laser", NULL, "what it measures with"),
    FIELD("numberOfRays", SF_INT32, "1", ">=1", NULL, "rays; a laser has exactly one"),
    FIELD("aperture", SF_FLOAT, "1.5708", "[0," TWO_PI "]", "rad", "angle of the cone of rays"),
    FIELD("gaussianWidth", SF_FLOAT, "1", ">=0", NULL, "how the rays are weighted towards the middle"),
    RESOLUTION(NULL),
    FIELD_SINCE("redColorSensitivity", SF_FLOAT, "1", ">=0", NULL, "how red things change an infra-red reading", "R2021b"),
};
static const FieldType emitter[] = {
    DEVICE_NAME("emitter"),
    FIELD("type", SF_STRING, "\"radio\"", "infra-red|radio|serial", NULL, "what carries the messages"),
    FIELD("range", SF_FLOAT, "-1", "-1|>=0", "m", "farthest receiver; -1: no bound"),
    FIELD("maxRange", SF_FLOAT, "-1", "-1|>=0", "m", "most that a controller may set as range; -1: no bound"),
    FIELD("aperture", SF_FLOAT, "-1", "-1|[0," TWO_PI "]", "rad", "cone of an infra-red emitter; -1: all directions"),
    FIELD("channel", SF_INT32, "0", ">=-1", NULL, "channel; -1: all"),
    FIELD("baudRate", SF_INT32, "-1", "-1|>0", "bit/s", "speed; -1: at once"),
    FIELD("byteSize", SF_INT32, "8", ">=8", "bit", "bits sent per byte"),
    FIELD("bufferSize", SF_INT32, "-1", "-1|>0", "byte", "bytes that wait to be sent; -1: no bound"),
    FIELD_SINCE("allowedChannels", MF_INT32, "[]", NULL, NULL, "channels that a controller may set; empty: all", "R2021b"),
};
static const FieldType receiver[] = {
    DEVICE_NAME("receiver"),
    FIELD("type", SF_STRING, "\"radio\"", "infra-red|radio|serial", NULL, "what carries the messages"),
    FIELD("aperture", SF_FLOAT, "-1", "-1|[0," TWO_PI "]", "rad", "cone of an infra-red receiver; -1: all directions"),
    FIELD("channel", SF_INT32, "0", ">=-1", NULL, "channel; -1: all"),
    FIELD("baudRate", SF_INT32, "-1", "-1|>0", "bit/s", "speed; -1: at once"),
    FIELD("byteSize", SF_INT32, "8", ">=8", "bit", "bits received per byte"),
    FIELD("bufferSize", SF_INT32, "-1", "-1|>0", "byte", "bytes that wait to be read; -1: no bound"),
    FIELD("signalStrengthNoise", SF_FLOAT, "0", ">=0", NULL, "standard deviation of the signal strength"),
    FIELD("directionNoise", SF_FLOAT, "0", ">=0", "rad", "standard deviation of the emitter's direction"),
    FIELD_SINCE("allowedChannels", MF_INT32, "[]", NULL, NULL, "channels that a controller may set; empty: all", "R2021b"),
};
static const FieldType led[] = {
    DEVICE_NAME("led"),
    FIELD("color", MF_COLOR, "[1 0 0]", "[0,1]", NULL, "colours that it can show"),
    FIELD("gradual", SF_BOOL, "FALSE", NULL, NULL, "any brightness or colour; FALSE: on or off"),
};
static const FieldType light_sensor[] = {
    DEVICE_NAME("light sensor"),
    LOOKUP_TABLE("[0 0 0, 1 1000 0]"),
    FIELD("colorFilter", SF_COLOR, "1 1 1", "[0,1]", NULL, "what it sees of each colour"),
    FIELD("occlusion", SF_BOOL, "FALSE", NULL, NULL, "solids shade it"),
    RESOLUTION(NULL),
};
static const FieldType pen[] = {
    DEVICE_NAME("pen"),
    FIELD("inkColor", SF_COLOR, "0 0 0", "[0,1]", NULL, "colour of the ink"),
    FIELD("inkDensity", SF_FLOAT, "0.5", "[0,1]", NULL, "how the ink covers"),
    FIELD("leadSize", SF_FLOAT, "0.002", ">=0", "m", "width of the line"),
    FIELD("maxDistance", SF_FLOAT, "0", ">=0", "m", "farthest surface it writes on; 0: no bound"),
    FIELD("write", SF_BOOL, "TRUE", NULL, NULL, "writes at the start"),
};
static const FieldType touch_sensor[] = {
    DEVICE_NAME("touch sensor"),
    FIELD("type", SF_STRING, "\"bumper\"", "bumper|force|force-3d", NULL, "what it measures"),
    LOOKUP_TABLE("[0 0 0, 5000 50000 0]"),
    RESOLUTION("N"),
    OLD("enabled", SF_BOOL, "TRUE", "of the VRML97 node of the same name", "VRML97"),
};
static const FieldType speaker[] = {
    DEVICE_NAME("speaker"),
    OLD("aperture", SF_FLOAT, "-1", "cone into which it sounds", "R2019b"),
    OLD("power", SF_FLOAT, "1", "loudness", "R2019b"),
};
static const FieldType microphone[] = {
    DEVICE_NAME("microphone"),
    FIELD("aperture", SF_FLOAT, "-1", "-1|[0," TWO_PI "]", "rad", "cone in which it hears; -1: all directions"),
    FIELD("sensitivity", SF_FLOAT, "-50", NULL, "dB", "loudness of what it hears; at -50 clips are as loud as they are"),
};
static const FieldType radio[] = {
    DEVICE_NAME("radio"),
    FIELD("protocol", SF_STRING, "\"802.11b\"", NULL, NULL, "protocol"),
    FIELD("txPowerMin", SF_FLOAT, "-10", NULL, "dBm", "least power"),
    FIELD("txPowerMax", SF_FLOAT, "10", NULL, "dBm", "most power"),
    FIELD("address", SF_STRING, "\"\"", NULL, NULL, "address"),
    FIELD("rxSensitivity", SF_FLOAT, "-100", NULL, "dBm", "weaker signals are not heard"),
    FIELD("txPower", SF_FLOAT, "5", NULL, "dBm", "power it sends"),
    FIELD("frequency", SF_FLOAT, "2400000000", ">0", "Hz", "frequency"),
    FIELD("channel", SF_INT32, "0", ">=0", NULL, "channel"),
    FIELD("bitrate", SF_INT32, "1000000", ">0", "bit/s", "speed"),
};
static const FieldType lens[] = {
    FIELD("center", SF_VEC2F, "0.5 0.5", "[0,1]", NULL, "centre of the distortion in the image"),
    FIELD("radialCoefficients", SF_VEC2F, "0 0", NULL, NULL, "radial distortion"),
    FIELD("tangentialCoefficients", SF_VEC2F, "0 0", NULL, NULL, "tangential distortion"),
};
static const FieldType focus[] = {
    FIELD("focalDistance", SF_FLOAT, "0", ">=0", "m", "distance that is sharp; 0: all is"),
    FIELD("focalLength", SF_FLOAT, "0", ">=0", "m", "focal length"),
    FIELD("maxFocalDistance", SF_FLOAT, "0", ">=0", "m", "most that a controller may set"),
    FIELD("minFocalDistance", SF_FLOAT, "0", ">=0", "m", "least that a controller may set"),
};
static const FieldType zoom[] = {
    FIELD("maxFieldOfView", SF_FLOAT, "1.5", "(0," TWO_PI "]", "rad", "widest view"),
    FIELD("minFieldOfView", SF_FLOAT, "0.5", "(0," TWO_PI "]", "rad", "narrowest view"),
};
static const FieldType recognition[] = {
    FIELD("maxRange", SF_FLOAT, "100", ">=0", "m", "farther solids are not recognised"),
    FIELD("maxObjects", SF_INT32, "-1", "-1|>0", NULL, "most solids at once; -1: no bound"),
    FIELD("occlusion", SF_INT32, "1", "0|1|2", NULL, "whether solids hide one another: 0 no, 1 by one ray, 2 by rays to all corners"),
    OLD("occlusion", SF_BOOL, "TRUE", "whether solids hide one another", "R2020b"),
    FIELD("frameColor", SF_COLOR, "1 0 0", "[0,1]", NULL, "colour of frames drawn around solids"),
    FIELD("frameThickness", SF_INT32, "1", ">=0", "px", "thickness of the frames; 0: none"),
    FIELD("segmentation", SF_BOOL, "FALSE", NULL, NULL, "makes an image with one colour per solid"),
};
static const FieldType lens_flare[] = {
    FIELD("transparency", SF_FLOAT, "0.4", "[0,1]", NULL, "transparency"),
    FIELD("scale", SF_FLOAT, "1.5", NULL, NULL, "scale of the ghosts"),
    FIELD("bias", SF_FLOAT, "-0.9", NULL, NULL, "darker pixels make no flare"),
    FIELD("dispersal", SF_FLOAT, "0.6", NULL, NULL, "distance of the ghosts"),
    FIELD("samples", SF_INT32, "4", ">=0", NULL, "number of ghosts"),
    FIELD("haloWidth", SF_FLOAT, "0.4", NULL, NULL, "width of the halo"),
    FIELD("chromaDistortion", SF_FLOAT, "2", NULL, NULL, "separation of colours"),
    FIELD("blurIterations", SF_INT32, "2", ">=0", NULL, "softness"),
};

static const NodeType types[] = {
    TYPE("Accelerometer", "Solid", NODE_DEVICE, accelerometer, "Measures acceleration, gravity included."),
    TYPE_SINCE("Altimeter", "Solid", NODE_DEVICE, altimeter, "R2021b", "Measures the height above the origin."),
    TYPE("Camera", "Solid", NODE_DEVICE, camera, "Takes images; looks along +x with z up."),
    TYPE("Compass", "Solid", NODE_DEVICE, compass, "Measures the direction of north."),
    TYPE("Connector", "Solid", NODE_DEVICE, connector, "Docks to another Connector."),
    TYPE("Display", "Solid", NODE_DEVICE, display, "A screen that a controller draws on."),
    TYPE("DistanceSensor", "Solid", NODE_DEVICE, distance_sensor, "Measures the distance along +x."),
    TYPE("Emitter", "Solid", NODE_DEVICE, emitter, "Sends messages."),
    TYPE("GPS", "Solid", NODE_DEVICE, gps, "Measures position and speed."),
    TYPE("Gyro", "Solid", NODE_DEVICE, gyro, "Measures angular velocity."),
    TYPE("InertialUnit", "Solid", NODE_DEVICE, inertial_unit, "Measures roll, pitch and yaw."),
    TYPE("LED", "Solid", NODE_DEVICE, led, "A light that a controller switches."),
    TYPE("Lidar", "Solid", NODE_DEVICE, lidar, "Measures distances in layers; looks along +x with z up."),
    TYPE("LightSensor", "Solid", NODE_DEVICE, light_sensor, "Measures the light that falls on it."),
    TYPE("Microphone", "Solid", NODE_DEVICE, microphone, "Hears the sounds of the world."),
    TYPE("Pen", "Solid", NODE_DEVICE, pen, "Writes on surfaces below it."),
    TYPE("Radar", "Solid", NODE_DEVICE, radar, "Measures distance and speed of solids with a radar cross-section."),
    TYPE("Radio", "Solid", NODE_DEVICE | NODE_EXPERIMENTAL, radio, "A radio."),
    TYPE("RangeFinder", "Solid", NODE_DEVICE, range_finder, "Takes depth images; looks along +x with z up."),
    TYPE("Receiver", "Solid", NODE_DEVICE, receiver, "Receives messages."),
    TYPE("Speaker", "Solid", NODE_DEVICE, speaker, "Plays sounds and speaks."),
    TYPE("TouchSensor", "Solid", NODE_DEVICE, touch_sensor, "Measures touch or force."),
    TYPE_SINCE("VacuumGripper", "Solid", NODE_DEVICE, vacuum_gripper, "R2023b", "Holds what it touches."),
    TYPE("Lens", NULL, 0, lens, "Distortion of a camera's lens."),
    TYPE("Focus", NULL, 0, focus, "Focus of a camera."),
    TYPE("Zoom", NULL, 0, zoom, "Bounds of a camera's zoom."),
    TYPE("Recognition", NULL, 0, recognition, "Recognises solids in a camera's image."),
    TYPE("LensFlare", NULL, 0, lens_flare, "Flare of bright lights in an image."),
};
// clang-format on

FAMILY(schema_devices, types);
