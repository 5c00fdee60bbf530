// The robot itself: what it is, what it is called with, its window, its tasks; and calls that come at the wrong moment.
#include <webots/device.h>
#include <webots/brake.h>
#include <webots/emitter.h>
#include <webots/led.h>
#include <webots/microphone.h>
#include <webots/motor.h>
#include <webots/plugins/robot_window/robot_wwi.h>
#include <webots/position_sensor.h>
#include <webots/radio.h>
#include <webots/speaker.h>
#include <webots/supervisor.h>
#include <webots/utils/default_robot_window.h>
#include <webots/utils/system.h>

#include "check.h"

static void before_init(void)
{
    CHECK(wb_robot_step(32) == -1);
    CHECK(wb_robot_get_device("motor") == 0 && wb_robot_get_number_of_devices() == 0
          && wb_robot_get_device_by_index(0) == 0);
    CHECK(wb_robot_get_time() == 0 && isnan(wb_robot_battery_sensor_get_value()));
    CHECK_TEXT(wb_robot_get_name(), "");
    wb_motor_set_position(1, 1);
    wb_motor_set_velocity(0, 1);
    wb_robot_set_custom_data("lost");
    CHECK(isnan(wb_position_sensor_get_value(1)) && wb_emitter_send(1, "x", 1) == 0);
    CHECK(!wb_supervisor_node_get_root() && wb_led_get(3) == 0);
    wb_robot_battery_sensor_enable(32);
}

static void facts(void)
{
    CHECK_TEXT(wb_robot_get_name(), "me");
    CHECK_TEXT(wb_robot_get_model(), "mine");
    CHECK_TEXT(wb_robot_get_custom_data(), "note");
    CHECK_TEXT(wb_robot_get_controller_name(), "robot");
    CHECK_TEXT(wb_robot_get_controller_arguments(), "");
    CHECK(wb_robot_get_mode() == WB_MODE_SIMULATION && wb_robot_get_synchronization() && !wb_robot_get_supervisor());
    CHECK(wb_robot_get_basic_time_step() == 32 && wb_robot_get_time() == 0);
    wb_robot_set_mode(WB_MODE_REMOTE_CONTROL, NULL);
    CHECK(wb_robot_get_mode() == WB_MODE_SIMULATION);
    CHECK(wb_robot_get_number_of_devices() == 5 && wb_robot_get_device_by_index(-1) == 0
          && wb_robot_get_device_by_index(5) == 0);
    CHECK(wb_robot_get_device_by_index(4) == wb_robot_get_device("gps") && wb_robot_get_device(NULL) == 0
          && wb_robot_get_device("nothing") == 0);
    CHECK_TEXT(wb_device_get_model(wb_robot_get_device("gps")), "fine gps");
    CHECK(wb_device_get_node_type(60000) == WB_NODE_NO_NODE && !wb_device_get_name(60000)
          && !wb_device_get_model(60000));
    CHECK_TEXT(wbu_system_short_path("/a/b"), "/a/b");
    CHECK(*wbu_system_webots_instance_path(true) == '/');
}

