#include "talus/talus.h"

const char *talus_version(void)
{
    return TALUS_VERSION;
}
