/* oracle_help.h: what the tests of the oracle share: flags, equality of bits, random bits. */
#ifndef FLASHULP_TESTS_ORACLE_HELP_H
#define FLASHULP_TESTS_ORACLE_HELP_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "tests/oracle_attention.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

enum { TILE_MAX = 1, ZERO_START = 2, NO_TAIL_MASK = 4, DESCENDING = 8 };

static inline void set_flags(struct oracle *o, int flags)
{
    o->tile_max = flags & TILE_MAX;
    o->zero_start = flags & ZERO_START;
    o->no_tail_mask = flags & NO_TAIL_MASK;
    o->descending = flags & DESCENDING;
}

/* The same value, zeros with their sign; any NaN equals any NaN. */
static inline bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
}

static inline uint64_t random_bits(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    uint64_t x = *state;
    return (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;
}

/* Scale 1, every key visible to every row. */
static inline struct oracle oracle_over(int64_t Nq, int64_t Nk, int64_t D, const double *q,
                                        const double *k, const double *v)
{
    return (struct oracle){
        .Nq = Nq, .Nk = Nk, .D = D, .q = q, .k = k, .v = v, .scale_value = 1, .scale_root = 1};
}

#endif
