/* mma.h: tensor cores: an order's unit, and one fused step of it in plain integers.

   A step takes up to L products and an accumulator.  Each term is exact; a normal factor is a
   number in [1,2) times 2^e, a subnormal one keeps its format's least e, and a product is not
   normalised.  Every term is cut toward zero to a multiple of 2^(e_max - F), e_max being the
   largest exponent of a term that is not zero, or e_zero if that is larger and some term is zero.
   The cut terms are added exactly and the sum is cut to the output's format (fp16: rounded to
   nearest even).  NaN, 0 inf and inf - inf give 7FFFFFFF (fp16: its own all-ones NaN); an exact
   cancellation +0.  A chain of steps is a sum over more than L products.  Parameters and evidence:
   mma.def.  Valid C++17. */
#ifndef FLASHULP_MMA_H
#define FLASHULP_MMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reference/format.h"
#include "reference/message.h"

enum mma_unit {
#define MMA_UNIT(id, name, meaning) MMA_##id,
#include "simulator/mma.def"
#undef MMA_UNIT
    MMA_UNITS
};

enum mma_type {
#define MMA_TYPE(id, name, operands) MMA_TYPE_##id,
#include "simulator/mma.def"
#undef MMA_TYPE
    MMA_TYPES
};

struct mma_info {
    enum mma_unit unit;
    enum mma_type type;
    int L, F, fraction, e_zero, e_zero_fp16;
    const char *evidence;
};

/* An order's unit with its switches. */
struct mma {
    const struct mma_info *info;
    bool count_zeros, lose_minus_zero;
    int e_zero; /* of the user; 0: the table's */
    char *text; /* as the user wrote it */
};

const char *mma_unit_name(enum mma_unit u);
const char *mma_unit_meaning(enum mma_unit u);
const char *mma_type_name(enum mma_type t);
/* What unit u does with type t, or NULL and the reason. */
const struct mma_info *mma_info(enum mma_unit u, enum mma_type t, const char **reason);
/* "mma@UNIT[/TYPE][,SWITCH=VALUE...]"; NULL when refused.  Kept until the program ends. */
const struct mma *mma_parse(const char *text, struct message *why);
/* Does the unit multiply numbers of this format? */
bool mma_takes(const struct mma_info *info, enum format f);

enum { MMA_MOST_L = 32 };

/* Everything a step needs to know. */
struct mma_step {
    int L, F;
    int least_a, least_b, least_c; /* exponents of the formats' subnormals */
    int e_zero;
    int fraction, output_least, output_most; /* of the result: bits, exponents */
    bool nearest; /* to even; otherwise toward zero */
    bool count_zeros, lose_minus_zero;
    uint32_t unread_a, unread_b; /* bits of a factor's float that are not read */
    int product_bits;            /* of an exact product's significand, at most */
};

/* A factor as its site rounds it: the format, and the power of two around it. */
struct mma_factor {
    enum format format;
    int scale_log2;
};

/* `output` is the accumulator's format: fp32 or fp16. */
struct mma_step mma_step_of(const struct mma *m, struct mma_factor a, struct mma_factor b,
                            enum format output);

/* c + a[0] b[0] + ... + a[n - 1] b[n - 1], n <= L; the products that are missing are +0. */
float mma_dot_add(const struct mma_step *s, const float *a, const float *b, int n, float c);
/* The same for factors and accumulators of any width: counterfactual runs. */
double mma_dot_add_wide(const struct mma_step *s, const double *a, const double *b, int n,
                        double c);

#endif
