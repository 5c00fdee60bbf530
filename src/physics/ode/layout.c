// layout.c - measures, once, where the loaded libode keeps what its API does not tell: on objects made for it, word by
// word.
#include "physics/ode/layout.h"

#include "base/common.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_BYTES 64  // list heads and links stand at the start of their objects

static OdeLayout inside;
static const char *measured_problem;
static size_t object_bytes;  // of the object that ODE made last

// Objects are searched word by word, so all their words must hold something, and their size must be known.
static void *alloc_empty(size_t size)
{
    object_bytes = size;
    return calloc(1, size);
}

static int find_pointer(const void *object, int bytes, const void *value)
{
    assert_debug(object && value && bytes >= 0);
    for (int at = 0; at + (int)sizeof(void *) <= bytes; at += (int)sizeof(void *))
        if (ode_layout_pointer(object, at) == value)
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
                 && ode_layout_pointer(body[1], inside.next_body) == body[0]
                 && ode_layout_pointer(body[0], inside.next_body) == NULL
                 && ode_layout_pointer(joint[1], inside.next_joint) == joint[0]
                 && ode_layout_pointer(joint[0], inside.next_joint) == NULL;
    dWorldDestroy(world);
    return found ? NULL : "its lists of bodies and joints were not found";
}

static uint32_t word(const void *object, int offset)
{
    assert_debug(offset >= 0 && offset % 4 == 0);
    uint32_t value;
    memcpy(&value, (const char *)object + offset, sizeof value);
    return value;
}

// The one word among the first `bytes` of the object that differs from a copy made before, -1: none or several.
static int find_changed_word(const void *object, const void *before, int bytes)
{
    assert_debug(bytes >= 0);
    int found = -1;
    for (int at = 0; at + 4 <= bytes; at += 4) {
        if (word(before, at) == word(object, at))
            continue;
        if (found >= 0)
            return -1;
        found = at;
    }
    return found;
}

static bool is_one_bit(unsigned value) { return value != 0 && (value & (value - 1)) == 0; }

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
    dJointID forward = dJointCreateContact(world, NULL, &contact),
             reversed = dJointCreateContact(world, NULL, &contact);
    dJointAttach(forward, body, NULL);
    dJointAttach(reversed, NULL, body);
    int size = (int)object_bytes;
    inside.contact = -1;
    for (int at = 0; at + (int)sizeof contact <= size; at += 8)
        if (!memcmp((const char *)forward + at, &contact, sizeof contact))
            inside.contact = at;
    // The word that disabling changes is the flags; what differs there between the two joints is the reverse bit.
    unsigned char before[256];
    int head = inside.contact < 0 ? 0 : int_min(inside.contact, (int)sizeof before);
    memcpy(before, forward, (size_t)head);
    dJointDisable(forward);
    inside.flags = find_changed_word(forward, before, head);
    dJointEnable(forward);
    if (inside.flags >= 0)
        inside.reverse = word(forward, inside.flags) ^ word(reversed, inside.flags);
    dWorldDestroy(world);
    return inside.contact >= 0 && is_one_bit(inside.reverse) ? NULL : "the inside of its contact joints was not found";
}

static void probe_callback(dBodyID body) { (void)body; }

static const char *measure_body(void)
{
    dWorldID world = dWorldCreate();
    dBodyID body = dBodyCreate(world);
    int size = (int)object_bytes;
    dBodySetMovedCallback(body, probe_callback);
    void *wanted;
    void (*function)(dBodyID) = probe_callback;
    memcpy(&wanted, &function, sizeof wanted);
    inside.moved_callback = find_pointer(body, size, wanted);
    dBodySetMovedCallback(body, NULL);
    bool found = inside.moved_callback >= 0 && ode_layout_pointer(body, inside.moved_callback) == NULL;
    unsigned char before[64];
    int head = int_min(size, (int)sizeof before);
    memcpy(before, body, (size_t)head);
    dBodyDisable(body);
    inside.body_flags = find_changed_word(body, before, head);
    if (inside.body_flags >= 0)
        inside.disabled = word(body, inside.body_flags) ^ word(before, inside.body_flags);
    found &= is_one_bit(inside.disabled);
    dWorldDestroy(world);
    return found ? NULL : "the inside of its bodies was not found";
}

static const struct {
    dJointType type;
    const char *name;
} joint_types[] = {
    { dJointTypeBall, "Ball" },
    { dJointTypeHinge, "Hinge" },
    { dJointTypeSlider, "Slider" },
    { dJointTypeContact, "Contact" },
    { dJointTypeUniversal, "Universal" },
    { dJointTypeHinge2, "Hinge2" },
    { dJointTypeFixed, "Fixed" },
    { dJointTypeNull, "Null" },
    { dJointTypeAMotor, "AMotor" },
    { dJointTypeLMotor, "LMotor" },
    { dJointTypePlane2D, "Plane2D" },
    { dJointTypePR, "PR" },
    { dJointTypePU, "PU" },
    { dJointTypePiston, "Piston" },
    { dJointTypeDBall, "DBall" },
    { dJointTypeDHinge, "DHinge" },
    { dJointTypeTransmission, "Transmission" },
};

static const char *find_functions(void)
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
    void *fall_asleep = dlsym(RTLD_DEFAULT, "_Z28dInternalHandleAutoDisablingP7dxWorldd");
    memcpy(&inside.fall_asleep, &fall_asleep, sizeof fall_asleep);
    return fall_asleep ? NULL : "it does not export its rule of falling asleep";
}

static void measure(void)
{
    static_assert(dJointTypeTransmission < ODE_JOINT_TYPES, "a slot for every joint type");
    static_assert(sizeof(dReal) == sizeof(double), "double precision ODE");
    const char *(*const parts[])(void) = { find_functions, measure_lists, measure_contact, measure_body };
    dAllocFunction *alloc = dGetAllocHandler();
    dSetAllocHandler(alloc_empty);
    for (int i = 0; i < COUNT_OF(parts) && !inside.problem; i++)
        inside.problem = parts[i]();
    dSetAllocHandler(alloc);
    measured_problem = inside.problem;
}

const OdeLayout *ode_layout(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, measure);
    return &inside;
}

void ode_layout_pretend(const char *problem)
{
    ode_layout();
    inside.problem = problem ? problem : measured_problem;
}
