/* decimal.h: numbers as N significant decimal digits, rounded once, to nearest, ties to even.
   Internal to certified.c. */
#ifndef FLASHULP_DECIMAL_H
#define FLASHULP_DECIMAL_H

#include <stdbool.h>
#include <mpfr.h>

/* +-0.d1d2...dN * 10^exponent, d1 not 0; zero: digits "0", exponent 1. */
struct decimal {
    bool negative;
    char *digits; /* malloc'ed */
    long exponent;
};

struct decimal decimal_of_real(const mpfr_t x, int N);
/* Without trailing zeros when the N digits are the number itself. */
struct decimal decimal_of_rational(const mpq_t x, int N);
void decimal_free(struct decimal *x);
bool decimal_equal(const struct decimal *x, const struct decimal *y);

/* When x and y are neighbours among the N-digit decimals of one sign: the midpoint.  False
   otherwise, and when its exponent is too large to write out. */
bool decimal_between(const struct decimal *x, const struct decimal *y, mpq_t t);

/* As certified_digits documents; malloc'ed. */
char *decimal_print(const struct decimal *x, int N);

#endif
