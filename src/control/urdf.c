// urdf.c - a robot as URDF: every Solid is a link, every joint axis a joint, the robot itself is "base_link".
// URDF has a joint at the origin of its child link, so a child's link frame lies in the anchor and what belongs to the
// Solid is placed in it. Joints are written at position 0. A joint of several axes is a chain of joints with empty
// links between; an end point that is a SolidReference would close a loop and is left out, as are shapes that URDF does
// not have.
#include "control/control_internal.h"

#include "base/memory.h"
#include "formats/shape/shape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Urdf {
    const Physics *physics;
    const char *prefix;
    Arena *arena;
    Text *out;
    const char **names;  // given so far, links and joints apart
    int name_count, name_capacity;
} Urdf;

// A link while its contents are written.
typedef struct Link {
    const char *name;
    Text text;
} Link;

// ---- text ----

static void add_escaped(Text *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '<')
            text_add_string(out, "&lt;");
        else if (*text == '&')
            text_add_string(out, "&amp;");
        else if (*text == '"')
            text_add_string(out, "&quot;");
        else if ((unsigned char)*text >= ' ')
            text_add_char(out, *text);
    }
}

static void add_attribute(Text *out, const char *name, const char *value)
{
    text_printf(out, " %s=\"", name);
    add_escaped(out, value);
    text_add_char(out, '"');
}

static void add_numbers(Text *out, const char *name, const double *values, int count)
{
    assert_debug(values && count > 0);
    text_printf(out, " %s=\"", name);
    for (int i = 0; i < count; i++) {
        if (i > 0)
            text_add_char(out, ' ');
        text_add_double(out, values[i] == 0.0 ? 0.0 : values[i]);  // no -0
    }
    text_add_char(out, '"');
}

static void add_vector(Text *out, const char *name, Vec3 v) { add_numbers(out, name, (double[3]){ v.x, v.y, v.z }, 3); }

// Turns about the fixed axes x, y, z in this order.
static Vec3 roll_pitch_yaw(Quat q)
{
    Mat3 m = mat3_from_quat(q);
    double level = hypot(m.m[0], m.m[3]), pitch = atan2(-m.m[6], level);
    if (level < 1e-9)
        return vec3(atan2(-m.m[5], m.m[4]), pitch, 0.0);
    return vec3(atan2(m.m[7], m.m[8]), pitch, atan2(m.m[3], m.m[0]));
}

static void add_origin(Text *out, const char *indent, Pose pose)
{
    text_printf(out, "%s<origin", indent);
    add_vector(out, "xyz", pose.t);
    add_vector(out, "rpy", roll_pitch_yaw(pose.q));
    text_add_string(out, "/>\n");
}

// A name of its own among those of its kind ('L' or 'J').
static const char *own_name(Urdf *urdf, char kind, const char *wanted)
{
    assert_debug(kind == 'L' || kind == 'J');
    assert_debug(wanted);
    for (int i = 0;; i++) {
        const char *name = i == 0 ? arena_printf(urdf->arena, "%c%s%s", kind, urdf->prefix, wanted)
                                  : arena_printf(urdf->arena, "%c%s%s_%d", kind, urdf->prefix, wanted, i);
        int at = 0;
        while (at < urdf->name_count && strcmp(urdf->names[at], name))
            at++;
        if (at < urdf->name_count)
            continue;
        *memory_push(urdf->names, urdf->name_count, urdf->name_capacity) = name;
        return name + 1;
    }
}

// ---- shapes ----

typedef struct Part {
    const char *tag;  // visual or collision
    Pose pose;
    Vec3 color;
    double alpha;
    bool has_color;
} Part;

static void begin_part(Text *out, const Part *part, Pose pose)
{
    text_printf(out, "    <%s>\n", part->tag);
    add_origin(out, "      ", pose);
    text_add_string(out, "      <geometry>\n        <");
}

static void end_part(Text *out, const Part *part)
{
    text_add_string(out, "/>\n      </geometry>\n");
    if (part->has_color) {
        text_add_string(out, "      <material name=\"\">\n        <color");
        add_numbers(out, "rgba", (double[4]){ part->color.x, part->color.y, part->color.z, part->alpha }, 4);
        text_add_string(out, "/>\n      </material>\n");
    }
    text_printf(out, "    </%s>\n", part->tag);
}

static void add_box(Text *out, const Part *part, Vec3 size)
{
    begin_part(out, part, part->pose);
    text_add_string(out, "box");
    add_vector(out, "size", size);
    end_part(out, part);
}

