// moment.c - copies what frames carry out of physics.
#include "record/moment.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NO_SOLID = 65535, NUMBERS_MAX = 65535 };

void moment_deinit(Moment *moment)
{
    physics_poses_deinit(&moment->poses);
    free(moment->states);
    text_free(&moment->joints);
    text_free(&moment->contacts);
    text_free(&moment->changes);
    free(moment->glows);
    free(moment->shown);
    free(moment->ink);
    text_free(&moment->glow);
    text_free(&moment->screens);
    text_free(&moment->bones);
    *moment = (Moment){ 0 };
}

static void add_floats(Text *out, const double *numbers, int count)
{
    float values[9];
    assert(count <= COUNT_OF(values));
    for (int i = 0; i < count; i++)
        values[i] = isfinite(numbers[i]) ? (float)numbers[i] : 0.0f;
    text_add(out, (const char *)values, (size_t)count * sizeof *values);
}

static void take_joints(Moment *moment, const Physics *physics)
{
    uint16_t head[2] = { 0, 0 };
    text_clear(&moment->joints);
    text_add(&moment->joints, (const char *)head, sizeof head);
    for (int i = 0; i < physics_joint_count(physics); i++)
        for (int k = 0; physics_joint_exists(physics, i) && k < physics_joint_axis_count(physics, i); k++) {
            double position = physics_joint_position(physics, i, k);
            if (head[1] == NUMBERS_MAX)
                break;
            add_floats(&moment->joints, &position, 1);
            head[1]++;
        }
    memcpy(moment->joints.data, head, sizeof head);
}

static void add_contact(Text *out, const int solids[2], Vec3 point, Vec3 normal, Vec3 force)
{
    uint16_t ids[2];
    for (int k = 0; k < 2; k++)
        ids[k] = (uint16_t)(solids[k] >= 0 && solids[k] < NO_SOLID ? solids[k] : NO_SOLID);
    text_add(out, (const char *)ids, sizeof ids);
    const double numbers[9] = { point.x, point.y, point.z, normal.x, normal.y, normal.z, force.x, force.y, force.z };
    add_floats(out, numbers, 9);
}

// Those that acted in the last step, with their forces, where physics keeps them; else those of the last pass.
static void take_contacts(Moment *moment, const Physics *physics)
{
    int count;
    text_clear(&moment->contacts);
    const PhysicsContactForce *forces = physics_contact_forces(physics, &count);
    for (int i = 0; i < count; i++)
        add_contact(&moment->contacts, forces[i].solid, forces[i].point, forces[i].normal, forces[i].force);
    if (count > 0)
        return;
    const PhysicsContact *contacts = physics_contacts(physics, &count);
    for (int i = 0; i < count; i++) {
        const int solids[2] = { physics_contact_solid(physics, &contacts[i], 0),
                                physics_contact_solid(physics, &contacts[i], 1) };
        add_contact(&moment->contacts, solids, contacts[i].point, contacts[i].normal, VEC3_ZERO);
    }
}

static void take_states(Moment *moment, const Physics *physics, bool all)
{
    int count = int_min(physics_solid_count(physics), NO_SOLID);
    memory_grow(&moment->states, &moment->state_capacity, count, sizeof *moment->states);
    assert(count <= moment->state_capacity);
    text_clear(&moment->changes);
    for (int i = 0; i < count; i++) {
        uint16_t id = (uint16_t)i;
        uint8_t state = 0;
        if (physics_solid_exists(physics, i))
            state = (uint8_t)(physics_solid_is_colliding(physics, i) | physics_solid_is_idle(physics, i) << 1);
        if (!all && i < moment->state_count && state == moment->states[i])
            continue;
        moment->states[i] = state;
        text_add(&moment->changes, (const char *)&id, 2);
        text_add_char(&moment->changes, (char)state);
    }
    moment->state_count = count;
}

void moment_take(Moment *moment, const Physics *physics, int parts)
{
    assert_debug(moment && physics);
    physics_poses_take(physics, &moment->poses);
    if (parts & MOMENT_JOINTS)
        take_joints(moment, physics);
    if (parts & MOMENT_CONTACTS)
        take_contacts(moment, physics);
    if (parts & MOMENT_STATES)
        take_states(moment, physics, parts & MOMENT_ALL);
}

// ---- displays ----

static void add_screen(Text *out, const SceneNode *node, const uint8_t *pixels, int width, int height)
{
    assert_debug(!pixels || (width > 0 && height > 0));
    enum { SIDE_MAX = 256, BYTES_MAX = 1 << 20 };
    int step = 1 + (int_max(width, height) - 1) / SIDE_MAX;
    uint16_t size[2] = { 0, 0 };
    if (pixels && out->length < BYTES_MAX - 3 * SIDE_MAX * SIDE_MAX)
        size[0] = (uint16_t)((width + step - 1) / step), size[1] = (uint16_t)((height + step - 1) / step);
    text_add(out, (const char *)&node->id, 4);
    text_add(out, (const char *)size, sizeof size);
    for (int y = 0; y < size[1]; y++) {
        char row[3 * SIDE_MAX];
        const uint8_t *from = pixels + 4 * (size_t)y * (size_t)step * (size_t)width;
        for (int x = 0; x < size[0]; x++)
            memcpy(row + 3 * x, from + 4 * (size_t)x * (size_t)step, 3);
        text_add(out, row, 3 * (size_t)size[0]);
    }
}

