// random.c - streams of random numbers, one per user, each from a seed and a name.
#include "base/random.h"

#include "base/hash.h"

#include <math.h>

static uint64_t spread(uint64_t *x)
{
    uint64_t z = (*x += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void random_seed(Random *random, uint64_t seed, const char *name)
{
    assert(name);
    uint64_t mixed = hash_combine(hash_string(name), seed);
    *random = (Random){ .state = { spread(&mixed), spread(&mixed) } };
}

// xoroshiro128+ (Blackman and Vigna, 2018), written from its published recurrence.
uint64_t random_bits(Random *random)
{
    uint64_t a = random->state[0], b = random->state[1];
    assert_debug(a != 0 || b != 0);
    uint64_t result = a + b;
    b ^= a;
    random->state[0] = (a << 24 | a >> 40) ^ b ^ (b << 16);
    random->state[1] = b << 37 | b >> 27;
    return result;
}

double random_uniform(Random *random) { return (double)(random_bits(random) >> 11) * 0x1p-53; }

double random_gaussian(Random *random)
{
    if (random->has_spare) {
        random->has_spare = false;
        return random->spare;
    }
    double u, v, s;
    do {
        u = 2.0 * random_uniform(random) - 1.0;
        v = 2.0 * random_uniform(random) - 1.0;
        s = u * u + v * v;
    } while (s >= 1.0 || s == 0.0);
    double scale = sqrt(-2.0 * log(s) / s);
    random->spare = v * scale;
    random->has_spare = true;
    return u * scale;
}
