// behaviour.c - the behaviour test in C: devices, supervisor and motions are used, and what they answer is said.
// behaviour.cpp and behaviour.py do the same; the numbers must be equal.
#include "behaviour.h"

#include <webots/camera.h>
#include <webots/connector.h>
#include <webots/device.h>
#include <webots/display.h>
#include <webots/emitter.h>
#include <webots/joystick.h>
#include <webots/keyboard.h>
#include <webots/lidar.h>
#include <webots/microphone.h>
#include <webots/motor.h>
#include <webots/mouse.h>
#include <webots/position_sensor.h>
#include <webots/radar.h>
#include <webots/range_finder.h>
#include <webots/receiver.h>
#include <webots/robot.h>
#include <webots/servo.h>
#include <webots/skin.h>
#include <webots/speaker.h>
#include <webots/supervisor.h>
#include <webots/touch_sensor.h>
#include <webots/utils/motion.h>
#include <webots/vacuum_gripper.h>

#include <string.h>

static void steps(int count)
{
    for (int i = 0; i < count; i++)
        wb_robot_step(32);
}

static void pictures(void)
{
    WbDeviceTag camera = wb_robot_get_device("camera");
    wb_camera_enable(camera, 32);
    wb_camera_recognition_enable(camera, 32);
    wb_camera_recognition_enable_segmentation(camera);
    steps(3);
    const int width = wb_camera_get_width(camera), height = wb_camera_get_height(camera);
    const unsigned char *image = wb_camera_get_image(camera);
    SAY("image", sum_of_bytes(image, 4 * width * height));
    SAY("pixel", wb_camera_image_get_red(image, width, 8, 4), wb_camera_image_get_green(image, width, 8, 4),
        wb_camera_image_get_blue(image, width, 8, 4), wb_camera_image_get_gray(image, width, 8, 4),
        wb_camera_image_get_grey(image, width, 8, 4));
    SAY("segmentation", sum_of_bytes(wb_camera_recognition_get_segmentation_image(camera), 4 * width * height));
    const WbCameraRecognitionObject *seen = wb_camera_recognition_get_objects(camera);
    SAY("recognised", wb_camera_recognition_get_number_of_objects(camera), seen->id, seen->number_of_colors,
        (double)strlen(seen->model));
    say_values("recognised position", seen->position, 3);
    say_values("recognised orientation", seen->orientation, 4);
    say_values("recognised size", seen->size, 2);
    say_values("recognised colors", seen->colors, 3 * seen->number_of_colors);
    SAY("recognised on image", seen->position_on_image[0], seen->position_on_image[1], seen->size_on_image[0],
        seen->size_on_image[1]);
    wb_camera_recognition_disable_segmentation(camera);
    wb_camera_recognition_disable(camera);
    steps(1);
    SAY("recognition off", wb_camera_recognition_is_segmentation_enabled(camera),
        wb_camera_recognition_get_sampling_period(camera));
}

static void depths(void)
{
    WbDeviceTag lidar = wb_robot_get_device("lidar"), finder = wb_robot_get_device("range_finder"),
                radar = wb_robot_get_device("radar");
    wb_lidar_enable(lidar, 32);
    wb_lidar_enable_point_cloud(lidar);
    wb_range_finder_enable(finder, 32);
    wb_radar_enable(radar, 32);
    steps(3);
    SAY("lidar", sum_of_ranges(wb_lidar_get_range_image(lidar), 64),
        sum_of_ranges(wb_lidar_get_layer_range_image(lidar, 1), 32));
    const WbLidarPoint *point = wb_lidar_get_point_cloud(lidar) + 40,
                       *other = wb_lidar_get_layer_point_cloud(lidar, 1) + 8;
    SAY("cloud", point->x, point->y, point->z, point->layer_id, point->time);
    SAY("layer cloud", other->x, other->y, other->z, other->layer_id, other->time);
    const float *ranges = wb_range_finder_get_range_image(finder);
    SAY("range finder", sum_of_ranges(ranges, 32), (double)wb_range_finder_image_get_depth(ranges, 8, 3, 2));
    const WbRadarTarget *target = wb_radar_get_targets(radar);
    SAY("radar", wb_radar_get_number_of_targets(radar), target->distance, target->received_power, target->speed,
        target->azimuth);
    wb_lidar_disable_point_cloud(lidar);
    wb_lidar_disable(lidar);
    wb_range_finder_disable(finder);
    wb_radar_disable(radar);
    steps(1);
    SAY("depths off", wb_lidar_is_point_cloud_enabled(lidar), wb_lidar_get_sampling_period(lidar),
        wb_range_finder_get_sampling_period(finder), wb_radar_get_sampling_period(radar));
}

