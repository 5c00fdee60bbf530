// version.c - the version of this build.
#include "talus/talus.h"

const char *talus_version(void) { return TALUS_VERSION; }
int talus_version_number(void) { return TALUS_VERSION_NUMBER; }
