// @: a trot. The feet of one diagonal swing forward while those of the other push back.
#include <webots/GPS.hpp>
#include <webots/Motor.hpp>
#include <webots/Robot.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

namespace {

const double link = 0.2;       // m: thigh and shank are equally long
const double stance = 0.35;    // m from hip to foot
const double stride = 0.06;    // m that a foot goes before and behind its hip
const double lift = 0.06;      // m that a foot is lifted
const double frequency = 1.5;  // strides a second

struct Leg {
    const char *name;
    double phase;
    webots::Motor *hip, *knee;

    // Brings the foot to a place relative to the hip.
    void reach(double x, double z) const
    {
        const double bend = 2.0 * std::acos(std::min(std::hypot(x, z) / (2.0 * link), 1.0));
        knee->setPosition(bend);
        hip->setPosition(std::atan2(-x, -z) - 0.5 * bend);
    }
};

}  // namespace

int main()
{
    webots::Robot robot;
    const int step = static_cast<int>(robot.getBasicTimeStep());
    Leg legs[4] = { { "front left", 0.0, nullptr, nullptr }, { "front right", 0.5, nullptr, nullptr },
                    { "rear left", 0.5, nullptr, nullptr }, { "rear right", 0.0, nullptr, nullptr } };
    for (Leg &leg : legs) {
        leg.hip = robot.getMotor(std::string(leg.name) + " hip");
        leg.knee = robot.getMotor(std::string(leg.name) + " knee");
    }
    webots::GPS *gps = robot.getGPS("gps");
    gps->enable(step);

    int seconds = 0;
    while (robot.step(step) != -1) {
        const double time = robot.getTime(), start = std::min(time, 1.0);  // small strides first
        for (const Leg &leg : legs) {
            const double phase = std::fmod(frequency * time + leg.phase, 1.0);
            if (phase < 0.5)  // on the ground, backwards
                leg.reach(start * stride * (1.0 - 4.0 * phase), -stance);
            else  // in the air, forwards
                leg.reach(start * stride * (4.0 * phase - 3.0), start * lift * std::sin(2.0 * M_PI * (phase - 0.5)) - stance);
        }
        const double *at = gps->getValues();
        if (time >= seconds + 1)
            std::printf("%d s: walked %.2f m, back %.2f m above the floor\n", ++seconds, at[0], at[2]);
    }
    return 0;
}
