// body_from.c - a Robot or Solid of a scene as a body: the way back of body_scene.c, also for nodes that never were a
// body.
#include "formats/body/body_from.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define UNLIMITED 1e29  // fields from here on mean "no limit"

const char *body_from_text(BodyFrom *from, const char *text) { return arena_string(from->model->arena, text); }

void body_from_lost(BodyFrom *from, const SceneNode *node, const char *what)
{
    diag_warning(from->diags, node->pos, "%s %s cannot be said in a body file; left out", node->type->name, what);
}

static int add_link(BodyFrom *from, const char *name, int parent)
{
    assert_debug(name && parent >= -1 && parent < from->model->link_count);
    BodyModel *model = from->model;
    memory_grow(&from->links, &from->link_capacity, model->link_count + 1, sizeof *from->links);
    memory_grow(&from->shifts, &from->shift_capacity, model->link_count + 1, sizeof *from->shifts);
    BodyLink *link = &from->links[model->link_count];
    body_link_init(link);
    link->name = link->joint_name = body_from_text(from, name);
    link->parent = parent;
    from->shifts[model->link_count] = VEC3_ZERO;
    return model->link_count++;
}

// Mass

static Mat3 read_inertia(const SceneNode *node)
{
    const FieldList *list = scene_list(node, "inertiaMatrix");
    if (list->count < 2)
        return (Mat3){ { 0 } };
    const double *n = list->numbers;
    return (Mat3){ { n[0], n[3], n[4], n[3], n[1], n[5], n[4], n[5], n[2] } };
}

static const SceneNode *find_child(const SceneNode *node, const char *type)
{
    const FieldList *children = scene_list(node, "children");
    for (int i = 0; i < children->count; i++) {
        const SceneNode *child = scene_list_node(children, i);
        if (child && scene_node_is(child, type))
            return child;
    }
    return NULL;
}

// Numbers of the file that a BodyLink note kept count first: Physics has them mended. Else what Physics says, and
// what it leaves out from the volume of the shapes.
static void read_mass(BodyFrom *from, const SceneNode *solid, int index, int first_shape)
{
    assert_debug(index >= 0 && index < from->model->link_count && first_shape >= 0);
    BodyLink *link = &from->links[index];
    const SceneNode *physics = scene_child(solid, "physics"), *notes = find_child(solid, "BodyLink");
    if (notes && scene_float(notes, "mass") >= 0.0) {
        link->mass = scene_float(notes, "mass");
        link->com = scene_vec3(notes, "centerOfMass");
        link->inertia = read_inertia(notes);
        link->has_mass_data = true;
    } else if (physics) {
        if (scene_child(physics, "damping"))
            body_from_lost(from, physics, "damping");
        link->has_mass_data = true;
        double mass = scene_float(physics, "mass");
        const FieldList *center = scene_list(physics, "centerOfMass");
        BodyMassPart volume = body_from_volume(from, first_shape, index);
        if (scene_list(physics, "inertiaMatrix")->count >= 2 && mass > 0.0) {
            link->mass = mass;
            link->inertia = read_inertia(physics);
            link->com = volume.com;
        } else {
            double density = scene_float(physics, "density");
            link->mass = mass > 0.0 ? mass : density > 0.0 ? density * volume.mass : 0.0;
            double factor = volume.mass > 0.0 ? link->mass / volume.mass : 0.0;
            link->inertia = mat3_scale(volume.inertia, factor);
            link->com = volume.com;
        }
        if (center->count > 0)
            link->com = vec3(center->numbers[0], center->numbers[1], center->numbers[2]);
        else if (scene_list(physics, "inertiaMatrix")->count >= 2)
            link->com = VEC3_ZERO;
    } else if (link->parent >= 0 && !from->is_static) {
        link->mass = 0.0;
        link->inertia = (Mat3){ { 0 } };
        link->has_mass_data = true;
    }
    if (link->has_mass_data)
        link->com = vec3_add(link->com, from->shifts[index]);
}

