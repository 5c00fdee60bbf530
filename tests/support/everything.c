// everything.c - see everything.h.
#include "support/everything.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char everything_text[] =
    "#VRML_SIM R2025a utf8\n"
    "DEF INFO WorldInfo { basicTimeStep 16 defaultDamping DEF AIR Damping { linear 0.1 angular 0.1 } contactProperties ["
    "  DEF TOUCH ContactProperties { material1 \"soft\" bounce 0.4 bounceVelocity 0.01 coulombFriction [ 0.3 ] } ] }"
    "DEF VIEW Viewpoint { position -6 0 2 }"
    "DEF SKY Background { skyColor [ 0.2 0.3 0.8 ] }"
    "DEF MIST Fog { color 0.5 0.5 0.5 visibilityRange 60 }"
    "DEF SUN DirectionalLight { direction 0.3 0.2 -1 ambientIntensity 0.3 }"
    "DEF BULB PointLight { location 0 0 4 attenuation 0 0 1 }"
    "DEF SPOT SpotLight { location -3 2 4 direction 0 0 -1 }"
    "DEF FLOOR Solid { name \"floor\" children [ Shape { appearance PBRAppearance { baseColor 0.4 0.5 0.6 metalness 0 } geometry DEF GROUND Plane { size 30 30 } } ]"
    "  boundingObject USE GROUND }"
    "DEF STONE Solid { name \"stone\" translation 0 0 0.6 linearVelocity 0.5 0.2 0 angularVelocity 0 0.3 0.2 contactMaterial \"soft\""
    "  children [ DEF FORM Shape { appearance DEF LOOK PBRAppearance { baseColor 0.8 0.3 0.2 roughness 0.5 metalness 0.2 emissiveColor 0.1 0 0 } geometry DEF BLOCK Box { size 0.6 0.5 0.4 } } ]"
    "  boundingObject USE BLOCK physics DEF WEIGHT Physics { density 500 damping DEF DRAG Damping { linear 0.3 angular 0.4 } } }"
    "DEF BALL Solid { name \"ball\" translation 1.5 0 0.5 linearVelocity 0 0.5 0 contactMaterial \"soft\""
    "  children [ Shape { appearance DEF PAINT Appearance { material DEF STUFF Material { diffuseColor 0.2 0.8 0.3 } } geometry DEF ROUND Sphere { radius 0.3 } } ]"
    "  boundingObject USE ROUND physics Physics { density 300 } }"
    "DEF CAN Solid { name \"can\" translation -1.5 0.3 0.7 rotation 1 0 0 0.4 children [ Shape { geometry DEF TIN Cylinder { radius 0.2 height 0.6 } } ] boundingObject USE TIN physics Physics { } }"
    "DEF PILL Solid { name \"pill\" translation -1.5 -1.2 0.8 rotation 1 0 0 0.9 children [ Shape { geometry DEF LOAF Capsule { radius 0.2 height 0.5 } } ] boundingObject USE LOAF physics Physics { } }"
    "DEF WEDGE Solid { name \"wedge\" translation 0 -2 0.8 children [ Shape { geometry DEF FACES IndexedFaceSet { coord DEF CORNERS Coordinate { point [ 0 0 0, 0.6 0 0, 0 0.6 0, 0 0 0.6 ] }"
    "  coordIndex [ 0 2 1 -1 0 1 3 -1 0 3 2 -1 1 2 3 -1 ] } } ] boundingObject USE FACES physics Physics { } }"
    "DEF HILL Solid { name \"hill\" translation 3 -2 0 children [ Shape { geometry DEF GRID ElevationGrid { xDimension 3 yDimension 3 xSpacing 0.7 ySpacing 0.7 height [ 0 0 0 0 0.5 0 0 0 0 ] } } ] boundingObject USE GRID }"
    "DEF ROLLER Solid { name \"roller\" translation 3.6 -1.2 1.2 boundingObject Sphere { radius 0.2 } physics Physics { } }"
    "DEF HAT Solid { name \"hat\" translation 2 2 0 children [ DEF BEND Transform { scale 1 1 1.5 children [ Shape { geometry DEF CONE Cone { bottomRadius 0.3 height 0.5 } } ] } ] }"
    "DEF STEM Pose { translation -2 2 0 children [ Solid { name \"branch\" translation 0 0 0.5 children [ Shape { geometry Box { size 0.1 0.1 1 } } ] boundingObject Box { size 0.1 0.1 1 } } ] }"
    "DEF POOL Fluid { translation 6 0 0 streamVelocity 0.2 0 0 boundingObject Box { size 2 2 2 } }"
    "DEF CORK Solid { name \"cork\" translation 6 0 0.5 boundingObject Sphere { radius 0.3 } physics Physics { density 400 }"
    "  immersionProperties [ DEF WET ImmersionProperties { fluidName \"fluid\" dragForceCoefficients 1 1 1 viscousResistanceForceCoefficient 5 } ] }"
    "DEF ROBOT Robot { name \"robot\" translation 0 4 1.2 children ["
    "  DEF HINGE HingeJoint { jointParameters DEF HINGE_AXIS HingeJointParameters { axis 0 1 0 springConstant 3 dampingConstant 0.5 minStop -1 maxStop 1 }"
    "    device [ DEF MOTOR RotationalMotor { name \"motor\" maxTorque 20 } DEF ANGLE PositionSensor { name \"angle\" } DEF BRAKE Brake { name \"brake\" } ]"
    "    endPoint Solid { name \"arm\" translation 0.5 0 0 boundingObject Box { size 0.8 0.1 0.1 } physics Physics { } } }"
    "  DEF SLIDER SliderJoint { jointParameters DEF SLIDER_AXIS JointParameters { axis 0 0 1 springConstant 40 dampingConstant 1 }"
    "    device [ DEF LINEAR LinearMotor { name \"linear\" maxForce 2 } ]"
    "    endPoint Solid { name \"piston\" translation 0 0.5 0.2 boundingObject Box { size 0.1 0.1 0.3 } physics Physics { } } }"
    "  DEF TWO Hinge2Joint { jointParameters DEF TWO_FIRST HingeJointParameters { axis 0 0 1 anchor 0 -0.5 0 suspensionSpringConstant 500 suspensionDampingConstant 5 suspensionAxis 0 0 1 }"
    "    jointParameters2 DEF TWO_SECOND JointParameters { axis 0 1 0 springConstant 1 }"
    "    endPoint Solid { name \"wheel\" translation 0.1 -0.5 0 boundingObject Sphere { radius 0.15 } physics Physics { } } }"
    "  DEF SOCKET BallJoint { jointParameters DEF SOCKET_AXIS BallJointParameters { anchor -0.5 0 0 springConstant 1 }"
    "    endPoint Solid { name \"tail\" translation -0.7 0 0 boundingObject Box { size 0.3 0.1 0.1 } physics Physics { } } }"
    "  DEF SCREW Propeller { shaftAxis 0 0 1 thrustConstants 0.02 0 torqueConstants 0.002 0 device RotationalMotor { name \"screw\" maxVelocity 100 } }"
    "  DEF GPS GPS { } DEF GYRO Gyro { } DEF NORTH Compass { } DEF LEVEL InertialUnit { } DEF SHAKE Accelerometer { } DEF HEIGHT Altimeter { }"
    "  DEF NEAR DistanceSensor { name \"near\" translation 0 0 -0.3 rotation 0 1 0 1.2 lookupTable [ 0 0 0 5 5 0 ] }"
    "  DEF LIGHT LightSensor { translation 0 0 0.4 rotation 0 1 0 -1.57 }"
    "  DEF SKIN TouchSensor { type \"force\" translation 0 0 -0.5 boundingObject Sphere { radius 0.1 } physics Physics { } }"
    "  DEF EYE Camera { translation 0.2 0 0.3 rotation 0 0 1 -1.57 width 8 height 6 focus DEF FOCUS Focus { } zoom DEF ZOOM Zoom { } recognition DEF KNOW Recognition { } }"
    "  DEF DEPTH RangeFinder { name \"depth\" translation 0.2 0 0.3 rotation 0 0 1 -1.57 width 8 height 6 maxRange 9 }"
    "  DEF SCAN Lidar { name \"scan\" translation 0 0 0.3 rotation 0 0 1 -1.57 horizontalResolution 16 numberOfLayers 2 maxRange 9 }"
    "  DEF ECHO Radar { name \"echo\" rotation 0 0 1 -1.57 maxRange 20 }"
    "  DEF LAMP LED { children [ Shape { appearance PBRAppearance { } geometry Sphere { radius 0.05 } } ] }"
    "] boundingObject Box { size 0.3 0.3 0.3 } physics Physics { density -1 mass 5 } recognitionColors [ 1 0 0 ] battery [ 1000 1000 10 ] }";