static void drawing(void)
{
    WbDeviceTag display = wb_robot_get_device("display");
    const int x[] = { 2, 12, 7 }, y[] = { 2, 3, 12 };
    const unsigned char pixels[] = { 255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 9, 9 };
    wb_display_set_color(display, 0x2040ff);
    wb_display_draw_polygon(display, x, y, 3);
    wb_display_fill_polygon(display, x, y, 3);
    WbImageRef image = wb_display_image_new(display, 2, 2, pixels, WB_IMAGE_RGB);
    wb_display_image_paste(display, image, 15, 5, false);
    WbImageRef copy = wb_display_image_copy(display, 0, 0, 20, 14);
    wb_display_image_save(display, copy, "copy.png");
    SAY("saved picture", size_of_file("copy.png"));
    WbImageRef loaded = wb_display_image_load(display, "copy.png");
    SAY("loaded picture", loaded != NULL);
    wb_display_image_delete(display, image);
    wb_display_image_delete(display, copy);
    wb_display_attach_camera(display, wb_robot_get_device("camera"));
    steps(1);
    wb_display_detach_camera(display);
}

// What is sent comes back from the other robot in the same order.
static void packets(void)
{
    WbDeviceTag emitter = wb_robot_get_device("emitter"), receiver = wb_robot_get_device("receiver");
    const double numbers[] = { 1.5, -2.25 };
    const int counts[] = { 3, 4, 500000 };
    const bool flags[] = { true, false, true };
    wb_receiver_enable(receiver, 32);
    steps(2);
    const int one = wb_emitter_send(emitter, "hello", 5), two = wb_emitter_send(emitter, numbers, sizeof numbers);
    const int three = wb_emitter_send(emitter, counts, sizeof counts),
              four = wb_emitter_send(emitter, flags, sizeof flags);
    SAY("send", one, two, three, four);
    steps(4);
    SAY("queue", wb_receiver_get_queue_length(receiver), wb_receiver_get_data_size(receiver),
        wb_receiver_get_signal_strength(receiver));
    say_values("direction", wb_receiver_get_emitter_direction(receiver), 3);
    SAY("text", ((const char *)wb_receiver_get_data(receiver))[1]);
    wb_receiver_next_packet(receiver);
    say_values("doubles", wb_receiver_get_data(receiver), 2);
    wb_receiver_next_packet(receiver);
    const int *back = wb_receiver_get_data(receiver);
    SAY("ints", back[0], back[1], back[2]);
    wb_receiver_next_packet(receiver);
    const bool *truths = wb_receiver_get_data(receiver);
    SAY("bools", truths[0], truths[1], truths[2]);
}

static void actuators(void)
{
    WbDeviceTag motor = wb_robot_get_device("motor"), lift = wb_robot_get_device("lift"),
                servo = wb_robot_get_device("servo");
    WbDeviceTag sensor = wb_robot_get_device("position_sensor"), height = wb_robot_get_device("height"),
                touch = wb_robot_get_device("touch3d");
    wb_position_sensor_enable(sensor, 32);
    wb_position_sensor_enable(height, 32);
    wb_touch_sensor_enable(touch, 32);
    wb_motor_enable_torque_feedback(motor, 32);
    wb_motor_set_torque(motor, 0.05);
    wb_motor_set_available_force(lift, 60);
    wb_motor_enable_force_feedback(lift, 32);
    wb_motor_set_position(lift, 0.1);
    wb_servo_enable_position(servo, 32);
    wb_servo_enable_motor_force_feedback(servo, 32);
    wb_servo_set_force(servo, 0.02);
    steps(6);
    SAY("motor", wb_position_sensor_get_value(sensor), wb_motor_get_torque_feedback(motor));
    SAY("lift", wb_position_sensor_get_value(height), wb_motor_get_force_feedback(lift),
        wb_motor_get_available_force(lift), wb_motor_get_max_force(lift),
        wb_motor_get_force_feedback_sampling_period(lift));
    SAY("servo", wb_servo_get_position(servo), wb_servo_get_motor_force_feedback(servo));
    say_values("touch", wb_touch_sensor_get_values(touch), 3);
    wb_motor_set_force(lift, 9.81);
    wb_motor_disable_torque_feedback(motor);
    wb_motor_disable_force_feedback(lift);
    wb_servo_disable_position(servo);
    wb_servo_disable_motor_force_feedback(servo);
    wb_motor_disable_position(motor);
    steps(2);
    SAY("feedback off", wb_motor_get_torque_feedback_sampling_period(motor),
        wb_motor_get_force_feedback_sampling_period(lift), wb_servo_get_position_sampling_period(servo),
        wb_position_sensor_get_value(height));
}