static void add_sphere(Text *out, const Part *part, double radius, double along_z)
{
    begin_part(out, part, pose_mul(part->pose, (Pose){ vec3(0, 0, along_z), QUAT_IDENTITY }));
    text_add_string(out, "sphere");
    add_numbers(out, "radius", &radius, 1);
    end_part(out, part);
}

static void add_cylinder(Text *out, const Part *part, double radius, double height)
{
    begin_part(out, part, part->pose);
    text_add_string(out, "cylinder");
    add_numbers(out, "radius", &radius, 1);
    add_numbers(out, "length", &height, 1);
    end_part(out, part);
}

static void add_capsule(Text *out, const Part *part, double radius, double height)
{
    add_cylinder(out, part, radius, height);
    add_sphere(out, part, radius, 0.5 * height);
    add_sphere(out, part, radius, -0.5 * height);
}

static void add_mesh(Text *out, const Part *part, const SceneNode *geometry, Vec3 scale)
{
    const FieldList *urls = scene_list(geometry, "url");
    if (urls->count == 0)
        return;
    begin_part(out, part, part->pose);
    text_add_string(out, "mesh");
    add_attribute(out, "filename", urls->strings[0]);
    if (scale.x != 1.0 || scale.y != 1.0 || scale.z != 1.0)
        add_vector(out, "scale", scale);
    end_part(out, part);
}

// False: URDF has no like of it.
static bool add_form(Text *out, const Part *part, GeometryKind kind, Vec3 size)
{
    switch (kind) {
    case GEOMETRY_BOX: add_box(out, part, size); return true;
    case GEOMETRY_SPHERE: add_sphere(out, part, size.x, 0.0); return true;
    case GEOMETRY_CYLINDER: add_cylinder(out, part, size.x, size.y); return true;
    case GEOMETRY_CAPSULE: add_capsule(out, part, size.x, size.y); return true;
    default: return false;
    }
}

static void add_geometry(Text *out, const Part *part, const SceneNode *geometry, Vec3 scale)
{
    ShapeForm form = shape_form(geometry);
    double wide = fmax(scale.x, scale.y);
    if (form.kind == GEOMETRY_BOX)
        form.size = vec3_mul(form.size, scale);
    else if (form.kind == GEOMETRY_SPHERE)
        form.size.x *= fmax(wide, scale.z);
    else
        form.size = vec3(form.size.x * wide, form.size.y * scale.z, 0.0);
    if (add_form(out, part, form.kind, form.size))
        return;
    if (schema_field(geometry->type, "url"))
        add_mesh(out, part, geometry, scale);
    else
        text_printf(out, "    <!-- a %s has no like in URDF -->\n", geometry->type->name);
}

static void add_visual(Link *link, const SceneNode *shape, Pose frame, Vec3 scale)
{
    Part part = { "visual", frame, vec3(1, 1, 1), 1.0, false };
    const SceneNode *geometry = scene_child(shape, "geometry"), *appearance = scene_child(shape, "appearance");
    if (appearance && scene_node_is(appearance, "PBRAppearance")) {
        part.color = scene_vec3(appearance, "baseColor");
        part.alpha = 1.0 - scene_float(appearance, "transparency");
        part.has_color = true;
    } else if (appearance && scene_node_is(appearance, "Appearance") && scene_child(appearance, "material")) {
        const SceneNode *material = scene_child(appearance, "material");
        part.color = scene_vec3(material, "diffuseColor");
        part.alpha = 1.0 - scene_float(material, "transparency");
        part.has_color = true;
    }
    if (geometry)
        add_geometry(&link->text, &part, geometry, scale);
}

static void add_collisions(Urdf *urdf, Link *link, int solid, Pose frame)
{
    assert(solid >= 0);
    for (int i = 0; i < physics_shape_count(urdf->physics); i++) {
        if (!physics_shape_exists(urdf->physics, i))
            continue;
        PhysicsShape shape = physics_shape(urdf->physics, i);
        if (shape.solid != solid)
            continue;
        Part part = { "collision", pose_mul(frame, shape.local), VEC3_ZERO, 0.0, false };
        if (!add_form(&link->text, &part, shape.kind, shape.size) && shape.geometry)
            add_geometry(&link->text, &part, shape.geometry, vec3(1, 1, 1));
    }
}