static void motor(void)
{
    WbDeviceTag tag = wb_robot_get_device("motor"), brake = wb_robot_get_device("brake"),
                led = wb_robot_get_device("led");
    // Asked of what is no motor.
    CHECK(isnan(wb_motor_get_target_position(led)) && wb_motor_get_max_torque(led) == 0
          && isnan(wb_motor_get_torque_feedback(0)));
    CHECK(wb_motor_get_brake(tag) == brake && wb_brake_get_motor(brake) == tag && wb_brake_get_motor(led) == 0);
    wb_motor_set_position(tag, NAN);
    CHECK(wb_motor_get_target_position(tag) == 0);
    wb_motor_set_velocity(tag, INFINITY);
    CHECK(wb_motor_get_velocity(tag) == 5);
    wb_motor_set_velocity(tag, 50);
    CHECK(wb_motor_get_velocity(tag) == 5);
    wb_motor_enable_torque_feedback(tag, 32);
    wb_position_sensor_enable(wb_robot_get_device("sensor"), 32);
    CHECK(wb_motor_get_torque_feedback_sampling_period(tag) == 32);
    // A torque turns it as the formula says: a = T / I, I = 1/6 kg m2.
    wb_motor_set_torque(tag, 0.5);
    check_steps(10);
    CHECK_NEAR(wb_position_sensor_get_value(wb_robot_get_device("sensor")), 0.5 * 6 * 0.032 * 0.032 * 10 * 11 / 2,
               1e-5);               // the world's CFM gives way a little
    wb_motor_set_torque(tag, 100);  // more than it has: held at 2
    wb_motor_disable_torque_feedback(tag);
    CHECK(wb_motor_get_torque_feedback_sampling_period(tag) == 0);
    wb_motor_set_position(tag, INFINITY);
    wb_motor_set_velocity(tag, 0);
    wb_brake_set_damping_constant(brake, 1e6);
    check_steps(5);
    double still = wb_position_sensor_get_value(wb_robot_get_device("sensor"));
    check_steps(2);
    CHECK_NEAR(wb_position_sensor_get_value(wb_robot_get_device("sensor")), still, 1e-3);
}

// No window is open: what is sent goes nowhere, nothing comes.
static void window(void)
{
    int size = 5;
    wb_robot_wwi_send("abc", 3);
    wb_robot_wwi_send(NULL, 3);
    wb_robot_wwi_send_text("hello");
    wb_robot_wwi_send_text(NULL);
    check_steps(1);
    CHECK(!wb_robot_wwi_receive(&size) && size == 0 && !wb_robot_wwi_receive(NULL) && !wb_robot_wwi_receive_text());
    wbu_default_robot_window_configure();
    wbu_default_robot_window_update();
}

// Devices that this robot does not have: refused, and no harm.
static void absent(void)
{
    CHECK(wb_microphone_get_sampling_period(0) == 0 && !wb_microphone_get_sample_data(0)
          && wb_microphone_get_sample_size(0) == 0);
    wb_microphone_enable(0, 32);
    wb_microphone_disable(0);
    wb_speaker_play_sound(0, 0, "beep.wav", 1, 1, 0, false);
    wb_speaker_speak(0, NULL, 1);
    wb_speaker_stop(0, NULL);
    CHECK(!wb_speaker_set_engine(0, "pico") && !wb_speaker_set_language(0, "en-US"));
    WbRadioMessage message = wb_radio_message_new(3, "abc", "there");
    CHECK(message && !wb_radio_message_new(3, NULL, NULL) && !wb_radio_message_new(0, "", ""));
    wb_radio_enable(0, 32);
    wb_radio_send(0, message, 0);
    wb_radio_message_delete(message);
    wb_radio_set_address(0, "here");
    wb_radio_set_frequency(0, 1);
    wb_radio_set_channel(0, 1);
    wb_radio_set_bitrate(0, 1);
    wb_radio_set_rx_sensitivity(0, 1);
    wb_radio_set_tx_power(0, 1);
    wb_radio_set_callback(0, NULL);
    CHECK(!wb_radio_get_address(0) && wb_radio_get_frequency(0) == 0 && wb_radio_get_channel(0) == 0
          && wb_radio_get_bitrate(0) == 0);
    CHECK(wb_radio_get_rx_sensitivity(0) == 0 && wb_radio_get_tx_power(0) == 0);
    wb_radio_disable(0);
    CHECK(!wb_supervisor_node_get_root() && !wb_supervisor_node_get_from_def("ME"));  // no supervisor
    CHECK(!wb_supervisor_virtual_reality_headset_is_used());
    CHECK(isnan(wb_supervisor_virtual_reality_headset_get_position()[0])
          && isnan(wb_supervisor_virtual_reality_headset_get_orientation()[8]));
}

int main(void)
{
    before_init();
    wb_robot_init();
    wb_robot_init();  // twice is once
    facts();
    motor();
    window();
    absent();
    CHECK(wb_robot_step(0) == 0);
    return check_done();
}
