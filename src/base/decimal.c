// decimal.c - shortest digits by R. Giulietti's Schubfach method: the interval of decimals that read back as the double
// is scaled by one power of ten, known to 128 bits, so that the answer is one of four neighbouring integers. Written
// here because C's library has no such function and trying precisions with printf costs thirty times as much.
#include "base/decimal.h"

#include <pthread.h>
#include <string.h>

typedef unsigned __int128 Wide;

enum {
    MIN_POWER = -292,  // what -k below takes over all doubles
    MAX_POWER = 324,
    LIMBS = 20,  // 1280 bits hold 10^324, and the quotients 2^1279 / 10^292 still have 128 good bits
};

typedef struct Power {
    uint64_t high, low;
} Power;

static Power powers[MAX_POWER - MIN_POWER + 1];  // the first 128 bits of 10^p, rounded up
static pthread_once_t powers_once = PTHREAD_ONCE_INIT;

// floor(log2(10^p)), floor(log10(2^q)) and floor(log10(3/4 * 2^q)) over the exponents of doubles.
static int floor_log2_pow10(int p) { return (p * 1741647) >> 19; }

static int floor_log10_pow2(int q) { return (q * 1262611) >> 22; }

static int floor_log10_three_quarters_pow2(int q) { return (q * 1262611 - 524031) >> 22; }

// The first 128 bits of a big number, whatever follows them rounded up.
static Power leading_bits(const uint64_t *limbs)
{
    int top = LIMBS - 1;
    while (limbs[top] == 0)
        top--;
    assert_debug(top >= 0);
    int shift = __builtin_clzll(limbs[top]);
    uint64_t part[3];
    bool more = false;
    for (int i = 0; i < 3; i++)
        part[i] = top >= i ? limbs[top - i] : 0;
    for (int i = 0; i <= top - 3; i++)
        more |= limbs[i] != 0;
    Power power = { part[0], part[1] };
    if (shift) {
        power.high = part[0] << shift | part[1] >> (64 - shift);
        power.low = part[1] << shift | part[2] >> (64 - shift);
        part[2] <<= shift;
    }
    if (more || part[2]) {
        power.low++;
        power.high += power.low == 0;
    }
    return power;
}

static void multiply_by_ten(uint64_t *limbs)
{
    uint64_t carry = 0;
    for (int i = 0; i < LIMBS; i++) {
        Wide product = (Wide)limbs[i] * 10 + carry;
        limbs[i] = (uint64_t)product;
        carry = (uint64_t)(product >> 64);
    }
}

static void divide_by_ten(uint64_t *limbs)
{
    uint64_t rest = 0;
    for (int i = LIMBS - 1; i >= 0; i--) {
        Wide part = (Wide)rest << 64 | limbs[i];
        limbs[i] = (uint64_t)(part / 10);
        rest = (uint64_t)(part % 10);
    }
}

static void make_powers(void)
{
    uint64_t big[LIMBS] = { 1 };
    for (int p = 0; p <= MAX_POWER; p++) {
        powers[p - MIN_POWER] = leading_bits(big);
        multiply_by_ten(big);
    }
    memset(big, 0, sizeof big);
    big[LIMBS - 1] = (uint64_t)1 << 63;
    for (int p = -1; p >= MIN_POWER; p--) {
        divide_by_ten(big);
        big[0] |= 1;  // no negative power of ten ends: it is always rounded up
        powers[p - MIN_POWER] = leading_bits(big);
    }
}

// floor(power * scaled / 2^128), its last bit set when anything was cut off.
static uint64_t round_to_odd(Power power, uint64_t scaled)
{
    uint64_t low = (uint64_t)((Wide)power.low * scaled >> 64);
    Wide product = (Wide)power.high * scaled + low;
    return (uint64_t)(product >> 64) | ((uint64_t)product > 1);
}

Decimal decimal_from_double(double value)
{
    pthread_once(&powers_once, make_powers);
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t fraction = bits & (((uint64_t)1 << 52) - 1);
    int biased = (int)(bits >> 52) & 0x7ff;
    uint64_t c = biased ? fraction | (uint64_t)1 << 52 : fraction;
    int q = (biased ? biased : 1) - 1075;  // value = c * 2^q

    // Halfway to either neighbour, in quarters of the last binary place; below a power of two the step is half as long.
    bool even = c % 2 == 0, short_below = fraction == 0 && biased > 1;
    uint64_t middle = 4 * c, lower = middle - (short_below ? 1 : 2), upper = middle + 2;
    int k = short_below ? floor_log10_three_quarters_pow2(q) : floor_log10_pow2(q);
    int shift = q + floor_log2_pow10(-k) + 1;
    assert_debug(-k >= MIN_POWER && -k <= MAX_POWER);
    Power power = powers[-k - MIN_POWER];
    middle = round_to_odd(power, middle << shift);
    lower = round_to_odd(power, lower << shift) + !even;  // the ends read back as `value` only when it is even
    upper = round_to_odd(power, upper << shift) - !even;

    uint64_t s = middle / 4;
    uint64_t tens = s / 10 * 10;
    bool tens_fit = lower <= 4 * tens, next_tens_fit = 4 * (tens + 10) <= upper;
    if (s >= 10 && tens_fit != next_tens_fit)
        return (Decimal){ (tens_fit ? tens : tens + 10), k };
    bool s_fits = lower <= 4 * s, next_fits = 4 * (s + 1) <= upper;
    if (s_fits != next_fits)
        return (Decimal){ s_fits ? s : s + 1, k };
    uint64_t half = 4 * s + 2;
    bool up = middle > half || (middle == half && s % 2 == 1);
    return (Decimal){ up ? s + 1 : s, k };
}
