// Robots of old releases.
//
// Servo: a Solid that turned about the axis of its own `rotation` (in the frame above, through its `translation`), or
// slid along its local z axis. It becomes a HingeJoint or SliderJoint with motor and position sensor; the Solid is the
// end point and keeps the DEF name, since that is what plugins and supervisors mean. The motor has the Servo's name, so
// that wb_servo_* finds it; the sensor is named "NAME sensor".
//
// DifferentialWheels: becomes a Robot whose two wheels ("left wheel", "right wheel") hang on hinge joints about the
// axle, with motors "left wheel motor" and "right wheel motor" and sensors "left wheel sensor" and "right wheel
// sensor"; positive speed drives forward (-z). What the node said beyond that is kept in a DifferentialWheelsDrive node
// in the hidden field `differentialWheels` of the Robot. Its `mode` is "physics" when the robot and both wheels have
// Physics, otherwise "kinematic": then whoever simulates moves the robot on its plane by the speeds of the two motors.
#include "formats/upgrade/upgrade_internal.h"

#include <string.h>
#include <strings.h>

static const char *name_of(const SceneNode *node)
{
    const SceneField *field = upgrade_own(node, "name");
    return field ? field->value.s : schema_field(node->type, "name")->value.s;
}

static void set_text(Upgrade *upgrade, SceneNode *node, const char *field, const char *start, const char *end)
{
    scene_set_string(upgrade->scene, node, field, arena_printf(scene_arena(upgrade->scene), "%s%s", start, end));
}

// ---- Servo ----

// Field of the Servo, and where it goes: j parameters of the joint, m motor, t torque or force of the motor.
static const struct ServoRow {
    const char *field, *now;
    char place;
} servo_rows[] = {
    { "position", "position", 'j' },
    { "minStop", "minStop", 'j' },
    { "maxStop", "maxStop", 'j' },
    { "springConstant", "springConstant", 'j' },
    { "dampingConstant", "dampingConstant", 'j' },
    { "staticFriction", "staticFriction", 'j' },
    { "acceleration", "acceleration", 'm' },
    { "maxVelocity", "maxVelocity", 'm' },
    { "minPosition", "minPosition", 'm' },
    { "maxPosition", "maxPosition", 'm' },
    { "maxForce", "maxTorque", 't' },
};

static Rotation servo_rotation(const SceneNode *servo)
{
    const SceneField *field = upgrade_own(servo, "rotation");
    if (!field)
        return (Rotation){ 0, 1, 0, 0 };
    const double *v = field->value.v;
    return (Rotation){ v[0], v[1], v[2], v[3] };
}

static SceneNode *make_parameters(Upgrade *upgrade, SceneNode *servo, bool is_linear)
{
    SceneNode *parameters = upgrade_make(upgrade, is_linear ? "JointParameters" : "HingeJointParameters", servo->pos);
    Rotation turn = servo_rotation(servo);
    Vec3 axis = is_linear ? upgrade_tidy_vector(quat_rotate(quat_from_rotation(turn), vec3(0, 0, 1)))
                          : vec3(turn.x, turn.y, turn.z);
    if (vec3_length(axis) > 0.0)
        scene_set_vec3(upgrade->scene, parameters, "axis", axis);
    if (!is_linear && upgrade_own(servo, "translation"))
        scene_set_vec3(upgrade->scene, parameters, "anchor", scene_vec3(servo, "translation"));
    if (upgrade_is_connected(servo, "rotation") || upgrade_is_connected(servo, "translation"))
        upgrade_warning(upgrade, servo, servo->pos,
                        "the axis of this Servo depends on parameters of a PROTO; it is taken from their defaults");
    return parameters;
}

static SceneNode *make_sensor(Upgrade *upgrade, SceneNode *node, const char *name)
{
    SceneNode *sensor = upgrade_make(upgrade, "PositionSensor", node->pos);
    set_text(upgrade, sensor, "name", name, " sensor");
    return sensor;
}

static SceneNode *make_motor(Upgrade *upgrade, SceneNode *servo, bool is_linear)
{
    SceneNode *motor = upgrade_make(upgrade, is_linear ? "LinearMotor" : "RotationalMotor", servo->pos);
    assert_debug(motor != servo);
    scene_set_string(upgrade->scene, motor, "name", name_of(servo));
    const SceneField *name = upgrade_own(servo, "name");
    if (name && name->parameter_index >= 0)
        upgrade_own(motor, "name")->parameter_index = name->parameter_index;
    const SceneField *gain = upgrade_own(servo, "controlP");
    if (gain && gain->parameter_index < 0)
        scene_set_vec3(upgrade->scene, motor, "controlPID", vec3(gain->value.f, 0, 0));
    return motor;
}

static void upgrade_servo(Upgrade *upgrade, SceneNode *node)
{
    assert_debug(upgrade_is_plain(node, "Servo"));
    const SceneField *type = upgrade_own(node, "type");
    bool is_linear = type && type->parameter_index < 0 && !strcmp(type->value.s, "linear");
    const char *def = node->def;
    SceneNode *solid = upgrade_split(upgrade, node, is_linear ? "SliderJoint" : "HingeJoint");
    node->def = NULL;
    solid->def = def;
    SceneNode *parameters = make_parameters(upgrade, solid, is_linear);
    SceneNode *motor = make_motor(upgrade, solid, is_linear);
    SceneNode *sensor = make_sensor(upgrade, solid, name_of(solid));
    for (int i = 0; i < COUNT_OF(servo_rows); i++) {
        const struct ServoRow *row = &servo_rows[i];
        const char *now = row->place == 't' && is_linear ? "maxForce" : row->now;
        upgrade_move(upgrade, solid, row->field, row->place == 'j' ? parameters : motor, now);
    }
    upgrade_set_type(solid, "Solid");
    scene_set_child(upgrade->scene, node, "jointParameters", parameters);
    upgrade_add_child(upgrade, node, "device", motor);
    upgrade_add_child(upgrade, node, "device", sensor);
    scene_set_child(upgrade->scene, node, "endPoint", solid);
}