static void others(void)
{
    WbDeviceTag connector = wb_robot_get_device("connector"), gripper = wb_robot_get_device("vacuum_gripper"),
                skin = wb_robot_get_device("skin");
    WbDeviceTag speaker = wb_robot_get_device("speaker"), microphone = wb_robot_get_device("microphone");
    wb_connector_enable_presence(connector, 32);
    wb_vacuum_gripper_enable_presence(gripper, 32);
    steps(1);
    wb_connector_disable_presence(connector);
    wb_vacuum_gripper_disable_presence(gripper);
    SAY("presence off", wb_connector_get_presence_sampling_period(connector),
        wb_vacuum_gripper_get_presence_sampling_period(gripper));
    wb_skin_set_bone_orientation(skin, 0, (const double[]){ 0, 0, 1, 0.5 }, false);
    wb_skin_set_bone_position(skin, 0, (const double[]){ 0, 0, 1 }, false);
    say_values("bone orientation", wb_skin_get_bone_orientation(skin, 0, false), 4);
    say_values("bone position", wb_skin_get_bone_position(skin, 0, false), 3);
    wb_speaker_play_sound(speaker, speaker, "missing.wav", 1.0, 1.0, 0.0, false);
    SAY("speaking", wb_speaker_is_speaking(speaker));
    wb_microphone_enable(microphone, 32);
    steps(1);
    const unsigned char *heard = wb_microphone_get_sample_data(microphone);
    SAY("microphone", wb_microphone_get_sample_size(microphone), heard ? heard[0] : -1);
}

static void person(void)
{
    wb_keyboard_enable(32);
    wb_mouse_enable(32);
    wb_mouse_enable_3d_position();
    wb_joystick_enable(32);
    steps(2);
    const WbMouseState state = wb_mouse_get_state();
    const int first = wb_keyboard_get_key(), second = wb_keyboard_get_key();
    SAY("keys", first, second);
    SAY("mouse", state.left, state.middle, state.right, state.u, state.v, state.x, state.y, state.z);
    SAY("joystick", wb_joystick_is_connected(), wb_joystick_get_axis_value(1), wb_joystick_get_pressed_button());
    SAY("event", wb_robot_wait_for_user_input_event(WB_EVENT_KEYBOARD, 64));
    wb_keyboard_disable();
    wb_mouse_disable_3d_position();
    wb_mouse_disable();
    wb_joystick_disable();
    wb_robot_keyboard_disable();
    SAY("input off", wb_keyboard_get_sampling_period(), wb_mouse_get_sampling_period(),
        wb_mouse_is_3d_position_enabled(), wb_joystick_get_sampling_period());
}

static void motions(void)
{
    WbMotionRef motion = wbu_motion_new("probe.motion"), none = wbu_motion_new("missing.motion");
    SAY("motions", motion != NULL, none != NULL, wbu_motion_get_duration(motion));
    wbu_motion_play(motion);
    steps(12);
    SAY("played", wbu_motion_get_time(motion), wb_motor_get_target_position(wb_robot_get_device("motor")));
    wbu_motion_delete(motion);
}

static void fields(void)
{
    WbNodeRef ball = wb_supervisor_node_get_from_def("BALL"), kinds = wb_supervisor_node_get_from_def("KINDS");
    WbFieldRef children = wb_supervisor_node_get_field(wb_supervisor_node_get_root(), "children");
    WbFieldRef place = wb_supervisor_node_get_field(ball, "translation"),
               physics = wb_supervisor_node_get_field(ball, "physics");
    WbFieldRef counts = wb_supervisor_node_get_field(kinds, "mfInt32");
    const int count = wb_supervisor_field_get_count(children);
    wb_supervisor_field_enable_sf_tracking(place, 32);
    wb_supervisor_field_import_mf_node_from_string(children, -1, "DEF NEW Solid { translation 0 0 5 name \"new\" }");
    wb_supervisor_field_import_mf_node(children, -1, "thing.wbo");
    SAY("imported", wb_supervisor_field_get_count(children) - count);
    WbNodeRef last = wb_supervisor_field_get_mf_node(children, count);
    say_values("new place", wb_supervisor_field_get_sf_vec3f(wb_supervisor_node_get_field(last, "translation")), 3);
    wb_supervisor_field_remove_mf_node(children, count + 1);
    wb_supervisor_node_remove(last);
    wb_supervisor_field_remove_mf(counts, 0);
    SAY("removed", wb_supervisor_field_get_count(children) - count, wb_supervisor_field_get_count(counts),
        wb_supervisor_field_get_mf_int32(counts, 0));
    wb_supervisor_field_remove_sf(physics);
    SAY("no physics", wb_supervisor_field_get_sf_node(physics) != NULL);
    wb_supervisor_field_import_sf_node_from_string(physics, "Physics { density -1 mass 2 }");
    SAY("physics", wb_supervisor_field_get_sf_float(
                       wb_supervisor_node_get_field(wb_supervisor_field_get_sf_node(physics), "mass")));
    wb_supervisor_field_remove_sf(physics);
    wb_supervisor_field_import_sf_node(physics, "physics.wbo");
    SAY("physics of a file", wb_supervisor_field_get_sf_float(
                                 wb_supervisor_node_get_field(wb_supervisor_field_get_sf_node(physics), "mass")));
    steps(2);
    say_values("tracked", wb_supervisor_field_get_sf_vec3f(place), 3);
    wb_supervisor_field_disable_sf_tracking(place);
}

