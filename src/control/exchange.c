// exchange.c - what goes to and comes from a controller: who it is and what it has, its commands, its readings.
#include "control/control_internal.h"

#include "base/hash.h"
#include "base/memory.h"
#include "devices/devices_internal.h"
#include "physics/fittings/fittings.h"

#include <webots/nodes.h>

#include <stdlib.h>
#include <string.h>

enum { CONSTANTS_MAX = 4096 };

static void add_text(FrameWriter *frame, uint16_t op, uint16_t tag, const char *text)
{
    assert_debug(text);
    frame_add(frame, &(Record){ .op = op, .tag = tag, .byte_count = (int)strlen(text), .bytes = text });
}

static void add_robot(Control *control, const Controller *controller, uint16_t op)
{
    const SceneNode *robot = devices_robot_node(control->devices, controller->robot);
    int32_t numbers[4] = { scene_bool(robot, "supervisor"), scene_bool(robot, "synchronization"), 0,
                           supervisor_robot_code(sim_scene(control->sim), robot) };
    double reals[2] = { sim_time(control->sim), sim_time_step(control->sim) * 1000.0 };
    frame_add(&control->frame, &(Record){ .op = op,
                                          .int_count = 4,
                                          .ints = numbers,
                                          .double_count = 2,
                                          .doubles = reals,
                                          .byte_count = (int)strlen(controller->name),
                                          .bytes = controller->name });
}

// Unless the controller has them already.
static void add_constants(Control *control, Controller *controller, int tag, FrameWriter *frame)
{
    assert_debug(tag >= 1 && tag < controller->serial_count);
    double *values = memory_alloc_array(CONSTANTS_MAX, sizeof *values);
    int count = devices_constants(control->devices, controller->robot, tag, values, CONSTANTS_MAX);
    assert(count >= 0 && count <= CONSTANTS_MAX);
    uint64_t hash = hash_bytes(values, (size_t)count * sizeof *values, (uint64_t)count + 1);
    if (controller->constant_hashes[tag] != hash)
        frame_add(
            frame,
            &(Record){ .op = OP_DEVICE_CONSTANTS, .tag = (uint16_t)tag, .double_count = count, .doubles = values });
    controller->constant_hashes[tag] = hash;
    free(values);
}

// Facts about devices that an edit of the scene changed: somebody set a field of theirs.
static void add_changed_constants(Control *control, Controller *controller)
{
    uint64_t edit = physics_edit_count(sim_physics(control->sim));
    if (edit == controller->constants_edit)
        return;
    controller->constants_edit = edit;
    for (int tag = 1; tag < controller->serial_count; tag++)
        add_constants(control, controller, tag, &control->frame);
}

static void add_device(Control *control, Controller *controller, int tag, FrameWriter *frame)
{
    assert_debug(tag >= 1 && tag <= devices_count(control->devices, controller->robot));
    const DeviceInfo *info = devices_info(control->devices, controller->robot, tag);
    int32_t code = info->kind->code;
    frame_add(frame, &(Record){ .op = OP_DEVICE,
                                .tag = (uint16_t)tag,
                                .int_count = 1,
                                .ints = &code,
                                .byte_count = (int)strlen(info->name),
                                .bytes = info->name });
    if (*info->model)
        add_text(frame, OP_DEVICE_MODEL, (uint16_t)tag, info->model);
    add_constants(control, controller, tag, frame);
}

static char *memory_replace(char *old, const char *text)
{
    free(old);
    return memory_string(text);
}

// Room to remember what was sent of so many devices.
static void know_devices(Controller *controller, int count)
{
    assert(count >= 0);
    int known = controller->serial_count;
    assert(known <= count + 1);  // tags are not given back
    controller->serial_count = count + 1;
    controller->serials = memory_resize(controller->serials, (size_t)(count + 1) * DEVICE_CHANNELS,
                                        sizeof *controller->serials);
    controller->packets_sent = memory_resize(controller->packets_sent, (size_t)count + 1,
                                             sizeof *controller->packets_sent);
    controller->constant_hashes = memory_resize(controller->constant_hashes, (size_t)count + 1,
                                                sizeof *controller->constant_hashes);
    memset(controller->constant_hashes + known, 0, (size_t)(count + 1 - known) * sizeof *controller->constant_hashes);
    memset(controller->serials + known * DEVICE_CHANNELS, 0,
           (size_t)(count + 1 - known) * DEVICE_CHANNELS * sizeof *controller->serials);
    memset(controller->packets_sent + known, 0, (size_t)(count + 1 - known) * sizeof *controller->packets_sent);
}