size_t moment_screen_bytes(const char *screen)
{
    uint16_t size[2];
    memcpy(size, screen + 4, sizeof size);
    return MOMENT_SCREEN_HEAD_BYTES + 3 * (size_t)size[0] * (size_t)size[1];
}

void moment_take_screens(Moment *moment, const Devices *devices)
{
    text_clear(&moment->screens);
    for (int robot = 0; devices && robot < devices_robot_count(devices); robot++)
        for (int tag = 1; devices_robot_exists(devices, robot) && tag <= devices_count(devices, robot); tag++) {
            const SceneNode *node = devices_info(devices, robot, tag)->node;
            int width = 0, height = 0;
            if (!node->is_removed && scene_node_is(node, "Display")) {
                const uint8_t *pixels = devices_display(devices, robot, tag, &width, &height);
                add_screen(&moment->screens, node, pixels, width, height);
            }
        }
}

// ---- lamps ----

void moment_take_glow(Moment *moment, const Devices *devices)
{
    text_clear(&moment->glow);
    int count = devices ? devices_glows(devices, moment->glows, moment->glow_capacity) : 0;
    if (count > moment->glow_capacity) {
        memory_grow(&moment->glows, &moment->glow_capacity, count, sizeof *moment->glows);
        devices_glows(devices, moment->glows, count);
    }
    for (int i = 0; i < count; i++) {
        const DeviceGlow *glow = &moment->glows[i];
        const double light[3] = { glow->light.x, glow->light.y, glow->light.z };
        text_add(&moment->glow, (const char *)&glow->node, 4);
        add_floats(&moment->glow, light, 3);
    }
}

// ---- skins ----

void moment_take_bones(Moment *moment, const Devices *devices)
{
    Pose bones[DEVICE_BONES_MAX];
    text_clear(&moment->bones);
    for (int robot = 0; devices && robot < devices_robot_count(devices); robot++)
        for (int tag = 1; devices_robot_exists(devices, robot) && tag <= devices_count(devices, robot); tag++) {
            int count = devices_bones(devices, robot, tag, bones);
            if (count < 0)
                continue;
            const uint32_t head[2] = { devices_info(devices, robot, tag)->node->id, (uint32_t)count };
            text_add(&moment->bones, (const char *)head, sizeof head);
            for (int i = 0; i < count; i++) {
                Quat q = bones[i].q;
                const double numbers[7] = { bones[i].t.x, bones[i].t.y, bones[i].t.z, q.x, q.y, q.z, q.w };
                add_floats(&moment->bones, numbers, 7);
            }
        }
}

void moment_take_shown(Moment *moment, const Devices *devices)
{
    static_assert(sizeof(DeviceShown) == 16, "it lies in memory as files have it");
    int count = devices ? devices_shown(devices, moment->shown, moment->shown_capacity) : 0;
    if (count > moment->shown_capacity) {
        memory_grow(&moment->shown, &moment->shown_capacity, count, sizeof *moment->shown);
        devices_shown(devices, moment->shown, count);
    }
    moment->shown_count = count;
}

// ---- ink ----

void moment_take_ink(Moment *moment, const Devices *devices, uint64_t *since)
{
    moment->ink_count = 0;
    if (!devices || !devices_has_ink(devices, *since))
        return;
    memory_grow(&moment->ink, &moment->ink_capacity, MOMENT_INK_MAX, sizeof *moment->ink);
    moment->ink_count = devices_ink(devices, since, moment->ink, MOMENT_INK_MAX);
}

int moment_sections(const Moment *moment, int parts, FrameSection sections[MOMENT_SECTIONS_MAX])
{
    const struct {
        int part;
        const char *tag;
        const Text *payload;
        size_t min;  // nothing to say below
    } rows[] = { { MOMENT_JOINTS, "JNTS", &moment->joints, 5 },
                 { MOMENT_CONTACTS, "CONT", &moment->contacts, 0 },
                 { MOMENT_STATES, "STAT", &moment->changes, 1 } };
    int count = 0;
    for (int i = 0; i < COUNT_OF(rows); i++)
        if (parts & rows[i].part && rows[i].payload->length >= rows[i].min) {
            assert_debug(count < MOMENT_SECTIONS_MAX);
            FrameSection *section = &sections[count++];
            *section = (FrameSection){ .data = rows[i].payload->data, .size = rows[i].payload->length };
            memcpy(section->tag, rows[i].tag, 4);
        }
    return count;
}