static void read_notes(BodyFrom *from, const SceneNode *solid, int index)
{
    assert_debug(index >= 0 && index < from->model->link_count);
    BodyLink *link = &from->links[index];
    const char *material = scene_string(solid, "contactMaterial");
    if (*material && strcmp(material, "default"))
        link->material = body_from_text(from, material);
    const SceneNode *notes = find_child(solid, "BodyLink");
    if (!notes)
        return;
    if (scene_int(notes, "jointId") >= 0)
        link->joint_id = scene_int(notes, "jointId");
    if (*scene_string(notes, "jointName"))
        link->joint_name = body_from_text(from, scene_string(notes, "jointName"));
    if (scene_field(notes, "jointAxis"))
        link->axis = scene_vec3(notes, "jointAxis");
    for (BodyJointType type = BODY_JOINT_FIXED; type <= BODY_JOINT_TRACK; type++)
        if (!strcmp(scene_string(notes, "jointType"), body_joint_type_name(type)))
            link->joint_type = type;
    if (*scene_string(notes, "info"))
        link->info = body_from_info(from, scene_string(notes, "info"));
}

BodyInfo *body_from_info(BodyFrom *from, const char *text)
{
    BodyModel *model = from->model;
    YamlDocument *document = yaml_parse("(info)", text, strlen(text), NULL, from->diags);
    if (!document)
        return NULL;
    *memory_push(model->documents, model->document_count, model->document_capacity) = document;
    BodyInfo *info = NULL, **tail = &info;
    const YamlNode *root = yaml_root(document);
    for (int i = 0; root->kind == YAML_MAP && i < root->count; i++) {
        *tail = arena_alloc(model->arena, sizeof **tail);
        **tail = (BodyInfo){ .key = root->pairs[i].key, .value = root->pairs[i].value };
        tail = &(*tail)->next;
    }
    return info;
}

// Joints

static double limit_of(double value)
{
    return value >= UNLIMITED ? BODY_UNLIMITED : value <= -UNLIMITED ? -BODY_UNLIMITED : value;
}

static Vec3 snapped(Vec3 v)
{
    for (double *c = &v.x; c <= &v.z; c++) {
        if (fabs(*c) < 1e-13)
            *c = 0.0;
        else if (fabs(fabs(*c) - 1.0) < 1e-13)
            *c = *c < 0.0 ? -1.0 : 1.0;
    }
    return v;
}

static void read_motor(BodyFrom *from, const SceneNode *motor, BodyLink *link)
{
    assert_debug(scene_node_is(motor, "Motor"));
    static const char *const modes[] = { "none", "effort", "displacement", "velocity", "position" };
    link->joint_name = body_from_text(from, scene_string(motor, "name"));
    link->actuation = BODY_ACTUATION_DISPLACEMENT;
    double fastest = limit_of(scene_float(motor, "maxVelocity"));
    link->dq_lower = -fastest;
    link->dq_upper = fastest;
    bool is_linear = scene_node_is(motor, "LinearMotor");
    link->effort_limit = limit_of(scene_float(motor, is_linear ? "maxForce" : "maxTorque"));
    if (!scene_node_is(motor, "BodyRotationalMotor") && !scene_node_is(motor, "BodyLinearMotor")) {
        from->plain_motors++;
        return;
    }
    for (int i = 0; i < COUNT_OF(modes); i++)
        if (!strcmp(scene_string(motor, "actuation"), modes[i]))
            link->actuation = (BodyActuation)i;
    link->rotor_inertia = scene_float(motor, "rotorInertia");
    link->gear_ratio = scene_float(motor, "gearRatio");
    link->axis_inertia = link->gear_ratio * link->gear_ratio * link->rotor_inertia;
    link->joint_id = scene_int(motor, "jointId");
    Vec2 range = scene_vec2(motor, "velocityRange");
    if (range.x != range.y) {
        link->dq_lower = limit_of(range.x);
        link->dq_upper = limit_of(range.y);
    }
}

