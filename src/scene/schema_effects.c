// schema_effects.c - what a field's change at run time takes effect on: one row for every field that today's files
// have. Whoever changes a scene that runs asks here whom to tell (sim/edit.c); docs/nodes shows it; a test walks all
// fields of all types, so that none can be forgotten (tests/sim/effects_test.c).
#include "scene/schema_effects.h"

#include <string.h>

enum {
    BODIES = FIELD_ACTS_ON_PHYSICS,
    SIGHT = FIELD_ACTS_ON_SIGHT,
    DEVICE = FIELD_ACTS_ON_DEVICES,
    PROGRAM = FIELD_ACTS_ON_CONTROLLER,
    KEPT = FIELD_ACTS_ON_NOTHING,
    LOAD = FIELD_ACTS_AT_LOAD,
    ALL = BODIES | SIGHT | DEVICE,
};

typedef struct EffectRow {
    const char *type;    // and what descends from it, unless a row nearer to it says otherwise
    const char *fields;  // names with spaces between; "*" for all that no other row of the type names
    unsigned effects;
} EffectRow;

static const EffectRow rows[] = {
    // Nodes that hold others: what comes and goes is told with its own node.
    { "Group", "children", ALL },
    { "Pose", "translation rotation", BODIES | SIGHT },
    { "Pose", "translationStep rotationStep", KEPT },
    { "Transform", "scale", BODIES | SIGHT },
    { "Slot", "type", LOAD },
    { "Slot", "endPoint", ALL },
    { "TrackWheel", "position radius rotation inner", LOAD },

    { "Solid", "name", DEVICE },
    { "Solid", "model", DEVICE },
    { "Solid", "description locked", KEPT },
    { "Solid", "contactMaterial immersionProperties boundingObject physics linearVelocity angularVelocity", BODIES },
    { "Solid", "radarCrossSection recognitionColors", DEVICE },
    { "Solid", "children", ALL },
    { "Physics", "*", BODIES },
    { "Damping", "*", BODIES },
    { "ContactProperties", "*", BODIES },
    { "ContactProperties", "bumpSound rollSound slideSound", DEVICE },
    { "ContactProperties", "oldDirections", LOAD },
    { "ImmersionProperties", "*", BODIES },
    { "Fluid", "name density viscosity streamVelocity boundingObject", BODIES },
    { "Fluid", "model description locked", KEPT },
    { "SolidReference", "solidName", LOAD },

    // Joints and what drives them.
    { "Joint", "endPoint device device2 device3 jointParameters jointParameters2 jointParameters3", BODIES | DEVICE },
    { "Joint", "position position2 position3", BODIES },
    { "Joint", "*", LOAD },
    { "JointParameters", "*", BODIES },
    { "Device", "name", DEVICE },
    { "Motor", "acceleration consumptionFactor controlPID maxVelocity minPosition maxPosition", BODIES },
    { "Motor", "maxForce maxTorque", BODIES },
    { "Motor", "multiplier", LOAD },
    { "Motor", "sound muscles", DEVICE },
    { "PositionSensor", "*", DEVICE },
    { "Propeller", "shaftAxis centerOfThrust thrustConstants torqueConstants", BODIES },
    { "Propeller", "device fastHelix slowHelix", BODIES | SIGHT },
    { "Propeller", "fastHelixThreshold", SIGHT },
    { "Track", "device", BODIES | DEVICE },
    { "Track", "textureAnimation animatedGeometry geometriesCount", SIGHT },
    { "Muscle", "*", SIGHT },

    // Forms: those in bounding objects are bodies' too.
    { "Shape", "appearance", SIGHT },
    { "Shape", "geometry", BODIES | SIGHT },
    { "Shape", "castShadows", SIGHT },
    { "Shape", "isPickable", KEPT },
    { "CadShape", "url ccw castShadows", SIGHT },
    { "CadShape", "isPickable", KEPT },
    { "Geometry", "*", BODIES | SIGHT },
    { "Mesh", "name", SIGHT },
    { "Coordinate", "point", BODIES | SIGHT },
    { "Normal", "vector", SIGHT },
    { "Color", "color", SIGHT },
    { "TextureCoordinate", "point", SIGHT },
    { "TextureTransform", "*", SIGHT },
    { "AbstractAppearance", "*", SIGHT },
    { "AbstractAppearance", "name", KEPT },
    { "Material", "*", SIGHT },
    { "Texture", "*", SIGHT },
    { "Light", "*", SIGHT },
    { "Background", "*", SIGHT },
    { "Fog", "*", SIGHT },
    { "Viewpoint", "*", SIGHT },
    { "Viewpoint", "description", KEPT },
    { "LensFlare", "*", SIGHT },

    // Devices read their own fields when they measure, those of images when they are enabled too: only exceptions have
    // rows.
    { "Lens", "*", DEVICE },
    { "Focus", "*", DEVICE },
    { "Zoom", "*", DEVICE },
    { "Recognition", "*", DEVICE },
    { "Recognition", "frameColor frameThickness", KEPT },
    { "TouchSensor", "type", BODIES | DEVICE },
    { "Display", "*", LOAD },
    { "LED", "*", SIGHT | DEVICE },
    { "Connector", "*", BODIES },
    { "VacuumGripper", "*", BODIES },
    { "Skin", "*", SIGHT },
    { "Skin", "name", DEVICE },
    { "Skin", "translationStep rotationStep", KEPT },
    { "Charger", "battery radius", DEVICE },
    { "Charger", "emissiveColor gradual", SIGHT },

    { "Robot", "controller controllerArgs customData supervisor synchronization window remoteControl", PROGRAM },
    { "Robot", "battery cpuConsumption", DEVICE },
    { "Robot", "selfCollision", BODIES },
    { "Robot", "differentialWheels", LOAD },
    { "DifferentialWheelsDrive", "*", LOAD },

    { "WorldInfo", "info title window", KEPT },
    { "WorldInfo", "gravity CFM ERP physicsDisableTime physicsDisableLinearThreshold physicsDisableAngularThreshold",
      BODIES },
    { "WorldInfo",
      "defaultDamping dragForceScale dragTorqueScale contactProperties contactSurfaceLayer gravityDirection", BODIES },
    { "WorldInfo", "gpsCoordinateSystem gpsReference", DEVICE },
    { "WorldInfo", "inkEvaporation", DEVICE },
    { "WorldInfo", "lineScale", KEPT },
    { "WorldInfo", "physics basicTimeStep FPS optimalThreadCount randomSeed coordinateSystem", LOAD },

    // Nodes of Talus: parts of bodies of Choreonoid.
    { "Attachment", "on category", BODIES },
    { "Holder", "on category condition maxDistance targetName", BODIES },
    { "Conveyor", "on type axis speed", BODIES },
    { "ForceTorqueSensor", "maxForce maxTorque", DEVICE },
    { "Marker", "*", SIGHT },
    { "DigitalIO", "*", LOAD },
    { "Body", "*", LOAD },
    { "BodyExtra", "*", LOAD },
    { "BodyRotationalMotor", "actuation rotorInertia gearRatio velocityRange jointId", LOAD },
    { "BodyLinearMotor", "actuation rotorInertia gearRatio velocityRange jointId", LOAD },
    { "BodyTrack", "axis", LOAD },
};

