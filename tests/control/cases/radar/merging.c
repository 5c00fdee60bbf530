#include "check.h"

#include <webots/radar.h>

int main(void)
{
    static const char *const names[4] = { "radar1", "radar2", "radar3", "radar4" };
    static const int counts[4] = { 3, 4, 7, 5 };
    wb_robot_init();
    WbDeviceTag tags[4];
    for (int i = 0; i < 4; i++) {
        tags[i] = wb_robot_get_device(names[i]);
        wb_radar_enable(tags[i], 32);
    }
    check_steps(2);
    for (int i = 0; i < 4; i++) {
        CHECK_NEAR(wb_radar_get_number_of_targets(tags[i]), counts[i], 0);
        const WbRadarTarget *targets = wb_radar_get_targets(tags[i]);
        for (int k = 0; i < 2 && k < counts[i]; k++)
            CHECK(targets[k].azimuth == 0);  // left and right cancel out exactly
    }
    const WbRadarTarget *targets = wb_radar_get_targets(tags[2]);
    CHECK_NEAR(targets[2].azimuth, atan2(0.5, 2), 1e-9);  // to the right
    CHECK_NEAR(targets[3].azimuth, -atan2(0.5, 2), 1e-9);
    // The radar equation with 20 dBm, a gain of 20 dBi, 24 GHz and 1 m2 at 1 and 2 m.
    double wavelength = 299792458.0 / 24e9, factor = 0.1 * 1e4 * wavelength * wavelength / pow(4 * M_PI, 3);
    CHECK_NEAR(targets[0].received_power, 10 * log10(factor / 0.001), 1e-9);
    CHECK_NEAR(targets[1].received_power, 10 * log10(factor / 16 / 0.001), 1e-9);
    return check_done();
}