static const SceneNode *find_motor(BodyFrom *from, const SceneNode *joint, const char *field)
{
    assert_debug(schema_field(joint->type, field));
    const FieldList *devices = scene_list(joint, field);
    const SceneNode *motor = NULL;
    for (int i = 0; i < devices->count; i++) {
        const SceneNode *device = scene_list_node(devices, i);
        if (device && scene_node_is(device, "Motor"))
            motor = device;
        else if (device && scene_node_is(device, "Brake"))
            body_from_lost(from, device, scene_string(device, "name"));
    }
    return motor;
}

static void read_stops(const SceneNode *parameters, BodyLink *link)
{
    double low = scene_float(parameters, "minStop"), high = scene_float(parameters, "maxStop");
    if (low == high)
        return;
    link->q_lower = limit_of(low);
    link->q_upper = limit_of(high);
    if (high - low < 2e-9)
        link->q_upper = link->q_lower;
}

static void report_springs(BodyFrom *from, const SceneNode *joint)
{
    assert_debug(scene_node_is(joint, "Joint"));
    static const char *const holders[] = { "jointParameters", "jointParameters2", "jointParameters3" };
    static const char *const fields[] = { "springConstant", "dampingConstant", "staticFriction",
                                          "suspensionSpringConstant", "suspensionDampingConstant" };
    for (int k = 0; k < COUNT_OF(holders); k++) {
        const SceneNode *parameters = schema_field(joint->type, holders[k]) ? scene_child(joint, holders[k]) : NULL;
        for (int i = 0; parameters && i < COUNT_OF(fields); i++)
            if (schema_field(parameters->type, fields[i]) && scene_float(parameters, fields[i]) != 0.0)
                body_from_lost(from, parameters, fields[i]);
    }
}

// Motors that no link of the body can have: those of a loop, and of the axes of a ball joint.
static void report_drives(BodyFrom *from, const SceneNode *joint, bool is_loop)
{
    static const char *const holders[] = { "device", "device2", "device3" };
    bool is_plain = !is_loop && (scene_node_is(joint, "HingeJoint") || scene_node_is(joint, "SliderJoint"))
                    && !scene_node_is(joint, "Hinge2Joint");
    for (int k = is_plain ? 1 : 0; k < COUNT_OF(holders); k++) {
        const FieldList *devices = schema_field(joint->type, holders[k]) ? scene_list(joint, holders[k]) : NULL;
        for (int i = 0; devices && i < devices->count; i++)
            if (scene_list_node(devices, i))
                body_from_lost(from, scene_list_node(devices, i), scene_string(scene_list_node(devices, i), "name"));
    }
}

// `above` is the frame of the joint's holder in the frame of the parent link.
static void read_one_axis(BodyFrom *from, const SceneNode *joint, const SceneNode *end, int parent, BodyFrame above)
{
    assert_debug(parent >= 0 && parent < from->model->link_count);
    bool is_turning = scene_node_is(joint, "HingeJoint");
    const SceneNode *parameters = scene_child(joint, "jointParameters");
    double q = parameters ? scene_float(parameters, "position") : 0.0;
    Vec3 axis = vec3_normalized(parameters   ? scene_vec3(parameters, "axis")
                                : is_turning ? vec3(1, 0, 0)
                                             : vec3(0, 0, 1));
    Vec3 anchor = parameters && is_turning ? scene_vec3(parameters, "anchor") : VEC3_ZERO;
    Pose pose = scene_pose(end);
    Vec3 origin = pose.t;
    if (is_turning) {
        Quat back = quat_from_axis_angle(axis, -q);
        pose.q = quat_mul(back, pose.q);
        pose.t = vec3_add(anchor, quat_rotate(back, vec3_sub(origin, anchor)));
    } else {
        anchor = pose.t = vec3_mad(pose.t, axis, -q);
    }
    int index = add_link(from, scene_string(end, "name"), parent);
    BodyLink *link = &from->links[index];
    BodyFrame frame = body_frame_mul(above, (BodyFrame){ mat3_from_quat(pose.q), anchor });
    link->translation = frame.t;
    link->rotation = frame.m;
    link->joint_type = is_turning ? BODY_JOINT_REVOLUTE : BODY_JOINT_PRISMATIC;
    link->axis = snapped(quat_unrotate(pose.q, axis));
    link->q_initial = q;
    Vec3 shift = quat_unrotate(pose.q, vec3_sub(pose.t, anchor));
    from->shifts[index] = vec3_length(shift) < 1e-13 ? VEC3_ZERO : shift;
    if (parameters)
        read_stops(parameters, link);
    const SceneNode *motor = find_motor(from, joint, "device");
    if (motor)
        read_motor(from, motor, link);
    body_from_solid(from, end, index);
}

