/* kernel_work.h: cases for the kernels' judges and models: room, random inputs, equality of bits. */
#ifndef FLASHULP_TESTS_KERNEL_WORK_H
#define FLASHULP_TESTS_KERNEL_WORK_H

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/oracle_kernels.h"
#include "tests/oracle_scalar.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

enum { MOST_VALUES = 1 << 18 };

typedef void kernel(const struct kernel_case *, float *O, float *lse);

struct inputs {
    float *q, *k, *v, *O, *lse, *other_O, *other_lse;
};

static struct inputs work;

static inline int make_room(void **unused)
{
    (void)unused;
    float **all[] = {&work.q, &work.k, &work.v, &work.O, &work.lse, &work.other_O, &work.other_lse};
    for (int i = 0; i < COUNT(all); i++) {
        *all[i] = calloc(MOST_VALUES, sizeof(float));
        if (*all[i] == NULL)
            return -1;
    }
    return 0;
}

static inline int give_back(void **unused)
{
    (void)unused;
    float *all[] = {work.q, work.k, work.v, work.O, work.lse, work.other_O, work.other_lse};
    for (int i = 0; i < COUNT(all); i++)
        free(all[i]);
    return 0;
}

static inline uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return isnan(x) ? 0x7fc00000 : bits;
}

static inline uint64_t draw(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* Sums of four uniform numbers: bell-shaped, standard deviation about `size`. */
static inline void draw_values(uint64_t *state, enum oracle_type type, float size, float *x,
                               int count)
{
    for (int i = 0; i < count; i++) {
        uint64_t bits = draw(state);
        int sum = 0;
        for (int shift = 0; shift < 64; shift += 16)
            sum += (int)(bits >> shift & 0xffff) - 0x8000;
        x[i] = oracle_rounded_to(type, size * (float)sum / 37837);
    }
}

static inline struct kernel_case plain_case(enum oracle_unit unit, enum oracle_type type, int rows,
                                            int keys, int dim)
{
    assert_true((rows > keys ? rows : keys) * dim <= MOST_VALUES);
    return (struct kernel_case){.rows = rows,
                                .keys = keys,
                                .dim = dim,
                                .q = work.q,
                                .k = work.k,
                                .v = work.v,
                                .type = type,
                                .out = type,
                                .scale_value = 1,
                                .scale_root = dim,
                                .unit = unit,
                                .left = -1,
                                .right = -1};
}

static inline void fill_case(const struct kernel_case *c, uint64_t seed)
{
    draw_values(&seed, c->type, 1.5f, work.q, c->rows * c->dim);
    draw_values(&seed, c->type, 1.5f, work.k, c->keys * c->dim);
    draw_values(&seed, c->type, 1, work.v, c->keys * c->dim);
}

static inline const char *describe(const struct kernel_case *c)
{
    static char text[200];
    snprintf(text, sizeof text,
             "%d x %d x %d, type %d, unit %d, causal %d, window %d,%d, softcap %g, splits %d, "
             "tile %d x %d",
             c->rows, c->keys, c->dim, c->type, c->unit, c->causal, c->left, c->right,
             (double)c->softcap, c->splits, c->tile_rows, c->tile_keys);
    return text;
}

/* Bit for bit, any NaN equal to any NaN. */
static inline void same_bits(const struct kernel_case *c, const char *what, const float *got,
                             const float *want, int count)
{
    for (int i = 0; i < count; i++)
        if (bits_of(got[i]) != bits_of(want[i]))
            fail_msg("%s: %s[%d] is %08x, not %08x", describe(c), what, i, bits_of(got[i]),
                     bits_of(want[i]));
}

#endif
