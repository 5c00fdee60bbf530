// decimal.h - the shortest decimal digits of a double.
#ifndef TALUS_BASE_DECIMAL_H
#define TALUS_BASE_DECIMAL_H

#include "base/common.h"

// value = digits * 10^exponent
typedef struct Decimal {
    uint64_t digits;
    int exponent;
} Decimal;

// The fewest digits that read back as `value`, and of those the nearest to it. `value` is finite and above zero.
Decimal decimal_from_double(double value);

#endif