void exchange_new_devices(Control *control, Controller *controller, FrameWriter *frame)
{
    int count = devices_count(control->devices, controller->robot);
    int known = controller->serial_count;
    if (count < known)
        return;
    know_devices(controller, count);
    for (int tag = known; tag <= count; tag++)
        add_device(control, controller, tag, frame);
}

void exchange_config(Control *control, Controller *controller)
{
    assert(controller->channel);
    const SceneNode *robot = devices_robot_node(control->devices, controller->robot);
    const char *texts[] = { scene_string(robot, "model"), scene_string(robot, "customData"), launch_project(control),
                            scene_path(sim_scene(control->sim)), controller->program };
    frame_begin(&control->frame, FRAME_CONFIG);
    add_robot(control, controller, OP_ROBOT);
    for (int i = 0; i < COUNT_OF(texts); i++)
        add_text(&control->frame, OP_ROBOT_TEXT, (uint16_t)i, texts[i]);
    double drive[4];
    int numbers = devices_drive_constants(control->devices, controller->robot, drive);
    assert_debug(numbers >= 0 && numbers <= COUNT_OF(drive));
    frame_add(&control->frame, &(Record){ .op = OP_DEVICE_CONSTANTS, .double_count = numbers, .doubles = drive });
    int count = devices_count(control->devices, controller->robot);
    controller->serial_count = 0;
    know_devices(controller, count);
    controller->constants_edit = physics_edit_count(sim_physics(control->sim));
    for (int tag = 1; tag <= count; tag++)
        add_device(control, controller, tag, &control->frame);
    controller->custom_data = memory_replace(controller->custom_data, texts[1]);
    channel_send(controller->channel, &control->frame);
}

// ---- readings ----

static void add_readings(Control *control, Controller *controller, int tag)
{
    assert_debug(tag >= 0 && tag < controller->serial_count);
    int channels = tag == 0 ? 1 : devices_info(control->devices, controller->robot, tag)->kind->channels;
    for (int32_t channel = 0; channel < channels; channel++) {
        int count;
        uint32_t serial;
        const double *reading = devices_reading(control->devices, controller->robot, tag, channel, &count, &serial);
        uint32_t *sent = &controller->serials[tag * DEVICE_CHANNELS + channel];
        if (serial == *sent)
            continue;
        *sent = serial;
        int size = 0;
        int32_t numbers[2] = { channel,
                               tag > 0 ? devices_due_image(control->devices, controller->robot, tag, channel) : -1 };
        const char *image = tag > 0 && numbers[1] != channel
                                ? devices_image(control->devices, controller->robot, tag, channel, &size)
                                : NULL;
        frame_add(&control->frame, &(Record){ .op = OP_READING,
                                              .tag = (uint16_t)tag,
                                              .int_count = 2,
                                              .ints = numbers,
                                              .double_count = count,
                                              .doubles = reading,
                                              .byte_count = size,
                                              .bytes = image });
    }
}

static void add_packets(Control *control, Controller *controller, int tag)
{
    assert_debug(tag >= 1 && tag < controller->serial_count);
    // What does not fit into a message comes with the next one.
    size_t room = (size_t)limits_default.message_bytes / 2;
    int count = devices_packet_count(control->devices, controller->robot, tag);
    int i = controller->packets_sent[tag];
    for (; i < count && control->frame.size < room; i++) {
        DevicePacket packet = devices_packet(control->devices, controller->robot, tag, i);
        double reals[4] = { packet.strength, packet.direction[0], packet.direction[1], packet.direction[2] };
        frame_add(&control->frame, &(Record){ .op = OP_PACKET,
                                              .tag = (uint16_t)tag,
                                              .double_count = 4,
                                              .doubles = reals,
                                              .byte_count = packet.size,
                                              .bytes = packet.data });
    }
    controller->packets_sent[tag] = i;
}

