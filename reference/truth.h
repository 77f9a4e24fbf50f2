/* truth.h: certified outputs of a row as plain numbers, for those who do no MPFR. */
#ifndef FLASHULP_TRUTH_H
#define FLASHULP_TRUTH_H

#include "reference/problem.h"

/* The true value as a sum of two doubles (to about 2^-106), infinite or NaN in `value[0]` alone. */
struct truth {
    double value[2];
};

/* Columns dims[0..count) of query r.  rounded[k * count + i] is column i's correct rounding in
   formats[k], ties decided; certified.h says what is proved. */
void truth_row(const struct head *h, int64_t r, const int64_t *dims, int64_t count,
               const enum format *formats, int format_count, struct truth *truth, double *rounded);
/* The LSE of query r, natural, and its correct rounding in f. */
void truth_lse(const struct head *h, int64_t r, enum format f, struct truth *truth,
               double *rounded);
/* The value of column d to `digits` significant digits, each of them certified; malloc'ed. */
char *truth_digits(const struct head *h, int64_t r, int64_t d, int digits);

/* Elements of the gradients of one key head, the group of query heads of certified_gradients.h:
   [row][d] of `which`, of dQ of the group's query head number `head`.  Within 2^-160 of the size of
   what is summed (exact_gradients.h): where terms cancel that is less than 2^-106 of the value. */
enum gradient { GRADIENT_Q, GRADIENT_K, GRADIENT_V };
struct gradient_place {
    enum gradient which;
    int64_t head, row, d;
};
void truth_gradients(const struct problem *p, int64_t group, const struct tensor *dO,
                     const struct gradient_place *at, int count, struct truth *truth);

/* (x - true value) in the true value's own numbers: 0 for equal infinities and two NaN, NaN when of
   different kind. */
double truth_error(const struct truth *t, double x);
/* The spacing of f at the true value, at least that of its smallest normal number. */
double truth_ulp(const struct truth *t, enum format f);

/* A format's boundary near the true value: where two neighbours' roundings meet. */
struct boundary {
    double at;       /* itself */
    double distance; /* true value - boundary, in ulps */
    bool crossed;    /* it lies between the true value and `before` */
};
/* `before`, a computed value, is rounded to f next; `correct` is the true value's rounding.  The
   boundary that `before` crossed, seen from the true value; if it crossed none, the nearest. */
struct boundary truth_boundary(const struct truth *t, enum format f, double correct, double before);

#endif
