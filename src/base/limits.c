#include "base/limits.h"

#define LIMIT_NORMAL(name, normal, untrusted, help) .name = (int64_t)(normal),
#define LIMIT_UNTRUSTED(name, normal, untrusted, help) .name = (int64_t)(untrusted),

const Limits limits_default = { LIMITS(LIMIT_NORMAL) };
const Limits limits_untrusted = { LIMITS(LIMIT_UNTRUSTED) };