static bool has_word(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words; *at;) {
        size_t part = strcspn(at, " ");
        if (part == length && !memcmp(at, word, length))
            return true;
        at += part + (at[part] == ' ');
    }
    return false;
}

static bool has_field(const NodeType *type, const char *name)
{
    const FieldType *field = type ? schema_field(type, name) : NULL;
    return field && field->class != FIELD_DEPRECATED;
}

// The nearest type from `type` upwards that says something of the field: by name, or for all others that it does not
// inherit. What nobody says of a device's field is the device's.
unsigned schema_effects(const NodeType *type, const FieldType *field)
{
    if (field->class == FIELD_DEPRECATED || (type->flags & (NODE_REMOVED | NODE_VRML97)))
        return LOAD;
    for (const NodeType *at = type; at; at = at->parent) {
        unsigned others = 0;
        for (int i = 0; i < COUNT_OF(rows); i++) {
            if (strcmp(rows[i].type, at->name))
                continue;
            if (has_word(rows[i].fields, field->name))
                return rows[i].effects;
            if (!strcmp(rows[i].fields, "*") && !has_field(at->parent, field->name))
                others = rows[i].effects;
        }
        if (others)
            return others;
    }
    return type->flags & NODE_DEVICE ? DEVICE : 0;
}

int schema_effect_row_count(void) { return COUNT_OF(rows); }

const char *schema_effect_row(int index, const char **fields)
{
    assert(index >= 0 && index < COUNT_OF(rows));
    *fields = rows[index].fields;
    return rows[index].type;
}
