/* arith_mpfr_sums.h: a sum in the MPFR arithmetic: its terms, and the orders that have files of
   their own.  Written for clarity, one term at a time. */
#ifndef FLASHULP_ARITH_MPFR_SUMS_H
#define FLASHULP_ARITH_MPFR_SUMS_H

#include "simulator/arith_mpfr.h"
#include "simulator/mma.h"

struct term {
    mpfr_srcptr a, b; /* a, or a b where b is given; a = NULL: invisible */
};

enum sum_start {
    START_ACCUMULATOR, /* acc + ... */
    START_RESCALED,    /* fma(acc, decay, first) + ... */
    START_FIRST        /* first + ... */
};

struct sum {
    struct work work;
    bool rounds_product; /* at work.arg, before it is added; otherwise a chain's step is fused */
    enum sum_start start;
    const struct order *order;
    const struct order_tree *tree; /* of ORDER_TREE and ORDER_PAIRWISE */
    struct term *terms;
    int count;
    mpfr_t *stack; /* of the tree; the lanes, then the lanes before a step of the butterfly */
    int room;      /* half of what the stack holds */
    struct mma_step step; /* of a tensor core */
};

/* dst = the term, a product rounded by itself. */
void sum_leaf(struct sum *s, mpfr_ptr dst, const struct term *t);
/* acc = round(acc + term) */
void sum_step(struct sum *s, mpfr_ptr acc, const struct term *t);

/* s->stack[0 .. lanes) put together; the result is stack[0]. */
void sum_butterfly(struct sum *s);
/* The terms by lanes and butterfly. */
mpfr_srcptr sum_lanes(struct sum *s);
/* The lanes apart, in the columns of dst's row: they go on, rescaled or not, or begin: s->start. */
void sum_lanes_apart(struct sum *s, const struct tile *dst, int row, mpfr_srcptr decay);

/* What a tensor core multiplies: NULL: ones.  Nothing for other orders. */
void sum_factors(struct sum *s, const struct run *r, enum site site, const struct tile *a,
                 const struct tile *b);
/* acc takes the terms, L at a time. */
void sum_mma(struct sum *s, mpfr_ptr acc);

#endif
