#include <assert.h>
