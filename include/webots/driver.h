/* driver.h - old place of vehicle/driver.h. */
#include <webots/vehicle/driver.h>