static void read_ball(BodyFrom *from, const SceneNode *joint, const SceneNode *end, int parent, BodyFrame above)
{
    assert_debug(parent >= 0 && parent < from->model->link_count);
    const SceneNode *parameters = scene_child(joint, "jointParameters");
    Pose pose = scene_pose(end);
    int index = add_link(from, scene_string(end, "name"), parent);
    BodyFrame frame = body_frame_mul(above, (BodyFrame){ mat3_from_quat(pose.q), pose.t });
    BodyLink *link = &from->links[index];
    link->translation = frame.t;
    link->rotation = frame.m;
    link->joint_type = BODY_JOINT_FREE;
    Vec3 anchor = parameters ? scene_vec3(parameters, "anchor") : VEC3_ZERO;
    BodyExtraJoint extra = { .type = BODY_EXTRA_BALL,
                             .name = "",
                             .link = { parent, index },
                             .axis = { 1, 0, 0 },
                             .pos = joint->pos,
                             .frame = { BODY_FRAME_IDENTITY, BODY_FRAME_IDENTITY } };
    extra.frame[0].t = body_frame_apply(above, anchor);
    extra.frame[1].t = quat_unrotate(pose.q, vec3_sub(anchor, pose.t));
    body_from_extra(from, extra);
    body_from_solid(from, end, index);
}

void body_from_extra(BodyFrom *from, BodyExtraJoint extra)
{
    BodyModel *model = from->model;
    *memory_push(model->extra_joints, model->extra_joint_count, model->extra_joint_capacity) = extra;
}

// Loops are closed when all links are known: remembered until then.
static void remember_loop(BodyFrom *from, const SceneNode *joint, const char *solid_name, int link, BodyFrame above)
{
    assert_debug(link >= 0 && link < from->model->link_count);
    *memory_push(from->loops, from->loop_count, from->loop_capacity) = (BodyLoop){ joint, solid_name, link, above };
}

void body_from_joint(BodyFrom *from, const SceneNode *joint, int parent, BodyFrame above)
{
    assert_debug(parent >= 0 && parent < from->model->link_count);
    const SceneNode *end = scene_behind_slots(scene_child(joint, "endPoint"));
    if (!end)
        return;
    if (!scene_node_is(end, "Solid") && !scene_node_is(end, "SolidReference")) {
        body_from_lost(from, end, "");
        return;
    }
    report_springs(from, joint);
    report_drives(from, joint, scene_node_is(end, "SolidReference"));
    if (scene_node_is(end, "SolidReference")) {
        remember_loop(from, joint, scene_string(end, "solidName"), parent, above);
    } else if (scene_node_is(joint, "FreeJoint")) {
        int index = add_link(from, scene_string(end, "name"), parent);
        Pose pose = scene_pose(end);
        BodyFrame frame = body_frame_mul(above, (BodyFrame){ mat3_from_quat(pose.q), pose.t });
        from->links[index].translation = frame.t;
        from->links[index].rotation = frame.m;
        from->links[index].joint_type = BODY_JOINT_FREE;
        body_from_solid(from, end, index);
    } else if (scene_node_is(joint, "HingeJoint") || scene_node_is(joint, "SliderJoint")) {
        read_one_axis(from, joint, end, parent, above);
    } else if (scene_node_is(joint, "BallJoint")) {
        read_ball(from, joint, end, parent, above);
    } else {
        body_from_lost(from, joint, "with what hangs on it");
    }
}

