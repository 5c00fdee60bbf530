#include "physics/odeinside.h"

#include "base/common.h"

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define HEAD_BYTES 64   // list heads and links stand at the start of their objects

static OdeInside inside;
static const char *measured_problem;

static int find_pointer(const void *object, int bytes, const void *value)
{
    for (int at = 0; at + (int)sizeof(void *) <= bytes; at += (int)sizeof(void *))
        if (odeinside_pointer(object, at) == value)
            return at;
    return -1;
}

static const char *measure_lists(void)
{
    dWorldID world = dWorldCreate();
    dBodyID body[3];
    dJointID joint[3];
    for (int i = 0; i < 3; i++) {
        body[i] = dBodyCreate(world);
        joint[i] = dJointCreateBall(world, NULL);
    }
    inside.first_body = find_pointer(world, HEAD_BYTES, body[2]);
    inside.first_joint = find_pointer(world, HEAD_BYTES, joint[2]);
    inside.next_body = find_pointer(body[2], HEAD_BYTES, body[1]);
    inside.next_joint = find_pointer(joint[2], HEAD_BYTES, joint[1]);
    bool found = inside.first_body >= 0 && inside.first_joint >= 0 && inside.next_body >= 0 && inside.next_joint >= 0
        && odeinside_pointer(body[1], inside.next_body) == body[0] && odeinside_pointer(body[0], inside.next_body) == NULL
        && odeinside_pointer(joint[1], inside.next_joint) == joint[0] && odeinside_pointer(joint[0], inside.next_joint) == NULL;
    dWorldDestroy(world);
    return found ? NULL : "its lists of bodies and joints were not found";
}

static uint32_t word(const void *object, int offset)
{
    uint32_t value;
    memcpy(&value, (const char *)object + offset, sizeof value);
    return value;
}

static const char *measure_contact(void)
{
    dWorldID world = dWorldCreate();
    dBodyID body = dBodyCreate(world);
    dContact contact;
    memset(&contact, 0, sizeof contact);
    contact.surface.mode = dContactApprox1;
    contact.surface.mu = 0.7310585786300049;
    for (int i = 0; i < 3; i++) {
        contact.geom.pos[i] = 1234.5 + i;
        contact.geom.normal[i] = 0.0625 * (i + 1);
    }
    contact.geom.depth = 0.0078125;
    dJointID forward = dJointCreateContact(world, NULL, &contact), reversed = dJointCreateContact(world, NULL, &contact);
    dJointAttach(forward, body, NULL);
    dJointAttach(reversed, NULL, body);
    int size = (int)malloc_usable_size(forward);
    inside.contact = -1;
    for (int at = 0; at + (int)sizeof contact <= size; at += 8)
        if (!memcmp((const char *)forward + at, &contact, sizeof contact))
            inside.contact = at;
    // The word that disabling changes is the flags; what differs there between the two joints is the reverse bit.
    inside.flags = -1;
    unsigned char before[256];
    int head = inside.contact < 0 ? 0 : int_min(inside.contact, (int)sizeof before);
    memcpy(before, forward, (size_t)head);
    dJointDisable(forward);
    int changed = 0;
    for (int at = 0; at + 4 <= head; at += 4)
        if (word(before, at) != word(forward, at))
            inside.flags = at, changed++;
    dJointEnable(forward);
    if (changed == 1)
        inside.reverse = word(forward, inside.flags) ^ word(reversed, inside.flags);
    bool one_bit = inside.reverse != 0 && (inside.reverse & (inside.reverse - 1)) == 0;
    dWorldDestroy(world);
    return inside.contact >= 0 && changed == 1 && one_bit ? NULL : "the inside of its contact joints was not found";
}

static void probe_callback(dBodyID body)
{
    (void)body;
}

static const char *measure_body(void)
{
    dWorldID world = dWorldCreate();
    dBodyID body = dBodyCreate(world);
    dBodySetMovedCallback(body, probe_callback);
    void *wanted;
    void (*function)(dBodyID) = probe_callback;
    memcpy(&wanted, &function, sizeof wanted);
    inside.moved_callback = find_pointer(body, (int)malloc_usable_size(body), wanted);
    dBodySetMovedCallback(body, NULL);
    bool found = inside.moved_callback >= 0 && odeinside_pointer(body, inside.moved_callback) == NULL;
    dWorldDestroy(world);
    return found ? NULL : "a body's moved callback was not found";
}

static const struct { dJointType type; const char *name; } joint_types[] = {
    { dJointTypeBall, "Ball" }, { dJointTypeHinge, "Hinge" }, { dJointTypeSlider, "Slider" }, { dJointTypeContact, "Contact" },
    { dJointTypeUniversal, "Universal" }, { dJointTypeHinge2, "Hinge2" }, { dJointTypeFixed, "Fixed" }, { dJointTypeNull, "Null" },
    { dJointTypeAMotor, "AMotor" }, { dJointTypeLMotor, "LMotor" }, { dJointTypePlane2D, "Plane2D" }, { dJointTypePR, "PR" },
    { dJointTypePU, "PU" }, { dJointTypePiston, "Piston" }, { dJointTypeDBall, "DBall" }, { dJointTypeDHinge, "DHinge" },
    { dJointTypeTransmission, "Transmission" },
};

static const char *find_methods(void)
{
    for (int i = 0; i < COUNT_OF(joint_types); i++) {
        char symbol[128];
        int length = (int)strlen("dxJoint") + (int)strlen(joint_types[i].name);
        snprintf(symbol, sizeof symbol, "_ZN%ddxJoint%s8getInfo1EPN7dxJoint5Info1E", length, joint_types[i].name);
        void *info1 = dlsym(RTLD_DEFAULT, symbol);
        snprintf(symbol, sizeof symbol, "_ZN%ddxJoint%s8getInfo2EddiPdS0_iS0_S0_Pi", length, joint_types[i].name);
        void *info2 = dlsym(RTLD_DEFAULT, symbol);
        if (!info1 || !info2)
            return "it does not export the methods of its joints";
        memcpy(&inside.info1[joint_types[i].type], &info1, sizeof info1);
        memcpy(&inside.info2[joint_types[i].type], &info2, sizeof info2);
    }
    return NULL;
}

static void measure(void)
{
    static_assert(dJointTypeTransmission < ODE_JOINT_TYPES, "a slot for every joint type");
    static_assert(sizeof(dReal) == sizeof(double), "double precision ODE");
    const char *(*const parts[])(void) = { find_methods, measure_lists, measure_contact, measure_body };
    for (int i = 0; i < COUNT_OF(parts) && !inside.problem; i++)
        inside.problem = parts[i]();
    measured_problem = inside.problem;
}

const OdeInside *odeinside(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, measure);
    return &inside;
}

void odeinside_pretend(const char *problem)
{
    odeinside();
    inside.problem = problem ? problem : measured_problem;
}
