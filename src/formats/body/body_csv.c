// body_csv.c - facts about a body as a whole, and tables and a tree of them for people and programs.
#include "formats/body/body.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

const char *body_joint_type_name(BodyJointType type)
{
    static const char *const names[] = { "fixed", "free", "revolute", "prismatic", "pseudo_continuous_track" };
    assert_debug((int)type >= 0 && (int)type < COUNT_OF(names));
    return names[type];
}

const char *body_actuation_name(BodyActuation actuation)
{
    static const char *const names[] = { "none", "joint_effort", "joint_displacement", "joint_velocity",
                                         "link_position" };
    assert_debug((int)actuation >= 0 && (int)actuation < COUNT_OF(names));
    return names[actuation];
}

int body_joint_count(const BodyModel *model)
{
    int highest = -1;
    for (int i = 0; i < model->link_count; i++)
        highest = int_max(highest, model->links[i].joint_id);
    return highest < INT32_MAX ? highest + 1 : highest;
}

int body_all_joint_count(const BodyModel *model)
{
    int count = body_joint_count(model);
    for (int i = 1; i < model->link_count; i++)
        count += model->links[i].joint_id < 0 && model->links[i].joint_type != BODY_JOINT_FIXED;
    return count;
}

int body_link_of_joint(const BodyModel *model, int joint_id)
{
    for (int i = 0; i < model->link_count; i++)
        if (model->links[i].joint_id == joint_id)
            return i;
    return -1;
}

bool body_is_static(const BodyModel *model)
{
    for (int i = 0; i < model->link_count; i++)
        if (model->links[i].joint_type != BODY_JOINT_FIXED && model->links[i].joint_type != BODY_JOINT_TRACK)
            return false;
    return true;
}

double body_mass(const BodyModel *model)
{
    double mass = 0.0;
    for (int i = 0; i < model->link_count; i++)
        mass += model->links[i].mass;
    return mass;
}

static BodyFrame motion(const BodyLink *link, double q)
{
    BodyFrame frame = BODY_FRAME_IDENTITY;
    if (link->joint_type == BODY_JOINT_REVOLUTE)
        frame.m = mat3_from_quat(quat_from_axis_angle(link->axis, q));
    else if (link->joint_type == BODY_JOINT_PRISMATIC)
        frame.t = vec3_scale(link->axis, q);
    return frame;
}

void body_link_frames(const BodyModel *model, const double *q, BodyFrame *frames)
{
    assert_debug(frames);
    for (int i = 0; i < model->link_count; i++) {
        const BodyLink *link = &model->links[i];
        assert_debug(link->parent < i);
        BodyFrame local = { link->rotation, link->translation };
        if (i > 0)
            local = body_frame_mul(local, motion(link, q ? q[i] : link->q_initial));
        frames[i] = link->parent < 0 ? local : body_frame_mul(frames[link->parent], local);
    }
}

Vec3 body_center_of_mass(const BodyModel *model, const BodyFrame *frames)
{
    Vec3 moment = VEC3_ZERO;
    double mass = 0.0;
    for (int i = 0; i < model->link_count; i++) {
        const BodyLink *link = &model->links[i];
        moment = vec3_mad(moment, body_frame_apply(frames[i], link->com), link->mass);
        mass += link->mass;
    }
    return mass > 0.0 ? vec3_scale(moment, 1.0 / mass) : VEC3_ZERO;
}

bool body_frame_split(BodyFrame frame, Pose *pose, Vec3 *scale)
{
    const double *m = frame.m.m;
    Vec3 x = vec3(m[0], m[3], m[6]), y = vec3(m[1], m[4], m[7]), z = vec3(m[2], m[5], m[8]);
    *scale = vec3(vec3_length(x), vec3_length(y), vec3_length(z));
    pose->t = frame.t;
    pose->q = QUAT_IDENTITY;
    if (scale->x < 1e-12 || scale->y < 1e-12 || scale->z < 1e-12)
        return false;
    x = vec3_scale(x, 1.0 / scale->x);
    y = vec3_scale(y, 1.0 / scale->y);
    z = vec3_scale(z, 1.0 / scale->z);
    if (vec3_dot(vec3_cross(x, y), z) < 0.0) {  // a mirror image: the mirror goes into the scale
        scale->z = -scale->z;
        z = vec3_neg(z);
    }
    pose->q = quat_from_mat3((Mat3){ { x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z } });
    for (double *s = &scale->x; s <= &scale->z; s++)  // rounding of a pure rotation
        if (fabs(fabs(*s) - 1.0) < 1e-12)
            *s = *s < 0.0 ? -1.0 : 1.0;
    return fabs(vec3_dot(x, y)) < 1e-9 && fabs(vec3_dot(y, z)) < 1e-9 && fabs(vec3_dot(x, z)) < 1e-9;
}