// A Solid inside a Solid without a joint between.
void body_from_fixed(BodyFrom *from, const SceneNode *solid, int parent, BodyFrame above)
{
    assert_debug(parent >= 0 && parent < from->model->link_count);
    int index = add_link(from, scene_string(solid, "name"), parent);
    Pose pose = scene_pose(solid);
    BodyFrame frame = body_frame_mul(above, (BodyFrame){ mat3_from_quat(pose.q), pose.t });
    BodyLink *link = &from->links[index];
    link->translation = frame.t;
    link->rotation = frame.m;
    if (scene_node_is(solid, "Track")) {
        link->joint_type = BODY_JOINT_TRACK;
        link->axis = scene_node_is(solid, "BodyTrack") ? scene_vec3(solid, "axis") : vec3(0, 1, 0);
        link->actuation = BODY_ACTUATION_VELOCITY;
        const SceneNode *motor = find_motor(from, solid, "device");
        if (motor)
            read_motor(from, motor, link);
        link->actuation = BODY_ACTUATION_VELOCITY;
    }
    body_from_solid(from, solid, index);
}

void body_from_solid(BodyFrom *from, const SceneNode *solid, int index)
{
    assert_debug(index >= 0 && index < from->model->link_count);
    from->links[index].pos = solid->pos;
    bool was_static = from->is_static;
    BodyJointType type = from->links[index].joint_type;
    from->is_static = from->is_static && (type == BODY_JOINT_FIXED || type == BODY_JOINT_TRACK);
    BodyFrame frame = BODY_FRAME_IDENTITY;
    frame.t = from->shifts[index];
    int first_shape = from->model->shape_count;
    const SceneNode *bounding = scene_child(solid, "boundingObject");
    if (bounding)
        body_from_shapes(from, bounding, index, frame, true);
    read_mass(from, solid, index, first_shape);
    read_notes(from, solid, index);
    body_from_children(from, solid, index, frame);
    from->is_static = was_static;
}

// The body as a whole

static void close_loops(BodyFrom *from)
{
    assert(from->loop_count >= 0);
    for (int i = 0; i < from->loop_count; i++) {
        const BodyLoop *loop = &from->loops[i];
        int other = -1;
        for (int k = 1; k < from->model->link_count && other < 0; k++)
            if (!strcmp(from->links[k].name, loop->solid_name))
                other = k;
        if (other < 0 && !strcmp(from->root_name, loop->solid_name))
            other = 0;
        if (other < 0) {
            body_from_lost(from, loop->joint, "to another robot or the world");
            continue;
        }
        BodyExtraJoint extra = { .name = "",
                                 .link = { loop->link, other },
                                 .axis = { 1, 0, 0 },
                                 .pos = loop->joint->pos,
                                 .frame = { BODY_FRAME_IDENTITY, BODY_FRAME_IDENTITY } };
        body_from_loop(from, loop, &extra);
        body_from_extra(from, extra);
    }
}

// Joints of a robot that never was a body get numbers in the order of its links.
static void number_joints(BodyFrom *from)
{
    int next = 0;
    if (from->plain_motors == 0)
        return;
    for (int i = 0; i < from->model->link_count; i++)
        if (from->links[i].joint_id >= 0)
            return;
    for (int i = 1; i < from->model->link_count; i++)
        if (from->links[i].joint_type == BODY_JOINT_REVOLUTE || from->links[i].joint_type == BODY_JOINT_PRISMATIC
            || from->links[i].joint_type == BODY_JOINT_TRACK)
            from->links[i].joint_id = next++;
}

// Names must be unique in a body; names of solids need not be.
static void make_names_unique(BodyFrom *from)
{
    assert(from->model->link_count > 0);
    BodyModel *model = from->model;
    body_index_names(model);
    for (int i = 0; i < model->link_count; i++) {
        BodyLink *link = &model->links[i];
        if (body_find_link(model, link->name) == i)
            continue;
        const char *name = arena_printf(model->arena, "%s_%d", *link->name ? link->name : "link", i);
        if (*link->name)
            diag_note(from->diags, link->pos, "a second solid '%.60s' is written as link '%.60s'", link->name, name);
        if (!strcmp(link->joint_name, link->name))
            link->joint_name = name;
        link->name = name;
    }
    body_index_names(model);
}

