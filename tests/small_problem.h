/* small_problem.h: problems written out in a test: one batch, one head, fp64 tensors, so that any
   value, NaN and infinities included, is what the row of the table says. */
#ifndef FLASHULP_TESTS_SMALL_PROBLEM_H
#define FLASHULP_TESTS_SMALL_PROBLEM_H

#include "reference/problem.h"

#include <stdlib.h>

/* Numbers separated by blanks into a new fp64 tensor (1, 1, N, D); counts what it read. */
static inline int64_t small_tensor(struct tensor *t, int64_t N, int64_t D, const char *text)
{
    struct message why;
    if (!tensor_new(t, FORMAT_FP64, 4, (int64_t[]){1, 1, N, D}, &why))
        return -1;
    int64_t count = 0;
    for (char *end; count < N * D; count++, text = end) {
        double x = strtod(text, &end);
        if (end == text)
            break;
        tensor_set(t, 0, 0, count / D, count % D, x);
    }
    return count;
}

/* Scale value / sqrt(root); the mask sees everything; false when a text has too few numbers. */
static inline bool small_problem(struct problem *p, int64_t D, int64_t Nq, int64_t Nk,
                                 const char *q, const char *k, const char *v)
{
    *p = (struct problem){.B = 1, .Hq = 1, .Hkv = 1, .Nq = Nq, .Nk = Nk, .D = D};
    p->scale = (struct scale){1, 1};
    p->mask = (struct mask){false, ALIGN_BOTTOM_RIGHT, -1, -1};
    return small_tensor(&p->q, Nq, D, q) == Nq * D && small_tensor(&p->k, Nk, D, k) == Nk * D &&
           small_tensor(&p->v, Nk, D, v) == Nk * D;
}

struct contract {
    const char *what;
    int Nq, Nk, r;
    const char *q, *k, *v;
    double scale, softcap;
    int causal, top_left, left, right;
    const char *O, *lse;
};

static inline bool contract_problem(struct problem *p, const struct contract *c)
{
    bool whole = small_problem(p, 1, c->Nq, c->Nk, c->q, c->k, c->v);
    p->scale = (struct scale){c->scale, 1};
    p->softcap = c->softcap;
    p->mask = (struct mask){c->causal, c->top_left ? ALIGN_TOP_LEFT : ALIGN_BOTTOM_RIGHT, c->left,
                            c->right};
    return whole;
}

#endif