// Solids without a joint between them are one body; its mass is given with the topmost of them.
static void add_inertial(Urdf *urdf, Link *link, int solid, Pose frame)
{
    assert(solid >= 0);
    int body = physics_solid_body(urdf->physics, solid);
    if (body < 0 || physics_body_solid(urdf->physics, body) != solid)
        return;
    Pose at = pose_mul(frame, pose_mul(pose_inverse(physics_solid_pose(urdf->physics, solid)),
                                       physics_body_pose(urdf->physics, body)));
    Mat3 inertia = physics_body_inertia(urdf->physics, body);
    double mass = physics_body_mass(urdf->physics, body);
    static const char *const names[6] = { "ixx", "ixy", "ixz", "iyy", "iyz", "izz" };
    static const int places[6] = { 0, 1, 2, 4, 5, 8 };
    text_add_string(&link->text, "    <inertial>\n");
    add_origin(&link->text, "      ", at);
    text_add_string(&link->text, "      <mass");
    add_numbers(&link->text, "value", &mass, 1);
    text_add_string(&link->text, "/>\n      <inertia");
    for (int i = 0; i < 6; i++)
        add_numbers(&link->text, names[i], &inertia.m[places[i]], 1);
    text_add_string(&link->text, "/>\n    </inertial>\n");
}

// ---- joints ----

typedef struct JointAxis {
    const SceneNode *parameters;  // NULL: defaults
    const FieldList *devices;
    Vec3 axis;
    bool is_slider;
} JointAxis;

static const SceneNode *device_of(const FieldList *devices, const char *type)
{
    for (int i = 0; devices && i < devices->count; i++) {
        const SceneNode *device = scene_list_node(devices, i);
        if (device && scene_node_is(device, type))
            return device;
    }
    return NULL;
}

static void add_joint_head(Urdf *urdf, const char *name, const char *type, const char *parent, const char *child,
                           Pose origin)
{
    assert_debug(parent && child && strcmp(parent, child));  // names are their own, a link hangs on another
    text_add_string(urdf->out, "  <joint");
    add_attribute(urdf->out, "name", name);
    add_attribute(urdf->out, "type", type);
    text_add_string(urdf->out, ">\n    <parent");
    add_attribute(urdf->out, "link", parent);
    text_add_string(urdf->out, "/>\n    <child");
    add_attribute(urdf->out, "link", child);
    text_add_string(urdf->out, "/>\n");
    add_origin(urdf->out, "    ", origin);
}

static void add_axis_joint(Urdf *urdf, const JointAxis *axis, const char *parent, const char *child, Pose origin)
{
    const SceneNode *motor = device_of(axis->devices, "Motor"), *sensor = device_of(axis->devices, "PositionSensor");
    double low = 0.0, high = 0.0, effort = 1e9, speed = 1e9;
    if (motor) {
        low = scene_float(motor, "minPosition");
        high = scene_float(motor, "maxPosition");
        effort = scene_float(motor, axis->is_slider ? "maxForce" : "maxTorque");
        speed = scene_float(motor, "maxVelocity");
    }
    if (low == high && axis->parameters) {
        low = scene_float(axis->parameters, "minStop");
        high = scene_float(axis->parameters, "maxStop");
    }
    bool is_limited = low != high;
    const char *wanted = motor    ? scene_string(motor, "name")
                         : sensor ? scene_string(sensor, "name")
                                  : arena_printf(urdf->arena, "%s joint", child);
    const char *type = axis->is_slider ? "prismatic" : is_limited ? "revolute" : "continuous";
    add_joint_head(urdf, own_name(urdf, 'J', wanted), type, parent, child, origin);
    text_add_string(urdf->out, "    <axis");
    add_vector(urdf->out, "xyz", axis->axis);
    text_add_string(urdf->out, "/>\n    <limit");
    add_numbers(urdf->out, "effort", &effort, 1);
    add_numbers(urdf->out, "velocity", &speed, 1);
    if (axis->is_slider && !is_limited) {  // URDF's sliders must have limits
        low = -1e9;
        high = 1e9;
        is_limited = true;
    }
    if (is_limited) {
        add_numbers(urdf->out, "lower", &low, 1);
        add_numbers(urdf->out, "upper", &high, 1);
    }
    text_add_string(urdf->out, "/>\n");
    if (axis->parameters) {
        double damping = scene_float(axis->parameters, "dampingConstant"),
               friction = scene_float(axis->parameters, "staticFriction");
        if (damping != 0.0 || friction != 0.0) {
            text_add_string(urdf->out, "    <dynamics");
            add_numbers(urdf->out, "damping", &damping, 1);
            add_numbers(urdf->out, "friction", &friction, 1);
            text_add_string(urdf->out, "/>\n");
        }
    }
    text_add_string(urdf->out, "  </joint>\n");
}

