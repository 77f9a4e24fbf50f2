/* oracle_attention.h: a judge for the attention algorithms: one query row, one number at a time.

   Written from the specification alone, by someone who has not read what it judges.  Every number
   is a double that is a member of its format; every operation is done by MPFR and rounded once.
   An exact site is fp64, as in the double arithmetic; PV_PRODUCT exact means a fused step.
   Link tests/oracle_attention.c and tests/oracle_number.c. */
#ifndef FLASHULP_TESTS_ORACLE_ATTENTION_H
#define FLASHULP_TESTS_ORACLE_ATTENTION_H

#include <stdbool.h>
#include <stdint.h>

#include "reference/format.h"

/* The sites, in the table's order: the indices are those of every other enum made from it. */
enum oracle_site {
#define SITE(id, ...) AT_##id,
#include "simulator/sites.def"
#undef SITE
    AT_COUNT
};

enum oracle_operation {
    ORACLE_CONVERT, /* a */
    ORACLE_ADD,
    ORACLE_SUB,
    ORACLE_MUL,
    ORACLE_DIV,
    ORACLE_FMA, /* a b + c */
    ORACLE_EXP,
    ORACLE_EXP2,
    ORACLE_LOG,
    ORACLE_TANH
};

/* One operation, one rounding to f (ties to even, subnormals kept).  Overflow gives infinity, in
   e4m3 NaN; `saturate` gives the largest finite number instead, in the 8-bit formats only, there
   for infinite results too.  fp32-ftz: subnormal operands and results become zeros of their sign.
   NaN is the quiet, positive one.  Unused operands are ignored. */
double oracle_rounded(enum format f, bool saturate, enum oracle_operation operation, double a,
                      double b, double c);

/* value / sqrt(root), a real number, rounded once to f; root >= 1. */
double oracle_constant(enum format f, bool saturate, double value, int64_t root);

struct oracle {
    int64_t Nq, Nk, D;
    const double *q, *k, *v; /* Nq x D, Nk x D, Nk x D, row-major, already rounded at INPUT */
    double scale_value;      /* the scale is scale_value / sqrt(scale_root) */
    int64_t scale_root;
    double softcap;         /* 0: none */
    const int64_t *lo, *hi; /* row r sees keys lo[r] <= c < hi[r]; NULL: all */
    int64_t row_tile;       /* query rows of a tile; 0: all (matters: see oracle_attention.c) */
    int64_t tile;           /* keys of a tile; 0: all.  standard takes all, online one at a time */
    const int64_t *ends;    /* uneven key tiles: their ends, the last being Nk; NULL: even ones */
    int64_t tiles;          /* how many ends */
    double repeated_max;    /* of autocast: what a repeated maximum is multiplied by; 0: it stays */
    int64_t warps;          /* of splitk, at least 1: each has a run of every tile's keys */
    bool descending;        /* key tiles from the last to the first */
    enum format site[AT_COUNT];
    int scale_log2[AT_COUNT]; /* conversion at this site: 2^n x rounded, divided by 2^n again */
    bool saturate;
    /* Faults: all three for fa2-printed, no_tail_mask for unstable; elsewhere ignored.  Without a
       tail mask, a last tile of fewer than `tile` keys is filled up with keys of score 0 and value
       0 that every row sees. */
    bool tile_max, zero_start, no_tail_mask;
};

/* Sets site, scale_log2 and saturate to a column of simulator/sites.def, by its policy's name. */
void oracle_policy(struct oracle *o, const char *policy);

/* O: Nq x D, lse: Nq (natural logarithm).  algorithm: standard online fa1 fa2 fa1-printed
   fa2-printed unstable splitk splitq autocast. */
void oracle_run(const struct oracle *o, const char *algorithm, double *O, double *lse);

#endif