static void nodes(void)
{
    WbNodeRef self = wb_supervisor_node_get_self(), ball = wb_supervisor_node_get_from_def("BALL"),
              cube = wb_supervisor_node_get_from_def("CUBE");
    WbNodeRef inner = wb_supervisor_node_get_from_proto_def(wb_supervisor_node_get_from_def("KINDS"), "INNER");
    say_values("inner", wb_supervisor_node_get_position(inner), 3);
    SAY("same", wb_supervisor_node_get_from_id(wb_supervisor_node_get_id(ball)) == ball,
        wb_supervisor_node_get_id(wb_supervisor_node_get_from_device(wb_robot_get_device("gps"))) > 0);
    wb_supervisor_node_enable_pose_tracking(ball, 32, self);
    wb_supervisor_node_enable_contact_points_tracking(cube, 32, false);
    wb_supervisor_node_save_state(ball, "before");
    wb_supervisor_node_set_velocity(ball, (const double[]){ 0, 0, 2, 0, 0, 1 });
    wb_supervisor_node_add_force(ball, (const double[]){ 3, 0, 0 }, false);
    wb_supervisor_node_add_force_with_offset(ball, (const double[]){ 0, 2, 0 }, (const double[]){ 0.01, 0, 0 }, true);
    wb_supervisor_node_add_torque(ball, (const double[]){ 0, 0.001, 0 }, false);
    steps(2);
    say_values("pose", wb_supervisor_node_get_pose(ball, self), 16);
    say_values("velocity", wb_supervisor_node_get_velocity(ball), 6);
    int count = 0;
    const WbContactPoint *points = wb_supervisor_node_get_contact_points(cube, false, &count);
    SAY("contacts", count, points[0].point[0], points[0].point[1], points[0].point[2], points[0].node_id > 0);
    wb_supervisor_node_disable_pose_tracking(ball, self);
    wb_supervisor_node_disable_contact_points_tracking(cube);
    wb_supervisor_node_load_state(ball, "before");
    wb_supervisor_node_reset_physics(ball);
    wb_supervisor_node_set_joint_position(wb_supervisor_node_get_from_def("JOINT"), 0.2, 1);
    wb_supervisor_node_set_visibility(cube, self, false);
    wb_supervisor_node_move_viewpoint(cube);
    wb_supervisor_node_restart_controller(wb_supervisor_node_get_from_def("ECHO"));
    steps(1);
    say_values("loaded", wb_supervisor_node_get_position(ball), 3);
}

static void world(void)
{
    wb_supervisor_simulation_set_mode(WB_SUPERVISOR_SIMULATION_MODE_FAST);
    const bool saved = wb_supervisor_world_save("saved.wbt"), again = wb_supervisor_save_world("again.wbt");
    SAY("saved world", saved, again, size_of_file("saved.wbt") > 100);
    wb_supervisor_animation_start_recording("film.html");
    wb_supervisor_movie_start_recording("film.mp4", 64, 48, 0, 50, 1, false);
    steps(1);
    wb_supervisor_movie_stop_recording();
    wb_supervisor_animation_stop_recording();
    wb_supervisor_start_movie("old.mp4", 64, 48, 0, 50, 1, false);
    wb_supervisor_stop_movie();
    wb_robot_set_mode(WB_MODE_SIMULATION, "");
    wb_robot_battery_sensor_enable(32);
    wb_robot_battery_sensor_disable();
    wb_robot_pin_to_static_environment(false);
    const int begun = wb_robot_step_begin(32), ended = wb_robot_step_end();
    SAY("step in parts", begun, ended, wb_robot_battery_sensor_get_sampling_period());
    wb_supervisor_simulation_reset_physics();
    wb_supervisor_simulation_physics_reset();
    steps(1);
    wb_supervisor_simulation_reset();
    steps(2);
    say_values("after the reset", wb_supervisor_node_get_position(wb_supervisor_node_get_from_def("BALL")), 3);
}

int main(void)
{
    wb_robot_init();
    pictures();
    depths();
    drawing();
    packets();
    actuators();
    others();
    person();
    motions();
    fields();
    nodes();
    world();
    SAY("done", 1);
    fflush(stdout);
    wb_supervisor_simulation_quit(0);
    wb_robot_step(32);
    wb_robot_cleanup();
    return 0;
}
