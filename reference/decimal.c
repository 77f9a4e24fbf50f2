/* decimal.c: see decimal.h. */
#include "reference/decimal.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_EXPONENT = 20000 };

static struct decimal decimal_zero(void)
{
    struct decimal x = {false, malloc(2), 1};
    assert(x.digits);
    memcpy(x.digits, "0", 2);
    return x;
}

struct decimal decimal_of_real(const mpfr_t x, int N)
{
    if (mpfr_zero_p(x))
        return decimal_zero();
    struct decimal y = {mpfr_sgn(x) < 0, malloc((size_t)N + 3), 0};
    assert(y.digits);
    mpfr_exp_t exponent;
    /* mpfr_get_str takes no fewer than two digits of a number in some versions: one digit is taken
       from the exact rational */
    if (N == 1) {
        mpq_t q;
        mpq_init(q);
        mpfr_get_q(q, x);
        free(y.digits);
        y = decimal_of_rational(q, 1);
        mpq_clear(q);
        return y;
    }
    mpfr_get_str(y.digits, &exponent, 10, (size_t)N, x, MPFR_RNDN);
    if (y.negative)
        memmove(y.digits, y.digits + 1, (size_t)N + 1);
    y.exponent = exponent;
    return y;
}

/* z = 10^|n| times z. */
static void scale_ten(mpz_t z, long n)
{
    mpz_t power;
    mpz_init(power);
    mpz_ui_pow_ui(power, 10, (unsigned long)labs(n));
    mpz_mul(z, z, power);
    mpz_clear(power);
}

/* m = the integer nearest |x| 10^(N - exponent), ties to even; returns whether it is exact. */
static bool scaled_integer(mpz_t m, const mpq_t x, int N, long exponent)
{
    mpz_t numerator, denominator, rest;
    mpz_inits(numerator, denominator, rest, (mpz_ptr)0);
    mpz_abs(numerator, mpq_numref(x));
    mpz_set(denominator, mpq_denref(x));
    scale_ten(N >= exponent ? numerator : denominator, N - exponent);
    mpz_fdiv_qr(m, rest, numerator, denominator);
    bool exact = mpz_sgn(rest) == 0;
    mpz_mul_2exp(rest, rest, 1);
    int half = mpz_cmp(rest, denominator);
    if (half > 0 || (half == 0 && mpz_odd_p(m)))
        mpz_add_ui(m, m, 1);
    mpz_clears(numerator, denominator, rest, (mpz_ptr)0);
    return exact;
}

/* e with 10^(e - 1) <= |x| < 10^e. */
static long decimal_exponent(const mpq_t x)
{
    long e = (long)mpz_sizeinbase(mpq_numref(x), 10) - (long)mpz_sizeinbase(mpq_denref(x), 10) - 2;
    mpz_t m;
    mpz_init(m);
    mpq_t below;
    mpq_init(below);
    for (;; e++) {
        mpz_abs(mpq_numref(below), mpq_numref(x));
        mpz_set(mpq_denref(below), mpq_denref(x));
        scale_ten(e >= 0 ? mpq_denref(below) : mpq_numref(below), e);
        if (mpz_cmp(mpq_numref(below), mpq_denref(below)) < 0)
            break;
    }
    mpq_clear(below);
    mpz_clear(m);
    return e;
}

struct decimal decimal_of_rational(const mpq_t x, int N)
{
    if (mpq_sgn(x) == 0)
        return decimal_zero();
    mpz_t m;
    mpz_init(m);
    struct decimal y = {mpq_sgn(x) < 0, NULL, decimal_exponent(x)};
    bool exact = scaled_integer(m, x, N, y.exponent);
    y.digits = malloc(mpz_sizeinbase(m, 10) + 2);
    assert(y.digits);
    mpz_get_str(y.digits, 10, m);
    if ((int)strlen(y.digits) > N) { /* 99.. rounded up to 100.. */
        y.digits[N] = '\0';
        y.exponent++;
    }
    for (size_t n = strlen(y.digits); exact && n > 1 && y.digits[n - 1] == '0'; n--)
        y.digits[n - 1] = '\0';
    mpz_clear(m);
    return y;
}

void decimal_free(struct decimal *x)
{
    free(x->digits);
    x->digits = NULL;
}

bool decimal_equal(const struct decimal *x, const struct decimal *y)
{
    return x->negative == y->negative && x->exponent == y->exponent &&
           strcmp(x->digits, y->digits) == 0;
}

/* m as an integer of N digits and its exponent: |x| = m 10^(exponent - N). */
static bool between_magnitudes(const struct decimal *small, const struct decimal *large, mpz_t m,
                               mpz_t n)
{
    mpz_set_str(m, small->digits, 10);
    mpz_set_str(n, large->digits, 10);
    if (large->exponent == small->exponent + 1)
        mpz_mul_ui(n, n, 10);
    else if (large->exponent != small->exponent)
        return false;
    mpz_sub(n, n, m);
    return mpz_cmp_ui(n, 1) == 0;
}

bool decimal_between(const struct decimal *x, const struct decimal *y, mpq_t t)
{
    if (x->negative != y->negative || strlen(x->digits) != strlen(y->digits))
        return false;
    const struct decimal *small = x->negative ? y : x, *large = x->negative ? x : y;
    long power = small->exponent - (long)strlen(small->digits);
    if (labs(power) > LONGEST_EXPONENT || small->digits[0] == '0')
        return false;
    mpz_t m, n;
    mpz_inits(m, n, (mpz_ptr)0);
    bool neighbours = between_magnitudes(small, large, m, n);
    if (neighbours) {
        mpz_mul_2exp(mpq_numref(t), m, 1);
        mpz_add_ui(mpq_numref(t), mpq_numref(t), 1);
        mpz_set_ui(mpq_denref(t), 2);
        scale_ten(power >= 0 ? mpq_numref(t) : mpq_denref(t), power);
        mpq_canonicalize(t);
        if (x->negative)
            mpq_neg(t, t);
    }
    mpz_clears(m, n, (mpz_ptr)0);
    return neighbours;
}

char *decimal_print(const struct decimal *x, int N)
{
    long length = (long)strlen(x->digits), E = x->exponent - 1;
    size_t room = (size_t)(length > N ? length : N) + 64;
    char *text = malloc(room);
    assert(text);
    const char *sign = x->negative ? "-" : "";
    if (E < -5 || E >= N)
        snprintf(text, room, "%s%c%s%se%ld", sign, x->digits[0], length > 1 ? "." : "",
                 x->digits + 1, E);
    else if (E < 0)
        snprintf(text, room, "%s0.%.*s%s", sign, (int)(-E - 1), "0000", x->digits);
    else if (length <= E + 1)
        snprintf(text, room, "%s%s%.*d", sign, x->digits, (int)(E + 1 - length), 0);
    else
        snprintf(text, room, "%s%.*s.%s", sign, (int)(E + 1), x->digits, x->digits + E + 1);
    return text;
}