// A USE of a node with a body would be one body in two places: it becomes a copy.
static void copy_used_servo(Upgrade *upgrade, SceneNode *use)
{
    SceneNode *copy = upgrade_copy(upgrade, use->target);
    upgrade_replace(use, copy);
}

// ---- DifferentialWheels ----

typedef struct Wheels {
    SceneNode *left, *right;
} Wheels;

static void find_wheels(SceneNode *node, Wheels *wheels)
{
    const SceneField *children = upgrade_own(node, "children");
    for (int i = 0; children && children->parameter_index < 0 && i < children->value.list->count; i++) {
        SceneNode *child = children->value.list->nodes[i];
        if (!child || child->kind != SCENE_NODE_PLAIN)
            continue;
        if (upgrade_is_plain(child, "Solid")) {
            if (!strcasecmp(name_of(child), "left wheel") && !wheels->left)
                wheels->left = child;
            if (!strcasecmp(name_of(child), "right wheel") && !wheels->right)
                wheels->right = child;
        } else if (upgrade_is_plain(child, "Group") || upgrade_is_pose_only(child)) {
            find_wheels(child, wheels);
        }
    }
}

static bool has_physics(const SceneNode *node)
{
    const SceneField *field = node ? upgrade_own(node, "physics") : NULL;
    return field && (field->value.node || field->parameter_index >= 0);
}

static void hang_wheel(Upgrade *upgrade, SceneNode *wheel, const SceneNode *drive, const char *side)
{
    assert_debug(wheel->kind == SCENE_NODE_PLAIN);
    const char *def = wheel->def;
    SceneNode *solid = upgrade_split(upgrade, wheel, "HingeJoint");
    wheel->def = NULL;
    solid->def = def;
    SceneNode *parameters = upgrade_make(upgrade, "HingeJointParameters", wheel->pos);
    // Rolling to the front, which is -z, turns the wheel backwards about x.
    scene_set_vec3(upgrade->scene, parameters, "axis", vec3(-1, 0, 0));
    if (upgrade_own(solid, "translation"))
        scene_set_vec3(upgrade->scene, parameters, "anchor", scene_vec3(solid, "translation"));
    SceneNode *motor = upgrade_make(upgrade, "RotationalMotor", wheel->pos);
    set_text(upgrade, motor, "name", side, " wheel motor");
    scene_set_float(upgrade->scene, motor, "maxVelocity", scene_float(drive, "maxSpeed"));
    scene_set_float(upgrade->scene, motor, "maxTorque", scene_float(drive, "maxForce"));
    scene_set_child(upgrade->scene, wheel, "jointParameters", parameters);
    upgrade_add_child(upgrade, wheel, "device", motor);
    upgrade_add_child(upgrade, wheel, "device",
                      make_sensor(upgrade, wheel, arena_printf(scene_arena(upgrade->scene), "%s wheel", side)));
    scene_set_child(upgrade->scene, wheel, "endPoint", solid);
}

static void upgrade_differential_wheels(Upgrade *upgrade, SceneNode *node)
{
    assert_debug(upgrade_is_plain(node, "DifferentialWheels"));
    static const char *const kept[] = {
        "motorConsumption", "axleLength", "wheelRadius",  "maxSpeed",          "maxAcceleration",
        "speedUnit",        "slipNoise",  "encoderNoise", "encoderResolution", "maxForce",
    };
    SceneNode *drive = upgrade_make(upgrade, "DifferentialWheelsDrive", node->pos);
    if (upgrade->release < RELEASE_V6 && !upgrade_own(node, "speedUnit"))
        scene_set_float(upgrade->scene, drive, "speedUnit", 0.1);
    for (int i = 0; i < COUNT_OF(kept); i++)
        upgrade_move(upgrade, node, kept[i], drive, kept[i]);
    Wheels wheels = { NULL, NULL };
    find_wheels(node, &wheels);
    bool is_physics = has_physics(node) && has_physics(wheels.left) && has_physics(wheels.right);
    scene_set_string(upgrade->scene, drive, "mode", is_physics ? "physics" : "kinematic");
    upgrade_set_type(node, "Robot");
    scene_set_child(upgrade->scene, node, "differentialWheels", drive);
    if (wheels.left)
        hang_wheel(upgrade, wheels.left, drive, "left");
    if (wheels.right)
        hang_wheel(upgrade, wheels.right, drive, "right");
    if (!wheels.left || !wheels.right)
        upgrade_note(upgrade, node, node->pos,
                     "DifferentialWheels without a Solid named \"%s wheel\"; it moves all the same",
                     wheels.left ? "right" : "left");
}

void upgrade_robots(Upgrade *upgrade)
{
    bool has_copies = false;
    for (int i = 0; i < upgrade->count; i++) {
        SceneNode *node = upgrade->nodes[i];
        if (node->kind == SCENE_NODE_USE && upgrade_is_plain(node->target, "Servo")) {
            copy_used_servo(upgrade, node);
            has_copies = true;
        }
    }
    if (has_copies)
        upgrade_collect(upgrade);
    for (int i = 0; i < upgrade->count; i++) {
        SceneNode *node = upgrade->nodes[i];
        if (upgrade_is_plain(node, "DifferentialWheels"))
            upgrade_differential_wheels(upgrade, node);
        else if (upgrade_is_plain(node, "Servo"))
            upgrade_servo(upgrade, node);
    }
}
