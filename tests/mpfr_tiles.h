/* mpfr_tiles.h: what the tests of the MPFR arithmetic share. */
#ifndef FLASHULP_MPFR_TILES_H
#define FLASHULP_MPFR_TILES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "simulator/arith.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static inline bool same_bits(double a, double b)
{
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

/* Every site in f. */
static inline struct policy all_sites(enum format f)
{
    struct policy p = policy_table(POLICY_FP32);
    for (int s = 0; s < SITE_COUNT; s++)
        p.site[s].format = f;
    return p;
}

static inline void begin(struct run *r, const struct policy *p, int precision)
{
    struct message why;
    assert_true(run_new(r, &arith_mpfr, p, precision, &why));
}

static inline struct tile *tile_of(struct run *r, int rows, int cols, const double *values)
{
    struct tile *t = tile_new(r, TENSOR_SCRATCH, rows, cols);
    for (int i = 0; i < rows * cols; i++)
        r->arith->set(t->data, (size_t)i, values[i]);
    return t;
}

#endif
