/* problem.h: what is to be computed: Q, K, V and the rules of visibility.

   Contracts: query head h reads key head h / (Hq/Hkv).  Causal is bottom-right: query r sees keys
   <= r + Nk - Nq; top-left drops the offset.  A window (left, right) lets query r see keys
   r' - left .. r' + right with r' = r + Nk - Nq, -1 meaning unlimited; causal sets right to 0.
   Softcap c > 0 replaces a score s by c tanh(s / c) before the mask.  A row that sees no key has
   O = 0 and LSE = -inf.  The logarithm in LSE is natural. */
#ifndef FLASHULP_PROBLEM_H
#define FLASHULP_PROBLEM_H

#include "reference/tensor.h"

enum causal_align { ALIGN_BOTTOM_RIGHT, ALIGN_TOP_LEFT };

struct mask {
    bool causal;
    enum causal_align align;
    int64_t left, right; /* window; -1: unlimited */
};

/* The factor on q.k, a real number: value / sqrt(root).  root = 1 for a plain value. */
struct scale {
    double value;
    int64_t root;
};

struct problem {
    struct tensor q, k, v; /* rank 4: (B, Hq, Nq, D), (B, Hkv, Nk, D) twice; any strides */
    int64_t B, Hq, Hkv, Nq, Nk, D;
    struct scale scale; /* default 1 / sqrt(D) */
    struct mask mask;
    double softcap; /* 0: none */
    /* Variable lengths: sequence b has queries cu_q[b] .. cu_q[b+1]-1 of the packed rows, keys
       likewise.  Then tensors have B = 1 and `sequences` counts; NULL otherwise. */
    int64_t sequences;
    int64_t *cu_q, *cu_k;
    /* Where key tiles end when the user wrote them ("1 2 | 3 0"): ends[0..tiles), the last = Nk. */
    int tiles;
    int64_t *tile_ends;
    bool scores_given; /* --scores: D = 1, q = 1, scale 1: the keys are the scores */
    /* Heads of the launch that these belong to, which a GPU's schedule counts; 0: these are all. */
    int64_t launch_q, launch_kv;
};

/* One sequence of one query head: the unit of all computation.  Rows q0 .. q0+Nq-1 of the packed
   queries, keys k0 .. k0+Nk-1. */
struct head {
    const struct problem *problem;
    int64_t batch, head, kv_head; /* indices into the tensors */
    int64_t sequence;
    int64_t q0, k0, Nq, Nk, D;
};

/* How many (sequence, head) units there are, and the n-th: sequences outer, heads inner. */
int64_t problem_units(const struct problem *p);
struct head problem_head(const struct problem *p, int64_t n);

/* Assembles and checks.  q, k, v of rank 2 (N,D), 3 (H,N,D) or 4 become views of rank 4;
   `bnhd` means (B,N,H,D) and (N,H,D) in files.  On success the problem takes over what q, k and v
   own (they become views of it); on failure the caller keeps it.  Messages say which sizes clash
   and whether the other layout would fit. */
struct problem_options {
    bool bnhd;
    bool scale_given;
    double scale;
    struct mask mask;
    double softcap;
    const int64_t *cu_q, *cu_k; /* sequences + 1 numbers each, or NULL; cu_k NULL: as cu_q */
    int64_t sequences;
};
/* No mask (both window sides -1), no softcap, the default scale, bhnd.  Zeroed options would be a
   window of one key. */
struct problem_options problem_defaults(void);
bool problem_new(struct problem *p, struct tensor *q, struct tensor *k, struct tensor *v,
                 const struct problem_options *options, struct message *why);
/* D = 1, scale 1 from "1 2 | 3 0" and "10 20 | 30 0": one query, one head, in fp64; inf and nan are
   numbers, blank texts are no keys. */
bool problem_from_scores(struct problem *p, const char *scores, const char *values,
                         struct message *why);
void problem_free(struct problem *p);

/* INPUT: rounds Q, K, V to f and says how many elements changed.  A tensor whose format has no
   value that f lacks is left as it is, also in its format; the others become new tensors, in f or,
   for fp32-ftz and tf32, in fp32.  Applied once, here, and never again.  On failure nothing changes. */
bool problem_round_input(struct problem *p, enum format f, int64_t *changed, struct message *why);

/* Does query r of the head see key c?  By definition, one pair at a time: the reference's own
   statement of the masks, with which the simulator's intervals are compared. */
bool sees(const struct head *h, int64_t r, int64_t c);

#endif