// Tables

// Numbers look as Choreonoid's dumps (made with Python) have them: reals always show that they are real.
static void add_real(Text *out, double value)
{
    char buffer[32];
    text_from_double(buffer, value);
    text_printf(out, ",%s%s", buffer, strpbrk(buffer, ".en") ? "" : ".0");
}

static void add_vec3(Text *out, Vec3 v)
{
    add_real(out, v.x);
    add_real(out, v.y);
    add_real(out, v.z);
}

static void add_frame(Text *out, BodyFrame frame)
{
    add_vec3(out, frame.t);
    for (int i = 0; i < 9; i++)
        add_real(out, frame.m.m[i]);
}

static void add_word(Text *out, const char *word)
{
    if (!strpbrk(word, ",\"\n\r")) {
        text_add_string(out, word);
        return;
    }
    text_add_char(out, '"');
    for (; *word; word++) {
        if (*word == '"')
            text_add_char(out, '"');
        text_add_char(out, *word);
    }
    text_add_char(out, '"');
}

static void write_links(const BodyModel *model, const BodyFrame *frames, const char *file, Text *out)
{
    assert_debug(frames || model->link_count == 0);
    for (int i = 0; i < model->link_count; i++) {
        const BodyLink *link = &model->links[i];
        add_word(out, file);
        text_printf(out, ",%d,", i);
        add_word(out, link->name);
        text_add_char(out, ',');
        add_word(out, link->parent < 0 ? "" : model->links[link->parent].name);
        text_printf(out, ",%s,%d", body_joint_type_name(link->joint_type), link->joint_id);
        add_vec3(out, link->axis);
        add_frame(out, frames[i]);
        add_real(out, link->mass);
        add_vec3(out, link->com);
        const int upper[6] = { 0, 1, 2, 4, 5, 8 };
        for (int k = 0; k < 6; k++)
            add_real(out, link->inertia.m[upper[k]]);
        add_real(out, link->q_initial);
        add_real(out, link->q_lower);
        add_real(out, link->q_upper);
        add_real(out, link->dq_lower);
        add_real(out, link->dq_upper);
        add_real(out, link->axis_inertia);
        text_add_char(out, '\n');
    }
}

static void write_devices(const BodyModel *model, const char *file, Text *out)
{
    for (int i = 0; i < model->device_count; i++) {
        const BodyDevice *device = &model->devices[i];
        assert_debug(device->link >= 0 && device->link < model->link_count);
        add_word(out, file);
        text_printf(out, ",%d,%s,", i, body_device_type_name(device->type));
        add_word(out, device->name);
        text_printf(out, ",%d,", device->id);
        add_word(out, model->links[device->link].name);
        add_frame(out, device->frame);
        text_add_char(out, '\n');
    }
}

static void write_summary(const BodyModel *model, const BodyFrame *frames, const char *file, Text *out)
{
    const BodyLink *root = &model->links[0];
    add_word(out, file);
    text_printf(out, ",1,%d,%d,%d,%d,%d", model->link_count, body_joint_count(model), body_all_joint_count(model),
                model->device_count, model->extra_joint_count);
    add_real(out, body_mass(model));
    add_vec3(out, body_center_of_mass(model, frames));
    text_printf(out, ",%s,%d,%d\n", body_joint_type_name(root->joint_type), body_is_static(model),
                root->joint_type == BODY_JOINT_FIXED);
}

void body_write_csv(const BodyModel *model, BodyCsv kind, const char *file, bool has_heading, Text *out)
{
    assert((int)kind >= 0 && file && out);
    static const char *const headings[] = {
        ("file,index,name,parent,joint_type,joint_id,axis_x,axis_y,axis_z,px,py,pz,r11,r12,r13,r21,r22,r23,r31,r32,r33,mass,cx,cy,cz,"
         "Ixx,Ixy,Ixz,Iyy,Iyz,Izz,q_initial,q_lower,q_upper,dq_lower,dq_upper,Jm2"),
        "file,index,type,name,id,link,px,py,pz,r11,r12,r13,r21,r22,r23,r31,r32,r33",
        "file,loaded,numLinks,numJoints,numAllJoints,numDevices,numExtraJoints,mass,com_x,com_y,com_z,root_joint,isStatic,isFixedRoot",
    };
    if (has_heading)
        text_printf(out, "%s\n", headings[kind]);
    BodyFrame *frames = memory_alloc_array((size_t)model->link_count, sizeof *frames);
    body_link_frames(model, NULL, frames);
    if (kind == BODY_CSV_LINKS)
        write_links(model, frames, file, out);
    else if (kind == BODY_CSV_DEVICES)
        write_devices(model, file, out);
    else
        write_summary(model, frames, file, out);
    free(frames);
}

