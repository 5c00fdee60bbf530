// Sonars hear the nearest echo within 22.5 degrees of straight back; the others take the weighted mean of their rays.
#include "check.h"

#include <webots/distance_sensor.h>

static WbDeviceTag start(const char *name)
{
    WbDeviceTag tag = wb_robot_get_device(name);
    wb_distance_sensor_enable(tag, 32);
    return tag;
}

int main(void)
{
    static const struct {
        const char *name;
        double value;
    } sonars[] = { { "ahead", 0.1 }, { "behind", 1.0 }, { "down", 0.05 }, { "side", 0.218207 } };
    static const struct {
        const char *name;
        double resolution;
    } steps[] = { { "r1", 0.01 }, { "r2", 0.1 }, { "r3", 0.3 }, { "r4", 15 } };
    wb_robot_init();
    WbDeviceTag tags[4], rounded[4];
    for (int i = 0; i < 4; i++) {
        tags[i] = start(sonars[i].name);
        rounded[i] = start(steps[i].name);
    }
    WbDeviceTag mean = start("mean"), even = start("even"), noisy = start("noisy"), bent = start("bent"),
                none = start("none");
    WbDeviceTag laser = start("laser"), away = start("laser away");
    check_steps(2);
    for (int i = 0; i < 4; i++) {
        CHECK_NEAR(wb_distance_sensor_get_value(tags[i]), sonars[i].value, 1e-5);
        double value = wb_distance_sensor_get_value(rounded[i]),
               whole = round(value / steps[i].resolution) * steps[i].resolution;
        CHECK(value == whole && fabs(value - 33.33333) <= 0.5 * steps[i].resolution);
    }
    CHECK_NEAR(wb_distance_sensor_get_value(laser), 500, 0.001);
    CHECK_NEAR(wb_distance_sensor_get_value(away), 1000, 0.001);
    // One ray straight on, four at 0.2 rad from it, all meeting a face 0.1 away.
    double straight = 0.1, slanted = 0.1 / cos(0.2), weight = exp(-1.0);
    CHECK_NEAR(wb_distance_sensor_get_value(mean), (straight + 4 * weight * slanted) / (1 + 4 * weight), 1e-9);
    CHECK_NEAR(wb_distance_sensor_get_value(even), (straight + 4 * slanted) / 5, 1e-9);
    CHECK_NEAR(wb_distance_sensor_get_value(bent), 15, 1e-9);
    CHECK(wb_distance_sensor_get_value(none) == 0);
    CHECK(wb_distance_sensor_get_lookup_table_size(none) == 0 && wb_distance_sensor_get_max_value(none) == 0);
    CHECK(wb_distance_sensor_get_min_value(bent) == 0 && wb_distance_sensor_get_max_value(bent) == 20);
    // A tenth of a tenth of the way to ten per cent: one per cent of deviation.
    double sum = 0, squares = 0;
    for (int i = 0; i < 20; i++) {
        check_steps(1);
        double off = wb_distance_sensor_get_value(noisy) / 0.1 - 1;
        sum += off;
        squares += off * off;
    }
    CHECK(squares > 0 && fabs(sum / 20) < 0.01 && sqrt(squares / 20) < 0.02 && sqrt(squares / 20) > 0.003);
    return check_done();
}
