/* Where plugins expect the fluid functions of Webots' ODE. */
#include <plugins/fluid.h>