static Vec3 axis_in(const SceneNode *parameters, Vec3 otherwise)
{
    Vec3 axis = parameters ? scene_vec3(parameters, "axis") : otherwise;
    return vec3_length(axis) > 0.0 ? vec3_normalized(axis) : otherwise;
}

static Vec3 across(Vec3 a, Vec3 b, Vec3 otherwise)
{
    Vec3 c = vec3_cross(a, b);
    return vec3_length(c) > 1e-9 ? vec3_normalized(c) : otherwise;
}

// The axes of a joint, in the order in which they turn.
static int joint_axes(const SceneNode *joint, JointAxis axes[PHYSICS_JOINT_AXES])
{
    const Vec3 x = vec3(1, 0, 0), z = vec3(0, 0, 1);
    const SceneNode *first = scene_child(joint, "jointParameters");
    bool is_ball = scene_node_is(joint, "BallJoint");
    axes[0] = (JointAxis){ first, scene_list(joint, "device"), axis_in(is_ball ? NULL : first, x), false };
    if (scene_node_is(joint, "SliderJoint")) {
        axes[0].axis = axis_in(first, z);
        axes[0].is_slider = true;
        return 1;
    }
    if (!is_ball && !scene_node_is(joint, "Hinge2Joint"))
        return 1;
    const SceneNode *second = scene_child(joint, "jointParameters2");
    axes[1] = (JointAxis){ second, scene_list(joint, "device2"), axis_in(second, z), false };
    if (!is_ball)
        return 2;
    const SceneNode *third = scene_child(joint, "jointParameters3");
    Vec3 axis1 = second ? axis_in(second, x) : third ? across(axis_in(third, z), z, x) : x;
    Vec3 axis3 = third ? axis_in(third, z) : second ? across(axis1, x, z) : z;
    axes[0].axis = axis1;
    axes[1].axis = across(axis3, axis1, vec3(0, 1, 0));
    axes[2] = (JointAxis){ third, scene_list(joint, "device3"), axis3, false };
    return 3;
}

static void write_link(Urdf *urdf, const SceneNode *solid, const char *name, Pose frame);

// The end point where it is when all axes are at 0, in the frame in which the joint is.
static Pose pose_at_zero(const Urdf *urdf, const SceneNode *joint, const SceneNode *end, const JointAxis *axes,
                         int count, Vec3 anchor)
{
    assert_debug(count >= 0 && count <= 3);
    int index = physics_joint_of(urdf->physics, joint);
    Pose pose = scene_pose(end);
    Quat turn = QUAT_IDENTITY;
    for (int i = 0; i < count && index >= 0; i++) {
        double position = physics_joint_position(urdf->physics, index, i);
        if (axes[i].is_slider)
            pose.t = vec3_mad(pose.t, axes[i].axis, -position);
        else
            turn = quat_mul(turn, quat_from_axis_angle(axes[i].axis, position));
    }
    Quat back = quat_conj(turn);
    pose.t = vec3_add(anchor, quat_rotate(back, vec3_sub(pose.t, anchor)));
    pose.q = quat_mul(back, pose.q);
    return pose;
}

// A link below another one, by a joint without axes.
static void write_link_below(Urdf *urdf, const Link *link, const SceneNode *solid, const char *type, Pose frame)
{
    const char *name = own_name(urdf, 'L', scene_string(solid, "name"));
    add_joint_head(urdf, own_name(urdf, 'J', arena_printf(urdf->arena, "%s joint", name)), type, link->name, name,
                   pose_mul(frame, scene_pose(solid)));
    text_add_string(urdf->out, "  </joint>\n");
    write_link(urdf, solid, name, POSE_IDENTITY);
}

