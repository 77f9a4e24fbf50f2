/* backward_parts.h: the backward listing's state and its walk over pairs of tiles, for its three
   forms: a tile done as one (backward.c), or shared out among warps (backward_warps.c). */
#ifndef FLASHULP_BACKWARD_PARTS_H
#define FLASHULP_BACKWARD_PARTS_H

#include "simulator/algorithms/backward.h"
#include "simulator/algorithms/state.h"

struct backward {
    struct state s;
    struct tile *dO, *D, *weight, *dP, *dS, *dQ, *part, *dK, *dV, *sum, *one;
    struct tile *all_D, *all_sums; /* a column for every query: D; sum dS */
};

/* What query tile i adds to dK_j and dV_j, and key tile j to dQ_i; Q, K, V, dO, L and D are there. */
typedef void fold_tiles(struct run *r, struct attention *x, struct backward *b, void *with, int i,
                        int j);

/* Every tile of *b; the outer loop over key tiles, the inner one over the query tiles that meet them. */
void backward_new(struct run *r, struct attention *x, struct backward *b);
void backward_tiles(struct run *r, struct attention *x, struct backward *b, fold_tiles *fold_pair,
                    void *with);

/* The parts of a fold that are not products: P = e^(S - L), its rounding apart in `weight`; dS from
   dP; what dS sums to along a row. */
void reweigh(struct run *r, struct attention *x, struct backward *b);
void score_gradients(struct run *r, struct backward *b);
void sum_score_gradients(struct run *r, struct attention *x, struct backward *b, int i);

#endif
