/* verb_case.h: one random call of one verb, made from a seed: what test_verbs.c performs twice. */
#ifndef FLASHULP_VERB_CASE_H
#define FLASHULP_VERB_CASE_H

#include "simulator/arith.h"

struct shape {
    int rows, cols;
};

struct operand {
    struct shape shape;
    double *values;
    bool masked;
    int *lo, *hi;
};

struct test_case {
    uint64_t seed;
    enum verb verb;
    enum format format, arg;
    bool written; /* a and b were last rounded at INPUT */
    bool wide; /* double arithmetic: operands may be any double */
    struct policy policy;
    struct operand dst, a, b, c;
    bool has_b, has_c;
    int row, col; /* PUT, TAKE: where the smaller of dst and a lies in the other */
    int alias; /* 1, 2, 3: dst is a, b, c */
    struct real real;
    struct problem problem;
    struct head head;
    struct visible visible;
    struct tensor tensor;
};

/* `wide`: operands are doubles, not floats. */
void case_new(struct test_case *t, enum verb verb, enum format format, bool wide, uint64_t seed);
void case_free(struct test_case *t);

bool is_sum(enum verb v);
bool is_row_verb(enum verb v);

#endif
