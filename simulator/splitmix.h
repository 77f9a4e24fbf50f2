/* splitmix.h: splitmix64, a sequence of 64-bit words from a seed.  The same everywhere. */
#ifndef FLASHULP_SPLITMIX_H
#define FLASHULP_SPLITMIX_H

#include <stdint.h>

static inline uint64_t splitmix_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* About normal, variance 1: the sum of four numbers spread evenly. */
static inline double splitmix_normal(uint64_t *state)
{
    double sum = 0;
    for (int i = 0; i < 4; i++)
        sum += (double)(splitmix_next(state) >> 11) * 0x1p-53 - 0.5;
    return sum * 1.7320508075688772;
}

/* A whole number from least to most, almost evenly. */
static inline int64_t splitmix_between(uint64_t *state, int64_t least, int64_t most)
{
    return least + (int64_t)(splitmix_next(state) % (uint64_t)(most - least + 1));
}

#endif