static double other_number(const FieldType *type, double value)
{
    const double tries[] = { 0.6 * value + 0.1, 1.5 * value + 0.2, 0.5, 0.25, 1.0, 2.0, 5.0, -0.5, 10.0 };
    bool is_whole = field_kind_item(type->kind) == FIELD_SF_INT32;
    for (int i = 0; i < COUNT_OF(tries); i++) {
        double other = is_whole ? nearbyint(tries[i]) : tries[i];
        if (other != value && schema_allows_number(type->allowed, other, NULL))
            return other;
    }
    return value;
}

static const char *other_word(const FieldType *type, const char *word)
{
    static char buffer[128];
    if (!type->allowed)
        return strcmp(word, "something else") ? "something else" : "another thing";
    for (const char *at = type->allowed; *at;) {
        size_t length = strcspn(at, "|");
        snprintf(buffer, sizeof buffer, "%.*s", (int)length, at);
        if (strcmp(buffer, word))
            return buffer;
        at += length + (at[length] == '|');
    }
    return word;
}

bool everything_other_value(const FieldType *type, FieldValue *value)
{
    FieldKind item = field_kind_item(type->kind);
    if (field_kind_is_list(type->kind)) {
        static double numbers[64];
        static FieldList list;
        int width = field_kind_doubles(item), count = value->list->count;
        if (width == 0 || count == 0 || count * width > COUNT_OF(numbers) || item == FIELD_SF_ROTATION)
            return false;
        for (int i = 0; i < count * width; i++)
            numbers[i] = other_number(type, value->list->numbers[i]);
        list = (FieldList){ .count = count, .numbers = numbers };
        value->list = &list;
        return true;
    }
    switch (item) {
    case FIELD_SF_BOOL: value->b = !value->b; return true;
    case FIELD_SF_INT32: value->i = (int32_t)other_number(type, value->i); return true;
    case FIELD_SF_FLOAT: value->f = other_number(type, value->f); return true;
    case FIELD_SF_STRING: value->s = other_word(type, value->s); return true;
    case FIELD_SF_ROTATION:
        memcpy(value->v, (double[4]){ 0, 0, 1, value->v[3] + 0.3 }, 4 * sizeof(double));
        return true;
    case FIELD_SF_NODE: return false;
    default:
        for (int i = 0; i < field_kind_doubles(item); i++)
            value->v[i] = other_number(type, value->v[i]);
        return true;
    }
}
