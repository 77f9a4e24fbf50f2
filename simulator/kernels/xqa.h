/* xqa.h: what the two files of the XQA model share: gemm0's tile and gemm1's workers. */
#ifndef FLASHULP_KERNELS_XQA_H
#define FLASHULP_KERNELS_XQA_H

#include "simulator/kernels/exponential.h"
#include "simulator/simulate.h"

enum { XQA_ROWS = 16, XQA_WARP_TOKENS = 64, XQA_WARPS = 4 };

/* A group of gemm1 warps: running maximum, sum, unnormalised output. */
struct xqa_worker {
    struct tile *G, *L, *O;
};

/* How gemm1 shares the work: D = 256 has one worker.  D = 128 has two: on sm_90 worker g takes warp
   tiles g and g + 2, on sm_120 tokens 32 g .. 32 g + 31 of every one. */
enum xqa_sharing { XQA_ALONE, XQA_BY_TILE, XQA_BY_TOKEN };

struct xqa {
    enum xqa_sharing sharing;
    int workers;
    struct tile *Q, *K, *V, *S, *P, *m, *l, *bias; /* gemm0: one warp tile */
    struct tile *hint[XQA_WARPS];                  /* where its next maximum starts */
    struct xqa_worker worker[2];
    struct tile *part, *values;                    /* the columns of P and rows of V a worker takes */
    struct tile *top, *decay, *shrink, *narrow, *sum;
    struct tile *scale, *log2e, *minus_log2e, *one;
};

/* Folds the warp tile in P, m, l into its worker or workers; warp: 0 .. 3. */
void xqa_absorb(struct run *r, struct xqa *s, int warp);
/* The workers of one CTA put together: O normalised and rounded at `out`, in worker 0's O; its maximum
   and sum in worker 0's G and L. */
void xqa_finish(struct run *r, struct xqa *s, enum site out);

#endif