static void write_joint(Urdf *urdf, Link *link, const SceneNode *joint, Pose frame)
{
    const SceneNode *end = scene_behind_slots(scene_child(joint, "endPoint"));
    if (!end || !scene_node_is(end, "Solid")) {
        if (end)
            text_add_string(&link->text, "    <!-- a joint to another solid would close a loop -->\n");
        return;
    }
    if (!schema_field(joint->type, "jointParameters")) {  // one without axes; that of V5 holds nothing
        if (scene_node_is(joint, "FreeJoint"))
            write_link_below(urdf, link, end, "floating", frame);
        return;
    }
    JointAxis axes[PHYSICS_JOINT_AXES];
    int count = joint_axes(joint, axes);
    assert(count >= 1 && count <= PHYSICS_JOINT_AXES);
    const SceneNode *first = axes[0].parameters;
    Vec3 anchor = !axes[0].is_slider && first ? scene_vec3(first, "anchor") : VEC3_ZERO;
    Pose zero = pose_at_zero(urdf, joint, end, axes, count, anchor);
    if (axes[0].is_slider)
        anchor = zero.t;
    // All links of the chain lie in the anchor and are turned as the end point is at 0.
    Pose origin = pose_mul(frame, (Pose){ anchor, zero.q });
    const char *child = own_name(urdf, 'L', scene_string(end, "name")), *parent = link->name;
    for (int i = 0; i < count; i++) {
        axes[i].axis = quat_unrotate(zero.q, axes[i].axis);
        const char *to = i == count - 1
                             ? child
                             : own_name(urdf, 'L',
                                        arena_printf(urdf->arena, "%s axis %d", scene_string(end, "name"), i + 1));
        if (i < count - 1) {
            text_add_string(urdf->out, "  <link");
            add_attribute(urdf->out, "name", to);
            text_add_string(urdf->out, "/>\n");
        }
        add_axis_joint(urdf, &axes[i], parent, to, i == 0 ? origin : POSE_IDENTITY);
        parent = to;
    }
    Vec3 offset = quat_unrotate(zero.q, vec3_sub(zero.t, anchor));
    write_link(urdf, end, child, (Pose){ offset, QUAT_IDENTITY });
}

// ---- links ----

static void write_children(Urdf *urdf, Link *link, const SceneNode *node, Pose frame, Vec3 scale);

static void write_node(Urdf *urdf, Link *link, const SceneNode *node, Pose frame, Vec3 scale)
{
    if (scene_node_is(node, "Solid")) {
        write_link_below(urdf, link, node, "fixed", frame);
    } else if (scene_node_is(node, "Joint")) {
        write_joint(urdf, link, node, frame);
    } else if (scene_node_is(node, "Shape")) {
        add_visual(link, node, frame, scale);
    } else if (scene_node_is(node, "CadShape")) {
        add_geometry(&link->text, &(Part){ "visual", frame, VEC3_ZERO, 0.0, false }, node, scale);
    } else if (scene_node_is(node, "Slot")) {
        if (scene_child(node, "endPoint"))
            write_node(urdf, link, scene_child(node, "endPoint"), frame, scale);
    } else if (scene_node_is(node, "Group")) {
        if (scene_node_is(node, "Transform")) {
            Vec3 more = scene_vec3(node, "scale");
            scale = vec3(scale.x * more.x, scale.y * more.y, scale.z * more.z);
        }
        Pose pose = scene_pose(node);
        write_children(urdf, link, node, pose_mul(frame, pose), scale);
    }
}

static void write_children(Urdf *urdf, Link *link, const SceneNode *node, Pose frame, Vec3 scale)
{
    const FieldList *children = scene_list(node, "children");
    for (int i = 0; i < children->count; i++) {
        const SceneNode *child = scene_list_node(children, i);
        if (child)
            write_node(urdf, link, child, frame, scale);
    }
}

static void write_link(Urdf *urdf, const SceneNode *solid, const char *name, Pose frame)
{
    Link link = { .name = name };
    int index = physics_solid_of(urdf->physics, solid);
    if (index >= 0) {
        add_inertial(urdf, &link, index, frame);
        add_collisions(urdf, &link, index, frame);
    }
    write_children(urdf, &link, solid, frame, vec3(1, 1, 1));
    text_add_string(urdf->out, "  <link");
    add_attribute(urdf->out, "name", name);
    if (link.text.length) {
        text_add_string(urdf->out, ">\n");
        text_add(urdf->out, link.text.data, link.text.length);
        text_add_string(urdf->out, "  </link>\n");
    } else {
        text_add_string(urdf->out, "/>\n");
    }
    text_free(&link.text);
}

void urdf_write(const Physics *physics, const SceneNode *robot, const char *prefix, Text *out)
{
    assert_debug(robot && prefix && out);
    Urdf urdf = { physics, prefix, arena_create(), out, NULL, 0, 0 };
    text_add_string(out, "<?xml version=\"1.0\"?>\n<robot");
    add_attribute(out, "name", scene_string(robot, "name"));
    text_add_string(out, ">\n");
    write_link(&urdf, robot, own_name(&urdf, 'L', "base_link"), POSE_IDENTITY);
    text_add_string(out, "</robot>\n");
    free(urdf.names);
    arena_destroy(urdf.arena);
}

void control_write_urdf(const Physics *physics, const SceneNode *robot, const char *prefix, Text *out)
{
    urdf_write(physics, robot, prefix, out);
}
