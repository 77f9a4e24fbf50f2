/* certified_row.h: one query's keys grouped by exactly equal score, and integer sums over the
   groups.  Internal to certified*.c.

   With the groups (classes) numbered by falling score, x_c = s_c - s_lead <= 0, B_c keys in class c
   and a_c 2^g the exact sum of their values in the loaded column,
       O = 2^g sum a_c e^(x_c) / sum B_c e^(x_c),     LSE = s_0 + ln sum B_c e^(s_c - s_0).
   Everything but e^(x_c) and s_c is an integer; those two come with proved error radii. */
#ifndef FLASHULP_CERTIFIED_ROW_H
#define FLASHULP_CERTIFIED_ROW_H

#include "reference/format.h"
#include "reference/problem.h"
#include <mpfr.h>

enum { COLUMNS = 16 };
enum value_kind { VALUE_FINITE, VALUE_NAN, VALUE_PLUS_INF, VALUE_MINUS_INF, VALUE_ZERO };

struct certified_row {
    struct head head;
    int64_t row;
    enum value_kind output, lse; /* what the scores alone decide; VALUE_FINITE: there are classes */
    int64_t keys;                /* visible keys of weight above 0 */
    int64_t weightless;          /* visible keys with score -inf, behind the others in key[] */
    int64_t *key;                /* class c holds key[first[c] .. first[c + 1]) */
    int64_t classes;
    int64_t *first;
    mpfr_t *dot;      /* of each class, exact; falling score */
    long root;        /* the integer root of scale.root; 0 when it is irrational */
    mpfr_t factor;    /* scale, rounded to its own precision */
    mpfr_prec_t p;    /* of the weights kept, 0: none yet */
    mpz_t *W;         /* |W_c - 2^p e^(s_c - s_0)| <= 1 */
    mpz_t total;      /* sum B_c W_c, within `keys` of 2^p sum B_c e^(s_c - s_0) */
    mpz_t *temporary; /* W relative to another class */
    int64_t block;    /* columns block * COLUMNS .. are in values[]; -1: none */
    double *values;   /* [key in the order of key[]][COLUMNS]: V is read row by row */
    int64_t column;   /* loaded; -1: none */
    bool absolute;    /* |v| instead of v */
    enum value_kind column_kind;
    int g;
    mpz_t *a;
};

/* Loads column d (of |v| when `absolute`): a, g, column_kind.  VALUE_ZERO: every a_c is 0. */
void row_load(struct certified_row *row, int64_t d, bool absolute);

/* |x - s_c| <= 2^-q, and x = s_c when the returned flag is true. */
bool row_score(struct certified_row *row, int64_t c, mpfr_prec_t q, mpfr_t x);
/* |x - (s_c - s_lead)| <= 2^-q. */
void row_shift(struct certified_row *row, int64_t c, int64_t lead, mpfr_prec_t q, mpfr_t x);

/* Integers W[c], c >= lead, with |W[c] - 2^p e^(s_c - s_lead)| <= 1; kept until the next call with
   lead > 0 (lead = 0: until the row is freed).  *p may be raised. */
mpz_t *row_weights(struct certified_row *row, int64_t lead, mpfr_prec_t *p);

/* x rounded once: to odd in double, whose last bit no narrower format's boundary has, then to f. */
double certified_round_real(const mpfr_t x, enum format f);
/* The root of n when it is an integer, else 0. */
long integer_root(int64_t n);

/* count integers, 0; and their end. */
mpz_t *row_integers(int64_t count);
void row_free_integers(mpz_t *z, int64_t count);

/* s_0 = t ?  Decided exactly. */
bool row_top_equals(const struct certified_row *row, const mpq_t t);
/* s_0, when it is known to be rational. */
bool row_top_rational(const struct certified_row *row, mpq_t s);

static inline int64_t class_size(const struct certified_row *row, int64_t c)
{
    return row->first[c + 1] - row->first[c];
}

#endif
