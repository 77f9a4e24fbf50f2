/* oracle_mma.c: every term is a double beside the exponent the unit reads off it.

   A product of two 16-bit numbers has at most 22 significant bits and lies in [2^-266, 2^256]; cut
   to F <= 25 bits below an exponent that is at most 2 too small, 17 of them add up below 2^32. */
#include "tests/oracle_mma.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { MAX_PRODUCTS = 16 };

static const struct unit {
    int products;      /* L */
    int fraction_bits; /* F, below the largest exponent */
    int zero_exponent; /* what a term that is zero counts as */
} units[] = {
    [ORACLE_SM70] = {4, 23, -131},   [ORACLE_SM75] = {8, 24, -132},  [ORACLE_SM80] = {8, 24, -132},
    [ORACLE_SM86] = {8, 24, -132},   [ORACLE_SM89] = {8, 24, -132},  [ORACLE_SM90] = {16, 25, -133},
    [ORACLE_SM100] = {16, 25, -133}, [ORACLE_SM120] = {16, 25, -133}};

struct term {
    double value;
    int exponent;
};

/* x = significand 2^exponent with the significand in [1, 2), of a subnormal in (0, 1). */
static int exponent_of(double x, int smallest)
{
    int exponent;
    frexp(x, &exponent);
    return exponent - 1 > smallest ? exponent - 1 : smallest;
}

/* The product's significand is not brought back below 2: its exponent is the operands' sum. */
static struct term product(const struct unit *u, enum oracle_type type, float a, float b)
{
    int smallest = type == ORACLE_BF16 ? -126 : -14;
    struct term t = {(double)a * (double)b, u->zero_exponent};
    if (t.value != 0 && isfinite(t.value))
        t.exponent = exponent_of(a, smallest) + exponent_of(b, smallest);
    return t;
}

static struct term accumulator(const struct unit *u, float c)
{
    return (struct term){c, c != 0 && isfinite(c) ? exponent_of(c, -126) : u->zero_exponent};
}

/* x, a multiple of 2^quantum or not, without what lies below: towards zero. */
static double truncated(double x, int quantum)
{
    return ldexp(trunc(ldexp(x, -quantum)), quantum);
}

static float truncated_to_fp32(double x)
{
    if (x == 0)
        return (float)x;
    int exponent = exponent_of(x, -126);
    return exponent > 127 ? copysignf(INFINITY, (float)x) : (float)truncated(x, exponent - 23);
}

static float unit_nan(void)
{
    const uint32_t bits = 0x7fffffff;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static float fused_sum(const struct unit *u, const struct term *terms, int count)
{
    bool finite = true, all_minus_zero = true;
    double special = 0;
    int largest = terms[0].exponent;
    for (int i = 0; i < count; i++) {
        finite = finite && isfinite(terms[i].value);
        special = isfinite(terms[i].value) ? special : special + terms[i].value;
        all_minus_zero = all_minus_zero && terms[i].value == 0 && signbit(terms[i].value);
        largest = terms[i].exponent > largest ? terms[i].exponent : largest;
    }
    if (!finite)
        return isnan(special) ? unit_nan() : (float)special;
    if (all_minus_zero)
        return -0.0f;
    double sum = 0; /* starts at +0: what cancels is +0 */
    for (int i = 0; i < count; i++)
        sum += truncated(terms[i].value, largest - u->fraction_bits);
    return truncated_to_fp32(sum);
}

float oracle_mma(enum oracle_unit unit, enum oracle_type type, const float *a, int a_step,
                 const float *b, int b_step, int k, float c)
{
    assert(type != ORACLE_FP32);
    const struct unit *u = &units[unit];
    for (int start = 0; start < k; start += u->products) {
        struct term terms[MAX_PRODUCTS + 1];
        for (int i = 0; i < u->products; i++) {
            int at = start + i;
            terms[i] = at < k ? product(u, type, a[at * a_step], b[at * b_step])
                              : (struct term){0, u->zero_exponent};
        }
        terms[u->products] = accumulator(u, c);
        c = fused_sum(u, terms, u->products + 1);
    }
    return c;
}
