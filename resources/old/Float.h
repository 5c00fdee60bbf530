#include <float.h>