static void sort_contents(BodyModel *model)
{
    BodyShape *sorted = memory_alloc_array((size_t)model->shape_count + 1, sizeof *sorted);
    int *starts = memory_alloc_array((size_t)model->link_count + 2, sizeof *starts);
    assert_debug(model->link_count > 0);
    for (int i = 0; i < model->shape_count; i++)
        starts[model->shapes[i].link + 1]++;
    for (int i = 0; i < model->link_count; i++)
        starts[i + 1] += starts[i];
    for (int i = 0; i < model->shape_count; i++)
        sorted[starts[model->shapes[i].link]++] = model->shapes[i];
    free(model->shapes);
    model->shapes = sorted;
    memset(starts, 0, ((size_t)model->link_count + 2) * sizeof *starts);
    BodyDevice *devices = memory_alloc_array((size_t)model->device_count + 1, sizeof *devices);
    for (int i = 0; i < model->device_count; i++)
        starts[model->devices[i].link + 1]++;
    for (int i = 0; i < model->link_count; i++)
        starts[i + 1] += starts[i];
    for (int i = 0; i < model->device_count; i++)
        devices[starts[model->devices[i].link]++] = model->devices[i];
    free(model->devices);
    model->devices = devices;
    free(starts);
}

static void read_body_notes(BodyFrom *from, const SceneNode *robot)
{
    BodyModel *model = from->model;
    const SceneNode *notes = find_child(robot, "BodyInfo");
    model->name = body_from_text(from, scene_string(robot, "name"));
    if (!notes)
        return;
    if (*scene_string(notes, "name"))
        model->name = body_from_text(from, scene_string(notes, "name"));
    const FieldList *handlers = scene_list(notes, "handlers");
    model->handlers = arena_alloc_array(model->arena, (size_t)handlers->count, sizeof *model->handlers);
    for (int i = 0; i < handlers->count; i++)
        model->handlers[model->handler_count++] = body_from_text(from, handlers->strings[i]);
    if (*scene_string(notes, "info"))
        model->info = body_from_info(from, scene_string(notes, "info"));
    if (scene_field(notes, "collisionRules"))
        body_from_rules(from, scene_list(notes, "collisionRules"));
}

BodyModel *body_from_node(const Scene *scene, const SceneNode *solid, DiagSink *diags)
{
    assert_debug(scene && solid && diags);
    BodyModel *model = memory_alloc(sizeof *model);
    model->arena = arena_create();
    model->path = arena_string(model->arena, scene_path(scene));
    model->format_version = 2.0;
    BodyFrom from = { .model = model, .scene = scene, .diags = diags };
    const SceneNode *physics = scene_child(solid, "physics");
    int root = add_link(&from, scene_string(solid, "name"), -1);
    Pose pose = scene_world_pose(solid);
    BodyLink *link = &from.links[root];
    link->translation = pose.t;
    link->rotation = mat3_from_quat(pose.q);
    link->joint_type = physics ? BODY_JOINT_FREE : BODY_JOINT_FIXED;
    const SceneNode *info = find_child(solid, "BodyInfo"), *link_notes = find_child(solid, "BodyLink");
    if (info || link_notes) {
        // The root link of a body that became a Robot: the robot's name is the body's, the link has its own.
        const char *name = info && *scene_string(info, "rootLink") ? scene_string(info, "rootLink")
                                                                   : scene_string(solid, "name");
        link->name = link->joint_name = body_from_text(&from, name);
    }
    from.root_name = scene_string(solid, "name");
    from.is_static = !physics;
    body_from_solid(&from, solid, root);
    model->links = arena_copy(model->arena, from.links, (size_t)model->link_count * sizeof *from.links);
    free(from.links);
    from.links = model->links;
    close_loops(&from);
    number_joints(&from);
    sort_contents(model);
    make_names_unique(&from);
    read_body_notes(&from, solid);
    free(from.shifts);
    free(from.loops);
    return model;
}