// The tree

static void add_limits(Text *out, const BodyLink *link)
{
    bool is_angle = link->joint_type == BODY_JOINT_REVOLUTE;
    double unit = is_angle ? 180.0 / 3.14159265358979323846 : 1.0;
    if (link->q_lower > -BODY_UNLIMITED || link->q_upper < BODY_UNLIMITED)
        text_printf(out, ", %.6g..%.6g %s", link->q_lower > -BODY_UNLIMITED ? link->q_lower * unit : -INFINITY,
                    link->q_upper < BODY_UNLIMITED ? link->q_upper * unit : INFINITY, is_angle ? "deg" : "m");
    if (link->effort_limit < BODY_UNLIMITED)
        text_printf(out, ", at most %.6g %s", link->effort_limit, is_angle ? "N m" : "N");
    if (link->axis_inertia > 0.0)
        text_printf(out, ", rotor %.6g %s", link->axis_inertia, is_angle ? "kg m2" : "kg");
}

// Shapes and devices are sorted by link, so two cursors walk along with the links.
static void write_tree_link(const BodyModel *model, int index, int depth, int *shape, int *device, Text *out)
{
    assert_debug(index >= 0 && index < model->link_count && depth >= 0);
    const BodyLink *link = &model->links[index];
    text_printf(out, "%*s%s", int_min(2 * depth, 200), "", *link->name ? link->name : "(no name)");
    if (index == 0 || link->joint_type != BODY_JOINT_FIXED)
        text_printf(out, ": %s", body_joint_type_name(link->joint_type));
    else
        text_add_string(out, ": fixed");
    if (link->joint_id >= 0)
        text_printf(out, " #%d", link->joint_id);
    if (link->joint_type == BODY_JOINT_REVOLUTE || link->joint_type == BODY_JOINT_PRISMATIC
        || link->joint_type == BODY_JOINT_TRACK)
        text_printf(out, " about %.6g %.6g %.6g", link->axis.x, link->axis.y, link->axis.z);
    add_limits(out, link);
    text_printf(out, ", %.6g kg", link->mass);
    int shapes = 0, first_device = *device;
    for (; *shape < model->shape_count && model->shapes[*shape].link == index; ++*shape)
        shapes++;
    if (shapes)
        text_printf(out, ", %d shape%s", shapes, shapes > 1 ? "s" : "");
    if (strcmp(link->material, "Default"))
        text_printf(out, ", %s", link->material);
    text_add_char(out, '\n');
    for (*device = first_device; *device < model->device_count && model->devices[*device].link == index; ++*device) {
        const BodyDevice *item = &model->devices[*device];
        text_printf(out, "%*s* %s %s\n", int_min(2 * depth + 2, 200), "", body_device_type_name(item->type),
                    item->name);
    }
}

void body_write_tree(const BodyModel *model, Text *out)
{
    text_printf(out, "%s: %d link%s, %d joints, %d devices, %.6g kg\n", model->name, model->link_count,
                model->link_count == 1 ? "" : "s", body_all_joint_count(model), model->device_count, body_mass(model));
    int *depths = memory_alloc_array((size_t)model->link_count, sizeof *depths);
    int shape = 0, device = 0;
    for (int i = 0; i < model->link_count; i++) {
        depths[i] = model->links[i].parent < 0 ? 0 : depths[model->links[i].parent] + 1;
        write_tree_link(model, i, depths[i], &shape, &device, out);
    }
    free(depths);
    for (int i = 0; i < model->extra_joint_count; i++) {
        const BodyExtraJoint *joint = &model->extra_joints[i];
        assert_debug(joint->link[0] < model->link_count && joint->link[1] < model->link_count);
        text_printf(out, "extra joint: %s between %s and %s\n", body_extra_type_name(joint->type),
                    model->links[joint->link[0]].name, model->links[joint->link[1]].name);
    }
    for (const BodyInfo *info = model->info; info; info = info->next)
        text_printf(out, "section %s\n", info->key);
}