static void add_custom_data(Control *control, Controller *controller)
{
    assert_debug(controller->custom_data);  // exchange_config() gave it the first
    const char *data = scene_string(devices_robot_node(control->devices, controller->robot), "customData");
    if (!strcmp(data, controller->custom_data))
        return;
    controller->custom_data = memory_replace(controller->custom_data, data);
    add_text(&control->frame, OP_ROBOT_TEXT, 1, data);
}

// ---- people ----

static void add_joystick(FrameWriter *frame, const InputState *state)
{
    assert(state->axis_count >= 0 && state->axis_count <= INPUT_AXES);
    assert(state->pov_count >= 0 && state->pov_count <= INPUT_POVS);
    int32_t numbers[4 + INPUT_AXES + INPUT_POVS] = { state->has_joystick, state->axis_count, state->pov_count };
    for (int i = 0; i < INPUT_BUTTONS; i++)
        numbers[3] |= (int32_t)((uint32_t)state->buttons[i] << i);
    memcpy(numbers + 4, state->axes, (size_t)state->axis_count * sizeof *numbers);
    memcpy(numbers + 4 + state->axis_count, state->povs, (size_t)state->pov_count * sizeof *numbers);
    frame_add(frame, &(Record){ .op = OP_JOYSTICK,
                                .int_count = 4 + state->axis_count + state->pov_count,
                                .ints = numbers,
                                .byte_count = (int)strlen(state->model),
                                .bytes = state->model });
}

// Keys come from the input file or from who looks on; without either there are none.
static void add_input(Control *control)
{
    Input *input = control->options.input;
    if (!input) {
        frame_add(&control->frame, &(Record){ .op = OP_KEYS });  // none are down
        return;
    }
    const InputState *state = input_at(input, sim_time(control->sim));
    assert(state->key_count >= 0 && state->key_count <= INPUT_KEYS);
    frame_add(&control->frame, &(Record){ .op = OP_KEYS, .int_count = state->key_count, .ints = state->keys });
    int32_t buttons[3] = { state->mouse_buttons[0], state->mouse_buttons[1], state->mouse_buttons[2] };
    if (input_has_mouse(input))
        frame_add(
            &control->frame,
            &(Record){ .op = OP_MOUSE, .int_count = 3, .ints = buttons, .double_count = 5, .doubles = state->mouse });
    if (input_has_joystick(input))
        add_joystick(&control->frame, state);
}

static void add_window_messages(Control *control, Controller *controller)
{
    const char *message = controller->window.messages, *end = message + controller->window.size;
    assert_debug(end[-1] == '\0');
    for (; message < end; message += strlen(message) + 1)
        add_text(&control->frame, OP_WINDOW_MESSAGE, 0, message);
    controller->window.size = 0;
}

bool exchange_fits(const FrameWriter *frame) { return (int64_t)frame->size <= limits_default.message_bytes; }

static void begin_state(Control *control, const Controller *controller, ProtocolFrame kind)
{
    double time = sim_time(control->sim);
    int64_t late = (int64_t)sim_steps(control->sim) - (int64_t)controller->due_step;
    int32_t numbers[2] = { late > 0 ? (int32_t)((double)late * sim_time_step(control->sim) * 1000.0) : 0,
                           control->simulation_mode };
    frame_begin(&control->frame, kind);
    frame_add(&control->frame,
              &(Record){ .op = OP_TIME, .int_count = 2, .ints = numbers, .double_count = 1, .doubles = &time });
}

