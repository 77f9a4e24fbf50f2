/* compare.h: how far one tensor is from another, measured in one pass over blocks of elements.

   Both hold codes of one format.  Distances are steps of that format ("ulps"): how many numbers
   lie on the way, an integer.  A NaN against a number, or an infinity against anything but itself,
   is a difference "of kind": no distance, no tolerance covers it, no mean contains it.  Two NaNs are
   equal, +0 and -0 no distance apart but counted.  Signs are of got - want. */
#ifndef FLASHULP_COMPARE_H
#define FLASHULP_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "reference/format.h"
#include "reference/message.h"

enum { COMPARE_MAX_RANK = 4, COMPARE_FEW_ROWS = 20, COMPARE_MOST_HEADS = 65536 };

struct difference {
    int64_t index;      /* in C order */
    uint64_t got, want; /* codes */
    double got_value, want_value;
    bool of_kind;
    int64_t steps; /* got - want, where not of kind */
    double exact;  /* if there is one */
};

struct compare_options {
    /* An element is within the tolerances if |got - want| <= atol + rtol |want|, as computed in
       double, or if |steps| <= ulp.  ulp -1: not asked for. */
    double atol, rtol;
    int64_t ulp;
    int head_axis; /* -1: no heads */
    bool exact;    /* compare_add gets exact values */
    int64_t keep;  /* so many differences are handed to `found`, the first ones */
    void (*found)(void *context, const struct difference *d);
    void *context;
};

/* One side against the exact values.  Errors in ulps at the exact value. */
struct compare_side {
    int64_t rounded; /* elements that are the rounding of the exact value */
    int64_t of_kind;
    double max_ulp, sum_ulp;
    int64_t worst; /* -1: none */
};

struct comparison {
    enum format format;
    struct compare_options options;
    int64_t elements, done;
    int64_t differ; /* a step or more apart, or of kind */
    int64_t of_kind, zero_signs;
    int64_t one_step;            /* exactly one; elements - differ are none */
    /* Of those not of kind: got below want [0], above [1], by 2^(n-1) .. 2^n - 1 steps [n]. */
    int64_t spread[2][64];
    int64_t outside;             /* not within the tolerances */
    int64_t nan[2], infinite[2]; /* of got, of want */
    int64_t max_steps, worst;    /* of those not of kind; worst -1: none */
    double sum_steps;
    /* Smallest ones that pass alone; infinity: none does. */
    double least_atol, least_rtol;
    /* Rows are the last dimension; of one dimension, its elements. */
    int64_t rows, row_length, row;
    double row_sum, rows_sum, rows_square;
    int64_t heads, head_stride, *head_differ; /* heads 0: none */
    /* Does got = factor * want hold wherever both are known, factor log2(e) or its inverse? */
    bool base_alive[2];
    int64_t base_evidence;
    struct compare_side side[2]; /* got, want; with exact values */
    int64_t nearer[2], equally_far;
    /* of the format */
    uint64_t sign, infinity; /* codes; a magnitude beyond `infinity` is NaN */
    bool has_infinity;
};

bool compare_start(struct comparison *c, enum format f, int rank, const int64_t *shape,
                   const struct compare_options *options, struct message *why);
/* The next `count` elements; `exact` is used with options.exact. */
void compare_add(struct comparison *c, const void *got, const void *want, const double *exact,
                 int64_t count);
/* After the last element. */
void compare_end(struct comparison *c);
void compare_free(struct comparison *c);

/* Mean of the steps over all elements not of kind. */
double compare_mean(const struct comparison *c);
/* How many standard errors of the mean of the rows' means it lies from 0, rows being independent;
   false with fewer than COMPARE_FEW_ROWS rows.  Infinite where all rows are alike but not 0. */
bool compare_z(const struct comparison *c, double *z);
/* Heads whose count is far (6 sigma of a binomial) from the median, as marks[0..heads); how many. */
int64_t compare_odd_heads(const struct comparison *c, bool *marks);
/* 1: got is in base 2 and want in base e; -1: the reverse; 0: neither, or too few numbers to say. */
int compare_base(const struct comparison *c);

/* `count` codes of one format as values, and rounded to another; the second returns how many
   values changed. */
void compare_decode(enum format f, const void *codes, int64_t count, double *values);
int64_t compare_round(enum format from, enum format to, const void *codes, int64_t count,
                      void *rounded);
/* The format two tensors are compared in: the one of fewer significand bits. */
enum format compare_format(enum format a, enum format b);

#endif
