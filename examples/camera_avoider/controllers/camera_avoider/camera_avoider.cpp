// Drives about by what its camera sees: red things are obstacles. In each column of the picture the red pixels are counted; the nearer a
// thing, the more of the column it fills. The robot turns away from the side that has more of them, and on the spot when one fills the
// middle. The display shows how much each column has.
#include <webots/Camera.hpp>
#include <webots/Display.hpp>
#include <webots/GPS.hpp>
#include <webots/Motor.hpp>
#include <webots/Robot.hpp>
#include <webots/TouchSensor.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

using namespace webots;

class Explorer : public Robot {
public:
  Explorer();
  void run();

private:
  std::vector<double> look() const;  // how much of each column is red, 0 to 1
  void show(const std::vector<double> &red);
  void steer(const std::vector<double> &red);
  void drive(double left, double right);

  const int mPeriod;
  Camera *mCamera;
  Display *mDisplay;
  GPS *mGps;
  TouchSensor *mBumper;
  Motor *mLeft, *mRight;
  double mEscape;  // the turn that it has begun, until the way is free; 0 for none
};

Explorer::Explorer() :
  mPeriod(static_cast<int>(getBasicTimeStep())),
  mCamera(getCamera("camera")),
  mDisplay(getDisplay("display")),
  mGps(getGPS("gps")),
  mBumper(getTouchSensor("bumper")),
  mLeft(getMotor("left wheel motor")),
  mRight(getMotor("right wheel motor")),
  mEscape(0) {
  mCamera->enable(2 * mPeriod);
  mGps->enable(mPeriod);
  mBumper->enable(mPeriod);
  mLeft->setPosition(INFINITY);
  mRight->setPosition(INFINITY);
  drive(0, 0);
}

void Explorer::drive(double left, double right) {
  mLeft->setVelocity(left);
  mRight->setVelocity(right);
}

std::vector<double> Explorer::look() const {
  const int width = mCamera->getWidth(), height = mCamera->getHeight();
  const unsigned char *image = mCamera->getImage();
  std::vector<double> red(width, 0.0);
  for (int x = 0; image && x < width; x++) {
    int count = 0;
    for (int y = 0; y < height; y++) {
      const int r = Camera::imageGetRed(image, width, x, y), g = Camera::imageGetGreen(image, width, x, y), b = Camera::imageGetBlue(image, width, x, y);
      count += r > 2 * std::max(g, b);
    }
    red[x] = static_cast<double>(count) / height;
  }
  return red;
}

void Explorer::show(const std::vector<double> &red) {
  const int height = mDisplay->getHeight();
  mDisplay->setColor(0x000000);
  mDisplay->fillRectangle(0, 0, mDisplay->getWidth(), height);
  mDisplay->setColor(0xff4040);
  for (size_t x = 0; x < red.size(); x++) {
    const int filled = static_cast<int>(red[x] * height);
    if (filled > 0)
      mDisplay->drawLine(static_cast<int>(x), height - 1, static_cast<int>(x), height - filled);
  }
}

void Explorer::steer(const std::vector<double> &red) {
  const size_t third = red.size() / 3;
  double left = 0, middle = 0, right = 0;
  for (size_t x = 0; x < red.size(); x++) {
    double &side = x < third ? left : x < 2 * third ? middle : right;
    side = std::max(side, red[x]);
  }
  // Once it turns on the spot it goes on to the same side until the way is free.
  if (middle < 0.45 && std::max(left, right) < 0.8)
    mEscape = 0;
  else if (mEscape == 0 && (middle > 0.7 || std::max(left, right) > 0.95))
    mEscape = left > right ? -4 : 4;
  const double turn = mEscape != 0 ? mEscape : 3 * (right - left), ahead = mEscape != 0 ? 0 : 7;
  drive(ahead - turn, ahead + turn);
}

void Explorer::run() {
  double travelled = 0, report = 5, last[2] = { NAN, NAN };
  int touches = 0;
  while (step(mPeriod) != -1) {
    const std::vector<double> red = look();
    show(red);
    steer(red);
    const double *at = mGps->getValues();
    if (!std::isnan(last[0]))
      travelled += std::hypot(at[0] - last[0], at[1] - last[1]);
    last[0] = at[0];
    last[1] = at[1];
    touches += mBumper->getValue() > 0;
    if (getTime() >= report) {
      std::printf("travelled %.2f m, touched %d times, at %.2f %.2f\n", travelled, touches, at[0], at[1]);
      std::fflush(stdout);
      report += 5;
    }
  }
}

int main() {
  Explorer explorer;
  explorer.run();
  return 0;
}