void exchange_state(Control *control, Controller *controller, ProtocolFrame kind)
{
    assert(controller->channel);
    begin_state(control, controller, kind);
    if (devices_robot_exists(control->devices, controller->robot)) {
        exchange_new_devices(control, controller, &control->frame);
        for (int tag = 0; tag < controller->serial_count; tag++) {
            add_readings(control, controller, tag);
            if (tag > 0 && devices_info(control->devices, controller->robot, tag)->kind == &receiver_device)
                add_packets(control, controller, tag);
        }
        add_changed_constants(control, controller);
        add_robot(control, controller, OP_ROBOT_CHANGED);
        add_custom_data(control, controller);
        supervisor_add_tracked(control, controller, &control->frame);
    }
    add_input(control);
    if (controller->window.size > 0)
        add_window_messages(control, controller);
    if (!exchange_fits(&control->frame)) {  // the program goes on without it
        diag_error(control->diags, (SourcePos){ 0 },
                   "robot '%s': what its controller is to hear of this step has %zu bytes, more than the %lld of a "
                   "message; it is left out",
                   controller->name, control->frame.size, (long long)limits_default.message_bytes);
        begin_state(control, controller, kind);
        add_input(control);
    }
    channel_send(controller->channel, &control->frame);
}

// ---- commands ----

static bool tag_is_good(const Control *control, const Controller *controller, int tag)
{
    return tag >= 1 && tag <= devices_count(control->devices, controller->robot);
}

static void command(Control *control, Controller *controller, const Record *record)
{
    if (!tag_is_good(control, controller, record->tag) || record->int_count < 1)
        return;
    DeviceCommand order = { record->ints[0], record->doubles, record->double_count, record->bytes, record->byte_count };
    const char *problem = devices_command(control->devices, controller->robot, record->tag, &order);
    if (problem)
        diag_warning(control->diags, (SourcePos){ 0 }, "robot '%s', device '%s': %s", controller->name,
                     devices_info(control->devices, controller->robot, record->tag)->name, problem);
}

static void enable(Control *control, const Controller *controller, const Record *record)
{
    bool is_known = record->tag == 0 || tag_is_good(control, controller, record->tag);
    if (is_known && record->int_count >= 2 && record->ints[0] >= 0 && record->ints[0] < DEVICE_CHANNELS)
        devices_enable(control->devices, controller->robot, record->tag, record->ints[0], record->ints[1]);
}

static void drop_packets(Control *control, Controller *controller, const Record *record)
{
    // A device that came in since the last frame has a tag, but the program was not told of its packets yet.
    if (!tag_is_good(control, controller, record->tag) || record->tag >= controller->serial_count
        || record->int_count < 1)
        return;
    for (int i = 0; i < record->ints[0] && controller->packets_sent[record->tag] > 0; i++) {
        devices_packet_drop(control->devices, controller->robot, record->tag);
        controller->packets_sent[record->tag]--;
    }
}

static void pin(Control *control, const Controller *controller, const Record *record)
{
    Physics *physics = sim_physics(control->sim);
    int solid = physics_solid_of(physics, devices_robot_node(control->devices, controller->robot));
    if (solid >= 0 && record->int_count >= 1)
        physics_robot_pin(physics, solid, record->ints[0] != 0);
}

// Commands take effect in the order in which the program gave them; a frame without a duration answers a question
// and ends no step.
bool exchange_commands(Control *control, Controller *controller, FrameReader *reader, int *duration_ms)
{
    assert_debug(reader && duration_ms);
    Record record;
    bool has_duration = false;
    while (frame_next(reader, &record)) {
        switch (record.op) {
        case OP_ENABLE: enable(control, controller, &record); break;
        case OP_COMMAND: command(control, controller, &record); break;
        case OP_NEXT_PACKET: drop_packets(control, controller, &record); break;
        case OP_CUSTOM_DATA:
            scene_set_string(sim_scene(control->sim), devices_robot_node(control->devices, controller->robot),
                             "customData", record.bytes);
            break;
        case OP_DURATION:
            if (record.int_count < 1 || record.ints[0] < 0)
                return false;
            *duration_ms = record.ints[0];
            has_duration = true;
            break;
        case OP_PRINT:
            process_drain(control, controller);
            control_heard(control, controller, record.bytes, strcspn(record.bytes, "\n"),
                          record.int_count && record.ints[0] == 2);
            fprintf(record.int_count && record.ints[0] == 2 ? stderr
                    : control->options.out                  ? control->options.out
                                                            : stdout,
                    "[%s] %s", controller->name, record.bytes);
            break;
        case OP_PIN: pin(control, controller, &record); break;
        case OP_WINDOW_TEXT: window_told(control, controller, &record); break;
        default: return false;
        }
    }
    return has_duration && !reader->is_broken;
}
